/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hz_contradicts.h
 * @brief	Compare the frequency that a user gives with the known frequency of the trace.
 */
#ifndef VIRT_HZ_CONTRADICTS_H
#define VIRT_HZ_CONTRADICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** At this frequency, a cycle is 1 ns: users give it to get cycles, so it contradicts no trace. */
#define HZ_CYCLES_AS_NS		1000000000

#define HZ_CONTRADICTION	200	/* bytes that are enough for its text */

/**
 * hz_contradicts - is @hz another frequency than the one that is known, not the same one rounded?
 * @residual_ppm: how exactly @known_hz is known
 * @source: from where, for the text
 * @text: receives what is wrong and what helps, without the file's name; may be NULL
 */
bool hz_contradicts(uint64_t hz, uint64_t known_hz, double residual_ppm, const char *source,
		    char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
