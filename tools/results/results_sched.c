// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	results_sched.c
 * @brief	Results of benchmarks of the scheduler: hackbench, perf bench and schbench.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "results.h"

/* --- hackbench ------------------------------------------------------------------------------- */

/** "Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)" */
static bool is_hackbench(const char *line)
{
	return results_after(line, "Running in ") && strstr(line, " mode with ") &&
	       strstr(line, " groups using ");
}

static int read_hackbench(struct results_file *file)
{
	char metric[80] = "hackbench.time_s", settings[RESULTS_MAX_NAME] = "";
	int ret = 0;

	for (size_t i = 0; i < file->n_lines && !ret; i++) {
		const char *line = file->lines[i], *at;
		double number;

		if (is_hackbench(line) &&
		    results_number(strstr(line, " mode with ") + 11, &number, NULL)) {
			snprintf(metric, sizeof(metric), "hackbench.groups%.0f.time_s", number);
			at = results_after(line, "Running in ");
			snprintf(settings, sizeof(settings), "%.*s", (int)strcspn(at, " "), at);
		} else if ((at = results_after(line, "Each sender will pass "))) {
			size_t n = strlen(settings);

			snprintf(settings + n, sizeof(settings) - n, " mode; %s", at);
			ret = results_fact(file, COMPARE_SETTINGS, metric, settings);
		} else if ((at = results_after(line, "Time:")) &&
			   results_number(at, &number, NULL)) {
			ret = results_add(file, metric, COMPARE_LOWER, number);
		}
	}
	return ret;
}

const struct results_format results_hackbench = {
	.name = "hackbench", .expected = "its output", .fits_line = is_hackbench,
	.read = read_hackbench,
};

/* --- perf bench ------------------------------------------------------------------------------ */

static bool is_perf_bench(const char *line)
{
	const char *name = results_after(line, "# Running '");

	return name && strstr(name, "' benchmark:");
}

/** The name of a benchmark for metrics: "sched/messaging" is perf_bench.sched.messaging */
static void name_of(const char *line, char *name, size_t size)
{
	const char *at = results_after(line, "# Running '");

	snprintf(name, size, "perf_bench.%.*s", (int)strcspn(at, "'"), at);
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '.' : *c;
}

/** What a number is of, by the words after it. */
static const struct {
	const char	*words, *metric;
	enum compare_better better;
} perf_units[] = {
	{ "usecs/op", "usecs_per_op", COMPARE_LOWER },
	{ "nsecs/op", "nsecs_per_op", COMPARE_LOWER },
	{ "ops/sec", "ops_per_s", COMPARE_HIGHER },
	{ "MB/sec", "mb_per_s", COMPARE_HIGHER },
	{ "GB/sec", "gb_per_s", COMPARE_HIGHER },
	{ "bytes/cycle", "bytes_per_cycle", COMPARE_HIGHER },
};

static int add_perf_line(struct results_file *file, const char *name, const char *line)
{
	const char *at = results_after(line, "Total time:"), *end;
	char metric[RESULTS_MAX_NAME];
	double number;

	if (at && results_number(at, &number, NULL)) {
		snprintf(metric, sizeof(metric), "%s.time_s", name);
		return results_add(file, metric, COMPARE_LOWER, number);
	}
	if (!results_number(line, &number, &end))
		return 0;
	end += strspn(end, " ");
	for (size_t i = 0; i < ARRAY_SIZE(perf_units); i++) {
		if (strncmp(end, perf_units[i].words, strlen(perf_units[i].words)) != 0)
			continue;
		snprintf(metric, sizeof(metric), "%s.%s", name, perf_units[i].metric);
		return results_add(file, metric, perf_units[i].better, number);
	}
	return 0;
}

static int read_perf_bench(struct results_file *file)
{
	char name[100] = "";
	int ret = 0;

	for (size_t i = 0; i < file->n_lines && !ret; i++) {
		const char *line = file->lines[i], *at;
		double groups;

		if (is_perf_bench(line)) {
			name_of(line, name, sizeof(name) / 2);
		} else if ((at = results_after(line, "# ")) && *name) {
			/* "# 2 groups == 80 processes run" */
			const char *groups_at = results_number(at, &groups, &at) ?
						results_after(at, "groups == ") : NULL;
			size_t n = strlen(name);

			if (groups_at) {
				snprintf(name + n, sizeof(name) - n, ".groups%.0f", groups);
				ret = results_fact(file, COMPARE_SETTINGS, name, groups_at);
			}
		} else if (*name) {
			ret = add_perf_line(file, name, line);
		}
	}
	return ret;
}

