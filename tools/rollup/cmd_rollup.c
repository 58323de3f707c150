// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_rollup.c
 * @brief	kshark-virt rollup: traces as rows per vCPU and second, for databases of many hosts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report_range.h"
#include "rollup.h"
#include "trace_args.h"

#define NS_PER_S	INT64_C(1000000000)

/** The range of ClickHouse's DateTime: up to 2106. */
#define MAX_SECONDS	INT64_C(0xffffffff)

static const char *const format_names[] = { "csv", "clickhouse", NULL };
static const struct rollup_format *const formats[] = { &rollup_csv, &rollup_clickhouse };

/** A moment of real time. */
struct moment {
	bool		given;
	int64_t		ns;		/* since 1970, UTC */
};

struct rollup_options {
	const struct ksv_command *command;
	int			format;		/* index of @formats */
	bool			quiet;
	const char		*host;
	const char		*output;
	struct moment		start;
	struct ksv_vcpu_set	vcpus;
	struct ksv_time		from, to, interval;
	struct host_options	trace;
};

/** The fraction of a second behind a point, no more than nine digits. @text: moved behind it. */
static bool take_fraction(const char **text, int64_t *ns)
{
	int64_t digit = NS_PER_S;
	size_t n;

	*ns = 0;
	if (**text != '.')
		return true;
	++*text;
	n = strspn(*text, "0123456789");
	if (!n || n > 9)
		return false;
	for (; n; n--, ++*text)
		*ns += (**text - '0') * (digit /= 10);
	return true;
}

/** "2026-11-24T10:00:00.5Z", or seconds since 1970. Return: false if it is neither. */
static bool parse_moment(const char *text, struct moment *moment)
{
	struct tm tm = { 0 };
	int64_t seconds, ns;
	const char *rest;
	char *end;

	if (strchr(text, 'T')) {
		rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
		if (!rest || !take_fraction(&rest, &ns) || strcmp(rest, "Z") != 0)
			return false;
		seconds = timegm(&tm);
	} else {
		if (*text < '0' || *text > '9')
			return false;
		errno = 0;
		seconds = strtoll(text, &end, 10);
		rest = end;
		if (errno || !take_fraction(&rest, &ns) || *rest)
			return false;
	}
	if (seconds < 0 || seconds > MAX_SECONDS)
		return false;
	*moment = (struct moment){ true, seconds * NS_PER_S + ns };
	return true;
}

static int take_moment(const struct ksv_command *command, const struct ksv_option *option,
		       const char *text, void *target)
{
	if (parse_moment(text, target))
		return 0;
	return ksv_usage_error(command, "--%s %s: not a moment from 1970 to 2106 such as "
			       "2026-11-24T10:00:00.5Z, or seconds since 1970", option->name,
			       text);
}

#define OPTIONS	struct rollup_options

static const struct ksv_option rollup_option_table[] = {
	{ 0, "host", "NAME", "the name of the host in all rows; must be given",
	  ksv_take_text, offsetof(OPTIONS, host), NULL },
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "csv (default): a line per number; "
			  "clickhouse: a line\nper vCPU and interval, for examples/fleet"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	{ 0, "interval", "TIME", "length of each interval (default 1s)",
	  ksv_take_time, offsetof(OPTIONS, interval), NULL },
	{ 0, "start-time", "TIME", "real time of time 0 if the trace's sidecar has none:\n"
	  "2026-11-24T10:00:00.5Z, or seconds since 1970",
	  take_moment, offsetof(OPTIONS, start), NULL },
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "only these vCPUs, e.g. d1v0,d2"),
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	KSV_OPTIONS_TRACE(OPTIONS, trace),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

/** A time of the trace, since 1970. Return: false if it is not from then to 2106. */
static bool is_real(int64_t zero_ns, int64_t ns)
{
	int64_t real_ns;

	return !__builtin_add_overflow(zero_ns, ns, &real_ns) && real_ns >= 0 &&
	       real_ns / NS_PER_S < MAX_SECONDS;
}

