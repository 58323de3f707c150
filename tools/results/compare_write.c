// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_write.c
 * @brief	A comparison as text, CSV, JSON and LaTeX.
 */
#include <math.h>
#include <stdio.h>

#include "compare.h"
#include "escape.h"
#include "options.h"
#include "table.h"

#define VALUE_WIDTH	12
#define PERCENT_WIDTH	11
#define MIN_NAME_WIDTH	8
#define MAX_NAME_WIDTH	60

const char *const compare_percentiles[] = {
	[STATS_NEAREST] = "nearest",
	[STATS_LINEAR] = "linear",
	NULL
};

static size_t name_width(const struct compare *compare, bool metrics)
{
	size_t width = MIN_NAME_WIDTH;

	for (int i = 0; metrics && i < compare->n_metrics; i++) {
		size_t n = out_columns(compare->metrics[i]->name);

		width = n > width && n <= MAX_NAME_WIDTH ? n : width;
	}
	return width;
}

/* --- text ------------------------------------------------------------------------------------ */

/** The columns of text: a name, then a value of each run, and its difference to the baseline. */
#define TEXT_COLUMNS	(2 * COMPARE_MAX_RUNS)
#define TEXT_CELL	32

struct matrix {
	struct table	table;
	struct table_column columns[TEXT_COLUMNS];
	struct table_writer to;
};

static void matrix_begin(struct matrix *matrix, struct output *out, const struct compare *compare,
			 const char *what, size_t width)
{
	size_t n = 0;

	matrix->columns[n++] = (struct table_column){ .title = what, .width = width };
	for (int run = 0; run < compare->n_runs; run++) {
		size_t whole = VALUE_WIDTH + (run ? PERCENT_WIDTH + 1 : 0);
		size_t name = out_columns(compare->runs[run]);

		whole = name > whole ? name : whole;
		/* the run's name is above both */
		matrix->columns[n++] = (struct table_column){
			.title = run ? "" : compare->runs[run], .type = TABLE_RATE,
			.width = whole - (run ? PERCENT_WIDTH + 1 : 0),
		};
		if (run)
			matrix->columns[n++] = (struct table_column){
				.title = compare->runs[run], .type = TABLE_RATE,
				.width = PERCENT_WIDTH,
			};
	}
	matrix->table = (struct table){ .rows = {
		.columns = matrix->columns, .n = n, .flush = true, .titled = true,
	} };
	matrix->to = (struct table_writer){
		.table = &matrix->table, .format = &table_text, .out = out,
	};
	table_flat(&matrix->to, true);
}

/** A number as @text; without one, there is nothing to be seen. */
static struct table_cell text_cell(const char *text)
{
	return (struct table_cell){ .absent = !*text, .instead = text };
}

/** A statistic of all runs. */
static void matrix_row(struct matrix *matrix, const struct compare *compare, const char *name,
		       const struct compare_metric *metric, int kind)
{
	const struct compare_cell *base = &metric->sets[0].cells[kind];
	char text[TEXT_COLUMNS][TEXT_CELL];
	struct table_cell cells[TEXT_COLUMNS] = { table_name(name) };
	size_t n = 1;

	for (int run = 0; run < compare->n_runs; run++) {
		const struct compare_cell *cell = &metric->sets[run].cells[kind];
		bool is_known = !isnan(cell->value);
		char *value = text[n], *percent = text[n + 1];

		strcpy(value, compare_has_too_few(&metric->sets[run], kind) ? "too few" : "-");
		if (is_known)
			snprintf(value, TEXT_CELL, "%.6g", cell->value);
		cells[n++] = text_cell(value);
		if (!run)
			continue;
		*percent = '\0';
		if (!isnan(cell->percent))
			snprintf(percent, TEXT_CELL, "%+.2f %%", cell->percent);
		else if (base->value == 0 && cell->value != 0 && is_known)
			strcpy(percent, "from 0");
		cells[n++] = text_cell(percent);
	}
	table_row(&matrix->to, cells);
}

