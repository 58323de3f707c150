// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	view_files.c
 * @brief	Give files names that KernelShark takes, in a private directory where needed.
 *
 * KernelShark 2.2.1 requires this (kernelshark.cpp, libkshark-tepdata.c):
 * - a file is a trace-cmd file if and only if its name ends in ".dat", whatever its content is;
 * - the argument of -a is split at blanks;
 * - files are opened several times, which a pipe does not allow.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "escape.h"
#include "foreign_convert.h"
#include "foreign_file.h"
#include "guest_pointer.h"
#include "host_samples.h"
#include "host_trace.h"
#include "kvm_trace.h"
#include "kvm_trace_symbols.h"
#include "monitor_meta.h"
#include "monitor_trace.h"
#include "options.h"
#include "sidecar.h"
#include "trace_dat.h"
#include "view.h"
#include "xen_window.h"
#include "xentrace_copy.h"
#include "xentrace_reader.h"

enum file_kind {
	FILE_UNKNOWN, FILE_XENTRACE, FILE_TRACE_CMD, FILE_GUEST, FILE_WINDOW, FILE_MONITOR,
	FILE_FOLDER		/* in CTF, which trace_args_add() has converted */
};

/* --- the private directory ------------------------------------------------------------------- */

int view_make_temp(struct view_files *files)
{
	const char *dir = getenv("TMPDIR");

	if (files->temp)
		return 0;
	/* -a could not take names in a directory with a blank. */
	if (!dir || !*dir || strchr(dir, ' '))
		dir = "/tmp";
	if (asprintf(&files->temp, "%s/kshark-virt-XXXXXX", dir) < 0) {
		files->temp = NULL;
		return -ENOMEM;
	}
	if (mkdtemp(files->temp))
		return 0;
	ksv_error("%s: cannot make a temporary directory: %s; set TMPDIR", dir, strerror(errno));
	free(files->temp);
	files->temp = NULL;
	return -EIO;
}

static void remove_temp(struct view_files *files)
{
	DIR *dir = files->temp ? opendir(files->temp) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	if (files->temp)
		rmdir(files->temp);
	free(files->temp);
	files->temp = NULL;
}

/* --- names ----------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_ctf(const char *path)
{
	return foreign_kind_of(path, NULL, 0) == FOREIGN_CTF;
}

static enum file_kind kind_of(const char *path)
{
	if (is_folder(path))
		return !trace_dat_is(path) ? FILE_UNKNOWN :
		       is_ctf(path) ? FILE_FOLDER : FILE_TRACE_CMD;
	if (xentrace_check(path))
		return FILE_XENTRACE;
	if (trace_dat_is(path))
		return FILE_TRACE_CMD;
	if (guest_pointer_is(path))
		return FILE_GUEST;
	if (xen_window_is(path))
		return FILE_WINDOW;
	return monitor_trace_is(path) ? FILE_MONITOR : FILE_UNKNOWN;
}

/** Does KernelShark take a file of this name for what it is? */
static bool name_fits(const char *name, enum file_kind kind)
{
	switch (kind) {
	case FILE_XENTRACE:
	case FILE_GUEST:
	case FILE_WINDOW:
	case FILE_MONITOR:
	case FILE_FOLDER:
		return !ends_with(name, ".dat");
	case FILE_TRACE_CMD:
		return ends_with(name, ".dat");
	default:
		return true;
	}
}

/** Of a name in the private directory: with a number, an ending and a sidecar's, it is no longer
 *  than file systems take.
 */
#define MAX_BASE	(NAME_MAX - 40)

