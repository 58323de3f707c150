/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_tracker_private.h
 * @brief	Inside the tracker of Xen's vCPUs; its rules are in xen_tracker.h.
 *
 * The walk (xen_tracker.c) hands each record to the functions that interpret it
 * (xen_tracker_records.c, xen_tracker_verbose.c for TRC_SCHED_VERBOSE) and, if records are missing,
 * to those that know the consequences (xen_tracker_loss.c). Both drive the state machine
 * (xen_tracker_state.c), which alone writes the states into the model, with the vCPUs, domains and
 * exit reasons of xen_tracker_names.c.
 */
#ifndef KSHARK_VIRT_XEN_TRACKER_PRIVATE_H
#define KSHARK_VIRT_XEN_TRACKER_PRIVATE_H

#include <errno.h>

#include "key_map.h"
#include "virt_limits.h"
#include "virt_needs.h"
#include "xen_cores.h"
#include "xen_part.h"
#include "xen_tracker_feed.h"

/** No vCPU; not known who. */
#define IDLE		(-1)
#define NOBODY		(-1)
#define NOT_KNOWN	(-2)

/** Domains above are not real ones (DOMID_FIRST_RESERVED, xen/include/public/xen.h). */
#define FIRST_RESERVED	0x7ff0

/**
 * Times further away are cut to this: 73 years are a damaged TSC, and so the model may add and
 * subtract without a thought of overflow.
 */
#define FARTHEST_NS	(INT64_C(1) << 61)

/** What is known about a vCPU. */
enum state {
	UNKNOWN,
	OFFLINE,
	DEVICE_MODEL,	/* Xen calls it offline, too */
	BLOCKED,
	WAKING,
	PREEMPTED,
	RUNNING,	/* on a pCPU; a later record shows whether in the guest */
	GUEST,
	HYPERVISOR,
	N_STATES
};

struct tracked_vcpu {
	int64_t		last_ns;	/* since when it is in this state */
	int32_t		index;		/* in the model */
	int32_t		domain;
	int32_t		reason;		/* of the last VM exit */
	uint32_t	run;		/* where it is, if it is on a pCPU */
	int16_t		pcpu;		/* where it is or was */
	uint8_t		state;
	bool		blocking;	/* TRC_SCHED_BLOCK came: it will be switched out for that */
	uint8_t		sleeps;		/* how many times TRC_SCHED_SLEEP came */
	bool		own_sleep;	/* on its pCPU, and recorded there: it pauses itself */
	bool		spent;		/* credit2 found that it has no budget left of a cap */
	bool		empty;		/* RTDS did, up to its next period */
	bool		parked;		/* it is OFFLINE because it was spent */
	bool		held;		/* its limit holds it, since: */
	int64_t		held_ns;
	bool		woken;		/* it is awake, and has not entered its guest since */
	int32_t		waker;		/* which woke it: a vCPU of the model, or VIRT_NONE */
	bool		is_shown;	/* is in @shown of struct xen_tracker */
	bool		is_there;	/* is in the list of its domain, and before this one: */
	int32_t		next;
};

struct tracked_domain {
	int32_t		machine;	/* in the model */
	bool		hvm;		/* has VM entries and exits */
	bool		pv;		/* enters Xen as only PV domains do: XEN_TRC_PV_ENTRY */
	bool		calls;		/* is PV, and its entries into Xen have records */
	bool		created;	/* within the trace */
	bool		has_vcpus;
	int32_t		there;		/* list of the vCPUs that its end changes, or NOBODY */
};

/** A run of a pCPU (struct xentrace_record, run). */
struct tracked_run {
	uint16_t	pcpu;
	bool		begun;		/* who is there at first is known, if it can be */
	int32_t		current;	/* vCPU, IDLE or NOT_KNOWN */
	int32_t		preempted;	/* vCPU that was preempted right now, or NOT_KNOWN */
	int64_t		preempted_ns;
	int32_t		woken;		/* vCPU that was woken here last, or NOBODY */
	uint64_t	woken_tsc;
	bool		lost;
	bool		speed_known;	/* or would have been, if records were not missing */
	bool		pending;	/* a switch that no runstate change has followed yet */
	xen_vcpu	prev, next;
	int64_t		switch_ns;
};

