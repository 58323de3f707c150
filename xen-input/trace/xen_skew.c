// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_skew.c
 * @brief	Detect TSC differences between pCPUs from contradicting runstate changes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "key_map.h"
#include "xen_running.h"
#include "xen_skew.h"

/** More broken changes than this share of the good ones are worth a word. */
#define BROKEN_SHARE	0.05

/** TSCs further apart (tens of ms) mix up records until single pairs prove nothing. */
#define MAX_SKEW	(1ULL << 26)

/** One runstate change of a vCPU. */
struct change {
	uint64_t	tsc;
	uint16_t	pcpu;
	uint8_t		old, new;
};

/** The chain of a vCPU. */
struct chain {
	struct change	last;		/* the link that the next one must fit */
	struct change	early;		/* came before the link that must precede it */
	uint32_t	epoch;		/* last is known only if this is the current one */
	bool		has_early;
	bool		first;		/* last is the only link */
};

/** What all links from one pCPU to another prove. */
struct bound {
	int64_t		min_cycles;	/* smallest TSC difference, effect - cause */
};

struct xen_skew {
	struct key_map	vcpus;
	struct chain	*chains;	/* by number in vcpus */
	uint32_t	room_chains;
	struct key_map	pairs;		/* from << 16 | to */
	struct bound	*bounds;	/* by number in pairs */
	uint32_t	room_bounds;
	uint32_t	epoch;
	bool		out_of_memory;
	struct xen_skew_summary summary;
};

struct xen_skew *xen_skew_new(void)
{
	struct xen_skew *skew = calloc(1, sizeof(*skew));

	if (skew)
		skew->epoch = 1;
	return skew;
}

void xen_skew_free(struct xen_skew *skew)
{
	if (!skew)
		return;
	key_map_destroy(&skew->vcpus);
	key_map_destroy(&skew->pairs);
	free(skew->chains);
	free(skew->bounds);
	free(skew);
}

static struct chain *chain_of(struct xen_skew *skew, uint32_t vcpu)
{
	int64_t i = KEY_MAP_ELEMENT(&skew->vcpus, vcpu, skew->chains, skew->room_chains);

	if (i < 0) {
		skew->out_of_memory = true;
		return NULL;
	}
	return &skew->chains[i];
}

/** @cause happened before @effect, whatever their TSCs say. */
static void add_link(struct xen_skew *skew, const struct change *cause, const struct change *effect)
{
	bool contradiction = effect->tsc < cause->tsc;
	uint64_t apart = contradiction ? cause->tsc - effect->tsc : effect->tsc - cause->tsc;
	int64_t cycles = apart > INT64_MAX ? INT64_MAX : (int64_t)apart;
	uint32_t before = skew->pairs.n_keys;
	int64_t i;

	if (cause->pcpu == effect->pcpu)
		return;
	i = KEY_MAP_ELEMENT(&skew->pairs, (uint32_t)cause->pcpu << 16 | effect->pcpu,
			    skew->bounds, skew->room_bounds);
	if (i < 0) {
		skew->out_of_memory = true;
		return;
	}
	if (contradiction)
		cycles = -cycles;
	if (skew->pairs.n_keys != before || cycles < skew->bounds[i].min_cycles)
		skew->bounds[i].min_cycles = cycles;
	skew->summary.links++;
	if (!contradiction)
		return;
	skew->summary.contradictions++;
	if (apart > skew->summary.worst_cycles) {
		skew->summary.worst_cycles = apart;
		skew->summary.worst_from = cause->pcpu;
		skew->summary.worst_to = effect->pcpu;
	}
}

/**
 * Append to a chain. What came too early must fit right behind it, from another pCPU and after a
 * short while; otherwise a change is missing from the trace, and no order is to be had.
 */
static void append(struct xen_skew *skew, struct chain *chain, const struct change *change)
{
	add_link(skew, &chain->last, change);
	chain->last = *change;
	chain->first = false;
	if (!chain->has_early)
		return;
	chain->has_early = false;
	if (chain->early.old == change->new && chain->early.pcpu != change->pcpu &&
	    change->tsc - chain->early.tsc < MAX_SKEW) {
		add_link(skew, change, &chain->early);
		chain->last = chain->early;
	} else {
		skew->summary.broken++;
	}
}

