// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_results.c
 * @brief	From the outputs of all runs to values by configuration, and their comparison.
 *
 * A run gives one value of each metric: several values of a metric in one output are not
 * independent of each other, so that intervals of all of them together would be too narrow.
 *
 * Other programs that run for minutes disturb all runs of a round alike. So configurations are
 * compared round by round: the ratio to the baseline of the same round, then the mean of the
 * logarithms of all ratios, with an interval by Student's t.
 */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distribution.h"
#include "escape.h"
#include "regular_file.h"
#include "results.h"
#include "study.h"
#include "virt_statistics.h"
#include "whole_file.h"

/** From this number of values of a metric in one run on, its percentiles count, too. */
#define MANY_VALUES	100

/* --- one output ------------------------------------------------------------------------------ */

/** @formats: bits of those that were recognised */
static bool has_format(unsigned int formats, const char *name)
{
	for (size_t i = 0; results_format_name(i); i++)
		if ((formats >> i & 1) && !strcmp(results_format_name(i), name))
			return true;
	return false;
}

static int add_time(const struct study_run *run, struct compare *values)
{
	int at = compare_run(values, ""), metric = at < 0 ? at : compare_metric(values, "wall_s");

	if (metric < 0)
		return metric;
	values->metrics[metric]->better = COMPARE_LOWER;
	return compare_add(values, at, "wall_s", run->wall_s);
}

int study_read_raw(const struct study *study, const struct study_run *run, struct compare *values,
		   char *error, size_t size)
{
	const struct study_benchmark *benchmark = &study->plan.benchmarks[run->benchmark];
	char path[STUDY_PATH], *text = NULL;
	unsigned int formats = 0;
	size_t length;
	int ret;

	if (benchmark->format && !strcmp(benchmark->format, STUDY_TIME))
		return add_time(run, values);
	study_raw_path(study, run, path);
	ret = whole_file_read(path, RESULTS_MAX_BYTES, &text, &length);
	if (ret) {
		text_format(error, size, "%s: cannot read: %s", path, regular_file_error(ret));
		return -EINVAL;
	}
	ret = results_read_text(values, path, "", NULL, text, length, &formats, error, size);
	if (!ret && benchmark->format && !has_format(formats, benchmark->format)) {
		text_format(error, size, "%s: no output of %s, which the plan has as the format of "
			    "%s; without a format, the time of the command counts", path,
			    benchmark->format, benchmark->name);
		ret = -EINVAL;
	}
	free(text);
	return ret || formats ? ret : add_time(run, values);
}

/* --- all outputs ----------------------------------------------------------------------------- */

/** The last part of the path of a program. */
static const char *program_of(const struct study_benchmark *benchmark)
{
	const char *slash = strrchr(benchmark->command[0], '/');

	return slash ? slash + 1 : benchmark->command[0];
}

/** Metrics are named BENCHMARK.METRIC, where the name of the program would stand twice. */
static void name_metric(const struct study_benchmark *benchmark, const char *metric,
			const char *statistic, char *name, size_t size)
{
	const char *program = program_of(benchmark);
	size_t n = strlen(program);

	if (!strncmp(metric, program, n) && metric[n] == '.')
		metric += n + 1;
	text_format(name, size, "%s.%s%s%s", benchmark->name, metric, *statistic ? "." : "",
		    statistic);
}

/** Where the values of a run go. */
struct adding {
	struct study_results *results;
	const struct study_benchmark *benchmark;
	int		benchmark_at, config, round;
};

/** Add one value of a run. Return: 0 or a negative errno. */
static int add_value(const struct adding *to, struct compare *compare, const char *name,
		     enum compare_better better, double value)
{
	struct study_results *results = to->results;
	int metric;

	if (!isfinite(value))
		return 0;
	metric = compare_metric(compare, name);
	if (metric < 0)
		return metric;
	compare->metrics[metric]->better = better;
	if (compare == &results->costs)
		results->benchmark_of[metric] = to->benchmark_at;
	if (ARRAY_GROW(results->values, results->n_values, results->room_values))
		return -ENOMEM;
	results->values[results->n_values++] = (struct study_value){
		compare, metric, to->round, to->config, value,
	};
	return compare_add(compare, to->config, name, value);
}

static int add_cost(const struct adding *to, const struct compare_metric *metric,
		    const char *statistic, double value)
{
	char name[RESULTS_MAX_NAME + STUDY_MAX_NAME];

	name_metric(to->benchmark, metric->name, statistic, name, sizeof(name));
	return add_value(to, &to->results->costs, name, metric->better, value);
}

