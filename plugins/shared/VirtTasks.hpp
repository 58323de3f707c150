/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtTasks.hpp
 * @brief	What vCPUs execute: the tasks of guests whose streams are open beside their hosts'.
 */
#ifndef KSHARK_VIRT_VIRTTASKS_HPP
#define KSHARK_VIRT_VIRTTASKS_HPP

#include <map>
#include <memory>
#include <vector>

#include <KsPlotTools.hpp>

#include "VirtKs.hpp"
#include "ks_tasks.h"

/** The guests of a frame: what was looked for stays as long as it, also when rows have gone. */
class VirtTasks {
public:
	/** A stretch of a vCPU's time with one task. */
	struct Part {
		int64_t		from, to;	/* as KernelShark shows it */
		QString		task;		/* to be shown */
	};

	/** The guests of a host. Rows are looked through once for all frames. */
	void add(const kshark_trace_histo *histo, int hostStream, const virt_model *model);

	/**
	 * Who had a vCPU from @from to @to, as KernelShark shows time, for @least ns or longer;
	 * nobody if no stream of its guest is open, or if tasks change more than @most times.
	 */
	std::vector<Part> parts(int hostStream, int32_t hostPid, int64_t from, int64_t to,
				int64_t least, size_t most) const;

	/** The same in words, "; the guest's task: nginx-412", or none. */
	QString words(int hostStream, int32_t hostPid, int64_t from, int64_t to) const;

private:
	std::map<int, std::shared_ptr<const ks_tasks>>	_guests;	/* by stream */
};

#endif
