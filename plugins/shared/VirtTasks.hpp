/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	VirtTasks.hpp
 * @brief	The tasks that vCPUs execute, from guests whose streams are open beside their
 *		hosts'.
 */
#ifndef KSHARK_VIRT_VIRTTASKS_HPP
#define KSHARK_VIRT_VIRTTASKS_HPP

#include <map>
#include <memory>
#include <vector>

#include <KsPlotTools.hpp>

#include "VirtKs.hpp"
#include "ks_tasks.h"

/** "nginx-412" of a stream, as KernelShark calls it, to be shown; "idle". */
QString virtTaskName(int streamId, int32_t pid);

/** Who has the CPUs of a stream, by its rows: looked for once for all frames; or nothing. */
std::shared_ptr<const ks_tasks> virtTasksOf(const kshark_trace_histo *histo, int streamId);

/** The guests of a frame: what was looked for stays as long as it, also when rows have gone. */
class VirtTasks {
public:
	/** A stretch of a vCPU's time with one task. */
	struct Part {
		int64_t		from, to;	/* as KernelShark shows it */
		QString		task;		/* to be shown */
	};

	/** The guests of a host, and theirs. Rows are looked through once for all frames. */
	void add(const kshark_trace_histo *histo, int hostStream, const virt_model *model);

	/**
	 * Who had a vCPU from @from to @to, as KernelShark shows time, for @least ns or longer;
	 * none if no stream of its guest is open, or if tasks change more than @most times. If it
	 * is a vCPU of the guest's own, it is that one's task, if its stream is open.
	 */
	std::vector<Part> parts(int hostStream, int32_t hostPid, int64_t from, int64_t to,
				int64_t least, size_t most) const;

	/** The same in words, "; the guest's task: nginx-412", or none. */
	QString words(int hostStream, int32_t hostPid, int64_t from, int64_t to) const;

	/**
	 * Of a wait for a pCPU, which task the vCPU executed that had it longest: "; g1v1 executed
	 * nginx-412", or none.
	 */
	QString culpritWords(const VirtStream &stream, int32_t vcpu, const virt_interval &interval,
			     int64_t endNs) const;

private:
	/** Who had it, one after the other: a stream, a pid. */
	struct Run {
		int64_t	from, to;
		int	stream, pid;
	};

	bool collect(int hostStream, int32_t hostPid, int64_t from, int64_t to, size_t most,
		     int depth, std::vector<Run> &found) const;

	std::map<int, std::shared_ptr<const ks_tasks>>	_guests;	/* by stream */
};

#endif
