// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_compare.c
 * @brief	kshark-virt compare: the same metrics of several runs, side by side.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "compare_trace.h"
#include "model_files.h"
#include "model_guests.h"
#include "results.h"
#include "terminal.h"
#include "trace_args.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_LATEX, N_FORMATS };

static const char *const format_names[] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_JSON] = "json",
	[FORMAT_CSV] = "csv",
	[FORMAT_LATEX] = "latex",
	NULL
};

static void (*const writers[N_FORMATS])(struct output *out, const struct compare *compare,
					const struct compare_options *options) = {
	[FORMAT_TEXT] = compare_text,
	[FORMAT_JSON] = compare_json,
	[FORMAT_CSV] = compare_csv,
	[FORMAT_LATEX] = compare_latex,
};

#define MAX_WINDOWS	10000
#define MAX_LIST	64
#define MAX_NAMED	12

struct job {
	const struct ksv_command *command;
	int			format;		/* enum format */
	bool			quiet;
	const char		*output, *plot, *baseline;
	const char		*values[MAX_LIST], *results[MAX_LIST];
	int			n_values, n_results;
	char			*metrics, *runs;	/* lists, to be freed */
	char			*run_columns, *metric_columns, *value_columns;
	char			*better[COMPARE_HIGHER + 1];
	const char		*metric[MAX_LIST + 2], *run[MAX_LIST];
	int			n_metrics, n_runs;
	struct compare_csv_columns columns;		/* of tables */
	struct judged {					/* by COMPARE_LOWER, COMPARE_HIGHER */
		const char	*patterns[MAX_LIST];
		int		n;
	}			judged[COMPARE_HIGHER + 1];
	struct compare_trace_options what;	/* of traces */
	struct host_options trace;
	struct compare_options	options;
	struct compare		compare;
	struct trace_args	traces;		/* one per argument */
};

/* --- the command line ------------------------------------------------------------------------ */

/** Split a list at its commas. @copy: receives what the items point to. */
static int set_list(struct job *job, const char *option, const char *value, char **copy,
		    const char **items, int *n)
{
	char *at;

	free(*copy);
	*n = 0;
	*copy = at = strdup(value);
	if (!at) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	for (;;) {
		char *comma = strchr(at, ',');

		if (comma)
			*comma = '\0';
		if (!*at)
			return ksv_usage_error(job->command, "--%s %s: an item is empty", option,
					       value);
		if (*n == MAX_LIST)
			return ksv_usage_error(job->command, "--%s: more than %d items", option,
					       MAX_LIST);
		items[(*n)++] = at;
		if (!comma)
			return 0;
		at = comma + 1;
	}
}

static int take_metrics(const struct ksv_command *command, const struct ksv_option *option,
			const char *value, void *target)
{
	struct job *job = target;

	(void)command;
	return set_list(job, option->name, value, &job->metrics, job->metric, &job->n_metrics);
}

static int take_runs(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target)
{
	struct job *job = target;

	(void)command;
	return set_list(job, option->name, value, &job->runs, job->run, &job->n_runs);
}

static int take_run_columns(const struct ksv_command *command, const struct ksv_option *option,
			    const char *value, void *target)
{
	struct job *job = target;
	struct compare_csv_names *names = &job->columns.runs;

	(void)command;
	return set_list(job, option->name, value, &job->run_columns, names->names, &names->n);
}

static int take_metric_columns(const struct ksv_command *command, const struct ksv_option *option,
			       const char *value, void *target)
{
	struct job *job = target;
	struct compare_csv_names *names = &job->columns.metrics;

	(void)command;
	return set_list(job, option->name, value, &job->metric_columns, names->names, &names->n);
}

static int take_value_columns(const struct ksv_command *command, const struct ksv_option *option,
			      const char *value, void *target)
{
	struct job *job = target;
	struct compare_csv_names *names = &job->columns.values;

	(void)command;
	return set_list(job, option->name, value, &job->value_columns, names->names, &names->n);
}

