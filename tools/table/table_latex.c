// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	table_latex.c
 * @brief	Tables for LaTeX: a tabular for each kind of rows of a group; it needs booktabs.
 *
 * Columns that consist of several numbers (distributions, times by pCPU, lists) are left out: a
 * page has no room for them.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "table.h"
#include "text_columns.h"

/** What LaTeX prints for its special characters. */
static const char *replacement_of(char c)
{
	switch (c) {
	case '&':
		return "\\&";
	case '%':
		return "\\%";
	case '$':
		return "\\$";
	case '#':
		return "\\#";
	case '_':
		return "\\_";
	case '{':
		return "\\{";
	case '}':
		return "\\}";
	case '~':
		return "\\textasciitilde{}";
	case '^':
		return "\\textasciicircum{}";
	case '\\':
		return "\\textbackslash{}";
	case '<':
		return "\\textless{}";
	case '>':
		return "\\textgreater{}";
	case '|':
		return "\\textbar{}";
	case '"':
		return "\\textquotedbl{}";
	/* a row must not begin with a bracket: \\ would take it for its argument */
	case '[':
		return "{[}";
	default:
		return NULL;
	}
}

static void put_text(struct output *out, const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	size_t n;

	while ((n = escape_next(&text, end, piece))) {
		for (size_t i = 0; i < n; i++) {
			const char *replacement = replacement_of(piece[i]);

			if (replacement)
				out_str(out, replacement);
			else
				out_char(out, piece[i]);
		}
	}
}

static bool is_column(const struct table_column *column)
{
	switch (column->type) {
	case TABLE_PCPUS:
	case TABLE_LIST:
	case TABLE_OBJECT:
	case TABLE_RANGE:
	case TABLE_FIXED_RANGE:
	case TABLE_MEMBERS:
	case TABLE_DURATIONS:
	case TABLE_STRETCHES:
		return false;
	default:
		return column->title || column->key;
	}
}

static bool is_left(const struct table_column *column)
{
	return column->type == TABLE_NAME && !column->right;
}

/** Empty if it is unknown. */
static void number_text(char *text, size_t size, const struct table_column *column,
			const struct table_cell *cell)
{
	bool known = cell->number != VIRT_NONE || column->type == TABLE_TIME;

	*text = '\0';
	switch (column->type) {
	case TABLE_RATE:
		snprintf(text, size, "%.6g", cell->rate);
		break;
	case TABLE_FIXED:
		snprintf(text, size, "%.3f", cell->rate);
		break;
	case TABLE_NS:
	case TABLE_ONE_STAT:
		if (known)
			format_duration(text, size, cell->number);
		break;
	case TABLE_SHARE:
		if (known)
			format_share(text, size, cell->number, cell->whole, 2);
		break;
	case TABLE_PER_SECOND:
		if (known && cell->whole > 0)
			snprintf(text, size, "%.6g",
				 1e9 * (double)cell->number / (double)cell->whole);
		break;
	default:
		if (known)
			snprintf(text, size, "%lld", (long long)cell->number);
	}
}

static void put_cell(struct output *out, const struct table_column *column,
		     const struct table_cell *cell)
{
	char number[48];

	if (cell->absent || cell->unknown)
		return;
	if (cell->style)
		out_str(out, "\\textbf{");
	if (column->type == TABLE_NAME || (column->type == TABLE_VALUE && cell->as == TABLE_NAME)) {
		put_text(out, cell->name);
	} else if (column->type == TABLE_VALUE) {
		put_text(out, cell->instead);
	} else {
		number_text(number, sizeof(number), column, cell);
		put_text(out, number);
	}
	if (cell->style)
		out_char(out, '}');
}

static void begin_rows(struct table_writer *to)
{
	bool first = true;

	out_str(to->out, "\\begin{tabular}{");
	for (size_t i = 0; i < to->rows->n; i++)
		if (is_column(&to->rows->columns[i]))
			out_char(to->out, is_left(&to->rows->columns[i]) ? 'l' : 'r');
	out_str(to->out, "}\n\\toprule\n");
	for (size_t i = 0; i < to->rows->n; i++) {
		const struct table_column *column = &to->rows->columns[i];
		char text[TABLE_NAME_SIZE];

		if (!is_column(column))
			continue;
		if (!first)
			out_str(to->out, " & ");
		first = false;
		put_text(to->out, column->title ? table_title(column, text) :
			 table_key(column, text));
	}
	out_str(to->out, " \\\\\n\\midrule\n");
}

static void put_row(struct table_writer *to, const struct table_cell *cells)
{
	bool first = true;

	for (size_t i = 0; i < to->rows->n; i++) {
		if (!is_column(&to->rows->columns[i]))
			continue;
		if (!first)
			out_str(to->out, " & ");
		first = false;
		put_cell(to->out, &to->rows->columns[i], &cells[i]);
	}
	out_str(to->out, " \\\\\n");
}

static void end_rows(struct table_writer *to)
{
	out_str(to->out, "\\bottomrule\n\\end{tabular}\n");
}

/** The names of a group are a paragraph above its rows. */
static void put_group(struct table_writer *to, const struct table_cell *cells)
{
	for (size_t i = 0; i < to->table->n_group; i++) {
		if (to->table->group[i].type != TABLE_NAME || cells[i].absent || cells[i].unknown)
			continue;
		put_text(to->out, cells[i].name);
		out_str(to->out, "\n\n");
	}
}

const struct table_format table_latex = {
	.group = put_group, .rows = begin_rows, .row = put_row, .rows_end = end_rows,
};
