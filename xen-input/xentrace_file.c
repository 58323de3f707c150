// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_file.c
 * @brief	Bytes of a trace file, wherever they come from, as one mapped range.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "temporary_file.h"
#include "xentrace_file.h"

/** Size of the pieces in which data is copied and uncompressed. */
#define CHUNK	(256 * 1024)

/** How far behind a page that is touched the kernel may map others with it. */
#define DROP_AGAIN	(4 << 20)

void xentrace_set_error(char *error, size_t error_size, const char *format, ...)
{
	va_list args;

	if (!error || !error_size)
		return;
	va_start(args, format);
	vsnprintf(error, error_size, format, args);
	va_end(args);
}

/** How the bytes of a file are packed. */
enum packing { PACKED_PLAIN, PACKED_GZIP, PACKED_ZSTD };

static const uint8_t gzip_magic[] = { 0x1f, 0x8b };			/* RFC 1952 */
static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };		/* RFC 8878 */

static enum packing packing_of(const uint8_t *head, size_t n)
{
	if (n >= sizeof(gzip_magic) && !memcmp(head, gzip_magic, sizeof(gzip_magic)))
		return PACKED_GZIP;
	if (n >= sizeof(zstd_magic) && !memcmp(head, zstd_magic, sizeof(zstd_magic)))
		return PACKED_ZSTD;
	return PACKED_PLAIN;
}

/** A source of bytes that unpacks as it goes. */
struct source {
	int		fd;
	enum packing	packing;
	bool		eof;		/* no more packed input */
	bool		ended;		/* the last member or frame was complete */
	bool		corrupt;	/* nothing usable comes any more */
	uint8_t		*in;
	size_t		in_size;
	size_t		in_begin, in_end;
	uint64_t	in_total;
	z_stream	gzip;
	ZSTD_DStream	*zstd;
};

/** Read until @size bytes are there or the file ends. Return: bytes or -errno. */
static ssize_t read_fully(int fd, uint8_t *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, buf + n, size - n);

		if (got < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (!got)
			break;
		n += got;
	}
	return n;
}

static int source_fill(struct source *src)
{
	ssize_t got;

	if (src->in_begin < src->in_end || src->eof)
		return 0;
	got = read_fully(src->fd, src->in, src->in_size);
	if (got < 0)
		return got;
	src->in_begin = 0;
	src->in_end = got;
	src->in_total += got;
	src->eof = (size_t)got < src->in_size;
	return 0;
}

static void source_close(struct source *src)
{
	if (src->packing == PACKED_GZIP)
		inflateEnd(&src->gzip);
	ZSTD_freeDStream(src->zstd);
	free(src->in);
}

static int source_open(struct source *src, int fd, size_t in_size)
{
	int ret;

	memset(src, 0, sizeof(*src));
	src->fd = fd;
	src->in_size = in_size;
	src->in = malloc(in_size);
	if (!src->in)
		return -ENOMEM;
	ret = source_fill(src);
	if (ret)
		goto fail;
	src->ended = true;
	ret = -ENOMEM;
	switch (packing_of(src->in, src->in_end)) {
	case PACKED_GZIP:
		/* 16: gzip header, not zlib's */
		if (inflateInit2(&src->gzip, 16 + MAX_WBITS) != Z_OK)
			goto fail;
		src->packing = PACKED_GZIP;
		break;
	case PACKED_ZSTD:
		src->zstd = ZSTD_createDStream();
		if (!src->zstd)
			goto fail;
		src->packing = PACKED_ZSTD;
		break;
	case PACKED_PLAIN:
		break;
	}
	return 0;

fail:
	source_close(src);
	return ret;
}

/** One step of inflate(). Return: bytes made. */
static ssize_t gzip_step(struct source *src, uint8_t *out, size_t size)
{
	z_stream *z = &src->gzip;
	int ret;

	if (src->ended) {
		/*
		 * Another member, or trailing padding, which gzip(1) ignores as well. The second
		 * byte may still have to be read.
		 */
		const uint8_t *in = src->in + src->in_begin;

		if (in[0] != gzip_magic[0] ||
		    (src->in_end - src->in_begin > 1 && in[1] != gzip_magic[1])) {
			src->in_begin = src->in_end;
			return 0;
		}
		inflateReset(z);
		src->ended = false;
	}
	z->next_in = src->in + src->in_begin;
	z->avail_in = src->in_end - src->in_begin;
	z->next_out = out;
	z->avail_out = size;
	ret = inflate(z, Z_NO_FLUSH);
	src->in_begin = src->in_end - z->avail_in;
	if (ret == Z_STREAM_END)
		src->ended = true;
	else if (ret != Z_OK && ret != Z_BUF_ERROR)
		src->corrupt = true;
	return size - z->avail_out;
}

/** One step of ZSTD_decompressStream(). Return: bytes made. */
static ssize_t zstd_step(struct source *src, uint8_t *out, size_t size)
{
	ZSTD_inBuffer in = { src->in, src->in_end, src->in_begin };
	ZSTD_outBuffer to = { out, size, 0 };
	size_t ret;

	if (src->ended && in.pos < in.size && !src->in[in.pos]) {
		/* trailing padding: no frame begins with a zero */
		src->in_begin = src->in_end;
		return 0;
	}
	ret = ZSTD_decompressStream(src->zstd, &to, &in);
	src->in_begin = in.pos;
	if (ZSTD_isError(ret))
		src->corrupt = true;
	src->ended = ret == 0;
	return to.pos;
}

