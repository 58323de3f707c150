// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	whole_file.c
 * @brief	Write a file so that it is either complete or as it was before.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "regular_file.h"
#include "whole_file.h"

#define MAX_LINKS	40
#define MAX_TRIES	100
#define PREFIX		".kshark-virt-"

/* --- what a signal removes ------------------------------------------------------------------- */

/** Files that are being written, for a handler, which must not wait or allocate. */
static struct {
	atomic_int	state;	/* 0: free, 1: being changed, 2: in use */
	int		dir;
	char		name[WHOLE_FILE_NAME];
} slots[24];

static int take_slot(int dir, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		int is_free = 0;

		if (!atomic_compare_exchange_strong(&slots[i].state, &is_free, 1))
			continue;
		slots[i].dir = dir;
		memcpy(slots[i].name, name, sizeof(slots[i].name));
		atomic_store(&slots[i].state, 2);
		return (int)i;
	}
	return -1;
}

static void free_slot(struct whole_file *file)
{
	if (file->slot >= 0)
		atomic_store(&slots[file->slot].state, 0);
	file->slot = -1;
}

void whole_file_discard_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
		if (atomic_load(&slots[i].state) == 2)
			unlinkat(slots[i].dir, slots[i].name, 0);
}

/* --- where it goes --------------------------------------------------------------------------- */

/** The folder of a path. Return: malloc'ed, or NULL without memory. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/** Where a link leads. Return: malloc'ed, or NULL with errno. */
static char *follow(const char *path)
{
	char to[4096], *folder, *joined;
	ssize_t n = readlink(path, to, sizeof(to));

	if (n < 0 || n == (ssize_t)sizeof(to)) {
		errno = n < 0 ? errno : ENAMETOOLONG;
		return NULL;
	}
	if (n && to[0] == '/')
		return strndup(to, (size_t)n);
	folder = folder_of(path);
	if (!folder || asprintf(&joined, "%s/%.*s", folder, (int)n, to) < 0) {
		joined = NULL;
		errno = ENOMEM;
	}
	free(folder);
	return joined;
}

/**
 * A link of /proc, such as /dev/stdout ends in, stands for an open file rather than for a name.
 *
 * Return: a descriptor of it, -ENOENT if the link is an ordinary one, or a negative errno.
 */