void xen_skew_take(struct xen_skew *skew, const struct xentrace_record *rec)
{
	struct change change;
	struct chain *chain;

	if (rec->event == XEN_TRC_LOST_RECORDS || (rec->flags & XENTRACE_AFTER_GAP))
		skew->epoch++;
	if (!xen_event_is_runstate_change(rec->event) || !rec->n_words ||
	    xen_vcpu_is_idle(xentrace_word(rec, 0)))
		return;
	chain = chain_of(skew, xentrace_word(rec, 0));
	if (!chain)
		return;
	change = (struct change){
		.tsc = rec->tsc, .pcpu = rec->pcpu,
		.old = xen_runstate_old(rec->event), .new = xen_runstate_new(rec->event),
	};
	if (chain->epoch != skew->epoch) {
		*chain = (struct chain){ .last = change, .epoch = skew->epoch, .first = true };
	} else if (change.old == chain->last.new) {
		append(skew, chain, &change);
	} else if (chain->first) {
		/* was it the first one that came too early, or this one? begin again */
		chain->epoch = 0;
	} else if (!chain->has_early) {
		chain->early = change;
		chain->has_early = true;
	} else {
		skew->summary.broken++;
		chain->last = change;
		chain->has_early = false;
	}
}

void xen_skew_summary(const struct xen_skew *skew, struct xen_skew_summary *summary)
{
	*summary = skew->summary;
}

int xen_skew_correction(const struct xen_skew *skew, int64_t *offset, int n_pcpus)
{
	int64_t smallest = 0;
	bool changed = true;

	if (skew->out_of_memory)
		return -ENOMEM;
	if (!skew->summary.contradictions)
		return -ENODATA;
	for (int i = 0; i < n_pcpus; i++)
		offset[i] = 0;
	/*
	 * cause + offset[from] <= effect + offset[to]: difference constraints, solved as shortest
	 * paths (Bellman-Ford); a negative cycle is a contradiction that no offsets resolve.
	 */
	for (int round = 0; changed && round <= n_pcpus; round++) {
		changed = false;
		for (uint32_t i = 0; i < skew->pairs.n_keys; i++) {
			uint32_t from = skew->pairs.keys[i] >> 16;
			uint32_t to = skew->pairs.keys[i] & 0xffff;
			int64_t most;

			if (from >= (uint32_t)n_pcpus || to >= (uint32_t)n_pcpus ||
			    __builtin_add_overflow(offset[to], skew->bounds[i].min_cycles, &most))
				continue;
			if (offset[from] > most) {
				offset[from] = most;
				changed = true;
			}
		}
	}
	if (changed)
		return -ERANGE;
	for (int i = 0; i < n_pcpus; i++)
		if (offset[i] < smallest)
			smallest = offset[i];
	for (int i = 0; i < n_pcpus; i++)
		offset[i] -= smallest;
	return 0;
}

int xen_skew_text(char *buf, size_t size, const struct xen_skew *skew)
{
	const struct xen_skew_summary *s = &skew->summary;

	if (s->broken > BROKEN_SHARE * s->links && s->broken > s->contradictions)
		return snprintf(buf, size, "%llu runstate changes (beside %llu that follow each "
				"other) contradict the state before: the pCPUs' TSCs are far "
				"apart, or many records are missing; do not trust the order of "
				"events on different pCPUs", (unsigned long long)s->broken,
				(unsigned long long)s->links);
	if (!s->contradictions)
		return snprintf(buf, size, "%s", "");
	return snprintf(buf, size, "the TSCs of the pCPUs differ: %llu of %llu runstate changes "
			"that follow each other on two pCPUs are in the wrong order, by up to "
			"%llu cycles (pCPU %u to pCPU %u); XEN_TSC_SKEW=correct or "
			"--correct-skew shifts the pCPUs against each other",
			(unsigned long long)s->contradictions, (unsigned long long)s->links,
			(unsigned long long)s->worst_cycles, s->worst_from, s->worst_to);
}
