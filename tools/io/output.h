/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	output.h
 * @brief	Buffered output for millions of lines: numbers, CSV and JSON without printf().
 *
 * Errors stick: after the first one nothing is written any more, and out_close() reports it.
 */
#ifndef KSHARK_VIRT_OUTPUT_H
#define KSHARK_VIRT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "whole_file.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OUT_BUFFER	65536

struct output {
	int		fd;
	int		error;		/* errno of the first failure */
	bool		named;		/* not standard output */
	struct whole_file file;		/* if it is named */
	const char	*name;		/* for messages */
	bool		color;		/* out_style() colours */
	bool		in_html;	/* out_json() escapes what HTML would take for markup */
	/* called before the first byte is written, if it is set; may change @fd */
	void		(*choose)(struct output *out, bool is_all);
	bool		grows;		/* all stays in memory: out_collect_all() */
	char		*start;		/* of what is in memory: @buffer, or larger memory */
	char		*pos;		/* where the next byte goes */
	char		*end;		/* of the memory at @start */
	char		buffer[OUT_BUFFER];
};

/**
 * out_open - write to a file, or to standard output if @path is NULL or "-"
 *
 * What is in a file stays until out_close().
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int out_open(struct output *out, const char *path);

/**
 * out_close - write out what is left, and let a file have its name
 * @status: how writing has gone so far; unless that is KSV_EXIT_OK, KSV_EXIT_FINDINGS or
 *	KSV_EXIT_UNKNOWN, a file is left as it was
 *
 * Return: @status if it is bad; else the same, also when the reader has gone away (EPIPE), or
 * KSV_EXIT_FILE after a message for anything else.
 */
int out_close(struct output *out, int status);

/** How a piece of text for people looks. */
enum out_style {
	OUT_PLAIN = 0, OUT_HEAD, OUT_WARNING, OUT_BAD, OUT_GOOD
};

/**
 * out_style - the following text looks like this, up to the next call
 *
 * Writes nothing unless the output is coloured. Text for programs must not use it.
 */
void out_style(struct output *out, enum out_style style);

/** out_styled - text of ours, which needs no escapes, in a style */
void out_styled(struct output *out, enum out_style style, const char *text);

/**
 * out_collect - write into memory, where out_collected() finds it
 *
 * No more than OUT_BUFFER - 1 bytes fit. Nothing is to be closed.
 */
void out_collect(struct output *out);

/** out_collected - what has been written since; NULL: it was too much. */
const char *out_collected(struct output *out);

/**
 * out_collect_all - write any amount into memory: @start up to @pos
 *
 * To be given to out_collect_end(). out_collect_again() forgets the text and keeps the memory.
 */
void out_collect_all(struct output *out);
void out_collect_again(struct output *out);
void out_collect_end(struct output *out);

/** out_flush - write out the buffer. */
void out_flush(struct output *out);

/** out_large - out_mem() for what does not fit into the rest of the buffer. */
void out_large(struct output *out, const char *data, size_t size);

static inline void out_mem(struct output *out, const char *data, size_t size)
{
	if (__builtin_expect((size_t)(out->end - out->pos) < size, 0)) {
		out_large(out, data, size);
		return;
	}
	memcpy(out->pos, data, size);
	out->pos += size;
}

static inline void out_char(struct output *out, char c)
{
	if (__builtin_expect(out->pos == out->end, 0))
		out_flush(out);
	*out->pos++ = c;
}

static inline void out_str(struct output *out, const char *text)
{
	out_mem(out, text, strlen(text));
}

/** out_printf - what is no more than a line, and not one of millions; longer text is cut. */
void out_printf(struct output *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Decimal numbers; out_u64_width() with blanks, out_u64_zeros() with zeros in front. */
void out_u64(struct output *out, uint64_t value);
void out_i64(struct output *out, int64_t value);
void out_u64_width(struct output *out, uint64_t value, int width);
void out_u64_zeros(struct output *out, uint64_t value, int width);

/** out_hex32 - 0x and eight digits. */
void out_hex32(struct output *out, uint32_t value);

/** out_ns - nanoseconds as seconds with nine decimals, at least @width characters. */
void out_ns(struct output *out, int64_t ns, int width);

/** out_left - text on the left of a column; longer text stays whole */
void out_left(struct output *out, const char *text, size_t size, size_t width);

/**
 * out_text - what others have chosen, for people: escaped, see escape.h
 *
 * out_text_left() and out_text_right() fill a column, which longer text exceeds.
 */
void out_text(struct output *out, const char *text);
void out_text_left(struct output *out, const char *text, size_t width);
void out_text_right(struct output *out, const char *text, size_t width);

/** out_sentence - print in the style of printf(), escaped and of any length; no line ends */
void out_sentence(struct output *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** out_columns - how many columns of a terminal that takes, if no character takes two. */
size_t out_columns(const char *text);

/**
 * out_csv - a field as RFC 4180 wants it: quoted only where it must be
 *
 * It is escaped like text, so that a record is a line. What spreadsheets would take for a formula,
 * because it begins with = + - or @ and is no number, has an apostrophe in front; so that this can
 * be undone, what begins with an apostrophe has one more.
 */
void out_csv(struct output *out, const char *text, size_t size);

/** out_html - the same as out_text(), in HTML; also as a value in double quotes */
void out_html(struct output *out, const char *text);

/**
 * out_json - a string with quotes and escapes, in UTF-8 whatever @text is
 *
 * What cannot be shown is \u and its code; bytes that are no UTF-8 become U+FFFD.
 */
void out_json(struct output *out, const char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
