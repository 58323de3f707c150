// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	json_read.c
 * @brief	Read small JSON files of other programs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "escape.h"
#include "json_read.h"
#include "regular_file.h"
#include "sidecar.h"
#include "whole_file.h"

static int no_memory(const char *path, char *error, size_t size)
{
	text_format(error, size, "%s: not enough memory", path);
	return -ENOMEM;
}

/**
 * Bytes that json-c needs at most for what a character begins, measured with 0.16 on 64 bits: a
 * hash table of 16 entries for an object, 8 pointers for an array, an entry and a name for a
 * member, and a value behind each comma.
 */
static size_t cost_of(char c)
{
	switch (c) {
	case '{':
		return 800;
	case '[':
		return 160;
	case ':':
		return 120;
	case ',':
		return 88;
	default:
		return 0;
	}
}

/**
 * Return: the offset of what needs more memory than JSON_MAX_MEMORY, or @length if all fits.
 *
 * What is inside of texts and comments counts as well: to know where these end needs a parser that
 * agrees with json-c's in every respect.
 */
static size_t find_too_much(const char *text, size_t length)
{
	size_t memory = 0;

	for (size_t i = 0; i < length; i++) {
		memory += cost_of(text[i]);
		if (memory > JSON_MAX_MEMORY)
			return i;
	}
	return length;
}

/** Does the sidecar still belong to the trace that was there before it? */
static bool is_replaced(struct json_object *replaces, const struct stat *st, int64_t part_bytes)
{
	if (json_number_member(replaces, "trace_bytes", -1) != st->st_size)
		return false;
	/* if both have the same size, only the time distinguishes them */
	return (part_bytes >= 0 && part_bytes != st->st_size) ||
	       json_number_member(replaces, "trace_mtime_ns", -1) == json_mtime_ns(st);
}

/** @path: of the sidecar. Return: 1: the trace is there; 0: it is not; or -ENOMEM. */
static int stat_trace(const char *path, struct stat *st)
{
	char *trace = sidecar_trace(path);
	int is_there = trace && !stat(trace, st) && S_ISREG(st->st_mode);

	if (!trace && errno == ENOMEM)
		is_there = -ENOMEM;
	free(trace);
	return is_there;
}

int json_choose_sidecar(const char *path, struct json_object **root, char *error, size_t size)
{
	struct json_object *part = json_member(*root, "part", json_type_object);
	struct json_object *replaces = json_member(*root, "replaces", json_type_object);
	struct json_object *before = json_member(replaces, "sidecar", json_type_object);
	int64_t bytes = json_number_member(part, "trace_bytes", -1);
	struct stat st;
	int is_there;

	if (bytes < 0 && !before)
		return 0;
	/* one that was compressed since has another name */
	is_there = stat_trace(path, &st);
	if (is_there < 0)
		return no_memory(path, error, size);
	if (is_there && before && is_replaced(replaces, &st, bytes)) {
		before = json_object_get(before);
		json_object_put(*root);
		*root = before;
		part = json_member(before, "part", json_type_object);
		bytes = json_number_member(part, "trace_bytes", -1);
	}
	/* one that is in another one keeps none */
	json_object_object_del(*root, "replaces");
	if (!is_there || bytes < 0 || st.st_size == bytes)
		return before != NULL;
	text_format(error, size, "%s: the sidecar's \"part\" belongs to another file, of %" PRId64
		    " bytes: all of the sidecar is ignored; split the trace again", path, bytes);
	return -ESTALE;
}

int json_parse_text(const char *path, const char *text, size_t length, struct json_object **root,
		    char *error, size_t size)
{
	struct json_tokener *tokener = json_tokener_new();
	enum json_tokener_error why;
	size_t too_much = find_too_much(text, length);
	int ret = 0;

	*root = NULL;
	if (!tokener)
		return no_memory(path, error, size);
	if (too_much < length) {
		json_tokener_free(tokener);
		text_format(error, size, "%s: offset %zu: it has more values than fit into %d MiB "
			    "of memory: remove it, or correct what writes it", path, too_much,
			    JSON_MAX_MEMORY >> 20);
		return -EFBIG;
	}
	errno = 0;
	*root = json_tokener_parse_ex(tokener, text, (int)length + 1);
	why = json_tokener_get_error(tokener);
	/* json_tokener_get_error() does not report that memory was short */
	if (!*root && errno == ENOMEM) {
		ret = no_memory(path, error, size);
	} else if (!json_object_is_type(*root, json_type_object)) {
		text_format(error, size, "%s: offset %zu: not a JSON object: %s; remove or correct "
			    "it", path, (size_t)json_tokener_get_parse_end(tokener),
			    why == json_tokener_success ? "another type of value" :
			    json_tokener_error_desc(why));
		ret = -EINVAL;
	}
	json_tokener_free(tokener);
	if (ret) {
		json_object_put(*root);
		*root = NULL;
	}
	return ret;
}

