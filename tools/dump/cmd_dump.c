// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_dump.c
 * @brief	kshark-virt dump: the records of traces as text, CSV or JSON lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump.h"
#include "host_hypertrace.h"
#include "model_load.h"
#include "progress.h"
#include "trace_args.h"
#include "trace_dat.h"
#include "xen_trace_window.h"

static const char *const format_names[] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_CSV] = "csv",
	[FORMAT_JSON] = "json",
	NULL
};

/** Damaged places that are listed one by one. */
#define NOTES_MAX_LINES		20

/** What was asked for. */
struct dump_options {
	const struct ksv_command *command;
	int			format;		/* enum dump_format */
	bool			list_events;
	bool			quiet;
	const char		*output;
	bool			hypertrace;
	const char		*dialect;	/* or NULL */
	const char		*kallsyms;
	struct dump_filter	filter;
	struct xen_trace_options trace;
};

/* --- the command line ------------------------------------------------------------------------ */

static const char *event_word(size_t i)
{
	return i < (size_t)xen_events_count() ? xen_event_at((int)i)->name : NULL;
}

static const struct ksv_words dump_words[] = { { .option = "event", .word = event_word }, { 0 } };

#define OPTIONS	struct dump_options

static int take_event(const struct ksv_command *command, const struct ksv_option *option,
		      const char *value, void *target)
{
	(void)option;
	return dump_add_pattern(target, command, value);
}

static int take_glob(const struct ksv_command *command, const struct ksv_option *option,
		     const char *value, void *target)
{
	(void)command;
	(void)option;
	return dump_add_glob(target, value);
}

static int take_hypertrace(const struct ksv_command *command, const struct ksv_option *option,
			   const char *value, void *target)
{
	struct dump_options *options = target;
	char error[512];

	(void)option;
	options->hypertrace = true;
	options->dialect = value;
	if (!value || host_hypertrace_check(value, error, sizeof(error)))
		return 0;
	if (!host_hypertrace_is_file(value))
		return ksv_usage_error(command, "--hypertrace=%s: %s", value, error);
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

static const struct ksv_option dump_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names,
			  "text (default), csv or json (one object per line)"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	KSV_OPTION_PCPUS(OPTIONS, filter.pcpus, "only these pCPUs, e.g. 0,2-3"),
	KSV_OPTION_VCPUS(OPTIONS, filter.vcpus, "only while these run, e.g. d1v0,d2,idle,d?v?"),
	{ 'e', "event", "GLOB", "only events whose name or id (0x...) matches;\nmay be repeated",
	  take_event, offsetof(OPTIONS, filter), NULL },
	{ 0, "machine", "GLOB", "KVM: only records of these machines' traces: host, or\n"
	  "a guest's machine; may be repeated",
	  take_glob, offsetof(OPTIONS, filter.machines), NULL },
	{ 0, "task", "GLOB", "KVM: only while these tasks have the CPU: name, pid or\n"
	  "name-pid; may be repeated", take_glob, offsetof(OPTIONS, filter.tasks), NULL },
	KSV_OPTION_FROM(OPTIONS, filter.from, "from this time on: seconds as shown, or a number "
			"with\nns, us, ms, s, m or h; +1s or 10% of the trace; or\ntsc:N for "
			"a raw time stamp"),
	KSV_OPTION_TO(OPTIONS, filter.to, "up to this time, which is not included"),
	{ 0, "hypertrace", "[=DIALECT]", "instead: events that guests report through hypercalls;\n"
	  "DIALECT is a name or FILE.json (default: detected)",
	  take_hypertrace, 0, NULL },
	{ 0, "kallsyms", "FILE", "with --hypertrace: a guest's /proc/kallsyms, for the names\n"
	  "of its functions", ksv_take_text, offsetof(OPTIONS, kallsyms), NULL },
	KSV_OPTION_CPU_HZ(OPTIONS, trace.cpu_hz),
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.reader.max_input),
	KSV_OPTION_ABSOLUTE(OPTIONS, trace.absolute_time),
	KSV_OPTION_SKEW(OPTIONS, trace.correct_skew),
	{ 0, "list-events", NULL, "show the table of all known events, without a file",
	  ksv_take_flag, offsetof(OPTIONS, list_events), NULL },
	KSV_OPTION_QUIET(OPTIONS, quiet, "no notes about damage, clock and skew"),
};

