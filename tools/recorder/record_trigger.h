/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_trigger.h
 * @brief	Conditions of a flight recorder: moments of a trace, such as wake>2ms, and limits
 *		of check, such as wake.p99=200us.
 *
 * A condition on moments is compared with those that report --worst lists: the same moments, of the
 * same kinds, with the same costs, from the same model. Limits are judged by check itself.
 */
#ifndef KSHARK_VIRT_RECORD_TRIGGER_H
#define KSHARK_VIRT_RECORD_TRIGGER_H

#include <stdbool.h>

#include "virt_worst.h"

/** The most conditions. */
#define RECORD_MAX_TRIGGERS	16

/** Kinds of moments that a recording host can see: VIRT_WORST_IRQ needs the traces of guests. */
#define RECORD_TRIGGER_KINDS	(VIRT_WORST_ALL_KINDS & ~(1u << VIRT_WORST_IRQ))

/** A moment of this kind that costs more than this, or a limit of check that is exceeded. */
struct record_trigger {
	const char		*text;		/* as it was typed */
	enum virt_worst_kind	kind;
	int64_t			above_ns;	/* of a moment */
	bool			is_limit;
	size_t			name_size;	/* of a limit: bytes of @text before the = */
	double			limit;		/* of a limit, in its unit: budget_unit() */
};

/** What a condition has met in a trace. */
struct record_fired {
	uint64_t		moments;	/* how many; 0: it is not met */
	int64_t			time_ns;	/* of the costliest one, on the trace's axis */
	int64_t			cost_ns;
	char			vcpu[64];	/* whose that one is, or "" */
	/* of a limit; @moments are those that it is about */
	char			of[64];		/* the machine that exceeds it most, or "trace" */
	double			value;
	char			unit[8];
	bool			is_known;	/* of any machine */
	char			unknown[128];	/* why it is not known of one, or "" */
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
 * record_limit_parse - METRIC.STATISTIC=LIMIT, as check's --max has it
 * @text: is kept
 * @wrong: receives what is wrong with it, for people; static
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int record_limit_parse(const char *text, struct record_trigger *trigger, const char **wrong);

/**
 * record_trigger_judge - which moments of a host's trace have met conditions
 * @fired: receives it, of each of the @n; nothing of limits
 *
 * Return: 0, 1 if there are no records yet, or -1 with a text in @error.
 */
int record_trigger_judge(const char *path, const struct record_trigger *triggers, int n,
			 struct record_fired *fired, char *error, size_t size);

#endif
