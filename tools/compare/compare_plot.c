// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_plot.c
 * @brief	A comparison as grouped bars, with the intervals as whiskers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "canvas.h"
#include "compare.h"
#include "escape.h"
#include "options.h"

#define FONT_SIZE	11.0
#define MARGIN		10.0
#define WIDTH		760.0
#define PLOT_HEIGHT	260.0
#define TITLE_HEIGHT	24.0
#define LEGEND_ROW	18.0
#define SWATCH		11.0
/** Bars, and the room between two groups, in bars. */
#define MAX_BAR		34.0
#define MIN_BAR		3.0
#define GROUP_GAP	1.0
#define WHISKER		3.0
#define MAX_LABEL	140.0
#define PNG_SCALE	2.0

static const struct virt_color black = { 0x1a, 0x1a, 0x1a };
static const struct virt_color grey = { 0x59, 0x59, 0x59 };
static const struct virt_color light = { 0xd5, 0xd8, 0xdc };

static const struct {
	const char		*end;
	enum canvas_format	format;
} formats[] = {
	{ ".svg", CANVAS_SVG }, { ".png", CANVAS_PNG }, { ".pdf", CANVAS_PDF },
};

/** The chart: where things are, and what the axis shows. */
struct chart {
	const struct compare	*compare;
	const struct compare_options *options;
	struct canvas		*canvas;
	bool			by_metric;	/* groups are metrics, else statistics */
	int			groups[COMPARE_MAX_METRICS];
	int			n_groups;
	double			left, top, width, height, bar, group;
	double			low, high, step;	/* of the axis */
	double			legend_y;
	int			legend_columns;
};

/** A bar and its whisker in units of the axis; NAN: there is none. */
struct bar {
	double	value, low, high;
};

static struct bar bar_at(const struct chart *chart, int group, int run)
{
	int kind = chart->by_metric ? compare_judged(chart->options) : chart->groups[group];
	int metric = chart->by_metric ? chart->groups[group] : 0;
	const struct compare_set *sets = chart->compare->metrics[metric]->sets;
	const struct compare_cell *cell = &sets[run].cells[kind];
	double base = sets[0].cells[kind].value;
	struct bar bar = { cell->value, cell->interval.low, cell->interval.high };

	if (!chart->by_metric)
		return bar;
	bar.value = 100 + stats_percent(base, cell->value);
	bar.low = 100 + stats_percent(base, cell->interval.low);
	bar.high = 100 + stats_percent(base, cell->interval.high);
	return bar;
}

static const char *group_name(const struct chart *chart, int group)
{
	return chart->by_metric ? chart->compare->metrics[chart->groups[group]]->name :
				  stats_name(chart->groups[group]);
}

/** In per cent of nothing there is no bar; but what has become of nothing must be seen. */
static bool is_from_zero(const struct chart *chart, int group, int run)
{
	int kind = compare_judged(chart->options);
	const struct compare_set *sets;

	if (!chart->by_metric)
		return false;
	sets = chart->compare->metrics[chart->groups[group]]->sets;
	return sets[0].cells[kind].value == 0 && sets[run].cells[kind].value != 0 &&
	       !isnan(sets[run].cells[kind].value);
}

/** Groups that have something to show. A spread does not stand beside averages if there are any. */
static void choose_groups(struct chart *chart)
{
	const struct compare *compare = chart->compare;
	int all = 0;

	chart->by_metric = compare->n_metrics > 1;
	for (int kind = 0; kind < STATS_N; kind++)
		all += chart->options->kinds[kind];
	for (int i = 0; i < (chart->by_metric ? compare->n_metrics : STATS_N); i++) {
		bool shown = false;

		if (!chart->by_metric && (!chart->options->kinds[i] ||
					  (i == STATS_STDDEV && all > 1)))
			continue;
		chart->groups[chart->n_groups++] = i;
		for (int run = 0; run < compare->n_runs; run++)
			shown |= !isnan(bar_at(chart, chart->n_groups - 1, run).value) ||
				 is_from_zero(chart, chart->n_groups - 1, run);
		chart->n_groups -= !shown;
	}
}

