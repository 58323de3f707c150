// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_plot.c
 * @brief	A comparison as grouped bars with intervals as whiskers, in one panel or several.
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
/** Panels side by side. */
#define MOST_PANELS	48
#define PANEL_GAP	18.0
#define MIN_PANEL	170.0
#define NAME_HEIGHT	(FONT_SIZE + 8)

static const struct virt_color black = { 0x1a, 0x1a, 0x1a };
static const struct virt_color grey = { 0x59, 0x59, 0x59 };
static const struct virt_color light = { 0xd5, 0xd8, 0xdc };

const char *const compare_panels[] = {
	[COMPARE_PANEL_ONE] = "one", [COMPARE_PANEL_PART] = "part",
	[COMPARE_PANEL_METRIC] = "metric", NULL
};

static const struct {
	const char		*end;
	enum canvas_format	format;
} formats[] = {
	{ ".svg", CANVAS_SVG }, { ".png", CANVAS_PNG }, { ".pdf", CANVAS_PDF },
};

/** The bars of a statistic of a metric. */
struct group {
	int	metric, kind;
};

/** Groups beside each other, on an axis. */
struct panel {
	const char	*name;
	int		name_size;
	int		first, n;		/* groups */
	double		left, top;		/* of its bars */
	double		low, high, step;	/* of the axis */
};

/** The chart: where things are. */
struct chart {
	const struct compare	*compare;
	const struct compare_options *options;
	struct canvas		*canvas;
	bool			in_percent;	/* of the baseline: groups are metrics */
	struct group		*groups;
	int			n_groups, n_panels, columns;
	struct panel		panels[MOST_PANELS];
	double			axis, width, height, bar;	/* of each panel */
	double			legend_y;
	int			legend_columns;
};

/** A bar and its whisker in units of the axis; NAN: there is none. */
struct bar {
	double	value, low, high;
};

static const struct compare_set *sets_of(const struct chart *chart, int group)
{
	return chart->compare->metrics[chart->groups[group].metric]->sets;
}

static struct bar bar_at(const struct chart *chart, int group, int run)
{
	int kind = chart->groups[group].kind;
	const struct compare_set *sets = sets_of(chart, group);
	const struct compare_cell *cell = &sets[run].cells[kind];
	double base = sets[0].cells[kind].value;
	struct bar bar = { cell->value, cell->interval.low, cell->interval.high };

	if (!chart->in_percent)
		return bar;
	bar.value = 100 + stats_percent(base, cell->value);
	bar.low = 100 + stats_percent(base, cell->interval.low);
	bar.high = 100 + stats_percent(base, cell->interval.high);
	return bar;
}

/** The first part of a metric's name: up to a point that is not the last character. */
static int part_size(const char *name)
{
	size_t n = strcspn(name, ".");

	return (int)(name[n] && name[n + 1] ? n : 0);
}

static const char *group_name(const struct chart *chart, int group)
{
	const char *name = chart->compare->metrics[chart->groups[group].metric]->name;
	int part = part_size(name);

	if (!chart->in_percent)
		return stats_name(chart->groups[group].kind);
	return chart->options->panels == COMPARE_PANEL_PART && part ? name + part + 1 : name;
}

/** In per cent of nothing there is no bar; but what has become of nothing must be seen. */
static bool is_from_zero(const struct chart *chart, int group, int run)
{
	int kind = chart->groups[group].kind;
	const struct compare_set *sets = sets_of(chart, group);

	return chart->in_percent && sets[0].cells[kind].value == 0 &&
	       sets[run].cells[kind].value != 0 && !isnan(sets[run].cells[kind].value);
}

/** Add a group to the panel, if it has something to show. */
static void add_group(struct chart *chart, struct panel *panel, int metric, int kind)
{
	bool shown = false;

	chart->groups[chart->n_groups] = (struct group){ metric, kind };
	for (int run = 0; run < chart->compare->n_runs; run++)
		shown |= !isnan(bar_at(chart, chart->n_groups, run).value) ||
			 is_from_zero(chart, chart->n_groups, run);
	chart->n_groups += shown;
	panel->n += shown;
}

