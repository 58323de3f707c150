// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_moment.c
 * @brief	Describe one of the worst moments completely; count VM exits by level.
 */
#include <stdlib.h>
#include <string.h>

#include "virt_limits.h"
#include "virt_moments.h"
#include "virt_worst_private.h"

/** Was the guest code that ran last before interval @i that of a nested guest? -1: not known. */
static int last_level(const struct virt_vcpu_track *track, size_t i)
{
	while (i--) {
		if (track->intervals[i].state == VIRT_GUEST)
			return track->intervals[i].flags & VIRT_INTERVAL_NESTED ? 2 : 1;
		if (virt_interval_is_lost(&track->intervals[i]))
			break;
	}
	return -1;
}

static void set_held(const struct virt_model *model, struct virt_moment *moment)
{
	struct virt_held held = virt_vcpu_held(model, moment->vcpu, moment->start_ns,
					       moment->end_ns);

	moment->held_ns = held.ns;
	moment->possible_ns = held.possible_ns;
}

static void add_states(const struct virt_model *model, int64_t end_ns, struct virt_moment *moment)
{
	struct virt_totals totals;

	virt_vcpu_totals(model, moment->vcpu, moment->start_ns, end_ns, &totals);
	memcpy(moment->state_ns, totals.ns, sizeof(moment->state_ns));
}

static bool describe_exit(const struct virt_model *model, uint32_t i, struct virt_moment *moment)
{
	const struct virt_vcpu_track *track = &model->vcpus[moment->vcpu];
	struct virt_exit exit;
	size_t end;

	if (i >= track->n)
		return false;
	/* of several exits at the same ns, only this one's intervals are its own */
	end = virt_exit_take(model, track, i, &exit);
	moment->end_ns = exit.entry_ns;
	moment->entry_ns = exit.entry_ns;
	moment->complete = exit.complete;
	moment->reason = exit.reason;
	moment->argument = virt_exit_argument(model, moment->vcpu, &track->intervals[i]);
	moment->unasked_ns = exit.unasked_ns;
	moment->unasked_vmm_ns = exit.unasked_vmm_ns;
	memcpy(moment->state_ns, exit.state_ns, sizeof(moment->state_ns));
	moment->pcpu = track->intervals[i].pcpu;
	moment->nested = last_level(track, i) == 2;
	for (size_t j = i; j < end; j++)
		moment->unsplit |= !!(track->intervals[j].flags & VIRT_INTERVAL_UNSPLIT);
	return true;
}

/** Intervals [@i, @end) wait for one pCPU. */
static void set_part(const struct virt_model *model, int32_t vcpu, size_t i, size_t end,
		     struct virt_wait_part *part)
{
	const struct virt_vcpu_track *track = &model->vcpus[vcpu];
	struct virt_culprit culprit = { .vcpu = VIRT_NONE };

	part->from_ns = track->intervals[i].start_ns;
	part->to_ns = virt_time_of(model, track, end);
	part->pcpu = track->intervals[i].pcpu;
	virt_vcpu_culprits(model, vcpu, part->from_ns, part->to_ns, &culprit, 1);
	part->who = culprit.vcpu;
	part->who_ns = culprit.ns;
}

bool virt_wait_next_part(const struct virt_model *model, const struct virt_moment *moment,
			 struct virt_wait_part *part)
{
	int64_t from_ns = part->to_ns > moment->start_ns ? part->to_ns : moment->start_ns;
	const struct virt_vcpu_track *track;
	size_t i, end;

	if (moment->kind != VIRT_WORST_STEAL || from_ns >= moment->end_ns)
		return false;
	track = &model->vcpus[moment->vcpu];
	i = VIRT_FIRST_AT(track->intervals, 0, track->n, from_ns);
	/* others of no length may lie at the same time */
	while (virt_interval_end(model, track, i) <= from_ns)
		i++;
	end = virt_stretch_end(track, i);
	set_part(model, moment->vcpu, i, virt_wait_part_end(track, i, end), part);
	return true;
}

bool virt_wait_longest_part(const struct virt_model *model, const struct virt_moment *moment,
			    struct virt_wait_part *part)
{
	struct virt_wait_part one = { .to_ns = VIRT_NO_TIME };
	size_t n = 0;

	for (; virt_wait_next_part(model, moment, &one); n++)
		if (!n || one.to_ns - one.from_ns > part->to_ns - part->from_ns)
			*part = one;
	return n > 1;
}

