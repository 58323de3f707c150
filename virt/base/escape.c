// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	escape.c
 * @brief	Escape foreign names for output, so that they have no effect there.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "hidden_characters.h"
#include "search.h"

size_t text_char(const char *text, size_t size, uint32_t *code)
{
	/* Unicode, table 3-7: no surrogates, no longer forms, nothing beyond U+10FFFF */
	static const struct {
		unsigned char	first, last;	/* of the first byte */
		unsigned char	low, high;	/* of the second byte */
		unsigned char	length, bits;	/* of the first byte that are part of the code */
	} shapes[] = {
		{ 0x00, 0x7f, 0x00, 0x00, 1, 0x7f }, { 0xc2, 0xdf, 0x80, 0xbf, 2, 0x1f },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3, 0x0f }, { 0xe1, 0xec, 0x80, 0xbf, 3, 0x0f },
		{ 0xed, 0xed, 0x80, 0x9f, 3, 0x0f }, { 0xee, 0xef, 0x80, 0xbf, 3, 0x0f },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4, 0x07 }, { 0xf1, 0xf3, 0x80, 0xbf, 4, 0x07 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4, 0x07 },
	};
	const unsigned char *bytes = (const unsigned char *)text;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		size_t length = shapes[i].length;

		if (*bytes < shapes[i].first || *bytes > shapes[i].last)
			continue;
		if (length > size || (length > 1 && (bytes[1] < shapes[i].low ||
						     bytes[1] > shapes[i].high)))
			return 0;
		*code = *bytes & shapes[i].bits;
		for (size_t j = 1; j < length; j++) {
			if ((bytes[j] & 0xc0) != 0x80)
				return 0;
			*code = *code << 6 | (bytes[j] & 0x3f);
		}
		return length;
	}
	return 0;
}

/* whether one of the ranges has the code */
#define IS_IN(code, ranges, i)							\
	({									\
		SEARCH_FIRST(i, 0, ARRAY_SIZE(ranges), (ranges)[i].last < (code));	\
		(i) < ARRAY_SIZE(ranges) && (ranges)[i].first <= (code);	\
	})

bool text_is_plain(uint32_t code)
{
	size_t i;

	if (code < 0x7f)
		return code >= ' ';
	if (code < 0x10000)
		return !IS_IN(code, hidden_below_10000, i);
	return code <= 0x10ffff && !IS_IN(code, hidden_from_10000, i);
}

size_t text_cut(const char *text, size_t size)
{
	uint32_t code;

	/* a character begins at most three bytes before the end, if it is cut off there */
	for (size_t back = 1; back <= 3 && back <= size; back++) {
		unsigned char c = (unsigned char)text[size - back];

		if ((c & 0xc0) == 0x80)
			continue;
		if (c >= 0xc2 && c <= 0xf4 && back < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) &&
		    !text_char(text + size - back, back, &code))
			return size - back;
		break;
	}
	return size;
}

int text_format(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buf, size, format, args);
	va_end(args);
	if (n >= 0 && size && (size_t)n >= size)
		buf[text_cut(buf, size - 1)] = '\0';
	return n;
}

static size_t put_hex(char *piece, char kind, uint32_t value, int digits)
{
	piece[0] = '\\';
	piece[1] = kind;
	for (int i = 0; i < digits; i++)
		piece[2 + i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 0xf];
	return 2 + (size_t)digits;
}

static size_t skip_digits(const char *text, size_t size, size_t from)
{
	while (from < size && text[from] >= '0' && text[from] <= '9')
		from++;
	return from;
}

/** Is all of it a number with a sign, such as -1, +2.5 or -1e-05? */
static bool is_number(const char *text, size_t size)
{
	size_t n = skip_digits(text, size, 1);
	bool digits = n > 1;

	if (n < size && text[n] == '.') {
		size_t end = skip_digits(text, size, n + 1);

		digits |= end > n + 1;
		n = end;
	}
	if (digits && n + 1 < size && (text[n] == 'e' || text[n] == 'E')) {
		n += text[n + 1] == '+' || text[n + 1] == '-' ? 2 : 1;
		digits = n < size;
		n = skip_digits(text, size, n);
	}
	return digits && n == size;
}

bool text_is_formula(const char *text, size_t size)
{
	uint32_t code;

	if (!size || !text_char(text, size, &code))
		return false;
	switch (code) {
	case '+':
	case '-':
		return !is_number(text, size);
	case '=':
	case '@':
	case '\'':
	/* the same signs, as wide as ideographs */
	case 0xff0b:
	case 0xff0d:
	case 0xff1d:
	case 0xff20:
		return true;
	default:
		return false;
	}
}

