/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtClockJobs.hpp
 * @brief	The jobs of the dock's part about clocks. They run in a thread, on files and copies,
 *		never on rows.
 */
#ifndef KSHARK_VIRT_VIRTCLOCKJOBS_HPP
#define KSHARK_VIRT_VIRTCLOCKJOBS_HPP

#include <string>
#include <vector>

#include "VirtClocks.hpp"
#include "align_pairing.h"
#include "virt_align.h"

/** A guest and what may be its host. */
struct VirtClocks::Align : VirtJob {
	int				streamId;
	std::string			file;
	std::vector<std::string>	hosts;
	std::string			chosenHost;	/* by the user, with its vCPU, or 0: */
	int32_t				chosenPid = 0;
	bool				stored;		/* read the sidecar only */
	std::vector<uint64_t>		models;		/* of the streams as they were loaded */
	bool				outdated = false;	/* they are others now */
	bool				done = false;
	virt_align_result		result = {};

	~Align() override { virt_align_result_free(&result); }

	void work() override
	{
		for (const std::string &host : hosts) {
			virt_align_result_free(&result);
			if (stored)
				virt_align_stored(host.c_str(), file.c_str(), &result);
			else
				alignWith(host);
			if (result.clock.parts || stop)
				return;
		}
	}

	void alignWith(const std::string &host)
	{
		const struct virt_align_files files = {
			host.c_str(), file.c_str(), host == chosenHost ? chosenPid : 0,
			isStopped, jobArg(),
		};

		virt_align_files(&files, &result);
	}
};

/** The rows of a guest, to be judged by the model of its host. */
struct VirtClocks::Judge : VirtJob {
	int				streamId, host;
	int64_t				offset;
	VirtModelRef			model;
	std::vector<std::vector<int64_t>>	times;	/* by CPU */
	std::vector<virt_align_cpu>	cpus;
	virt_clock_alignment		alignment = {};
	int				ret = 0;
	/* other vCPUs that explain the rows, if these do not: */
	bool				hasOther = false;
	align_pairing			other = {};
	std::vector<int32_t>		otherVcpus;	/* by CPU */

	void work() override
	{
		for (size_t c = 0; c < cpus.size(); c++) {
			cpus[c].times = times[c].data();
			cpus[c].n = times[c].size();
		}
		ret = virt_align_judge(model.get(), cpus.data(), static_cast<int32_t>(cpus.size()),
				       offset, &alignment);
		if (!ret && alignment.inside + alignment.outside &&
		    alignment.explained_percent < VIRT_CLOCK_DOUBT_PERCENT)
			findOther();
	}

	/** Before a clock is blamed: perhaps it is another machine's, or CPUs are exchanged. */
	void findOther()
	{
		std::vector<virt_clock_cpu> all;
		uint64_t rows = 0;

		for (const virt_align_cpu &cpu : cpus) {
			all.push_back({});
			all.back().times = cpu.times;
			all.back().n = cpu.n;
			all.back().vcpu = VIRT_NONE;
			rows += cpu.n;
		}
		uint64_t work = align_work(rows * sizeof(kshark_entry));

		otherVcpus.resize(cpus.size(), VIRT_NONE);
		other.vcpus = otherVcpus.data();
		hasOther = align_pairing_find(model.get(), all.data(),
					      static_cast<int32_t>(all.size()), offset,
					      &work, &other) == 1;
	}

	/** The machine that the guest is said to be; VIRT_NONE: none. */
	int32_t machine() const
	{
		for (const virt_align_cpu &cpu : cpus)
			if (const virt_vcpu *vcpu = virt_model_vcpu(model.get(), cpu.vcpu))
				return vcpu->machine;
		return VIRT_NONE;
	}
};

#endif
