// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_cgroups.c
 * @brief	Read the CPU quota of the cgroups of vCPUs, of both versions of cgroups.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_cgroups.h"
#include "regular_file.h"

/** What a file of a cgroup, or a thread's list of cgroups, is at most. */
#define FILE_BYTES	(16 << 10)

/** Where the controller "cpu" is. */
struct place {
	const char	*folder;
	bool		is_first;	/* version 1 */
};

/* --- files ----------------------------------------------------------------------------------- */

static ssize_t read_at(const char *root, const char *folder, const char *path, const char *file,
		       char text[FILE_BYTES])
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s%s/%s", root, folder, path, file) >=
	    (int)sizeof(full))
		return -ENAMETOOLONG;
	return regular_file_start(full, text, FILE_BYTES);
}

/** The number after a word at the beginning of a line. Return: false if there is none. */
static bool number_after(const char *text, const char *word, int64_t *number)
{
	size_t size = strlen(word);
	char *end;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, word, size) || line[size] != ' ')
			continue;
		errno = 0;
		*number = strtoll(line + size, &end, 10);
		return !errno && *number >= 0 && end != line + size;
	}
	return false;
}

/* --- of a cgroup ----------------------------------------------------------------------------- */

/** How often, and how long. A kernel without quotas has no such lines. */
static bool read_stat(const char *root, const struct place *place, const char *path,
		      struct cpu_quota *quota)
{
	char text[FILE_BYTES];

	if (read_at(root, place->folder, path, "cpu.stat", text) < 0)
		return false;
	if (place->is_first && number_after(text, "throttled_time", &quota->throttled_us))
		quota->throttled_us /= 1000;
	else if (place->is_first || !number_after(text, "throttled_usec", &quota->throttled_us))
		return false;
	return number_after(text, "nr_periods", &quota->periods) &&
	       number_after(text, "nr_throttled", &quota->throttled);
}

/** "20000 100000", "max 100000" */
static bool read_max(const char *text, struct cpu_quota *quota)
{
	char *end;

	quota->quota_us = CPU_NO_QUOTA;
	if (strncmp(text, "max ", 4)) {
		quota->quota_us = strtoll(text, &end, 10);
		if (end == text || quota->quota_us <= 0)
			return false;
		text = end;
	} else {
		text += 4;
	}
	quota->period_us = strtoll(text, &end, 10);
	return end != text && quota->period_us > 0;
}

/** A number alone in a file. */
static bool read_number(const char *root, const struct place *place, const char *path,
			const char *file, int64_t *number)
{
	char text[FILE_BYTES], *end;

	if (read_at(root, place->folder, path, file, text) <= 0)
		return false;
	*number = strtoll(text, &end, 10);
	return end != text;
}

/** Return: false if it is not known. */
static bool read_quota(const char *root, const struct place *place, const char *path,
		       struct cpu_quota *quota)
{
	char text[FILE_BYTES];
	ssize_t n;

	*quota = (struct cpu_quota){ .quota_us = CPU_NO_QUOTA };
	if (place->is_first) {
		if (!read_number(root, place, path, "cpu.cfs_quota_us", &quota->quota_us) ||
		    !read_number(root, place, path, "cpu.cfs_period_us", &quota->period_us))
			return false;
		if (quota->quota_us <= 0)
			quota->quota_us = CPU_NO_QUOTA;
		return read_stat(root, place, path, quota);
	}
	n = read_at(root, place->folder, path, "cpu.max", text);
	/* without the controller, it shares the quota of the one above */
	if (n == -ENOENT)
		return read_at(root, place->folder, path, "cgroup.procs", text) >= 0;
	return n > 0 && read_max(text, quota) && read_stat(root, place, path, quota);
}

int kvm_cgroups_find(const struct kvm_cgroups *cgroups, const char *path)
{
	for (size_t i = 0; i < cgroups->n; i++)
		if (!strcmp(cgroups->all[i].path, path))
			return (int)i;
	return -1;
}

/** Return: its index, or -ENOMEM. */
static int add_cgroup(const char *root, const struct place *place, const char *path, int above,
		      struct kvm_cgroups *cgroups)
{
	struct kvm_cgroup cgroup = { .above = above, .quota.quota_us = CPU_NO_QUOTA };
	int there = kvm_cgroups_find(cgroups, path);

