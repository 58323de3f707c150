// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_args.c
 * @brief	Arguments that are traces, or folders with all traces of a recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foreign_convert.h"
#include "foreign_notes.h"
#include "foreign_file.h"
#include "held_file.h"
#include "perf_folder.h"
#include "regular_file.h"
#include "trace_args.h"
#include "trace_dat.h"
#include "xentrace_copy.h"

/** Packed, too, they have the first bytes of a file. */
#define HEAD_BYTES	4096

static int no_memory(void)
{
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

/** @path is used up. */
static int add_item(struct trace_args *args, char *path, const struct recording_file *file)
{
	struct trace_arg item = {
		.path = path, .in_folder = file, .is_guest = file && file->role == RECORDING_GUEST,
	};

	if (!path || (file && recording_text(&item.guest, file->guest)) ||
	    ARRAY_GROW(args->items, args->n, args->room)) {
		free(path);
		free(item.guest);
		return no_memory();
	}
	args->items[args->n++] = item;
	return KSV_EXIT_OK;
}

/** @path is used up. */
static int keep(struct trace_args *args, char *path)
{
	if (!path || ARRAY_GROW(args->kept, args->n_kept, args->room_kept)) {
		free(path);
		return no_memory();
	}
	args->kept[args->n_kept++] = path;
	return KSV_EXIT_OK;
}

/* --- a folder -------------------------------------------------------------------------------- */

/**
 * The owner of the folder may exchange the file at any time, so it is opened once. Return: NULL, or
 * what keeps the file from being read.
 */
static const char *hold_file(const char *path)
{
	int ret = held_file_hold_itself(path);

	if (ret == -ELOOP)
		return "is a link, which may lead out of the folder: put the file there";
	if (ret == -EISDIR)
		ret = -EINVAL;
	return ret ? regular_file_error(ret) : NULL;
}

/** While trace-cmd records, and if it is killed, there is a file for each CPU instead. */
static bool has_parts(const char *path)
{
	struct stat st;
	char *part;
	bool has;

	if (asprintf(&part, "%s.cpu0", path) < 0)
		return false;
	has = !lstat(part, &st) && S_ISREG(st.st_mode);
	free(part);
	return has;
}

/** A file that is named and cannot be had. */
static int leave_out(struct trace_args *args, const struct recording *recording,
		     const struct recording_file *file, const char *path, const char *why)
{
	const char *parts = has_parts(path) ? "; trace-cmd has not joined its parts: run "
			    "'trace-cmd restore'" : "";

	if (file->role == RECORDING_HOST) {
		ksv_error("%s: the trace of the host: %s%s", path, why, parts);
		return KSV_EXIT_FILE;
	}
	if (args->host_only)
		return KSV_EXIT_OK;
	/* of one that was not brought to its end, it need not be there */
	args->left_out += recording->state == RECORDING_COMPLETE;
	trace_notes_add(&args->notes, TRACE_NOTE_PAIRING, TRACE_NOTE_WARNING,
			"%s: the trace of guest %s is skipped: %s%s", path,
			file->guest ? file->guest : "?", why, parts);
	trace_args_print_notes(&args->notes, args->quiet);
	return KSV_EXIT_OK;
}

static int add_file(struct trace_args *args, const struct recording *recording,
		    const struct recording_file *file)
{
	char *path = recording_path(recording->folder, file->name);
	const char *why = path ? hold_file(path) : NULL;
	int status = keep(args, path ? strdup(path) : NULL);

	if (!status && why)
		status = leave_out(args, recording, file, path, why);
	else if (!status && (file->role == RECORDING_HOST || !args->host_only))
		return add_item(args, path, file);
	free(path);
	return status;
}

static int add_files(struct trace_args *args, const struct recording *recording,
		     enum recording_role role)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; i < recording->n_files && !status; i++)
		if (recording->files[i].role == role)
			status = add_file(args, recording, &recording->files[i]);
	return status;
}

void trace_args_print_notes(struct trace_notes *notes, bool quiet)
{
	if (!quiet)
		trace_notes_print(notes, stderr);
}

static void note_state(struct trace_notes *notes, const struct recording *recording)
{
	const char *reason = recording->reason ? recording->reason : "for an unknown reason";

	if (recording->state == RECORDING_RUNNING)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_INFO,
				"%s: is still being recorded, or its recorder was killed: it is "
				"read to its present end", recording->folder);
	else if (recording->state == RECORDING_STOPPED)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_INFO,
				"%s: the recording was stopped: %s", recording->folder, reason);
	else if (recording->state == RECORDING_FAILED)
		trace_notes_add(notes, TRACE_NOTE_DAMAGE, TRACE_NOTE_WARNING,
				"%s: the recording failed: %s", recording->folder, reason);
}

