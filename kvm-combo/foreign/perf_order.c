// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_order.c
 * @brief	Samples that wait until no earlier one of their CPU can follow.
 */
#include <stdlib.h>

#include "array.h"
#include "perf_order.h"

/** The most entries that wait, and the most bytes of their copies. */
#define MOST_ENTRIES	((size_t)1 << 19)
#define MOST_BYTES	((size_t)32 << 20)

/** A sample, or a loss, which has the time of the sample before it. */
struct entry {
	uint64_t	ts;
	uint64_t	number;		/* in the order of their coming */
	uint64_t	lost;		/* of a loss */
	const uint8_t	*data;		/* NULL: it is a loss */
	uint32_t	size;
	uint16_t	before;		/* bytes in front of @data that belong to it */
	bool		is_copy;
};

struct cpu {
	struct entry	*entries;
	size_t		n, room;
	bool		is_unsorted;
	uint64_t	last_ts;	/* of the sample that came last */
	uint64_t	taken_ts;	/* latest one that does not wait any more */
};

struct perf_order {
	perf_order_fn	take;
	void		*arg;
	struct cpu	*cpus;
	size_t		n_cpus;
	size_t		n_entries, n_bytes;
	uint64_t	number;
	uint64_t	latest;		/* sample so far */
	uint64_t	complete;	/* up to here, nothing can follow after this round */
};

struct perf_order *perf_order_new(perf_order_fn take, void *arg)
{
	struct perf_order *order = calloc(1, sizeof(*order));

	if (order) {
		order->take = take;
		order->arg = arg;
	}
	return order;
}

static void free_entry(struct perf_order *order, struct entry *entry)
{
	if (entry->is_copy) {
		free((void *)(uintptr_t)(entry->data - entry->before));
		order->n_bytes -= (size_t)entry->before + entry->size;
	}
	order->n_entries--;
}

void perf_order_free(struct perf_order *order)
{
	if (!order)
		return;
	for (size_t i = 0; i < order->n_cpus; i++) {
		for (size_t j = 0; j < order->cpus[i].n; j++)
			free_entry(order, &order->cpus[i].entries[j]);
		free(order->cpus[i].entries);
	}
	free(order->cpus);
	free(order);
}

/* --- leaving --------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int take_entry(struct perf_order *order, uint32_t number, struct entry *entry)
{
	struct cpu *cpu = &order->cpus[number];
	bool is_late = entry->data && entry->ts < cpu->taken_ts;
	int ret;

	if (entry->data && entry->ts > cpu->taken_ts)
		cpu->taken_ts = entry->ts;
	ret = order->take(order->arg, number, entry->data ? entry->ts : entry->lost, entry->data,
			  entry->size, entry->before, is_late);
	free_entry(order, entry);
	return ret;
}

/** Let go what is not later than @until, and as much as @least. */
static int let_go(struct perf_order *order, uint32_t number, uint64_t until, size_t least)
{
	struct cpu *cpu = &order->cpus[number];
	size_t i = 0;
	int ret = 0;

	if (cpu->is_unsorted)
		qsort(cpu->entries, cpu->n, sizeof(*cpu->entries), compare_entries);
	cpu->is_unsorted = false;
	while (i < cpu->n && !ret && (cpu->entries[i].ts <= until || i < least))
		ret = take_entry(order, number, &cpu->entries[i++]);
	cpu->n -= i;
	if (i && cpu->n)
		memmove(cpu->entries, cpu->entries + i, cpu->n * sizeof(*cpu->entries));
	return ret;
}

int perf_order_round(struct perf_order *order)
{
	int ret = 0;

	for (size_t i = 0; i < order->n_cpus && !ret; i++)
		ret = let_go(order, (uint32_t)i, order->complete, 0);
	order->complete = order->latest;
	return ret;
}

int perf_order_end(struct perf_order *order)
{
	int ret = 0;

	for (size_t i = 0; i < order->n_cpus && !ret; i++)
		ret = let_go(order, (uint32_t)i, UINT64_MAX, 0);
	order->complete = order->latest = 0;
	return ret;
}

static int make_room(struct perf_order *order)
{
	int ret = 0;

	if (order->n_entries < MOST_ENTRIES && order->n_bytes < MOST_BYTES)
		return 0;
	for (size_t i = 0; i < order->n_cpus && !ret; i++)
		ret = let_go(order, (uint32_t)i, 0, (order->cpus[i].n + 1) / 2);
	return ret;
}

/* --- coming ---------------------------------------------------------------------------------- */

static int add_entry(struct perf_order *order, uint32_t number, const struct entry *entry)
{
	struct cpu *cpu;
	int ret = make_room(order);

	if (ret)
		return ret;
	if (number >= order->n_cpus && ARRAY_REACH(order->cpus, number, order->n_cpus))
		return -ENOMEM;
	cpu = &order->cpus[number];
	if (ARRAY_GROW(cpu->entries, cpu->n, cpu->room))
		return -ENOMEM;
	cpu->entries[cpu->n] = *entry;
	cpu->entries[cpu->n].number = order->number++;
	if (cpu->n && entry->ts < cpu->entries[cpu->n - 1].ts)
		cpu->is_unsorted = true;
	cpu->n++;
	order->n_entries++;
	if (entry->is_copy)
		order->n_bytes += (size_t)entry->before + entry->size;
	return 0;
}

int perf_order_add(struct perf_order *order, uint32_t cpu, uint64_t ts, const uint8_t *data,
		   size_t size, uint16_t before, bool copy)
{
	struct entry entry = {
		.ts = ts, .data = data, .size = (uint32_t)size, .before = before, .is_copy = copy,
	};
	uint8_t *bytes = NULL;
	int ret;

	if (copy) {
		bytes = malloc(before + size + 1);
		if (!bytes)
			return -ENOMEM;
		memcpy(bytes, data - before, before + size);
		entry.data = bytes + before;
	}
	ret = add_entry(order, cpu, &entry);
	if (ret) {
		free(bytes);
		return ret;
	}
	order->cpus[cpu].last_ts = ts;
	if (ts > order->latest)
		order->latest = ts;
	return 0;
}

int perf_order_lost(struct perf_order *order, uint32_t cpu, uint64_t count)
{
	/* its own time may be later than that of the next sample */
	const struct entry entry = {
		.ts = cpu < order->n_cpus ? order->cpus[cpu].last_ts : 0, .lost = count,
	};

	return add_entry(order, cpu, &entry);
}
