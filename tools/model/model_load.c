// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_load.c
 * @brief	Open a trace and build its vCPU model, with messages and progress for people.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "host_notes.h"
#include "model_files.h"
#include "model_load.h"
#include "model_vcpus.h"
#include "progress.h"

/** Damaged places that are listed one by one. */
#define NOTES_MAX_LINES		20

int model_parse(const struct ksv_command *command, int argc, char **argv, void *options,
		struct host_options *trace, int *first)
{
	char error[512] = "";

	if (host_options_from_env(trace, error, sizeof(error)))
		return ksv_usage_error(command, "%s", error);
	return ksv_parse(command, argc, argv, options, first);
}

/** The length of a cycle: from the user, else from the sidecar. */
static void set_hz(struct kvm_trace *trace, uint64_t cpu_hz)
{
	const struct kvm_meta *meta = kvm_trace_meta(trace);

	kvm_trace_set_hz(trace, cpu_hz ? cpu_hz : meta ? meta->cpu_khz * 1000 : 0);
}

struct kvm_trace *model_try_kvm(const char *path, uint64_t cpu_hz, char *error, size_t size)
{
	struct kvm_trace *trace = kvm_trace_open_apart(path, error, size);

	if (trace)
		set_hz(trace, cpu_hz);
	return trace;
}

struct kvm_trace *model_open_kvm(const char *path, uint64_t cpu_hz)
{
	char problem[512] = "";
	struct kvm_trace *trace = model_try_kvm(path, cpu_hz, problem, sizeof(problem));

	if (!trace)
		ksv_error("%s", problem);
	return trace;
}

/* --- what goes by ---------------------------------------------------------------------------- */

/** A load under way. */
struct loading {
	struct model_load	*load;
	struct progress		progress;
};

static int take_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	const struct model_load *load = ((struct loading *)arg)->load;

	load->rows(load->arg, rows, n);
	return 0;
}

static int take_skipped(void *arg, const struct xen_trace_skipped *skipped)
{
	const struct model_load *load = ((struct loading *)arg)->load;

	return load->skipped(load->arg, skipped);
}

static int take_record(void *arg, const struct kvm_trace_record *record)
{
	const struct model_load *load = ((struct loading *)arg)->load;

	load->records(load->arg, record);
	return 0;
}

static int show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct loading *loading = arg;

	return progress_update(&loading->progress, done, total);
}

/* --- the load -------------------------------------------------------------------------------- */

static int open_host(struct loading *loading, char *error, size_t size)
{
	struct model_load *load = loading->load;
	struct host_options options = load->options;
	struct kvm_trace *kvm = load->kvm;

	load->kvm = NULL;
	if (kvm)
		return host_trace_take_kvm(&load->host, kvm, error, size);
	options.progress = show_progress;
	options.arg = loading;
	return host_trace_open(&load->host, load->path, &options, error, size);
}

static int walk_host(struct loading *loading)
{
	const struct model_load *load = loading->load;
	/* parts that the caller does not want cost nothing */
	const struct host_walk walk = {
		.rows = load->rows ? take_rows : NULL,
		.skipped = load->skipped ? take_skipped : NULL,
		.record = load->records ? take_record : NULL,
		.only_counts = load->only_counts,
		.is_brief = load->is_brief,
		.progress = show_progress, .arg = loading,
	};

	return host_trace_model(&loading->load->host, &walk, &loading->load->model);
}

/** A file that was cut after it had been opened. */
static bool is_empty(const struct model_load *load, char *error, size_t size)
{
	char text[1024];

	if (virt_model_begin(load->model) < virt_model_end(load->model))
		return false;
	if (host_trace_changed(&load->host, text, sizeof(text)))
		text_format(error, size, "%s: nothing of it was read", text);
	else
		text_format(error, size, "%s: %s", load->path, host_trace_problem(-ENODATA));
	return true;
}

static int failed(const char *path, int ret, char *error, size_t size)
{
	text_format(error, size, "%s: %s", path, host_trace_problem(ret));
	return ret;
}

/** Read a guest's trace once. Return: 0, or a negative errno with a text. */
static int read_clock(struct model_load *load, int guest, char *error, size_t size)
{
	struct kvm_trace *trace = load->guests[guest];
	int ret = guest_clock_read(&load->clocks[guest], &load->host, load->model, trace);

	return ret ? failed(kvm_trace_path(trace), ret, error, size) : 0;
}

/** Its trace cannot be read to its end. Return: is it one that may be left out, and is? */
static bool leave_out(struct model_load *load, int guest, int ret)
{
	/* the process that read it has ended */
	if (!load->files || (ret != -EBADMSG && ret != -ETIMEDOUT))
		return false;
	guest_clock_free(&load->clocks[guest]);
	return model_files_leave_out(load->files, guest, kvm_trace_problem(ret), load);
}

/** Guests whose traces cannot be read to their ends are left out. */
static int read_clocks(struct model_load *load, char *error, size_t size)
{
	load->clocks = calloc((size_t)load->n_guests + 1, sizeof(*load->clocks));
	if (!load->clocks)
		return failed(load->path, -ENOMEM, error, size);
	for (int i = 0; i < load->n_guests; ) {
		int ret = read_clock(load, i, error, size);

		/* the next one has its place then */
		if (ret && leave_out(load, i, ret))
			continue;
		if (ret)
			return ret;
		i++;
	}
	return 0;
}

