// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_locks.c
 * @brief	kshark-virt report --locks: waits for locks of the kernel, by lock, machine, task.
 */
#include <errno.h>
#include <stdlib.h>

#include "guest_tasks.h"
#include "host_locks.h"
#include "host_tasks.h"
#include "key_map.h"
#include "report_page.h"
#include "text_columns.h"

#define LOCK_WIDTH	20
#define NAME_WIDTH	22
#define KIND_WIDTH	20

/** In text, of locks, machines and tasks. */
#define MAX_ROWS	20

/* --- sums ------------------------------------------------------------------------------------ */

/** Waits for a lock that have something in common, and begin in the window. */
struct lock_sum {
	uint64_t	lock;
	const char	*kind;
	int32_t		who;		/* index of a machine, or pid; 0: all */
	uint64_t	waits, failed, tasks;
	int64_t		*ns;		/* how long each took, if that is known */
	size_t		n, room;
	struct virt_dist waited;
};

/** Sums by lock, kind and who. All zero is none. */
struct lock_sums {
	struct key_map	map;
	struct lock_sum	*all;
	uint32_t	room;
};

/** A trace whose locks are summed up. */
struct page {
	struct table_writer	*to;
	const struct report	*report;
	struct kvm_trace	*trace;
	bool			is_guest;
	int32_t			machine;	/* of a guest; VIRT_NONE: not known */
	struct host_locks	locks;
	struct key_map		address_map, lock_map;	/* of locks; with their kinds */
	struct lock_sums	by_lock, by_machine, by_task;
	uint64_t		n, foreign;	/* in the window */
};

static int add(struct lock_sums *sums, const struct host_lock_wait *wait, uint32_t lock,
	       int32_t who)
{
	int64_t i = KEY_MAP_ELEMENT(&sums->map, (uint64_t)lock << 32 | (uint32_t)who, sums->all,
				    sums->room);
	struct lock_sum *sum = i < 0 ? NULL : &sums->all[i];

	if (!sum)
		return -ENOMEM;
	sum->lock = wait->lock;
	sum->kind = host_lock_kind_name(host_lock_kind_of(wait->flags));
	sum->who = who;
	sum->waits++;
	sum->failed += wait->has_failed;
	if (wait->end_ns == HOST_LOCK_NO_TIME)
		return 0;
	if (ARRAY_GROW(sum->ns, sum->n, sum->room))
		return -ENOMEM;
	sum->ns[sum->n++] = wait->end_ns - wait->begin_ns;
	return 0;
}

static int32_t machine_of(const struct page *page, int32_t pid)
{
	return page->is_guest ? page->machine : host_task_machine(page->report->load->model, pid);
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
	const struct report *report = page->report;
	uint32_t n_tasks = page->by_task.map.n_keys;
	int64_t lock;
	int ret;

	if (!virt_begins_in(wait->begin_ns, report->from_ns, report->to_ns))
		return 0;
	lock = lock_of(page, wait);
	if (lock < 0)
		return -ENOMEM;
	page->n++;
	ret = add(&page->by_lock, wait, (uint32_t)lock, 0);
	if (!ret)
		ret = add(&page->by_machine, wait, (uint32_t)lock, machine_of(page, wait->pid));
	if (!ret)
		ret = add(&page->by_task, wait, (uint32_t)lock, wait->pid);
	/* a task that is new among those that wait for this lock */
	if (!ret && page->by_task.map.n_keys > n_tasks)
		page->by_lock.all[key_map_find(&page->by_lock.map, (uint64_t)lock << 32)].tasks++;
	return ret;
}