static int take_better(struct job *job, const char *option, const char *value,
		       enum compare_better better)
{
	struct judged *judged = &job->judged[better];

	return set_list(job, option, value, &job->better[better], judged->patterns, &judged->n);
}

static int take_higher(const struct ksv_command *command, const struct ksv_option *option,
		       const char *value, void *target)
{
	(void)command;
	return take_better(target, option->name, value, COMPARE_HIGHER);
}

static int take_lower(const struct ksv_command *command, const struct ksv_option *option,
		      const char *value, void *target)
{
	(void)command;
	return take_better(target, option->name, value, COMPARE_LOWER);
}

/** Return: KSV_EXIT_USAGE, after a message with all that there are. */
static int no_statistic(const struct ksv_command *command, const char *name)
{
	char all[128] = "";

	for (int kind = 0; kind < STATS_N; kind++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			 !kind ? "" : kind + 1 < STATS_N ? ", " : " or ", stats_name(kind));
	return ksv_usage_error(command, "--statistic %s: not %s", name, all);
}

static int take_statistics(const struct ksv_command *command, const struct ksv_option *option,
			   const char *value, void *target)
{
	struct job *job = target;
	const char *items[MAX_LIST];
	char *copy = NULL;
	int n, ret = set_list(job, option->name, value, &copy, items, &n);

	memset(job->options.kinds, 0, sizeof(job->options.kinds));
	for (int i = 0; i < n && !ret; i++) {
		int kind = 0;

		while (kind < STATS_N && strcmp(stats_name(kind), items[i]) != 0)
			kind++;
		if (kind == STATS_N)
			ret = no_statistic(command, items[i]);
		else
			job->options.kinds[kind] = true;
	}
	free(copy);
	return ret;
}

/** @option: its name is for messages */
static int take_whole(const struct ksv_command *command, const struct ksv_option *option,
		      const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (text[strspn(text, "0123456789")] || end == text || errno || *value < min ||
	    *value > max)
		return ksv_usage_error(command, "--%s %s: not a whole number from %llu to %llu",
				       option->name, text, (unsigned long long)min,
				       (unsigned long long)max);
	return 0;
}

static int take_resamples(const struct ksv_command *command, const struct ksv_option *option,
			  const char *text, void *target)
{
	uint64_t n = 0;
	int status = take_whole(command, option, text, 100, STATS_MAX_RESAMPLES, &n);

	*(size_t *)target = (size_t)n;
	return status;
}

static int take_windows(const struct ksv_command *command, const struct ksv_option *option,
			const char *text, void *target)
{
	uint64_t n = 0;
	int status = take_whole(command, option, text, 1, MAX_WINDOWS, &n);

	*(int *)target = (int)n;
	return status;
}

static int take_seed(const struct ksv_command *command, const struct ksv_option *option,
		     const char *text, void *target)
{
	return take_whole(command, option, text, 0, UINT64_MAX, target);
}

static int take_confidence(const struct ksv_command *command, const struct ksv_option *option,
			   const char *text, void *target)
{
	char *end;
	double value = strtod(text, &end);

	(void)option;
	if (end == text || *end || !(value >= 50 && value <= 99.9))
		return ksv_usage_error(command, "--confidence %s: not a number from 50 to 99.9",
				       text);
	*(double *)target = value / 100;
	return 0;
}

static int take_values(const struct ksv_command *command, const struct ksv_option *option,
		       const char *path, void *target)
{
	struct job *job = target;

	(void)option;
	if (job->n_values == MAX_LIST)
		return ksv_usage_error(command, "--values: more than %d files", MAX_LIST);
	job->values[job->n_values++] = path;
	return 0;
}

static int take_results(const struct ksv_command *command, const struct ksv_option *option,
			const char *path, void *target)
{
	struct job *job = target;

	(void)option;
	if (job->n_results == MAX_LIST)
		return ksv_usage_error(command, "--results: more than %d files or folders",
				       MAX_LIST);
	job->results[job->n_results++] = path;
	return 0;
}

