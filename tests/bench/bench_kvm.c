// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_kvm.c
 * @brief	How much the states of vCPUs add to KernelShark's time to load a trace.dat.
 *
 * Usage: bench_kvm FILE [ROUNDS]
 *
 * Opens and loads it in turns without and with the tracker, and prints the medians: of that alone,
 * of loading while events are collected, and of making the model, and by how much the last two are
 * more than the first. CPU time of the process, so that other work on the machine counts less.
 */
#include <libkshark.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kvm_stream.h"
#include "virt_registry.h"

#define MAX_ROUNDS	1000

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values, int n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

/** Return: rows, or below 0. */
static ssize_t load(struct kshark_context *kshark, const char *file, bool track, double *loading,
		    double *building)
{
	struct kshark_entry **rows = NULL;
	struct virt_shared *shared;
	double begin = now();
	int sd = kshark_open(kshark, file);
	ssize_t n;

	if (sd < 0)
		return sd;
	if (track && kvm_stream_attach(kshark_get_data_stream(kshark, sd)) != 1)
		return -1;
	n = kshark_load_entries(kshark, sd, &rows);
	*loading = now() - begin;
	begin = now();
	shared = track ? virt_registry_get(sd) : NULL;
	*building = now() - begin;
	if (track && !shared)
		return -1;
	virt_shared_put(shared);
	if (track)
		kvm_stream_detach(kshark_get_data_stream(kshark, sd));
	for (ssize_t i = 0; i < n; i++)
		free(rows[i]);
	free(rows);
	kshark_close(kshark, sd);
	return n;
}

int main(int argc, char **argv)
{
	static double plain[MAX_ROUNDS], tracked[MAX_ROUNDS], building[MAX_ROUNDS], none;
	struct kshark_context *kshark = NULL;
	int rounds = argc > 2 ? atoi(argv[2]) : 11;
	double a, b, c;
	ssize_t n = 0;

	if (argc < 2 || rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: bench_kvm FILE [ROUNDS]\n");
		return 2;
	}
	if (!kshark_instance(&kshark))
		return 3;
	for (int i = 0; i < rounds && n >= 0; i++) {
		n = load(kshark, argv[1], false, &plain[i], &none);
		if (n > 0)
			n = load(kshark, argv[1], true, &tracked[i], &building[i]);
	}
	if (n <= 0) {
		fprintf(stderr, "%s: cannot load it as a KVM host\n", argv[1]);
		return 3;
	}
	a = median(plain, rounds);
	b = median(tracked, rounds);
	c = median(building, rounds);
	printf("rows=%zd load_ms=%.2f collect_ms=%.2f model_ms=%.2f added_percent=%.1f\n", n,
	       1e3 * a, 1e3 * (b - a), 1e3 * c, 100 * (b + c - a) / a);
	kshark_free(kshark);
	return 0;
}
