/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	html_tables.h
 * @brief	The tables of a page of HTML, which are kept until all of their rows are there.
 *
 * Rows of several tables come mixed, vCPU by vCPU, but the page has one table after the other. A
 * column that no row fills is left out.
 *
 * A trace can name very many vCPUs: so that a browser can open the page, a table has the first rows
 * alone, and says so.
 */
#ifndef KSHARK_VIRT_HTML_TABLES_H
#define KSHARK_VIRT_HTML_TABLES_H

#include "output.h"

/** How people read the number of a cell. */
enum html_type {
	HTML_COUNT = 0,
	HTML_DURATION,		/* ns */
	HTML_TIME,		/* ns, as seconds */
	HTML_SHARE,		/* of the cell's whole */
	HTML_PER_SECOND,	/* the whole is in ns */
	HTML_FLAG
};

enum html_kind { HTML_BLANK = 0, HTML_UNKNOWN, HTML_TEXT, HTML_NUMBER, HTML_RATE };

struct html_cell {
	enum html_kind	kind;
	enum html_type	type;		/* of HTML_NUMBER */
	union {
		const char	*text;	/* of HTML_TEXT; the table copies it */
		int64_t		number;
		double		rate;	/* of HTML_RATE */
	};
	int64_t		whole;		/* of HTML_NUMBER, which is a part of it */
};

struct html_column {
	char		title[64];
	bool		is_filled;
};

struct html_table {
	char		key[64];	/* its id in the page, after that of the trace */
	const char	*caption;	/* NULL: the key in words */
	struct html_column *columns;
	size_t		n_columns, columns_room;
	struct html_cell *cells;	/* of the first rows */
	size_t		n_cells, room;
	size_t		n_left_out;	/* cells of more rows */
};

struct html_tables {
	struct html_table **all;
	size_t		n, room;
	int		error;		/* -ENOMEM: rows are missing */
};

/** html_table - the table with a key, which is made if it is new. Return: NULL without memory. */
struct html_table *html_table(struct html_tables *tables, const char *key);

/** html_column - add a column on the right; all come before the first row */
void html_column(struct html_tables *tables, struct html_table *table, const char *title);

/** html_cell - add a cell: the next one of the row, or the first one of the next row */
void html_cell(struct html_tables *tables, struct html_table *table, struct html_cell cell);

/** Cells. */
void html_text(struct html_tables *tables, struct html_table *table, const char *text);
void html_number(struct html_tables *tables, struct html_table *table, enum html_type type,
		 int64_t number);
void html_blank(struct html_tables *tables, struct html_table *table);
void html_unknown(struct html_tables *tables, struct html_table *table);

/** html_cell_write - one as HTML. @is_head: it says what its row is about */
void html_cell_write(struct output *out, const struct html_cell *cell, bool is_head);

/** html_words - a key such as "exit_cost" as words */
void html_words(char *text, size_t size, const char *key);

/** html_table_write - one as HTML. @id: in front of its key */
void html_table_write(struct output *out, const struct html_table *table, const char *id);

/** html_table_rows - how many rows a table has, with those that it leaves out */
size_t html_table_rows(const struct html_table *table);
void html_tables_free(struct html_tables *tables);

#endif
