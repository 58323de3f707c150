// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table.c
 * @brief	Tables: what all formats have in common.
 */
#include "table.h"

const char *const table_format_names[] = {
	[TABLE_TEXT] = "text", [TABLE_JSON] = "json", [TABLE_CSV] = "csv", [TABLE_HTML] = NULL
};

const struct table_statistic table_statistics[TABLE_N_STATISTICS] = {
	{ "mean", "mean_ns", TABLE_MEAN }, { "min", "min_ns", TABLE_MIN },
	{ "p5", "p5_ns", TABLE_P5 }, { "p50", "p50_ns", TABLE_P50 },
	{ "p95", "p95_ns", TABLE_P95 }, { "p99", "p99_ns", TABLE_P99 },
	{ "max", "max_ns", TABLE_MAX },
};

size_t table_statistic_at(unsigned int bit)
{
	size_t i = 0;

	while (i + 1 < TABLE_N_STATISTICS && table_statistics[i].bit != bit)
		i++;
	return i;
}

int64_t table_statistic_of(const struct virt_dist *durations, size_t i)
{
	const int64_t values[TABLE_N_STATISTICS] = {
		virt_mean(durations->ns, durations->count), durations->min, durations->p5,
		durations->p50, durations->p95, durations->p99, durations->max,
	};

	return values[i];
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
