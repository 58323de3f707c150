/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_worst.h
 * @brief	The worst moments of a trace: costly exits, steal, wake-ups, migrations, losses ...
 *
 * An index over a finished model. It is made in one pass. After that, the worst moments of any
 * window cost O(log n) each, so that drawing a window does not visit the moments that it does not
 * show. The index never changes: any number of threads may query it at the same time.
 *
 * A moment belongs, as a whole, to the window in which its hit lies, see enum virt_worst_kind.
 */
#ifndef KSHARK_VIRT_VIRT_WORST_H
#define KSHARK_VIRT_VIRT_WORST_H

#include <sys/types.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of moments that are compared: their cost, and the time of the hit. */
enum virt_worst_kind {
	VIRT_WORST_EXIT = 0,	/* VM exit with its entry: as struct virt_exit_total; at the exit */
	VIRT_WORST_STEAL,	/* PREEMPTED without interruption; at its beginning */
	VIRT_WORST_WAKE,	/* WAKING without interruption; at the wake-up */
	VIRT_WORST_MIGRATION,	/* time of the gap PREEMPTED or WAKING, and from the first run on
				 * the new pCPU to the next entry, without waits that the guest
				 * asked for, also if the pCPU is lost again; at this first run */
	VIRT_WORST_IRQ,		/* interrupt: injection to the guest's handler; at the injection */
	VIRT_WORST_LOST,	/* records of a pCPU are missing; at the first missing one */
	VIRT_WORST_OFFLINE,	/* OFFLINE without interruption; not while an exit waits
				 * (VIRT_INTERVAL_UNASKED), and not if the trace does not show the
				 * beginning; at its beginning */
	VIRT_WORST_TSC,		/* a vCPU's TSC is set, which costs nothing; there */
	VIRT_WORST_N_KINDS
};

/** All kinds, as a set. */
#define VIRT_WORST_ALL_KINDS	((1u << VIRT_WORST_N_KINDS) - 1)

/** No such time. */
#define VIRT_NO_TIME		INT64_MIN

/**
 * An interrupt on its way into a guest. Only an aligned pair of traces shows both ends, so the code
 * that has aligned a pair finds these and gives them to virt_worst_new().
 */
struct virt_irq_delivery {
	int64_t		inject_ns;	/* the host injects it, on the host's time axis */
	int64_t		handler_ns;	/* first event of the guest's handler, on the same axis;
					 * VIRT_NO_TIME if none is seen */
	int32_t		vcpu;		/* global index */
	int32_t		vector;
	int32_t		event;		/* the one at @handler_ns, in the giver's words */
	uint8_t		result;		/* 0: it is seen; else why it is no moment, in the
					 * giver's words */
};

struct virt_worst;

/**
 * virt_worst_new - make the index
 * @model: finished; must outlive the index
 * @by_pcpu: series are pCPUs, for their graphs, instead of vCPUs
 * @irqs: deliveries in any order, which are copied; of those that are not seen, of vCPUs
 *	  that do not exist, with a handler before the injection, or outside the trace no
 *	  moments are made; NULL: none
 *
 * Return: the index, to be given to virt_worst_free(); NULL without memory.
 */
struct virt_worst *virt_worst_new(const struct virt_model *model, bool by_pcpu,
				  const struct virt_irq_delivery *irqs, size_t n_irqs);
void virt_worst_free(struct virt_worst *worst);

/** virt_worst_kind_name - "exit", "steal", "wake", "migration", "irq", "lost", "offline", "tsc"; or
 * NULL. */
const char *virt_worst_kind_name(enum virt_worst_kind kind);

/** virt_worst_costs - do moments of a kind take time? If not, none is worse than another. */
bool virt_worst_costs(enum virt_worst_kind kind);

/** The moments to look for. */
struct virt_worst_query {
	int64_t		from_ns, to_ns;		/* hits within [from, to) */
	unsigned int	kinds;			/* set of 1 << enum virt_worst_kind */
	const int32_t	*of;			/* vCPUs or pCPUs by number; NULL: all, and what
						 * belongs to none */
	size_t		n_of;
	int64_t		min_ns[VIRT_WORST_N_KINDS]; /* cheaper ones do not count */
	bool		apart;			/* virt_worst_top(): one moment of each incident */
};

/** One that was found. */
struct virt_worst_hit {
	int64_t		time_ns;	/* where it lies */
	int64_t		cost_ns;
	int32_t		vcpu;		/* global index; lost: VIRT_NONE */
	uint32_t	index;		/* for virt_worst_describe() */
	enum virt_worst_kind kind;	/* VIRT_WORST_N_KINDS: none was found */
	bool		whole;		/* the trace shows its beginning and its end; else @cost_ns
					 * is a minimum */
};

/**
 * virt_worst_top - the worst ones, costliest first, of equal ones the earliest
 * @hits: receives at most @n
 *
 * Moments of one vCPU that overlap are one incident. If the query wants them apart, the costliest
 * one stands for it; but a steal or a wait after a wake-up stands for an exit that it makes up at
 * least half of the cost of, because it names the cause.
 *
 * In O((vCPUs + n) * log n), apart as if n were the number of moments that are looked at.
 *
 * Return: how many were found, or -ENOMEM.
 */
