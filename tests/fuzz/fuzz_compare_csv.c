/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_compare_csv.c
 * @brief	Any bytes as a table of results: values that are finite, or a message.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
	char error[256] = "";
	struct compare compare;
	int ret;

	if (!in)
		return 0;
	compare_init(&compare);
	ret = compare_csv_read(&compare, in, "input", error, sizeof(error));
	if (ret == -EINVAL && strncmp(error, "input: line ", 12) != 0)
		abort();
	if (!ret && !(compare.n_runs && compare.n_metrics) && compare.n_runs + compare.n_metrics)
		abort();
	for (int i = 0; i < compare.n_metrics; i++)
		for (int run = 0; run < compare.n_runs; run++)
			for (size_t j = 0; j < compare.metrics[i]->sets[run].n; j++)
				if (!isfinite(compare.metrics[i]->sets[run].values[j]))
					abort();
	compare_free(&compare);
	fclose(in);
	return 0;
}
