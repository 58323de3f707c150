/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_window.h
 * @brief	Compute the numbers of a window: the one definition of each number.
 *
 * The rules for every sum and count of a window [from, to):
 *
 * - Time is clipped to the part that lies within the window.
 * - Whatever begins within the window is counted: stretches in a state, runs, waits, wake-ups, VM
 *   exits, migrations. Its length is its whole length, also if it ends after the window.
 * - Whatever is already going on at the beginning of the window is not counted. It is listed
 *   separately, with how long it has gone on by then. So is whatever is in force at the first
 *   moment of the trace.
 * - Whatever the trace does not show from its beginning to its end is counted, but has no length:
 *   it is in no mean, no percentile and no maximum. Lost records hide beginnings and ends.
 *
 * A stretch in a state without a pCPU goes from its beginning to the beginning of another state:
 * while a vCPU waits, the pCPU that it waits for and the occupant of that pCPU may change. On a
 * pCPU, a VM exit, an entry, another pCPU and a switch between the guest and its own guest begin
 * another stretch. A run begins when a vCPU comes to a pCPU and ends when it leaves this pCPU.
 */
#ifndef KSHARK_VIRT_VIRT_WINDOW_H
#define KSHARK_VIRT_VIRT_WINDOW_H

#include "virt_model.h"
#include "virt_statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/** virt_begins_in - does something that begins at @start_ns belong to the window [from, to)? */
static inline bool virt_begins_in(int64_t start_ns, int64_t from_ns, int64_t to_ns)
{
	return start_ns >= from_ns && start_ns < to_ns;
}

/**
 * virt_share_base - the time that the share of a state refers to
 * @ns: time by state
 * @partly_ns: the UNKNOWN time of which something is known: VIRT_INTERVAL_UNSPLIT is no guest code,
 *	and with VIRT_INTERVAL_ON_PCPU, the vCPU had its pCPU
 *
 * Shares refer to the time of which something is known, and the share of UNKNOWN to all time. So
 * none is above 100 %, and the share of a state such as BLOCKED is the same without the records
 * that show what a vCPU did on its pCPU.
 */
static inline int64_t virt_share_base(int state, const int64_t ns[VIRT_N_STATES],
				      int64_t partly_ns)
{
	int64_t all_ns = state == VIRT_UNKNOWN ? ns[VIRT_UNKNOWN] : partly_ns;

	for (int i = 0; i < VIRT_UNKNOWN; i++)
		if (__builtin_add_overflow(all_ns, ns[i], &all_ns))
			return INT64_MAX;
	return all_ns;
}

/** What goes on from a time to another: stretches in a state, runs, waits. */
struct virt_stretches {
	int64_t		ns;		/* time within the window */
	uint64_t	count;		/* those that begin in the window */
	struct virt_dist whole;		/* of these, those with beginning and end in the trace */
	uint64_t	before;		/* those that already go on when the window begins */
	int64_t		before_ns;	/* for how long already, of several the longest; VIRT_NONE:
					 * the trace does not show where it begins */
};

/** VM exits of one reason that begin in the window; or those of them with one cause or argument. */
struct virt_window_exit {
	int32_t		reason;		/* virt_model_reason(), or VIRT_NONE: not known */
	int32_t		argument;	/* of @arguments: virt_model_argument(), or VIRT_NONE */
	uint8_t		cause;		/* of @causes and @arguments: enum exit_cause */
	uint64_t	count;
	struct virt_dist cost;		/* of those whose next entry is in the trace */
	int64_t		state_ns[VIRT_N_STATES]; /* of these alone, as in struct virt_exit, too: */
	int64_t		unasked_ns, unasked_vmm_ns;
};

/** Time on a pCPU. */
struct virt_window_place {
	int32_t		pcpu;
	int64_t		ns;
};

/** What a vCPU, or all chosen vCPUs of a machine, did within a window. */
struct virt_window_stats {
	struct virt_stretches	states[VIRT_N_STATES];
	struct virt_stretches	runs;
	struct virt_stretches	waits;		/* PREEMPTED or WAKING */
	int64_t			known_ns;	/* what shares refer to: virt_share_base() */
	int64_t			unsplit_ns[VIRT_N_STATES]; /* of it: VIRT_INTERVAL_UNSPLIT */
	int64_t			unasked_ns;	/* of it: VIRT_INTERVAL_UNASKED */
	uint64_t		migrations;
	struct virt_dist	migration_cost;	/* VIRT_WINDOW_STATES: of those that the trace
						 * shows up to the guest; VIRT_WORST_MIGRATION */
	uint64_t		exits;
	uint64_t		exits_before;	/* begun before, not over when it begins */
	int64_t			exits_before_ns; /* for how long by then, of several the longest */
	int32_t			before_reason;	/* of this one; or VIRT_NONE */
	struct virt_window_exit	*reasons;	/* costliest first */
	size_t			n_reasons;
	struct virt_window_exit	*arguments;	/* VIRT_WINDOW_ARGUMENTS: the same exits by
						 * argument, those without an argument apart;
						 * costliest first */
	size_t			n_arguments;
	struct virt_window_exit	*causes;	/* the same, of exits for memory by cause, those
						 * without a known cause as well */
	size_t			n_causes;
	struct virt_culprit	*culprits;	/* of a vCPU; most time first */
	size_t			n_culprits;
	struct virt_window_place *places; /* of a vCPU: the pCPUs that it was on, ascending */
	size_t			n_places;
	/* the longest wait for a pCPU that touches the window, whole; VIRT_NONE: there is none */
	int32_t			longest_vcpu;
	int64_t			longest_from_ns, longest_to_ns;
};

