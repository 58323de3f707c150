// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_unpack.c
 * @brief	Read bytes from gzip or zstd data, or from a source that can be read only once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "xentrace_unpack.h"

/** How the bytes of a file are packed. */
enum packing { PACKED_PLAIN, PACKED_GZIP, PACKED_ZSTD };

static const uint8_t gzip_magic[] = { 0x1f, 0x8b };			/* RFC 1952 */
static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };		/* RFC 8878, 3.1.1 */
/* Bytes of a frame that must come at once: fewer do not show that a format is an older one. */
#define ZSTD_LEAST	8
/* The same, 3.1.2: any of 0x50 .. 0x5f comes first. pzstd begins with such a frame. */
static const uint8_t skippable_magic[] = { 0x2a, 0x4d, 0x18 };

static enum packing packing_of(const uint8_t *head, size_t n)
{
	if (n >= sizeof(gzip_magic) && !memcmp(head, gzip_magic, sizeof(gzip_magic)))
		return PACKED_GZIP;
	if (n >= sizeof(zstd_magic) && !memcmp(head, zstd_magic, sizeof(zstd_magic)))
		return PACKED_ZSTD;
	if (n >= 1 + sizeof(skippable_magic) && (head[0] & 0xf0) == 0x50 &&
	    !memcmp(head + 1, skippable_magic, sizeof(skippable_magic)))
		return PACKED_ZSTD;
	return PACKED_PLAIN;
}

bool xentrace_is_packed(const uint8_t *head, size_t n)
{
	return packing_of(head, n) != PACKED_PLAIN;
}

struct xentrace_source {
	int		fd;
	enum packing	packing;
	bool		eof;		/* no more packed input */
	bool		ended;		/* the last member or frame was complete */
	bool		over;		/* what else comes is not ours */
	int		error;		/* nothing usable comes any more */
	uint8_t		*in;
	size_t		in_size;
	size_t		in_begin, in_end;
	uint64_t	in_total;
	z_stream	gzip;
	ZSTD_DStream	*zstd;
	size_t		zstd_wants;	/* bytes for its next step, */
	bool		zstd_full;	/* unless there may be more of the last one to be taken */
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

static int source_fill(struct xentrace_source *src)
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

/** Read more if less than @least bytes are left of what was read. Return: 0 or a negative errno. */
static int source_peek(struct xentrace_source *src, size_t least)
{
	size_t left = src->in_end - src->in_begin;
	ssize_t got;

	if (left >= least || src->eof)
		return 0;
	memmove(src->in, src->in + src->in_begin, left);
	got = read_fully(src->fd, src->in + left, src->in_size - left);
	if (got < 0)
		return (int)got;
	src->in_begin = 0;
	src->in_end = left + (size_t)got;
	src->in_total += (uint64_t)got;
	src->eof = src->in_end < src->in_size;
	return 0;
}

/** Behind a member or frame: zeros pad what comes from tapes and disks. Return: is there more? */
static bool skip_padding(struct xentrace_source *src)
{
	while (src->in_begin < src->in_end && !src->in[src->in_begin])
		src->in_begin++;
	return src->in_begin < src->in_end;
}

void xentrace_source_free(struct xentrace_source *src)
{
	if (!src)
		return;
	if (src->packing == PACKED_GZIP)
		inflateEnd(&src->gzip);
	ZSTD_freeDStream(src->zstd);
	free(src->in);
	free(src);
}

/** Whatever "zstd --long" may have used; the memory is touched only as far as there is data. */
static ZSTD_DStream *new_zstd(void)
{
	ZSTD_DStream *zstd = ZSTD_createDStream();

	if (zstd)
		ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax,
				       ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
	return zstd;
}

struct xentrace_source *xentrace_source_new(int fd, size_t in_size)
{
	struct xentrace_source *src = calloc(1, sizeof(*src));
	int ret = -ENOMEM;

	if (!src)
		return NULL;
	src->fd = fd;
	src->in_size = in_size;
	src->in = malloc(in_size);
	if (!src->in)
		goto fail;
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
		src->zstd = new_zstd();
		if (!src->zstd)
			goto fail;
		src->zstd_wants = ZSTD_initDStream(src->zstd);
		src->packing = PACKED_ZSTD;
		break;
	case PACKED_PLAIN:
		break;
	}
	return src;

fail:
	xentrace_source_free(src);
	errno = -ret;
	return NULL;
}

uint64_t xentrace_source_total(const struct xentrace_source *src)
{
	return src->in_total;
}

bool xentrace_source_packed(const struct xentrace_source *src)
{
	return src->packing != PACKED_PLAIN;
}

/** One step of inflate(). Return: bytes made. */
static ssize_t gzip_step(struct xentrace_source *src, uint8_t *out, size_t size)
{
	z_stream *z = &src->gzip;
	int ret;

	if (src->ended) {
		if (!skip_padding(src))
			return 0;
		ret = source_peek(src, sizeof(gzip_magic));
		if (ret)
			return ret;
		/* another member, or something else, which gzip(1) ignores as well */
		if (packing_of(src->in + src->in_begin, src->in_end - src->in_begin) !=
		    PACKED_GZIP) {
			src->over = true;
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
		src->error = ret == Z_MEM_ERROR ? -ENOMEM : -EILSEQ;
	return size - z->avail_out;
}

/**
 * One step of ZSTD_decompressStream(). Return: bytes made.
 *
 * If that fails, all is lost that this call has made: it gets one block at most, and nothing before
 * what it has made of the last one is taken.
 */
static ssize_t zstd_step(struct xentrace_source *src, uint8_t *out, size_t size)
{
	size_t wants = src->zstd_full ? 0 : src->zstd_wants;
	ZSTD_outBuffer to = { out, size, 0 };
	ZSTD_inBuffer in;
	size_t ret, left;

	if (src->ended) {
		int error;

		/* no frame begins with a zero */
		if (!skip_padding(src))
			return 0;
		error = source_peek(src, ZSTD_LEAST);
		if (error)
			return error;
	}
	left = src->in_end - src->in_begin;
	in = (ZSTD_inBuffer){
		src->in, src->in_begin + (wants < left ? wants : left), src->in_begin,
	};
	ret = ZSTD_decompressStream(src->zstd, &to, &in);
	src->in_begin = in.pos;
	if (ZSTD_isError(ret))
		src->error = ZSTD_getErrorCode(ret) == ZSTD_error_memory_allocation ? -ENOMEM
										    : -EILSEQ;
	src->ended = ret == 0;
	src->zstd_wants = ret ? ret : ZSTD_initDStream(src->zstd);
	src->zstd_full = ret && to.pos == size;
	return to.pos;
}

ssize_t xentrace_source_read(struct xentrace_source *src, uint8_t *out, size_t size)
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
		if (src->over)
			src->in_begin = src->in_end;
		if (drained && src->ended)
			return 0;
		if (src->over)
			continue;
		if (src->error)
			return src->error;
		n = src->packing == PACKED_GZIP ? gzip_step(src, out, size)
						: zstd_step(src, out, size);
		if (n)
			return n;
		if (drained && src->eof && src->in_begin == src->in_end)
			return src->ended ? 0 : -EILSEQ;
	}
}
