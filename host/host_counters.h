/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_counters.h
 * @brief	Counters of a host's pCPUs, and the vCPU or task that each count belongs to.
 *
 * perf reads counters with records of an event, mostly sched_switch. A span is the time between two
 * readings of a pCPU. Its count belongs to the vCPU or task that had the pCPU during all of it, if
 * the record at its end shows the same one. Otherwise, where records are missing, and where
 * switches may have had none because perf counted their group in turns, the owner is not known. No
 * count is divided: a span is in a state of its vCPU only if all of it is.
 */
#ifndef KSHARK_VIRT_HOST_COUNTERS_H
#define KSHARK_VIRT_HOST_COUNTERS_H

#include "key_map.h"
#include "kvm_trace.h"
#include "trace_counters.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Who has no number of the model. */
enum { HOST_COUNTER_IDLE = -2, HOST_COUNTER_UNKNOWN = -3 };

/** A state besides enum virt_state: there are several in the span. */
#define HOST_COUNTER_MIXED	VIRT_N_STATES
/** It is no vCPU's span. */
#define HOST_COUNTER_NO_STATE	(VIRT_N_STATES + 1)

/** What was before a vCPU's run that a span is part of. */
enum host_counter_after {
	HOST_AFTER_STEAL = 0,	/* it was preempted */
	HOST_AFTER_SLEEP,	/* it was blocked, and was woken */
	HOST_AFTER_UNKNOWN,
	HOST_N_AFTERS
};

/** host_counter_after_name - "steal", "sleep", "unknown" */
const char *host_counter_after_name(enum host_counter_after after);

/** Between two readings of a counter on a pCPU. */
struct host_counter_span {
	int64_t		from_ns, to_ns;	/* on the axis of the model */
	uint32_t	counter;
	int32_t		pcpu;
	int32_t		who;		/* vCPU or task of the model, or HOST_COUNTER_... */
	uint8_t		state;		/* of a vCPU: enum virt_state, or HOST_COUNTER_... */
	uint8_t		after;		/* of a vCPU: enum host_counter_after */
	bool		is_counted;	/* else the counter began anew in between */
	uint64_t	value;
	/* how long the counter should count and did, which is less where perf shares a processor's
	 * counters between events; -1: not known */
	int64_t		enabled_ns, running_ns;
};

/** All zero is none. */
struct host_counters {
	struct trace_counters file;
	int		fd;
};

/**
 * host_counters_open - the counters of a host's trace
 * @counters: to be given to host_counters_close() in any case
 *
 * Return: 0; -ENOENT: it has none; -EBADMSG: they are damaged; -ENOMEM.
 */
int host_counters_open(struct host_counters *counters, const struct kvm_trace *trace);
void host_counters_close(struct host_counters *counters);

/**
 * host_counters_each - all spans, pCPU by pCPU and in order of time, once
 * @take: gets them; other than 0 ends it
 *
 * Return: 0, -EBADMSG, or what @take returned.
 */
int host_counters_each(struct host_counters *counters, const struct kvm_trace *trace,
		       const struct virt_model *model,
		       int (*take)(void *arg, const struct host_counter_span *span), void *arg);

/** host_counter_side_name - "host", "guests", "both"; NULL: it is not the processor's */
const char *host_counter_side_name(const struct trace_counter *counter);

/** host_counter_owner_name - "vcpu", "task", "idle", "unknown" */
const char *host_counter_owner_name(const struct virt_model *model,
				    const struct host_counter_span *span);

/** host_counter_state_name - as virt_state_name(); "mixed" */
const char *host_counter_state_name(uint8_t state);

/** host_counters_partner - the counter of the same group and modes that is called so; or -1 */
int32_t host_counters_partner(const struct host_counters *counters, uint32_t counter,
			      const char *name);

/** host_counters_is - is a counter called so, apart from its unit and its modifiers? */
bool host_counters_is(const struct host_counters *counters, uint32_t counter, const char *name);

/* --- sums ------------------------------------------------------------------------------------ */

/** What a sum is of. */
enum host_counter_kind {
	HOST_COUNTER_OF_WHO,	/* @who: of a span */
	HOST_COUNTER_IN_STATE,	/* @who, @sub: state of a span */
	HOST_COUNTER_AFTER,	/* @who, @sub: enum host_counter_after */
	HOST_COUNTER_OF_PCPU,	/* @who: pCPU */
	HOST_COUNTER_CUT,	/* spans that are partly in the window; @ns is that part */
};

/** Spans in a window. */
struct host_counter_sum {
	uint32_t	counter;
	int32_t		who;
	uint8_t		kind, sub;
	bool		no_times;	/* @enabled_ns and @running_ns are not known */
	uint64_t	spans;
	uint64_t	value;
	int64_t		ns;		/* of all spans */
	int64_t		uncounted_ns;	/* of those without a value */
	int64_t		enabled_ns, running_ns;
};

/** All zero is none. */
struct host_counter_sums {
	struct key_map	map;
	struct host_counter_sum *all;
	uint32_t	room;
};

/**
 * host_counter_sums_make - add up the spans of [from, to)
 * @sums: to be given to host_counter_sums_free() in any case
 *
 * Return: 0, -ENOMEM or -EBADMSG.
 */
int host_counter_sums_make(struct host_counter_sums *sums, struct host_counters *counters,
			   const struct kvm_trace *trace, const struct virt_model *model,
			   int64_t from_ns, int64_t to_ns);
void host_counter_sums_free(struct host_counter_sums *sums);

/** host_counter_sum_of - NULL: there was no span */
const struct host_counter_sum *host_counter_sum_of(const struct host_counter_sums *sums,
						   enum host_counter_kind kind, uint32_t counter,
						   int32_t who, uint8_t sub);

/**
 * host_counter_add - add a sum to another one, of the same counter
 */
void host_counter_add(struct host_counter_sum *to, const struct host_counter_sum *sum);

/** Is a sum that is estimated like perf's known? See host_counter_estimate(). */
enum host_counter_share {
	HOST_COUNTED_ALL,	/* all of the time */
	HOST_COUNTED_SOME,
	HOST_COUNTED_NONE,	/* the counter never counted */
	HOST_COUNTED_UNKNOWN,	/* the file does not say how long it did */
};

/** host_counter_share - how much of its time was counted */
enum host_counter_share host_counter_share(const struct host_counter_sum *sum);

/** host_counter_estimate - the sum, had it been counted all the time; not for _NONE, _UNKNOWN */
double host_counter_estimate(const struct host_counter_sum *sum);

#ifdef __cplusplus
}
#endif
#endif
