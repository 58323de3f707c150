/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_moments.h
 * @brief	Queries about moments that only our own programs use, in addition to virt_worst.h.
 */
#ifndef KSHARK_VIRT_VIRT_MOMENTS_H
#define KSHARK_VIRT_VIRT_MOMENTS_H

#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * virt_worst_kind_list - names of some kinds for a message: "exit, steal and wake"
 * @kinds: set of 1 << enum virt_worst_kind
 *
 * Return: @text, which is cut to @size.
 */
const char *virt_worst_kind_list(unsigned int kinds, char *text, size_t size);

/** A part of a wait: a vCPU that waits may be moved, and waits for another pCPU from then on. */
struct virt_wait_part {
	int64_t		from_ns, to_ns;
	int64_t		who_ns;		/* how long @who had the pCPU in this part */
	int32_t		who;		/* as in struct virt_moment */
	int16_t		pcpu;		/* that it waits for; or VIRT_NONE */
};

/**
 * virt_wait_next_part - the parts of a steal moment, one after the other
 * @part: to_ns is the end of the part before, or VIRT_NO_TIME; receives the next one
 *
 * In O(log n + intervals of the part + culprits).
 *
 * Return: false if there is none.
 */
bool virt_wait_next_part(const struct virt_model *model, const struct virt_moment *moment,
			 struct virt_wait_part *part);

/**
 * virt_wait_longest_part - the part of a steal moment that its pcpu and who are of
 *
 * Return: true if there are others.
 */
bool virt_wait_longest_part(const struct virt_model *model, const struct virt_moment *moment,
			    struct virt_wait_part *part);

/**
 * virt_pcpu_culprit - the vCPU or task that has a pCPU longest in [from, to)
 *
 * In O(n log n) of those that are there. Of equal ones the one with the lowest number. Return:
 * VIRT_NONE and 0 ns if it is idle, or nothing is known of it, for longer than anybody has it.
 */
struct virt_culprit virt_pcpu_culprit(const struct virt_model *model, int32_t pcpu,
				      int64_t from_ns, int64_t to_ns);

#ifdef __cplusplus
}
#endif
#endif
