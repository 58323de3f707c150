// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	cmd_merge.c
 * @brief	kshark-virt merge: parts of a trace, or recordings, become one file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"
#include "merge.h"
#include "model_load.h"
#include "split_dat.h"
#include "trace_args.h"
#include "trace_dat.h"
#include "xen_trace_window.h"

/** Pieces have 16 bits for it. */
#define MAX_FILES	65535

struct merge_options {
	const struct ksv_command *command;
	bool			quiet;
	const char		*output;
	struct host_options	trace;
};

#define OPTIONS	struct merge_options

static const struct ksv_option merge_option_table[] = {
	{ 'o', "output", "FILE", "write to FILE, and beside it FILE.meta.json; must be given",
	  ksv_take_text, offsetof(OPTIONS, output), NULL },
	KSV_OPTION_MAX_INPUT(OPTIONS, trace.max_input),
	KSV_OPTION_QUIET(OPTIONS, quiet, "no progress, no notes"),
};

/* ---- the files ---- */

/** Return: KSV_EXIT_OK, or after a message. */
static int cut_file(struct merge_file *file, uint16_t number)
{
	const struct xentrace *reader = xen_trace_reader(file->trace);
	const struct xen_part *part = xen_trace_part(file->trace);
	const struct xen_trace_span *window = xen_trace_window(file->trace);
	int ret;

	file->part = part && part->model ? part : NULL;
	file->first_tsc = xentrace_first_tsc(reader);
	file->last_tsc = xentrace_last_tsc(reader);
	file->cut = (struct split_cut){
		.trace = file->trace, .from_ns = window ? window->from_ns : INT64_MIN,
		.to_ns = window ? window->to_ns : INT64_MAX, .file = number,
	};
	ret = split_cut(&file->cut);
	if (!ret)
		return model_xen_changed(file->trace, KSV_EXIT_OK);
	if (ret == -EEXIST)
		ksv_error("%s: the TSC of pCPU %d jumps back: two recordings in one file, or a "
			  "reboot: split them first", file->path, file->cut.twice);
	else if (ret == -ESTALE)
		model_xen_changed(file->trace, KSV_EXIT_FILE);
	else
		ksv_error("%s: %s", file->path, strerror(-ret));
	return KSV_EXIT_FILE;
}

static int open_file(const struct merge_options *options, struct merge_file *file)
{
	const struct xen_trace_options trace = { .reader.max_input = options->trace.max_input };
	char error[1024] = "not enough memory";
	const struct xen_part *part;
	char *notes = NULL;

	file->trace = xen_trace_open(file->path, &trace, error, sizeof(error));
	if (!file->trace) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	/* which pCPUs a part lacks is no matter, if they are in others */
	part = xen_trace_part(file->trace);
	if (!options->quiet && !(part && part->model))
		notes = xen_trace_notes(file->trace, 20);
	if (notes)
		fputs(notes, stderr);
	free(notes);
	return KSV_EXIT_OK;
}

/** All of them are open, in the order of their time, and belong together. */
static int open_files(const struct merge_options *options, const struct trace_args *args,
		      struct merge *merge)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; i < args->n && !status; i++) {
		merge->files[i].path = args->items[i].path;
		merge->n++;
		status = open_file(options, &merge->files[i]);
		if (!status)
			status = cut_file(&merge->files[i], 0);
	}
	if (!status)
		status = merge_check(merge);
	/* they have their order now */
	for (int i = 0; i < merge->n && !status; i++)
		for (size_t k = 0; k < merge->files[i].cut.n_pieces; k++)
			merge->files[i].cut.pieces[k].file = (uint16_t)i;
	return status;
}

static void close_files(struct merge *merge)
{
	for (int i = 0; i < merge->n; i++) {
		split_cut_free(&merge->files[i].cut);
		xen_trace_close(merge->files[i].trace);
	}
	free(merge->files);
	free(merge->pieces);
	xen_part_free(merge->part);
	json_object_put(merge->root);
}

/* ---- the output ---- */

/** What is known of all of them together, and in which order they are written. */
static int prepare(struct merge *merge)
{
	int ret = merge_order(merge);

	if (!ret)
		ret = merge->files[0].part ? merge_parts(merge) : merge_recordings(merge);
	return ret ? ret : merge_sidecar(merge);
}

