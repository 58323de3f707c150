// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_top.c
 * @brief	kshark-virt top: what machines and vCPUs did, interval by interval.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report_range.h"
#include "top.h"
#include "trace_args.h"

/** More of them nobody reads. */
#define MAX_INTERVALS	1000000
#define INTERVAL_NS	1000000000

static const char *const format_names[] = { "text", "csv", "json", "openmetrics", NULL };

static const struct top_format *const formats[] = {
	&top_text, &top_csv, &top_json, &top_openmetrics,
};

struct top_options {
	const struct ksv_command *command;
	int			format;		/* index of @formats */
	bool			quiet, once;
	const char		*output;
	struct ksv_vcpu_set	vcpus;
	struct ksv_time		from, to, interval;
	struct host_options	trace;
};

#define OPTIONS	struct top_options

static const struct ksv_option top_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "text (default), csv, json, or "
			  "openmetrics:\ncounters over all of the window"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	{ 0, "interval", "TIME", "how long each interval is (default 1s)",
	  ksv_take_time, offsetof(OPTIONS, interval), NULL },
	{ 0, "once", NULL, "only the first interval",
	  ksv_take_flag, offsetof(OPTIONS, once), NULL },
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "only these vCPUs, e.g. d1v0,d2"),
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	KSV_OPTION_CPU_HZ(OPTIONS, trace.cpu_hz),
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.max_input),
	KSV_OPTION_ABSOLUTE(OPTIONS, trace.absolute_time),
	KSV_OPTION_SKEW(OPTIONS, trace.correct_skew),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

/** Times may be farther apart than a time can be. */
static uint64_t length_of(int64_t from_ns, int64_t to_ns)
{
	return (uint64_t)to_ns - (uint64_t)from_ns;
}

/** Return: KSV_EXIT_OK, or after a message. */
static int set_window(const struct top_options *options, struct report *report)
{
	int status = report_set_range(options->command, report, &options->from, &options->to);

	if (status)
		return status;
	if (!options->once && !formats[options->format]->at_once &&
	    length_of(report->from_ns, report->to_ns) / (uint64_t)options->interval.ns >=
	    MAX_INTERVALS)
		return ksv_usage_error(options->command, "%s: more than %d intervals: give a "
				       "longer --interval, or --from and --to", report->file,
				       MAX_INTERVALS);
	return KSV_EXIT_OK;
}

/** Return: 0 or -ENOMEM. */
static int write_intervals(const struct top_options *options, struct report *report,
			   struct output *out)
{
	const struct top_format *format = formats[options->format];
	bool whole = format->at_once && !options->once;
	int64_t to_ns = report->to_ns, step = options->interval.ns;
	int ret;

	do {
		report->to_ns = whole || length_of(report->from_ns, to_ns) <= (uint64_t)step ?
				to_ns : report->from_ns + step;
		ret = format->interval(out, report, &options->vcpus);
		report->from_ns = report->to_ns;
	} while (!ret && !options->once && !out->error && report->from_ns < to_ns);
	return ret;
}

static int write_top(const struct top_options *options, struct report *report)
{
	const struct top_format *format = formats[options->format];
	static struct output out;
	int status = out_open(&out, options->output);

	if (status)
		return status;
	report->n_pcpus = host_trace_n_pcpus(&report->load->host);
	if (virt_model_n_pcpus(report->load->model) > report->n_pcpus)
		report->n_pcpus = virt_model_n_pcpus(report->load->model);
	if (format->begin)
		format->begin(&out, report);
	if (write_intervals(options, report, &out)) {
		ksv_error("%s: not enough memory", report->file);
		status = KSV_EXIT_FILE;
	}
	if (format->end)
		format->end(&out);
	return out_close(&out, model_changed(report->load, status));
}

static int top_file(const struct top_options *options, const char *path)
{
	struct model_load load = {
		.path = path, .options = options->trace, .quiet = options->quiet,
	};
	struct report report = { .file = path, .load = &load };
	int status = model_load(&load);

	if (!status)
		status = set_window(options, &report);
	if (!status)
		status = write_top(options, &report);
	if (!status && !options->quiet)
		model_notes(&load);
	model_unload(&load);
	return status;
}

/** A pipe would be read to its end before anything is told, which need not come. */
static int refuse_pipe(const struct top_options *options, const char *arg)
{
	struct stat st;

	if (strcmp(arg, "-") && (stat(arg, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return KSV_EXIT_OK;
	return ksv_usage_error(options->command, "%s: not followed while it is written: give a "
			       "file, or the folder of a recording that has ended",
			       strcmp(arg, "-") ? arg : "standard input");
}

static int top_arg(const struct top_options *options, const char *arg)
{
	struct trace_args args = { .quiet = options->quiet };
	const char *path;
	int status = refuse_pipe(options, arg);

	if (!status)
		status = trace_args_only(&args, options->command, arg, options->output, &path);
	if (!status)
		status = top_file(options, path);
	trace_args_free(&args);
	return status;
}

static int run_top(const struct ksv_command *command, int argc, char **argv)
{
	struct top_options options = {
		.command = command, .interval = { .kind = KSV_TIME_NS, .ns = INTERVAL_NS },
	};
	char error[512] = "";
	int first, status;

	if (host_options_from_env(&options.trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	status = ksv_parse(command, argc, argv, &options, &first);
	if (status >= 0)
		goto end;
	if (options.interval.kind != KSV_TIME_NS || options.interval.ns <= 0)
		status = ksv_usage_error(command, "--interval is not a time longer than 0");
	else if (argc - first != 1)
		status = ksv_usage_error(command, argc > first ? "one file at a time" :
					 "which file?");
	else
		status = top_arg(&options, argv[first]);
end:
	free(options.vcpus.ranges);
	return status;
}

const struct ksv_command cmd_top = {
	.name = "top",
	.args = "[OPTION...] FILE",
	.summary = "Tell interval by interval what machines and vCPUs did",
	.notes = "FILE is a xentrace file, which may be compressed with gzip or zstd; or the\n"
		 "trace.dat of a KVM host; or the folder of a recording.\n",
	.options = top_option_table,
	.n_options = ARRAY_SIZE(top_option_table),
	.run = run_top,
};
