// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	results_rt.c
 * @brief	Results of cyclictest: its summary, -v, -h and --json.
 *
 * Text does not say whether latencies are us or ns (option -N), so its metrics have no unit.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "json_read.h"
#include "results.h"

#define LATENCY		"cyclictest.latency"
#define MAX_THREADS	4096

/* --- text ------------------------------------------------------------------------------------ */

/** A summary of a thread: "T: 0 ( 1234) P:80 I:1000 C: 100 Min: 1 Act: 2 Avg: 3 Max: 4". */
static bool summary_of(const char *line, unsigned int *thread, double *min, double *avg,
		       double *max)
{
	const char *at = results_after(line, "T:"), *min_at, *avg_at, *max_at;
	char *end;
	unsigned long number;

	if (!at || !isdigit((unsigned char)*at))
		return false;
	number = strtoul(at, &end, 10);
	min_at = strstr(end, " Min:");
	avg_at = strstr(end, " Avg:");
	max_at = strstr(end, " Max:");
	*thread = (unsigned int)number;
	return number < MAX_THREADS && strstr(end, " C:") && min_at && avg_at && max_at &&
	       results_number(min_at + 5, min, NULL) && results_number(avg_at + 5, avg, NULL) &&
	       results_number(max_at + 5, max, NULL);
}

/** A sample of -v: "       0:       5:    2187", the thread, the number and the latency. */
static bool sample_of(const char *line, double *latency)
{
	unsigned int colons = 0;

	for (; isdigit((unsigned char)*line) || *line == ' ' || *line == ':'; line++) {
		colons += *line == ':';
		if (colons == 2) {
			const char *end;

			return results_number(line + 1, latency, &end) && !end[strspn(end, " ")];
		}
	}
	return false;
}

static bool is_sample(const char *line)
{
	double latency;

	return isspace((unsigned char)*line) && sample_of(line, &latency);
}

static bool fits_line(const char *line)
{
	unsigned int thread;
	double min, avg, max;

	return !strcmp(line, "# Histogram") || results_after(line, "# Min Latencies:") ||
	       results_after(line, "# /dev/cpu_dma_latency set to") ||
	       (results_after(line, "Thread ") && strstr(line, " Interval: ")) ||
	       summary_of(line, &thread, &min, &avg, &max);
}

/** One value per column after a title: "# Avg Latencies: 00003 00004". */
static int add_columns(struct results_file *file, const char *at, const char *metric)
{
	double value;
	int ret = 0;

	while (!ret && results_number(at, &value, &at))
		ret = results_add(file, metric, COMPARE_LOWER, value);
	return ret;
}

/** A row of a histogram: a latency, and then how often each thread had it. */
static int add_row(struct results_file *file, const char *at)
{
	double latency, count, sum = 0;

	if (!results_number(at, &latency, &at))
		return 0;
	while (results_number(at, &count, &at)) {
		if (count < 0)
			return results_fail(file, "a latency of the histogram has a negative "
					    "count: not written by cyclictest");
		sum += count;
	}
	if (sum > COMPARE_MAX_VALUES)
		return results_fail(file, "more than %d samples of one latency",
				    COMPARE_MAX_VALUES);
	return results_add_times(file, LATENCY, COMPARE_LOWER, latency, (uint64_t)sum);
}

/** The number of samples that are above a histogram. */
static double overflows(const struct results_file *file, size_t from)
{
	double count, sum = 0;

	for (size_t i = from; i < file->n_lines; i++) {
		const char *at = results_after(file->lines[i], "# Histogram Overflows:");

		while (at && results_number(at, &count, &at))
			sum += count;
		if (at)
			return sum;
	}
	return 0;
}

