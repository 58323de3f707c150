// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_split.c
 * @brief	kshark-virt split: a part of a trace as a file of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report_range.h"
#include "split.h"
#include "split_dat.h"
#include "trace_args.h"
#include "trace_dat.h"
#include "xen_trace_window.h"

struct split_options {
	const struct ksv_command *command;
	bool			quiet;
	const char		*output;
	struct ksv_id_set	pcpus;
	struct ksv_time		from, to;
	struct host_options	trace;
};

#define OPTIONS	struct split_options

static const struct ksv_option split_option_table[] = {
	KSV_OPTION_FROM(OPTIONS, from, KSV_FROM_HELP),
	KSV_OPTION_TO(OPTIONS, to, "up to this time, which is not included"),
	KSV_OPTION_PCPUS(OPTIONS, pcpus, "only the records of these pCPUs, e.g. 0,2-3, of a\n"
			 "xentrace file"),
	{ 'o', "output", "FILE", "write to FILE, and beside it FILE.meta.json; a folder\n"
	  "for several traces (default: trace.xen becomes\n"
	  "trace.split.xen)",
	  ksv_take_text, offsetof(OPTIONS, output), NULL },
	KSV_OPTION_CPU_HZ(OPTIONS, trace.cpu_hz),
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.max_input),
	KSV_OPTION_ABSOLUTE(OPTIONS, trace.absolute_time),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes"),
};

/** A file that is being split. */
struct split_job {
	const struct split_options *options;
	const char		*path;
	struct model_load	load;
	struct split_cut	cut;	/* of all pCPUs */
	struct xen_part		*part;
	struct split_target	target;
};

/* ---- the part ---- */

/** Return: KSV_EXIT_OK, or after a message. */
static int check_pcpus(const struct split_job *job)
{
	const struct ksv_id_set *pcpus = &job->options->pcpus;
	int n = xen_trace_n_pcpus(job->load.host.xen);

	for (int i = 0; i < 65536 && pcpus->any; i++)
		if (ksv_id_in_set(pcpus, (unsigned int)i) && i >= n)
			return ksv_usage_error(job->options->command, "--pcpu: there is no pCPU "
					       "%d in %s, whose last one is %d", i, job->path,
					       n - 1);
	return KSV_EXIT_OK;
}

static int cut_failed(const struct split_job *job, const struct split_cut *cut, int ret)
{
	if (ret == -EEXIST)
		ksv_error("%s: in this window, the TSC of pCPU %d jumps back: two recordings in "
			  "one file, or a reboot. Choose a window without this jump", job->path,
			  cut->twice);
	else if (ret == -ESTALE)
		return model_changed(&job->load, KSV_EXIT_FILE);
	else
		ksv_error("%s: %s", job->path, strerror(-ret));
	return KSV_EXIT_FILE;
}

static int find_cut(const struct split_job *job, struct split_cut *cut,
		    const struct ksv_id_set *pcpus)
{
	int ret;

	*cut = (struct split_cut){
		.trace = job->load.host.xen, .from_ns = job->cut.from_ns,
		.to_ns = job->cut.to_ns, .pcpus = pcpus,
	};
	ret = split_cut(cut);
	if (ret)
		return cut_failed(job, cut, ret);
	if (cut->n_pieces)
		return KSV_EXIT_OK;
	ksv_error("%s: there is no record between %.9f and %.9f s%s: nothing is written",
		  job->path, (double)cut->from_ns / 1e9, (double)cut->to_ns / 1e9,
		  pcpus ? " on these pCPUs" : "");
	return KSV_EXIT_FILE;
}

/** A file without a name, where other temporary files are. */
static int temporary_file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/kshark-virt-XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd < 0 ? -errno : fd;
}

/** What is kept of the whole is known by all pCPUs, whichever are written. */
static int write_other(struct split_job *job)
{
	struct split_out *out = calloc(1, sizeof(*out));
	int ret = out ? 0 : -ENOMEM;

	if (out)
		out->fd = temporary_file();
	if (out && out->fd < 0)
		ret = out->fd;
	if (!ret)
		ret = split_write_all(out, &job->cut, job->part);
	if (!ret)
		ret = split_finish_part(job->part, &job->cut, job->path, job->load.model, out->fd);
	if (out && out->fd >= 0)
		close(out->fd);
	free(out);
	return ret;
}

/** More would be too many for a sidecar. */
#define MAX_WINDOWS	100000

/**
 * Where the windows were: of two pCPUs' records of the same TSC, the one that comes first in the
 * file comes first, also when they are merged again.
 */
