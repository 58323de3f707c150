// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_disks.c
 * @brief	kshark-virt report --disks: requests to disks, by disk, machine and task.
 */
#include <errno.h>
#include <stdlib.h>

#include "guest_tasks.h"
#include "host_disks.h"
#include "report_work.h"
#include "text_columns.h"

#define DISK_WIDTH	8
#define NAME_WIDTH	22
#define OPERATION_WIDTH	8

/** All operations of a disk together. */
#define ALL_OPERATIONS	HOST_DISK_N_OPERATIONS

/* --- sums ------------------------------------------------------------------------------------ */

/** Requests that have something in common, and are issued in the window. */
struct disk_sum {
	struct report_sum sum;		/* key: disk; who: operation, index of a machine, or pid */
	uint64_t	bytes;
	uint64_t	sequential, seeks;
	int64_t		seek_bytes;
	uint64_t	deep, depth_sum, depth_max;	/* @deep have a known depth */
};

/** A task's requests come between those of another one that would follow each other. */
struct interruption {
	uint32_t	disk;
	int32_t		pid, by;
	uint64_t	count;
};

/** A trace whose disks are summed up. */
struct page {
	const struct report_work *work;
	struct host_disks	disks;
	struct report_sums	by_operation, by_machine, by_task;
	struct key_map		pair_map, interruption_map;
	struct interruption	*interruptions;
	uint32_t		room_interruptions;
	uint64_t		*foreign, *merges;	/* by disk */
	uint64_t		all_foreign;
};

static int add(struct report_sums *sums, const struct host_disk_request *request, int32_t who)
{
	struct report_sum *common = report_sums_add(sums, request->disk, who,
						    sizeof(struct disk_sum));
	struct disk_sum *sum = (struct disk_sum *)common;

	if (!sum)
		return -ENOMEM;
	sum->bytes += request->bytes;
	common->failed += request->has_failed;
	sum->sequential += request->seek_bytes == 0;
	if (request->seek_bytes > 0) {
		sum->seeks++;
		if (__builtin_add_overflow(sum->seek_bytes, request->seek_bytes, &sum->seek_bytes))
			sum->seek_bytes = INT64_MAX;
	}
	if (request->depth) {
		sum->deep++;
		sum->depth_sum += request->depth;
		if (request->depth > sum->depth_max)
			sum->depth_max = request->depth;
	}
	if (request->end_ns != HOST_DISK_NO_TIME &&
	    report_times_add(&common->times, request->end_ns - request->issue_ns))
		return -ENOMEM;
	return request->queue_ns == VIRT_NONE ? 0 :
	       report_times_add(&common->queues, request->queue_ns);
}

static int add_interruption(struct page *page, const struct host_disk_request *request)
{
	int64_t pair = key_map_add(&page->pair_map, (uint64_t)(uint32_t)request->pid << 32 |
				   (uint32_t)request->interrupts), i;

	if (pair < 0)
		return -ENOMEM;
	i = KEY_MAP_ELEMENT(&page->interruption_map, (uint64_t)request->disk << 32 |
			    (uint64_t)pair, page->interruptions, page->room_interruptions);
	if (i < 0)
		return -ENOMEM;
	page->interruptions[i] = (struct interruption){
		request->disk, request->pid, request->interrupts,
		page->interruptions[i].count + 1,
	};
	return 0;
}

static int add_request(struct page *page, const struct host_disk_request *request)
{
	const struct report *report = page->work->report;
	int ret;

	if (!virt_begins_in(request->issue_ns, report->from_ns, report->to_ns))
		return 0;
	ret = add(&page->by_operation, request, request->operation);
	if (!ret)
		ret = add(&page->by_operation, request, ALL_OPERATIONS);
	if (!ret)
		ret = add(&page->by_machine, request,
			  report_work_machine(page->work, request->pid));
	if (!ret)
		ret = add(&page->by_task, request, request->pid);
	return ret || request->interrupts == VIRT_NONE ? ret : add_interruption(page, request);
}

static const struct disk_sum *sum_at(const void *pointer)
{
	return *(const struct disk_sum *const *)pointer;
}

