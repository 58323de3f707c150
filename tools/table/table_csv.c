// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table_csv.c
 * @brief	Tables as CSV: a line for each row, with the file and its group in front.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "table.h"

/* --- numbers, commas between them ------------------------------------------------------------ */

/** Empty if it is unknown. */
static void put_number(struct output *out, bool known, int64_t number)
{
	if (known)
		out_i64(out, number);
}

void table_csv_titles(struct output *out, const char *prefix, size_t n_stretches)
{
	static const char *const more[TABLE_N_STRETCHES] = { "complete", "before", "before_ns" };

	out_printf(out, "%scount,%stotal_ns", prefix, prefix);
	for (int i = 0; i < VIRT_N_STATS; i++)
		out_printf(out, ",%s%s", prefix, virt_stat_look((enum virt_stat)i)->key);
	for (size_t i = 0; i < n_stretches; i++)
		out_printf(out, ",%s%s", prefix, more[i]);
}

void table_csv_statistics(struct output *out, const struct virt_dist *durations)
{
	bool known = durations && durations->count;

	for (int i = 0; i < VIRT_N_STATS; i++) {
		out_char(out, ',');
		put_number(out, known, known ? virt_dist_stat(durations, (enum virt_stat)i) : 0);
	}
}

static void put_durations(struct output *out, const struct virt_dist *durations)
{
	put_number(out, durations, durations ? (int64_t)durations->count : 0);
	out_char(out, ',');
	put_number(out, durations, durations ? durations->ns : 0);
	table_csv_statistics(out, durations);
}

static void put_stretches(struct output *out, const struct virt_stretches *stretches,
			  size_t n_stretches)
{
	static const struct virt_stretches none;
	bool known = stretches;

	if (!known)
		stretches = &none;
	put_number(out, known, (int64_t)stretches->count);
	out_char(out, ',');
	put_number(out, known && stretches->ns != VIRT_NONE, stretches->ns);
	table_csv_statistics(out, &stretches->whole);
	out_char(out, ',');
	put_number(out, known, (int64_t)stretches->whole.count);
	if (n_stretches == 1)
		return;
	out_char(out, ',');
	put_number(out, known, (int64_t)stretches->before);
	out_char(out, ',');
	put_number(out, stretches->before && stretches->before_ns != VIRT_NONE,
		   stretches->before_ns);
}

/* --- cells ----------------------------------------------------------------------------------- */

static bool is_there(const struct table_column *column)
{
	return column->key && !column->not_csv &&
	       (column->type < TABLE_LIST || column->type > TABLE_MEMBERS);
}

/** How many columns stretches have behind those of a distribution; 0: these are none. */
static size_t n_stretches_of(const struct table_column *column)
{
	if (column->type != TABLE_STRETCHES)
		return 0;
	return column->not_before ? 1 : TABLE_N_STRETCHES;
}

static void put_text(struct output *out, const char *text)
{
	out_csv(out, text, strlen(text));
}

/** A distribution has its key in front of each of its titles. @comma: has the next a comma? */
static void put_titles(struct output *out, const struct table_column *columns, size_t n,
		       bool *comma)
{
	for (size_t i = 0; i < n; i++) {
		size_t n_stretches = n_stretches_of(&columns[i]);
		char prefix[32], key[TABLE_NAME_SIZE];

		if (!is_there(&columns[i]))
			continue;
		if (*comma)
			out_char(out, ',');
		*comma = true;
		snprintf(prefix, sizeof(prefix), "%s_", columns[i].key);
		if (n_stretches || columns[i].type == TABLE_DURATIONS)
			table_csv_titles(out, prefix, n_stretches);
		else
			put_text(out, table_key(&columns[i], key));
	}
}

/** A text that is empty is not what is unknown. */
static void put_value(struct output *out, const struct table_cell *cell)
{
	if (cell->as != TABLE_NAME)
		out_str(out, cell->instead);
	else if (*cell->name)
		put_text(out, cell->name);
	else
		out_str(out, "\"\"");
}

static void put_cell(struct output *out, const struct table_column *title,
		     const struct table_cell *cell)
{
	bool known = !cell->absent && !cell->unknown;

	switch (title->type) {
	case TABLE_NAME:
		if (known && cell->name)
			put_text(out, cell->name);
		break;
	case TABLE_VALUE:
		if (known)
			put_value(out, cell);
		break;
	case TABLE_DURATIONS:
		put_durations(out, known ? cell->durations : NULL);
		break;
	case TABLE_STRETCHES:
		put_stretches(out, known ? cell->stretches : NULL, n_stretches_of(title));
		break;
	case TABLE_RATE:
	case TABLE_FIXED:
		if (known)
			out_printf(out, title->type == TABLE_RATE ? "%.10g" : "%.3f", cell->rate);
		break;
	case TABLE_TIME:
		put_number(out, known, cell->number);
		break;
	default:
		put_number(out, known && cell->number != VIRT_NONE, cell->number);
	}
}

/** The cell that stands under a title; NULL: none. */
static const struct table_cell *find(const struct table_column *title,
				     const struct table_column *columns, size_t n,
				     const struct table_cell *cells)
{
	for (size_t i = 0; i < n; i++)
		if (&columns[i] == title ||
		    (is_there(&columns[i]) && !strcmp(columns[i].key, title->key)))
			return &cells[i];
	return NULL;
}

/** The cells of a row and of its group, each under its title. */
static void put_cells(const struct table_writer *to, const struct table_column *titles, size_t n,
		      const struct table_cell *cells, bool *comma)
{
	static const struct table_cell empty = { .absent = true };
	bool same = titles == to->rows->columns;

	for (size_t i = 0; i < n; i++) {
		const struct table_cell *cell;

		if (!is_there(&titles[i]))
			continue;
		cell = same ? &cells[i] :
		       find(&titles[i], to->rows->columns, to->rows->n, cells);
		if (!cell)
			cell = find(&titles[i], to->table->group, to->table->n_group, to->group);
		if (*comma)
			out_char(to->out, ',');
		*comma = true;
		put_cell(to->out, &titles[i], cell ? cell : &empty);
	}
}

static void begin(struct table_writer *to, bool first)
{
	bool comma = to->file;

	if (!first)
		return;
	out_str(to->out, to->file ? "file" : "");
	put_titles(to->out, to->table->group, to->table->n_group, &comma);
	put_titles(to->out, to->table->rows.columns, to->table->rows.n, &comma);
	out_char(to->out, '\n');
}

static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	const struct table *titles = to->titles;
	bool comma = to->file;

	if (to->file)
		out_csv(to->out, to->file, strlen(to->file));
	put_cells(to, titles->group, titles->n_group, cells, &comma);
	put_cells(to, titles->rows.columns, titles->rows.n, cells, &comma);
	out_char(to->out, '\n');
}

const struct table_format table_csv = { .begin = begin, .row = put_row };
