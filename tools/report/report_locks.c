// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_locks.c
 * @brief	kshark-virt report --locks: waits for locks of the kernel and for futexes, by lock,
 *		machine, task.
 */
#include <errno.h>
#include <stdlib.h>

#include "host_locks.h"
#include "report_work.h"
#include "text_columns.h"

#define LOCK_WIDTH	20
#define NAME_WIDTH	22
#define KIND_WIDTH	20

/* --- sums ------------------------------------------------------------------------------------ */

/** Waits for a lock that have something in common, and begin in the window. */
struct lock_sum {
	struct report_sum sum;		/* key: of @lock_map; who: machine, or pid; 0: all */
	uint64_t	lock;
	const char	*kind;
	uint64_t	tasks;
};

/** A trace whose locks are summed up. */
struct page {
	const struct report_work *work;
	struct host_locks	locks;
	struct key_map		address_map, lock_map;	/* of locks; with their kinds */
	struct report_sums	by_lock, by_machine, by_task;
	uint64_t		n, n_futexes, foreign;	/* in the window */
};

/** Return: NULL without memory. */
static struct lock_sum *add(struct report_sums *sums, const struct host_lock_wait *wait,
			    uint32_t lock, int32_t who)
{
	struct report_sum *common = report_sums_add(sums, lock, who, sizeof(struct lock_sum));
	struct lock_sum *sum = (struct lock_sum *)common;

	if (!sum)
		return NULL;
	sum->lock = wait->lock;
	sum->kind = host_lock_kind_name(host_lock_kind_of(wait->flags));
	common->failed += wait->has_failed;
	if (wait->end_ns != VIRT_LOCK_NO_TIME &&
	    report_times_add(&common->times, wait->end_ns - wait->begin_ns))
		return NULL;
	return sum;
}

/** A number for the lock and its kind. Return: below 0 without memory. */
static int64_t lock_of(struct page *page, const struct host_lock_wait *wait)
{
	int64_t address = key_map_add(&page->address_map, wait->lock);

	return address < 0 ? -ENOMEM :
	       key_map_add(&page->lock_map, (uint64_t)address << 8 |
			   host_lock_kind_of(wait->flags));
}

static int add_wait(struct page *page, const struct host_lock_wait *wait)
{
	const struct report_work *work = page->work;
	struct lock_sum *sum, *of_task;
	int64_t lock;

	if (!virt_begins_in(wait->begin_ns, work->report->from_ns, work->report->to_ns))
		return 0;
	lock = lock_of(page, wait);
	if (lock < 0)
		return -ENOMEM;
	*(host_lock_is_futex(host_lock_kind_of(wait->flags)) ? &page->n_futexes : &page->n) += 1;
	sum = add(&page->by_lock, wait, (uint32_t)lock, 0);
	of_task = add(&page->by_task, wait, (uint32_t)lock, wait->pid);
	if (!sum || !of_task || !add(&page->by_machine, wait, (uint32_t)lock,
				     report_work_machine(work, wait->pid)))
		return -ENOMEM;
	sum->tasks += of_task->sum.n == 1;
	return 0;
}

/** Longest waits first. */
static int compare_sums(const void *a, const void *b)
{
	const struct lock_sum *x = *(const struct lock_sum *const *)a;
	const struct lock_sum *y = *(const struct lock_sum *const *)b;

	if (x->sum.times.dist.ns != y->sum.times.dist.ns)
		return x->sum.times.dist.ns < y->sum.times.dist.ns ? 1 : -1;
	if (x->sum.n != y->sum.n)
		return x->sum.n < y->sum.n ? 1 : -1;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->sum.who > y->sum.who) - (x->sum.who < y->sum.who);
}

static int sum_up(struct page *page)
{
	const struct report *report = page->work->report;
	const struct report_work_time time = report_work_time(page->work);
	int ret = host_locks_read(&page->locks, page->work->trace, time.time, time.arg);

	for (size_t i = 0; i < page->locks.n && !ret; i++)
		ret = add_wait(page, &page->locks.waits[i]);
	if (ret)
		return ret;
	for (size_t i = 0; i < page->locks.n_foreign; i++)
		page->foreign += virt_begins_in(page->locks.foreign_ns[i], report->from_ns,
						report->to_ns);
	report_sums_finish(&page->by_lock, compare_sums);
	report_sums_finish(&page->by_machine, compare_sums);
	report_sums_finish(&page->by_task, compare_sums);
	return 0;
}

static void free_page(struct page *page)
{
	host_locks_free(&page->locks);
	key_map_destroy(&page->lock_map);
	key_map_destroy(&page->address_map);
	report_sums_free(&page->by_lock);
	report_sums_free(&page->by_machine);
	report_sums_free(&page->by_task);
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column trace_columns[] = {
	REPORT_WORK_COLUMNS("waits"),
	{ .key = "futex_waits", .type = TABLE_COUNT, .not_csv = true },
};

/** The columns of all rows, from the lock on. */
#define SUM_COLUMNS									\
	{ .key = "lock", .title = "lock", .width = LOCK_WIDTH },			\
	{ .key = "kind", .title = "kind", .width = KIND_WIDTH },			\
	{ .key = "waits", .type = TABLE_COUNT, .title = "waits" },			\
	{ .key = "failed", .type = TABLE_COUNT, .title = "failed" },			\
	{ .key = "waited", .type = TABLE_DURATIONS, .title = "waited", .shown =		\
	  TABLE_TOTAL | TABLE_P50 | TABLE_P99 | TABLE_MAX }

#define N_SUM_COLUMNS	5

static const struct table_column lock_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "machine", .not_json = true },
	{ .key = "name", .not_json = true },
	{ .key = "pid", .type = TABLE_TIME, .not_json = true },
	SUM_COLUMNS,
	{ .key = "waiters", .type = TABLE_COUNT, .title = "waiters" },
};

