/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtCount.hpp
 * @brief	The numbers of one window, counted by a thread of the dock.
 */
#ifndef KSHARK_VIRT_VIRTCOUNT_HPP
#define KSHARK_VIRT_VIRTCOUNT_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

#include "VirtKs.hpp"
#include "VirtWorker.hpp"
#include "virt_pairing.h"
#include "virt_window.h"

/** A vCPU or a machine. */
struct VirtSubject {
	int	stream;		/* id */
	int	machine;	/* index in the model */
	int	vcpu;		/* the same; VIRT_NONE: the whole machine */
	int	pid;		/* of the vCPU */

	/** Itself, or those of the machine. */
	std::vector<int32_t> vcpus(const virt_model *model) const
	{
		const virt_machine *all = virt_model_machine(model, machine);
		std::vector<int32_t> found;

		/* of a machine without a vCPU, a list of none: no list is one of all */
		found.reserve(1);
		if (vcpu != VIRT_NONE)
			found.push_back(vcpu);
		else if (all)
			found.insert(found.end(), all->vcpus, all->vcpus + all->n_vcpus);
		return found;
	}
};

/** One window to be counted. */
struct VirtCount : VirtJob {
	int64_t				from = 0, to = 0;	/* as KernelShark shows it */
	int64_t				rowsFrom = 0, rowsTo = 0; /* times of all rows */
	std::vector<VirtStream>		streams;
	std::vector<virt_window *>	windows;	/* by stream */

	/** Statistics of a subject and where they are from; nullptr if it has not been counted. */
	struct Found {
		const VirtStream		*stream = nullptr;
		const virt_window		*window = nullptr;
		const virt_window_stats		*stats = nullptr;
	};

	~VirtCount() override
	{
		for (virt_window *window : windows)
			virt_window_free(window);
	}

	/** They show whether machines and vCPUs, and their names, are still the same. */
	std::vector<uint64_t> serials() const
	{
		std::vector<uint64_t> all = { virt_pairing_serial() };	/* names */

		for (const VirtStream &stream : streams)
			all.push_back(stream.model.serial());
		return all;
	}

	/** Are there models, and none of those that had these serials()? */
	bool isApartFrom(const std::vector<uint64_t> &others) const
	{
		return !streams.empty() &&
		       std::none_of(streams.begin(), streams.end(),
				    [&others] (const VirtStream &stream) {
			return std::find(others.begin() + std::min<size_t>(1, others.size()),
					 others.end(), stream.model.serial()) != others.end();
		});
	}

	bool isSame(const VirtCount &other) const
	{
		if (from != other.from || to != other.to || serials() != other.serials())
			return false;
		for (size_t i = 0; i < streams.size(); i++)
			if (streams[i].offset != other.streams[i].offset)
				return false;
		return true;
	}

	void work() override
	{
		for (const VirtStream &stream : streams) {
			const virt_window_query query = {
				from - stream.offset, to - stream.offset, 0, nullptr,
				isStopped, jobArg(), nullptr,
			};

			windows.push_back(virt_window_new(stream.model.get(), &query));
			if (windows.back())
				addOutside(stream, windows.back());
		}
	}

	/** The window may be longer than a trace, which shows nothing of the rest. */
	void addOutside(const VirtStream &stream, virt_window *window) const
	{
		const virt_model *model = stream.model.get();
		int64_t begin = std::max(from, rowsFrom), end = std::min(to, rowsTo);
		int64_t first = std::max(begin, virt_model_begin(model) + stream.offset);
		int64_t last = std::min(end, virt_model_end(model) + stream.offset);
		int64_t ns = end - begin - std::max<int64_t>(last - first, 0);

		if (ns <= 0)
			return;
		for (int32_t i = 0; i < window->n_vcpus; i++)
			window->vcpus[i].states[VIRT_UNKNOWN].ns += ns;
		for (int32_t m = 0; m < window->n_machines; m++)
			window->machines[m].all.states[VIRT_UNKNOWN].ns +=
				ns * virt_model_machine(model, m)->n_vcpus;
	}

	/** Has all been counted, neither given up nor out of memory? */
	bool isComplete() const
	{
		return windows.size() == streams.size() &&
		       !std::count(windows.begin(), windows.end(), nullptr);
	}

	Found find(const VirtSubject &subject) const
	{
		for (size_t i = 0; i < streams.size(); i++)
			if (streams[i].id == subject.stream)
				return { &streams[i], windows[i], subject.vcpu == VIRT_NONE ?
					 &windows[i]->machines[subject.machine].all :
					 &windows[i]->vcpus[subject.vcpu] };
		return {};
	}
};

#endif
