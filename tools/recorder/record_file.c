// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_file.c
 * @brief	Small files of the system, below a root that tests replace.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "regular_file.h"

const char *record_root(void)
{
	const char *root = getenv("KSHARK_VIRT_ROOT");

	return root ? root : "";
}

__attribute__((format(printf, 2, 0)))
static bool full_path(char full[PATH_MAX], const char *path, va_list args)
{
	size_t n = (size_t)snprintf(full, PATH_MAX, "%s", record_root());
	int more = n < PATH_MAX ? vsnprintf(full + n, PATH_MAX - n, path, args) : -1;

	return more >= 0 && n + (size_t)more < PATH_MAX;
}

ssize_t record_read(char *text, size_t size, const char *path, ...)
{
	char full[PATH_MAX];
	va_list args;
	ssize_t n;
	bool fits;

	*text = '\0';
	va_start(args, path);
	fits = full_path(full, path, args);
	va_end(args);
	if (!fits)
		return -ENAMETOOLONG;
	n = regular_file_start(full, text, size);
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	return n;
}

int record_write(const char *text, const char *path, ...)
{
	char full[PATH_MAX];
	va_list args;
	bool fits;
	int fd, ret = 0;

	va_start(args, path);
	fits = full_path(full, path, args);
	va_end(args);
	if (!fits)
		return -ENAMETOOLONG;
	fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

bool record_there(const char *path, ...)
{
	char full[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, path);
	fits = full_path(full, path, args);
	va_end(args);
	return fits && !access(full, F_OK);
}

bool record_is_xen(void)
{
	char type[16];

	return record_read(type, sizeof(type), "/sys/hypervisor/type") > 0 &&
	       !strcmp(type, "xen");
}

const char *record_tracing(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (record_there("%s/tracing_on", places[i]))
			return places[i];
	return NULL;
}

int record_sync(const char *folder, const char *name)
{
	char path[PATH_MAX + NAME_MAX];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	/* not all file systems can */
	if (fsync(fd) && errno != EINVAL)
		ret = -errno;
	close(fd);
	return ret;
}

bool record_temp_make(char folder[PATH_MAX], const char *purpose)
{
	const char *temp = getenv("TMPDIR");
	int n = snprintf(folder, PATH_MAX, "%s/kshark-virt-%s-XXXXXX",
			 temp && *temp ? temp : "/tmp", purpose);

	if (n < PATH_MAX)
		return mkdtemp(folder);
	errno = ENAMETOOLONG;
	return false;
}

void record_temp_remove(const char *folder)
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
}

int record_limit(const char *variable, int seconds)
{
	const char *limit = *record_root() ? getenv(variable) : NULL;

	return limit ? atoi(limit) : seconds;
}

const char *record_size_text(uint64_t bytes, char text[24])
{
	static const char units[] = "kMGTPE";
	double value = (double)bytes / 1024;
	size_t unit = 0;

	while (value >= 999.95 && unit < sizeof(units) - 2) {
		value /= 1024;
		unit++;
	}
	if (bytes < 1024)
		snprintf(text, 24, "%llu B", (unsigned long long)bytes);
	else
		snprintf(text, 24, "%.1f %cB", value, units[unit]);
	return text;
}

/** "178 (CPU 0/KVM) S 1 ...": the state follows the last bracket, as names may have any. */
bool record_is_asleep(int pid, int tid)
{
	char text[512];
	const char *state;

	if (record_read(text, sizeof(text), "/proc/%d/task/%d/stat", pid, tid) <= 0)
		return false;
	state = strrchr(text, ')');
	return state && !strncmp(state, ") S", 3);
}
