/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_steal.h
 * @brief	Split the steal of a vCPU by kind of culprits: other machines, the host, its
 *		own machine, its own limit, or none (the pCPU is idle).
 */
#ifndef KSHARK_VIRT_VIRT_STEAL_H
#define KSHARK_VIRT_VIRT_STEAL_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Who had the pCPU that a preempted vCPU waited for. */
enum virt_steal_kind {
	VIRT_STEAL_MACHINES = 0,	/* vCPUs and threads of other machines */
	VIRT_STEAL_HOST,		/* tasks of the host that are no machine's */
	VIRT_STEAL_OWN,			/* other vCPUs and threads of its own machine */
	VIRT_STEAL_LIMIT,		/* any, or none: its own limit held it, virt_limits.h */
	VIRT_STEAL_NOBODY,		/* the pCPU was idle */
	VIRT_STEAL_UNKNOWN,		/* the trace does not show who, or not on which pCPU */
	VIRT_STEAL_N_KINDS
};

/** virt_steal_kind_name - "other machines", "host tasks" ... */
const char *virt_steal_kind_name(enum virt_steal_kind kind);

/** virt_steal_kind_key - the same for names of columns and metrics: "machines", "host" ... */
const char *virt_steal_kind_key(enum virt_steal_kind kind);

/**
 * virt_steal_kind_of - the kind of a culprit of a vCPU
 *
 * VIRT_NONE may be an idle pCPU or unknown: it is VIRT_STEAL_UNKNOWN here, as VIRT_OTHERS is.
 */
enum virt_steal_kind virt_steal_kind_of(const struct virt_model *model, int32_t vcpu, int32_t who);

/**
 * virt_steal_split - the steal of a vCPU in a window, by kind
 * @culprits: virt_vcpu_culprits() of this vCPU and window: all of them
 * @ns: receives VIRT_STEAL_N_KINDS times, which add up to those of @culprits
 *
 * Time in which the machine's own limit held the vCPU is not its culprits'. If holds are unknown,
 * see virt_model_knows_holds(), it is.
 *
 * In O(culprits + (waits without a known culprit, holds) * log n + culprits during holds).
 */
void virt_steal_split(const struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		      const struct virt_culprit *culprits, size_t n,
		      int64_t ns[VIRT_STEAL_N_KINDS]);

#ifdef __cplusplus
}
#endif
#endif