int json_read_text(const char *path, const char *text, size_t length, struct json_object **root,
		   char *error, size_t size)
{
	int ret = json_parse_text(path, text, length, root, error, size);

	if (!ret)
		ret = json_choose_sidecar(path, root, error, size);
	if (ret >= 0)
		return 0;
	json_object_put(*root);
	*root = NULL;
	return ret;
}

int json_read_file(const char *path, struct json_object **root, char *error, size_t size)
{
	size_t length = 0;
	char *text;
	int ret = whole_file_read(path, SIDECAR_MAX_BYTES, &text, &length);

	*root = NULL;
	if (ret) {
		text_format(error, size, "%s: cannot read: %s", path, regular_file_error(ret));
		return ret;
	}
	ret = json_read_text(path, text, length, root, error, size);
	free(text);
	return ret;
}

int64_t json_mtime_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

struct json_object *json_member(struct json_object *object, const char *key, json_type type)
{
	struct json_object *value;

	return json_object_is_type(object, json_type_object) &&
	       json_object_object_get_ex(object, key, &value) &&
	       json_object_is_type(value, type) ? value : NULL;
}

struct json_object *json_list_member(struct json_object *object, const char *key, size_t *n)
{
	struct json_object *list = json_member(object, key, json_type_array);

	*n = list ? json_object_array_length(list) : 0;
	return list;
}

const char *json_text_at(struct json_object *list, size_t i)
{
	struct json_object *value = json_object_array_get_idx(list, i);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

int json_text_member(struct json_object *object, const char *key, char **text)
{
	struct json_object *value = json_member(object, key, json_type_string);

	*text = NULL;
	if (!value || strlen(json_object_get_string(value)) !=
		      (size_t)json_object_get_string_len(value))
		return 0;
	*text = strdup(json_object_get_string(value));
	return *text ? 0 : -ENOMEM;
}

int64_t json_number_member(struct json_object *object, const char *key, int64_t missing)
{
	struct json_object *value = json_member(object, key, json_type_int);

	return value ? json_object_get_int64(value) : missing;
}

bool json_bits_member(struct json_object *object, const char *key, uint64_t *bits)
{
	struct json_object *value = json_member(object, key, json_type_int);
	const char *text;
	char *end;

	if (value) {
		*bits = (uint64_t)json_object_get_int64(value);
		if (*bits == INT64_MAX)
			*bits = json_object_get_uint64(value);
		return true;
	}
	value = json_member(object, key, json_type_string);
	if (!value)
		return false;
	text = json_object_get_string(value);
	errno = 0;
	*bits = strtoull(text, &end, 0);
	return !errno && end != text && !*end;
}

struct json_object *json_text_new(const char *text)
{
	static const char unknown[] = "\xef\xbf\xbd";	/* U+FFFD */
	size_t length = strlen(text), n = 0;
	char *utf8 = malloc(length * (sizeof(unknown) - 1) + 1);
	struct json_object *value;

	if (!utf8)
		return NULL;
	for (const char *end = text + length; text < end; ) {
		uint32_t code;
		size_t bytes = text_char(text, (size_t)(end - text), &code);

		memcpy(utf8 + n, bytes ? text : unknown, bytes ? bytes : sizeof(unknown) - 1);
		n += bytes ? bytes : sizeof(unknown) - 1;
		text += bytes ? bytes : 1;
	}
	value = json_object_new_string_len(utf8, (int)n);
	free(utf8);
	return value;
}

struct json_object *json_bits_new(uint64_t bits)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, bits);
	return json_object_new_string(text);
}

int json_add(struct json_object *object, const char *key, struct json_object *value)
{
	int ret = -1;

	if (object && value)
		ret = key ? json_object_object_add(object, key, value) :
		      json_object_array_add(object, value);
	if (ret)
		json_object_put(value);
	return ret ? -ENOMEM : 0;
}

int json_write_file(const char *path, struct json_object *root, char *error, size_t size)
{
	const char *text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_SPACED |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	struct whole_file file;
	int ret;

	if (!text)
		return no_memory(path, error, size);
	ret = whole_file_open(&file, path, false);
	if (!ret) {
		ret = whole_file_write(&file, text, strlen(text));
		if (!ret)
			ret = whole_file_write(&file, "\n", 1);
		if (ret)
			whole_file_discard(&file);
		else
			ret = whole_file_commit(&file);
	}
	if (ret)
		text_format(error, size, "%s: cannot write: %s", path, regular_file_error(ret));
	return ret;
}

int json_update_sidecar(const char *trace_path,
			int (*put)(struct json_object *root, const void *what), const void *what,
			char *error, size_t size)
{
	char *old = sidecar_find(trace_path), *path = old ? old : sidecar_path(trace_path);
	struct json_object *root = NULL;
	int ret = 0;

	if (old)
		ret = json_read_file(old, &root, error, size);
	/* the sidecar of another trace is replaced */
	if (ret == -ESTALE)
		ret = 0;
	if (!ret && !root)
		root = json_object_new_object();
	if (!ret && (!path || !root || put(root, what)))
		ret = no_memory(trace_path, error, size);
	if (!ret)
		ret = json_write_file(path, root, error, size);
	json_object_put(root);
	free(path);
	return ret;
}
