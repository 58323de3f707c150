// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_detect.c
 * @brief	Detect the dialect of a machine from the hypercalls that it makes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "hyper_detect.h"
#include "hyper_wire.h"

/** Numbers that a sentence names. */
#define MAX_NAMED	6

/** The share of all calls but KVM's own that must make sense: others may call, too. */
#define LEAST_PERCENT	50

/** Clocks that are closer to each other do not show how long a cycle is. */
#define LEAST_NS	INT64_C(1000000000)

/**
 * Does a call look like one of a dialect? Hardly any task has priority 0: what is decoded so is
 * probably a register of another dialect, in which that part is empty.
 */
static bool fits_dialect(const struct hyper_dialect *dialect, const struct hyper_call *call)
{
	struct hyper_event event;

	if (dialect->wire)
		return hyper_wire_fits(call);
	return hyper_decode(dialect, call, &event, NULL) == HYPER_DECODED &&
	       !(hyper_has(&event, HYPER_F_PRIO) && !event.prio);
}

/** What one vCPU says about its clock holds for others that have not said it yet. */
static void learn_reported(struct hyper_tally *tally, uint32_t khz, int64_t time_ns)
{
	if (!khz || (tally->khz.reported && tally->khz_ns <= time_ns))
		return;
	tally->khz.reported = khz;
	tally->khz_ns = time_ns;
}

/**
 * Does a guest believe what cannot be? A vCPU can lose its CPU between the reading of its clock
 * and the call, for some 10 ms; and a guest whose clock is far from the host's has been put
 * back, or stood still.
 */
static bool contradicts(uint64_t khz, uint32_t reported, int64_t ns)
{
	double off = reported ? fabs((double)khz - reported) / reported : NAN;

	return !reported || (off > 1. / 512 + 1e7 / (double)ns && off < 1. / 8);
}

/** Two clocks of a vCPU show how long a cycle is: those that are the farthest from each other. */
static void measure(struct hyper_tally *tally, const struct hyper_call *call,
		    const struct hyper_clock *clock)
{
	const struct hyper_clock_read *first = &tally->first;
	int64_t ns = first->is_there ? call->time_ns - first->time_ns : 0;
	unsigned __int128 khz;

	if (ns < LEAST_NS || ns <= tally->longest_ns)
		return;
	khz = (unsigned __int128)(clock->tsc - first->tsc) * 1000000 / (uint64_t)ns;
	if (!khz || khz > UINT32_MAX)
		return;
	tally->longest_ns = ns;
	tally->khz.measured = contradicts((uint64_t)khz, first->khz, ns) ? (uint32_t)khz : 0;
}

static void learn_khz(struct hyper_tally *tally, const struct hyper_call *call)
{
	struct hyper_clock_read *first = &tally->first;
	struct hyper_clock clock;

	if (!hyper_wire_clock(call, &clock))
		return;
	learn_reported(tally, clock.khz, call->time_ns);
	if (call->vague)
		return;
	if (clock.start || !first->is_there || first->tid != call->tid || clock.tsc < first->tsc)
		*first = (struct hyper_clock_read){ clock.tsc, call->time_ns, clock.khz, call->tid,
						    true };
	measure(tally, call, &clock);
}

int hyper_tally_add(struct hyper_tally *tally, const struct hyper_call *call)
{
	bool foreign = hyper_result_of(call) == HYPER_FOREIGN;
	struct hyper_number_count *number = NULL;
	int64_t i = key_map_find(&tally->map, call->nr);

	if (i < 0 && tally->map.n_keys < HYPER_MAX_NUMBERS) {
		i = KEY_MAP_ELEMENT(&tally->map, call->nr, tally->numbers, tally->room);
		if (i < 0)
			return (int)i;
	}
	tally->calls++;
	learn_khz(tally, call);
	tally->foreign += foreign;
	tally->rest += i < 0;
	if (i >= 0) {
		number = &tally->numbers[i];
		number->nr = call->nr;
		number->count++;
		number->foreign = foreign;
	}
	for (size_t d = 0; hyper_dialects[d] && d < HYPER_MAX_DIALECTS; d++) {
		bool fits = fits_dialect(hyper_dialects[d], call);

		tally->fit[d] += fits;
		if (number)
			number->fit[d] += fits;
	}
	return 0;
}

