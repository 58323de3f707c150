// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	output.c
 * @brief	Buffered output for millions of lines: numbers, CSV and JSON without printf().
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "escape.h"
#include "options.h"
#include "output.h"

/** The longest decimal 64-bit number and its sign. */
#define MAX_DIGITS	21

/** @grows: what does not fit into the buffer goes into larger memory */
static void begin_buffer(struct output *out, bool grows)
{
	out->grows = grows;
	out->start = out->pos = out->buffer;
	out->end = out->buffer + sizeof(out->buffer);
}

int out_open(struct output *out, const char *path)
{
	int ret;

	out->fd = STDOUT_FILENO;
	out->error = 0;
	out->color = false;
	out->choose = NULL;
	out->named = path && strcmp(path, "-") != 0;
	out->name = out->named ? path : "standard output";
	begin_buffer(out, false);
	if (!out->named)
		return KSV_EXIT_OK;
	ret = whole_file_open(&out->file, path, false);
	out->fd = out->file.fd;
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s: cannot write: %s", path, strerror(-ret));
	return KSV_EXIT_FILE;
}

static void write_out(struct output *out, const char *data, size_t size)
{
	while (size && !out->error) {
		ssize_t n = write(out->fd, data, size);

		if (n >= 0) {
			data += n;
			size -= n;
		} else if (errno != EINTR) {
			out->error = errno;
		}
	}
}

/** @is_all: nothing follows */
static void choose(struct output *out, bool is_all)
{
	if (out->choose)
		out->choose(out, is_all);
	out->choose = NULL;
}

/** Make room for more bytes in memory. Without memory, what is there is given up. */
static void grow(struct output *out, size_t more)
{
	size_t used = (size_t)(out->pos - out->start), size = 2 * (used + more);
	char *larger = out->error ? NULL : malloc(size);

	if (!larger) {
		out->error = ENOMEM;
		out->pos = out->start;
		return;
	}
	memcpy(larger, out->start, used);
	if (out->start != out->buffer)
		free(out->start);
	out->start = larger;
	out->pos = larger + used;
	out->end = larger + size;
}

void out_flush(struct output *out)
{
	if (out->grows) {
		grow(out, sizeof(out->buffer));
		return;
	}
	choose(out, false);
	write_out(out, out->buffer, out->pos - out->buffer);
	out->pos = out->buffer;
}

void out_large(struct output *out, const char *data, size_t size)
{
	if (out->grows) {
		grow(out, size);
		if (out->error)
			return;
	} else {
		out_flush(out);
	}
	if (!out->grows && size >= sizeof(out->buffer)) {
		write_out(out, data, size);
		return;
	}
	memcpy(out->pos, data, size);
	out->pos += size;
}

static void collect(struct output *out, bool grows)
{
	/* what does not fit cannot be written */
	out->fd = -1;
	out->error = 0;
	out->color = false;
	out->choose = NULL;
	out->named = false;
	out->name = "memory";
	begin_buffer(out, grows);
}

void out_collect(struct output *out)
{
	collect(out, false);
}

void out_collect_all(struct output *out)
{
	collect(out, true);
}

void out_collect_again(struct output *out)
{
	out->error = 0;
	out->pos = out->start;
}

void out_collect_end(struct output *out)
{
	if (out->start != out->buffer)
		free(out->start);
	begin_buffer(out, true);
}

const char *out_collected(struct output *out)
{
	out_char(out, '\0');
	return out->error || out->pos == out->buffer ? NULL : out->buffer;
}

int out_close(struct output *out, int status)
{
	/* that too few values are known is a result, too */
	bool good = status == KSV_EXIT_OK || status == KSV_EXIT_FINDINGS ||
		    status == KSV_EXIT_UNKNOWN;

	choose(out, true);
	out_flush(out);
	if (out->named && good && !out->error)
		out->error = -whole_file_commit(&out->file);
	else if (out->named)
		whole_file_discard(&out->file);
	if (!good || !out->error || out->error == EPIPE)
		return status;
	ksv_error("%s: cannot write: %s", out->name, strerror(out->error));
	return KSV_EXIT_FILE;
}

void out_style(struct output *out, enum out_style style)
{
	static const char *const codes[] = {
		[OUT_PLAIN] = "\033[m", [OUT_HEAD] = "\033[1m", [OUT_WARNING] = "\033[33m",
		[OUT_BAD] = "\033[31m", [OUT_GOOD] = "\033[32m",
	};

	if (out->color)
		out_str(out, codes[style]);
}

