/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_tracker_feed.h
 * @brief	xen_tracker_add() for our own programs: most records change nothing, and cost no
 *		call.
 *
 * It knows how a tracker begins, so a program that may be linked with another version must not use
 * it.
 */
#ifndef KSHARK_VIRT_XEN_TRACKER_FEED_H
#define KSHARK_VIRT_XEN_TRACKER_FEED_H

#include "xen_tracker.h"

/** The last record of a PV domain's entry into Xen, or of any domain's hypercall. */
struct xen_tracker_call {
	int64_t		time_ns;
	uint32_t	event;		/* 0: none yet */
	uint32_t	op;		/* first word: of a hypercall, its number */
	bool		is_noted;	/* the vCPU on the pCPU is known as one of a PV domain */
};

/** The beginning of the tracker. */
struct xen_tracker_head {
	int64_t		*last_ns;	/* of each run; INT64_MIN before its first record */
	struct xen_tracker_call *calls;	/* of each run */
	uint32_t	n_pending;	/* switches that wait for the next record of their run */
	uint32_t	classes;	/* set of those that have records */
	bool		has_multicalls;	/* of PV domains, or there may be */
	bool		has_limits;	/* of a scheduler that records what is left of limits */
	bool		has_budgets;	/* records of the scheduler's own: XEN_TRC_SCHED_CLASS */
	bool		has_subcalls;	/* records of XEN_TRC_PV_SUBCALL */
};

/** xen_tracker_wants - can an event change anything? */
static inline bool xen_tracker_wants(uint32_t event)
{
	uint32_t subclass = event >> XEN_TRC_SUBCLASS_SHIFT;

	/* those from DOM0_DOMOPS on are rare */
	return subclass == XEN_TRC_SCHED_MIN || subclass == XEN_TRC_HVM_ENTRYEXIT ||
	       subclass == XEN_TRC_HVM_HANDLER ||
	       subclass == XEN_TRC_SCHED_VERBOSE || subclass == XEN_TRC_DOM0_DOMOPS ||
	       subclass == XEN_TRC_GEN_LOSSES || subclass == XEN_TRC_HW_PM ||
	       event == XEN_TRC_HW_IRQ_HANDLED || event == XEN_TRC_CSCHED2_CREDIT_BURN ||
	       event == XEN_TRC_RTDS_BUDGET_BURN || event == XEN_TRC_RTDS_BUDGET_REPLENISH;
}

/**
 * xen_tracker_shows_limits - is an event a scheduler's that records when a limit holds a vCPU?
 *
 * credit2 and RTDS do. A cap of the older credit is a pause as any other.
 */
static inline bool xen_tracker_shows_limits(uint32_t event)
{
	return (event & ~UINT32_C(0x1ff)) == (XEN_TRC_CSCHED2_CREDIT_BURN & ~UINT32_C(0x1ff)) ||
	       (event & ~UINT32_C(0x1ff)) == (XEN_TRC_RTDS_BUDGET_BURN & ~UINT32_C(0x1ff));
}

/** xen_tracker_change - the part of xen_tracker_feed() for the records that matter. */
int xen_tracker_change(struct xen_tracker *tracker, const struct xen_trace_row *row);

/** xen_tracker_note_pv - a record is the first of the class pv since its pCPU has its vCPU */
void xen_tracker_note_pv(struct xen_tracker *tracker, const struct xentrace_record *rec);

/** xen_tracker_call - keep the last call of a run. */
static inline void xen_tracker_call(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct xen_tracker_head *head = (struct xen_tracker_head *)tracker;
	struct xen_tracker_call *call = &head->calls[row->rec.run];

	call->time_ns = row->time_ns;
	call->event = row->rec.event;
	call->op = xentrace_word(&row->rec, 0);
	if (row->rec.event == XEN_TRC_HVM_VMMCALL)
		return;
	head->has_multicalls |= call->event == XEN_TRC_PV_HYPERCALL_V2 &&
				(call->op & XEN_TRC_HYPERCALL_MASK) == XEN_TRC_MULTICALL;
	head->has_subcalls |= call->event >> XEN_TRC_SUBCLASS_SHIFT == XEN_TRC_PV_SUBCALL;
	if (!call->is_noted)
		xen_tracker_note_pv(tracker, &row->rec);
}

/** xen_tracker_feed - the same as xen_tracker_add(). */
static inline int xen_tracker_feed(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct xen_tracker_head *head = (struct xen_tracker_head *)tracker;
	int64_t last_ns = head->last_ns[row->rec.run];
	int ret = 0;

	head->classes |= row->rec.event >> XEN_TRC_CLASS_SHIFT;
	if (row->rec.event >> XEN_TRC_SUBCLASS_SHIFT == XEN_TRC_SCHED_CLASS) {
		head->has_budgets = true;
		head->has_limits |= xen_tracker_shows_limits(row->rec.event);
	}
	if (xen_tracker_wants(row->rec.event) || row->rec.flags & XENTRACE_AFTER_GAP ||
	    last_ns == INT64_MIN || head->n_pending)
		ret = xen_tracker_change(tracker, row);
	if (row->rec.event >> XEN_TRC_CLASS_SHIFT == XEN_TRC_CLASS_PV ||
	    row->rec.event == XEN_TRC_HVM_VMMCALL)
		xen_tracker_call(tracker, row);
	head->last_ns[row->rec.run] = row->time_ns;
	return ret;
}

#endif
