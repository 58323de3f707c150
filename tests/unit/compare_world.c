// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	compare_world.c
 * @brief	Samples from populations that are known, to find out how often they seem to differ.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "compare_world.h"

#define MAX_VALUES	10000

/** Between 0 and 1, without both. */
static double uniform(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
	double distance = sqrt(-2 * log(uniform(state)));

	return distance * cos(2 * M_PI * uniform(state));
}

static double draw_normal(uint64_t *state)
{
	return 100 + 10 * normal(state);
}

static double draw_exponential(uint64_t *state)
{
	return -10 * log(uniform(state));
}

static double draw_lognormal(uint64_t *state)
{
	return 10 * exp(normal(state));
}

static double draw_bimodal(uint64_t *state)
{
	return (uniform(state) < 0.5 ? 50 : 100) + 2 * normal(state);
}

/* the lognormal one: mean 10 sqrt(e), variance (e - 1) e 100; the bimodal one: 25^2 + 2^2 */
static const struct {
	const char	*name;
	double		(*draw)(uint64_t *state);
	double		mean, deviation;
} populations[WORLD_N_POPULATIONS] = {
	[WORLD_NORMAL] = { "normal", draw_normal, 100, 10 },
	[WORLD_EXPONENTIAL] = { "exponential", draw_exponential, 10, 10 },
	[WORLD_LOGNORMAL] = { "lognormal", draw_lognormal, 16.4872127, 21.6119742 },
	[WORLD_BIMODAL] = { "bimodal", draw_bimodal, 75, 25.0798724 },
};

const char *world_name(enum world_population population)
{
	return populations[population].name;
}

double world_mean(enum world_population population)
{
	return populations[population].mean;
}

double world_deviation(enum world_population population)
{
	return populations[population].deviation;
}

void world_sample(enum world_population population, uint64_t *state, double scale, double shift,
		  double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = scale * populations[population].draw(state) + shift;
	stats_sort(values, n);
}

int world_count(const struct world *world, unsigned int rounds, struct world_count *count)
{
	static double values[2][MAX_VALUES];
	uint64_t state = world->method.seed;
	struct stats_method method = world->method;
	struct stats_difference difference[STATS_N];
	struct stats_sample samples[2];
	int ret = 0;

	assert(world->n[0] <= MAX_VALUES && world->n[1] <= MAX_VALUES);
	memset(count, 0, sizeof(*count));
	for (count->rounds = 0; count->rounds < rounds && !ret; count->rounds++, method.seed++) {
		for (int i = 0; i < 2; i++) {
			world_sample(world->population, &state, i ? world->scale : 1,
				     i ? world->shift : 0, values[i], world->n[i]);
			samples[i] = (struct stats_sample){ values[i], world->n[i], { 0 } };
			stats_describe(values[i], world->n[i], method.percentile,
				       samples[i].value);
		}
		ret = stats_differences(&samples[0], &samples[1], &method, difference);
		for (int kind = 0; kind < STATS_N && !ret; kind++) {
			count->different[kind] += difference[kind].verdict == STATS_DIFFERENT;
			count->too_few[kind] += difference[kind].verdict == STATS_TOO_FEW;
		}
	}
	return ret;
}