/** The next panel, which is given up if it stays empty. Return: NULL if there are too many. */
static struct panel *begin_panel(struct chart *chart, const char *name, int name_size)
{
	struct panel *panel = &chart->panels[chart->n_panels];

	if (chart->n_panels && !panel[-1].n)
		panel = &chart->panels[--chart->n_panels];
	if (chart->n_panels == MOST_PANELS)
		return NULL;
	*panel = (struct panel){ .name = name, .name_size = name_size, .first = chart->n_groups };
	chart->n_panels++;
	return panel;
}

/** The statistics of a metric. A spread does not stand beside averages if there are any. */
static void add_statistics(struct chart *chart, struct panel *panel, int metric)
{
	int all = 0;

	for (int kind = 0; kind < STATS_N; kind++)
		all += chart->options->kinds[kind];
	for (int kind = 0; kind < STATS_N; kind++)
		if (chart->options->kinds[kind] && (kind != STATS_STDDEV || all == 1))
			add_group(chart, panel, metric, kind);
}

static bool is_same_part(const char *name, const char *other)
{
	int n = part_size(name);

	return n == part_size(other) && !strncmp(name, other, (size_t)n);
}

/** The metrics of the same first part as @first, which is the first of them. */
static bool add_part(struct chart *chart, int first)
{
	const struct compare *compare = chart->compare;
	const char *name = compare->metrics[first]->name;
	struct panel *panel;

	for (int i = 0; i < first; i++)
		if (is_same_part(compare->metrics[i]->name, name))
			return true;
	panel = begin_panel(chart, name, part_size(name));
	for (int i = first; panel && i < compare->n_metrics; i++)
		if (is_same_part(compare->metrics[i]->name, name))
			add_group(chart, panel, i, compare_judged(chart->options));
	return panel;
}

/** Return: false if there are too many panels. */
static bool choose_groups(struct chart *chart)
{
	enum compare_panels panels = chart->options->panels;
	int n = chart->compare->n_metrics;
	struct panel *panel = NULL;

	chart->in_percent = panels == COMPARE_PANEL_PART || (panels == COMPARE_PANEL_ONE && n > 1);
	for (int i = 0; i < n; i++) {
		const char *name = chart->compare->metrics[i]->name;

		if (panels == COMPARE_PANEL_PART) {
			if (!add_part(chart, i))
				return false;
			continue;
		}
		if (panels == COMPARE_PANEL_METRIC || !panel)
			panel = begin_panel(chart, name, (int)strlen(name));
		if (!panel)
			return false;
		if (chart->in_percent)
			add_group(chart, panel, i, compare_judged(chart->options));
		else
			add_statistics(chart, panel, i);
	}
	chart->n_panels -= chart->n_panels && !chart->panels[chart->n_panels - 1].n;
	return true;
}

static void widen(struct panel *panel, double value)
{
	if (isnan(value))
		return;
	panel->low = fmin(panel->low, value);
	panel->high = fmax(panel->high, value);
}

/** The axis holds 0, all bars and all whiskers of some groups, and ends at a tick. */
static void find_axis(const struct chart *chart, struct panel *panel, int first, int n)
{
	double span, power, factor;

	for (int group = first; group < first + n; group++) {
		for (int run = 0; run < chart->compare->n_runs; run++) {
			struct bar bar = bar_at(chart, group, run);

			widen(panel, bar.value);
			widen(panel, bar.low);
			widen(panel, bar.high);
		}
	}
	span = (panel->high - panel->low) / 6;
	if (!(span > 0) || !isfinite(span))
		span = 1;
	power = pow(10, floor(log10(span)));
	factor = span / power;
	panel->step = power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
	panel->low = floor(panel->low / panel->step) * panel->step;
	panel->high = ceil(panel->high / panel->step) * panel->step;
	if (!(panel->high > panel->low))
		panel->high = panel->low + panel->step;
}

