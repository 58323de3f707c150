/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_cores.h
 * @brief	Core scheduling: find the pCPUs of a core, of which one records the switches of all.
 *
 * With sched-gran=core or socket (Xen 4.13 and later), Xen switches all pCPUs of a core at once.
 * One of them makes the decision, and writes the runstate changes of all of them into its own
 * buffer (sched_switch_units(), xen/common/sched/core.c). Two facts of Xen name the pCPU of each
 * change:
 *
 * - vCPU n of the idle domain runs on pCPU n only;
 * - the i-th pCPU of a core with n pCPUs runs the vCPUs whose number modulo n is i
 *   (unit2vcpu_cpu(), xen/common/sched/private.h).
 *
 * A pCPU that records a change of another pCPU's idle vCPU belongs to the same core. A core whose
 * pCPUs are not all known contradicts the second rule: then only idle vCPUs have a place.
 */
#ifndef KSHARK_VIRT_XEN_CORES_H
#define KSHARK_VIRT_XEN_CORES_H

#include <stdbool.h>
#include <stdint.h>

#include "xentrace_reader.h"

/** The place of a vCPU is not known. */
#define XEN_NO_RUN	UINT32_MAX

/** A pCPU that is not alone in its core. */
struct xen_core_pcpu {
	uint32_t	run;	/* its only one, or XEN_NO_RUN: it has none, or several */
	uint16_t	pcpu;
};

/** pCPUs that are scheduled together. */
struct xen_core {
	struct xen_core_pcpu	*pcpus;	/* in order of their numbers */
	uint32_t		n_pcpus;
	bool			known;	/* numbers of vCPUs name the pCPU */
};

/** All cores with more than one pCPU. */
struct xen_cores {
	struct xen_core	*cores;
	uint32_t	n_cores;
	int32_t		*core_of;	/* pCPU: index in @cores, or -1 */
	uint32_t	n_core_of;
};

/** xen_cores_of - the core of a pCPU. Return: NULL if the pCPU is scheduled by itself. */
static inline const struct xen_core *xen_cores_of(const struct xen_cores *cores, uint16_t pcpu)
{
	return cores && pcpu < cores->n_core_of && cores->core_of[pcpu] >= 0 ?
	       &cores->cores[cores->core_of[pcpu]] : NULL;
}

/**
 * xen_core_run - where a vCPU runs on this core
 * @vcpu: domid << 16 | vcpu
 *
 * Return: a run, or XEN_NO_RUN.
 */
uint32_t xen_core_run(const struct xen_core *core, uint32_t vcpu);

/** xen_cores_set_runs - find the runs of all pCPUs again, as there are more of them. */
void xen_cores_set_runs(struct xen_cores *cores, const struct xentrace *reader);

void xen_cores_free(struct xen_cores *cores);

/** xen_cores_copy - @copy: receives the same cores without runs. Return: 0 or -ENOMEM. */
int xen_cores_copy(const struct xen_cores *cores, struct xen_cores **copy);

/* ---- by themselves ---- */

/** A core, as lists have it. */
struct xen_core_members {
	const uint16_t	*pcpus;		/* in order of their numbers */
	uint32_t	n_pcpus;
	bool		known;		/* as in struct xen_core */
};

/**
 * xen_cores_of_members - cores whose members are known
 * @cores: receives them, without runs; NULL: there is none
 *
 * Return: 0, -ENOMEM, or -EINVAL: a pCPU is in two of them, or in a core that is impossible.
 */
int xen_cores_of_members(const struct xen_core_members *members, size_t n,
			 struct xen_cores **cores);

/* ---- learning ---- */

struct xen_cores_learn;

/** xen_cores_learn_new - nothing is known. Return: NULL without memory. */
struct xen_cores_learn *xen_cores_learn_new(void);
void xen_cores_learn_free(struct xen_cores_learn *learn);

/** xen_cores_learn_record - look at the next record, in order of time. Return: 0 or -ENOMEM. */
int xen_cores_learn_record(struct xen_cores_learn *learn, const struct xentrace_record *rec);

/**
 * xen_cores_make - what the records have shown
 * @cores: receives the cores, or NULL if each pCPU is scheduled by itself
 *
 * Return: 0 or -ENOMEM.
 */
int xen_cores_make(const struct xen_cores_learn *learn, const struct xentrace *reader,
		   struct xen_cores **cores);

#endif
