// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	broken_disk.c
 * @brief	A disk that fails at the n-th use: LD_PRELOADed before a command.
 *
 * BROKEN_CALL: read, write, fsync, rename, unlink, or exit. BROKEN_AT: which one fails, from 1.
 * BROKEN_HOW: an errno; "kill": the process ends there, before the call, as by SIGKILL; or "power":
 * so does the machine. BROKEN_DONE: a file that is made when it happens, so that a test knows when
 * there are no more.
 *
 * After a loss of power, BROKEN_AFTER is a copy of BROKEN_FOLDER, which has no folders in it. Each
 * file there has lost what was written to it since its last fsync. Names survive as they were:
 * journals keep them in their order.
 *
 * Only what leads to a regular file or a folder counts: messages and pipes stay whole.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sendfile.h>
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

#define NEXT(name)	((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* --- what survives a loss of power ----------------------------------------------------------- */

static struct {
	dev_t	dev;
	ino_t	ino;
	off_t	size;
} durable[4096];
static size_t n_durable;

static off_t *size_of(const struct stat *st)
{
	for (size_t i = 0; i < n_durable; i++)
		if (durable[i].dev == st->st_dev && durable[i].ino == st->st_ino)
			return &durable[i].size;
	return NULL;
}

static void is_durable(const struct stat *st)
{
	off_t *size = size_of(st);

	if (!size && n_durable == sizeof(durable) / sizeof(durable[0]))
		abort();
	if (!size) {
		durable[n_durable].dev = st->st_dev;
		durable[n_durable].ino = st->st_ino;
		size = &durable[n_durable++].size;
	}
	*size = st->st_size;
}

static void for_each_file(int to, void (*visit)(int from, int to, const char *name,
						const struct stat *st))
{
	const char *folder = getenv("BROKEN_FOLDER");
	DIR *dir = folder ? opendir(folder) : NULL;
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			visit(dirfd(dir), to, entry->d_name, &st);
	if (dir)
		closedir(dir);
}

static void keep(int from, int to, const char *name, const struct stat *st)
{
	(void)from;
	(void)to;
	(void)name;
	is_durable(st);
}

__attribute__((constructor))
static void begin(void)
{
	for_each_file(-1, keep);
}

static void copy_durable(int from, int to, const char *name, const struct stat *st)
{
	const off_t *size = size_of(st);
	int in = openat(from, name, O_RDONLY | O_CLOEXEC);
	int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode & 0777);
	off_t left = size ? *size : 0;

	while (left > 0) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left);

		if (n <= 0)
			break;
		left -= n;
	}
	if (in < 0 || out < 0)
		abort();
	close(in);
	close(out);
}

static void lose_power(void)
{
	const char *after = getenv("BROKEN_AFTER");
	int to;

	/* another process may have been there first */
	if (!after || mkdir(after, 0700))
		kill(getpid(), SIGKILL);
	to = open(after, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for_each_file(to, copy_durable);
	close(to);
	kill(getpid(), SIGKILL);
}

/* --- what fails ------------------------------------------------------------------------------ */

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
	if (how && !strcmp(how, "power"))
		lose_power();
	errno = how ? atoi(how) : EIO;
	return true;
}

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
	struct stat st;

	if (is_disk(fd) && fails("fsync"))
		return -1;
	if (NEXT(fsync)(fd))
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		is_durable(&st);
	return 0;
}

__attribute__((destructor))
static void end(void)
{
	fails("exit");
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
