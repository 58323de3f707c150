/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	affinity.h
 * @brief	The physical CPUs that each vCPU may run on, in the form that users type: d1v0=2,3.
 */
#ifndef KSHARK_VIRT_AFFINITY_H
#define KSHARK_VIRT_AFFINITY_H

#include "options.h"

struct pcpu_range {
	uint16_t		first, last;
};

/** Where some vCPUs may run. */
struct affinity {
	char			*text;		/* as given */
	struct ksv_vcpu_set	vcpus;
	struct pcpu_range	*pcpus;		/* in order: a set of bits is large */
	size_t			n_pcpus, room;	/* ranges of them */
};

/** vCPUs next to each other that are in the same items. */
struct affinity_part {
	uint64_t		first;		/* a xen_vcpu; they reach to the next part */
	struct affinity		*item;		/* the last one that they are in, or NULL */
	bool			asked;		/* for one of them */
	size_t			before;		/* parts before it that are asked */
};

/** In the order in which they were given; all zeros: empty. */
struct affinity_list {
	struct affinity		*items;
	size_t			n, room;
	struct affinity_part	*parts;		/* by number; see affinity_sort() */
	size_t			n_parts;
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

/** affinity_sort - nothing more is added, and one can ask now. Return: 0 or -ENOMEM. */
int affinity_sort(struct affinity_list *list);

/** affinity_of - the last one for a vCPU. Return: NULL without any. */
struct affinity *affinity_of(struct affinity_list *list, int32_t domid, int32_t vcpu);

/** affinity_allows - may these vCPUs run on a pCPU? */
bool affinity_allows(const struct affinity *affinity, int32_t pcpu);

/** affinity_unused - the first one of which no vCPU has been asked for, or NULL. */
const struct affinity *affinity_unused(struct affinity_list *list);

/** affinity_free - free what is in it. */
void affinity_free(struct affinity_list *list);

#endif
