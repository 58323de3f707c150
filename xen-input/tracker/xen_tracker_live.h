/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_tracker_live.h
 * @brief	Run a tracker for days: make models of the last part, and forget the rest.
 *
 * It is the same state machine as for a file; but losses have to be made known before their time
 * comes, as there is no second walk. A model is made as if the trace ended there.
 */
#ifndef KSHARK_VIRT_XEN_TRACKER_LIVE_H
#define KSHARK_VIRT_XEN_TRACKER_LIVE_H

#include "xen_tracker_feed.h"

/** xen_tracker_follow - before the first record, which is of this time: there is no other walk. */
void xen_tracker_follow(struct xen_tracker *tracker, int64_t begin_ns);

/** xen_tracker_runs - the trace has more runs than before. Return: 0 or -ENOMEM. */
int xen_tracker_runs(struct xen_tracker *tracker);

/**
 * xen_tracker_expect_loss - a record that will come shows a loss before it
 * @last_ns: from when on it may be: of the run's record before it
 */
void xen_tracker_expect_loss(struct xen_tracker *tracker, const struct xen_trace_row *row,
			     int64_t last_ns);

/** xen_tracker_expect_end - what a pCPU has to say after @from_ns will not come. */
void xen_tracker_expect_end(struct xen_tracker *tracker, uint32_t run, uint16_t pcpu,
			    int64_t from_ns, int64_t to_ns);

/**
 * xen_tracker_excerpt - what is known of a time by now, as a model
 * @begin_ns: of the model; not before what has been forgotten
 * @end_ns: not before what was added last
 * @model: receives it; it is to be freed before the tracker
 *
 * Return: 0, -ENOMEM or -E2BIG.
 */
int xen_tracker_excerpt(struct xen_tracker *tracker, int64_t begin_ns, int64_t end_ns,
			struct virt_model **model);

/** xen_tracker_forget - no model begins before this time any more. */
void xen_tracker_forget(struct xen_tracker *tracker, int64_t before_ns);

#endif
