// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_files.c
 * @brief	The traces of a command line; some of them may belong to guests of others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "align_meta.h"
#include "options.h"
#include "escape.h"
#include "kvm_part.h"
#include "kvm_part_json.h"
#include "kvm_trace.h"
#include "model_files.h"
#include "model_load.h"
#include "trace_dat.h"

/** The threads or vCPUs of a host that are a guest's CPUs; NULL: it is not known as its guest. */
static const int *find_tids(const struct model_files *files, int host, int guest, int *n)
{
	return files->traces[host] ?
	       kvm_trace_guest_tids(files->traces[host], files->traces[guest], n) :
	       kvm_trace_aligned_tids(files->traces[guest], files->paths[host], n);
}

static int find_host(const struct model_files *files, int guest)
{
	int n;

	for (int i = 0; i < files->n; i++)
		if (i != guest && files->paths[i] && find_tids(files, i, guest, &n))
			return i;
	return -1;
}

/** A trace of KVM that is neither a host's nor that of a guest of one that is there. */
static int leave_out(struct model_files *files, int i)
{
	const struct trace_arg *arg = &files->args->items[i];

	files->paths[i] = NULL;
	/* in a recording, it is the right guest, but not aligned yet */
	if (arg->is_guest) {
		trace_notes_add(&files->notes, TRACE_NOTE_ALIGNMENT, TRACE_NOTE_WARNING,
				"%s: is skipped, because it is not aligned with its host; run "
				"'kshark-virt align --write' with the folder", arg->path);
		trace_args_print_notes(&files->notes, files->quiet);
		return KSV_EXIT_OK;
	}
	if (kvm_trace_stranger(files->traces[i])) {
		ksv_error("%s: " KVM_TRACE_STRANGER, arg->path,
			  kvm_trace_stranger(files->traces[i]));
		return KSV_EXIT_FILE;
	}
	if (kvm_trace_has_vcpus(files->traces[i])) {
		ksv_error(HOST_KVM_NO_ENTRIES, arg->path);
		return KSV_EXIT_FILE;
	}
	ksv_error("%s: has no VM entries and exits, and no other file is its host's trace, "
		  "recorded with it (trace-cmd record -A) or aligned with it (kshark-virt align "
		  "--write)", arg->path);
	return KSV_EXIT_FILE;
}

/** What is wrong with a file, without the name that a text may begin with. */
static const char *without_path(const char *text, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(text, path, n) && !strncmp(text + n, ": ", 2) ? text + n + 2 : text;
}

static void note_skipped(struct trace_notes *notes, enum trace_note_kind kind,
			 const struct trace_arg *arg, const char *why)
{
	trace_notes_add(notes, kind, TRACE_NOTE_WARNING,
			"%s: the trace of guest %s is skipped: %s", arg->path,
			arg->guest ? arg->guest : "?", without_path(why, arg->path));
}

/**
 * A trace is of no use. In a folder, a guest's is left out: its host's can be read alone.
 *
 * Return: the exit status.
 */
static int refuse(struct model_files *files, int i, enum trace_note_kind kind, const char *why)
{
	const struct trace_arg *arg = &files->args->items[i];

	files->paths[i] = NULL;
	if (!arg->is_guest) {
		ksv_error("%s", why);
		return KSV_EXIT_FILE;
	}
	note_skipped(&files->notes, kind, arg, why);
	trace_args_print_notes(&files->notes, files->quiet);
	return KSV_EXIT_OK;
}

/** A sidecar that cannot be used is set aside, as that of a xentrace file. Return: 0 or -ENOMEM. */
static int apply_alignment(struct model_files *files, struct kvm_trace *trace)
{
	char error[512];
	int ret = align_meta_apply(trace, error, sizeof(error));

	if (ret == -ENOMEM)
		ksv_error("%s", error);
	/* of a host's, it is among the notes */
	else if (ret && !kvm_trace_meta_error(trace))
		trace_notes_add(&files->notes, TRACE_NOTE_SIDECAR, TRACE_NOTE_WARNING, "%s",
				error);
	trace_args_print_notes(&files->notes, files->quiet);
	return ret == -ENOMEM ? ret : 0;
}

/** @host: of a guest, its host's, or of Xen, which has none; NULL of any other trace */
static void set_cycles(struct kvm_trace *trace, struct kvm_trace *const *host)
{
	/* of a guest of Xen, they are the host's by now, whose clock Xen's trace has */
	if (host && !*host) {
		kvm_trace_set_hz(trace, 0);
		return;
	}
	if (host && !kvm_trace_hz(trace))
		kvm_trace_set_hz(trace, kvm_trace_hz(*host));
}

