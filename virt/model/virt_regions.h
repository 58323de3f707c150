/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_regions.h
 * @brief	Which devices a machine has, and at which addresses and ports of its guest.
 */
#ifndef KSHARK_VIRT_VIRT_REGIONS_H
#define KSHARK_VIRT_VIRT_REGIONS_H

#include "device_region.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * virt_model_add_region - a device's region in a machine
 * @machine: index
 * @region: its name is copied
 *
 * The name in the arguments of exits (virt_arguments.h) is cut if it is long. Regions do not
 * overlap: of two that do, the one that begins first counts.
 *
 * Return: 0, -ENOMEM, or -EINVAL: what cannot be, one more than DEVICE_MAX_REGIONS, or the model is
 * finished.
 */
int virt_model_add_region(struct virt_model *model, int32_t machine,
			  const struct device_region *region);

#ifdef __cplusplus
}
#endif
#endif
