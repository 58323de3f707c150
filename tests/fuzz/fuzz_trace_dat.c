/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_trace_dat.c
 * @brief	Any bytes as a trace.dat file, without libtracecmd: check, guests, unpacking,
 *		joining.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "memory_file.h"
#include "trace_dat.h"
#include "trace_dat_join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take_guest(void *arg, const char *name, const int32_t *tids, int n)
{
	int32_t sum = 0;

	/* all of it must be there to be read */
	for (int i = 0; i < n; i++)
		sum |= tids[i];
	if (n < 0 || (sum == 0 && strlen(name) > INT32_MAX))
		abort();
	return ++*(int *)arg > 1000 ? -ECANCELED : 0;
}

/** What was unpacked is a file that needs no unpacking and says the same. */
static void check_unpacked(int fd, const struct trace_dat_info *packed)
{
	struct trace_dat_info info;
	char problem[512] = "", path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!trace_dat_is(path) || !trace_dat_check(path, problem, sizeof(problem), &info) ||
	    info.packed || info.unit != packed->unit) {
		fprintf(stderr, "unpacked: %s\n", problem);
		abort();
	}
}

/** What is joined is a file that can be read, and says the same. */
static void check_joined(const char *path, const struct trace_dat_info *from)
{
	struct memory_file out = memory_file("", 0);
	struct trace_dat_joined joined;
	char problem[1024] = "";
	int ret = trace_dat_join(&path, 1, out.fd, &joined, problem, sizeof(problem));

	if (ret > 0 || (ret == -EILSEQ) != (*problem != '\0'))
		abort();
	if (!ret)
		check_unpacked(out.fd, from);
	close(out.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = memory_file(data, size);
	struct trace_dat_info info = { 0 };
	char problem[512] = "", error[600] = "";
	bool ok = trace_dat_check(file.path, problem, sizeof(problem), &info);
	int n_guests = 0, fd;

	if (ok == (problem[0] != '\0') || strlen(problem) >= sizeof(problem) - 1)
		abort();
	trace_dat_guests(file.path, take_guest, &n_guests);
	/* the magic number is others' to look at */
	if (info.packed && trace_dat_is(file.path)) {
		fd = trace_dat_unpack(file.path, error, sizeof(error));
		if (fd < 0 && strncmp(error, file.path, strlen(file.path)) != 0)
			abort();
		if (fd >= 0 && ok)
			check_unpacked(fd, &info);
		if (fd >= 0)
			close(fd);
	}
	if (ok && trace_dat_is(file.path))
		check_joined(file.path, &info);
	close(file.fd);
	return 0;
}