/** When time 0 was. Return: KSV_EXIT_OK, or after a message. */
static int find_realtime(const struct rollup_options *options, const struct report *report,
			 int64_t *zero_ns)
{
	const struct virt_model *model = report->load->model;

	if (options->start.given)
		*zero_ns = options->start.ns;
	else if (!host_trace_realtime(&report->load->host, zero_ns))
		return ksv_usage_error(options->command, "%s: its start time is unknown: give "
				       "--start-time, the real time of time 0",
				       report->file);
	/* also where the trace begins, whatever the window is */
	if (is_real(*zero_ns, virt_model_begin(model)) && is_real(*zero_ns, virt_model_end(model)))
		return KSV_EXIT_OK;
	ksv_error("%s: according to %s, it was not recorded between 1970 and 2106: give "
		  "%s--start-time",
		  report->file, options->start.given ? "--start-time" : "its sidecar",
		  options->start.given ? "another " : "");
	return KSV_EXIT_FILE;
}

/** @is_first: of the output */
static int roll_up(const struct rollup_options *options, struct report *report,
		   struct output *out, bool is_first)
{
	struct rollup_job job = {
		.host = options->host, .report = report, .vcpus = &options->vcpus,
		.interval_ns = options->interval.ns, .format = formats[options->format],
	};
	int status = report_set_range(options->command, report, &options->from, &options->to);

	if (!status)
		status = find_realtime(options, report, &job.realtime_ns);
	if (!status)
		status = report_begin_intervals(report);
	if (!status)
		status = report_check_intervals(options->command, report, &options->vcpus,
						options->interval.ns);
	if (status)
		return status;
	if (is_first && job.format->begin)
		job.format->begin(out);
	if (!rollup_rows(&job, out))
		return model_changed(report->load, KSV_EXIT_OK);
	ksv_error("%s: not enough memory", report->file);
	return KSV_EXIT_FILE;
}

static int roll_up_file(const struct rollup_options *options, const struct trace_args *args,
			int file, struct output *out)
{
	struct model_load load = {
		.path = args->items[file].path, .options = options->trace, .quiet = options->quiet,
		.before = file ? NULL : &args->notes,
		.command = options->command, .vcpus = &options->vcpus,
	};
	struct report report = { .file = load.path, .load = &load };
	int status = model_load(&load);

	if (!status)
		status = roll_up(options, &report, out, !file);
	if (!status && !options->quiet)
		model_notes(&load);
	virt_loss_walk_free(report.lost);
	model_unload(&load);
	return status;
}

/** All of them, or nothing. */
static int roll_up_files(const struct rollup_options *options, char **argv, int n)
{
	struct trace_args args = {
		.host_only = true, .quiet = options->quiet, .max_input = options->trace.max_input,
	};
	static struct output out;
	int status = trace_args_take(&args, argv, n, options->command, options->output);

	if (!status)
		status = out_open(&out, options->output);
	if (!status) {
		for (int i = 0; i < args.n && !status && !out.error; i++)
			status = roll_up_file(options, &args, i, &out);
		status = out_close(&out, status);
	}
	trace_args_free(&args);
	return status;
}

static int run_rollup(const struct ksv_command *command, int argc, char **argv)
{
	struct rollup_options options = {
		.command = command, .interval = { .kind = KSV_TIME_NS, .ns = NS_PER_S },
	};
	int first, status;

	status = model_parse(command, argc, argv, &options, &options.trace, &first);
	if (status >= 0)
		goto end;
	if (options.interval.kind != KSV_TIME_NS || options.interval.ns <= 0)
		status = ksv_usage_error(command, "--interval must be longer than 0");
	else if (!options.host || !*options.host)
		status = ksv_usage_error(command, "no host: give --host NAME");
	else if (argc == first)
		status = ksv_usage_error(command, "which file?");
	else if (options.start.given && argc - first > 1)
		status = ksv_usage_error(command, "--start-time requires a single file");
	else
		status = roll_up_files(&options, argv + first, argc - first);
end:
	ksv_vcpus_free(&options.vcpus);
	return status;
}

const struct ksv_command cmd_rollup = {
	.name = "rollup",
	.args = "[OPTION...] --host NAME FILE...",
	.summary = "Write one row per vCPU and second, for databases of many hosts",
	.notes = "FILE is a xentrace file, which may be compressed with gzip or zstd; or the\n"
		 "trace.dat of a KVM host; or the folder of a recording. Times are real ones, in\n"
		 "UTC.\n",
	.options = rollup_option_table,
	.n_options = ARRAY_SIZE(rollup_option_table),
	.run = run_rollup,
};
