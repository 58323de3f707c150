/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_limits.h
 * @brief	When the scheduler held a vCPU because its machine had used up its own limit (a CPU
 *		quota of cgroups, credit2's cap, RTDS' budget), with an idle pCPU or a busy one.
 */
#ifndef KSHARK_VIRT_VIRT_LIMITS_H
#define KSHARK_VIRT_VIRT_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A vCPU that wants to run, and that its limit holds. */
struct virt_hold {
	int64_t		from_ns, to_ns;
	bool		complete;	/* the trace shows its end */
	bool		possible;	/* or others had the pCPU: the trace does not show which.
					 * It is not among those of virt_vcpu_holds() */
};

/**
 * virt_model_add_hold - a hold of a vCPU is over, or the trace ends
 *
 * Holds of a vCPU are given in order, and so are those that are only possible.
 *
 * Return: 0, -ENOMEM, or -EINVAL for what cannot be.
 */
int virt_model_add_hold(struct virt_model *model, int32_t vcpu, const struct virt_hold *hold);

/** virt_model_know_holds - all of the trace's have been given, if any. They are unknown before. */
void virt_model_know_holds(struct virt_model *model);
/** virt_model_knows_holds - have they been given? */
bool virt_model_knows_holds(const struct virt_model *model);

struct virt_hold_range { const struct virt_hold *first; size_t n; };

/** virt_vcpu_holds - those of a vCPU that reach into [from, to), in O(log n) */
struct virt_hold_range virt_vcpu_holds(const struct virt_model *model, int32_t vcpu,
				       int64_t from_ns, int64_t to_ns);

/** virt_vcpu_possible_holds - the same of those that are only possible */
struct virt_hold_range virt_vcpu_possible_holds(const struct virt_model *model, int32_t vcpu,
						int64_t from_ns, int64_t to_ns);

/** What a limit cost in a window. */
struct virt_held {
	int64_t		ns;
	int64_t		possible_ns;	/* it may have been more by this time */
	uint64_t	count;		/* holds that begin in the window */
	uint64_t	possible;	/* and possible ones */
};

/** virt_vcpu_held - sum up the holds of a vCPU in [from, to), in O(holds) */
struct virt_held virt_vcpu_held(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
				int64_t to_ns);

/** virt_hold_words - what holds a vCPU in a state: "its CPU quota", "its cap" ...; static */
const char *virt_hold_words(const struct virt_model *model, enum virt_state state);

/** Bytes of a text of virt_held_text(), with its end. */
#define VIRT_HELD_TEXT	160

/**
 * virt_held_text - "its CPU quota held it for 5 ms, or up to 20 ms"
 * @certain: how long the limit held a vCPU; NULL: it is not certain that it did
 * @most: how long it may have held it; NULL: no longer than that
 *
 * Return: false, and no text, if both are NULL.
 */
bool virt_held_text(char text[VIRT_HELD_TEXT], const struct virt_model *model,
		    enum virt_state state, const char *certain, const char *most);

#ifdef __cplusplus
}
#endif
#endif
