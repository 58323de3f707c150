// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_files.c
 * @brief	kshark-virt report --files: bytes that tasks read and write, by file descriptor.
 */
#include <errno.h>
#include <stdlib.h>

#include "host_files.h"
#include "report_work.h"
#include "text_columns.h"

#define NAME_WIDTH	22
#define OPERATION_WIDTH	8

/* --- sums ------------------------------------------------------------------------------------ */

/** Calls that have something in common, and begin in the window. */
struct file_sum {
	struct report_sum sum;		/* key: of key_of(); who: pid, or index of a machine */
	uint64_t	bytes;
};

/** A trace whose system calls are summed up. */
struct page {
	const struct report_work *work;
	struct host_files	files;
	struct report_sums	by_file, by_machine;
	uint64_t		n, foreign;	/* in the window */
};

/** Whether a call reads or writes; and of a task's, the descriptor. */
static uint32_t key_of(const struct host_file_call *call, bool of_task)
{
	return (of_task ? (uint32_t)call->file << 1 : 0) | call->writes;
}

static int add(struct report_sums *sums, const struct host_file_call *call, uint32_t key,
	       int32_t who)
{
	struct report_sum *common = report_sums_add(sums, key, who, sizeof(struct file_sum));
	struct file_sum *sum = (struct file_sum *)common;

	if (!sum)
		return -ENOMEM;
	common->failed += call->has_failed;
	if (call->end_ns == HOST_FILE_NO_TIME)
		return 0;
	if (__builtin_add_overflow(sum->bytes, call->bytes, &sum->bytes) ||
	    sum->bytes > INT64_MAX)
		sum->bytes = INT64_MAX;
	return report_times_add(&common->times, call->end_ns - call->begin_ns);
}

static int add_call(struct page *page, const struct host_file_call *call)
{
	const struct report *report = page->work->report;
	int ret;

	if (!virt_begins_in(call->begin_ns, report->from_ns, report->to_ns))
		return 0;
	page->n++;
	ret = add(&page->by_file, call, key_of(call, true), call->pid);
	return ret ? ret : add(&page->by_machine, call, key_of(call, false),
			       report_work_machine(page->work, call->pid));
}

/** Most bytes first. */
static int compare_sums(const void *a, const void *b)
{
	const struct file_sum *x = *(const struct file_sum *const *)a;
	const struct file_sum *y = *(const struct file_sum *const *)b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->sum.n != y->sum.n)
		return x->sum.n < y->sum.n ? 1 : -1;
	if (x->sum.who != y->sum.who)
		return x->sum.who < y->sum.who ? -1 : 1;
	return (x->sum.key > y->sum.key) - (x->sum.key < y->sum.key);
}

static int sum_up(struct page *page)
{
	const struct report *report = page->work->report;
	const struct report_work_time time = report_work_time(page->work);
	int ret = host_files_read(&page->files, page->work->trace, time.time, time.arg);

	for (size_t i = 0; i < page->files.n && !ret; i++)
		ret = add_call(page, &page->files.calls[i]);
	if (ret)
		return ret;
	for (size_t i = 0; i < page->files.n_foreign; i++)
		page->foreign += virt_begins_in(page->files.foreign_ns[i], report->from_ns,
						report->to_ns);
	report_sums_finish(&page->by_file, compare_sums);
	report_sums_finish(&page->by_machine, compare_sums);
	return 0;
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column trace_columns[] = {
	REPORT_WORK_COLUMNS("calls"),
};

#define OPERATION_COLUMN { .key = "operation", .title = "", .width = OPERATION_WIDTH }

/** The columns of all rows, from the number of calls on. */
#define SUM_COLUMNS									\
	{ .key = "calls", .type = TABLE_COUNT, .title = "calls" },			\
	{ .key = "failed", .type = TABLE_COUNT, .title = "failed" },			\
	{ .key = "bytes", .type = TABLE_COUNT, .title = "bytes" },			\
	{ .type = TABLE_PER_SECOND, .title = "bytes/s" },				\
	{ .key = "bytes_per_s", .type = TABLE_FIXED },					\
	{ .key = "duration", .type = TABLE_DURATIONS, .title = "in calls", .shown =	\
	  TABLE_TOTAL | TABLE_P50 | TABLE_P99 | TABLE_MAX }

static const struct table_column file_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "machine" },
	{ .key = "name", .title = "task", .width = NAME_WIDTH },
	{ .key = "pid", .type = TABLE_TIME },
	OPERATION_COLUMN,
	{ .key = "file", .type = TABLE_COUNT, .title = "file" },
	SUM_COLUMNS,
};

