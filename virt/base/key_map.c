// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	key_map.c
 * @brief	Number distinct keys in order of appearance.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_mix.h"
#include "key_map.h"

#define FIRST_SLOTS	16
#define MOST_KEYS	(UINT32_C(1) << 30)	/* twice as many slots can be counted */

/** The slot of a key: its own, or the free one where it belongs. */
static uint32_t *slot_of(const struct key_map *map, uint64_t key)
{
	uint32_t mask = map->n_slots - 1;
	uint32_t i = (uint32_t)hash_mix(key, map->slots) & mask;

	while (map->slots[i] && map->keys[map->slots[i] - 1] != key)
		i = (i + 1) & mask;
	return &map->slots[i];
}

int64_t key_map_find(const struct key_map *map, uint64_t key)
{
	return map->n_slots ? (int64_t)*slot_of(map, key) - 1 : -1;
}

int key_map_reserve(struct key_map *map)
{
	struct key_map bigger;

	if (map->n_keys >= MOST_KEYS || ARRAY_GROW(map->keys, map->n_keys, map->room))
		return -ENOMEM;
	if (map->n_keys < map->n_slots / 2)
		return 0;
	bigger = *map;
	bigger.n_slots = map->n_slots ? map->n_slots * 2 : FIRST_SLOTS;
	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->n_keys; i++)
		*slot_of(&bigger, bigger.keys[i]) = i + 1;
	free(map->slots);
	*map = bigger;
	return 0;
}

int64_t key_map_add(struct key_map *map, uint64_t key)
{
	int64_t number = key_map_find(map, key);

	if (number >= 0)
		return number;
	if (key_map_reserve(map))
		return -ENOMEM;
	map->keys[map->n_keys++] = key;
	*slot_of(map, key) = map->n_keys;
	return map->n_keys - 1;
}

void key_map_destroy(struct key_map *map)
{
	free(map->keys);
	free(map->slots);
	memset(map, 0, sizeof(*map));
}
