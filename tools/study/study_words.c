// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_words.c
 * @brief	The result of a study in sentences: the costs of tracing, noise, and limits.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "study.h"

#define MAX_SENTENCE	1024
/** Notes about outputs of which a result has each. */
#define MAX_NOTES	3

/** Others use more than this of the CPUs: it is worth a sentence. */
#define OTHERS_PERCENT	5.0
#define STEAL_PERCENT	1.0

/** Where sentences go. */
struct listener {
	void	(*put)(void *arg, bool main, const char *sentence);
	void	*arg;
};

/* --- costs ----------------------------------------------------------------------------------- */

/** Within noise: how large can a cost be at most? Empty if it is unknown which values are worse. */
static void put_limit(char *text, size_t size, const struct compare_metric *metric,
		      const struct stats_interval *percent)
{
	double most = metric->better == COMPARE_HIGHER ? -percent->low : percent->high;

	*text = '\0';
	if (metric->better != COMPARE_UNJUDGED)
		snprintf(text, size, "; a cost above %.2f %% is ruled out", fmax(most, 0));
}

/** @costs: of which @metric is one */
static void cost_sentence(const struct study_results *results, const struct compare *costs,
			  const struct compare_metric *metric, int run, char *text, size_t size)
{
	const struct compare_cell *cell = &metric->sets[run].cells[STATS_MEAN];
	const struct stats_interval *percent = &cell->difference.percent;
	const char *effect = study_effect(metric, run);
	double confidence = 100 * results->options.confidence;
	char sentence[MAX_SENTENCE], limit[80];

	if (isnan(cell->percent) || isnan(percent->low) || isnan(percent->high)) {
		compare_sentence(costs, metric, run, &results->options, sentence, sizeof(sentence));
		text_format(text, size, "%s, %s.", metric->name, sentence);
		return;
	}
	if (cell->difference.verdict == STATS_SAME) {
		put_limit(limit, sizeof(limit), metric, percent);
		text_format(text, size, "With %s, %s differs from %s by %+.2f %%, which is within "
			    "noise (%g %% interval %+.2f %% to %+.2f %%)%s.", costs->runs[run],
			    metric->name, costs->runs[0], cell->percent, confidence, percent->low,
			    percent->high, limit);
		return;
	}
	text_format(text, size, "With %s, %s is %.2f %% %s than with %s%s%s (%g %% interval "
		    "%+.2f %% to %+.2f %%).", costs->runs[run], metric->name, fabs(cell->percent),
		    cell->percent > 0 ? "higher" : "lower", costs->runs[0],
		    effect ? ", which is " : "", effect ? effect : "", confidence, percent->low,
		    percent->high);
}

static void put_costs(const struct study_results *results, int at, bool main,
		      const struct listener *to)
{
	char text[MAX_SENTENCE];

	for (int run = 1; run < results->costs.n_runs; run++) {
		cost_sentence(results, &results->costs, results->costs.metrics[at], run, text,
			      sizeof(text));
		to->put(to->arg, main, text);
	}
}

/** Return: NULL if no run has a value of it. */
static const struct compare_metric *find_volume(const struct study_results *results,
						const char *benchmark, const char *name)
{
	const struct compare *volumes = &results->volumes;
	char full[STUDY_MAX_NAME + 40];

	snprintf(full, sizeof(full), "%s.%s", benchmark, name);
	for (int i = 0; i < volumes->n_metrics; i++)
		if (!strcmp(volumes->metrics[i]->name, full))
			return volumes->metrics[i];
	return NULL;
}

/** The mean of a volume. NAN: it is not known. */
static double volume_of(const struct study_results *results, const char *benchmark,
			const char *name, int run)
{
	const struct compare_metric *metric = find_volume(results, benchmark, name);

	return metric ? metric->sets[run].cells[STATS_MEAN].value : NAN;
}

/** How often guests left for the host, and what tracing changes about that. */
static void put_exits(const struct study *study, const struct study_results *results,
		      int benchmark, const struct listener *to)
{
	const char *name = study->plan.benchmarks[benchmark].name;
	const struct compare_metric *exits = find_volume(results, name, "host.exits");
	char text[MAX_SENTENCE];

	if (!exits || !exits->sets[0].n)
		return;
	text_format(text, sizeof(text), "While %s ran with %s, there were %.0f VM exits.", name,
		    study->plan.configs[0].name, exits->sets[0].cells[STATS_MEAN].value);
	to->put(to->arg, true, text);
	for (int run = 1; run < results->volumes.n_runs; run++) {
		if (!exits->sets[run].n)
			continue;
		cost_sentence(results, &results->volumes, exits, run, text, sizeof(text));
		to->put(to->arg, true, text);
	}
}