/** What a user must know about a recording, apart from its traces. */
static void note_recording(struct trace_args *args, const struct recording *recording)
{
	note_state(&args->notes, recording);
	for (int i = 0; i < recording->n_guests && !args->host_only; i++)
		if (recording->guests[i].why)
			trace_notes_add(&args->notes, TRACE_NOTE_PAIRING, TRACE_NOTE_WARNING,
					"%s: there is no trace of guest %s: %s", recording->folder,
					recording->guests[i].name, recording->guests[i].why);
	trace_args_print_notes(&args->notes, args->quiet);
}

/** The traces of a recorder that was killed may be there without being listed. */
static void report_no_host(const struct recording *recording)
{
	static const char list[] = "lists no trace of a host: give the traces one by one";
	const char *reason = recording->reason ? recording->reason : "for an unknown reason";

	if (recording->state == RECORDING_RUNNING)
		ksv_error("%s/" RECORDING_FILE ": lists no trace of a host: it is still being "
			  "recorded, or its recorder was killed; then the next kshark-virt record "
			  "on that host puts it in order", recording->folder);
	else if (recording->state == RECORDING_COMPLETE)
		ksv_error("%s/" RECORDING_FILE ": %s", recording->folder, list);
	else
		ksv_error("%s/" RECORDING_FILE ": %s; the recording %s: %s", recording->folder,
			  list, recording->state == RECORDING_FAILED ? "failed" : "was stopped",
			  reason);
}

static int add_recording(struct trace_args *args, const struct recording *recording)
{
	int before = args->n;
	int status = keep(args, recording_path(recording->folder, RECORDING_FILE));

	if (!status)
		status = add_files(args, recording, RECORDING_HOST);
	if (!status && args->n == before) {
		report_no_host(recording);
		return KSV_EXIT_FILE;
	}
	if (!status)
		status = add_files(args, recording, RECORDING_GUEST);
	if (!status)
		note_recording(args, recording);
	return status;
}

/* --- what is compressed as a whole, or comes from a pipe -------------------------------------- */

/** Return: the descriptor of a file with what a path names, or a negative errno after a message. */
static int open_copy(const struct trace_args *args, const char *path, bool is_copied)
{
	char error[512] = "";
	int fd;

	if (is_copied) {
		fd = xentrace_copy(path, args->max_input, error, sizeof(error));
		if (fd < 0)
			ksv_error("%s", error);
		return fd;
	}
	fd = regular_file_open(path);
	if (fd < 0)
		ksv_error("%s: %s", path, regular_file_error(fd));
	return fd;
}

/** Make a trace.dat of another trace. @in is used up; -1: a folder. Return: as above. */
static int convert_foreign(struct trace_args *args, const char *path, enum foreign_kind kind,
			   int in)
{
	struct foreign_outcome outcome;
	const struct foreign_wanted wanted = {
		.most_bytes = args->max_input, .counters = args->counters,
	};
	int fd = foreign_convert(path, kind, in, &wanted, &outcome);

	if (fd < 0) {
		ksv_error("%s: %s", path, outcome.problem);
		return fd;
	}
	foreign_notes(path, &outcome, &args->notes);
	trace_args_print_notes(&args->notes, args->quiet);
	return fd;
}

/** Is it a trace.dat that cannot be read in its place? */
static bool is_packed(const uint8_t *head, int n, bool is_copied)
{
	return is_copied && n >= (int)sizeof(trace_dat_magic) &&
	       !memcmp(head, trace_dat_magic, sizeof(trace_dat_magic));
}

/**
 * A trace.dat that cannot be read in its place is read from a copy from now on, and so is a trace
 * of another tool, as a trace.dat; a xentrace file is unpacked by the one who reads it. Return:
 * KSV_EXIT_OK, or the exit status after a message.
 */
static int copy_trace_dat(struct trace_args *args, const char *path)
{
	uint8_t head[HEAD_BYTES];
	enum foreign_kind kind;
	bool is_copied = false, is_folder;
	int n, fd;

	if (args->is_live || held_file_is_copy(path))
		return KSV_EXIT_OK;
	n = xentrace_head(path, head, sizeof(head), &is_copied);
	is_folder = n <= 0;
	kind = foreign_kind_of(path, head, is_folder ? 0 : (size_t)n);
	if (kind == FOREIGN_NONE && perf_folder_part(path)) {
		ksv_error("%s: a part of a folder of 'perf record --threads': give the folder that "
			  "it is in", path);
		return KSV_EXIT_FILE;
	}
	if (kind == FOREIGN_NONE && !is_packed(head, n, is_copied))
		return KSV_EXIT_OK;
	fd = is_folder ? -1 : open_copy(args, path, is_copied);
	if (fd < 0 && !is_folder)
		return KSV_EXIT_FILE;
	if (kind != FOREIGN_NONE)
		fd = convert_foreign(args, path, kind, fd);
	if (fd < 0)
		return KSV_EXIT_FILE;
	if (!held_file_set_copy(path, fd))
		return KSV_EXIT_OK;
	close(fd);
	return no_memory();
}

