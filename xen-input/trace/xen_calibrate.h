/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_calibrate.h
 * @brief	Collect run times from scheduler records and fit the TSC's frequency to them.
 */
#ifndef KSHARK_VIRT_XEN_CALIBRATE_H
#define KSHARK_VIRT_XEN_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "xen_clock.h"
#include "xen_events.h"
#include "xentrace_reader.h"

struct xen_calibrate;

/** xen_calibrate_new - for a trace with @n_runs runs. Return: NULL without memory. */
struct xen_calibrate *xen_calibrate_new(uint32_t n_runs);
void xen_calibrate_free(struct xen_calibrate *cal);

/** xen_calibrate_wants - does xen_calibrate_observe() use a record? */
static inline bool xen_calibrate_wants(const struct xentrace_record *rec)
{
	return rec->event >> XEN_TRC_SUBCLASS_SHIFT == XEN_TRC_SCHED_VERBOSE ||
	       rec->event == XEN_TRC_LOST_RECORDS || (rec->flags & XENTRACE_AFTER_GAP);
}

/** xen_calibrate_observe - take note of a record; records of a run must come in order. */
void xen_calibrate_observe(struct xen_calibrate *cal, const struct xentrace_record *rec);

/** xen_calibrate_fit - Return: 0, -ENODATA if there were too few run times, -ENOMEM. */
int xen_calibrate_fit(struct xen_calibrate *cal, struct xen_clock_fit *fit);

#endif