static const struct table_column machine_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "machine", .title = "machine", .width = NAME_WIDTH },
	OPERATION_COLUMN,
	{ .title = "", .width = TEXT_NUMBER },
	SUM_COLUMNS,
};

static const struct table table = {
	.groups = "traces", .group = trace_columns, .n_group = ARRAY_SIZE(trace_columns),
	.rows = { .key = "files", TABLE_COLUMNS(file_columns), .none = "  no call\n" },
};

static const struct table_rows machine_rows = {
	.key = "machines", TABLE_COLUMNS(machine_columns), .apart = true,
};

/* --- rows ------------------------------------------------------------------------------------ */

static struct table_cell operation_cell(const struct report_sum *sum)
{
	return table_name(sum->key & 1 ? "write" : "read");
}

/** The cells of SUM_COLUMNS. */
static void sum_cells(const struct page *page, const struct report_sum *common,
		      struct table_cell *cells)
{
	const struct report *report = page->work->report;
	const struct file_sum *sum = (const struct file_sum *)common;
	double seconds = (double)(report->to_ns - report->from_ns) / 1e9;
	double rate = seconds > 0 ? (double)sum->bytes / seconds : 0;

	cells[0] = table_number((int64_t)common->n);
	cells[1] = table_number((int64_t)common->failed);
	cells[2] = table_number((int64_t)sum->bytes);
	cells[3] = table_share((int64_t)sum->bytes, report->to_ns - report->from_ns);
	cells[4] = table_rate(true, rate);
	cells[5] = table_durations(&common->times.dist);
}

static void file_row(const void *arg, const struct report_sum *sum, const char *machine,
		     const char *task)
{
	const struct page *page = arg;
	struct table_cell cells[ARRAY_SIZE(file_columns)] = {
		table_name("file"), table_name(machine), table_name(task), table_number(sum->who),
		operation_cell(sum), table_number(sum->key >> 1),
	};

	sum_cells(page, sum, &cells[6]);
	table_row(page->work->to, cells);
}

static void machine_row(const void *arg, const struct report_sum *sum, const char *machine,
			const char *task)
{
	const struct page *page = arg;
	struct table_cell cells[ARRAY_SIZE(machine_columns)] = {
		table_name("machine"), table_name(machine), operation_cell(sum), table_absent(),
	};

	(void)task;
	sum_cells(page, sum, &cells[4]);
	table_row(page->work->to, cells);
}

/** Return: 0 or -ENOMEM, or as kvm_trace_walk(). */
static int trace_rows(struct report_work *work)
{
	struct page page = { .work = work };
	int ret = work->trace ? sum_up(&page) : 0;
	const char *lacks = !page.files.known ?
			    "raw_syscalls of x86-64, or the system calls that read and write, "
			    "were not recorded: bytes of files are unknown" :
			    page.files.knows_all ? NULL :
			    "raw_syscalls of x86-64, or all system calls that read and write, "
			    "were not recorded: bytes of other calls are missing below";

	if (!ret) {
		report_work_begin(work, page.files.known, page.n, page.foreign, "calls", lacks);
		report_work_rows(work, &table.rows, &page.by_file, true, file_row, &page);
		report_work_rows(work, &machine_rows, &page.by_machine, false, machine_row, &page);
		table_group_end(work->to);
	}
	host_files_free(&page.files);
	report_sums_free(&page.by_file);
	report_sums_free(&page.by_machine);
	return ret;
}

/** Return: 0 or -ENOMEM, or as kvm_trace_walk(). */
static int files_rows(struct table_writer *to, const struct report *report)
{
	return report_work_each(to, report, trace_rows);
}

const struct report_page report_file_calls = {
	.table = &table, .number = VIRT_N_NUMBERS, .rows = files_rows,
};