/* --- all of it ------------------------------------------------------------------------------- */

/** A folder's sidecar is beside the folder, whether its name ends with a slash or not. */
static char *without_slash(const char *arg)
{
	size_t n = strlen(arg);
	struct stat st;

	if (!stat(arg, &st) && S_ISDIR(st.st_mode))
		while (n > 1 && arg[n - 1] == '/')
			n--;
	return strndup(arg, n);
}

/** A trace that is given by itself. */
static int add_trace(struct trace_args *args, const char *arg)
{
	char *path = without_slash(arg);
	int status = keep(args, path ? strdup(path) : NULL);

	if (!status)
		status = copy_trace_dat(args, path);
	if (!status)
		return add_item(args, path, NULL);
	free(path);
	return status;
}

int trace_args_add(struct trace_args *args, const char *arg)
{
	struct recording recording;
	struct stat st;
	char error[512];
	int status;

	if (foreign_name_problem(arg) && stat(arg, &st) && errno == ENOENT) {
		ksv_error("%s: %s", arg, foreign_name_problem(arg));
		return KSV_EXIT_FILE;
	}
	if (!strcmp(arg, "-") || !recording_is(arg))
		return add_trace(args, arg);
	if (recording_read(arg, &recording, error, sizeof(error))) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	status = add_recording(args, &recording);
	recording_free(&recording);
	return status;
}

int trace_args_add_all(struct trace_args *args, char **argv, int n)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; i < n && !status; i++)
		status = trace_args_add(args, argv[i]);
	return status;
}

int trace_args_twice(const char *one, const char *other, const char *why)
{
	ksv_error("%s and %s %s, and would count twice: give only one of them", one, other, why);
	return KSV_EXIT_USAGE;
}

/** A file, by what it is. */
struct identity {
	dev_t	dev;
	ino_t	ino;
	int	item;
};

static int compare_identities(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->item - y->item;
}

int trace_args_check_twice(const struct trace_args *args)
{
	struct identity *all = calloc((size_t)args->n + 1, sizeof(*all));
	int n = 0, status = KSV_EXIT_OK;
	struct stat st;

	if (!all)
		return no_memory();
	for (int i = 0; i < args->n; i++)
		if (!stat(args->items[i].path, &st) &&
		    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
			all[n++] = (struct identity){ st.st_dev, st.st_ino, i };
	qsort(all, (size_t)n, sizeof(*all), compare_identities);
	for (int i = 1; i < n && !status; i++)
		if (all[i].dev == all[i - 1].dev && all[i].ino == all[i - 1].ino)
			status = trace_args_twice(args->items[all[i - 1].item].path,
						  args->items[all[i].item].path,
						  "are the same file");
	free(all);
	return status;
}

int trace_args_check_output(const struct trace_args *args, const struct ksv_command *command,
			    const char *option, const char *out)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; i < args->n_kept && !status; i++) {
		const char *path = args->kept[i], *slash = strrchr(path, '/');

		/* a folder's list is nothing that is given by itself */
		if (slash && !strcmp(slash + 1, RECORDING_FILE) && ksv_same_file(path, out))
			status = ksv_usage_error(command, "--%s %s: is the list of the recording's "
						 "files",
						 option, out ? out : "-");
		else
			status = ksv_check_output(command, option, out, path);
	}
	return status;
}

int trace_args_take(struct trace_args *args, char **argv, int n,
		    const struct ksv_command *command, const char *output)
{
	int status = trace_args_add_all(args, argv, n);

	if (!status)
		status = trace_args_check_twice(args);
	return status ? status : trace_args_check_output(args, command, "output", output);
}

int trace_args_only(struct trace_args *args, const struct ksv_command *command, const char *arg,
		    const char *out, const char **path)
{
	int status;

	args->host_only = true;
	status = trace_args_add(args, arg);
	if (!status)
		status = trace_args_check_output(args, command, "output", out);
	if (!status)
		*path = args->items[0].path;
	return status;
}

char **trace_args_paths(const struct trace_args *args)
{
	char **paths = calloc((size_t)args->n + 1, sizeof(*paths));

	if (!paths)
		ksv_error("not enough memory");
	for (int i = 0; i < args->n && paths; i++)
		paths[i] = args->items[i].path;
	return paths;
}

void trace_args_free(struct trace_args *args)
{
	for (int i = 0; i < args->n; i++) {
		free(args->items[i].path);
		free(args->items[i].guest);
	}
	for (int i = 0; i < args->n_kept; i++)
		free(args->kept[i]);
	free(args->items);
	free(args->kept);
	trace_notes_free(&args->notes);
	*args = (struct trace_args){ 0 };
}
