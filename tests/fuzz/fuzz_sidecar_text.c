/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_sidecar_text.c
 * @brief	Any text as a sidecar that gets an alignment: all else stays, byte for byte.
 */
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY	"alignment"
#define VALUE	"{\n    \"offset\": 42\n  }"

/** Return: NULL if it is no object. */
static struct json_object *parse(const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *root;

	if (!tokener)
		abort();
	root = json_tokener_parse_ex(tokener, text, (int)size);
	json_tokener_free(tokener);
	if (json_object_is_type(root, json_type_object))
		return root;
	json_object_put(root);
	return NULL;
}

static void check_value(struct json_object *root)
{
	struct json_object *value, *offset;

	if (!json_object_object_get_ex(root, KEY, &value) ||
	    !json_object_object_get_ex(value, "offset", &offset) ||
	    json_object_get_int(offset) != 42)
		abort();
}

/** Is @text what is left of @whole without one piece? */
static void check_rest(const char *text, size_t size, const char *whole)
{
	size_t n = strlen(whole), same = 0, tail = 0;

	while (same < size && same < n && text[same] == whole[same])
		same++;
	while (tail < size - same && tail < n - same &&
	       text[size - 1 - tail] == whole[n - 1 - tail])
		tail++;
	/* what is between is the new value, and of the text at most the old one */
	if (!memmem(whole, n, VALUE, strlen(VALUE)) || same + tail > n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct json_object *before, *after;
	char *put, *again;

	/* what a C string does not hold is no sidecar */
	if (size > 65536 || memchr(text, 0, size))
		return 0;
	before = parse(text, size);
	put = sidecar_put(text, size, KEY, VALUE);
	if (!before || !put)
		goto end;
	check_rest(text, size, put);
	after = parse(put, strlen(put));
	if (!after)
		abort();
	check_value(after);
	json_object_object_del(before, KEY);
	json_object_object_del(after, KEY);
	/* as text: a number that is none is not equal to itself */
	if (strcmp(json_object_to_json_string(before), json_object_to_json_string(after)) != 0)
		abort();
	json_object_put(after);
	again = sidecar_put(put, strlen(put), KEY, VALUE);
	if (!again || strcmp(again, put) != 0)
		abort();
	free(again);
end:
	/* what is understood can be changed */
	if (before && !put)
		abort();
	json_object_put(before);
	free(put);
	return 0;
}