static int open_process_link(const char *path)
{
	char *folder = folder_of(path), *real = NULL, own[64];
	struct statfs fs;
	int fd = -ENOENT;

	if (!folder || statfs(folder, &fs) || (uint32_t)fs.f_type != PROC_SUPER_MAGIC)
		goto end;
	real = realpath(folder, NULL);
	snprintf(own, sizeof(own), "/proc/%d/fd", (int)getpid());
	/* of our own: with its place in the file, which others may write to as well */
	if (real && !strcmp(real, own))
		fd = fcntl(atoi(base_of(path)), F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	fd = fd < 0 ? -errno : fd;
end:
	free(folder);
	free(real);
	return fd;
}

/**
 * Follow all links of a path.
 * @fd: receives a descriptor if it is not to be replaced, or -1
 * @target: receives the path of what is to be replaced, malloc'ed
 */
static int resolve(const char *path, int *fd, char **target)
{
	struct stat st;
	int ret = 0;

	*fd = -1;
	*target = strdup(path);
	for (int i = 0; *target && i < MAX_LINKS; i++) {
		char *next;

		if (lstat(*target, &st) || !S_ISLNK(st.st_mode))
			return 0;
		ret = open_process_link(*target);
		if (ret != -ENOENT) {
			*fd = ret;
			ret = ret < 0 ? ret : 0;
			goto no_target;
		}
		next = follow(*target);
		ret = next ? 0 : -errno;
		free(*target);
		*target = next;
	}
	if (!ret)
		ret = *target ? -ELOOP : -ENOMEM;
no_target:
	free(*target);
	*target = NULL;
	return ret;
}

/** Only one at a time may read, change and replace a file of this folder. */
static int lock(int dir)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (int i = 0; i < WHOLE_FILE_WAIT_S * 100; i++) {
		if (!flock(dir, LOCK_EX | LOCK_NB))
			return 0;
		/* some network file systems cannot lock folders */
		if (errno != EWOULDBLOCK && errno != EINTR)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -EAGAIN;
}

/* --- the new file ---------------------------------------------------------------------------- */

static int random_name(char name[WHOLE_FILE_NAME])
{
	unsigned char bytes[12];
	size_t n = strlen(PREFIX);

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	memcpy(name, PREFIX, n);
	for (size_t i = 0; i < sizeof(bytes); i++)
		name[n++] = "abcdefghijklmnopqrstuvwxyz234567"[bytes[i] & 31];
	name[n] = '\0';
	return 0;
}

/** Create it. No signal comes between that and its being remembered for removal. */
static int create(struct whole_file *file, mode_t mode)
{
	sigset_t all, before;
	int ret = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < MAX_TRIES; i++) {
		ret = random_name(file->name);
		if (ret)
			break;
		file->fd = openat(file->dir, file->name,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		ret = file->fd < 0 ? -errno : 0;
		if (ret != -EEXIST)
			break;
	}
	if (!ret)
		file->slot = take_slot(file->dir, file->name);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

/** Take over owner and mode of the replaced file; not always possible if it is another user's. */
static int take_over(const struct whole_file *file, const struct stat *st)
{
	if ((st->st_uid != geteuid() || st->st_gid != getegid()) &&
	    fchown(file->fd, st->st_uid, st->st_gid) && fchown(file->fd, (uid_t)-1, st->st_gid))
		errno = 0;
	return fchmod(file->fd, st->st_mode & 0777) ? -errno : 0;
}

static int open_new(struct whole_file *file, const char *target, bool locked)
{
	char *folder = folder_of(target);
	struct stat st;
	bool there;
	int ret;

	file->base = strdup(base_of(target));
	if (!folder || !file->base) {
		free(folder);
		return -ENOMEM;
	}
	file->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->dir < 0 && errno == EACCES && !locked)
		file->dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ret = file->dir < 0 ? -errno : 0;
	free(folder);
	if (!ret && !*file->base)
		ret = -EISDIR;
	if (!ret && locked)
		ret = lock(file->dir);
	if (ret)
		return ret;
	there = !fstatat(file->dir, file->base, &st, AT_SYMLINK_NOFOLLOW);
	if (!there && errno != ENOENT)
		return -errno;
	/* that the folder lets us replace it does not mean that we may */
	if (there && faccessat(file->dir, file->base, W_OK, AT_EACCESS))
		return -errno;
	ret = create(file, there ? 0600 : 0666);
	return ret || !there ? ret : take_over(file, &st);
}

int whole_file_open(struct whole_file *file, const char *path, bool locked)
{
	char *target = NULL;
	struct stat st;
	int ret;

	*file = (struct whole_file){ .fd = -1, .dir = -1, .slot = -1 };
	/* the kernel decides whether the links of this path may be followed */
	if (!*path)
		return -ENOENT;
	ret = stat(path, &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
	if (ret && ret != -ENOENT)
		return ret;
	/* what is changed must be a file: a pipe would keep us waiting */
	if (!ret && locked && !S_ISREG(st.st_mode))
		return -EINVAL;
	ret = resolve(path, &file->fd, &target);
	if (ret || file->fd >= 0)
		return ret;
	if (!stat(target, &st) && !S_ISREG(st.st_mode)) {
		file->fd = open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		ret = file->fd < 0 ? -errno : 0;
	} else {
		ret = open_new(file, target, locked);
	}
	free(target);
	if (ret)
		whole_file_discard(file);
	return ret;
}

static void close_folder(struct whole_file *file)
{
	free_slot(file);
	if (file->dir >= 0)
		close(file->dir);
	free(file->base);
	*file = (struct whole_file){ .fd = -1, .dir = -1, .slot = -1 };
}

int whole_file_write(struct whole_file *file, const void *data, size_t size)
{
	const char *from = data;

	while (size) {
		ssize_t n = write(file->fd, from, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		from += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int whole_file_commit(struct whole_file *file)
{
	int ret = 0;

	if (file->dir >= 0 && fsync(file->fd))
		ret = -errno;
	/* some file systems report only now that the disk is full */
	if (close(file->fd) && !ret)
		ret = -errno;
	file->fd = -1;
	if (!ret && file->dir >= 0 && renameat(file->dir, file->name, file->dir, file->base))
		ret = -errno;
	if (ret) {
		whole_file_discard(file);
		return ret;
	}
	/* the name survives a loss of power, too, where that can be asked for */
	if (file->dir >= 0)
		(void)fsync(file->dir);
	close_folder(file);
	return 0;
}

void whole_file_discard(struct whole_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->dir >= 0 && *file->name)
		unlinkat(file->dir, file->name, 0);
	close_folder(file);
}

/* --- reading --------------------------------------------------------------------------------- */

/** Up to @room bytes. Return: how many, or a negative errno. */
static ssize_t read_up_to(int fd, char *text, size_t room)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < room && n) {
		n = read(fd, text + done, room - done);
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)done;
}

int whole_file_read(const char *path, size_t max, char **text, size_t *size)
{
	int fd = regular_file_open(path);
	struct stat st;
	ssize_t n = 0;

	*text = NULL;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		n = -errno;
	else if ((uint64_t)st.st_size > max)
		n = -EFBIG;
	if (!n) {
		/* the file may grow while it is read */
		*text = malloc((size_t)st.st_size + 2);
		n = *text ? read_up_to(fd, *text, (size_t)st.st_size + 1) : -ENOMEM;
	}
	close(fd);
	if (n > (ssize_t)st.st_size)
		n = -EAGAIN;
	if (n < 0) {
		free(*text);
		*text = NULL;
		return (int)n;
	}
	(*text)[n] = '\0';
	*size = (size_t)n;
	return 0;
}
