// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_interval.c
 * @brief	The facts of one interval, which outlive the model that they come from.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

/** While text may move, a name is where it begins in it, and 1. */
static const char *put_text(struct top_interval *interval, const char *text)
{
	size_t size, at = interval->n_text;

	if (!text)
		return NULL;
	size = strlen(text) + 1;
	if (ARRAY_GROW(interval->text, at + size, interval->room_text)) {
		interval->no_memory = true;
		return NULL;
	}
	memcpy(interval->text + at, text, size);
	interval->n_text += size;
	return (const char *)(uintptr_t)(at + 1);
}

static const char *find_text(const struct top_interval *interval, const char *place)
{
	return place ? interval->text + ((uintptr_t)place - 1) : NULL;
}

/** What is being collected. */
struct collection {
	struct top_interval	*interval;
	struct top_fact		given, kept;	/* the last one, with both kinds of names */
};

static void take_fact(void *arg, const struct top_fact *fact)
{
	struct collection *collection = arg;
	struct top_interval *interval = collection->interval;
	struct top_fact kept = *fact;

	/* most facts have the same machine and vCPU as the one before */
	kept.machine = interval->n && fact->machine == collection->given.machine ?
		       collection->kept.machine : put_text(interval, fact->machine);
	kept.vcpu = interval->n && fact->vcpu == collection->given.vcpu ?
		    collection->kept.vcpu : put_text(interval, fact->vcpu);
	kept.name = put_text(interval, fact->name);
	if (ARRAY_GROW(interval->facts, interval->n, interval->room)) {
		interval->no_memory = true;
		return;
	}
	interval->facts[interval->n++] = kept;
	collection->given = *fact;
	collection->kept = kept;
}

int top_interval_collect(struct top_interval *interval,
			 int (*facts)(void *arg, top_fact_fn take, void *taker), void *arg)
{
	struct collection collection = { .interval = interval };
	int ret = facts(arg, take_fact, &collection);

	if (!ret && interval->no_memory)
		ret = -ENOMEM;
	if (ret) {
		top_interval_free(interval);
		return ret;
	}
	for (size_t i = 0; i < interval->n; i++) {
		struct top_fact *fact = &interval->facts[i];

		fact->machine = find_text(interval, fact->machine);
		fact->vcpu = find_text(interval, fact->vcpu);
		fact->name = find_text(interval, fact->name);
	}
	return 0;
}

/** What is reported of a model. */
struct reported {
	struct report		*report;
	const struct ksv_vcpu_set *vcpus;
	unsigned int		scope;		/* set of enum top_scope */
};

static int reported_facts(void *arg, top_fact_fn take, void *taker)
{
	const struct reported *reported = arg;

	return top_facts(reported->report, reported->vcpus, reported->scope, take, taker);
}

int top_interval_make(struct top_interval *interval, struct report *report,
		      const struct ksv_vcpu_set *vcpus, unsigned int scope)
{
	struct reported reported = { .report = report, .vcpus = vcpus, .scope = scope };

	*interval = (struct top_interval){ .from_ns = report->from_ns, .to_ns = report->to_ns };
	return top_interval_collect(interval, reported_facts, &reported);
}

size_t top_interval_bytes(const struct top_interval *interval)
{
	return sizeof(*interval) + interval->room * sizeof(*interval->facts) + interval->room_text;
}

void top_interval_free(struct top_interval *interval)
{
	free(interval->facts);
	free(interval->text);
	trace_notes_free(&interval->notes);
	*interval = (struct top_interval){ 0 };
}
