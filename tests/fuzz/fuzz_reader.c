/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_reader.c
 * @brief	Any bytes as a trace: what opens must keep the reader's promises.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/trace_invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[256] = "";
	struct xentrace *reader = xentrace_open_memory(data, size, NULL, error, sizeof(error));
	const char *wrong;

	if (!reader) {
		if (!error[0])
			abort();
		return 0;
	}
	wrong = trace_invariants(reader);
	if (wrong) {
		fprintf(stderr, "invariant: %s\n", wrong);
		abort();
	}
	free(xentrace_report(reader, "fuzz", 10));
	xentrace_close(reader);
	return 0;
}