/** By disk, all operations of it first. */
static int compare_operations(const void *a, const void *b)
{
	const struct report_sum *x = &sum_at(a)->sum, *y = &sum_at(b)->sum;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if ((x->who == ALL_OPERATIONS) != (y->who == ALL_OPERATIONS))
		return x->who == ALL_OPERATIONS ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

/** Most bytes first. */
static int compare_sums(const void *a, const void *b)
{
	const struct disk_sum *x = sum_at(a), *y = sum_at(b);

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->sum.n != y->sum.n)
		return x->sum.n < y->sum.n ? 1 : -1;
	if (x->sum.key != y->sum.key)
		return x->sum.key < y->sum.key ? -1 : 1;
	return (x->sum.who > y->sum.who) - (x->sum.who < y->sum.who);
}

static int compare_interruptions(const void *a, const void *b)
{
	const struct interruption *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->disk != y->disk)
		return x->disk < y->disk ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

static int sum_up(struct page *page)
{
	const struct report *report = page->work->report;
	const struct report_work_time time = report_work_time(page->work);
	const struct host_disks *disks = &page->disks;
	int ret = host_disks_read(&page->disks, page->work->trace, time.time, time.arg);

	page->foreign = calloc((size_t)disks->disk_map.n_keys + 1, sizeof(*page->foreign));
	page->merges = calloc((size_t)disks->disk_map.n_keys + 1, sizeof(*page->merges));
	if (!page->foreign || !page->merges)
		return -ENOMEM;
	for (size_t i = 0; i < disks->n && !ret; i++)
		ret = add_request(page, &disks->requests[i]);
	for (size_t i = 0; i < disks->n_moments; i++) {
		const struct host_disk_moment *moment = &disks->moments[i];
		bool is_foreign = moment->kind == HOST_DISK_FOREIGN_END;

		if (!virt_begins_in(moment->time_ns, report->from_ns, report->to_ns))
			continue;
		(is_foreign ? page->foreign : page->merges)[moment->disk]++;
		page->all_foreign += is_foreign;
	}
	if (ret)
		return ret;
	report_sums_finish(&page->by_operation, compare_operations);
	report_sums_finish(&page->by_machine, compare_sums);
	report_sums_finish(&page->by_task, compare_sums);
	if (page->interruption_map.n_keys)
		qsort(page->interruptions, page->interruption_map.n_keys,
		      sizeof(*page->interruptions), compare_interruptions);
	return 0;
}

static void free_page(struct page *page)
{
	host_disks_free(&page->disks);
	report_sums_free(&page->by_operation);
	report_sums_free(&page->by_machine);
	report_sums_free(&page->by_task);
	key_map_destroy(&page->pair_map);
	key_map_destroy(&page->interruption_map);
	free(page->interruptions);
	free(page->foreign);
	free(page->merges);
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column trace_columns[] = {
	REPORT_WORK_COLUMNS("requests"),
};

/** The statistic of queue times that fits into text. */
#define QUEUE_STAT	VIRT_STAT_P99

/** The columns of all rows that sum up requests, from the number of these on. */
#define SUM_COLUMNS									\
	{ .key = "requests", .type = TABLE_COUNT, .title = "requests" },		\
	{ .key = "bytes", .type = TABLE_COUNT, .title = "bytes" },			\
	{ .key = "failed", .type = TABLE_COUNT, .title = "failed" },			\
	{ .key = "duration", .type = TABLE_DURATIONS, .title = "", .shown = TABLE_P50 |	\
	  TABLE_P99 | TABLE_MAX },							\
	{ .type = TABLE_ONE_STAT, .stat = QUEUE_STAT, .title = "queue" },		\
	{ .key = "queue", .type = TABLE_DURATIONS },					\
	{ .key = "depth_mean", .type = TABLE_FIXED },					\
	{ .key = "depth_max", .type = TABLE_COUNT, .title = "depth" },			\
	{ .key = "sequential", .type = TABLE_COUNT },					\
	{ .key = "seeks", .type = TABLE_COUNT, .title = "seeks" },			\
	{ .key = "seek_bytes", .type = TABLE_COUNT }

#define N_SUM_COLUMNS	11

static const struct table_column disk_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "disk", .title = "disk", .width = DISK_WIDTH },
	{ .key = "operation", .title = "", .width = OPERATION_WIDTH },
	{ .title = "", .width = NAME_WIDTH - OPERATION_WIDTH },
	{ .key = "machine", .not_json = true },
	{ .key = "name", .not_json = true },
	{ .key = "pid", .type = TABLE_TIME, .not_json = true },
	{ .key = "other", .not_json = true },
	SUM_COLUMNS,
	{ .key = "merges", .type = TABLE_COUNT, .title = "merges" },
	{ .key = "begun_before", .type = TABLE_COUNT },
};

