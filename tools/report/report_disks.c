// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_disks.c
 * @brief	kshark-virt report --disks: requests to disks, by disk, machine and task.
 */
#include <errno.h>
#include <stdlib.h>

#include "guest_tasks.h"
#include "host_disks.h"
#include "host_tasks.h"
#include "key_map.h"
#include "report_page.h"
#include "text_columns.h"

#define DISK_WIDTH	8
#define NAME_WIDTH	22
#define OPERATION_WIDTH	8

/** In text, of tasks. */
#define MAX_ROWS	20

/** All operations of a disk together. */
#define ALL_OPERATIONS	HOST_DISK_N_OPERATIONS

/* --- sums ------------------------------------------------------------------------------------ */

/** Times of requests. All zero is none. */
struct times {
	int64_t		*ns;
	size_t		n, room;
	struct virt_dist dist;
};

/** Requests that have something in common, and are issued in the window. */
struct disk_sum {
	uint32_t	disk;
	int32_t		who;		/* operation, index of a machine, or pid */
	uint64_t	requests, bytes, failed;
	struct times	durations, queues;
	uint64_t	sequential, seeks;
	int64_t		seek_bytes;
	uint64_t	deep, depth_sum, depth_max;	/* @deep have a known depth */
};

/** Sums by disk and who. All zero is none. */
struct disk_sums {
	struct key_map	map;
	struct disk_sum	*all;
	uint32_t	room;
};

/** A task's requests come between those of another one that would follow each other. */
struct interruption {
	uint32_t	disk;
	int32_t		pid, by;
	uint64_t	count;
};

/** A trace whose disks are summed up. */
struct page {
	struct table_writer	*to;
	const struct report	*report;
	struct kvm_trace	*trace;
	bool			is_guest;
	int32_t			machine;	/* of a guest; VIRT_NONE: not known */
	struct host_disks	disks;
	struct disk_sums	by_operation, by_machine, by_task;
	struct key_map		pair_map, interruption_map;
	struct interruption	*interruptions;
	uint32_t		room_interruptions;
	uint64_t		*foreign, *merges;	/* by disk */
	uint64_t		all_foreign;
};

static int add_time(struct times *times, int64_t ns)
{
	if (ARRAY_GROW(times->ns, times->n, times->room))
		return -ENOMEM;
	times->ns[times->n++] = ns;
	return 0;
}

static int add(struct disk_sums *sums, const struct host_disk_request *request, int32_t who)
{
	int64_t i = KEY_MAP_ELEMENT(&sums->map, (uint64_t)request->disk << 32 | (uint32_t)who,
				    sums->all, sums->room);
	struct disk_sum *sum = i < 0 ? NULL : &sums->all[i];

	if (!sum)
		return -ENOMEM;
	sum->disk = request->disk;
	sum->who = who;
	sum->requests++;
	sum->bytes += request->bytes;
	sum->failed += request->has_failed;
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
	    add_time(&sum->durations, request->end_ns - request->issue_ns))
		return -ENOMEM;
	return request->queue_ns == VIRT_NONE ? 0 : add_time(&sum->queues, request->queue_ns);
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

static int32_t machine_of(const struct page *page, int32_t pid)
{
	return page->is_guest ? page->machine : host_task_machine(page->report->load->model, pid);
}

static int add_request(struct page *page, const struct host_disk_request *request)
{
	const struct report *report = page->report;
	int ret;

	if (!virt_begins_in(request->issue_ns, report->from_ns, report->to_ns))
		return 0;
	ret = add(&page->by_operation, request, request->operation);
	if (!ret)
		ret = add(&page->by_operation, request, ALL_OPERATIONS);
	if (!ret)
		ret = add(&page->by_machine, request, machine_of(page, request->pid));
	if (!ret)
		ret = add(&page->by_task, request, request->pid);
	return ret || request->interrupts == VIRT_NONE ? ret : add_interruption(page, request);
}

