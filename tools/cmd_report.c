// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_report.c
 * @brief	kshark-virt report: what the vCPUs of a trace did, in numbers.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "report.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, N_FORMATS };

static const struct {
	const char	*name;
	void		(*write)(struct output *out, const struct report *report, bool first);
} formats[N_FORMATS] = {
	[FORMAT_TEXT] = { "text", report_text },
	[FORMAT_JSON] = { "json", report_json },
	[FORMAT_CSV] = { "csv", report_csv },
};

struct report_options {
	const struct ksv_command *command;
	enum format		format;
	bool			quiet;
	const char		*output;
	struct ksv_vcpu_set	vcpus;
	struct ksv_time		from, to;
	struct xen_trace_options trace;
};

enum { KEY_VCPU = 256, KEY_FROM, KEY_TO, KEY_CPU_HZ, KEY_ABSOLUTE, KEY_SKEW };

static const struct ksv_option report_option_table[] = {
	{ 'f', "format", "FORMAT", "text (default), json or csv" },
	{ 'o', "output", "FILE", "write to FILE instead of standard output" },
	{ KEY_VCPU, "vcpu", "LIST", "only these vCPUs, e.g. d1v0,d2" },
	{ KEY_FROM, "from", "TIME", "from this time on: seconds, or a number with ns, us, ms\n"
	  "or s, or tsc:N for a raw time stamp" },
	{ KEY_TO, "to", "TIME", "up to this time, which is not included" },
	{ KEY_CPU_HZ, "cpu-hz", "HZ", "frequency of the TSC, e.g. 2.4G, 2399998K" },
	{ KEY_ABSOLUTE, "absolute", NULL, "time 0 is TSC 0 instead of the first record" },
	{ KEY_SKEW, "correct-skew", NULL, "correct TSC differences between physical CPUs" },
	{ 'q', "quiet", NULL, "no progress, no notes about damage, clock and skew" },
};

static int set_format(struct report_options *options, const char *name)
{
	for (int i = 0; i < N_FORMATS; i++) {
		if (!strcmp(name, formats[i].name)) {
			options->format = (enum format)i;
			return 0;
		}
	}
	return ksv_usage_error(options->command, "--format %s: not text, json or csv", name);
}

static int report_option(void *arg, int key, const char *value)
{
	struct report_options *options = arg;

	switch (key) {
	case 'f':
		return set_format(options, value);
	case 'o':
		options->output = value;
		break;
	case 'q':
		options->quiet = true;
		break;
	case KEY_VCPU:
		return ksv_option_vcpus(options->command, value, &options->vcpus);
	case KEY_FROM:
		return ksv_option_time(options->command, "from", value, &options->from);
	case KEY_TO:
		return ksv_option_time(options->command, "to", value, &options->to);
	case KEY_CPU_HZ:
		return ksv_option_hz(options->command, value, &options->trace.cpu_hz);
	case KEY_ABSOLUTE:
		options->trace.absolute_time = true;
		break;
	case KEY_SKEW:
		options->trace.correct_skew = true;
		break;
	}
	return 0;
}

/** A file that is being reported on. */
struct job {
	const struct report_options *options;
	struct model_load	load;
	struct report_count	count;
	struct report		report;
};

/** The clock is known now: find the window, so that only what lies inside is counted. */
static int job_opened(void *arg)
{
	struct job *job = arg;

	job->count.from_ns = model_time(&job->load, &job->options->from, INT64_MIN);
	job->count.to_ns = model_time(&job->load, &job->options->to, INT64_MAX);
	if (job->count.from_ns >= job->count.to_ns)
		return ksv_usage_error(job->options->command,
				       "--from is not before --to: nothing lies between");
	if (!report_count_init(&job->count, xen_trace_n_pcpus(job->load.trace)))
		return 0;
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

static void job_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct job *job = arg;

	report_count_rows(&job->count, rows, n);
}

/** The window, cut to the trace. Return: KSV_EXIT_OK, or the exit status after a message. */
static int set_window(struct job *job)
{
	const struct virt_model *model = job->load.model;
	struct report *report = &job->report;

	report->from_ns = job->count.from_ns;
	report->to_ns = job->count.to_ns;
	if (report->from_ns < virt_model_begin(model))
		report->from_ns = virt_model_begin(model);
	if (report->to_ns > virt_model_end(model))
		report->to_ns = virt_model_end(model);
	if (report->from_ns < report->to_ns || virt_model_begin(model) == virt_model_end(model))
		return KSV_EXIT_OK;
	return ksv_usage_error(job->options->command,
			       "%s: --from and --to lie outside the trace, which goes from %lld ns "
			       "to %lld ns", job->load.path, (long long)virt_model_begin(model),
			       (long long)virt_model_end(model));
}

static int report_file(const struct report_options *options, const char *path,
		       struct output *out, bool first)
{
	struct job job = {
		.options = options,
		.load = {
			.path = path,
			.options = options->trace,
			.quiet = options->quiet,
			.opened = job_opened,
			.rows = job_rows,
		},
	};
	int status;

	job.load.arg = &job;
	status = model_load(&job.load);
	if (!status)
		status = set_window(&job);
	if (status)
		goto end;
	job.report.file = path;
	job.report.load = &job.load;
	job.report.count = &job.count;
	if (job.count.error || report_build(&job.report, &options->vcpus)) {
		ksv_error("%s: not enough memory", path);
		status = KSV_EXIT_FILE;
		goto end;
	}
	formats[options->format].write(out, &job.report, first);
	if (!options->quiet)
		model_notes(&job.load);
end:
	report_free(&job.report);
	report_count_destroy(&job.count);
	model_unload(&job.load);
	return status;
}

static int report_files(const struct report_options *options, char **files, int n,
			struct output *out)
{
	int status = KSV_EXIT_OK, closed;

	if (out_open(out, options->output)) {
		ksv_error("%s: cannot write: %s", options->output, strerror(errno));
		return KSV_EXIT_FILE;
	}
	for (int i = 0; i < n && !status && !out->error; i++)
		status = report_file(options, files[i], out, i == 0);
	closed = out_close(out);
	return status ? status : closed;
}

static int run_report(const struct ksv_command *command, int argc, char **argv)
{
	static struct output out;
	struct report_options options = { .command = command };
	char error[512] = "";
	int first, status;

	if (xen_trace_options_from_env(&options.trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	status = ksv_parse(command, argc, argv, report_option, &options, &first);
	if (status >= 0)
		goto end;
	/* A closed pipe is an error of write() like others, so that everything is cleaned up. */
	signal(SIGPIPE, SIG_IGN);
	for (int i = first; i < argc; i++) {
		if (options.output && ksv_same_file(argv[i], options.output)) {
			status = ksv_usage_error(command, "--output %s: is the trace itself",
						 options.output);
			goto end;
		}
	}
	status = first < argc ? report_files(&options, argv + first, argc - first, &out) :
				ksv_usage_error(command, "which file?");
end:
	free(options.vcpus.ranges);
	return status;
}

const struct ksv_command cmd_report = {
	.name = "report",
	.args = "[OPTION...] FILE...",
	.summary = "Tell in numbers what the vCPUs of a xentrace file did",
	.notes = "FILE may be compressed with gzip or zstd, a pipe, or - for standard input.\n",
	.options = report_option_table,
	.n_options = ARRAY_SIZE(report_option_table),
	.run = run_report,
};
