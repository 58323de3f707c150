/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	pointer_file.h
 * @brief	Small JSON files that KernelShark opens, and its sessions name, in place of a trace.
 *
 * Such a file names a part of a trace. A file with another content gets another path, so that the
 * file that a session names never changes.
 */
#ifndef KSHARK_VIRT_POINTER_FILE_H
#define KSHARK_VIRT_POINTER_FILE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Of names in its name, so that all of it is one that file systems take. */
#define POINTER_FILE_NAME	80

/** pointer_file_is - is that such a file, with a number called @key? Cheap if it is not. */
bool pointer_file_is(const char *path, const char *key);

/**
 * pointer_file_read - read one
 * @root: receives it, to be given to json_object_put()
 *
 * Return: 0, -EINVAL without a text for what is no such file, or another negative errno.
 */
int pointer_file_read(const char *path, const char *key, struct json_object **root, char *error,
		      size_t size);

/**
 * pointer_file_path - what is relative to the file becomes what can be opened
 * @file: malloc'ed, or NULL; may be replaced
 *
 * Return: 0 or -ENOMEM.
 */
int pointer_file_path(char **file, const char *path);

/**
 * pointer_file_text - add a member, if there is a text
 *
 * Return: false without memory, or if it is a text that JSON cannot have.
 */
bool pointer_file_text(struct json_object *root, const char *key, const char *text);

/**
 * pointer_file_name - a name of what every file system and KernelShark take
 * @trace: path, whose last part without its ending comes first
 * @of: what of it
 */
void pointer_file_name(char *name, size_t size, const char *trace, const char *of);

/**
 * pointer_file_write - put one into a folder; what is there already and the same is left as it is
 * @folder: is made, with those above it
 * @path: receives its path, to be freed
 *
 * Return: 0; or a negative errno and a text in @error.
 */
int pointer_file_write(const char *folder, struct json_object *root, const char *name, char **path,
		       char *error, size_t size);

/** pointer_file_cache - where they are kept, in the user's cache. Return: malloc'ed; or NULL. */
char *pointer_file_cache(const char *kind);

#ifdef __cplusplus
}
#endif

#endif