static int compare_sums(const void *a, const void *b)
{
	const struct lock_sum *x = a, *y = b;

	if (x->waited.ns != y->waited.ns)
		return x->waited.ns < y->waited.ns ? 1 : -1;
	if (x->waits != y->waits)
		return x->waits < y->waits ? 1 : -1;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static void finish(struct lock_sums *sums)
{
	for (uint32_t i = 0; i < sums->map.n_keys; i++)
		virt_dist_make(&sums->all[i].waited, sums->all[i].ns, sums->all[i].n);
	if (sums->map.n_keys)
		qsort(sums->all, sums->map.n_keys, sizeof(*sums->all), compare_sums);
}

static int64_t guest_time(const void *arg, int64_t time_ns)
{
	return guest_tasks_time(arg, time_ns);
}

static int sum_up(struct page *page)
{
	const struct report *report = page->report;
	int ret = host_locks_read(&page->locks, page->trace, page->is_guest ? guest_time : NULL,
				  &report->load->host);

	for (size_t i = 0; i < page->locks.n && !ret; i++)
		ret = add_wait(page, &page->locks.waits[i]);
	for (size_t i = 0; i < page->locks.n_foreign; i++)
		page->foreign += virt_begins_in(page->locks.foreign_ns[i], report->from_ns,
						report->to_ns);
	finish(&page->by_lock);
	finish(&page->by_machine);
	finish(&page->by_task);
	return ret;
}

static void free_sums(struct lock_sums *sums)
{
	for (uint32_t i = 0; i < sums->map.n_keys; i++)
		free(sums->all[i].ns);
	key_map_destroy(&sums->map);
	free(sums->all);
}

static void free_page(struct page *page)
{
	host_locks_free(&page->locks);
	key_map_destroy(&page->lock_map);
	key_map_destroy(&page->address_map);
	free_sums(&page->by_lock);
	free_sums(&page->by_machine);
	free_sums(&page->by_task);
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column trace_columns[] = {
	{ .key = "trace", .title = "" },
	{ .key = "waits", .type = TABLE_COUNT, .not_csv = true },
	{ .key = "begun_before", .type = TABLE_COUNT, .not_csv = true },
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

/** Has text shown enough rows? */
static bool is_full(const struct page *page)
{
	return table_as_text(page->to) && page->to->n_rows >= MAX_ROWS;
}

/** The N_SUM_COLUMNS cells of a sum. @name: receives that of the lock */
static void sum_cells(const struct lock_sum *sum, struct table_cell *cells,
		      char name[HOST_LOCK_NAME])
{
	host_lock_name(sum->lock, name);
	cells[0] = table_name(name);
	cells[1] = table_name(sum->kind);
	cells[2] = table_number((int64_t)sum->waits);
	cells[3] = table_number((int64_t)sum->failed);
	cells[4] = table_durations(&sum->waited);
}

static void of_lock_rows(const struct page *page)
{
	const struct lock_sums *sums = &page->by_lock;

	for (uint32_t i = 0; i < sums->map.n_keys && !is_full(page); i++) {
		struct table_cell cells[ARRAY_SIZE(lock_columns)] = {
			table_name("lock"), table_absent(), table_absent(), table_absent(),
		};
		char name[HOST_LOCK_NAME];

		sum_cells(&sums->all[i], &cells[4], name);
		cells[4 + N_SUM_COLUMNS] = table_number((int64_t)sums->all[i].tasks);
		table_row(page->to, cells);
	}
}

static void of_machine_rows(const struct page *page)
{
	const struct lock_sums *sums = &page->by_machine;

	table_rows(page->to, &machine_rows);
	for (uint32_t i = 0; i < sums->map.n_keys && !is_full(page); i++) {
		const struct lock_sum *sum = &sums->all[i];
		struct table_cell cells[ARRAY_SIZE(machine_columns)] = {
			table_name("machine"),
			table_name(report_works_for(page->report, sum->who, page->is_guest)),
		};
		char name[HOST_LOCK_NAME];

		if (!report_wants_work(page->report, sum->who))
			continue;
		sum_cells(sum, &cells[2], name);
		table_row(page->to, cells);
	}
}

static void of_task_rows(const struct page *page)
{
	const struct lock_sums *sums = &page->by_task;

	table_rows(page->to, &task_rows);
	for (uint32_t i = 0; i < sums->map.n_keys && !is_full(page); i++) {
		const struct lock_sum *sum = &sums->all[i];
		int32_t machine = machine_of(page, sum->who);
		struct table_cell cells[ARRAY_SIZE(task_columns)];
		char name[HOST_LOCK_NAME], task[GUEST_TASK_NAME];

		if (!report_wants_work(page->report, machine))
			continue;
		guest_task_name(task, sizeof(task), page->trace, sum->who);
		cells[0] = table_name("task");
		cells[1] = table_name(report_works_for(page->report, machine, page->is_guest));
		cells[2] = table_name(task);
		cells[3] = table_number(sum->who);
		sum_cells(sum, &cells[4], name);
		table_row(page->to, cells);
	}
}

static void text_lacks(const struct page *page)
{
	struct output *text = table_as_text(page->to);

	if (text && !page->locks.known)
		out_str(text, "  unknown  lock:contention_begin and lock:contention_end were not "
			"both recorded: waits for locks are unknown\n");
	if (text && page->foreign)
		out_printf(text, "  waits that began before the trace, or while records are "
			   "missing: %llu; they are not counted below\n",
			   (unsigned long long)page->foreign);
}

/** A trace. Return: 0 or -ENOMEM, or as kvm_trace_walk(). */
static int trace_rows(struct page *page, const char *path)
{
	struct table_writer *to = page->to;
	int ret = page->trace ? sum_up(page) : 0;	/* Xen has no locks */
	bool known = page->locks.known, before = to->unknown;
	const struct table_cell cells[] = {
		table_name(path), known ? table_number((int64_t)page->n) : table_unknown(),
		known ? table_number((int64_t)page->foreign) : table_unknown(),
	};

	if (!ret) {
		to->unknown |= !known;
		table_group(to, cells);
		text_lacks(page);
		of_lock_rows(page);
		of_machine_rows(page);
		of_task_rows(page);
		table_group_end(to);
		to->unknown = before;
	}
	free_page(page);
	return ret;
}

/** The host's trace, and those of its guests. Return: 0 or -ENOMEM. */
static int locks_rows(struct table_writer *to, const struct report *report)
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

const struct report_page report_locks = {
	.table = &table, .number = VIRT_N_NUMBERS, .rows = locks_rows,
};
