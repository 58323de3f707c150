/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_excerpt.h
 * @brief	Copy the end of a model that is filled for days, and forget its beginning.
 *
 * A tracker fills such a model and never finishes it. For each query, the end of the model is
 * copied, and the copy becomes a model like any other.
 */
#ifndef KSHARK_VIRT_VIRT_EXCERPT_H
#define KSHARK_VIRT_VIRT_EXCERPT_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * virt_model_excerpt - a copy of what an unfinished model contains from a time on
 * @begin_ns: with what is in force then
 *
 * Machines, vCPUs, exit reasons and tasks have the same numbers. Handlers and power are left out.
 * It is to be finished from @begin_ns on. For a window that begins later, it says the same as the
 * whole model: states, exits and wake-ups that begin in the window, culprits, losses; except how
 * long before the window something began, and which pCPU a vCPU came from that has not run since
 * @begin_ns.
 *
 * Return: the copy, which needs the names of @model: that must be there for as long; or NULL
 * without memory.
 */
struct virt_model *virt_model_excerpt(const struct virt_model *model, int64_t begin_ns);

/**
 * virt_model_forget - what was over before a time is not asked for any more
 *
 * All numbers stay as they are. Memory is used again for what comes, not given back.
 */
void virt_model_forget(struct virt_model *model, int64_t before_ns);

#ifdef __cplusplus
}
#endif
#endif
