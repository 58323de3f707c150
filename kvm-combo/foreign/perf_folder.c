// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_folder.c
 * @brief	The folder that "perf record --threads" writes in place of a file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "foreign_file.h"
#include "perf_folder.h"

#define MAIN_FILE	"data"
#define COPY		"Copy the folder again, if there is another one"

__attribute__((format(printf, 4, 5)))
static int complain(char *problem, size_t size, int ret, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem, size, format, args);
	va_end(args);
	return ret;
}

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
}

/** The number of "data.NUMBER", or -1. */
static int64_t number_of(const char *name)
{
	const char *digits = name + strlen(MAIN_FILE ".");
	int64_t number = 0;

	if (strncmp(name, MAIN_FILE ".", strlen(MAIN_FILE ".")) != 0 || !*digits ||
	    (*digits == '0' && digits[1]))
		return -1;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9' || number > UINT16_MAX)
			return -1;
		number = number * 10 + *digits - '0';
	}
	return number;
}

/* --- is it one? ------------------------------------------------------------------------------ */

static bool has_head(int dir)
{
	int fd = openat(dir, MAIN_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	uint8_t head[FOREIGN_PERF_BYTES];
	struct stat st;
	bool has;

	if (fd < 0)
		return false;
	has = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	      perf_data_is(head, (size_t)(read(fd, head, sizeof(head)) == sizeof(head)) *
			   sizeof(head));
	close(fd);
	return has;
}

static bool has_part(int dir)
{
	struct stat st;

	return !fstatat(dir, MAIN_FILE ".0", &st, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(st.st_mode);
}

bool perf_folder_is(const char *path)
{
	int dir = open_folder(path);
	bool is = dir >= 0 && (has_head(dir) || has_part(dir));

	if (dir >= 0)
		close(dir);
	return is;
}

bool perf_folder_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int dir = folder && number_of(slash ? slash + 1 : path) >= 0 ? open_folder(folder) : -1;
	bool is = dir >= 0 && has_head(dir);

	if (dir >= 0)
		close(dir);
	free(folder);
	return is;
}

/* --- its files ------------------------------------------------------------------------------- */

/** A file that becomes shorter while it is read ends the process. Return: 0 or negative errno. */
static int map_file(int dir, const char *name, const uint8_t **data, size_t *size, char *problem,
		    size_t problem_size)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int ret = fd < 0 ? -errno : 0;
	void *map = NULL;
	struct stat st;

	if (ret == -ELOOP)
		return complain(problem, problem_size, ret, "its file %s is a link, which may lead "
				"out of the folder: put the file there", name);
	if (!ret && fstat(fd, &st))
		ret = -errno;
	if (!ret && !S_ISREG(st.st_mode))
		ret = -EINVAL;
	if (!ret && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			ret = -errno;
	}
	if (fd >= 0)
		close(fd);
	/* of a device or a socket as well */
	if (ret)
		return complain(problem, problem_size, ret, "its file %s: %s", name,
				ret == -EINVAL || ret == -ENXIO ? "not a regular file" :
				strerror(-ret));
	if (map)
		madvise(map, (size_t)st.st_size, MADV_SEQUENTIAL);
	*data = map;
	*size = (size_t)st.st_size;
	return 0;
}

static int add_piece(struct perf_folder *folder, int dir, const char *name, char *problem,
		     size_t size)
{
	struct perf_piece piece = { .number = (uint32_t)number_of(name) };
	int ret;

	if (folder->n == PERF_FOLDER_PIECES)
		return complain(problem, size, -EFBIG, "it has more than %d files of records: no "
				"host has that many CPUs", PERF_FOLDER_PIECES);
	ret = map_file(dir, name, &piece.data, &piece.size, problem, size);
	if (ret)
		return ret;
	if (ARRAY_GROW(folder->pieces, folder->n, folder->room)) {
		if (piece.size)
			munmap((void *)(uintptr_t)piece.data, piece.size);
		return -ENOMEM;
	}
	folder->pieces[folder->n++] = piece;
	folder->bytes += piece.size;
	return 0;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct perf_piece *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/** All parts. @fd is used up. */
static int add_pieces(struct perf_folder *folder, int fd, char *problem, size_t size)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	size_t n = 0;
	int ret = 0;

	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!ret && (entry = readdir(dir))) {
		if (++n > PERF_FOLDER_ENTRIES)
			ret = complain(problem, size, -EFBIG, "it has more than %d files",
				       PERF_FOLDER_ENTRIES);
		else if (number_of(entry->d_name) >= 0)
			ret = add_piece(folder, fd, entry->d_name, problem, size);
	}
	closedir(dir);
	if (folder->n)
		qsort(folder->pieces, folder->n, sizeof(*folder->pieces), compare_pieces);
	return ret;
}

int perf_folder_read(const char *path, struct perf_folder *folder, char *problem, size_t size)
{
	int dir = open_folder(path), ret = 0;
	struct stat st;

	*folder = (struct perf_folder){ 0 };
	*problem = '\0';
	if (dir < 0)
		return complain(problem, size, -errno, "%s", strerror(errno));
	if (fstatat(dir, MAIN_FILE, &st, AT_SYMLINK_NOFOLLOW))
		ret = complain(problem, size, -ENOENT, "a folder of 'perf record --threads' "
			       "without its file data, which describes the events. " COPY);
	if (!ret)
		ret = map_file(dir, MAIN_FILE, &folder->data, &folder->size, problem, size);
	if (ret) {
		close(dir);
		return ret;
	}
	folder->bytes = folder->size;
	ret = add_pieces(folder, dir, problem, size);
	if (ret == -ENOMEM)
		complain(problem, size, ret, "not enough memory");
	return ret;
}

void perf_folder_free(struct perf_folder *folder)
{
	for (size_t i = 0; i < folder->n; i++)
		if (folder->pieces[i].size)
			munmap((void *)(uintptr_t)folder->pieces[i].data, folder->pieces[i].size);
	if (folder->size)
		munmap((void *)(uintptr_t)folder->data, folder->size);
	free(folder->pieces);
	*folder = (struct perf_folder){ 0 };
}
