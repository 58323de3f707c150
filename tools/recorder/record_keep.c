// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_keep.c
 * @brief	Remove the oldest recordings of flight recorders (--keep).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "record_flight.h"

/** A recording that may be removed. */
struct old {
	char		name[NAME_MAX + 1];
	struct timespec	end;		/* when its recording.json was written */
	uint64_t	bytes;
};

struct old_list {
	struct old	*all;
	size_t		n, room;
	int		dir;		/* descriptor of the folder that they are in */
	char		path[PATH_MAX];	/* of the same */
	char		base[NAME_MAX + 1];	/* the name of this recorder's first one */
};

/** FOLDER or FOLDER-N of this recorder, or a name that record chooses itself. */
static bool is_name(const struct old_list *list, const char *name)
{
	size_t n = strlen(list->base);

	if (!strncmp(name, RECORD_FOLDER, strlen(RECORD_FOLDER)))
		return true;
	if (strncmp(name, list->base, n) != 0 || (name[n] && name[n] != '-'))
		return false;
	return !name[n] || (name[n + 1] && !name[n + 1 + strspn(name + n + 1, "0123456789")]);
}

/** One that is being written is left alone. */
static bool is_of_flight(const struct old_list *list, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 1], error[256];
	struct recording recording;
	bool is;

	snprintf(path, sizeof(path), "%s/%s", list->path, name);
	if (!recording_is(path) || recording_read(path, &recording, error, sizeof(error)))
		return false;
	is = recording.flight.asked_ns > 0 && recording.state != RECORDING_RUNNING;
	recording_free(&recording);
	return is;
}

/** Return: its descriptor; -1: it is no folder of our own. */
static int open_folder(const struct old_list *list, const char *name)
{
	int fd = openat(list->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid())) {
		close(fd);
		return -1;
	}
	return fd;
}

/** Return: 0 or -ENOMEM. */
static int add_old(struct old_list *list, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct stat st;
	int fd = open_folder(list, name), ret = 0;

	if (fd < 0)
		return 0;
	if (!fstatat(fd, RECORDING_FILE, &st, AT_SYMLINK_NOFOLLOW)) {
		snprintf(path, sizeof(path), "%s/%s", list->path, name);
		ret = ARRAY_GROW(list->all, list->n, list->room);
		if (!ret) {
			struct old *old = &list->all[list->n++];

			*old = (struct old){ .end = st.st_mtim,
					     .bytes = record_folder_bytes(path) };
			snprintf(old->name, sizeof(old->name), "%s", name);
		}
	}
	close(fd);
	return ret;
}

/** The newest first. */
static int compare_old(const void *a, const void *b)
{
	const struct timespec *x = &((const struct old *)a)->end;
	const struct timespec *y = &((const struct old *)b)->end;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

/** Return: 0 or a negative errno. */
static int find_old(struct old_list *list)
{
	DIR *dir = fdopendir(dup(list->dir));
	const struct dirent *entry;
	int ret = dir ? 0 : -errno;

	while (dir && !ret && (entry = readdir(dir)))
		if (is_name(list, entry->d_name) && is_of_flight(list, entry->d_name))
			ret = add_old(list, entry->d_name);
	if (dir)
		closedir(dir);
	if (!ret)
		qsort(list->all, list->n, sizeof(*list->all), compare_old);
	return ret;
}

/** recording.json goes last: until then, the next recorder finds it again. */
static int empty(int fd)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int ret = dir ? 0 : -errno;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, RECORDING_FILE) != 0 &&
		    unlinkat(fd, entry->d_name, 0))
			ret = -errno;
	if (!ret && unlinkat(fd, RECORDING_FILE, 0))
		ret = -errno;
	if (dir)
		closedir(dir);
	else
		close(fd);
	return ret;
}

static void remove_one(const struct old_list *list, const struct old *old)
{
	int fd = open_folder(list, old->name);
	int ret = fd < 0 ? -errno : empty(fd);

	if (!ret && unlinkat(list->dir, old->name, AT_REMOVEDIR))
		ret = -errno;
	if (ret)
		ksv_note("--keep: %s/%s: cannot be removed: %s", list->path, old->name,
			 strerror(-ret));
	else
		ksv_note("--keep: %s/%s is removed", list->path, old->name);
}

void record_keep(const struct record *record)
{
	const struct record_keep *keep = &record->options->keep;
	struct old_list list = { 0 };
	char base[PATH_MAX];
	uint64_t bytes = 0;
	int ret;

	if (!keep->number && !keep->bytes)
		return;
	snprintf(base, sizeof(base), "%s", record->flight->base);
	snprintf(list.base, sizeof(list.base), "%s", basename(base));
	snprintf(base, sizeof(base), "%s", record->flight->base);
	snprintf(list.path, sizeof(list.path), "%s", dirname(base));
	list.dir = open(list.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = list.dir < 0 ? -errno : find_old(&list);
	/* the newest stays, however large it is */
	for (size_t i = 0; i < list.n && !ret; i++) {
		bytes += list.all[i].bytes;
		if (i && ((keep->number && i >= keep->number) ||
			  (keep->bytes && bytes > keep->bytes)))
			remove_one(&list, &list.all[i]);
	}
	if (ret)
		ksv_note("--keep: %s: %s", list.path, strerror(-ret));
	if (list.dir >= 0)
		close(list.dir);
	free(list.all);
}
