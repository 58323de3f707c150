// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_regions.c
 * @brief	Keep the regions of machines' devices, and find the one of an address.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "search.h"
#include "virt_private.h"
#include "virt_regions.h"

/** Bytes of a page, of which PAGE and ABORT are arguments. */
#define PAGE_BYTES	4096

int virt_model_add_region(struct virt_model *model, int32_t machine,
			  const struct device_region *region)
{
	struct device_region copy = *region;
	struct virt_machine_track *track;

	if (model->finished || machine < 0 || machine >= model->n_machines ||
	    region->first > region->last || !region->name || !*region->name)
		return -EINVAL;
	track = &model->machines[machine];
	if (track->n_regions == DEVICE_MAX_REGIONS)
		return -EINVAL;
	copy.name = virt_keep_name(model, region->name);
	if (!copy.name || ARRAY_GROW(track->regions, track->n_regions, track->regions_room))
		return -ENOMEM;
	track->regions[track->n_regions++] = copy;
	return 0;
}

/** Ports behind addresses; what begins at one place, in an order that does not change. */
static int compare_regions(const void *a, const void *b)
{
	const struct device_region *x = a, *y = b;

	if (x->is_port != y->is_port)
		return x->is_port ? 1 : -1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return strcmp(x->name, y->name);
}

void virt_regions_order(struct virt_model *model)
{
	for (int32_t i = 0; i < model->n_machines; i++) {
		struct virt_machine_track *track = &model->machines[i];
		struct device_region *all = track->regions;
		uint32_t n = 0;

		if (!track->n_regions)
			continue;
		qsort(all, track->n_regions, sizeof(*all), compare_regions);
		for (uint32_t k = 0; k < track->n_regions; k++)
			if (!n || all[k].is_port != all[n - 1].is_port ||
			    all[k].first > all[n - 1].last)
				all[n++] = all[k];
		track->n_regions = n;
	}
}

/** How many values from its own on an argument may mean, and whether they are ports; 0: none. */
static uint64_t width_of(uint8_t kind, bool *is_port)
{
	*is_port = kind == EXIT_ARGUMENT_PORT_READ || kind == EXIT_ARGUMENT_PORT_WRITE;
	switch (kind) {
	case EXIT_ARGUMENT_PORT_READ:
	case EXIT_ARGUMENT_PORT_WRITE:
	case EXIT_ARGUMENT_MMIO_READ:
	case EXIT_ARGUMENT_MMIO_WRITE:
		return 1;
	case EXIT_ARGUMENT_PAGE:
	case EXIT_ARGUMENT_ABORT:
		return PAGE_BYTES;
	default:
		return 0;
	}
}

const char *virt_region_of(const struct virt_model *model, int32_t machine,
			   const struct virt_argument *argument)
{
	const struct virt_machine_track *track = &model->machines[machine];
	const char *name = NULL;
	bool is_port;
	uint64_t width = width_of(argument->kind, &is_port);
	uint64_t last = argument->value + (width - 1);
	size_t i;

	if (!width || last < argument->value)
		return NULL;
	SEARCH_FIRST(i, 0, track->n_regions, track->regions[i].is_port < is_port ||
		     (track->regions[i].is_port == is_port &&
		      track->regions[i].last < argument->value));
	for (; i < track->n_regions && track->regions[i].is_port == is_port &&
	       track->regions[i].first <= last; i++) {
		/* several devices in a page: any of them */
		if (name && strcmp(name, track->regions[i].name) != 0)
			return NULL;
		name = track->regions[i].name;
	}
	return name;
}
