/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_copy.h
 * @brief	Read the first bytes of files that are compressed or come from a pipe, and copy such
 *		files.
 */
#ifndef KSHARK_VIRT_XENTRACE_COPY_H
#define KSHARK_VIRT_XENTRACE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * xentrace_head - the first bytes of a file, unpacked
 * @path: of a regular file; or "-", for standard input, or of a pipe without a name: what waits in
 * it stays there, and one that is empty is waited for
 * @is_copied: receives whether it can be read only as a copy
 *
 * Return: number of bytes; 0 for what is neither; or a negative errno.
 */
int xentrace_head(const char *path, uint8_t *buf, size_t size, bool *is_copied);

/**
 * xentrace_copy - unpack a file, or read a pipe to its end, into an unlinked temporary file
 * @max_input: as in struct xentrace_options
 *
 * Return: its descriptor, or a negative errno with a text in @error.
 */
int xentrace_copy(const char *path, uint64_t max_input, char *error, size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
