/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	key_map.h
 * @brief	Number distinct keys in order of appearance: machines, vCPUs, pairs of pCPUs, event
 *		ids.
 */
#ifndef KSHARK_VIRT_KEY_MAP_H
#define KSHARK_VIRT_KEY_MAP_H

#include <stdint.h>
#include <string.h>

#include "array.h"

/** All zero is an empty map. */
struct key_map {
	uint64_t	*keys;		/* in order of appearance; index = the key's number */
	uint32_t	n_keys, room;
	uint32_t	*slots;		/* hash table of numbers + 1; 0 is free */
	uint32_t	n_slots;	/* a power of two, at least twice n_keys */
};

/** key_map_find - the number of a key, or -1. */
int64_t key_map_find(const struct key_map *map, uint64_t key);

/** key_map_reserve - room for one more key, so that adding it cannot fail. Return: 0; -ENOMEM. */
int key_map_reserve(struct key_map *map);

/** key_map_add - the number of a key, which gets the next one if it is new; -ENOMEM. */
int64_t key_map_add(struct key_map *map, uint64_t key);

void key_map_destroy(struct key_map *map);

/**
 * KEY_MAP_ELEMENT - where a key's element is, in an array that runs along a map
 * @array, @room: variables, as ARRAY_GROW() takes them
 *
 * A new key's element is all zero. Value: its index; -ENOMEM, and nothing is changed.
 */
#define KEY_MAP_ELEMENT(map, key, array, room) __extension__ ({			\
	struct key_map *map_ = (map);						\
	uint64_t key_ = (key);							\
	int64_t n_ = key_map_find(map_, key_);					\
										\
	if (n_ < 0 && !ARRAY_GROW(array, map_->n_keys, room)) {			\
		n_ = key_map_add(map_, key_);					\
		if (n_ >= 0)							\
			memset(&(array)[n_], 0, sizeof(*(array)));		\
	}									\
	n_ < 0 ? -ENOMEM : n_;							\
})

#endif
