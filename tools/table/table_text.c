// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table_text.c
 * @brief	Tables for people.
 */
#include <stdio.h>
#include <string.h>

#include "table.h"
#include "text_columns.h"

/* --- titles ---------------------------------------------------------------------------------- */

static size_t width_of(const struct table_column *column)
{
	return column->width ? column->width :
	       column->type == TABLE_SHARE ? TEXT_SHARE : TEXT_NUMBER;
}

static void put_durations_titles(struct output *out, const struct table_column *column)
{
	if (column->shown & TABLE_TOTAL)
		text_right(out, column->title, TEXT_NUMBER);
	for (int i = 0; i < VIRT_N_STATS; i++)
		if (column->shown & TABLE_STAT(i))
			text_right(out, virt_stat_look((enum virt_stat)i)->name, TEXT_NUMBER);
}

static void put_title(struct output *out, const struct table_column *column)
{
	char title[TABLE_NAME_SIZE];

	if (column->type == TABLE_DURATIONS)
		put_durations_titles(out, column);
	else if (column->type == TABLE_STRETCHES)
		text_stretches_titles(out);
	else
		text_right(out, table_title(column, title), width_of(column));
}

/** Values, and the titles of their columns, are so far apart. */
#define GAP		2

/** A value on the left or the right of its column. Return: the blanks that follow. */
static size_t put_value(struct output *out, const char *text, size_t width, bool right)
{
	size_t used = out_columns(text), rest = used < width ? width - used : 0;

	if (right)
		out_text_left(out, "", rest);
	out_text(out, text);
	return GAP + (right ? 0 : rest);
}

/** Columns of the title before that a long title on the right covers. */
static size_t covered(const struct table_column *column, const char *title, size_t blanks)
{
	size_t size = out_columns(title), width = width_of(column);

	return size <= width ? 0 : size - width < blanks ? size - width : blanks;
}

static bool has_one_title(const struct table_column *column)
{
	return column->type < TABLE_ONE_STAT;
}

/** Blanks print only if another title follows. */
static void put_titles(struct table_writer *to)
{
	size_t over = 0;	/* columns of the next name that a long title covers */
	size_t blanks = 0;

	out_str(to->out, to->rows->apart ? "\n" : "");
	out_str(to->out, to->rows->flush ? "" : "  ");
	if (to->rows->heading)
		out_style(to->out, OUT_HEAD);
	for (size_t i = 0; i < to->rows->n; i++) {
		const struct table_column *column = &to->rows->columns[i];
		size_t size = column->title ? strlen(column->title) : 0;
		size_t width = column->width > over ? column->width - over : 0;

		if (!column->title)
			continue;
		if (!size && has_one_title(column)) {
			blanks += column->type == TABLE_NAME ? width : width_of(column) + 1;
			continue;
		}
		if (has_one_title(column) && column->type != TABLE_NAME &&
		    column->type != TABLE_PCPUS && column->type != TABLE_VALUE)
			blanks -= covered(column, column->title, blanks);
		out_text_left(to->out, "", blanks);
		blanks = 0;
		if (column->type == TABLE_NAME) {
			out_text(to->out, column->title);
			over = size > width ? size - width : 0;
			blanks = width > size ? width - size : 0;
			continue;
		}
		over = 0;
		if (column->type == TABLE_PCPUS)
			out_printf(to->out, "  %s", column->title);
		else if (column->type == TABLE_VALUE)
			blanks = put_value(to->out, column->title, column->width, column->right);
		else
			put_title(to->out, column);
	}
	if (to->rows->heading)
		out_style(to->out, OUT_PLAIN);
	out_char(to->out, '\n');
}

/* --- rows ------------------------------------------------------------------------------------ */

/** Return: NULL: unknown */
static const struct virt_dist *durations_of(const struct table_cell *cell)
{
	return cell->unknown ? NULL : cell->durations;
}

static void put_durations(struct output *out, const struct table_column *column,
			  const struct table_cell *cell)
{
	const struct virt_dist *durations = durations_of(cell);

	if (!durations) {
		text_right(out, cell->instead ? cell->instead : "-", TEXT_NUMBER);
		return;
	}
	if (column->shown & TABLE_TOTAL)
		text_duration(out, durations->ns);
	for (int i = 0; i < VIRT_N_STATS; i++)
		if (column->shown & TABLE_STAT(i))
			text_duration(out, virt_dist_stat(durations, (enum virt_stat)i));
}

static void put_pcpus(struct output *out, const struct table_cell *cell)
{
	for (size_t i = 0; i < cell->n; i++) {
		char time[32];

		format_duration(time, sizeof(time), cell->pcpus[i].ns);
		out_printf(out, "%s p%d %s", i ? "," : " ", (int)cell->pcpus[i].pcpu, time);
	}
}

/** A name that exceeds its column has a blank after it; numbers bring their own. */
static void put_name(struct output *out, const struct table_column *column, const char *name,
		     const struct table_column *end)
{
	const struct table_column *next = column + 1;

	out_text_left(out, name, column->width);
	while (next < end && !next->title)
		next++;
	if (column->width && out_columns(name) >= column->width && next < end &&
	    next->type == TABLE_NAME)
		out_char(out, ' ');
}

