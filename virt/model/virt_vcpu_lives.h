/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_vcpu_lives.h
 * @brief	Join the threads of a vCPU that continues as another thread, because its machine is
 *		restored or migrated.
 */
#ifndef KSHARK_VIRT_VIRT_VCPU_LIVES_H
#define KSHARK_VIRT_VIRT_VCPU_LIVES_H

#include <stddef.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** From a time on, another thread is the vCPU; before the first one, that is its host_pid. */
struct virt_life {
	int64_t		since_ns;	/* when it first entered its guest */
	int32_t		vcpu;		/* global index */
	int32_t		pid;
};

/**
 * virt_model_add_life - while it is filled; virt_model_find_vcpu() finds the vCPU by either pid
 *
 * Return: 0, -ENOMEM, or -EINVAL (no such vCPU, finished).
 */
int virt_model_add_life(struct virt_model *model, const struct virt_life *life);

/** virt_model_lives - all of them, in order of time. @n: receives how many */
const struct virt_life *virt_model_lives(const struct virt_model *model, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