static int check_options(const struct dump_options *options)
{
	if (options->kallsyms && !options->hypertrace)
		return ksv_usage_error(options->command, "--kallsyms requires --hypertrace");
	if (options->hypertrace && options->list_events)
		return ksv_usage_error(options->command, "either --hypertrace or --list-events");
	if (options->hypertrace && (options->filter.machines.n || options->filter.tasks.n))
		return ksv_usage_error(options->command, "--hypertrace has neither --machine nor "
				       "--task; --vcpu d1 selects a machine");
	/* names of events of other traces are those that the trace has */
	return options->list_events ? dump_check_patterns(&options->filter, options->command) : 0;
}

/* --- the walk -------------------------------------------------------------------------------- */

/** @is_empty: set to false if the window of --from and --to has a record */
static int dump_records(const struct dump_options *options, struct xen_trace *trace,
			struct dump_share *share, const struct output *out,
			struct progress *progress, bool *is_empty)
{
	const struct dump_filter *filter = &options->filter;
	uint64_t total = xentrace_n_records(xen_trace_reader(trace));
	struct xen_trace_iter *iter = xen_trace_iter_new(trace);
	const struct xen_trace_span *window = xen_trace_window(trace);
	struct xen_trace_row *row;
	uint64_t n = 0;

	if (!iter)
		return -ENOMEM;
	progress->what = "writing";
	while (!out->error && xen_trace_iter_next(iter, row = dump_share_room(share))) {
		if (!xen_trace_shows(window, row->time_ns))
			continue;
		if (!(++n % PROGRESS_RECORDS))
			progress_update(progress, n, total);
		if (dump_after(filter, row))
			break;
		if (dump_before(filter, row))
			continue;
		*is_empty = false;
		if (filter->pcpus.any && !ksv_id_in_set(&filter->pcpus, row->rec.pcpu))
			continue;
		dump_share_add(share);
	}
	return xen_trace_iter_free(iter);
}

static void print_notes(const struct xen_trace *trace)
{
	char *notes = xen_trace_notes(trace, NOTES_MAX_LINES);

	if (notes)
		fputs(notes, stderr);
	free(notes);
}

/** A vCPU that has no record in a part of a trace may have one elsewhere. */
static bool reads_all(const struct dump_filter *filter)
{
	return !filter->pcpus.any && filter->from.kind == KSV_TIME_NONE &&
	       filter->to.kind == KSV_TIME_NONE;
}

/** A point of the command line in ns. */
static int64_t ns_of(const struct xen_trace *trace, const struct ksv_time *time)
{
	return time->kind == KSV_TIME_TSC ? xen_clock_ns(xen_trace_clock(trace), time->tsc)
					  : time->ns;
}

/** The times of the first and last record, which take another walk. Return: 0 or -ENOMEM. */
static int find_ends(struct xen_trace *trace, int64_t *begin_ns, int64_t *end_ns)
{
	const struct xen_trace_span *window = xen_trace_window(trace);
	struct xen_trace_iter *iter = xen_trace_iter_new(trace);
	struct xen_trace_row row;
	uint64_t n = 0;

	if (!iter)
		return -ENOMEM;
	while (xen_trace_iter_next(iter, &row)) {
		if (!xen_trace_shows(window, row.time_ns))
			continue;
		if (!n++)
			*begin_ns = row.time_ns;
		*end_ns = row.time_ns;
	}
	return xen_trace_iter_free(iter);
}

