// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_spread.c
 * @brief	Make histograms of the costs of a window's moments.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "virt_spread.h"
#include "virt_worst_private.h"

/** Moments between two looks at the wish to stop. */
#define STOP_STEP	65536

/* in tenths of a power of ten */
static const int64_t steps[] = { 10, 15, 20, 30, 50, 70 };

#define N_STEPS		((int)ARRAY_SIZE(steps))

/* ---- bars ---- */

int64_t virt_spread_least(int bar)
{
	int64_t power = 1;

	if (bar <= 0)
		return 0;
	if (bar >= VIRT_SPREAD_BARS)
		return INT64_MAX;
	for (int i = (bar - 1) / N_STEPS; i > 0; i--)
		power *= 10;
	return steps[(bar - 1) % N_STEPS] * power;
}

int virt_spread_bar(int64_t ns)
{
	int lo = 0, hi = VIRT_SPREAD_BARS;

	while (hi - lo > 1) {
		int mid = (lo + hi) / 2;

		if (virt_spread_least(mid) <= ns)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* ---- moments of a kind ---- */

/** A moment's cost, and what it is about. */
struct sample {
	int32_t		what;
	bool		whole;
	int64_t		ns;
};

struct collection {
	const struct virt_worst *worst;
	bool			(*stop)(void *arg);
	void			*arg;
	enum virt_worst_kind	kind;
	struct sample		*samples;
	size_t			n, room;
	int64_t			*ns;		/* room for as many */
};

static int32_t what_of(const struct virt_worst *worst, const struct virt_worst_hit *hit)
{
	if (hit->kind == VIRT_WORST_EXIT)
		return virt_exit_reason(&worst->model->vcpus[hit->vcpu].intervals[hit->index]);
	return hit->kind == VIRT_WORST_IRQ ? worst->irqs[hit->index].vector : VIRT_NONE;
}

static int take(void *arg, const struct virt_worst_hit *hit)
{
	struct collection *all = arg;

	if (all->n % STOP_STEP == 0 && all->stop && all->stop(all->arg))
		return -ECANCELED;
	if (ARRAY_GROW(all->samples, all->n, all->room))
		return -ENOMEM;
	all->samples[all->n++] = (struct sample){
		.what = what_of(all->worst, hit), .whole = hit->whole, .ns = hit->cost_ns,
	};
	return 0;
}

static int compare_whats(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->what > y->what) - (x->what < y->what);
}

static int compare_costs(const void *a, const void *b)
{
	const struct virt_spread_row *x = a, *y = b;

	if (x->dist.ns != y->dist.ns)
		return x->dist.ns > y->dist.ns ? -1 : 1;
	return (x->what > y->what) - (x->what < y->what);
}

/** The row of samples [first, end). */
static int add_row(struct virt_spread *spread, const struct collection *all, size_t first,
		   size_t end, bool together)
{
	struct virt_spread_row *row;
	size_t n = 0;

	if (ARRAY_GROW(spread->rows, spread->n, spread->room))
		return -ENOMEM;
	row = &spread->rows[spread->n++];
	*row = (struct virt_spread_row){
		.kind = all->kind, .all = together, .count = end - first,
		.what = together ? VIRT_NONE : all->samples[first].what,
	};
	for (size_t i = first; i < end; i++) {
		if (!all->samples[i].whole)
			continue;
		row->bars[virt_spread_bar(all->samples[i].ns)]++;
		all->ns[n++] = all->samples[i].ns;
	}
	virt_dist_make(&row->dist, all->ns, n);
	return 0;
}

/** All that has been collected, and what is about one thing by itself. */
static int add_rows(struct virt_spread *spread, struct collection *all)
{
	bool apart = all->kind == VIRT_WORST_EXIT || all->kind == VIRT_WORST_IRQ;
	size_t begin = spread->n + 1;
	int ret;

	free(all->ns);
	all->ns = malloc((all->n + 1) * sizeof(*all->ns));
	ret = all->ns ? add_row(spread, all, 0, all->n, true) : -ENOMEM;
	if (apart && all->n)
		qsort(all->samples, all->n, sizeof(*all->samples), compare_whats);
	for (size_t i = 0, end; apart && i < all->n && !ret; i = end) {
		for (end = i; end < all->n && all->samples[end].what == all->samples[i].what; )
			end++;
		ret = add_row(spread, all, i, end, false);
	}
	if (!ret && all->kind == VIRT_WORST_EXIT)
		qsort(spread->rows + begin, spread->n - begin, sizeof(*spread->rows),
		      compare_costs);
	return ret;
}

/* ---- interrupts ---- */

static bool is_of(const struct virt_worst_query *query, int32_t vcpu)
{
	for (size_t i = 0; i < query->n_of; i++)
		if (query->of[i] == vcpu)
			return true;
	return !query->of;
}

/** The row of a vector, or of all; those of interrupts begin at @first. */
static struct virt_spread_row *row_of(const struct virt_spread *spread, size_t first,
				      int32_t vector)
{
	for (size_t i = first; i < spread->n; i++)
		if (spread->rows[i].what == vector)
			return &spread->rows[i];
	return NULL;
}

/** What became of each, and vectors of which nothing has been seen. */
static int add_results(struct virt_spread *spread, size_t first, const struct virt_worst *worst,
		       const struct virt_worst_query *query)
{
	struct collection none = { .kind = VIRT_WORST_IRQ };
	struct virt_irq_delivery *mine = malloc((worst->n_irqs + 1) * sizeof(*mine));
	struct virt_delivered *delivered = NULL;
	ssize_t n_rows = -ENOMEM;
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; mine && i < worst->n_irqs; i++)
		if (is_of(query, worst->irqs[i].vcpu))
			mine[n++] = worst->irqs[i];
	if (mine)
		n_rows = virt_delivered_new(mine, n, query->from_ns, query->to_ns, &delivered);
	for (ssize_t i = 0; i < n_rows && !ret; i++) {
		struct sample sample = { .what = delivered[i].vector };
		struct virt_spread_row *row = row_of(spread, first, sample.what);

		none.samples = &sample;
		if (!row) {
			ret = add_row(spread, &none, 0, 0, false);
			row = ret ? NULL : &spread->rows[spread->n - 1];
		}
		for (int j = 0; row && j < VIRT_DELIVERY_N_RESULTS; j++)
			row->results[j] = delivered[i].results[j];
	}
	free(delivered);
	free(mine);
	return n_rows < 0 ? (int)n_rows : ret;
}

