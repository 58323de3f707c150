// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	html_tables.c
 * @brief	The tables of a page of HTML, which are kept until all of their rows are there.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "html_tables.h"
#include "text_columns.h"

/** Rows of a table; a browser takes a second to lay out some of such tables. */
#define MOST_ROWS	10000

/* --- filling --------------------------------------------------------------------------------- */

static struct html_table *add_table(struct html_tables *tables, const char *key)
{
	struct html_table *table = calloc(1, sizeof(*table));

	if (!table || ARRAY_GROW(tables->all, tables->n, tables->room)) {
		free(table);
		tables->error = -ENOMEM;
		return NULL;
	}
	snprintf(table->key, sizeof(table->key), "%s", key);
	tables->all[tables->n++] = table;
	return table;
}

struct html_table *html_table(struct html_tables *tables, const char *key)
{
	for (size_t i = 0; i < tables->n; i++)
		if (!strcmp(tables->all[i]->key, key))
			return tables->all[i];
	return add_table(tables, key);
}

void html_column(struct html_tables *tables, struct html_table *table, const char *title)
{
	if (ARRAY_GROW(table->columns, table->n_columns, table->columns_room)) {
		tables->error = -ENOMEM;
		return;
	}
	table->columns[table->n_columns] = (struct html_column){ .is_filled = false };
	snprintf(table->columns[table->n_columns].title, sizeof(table->columns[0].title), "%s",
		 title);
	table->n_columns++;
}

void html_cell(struct html_tables *tables, struct html_table *table, struct html_cell cell)
{
	if (table->n_columns && table->n_cells == MOST_ROWS * table->n_columns) {
		table->n_left_out++;
		return;
	}
	if (cell.kind == HTML_TEXT) {
		cell.text = strdup(cell.text);
		if (!cell.text)
			tables->error = -ENOMEM;
	}
	if (tables->error || !table->n_columns ||
	    ARRAY_GROW(table->cells, table->n_cells, table->room)) {
		tables->error = -ENOMEM;
		if (cell.kind == HTML_TEXT)
			free((char *)cell.text);
		return;
	}
	if (cell.kind != HTML_BLANK)
		table->columns[table->n_cells % table->n_columns].is_filled = true;
	table->cells[table->n_cells++] = cell;
}

void html_text(struct html_tables *tables, struct html_table *table, const char *text)
{
	html_cell(tables, table, (struct html_cell){
		.kind = text && *text ? HTML_TEXT : HTML_BLANK, .text = text,
	});
}

void html_number(struct html_tables *tables, struct html_table *table, enum html_type type,
		 int64_t number)
{
	html_cell(tables, table, (struct html_cell){
		.kind = HTML_NUMBER, .type = type, .number = number,
	});
}

void html_blank(struct html_tables *tables, struct html_table *table)
{
	html_cell(tables, table, (struct html_cell){ .kind = HTML_BLANK });
}

void html_unknown(struct html_tables *tables, struct html_table *table)
{
	html_cell(tables, table, (struct html_cell){ .kind = HTML_UNKNOWN });
}

/* --- writing --------------------------------------------------------------------------------- */

void html_words(char *text, size_t size, const char *key)
{
	size_t n = strlen(key);

	if (n > 3 && !strcmp(key + n - 3, "_ns"))
		n -= 3;
	snprintf(text, size, "%.*s", (int)n, key);
	for (char *c = text; *c; c++)
		if (*c == '_' || *c == '-')
			*c = ' ';
}

/** The number itself, which the page's script sorts and adds, stands beside its text. */
static void put_number(struct output *out, const struct html_cell *cell)
{
	char text[64] = "";

	out_str(out, " data-n=\"");
	out_i64(out, cell->number);
	if (cell->type == HTML_SHARE || cell->type == HTML_PER_SECOND) {
		out_str(out, "\" data-of=\"");
		out_i64(out, cell->whole);
	}
	out_str(out, "\">");
	switch (cell->type) {
	case HTML_DURATION:
		format_duration(text, sizeof(text), cell->number);
		break;
	case HTML_TIME:
		out_ns(out, cell->number, 0);
		return;
	case HTML_SHARE:
		format_share(text, sizeof(text), cell->number, cell->whole, 2);
		break;
	case HTML_PER_SECOND:
		if (cell->whole > 0)
			snprintf(text, sizeof(text), "%.4g",
				 1e9 * (double)cell->number / (double)cell->whole);
		break;
	case HTML_FLAG:
		snprintf(text, sizeof(text), "%s", cell->number ? "yes" : "no");
		break;
	default:
		out_i64(out, cell->number);
		return;
	}
	out_html(out, text);
}

void html_cell_write(struct output *out, const struct html_cell *cell, bool is_head)
{
	out_str(out, is_head ? "<th scope=\"row\"" : "<td");
	switch (cell->kind) {
	case HTML_TEXT:
		out_char(out, '>');
		out_html(out, cell->text);
		break;
	case HTML_UNKNOWN:
		out_str(out, " class=\"unknown\">unknown");
		break;
	case HTML_NUMBER:
		put_number(out, cell);
		break;
	case HTML_RATE:
		out_printf(out, " data-n=\"%.10g\">%.4g", cell->rate, cell->rate);
		break;
	default:
		out_char(out, '>');
	}
	out_str(out, is_head ? "</th>" : "</td>");
}

size_t html_table_rows(const struct html_table *table)
{
	return table->n_columns ? (table->n_cells + table->n_left_out) / table->n_columns : 0;
}

static void put_titles(struct output *out, const struct html_table *table)
{
	out_str(out, "<thead><tr>");
	for (size_t i = 0; i < table->n_columns; i++) {
		if (!table->columns[i].is_filled)
			continue;
		out_str(out, "<th scope=\"col\">");
		out_html(out, table->columns[i].title);
		out_str(out, "</th>");
	}
	out_str(out, "</tr></thead>\n<tbody>\n");
}

void html_table_write(struct output *out, const struct html_table *table, const char *id)
{
	size_t rows = html_table_rows(table);
	char words[64];

	html_words(words, sizeof(words), table->key);
	out_str(out, "<div class=\"scroll\"><table class=\"data\" id=\"");
	out_html(out, id);
	out_html(out, table->key);
	out_str(out, "\">\n<caption>");
	out_html(out, table->caption ? table->caption : words);
	out_str(out, "</caption>\n");
	put_titles(out, table);
	for (size_t row = 0; row < rows && row < MOST_ROWS; row++) {
		bool is_head = true;

		out_str(out, "<tr>");
		for (size_t i = 0; i < table->n_columns; i++) {
			if (!table->columns[i].is_filled)
				continue;
			html_cell_write(out, &table->cells[row * table->n_columns + i],
					is_head);
			is_head = false;
		}
		out_str(out, "</tr>\n");
	}
	out_str(out, "</tbody></table></div>\n");
	if (table->n_left_out)
		out_printf(out, "<p class=\"quiet\">The table has the first %d of %zu rows. "
			   "Formats csv and json have all of them.</p>\n", MOST_ROWS, rows);
}

static void free_table(struct html_table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		if (table->cells[i].kind == HTML_TEXT)
			free((char *)table->cells[i].text);
	free(table->cells);
	free(table->columns);
	free(table);
}

void html_tables_free(struct html_tables *tables)
{
	for (size_t i = 0; i < tables->n; i++)
		free_table(tables->all[i]);
	free(tables->all);
	*tables = (struct html_tables){ .n = 0 };
}
