// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_pages.c
 * @brief	Records as pages of Linux's ring buffer.
 */
#include <byteswap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_dat_pages.h"
#include "trace_dat_read.h"
#include "write_at.h"

/** Up to that many bytes, the kind is the size. */
#define MOST_SHORT	(28 * 4)

/** Bits of a time of its own. */
#define TIME_BITS	59

/** Flags beside the number of bytes. */
#define MISSED		(1U << 31)
#define MISSED_STORED	(1U << 30)	/* the number of lost records follows the last record */

/** Bits of the number of bytes. */
#define COMMIT_BITS	27

#define SMALLEST_PAGE	4096

/** The head of a page, a time, the head of a record, and the number of lost records. */
#define MOST_HEADS	(16 + 8 + 8 + 8)

size_t dat_page_bytes(size_t record)
{
	size_t bytes = SMALLEST_PAGE;

	while (bytes < record + MOST_HEADS + 4)
		bytes *= 2;
	return bytes;
}

static void put32(const struct dat_page *page, size_t at, uint32_t value)
{
	if (page->swap)
		value = bswap_32(value);
	memcpy(page->data + at, &value, sizeof(value));
}

static void put64(const struct dat_page *page, size_t at, uint64_t value)
{
	if (page->swap)
		value = bswap_64(value);
	memcpy(page->data + at, &value, sizeof(value));
}

static void put_long(const struct dat_page *page, size_t at, uint64_t value)
{
	if (page->long_size == 8)
		put64(page, at, value);
	else
		put32(page, at, value > INT32_MAX ? INT32_MAX : (uint32_t)value);
}

static void put_word(struct dat_page *page, unsigned int kind, uint64_t delta)
{
	uint32_t time = (uint32_t)delta & ((1U << DAT_DELTA_BITS) - 1);

	put32(page, page->used,
	      page->big_endian ? kind << DAT_DELTA_BITS | time : time << 5 | kind);
	page->used += 4;
}

/** A time of its own, as a difference or absolute. */
static void put_time(struct dat_page *page, unsigned int kind, uint64_t time)
{
	put_word(page, kind, time);
	put32(page, page->used, (uint32_t)(time >> DAT_DELTA_BITS));
	page->used += 4;
}

static void begin(struct dat_page *page, uint64_t ts_ns)
{
	put64(page, 0, ts_ns);
	page->used = 8 + (size_t)page->long_size;
	page->last_ns = ts_ns;
}

/** The bytes of a record after its head. */
static void put_data(struct dat_page *page, const void *data, size_t size, size_t padded)
{
	if (size)
		memcpy(page->data + page->used, data, size);
	memset(page->data + page->used + size, 0, padded - size);
	page->used += padded;
}

bool dat_page_add(struct dat_page *page, uint64_t ts_ns, const void *data, size_t size)
{
	size_t padded = size ? (size + 3) & ~(size_t)3 : 4;
	size_t reserved = page->has_lost ? page->long_size : 0, start = 8 + (size_t)page->long_size;
	uint64_t delta;

	if (!page->used && page->size - start < (padded > MOST_SHORT ? 8 : 4) + padded)
		return false;
	if (!page->used)
		begin(page, ts_ns);
	else if (page->size - page->used < 8 + 8 + padded + reserved ||
		 ts_ns >> TIME_BITS != page->last_ns >> TIME_BITS)
		return false;
	delta = ts_ns - page->last_ns;
	if (ts_ns < page->last_ns) {
		put_time(page, DAT_KIND_STAMP, ts_ns);
		delta = 0;
	} else if (delta >> DAT_DELTA_BITS) {
		put_time(page, DAT_KIND_EXTEND, delta);
		delta = 0;
	}
	page->last_ns = ts_ns;
	if (padded <= MOST_SHORT) {
		put_word(page, (unsigned int)(padded / 4), delta);
	} else {
		put_word(page, DAT_KIND_LONG, delta);
		put32(page, page->used, (uint32_t)padded + 4);
		page->used += 4;
	}
	put_data(page, data, size, padded);
	return true;
}

size_t dat_page_end(struct dat_page *page)
{
	size_t used = page->used;
	uint32_t commit = (uint32_t)(used - 8 - page->long_size);

	if (!used)
		return 0;
	/* one record can fill the page: then how many were lost before it has no room */
	if (page->size - used < page->long_size)
		page->lost = 0;
	if (page->has_lost && page->lost) {
		put_long(page, used, page->lost > INT32_MAX ? INT32_MAX : page->lost);
		used += page->long_size;
	}
	if (page->has_lost)
		commit |= MISSED | (page->lost ? MISSED_STORED : 0);
	if (page->long_size == 8)
		put64(page, 8, commit);
	else
		put32(page, 8, commit);
	page->used = 0;
	page->has_lost = false;
	page->lost = 0;
	return used;
}