/** @at: its first line; receives the line after the histogram */
static int read_histogram(struct results_file *file, size_t *at)
{
	double over = overflows(file, *at);
	char why[120];
	int ret = 0;

	if (over > 0) {
		snprintf(why, sizeof(why), "%.0f samples are above the histogram: record with a "
			 "larger -h", over);
		ret = results_add_unknown(file, LATENCY, why);
	}
	for (++*at; *at < file->n_lines && !ret; ++*at) {
		const char *line = file->lines[*at], *rest;

		if (isdigit((unsigned char)*line) && over == 0)
			ret = add_row(file, line);
		else if ((rest = results_after(line, "# Min Latencies:")))
			ret = add_columns(file, rest, "cyclictest.min");
		else if ((rest = results_after(line, "# Avg Latencies:")))
			ret = add_columns(file, rest, "cyclictest.avg");
		else if ((rest = results_after(line, "# Max Latencies:")))
			ret = add_columns(file, rest, "cyclictest.max");
		else if (!isdigit((unsigned char)*line) && *line != '#')
			break;
	}
	return ret;
}

struct summaries {
	struct {
		bool	known;
		double	min, avg, max;
	}	threads[MAX_THREADS];
	unsigned int n;
};

/** Write the last summary of each thread. */
static int end_summaries(struct results_file *file, struct summaries *all)
{
	int ret = 0;

	for (unsigned int i = 0; i < all->n && !ret; i++) {
		if (!all->threads[i].known)
			continue;
		ret = results_add(file, "cyclictest.min", COMPARE_LOWER, all->threads[i].min);
		if (!ret)
			ret = results_add(file, "cyclictest.avg", COMPARE_LOWER,
					  all->threads[i].avg);
		if (!ret)
			ret = results_add(file, "cyclictest.max", COMPARE_LOWER,
					  all->threads[i].max);
		all->threads[i].known = false;
	}
	all->n = 0;
	return ret;
}

/** The load average of the first line that has one: cyclictest itself adds to later ones. */
static int read_load(struct results_file *file, const char *line, bool *known)
{
	const char *at = *known ? NULL : strstr(line, "loadavg:");
	double load;
	int run;

	if (!at || !results_number(at + 8, &load, NULL))
		return 0;
	*known = true;
	run = results_run(file);
	if (run >= 0)
		compare_add_load(file->compare, run, load);
	return run < 0 ? run : 0;
}

/** With --quiet, text has each summary once; otherwise again and again, and the last one counts. */
static int read_lines(struct results_file *file, struct summaries *all)
{
	bool load_known = false;
	int ret = 0;

	for (size_t i = 0; i < file->n_lines && !ret; ) {
		const char *line = file->lines[i];
		unsigned int thread;
		double min, avg, max;

		if (!strcmp(line, "# Histogram")) {
			ret = read_histogram(file, &i);
			continue;
		}
		i++;
		/* the next run of several in one file */
		if (results_after(line, "# /dev/cpu_dma_latency"))
			ret = end_summaries(file, all);
		else if (summary_of(line, &thread, &min, &avg, &max)) {
			all->threads[thread].known = true;
			all->threads[thread].min = min;
			all->threads[thread].avg = avg;
			all->threads[thread].max = max;
			all->n = thread >= all->n ? thread + 1 : all->n;
		} else if (is_sample(line) && sample_of(line, &max)) {
			ret = results_add(file, LATENCY, COMPARE_LOWER, max);
		} else {
			ret = read_load(file, line, &load_known);
		}
	}
	return ret ? ret : end_summaries(file, all);
}

static int read_text(struct results_file *file)
{
	struct summaries *all = calloc(1, sizeof(*all));
	int ret = all ? read_lines(file, all) : -ENOMEM;

	free(all);
	return ret;
}

const struct results_format results_cyclictest = {
	.name = "cyclictest", .expected = "its output as text, also of -v and -h",
	.fits_line = fits_line, .read = read_text,
};

/* --- JSON ------------------------------------------------------------------------------------ */

static bool fits_json(const struct results_file *file)
{
	struct json_object *threads = json_member(file->json, "thread", json_type_object);

	return threads && json_member(file->json, "num_threads", json_type_int);
}

