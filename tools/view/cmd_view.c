// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_view.c
 * @brief	kshark-virt view: start KernelShark with our plugins and files under names it takes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_hypertrace.h"
#include "hyper_symbols.h"
#include "options.h"
#include "trace_args.h"
#include "view.h"
#include "xen_clock.h"

struct view {
	const struct ksv_command *command;
	struct view_files	files;
	struct view_start	start;
	struct view_window	part;	/* of the files, which has been written to others */
	bool			is_part;
	bool			dry_run;
};

static int open_files(struct view *view)
{
	const char *program = getenv("KERNELSHARK");
	unsigned int shown;
	char *plugins;
	int status, ret;

	if (view->start.session && !view_check_session(view->start.session))
		return KSV_EXIT_FILE;
	view_catch_signals();
	plugins = view_plugin_list(&shown);
	if (!plugins)
		return KSV_EXIT_USAGE;
	view->files.guests.none |= !(shown & VIEW_GUESTS);
	view->files.takes_folders = shown & VIEW_FOLDERS;
	ret = view_hand_over(&view->files);
	view->start.names = view->files.names;
	view->start.n_names = view->files.n_names;
	if (!ret && !view_check_state(view->command, &view->start.state, view->files.n_names))
		ret = -ERANGE;
	/* a session has all of it; else the plugins need it for the command that is copied */
	if (!ret && !view->start.session &&
	    (!view->dry_run || view_wants_state(&view->start.state)))
		ret = view_write_state(&view->start, &view->files,
				       view->is_part ? &view->part : NULL);
	if (!ret) {
		view->start.program = program && *program ? program : "kernelshark";
		view->start.plugins = plugins;
		status = view_start(&view->start, view->dry_run);
	} else {
		status = view_signal() ? 128 + view_signal() :
			 ret == -ERANGE ? KSV_EXIT_USAGE : KSV_EXIT_FILE;
	}
	view_files_clean(&view->files);
	free(plugins);
	return status;
}

/** Before KernelShark is started, which could only be silent. */
static bool check_kallsyms(const char *path)
{
	struct hyper_symbols *symbols = NULL;
	char error[512];

	if (!path || !hyper_symbols_read(path, &symbols, error, sizeof(error))) {
		hyper_symbols_free(symbols);
		return true;
	}
	ksv_error("%s", error);
	return false;
}

/** Options of the view are about files that are there. Return: 0 or an exit status. */
static int check_state(const struct view *view, const struct ksv_command *command)
{
	const struct view_state *state = &view->start.state;

	if (!view_wants_state(state))
		return 0;
	if (view->start.session)
		return ksv_usage_error(command, "--show, --mark, --a-to-b, --page, --select, "
				       "--graphs and --scroll are for files, and a session has its "
				       "own");
	if (!view->files.n)
		return ksv_usage_error(command, "a view needs a file");
	if (state->a_to_b && (state->a_ns == VIEW_STATE_NO_TIME ||
			      state->b_ns == VIEW_STATE_NO_TIME || state->a_ns == state->b_ns))
		return ksv_usage_error(command, "--a-to-b needs --mark A..B");
	return 0;
}

/** What is opened: the traces, or the parts of them that lie in a window. */
static int open_paths(struct view *view, char **paths, char **given, int n)
{
	/* those of no use are left out of both */
	char **copies = calloc(2 * ((size_t)n + 1), sizeof(*copies));
	int status;

	if (!copies) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	memcpy(copies, paths, (size_t)n * sizeof(*copies));
	memcpy(copies + n, given, (size_t)n * sizeof(*copies));
	view->files.paths = copies;
	view->files.given = copies + n;
	view->files.n = n;
	status = open_files(view);
	free(copies);
	return status;
}

/** A window of trace.dat files is a part of them. */
static int open_window(struct view *view, const struct trace_args *args, bool *is_open)
{
	char **parts, **given;
	int n, status;

	/* the parts are removed, whatever happens */
	view_catch_signals();
	view->part = view->files.window;
	status = view_split(&view->files, view->command, args, &parts, &given, &n);
	view->is_part = parts;
	if (!status && view_signal())
		status = 128 + view_signal();
	*is_open = status || parts;
	if (!status && parts)
		status = open_paths(view, parts, given, n);
	view_files_clean(&view->files);
	for (int i = 0; parts && i < n; i++)
		free(parts[i]);
	free(parts);
	free(given);
	return status;
}

