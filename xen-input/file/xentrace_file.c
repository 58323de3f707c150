// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_file.c
 * @brief	Read the bytes of a trace file as one range, from any source.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "foreign_file.h"
#include "held_file.h"
#include "regular_file.h"
#include "temporary_file.h"
#include "xentrace_copy.h"
#include "xentrace_file.h"
#include "xentrace_unpack.h"

/** Size of the pieces in which data is copied and uncompressed. */
#define CHUNK		(256 * 1024)

/** Bytes that are copied before they must look like a trace. */
#define PROBE_BYTES	(16 << 20)

/** Limits without --max-input: only a bomb unpacks to more. */
#define MAX_RATIO	250
#define RATIO_FROM	(UINT64_C(256) << 20)

void xentrace_set_error(char *error, size_t error_size, const char *format, ...)
{
	va_list args;

	if (!error || !error_size)
		return;
	va_start(args, format);
	vsnprintf(error, error_size, format, args);
	va_end(args);
}

static int write_fully(int fd, const uint8_t *buf, size_t size)
{
	while (size) {
		ssize_t n = write(fd, buf, size);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		buf += n;
		size -= n;
	}
	return 0;
}

/** A copy on its way to a temporary file. */
struct spool {
	struct xentrace_source	*src;
	const char		*path;
	const struct xentrace_options *options;
	uint64_t		packed_total;	/* for progress */
	uint64_t		copied;
	bool			seen;		/* it looks like a trace */
	const char		*foreign;	/* what it looks like instead; or NULL */
	bool			cut_short;
	char			*error;
	size_t			error_size;
};

/** Is the amount within the limits? Return: 0 or a negative errno, with a text. */
static int check_amount(struct spool *spool)
{
	uint64_t asked = spool->options ? spool->options->max_input : 0;
	uint64_t most = asked ? asked : XENTRACE_MAX_INPUT;
	uint64_t packed = xentrace_source_total(spool->src);

	if (!spool->seen && spool->foreign) {
		xentrace_set_error(spool->error, spool->error_size, "%s: %s", spool->path,
				   spool->foreign);
		return -EINVAL;
	}
	if (!spool->seen && spool->copied >= PROBE_BYTES) {
		xentrace_set_error(spool->error, spool->error_size,
				   "%s: not a xentrace file: no window of records in the first "
				   "%llu bytes. Give a file of xentrace, trace-cmd or 'kshark-virt "
				   "record'", spool->path, (unsigned long long)spool->copied);
		return -EINVAL;
	}
	if (spool->copied > most) {
		xentrace_set_error(spool->error, spool->error_size,
				   "%s: more than %llu bytes%s; if that is right, allow more with "
				   "--max-input (in KernelShark: XEN_MAX_INPUT)", spool->path,
				   (unsigned long long)most,
				   xentrace_source_packed(spool->src) ? " when unpacked" : "");
		return -EFBIG;
	}
	if (!asked && xentrace_source_packed(spool->src) && spool->copied > RATIO_FROM &&
	    spool->copied / MAX_RATIO > packed) {
		xentrace_set_error(spool->error, spool->error_size,
				   "%s: %llu bytes unpack to more than %llu, as no trace does; if "
				   "it is one, allow that with --max-input (in KernelShark: "
				   "XEN_MAX_INPUT)", spool->path, (unsigned long long)packed,
				   (unsigned long long)spool->copied);
		return -EFBIG;
	}
	return 0;
}

/** One more piece. Return: bytes, 0 at the end, or a negative errno. */
static ssize_t spool_piece(struct spool *spool, uint8_t *buf, int fd)
{
	static const uint8_t word[4] = { 0x03, 0xf0, 0x01, 0x20 };	/* of a window's header */
	const struct xentrace_options *options = spool->options;
	ssize_t n = xentrace_source_read(spool->src, buf, CHUNK);
	int ret;

	if (n == -EILSEQ && spool->copied) {
		spool->cut_short = true;
		return 0;
	}
	if (n <= 0)
		return n;
	if (!spool->copied)
		spool->foreign = foreign_file_problem(buf, (size_t)n);
	spool->copied += n;
	/* one that lies across the end of the piece is not the only one */
	spool->seen |= memmem(buf, n, word, sizeof(word)) != NULL;
	ret = check_amount(spool);
	if (!ret)
		ret = write_fully(fd, buf, n);
	if (!ret && options && options->progress &&
	    options->progress(options->progress_arg, xentrace_source_total(spool->src),
			      spool->packed_total))
		ret = -ECANCELED;
	return ret ? ret : n;
}

/** Copy everything to a temporary file. Return: its descriptor, or -errno with a text. */
static int spool_all(struct spool *spool)
{
	uint8_t *buf = malloc(CHUNK);
	int fd = buf ? temporary_file() : -ENOMEM;
	ssize_t n = fd < 0 ? fd : 1;

	while (n > 0)
		n = spool_piece(spool, buf, fd);
	free(buf);
	if (!n)
		return fd;
	if (fd >= 0)
		close(fd);
	if (n == -EILSEQ)
		xentrace_set_error(spool->error, spool->error_size,
				   "%s: corrupt compressed data: not a byte can be unpacked",
				   spool->path);
	else if (n != -EFBIG && n != -EINVAL)
		xentrace_set_error(spool->error, spool->error_size,
				   "%s: cannot copy it to a temporary file in %s: %s%s",
				   spool->path, temporary_directory(), strerror((int)-n),
				   n == -ENOSPC ?
				   "; set TMPDIR to a directory with more room" : "");
	return (int)n;
}

