/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	write_at.h
 * @brief	Write all bytes at an offset of a file.
 */
#ifndef KSHARK_VIRT_WRITE_AT_H
#define KSHARK_VIRT_WRITE_AT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/** write_at - Return: 0, or a negative errno; a part of the bytes may be written then */
static inline int write_at(int fd, const void *data, size_t n, uint64_t offset)
{
	const uint8_t *from = (const uint8_t *)data;

	while (n) {
		ssize_t done = pwrite(fd, from, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -ENOSPC;
		from += done;
		n -= (size_t)done;
		offset += (uint64_t)done;
	}
	return 0;
}

#endif