static void widen(struct chart *chart, double value)
{
	if (isnan(value))
		return;
	chart->low = fmin(chart->low, value);
	chart->high = fmax(chart->high, value);
}

/** The axis holds 0, all bars and all whiskers, and ends at a tick. */
static void find_axis(struct chart *chart)
{
	double span, power, factor;

	for (int group = 0; group < chart->n_groups; group++) {
		for (int run = 0; run < chart->compare->n_runs; run++) {
			struct bar bar = bar_at(chart, group, run);

			widen(chart, bar.value);
			widen(chart, bar.low);
			widen(chart, bar.high);
		}
	}
	span = (chart->high - chart->low) / 6;
	if (!(span > 0) || !isfinite(span))
		span = 1;
	power = pow(10, floor(log10(span)));
	factor = span / power;
	chart->step = power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
	chart->low = floor(chart->low / chart->step) * chart->step;
	chart->high = ceil(chart->high / chart->step) * chart->step;
	if (!(chart->high > chart->low))
		chart->high = chart->low + chart->step;
}

static struct canvas_font font_of(enum canvas_anchor anchor, struct virt_color color)
{
	return (struct canvas_font){ .size = FONT_SIZE, .anchor = anchor, .color = color };
}

static void tick_text(const struct chart *chart, double value, char *text, size_t size)
{
	/* what is left of adding up steps is 0 */
	if (fabs(value) < chart->step / 1e6)
		value = 0;
	snprintf(text, size, chart->by_metric ? "%.10g %%" : "%.10g", value);
}

static double y_of(const struct chart *chart, double value)
{
	return chart->top + chart->height * (chart->high - value) / (chart->high - chart->low);
}

static int n_ticks(const struct chart *chart)
{
	return (int)lround((chart->high - chart->low) / chart->step) + 1;
}

static void place(struct chart *chart)
{
	struct canvas_font font = font_of(CANVAS_END, black);
	int n_runs = chart->compare->n_runs;
	double widest = 0, legend = 0, label = 0, bars;
	char text[64];

	for (int i = 0; i < n_ticks(chart); i++) {
		tick_text(chart, chart->low + i * chart->step, text, sizeof(text));
		widest = fmax(widest, canvas_text_width(&font, text));
	}
	chart->left = MARGIN + widest + 8;
	chart->top = MARGIN + TITLE_HEIGHT;
	chart->width = WIDTH - MARGIN - chart->left;
	chart->height = PLOT_HEIGHT;
	bars = chart->n_groups * (n_runs + GROUP_GAP);
	chart->bar = fmax(fmin(chart->width / bars, MAX_BAR), MIN_BAR);
	for (int group = 0; group < chart->n_groups; group++)
		label = fmax(label, canvas_text_width(&font, group_name(chart, group)) + 8);
	/* many groups make a wide figure rather than one that cannot be read */
	chart->width = fmax(chart->width, chart->bar * bars);
	chart->width = fmax(chart->width, chart->n_groups * fmin(label, MAX_LABEL));
	chart->group = chart->width / chart->n_groups;
	for (int run = 0; run < n_runs; run++)
		legend = fmax(legend, canvas_text_width(&font, chart->compare->runs[run]));
	chart->legend_columns = (int)fmax(1, floor(chart->width / (legend + SWATCH + 24)));
	chart->legend_y = chart->top + chart->height + FONT_SIZE + 20;
}

static double chart_width(const struct chart *chart)
{
	return chart->left + chart->width + MARGIN;
}

static double chart_height(const struct chart *chart)
{
	int rows = (chart->compare->n_runs + chart->legend_columns - 1) / chart->legend_columns;

	return chart->legend_y + rows * LEGEND_ROW + MARGIN;
}