void hyper_tally_free(struct hyper_tally *tally)
{
	key_map_destroy(&tally->map);
	free(tally->numbers);
	memset(tally, 0, sizeof(*tally));
}

/** Does a number belong to a sentence? @d: a dialect that its calls fit; -1: it is not KVM's own */
static bool is_named(const struct hyper_number_count *number, int d)
{
	return d >= 0 ? number->fit[d] > 0 : !number->foreign;
}

/** As the dialect has it: without a CPU above it, or a sequence number below. */
static uint64_t number_in(const struct hyper_number_count *number, int d)
{
	unsigned int bits = d >= 0 ? hyper_dialects[d]->number_bits : 0;

	if (d >= 0 && hyper_dialects[d]->wire)
		return number->nr >> 8;
	return bits ? number->nr & ((UINT64_C(1) << bits) - 1) : number->nr;
}

static bool was_named(const struct hyper_tally *tally, int d, uint32_t i)
{
	for (uint32_t before = 0; before < i; before++)
		if (is_named(&tally->numbers[before], d) &&
		    number_in(&tally->numbers[before], d) == number_in(&tally->numbers[i], d))
			return true;
	return false;
}

static void name_numbers(FILE *out, const struct hyper_tally *tally, int d)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < tally->map.n_keys; i++) {
		if (!is_named(&tally->numbers[i], d) || was_named(tally, d, i))
			continue;
		if (n < MAX_NAMED)
			fprintf(out, d >= 0 && hyper_dialects[d]->wire ? "%s0x%llx??" : "%s%llu",
				n ? ", " : "",
				(unsigned long long)number_in(&tally->numbers[i], d));
		n++;
	}
	if (n > MAX_NAMED)
		fprintf(out, " and %u more", n - MAX_NAMED);
}

static void describe_choice(FILE *out, const struct hyper_tally *tally, int best, int second)
{
	const struct hyper_dialect *dialect = hyper_dialects[best];
	uint64_t all = tally->calls - tally->foreign;

	fputs("hypercalls ", out);
	name_numbers(out, tally, best);
	fprintf(out, " are those of %s (%s), because %llu of %llu have its numbers and registers "
		"that make sense in it", dialect->name, dialect->about,
		(unsigned long long)tally->fit[best], (unsigned long long)all);
	if (second >= 0 && tally->fit[second] == tally->fit[best])
		fprintf(out, "; they would make as much sense in %s, which --hypertrace=%s takes "
			"them for", hyper_dialects[second]->name, hyper_dialects[second]->name);
}

static void describe_none(FILE *out, const struct hyper_tally *tally, int best)
{
	uint64_t all = tally->calls - tally->foreign;

	if (!all) {
		fputs(tally->calls ? "all of its hypercalls are KVM's own" :
		      "there are no hypercalls in the trace", out);
		return;
	}
	fputs("no dialect is known for hypercalls ", out);
	name_numbers(out, tally, -1);
	if (tally->fit[best])
		fprintf(out, ": only %llu of %llu make sense in %s, which --hypertrace=%s takes "
			"them for", (unsigned long long)tally->fit[best], (unsigned long long)all,
			hyper_dialects[best]->name, hyper_dialects[best]->name);
	else
		fputs("; describe one with --hypertrace=FILE.json", out);
}

const struct hyper_dialect *hyper_detect(const struct hyper_tally *tally, char *text, size_t size)
{
	int best = 0, second = -1;
	char *sentence = NULL;
	bool found;
	size_t length;
	FILE *out;

	for (int d = 1; hyper_dialects[d] && d < HYPER_MAX_DIALECTS; d++) {
		if (tally->fit[d] > tally->fit[best]) {
			second = best;
			best = d;
		} else if (second < 0 || tally->fit[d] > tally->fit[second]) {
			second = d;
		}
	}
	found = tally->fit[best] &&
		tally->fit[best] * 100 >= (tally->calls - tally->foreign) * LEAST_PERCENT;
	out = open_memstream(&sentence, &length);
	if (out && found)
		describe_choice(out, tally, best, second);
	else if (out)
		describe_none(out, tally, best);
	text_format(text, size, "%s", out && !fclose(out) ? sentence : "");
	free(sentence);
	return found ? hyper_dialects[best] : NULL;
}
