/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_live.h
 * @brief	Read records of a trace that xentrace is still writing, in order of time, for days.
 *
 * Bytes are pushed as they come, in pieces of any size; the sizes change nothing. The functions
 * that read windows and records are those for files (xentrace_scan.h). Windows and records are
 * forgotten when they have been taken.
 *
 * xentrace empties the buffers of all pCPUs in turns. The records of one pCPU come after records of
 * other pCPUs from the same time. So records wait until no earlier record can come any more:
 *
 * - Records are complete up to the last TSC that was seen by the end of the fifth turn from the
 *   end, where the turn under way is the last: each buffer has been emptied three times since. Once
 *   is enough for records that were not lost; the next record of a pCPU shows that records before
 *   it were lost. If that record takes longer, the loss counts from the last record that could be
 *   given out by then.
 * - When nothing comes for a while, the caller says so (xentrace_live_settle()): the records that
 *   are there are complete.
 * - The number of waiting bytes is limited. If more bytes wait, the earliest records are given out
 *   at once.
 *
 * A record that comes after later records could be given out is too late: it is counted, and bytes
 * are missing before its pCPU's next record (XENTRACE_AFTER_GAP).
 *
 * Damage is treated as in a file, except where that needs the rest of the file: after damage, the
 * next window is searched in 64 KiB at a time, and where a window has ended with TSCs that were
 * lower, the next one does not take that back.
 */
#ifndef KSHARK_VIRT_XENTRACE_LIVE_H
#define KSHARK_VIRT_XENTRACE_LIVE_H

#include "xentrace_reader.h"

struct xentrace_live;

/**
 * Takes each record once it has been read, run by run, before it is given out.
 * @before_tsc: from when on records are missing if this one reports a loss: of the run's record
 *	before it, or what has been given out already
 */
typedef int (*xentrace_ahead_fn)(void *arg, const struct xentrace_record *rec, uint64_t before_tsc);

/** How much has come, and what became of it. */
struct xentrace_live_counts {
	uint64_t	bytes, records;
	uint64_t	waiting;	/* bytes in memory */
	uint64_t	late;		/* records that came too late, and were not given out */
	uint64_t	late_cycles;	/* the most that one was late by */
	uint64_t	hurried;	/* records that were given out early, for lack of room */
};

/**
 * xentrace_live_new - nothing has come yet
 * @name: for texts
 * @max_bytes: limit of the data that waits
 *
 * Return: NULL without memory.
 */
struct xentrace_live *xentrace_live_new(const char *name, uint64_t max_bytes);
void xentrace_live_free(struct xentrace_live *stream);

/** xentrace_live_watch - have each record looked at beforehand; may be called in between. */
void xentrace_live_watch(struct xentrace_live *stream, xentrace_ahead_fn ahead, void *arg);

/**
 * xentrace_live_push - bytes have come
 *
 * Return: 0, -ENOMEM, -EINVAL (this is no trace: no window in the first MiB), -E2BIG (TSCs jump
 * back again and again), or what @ahead has returned.
 */
int xentrace_live_push(struct xentrace_live *stream, const void *data, size_t size);

/** xentrace_live_end - nothing more will come. Return: as xentrace_live_push(). */
int xentrace_live_end(struct xentrace_live *stream);

/**
 * xentrace_live_settle - nothing has come for a while
 *
 * Nothing earlier than what is there will come then, unless it is the beginning of a window:
 * its writer has not gone on.
 *
 * Return: as xentrace_live_push().
 */
int xentrace_live_settle(struct xentrace_live *stream);

/**
 * xentrace_live_next - the next record, which stays until xentrace_live_take()
 *
 * Return: NULL if there is none yet, or none any more.
 */
const struct xentrace_record *xentrace_live_next(struct xentrace_live *stream);
void xentrace_live_take(struct xentrace_live *stream);

/** xentrace_live_each - all records that wait, in order. Return: 0, or what ended it. */
int xentrace_live_each(const struct xentrace_live *stream,
			 int (*take)(void *arg, const struct xentrace_record *rec), void *arg);

/** xentrace_live_settled - up to this TSC, nothing more will come. */
uint64_t xentrace_live_settled(const struct xentrace_live *stream);

/** xentrace_live_first_tsc - of the records that wait. Return: false if there are none. */
bool xentrace_live_first_tsc(const struct xentrace_live *stream, uint64_t *tsc);

/** xentrace_live_last_tsc - the highest TSC of what has come. */
uint64_t xentrace_live_last_tsc(const struct xentrace_live *stream);

/** xentrace_live_run_of - the last run of a pCPU that the reader lists */
uint32_t xentrace_live_run_of(const struct xentrace_live *stream, uint16_t pcpu);

/** xentrace_live_settled_by_end - the same before its end: what may have been given out by then. */
uint64_t xentrace_live_settled_by_end(const struct xentrace_live *stream);

/** xentrace_live_is_full - does more wait than fits, so that records are given out early? */
bool xentrace_live_is_full(const struct xentrace_live *stream);

/** xentrace_live_list_pcpus - bring xentrace_pcpu_at() up to date. Return: 0 or -ENOMEM. */
int xentrace_live_list_pcpus(struct xentrace_live *stream);

/**
 * xentrace_live_reader - what is known so far, as of a file that has been read
 *
 * Runs, pCPUs and problems; what iterates over records or reads one finds none. It changes with
 * whatever comes.
 */
const struct xentrace *xentrace_live_reader(const struct xentrace_live *stream);

void xentrace_live_count(const struct xentrace_live *stream,
			   struct xentrace_live_counts *counts);

#endif
