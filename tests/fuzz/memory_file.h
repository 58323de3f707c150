/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	memory_file.h
 * @brief	Bytes as a file, for what reads only files.
 */
#ifndef KSHARK_VIRT_FUZZ_MEMORY_FILE_H
#define KSHARK_VIRT_FUZZ_MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct memory_file {
	int		fd;
	char		path[32];
};

/** memory_file - a file in memory, and a name by which it can be opened. Close @fd. */
static inline struct memory_file memory_file(const void *data, size_t size)
{
	struct memory_file file = { .fd = memfd_create("fuzz", MFD_CLOEXEC) };

	if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size ||
	    lseek(file.fd, 0, SEEK_SET))
		abort();
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

#endif