/** Records of one run are missing in [from_ns, to_ns]. */
struct loss {
	int64_t		from_ns, to_ns;
	uint64_t	records;
	uint32_t	run;
	int16_t		pcpu;
};

struct xen_tracker {
	struct xen_tracker_head	head;
	int64_t		now_ns;		/* of the record that is taken */
	struct xen_trace	*trace;
	struct virt_model	*model;
	struct tracked_run	*runs;		/* behind them, those that were left out */
	uint32_t		n_runs, n_left_out;
	const struct xen_part	*part;		/* with a model, or NULL */
	struct key_map		vcpu_map;	/* xen_vcpu */
	struct tracked_vcpu	*vcpus;
	size_t			room_vcpus;
	int32_t			*shown;		/* vCPUs that a loss changes: tracker_add_shown() */
	size_t			n_shown, room_shown;
	struct key_map		switch_map;	/* xen_vcpu that a switch has named */
	uint32_t		*switch_runs;	/* by number in it: run of the last such switch */
	size_t			room_switch_runs;
	struct key_map		domain_map;	/* domid */
	struct tracked_domain	*domains;
	size_t			room_domains;
	struct key_map		reason_map;	/* see tracker_reason_of() */
	int32_t			*reasons;
	size_t			room_reasons;
	struct loss		*losses;
	size_t			n_losses, room_losses;
	size_t			next_loss;	/* of the second walk */
	uint32_t		n_lost;		/* pCPUs whose records are missing now */
	int64_t			begin_ns;
	int64_t			whole_ns;	/* since then nothing is missing, if n_lost is 0 */
	bool			begun;
	bool			is_brief;	/* see xen_tracker_brief() */
	bool			replay;		/* the second walk: losses are known */
	bool			have_runstates;
	bool			has_pv;		/* records of XEN_TRC_PV_ENTRY */
	uint64_t		recorded;	/* kinds, see virt_recorded.h */
	bool			have_requests;	/* and switches: TRC_SCHED_VERBOSE */
	int			error;
};

/** VM entry and exit. */
enum crossing { ENTRY, EXIT };

/** The old runstate where a record does not show it. */
#define ANY_RUNSTATE	7

static inline int64_t cut_time(int64_t time_ns)
{
	if (time_ns > FARTHEST_NS)
		return FARTHEST_NS;
	return time_ns < -FARTHEST_NS ? -FARTHEST_NS : time_ns;
}

static inline bool on_pcpu(const struct tracked_vcpu *v)
{
	return v->state >= RUNNING;
}

/** Can there be such a vCPU? Damaged files name others. */
static inline bool believable(xen_vcpu vcpu)
{
	return xen_vcpu_id(vcpu) <= XEN_MAX_VCPU && xen_vcpu_domid(vcpu) < FIRST_RESERVED;
}

/** Are records missing right before this one? */
static inline bool is_loss(const struct xen_trace_row *row)
{
	return row->rec.event == XEN_TRC_LOST_RECORDS || row->rec.flags & XENTRACE_AFTER_GAP;
}

/** tracker_fail - keep the first error, but none that only reports an impossible request. */
static inline void tracker_fail(struct xen_tracker *tracker, int ret)
{
	if (ret < 0 && ret != -EINVAL && !tracker->error)
		tracker->error = ret;
}

/** tracker_new_run - nothing is known yet of what happens in a run. */
void tracker_new_run(struct xen_tracker *tracker, uint32_t run);

/* --- what was recorded: xen_tracker_recorded.c ----------------------------------------------- */

/** tracker_note_kind - the trace has a record of the class of an event */
void tracker_note_kind(struct xen_tracker *tracker, uint32_t event);

/** tracker_set_recorded - the model gets to know which kinds of records there are */
void tracker_set_recorded(const struct xen_tracker *tracker, struct virt_model *model);

/* --- who and what: xen_tracker_names.c ------------------------------------------------------- */

/** tracker_domain_of - a domain by its number. Return: index or -ENOMEM. */
int32_t tracker_domain_of(struct xen_tracker *tracker, uint32_t domid);

