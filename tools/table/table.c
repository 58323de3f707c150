// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table.c
 * @brief	Tables: what all formats have in common.
 */
#include <stdio.h>

#include "table.h"

const char *const table_format_names[] = {
	[TABLE_TEXT] = "text", [TABLE_JSON] = "json", [TABLE_CSV] = "csv", [TABLE_HTML] = NULL
};

const char *table_key(const struct table_column *column, char text[TABLE_NAME_SIZE])
{
	if (column->type != TABLE_ONE_STAT)
		return column->key;
	snprintf(text, TABLE_NAME_SIZE, "%s%s%s", column->key, *column->key ? "_" : "",
		 virt_stat_look(column->stat)->key);
	return text;
}

const char *table_title(const struct table_column *column, char text[TABLE_NAME_SIZE])
{
	if (column->type != TABLE_ONE_STAT || !column->title)
		return column->title;
	snprintf(text, TABLE_NAME_SIZE, "%s%s%s", column->title, *column->title ? " " : "",
		 virt_stat_look(column->stat)->name);
	return text;
}

const struct table_format *const table_formats[TABLE_N_FORMATS] = {
	[TABLE_TEXT] = &table_text, [TABLE_JSON] = &table_json, [TABLE_CSV] = &table_csv,
	[TABLE_HTML] = &table_html, [TABLE_LATEX] = &table_latex,
};

bool table_is(const struct table_writer *to, enum table_format_kind format)
{
	return to->format == table_formats[format];
}

void table_begin(struct table_writer *to, bool first)
{
	if (!to->titles)
		to->titles = to->table;
	if (to->format->begin)
		to->format->begin(to, first);
}

void table_end(struct table_writer *to)
{
	if (to->format->end)
		to->format->end(to);
}

void table_flat(struct table_writer *to, bool first)
{
	table_begin(to, first);
	table_group(to, NULL);
}

void table_flat_end(struct table_writer *to)
{
	table_group_end(to);
	table_end(to);
}

void table_next(struct table_writer *to, const struct table *table)
{
	table_end(to);
	to->table = table;
	table_begin(to, false);
}

struct table_writer table_inside(struct table_writer *to, const struct table *table)
{
	struct table_writer inside = *to;

	table_rows_end(to);
	inside.table = table;
	table_begin(&inside, false);
	return inside;
}

void table_rows(struct table_writer *to, const struct table_rows *rows)
{
	table_rows_end(to);
	to->rows = rows;
	to->n_rows = 0;
	if (to->format->rows)
		to->format->rows(to);
}

void table_rows_end(struct table_writer *to)
{
	if (to->rows && to->format->rows_end)
		to->format->rows_end(to);
	to->rows = NULL;
}

void table_group(struct table_writer *to, const struct table_cell *cells)
{
	to->group = cells;
	to->rows = NULL;
	if (to->format->group)
		to->format->group(to, cells);
	table_rows(to, &to->table->rows);
}

void table_group_end(struct table_writer *to)
{
	table_rows_end(to);
	if (to->format->group_end)
		to->format->group_end(to);
	to->group = NULL;
}

void table_row(struct table_writer *to, const struct table_cell *cells)
{
	if (to->unknown)
		return;
	to->format->row(to, cells);
	to->n_rows++;
}

struct output *table_as_text(const struct table_writer *to)
{
	return table_is(to, TABLE_TEXT) ? to->out : NULL;
}

struct json *table_as_json(const struct table_writer *to)
{
	return table_is(to, TABLE_JSON) ? to->json : NULL;
}
