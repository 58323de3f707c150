// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_power.c
 * @brief	Keep idle states and frequencies of pCPUs, and sum up their times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_power.h"
#include "virt_private.h"
#include "virt_window.h"

/* --- filling --------------------------------------------------------------------------------- */

static bool is_possible(enum virt_power_kind kind, int32_t value)
{
	if (value == VIRT_POWER_UNKNOWN)
		return true;
	return kind == VIRT_FREQUENCY ? value > 0 :
	       value >= VIRT_AWAKE && value < VIRT_IDLE_STATES;
}

int virt_model_add_power(struct virt_model *model, enum virt_power_kind kind, int32_t pcpu,
			 int64_t time_ns, int32_t value)
{
	struct virt_power *all = &model->power;
	struct virt_power_track *track;

	if (model->finished || (unsigned int)kind >= VIRT_POWER_N_KINDS || pcpu < 0 ||
	    pcpu > INT16_MAX || !is_possible(kind, value))
		return -EINVAL;
	while (pcpu >= all->n)
		if (ARRAY_REACH(all->pcpus, pcpu, all->n))
			return -ENOMEM;
	track = &all->pcpus[pcpu].tracks[kind];
	if (value == (track->n ? track->steps[track->n - 1].value : VIRT_POWER_UNKNOWN))
		return 0;
	if (ARRAY_GROW(track->steps, track->n, track->room))
		return -ENOMEM;
	if (track->n && track->steps[track->n - 1].time_ns > time_ns)
		time_ns = track->steps[track->n - 1].time_ns;
	track->steps[track->n++] = (struct virt_power_step){ time_ns, value };
	return 0;
}

int virt_model_name_idle_state(struct virt_model *model, int32_t state, const char *name)
{
	char *copy;

	if (model->finished || state < 0 || state >= VIRT_IDLE_STATES || !*name)
		return -EINVAL;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(model->power.names[state]);
	model->power.names[state] = copy;
	return 0;
}

void virt_power_free(struct virt_power *all)
{
	for (int32_t i = 0; i < all->n; i++)
		for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++)
			free(all->pcpus[i].tracks[kind].steps);
	for (int i = 0; i < VIRT_IDLE_STATES; i++)
		free(all->names[i]);
	free(all->pcpus);
}

/* --- asking ---------------------------------------------------------------------------------- */

const char *virt_idle_state_name(const struct virt_model *model, int32_t state)
{
	static const char *const numbers[VIRT_IDLE_STATES] = {
		"state 0", "state 1", "state 2", "state 3", "state 4", "state 5", "state 6",
		"state 7", "state 8", "state 9", "state 10", "state 11", "state 12", "state 13",
		"state 14", "state 15",
	};

	if (state < 0 || state >= VIRT_IDLE_STATES)
		return NULL;
	return model->power.names[state] ? model->power.names[state] : numbers[state];
}

bool virt_model_has_power(const struct virt_model *model, enum virt_power_kind kind)
{
	for (int32_t i = 0; i < model->power.n; i++)
		if (model->power.pcpus[i].tracks[kind].n)
			return true;
	return false;
}

bool virt_pcpu_power(const struct virt_model *model, enum virt_power_kind kind, int32_t pcpu,
		     int64_t time_ns, struct virt_power_piece *piece)
{
	static const struct virt_power_track none;
	const struct virt_power_track *track = &none;
	size_t next;

	if (time_ns < model->begin_ns || time_ns >= model->end_ns)
		return false;
	if (pcpu >= 0 && pcpu < model->power.n)
		track = &model->power.pcpus[pcpu].tracks[kind];
	*piece = (struct virt_power_piece){
		.from_ns = model->begin_ns, .to_ns = model->end_ns, .value = VIRT_POWER_UNKNOWN,
	};
	/* of steps at the same time the last one holds */
	SEARCH_FIRST(next, 0, track->n, track->steps[next].time_ns <= time_ns);
	if (next) {
		piece->value = track->steps[next - 1].value;
		piece->begins = track->steps[next - 1].time_ns >= model->begin_ns;
		if (piece->begins)
			piece->from_ns = track->steps[next - 1].time_ns;
	}
	if (next < track->n && track->steps[next].time_ns < model->end_ns) {
		piece->to_ns = track->steps[next].time_ns;
		piece->ends = true;
	}
	return true;
}

/** Sums up a frequency by time. */
struct mean {
	double		khz_ns;
};

static void add_speed(struct virt_speed *speed, struct mean *mean, int32_t khz, int64_t ns)
{
	if (khz == VIRT_POWER_UNKNOWN || ns <= 0)
		return;
	if (!speed->known_ns || khz < speed->min_khz)
		speed->min_khz = khz;
	if (khz > speed->max_khz)
		speed->max_khz = khz;
	speed->known_ns += ns;
	mean->khz_ns += (double)khz * (double)ns;
	speed->mean_khz = (int64_t)(mean->khz_ns / (double)speed->known_ns + 0.5);
}

/** A part of a window during which nothing changes. */
struct part {
	struct virt_power_piece	piece;
	int64_t			from_ns, to_ns;	/* cut to the window */
};

/** Return: false at the end of the window. First, @part is all zero but @to_ns: its begin. */
static bool next_part(const struct virt_model *model, enum virt_power_kind kind, int32_t pcpu,
		      int64_t end_ns, struct part *part)
{
	part->from_ns = part->to_ns;
	if (part->from_ns >= end_ns ||
	    !virt_pcpu_power(model, kind, pcpu, part->from_ns, &part->piece))
		return false;
	part->to_ns = part->piece.to_ns < end_ns ? part->piece.to_ns : end_ns;
	return true;
}