static void close_trace(struct model_files *files, int i)
{
	kvm_trace_close(files->traces[i]);
	files->traces[i] = NULL;
	files->paths[i] = NULL;
}

/** Open a trace that may be a host's or a guest's. Return: the exit status, after a message. */
static int open_trace(struct model_files *files, int i)
{
	char error[512] = "";

	files->traces[i] = model_try_kvm(files->paths[i], files->cpu_hz, error, sizeof(error));
	if (!files->traces[i])
		return refuse(files, i, TRACE_NOTE_DAMAGE, error);
	if (!host_contradicts_hz(files->traces[i], files->cpu_hz, error, sizeof(error)))
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	close_trace(files, i);
	return KSV_EXIT_FILE;
}

static int open_traces(struct model_files *files)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; i < files->n; i++) {
		int one;

		if (trace_dat_is(files->paths[i]))
			one = open_trace(files, i);
		else if (files->args->items[i].is_guest)
			one = refuse(files, i, TRACE_NOTE_DAMAGE,
				     "not a trace.dat, or damaged where it begins");
		else
			continue;
		if (files->traces[i] && apply_alignment(files, files->traces[i])) {
			close_trace(files, i);
			one = KSV_EXIT_FILE;
		}
		status = one ? one : status;
	}
	return status;
}

/** Of a host whose own host is not among the files, the times are its own again. */
static int forget_host(struct model_files *files, int i)
{
	int status;

	if (!kvm_trace_is_aligned(files->traces[i]))
		return KSV_EXIT_OK;
	kvm_trace_close(files->traces[i]);
	status = open_trace(files, i);
	if (files->traces[i])
		align_meta_mend(files->traces[i]);
	return status;
}

/**
 * A "split" that is killed may leave a new part of a host beside an older one of its guest. Numbers
 * of both would be those of no time. Return: the exit status, after a message.
 */
static int check_window(struct model_files *files, int i)
{
	const struct kvm_trace *host = files->traces[files->hosts[i]];
	const struct kvm_meta *meta = host ? kvm_trace_meta(host) : NULL;
	int64_t from_ns, to_ns;
	char text[1024];
	int ret;

	if (!meta || !meta->part)
		return KSV_EXIT_OK;
	ret = kvm_part_window(files->paths[i], &from_ns, &to_ns);
	if (ret < 0) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	if (!ret || (from_ns == meta->part->model->from_ns && to_ns == meta->part->model->to_ns))
		return KSV_EXIT_OK;
	text_format(text, sizeof(text), "%s: a part from %.9f to %.9f s, but that of its host, %s, "
		    "is from %.9f to %.9f s: split both again", files->paths[i],
		    (double)from_ns / 1e9, (double)to_ns / 1e9, files->paths[files->hosts[i]],
		    (double)meta->part->model->from_ns / 1e9,
		    (double)meta->part->model->to_ns / 1e9);
	kvm_trace_close(files->traces[i]);
	files->traces[i] = NULL;
	return refuse(files, i, TRACE_NOTE_PAIRING, text);
}

/** Do two guests of one host have a vCPU in common? */
static bool share_vcpus(const struct model_files *files, int i, int j)
{
	const int host = files->hosts[i];
	int n[2] = { 0 };
	const int *tids[2];

	if (host < 0 || files->hosts[j] != host)
		return false;
	tids[0] = find_tids(files, host, i, &n[0]);
	tids[1] = find_tids(files, host, j, &n[1]);
	for (int a = 0; a < n[0] && tids[0]; a++)
		for (int b = 0; b < n[1] && tids[1]; b++)
			if (tids[0][a] > 0 && tids[0][a] == tids[1][b])
				return true;
	return false;
}

/** What a guest did must not count twice. Return: KSV_EXIT_OK, or the status after a message. */
static int refuse_twins(const struct model_files *files)
{
	for (int i = 0; i < files->n; i++)
		for (int j = 0; j < i; j++)
			if (files->traces[i] && files->traces[j] && share_vcpus(files, i, j))
				return trace_args_twice(files->paths[j], files->paths[i],
							"are traces of the same guest's CPUs");
	return KSV_EXIT_OK;
}

static void close_traces(struct model_files *files)
{
	for (int i = 0; files->traces && i < files->n; i++)
		kvm_trace_close(files->traces[i]);
	free(files->traces);
	files->traces = NULL;
}

/** A trace that is no guest's of another one: is it of use? */
static bool is_of_use(const struct model_files *files, int i)
{
	return kvm_trace_is_host(files->traces[i]) ||
	       (files->takes_any && !files->args->items[i].is_guest);
}

