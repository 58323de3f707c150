// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_write.c
 * @brief	The results of a study as text, JSON, CSV and LaTeX.
 */
#include <math.h>
#include <stdio.h>

#include "study.h"
#include "table.h"
#include "terminal.h"

/** Numbers are for programs; text and LaTeX have them with their intervals. */
static const struct table_column columns[] = {
	{ .key = "benchmark" },
	{ .key = "metric" },
	{ .key = "better" },
	{ .key = "configuration" },
	{ .key = "runs", .type = TABLE_TIME },
	{ .key = "mean", .type = TABLE_RATE },
	{ .key = "mean_low", .type = TABLE_RATE },
	{ .key = "mean_high", .type = TABLE_RATE },
	{ .key = "stddev", .type = TABLE_RATE },
	{ .key = "difference_percent", .type = TABLE_RATE },
	{ .key = "difference_low", .type = TABLE_RATE },
	{ .key = "difference_high", .type = TABLE_RATE },
	{ .key = "verdict" },
	{ .key = "effect" },
};

static const struct table numbers_table = {
	.rows = { .key = "results", TABLE_COLUMNS(columns) },
};

#define NAME_WIDTH	24

/** The first one becomes as wide as the longest name. */
static const struct table_column text_columns[] = {
	{ .title = "metric", .width = NAME_WIDTH },
	{ .title = "configuration", .width = 15 },
	{ .title = "runs", .width = 6, .right = true },
	{ .title = "mean [interval]", .width = 34, .right = true },
	{ .title = "difference [interval]", .width = 32, .right = true },
	{ .title = "verdict" },
};

static struct table_cell number_cell(double number)
{
	return table_rate(!isnan(number), number);
}

/** A configuration and a metric. */
struct cell {
	const struct compare *compare;
	const struct compare_metric *metric;
	const char	*benchmark;
	int		run;
};

static const char *verdict_of(const struct cell *at)
{
	const struct compare_set *set = &at->metric->sets[at->run];

	return at->run ? compare_verdict_name(set->cells[STATS_MEAN].difference.verdict) :
	       "baseline";
}

static void text_row(struct table_writer *to, const struct cell *at)
{
	const struct compare_set *set = &at->metric->sets[at->run];
	const struct compare_cell *mean = &set->cells[STATS_MEAN];
	bool differs = at->run && mean->difference.verdict == STATS_DIFFERENT;
	char runs[24], value[80], change[80] = "";

	snprintf(runs, sizeof(runs), "%zu", set->n);
	compare_value_text(value, sizeof(value), mean);
	if (at->run)
		compare_difference_text(change, sizeof(change), mean);
	table_row(to, (const struct table_cell[ARRAY_SIZE(text_columns)]){
		table_name(at->metric->name), table_name(at->compare->runs[at->run]),
		table_name(runs), table_name(value),
		{ .name = change, .style = differs ? OUT_HEAD : OUT_PLAIN },
		table_name(at->run && !at->metric->sets[0].n ? "" : verdict_of(at)),
	});
}

static void number_row(struct table_writer *to, const struct cell *at)
{
	const struct compare_set *set = &at->metric->sets[at->run];
	const struct compare_cell *mean = &set->cells[STATS_MEAN];
	const struct stats_interval *percent = &mean->difference.percent;

	table_row(to, (const struct table_cell[ARRAY_SIZE(columns)]){
		table_name(at->benchmark), table_name(at->metric->name),
		table_optional_name(compare_better_name(at->metric->better)),
		table_name(at->compare->runs[at->run]), table_number((int64_t)set->n),
		number_cell(mean->value), number_cell(mean->interval.low),
		number_cell(mean->interval.high), number_cell(set->cells[STATS_STDDEV].value),
		number_cell(mean->percent), number_cell(percent->low), number_cell(percent->high),
		table_name(verdict_of(at)),
		table_optional_name(at->run ? study_effect(at->metric, at->run) : NULL),
	});
}

/** The benchmark of a metric: its name begins with that. */
static const char *benchmark_of(const struct study *study, const char *metric)
{
	const char *found = "";

	for (int i = 0; i < study->plan.n_benchmarks; i++) {
		const char *name = study->plan.benchmarks[i].name;

		if (!strncmp(metric, name, strlen(name)) && metric[strlen(name)] == '.')
			found = name;
	}
	return found;
}

