/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_steps.h
 * @brief	Correct a clock that is set during the recording, or differs from CPU to CPU.
 *
 * An alignment has one offset. Before it is applied, steps add a correction to the times of a CPU's
 * events: nothing before the first step of that CPU, then the correction of its last step.
 */
#ifndef KSHARK_VIRT_CLOCK_STEPS_H
#define KSHARK_VIRT_CLOCK_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** More of them are no clock's. */
#define VIRT_CLOCK_MAX_STEPS	4096

/** Times are in any unit, that of the events. */
struct virt_clock_step {
	int32_t		cpu;
	bool		back;		/* it begins with the first event that is earlier than the
					 * one before it, whenever that is */
	int64_t		from;		/* else with the first that is not before this time;
					 * INT64_MIN: with the first of all */
	int64_t		add;		/* instead of what was added before */
};

/** Where one is in the events of a CPU. */
struct virt_clock_walk {
	const struct virt_clock_step *next, *end;
	int64_t		last, add;
	bool		any;		/* there was an event */
};

/**
 * virt_clock_steps_are_sorted - by CPU, and none goes beyond what can be added to a time?
 *
 * Return: whether they can be walked.
 */
bool virt_clock_steps_are_sorted(const struct virt_clock_step *steps, size_t n);

/**
 * virt_clock_walk_begin - before the first event of a CPU
 * @steps: sorted by CPU, those of one in their order; must last as long as the walk
 */
void virt_clock_walk_begin(struct virt_clock_walk *walk, const struct virt_clock_step *steps,
			   size_t n, int32_t cpu);

/**
 * virt_clock_walk_next - the next event of that CPU, in the order of the file
 *
 * Return: its time with what is added; what does not fit is cut.
 */
int64_t virt_clock_walk_next(struct virt_clock_walk *walk, int64_t time);

/**
 * virt_clock_step_add - what is to be added so that another offset counts
 * @offset, @other: of alignments with the same drift
 *
 * Return: in the guest's times, before the drift counts.
 */
int64_t virt_clock_step_add(int64_t offset, int64_t other, double drift_ppm);

/**
 * virt_clock_step_offset - and the other way round
 *
 * Return: which offset counts with that.
 */
int64_t virt_clock_step_offset(int64_t offset, int64_t add, double drift_ppm);

#ifdef __cplusplus
}
#endif
#endif
