// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_order.c
 * @brief	The random order of the runs in a round.
 */
#include "random.h"
#include "study.h"

static void shuffle(uint64_t *state, int *items, int n)
{
	for (int i = 0; i < n; i++)
		items[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int j = (int)random_below(state, (uint64_t)i + 1);
		int swapped = items[i];

		items[i] = items[j];
		items[j] = swapped;
	}
}

void study_order(uint64_t seed, int round, int n_benchmarks, int n_configs, int *order)
{
	int benchmarks[STUDY_MAX_BENCHMARKS], configs[STUDY_MAX_CONFIGS];
	uint64_t state = seed;

	/* a round has a sequence of its own, whatever ran before it */
	state = random_next(&state) ^ (uint64_t)round;
	shuffle(&state, benchmarks, n_benchmarks);
	for (int i = 0; i < n_benchmarks; i++) {
		shuffle(&state, configs, n_configs);
		for (int j = 0; j < n_configs; j++)
			*order++ = benchmarks[i] * n_configs + configs[j];
	}
}
