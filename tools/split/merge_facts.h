/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	merge_facts.h
 * @brief	Combine the facts that parts of a trace keep of the whole one (virt_part.h).
 */
#ifndef KSHARK_VIRT_MERGE_FACTS_H
#define KSHARK_VIRT_MERGE_FACTS_H

#include "virt_part.h"

/** merge_facts_begin - begin with the times and tables of a part. Return: NULL without memory. */
struct virt_part *merge_facts_begin(const struct virt_part *first);

/**
 * merge_facts_nothing - nothing is known until the next part begins, and records are missing
 * @n_pcpus: of the host
 *
 * Return: 0 or -ENOMEM.
 */
int merge_facts_nothing(struct virt_part *part, const struct virt_part *after, int n_pcpus);

/**
 * merge_facts_add - add the facts of the next part, in order of time
 * @is_first, @is_last: of all parts
 *
 * Return: 0 or -ENOMEM.
 */
int merge_facts_add(struct virt_part *part, const struct virt_part *window, bool is_first,
		    bool is_last);

#endif
