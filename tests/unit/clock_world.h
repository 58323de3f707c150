/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Made-up hosts and guests whose clocks differ as one likes. */
#ifndef KSHARK_VIRT_TESTS_CLOCK_WORLD_H
#define KSHARK_VIRT_TESTS_CLOCK_WORLD_H

#include "clock_align.h"

#define CLOCK_WORLD_VCPUS	4
#define CLOCK_WORLD_SECOND	INT64_C(1000000000)

#define CLOCK_WORLD_TIMER	0xec
#define CLOCK_WORLD_DEVICE	0x22

/** The host's time at which it begins. */
#define CLOCK_WORLD_BEGIN	(1000 * CLOCK_WORLD_SECOND)

/** A host with its vCPUs, and what the guest saw. */
struct clock_world {
	struct virt_clock_change *changes[CLOCK_WORLD_VCPUS];
	int64_t			*times[CLOCK_WORLD_VCPUS];
	struct virt_injection	*injections[CLOCK_WORLD_VCPUS];
	struct virt_clock_handler *handlers[CLOCK_WORLD_VCPUS];
	struct virt_clock_vcpu	vcpus[CLOCK_WORLD_VCPUS];
	struct virt_clock_cpu	cpus[CLOCK_WORLD_VCPUS];
	uint64_t		work;		/* of the problem: clock_world_work() */
	struct virt_clock_problem problem;
};

/** What a guest does for a while. */
struct clock_phase {
	int64_t		length;
	int64_t		in, out;
	int		percent, events;
};

struct clock_recipe {
	unsigned int	seed;
	int		n;		/* vCPUs */
	int64_t		length;
	int64_t		in, out;	/* mean length of a stretch of guest code, and between */
	int		percent;	/* of stretches with events */
	int		events;		/* at most, in a stretch */
	int64_t		margin;		/* no event is nearer to the ends of its stretch */
	int64_t		jitter;		/* by which the guest's times are wrong, at most */
	const struct clock_phase *phases; /* instead of these four, one after the other, again and
					 * again; the last one has no length; or NULL */
	int64_t		offset;
	double		ppm;
	int		wrong;		/* one of this many events is anywhere; 0: none is */
	int		lost_percent;	/* of the host's time */
	int64_t		host_from, host_to; /* what the host traced of it; 0, 0: all */
	bool		periodic;	/* all stretches are the same, with an event at their end
					 * if they have any */
	bool		irqs;		/* each begins with an interrupt, else of a timer: */
	int		device_percent;	/* of them by a device */
	int		missed_percent;	/* of injections the host has not recorded */
	bool		has_vectors;		/* handlers have their vectors */
};

/** clock_world_make - by a recipe; to be given to clock_world_drop() */
void clock_world_make(struct clock_world *world, const struct clock_recipe *recipe);
void clock_world_drop(struct clock_world *world);

/** clock_world_work - what traces with as much in them may cause, with 64 bytes for each event */
uint64_t clock_world_work(const struct virt_clock_problem *problem);

/** clock_world_offset - the true offset at a time of the guest's */
int64_t clock_world_offset(const struct clock_recipe *recipe, int64_t guest_time);

/** clock_world_error - how far an alignment is from the truth, in the middle of the host's trace */
int64_t clock_world_error(const struct clock_recipe *recipe,
			  const struct virt_clock_alignment *alignment);

#endif
