// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	query_write.c
 * @brief	Write the rows of a question as a table for people, as CSV or as JSON.
 *
 * A table of tools/table has columns of one type each, which its description names. The values of a
 * question have a type each, and SQLite knows it only when the row is there.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "options.h"
#include "query.h"

/** Bytes of the first rows, which set the widths of a text table. */
#define SAMPLE_BYTES	(1 << 20)

/** Columns of text are at least so far apart. */
#define GAP		2

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

static bool is_number(int type)
{
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static int no_memory(void)
{
	ksv_error("not enough memory for a row");
	return -1;
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_titles(const struct query *query, struct output *out)
{
	for (int i = 0; i < sqlite3_column_count(query->statement); i++) {
		const char *name = sqlite3_column_name(query->statement, i);

		if (i)
			out_char(out, ',');
		out_csv(out, name ? name : "", name ? strlen(name) : 0);
	}
	out_char(out, '\n');
}

static int csv_row(const struct query *query, struct output *out)
{
	sqlite3_stmt *row = query->statement;

	for (int i = 0; i < sqlite3_column_count(row); i++) {
		int type = sqlite3_column_type(row, i);
		char *text = value_dup(row, i);

		if (!text)
			return no_memory();
		if (i)
			out_char(out, ',');
		if (is_number(type))
			out_str(out, text);
		else if (*text)
			out_csv(out, text, strlen(text));
		else if (type != SQLITE_NULL)
			out_str(out, "\"\"");
		free(text);
	}
	out_char(out, '\n');
	return 0;
}

static int write_csv(struct query *query, struct output *out)
{
	int ret;

	csv_titles(query, out);
	while ((ret = query_step(query)) > 0 && !out->error)
		if (csv_row(query, out))
			return -1;
	return ret;
}

/* --- JSON ------------------------------------------------------------------------------------ */

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

static int json_row(const struct query *query, struct json *json)
{
	sqlite3_stmt *row = query->statement;

	json_open(json, NULL, '{', true);
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		const char *name = sqlite3_column_name(row, i);
		int type = sqlite3_column_type(row, i);
		double number = type == SQLITE_FLOAT ? sqlite3_column_double(row, i) : 0;
		char *text;

		if (type == SQLITE_INTEGER) {
			json_i64(json, name, sqlite3_column_int64(row, i));
		} else if (type == SQLITE_NULL) {
			json_null(json, name);
		} else if (type == SQLITE_FLOAT && isfinite(number)) {
			json_exact(json, name, number);
		} else {
			text = value_dup(row, i);
			if (!text)
				return no_memory();
			json_str(json, name, text);
			free(text);
		}
	}
	json_close(json, '}');
	return 0;
}

static int write_json(struct query *query, const struct trace_notes *notes, struct output *out)
{
	struct json json;
	int ret;

	json_document(&json, out);
	json_warnings(&json, notes);
	json_open(&json, "columns", '[', true);
	for (int i = 0; i < sqlite3_column_count(query->statement); i++)
		json_str(&json, NULL, sqlite3_column_name(query->statement, i));
	json_close(&json, ']');
	json_open(&json, "rows", '[', false);
	while ((ret = query_step(query)) > 0 && !out->error)
		if (json_row(query, &json))
			return -1;
	json_close(&json, ']');
	json_document_end(&json);
	return ret;
}

/* --- text ------------------------------------------------------------------------------------ */

/** A value in a column, escaped. */
struct cell {
	char		*text;
	bool		is_number;	/* it stands on the right */
};

/** The first rows, which give the widths of columns. */
struct sample {
	int		n_columns;
	struct cell	*cells;		/* @n, row by row */
	size_t		n, room, bytes;
	size_t		*widths;
};

static int take_cell(struct sample *sample, int column, char *raw, bool is_number)
{
	char *text = raw ? escape_dup(raw) : NULL;
	size_t width = text ? out_columns(text) : 0;

	free(raw);
	if (!text || ARRAY_GROW(sample->cells, sample->n, sample->room)) {
		free(text);
		return no_memory();
	}
	sample->cells[sample->n++] = (struct cell){ .text = text, .is_number = is_number };
	sample->bytes += strlen(text);
	if (sample->widths[column] < width)
		sample->widths[column] = width;
	return 0;
}

static int take_row(const struct query *query, struct sample *sample)
{
	sqlite3_stmt *row = query->statement;

	for (int i = 0; i < sample->n_columns; i++) {
		int type = sqlite3_column_type(row, i);

		/* as in report, what is not known */
		if (take_cell(sample, i, type == SQLITE_NULL ? strdup("-") : value_dup(row, i),
			      is_number(type) || type == SQLITE_NULL))
			return -1;
	}
	return 0;
}

static void put_blanks(struct output *out, size_t n)
{
	while (n--)
		out_char(out, ' ');
}

/** The last column has no blanks after it. */
static void put_cell(struct output *out, const struct cell *cell, size_t width, bool is_last)
{
	size_t used = out_columns(cell->text), rest = used < width ? width - used : 0;

	if (cell->is_number)
		put_blanks(out, rest);
	out_str(out, cell->text);
	if (!cell->is_number && !is_last)
		put_blanks(out, rest);
	if (!is_last)
		put_blanks(out, GAP);
}

static void put_rows(struct sample *sample, size_t from, struct output *out)
{
	size_t n = (size_t)sample->n_columns;

	for (size_t i = from; i < sample->n; i++) {
		put_cell(out, &sample->cells[i], sample->widths[i % n], i % n == n - 1);
		if (i % n == n - 1)
			out_char(out, '\n');
	}
	for (size_t i = 0; i < sample->n; i++)
		free(sample->cells[i].text);
	sample->n = 0;
}

/** A title stands where the numbers of its column do, by the first row. */
static int take_titles(const struct query *query, struct sample *sample)
{
	for (int i = 0; i < sample->n_columns; i++) {
		const char *name = sqlite3_column_name(query->statement, i);

		if (take_cell(sample, i, name ? strdup(name) : NULL, false))
			return -1;
	}
	return 0;
}

static void put_titles(struct sample *sample, struct output *out)
{
	size_t n = (size_t)sample->n_columns;

	out_style(out, OUT_HEAD);
	for (size_t i = 0; i < n; i++) {
		sample->cells[i].is_number = sample->n > n && sample->cells[i + n].is_number;
		put_cell(out, &sample->cells[i], sample->widths[i], i == n - 1);
	}
	out_style(out, OUT_PLAIN);
	out_char(out, '\n');
}

static int write_sample(struct query *query, struct sample *sample, struct output *out)
{
	size_t n = (size_t)sample->n_columns;
	int ret = take_titles(query, sample) ? -1 : 1;

	while (ret > 0 && sample->n < n * QUERY_SAMPLE_ROWS && sample->bytes < SAMPLE_BYTES) {
		ret = query_step(query);
		if (ret > 0 && take_row(query, sample))
			return -1;
	}
	if (ret < 0)
		return ret;
	put_titles(sample, out);
	if (sample->n == n)
		out_str(out, "no rows\n");
	put_rows(sample, n, out);
	while (ret > 0 && (ret = query_step(query)) > 0 && !out->error) {
		if (take_row(query, sample))
			return -1;
		put_rows(sample, 0, out);
	}
	return ret;
}

static int write_text(struct query *query, struct output *out)
{
	struct sample sample = { .n_columns = sqlite3_column_count(query->statement) };
	int ret;

	sample.widths = calloc((size_t)sample.n_columns, sizeof(*sample.widths));
	if (!sample.widths)
		return no_memory();
	ret = write_sample(query, &sample, out);
	for (size_t i = 0; i < sample.n; i++)
		free(sample.cells[i].text);
	free(sample.cells);
	free(sample.widths);
	return ret;
}

int query_write(struct query *query, enum table_format_kind format,
		const struct trace_notes *notes, struct output *out)
{
	int ret;

	if (format == TABLE_JSON)
		ret = write_json(query, notes, out);
	else
		ret = format == TABLE_CSV ? write_csv(query, out) : write_text(query, out);
	return ret < 0 ? KSV_EXIT_FILE : KSV_EXIT_OK;
}
