// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hz_contradicts.c
 * @brief	Compare the frequency that a user gives with the known frequency of the trace.
 */
#include <stdio.h>

#include "hz_contradicts.h"

/** People write 2.6 GHz for 2596.133 MHz, while 2.4 GHz instead of 2.3 is a mistake. */
#define ROUNDED_PPM	5000

/** How many standard errors away from an estimate a frequency may be. */
#define FEW_ERRORS	6

bool hz_contradicts(uint64_t hz, uint64_t known_hz, double residual_ppm, const char *source,
		    char *text, size_t size)
{
	double given = (double)hz, known = (double)known_hz;
	double ppm = (given > known ? given - known : known - given) / known * 1e6;

	if (hz == HZ_CYCLES_AS_NS || ppm <= ROUNDED_PPM + FEW_ERRORS * residual_ppm)
		return false;
	if (text)
		snprintf(text, size, "--cpu-hz or XEN_CPUHZ is %.6f MHz, but the trace knows that "
			 "its TSC has %.6f MHz (%s): leave it out", given / 1e6, known / 1e6,
			 source);
	return true;
}
