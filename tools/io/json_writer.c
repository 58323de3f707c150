// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	json_writer.c
 * @brief	Write nested JSON with indentation: commas and line ends come by themselves.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_writer.h"

void json_begin(struct json *json, struct output *out)
{
	*json = (struct json){ .out = out, .empty = { true } };
}

void json_line_begin(struct json *json, struct output *out)
{
	json_begin(json, out);
	json->tight = true;
	json_open(json, NULL, '{', true);
	json_version(json);
}

void json_document(struct json *json, struct output *out)
{
	json_begin(json, out);
	json_open(json, NULL, '{', false);
	json_version(json);
}

void json_document_end(struct json *json)
{
	json_close(json, '}');
	json_end(json);
}

void json_end(struct json *json)
{
	out_char(json->out, '\n');
}

static void new_line(struct json *json)
{
	out_char(json->out, '\n');
	for (int i = 0; i < json->depth; i++)
		out_char(json->out, ' ');
}

/** What stands before a member. */
static void member(struct json *json, const char *key)
{
	bool first = json->empty[json->depth];

	json->empty[json->depth] = false;
	if (!first)
		out_char(json->out, ',');
	if (json->depth && !json->flat[json->depth])
		new_line(json);
	else if (!first && !json->tight)
		out_char(json->out, ' ');
	if (!key)
		return;
	out_json(json->out, key, strlen(key));
	out_str(json->out, json->tight ? ":" : ": ");
}

void json_open(struct json *json, const char *key, char bracket, bool flat)
{
	member(json, key);
	out_char(json->out, bracket);
	assert(json->depth + 1 < JSON_MAX_DEPTH);
	json->depth++;
	json->empty[json->depth] = true;
	json->flat[json->depth] = flat || json->flat[json->depth - 1];
}

void json_close(struct json *json, char bracket)
{
	bool empty = json->empty[json->depth], flat = json->flat[json->depth];

	json->depth--;
	if (!empty && !flat)
		new_line(json);
	out_char(json->out, bracket);
}

void json_version(struct json *json)
{
	json_i64(json, "version", JSON_VERSION);
}

void json_null(struct json *json, const char *key)
{
	member(json, key);
	out_str(json->out, "null");
}

/** Return: false for a number that is unknown, and that has been written so. */
static bool number(struct json *json, const char *key)
{
	if (json->unknown)
		json_null(json, key);
	else
		member(json, key);
	return !json->unknown;
}

void json_i64(struct json *json, const char *key, int64_t value)
{
	if (number(json, key))
		out_i64(json->out, value);
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	if (number(json, key))
		out_u64(json->out, value);
}

void json_str(struct json *json, const char *key, const char *value)
{
	member(json, key);
	out_json(json->out, value, strlen(value));
}

void json_bool(struct json *json, const char *key, bool value)
{
	member(json, key);
	out_str(json->out, value ? "true" : "false");
}

void json_fixed(struct json *json, const char *key, double value)
{
	char text[64];

	if (!number(json, key))
		return;
	snprintf(text, sizeof(text), "%.6f", value);
	out_str(json->out, text);
}

void json_exact(struct json *json, const char *key, double value)
{
	char text[64];

	if (!number(json, key))
		return;
	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	out_str(json->out, text);
}

void json_number(struct json *json, const char *key, double value)
{
	char text[64];

	if (!number(json, key))
		return;
	snprintf(text, sizeof(text), "%.10g", value);
	out_str(json->out, text);
}

void json_warnings(struct json *json, const struct trace_notes *notes)
{
	if (!notes->n)
		return;
	json_open(json, "warnings", '[', false);
	for (size_t i = 0; i < notes->n; i++) {
		json_open(json, NULL, '{', true);
		json_str(json, "kind", trace_note_kind_name(notes->all[i].kind));
		json_str(json, "severity", trace_note_severity_name(notes->all[i].severity));
		json_str(json, "text", notes->all[i].text);
		json_close(json, '}');
	}
	json_close(json, ']');
}
