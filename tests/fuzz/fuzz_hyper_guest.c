/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_hyper_guest.c
 * @brief	A guest that says anything: what is made of it holds together.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hyper_guest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_CPUS	3

/* CPU and kind; edge; what, depth or task; who leaves; time since the last one; time before it */
#define EVENT_BYTES	6

static void make_event(const uint8_t *data, struct hyper_event *event)
{
	*event = (struct hyper_event){
		.kind = data[0] % HYPER_N_KINDS, .edge = data[1] % HYPER_N_EDGES, .label = "x",
		.address = data[2] & 7, .number = data[2] & 7, .pid = data[2] >> 3,
		.depth = data[3] & 7, .prev_pid = data[3] >> 3, .cpu = data[1] >> 6,
		.before_ns = data[5] & 0x80 ? (int8_t)data[5] + 120 : 0,
		.has = UINT32_C(1) << HYPER_F_PID | UINT32_C(1) << HYPER_F_NUMBER,
	};
	if (data[1] & 4)
		event->has |= UINT32_C(1) << HYPER_F_PREV_PID;
	if (data[1] & 8)
		event->has |= UINT32_C(1) << HYPER_F_DEPTH;
	if (data[1] & 16)
		event->has |= UINT32_C(1) << HYPER_F_CPU;
	if (data[1] & 32) {
		event->has |= UINT32_C(1) << HYPER_F_NAME;
		event->name[0] = 'a' + (char)(data[3] & 7);
	}
}

/** All of the time, as if no function said what counts. */
static int64_t whole(void *arg, int32_t cpu, int64_t from_ns, int64_t to_ns)
{
	(void)arg;
	if (cpu < 0 || cpu >= N_CPUS || from_ns >= to_ns)
		abort();
	return to_ns - from_ns;
}

/** How long a slice had a CPU, by going through all runs. */
static int64_t slice_ns(const struct hyper_guest *guest, const struct hyper_slice *slice)
{
	int64_t ns = 0;
	size_t n;
	const struct hyper_run *const *runs = hyper_guest_task_runs(guest, slice->pid, &n);

	for (size_t i = 0; i < n && slice->pid > 0; i++) {
		int64_t from = runs[i]->start_ns > slice->start_ns ?
			       runs[i]->start_ns : slice->start_ns;
		int64_t to = runs[i]->end_ns < slice->end_ns ? runs[i]->end_ns : slice->end_ns;

		ns += from < to ? to - from : 0;
	}
	return slice->pid > 0 ? ns : slice->end_ns - slice->start_ns;
}

/** Runs of a CPU follow each other; a task has one CPU at a time. */
static void check_runs(const struct hyper_guest *guest, int64_t end_ns)
{
	size_t n, n_tasks;
	const struct hyper_task *tasks = hyper_guest_tasks(guest, &n_tasks);

	for (int32_t cpu = 0; cpu < N_CPUS; cpu++) {
		const struct hyper_run *runs = hyper_guest_runs(guest, cpu, &n);

		for (size_t i = 0; i < n; i++)
			if (runs[i].cpu != cpu || runs[i].start_ns > runs[i].end_ns ||
			    runs[i].pid < HYPER_NONE ||
			    runs[i].end_ns != (i + 1 < n ? runs[i + 1].start_ns :
					       runs[i].start_ns > end_ns ? runs[i].end_ns : end_ns))
				abort();
	}
	for (size_t t = 0; t < n_tasks; t++) {
		const struct hyper_run *const *runs = hyper_guest_task_runs(guest, tasks[t].pid,
									    &n);

		for (size_t i = 1; i < n && tasks[t].pid; i++)
			if (runs[i]->pid != tasks[t].pid || runs[i - 1]->end_ns > runs[i]->start_ns)
				abort();
	}
}

static void check_slices(const struct hyper_guest *guest, int64_t end_ns)
{
	size_t n;
	const struct hyper_slice *slices = hyper_guest_slices(guest, &n);
	struct hyper_sums *all = hyper_sums_new(guest, NULL, NULL);
	struct hyper_sums *asked = hyper_sums_new(guest, whole, NULL);

	if (!all || !asked)
		abort();
	for (size_t i = 0; i < n; i++) {
		const struct hyper_slice *slice = &slices[i];
		int64_t ns = slice->end_ns - slice->start_ns;

		if (ns < 0 || slice->end_ns > end_ns || slice->parent >= (int32_t)i ||
		    slice_ns(guest, slice) > ns ||
		    hyper_sums_slice_ns(all, slice) != slice_ns(guest, slice) ||
		    hyper_sums_slice_ns(asked, slice) != slice_ns(guest, slice))
			abort();
		/* what is around a slice is of its kind and task, and does not begin behind it */
		if (slice->parent != HYPER_NONE &&
		    (slices[slice->parent].kind != slice->kind ||
		     slices[slice->parent].pid != slice->pid ||
		     slices[slice->parent].start_ns > slice->start_ns))
			abort();
		if (slice->pid > 0 && !hyper_guest_task(guest, slice->pid))
			abort();
	}
	hyper_sums_free(all);
	hyper_sums_free(asked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hyper_guest *guest = hyper_guest_new(N_CPUS, (const int32_t[]){ 0, 1, 2 });
	int64_t time_ns = 1000;
	bool lost[N_CPUS] = { false };
	struct hyper_event event;

	if (!guest)
		abort();
	for (; size >= EVENT_BYTES; size -= EVENT_BYTES, data += EVENT_BYTES) {
		int32_t cpu = data[0] / 32 % N_CPUS;
		int ret;

		time_ns += data[4];
		make_event(data, &event);
		if (data[5] == 1) {
			lost[cpu] = !lost[cpu];
			ret = hyper_guest_lost(guest, cpu, time_ns, lost[cpu]);
		} else {
			ret = hyper_guest_take(guest, cpu, time_ns, &event);
		}
		if (ret)
			abort();
	}
	if (hyper_guest_finish(guest, time_ns + 1))
		abort();
	check_runs(guest, time_ns + 1);
	check_slices(guest, time_ns + 1);
	hyper_guest_free(guest);
	return 0;
}
