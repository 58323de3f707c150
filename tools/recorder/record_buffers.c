// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_buffers.c
 * @brief	The kernel's trace buffers, which this process reads itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "record.h"
#include "record_buffers.h"
#include "record_tracing.h"

/** Where the files of an instance are, or those that all share. @instance: or NULL */
static void path_of(const char *instance, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s%s%s%s", record_root(), record_tracing(),
		 instance ? "/instances/" : "", instance ? instance : "");
}

void record_buffers_close(struct record_cpus *cpus)
{
	for (int i = 0; i < cpus->n; i++)
		close(cpus->all[i].fd);
	cpus->n = 0;
}

int record_buffers_open(struct record_cpus *cpus, const char *instance)
{
	char folder[PATH_MAX], path[PATH_MAX + 64];

	path_of(instance, folder);
	for (int cpu = 0; cpu <= record_tracing_last_cpu(); cpu++) {
		struct record_cpu one = { .cpu = cpu };

		snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", folder, cpu);
		one.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (one.fd < 0 && errno == ENOENT)
			continue;
		if (one.fd < 0 || ARRAY_GROW(cpus->all, cpus->n, cpus->room)) {
			ksv_error("%s: %s", path, strerror(errno));
			if (one.fd >= 0)
				close(one.fd);
			record_buffers_close(cpus);
			return KSV_EXIT_FILE;
		}
		cpus->all[cpus->n++] = one;
	}
	return KSV_EXIT_OK;
}

/* --- instances ------------------------------------------------------------------------------- */

/** An instance that is being made. */
struct making {
	const char	*name;
	char		*why;		/* receives what does not work */
	size_t		size;
};

/** Return: 0 or a negative errno. */
static int set(const struct making *making, const char *file, const char *text)
{
	int ret = record_write(text, "%s/instances/%s/%s", record_tracing(), making->name, file);

	if (ret)
		snprintf(making->why, making->size, "%s/instances/%s/%s: cannot be set to %s: %s",
			 record_tracing(), making->name, file, text, strerror(-ret));
	return ret;
}

static int enable(const struct making *making, const char *event)
{
	char file[256];
	const char *colon = strchr(event, ':');

	if (!strcmp(event, RECORD_ALL_EVENTS))
		snprintf(file, sizeof(file), "events/enable");
	else if (colon)
		snprintf(file, sizeof(file), "events/%.*s/%s/enable", (int)(colon - event), event,
			 colon + 1);
	else
		snprintf(file, sizeof(file), "events/%s/enable", event);
	return set(making, file, "1");
}

int record_instance_make(char name[RECORD_INSTANCE_SIZE], const char *begin, const char *clock,
			 uint64_t bytes, const char *const *events, int n, char *why,
			 size_t why_size)
{
	const struct making making = { name, why, why_size };
	char path[PATH_MAX], size[24];
	int ret;

	snprintf(name, RECORD_INSTANCE_SIZE, "%s%d", begin, (int)getpid());
	path_of(name, path);
	if (mkdir(path, 0700)) {
		ret = -errno;
		snprintf(why, why_size, "%s/instances: %s", record_tracing(), strerror(-ret));
		*name = '\0';
		return ret;
	}
	snprintf(size, sizeof(size), "%llu", (unsigned long long)bytes / 1024);
	ret = set(&making, "tracing_on", "0");
	if (!ret)
		ret = set(&making, "trace_clock", clock);
	for (int i = 0; i < n && !ret; i++)
		ret = enable(&making, events[i]);
	/*
	 * The first event that anybody enables lets the buffers that all share get their size;
	 * Linux 6.1 forgets that when a size is set before, and leaves them a page or two.
	 */
	if (!ret)
		ret = set(&making, "buffer_size_kb", size);
	if (!ret)
		ret = set(&making, "tracing_on", "1");
	if (!ret)
		return 0;
	record_instance_remove(name);
	*name = '\0';
	return ret;
}

void record_instance_stop(const char *name)
{
	record_write("0", "%s/instances/%s/tracing_on", record_tracing(), name);
}

void record_instance_remove(const char *name)
{
	char path[PATH_MAX];

	path_of(name, path);
	if (rmdir(path))
		ksv_note("%s: cannot be removed: %s", path, strerror(errno));
}

/** The pid may belong to another process by now. */
static bool is_left(const char *name, const char *begin)
{
	char comm[32], *end;
	long pid;

	if (strncmp(name, begin, strlen(begin)) != 0)
		return false;
	pid = strtol(name + strlen(begin), &end, 10);
	if (*end || pid <= 0 || pid == getpid())
		return false;
	return record_read(comm, sizeof(comm), "/proc/%ld/comm", pid) <= 0 ||
	       strcmp(comm, "kshark-virt") != 0;
}

void record_instance_sweep(const char *begin)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s%s/instances", record_root(), record_tracing());
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!is_left(entry->d_name, begin))
			continue;
		/* fails while a process has it open that we cannot see */
		path_of(entry->d_name, path);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}
