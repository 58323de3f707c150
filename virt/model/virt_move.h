/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_move.h
 * @brief	A machine that moves from one host to another (live migration).
 *
 * The source and the target have a model each, with a time axis of its own. All results are on the
 * axis of the source. The phases follow one another without a gap:
 *
 * - before: from the beginning of the source's trace;
 * - brown-out: the machine runs on the source, and the monitor copies its memory. It notes which
 *   pages are written (dirty logging: VM exits for memory), and may slow down the vCPUs (throttle);
 * - blackout: it runs on neither host, from its last moment on the source to its first one on the
 *   target;
 * - brown-in: it runs on the target, whose page tables are still empty, until its VM exits for
 *   memory are no more frequent than before;
 * - after: to the end of the target's trace.
 *
 * The blackout is the only phase that needs both clocks. It is an interval if the difference of the
 * clocks is one. Causality bounds it, too: no machine runs on two hosts.
 */
#ifndef KSHARK_VIRT_VIRT_MOVE_H
#define KSHARK_VIRT_VIRT_MOVE_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum virt_move_phase {
	VIRT_MOVE_BEFORE = 0,
	VIRT_MOVE_BROWN_OUT,
	VIRT_MOVE_BLACKOUT,
	VIRT_MOVE_BROWN_IN,
	VIRT_MOVE_AFTER,
	VIRT_MOVE_N_PHASES
};

/** virt_move_phase_name - "before", "brown-out" ... */
const char *virt_move_phase_name(enum virt_move_phase phase);

enum virt_move_side { VIRT_MOVE_SOURCE = 0, VIRT_MOVE_TARGET, VIRT_MOVE_N_SIDES };

/** Where the machine is in each model. */
struct virt_move_host {
	const struct virt_model	*model;
	int32_t			machine;	/* index */
};

/** No bound of a difference, or of a length. */
#define VIRT_MOVE_OPEN_LEAST	INT64_MIN
#define VIRT_MOVE_OPEN_MOST	INT64_MAX

/** The source's time of a moment is the target's time + an offset from @least_ns to @most_ns. */
struct virt_move_clock {
	bool		known;		/* @offset_ns is */
	int64_t		offset_ns;	/* the best value */
	int64_t		least_ns, most_ns;	/* or VIRT_MOVE_OPEN_LEAST, VIRT_MOVE_OPEN_MOST */
	bool		drifts;		/* the bounds are those at one moment of each trace: */
	int64_t		at_ns[VIRT_MOVE_N_SIDES]; /* on its own axis */
};

/**
 * A clock that was compared at a moment is wrong by no more than this share of the time since. It
 * is the kernel's own limit, by which it lets the error of the wall clock grow (MAXFREQ of
 * include/linux/timex.h).
 */
#define VIRT_MOVE_DRIFT_PPM	500

/** What is not known, and why. */
enum virt_move_lack {
	VIRT_MOVE_NO_SIGN = 1 << 0,	/* nothing shows where the brown-out begins: it is all of
					 * the time on the source */
	VIRT_MOVE_CUT_BEGIN = 1 << 1,	/* the brown-out may have begun before the trace */
	VIRT_MOVE_CUT_STOP = 1 << 2,	/* the source's trace may end before the machine stops */
	VIRT_MOVE_CUT_START = 1 << 3,	/* the target's trace may begin after the machine runs */
	VIRT_MOVE_NO_RATE = 1 << 4,	/* no faults before to compare with: the brown-in is all of
					 * the time on the target */
	VIRT_MOVE_CUT_END = 1 << 5,	/* the brown-in goes on beyond the target's trace */
	VIRT_MOVE_CONTRADICTION = 1 << 6, /* by the clocks, it runs on both hosts at once: the
					 * clocks are wrong */
	VIRT_MOVE_NO_CLOCK = 1 << 7,	/* the clocks of both hosts have no known difference */
	VIRT_MOVE_NO_BOUND = 1 << 8,	/* their error is not known */
	VIRT_MOVE_LOST = 1 << 9,	/* records of that time are lost */
	VIRT_MOVE_IDLE = 1 << 10,	/* all vCPUs sleep, as their guest wants, when the machine
					 * stops: they could run for a part of the blackout */
};