	if (there >= 0)
		return there;
	if (ARRAY_GROW(cgroups->all, cgroups->n, cgroups->room))
		return -ENOMEM;
	cgroup.path = strdup(path);
	if (!cgroup.path)
		return -ENOMEM;
	/* the root has no quota */
	cgroup.is_known = above < 0 || read_quota(root, place, path, &cgroup.quota);
	cgroups->all[cgroups->n++] = cgroup;
	return (int)cgroups->n - 1;
}

/** A cgroup, after those above it. Return: its index, or -ENOMEM. */
static int add_path(const char *root, const struct place *place, char *path,
		    struct kvm_cgroups *cgroups)
{
	int index = add_cgroup(root, place, "/", -1, cgroups);
	char *slash = path;

	while (index >= 0 && slash && slash[1]) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		index = add_cgroup(root, place, path, index, cgroups);
		if (slash)
			*slash = '/';
	}
	return index;
}

/* --- of a thread ----------------------------------------------------------------------------- */

static bool has_word(const char *list, size_t size, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at < list + size; at += strcspn(at, ",:") + 1)
		if (strcspn(at, ",:") == length && !strncmp(at, word, length))
			return true;
	return false;
}

/** "4:cpu,cpuacct:/path" of version 1, "0::/path" of version 2: which one has the controller. */
static char *path_in(char *text, bool *is_first)
{
	char *second = NULL;
	char *next;

	for (char *line = text; line && *line; line = next) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!path)
			continue;
		*is_first = has_word(list + 1, (size_t)(path - list - 1), "cpu");
		if (*is_first)
			return path + 1;
		if (path == list + 1)
			second = path + 1;
	}
	return second;
}

static struct place place_of(const char *root, bool is_first)
{
	static const char *const folders[2][2] = {
		{ "/sys/fs/cgroup", "/sys/fs/cgroup/unified" },
		{ "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu" },
	};
	char text[FILE_BYTES];

	for (int i = 0; i < 2; i++)
		if (read_at(root, folders[is_first][i], "", "cgroup.procs", text) >= 0)
			return (struct place){ folders[is_first][i], is_first };
	return (struct place){ folders[is_first][0], is_first };
}

static int add_thread(const char *root, int pid, int tid, struct kvm_cgroups *cgroups)
{
	char name[64], text[FILE_BYTES];
	struct place place;
	char *path;
	bool is_first = false;
	int index;

	snprintf(name, sizeof(name), "/proc/%d/task/%d", pid, tid);
	if (read_at(root, name, "", "cgroup", text) <= 0)
		return 0;
	path = path_in(text, &is_first);
	/* "/.." is outside of what this process may see */
	if (!path || *path != '/' || strstr(path, "/..") || strlen(path) >= PATH_MAX / 2)
		return 0;
	place = place_of(root, is_first);
	index = add_path(root, &place, path, cgroups);
	if (index < 0 || ARRAY_GROW(cgroups->threads, cgroups->n_threads, cgroups->threads_room))
		return -ENOMEM;
	cgroups->threads[cgroups->n_threads++] = (struct kvm_cgroup_thread){ tid, index };
	return 0;
}

int kvm_cgroups_read(const char *root, const struct kvm_live *live, struct kvm_cgroups *cgroups)
{
	int ret = 0;

	*cgroups = (struct kvm_cgroups){ 0 };
	for (int i = 0; i < live->n_guests; i++)
		for (int v = 0; v < live->guests[i].n_vcpus && !ret; v++)
			if (live->guests[i].vcpus[v].tid)
				ret = add_thread(root, live->guests[i].pid,
						 live->guests[i].vcpus[v].tid, cgroups);
	return ret;
}

void kvm_cgroups_free(struct kvm_cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->n; i++)
		free(cgroups->all[i].path);
	free(cgroups->all);
	free(cgroups->threads);
	*cgroups = (struct kvm_cgroups){ 0 };
}

int kvm_cgroups_of(const struct kvm_cgroups *cgroups, int tid)
{
	for (size_t i = 0; i < cgroups->n_threads; i++)
		if (cgroups->threads[i].tid == tid)
			return cgroups->threads[i].cgroup;
	return -1;
}
