// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table_csv.c
 * @brief	Tables as CSV: a line for each row, with the file and its group in front.
 */
#include <string.h>

#include "table.h"

void table_csv_statistics(struct output *out, const char *prefix)
{
	for (size_t i = 0; i < TABLE_N_STATISTICS; i++) {
		out_char(out, ',');
		out_str(out, prefix);
		out_str(out, table_statistics[i].key);
	}
}

static void put_titles(struct output *out, const struct table_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!columns[i].key || columns[i].not_csv)
			continue;
		out_str(out, columns[i].type == TABLE_DURATIONS ? ",complete," : ",");
		out_str(out, columns[i].key);
		if (columns[i].type == TABLE_DURATIONS)
			table_csv_statistics(out, "");
	}
}

/** Empty if it is unknown. */
static void put_number(struct output *out, bool known, int64_t number)
{
	out_char(out, ',');
	if (known)
		out_i64(out, number);
}

void table_csv_durations(struct output *out, const struct virt_dist *durations)
{
	for (size_t i = 0; i < TABLE_N_STATISTICS; i++)
		put_number(out, durations->count,
			   durations->count ? table_statistic_of(durations, i) : 0);
}

static void put_durations(struct output *out, const struct virt_dist *durations)
{
	static const struct virt_dist none;

	put_number(out, durations, durations ? (int64_t)durations->count : 0);
	put_number(out, durations, durations ? durations->ns : 0);
	table_csv_durations(out, durations ? durations : &none);
}

static void put_cells(struct output *out, const struct table_column *columns, size_t n,
		      const struct table_cell *cells)
{
	for (size_t i = 0; i < n; i++) {
		if (!columns[i].key || columns[i].not_csv)
			continue;
		if (columns[i].type == TABLE_NAME) {
			out_char(out, ',');
			out_csv(out, cells[i].name, strlen(cells[i].name));
		} else if (columns[i].type == TABLE_DURATIONS) {
			put_durations(out, cells[i].durations);
		} else {
			put_number(out, cells[i].number != VIRT_NONE, cells[i].number);
		}
	}
}

static void begin(struct table_writer *to, bool first)
{
	if (!first)
		return;
	out_str(to->out, "file");
	put_titles(to->out, to->table->group, to->table->n_group);
	put_titles(to->out, to->table->row, to->table->n_row);
	out_char(to->out, '\n');
}

static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	out_csv(to->out, to->file, strlen(to->file));
	put_cells(to->out, to->table->group, to->table->n_group, to->group);
	put_cells(to->out, to->table->row, to->table->n_row, cells);
	out_char(to->out, '\n');
}

const struct table_format table_csv = { .begin = begin, .row = put_row };