/** Replace what cannot be read at any place by a copy. @fd: becomes the copy. */
static int copy(struct xentrace_file *file, int fd, const struct stat *st, struct spool *spool)
{
	struct stat after;
	int ret;

	spool->src = xentrace_source_new(fd, CHUNK);
	if (!spool->src) {
		ret = -errno;
		xentrace_set_error(spool->error, spool->error_size, "%s: cannot read: %s",
				   spool->path, strerror(-ret));
		return ret;
	}
	spool->packed_total = st->st_size;
	ret = spool_all(spool);
	xentrace_source_free(spool->src);
	if (ret < 0)
		return ret;
	file->cut_short = spool->cut_short;
	if (S_ISREG(st->st_mode) && !fstat(fd, &after) && (after.st_size != st->st_size ||
	    after.st_mtim.tv_sec != st->st_mtim.tv_sec ||
	    after.st_mtim.tv_nsec != st->st_mtim.tv_nsec)) {
		xentrace_set_error(spool->error, spool->error_size,
				   "%s: has changed while it was unpacked: try again when it is "
				   "complete", spool->path);
		close(ret);
		return -ESTALE;
	}
	file->fd = ret;
	file->size = spool->copied;
	return 0;
}

/** Up to the end of the file as it is now. @error: an errno, or 0, if less was read. */
static size_t read_at(int fd, uint8_t *buf, uint64_t offset, size_t n, int *error)
{
	size_t done = 0;

	*error = 0;
	while (done < n) {
		ssize_t got = pread(fd, buf + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			*error = got ? errno : 0;
			break;
		}
		done += got;
	}
	return done;
}

/** Can the file be read as it is? Anything that is packed or no regular file cannot. */
static bool is_plain(int fd, const struct stat *st)
{
	uint8_t head[4];
	int error;

	/* read errors show up again when the trace is read */
	return S_ISREG(st->st_mode) && lseek(fd, 0, SEEK_CUR) == 0 &&
	       !xentrace_is_packed(head, read_at(fd, head, 0, sizeof(head), &error));
}

