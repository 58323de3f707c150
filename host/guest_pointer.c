// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_pointer.c
 * @brief	Read and write the file that stands for a guest without a trace of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "guest_pointer.h"
#include "json_read.h"
#include "pointer_file.h"
#include "virt_model.h"

#define KEY		"kshark_virt_guest"
#define VERSION		1
#define ENDING		".hypertrace"

/* --- reading --------------------------------------------------------------------------------- */

bool guest_pointer_is(const char *path)
{
	return pointer_file_is(path, KEY);
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
		ret = pointer_file_path(&pointer->host, path);
	if (!ret)
		ret = pointer_file_path(&pointer->kallsyms, path);
	/* without one of these in it, it is a name */
	if (!ret && pointer->dialect && strpbrk(pointer->dialect, "./"))
		ret = pointer_file_path(&pointer->dialect, path);
	return ret;
}

int guest_pointer_read(const char *path, struct guest_pointer *pointer, char *error, size_t size)
{
	struct json_object *root = NULL;
	int64_t thread, version;
	int ret;

	*pointer = (struct guest_pointer){ .thread = VIRT_NONE };
	text_format(error, size, "%s: is not what 'kshark-virt view' writes for a guest", path);
	ret = pointer_file_read(path, KEY, &root, error, size);
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

static struct json_object *object_of(const struct guest_pointer *pointer)
{
	struct json_object *root = json_object_new_object();

	if (root && !json_add(root, KEY, json_object_new_int(VERSION)) &&
	    pointer_file_text(root, "host", pointer->host) &&
	    pointer_file_text(root, "machine", pointer->machine) &&
	    !json_add(root, "thread", json_object_new_int(pointer->thread)) &&
	    pointer_file_text(root, "dialect", pointer->dialect) &&
	    pointer_file_text(root, "kallsyms", pointer->kallsyms))
		return root;
	json_object_put(root);
	return NULL;
}

int guest_pointer_write(const char *folder, const struct guest_pointer *pointer, char **path,
			char *error, size_t size)
{
	struct json_object *root = object_of(pointer);
	char name[2 * POINTER_FILE_NAME + sizeof(ENDING) + 2];
	int ret;

	*path = NULL;
	if (!root) {
		text_format(error, size, "%s: the files of its guests need a name in UTF-8: rename "
			    "it", pointer->host);
		return -EILSEQ;
	}
	/* "trace-g1" */
	pointer_file_name(name, sizeof(name) - sizeof(ENDING), pointer->host,
			  pointer->machine ? pointer->machine : "guest");
	strcat(name, ENDING);
	ret = pointer_file_write(folder, root, name, path, error, size);
	json_object_put(root);
	return ret;
}
