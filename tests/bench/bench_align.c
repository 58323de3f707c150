// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_align.c
 * @brief	How long the search for a guest's clock takes, of clocks that drift and that do not.
 *
 * Usage: bench_align
 */
#include <stdio.h>
#include <time.h>

#include "clock_world.h"

#define SECOND	CLOCK_WORLD_SECOND
#define USUAL	.n = 2, .in = 300000, .out = 400000, .percent = 80, .events = 4

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int measure(const char *name, const struct clock_recipe *recipe)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world;
	size_t events = 0;
	double start;
	int ret;

	clock_world_make(&world, recipe);
	for (int c = 0; c < recipe->n; c++)
		events += world.cpus[c].n;
	start = now();
	ret = virt_clock_align(&world.problem, &alignment, evidence);
	if (!ret)
		printf("%-24s events=%zu align_s=%.2f off_by_ns=%lld drift_ppm=%.3f %s\n", name,
		       events, now() - start, (long long)clock_world_error(recipe, &alignment),
		       alignment.drift_ppm, virt_clock_verdict_text(alignment.verdict));
	clock_world_drop(&world);
	return ret;
}

int main(void)
{
	int ret = 0;

	ret |= measure("no drift", &(struct clock_recipe){
		USUAL, .seed = 1, .length = 240 * SECOND, .offset = 86400 * SECOND });
	ret |= measure("drift", &(struct clock_recipe){
		USUAL, .seed = 1, .length = 240 * SECOND, .ppm = 100 });
	ret |= measure("drift, 0.5 % anywhere", &(struct clock_recipe){
		USUAL, .seed = 1, .length = 240 * SECOND, .ppm = -150, .wrong = 200 });
	ret |= measure("10 s of the host's", &(struct clock_recipe){
		USUAL, .seed = 1, .length = 240 * SECOND, .host_from = 100 * SECOND,
		.host_to = 110 * SECOND });
	ret |= measure("interrupts", &(struct clock_recipe){
		USUAL, .seed = 1, .length = 160 * SECOND, .irqs = true, .device_percent = 5,
		.has_vectors = true, .offset = 86400 * SECOND });
	ret |= measure("interrupts, drift", &(struct clock_recipe){
		USUAL, .seed = 1, .length = 160 * SECOND, .irqs = true, .device_percent = 5,
		.ppm = 100 });
	ret |= measure("half are not injected", &(struct clock_recipe){
		USUAL, .seed = 1, .length = 160 * SECOND, .irqs = true, .missed_percent = 50,
		.ppm = 100 });
	ret |= measure("a hundredth as much", &(struct clock_recipe){
		USUAL, .seed = 1, .length = 2 * SECOND, .offset = 86400 * SECOND });
	return ret ? 1 : 0;
}