/** Return: a descriptor of its own, as the reader keeps it; or a negative errno. */
static int open_path(const char *path, const struct xentrace_options *options, bool from_stdin)
{
	int fd;

	if (!from_stdin && ((options && options->regular_only) || held_file_fd(path) >= 0))
		return held_file_open_original(path);
	fd = from_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
			: open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int xentrace_file_open(struct xentrace_file *file, const char *path,
		       const struct xentrace_options *options, char *error, size_t error_size)
{
	struct spool spool = {
		.path = path, .options = options, .error = error, .error_size = error_size,
	};
	bool from_stdin = !(options && options->regular_only) && !strcmp(path, "-");
	int fd = open_path(path, options, from_stdin), ret = 0;
	struct stat st;

	*file = (struct xentrace_file){ .fd = -1 };
	if (fd < 0) {
		xentrace_set_error(error, error_size, "%s: cannot open: %s", path,
				   regular_file_error(fd));
		return fd;
	}
	if (fstat(fd, &st))
		ret = -errno;
	else if (S_ISDIR(st.st_mode))
		ret = -EISDIR;
	if (ret) {
		xentrace_set_error(error, error_size, "%s: %s%s", path,
				   foreign_folder_problem(path) ? "" : "cannot read: ",
				   foreign_folder_problem(path) ? foreign_folder_problem(path)
								: strerror(-ret));
		close(fd);
		return ret;
	}
	if (is_plain(fd, &st)) {
		file->fd = fd;
		file->size = st.st_size;
	} else {
		ret = copy(file, fd, &st, &spool);
		close(fd);
		if (ret)
			return ret;
	}
	file->watch = xentrace_watch_new(file->fd, &st, S_ISREG(st.st_mode) && !from_stdin ? path
			: NULL, file->fd != fd);
	if (!file->watch) {
		xentrace_file_close(file);
		xentrace_set_error(error, error_size, "%s: not enough memory", path);
		return -ENOMEM;
	}
	return 0;
}

void xentrace_file_close(struct xentrace_file *file)
{
	xentrace_watch_free(file->watch);
	if (!file->memory && file->fd >= 0)
		close(file->fd);
	*file = (struct xentrace_file){ .fd = -1 };
}

/** What is there no more reads as zeros, as what is behind the end does. */
static void read_memory(const struct xentrace_file *file, uint8_t *buf, uint64_t offset, size_t n)
{
	size_t gone = offset >= file->begin ? 0 : file->begin - offset < n ?
		      (size_t)(file->begin - offset) : n;

	memset(buf, 0, gone);
	if (n > gone)
		memcpy(buf + gone, file->memory + (offset + gone - file->begin), n - gone);
}

size_t xentrace_file_read(const struct xentrace_file *file, void *buf, uint64_t offset, size_t n)
{
	size_t wanted;
	int error;

	if (offset >= file->size)
		return 0;
	if (n > file->size - offset)
		n = file->size - offset;
	if (file->memory) {
		read_memory(file, buf, offset, n);
		return n;
	}
	wanted = n;
	n = read_at(file->fd, buf, offset, wanted, &error);
	if (n < wanted)
		xentrace_watch_failed(file->watch, error);
	/* looked at afterwards: what was written before has left its mark by now */
	return xentrace_watch_stale(file->watch) ? 0 : n;
}

enum xentrace_change xentrace_file_change(const struct xentrace_file *file, uint64_t *now)
{
	uint64_t unused;

	if (!now)
		now = &unused;
	*now = file->size;
	return file->watch ? xentrace_watch_change(file->watch, now) : XENTRACE_UNCHANGED;
}

void xentrace_file_condemn(const struct xentrace_file *file)
{
	if (file->watch)
		xentrace_watch_failed(file->watch, 0);
}

int xentrace_file_errno(const struct xentrace_file *file)
{
	return file->watch ? xentrace_watch_errno(file->watch) : 0;
}

int xentrace_file_peek(const char *path, uint8_t *buf, size_t size)
{
	/* Reading from a FIFO would take away what the real reader needs. */
	int fd = held_file_open_original(path), ret;
	struct xentrace_source *src;
	size_t n = 0;

	if (fd < 0)
		return fd;
	src = xentrace_source_new(fd, size);
	ret = src ? 0 : -errno;
	while (!ret && n < size) {
		ssize_t got = xentrace_source_read(src, buf + n, size - n);

		if (got <= 0)
			break;
		n += got;
	}
	xentrace_source_free(src);
	close(fd);
	return ret ? ret : (int)n;
}

/* --- of any kind ----------------------------------------------------------------------------- */

/** A pipe without a name: another who opens it does not wait for its writer. */
static bool is_pipe(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == PIPEFS_MAGIC;
}

static int unpack_head(int fd, uint8_t *buf, size_t size, bool *is_packed)
{
	struct xentrace_source *src = xentrace_source_new(fd, size);
	size_t n = 0;

	if (!src)
		return -errno;
	*is_packed = xentrace_source_packed(src);
	while (n < size) {
		ssize_t got = xentrace_source_read(src, buf + n, size - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	xentrace_source_free(src);
	return (int)n;
}

/** What waits in a pipe stays there: a copy of it is looked at. */
static int pipe_head(int fd, uint8_t *buf, size_t size, bool *is_packed)
{
	int copy[2], ret = -EINVAL;
	ssize_t n;

	if (pipe2(copy, O_CLOEXEC))
		return -errno;
	do
		n = tee(fd, copy[1], size, 0);
	while (n < 0 && errno == EINTR);
	close(copy[1]);
	if (n >= 0)
		ret = unpack_head(copy[0], buf, size, is_packed);
	close(copy[0]);
	return ret;
}

int xentrace_head(const char *path, uint8_t *buf, size_t size, bool *is_copied)
{
	const bool from_stdin = !strcmp(path, "-");
	int fd = from_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) :
		 is_pipe(path) ? open(path, O_RDONLY | O_CLOEXEC) : held_file_open_original(path);
	bool is_packed = false;
	struct stat st;
	int ret = 0;

	*is_copied = false;
	if (fd < 0)
		return from_stdin || fd == -1 ? -errno : fd == -EINVAL ? 0 : fd;
	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode)) {
		ret = pipe_head(fd, buf, size, &is_packed);
		*is_copied = true;
	} else if (S_ISREG(st.st_mode) && !lseek(fd, 0, SEEK_CUR)) {
		ret = unpack_head(fd, buf, size, &is_packed);
		/* that of standard input is shared */
		lseek(fd, 0, SEEK_SET);
		*is_copied = is_packed || from_stdin;
	}
	close(fd);
	return ret;
}

int xentrace_copy(const char *path, uint64_t max_input, char *error, size_t error_size)
{
	const struct xentrace_options options = { .max_input = max_input };
	struct spool spool = {
		.path = path, .options = &options, .error = error, .error_size = error_size,
		.seen = true,
	};
	int fd = open_path(path, &options, !strcmp(path, "-")), ret;
	struct xentrace_file file = { .fd = -1 };
	struct stat st;

	if (fd < 0) {
		xentrace_set_error(error, error_size, "%s: cannot open: %s", path,
				   regular_file_error(fd));
		return fd;
	}
	ret = fstat(fd, &st) ? -errno : copy(&file, fd, &st, &spool);
	close(fd);
	if (!ret && file.cut_short) {
		xentrace_set_error(error, error_size, "%s: corrupt compressed data, or cut short: "
				   "copy it again, if there is another one", path);
		close(file.fd);
		ret = -EILSEQ;
	}
	return ret ? ret : file.fd;
}