const struct results_format results_perf_bench = {
	.name = "perf bench", .expected = "its output, not --format=simple",
	.fits_line = is_perf_bench, .read = read_perf_bench,
};

/* --- schbench -------------------------------------------------------------------------------- */

/** Numbers of a report. Earlier reports of the same run are replaced by later ones. */
struct report {
	struct {
		char	metric[80];
		enum compare_better better;
		double	value;
	}	all[64];
	size_t	n;
};

/** Sections: "Wakeup Latencies percentiles (usec) ...", of older releases "Latency percentiles". */
static const struct section {
	const char	*title, *metric, *unit;
	enum compare_better better;
} sections[] = {
	{ "Wakeup Latencies percentiles (usec)", "wakeup_latency", "_us", COMPARE_LOWER },
	{ "Request Latencies percentiles (usec)", "request_latency", "_us", COMPARE_LOWER },
	{ "RPS percentiles (requests)", "rps", "", COMPARE_HIGHER },
	{ "Latency percentiles (usec)", "latency", "_us", COMPARE_LOWER },
};

static const struct section *section_of(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (results_after(line, sections[i].title))
			return &sections[i];
	return NULL;
}

static bool is_schbench(const char *line)
{
	return section_of(line);
}

static void set_value(struct report *report, const char *metric, enum compare_better better,
		      double value)
{
	size_t i = 0;

	while (i < report->n && strcmp(report->all[i].metric, metric) != 0)
		i++;
	if (i == ARRAY_SIZE(report->all))
		return;
	snprintf(report->all[i].metric, sizeof(report->all[i].metric), "%s", metric);
	report->all[i].better = better;
	report->all[i].value = value;
	report->n += i == report->n;
}

/** "	* 99.0th: 25504      (22 samples)", or "min=3, max=40148" */
static void take_percentile(struct report *report, const struct section *section, const char *line)
{
	const char *at = results_after(line, "*"), *end, *max = strstr(line, "max=");
	char metric[80];
	double percentile, value;

	at = at ? at : line;
	if (results_number(at, &percentile, &end) && !strncmp(end, "th:", 3) &&
	    results_number(end + 3, &value, NULL)) {
		snprintf(metric, sizeof(metric), "schbench.%s_p%.6g%s", section->metric, percentile,
			 section->unit);
		set_value(report, metric, section->better, value);
	} else if (results_after(line, "min=") && max && results_number(max + 4, &value, NULL)) {
		snprintf(metric, sizeof(metric), "schbench.%s_max%s", section->metric,
			 section->unit);
		set_value(report, metric, section->better, value);
	}
}

static int end_report(struct results_file *file, struct report *report)
{
	int ret = 0;

	for (size_t i = 0; i < report->n && !ret; i++)
		ret = results_add(file, report->all[i].metric, report->all[i].better,
				  report->all[i].value);
	report->n = 0;
	return ret;
}

static int read_schbench(struct results_file *file)
{
	const struct section *section = NULL;
	struct report report = { .n = 0 };
	int ret = 0;

	for (size_t i = 0; i < file->n_lines && !ret; i++) {
		const char *line = file->lines[i], *at;
		double rps;

		if (section_of(line)) {
			section = section_of(line);
		} else if ((at = results_after(line, "average rps:")) &&
			   results_number(at, &rps, NULL)) {
			/* only the last report of a run has that */
			set_value(&report, "schbench.average_rps", COMPARE_HIGHER, rps);
			ret = end_report(file, &report);
			section = NULL;
		} else if (section) {
			take_percentile(&report, section, line);
		}
	}
	return ret ? ret : end_report(file, &report);
}

const struct results_format results_schbench = {
	.name = "schbench", .expected = "its output", .fits_line = is_schbench,
	.read = read_schbench,
};