static const char *statistic_word(size_t i)
{
	return i < STATS_N ? stats_name((int)i) : NULL;
}

static const struct ksv_words compare_words[] = {
	{ .option = "statistic", .word = statistic_word, .in_help = true }, { 0 }
};

#define OPTIONS	struct job

static const struct ksv_option compare_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default), json, csv or latex"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	{ 0, "values", "FILE", "results of benchmarks: CSV with run,metric,value, or\n"
	  "with run and then a column per metric; - is standard\n"
	  "input; may be repeated", take_values, 0, NULL },
	{ 0, "results", "FILE", "results as a benchmark wrote them: a file, or all\n"
	  "files below a folder; each folder in it is a run;\n"
	  "RUN=PATH names it; may be repeated", take_results, 0, NULL },
	{ 0, "run-column", "LIST", "of tables: the column with the run; of several, a run\n"
	  "for each combination", take_run_columns, 0, NULL },
	{ 0, "metric-column", "LIST", "of tables: the column with the metric; of several, a\n"
	  "metric for each combination", take_metric_columns, 0, NULL },
	{ 0, "value-column", "LIST", "of tables: the columns with values; each is a metric",
	  take_value_columns, 0, NULL },
	{ 0, "higher-is-better", "LIST", "of these metrics; known for --results of benchmarks",
	  take_higher, 0, NULL },
	{ 0, "lower-is-better", "LIST", "of these metrics", take_lower, 0, NULL },
	{ 0, "metric", "LIST", "only these metrics; * and ? stand for parts of a name",
	  take_metrics, 0, NULL },
	{ 0, "baseline", "RUN", "compare the others with this run; default: the first",
	  ksv_take_text, offsetof(OPTIONS, baseline), NULL },
	{ 0, "runs", "LIST", "only these runs, in this order", take_runs, 0, NULL },
	{ 0, "statistic", "LIST", "\n(default: all); the first one of them is judged",
	  take_statistics, 0, NULL },
	{ 0, "percentiles", "HOW", "nearest (default): a value that occurs; linear:\n"
	  "between two values", ksv_take_choice, offsetof(OPTIONS, options.percentile),
	  compare_percentiles },
	{ 0, "confidence", "PERCENT", "confidence of the intervals, default 95",
	  take_confidence, offsetof(OPTIONS, options.confidence), NULL },
	{ 0, "joint", NULL, "apply the confidence to all differences together",
	  ksv_take_flag, offsetof(OPTIONS, options.joint), NULL },
	{ 0, "resamples", "N", "how often values are divided again, default 2000;\n"
	  "fewer, but at least 320, if it would take long",
	  take_resamples, offsetof(OPTIONS, options.resamples), NULL },
	{ 0, "seed", "N", "seed of the random numbers for that, default 1",
	  take_seed, offsetof(OPTIONS, options.seed), NULL },
	{ 0, "windows", "N", "measure rates of a trace in N parts of it, default 10",
	  take_windows, offsetof(OPTIONS, what.windows), NULL },
	{ 0, "exits", NULL, "also: what VM exits of a trace were for, their numbers\n"
	  "and costs", ksv_take_flag, offsetof(OPTIONS, what.exits), NULL },
	{ 0, "boot", NULL, "instead: phases and levels of guests' boots, from\n"
	  "hypercalls or their own traces", ksv_take_flag,
	  offsetof(OPTIONS, what.boot), NULL },
	{ 0, "hypertrace", "DIALECT", "with --boot: the dialect of the hypercalls, or a file\n"
	  "with your own", model_take_dialect, offsetof(OPTIONS, what.dialect), NULL },
	{ 0, "record-cost", "METRIC", "also: the cost of a record, from the time of fixed\n"
	  "work and the traces of the same runs",
	  ksv_take_text, offsetof(OPTIONS, options.record_cost), NULL },
	{ 0, "plot", "FILE", "draw bars with intervals: FILE.svg, .png or .pdf",
	  compare_take_plot, offsetof(OPTIONS, plot), NULL },
	{ 0, "panels", "HOW", "of the plot: one (default); part: a panel for each\n"
	  "machine or benchmark; metric: for each metric",
	  ksv_take_choice, offsetof(OPTIONS, options.panels), compare_panels },
	{ 0, "title", "TEXT", "a title above the plot",
	  ksv_take_text, offsetof(OPTIONS, options.title), NULL },
	KSV_OPTION_VCPUS(OPTIONS, what.vcpus, "of traces: only these vCPUs, e.g. d1v0,web"),
	KSV_OPTION_FROM(OPTIONS, what.from, "of each trace: " KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, what.to, "up to this time, which is not included"),
	KSV_OPTION_CPU_HZ(OPTIONS, trace.cpu_hz),
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.max_input),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about the traces"),
};

