/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_file.h
 * @brief	Bytes of a trace file, wherever they come from, as one mapped range.
 */
#ifndef KSHARK_VIRT_XENTRACE_FILE_H
#define KSHARK_VIRT_XENTRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xentrace_reader.h"

/** A mapped file. */
struct xentrace_file {
	const uint8_t	*data;
	size_t		size;
	bool		mapped;		/* data comes from mmap() */
	bool		cut_short;	/* the compressed data ended early or is corrupt */
};

/**
 * xentrace_file_open - map a plain file; copy a FIFO, stdin ("-"), gzip or zstd data to an unlinked
 * temporary file first and map that
 *
 * Return: 0, or a negative errno with a text in @error.
 */
int xentrace_file_open(struct xentrace_file *file, const char *path,
		       const struct xentrace_options *options, char *error, size_t error_size);
void xentrace_file_close(struct xentrace_file *file);

/** xentrace_file_drop - give back the memory of a range; it can still be read afterwards. */
void xentrace_file_drop(const struct xentrace_file *file, uint64_t begin, uint64_t end);

/**
 * xentrace_file_peek - the first bytes of a regular file, uncompressed
 *
 * Return: number of bytes, or a negative errno.
 */
int xentrace_file_peek(const char *path, uint8_t *buf, size_t size);

/** xentrace_set_error - snprintf() into an optional error text. */
void xentrace_set_error(char *error, size_t error_size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
