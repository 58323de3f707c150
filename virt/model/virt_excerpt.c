// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_excerpt.c
 * @brief	Copy the end of a model that is filled for days, and forget its beginning.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_excerpt.h"
#include "virt_private.h"

/** Least number of elements to remove at once, and half of the array: one move each on average. */
#define FORGET_LEAST	256

/** The element of an array of times that is in force at a time; 0: the first one is later. */
static uint32_t in_force_at(const void *array, size_t stride, uint32_t n, int64_t time_ns)
{
	uint32_t after = (uint32_t)virt_first_at(array, stride, 0, n, time_ns);

	/* of several at that moment, the first one: exits of no length are among them */
	if (after < n && *(const int64_t *)((const char *)array + after * stride) == time_ns)
		return after;
	return after ? after - 1 : 0;
}

/* --- copies ---------------------------------------------------------------------------------- */

/** A copy of elements, with room for one more at least. Return: NULL without memory. */
static void *copy_of(const void *array, size_t stride, size_t n)
{
	void *copy = malloc((n + 1) * stride);

	if (copy && n)
		memcpy(copy, array, n * stride);
	return copy;
}

#define COPY_OF(array, n)	copy_of(array, sizeof(*(array)), n)

static int copy_vcpu(struct virt_vcpu_track *copy, const struct virt_vcpu_track *vcpu,
		     int64_t begin_ns)
{
	uint32_t first = in_force_at(vcpu->intervals, sizeof(*vcpu->intervals), vcpu->n, begin_ns);

	*copy = (struct virt_vcpu_track){
		.info = vcpu->info, .n = vcpu->n - first, .affinity = vcpu->affinity,
	};
	copy->room = copy->n + 1;
	copy->blocked = vcpu->blocked < first ? UINT32_MAX : vcpu->blocked - first;
	copy->exit = vcpu->exit < first ? UINT32_MAX : vcpu->exit - first;
	copy->intervals = COPY_OF(vcpu->intervals + first, copy->n);
	return copy->intervals ? 0 : -ENOMEM;
}

static int copy_pcpu(struct virt_pcpu_track *copy, const struct virt_pcpu_track *pcpu,
		     int64_t begin_ns)
{
	uint32_t first = in_force_at(pcpu->occupants, sizeof(*pcpu->occupants), pcpu->n, begin_ns);

	*copy = (struct virt_pcpu_track){ .n = pcpu->n - first };
	copy->room = copy->n + 1;
	copy->occupants = COPY_OF(pcpu->occupants + first, copy->n);
	return copy->occupants ? 0 : -ENOMEM;
}

/** Who there is, under the numbers that all else has. */
static int copy_names(struct virt_model *copy, const struct virt_model *model)
{
	copy->machines = COPY_OF(model->machines, model->n_machines);
	copy->reasons = COPY_OF(model->reasons, model->n_reasons);
	copy->tasks = COPY_OF(model->tasks, model->n_tasks);
	copy->wakes = COPY_OF(model->wakes, model->n_wakes);
	if (!copy->machines || !copy->reasons || !copy->tasks || !copy->wakes)
		return -ENOMEM;
	copy->n_machines = model->n_machines;
	copy->machines_room = model->n_machines + 1;
	copy->n_reasons = model->n_reasons;
	copy->reasons_room = model->n_reasons + 1;
	copy->n_tasks = model->n_tasks;
	copy->tasks_room = model->n_tasks + 1;
	copy->n_wakes = model->n_wakes;
	copy->wakes_room = model->n_wakes + 1;
	return 0;
}

static int copy_losses(struct virt_model *copy, const struct virt_model *model, int64_t begin_ns)
{
	copy->losses = malloc((model->n_losses + 1) * sizeof(*copy->losses));
	if (!copy->losses)
		return -ENOMEM;
	copy->losses_room = model->n_losses + 1;
	for (size_t i = 0; i < model->n_losses; i++)
		if (virt_loss_end(&model->losses[i]) > begin_ns)
			copy->losses[copy->n_losses++] = model->losses[i];
	return 0;
}

static int copy_tsc_writes(struct virt_model *copy, const struct virt_model *model,
			   int64_t begin_ns)
{
	copy->tsc_writes = malloc((model->n_tsc_writes + 1) * sizeof(*copy->tsc_writes));
	if (!copy->tsc_writes)
		return -ENOMEM;
	copy->tsc_writes_room = model->n_tsc_writes + 1;
	for (size_t i = 0; i < model->n_tsc_writes; i++)
		if (model->tsc_writes[i].time_ns >= begin_ns)
			copy->tsc_writes[copy->n_tsc_writes++] = model->tsc_writes[i];
	return 0;
}

