// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table_html.c
 * @brief	Tables for a page of HTML: one for each kind of rows, each row with its group.
 */
#include <stdio.h>
#include <string.h>

#include "table.h"
#include "text_columns.h"

/* --- titles ---------------------------------------------------------------------------------- */

/** A column that JSON has, or one for people alone that no other column repeats. */
static bool is_row_column(const struct table_column *column)
{
	if (column->type >= TABLE_LIST && column->type <= TABLE_MEMBERS)
		return false;
	if (column->key)
		return !column->not_json;
	return column->title && (column->type == TABLE_SHARE || column->type == TABLE_PER_SECOND);
}

/** Does a column of a group name the vCPU, machine or thread that its rows are about? */
static bool is_group_column(const struct table_column *column)
{
	return column->type == TABLE_NAME && column->key;
}

/** A distribution has the name of its column in front, unless the column needs none. */
static void add_title(struct html_tables *html, struct html_table *table, const char *before,
		      const char *key)
{
	char title[64], words[48];

	html_words(words, sizeof(words), key);
	snprintf(title, sizeof(title), "%s%s%s", before, *before ? ": " : "", words);
	html_column(html, table, title);
}

void table_html_statistics(struct html_tables *html, struct html_table *table, const char *before,
			   size_t n_stretches)
{
	static const char *const more[TABLE_N_STRETCHES] = { "complete", "before", "time before" };

	add_title(html, table, before, "count");
	add_title(html, table, before, "total");
	for (int i = 0; i < VIRT_N_STATS; i++)
		add_title(html, table, before, virt_stat_look((enum virt_stat)i)->name);
	for (size_t i = 0; i < n_stretches; i++)
		add_title(html, table, before, more[i]);
}

static void add_statistics(struct table_writer *to, struct html_table *table,
			   const struct table_column *column)
{
	char before[48];

	html_words(before, sizeof(before), column->key);
	table_html_statistics(to->html, table, before,
			      column->type == TABLE_STRETCHES ? TABLE_N_STRETCHES : 0);
}

static void add_columns(struct table_writer *to, struct html_table *table)
{
	const struct table_rows *rows = to->rows;

	for (size_t i = 0; i < to->table->n_group; i++)
		if (is_group_column(&to->table->group[i]))
			add_title(to->html, table, "", to->table->group[i].key);
	for (size_t i = 0; i < rows->n; i++) {
		const struct table_column *column = &rows->columns[i];
		char text[TABLE_NAME_SIZE];

		if (!is_row_column(column))
			continue;
		if (column->type == TABLE_DURATIONS || column->type == TABLE_STRETCHES)
			add_statistics(to, table, column);
		else
			add_title(to->html, table, "", column->key ? table_key(column, text) :
				  table_title(column, text));
	}
}

/** The table of rows of one kind; NULL: they are in none. */
static struct html_table *table_of(struct table_writer *to)
{
	const char *groups = to->table->groups;
	struct html_table *table;
	char key[64];

	if (!to->rows->key)
		return NULL;
	snprintf(key, sizeof(key), "%s%s%s-%s", to->page, groups ? "-" : "", groups ? groups : "",
		 to->rows->key);
	table = html_table(to->html, key);
	if (table && !table->n_columns)
		add_columns(to, table);
	return table;
}

/* --- cells ----------------------------------------------------------------------------------- */

void table_html_durations(struct html_tables *html, struct html_table *table,
			  const struct virt_dist *durations)
{
	for (int i = 0; i < VIRT_N_STATS; i++) {
		if (durations && durations->count)
			html_number(html, table, HTML_DURATION,
				    virt_dist_stat(durations, (enum virt_stat)i));
		else
			html_blank(html, table);
	}
}

/** Its number, or that it is unknown. */
static void put_known(struct table_writer *to, struct html_table *table, enum html_type type,
		      bool known, int64_t number)
{
	if (known && number != VIRT_NONE)
		html_number(to->html, table, type, number);
	else
		html_unknown(to->html, table);
}

static void put_durations(struct table_writer *to, struct html_table *table,
			  const struct virt_dist *durations)
{
	put_known(to, table, HTML_COUNT, durations, durations ? (int64_t)durations->count : 0);
	put_known(to, table, HTML_DURATION, durations, durations ? durations->ns : 0);
	table_html_durations(to->html, table, durations);
}