/**
 * A window that has no record, although the trace has some elsewhere, is a mistake.
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
static int check_records(const struct dump_options *options, struct xen_trace *trace,
			 const char *path)
{
	const struct ksv_time *from = &options->filter.from, *to = &options->filter.to;
	int64_t begin_ns = 0, end_ns = -1;

	if (find_ends(trace, &begin_ns, &end_ns)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	if (end_ns < begin_ns || ((from->kind == KSV_TIME_NONE || ns_of(trace, from) <= end_ns) &&
				  (to->kind == KSV_TIME_NONE || ns_of(trace, to) > begin_ns)))
		return KSV_EXIT_OK;
	return ksv_no_window(options->command, path, begin_ns, end_ns + 1);
}

/** Write a trace into an open file, and close that. Return: exit status. */
static int dump_trace(const struct dump_options *options, struct xen_trace *trace,
		      const char *path, struct output *out, struct progress *progress)
{
	struct dump_share *share = dump_share_new(&options->filter, options->format, trace, out);
	struct dump_writer *writer = NULL;
	bool is_empty = true;
	int ret = share ? dump_records(options, trace, share, out, progress, &is_empty) : -ENOMEM;
	int status;

	if (share)
		writer = dump_share_end(share);
	if (!ret && !writer)
		ret = -ENOMEM;
	status = ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
	progress_end(progress);
	if (ret)
		ksv_error("not enough memory");
	else if (reads_all(&options->filter) && !out->error)
		status = dump_check_vcpus(writer, options->command, path);
	else if (is_empty && !out->error)
		status = check_records(options, trace, path);
	if (!status && !out->error)
		status = dump_check_pcpus(&options->filter, options->command,
					  xen_trace_n_pcpus(trace));
	dump_share_free(share);
	status = out_close(out, status);
	if (!ret && !options->quiet && out->error != EPIPE)
		print_notes(trace);
	return model_xen_changed(trace, status);
}

/** +1s and 10% become times of the trace. Return: 0 or -ENOMEM. */
static int set_times(struct dump_options *options, struct xen_trace *trace)
{
	struct ksv_time *times[] = { &options->filter.from, &options->filter.to };
	int64_t begin_ns = 0, end_ns = 0;
	int ret;

	if (!ksv_time_is_relative(times[0]) && !ksv_time_is_relative(times[1]))
		return 0;
	ret = find_ends(trace, &begin_ns, &end_ns);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (ksv_time_is_relative(times[i]))
			*times[i] = (struct ksv_time){
				.kind = KSV_TIME_NS, .ns = ksv_time_in(times[i], begin_ns, end_ns),
			};
	return ret;
}

/** A window without anything in it is a mistake. Return: 0 or an exit status (reported). */
static int check_window(const struct dump_options *options, const struct xen_trace *trace)
{
	const struct ksv_time *from = &options->filter.from, *to = &options->filter.to;

	if (from->kind == KSV_TIME_NONE || to->kind == KSV_TIME_NONE ||
	    ns_of(trace, from) < ns_of(trace, to))
		return 0;
	return ksv_usage_error(options->command, "--from is not before --to");
}

static int dump_file(const char *path, struct dump_options *options, struct output *out)
{
	struct xen_trace *trace;
	struct progress progress;
	char error[1024] = "";
	int status;

	/* On a terminal the lines themselves show that something happens. */
	progress_init(&progress, !options->quiet && (options->output || !isatty(STDOUT_FILENO)));
	options->trace.reader.progress = progress_update;
	options->trace.reader.progress_arg = &progress;
	trace = xen_trace_open(path, &options->trace, error, sizeof(error));
	progress_end(&progress);
	if (!trace) {
		ksv_error("%s", *error ? error : strerror(errno));
		return KSV_EXIT_FILE;
	}
	status = set_times(options, trace) ? KSV_EXIT_FILE : KSV_EXIT_OK;
	if (status)
		ksv_error("not enough memory");
	if (!status)
		status = check_window(options, trace);
	if (!status)
		status = out_open_text(out, options->output, dump_reader(options->format));
	if (!status)
		status = dump_trace(options, trace, path, out, &progress);
	xen_trace_close(trace);
	return status;
}

