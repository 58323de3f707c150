// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_diff.c
 * @brief	kshark-virt diff: describe the changes of the activity of vCPUs, in words.
 */
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "model_vcpus.h"
#include "report_range.h"
#include "terminal.h"
#include "trace_args.h"

/** The default of --most. */
#define MOST		20
#define MAX_MOST	1000000
#define ABOVE_NS	1000000

struct diff_options {
	const struct ksv_command *command;
	int			format;		/* enum table_format_kind */
	bool			quiet, exits;
	const char		*output;
	size_t			most;
	struct ksv_vcpu_set	vcpus;
	struct ksv_time		from, to, at, above;
	struct host_options	trace;
};

static int take_most(const struct ksv_command *command, const struct ksv_option *option,
		     const char *text, void *target)
{
	return ksv_take_number(command, option, text, 0, MAX_MOST, target);
}

#define OPTIONS	struct diff_options

static const struct ksv_option diff_option_table[] = {
	KSV_OPTION_FORMAT(OPTIONS, format, table_format_names, "text (default), csv or json"),
	KSV_OPTION_OUTPUT(OPTIONS, output),
	{ 0, "at", "TIME", "compare one trace before and after this time",
	  ksv_take_time, offsetof(OPTIONS, at), NULL },
	{ 0, "above", "TIME", "only differences above this in each second (default 1ms)",
	  ksv_take_time, offsetof(OPTIONS, above), NULL },
	{ 0, "most", "N", "the N largest differences (default 20)",
	  take_most, offsetof(OPTIONS, most), NULL },
	{ 0, "exits", NULL, "also what VM exits were for, as report --exits",
	  ksv_take_flag, offsetof(OPTIONS, exits), NULL },
	KSV_OPTION_VCPUS(OPTIONS, vcpus, "only these vCPUs, e.g. d1v0,d2"),
	KSV_OPTION_FROM(OPTIONS, from, "with --at: from this time on: seconds, or a number with\n"
			"ns, us, ms, s, m or h, or tsc:N for a raw time stamp"),
	KSV_OPTION_TO(OPTIONS, to, "with --at: up to this time, which is not included"),
	KSV_OPTIONS_TRACE(OPTIONS, trace),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes about damage, clock and skew"),
};

/** Differences are no error, but what a script may want to know of. */
static int write_diff(const struct diff_options *options, const struct diff *diff,
		      const struct report *reports)
{
	static struct output out;
	int status = out_open_text(&out, options->output,
				   options->format ? OUT_PROGRAM : OUT_PAGES);

	if (status)
		return status;
	if (diff_write((enum table_format_kind)options->format, &out, diff, reports,
		       options->most)) {
		ksv_error("%s, %s: not enough memory", reports[DIFF_BEFORE].file,
			  reports[DIFF_AFTER].file);
		return out_close(&out, KSV_EXIT_FILE);
	}
	status = diff->n || diff->n_missing ? KSV_EXIT_FINDINGS : KSV_EXIT_OK;
	for (int side = 0; side < DIFF_N_SIDES && status <= KSV_EXIT_FINDINGS; side++)
		status = model_changed(reports[side].load, status);
	return out_close(&out, status);
}

static int diff_reports(const struct diff_options *options, struct report *reports)
{
	struct diff diff;
	int ret = diff_make(&diff, reports, &options->vcpus, options->above.ns,
			    options->exits);
	int status = KSV_EXIT_FILE;

	if (ret)
		ksv_error("%s, %s: not enough memory", reports[DIFF_BEFORE].file,
			  reports[DIFF_AFTER].file);
	else
		status = write_diff(options, &diff, reports);
	diff_free(&diff);
	return status;
}

/** One trace, cut in two. */
static int cut_in_two(const struct diff_options *options, struct report *reports)
{
	struct report *before = &reports[DIFF_BEFORE], *after = &reports[DIFF_AFTER];
	int64_t at_ns;
	int status = report_set_range(options->command, before, &options->from, &options->to);

	if (status)
		return status;
	*after = *before;
	at_ns = model_time(before->load, &options->at, 0);
	if (at_ns <= before->from_ns || at_ns >= before->to_ns)
		return ksv_usage_error(options->command, "%s: --at lies outside the compared "
				       "window, from %lld ns to %lld ns",
				       before->file, (long long)before->from_ns,
				       (long long)before->to_ns);
	before->to_ns = after->from_ns = at_ns;
	return diff_reports(options, reports);
}

