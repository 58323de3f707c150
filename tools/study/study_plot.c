// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_plot.c
 * @brief	CPU, memory and runnable tasks over the time of a run, as lines.
 *
 * A benchmark has a panel for each number, and a line for each configuration: the mean of all
 * rounds at that time after the begin of the run.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "regular_file.h"
#include "study.h"
#include "whole_file.h"

#define SAMPLES_MAX_BYTES	(32 << 20)
#define MAX_MS			(7 * 24 * 3600 * 1000.0)

#define FONT_SIZE	11.0
#define MARGIN		10.0
#define AXIS_WIDTH	52.0
#define PANEL_WIDTH	200.0
#define PANEL_HEIGHT	110.0
#define PANEL_GAP	36.0
#define LEGEND_ROW	18.0
#define SWATCH		11.0
/** Points of a line at most; between two, each run has a sample. */
#define N_BINS		64
#define BIN_MS		300.0
#define PNG_SCALE	2.0

static const struct virt_color black = { 0x1a, 0x1a, 0x1a };
static const struct virt_color light = { 0xd5, 0xd8, 0xdc };

/** Numbers of a sample, in the order of samples.csv after the time; steal is in no panel. */
enum { CPU, STEAL, MEMORY, RUNNABLE, N_NUMBERS };

static const struct {
	const char	*title;
	int		number;
} panels[] = {
	{ "CPU, %", CPU }, { "memory in use, MiB", MEMORY }, { "runnable tasks", RUNNABLE },
};

/** The mean of some values. */
struct mean {
	double	sum;
	int	n;
};

/** The samples of a benchmark. */
struct series {
	double		end_ms;		/* the longest of its runs */
	struct mean	bins[STUDY_MAX_CONFIGS][N_BINS][N_NUMBERS];
};

/** A line of samples.csv. */
struct line {
	int	benchmark, config;
	double	ms, numbers[N_NUMBERS];	/* NAN: not known */
};

static int find_benchmark(const struct study_plan *plan, const char *name, size_t n)
{
	for (int i = 0; i < plan->n_benchmarks; i++)
		if (strlen(plan->benchmarks[i].name) == n &&
		    !memcmp(plan->benchmarks[i].name, name, n))
			return i;
	return -1;
}

static int find_config(const struct study_plan *plan, const char *name, size_t n)
{
	for (int i = 0; i < plan->n_configs; i++)
		if (strlen(plan->configs[i].name) == n && !memcmp(plan->configs[i].name, name, n))
			return i;
	return -1;
}

/** Behind a field and its comma; NULL: that was the last one. */
static const char *next_field(const char *at)
{
	at += strcspn(at, ",\n");
	return *at == ',' ? at + 1 : NULL;
}

/** A line whose end is missing, or that is no sample, is left out. */
static bool parse_line(const struct study_plan *plan, const char *text, struct line *line)
{
	const char *config = next_field(text), *round = config ? next_field(config) : NULL;
	const char *at = round ? next_field(round) : NULL;

	if (!at)
		return false;
	line->benchmark = find_benchmark(plan, text, (size_t)(config - text) - 1);
	line->config = find_config(plan, config, (size_t)(round - config) - 1);
	line->ms = strtod(at, NULL);
	for (int i = 0; i < N_NUMBERS; i++) {
		char *end;

		at = next_field(at);
		if (!at)
			return false;
		line->numbers[i] = strtod(at, &end);
		if (end == at || !isfinite(line->numbers[i]))
			line->numbers[i] = NAN;
	}
	return line->benchmark >= 0 && line->config >= 0 && line->ms >= 0 && line->ms < MAX_MS;
}

static double bin_ms(const struct series *series)
{
	return fmax(BIN_MS, series->end_ms / (N_BINS - 1));
}

/** @add: else only the ends of the runs are found */
static void read_lines(const struct study_plan *plan, const char *text, struct series *all,
		       bool add)
{
	struct line line;

	for (; text; text = strchr(text, '\n')) {
		struct series *series;
		int bin;

		text += *text == '\n';
		if (!parse_line(plan, text, &line))
			continue;
		series = &all[line.benchmark];
		if (!add) {
			series->end_ms = fmax(series->end_ms, line.ms);
			continue;
		}
		bin = (int)lround(line.ms / bin_ms(series));
		for (int i = 0; i < N_NUMBERS; i++) {
			struct mean *mean = &series->bins[line.config][bin][i];

			if (isnan(line.numbers[i]))
				continue;
			mean->sum += line.numbers[i];
			mean->n++;
		}
	}
}