static int keep_order(const struct split_job *job, const struct split_cut *cut)
{
	const struct xen_part *before = xen_trace_part(job->load.host.xen);
	int ret = 0;

	/* offsets of a file that was split so itself mean nothing to its other parts */
	if (cut->n_pieces > MAX_WINDOWS ||
	    (before && before->model && virt_part_leaves_out(before->model)))
		return 0;
	for (size_t i = 0; i < cut->n_pieces && !ret; i++)
		ret = xen_part_add_window(job->part, cut->pieces[i].begin);
	return ret;
}

/** Only some pCPUs. Return: KSV_EXIT_OK, or after a message. */
static int write_some(struct split_job *job)
{
	const struct ksv_id_set *pcpus = &job->options->pcpus;
	struct split_cut some;
	int status, ret = write_other(job);

	for (int i = 0; i < job->part->n_pcpus && !ret; i++)
		if (!ksv_id_in_set(pcpus, (unsigned int)i))
			ret = virt_part_leave_out(job->part->model, i);
	if (ret)
		return cut_failed(job, &job->cut, ret);
	status = find_cut(job, &some, pcpus);
	if (!status) {
		ret = keep_order(job, &some);
		if (!ret)
			ret = split_write_all(job->target.out, &some, job->part);
		if (ret)
			status = ret == -ESTALE ? cut_failed(job, &some, ret) :
				 split_failed(&job->target, ret);
	}
	split_cut_free(&some);
	return status;
}

static int write_all(struct split_job *job)
{
	int ret = split_write_all(job->target.out, &job->cut, job->part);

	if (ret && ret != -ESTALE)
		return split_failed(&job->target, ret);
	if (!ret)
		ret = split_finish_part(job->part, &job->cut, job->path, job->load.model,
					job->target.out->fd);
	return ret ? cut_failed(job, &job->cut, ret) : KSV_EXIT_OK;
}

/** Times are relative to the first record, whatever they were given as. */
static void set_axis(struct split_job *job)
{
	const struct xen_part *before = xen_trace_part(job->load.host.xen);
	struct xen_clock clock = job->part->clock;

	if (clock.base_tsc)
		return;
	clock.base_tsc = before && before->has_clock ? before->clock.base_tsc :
			 xentrace_first_tsc(xen_trace_reader(job->load.host.xen));
	xen_clock_init(&clock, clock.hz, clock.source, clock.base_tsc);
	clock.residual_ppm = job->part->clock.residual_ppm;
	clock.n_samples = job->part->clock.n_samples;
	xen_part_set_clock(job->part, &clock);
}

static void split_summary(const struct split_job *job)
{
	char pcpus[512];

	ksv_note("%s: %llu records from %.9f to %.9f s, and the states at their ends in "
		 "%s.meta.json", job->target.trace, (unsigned long long)job->part->records,
		 (double)job->part->model->from_ns / 1e9, (double)job->part->model->to_ns / 1e9,
		 job->target.trace);
	split_pcpu_list(pcpus, sizeof(pcpus), job->part->model);
	if (*pcpus)
		ksv_note("%s: without the records of pCPU %s: what only these show is unknown",
			 job->target.trace, pcpus);
}

/** Return: KSV_EXIT_OK, or after a message. */
static int write_part(struct split_job *job, const char *output)
{
	struct json_object *root;
	int status;

	job->part = split_begin_part(&job->cut, job->load.model);
	if (!job->part)
		return cut_failed(job, &job->cut, -ENOMEM);
	status = split_open(&job->target, job->options->command, output);
	if (status)
		return status;
	status = job->options->pcpus.any ? write_some(job) : write_all(job);
	if (!status)
		status = model_changed(&job->load, KSV_EXIT_OK);
	if (!status)
		set_axis(job);
	if (!status && split_sidecar(job->load.host.xen, job->path, job->part, &root))
		status = cut_failed(job, &job->cut, -ENOMEM);
	if (status) {
		split_discard(&job->target);
		return status;
	}
	status = split_close(&job->target, root);
	if (!status && !job->options->quiet)
		split_summary(job);
	return status;
}

/** Without a part, the result would be a copy. The window of "view" is a part. */
static int check_part(const struct split_job *job)
{
	const struct split_options *options = job->options;

	if (options->from.kind != KSV_TIME_NONE || options->to.kind != KSV_TIME_NONE ||
	    options->pcpus.any || xen_trace_window(job->load.host.xen))
		return KSV_EXIT_OK;
	return ksv_usage_error(options->command, "no part: give --from, --to or --pcpu; use 'cp' "
			       "for a copy");
}

