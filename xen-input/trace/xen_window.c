// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_window.c
 * @brief	A small file that stands for a window of a xentrace file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "json_fields.h"
#include "json_read.h"
#include "pointer_file.h"
#include "xen_window.h"

#define KEY		"kshark_virt_window"
#define VERSION		1
#define ENDING		".window"

bool xen_window_is(const char *path)
{
	return pointer_file_is(path, KEY);
}

#define A_TIME(member)	{ JSON_A_VALUE(#member, struct xen_window, member, 0) }

static const struct json_field times[] = {
	A_TIME(from_ns), A_TIME(to_ns), A_TIME(begin_ns), A_TIME(end_ns),
	JSON_FIELDS_END
};

int xen_window_read(const char *path, struct xen_window *window, char *error, size_t size)
{
	struct json_object *root = NULL;
	struct json_wrong wrong;
	int64_t version, rest;
	int ret;

	*window = (struct xen_window){ 0 };
	text_format(error, size, "%s: is not what 'kshark-virt view' writes for a window", path);
	ret = pointer_file_read(path, KEY, &root, error, size);
	if (ret)
		return ret;
	version = json_number_member(root, KEY, 0);
	ret = json_text_member(root, "trace", &window->trace);
	if (!ret)
		ret = pointer_file_path(&window->trace, path);
	json_fields_read(root, times, window, &wrong);
	json_object_put(root);
	if (ret) {
		text_format(error, size, "not enough memory");
		return ret;
	}
	if (version == VERSION && window->trace && window->from_ns < window->to_ns &&
	    !__builtin_sub_overflow(window->from_ns, window->begin_ns, &rest) &&
	    !__builtin_sub_overflow(window->to_ns, window->begin_ns, &rest))
		return 0;
	if (version != VERSION)
		text_format(error, size, "%s: is of version %lld, and only %d is known: open the "
			    "trace with 'kshark-virt view --from --to'", path, (long long)version,
			    VERSION);
	else
		text_format(error, size, "%s: has no %s: open the trace with 'kshark-virt view "
			    "--from --to'", path, window->trace ? "window" : "trace");
	return -EINVAL;
}

void xen_window_free(struct xen_window *window)
{
	free(window->trace);
	memset(window, 0, sizeof(*window));
}

int xen_window_write(const char *folder, const struct xen_window *window, char **path,
		     char *error, size_t size)
{
	struct json_object *root = json_object_new_object();
	char name[2 * POINTER_FILE_NAME + sizeof(ENDING) + 2], of[64];
	int ret = root ? json_add(root, KEY, json_object_new_int(VERSION)) : -ENOMEM;

	*path = NULL;
	if (!ret && !pointer_file_text(root, "trace", window->trace))
		ret = -EILSEQ;
	if (!ret)
		ret = json_fields_write(root, times, window);
	if (ret) {
		text_format(error, size, "%s: %s", window->trace, ret == -EILSEQ ?
			    "a window needs a trace with a name in UTF-8: rename it" :
			    "not enough memory");
		json_object_put(root);
		return ret;
	}
	snprintf(of, sizeof(of), "%.3f-%.3fs", (double)window->from_ns / 1e9,
		 (double)window->to_ns / 1e9);
	pointer_file_name(name, sizeof(name) - sizeof(ENDING), window->trace, of);
	strcat(name, ENDING);
	ret = pointer_file_write(folder, root, name, path, error, size);
	json_object_put(root);
	return ret;
}

int xen_window_text(char *text, size_t size, const struct xen_window *window)
{
	return snprintf(text, size, "from %.3f to %.3f s of %.3f to %.3f s",
			(double)window->from_ns / 1e9, (double)window->to_ns / 1e9,
			(double)window->begin_ns / 1e9, (double)window->end_ns / 1e9);
}
