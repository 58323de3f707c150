// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_activity.c
 * @brief	Keep which vCPU was on which pCPU at any time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "search.h"
#include "xen_activity.h"

/** pCPUs that xen_activity_text() shows at most. */
#define MAX_SHOWN	64

int xen_activity_init(struct xen_activity *activity, int n_pcpus)
{
	activity->n_pcpus = n_pcpus;
	activity->pcpu = calloc(n_pcpus, sizeof(*activity->pcpu));
	for (int i = 0; activity->pcpu && i < n_pcpus; i++)
		activity->pcpu[i].last = XEN_VCPU_UNKNOWN;
	return activity->pcpu ? 0 : -ENOMEM;
}

void xen_activity_destroy(struct xen_activity *activity)
{
	for (int i = 0; activity->pcpu && i < activity->n_pcpus; i++)
		free(activity->pcpu[i].switches);
	free(activity->pcpu);
	activity->pcpu = NULL;
	activity->n_pcpus = 0;
}

int xen_activity_append(struct xen_activity_pcpu *p, int64_t time_ns, xen_vcpu vcpu)
{
	if (ARRAY_GROW(p->switches, p->n, p->room))
		return -ENOMEM;
	p->switches[p->n++] = (struct xen_activity_switch){ time_ns, vcpu };
	p->last = vcpu;
	return 0;
}

const struct xen_activity_switch *xen_activity_at(const struct xen_activity *activity, int pcpu,
						  int64_t time_ns)
{
	const struct xen_activity_pcpu *p;
	size_t i;

	if (pcpu < 0 || pcpu >= activity->n_pcpus)
		return NULL;
	p = &activity->pcpu[pcpu];
	SEARCH_FIRST(i, 0, p->n, p->switches[i].time_ns <= time_ns);
	return i ? &p->switches[i - 1] : NULL;
}

/** A duration in three digits and a unit. */
static int duration_text(char *buf, size_t size, int64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = ns;
	int unit = 0;

	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	return snprintf(buf, size, "%.*f%s", !unit || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2,
			value, units[unit]);
}

int xen_activity_text(char *buf, size_t size, const struct xen_activity *activity, int pcpu,
		      int64_t time_ns)
{
	const struct xen_activity_switch *own = xen_activity_at(activity, pcpu, time_ns);
	char marks[MAX_SHOWN + 1], since[32] = "";
	int first = 0, n = activity->n_pcpus;

	if (n > MAX_SHOWN) {
		first = pcpu - MAX_SHOWN / 2;
		if (first > n - MAX_SHOWN)
			first = n - MAX_SHOWN;
		if (first < 0)
			first = 0;
		n = MAX_SHOWN;
	}
	for (int i = 0; i < n; i++) {
		const struct xen_activity_switch *at = xen_activity_at(activity, first + i,
								       time_ns);

		marks[i] = first + i == pcpu ? 'x'
			 : !at || at->vcpu == XEN_VCPU_UNKNOWN ? '.'
			 : xen_vcpu_is_idle(at->vcpu) ? '-' : '|';
	}
	marks[n] = '\0';
	if (own && own->vcpu != XEN_VCPU_UNKNOWN)
		duration_text(since, sizeof(since), time_ns - own->time_ns);
	return snprintf(buf, size, "%s%s%s", marks, since[0] ? " " : "", since);
}
