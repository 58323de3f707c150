// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_result.c
 * @brief	What comes of a comparison: statistics, differences, and whether they are noise.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "options.h"

int compare_judged(const struct compare_options *options)
{
	int kind = 0;

	while (kind + 1 < STATS_N && !options->kinds[kind])
		kind++;
	return kind;
}

/** A seed of its own for each set, that does not depend on which others there are. */
static uint64_t seed_of(uint64_t seed, const char *metric, const char *run)
{
	const char *const texts[] = { metric, run };
	uint64_t hash = 0xcbf29ce484222325u ^ seed;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (const char *c = texts[i]; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
		hash = (hash ^ 0xff) * 0x100000001b3u;
	}
	return hash;
}

static void fill_cell(struct compare_cell *cell, const struct compare_cell *base,
		      const struct stats_resamples *resamples,
		      const struct stats_resamples *base_resamples, int kind,
		      const struct compare_options *options)
{
	cell->interval = stats_interval(resamples, kind, options->confidence);
	cell->percent = NAN;
	cell->percent_interval = (struct stats_interval){ NAN, NAN };
	cell->verdict = COMPARE_UNKNOWN;
	if (cell == base)
		return;
	cell->percent = stats_percent(base->value, cell->value);
	cell->percent_interval = stats_interval_percent(base_resamples, resamples, kind,
							options->confidence);
	if (isnan(cell->percent) || isnan(cell->percent_interval.low))
		return;
	cell->verdict = cell->percent_interval.low <= 0 && cell->percent_interval.high >= 0 ?
			COMPARE_NOISE : COMPARE_DIFFERENT;
}

/** Fill a run's cells. @base: the baseline's resamples. Return: 0 or -ENOMEM. */
static int evaluate(struct compare_metric *metric, int run, uint64_t seed,
		    struct stats_resamples *base, const struct compare_options *options)
{
	struct compare_set *set = &metric->sets[run];
	struct stats_resamples resamples = { .n = options->resamples };
	double value[STATS_N];
	int ret;

	stats_sort(set->values, set->n);
	stats_describe(set->values, set->n, options->percentile, value);
	ret = stats_bootstrap(set->values, set->n, options->percentile, options->confidence, seed,
			      &resamples);
	if (ret == -ENOMEM)
		return ret;
	for (int kind = 0; kind < STATS_N; kind++) {
		set->cells[kind].value = value[kind];
		fill_cell(&set->cells[kind], &metric->sets[0].cells[kind], &resamples, base, kind,
			  options);
	}
	if (run)
		stats_resamples_free(&resamples);
	else
		*base = resamples;
	return 0;
}

int compare_evaluate(struct compare *compare, const struct compare_options *options)
{
	int ret = 0;

	for (int i = 0; i < compare->n_metrics && !ret; i++) {
		struct compare_metric *metric = compare->metrics[i];
		struct stats_resamples base = { .n = 0 };

		for (int run = 0; run < compare->n_runs && !ret; run++)
			ret = evaluate(metric, run, seed_of(options->seed, metric->name,
							    compare->runs[run]), &base, options);
		stats_resamples_free(&base);
	}
	return ret;
}

const char *compare_verdict_name(enum compare_verdict verdict)
{
	static const char *const names[] = {
		[COMPARE_UNKNOWN] = "unknown",
		[COMPARE_NOISE] = "within noise",
		[COMPARE_DIFFERENT] = "different",
	};

	return names[verdict];
}

/** Why nothing can be said of a difference. */
static const char *reason(const struct compare_metric *metric, int run, int kind)
{
	const struct compare_set *base = &metric->sets[0], *set = &metric->sets[run];

	if (!set->n)
		return "no values";
	if (!base->n)
		return "the baseline has no values";
	if (isnan(set->cells[kind].value) || isnan(base->cells[kind].value))
		return "not defined for these values";
	if (isnan(set->cells[kind].percent))
		return "the baseline is 0, so that there is no percentage";
	if (set->n < 2 || base->n < 2)
		return "one value alone does not tell what is noise";
	return "too uncertain to be told in per cent of the baseline";
}

void compare_sentence(const struct compare *compare, const struct compare_metric *metric, int run,
		      const struct compare_options *options, char *text, size_t size)
{
	int kind = compare_judged(options);
	const struct compare_cell *cell = &metric->sets[run].cells[kind];
	char interval[80];

	snprintf(interval, sizeof(interval), "%g %% interval %+.2f %% to %+.2f %%",
		 100 * options->confidence, cell->percent_interval.low,
		 cell->percent_interval.high);
	if (cell->verdict == COMPARE_NOISE)
		snprintf(text, size, "%s: %s %+.2f %%: within noise (%s)", compare->runs[run],
			 stats_name(kind), cell->percent, interval);
	else if (cell->verdict == COMPARE_DIFFERENT)
		snprintf(text, size, "%s: %s %+.2f %%: %s than %s by more than noise (%s)",
			 compare->runs[run], stats_name(kind), cell->percent,
			 cell->percent > 0 ? "higher" : "lower", compare->runs[0], interval);
	else
		snprintf(text, size, "%s: %s: %s", compare->runs[run], stats_name(kind),
			 reason(metric, run, kind));
}

static const struct compare_metric *named(const struct compare *compare, const char *name)
{
	for (int i = 0; i < compare->n_metrics; i++)
		if (!strcmp(compare->metrics[i]->name, name))
			return compare->metrics[i];
	return NULL;
}

/** ns per record, if work takes so many per cent longer. */
static double cost_of(double percent, double rate)
{
	return percent / (100 + percent) / rate * 1e9;
}

void compare_record_cost(const struct compare *compare, const struct compare_options *options,
			 int run, struct compare_record_cost *cost)
{
	const struct compare_metric *work = named(compare, options->record_cost);
	const struct compare_metric *rates = named(compare, COMPARE_RECORD_RATE);
	const struct compare_cell *cell;
	double rate;

	*cost = (struct compare_record_cost){ NAN, { NAN, NAN }, NULL };
	if (!work || !work->sets[0].n || !work->sets[run].n) {
		cost->unknown = "no values of the work";
		return;
	}
	if (!rates || !rates->sets[run].n) {
		cost->unknown = "no trace tells how many records there were";
		return;
	}
	rate = rates->sets[run].cells[STATS_MEAN].value;
	cell = &work->sets[run].cells[STATS_MEAN];
	if (!(rate > 0) || !(work->sets[0].values[0] > 0) || !(work->sets[run].values[0] > 0) ||
	    isnan(cell->percent)) {
		cost->unknown = "there are no records, or the work takes no time";
		return;
	}
	cost->ns = cost_of(cell->percent, rate);
	if (isnan(cell->percent_interval.low) || cell->percent_interval.low <= -100)
		return;
	cost->interval.low = cost_of(cell->percent_interval.low, rate);
	cost->interval.high = cost_of(cell->percent_interval.high, rate);
}

bool compare_found(const struct compare *compare, const struct compare_options *options)
{
	int kind = compare_judged(options);

	for (int i = 0; i < compare->n_metrics; i++)
		for (int run = 1; run < compare->n_runs; run++)
			if (compare->metrics[i]->sets[run].cells[kind].verdict ==
			    COMPARE_DIFFERENT)
				return true;
	return false;
}
