// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_slices.c
 * @brief	Compute the contents of the pixel columns of a guest's graph from the activity
 *		inside the guest.
 */
#include "escape.h"
#include "virt_slices.h"
#include "virt_text.h"

/** Of a row, in pixels, with the one below it that stays free. */
#define LEAST_HEIGHT	3
#define MOST_HEIGHT	13

static int64_t column_begin(const struct virt_shade_window *window, int column)
{
	return window->from_ns + window->column_ns * column;
}

/** The column that a time lies in; the last one for all behind it. */
static int column_of(const struct virt_shade_window *window, int64_t time_ns)
{
	int64_t column;

	if (time_ns <= window->from_ns)
		return 0;
	column = (int64_t)(((uint64_t)time_ns - (uint64_t)window->from_ns) /
			   (uint64_t)window->column_ns);
	return column < window->n_columns ? (int)column : window->n_columns - 1;
}

/** Several pieces in a column: more than nothing is seen. */
static uint8_t share(const struct virt_inside_lane *lane, const struct virt_shade_window *window,
		     int column)
{
	int64_t from_ns = column_begin(window, column), left;
	int64_t ns = virt_inside_ns(lane, from_ns, from_ns + window->column_ns);
	int parts = virt_shade_share(ns, window->column_ns, window->n_parts, &left);

	return (uint8_t)(parts || !ns ? parts : 1);
}

/** Return: number of runs. */
static int add_short(struct virt_slice_run *runs, int n, int column, uint8_t parts)
{
	struct virt_slice_run *last = n ? &runs[n - 1] : NULL;

	if (last && !last->piece && last->parts == parts && last->first + last->n == column) {
		last->n++;
		return n;
	}
	runs[n] = (struct virt_slice_run){ .first = column, .n = 1, .parts = parts };
	return n + 1;
}

int virt_slices(const struct virt_inside_lane *lane, const struct virt_shade_window *window,
		struct virt_slice_run *runs)
{
	int64_t end_ns = column_begin(window, window->n_columns);
	int n = 0;

	for (int column = 0; column < window->n_columns; column++) {
		size_t i = virt_inside_at(lane, column_begin(window, column));
		const struct virt_inside_piece *piece = &lane->pieces[i];
		int first, last;

		if (i == lane->n || piece->start_ns >= end_ns)
			break;
		first = column_of(window, piece->start_ns);
		last = column_of(window, piece->end_ns - 1);
		column = first > column ? first : column;
		if (last <= column && piece->end_ns <= end_ns) {
			n = add_short(runs, n, column, share(lane, window, column));
			continue;
		}
		runs[n++] = (struct virt_slice_run){
			.first = column, .n = last - column + 1, .piece = piece,
			.parts = (uint8_t)window->n_parts,
		};
		column = last;
	}
	return n;
}

const struct virt_inside_piece *virt_slice_at(const struct virt_inside_lane *lane,
					      const struct virt_shade_window *window, int column)
{
	int64_t from_ns = column_begin(window, column), to_ns = from_ns + window->column_ns;
	const struct virt_inside_piece *longest = NULL;
	int64_t most = 0;

	for (size_t i = virt_inside_at(lane, from_ns);
	     i < lane->n && lane->pieces[i].start_ns < to_ns; i++) {
		const struct virt_inside_piece *piece = &lane->pieces[i];
		int64_t begin = piece->start_ns > from_ns ? piece->start_ns : from_ns;
		int64_t end = piece->end_ns < to_ns ? piece->end_ns : to_ns;

		if (end - begin <= most)
			continue;
		most = end - begin;
		longest = piece;
	}
	return longest;
}

static bool is_drawn(const struct virt_inside_lane *lane, const struct virt_shade_window *window)
{
	return lane->kind < VIRT_INSIDE_DOUBT &&
	       virt_inside_ns(lane, window->from_ns, column_begin(window, window->n_columns)) > 0;
}

/** Those that are not deeper than @depth. Return: number of rows. */
static int pick(const struct virt_inside_lane *lanes, size_t n_lanes,
		const struct virt_shade_window *window, int depth, struct virt_slice_row *rows,
		int n)
{
	for (size_t i = 0; i < n_lanes && n < VIRT_SLICE_ROWS; i++)
		if (lanes[i].depth <= depth && is_drawn(&lanes[i], window))
			rows[n++].lane = &lanes[i];
	return n;
}

int virt_slice_rows(const struct virt_inside_lane *machine, size_t n_machine,
		    const struct virt_inside_lane *cpu, size_t n_cpu,
		    const struct virt_shade_window *window, int height,
		    struct virt_slice_row *rows)
{
	int most = height / LEAST_HEIGHT, n = 0, row_height;

	for (int depth = VIRT_INSIDE_DEPTHS - 1; depth >= 0; depth--) {
		n = pick(machine, n_machine, window, depth, rows, 0);
		n = pick(cpu, n_cpu, window, depth, rows, n);
		if (n <= most)
			break;
	}
	n = n < most ? n : most;
	row_height = n ? height / n : 0;
	if (row_height > MOST_HEIGHT)
		row_height = MOST_HEIGHT;
	for (int i = 0; i < n; i++) {
		rows[i].height = row_height - 1;
		rows[i].top = height - (n - i) * row_height;
	}
	return n;
}

const char *virt_slice_text(char *buf, size_t size, const struct virt_inside *inside,
			    const struct virt_inside_lane *lane,
			    const struct virt_inside_piece *piece)
{
	const char *name = virt_inside_name(inside, piece->name);
	char took[64];

	virt_text_duration(took, sizeof(took), piece->slice_ns);
	text_format(buf, size, "%s%s%s for %s%s%s", virt_inside_kind_name(lane->kind),
		    *name ? " " : "", name, piece->no_end ? "at least " : "", took,
		    piece->no_end ? ", its end is unknown" : "");
	return buf;
}