static void cut_to_trace(const struct virt_model *model, int64_t *from_ns, int64_t *to_ns)
{
	*from_ns = *from_ns < model->begin_ns ? model->begin_ns : *from_ns;
	*to_ns = *to_ns > model->end_ns ? model->end_ns : *to_ns;
}

/** @counted: what the stay is counted as, if it is. */
static void add_stay(struct virt_idle_sum *sum, int64_t ns, bool counts, int64_t whole_ns)
{
	sum->ns += ns;
	if (!counts)
		return;
	sum->count++;
	if (whole_ns > sum->max_ns)
		sum->max_ns = whole_ns;
}

void virt_power_of_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
			int64_t to_ns, struct virt_pcpu_power_sum *sum)
{
	struct mean mean = { 0 };
	struct part part;

	*sum = (struct virt_pcpu_power_sum){ 0 };
	cut_to_trace(model, &from_ns, &to_ns);
	part = (struct part){ .to_ns = from_ns };
	while (next_part(model, VIRT_IDLE_STATE, pcpu, to_ns, &part)) {
		int64_t ns = part.to_ns - part.from_ns;

		if (part.piece.value >= 0)
			add_stay(&sum->idle[part.piece.value], ns,
				 part.piece.begins && part.piece.from_ns >= from_ns,
				 part.piece.to_ns - part.piece.from_ns);
		else if (part.piece.value == VIRT_AWAKE)
			sum->awake_ns += ns;
		else
			sum->unknown_ns += ns;
	}
	part = (struct part){ .to_ns = from_ns };
	while (next_part(model, VIRT_FREQUENCY, pcpu, to_ns, &part)) {
		add_speed(&sum->speed, &mean, part.piece.value, part.to_ns - part.from_ns);
		if (part.piece.begins && virt_begins_in(part.piece.from_ns, from_ns, to_ns) &&
		    part.piece.value != VIRT_POWER_UNKNOWN)
			sum->changes++;
	}
}

/* --- vCPUs ----------------------------------------------------------------------------------- */

/** A wait for a pCPU: intervals [first, end). */
struct wait {
	int64_t		start_ns, end_ns;	/* whole */
	int64_t		from_ns, to_ns;		/* cut to the window */
	int32_t		pcpu;			/* or VIRT_NONE */
};

static void add_wait(const struct virt_model *model, const struct wait *wait,
		     struct virt_vcpu_power_sum *sum)
{
	struct part part = { .to_ns = wait->from_ns };

	sum->waking_ns += wait->to_ns - wait->from_ns;
	while (next_part(model, VIRT_IDLE_STATE, wait->pcpu, wait->to_ns, &part)) {
		int64_t ns = part.to_ns - part.from_ns;
		int64_t awake_ns = part.piece.to_ns < wait->end_ns ? part.piece.to_ns :
				   wait->end_ns;

		if (part.piece.value >= 0)
			add_stay(&sum->asleep[part.piece.value], ns,
				 part.from_ns == wait->start_ns, awake_ns - wait->start_ns);
		else if (part.piece.value == VIRT_AWAKE)
			sum->awake_ns += ns;
		else
			sum->unknown_ns += ns;
	}
}

static void add_on_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
			int64_t to_ns, struct virt_vcpu_power_sum *sum, struct mean *mean)
{
	struct part part = { .to_ns = from_ns };

	sum->on_pcpu_ns += to_ns - from_ns;
	while (next_part(model, VIRT_FREQUENCY, pcpu, to_ns, &part))
		add_speed(&sum->speed, mean, part.piece.value, part.to_ns - part.from_ns);
}

static int64_t end_of(const struct virt_interval_range *range, size_t i)
{
	return i + 1 < range->n ? range->first[i + 1].start_ns : range->end_ns;
}

void virt_power_of_vcpu(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			int64_t to_ns, struct virt_vcpu_power_sum *sum)
{
	struct virt_interval_range range;
	struct mean mean = { 0 };

	*sum = (struct virt_vcpu_power_sum){ 0 };
	cut_to_trace(model, &from_ns, &to_ns);
	/* where a wait leads to may lie behind the window */
	range = virt_vcpu_intervals(model, vcpu, from_ns, INT64_MAX);
	for (size_t i = 0; i < range.n && range.first[i].start_ns < to_ns; i++) {
		const struct virt_interval *interval = &range.first[i];
		struct wait wait = { .start_ns = interval->start_ns, .pcpu = VIRT_NONE };

		wait.from_ns = wait.start_ns < from_ns ? from_ns : wait.start_ns;
		while (interval->state == VIRT_WAKING && i + 1 < range.n &&
		       range.first[i + 1].state == VIRT_WAKING)
			i++;
		wait.end_ns = end_of(&range, i);
		wait.to_ns = wait.end_ns > to_ns ? to_ns : wait.end_ns;
		if (interval->state == VIRT_WAKING && i + 1 < range.n &&
		    virt_state_on_pcpu(range.first[i + 1].state))
			wait.pcpu = range.first[i + 1].pcpu;
		if (interval->state == VIRT_WAKING)
			add_wait(model, &wait, sum);
		else if (virt_state_on_pcpu(interval->state) ||
			 interval->flags & VIRT_INTERVAL_ON_PCPU)
			add_on_pcpu(model, interval->pcpu, wait.from_ns, wait.to_ns, sum, &mean);
	}
}
