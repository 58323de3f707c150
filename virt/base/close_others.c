// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	close_others.c
 * @brief	Close the descriptors of a process that it does not need.
 */
#include <unistd.h>

#include "close_others.h"

/** The lowest descriptor to keep from @first on. Return: -1: there is none. */
static int next_kept(const int *keep, size_t n, int first)
{
	int next = -1;

	for (size_t i = 0; i < n; i++)
		if (keep[i] >= first && (next < 0 || keep[i] < next))
			next = keep[i];
	return next;
}

void close_others(const int *keep, size_t n)
{
	int first = STDERR_FILENO + 1, next;

	while ((next = next_kept(keep, n, first)) >= 0) {
		if (next > first)
			close_range((unsigned int)first, (unsigned int)next - 1, 0);
		first = next + 1;
	}
	close_range((unsigned int)first, ~0U, 0);
}
