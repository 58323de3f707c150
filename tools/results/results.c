// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	results.c
 * @brief	Recognise files of results, and walk folders of them.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array.h"
#include "escape.h"
#include "json_read.h"
#include "regular_file.h"
#include "results.h"
#include "whole_file.h"

static const struct results_format *const formats[] = {
	&results_cyclictest_json, &results_cyclictest, &results_hackbench, &results_perf_bench,
	&results_schbench, &results_sysbench, &results_unixbench, &results_fio, &results_hyperfine,
	&results_perf_stat, &results_mmtests, &results_csv,
};

const char *results_format_name(size_t i)
{
	return i < ARRAY_SIZE(formats) ? formats[i]->name : NULL;
}

/* --- what formats use ------------------------------------------------------------------------ */

int results_fail(struct results_file *file, const char *format, ...)
{
	int n = text_format(file->error, file->error_size, "%s: ", file->path);
	va_list args;

	if (n >= 0 && (size_t)n < file->error_size) {
		va_start(args, format);
		vsnprintf(file->error + n, file->error_size - n, format, args);
		va_end(args);
	}
	return -EINVAL;
}

/**
 * The benchmark of a file in a folder that MMTests made: RUN/iter-N/BENCHMARK/logs/FILE. Its logs
 * alone do not show all options of the benchmark.
 *
 * Return: the name, or NULL.
 */
static const char *mmtests_benchmark(const char *path, size_t *length)
{
	for (const char *at = path; (at = strstr(at, "/iter-")); at++) {
		const char *name = at + 6 + strspn(at + 6, "0123456789");

		if (*name++ != '/')
			continue;
		*length = strcspn(name, "/");
		if (*length && !strncmp(name + *length, "/logs/", 6))
			return name;
	}
	return NULL;
}

/** A name that can be given in a list, and printed. */
static void clean_name(char *name, size_t size, const char *from)
{
	size_t n = 0, length;
	const char *end = from + strlen(from);

	for (; from < end && n + 4 < size; from += length) {
		uint32_t code;

		length = text_char(from, (size_t)(end - from), &code);
		if (!length || !text_is_plain(code) || code == ',') {
			name[n++] = '_';
			length = length ? length : 1;
			continue;
		}
		memcpy(name + n, from, length);
		n += length;
	}
	name[n] = '\0';
}

static void name_metric(const struct results_file *file, char *name, size_t size,
			const char *metric)
{
	size_t length = 0;
	const char *benchmark = mmtests_benchmark(file->path, &length);
	char full[RESULTS_MAX_NAME];

	text_format(full, sizeof(full), "%.*s%s%s", (int)length, benchmark ? benchmark : "",
		    benchmark ? "." : "", metric);
	clean_name(name, size, full);
}

static int added(struct results_file *file, int ret)
{
	if (ret == -ENOSPC)
		return results_fail(file, "more than %d metrics: compare fewer kinds of results "
				    "at once", COMPARE_MAX_METRICS);
	if (ret == -E2BIG)
		return results_fail(file, "more than %d values of one metric in one run: give "
				    "fewer files", COMPARE_MAX_VALUES);
	return ret;
}

int results_run(struct results_file *file)
{
	int run = compare_run(file->compare, file->run ? file->run : file->path);

	return run == -ENOSPC ? results_fail(file, "more than %d runs", COMPARE_MAX_RUNS) : run;
}

int results_add_times(struct results_file *file, const char *metric, enum compare_better better,
		      double value, uint64_t times)
{
	char name[RESULTS_MAX_NAME];
	int run, ret;

	if (!times)
		return 0;
	if (!isfinite(value))
		return results_fail(file, "%s is not a finite number", metric);
	name_metric(file, name, sizeof(name), metric);
	run = results_run(file);
	if (run < 0)
		return run;
	ret = compare_add_times(file->compare, run, name, value, times);
	if (ret)
		return added(file, ret);
	ret = compare_metric(file->compare, name);
	file->compare->metrics[ret]->better = better;
	file->n_values++;
	return 0;
}

