/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_search.h
 * @brief	Find the next time that a vCPU is in a state, or in a VM exit, for a minimum time.
 *
 * A hit is something that virt_window.h counts: a stretch in a state, or a VM exit up to the next
 * entry, by its cost. Unknown time is not a state, and is never found.
 */
#ifndef KSHARK_VIRT_VIRT_SEARCH_H
#define KSHARK_VIRT_VIRT_SEARCH_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Instead of a state: VM exits, of which the trace shows the next entry. */
#define VIRT_SEARCH_EXITS	VIRT_N_STATES

/** What is searched for. */
struct virt_search {
	int		what;		/* enum virt_state but VIRT_UNKNOWN, or VIRT_SEARCH_EXITS */
	int32_t		reason;		/* of exits: virt_model_reason(); VIRT_NONE: any */
	int64_t		min_ns;		/* at least so long */
	const int32_t	*of;		/* vCPUs by global index; NULL: all */
	size_t		n_of;
	bool		(*stop)(void *arg);	/* asked again and again: give up? or NULL */
	void		*arg;
};

/** Where one is: in order of time, of vCPUs, and of those that one has at the same ns. */
struct virt_search_place {
	int64_t		time_ns;
	int32_t		vcpu;
	uint32_t	index;		/* as that of a struct virt_worst_hit */
};

/** Before and behind all others. */
#define VIRT_SEARCH_BEGIN	((struct virt_search_place){ INT64_MIN, -1, 0 })
#define VIRT_SEARCH_END		((struct virt_search_place){ INT64_MAX, INT32_MAX, UINT32_MAX })

/** One that was found. */
struct virt_search_hit {
	struct virt_search_place place;
	struct virt_interval	interval;	/* its first one */
	int64_t			end_ns;
	int64_t			ns;		/* how long; of an exit what it cost */
	bool			whole;		/* the trace shows its beginning and its end; else
						 * it is at least so long */
};

/**
 * virt_search_next, virt_search_prev - the nearest one behind or before a place
 *
 * In O((vCPUs + time in the state / @min_ns) * log n), and never more than O(intervals).
 *
 * Return: 1; 0 if there is none; -EINVAL (no such thing to search for) or -ECANCELED.
 */
int virt_search_next(const struct virt_model *model, const struct virt_search *search,
		     const struct virt_search_place *place, struct virt_search_hit *hit);
int virt_search_prev(const struct virt_model *model, const struct virt_search *search,
		     const struct virt_search_place *place, struct virt_search_hit *hit);

/**
 * virt_search_count - how many there are, up to @most
 * @place: of one
 * @before: receives how many of them are before it
 *
 * Return: their number; @most if there are as many or more; or as virt_search_next().
 */
int64_t virt_search_count(const struct virt_model *model, const struct virt_search *search,
			  const struct virt_search_place *place, int64_t most, int64_t *before);

#ifdef __cplusplus
}
#endif
#endif
