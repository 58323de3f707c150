/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_ftrace_text.c
 * @brief	Any lines as the text of ftrace: what is read of them is a trace.dat.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "text_patterns.h"
#include "text_read.h"
#include "trace_dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is)
{
	if (!is)
		abort();
}

/** The writer's file is one that the check of trace.dat files accepts. */
static void check_file(int fd)
{
	char path[32], problem[512];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(trace_dat_check(path, problem, sizeof(problem), NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in = memfd_create("in", MFD_CLOEXEC), fd = memfd_create("fd", MFD_CLOEXEC);
	int spool = memfd_create("spool", MFD_CLOEXEC), ret;
	struct foreign_outcome outcome = { 0 };

	check(in >= 0 && fd >= 0 && spool >= 0);
	check(write(in, data, size) == (ssize_t)size);
	text_is((const char *)data, size);
	ret = text_convert(in, fd, spool, 64 << 20, &outcome);
	check(outcome.events <= size);
	check(!ret || *outcome.problem);
	if (!ret)
		check_file(fd);
	close(fd);
	close(spool);
	return 0;
}
