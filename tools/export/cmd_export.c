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
#include "model_files.h"
#include "report_range.h"

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
	return ksv_take_number(command, option, text, 0, MAX_MOMENTS, target);
}

#define OPTIONS	struct export_options

static const struct ksv_option export_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "csv-tables: a folder with a CSV file "
			  "per table; sqlite: a database;\n"
			  "perfetto: a trace for ui.perfetto.dev"),
	{ 'o', "output", "FILE", "the folder or file to write",
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

static int no_memory(const char *file)
{
	ksv_error("%s: not enough memory", file);
	return KSV_EXIT_FILE;
}

static int write_perfetto(const struct export_options *options, const struct export_job *job)
{
	static struct output out;
	int status = out_open(&out, options->output);

	if (status)
		return status;
	if (export_perfetto(job, &out))
		status = no_memory(job->report->file);
	return out_close(&out, model_changed(job->report->load, status));
}

static int write_tables(const struct export_options *options, const struct export_job *job)
{
	struct export_sink sink = *sinks[options->format];
	int status = sink.open(&sink, options->output);

	if (status)
		return status;
	if (export_rows(job, &sink))
		status = no_memory(job->report->file);
	return sink.close(&sink, model_changed(job->report->load, status));
}

static int write_report(const struct export_options *options, struct report *report,
			const struct guest_tasks *guests)
{
	const struct export_job job = {
		.report = report, .most_moments = options->moments,
		.guests = guests, .n_guests = report->load->n_guests,
	};

	if (report_window(report, &options->vcpus, 0))
		return no_memory(report->file);
	report->n_pcpus = host_trace_n_pcpus(&report->load->host);
	if (virt_model_n_pcpus(report->load->model) > report->n_pcpus)
		report->n_pcpus = virt_model_n_pcpus(report->load->model);
	return options->format == FORMAT_PERFETTO ? write_perfetto(options, &job) :
	       write_tables(options, &job);
}

/** With the tasks of its guests. */
static int export_model(const struct export_options *options, struct report *report)
{
	const struct model_load *load = report->load;
	struct guest_tasks *guests = calloc((size_t)load->n_guests + 1, sizeof(*guests));
	int ret = guests ? 0 : -ENOMEM, status = KSV_EXIT_FILE;

	for (int i = 0; !ret && i < load->n_guests; i++)
		ret = guest_tasks_read(&guests[i], &load->host, load->model, &load->clocks[i]);
	if (ret)
		ksv_error("%s: %s", report->file, host_trace_problem(ret));
	else
		status = write_report(options, report, guests);
	for (int i = 0; guests && i < load->n_guests; i++)
		guest_tasks_free(&guests[i]);
	free(guests);
	return status;
}

static int export_host(const struct export_options *options, struct model_files *files)
{
	struct model_load load = {
		.options = options->trace, .quiet = options->quiet,
		.command = options->command, .vcpus = &options->vcpus,
	};
	struct report report = { .load = &load };
	int host, status = model_files_only_host(files, options->command, &host);

	if (status)
		return status;
	model_files_load(files, host, &load);
	report.file = load.path;
	status = model_load(&load);
	if (!status)
		status = report_set_range(options->command, &report, &options->from,
					  &options->to);
	if (!status)
		status = export_model(options, &report);
	if (!status && !options->quiet)
		model_notes(&load);
	report_free(&report);
	model_unload(&load);
	return status;
}

/** A host, and its guests. */
static int export_args(const struct export_options *options, char **argv, int n)
{
	struct trace_args args = {
		.quiet = options->quiet, .max_input = options->trace.max_input,
	};
	struct model_files files = {
		.args = &args, .cpu_hz = options->trace.cpu_hz, .quiet = options->quiet,
	};
	int status = trace_args_add_all(&args, argv, n), unread;

	if (!status)
		status = trace_args_check_twice(&args);
	if (!status)
		status = trace_args_check_output(&args, options->command, "output",
						 options->output);
	if (!status) {
		unread = model_files_open(&files);
		status = files.traces ? export_host(options, &files) : unread;
		status = status ? status : unread;
	}
	model_files_close(&files);
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
	else if (argc == first)
		status = ksv_usage_error(command, "which file?");
	else
		status = export_args(&options, argv + first, argc - first);
end:
	ksv_vcpus_free(&options.vcpus);
	return status;
}

const struct ksv_command cmd_export = {
	.name = "export",
	.args = "--format FORMAT -o FILE [OPTION...] FILE...",
	.summary = "Export states, exits and wake-ups as tables for databases",
	.notes = KSV_NOTE_HOST,
	.options = export_option_table,
	.n_options = ARRAY_SIZE(export_option_table),
	.run = run_export,
};
