/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_next.h
 * @brief	Link the rows of each CPU, as KernelShark wants them.
 *
 * An interval of KernelShark's collection of a task's rows ends where the next row of the same CPU
 * is another task's. Without that link it never ends: for each frame, each graph of a task looks
 * through all rows.
 */
#ifndef KSHARK_VIRT_KS_NEXT_H
#define KSHARK_VIRT_KS_NEXT_H

#include <errno.h>
#include <stdlib.h>

#include <libkshark.h>

/** The last row of each CPU so far. */
struct ks_next {
	struct kshark_entry	**last;
	int			n_cpus;
};

/** ks_next_init - Return: 0 or -ENOMEM */
static inline int ks_next_init(struct ks_next *next, int n_cpus)
{
	next->last = calloc((size_t)n_cpus + 1, sizeof(struct kshark_entry *));
	next->n_cpus = n_cpus;
	return next->last ? 0 : -ENOMEM;
}

static inline void ks_next_destroy(struct ks_next *next)
{
	free(next->last);
}

/** ks_next_add - the next row of a stream, in order of time */
static inline void ks_next_add(struct ks_next *next, struct kshark_entry *entry)
{
	if (entry->cpu < 0 || entry->cpu >= next->n_cpus)
		return;
	if (next->last[entry->cpu])
		next->last[entry->cpu]->next = entry;
	next->last[entry->cpu] = entry;
}

#endif
