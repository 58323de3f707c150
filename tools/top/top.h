/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top.h
 * @brief	The facts of one interval of a trace, and the writers that take them.
 *
 * The numbers are those of virt_window.h: times are cut to the interval; an event that begins in
 * the interval is counted and has its whole length. So intervals without gaps add up to the window
 * that they fill.
 */
#ifndef KSHARK_VIRT_TOP_H
#define KSHARK_VIRT_TOP_H

#include "report.h"

enum top_kind {
	TOP_MACHINE_STATE = 0,	/* of a machine: its vCPUs together */
	TOP_STATE,
	TOP_UNSPLIT,		/* of TOP_STATE: VIRT_INTERVAL_UNSPLIT */
	TOP_EXIT,
	TOP_ARGUMENT,		/* of TOP_EXIT: what they were for, if it is asked for */
	TOP_WAKE,
	TOP_STEAL,
	TOP_LOSS,		/* of a pCPU */
	TOP_TASK,		/* of the host, on pCPUs, if it is asked for */
	TOP_TASK_WAIT,		/* of the same task: for a pCPU */
	TOP_HOST_TIME,		/* of the host as a whole, if it is asked for: its pCPUs' time by
				 * kind, and pressure */
	TOP_HOST,		/* of the same: what it counts, and the means of states */
	TOP_N_KINDS
};

/** The statistic of the latencies of wake-ups. */
#define TOP_WAKE_STAT	VIRT_STAT_P99

/** One number, or those that belong together. */
struct top_fact {
	enum top_kind	kind;
	const char	*machine;		/* NULL: of a pCPU. TOP_TASK: that it works for, or
						 * "host", with no id */
	const char	*vcpu;			/* NULL: of a machine or pCPU */
	int32_t		machine_id, vcpu_id;	/* of these; or VIRT_NONE */
	int		pcpu;			/* or VIRT_NONE */
	const char	*name;			/* state, reason, culprit, argument; or NULL */
	int32_t		id;			/* of what the name is; names may be the same */
	int64_t		ns;			/* or VIRT_NONE: not known */
	int64_t		count;			/* or VIRT_NONE */
	int64_t		complete;		/* of these, with a length; or VIRT_NONE */
	int64_t		wake_ns;		/* TOP_WAKE_STAT of latencies; or VIRT_NONE */
	int64_t		known_ns;		/* what shares refer to */
	unsigned int	includes;		/* TOP_STATE: as virt_model_includes() */
};

typedef void (*top_fact_fn)(void *arg, const struct top_fact *fact);

/** What belongs to an interval; a set. */
enum top_scope {
	TOP_ALL = 0,		/* all machines, so that intervals add up to the whole of a file */
	TOP_LIVING = 1 << 0,	/* not those that ended before the window: for days, they would be
				 * most of it */
	TOP_ARGUMENTS = 1 << 1,	/* also TOP_ARGUMENT, which takes longer */
	TOP_TASKS = 1 << 2,	/* also TOP_TASK; @report has the host's tasks */
	TOP_WHOLE_HOST = 1 << 3, /* also TOP_HOST; @report has the host's samples */
};

/**
 * top_facts - all facts of the window of @report, machine by machine, then pCPUs
 *
 * Names are those of the model, or are gone when @take returns.
 *
 * @scope: set of enum top_scope
 *
 * Return: 0 or -ENOMEM.
 */
int top_facts(struct report *report, const struct ksv_vcpu_set *vcpus, unsigned int scope,
	      top_fact_fn take, void *arg);

/** The numbers of a fact. */
enum top_number {
	TOP_COUNT = 1 << 0,
	TOP_NS = 1 << 1,
	TOP_COMPLETE = 1 << 2,
	TOP_WAKE_NS = 1 << 3,
};

/** top_has - do facts of a kind have a number? It may be unknown. */
bool top_has(enum top_kind kind, enum top_number number);

/** top_section - the name of a kind. */
const char *top_section(enum top_kind kind);

/** top_same_subject - are both of the same machine, vCPU or pCPU? */
bool top_same_subject(const struct top_fact *a, const struct top_fact *b);

/** The facts of one interval, with names of their own. All zero is none. */
struct top_interval {
	int64_t		from_ns, to_ns;
	struct top_fact	*facts;
	size_t		n, room;
	char		*text;		/* the names */
	size_t		n_text, room_text;
	struct trace_notes notes;	/* that earlier intervals do not have */
	bool		no_memory;
};

/** top_interval_make - the facts of the window of @report. Return: 0, to be freed, or -ENOMEM. */
int top_interval_make(struct top_interval *interval, struct report *report,
		      const struct ksv_vcpu_set *vcpus, unsigned int scope);

/**
 * top_interval_collect - the facts of an interval, from where they are known
 * @interval: has its ends
 * @facts: gives each fact to @take, with @taker; its return value is passed on
 *
 * Return: 0, to be freed, or a negative errno.
 */
int top_interval_collect(struct top_interval *interval,
			 int (*facts)(void *arg, top_fact_fn take, void *taker), void *arg);

/** top_interval_bytes - how much memory it takes. */
size_t top_interval_bytes(const struct top_interval *interval);
void top_interval_free(struct top_interval *interval);

/** What has become of what was recorded, as far as it has come. */
struct top_count {
	uint64_t	bytes, records;
	uint64_t	waiting;	/* bytes in memory */
	uint64_t	late;		/* records that came too late: they count as lost */
	int64_t		late_ns;	/* the most that one was late by */
	uint64_t	hurried;	/* records that were taken early, for lack of memory */
	uint64_t	lost;		/* records, by the kernel, that were not read in time */
};

/** How intervals are written. */
struct top_format {
	/** Or NULL. @notes: of the file; NULL: each interval has its own */
	void	(*begin)(struct output *out, const char *file, const struct trace_notes *notes);
	void	(*interval)(struct output *out, const struct top_interval *interval);
	/** Or NULL. @notes: of the whole input, marked as printed if an interval had it; or NULL */
	void	(*end)(struct output *out, const struct trace_notes *notes);
	const struct top_format *live;	/* takes its place for what is still recorded; or NULL */
	bool	at_once;	/* a single interval: counters since the window's beginning */
};

extern const struct top_format top_text, top_csv, top_json, top_json_lines, top_openmetrics,
			       top_prometheus;

#endif
