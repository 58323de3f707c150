// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_limits.c
 * @brief	Keep the times in which a machine's own limit holds its vCPUs.
 */
#include <errno.h>

#include "array.h"
#include "search.h"
#include "virt_limits.h"
#include "virt_private.h"

int virt_model_add_hold(struct virt_model *model, int32_t vcpu, const struct virt_hold *hold)
{
	struct virt_vcpu_track *track;

	if (model->finished || !virt_is_vcpu(model, vcpu) || hold->to_ns < hold->from_ns)
		return -EINVAL;
	track = &model->vcpus[vcpu];
	if (track->n_holds && hold->from_ns < track->holds[track->n_holds - 1].to_ns)
		return -EINVAL;
	if (hold->from_ns == hold->to_ns || model->arguments.skip)
		return 0;
	if (ARRAY_GROW(track->holds, track->n_holds, track->holds_room))
		return -ENOMEM;
	track->holds[track->n_holds++] = *hold;
	return 0;
}

void virt_model_know_holds(struct virt_model *model)
{
	model->knows_holds = true;
}

bool virt_model_knows_holds(const struct virt_model *model)
{
	return model->knows_holds;
}

/** credit2 pauses a vCPU; RTDS leaves it runnable. */
const char *virt_hold_words(enum virt_state state)
{
	return state == VIRT_OFFLINE ? "its cap" : "its budget";
}

struct virt_hold_range virt_vcpu_holds(const struct virt_model *model, int32_t vcpu,
				       int64_t from_ns, int64_t to_ns)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	size_t first, end;

	if (!track || !track->n_holds || !virt_clamp_window(model, &from_ns, &to_ns))
		return (struct virt_hold_range){ 0 };
	SEARCH_FIRST(first, 0, track->n_holds, track->holds[first].to_ns <= from_ns);
	SEARCH_FIRST(end, first, track->n_holds, track->holds[end].from_ns < to_ns);
	return (struct virt_hold_range){ track->holds + first, end - first };
}

struct virt_held virt_vcpu_held(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
				int64_t to_ns)
{
	struct virt_hold_range range = virt_vcpu_holds(model, vcpu, from_ns, to_ns);
	struct virt_held held = { 0 };

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_hold *hold = &range.first[i];
		int64_t begin_ns = hold->from_ns > from_ns ? hold->from_ns : from_ns;

		held.ns += (hold->to_ns < to_ns ? hold->to_ns : to_ns) - begin_ns;
		held.count += hold->from_ns >= from_ns;
	}
	return held;
}