static const struct table_column machine_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "disk", .title = "disk", .width = DISK_WIDTH },
	{ .key = "machine", .title = "machine", .width = NAME_WIDTH },
	SUM_COLUMNS,
};

static const struct table_column task_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "disk", .title = "disk", .width = DISK_WIDTH },
	{ .key = "machine" },
	{ .key = "name", .title = "task", .width = NAME_WIDTH },
	{ .key = "pid", .type = TABLE_TIME },
	SUM_COLUMNS,
};

static const struct table_column interruption_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "disk", .title = "disk", .width = DISK_WIDTH },
	{ .key = "name", .title = "requests in a row of", .width = NAME_WIDTH },
	{ .key = "pid", .type = TABLE_TIME },
	{ .key = "by", .title = "interrupted by", .width = NAME_WIDTH, .not_csv = true },
	{ .key = "other", .not_json = true },
	{ .key = "by_pid", .type = TABLE_TIME, .not_csv = true },
	{ .key = "count", .type = TABLE_COUNT, .title = "count", .not_csv = true },
	{ .key = "requests", .type = TABLE_COUNT, .not_json = true },
};

static const struct table table = {
	.groups = "traces", .group = trace_columns, .n_group = ARRAY_SIZE(trace_columns),
	.rows = { .key = "disks", TABLE_COLUMNS(disk_columns), .none = "  no request\n" },
};

static const struct table_rows machine_rows = {
	.key = "machines", TABLE_COLUMNS(machine_columns), .apart = true,
};
static const struct table_rows task_rows = {
	.key = "tasks", TABLE_COLUMNS(task_columns), .apart = true,
};
static const struct table_rows interruption_rows = {
	.key = "interruptions", TABLE_COLUMNS(interruption_columns), .apart = true,
};

/* --- rows ------------------------------------------------------------------------------------ */

static void disk_name(const struct page *page, uint32_t disk, char name[HOST_DISK_NAME])
{
	host_disk_name(&page->disks.disks[disk], name);
}

/** The N_SUM_COLUMNS cells of a sum. */
static void sum_cells(const struct page *page, const struct disk_sum *sum,
		      struct table_cell *cells)
{
	const struct report_sum *common = &sum->sum;
	const struct virt_dist *queue = &common->queues.dist;
	bool knows_queues = page->disks.knows_queues;
	size_t at = 0;

	cells[at++] = table_number((int64_t)common->n);
	cells[at++] = table_number((int64_t)sum->bytes);
	cells[at++] = table_number((int64_t)common->failed);
	cells[at++] = table_durations(&common->times.dist);
	cells[at] = table_optional(queue->count, virt_dist_stat(queue, QUEUE_STAT));
	cells[at++].unknown |= !knows_queues;
	cells[at++] = table_durations(knows_queues ? queue : NULL);
	cells[at] = table_rate(true, sum->deep ? (double)sum->depth_sum / (double)sum->deep : 0);
	cells[at++].unknown = !sum->deep;
	cells[at++] = sum->deep ? table_number((int64_t)sum->depth_max) : table_unknown();
	cells[at++] = table_number((int64_t)sum->sequential);
	cells[at++] = table_number((int64_t)sum->seeks);
	cells[at++] = table_number(sum->seek_bytes);
}

static void disk_rows(const struct page *page)
{
	const struct report_sums *sums = &page->by_operation;

	for (uint32_t i = 0; i < sums->map.n_keys; i++) {
		const struct report_sum *sum = sums->all[i];
		bool is_all = sum->who == ALL_OPERATIONS;
		struct table_cell cells[ARRAY_SIZE(disk_columns)];
		char disk[HOST_DISK_NAME];
		size_t at = 0;

		disk_name(page, sum->key, disk);
		cells[at++] = table_name(is_all ? "disk" : "operation");
		cells[at++] = table_name(disk);
		cells[at++] = table_name(is_all ? "all" : host_disk_operation_name(
					 (enum host_disk_operation)sum->who));
		for (int blank = 0; blank < 5; blank++)
			cells[at++] = table_absent();
		sum_cells(page, (const struct disk_sum *)sum, &cells[at]);
		at += N_SUM_COLUMNS;
		cells[at++] = !is_all ? table_absent() : !page->disks.knows_merges ?
			      table_unknown() : table_number((int64_t)page->merges[sum->key]);
		cells[at++] = table_optional(is_all, (int64_t)page->foreign[sum->key]);
		table_row(page->work->to, cells);
	}
}

