/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hash_mix.h
 * @brief	Mix the bits of a hash table's key, so that no trace can force collisions.
 */
#ifndef KSHARK_VIRT_HASH_MIX_H
#define KSHARK_VIRT_HASH_MIX_H

#include <stdint.h>

/**
 * hash_mix - well-mixed bits of a key
 * @table: address of the table's memory, unknown to those who choose keys
 */
static inline uint64_t hash_mix(uint64_t key, const void *table)
{
	key ^= (uint64_t)(uintptr_t)table * UINT64_C(0x9e3779b97f4a7c15);
	key = (key ^ key >> 32) * UINT64_C(0xd6e8feb86659fd93);
	key = (key ^ key >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return key ^ key >> 32;
}

#endif
