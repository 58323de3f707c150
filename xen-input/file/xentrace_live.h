/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_live.h
 * @brief	Records out of a trace that xentrace is still writing, in order of time, for days.
 *
 * Bytes are given to it as they come, in pieces of any size; which pieces changes nothing. Windows
 * and records are read by the same functions as those of a file (xentrace_scan.h), and forgotten
 * when they have been taken.
 *
 * xentrace empties the buffers of all pCPUs in turns. What one pCPU has to say of a time comes
 * after what others have to say of it; so records wait until nothing earlier can come any more:
 *
 * - Up to the last TSC that was seen by the end of the fifth last turn, the last one being under
 *   way, all is there: each buffer has been emptied three times since. Once is enough for records
 *   that were not lost; of those that were, the next record of their pCPU tells. If that one takes
 *   longer, the loss counts from what could be given out by then.
 * - When nothing comes for a while, who calls says so (xentrace_live_settle()): what is there is
 *   all there is.
 * - No more than so many bytes wait. If there are more, the earliest are given out at once.
 *
 * A record that comes after later ones could be given out has come too late: it is counted, and to
 * its pCPU's next record bytes are missing (XENTRACE_AFTER_GAP).
 *
 * Damage is as in a file, but for what only the rest of the file could tell: after damage, the next
 * window is searched in 64 KiB at a time, and where a window has ended with TSCs that were lower,
 * the next one does not take that back.
 */
#ifndef KSHARK_VIRT_XENTRACE_LIVE_H
#define KSHARK_VIRT_XENTRACE_LIVE_H

#include "xentrace_reader.h"

struct xentrace_live;

/**
 * Takes each record once it has been read, run by run, before it is given out.
 * @before_tsc: from when on records are missing if this one tells of a loss: of the run's record
 *	before it, or what has been given out already
 */
typedef int (*xentrace_ahead_fn)(void *arg, const struct xentrace_record *rec, uint64_t before_tsc);

/** How much has come, and what became of it. */
struct xentrace_live_counts {
	uint64_t	bytes, records;
	uint64_t	waiting;	/* bytes in memory */
	uint64_t	late;		/* records that came too late, and were not given out */
	uint64_t	late_cycles;	/* at most by so much */
	uint64_t	hurried;	/* records that were given out early, for lack of room */
};

/**
 * xentrace_live_new - nothing has come yet
 * @name: for texts
 * @max_bytes: so much waits at most
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
 * whoever writes that has not gone on.
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

/** xentrace_live_is_full - does so much wait that records are given out before their time? */
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
