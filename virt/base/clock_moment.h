/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_moment.h
 * @brief	Read all clocks of this machine at one moment.
 */
#ifndef KSHARK_VIRT_CLOCK_MOMENT_H
#define KSHARK_VIRT_CLOCK_MOMENT_H

#include <stdint.h>

struct clock_moment {
	int64_t		realtime_ns;	/* since 1970 */
	int64_t		within_ns;	/* its largest error, as the kernel knows it from what sets
					 * the clock (NTP); -1: not known */
	int64_t		monotonic_ns;	/* CLOCK_MONOTONIC */
	uint64_t	tsc;		/* of this CPU; 0 on machines that have none */
	uint64_t	tsc_within;	/* cycles: the clocks differ by no more */
};

/** clock_read_tsc - the TSC of this CPU; 0 on machines that have none. */
uint64_t clock_read_tsc(void);

/** clock_moment_take - now; the clocks are read several times, and the quickest time counts. */
void clock_moment_take(struct clock_moment *moment);

#endif