/** Per cent are the same everywhere, so that panels compare; units of metrics are not. */
static void find_axes(struct chart *chart)
{
	for (int i = 0; i < chart->n_panels; i++) {
		struct panel *panel = &chart->panels[i];

		find_axis(chart, panel, chart->in_percent ? 0 : panel->first,
			  chart->in_percent ? chart->n_groups : panel->n);
	}
}

static struct canvas_font font_of(enum canvas_anchor anchor, struct virt_color color)
{
	return (struct canvas_font){ .size = FONT_SIZE, .anchor = anchor, .color = color };
}

static void tick_text(const struct chart *chart, const struct panel *panel, double value,
		      char *text, size_t size)
{
	/* what is left of adding up steps is 0 */
	if (fabs(value) < panel->step / 1e6)
		value = 0;
	snprintf(text, size, chart->in_percent ? "%.10g %%" : "%.10g", value);
}

static double y_of(const struct chart *chart, const struct panel *panel, double value)
{
	return panel->top + chart->height * (panel->high - value) / (panel->high - panel->low);
}

static int n_ticks(const struct panel *panel)
{
	return (int)lround((panel->high - panel->low) / panel->step) + 1;
}

/** The room that a panel needs for its bars and names, and its axis for numbers. */
static void measure(struct chart *chart)
{
	struct canvas_font font = font_of(CANVAS_END, black);
	int n_runs = chart->compare->n_runs, most = 0;
	double label = 0, widest = 0;
	char text[64];

	for (int i = 0; i < chart->n_panels; i++) {
		const struct panel *panel = &chart->panels[i];

		most = panel->n > most ? panel->n : most;
		for (int tick = 0; tick < n_ticks(panel); tick++) {
			tick_text(chart, panel, panel->low + tick * panel->step, text,
				  sizeof(text));
			widest = fmax(widest, canvas_text_width(&font, text));
		}
	}
	for (int group = 0; group < chart->n_groups; group++)
		label = fmax(label, canvas_text_width(&font, group_name(chart, group)) + 8);
	chart->axis = widest + 8;
	chart->width = WIDTH - 2 * MARGIN - chart->axis;
	if (chart->n_panels > 1)
		chart->width = fmax(MIN_PANEL, most * MIN_BAR * 3 * (n_runs + GROUP_GAP));
	chart->bar = fmax(fmin(chart->width / (most * (n_runs + GROUP_GAP)), MAX_BAR), MIN_BAR);
	/* many groups make a wide figure rather than one that cannot be read */
	chart->width = fmax(chart->width, chart->bar * most * (n_runs + GROUP_GAP));
	chart->width = fmax(chart->width, most * fmin(label, MAX_LABEL));
	if (chart->n_panels > 1)
		chart->bar = fmin(chart->width / (most * (n_runs + GROUP_GAP)), MAX_BAR);
}

static void place(struct chart *chart)
{
	struct canvas_font font = font_of(CANVAS_END, black);
	double above = chart->n_panels > 1 ? NAME_HEIGHT : 0, legend = 0, step;
	int rows;

	measure(chart);
	step = chart->axis + chart->width + PANEL_GAP;
	chart->columns = (int)fmax(1, floor((WIDTH - 2 * MARGIN + PANEL_GAP) / step));
	if (chart->columns > chart->n_panels)
		chart->columns = chart->n_panels;
	rows = (chart->n_panels + chart->columns - 1) / chart->columns;
	chart->height = rows > 1 ? PLOT_HEIGHT / 2 : PLOT_HEIGHT;
	for (int i = 0; i < chart->n_panels; i++) {
		struct panel *panel = &chart->panels[i];

		panel->left = MARGIN + chart->axis + i % chart->columns * step;
		panel->top = MARGIN + TITLE_HEIGHT + above +
			     i / chart->columns * (chart->height + above + FONT_SIZE + 14);
	}
	for (int run = 0; run < chart->compare->n_runs; run++)
		legend = fmax(legend, canvas_text_width(&font, chart->compare->runs[run]));
	step = chart->columns * step - chart->axis - PANEL_GAP;
	chart->legend_columns = (int)fmax(1, floor(step / (legend + SWATCH + 24)));
	chart->legend_y = chart->panels[chart->n_panels - 1].top + chart->height + FONT_SIZE + 20;
}

