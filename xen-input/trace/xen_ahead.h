/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_ahead.h
 * @brief	Do xen_first_find() record by record, for a trace that is still being written.
 */
#ifndef KSHARK_VIRT_XEN_AHEAD_H
#define KSHARK_VIRT_XEN_AHEAD_H

#include "xen_running.h"

/** What the records of a run have shown so far of the vCPU that was there at the first one. */
struct xen_ahead {
	xen_vcpu	vcpu;
	uint16_t	pcpu;
	bool		crossings;	/* VM entries and exits */
	bool		guest;		/* hypercalls, traps */
	bool		scheduler;
	bool		done;		/* no later record can show it */
};

/** Before the first record. */
static const struct xen_ahead xen_ahead_nothing = { .vcpu = XEN_VCPU_UNKNOWN };

/** xen_ahead_look - look at the next record of a run. */
void xen_ahead_look(struct xen_ahead *ahead, const struct xentrace_record *rec);

/** xen_first_make - combine the results of all runs. Return: 0, to be destroyed, or -ENOMEM. */
int xen_first_make(struct xen_first *first, const struct xen_ahead *ahead, uint32_t n_runs);

#endif
