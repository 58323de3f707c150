/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtClockJobs.hpp
 * @brief	What is done about clocks in a thread: on files and copies, never on rows.
 */
#ifndef KSHARK_VIRT_VIRTCLOCKJOBS_HPP
#define KSHARK_VIRT_VIRTCLOCKJOBS_HPP

#include <atomic>
#include <string>
#include <vector>

#include "VirtClocks.hpp"
#include "virt_align.h"

/** A guest and what may be its host. */
struct VirtClocks::Align {
	int				streamId;
	std::string			file;
	std::vector<std::string>	hosts;
	std::string			chosenHost;	/* by the user, with its vCPU, or 0: */
	int32_t				chosenPid = 0;
	bool				stored;		/* read the sidecar only */
	bool				done = false;
	std::atomic<bool>		stopped{ false };
	virt_align_result		result = {};

	~Align() { virt_align_result_free(&result); }

	void work()
	{
		for (const std::string &host : hosts) {
			virt_align_result_free(&result);
			if (stored)
				virt_align_stored(host.c_str(), file.c_str(), &result);
			else
				alignWith(host);
			if (result.clock.parts || stopped)
				return;
		}
	}

	void alignWith(const std::string &host)
	{
		const struct virt_align_files files = {
			host.c_str(), file.c_str(), host == chosenHost ? chosenPid : 0,
			isStopped, this,
		};

		virt_align_files(&files, &result);
	}

	static bool isStopped(void *arg) { return static_cast<Align *>(arg)->stopped; }
};

/** The rows of a guest, to be judged by the model of its host. */
struct VirtClocks::Judge {
	int				streamId;
	int64_t				offset;
	VirtModelRef			model;
	std::vector<std::vector<int64_t>>	times;	/* by CPU */
	std::vector<virt_align_cpu>	cpus;
	virt_clock_alignment		alignment = {};
	int				ret = 0;

	void work()
	{
		for (size_t c = 0; c < cpus.size(); c++) {
			cpus[c].times = times[c].data();
			cpus[c].n = times[c].size();
		}
		ret = virt_align_judge(model.get(), cpus.data(), static_cast<int32_t>(cpus.size()),
				       offset, &alignment);
	}
};

#endif
