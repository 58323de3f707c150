// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table_json.c
 * @brief	Tables as members of a JSON object: an array of groups, each with an array of rows.
 */
#include <stdio.h>

#include "json_durations.h"
#include "table.h"

static void put_pcpus(struct json *json, const char *key, const struct table_cell *cell)
{
	json_open(json, key, '{', true);
	for (size_t i = 0; i < cell->n_pcpus; i++) {
		char pcpu[16];

		snprintf(pcpu, sizeof(pcpu), "%d", (int)cell->pcpus[i].pcpu);
		json_i64(json, pcpu, cell->pcpus[i].ns);
	}
	json_close(json, '}');
}

static void put_cell(struct json *json, const struct table_column *column,
		     const struct table_cell *cell)
{
	const char *key = column->json ? column->json : column->key;

	if (column->type == TABLE_NAME) {
		json_str(json, key, cell->name);
	} else if (column->type == TABLE_DURATIONS && !cell->durations) {
		json_null(json, "complete");
		json_null(json, key);
	} else if (column->type == TABLE_DURATIONS) {
		json_u64(json, "complete", cell->durations->count);
		json_i64(json, key, cell->durations->ns);
		json_dist(json, cell->durations);
	} else if (column->type == TABLE_PCPUS) {
		put_pcpus(json, key, cell);
	} else if (cell->number == VIRT_NONE) {
		json_null(json, key);
	} else {
		json_i64(json, key, cell->number);
	}
}

static void put_cells(struct json *json, const struct table_column *columns, size_t n,
		      const struct table_cell *cells)
{
	for (size_t i = 0; i < n; i++)
		if (columns[i].key && !columns[i].not_json)
			put_cell(json, &columns[i], &cells[i]);
}

static void begin(struct table_writer *to, bool first)
{
	(void)first;
	json_open(to->json, to->table->groups, '[', false);
}

static void put_group(struct table_writer *to, const struct table_cell *cells)
{
	json_open(to->json, NULL, '{', false);
	put_cells(to->json, to->table->group, to->table->n_group, cells);
	if (to->unknown)
		json_null(to->json, to->table->rows);
	else
		json_open(to->json, to->table->rows, '[', false);
}

static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	json_open(to->json, NULL, '{', true);
	put_cells(to->json, to->table->row, to->table->n_row, cells);
	json_close(to->json, '}');
}

static void end_group(struct table_writer *to)
{
	if (!to->unknown)
		json_close(to->json, ']');
	json_close(to->json, '}');
}

static void end(struct table_writer *to)
{
	json_close(to->json, ']');
}

const struct table_format table_json = {
	.begin = begin, .group = put_group, .row = put_row, .group_end = end_group, .end = end,
};
