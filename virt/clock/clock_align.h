/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_align.h
 * @brief	Put the trace of a guest on the time axis of its host's trace, by causality alone.
 *
 * A CPU of a guest can record an event only while the host lets its vCPU execute guest code. So
 * each event permits only those differences of the two clocks that put it into such a time; all
 * events together leave an interval of differences. An interrupt handler runs shortly after the
 * host has injected its interrupt: handlers decide between the differences that events leave open.
 *
 *     host time = guest time * (1 + drift_ppm / 1000000) + offset
 *
 * With a drift, the offset depends on the time. The offset in this formula is that at the guest's
 * time 0, which may be long before the trace. The result of a search is the offset at a time at
 * which it is known best; virt_clock_offset_at() converts it to another time. Times are in any
 * unit, the same on both sides: ns, or cycles of a TSC. The functions keep no state between calls
 * and may be called from any thread.
 */
#ifndef KSHARK_VIRT_CLOCK_ALIGN_H
#define KSHARK_VIRT_CLOCK_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_delivery.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An alignment that explains a smaller share of the guest's events is refused. */
#define VIRT_CLOCK_MIN_PERCENT	95.0

/** One that fewer events speak for, too. */
#define VIRT_CLOCK_MIN_EVENTS	50

/** Clocks that others have aligned are doubted if they explain less. */
#define VIRT_CLOCK_DOUBT_PERCENT 99.5

/** Clocks that drift faster than this are not recognized. */
#define VIRT_CLOCK_MAX_PPM	250.0

/** Whether a vCPU can have recorded an event. */
enum virt_clock_where {
	VIRT_CLOCK_OUTSIDE = 0,	/* no: it is known to have done something else */
	VIRT_CLOCK_INSIDE,	/* yes: it executed guest code */
	VIRT_CLOCK_UNKNOWN,	/* the host's trace does not show it: events do not count */
};

/** Valid from @time up to the next change; before the first change all is unknown. */
struct virt_clock_change {
	int64_t		time;
	int32_t		where;		/* enum virt_clock_where */
};

/** What a host knows of a vCPU, in ascending order of time. The last one goes on for ever. */
struct virt_clock_vcpu {
	const struct virt_clock_change *changes;
	size_t		n;
	const struct virt_injection *injections; /* ascending; may be NULL */
	size_t		n_injections;
};

/** The interrupt of a handler, if it is not a vector. */
enum virt_clock_vector {
	VIRT_CLOCK_ANY = VIRT_NONE,
	VIRT_CLOCK_DEVICE = -2,		/* any that is not Linux's own */
};

/** The guest enters the handler of an interrupt. */
struct virt_clock_handler {
	int64_t		time;
	int32_t		vector;		/* or enum virt_clock_vector */
};

/** The events of one of the guest's CPUs, in ascending order. */
struct virt_clock_cpu {
	const int64_t	*times;
	size_t		n;
	int32_t		vcpu;		/* which one it is; VIRT_NONE: to be found out */
	const struct virt_clock_handler *handlers; /* ascending; may be NULL */
	size_t		n_handlers;
};

/** What is to be aligned. */
struct virt_clock_problem {
	const struct virt_clock_vcpu *vcpus;
	int32_t		n_vcpus;
	const struct virt_clock_cpu *cpus;
	int32_t		n_cpus;
	bool		(*stop)(void *arg);	/* called often; true: stop. NULL: never */
	void		*stop_arg;
	uint64_t	*work;		/* work left, in steps of about a ns; the work done is
					 * subtracted; NULL: there is no limit */
};

/** What speaks for an alignment and against it, of one of the guest's CPUs. */
struct virt_clock_evidence {
	int32_t		vcpu;		/* which one it is; VIRT_NONE: not known */
	uint64_t	inside;		/* events where they can be */
	uint64_t	outside;	/* and where they cannot */
	uint64_t	unknown;	/* not judged */
	uint64_t	stretches;	/* of guest code with at least one event in them */
	int64_t		worst;		/* how far outside the worst one is; 0 if none is */
	uint64_t	interrupts;	/* handlers of interrupts that the host may have injected */
	uint64_t	interrupts_explained; /* those shortly after such an injection */
};

/** Why an alignment is refused. */
enum virt_clock_verdict {
	VIRT_CLOCK_GOOD = 0,
	VIRT_CLOCK_POOR,	/* too many events are not explained */
	VIRT_CLOCK_AMBIGUOUS,	/* another offset explains nearly as much */
	VIRT_CLOCK_FEW,		/* so few events are judged, or the vCPU executed its guest so
				 * nearly always, that chance would explain them as well */
	VIRT_CLOCK_DENSE,	/* all work that may be done has been, and nothing is known */
};

/** An alignment and its quality. */
struct virt_clock_alignment {
	enum virt_clock_verdict verdict;
	int64_t		at;		/* the guest's time of: */
	int64_t		offset;		/* in, or near, the middle of: */
	int64_t		lo, hi;		/* all these are possible at that time, with some drift */
	double		drift_ppm;	/* a multiple of 1e-6; 0: the events show none */
	double		drift_lo_ppm, drift_hi_ppm; /* these are possible, with some offset */
	uint64_t	inside, outside, unknown;
	double		explained_percent; /* inside of all that are judged; 0 without any */
	uint64_t	interrupts, interrupts_explained; /* of all CPUs */
	bool		by_interrupts;	/* more interrupts are explained than chance can explain */
	int64_t		worst;
	int64_t		other_offset;	/* VIRT_CLOCK_AMBIGUOUS: the next best one */
};

/** virt_clock_host_time - from a time of the guest to the host's; what does not fit is cut. */
int64_t virt_clock_host_time(int64_t offset, double drift_ppm, int64_t guest_time);

/** virt_clock_offset_at - from the offset at a time of the guest, @at, to that at another one */
int64_t virt_clock_offset_at(int64_t offset, double drift_ppm, int64_t at, int64_t guest_time);

/**
 * virt_clock_align - find offset and drift
 * @evidence: receives one for each of the guest's CPUs
 *
 * A vCPU is given to at most one CPU of unknown pairing. The initial difference of the clocks
 * does not matter. The offset is that at a time of the guest's events at which they leave it least
 * open; lo .. hi has those at that time of all lines that explain as many events, or hardly fewer
 * if some are not explained anyhow. Times may be wrong by 500 ns or cycles. The result is the best
 * there is also if it is refused, with at = 0. Handlers count where events leave it open, and only
 * if nearly all of them are explained.
 *
 * Return: 0, -ENOMEM, -ECANCELED because of @problem->stop, or -EINVAL (order of times, numbers
 * that do not exist).
 */
int virt_clock_align(const struct virt_clock_problem *problem,
		     struct virt_clock_alignment *alignment,
		     struct virt_clock_evidence *evidence);

/**
 * virt_clock_judge - count the events that a given alignment explains
 * @offset: at 0, and so are those of @alignment
 *
 * CPUs of unknown pairing are not judged. The verdict is about the share and the number of events
 * alone; lo and hi are where more events would not be explained near the offset, with that drift,
 * if it is good, else the offset.
 *
 * Return: as virt_clock_align().
 */
int virt_clock_judge(const struct virt_clock_problem *problem, int64_t offset, double drift_ppm,
		     struct virt_clock_alignment *alignment,
		     struct virt_clock_evidence *evidence);

/** virt_clock_verdict_text - the fault of an alignment, for people; "good" if it has none. */
const char *virt_clock_verdict_text(enum virt_clock_verdict verdict);

#ifdef __cplusplus
}
#endif
#endif
