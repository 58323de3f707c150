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

static void read_table(const uint8_t *data, size_t size, const struct compare_csv_columns *columns,
		       int run)
{
	FILE *in = fmemopen((void *)data, size, "r");
	char error[256] = "";
	struct compare compare;
	int ret;

	if (!in)
		return;
	compare_init(&compare);
	if (run >= 0)
		run = compare_run(&compare, "run");
	ret = compare_csv_read(&compare, in, columns, run, "input", error, sizeof(error));
	if (ret == -EINVAL && strncmp(error, "input: line ", 12) != 0)
		abort();
	if (!columns && !ret && !(compare.n_runs && compare.n_metrics) &&
	    compare.n_runs + compare.n_metrics)
		abort();
	for (int i = 0; i < compare.n_metrics; i++)
		for (int j = 0; j < compare.n_runs; j++)
			for (size_t k = 0; k < compare.metrics[i]->sets[j].n; k++)
				if (!isfinite(compare.metrics[i]->sets[j].values[k]))
					abort();
	compare_free(&compare);
	fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct compare_csv_columns columns = {
		.metrics = { { "metric" }, 1 }, .values = { { "value" }, 1 },
	};

	if (!size)
		return 0;
	read_table(data, size, NULL, -1);
	read_table(data, size, &columns, 0);
	return 0;
}
