/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	cut.c
 * @brief	For LD_PRELOAD: before pread() number CUT_AT, CUT_FILE is cut to CUT_SIZE bytes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef ssize_t (*pread_fn)(int fd, void *buf, size_t size, off_t offset);

static atomic_long count;

static void cut(void)
{
	const char *at = getenv("CUT_AT"), *file = getenv("CUT_FILE"), *size = getenv("CUT_SIZE");

	if (at && file && size && ++count == atol(at) && truncate(file, atol(size)))
		abort();
}

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	cut();
	return ((pread_fn)dlsym(RTLD_NEXT, "pread"))(fd, buf, size, offset);
}

ssize_t pread64(int fd, void *buf, size_t size, off64_t offset)
{
	cut();
	return ((pread_fn)dlsym(RTLD_NEXT, "pread64"))(fd, buf, size, offset);
}