static double value_of(const struct mean *mean)
{
	return mean->n ? mean->sum / mean->n : NAN;
}

/* --- drawing --------------------------------------------------------------------------------- */

struct panel {
	const struct study *study;
	const struct series *series;
	struct canvas	*canvas;
	int		number;
	double		x, y;		/* top left */
	double		low, high;
};

static void find_range(struct panel *panel)
{
	panel->low = INFINITY;
	panel->high = -INFINITY;
	for (int config = 0; config < panel->study->plan.n_configs; config++)
		for (int bin = 0; bin < N_BINS; bin++) {
			double value = value_of(&panel->series->bins[config][bin][panel->number]);

			if (isnan(value))
				continue;
			panel->low = fmin(panel->low, value);
			panel->high = fmax(panel->high, value);
		}
	/* memory changes little beside what is in use all the time */
	if (panel->number != MEMORY)
		panel->low = 0;
	if (panel->number == CPU)
		panel->high = 100;
	if (!(panel->high > panel->low))
		panel->high = panel->low + 1;
}

static double y_of(const struct panel *panel, double value)
{
	return panel->y + PANEL_HEIGHT * (panel->high - value) / (panel->high - panel->low);
}

static void draw_line(const struct panel *panel, int config)
{
	const struct canvas_paint paint = { .color = virt_vcpu_color(config), .line = 1.5 };
	bool open = false;

	canvas_group(panel->canvas, "line", panel->study->plan.configs[config].name, NULL);
	canvas_path(panel->canvas, "mean", &paint);
	for (int bin = 0; bin < N_BINS; bin++) {
		double value = value_of(&panel->series->bins[config][bin][panel->number]);
		double x = panel->x + fmin(PANEL_WIDTH * bin * bin_ms(panel->series) /
					   fmax(panel->series->end_ms, 1), PANEL_WIDTH);

		if (isnan(value))
			continue;
		if (open)
			canvas_line(panel->canvas, x, y_of(panel, value));
		else
			canvas_move(panel->canvas, x, y_of(panel, value));
		open = true;
	}
	canvas_path_end(panel->canvas);
	canvas_group_end(panel->canvas);
}

static void put_label(const struct panel *panel, enum canvas_anchor anchor, double x, double y,
		      const char *text)
{
	const struct canvas_font font = { .size = FONT_SIZE, .anchor = anchor, .color = black };

	canvas_text(panel->canvas, "label", &font, x, y, text);
}

static void draw_panel(struct panel *panel, const char *title)
{
	const struct canvas_paint frame = { .color = light, .line = 0.5 };
	char text[64];

	find_range(panel);
	canvas_group(panel->canvas, "panel", title, NULL);
	canvas_rect(panel->canvas, "frame", &frame, panel->x, panel->y, PANEL_WIDTH, PANEL_HEIGHT);
	put_label(panel, CANVAS_START, panel->x, panel->y - 5, title);
	snprintf(text, sizeof(text), "%.4g", panel->high);
	put_label(panel, CANVAS_END, panel->x - 4, panel->y + FONT_SIZE, text);
	snprintf(text, sizeof(text), "%.4g", panel->low);
	put_label(panel, CANVAS_END, panel->x - 4, panel->y + PANEL_HEIGHT, text);
	put_label(panel, CANVAS_START, panel->x, panel->y + PANEL_HEIGHT + FONT_SIZE + 2, "0");
	snprintf(text, sizeof(text), "%.3g s", panel->series->end_ms / 1000);
	put_label(panel, CANVAS_END, panel->x + PANEL_WIDTH,
		  panel->y + PANEL_HEIGHT + FONT_SIZE + 2, text);
	for (int config = 0; config < panel->study->plan.n_configs; config++)
		draw_line(panel, config);
	canvas_group_end(panel->canvas);
}

static double row_height(void)
{
	return FONT_SIZE + PANEL_HEIGHT + PANEL_GAP + LEGEND_ROW;
}