static void put_guest_bytes(const struct study *study, const struct study_results *results,
			    int benchmark, const struct listener *to)
{
	const char *name = study->plan.benchmarks[benchmark].name;
	char text[MAX_SENTENCE], size[24], and_bytes[48];

	for (int run = 0; run < study->plan.n_configs; run++) {
		double records = volume_of(results, name, "trace.guest_records_per_s", run);
		double bytes = volume_of(results, name, "trace.guest_bytes_per_s", run);

		if (isnan(records))
			continue;
		*and_bytes = '\0';
		if (!isnan(bytes))
			snprintf(and_bytes, sizeof(and_bytes), " and %s",
				 record_size_text((uint64_t)bytes, size));
		text_format(text, sizeof(text), "While %s ran, %s recorded %.0f events%s per "
			    "second in guests.", name, study->plan.configs[run].name, records,
			    and_bytes);
		to->put(to->arg, true, text);
	}
}

static void put_bytes(const struct study *study, const struct study_results *results,
		      int benchmark, const struct listener *to)
{
	const char *name = study->plan.benchmarks[benchmark].name;
	char text[MAX_SENTENCE], size[24];

	for (int run = 0; run < study->plan.n_configs; run++) {
		double bytes = volume_of(results, name, "trace.bytes_per_s", run);
		double records = volume_of(results, name, "trace.records_per_s", run);
		double lost = volume_of(results, name, "trace.lost_percent", run);

		if (isnan(bytes))
			continue;
		record_size_text((uint64_t)bytes, size);
		if (isnan(records))
			text_format(text, sizeof(text), "While %s ran, %s recorded %s per second.",
				    name, study->plan.configs[run].name, size);
		else
			text_format(text, sizeof(text), "While %s ran, %s recorded %.0f events and "
				    "%s per second%s.", name, study->plan.configs[run].name,
				    records, size, lost == 0 ? "; none was lost" : "");
		to->put(to->arg, true, text);
	}
}

void study_sentences(const struct study *study, const struct study_results *results,
		     void (*put)(void *arg, bool main, const char *sentence), void *arg)
{
	const struct listener to = { put, arg };

	for (int i = 0; i < study->plan.n_benchmarks; i++) {
		int main = study_main_metric(study, results, i);

		if (main < 0)
			continue;
		put_costs(results, main, true, &to);
		put_exits(study, results, i, &to);
		put_bytes(study, results, i, &to);
		put_guest_bytes(study, results, i, &to);
		for (int at = 0; at < results->costs.n_metrics; at++)
			if (at != main && results->benchmark_of[at] == i &&
			    results->costs.metrics[at]->sets[0].n)
				put_costs(results, at, false, &to);
	}
}

/* --- limits ---------------------------------------------------------------------------------- */

static void warn_of_losses(const struct study *study, const struct study_results *results,
			   const struct listener *to)
{
	char text[MAX_SENTENCE], size[24];

	for (int i = 0; i < study->plan.n_benchmarks; i++) {
		const char *name = study->plan.benchmarks[i].name;

		for (int run = 0; run < study->plan.n_configs; run++) {
			double lost = volume_of(results, name, "trace.lost_percent", run);

			if (!(lost > 0))
				continue;
			text_format(text, sizeof(text), "While %s ran, %s lost %.3g %% of the "
				    "events: buffers of %s per CPU were too small (--buffer), so "
				    "that bytes and costs are those of a trace with holes.", name,
				    study->plan.configs[run].name, lost,
				    record_size_text(study->plan.buffer, size));
			to->put(to->arg, false, text);
		}
	}
}

/** The highest mean of a volume, of all benchmarks and configurations; -1: none is known. */
static double highest(const struct study *study, const struct study_results *results,
		      const char *name)
{
	double most = -1;

	for (int i = 0; i < study->plan.n_benchmarks; i++)
		for (int run = 0; run < study->plan.n_configs; run++)
			most = fmax(most, volume_of(results, study->plan.benchmarks[i].name, name,
						    run));
	return most;
}