static double chart_width(const struct chart *chart)
{
	return chart->panels[chart->columns - 1].left + chart->width + MARGIN;
}

static double chart_height(const struct chart *chart)
{
	int rows = (chart->compare->n_runs + chart->legend_columns - 1) / chart->legend_columns;

	return chart->legend_y + rows * LEGEND_ROW + MARGIN;
}

static void draw_axis(const struct chart *chart, const struct panel *panel)
{
	const struct canvas_paint grid = { .color = light, .line = 0.5 };
	const struct canvas_paint line = { .color = black, .line = 1 };
	struct canvas_font font = font_of(CANVAS_END, black);
	char text[64];

	canvas_group(chart->canvas, "axis", NULL, NULL);
	canvas_path(chart->canvas, "grid", &grid);
	for (int i = 0; i < n_ticks(panel); i++) {
		double y = y_of(chart, panel, panel->low + i * panel->step);

		canvas_move(chart->canvas, panel->left, y);
		canvas_line(chart->canvas, panel->left + chart->width, y);
	}
	canvas_path_end(chart->canvas);
	for (int i = 0; i < n_ticks(panel); i++) {
		double value = panel->low + i * panel->step;

		tick_text(chart, panel, value, text, sizeof(text));
		canvas_text(chart->canvas, "tick", &font, panel->left - 6,
			    y_of(chart, panel, value) + FONT_SIZE * 0.35, text);
	}
	canvas_path(chart->canvas, "base", &line);
	canvas_move(chart->canvas, panel->left, y_of(chart, panel, 0));
	canvas_line(chart->canvas, panel->left + chart->width, y_of(chart, panel, 0));
	canvas_path_end(chart->canvas);
	canvas_group_end(chart->canvas);
}

