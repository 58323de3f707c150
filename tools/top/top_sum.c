// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_sum.c
 * @brief	The facts of many intervals, added up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash_bytes.h"
#include "top_sum.h"

bool top_same_subject(const struct top_fact *a, const struct top_fact *b)
{
	return !a->machine == !b->machine && !a->vcpu == !b->vcpu && a->pcpu == b->pcpu &&
	       a->machine_id == b->machine_id && a->vcpu_id == b->vcpu_id;
}

static uint64_t mix_text(uint64_t key, const char *text)
{
	return text ? hash_bytes(key, text, strlen(text) + 1) : hash_bytes(key, "\1", 1);
}

static uint64_t key_of(const struct top_fact *fact)
{
	const int32_t numbers[] = {
		(int32_t)fact->kind, fact->machine_id, fact->vcpu_id, fact->pcpu, fact->id,
	};
	uint64_t key = hash_bytes(HASH_BYTES_NONE, numbers, sizeof(numbers));

	return mix_text(mix_text(mix_text(key, fact->machine), fact->vcpu), fact->name);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_fact(const struct top_fact *a, const struct top_fact *b)
{
	return a->kind == b->kind && a->id == b->id && top_same_subject(a, b) &&
	       same_text(a->machine, b->machine) && same_text(a->vcpu, b->vcpu) &&
	       same_text(a->name, b->name);
}

/** A copy with names of its own. Return: 0 or -ENOMEM. */
static int copy_fact(struct top_fact *copy, const struct top_fact *fact)
{
	char *machine = fact->machine ? strdup(fact->machine) : NULL;
	char *vcpu = fact->vcpu ? strdup(fact->vcpu) : NULL;
	char *name = fact->name ? strdup(fact->name) : NULL;

	if ((fact->machine && !machine) || (fact->vcpu && !vcpu) || (fact->name && !name)) {
		free(machine);
		free(vcpu);
		free(name);
		return -ENOMEM;
	}
	*copy = *fact;
	copy->machine = machine;
	copy->vcpu = vcpu;
	copy->name = name;
	copy->ns = copy->count = copy->complete = copy->wake_ns = VIRT_NONE;
	copy->known_ns = 0;
	return 0;
}

/** The sum that a fact belongs to. Return: NULL without memory. */
static struct top_fact *find(struct top_sum *sum, const struct top_fact *fact)
{
	struct top_interval *all = &sum->all;
	uint64_t key = key_of(fact);
	int64_t n;

	/* of a fact that another one's key is found for, the next one is tried */
	for (; (n = key_map_find(&sum->map, key)) >= 0; key++)
		if (same_fact(&all->facts[n], fact))
			return &all->facts[n];
	if (key_map_reserve(&sum->map) || ARRAY_GROW(all->facts, all->n, all->room) ||
	    copy_fact(&all->facts[all->n], fact))
		return NULL;
	key_map_add(&sum->map, key);
	return &all->facts[all->n++];
}

static void sum_add(int64_t *sum, int64_t value)
{
	if (value == VIRT_NONE)
		return;
	if (*sum == VIRT_NONE)
		*sum = 0;
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = INT64_MAX;
}

static void free_fact(const struct top_fact *fact)
{
	free((char *)(uintptr_t)fact->machine);
	free((char *)(uintptr_t)fact->vcpu);
	free((char *)(uintptr_t)fact->name);
}

/** Of a fact that another one's key is found for, the next one is taken. */
static uint64_t free_key(const struct top_sum *sum, const struct top_fact *fact)
{
	uint64_t key = key_of(fact);

	while (key_map_find(&sum->map, key) >= 0)
		key++;
	return key;
}

static bool has_machine(const struct key_map *machines, const struct top_fact *fact)
{
	return !fact->machine || key_map_find(machines, (uint32_t)fact->machine_id) >= 0;
}

/** Sums of these machines alone stay. Return: 0, or -ENOMEM, and sums are not found any more. */
static int keep_machines(struct top_sum *sum, const struct key_map *machines)
{
	struct top_interval *all = &sum->all;
	size_t n = 0;
	int ret = 0;

	key_map_destroy(&sum->map);
	for (size_t i = 0; i < all->n; i++) {
		if (!has_machine(machines, &all->facts[i])) {
			free_fact(&all->facts[i]);
			continue;
		}
		all->facts[n] = all->facts[i];
		if (!ret && key_map_add(&sum->map, free_key(sum, &all->facts[n])) < 0)
			ret = -ENOMEM;
		n++;
	}
	all->n = n;
	return ret;
}

/** Return: 0, or -ENOMEM as above. */
static int drop_ended(struct top_sum *sum, const struct top_interval *interval)
{
	struct key_map machines = { 0 };
	bool all_there = true;
	int ret = 0;

	for (size_t i = 0; i < interval->n && !ret; i++)
		if (interval->facts[i].kind == TOP_MACHINE_STATE &&
		    key_map_add(&machines, (uint32_t)interval->facts[i].machine_id) < 0)
			ret = -ENOMEM;
	for (size_t i = 0; i < sum->all.n; i++)
		all_there &= has_machine(&machines, &sum->all.facts[i]);
	if (!ret && !all_there)
		ret = keep_machines(sum, &machines);
	key_map_destroy(&machines);
	return ret;
}

int top_sum_add(struct top_sum *sum, const struct top_interval *interval)
{
	if (!sum->all.to_ns && !sum->all.n)
		sum->all.from_ns = interval->from_ns;
	sum->all.to_ns = interval->to_ns;
	for (size_t i = 0; i < sum->all.n; i++)
		sum->all.facts[i].wake_ns = VIRT_NONE;
	for (size_t i = 0; i < interval->n; i++) {
		const struct top_fact *fact = &interval->facts[i];
		struct top_fact *to = find(sum, fact);

		if (!to)
			return -ENOMEM;
		sum_add(&to->ns, fact->ns);
		sum_add(&to->count, fact->count);
		sum_add(&to->complete, fact->complete);
		to->wake_ns = fact->wake_ns;
		sum_add(&to->known_ns, fact->known_ns);
	}
	return drop_ended(sum, interval);
}

void top_sum_free(struct top_sum *sum)
{
	for (size_t i = 0; i < sum->all.n; i++)
		free_fact(&sum->all.facts[i]);
	free(sum->all.facts);
	trace_notes_free(&sum->all.notes);
	key_map_destroy(&sum->map);
	*sum = (struct top_sum){ 0 };
}