void table_html_stretches(struct html_tables *html, struct html_table *table,
			  const struct virt_stretches *stretches)
{
	if (!stretches || stretches->whole.count == stretches->count)
		html_blank(html, table);
	else
		html_number(html, table, HTML_COUNT, (int64_t)stretches->whole.count);
	if (stretches && stretches->before) {
		html_number(html, table, HTML_COUNT, (int64_t)stretches->before);
		if (stretches->before_ns != VIRT_NONE) {
			html_number(html, table, HTML_DURATION, stretches->before_ns);
			return;
		}
	} else {
		html_blank(html, table);
	}
	html_blank(html, table);
}

static void put_stretches(struct table_writer *to, struct html_table *table,
			  const struct virt_stretches *stretches)
{
	put_known(to, table, HTML_COUNT, stretches, stretches ? (int64_t)stretches->count : 0);
	put_known(to, table, HTML_DURATION, stretches, stretches ? stretches->ns : 0);
	table_html_durations(to->html, table, stretches ? &stretches->whole : NULL);
	table_html_stretches(to->html, table, stretches);
}

static void put_pcpus(struct table_writer *to, struct html_table *table,
		      const struct table_cell *cell)
{
	char text[512] = "", time[32];
	size_t n = 0;

	for (size_t i = 0; i < cell->n && n < sizeof(text); i++) {
		format_duration(time, sizeof(time), cell->pcpus[i].ns);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%sp%d %s", i ? ", " : "",
				      (int)cell->pcpus[i].pcpu, time);
	}
	/* some of very many do not help */
	if (n >= sizeof(text))
		snprintf(text, sizeof(text), "%zu pCPUs", cell->n);
	html_text(to->html, table, text);
}

static void put_absent(struct table_writer *to, struct html_table *table,
		       const struct table_column *column)
{
	size_t n = column->type == TABLE_STRETCHES ? 2 + VIRT_N_STATS + TABLE_N_STRETCHES :
		   column->type == TABLE_DURATIONS ? 2 + VIRT_N_STATS : 1;

	while (n--)
		html_blank(to->html, table);
}

enum html_type table_html_type(enum table_type type)
{
	static const enum html_type types[TABLE_STRETCHES + 1] = {
		[TABLE_COUNT] = HTML_COUNT, [TABLE_NS] = HTML_DURATION, [TABLE_TIME] = HTML_COUNT,
		[TABLE_ONE_STAT] = HTML_DURATION,
		[TABLE_FLAG] = HTML_FLAG, [TABLE_SHARE] = HTML_SHARE,
		[TABLE_PER_SECOND] = HTML_PER_SECOND,
	};

	return types[type];
}

static void put_cell(struct table_writer *to, struct html_table *table,
		     const struct table_column *column, const struct table_cell *cell)
{
	if (cell->absent) {
		put_absent(to, table, column);
		return;
	}
	switch (column->type) {
	case TABLE_NAME:
		if (cell->unknown)
			html_unknown(to->html, table);
		else
			html_text(to->html, table, cell->name);
		break;
	case TABLE_VALUE:
		if (cell->unknown)
			html_unknown(to->html, table);
		else
			html_text(to->html, table, cell->as == TABLE_NAME ? cell->name :
							cell->instead);
		break;
	case TABLE_DURATIONS:
		put_durations(to, table, cell->unknown ? NULL : cell->durations);
		break;
	case TABLE_STRETCHES:
		put_stretches(to, table, cell->unknown ? NULL : cell->stretches);
		break;
	case TABLE_PCPUS:
		put_pcpus(to, table, cell);
		break;
	case TABLE_RATE:
	case TABLE_FIXED:
		html_cell(to->html, table, (struct html_cell){
			.kind = cell->unknown ? HTML_UNKNOWN : HTML_RATE, .rate = cell->rate,
		});
		break;
	default:
		html_cell(to->html, table, (struct html_cell){
			.kind = cell->unknown || (cell->number == VIRT_NONE &&
						  column->type != TABLE_TIME) ?
				HTML_UNKNOWN : HTML_NUMBER,
			.type = table_html_type(column->type), .number = cell->number,
			.whole = cell->whole,
		});
	}
}

static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	struct html_table *table = table_of(to);

	if (!table)
		return;
	for (size_t i = 0; i < to->table->n_group; i++)
		if (is_group_column(&to->table->group[i]))
			put_cell(to, table, &to->table->group[i], &to->group[i]);
	for (size_t i = 0; i < to->rows->n; i++)
		if (is_row_column(&to->rows->columns[i]))
			put_cell(to, table, &to->rows->columns[i], &cells[i]);
}

const struct table_format table_html = { .row = put_row };
