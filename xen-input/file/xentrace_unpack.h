/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_unpack.h
 * @brief	Read bytes from gzip or zstd data, or from a source that can be read only once.
 */
#ifndef KSHARK_VIRT_XENTRACE_UNPACK_H
#define KSHARK_VIRT_XENTRACE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A source of bytes that unpacks as it goes. */
struct xentrace_source;

/** xentrace_is_packed - do compressed data begin with these bytes? Four are enough. */
bool xentrace_is_packed(const uint8_t *head, size_t n);

/**
 * xentrace_source_new - read from where @fd stands
 * @in_size: of the pieces that are read: 8 bytes at least
 *
 * Return: NULL with errno.
 */
struct xentrace_source *xentrace_source_new(int fd, size_t in_size);
void xentrace_source_free(struct xentrace_source *src);

/**
 * xentrace_source_read - up to @size unpacked bytes
 *
 * Return: 0 at the end, -EILSEQ for corrupt packed data, -ENOMEM, or the errno of reading.
 */
ssize_t xentrace_source_read(struct xentrace_source *src, uint8_t *out, size_t size);

/** xentrace_source_total - packed bytes so far. */
uint64_t xentrace_source_total(const struct xentrace_source *src);

/** xentrace_source_packed - are they packed? */
bool xentrace_source_packed(const struct xentrace_source *src);

#endif
