// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_restore.c
 * @brief	Make a trace of the data that trace-cmd has written so far, if trace-cmd does not
 *		make one itself.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"
#include "record_tracing.h"
#include "whole_file.h"

#define CPU_FILE	RECORD_KVM_FILE ".cpu"
#define MAX_CPUS	4096

static void file_path(char path[PATH_MAX + NAME_MAX], const char *folder, const char *name, int cpu)
{
	snprintf(path, PATH_MAX + NAME_MAX, "%s/%s%d", folder, name, cpu);
}

/** Tests have a disk without hard links if this is in their tree. */
#define NO_LINKS	"/no_links"

static int link_file(const char *from, const char *to)
{
	if (!*record_root() || !record_there(NO_LINKS))
		return link(from, to);
	errno = EPERM;
	return -1;
}

/** As long as there is one file after the other. */
bool record_keep_files(const char *folder)
{
	char from[PATH_MAX + NAME_MAX], to[PATH_MAX + NAME_MAX];

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		file_path(from, folder, CPU_FILE, cpu);
		file_path(to, folder, RECORD_KEPT_FILE, cpu);
		if (link_file(from, to) && errno != EEXIST)
			return errno == ENOENT;
	}
	return true;
}

/** What the files of CPUs are called: by their second names, if they could be given any. */
static const char *kept_name(const char *folder)
{
	char path[PATH_MAX + NAME_MAX];

	file_path(path, folder, RECORD_KEPT_FILE, 0);
	return access(path, F_OK) ? CPU_FILE : RECORD_KEPT_FILE;
}

void record_kept_file(char path[PATH_MAX + NAME_MAX], const char *folder, int cpu)
{
	file_path(path, folder, kept_name(folder), cpu);
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

/* --- is there all of it? --------------------------------------------------------------------- */

/** What trace-cmd says of each CPU whose data it has written. */
#define WRITTEN		"bytes in size"
/** A trace that is being made of the files of CPUs. */
#define MADE_FILE	RECORD_KVM_FILE ".made"

static int count_of(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/** Has trace-cmd said so of @n CPUs, and can the file be read? */
static bool is_whole(const char *folder, const char *name, const char *said, int n)
{
	char path[PATH_MAX + NAME_MAX], problem[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return count_of(said, WRITTEN) >= n &&
	       trace_dat_check(path, problem, sizeof(problem), NULL);
}

static bool trace_is_whole(const char *folder, int n)
{
	char path[PATH_MAX + NAME_MAX], *said;
	bool whole = false;
	size_t size;

	snprintf(path, sizeof(path), "%s/" RECORD_KVM_FILE ".log", folder);
	if (!record_has_trace(folder) || whole_file_read(path, RECORD_MIB, &said, &size))
		return false;
	whole = is_whole(folder, RECORD_KVM_FILE, said, n);
	free(said);
	return whole;
}

/* --- making it ------------------------------------------------------------------------------- */

/** The files of CPUs. @bytes: of all */
static int find_files(const char *folder, char **paths, uint64_t *bytes)
{
	char path[PATH_MAX + NAME_MAX];
	const char *name;
	struct stat st;
	int n = 0;

	/* a recorder that was killed very early has given no second names */
	record_keep_files(folder);
	name = kept_name(folder);
	*bytes = 0;
	while (n < MAX_CPUS) {
		file_path(path, folder, name, n);
		if (lstat(path, &st))
			break;
		paths[n] = strdup(path);
		if (!paths[n])
			break;
		*bytes += (uint64_t)st.st_size;
		n++;
	}
	return n;
}

/** What trace-cmd restore does not know: the clock, and what record --tsc2nsec would have added. */
static void add_clock(const char *folder, const char *path)
{
	struct trace_dat_scale scale;
	struct recording recording;
	char error[256];
	int ret;

	if (recording_read(folder, &recording, error, sizeof(error))) {
		ksv_note("%s", error);
		return;
	}
	scale = (struct trace_dat_scale){ recording.tsc_mult, recording.tsc_shift };
	ret = scale.mult ? trace_dat_add_scale(path, &scale) : 0;
	if (ret && ret != -EEXIST)
		ksv_note("%s: its times are TSC cycles, because their length cannot be added to "
			 "it: %s", path, strerror(-ret));
	/* trace-cmd names the clock of the buffers that all tracers share */
	ret = record_tracing_is_own() ?
	      trace_dat_set_clock(path, scale.mult ? "x86-tsc" : "mono") : 0;
	if (ret)
		ksv_note("%s: the name of its clock cannot be added to it: %s", path,
			 strerror(-ret));
	recording_free(&recording);
}

/** Under another name, which becomes that of the trace when it is whole. */
static bool make_trace(const char *folder, char *const paths[], int n)
{
	char made[PATH_MAX + NAME_MAX], trace[PATH_MAX + NAME_MAX], *said = malloc(RECORD_MIB);
	const char **argv = calloc((size_t)n + 5, sizeof(*argv));
	bool whole = false;

	snprintf(made, sizeof(made), "%s/" MADE_FILE, folder);
	snprintf(trace, sizeof(trace), "%s/" RECORD_KVM_FILE, folder);
	if (argv && said) {
		memcpy(argv, (const char *[]){ "trace-cmd", "restore", "-o", made },
		       4 * sizeof(*argv));
		memcpy(argv + 4, paths, (size_t)n * sizeof(*argv));
		whole = !record_capture(argv, 0, said, RECORD_MIB) &&
			is_whole(folder, MADE_FILE, said, n);
		if (whole)
			add_clock(folder, made);
		whole = whole && !record_sync(folder, MADE_FILE) && !rename(made, trace);
		if (!whole)
			unlink(made);
	}
	free(argv);
	free(said);
	return whole;
}

bool record_settle_files(const char *folder)
{
	char **paths = calloc(MAX_CPUS, sizeof(*paths));
	uint64_t bytes = 0;
	int n = paths ? find_files(folder, paths, &bytes) : 0;
	bool settled = paths && (!bytes || trace_is_whole(folder, n) ||
				 make_trace(folder, paths, n));

	/* a loss of power leaves the trace, or the files that it is made of */
	settled = settled && !record_sync(folder, RECORD_KVM_FILE) && !record_sync(folder, ".");

	for (int i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
	if (settled) {
		remove_files(folder, RECORD_KEPT_FILE);
		remove_files(folder, CPU_FILE);
	} else {
		ksv_note("%s: the trace may be incomplete, so the files of CPUs are kept: "
			 "trace-cmd restore -o FILE %s*", folder,
			 kept_name(folder));
	}
	return settled;
}