static int compare_who(const void *a, const void *b)
{
	const struct virt_culprit *x = a, *y = b;

	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

struct virt_culprit virt_pcpu_culprit(const struct virt_model *model, int32_t pcpu,
				      int64_t from_ns, int64_t to_ns)
{
	struct virt_occupant_range range = virt_pcpu_occupants(model, pcpu, from_ns, to_ns);
	struct virt_culprit *had = malloc((range.n + 1) * sizeof(*had));
	struct virt_culprit longest = { .vcpu = VIRT_NONE };
	size_t n = 0;

	for (size_t i = 0; had && i < range.n; i++) {
		int64_t start_ns = range.first[i].start_ns;
		int64_t end_ns = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		start_ns = start_ns < from_ns ? from_ns : start_ns;
		end_ns = end_ns > to_ns ? to_ns : end_ns;
		had[n++] = (struct virt_culprit){
			range.first[i].known ? range.first[i].vcpu : VIRT_NONE, end_ns - start_ns,
		};
	}
	if (n)
		qsort(had, n, sizeof(*had), compare_who);
	for (size_t i = 0; i < n; i++) {
		if (i && had[i].vcpu == had[i - 1].vcpu)
			had[i].ns += had[i - 1].ns;
		if (had[i].ns > longest.ns)
			longest = had[i];
	}
	free(had);
	if (longest.vcpu == VIRT_NONE)
		longest.ns = 0;
	return longest;
}

static bool describe_wait(const struct virt_model *model, uint32_t i, struct virt_moment *moment)
{
	const struct virt_vcpu_track *track = &model->vcpus[moment->vcpu];
	struct virt_culprit culprit;
	struct virt_wait_part part;
	size_t end, longest;

	if (i >= track->n)
		return false;
	end = virt_stretch_end(track, i);
	moment->end_ns = virt_time_of(model, track, end);
	moment->begun = virt_begin_is_shown(model, track, i);
	moment->complete = virt_end_is_shown(track, end);
	moment->entry_ns = virt_entry_after(track, end);
	if (moment->kind == VIRT_WORST_WAKE) {
		moment->pcpu = virt_woken_pcpu(track, i, end);
		culprit = virt_pcpu_culprit(model, moment->pcpu, moment->start_ns, moment->end_ns);
		moment->who = culprit.vcpu;
		moment->who_ns = culprit.ns;
	} else {
		longest = virt_longest_part(model, track, i, end);
		set_part(model, moment->vcpu, longest, virt_wait_part_end(track, longest, end),
			 &part);
		moment->pcpu = part.pcpu;
		moment->who = part.who;
		moment->who_ns = part.who_ns;
	}
	set_held(model, moment);
	add_states(model, moment->end_ns, moment);
	return true;
}

static bool describe_offline(const struct virt_model *model, uint32_t i,
			     struct virt_moment *moment)
{
	const struct virt_vcpu_track *track = &model->vcpus[moment->vcpu];
	size_t end;

	if (i >= track->n)
		return false;
	end = virt_stretch_end(track, i);
	moment->end_ns = virt_time_of(model, track, end);
	moment->complete = virt_end_is_shown(track, end);
	moment->entry_ns = virt_entry_after(track, end);
	moment->pcpu = track->intervals[i].pcpu;
	moment->whole_machine = virt_machine_is_offline(model, track->info.machine,
				moment->start_ns + (moment->end_ns - moment->start_ns) / 2);
	set_held(model, moment);
	add_states(model, moment->end_ns, moment);
	return true;
}

static bool describe_tsc_write(const struct virt_model *model, uint32_t i,
			       struct virt_moment *moment)
{
	if (i >= model->n_tsc_writes)
		return false;
	moment->tsc = &model->tsc_writes[i];
	moment->end_ns = moment->start_ns;
	moment->pcpu = moment->tsc->pcpu;
	return true;
}

/** The part of a migration to interval @at without the sleep that comes before. */
static void set_costly_part(const struct virt_model *model, const struct virt_vcpu_track *track,
			    size_t at, const struct virt_arrival *arrival,
			    struct virt_moment *moment)
{
	size_t i = VIRT_FIRST_AT(track->intervals, 0, track->n, moment->start_ns);

	if (!moment->cost_ns || at >= track->n)
		return;
	while (i < at && !virt_wants_pcpu(track->intervals[i].state))
		i++;
	moment->cost_from_ns = track->intervals[i].start_ns;
	moment->cost_to_ns = virt_time_of(model, track, arrival->end);
}

static bool describe_migration(const struct virt_model *model, uint32_t i,
			       struct virt_moment *moment)
{
	const struct virt_vcpu_track *track = &model->vcpus[moment->vcpu];
	const struct virt_migration *migration;
	struct virt_arrival arrival = { 0 };
	size_t at;

	if (i >= track->n_migrations)
		return false;
	migration = &track->migrations[i];
	moment->start_ns = migration->time_ns - migration->gap_ns;
	moment->end_ns = migration->time_ns;
	at = virt_migrated_at(track, VIRT_FIRST_AT(track->intervals, 0, track->n,
						   migration->time_ns));
	virt_arrival_at(model, track, at, &arrival);
	moment->complete = virt_arrives(track, &arrival);
	if (moment->complete)
		moment->entry_ns = virt_time_of(model, track, arrival.end);
	moment->unasked_ns = arrival.unasked_ns;
	moment->pcpu = migration->to;
	moment->from_pcpu = migration->from;
	set_costly_part(model, track, at, &arrival, moment);
	add_states(model, virt_time_of(model, track, arrival.end), moment);
	return true;
}

/** A hit that was found when others were delivered (virt_registry.h) is none. */
static bool describe_irq(const struct virt_worst *worst, const struct virt_worst_hit *hit,
			 struct virt_moment *moment)
{
	const struct virt_model *model = worst->model;
	const struct virt_vcpu_track *track = &model->vcpus[moment->vcpu];
	const struct virt_interval *at = virt_vcpu_at(model, moment->vcpu, moment->start_ns, NULL);
	size_t i = VIRT_FIRST_AT(track->intervals, 0, track->n, hit->time_ns);
	const struct virt_irq_delivery *irq;

	if (hit->index >= worst->n_irqs)
		return false;
	irq = &worst->irqs[hit->index];
	if (irq->result ||	/* not seen any more */
	    irq->vcpu != hit->vcpu || irq->inject_ns != hit->time_ns ||
	    irq->handler_ns - irq->inject_ns != hit->cost_ns)
		return false;
	moment->end_ns = irq->handler_ns;
	moment->vector = irq->vector;
	moment->event = irq->event;
	moment->pcpu = at ? at->pcpu : VIRT_NONE;
	while (i < track->n && track->intervals[i].state != VIRT_GUEST)
		i++;
	if (at && at->state != VIRT_GUEST && i < track->n &&
	    track->intervals[i].start_ns <= irq->handler_ns)
		moment->entry_ns = track->intervals[i].start_ns;
	add_states(model, moment->end_ns, moment);
	return true;
}

static bool describe_loss(const struct virt_model *model, uint32_t i, struct virt_moment *moment)
{
	if (i >= model->n_losses)
		return false;
	moment->end_ns = model->losses[i].to_ns;
	moment->pcpu = model->losses[i].pcpu;
	moment->records = model->losses[i].records;
	return true;
}

static bool describe(const struct virt_worst *worst, const struct virt_worst_hit *hit,
		     struct virt_moment *moment)
{
	const struct virt_model *model = worst->model;

	*moment = (struct virt_moment){
		.kind = hit->kind, .start_ns = hit->time_ns, .cost_ns = hit->cost_ns,
		.cost_from_ns = VIRT_NO_TIME, .entry_ns = VIRT_NO_TIME, .vcpu = hit->vcpu,
		.who = VIRT_NONE,
		.reason = VIRT_NONE, .argument = VIRT_NONE, .vector = VIRT_NONE,
		.event = VIRT_NONE, .pcpu = VIRT_NONE,
		.from_pcpu = VIRT_NONE, .begun = true, .complete = true,
	};
	if (hit->kind == VIRT_WORST_LOST)
		return describe_loss(model, hit->index, moment);
	if (hit->vcpu < 0 || hit->vcpu >= model->n_vcpus)
		return false;
	switch (hit->kind) {
	case VIRT_WORST_EXIT:
		return describe_exit(model, hit->index, moment);
	case VIRT_WORST_STEAL:
	case VIRT_WORST_WAKE:
		return describe_wait(model, hit->index, moment);
	case VIRT_WORST_MIGRATION:
		return describe_migration(model, hit->index, moment);
	case VIRT_WORST_IRQ:
		return describe_irq(worst, hit, moment);
	case VIRT_WORST_OFFLINE:
		return describe_offline(model, hit->index, moment);
	case VIRT_WORST_TSC:
		return describe_tsc_write(model, hit->index, moment);
	default:
		return false;
	}
}

bool virt_worst_describe(const struct virt_worst *worst, const struct virt_worst_hit *hit,
			 struct virt_moment *moment)
{
	if (!describe(worst, hit, moment))
		return false;
	if (moment->cost_from_ns == VIRT_NO_TIME) {
		moment->cost_from_ns = moment->start_ns;
		moment->cost_to_ns = moment->end_ns;
	}
	return true;
}

void virt_vcpu_exit_levels(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			   int64_t to_ns, struct virt_exit_levels *levels)
{
	const struct virt_vcpu_track *track;
	size_t i, end;
	int level;

	*levels = (struct virt_exit_levels){ 0 };
	if (vcpu < 0 || vcpu >= model->n_vcpus || from_ns >= to_ns)
		return;
	track = &model->vcpus[vcpu];
	i = VIRT_FIRST_AT(track->intervals, 0, track->n, from_ns);
	end = VIRT_FIRST_AT(track->intervals, i, track->n, to_ns);
	level = last_level(track, i);
	for (; i < end; i++) {
		const struct virt_interval *interval = &track->intervals[i];

		if (virt_interval_is_lost(interval))
			level = -1;
		else if (interval->state == VIRT_GUEST)
			level = interval->flags & VIRT_INTERVAL_NESTED ? 2 : 1;
		if (!(interval->flags & VIRT_INTERVAL_EXIT))
			continue;
		if (level == 2)
			levels->l2++;
		else if (level == 1)
			levels->l1++;
		else
			levels->unknown++;
	}
}
