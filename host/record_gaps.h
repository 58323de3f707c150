/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_gaps.h
 * @brief	Where records of any CPU of a trace are missing.
 *
 * A request, or a wait, may begin on one CPU and end on another one, so that a gap on any CPU is
 * one for all of them. Gaps divide a trace into segments.
 */
#ifndef KSHARK_VIRT_RECORD_GAPS_H
#define KSHARK_VIRT_RECORD_GAPS_H

#include "kvm_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All zero is none. */
struct record_gaps {
	int64_t		*last_ns;	/* by CPU: of the last record */
	struct record_gap {
		int64_t	from_ns, to_ns;
	} *all;				/* in order of time, and apart */
	size_t		n, room;
	size_t		next;		/* the first one that has not ended at the last time */
};

/** Which records are wanted, and what takes them. */
struct record_walk {
	kvm_trace_wants_fn wants;
	/* each record, also others than those that are wanted. Return: 0, or what ends the walk. */
	int (*take)(void *arg, const struct kvm_trace_line *line, int64_t time_ns);
	void *arg;
	/* brings the times of records to the axis of the model; NULL: they are on it */
	int64_t (*time)(const void *arg, int64_t time_ns);
	const void *time_arg;
};

/**
 * record_gaps_walk - read a trace once more if it has wanted events, and find its gaps
 * @gaps: to be given to record_gaps_free() in any case
 *
 * Return: 0, -ENOMEM, as kvm_trace_next_line(), or what @walk->take returned.
 */
int record_gaps_walk(struct record_gaps *gaps, struct kvm_trace *trace,
		     const struct record_walk *walk);
void record_gaps_free(struct record_gaps *gaps);

/** record_gaps_rewind - record_gaps_segment() begins anew */
void record_gaps_rewind(struct record_gaps *gaps);

/** record_gaps_segment - the number of the segment that a time is in; times must not decrease */
size_t record_gaps_segment(struct record_gaps *gaps, int64_t time_ns);

/** record_gaps_is_gap - is a segment a gap? */
static inline bool record_gaps_is_gap(size_t segment)
{
	return segment & 1;
}

#ifdef __cplusplus
}
#endif
#endif
