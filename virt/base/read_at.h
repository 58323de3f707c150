/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	read_at.h
 * @brief	Read all bytes at an offset of a file.
 */
#ifndef KSHARK_VIRT_READ_AT_H
#define KSHARK_VIRT_READ_AT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/** read_at - Return: 0, -EIO if the file ends before, or another negative errno */
static inline int read_at(int fd, void *data, size_t n, uint64_t offset)
{
	uint8_t *to = (uint8_t *)data;

	while (n) {
		ssize_t done = pread(fd, to, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		to += done;
		n -= (size_t)done;
		offset += (uint64_t)done;
	}
	return 0;
}

#endif
