/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_file.h
 * @brief	Read the bytes of a trace file as one range, from any source.
 *
 * Files are read, never mapped: a file that is shortened in the meantime, or a disk that fails,
 * must not end the process. The bytes count only as long as the file is the one that was opened.
 */
#ifndef KSHARK_VIRT_XENTRACE_FILE_H
#define KSHARK_VIRT_XENTRACE_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "xentrace_reader.h"

struct xentrace_watch;

/** An open file, or a range of memory. */
struct xentrace_file {
	const uint8_t	*memory;	/* NULL: fd */
	uint64_t	begin;		/* memory: offset of its first byte; there is none before */
	int		fd;
	uint64_t	size;		/* when it was opened */
	bool		cut_short;	/* the compressed data ended early or is corrupt */
	struct xentrace_watch *watch;	/* NULL: nothing can change */
};

/**
 * xentrace_file_open - open a plain file; copy a FIFO, stdin ("-"), gzip or zstd data to an
 * unlinked temporary file first
 *
 * Return: 0, or a negative errno with a text in @error.
 */
int xentrace_file_open(struct xentrace_file *file, const char *path,
		       const struct xentrace_options *options, char *error, size_t error_size);
void xentrace_file_close(struct xentrace_file *file);

/**
 * xentrace_file_read - bytes from an offset on, for any number of threads
 *
 * Return: how many; less than @n only at the end, or if the file is not what it was any more
 * (xentrace_file_change()).
 */
size_t xentrace_file_read(const struct xentrace_file *file, void *buf, uint64_t offset, size_t n);

/**
 * xentrace_file_change - what has become of the file since it was opened
 * @now: receives its size now; may be NULL
 */
enum xentrace_change xentrace_file_change(const struct xentrace_file *file, uint64_t *now);

/** xentrace_file_condemn - what was read cannot be what was there when it was opened. */
void xentrace_file_condemn(const struct xentrace_file *file);

/** xentrace_file_errno - why it cannot be read (XENTRACE_UNREADABLE). */
int xentrace_file_errno(const struct xentrace_file *file);

/**
 * xentrace_file_peek - the first bytes of a regular file, uncompressed
 *
 * Return: number of bytes, or a negative errno.
 */
int xentrace_file_peek(const char *path, uint8_t *buf, size_t size);

/** xentrace_set_error - snprintf() into an optional error text. */
void xentrace_set_error(char *error, size_t error_size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- xentrace_watch.c ---- */

/**
 * xentrace_watch_new - remember what an open file is
 * @path: where a new one of that name would be; NULL if it has none
 * @copied: what is read is a copy of it, which stays
 *
 * Return: NULL without memory.
 */
struct xentrace_watch *xentrace_watch_new(int fd, const struct stat *st, const char *path,
					  bool copied);
void xentrace_watch_free(struct xentrace_watch *watch);

/** xentrace_watch_stale - must nothing more be read? Cheap. */
bool xentrace_watch_stale(struct xentrace_watch *watch);

/** xentrace_watch_failed - reading failed for this reason; 0: the end came too early. */
void xentrace_watch_failed(struct xentrace_watch *watch, int error);

enum xentrace_change xentrace_watch_change(struct xentrace_watch *watch, uint64_t *now);
int xentrace_watch_errno(struct xentrace_watch *watch);

/* ---- xentrace_blocks.c ---- */

/** Size of a block; what begins in it and is no longer than XENTRACE_TAIL lies in it as a whole. */
#define XENTRACE_BLOCK	((uint64_t)64 << 10)
#define XENTRACE_TAIL	64

/** A part of a file in memory; behind the file's end there are zeros. */
struct xentrace_block {
	struct xentrace_block	*next;		/* with the same hash */
	struct xentrace_block	*newer, *older;	/* idle ones */
	uint64_t		number;		/* begins at number * XENTRACE_BLOCK */
	uint32_t		users;
	uint8_t			data[XENTRACE_BLOCK + XENTRACE_TAIL];
};

/** Blocks of a file that are in use, and some that were; of one thread. */
struct xentrace_blocks {
	const struct xentrace_file *file;
	struct xentrace_block	**table;	/* by number, modulo its size */
	uint32_t		n_table;
	uint32_t		n_blocks;
	struct xentrace_block	*newest, *oldest;	/* idle */
	uint32_t		n_idle;
	int			error;		/* 0, -ENOMEM, or -ESTALE: could not be read */
};

void xentrace_blocks_init(struct xentrace_blocks *blocks, const struct xentrace_file *file);
void xentrace_blocks_destroy(struct xentrace_blocks *blocks);

/** xentrace_blocks_get - the block at an offset. Return: NULL, with the reason in blocks->error. */
struct xentrace_block *xentrace_blocks_get(struct xentrace_blocks *blocks, uint64_t offset);

/** xentrace_blocks_put - it is not needed any more; NULL is allowed. */
void xentrace_blocks_put(struct xentrace_blocks *blocks, struct xentrace_block *block);

#endif
