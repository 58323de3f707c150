/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_activity.h
 * @brief	Keep which vCPU was on which pCPU at any time: a compact record of all context
 *		switches.
 *
 * Filled once in order of time, 16 bytes per switch, then read by binary search.
 */
#ifndef KSHARK_VIRT_XEN_ACTIVITY_H
#define KSHARK_VIRT_XEN_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include "xen_running.h"

/** From this time on, this vCPU was on the pCPU. */
struct xen_activity_switch {
	int64_t		time_ns;
	xen_vcpu	vcpu;
};

/** One pCPU. */
struct xen_activity_pcpu {
	struct xen_activity_switch	*switches;
	uint32_t			n, room;
	xen_vcpu			last;	/* of the last switch */
};

struct xen_activity {
	struct xen_activity_pcpu	*pcpu;	/* index = pCPU number */
	int				n_pcpus;
};

/** xen_activity_init, xen_activity_add - Return: 0 or -ENOMEM. */
int xen_activity_init(struct xen_activity *activity, int n_pcpus);
void xen_activity_destroy(struct xen_activity *activity);

/** xen_activity_add - a record of @vcpu on @pcpu; kept only if it shows a change. */
static inline int xen_activity_add(struct xen_activity *activity, int pcpu, int64_t time_ns,
				   xen_vcpu vcpu);

/** xen_activity_append - the part of xen_activity_add() for a change. */
int xen_activity_append(struct xen_activity_pcpu *p, int64_t time_ns, xen_vcpu vcpu);

static inline int xen_activity_add(struct xen_activity *activity, int pcpu, int64_t time_ns,
				   xen_vcpu vcpu)
{
	struct xen_activity_pcpu *p = &activity->pcpu[pcpu];

	return p->last == vcpu ? 0 : xen_activity_append(p, time_ns, vcpu);
}

/** xen_activity_at - the switch in force at a time, or NULL before the first one. */
const struct xen_activity_switch *xen_activity_at(const struct xen_activity *activity, int pcpu,
						  int64_t time_ns);

/**
 * xen_activity_text - for how long the pCPU's vCPU has been on it, and what all pCPUs do
 *
 * One character for each pCPU: x the one itself, | busy, - idle, . not known; as xenalyze draws it.
 * Only the pCPUs around the asked one are shown when there are many.
 *
 * Return: as snprintf().
 */
int xen_activity_text(char *buf, size_t size, const struct xen_activity *activity, int pcpu,
		      int64_t time_ns);

#endif
