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

#define OUT_BUFFER	65536

struct output {
	int		fd;
	int		error;		/* errno of the first failure */
	bool		close_fd;
	const char	*name;		/* for messages */
	char		*pos;		/* where the next byte goes */
	char		*end;		/* of the buffer */
	char		buffer[OUT_BUFFER];
};

/** out_open - write to a file, or to standard output if @path is NULL or "-". 0 or -errno. */
int out_open(struct output *out, const char *path);

/**
 * out_close - write out what is left
 *
 * Return: KSV_EXIT_OK, also when the reader has gone away (EPIPE), or KSV_EXIT_FILE after a message
 * for anything else.
 */
int out_close(struct output *out);

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

/** Decimal numbers; out_u64_width() with blanks, out_u64_zeros() with zeros in front. */
void out_u64(struct output *out, uint64_t value);
void out_i64(struct output *out, int64_t value);
void out_u64_width(struct output *out, uint64_t value, int width);
void out_u64_zeros(struct output *out, uint64_t value, int width);

/** out_hex32 - 0x and eight digits. */
void out_hex32(struct output *out, uint32_t value);

/** out_ns - nanoseconds as seconds with nine decimals, at least @width characters. */
void out_ns(struct output *out, int64_t ns, int width);

/** out_pad - text on the left or right of a column; longer text stays whole. */
void out_left(struct output *out, const char *text, size_t size, size_t width);
void out_right(struct output *out, const char *text, size_t size, size_t width);

/** out_csv - a field as RFC 4180 wants it: quoted only where it must be. */
void out_csv(struct output *out, const char *text, size_t size);

/** out_json - a string with quotes and escapes; @text is UTF-8. */
void out_json(struct output *out, const char *text, size_t size);

#endif
