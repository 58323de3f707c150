// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	VirtTasks.cpp
 * @brief	The tasks that vCPUs execute, from guests whose streams are open beside their
 *		hosts'.
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
constexpr int MOST_INSIDE = 4;		/* guests in guests; a pair of streams could be a circle */
constexpr size_t MAX_OCCUPANTS = 1000;	/* of a wait, which are asked about */

} // namespace

std::shared_ptr<const ks_tasks> virtTasksOf(const kshark_trace_histo *histo, int streamId)
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

QString virtTaskName(int streamId, int32_t pid)
{
	std::unique_ptr<char, decltype(&std::free)> comm(kshark_comm_from_pid(streamId, pid),
							 std::free);

	if (!pid)
		return "idle";
	return virtShown(QString("%1-%2").arg(QString::fromUtf8(comm ? comm.get() : "task"))
					 .arg(pid));
}

void VirtTasks::add(const kshark_trace_histo *histo, int hostStream, const virt_model *model)
{
	virt_pair pair;

	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		if (!virt_pairing_of_vcpu(hostStream, virt_model_vcpu(model, i)->host_pid, &pair) ||
		    pair.guest_stream == VIRT_NONE || _guests.count(pair.guest_stream))
			continue;
		_guests[pair.guest_stream] = virtTasksOf(histo, pair.guest_stream);

		VirtModelRef inner(pair.guest_stream);

		if (inner)
			add(histo, pair.guest_stream, inner.get());
	}
}

/** Return: false if there are more than @most, or nothing is known of it. */
bool VirtTasks::collect(int hostStream, int32_t hostPid, int64_t from, int64_t to, size_t most,
			int depth, std::vector<Run> &found) const
{
	virt_pair pair;

	if (depth > MOST_INSIDE || !virt_pairing_of_vcpu(hostStream, hostPid, &pair))
		return false;

	auto guest = _guests.find(pair.guest_stream);
	size_t n = 0;
	const ks_task_run *runs = guest == _guests.end() || !guest->second ? nullptr :
				  ks_tasks_runs(guest->second.get(), pair.guest_cpu, &n);
	size_t first = runs ? ks_tasks_at(runs, n, from) : n;

	if (!runs)
		return false;
	first = first == n ? 0 : first;
	for (size_t i = first; i + 1 < n && runs[i].from_ns < to; i++) {
		int64_t begin = std::max(runs[i].from_ns, from);
		int64_t end = std::min(runs[i + 1].from_ns, to);
		size_t before = found.size();

		if (found.size() >= most || i - first >= most)
			return false;
		if (runs[i].pid == KS_TASK_NONE || begin >= end)
			continue;
		/* a thread that is a vCPU itself, or what that has */
		if (!collect(pair.guest_stream, runs[i].pid, begin, end, most, depth + 1, found) ||
		    found.size() == before) {
			found.resize(before);
			found.push_back({ begin, end, pair.guest_stream, runs[i].pid });
		}
	}
	return true;
}

std::vector<VirtTasks::Part> VirtTasks::parts(int hostStream, int32_t hostPid, int64_t from,
					      int64_t to, int64_t least, size_t most) const
{
	std::vector<Part> found;
	std::vector<Run> runs;

	if (!collect(hostStream, hostPid, from, to, most, 0, runs))
		return found;
	for (const Run &run : runs)
		if (run.to - run.from >= least)
			found.push_back({ run.from, run.to, virtTaskName(run.stream, run.pid) });
	return found;
}

QString VirtTasks::words(int hostStream, int32_t hostPid, int64_t from, int64_t to) const
{
	std::map<std::pair<int, int>, int64_t> times;	/* by stream and pid */
	std::vector<std::pair<int64_t, QString>> longest;
	std::vector<Run> runs;
	QStringList names;

	if (!collect(hostStream, hostPid, from, to, MAX_RUNS, 0, runs))
		return {};
	for (const Run &run : runs)
		times[{ run.stream, run.pid }] += run.to - run.from;
	for (const auto &time : times)
		longest.push_back({ -time.second,
				    virtTaskName(time.first.first, time.first.second) });
	std::sort(longest.begin(), longest.end());
	for (size_t i = 0; i < std::min(longest.size(), MAX_NAMED); i++)
		names += longest[i].second +
			 (longest.size() > 1 ? " (" + virtDuration(-longest[i].first) + ")" :
					       QString());
	if (longest.size() > MAX_NAMED)
		names += "...";
	if (names.isEmpty())
		return {};
	return (longest.size() > 1 ? "; the guest's tasks: " : "; the guest's task: ") +
	       names.join(", ");
}

QString VirtTasks::culpritWords(const VirtStream &stream, int32_t vcpu,
				const virt_interval &interval, int64_t endNs) const
{
	const virt_model *model = stream.model.get();
	virt_culprit culprit = { VIRT_NONE, 0 };
	std::map<QString, int64_t> times;

	virt_vcpu_culprits(model, vcpu, interval.start_ns, endNs, &culprit, 1);

	const virt_vcpu *who = virt_model_vcpu(model, culprit.vcpu);
	virt_occupant_range range = virt_pcpu_occupants(model, interval.pcpu, interval.start_ns,
							endNs);

	if (!who || range.n > MAX_OCCUPANTS)
		return {};
	for (size_t i = 0; i < range.n; i++) {
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		if (range.first[i].vcpu != culprit.vcpu)
			continue;
		for (const Part &part : parts(stream.id, who->host_pid, stream.offset +
					      std::max(range.first[i].start_ns, interval.start_ns),
					      stream.offset + std::min(end, endNs), 1, MAX_RUNS))
			times[part.task] += part.to - part.from;
	}

	std::vector<std::pair<QString, int64_t>> longest(times.begin(), times.end());
	QStringList names;

	std::stable_sort(longest.begin(), longest.end(),
			 [](const auto &a, const auto &b) { return a.second > b.second; });
	for (size_t i = 0; i < std::min(longest.size(), MAX_NAMED); i++)
		names += longest[i].first + " (" + virtDuration(longest[i].second) + ")";
	if (longest.size() > MAX_NAMED)
		names += "...";
	return names.isEmpty() ? QString() :
	       "; " + virtShown(who->name) + " executed " + names.join(", ");
}
