// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_scale.c
 * @brief	Read the length of a cycle of this host's TSC, as the kernel gives it to users of
 *		perf.
 *
 * trace-cmd --tsc2nsec reads the same, but writes it only at its end. This recorder keeps it from
 * the beginning on, so that it exists for a trace that is made of the data of a killed recorder,
 * and for the traces of guests.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"

/** Where tests have no perf, a file in their tree takes its place. */
#define SCALE_OF_TESTS	"/perf_tsc"

static bool read_perf(struct trace_dat_scale *scale)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr), .disabled = 1, .exclude_kernel = 1,
	};
	const volatile struct perf_event_mmap_page *page;
	size_t size = (size_t)getpagesize() * 2;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *map;

	if (fd < 0)
		return false;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return false;
	page = map;
	scale->mult = page->time_mult;
	scale->shift = page->time_shift;
	munmap(map, size);
	return true;
}

bool record_read_scale(struct trace_dat_scale *scale)
{
	char text[64];

	*scale = (struct trace_dat_scale){ 0 };
	if (!*record_root())
		read_perf(scale);
	else if (record_read(text, sizeof(text), SCALE_OF_TESTS) > 0)
		sscanf(text, "%u %u", &scale->mult, &scale->shift);
	return scale->mult && scale->shift < 64;
}
