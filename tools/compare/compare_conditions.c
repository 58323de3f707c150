// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_conditions.c
 * @brief	What else differs between two runs, and may alone be why their values do.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

/** Below it, a mean frequency is taken to be the same. */
#define FREQUENCY_PERCENT	5

bool compare_told_frequency(const struct compare_conditions *conditions)
{
	/* of the smaller half of its time, it would say little of the rest */
	return conditions->known_ns > 0 && conditions->known_ns >= conditions->ran_ns / 2;
}

double compare_mean_khz(const struct compare_conditions *conditions)
{
	return compare_told_frequency(conditions) ?
	       conditions->khz_ns / (double)conditions->known_ns : NAN;
}

static bool has_governor(const struct compare_conditions *conditions, const char *name)
{
	for (int i = 0; i < conditions->n_governors; i++)
		if (!strcmp(conditions->governors[i], name))
			return true;
	return false;
}

/** Those that are not told are not said to be others. */
static bool other_governors(const struct compare_conditions *a, const struct compare_conditions *b)
{
	bool other = a->n_governors != b->n_governors;

	for (int i = 0; i < a->n_governors; i++)
		other |= !has_governor(b, a->governors[i]);
	return other && a->n_governors && b->n_governors;
}

static bool other_frequency(const struct compare_conditions *a, const struct compare_conditions *b)
{
	return compare_told_frequency(a) && compare_told_frequency(b) &&
	       fabs(compare_mean_khz(a) / compare_mean_khz(b) - 1) * 100 > FREQUENCY_PERCENT;
}

static size_t put_governors(char *text, size_t size, const struct compare_conditions *conditions)
{
	size_t n = 0;

	*text = '\0';
	for (int i = 0; i < conditions->n_governors && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", i ? ", " : "",
				      conditions->governors[i]);
	return n;
}

bool compare_confounder(const struct compare *compare, int run, enum compare_confounder what,
			char *text, size_t size)
{
	const struct compare_conditions *base = &compare->conditions[0];
	const struct compare_conditions *other = &compare->conditions[run];
	char before[200], now[200];

	if (what == COMPARE_GOVERNORS && other_governors(base, other)) {
		put_governors(before, sizeof(before), base);
		put_governors(now, sizeof(now), other);
		snprintf(text, size, "%s: its CPUs' governor is %s, that of %s is %s: this alone "
			 "may explain differences", compare->runs[run], now, compare->runs[0],
			 before);
		return true;
	}
	if (what != COMPARE_FREQUENCY || !other_frequency(base, other))
		return false;
	snprintf(text, size, "%s: the mean frequency of its vCPUs was %.3f GHz, that of %s %.3f: "
		 "this alone may explain differences", compare->runs[run],
		 compare_mean_khz(other) / 1e6, compare->runs[0], compare_mean_khz(base) / 1e6);
	return true;
}
