// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_write.c
 * @brief	A comparison as text, CSV and JSON.
 */
#include <math.h>
#include <stdio.h>

#include "compare.h"
#include "json_writer.h"
#include "options.h"

#define VALUE_WIDTH	12
#define PERCENT_WIDTH	11
#define MIN_NAME_WIDTH	8
#define MAX_NAME_WIDTH	40

const char *const compare_percentiles[] = {
	[STATS_NEAREST] = "nearest",
	[STATS_LINEAR] = "linear",
	NULL
};

static void put_right(struct output *out, const char *text, size_t width)
{
	out_char(out, ' ');
	out_text_right(out, text, width);
}

static size_t name_width(const struct compare *compare, bool metrics)
{
	size_t width = MIN_NAME_WIDTH;

	for (int i = 0; metrics && i < compare->n_metrics; i++) {
		size_t n = out_columns(compare->metrics[i]->name);

		width = n > width && n <= MAX_NAME_WIDTH ? n : width;
	}
	return width;
}

static size_t run_width(const struct compare *compare, int run)
{
	size_t width = VALUE_WIDTH + (run ? PERCENT_WIDTH + 1 : 0);
	size_t n = out_columns(compare->runs[run]);

	return n > width ? n : width;
}

static void put_runs(struct output *out, const struct compare *compare, const char *what,
		     size_t width)
{
	out_text_left(out, what, width);
	for (int run = 0; run < compare->n_runs; run++)
		put_right(out, compare->runs[run], run_width(compare, run));
	out_char(out, '\n');
}

static void put_cell(struct output *out, const struct compare *compare, int run,
		     const struct compare_metric *metric, int kind)
{
	const struct compare_cell *cell = &metric->sets[run].cells[kind];
	const struct compare_cell *base = &metric->sets[0].cells[kind];
	size_t width = run_width(compare, run) - (run ? PERCENT_WIDTH + 1 : 0);
	char text[32] = "-";

	if (compare_has_too_few(&metric->sets[run], kind))
		strcpy(text, "too few");
	if (!isnan(cell->value))
		snprintf(text, sizeof(text), "%.6g", cell->value);
	put_right(out, text, width);
	*text = '\0';
	if (!isnan(cell->percent))
		snprintf(text, sizeof(text), "%+.2f %%", cell->percent);
	else if (base->value == 0 && cell->value != 0 && !isnan(cell->value))
		snprintf(text, sizeof(text), "from 0");
	/* no blanks at the end of a line */
	if (run && (*text || run + 1 < compare->n_runs))
		put_right(out, text, PERCENT_WIDTH);
}

static void put_row(struct output *out, const struct compare *compare, const char *name,
		    const struct compare_metric *metric, int kind, size_t width)
{
	out_text_left(out, name, width);
	for (int run = 0; run < compare->n_runs; run++)
		put_cell(out, compare, run, metric, kind);
	out_char(out, '\n');
}

static void put_sentences(struct output *out, const struct compare *compare,
			  const struct compare_metric *metric, const char *before,
			  const struct compare_options *options)
{
	char text[1024];

	for (int run = 1; run < compare->n_runs; run++) {
		compare_sentence(compare, metric, run, options, text, sizeof(text));
		out_str(out, before);
		out_text(out, text);
		out_char(out, '\n');
	}
}

static void put_counts(struct output *out, const struct compare *compare,
		       const struct compare_metric *metric, size_t width)
{
	char text[32];

	out_text_left(out, "values", width);
	for (int run = 0; run < compare->n_runs; run++) {
		snprintf(text, sizeof(text), "%zu", metric->sets[run].n);
		put_right(out, text, run_width(compare, run) - (run ? PERCENT_WIDTH + 1 : 0));
		if (run && run + 1 < compare->n_runs)
			put_right(out, "", PERCENT_WIDTH);
	}
	out_char(out, '\n');
}

static void put_confounders(struct output *out, const struct compare *compare)
{
	const char *before = "\n";
	char text[1024];

	for (int at = COMPARE_N_CONFOUNDERS; at < compare->n_runs * COMPARE_N_CONFOUNDERS; at++) {
		if (!compare_confounder(compare, at / COMPARE_N_CONFOUNDERS,
					at % COMPARE_N_CONFOUNDERS, text, sizeof(text)))
			continue;
		out_str(out, before);
		out_text(out, text);
		out_char(out, '\n');
		before = "";
	}
}

/** One statistic of all metrics. */
static void text_by_metric(struct output *out, const struct compare *compare,
			   const struct compare_options *options)
{
	size_t width = name_width(compare, true);
	int kind = compare_judged(options);

	put_runs(out, compare, stats_name(kind), width);
	for (int i = 0; i < compare->n_metrics; i++)
		put_row(out, compare, compare->metrics[i]->name, compare->metrics[i], kind, width);
	for (int i = 0; i < compare->n_metrics && compare->n_runs > 1; i++) {
		out_str(out, "\n");
		out_text(out, compare->metrics[i]->name);
		out_char(out, '\n');
		put_sentences(out, compare, compare->metrics[i], "  ", options);
	}
}