/* --- what is compared ------------------------------------------------------------------------ */

static int read_values(struct job *job, const char *path)
{
	bool standard = !strcmp(path, "-");
	FILE *in = standard ? stdin : fopen(path, "r");
	char error[512] = "";
	int ret;

	if (!in) {
		ksv_error("%s: cannot read: %s", path, strerror(errno));
		return KSV_EXIT_FILE;
	}
	ret = compare_csv_read(&job->compare, in, &job->columns, -1,
			       standard ? "standard input" : path, error, sizeof(error));
	if (!standard)
		fclose(in);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s", ret == -ENOMEM ? "not enough memory" : error);
	return KSV_EXIT_FILE;
}

/**
 * An argument is FILE, or RUN=FILE for a run that is called otherwise or has several traces. A file
 * that exists under the whole name is meant as such.
 *
 * Return: FILE.
 */
static const char *file_of(const char *arg)
{
	const char *equal = strchr(arg, '=');

	return equal && equal > arg && access(arg, F_OK) != 0 ? equal + 1 : arg;
}

/** Which formats were recognised, and what was not. */
static void note_found(const char *path, const struct results_found *found)
{
	char text[400] = "";
	size_t n = 0;

	for (size_t i = 0; results_format_name(i) && n < sizeof(text); i++)
		if (found->formats[i])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s (%zu file%s)",
					      n ? ", " : "", results_format_name(i),
					      found->formats[i], found->formats[i] == 1 ? "" : "s");
	ksv_note("%s: %s", path, text);
	if (found->skipped)
		ksv_note("%s: %zu other file%s not read, such as %s", path, found->skipped,
			 found->skipped == 1 ? " was" : "s were",
			 found->skipped_name ? found->skipped_name : "?");
}

