// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_compare.c
 * @brief	How often compare finds a difference where there is none, and where there is one.
 *
 * bench_compare [ROUNDS [RESAMPLES [linear]]]: pairs of samples of populations that are known, and
 * in how many per cent of the rounds each statistic is found to differ. For false alarms there are
 * four times as many rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare_world.h"

static const size_t sizes[][2] = {
	{ 5, 5 }, { 10, 10 }, { 20, 20 }, { 30, 30 }, { 100, 100 }, { 400, 400 },
	{ 5, 30 }, { 30, 5 }, { 10, 100 }, { 30, 400 },
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void print_head(const char *what)
{
	printf("\n%s, %%\n%-12s%10s", what, "population", "values");
	for (int kind = 0; kind < STATS_N; kind++)
		printf("%8s", stats_name(kind));
	printf("%8s\n", "ms");
}

static void print_row(const struct world *world, const struct world_count *count, double seconds)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu, %zu", world->n[0], world->n[1]);
	printf("%-12s%10s", world_name(world->population), text);
	for (int kind = 0; kind < STATS_N; kind++) {
		if (count->too_few[kind] == count->rounds)
			printf("%8s", "few");
		else
			printf("%8.1f", 100.0 * count->different[kind] / count->rounds);
	}
	printf("%8.2f\n", 1000 * seconds / count->rounds);
	fflush(stdout);
}

/** What is done to the second sample: its values are multiplied, then moved. */
static const struct {
	const char	*title;
	double		scale, means, deviations; /* moved by this number of means and deviations */
	unsigned int	rounds;			/* of what is rare, more */
} tables[] = {
	{ "false alarms", 1, 0, 0, 4 },
	{ "a shift by one standard deviation is found", 1, 0, 1, 1 },
	{ "twice the values are found", 2, 0, 0, 1 },
	{ "the same mean, three times the spread: false alarms of the mean", 3, -2, 0, 1 },
};

static int print_table(size_t table, unsigned int rounds, const struct stats_method *method)
{
	print_head(tables[table].title);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int population = 0; population < WORLD_N_POPULATIONS; population++) {
			struct world world = {
				.population = population, .n = { sizes[i][0], sizes[i][1] },
				.scale = tables[table].scale,
				.shift = tables[table].means * world_mean(population) +
					 tables[table].deviations * world_deviation(population),
				.method = *method,
			};
			struct world_count count;
			double begin = now();

			if (world_count(&world, tables[table].rounds * rounds, &count))
				return -1;
			print_row(&world, &count, now() - begin);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 500;
	struct stats_method method = {
		.percentile = argc > 3 && !strcmp(argv[3], "linear") ? STATS_LINEAR :
								       STATS_NEAREST,
		.confidence = 0.95,
		.resamples = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000,
		.seed = 1,
	};

	if (!rounds || method.resamples < 100) {
		fprintf(stderr, "usage: bench_compare [ROUNDS [RESAMPLES [linear]]]\n");
		return 2;
	}
	for (size_t table = 0; table < sizeof(tables) / sizeof(tables[0]); table++) {
		if (print_table(table, rounds, &method)) {
			fprintf(stderr, "not enough memory\n");
			return 1;
		}
	}
	return 0;
}