void out_styled(struct output *out, enum out_style style, const char *text)
{
	if (style)
		out_style(out, style);
	out_str(out, text);
	if (style)
		out_style(out, OUT_PLAIN);
}

static const char digit_pairs[] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

/** Digits in front of @end. Return: where they begin. */
static char *format_u64(char *end, uint64_t value)
{
	while (value >= 100000000) {
		uint32_t low = value % 100000000;

		value /= 100000000;
		for (int i = 0; i < 4; i++, low /= 100)
			memcpy(end -= 2, digit_pairs + low % 100 * 2, 2);
	}
	for (uint32_t high = value; ; high /= 100) {
		if (high < 10) {
			*--end = (char)('0' + high);
			return end;
		}
		memcpy(end -= 2, digit_pairs + high % 100 * 2, 2);
		if (high < 100)
			return end;
	}
}

/** How many digits a number has. */
static unsigned int count_digits(uint64_t value)
{
	static const uint64_t powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000u,
	};
	/* bits * log10(2) */
	unsigned int digits = (64 - __builtin_clzll(value | 1)) * 1233 >> 12;

	return digits + (value >= powers[digits]);
}

/** Digits from @to on. Return: their end. */
static char *put_u64(char *to, uint64_t value)
{
	to += count_digits(value);
	format_u64(to, value);
	return to;
}

void out_printf(struct output *out, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	out_str(out, text);
}

void out_u64(struct output *out, uint64_t value)
{
	/* in its place at once: a copy of bytes just written would have to wait for them */
	if (__builtin_expect(out->end - out->pos < MAX_DIGITS, 0))
		out_flush(out);
	out->pos = put_u64(out->pos, value);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

void out_i64(struct output *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_u64(out, magnitude(value));
}

static void out_blanks(struct output *out, size_t n)
{
	while (n--)
		out_char(out, ' ');
}

/** Text on the right of a column; longer text stays whole. */
static void out_right(struct output *out, const char *text, size_t size, size_t width)
{
	if (size < width)
		out_blanks(out, width - size);
	out_mem(out, text, size);
}

void out_u64_width(struct output *out, uint64_t value, int width)
{
	char text[MAX_DIGITS];
	char *end = text + sizeof(text);
	char *begin = format_u64(end, value);

	out_right(out, begin, end - begin, width);
}

void out_u64_zeros(struct output *out, uint64_t value, int width)
{
	char text[MAX_DIGITS];
	char *end = text + sizeof(text);
	char *begin = format_u64(end, value);

	while (end - begin < width && begin > text)
		*--begin = '0';
	out_mem(out, begin, end - begin);
}

void out_hex32(struct output *out, uint32_t value)
{
	char text[10] = "0x";

	for (int i = 0; i < 8; i++)
		text[2 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 0xf];
	out_mem(out, text, sizeof(text));
}

void out_ns(struct output *out, int64_t ns, int width)
{
	uint64_t value = magnitude(ns);
	char text[MAX_DIGITS + 2];
	char *end = text + sizeof(text);
	char *begin = format_u64(end, value % 1000000000);

	while (end - begin < 9)
		*--begin = '0';
	*--begin = '.';
	begin = format_u64(begin, value / 1000000000);
	if (ns < 0)
		*--begin = '-';
	out_right(out, begin, end - begin, width);
}

void out_left(struct output *out, const char *text, size_t size, size_t width)
{
	out_mem(out, text, size);
	if (size < width)
		out_blanks(out, width - size);
}

size_t out_columns(const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	size_t columns = 0, n;

	while ((n = escape_next(&text, end, piece)))
		columns += *piece & 0x80 ? 1 : n;
	return columns;
}

/** How many bytes at the beginning go as they are: printable ASCII but the backslash. */
static size_t plain_ascii(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text[n] >= ' ' && text[n] <= '~' && text[n] != '\\')
		n++;
	return n;
}

static void put_text(struct output *out, const char *text, size_t size)
{
	size_t plain = plain_ascii(text, size);
	const char *end = text + size;
	char piece[ESCAPE_PIECE];

	out_mem(out, text, plain);
	text += plain;
	while ((plain = escape_next(&text, end, piece)))
		out_mem(out, piece, plain);
}

void out_text(struct output *out, const char *text)
{
	put_text(out, text, strlen(text));
}

void out_sentence(struct output *out, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		out_text(out, text);
	else
		out->error = ENOMEM;
	free(text);
}

void out_text_left(struct output *out, const char *text, size_t width)
{
	size_t columns = out_columns(text);

	out_text(out, text);
	if (columns < width)
		out_blanks(out, width - columns);
}