/** A run does not show a metric, or its statistics. */
static int add_unknown(const struct adding *to, const struct compare_metric *metric)
{
	const char *const statistics[] = {
		"", stats_name(STATS_MEAN), stats_name(STATS_P99),
		virt_stat_look(VIRT_STAT_MAX)->name,
	};
	char name[RESULTS_MAX_NAME + STUDY_MAX_NAME];
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(statistics); i++) {
		name_metric(to->benchmark, metric->name, statistics[i], name, sizeof(name));
		ret = compare_add_unknown(&to->results->costs, to->config, name,
					  metric->sets[0].unknown);
	}
	return ret;
}

/**
 * The runs that show a metric may be those that were disturbed least: a mean of them alone would
 * be too good.
 */
static void drop_unknown(struct compare *costs)
{
	for (int i = 0; i < costs->n_metrics; i++) {
		struct compare_metric *metric = costs->metrics[i];
		const char *why = NULL;
		size_t n = 0;

		for (int run = 0; run < costs->n_runs; run++) {
			n += metric->sets[run].n;
			why = why ? why : metric->sets[run].unknown;
		}
		if (!why)
			continue;
		for (int run = 0; run < costs->n_runs; run++)
			metric->sets[run].n = 0;
		if (n)
			trace_notes_add(&costs->notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
					"%s: left out, because not all runs show it: %s",
					metric->name, why);
	}
}

/** The values of one metric in one output become one value, or a few statistics of them. */
static int add_metric(const struct adding *to, const struct compare_metric *metric)
{
	const struct compare_set *set = &metric->sets[0];
	double value[STATS_N];
	int ret;

	if (!set->n)
		return set->unknown ? add_unknown(to, metric) : 0;
	stats_sort(set->values, set->n);
	stats_describe(set->values, set->n, STATS_NEAREST, value);
	if (set->n < MANY_VALUES)
		return add_cost(to, metric, "", value[STATS_MEAN]);
	ret = add_cost(to, metric, stats_name(STATS_MEAN), value[STATS_MEAN]);
	if (!ret)
		ret = add_cost(to, metric, stats_name(STATS_P99), value[STATS_P99]);
	return ret ? ret : add_cost(to, metric, virt_stat_look(VIRT_STAT_MAX)->name,
				    set->values[set->n - 1]);
}

/** Facts about the benchmark and the kernel that its output shows. */
static int add_facts(struct compare *to, int run, const struct compare_conditions *from)
{
	int ret = 0;

	for (int fact = 0; fact < COMPARE_N_FACTS; fact++)
		for (int i = 0; !ret && i < from->facts[fact].n; i++)
			ret = compare_add_fact(to, run, (enum compare_fact)fact,
					       from->facts[fact].all[i].key,
					       from->facts[fact].all[i].text);
	return ret;
}

/** The CPU time that a benchmark needs is a cost, but a benchmark of fixed time may use more. */
static int add_others(const struct adding *to, const struct study_run *one)
{
	const struct {
		const char	*name;
		double		value;
		bool		is_cost;
	} values[] = {
		{ "cpu_s", one->own_s, true },
		{ "trace.records_per_s", one->records / one->wall_s, false },
		{ "trace.bytes_per_s", one->bytes / one->wall_s, false },
		{ "trace.bytes", one->bytes, false },
		{ "trace.lost_percent", 100 * one->lost / (one->records + one->lost), false },
		{ "trace.guest_records_per_s", one->guest_records / one->wall_s, false },
		{ "trace.guest_bytes_per_s", one->guest_bytes / one->wall_s, false },
		{ "trace.guest_bytes", one->guest_bytes, false },
		{ "host.exits", one->exits, false },
		{ "host.cpu_percent", one->cpu_percent, false },
		{ "host.others_cpu_percent", one->others_percent, false },
		{ "host.steal_percent", one->steal_percent, false },
		{ "host.memory_mib", one->memory_mib, false },
		{ "host.runnable", one->runnable, false },
		{ "host.throttled", one->throttled, false },
	};
	char name[STUDY_MAX_NAME + 40];
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(values); i++) {
		name_metric(to->benchmark, values[i].name, "", name, sizeof(name));
		ret = add_value(to, values[i].is_cost ? &to->results->costs :
				&to->results->volumes, name, COMPARE_UNJUDGED, values[i].value);
	}
	return ret;
}

