/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_trigger.h
 * @brief	Conditions on the moments of a trace, such as wake>2ms, and whether one is met.
 *
 * A condition is compared with the moments that report --worst lists: the same moments, of the same
 * kinds, with the same costs, from the same model.
 */
#ifndef KSHARK_VIRT_RECORD_TRIGGER_H
#define KSHARK_VIRT_RECORD_TRIGGER_H

#include "virt_worst.h"

/** So many conditions at most. */
#define RECORD_MAX_TRIGGERS	16

/** Kinds of moments that a recording host can see: VIRT_WORST_IRQ needs the traces of guests. */
#define RECORD_TRIGGER_KINDS	(VIRT_WORST_ALL_KINDS & ~(1u << VIRT_WORST_IRQ))

/** A moment of this kind that costs more than this. */
struct record_trigger {
	const char		*text;		/* as it was typed */
	enum virt_worst_kind	kind;
	int64_t			above_ns;
};

/** What a condition has met in a trace. */
struct record_fired {
	uint64_t		moments;	/* how many; 0: it is not met */
	int64_t			time_ns;	/* of the costliest one, on the trace's axis */
	int64_t			cost_ns;
	char			vcpu[64];	/* whose that one is, or "" */
};

/**
 * record_trigger_parse - KIND>TIME, as report's --kind and --above have them
 * @text: is kept
 *
 * The states that such moments are of are understood as well: preempted is steal, waking is wake.
 *
 * Return: 0, -EINVAL for what is no condition, -ENOENT for no kind, -ERANGE for no time.
 */
int record_trigger_parse(const char *text, struct record_trigger *trigger);

/**
 * record_trigger_judge - what conditions have met in a host's trace
 * @fired: receives it, of each of the @n
 *
 * Return: 0, also if there are no records yet, or -1 with a text in @error.
 */
int record_trigger_judge(const char *path, const struct record_trigger *triggers, int n,
			 struct record_fired *fired, char *error, size_t size);

#endif
