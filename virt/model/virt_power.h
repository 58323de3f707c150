/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_power.h
 * @brief	Keep idle states (C-states) and frequencies of pCPUs.
 *
 * Both hold from the record that shows them to the next one. They are unknown before the first
 * record, and where records are lost.
 */
#ifndef KSHARK_VIRT_VIRT_POWER_H
#define KSHARK_VIRT_VIRT_POWER_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum virt_power_kind {
	VIRT_IDLE_STATE = 0,		/* as the hypervisor counts them; or VIRT_AWAKE */
	VIRT_FREQUENCY,			/* kHz */
	VIRT_POWER_N_KINDS
};

#define VIRT_AWAKE		(-1)
/** Unknown from here on. */
#define VIRT_POWER_UNKNOWN	INT32_MIN

/** Linux has 10 (CPUIDLE_STATE_MAX), Xen 12 (ACPI_PROCESSOR_MAX_POWER). */
#define VIRT_IDLE_STATES	16

/**
 * virt_model_add_power - from a moment on
 * @value: see enum virt_power_kind; or VIRT_POWER_UNKNOWN
 *
 * In order of time for each pCPU and kind; what comes before the last one is taken as of its time.
 *
 * Return: 0, -ENOMEM, or -EINVAL: there is no such pCPU, kind or value.
 */
int virt_model_add_power(struct virt_model *model, enum virt_power_kind kind, int32_t pcpu,
			 int64_t time_ns, int32_t value);

/**
 * virt_model_name_idle_state - what the hypervisor calls a state: "C1E"
 *
 * Return: 0, -ENOMEM, or -EINVAL.
 */
int virt_model_name_idle_state(struct virt_model *model, int32_t state, const char *name);

/**
 * virt_idle_state_name - what a state is called; "state 2" if its name is unknown
 *
 * Return: NULL if there can be no such one.
 */
const char *virt_idle_state_name(const struct virt_model *model, int32_t state);

/** virt_model_has_power - does the trace contain anything of this kind? */
bool virt_model_has_power(const struct virt_model *model, enum virt_power_kind kind);

/** What holds at a moment. */
struct virt_power_piece {
	int64_t		from_ns, to_ns;	/* within the trace */
	int32_t		value;
	bool		begins, ends;	/* there, by a record */
};

/**
 * virt_pcpu_power - what holds on a pCPU at a moment, in O(log n)
 *
 * Return: false if the moment is outside of the trace.
 */
bool virt_pcpu_power(const struct virt_model *model, enum virt_power_kind kind, int32_t pcpu,
		     int64_t time_ns, struct virt_power_piece *piece);

/** Stays in an idle state. */
struct virt_idle_sum {
	uint64_t	count;		/* that begin in the window */
	int64_t		max_ns;		/* of these, whole */
	int64_t		ns;		/* cut to the window */
};

/** How fast a pCPU was. */
struct virt_speed {
	int64_t		known_ns;	/* of the window; 0: the rest is not set */
	int64_t		mean_khz;	/* by time */
	int32_t		min_khz, max_khz;
};

/** A pCPU in a window. All its times together are the window's. */
struct virt_pcpu_power_sum {
	struct virt_idle_sum idle[VIRT_IDLE_STATES];
	int64_t		awake_ns, unknown_ns;
	struct virt_speed speed;
	uint64_t	changes;	/* of the frequency, in the window */
};

/** virt_power_of_pcpu - in O(changes * log n) */
void virt_power_of_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
			int64_t to_ns, struct virt_pcpu_power_sum *sum);

/**
 * What a vCPU had of it. A woken vCPU waits for the pCPU that it comes to run on; while that one
 * leaves its sleep, no other vCPU or task is the cause.
 */
struct virt_vcpu_power_sum {
	int64_t		waking_ns;	/* in state WAKING: the following, together */
	struct virt_idle_sum asleep[VIRT_IDLE_STATES]; /* its pCPU slept; wakes that found it so */
	int64_t		awake_ns;	/* it did not */
	int64_t		unknown_ns;	/* not recorded */
	struct virt_speed speed;	/* of its pCPUs while it had them */
	int64_t		on_pcpu_ns;	/* for so long */
};

/** virt_power_of_vcpu - in O((intervals + changes) * log n) */
void virt_power_of_vcpu(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			int64_t to_ns, struct virt_vcpu_power_sum *sum);

#ifdef __cplusplus
}
#endif
#endif
