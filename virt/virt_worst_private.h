/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_worst_private.h
 * @brief	Inside the index of the worst moments: what finding and describing them share.
 */
#ifndef KSHARK_VIRT_VIRT_WORST_PRIVATE_H
#define KSHARK_VIRT_VIRT_WORST_PRIVATE_H

#include "virt_private.h"
#include "virt_worst.h"

struct series;

struct virt_worst {
	const struct virt_model *model;
	bool			by_pcpu;
	struct virt_irq_delivery *irqs;
	size_t			n_irqs;
	int32_t			n_numbers;	/* vCPUs or pCPUs */
	/** VIRT_WORST_N_KINDS per number, and as many at the end for what belongs to none. */
	struct series		*series;
};

/** virt_woken_pcpu - where it comes to run whose wake-up @i ends with interval @end */
static inline int16_t virt_woken_pcpu(const struct virt_vcpu_track *track, size_t i, size_t end)
{
	if (end < track->n && virt_on_pcpu(track->intervals[end].state))
		i = end;
	return track->intervals[i].pcpu;
}

/** virt_entry_after - when guest code runs, from interval @i on, before the pCPU is lost. */
static inline int64_t virt_entry_after(const struct virt_vcpu_track *track, size_t i)
{
	for (; i < track->n && virt_on_pcpu(track->intervals[i].state); i++)
		if (track->intervals[i].state == VIRT_GUEST)
			return track->intervals[i].start_ns;
	return VIRT_NO_TIME;
}

/** virt_entry_at - the same from a time on */
static inline int64_t virt_entry_at(const struct virt_vcpu_track *track, int64_t time_ns)
{
	return virt_entry_after(track, VIRT_FIRST_AT(track->intervals, 0, track->n, time_ns));
}

#endif