/**
 * Up to @size unpacked bytes. Return: 0 at the end, -EILSEQ for corrupt packed data, or the errno
 * of reading.
 */
static ssize_t source_read(struct source *src, uint8_t *out, size_t size)
{
	for (;;) {
		ssize_t n;
		int ret = source_fill(src);
		bool drained = src->in_begin == src->in_end;

		if (ret)
			return ret;
		if (src->packing == PACKED_PLAIN) {
			n = src->in_end - src->in_begin;
			if ((size_t)n > size)
				n = size;
			memcpy(out, src->in + src->in_begin, n);
			src->in_begin += n;
			return n;
		}
		if (drained && src->ended)
			return 0;
		if (src->corrupt)
			return -EILSEQ;
		n = src->packing == PACKED_GZIP ? gzip_step(src, out, size)
						: zstd_step(src, out, size);
		if (n)
			return n;
		if (drained && src->eof && src->in_begin == src->in_end)
			return src->ended ? 0 : -EILSEQ;
	}
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

/** Copy everything from @src to a temporary file. Return: its descriptor or -errno. */
static int spool(struct source *src, struct xentrace_file *file, uint64_t total,
		 const struct xentrace_options *options)
{
	uint8_t *buf = malloc(CHUNK);
	int fd = buf ? temporary_file() : -ENOMEM;
	int ret = 0;

	if (fd < 0)
		goto out;
	for (;;) {
		ssize_t n = source_read(src, buf, CHUNK);

		if (n == -EILSEQ) {
			file->cut_short = true;
			break;
		}
		if (n <= 0) {
			ret = n;
			break;
		}
		ret = write_fully(fd, buf, n);
		if (!ret && options && options->progress &&
		    options->progress(options->progress_arg, src->in_total, total))
			ret = -ECANCELED;
		if (ret)
			break;
	}
	if (ret) {
		close(fd);
		fd = ret;
	}
out:
	free(buf);
	return fd;
}

static int map_fd(struct xentrace_file *file, int fd)
{
	struct stat st;
	void *data;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size)
		return 0;
	data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	file->data = data;
	file->size = st.st_size;
	file->mapped = true;
	return 0;
}

/** Can the file be mapped as it is? Anything that is packed or no regular file cannot. */
static bool is_plain(int fd, const struct stat *st)
{
	uint8_t head[4];
	ssize_t n;

	if (!S_ISREG(st->st_mode) || lseek(fd, 0, SEEK_CUR) != 0)
		return false;
	n = pread(fd, head, sizeof(head), 0);
	return n < 0 || packing_of(head, n) == PACKED_PLAIN;
}

int xentrace_file_open(struct xentrace_file *file, const char *path,
		       const struct xentrace_options *options, char *error, size_t error_size)
{
	bool from_stdin = !strcmp(path, "-");
	int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct source src;
	struct stat st;
	int ret;

	memset(file, 0, sizeof(*file));
	if (fd < 0) {
		ret = -errno;
		xentrace_set_error(error, error_size, "%s: cannot open: %s", path, strerror(-ret));
		return ret;
	}
	if (fstat(fd, &st)) {
		ret = -errno;
		goto fail;
	}
	if (S_ISDIR(st.st_mode)) {
		ret = -EISDIR;
		goto fail;
	}
	if (is_plain(fd, &st)) {
		ret = map_fd(file, fd);
		goto fail;
	}
	ret = source_open(&src, fd, CHUNK);
	if (ret)
		goto fail;
	ret = spool(&src, file, st.st_size, options);
	source_close(&src);
	if (ret < 0) {
		xentrace_set_error(error, error_size,
				   "%s: cannot copy it to a temporary file in %s: %s%s", path,
				   temporary_directory(), strerror(-ret), ret == -ENOSPC ?
				   "; set TMPDIR to a directory with more room" : "");
		if (!from_stdin)
			close(fd);
		return ret;
	}
	if (!from_stdin)
		close(fd);
	from_stdin = false;
	fd = ret;
	ret = map_fd(file, fd);

fail:
	if (ret)
		xentrace_set_error(error, error_size, "%s: cannot read: %s", path, strerror(-ret));
	if (!from_stdin)
		close(fd);
	return ret;
}

void xentrace_file_close(struct xentrace_file *file)
{
	if (file->mapped)
		munmap((void *)file->data, file->size);
	memset(file, 0, sizeof(*file));
}

void xentrace_file_drop(const struct xentrace_file *file, uint64_t begin, uint64_t end)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	/* With each page that is touched come some around it, which were given back before. */
	begin = begin > DROP_AGAIN ? (begin - DROP_AGAIN) & ~(page - 1) : 0;
	end &= ~(page - 1);
	if (file->mapped && begin < end)
		madvise((void *)(file->data + begin), end - begin, MADV_DONTNEED);
}

int xentrace_file_peek(const char *path, uint8_t *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct source src;
	struct stat st;
	size_t n = 0;
	int ret;

	if (fd < 0)
		return -errno;
	/* Reading from a FIFO would take away what the real reader needs. */
	ret = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (!ret && packing_of(buf, pread(fd, buf, 4, 0) == 4 ? 4 : 0) == PACKED_PLAIN) {
		ret = read_fully(fd, buf, size);
		goto out;
	}
	if (!ret)
		ret = source_open(&src, fd, 4096);
	if (ret)
		goto out;
	while (n < size) {
		ssize_t got = source_read(&src, buf + n, size - n);

		if (got <= 0)
			break;
		n += got;
	}
	source_close(&src);
	ret = n;
out:
	close(fd);
	return ret;
}
