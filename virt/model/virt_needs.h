/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_needs.h
 * @brief	The kinds of records that a state, a number or a finding needs.
 *
 * One table for all hypervisors (virt_needs.c). A number whose records are not in the trace is
 * unknown: reports print "-", JSON has null, CSV an empty field, and a limit on it is not kept.
 * docs/what-costs-what.md shows the table; unit.virt_needs compares both.
 */
#ifndef KSHARK_VIRT_VIRT_NEEDS_H
#define KSHARK_VIRT_VIRT_NEEDS_H

#include "virt_recorded.h"
#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whose records they are. */
enum virt_hypervisor {
	VIRT_KVM = 0,
	VIRT_XEN,
	VIRT_N_HYPERVISORS
};

/** What a trace may show or not. */
enum virt_number {
	VIRT_NUMBER_GUEST = 0,		/* time in a state, and its stretches: */
	VIRT_NUMBER_HYPERVISOR,
	VIRT_NUMBER_POLLING,
	VIRT_NUMBER_VMM,
	VIRT_NUMBER_PREEMPTED,		/* steal */
	VIRT_NUMBER_WAKING,		/* wake-up latency */
	VIRT_NUMBER_BLOCKED,
	VIRT_NUMBER_DEVICE_MODEL,
	VIRT_NUMBER_OFFLINE,
	VIRT_NUMBER_PAUSES,		/* moments: on Xen, they may be waits for device models */
	VIRT_NUMBER_RUNS,		/* time on pCPUs, whatever the state, and on which one */
	VIRT_NUMBER_RUNNABLE,		/* waits for a pCPU: preempted or waking */
	VIRT_NUMBER_TOGETHER,		/* what the vCPUs of a machine do together */
	VIRT_NUMBER_EXITS,		/* VM exits by reason: how many */
	VIRT_NUMBER_EXIT_COST,		/* what they cost, and what that consists of */
	VIRT_NUMBER_NESTED,		/* exits of guests of guests */
	VIRT_NUMBER_MIGRATIONS,		/* between pCPUs: how many, with the gap of each */
	VIRT_NUMBER_MIGRATION_COST,
	VIRT_NUMBER_CULPRITS,		/* who had the pCPU during it */
	VIRT_NUMBER_CAUSES,		/* what ended waits */
	VIRT_NUMBER_TASKS,		/* what tasks of the host had of pCPUs, and idle pCPUs */
	VIRT_NUMBER_INJECTED,		/* interrupts that vCPUs get, by vector */
	VIRT_NUMBER_HYPERCALLS,		/* by number */
	VIRT_NUMBER_SUBCALLS,		/* Xen: hypercalls in multicalls */
	VIRT_NUMBER_TRAPS,		/* by kind */
	VIRT_NUMBER_MEMORY,		/* operations on a domain's memory */
	VIRT_NUMBER_HANDLERS,		/* what interrupts vCPUs on their pCPUs */
	VIRT_NUMBER_IDLE_STATES,	/* C-states of pCPUs */
	VIRT_NUMBER_FREQUENCIES,	/* of pCPUs */
	VIRT_NUMBER_LOSSES,		/* lost records */
	VIRT_N_NUMBERS
};

/** virt_model_set_hypervisor - whose records a model is made of; KVM's without a word */
void virt_model_set_hypervisor(struct virt_model *model, enum virt_hypervisor hypervisor);

/** virt_model_hypervisor - whose records a model is made of */
enum virt_hypervisor virt_model_hypervisor(const struct virt_model *model);

/** virt_number_of_state - the time in a state; VIRT_N_NUMBERS for VIRT_UNKNOWN, always known */
enum virt_number virt_number_of_state(enum virt_state state);

/** virt_number_of_worst - the cost of moments of a kind; VIRT_N_NUMBERS: always known */
enum virt_number virt_number_of_worst(enum virt_worst_kind kind);

/** virt_number_name - "guest", "wake-up latency" ... */
const char *virt_number_name(enum virt_number number);

/**
 * virt_needs - the kinds that a number needs
 * @set: receives the n-th set, of which one kind is enough; all sets are needed. Bits that are no
 *	kind stand for traces that do not need any of the set.
 *
 * Return: false if there are no more sets.
 */
bool virt_needs(enum virt_hypervisor hypervisor, enum virt_number number, size_t n, uint64_t *set);

/**
 * virt_model_missing - the kinds that a number needs, and that were not recorded
 *
 * Of kinds of which one is enough, the first one.
 *
 * Return: VIRT_RECORD_BIT() of each; 0: it is known.
 */
uint64_t virt_model_missing(const struct virt_model *model, enum virt_number number);

/** virt_model_knows - can the trace show a number? VIRT_N_NUMBERS is always known. */
bool virt_model_knows(const struct virt_model *model, enum virt_number number);

/**
 * virt_model_includes - the states that the trace cannot distinguish from another one
 *
 * Without kvm_userspace_exit, the time in the hypervisor includes that in the monitor; the latter
 * is unknown, and the sum of both is shown as the former.
 *
 * Return: the set of states that @state includes, 1 << state of each; 0: none.
 */
unsigned int virt_model_includes(const struct virt_model *model, enum virt_state state);

/** virt_model_knows_state - can it show the time in a state, perhaps together with others? */
static inline bool virt_model_knows_state(const struct virt_model *model, enum virt_state state)
{
	return virt_model_knows(model, virt_number_of_state(state)) ||
	       virt_model_includes(model, state);
}

/** Of the names of some states, with what stands between them. */
#define VIRT_STATE_NAMES	128

/** virt_state_names - the names of a set of states, 1 << state of each, in @text */
const char *virt_state_names(unsigned int states, const char *between, char *text, size_t size);

/** virt_record_name - what to record so that a trace has a kind: "kvm:kvm_entry"; NULL: nothing */
const char *virt_record_name(enum virt_hypervisor hypervisor, enum virt_record_kind kind);

/** Long enough for virt_model_advice() and virt_model_lacks(). */
#define VIRT_ADVICE_SIZE	512

/**
 * virt_model_advice - what to record so that a number is known
 * @text: receives "kvm:kvm_entry was not recorded: record it as well" or the like; "" if it is
 *	known
 * @size: VIRT_ADVICE_SIZE is enough
 *
 * Return: @text.
 */
const char *virt_model_advice(const struct virt_model *model, enum virt_number number, char *text,
			      size_t size);

/**
 * virt_model_unknown_without - is a number unknown because a kind was not recorded?
 *
 * Kinds that are recorded together, such as those of one class of Xen, count as one. A state that
 * includes another one for lack of the kind is no unknown number: see virt_model_includes().
 */
bool virt_model_unknown_without(const struct virt_model *model, enum virt_record_kind kind,
				enum virt_number number);

/**
 * virt_model_lacks - one sentence about a kind that was not recorded: what is unknown without it
 * @text: receives "sched:sched_wakeup was not recorded: waking, runnable are unknown; record it as
 *	well"; what needs other sections of a report is left out
 *
 * Return: @text; NULL: it was recorded, or no number that every report has needs it.
 */
const char *virt_model_lacks(const struct virt_model *model, enum virt_record_kind kind,
			     char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
