// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table_text.c
 * @brief	Tables for people.
 */
#include <string.h>

#include "table.h"
#include "text_columns.h"

static void put_titles(struct table_writer *to)
{
	size_t over = 0;	/* what a long title takes from the column behind it */

	out_str(to->out, "  ");
	for (size_t i = 0; i < to->table->n_row; i++) {
		const struct table_column *column = &to->table->row[i];

		if (!column->title)
			continue;
		if (column->type == TABLE_NAME) {
			size_t size = strlen(column->title), width = column->width - over;

			out_text_left(to->out, column->title, width);
			over = size > width ? size - width : 0;
			continue;
		}
		if (column->type == TABLE_PCPUS) {
			out_str(to->out, "  ");
			out_str(to->out, column->title);
			continue;
		}
		text_right(to->out, column->title,
			   column->type == TABLE_SHARE ? TEXT_SHARE : TEXT_NUMBER);
		for (size_t k = 0; k < TABLE_N_STATISTICS; k++)
			if (column->type == TABLE_DURATIONS &&
			    column->shown & table_statistics[k].bit)
				text_right(to->out, table_statistics[k].name, TEXT_NUMBER);
	}
	out_char(to->out, '\n');
}

static void put_durations(struct output *out, const struct table_column *column,
			  const struct virt_dist *durations)
{
	if (!durations) {
		text_unknown(out);
		return;
	}
	if (!durations->count)
		return;
	text_duration(out, durations->ns);
	for (size_t k = 0; k < TABLE_N_STATISTICS; k++)
		if (column->shown & table_statistics[k].bit)
			text_duration(out, table_statistic_of(durations, k));
}

static void put_pcpus(struct output *out, const struct table_cell *cell)
{
	for (size_t i = 0; i < cell->n_pcpus; i++) {
		char time[32];

		report_duration(time, sizeof(time), cell->pcpus[i].ns);
		out_printf(out, "%s p%d %s", i ? "," : " ", (int)cell->pcpus[i].pcpu, time);
	}
}

static void put_cell(struct output *out, const struct table_column *column,
		     const struct table_cell *cell)
{
	if (column->type == TABLE_NAME)
		out_text_left(out, cell->name, column->width);
	else if (column->type == TABLE_DURATIONS)
		put_durations(out, column, cell->durations);
	else if (column->type == TABLE_PCPUS)
		put_pcpus(out, cell);
	else if (column->type == TABLE_SHARE)
		text_share(out, cell->number, cell->whole, TEXT_SHARE);
	else if (cell->number == VIRT_NONE)
		text_unknown(out);
	else if (column->type == TABLE_COUNT)
		text_count(out, (uint64_t)cell->number);
	else
		text_duration(out, cell->number);
}

static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	if (!to->n_rows)
		put_titles(to);
	out_str(to->out, "  ");
	for (size_t i = 0; i < to->table->n_row; i++)
		if (to->table->row[i].title)
			put_cell(to->out, &to->table->row[i], &cells[i]);
	out_char(to->out, '\n');
}

/** The names of a group stand above its rows. */
static void put_group(struct table_writer *to, const struct table_cell *cells)
{
	for (size_t i = 0; i < to->table->n_group; i++) {
		if (!to->table->group[i].title)
			continue;
		out_str(to->out, "\n  ");
		out_text(to->out, cells[i].name);
		out_char(to->out, '\n');
	}
}

static void end_group(struct table_writer *to)
{
	if (to->unknown)
		out_str(to->out, "  -\n");
	else if (!to->n_rows && to->table->none)
		out_str(to->out, to->table->none);
}

const struct table_format table_text = {
	.group = put_group, .row = put_row, .group_end = end_group,
};
