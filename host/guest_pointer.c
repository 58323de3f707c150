// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_pointer.c
 * @brief	A small file that stands for a guest without a trace of its own.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "escape.h"
#include "guest_pointer.h"
#include "json_read.h"
#include "virt_model.h"
#include "whole_file.h"

#define KEY		"kshark_virt_guest"
#define VERSION		1
#define ENDING		".hypertrace"

/** A pointer is small: what is larger is something else. */
#define MOST_BYTES	65536

/** Of names in its name, so that all of it is one that file systems take. */
#define MOST_NAME	80

/* --- reading --------------------------------------------------------------------------------- */

/** Return: 0, -EINVAL without a text for what is no such file, or another negative errno. */
static int parse(const char *path, struct json_object **root, char *error, size_t size)
{
	char *text;
	size_t length;
	int ret = whole_file_read(path, MOST_BYTES, &text, &length);

	if (ret) {
		text_format(error, size, "%s: cannot read: %s", path, strerror(-ret));
		return ret;
	}
	/* cheap, as any file may be asked about */
	ret = strstr(text, "\"" KEY "\"") ? json_read_text(path, text, length, root, error, size) :
	      -EINVAL;
	free(text);
	return ret;
}

bool guest_pointer_is(const char *path)
{
	struct json_object *root = NULL;
	char error[8];
	bool is = !parse(path, &root, error, sizeof(error)) &&
		  json_member(root, KEY, json_type_int);

	json_object_put(root);
	return is;
}

/** What is relative to the file @path. */
static int find_path(char **file, const char *path)
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

static int take_members(struct json_object *root, const char *path, struct guest_pointer *pointer)
{
	int ret = json_text_member(root, "host", &pointer->host);

	if (!ret)
		ret = json_text_member(root, "machine", &pointer->machine);
	if (!ret)
		ret = json_text_member(root, "dialect", &pointer->dialect);
	if (!ret)
		ret = json_text_member(root, "kallsyms", &pointer->kallsyms);
	if (!ret)
		ret = find_path(&pointer->host, path);
	if (!ret)
		ret = find_path(&pointer->kallsyms, path);
	/* without one of these in it, it is a name */
	if (!ret && pointer->dialect && strpbrk(pointer->dialect, "./"))
		ret = find_path(&pointer->dialect, path);
	return ret;
}

int guest_pointer_read(const char *path, struct guest_pointer *pointer, char *error, size_t size)
{
	struct json_object *root = NULL;
	int64_t thread, version;
	int ret;

	*pointer = (struct guest_pointer){ .thread = VIRT_NONE };
	text_format(error, size, "%s: is not what 'kshark-virt view' writes for a guest", path);
	ret = parse(path, &root, error, size);
	if (ret)
		return ret;
	version = json_number_member(root, KEY, 0);
	thread = json_number_member(root, "thread", VIRT_NONE);
	ret = take_members(root, path, pointer);
	json_object_put(root);
	if (ret) {
		text_format(error, size, "not enough memory");
		return ret;
	}
	if (version != VERSION)
		text_format(error, size, "%s: is of version %lld, and only %d is known: open the "
			    "host's trace with 'kshark-virt view'", path, (long long)version,
			    VERSION);
	else if (!pointer->host || thread < 0 || thread > INT32_MAX)
		text_format(error, size, "%s: has no %s: open the host's trace with 'kshark-virt "
			    "view'", path, pointer->host ? "thread" : "host");
	else
		pointer->thread = (int32_t)thread;
	return pointer->thread == VIRT_NONE ? -EINVAL : 0;
}

void guest_pointer_free(struct guest_pointer *pointer)
{
	free(pointer->host);
	free(pointer->machine);
	free(pointer->dialect);
	free(pointer->kallsyms);
	memset(pointer, 0, sizeof(*pointer));
}

/* --- writing --------------------------------------------------------------------------------- */

/** Return: false without memory, or if it is a text that JSON cannot have. */
static bool add_text(struct json_object *root, const char *key, const char *text)
{
	struct json_object *value = text ? json_text_new(text) : NULL;
	bool whole = value && !strcmp(json_object_get_string(value), text);

	if (text && !whole) {
		json_object_put(value);
		return false;
	}
	return !text || !json_add(root, key, value);
}

static struct json_object *object_of(const struct guest_pointer *pointer)
{
	struct json_object *root = json_object_new_object();

	if (root && !json_add(root, KEY, json_object_new_int(VERSION)) &&
	    add_text(root, "host", pointer->host) && add_text(root, "machine", pointer->machine) &&
	    !json_add(root, "thread", json_object_new_int(pointer->thread)) &&
	    add_text(root, "dialect", pointer->dialect) &&
	    add_text(root, "kallsyms", pointer->kallsyms))
		return root;
	json_object_put(root);
	return NULL;
}

/** Of what it says: two that are called alike are told apart. */
static uint64_t number_of(const char *text)
{
	uint64_t number = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		number = (number ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return number;
}

/** "trace-g1", of what every file system and KernelShark take. */
static void name_of(char *name, size_t size, const struct guest_pointer *pointer)
{
	const char *slash = strrchr(pointer->host, '/');
	const char *base = slash ? slash + 1 : pointer->host, *dot = strrchr(base, '.');
	int n = dot && dot > base ? (int)(dot - base) : (int)strlen(base);

	if (n > MOST_NAME)
		n = MOST_NAME;
	snprintf(name, size, "%.*s-%.*s", n, base, MOST_NAME,
		 pointer->machine ? pointer->machine : "guest");
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

int guest_pointer_write(const char *folder, const struct guest_pointer *pointer, char **path,
			char *error, size_t size)
{
	struct json_object *root = object_of(pointer);
	const char *text = root ? json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
						      JSON_C_TO_STRING_NOSLASHESCAPE) :
			   NULL;
	char name[2 * MOST_NAME + 2];
	int ret;

	*path = NULL;
	if (!text) {
		text_format(error, size, "%s: its name is no UTF-8, which what stands for its "
			    "guests needs", pointer->host);
		json_object_put(root);
		return -EILSEQ;
	}
	name_of(name, sizeof(name), pointer);
	if (asprintf(path, "%s/%016llx/%s" ENDING, folder, (unsigned long long)number_of(text),
		     name) < 0)
		*path = NULL;
	ret = !*path ? -ENOMEM : make_folders(*path);
	if (!ret && !says(*path, text))
		ret = write_text(*path, text);
	json_object_put(root);
	if (!ret)
		return 0;
	text_format(error, size, "%s: cannot write: %s", *path ? *path : folder, strerror(-ret));
	free(*path);
	*path = NULL;
	return ret;
}
