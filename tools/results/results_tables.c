// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	results_tables.c
 * @brief	Results in tables: those that MMTests prints, and CSV.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "results.h"

/* --- MMTests --------------------------------------------------------------------------------- */

struct mmtests_cell {
	double	value, percent;
};

struct mmtests_row {
	char	name[RESULTS_MAX_NAME];
	struct mmtests_cell cells[COMPARE_MAX_RUNS];
	int	n;
};

/** Cells "123.45 (  -0.10%)", or with '*' for '(' and ')', up to the end. */
static bool take_cells(const char *at, struct mmtests_row *row)
{
	for (row->n = 0; *at; row->n++) {
		struct mmtests_cell *cell = &row->cells[row->n % COMPARE_MAX_RUNS];

		if (row->n == COMPARE_MAX_RUNS || !results_number(at, &cell->value, &at))
			return false;
		at += strspn(at, " ");
		if (*at != '(' && *at != '*')
			return false;
		if (!results_number(at + 1, &cell->percent, &at) || *at++ != '%' ||
		    (*at != ')' && *at != '*'))
			return false;
		at++;
		at += strspn(at, " ");
	}
	return row->n > 1;
}

/** A row is a name of one word or more, and then cells, the first with 0.00 %. */
static bool parse_row(const char *line, struct mmtests_row *row)
{
	for (const char *at = line; *at; at++) {
		size_t n = (size_t)(at - line);

		/* cells begin with a number; to try each blank takes too long in a long line */
		if (*at != ' ' || !n || at[1] == ' ' || !take_cells(at, row))
			continue;
		if (row->cells[0].percent != 0)
			return false;
		while (n && line[n - 1] == ' ')
			n--;
		snprintf(row->name, sizeof(row->name), "%.*s", (int)n, line);
		return n > 0;
	}
	return false;
}

static bool is_mmtests(const char *line)
{
	struct mmtests_row row;

	return strstr(line, "0.00%)") && parse_row(line, &row);
}

/** The names above the columns: lines that have as many words as there are columns. */
struct heads {
	char	names[COMPARE_MAX_RUNS][RESULTS_MAX_NAME];
	int	n;
};

static int words_of(const char *line, const char *words[COMPARE_MAX_RUNS],
		    size_t lengths[COMPARE_MAX_RUNS])
{
	int n = 0;

	for (line += strspn(line, " "); *line && n < COMPARE_MAX_RUNS; line += strspn(line, " ")) {
		words[n] = line;
		lengths[n] = strcspn(line, " ");
		line += lengths[n++];
	}
	return *line ? 0 : n;
}

/**
 * MMTests divides a name at its first '-': "6.1" above "rt" is 6.1-rt. If it has none, the first
 * line has all but the last character, and the second all of it.
 */
static void join_head(char *name, size_t size, const char *word, size_t length)
{
	size_t n = strlen(name);

	if (n + 1 == length && !strncmp(name, word, n))
		text_format(name, size, "%.*s", (int)length, word);
	else
		text_format(name + n, size - n, "-%.*s", (int)length, word);
}

static void take_head(struct heads *heads, const char *line, bool again)
{
	const char *words[COMPARE_MAX_RUNS];
	size_t lengths[COMPARE_MAX_RUNS];
	int n = words_of(line, words, lengths);

	again = again && n == heads->n;
	heads->n = n;
	for (int i = 0; i < n; i++) {
		char *name = heads->names[i];

		if (again)
			join_head(name, sizeof(heads->names[i]), words[i], lengths[i]);
		else
			text_format(name, sizeof(heads->names[i]), "%.*s", (int)lengths[i],
				    words[i]);
	}
}

/** The sign in MMTests' tables says whether a change is good. */
static enum compare_better better_of(const struct mmtests_row *row)
{
	for (int i = 1; i < row->n; i++) {
		double change = row->cells[i].value - row->cells[0].value;

		if (change != 0 && row->cells[i].percent != 0)
			return (change > 0) == (row->cells[i].percent > 0) ? COMPARE_HIGHER :
			       COMPARE_LOWER;
	}
	return COMPARE_UNJUDGED;
}

/** Words of a name are separated by one blank. */
static void metric_of(const char *name, char *metric, size_t size)
{
	size_t n = (size_t)snprintf(metric, size, "mmtests");

	for (name += strspn(name, " "); *name && n < size; name += strspn(name, " ")) {
		size_t length = strcspn(name, " ");

		n += (size_t)snprintf(metric + n, size - n, ".%.*s", (int)length, name);
		name += length;
	}
}

static int add_row(struct results_file *file, const struct heads *heads,
		   const struct mmtests_row *row)
{
	const char *run = file->run;
	char metric[RESULTS_MAX_NAME];
	int ret = 0;

	if (run)
		return results_fail(file, "the table names its runs: give it without RUN=, outside "
				    "of the folder of a run");
	if (heads->n != row->n)
		return results_fail(file, "'%.60s' has values of %d runs, but %d names are above "
				    "them", row->name, row->n, heads->n);
	metric_of(row->name, metric, sizeof(metric));
	for (int i = 0; i < row->n && !ret; i++) {
		file->run = heads->names[i];
		ret = results_add(file, metric, better_of(row), row->cells[i].value);
	}
	file->run = run;
	return ret;
}

static int read_mmtests(struct results_file *file)
{
	struct heads heads = { .n = 0 };
	bool head = false;
	int ret = 0;

	for (size_t i = 0; i < file->n_lines && !ret; i++) {
		const char *line = file->lines[i];
		struct mmtests_row row;

		if (parse_row(line, &row)) {
			ret = add_row(file, &heads, &row);
			head = false;
		} else if (*line == ' ' && line[strspn(line, " ")]) {
			take_head(&heads, line, head);
			head = true;
		} else if (line[strspn(line, " ")]) {
			head = false;
		}
	}
	return ret;
}

const struct results_format results_mmtests = {
	.name = "MMTests table", .expected = "compare-kernels.sh as text", .fits_line = is_mmtests,
	.read = read_mmtests,
};

/* --- CSV ------------------------------------------------------------------------------------- */

static bool fits_csv(const struct results_file *file)
{
	size_t first = 0;

	while (first < file->n_lines && file->lines[first][0] == '#')
		first++;
	return first < file->n_lines && compare_csv_fits(file->lines[first], file->columns);
}

static int read_csv(struct results_file *file)
{
	bool chosen = file->columns && file->columns->values.n;
	FILE *in;
	int run = -1, ret;

	if (file->run && !(chosen && !file->columns->runs.n))
		return results_fail(file, "the table names its runs: give it without RUN=, outside "
				    "of the folder of a run");
	if (chosen && !file->columns->runs.n) {
		run = results_run(file);
		if (run < 0)
			return run;
	}
	in = fmemopen((void *)file->text, file->length, "r");
	if (!in)
		return -ENOMEM;
	ret = compare_csv_read(file->compare, in, file->columns, run, file->path, file->error,
			       file->error_size);
	fclose(in);
	file->n_values += !ret;
	return ret;
}

const struct results_format results_csv = {
	.name = "CSV", .expected = "with columns run, metric and value, or those of --value-column",
	.fits = fits_csv, .read = read_csv,
};
