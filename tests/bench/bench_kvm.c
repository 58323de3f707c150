// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_kvm.c
 * @brief	What building the vCPU model adds to KernelShark's load time of a KVM host's trace.
 *
 * Usage: bench_kvm FILE.dat [ROUNDS]		default: 15 rounds
 *
 * Loads the file through libkshark with and without collecting its records, in turns, and makes the
 * model. Prints the fastest of each, as what else runs on the machine is not ours, and how much the
 * model adds in percent. Exit status 1 if that is more than 30.
 */
#include <libkshark.h>
#include <libkshark-plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kvm_stream.h"
#include "virt_registry.h"

#define LIMIT_PERCENT	30.0

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

struct result {
	double	load, model;	/* seconds */
	ssize_t	rows;
	int32_t	vcpus;
};

/** Load once. Return: false if the file cannot be read. */
static bool load(const char *path, bool collect, struct result *result)
{
	struct kshark_context *kshark = NULL;
	struct kshark_entry **rows = NULL;
	struct virt_shared *shared;
	double begin;
	int sd;

	if (!kshark_instance(&kshark))
		return false;
	sd = kshark_open(kshark, path);
	if (sd < 0)
		return false;
	if (collect && kvm_stream_attach(kshark_get_data_stream(kshark, sd)) < 1)
		return false;
	begin = now();
	result->rows = kshark_load_entries(kshark, sd, &rows);
	result->load = now() - begin;
	begin = now();
	shared = virt_registry_get(sd);
	result->model = now() - begin;
	result->vcpus = shared ? virt_model_n_vcpus(virt_shared_model(shared)) : 0;
	virt_shared_put(shared);
	for (ssize_t i = 0; i < result->rows; i++)
		free(rows[i]);
	free(rows);
	if (collect)
		kvm_stream_detach(kshark_get_data_stream(kshark, sd));
	kshark_close(kshark, sd);
	kshark_free(kshark);
	return result->rows > 0;
}

int main(int argc, char **argv)
{
	struct result best[2] = { { .load = 1e9, .model = 1e9 }, { .load = 1e9, .model = 1e9 } };
	int rounds = argc > 2 ? atoi(argv[2]) : 15;
	double added;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE.dat [ROUNDS]\n", argv[0]);
		return 2;
	}
	for (int i = 0; i < 2 * rounds; i++) {
		struct result result = { 0 }, *kept = &best[i % 2];

		if (!load(argv[1], i % 2, &result)) {
			fprintf(stderr, "%s: cannot be loaded\n", argv[1]);
			return 2;
		}
		kept->rows = result.rows;
		kept->vcpus = result.vcpus;
		kept->load = result.load < kept->load ? result.load : kept->load;
		kept->model = result.model < kept->model ? result.model : kept->model;
	}
	added = 100 * (best[1].load + best[1].model - best[0].load) / best[0].load;
	printf("rows=%zd vcpus=%d load_ms=%.2f load_and_collect_ms=%.2f model_ms=%.2f "
	       "added_percent=%.1f\n", best[1].rows, (int)best[1].vcpus, best[0].load * 1e3,
	       best[1].load * 1e3, best[1].model * 1e3, added);
	return added > LIMIT_PERCENT;
}