static void draw_whisker(const struct chart *chart, const struct panel *panel, double x,
			 const struct bar *bar)
{
	const struct canvas_paint paint = { .color = black, .line = 1 };
	double low = y_of(chart, panel, bar->low), high = y_of(chart, panel, bar->high);
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
static void draw_from_zero(const struct chart *chart, const struct panel *panel, int group, int run,
			   double x)
{
	struct canvas_font font = font_of(CANVAS_MIDDLE, virt_vcpu_color(run));
	char text[40];

	snprintf(text, sizeof(text), "0 -> %.3g",
		 sets_of(chart, group)[run].cells[chart->groups[group].kind].value);
	canvas_group(chart->canvas, "from-zero", chart->compare->runs[run], NULL);
	canvas_text(chart->canvas, "change", &font, x + chart->bar * 0.46,
		    y_of(chart, panel, 0) - 4 - FONT_SIZE * run, text);
	canvas_group_end(chart->canvas);
}

static void draw_run(const struct chart *chart, const struct panel *panel, int group, int run,
		     double x)
{
	const struct canvas_paint paint = { .color = virt_vcpu_color(run) };
	struct bar bar = bar_at(chart, group, run);
	double y = y_of(chart, panel, bar.value), base = y_of(chart, panel, 0);
	char tip[200];

	if (is_from_zero(chart, group, run))
		draw_from_zero(chart, panel, group, run, x);
	if (isnan(bar.value))
		return;
	text_format(tip, sizeof(tip), "%s %s: %.6g%s", chart->compare->runs[run],
		 group_name(chart, group), bar.value, chart->in_percent ? " %" : "");
	canvas_group(chart->canvas, "bar", chart->compare->runs[run], tip);
	canvas_rect(chart->canvas, "value", &paint, x, fmin(y, base), chart->bar * 0.92,
		    fabs(base - y));
	draw_whisker(chart, panel, x + chart->bar * 0.46, &bar);
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

static void draw_groups(const struct chart *chart, const struct panel *panel)
{
	struct canvas_font font = font_of(CANVAS_MIDDLE, black);
	double used = chart->bar * chart->compare->n_runs, width = chart->width / panel->n;
	char text[300];

	for (int i = 0; i < panel->n; i++) {
		double x = panel->left + width * i;
		int group = panel->first + i;

		canvas_group(chart->canvas, "group", group_name(chart, group), NULL);
		for (int run = 0; run < chart->compare->n_runs; run++)
			draw_run(chart, panel, group, run,
				 x + (width - used) / 2 + chart->bar * run);
		text_format(text, sizeof(text), "%s", group_name(chart, group));
		fit_text(&font, width - 4, text);
		canvas_text(chart->canvas, "name", &font, x + width / 2,
			    panel->top + chart->height + FONT_SIZE + 5, text);
		canvas_group_end(chart->canvas);
	}
}

/** One of several has its name above it. */
static void draw_panel(const struct chart *chart, const struct panel *panel)
{
	struct canvas_font font = font_of(CANVAS_START, black);
	char text[300];

	if (chart->n_panels > 1) {
		font.bold = true;
		text_format(text, sizeof(text), "%.*s", panel->name_size, panel->name);
		canvas_group(chart->canvas, "panel", text, NULL);
		fit_text(&font, chart->width, text);
		canvas_text(chart->canvas, "panel-name", &font, panel->left, panel->top - 7, text);
	}
	draw_axis(chart, panel);
	draw_groups(chart, panel);
	if (chart->n_panels > 1)
		canvas_group_end(chart->canvas);
}

static void draw_legend(const struct chart *chart)
{
	struct canvas_font font = font_of(CANVAS_START, black);
	double left = chart->panels[0].left;
	double column = (chart_width(chart) - MARGIN - left) / chart->legend_columns;

	canvas_group(chart->canvas, "legend", NULL, NULL);
	for (int run = 0; run < chart->compare->n_runs; run++) {
		const struct canvas_paint paint = { .color = virt_vcpu_color(run) };
		double x = left + column * (run % chart->legend_columns);
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

	if (chart->in_percent)
		text_format(text, sizeof(text), "%s, %% of %s; %g %% intervals",
			 stats_name(compare_judged(chart->options)), chart->compare->runs[0],
			 100 * chart->options->confidence);
	else
		text_format(text, sizeof(text), "%s%s%g %% intervals",
			 chart->n_panels > 1 ? "" : chart->compare->metrics[0]->name,
			 chart->n_panels > 1 ? "" : "; ", 100 * chart->options->confidence);
	if (chart->options->title) {
		font.bold = true;
		font.color = black;
		text_format(text, sizeof(text), "%s", chart->options->title);
	}
	canvas_text(chart->canvas, "title", &font, chart->panels[0].left, MARGIN + FONT_SIZE, text);
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
		for (int i = 0; i < chart->n_panels; i++)
			draw_panel(chart, &chart->panels[i]);
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
	size_t most = (size_t)compare->n_metrics * STATS_N;
	struct chart *chart = calloc(1, sizeof(*chart));
	struct group *groups = calloc(most, sizeof(*groups));
	static struct output out;
	int status = KSV_EXIT_FILE;

	if (!chart || !groups) {
		ksv_error("not enough memory");
		goto end;
	}
	chart->compare = compare;
	chart->options = options;
	chart->groups = groups;
	if (!choose_groups(chart)) {
		ksv_error("%s: more than %d panels: choose fewer with --metric", path, MOST_PANELS);
	} else if (!chart->n_groups) {
		ksv_error("%s: nothing to draw: the selected statistics are not defined", path);
	} else {
		status = out_open(&out, path);
		if (!status) {
			find_axes(chart);
			place(chart);
			status = draw(chart, (enum canvas_format)compare_plot_format(path), &out);
			status = out_close(&out, status);
		}
	}
end:
	free(groups);
	free(chart);
	return status;
}
