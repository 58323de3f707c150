// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_worst.c
 * @brief	The worst moments of a trace: costly exits, steal, wake-ups, migrations, losses ...
 *
 * A series holds the items of one kind of one vCPU (or pCPU) in order of time. All items are in one
 * array, series by series. A tree above them has the costliest item of each 16, 256 ... of them, so
 * that the costliest item of a range is found without looking at the others. There may be very many
 * series, most of them empty: each is only two numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "virt_moments.h"
#include "virt_worst_private.h"

#define FANOUT		16

/** @index: interval of the vCPU, migration of the vCPU; loss or write of the model; delivery. */
struct item {
	int64_t		time_ns;
	int64_t		cost_ns;
	uint32_t	index;
	int32_t		vcpu : 31;
	uint32_t	whole : 1;
};

/** The costliest item of a block, of equal ones the first; with its cost, as a copy near by. */
struct top {
	int64_t		cost_ns;
	uint32_t	item;
};

/** Items [first, end). */
struct series {
	uint32_t	first, end;
};

const char *virt_worst_kind_name(enum virt_worst_kind kind)
{
	static const char *const names[VIRT_WORST_N_KINDS] = {
		[VIRT_WORST_EXIT] = "exit",
		[VIRT_WORST_STEAL] = "steal",
		[VIRT_WORST_WAKE] = "wake",
		[VIRT_WORST_MIGRATION] = "migration",
		[VIRT_WORST_IRQ] = "irq",
		[VIRT_WORST_LOST] = "lost",
		[VIRT_WORST_OFFLINE] = "offline",
		[VIRT_WORST_TSC] = "tsc",
	};

	return (unsigned int)kind < VIRT_WORST_N_KINDS ? names[kind] : NULL;
}

const char *virt_worst_kind_list(unsigned int kinds, char *text, size_t size)
{
	size_t n = 0;

	if (size)
		*text = '\0';
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++) {
		unsigned int rest = kinds >> kind;

		if (rest & 1 && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s", !n ? "" :
					      rest == 1 ? " and " : ", ",
					      virt_worst_kind_name((enum virt_worst_kind)kind));
	}
	return text;
}

bool virt_worst_costs(enum virt_worst_kind kind)
{
	return kind != VIRT_WORST_TSC;
}

/* --- making the index ------------------------------------------------------------------------ */

static struct series *series_of(const struct virt_worst *worst, int32_t number, unsigned int kind)
{
	if (number < 0 || number >= worst->n_numbers)
		number = worst->n_numbers;
	return &worst->series[(size_t)number * VIRT_WORST_N_KINDS + kind];
}

/** The first time, it is only counted. */
static void add(struct virt_worst *worst, enum virt_worst_kind kind, int32_t pcpu,
		const struct item *item)
{
	struct series *series = series_of(worst, worst->by_pcpu ? pcpu : item->vcpu, kind);

	if (worst->items)
		worst->items[series->end] = *item;
	series->end++;
}

static void add_exit(struct virt_worst *worst, int32_t vcpu, size_t i)
{
	const struct virt_vcpu_track *track = &worst->model->vcpus[vcpu];
	struct item item = { track->intervals[i].start_ns, 0, (uint32_t)i, vcpu, true };
	size_t end = virt_exit_end(track, i);

	if (!virt_exit_is_complete(track, i, end))
		return;
	if (worst->items)
		item.cost_ns = virt_exit_cost(track, i, end);
	add(worst, VIRT_WORST_EXIT, track->intervals[i].pcpu, &item);
}

/** A wait that begins with interval @i. */
static void add_wait(struct virt_worst *worst, int32_t vcpu, size_t i)
{
	const struct virt_vcpu_track *track = &worst->model->vcpus[vcpu];
	struct item item = { track->intervals[i].start_ns, 0, (uint32_t)i, vcpu, false };
	size_t end = virt_stretch_end(track, i);

	item.cost_ns = virt_time_of(worst->model, track, end) - item.time_ns;
	item.whole = virt_begin_is_shown(worst->model, track, i) && virt_end_is_shown(track, end);
	if (track->intervals[i].state == VIRT_PREEMPTED)
		add(worst, VIRT_WORST_STEAL,
		    track->intervals[virt_longest_part(worst->model, track, i, end)].pcpu, &item);
	else
		add(worst, VIRT_WORST_WAKE, virt_woken_pcpu(track, i, end), &item);
}

