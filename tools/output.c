// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	output.c
 * @brief	Buffered output for millions of lines: numbers, CSV and JSON without printf().
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "options.h"
#include "output.h"

/** The longest decimal 64-bit number and its sign. */
#define MAX_DIGITS	21

int out_open(struct output *out, const char *path)
{
	out->fd = STDOUT_FILENO;
	out->error = 0;
	out->close_fd = false;
	out->name = "standard output";
	out->pos = out->buffer;
	out->end = out->buffer + sizeof(out->buffer);
	if (!path || !strcmp(path, "-"))
		return 0;
	out->name = path;
	out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out->fd < 0)
		return -errno;
	out->close_fd = true;
	return 0;
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

void out_flush(struct output *out)
{
	write_out(out, out->buffer, out->pos - out->buffer);
	out->pos = out->buffer;
}

void out_large(struct output *out, const char *data, size_t size)
{
	out_flush(out);
	if (size >= sizeof(out->buffer)) {
		write_out(out, data, size);
		return;
	}
	memcpy(out->pos, data, size);
	out->pos += size;
}

int out_close(struct output *out)
{
	out_flush(out);
	/* Some file systems tell only now that the disk is full. */
	if (out->close_fd && close(out->fd) && !out->error)
		out->error = errno;
	if (!out->error || out->error == EPIPE)
		return KSV_EXIT_OK;
	ksv_error("%s: cannot write: %s", out->name, strerror(out->error));
	return KSV_EXIT_FILE;
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

void out_u64(struct output *out, uint64_t value)
{
	unsigned int digits = count_digits(value);

	/* in its place at once: a copy of bytes just written would have to wait for them */
	if (__builtin_expect(out->end - out->pos < MAX_DIGITS, 0))
		out_flush(out);
	out->pos += digits;
	format_u64(out->pos, value);
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

static void out_blanks(struct output *out, size_t n)
{
	while (n--)
		out_char(out, ' ');
}

void out_left(struct output *out, const char *text, size_t size, size_t width)
{
	out_mem(out, text, size);
	if (size < width)
		out_blanks(out, width - size);
}

void out_right(struct output *out, const char *text, size_t size, size_t width)
{
	if (size < width)
		out_blanks(out, width - size);
	out_mem(out, text, size);
}

/** Is there a character that makes quotes necessary? memchr() beats a look at each byte. */
static bool csv_special(const char *text, size_t size)
{
	return memchr(text, ',', size) || memchr(text, '"', size) || memchr(text, '\n', size) ||
	       memchr(text, '\r', size);
}

void out_csv(struct output *out, const char *text, size_t size)
{
	if (!csv_special(text, size)) {
		out_mem(out, text, size);
		return;
	}
	out_char(out, '"');
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"')
			out_char(out, '"');
		out_char(out, text[i]);
	}
	out_char(out, '"');
}

static void json_escape(struct output *out, unsigned char c)
{
	static const char names[] = "\bb\nn\tt\rr\ff\"\"\\\\";

	out_char(out, '\\');
	for (size_t i = 0; i + 1 < sizeof(names); i += 2) {
		if (names[i] == (char)c) {
			out_char(out, names[i + 1]);
			return;
		}
	}
	out_mem(out, "u00", 3);
	out_char(out, "0123456789abcdef"[c >> 4]);
	out_char(out, "0123456789abcdef"[c & 0xf]);
}

void out_json(struct output *out, const char *text, size_t size)
{
	size_t done = 0;

	out_char(out, '"');
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
			continue;
		out_mem(out, text + done, i - done);
		json_escape(out, c);
		done = i + 1;
	}
	out_mem(out, text + done, size - done);
	out_char(out, '"');
}