/** Without tracing: else the process that takes records is one of the others. */
static void warn_of_others(const struct study *study, const struct study_results *results,
			   const struct listener *to)
{
	char text[MAX_SENTENCE];
	double steal = highest(study, results, "host.steal_percent");

	for (int i = 0; i < study->plan.n_benchmarks; i++) {
		const char *name = study->plan.benchmarks[i].name;
		double others = volume_of(results, name, "host.others_cpu_percent", 0);

		if (!(others > OTHERS_PERCENT))
			continue;
		text_format(text, sizeof(text), "While %s ran with %s, other programs and the "
			    "kernel used %.1f %% of all CPUs: times vary because of them.", name,
			    study->plan.configs[0].name, others);
		to->put(to->arg, false, text);
	}
	if (steal > STEAL_PERCENT) {
		text_format(text, sizeof(text), "The host is a machine itself: its hypervisor gave "
			    "up to %.1f %% of the CPU time to others.", steal);
		to->put(to->arg, false, text);
	}
	if (highest(study, results, "host.throttled") > 0)
		to->put(to->arg, false, "CPUs were too hot, and ran more slowly for a while: runs "
			"differ because of that.");
}

/** Then the first metric decides about more rounds, which may not answer the plan's question. */
static void warn_of_patterns(const struct study *study, const struct study_results *results,
			     const struct listener *to)
{
	char text[MAX_SENTENCE];

	for (int i = 0; i < study->plan.n_benchmarks; i++) {
		const struct study_benchmark *benchmark = &study->plan.benchmarks[i];
		int main = study_main_metric(study, results, i);

		if (main < 0 || !benchmark->metric ||
		    !fnmatch(benchmark->metric, results->costs.metrics[main]->name, 0))
			continue;
		text_format(text, sizeof(text), "%s has no metric %s, which the plan names: %s is "
			    "in its place.", benchmark->name, benchmark->metric,
			    results->costs.metrics[main]->name);
		to->put(to->arg, false, text);
	}
}

static void warn_of_conditions(const struct study_results *results, const struct listener *to)
{
	const struct compare *costs = &results->costs;
	const struct compare_facts *kernels = &costs->conditions[0].facts[COMPARE_KERNEL];
	char text[MAX_SENTENCE];

	for (int at = COMPARE_N_CONFOUNDERS; at < costs->n_runs * COMPARE_N_CONFOUNDERS; at++)
		if (compare_confounder(costs, at / COMPARE_N_CONFOUNDERS,
				       at % COMPARE_N_CONFOUNDERS, text, sizeof(text)))
			to->put(to->arg, false, text);
	if (costs->conditions[0].facts[COMPARE_GOVERNOR].n > 1)
		to->put(to->arg, false, "The governor of the CPUs changed during the study: runs "
			"differ because of that.");
	for (int i = 0; i < kernels->n; i++)
		for (int j = 0; j < i; j++)
			if (!strcmp(kernels->all[i].key, kernels->all[j].key)) {
				to->put(to->arg, false, "The kernel changed during the study: runs "
					"differ because of that.");
				return;
			}
}

/** Notes about outputs, which may be as many as there are runs. */
static void put_notes(const struct trace_notes *notes, const struct listener *to)
{
	char text[MAX_SENTENCE];

	for (size_t i = 0; i < notes->n && i < MAX_NOTES; i++)
		to->put(to->arg, false, notes->all[i].text);
	if (notes->n <= MAX_NOTES)
		return;
	text_format(text, sizeof(text), "There are %zu more such notes about outputs.",
		    notes->n - MAX_NOTES);
	to->put(to->arg, false, text);
}

void study_warnings(const struct study *study, const struct study_results *results,
		    void (*put)(void *arg, bool main, const char *sentence), void *arg)
{
	const struct listener to = { put, arg };
	char text[MAX_SENTENCE];

	if (!study_is_narrow(study, results)) {
		text_format(text, sizeof(text), "After %d rounds, half of an interval that matters "
			    "is still wider than %zu %% (--precision): more rounds (--max-rounds) "
			    "make it narrower.", results->rounds, study->plan.precision);
		put(arg, false, text);
	}
	warn_of_patterns(study, results, &to);
	warn_of_losses(study, results, &to);
	warn_of_others(study, results, &to);
	warn_of_conditions(results, &to);
	put_notes(&results->costs.notes, &to);
	text_format(text, sizeof(text), "Each interval holds by itself with %g %%: one in %.0f is "
		    "wrong by chance alone.", 100 * results->options.confidence,
		    1 / (1 - results->options.confidence));
	put(arg, false, text);
}