static const struct table_column machine_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "machine", .title = "machine", .width = NAME_WIDTH },
	SUM_COLUMNS,
};

static const struct table_column task_columns[] = {
	{ .key = "section", .not_json = true },
	{ .key = "machine" },
	{ .key = "name", .title = "task", .width = NAME_WIDTH },
	{ .key = "pid", .type = TABLE_TIME },
	SUM_COLUMNS,
};

static const struct table table = {
	.groups = "traces", .group = trace_columns, .n_group = ARRAY_SIZE(trace_columns),
	.rows = { .key = "locks", TABLE_COLUMNS(lock_columns), .none = "  no wait\n" },
};

static const struct table_rows machine_rows = {
	.key = "machines", TABLE_COLUMNS(machine_columns), .apart = true,
};
static const struct table_rows task_rows = {
	.key = "tasks", TABLE_COLUMNS(task_columns), .apart = true,
};

/* --- rows ------------------------------------------------------------------------------------ */

/** The N_SUM_COLUMNS cells of a sum. @name: receives that of the lock */
static void sum_cells(const struct report_sum *common, struct table_cell *cells,
		      char name[VIRT_LOCK_NAME])
{
	const struct lock_sum *sum = (const struct lock_sum *)common;

	virt_lock_name(sum->lock, name);
	cells[0] = table_name(name);
	cells[1] = table_name(sum->kind);
	cells[2] = table_number((int64_t)common->n);
	cells[3] = table_number((int64_t)common->failed);
	cells[4] = table_durations(&common->times.dist);
}

static void lock_rows(const struct page *page)
{
	const struct report_sums *sums = &page->by_lock;

	for (uint32_t i = 0; i < sums->map.n_keys && !report_work_is_full(page->work); i++) {
		const struct lock_sum *sum = (const struct lock_sum *)sums->all[i];
		struct table_cell cells[ARRAY_SIZE(lock_columns)] = {
			table_name("lock"), table_absent(), table_absent(), table_absent(),
		};
		char name[VIRT_LOCK_NAME];

		sum_cells(&sum->sum, &cells[4], name);
		cells[4 + N_SUM_COLUMNS] = table_number((int64_t)sum->tasks);
		table_row(page->work->to, cells);
	}
}

static void machine_row(const void *arg, const struct report_sum *sum, const char *machine,
			const char *task)
{
	const struct page *page = arg;
	struct table_cell cells[ARRAY_SIZE(machine_columns)] = {
		table_name("machine"), table_name(machine),
	};
	char name[VIRT_LOCK_NAME];

	(void)task;
	sum_cells(sum, &cells[2], name);
	table_row(page->work->to, cells);
}

static void task_row(const void *arg, const struct report_sum *sum, const char *machine,
		     const char *task)
{
	const struct page *page = arg;
	struct table_cell cells[ARRAY_SIZE(task_columns)] = {
		table_name("task"), table_name(machine), table_name(task), table_number(sum->who),
	};
	char name[VIRT_LOCK_NAME];

	sum_cells(sum, &cells[4], name);
	table_row(page->work->to, cells);
}

/** Return: 0 or -ENOMEM, or as kvm_trace_walk(). */
static int trace_rows(struct report_work *work)
{
	struct page page = { .work = work };
	int ret = work->trace ? sum_up(&page) : 0;
	const char *lacks = page.locks.known ? NULL :
			    "lock:contention_begin and lock:contention_end were not both recorded: "
			    "waits for locks are unknown";

	work->also_known = page.locks.futexes_known;
	work->also = page.n_futexes;
	work->also_lacks = page.locks.futexes_known ? NULL :
			   "syscalls:sys_enter_futex and syscalls:sys_exit_futex, or "
			   "raw_syscalls, were not both recorded: waits for futexes are unknown";
	if (!ret) {
		report_work_begin(work, page.locks.known, page.n, page.foreign, "waits", lacks);
		lock_rows(&page);
		report_work_rows(work, &machine_rows, &page.by_machine, false, machine_row, &page);
		report_work_rows(work, &task_rows, &page.by_task, true, task_row, &page);
		table_group_end(work->to);
	}
	free_page(&page);
	return ret;
}

/** Return: 0 or -ENOMEM, or as kvm_trace_walk(). */
static int locks_rows(struct table_writer *to, const struct report *report)
{
	return report_work_each(to, report, trace_rows);
}

const struct report_page report_locks = {
	.table = &table, .number = VIRT_N_NUMBERS, .rows = locks_rows,
};
