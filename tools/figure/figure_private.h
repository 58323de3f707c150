/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	figure_private.h
 * @brief	Declarations that the parts of a figure share.
 *
 * figure.c places the parts; figure_rows.c and figure_axis.c draw them.
 */
#ifndef KSHARK_VIRT_FIGURE_PRIVATE_H
#define KSHARK_VIRT_FIGURE_PRIVATE_H

#include "escape.h"
#include "figure.h"
#include "figure_bars.h"
#include "options.h"

#define FIGURE_FONT_SIZE	11.0
/** Smaller text cannot be read in print. */
#define FIGURE_MIN_FONT_SIZE	5.5
#define FIGURE_TICK_SIZE	4.0
#define FIGURE_LABEL_GAP	6.0
#define FIGURE_MARGIN		10.0
#define FIGURE_TITLE_HEIGHT	24.0
/** Ticks, their texts, and the unit below. */
#define FIGURE_AXIS_HEIGHT	(FIGURE_TICK_SIZE + 2 * FIGURE_FONT_SIZE + 14)

static const struct virt_color figure_black = { 0x1a, 0x1a, 0x1a };
static const struct virt_color figure_white = { 0xff, 0xff, 0xff };
static const struct virt_color figure_grey = { 0x59, 0x59, 0x59 };
static const struct virt_color figure_light = { 0xd5, 0xd8, 0xdc };

/** One row: its bars are in columns, its place in units. */
struct figure_row {
	int32_t			index;		/* of the vCPU or pCPU */
	char			name[64];
	struct figure_bars	bars;
	double			y;		/* upper edge of the bars */
};

struct figure {
	struct figure_options	options;
	struct figure_row	*rows;
	int			n_rows;
	int			n_keys;		/* of the bars */
	struct figure_keys	keys;
	bool			*seen;		/* which keys occur */
	size_t			n_migrations;
	struct virt_migration	*migrations;	/* by time */
	size_t			*of_row;	/* their numbers, by row and by time */
	size_t			*first_of_row;	/* by vCPU or pCPU: where its own begin there */
	size_t			n_arrows;
	size_t			*arrows;	/* numbers of those that cross rows */
	double			left, right;	/* of the bars */
	double			machine_width;	/* column of machine names, 0: none */
	double			column;		/* width of one in units */
	int			n_columns;
	double			row_height, above, below; /* bars, and room around them */
	double			lanes_y, axis_y, legend_y, height;
};

/* Keys of pCPU rows: the vCPUs by global index, then these, then tasks. */
static inline int figure_key_other(const struct figure *figure)
{
	return virt_model_n_vcpus(figure->options.model);
}

static inline int figure_key_unknown(const struct figure *figure)
{
	return figure_key_other(figure) + 1;
}

static inline int figure_key_idle(const struct figure *figure)
{
	return figure_key_other(figure) + 2;
}

static inline int figure_key_task(const struct figure *figure, int task)
{
	return figure_key_idle(figure) + 1 + task;
}

/** figure_key_of_task - the task that a key of a pCPU row is; NULL: it is something else. */
static inline const struct figure_task *figure_key_of_task(const struct figure *figure, int key)
{
	int first = figure_key_task(figure, 0);

	return key < first ? NULL : &figure->options.tasks[key - first];
}

/** figure_key_paint - how a key is painted. Return: false if it stays empty. */
bool figure_key_paint(const struct figure *figure, int key, struct canvas_paint *paint);

/** figure_key_name - class of a key's paths: a state or a vCPU. */
const char *figure_key_name(const struct figure *figure, int key);

/** figure_machine_name - a machine's name, or NULL if its vCPUs' names say the same already. */
const char *figure_machine_name(const struct figure *figure, int32_t machine);

/** figure_x - where a time is. */
double figure_x(const struct figure *figure, int64_t time_ns);

/** figure_fill_row - make the bars of a row. Return: 0 or -ENOMEM. */
int figure_fill_row(struct figure *figure, struct figure_row *row);

/** figure_find_arrows - which migrations are arrows, if rows are pCPUs. Return: 0 or -ENOMEM. */
int figure_find_arrows(struct figure *figure);

/** figure_draw_row, figure_draw_migrations, figure_draw_texts - in this order. */
void figure_draw_row(const struct figure *figure, const struct figure_row *row,
		     struct canvas *canvas);
void figure_draw_migrations(const struct figure *figure, struct canvas *canvas);
void figure_draw_texts(const struct figure *figure, struct canvas *canvas);

/** figure_lanes_names, figure_lanes_height - how wide names are, and how high all of them. */
double figure_lanes_names(const struct figure *figure);
double figure_lanes_height(const struct figure *figure);
void figure_draw_lanes(const struct figure *figure, struct canvas *canvas);

/** figure_draw_title - above all, if there is one. */
void figure_draw_title(const struct figure *figure, struct canvas *canvas);

/** figure_draw_grid, figure_draw_axis - lines behind the bars; ticks and times below. */
void figure_draw_grid(const struct figure *figure, struct canvas *canvas);
void figure_draw_axis(const struct figure *figure, struct canvas *canvas);

/**
 * figure_draw_legend - at legend_y
 * @canvas: NULL to measure only
 *
 * Return: its height.
 */
double figure_draw_legend(const struct figure *figure, struct canvas *canvas);

#endif