/** A free name in the private directory. Return: malloc'ed, or NULL. */
static char *temp_name(const struct view_files *files, const char *base, enum file_kind kind)
{
	const char *ending = name_fits(base, kind) ? "" : kind == FILE_XENTRACE ? ".xen" :
			     kind == FILE_GUEST ? ".hypertrace" :
			     kind == FILE_WINDOW ? ".window" :
			     kind == FILE_MONITOR ? ".qemu" :
			     kind == FILE_FOLDER ? ".ctf" : ".dat";
	size_t n = strlen(base);
	char *name, *p;

	if (*ending && ends_with(base, ".dat"))
		n -= strlen(".dat");
	if (n > MAX_BASE)
		n = text_cut(base, MAX_BASE);
	for (int i = 1; ; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof(number), "%d-", i);
		if (asprintf(&name, "%s/%s%.*s%s", files->temp, number, (int)n, base, ending) < 0)
			return NULL;
		for (p = name + strlen(files->temp) + 1; *p; p++) {
			if (isspace((unsigned char)*p))
				*p = '_';
		}
		if (!access(name, F_OK)) {
			free(name);
			continue;
		}
		if (errno == ENOENT)
			return name;
		ksv_error("%s: %s", name, strerror(errno));
		free(name);
		return NULL;
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int link_to(const char *target, const char *name)
{
	char *absolute = realpath(target, NULL);
	int ret = absolute && !symlink(absolute, name) ? 0 : -errno;

	if (ret)
		ksv_error("%s: cannot link to %s: %s", name, target, strerror(-ret));
	free(absolute);
	return ret;
}

/** @link: the name, which is freed; NULL: there was no memory */
static int link_as(const char *target, char *link)
{
	int ret = link ? link_to(target, link) : -ENOMEM;

	free(link);
	return ret;
}

/** What is beside a trace is beside its other name, too. @sidecar: or NULL */
static int link_beside(const char *path, const char *sidecar, const char *name)
{
	char *samples = host_samples_path(path);
	int ret = !samples ? -ENOMEM : access(samples, F_OK) ? 0 :
		  link_as(samples, host_samples_path(name));

	free(samples);
	return ret || !sidecar ? ret : link_as(sidecar, sidecar_path(name));
}

/* --- handing over ---------------------------------------------------------------------------- */

/** Everything from a pipe into a file. */
static int copy_to_file(int in, const char *from, const char *to, uint64_t most)
{
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char buffer[65536];
	uint64_t copied = 0;
	ssize_t n = 0;

	if (out < 0)
		goto write_error;
	while (!view_signal() && (n = read(in, buffer, sizeof(buffer))) != 0) {
		ssize_t done = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ksv_error("%s: cannot read: %s", from, strerror(errno));
			close(out);
			return -EIO;
		}
		copied += n;
		if (copied > most) {
			ksv_error("%s: more than %llu bytes; if that is right, allow more with "
				  "--max-input", from, (unsigned long long)most);
			close(out);
			return -EFBIG;
		}
		while (done < n) {
			ssize_t m = write(out, buffer + done, n - done);

			if (m < 0 && errno != EINTR)
				goto write_error;
			done += m > 0 ? m : 0;
		}
	}
	if (!close(out))
		return view_signal() ? -EINTR : 0;
	out = -1;
write_error:
	ksv_error("%s: cannot write: %s; set TMPDIR to a place with more room", to,
		  strerror(errno));
	if (out >= 0)
		close(out);
	return -EIO;
}

/**
 * KernelShark would say that there is no data.
 * @path: where the file is, of this kind; messages call it @shown
 *
 * Return: false if none of our plugins reads it.
 */
static bool check_kind(const struct view_files *files, const char *path, enum file_kind kind,
		       const char *shown)
{
	uint8_t head[FOREIGN_FILE_HEAD];
	const char *problem;
	bool is_copied;
	int n;

	if (files->any_kind || kind != FILE_UNKNOWN)
		return true;
	if (kind_of(path) != FILE_UNKNOWN) {
		ksv_error("%s: reading its beginning failed once: try again, and look at the disk",
			  shown);
		return false;
	}
	n = xentrace_head(path, head, sizeof(head), &is_copied);
	problem = n > 0 ? foreign_file_problem(head, (size_t)n) : NULL;
	ksv_error("%s: %s; if another plugin reads it, load it with -- -p PLUGIN", shown,
		  problem ? problem : "not a trace of xentrace, trace-cmd or QEMU");
	return false;
}

