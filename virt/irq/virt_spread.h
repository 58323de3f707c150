/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_spread.h
 * @brief	Make histograms of the costs of a window's moments.
 *
 * The moments are those that virt_worst_each() finds. To list the moments of a bar, query it for
 * the costs of that bar. The distributions are those of struct virt_window_stats.
 */
#ifndef KSHARK_VIRT_VIRT_SPREAD_H
#define KSHARK_VIRT_VIRT_SPREAD_H

#include "virt_delivered.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bars of 1, 1.5, 2, 3, 5, 7, 10 ... units; the first has all below 10 ns. */
#define VIRT_SPREAD_BARS	109

/** Moments of a kind; of some kinds, those about the same thing. */
struct virt_spread_row {
	enum virt_worst_kind kind;
	bool		all;		/* all of the kind together; else */
	int32_t		what;		/* exit: reason, or VIRT_NONE; irq: vector */
	uint64_t	count;		/* that lie in the window */
	struct virt_dist dist;		/* of those that the trace shows whole ... */
	uint32_t	bars[VIRT_SPREAD_BARS];	/* ... and how many of them cost how much */
	uint64_t	results[VIRT_DELIVERY_N_RESULTS]; /* irq: what became of all injected */
};

struct virt_spread {
	struct virt_spread_row *rows;	/* kind by kind: all together, then those of exits that
					 * cost most first, those of interrupts by vector */
	size_t			n, room;
};

/**
 * virt_spread_new - how the moments of a window spread
 * @query: which ones, of kinds that have costs; losses are no moments here
 * @stop: asked again and again: give up? or NULL
 *
 * In O(moments in the window * log n).
 *
 * Return: to be freed with virt_spread_free(); NULL without memory or when stopped.
 */
struct virt_spread *virt_spread_new(const struct virt_worst *worst,
				    const struct virt_worst_query *query,
				    bool (*stop)(void *arg), void *arg);
void virt_spread_free(struct virt_spread *spread);

/** virt_spread_bar - which bar has moments of this cost. Return: less than VIRT_SPREAD_BARS. */
int virt_spread_bar(int64_t ns);

/** virt_spread_least - the least cost of a bar; what follows the last one: INT64_MAX */
int64_t virt_spread_least(int bar);

#ifdef __cplusplus
}
#endif
#endif