void out_text_right(struct output *out, const char *text, size_t width)
{
	size_t columns = out_columns(text);

	if (columns < width)
		out_blanks(out, width - columns);
	out_text(out, text);
}

void out_html(struct output *out, const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	size_t n;

	while ((n = escape_next(&text, end, piece))) {
		const char *xml = n == 1 ? escape_xml(*piece) : NULL;

		if (xml)
			out_str(out, xml);
		else
			out_mem(out, piece, n);
	}
}

/* --- CSV ------------------------------------------------------------------------------------- */

/** 0x01 and 0x80 in each byte. */
#define ONES	(UINT64_MAX / 0xff)
#define TOPS	(ONES << 7)

/** Not 0 if one of eight bytes is 0; below, if one is less than @least, which is at most 0x80. */
static uint64_t any_zero(uint64_t bytes)
{
	return (bytes - ONES) & ~bytes & TOPS;
}

static uint64_t any_less(uint64_t bytes, unsigned char least)
{
	return (bytes - ONES * least) & ~bytes & TOPS;
}

/** Not 0 if one of eight bytes does not go as it is: it is not printable ASCII, or \ , or ". */
static uint64_t any_special(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return (bytes & TOPS) | any_less(bytes, ' ') | any_zero(bytes ^ ONES * '\\') |
	       any_zero(bytes ^ ONES * ',') | any_zero(bytes ^ ONES * '"') |
	       any_zero(bytes ^ ONES * ('~' + 1));
}

/** Is a field of CSV written as it is? False if it is too short for this look. */
static bool is_simple(const char *text, size_t size)
{
	uint64_t special;

	if (size < sizeof(special) || !((*text >= 'a' && *text <= 'z') ||
					(*text >= 'A' && *text <= 'Z')))
		return false;
	special = any_special(text + size - sizeof(special));
	for (size_t at = 0; at + sizeof(special) <= size; at += sizeof(special))
		special |= any_special(text + at);
	return !special;
}

void out_csv(struct output *out, const char *text, size_t size)
{
	const char *end = text + size;
	bool quoted;

	if (is_simple(text, size)) {
		out_mem(out, text, size);
		return;
	}
	quoted = memchr(text, ',', size) || memchr(text, '"', size);
	if (quoted)
		out_char(out, '"');
	if (text_is_formula(text, size))
		out_char(out, '\'');
	while (text < end) {
		const char *quote = quoted ? memchr(text, '"', (size_t)(end - text)) : NULL;

		put_text(out, text, (size_t)((quote ? quote : end) - text));
		if (quote)
			out_mem(out, "\"\"", 2);
		text = quote ? quote + 1 : end;
	}
	if (quoted)
		out_char(out, '"');
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_code(struct output *out, uint32_t code)
{
	out_mem(out, "\\u", 2);
	for (int shift = 12; shift >= 0; shift -= 4)
		out_char(out, "0123456789abcdef"[code >> shift & 0xf]);
}

static void json_escape(struct output *out, uint32_t code)
{
	static const char names[] = "\bb\nn\tt\rr\ff\"\"\\\\";

	for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
		if ((uint32_t)names[i] == code) {
			out_char(out, '\\');
			out_char(out, names[i + 1]);
			return;
		}
	}
	if (code >= 0x10000) {
		/* as UTF-16 has it */
		json_code(out, 0xd800 + ((code - 0x10000) >> 10));
		code = 0xdc00 + (code & 0x3ff);
	}
	json_code(out, code);
}

/** Bytes that are not always written as they are. */
static const bool is_special[UCHAR_MAX + 1] = {
	[0 ... ' ' - 1] = true, ['"'] = true, ['<'] = true, ['\\'] = true,
	['~' + 1 ... UCHAR_MAX] = true,
};

void out_json(struct output *out, const char *text, size_t size)
{
	size_t done = 0, at = 0;

	out_char(out, '"');
	while (at < size) {
		unsigned char c = (unsigned char)text[at];
		size_t length = 1;
		uint32_t code = c;

		if (!is_special[c]) {
			at++;
			continue;
		}
		if (c >= 0x80)
			length = text_char(text + at, size - at, &code);
		if (length && code != '"' && code != '\\' && (code != '<' || !out->in_html) &&
		    ((code >= ' ' && code <= '~') || text_is_plain(code))) {
			at += length;
			continue;
		}
		out_mem(out, text + done, at - done);
		if (length)
			json_escape(out, code);
		else
			out_mem(out, "\xef\xbf\xbd", 3);
		at += length ? length : 1;
		done = at;
	}
	out_mem(out, text + done, size - done);
	out_char(out, '"');
}
