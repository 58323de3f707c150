// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_part.c
 * @brief	Keep facts about the trace that another trace was cut out of.
 */
#include <stdlib.h>

#include "array.h"
#include "xen_cores.h"
#include "xen_part.h"

void xen_part_free(struct xen_part *part)
{
	if (!part)
		return;
	virt_part_free(part->model);
	xen_cores_free(part->cores);
	free(part->gaps);
	free(part->windows);
	free(part->pcpus);
	free(part->vcpus);
	free(part);
}

struct xen_part_pcpu *xen_part_pcpu(struct xen_part *part, uint16_t pcpu)
{
	for (int i = 0; i < part->n_of_pcpus; i++)
		if (part->pcpus[i].pcpu == pcpu)
			return &part->pcpus[i];
	if (ARRAY_GROW(part->pcpus, part->n_of_pcpus, part->room_pcpus))
		return NULL;
	part->pcpus[part->n_of_pcpus] = (struct xen_part_pcpu){
		.pcpu = pcpu, .known_tsc = UINT64_MAX,
	};
	return &part->pcpus[part->n_of_pcpus++];
}

int xen_part_set_cores(struct xen_part *part, const struct xen_cores *cores)
{
	xen_cores_free(part->cores);
	part->has_cores = true;
	return xen_cores_copy(cores, &part->cores);
}

int xen_part_add_gap(struct xen_part *part, uint64_t offset)
{
	if (ARRAY_GROW(part->gaps, part->n_gaps, part->room_gaps))
		return -ENOMEM;
	part->gaps[part->n_gaps++] = offset;
	return 0;
}

int xen_part_add_window(struct xen_part *part, uint64_t offset)
{
	if (ARRAY_GROW(part->windows, part->n_windows, part->room_windows))
		return -ENOMEM;
	part->windows[part->n_windows++] = offset;
	return 0;
}

/* ---- another clock ---- */

/** From one clock to another. */
struct change {
	const struct xen_clock *from, *to;
};

static void set_time(const struct change *change, int64_t *ns)
{
	/* these are no times */
	if (*ns != INT64_MIN && *ns != INT64_MAX)
		*ns = xen_clock_ns(change->to, xen_clock_tsc(change->from, *ns));
}

static void set_tracks(const struct change *change, struct virt_part_track *tracks, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		for (uint32_t p = 0; p < tracks[i].n_pieces; p++) {
			set_time(change, &tracks[i].pieces[p].from_ns);
			set_time(change, &tracks[i].pieces[p].to_ns);
		}
		for (uint32_t c = 0; c < tracks[i].n_changes; c++)
			set_time(change, &tracks[i].changes[c].start_ns);
	}
}

void xen_part_set_clock(struct xen_part *part, const struct xen_clock *clock)
{
	const struct change change = { .from = &part->clock, .to = clock };
	struct virt_part *model = part->model;

	if (!part->has_clock || !model || (part->clock.hz == clock->hz &&
					   part->clock.base_tsc == clock->base_tsc))
		return;
	set_time(&change, &model->begin_ns);
	/* the trace ends 1 ns after its last record */
	model->end_ns--;
	set_time(&change, &model->end_ns);
	model->end_ns++;
	set_time(&change, &model->from_ns);
	set_time(&change, &model->to_ns);
	model->to_ns = model->to_ns > model->end_ns ? model->end_ns : model->to_ns;
	set_tracks(&change, model->vcpus, model->n_vcpus);
	set_tracks(&change, model->pcpus, model->n_pcpus);
	for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++)
		set_tracks(&change, model->power[kind], model->n_pcpus);
	for (size_t i = 0; i < model->n_holds; i++) {
		set_time(&change, &model->holds[i].hold.from_ns);
		set_time(&change, &model->holds[i].hold.to_ns);
	}
	for (size_t i = 0; i < model->n_losses; i++) {
		set_time(&change, &model->losses[i].from_ns);
		set_time(&change, &model->losses[i].to_ns);
	}
	for (int i = 0; i < model->n_contradictions; i++)
		set_time(&change, &model->contradictions[i].time_ns);
	part->clock = *clock;
}
