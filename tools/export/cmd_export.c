// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_export.c
 * @brief	kshark-virt export: a trace for databases.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export_perfetto.h"
#include "export_rows.h"
#include "export_sink.h"
#include "report_range.h"
#include "trace_args.h"

/** More than anybody reads, less than memory holds; and what is there unless asked for. */
#define MAX_MOMENTS	1000000
#define MOMENTS		1000

enum format { FORMAT_CSV, FORMAT_SQLITE, FORMAT_PERFETTO, N_FORMATS };

static const char *const format_names[] = {
	[FORMAT_CSV] = "csv-tables",
	[FORMAT_SQLITE] = "sqlite",
	[FORMAT_PERFETTO] = "perfetto",
	NULL
};

/* but for what is no table */
static const struct export_sink *const sinks[N_FORMATS] = {
	[FORMAT_CSV] = &export_csv,
	[FORMAT_SQLITE] = &export_sqlite,
};

struct export_options {
	const struct ksv_command *command;
	int			format;		/* enum format; N_FORMATS: not told */
	bool			quiet;
	const char		*output;
	struct ksv_vcpu_set	vcpus;
	struct ksv_time		from, to;
	size_t			moments;
	struct host_options	trace;
};

static int take_moments(const struct ksv_command *command, const struct ksv_option *option,
			const char *text, void *target)
{
	char *end;
	unsigned long long n;

	(void)option;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (text[strspn(text, "0123456789")] || end == text || errno || n > MAX_MOMENTS)
		return ksv_usage_error(command, "--worst %s: not a number from 0 to %d", text,
				       MAX_MOMENTS);
	*(size_t *)target = (size_t)n;
	return 0;
}

#define OPTIONS	struct export_options

static const struct ksv_option export_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "csv-tables: a folder with a CSV file "
			  "per table; sqlite: a database;\n"
			  "perfetto: a trace for ui.perfetto.dev"),
	{ 'o', "output", "FILE", "what to write: the folder or file",
	  ksv_take_text, offsetof(OPTIONS, output), NULL },
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "only these vCPUs, e.g. d1v0,d2"),
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	{ 0, "worst", "N", "the N costliest moments (default 1000)",
	  take_moments, offsetof(OPTIONS, moments), NULL },
	KSV_OPTION_CPU_HZ(OPTIONS, trace.cpu_hz),
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.max_input),
	KSV_OPTION_ABSOLUTE(OPTIONS, trace.absolute_time),
	KSV_OPTION_SKEW(OPTIONS, trace.correct_skew),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

static int write_perfetto(const struct export_options *options, const struct export_job *job)
{
	static struct output out;
	int status = out_open(&out, options->output);

	if (status)
		return status;
	export_perfetto(job, &out);
	return out_close(&out, model_changed(job->report->load, status));
}

static int write_tables(const struct export_options *options, struct report *report)
{
	const struct export_job job = { .report = report, .most_moments = options->moments };
	struct export_sink sink;
	int status;

	if (report_window(report, &options->vcpus, 0)) {
		ksv_error("%s: not enough memory", report->file);
		return KSV_EXIT_FILE;
	}
	report->n_pcpus = host_trace_n_pcpus(&report->load->host);
	if (virt_model_n_pcpus(report->load->model) > report->n_pcpus)
		report->n_pcpus = virt_model_n_pcpus(report->load->model);
	if (options->format == FORMAT_PERFETTO)
		return write_perfetto(options, &job);
	sink = *sinks[options->format];
	status = sink.open(&sink, options->output);
	if (status)
		return status;
	if (export_rows(&job, &sink)) {
		ksv_error("%s: not enough memory", report->file);
		status = KSV_EXIT_FILE;
	}
	return sink.close(&sink, model_changed(report->load, status));
}

static int export_file(const struct export_options *options, const char *path)
{
	struct model_load load = {
		.path = path, .options = options->trace, .quiet = options->quiet,
	};
	struct report report = { .file = path, .load = &load };
	int status = model_load(&load);

	if (!status)
		status = report_set_range(options->command, &report, &options->from,
					  &options->to);
	if (!status)
		status = write_tables(options, &report);
	if (!status && !options->quiet)
		model_notes(&load);
	report_free(&report);
	model_unload(&load);
	return status;
}

static int export_arg(const struct export_options *options, const char *arg)
{
	struct trace_args args = { .quiet = options->quiet };
	const char *path;
	int status = trace_args_only(&args, options->command, arg, options->output, &path);

	if (!status)
		status = export_file(options, path);
	trace_args_free(&args);
	return status;
}

static int run_export(const struct ksv_command *command, int argc, char **argv)
{
	struct export_options options = {
		.command = command, .format = N_FORMATS, .moments = MOMENTS,
	};
	char error[512] = "";
	int first, status;

	if (host_options_from_env(&options.trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	status = ksv_parse(command, argc, argv, &options, &first);
	if (status >= 0)
		goto end;
	if (options.format == N_FORMATS)
		status = ksv_usage_error(command, "which --format?");
	else if (!options.output || !*options.output || !strcmp(options.output, "-"))
		status = ksv_usage_error(command, "where to? Give --output");
	else if (argc - first != 1)
		status = ksv_usage_error(command, argc > first ? "one file at a time" :
					 "which file?");
	else
		status = export_arg(&options, argv[first]);
end:
	free(options.vcpus.ranges);
	return status;
}

const struct ksv_command cmd_export = {
	.name = "export",
	.args = "--format FORMAT -o FILE [OPTION...] FILE",
	.summary = "Write what vCPUs did as tables for databases",
	.notes = KSV_NOTE_HOST,
	.options = export_option_table,
	.n_options = ARRAY_SIZE(export_option_table),
	.run = run_export,
};