size_t escape_next(const char **text, const char *end, char piece[ESCAPE_PIECE])
{
	const char *from = *text;
	size_t length;
	uint32_t code;

	if (from >= end)
		return 0;
	length = text_char(from, (size_t)(end - from), &code);
	*text += length ? length : 1;
	if (!length)
		return put_hex(piece, 'x', (unsigned char)*from, 2);
	if (code == '\\') {
		memcpy(piece, "\\\\", 2);
		return 2;
	}
	if (text_is_plain(code)) {
		memcpy(piece, from, length);
		return length;
	}
	if (code < 0x80)
		return put_hex(piece, 'x', code, 2);
	return code < 0x10000 ? put_hex(piece, 'u', code, 4) : put_hex(piece, 'U', code, 8);
}

size_t escape_text(char *buf, size_t size, const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	size_t all = 0, kept = 0, n;

	while ((n = escape_next(&text, end, piece))) {
		/* behind the first piece that does not fit, nothing is kept */
		if (kept == all && all + n < size) {
			memcpy(buf + all, piece, n);
			kept += n;
		}
		all += n;
	}
	if (size)
		buf[kept] = '\0';
	return all;
}

const char *escape_xml(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	}
	return NULL;
}

char *escape_dup(const char *text)
{
	size_t size = escape_text(NULL, 0, text) + 1;
	char *copy = malloc(size);

	if (copy)
		escape_text(copy, size, text);
	return copy;
}

/** Does a shell take it as it is? @is_plain: whether all of it can be shown. */
static bool is_shell_word(const char *text, size_t size, bool *is_plain)
{
	bool is_word = size;

	*is_plain = true;
	for (size_t i = 0, n; i < size; i += n) {
		uint32_t code;

		n = text_char(text + i, size - i, &code);
		*is_plain &= n && text_is_plain(code);
		is_word &= n == 1 && (isalnum((unsigned char)text[i]) ||
				      strchr("_@%+=:,./-", text[i]));
		n = n ? n : 1;
	}
	return is_word;
}

/** A character between $' and '. Return: behind it. */
static char *put_shell(char *to, const char *text, size_t n, bool is_plain)
{
	if (is_plain && *text != '\'' && *text != '\\') {
		memcpy(to, text, n);
		return to + n;
	}
	for (size_t i = 0; i < n; i++)
		to += sprintf(to, "\\%03o", (unsigned char)text[i]);
	return to;
}

char *escape_shell_dup(const char *text)
{
	size_t size = strlen(text);
	char *quoted = malloc(4 * size + 4), *to = quoted;
	bool is_plain;

	if (!quoted)
		return NULL;
	if (is_shell_word(text, size, &is_plain)) {
		memcpy(quoted, text, size + 1);
		return quoted;
	}
	if (!is_plain)
		*to++ = '$';
	*to++ = '\'';
	for (size_t i = 0, n; i < size; i += n) {
		uint32_t code;
		size_t length = text_char(text + i, size - i, &code);

		n = length ? length : 1;
		if (!is_plain)
			to = put_shell(to, text + i, n, length && text_is_plain(code));
		else if (text[i] == '\'')
			to = mempcpy(to, "'\\''", 4);
		else
			to = mempcpy(to, text + i, n);
	}
	strcpy(to, "'");
	return quoted;
}

char *escape_shell_words(char *const *words, int n)
{
	char *text = calloc(1, 1);

	for (int i = 0; text && i < n; i++) {
		char *word = escape_shell_dup(words[i]), *longer = NULL;

		if (word && asprintf(&longer, "%s %s", text, word) < 0)
			longer = NULL;
		free(word);
		free(text);
		text = longer;
	}
	return text;
}

void escape_vprint(FILE *file, const char *before, const char *format, va_list args)
{
	char small[512], *text = NULL, *escaped = NULL;
	va_list again;

	va_copy(again, args);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	if (text)
		escaped = escape_dup(text);
	if (!escaped) {
		/* the message may be that there is no memory */
		char raw[sizeof(small) / 4];

		vsnprintf(raw, sizeof(raw), format, again);
		escape_text(small, sizeof(small), raw);
	}
	va_end(again);
	fprintf(file, "%s%s\n", before, escaped ? escaped : small);
	free(escaped);
	free(text);
}

void escape_print(FILE *file, const char *before, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	escape_vprint(file, before, format, args);
	va_end(args);
}
