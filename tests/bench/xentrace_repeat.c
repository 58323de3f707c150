// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_repeat.c
 * @brief	Make a large xentrace file: repeat a small one, each time with later TSCs.
 *
 * Usage: xentrace_repeat IN.xen TIMES OUT.xen
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xentrace_private.h"

/** Every TSC of a copy, plus @shift: in the records and in TRC_LOST_RECORDS' payload. */
static void shift_tscs(uint8_t *data, size_t size, uint64_t shift)
{
	for (uint8_t *p = data; p + 4 <= data + size; p += record_size(load_u32(p))) {
		uint32_t header = load_u32(p);
		uint64_t tsc;

		if (header & RECORD_HAS_TSC) {
			tsc = htole64(load_u64(p + 4) + shift);
			memcpy(p + 4, &tsc, sizeof(tsc));
		}
		if ((header & EVENT_MASK) == 0x0001f001 && record_words(header) == 4) {
			tsc = htole64(load_u64(p + 20) + shift);
			memcpy(p + 20, &tsc, sizeof(tsc));
		}
	}
}

int main(int argc, char **argv)
{
	char error[512];
	struct xentrace *in;
	uint64_t span;
	uint8_t *copy;
	FILE *out;
	int times;

	if (argc != 4 || (times = atoi(argv[2])) < 1) {
		fprintf(stderr, "usage: xentrace_repeat IN.xen TIMES OUT.xen\n");
		return 2;
	}
	in = xentrace_open(argv[1], NULL, error, sizeof(error));
	if (!in || xentrace_n_problems(in)) {
		fprintf(stderr, "%s\n", in ? "the sample is damaged" : error);
		return 3;
	}
	out = fopen(argv[3], "we");
	copy = malloc(in->file.size);
	if (!out || !copy) {
		fprintf(stderr, "%s: %s\n", argv[3], strerror(errno));
		return 3;
	}
	span = xentrace_last_tsc(in) - xentrace_first_tsc(in) + 1000;
	for (int i = 0; i < times; i++) {
		if (xentrace_file_read(&in->file, copy, 0, in->file.size) != in->file.size)
			return 3;
		shift_tscs(copy, in->file.size, i * span);
		if (fwrite(copy, in->file.size, 1, out) != 1)
			break;
	}
	if (fclose(out)) {
		fprintf(stderr, "%s: %s\n", argv[3], strerror(errno));
		return 3;
	}
	free(copy);
	xentrace_close(in);
	return 0;
}
