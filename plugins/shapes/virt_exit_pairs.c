// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_exit_pairs.c
 * @brief	Put the VM exits of two machines or vCPUs beside each other.
 */
#include <stdlib.h>
#include <string.h>

#include "virt_exit_pairs.h"
#include "virt_needs.h"
#include "virt_text.h"

static struct virt_exit_value number(double value)
{
	return (struct virt_exit_value){ .known = true, .value = value };
}

/** @all_ns: of all reasons */
static void set_side(struct virt_exit_value *values, const struct virt_exit_side *side,
		     uint64_t count, const struct virt_dist *cost, int64_t all_ns)
{
	/* none of them may be whole; without any, they cost nothing */
	bool has_time = virt_model_knows(side->model, VIRT_NUMBER_EXIT_COST) &&
			(cost->count || !count);

	if (!virt_model_knows(side->model, VIRT_NUMBER_EXITS))
		return;
	values[VIRT_EXIT_NUMBER] = number((double)count);
	if (!has_time)
		return;
	values[VIRT_EXIT_TIME] = number((double)cost->ns);
	if (all_ns)
		values[VIRT_EXIT_SHARE] = number(100 * (double)cost->ns / (double)all_ns);
	if (!cost->count)
		return;
	values[VIRT_EXIT_P50] = number((double)cost->p50);
	values[VIRT_EXIT_P99] = number((double)cost->p99);
	values[VIRT_EXIT_MAX] = number((double)cost->max);
}

static const struct virt_window_exit *exit_of(const struct virt_exit_side *side, const char *name)
{
	for (size_t i = 0; i < side->stats->n_reasons; i++)
		if (!strcmp(virt_text_reason(side->model, side->stats->reasons[i].reason), name))
			return &side->stats->reasons[i];
	return NULL;
}

static int64_t all_ns(const struct virt_exit_side *side)
{
	int64_t ns = 0;

	for (size_t i = 0; i < side->stats->n_reasons; i++)
		ns += side->stats->reasons[i].cost.ns;
	return ns;
}

static void set_less(struct virt_exit_pair *pair)
{
	for (int m = 0; m < VIRT_EXIT_N_MEASURES; m++)
		if (pair->values[0][m].known && pair->values[1][m].known)
			pair->less[m] = number(pair->values[1][m].value - pair->values[0][m].value);
}

static void set_pair(struct virt_exit_pair *pair, const struct virt_exit_side sides[2],
		     const char *name)
{
	static const struct virt_window_exit none;

	*pair = (struct virt_exit_pair){ .name = name };
	for (int i = 0; i < 2; i++) {
		const struct virt_window_exit *exit = exit_of(&sides[i], name);

		if (!exit)
			exit = &none;
		set_side(pair->values[i], &sides[i], exit->count, &exit->cost, all_ns(&sides[i]));
	}
	set_less(pair);
}

static double weight(const struct virt_exit_pair *pair, enum virt_exit_measure measure)
{
	double a = pair->values[0][measure].value, b = pair->values[1][measure].value;

	return a > b ? a : b;
}

/** By time; without times by number. */
static int compare_pairs(const void *a, const void *b)
{
	static const enum virt_exit_measure by[] = { VIRT_EXIT_TIME, VIRT_EXIT_NUMBER };
	const struct virt_exit_pair *x = a, *y = b;

	for (size_t i = 0; i < 2; i++) {
		double first = weight(x, by[i]), second = weight(y, by[i]);

		if (first > second || first < second)
			return first > second ? -1 : 1;
	}
	return strcmp(x->name, y->name);
}

size_t virt_exits_compare(const struct virt_exit_side sides[2], struct virt_exit_pair **pairs)
{
	size_t most = 1 + sides[0].stats->n_reasons + sides[1].stats->n_reasons, n = 1;
	struct virt_exit_pair *all = calloc(most, sizeof(*all));

	*pairs = all;
	if (!all)
		return 0;
	for (int i = 0; i < 2; i++)
		set_side(all->values[i], &sides[i], sides[i].stats->exits, sides[i].all,
			 sides[i].all->ns);
	set_less(all);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < sides[i].stats->n_reasons; k++) {
			const char *name = virt_text_reason(sides[i].model,
							    sides[i].stats->reasons[k].reason);

			if (!i || !exit_of(&sides[0], name))
				set_pair(&all[n++], sides, name);
		}
	}
	qsort(all + 1, n - 1, sizeof(*all), compare_pairs);
	return n;
}
