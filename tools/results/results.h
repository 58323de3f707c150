/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	results.h
 * @brief	Read results of benchmarks as the benchmarks wrote them.
 *
 * A format has a function that recognises it, and one that reads it. A text may contain the output
 * of several programs: each format that is recognised reads its own lines. A new format is one
 * entry of the table in results.c, and one function or two.
 */
#ifndef KSHARK_VIRT_RESULTS_H
#define KSHARK_VIRT_RESULTS_H

#include "compare.h"

struct json_object;

/** Larger files are not read, and folders with more or deeper files are refused. */
#define RESULTS_MAX_BYTES	(32 << 20)
#define RESULTS_MAX_FILES	20000
#define RESULTS_MAX_DEPTH	16

#define RESULTS_MAX_NAME	200
/** More notes about a file are not printed. */
#define RESULTS_MAX_NOTES	40

/** A file that is being read. */
struct results_file {
	struct compare	*compare;
	const char	*run;		/* name; NULL: the file has the name of the run, or names
					 * runs itself */
	const char	*path;
	const struct compare_csv_columns *columns;	/* that were chosen; or NULL */
	const char	*text;		/* unchanged */
	size_t		length;
	char		**lines;	/* those not empty, without escape sequences */
	size_t		n_lines;
	struct json_object *json;	/* that the file consists of; or NULL */
	size_t		n_values;	/* added */
	size_t		n_notes;	/* wanted */
	char		*error;		/* of an error: a text that names the file */
	size_t		error_size;
};

struct results_format {
	const char	*name;
	const char	*expected;	/* what the file looks like, for messages */
	bool		(*fits_line)(const char *line);		/* does any line show the format? */
	bool		(*fits)(const struct results_file *file); /* or does the file? */
	int		(*read)(struct results_file *file);
};

extern const struct results_format results_cyclictest, results_cyclictest_json, results_hackbench,
	results_perf_bench, results_perf_stat, results_schbench, results_sysbench,
	results_unixbench, results_fio, results_hyperfine, results_mmtests, results_csv;

/** results_run - the index of the file's run. Return: or a negative errno, as results_add(). */
int results_run(struct results_file *file);

/**
 * results_add - add a value
 * @metric: its name, in which commas and control characters are replaced
 *
 * Return: 0, or a negative errno with a text in the file's error.
 */
int results_add(struct results_file *file, const char *metric, enum compare_better better,
		double value);

/** results_add_times - the same value several times; @times: 0 adds nothing */
int results_add_times(struct results_file *file, const char *metric, enum compare_better better,
		      double value, uint64_t times);

/** results_add_unknown - there is no value, and why; noted. */
int results_add_unknown(struct results_file *file, const char *metric, const char *why);

/** results_fact - a condition of the run. Return: as results_add(). */
int results_fact(struct results_file *file, enum compare_fact fact, const char *key,
		 const char *text);

/** results_note - a fact that limits what the values mean. */
void results_note(struct results_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** results_fail - Return: -EINVAL, after a message that begins with the name of the file. */
int results_fail(struct results_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * results_after - the text after @prefix, if a line begins so after blanks
 *
 * Return: the text without blanks before it, or NULL.
 */
const char *results_after(const char *line, const char *prefix);

/** results_number - a plain decimal number at the beginning of a text. @end: after it, or NULL */
bool results_number(const char *text, double *number, const char **end);

/** results_json_number - a number of an object, whatever type it has */
bool results_json_number(struct json_object *object, const char *key, double *number);

/** results_slug - a name in small letters, digits, '_', '-' and '.', for metrics. */
void results_slug(char *slug, size_t size, const char *name);

/** What results_read() found, for a note. */
struct results_found {
	size_t		files;		/* that have values */
	size_t		formats[16];	/* the number of files, by format */
	size_t		skipped;	/* files of a folder that are no results */
	char		*skipped_name;	/* the first of them; to be freed */
};

/** results_format_name - NULL if there are no more. */
const char *results_format_name(size_t i);

/**
 * results_read - read a file, or all files below a folder
 * @run: the name of the run that they belong to. NULL: a file is a run of its own name; each folder
 *	 in a folder is a run; a folder without folders is one run.
 * @found: all zero; receives what was found, also after an error
 *
 * Return: 0, or a negative errno with a text in @error.
 */
int results_read(struct compare *compare, const char *path, const char *run,
		 const struct compare_csv_columns *columns, struct results_found *found,
		 char *error, size_t error_size);

/**
 * results_read_text - the same of a text
 * @text: of @length bytes and a NUL
 * @formats: receives a bit per format that was recognised
 */
int results_read_text(struct compare *compare, const char *path, const char *run,
		      const struct compare_csv_columns *columns, const char *text, size_t length,
		      unsigned int *formats, char *error, size_t error_size);

#endif
