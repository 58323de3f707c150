// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_result.c
 * @brief	The results of a comparison: statistics, differences, and whether they are noise.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "escape.h"
#include "hash_bytes.h"
#include "options.h"

#define MEDIAN		500	/* per mille */

int compare_judged(const struct compare_options *options)
{
	int kind = 0;

	while (kind + 1 < STATS_N && !options->kinds[kind])
		kind++;
	return kind;
}

/** A seed of its own for each difference, that does not depend on which others there are. */
static uint64_t seed_of(uint64_t seed, const char *metric, const char *run)
{
	const char *const texts[] = { metric, run };
	uint64_t hash = HASH_BYTES_NONE ^ seed;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		hash = hash_bytes(hash, texts[i], strlen(texts[i]));
		hash = hash_bytes(hash, "\xff", 1);
	}
	return hash;
}

bool compare_has_too_few(const struct compare_set *set, int kind)
{
	return set->n && stats_per_mille(kind) > MEDIAN && set->n < stats_least_values(kind);
}

static void describe(struct compare_set *set, const struct compare_options *options,
		     struct stats_sample *sample)
{
	struct stats_interval interval[STATS_N];

	stats_sort(set->values, set->n);
	*sample = (struct stats_sample){ .sorted = set->values, .n = set->n };
	stats_describe(set->values, set->n, options->percentile, sample->value);
	stats_intervals(set->values, set->n, options->confidence, sample->value, interval);
	for (int kind = 0; kind < STATS_N; kind++)
		set->cells[kind] = (struct compare_cell){
			.value = compare_has_too_few(set, kind) ? NAN : sample->value[kind],
			.interval = interval[kind], .percent = NAN,
			.difference = { STATS_UNKNOWN, { NAN, NAN }, { NAN, NAN } },
		};
}

/** Fill a run's cells. @base: the baseline. Return: 0 or -ENOMEM. */
static int evaluate(struct compare_set *set, const struct compare_set *baseline,
		    const struct stats_sample *base,
		    const struct compare_options *options, const struct stats_method *method)
{
	struct stats_difference difference[STATS_N];
	struct stats_sample sample;
	int ret;

	describe(set, options, &sample);
	ret = stats_differences(base, &sample, method, difference);
	for (int kind = 0; kind < STATS_N && !ret; kind++) {
		set->cells[kind].percent = stats_percent(baseline->cells[kind].value,
							 set->cells[kind].value);
		set->cells[kind].difference = difference[kind];
	}
	return ret;
}

static void count_judged(struct compare *compare)
{
	compare->n_judged = 0;
	for (int i = 0; i < compare->n_metrics; i++)
		for (int run = 1; run < compare->n_runs; run++)
			compare->n_judged += compare->metrics[i]->sets[0].n > 1 &&
					     compare->metrics[i]->sets[run].n > 1;
}

double compare_confidence(const struct compare *compare, const struct compare_options *options)
{
	size_t n = options->joint ? compare->n_judged : 1;

	return n > 1 ? 1 - (1 - options->confidence) / (double)n : options->confidence;
}

static struct stats_method method_of(const struct compare *compare,
				     const struct compare_options *options)
{
	struct stats_method method = {
		.percentile = options->percentile, .resamples = options->resamples,
		.confidence = compare_confidence(compare, options),
	};

	for (int kind = 0; kind < STATS_N; kind++)
		method.left_out[kind] = !options->kinds[kind] &&
					!(options->record_cost && kind == STATS_MEAN);
	return method;
}

static double work_of(const struct compare *compare, const struct compare_options *options)
{
	const struct stats_method method = method_of(compare, options);
	double work = 0;

	for (int i = 0; i < compare->n_metrics; i++) {
		const struct compare_set *sets = compare->metrics[i]->sets;

		for (int run = 1; run < compare->n_runs; run++)
			work += stats_work(sets[0].n, sets[run].n, &method);
	}
	return work;
}

/** Work that takes about a second at most, and per byte 2 us. --joint asks for more of it. */
#define WORK		1.1e8
#define WORK_PER_BYTE	100
#define JOINT_FACTOR	4

int compare_plan(struct compare *compare, struct compare_options *options)
{
	double most = (WORK + WORK_PER_BYTE * (double)compare->bytes) *
		      (options->joint ? JOINT_FACTOR : 1);

	count_judged(compare);
	if (options->resamples)
		return 0;
	for (size_t n = COMPARE_RESAMPLES; n >= COMPARE_LEAST_RESAMPLES; n = n * 4 / 5) {
		options->resamples = n;
		if (work_of(compare, options) <= most)
			return 0;
	}
	return -E2BIG;
}

int compare_evaluate(struct compare *compare, const struct compare_options *options)
{
	struct stats_method method;
	int ret = 0;

	count_judged(compare);
	method = method_of(compare, options);
	for (int i = 0; i < compare->n_metrics && !ret; i++) {
		struct compare_metric *metric = compare->metrics[i];
		struct stats_sample base;

		describe(&metric->sets[0], options, &base);
		for (int run = 1; run < compare->n_runs && !ret; run++) {
			method.seed = seed_of(options->seed, metric->name, compare->runs[run]);
			ret = evaluate(&metric->sets[run], &metric->sets[0], &base, options,
				       &method);
		}
	}
	return ret;
}

const char *compare_verdict_name(enum stats_verdict verdict)
{
	static const char *const names[] = {
		[STATS_UNKNOWN] = "unknown",
		[STATS_TOO_FEW] = "too few values",
		[STATS_SAME] = "within noise",
		[STATS_DIFFERENT] = "different",
	};

	return names[verdict];
}