static void put_rows(struct table_writer *to, const struct study *study,
		     const struct compare *compare)
{
	bool numbers = table_is(to, TABLE_JSON) || table_is(to, TABLE_CSV);

	for (int i = 0; i < compare->n_metrics; i++) {
		struct cell at = { compare, compare->metrics[i],
				   benchmark_of(study, compare->metrics[i]->name), 0 };

		for (at.run = 0; at.run < compare->n_runs; at.run++) {
			/* tracing that there was none of has no volume */
			if (!at.metric->sets[at.run].n)
				continue;
			if (numbers)
				number_row(to, &at);
			else
				text_row(to, &at);
		}
	}
}

static size_t longest_name(const struct compare *compare, size_t width)
{
	for (int i = 0; i < compare->n_metrics; i++) {
		size_t n = out_columns(compare->metrics[i]->name) + 2;

		width = n > width ? n : width;
	}
	return width;
}

static void put_table(struct output *out, struct json *json, int format,
		      const struct study *study, const struct study_results *results)
{
	struct table_column wide[ARRAY_SIZE(text_columns)];
	const struct table text_table = { .rows = { TABLE_COLUMNS(wide) } };
	struct table_writer to = {
		.table = json || format == TABLE_CSV ? &numbers_table : &text_table,
		.format = table_formats[format], .out = out, .json = json,
	};

	memcpy(wide, text_columns, sizeof(wide));
	wide[0].width = longest_name(&results->costs, longest_name(&results->volumes, NAME_WIDTH));
	table_flat(&to, true);
	put_rows(&to, study, &results->costs);
	put_rows(&to, study, &results->volumes);
	table_flat_end(&to);
}

/* --- text ------------------------------------------------------------------------------------ */

#define LINE_COLUMNS	100

/** A sentence in lines of a readable length. @arg: the output */
static void put_sentence(void *arg, bool main, const char *sentence)
{
	struct output *out = arg;
	size_t column = 2;

	(void)main;
	out_str(out, "  ");
	while (*sentence) {
		char word[256];
		size_t n = strcspn(sentence, " ");

		snprintf(word, sizeof(word), "%.*s", (int)n, sentence);
		if (column > 2 && column + out_columns(word) + 1 > LINE_COLUMNS) {
			out_str(out, "\n    ");
			column = 4;
		} else if (column > 2) {
			out_char(out, ' ');
			column++;
		}
		out_text(out, word);
		column += out_columns(word);
		sentence += n + (sentence[n] == ' ');
	}
	out_char(out, '\n');
}

/** Text has the main metrics in words; all others are in the table. */
static void put_main(void *arg, bool main, const char *sentence)
{
	if (main)
		put_sentence(arg, main, sentence);
}

static void put_head(struct output *out, const char *title)
{
	out_styled(out, OUT_HEAD, title);
	out_char(out, '\n');
}

static void put_text(struct output *out, const struct study *study,
		     const struct study_results *results)
{
	put_head(out, "What tracing costs here");
	study_sentences(study, results, put_main, out);
	out_char(out, '\n');
	put_head(out, "What limits this");
	study_warnings(study, results, put_sentence, out);
	out_char(out, '\n');
	put_head(out, "All metrics");
	put_table(out, NULL, TABLE_TEXT, study, results);
	out_printf(out, "\n%d rounds in random order, seed %llu\n", results->rounds,
		   (unsigned long long)study->plan.seed);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_sentence(void *arg, bool main, const char *sentence)
{
	(void)main;
	json_str(arg, NULL, sentence);
}

static void put_json(struct output *out, const struct study *study,
		     const struct study_results *results)
{
	struct json json;

	json_begin(&json, out);
	json_open(&json, NULL, '{', false);
	json_version(&json);
	json_str(&json, "baseline", results->costs.runs[0]);
	json_i64(&json, "rounds", results->rounds);
	json_u64(&json, "seed", study->plan.seed);
	json_number(&json, "confidence", results->options.confidence);
	json_open(&json, "sentences", '[', false);
	study_sentences(study, results, json_sentence, &json);
	json_close(&json, ']');
	json_open(&json, "limits", '[', false);
	study_warnings(study, results, json_sentence, &json);
	json_close(&json, ']');
	put_table(out, &json, TABLE_JSON, study, results);
	json_close(&json, '}');
	json_end(&json);
}

int study_write(const struct study *study, const struct study_results *results,
		const char *path, int format)
{
	static struct output out;
	int status = out_open_text(&out, path, format == TABLE_TEXT ? OUT_PAGES : OUT_PROGRAM);

	if (status)
		return status;
	if (format == TABLE_TEXT)
		put_text(&out, study, results);
	else if (format == TABLE_JSON)
		put_json(&out, study, results);
	else
		put_table(&out, NULL, format, study, results);
	return out_close(&out, KSV_EXIT_OK);
}