static void machine_row(const void *arg, const struct report_sum *sum, const char *machine,
			const char *task)
{
	const struct page *page = arg;
	struct table_cell cells[ARRAY_SIZE(machine_columns)];
	char disk[HOST_DISK_NAME];

	(void)task;
	disk_name(page, sum->key, disk);
	cells[0] = table_name("machine");
	cells[1] = table_name(disk);
	cells[2] = table_name(machine);
	sum_cells(page, (const struct disk_sum *)sum, &cells[3]);
	table_row(page->work->to, cells);
}

static void task_row(const void *arg, const struct report_sum *sum, const char *machine,
		     const char *task)
{
	const struct page *page = arg;
	struct table_cell cells[ARRAY_SIZE(task_columns)];
	char disk[HOST_DISK_NAME];

	disk_name(page, sum->key, disk);
	cells[0] = table_name("task");
	cells[1] = table_name(disk);
	cells[2] = table_name(machine);
	cells[3] = table_name(task);
	cells[4] = table_number(sum->who);
	sum_cells(page, (const struct disk_sum *)sum, &cells[5]);
	table_row(page->work->to, cells);
}

static void of_interruption_rows(const struct page *page)
{
	const struct report_work *work = page->work;
	uint32_t n = page->interruption_map.n_keys;

	table_rows(work->to, &interruption_rows);
	for (uint32_t i = 0; i < n && !report_work_is_full(work); i++) {
		const struct interruption *one = &page->interruptions[i];
		char disk[HOST_DISK_NAME], name[GUEST_TASK_NAME], by[GUEST_TASK_NAME];

		if (!report_wants_work(work->report, report_work_machine(work, one->pid)))
			continue;
		disk_name(page, one->disk, disk);
		guest_task_name(name, sizeof(name), work->trace, one->pid);
		guest_task_name(by, sizeof(by), work->trace, one->by);
		table_row(work->to, (const struct table_cell[ARRAY_SIZE(interruption_columns)]){
			table_name("interruption"), table_name(disk), table_name(name),
			table_number(one->pid), table_name(by), table_name(by),
			table_number(one->by), table_number((int64_t)one->count),
			table_number((int64_t)one->count),
		});
	}
}

static uint64_t all_requests(const struct page *page)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < page->by_task.map.n_keys; i++)
		n += page->by_task.all[i]->n;
	return n;
}

static const char *lacks(const struct host_disks *disks)
{
	if (!disks->known)
		return "block:block_rq_issue and block:block_rq_complete were not both recorded: "
		       "requests are unknown";
	return disks->knows_queues ? NULL :
	       "block:block_rq_insert was not recorded: times in queues are unknown; a request "
	       "belongs to the task that gave it to the disk";
}

/** Return: 0 or -ENOMEM, or as kvm_trace_walk(). */
static int trace_rows(struct report_work *work)
{
	struct page page = { .work = work };
	int ret = work->trace ? sum_up(&page) : 0;

	if (!ret) {
		report_work_begin(work, page.disks.known, all_requests(&page), page.all_foreign,
				  "requests", lacks(&page.disks));
		disk_rows(&page);
		report_work_rows(work, &machine_rows, &page.by_machine, false, machine_row, &page);
		report_work_rows(work, &task_rows, &page.by_task, true, task_row, &page);
		of_interruption_rows(&page);
		table_group_end(work->to);
	}
	free_page(&page);
	return ret;
}

/** Return: 0 or -ENOMEM, or as kvm_trace_walk(). */
static int disks_rows(struct table_writer *to, const struct report *report)
{
	return report_work_each(to, report, trace_rows);
}

const struct report_page report_disks = {
	.table = &table, .number = VIRT_N_NUMBERS, .rows = disks_rows,
};