int results_add(struct results_file *file, const char *metric, enum compare_better better,
		double value)
{
	return results_add_times(file, metric, better, value, 1);
}

int results_add_unknown(struct results_file *file, const char *metric, const char *why)
{
	char name[RESULTS_MAX_NAME];
	int run = results_run(file), at;
	const char *known;

	if (run < 0)
		return run;
	name_metric(file, name, sizeof(name), metric);
	at = compare_metric(file->compare, name);
	known = at >= 0 ? file->compare->metrics[at]->sets[run].unknown : NULL;
	/* the same again is one note */
	if (at >= 0 && (!known || strcmp(known, why) != 0))
		results_note(file, "%s: %s", name, why);
	file->n_values++;
	return added(file, at < 0 ? at : compare_add_unknown(file->compare, run, name, why));
}

int results_fact(struct results_file *file, enum compare_fact fact, const char *key,
		 const char *text)
{
	char clean[RESULTS_MAX_NAME];
	int run = results_run(file);

	clean_name(clean, sizeof(clean), text);
	if (run < 0 || !*clean)
		return run < 0 ? run : 0;
	return compare_add_fact(file->compare, run, fact, key, clean);
}

void results_note(struct results_file *file, const char *format, ...)
{
	char text[512];
	va_list args;

	if (file->n_notes++ == RESULTS_MAX_NOTES)
		trace_notes_add(&file->compare->notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
				"%s: more notes about this file are left out", file->path);
	if (file->n_notes > RESULTS_MAX_NOTES)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	trace_notes_add(&file->compare->notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING, "%s: %s",
			file->path, text);
}

const char *results_after(const char *line, const char *prefix)
{
	size_t n = strlen(prefix);

	line += strspn(line, " \t");
	if (strncmp(line, prefix, n) != 0)
		return NULL;
	line += n;
	return line + strspn(line, " \t");
}

bool results_number(const char *text, double *number, const char **end)
{
	char plain[64];
	size_t n;
	char *stop;

	text += strspn(text, " \t");
	n = strspn(text, "0123456789+-.eE");
	/* hexadecimal, nan and infinity begin otherwise; so do words */
	if (!n || n >= sizeof(plain) || isalpha((unsigned char)*text))
		return false;
	memcpy(plain, text, n);
	plain[n] = '\0';
	*number = strtod(plain, &stop);
	if (stop == plain || !isfinite(*number))
		return false;
	if (end)
		*end = text + (stop - plain);
	return true;
}

bool results_json_number(struct json_object *object, const char *key, double *number)
{
	struct json_object *value = json_member(object, key, json_type_double);

	if (!value)
		value = json_member(object, key, json_type_int);
	*number = value ? json_object_get_double(value) : 0;
	return value;
}

void results_slug(char *slug, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++) {
		unsigned char c = (unsigned char)*name;

		if (isalnum(c) || c == '-' || c == '.' || c >= 0x80)
			slug[n++] = (char)tolower(c);
		else if (n && slug[n - 1] != '_')
			slug[n++] = '_';
	}
	while (n && slug[n - 1] == '_')
		n--;
	slug[n] = '\0';
}

/* --- a file ---------------------------------------------------------------------------------- */

