// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	figure_panels.c
 * @brief	Draw numbers over time as panels.
 */
#include <math.h>
#include <stdio.h>

#include "array.h"
#include "figure_panels.h"
#include "figure_private.h"

#define LEFT		58.0
#define PANEL_HEIGHT	90.0
#define LEAST_HEIGHT	24.0
#define LEAST_WIDTH	250.0
#define RIGHT		18.0
/** Above a panel: its title and the names of its curves, in one line or more. */
#define HEAD_GAP	16.0
#define HEAD_LINE	14.0
#define SWATCH		9.0
#define ENTRY_GAP	12.0

/** A panel on the sheet. */
struct place {
	const struct figure	*figure;	/* the axis and both sides of the panels */
	const struct figure_panels *panels;
	const struct figure_panel *panel;
	struct canvas		*canvas;
	double			head_y;		/* upper edge of the names */
	double			y, height;	/* upper edge */
	double			high;		/* number at the upper edge */
};

/* --- names above a panel ---------------------------------------------------------------------- */

static struct canvas_paint paint_of(const struct figure_series *series)
{
	const struct virt_look *look = virt_state_look(VIRT_UNKNOWN);

	return series->unknown ? (struct canvas_paint){
		.color = look->color, .hatch = look->hatch, .hatched = true,
	} : (struct canvas_paint){ .color = series->color };
}

/**
 * From the line at @y on.
 * @canvas: NULL to measure only
 *
 * Return: how many lines they have.
 */
static int draw_names(const struct figure_panels *panels, const struct figure_panel *panel,
		      double y, struct canvas *canvas)
{
	const struct canvas_paint frame = { .color = figure_grey, .line = 0.5 };
	struct canvas_font font = {
		.size = FIGURE_FONT_SIZE - 0.5, .color = figure_black, .bold = true,
	};
	double x = LEFT;
	int lines = 1;

	if (canvas)
		canvas_text(canvas, "panel", &font, x, y, panel->title);
	x += canvas_text_width(&font, panel->title) + ENTRY_GAP;
	font.bold = false;
	for (int s = 0; s < panel->n_series; s++) {
		const struct figure_series *series = &panel->series[s];
		const struct canvas_paint paint = paint_of(series);
		double width = SWATCH + 4 + canvas_text_width(&font, series->name);

		if (x > LEFT && x + width > panels->width - RIGHT) {
			x = LEFT;
			y += HEAD_LINE;
			lines++;
		}
		if (canvas) {
			canvas_rect(canvas, "swatch", &paint, x, y - SWATCH + 1, SWATCH, SWATCH);
			canvas_rect(canvas, "frame", &frame, x, y - SWATCH + 1, SWATCH, SWATCH);
			canvas_text(canvas, "entry", &font, x + SWATCH + 4, y, series->name);
		}
		x += width + ENTRY_GAP;
	}
	return lines;
}

static double head_height(const struct figure_panels *panels, const struct figure_panel *panel)
{
	return HEAD_GAP + HEAD_LINE * draw_names(panels, panel, 0, NULL);
}

/* --- sizes ----------------------------------------------------------------------------------- */

/** What panels have around them. */
static double around(const struct figure_panels *panels)
{
	double height = 2 * FIGURE_MARGIN + FIGURE_AXIS_HEIGHT +
			(panels->title && *panels->title ? FIGURE_TITLE_HEIGHT : 0);

	for (int i = 0; i < panels->n_panels; i++)
		height += head_height(panels, &panels->all[i]);
	return height;
}

void figure_panels_least(const struct figure_panels *panels, double *width, double *height)
{
	*width = LEAST_WIDTH;
	*height = ceil(around(panels) + panels->n_panels * LEAST_HEIGHT);
}

double figure_panels_height(const struct figure_panels *panels)
{
	return panels->height > 0 ? panels->height :
	       ceil(around(panels) + panels->n_panels * PANEL_HEIGHT);
}

/* --- one panel ------------------------------------------------------------------------------- */

static double edge_x(const struct place *place, size_t i)
{
	return figure_x(place->figure, place->panels->edges[i]);
}

static double y_of(const struct place *place, double value)
{
	return place->y + place->height * (1 - value / place->high);
}

/** The next number with one digit or two. */
static double round_up(double value)
{
	static const double steps[] = { 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 };
	double power = pow(10, floor(log10(value)));
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(steps) && value > steps[i] * power)
		i++;
	return steps[i] * power;
}

static double find_high(const struct figure_panels *panels, const struct figure_panel *panel)
{
	double high = 0;

	if (panel->stacked)
		return 100;
	for (int s = 0; s < panel->n_series; s++)
		for (size_t i = 0; i < panels->n; i++)
			high = fmax(high, panel->series[s].values[i]);
	return high > 0 ? round_up(high) : 1;
}

/** Is each part of a stack known? */
static bool is_whole(const struct figure_panel *panel, size_t i)
{
	for (int s = 0; s < panel->n_series; s++)
		if (isnan(panel->series[s].values[i]))
			return false;
	return true;
}

/** The number up to which a stack reaches with its series up to @last. */
static double stacked_to(const struct figure_panel *panel, size_t i, int last)
{
	double sum = 0;

	for (int s = 0; s <= last; s++)
		sum += panel->series[s].values[i];
	return fmin(sum, 100);
}

