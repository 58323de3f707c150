// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_study.c
 * @brief	kshark-virt study: measure what tracing costs on this host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record_tracing.h"
#include "study.h"
#include "table.h"

#define MAX_SECONDS	(7 * 24 * 3600)
/** Seeds of ours are short enough to type. */
#define SEED_MASK	0xffffffu

struct study_options {
	const char	*output, *configs, *events, *where, *benchmark_format, *metric;
	const char	*plot, *plot_time;
	size_t		rounds, max_rounds, warm_up, precision, seed;
	bool		has_warm_up, has_seed;
	struct ksv_time	max_time;
	uint64_t	buffer;
	const char	*guests[STUDY_MAX_GUESTS];
	int		n_guests;
	int		format;
	bool		resume, quiet;
	char		**command;	/* ends with NULL; NULL: none */
};
#define OPTIONS	struct study_options

/* --- the command line ------------------------------------------------------------------------ */

static int take_guest(const struct ksv_command *command, const struct ksv_option *option,
		      const char *value, void *target)
{
	struct study_options *options = target;

	if (options->n_guests == STUDY_MAX_GUESTS)
		return ksv_usage_error(command, "--%s: more than %d", option->name,
				       STUDY_MAX_GUESTS);
	options->guests[options->n_guests++] = value;
	return 0;
}

static int take_rounds(const struct ksv_command *command, const struct ksv_option *option,
		       const char *value, void *target)
{
	return ksv_take_number(command, option, value, 1, STUDY_MAX_ROUNDS, target);
}

static int take_precision(const struct ksv_command *command, const struct ksv_option *option,
			  const char *value, void *target)
{
	return ksv_take_number(command, option, value, 1, 1000, target);
}

static int take_warm_up(const struct ksv_command *command, const struct ksv_option *option,
			const char *value, void *target)
{
	struct study_options *options = target;

	options->has_warm_up = true;
	return ksv_take_number(command, option, value, 0, 100, &options->warm_up);
}

static int take_seed(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target)
{
	struct study_options *options = target;

	options->has_seed = true;
	return ksv_take_number(command, option, value, 0, INT64_MAX, &options->seed);
}

static int take_max_time(const struct ksv_command *command, const struct ksv_option *option,
			 const char *value, void *target)
{
	const struct ksv_time *time = target;
	int status = ksv_take_time(command, option, value, target);

	if (!status && (time->kind != KSV_TIME_NS || time->ns < 1000000000 ||
			time->ns > MAX_SECONDS * INT64_C(1000000000)))
		return ksv_usage_error(command, "--%s %s: not a time from 1s to 168h",
				       option->name, value);
	return status;
}

static const char *const format_names[] = {
	[TABLE_TEXT] = "text", [TABLE_JSON] = "json", [TABLE_CSV] = "csv",
	[TABLE_HTML] = "latex", NULL
};

/** Formats of the command have no gap where tables have HTML. */
static int table_format_of(int format)
{
	return format == TABLE_HTML ? TABLE_LATEX : format;
}

static const char *tracing_word(size_t i)
{
	return study_tracing_names[i];
}

static const struct ksv_words study_words[] = {
	{ .option = "config", .word = tracing_word, .suffix = "" },
	{ .option = NULL },
};

static const struct ksv_option study_option_table[] = {
	{ 'o', "output", "FOLDER", "create FOLDER, and keep all there",
	  ksv_take_text, offsetof(OPTIONS, output), NULL },
	{ 'c', "config", "LIST", "how to trace: none, events, all, function; in guests:\n"
	  "events@guest; in both: events@both; the first is the\nbaseline (default none,events)",
	  ksv_take_text, offsetof(OPTIONS, configs), NULL },
	{ 'e', "events", "LIST", "what 'events' means (default kvm,sched,irq)",
	  ksv_take_text, offsetof(OPTIONS, events), NULL },
	{ 'g', "guest", "NAME=ssh:USER@HOST", "a guest; may be repeated", take_guest, 0, NULL },
	{ 0, "in", "NAME", "run COMMAND in this guest instead of on the host",
	  ksv_take_text, offsetof(OPTIONS, where), NULL },
	{ 0, "results", "FORMAT", "what COMMAND prints, such as hackbench, or time: its\n"
	  "duration alone counts (default: as recognised, else time)",
	  ksv_take_text, offsetof(OPTIONS, benchmark_format), NULL },
	{ 0, "metric", "PATTERN", "the metric that decides about more rounds",
	  ksv_take_text, offsetof(OPTIONS, metric), NULL },
	{ 'r', "rounds", "N", "at least N rounds (default 6)", take_rounds,
	  offsetof(OPTIONS, rounds), NULL },
	{ 0, "max-rounds", "N", "at most N rounds (default 20)", take_rounds,
	  offsetof(OPTIONS, max_rounds), NULL },
	{ 0, "precision", "PERCENT", "no more rounds if half of each interval is narrower\n"
	  "(default 5)", take_precision, offsetof(OPTIONS, precision), NULL },
	{ 0, "max-time", "TIME", "begin no round that would end later (default 1h)",
	  take_max_time, offsetof(OPTIONS, max_time), NULL },
	{ 0, "warm-up", "N", "runs before the first round, without tracing (default 1)",
	  take_warm_up, 0, NULL },
	{ 0, "seed", "N", "of the random order (default: a new one each time)", take_seed, 0,
	  NULL },
	{ 'b', "buffer", "SIZE", "kernel buffer for each CPU (default 8M)", ksv_take_size,
	  offsetof(OPTIONS, buffer), NULL },
	{ 0, "resume", NULL, "go on with the study in FOLDER that was interrupted",
	  ksv_take_flag, offsetof(OPTIONS, resume), NULL },
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default), json, csv or latex"),
	{ 0, "plot", "FILE", "draw costs as bars: FILE.svg, .png or .pdf", compare_take_plot,
	  offsetof(OPTIONS, plot), NULL },
	{ 0, "plot-time", "FILE", "draw CPU and memory over the time of a run", compare_take_plot,
	  offsetof(OPTIONS, plot_time), NULL },
	KSV_OPTION_QUIET(OPTIONS, quiet, "no line for each run"),
};