static void draw_axis(const struct chart *chart)
{
	const struct canvas_paint grid = { .color = light, .line = 0.5 };
	const struct canvas_paint line = { .color = black, .line = 1 };
	struct canvas_font font = font_of(CANVAS_END, black);
	char text[64];

	canvas_group(chart->canvas, "axis", NULL, NULL);
	canvas_path(chart->canvas, "grid", &grid);
	for (int i = 0; i < n_ticks(chart); i++) {
		double y = y_of(chart, chart->low + i * chart->step);

		canvas_move(chart->canvas, chart->left, y);
		canvas_line(chart->canvas, chart->left + chart->width, y);
	}
	canvas_path_end(chart->canvas);
	for (int i = 0; i < n_ticks(chart); i++) {
		double value = chart->low + i * chart->step;

		tick_text(chart, value, text, sizeof(text));
		canvas_text(chart->canvas, "tick", &font, chart->left - 6,
			    y_of(chart, value) + FONT_SIZE * 0.35, text);
	}
	canvas_path(chart->canvas, "base", &line);
	canvas_move(chart->canvas, chart->left, y_of(chart, 0));
	canvas_line(chart->canvas, chart->left + chart->width, y_of(chart, 0));
	canvas_path_end(chart->canvas);
	canvas_group_end(chart->canvas);
}

static void draw_whisker(const struct chart *chart, double x, const struct bar *bar)
{
	const struct canvas_paint paint = { .color = black, .line = 1 };
	double low = y_of(chart, bar->low), high = y_of(chart, bar->high);
	double half = fmin(WHISKER, chart->bar / 3);

	if (isnan(bar->low) || isnan(bar->high))
		return;
	canvas_path(chart->canvas, "interval", &paint);
	canvas_move(chart->canvas, x - half, low);
	canvas_line(chart->canvas, x + half, low);
	canvas_move(chart->canvas, x, low);
	canvas_line(chart->canvas, x, high);
	canvas_move(chart->canvas, x - half, high);
	canvas_line(chart->canvas, x + half, high);
	canvas_path_end(chart->canvas);
}

/** In place of a bar: from 0 to what it is now. */
static void draw_from_zero(const struct chart *chart, int group, int run, double x)
{
	const struct compare_metric *metric = chart->compare->metrics[chart->groups[group]];
	struct canvas_font font = font_of(CANVAS_MIDDLE, virt_vcpu_color(run));
	char text[40];

	snprintf(text, sizeof(text), "0 -> %.3g",
		 metric->sets[run].cells[compare_judged(chart->options)].value);
	canvas_group(chart->canvas, "from-zero", chart->compare->runs[run], NULL);
	canvas_text(chart->canvas, "change", &font, x + chart->bar * 0.46,
		    y_of(chart, 0) - 4 - FONT_SIZE * run, text);
	canvas_group_end(chart->canvas);
}

static void draw_run(const struct chart *chart, int group, int run, double x)
{
	const struct canvas_paint paint = { .color = virt_vcpu_color(run) };
	struct bar bar = bar_at(chart, group, run);
	double y = y_of(chart, bar.value), base = y_of(chart, 0);
	char tip[200];

	if (is_from_zero(chart, group, run))
		draw_from_zero(chart, group, run, x);
	if (isnan(bar.value))
		return;
	text_format(tip, sizeof(tip), "%s %s: %.6g%s", chart->compare->runs[run],
		 group_name(chart, group), bar.value, chart->by_metric ? " %" : "");
	canvas_group(chart->canvas, "bar", chart->compare->runs[run], tip);
	canvas_rect(chart->canvas, "value", &paint, x, fmin(y, base), chart->bar * 0.92,
		    fabs(base - y));
	draw_whisker(chart, x + chart->bar * 0.46, &bar);
	canvas_group_end(chart->canvas);
}

/** Cut a name at the end until it fits. */
static void fit_text(const struct canvas_font *font, double width, char *text)
{
	size_t n = strlen(text);

	while (n > 4 && canvas_text_width(font, text) > width) {
		for (n--; n > 4 && (text[n - 3] & 0xc0) == 0x80; n--)
			;
		memcpy(text + n - 3, "...", 4);
	}
}

