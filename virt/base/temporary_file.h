/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	temporary_file.h
 * @brief	Temporary files that vanish with the process, however it ends.
 */
#ifndef KSHARK_VIRT_TEMPORARY_FILE_H
#define KSHARK_VIRT_TEMPORARY_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** temporary_directory - Return: TMPDIR, or /tmp. */
static inline const char *temporary_directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/** temporary_file - a file without a name. Return: its descriptor or a negative errno. */
static inline int temporary_file(void)
{
	const char *dir = temporary_directory();
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd >= 0 ? fd : -errno;
	if (asprintf(&path, "%s/kshark-virt-XXXXXX", dir) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(path);
	free(path);
	return fd;
}

#endif
