// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	time_sort.c
 * @brief	Sort elements by their time; those of the same time keep their order.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "time_sort.h"

static int64_t time_of(const char *element)
{
	int64_t time;

	memcpy(&time, element, sizeof(time));
	return time;
}

/** Merge [left, middle) and [middle, end), which are sorted. */
static void merge(char *to, const char *left, const char *middle, const char *end, size_t size)
{
	const char *right = middle;

	while (left < middle && right < end) {
		const char **next = time_of(left) <= time_of(right) ? &left : &right;

		memcpy(to, *next, size);
		*next += size;
		to += size;
	}
	memcpy(to, left, (size_t)(middle - left));
	memcpy(to + (middle - left), right, (size_t)(end - right));
}

int time_sort(void **all, size_t n, size_t size)
{
	char *from = *all, *to;
	size_t bytes = n * size;

	if (n < 2)
		return 0;
	to = calloc(n, size);
	if (!to)
		return -ENOMEM;
	for (size_t width = size; width < bytes; width *= 2) {
		char *swap = from;

		for (size_t left = 0; left < bytes; left += 2 * width) {
			size_t middle = bytes - left > width ? left + width : bytes;
			size_t end = bytes - middle > width ? middle + width : bytes;

			merge(to + left, from + left, from + middle, from + end, size);
		}
		from = to;
		to = swap;
	}
	free(to);
	*all = from;
	return 0;
}
