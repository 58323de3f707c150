/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_devices.h
 * @brief	Name the device of an interrupt vector of a vCPU, from the guests' own traces.
 *
 * Linux gives vectors to devices CPU by CPU, and may give a vector to another device later: such a
 * vector has no name.
 */
#ifndef KSHARK_VIRT_VIRT_DEVICES_H
#define KSHARK_VIRT_VIRT_DEVICES_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct virt_devices;

/** virt_devices_new - none is known. Return: NULL without memory. */
struct virt_devices *virt_devices_new(void);

/** virt_devices_free - NULL is allowed. */
void virt_devices_free(struct virt_devices *devices);

/** virt_devices_add - an interrupt of that vector was the device's. Return: 0 or -ENOMEM. */
int virt_devices_add(struct virt_devices *devices, int32_t vcpu, int vector, const char *name);

/** virt_devices_join - add all that another one has; NULL: nothing. Return: 0 or -ENOMEM. */
int virt_devices_join(struct virt_devices *devices, const struct virt_devices *more);

/**
 * virt_devices_name - of the device; NULL: unknown
 * @vcpu: VIRT_NONE: all of which it is known; NULL if it is not the same device of all of them
 */
const char *virt_devices_name(const struct virt_devices *devices, int32_t vcpu, int vector);

/**
 * virt_model_set_devices - from now on, vectors are called by these
 * @devices: belongs to the model from here on; NULL: nothing is known any more
 *
 * Another thread may read names at the same time: they live as long as the model.
 */
void virt_model_set_devices(struct virt_model *model, struct virt_devices *devices);

/** virt_model_device - virt_devices_name() of what the model has now. */
const char *virt_model_device(const struct virt_model *model, int32_t vcpu, int vector);

#ifdef __cplusplus
}
#endif
#endif
