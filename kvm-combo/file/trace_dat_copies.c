// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_copies.c
 * @brief	Keep the copies that are read in place of traces.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regular_file.h"
#include "trace_dat_copies.h"

/** An entry never changes, so readers need no lock, which a process would inherit by fork(). */
struct copy {
	struct copy	*next;		/* an older one */
	int		fd;
	bool		is_held;	/* it is the file itself */
	char		path[];
};

static struct copy *_Atomic copies;

static const struct copy *find_copy(const char *path)
{
	const struct copy *copy = atomic_load(&copies);

	while (copy && strcmp(copy->path, path) != 0)
		copy = copy->next;
	return copy;
}

static int add_copy(const char *path, int fd, bool is_held)
{
	size_t bytes = strlen(path) + 1;
	struct copy *copy = malloc(sizeof(*copy) + bytes);

	if (!copy)
		return -ENOMEM;
	copy->fd = fd;
	copy->is_held = is_held;
	memcpy(copy->path, path, bytes);
	copy->next = atomic_load(&copies);
	while (!atomic_compare_exchange_weak(&copies, &copy->next, copy))
		;
	return 0;
}

int trace_dat_set_copy(const char *path, int fd)
{
	return add_copy(path, fd, false);
}

int trace_dat_hold(const char *path)
{
	int fd, ret;

	if (find_copy(path))
		return 0;
	fd = regular_file_open(path);
	if (fd < 0)
		return fd;
	ret = add_copy(path, fd, true);
	if (ret)
		close(fd);
	return ret;
}

int trace_dat_held(const char *path)
{
	const struct copy *copy = find_copy(path);

	return copy ? copy->fd : -1;
}

bool trace_dat_has_copy(const char *path)
{
	const struct copy *copy = find_copy(path);

	return copy && !copy->is_held;
}

int trace_dat_open(const char *path)
{
	const struct copy *copy = find_copy(path);
	char name[32];

	if (!copy)
		return regular_file_open(path);
	/* a descriptor with a place of its own in the file */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", copy->fd);
	return regular_file_open(name);
}
