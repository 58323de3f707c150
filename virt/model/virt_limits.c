// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_limits.c
 * @brief	Keep the times in which a machine's own limit holds its vCPUs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "search.h"
#include "virt_limits.h"
#include "virt_needs.h"
#include "virt_private.h"

int virt_model_add_hold(struct virt_model *model, int32_t vcpu, const struct virt_hold *hold)
{
	struct virt_vcpu_track *track;
	struct virt_holds *to;

	if (model->finished || !virt_is_vcpu(model, vcpu) || hold->to_ns < hold->from_ns)
		return -EINVAL;
	track = &model->vcpus[vcpu];
	if (!track->holds)
		track->holds = calloc(2, sizeof(*track->holds));
	if (!track->holds)
		return -ENOMEM;
	to = &track->holds[hold->possible];
	if (to->n && hold->from_ns < to->all[to->n - 1].to_ns)
		return -EINVAL;
	if (hold->from_ns == hold->to_ns || model->arguments.skip)
		return 0;
	if (ARRAY_GROW(to->all, to->n, to->room))
		return -ENOMEM;
	to->all[to->n++] = *hold;
	return 0;
}

void virt_free_holds(struct virt_vcpu_track *vcpu)
{
	if (!vcpu->holds)
		return;
	free(vcpu->holds[0].all);
	free(vcpu->holds[1].all);
	free(vcpu->holds);
	vcpu->holds = NULL;
}

void virt_model_know_holds(struct virt_model *model)
{
	model->knows_holds = true;
}

bool virt_model_knows_holds(const struct virt_model *model)
{
	return model->knows_holds;
}

/** credit2 pauses a vCPU; RTDS leaves it runnable, and so does Linux. */
const char *virt_hold_words(const struct virt_model *model, enum virt_state state)
{
	if (state == VIRT_OFFLINE)
		return "its cap";
	return virt_model_hypervisor(model) == VIRT_KVM ? "its CPU quota" : "its budget";
}

bool virt_held_text(char text[VIRT_HELD_TEXT], const struct virt_model *model,
		    enum virt_state state, const char *certain, const char *most)
{
	const char *words = virt_hold_words(model, state);

	if (certain)
		snprintf(text, VIRT_HELD_TEXT, "%s held it for %s%s%s", words, certain,
			 most ? ", or up to " : "", most ? most : "");
	else if (most)
		snprintf(text, VIRT_HELD_TEXT, "%s may have held it for %s", words, most);
	return certain || most;
}

static struct virt_hold_range holds_of(const struct virt_model *model, int32_t vcpu, bool possible,
				       int64_t from_ns, int64_t to_ns)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	const struct virt_holds *holds = track && track->holds ? &track->holds[possible] : NULL;
	size_t first, end;

	if (!holds || !holds->n || !virt_clamp_window(model, &from_ns, &to_ns))
		return (struct virt_hold_range){ 0 };
	SEARCH_FIRST(first, 0, holds->n, holds->all[first].to_ns <= from_ns);
	SEARCH_FIRST(end, first, holds->n, holds->all[end].from_ns < to_ns);
	return (struct virt_hold_range){ holds->all + first, end - first };
}

struct virt_hold_range virt_vcpu_holds(const struct virt_model *model, int32_t vcpu,
				       int64_t from_ns, int64_t to_ns)
{
	return holds_of(model, vcpu, false, from_ns, to_ns);
}

struct virt_hold_range virt_vcpu_possible_holds(const struct virt_model *model, int32_t vcpu,
						int64_t from_ns, int64_t to_ns)
{
	return holds_of(model, vcpu, true, from_ns, to_ns);
}

/** Return: the time of holds in the window. @count: receives how many begin in it */
static int64_t sum_of(struct virt_hold_range range, int64_t from_ns, int64_t to_ns,
		      uint64_t *count)
{
	int64_t ns = 0;

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_hold *hold = &range.first[i];
		int64_t begin_ns = hold->from_ns > from_ns ? hold->from_ns : from_ns;

		ns += (hold->to_ns < to_ns ? hold->to_ns : to_ns) - begin_ns;
		*count += hold->from_ns >= from_ns;
	}
	return ns;
}

struct virt_held virt_vcpu_held(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
				int64_t to_ns)
{
	struct virt_held held = { 0 };

	held.ns = sum_of(virt_vcpu_holds(model, vcpu, from_ns, to_ns), from_ns, to_ns,
			 &held.count);
	held.possible_ns = sum_of(virt_vcpu_possible_holds(model, vcpu, from_ns, to_ns), from_ns,
				  to_ns, &held.possible);
	return held;
}