int model_files_open(struct model_files *files)
{
	int status, twins;

	files->n = files->args->n;
	files->paths = trace_args_paths(files->args);
	files->hosts = calloc((size_t)files->n + 1, sizeof(*files->hosts));
	files->guests = calloc((size_t)files->n + 1, sizeof(struct kvm_trace *));
	files->inner = calloc((size_t)files->n + 1, sizeof(*files->inner));
	if (files->paths && files->hosts && files->guests && files->inner)
		files->traces = calloc((size_t)files->n + 1, sizeof(struct kvm_trace *));
	if (!files->traces) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	trace_notes_copy(&files->notes, &files->args->notes);
	status = open_traces(files);
	for (int i = 0; i < files->n; i++) {
		files->hosts[i] = files->traces[i] ? find_host(files, i) : -1;
		if (files->traces[i] && files->hosts[i] < 0 && !is_of_use(files, i)) {
			int left_out = leave_out(files, i);

			status = left_out ? left_out : status;
			continue;
		}
		if (files->traces[i] && files->hosts[i] < 0 && forget_host(files, i))
			status = KSV_EXIT_FILE;
		if (files->traces[i] && files->hosts[i] >= 0 && check_window(files, i))
			status = KSV_EXIT_FILE;
		if (files->traces[i])
			set_cycles(files->traces[i], files->hosts[i] < 0 ? NULL :
				   &files->traces[files->hosts[i]]);
	}
	twins = refuse_twins(files);
	if (!twins)
		return status;
	close_traces(files);
	return twins;
}

bool model_files_is_host(const struct model_files *files, int i)
{
	return files->paths[i] && (files->hosts[i] < 0 || kvm_trace_is_host(files->traces[i]));
}

int model_files_only_host(const struct model_files *files, const struct ksv_command *command,
			  int *host)
{
	*host = -1;
	for (int i = 0; i < files->n; i++) {
		if (!model_files_is_host(files, i) || files->hosts[i] >= 0)
			continue;
		if (*host >= 0)
			return ksv_usage_error(command, "one host at a time: %s and %s are "
					       "different hosts",
					       files->paths[i], files->paths[*host]);
		*host = i;
	}
	return *host < 0 ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

struct kvm_trace **model_files_guests(const struct model_files *files, int host, int *n)
{
	*n = 0;
	for (int i = 0; i < files->n; i++)
		if (files->traces[i] && files->hosts[i] == host)
			files->guests[(*n)++] = files->traces[i];
	return files->guests;
}

const struct model_inner *model_files_inner(const struct model_files *files, int host, int *n)
{
	int guest = 0;

	*n = 0;
	for (int i = 0; i < files->n; i++) {
		if (!files->traces[i] || files->hosts[i] != host)
			continue;
		for (int k = 0; k < files->n; k++)
			if (files->traces[k] && files->hosts[k] == i && k != host) {
				files->inner[*n].trace = files->traces[k];
				files->inner[(*n)++].guest = guest;
			}
		guest++;
	}
	return files->inner;
}

struct kvm_trace *model_files_take(struct model_files *files, int host)
{
	struct kvm_trace *trace = files->traces[host];

	if (files->hosts[host] >= 0)
		return NULL;
	files->traces[host] = NULL;
	return trace;
}

void model_files_load(struct model_files *files, int host, struct model_load *load)
{
	load->path = files->paths[host];
	load->guests = model_files_guests(files, host, &load->n_guests);
	load->inner = model_files_inner(files, host, &load->n_inner);
	load->kvm = model_files_take(files, host);
	load->as_guest = load->kvm ? NULL : files->traces[host];
	load->before = &files->notes;
	load->files = files;
}

bool model_files_leave_out(struct model_files *files, int guest, const char *why,
			   struct model_load *load)
{
	int host, i = 0;

	while (i < files->n && files->traces[i] != load->guests[guest])
		i++;
	if (i == files->n || !files->args->items[i].is_guest)
		return false;
	host = files->hosts[i];
	note_skipped(&load->notes, TRACE_NOTE_DAMAGE, &files->args->items[i], why);
	close_trace(files, i);
	for (int k = 0; k < files->n; k++)
		if (k != host && files->traces[k] && files->hosts[k] == i) {
			note_skipped(&load->notes, TRACE_NOTE_DAMAGE, &files->args->items[k],
				     "that of its host is skipped");
			close_trace(files, k);
		}
	load->guests = model_files_guests(files, host, &load->n_guests);
	load->inner = model_files_inner(files, host, &load->n_inner);
	return true;
}

void model_files_close(struct model_files *files)
{
	close_traces(files);
	free(files->guests);
	free(files->inner);
	free(files->hosts);
	trace_notes_free(&files->notes);
	trace_notes_free(&files->said);
	free(files->paths);
}
