/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_escape.c
 * @brief	Any bytes as a name: what is written can be read and undone, and has no effect.
 */
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_NAME	4096

/** Only plain UTF-8. */
static void check_plain(const char *text, size_t size)
{
	size_t length;
	uint32_t code;

	for (; size; text += length, size -= length) {
		length = text_char(text, size, &code);
		if (!length || !text_is_plain(code))
			abort();
	}
}

/** The bytes of a code in UTF-8. Return: their number. */
static size_t encode(uint32_t code, char *to)
{
	size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(0xf00 >> n | code);
	return n;
}

static void check_undone(const char *shown, const char *name)
{
	char back[MAX_NAME + 8];
	size_t n = 0;

	while (*shown) {
		char digits[9] = "";
		int wanted;

		if (*shown != '\\') {
			back[n++] = *shown++;
			continue;
		}
		wanted = shown[1] == 'x' ? 2 : shown[1] == 'u' ? 4 : shown[1] == 'U' ? 8 : 0;
		if (!wanted && shown[1] != '\\')
			abort();
		memcpy(digits, shown + 2, (size_t)wanted);
		if (!wanted)
			back[n++] = '\\';
		else if (wanted == 2)
			back[n++] = (char)strtoul(digits, NULL, 16);
		else
			n += encode((uint32_t)strtoul(digits, NULL, 16), back + n);
		shown += 2 + wanted;
	}
	back[n] = '\0';
	if (strcmp(back, name) != 0)
		abort();
}

/** What a writer writes, which is less than the buffer holds. */
static char *written(struct output *out, size_t *size)
{
	*size = (size_t)(out->pos - out->buffer);
	*out->pos = '\0';
	out->pos = out->buffer;
	return out->buffer;
}

static void check_csv(char *cell, size_t size, const char *shown)
{
	char *to = cell;

	check_plain(cell, size);
	if (*cell == '"') {
		for (const char *from = cell + 1; ; *to++ = *from++) {
			if (*from == '"' && *++from != '"')
				break;
		}
		*to = '\0';
	} else if (strpbrk(cell, ",\"")) {
		abort();
	}
	if (*cell == '=' || *cell == '@')
		abort();
	if (strcmp(cell + (*cell == '\''), shown) != 0)
		abort();
}

static void check_json(const char *text, size_t size)
{
	struct json_object *string = json_tokener_parse(text);

	check_plain(text, size);
	if (!json_object_is_type(string, json_type_string))
		abort();
	json_object_put(string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct output out;
	char name[MAX_NAME + 1], shown[4 * MAX_NAME + 1], part[32];
	const char *text;
	size_t n;

	if (size > MAX_NAME)
		size = MAX_NAME;
	memcpy(name, data, size);
	name[size] = '\0';
	size = strlen(name);
	n = escape_text(shown, sizeof(shown), name);
	if (n != strlen(shown))
		abort();
	check_plain(shown, n);
	check_undone(shown, name);
	/* cut anywhere, it is the beginning of the same */
	escape_text(part, size % sizeof(part), name);
	if (size % sizeof(part) && strncmp(part, shown, strlen(part)) != 0)
		abort();
	if (text_cut(name, size) > size || size - text_cut(name, size) > 3)
		abort();
	if (out_open(&out, NULL))
		abort();
	out_text(&out, name);
	text = written(&out, &n);
	if (strcmp(text, shown) != 0)
		abort();
	out_csv(&out, name, size);
	text = written(&out, &n);
	check_csv(out.buffer, n, shown);
	out_json(&out, name, size);
	text = written(&out, &n);
	check_json(text, n);
	return 0;
}
