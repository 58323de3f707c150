/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	u32_map.h
 * @brief	Number the distinct 32-bit keys that turn up: vCPUs, pairs of pCPUs, event ids.
 */
#ifndef KSHARK_VIRT_U32_MAP_H
#define KSHARK_VIRT_U32_MAP_H

#include <stdint.h>

/** All zero is an empty map. */
struct u32_map {
	uint32_t	*keys;		/* in order of appearance; index = the key's number */
	uint32_t	n_keys;
	uint32_t	*slots;		/* hash table of numbers + 1; 0 is free */
	uint32_t	n_slots;	/* a power of two, at least twice n_keys */
};

/** u32_map_find - the number of a key, or -1. */
int64_t u32_map_find(const struct u32_map *map, uint32_t key);

/** u32_map_add - the number of a key, which gets the next one if it is new; -ENOMEM. */
int64_t u32_map_add(struct u32_map *map, uint32_t key);

void u32_map_destroy(struct u32_map *map);

#endif
