/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_chance.h
 * @brief	Inner parts of clock_align.c: test whether chance would explain as many events as an
 *		alignment does.
 */
#ifndef KSHARK_VIRT_CLOCK_CHANCE_H
#define KSHARK_VIRT_CLOCK_CHANCE_H

#include "clock_align.h"
#include "clock_limits.h"

/** By which factor, as a natural logarithm, events are likelier aligned than anywhere. */
struct clock_chance {
	double		likelier[CLOCK_STRAYS];
};

/**
 * clock_chance_add - count the events of a CPU
 * @vcpu: its vCPU
 *
 * With the right offset an event is inside, but for a share of strays, which are anywhere, as all
 * are with a wrong one. Events so near to each other that one predicts the next count once.
 */
void clock_chance_add(struct clock_chance *chance, const struct virt_clock_vcpu *vcpu,
		      const struct virt_clock_cpu *cpu, int64_t offset, double ppm);

/** clock_chance_against - the factor with the share of strays that fits best; at least 0 */
double clock_chance_against(const struct clock_chance *chance);

#endif
