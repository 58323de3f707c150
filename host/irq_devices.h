/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	irq_devices.h
 * @brief	Which device a vector of a vCPU is the interrupt of, as guests' own traces tell.
 *
 * Linux gives vectors to devices CPU by CPU, and may give one to another device later: then
 * nothing is said of it.
 */
#ifndef KSHARK_VIRT_IRQ_DEVICES_H
#define KSHARK_VIRT_IRQ_DEVICES_H

#include <stddef.h>
#include <stdint.h>

#include "key_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All zero: none is known. */
struct irq_devices {
	struct key_map	map;		/* of vCPU and vector */
	char		**names;	/* by number in @map; NULL: several have had it */
	size_t		room;
};

/** irq_devices_add - an interrupt of that vector was the device's. Return: 0 or -ENOMEM. */
int irq_devices_add(struct irq_devices *devices, int32_t vcpu, int16_t vector, const char *name);

/** irq_devices_name - of the device; NULL: nobody knows. */
const char *irq_devices_name(const struct irq_devices *devices, int32_t vcpu, int vector);

void irq_devices_free(struct irq_devices *devices);

#ifdef __cplusplus
}
#endif
#endif