/* --- the plan -------------------------------------------------------------------------------- */

static int add_configs(struct study_plan *plan, const char *list, char *error, size_t size)
{
	int ret = 0;

	while (!ret) {
		size_t n = strcspn(list, ",");
		char *word = strndup(list, n);

		ret = word ? study_plan_add_config(plan, word, error, size) : -ENOMEM;
		free(word);
		if (!list[n])
			break;
		list += n + 1;
	}
	return ret;
}

static int plan_from_options(struct study_plan *plan, const struct study_options *options,
			     char *error, size_t size)
{
	int ret = add_configs(plan, options->configs ? options->configs : "none,events", error,
			      size);

	for (int i = 0; !ret && i < options->n_guests; i++)
		ret = study_plan_add_guest(plan, options->guests[i], error, size);
	if (!ret)
		ret = study_plan_add_command(plan, options->command, options->where,
					     options->benchmark_format, options->metric, error,
					     size);
	if (!ret && options->events && !(plan->events = strdup(options->events)))
		ret = -ENOMEM;
	return ret;
}

/** Numbers of the command line go before those of a plan. */
static void apply_numbers(struct study_plan *plan, const struct study_options *options)
{
	if (options->rounds)
		plan->rounds = options->rounds;
	if (options->max_rounds)
		plan->max_rounds = options->max_rounds;
	else if (plan->max_rounds < plan->rounds)
		plan->max_rounds = plan->rounds;
	if (options->precision)
		plan->precision = options->precision;
	if (options->has_warm_up)
		plan->warm_up = options->warm_up;
	if (options->max_time.kind)
		plan->max_seconds = (size_t)(options->max_time.ns / 1000000000);
	if (options->buffer)
		plan->buffer = options->buffer;
	if (options->has_seed)
		plan->seed = options->seed;
	while (!plan->seed)
		if (getrandom(&plan->seed, sizeof(plan->seed), 0) == sizeof(plan->seed))
			plan->seed &= SEED_MASK;
}

static int make_plan(struct study *study, const struct study_options *options, const char *file)
{
	char error[2048] = "";
	int ret = file ? study_plan_read(&study->plan, file, error, sizeof(error)) :
		  plan_from_options(&study->plan, options, error, sizeof(error));

	if (!ret) {
		apply_numbers(&study->plan, options);
		ret = study_plan_check(&study->plan, error, sizeof(error));
	}
	if (!ret)
		return KSV_EXIT_OK;
	if (file || ret == -ENOMEM) {
		ksv_error("%s", *error ? error : "not enough memory");
		return KSV_EXIT_FILE;
	}
	return ksv_usage_error(study->command, "%s", error);
}

/* --- the folder ------------------------------------------------------------------------------ */

static void path_in(const struct study *study, const char *name, char path[STUDY_PATH])
{
	snprintf(path, STUDY_PATH, "%s/%s", study->folder, name);
}