/** Remove escape sequences such as ESC [ 3 A, which move the cursor of a terminal. */
static void remove_escapes(char *line)
{
	char *to = line;

	for (const char *at = line; *at; ) {
		if (at[0] == '\033' && at[1] == '[') {
			at += 2;
			at += strspn(at, "0123456789;?");
			at += *at != '\0';
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

/** Divide a copy of the text into lines. @copy: receives it, to be freed */
static int divide(struct results_file *file, char **copy)
{
	size_t room = 0;
	char *at;

	*copy = malloc(file->length + 1);
	if (!*copy)
		return -ENOMEM;
	memcpy(*copy, file->text, file->length + 1);
	for (at = *copy; *at; ) {
		size_t n = strcspn(at, "\r\n");
		bool last = !at[n];

		at[n] = '\0';
		if (n && ARRAY_GROW(file->lines, file->n_lines, room))
			return -ENOMEM;
		if (n) {
			remove_escapes(at);
			file->lines[file->n_lines++] = at;
		}
		if (last)
			break;
		at += n + 1;
	}
	return 0;
}

/** Where JSON begins: programs may have written lines of text before it. NULL: there is none. */
static const char *json_begin_of(const char *text)
{
	const char *at = text + strspn(text, " \t\r\n");

	if (*at == '{')
		return at;
	at = strstr(text, "\n{");
	return at ? at + 1 : NULL;
}

static int read_json(struct results_file *file)
{
	const char *begin = json_begin_of(file->text);
	char error[512] = "";
	int ret;

	if (!begin)
		return 0;
	ret = json_read_text(file->path, begin, file->length - (size_t)(begin - file->text),
			     &file->json, error, sizeof(error));
	/* a file that only seems to be JSON may be another format */
	if (ret == -EINVAL && begin != file->text)
		return 0;
	if (ret)
		text_format(file->error, file->error_size, "%s", error);
	return ret;
}

static bool fits(const struct results_file *file, const struct results_format *format)
{
	if (format->fits)
		return format->fits(file);
	for (size_t i = 0; i < file->n_lines; i++)
		if (format->fits_line(file->lines[i]))
			return true;
	return false;
}

static bool is_text(const struct results_file *file)
{
	return strlen(file->text) == file->length;
}

static int read_formats(struct results_file *file, unsigned int *found)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(formats) && !ret; i++) {
		size_t before = file->n_values;

		if (!fits(file, formats[i]))
			continue;
		*found |= 1u << i;
		ret = formats[i]->read(file);
		if (!ret && file->n_values == before)
			ret = results_fail(file, "looks like output of %s, but has no result: did "
					   "the program end early?", formats[i]->name);
	}
	return ret;
}

static int read_text(struct results_file *file, unsigned int *found)
{
	char *copy = NULL;
	int ret = 0;

	if (is_text(file) && *file->text) {
		ret = read_json(file);
		if (!ret && !file->json)
			ret = divide(file, &copy);
		if (!ret)
			ret = read_formats(file, found);
	}
	if (ret == -ENOMEM)
		results_fail(file, "not enough memory");
	json_object_put(file->json);
	free(file->lines);
	free(copy);
	return ret;
}

/** The message for a file or folder without results. */
static int no_results(const char *path, const char *what, char *error, size_t error_size)
{
	size_t n = (size_t)text_format(error, error_size, "%s: %s; expected: ", path, what);

	for (size_t i = 0; i < ARRAY_SIZE(formats) && n < error_size; i++)
		n += (size_t)text_format(error + n, error_size - n, "%s%s (%s)", i ? ", " : "",
					 formats[i]->name, formats[i]->expected);
	return -EINVAL;
}

int results_read_text(struct compare *compare, const char *path, const char *run,
		      const struct compare_csv_columns *columns, const char *text, size_t length,
		      unsigned int *found, char *error, size_t error_size)
{
	struct results_file file = {
		.compare = compare, .run = run, .path = path, .columns = columns, .text = text,
		.length = length, .error = error, .error_size = error_size,
	};
	int ret;

	*found = 0;
	ret = read_text(&file, found);
	if (!ret)
		compare->bytes += length;
	return ret;
}

static int read_file(struct compare *compare, const char *path, const char *run,
		     const struct compare_csv_columns *columns, unsigned int *found, char *error,
		     size_t error_size)
{
	size_t length = 0;
	char *text = NULL;
	int ret = whole_file_read(path, RESULTS_MAX_BYTES, &text, &length);

	if (ret) {
		if (ret == -EFBIG)
			text_format(error, error_size, "%s: larger than %d MiB: not results that "
				    "can be read", path, RESULTS_MAX_BYTES >> 20);
		else
			text_format(error, error_size, "%s: cannot read: %s", path,
				    regular_file_error(ret));
		return ret;
	}
	ret = results_read_text(compare, path, run, columns, text, length, found, error,
				error_size);
	free(text);
	return ret;
}

/* --- folders --------------------------------------------------------------------------------- */

struct walk {
	struct compare	*compare;
	const struct compare_csv_columns *columns;
	struct results_found *found;
	size_t		n_files;
	char		*error;
	size_t		error_size;
};

static void skip(struct walk *walk, const char *path)
{
	if (!walk->found->skipped++)
		walk->found->skipped_name = strdup(path);
}

static int walk_file(struct walk *walk, const char *path, const char *run)
{
	unsigned int found = 0;
	char start[512];
	ssize_t n = regular_file_start(path, start, sizeof(start));
	int ret;

	if (++walk->n_files > RESULTS_MAX_FILES) {
		text_format(walk->error, walk->error_size, "%s: the folder has more than %d files: "
			    "give a folder with results alone", path, RESULTS_MAX_FILES);
		return -EINVAL;
	}
	/* binary files are no results, however large they are */
	if (n >= 0 && strlen(start) != (size_t)n) {
		skip(walk, path);
		return 0;
	}
	ret = read_file(walk->compare, path, run, walk->columns, &found, walk->error,
			walk->error_size);
	for (size_t i = 0; found && i < ARRAY_SIZE(formats); i++)
		walk->found->formats[i] += (found >> i) & 1;
	walk->found->files += found != 0;
	/* JSON that is no known result, or text that is too large, is no reason to stop */
	if (!found && (!ret || ret == -EINVAL || ret == -EFBIG)) {
		skip(walk, path);
		return 0;
	}
	return ret;
}

static bool is_folder(const char *folder, const struct dirent *entry)
{
	struct stat st;
	char path[PATH_MAX];

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static int is_no_dot(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/** @run: NULL: the folders in it are the runs, or it is one. Links are not followed. */
static int walk_folder(struct walk *walk, const char *folder, const char *run, int depth)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_no_dot, by_name), ret = 0;
	bool folders = false;

	if (n < 0 || depth > RESULTS_MAX_DEPTH) {
		text_format(walk->error, walk->error_size, "%s: cannot read: %s", folder,
			    n < 0 ? strerror(errno) : "it is too deep in other folders");
		ret = -EIO;
	}
	for (int i = 0; i < n; i++)
		folders |= is_folder(folder, entries[i]);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char path[PATH_MAX];
		struct stat st;

		if (ret) {
			free(entries[i]);
			continue;
		}
		if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) ||
		    lstat(path, &st) || !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
			skip(walk, path);
		else if (S_ISDIR(st.st_mode))
			ret = walk_folder(walk, path, run ? run : name, depth + 1);
		else if (!run && folders)
			/* it belongs to none of the runs */
			skip(walk, path);
		else
			ret = walk_file(walk, path, run ? run : folder);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

int results_read(struct compare *compare, const char *path, const char *run,
		 const struct compare_csv_columns *columns, struct results_found *found,
		 char *error, size_t error_size)
{
	struct walk walk = {
		.compare = compare, .columns = columns, .found = found, .error = error,
		.error_size = error_size,
	};
	unsigned int file_found = 0;
	struct stat st;
	int ret;

	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		ret = walk_folder(&walk, path, run, 0);
		if (!ret && !found->files)
			return no_results(path, "no file of this folder has results", error,
					  error_size);
		return ret;
	}
	ret = read_file(compare, path, run, columns, &file_found, error, error_size);
	if (!ret && !file_found)
		return no_results(path, "not recognised as results of a benchmark", error,
				  error_size);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		found->formats[i] += (file_found >> i) & 1;
	found->files += file_found != 0;
	return ret;
}
