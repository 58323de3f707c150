// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	vcpu_load.c
 * @brief	Threads that work, sleep, yield and move, as those of vCPUs do, or sleep alone
 *
 *	vcpu_load N FILE [idle]
 *
 * FILE receives a line with the number of each thread.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static FILE *list;
static int is_idle;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void *run(void *arg)
{
	intptr_t n = (intptr_t)arg;
	unsigned int seed = (unsigned int)n;
	cpu_set_t cpus;

	if (is_idle)
		pause();
	for (;;) {
		int64_t until_ns = now_ns() + 10000 + rand_r(&seed) % 4000000;

		while (now_ns() < until_ns)
			if (n % 3 == 2)
				sched_yield();
		if (n % 4 == 1) {
			CPU_ZERO(&cpus);
			CPU_SET((size_t)(rand_r(&seed) % sysconf(_SC_NPROCESSORS_ONLN)), &cpus);
			sched_setaffinity(0, sizeof(cpus), &cpus);
		}
		if (rand_r(&seed) % 4)
			usleep(50 + (unsigned int)rand_r(&seed) % 3000);
	}
	return NULL;
}

struct start {
	intptr_t	n;
	pthread_barrier_t *begun;
};

static void *start(void *arg)
{
	const struct start *start = arg;
	intptr_t n = start->n;

	fprintf(list, "%ld\n", (long)syscall(SYS_gettid));
	fflush(list);
	pthread_barrier_wait(start->begun);
	return run((void *)n);
}

int main(int argc, char **argv)
{
	int n = argc >= 3 ? atoi(argv[1]) : 0;

	list = n > 0 ? fopen(argv[2], "w") : NULL;
	if (!list)
		return 2;
	is_idle = argc > 3;
	for (int i = 0; i < n; i++) {
		pthread_barrier_t begun;
		struct start one = { .n = i, .begun = &begun };
		pthread_t thread;

		pthread_barrier_init(&begun, NULL, 2);
		if (pthread_create(&thread, NULL, start, &one))
			return 1;
		pthread_barrier_wait(&begun);
	}
	fclose(list);
	pause();
	return 0;
}