/** By disk; of operations, all of them first; else most bytes first. */
static int compare_operations(const void *a, const void *b)
{
	const struct disk_sum *x = a, *y = b;

	if (x->disk != y->disk)
		return x->disk < y->disk ? -1 : 1;
	if ((x->who == ALL_OPERATIONS) != (y->who == ALL_OPERATIONS))
		return x->who == ALL_OPERATIONS ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static int compare_sums(const void *a, const void *b)
{
	const struct disk_sum *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->requests != y->requests)
		return x->requests < y->requests ? 1 : -1;
	if (x->disk != y->disk)
		return x->disk < y->disk ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
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

static void finish(struct disk_sums *sums, int (*compare)(const void *a, const void *b))
{
	for (uint32_t i = 0; i < sums->map.n_keys; i++) {
		struct disk_sum *sum = &sums->all[i];

		virt_dist_make(&sum->durations.dist, sum->durations.ns, sum->durations.n);
		virt_dist_make(&sum->queues.dist, sum->queues.ns, sum->queues.n);
	}
	if (sums->map.n_keys)
		qsort(sums->all, sums->map.n_keys, sizeof(*sums->all), compare);
}

static int64_t guest_time(const void *arg, int64_t time_ns)
{
	return guest_tasks_time(arg, time_ns);
}

static int sum_up(struct page *page)
{
	const struct report *report = page->report;
	const struct host_disks *disks = &page->disks;
	int ret = host_disks_read(&page->disks, page->trace, page->is_guest ? guest_time : NULL,
				  &report->load->host);

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
	finish(&page->by_operation, compare_operations);
	finish(&page->by_machine, compare_sums);
	finish(&page->by_task, compare_sums);
	if (page->interruption_map.n_keys)
		qsort(page->interruptions, page->interruption_map.n_keys,
		      sizeof(*page->interruptions), compare_interruptions);
	return ret;
}

static void free_sums(struct disk_sums *sums)
{
	for (uint32_t i = 0; i < sums->map.n_keys; i++) {
		free(sums->all[i].durations.ns);
		free(sums->all[i].queues.ns);
	}
	key_map_destroy(&sums->map);
	free(sums->all);
}

static void free_page(struct page *page)
{
	host_disks_free(&page->disks);
	free_sums(&page->by_operation);
	free_sums(&page->by_machine);
	free_sums(&page->by_task);
	key_map_destroy(&page->pair_map);
	key_map_destroy(&page->interruption_map);
	free(page->interruptions);
	free(page->foreign);
	free(page->merges);
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column trace_columns[] = {
	{ .key = "trace", .title = "" },
	{ .key = "requests", .type = TABLE_COUNT, .not_csv = true },
	{ .key = "begun_before", .type = TABLE_COUNT, .not_csv = true },
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
	const struct virt_dist *queue = &sum->queues.dist;
	bool knows_queues = page->disks.knows_queues;
	size_t at = 0;

	cells[at++] = table_number((int64_t)sum->requests);
	cells[at++] = table_number((int64_t)sum->bytes);
	cells[at++] = table_number((int64_t)sum->failed);
	cells[at++] = table_durations(&sum->durations.dist);
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
	const struct disk_sums *sums = &page->by_operation;

	for (uint32_t i = 0; i < sums->map.n_keys; i++) {
		const struct disk_sum *sum = &sums->all[i];
		bool is_all = sum->who == ALL_OPERATIONS;
		struct table_cell cells[ARRAY_SIZE(disk_columns)];
		char disk[HOST_DISK_NAME];
		size_t at = 0;

		disk_name(page, sum->disk, disk);
		cells[at++] = table_name(is_all ? "disk" : "operation");
		cells[at++] = table_name(disk);
		cells[at++] = table_name(is_all ? "all" : host_disk_operation_name(
					 (enum host_disk_operation)sum->who));
		for (int blank = 0; blank < 5; blank++)
			cells[at++] = table_absent();
		sum_cells(page, sum, &cells[at]);
		at += N_SUM_COLUMNS;
		cells[at++] = !is_all ? table_absent() : !page->disks.knows_merges ?
			      table_unknown() : table_number((int64_t)page->merges[sum->disk]);
		cells[at++] = table_optional(is_all, (int64_t)page->foreign[sum->disk]);
		table_row(page->to, cells);
	}
}

/** Has text shown enough rows? */
static bool is_full(const struct page *page)
{
	return table_as_text(page->to) && page->to->n_rows >= MAX_ROWS;
}

static void of_machine_rows(const struct page *page)
{
	const struct disk_sums *sums = &page->by_machine;

	table_rows(page->to, &machine_rows);
	for (uint32_t i = 0; i < sums->map.n_keys && !is_full(page); i++) {
		const struct disk_sum *sum = &sums->all[i];
		struct table_cell cells[ARRAY_SIZE(machine_columns)];
		char disk[HOST_DISK_NAME];

		if (!report_wants_work(page->report, sum->who))
			continue;
		disk_name(page, sum->disk, disk);
		cells[0] = table_name("machine");
		cells[1] = table_name(disk);
		cells[2] = table_name(report_works_for(page->report, sum->who, page->is_guest));
		sum_cells(page, sum, &cells[3]);
		table_row(page->to, cells);
	}
}

static void of_task_rows(const struct page *page)
{
	const struct disk_sums *sums = &page->by_task;

	table_rows(page->to, &task_rows);
	for (uint32_t i = 0; i < sums->map.n_keys && !is_full(page); i++) {
		const struct disk_sum *sum = &sums->all[i];
		int32_t machine = machine_of(page, sum->who);
		struct table_cell cells[ARRAY_SIZE(task_columns)];
		char disk[HOST_DISK_NAME], name[GUEST_TASK_NAME];

		if (!report_wants_work(page->report, machine))
			continue;
		disk_name(page, sum->disk, disk);
		guest_task_name(name, sizeof(name), page->trace, sum->who);
		cells[0] = table_name("task");
		cells[1] = table_name(disk);
		cells[2] = table_name(report_works_for(page->report, machine, page->is_guest));
		cells[3] = table_name(name);
		cells[4] = table_number(sum->who);
		sum_cells(page, sum, &cells[5]);
		table_row(page->to, cells);
	}
}

static void of_interruption_rows(const struct page *page)
{
	table_rows(page->to, &interruption_rows);
	for (uint32_t i = 0; i < page->interruption_map.n_keys && !is_full(page); i++) {
		const struct interruption *one = &page->interruptions[i];
		char disk[HOST_DISK_NAME], name[GUEST_TASK_NAME], by[GUEST_TASK_NAME];

		if (!report_wants_work(page->report, machine_of(page, one->pid)))
			continue;
		disk_name(page, one->disk, disk);
		guest_task_name(name, sizeof(name), page->trace, one->pid);
		guest_task_name(by, sizeof(by), page->trace, one->by);
		table_row(page->to, (const struct table_cell[ARRAY_SIZE(interruption_columns)]){
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
		n += page->by_task.all[i].requests;
	return n;
}

static void text_lacks(const struct page *page)
{
	struct output *text = table_as_text(page->to);

	if (!text)
		return;
	if (!page->disks.known)
		out_str(text, "  unknown  block:block_rq_issue and block:block_rq_complete were "
			"not both recorded: requests are unknown\n");
	else if (!page->disks.knows_queues)
		out_str(text, "  unknown  block:block_rq_insert was not recorded: times in queues "
			"are unknown; a request belongs to the task that gave it to the disk\n");
	if (page->all_foreign)
		out_printf(text, "  requests that were begun before the trace, or while records "
			   "are missing: %llu; they are not counted below\n",
			   (unsigned long long)page->all_foreign);
}

/** A trace. Return: 0 or -ENOMEM, or as kvm_trace_walk(). */
static int trace_rows(struct page *page, const char *path)
{
	struct table_writer *to = page->to;
	int ret = page->trace ? sum_up(page) : 0;	/* Xen has no requests */
	bool known = page->disks.known, before = to->unknown;
	const struct table_cell cells[] = {
		table_name(path),
		known ? table_number((int64_t)all_requests(page)) : table_unknown(),
		known ? table_number((int64_t)page->all_foreign) : table_unknown(),
	};

	if (!ret) {
		to->unknown |= !known;
		table_group(to, cells);
		text_lacks(page);
		disk_rows(page);
		of_machine_rows(page);
		of_task_rows(page);
		of_interruption_rows(page);
		table_group_end(to);
		to->unknown = before;
	}
	free_page(page);
	return ret;
}

/** The host's trace, and those of its guests. Return: 0 or -ENOMEM. */
static int disks_rows(struct table_writer *to, const struct report *report)
{
	const struct model_load *load = report->load;
	struct page page = { .to = to, .report = report, .trace = load->host.kvm };
	int ret = trace_rows(&page, report->file);

	for (int i = 0; i < load->n_guests && !ret; i++) {
		page = (struct page){
			.to = to, .report = report, .trace = load->guests[i], .is_guest = true,
			.machine = report_guest_machine(report, load->guests[i]),
		};
		if (report_wants_work(report, page.machine))
			ret = trace_rows(&page, kvm_trace_path(load->guests[i]));
	}
	return ret;
}

const struct report_page report_disks = {
	.table = &table, .number = VIRT_N_NUMBERS, .rows = disks_rows,
};
