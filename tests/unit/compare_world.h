/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	compare_world.h
 * @brief	Samples from populations that are known, to find out how often they seem to differ.
 */
#ifndef KSHARK_VIRT_COMPARE_WORLD_H
#define KSHARK_VIRT_COMPARE_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "stats_difference.h"

enum world_population {
	WORLD_NORMAL,		/* 100, standard deviation 10 */
	WORLD_EXPONENTIAL,	/* mean 10 */
	WORLD_LOGNORMAL,	/* the logarithm has standard deviation 1 */
	WORLD_BIMODAL,		/* about 50 or about 100, as often */
	WORLD_N_POPULATIONS
};

const char *world_name(enum world_population population);

/** world_mean, world_deviation - the population's mean and standard deviation. */
double world_mean(enum world_population population);
double world_deviation(enum world_population population);

/**
 * world_sample - draw and sort
 * @state: of the random numbers, goes on
 * @scale, @shift: each value is multiplied with and added to
 */
void world_sample(enum world_population population, uint64_t *state, double scale, double shift,
		  double *values, size_t n);

/** How often a statistic got a verdict. */
struct world_count {
	unsigned int	different[STATS_N], too_few[STATS_N], rounds;
};

/** Pairs of samples to be compared. */
struct world {
	enum world_population population;
	size_t		n[2];			/* of base and sample; 10000 at most */
	double		scale, shift;		/* of the second one */
	struct stats_method method;		/* its seed counts up by round */
};

/** world_count - draw and compare pairs of samples. Return: 0 or -ENOMEM. */
int world_count(const struct world *world, unsigned int rounds, struct world_count *count);

#endif
