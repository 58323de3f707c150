/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_perf_data.c
 * @brief	Any bytes as a perf.data file become a sound trace.dat, or there is a reason.
 */
#include <string.h>
#include <sys/stat.h>

#include "memory_file.h"
#include "perf_data.h"
#include "trace_dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Readers accept it. */
static void check_file(const struct memory_file *file, const struct perf_facts *facts)
{
	struct trace_dat_info info;
	char problem[512] = "";
	struct stat st;

	if (!trace_dat_check(file->path, problem, sizeof(problem), &info) ||
	    info.unit != TRACE_DAT_NS) {
		fprintf(stderr, "made: %s\n", problem);
		abort();
	}
	/* a record has 4 bytes of its own at least, and what was common to all of its event */
	if (fstat(file->fd, &st) || (uint64_t)st.st_size < facts->samples * 12)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = memory_file("", 0), spool = memory_file("", 0);
	char problem[512] = "?";
	struct perf_facts facts;
	int ret = perf_data_convert(&(struct perf_input){
		.data = data, .size = size, .fd = file.fd, .spool = spool.fd,
		.most_bytes = (uint64_t)256 << 20,
	}, &facts, problem, sizeof(problem));

	if (ret > 0 || !ret != !*problem || strlen(problem) >= sizeof(problem) - 1)
		abort();
	if (!ret)
		check_file(&file, &facts);
	close(file.fd);
	close(spool.fd);
	return 0;
}
