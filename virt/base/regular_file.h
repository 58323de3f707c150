/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	regular_file.h
 * @brief	Open a regular file; refuse a pipe without waiting for its writer.
 */
#ifndef KSHARK_VIRT_REGULAR_FILE_H
#define KSHARK_VIRT_REGULAR_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** @failed: what stat() or fstat() returned. Return: 0 or a negative errno, as below. */
static inline int regular_file_check(int failed, const struct stat *st)
{
	if (failed)
		return -errno;
	return S_ISREG(st->st_mode) ? 0 : S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
}

/** @no_link: AT_SYMLINK_NOFOLLOW, or 0. Return: as regular_file_open(). */
static inline int regular_file_open_at(const char *path, int no_link)
{
	struct stat st;
	int fd, ret = regular_file_check(fstatat(AT_FDCWD, path, &st, no_link), &st);

	if (ret)
		return no_link && ret == -EINVAL && S_ISLNK(st.st_mode) ? -ELOOP : ret;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (no_link ? O_NOFOLLOW : 0));
	if (fd < 0)
		return -errno;
	/* the name may stand for something else by now */
	ret = regular_file_check(fstat(fd, &st), &st);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/**
 * regular_file_open - open a regular file to read
 *
 * Whatever else has that name is not waited for, and nothing is taken from it. A FIFO is not even
 * opened: its writer, who has waited for a reader, would find that it is gone again (SIGPIPE).
 *
 * Return: its descriptor; -EISDIR, -EINVAL for what is no regular file; or another negative errno.
 */
static inline int regular_file_open(const char *path)
{
	return regular_file_open_at(path, 0);
}

/** regular_file_open_itself - the same, but a link is not followed. Return: -ELOOP for a link. */
static inline int regular_file_open_itself(const char *path)
{
	return regular_file_open_at(path, AT_SYMLINK_NOFOLLOW);
}

/**
 * regular_file_start - the first bytes of a regular file, with a NUL behind them
 * @size: of @text, at least 1
 *
 * Return: how many; or a negative errno, and @text is empty.
 */
static inline ssize_t regular_file_start(const char *path, char *text, size_t size)
{
	int fd = regular_file_open(path);
	ssize_t got = fd;
	size_t n = 0;

	while (fd >= 0 && n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	if (fd >= 0 && got < 0)
		got = -errno;
	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : n] = '\0';
	return got < 0 ? got : (ssize_t)n;
}

/** regular_file_error - Return: what strerror() says, and of -EINVAL that it is no regular file. */
static inline const char *regular_file_error(int error)
{
	return error == -EINVAL ? "not a regular file" : strerror(-error);
}

#endif