/**
 * tracker_vcpu_of - a vCPU by its name
 *
 * Return: index, or -ENOMEM (kept as the tracker's error, too).
 */
int32_t tracker_vcpu_of(struct xen_tracker *tracker, xen_vcpu vcpu);

/** tracker_find_vcpu - as tracker_vcpu_of(), but of those that are known. Return: or NULL. */
struct tracked_vcpu *tracker_find_vcpu(struct xen_tracker *tracker, xen_vcpu vcpu);

/** tracker_reason_of - the exit reason of a VM exit as an index of the model, or VIRT_NONE. */
int32_t tracker_reason_of(struct xen_tracker *tracker, const struct xentrace_record *rec);

/* --- the state machine: xen_tracker_state.c -------------------------------------------------- */

/**
 * tracker_add_shown - the trace shows something of a vCPU that is on no pCPU
 *
 * The next loss and the end of its domain change that. They visit only such vCPUs, so others take
 * no time.
 */
void tracker_add_shown(struct xen_tracker *tracker, struct tracked_vcpu *v);

/** tracker_remove - the end of a domain: all its vCPUs are OFFLINE. */
void tracker_remove(struct xen_tracker *tracker, int32_t domain, int64_t time_ns);

/**
 * tracker_enter - a vCPU that is on no pCPU is in another state from now on
 * @time_ns: not before, but maybe later, if it has changed since then
 */
void tracker_enter(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns,
		   enum state state);

/** tracker_set_empty - RTDS holds it for the rest of its period, or not any more */
void tracker_set_empty(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns,
		       bool empty);

/** tracker_end_holds - of all vCPUs that a limit holds: the trace ends there */
void tracker_end_holds(struct xen_tracker *tracker, int64_t end_ns);

/**
 * tracker_was - what a vCPU has been up to now, as its change shows
 *
 * Had it changed before, that would have been recorded: it has been that since no records are
 * missing any more, or since they are whole (xentrace_whole_tsc()). RUNNABLE does not show what it
 * waits for.
 */
void tracker_was(struct xen_tracker *tracker, int32_t who, int64_t time_ns, enum xen_runstate old);

/**
 * tracker_put_on - a vCPU is on a pCPU from now on
 * @old: runstate that it was in, or ANY_RUNSTATE
 * @certain: it is in the hypervisor, being scheduled; else it was found there after a loss
 */
void tracker_put_on(struct xen_tracker *tracker, uint32_t run, int64_t time_ns, int32_t who,
		    unsigned int old, bool certain);

/** tracker_take_off - a vCPU leaves a pCPU. */
void tracker_take_off(struct xen_tracker *tracker, uint32_t run, int64_t time_ns, int32_t who,
		      enum state next, unsigned int old);

/** tracker_change_off - a change between two states off the pCPU; UNKNOWN: none. */
void tracker_change_off(struct xen_tracker *tracker, int64_t time_ns, int32_t who, enum state next,
			unsigned int old);

/** tracker_put_idle - a pCPU is idle now; what was on it before has left without a word. */
void tracker_put_idle(struct xen_tracker *tracker, uint32_t run, int64_t time_ns);

/** tracker_cross - a VM entry or exit on a pCPU, of the vCPU that is known to be there. */
void tracker_cross(struct xen_tracker *tracker, uint32_t run, int64_t time_ns,
		   enum crossing crossing, int32_t reason);

/**
 * tracker_begin_run - the first record of a pCPU, if none is missing before it: who is there
 *
 * With core scheduling, another pCPU's record of this one may come first. Later calls do nothing.
 */
void tracker_begin_run(struct xen_tracker *tracker, uint32_t run, uint16_t pcpu, int64_t time_ns);

/** tracker_lose_run - from now on it is unknown who is on a pCPU, and what became of the others. */
void tracker_lose_run(struct xen_tracker *tracker, uint32_t run, int64_t time_ns);

/** tracker_empty - it is unknown from now on who is on a pCPU. */
void tracker_empty(struct xen_tracker *tracker, uint32_t run, int64_t time_ns);

/** tracker_lose_place - it runs or has run, but it is unknown where, and what becomes of it. */
void tracker_lose_place(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns);

/** tracker_close - what is still open at the end of the trace. */
void tracker_close(struct xen_tracker *tracker);