static void draw_unknown(const struct place *place)
{
	const struct canvas_paint paint = paint_of(&(struct figure_series){ .unknown = true });

	for (size_t i = 0, end; i < place->panels->n; i = end) {
		for (end = i; end < place->panels->n && !is_whole(place->panel, end); end++)
			;
		if (end > i)
			canvas_rect(place->canvas, "unknown", &paint, edge_x(place, i), place->y,
				    edge_x(place, end) - edge_x(place, i), place->height);
		end += end == i;
	}
}

/** From the base line up to its upper edge; those before it cover the rest. */
static void draw_area(const struct place *place, int s)
{
	const struct figure_series *series = &place->panel->series[s];
	const struct canvas_paint paint = paint_of(series);
	double base = place->y + place->height;

	canvas_group(place->canvas, "curve", series->name, NULL);
	canvas_path(place->canvas, "area", &paint);
	for (size_t i = 0, end; i < place->panels->n; i = end + 1) {
		for (end = i; end < place->panels->n && is_whole(place->panel, end); end++)
			;
		if (end == i)
			continue;
		canvas_move(place->canvas, edge_x(place, i), base);
		for (size_t j = i; j < end; j++) {
			double y = y_of(place, stacked_to(place->panel, j, s));

			canvas_line(place->canvas, edge_x(place, j), y);
			canvas_line(place->canvas, edge_x(place, j + 1), y);
		}
		canvas_line(place->canvas, edge_x(place, end), base);
		canvas_close(place->canvas);
	}
	canvas_path_end(place->canvas);
	canvas_group_end(place->canvas);
}

static void draw_curve(const struct place *place, int s)
{
	const struct figure_series *series = &place->panel->series[s];
	const struct canvas_paint paint = { .color = series->color, .line = 1.5 };
	bool open = false;

	canvas_group(place->canvas, "curve", series->name, NULL);
	canvas_path(place->canvas, "line", &paint);
	for (size_t i = 0; i < place->panels->n; i++) {
		double y = y_of(place, series->values[i]);

		if (isnan(y)) {
			open = false;
			continue;
		}
		if (open)
			canvas_line(place->canvas, edge_x(place, i), y);
		else
			canvas_move(place->canvas, edge_x(place, i), y);
		canvas_line(place->canvas, edge_x(place, i + 1), y);
		open = true;
	}
	canvas_path_end(place->canvas);
	canvas_group_end(place->canvas);
}

static void draw_numbers(const struct place *place)
{
	const struct canvas_font font = {
		.size = FIGURE_FONT_SIZE - 0.5, .color = figure_black, .anchor = CANVAS_END,
	};
	char text[40];

	snprintf(text, sizeof(text), "%.6g", place->high);
	canvas_text(place->canvas, "tick", &font, LEFT - FIGURE_LABEL_GAP,
		    place->y + FIGURE_FONT_SIZE - 3, text);
	canvas_text(place->canvas, "tick", &font, LEFT - FIGURE_LABEL_GAP,
		    place->y + place->height, "0");
}

static void draw_panel(const struct place *place)
{
	const struct canvas_paint frame = { .color = figure_grey, .line = 0.5 };

	canvas_group(place->canvas, "panel", place->panel->title, NULL);
	if (place->panel->stacked)
		draw_unknown(place);
	for (int s = place->panel->n_series; place->panel->stacked && s-- > 0; )
		draw_area(place, s);
	for (int s = 0; !place->panel->stacked && s < place->panel->n_series; s++)
		draw_curve(place, s);
	canvas_rect(place->canvas, "frame", &frame, place->figure->left, place->y,
		    place->figure->right - place->figure->left, place->height);
	draw_names(place->panels, place->panel, place->head_y + HEAD_GAP + 8, place->canvas);
	draw_numbers(place);
	canvas_group_end(place->canvas);
}

/* --- all of them ----------------------------------------------------------------------------- */

static void draw(const void *arg, struct canvas *canvas)
{
	const struct figure_panels *panels = arg;
	struct figure_row row = { .index = 0 };
	struct figure figure = {
		.options = {
			.from_ns = panels->from_ns, .to_ns = panels->to_ns,
			.width = panels->width, .title = panels->title,
		},
		.rows = &row, .n_rows = 1, .left = LEFT, .right = panels->width - RIGHT,
		.height = figure_panels_height(panels),
	};
	struct place place = { .figure = &figure, .panels = panels, .canvas = canvas };

	place.height = (figure.height - around(panels)) / panels->n_panels;
	place.y = FIGURE_MARGIN + (panels->title && *panels->title ? FIGURE_TITLE_HEIGHT : 0);
	row.y = place.y + head_height(panels, &panels->all[0]);
	figure.axis_y = figure.height - FIGURE_MARGIN - FIGURE_AXIS_HEIGHT;
	figure_draw_title(&figure, canvas);
	figure_draw_grid(&figure, canvas);
	for (int i = 0; i < panels->n_panels; i++) {
		place.panel = &panels->all[i];
		place.head_y = place.y;
		place.y += head_height(panels, place.panel);
		place.high = find_high(panels, place.panel);
		draw_panel(&place);
		place.y += place.height;
	}
	figure_draw_axis(&figure, canvas);
}

int figure_panels_write(const struct figure_panels *panels, enum canvas_format format,
			const char *path, double scale)
{
	const struct figure_sheet sheet = {
		.width = panels->width, .height = figure_panels_height(panels),
		.draw = draw, .arg = panels,
	};

	return figure_write_sheet(&sheet, format, path, scale);
}