static void draw_groups(const struct chart *chart)
{
	struct canvas_font font = font_of(CANVAS_MIDDLE, black);
	double used = chart->bar * chart->compare->n_runs;
	char text[300];

	for (int group = 0; group < chart->n_groups; group++) {
		double x = chart->left + chart->group * group;

		canvas_group(chart->canvas, "group", group_name(chart, group), NULL);
		for (int run = 0; run < chart->compare->n_runs; run++)
			draw_run(chart, group, run,
				 x + (chart->group - used) / 2 + chart->bar * run);
		text_format(text, sizeof(text), "%s", group_name(chart, group));
		fit_text(&font, chart->group - 4, text);
		canvas_text(chart->canvas, "name", &font, x + chart->group / 2,
			    chart->top + chart->height + FONT_SIZE + 5, text);
		canvas_group_end(chart->canvas);
	}
}

static void draw_legend(const struct chart *chart)
{
	struct canvas_font font = font_of(CANVAS_START, black);
	double column = chart->width / chart->legend_columns;

	canvas_group(chart->canvas, "legend", NULL, NULL);
	for (int run = 0; run < chart->compare->n_runs; run++) {
		const struct canvas_paint paint = { .color = virt_vcpu_color(run) };
		double x = chart->left + column * (run % chart->legend_columns);
		double y = chart->legend_y + LEGEND_ROW * (run / chart->legend_columns);

		canvas_rect(chart->canvas, "swatch", &paint, x, y, SWATCH, SWATCH);
		canvas_text(chart->canvas, "run", &font, x + SWATCH + 5, y + FONT_SIZE - 1,
			    chart->compare->runs[run]);
	}
	canvas_group_end(chart->canvas);
}

static void draw_title(const struct chart *chart)
{
	struct canvas_font font = font_of(CANVAS_START, grey);
	char text[400];

	if (chart->by_metric)
		text_format(text, sizeof(text), "%s, %% of %s; %g %% intervals",
			 stats_name(compare_judged(chart->options)), chart->compare->runs[0],
			 100 * chart->options->confidence);
	else
		text_format(text, sizeof(text), "%s; %g %% intervals",
			 chart->compare->metrics[0]->name, 100 * chart->options->confidence);
	if (chart->options->title) {
		font.bold = true;
		font.color = black;
		text_format(text, sizeof(text), "%s", chart->options->title);
	}
	canvas_text(chart->canvas, "title", &font, chart->left, MARGIN + FONT_SIZE, text);
}

int compare_plot_format(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (n > 4 && !strcasecmp(path + n - 4, formats[i].end))
			return (int)formats[i].format;
	return -1;
}

int compare_take_plot(const struct ksv_command *command, const struct ksv_option *option,
		      const char *value, void *target)
{
	if (compare_plot_format(value) < 0)
		return ksv_usage_error(command, "--%s %s: the name must end in .svg, .png or .pdf",
				       option->name, value);
	return ksv_take_text(command, option, value, target);
}

static int draw(struct chart *chart, enum canvas_format format, struct output *out)
{
	const char *problem;

	chart->canvas = canvas_new(format, out, chart_width(chart), chart_height(chart),
				   PNG_SCALE, &problem);
	if (chart->canvas) {
		draw_title(chart);
		draw_axis(chart);
		draw_groups(chart);
		draw_legend(chart);
		problem = canvas_finish(chart->canvas);
	}
	canvas_free(chart->canvas);
	if (problem)
		ksv_error("%s: cannot draw: %s", out->name, problem);
	return problem ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

int compare_plot(const char *path, const struct compare *compare,
		 const struct compare_options *options)
{
	struct chart *chart = calloc(1, sizeof(*chart));
	static struct output out;
	int status;

	if (!chart) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	chart->compare = compare;
	chart->options = options;
	choose_groups(chart);
	if (!chart->n_groups) {
		ksv_error("%s: nothing to draw: the selected statistics are not defined", path);
		status = KSV_EXIT_FILE;
	} else {
		status = out_open(&out, path);
		if (!status) {
			find_axis(chart);
			place(chart);
			status = draw(chart, (enum canvas_format)compare_plot_format(path), &out);
			status = out_close(&out, status);
		}
	}
	free(chart);
	return status;
}
