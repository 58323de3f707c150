// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_csv.c
 * @brief	Results of benchmarks from CSV: RFC 4180, but a field does not contain line ends.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "compare.h"
#include "escape.h"

#define MAX_COLUMNS	256
#define MAX_LINE	65536
/** Of a name that is quoted in a message. */
#define MAX_QUOTED	40

struct reader {
	FILE		*in;
	const char	*name;
	char		*error;
	size_t		error_size;
	size_t		line;
	char		*text;		/* of the line; fields end with NUL */
	char		*fields[MAX_COLUMNS];
	int		n_fields;
	char		*header;
	char		*columns[MAX_COLUMNS];	/* NULL: not used */
	int		n_columns;
	struct parts {
		int	columns[COMPARE_CSV_MAX_COLUMNS];
		int	n;
		char	name[MAX_LINE];	/* of the line */
	}		run, metric;		/* no metric: a metric per column */
	int		value;			/* of each line; or -1: all that are used */
	int		all_of;			/* without run: the run of all values; or -1 */
	char		separator;
	const struct compare_csv_columns *chosen; /* or NULL */
};

static int __attribute__((format(printf, 2, 3)))
complain(struct reader *reader, const char *format, ...)
{
	int n = snprintf(reader->error, reader->error_size, "%s: line %zu: ", reader->name,
			 reader->line);
	va_list args;

	if (n >= 0 && (size_t)n < reader->error_size) {
		va_start(args, format);
		vsnprintf(reader->error + n, reader->error_size - n, format, args);
		va_end(args);
	}
	return -EINVAL;
}

static int check_text(struct reader *reader)
{
	const char *text = reader->text, *end = text + strlen(text);
	size_t length;
	uint32_t code;

	for (; text < end; text += length) {
		length = text_char(text, (size_t)(end - text), &code);
		if (!length || ((code < ' ' || code == 0x7f) && code != '\t'))
			return complain(reader, "byte 0x%02x is not valid UTF-8: convert the file, "
					"for example with iconv", (unsigned char)*text);
	}
	return 1;
}

/** Read one line. Return: 1, 0 at the end, or -errno. */
static int read_record(struct reader *reader)
{
	size_t n = 0;
	int c;

	reader->line++;
	while ((c = getc(reader->in)) != EOF && c != '\n') {
		if (n == MAX_LINE - 1)
			return complain(reader, "longer than %d bytes: not a table of results",
					MAX_LINE - 1);
		if (!c)
			return complain(reader, "a NUL byte: not a CSV file");
		reader->text[n++] = (char)c;
	}
	if (ferror(reader->in)) {
		snprintf(reader->error, reader->error_size, "%s: cannot read: %s", reader->name,
			 strerror(errno));
		return -EIO;
	}
	if (n && reader->text[n - 1] == '\r')
		n--;
	reader->text[n] = '\0';
	return n || c != EOF ? check_text(reader) : 0;
}

/** Take the quotes away from the field at @from. Return: what follows it, or NULL. */
static char *unquote(char *from)
{
	char *to = from;

	for (from++; *from; from++) {
		if (*from == '"' && *++from != '"') {
			*to = '\0';
			return from;
		}
		*to++ = *from;
	}
	return NULL;
}

static int split(struct reader *reader)
{
	char *at = reader->text;

	reader->n_fields = 0;
	for (;;) {
		char *field = at, end;

		if (reader->n_fields == MAX_COLUMNS)
			return complain(reader, "more than %d fields", MAX_COLUMNS);
		if (*at == '"')
			at = unquote(at);
		else
			at += strcspn(at, (const char[]){ reader->separator, '\0' });
		if (!at)
			return complain(reader, "field %d is quoted and does not end: add the "
					"closing quote", reader->n_fields + 1);
		if (*at && *at != reader->separator)
			return complain(reader, "text after the closing quote of field %d: write a "
					"quote inside a field twice", reader->n_fields + 1);
		end = *at;
		*at++ = '\0';
		/* blanks around a field are not part of it */
		while (isspace((unsigned char)*field))
			field++;
		for (size_t n = strlen(field); n && isspace((unsigned char)field[n - 1]); n--)
			field[n - 1] = '\0';
		reader->fields[reader->n_fields++] = field;
		if (!end)
			return 0;
	}
}

static int quoted(const char *text)
{
	return (int)text_cut(text, strnlen(text, MAX_QUOTED));
}

static int find_column(const struct reader *reader, const char *name)
{
	for (int i = 0; i < reader->n_columns; i++)
		if (!strcasecmp(reader->columns[i], name))
			return i;
	return -1;
}

static void set_part(struct parts *parts, int column)
{
	parts->columns[0] = column;
	parts->n = column >= 0;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(name, names[i]))
			return true;
	return false;
}

