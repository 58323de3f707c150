// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_export.c
 * @brief	kshark-virt export: a trace for databases.
 */
#include <string.h>

#include "export_perfetto.h"
#include "export_sink.h"
#include "export_source.h"
#include "export_stacks.h"

enum format {
	FORMAT_CSV, FORMAT_SQLITE, FORMAT_PERFETTO, FORMAT_FOLDED, FORMAT_SPEEDSCOPE, N_FORMATS
};

static const char *const format_names[] = {
	[FORMAT_CSV] = "csv-tables",
	[FORMAT_SQLITE] = "sqlite",
	[FORMAT_PERFETTO] = "perfetto",
	[FORMAT_FOLDED] = "folded",
	[FORMAT_SPEEDSCOPE] = "speedscope",
	NULL
};

/* but for what is no table */
static const struct export_sink *const sinks[N_FORMATS] = {
	[FORMAT_CSV] = &export_csv,
	[FORMAT_SQLITE] = &export_sqlite,
};

struct export_options {
	struct export_source	source;
	int			format;		/* enum format; N_FORMATS: none is given */
	bool			all_states;
};

#define OPTIONS	struct export_options

static const struct ksv_option export_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, format_names, "csv-tables: a folder with a CSV file "
			  "per table; sqlite: a database;\n"
			  "perfetto: a trace for ui.perfetto.dev;\n"
			  "folded, speedscope: lost time, for flame graphs"),
	{ 'o', "output", "FILE", "the folder or file to write; folded and speedscope go\n"
	  "to standard output by default",
	  ksv_take_text, offsetof(OPTIONS, source.output), NULL },
	EXPORT_SOURCE_OPTIONS(OPTIONS, source),
	{ 0, "all-states", NULL, "folded, speedscope: also the time in guest code",
	  ksv_take_flag, offsetof(OPTIONS, all_states), NULL },
	EXPORT_SOURCE_TRACE_OPTIONS(OPTIONS, source),
};

static int no_memory(const char *file)
{
	ksv_error("%s: not enough memory", file);
	return KSV_EXIT_FILE;
}

static bool is_flame_graph(const struct export_options *options)
{
	return options->format == FORMAT_FOLDED || options->format == FORMAT_SPEEDSCOPE;
}

/** Return: 0, -ENOMEM, or what went wrong with a trace. */
static int write_format(const struct export_options *options, const struct export_job *job,
			struct output *out)
{
	if (options->format == FORMAT_FOLDED)
		return export_folded(job, options->all_states, out);
	if (options->format == FORMAT_SPEEDSCOPE)
		return export_speedscope(job, options->all_states, out);
	return export_perfetto(job, out);
}

static int write_file(const struct export_options *options, const struct export_job *job)
{
	static struct output out;
	int status = out_open(&out, options->source.output), ret;

	if (status)
		return status;
	ret = write_format(options, job, &out);
	if (ret) {
		ksv_error("%s: %s", job->report->file, host_trace_problem(ret));
		status = KSV_EXIT_FILE;
	}
	return out_close(&out, model_changed(job->report->load, status));
}

static int write_tables(const struct export_options *options, const struct export_job *job)
{
	struct export_sink sink = *sinks[options->format];
	int status = sink.open(&sink, options->source.output);

	if (status)
		return status;
	if (export_rows(job, &sink))
		status = no_memory(job->report->file);
	return sink.close(&sink, model_changed(job->report->load, status));
}

static int write_job(void *arg, const struct export_job *job)
{
	const struct export_options *options = arg;

	return sinks[options->format] ? write_tables(options, job) : write_file(options, job);
}

/** Return: 0, or the exit status after a message. */
static int check_options(const struct export_options *options)
{
	const struct ksv_command *command = options->source.command;
	const char *output = options->source.output;
	bool is_named = output && *output && strcmp(output, "-") != 0;

	if (options->format == N_FORMATS)
		return ksv_usage_error(command, "which --format?");
	if (!is_named && !is_flame_graph(options))
		return ksv_usage_error(command, "where to? Give --output");
	if (options->all_states && !is_flame_graph(options))
		return ksv_usage_error(command, "--all-states requires --format folded or "
				       "speedscope: the others always have all states");
	return 0;
}

static int run_export(const struct ksv_command *command, int argc, char **argv)
{
	struct export_options options = {
		.source = { .command = command, .moments = EXPORT_MOMENTS }, .format = N_FORMATS,
	};
	int first, status;

	status = model_parse(command, argc, argv, &options, &options.source.trace, &first);
	if (status >= 0)
		goto end;
	status = check_options(&options);
	/* other formats have no tables; traces for Perfetto have samples */
	if (!status && !sinks[options.format])
		options.source.left_out = ~(options.format == FORMAT_PERFETTO ?
					    1U << EXPORT_HOST_SAMPLE : 0);
	if (!status && argc == first)
		status = ksv_usage_error(command, "which file?");
	else if (!status)
		status = export_source_each(&options.source, argv + first, argc - first, write_job,
					    &options);
end:
	export_source_free(&options.source);
	return status;
}

const struct ksv_command cmd_export = {
	.name = "export",
	.args = "--format FORMAT -o FILE [OPTION...] FILE...",
	.summary = "Export states, exits and wake-ups for databases and flame graphs",
	.notes = KSV_NOTE_HOST,
	.options = export_option_table,
	.n_options = ARRAY_SIZE(export_option_table),
	.run = run_export,
};