static void put_record_costs(struct output *out, const struct compare *compare,
			     const struct compare_options *options)
{
	struct compare_record_cost cost;
	char text[200];

	out_str(out, "\ncost of a record, from ");
	out_text(out, options->record_cost);
	out_char(out, '\n');
	for (int run = 1; run < compare->n_runs; run++) {
		compare_record_cost(compare, options, run, &cost);
		out_text(out, compare->runs[run]);
		if (cost.unknown)
			snprintf(text, sizeof(text), ": %s\n", cost.unknown);
		else if (isnan(cost.interval.low))
			snprintf(text, sizeof(text), ": %.4g ns, with unknown uncertainty\n",
				 cost.ns);
		else if (cost.interval.low <= 0)
			snprintf(text, sizeof(text), ": within noise, at most %.4g ns\n",
				 fmax(cost.interval.high, 0));
		else
			snprintf(text, sizeof(text), ": %.4g ns (%.6g %% interval %.4g to %.4g)\n",
				 cost.ns, 100 * compare_confidence(compare, options),
				 cost.interval.low, cost.interval.high);
		out_str(out, text);
	}
}

static void text_of_metrics(struct output *out, const struct compare *compare,
			    const struct compare_options *options)
{
	for (int i = 0; i < compare->n_metrics; i++) {
		const struct compare_metric *metric = compare->metrics[i];
		size_t width = name_width(compare, false);

		if (i)
			out_char(out, '\n');
		out_text(out, metric->name);
		out_char(out, '\n');
		put_runs(out, compare, "", width);
		put_counts(out, compare, metric, width);
		for (int kind = 0; kind < STATS_N; kind++)
			if (options->kinds[kind])
				put_row(out, compare, stats_name(kind), metric, kind, width);
		put_sentences(out, compare, metric, "", options);
	}
}

void compare_text(struct output *out, const struct compare *compare,
		  const struct compare_options *options)
{
	int n_kinds = 0;

	for (int kind = 0; kind < STATS_N; kind++)
		n_kinds += options->kinds[kind];
	if (n_kinds == 1)
		text_by_metric(out, compare, options);
	else
		text_of_metrics(out, compare, options);
	put_confounders(out, compare);
	if (options->record_cost)
		put_record_costs(out, compare, options);
}

static void csv_number(struct output *out, double value)
{
	char text[40];

	out_char(out, ',');
	if (isnan(value))
		return;
	snprintf(text, sizeof(text), "%.10g", value);
	out_str(out, text);
}

static void csv_record_cost(struct output *out, const struct compare *compare, int run,
			    const struct compare_options *options)
{
	struct compare_record_cost cost;

	compare_record_cost(compare, options, run, &cost);
	out_str(out, "record_cost_ns,");
	out_csv(out, compare->runs[run], strlen(compare->runs[run]));
	out_str(out, ",estimate,");
	csv_number(out, cost.ns);
	csv_number(out, cost.interval.low);
	csv_number(out, cost.interval.high);
	out_str(out, ",,,,,,,\n");
}

/** By how much the baseline changed, in the metric's own unit. */
static double change_of(const struct compare_metric *metric, int run, int kind)
{
	double change = metric->sets[run].cells[kind].value - metric->sets[0].cells[kind].value;

	return run && isfinite(change) ? change : NAN;
}

static void csv_cell(struct output *out, const struct compare *compare,
		     const struct compare_metric *metric, int run, int kind)
{
	const struct compare_cell *cell = &metric->sets[run].cells[kind];

	out_csv(out, metric->name, strlen(metric->name));
	out_char(out, ',');
	out_csv(out, compare->runs[run], strlen(compare->runs[run]));
	out_char(out, ',');
	out_str(out, stats_name(kind));
	out_char(out, ',');
	out_u64(out, metric->sets[run].n);
	csv_number(out, cell->value);
	csv_number(out, cell->interval.low);
	csv_number(out, cell->interval.high);
	csv_number(out, cell->percent);
	csv_number(out, cell->difference.percent.low);
	csv_number(out, cell->difference.percent.high);
	out_char(out, ',');
	out_str(out, run ? compare_verdict_name(cell->difference.verdict) : "baseline");
	csv_number(out, change_of(metric, run, kind));
	csv_number(out, cell->difference.interval.low);
	csv_number(out, cell->difference.interval.high);
	out_char(out, '\n');
}

void compare_csv(struct output *out, const struct compare *compare,
		 const struct compare_options *options)
{
	out_str(out, "metric,run,statistic,values,value,low,high,difference_percent,"
		"difference_low,difference_high,verdict,change,change_low,change_high\n");
	for (int i = 0; i < compare->n_metrics; i++)
		for (int at = 0; at < compare->n_runs * STATS_N; at++)
			if (options->kinds[at % STATS_N])
				csv_cell(out, compare, compare->metrics[i], at / STATS_N,
					 at % STATS_N);
	for (int run = 1; run < compare->n_runs && options->record_cost; run++)
		csv_record_cost(out, compare, run, options);
}

