/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	compare_exits.h
 * @brief	What VM exits were for, as metrics: number per second, and what each costs.
 *
 * "web.exits_per_s:MSR", "web.exits_per_s:MSR:write TSC_DEADLINE"; of reasons for memory, if the
 * trace has the events for that, "web.exits_per_s:NPF:swap-in" and
 * "web.exits_per_s:NPF:swap-in:page 0x1000"; and the same of exit_cost_ns. Arguments that the model
 * does not keep apart have no metric: those of two runs are not the same. So the parts of a reason
 * are at most its number.
 */
#ifndef KSHARK_VIRT_COMPARE_EXITS_H
#define KSHARK_VIRT_COMPARE_EXITS_H

#include "compare.h"
#include "virt_window_walk.h"
#include "virt_worst.h"

struct compare_exits;

/**
 * compare_exits_new - metrics of a run
 * @patterns: only metrics that one of them fits; none: all
 *
 * Return: to be freed; NULL without memory.
 */
struct compare_exits *compare_exits_new(struct compare *compare, int run,
					const struct virt_model *model,
					const char *const *patterns, int n_patterns);
void compare_exits_free(struct compare_exits *exits);

/** compare_exits_machine - begin with a machine */
void compare_exits_machine(struct compare_exits *exits, const char *name);

/**
 * compare_exits_window - add the numbers of a window
 * @walk: with VIRT_WINDOW_EXITS and VIRT_WINDOW_ARGUMENTS
 * @of: vCPUs of the machine, @n
 * @known_ns: of these, more than 0
 *
 * Return: 0 or as compare_run().
 */
int compare_exits_window(struct compare_exits *exits, struct virt_window_walk *walk,
			 const int32_t *of, size_t n, double known_ns);

/** compare_exits_hit - add the cost of an exit of the machine. Return: 0 or as compare_run(). */
int compare_exits_hit(struct compare_exits *exits, const struct virt_worst *worst,
		      const struct virt_worst_hit *hit);

/** compare_exits_end - all of the machine was added. Return: 0 or -ENOMEM. */
int compare_exits_end(struct compare_exits *exits);

#endif
