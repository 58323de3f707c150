/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_perf_data.c
 * @brief	Any bytes as a perf.data file, or as the files of a folder, become a sound
 *		trace.dat with sound counters, or there is a reason.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "memory_file.h"
#include "perf_data.h"
#include "trace_counters.h"
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

/** All that was written at its end can be read. */
static void check_counters(const struct memory_file *file)
{
	struct trace_counters counters;
	struct trace_reading reading;
	int ret = trace_counters_open(&counters, file->fd);

	if (!ret)
		while ((ret = trace_counters_next(&counters, &reading)) == 1)
			;
	if (ret && ret != -ENOENT)
		abort();
	trace_counters_close(&counters);
}

/** A folder: "D", and the sizes of its file "data" and all parts but the last one, 4 bytes each. */
#define N_PIECES	3
#define FOLDER_HEAD	(1 + 4 * N_PIECES)

static void make_folder(struct perf_input *input, struct perf_piece pieces[N_PIECES])
{
	const uint8_t *sizes = input->data + 1, *at = input->data + FOLDER_HEAD;
	size_t left = input->size - FOLDER_HEAD;

	for (int i = 0; i <= N_PIECES; i++) {
		uint32_t size = (uint32_t)left;

		if (i < N_PIECES)
			memcpy(&size, sizes + 4 * (size_t)i, sizeof(size));
		if (size > left)
			size = (uint32_t)left;
		if (i)
			pieces[i - 1] = (struct perf_piece){ size ? at : NULL, size, (uint32_t)i };
		else
			*input = (struct perf_input){
				.data = at, .size = size, .is_folder = true, .pieces = pieces,
				.n_pieces = N_PIECES, .fd = input->fd, .spool = input->spool,
				.most_bytes = input->most_bytes, .counters = true,
			};
		at += size;
		left -= size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = memory_file("", 0), spool = memory_file("", 0);
	struct perf_input input = {
		.data = data, .size = size, .fd = file.fd, .spool = spool.fd,
		.most_bytes = (uint64_t)256 << 20, .counters = true,
	};
	struct perf_piece pieces[N_PIECES];
	char problem[512] = "?";
	struct perf_facts facts;
	int ret;

	if (size >= FOLDER_HEAD && *data == 'D')
		make_folder(&input, pieces);
	ret = perf_data_convert(&input, &facts, problem, sizeof(problem));
	if (ret > 0 || !ret != !*problem || strlen(problem) >= sizeof(problem) - 1)
		abort();
	if (!ret) {
		check_file(&file, &facts);
		check_counters(&file);
	}
	close(file.fd);
	close(spool.fd);
	return 0;
}
