// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	futexes.c
 * @brief	Two threads that take a mutex in turns, and one that waits until both have ended.
 *
 * usage: futexes TURNS
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define N_THREADS	2

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turns;

/** Keeps the mutex while it works, and while it sleeps. */
static void *run(void *arg)
{
	for (int i = 0; i < turns; i++) {
		pthread_mutex_lock(&mutex);
		for (volatile int work = 0; work < 300000; work++)
			;
		usleep(500);
		pthread_mutex_unlock(&mutex);
		usleep(200);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];

	turns = argc > 1 ? atoi(argv[1]) : 10;
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
