// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_model.c
 * @brief	What a vCPU model costs: to fill, to keep, and to ask for every pixel of a screen.
 *
 * Usage: bench_model [INTERVALS...]	default: 100000 10000000
 *
 * 16 vCPUs of 4 machines on 8 pCPUs that run, exit, wait, sleep and move. Prints one line of
 * name=value pairs per size, and how much slower the last size is asked than the first.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "virt_model.h"

#define VCPUS		16
#define PCPUS		8
#define PIXELS		1600
#define REASONS		20
#define ROUNDS		20

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static size_t memory(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static uint32_t rnd(uint32_t n)
{
	static uint64_t seed = 88172645463325252ULL;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) % n;
}

/** One pCPU at a time schedules, so that the changes are in order of time. */
static int64_t fill(struct virt_model *model, size_t n)
{
	static const enum virt_state without_pcpu[] = { VIRT_PREEMPTED, VIRT_BLOCKED };
	int32_t on[PCPUS];
	int64_t time = 0;

	for (int i = 0; i < REASONS; i++) {
		char name[24];

		snprintf(name, sizeof(name), "REASON_%d", i);
		virt_model_add_reason(model, name);
	}
	for (int i = 0; i < 4; i++)
		virt_model_add_machine(model, i, "m");
	for (int i = 0; i < VCPUS; i++)
		virt_model_add_vcpu(model, i / 4, i % 4, 10000 * (i / 4) + i % 4, "v");
	for (int i = 0; i < PCPUS; i++)
		on[i] = i;
	while (n) {
		int16_t pcpu = rnd(PCPUS);
		int32_t vcpu = on[pcpu];

		time += 100 + rnd(200);
		if (rnd(4)) {
			virt_model_set(model, vcpu, time, VIRT_HYPERVISOR, pcpu, rnd(REASONS),
				       VIRT_INTERVAL_EXIT);
			time += 100 + rnd(200);
			virt_model_set(model, vcpu, time, VIRT_GUEST, pcpu, VIRT_NONE, 0);
			n -= n > 1 ? 2 : 1;
			continue;
		}
		/* another one takes the pCPU */
		do {
			on[pcpu] = rnd(VCPUS);
			for (int i = 0; i < PCPUS; i++)
				if (i != pcpu && on[i] == on[pcpu])
					on[pcpu] = vcpu;
		} while (on[pcpu] == vcpu);
		virt_model_set(model, vcpu, time, without_pcpu[rnd(2)], pcpu, VIRT_NONE, 0);
		virt_model_set(model, on[pcpu], time, VIRT_GUEST, pcpu, VIRT_NONE, 0);
		virt_model_occupy(model, pcpu, time, on[pcpu], true);
		n -= n > 1 ? 2 : 1;
	}
	return time + 1;
}

/** Seconds for the totals of every pixel of all vCPUs, of all pCPUs, and for one dock. */
static void ask(const struct virt_model *model, double seconds[3], int64_t *check)
{
	int64_t end = virt_model_end(model);
	double begin = now();

	for (int i = 0; i < VCPUS; i++) {
		int64_t ns[PIXELS][VIRT_N_STATES];

		virt_vcpu_columns(model, i, 0, end, ns, PIXELS);
		*check += ns[PIXELS / 2][VIRT_GUEST];
	}
	seconds[0] = now() - begin;
	begin = now();
	for (int i = 0; i < VCPUS; i++) {
		struct virt_pcpu_totals totals[PIXELS];

		virt_pcpu_columns(model, i % PCPUS, 0, end, totals, PIXELS);
		*check += totals[PIXELS / 2].state_ns[VIRT_GUEST];
	}
	seconds[1] = now() - begin;
	begin = now();
	for (int i = 0; i < VCPUS; i++) {
		struct virt_exit_total exits[REASONS];
		struct virt_culprit culprits[VCPUS];

		virt_vcpu_exits(model, i, end / 3, end / 3 * 2, exits, REASONS);
		virt_vcpu_culprits(model, i, end / 3, end / 3 * 2, culprits, VCPUS);
		*check += exits[0].ns + culprits[0].ns;
	}
	seconds[2] = now() - begin;
}

static int bench(size_t wanted, double best[3])
{
	size_t before = memory(), n = 0, occupants = 0, bytes;
	struct virt_model *model = virt_model_new();
	double begin = now(), filled, finished;
	int64_t check = 0, end;

	if (!model)
		return 1;
	end = fill(model, wanted);
	filled = now();
	if (virt_model_finish(model, 0, end)) {
		fprintf(stderr, "no memory\n");
		return 1;
	}
	finished = now();
	bytes = memory() - before;
	for (int i = 0; i < VCPUS; i++)
		n += virt_vcpu_intervals(model, i, 0, end).n;
	for (int i = 0; i < PCPUS; i++)
		occupants += virt_pcpu_occupants(model, i, 0, end).n;
	for (int i = 0; i < ROUNDS; i++) {
		double seconds[3];

		ask(model, seconds, &check);
		for (int j = 0; j < 3; j++)
			if (!i || seconds[j] < best[j])
				best[j] = seconds[j];
	}
	printf("intervals=%zu occupants=%zu fill_ns=%.1f finish_ns=%.1f bytes=%.2f "
	       "vcpu_graphs_ms=%.2f pcpu_graphs_ms=%.2f dock_ms=%.3f check=%llx\n",
	       n, occupants, (filled - begin) / n * 1e9, (finished - filled) / n * 1e9,
	       (double)bytes / n, best[0] * 1e3, best[1] * 1e3, best[2] * 1e3,
	       (unsigned long long)check);
	fflush(stdout);
	virt_model_free(model);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const sizes[] = { NULL, "100000", "10000000" };
	const char *const *size = (const char *const *)argv;
	double first[3], last[3];

	if (argc < 2) {
		size = sizes;
		argc = 3;
	}
	for (int i = 1; i < argc; i++)
		if (bench(strtoull(size[i], NULL, 10), i == 1 ? first : last))
			return 1;
	if (argc > 2)
		printf("ratio vcpu_graphs=%.2f pcpu_graphs=%.2f dock=%.2f\n",
		       last[0] / first[0], last[1] / first[1], last[2] / first[2]);
	return 0;
}
