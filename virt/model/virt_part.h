/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_part.h
 * @brief	A part of a trace, and the facts of the whole trace that the part's records lack.
 *
 * A part has the records of [from, to). States in force at its beginning have begun before, states
 * that begin in it may end later, and the meaning of some records is known only from a later one.
 * The model of the whole trace has all of this. Where it differs from the model made of the part's
 * records alone, its facts are kept beside these records, and replace those of the part. So every
 * number of a window of the part equals that of the same window of the whole trace.
 *
 * Times outside of [from, to) belong to intervals that reach into the part, and may be used for
 * nothing else: virt_model_begin() and virt_model_end() are the ends of the part.
 */
#ifndef KSHARK_VIRT_VIRT_PART_H
#define KSHARK_VIRT_VIRT_PART_H

#include "virt_limits.h"
#include "virt_model.h"
#include "virt_power.h"

#ifdef __cplusplus
extern "C" {
#endif

/** [from, to), for which the part's records alone would say something else. */
struct virt_part_piece {
	int64_t		from_ns, to_ns;	/* INT64_MIN, INT64_MAX: from the beginning, to the end */
	uint32_t	n;		/* changes within it */
};

/**
 * What holds of a vCPU or pCPU, in pieces, ascending. A change is an interval of a vCPU; or who is
 * on a pCPU from then on (@detail; @state: is that known?); or a value of virt_power.h (@detail).
 */
struct virt_part_track {
	struct virt_part_piece *pieces;
	uint32_t	n_pieces, room_pieces;
	struct virt_interval *changes;	/* those of all pieces, one after the other */
	uint32_t	n_changes, room_changes;
};

/** Contradictions of a kind, see virt_model_contradictions(). */
struct virt_part_contradiction {
	char		*what;
	int64_t		time_ns;
	uint64_t	count;		/* at that time */
};

/** With more times, the last one of a kind also has the contradictions that follow it. */
#define VIRT_PART_CONTRADICTIONS	50000

/** What a vCPU's own limit held, see virt_limits.h. */
struct virt_part_hold {
	int32_t		vcpu;
	struct virt_hold hold;
};

/** A task of the host that tracks and wakes refer to, see struct virt_task. */
struct virt_part_task {
	int32_t		pid;
	char		*name, *thread;	/* @thread: NULL: the same as @name */
	int32_t		machine;	/* index, or VIRT_NONE */
	uint8_t		kind, source;
};

struct virt_part {
	int64_t		begin_ns, end_ns;	/* of the whole trace */
	int64_t		from_ns, to_ns;		/* of the part, within it */
	bool		unsplit;		/* virt_model_is_unsplit() */
	bool		migrates;		/* a vCPU has changed its pCPU */
	uint64_t	recorded;		/* virt_model_recorded(); 0: not kept */
	int32_t		n_known;		/* as virt_model_n_pcpus() */
	bool		*left_out;		/* by pCPU: its records are not there; or NULL */
	int32_t		n_left_out;		/* length of that array */
	/* in the order of their numbers in the model: */
	char		**reasons;
	int32_t		n_reasons, room_reasons;
	struct virt_wake *wakes;
	int32_t		n_wakes, room_wakes;
	struct virt_part_task *tasks;
	int32_t		n_tasks, room_tasks;
	bool		idle_states[VIRT_IDLE_STATES]; /* those that are named C0, C1 ... */
	struct virt_part_track *vcpus;
	int32_t		n_vcpus;
	int32_t		n_pcpus;		/* of which anything is kept: n_known or more */
	struct virt_part_track *pcpus;		/* n_pcpus */
	struct virt_part_track *power[VIRT_POWER_N_KINDS];	/* n_pcpus each */
	struct virt_loss *losses;		/* all that touch the part */
	size_t		n_losses, room_losses;
	bool		knows_holds;
	struct virt_part_hold *holds;		/* all that touch the part, by vCPU, then by time */
	size_t		n_holds, room_holds;
	struct virt_part_contradiction *contradictions;	/* of the window of the part */
	int		n_contradictions, room_contradictions;
};

/** virt_part_alloc - with room for these numbers of tracks. Return: NULL without memory. */
struct virt_part *virt_part_alloc(int32_t n_vcpus, int32_t n_pcpus);

/** virt_part_free - NULL is allowed. */
void virt_part_free(struct virt_part *part);

/** virt_part_is_left_out - are the records of a pCPU not in the part? */
static inline bool virt_part_is_left_out(const struct virt_part *part, int32_t pcpu)
{
	return pcpu >= 0 && pcpu < part->n_left_out && part->left_out[pcpu];
}

/** virt_part_leaves_out - records of any pCPU? */
bool virt_part_leaves_out(const struct virt_part *part);

/** virt_part_leave_out - say so of a pCPU. Return: 0 or -ENOMEM. */
int virt_part_leave_out(struct virt_part *part, int32_t pcpu);

/**
 * virt_part_begin - exit reasons, tasks and wakes get their numbers
 * @model: knows its vCPUs, and nothing else yet
 *
 * Return: 0 or -ENOMEM.
 */
int virt_part_begin(const struct virt_part *part, struct virt_model *model);

/**
 * virt_part_finish - virt_model_finish() for a model of a part: put in place what is kept
 *
 * What contradicts the model (another program wrote it) is left aside. In a part without all
 * pCPUs, what its own records do not show is UNKNOWN.
 *
 * Return: as virt_model_finish().
 */
int virt_part_finish(const struct virt_part *part, struct virt_model *model);

/**
 * virt_part_of - what a part needs to have beside its records, but for the tracks
 * @whole: a finished model
 * @from_ns, @to_ns: within it
 *
 * Return: to be given to virt_part_compare(), so that virt_part_begin() can be called with it; NULL
 * without memory.
 */
struct virt_part *virt_part_of(const struct virt_model *whole, int64_t from_ns, int64_t to_ns);

/**
 * virt_part_compare - fill the tracks
 * @rest: the model that is made of the part's records, with @part as it is now
 *
 * Return: 0 or -ENOMEM.
 */
int virt_part_compare(struct virt_part *part, const struct virt_model *whole,
		      const struct virt_model *rest);

/** virt_part_contradict - add contradictions. @what is copied. Return: 0 or -ENOMEM. */
int virt_part_contradict(struct virt_part *part, const char *what, int64_t time_ns, uint64_t count);

/**
 * virt_part_join - take over what another part of the same trace says about [from, to)
 * @part: its tracks end there, or before
 * @unknown: nothing is known of that time, whatever the other one says
 *
 * Return: 0 or -ENOMEM.
 */
int virt_part_join(struct virt_part *part, const struct virt_part *other, int64_t from_ns,
		   int64_t to_ns, bool unknown);

/** virt_model_show - a finished model is asked of this window only, as if it were a part. */
void virt_model_show(struct virt_model *model, int64_t from_ns, int64_t to_ns);

/** virt_part_same - are they parts of the same trace, whose numbers mean the same? */
bool virt_part_same(const struct virt_part *a, const struct virt_part *b);

/**
 * virt_model_span - from when to when anything is known: of the whole trace, if the model is that
 * of a part
 */
void virt_model_span(const struct virt_model *model, int64_t *begin_ns, int64_t *end_ns);

/**
 * virt_part_add - add a piece to a track, behind those that it has
 * @changes: @n of them, ascending, within the piece
 *
 * Return: 0 or -ENOMEM.
 */
int virt_part_add(struct virt_part_track *track, const struct virt_part_piece *piece,
		  const struct virt_interval *changes);

#ifdef __cplusplus
}
#endif
#endif