struct virt_window_machine {
	struct virt_window_stats all;		/* its vCPUs, added up */
	struct virt_stretches	states[VIRT_M_N_STATES]; /* together */
	int64_t			known_ns;	/* all but VIRT_M_LOST; of a trace
						 * that is not split, all of it */
};

struct virt_window_pcpu {
	struct virt_pcpu_totals	totals;
	int64_t			lost_ns;	/* its records are lost; overlaps count once */
};

/** virt_window_share_base - virt_share_base() of a vCPU, or of a machine's vCPUs. */
static inline int64_t virt_window_share_base(const struct virt_window_stats *stats, int state)
{
	int64_t ns[VIRT_N_STATES];

	if (state != VIRT_UNKNOWN)
		return stats->known_ns;
	for (int i = 0; i < VIRT_N_STATES; i++)
		ns[i] = stats->states[i].ns;
	return virt_share_base(state, ns, 0);
}

/** virt_machine_share_base - the same for the states of a machine as a whole; LOST: all time. */
static inline int64_t virt_machine_share_base(const struct virt_window_machine *machine, int state)
{
	int64_t all_ns = 0;

	for (int i = 0; i < VIRT_M_N_STATES && state == VIRT_M_LOST; i++)
		all_ns += machine->states[i].ns;
	return state == VIRT_M_LOST ? all_ns : machine->known_ns;
}

/** Everything about a window. */
struct virt_window {
	int64_t			from_ns, to_ns;	/* cut to the trace */
	int32_t			n_vcpus, n_machines, n_pcpus;
	struct virt_window_stats *vcpus;	/* by global index; zero: not chosen */
	struct virt_window_machine *machines;	/* by index */
	struct virt_window_pcpu	*pcpus;
};

/**
 * Parts that cost more than those that are always there: time, wake-ups, runs and waits without
 * percentiles but those of wake-ups, exits with number and cost.
 */
enum virt_window_part {
	VIRT_WINDOW_STATES = 1 << 0,	/* all stretches with their percentiles; places; what
					 * migrations cost; of a machine, what its vCPUs do
					 * together */
	VIRT_WINDOW_EXITS = 1 << 1,	/* percentiles of exits, and what their time went to; of
					 * machines, too, whose reasons are missing without it */
	VIRT_WINDOW_ARGUMENTS = 1 << 2,	/* with VIRT_WINDOW_EXITS: the same by argument and cause */
};

/** Kinds of lengths that a query can receive one by one, see struct virt_window_query. */
enum virt_length {
	VIRT_LENGTH_WAKE = 0,	/* of struct virt_window_stats: states[VIRT_WAKING].whole */
	VIRT_LENGTH_STEAL,	/* states[VIRT_PREEMPTED].whole, with VIRT_WINDOW_STATES */
	VIRT_LENGTH_EXIT,	/* cost of all reasons, with VIRT_WINDOW_EXITS */
	VIRT_N_LENGTHS
};

/** What is wanted. */
struct virt_window_query {
	int64_t		from_ns, to_ns;
	unsigned int	parts;		/* set of enum virt_window_part */
	const bool	*vcpus;		/* by global index: those that are wanted; NULL: all */
	bool		(*stop)(void *arg);	/* asked again and again: give up? or NULL */
	void		*arg;
	/* takes each length of the vCPU that is looked at, in no order; or NULL */
	void		(*length)(void *arg, enum virt_length what, int64_t ns);
};

/**
 * virt_window_new - what happened within a window
 *
 * Without parts in O((runs and waits in the window + exit reasons + culprits) * log n); with them,
 * and of a trace that is not split, in O(intervals in the window).
 *
 * Return: to be freed with virt_window_free(); NULL without memory or when stopped.
 */
struct virt_window *virt_window_new(const struct virt_model *model,
				    const struct virt_window_query *query);
void virt_window_free(struct virt_window *window);

#ifdef __cplusplus
}
#endif
#endif