/** The columns of a table with a metric per column. */
static int take_wide_header(struct reader *reader)
{
	static const char *const runs[] = { "run", "config", "configuration" };
	static const char *const counters[] = { "round", "repeat", "iteration" };
	int used = 0;

	if (!is_one_of(reader->columns[0], runs, ARRAY_SIZE(runs)))
		return complain(reader, "the first line must name the columns: run,metric,value; "
				"or run and then a metric per column%s",
				strpbrk(reader->columns[0], ";\t") ?
				". Separate fields with commas" : "");
	set_part(&reader->run, 0);
	set_part(&reader->metric, -1);
	reader->value = -1;
	reader->columns[0] = NULL;
	for (int i = 1; i < reader->n_columns; i++) {
		if (is_one_of(reader->columns[i], counters, ARRAY_SIZE(counters)))
			reader->columns[i] = NULL;
		else if (!*reader->columns[i])
			return complain(reader, "column %d has no name: give it the metric's name",
					i + 1);
		else
			used++;
		for (int j = 1; j < i && reader->columns[i]; j++)
			if (reader->columns[j] && !strcmp(reader->columns[j], reader->columns[i]))
				return complain(reader, "column %d has the name of column %d: give "
						"it another one", i + 1, j + 1);
	}
	return used ? 0 : complain(reader, "no column with values: add one named as the metric");
}

/** List the names of the columns, as far as there is room. */
static void list_columns(const struct reader *reader, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (int i = 0; i < reader->n_columns && n < size; i++)
		n += (size_t)text_format(text + n, size - n, "%s%s", i ? ", " : "",
					 reader->columns[i]);
}

/** @option: that names the column. Return: 0, or -EINVAL if there is no such column. */
static int find_chosen(struct reader *reader, const char *option, const char *name, int *column)
{
	char names[200];

	*column = find_column(reader, name);
	if (*column >= 0)
		return 0;
	list_columns(reader, names, sizeof(names));
	return complain(reader, "there is no column '%.*s' (--%s); the columns are %s",
			quoted(name), name, option, names);
}

static int find_parts(struct reader *reader, const char *option,
		      const struct compare_csv_names *names, struct parts *parts)
{
	int ret = 0;

	for (parts->n = 0; parts->n < names->n && !ret; parts->n++)
		ret = find_chosen(reader, option, names->names[parts->n],
				  &parts->columns[parts->n]);
	return ret;
}

/** The columns that were chosen by name: a value per line, or several with a metric each. */
static int take_chosen_header(struct reader *reader)
{
	const struct compare_csv_columns *chosen = reader->chosen;
	bool values[MAX_COLUMNS] = { false };
	int ret = find_parts(reader, "run-column", &chosen->runs, &reader->run), column = -1;

	if (!ret)
		ret = find_parts(reader, "metric-column", &chosen->metrics, &reader->metric);
	for (int i = 0; i < chosen->values.n && !ret; i++) {
		ret = find_chosen(reader, "value-column", chosen->values.names[i], &column);
		if (!ret)
			values[column] = true;
	}
	if (ret)
		return ret;
	if (!reader->run.n && reader->all_of < 0)
		return complain(reader, "which column names the run? Add --run-column, or give the "
				"file as RUN=FILE with --results");
	reader->value = reader->metric.n && chosen->values.n == 1 ? column : -1;
	for (int i = 0; i < reader->n_columns; i++)
		reader->columns[i] = values[i] ? reader->columns[i] : NULL;
	return 0;
}

static int take_header(struct reader *reader)
{
	char *text = reader->text;

	if (!strncmp(text, "\xef\xbb\xbf", 3))
		reader->fields[0] += reader->fields[0] == text ? 3 : 0;
	/* the record becomes the header, the next one gets a buffer of its own */
	reader->header = text;
	memcpy(reader->columns, reader->fields, sizeof(reader->columns));
	reader->n_columns = reader->n_fields;
	reader->text = malloc(MAX_LINE);
	if (!reader->text)
		return -ENOMEM;
	if (reader->chosen)
		return take_chosen_header(reader);
	set_part(&reader->run, find_column(reader, "run"));
	set_part(&reader->metric, find_column(reader, "metric"));
	reader->value = find_column(reader, "value");
	if (reader->run.n && reader->metric.n && reader->value >= 0)
		return 0;
	return take_wide_header(reader);
}

static int parse_value(struct reader *reader, const char *text, double *value)
{
	char *end;

	/* hexadecimal, nan and infinity begin otherwise */
	if (!text[strspn(text, "0123456789+-.eE")] && *text) {
		*value = strtod(text, &end);
		if (!*end && isfinite(*value))
			return 0;
		if (!*end)
			return complain(reader, "'%.*s' is too large a number: give the value in "
					"a larger unit", quoted(text), text);
	}
	return complain(reader, "'%.*s' is not a number%s", quoted(text), text,
			strchr(text, ',') ? ": write a point instead of the comma" :
			*text && isdigit((unsigned char)*text) ?
			": write it without a unit, such as 12.5 or 1e6" :
			": leave the line out if there is no result");
}

