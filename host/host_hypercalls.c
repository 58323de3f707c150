// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_hypercalls.c
 * @brief	Collect the hypercalls by which guests may report, from the trace of any host.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_hypercalls.h"
#include "search.h"

/** Xen's include/public/trace.h: TRC_GUEST, and the events below it. */
#define XEN_GUEST_CLASS		0x0800f000u
#define XEN_GUEST_NUMBERS	0x00000fffu

/** TRC_HVM and TRC_PV: what a vCPU leaves its guest for. */
#define XEN_LEAVING_CLASSES	0x0028f000u
#define XEN_CLASSES		0x0ffff000u

static void add(struct host_hypercalls *calls, const struct hyper_call *call)
{
	if (ARRAY_GROW(calls->all, calls->n, calls->room))
		calls->error = -ENOMEM;
	else
		calls->all[calls->n++] = *call;
}

void host_hypercalls_record(struct host_hypercalls *calls, const struct kvm_trace_record *record)
{
	if (record->call)
		add(calls, record->call);
}

/**
 * Records of guests have no time of their own: theirs is that of the last record of their pCPU
 * that has one, which should be the exit, or a hypercall of a PV guest. Return: false if it was
 * another one.
 */
static bool was_leaving(struct host_hypercalls *calls, const struct xentrace_record *record)
{
	uint32_t class = record->event & XEN_CLASSES;

	while (calls->n_left <= record->pcpu) {
		if (ARRAY_GROW(calls->left, calls->n_left, calls->left_room)) {
			calls->error = -ENOMEM;
			return false;
		}
		calls->left[calls->n_left++] = false;
	}
	if (record->flags & XENTRACE_HAS_TSC)
		calls->left[record->pcpu] = (class & XEN_LEAVING_CLASSES) == class;
	return calls->left[record->pcpu];
}

void host_hypercalls_row(struct host_hypercalls *calls, const struct xen_trace_row *row)
{
	bool timed = was_leaving(calls, &row->rec) || row->rec.flags & XENTRACE_HAS_TSC;
	struct hyper_call call = {
		.time_ns = row->time_ns, .nr = row->rec.event & XEN_GUEST_NUMBERS,
		.cost_ns = -1, .tid = VIRT_NONE, .pcpu = (int16_t)row->rec.pcpu,
		.bytes = (uint8_t)(4 * row->rec.n_words), .source = HYPER_XEN, .vague = !timed,
	};

	if ((row->rec.event & ~XEN_GUEST_NUMBERS) != XEN_GUEST_CLASS)
		return;
	if (row->vcpu != XEN_VCPU_UNKNOWN && xen_vcpu_domid(row->vcpu) < XEN_DOMID_IDLE)
		call.tid = xen_vcpu_tid(row->vcpu);
	for (unsigned int i = 0; i < row->rec.n_words; i++)
		call.a[i / 2] |= (uint64_t)xentrace_word(&row->rec, i) << 32 * (i % 2);
	add(calls, &call);
}

/** By thread and time; calls of one moment in the order in which they were recorded. */
static int compare_calls(const void *a, const void *b)
{
	const struct hyper_call *x = *(const struct hyper_call *const *)a;
	const struct hyper_call *y = *(const struct hyper_call *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

void host_hypercalls_sort(struct host_hypercalls *calls)
{
	const struct hyper_call **order = malloc((calls->n + 1) * sizeof(*order));
	struct hyper_call *sorted = malloc((calls->n + 1) * sizeof(*sorted));

	for (size_t i = 0; order && i < calls->n; i++)
		order[i] = &calls->all[i];
	if (order && sorted) {
		qsort(order, calls->n, sizeof(*order), compare_calls);
		for (size_t i = 0; i < calls->n; i++)
			sorted[i] = *order[i];
		free(calls->all);
		calls->all = sorted;
		calls->room = calls->n + 1;
	} else {
		free(sorted);
		calls->error = -ENOMEM;
	}
	free(order);
}

void host_hypercalls_free(struct host_hypercalls *calls)
{
	free(calls->all);
	free(calls->left);
	memset(calls, 0, sizeof(*calls));
}

const struct hyper_call *host_hypercalls_of(const struct host_hypercalls *calls, int32_t tid,
					    size_t *n)
{
	size_t lo, hi;

	SEARCH_FIRST(lo, 0, calls->n, calls->all[lo].tid < tid);
	SEARCH_FIRST(hi, lo, calls->n, calls->all[hi].tid <= tid);
	*n = hi - lo;
	return &calls->all[lo];
}

/* --- for them alone -------------------------------------------------------------------------- */

static int take_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct host_hypercalls *calls = arg;

	for (size_t i = 0; i < n; i++)
		host_hypercalls_row(calls, &rows[i]);
	return calls->error;
}

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	struct host_hypercalls *calls = arg;

	host_hypercalls_record(calls, record);
	return calls->error;
}

int host_hypercalls_walk(struct host_trace *trace, struct host_hypercalls *calls,
			 struct virt_model **model)
{
	const struct host_walk walk = {
		.rows = take_rows, .record = take_record, .arg = calls,
	};
	int ret = host_trace_model(trace, &walk, model);

	if (!ret)
		host_hypercalls_sort(calls);
	if (ret || !calls->error)
		return ret;
	virt_model_free(*model);
	*model = NULL;
	return calls->error;
}