/* --- what ends waits: xen_tracker_wakes.c ---------------------------------------------------- */

/** tracker_woken - a BLOCKED vCPU is woken by this record, which is to be said after this. */
void tracker_woken(struct xen_tracker *tracker, const struct xen_trace_row *row, int32_t who);

/** tracker_slept_on - it is BLOCKED from now on, which is to be said after this. */
void tracker_slept_on(struct xen_tracker *tracker, struct tracked_vcpu *v);

/** tracker_irq_handled - XEN_TRC_HW_IRQ_HANDLED: did it wake the vCPU that was woken last? */
void tracker_irq_handled(struct xen_tracker *tracker, const struct xen_trace_row *row);

/* --- what VM exits were for: xen_tracker_arguments.c ----------------------------------------- */

/** tracker_argument - a record of XEN_TRC_HVM_HANDLER */
void tracker_argument(struct xen_tracker *tracker, const struct xen_trace_row *row);

/* --- core scheduling: xen_tracker_cores.c ---------------------------------------------------- */

/**
 * tracker_place - the run of a pCPU that a runstate change is about
 *
 * That is the run that recorded it, unless Xen schedules the pCPU together with others.
 *
 * Return: a run, or XEN_NO_RUN if it is unknown.
 */
uint32_t tracker_place(struct xen_tracker *tracker, const struct xen_trace_row *row, xen_vcpu vcpu);

/** tracker_core_is_lost - are records missing now of a pCPU that is scheduled with this one? */
bool tracker_core_is_lost(const struct xen_tracker *tracker, uint16_t pcpu);

/** tracker_core_of - the core of a pCPU, or NULL if it is scheduled by itself. */
const struct xen_core *tracker_core_of(const struct xen_tracker *tracker, uint16_t pcpu);

/** tracker_lose_core - it is unknown who is on these pCPUs. @core: NULL: does nothing */
void tracker_lose_core(struct xen_tracker *tracker, const struct xen_core *core, int64_t time_ns);

/* --- records: xen_tracker_records.c ---------------------------------------------------------- */

/** tracker_record - what xen_tracker_wants() lets through. */
void tracker_record(struct xen_tracker *tracker, const struct xen_trace_row *row);

/* --- verbose records of the scheduler: xen_tracker_verbose.c --------------------------------- */

/** tracker_verbose - a record of TRC_SCHED_VERBOSE. */
void tracker_verbose(struct xen_tracker *tracker, const struct xen_trace_row *row);

/** tracker_after_switch - the record after a switch. */
void tracker_after_switch(struct xen_tracker *tracker, const struct xen_trace_row *row);

/** tracker_end_switches - no record follows the switches that wait for one. */
void tracker_end_switches(struct xen_tracker *tracker);

/** tracker_drop_switch - what follows a switch is missing. */
void tracker_drop_switch(struct xen_tracker *tracker, struct tracked_run *run);

/* --- losses: xen_tracker_loss.c -------------------------------------------------------------- */

/** tracker_note_loss - first walk: note a loss, which becomes known only when it is over. */
void tracker_note_loss(struct xen_tracker *tracker, const struct xen_trace_row *row);

/** tracker_expect_loss - the same beforehand. @last_ns: of the run's record before it */
void tracker_expect_loss(struct xen_tracker *tracker, const struct xen_trace_row *row,
			 int64_t last_ns);

/** tracker_expect - a loss that is known beforehand; those that have begun are forgotten. */
void tracker_expect(struct xen_tracker *tracker, const struct loss *loss);

/** tracker_note_ends - after the first walk: what pCPUs had to say after the end of the file. */
void tracker_note_ends(struct xen_tracker *tracker);

/** tracker_sort_losses - between the walks: in the order in which they began. */
void tracker_sort_losses(struct xen_tracker *tracker);

/** tracker_begin_losses - second walk: all losses that have begun by now. */
void tracker_begin_losses(struct xen_tracker *tracker, int64_t time_ns, bool inclusive);

/** tracker_end_loss - the first record after a loss; TRC_LOST_RECORDS shows who is running now. */
void tracker_end_loss(struct xen_tracker *tracker, const struct xen_trace_row *row);

#endif
