/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	affinity.h
 * @brief	Which vCPUs may run on which physical CPUs, as people write it: d1v0=2,3.
 */
#ifndef KSHARK_VIRT_AFFINITY_H
#define KSHARK_VIRT_AFFINITY_H

#include "options.h"

/** Where some vCPUs may run. */
struct affinity {
	char			*text;		/* as given */
	struct ksv_vcpu_set	vcpus;
	struct ksv_id_set	pcpus;
	bool			used;		/* by a vCPU of the trace */
};

/** In the order in which they were given; all zeros: empty. */
struct affinity_list {
	struct affinity		*items;
	size_t			n, room;
};

/** affinity_add - take LIST=CPUS. Return: 0, -EINVAL or -ENOMEM. */
int affinity_add(struct affinity_list *list, const char *text);

/**
 * affinity_read - take a file with one in each line; blank lines and comments (#) are left out
 * @line: receives the number of the last line that was read
 *
 * Return: 0, -EINVAL, -ENOMEM, -EIO, or -EFBIG for what is no such file.
 */
int affinity_read(struct affinity_list *list, FILE *file, unsigned int *line);

/** affinity_of - the last one for a vCPU, which is used from now on. Return: NULL without any. */
struct affinity *affinity_of(const struct affinity_list *list, int32_t domid, int32_t vcpu);

/** affinity_free - free what is in it. */
void affinity_free(struct affinity_list *list);

#endif
