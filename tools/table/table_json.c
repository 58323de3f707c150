// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table_json.c
 * @brief	Tables as members of a JSON object: an array of groups, each with an array of rows.
 *		As JSON Lines: a document for each row.
 */
#include <math.h>
#include <stdio.h>

#include "json_durations.h"
#include "table.h"

static void put_pcpus(struct json *json, const char *key, const struct table_cell *cell)
{
	json_open(json, key, '{', true);
	for (size_t i = 0; i < cell->n; i++) {
		char pcpu[16];

		snprintf(pcpu, sizeof(pcpu), "%d", (int)cell->pcpus[i].pcpu);
		json_i64(json, pcpu, cell->pcpus[i].ns);
	}
	json_close(json, '}');
}

static void put_list(struct json *json, const char *key, const struct table_column *column,
		     const struct table_cell *cell)
{
	json_open(json, key, '[', !column->lines);
	for (size_t i = 0; i < cell->n; i++) {
		json_open(json, NULL, '{', true);
		table_json_members(json, column->list, column->n_list,
				   &cell->list[i * column->n_list]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_object(struct json *json, const char *key, const struct table_column *column,
		       const struct table_cell *cell)
{
	json_open(json, key, '{', !column->lines);
	table_json_members(json, column->list, column->n_list, cell->list);
	json_close(json, '}');
}

static void put_range(struct json *json, const char *key, const struct table_column *column,
		      const struct table_cell *cell)
{
	json_open(json, key, '[', true);
	if (column->type == TABLE_RANGE) {
		json_i64(json, NULL, cell->number);
		json_i64(json, NULL, cell->to);
	} else {
		json_fixed(json, NULL, cell->rate);
		json_fixed(json, NULL, cell->rate_to);
	}
	json_close(json, ']');
}

static void put_cell(struct json *json, const struct table_column *column,
		     const struct table_cell *cell)
{
	char text[TABLE_NAME_SIZE];
	const char *key = table_key(column, text);

	if (cell->unknown) {
		json_null(json, key);
		return;
	}
	switch (column->type) {
	case TABLE_NAME:
		json_str(json, key, cell->name);
		break;
	case TABLE_TIME:
		json_i64(json, key, cell->number);
		break;
	case TABLE_FLAG:
		json_bool(json, key, cell->number);
		break;
	case TABLE_FIXED:
		json_fixed(json, key, cell->rate);
		break;
	case TABLE_RATE:
		json_number(json, key, cell->rate);
		break;
	case TABLE_VALUE:
		/* JSON has no infinite numbers */
		if (cell->as == TABLE_NAME)
			json_str(json, key, cell->name);
		else if (cell->as == TABLE_RATE && !isfinite(cell->rate))
			json_str(json, key, cell->instead);
		else if (cell->as == TABLE_RATE)
			json_exact(json, key, cell->rate);
		else
			json_i64(json, key, cell->number);
		break;
	case TABLE_PCPUS:
		put_pcpus(json, key, cell);
		break;
	case TABLE_LIST:
		put_list(json, key, column, cell);
		break;
	case TABLE_OBJECT:
		put_object(json, key, column, cell);
		break;
	case TABLE_RANGE:
	case TABLE_FIXED_RANGE:
		put_range(json, key, column, cell);
		break;
	case TABLE_MEMBERS:
		cell->members(json, cell->of);
		break;
	case TABLE_DURATIONS:
		if (cell->durations)
			json_durations(json, key, cell->durations);
		else
			json_null(json, key);
		break;
	case TABLE_STRETCHES:
		if (cell->stretches)
			json_stretches(json, key, cell->stretches);
		else
			json_null(json, key);
		break;
	default:
		if (cell->number == VIRT_NONE)
			json_null(json, key);
		else
			json_i64(json, key, cell->number);
	}
}

void table_json_members(struct json *json, const struct table_column *columns, size_t n,
			const struct table_cell *cells)
{
	for (size_t i = 0; i < n; i++)
		if (columns[i].key && !columns[i].not_json && !cells[i].absent)
			put_cell(json, &columns[i], &cells[i]);
}

static void begin(struct table_writer *to, bool first)
{
	(void)first;
	if (to->table->groups)
		json_open(to->json, to->table->groups, '[', false);
}

static void put_group(struct table_writer *to, const struct table_cell *cells)
{
	if (!to->table->groups)
		return;
	json_open(to->json, NULL, '{', false);
	table_json_members(to->json, to->table->group, to->table->n_group, cells);
}

static void begin_rows(struct table_writer *to)
{
	if (to->unknown && to->rows->key)
		json_null(to->json, to->rows->key);
	else if (to->rows->key)
		json_open(to->json, to->rows->key, '[', false);
}

static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	if (!to->rows->key)
		return;
	json_open(to->json, NULL, '{', true);
	table_json_members(to->json, to->rows->columns, to->rows->n, cells);
	json_close(to->json, '}');
}

static void end_rows(struct table_writer *to)
{
	if (!to->unknown && to->rows->key)
		json_close(to->json, ']');
}

static void end_group(struct table_writer *to)
{
	if (to->table->groups)
		json_close(to->json, '}');
}

static void end(struct table_writer *to)
{
	if (to->table->groups)
		json_close(to->json, ']');
}

const struct table_format table_json = {
	.begin = begin, .group = put_group, .rows = begin_rows, .row = put_row,
	.rows_end = end_rows, .group_end = end_group, .end = end,
};

static void put_line(struct table_writer *to, const struct table_cell *cells)
{
	struct json json;

	json_line_begin(&json, to->out);
	table_json_members(&json, to->rows->columns, to->rows->n, cells);
	json_document_end(&json);
}

const struct table_format table_json_lines = { .row = put_line };