static struct host_options host_options(const struct dump_options *options)
{
	return (struct host_options){
		.cpu_hz = options->trace.cpu_hz,
		.absolute_time = options->trace.absolute_time,
		.correct_skew = options->trace.correct_skew,
		.max_input = options->trace.reader.max_input,
	};
}

static int dump_calls(const char *path, const struct dump_options *options, struct output *out)
{
	const struct dump_hypertrace wanted = {
		.command = options->command,
		.dialect = options->dialect, .kallsyms = options->kallsyms,
		.filter = &options->filter, .format = (enum dump_format)options->format,
		.output = options->output, .quiet = options->quiet,
		.trace = host_options(options),
	};

	return dump_hypertrace(&wanted, path, out);
}

/** Names of Xen's events are those of a table; no record of Xen has the name of a task. */
static int dump_xen(const char *path, struct dump_options *options, struct output *out)
{
	int status = dump_check_patterns(&options->filter, options->command);

	if (status)
		return status;
	if (options->filter.machines.n || options->filter.tasks.n)
		return ksv_usage_error(options->command, "%s: a xentrace file. --machine and "
				       "--task are for KVM; --vcpu d1 selects a domain", path);
	return dump_file(path, options, out);
}

/** The trace of a KVM host, with those of its guests. */
static int dump_traces(const struct trace_args *args, const struct dump_options *options,
		       struct output *out)
{
	const struct dump_kvm wanted = {
		.command = options->command, .filter = &options->filter,
		.format = (enum dump_format)options->format, .output = options->output,
		.quiet = options->quiet, .trace = host_options(options),
	};
	int status = trace_args_check_twice(args);

	return status ? status : dump_kvm(&wanted, args, out);
}

static int dump_args(char **argv, int n, struct dump_options *options, struct output *out)
{
	struct trace_args args = {
		.quiet = options->quiet, .host_only = options->hypertrace,
		.max_input = options->trace.reader.max_input,
	};
	int status = trace_args_add_all(&args, argv, n);

	if (!status)
		status = trace_args_check_output(&args, options->command, "output",
						 options->output);
	if (!status && !options->hypertrace && trace_dat_is(args.items[0].path))
		status = dump_traces(&args, options, out);
	else if (!status && n > 1)
		status = ksv_usage_error(options->command, "give one file; '%s' is another one",
					 argv[1]);
	else if (!status)
		status = options->hypertrace ? dump_calls(args.items[0].path, options, out) :
			 dump_xen(args.items[0].path, options, out);
	trace_args_free(&args);
	return status;
}

static int list_events(const struct dump_options *options, struct output *out)
{
	int status = out_open_text(out, options->output, dump_reader(options->format));

	if (status)
		return status;
	dump_list(&options->filter, options->format, out);
	return out_close(out, KSV_EXIT_OK);
}

static int run_dump(const struct ksv_command *command, int argc, char **argv)
{
	struct dump_options options = { .command = command };
	static struct output out;
	char error[512] = "";
	int first, status;

	if (xen_trace_options_from_env(&options.trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	status = ksv_parse(command, argc, argv, &options, &first);
	if (status >= 0)
		goto out;
	status = check_options(&options);
	if (status)
		goto out;
	if (options.list_events && first < argc)
		status = ksv_usage_error(command, "--list-events takes no file");
	else if (options.list_events)
		status = list_events(&options, &out);
	else if (first == argc)
		status = ksv_usage_error(command, "which file?");
	else
		status = dump_args(argv + first, argc - first, &options, &out);
out:
	dump_filter_free(&options.filter);
	return status;
}

const struct ksv_command cmd_dump = {
	.name = "dump",
	.args = "[OPTION...] FILE [GUEST...]",
	.summary = "Show the records of traces as text, CSV or JSON",
	.notes = KSV_NOTE_HOST
		 "After the trace of a KVM host, those of its guests may follow: all records are\n"
		 "shown in order of time, with the state of the vCPU.\n",
	.options = dump_option_table,
	.words = dump_words,
	.n_options = ARRAY_SIZE(dump_option_table),
	.prints_text = true,
	.run = run_dump,
};
