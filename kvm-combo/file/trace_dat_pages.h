/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_pages.h
 * @brief	Records as pages of Linux's ring buffer.
 *
 * include/linux/ring_buffer.h describes the head of a record, kernel/trace/ring_buffer.c that of a
 * page: a time of 8 bytes, and a long with the number of bytes that follow and two flags.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_PAGES_H
#define KSHARK_VIRT_TRACE_DAT_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** A page in memory. All zero, and the first four members, is none that has begun. */
struct dat_page {
	uint8_t		*data;		/* @size bytes */
	size_t		size;
	uint8_t		long_size;
	bool		swap;		/* the file's byte order is not this host's */
	bool		big_endian;	/* the file's */
	size_t		used;		/* bytes, with the head; 0: it has not begun */
	uint64_t	last_ns;
	bool		has_lost;
	uint64_t	lost;		/* records before the page; 0: unknown */
};

/** Records of a page in memory, which may be hostile. */
struct dat_page_walk {
	const uint8_t	*page;
	bool		big_endian;
	uint64_t	ts;
	size_t		at, end;
	bool		has_lost;	/* records are missing before the first one */
	uint64_t	lost;		/* how many; 0: unknown */
	bool		is_damaged;	/* not all of the page can be read */
};

/** A record; offsets are in the page. */
struct dat_page_record {
	uint64_t	ts;
	size_t		begin, data, size, end;
};

struct dat_file;

/**
 * dat_read_page - read the page at an offset of a file
 * @end: of the pages: the last one may be shorter than @size, then the rest is 0
 *
 * Return: 0, or -ESTALE if the file has become shorter.
 */
int dat_read_page(const struct dat_file *dat, uint64_t at, uint64_t end, uint8_t *page,
		  size_t size);

/** dat_page_walk_begin - @page has @size bytes of a file */
void dat_page_walk_begin(struct dat_page_walk *walk, const struct dat_file *dat,
			 const uint8_t *page, size_t size);

/** Kinds of records, in 5 bits of the first word; smaller ones are the size in words. */
enum {
	DAT_KIND_LONG = 0, DAT_KIND_PADDING = 29, DAT_KIND_EXTEND = 30, DAT_KIND_STAMP = 31
};

/** Bits of the time in the first word. */
#define DAT_DELTA_BITS	27

/**
 * dat_page_walk_skip - a time of its own, or a record that was discarded, at the walk's place
 *
 * Return: false: the page ends.
 */
bool dat_page_walk_skip(struct dat_page_walk *walk, unsigned int kind, uint64_t delta);

/** dat_page_word - a word of the page, of which it has thousands */
static inline uint32_t dat_page_word(const struct dat_page_walk *walk, size_t at)
{
	uint32_t word;

	memcpy(&word, walk->page + at, sizeof(word));
	return walk->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ?
	       word : __builtin_bswap32(word);
}

/** dat_page_walk_next - Return: false: there is no further one, or the page is damaged there */
static inline bool dat_page_walk_next(struct dat_page_walk *walk, struct dat_page_record *record)
{
	while (walk->at + 8 <= walk->end) {
		uint32_t word = dat_page_word(walk, walk->at);
		unsigned int kind = walk->big_endian ? word >> DAT_DELTA_BITS : word & 31;
		uint64_t delta = walk->big_endian ? word & ((1U << DAT_DELTA_BITS) - 1) : word >> 5;
		uint64_t size = kind * UINT64_C(4), data = walk->at + 4;
		bool is_whole = true;

		if (kind >= DAT_KIND_PADDING) {
			if (!dat_page_walk_skip(walk, kind, delta))
				return false;
			continue;
		}
		if (kind == DAT_KIND_LONG) {
			size = dat_page_word(walk, data);
			is_whole = size % 4 == 0 && size >= 4;
			size = is_whole ? size - 4 : 0;
			data += 4;
		}
		if (!is_whole || size > walk->end - data) {
			walk->is_damaged = true;
			return false;
		}
		walk->ts += delta;
		record->ts = walk->ts;
		record->begin = walk->at;
		record->data = data;
		record->size = size;
		record->end = walk->at = data + size;
		return true;
	}
	walk->is_damaged |= walk->at != walk->end;
	return false;
}

/** dat_page_bytes - the size of a page that has room for one record of that size */
size_t dat_page_bytes(size_t record);

/**
 * dat_page_add - add a record
 *
 * Return: false if the page must be ended before: it is full, or the time is too far away. If it
 * has no record yet: the record is larger than the page.
 */
bool dat_page_add(struct dat_page *page, uint64_t ts_ns, const void *data, size_t size);

/**
 * dat_page_end - complete the page, so that the next record begins another one
 *
 * Return: bytes from its beginning that count; all further ones are 0. 0: it has no record.
 */
size_t dat_page_end(struct dat_page *page);

/** Pages of a CPU in a buffer, as they are written to a file. */
struct dat_stream {
	struct dat_page	page;		/* the one that is being filled */
	int		fd;
	uint64_t	at;		/* where it belongs */
};

/**
 * dat_stream_begin - begin with no page
 * @form: byte order and size of a long
 * @page: bytes of a page
 *
 * Return: 0 or -ENOMEM. Call dat_stream_free() in any case.
 */
int dat_stream_begin(struct dat_stream *stream, const struct dat_file *form, uint64_t page, int fd,
		     uint64_t at);
void dat_stream_free(struct dat_stream *stream);

/**
 * dat_stream_add - add a record, in a further page if it needs one
 * dat_stream_lost - records are missing before the next one. @count: 0: an unknown number
 * dat_stream_end - write the last page; the next record begins another one
 *
 * Return: 0, -EILSEQ for a record that is larger than a page, or a negative errno of writing.
 */
int dat_stream_add(struct dat_stream *stream, uint64_t ts, const void *data, size_t size);
int dat_stream_lost(struct dat_stream *stream, uint64_t count);
int dat_stream_end(struct dat_stream *stream);

/** A record of the event "records_lost", which has losses that no other record follows. */
#define DAT_LOST_BYTES	8

/** dat_lost_format, dat_lost_record - the event's format, and a record of it. @id: its number */
void dat_lost_format(char *text, size_t size, uint16_t id);
void dat_lost_record(uint8_t record[DAT_LOST_BYTES], bool big_endian, uint16_t id);

/** dat_page_lost - records are missing before the next record; the page has none yet. */
void dat_page_lost(struct dat_page *page, uint64_t count);

#endif
