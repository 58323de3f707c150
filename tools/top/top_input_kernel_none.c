// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_input_kernel_none.c
 * @brief	In place of top_input_kernel.c, where its programs cannot be compiled.
 */
#include <stdio.h>

#include "top_input_kernel.h"

struct top_input_kernel *top_input_kernel_open(const char *name,
					       const struct top_input_kernel_options *options,
					       char *why, size_t size, int *status)
{
	(void)name;
	(void)options;
	*status = KSV_EXIT_OK;
	snprintf(why, size, "kshark-virt was built without clang or bpftool");
	return NULL;
}

bool top_input_kernel_is_idle(const struct top_input_kernel *input)
{
	(void)input;
	return false;
}

void top_input_kernel_close(struct top_input_kernel *input)
{
	(void)input;
}

const struct top_input top_input_kernel = { .read = NULL };
