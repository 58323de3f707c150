/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_affinity.h
 * @brief	Which pCPUs a vCPU may run on, as sidecars list them.
 */
#ifndef KSHARK_VIRT_VIRT_AFFINITY_H
#define KSHARK_VIRT_VIRT_AFFINITY_H

#include <stdbool.h>
#include <stdint.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A longer list is refused: each range takes time for each of its pCPUs. */
#define VIRT_AFFINITY_BYTES	4096

/**
 * virt_model_set_affinity - list the pCPUs that a vCPU may run on
 * @list: "0-1,3", or "all"
 *
 * Return: 0, -ENOMEM, or -EINVAL for what is no such list, or too long: nothing changes.
 */
int virt_model_set_affinity(struct virt_model *model, int32_t vcpu, const char *list);

/**
 * virt_vcpu_may_run - mark the pCPUs that a vCPU may run on
 * @pcpus: those of the first @n become true
 *
 * Return: false if they are not known; nothing changes.
 */
bool virt_vcpu_may_run(const struct virt_model *model, int32_t vcpu, bool *pcpus, int32_t n);

#ifdef __cplusplus
}
#endif
#endif
