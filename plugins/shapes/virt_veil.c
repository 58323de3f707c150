// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_veil.c
 * @brief	Compute the parts of KernelShark's graphs that fade.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "search.h"
#include "virt_veil.h"

/** A stretch, and how long all before it are together. */
struct stretch {
	int64_t	from_ns, to_ns, before_ns;
};

struct virt_lost {
	struct stretch	*of;
	size_t		n, room;
};

/** Add one that may follow the last without a gap. Return: 0 or -ENOMEM. */
static int add_stretch(struct virt_lost *lost, int64_t from_ns, int64_t to_ns)
{
	struct stretch *last = lost->n ? &lost->of[lost->n - 1] : NULL;

	if (last && last->to_ns == from_ns) {
		last->to_ns = to_ns;
		return 0;
	}
	if (ARRAY_GROW(lost->of, lost->n, lost->room))
		return -ENOMEM;
	last = lost->n ? &lost->of[lost->n - 1] : NULL;
	lost->of[lost->n++] = (struct stretch){
		from_ns, to_ns, last ? last->before_ns + last->to_ns - last->from_ns : 0,
	};
	return 0;
}

struct virt_lost *virt_lost_new(const struct virt_model *model, int32_t vcpu)
{
	struct virt_interval_range range =
		virt_vcpu_intervals(model, vcpu, virt_model_begin(model), virt_model_end(model));
	struct virt_lost *lost = calloc(1, sizeof(*lost));

	if (!lost)
		return NULL;
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];
		int64_t end_ns = i + 1 < range.n ? interval[1].start_ns : range.end_ns;

		if (!virt_interval_is_lost(interval) || end_ns == interval->start_ns)
			continue;
		if (add_stretch(lost, interval->start_ns, end_ns)) {
			virt_lost_free(lost);
			return NULL;
		}
	}
	return lost;
}

void virt_lost_free(struct virt_lost *lost)
{
	if (lost)
		free(lost->of);
	free(lost);
}

/** How much lies before a time. */
static int64_t lost_before(const struct virt_lost *lost, int64_t ns)
{
	const struct stretch *at;
	size_t i;

	SEARCH_FIRST(i, 0, lost->n, lost->of[i].from_ns < ns);
	if (!i)
		return 0;
	at = &lost->of[i - 1];
	return at->before_ns + (ns < at->to_ns ? ns : at->to_ns) - at->from_ns;
}

int64_t virt_lost_ns(const struct virt_lost *lost, int64_t from_ns, int64_t to_ns)
{
	return to_ns > from_ns ? lost_before(lost, to_ns) - lost_before(lost, from_ns) : 0;
}

/** Each column's share of [from, to). */
static void add_to_columns(const struct virt_shade_window *window, int64_t from_ns, int64_t to_ns,
			   unsigned int state, int64_t (*ns)[VIRT_N_STATES])
{
	int64_t end_ns = window->from_ns + window->column_ns * window->n_columns;

	from_ns = from_ns > window->from_ns ? from_ns : window->from_ns;
	to_ns = to_ns < end_ns ? to_ns : end_ns;
	while (from_ns < to_ns) {
		int64_t i = (from_ns - window->from_ns) / window->column_ns;
		int64_t next_ns = window->from_ns + (i + 1) * window->column_ns;

		next_ns = next_ns < to_ns ? next_ns : to_ns;
		ns[i][state] += next_ns - from_ns;
		from_ns = next_ns;
	}
}

void virt_veil_add(const struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		   const struct virt_shade_window *window, int64_t (*ns)[VIRT_N_STATES])
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, from_ns, to_ns);

	if (window->n_columns < 1 || window->column_ns < 1)
		return;
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];
		int64_t a = interval->start_ns > from_ns ? interval->start_ns : from_ns;
		int64_t b = i + 1 < range.n ? interval[1].start_ns : range.end_ns;
		/* of what is not split, it is known that it is no guest code */
		unsigned int state = interval->state == VIRT_UNKNOWN &&
				     !virt_interval_is_lost(interval) ? VIRT_BLOCKED :
				     interval->state;

		add_to_columns(window, a, b < to_ns ? b : to_ns, state, ns);
	}
}

/** How many parts of a column fade: none only if nothing does, all only if all does. */
static uint8_t fading(const int64_t *ns, int64_t unsplit, enum virt_veil_kind kind, int n_parts)
{
	int64_t all = 0, off = 0, left;
	int parts;

	for (int state = 0; state < VIRT_N_STATES; state++) {
		all += ns[state];
		if (state == VIRT_UNKNOWN)
			off += kind == VIRT_VEIL_OFF_GUEST ? unsplit : 0;
		else if (!virt_state_on_pcpu((unsigned int)state) ||
			 (kind == VIRT_VEIL_OFF_GUEST && state != VIRT_GUEST))
			off += ns[state];
	}
	if (!off)
		return 0;
	parts = virt_shade_share(off, all, n_parts, &left);
	return (uint8_t)(parts ? parts : 1);
}

static int add_run(struct virt_veil_run *runs, int n, int column, uint8_t parts)
{
	if (!parts)
		return n;
	if (n && runs[n - 1].parts == parts && runs[n - 1].first + runs[n - 1].n == column) {
		runs[n - 1].n++;
		return n;
	}
	runs[n] = (struct virt_veil_run){ column, 1, parts };
	return n + 1;
}

int virt_veil(const int64_t (*ns)[VIRT_N_STATES], const struct virt_lost *lost,
	      enum virt_veil_kind kind, const struct virt_shade_window *window,
	      struct virt_veil_run *runs)
{
	int64_t from_ns = window->from_ns;
	int n = 0;

	if (window->n_columns < 1 || window->column_ns < 1 || window->n_parts < 1 ||
	    window->n_parts > VIRT_SHADE_MAX_PARTS)
		return -EINVAL;
	for (int i = 0; i < window->n_columns; i++, from_ns += window->column_ns) {
		int64_t unsplit = 0;

		if (lost && ns[i][VIRT_UNKNOWN])
			unsplit = ns[i][VIRT_UNKNOWN] -
				  virt_lost_ns(lost, from_ns, from_ns + window->column_ns);
		n = add_run(runs, n, i, fading(ns[i], unsplit, kind, window->n_parts));
	}
	return n;
}
