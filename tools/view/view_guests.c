// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	view_guests.c
 * @brief	Make files for guests that have none, from their reports in the host's trace.
 *
 * KernelShark and its sessions open files. For sessions, these files must stay where they are and
 * not be written again. So they are in the user's cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "guest_trace.h"
#include "options.h"
#include "pointer_file.h"
#include "view.h"

/** A copy of what came through a pipe goes, and what stands for its guests with it. */
static bool is_temporary(const struct view_files *files, const char *path)
{
	char *temp = files->temp ? realpath(files->temp, NULL) : NULL;
	char *real = temp ? realpath(path, NULL) : NULL;
	size_t n = real ? strlen(temp) : 0;
	bool is = n && !strncmp(real, temp, n) && real[n] == '/';

	free(real);
	free(temp);
	return is;
}

/** @name is used up. */
static int add_name(struct view_files *files, char *name)
{
	if (!name || ARRAY_GROW(files->names, files->n_names, files->names_room)) {
		free(name);
		return -ENOMEM;
	}
	files->names[files->n_names++] = name;
	return 0;
}

static int add_guest(struct view_files *files, const struct guest_pointer *pointer)
{
	bool temporary = is_temporary(files, pointer->host);
	char *folder = temporary ? strdup(files->temp) : pointer_file_cache("guests");
	char *path = NULL, error[512] = "there is no place for it: set HOME";
	int ret = folder ? guest_pointer_write(folder, pointer, &path, error, sizeof(error)) :
		  -ENOENT;

	free(folder);
	if (ret) {
		ksv_error("%s: the events of its guest %s are not shown: %s", pointer->host,
			  pointer->machine, error);
		return 0;
	}
	if (strchr(path, ' ')) {
		char *name = view_link_name(files, path, "KernelShark cannot append a file with a "
					    "blank in its name");

		free(path);
		path = name;
	}
	return path ? add_name(files, path) : -ENOMEM;
}

/** Of one file. */
static int add_guests(struct view_files *files, const char *path)
{
	const struct view_guests *wanted = &files->guests;
	struct guest_list list;
	char error[512];
	int ret = 0;

	if (guest_list_find(path, &wanted->options, wanted->dialect, wanted->kallsyms, &list,
			    error, sizeof(error)))
		ksv_error("%s", error);
	for (int i = 0; i < list.n && !ret && !view_signal(); i++) {
		ksv_note("%s: %s", list.pointers[i].machine, list.why[i]);
		ret = add_guest(files, &list.pointers[i]);
	}
	guest_list_free(&list);
	return ret;
}

int view_add_guests(struct view_files *files)
{
	int ret = 0;

	for (int i = 0; i < files->n && !ret; i++)
		if (files->calls[i] && !view_signal())
			ret = add_guests(files, files->names[i]);
	return ret ? ret : view_signal() ? -EINTR : 0;
}