/** A pause that begins with interval @i. */
static void add_offline(struct virt_worst *worst, int32_t vcpu, size_t i)
{
	const struct virt_vcpu_track *track = &worst->model->vcpus[vcpu];
	struct item item = { track->intervals[i].start_ns, 0, (uint32_t)i, vcpu, false };
	size_t end = virt_stretch_end(track, i);

	/* it may not have been there yet */
	if (!virt_begin_is_shown(worst->model, track, i) || virt_is_unasked(&track->intervals[i]))
		return;
	item.cost_ns = virt_time_of(worst->model, track, end) - item.time_ns;
	item.whole = virt_end_is_shown(track, end);
	add(worst, VIRT_WORST_OFFLINE, track->intervals[i].pcpu, &item);
}

static void add_migrations(struct virt_worst *worst, int32_t vcpu)
{
	const struct virt_vcpu_track *track = &worst->model->vcpus[vcpu];
	struct virt_arrival arrival = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < track->n_migrations; i++) {
		const struct virt_migration *migration = &track->migrations[i];
		struct item item = { migration->time_ns, 0, (uint32_t)i, vcpu, false };
		bool whole = false;

		if (worst->items) {
			at = virt_migrated_at(track, i ? at + 1 : 0);
			item.cost_ns = virt_migration_cost(worst->model, track, migration, at,
							   &arrival, &whole);
		}
		item.whole = whole;
		add(worst, VIRT_WORST_MIGRATION, migration->to, &item);
	}
}

static void add_moments(struct virt_worst *worst, int32_t vcpu)
{
	const struct virt_vcpu_track *track = &worst->model->vcpus[vcpu];

	for (size_t i = 0; i < track->n; i++) {
		const struct virt_interval *interval = &track->intervals[i];
		unsigned int state = interval->state;
		bool begins = !i || track->intervals[i - 1].state != state;

		if (interval->flags & VIRT_INTERVAL_EXIT)
			add_exit(worst, vcpu, i);
		if (virt_wants_pcpu(state) && begins)
			add_wait(worst, vcpu, i);
		if (state == VIRT_OFFLINE && begins)
			add_offline(worst, vcpu, i);
	}
	add_migrations(worst, vcpu);
}

static void add_others(struct virt_worst *worst)
{
	const struct virt_model *model = worst->model;

	for (size_t i = 0; i < model->n_losses; i++) {
		const struct virt_loss *loss = &model->losses[i];
		struct item item = {
			loss->from_ns, loss->to_ns - loss->from_ns, (uint32_t)i, VIRT_NONE, true,
		};

		add(worst, VIRT_WORST_LOST, loss->pcpu, &item);
	}
	for (size_t i = 0; i < model->n_tsc_writes; i++) {
		const struct virt_tsc_write *write = &model->tsc_writes[i];
		struct item item = { write->time_ns, 0, (uint32_t)i, write->vcpu, true };

		add(worst, VIRT_WORST_TSC, write->pcpu, &item);
	}
	for (size_t i = 0; i < worst->n_irqs; i++) {
		const struct virt_irq_delivery *irq = &worst->irqs[i];
		const struct virt_interval *at = virt_vcpu_at(model, irq->vcpu, irq->inject_ns,
							      NULL);
		struct item item = { irq->inject_ns, 0, (uint32_t)i, irq->vcpu, true };

		if (!at || irq->result ||
		    __builtin_sub_overflow(irq->handler_ns, irq->inject_ns,
					   &item.cost_ns) || item.cost_ns < 0)
			continue;
		add(worst, VIRT_WORST_IRQ, at->pcpu, &item);
	}
}

