// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_restore.c
 * @brief	A trace of what trace-cmd has written so far, if it does not make one itself.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

#define CPU_FILE	RECORD_KVM_FILE ".cpu"
#define MAX_CPUS	4096

static void file_path(char path[PATH_MAX + NAME_MAX], const char *folder, const char *name, int cpu)
{
	snprintf(path, PATH_MAX + NAME_MAX, "%s/%s%d", folder, name, cpu);
}

/** As long as there is one file after the other. */
void record_keep_files(const char *folder)
{
	char from[PATH_MAX + NAME_MAX], to[PATH_MAX + NAME_MAX];

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		file_path(from, folder, CPU_FILE, cpu);
		file_path(to, folder, RECORD_KEPT_FILE, cpu);
		if (link(from, to) && errno != EEXIST)
			break;
	}
}

bool record_is_kept(const char *name)
{
	return !strncmp(name, RECORD_KEPT_FILE, strlen(RECORD_KEPT_FILE));
}

bool record_has_trace(const char *folder)
{
	char path[PATH_MAX + NAME_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" RECORD_KVM_FILE, folder);
	return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0;
}

static void remove_files(const char *folder, const char *name)
{
	char path[PATH_MAX + NAME_MAX];

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		file_path(path, folder, name, cpu);
		if (unlink(path))
			break;
	}
}

/** Only once there is a trace. */
void record_forget_files(const char *folder)
{
	if (!record_has_trace(folder))
		return;
	remove_files(folder, RECORD_KEPT_FILE);
	remove_files(folder, CPU_FILE);
}

static int find_files(const char *folder, char **paths)
{
	char path[PATH_MAX + NAME_MAX];
	int n = 0;

	/* a recorder that was killed very early has given no second names */
	record_keep_files(folder);
	while (n < MAX_CPUS) {
		file_path(path, folder, RECORD_KEPT_FILE, n);
		if (access(path, F_OK))
			break;
		paths[n] = strdup(path);
		if (!paths[n])
			break;
		n++;
	}
	return n;
}

bool record_make_trace(const char *folder)
{
	char **paths = calloc(MAX_CPUS, sizeof(*paths)), said[4096], *trace = NULL;
	const char **argv = calloc(MAX_CPUS + 5, sizeof(*argv));
	int n = argv && paths ? find_files(folder, paths) : 0;
	bool made = false;

	if (n && asprintf(&trace, "%s/" RECORD_KVM_FILE, folder) > 0) {
		memcpy(argv, (const char *[]){ "trace-cmd", "restore", "-o", trace },
		       4 * sizeof(*argv));
		memcpy(argv + 4, paths, (size_t)n * sizeof(*argv));
		made = !record_capture(argv, said, sizeof(said)) && record_has_trace(folder);
	}
	for (int i = 0; i < n; i++)
		free(paths[i]);
	free(trace);
	free(argv);
	free(paths);
	return made;
}
