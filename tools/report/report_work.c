// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_work.c
 * @brief	Work of a kernel for its tasks, summed up by key, by machine and by task.
 */
#include <errno.h>
#include <stdlib.h>

#include "guest_tasks.h"
#include "host_tasks.h"
#include "report_work.h"

/** In text, of a kind. */
#define MAX_ROWS	20

/** Of its first CPU that is a known vCPU. */
static int32_t guest_machine(const struct report *report, struct kvm_trace *guest)
{
	int n = 0;
	const int *tids = guest_tasks_tids(&report->load->host, guest, &n);

	for (int i = 0; i < n && tids; i++) {
		int32_t vcpu = tids[i] > 0 ? virt_model_find_vcpu(report->load->model, tids[i]) :
			       VIRT_NONE;

		if (vcpu != VIRT_NONE)
			return virt_model_machine_of(report->load->model, vcpu);
	}
	return VIRT_NONE;
}

static int trace_rows(struct report_work *work, int (*rows)(struct report_work *work))
{
	bool was_unknown = work->to && work->to->unknown;
	int ret = rows(work);

	if (work->to)
		work->to->unknown = was_unknown;
	return ret;
}

static int each_trace(struct report_work work, int (*rows)(struct report_work *work))
{
	const struct report *report = work.report;
	const struct model_load *load = report->load;
	int ret = trace_rows(&work, rows);

	work.is_guest = true;
	for (int i = 0; i < load->n_guests && !ret; i++) {
		work.trace = load->guests[i];
		work.path = kvm_trace_path(work.trace);
		work.machine = guest_machine(report, work.trace);
		if (report_wants_work(report, work.machine))
			ret = trace_rows(&work, rows);
	}
	return ret;
}

int report_work_each(struct table_writer *to, const struct report *report,
		     int (*rows)(struct report_work *work))
{
	return each_trace((struct report_work){
		.to = to, .report = report, .trace = report->load->host.kvm, .path = report->file,
	}, rows);
}

int report_work_each_trace(const struct report *report, void *arg,
			   int (*take)(struct report_work *work))
{
	return each_trace((struct report_work){
		.arg = arg, .report = report, .trace = report->load->host.kvm,
		.path = report->file,
	}, take);
}

int32_t report_work_machine(const struct report_work *work, int32_t pid)
{
	return work->is_guest ? work->machine : host_task_machine(work->report->load->model, pid);
}

static int64_t guest_time(const void *arg, int64_t time_ns)
{
	return guest_tasks_time(arg, time_ns);
}

struct report_work_time report_work_time(const struct report_work *work)
{
	return (struct report_work_time){
		work->is_guest ? guest_time : NULL, &work->report->load->host,
	};
}

/* --- sums ------------------------------------------------------------------------------------ */

struct report_sum *report_sums_add(struct report_sums *sums, uint32_t key, int32_t who,
				   size_t size)
{
	int64_t i = KEY_MAP_ELEMENT(&sums->map, (uint64_t)key << 32 | (uint32_t)who, sums->all,
				    sums->room);
	struct report_sum *sum = i < 0 ? NULL : sums->all[i];

	if (i >= 0 && !sum)
		sum = sums->all[i] = calloc(1, size);
	if (!sum)
		return NULL;
	sum->key = key;
	sum->who = who;
	sum->n++;
	return sum;
}

int report_times_add(struct report_times *times, int64_t ns)
{
	if (ARRAY_GROW(times->ns, times->n, times->room))
		return -ENOMEM;
	times->ns[times->n++] = ns;
	return 0;
}

void report_sums_finish(struct report_sums *sums, int (*compare)(const void *a, const void *b))
{
	for (uint32_t i = 0; i < sums->map.n_keys; i++) {
		struct report_sum *sum = sums->all[i];

		virt_dist_make(&sum->times.dist, sum->times.ns, sum->times.n);
		virt_dist_make(&sum->queues.dist, sum->queues.ns, sum->queues.n);
	}
	if (sums->map.n_keys)
		qsort(sums->all, sums->map.n_keys, sizeof(struct report_sum *), compare);
}

void report_sums_free(struct report_sums *sums)
{
	for (uint32_t i = 0; i < sums->map.n_keys; i++) {
		struct report_sum *sum = sums->all[i];

		if (!sum)
			continue;
		free(sum->times.ns);
		free(sum->queues.ns);
		free(sum);
	}
	key_map_destroy(&sums->map);
	free(sums->all);
}

/* --- rows ------------------------------------------------------------------------------------ */

void report_work_begin(struct report_work *work, bool known, uint64_t n, uint64_t before,
		       const char *what, const char *lacks)
{
	struct table_writer *to = work->to;
	struct output *text = table_as_text(to);

	to->unknown |= !known && !work->also_known;
	work->group[0] = table_name(work->path);
	work->group[1] = known ? table_number((int64_t)n) : table_unknown();
	work->group[2] = known ? table_number((int64_t)before) : table_unknown();
	work->group[3] = work->also_known ? table_number((int64_t)work->also) : table_unknown();
	table_group(to, work->group);
	if (text && lacks)
		out_printf(text, "  unknown  %s\n", lacks);
	if (text && work->also_lacks)
		out_printf(text, "  unknown  %s\n", work->also_lacks);
	if (text && before)
		out_printf(text, "  %s that began before the trace, or while records are missing: "
			   "%llu; they are not counted below\n", what, (unsigned long long)before);
}

bool report_work_is_full(const struct report_work *work)
{
	return table_as_text(work->to) && work->to->n_rows >= MAX_ROWS;
}

void report_work_rows(const struct report_work *work, const struct table_rows *rows,
		      const struct report_sums *sums, bool of_tasks,
		      void (*row)(const void *arg, const struct report_sum *sum,
				  const char *machine, const char *task), const void *arg)
{
	const struct report *report = work->report;

	/* the first ones of a group have begun with it */
	if (rows != &work->to->table->rows)
		table_rows(work->to, rows);
	for (uint32_t i = 0; i < sums->map.n_keys && !report_work_is_full(work); i++) {
		const struct report_sum *sum = sums->all[i];
		int32_t machine = of_tasks ? report_work_machine(work, sum->who) : sum->who;
		char task[GUEST_TASK_NAME];

		if (!report_wants_work(report, machine))
			continue;
		if (of_tasks)
			guest_task_name(task, sizeof(task), work->trace, sum->who);
		row(arg, sum, report_works_for(report, machine, work->is_guest),
		    of_tasks ? task : NULL);
	}
}
