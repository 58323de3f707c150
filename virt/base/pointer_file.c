// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	pointer_file.c
 * @brief	Small JSON files that KernelShark opens in place of a trace.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "escape.h"
#include "hash_bytes.h"
#include "json_read.h"
#include "pointer_file.h"
#include "whole_file.h"

/** A pointer is small: what is larger is something else. */
#define MOST_BYTES	65536

/* --- reading --------------------------------------------------------------------------------- */

int pointer_file_read(const char *path, const char *key, struct json_object **root, char *error,
		      size_t size)
{
	char *text, quoted[64];
	size_t length;
	int ret = whole_file_read(path, MOST_BYTES, &text, &length);

	*root = NULL;
	if (ret) {
		text_format(error, size, "%s: cannot read: %s", path, strerror(-ret));
		return ret;
	}
	/* cheap, as any file may be asked about */
	snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	ret = strstr(text, quoted) ? json_read_text(path, text, length, root, error, size) :
	      -EINVAL;
	free(text);
	return ret;
}

bool pointer_file_is(const char *path, const char *key)
{
	struct json_object *root = NULL;
	char error[8];
	bool is = !pointer_file_read(path, key, &root, error, sizeof(error)) &&
		  json_member(root, key, json_type_int);

	json_object_put(root);
	return is;
}

int pointer_file_path(char **file, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *found;

	if (!*file || **file == '/' || !slash)
		return 0;
	if (asprintf(&found, "%.*s/%s", (int)(slash - path), path, *file) < 0)
		return -ENOMEM;
	free(*file);
	*file = found;
	return 0;
}

/* --- writing --------------------------------------------------------------------------------- */

bool pointer_file_text(struct json_object *root, const char *key, const char *text)
{
	struct json_object *value = text ? json_text_new(text) : NULL;
	bool whole = value && !strcmp(json_object_get_string(value), text);

	if (text && !whole) {
		json_object_put(value);
		return false;
	}
	return !text || !json_add(root, key, value);
}

/** A number made from the text: it distinguishes two files with the same name. */
static uint64_t number_of(const char *text)
{
	return hash_text(text);
}

void pointer_file_name(char *name, size_t size, const char *trace, const char *of)
{
	const char *slash = strrchr(trace, '/');
	const char *base = slash ? slash + 1 : trace, *dot = strrchr(base, '.');
	int n = dot && dot > base ? (int)(dot - base) : (int)strlen(base);

	if (n > POINTER_FILE_NAME)
		n = POINTER_FILE_NAME;
	snprintf(name, size, "%.*s-%.*s", n, base, POINTER_FILE_NAME, of);
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-_.+", *name))
			*name = '_';
}

/** Make a folder, and those above it. Return: 0 or a negative errno. */
static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int ret;

		*slash = '\0';
		ret = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (ret)
			return ret;
	}
	return 0;
}

static bool says(const char *path, const char *text)
{
	char *there;
	size_t n;
	bool same;

	if (whole_file_read(path, MOST_BYTES, &there, &n))
		return false;
	same = !strcmp(there, text);
	free(there);
	return same;
}

static int write_text(const char *path, const char *text)
{
	struct whole_file file;
	int ret = whole_file_open(&file, path, false);

	if (ret)
		return ret;
	ret = whole_file_write(&file, text, strlen(text));
	if (!ret)
		return whole_file_commit(&file);
	whole_file_discard(&file);
	return ret;
}

int pointer_file_write(const char *folder, struct json_object *root, const char *name, char **path,
		       char *error, size_t size)
{
	const char *text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	int ret;

	if (!text || asprintf(path, "%s/%016llx/%s", folder,
			      (unsigned long long)number_of(text), name) < 0)
		*path = NULL;
	ret = !*path ? -ENOMEM : make_folders(*path);
	if (!ret && !says(*path, text))
		ret = write_text(*path, text);
	if (!ret)
		return 0;
	text_format(error, size, "%s: cannot write: %s", *path ? *path : folder, strerror(-ret));
	free(*path);
	*path = NULL;
	return ret;
}

char *pointer_file_cache(const char *kind)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *folder;
	int n = -1;

	if (cache && *cache == '/')
		n = asprintf(&folder, "%s/kshark-virt/%s", cache, kind);
	else if (home && *home == '/')
		n = asprintf(&folder, "%s/.cache/kshark-virt/%s", home, kind);
	return n < 0 ? NULL : folder;
}
