// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	tsc_khz.c
 * @brief	The frequency of the TSC, for kernels in emulated machines, which measure it less exactly.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(void)
{
	double begin = now();
	unsigned long long tsc = __rdtsc();

	while (now() < begin + 2e9)
		;
	printf("%.0f\n", (double)(__rdtsc() - tsc) / (now() - begin) * 1e6);
	return 0;
}
