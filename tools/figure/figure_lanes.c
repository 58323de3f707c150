// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	figure_lanes.c
 * @brief	Lanes above the rows of a figure: stages with names, from when to when.
 */
#include <math.h>

#include "figure_private.h"

#define LANE_HEIGHT	17.0
#define LANE_GAP	3.0
#define LANES_GAP	5.0	/* between the last one and the rows */
#define TEXT_GAP	2.0
#define MIN_TEXT	7.0

/** A stage narrower than this is drawn so wide; others in the same place are not seen. */
#define MIN_WIDTH	0.75
/** Edges that are closer are the same. */
#define SAME_EDGE	0.1

/** Alternating, to separate neighbours; pale, unlike the rows below. */
static const struct virt_color tones[] = { { 0xde, 0xeb, 0xf7 }, { 0xb3, 0xcd, 0xe3 } };

double figure_lanes_names(const struct figure *figure)
{
	const struct canvas_font font = { .size = FIGURE_FONT_SIZE };
	double width = 0;

	for (int i = 0; i < figure->options.n_lanes; i++)
		width = fmax(width, canvas_text_width(&font, figure->options.lanes[i].name));
	return width;
}

double figure_lanes_height(const struct figure *figure)
{
	int n = figure->options.n_lanes;

	return n ? n * (LANE_HEIGHT + LANE_GAP) + LANES_GAP : 0;
}

static double lane_y(const struct figure *figure, int lane)
{
	return figure->lanes_y + lane * (LANE_HEIGHT + LANE_GAP);
}

/** Edges within the figure. Return: false if it lies outside. */
static bool stage_edges(const struct figure *figure, const struct figure_stage *stage, double *x0,
			double *x1)
{
	const struct figure_options *options = &figure->options;

	if (stage->from_ns >= options->to_ns || stage->to_ns < options->from_ns)
		return false;
	*x0 = fmax(figure_x(figure, stage->from_ns), figure->left);
	*x1 = fmin(figure_x(figure, stage->to_ns), figure->right);
	return true;
}

static void draw_stage(const struct figure_stage *stage, double x0, double x1, double y, int tone,
		       struct canvas *canvas)
{
	const struct canvas_paint paint = {
		.color = tones[tone], .hatched = stage->no_end, .hatch = figure_white,
	};
	const struct canvas_paint line = { .color = figure_grey, .line = 0.6 };
	struct canvas_font font = {
		.size = FIGURE_FONT_SIZE - 1, .anchor = CANVAS_MIDDLE, .color = figure_black,
	};
	double room = x1 - x0 - 2 * TEXT_GAP;

	while (font.size > MIN_TEXT && canvas_text_width(&font, stage->name) > room)
		font.size -= 0.5;
	canvas_group(canvas, "stage", stage->name, stage->tip);
	canvas_rect(canvas, stage->no_end ? "no-end" : "fill", &paint, x0, y, x1 - x0, LANE_HEIGHT);
	if (room > 0) {
		canvas_path(canvas, "begin", &line);
		canvas_move(canvas, x0, y);
		canvas_line(canvas, x0, y + LANE_HEIGHT);
		canvas_path_end(canvas);
	}
	if (canvas_text_width(&font, stage->name) <= room)
		canvas_text(canvas, "stage", &font, (x0 + x1) / 2,
			    y + LANE_HEIGHT / 2 + font.size * 0.36, stage->name);
	canvas_group_end(canvas);
}

/** Draws only the first one of stages that are too close to distinguish. */
static void draw_lane(const struct figure *figure, int number, struct canvas *canvas)
{
	const struct figure_lane *lane = &figure->options.lanes[number];
	double last_x0 = -1, last_x1 = -1, narrow_end = -1, y = lane_y(figure, number), x0, x1;
	int tone = 0;

	for (size_t i = 0; i < lane->n; i++) {
		if (!stage_edges(figure, &lane->stages[i], &x0, &x1))
			continue;
		if (x1 - x0 < MIN_WIDTH) {
			if (x0 < narrow_end)
				continue;
			x1 = x0 + MIN_WIDTH;
			narrow_end = x1;
		}
		if (fabs(x0 - last_x0) < SAME_EDGE && fabs(x1 - last_x1) < SAME_EDGE)
			continue;
		last_x0 = x0;
		last_x1 = x1;
		draw_stage(&lane->stages[i], x0, x1, y, tone, canvas);
		tone = !tone;
	}
}

/** Where the stages of marked lanes begin, through all rows. */
static void draw_marks(const struct figure *figure, int number, struct canvas *canvas)
{
	const struct figure_lane *lane = &figure->options.lanes[number];
	const struct canvas_paint line = { .color = figure_grey, .line = 0.8, .dashed = true };
	double last = -1, x0, x1;

	if (!lane->marked)
		return;
	canvas_path(canvas, "mark", &line);
	for (size_t i = 0; i < lane->n; i++) {
		if (lane->stages[i].from_ns < figure->options.from_ns ||
		    !stage_edges(figure, &lane->stages[i], &x0, &x1) || x0 - last < MIN_WIDTH)
			continue;
		canvas_move(canvas, x0, lane_y(figure, number) + LANE_HEIGHT);
		canvas_line(canvas, x0, figure->axis_y);
		last = x0;
	}
	canvas_path_end(canvas);
}

void figure_draw_lanes(const struct figure *figure, struct canvas *canvas)
{
	const struct canvas_font font = {
		.size = FIGURE_FONT_SIZE, .anchor = CANVAS_END, .color = figure_black,
	};

	for (int i = 0; i < figure->options.n_lanes; i++)
		draw_marks(figure, i, canvas);
	for (int i = 0; i < figure->options.n_lanes; i++) {
		const char *name = figure->options.lanes[i].name;

		canvas_group(canvas, "lane", name, NULL);
		canvas_text(canvas, "name", &font, figure->left - FIGURE_LABEL_GAP,
			    lane_y(figure, i) + LANE_HEIGHT / 2 + font.size * 0.36, name);
		draw_lane(figure, i, canvas);
		canvas_group_end(canvas);
	}
}
