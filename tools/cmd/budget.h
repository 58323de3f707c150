/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	budget.h
 * @brief	Limits for vCPUs, in the form that users type: wake.p99=200us, steal=1%.
 *
 * The form is METRIC[REASON].STATISTIC=LIMIT; for a kind of steal, steal[KIND]=LIMIT; for
 * interrupts, irq[VECTOR].STATISTIC=LIMIT. Metrics are the kinds of moments of virt_worst.h, and
 * "held" (virt_limits.h), so each number is that of report.
 */
#ifndef KSHARK_VIRT_BUDGET_H
#define KSHARK_VIRT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_steal.h"
#include "virt_worst.h"

/** Limits of lengths as examples, for help and messages: any percentile will do. */
#define BUDGET_WAKE	"wake.p99=200us"
#define BUDGET_VECTOR	"irq[virtio0].p99=1ms"
#define BUDGET_IRQ	"irq.p99=1ms"
#define BUDGET_METRIC	"METRIC.p99=200us"

/** What is limited. */
enum budget_statistic {
	BUDGET_SHARE,		/* of the time that is known, in per cent */
	BUDGET_COUNT,
	BUDGET_RATE,		/* per second of a vCPU */
	BUDGET_LENGTH,		/* a percentile in ns (nearest rank), or the maximum */
};

struct budget {
	char		*text;		/* as given */
	char		*reason;	/* of exits, or name of an interrupt's vector: a pattern
					 * (fnmatch) without regard to case; or NULL: any */
	char		*argument;	/* of exits: a part of the name of an argument, or the name
					 * of a cause (exit_causes.h), in the same way; or NULL */
	bool		is_cause;	/* @argument names a cause */
	enum virt_steal_kind steal_kind; /* of steal; VIRT_STEAL_N_KINDS: of any kind */
	bool		held;		/* of how long its own limit holds a vCPU (virt_limits.h),
					 * @kind is VIRT_WORST_N_KINDS */
	enum virt_worst_kind kind;	/* none of OFFLINE, TSC */
	enum budget_statistic statistic;
	uint32_t	per_million;	/* which percentile; 1000000: the maximum */
	double		limit;		/* per cent, number, 1/s or ns */
};

struct budget_list {
	struct budget	*items;
	size_t		n, room;
};

/**
 * budget_add - take METRIC[REASON].STATISTIC=LIMIT
 * @wrong: receives what is wrong with it, for people; static
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int budget_add(struct budget_list *list, const char *text, const char **wrong);
void budget_free(struct budget_list *list);

/** budget_is_time - are its numbers ns? */
static inline bool budget_is_time(const struct budget *budget)
{
	return budget->statistic == BUDGET_LENGTH;
}

/** budget_unit - "%", "", "1/s" or "ns" */
const char *budget_unit(const struct budget *budget);

/** budget_name_size - how much of its text is before the limit. */
size_t budget_name_size(const struct budget *budget);

/** budget_has_reason - does it count exits of a reason of that name? NULL: of an unknown one */
bool budget_has_reason(const struct budget *budget, const char *reason);

/** budget_has_argument - the same for the argument, or the cause if it names one; NULL: unknown */
bool budget_has_argument(const struct budget *budget, const char *argument);

/** budget_place - which one of @n lengths, sorted, the percentile is: 1 to @n. */
uint64_t budget_place(const struct budget *budget, uint64_t n);

/** budget_percentile - of @n lengths (one or more), which are sorted. */
int64_t budget_percentile(const struct budget *budget, const int64_t *sorted, size_t n);

#endif
