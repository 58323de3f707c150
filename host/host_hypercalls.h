/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_hypercalls.h
 * @brief	Collect the hypercalls by which guests may report, from the trace of any host.
 *
 * In a trace of KVM, these are kvm_hypercall with its registers, and hypergraph_host. In a trace of
 * Xen, these are the records that a guest writes with HVMOP_xentrace. A call belongs to the thread
 * that had the CPU.
 */
#ifndef KSHARK_VIRT_HOST_HYPERCALLS_H
#define KSHARK_VIRT_HOST_HYPERCALLS_H

#include "host_trace.h"
#include "hyper_event.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All of a trace; all zero is none. */
struct host_hypercalls {
	struct hyper_call *all;
	size_t		n, room;
	int		error;		/* -ENOMEM: some are missing */
	/* of Xen, while records go by, by pCPU: was the last one with a time an exit or a
	 * hypercall */
	bool		*left;
	size_t		n_left, left_room;
};

/** host_hypercalls_record - take note of a record of KVM, if it is one; errors set @error. */
void host_hypercalls_record(struct host_hypercalls *calls, const struct kvm_trace_record *record);

/** host_hypercalls_row - the same of Xen. */
void host_hypercalls_row(struct host_hypercalls *calls, const struct xen_trace_row *row);

/** host_hypercalls_sort - when all are there: by thread, of each in order of time. */
void host_hypercalls_sort(struct host_hypercalls *calls);
void host_hypercalls_free(struct host_hypercalls *calls);

/**
 * host_hypercalls_of - those of a thread, sorted
 * @tid: virt_vcpu.host_pid of a vCPU
 * @n: receives how many
 */
const struct hyper_call *host_hypercalls_of(const struct host_hypercalls *calls, int32_t tid,
					    size_t *n);

/**
 * host_hypercalls_walk - go through a trace for them alone, and for the model
 * @calls: receives them, sorted; all zero before
 * @model: receives the model, to be given to virt_model_free()
 *
 * Return: as host_trace_model().
 */
int host_hypercalls_walk(struct host_trace *trace, struct host_hypercalls *calls,
			 struct virt_model **model);

#ifdef __cplusplus
}
#endif
#endif