/** Two traces, whole. */
static int compare_two(const struct diff_options *options, struct report *reports)
{
	const char *before = host_trace_hypervisor(&reports[DIFF_BEFORE].load->host);
	const char *after = host_trace_hypervisor(&reports[DIFF_AFTER].load->host);
	static const struct ksv_time none;
	int status = KSV_EXIT_OK;

	if (strcmp(before, after) != 0)
		return ksv_usage_error(options->command, "%s is a trace of %s, %s is one of %s: "
				       "give two traces of the same hypervisor",
				       reports[DIFF_BEFORE].file, before,
				       reports[DIFF_AFTER].file, after);

	for (int side = 0; !status && side < DIFF_N_SIDES; side++)
		status = report_set_range(options->command, &reports[side], &none, &none);
	return status ? status : diff_reports(options, reports);
}

/** @n: traces: 1 or 2 */
static int diff_files(const struct diff_options *options, const struct trace_args *args)
{
	struct model_load loads[DIFF_N_SIDES] = { 0 };
	struct report reports[DIFF_N_SIDES] = { 0 };
	int status = KSV_EXIT_OK;

	for (int side = 0; !status && side < args->n; side++) {
		loads[side] = (struct model_load){
			.path = args->items[side].path, .options = options->trace,
			.quiet = options->quiet, .before = side ? NULL : &args->notes,
		};
		reports[side] = (struct report){
			.file = args->items[side].path, .load = &loads[side],
		};
		status = model_load(&loads[side]);
	}
	if (!status)
		status = model_check_vcpus((const struct virt_model *[]){
						loads[0].model, loads[args->n - 1].model
					   }, 2, loads[0].path, options->command, &options->vcpus);
	if (!status)
		status = args->n == 1 ? cut_in_two(options, reports) :
			 compare_two(options, reports);
	for (int side = 0; side < args->n; side++) {
		if (status <= KSV_EXIT_FINDINGS && !options->quiet)
			model_notes(&loads[side]);
		model_unload(&loads[side]);
	}
	return status;
}

static int diff_args(const struct diff_options *options, char **argv, int n)
{
	struct trace_args args = {
		.host_only = true, .quiet = options->quiet, .max_input = options->trace.max_input,
	};
	int status = trace_args_add_all(&args, argv, n);

	if (!status)
		status = trace_args_check_output(&args, options->command, "output",
						 options->output);
	if (!status)
		status = diff_files(options, &args);
	trace_args_free(&args);
	return status;
}

static int run_diff(const struct ksv_command *command, int argc, char **argv)
{
	struct diff_options options = {
		.command = command, .most = MOST,
		.above = { .kind = KSV_TIME_NS, .ns = ABOVE_NS },
	};
	int first, status, n;

	status = model_parse(command, argc, argv, &options, &options.trace, &first);
	if (status >= 0)
		goto end;
	n = argc - first;
	if (options.above.kind != KSV_TIME_NS || options.above.ns < 0)
		status = ksv_usage_error(command, "--above is not a time");
	else if (n > 2)
		status = ksv_usage_error(command, "give two traces; '%s' is another one",
					 argv[first + 2]);
	else if (n != 2 && !options.at.kind)
		status = ksv_usage_error(command, n ? "give another trace, or --at" :
					 "which files?");
	else if (n != 1 && options.at.kind)
		status = ksv_usage_error(command, "--at requires a single trace");
	else if (!options.at.kind && (options.from.kind || options.to.kind))
		status = ksv_usage_error(command, "--from and --to require --at");
	else
		status = diff_args(&options, argv + first, n);
end:
	ksv_vcpus_free(&options.vcpus);
	return status;
}

const struct ksv_command cmd_diff = {
	.name = "diff",
	.args = "[OPTION...] BEFORE AFTER | --at TIME FILE",
	.summary = "List what differs between two traces, or before and after a moment",
	.notes = "Each is a xentrace file, which may be compressed with gzip or zstd; or the\n"
		 "trace.dat of a KVM host; or the folder of a recording.\n",
	.options = diff_option_table,
	.n_options = ARRAY_SIZE(diff_option_table),
	.prints_text = true,
	.run = run_diff,
};