void dat_page_lost(struct dat_page *page, uint64_t count)
{
	bool is_known = count && (page->lost || !page->has_lost);

	page->lost = !is_known ? 0 : count > UINT64_MAX - page->lost ? UINT64_MAX :
		     page->lost + count;
	page->has_lost = true;
}

/* --- one page after the other ---------------------------------------------------------------- */

int dat_stream_begin(struct dat_stream *stream, const struct dat_file *form, uint64_t page, int fd,
		     uint64_t at)
{
	*stream = (struct dat_stream){
		.page = {
			.size = page, .long_size = form->long_size, .big_endian = form->big_endian,
			.swap = form->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
			.data = malloc(page),
		},
		.fd = fd, .at = at,
	};
	return stream->page.data ? 0 : -ENOMEM;
}

void dat_stream_free(struct dat_stream *stream)
{
	free(stream->page.data);
}

int dat_stream_end(struct dat_stream *stream)
{
	struct dat_page *page = &stream->page;
	size_t used = dat_page_end(page);
	int ret;

	if (!used)
		return 0;
	memset(page->data + used, 0, page->size - used);
	ret = write_at(stream->fd, page->data, page->size, stream->at);
	stream->at += page->size;
	return ret;
}

int dat_stream_add(struct dat_stream *stream, uint64_t ts, const void *data, size_t size)
{
	int ret;

	if (dat_page_add(&stream->page, ts, data, size))
		return 0;
	ret = dat_stream_end(stream);
	return ret || dat_page_add(&stream->page, ts, data, size) ? ret : -EILSEQ;
}

int dat_stream_lost(struct dat_stream *stream, uint64_t count)
{
	int ret = dat_stream_end(stream);

	dat_page_lost(&stream->page, count);
	return ret;
}

/* --- reading --------------------------------------------------------------------------------- */

static uint64_t get(const struct dat_page_walk *walk, size_t at, int bytes)
{
	const struct dat_file form = { .big_endian = walk->big_endian };

	return dat_get(&form, walk->page + at, bytes);
}

int dat_read_page(const struct dat_file *dat, uint64_t at, uint64_t end, uint8_t *page, size_t size)
{
	size_t n = end - at < size ? (size_t)(end - at) : size;

	if (!dat_seek(dat, at) || fread(page, 1, n, dat->file) != n)
		return -ESTALE;
	memset(page + n, 0, size - n);
	return 0;
}

void dat_page_walk_begin(struct dat_page_walk *walk, const struct dat_file *dat,
			 const uint8_t *page, size_t size)
{
	size_t start = 8 + (size_t)dat->long_size;
	uint32_t commit;

	*walk = (struct dat_page_walk){ .page = page, .big_endian = dat->big_endian, .at = start };
	walk->is_damaged = size < start;
	if (walk->is_damaged) {
		walk->end = walk->at;
		return;
	}
	walk->ts = get(walk, 0, 8);
	commit = (uint32_t)get(walk, 8, dat->long_size);
	walk->end = start + (commit & ((1U << COMMIT_BITS) - 1));
	if (walk->end > size) {
		walk->end = size;
		walk->is_damaged = true;
	}
	walk->has_lost = commit & MISSED;
	if (commit & MISSED_STORED && walk->end + dat->long_size <= size)
		walk->lost = get(walk, walk->end, dat->long_size);
}

bool dat_page_walk_skip(struct dat_page_walk *walk, unsigned int kind, uint64_t delta)
{
	uint64_t value = get(walk, walk->at + 4, 4), time = (value << DAT_DELTA_BITS) + delta;

	if (kind == DAT_KIND_STAMP) {
		walk->ts = (walk->ts >> TIME_BITS << TIME_BITS) | time;
	} else if (kind == DAT_KIND_EXTEND) {
		walk->ts += time;
	} else {
		walk->ts += delta;
		/* the kernel discards whole words, and only at the end of a page without a time */
		if (value > walk->end - walk->at || value < 4 || value % 4 || !delta) {
			walk->is_damaged = true;
			return false;
		}
		walk->at += value - 4;
	}
	walk->at += 8;
	return true;
}

void dat_lost_format(char *text, size_t size, uint16_t id)
{
	snprintf(text, size, "name: records_lost\nID: %u\nformat:\n"
		 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		 "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		 "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		 "print fmt: \"the trace has no more records of this CPU\"\n", id);
}

void dat_lost_record(uint8_t record[DAT_LOST_BYTES], bool big_endian, uint16_t id)
{
	memset(record, 0, DAT_LOST_BYTES);
	record[big_endian] = (uint8_t)id;
	record[!big_endian] = (uint8_t)(id >> 8);
	memset(record + 4, 0xff, 4);
}
