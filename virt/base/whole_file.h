/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	whole_file.h
 * @brief	Write a file so that it is either complete or as it was before.
 *
 * The file is written under another name in the same folder, and renamed when it is complete. A
 * file that is not regular (a pipe, a terminal, /dev/null, /dev/stdout) is written to directly. A
 * symbolic link stays a link: its target is replaced. The mode and, if possible, the owner stay.
 */
#ifndef KSHARK_VIRT_WHOLE_FILE_H
#define KSHARK_VIRT_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How long to wait for others who write into the same folder, locked. */
#define WHOLE_FILE_WAIT_S	10

/** A random name, longer than anybody guesses. */
#define WHOLE_FILE_NAME		40

struct whole_file {
	int		fd;	/* to write to */
	int		dir;	/* the folder; -1: written to directly */
	int		slot;	/* of those that a signal removes, or -1 */
	char		*base;	/* what it is called in the end */
	char		name[WHOLE_FILE_NAME];
};

/**
 * whole_file_open - begin to write
 * @file: on success, to be given to whole_file_commit() or whole_file_discard()
 * @locked: wait for all others who write a file of this folder so, until it is whole: what is
 *	read from now on is not changed by them. The lock leaves nothing behind.
 *
 * Return: 0 or a negative errno; -EAGAIN if the folder stays locked, -EINVAL if what is to be
 * locked is no regular file.
 */
int whole_file_open(struct whole_file *file, const char *path, bool locked);

/** whole_file_write - add to it. Return: 0 or a negative errno; then it has to be discarded. */
int whole_file_write(struct whole_file *file, const void *data, size_t size);

/** whole_file_commit - all is written: keep it. Return: 0 or a negative errno; then it is not. */
int whole_file_commit(struct whole_file *file);

/** whole_file_discard - leave everything as it was. */
void whole_file_discard(struct whole_file *file);

/** whole_file_discard_all - for the handler of a signal that ends the process. */
void whole_file_discard_all(void);

/**
 * whole_file_read - all of a file that must be a regular one and not larger than it can be
 * @text: receives it with a NUL behind it, to be freed
 *
 * Return: 0 or a negative errno; -EINVAL for what is no regular file, -EFBIG above @max bytes.
 */
int whole_file_read(const char *path, size_t max, char **text, size_t *size);

#ifdef __cplusplus
}
#endif
#endif
