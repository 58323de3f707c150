/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	failing_memory.h
 * @brief	Allocations that fail one by one: for __wrap_malloc() and the like of one test.
 */
#ifndef KSHARK_VIRT_FAILING_MEMORY_H
#define KSHARK_VIRT_FAILING_MEMORY_H

#include <errno.h>
#include <stdbool.h>

static long countdown;		/* the allocation that fails; 0: none */
static long n_allocations;

/** Does this allocation fail? */
static inline bool fails(void)
{
	n_allocations++;
	if (!countdown || --countdown)
		return false;
	errno = ENOMEM;
	return true;
}

#endif
