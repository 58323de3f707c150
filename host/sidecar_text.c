// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	sidecar_text.c
 * @brief	Change one member of a JSON object, and not a byte of the others.
 *
 * The code reads a text like json-c, which also accepts comments, other quotes and a trailing
 * comma.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar_text.h"

struct cursor {
	const char	*at, *end;
};

/** Where things are in the text. */
struct places {
	const char	*value, *value_end;	/* of the key; NULL: it is not there */
	const char	*last;			/* behind the last member and its comma */
	bool		any, comma;		/* there are members, and a comma behind the last */
};

static bool begins(const struct cursor *in, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(in->end - in->at) >= n && !memcmp(in->at, word, n);
}

static bool skip_line(struct cursor *in)
{
	const char *found = memchr(in->at, '\n', (size_t)(in->end - in->at));

	if (found)
		in->at = found + 1;
	return found;
}

/** After an asterisk, json-c does not take a second one for the beginning of an end. */
static bool skip_comment(struct cursor *in)
{
	for (in->at += 2; in->end - in->at >= 2; in->at++) {
		if (*in->at != '*')
			continue;
		if (*++in->at == '/') {
			in->at++;
			return true;
		}
	}
	return false;
}

/** Blanks and comments. Return: false if a comment does not end. */
static bool skip_blanks(struct cursor *in)
{
	while (in->at < in->end) {
		if (strchr(" \t\n\v\f\r", *in->at) && *in->at) {
			in->at++;
		} else if (begins(in, "/*")) {
			if (!skip_comment(in))
				return false;
		} else if (begins(in, "//")) {
			if (!skip_line(in))
				return false;
		} else {
			break;
		}
	}
	return true;
}

static bool skip_string(struct cursor *in)
{
	char quote = *in->at;

	for (in->at++; in->at < in->end; in->at++) {
		if (*in->at == quote) {
			in->at++;
			return true;
		}
		in->at += *in->at == '\\';
	}
	return false;
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/** All of an object or array: with the parser's word that brackets fit, they are only counted. */
static bool skip_nested(struct cursor *in)
{
	size_t depth = 0;

	do {
		if (!skip_blanks(in) || in->at >= in->end)
			return false;
		if (is_quote(*in->at)) {
			if (!skip_string(in))
				return false;
			continue;
		}
		depth += *in->at == '{' || *in->at == '[';
		depth -= *in->at == '}' || *in->at == ']';
		in->at++;
	} while (depth);
	return true;
}

static bool skip_value(struct cursor *in)
{
	const char *begin = in->at;

	if (in->at < in->end && is_quote(*in->at))
		return skip_string(in);
	if (in->at < in->end && (*in->at == '{' || *in->at == '['))
		return skip_nested(in);
	while (in->at < in->end && !strchr(" \t\n\v\f\r,}]/", *in->at))
		in->at++;
	return in->at > begin;
}

/** Is a string, with its quotes and escapes, this key? */
static bool is_key(const char *from, const char *to, const char *key)
{
	size_t n = (size_t)(to - from);
	struct json_object *string;
	bool same;
	char *copy;

	if (n == strlen(key) + 2 && !memcmp(from + 1, key, n - 2))
		return true;
	if (!memchr(from, '\\', n))
		return false;
	copy = strndup(from, n);
	string = copy ? json_tokener_parse(copy) : NULL;
	same = json_object_is_type(string, json_type_string) &&
	       !strcmp(json_object_get_string(string), key);
	json_object_put(string);
	free(copy);
	return same;
}

static bool take_member(struct cursor *in, const char *key, struct places *places)
{
	const char *name = in->at, *name_end, *value;

	if (in->at >= in->end || !is_quote(*in->at) || !skip_string(in))
		return false;
	name_end = in->at;
	if (!skip_blanks(in) || in->at >= in->end || *in->at != ':')
		return false;
	in->at++;
	if (!skip_blanks(in))
		return false;
	value = in->at;
	if (!skip_value(in))
		return false;
	/* of members of the same name, the last one counts */
	if (is_key(name, name_end, key)) {
		places->value = value;
		places->value_end = in->at;
	}
	places->any = true;
	places->comma = false;
	places->last = in->at;
	if (!skip_blanks(in) || in->at >= in->end)
		return false;
	if (*in->at == ',') {
		places->comma = true;
		places->last = ++in->at;
	}
	return skip_blanks(in);
}

static bool find_places(const char *text, size_t size, const char *key, struct places *places)
{
	struct cursor in = { text, text + size };

	*places = (struct places){ 0 };
	if (!skip_blanks(&in) || in.at >= in.end || *in.at != '{')
		return false;
	places->last = ++in.at;
	if (!skip_blanks(&in))
		return false;
	while (in.at < in.end && *in.at != '}') {
		if (!take_member(&in, key, places))
			return false;
		if (in.at < in.end && *in.at != '}' && !places->comma)
			return false;
	}
	return in.at < in.end;
}

char *sidecar_put(const char *text, size_t size, const char *key, const char *value)
{
	const char *before = "", *after = "", *from, *to;
	struct places places;
	char *result = NULL;
	size_t new_size;
	FILE *out;

	if (!find_places(text, size, key, &places)) {
		errno = EINVAL;
		return NULL;
	}
	from = places.value ? places.value : places.last;
	to = places.value ? places.value_end : places.last;
	out = open_memstream(&result, &new_size);
	if (!out)
		return NULL;
	if (!places.value) {
		before = places.any && !places.comma ? ",\n  " : "\n  ";
		after = places.any ? "" : "\n";
	}
	fwrite(text, 1, (size_t)(from - text), out);
	if (places.value)
		fputs(value, out);
	else
		fprintf(out, "%s\"%s\": %s%s", before, key, value, after);
	fwrite(to, 1, (size_t)(text + size - to), out);
	if (fclose(out)) {
		free(result);
		errno = ENOMEM;
		return NULL;
	}
	return result;
}
