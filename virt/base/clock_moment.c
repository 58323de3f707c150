// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_moment.c
 * @brief	Read all clocks of this machine at one moment.
 */
#include <sys/timex.h>
#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "clock_moment.h"

/** How often the clocks are read: the quickest time is the most exact. */
#define TRIES	16

static int64_t ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t clock_read_tsc(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __rdtsc();
#else
	return 0;
#endif
}

/** The error of CLOCK_REALTIME. The kernel lets it grow until the clock is set again. */
static int64_t realtime_within(void)
{
	struct timex now = { 0 };

	return adjtimex(&now) < 0 || now.status & STA_UNSYNC ? -1 :
	       (int64_t)now.maxerror * 1000;
}

void clock_moment_take(struct clock_moment *moment)
{
	uint64_t width = UINT64_MAX;
	int64_t quickest = INT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		int64_t begin = ns_of(CLOCK_MONOTONIC);
		uint64_t before = clock_read_tsc();
		int64_t now = ns_of(CLOCK_REALTIME);
		uint64_t after = clock_read_tsc();
		int64_t end = ns_of(CLOCK_MONOTONIC);

		/* where there is no TSC, the other clock shows which time was the quickest */
		if (after - before > width || (after - before == width && end - begin >= quickest))
			continue;
		width = after - before;
		quickest = end - begin;
		*moment = (struct clock_moment){
			.realtime_ns = now, .monotonic_ns = begin + quickest / 2,
			.tsc = before + width / 2, .tsc_within = width / 2 + 1,
		};
	}
	moment->within_ns = realtime_within();
}