static int read_results(struct job *job, const char *arg)
{
	const char *path = file_of(arg);
	char *run = path > arg ? strndup(arg, (size_t)(path - arg) - 1) : NULL;
	struct results_found found = { .files = 0 };
	char error[2048] = "";
	int ret = path > arg && !run ? -ENOMEM :
		  results_read(&job->compare, path, run, &job->columns, &found, error,
			       sizeof(error));

	if (ret)
		ksv_error("%s", *error ? error : "not enough memory");
	else if (!job->quiet)
		note_found(path, &found);
	free(found.skipped_name);
	free(run);
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/** @load: path and open traces of the trace that the argument means */
static int read_trace(struct job *job, const char *arg, struct model_load load)
{
	const char *file = file_of(arg);
	char *name = file > arg ? strndup(arg, (size_t)(file - arg) - 1) : strdup(arg);
	int run = name ? compare_run(&job->compare, name) : -ENOMEM;

	free(name);
	load.options = job->trace;
	load.quiet = job->quiet;
	load.command = job->command;
	if (run < 0) {
		kvm_trace_close(load.kvm);
		ksv_error("%s: %s", arg, run == -ENOSPC ? "too many runs" : "not enough memory");
		return KSV_EXIT_FILE;
	}
	return compare_trace(&job->compare, run, &load, &job->what);
}

static int find_run(struct job *job, const char *option, const char *name)
{
	const char *names[COMPARE_MAX_RUNS + 1] = { NULL };
	const char *near;
	int run = compare_find_run(&job->compare, name);

	if (run >= 0)
		return run;
	memcpy(names, job->compare.runs, job->compare.n_runs * sizeof(*names));
	near = ksv_suggest(name, names);
	ksv_usage_error(job->command, "--%s %s: there is no such run%s%s%s", option, name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return -1;
}

/** Put the runs in their order: the baseline first. */
static int choose_runs(struct job *job)
{
	int order[COMPARE_MAX_RUNS], n = 0, baseline = -1;

	if (job->baseline) {
		baseline = find_run(job, "baseline", job->baseline);
		if (baseline < 0)
			return KSV_EXIT_USAGE;
		order[n++] = baseline;
	}
	for (int i = 0; i < (job->n_runs ? job->n_runs : job->compare.n_runs); i++) {
		int run = job->n_runs ? find_run(job, "runs", job->run[i]) : i;
		bool again = false;

		if (run < 0)
			return KSV_EXIT_USAGE;
		for (int j = 0; j < n; j++)
			again |= order[j] == run;
		if (!again)
			order[n++] = run;
	}
	compare_keep_runs(&job->compare, order, n);
	return KSV_EXIT_OK;
}

static int no_metric(const struct job *job)
{
	char known[512] = "";
	size_t n = 0;

	for (int i = 0; i < job->compare.n_metrics && i < MAX_NAMED && n < sizeof(known); i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i ? ", " : "",
				      job->compare.metrics[i]->name);
	return ksv_usage_error(job->command, "--metric: no metric matches; the metrics are %s%s",
			       known, job->compare.n_metrics > MAX_NAMED ? ", ..." : "");
}

static int choose_metrics(struct job *job)
{
	struct compare *compare = &job->compare;
	bool found = false;

	for (int i = 0; i < compare->n_metrics && job->n_metrics; i++)
		found |= compare_fits(compare->metrics[i]->name, job->metric, job->n_metrics);
	if (job->n_metrics && !found)
		return no_metric(job);
	/* what finding the cost of a record takes stays, too */
	if (job->n_metrics && job->options.record_cost) {
		job->metric[job->n_metrics++] = job->options.record_cost;
		job->metric[job->n_metrics++] = COMPARE_RECORD_RATE;
	}
	if (job->n_metrics)
		compare_keep_metrics(compare, job->metric, job->n_metrics);
	/* who asks for one alone wants to see its zeros */
	if (!job->n_metrics || compare->n_metrics > 1)
		compare_drop_zeros(compare, job->n_metrics);
	job->options.asked = job->n_metrics;
	return KSV_EXIT_OK;
}

/** Traces of guests add boots to the runs of their hosts, and are no runs themselves. */
static int read_boots(struct job *job, char **names, int n)
{
	struct model_files files = {
		.args = &job->traces, .cpu_hz = job->trace.cpu_hz, .quiet = job->quiet,
	};
	int status = model_files_open(&files);

	for (int i = 0; i < n && !status; i++) {
		struct model_load load = {
			.path = files.paths[i], .before = &files.notes, .files = &files,
		};

		if (!model_files_is_host(&files, i))
			continue;
		load.guests = model_files_guests(&files, i, &load.n_guests);
		load.kvm = model_files_take(&files, i);
		status = read_trace(job, names[i], load);
	}
	model_files_close(&files);
	return status;
}

static int read_traces(struct job *job, char **names, int n)
{
	int status = KSV_EXIT_OK;

	if (job->what.boot)
		return read_boots(job, names, n);
	for (int i = 0; i < n && !status; i++) {
		const struct model_load load = {
			.path = job->traces.items[i].path, .before = &job->traces.notes,
		};

		status = read_trace(job, names[i], load);
	}
	return status;
}

static int read_all(struct job *job, char **files, int n)
{
	/* the baseline of the command line comes first, also of those that are in a table */
	int status = read_traces(job, files, n);

	for (int i = 0; i < job->n_values && !status; i++)
		status = read_values(job, job->values[i]);
	for (int i = 0; i < job->n_results && !status; i++)
		status = read_results(job, job->results[i]);
	for (int better = COMPARE_LOWER; better <= COMPARE_HIGHER; better++)
		compare_judge(&job->compare, job->judged[better].patterns, job->judged[better].n,
			      (enum compare_better)better);
	if (job->n_results && !job->quiet)
		trace_notes_print(&job->compare.notes, stderr);
	if (!status && compare_fill_absent(&job->compare)) {
		ksv_error("not enough memory");
		status = KSV_EXIT_FILE;
	}
	if (!status)
		status = choose_runs(job);
	if (!status)
		status = choose_metrics(job);
	return status;
}

/** Find out how many resamples there will be. */
static int plan(struct job *job)
{
	bool said = job->options.resamples;

	if (compare_plan(&job->compare, &job->options))
		return ksv_usage_error(job->command, "%zu differences%s of these values take too "
				       "long: select some with --metric, --runs or --statistic, or "
				       "give --resamples", job->compare.n_judged,
				       job->options.joint ? " to be sure of together" : "");
	if (!said && job->options.resamples < COMPARE_RESAMPLES && !job->quiet)
		ksv_note("note: values are divided again %zu times instead of %d, because there "
			 "are %zu differences: see --resamples", job->options.resamples,
			 COMPARE_RESAMPLES, job->compare.n_judged);
	return KSV_EXIT_OK;
}

static int write_all(struct job *job)
{
	static struct output out;
	int status = plan(job);

	if (status)
		return status;
	if (compare_evaluate(&job->compare, &job->options)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	if (job->plot) {
		status = compare_plot(job->plot, &job->compare, &job->options);
		if (status)
			return status;
	}
	if (job->plot && job->output && ksv_same_file(job->plot, job->output))
		return ksv_usage_error(job->command, "--output %s: is the plot", job->output);
	status = out_open_text(&out, job->output, writers[job->format] == compare_text ?
			       OUT_PAGES : OUT_PROGRAM);
	if (status)
		return status;
	writers[job->format](&out, &job->compare, &job->options);
	return out_close(&out, compare_status(&job->compare, &job->options));
}

/** Find the traces. Writing over what is compared would destroy it. */
static int find_inputs(struct job *job, char **files, int n)
{
	int status = KSV_EXIT_OK;

	job->traces = (struct trace_args){ .host_only = true, .quiet = job->quiet };
	for (int i = 0; i < n && !status; i++)
		status = trace_args_add(&job->traces, file_of(files[i]));
	if (!status)
		status = trace_args_check_output(&job->traces, job->command, "output",
						 job->output);
	if (!status && job->plot)
		status = trace_args_check_output(&job->traces, job->command, "plot", job->plot);
	for (int i = 0; i < job->n_values && !status; i++) {
		status = ksv_check_output(job->command, "output", job->output, job->values[i]);
		if (!status && job->plot)
			status = ksv_check_output(job->command, "plot", job->plot, job->values[i]);
	}
	for (int i = 0; i < job->n_results && !status; i++) {
		const char *path = file_of(job->results[i]);

		status = ksv_check_output(job->command, "output", job->output, path);
		if (!status && job->plot)
			status = ksv_check_output(job->command, "plot", job->plot, path);
	}
	return status;
}

/** Options that need others, or exclude them. */
static int check_columns(const struct job *job)
{
	const struct compare_csv_columns *columns = &job->columns;
	const struct judged *lower = &job->judged[COMPARE_LOWER];
	const struct judged *higher = &job->judged[COMPARE_HIGHER];

	if (!columns->values.n && (columns->runs.n || columns->metrics.n))
		return ksv_usage_error(job->command, "--run-column and --metric-column require "
				       "--value-column");
	if (columns->values.n && !job->n_values && !job->n_results)
		return ksv_usage_error(job->command, "--value-column requires --values or "
				       "--results");
	for (int i = 0; i < lower->n; i++)
		for (int j = 0; j < higher->n; j++)
			if (!strcmp(lower->patterns[i], higher->patterns[j]))
				return ksv_usage_error(job->command, "--lower-is-better and "
						       "--higher-is-better both have %s",
						       lower->patterns[i]);
	return KSV_EXIT_OK;
}

static int run_job(struct job *job, char **files, int n)
{
	int status = find_inputs(job, files, n);

	if (!status && job->what.dialect && !job->what.boot)
		status = ksv_usage_error(job->command, "--hypertrace requires --boot");
	if (!status && (!n || job->what.boot) &&
	    (ksv_vcpus_given(&job->what.vcpus) || job->what.from.kind || job->what.to.kind))
		status = ksv_usage_error(job->command, "--vcpu, --from and --to are of traces, and "
					 "exclude --boot");
	if (!status && job->what.exits && (!n || job->what.boot))
		status = ksv_usage_error(job->command, "--exits is of traces, and excludes "
					 "--boot");
	if (!status)
		status = check_columns(job);
	job->what.metrics = job->metric;
	job->what.n_metrics = job->n_metrics;
	if (!status && !n && !job->n_values && !job->n_results)
		status = ksv_usage_error(job->command, "no files: give traces, --values or "
					 "--results");
	if (!status)
		status = read_all(job, files, n);
	if (!status && job->compare.n_runs < 2)
		status = ksv_usage_error(job->command, "only one run, %s: give another one to "
					 "compare it with", job->compare.runs[0]);
	if (!status && !job->compare.n_metrics) {
		ksv_error("there are no values to compare");
		status = KSV_EXIT_FILE;
	}
	return status ? status : write_all(job);
}

static int run_compare(const struct ksv_command *command, int argc, char **argv)
{
	struct job *job = calloc(1, sizeof(*job));
	char error[512] = "";
	int first, status;

	if (!job) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	job->command = command;
	job->what.windows = 10;
	job->options = (struct compare_options){ .confidence = 0.95, .seed = 1 };
	memset(job->options.kinds, true, sizeof(job->options.kinds));
	compare_init(&job->compare);
	if (host_options_from_env(&job->trace, error, sizeof(error))) {
		status = ksv_usage_error(command, "%s", error);
		goto end;
	}
	status = ksv_parse(command, argc, argv, job, &first);
	if (status >= 0)
		goto end;
	status = run_job(job, argv + first, argc - first);
end:
	compare_free(&job->compare);
	trace_args_free(&job->traces);
	ksv_vcpus_free(&job->what.vcpus);
	free(job->metrics);
	free(job->runs);
	free(job->run_columns);
	free(job->metric_columns);
	free(job->value_columns);
	free(job->better[COMPARE_LOWER]);
	free(job->better[COMPARE_HIGHER]);
	free(job);
	return status;
}

const struct ksv_command cmd_compare = {
	.name = "compare",
	.args = "[OPTION...] [--values FILE] [--results [RUN=]FILE] [RUN=]BASELINE [RUN=]FILE...",
	.summary = "Compare runs: metrics of traces, results of benchmarks",
	.notes = "Without --values or --results, give traces; with them, they are optional.\n"
		 "--results reads cyclictest, hackbench, perf bench, schbench, sysbench,\n"
		 "UnixBench, fio and hyperfine (JSON), perf stat -x, tables of MMTests, and CSV.\n"
		 "RUN=FILE names\n"
		 "the run that a trace belongs to; several traces may belong to one. The folder\n"
		 "of a recording is the trace of its host.\n"
		 "Exit status 1: something differs from the baseline by more than noise;\n"
		 "4: there are too few values to decide.\n",
	.options = compare_option_table,
	.words = compare_words,
	.n_options = ARRAY_SIZE(compare_option_table),
	.prints_text = true,
	.run = run_compare,
};
