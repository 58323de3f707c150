// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	results_suites.c
 * @brief	Results of sysbench and UnixBench.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "results.h"

/* --- sysbench -------------------------------------------------------------------------------- */

static bool is_sysbench(const char *line)
{
	return !strncmp(line, "sysbench ", 9) && strstr(line, "LuaJIT");
}

/** Lines that show which test it was, the first of its results. */
static const struct {
	const char	*line, *test;
} sysbench_tests[] = {
	{ "CPU speed:", "cpu" }, { "Running memory speed test", "memory" },
	{ "Extra file open flags:", "fileio" }, { "SQL statistics:", "sql" },
};

/** Lines with a number: its title, and its metric. */
static const struct {
	const char	*title, *metric;
	enum compare_better better;
} sysbench_numbers[] = {
	{ "events per second:", "events_per_s", COMPARE_HIGHER },
	{ "total time:", "time_s", COMPARE_LOWER },
	{ "total number of events:", "events", COMPARE_HIGHER },
	{ "min:", "latency_min_ms", COMPARE_LOWER },
	{ "avg:", "latency_avg_ms", COMPARE_LOWER },
	{ "max:", "latency_max_ms", COMPARE_LOWER },
	{ "reads/s:", "reads_per_s", COMPARE_HIGHER },
	{ "writes/s:", "writes_per_s", COMPARE_HIGHER },
	{ "fsyncs/s:", "fsyncs_per_s", COMPARE_HIGHER },
	{ "read, MiB/s:", "read_mib_per_s", COMPARE_HIGHER },
	{ "written, MiB/s:", "written_mib_per_s", COMPARE_HIGHER },
};

/** Lines with the number that counts in parentheses: "transactions: 123 (12.3 per sec.)" */
static const struct {
	const char	*title, *words, *metric;
} sysbench_rates[] = {
	{ "Total operations:", " per second)", "operations_per_s" },
	{ "transactions:", " per sec.)", "transactions_per_s" },
	{ "queries:", " per sec.)", "queries_per_s" },
	{ "", " MiB/sec)", "mib_per_s" },
};

struct sysbench {
	char	test[20];
	double	threads;
};

static int add_sysbench(struct results_file *file, const struct sysbench *run, const char *name,
			enum compare_better better, double value)
{
	char metric[RESULTS_MAX_NAME];

	snprintf(metric, sizeof(metric), "sysbench.%s%s", run->test, *run->test ? "." : "");
	if (run->threads > 0)
		snprintf(metric + strlen(metric), sizeof(metric) - strlen(metric), "threads%.0f.",
			 run->threads);
	snprintf(metric + strlen(metric), sizeof(metric) - strlen(metric), "%s", name);
	return results_add(file, metric, better, value);
}

/** A rate in parentheses, if the line has one. */
static int add_rate(struct results_file *file, const struct sysbench *run, const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(sysbench_rates); i++) {
		const char *bracket = strchr(line, '('), *end;
		double rate;

		if (bracket && results_after(line, sysbench_rates[i].title) &&
		    results_number(bracket + 1, &rate, &end) &&
		    !strncmp(end, sysbench_rates[i].words, strlen(sysbench_rates[i].words)))
			return add_sysbench(file, run, sysbench_rates[i].metric, COMPARE_HIGHER,
					    rate);
	}
	return 0;
}

/** A percentile: "95th percentile:  18.28" */
static int add_percentile(struct results_file *file, const struct sysbench *run, const char *line)
{
	double percentile, value;
	const char *at;
	char name[40];

	if (!results_number(line, &percentile, &at))
		return add_rate(file, run, line);
	at = results_after(at, "th percentile:");
	if (!at || !results_number(at, &value, NULL))
		return add_rate(file, run, line);
	snprintf(name, sizeof(name), "latency_p%.6g_ms", percentile);
	return add_sysbench(file, run, name, COMPARE_LOWER, value);
}

static int add_sysbench_line(struct results_file *file, const struct sysbench *run,
			     const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(sysbench_numbers); i++) {
		const char *at = results_after(line, sysbench_numbers[i].title);
		double number;

		if (at && results_number(at, &number, NULL))
			return add_sysbench(file, run, sysbench_numbers[i].metric,
					    sysbench_numbers[i].better, number);
	}
	return add_percentile(file, run, line);
}