/** It was no trace.dat when its kind was found. In between, others may replace a file. */
static int check_kind(const struct split_job *job)
{
	if (job->load.host.xen)
		return KSV_EXIT_OK;
	ksv_error("%s: was replaced by a trace.dat while its kind was found, or could not be read "
		  "then: try again", job->path);
	return KSV_EXIT_FILE;
}

static int split_file(const struct split_options *options, const char *path, const char *output)
{
	struct split_job job = {
		.options = options, .path = path,
		.load = { .path = path, .options = options->trace, .quiet = options->quiet },
	};
	struct report report = { .file = path, .load = &job.load };
	int status;

	status = model_load(&job.load);
	if (!status)
		status = check_kind(&job);
	if (!status)
		status = check_part(&job);
	if (!status)
		status = report_set_range(options->command, &report, &options->from, &options->to);
	job.cut.from_ns = report.from_ns;
	job.cut.to_ns = report.to_ns;
	if (!status)
		status = check_pcpus(&job);
	if (!status)
		status = find_cut(&job, &job.cut, NULL);
	if (!status)
		status = write_part(&job, output);
	if (!status && !options->quiet)
		model_notes(&job.load);
	xen_part_free(job.part);
	split_cut_free(&job.cut);
	model_unload(&job.load);
	return status;
}

/* ---- the command line ---- */

/** A xentrace file. */
static int split_xen(const struct split_options *options, const struct trace_args *args)
{
	const char *path = args->items[0].path, *output;
	char *name = NULL, *sidecar = NULL;
	int status = KSV_EXIT_OK;

	if (!options->output)
		name = split_default_name(path, "split");
	output = options->output ? options->output : name;
	if (!output || asprintf(&sidecar, "%s.meta.json", output) < 0) {
		ksv_error("not enough memory");
		status = KSV_EXIT_FILE;
		sidecar = NULL;
	}
	if (!status)
		status = trace_args_check_output(args, options->command, "output", output);
	/* that of another trace must not be lost either */
	if (!status)
		status = trace_args_check_output(args, options->command, "output", sidecar);
	if (!status)
		status = split_file(options, path, output);
	free(name);
	free(sidecar);
	return status;
}

/** trace.dat files: a host, and its guests. */
static int split_kvm(const struct split_options *options, const struct trace_args *args)
{
	const struct split_dat_options dat = {
		.command = options->command, .output = options->output, .from = &options->from,
		.to = &options->to, .trace = options->trace, .quiet = options->quiet,
	};

	if (options->pcpus.any)
		return ksv_usage_error(options->command, "--pcpu: only of xentrace files; %s is a "
				       "trace.dat: give --from and --to", args->items[0].path);
	return split_dat(&dat, args);
}

static int split_args(const struct split_options *options, char **argv, int n)
{
	struct trace_args args = { .quiet = options->quiet, .max_input = options->trace.max_input };
	int status = KSV_EXIT_OK;
	bool is_kvm = false;

	for (int i = 0; i < n && !options->output; i++)
		if (!strcmp(argv[i], "-"))
			return ksv_usage_error(options->command, "standard input has no name: "
					       "give one with --output");
	status = trace_args_add_all(&args, argv, n);
	for (int i = 0; i < args.n && !is_kvm; i++)
		is_kvm = trace_dat_is(args.items[i].path);
	if (!status && n > 1 && !is_kvm)
		status = ksv_usage_error(options->command, "one xentrace file at a time");
	if (!status)
		status = is_kvm ? split_kvm(options, &args) : split_xen(options, &args);
	trace_args_free(&args);
	return status;
}

static int run_split(const struct ksv_command *command, int argc, char **argv)
{
	static struct split_options options;
	char error[512] = "";
	int first, status;

	options.command = command;
	if (host_options_from_env(&options.trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	/* TSCs are written as they are recorded */
	options.trace.correct_skew = false;
	status = ksv_parse(command, argc, argv, &options, &first);
	if (status >= 0)
		return status;
	if (argc == first)
		return ksv_usage_error(command, "which file?");
	return split_args(&options, argv + first, argc - first);
}

const struct ksv_command cmd_split = {
	.name = "split",
	.args = "[OPTION...] FILE [GUEST...]",
	.summary = "Extract a window of a trace, with the states at its ends",
	.notes = "FILE is a xentrace file, or the trace.dat of a KVM host, whose guests' traces\n"
		 "get the same window. It may be compressed, a pipe, - for standard input, or the\n"
		 "folder of a recording. FILE.meta.json beside the part keeps facts about it from\n"
		 "the whole trace.\n",
	.options = split_option_table,
	.n_options = ARRAY_SIZE(split_option_table),
	.run = run_split,
};
