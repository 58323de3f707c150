// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_load.c
 * @brief	How long KernelShark takes to load a xentrace file through our plugin.
 *
 * Usage: bench_load floor N          malloc and fill N entries one by one, what the host demands
 *        bench_load load PLUGIN FILE open and load, then load again
 *
 * Prints one line of name=value pairs: rows, seconds, ns per row, peak memory per row.
 */
#include <libkshark.h>
#include <libkshark-plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/** Wall-clock and user time; the rest is the kernel giving memory, the same for all. */
struct times {
	double	wall, user;
};

static struct times now(void)
{
	struct rusage usage;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	getrusage(RUSAGE_SELF, &usage);
	return (struct times){
		.wall = ts.tv_sec + ts.tv_nsec / 1e9,
		.user = usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6,
	};
}

static void print(const char *what, size_t n, struct times begin)
{
	struct times end = now();
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("%s rows=%zu seconds=%.3f user_seconds=%.3f ns_per_row=%.1f "
	       "peak_mb=%.1f peak_bytes_per_row=%.1f\n",
	       what, n, end.wall - begin.wall, end.user - begin.user,
	       (end.wall - begin.wall) / n * 1e9, usage.ru_maxrss / 1024.0,
	       usage.ru_maxrss * 1024.0 / n);
	fflush(stdout);
}

static void free_rows(struct kshark_entry **rows, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++)
		free(rows[i]);
	free(rows);
}

static int bench_floor(size_t n)
{
	struct times begin = now();
	struct kshark_entry **rows = malloc(n * sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		rows[i] = malloc(sizeof(**rows));
		*rows[i] = (struct kshark_entry){
			.visible = 0xff, .event_id = i & 0xff, .cpu = i & 3,
			.pid = 10000, .offset = 20 * i, .ts = i,
		};
	}
	print("floor", n, begin);
	free_rows(rows, n);
	return 0;
}

static int bench_load(const char *plugin, const char *file)
{
	struct kshark_context *kshark = NULL;
	struct kshark_entry **rows;
	struct times begin;
	ssize_t n;
	int sd;

	if (!kshark_instance(&kshark) || !kshark_register_plugin(kshark, "xentrace", plugin))
		return 3;
	begin = now();
	sd = kshark_open(kshark, file);
	n = sd < 0 ? sd : kshark_load_entries(kshark, sd, &rows);
	if (n <= 0) {
		fprintf(stderr, "%s: cannot load: %zi\n", file, n);
		return 3;
	}
	print("load", n, begin);
	free_rows(rows, n);
	begin = now();
	n = kshark_load_entries(kshark, sd, &rows);
	print("reload", n, begin);
	free_rows(rows, n);
	kshark_close(kshark, sd);
	kshark_free(kshark);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "floor"))
		return bench_floor(strtoull(argv[2], NULL, 10));
	if (argc == 4 && !strcmp(argv[1], "load"))
		return bench_load(argv[2], argv[3]);
	fprintf(stderr, "usage: bench_load floor N | load PLUGIN FILE\n");
	return 2;
}