static int read_sysbench(struct results_file *file)
{
	struct sysbench run = { .threads = 0 };
	bool inside = false;
	int ret = 0;

	for (size_t i = 0; i < file->n_lines && !ret; i++) {
		const char *line = file->lines[i], *at;

		if (is_sysbench(line)) {
			run = (struct sysbench){ .threads = 0 };
			inside = true;
			ret = results_fact(file, COMPARE_PROGRAM, "sysbench", line + 9);
			continue;
		}
		if (!inside)
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(sysbench_tests); j++)
			if (results_after(line, sysbench_tests[j].line))
				snprintf(run.test, sizeof(run.test), "%s", sysbench_tests[j].test);
		at = results_after(line, "Number of threads:");
		if (at)
			results_number(at, &run.threads, NULL);
		else
			ret = add_sysbench_line(file, &run, line);
		/* the last section is about fairness, with averages of other things */
		inside = !results_after(line, "Threads fairness:");
	}
	return ret;
}

const struct results_format results_sysbench = {
	.name = "sysbench", .expected = "its output from its first line on",
	.fits_line = is_sysbench, .read = read_sysbench,
};

/* --- UnixBench ------------------------------------------------------------------------------- */

static bool is_unixbench(const char *line)
{
	return strstr(line, "BYTE UNIX Benchmarks") ||
	       results_after(line, "System Benchmarks Index");
}

/**
 * A result: "Pipe Throughput   219362.9 lps   (10.1 s, 1 samples)"
 *
 * @name: receives the name and the unit
 */
static bool is_result(const char *line, char *name, size_t size, double *value)
{
	const char *bracket = strrchr(line, '('), *at = bracket, *end, *unit;
	char title[RESULTS_MAX_NAME];
	double seconds;

	if (!bracket || !results_number(bracket + 1, &seconds, &end) ||
	    strncmp(end, " s, ", 4) != 0 || !strstr(end, " samples)"))
		return false;
	/* from the end: blanks, the unit, blanks, the value */
	while (at > line && at[-1] == ' ')
		at--;
	end = at;
	while (at > line && at[-1] != ' ')
		at--;
	unit = at;
	while (at > line && at[-1] == ' ')
		at--;
	while (at > line && at[-1] != ' ')
		at--;
	if (at == line || !results_number(at, value, NULL))
		return false;
	snprintf(title, sizeof(title), "%.*s_%.*s", (int)(at - line), line, (int)(end - unit),
		 unit);
	results_slug(name, size, title);
	return true;
}

static int add_unixbench(struct results_file *file, double copies, const char *name, double value)
{
	char metric[RESULTS_MAX_NAME];

	text_format(metric, sizeof(metric), "unixbench.copies%.0f.%s", copies, name);
	return results_add(file, metric, COMPARE_HIGHER, value);
}

/** Facts of the head of a report. Return: 0 or a negative errno. */
static int add_head(struct results_file *file, const char *line)
{
	const char *at = results_after(line, "OS: ");
	char kernel[RESULTS_MAX_NAME];
	double load;
	int run;

	if (at) {
		/* "OS: GNU/Linux -- RELEASE -- VERSION" */
		const char *release = strstr(at, " -- ");
		const char *version = release ? strstr(release + 4, " -- ") : NULL;

		if (!version)
			return 0;
		snprintf(kernel, sizeof(kernel), "%.*s %s", (int)(version - release - 4),
			 release + 4, version + 4);
		return results_fact(file, COMPARE_KERNEL, "", kernel);
	}
	at = results_after(line, "CPU 0: ");
	if (at)
		return results_fact(file, COMPARE_MACHINE, "CPU 0", at);
	at = strstr(line, " load average: ");
	if (!at || !strstr(line, " up ") || !results_number(at + 15, &load, NULL))
		return 0;
	run = results_run(file);
	if (run >= 0)
		compare_add_load(file->compare, run, load);
	return run < 0 ? run : 0;
}

/** The number of "System Benchmarks Index Score (Partial Only)   123.4" */
static bool take_index(const char *line, double *value)
{
	const char *at = results_after(line, "System Benchmarks Index Score");

	if (at && *at == '(') {
		at = strchr(at, ')');
		at = at ? at + 1 : NULL;
	}
	return at && results_number(at, value, NULL);
}

static int read_unixbench(struct results_file *file)
{
	double copies = 1, value;
	char name[RESULTS_MAX_NAME];
	int ret = 0;

	for (size_t i = 0; i < file->n_lines && !ret; i++) {
		const char *line = file->lines[i], *at = strstr(line, "; running "), *end;

		if (at && results_number(at + 10, &value, &end) && strstr(end, "parallel cop"))
			copies = value;
		else if (is_result(line, name, sizeof(name), &value))
			ret = add_unixbench(file, copies, name, value);
		else if (take_index(line, &value))
			ret = add_unixbench(file, copies, strstr(line, "Partial") ?
					    "partial_index" : "index", value);
		else
			ret = add_head(file, line);
	}
	return ret;
}

const struct results_format results_unixbench = {
	.name = "UnixBench", .expected = "its report", .fits_line = is_unixbench,
	.read = read_unixbench,
};
