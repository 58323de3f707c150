// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	u32_map.c
 * @brief	Number the distinct 32-bit keys that turn up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash_mix.h"
#include "u32_map.h"

/** The slot of a key: its own, or the free one where it belongs. */
static uint32_t *slot_of(const struct u32_map *map, uint32_t key)
{
	uint32_t mask = map->n_slots - 1;
	uint32_t i = (uint32_t)hash_mix(key, map->slots) & mask;

	while (map->slots[i] && map->keys[map->slots[i] - 1] != key)
		i = (i + 1) & mask;
	return &map->slots[i];
}

int64_t u32_map_find(const struct u32_map *map, uint32_t key)
{
	return map->n_slots ? (int64_t)*slot_of(map, key) - 1 : -1;
}

static int u32_map_grow(struct u32_map *map)
{
	struct u32_map bigger = { .n_keys = map->n_keys };

	bigger.n_slots = map->n_slots ? map->n_slots * 2 : 64;
	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	bigger.keys = realloc(map->keys, bigger.n_slots / 2 * sizeof(*bigger.keys));
	if (bigger.keys)
		map->keys = bigger.keys;
	if (!bigger.slots || !bigger.keys) {
		free(bigger.slots);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < map->n_keys; i++)
		*slot_of(&bigger, bigger.keys[i]) = i + 1;
	free(map->slots);
	*map = bigger;
	return 0;
}

int64_t u32_map_add(struct u32_map *map, uint32_t key)
{
	int64_t number = u32_map_find(map, key);

	if (number >= 0)
		return number;
	if (map->n_keys >= map->n_slots / 2 && u32_map_grow(map))
		return -ENOMEM;
	map->keys[map->n_keys++] = key;
	*slot_of(map, key) = map->n_keys;
	return map->n_keys - 1;
}

void u32_map_destroy(struct u32_map *map)
{
	free(map->keys);
	free(map->slots);
	memset(map, 0, sizeof(*map));
}
