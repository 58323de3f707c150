// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_memory.c
 * @brief	The memory of this host: how much is free, and how much stays free.
 */
#include <stdlib.h>
#include <string.h>

#include "record.h"

/** Of a small memory no more than this share stays free. */
#define SMALL_SHARE	32

static uint64_t member(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	return line ? strtoull(line + strlen(key), NULL, 10) * 1024 : 0;
}

uint64_t record_memory(uint64_t *total)
{
	char text[1024];

	record_read(text, sizeof(text), "/proc/meminfo");
	*total = member(text, "MemTotal:");
	return member(text, "MemAvailable:");
}

bool record_memory_is_short(const struct record *record, uint64_t *left, uint64_t *reserve)
{
	uint64_t total;

	*left = record_memory(&total);
	*reserve = record->options->reserve;
	if (*reserve > total / SMALL_SHARE)
		*reserve = total / SMALL_SHARE;
	/* if the kernel does not say, there is no limit */
	return *left && *left < *reserve;
}
