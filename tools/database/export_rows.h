/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_rows.h
 * @brief	A window of a trace as rows of tables.
 */
#ifndef KSHARK_VIRT_EXPORT_ROWS_H
#define KSHARK_VIRT_EXPORT_ROWS_H

#include "export_sink.h"
#include "guest_tasks.h"
#include "host_counters.h"
#include "host_disks.h"
#include "host_locks.h"
#include "host_samples.h"
#include "report.h"

/** What is exported: the window and the vCPUs are those of a report. */
struct export_job {
	struct report		*report;
	size_t			most_moments;	/* 0: none */
	unsigned int		left_out;	/* tables that get no rows: 1 << their ids */
	const struct guest_tasks *guests;	/* whose traces are there; none: n_guests 0 */
	int			n_guests;
	/* of the host; none if their table is left out */
	const struct host_disks	*disks;
	const struct host_locks	*locks;
	const struct host_samples *samples;
	struct host_counters	*counters;	/* at their beginning; or NULL */
};

/**
 * export_samples - the samples for a window
 * @first: receives the first of them; NULL: there are none
 *
 * They begin with the last one before the window, and end with the first one after it: what was
 * counted in the window lies between them.
 *
 * Return: how many.
 */
size_t export_samples(const struct export_job *job, const struct host_sample **first);

/** export_wants_vcpu - is this vCPU among those that were asked for? */
bool export_wants_vcpu(const struct export_job *job, int32_t vcpu);

/** export_wants_machine - is any vCPU of this machine, by its index? */
bool export_wants_machine(const struct export_job *job, int32_t machine);

/** export_vcpu_window - the intervals of a vCPU that overlap the window */
struct virt_interval_range export_vcpu_window(const struct export_job *job, int32_t vcpu);

/** export_interval_end - where interval @i of a range ends, not cut to the window */
static inline int64_t export_interval_end(const struct virt_interval_range *range, size_t i)
{
	return i + 1 < range->n ? range->first[i + 1].start_ns : range->end_ns;
}

/** export_reason - the name of an exit reason; "unknown" */
const char *export_reason(const struct export_job *job, int32_t reason);

/** A task that has a CPU of its guest. */
struct export_task {
	int		guest;			/* index in @guests of the job */
	int32_t		vcpu;			/* global index of that CPU */
	int32_t		pid;			/* 0: idle */
	int64_t		start_ns, end_ns;	/* cut to the window */
};

typedef void (*export_task_fn)(void *arg, const struct export_task *task);

/** export_tasks - call @take for all known tasks of a vCPU in the window. */
void export_tasks(const struct export_job *job, int32_t vcpu, export_task_fn take, void *arg);

/** A wake-up: a vCPU waits for a pCPU from then on. */
struct export_wake {
	int64_t		time_ns, end_ns;	/* may end after the window */
	bool		is_complete;		/* what comes after it is known */
	bool		has_cause;		/* it was blocked before */
	bool		is_known;		/* the trace shows what woke it */
	enum virt_wake_cause cause;
	int32_t		waker;			/* as in struct virt_wake */
	int32_t		pcpu, vector;		/* or VIRT_NONE */
};

typedef void (*export_wake_fn)(void *arg, int32_t vcpu, const struct export_wake *wake);

/** export_wakes - all wake-ups of a vCPU that begin in the window */
void export_wakes(const struct export_job *job, int32_t vcpu, export_wake_fn take, void *arg);

/**
 * export_rows - all tables but those left out, one after the other
 *
 * Return: 0 or -ENOMEM; -EBADMSG: the counters are damaged.
 */
int export_rows(const struct export_job *job, struct export_sink *sink);

#endif
