// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_affinity.c
 * @brief	Keep the pCPUs that a vCPU may run on.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "virt_affinity.h"
#include "virt_private.h"

/** Return: the text after a number, or NULL. */
static const char *take_number(const char *text, int32_t *number)
{
	char *end;
	long value;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || value > INT32_MAX)
		return NULL;
	*number = (int32_t)value;
	return end;
}

/** @pcpus: NULL: only look. Return: is it a list? */
static bool mark(const char *list, bool *pcpus, int32_t n)
{
	int32_t first, last;

	if (!strcmp(list, "all"))
		list = "0-2147483647";
	do {
		list = take_number(list, &first);
		last = first;
		if (list && *list == '-')
			list = take_number(list + 1, &last);
		if (!list || last < first)
			return false;
		for (int32_t i = first; pcpus && i < n && i <= last; i++)
			pcpus[i] = true;
	} while (*list++ == ',');
	return !list[-1];
}

int virt_model_set_affinity(struct virt_model *model, int32_t vcpu, const char *list)
{
	const char *kept;

	if (model->finished || vcpu < 0 || vcpu >= model->n_vcpus ||
	    strnlen(list, VIRT_AFFINITY_BYTES) == VIRT_AFFINITY_BYTES || !mark(list, NULL, 0))
		return -EINVAL;
	kept = virt_keep_name(model, list);
	if (!kept)
		return -ENOMEM;
	model->vcpus[vcpu].affinity = kept;
	return 0;
}

bool virt_vcpu_may_run(const struct virt_model *model, int32_t vcpu, bool *pcpus, int32_t n)
{
	return vcpu >= 0 && vcpu < model->n_vcpus && model->vcpus[vcpu].affinity &&
	       mark(model->vcpus[vcpu].affinity, pcpus, n);
}
