// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	lttng_copy.c
 * @brief	Have folders in CTF converted, and keep the copies.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "ctf_folder.h"
#include "escape.h"
#include "lttng_copy.h"
#include "temporary_file.h"
#include "trace_dat.h"

/** A folder that has a copy, as it was then. */
struct known {
	char		*folder;
	uint64_t	stamp;		/* struct ctf_folder */
};

/* for as long as the process lives, as the copies */
static struct known *known;
static size_t n_known, room_known;

static void say(const char *folder, const char *text)
{
	escape_print(stderr, "kshark-virt: ", "%s: %s", folder, text);
}

static struct known *find(const char *folder)
{
	for (size_t i = 0; i < n_known; i++)
		if (!strcmp(known[i].folder, folder))
			return &known[i];
	return NULL;
}

static int remember(const char *folder, uint64_t stamp)
{
	struct known *before = find(folder);
	char *name;

	if (before) {
		before->stamp = stamp;
		return 0;
	}
	name = strdup(folder);
	if (!name || ARRAY_GROW(known, n_known, room_known)) {
		free(name);
		return -ENOMEM;
	}
	known[n_known++] = (struct known){ name, stamp };
	return 0;
}

/** @fd is used up. */
static int set_copy(const char *folder, int fd)
{
	char *real = realpath(folder, NULL);
	int ret = 0, other;

	/* the sidecars of guests without a trace of their own have this path */
	if (real && strcmp(real, folder) != 0) {
		other = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		ret = other < 0 ? -errno : held_file_set_copy(real, other);
		if (ret && other >= 0)
			close(other);
	}
	free(real);
	if (!ret)
		ret = held_file_set_copy(folder, fd);
	if (ret)
		close(fd);
	return ret;
}

/* --- what 'kshark-virt view' has converted --------------------------------------------------- */

/** A line: a descriptor, a blank, the folder. */
static int inherited_fd(const char *line, size_t n, const char *folder)
{
	struct stat st;
	char *end;
	long fd = strtol(line, &end, 10);
	size_t length = strlen(folder);

	if (end == line || *end != ' ' || fd <= STDERR_FILENO || fd > INT_MAX ||
	    n != (size_t)(end + 1 - line) + length || strncmp(end + 1, folder, length) != 0)
		return -1;
	return fstat((int)fd, &st) || !S_ISREG(st.st_mode) ? -1 : (int)fd;
}

/** The first line has the number of the process that it is for. Return: the descriptor, or -1. */
static int find_inherited(const char *folder)
{
	const char *line = getenv(CTF_COPIES);
	char *end;

	if (!line || strtol(line, &end, 10) != getpid())
		return -1;
	while ((line = strchr(line, '\n'))) {
		int fd;

		line++;
		fd = inherited_fd(line, strcspn(line, "\n"), folder);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/** Return: a descriptor of its own, or -1. */
static int take_inherited(const char *folder)
{
	int fd = find(folder) ? -1 : find_inherited(folder);

	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* --- converting ------------------------------------------------------------------------------ */

/** The program, by the place of this plugin. Return: malloc'ed, or NULL. */
static char *converter_path(void)
{
	Dl_info info;
	char *plugin, *slash, *path = NULL;

	if (!dladdr((const void *)&known, &info) || !info.dli_fname)
		return NULL;
	plugin = realpath(info.dli_fname, NULL);
	slash = plugin ? strrchr(plugin, '/') : NULL;
	if (!slash || asprintf(&path, "%.*s/" LTTNG_CONVERTER, (int)(slash - plugin), plugin) < 0)
		path = NULL;
	free(plugin);
	return path;
}

/** Return: 0, or a negative errno: the program did not start. */
static int start(const char *program, const char *folder, int out, pid_t *pid)
{
	char *name = strdup(program), *path = strdup(folder);
	char *argv[] = { name, path, NULL };
	posix_spawn_file_actions_t actions;
	int ret = name && path ? posix_spawn_file_actions_init(&actions) : ENOMEM;

	if (!ret) {
		ret = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
						       O_RDONLY, 0);
		if (!ret)
			ret = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
		if (!ret)
			ret = posix_spawn(pid, program, &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	free(name);
	free(path);
	return -ret;
}

/** Return: a descriptor of the trace.dat, or a negative errno after a message. */
static int convert(const char *folder)
{
	char *program = converter_path();
	int fd = program ? temporary_file() : -ENOMEM, status = 0;
	int ret = fd < 0 ? fd : 0;
	pid_t pid;

	if (!ret)
		ret = start(program, folder, fd, &pid);
	if (ret) {
		escape_print(stderr, "kshark-virt: ", "%s: %s does not start: %s", folder,
			     program ? program : "its converter", strerror(-ret));
	} else {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		/* it has said why */
		ret = WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EBADMSG;
	}
	free(program);
	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	return ret;
}

int lttng_copy_make(const char *folder)
{
	struct ctf_folder content;
	char problem[512];
	int ret = ctf_folder_read(folder, &content, problem, sizeof(problem)), fd;
	uint64_t stamp = content.stamp;

	ctf_folder_free(&content);
	if (ret) {
		say(folder, problem);
		return ret;
	}
	if (find(folder) && find(folder)->stamp == stamp)
		return 0;
	fd = take_inherited(folder);
	if (fd < 0)
		fd = convert(folder);
	ret = fd < 0 ? fd : set_copy(folder, fd);
	if (!ret)
		ret = remember(folder, stamp);
	if (ret == -ENOMEM)
		say(folder, "not enough memory");
	return ret;
}