/** Standard input or a FIFO: copy it, then see what it is. */
static int hand_over_pipe(struct view_files *files, const char *path, char **handed)
{
	bool is_stdin = !strcmp(path, "-");
	const char *from = is_stdin ? "standard input" : path;
	char *raw = NULL, *name = NULL;
	int fd, ret;

	/* trace_args_add() has copied a trace.dat from standard input already */
	if (held_file_is_copy(path))
		fd = held_file_open(path);
	else
		fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (!view_signal())
			ksv_error("%s: cannot open: %s", path, strerror(errno));
		return -EIO;
	}
	ret = view_make_temp(files);
	if (!ret && asprintf(&raw, "%s/.copy", files->temp) < 0) {
		raw = NULL;
		ret = -ENOMEM;
	}
	if (!ret)
		ret = copy_to_file(fd, from, raw,
				   files->max_input ? files->max_input : XENTRACE_MAX_INPUT);
	if (fd != STDIN_FILENO)
		close(fd);
	if (!ret && !check_kind(files, raw, kind_of(raw), from))
		ret = -EIO;
	if (ret)
		goto out;
	name = temp_name(files, is_stdin ? "stdin" : base_name(path), kind_of(raw));
	ret = name && !rename(raw, name) ? 0 : -ENOMEM;
	if (ret)
		free(name);
	else
		*handed = name;
out:
	free(raw);
	return ret;
}

static void note_name(const char *path, const char *name, const char *why)
{
	ksv_error("%s: opened as %s, because %s; sessions that are saved with this name cannot be "
		  "restored", path, name, why);
}

/** A free name that KernelShark takes for a trace.dat, as a link to @copy. */
static char *link_copy(const struct view_files *files, const char *copy)
{
	char *name;

	if (name_fits(copy, FILE_TRACE_CMD))
		return strdup(copy);
	name = temp_name(files, base_name(copy), FILE_TRACE_CMD);
	if (name && !link_to(copy, name))
		return name;
	free(name);
	return NULL;
}

/**
 * A file that is read from a copy: KernelShark gets another copy. It has the name of the file, by
 * which its guests' sidecars know it, and a link with a name that KernelShark takes.
 */