static int add_run(const struct study *study, struct study_results *results,
		   const struct study_run *run, char *error, size_t size)
{
	const struct adding to = {
		.results = results, .benchmark = &study->plan.benchmarks[run->benchmark],
		.benchmark_at = run->benchmark, .config = run->config, .round = run->round,
	};
	struct compare *costs = &results->costs, values;
	int ret;

	compare_init(&values);
	ret = study_read_raw(study, run, &values, error, size);
	for (int i = 0; !ret && i < values.n_metrics; i++)
		ret = add_metric(&to, values.metrics[i]);
	if (!ret)
		ret = add_facts(costs, run->config, &values.conditions[0]);
	trace_notes_copy(&costs->notes, &values.notes);
	costs->bytes += values.bytes;
	compare_free(&values);
	if (!ret && *run->governor)
		ret = compare_add_fact(costs, run->config, COMPARE_GOVERNOR, "", run->governor);
	if (!ret && *run->kernel)
		ret = compare_add_fact(costs, run->config, COMPARE_KERNEL, "", run->kernel);
	return ret ? ret : add_others(&to, run);
}

static int by_round(const void *a, const void *b)
{
	const struct study_run *x = a, *y = b;

	return x->round != y->round ? (x->round > y->round) - (x->round < y->round) :
	       x->benchmark != y->benchmark ? x->benchmark - y->benchmark : x->config - y->config;
}

/* --- differences round by round -------------------------------------------------------------- */

/** By metric, then by round, and the baseline first. */
static int by_metric(const void *a, const void *b)
{
	const struct study_value *x = a, *y = b;

	if (x->compare != y->compare)
		return x->compare < y->compare ? -1 : 1;
	if (x->metric != y->metric)
		return x->metric - y->metric;
	return x->round != y->round ? x->round - y->round : x->config - y->config;
}

/** @logs: of the ratios of all rounds; their order changes */
static void judge_ratios(struct compare_cell *cell, double *logs, size_t n, double confidence)
{
	struct stats_difference *difference = &cell->difference;
	double value[STATS_N], mean, half = NAN;

	stats_sort(logs, n);
	stats_describe(logs, n, STATS_NEAREST, value);
	mean = value[STATS_MEAN];
	/* stats_intervals() would cut off what is below 0, as if logarithms were lengths */
	if (n > 1)
		half = distribution_student(confidence, (double)(n - 1)) * value[STATS_STDDEV] /
		       sqrt((double)n);
	cell->percent = 100 * expm1(mean);
	difference->percent = (struct stats_interval){
		100 * expm1(mean - half), 100 * expm1(mean + half),
	};
	difference->interval = (struct stats_interval){ NAN, NAN };
	if (isnan(half))
		difference->verdict = STATS_TOO_FEW;
	else
		difference->verdict = mean - half > 0 || mean + half < 0 ? STATS_DIFFERENT :
				      STATS_SAME;
}

/**
 * The values of one metric, of @n runs
 * @logs: has room for as many
 */
static void pair_metric(struct study_results *results, const struct study_value *values, size_t n,
			double *logs)
{
	struct compare *compare = values->compare == &results->costs ? &results->costs :
				  &results->volumes;
	struct compare_metric *metric = compare->metrics[values->metric];

	if (!metric->sets[0].n)
		return;
	/* of what is not above 0 there are no ratios, and compare's difference stays */
	for (size_t i = 0; i < n; i++)
		if (!(values[i].value > 0))
			return;
	for (int config = 1; config < compare->n_runs; config++) {
		size_t n_logs = 0, base = 0;

		for (size_t i = 0; i < n; i++) {
			if (!values[i].config)
				base = i;
			if (values[i].config == config && !values[base].config &&
			    values[base].round == values[i].round)
				logs[n_logs++] = log(values[i].value / values[base].value);
		}
		if (n_logs)
			judge_ratios(&metric->sets[config].cells[STATS_MEAN], logs, n_logs,
				     results->options.confidence);
	}
}

/** Return: 0 or -ENOMEM. */
static int pair_all(struct study_results *results)
{
	double *logs = calloc(results->n_values + 1, sizeof(*logs));
	struct study_value *values = results->values;
	size_t n;

	if (!logs)
		return -ENOMEM;
	if (results->n_values)
		qsort(values, results->n_values, sizeof(*values), by_metric);
	for (size_t i = 0; i < results->n_values; i += n) {
		for (n = 1; i + n < results->n_values &&
		     values[i + n].compare == values[i].compare &&
		     values[i + n].metric == values[i].metric; n++)
			;
		pair_metric(results, &values[i], n, logs);
	}
	free(logs);
	return 0;
}

const char *study_effect(const struct compare_metric *metric, int config)
{
	const struct compare_cell *cell = &metric->sets[config].cells[STATS_MEAN];

	if (metric->better == COMPARE_UNJUDGED || cell->difference.verdict != STATS_DIFFERENT)
		return NULL;
	return (cell->percent > 0) == (metric->better == COMPARE_HIGHER) ? "better" : "worse";
}