static int copy_tracks(struct virt_model *copy, const struct virt_model *model, int64_t begin_ns)
{
	int ret = 0;

	copy->vcpus = malloc(((size_t)model->n_vcpus + 1) * sizeof(*copy->vcpus));
	copy->pcpus = malloc(((size_t)model->n_pcpus + 1) * sizeof(*copy->pcpus));
	if (!copy->vcpus || !copy->pcpus)
		return -ENOMEM;
	copy->vcpus_room = model->n_vcpus + 1;
	copy->pcpus_room = model->n_pcpus + 1;
	for (int32_t i = 0; i < model->n_vcpus && !ret; i++) {
		ret = copy_vcpu(&copy->vcpus[i], &model->vcpus[i], begin_ns);
		copy->n_vcpus++;
	}
	for (int32_t i = 0; i < model->n_pcpus && !ret; i++) {
		ret = copy_pcpu(&copy->pcpus[i], &model->pcpus[i], begin_ns);
		copy->n_pcpus++;
	}
	return ret;
}

struct virt_model *virt_model_excerpt(const struct virt_model *model, int64_t begin_ns)
{
	struct virt_model *copy = virt_model_new();

	if (!copy)
		return NULL;
	/* their times are dropped with the old parts */
	memcpy(copy->contradictions, model->contradictions, sizeof(copy->contradictions));
	for (int i = 0; i < VIRT_MAX_CONTRADICTIONS; i++)
		copy->contradictions[i].untimed = copy->contradictions[i].count;
	copy->unsplit = model->unsplit;
	copy->calls_only = model->calls_only;
	copy->unrecorded = model->unrecorded;
	copy->hypervisor = model->hypervisor;
	if (!copy_names(copy, model) && !copy_losses(copy, model, begin_ns) &&
	    !copy_tsc_writes(copy, model, begin_ns) && !copy_tracks(copy, model, begin_ns))
		return copy;
	virt_model_free(copy);
	return NULL;
}

/* --- forgetting ------------------------------------------------------------------------------ */

/** Is it worth it to move an array to its beginning? */
static bool is_worth_it(size_t gone, size_t n)
{
	return gone >= FORGET_LEAST && gone >= n / 2;
}

static void forget_vcpu(struct virt_vcpu_track *vcpu, int64_t before_ns)
{
	uint32_t first = in_force_at(vcpu->intervals, sizeof(*vcpu->intervals), vcpu->n, before_ns);

	/* no excerpt has them */
	virt_free_holds(vcpu);
	if (!is_worth_it(first, vcpu->n))
		return;
	vcpu->n -= first;
	vcpu->blocked = vcpu->blocked < first ? UINT32_MAX : vcpu->blocked - first;
	vcpu->exit = vcpu->exit < first ? UINT32_MAX : vcpu->exit - first;
	memmove(vcpu->intervals, vcpu->intervals + first, vcpu->n * sizeof(*vcpu->intervals));
}

static void forget_pcpu(struct virt_pcpu_track *pcpu, int64_t before_ns)
{
	uint32_t first = in_force_at(pcpu->occupants, sizeof(*pcpu->occupants), pcpu->n, before_ns);

	if (!is_worth_it(first, pcpu->n))
		return;
	pcpu->n -= first;
	memmove(pcpu->occupants, pcpu->occupants + first, pcpu->n * sizeof(*pcpu->occupants));
}

static void forget_power(struct virt_power_track *track, int64_t before_ns)
{
	size_t first = in_force_at(track->steps, sizeof(*track->steps), (uint32_t)track->n,
				   before_ns);

	if (!is_worth_it(first, track->n))
		return;
	track->n -= first;
	memmove(track->steps, track->steps + first, track->n * sizeof(*track->steps));
}

void virt_model_forget(struct virt_model *model, int64_t before_ns)
{
	size_t n = 0;

	for (int32_t i = 0; i < model->n_vcpus; i++)
		forget_vcpu(&model->vcpus[i], before_ns);
	for (int32_t i = 0; i < model->n_pcpus; i++)
		forget_pcpu(&model->pcpus[i], before_ns);
	for (int32_t i = 0; i < model->power.n; i++)
		for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++)
			forget_power(&model->power.pcpus[i].tracks[kind], before_ns);
	for (size_t i = 0; i < model->n_losses; i++)
		if (virt_loss_end(&model->losses[i]) > before_ns)
			model->losses[n++] = model->losses[i];
	model->n_losses = n;
	n = 0;
	for (size_t i = 0; i < model->n_tsc_writes; i++)
		if (model->tsc_writes[i].time_ns >= before_ns)
			model->tsc_writes[n++] = model->tsc_writes[i];
	model->n_tsc_writes = n;
}