static void add_all(struct virt_worst *worst)
{
	for (int32_t vcpu = 0; vcpu < worst->model->n_vcpus; vcpu++)
		add_moments(worst, vcpu);
	add_others(worst);
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/** Sort a series, unless it is. */
static void sort_series(struct virt_worst *worst, const struct series *series)
{
	uint32_t i;

	for (i = series->first + 1; i < series->end; i++)
		if (compare_items(&worst->items[i - 1], &worst->items[i]) > 0)
			break;
	if (i < series->end)
		qsort(&worst->items[series->first], series->end - series->first,
		      sizeof(*worst->items), compare_items);
}

/** The costliest item of the block of @level that begins at @i. */
static struct top block_top(const struct virt_worst *worst, int level, uint32_t i, uint32_t size)
{
	return level ? worst->tops[level - 1][i / size] :
		       (struct top){ worst->items[i].cost_ns, i };
}

/** The tree above all items. Return: 0 or -ENOMEM. */
static int build_tree(struct virt_worst *worst)
{
	uint32_t below = worst->n_items, size = 1;

	for (int level = 0; level < VIRT_WORST_MAX_LEVELS && below >= FANOUT; level++) {
		uint32_t n = below / FANOUT;
		struct top *tops = malloc(n * sizeof(*tops));

		if (!tops)
			return -ENOMEM;
		worst->tops[level] = tops;
		for (uint32_t block = 0; block < n; block++) {
			tops[block] = block_top(worst, level, block * FANOUT * size, size);
			for (uint32_t j = 1; j < FANOUT; j++) {
				struct top top = block_top(worst, level,
							   (block * FANOUT + j) * size, size);

				if (top.cost_ns > tops[block].cost_ns)
					tops[block] = top;
			}
		}
		below = n;
		size *= FANOUT;
	}
	return 0;
}

static size_t n_series(const struct virt_worst *worst)
{
	return ((size_t)worst->n_numbers + 1) * VIRT_WORST_N_KINDS;
}

/** All items, counted first and stored then. Return: 0 or -ENOMEM. */
static int fill_series(struct virt_worst *worst)
{
	uint64_t n = 0;

	add_all(worst);
	for (size_t i = 0; i < n_series(worst); i++) {
		uint32_t count = worst->series[i].end;

		worst->series[i] = (struct series){ (uint32_t)n, (uint32_t)n };
		n += count;
		if (n > UINT32_MAX)
			return -ENOMEM;
	}
	worst->n_items = (uint32_t)n;
	worst->items = malloc((n + 1) * sizeof(*worst->items));
	if (!worst->items)
		return -ENOMEM;
	add_all(worst);
	for (size_t i = 0; i < n_series(worst); i++)
		sort_series(worst, &worst->series[i]);
	return build_tree(worst);
}

struct virt_worst *virt_worst_new(const struct virt_model *model, bool by_pcpu,
				  const struct virt_irq_delivery *irqs, size_t n_irqs)
{
	struct virt_worst *worst = calloc(1, sizeof(*worst));

	if (!worst)
		return NULL;
	worst->model = model;
	worst->by_pcpu = by_pcpu;
	worst->n_numbers = by_pcpu ? model->n_pcpus : model->n_vcpus;
	worst->series = calloc(n_series(worst), sizeof(*worst->series));
	worst->irqs = calloc(n_irqs + 1, sizeof(*worst->irqs));
	if (worst->irqs && n_irqs)
		memcpy(worst->irqs, irqs, n_irqs * sizeof(*irqs));
	worst->n_irqs = n_irqs;
	if (worst->series && worst->irqs && !fill_series(worst))
		return worst;
	virt_worst_free(worst);
	errno = ENOMEM;
	return NULL;
}

void virt_worst_free(struct virt_worst *worst)
{
	if (!worst)
		return;
	for (int level = 0; level < VIRT_WORST_MAX_LEVELS; level++)
		free(worst->tops[level]);
	free(worst->items);
	free(worst->series);
	free(worst->irqs);
	free(worst);
}

/* --- asking a range of items ----------------------------------------------------------------- */

/** The highest level whose full block begins at item @i and ends at @hi or before; 0: an item. */
static int level_from(uint32_t i, uint32_t hi, uint32_t *size)
{
	uint64_t next = FANOUT;
	int level = 0;

	*size = 1;
	while (level < VIRT_WORST_MAX_LEVELS && i % next == 0 && i + next <= hi) {
		*size = (uint32_t)next;
		next *= FANOUT;
		level++;
	}
	return level;
}

/** The same for a block that ends before item @i and begins at @lo or later. */
static int level_to(uint32_t i, uint32_t lo, uint32_t *size)
{
	uint64_t next = FANOUT;
	int level = 0;

	*size = 1;
	while (level < VIRT_WORST_MAX_LEVELS && i % next == 0 && i >= lo + next) {
		*size = (uint32_t)next;
		next *= FANOUT;
		level++;
	}
	return level;
}

/** The costliest item of [lo, hi), which is not empty; of equal ones the first. */
static struct top range_top(const struct virt_worst *worst, uint32_t lo, uint32_t hi)
{
	struct top best = block_top(worst, 0, lo, 1);
	uint32_t size;

	for (; lo < hi; lo += size) {
		int level = level_from(lo, hi, &size);
		struct top top = block_top(worst, level, lo, size);

		if (top.cost_ns > best.cost_ns)
			best = top;
	}
	return best;
}

/** The last item of [lo, hi) that costs at least @min_ns; @hi: none. */
static uint32_t last_costly(const struct virt_worst *worst, uint32_t lo, uint32_t hi,
			    int64_t min_ns)
{
	uint32_t none = hi, size;

	for (; lo < hi; hi -= size) {
		int level = level_to(hi, lo, &size);

		while (block_top(worst, level, hi - size, size).cost_ns >= min_ns) {
			if (!level)
				return hi - 1;
			level--;
			size /= FANOUT;
		}
	}
	return none;
}

/** The first item of [lo, hi) at @time_ns or later; @hi: none. */
static uint32_t item_at(const struct virt_worst *worst, uint32_t lo, uint32_t hi, int64_t time_ns)
{
	return (uint32_t)VIRT_FIRST_AT(worst->items, lo, hi, time_ns);
}

/** The same, quicker if it is near item @guess, which is not before @lo. */
static uint32_t item_near(const struct virt_worst *worst, uint32_t lo, uint32_t hi, size_t guess,
			  int64_t time_ns)
{
	size_t first = guess < hi ? guess : hi, end = first, step = 1;

	for (; first > lo && worst->items[first - 1].time_ns >= time_ns; step *= 2) {
		end = first - 1;
		first = end - lo > step ? end - step : lo;
	}
	for (; end < hi && worst->items[end].time_ns < time_ns; step *= 2) {
		first = end + 1;
		end = hi - first > step ? first + step : hi;
	}
	return (uint32_t)VIRT_FIRST_AT(worst->items, first, end, time_ns);
}

static void make_hit(const struct virt_worst *worst, uint32_t i, unsigned int kind,
		     struct virt_worst_hit *hit)
{
	const struct item *item = &worst->items[i];

	*hit = (struct virt_worst_hit){
		.time_ns = item->time_ns, .cost_ns = item->cost_ns, .vcpu = item->vcpu,
		.index = item->index, .kind = (enum virt_worst_kind)kind, .whole = item->whole,
	};
}

static void no_hit(struct virt_worst_hit *hit)
{
	*hit = (struct virt_worst_hit){
		.cost_ns = -1, .vcpu = VIRT_NONE, .kind = VIRT_WORST_N_KINDS,
	};
}

/* --- asking all series of a query ------------------------------------------------------------ */

/** Goes through the series that a query wants. */
struct cursor {
	const struct virt_worst		*worst;
	const struct virt_worst_query	*query;
	size_t				next;
	const struct series		*series;	/* never empty */
	unsigned int			kind;
};

static size_t cursor_length(const struct cursor *cursor)
{
	size_t n = cursor->query->of ? cursor->query->n_of : (size_t)cursor->worst->n_numbers + 1;

	return n * VIRT_WORST_N_KINDS;
}

static bool next_series(struct cursor *cursor)
{
	while (cursor->next < cursor_length(cursor)) {
		size_t i = cursor->next / VIRT_WORST_N_KINDS;
		int32_t number = cursor->query->of ? cursor->query->of[i] : (int32_t)i;

		cursor->kind = cursor->next++ % VIRT_WORST_N_KINDS;
		if (!(cursor->query->kinds >> cursor->kind & 1))
			continue;
		if (cursor->query->of && (number < 0 || number >= cursor->worst->n_numbers))
			continue;
		cursor->series = series_of(cursor->worst, number, cursor->kind);
		if (cursor->series->first < cursor->series->end)
			return true;
	}
	return false;
}

/** The first item of the series, from @lo on, at @time_ns or later. */
static uint32_t cursor_at(const struct cursor *cursor, uint32_t lo, int64_t time_ns)
{
	return item_at(cursor->worst, lo < cursor->series->first ? cursor->series->first : lo,
		       cursor->series->end, time_ns);
}

/** A part of a series and its costliest item. */
struct part {
	const struct virt_worst	*worst;
	unsigned int		kind;
	uint32_t		lo, hi, best;
};

/** Does @a come before @b in the answer? */
static bool is_worse(const struct part *a, const struct part *b)
{
	const struct item *x = &a->worst->items[a->best], *y = &b->worst->items[b->best];

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu;
	return a->kind != b->kind ? a->kind < b->kind : x->index < y->index;
}

struct heap {
	struct part	*parts;		/* the worst one first */
	size_t		n;
};

static void heap_push(struct heap *heap, const struct virt_worst_query *query, struct part part)
{
	if (part.lo >= part.hi)
		return;
	part.best = range_top(part.worst, part.lo, part.hi).item;
	if (part.worst->items[part.best].cost_ns < query->min_ns[part.kind])
		return;
	heap->parts[heap->n] = part;
	HEAP_UP(heap->parts, heap->n, is_worse);
	heap->n++;
}

static struct part heap_pop(struct heap *heap)
{
	struct part top = heap->parts[0];

	heap->parts[0] = heap->parts[--heap->n];
	HEAP_DOWN(heap->parts, heap->n, 0, is_worse);
	return top;
}

/** All that count, whether they overlap or not. */
static ssize_t find_top(const struct virt_worst *worst, const struct virt_worst_query *query,
			struct virt_worst_hit *hits, size_t n)
{
	struct cursor cursor = { .worst = worst, .query = query };
	struct heap heap = { 0 };
	size_t found = 0, items = 0, series = 0;

	while (next_series(&cursor)) {
		items += cursor.series->end - cursor.series->first;
		series++;
	}
	if (n > items)
		n = items;
	/* every one that is taken leaves two parts in its place */
	heap.parts = malloc((series + n + 1) * sizeof(*heap.parts));
	if (!heap.parts)
		return -ENOMEM;
	cursor.next = 0;
	while (next_series(&cursor)) {
		uint32_t lo = cursor_at(&cursor, 0, query->from_ns);
		uint32_t hi = cursor_at(&cursor, lo, query->to_ns);

		heap_push(&heap, query, (struct part){ worst, cursor.kind, lo, hi, 0 });
	}
	while (found < n && heap.n) {
		struct part part = heap_pop(&heap);
		struct part rest = { worst, part.kind, part.best + 1, part.hi, 0 };

		make_hit(worst, part.best, part.kind, &hits[found++]);
		part.hi = part.best;
		heap_push(&heap, query, part);
		heap_push(&heap, query, rest);
	}
	free(heap.parts);
	return (ssize_t)found;
}

/* --- one moment of each incident ------------------------------------------------------------- */

/** Moments that are looked at first, for each that is wanted, and in all. */
#define APART_FIRST	32
#define APART_MOST	(1 << 20)

/** An incident. */
struct incident {
	struct virt_worst_hit	hit;	/* stands for it */
	int64_t			from_ns, to_ns;
	bool			settled;	/* nothing can take the place of @hit */
};

static bool is_wait(enum virt_worst_kind kind)
{
	return kind == VIRT_WORST_STEAL || kind == VIRT_WORST_WAKE;
}

static int compare_incidents(const void *a, const void *b)
{
	const struct virt_worst_hit *x = &((const struct incident *)a)->hit;
	const struct virt_worst_hit *y = &((const struct incident *)b)->hit;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns < y->cost_ns ? 1 : -1;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? 1 : -1;
	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

/** Take a moment into account that is no costlier than those before. Return: the incidents. */
static size_t add_incident(const struct virt_worst *worst, const struct virt_worst_hit *hit,
			   struct incident *all, size_t n, size_t most)
{
	struct virt_moment moment;

	if (!virt_worst_describe(worst, hit, &moment))
		return n;
	for (size_t i = 0; i < n; i++) {
		struct incident *incident = &all[i];

		if (hit->vcpu == VIRT_NONE || incident->hit.vcpu != hit->vcpu ||
		    moment.start_ns >= incident->to_ns || moment.end_ns <= incident->from_ns)
			continue;
		if (!incident->settled && is_wait(hit->kind) &&
		    hit->cost_ns >= incident->hit.cost_ns - hit->cost_ns) {
			incident->hit = *hit;
			incident->settled = true;
		}
		return n;
	}
	if (n < most)
		all[n++] = (struct incident){ *hit, moment.start_ns, moment.end_ns,
					      hit->kind != VIRT_WORST_EXIT };
	return n;
}

/** Can cheaper moments than this one still change anything? */
static bool is_settled(const struct incident *all, size_t n, size_t most, int64_t cost_ns)
{
	for (size_t i = 0; i < n; i++)
		if (!all[i].settled && cost_ns >= all[i].hit.cost_ns - cost_ns)
			return false;
	return n == most;
}

static ssize_t find_apart(const struct virt_worst *worst, const struct virt_worst_query *query,
			  struct virt_worst_hit *hits, size_t most)
{
	struct incident *all = calloc(most + 1, sizeof(*all));
	size_t room = most * APART_FIRST, n = 0, done = 0;
	struct virt_worst_hit *found = NULL;
	ssize_t n_found;

	do {
		free(found);
		found = calloc(room + 1, sizeof(*found));
		n_found = all && found ? find_top(worst, query, found, room) : -ENOMEM;
		for (; n_found > 0 && done < (size_t)n_found; done++)
			n = add_incident(worst, &found[done], all, n, most);
		if (n_found < (ssize_t)room || room >= APART_MOST ||
		    is_settled(all, n, most, found[done - 1].cost_ns))
			break;
		room *= 4;
	} while (true);
	if (n_found >= 0) {
		qsort(all, n, sizeof(*all), compare_incidents);
		for (size_t i = 0; i < n; i++)
			hits[i] = all[i].hit;
		n_found = (ssize_t)n;
	}
	free(found);
	free(all);
	return n_found;
}

ssize_t virt_worst_top(const struct virt_worst *worst, const struct virt_worst_query *query,
		       struct virt_worst_hit *hits, size_t n)
{
	return (query->apart && n ? find_apart : find_top)(worst, query, hits, n);
}

int virt_worst_each(const struct virt_worst *worst, const struct virt_worst_query *query,
		    int (*fn)(void *arg, const struct virt_worst_hit *hit), void *arg)
{
	struct cursor cursor = { .worst = worst, .query = query };
	struct virt_worst_hit hit;
	int ret = 0;

	while (!ret && next_series(&cursor)) {
		uint32_t i = cursor_at(&cursor, 0, query->from_ns);
		uint32_t hi = cursor_at(&cursor, i, query->to_ns);

		for (; i < hi && !ret; i++) {
			if (worst->items[i].cost_ns < query->min_ns[cursor.kind])
				continue;
			make_hit(worst, i, cursor.kind, &hit);
			ret = fn(arg, &hit);
		}
	}
	return ret;
}

void virt_worst_columns(const struct virt_worst *worst, const struct virt_worst_query *query,
			struct virt_worst_hit *hits, size_t n)
{
	struct cursor cursor = { .worst = worst, .query = query };
	__int128 width = (__int128)query->to_ns - query->from_ns;

	for (size_t i = 0; i < n; i++)
		no_hit(&hits[i]);
	while (width > 0 && next_series(&cursor)) {
		uint32_t lo = cursor_at(&cursor, 0, query->from_ns), before = lo;

		for (size_t i = 0; i < n && lo < cursor.series->end; i++) {
			int64_t end = (int64_t)(query->from_ns + width * (i + 1) / n);
			/* about as many as in the window before */
			uint32_t hi = item_near(worst, lo, cursor.series->end,
						2 * (size_t)lo - before, end);
			struct top top;

			before = lo;
			if (lo == hi)
				continue;
			top = range_top(worst, lo, hi);
			if (top.cost_ns >= query->min_ns[cursor.kind] &&
			    top.cost_ns > hits[i].cost_ns)
				make_hit(worst, top.item, cursor.kind, &hits[i]);
			lo = hi;
		}
	}
}

bool virt_worst_prev(const struct virt_worst *worst, const struct virt_worst_query *query,
		     int64_t time_ns, struct virt_worst_hit *hit)
{
	struct cursor cursor = { .worst = worst, .query = query };
	int64_t to = time_ns < query->to_ns ? time_ns : query->to_ns;

	no_hit(hit);
	while (next_series(&cursor)) {
		uint32_t lo = cursor_at(&cursor, 0, query->from_ns);
		uint32_t hi = cursor_at(&cursor, lo, to);
		uint32_t i = last_costly(worst, lo, hi, query->min_ns[cursor.kind]);

		if (i < hi && (hit->kind == VIRT_WORST_N_KINDS ||
			       worst->items[i].time_ns > hit->time_ns))
			make_hit(worst, i, cursor.kind, hit);
	}
	return hit->kind != VIRT_WORST_N_KINDS;
}