static void json_interval(struct json *json, const char *key, struct stats_interval interval)
{
	if (isnan(interval.low) || isnan(interval.high))
		return;
	json_open(json, key, '[', true);
	json_number(json, NULL, interval.low);
	json_number(json, NULL, interval.high);
	json_close(json, ']');
}

static void json_run(struct json *json, const struct compare *compare,
		     const struct compare_metric *metric, int run,
		     const struct compare_options *options)
{
	char text[1024];

	json_open(json, NULL, '{', false);
	json_str(json, "run", compare->runs[run]);
	json_u64(json, "values", metric->sets[run].n);
	if (compare_is_unknown(&metric->sets[run]))
		json_str(json, "unknown", metric->sets[run].unknown);
	json_open(json, "statistics", '{', false);
	for (int kind = 0; kind < STATS_N; kind++) {
		const struct compare_cell *cell = &metric->sets[run].cells[kind];

		if (!options->kinds[kind] || isnan(cell->value))
			continue;
		json_open(json, stats_name(kind), '{', true);
		json_number(json, "value", cell->value);
		json_interval(json, "interval", cell->interval);
		if (!isnan(cell->percent))
			json_number(json, "difference_percent", cell->percent);
		json_interval(json, "difference_interval", cell->difference.percent);
		if (!isnan(change_of(metric, run, kind)))
			json_number(json, "change", change_of(metric, run, kind));
		json_interval(json, "change_interval", cell->difference.interval);
		if (run)
			json_str(json, "verdict", compare_verdict_name(cell->difference.verdict));
		json_close(json, '}');
	}
	json_close(json, '}');
	if (run) {
		compare_sentence(compare, metric, run, options, text, sizeof(text));
		json_str(json, "sentence", text);
	}
	json_close(json, '}');
}

static void json_record_costs(struct json *json, const struct compare *compare,
			      const struct compare_options *options)
{
	struct compare_record_cost cost;

	json_open(json, "record_cost", '[', false);
	for (int run = 1; run < compare->n_runs; run++) {
		compare_record_cost(compare, options, run, &cost);
		json_open(json, NULL, '{', true);
		json_str(json, "run", compare->runs[run]);
		if (cost.unknown)
			json_str(json, "unknown", cost.unknown);
		else
			json_number(json, "ns", cost.ns);
		json_interval(json, "interval", cost.interval);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_conditions(struct json *json, const struct compare_conditions *conditions)
{
	if (conditions->n_governors) {
		json_open(json, "governors", '[', true);
		for (int i = 0; i < conditions->n_governors; i++)
			json_str(json, NULL, conditions->governors[i]);
		json_close(json, ']');
	}
	if (compare_told_frequency(conditions))
		json_number(json, "mean_khz", compare_mean_khz(conditions));
}

/** Of runs that tell any: what the baseline differs in is told there. */
static void json_all_conditions(struct json *json, const struct compare *compare)
{
	char text[1024];

	json_open(json, "conditions", '[', false);
	for (int run = 0; run < compare->n_runs; run++) {
		if (!compare->conditions[run].n_governors &&
		    !compare_told_frequency(&compare->conditions[run]))
			continue;
		json_open(json, NULL, '{', false);
		json_str(json, "run", compare->runs[run]);
		json_conditions(json, &compare->conditions[run]);
		json_open(json, "confounders", '[', false);
		for (int what = 0; run && what < COMPARE_N_CONFOUNDERS; what++)
			if (compare_confounder(compare, run, what, text, sizeof(text)))
				json_str(json, NULL, text);
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

void compare_json(struct output *out, const struct compare *compare,
		  const struct compare_options *options)
{
	struct json json;

	json_begin(&json, out);
	json_open(&json, NULL, '{', false);
	json_str(&json, "baseline", compare->runs[0]);
	json_number(&json, "confidence", options->confidence);
	if (options->joint)
		json_u64(&json, "joint", compare->n_judged);
	json_u64(&json, "resamples", options->resamples);
	json_u64(&json, "seed", options->seed);
	json_str(&json, "percentiles", compare_percentiles[options->percentile]);
	json_warnings(&json, &compare->notes);
	json_open(&json, "metrics", '[', false);
	for (int i = 0; i < compare->n_metrics; i++) {
		json_open(&json, NULL, '{', false);
		json_str(&json, "metric", compare->metrics[i]->name);
		json_open(&json, "runs", '[', false);
		for (int run = 0; run < compare->n_runs; run++)
			json_run(&json, compare, compare->metrics[i], run, options);
		json_close(&json, ']');
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_all_conditions(&json, compare);
	if (options->record_cost)
		json_record_costs(&json, compare, options);
	json_close(&json, '}');
	json_end(&json);
}