static int write_pieces(struct merge *merge, struct split_out *out)
{
	int ret;

	for (size_t i = 0; i < merge->n_pieces && !out->error; i++) {
		const struct split_piece *piece = &merge->pieces[i];

		split_write(out, &merge->files[piece->file].cut, piece, merge->part);
	}
	ret = split_flush(out);
	merge->part->bytes = out->size;
	for (int i = 0; i < merge->n; i++)
		merge->part->records += merge->files[i].cut.n_records;
	return ret;
}

static int no_memory(void)
{
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

static int write_merged(const struct merge_options *options, struct merge *merge)
{
	struct split_target target;
	struct json_object *part;
	int ret, status = split_open(&target, options->command, options->output);

	if (status)
		return status;
	ret = write_pieces(merge, target.out);
	for (int i = 0; i < merge->n && !status; i++)
		status = model_xen_changed(merge->files[i].trace, KSV_EXIT_OK);
	if (ret && !status)
		status = split_failed(&target, ret);
	part = status ? NULL : xen_part_write(merge->part);
	if (!status && json_add(merge->root, "part", part))
		status = no_memory();
	if (status) {
		split_discard(&target);
		return status;
	}
	status = split_close(&target, json_object_get(merge->root));
	if (!status && !options->quiet)
		ksv_note("%s: %llu records of %d files", options->output,
			 (unsigned long long)merge->part->records, merge->n);
	return status;
}

static int merge_files(const struct merge_options *options, const struct trace_args *args)
{
	struct merge merge = { .files = calloc((size_t)args->n, sizeof(*merge.files)) };
	int status = merge.files ? open_files(options, args, &merge) : no_memory();

	if (!status && prepare(&merge))
		status = no_memory();
	if (!status)
		status = write_merged(options, &merge);
	close_files(&merge);
	return status;
}

/** xentrace files, or trace.dat files. */
static int merge_any(const struct merge_options *options, const struct trace_args *args)
{
	const struct split_dat_options dat = {
		.command = options->command, .output = options->output, .quiet = options->quiet,
	};
	int n = 0;

	for (int i = 0; i < args->n; i++)
		n += trace_dat_is(args->items[i].path);
	if (!n)
		return merge_files(options, args);
	if (n == args->n)
		return merge_dat(&dat, args);
	ksv_error("some are trace.dat files, some are xentrace files: they do not belong together");
	return KSV_EXIT_FILE;
}

/* ---- the command line ---- */

static int merge_args(const struct merge_options *options, char **argv, int n)
{
	struct trace_args args = { .host_only = true, .quiet = options->quiet };
	int status = trace_args_add_all(&args, argv, n);
	char *sidecar = NULL;

	if (!status && asprintf(&sidecar, "%s.meta.json", options->output) < 0) {
		sidecar = NULL;
		status = no_memory();
	}
	if (!status)
		status = trace_args_check_output(&args, options->command, "output",
						 options->output);
	if (!status)
		status = trace_args_check_output(&args, options->command, "output", sidecar);
	if (!status)
		status = merge_any(options, &args);
	free(sidecar);
	trace_args_free(&args);
	return status;
}

static int run_merge(const struct ksv_command *command, int argc, char **argv)
{
	struct merge_options options = { .command = command };
	int first, status;

	status = model_parse(command, argc, argv, &options, &options.trace, &first);
	if (status >= 0)
		return status;
	if (!options.output)
		return ksv_usage_error(command, "no output: give --output FILE");
	if (argc - first < 2 || argc - first > MAX_FILES)
		return ksv_usage_error(command, argc - first < 2 ? "which files? Two or more" :
				       "too many files at a time");
	return merge_args(&options, argv + first, argc - first);
}

const struct ksv_command cmd_merge = {
	.name = "merge",
	.args = "[OPTION...] --output FILE FILE...",
	.summary = "Join parts of a trace, or recordings of one host",
	.notes = "Each FILE is a part of one trace by 'split', or a recording by xentrace,\n"
		 "trace-cmd, perf or LTTng. Recordings of one host follow each other, or are of\n"
		 "one time and have different pCPUs or buffers. They may be compressed. Their\n"
		 "order does not matter.\n",
	.options = merge_option_table,
	.n_options = ARRAY_SIZE(merge_option_table),
	.run = run_merge,
};
