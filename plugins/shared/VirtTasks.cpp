// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtTasks.cpp
 * @brief	What vCPUs execute: the tasks of guests whose streams are open beside their hosts'.
 */
#include <algorithm>
#include <cstdlib>

#include <QStringList>

#include "VirtTasks.hpp"
#include "ks_rows.h"
#include "virt_pairing.h"

namespace {

constexpr size_t MAX_RUNS = 20000;	/* looked at for a sentence */
constexpr size_t MAX_NAMED = 3;

/** Looked for once for all frames; without memory, nothing is known. */
std::shared_ptr<const ks_tasks> tasksOf(const kshark_trace_histo *histo, int streamId)
{
	struct Known {
		ks_rows				rows;
		std::shared_ptr<const ks_tasks>	tasks;
	};
	static std::map<int, Known> known;
	Known &last = known[streamId];
	ks_rows now = ks_rows_of(histo, streamId);

	if (!last.tasks || !ks_rows_same(&last.rows, &now)) {
		last.rows = now;
		last.tasks.reset(ks_tasks_new(histo->data, histo->data_size, streamId),
				 ks_tasks_free);
	}
	return last.tasks;
}

/** As KernelShark calls it. */
QString nameOf(int streamId, int32_t pid)
{
	std::unique_ptr<char, decltype(&std::free)> comm(kshark_comm_from_pid(streamId, pid),
							 std::free);

	if (!pid)
		return "idle";
	return virtShown(QString("%1-%2").arg(QString::fromUtf8(comm ? comm.get() : "task"))
					 .arg(pid));
}

} // namespace

void VirtTasks::add(const kshark_trace_histo *histo, int hostStream, const virt_model *model)
{
	virt_pair pair;

	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		if (virt_pairing_of_vcpu(hostStream, virt_model_vcpu(model, i)->host_pid, &pair) &&
		    pair.guest_stream != VIRT_NONE && !_guests.count(pair.guest_stream))
			_guests[pair.guest_stream] = tasksOf(histo, pair.guest_stream);
}

std::vector<VirtTasks::Part> VirtTasks::parts(int hostStream, int32_t hostPid, int64_t from,
					      int64_t to, int64_t least, size_t most) const
{
	std::vector<Part> found;
	virt_pair pair;

	if (!virt_pairing_of_vcpu(hostStream, hostPid, &pair))
		return found;

	auto guest = _guests.find(pair.guest_stream);
	size_t n = 0;
	const ks_task_run *runs = guest == _guests.end() || !guest->second ? nullptr :
				  ks_tasks_runs(guest->second.get(), pair.guest_cpu, &n);
	size_t first = runs ? ks_tasks_at(runs, n, from) : n;

	first = first == n ? 0 : first;
	for (size_t i = first; i + 1 < n && runs[i].from_ns < to; i++) {
		int64_t begin = std::max(runs[i].from_ns, from);
		int64_t end = std::min(runs[i + 1].from_ns, to);

		if (i - first >= most)
			return {};
		if (runs[i].pid != KS_TASK_NONE && end - begin >= least)
			found.push_back({ begin, end, nameOf(pair.guest_stream, runs[i].pid) });
	}
	return found;
}

QString VirtTasks::words(int hostStream, int32_t hostPid, int64_t from, int64_t to) const
{
	ks_task_share shares[MAX_NAMED];
	QStringList names;
	virt_pair pair;

	if (!virt_pairing_of_vcpu(hostStream, hostPid, &pair))
		return {};

	auto guest = _guests.find(pair.guest_stream);

	if (guest == _guests.end() || !guest->second)
		return {};

	size_t n = ks_tasks_shares(guest->second.get(), pair.guest_cpu, from, to, MAX_RUNS, shares,
				   MAX_NAMED);

	for (size_t i = 0; i < std::min(n, MAX_NAMED); i++)
		names += nameOf(pair.guest_stream, shares[i].pid) +
			 (n > 1 ? " (" + virtDuration(shares[i].ns) + ")" : QString());
	if (n > MAX_NAMED)
		names += "...";
	if (names.isEmpty())
		return {};
	return (n > 1 ? "; the guest's tasks: " : "; the guest's task: ") + names.join(", ");
}
