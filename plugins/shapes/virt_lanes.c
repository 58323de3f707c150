// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_lanes.c
 * @brief	Lanes of the overview, and graphs beside each other.
 */
#include <stdlib.h>
#include <string.h>

#include "virt_lanes.h"

int64_t virt_lane_badness(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns)
{
	struct virt_totals totals;

	virt_vcpu_totals(model, vcpu, from_ns, to_ns, &totals);
	return totals.ns[VIRT_PREEMPTED] + totals.ns[VIRT_WAKING];
}

static bool has_word(const char *name, const char *word, size_t size)
{
	for (; strlen(name) >= size; name++)
		if (!strncasecmp(name, word, size))
			return true;
	return false;
}

/** Are all words of a filter in one of two names? */
static bool match(const char *name, const char *other, const char *filter)
{
	while (*(filter += strspn(filter, " "))) {
		size_t size = strcspn(filter, " ");

		if (!has_word(name, filter, size) && !has_word(other, filter, size))
			return false;
		filter += size;
	}
	return true;
}

bool virt_lane_matches(const char *name, const char *filter)
{
	return match(name, "", filter);
}

/** A lane and what it is sorted by. */
struct rank {
	size_t	lane;
	int64_t	bad_ns;
};

/** The worst first, of equal ones the one that came first. */
static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->bad_ns != y->bad_ns)
		return x->bad_ns < y->bad_ns ? 1 : -1;
	return (x->lane > y->lane) - (x->lane < y->lane);
}

/** Without memory they stay as they are. */
static void sort_by_badness(const struct virt_lane *lanes, size_t *shown, size_t n)
{
	struct rank *ranks = calloc(n + 1, sizeof(*ranks));

	if (!ranks)
		return;
	for (size_t i = 0; i < n; i++)
		ranks[i] = (struct rank){ shown[i], lanes[shown[i]].bad_ns };
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < n; i++)
		shown[i] = ranks[i].lane;
	free(ranks);
}

size_t virt_lanes_show(const struct virt_lane *lanes, size_t n, enum virt_lane_order order,
		       const char *filter, size_t *shown)
{
	bool filters = filter[strspn(filter, " ")], by_machine = order == VIRT_LANES_BY_MACHINE;
	const struct virt_lane *machine = NULL;
	size_t n_shown = 0;
	bool pending = false;	/* the machine's own lane comes with its first vCPU */

	for (size_t i = 0; i < n; i++) {
		if (lanes[i].vcpu == VIRT_NONE) {
			machine = &lanes[i];
			pending = by_machine;
			if (pending && !filters)
				shown[n_shown++] = i;
			continue;
		}
		if (filters && !match(lanes[i].name, machine ? machine->name : "", filter))
			continue;
		if (pending && filters)
			shown[n_shown++] = (size_t)(machine - lanes);
		pending = false;
		if (!by_machine || filters || !machine || !machine->folded)
			shown[n_shown++] = i;
	}
	if (!by_machine)
		sort_by_badness(lanes, shown, n_shown);
	return n_shown;
}

static bool has(const int *ids, size_t n, int id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

size_t virt_plots_arrange(const struct virt_plots *plots, int *ids)
{
	size_t n = 0;

	for (size_t i = 0; i < plots->n_first; i++)
		if (!has(ids, n, plots->first[i]) &&
		    !has(plots->last, plots->n_last, plots->first[i]))
			ids[n++] = plots->first[i];
	for (size_t i = 0; i < plots->n_shown; i++)
		if (!has(ids, n, plots->shown[i]) &&
		    !has(plots->brought, plots->n_brought, plots->shown[i]) &&
		    !has(plots->last, plots->n_last, plots->shown[i]))
			ids[n++] = plots->shown[i];
	for (size_t i = 0; i < plots->n_last; i++)
		if (!has(ids, n, plots->last[i]))
			ids[n++] = plots->last[i];
	return n;
}
