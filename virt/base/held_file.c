// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	held_file.c
 * @brief	Keep files open, and copies that are read in place of traces.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regular_file.h"
#include "held_file.h"

/** Readers need no lock, which a process would inherit by fork(). */
struct entry {
	struct entry	*next;		/* an older one */
	int		fd;
	bool		is_copy;	/* else it is the file itself */
	char		path[];
};

static struct entry *_Atomic entries;

static const struct entry *find_entry(const char *path)
{
	const struct entry *entry = atomic_load(&entries);

	while (entry && strcmp(entry->path, path) != 0)
		entry = entry->next;
	return entry;
}

static int add_entry(const char *path, int fd, bool is_copy)
{
	size_t bytes = strlen(path) + 1;
	struct entry *entry = malloc(sizeof(*entry) + bytes);

	if (!entry)
		return -ENOMEM;
	entry->fd = fd;
	entry->is_copy = is_copy;
	memcpy(entry->path, path, bytes);
	entry->next = atomic_load(&entries);
	while (!atomic_compare_exchange_weak(&entries, &entry->next, entry))
		;
	return 0;
}

int held_file_set_copy(const char *path, int fd)
{
	return add_entry(path, fd, true);
}

static int hold(const char *path, int (*open_file)(const char *path))
{
	int fd, ret;

	if (find_entry(path))
		return 0;
	fd = open_file(path);
	if (fd < 0)
		return fd;
	ret = add_entry(path, fd, false);
	if (ret)
		close(fd);
	return ret;
}

int held_file_hold(const char *path)
{
	return hold(path, regular_file_open);
}

int held_file_hold_itself(const char *path)
{
	return hold(path, regular_file_open_itself);
}

void held_file_release(const char *path)
{
	struct entry *entry = atomic_load(&entries), *newer = NULL;

	while (entry && strcmp(entry->path, path) != 0) {
		newer = entry;
		entry = entry->next;
	}
	if (!entry || entry->is_copy)
		return;
	if (newer)
		newer->next = entry->next;
	else
		atomic_store(&entries, entry->next);
	close(entry->fd);
	free(entry);
}

int held_file_fd(const char *path)
{
	const struct entry *entry = find_entry(path);

	return entry ? entry->fd : -1;
}

bool held_file_is_copy(const char *path)
{
	const struct entry *entry = find_entry(path);

	return entry && entry->is_copy;
}

static int open_entry(const char *path, const struct entry *entry)
{
	char name[32];

	if (!entry)
		return regular_file_open(path);
	/* a descriptor with a place of its own in the file */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", entry->fd);
	return regular_file_open(name);
}

int held_file_open(const char *path)
{
	return open_entry(path, find_entry(path));
}

int held_file_open_original(const char *path)
{
	const struct entry *entry = find_entry(path);

	return open_entry(path, entry && !entry->is_copy ? entry : NULL);
}
