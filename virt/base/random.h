/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	random.h
 * @brief	Random numbers that are the same everywhere for the same seed.
 *
 * The generator is splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
 * 2014): good enough for drawing, not for secrets.
 */
#ifndef KSHARK_VIRT_RANDOM_H
#define KSHARK_VIRT_RANDOM_H

#include <stdint.h>

/** random_next - the next 64 bits. @state: the seed at first */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/** random_below - a number below @limit */
static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)random_next(state) * limit >> 64);
}

#endif