/** A number as text: "-" if it is unknown, empty if nothing can be said about it. */
static void number_text(char *text, size_t size, const struct table_column *column,
			const struct table_cell *cell)
{
	double whole = (double)cell->whole, number = (double)cell->number;

	*text = '\0';
	if (cell->instead)
		snprintf(text, size, "%s", cell->instead);
	else if (column->type == TABLE_TIME)
		format_seconds(text, size, cell->number);
	else if (cell->number == VIRT_NONE)
		snprintf(text, size, "-");
	else if (column->type == TABLE_SHARE)
		format_share(text, size, cell->number, cell->whole, column->brief ? 1 : 2);
	else if (column->type == TABLE_PER_SECOND && whole > 0)
		snprintf(text, size, "%.*f", cell->number && number / whole < 1e-8,
			 1e9 * number / whole);
	else if (column->type == TABLE_COUNT)
		snprintf(text, size, "%lld", (long long)cell->number);
	else if (column->type == TABLE_NS || column->type == TABLE_ONE_STAT)
		format_duration(text, size, cell->number);
}

/** @end: of the columns */
static void put_cell(struct output *out, const struct table_column *column,
		     const struct table_cell *cell, const struct table_column *end)
{
	char text[32];

	if (column->type == TABLE_NAME) {
		put_name(out, column, cell->name, end);
	} else if (column->type == TABLE_DURATIONS) {
		put_durations(out, column, cell);
	} else if (column->type == TABLE_STRETCHES && cell->stretches) {
		text_stretches_cells(out, cell->stretches, cell->whole);
	} else if (column->type == TABLE_PCPUS) {
		put_pcpus(out, cell);
	} else if (column->type == TABLE_STRETCHES) {
		text_unknown(out);
	} else {
		number_text(text, sizeof(text), column, cell);
		text_right(out, text, width_of(column));
	}
}

/** As in report, what is not known. */
static const char *value_text(const struct table_cell *cell)
{
	return cell->unknown ? "-" : cell->as == TABLE_NAME ? cell->name : cell->instead;
}

/** The width of the statistics of a column. */
static size_t width_of_statistics(const struct table_column *column)
{
	size_t width = 0;

	for (unsigned int shown = column->shown; shown; shown &= shown - 1)
		width += TEXT_NUMBER + 1;
	return width;
}

/** Is a cell empty? @blanks: receives its width */
static bool is_blank(const struct table_column *column, const struct table_cell *cell,
		     size_t *blanks)
{
	*blanks = 0;
	if (column->type == TABLE_DURATIONS && durations_of(cell) && !cell->durations->count) {
		*blanks = width_of_statistics(column);
		return true;
	}
	if (column->type == TABLE_NAME)
		*blanks = column->width;
	else
		*blanks = width_of(column) + (column->type == TABLE_VALUE ? GAP : 1);
	if (column->type == TABLE_VALUE)
		return !cell->unknown && cell->as == TABLE_NAME && !*cell->name;
	return cell->absent || (column->type == TABLE_NAME && (cell->unknown || !*cell->name));
}

/** An empty cell prints blanks only if another cell follows. */
static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	size_t blanks = 0;

	if (!to->n_rows && !to->rows->untitled)
		put_titles(to);
	out_str(to->out, to->rows->flush ? "" : "  ");
	for (size_t i = 0; i < to->rows->n; i++) {
		const struct table_column *column = &to->rows->columns[i];
		size_t n;

		if (!column->title)
			continue;
		if (is_blank(column, &cells[i], &n)) {
			blanks += n;
			continue;
		}
		out_text_left(to->out, "", blanks);
		blanks = 0;
		if (cells[i].style)
			out_style(to->out, cells[i].style);
		if (column->type == TABLE_VALUE)
			blanks = put_value(to->out, value_text(&cells[i]), column->width,
					   cells[i].unknown || cells[i].as != TABLE_NAME);
		else
			put_cell(to->out, column, &cells[i], &to->rows->columns[to->rows->n]);
		if (cells[i].style)
			out_style(to->out, OUT_PLAIN);
		/* unknown ones have a sign in their first column alone */
		if (column->type == TABLE_DURATIONS && !durations_of(&cells[i]))
			blanks = width_of_statistics(column) - (TEXT_NUMBER + 1);
	}
	out_char(to->out, '\n');
}

/** The names of a group stand above its rows. */
static void put_group(struct table_writer *to, const struct table_cell *cells)
{
	for (size_t i = 0; i < to->table->n_group; i++) {
		if (!to->table->group[i].title || cells[i].absent)
			continue;
		out_str(to->out, "\n  ");
		out_style(to->out, OUT_HEAD);
		out_text(to->out, cells[i].name);
		out_style(to->out, OUT_PLAIN);
		out_char(to->out, '\n');
	}
}

static void end_rows(struct table_writer *to)
{
	if (to->rows->titled && !to->n_rows && !to->unknown)
		put_titles(to);
	if (to->unknown)
		out_str(to->out, "  -\n");
	else if (!to->n_rows && to->rows->none)
		out_str(to->out, to->rows->none);
}

const struct table_format table_text = {
	.group = put_group, .row = put_row, .rows_end = end_rows,
};
