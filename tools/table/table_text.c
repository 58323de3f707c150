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
	for (size_t k = 0; k < TABLE_N_STATISTICS; k++)
		if (column->shown & table_statistics[k].bit)
			text_right(out, table_statistics[k].name, TEXT_NUMBER);
}

static void put_title(struct output *out, const struct table_column *column)
{
	if (column->type == TABLE_DURATIONS)
		put_durations_titles(out, column);
	else if (column->type == TABLE_STRETCHES)
		text_stretches_titles(out);
	else
		text_right(out, column->title, width_of(column));
}

static void put_titles(struct table_writer *to)
{
	size_t over = 0;	/* what a long title takes from the column behind it */

	out_str(to->out, to->rows->apart ? "\n  " : "  ");
	for (size_t i = 0; i < to->rows->n; i++) {
		const struct table_column *column = &to->rows->columns[i];
		size_t size = column->title ? strlen(column->title) : 0;

		if (column->title && column->type == TABLE_NAME) {
			size_t width = column->width > over ? column->width - over : 0;

			out_text_left(to->out, column->title, width);
			over = size > width ? size - width : 0;
		} else if (column->title && column->type == TABLE_PCPUS) {
			out_printf(to->out, "  %s", column->title);
		} else if (column->title) {
			put_title(to->out, column);
		}
	}
	out_char(to->out, '\n');
}

/* --- rows ------------------------------------------------------------------------------------ */

static void put_durations(struct output *out, const struct table_column *column,
			  const struct virt_dist *durations)
{
	if (!durations) {
		text_unknown(out);
		return;
	}
	if (column->shown & TABLE_TOTAL)
		text_duration(out, durations->ns);
	for (size_t k = 0; k < TABLE_N_STATISTICS; k++)
		if (column->shown & table_statistics[k].bit)
			text_duration(out, table_statistic_of(durations, k));
}

static void put_pcpus(struct output *out, const struct table_cell *cell)
{
	for (size_t i = 0; i < cell->n_pcpus; i++) {
		char time[32];

		format_duration(time, sizeof(time), cell->pcpus[i].ns);
		out_printf(out, "%s p%d %s", i ? "," : " ", (int)cell->pcpus[i].pcpu, time);
	}
}

/** A name that exceeds its column has a blank behind it. */
static void put_name(struct output *out, const char *name, size_t width)
{
	out_text_left(out, name, width);
	if (width && out_columns(name) >= width)
		out_char(out, ' ');
}

/** A number as text: "-" if it is unknown, empty if nothing can be said about it. */
static void number_text(char *text, size_t size, const struct table_column *column,
			const struct table_cell *cell)
{
	double whole = (double)cell->whole, number = (double)cell->number;

	*text = '\0';
	if (cell->number == VIRT_NONE)
		snprintf(text, size, "-");
	else if (column->type == TABLE_SHARE)
		format_share(text, size, cell->number, cell->whole, column->brief ? 1 : 2);
	else if (column->type == TABLE_PER_SECOND && whole > 0)
		snprintf(text, size, "%.*f", cell->number && number / whole < 1e-8,
			 1e9 * number / whole);
	else if (column->type == TABLE_COUNT)
		snprintf(text, size, "%lld", (long long)cell->number);
	else if (column->type == TABLE_NS)
		format_duration(text, size, cell->number);
}

static void put_cell(struct output *out, const struct table_column *column,
		     const struct table_cell *cell)
{
	char text[32];

	if (column->type == TABLE_NAME) {
		put_name(out, cell->name, column->width);
	} else if (column->type == TABLE_DURATIONS) {
		put_durations(out, column, cell->durations);
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

/** How wide a cell is that has nothing; 0: it has something. */
static size_t blanks_of(const struct table_column *column, const struct table_cell *cell)
{
	size_t n = 0;

	if (column->type == TABLE_DURATIONS && cell->durations && !cell->durations->count) {
		for (unsigned int shown = column->shown; shown; shown &= shown - 1)
			n++;
		return n * (TEXT_NUMBER + 1);
	}
	if (!cell->absent)
		return 0;
	return column->type == TABLE_NAME ? column->width : TEXT_NUMBER + 1;
}

/** Blanks come before what stands behind them, and none before the end of the line. */
static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	size_t blanks = 0;

	if (!to->n_rows)
		put_titles(to);
	out_str(to->out, "  ");
	for (size_t i = 0; i < to->rows->n; i++) {
		const struct table_column *column = &to->rows->columns[i];
		size_t n = column->title ? blanks_of(column, &cells[i]) : 0;

		blanks += n;
		if (!column->title || n)
			continue;
		out_text_left(to->out, "", blanks);
		blanks = 0;
		put_cell(to->out, column, &cells[i]);
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
		out_text(to->out, cells[i].name);
		out_char(to->out, '\n');
	}
}

static void end_rows(struct table_writer *to)
{
	if (to->unknown)
		out_str(to->out, "  -\n");
	else if (!to->n_rows && to->rows->none)
		out_str(to->out, to->rows->none);
}

const struct table_format table_text = {
	.group = put_group, .row = put_row, .rows_end = end_rows,
};
