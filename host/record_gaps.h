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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** All zero is none. */
struct record_gaps {
	int64_t		*last_ns;	/* by CPU: of the last record */
	size_t		n_cpus;
	struct record_gap {
		int64_t	from_ns, to_ns;
	} *all;				/* after record_gaps_join(): in order of time, and apart */
	size_t		n, room;
	size_t		next;		/* the first one that has not ended at the last time */
};

/** record_gaps_init - begin; record_gaps_free() must follow. Return: 0 or -ENOMEM. */
int record_gaps_init(struct record_gaps *gaps, size_t n_cpus);
void record_gaps_free(struct record_gaps *gaps);

/**
 * record_gaps_take - the next record of a CPU
 * @has_lost: records are missing between it and the one before
 *
 * Return: 0 or -ENOMEM.
 */
int record_gaps_take(struct record_gaps *gaps, int cpu, int64_t time_ns, bool has_lost);

/** record_gaps_join - all records were taken; record_gaps_segment() begins anew */
void record_gaps_join(struct record_gaps *gaps);

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
