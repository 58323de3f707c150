/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_span.h
 * @brief	Apply the rule of virt_window.h: count whatever begins in a window, and keep the
 *		rest separately.
 */
#ifndef KSHARK_VIRT_VIRT_SPAN_H
#define KSHARK_VIRT_VIRT_SPAN_H

#include "virt_private.h"
#include "virt_window.h"

/** Where something begins and ends, and whether the trace shows that. */
struct virt_span {
	int64_t		start_ns, end_ns;
	bool		begun, ended;
};

/**
 * virt_add_ns - add times of several vCPUs
 *
 * Times are at most 73 years from 0, so that a vCPU's do not overflow. Those of several together
 * end at the longest time that there is: of a damaged trace, the sum is no matter.
 */
static inline void virt_add_ns(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = ns < 0 ? INT64_MIN : INT64_MAX;
}

/** virt_span_of - what belongs together from interval @first on, up to interval @end */
static inline struct virt_span virt_span_of(const struct virt_model *model,
					    const struct virt_vcpu_track *vcpu, size_t first,
					    size_t end)
{
	return (struct virt_span){
		.start_ns = vcpu->intervals[first].start_ns,
		.end_ns = virt_time_of(model, vcpu, end),
		.begun = virt_begin_is_shown(model, vcpu, first),
		.ended = virt_end_is_shown(vcpu, end),
	};
}

/** virt_keep_before - @n that go on already, the longest of them for @ns */
static inline void virt_keep_before(struct virt_stretches *stretches, uint64_t n, int64_t ns)
{
	if (!stretches->before || ns > stretches->before_ns)
		stretches->before_ns = ns;
	stretches->before += n;
}

/**
 * virt_span_count - count it, if it belongs to the window that begins at @from_ns
 *
 * It begins before the window ends. Return: true if its whole length is known and counts.
 */
static inline bool virt_span_count(const struct virt_model *model, int64_t from_ns,
				   struct virt_stretches *stretches, const struct virt_span *span)
{
	/* an interval of length 0 at the window's beginning can be the end of what was before */
	if (span->start_ns < from_ns && span->end_ns <= from_ns)
		return false;
	if (span->start_ns < from_ns || span->start_ns == model->begin_ns) {
		virt_keep_before(stretches, 1, span->begun ? from_ns - span->start_ns : VIRT_NONE);
		return false;
	}
	stretches->count++;
	return span->begun && span->ended;
}

#endif
