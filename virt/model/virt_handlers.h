/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_handlers.h
 * @brief	Keep the host's handlers that interrupt vCPUs on their pCPUs without the scheduler.
 *
 * Each moment belongs to one handler, the innermost. So a handling, which goes from the entry to
 * the exit of its handler, is kept as pieces; other handlers interrupt it between the pieces.
 */
#ifndef KSHARK_VIRT_VIRT_HANDLERS_H
#define KSHARK_VIRT_VIRT_HANDLERS_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum virt_handler_kind {
	VIRT_HANDLER_IRQ = 0,		/* of a device */
	VIRT_HANDLER_SOFTIRQ,
	VIRT_HANDLER_VECTOR,		/* of the processor's own interrupts: local timer ... */
	VIRT_HANDLER_NMI,
	VIRT_HANDLER_N_KINDS
};

struct virt_handler {
	const char	*name;
	uint8_t		kind;		/* enum virt_handler_kind */
};

/** A piece of a handling. Those of a vCPU do not overlap. */
struct virt_handling {
	int64_t		start_ns, end_ns;
	int64_t		whole_ns;	/* of the first piece: how long all of them are together */
	int32_t		vcpu;		/* on whose time */
	int16_t		handler;	/* virt_model_handler() */
	bool		begins;		/* it is the first piece */
};

/** No host has more handlers; further ones are left out. */
#define VIRT_MAX_HANDLERS	512

/**
 * virt_model_add_handler - make one known; one that was given before has its old number
 *
 * Return: its number, -ENOMEM, -E2BIG, or -EINVAL.
 */
int32_t virt_model_add_handler(struct virt_model *model, enum virt_handler_kind kind,
			       const char *name);

/**
 * virt_model_add_handling - a piece of a handling, on a vCPU's time
 *
 * In any order. Of pieces of one vCPU that overlap, which cannot be, the later one is left out, and
 * counted as a contradiction.
 *
 * Return: 0, -ENOMEM, or -EINVAL.
 */
int virt_model_add_handling(struct virt_model *model, const struct virt_handling *handling);

/** virt_model_handler - one of them; or NULL. */
const struct virt_handler *virt_model_handler(const struct virt_model *model, int32_t handler);

/** virt_handler_kind_name - "irq", "softirq", "vector", "nmi" */
const char *virt_handler_kind_name(enum virt_handler_kind kind);

struct virt_handling_range { const struct virt_handling *first; size_t n; };

/** virt_vcpu_handlings - the pieces that overlap a window, ascending, in O(log n) */
struct virt_handling_range virt_vcpu_handlings(const struct virt_model *model, int32_t vcpu,
					       int64_t from_ns, int64_t to_ns);

/** What a handler took of a vCPU's time on its pCPU in a window. */
struct virt_handled {
	int32_t		handler;
	uint64_t	count;		/* handlings that begin in the window */
	int64_t		max_ns;		/* of these, whole */
	int64_t		hypervisor_ns, vmm_ns; /* in these states, cut to the window */
	int64_t		other_ns;	/* in others: the trace of AMD shows that they left the
					 * guest only after the handler; cut to the window */
};

/**
 * virt_handled_new - all handlers of a vCPU's time, most time first
 * @n: receives how many
 *
 * Together they have no more of a state than the vCPU. In O(pieces * log n).
 *
 * Return: to be freed; NULL without memory.
 */
struct virt_handled *virt_handled_new(const struct virt_model *model, int32_t vcpu,
				      int64_t from_ns, int64_t to_ns, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