/** The least number of runs that a benchmark and configuration have. */
static int least_rounds(const struct study *study)
{
	int least = STUDY_MAX_ROUNDS;

	for (int i = 0; i < study->plan.n_benchmarks * study->plan.n_configs; i++) {
		int n = 0;

		for (int j = 0; j < study->n_runs; j++)
			n += study->runs[j].round &&
			     study->runs[j].benchmark == i / study->plan.n_configs &&
			     study->runs[j].config == i % study->plan.n_configs;
		least = n < least ? n : least;
	}
	return least;
}

static int collect(const struct study *study, struct study_results *results, char *error,
		   size_t size)
{
	struct study_run *runs = malloc(((size_t)study->n_runs + 1) * sizeof(*runs));
	int ret = runs ? 0 : -ENOMEM;

	/* the same order of metrics, whatever the order of the runs was */
	if (runs && study->n_runs) {
		memcpy(runs, study->runs, (size_t)study->n_runs * sizeof(*runs));
		qsort(runs, (size_t)study->n_runs, sizeof(*runs), by_round);
	}
	for (int i = 0; !ret && i < study->plan.n_configs; i++)
		if (compare_run(&results->costs, study->plan.configs[i].name) != i ||
		    compare_run(&results->volumes, study->plan.configs[i].name) != i)
			ret = -ENOMEM;
	for (int i = 0; !ret && i < study->n_runs; i++)
		if (runs[i].round)
			ret = add_run(study, results, &runs[i], error, size);
	free(runs);
	return ret;
}

int study_results_make(const struct study *study, struct study_results *results)
{
	char error[2048] = "";
	int ret;

	compare_init(&results->costs);
	compare_init(&results->volumes);
	results->options = (struct compare_options){
		.confidence = 0.95, .seed = study->plan.seed, .resamples = COMPARE_RESAMPLES,
	};
	results->options.kinds[STATS_MEAN] = results->options.kinds[STATS_STDDEV] = true;
	results->rounds = least_rounds(study);
	ret = collect(study, results, error, sizeof(error));
	if (!ret && !results->costs.n_metrics) {
		text_format(error, sizeof(error), "%s: no run has ended yet: begin or go on with: "
			    "kshark-virt study --resume %s", study->folder, study->folder);
		ret = -EINVAL;
	}
	drop_unknown(&results->costs);
	if (!ret)
		ret = compare_evaluate(&results->costs, &results->options);
	if (!ret)
		ret = compare_evaluate(&results->volumes, &results->options);
	if (!ret)
		ret = pair_all(results);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s", *error ? error : ret == -ENOSPC ? "more metrics than can be compared" :
		  "not enough memory");
	return KSV_EXIT_FILE;
}

void study_results_free(struct study_results *results)
{
	compare_free(&results->costs);
	compare_free(&results->volumes);
	free(results->values);
}

/* --- is it enough? --------------------------------------------------------------------------- */

/** A least latency says little: it is the main metric only if a plan names it. */
static bool is_minimum(const char *name)
{
	return strstr(name, ".min");
}

int study_main_metric(const struct study *study, const struct study_results *results,
		      int benchmark)
{
	const char *pattern = study->plan.benchmarks[benchmark].metric;
	int first = -1, usual = -1;

	for (int i = 0; i < results->costs.n_metrics; i++) {
		const char *name = results->costs.metrics[i]->name;

		if (results->benchmark_of[i] != benchmark ||
		    !results->costs.metrics[i]->sets[0].n)
			continue;
		if (pattern && !fnmatch(pattern, name, 0))
			return i;
		first = first < 0 ? i : first;
		usual = usual < 0 && !is_minimum(name) ? i : usual;
	}
	return usual < 0 ? first : usual;
}

bool study_is_narrow(const struct study *study, const struct study_results *results)
{
	for (int i = 0; i < study->plan.n_benchmarks; i++) {
		int metric = study_main_metric(study, results, i);

		for (int run = 1; metric >= 0 && run < results->costs.n_runs; run++) {
			const struct compare_cell *cell =
				&results->costs.metrics[metric]->sets[run].cells[STATS_MEAN];
			const struct stats_interval *percent = &cell->difference.percent;

			/* neither is one that is not known */
			if (!((percent->high - percent->low) / 2 <= (double)study->plan.precision))
				return false;
		}
	}
	return true;
}

bool study_is_decided(const struct study *study, const struct study_results *results)
{
	for (int i = 0; i < study->plan.n_benchmarks; i++) {
		int metric = study_main_metric(study, results, i);

		if (metric < 0)
			return false;
		for (int run = 1; run < results->costs.n_runs; run++) {
			const struct compare_cell *cell =
				&results->costs.metrics[metric]->sets[run].cells[STATS_MEAN];

			if (cell->difference.verdict != STATS_SAME &&
			    cell->difference.verdict != STATS_DIFFERENT)
				return false;
		}
	}
	return true;
}
