/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	json_read.h
 * @brief	Read small JSON files of other programs, and report what is wrong with them.
 */
#ifndef KSHARK_VIRT_JSON_READ_H
#define KSHARK_VIRT_JSON_READ_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/** Bytes of memory that the values of a file may need; the text of it comes on top. */
#define JSON_MAX_MEMORY	(192 << 20)

/**
 * json_read_file - the object that a file of at most SIDECAR_MAX_BYTES consists of
 * @root: receives it, to be given to json_object_put(); NULL on failure
 * @error: on failure, receives a text that names the file, and what to do
 *
 * Return: 0 or a negative errno: -EINVAL for what is no regular file, or no JSON object;
 * -EFBIG for what is larger than SIDECAR_MAX_BYTES, or has values for more than JSON_MAX_MEMORY;
 * -ESTALE for a sidecar that belongs to another trace than the one beside it.
 *
 * A sidecar that is written before its trace keeps the sidecar of the older trace in "replaces":
 * { "trace_bytes", "trace_mtime_ns", "sidecar" }. As long as the older trace is there, @root is the
 * older sidecar; else it is the new one, without "replaces".
 */
int json_read_file(const char *path, struct json_object **root, char *error, size_t size);

/**
 * json_read_text - the same of a text that has been read
 * @path: for messages
 * @length: of the text, behind which there is a NUL
 */
int json_read_text(const char *path, const char *text, size_t length, struct json_object **root,
		   char *error, size_t size);

/** json_parse_text - the object of a text, which need not be that of a sidecar beside its trace */
int json_parse_text(const char *path, const char *text, size_t length, struct json_object **root,
		    char *error, size_t size);

/**
 * json_choose_sidecar - the sidecar that counts, of one that may keep an older one
 * @root: a parsed sidecar; becomes the one that counts, without "replaces"
 *
 * Return: 0 if there is no older one; 1 if there is, and @root is not what the text has; or
 * -ENOMEM, -ESTALE with a text.
 */
int json_choose_sidecar(const char *path, struct json_object **root, char *error, size_t size);

/** json_mtime_ns - when a file was written, as the member "replaces" of a sidecar notes it. */
int64_t json_mtime_ns(const struct stat *st);

/** json_member - a member of an object that is of this type, or NULL; @object may be anything. */
struct json_object *json_member(struct json_object *object, const char *key, json_type type);

/** json_list_member - an array, and its length; NULL and 0: there is none. */
struct json_object *json_list_member(struct json_object *object, const char *key, size_t *n);

/** json_text_at - an element of an array that is a text; or NULL. */
const char *json_text_at(struct json_object *list, size_t i);

/**
 * json_text_member - a copy of a text
 * @text: receives it, to be freed; NULL if there is no such member, or a NUL is in it
 *
 * Return: 0 or -ENOMEM.
 */
int json_text_member(struct json_object *object, const char *key, char **text);

/** json_number_member - a whole number, or @missing. */
int64_t json_number_member(struct json_object *object, const char *key, int64_t missing);

/**
 * json_bits_member - all 64 bits, as a number or as text: "0xfffffff9e57d569a"
 *
 * Return: false if there is no such member, or it is nothing of that.
 */
bool json_bits_member(struct json_object *object, const char *key, uint64_t *bits);

/** json_text_new - a text in UTF-8, whatever @text is. Return: NULL without memory. */
struct json_object *json_text_new(const char *text);

/** json_bits_new - all 64 bits as json_bits_member() reads them. Return: NULL without memory. */
struct json_object *json_bits_new(uint64_t bits);

/**
 * json_add - set a member, or add to an array if there is no @key
 * @value: belongs to @object from now on; NULL: there was no memory for it
 *
 * Return: 0 or -ENOMEM.
 */
int json_add(struct json_object *object, const char *key, struct json_object *value);

/**
 * json_write_file - write an object, whole or not at all
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int json_write_file(const char *path, struct json_object *root, char *error, size_t size);

/**
 * json_update_sidecar - put something into the sidecar of a trace, and leave what else is in it
 * @put: 0 or -ENOMEM
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int json_update_sidecar(const char *trace_path,
			int (*put)(struct json_object *root, const void *what), const void *what,
			char *error, size_t size);

#endif
