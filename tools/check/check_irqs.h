/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	check_irqs.h
 * @brief	Check that interrupts of a host are handled on the pCPUs that are meant for them.
 */
#ifndef KSHARK_VIRT_CHECK_IRQS_H
#define KSHARK_VIRT_CHECK_IRQS_H

#include "model_load.h"
#include "options.h"
#include "table.h"

/** Where some interrupts may be handled: "virtio0*=0,1". */
struct irq_affinity {
	char		*pattern;	/* shell pattern of a kind, a number or a name */
	char		*allowed;	/* as given */
	struct ksv_id_set pcpus;
	bool		used;		/* an interrupt fits, also outside the window */
};

/** In the order in which they were given: the last one that fits an interrupt counts. */
struct irq_affinities {
	struct irq_affinity *all;
	size_t		n, room;
};

/** irq_affinity_add - take NAME=CPUS. Return: 0, -EINVAL or -ENOMEM. */
int irq_affinity_add(struct irq_affinities *list, const char *text);
void irq_affinities_free(struct irq_affinities *list);

struct check_irqs {
	struct irq_affinities	*affinities;
	const struct model_load	*load;
	struct output		*out;
	int64_t			from_ns, to_ns;
	struct table_writer	*csv;	/* of check_irqs_table; NULL: text */
	bool			quiet;
};

extern const struct table check_irqs_table;

/**
 * check_irqs_run - list every handling on a pCPU that is not allowed, and sums
 *
 * Return: KSV_EXIT_OK; KSV_EXIT_FINDINGS if there is one; KSV_EXIT_UNKNOWN if the trace shows no
 * interrupt that is to be judged, after a message; or KSV_EXIT_FILE after one.
 */
int check_irqs_run(const struct check_irqs *check);

#endif
