// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	query_write.c
 * @brief	The rows of a question as a table, whose columns are those of the question.
 *
 * The values of a column can have a type each, and SQLite knows it only when the row is there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "options.h"
#include "query.h"

/** Bytes of the first rows, which set the widths of a text table. */
#define SAMPLE_BYTES	(1 << 20)

/* --- values ---------------------------------------------------------------------------------- */

/** Bytes that are no text: a blob, or a text with a NUL in it. Return: to be freed; NULL. */
static char *hex_dup(const unsigned char *bytes, size_t n)
{
	char *text = malloc(2 * n + 4), *to = text;

	if (!text)
		return NULL;
	*to++ = 'x';
	*to++ = '\'';
	for (size_t i = 0; i < n; i++)
		to += sprintf(to, "%02x", bytes[i]);
	*to++ = '\'';
	*to = '\0';
	return text;
}

/** A value as text; "" for NULL. Return: to be freed, or NULL without memory. */
static char *value_dup(sqlite3_stmt *row, int i)
{
	int type = sqlite3_column_type(row, i);
	const void *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(row, i) :
			    (const void *)sqlite3_column_text(row, i);
	size_t n = (size_t)sqlite3_column_bytes(row, i);

	if (type == SQLITE_NULL || (!n && type == SQLITE_TEXT))
		return strdup("");
	if (!bytes && n)
		return NULL;
	if (type == SQLITE_BLOB || memchr(bytes, '\0', n))
		return hex_dup(bytes, n);
	return strdup(bytes);
}

/** Columns, and rows that wait until the widths of columns are known, or one row. */
struct result {
	struct query	*query;
	size_t		n_columns;
	struct table_column *columns;
	char		**names;	/* of these: SQLite's own do not last */
	struct table_cell *cells;	/* @n, row by row */
	char		**texts;	/* the text of each, which it owns */
	size_t		n, cells_room, texts_room, bytes;
};

static int no_memory(void)
{
	ksv_error("not enough memory for a row");
	return -1;
}

/** @text: of the value */
static struct table_cell cell_of(sqlite3_stmt *row, int i, const char *text)
{
	switch (sqlite3_column_type(row, i)) {
	case SQLITE_NULL:
		return table_unknown();
	case SQLITE_INTEGER:
		return table_value(table_number(sqlite3_column_int64(row, i)), TABLE_TIME, text);
	case SQLITE_FLOAT:
		return table_value(table_rate(true, sqlite3_column_double(row, i)), TABLE_RATE,
				   text);
	default:
		return table_name(text);
	}
}

static int take_row(struct result *result)
{
	sqlite3_stmt *row = result->query->statement;

	for (size_t i = 0; i < result->n_columns; i++) {
		struct table_column *column = &result->columns[i];
		char *text = value_dup(row, (int)i);
		size_t width = text ? out_columns(text) : 0;

		if (!text || ARRAY_GROW(result->cells, result->n, result->cells_room) ||
		    ARRAY_GROW(result->texts, result->n, result->texts_room)) {
			free(text);
			return no_memory();
		}
		result->cells[result->n] = cell_of(row, (int)i, text);
		result->texts[result->n++] = text;
		result->bytes += strlen(text);
		if (column->width < width)
			column->width = width;
	}
	return 0;
}

static void release_rows(struct result *result)
{
	for (size_t i = 0; i < result->n; i++)
		free(result->texts[i]);
	result->n = 0;
}

/** All rows that wait. */
static void flush_rows(struct result *result, struct table_writer *to)
{
	for (size_t i = 0; i < result->n; i += result->n_columns)
		table_row(to, &result->cells[i]);
	release_rows(result);
}

/* --- columns --------------------------------------------------------------------------------- */

int query_check_names(const struct query *query)
{
	sqlite3_stmt *row = query->statement;

	for (int i = 0; i < sqlite3_column_count(row); i++)
		for (int j = 0; j < i; j++)
			if (!strcmp(sqlite3_column_name(row, i), sqlite3_column_name(row, j)))
				return ksv_usage_error(query->command, "two columns have the name "
						       "'%s': write %s AS OTHER_NAME",
						       sqlite3_column_name(row, i),
						       sqlite3_column_name(row, i));
	return KSV_EXIT_OK;
}

static int take_columns(struct result *result)
{
	result->columns = calloc(result->n_columns + 1, sizeof(*result->columns));
	result->names = calloc(result->n_columns + 1, sizeof(*result->names));
	if (!result->columns || !result->names)
		return no_memory();
	for (size_t i = 0; i < result->n_columns; i++) {
		const char *name = sqlite3_column_name(result->query->statement, (int)i);

		result->names[i] = name ? strdup(name) : NULL;
		if (!result->names[i])
			return no_memory();
		name = result->names[i];
		result->columns[i] = (struct table_column){
			.key = name, .title = name, .type = TABLE_VALUE, .width = out_columns(name),
		};
	}
	return 0;
}

/** A title stands where the numbers of its column do, by the first row. */
static void place_titles(struct result *result)
{
	for (size_t i = 0; i < result->n_columns && result->n; i++)
		result->columns[i].right = result->cells[i].unknown ||
					   result->cells[i].as != TABLE_NAME;
}

/* --- all of it ------------------------------------------------------------------------------- */

/** Rows until there are @most. Return: 1: there may be more, 0, or -1. */
static int read_rows(struct result *result, size_t most)
{
	int ret = 1;

	while (ret > 0 && result->n < most * result->n_columns && result->bytes < SAMPLE_BYTES) {
		ret = query_step(result->query);
		if (ret > 0 && take_row(result))
			return -1;
	}
	return ret;
}

static int write_rows(struct result *result, struct table_writer *to)
{
	/* text has columns as wide as the first rows need */
	int ret = read_rows(result, table_is(to, TABLE_TEXT) ? QUERY_SAMPLE_ROWS : 1);

	if (ret < 0 && table_is(to, TABLE_TEXT))
		return ret;
	place_titles(result);
	table_flat(to, true);
	do {
		flush_rows(result, to);
		result->bytes = 0;
	} while (ret > 0 && !to->out->error && (ret = read_rows(result, 1)) >= 0);
	table_flat_end(to);
	return ret;
}

static void json_columns(struct json *json, const struct result *result)
{
	json_open(json, "columns", '[', true);
	for (size_t i = 0; i < result->n_columns; i++)
		json_str(json, NULL, result->columns[i].key);
	json_close(json, ']');
}

int query_write(struct query *query, enum table_format_kind format,
		const struct trace_notes *notes, struct output *out)
{
	struct result result = {
		.query = query, .n_columns = (size_t)sqlite3_column_count(query->statement),
	};
	struct json json;
	int ret = take_columns(&result);
	const struct table table = { .rows = {
		.key = "rows", .columns = result.columns, .n = result.n_columns, .flush = true,
		.heading = true, .titled = true, .none = "no rows\n",
	} };
	struct table_writer to = {
		.table = &table, .format = table_formats[format], .out = out, .json = &json,
	};

	if (ret)
		goto end;
	if (format == TABLE_JSON) {
		json_document(&json, out);
		json_warnings(&json, notes);
		json_columns(&json, &result);
	}
	ret = write_rows(&result, &to);
	if (format == TABLE_JSON)
		json_document_end(&json);
end:
	release_rows(&result);
	free(result.cells);
	free(result.texts);
	for (size_t i = 0; i < result.n_columns && result.names; i++)
		free(result.names[i]);
	free(result.names);
	free(result.columns);
	return ret >= 0 ? KSV_EXIT_OK : query->status ? query->status : KSV_EXIT_FILE;
}