/** Arguments may be folders, which have several files. */
static int open_view(struct view *view)
{
	struct trace_args args = { 0 };
	int status = check_kallsyms(view->files.guests.kallsyms) ?
		     trace_args_add_all(&args, view->files.paths, view->files.n) : KSV_EXIT_FILE;
	bool is_open = status;
	char **paths;

	if (!is_open && view_wants_window(&view->files))
		status = open_window(view, &args, &is_open);
	if (!is_open) {
		paths = trace_args_paths(&args);
		status = paths ? open_paths(view, paths, paths, args.n) : KSV_EXIT_FILE;
		free(paths);
	}
	trace_args_free(&args);
	return status;
}

/** Options that KernelShark's plugins get in variables of their environment, as text. */
static int take_hz(const struct ksv_command *command, const struct ksv_option *option,
		   const char *value, void *target)
{
	struct view *view = target;
	uint64_t hz;
	int status = ksv_take_hz(command, option, value, &hz);

	view->files.guests.options.cpu_hz = view->files.window.options.cpu_hz = status ? 0 : hz;
	if (!status)
		snprintf(view->start.hz, sizeof(view->start.hz), "%llu", (unsigned long long)hz);
	return status;
}

static int take_max_input(const struct ksv_command *command, const struct ksv_option *option,
			  const char *value, void *target)
{
	struct view *view = target;
	int status = ksv_take_size(command, option, value, &view->files.max_input);

	view->files.window.options.reader.max_input = view->files.max_input;
	if (!status)
		snprintf(view->start.max_input, sizeof(view->start.max_input), "%llu",
			 (unsigned long long)view->files.max_input);
	return status;
}

