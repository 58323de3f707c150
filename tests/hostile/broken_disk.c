// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	broken_disk.c
 * @brief	A disk that fails at the n-th use: LD_PRELOADed before a command.
 *
 * BROKEN_CALL: read, write, fsync, rename or unlink. BROKEN_AT: which one fails, from 1.
 * BROKEN_HOW: an errno, or "kill": the process ends there, before the call, as by SIGKILL or a loss
 * of power. BROKEN_DONE: a file that is made when it happens, so that a test knows when there are
 * no more.
 *
 * Only what leads to a regular file or a folder counts: messages and pipes stay whole.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static bool is_disk(int fd)
{
	char link[32], path[4096];
	struct stat st;
	ssize_t n;

	/* a test's copy of tracefs is on a disk, the real one is not */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	if (strstr(path, "/sys/kernel/tracing/"))
		return false;
	return !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/** Return: true, with errno, if this call fails. */
static bool fails(const char *call)
{
	const char *which = getenv("BROKEN_CALL"), *at = getenv("BROKEN_AT");
	const char *how = getenv("BROKEN_HOW"), *done = getenv("BROKEN_DONE");
	const char *program = getenv("BROKEN_PROGRAM");
	static int n;
	int fd;

	if (program && strcmp(program, program_invocation_short_name) != 0)
		return false;
	if (!which || !at || strcmp(which, call) || __atomic_add_fetch(&n, 1, __ATOMIC_SEQ_CST) !=
						     atoi(at))
		return false;
	fd = done ? open(done, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (fd >= 0)
		close(fd);
	if (how && !strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	errno = how ? atoi(how) : EIO;
	return true;
}

#define NEXT(name)	((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *data, size_t size)
{
	return is_disk(fd) && fails("read") ? -1 : NEXT(read)(fd, data, size);
}

ssize_t __read_chk(int fd, void *data, size_t size, size_t room);
ssize_t __read_chk(int fd, void *data, size_t size, size_t room)
{
	return is_disk(fd) && fails("read") ? -1 : NEXT(__read_chk)(fd, data, size, room);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
	return is_disk(fd) && fails("read") ? -1 : NEXT(pread64)(fd, data, size, at);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	return is_disk(fd) && fails("read") ? -1 : NEXT(pread)(fd, data, size, at);
}

ssize_t write(int fd, const void *data, size_t size)
{
	return is_disk(fd) && fails("write") ? -1 : NEXT(write)(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *pieces, int n)
{
	return is_disk(fd) && fails("write") ? -1 : NEXT(writev)(fd, pieces, n);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	return is_disk(fd) && fails("write") ? -1 : NEXT(pwrite64)(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return is_disk(fd) && fails("write") ? -1 : NEXT(pwrite)(fd, data, size, at);
}

int fsync(int fd)
{
	return is_disk(fd) && fails("fsync") ? -1 : NEXT(fsync)(fd);
}

int rename(const char *from, const char *to)
{
	return fails("rename") ? -1 : NEXT(rename)(from, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return fails("rename") ? -1 : NEXT(renameat)(from_dir, from, to_dir, to);
}

int unlink(const char *path)
{
	return fails("unlink") ? -1 : NEXT(unlink)(path);
}
