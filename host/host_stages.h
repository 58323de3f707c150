/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_stages.h
 * @brief	List the stages of a guest's boot, with the cost of each: phases, levels, initcalls.
 */
#ifndef KSHARK_VIRT_HOST_STAGES_H
#define KSHARK_VIRT_HOST_STAGES_H

#include "host_hypertrace.h"
#include "hyper_symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HOST_STAGE_NAME	64

/** A phase, a level, or what goes on within one; within the window that was asked for. */
struct host_stage {
	const struct hyper_slice *slice;
	char		name[HOST_STAGE_NAME];
	int64_t		from_ns, to_ns;
	int64_t		true_ns;	/* that the vCPU executed its guest, */
	int64_t		unknown_ns;	/* and in which it is unknown what it did */
	uint64_t	exits;		/* of the vCPU, that begin in it */
	int64_t		exits_ns;	/* what they cost */
	const struct virt_exit_total *reasons; /* costliest first; until the next stage */
	size_t		n_reasons;
	uint64_t	calls;		/* hypercalls of the vCPU, KVM's own left out, */
	int64_t		calls_ns;	/* and what their exits cost */
};

struct host_stages;

/**
 * host_stages_new - the stages of a machine
 * @trace: with its guests made (host_hypertrace_guests()); stays
 * @machine: index in the model
 * @own: its own trace (host_hypertrace_boot()), used if hypercalls show no stages; or NULL
 * @symbols: names of initcalls; or NULL
 * @from_ns, @to_ns: what is wanted is [from, to)
 *
 * Return: to be given to host_stages_free(); NULL without memory.
 */
struct host_stages *host_stages_new(const struct host_hypertrace *trace, int32_t machine,
				    const struct hyper_guest *own,
				    const struct hyper_symbols *symbols, int64_t from_ns,
				    int64_t to_ns);
void host_stages_free(struct host_stages *stages);

/** host_stages_by_trace - does the guest's own trace show them? Else hypercalls do. */
bool host_stages_by_trace(const struct host_stages *stages);

/**
 * host_stages_each - each stage, in the order in which they began
 *
 * Each is asked about in O(reasons * log n), however many lie in each other.
 *
 * Return: how many.
 */
size_t host_stages_each(struct host_stages *stages,
			void (*take)(void *arg, const struct host_stage *stage), void *arg);

#ifdef __cplusplus
}
#endif
#endif