/** Why nothing can be said of a difference. */
static void reason(const struct compare_metric *metric, int run, int kind, char *text, size_t size)
{
	const struct compare_set *base = &metric->sets[0], *set = &metric->sets[run];
	unsigned int least = stats_least_values(kind);

	if (compare_is_unknown(set))
		snprintf(text, size, "unknown: %s", set->unknown);
	else if (compare_is_unknown(base))
		snprintf(text, size, "unknown in the baseline: %s", base->unknown);
	else if (!set->n)
		snprintf(text, size, "no values");
	else if (!base->n)
		snprintf(text, size, "the baseline has no values");
	else if (set->cells[kind].difference.verdict == STATS_UNKNOWN && set->n > 1 && base->n > 1)
		snprintf(text, size, "not defined for these values");
	else if (set->n < 2 || base->n < 2)
		snprintf(text, size, "one value does not show the noise");
	else if (set->n < least || base->n < least)
		snprintf(text, size, "too few values to decide: at least %u are needed in each run",
			 least);
	else
		snprintf(text, size, "too few values to decide");
}

/** What became of the baseline, and with which interval. */
static void describe_change(const struct compare_cell *cell, double base, double confidence,
			    char *change, size_t change_size, char *interval, size_t interval_size)
{
	struct stats_interval percent = cell->difference.percent, plain = cell->difference.interval;

	*interval = '\0';
	if (!isnan(cell->percent) && !isnan(percent.low)) {
		snprintf(change, change_size, "%+.2f %%", cell->percent);
		snprintf(interval, interval_size, " (%.6g %% interval %+.2f %% to %+.2f %%)",
			 100 * confidence, percent.low, percent.high);
		return;
	}
	/* from 0, or from next to nothing, there are no per cent */
	snprintf(change, change_size, "%.6g -> %.6g", base, cell->value);
	if (!isnan(plain.low))
		snprintf(interval, interval_size,
			 " (%.6g %% interval of the difference %+.6g to %+.6g)", 100 * confidence,
			 plain.low, plain.high);
}

const char *compare_effect(const struct compare_metric *metric, int run, int kind)
{
	double base = metric->sets[0].cells[kind].value;
	double value = metric->sets[run].cells[kind].value;

	/* a spread is no goal by itself */
	if (kind == STATS_STDDEV || metric->better == COMPARE_UNJUDGED ||
	    metric->sets[run].cells[kind].difference.verdict != STATS_DIFFERENT)
		return NULL;
	return (value > base) == (metric->better == COMPARE_HIGHER) ? "better" : "worse";
}

void compare_sentence(const struct compare *compare, const struct compare_metric *metric, int run,
		      const struct compare_options *options, char *text, size_t size)
{
	int kind = compare_judged(options);
	const struct compare_cell *cell = &metric->sets[run].cells[kind];
	double base = metric->sets[0].cells[kind].value;
	const char *effect = compare_effect(metric, run, kind);
	char change[80], interval[640];

	describe_change(cell, base, compare_confidence(compare, options), change, sizeof(change),
			interval, sizeof(interval));
	switch (cell->difference.verdict) {
	case STATS_SAME:
		text_format(text, size, "%s: %s %s: within noise%s", compare->runs[run],
			    stats_name(kind), change, interval);
		break;
	case STATS_DIFFERENT:
		text_format(text, size, "%s: %s %s: %s than %s by more than noise%s%s%s",
			    compare->runs[run], stats_name(kind), change,
			    cell->value > base ? "higher" : "lower", compare->runs[0],
			    effect ? ", which is " : "", effect ? effect : "", interval);
		break;
	default:
		reason(metric, run, kind, interval, sizeof(interval));
		text_format(text, size, "%s: %s: %s", compare->runs[run], stats_name(kind),
			    interval);
	}
}

static const struct compare_metric *named(const struct compare *compare, const char *name)
{
	for (int i = 0; i < compare->n_metrics; i++)
		if (!strcmp(compare->metrics[i]->name, name))
			return compare->metrics[i];
	return NULL;
}

/** ns per record, if work takes @percent longer. */
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
	struct stats_interval percent;
	double rate;

	*cost = (struct compare_record_cost){ NAN, { NAN, NAN }, NULL };
	if (!work || !work->sets[0].n || !work->sets[run].n) {
		cost->unknown = "no values of the work";
		return;
	}
	if (!rates || !rates->sets[run].n) {
		cost->unknown = "no trace has the number of records";
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
	percent = cell->difference.percent;
	if (isnan(percent.low) || percent.low <= -100)
		return;
	cost->interval.low = cost_of(percent.low, rate);
	cost->interval.high = cost_of(percent.high, rate);
}

int compare_status(const struct compare *compare, const struct compare_options *options)
{
	int kind = compare_judged(options);
	bool too_few = false, decided = false;

	for (int i = 0; i < compare->n_metrics; i++) {
		const struct compare_set *sets = compare->metrics[i]->sets;

		for (int run = 1; run < compare->n_runs; run++) {
			const bool unknown[] = {
				compare_is_unknown(&sets[0]), compare_is_unknown(&sets[run]),
			};

			switch (sets[run].cells[kind].difference.verdict) {
			case STATS_DIFFERENT:
				return KSV_EXIT_FINDINGS;
			case STATS_SAME:
				decided = true;
				break;
			default:
				/* what one of both was not recorded with, or what is asked for */
				too_few |= unknown[0] != unknown[1] ||
					   (options->asked && unknown[1]);
				/* what a trace has one value of is no matter of more values */
				too_few |= sets[0].n > 1 && sets[run].n > 1;
			}
		}
	}
	return too_few || !decided ? KSV_EXIT_UNKNOWN : KSV_EXIT_OK;
}