static int take_dialect(const struct ksv_command *command, const struct ksv_option *option,
			const char *value, void *target)
{
	struct view *view = target;
	char error[512];

	(void)option;
	view->files.guests.dialect = value;
	if (host_hypertrace_check(value, error, sizeof(error)))
		return 0;
	if (!host_hypertrace_is_file(value))
		return ksv_usage_error(command, "--hypertrace=%s: %s", value, error);
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

#define OPTIONS	struct view

static const struct ksv_option view_option_table[] = {
	{ 's', "session", "FILE", "restore a KernelShark session instead of opening files",
	  ksv_take_text, offsetof(OPTIONS, start.session), NULL },
	KSV_OPTION_FROM(OPTIONS, files.window.from, "load only a window: from this time on,\n"
			"seconds, or a number with ns, us, ms, s, m or h, or\n"
			"tsc:N"),
	KSV_OPTION_TO(OPTIONS, files.window.to, "up to this time, which is not included"),
	{ 0, "cpu-hz", "HZ", "frequency of the TSC in xentrace files, e.g. 2.4G", take_hz, 0,
	  NULL },
	KSV_OPTION_MAX_INPUT_BY(take_max_input, 0),
	KSV_OPTION_ABSOLUTE(OPTIONS, start.absolute),
	KSV_OPTION_SKEW(OPTIONS, start.correct_skew),
	{ 0, "hypertrace", "DIALECT", "the dialect of guests' hypercalls, a name or a file\n"
	  "(default: detected)", take_dialect, 0, NULL },
	{ 0, "kallsyms", "FILE", "a guest's /proc/kallsyms, for the names of its functions",
	  ksv_take_text, offsetof(OPTIONS, files.guests.kallsyms), NULL },
	{ 0, "no-hypertrace", NULL, "do not show events from hypercalls",
	  ksv_take_flag, offsetof(OPTIONS, files.guests.none), NULL },
	{ 0, "no-combos", NULL, "do not show combos at the start",
	  ksv_take_flag, offsetof(OPTIONS, start.no_combos), NULL },
	{ 0, "show", "FROM..TO", "begin with this time in sight: two times of the first\nfile",
	  view_take_show, offsetof(OPTIONS, start.state), NULL },
	{ 0, "mark", "A..B", "set the markers A and B", view_take_mark,
	  offsetof(OPTIONS, start.state), NULL },
	{ 0, "a-to-b", NULL, "figures of the time from A to B, not of that in sight",
	  ksv_take_flag, offsetof(OPTIONS, start.state.a_to_b), NULL },
	{ 0, "page", "PAGE", "the page below the graphs: events, vcpus, worst,\n"
	  "histograms, exits, steal, why, tables, bookmarks, search", view_take_page,
	  offsetof(OPTIONS, start.state), view_page_names },
	{ 0, "select", "WHO", "what is selected: a vCPU or machine (d1v0, d1, \"web v0\"),\n"
	  "pcpu3, or task412 of a guest; N:WHO: of the Nth file", view_take_select,
	  offsetof(OPTIONS, start.state), NULL },
	{ 0, "graphs", "LIST", "graphs of the first file: cpu0-3,task412, or none; of the\n"
	  "Nth: N:LIST; may be repeated", view_take_graphs, offsetof(OPTIONS, start.state), NULL },
	{ 0, "scroll", "PIXELS", "how far the graphs are scrolled", view_take_scroll,
	  offsetof(OPTIONS, start.state), NULL },
	{ 'n', "dry-run", NULL, "print the command line instead of running it",
	  ksv_take_flag, offsetof(OPTIONS, dry_run), NULL },
};

static int parse_and_open(const struct ksv_command *command, int argc, char **argv,
			  struct view *view)
{
	int status, first, end = 1;
	char error[512] = "";

	/* as the plugins do */
	if (xen_trace_options_from_env(&view->files.window.options, error, sizeof(error)))
		ksv_note("%s (ignored)", error);

	/* What follows -- is not ours; getopt would mix it with the files. */
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end < argc) {
		view->start.extra = argv + end + 1;
		view->start.n_extra = argc - end - 1;
		view->files.any_kind = view->start.n_extra > 0;
		argv[end] = NULL;
	}
	status = ksv_parse(command, end, argv, view, &first);
	if (status >= 0)
		return status;
	view->start.no_hypertrace = view->files.guests.none;
	view->files.paths = argv + first;
	view->files.n = end - first;
	view->files.window.options.absolute_time |= view->start.absolute;
	view->files.window.options.reader.regular_only = true;
	if (ksv_time_is_relative(&view->files.window.from) ||
	    ksv_time_is_relative(&view->files.window.to))
		return ksv_usage_error(command, "--from and --to take times of the trace, not +1s "
				       "or 10%%");
	if (view->files.window.from.kind == KSV_TIME_NS &&
	    view->files.window.to.kind == KSV_TIME_NS &&
	    view->files.window.from.ns >= view->files.window.to.ns)
		return ksv_usage_error(command, "--from is not before --to");
	if (view_wants_window(&view->files) && (view->start.session || !view->files.n))
		return ksv_usage_error(command, "--from and --to are of files, %s",
				       view->start.session ? "and a session has its own" :
				       "and there is none");
	if (view->start.session && view->files.n)
		return ksv_usage_error(command, "a session lists its files; do not give '%s'",
				       view->files.paths[0]);
	status = check_state(view, command);
	if (status)
		return status;
	for (int i = 0, n = 0; i < view->files.n; i++) {
		n += !strcmp(view->files.paths[i], "-");
		if (n > 1)
			return ksv_usage_error(command, "standard input can be read only once");
	}
	return open_view(view);
}

static int run_view(const struct ksv_command *command, int argc, char **argv)
{
	struct view view = { .command = command, .files.command = command };
	int status;

	view_state_init(&view.start.state);
	status = parse_and_open(command, argc, argv, &view);
	view_state_free(&view.start.state);
	free(view.start.view);
	return status;
}

const struct ksv_command cmd_view = {
	.name = "view",
	.args = "[OPTION...] [FILE...] [-- KERNELSHARK-ARGUMENT...]",
	.summary = "Open traces in KernelShark, with the plugins for virtual machines",
	.notes = "FILE: xentrace files and trace.dat files (also compressed with gzip or zstd,\n"
		 "from a pipe, or - for standard input), and perf.data files; the first is\n"
		 "opened, others are appended.\n"
		 "Or folders of recordings, with all their traces, and of LTTng.\n",
	.options = view_option_table,
	.n_options = ARRAY_SIZE(view_option_table),
	.run = run_view,
};