/** The numbers of a thread, in us. @scale: of what is in the file */
static int add_thread(struct results_file *file, struct json_object *thread, double scale)
{
	static const char *const keys[] = { "min", "avg", "max" };
	struct json_object *histogram = json_member(thread, "histogram", json_type_object);
	double value, cycles = 0, sum = 0;
	char metric[40], why[120];
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !ret; i++) {
		snprintf(metric, sizeof(metric), "cyclictest.%s_us", keys[i]);
		if (results_json_number(thread, keys[i], &value))
			ret = results_add(file, metric, COMPARE_LOWER, value * scale);
	}
	if (ret || !histogram)
		return ret;
	json_object_object_foreach(histogram, key, count) {
		double n = json_object_get_double(count);

		(void)key;
		if (!(n >= 0))
			return results_fail(file, "a latency of the histogram has a count that is "
					    "no number from 0 on: not written by cyclictest");
		sum += n;
	}
	/* without -h, it is empty; a sample that is above it is not in it */
	if (sum <= 0)
		return 0;
	if (results_json_number(thread, "cycles", &cycles) && cycles > sum) {
		snprintf(why, sizeof(why), "%.0f samples are above the histogram: record with a "
			 "larger -h", cycles - sum);
		return results_add_unknown(file, LATENCY "_us", why);
	}
	if (sum > COMPARE_MAX_VALUES)
		return results_fail(file, "more than %d samples", COMPARE_MAX_VALUES);
	json_object_object_foreach(histogram, latency, times) {
		double n = json_object_get_double(times);

		if (ret || !results_number(latency, &value, NULL))
			continue;
		ret = results_add_times(file, LATENCY "_us", COMPARE_LOWER, value * scale,
					(uint64_t)n);
	}
	return ret;
}

/** rt-tests up to 2.4 have a colon in two names. */
static const char *text_of(struct json_object *object, const char *key, const char *older)
{
	struct json_object *text = json_member(object, key, json_type_string);

	if (!text)
		text = json_member(object, older, json_type_string);
	return text ? json_object_get_string(text) : "";
}

/** The options without those that only name files. */
static void options_of(const char *line, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	line += strcspn(line, " ");
	while (*line && n < size) {
		size_t length;

		line += strspn(line, " ");
		length = strcspn(line, " ");
		if (length && strncmp(line, "--json", 6) && strncmp(line, "--histfile", 10))
			n += (size_t)snprintf(text + n, size - n, "%s%.*s", n ? " " : "",
					      (int)length, line);
		line += length;
	}
}

static int add_facts(struct results_file *file)
{
	struct json_object *system = json_member(file->json, "sysinfo", json_type_object);
	char text[300];
	int ret;

	options_of(text_of(file->json, "cmdline", "cmdline:"), text, sizeof(text));
	ret = results_fact(file, COMPARE_SETTINGS, "cyclictest", text);
	if (!ret)
		ret = results_fact(file, COMPARE_PROGRAM, "cyclictest",
				   text_of(file->json, "rt_test_version", "rt_test_version:"));
	if (ret || !system)
		return ret;
	snprintf(text, sizeof(text), "%s %s", text_of(system, "release", ""),
		 text_of(system, "version", ""));
	return results_fact(file, COMPARE_KERNEL, "", text);
}

static int read_json(struct results_file *file)
{
	struct json_object *threads = json_member(file->json, "thread", json_type_object);
	double scale = json_number_member(file->json, "resolution_in_ns", 0) ? 1e-3 : 1;
	int ret = add_facts(file);

	if (!ret && json_number_member(file->json, "return_code", 0) != 0)
		results_note(file, "cyclictest ended with status %d",
			     (int)json_number_member(file->json, "return_code", 0));
	json_object_object_foreach(threads, name, thread) {
		(void)name;
		if (!ret)
			ret = add_thread(file, thread, scale);
	}
	return ret;
}

const struct results_format results_cyclictest_json = {
	.name = "cyclictest JSON", .expected = "cyclictest --json=FILE", .fits = fits_json,
	.read = read_json,
};
