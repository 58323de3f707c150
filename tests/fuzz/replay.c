/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	replay.c
 * @brief	Run a fuzz target once over files and directories of files, without libFuzzer.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path, size_t size)
{
	uint8_t *data = malloc(size ? size : 1);
	FILE *file = fopen(path, "rb");
	int ret = -1;

	if (!data || !file || fread(data, 1, size, file) != size) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		goto out;
	}
	LLVMFuzzerTestOneInput(data, size);
	ret = 1;
out:
	if (file)
		fclose(file);
	free(data);
	return ret;
}

/* Return: number of inputs that were run, or -1. */
static int run(const char *path)
{
	struct dirent *entry;
	struct stat st;
	int n = 0, ret;
	char *name;
	DIR *dir;

	if (stat(path, &st)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return run_file(path, st.st_size);
	dir = opendir(path);
	if (!dir) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	while (n >= 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&name, "%s/%s", path, entry->d_name) < 0) {
			n = -1;
			break;
		}
		ret = run(name);
		free(name);
		n = ret < 0 ? -1 : n + ret;
	}
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	int i, ret, n = 0;

	for (i = 1; i < argc; i++) {
		ret = run(argv[i]);
		if (ret < 0)
			return 1;
		n += ret;
	}
	printf("%d inputs\n", n);
	return n ? 0 : 1;
}
