/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	file_tree.h
 * @brief	A tree of files of a test's own, in place of /sys and /proc.
 *
 * For setup and teardown of cmocka; to be included by one file of a program, after cmocka.h.
 */
#ifndef KSHARK_VIRT_FILE_TREE_H
#define KSHARK_VIRT_FILE_TREE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** The folder that stands for /. */
static char root[64];

/** put_bytes - a file below the root, with all folders above it */
static inline void put_bytes(const char *path, const char *text, size_t size)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

static inline void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/ksv-file-tree-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

#endif
