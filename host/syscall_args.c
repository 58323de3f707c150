// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	syscall_args.c
 * @brief	Arguments of a system call in a record of raw_syscalls:sys_enter.
 */
#include <stdlib.h>
#include <string.h>

#include "syscall_args.h"

bool syscall_arg(const char *text, size_t n, uint64_t *value)
{
	const char *at = strchr(text, '[');

	*value = 0;
	for (size_t i = 0; at && i < 8 * (n + 1); i++) {
		char *end;
		unsigned long byte = strtoul(at + 1, &end, 16);

		if (end == at + 1 || byte > 0xff)
			return false;
		if (i >= 8 * n)
			*value |= (uint64_t)byte << 8 * (i % 8);
		at = *end == ',' || *end == ']' ? end : NULL;
	}
	return at;
}
