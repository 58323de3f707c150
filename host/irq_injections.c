// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	irq_injections.c
 * @brief	Interrupts that a host injects into its guests, as KVM and Xen record them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "irq_injections.h"
#include "search.h"

static void add(struct irq_injections *injections, const struct irq_injection *injection)
{
	if (ARRAY_GROW(injections->all, injections->n, injections->room)) {
		injections->error = -ENOMEM;
		return;
	}
	injections->all[injections->n++] = *injection;
}

void irq_injections_kvm(struct irq_injections *injections, const struct kvm_trace_record *record)
{
	if (record->injection != KVM_TRACE_INTERRUPT || record->injection_flags & KVM_TRACE_SOFT)
		return;
	add(injections, &(struct irq_injection){
		.time_ns = record->time_ns, .tid = record->vcpu_pid,
		.vector = (int16_t)(record->number & 0xff),
		.again = record->injection_flags & KVM_TRACE_AGAIN,
	});
}

void irq_injections_xen(struct irq_injections *injections, const struct xen_trace_row *row)
{
	struct irq_injection injection = { .time_ns = row->time_ns };

	if (row->rec.event != XEN_TRC_HVM_INJ_VIRQ || row->vcpu == XEN_VCPU_UNKNOWN ||
	    xen_vcpu_domid(row->vcpu) >= XEN_DOMID_IDLE)
		return;
	injection.tid = xen_vcpu_tid(row->vcpu);
	injection.vector = (int16_t)(xentrace_word(&row->rec, 0) & 0xff);
	add(injections, &injection);
}

static int compare_injections(const void *a, const void *b)
{
	const struct irq_injection *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->again - y->again;
}

void irq_injections_sort(struct irq_injections *injections)
{
	if (injections->n)
		qsort(injections->all, injections->n, sizeof(*injections->all),
		      compare_injections);
}

void irq_injections_free(struct irq_injections *injections)
{
	free(injections->all);
	memset(injections, 0, sizeof(*injections));
}

struct virt_injection *irq_injections_of(const struct irq_injections *injections, int32_t tid,
					 size_t *n)
{
	struct virt_injection *of;
	size_t lo, hi;

	SEARCH_FIRST(lo, 0, injections->n, injections->all[lo].tid < tid);
	hi = lo;
	while (hi < injections->n && injections->all[hi].tid == tid)
		hi++;
	*n = hi - lo;
	of = calloc(*n + 1, sizeof(*of));
	for (size_t i = 0; of && i < *n; i++) {
		const struct irq_injection *injection = &injections->all[lo + i];

		of[i] = (struct virt_injection){
			injection->time_ns, injection->vector, injection->again,
		};
	}
	return of;
}
