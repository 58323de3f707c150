// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_conditions.c
 * @brief	Find other differences between two runs, which alone may explain the difference of
 *		their values.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "escape.h"

/** Below it, a mean frequency is taken to be the same. */
#define FREQUENCY_PERCENT	5
/** Load averages differ if they do so by both. */
#define LOAD_DIFFERENCE		1.0
#define LOAD_FACTOR		1.25

bool compare_knows_frequency(const struct compare_conditions *conditions)
{
	/* of the smaller half of its time, it would say little of the rest */
	return conditions->known_ns > 0 && conditions->known_ns >= conditions->ran_ns / 2;
}

double compare_mean_khz(const struct compare_conditions *conditions)
{
	return compare_knows_frequency(conditions) ?
	       conditions->khz_ns / (double)conditions->known_ns : NAN;
}

const char *compare_fact_key(enum compare_fact fact)
{
	static const char *const keys[COMPARE_N_FACTS] = {
		[COMPARE_GOVERNOR] = "governors", [COMPARE_KERNEL] = "kernels",
		[COMPARE_MACHINE] = "machines", [COMPARE_PROGRAM] = "programs",
		[COMPARE_SETTINGS] = "settings",
	};

	return keys[fact];
}

static bool has_key(const struct compare_facts *facts, const char *key)
{
	for (int i = 0; i < facts->n; i++)
		if (!strcmp(facts->all[i].key, key))
			return true;
	return false;
}

static bool has_fact(const struct compare_facts *facts, const char *key, const char *text)
{
	for (int i = 0; i < facts->n; i++)
		if (!strcmp(facts->all[i].key, key) && !strcmp(facts->all[i].text, text))
			return true;
	return false;
}

/** The key of a fact of @a that @b contradicts; NULL: there is none. Unknown facts do not. */
static const char *other_fact(const struct compare_facts *a, const struct compare_facts *b)
{
	for (int i = 0; i < a->n && !b->incomplete; i++)
		if (has_key(b, a->all[i].key) && !has_fact(b, a->all[i].key, a->all[i].text))
			return a->all[i].key;
	return NULL;
}

static bool other_frequency(const struct compare_conditions *a, const struct compare_conditions *b)
{
	return compare_knows_frequency(a) && compare_knows_frequency(b) &&
	       fabs(compare_mean_khz(a) / compare_mean_khz(b) - 1) * 100 > FREQUENCY_PERCENT;
}

double compare_mean_load(const struct compare_conditions *conditions)
{
	return conditions->n_loads ? conditions->load / conditions->n_loads : NAN;
}

static bool other_load(const struct compare_conditions *a, const struct compare_conditions *b)
{
	double low = fmin(compare_mean_load(a), compare_mean_load(b));
	double high = fmax(compare_mean_load(a), compare_mean_load(b));

	return a->n_loads && b->n_loads && high - low > LOAD_DIFFERENCE &&
	       high > LOAD_FACTOR * low;
}

static void put_facts(char *text, size_t size, const struct compare_facts *facts, const char *key)
{
	size_t n = 0;

	*text = '\0';
	for (int i = 0; i < facts->n && n < size; i++)
		if (!strcmp(facts->all[i].key, key))
			n += (size_t)text_format(text + n, size - n, "%s%s", n ? ", " : "",
						 facts->all[i].text);
}

/** How a sentence names the facts of a kind; the key of the fact may come first. */
static const struct {
	const char	*words;
	bool		keyed;
} fact_words[COMPARE_N_FACTS] = {
	[COMPARE_GOVERNOR] = { "its CPUs' governor is", false },
	[COMPARE_KERNEL] = { "its kernel is", false },
	[COMPARE_MACHINE] = { "its machine has", false },
	[COMPARE_PROGRAM] = { "its version is", true },
	[COMPARE_SETTINGS] = { "it ran with", true },
};

static bool fact_differs(const struct compare *compare, int run, enum compare_fact fact,
			 char *text, size_t size)
{
	const struct compare_facts *base = &compare->conditions[0].facts[fact];
	const struct compare_facts *other = &compare->conditions[run].facts[fact];
	const char *key = other_fact(base, other);
	bool keyed = fact_words[fact].keyed;
	char before[200], now[200];

	if (!key)
		key = other_fact(other, base);
	if (!key)
		return false;
	put_facts(before, sizeof(before), base, key);
	put_facts(now, sizeof(now), other, key);
	text_format(text, size, "%s: %s%s%s %s, that of %s is %s: this alone may explain "
		    "differences", compare->runs[run], keyed ? key : "", keyed ? ": " : "",
		    fact_words[fact].words, now, compare->runs[0], before);
	return true;
}

bool compare_confounder(const struct compare *compare, int run, enum compare_confounder what,
			char *text, size_t size)
{
	const struct compare_conditions *base = &compare->conditions[0];
	const struct compare_conditions *other = &compare->conditions[run];

	if ((int)what < COMPARE_N_FACTS)
		return fact_differs(compare, run, (enum compare_fact)what, text, size);
	if (what == COMPARE_LOAD && other_load(base, other)) {
		text_format(text, size, "%s: its load average was %.2f, that of %s %.2f: this "
			    "alone may explain differences", compare->runs[run],
			    compare_mean_load(other), compare->runs[0], compare_mean_load(base));
		return true;
	}
	if (what != COMPARE_FREQUENCY || !other_frequency(base, other))
		return false;
	text_format(text, size, "%s: the mean frequency of its vCPUs was %.3f GHz, that of %s "
		    "%.3f: this alone may explain differences", compare->runs[run],
		    compare_mean_khz(other) / 1e6, compare->runs[0], compare_mean_khz(base) / 1e6);
	return true;
}
