/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_skew.h
 * @brief	Detect TSC differences between pCPUs from contradicting runstate changes.
 *
 * A vCPU's runstate changes form a chain: each one starts from the state that the one before led
 * to. Where two links lie on different pCPUs, the later one cannot have a smaller TSC; if it has,
 * the pCPUs' TSCs differ by at least that much. All such bounds together give a correction that
 * contradicts none of them, if there is one.
 */
#ifndef KSHARK_VIRT_XEN_SKEW_H
#define KSHARK_VIRT_XEN_SKEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xen_events.h"
#include "xentrace_reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct xen_skew;

/** xen_skew_new - an empty detector. Return: NULL without memory. */
struct xen_skew *xen_skew_new(void);

/** xen_skew_free - free a detector, which may be NULL. */
void xen_skew_free(struct xen_skew *skew);

/** xen_skew_observe - take note of a record; cheap for all that are no runstate changes. */
static inline void xen_skew_observe(struct xen_skew *skew, const struct xentrace_record *rec);

/** xen_skew_take - the part of xen_skew_observe() for the few records that matter. */
void xen_skew_take(struct xen_skew *skew, const struct xentrace_record *rec);

static inline void xen_skew_observe(struct xen_skew *skew, const struct xentrace_record *rec)
{
	if (xen_event_is_runstate_change(rec->event) || rec->event == XEN_TRC_LOST_RECORDS ||
	    (rec->flags & XENTRACE_AFTER_GAP))
		xen_skew_take(skew, rec);
}

/** What was found. */
struct xen_skew_summary {
	uint64_t	links;		/* pairs of changes on different pCPUs */
	uint64_t	contradictions;	/* pairs in the wrong order */
	uint64_t	broken;		/* changes that fit no order (lost records, start) */
	uint64_t	worst_cycles;	/* largest difference that a pair proves */
	uint16_t	worst_from, worst_to; /* the pair's pCPUs: cause and effect */
};

/** xen_skew_summary - what was found so far. */
void xen_skew_summary(const struct xen_skew *skew, struct xen_skew_summary *summary);

/**
 * xen_skew_correction - cycles to add to each pCPU's TSC so that all bounds hold
 * @offset: receives @n_pcpus values, the smallest being 0
 *
 * Return: 0; -ENODATA if there is nothing to correct; -ERANGE if the bounds contradict each other
 * (the TSCs drift apart, so that no constant offsets can do it).
 */
int xen_skew_correction(const struct xen_skew *skew, int64_t *offset, int n_pcpus);

/** xen_skew_text - one sentence for people; empty when nothing was found. As snprintf(). */
int xen_skew_text(char *buf, size_t size, const struct xen_skew *skew);

#ifdef __cplusplus
}
#endif
#endif
