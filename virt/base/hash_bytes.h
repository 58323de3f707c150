/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hash_bytes.h
 * @brief	Hash bytes into a 64-bit number (FNV-1a); different bytes rarely have the same one.
 *
 * http://www.isthe.com/chongo/tech/comp/fnv/
 */
#ifndef KSHARK_VIRT_HASH_BYTES_H
#define KSHARK_VIRT_HASH_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Of no bytes. */
#define HASH_BYTES_NONE	UINT64_C(0xcbf29ce484222325)

/** hash_bytes - that of what @hash is of, and these behind it */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = (const uint8_t *)data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/** hash_text - that of a text */
static inline uint64_t hash_text(const char *text)
{
	return hash_bytes(HASH_BYTES_NONE, text, strlen(text));
}

#endif