static int hand_over_copy(struct view_files *files, const char *path, char **handed)
{
	char *sidecar = sidecar_find(path), *copy = NULL, *name = NULL;
	int fd = held_file_open(path), ret = fd < 0 ? fd : view_make_temp(files);

	if (!ret) {
		copy = temp_name(files, base_name(path), FILE_UNKNOWN);
		ret = copy ? copy_to_file(fd, path, copy, UINT64_MAX) : -ENOMEM;
	}
	if (!ret) {
		name = link_copy(files, copy);
		ret = name ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = link_beside(path, sidecar, name);
	if (!ret)
		note_name(path, name, "KernelShark reads only trace.dat files, unpacked");
	if (fd >= 0)
		close(fd);
	free(sidecar);
	free(copy);
	if (ret)
		free(name);
	else
		*handed = name;
	return ret;
}

char *view_link_name(struct view_files *files, const char *path, const char *why)
{
	char *name = view_make_temp(files) ? NULL :
		     temp_name(files, base_name(path), kind_of(path));

	if (name && !link_to(path, name)) {
		note_name(path, name, why);
		return name;
	}
	free(name);
	return NULL;
}

/** If --cpu-hz contradicts a trace, KernelShark would open nothing, or show wrong times. */
static bool check_hz(const struct view_files *files, const char *path, enum file_kind kind)
{
	struct host_options options = files->guests.options;
	struct host_trace trace;
	char error[512];

	if (!options.cpu_hz || (kind != FILE_XENTRACE && kind != FILE_TRACE_CMD))
		return true;
	options.max_input = files->max_input;
	if (host_trace_open(&trace, path, &options, error, sizeof(error))) {
		ksv_error("%s", error);
		return false;
	}
	host_trace_close(&trace);
	return true;
}

/** A regular file: as it is, if KernelShark can take it like that. */
static int hand_over_file(struct view_files *files, const char *path, bool appended, char **handed)
{
	enum file_kind kind = kind_of(path);
	char *sidecar = kind != FILE_UNKNOWN ? sidecar_find(path) : NULL;
	char *expected = sidecar_path(path);
	const char *why = NULL;
	int ret = -ENOMEM;

	if (!check_hz(files, path, kind)) {
		ret = -EINVAL;
		goto out;
	}
	if (!name_fits(path, kind))
		why = kind != FILE_TRACE_CMD ? "KernelShark takes *.dat for trace-cmd files" :
		      "KernelShark takes only *.dat for trace-cmd files";
	else if (appended && strchr(path, ' '))
		why = "KernelShark cannot append a file with a blank in its name";
	else if (sidecar && expected && strcmp(sidecar, expected) != 0)
		why = "its sidecar has another name";
	if (!why) {
		/* An option is what begins with a dash. */
		if (asprintf(handed, "%s%s", *path == '-' ? "./" : "", path) < 0)
			*handed = NULL;
		ret = *handed ? 0 : -ENOMEM;
		goto out;
	}
	*handed = view_link_name(files, path, why);
	ret = !*handed ? -ENOMEM : link_beside(path, sidecar, *handed);
out:
	free(sidecar);
	free(expected);
	return ret;
}

bool view_check_readable(const char *path)
{
	struct stat st;

	if (stat(path, &st) || access(path, R_OK)) {
		ksv_error("%s: cannot open: %s", path, strerror(errno));
		return false;
	}
	if (S_ISDIR(st.st_mode) && !held_file_is_copy(path)) {
		ksv_error("%s: %s", path, foreign_folder_problem(path));
		return false;
	}
	return true;
}

/** Until it is aligned with its host, a monitor is at the times of its own clock. */
static void note_alignment(const char *path)
{
	struct monitor_meta meta;
	char error[512];
	int ret = monitor_meta_read(path, &meta, error, sizeof(error));

	monitor_meta_free(&meta);
	if (ret < 0)
		ksv_note("%s", error);
	else if (!ret)
		ksv_note("%s: is not aligned with its host; run 'kshark-virt align --write HOST "
			 "%s'", path, path);
}

static int see_call(void *arg, const struct kvm_trace_record *record)
{
	*(bool *)arg |= record->call != NULL;
	return 0;
}

/** Does libtracecmd survive all of a file? @calls receives whether it has hypercalls of guests. */
static bool try_trace(const char *path, bool *calls)
{
	char problem[512] = "";
	struct kvm_trace *trace;
	int ret;

	kvm_trace_read_whole();
	trace = kvm_trace_open_apart(path, problem, sizeof(problem));
	ret = trace ? kvm_trace_try(trace, see_call, calls) : 0;
	kvm_trace_close(trace);
	if (ret)
		ksv_error("%s: %s", path, kvm_trace_problem(ret));
	else if (!trace)
		ksv_error("%s", problem);
	return trace && !ret;
}

/**
 * Say what is wrong with a file that KernelShark would crash on, or find no data in.
 * @calls: receives whether it may contain reports of guests
 */
static bool check_content(const struct view_files *files, const char *path, bool *calls)
{
	enum file_kind kind = kind_of(path);

	*calls = kind == FILE_XENTRACE;
	if (!check_kind(files, path, kind, path))
		return false;
	if (kind == FILE_MONITOR && files->n > 1)
		note_alignment(path);
	return (kind != FILE_TRACE_CMD && kind != FILE_FOLDER) || try_trace(path, calls);
}

/** Leave files out that cannot be read. Return: -EIO if none is left; -ENOMEM. */
static int drop_unreadable(struct view_files *files)
{
	struct stat st;
	int n = 0;

	files->calls = calloc((size_t)files->n + 1, sizeof(*files->calls));
	if (!files->calls)
		return -ENOMEM;
	for (int i = 0; i < files->n; i++) {
		if (!stat(files->paths[i], &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
		    !check_content(files, files->paths[i], &files->calls[n]))
			continue;
		files->given[n] = files->given[i];
		files->paths[n++] = files->paths[i];
	}
	if (n < files->n && n)
		ksv_error("opening the rest without %s", files->n - n > 1 ? "them" : "it");
	if (!n && files->n)
		return -EIO;
	files->n = n;
	return 0;
}

/** What trace_args_add() has unpacked or converted, neither a FIFO nor standard input. */
static bool is_copy(const char *path)
{
	struct stat st;

	return held_file_is_copy(path) && strcmp(path, "-") != 0 && !stat(path, &st) &&
	       (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/** Not a FIFO or - for standard input. */
static bool is_regular(const char *path)
{
	struct stat st;

	/* what has vanished since is treated like a file, and reported like one */
	return strcmp(path, "-") != 0 && (stat(path, &st) || S_ISREG(st.st_mode));
}

/** First the checks, so that no pipe is read in vain. Return: 0 or a negative errno. */
static int check_all(struct view_files *files)
{
	for (int i = 0; i < files->n; i++) {
		if (!strcmp(files->paths[i], "-")) {
			if (isatty(STDIN_FILENO)) {
				ksv_error("standard input is a terminal, not a trace");
				return -EINVAL;
			}
		} else if (!view_check_readable(files->paths[i])) {
			return -ENOENT;
		}
	}
	return drop_unreadable(files);
}

/** A folder is opened as it is, or by a link. Code that asks for the link gets the copy, too. */
static int hand_over_folder(struct view_files *files, const char *path, bool appended,
			    char **handed)
{
	int ret = hand_over_file(files, path, appended, handed), fd;

	if (ret || !strcmp(*handed, path))
		return ret;
	fd = fcntl(held_file_fd(path), F_DUPFD_CLOEXEC, 0);
	ret = fd < 0 ? -errno : held_file_set_copy(*handed, fd);
	if (ret && fd >= 0)
		close(fd);
	return ret;
}

static int hand_over_window(struct view_files *files, int i)
{
	const char *path = files->paths[i];

	/* guests would have to be looked for in all of it */
	files->calls[i] = false;
	if (is_regular(path) && !is_copy(path))
		return view_hand_over_window(files, path, i > 0, &files->names[i]);
	ksv_error("%s: --from and --to cannot load a window of %s",
		  strcmp(path, "-") ? path : "standard input", held_file_is_copy(path) ?
		  "a trace that is unpacked or converted first" : "a pipe: write it to a file");
	return -EINVAL;
}

int view_hand_over(struct view_files *files)
{
	int ret = check_all(files);

	if (!ret) {
		files->names = calloc((size_t)files->n + 1, sizeof(*files->names));
		ret = files->names ? 0 : -ENOMEM;
		files->names_room = files->n + 1;
	}
	files->n_names = ret ? 0 : files->n;
	for (int i = 0; i < files->n && !ret; i++) {
		const char *path = files->paths[i];

		if (view_wants_window(files)) {
			ret = hand_over_window(files, i);
		} else if (files->takes_folders && is_ctf(path)) {
			ret = hand_over_folder(files, path, i > 0, &files->names[i]);
		} else if (is_copy(path)) {
			ret = hand_over_copy(files, path, &files->names[i]);
		} else if (is_regular(path)) {
			ret = hand_over_file(files, path, i > 0, &files->names[i]);
		} else {
			ret = hand_over_pipe(files, path, &files->names[i]);
			/* not examined yet */
			files->calls[i] = true;
		}
	}
	if (!ret && !files->guests.none)
		ret = view_add_guests(files);
	if (ret == -ENOMEM)
		ksv_error("not enough memory");
	return ret;
}

void view_files_clean(struct view_files *files)
{
	remove_temp(files);
	for (int i = 0; i < files->n_names; i++)
		free(files->names[i]);
	free(files->names);
	free(files->calls);
	files->names = NULL;
	files->calls = NULL;
	files->n_names = 0;
}
