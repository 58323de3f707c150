// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	view_session.c
 * @brief	Check whether KernelShark can restore a session.
 *
 * KernelShark opens a trace only if the trace is unchanged since the session was saved, and crashes
 * if the session has a marker in a trace that was not opened.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "json_read.h"
#include "options.h"
#include "view.h"

/** Return: false if it cannot be opened, which has been said. */
static bool check_trace(const char *session, struct json_object *data)
{
	struct json_object *file = json_member(data, "file", json_type_string);
	int64_t time = json_number_member(data, "time", -1);
	const char *path = file ? json_object_get_string(file) : NULL;
	struct stat st;

	if (!path)
		return true;
	if (stat(path, &st)) {
		ksv_error("%s: its trace %s: %s; open the trace itself", session, path,
			  strerror(errno));
		return false;
	}
	if (st.st_mtime != time) {
		ksv_error("%s: its trace %s was changed since the session was saved, so "
			  "KernelShark does not restore it; open the trace itself", session,
			  path);
		return false;
	}
	return true;
}

bool view_check_session(const char *path)
{
	struct json_object *root, *streams;
	char error[512];
	bool good = true;

	if (!view_check_readable(path))
		return false;
	if (json_read_file(path, &root, error, sizeof(error))) {
		ksv_error("%s", error);
		return false;
	}
	streams = json_member(root, "data streams", json_type_array);
	for (size_t i = 0; streams && good && i < json_object_array_length(streams); i++)
		good = check_trace(path, json_member(json_object_array_get_idx(streams, i), "data",
						     json_type_object));
	json_object_put(root);
	return good;
}
