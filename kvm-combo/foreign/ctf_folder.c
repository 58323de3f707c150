// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ctf_folder.c
 * @brief	Find the traces in a folder.
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
#include "ctf_folder.h"
#include "hash_bytes.h"

/** A search. */
struct search {
	struct ctf_folder *folder;
	bool		first_only;
	size_t		n_seen;		/* entries of folders */
	char		*problem;
	size_t		size;
};

static int search_in(struct search *search, const char *path, int depth);

static bool has_metadata(int dir)
{
	struct stat st;

	return !fstatat(dir, "metadata", &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

static int complain(struct search *search, int ret, const char *name, const char *text)
{
	snprintf(search->problem, search->size, "%s%s%s", name, *name ? ": " : "", text);
	return ret;
}

static uint64_t stamp_of(const char *path, const struct stat *st)
{
	const uint64_t facts[] = {
		hash_text(path), (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec,
		(uint64_t)st->st_mtim.tv_nsec,
	};

	return hash_bytes(HASH_BYTES_NONE, facts, sizeof(facts));
}

/** A file of a trace. Return: 0 or a negative errno. */
static int take_file(struct search *search, const char *path, bool is_metadata,
		     const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return complain(search, -ELOOP, path,
				"is a link, which may lead out of the trace: put the file there");
	if (!S_ISREG(st->st_mode))
		return complain(search, -EINVAL, path, "not a regular file: remove it");
	if (is_metadata && (uint64_t)st->st_size > CTF_FOLDER_METADATA)
		return complain(search, -EFBIG, path, "larger than the metadata of any trace (64 "
				"MiB): it is damaged");
	if (!is_metadata)
		search->folder->bytes += (uint64_t)st->st_size;
	/* a sum, as file systems list files in any order */
	search->folder->stamp += stamp_of(path, st);
	return 0;
}

static int add_trace(struct search *search, const char *path)
{
	struct ctf_folder *folder = search->folder;
	char *name;

	if (folder->n == CTF_FOLDER_TRACES)
		return complain(search, -EFBIG, "", "it has more than 1024 traces: give a folder "
				"with fewer");
	name = strdup(path);
	if (!name || ARRAY_GROW(folder->traces, folder->n, folder->room)) {
		free(name);
		return -ENOMEM;
	}
	folder->traces[folder->n++] = name;
	return 0;
}

/** One entry of a folder. @in_trace: the folder has metadata, or lies in one that has it. */
static int take_entry(struct search *search, int dir, const char *path, const char *name,
		      bool in_trace, int depth)
{
	struct stat st;
	char *inner;
	int ret = 0;

	/* libbabeltrace2 ignores hidden files as well */
	if (*name == '.')
		return 0;
	if (++search->n_seen > CTF_FOLDER_FILES)
		return complain(search, -EFBIG, "", "it has more than 100,000 files: give a "
				"folder with fewer traces");
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return complain(search, -errno, name, strerror(errno));
	if (asprintf(&inner, "%s/%s", path, name) < 0)
		return -ENOMEM;
	if (S_ISDIR(st.st_mode) && depth < CTF_FOLDER_DEPTH)
		ret = search_in(search, inner, depth + 1);
	else if (in_trace && !S_ISDIR(st.st_mode))
		ret = take_file(search, inner, !strcmp(name, "metadata"), &st);
	free(inner);
	return ret;
}

static int search_in(struct search *search, const char *path, int depth)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC |
		      (depth ? O_NOFOLLOW : 0));
	bool in_trace = fd >= 0 && has_metadata(fd);
	const struct dirent *entry;
	int ret = 0;
	DIR *dir;

	if (fd < 0)
		return complain(search, -errno, path, strerror(errno));
	if (in_trace)
		ret = add_trace(search, path);
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!ret && !(search->first_only && search->folder->n) && (entry = readdir(dir)))
		ret = take_entry(search, fd, path, entry->d_name, in_trace || depth, depth);
	closedir(dir);
	return ret;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int ctf_folder_read(const char *path, struct ctf_folder *folder, char *problem, size_t size)
{
	struct search search = { .folder = folder, .problem = problem, .size = size };
	int ret;

	*folder = (struct ctf_folder){ 0 };
	*problem = '\0';
	ret = search_in(&search, path, 0);
	if (!ret && !folder->n)
		ret = complain(&search, -ENOENT, "", "no trace is in it");
	else if (ret == -ENOMEM)
		complain(&search, ret, "", "not enough memory");
	/* the first one's clock counts, in whatever order a file system lists them */
	if (folder->n)
		qsort(folder->traces, folder->n, sizeof(*folder->traces), compare_names);
	return ret;
}

bool ctf_folder_is(const char *path)
{
	struct ctf_folder folder = { 0 };
	char problem[512];
	struct search search = {
		.folder = &folder, .first_only = true, .problem = problem, .size = sizeof(problem),
	};
	struct stat st;
	bool is;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return false;
	search_in(&search, path, 0);
	is = folder.n > 0;
	ctf_folder_free(&folder);
	return is;
}

void ctf_folder_free(struct ctf_folder *folder)
{
	for (size_t i = 0; i < folder->n; i++)
		free(folder->traces[i]);
	free(folder->traces);
	*folder = (struct ctf_folder){ 0 };
}
