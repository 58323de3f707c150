// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_clock.c
 * @brief	Convert TSC cycles to nanoseconds, exactly.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "xen_clock.h"

#define NS_PER_S	1000000000ULL

void xen_clock_init(struct xen_clock *clock, uint64_t hz, enum xen_clock_source source,
		    uint64_t base_tsc)
{
	*clock = (struct xen_clock){
		.hz = hz, .base_tsc = base_tsc, .source = source,
		.whole = NS_PER_S / hz, .rest = NS_PER_S % hz,
	};
	clock->factor = ((unsigned __int128)clock->rest << 64) / hz;
}

uint64_t xen_clock_tsc(const struct xen_clock *clock, int64_t ns)
{
	unsigned __int128 magnitude = ns < 0 ? -(__int128)ns : ns;
	unsigned __int128 cycles;

	cycles = magnitude * clock->hz;
	if (ns <= 0) {
		/* times before the base are rounded towards it */
		cycles = (cycles + clock->hz + NS_PER_S - 1) / NS_PER_S - 1;
		return ns == INT64_MIN || cycles > clock->base_tsc
			? 0 : clock->base_tsc - (uint64_t)cycles;
	}
	cycles = (cycles + NS_PER_S - 1) / NS_PER_S + clock->base_tsc;
	return cycles > UINT64_MAX ? UINT64_MAX : (uint64_t)cycles;
}

/** The factor of a unit: G, M, K or k, each with an optional Hz. Return: 0 if it is none. */
static uint64_t unit_factor(const char *unit)
{
	uint64_t factor = 1;

	switch (*unit) {
	case 'G': case 'g':
		factor = 1000000000;
		unit++;
		break;
	case 'M': case 'm':
		factor = 1000000;
		unit++;
		break;
	case 'K': case 'k':
		factor = 1000;
		unit++;
		break;
	default:
		break;
	}
	return !*unit || !strcasecmp(unit, "Hz") ? factor : 0;
}

int xen_clock_parse_hz(const char *text, uint64_t *hz)
{
	unsigned __int128 value = 0, scale = 1;
	bool fraction = false, digits = false;
	uint64_t factor;

	for (; ; text++) {
		if (*text >= '0' && *text <= '9') {
			if (value > UINT64_MAX || scale > NS_PER_S * NS_PER_S)
				return -ERANGE;
			value = value * 10 + (*text - '0');
			scale *= fraction ? 10 : 1;
			digits = true;
		} else if ((*text == '.' || *text == ',') && !fraction) {
			fraction = true;
		} else {
			break;
		}
	}
	while (*text == ' ')
		text++;
	factor = unit_factor(text);
	if (!digits || !factor)
		return -EINVAL;
	value = value * factor / scale;
	if (value < XEN_CLOCK_MIN_HZ || value > XEN_CLOCK_MAX_HZ)
		return -ERANGE;
	*hz = value;
	return 0;
}

const char *xen_clock_source_name(enum xen_clock_source source)
{
	static const char *const names[] = {
		[XEN_CLOCK_OPTION] = "option",
		[XEN_CLOCK_SIDECAR] = "sidecar",
		[XEN_CLOCK_CALIBRATED] = "calibrated",
		[XEN_CLOCK_ASSUMED] = "assumed",
	};

	return (unsigned int)source < ARRAY_SIZE(names) ? names[source] : "?";
}

int xen_clock_text(char *buf, size_t size, const struct xen_clock *clock)
{
	unsigned long long mhz = clock->hz / 1000000, rest = clock->hz % 1000000;

	switch (clock->source) {
	case XEN_CLOCK_CALIBRATED:
		return snprintf(buf, size, "%llu.%06llu MHz, calibrated from %llu run times in "
				"the trace, to %.2g ppm", mhz, rest,
				(unsigned long long)clock->n_samples, clock->residual_ppm);
	case XEN_CLOCK_ASSUMED:
		return snprintf(buf, size, "%llu.%06llu MHz is an assumption, and so are all times "
				"and durations: give the true value with --cpu-hz or XEN_CPUHZ "
				"(\"xl info\" on the Xen host: cpu_mhz)", mhz, rest);
	default:
		return snprintf(buf, size, "%llu.%06llu MHz (%s)", mhz, rest,
				xen_clock_source_name(clock->source));
	}
}
