/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	json_writer.h
 * @brief	Write nested JSON with indentation: commas and line ends come by themselves.
 */
#ifndef KSHARK_VIRT_JSON_WRITER_H
#define KSHARK_VIRT_JSON_WRITER_H

#include "output.h"
#include "trace_notes.h"

/** Levels of objects and arrays; a deeper one is an error of the program. */
#define JSON_MAX_DEPTH	32

struct json {
	struct output	*out;
	int		depth;
	bool		empty[JSON_MAX_DEPTH];	/* nothing in it yet */
	bool		flat[JSON_MAX_DEPTH];	/* all on one line */
	bool		unknown;	/* numbers are null, until it is set to false again */
	bool		tight;		/* no blanks between members */
};

/** The version of what commands write as JSON: it grows when a member changes or goes. */
#define JSON_VERSION	1

#define JSON_TEXT_OF(number)	#number
#define JSON_TEXT(number)	JSON_TEXT_OF(number)

/** The begin of an object in JSON Lines, for those who write millions of them. */
#define JSON_LINE_BEGIN	"{\"version\":" JSON_TEXT(JSON_VERSION) ","

/** json_version - the first member of an object at the top. */
void json_version(struct json *json);

/** json_begin - a document; json_end() must follow when everything is closed. */
void json_begin(struct json *json, struct output *out);

/** json_document, json_document_end - an object at the top, which begins with the version */
void json_document(struct json *json, struct output *out);
void json_document_end(struct json *json);

/** json_line_begin - a document of one line, of JSON Lines: an object, which stays open */
void json_line_begin(struct json *json, struct output *out);

void json_end(struct json *json);

/**
 * json_open - begin an object ('{') or array ('[')
 * @key: NULL inside an array and at the top
 * @flat: keep it and all inside on one line
 */
void json_open(struct json *json, const char *key, char bracket, bool flat);
void json_close(struct json *json, char bracket);

/** Members; @key is NULL inside an array. */
void json_i64(struct json *json, const char *key, int64_t value);
void json_u64(struct json *json, const char *key, uint64_t value);
void json_str(struct json *json, const char *key, const char *value);
void json_bool(struct json *json, const char *key, bool value);
/** json_fixed - @value with six decimals, without a locale. */
void json_fixed(struct json *json, const char *key, double value);

/** json_null - a value that is unknown, whatever it is */
void json_null(struct json *json, const char *key);
/** json_warnings - member "warnings": what limits the numbers; none without any note. */
void json_warnings(struct json *json, const struct trace_notes *notes);

/** json_number - @value, which is finite, with ten significant digits. */
void json_number(struct json *json, const char *key, double value);

/** json_exact - @value, which is finite, with as many digits as it takes to read the same value. */
void json_exact(struct json *json, const char *key, double value);

#endif
