/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_results.c
 * @brief	Any bytes as the output of a benchmark: values that are finite, or a message.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct compare *compare, unsigned int formats, int ret, const char *error)
{
	size_t n = 0;

	if (ret && ret != -ENOMEM && !*error)
		abort();
	for (int i = 0; i < compare->n_metrics; i++) {
		for (int run = 0; run < compare->n_runs; run++) {
			const struct compare_set *set = &compare->metrics[i]->sets[run];

			n += set->n + (set->unknown != NULL);
			for (size_t j = 0; j < set->n; j++)
				if (!isfinite(set->values[j]))
					abort();
		}
	}
	/* text that is not recognised has no values */
	if (!ret && !formats && n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct compare_csv_columns columns = {
		.metrics = { { "metric" }, 1 }, .values = { { "value" }, 1 },
	};
	char *text = malloc(size + 1), error[512] = "";
	struct compare *compare = malloc(sizeof(*compare));
	unsigned int formats;

	/* histograms of a few bytes may stand for more values than a fuzzer has time for */
	if (!text || !compare || size > 65536)
		goto end;
	memcpy(text, data, size);
	text[size] = '\0';
	for (int chosen = 0; chosen < 2; chosen++) {
		int ret;

		compare_init(compare);
		ret = results_read_text(compare, "input", chosen ? "run" : NULL,
					chosen ? &columns : NULL, text, size, &formats, error,
					sizeof(error));
		check(compare, formats, ret, error);
		compare_free(compare);
	}
end:
	free(compare);
	free(text);
	return 0;
}
