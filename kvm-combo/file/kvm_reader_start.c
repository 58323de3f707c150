// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_reader_start.c
 * @brief	Start the process that reads a trace.dat: a copy of this one, or a program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "array.h"
#include "kvm_reader_wire.h"
#include "trace_dat.h"

/** Memory for both processes, which no other one can make smaller. Return: its descriptor. */
static int make_blocks(void)
{
	int fd = memfd_create("records", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)READER_BYTES) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -errno;
}

uint8_t *kvm_reader_map(int fd)
{
	void *blocks = mmap(NULL, READER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return blocks == MAP_FAILED ? NULL : blocks;
}

/* --- a copy of this process ------------------------------------------------------------------ */

static int start_copy(const char *path, int fd, uint8_t *blocks, pid_t *pid)
{
	fflush(NULL);
	*pid = fork();
	if (!*pid)
		kvm_reader_child(path, fd, blocks, NULL);
	return *pid < 0 ? -errno : 0;
}

/* --- a program ------------------------------------------------------------------------------- */

/** The folder of the file that has this code. Return: malloc'ed, or NULL. */
static char *own_folder(void)
{
	static const char here;
	char *folder = NULL, *slash;
	Dl_info info;

	if (dladdr(&here, &info) && info.dli_fname)
		folder = realpath(info.dli_fname, NULL);
	slash = folder ? strrchr(folder, '/') : NULL;
	if (slash)
		*slash = '\0';
	return folder;
}

/** As seen from a plugin, and from a program. Return: malloc'ed, or NULL. */
static char *program_path(void)
{
	static const char *const places[] = {
		KVM_READER_FROM_PLUGIN, KVM_READER_FROM_PROGRAM,
	};
	char *folder = own_folder(), *path = NULL;

	for (size_t i = 0; folder && i < ARRAY_SIZE(places); i++) {
		free(path);
		if (asprintf(&path, "%s/%s", folder, places[i]) < 0)
			path = NULL;
		if (!path || !access(path, X_OK))
			break;
	}
	free(folder);
	return path;
}

/** @fds: become the program's standard input, output and error. Return: 0, or an error number. */
static int spawn(char *const *argv, const int fds[3], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int ret = posix_spawn_file_actions_init(&actions);

	if (ret)
		return ret;
	for (int i = 0; i < 3 && !ret; i++)
		ret = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	if (!ret)
		ret = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

static int start_program(const char *path, int fd, int blocks, pid_t *pid)
{
	bool is_copy = held_file_is_copy(path);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int fds[] = { fd, blocks, is_copy ? held_file_fd(path) : null };
	char *program = program_path(), *name = strdup(path), copy[] = KVM_READER_COPY;
	char *argv[] = { program, name, is_copy ? copy : NULL, NULL };
	int ret = null < 0 ? errno : program && name ? spawn(argv, fds, pid) : ENOMEM;

	if (null >= 0)
		close(null);
	free(program);
	free(name);
	return -ret;
}

/* --- either ---------------------------------------------------------------------------------- */

int kvm_reader_start(const char *path, bool has_threads, struct reader_process *process)
{
	int fds[2], blocks = make_blocks(), ret;

	if (blocks < 0)
		return blocks;
	process->blocks = kvm_reader_map(blocks);
	ret = process->blocks ? 0 : -errno;
	if (!ret && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		ret = -errno;
	if (ret) {
		close(blocks);
		return ret;
	}
	process->fd = fds[0];
	ret = has_threads ? start_program(path, fds[1], blocks, &process->pid) :
			    start_copy(path, fds[1], process->blocks, &process->pid);
	close(fds[1]);
	close(blocks);
	if (!ret)
		return 0;
	close(fds[0]);
	process->pid = 0;
	return ret;
}
