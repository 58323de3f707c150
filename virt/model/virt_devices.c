// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_devices.c
 * @brief	Name the device of an interrupt vector of a vCPU, from the guests' own traces.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "key_map.h"
#include "virt_devices.h"
#include "virt_private.h"

struct virt_devices {
	struct virt_devices *before;	/* of the model, before this one */
	struct key_map	map;		/* of vCPU and vector */
	char		**names;	/* by number in @map; NULL: several have had it */
	size_t		room;
};

static uint64_t key_of(int32_t vcpu, int vector)
{
	return (uint64_t)(uint32_t)vcpu << 32 | (uint32_t)vector;
}

struct virt_devices *virt_devices_new(void)
{
	return calloc(1, sizeof(struct virt_devices));
}

void virt_devices_free(struct virt_devices *devices)
{
	while (devices) {
		struct virt_devices *before = devices->before;

		for (uint32_t n = 0; n < devices->map.n_keys; n++)
			free(devices->names[n]);
		free(devices->names);
		key_map_destroy(&devices->map);
		free(devices);
		devices = before;
	}
}

/** @name: NULL: several have had it */
static int add(struct virt_devices *devices, uint64_t key, const char *name)
{
	uint32_t n_known = devices->map.n_keys;
	int64_t n = KEY_MAP_ELEMENT(&devices->map, key, devices->names, devices->room);

	if (n < 0)
		return (int)n;
	if (n >= n_known && name) {
		devices->names[n] = strdup(name);
		return devices->names[n] ? 0 : -ENOMEM;
	}
	if (devices->names[n] && (!name || strcmp(devices->names[n], name) != 0)) {
		free(devices->names[n]);
		devices->names[n] = NULL;
	}
	return 0;
}

int virt_devices_add(struct virt_devices *devices, int32_t vcpu, int vector, const char *name)
{
	int ret = add(devices, key_of(vcpu, vector), name);

	return ret ? ret : add(devices, key_of(VIRT_NONE, vector), name);
}

int virt_devices_join(struct virt_devices *devices, const struct virt_devices *more)
{
	int ret = 0;

	for (uint32_t n = 0; more && n < more->map.n_keys && !ret; n++)
		ret = add(devices, more->map.keys[n], more->names[n]);
	return ret;
}

const char *virt_devices_name(const struct virt_devices *devices, int32_t vcpu, int vector)
{
	int64_t n = key_map_find(&devices->map, key_of(vcpu, vector));

	return n < 0 ? NULL : devices->names[n];
}

void virt_model_set_devices(struct virt_model *model, struct virt_devices *devices)
{
	struct virt_devices *none = devices ? devices : virt_devices_new();

	/* without memory, the names of before stay */
	if (!none)
		return;
	none->before = atomic_load(&model->devices);
	atomic_store(&model->devices, none);
}

const char *virt_model_device(const struct virt_model *model, int32_t vcpu, int vector)
{
	const struct virt_devices *devices = atomic_load(&model->devices);

	return devices ? virt_devices_name(devices, vcpu, vector) : NULL;
}