/** A study that began before: its plan and its runs. */
static int read_folder(struct study *study, const char *folder)
{
	char path[STUDY_PATH], error[2048] = "", *full = realpath(folder, NULL);
	int ret;

	if (!full || strlen(full) >= sizeof(study->folder) - NAME_MAX) {
		ksv_error("%s: %s", folder, full ? "too long a path" : strerror(errno));
		free(full);
		return KSV_EXIT_FILE;
	}
	strcpy(study->folder, full);
	strcpy(study->record.folder, full);
	free(full);
	path_in(study, "plan.json", path);
	if (access(path, F_OK)) {
		ksv_error("%s: no folder of a study: it has no plan.json", folder);
		return KSV_EXIT_FILE;
	}
	ret = study_plan_read(&study->plan, path, error, sizeof(error));
	if (!ret)
		ret = study_journal_read(study, error, sizeof(error));
	if (ret)
		ksv_error("%s", *error ? error : "not enough memory");
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/** Others must not be able to lead what root writes elsewhere. */
static int check_owner(const struct study *study)
{
	struct stat st;

	if (!stat(study->folder, &st) && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return KSV_EXIT_OK;
	ksv_error("%s: others can write to it, or own it: only its owner can go on with a study",
		  study->folder);
	return KSV_EXIT_FILE;
}

/** The folder of a new study, which stays only if all configurations can be traced. */
static int make_folder(struct study *study)
{
	char path[STUDY_PATH], error[512];
	int status;

	if (record_check_folder(&study->record)) {
		if (study->record.made)
			rmdir(study->record_options.folder);
		return KSV_EXIT_FILE;
	}
	strcpy(study->folder, study->record.folder);
	status = study_try(study);
	path_in(study, "plan.json", path);
	if (!status && study_plan_write(&study->plan, path, error, sizeof(error))) {
		ksv_error("%s", error);
		status = KSV_EXIT_FILE;
	}
	if (status && study->record.made)
		rmdir(study->folder);
	return status;
}

/* --- results --------------------------------------------------------------------------------- */

static const struct {
	const char	*name;
	int		format;
} files[] = {
	{ "results.txt", TABLE_TEXT }, { "results.json", TABLE_JSON },
	{ "results.csv", TABLE_CSV }, { "results.tex", TABLE_LATEX },
};

static const char *const figures[] = { "svg", "pdf" };

/** All formats, in the folder. */
static int keep_results(const struct study *study, const struct study_results *results)
{
	char path[STUDY_PATH];
	int status = KSV_EXIT_OK;

	for (size_t i = 0; !status && i < ARRAY_SIZE(files); i++) {
		path_in(study, files[i].name, path);
		status = study_write(study, results, path, files[i].format);
	}
	return status;
}

static int keep_figures(const struct study *study, struct study_results *results)
{
	char path[STUDY_PATH], name[32];
	int status = KSV_EXIT_OK;

	for (size_t i = 0; !status && i < ARRAY_SIZE(figures); i++) {
		snprintf(name, sizeof(name), "cost.%s", figures[i]);
		path_in(study, name, path);
		status = study_plot_costs(study, results, path);
		snprintf(name, sizeof(name), "cpu.%s", figures[i]);
		path_in(study, name, path);
		if (!status)
			status = study_plot_time(study, path);
	}
	return status;
}

/** Figures come last: they need the main metrics alone. */
static int draw(const struct study *study, const struct study_options *options,
		struct study_results *results, bool keep)
{
	int status = keep ? keep_figures(study, results) : KSV_EXIT_OK;

	if (!status && options->plot)
		status = study_plot_costs(study, results, options->plot);
	if (!status && options->plot_time)
		status = study_plot_time(study, options->plot_time);
	return status;
}

/** @keep: also write all files of results */
static int show_results(const struct study *study, const struct study_options *options, bool keep)
{
	struct study_results *results = calloc(1, sizeof(*results));
	bool decided = false;
	int status;

	if (!results) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	status = study_results_make(study, results);
	if (!status && keep)
		status = keep_results(study, results);
	if (!status)
		status = study_write(study, results, NULL, table_format_of(options->format));
	if (!status) {
		decided = study_is_decided(study, results);
		status = draw(study, options, results, keep);
	}
	study_results_free(results);
	free(results);
	return status || decided ? status : KSV_EXIT_UNKNOWN;
}

/* --- all of it ------------------------------------------------------------------------------- */

/** More rounds than the plan had, for example. */
static int change_plan(struct study *study, const struct study_options *options)
{
	char path[STUDY_PATH], error[2048];
	int ret;

	apply_numbers(&study->plan, options);
	path_in(study, "plan.json", path);
	ret = study_plan_check(&study->plan, error, sizeof(error));
	if (!ret)
		ret = study_plan_write(&study->plan, path, error, sizeof(error));
	if (ret)
		ksv_error("%s: %s", path, error);
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

static int begin(struct study *study, const struct study_options *options, const char *arg)
{
	int status;

	if (options->resume) {
		status = read_folder(study, arg);
		if (!status)
			status = check_owner(study);
		return status ? status : change_plan(study, options);
	}
	if (!options->output)
		return ksv_usage_error(study->command, "a study needs a folder: --output FOLDER");
	return make_plan(study, options, arg);
}

/** Signals that end a study are taken between its steps, so that it ends its tracing itself. */
static int run_blocked(struct study *study, const struct study_options *options)
{
	int status = study_check(study);

	if (!status)
		status = options->resume ? study_try(study) : make_folder(study);
	if (!status && !study->quiet)
		ksv_note("%s: up to %zu rounds of %d runs in random order, seed %llu",
			 study->folder, study->plan.max_rounds,
			 study->plan.n_benchmarks * study->plan.n_configs,
			 (unsigned long long)study->plan.seed);
	if (!status)
		status = study_go(study);
	if (!status)
		study_trace_clean(study);
	return status;
}

static int run_all(struct study *study, const struct study_options *options, const char *arg)
{
	int status = begin(study, options, arg);

	if (status)
		return status;
	study->record_options.folder = options->output;
	study->record_options.buffer = study->plan.buffer;
	record_block_signals();
	status = run_blocked(study, options);
	record_unblock_signals();
	return status ? status : show_results(study, options, true);
}

static void free_study(struct study *study)
{
	record_lock_drop(&study->record);
	for (int i = 0; i < study->record.n_events; i++)
		free(study->record.events[i]);
	free(study->record.events);
	if (study->record.moved)
		munmap(study->record.moved, sizeof(*study->record.moved));
	recording_free(&study->record.recording);
	study_plan_free(&study->plan);
	free(study->runs);
	free(study);
}

/** A folder alone is one whose results are shown. */
static bool is_folder(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/** Options and arguments that exclude each other. */
static int check_options(const struct study *study, const struct study_options *options, int n,
			 const char *arg)
{
	const struct ksv_command *command = study->command;
	bool fixed = options->has_seed || options->has_warm_up || options->buffer;
	bool rounds = options->rounds || options->max_rounds || options->precision ||
		      options->max_time.kind;
	bool plan = options->configs || options->events || options->n_guests || options->where ||
		    options->benchmark_format || options->metric;

	if (n > 1 || (n && options->command))
		return ksv_usage_error(command, "give one of a plan, a folder of a study, and a "
				       "command after --");
	if (options->resume && (!n || !is_folder(arg)))
		return ksv_usage_error(command, "--resume: give the folder of the study");
	if (!n && !options->command)
		return ksv_usage_error(command, "give a plan, a command after --, or the folder "
				       "of a study");
	if ((options->resume || is_folder(arg)) && options->output)
		return ksv_usage_error(command, "--output %s: the study in %s stays there",
				       options->output, arg);
	if (is_folder(arg) && (fixed || (rounds && !options->resume)))
		return ksv_usage_error(command, "%s: a study that has begun keeps its plan; "
				       "--resume may change --rounds, --max-rounds, --precision "
				       "and --max-time", arg);
	if (plan && !options->command)
		return ksv_usage_error(command, "--config, --events, --guest, --in, --results and "
				       "--metric belong to a command after --; a plan has them "
				       "itself");
	return KSV_EXIT_OK;
}

static int study_job(struct study *study, const struct study_options *options, int n,
		     const char *arg)
{
	int status = check_options(study, options, n, arg);

	if (status)
		return status;
	if (options->resume || !is_folder(arg)) {
		record_keep_private();
		return run_all(study, options, arg);
	}
	status = read_folder(study, arg);
	return status ? status : show_results(study, options, false);
}

static int run_study(const struct ksv_command *command, int argc, char **argv)
{
	struct study_options options = { .quiet = false };
	struct study *study = calloc(1, sizeof(*study));
	int end = ksv_split_command(argc, argv, &options.command), status, first;

	if (!study) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	study_plan_init(&study->plan);
	study->command = command;
	study->record = (struct record){ .command = command, .options = &study->record_options,
					 .lock = -1, .input = -1, .clock = "mono" };
	study->record_options.hypervisor = RECORDING_KVM;
	status = ksv_parse(command, end, argv, &options, &first);
	study->quiet = options.quiet;
	if (status < 0 && end < argc && !options.command)
		status = ksv_usage_error(command, "no command after --");
	if (status < 0)
		status = study_job(study, &options, end - first,
				   end > first ? argv[first] : NULL);
	free_study(study);
	return status;
}

const struct ksv_command cmd_study = {
	.name = "study",
	.args = "[OPTION...] PLAN | FOLDER | -- COMMAND [ARGUMENT...]",
	.summary = "Measure what tracing costs on this host and its guests",
	.notes = "Runs COMMAND, or the benchmarks of PLAN (JSON), with each kind of tracing, in\n"
		 "rounds of random order, until the differences are known well enough. FOLDER:\n"
		 "show the results of a study again. It needs root. Exit status 4: there are too\n"
		 "few rounds to decide.\n",
	.options = study_option_table,
	.words = study_words,
	.n_options = ARRAY_SIZE(study_option_table),
	.prints_text = true,
	.run = run_study,
};
