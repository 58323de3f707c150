/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_work.h
 * @brief	Work of a kernel for its tasks, such as requests and waits, summed up, for pages
 *		about the traces of a host and of its guests.
 */
#ifndef KSHARK_VIRT_REPORT_WORK_H
#define KSHARK_VIRT_REPORT_WORK_H

#include "key_map.h"
#include "report_page.h"

/** A trace whose work is summed up. */
struct report_work {
	struct table_writer	*to;
	const struct report	*report;
	struct kvm_trace	*trace;		/* NULL: Xen's, which has no such records */
	const char		*path;
	void			*arg;		/* of report_work_each_trace() */
	bool			is_guest;
	int32_t			machine;	/* of a guest; VIRT_NONE: not known */
	struct table_cell	group[4];	/* of report_work_begin(), until its group ends */
	/* of pages with one more column of the group, before that: the number of pieces that other
	 * records show; do they? In text, if not, what is unknown, and why */
	bool			also_known;
	uint64_t		also;
	const char		*also_lacks;
};

/**
 * report_work_each - the host's trace, and those of its guests that were asked for
 *
 * Return: 0, or what @rows returned if that is not 0.
 */
int report_work_each(struct table_writer *to, const struct report *report,
		     int (*rows)(struct report_work *work));

/** report_work_each_trace - the same without a table; @arg: for @take */
int report_work_each_trace(const struct report *report, void *arg,
			   int (*take)(struct report_work *work));

/** report_work_machine - the machine that a task of the trace works for; or VIRT_NONE */
int32_t report_work_machine(const struct report_work *work, int32_t pid);

/** It brings the times of a trace to the axis of the model, for host_disks_read() and others. */
struct report_work_time {
	int64_t		(*time)(const void *arg, int64_t time_ns);
	const void	*arg;
};

struct report_work_time report_work_time(const struct report_work *work);

/* --- sums ------------------------------------------------------------------------------------ */

/** Durations. All zero is none. */
struct report_times {
	int64_t		*ns;
	size_t		n, room;
	struct virt_dist dist;		/* after report_sums_finish() */
};

/** Pieces of work that have something in common. A page may have a struct that begins with it. */
struct report_sum {
	uint32_t	key;		/* a disk, a lock */
	int32_t		who;		/* index of a machine, pid, or what the page has here */
	uint64_t	n, failed;
	struct report_times times, queues;
};

/** Sums by key and who. All zero is none. */
struct report_sums {
	struct key_map	map;
	struct report_sum **all;
	uint32_t	room;
};

/** report_sums_add - count one more. @size: of the page's struct. Return: NULL without memory. */
struct report_sum *report_sums_add(struct report_sums *sums, uint32_t key, int32_t who,
				   size_t size);

/** report_times_add - Return: 0 or -ENOMEM. */
int report_times_add(struct report_times *times, int64_t ns);

/** report_sums_finish - all were added. @compare: two pointers to sums */
void report_sums_finish(struct report_sums *sums, int (*compare)(const void *a, const void *b));
void report_sums_free(struct report_sums *sums);

/* --- rows ------------------------------------------------------------------------------------ */

/** The columns of a trace. @n: the key of the number of all pieces of work */
#define REPORT_WORK_COLUMNS(n)						\
	{ .key = "trace", .title = "" },				\
	{ .key = (n), .type = TABLE_COUNT, .not_csv = true },		\
	{ .key = "begun_before", .type = TABLE_COUNT, .not_csv = true }

/**
 * report_work_begin - begin a group of rows of a trace; table_group_end() must follow
 * @known: the trace shows such work; else all of its rows are unknown
 * @before: pieces that began before the trace, or while records are missing
 * @what: in text: "waits"
 * @lacks: in text, what is unknown and why; or NULL
 */
void report_work_begin(struct report_work *work, bool known, uint64_t n, uint64_t before,
		       const char *what, const char *lacks);

/** report_work_is_full - has text shown enough rows of a kind? */
bool report_work_is_full(const struct report_work *work);

/**
 * report_work_rows - the rows of a kind: of the machines, or tasks, that were asked for
 * @of_tasks: @sums are by pid, not by machine
 * @row: writes one; its @task is NULL for a machine
 */
void report_work_rows(const struct report_work *work, const struct table_rows *rows,
		      const struct report_sums *sums, bool of_tasks,
		      void (*row)(const void *arg, const struct report_sum *sum,
				  const char *machine, const char *task), const void *arg);

#endif