ssize_t virt_worst_top(const struct virt_worst *worst, const struct virt_worst_query *query,
		       struct virt_worst_hit *hits, size_t n);

/**
 * virt_worst_each - call @fn for all, series by series, in each in order of time
 *
 * Return: 0, or the first value other than 0 that @fn returns, which ends it.
 */
int virt_worst_each(const struct virt_worst *worst, const struct virt_worst_query *query,
		    int (*fn)(void *arg, const struct virt_worst_hit *hit), void *arg);

/**
 * virt_worst_columns - the worst one of each of @n equal windows side by side
 * @hits: receives @n; number i begins where that of virt_vcpu_columns() does
 *
 * A graph wants windows as wide as a marker: several pixels, which makes it that much cheaper.
 */
void virt_worst_columns(const struct virt_worst *worst, const struct virt_worst_query *query,
			struct virt_worst_hit *hits, size_t n);

/**
 * virt_worst_prev - the nearest one before a time
 * @time_ns: hits at this time do not count
 *
 * To go through the worst N of a window, take the cost of the Nth as the query's @min_ns.
 *
 * Return: false if there is none.
 */
bool virt_worst_prev(const struct virt_worst *worst, const struct virt_worst_query *query,
		     int64_t time_ns, struct virt_worst_hit *hit);

/** All about a moment. */
struct virt_moment {
	enum virt_worst_kind kind;
	int64_t		start_ns;	/* migration: end of the last run on the old pCPU */
	int64_t		end_ns;		/* exit: entry; migration: first run; irq: handler */
	int64_t		cost_ns;
	int64_t		cost_from_ns;	/* from where on it costs ... */
	int64_t		cost_to_ns;	/* ... up to where; migration: from its first wait in the
					 * gap to the entry; else start and end, as without cost */
	int64_t		entry_ns;	/* exit, migration: when guest code runs again; steal, wake:
					 * the same, before the pCPU is lost again; irq: when it
					 * runs; or VIRT_NO_TIME */
	int64_t		state_ns[VIRT_N_STATES]; /* of the vCPU from start to end; migration: to
					 * the entry */
	int64_t		unasked_ns;	/* exit, migration: costs in BLOCKED and OFFLINE */
	int64_t		unasked_vmm_ns;	/* exit: as in struct virt_exit */
	int64_t		who_ns;		/* steal, wake: how long @who had @pcpu during the wait */
	int64_t		held_ns;	/* steal, wake, offline: part in which its limit held it,
					 * see virt_limits.h; 0 if that is not known */
	int64_t		possible_ns;	/* the same: it may have been more by this time */
	uint64_t	records;	/* lost: how many; 0: not counted */
	int32_t		vcpu;		/* or VIRT_NONE */
	int32_t		who;		/* steal: who had @pcpu longest, as in struct
					 * virt_culprit; wake: the vCPU or task that had @pcpu
					 * longest; or VIRT_NONE */
	int32_t		reason;		/* exit: of the exit; or VIRT_NONE */
	int32_t		argument;	/* exit: its purpose, virt_model_argument(); or
					 * VIRT_NONE */
	int32_t		vector;		/* irq; or VIRT_NONE */
	int32_t		event;		/* irq: as in struct virt_irq_delivery; or VIRT_NONE */
	const struct virt_tsc_write *tsc; /* tsc; belongs to the model; or NULL */
	int16_t		pcpu;		/* where; wake, migration: where it comes to run; steal:
					 * the one that it waits for longest at a stretch */
	int16_t		from_pcpu;	/* migration: from there; or VIRT_NONE */
	bool		begun;		/* the trace shows its beginning ... */
	bool		complete;	/* ... and its end: else it took at least so long */
	bool		nested;		/* exit: out of a guest of the guest */
	bool		unsplit;	/* exit: it is not known which part was no cost */
	bool		whole_machine;	/* offline: at half of its time, so are all vCPUs of the
					 * machine */
};

/** virt_worst_describe - all about a hit. Return: false if it is none. */
bool virt_worst_describe(const struct virt_worst *worst, const struct virt_worst_hit *hit,
			 struct virt_moment *moment);

/** VM exits by the level that they left. */
struct virt_exit_levels {
	uint64_t	l1;		/* the guest */
	uint64_t	l2;		/* a guest of this guest */
	uint64_t	unknown;	/* the trace does not show what ran before */
};

/**
 * virt_vcpu_exit_levels - exits that begin within a window, by level
 *
 * An exit is L2's if the guest code that ran last before it was L2's (VIRT_INTERVAL_NESTED). The
 * number of exits of L1 for each exit of L2 is the exit multiplication: l1 / l2. In O(intervals).
 */
void virt_vcpu_exit_levels(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			   int64_t to_ns, struct virt_exit_levels *levels);

#ifdef __cplusplus
}
#endif
#endif