static void draw_all(const struct study *study, const struct series *all, struct canvas *canvas)
{
	struct panel panel = { .study = study, .canvas = canvas };
	double y = MARGIN + FONT_SIZE;

	for (int i = 0; i < study->plan.n_benchmarks; i++, y += row_height()) {
		panel.series = &all[i];
		canvas_group(canvas, "benchmark", study->plan.benchmarks[i].name, NULL);
		put_label(&panel, CANVAS_START, MARGIN, y, study->plan.benchmarks[i].name);
		for (size_t j = 0; j < ARRAY_SIZE(panels); j++) {
			panel.x = MARGIN + AXIS_WIDTH + (double)j * (PANEL_WIDTH + AXIS_WIDTH);
			panel.y = y + LEGEND_ROW + FONT_SIZE;
			panel.number = panels[j].number;
			draw_panel(&panel, panels[j].title);
		}
		canvas_group_end(canvas);
	}
	for (int i = 0; i < study->plan.n_configs; i++, y += LEGEND_ROW) {
		const struct canvas_paint paint = { .color = virt_vcpu_color(i) };

		canvas_rect(canvas, "swatch", &paint, MARGIN, y - SWATCH + 2, SWATCH, SWATCH);
		put_label(&panel, CANVAS_START, MARGIN + SWATCH + 5, y,
			  study->plan.configs[i].name);
	}
}

static int draw(const struct study *study, const struct series *all, const char *path)
{
	static struct output out;
	double width = 2 * MARGIN + (PANEL_WIDTH + AXIS_WIDTH) * ARRAY_SIZE(panels);
	double height = 2 * MARGIN + FONT_SIZE + row_height() * study->plan.n_benchmarks +
			LEGEND_ROW * study->plan.n_configs;
	int status = out_open(&out, path);
	const char *problem = NULL;
	struct canvas *canvas;

	if (status)
		return status;
	canvas = canvas_new((enum canvas_format)compare_plot_format(path), &out, width, height,
			    PNG_SCALE, &problem);
	if (canvas) {
		draw_all(study, all, canvas);
		problem = canvas_finish(canvas);
	}
	canvas_free(canvas);
	if (problem)
		ksv_error("%s: cannot draw: %s", path, problem);
	return out_close(&out, problem ? KSV_EXIT_FILE : KSV_EXIT_OK);
}

/** Bars are differences round by round: that of the baseline is 100 % by definition. */
static void show_differences(struct compare_metric *metric, int n_configs)
{
	double base = metric->sets[0].cells[STATS_MEAN].value;

	metric->sets[0].cells[STATS_MEAN].interval = (struct stats_interval){ NAN, NAN };
	for (int config = 1; config < n_configs; config++) {
		struct compare_cell *cell = &metric->sets[config].cells[STATS_MEAN];
		const struct stats_interval *percent = &cell->difference.percent;

		cell->value = base * (1 + cell->percent / 100);
		cell->interval.low = base * (1 + percent->low / 100);
		cell->interval.high = base * (1 + percent->high / 100);
	}
}

int study_plot_costs(const struct study *study, struct study_results *results, const char *path)
{
	const char *names[STUDY_MAX_BENCHMARKS];
	struct compare_options options = results->options;
	int n = 0;

	for (int i = 0; i < study->plan.n_benchmarks; i++) {
		int metric = study_main_metric(study, results, i);

		if (metric >= 0)
			names[n++] = results->costs.metrics[metric]->name;
	}
	compare_keep_metrics(&results->costs, names, n);
	for (int i = 0; i < results->costs.n_metrics; i++)
		show_differences(results->costs.metrics[i], results->costs.n_runs);
	options.kinds[STATS_STDDEV] = false;
	return compare_plot(path, &results->costs, &options);
}

int study_plot_time(const struct study *study, const char *path)
{
	struct series *all = calloc((size_t)study->plan.n_benchmarks, sizeof(*all));
	char samples[STUDY_PATH], *text = NULL;
	size_t length;
	int status, ret;

	snprintf(samples, sizeof(samples), "%s/samples.csv", study->folder);
	ret = all ? whole_file_read(samples, SAMPLES_MAX_BYTES, &text, &length) : -ENOMEM;
	if (!ret) {
		read_lines(&study->plan, text, all, false);
		read_lines(&study->plan, text, all, true);
		status = draw(study, all, path);
	} else {
		/* a study is complete without it */
		ksv_note("%s: cannot read: %s; there is no figure over time", samples,
			 regular_file_error(ret));
		status = KSV_EXIT_OK;
	}
	free(text);
	free(all);
	return status;
}
