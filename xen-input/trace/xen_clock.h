/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_clock.h
 * @brief	Convert TSC cycles to nanoseconds, exactly, and find the frequency.
 *
 * ns = floor((tsc - base) * 10^9 / hz) for any 64-bit TSC, without a rounded factor in between.
 */
#ifndef KSHARK_VIRT_XEN_CLOCK_H
#define KSHARK_VIRT_XEN_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xentrace;

/** Where the frequency comes from; the first that is available is taken, in this order. */
enum xen_clock_source {
	XEN_CLOCK_OPTION = 0,	/* --cpu-hz or XEN_CPUHZ */
	XEN_CLOCK_SIDECAR,	/* cpu_khz of <trace>.meta.json */
	XEN_CLOCK_CALIBRATED,	/* fitted to the run times in the trace's scheduler records */
	XEN_CLOCK_ASSUMED,	/* nothing known: XEN_CLOCK_ASSUMED_HZ */
};

/** The frequency that is assumed if none is known, as in xenalyze. */
#define XEN_CLOCK_ASSUMED_HZ	2400000000ULL

/** Frequencies that are taken for real (Hz). */
#define XEN_CLOCK_MIN_HZ	1000000ULL
#define XEN_CLOCK_MAX_HZ	100000000000ULL

/** A clock; plain data, to be copied at will. */
struct xen_clock {
	uint64_t	hz;
	uint64_t	base_tsc;	/* this TSC is time 0 */
	enum xen_clock_source source;
	double		residual_ppm;	/* CALIBRATED: standard error of hz, in ppm; else 0 */
	uint64_t	n_samples;	/* CALIBRATED: run times used; else 0 */
	/* derived by xen_clock_init() */
	uint64_t	whole;		/* 10^9 / hz */
	uint64_t	rest;		/* 10^9 % hz */
	uint64_t	factor;		/* floor(rest * 2^64 / hz) */
};

/** xen_clock_init - set up a clock; @hz must lie within XEN_CLOCK_MIN_HZ .. MAX_HZ. */
void xen_clock_init(struct xen_clock *clock, uint64_t hz, enum xen_clock_source source,
		    uint64_t base_tsc);

/**
 * xen_clock_ns - the time of a TSC value, in ns since the base (negative before it)
 *
 * Exact: rounded down to whole ns for TSCs after the base, towards zero before it. Saturates at
 * INT64_MAX / INT64_MIN (292 years).
 */
static inline int64_t xen_clock_ns(const struct xen_clock *clock, uint64_t tsc);

/** xen_clock_tsc - the smallest TSC whose time is at least @ns (not before TSC 0). */
uint64_t xen_clock_tsc(const struct xen_clock *clock, int64_t ns);

/** xen_clock_cycles_to_ns - a duration, floor(cycles * 10^9 / hz), saturating at UINT64_MAX. */
static inline uint64_t xen_clock_cycles_to_ns(const struct xen_clock *clock, uint64_t cycles)
{
	/* floor(rest * cycles / hz) from a factor that is too small by less than 1/2^64 */
	uint64_t part = (uint64_t)(((unsigned __int128)cycles * clock->factor) >> 64);
	uint64_t remainder = cycles * clock->rest - part * clock->hz;
	uint64_t high;

	if (remainder >= clock->hz)
		part++;
	if (!clock->whole)
		return part;
	if (__builtin_mul_overflow(cycles, clock->whole, &high) ||
	    __builtin_add_overflow(part, high, &part))
		return UINT64_MAX;
	return part;
}

static inline int64_t xen_clock_ns(const struct xen_clock *clock, uint64_t tsc)
{
	uint64_t ns;

	if (__builtin_expect(tsc >= clock->base_tsc, 1)) {
		ns = xen_clock_cycles_to_ns(clock, tsc - clock->base_tsc);
		return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
	}
	ns = xen_clock_cycles_to_ns(clock, clock->base_tsc - tsc);
	return ns > INT64_MAX ? INT64_MIN : -(int64_t)ns;
}

/**
 * xen_clock_parse_hz - a frequency as people write it
 * @text: 2.4G 2,4G 2400M 2399998K (kHz), with or without a trailing "Hz", or plain Hz
 *
 * Return: 0, -EINVAL if it is no number with such a suffix, -ERANGE outside MIN..MAX.
 */
int xen_clock_parse_hz(const char *text, uint64_t *hz);

/** Result of a calibration. */
struct xen_clock_fit {
	uint64_t	hz;
	double		residual_ppm;
	uint64_t	n_samples;
	uint64_t	span_ns;	/* sum of the spans that carry the fit */
};

/**
 * xen_clock_calibrate - find the frequency from a trace's own scheduler records
 *
 * TRC_SCHED_SWITCH_INFPREV and _INFCONT carry in ns how long the vCPU ran; on each pCPU the run
 * times follow each other without gaps, so that their running sum is that pCPU's system time, read
 * beside the TSC of the same record. The slope is fitted robustly (outliers and lost records do
 * not bend it).
 *
 * Return: 0, -ENODATA if the trace has too few of these records, -ENOMEM, or -ESTALE if it could
 * not be read to its end.
 */
int xen_clock_calibrate(const struct xentrace *reader, struct xen_clock_fit *fit);

/** xen_clock_source_name - option, sidecar, calibrated, assumed. */
const char *xen_clock_source_name(enum xen_clock_source source);

/** xen_clock_text - one line for people: frequency, source, residual. Return: as snprintf(). */
int xen_clock_text(char *buf, size_t size, const struct xen_clock *clock);

#ifdef __cplusplus
}
#endif
#endif