/** All that is known when the model is complete. Return: 0, or a negative errno with a text. */
static int find_notes(struct model_load *load, char *error, size_t size)
{
	int ret;

	if (load->before)
		trace_notes_copy(&load->notes, load->before);
	ret = read_clocks(load, error, size);
	if (ret)
		return ret;
	host_trace_notes(&load->host, load->model, NOTES_MAX_LINES, &load->notes);
	if (!load->shows_lacks)
		host_note_lacks(load->model, load->path, 0, &load->notes);
	for (int i = 0; i < load->n_guests; i++)
		guest_clock_notes(&load->clocks[i], load->model, &load->notes);
	return load->notes.incomplete ? failed(load->path, -ENOMEM, error, size) : 0;
}

int model_load(struct model_load *load)
{
	struct loading loading = { .load = load };
	char error[1024] = "";
	int status, ret;

	progress_init(&loading.progress, !load->quiet);
	ret = open_host(&loading, error, sizeof(error));
	status = !ret && load->opened ? load->opened(load->arg) : KSV_EXIT_OK;
	if (!ret && !status) {
		loading.progress.what = "tracking";
		ret = walk_host(&loading);
		if (ret)
			failed(load->path, ret, error, sizeof(error));
		else if (is_empty(load, error, sizeof(error)))
			ret = -ENODATA;
		else
			ret = find_notes(load, error, sizeof(error));
		if (!ret && load->vcpus)
			status = model_check_vcpus((const struct virt_model *[]){ load->model }, 1,
						   load->path, load->command, load->vcpus);
	}
	progress_end(&loading.progress);
	if (!ret)
		return status;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

int model_nest(const struct model_load *load, int guest, struct guest_tasks *tasks)
{
	int ret = 0;

	for (int i = 0; i < load->n_inner && !ret; i++) {
		int n = 0;
		const int *tids;

		if (load->inner[i].guest != guest)
			continue;
		tids = kvm_trace_guest_tids(load->guests[guest], load->inner[i].trace, &n);
		ret = guest_tasks_nest(tasks, load->model, load->inner[i].trace, tids, n);
	}
	return ret;
}

void model_unload(struct model_load *load)
{
	for (int i = 0; load->clocks && i < load->n_guests; i++)
		guest_clock_free(&load->clocks[i]);
	free(load->clocks);
	load->clocks = NULL;
	trace_notes_free(&load->notes);
	virt_model_free(load->model);
	load->model = NULL;
	kvm_trace_close(load->kvm);
	load->kvm = NULL;
	host_trace_close(&load->host);
}

void model_notes(struct model_load *load)
{
	struct trace_notes *said = load->files ? &load->files->said : NULL;

	for (size_t i = 0; said && i < load->notes.n; i++)
		load->notes.all[i].printed |= trace_notes_has(said, load->notes.all[i].text);
	trace_notes_print(&load->notes, stderr);
	if (said)
		trace_notes_copy(said, &load->notes);
}

/* --- what has become of the file ------------------------------------------------------------- */

static int say_changed(bool changed, const char *text, int status)
{
	if (!changed)
		return status;
	ksv_error("%s: it was not read to its end", text);
	return KSV_EXIT_FILE;
}

int model_changed(const struct model_load *load, int status)
{
	char text[1024];

	return say_changed(host_trace_changed(&load->host, text, sizeof(text)), text, status);
}

int model_xen_changed(const struct xen_trace *trace, int status)
{
	char text[1024];

	return say_changed(host_xen_changed(trace, text, sizeof(text)), text, status);
}

int model_find_ends(struct model_load *load)
{
	struct virt_model *model = NULL;
	int ret = host_trace_model(&load->host, NULL, &model);

	if (ret) {
		ksv_error("%s: %s", load->path, host_trace_problem(ret));
		return KSV_EXIT_FILE;
	}
	load->begin_ns = virt_model_begin(model);
	load->end_ns = virt_model_end(model);
	virt_model_free(model);
	return KSV_EXIT_OK;
}

int64_t model_time(const struct model_load *load, const struct ksv_time *time, int64_t none)
{
	int64_t own_ns;

	switch (time->kind) {
	case KSV_TIME_NS:
		return load->as_guest && kvm_trace_own_time(load->as_guest, time->ns, &own_ns) ?
		       own_ns : time->ns;
	case KSV_TIME_TSC:
		return host_trace_tsc_ns(&load->host, time->tsc);
	case KSV_TIME_AFTER:
	case KSV_TIME_SHARE:
		return load->model ? ksv_time_in(time, virt_model_begin(load->model),
						 virt_model_end(load->model)) :
		       ksv_time_in(time, load->begin_ns, load->end_ns);
	default:
		return none;
	}
}

int model_cut_window(const struct model_load *load, const struct ksv_command *command,
		     int64_t *from_ns, int64_t *to_ns)
{
	int64_t begin_ns = virt_model_begin(load->model), end_ns = virt_model_end(load->model);

	*from_ns = *from_ns < begin_ns ? begin_ns : *from_ns;
	*to_ns = *to_ns > end_ns ? end_ns : *to_ns;
	if (*from_ns < *to_ns || begin_ns == end_ns)
		return KSV_EXIT_OK;
	return ksv_no_window(command, load->path, begin_ns, end_ns);
}

int model_window(const struct model_load *load, const struct ksv_command *command,
		 const struct ksv_time *from, const struct ksv_time *to, int64_t *from_ns,
		 int64_t *to_ns)
{
	*from_ns = model_time(load, from, INT64_MIN);
	*to_ns = model_time(load, to, INT64_MAX);
	if (*from_ns >= *to_ns)
		return ksv_usage_error(command, "--from is not before --to");
	return model_cut_window(load, command, from_ns, to_ns);
}