static int compare_vectors(const void *a, const void *b)
{
	const struct virt_spread_row *x = a, *y = b;

	return (x->what > y->what) - (x->what < y->what);
}

/* ---- all kinds ---- */

static int add_kind(struct virt_spread *spread, struct collection *all,
		    const struct virt_worst_query *query)
{
	struct virt_worst_query mine = *query;
	size_t first = spread->n;
	int ret;

	all->n = 0;
	mine.kinds = 1u << all->kind;
	ret = virt_worst_each(all->worst, &mine, take, all);
	if (!ret)
		ret = add_rows(spread, all);
	if (!ret && all->kind == VIRT_WORST_IRQ && all->worst->n_irqs) {
		ret = add_results(spread, first, all->worst, query);
		/* behind that of all */
		qsort(spread->rows + first + 1, spread->n - first - 1, sizeof(*spread->rows),
		      compare_vectors);
	}
	return ret;
}

struct virt_spread *virt_spread_new(const struct virt_worst *worst,
				    const struct virt_worst_query *query,
				    bool (*stop)(void *arg), void *arg)
{
	struct virt_spread *spread = calloc(1, sizeof(*spread));
	struct collection all = { .worst = worst, .stop = stop, .arg = arg };
	int ret = spread ? 0 : -ENOMEM;

	for (int kind = 0; kind < VIRT_WORST_LOST && !ret; kind++) {
		all.kind = (enum virt_worst_kind)kind;
		if (query->kinds >> kind & 1)
			ret = add_kind(spread, &all, query);
	}
	free(all.samples);
	free(all.ns);
	if (!ret)
		return spread;
	virt_spread_free(spread);
	return NULL;
}

void virt_spread_free(struct virt_spread *spread)
{
	if (!spread)
		return;
	free(spread->rows);
	free(spread);
}
