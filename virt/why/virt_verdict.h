/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_verdict.h
 * @brief	Who is to blame if a vCPU was late in a window: the host, or the guest itself?
 *
 * A guest complains that one of its CPUs did nothing for some time. The model shows whether the
 * vCPU executed guest code in this time, slept because the guest asked for that, or could not run
 * because of the host. Time that the model does not know for certain is apart. All parts add up to
 * the window. A verdict holds whatever happened in the time that is not known.
 */
#ifndef KSHARK_VIRT_VIRT_VERDICT_H
#define KSHARK_VIRT_VIRT_VERDICT_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parts of a window. */
enum virt_verdict_part {
	VIRT_VERDICT_RUNS = 0,		/* guest code */
	/* the host keeps the vCPU from running: */
	VIRT_VERDICT_PREEMPTED,		/* it waits for a pCPU that it lost */
	VIRT_VERDICT_WAKING,		/* it waits for a pCPU after a wake-up */
	VIRT_VERDICT_HYPERVISOR,	/* the hypervisor handles a VM exit */
	VIRT_VERDICT_VMM,		/* the monitor does */
	VIRT_VERDICT_ANSWER,		/* it waits for the answer to a VM exit */
	VIRT_VERDICT_HELD,		/* it sleeps, and the guest did not ask for that */
	VIRT_VERDICT_STOPPED,		/* it is offline, others of its machine are not */
	VIRT_VERDICT_PAUSED,		/* its whole machine is */
	VIRT_VERDICT_LIMIT,		/* its machine has used up its own limit (Xen) */
	/* the guest wants nothing: */
	VIRT_VERDICT_HALTS,		/* the hypervisor handles its HLT, WFx, PAUSE; without the
					 * records of polling, that is in it as well */
	VIRT_VERDICT_POLLING,
	VIRT_VERDICT_ASLEEP,
	/* not known: */
	VIRT_VERDICT_UNSURE,		/* no guest code; the trace does not say what else */
	VIRT_VERDICT_UNKNOWN,		/* the trace does not say anything */
	VIRT_VERDICT_BEFORE,		/* before the trace */
	VIRT_VERDICT_AFTER,		/* after it */
	VIRT_VERDICT_N_PARTS
};

/** What parts have in common. */
enum virt_verdict_side {
	VIRT_VERDICT_BY_GUEST = 0,	/* it runs */
	VIRT_VERDICT_BY_HOST,		/* it is kept from running */
	VIRT_VERDICT_BY_WISH,		/* the guest lets it sleep */
	VIRT_VERDICT_BY_UNKNOWN,	/* not known */
	VIRT_VERDICT_N_SIDES
};

enum virt_verdict_word {
	VIRT_VERDICT_HOST = 0,		/* the host kept it from running half of the time or more */
	VIRT_VERDICT_RAN,		/* it ran for nine tenths or more: look into the guest */
	VIRT_VERDICT_SLEPT,		/* it slept for half of the time or more */
	VIRT_VERDICT_BOTH,		/* none of these */
	VIRT_VERDICT_NOT_HOST,		/* of a whole machine: the host kept no vCPU from running
					 * for a tenth of the time */
	VIRT_VERDICT_NOT_COVERED,	/* the unknown time could change the verdict */
	VIRT_VERDICT_N_WORDS
};

/** Culprits and reasons that are kept, longest first. */
#define VIRT_VERDICT_MOST	3

struct virt_verdict {
	int64_t		from_ns, to_ns;		/* of the window, which may exceed the trace */
	int64_t		ns[VIRT_VERDICT_N_PARTS];
	int64_t		side_ns[VIRT_VERDICT_N_SIDES];
	int64_t		signal_ns;		/* of STOPPED, PAUSED: by a signal or a debugger */
	int64_t		longest_from_ns, longest_to_ns;	/* by the host, at once; equal: none */
	struct virt_culprit culprits[VIRT_VERDICT_MOST]; /* of PREEMPTED: who had the pCPU */
	size_t		n_culprits;
	/* of HYPERVISOR, VMM and ANSWER: VM exits, their @vcpu is virt_model_reason() */
	struct virt_culprit reasons[VIRT_VERDICT_MOST];
	size_t		n_reasons;
	int32_t		vcpu;
	int32_t		other;			/* of virt_verdict_others(), or VIRT_NONE */
	int64_t		other_ns;		/* by the host */
	int64_t		others_most_ns;		/* of any other vCPU, with its unknown time */
	uint8_t		part;			/* the largest part of the host's */
	uint8_t		word;			/* enum virt_verdict_word */
};

/**
 * virt_verdict_vcpu - what kept a vCPU from running in a window
 *
 * In O(intervals in the window). Return: 0, -ENOMEM, or -EINVAL: there is no such vCPU, or the
 * window has no length.
 */
int virt_verdict_vcpu(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		      int64_t to_ns, struct virt_verdict *verdict);

/**
 * virt_verdict_machine - the same of the vCPU of a machine that the host kept from running longest
 *
 * If the unknown time could change the verdict (VIRT_VERDICT_NOT_COVERED), it is that of the vCPU
 * that the host can have kept from running longest.
 *
 * A vCPU that has been offline since the trace began, alone, does not count: its guest need not use
 * it.
 *
 * Return: as above, without a machine or a vCPU of it -EINVAL.
 */
int virt_verdict_machine(const struct virt_model *model, int32_t machine, int64_t from_ns,
			 int64_t to_ns, struct virt_verdict *verdict);

/**
 * virt_verdict_others - which other vCPU of the machine the host kept from running longest
 *
 * A vCPU that runs can wait for it: for a lock that it holds, for its answer. One that has been
 * offline since the trace began, alone, does not count.
 *
 * Return: 0 and @verdict has it, or -ENOMEM.
 */
int virt_verdict_others(const struct virt_model *model, struct virt_verdict *verdict);

/** virt_verdict_side_of - whose time a part is. */
enum virt_verdict_side virt_verdict_side_of(enum virt_verdict_part part);

/** virt_verdict_part_name - "guest", "preempted" ... */
const char *virt_verdict_part_name(enum virt_verdict_part part);

/** virt_verdict_part_words - the same for people. */
const char *virt_verdict_part_words(enum virt_verdict_part part);

/** virt_verdict_name - "host", "guest", "asleep", "both", "not_host", "not_covered" */
const char *virt_verdict_name(enum virt_verdict_word word);

#ifdef __cplusplus
}
#endif
#endif
