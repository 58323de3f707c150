// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	sidecar.c
 * @brief	Find the sidecar of a trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "sidecar.h"

/** The path of a compressed file without its last ending. Return: NULL if it has another one. */
static char *unpacked_path(const char *path)
{
	static const char *const endings[] = { ".gz", ".zst" };
	size_t length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);

		if (length > n && !strcmp(path + length - n, endings[i]))
			return strndup(path, length - n);
	}
	return NULL;
}

/** The name of a sidecar is the name of its trace with this ending. */
static const char ending[] = ".meta.json";

char *sidecar_path(const char *trace_path)
{
	char *path;

	return asprintf(&path, "%s%s", trace_path, ending) < 0 ? NULL : path;
}

char *sidecar_trace(const char *path)
{
	size_t length = strlen(path), n = strlen(ending);

	if (length > n && !strcmp(path + length - n, ending))
		return strndup(path, length - n);
	errno = ENOENT;
	return NULL;
}

char *sidecar_find(const char *trace_path)
{
	char *path = sidecar_path(trace_path);
	char *unpacked;

	if (path && access(path, F_OK)) {
		free(path);
		unpacked = unpacked_path(trace_path);
		path = unpacked ? sidecar_path(unpacked) : NULL;
		free(unpacked);
	}
	if (path && !access(path, F_OK))
		return path;
	free(path);
	return NULL;
}
