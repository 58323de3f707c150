// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_watch.c
 * @brief	Check that an open file is still the one that was opened.
 *
 * A file that xentrace still writes to grows, and its old bytes stay. A file that is recorded again
 * under the same name is cut to nothing first, and may have grown beyond its old size before the
 * next check: then its first and last bytes differ, because no two recordings have the same times.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash_bytes.h"
#include "xentrace_file.h"

/** Bytes at the beginning and at the end that distinguish recordings. */
#define SAMPLE_BYTES	4096

struct xentrace_watch {
	int		fd;
	char		*path;		/* or NULL */
	bool		copied;
	struct stat	opened;
	uint64_t	sample;		/* a hash of the first and last bytes */
	atomic_int	change;		/* only what cannot be undone: CHANGED, UNREADABLE */
	pthread_mutex_t	lock;		/* of what follows */
	struct stat	grown;		/* how it was when it had but grown */
	uint64_t	now;		/* its size when it was found changed */
	int		error;
};

static bool same_content(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/** Of the bytes at the beginning and the end of what was opened. */
static uint64_t sample_of(int fd, uint64_t size)
{
	uint64_t hash = HASH_BYTES_NONE, begin = 0;
	uint8_t buf[SAMPLE_BYTES];

	for (int i = 0; i < 2; i++) {
		ssize_t n = pread(fd, buf, size < sizeof(buf) ? size : sizeof(buf), begin);

		hash = hash_bytes(hash, buf, n > 0 ? (size_t)n : 0);
		begin = size < sizeof(buf) ? 0 : size - sizeof(buf);
	}
	return hash;
}

struct xentrace_watch *xentrace_watch_new(int fd, const struct stat *st, const char *path,
					  bool copied)
{
	struct xentrace_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->fd = fd;
	watch->copied = copied;
	watch->opened = watch->grown = *st;
	watch->now = st->st_size;
	watch->path = path ? strdup(path) : NULL;
	if (path && !watch->path) {
		free(watch);
		return NULL;
	}
	if (!copied)
		watch->sample = sample_of(fd, st->st_size);
	pthread_mutex_init(&watch->lock, NULL);
	return watch;
}

void xentrace_watch_free(struct xentrace_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_destroy(&watch->lock);
	free(watch->path);
	free(watch);
}

/** From now on it counts as changed, or as unreadable; what was first remains. With the lock. */
static void condemn(struct xentrace_watch *watch, enum xentrace_change change, uint64_t now,
		    int error)
{
	if (watch->change)
		return;
	watch->now = now;
	watch->error = error;
	watch->change = change;
}

/** Size or time are not what they were: has it but grown? With the lock. */
static void look_closely(struct xentrace_watch *watch, const struct stat *st)
{
	if (same_content(st, &watch->grown))
		return;
	if (st->st_size > watch->opened.st_size &&
	    sample_of(watch->fd, watch->opened.st_size) == watch->sample) {
		watch->grown = *st;
		watch->now = st->st_size;
		return;
	}
	condemn(watch, XENTRACE_CHANGED, st->st_size, 0);
}

bool xentrace_watch_stale(struct xentrace_watch *watch)
{
	struct stat st;

	if (watch->change)
		return true;
	if (watch->copied || fstat(watch->fd, &st) || same_content(&st, &watch->opened))
		return false;
	pthread_mutex_lock(&watch->lock);
	look_closely(watch, &st);
	pthread_mutex_unlock(&watch->lock);
	return watch->change;
}

void xentrace_watch_failed(struct xentrace_watch *watch, int error)
{
	struct stat st = { 0 };

	if (fstat(watch->fd, &st) && !error)
		error = errno;
	pthread_mutex_lock(&watch->lock);
	condemn(watch, error ? XENTRACE_UNREADABLE : XENTRACE_CHANGED, st.st_size, error);
	pthread_mutex_unlock(&watch->lock);
}

/** Does its name belong to another file by now, or a copy to another content? */
static bool replaced(const struct xentrace_watch *watch, struct stat *st)
{
	if (!watch->path || stat(watch->path, st))
		return false;
	return st->st_dev != watch->opened.st_dev || st->st_ino != watch->opened.st_ino ||
	       (watch->copied && !same_content(st, &watch->opened));
}

enum xentrace_change xentrace_watch_change(struct xentrace_watch *watch, uint64_t *now)
{
	enum xentrace_change change = XENTRACE_UNCHANGED;
	struct stat st;

	if (xentrace_watch_stale(watch))
		change = (enum xentrace_change)watch->change;
	pthread_mutex_lock(&watch->lock);
	*now = watch->now;
	if (!change && replaced(watch, &st)) {
		change = XENTRACE_REPLACED;
		*now = st.st_size;
	} else if (!change && watch->now != (uint64_t)watch->opened.st_size) {
		change = XENTRACE_GREW;
	}
	pthread_mutex_unlock(&watch->lock);
	return change;
}

int xentrace_watch_errno(struct xentrace_watch *watch)
{
	int error;

	pthread_mutex_lock(&watch->lock);
	error = watch->error;
	pthread_mutex_unlock(&watch->lock);
	return error;
}