static int csv_value_add(struct reader *reader, struct compare *compare, const char *metric,
			 double value)
{
	int run = reader->run.n ? compare_run(compare, reader->run.name) : reader->all_of;
	int ret = run < 0 ? run : compare_add(compare, run, metric, value);

	if (ret == -ENOSPC)
		return complain(reader, "more than %d %ss: is each column what its name says?",
				run < 0 ? COMPARE_MAX_RUNS : COMPARE_MAX_METRICS,
				run < 0 ? "run" : "metric");
	return ret;
}

/** A name has the fields of its columns, with points between. Return: false if one is empty. */
static bool join_parts(const struct reader *reader, struct parts *parts)
{
	size_t used = 0;

	for (int i = 0; i < parts->n; i++) {
		const char *field = reader->fields[parts->columns[i]];

		if (!*field)
			return false;
		/* a column that comes twice may make it longer than the line */
		used += (size_t)text_format(parts->name + used, sizeof(parts->name) - used, "%s%s",
					    i ? "." : "", field);
		if (used >= sizeof(parts->name))
			return false;
	}
	return true;
}

/** Several values of a line with names of metrics: each has its column's name as well. */
static int add_named(struct reader *reader, struct compare *compare, int column, double value)
{
	char name[MAX_LINE + 256];

	if (reader->value >= 0)
		return csv_value_add(reader, compare, reader->metric.name, value);
	if (!reader->metric.n)
		return csv_value_add(reader, compare, reader->columns[column], value);
	snprintf(name, sizeof(name), "%s.%s", reader->metric.name, reader->columns[column]);
	return csv_value_add(reader, compare, name, value);
}

static int csv_record_take(struct reader *reader, struct compare *compare)
{
	double value;
	int ret = 0;

	if (reader->n_fields != reader->n_columns)
		return complain(reader, "%d fields, but the first line has %d: quote fields that "
				"contain a comma, and write numbers with a point", reader->n_fields,
				reader->n_columns);
	if (!join_parts(reader, &reader->run))
		return complain(reader, "the run has no name");
	if (!join_parts(reader, &reader->metric))
		return complain(reader, "the metric has no name");
	if (reader->value >= 0) {
		ret = parse_value(reader, reader->fields[reader->value], &value);
		return ret ? ret : add_named(reader, compare, reader->value, value);
	}
	for (int i = 0; i < reader->n_columns && !ret; i++) {
		if (!reader->columns[i] || !*reader->fields[i])
			continue;
		ret = parse_value(reader, reader->fields[i], &value);
		if (!ret)
			ret = add_named(reader, compare, i, value);
	}
	return ret;
}

/** The character that separates the names of columns: a comma, unless columns were chosen. */
static char separator_of(const char *header, const struct compare_csv_columns *columns)
{
	static const char separators[] = ",;\t|";
	size_t most = 0;
	char separator = ',';

	for (const char *at = separators; *at && columns; at++) {
		size_t n = 0;

		for (const char *c = header; *c; c++)
			n += *c == *at;
		if (n > most) {
			most = n;
			separator = *at;
		}
	}
	return separator;
}

static int read_first(struct reader *reader)
{
	int ret;

	reader->separator = separator_of(reader->text, reader->chosen);
	ret = split(reader);
	return ret ? ret : take_header(reader);
}

/** Before the names of the columns, some tables have lines for people. */
static bool is_comment(const struct reader *reader)
{
	return !reader->header && reader->text[0] == '#';
}

int compare_csv_read(struct compare *compare, FILE *in, const struct compare_csv_columns *columns,
		     int run, const char *name, char *error, size_t error_size)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	size_t records = 0;
	int ret = -ENOMEM;

	if (!reader)
		return ret;
	reader->in = in;
	reader->name = name;
	reader->error = error;
	reader->error_size = error_size;
	reader->all_of = run;
	reader->chosen = columns && columns->values.n ? columns : NULL;
	reader->text = malloc(MAX_LINE);
	while (reader->text && (ret = read_record(reader)) > 0) {
		compare->bytes += strlen(reader->text) + 1;
		if (!*reader->text || is_comment(reader))
			continue;
		if (!reader->header) {
			ret = read_first(reader);
		} else {
			ret = split(reader);
			if (!ret)
				ret = csv_record_take(reader, compare);
			records++;
		}
		if (ret)
			break;
	}
	if (!ret && !records)
		ret = complain(reader, "no results: the first line names the columns "
			       "run,metric,value, each further one is a result");
	free(reader->text);
	free(reader->header);
	free(reader);
	return ret;
}

bool compare_csv_fits(const char *line, const struct compare_csv_columns *columns)
{
	char error[200];
	struct reader *reader = calloc(1, sizeof(*reader));
	bool fits = false;

	if (!reader)
		return false;
	reader->name = "";
	reader->all_of = 0;
	reader->error = error;
	reader->error_size = sizeof(error);
	reader->chosen = columns && columns->values.n ? columns : NULL;
	reader->text = strlen(line) < MAX_LINE ? strdup(line) : NULL;
	if (reader->text)
		fits = !read_first(reader) && (reader->n_columns > 1 || reader->chosen);
	free(reader->text);
	free(reader->header);
	free(reader);
	return fits;
}
