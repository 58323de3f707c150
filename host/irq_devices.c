// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	irq_devices.c
 * @brief	Which device a vector of a vCPU is the interrupt of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "irq_devices.h"

static uint64_t key_of(int32_t vcpu, int vector)
{
	return (uint64_t)(uint32_t)vcpu << 32 | (uint32_t)vector;
}

int irq_devices_add(struct irq_devices *devices, int32_t vcpu, int16_t vector, const char *name)
{
	uint32_t n_known = devices->map.n_keys;
	int64_t n = KEY_MAP_ELEMENT(&devices->map, key_of(vcpu, vector), devices->names,
				    devices->room);

	if (n < 0)
		return (int)n;
	if (n >= n_known) {
		devices->names[n] = strdup(name);
		return devices->names[n] ? 0 : -ENOMEM;
	}
	if (devices->names[n] && strcmp(devices->names[n], name) != 0) {
		free(devices->names[n]);
		devices->names[n] = NULL;
	}
	return 0;
}

const char *irq_devices_name(const struct irq_devices *devices, int32_t vcpu, int vector)
{
	int64_t n = key_map_find(&devices->map, key_of(vcpu, vector));

	return n < 0 ? NULL : devices->names[n];
}

void irq_devices_free(struct irq_devices *devices)
{
	for (uint32_t n = 0; n < devices->map.n_keys; n++)
		free(devices->names[n]);
	free(devices->names);
	key_map_destroy(&devices->map);
	memset(devices, 0, sizeof(*devices));
}
