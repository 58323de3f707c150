/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_clock.h
 * @brief	Check, CPU by CPU, whether the clock of a guest's trace is aligned with its host's.
 *
 * A guest records only while its vCPU executes it. Therefore the share of a guest's records that
 * lie in such time shows whether the clocks fit.
 */
#ifndef KSHARK_VIRT_GUEST_CLOCK_H
#define KSHARK_VIRT_GUEST_CLOCK_H

#include "align_pairing.h"
#include "host_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A CPU of a guest: its records, by what the host's trace says about their times. */
struct guest_clock_cpu {
	int32_t		vcpu;		/* global index, or VIRT_NONE */
	uint64_t	inside;		/* the vCPU executes the guest */
	uint64_t	outside;	/* it does something else */
	uint64_t	unknown;	/* unknown what it does */
	uint64_t	beyond;		/* before or after the host's trace */
};

/** All zero is none. */
struct guest_clock {
	struct kvm_trace	*trace;
	struct guest_clock_cpu	*cpus;
	int			n_cpus;
	/** Other vCPUs that fit the guest's events, if its own do not; without vCPUs: none. */
	struct align_pairing	fits;
};

/**
 * guest_clock_read - walk through a guest's trace and count its records
 * @model: of the host
 * @trace: stays its owner's
 * @clock: receives it; to be given to guest_clock_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int guest_clock_read(struct guest_clock *clock, const struct host_trace *host,
		     const struct virt_model *model, struct kvm_trace *trace);
void guest_clock_free(struct guest_clock *clock);

/**
 * guest_clock_is_wrong - do the records of a CPU show that its clock, or its vCPU, is wrong?
 *
 * What the guest's trace says about tasks on that CPU then belongs to other times of the host.
 */
bool guest_clock_is_wrong(const struct guest_clock *clock, int cpu);

/**
 * guest_clock_tids - which threads of the host are the guest's CPUs, without those of wrong clocks
 * @n: receives how many
 *
 * Return: by CPU; VIRT_NONE: none; to be freed. NULL without memory.
 */
int *guest_clock_tids(const struct guest_clock *clock, const struct host_trace *host, int *n);

/** guest_clock_notes - what a user must know about the guest's trace. */
void guest_clock_notes(const struct guest_clock *clock, const struct virt_model *model,
		       struct trace_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