/** How many values there are. */
static void matrix_counts(struct matrix *matrix, const struct compare *compare,
			  const struct compare_metric *metric)
{
	char text[COMPARE_MAX_RUNS][TEXT_CELL];
	struct table_cell cells[TEXT_COLUMNS] = { table_name("values") };
	size_t n = 1;

	for (int run = 0; run < compare->n_runs; run++) {
		snprintf(text[run], sizeof(text[run]), "%zu", metric->sets[run].n);
		cells[n++] = text_cell(text[run]);
		if (run)
			cells[n++] = table_absent();
	}
	table_row(&matrix->to, cells);
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
	int kind = compare_judged(options);
	struct matrix matrix;

	matrix_begin(&matrix, out, compare, stats_name(kind), name_width(compare, true));
	for (int i = 0; i < compare->n_metrics; i++)
		matrix_row(&matrix, compare, compare->metrics[i]->name, compare->metrics[i], kind);
	table_flat_end(&matrix.to);
	for (int i = 0; i < compare->n_metrics && compare->n_runs > 1; i++) {
		out_str(out, "\n");
		out_style(out, OUT_HEAD);
		out_text(out, compare->metrics[i]->name);
		out_style(out, OUT_PLAIN);
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
		struct matrix matrix;

		if (i)
			out_char(out, '\n');
		out_style(out, OUT_HEAD);
		out_text(out, metric->name);
		out_style(out, OUT_PLAIN);
		out_char(out, '\n');
		matrix_begin(&matrix, out, compare, "", name_width(compare, false));
		matrix_counts(&matrix, compare, metric);
		for (int kind = 0; kind < STATS_N; kind++)
			if (options->kinds[kind])
				matrix_row(&matrix, compare, stats_name(kind), metric, kind);
		table_flat_end(&matrix.to);
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

/** By how much the baseline changed, in the metric's own unit. */
static double change_of(const struct compare_metric *metric, int run, int kind)
{
	double change = metric->sets[run].cells[kind].value - metric->sets[0].cells[kind].value;

	return run && isfinite(change) ? change : NAN;
}

static const struct table_column metric_columns[] = {
	{ .key = "metric" },
	{ .key = "better", .not_csv = true },
};

static const struct table_column statistic_columns[] = {
	{ .key = "run" },
	{ .key = "statistic" },
	{ .key = "values", .type = TABLE_COUNT },
	{ .key = "value", .type = TABLE_RATE },
	{ .key = "low", .type = TABLE_RATE },
	{ .key = "high", .type = TABLE_RATE },
	{ .key = "difference_percent", .type = TABLE_RATE },
	{ .key = "difference_low", .type = TABLE_RATE },
	{ .key = "difference_high", .type = TABLE_RATE },
	{ .key = "verdict" },
	{ .key = "change", .type = TABLE_RATE },
	{ .key = "change_low", .type = TABLE_RATE },
	{ .key = "change_high", .type = TABLE_RATE },
	{ .key = "effect" },
};

static const struct table metrics_table = {
	.groups = "metrics", .group = metric_columns, .n_group = ARRAY_SIZE(metric_columns),
	.rows = { .key = "statistics", TABLE_COLUMNS(statistic_columns) },
};

/** What JSON also has of each run of a metric: a reason, a sentence. */
static const struct table_column run_columns[] = {
	{ .key = "run" },
	{ .key = "unknown" },
	{ .key = "sentence" },
};

static const struct table_rows run_rows = { .key = "runs", TABLE_COLUMNS(run_columns) };

static const struct table_column cost_columns[] = {
	{ .key = "metric" },
	{ .key = "run" },
	{ .key = "statistic" },
	{ .key = "value", .type = TABLE_RATE },
	{ .key = "low", .type = TABLE_RATE },
	{ .key = "high", .type = TABLE_RATE },
	{ .key = "unknown", .not_csv = true },
};

static const struct table costs_table = {
	.rows = { .key = "record_cost", TABLE_COLUMNS(cost_columns) },
};

static struct table_cell number_cell(double number)
{
	return table_rate(!isnan(number), number);
}

static void statistic_row(struct table_writer *to, const struct compare *compare,
			  const struct compare_metric *metric, int run, int kind)
{
	const struct compare_cell *cell = &metric->sets[run].cells[kind];
	const struct stats_difference *difference = &cell->difference;

	table_row(to, (const struct table_cell[ARRAY_SIZE(statistic_columns)]){
		table_name(compare->runs[run]), table_name(stats_name(kind)),
		table_number((int64_t)metric->sets[run].n), number_cell(cell->value),
		number_cell(cell->interval.low), number_cell(cell->interval.high),
		number_cell(cell->percent), number_cell(difference->percent.low),
		number_cell(difference->percent.high),
		table_name(run ? compare_verdict_name(difference->verdict) : "baseline"),
		number_cell(change_of(metric, run, kind)), number_cell(difference->interval.low),
		number_cell(difference->interval.high),
		table_optional_name(run ? compare_effect(metric, run, kind) : NULL),
	});
}

static void run_row(struct table_writer *to, const struct compare *compare,
		    const struct compare_metric *metric, int run,
		    const struct compare_options *options)
{
	const struct compare_set *set = &metric->sets[run];
	char text[1024];

	if (run)
		compare_sentence(compare, metric, run, options, text, sizeof(text));
	table_row(to, (const struct table_cell[ARRAY_SIZE(run_columns)]){
		table_name(compare->runs[run]),
		table_optional_name(compare_is_unknown(set) ? set->unknown : NULL),
		table_optional_name(run ? text : NULL),
	});
}

static void metric_group(struct table_writer *to, const struct compare *compare,
			 const struct compare_metric *metric,
			 const struct compare_options *options)
{
	const struct table_cell cells[ARRAY_SIZE(metric_columns)] = {
		table_name(metric->name), table_optional_name(compare_better_name(metric->better)),
	};

	table_group(to, cells);
	for (int at = 0; at < compare->n_runs * STATS_N; at++)
		if (options->kinds[at % STATS_N])
			statistic_row(to, compare, metric, at / STATS_N, at % STATS_N);
	if (table_is(to, TABLE_JSON)) {
		table_rows(to, &run_rows);
		for (int run = 0; run < compare->n_runs; run++)
			run_row(to, compare, metric, run, options);
	}
	table_group_end(to);
}

static void cost_row(struct table_writer *to, const struct compare *compare, int run,
		     const struct compare_options *options)
{
	struct compare_record_cost cost;

	compare_record_cost(compare, options, run, &cost);
	table_row(to, (const struct table_cell[ARRAY_SIZE(cost_columns)]){
		table_name("record_cost_ns"), table_name(compare->runs[run]),
		table_name("estimate"), number_cell(cost.ns), number_cell(cost.interval.low),
		number_cell(cost.interval.high), table_optional_name(cost.unknown),
	});
}

static void metric_groups(struct table_writer *to, const struct compare *compare,
			  const struct compare_options *options)
{
	table_begin(to, true);
	for (int i = 0; i < compare->n_metrics; i++)
		metric_group(to, compare, compare->metrics[i], options);
	table_end(to);
}

static void cost_rows(struct table_writer *to, const struct compare *compare,
			const struct compare_options *options)
{
	to->table = &costs_table;
	table_flat(to, false);
	for (int run = 1; run < compare->n_runs; run++)
		cost_row(to, compare, run, options);
	table_flat_end(to);
}

void compare_csv(struct output *out, const struct compare *compare,
		 const struct compare_options *options)
{
	struct table_writer to = { .table = &metrics_table, .format = &table_csv, .out = out };

	metric_groups(&to, compare, options);
	if (options->record_cost)
		cost_rows(&to, compare, options);
}

static void json_facts(struct json *json, const struct compare_facts *facts, const char *key)
{
	char text[1024];

	if (!facts->n)
		return;
	json_open(json, key, '[', true);
	for (int i = 0; i < facts->n; i++) {
		text_format(text, sizeof(text), "%s%s%s", facts->all[i].key,
			    *facts->all[i].key ? ": " : "", facts->all[i].text);
		json_str(json, NULL, text);
	}
	json_close(json, ']');
}

static void json_conditions(struct json *json, const struct compare_conditions *conditions)
{
	for (int fact = 0; fact < COMPARE_N_FACTS; fact++)
		json_facts(json, &conditions->facts[fact], compare_fact_key(fact));
	if (conditions->n_loads)
		json_number(json, "load", compare_mean_load(conditions));
	if (compare_knows_frequency(conditions))
		json_number(json, "mean_khz", compare_mean_khz(conditions));
}

static bool has_conditions(const struct compare_conditions *conditions)
{
	bool has = conditions->n_loads || compare_knows_frequency(conditions);

	for (int fact = 0; fact < COMPARE_N_FACTS; fact++)
		has |= conditions->facts[fact].n > 0;
	return has;
}

/** Runs about which any is known; differences to the baseline are at the other run. */
static void json_all_conditions(struct json *json, const struct compare *compare)
{
	char text[1024];

	json_open(json, "conditions", '[', false);
	for (int run = 0; run < compare->n_runs; run++) {
		if (!has_conditions(&compare->conditions[run]))
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
	struct table_writer to = {
		.table = &metrics_table, .format = &table_json, .out = out, .json = &json,
	};

	json_document(&json, out);
	json_str(&json, "baseline", compare->runs[0]);
	json_number(&json, "confidence", options->confidence);
	if (options->joint)
		json_u64(&json, "joint", compare->n_judged);
	json_u64(&json, "resamples", options->resamples);
	json_u64(&json, "seed", options->seed);
	json_str(&json, "percentiles", compare_percentiles[options->percentile]);
	json_warnings(&json, &compare->notes);
	metric_groups(&to, compare, options);
	json_all_conditions(&json, compare);
	if (options->record_cost)
		cost_rows(&to, compare, options);
	json_document_end(&json);
}

/* --- LaTeX ----------------------------------------------------------------------------------- */

void compare_value_text(char *text, size_t size, const struct compare_cell *cell)
{
	size_t n;

	if (isnan(cell->value)) {
		snprintf(text, size, "-");
		return;
	}
	n = (size_t)snprintf(text, size, "%.6g", cell->value);
	if (n < size && !isnan(cell->interval.low) && !isnan(cell->interval.high))
		snprintf(text + n, size - n, " [%.4g, %.4g]", cell->interval.low,
			 cell->interval.high);
}

void compare_difference_text(char *text, size_t size, const struct compare_cell *cell)
{
	const struct stats_interval *interval = &cell->difference.percent;
	size_t n;

	if (isnan(cell->percent)) {
		snprintf(text, size, "-");
		return;
	}
	n = (size_t)snprintf(text, size, "%+.2f %%", cell->percent);
	if (n < size && !isnan(interval->low) && !isnan(interval->high))
		snprintf(text + n, size - n, " [%+.2f, %+.2f]", interval->low, interval->high);
}

#define LATEX_COLUMNS	(2 + 2 * COMPARE_MAX_RUNS)
#define LATEX_CELL	80

/** A line of the table. Bold differences are more than noise. */
static void latex_row(struct table_writer *to, const struct compare *compare,
		      const struct compare_metric *metric, int kind)
{
	char text[LATEX_COLUMNS][LATEX_CELL];
	struct table_cell cells[LATEX_COLUMNS] = {
		table_name(metric->name), table_name(stats_name(kind)),
	};
	size_t n = 2;

	for (int run = 0; run < compare->n_runs; run++) {
		const struct compare_cell *cell = &metric->sets[run].cells[kind];

		compare_value_text(text[n], sizeof(text[n]), cell);
		cells[n] = table_name(text[n]);
		n++;
		if (!run)
			continue;
		compare_difference_text(text[n], sizeof(text[n]), cell);
		cells[n] = table_name(text[n]);
		if (cell->difference.verdict == STATS_DIFFERENT)
			cells[n].style = OUT_HEAD;
		n++;
	}
	table_row(to, cells);
}

void compare_latex(struct output *out, const struct compare *compare,
		   const struct compare_options *options)
{
	struct table_column columns[LATEX_COLUMNS] = {
		{ .key = "metric", .title = "metric" },
		{ .key = "statistic", .title = "statistic" },
	};
	struct table table = { .rows = { .key = "statistics", .columns = columns, .n = 2 } };
	struct table_writer to = { .table = &table, .format = &table_latex, .out = out };

	for (int run = 0; run < compare->n_runs; run++) {
		columns[table.rows.n++] = (struct table_column){
			.key = compare->runs[run], .title = compare->runs[run], .right = true,
		};
		if (run)
			columns[table.rows.n++] = (struct table_column){
				.key = "difference", .title = "difference", .right = true,
			};
	}
	table_flat(&to, true);
	for (int i = 0; i < compare->n_metrics; i++)
		for (int kind = 0; kind < STATS_N; kind++)
			if (options->kinds[kind])
				latex_row(&to, compare, compare->metrics[i], kind);
	table_flat_end(&to);
}
