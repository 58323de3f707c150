// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_shading.c
 * @brief	What a redraw costs: the shapes of 16 graphs of 1600 pixels.
 *
 * Usage: bench_shading [CHANGES...]	default: 100000 10000000
 *
 * 8 pCPUs and 8 vCPUs that exit, wait and move. The whole trace, a tenth, a thousandth and 20 us of
 * it are drawn. Prints one line of name=value pairs per size, and how much slower the last size is
 * than the first. Exit status 1 if a redraw takes more than 10 ms or twice as long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "virt_shading.h"

#define VCPUS		8
#define PCPUS		8
#define COLUMNS		1600
#define PARTS		17
#define ROUNDS		15
#define LIMIT_MS	10.0
#define LIMIT_RATIO	2.0

static const double zooms[] = { 1, 0.1, 0.001, 0 };	/* 0: 20 us */

#define N_ZOOMS		(sizeof(zooms) / sizeof(zooms[0]))

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static uint32_t rnd(uint32_t n)
{
	static uint64_t seed = 88172645463325252ULL;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

/** vCPUs in guest mode and out of it, that change places now and then. Return: its end. */
static int64_t fill(struct virt_model *model, size_t changes)
{
	int32_t on[PCPUS];
	int64_t time = 0;
	char name[16];

	virt_model_add_machine(model, 1, "d1");
	for (int32_t i = 0; i < VCPUS; i++) {
		snprintf(name, sizeof(name), "d1v%d", (int)i);
		virt_model_add_vcpu(model, 0, i, 20000 + i, name);
	}
	for (int i = 0; i < PCPUS; i++) {
		on[i] = i;
		virt_model_occupy(model, i, 0, i, true);
	}
	for (size_t i = 0; i < changes; i++) {
		int p = (int)rnd(PCPUS), other = (int)rnd(PCPUS), dice = (int)rnd(20);

		time += 100 + rnd(900);
		if (dice == 0 && other != p) {
			int32_t moved = on[p];

			on[p] = on[other];
			on[other] = moved;
			virt_model_set(model, on[p], time, VIRT_PREEMPTED, other, on[other], 0);
			virt_model_occupy(model, p, time, on[p], true);
			virt_model_occupy(model, other, time, on[other], true);
			virt_model_set(model, on[p], time, VIRT_GUEST, p, VIRT_NONE, 0);
			virt_model_set(model, on[other], time, VIRT_GUEST, other, VIRT_NONE, 0);
		} else {
			virt_model_set(model, on[p], time,
				       dice % 2 ? VIRT_GUEST : VIRT_HYPERVISOR, p, VIRT_NONE, 0);
		}
	}
	return time + 1000;
}

static int draw(const struct virt_model *model, int64_t from, int64_t length)
{
	static struct virt_shade_run runs[COLUMNS];
	struct virt_shade_window window = {
		.from_ns = from, .column_ns = length / COLUMNS + 1, .n_columns = COLUMNS,
		.n_parts = PARTS,
	};
	int n = 0;

	for (int32_t i = 0; i < PCPUS; i++)
		n += virt_shade_pcpu(model, i, &window, runs);
	for (int32_t i = 0; i < VCPUS; i++)
		n += virt_shade_vcpu(model, i, &window, runs);
	return n;
}

/** The fastest of some redraws at each zoom: what else runs on the machine is not ours. */
static void measure(size_t changes, double *best)
{
	struct virt_model *model = virt_model_new();
	int64_t end = fill(model, changes);

	virt_model_finish(model, 0, end);
	printf("changes=%zu", changes);
	for (size_t zoom = 0; zoom < N_ZOOMS; zoom++) {
		int64_t length = zooms[zoom] > 0 ? (int64_t)(end * zooms[zoom]) : 20000;
		int runs = 0;

		best[zoom] = 1e9;
		for (int i = 0; i < ROUNDS; i++) {
			double before = now_ms(), ms;

			runs = draw(model, (end - length) / 2, length);
			ms = now_ms() - before;
			best[zoom] = ms < best[zoom] ? ms : best[zoom];
		}
		printf(" zoom%zu_ms=%.3f zoom%zu_runs=%d", zoom, best[zoom], zoom, runs);
	}
	printf("\n");
	virt_model_free(model);
}

int main(int argc, char **argv)
{
	double first[N_ZOOMS], last[N_ZOOMS], worst = 0, most = 0;
	int n = argc > 1 ? argc - 1 : 2;

	for (int i = 0; i < n; i++)
		measure(argc > 1 ? strtoull(argv[i + 1], NULL, 0) : i ? 10000000 : 100000,
			i ? last : first);
	for (size_t zoom = 0; zoom < N_ZOOMS && n > 1; zoom++) {
		worst = last[zoom] / first[zoom] > worst ? last[zoom] / first[zoom] : worst;
		most = last[zoom] > most ? last[zoom] : most;
	}
	printf("worst_ratio=%.2f most_ms=%.3f\n", worst, most);
	return worst > LIMIT_RATIO || most > LIMIT_MS;
}
