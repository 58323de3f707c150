// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_worst.c
 * @brief	What the index of the worst moments takes; markers drawn beside shading.
 *
 * Usage: bench_worst [EXITS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "virt_worst.h"

#define VCPUS	16
#define COLUMNS	1600
/** Pixels that a marker needs. */
#define MARKER	16
#define ROUNDS	9

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/** Guests that exit again and again, and are preempted at times. Return: the end of the trace. */
static int64_t fill(struct virt_model *model, size_t exits)
{
	int32_t machine = virt_model_add_machine(model, 1, "d1");
	uint64_t random = 1;
	int64_t t = 0;

	for (int32_t i = 0; i < VCPUS; i++)
		virt_model_add_vcpu(model, machine, i, i + 1, "v");
	for (size_t i = 0; i < exits; i++) {
		int32_t vcpu = (int32_t)(i % VCPUS);
		int16_t pcpu = (int16_t)vcpu;

		random = random * 6364136223846793005u + 1442695040888963407u;
		t += 20;
		virt_model_set(model, vcpu, t, VIRT_HYPERVISOR, pcpu, VIRT_NONE,
			       VIRT_INTERVAL_EXIT);
		if (!(random >> 60))
			virt_model_set(model, vcpu, t + 2, VIRT_PREEMPTED, pcpu, VIRT_NONE, 0);
		virt_model_set(model, vcpu, t + 4 + (int64_t)(random >> 33) % 250, VIRT_GUEST, pcpu,
			       VIRT_NONE, 0);
	}
	return t + 1000;
}

/** Best times of a redraw of all graphs: shading, markers, the worst 100. */
static void redraw(const struct virt_model *model, const struct virt_worst *worst, int64_t from,
		   int64_t to)
{
	static int64_t totals[COLUMNS][VIRT_N_STATES];
	static struct virt_worst_hit hits[COLUMNS];
	struct virt_worst_query query = { from, to, VIRT_WORST_ALL_KINDS, NULL, 1, { 0 }, false };
	double best[3] = { 1e9, 1e9, 1e9 };

	for (int round = 0; round < ROUNDS; round++) {
		double start = now(), end;

		for (int32_t vcpu = 0; vcpu < VCPUS; vcpu++)
			virt_vcpu_columns(model, vcpu, from, to, totals, COLUMNS);
		end = now();
		best[0] = end - start < best[0] ? end - start : best[0];
		start = end;
		for (int32_t vcpu = 0; vcpu < VCPUS; vcpu++) {
			query.of = &vcpu;
			virt_worst_columns(worst, &query, hits, COLUMNS / MARKER);
		}
		end = now();
		best[1] = end - start < best[1] ? end - start : best[1];
		start = end;
		query.of = NULL;
		virt_worst_top(worst, &query, hits, 100);
		end = now();
		best[2] = end - start < best[2] ? end - start : best[2];
	}
	printf("window_ns=%lld shading_ms=%.3f markers_ms=%.3f top100_ms=%.3f\n",
	       (long long)(to - from), 1e3 * best[0], 1e3 * best[1], 1e3 * best[2]);
}

int main(int argc, char **argv)
{
	size_t exits = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
	struct virt_model *model = virt_model_new();
	struct virt_worst *worst;
	int64_t end;
	double start;

	if (!model)
		return 1;
	end = fill(model, exits);
	if (virt_model_finish(model, 0, end))
		return 1;
	start = now();
	worst = virt_worst_new(model, false, NULL, 0);
	if (!worst)
		return 1;
	printf("exits=%zu index_s=%.2f ns_per_exit=%.1f\n", exits, now() - start,
	       1e9 * (now() - start) / (double)exits);
	for (int64_t part = 1; part <= 100000; part *= 10)
		redraw(model, worst, end / 2, end / 2 + end / 2 / part);
	virt_worst_free(worst);
	virt_model_free(model);
	return 0;
}
