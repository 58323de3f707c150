/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_checks.h
 * @brief	What holds for every model, whatever was traced: its sums are right.
 */
#ifndef KSHARK_VIRT_FUZZ_MODEL_CHECKS_H
#define KSHARK_VIRT_FUZZ_MODEL_CHECKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "virt_model.h"
#include "virt_power.h"

static inline void check(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	abort();
}

static inline void check_vcpu(const struct virt_model *model, int32_t vcpu)
{
	int64_t begin = virt_model_begin(model), end = virt_model_end(model), sum = 0;
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, begin, end);
	struct virt_culprit culprits[64];
	struct virt_totals totals;
	size_t n;

	virt_vcpu_totals(model, vcpu, begin, end, &totals);
	for (int state = 0; state < VIRT_N_STATES; state++)
		sum += totals.ns[state];
	check(sum == end - begin, "the states of a vCPU do not add up");
	for (size_t i = 1; i < range.n; i++)
		check(range.first[i - 1].start_ns <= range.first[i].start_ns, "order");
	n = virt_vcpu_culprits(model, vcpu, begin, end, culprits, 64);
	sum = 0;
	for (size_t i = 0; i < n && i < 64; i++)
		sum += culprits[i].ns;
	check(n > 64 || sum == totals.ns[VIRT_PREEMPTED], "culprits do not add up");
}

static inline void check_pcpu(const struct virt_model *model, int32_t pcpu)
{
	int64_t begin = virt_model_begin(model), end = virt_model_end(model), sum;
	struct virt_pcpu_totals totals;

	virt_pcpu_totals(model, pcpu, begin, end, &totals);
	sum = totals.task_ns + totals.idle_ns + totals.unknown_ns;
	for (int state = 0; state < VIRT_N_STATES; state++)
		sum += totals.state_ns[state];
	check(sum == end - begin, "what a pCPU did does not add up");
}

/** What vCPUs do on pCPUs is what pCPUs do for vCPUs. */
static inline void check_sums(const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	int64_t ns[VIRT_N_STATES] = { 0 };

	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		struct virt_totals totals;

		virt_vcpu_totals(model, v, from_ns, to_ns, &totals);
		for (int state = VIRT_GUEST; state < VIRT_N_PCPU_STATES; state++)
			ns[state] += totals.ns[state];
	}
	for (int32_t p = 0; p < virt_model_n_pcpus(model); p++) {
		struct virt_pcpu_totals totals;

		virt_pcpu_totals(model, p, from_ns, to_ns, &totals);
		for (int state = VIRT_GUEST; state < VIRT_N_PCPU_STATES; state++)
			ns[state] -= totals.state_ns[state];
	}
	for (int state = VIRT_GUEST; state < VIRT_N_PCPU_STATES; state++)
		check(!ns[state], "a state's time of vCPUs is not that of pCPUs");
}

/** What pCPUs sleep is all of the time, what vCPUs wait for it all of their wake-ups. */
static inline void check_power(const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	for (int32_t p = 0; p < virt_model_n_pcpus(model); p++) {
		struct virt_pcpu_power_sum sum;
		int64_t rest_ns = to_ns - from_ns;

		virt_power_of_pcpu(model, p, from_ns, to_ns, &sum);
		for (int i = 0; i < VIRT_IDLE_STATES; i++)
			rest_ns -= sum.idle[i].ns;
		check(rest_ns == sum.awake_ns + sum.unknown_ns, "idle states do not add up");
		check(sum.speed.known_ns <= to_ns - from_ns, "a frequency for too long");
	}
	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		struct virt_vcpu_power_sum sum;
		struct virt_totals totals;
		int64_t rest_ns;

		virt_power_of_vcpu(model, v, from_ns, to_ns, &sum);
		virt_vcpu_totals(model, v, from_ns, to_ns, &totals);
		rest_ns = totals.ns[VIRT_WAKING];
		for (int i = 0; i < VIRT_IDLE_STATES; i++)
			rest_ns -= sum.asleep[i].ns;
		check(rest_ns == sum.awake_ns + sum.unknown_ns, "wake-ups do not add up");
		check(sum.waking_ns == totals.ns[VIRT_WAKING], "wake-ups are not the state's");
		check(sum.speed.known_ns <= sum.on_pcpu_ns, "a frequency for too long");
	}
}

static inline void check_model(const struct virt_model *model)
{
	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++)
		check_vcpu(model, v);
	for (int32_t p = 0; p < virt_model_n_pcpus(model); p++)
		check_pcpu(model, p);
	check_sums(model, virt_model_begin(model), virt_model_end(model));
	check_power(model, virt_model_begin(model), virt_model_end(model));
}

#endif