/** What shows where the brown-out begins. */
enum virt_move_sign {
	VIRT_MOVE_SIGN_NONE = 0,
	VIRT_MOVE_SIGN_THREAD,		/* the monitor's migration thread is on a pCPU */
	VIRT_MOVE_SIGN_DIRTY,		/* a VM exit of dirty logging */
};

/** virt_move_sign_name - for people; NULL: none */
const char *virt_move_sign_name(enum virt_move_sign sign);

/** A phase. Times are on the source's axis. */
struct virt_move_span {
	int64_t		from_ns, to_ns;		/* the best value */
	int64_t		least_ns, most_ns;	/* of its length; or VIRT_MOVE_OPEN_MOST */
};

/**
 * Faults are counted in bins of this length, backwards from the beginning of the brown-out, and
 * from the first moment on the target on.
 */
#define VIRT_MOVE_BIN_NS	INT64_C(100000000)

/** A bin on the target has few faults if it has no more than this part of the most in a bin. */
#define VIRT_MOVE_FEW		50

struct virt_move {
	struct virt_move_clock	clock;		/* narrowed by causality */
	struct virt_move_span	phases[VIRT_MOVE_N_PHASES];
	int64_t			stop_ns;	/* the last moment of guest code on the source */
	int64_t			start_ns;	/* the first one on the target, on its axis */
	unsigned int		lacks;		/* set of enum virt_move_lack */
	enum virt_move_sign	sign;
	uint64_t		usual_faults;	/* the most in a bin before the brown-out */
	uint64_t		few_faults;	/* the same, or by VIRT_MOVE_FEW if that is more:
						 * a bin with no more ends the brown-in */
	int64_t			monitor_ns[VIRT_MOVE_N_SIDES]; /* of the blackout: threads of the
						 * monitor, but for vCPUs, were on a pCPU;
						 * VIRT_NONE: not known */
};

/**
 * virt_move_find - the phases of a migration
 * @clock: from the clocks of both hosts; its bounds may be open
 *
 * Return: 0; -ENODATA: the machine runs on no more than one of the hosts, see @missing
 * @missing: receives the side on which it does not run
 */
int virt_move_find(const struct virt_move_host hosts[VIRT_MOVE_N_SIDES],
		   const struct virt_move_clock *clock, struct virt_move *move,
		   enum virt_move_side *missing);

/** What a phase cost a vCPU, or all vCPUs of the machine. */
struct virt_move_cost {
	int64_t		ns[VIRT_N_STATES]; /* their sum is the length of the phase; the blackout is
					    * OFFLINE */
	int64_t		lost_ns;	/* the vCPU neither executed guest code, nor slept or polled
					 * as its guest wanted */
	int64_t		steal_ns;	/* of it: PREEMPTED and WAKING */
	int64_t		stopped_ns;	/* of it: the monitor kept it asleep, and the guest did not
					 * ask for that: throttled, stopped, or in the blackout */
	uint64_t	faults;		/* VM exits for memory that begin in the phase */
	int64_t		fault_ns;	/* their cost; some may have no known cost */
	uint64_t	dirty;		/* of them: dirty logging, if @dirty_known */
	int64_t		dirty_ns;
	bool		dirty_known;
	int64_t		last_run_ns;	/* of a vCPU in the blackout: its own last guest code, */
	int64_t		first_run_ns;	/* and its first one on the target, on the source's axis; or
					 * VIRT_NONE */
};

/** All costs: of the machine, then of its vCPUs in ascending order of their numbers. */
struct virt_move_costs {
	int32_t			n_vcpus;
	int32_t			*ids;		/* of the machine */
	struct virt_move_cost	*cost[VIRT_MOVE_N_PHASES]; /* @n_vcpus + 1; the first is the sum */
};

/**
 * virt_move_costs_make - what each phase cost. A vCPU that one host does not show is UNKNOWN there.
 *
 * Return: 0, to be given to virt_move_costs_free(); or -ENOMEM.
 */
int virt_move_costs_make(const struct virt_move_host hosts[VIRT_MOVE_N_SIDES],
			 const struct virt_move *move, struct virt_move_costs *costs);
void virt_move_costs_free(struct virt_move_costs *costs);

#ifdef __cplusplus
}
#endif
#endif
