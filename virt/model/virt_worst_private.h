/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_worst_private.h
 * @brief	Inside the index of the worst moments: code that finding and describing them share.
 */
#ifndef KSHARK_VIRT_VIRT_WORST_PRIVATE_H
#define KSHARK_VIRT_VIRT_WORST_PRIVATE_H

#include "virt_private.h"
#include "virt_worst.h"

struct series;
struct item;
struct top;

/** Levels of blocks of items; more than 2^32 items need. */
#define VIRT_WORST_MAX_LEVELS	8

struct virt_worst {
	const struct virt_model *model;
	bool			by_pcpu;
	struct virt_irq_delivery *irqs;
	size_t			n_irqs;
	int32_t			n_numbers;	/* vCPUs or pCPUs */
	/** VIRT_WORST_N_KINDS per number, and as many at the end for what belongs to none. */
	struct series		*series;
	struct item		*items;		/* series by series */
	uint32_t		n_items;
	/** Of each full block of 16, 256 ... items. */
	struct top		*tops[VIRT_WORST_MAX_LEVELS];
};

/** virt_woken_pcpu - where it comes to run whose wake-up @i ends with interval @end */
static inline int16_t virt_woken_pcpu(const struct virt_vcpu_track *track, size_t i, size_t end)
{
	if (end < track->n && virt_is_on(&track->intervals[end]))
		i = end;
	return track->intervals[i].pcpu;
}

/**
 * virt_wait_part_end - the end of what a vCPU waits for one pCPU, beginning with interval @i
 * @end: of the whole wait
 */
static inline size_t virt_wait_part_end(const struct virt_vcpu_track *track, size_t i, size_t end)
{
	int16_t pcpu = track->intervals[i].pcpu;

	while (i < end && track->intervals[i].pcpu == pcpu)
		i++;
	return i;
}

/**
 * virt_longest_part - the part of the wait of intervals [@i, @end) that takes longest
 *
 * Of equal ones the first. Return: its first interval.
 */
static inline size_t virt_longest_part(const struct virt_model *model,
				       const struct virt_vcpu_track *track, size_t i, size_t end)
{
	size_t longest = i, next;
	int64_t longest_ns = -1;

	for (; i < end; i = next) {
		int64_t ns = -track->intervals[i].start_ns;

		next = virt_wait_part_end(track, i, end);
		ns += virt_time_of(model, track, next);
		if (ns > longest_ns) {
			longest = i;
			longest_ns = ns;
		}
	}
	return longest;
}

/** virt_entry_after - when guest code runs, from interval @i on, before the pCPU is lost. */
static inline int64_t virt_entry_after(const struct virt_vcpu_track *track, size_t i)
{
	for (; i < track->n && virt_state_on_pcpu(track->intervals[i].state); i++)
		if (track->intervals[i].state == VIRT_GUEST)
			return track->intervals[i].start_ns;
	return VIRT_NO_TIME;
}

/** Where a vCPU goes on from, and up to where its guest runs or its state is unknown. */
struct virt_arrival {
	size_t		first, end;	/* intervals [first, end) */
	int64_t		cost_ns;	/* without what the guest asked to wait */
	int64_t		unasked_ns;	/* of it: waits that it did not ask for */
};

/**
 * virt_arrival_at - the way from interval @i to the guest
 * @arrival: that of an earlier interval, or zero: all of a vCPU's in order take one pass
 */
static inline void virt_arrival_at(const struct virt_model *model,
				   const struct virt_vcpu_track *track, size_t i,
				   struct virt_arrival *arrival)
{
	if (arrival->end < i)
		*arrival = (struct virt_arrival){ .first = i, .end = i };
	for (; arrival->first < i; arrival->first++) {
		const struct virt_interval *interval = &track->intervals[arrival->first];
		int64_t ns = virt_interval_end(model, track, arrival->first) - interval->start_ns;

		arrival->cost_ns -= virt_is_cost(interval) ? ns : 0;
		arrival->unasked_ns -= virt_is_unasked(interval) ? ns : 0;
	}
	for (; arrival->end < track->n; arrival->end++) {
		const struct virt_interval *interval = &track->intervals[arrival->end];
		int64_t ns = virt_interval_end(model, track, arrival->end) - interval->start_ns;

		if (interval->state == VIRT_GUEST || interval->state == VIRT_UNKNOWN ||
		    interval->flags & VIRT_INTERVAL_LOOSE)
			break;
		arrival->cost_ns += virt_is_cost(interval) ? ns : 0;
		arrival->unasked_ns += virt_is_unasked(interval) ? ns : 0;
	}
}

/** virt_arrives - whether the trace shows that the guest runs at last */
static inline bool virt_arrives(const struct virt_vcpu_track *track,
				const struct virt_arrival *arrival)
{
	return arrival->end < track->n && track->intervals[arrival->end].state == VIRT_GUEST;
}

/**
 * virt_gap_waits - what a vCPU waited for a pCPU before a migration
 * @at: the interval that begins with it
 * @shown: receives whether its state was known all the time
 */
static inline int64_t virt_gap_waits(const struct virt_vcpu_track *track,
				     const struct virt_migration *migration, size_t at, bool *shown)
{
	int64_t from_ns = migration->time_ns - migration->gap_ns, end_ns = migration->time_ns;
	int64_t waits_ns = 0;

	*shown = true;
	for (size_t i = at < track->n ? at + 1 : track->n; i-- && end_ns > from_ns;) {
		const struct virt_interval *interval = &track->intervals[i];
		int64_t start_ns = interval->start_ns > from_ns ? interval->start_ns : from_ns;

		if (start_ns >= end_ns)
			continue;
		if (virt_wants_pcpu(interval->state))
			waits_ns += end_ns - start_ns;
		*shown &= interval->state != VIRT_UNKNOWN;
		end_ns = start_ns;
	}
	return waits_ns;
}

/**
 * virt_migration_cost - what a migration costs, see VIRT_WORST_MIGRATION
 * @at: the interval that begins with it
 * @arrival: as for virt_arrival_at()
 * @whole: receives whether the trace shows all of it
 */
static inline int64_t virt_migration_cost(const struct virt_model *model,
					  const struct virt_vcpu_track *track,
					  const struct virt_migration *migration, size_t at,
					  struct virt_arrival *arrival, bool *whole)
{
	int64_t waits_ns;
	bool shown;

	virt_arrival_at(model, track, at, arrival);
	waits_ns = virt_gap_waits(track, migration, at, &shown);
	*whole = virt_arrives(track, arrival) && shown;
	return waits_ns + arrival->cost_ns;
}

/** virt_migrated_at - the interval from @i on with which the vCPU is on another pCPU */
static inline size_t virt_migrated_at(const struct virt_vcpu_track *track, size_t i)
{
	while (i < track->n && !(track->intervals[i].flags & VIRT_INTERVAL_MIGRATED))
		i++;
	return i;
}

#endif
