// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_part.c
 * @brief	Complete the model of a part of a trace with facts from the whole trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_part.h"
#include "virt_private.h"
#include "virt_recorded.h"

/* ---- making and freeing ---- */

struct virt_part *virt_part_alloc(int32_t n_vcpus, int32_t n_pcpus)
{
	struct virt_part *part = calloc(1, sizeof(*part));
	bool complete;

	if (!part)
		return NULL;
	part->n_vcpus = n_vcpus;
	part->n_pcpus = n_pcpus;
	part->vcpus = calloc((size_t)n_vcpus + 1, sizeof(*part->vcpus));
	part->pcpus = calloc((size_t)n_pcpus + 1, sizeof(*part->pcpus));
	complete = part->vcpus && part->pcpus;
	for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++) {
		part->power[kind] = calloc((size_t)n_pcpus + 1, sizeof(*part->power[kind]));
		complete &= !!part->power[kind];
	}
	if (complete)
		return part;
	virt_part_free(part);
	return NULL;
}

static void free_tracks(struct virt_part_track *tracks, int32_t n)
{
	for (int32_t i = 0; tracks && i < n; i++) {
		free(tracks[i].pieces);
		free(tracks[i].changes);
	}
	free(tracks);
}

void virt_part_free(struct virt_part *part)
{
	if (!part)
		return;
	free_tracks(part->vcpus, part->n_vcpus);
	free_tracks(part->pcpus, part->n_pcpus);
	for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++)
		free_tracks(part->power[kind], part->n_pcpus);
	for (int32_t i = 0; i < part->n_reasons; i++)
		free(part->reasons[i]);
	for (int i = 0; i < part->n_contradictions; i++)
		free(part->contradictions[i].what);
	for (int32_t i = 0; i < part->n_tasks; i++) {
		free(part->tasks[i].name);
		free(part->tasks[i].thread);
	}
	free(part->reasons);
	free(part->tasks);
	free(part->wakes);
	free(part->left_out);
	free(part->losses);
	free(part->holds);
	free(part->contradictions);
	free(part);
}

bool virt_part_leaves_out(const struct virt_part *part)
{
	for (int32_t i = 0; i < part->n_left_out; i++)
		if (part->left_out[i])
			return true;
	return false;
}

int virt_part_leave_out(struct virt_part *part, int32_t pcpu)
{
	if (pcpu >= part->n_left_out && ARRAY_REACH(part->left_out, pcpu, part->n_left_out))
		return -ENOMEM;
	part->left_out[pcpu] = true;
	return 0;
}

int virt_part_add(struct virt_part_track *track, const struct virt_part_piece *piece,
		  const struct virt_interval *changes)
{
	if (ARRAY_GROW(track->pieces, track->n_pieces, track->room_pieces) ||
	    (piece->n && ARRAY_GROW(track->changes, track->n_changes + piece->n,
				    track->room_changes)))
		return -ENOMEM;
	if (piece->n)
		memcpy(track->changes + track->n_changes, changes, piece->n * sizeof(*changes));
	track->n_changes += piece->n;
	track->pieces[track->n_pieces++] = *piece;
	return 0;
}

/* ---- asking ---- */

void virt_model_span(const struct virt_model *model, int64_t *begin_ns, int64_t *end_ns)
{
	*begin_ns = model->begin_ns;
	*end_ns = model->end_ns;
}

void virt_model_show(struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	if (!virt_clamp_window(model, &from_ns, &to_ns))
		return;
	model->is_part = true;
	model->from_ns = from_ns;
	model->to_ns = to_ns;
}

/* ---- numbers ---- */

/** Return: 0 or -ENOMEM. */
static int begin_tasks(const struct virt_part *part, struct virt_model *model)
{
	for (int32_t i = 0; i < part->n_tasks; i++) {
		const struct virt_part_task *from = &part->tasks[i];
		int32_t number = virt_model_add_task(model, from->pid, from->name);
		struct virt_task *task;

		if (number < 0)
			return -ENOMEM;
		task = &model->tasks[number - VIRT_FIRST_TASK];
		if (from->machine < 0 || from->machine >= model->n_machines || !from->thread)
			continue;
		task->thread = virt_keep_name(model, from->thread);
		if (!task->thread)
			return -ENOMEM;
		task->machine = from->machine;
		task->kind = from->kind;
		task->source = from->source;
	}
	return 0;
}

int virt_part_begin(const struct virt_part *part, struct virt_model *model)
{
	int32_t ret = 0;

	for (int32_t i = 0; i < part->n_reasons && ret >= 0; i++)
		ret = virt_model_add_reason(model, part->reasons[i]);
	if (ret >= 0)
		ret = begin_tasks(part, model);
	for (int32_t i = 0; i < part->n_wakes && ret >= 0; i++)
		ret = virt_model_add_wake(model, &part->wakes[i]);
	for (int32_t i = 0; i < VIRT_IDLE_STATES && ret >= 0; i++) {
		char name[16];

		snprintf(name, sizeof(name), "C%d", (int)i);
		if (part->idle_states[i])
			ret = virt_model_name_idle_state(model, i, name);
	}
	return ret < 0 && ret != -EINVAL ? (int)ret : 0;
}

/* ---- putting pieces in their place ---- */

/** Changes that are put together. */
struct list {
	struct virt_interval *of;
	size_t		n, room;
};

/** What says nothing new, as virt_model_set() has it, is left out: a piece may begin with it. */
static int append(struct list *list, const struct virt_interval *change)
{
	const struct virt_interval *last = list->n ? &list->of[list->n - 1] : NULL;

	if (last && last->state == change->state && last->pcpu == change->pcpu &&
	    last->detail == change->detail && !(change->flags & VIRT_INTERVAL_EXIT) &&
	    !((last->flags ^ change->flags) & (uint8_t)~VIRT_INTERVAL_EXIT))
		return 0;
	if (ARRAY_GROW(list->of, list->n, list->room))
		return -ENOMEM;
	list->of[list->n++] = *change;
	return 0;
}

/** What was in force before @before goes on from @time_ns. */
static int append_rest(struct list *list, const struct list *old, size_t before, int64_t time_ns)
{
	struct virt_interval rest;

	if (!before || time_ns == INT64_MAX)
		return 0;
	if (before < old->n && old->of[before].start_ns == time_ns)
		return 0;
	rest = old->of[before - 1];
	rest.start_ns = time_ns;
	rest.flags &= (uint8_t)~VIRT_INTERVAL_EXIT;
	return append(list, &rest);
}

/**
 * Let pieces take the place of what there is.
 * @unknown: holds at first, whatever the pieces say; or NULL
 *
 * Return: 0 or -ENOMEM; @old is the result, or as it was.
 */
static int splice(struct list *old, const struct virt_part_track *track,
		  const struct virt_interval *unknown)
{
	const struct virt_interval *change = track->changes;
	struct list new = { 0 };
	size_t i = 0;
	int ret = unknown && track->n_pieces && track->pieces[0].from_ns == INT64_MIN ?
		  append(&new, unknown) : 0;

	for (uint32_t p = 0; p < track->n_pieces && !ret; p++) {
		const struct virt_part_piece *piece = &track->pieces[p];

		for (; i < old->n && old->of[i].start_ns < piece->from_ns && !ret; i++)
			ret = append(&new, &old->of[i]);
		for (uint32_t n = 0; n < piece->n && !ret; n++)
			ret = append(&new, change++);
		while (i < old->n && old->of[i].start_ns < piece->to_ns)
			i++;
		if (!ret && (p + 1 == track->n_pieces || piece[1].from_ns > piece->to_ns))
			ret = append_rest(&new, old, i, piece->to_ns);
	}
	for (; i < old->n && !ret; i++)
		ret = append(&new, &old->of[i]);
	free(ret ? new.of : old->of);
	if (!ret)
		*old = new;
	return ret;
}

/* ---- is it possible? ---- */

static bool is_somebody(const struct virt_model *model, int32_t who)
{
	return virt_is_vcpu(model, who) || virt_is_task(model, who);
}

static bool is_interval(const struct virt_model *model, const struct virt_interval *change)
{
	int32_t detail = change->detail;

	if (change->state >= VIRT_N_STATES || change->pcpu < VIRT_NONE ||
	    change->pcpu >= model->n_pcpus ||
	    (change->state == VIRT_GUEST && change->flags & VIRT_INTERVAL_EXIT))
		return false;
	if (detail == VIRT_NONE)
		return true;
	if (virt_state_on_pcpu(change->state))
		return detail >= 0 && detail < model->n_reasons && change->pcpu >= 0;
	if (change->state == VIRT_BLOCKED)
		return detail >= 0 && detail < model->n_wakes;
	return change->state == VIRT_PREEMPTED && is_somebody(model, detail);
}

static bool is_occupant(const struct virt_model *model, const struct virt_interval *change)
{
	return change->detail == VIRT_NONE ||
	       (change->state && is_somebody(model, change->detail));
}

static bool is_idle_state(const struct virt_model *model, const struct virt_interval *change)
{
	(void)model;
	return change->detail == VIRT_POWER_UNKNOWN ||
	       (change->detail >= VIRT_AWAKE && change->detail < VIRT_IDLE_STATES);
}

static bool is_frequency(const struct virt_model *model, const struct virt_interval *change)
{
	(void)model;
	return change->detail == VIRT_POWER_UNKNOWN || change->detail > 0;
}

/** Are all changes possible, and in order? */
static bool is_possible(const struct virt_model *model, const struct virt_part_track *track,
			bool (*fits)(const struct virt_model *model,
				     const struct virt_interval *change))
{
	const struct virt_interval *change = track->changes;
	int64_t last = INT64_MIN;

	for (uint32_t p = 0; p < track->n_pieces; p++) {
		const struct virt_part_piece *piece = &track->pieces[p];

		if (piece->from_ns < last || piece->to_ns < piece->from_ns)
			return false;
		last = piece->from_ns;
		for (uint32_t n = 0; n < piece->n; n++, change++) {
			if (change->start_ns < last || change->start_ns >= piece->to_ns ||
			    !fits(model, change))
				return false;
			last = change->start_ns;
		}
		last = piece->to_ns;
	}
	return true;
}

/* ---- parts without all pCPUs ---- */

/** Does @change come from records that are in the part? */
static bool is_there(const struct virt_part *part, const struct virt_interval *change)
{
	return virt_state_on_pcpu(change->state) && change->pcpu >= 0 &&
	       !virt_part_is_left_out(part, change->pcpu);
}

/** Add to @track the part [@from_ns, @to_ns) of a piece. */
static int add_some(struct virt_part_track *track, const struct virt_interval *changes, uint32_t n,
		    int64_t from_ns, int64_t to_ns)
{
	uint32_t first = (uint32_t)VIRT_FIRST_AT(changes, 0, n, from_ns);
	uint32_t last = (uint32_t)VIRT_FIRST_AT(changes, first, n, to_ns);
	struct virt_part_piece piece = { from_ns, to_ns, last - first };
	struct virt_interval begun;

	if (from_ns >= to_ns)
		return 0;
	if (first == n || changes[first].start_ns > from_ns) {
		/* what is in force there has begun before */
		if (!first)
			return virt_part_add(track, &piece, changes);
		begun = changes[first - 1];
		begun.start_ns = from_ns;
		begun.flags &= (uint8_t)~VIRT_INTERVAL_EXIT;
		piece.to_ns = first < last ? changes[first].start_ns : to_ns;
		piece.n = 1;
		if (virt_part_add(track, &piece, &begun))
			return -ENOMEM;
		piece = (struct virt_part_piece){ piece.to_ns, to_ns, last - first };
	}
	return piece.from_ns < piece.to_ns ? virt_part_add(track, &piece, changes + first) : 0;
}

/** The times within a part in which a vCPU is on a pCPU whose records are there. */
static int add_there(const struct virt_part *part, struct virt_part_track *track,
		     const struct virt_part_piece *piece, const struct virt_interval *changes)
{
	int ret = 0;

	for (uint32_t i = 0; i < piece->n && !ret; i++) {
		int64_t from = changes[i].start_ns;
		int64_t to = i + 1 < piece->n ? changes[i + 1].start_ns : piece->to_ns;

		from = from < part->from_ns ? part->from_ns : from;
		to = to > part->to_ns ? part->to_ns : to;
		if (from < to && is_there(part, &changes[i]))
			ret = add_some(track, changes, piece->n, from, to);
	}
	return ret;
}

/** A copy of @all without what only records of left-out pCPUs show within the part. */
static int leave_out(const struct virt_part *part, const struct virt_part_track *all,
		     bool of_vcpu, struct virt_part_track *track)
{
	const struct virt_interval *changes = all->changes;
	int ret = 0;

	for (uint32_t p = 0; p < all->n_pieces && !ret; p++) {
		const struct virt_part_piece *piece = &all->pieces[p];
		int64_t before = piece->to_ns < part->from_ns ? piece->to_ns : part->from_ns;
		int64_t after = piece->from_ns > part->to_ns ? piece->from_ns : part->to_ns;

		ret = add_some(track, changes, piece->n, piece->from_ns, before);
		if (!ret && of_vcpu)
			ret = add_there(part, track, piece, changes);
		if (!ret)
			ret = add_some(track, changes, piece->n, after, piece->to_ns);
		changes += piece->n;
	}
	return ret;
}

/** Whose track it is. */
enum owner { OF_VCPU, OF_PCPU, OF_PCPU_LEFT_OUT };

static int place(const struct virt_part *part, const struct virt_part_track *track,
		 enum owner owner, struct list *list, const struct virt_interval *unknown)
{
	struct virt_part_track rest = { 0 };
	int ret;

	if (!track->n_pieces)
		return 0;
	if (owner == OF_PCPU || !virt_part_leaves_out(part))
		return splice(list, track, unknown);
	ret = leave_out(part, track, owner == OF_VCPU, &rest);
	if (!ret)
		ret = splice(list, &rest, unknown);
	free(rest.pieces);
	free(rest.changes);
	return ret;
}

/* ---- the tracks of the model ---- */

/** Before the first piece, nothing is known. */
static const struct virt_interval unknown_vcpu = {
	.start_ns = INT64_MIN, .detail = VIRT_NONE, .pcpu = VIRT_NONE, .state = VIRT_UNKNOWN,
};
static const struct virt_interval unknown_pcpu = {
	.start_ns = INT64_MIN, .detail = VIRT_NONE,
};

static int place_vcpu(const struct virt_part *part, struct virt_model *model, int32_t i)
{
	struct virt_vcpu_track *vcpu = &model->vcpus[i];
	struct list list = { vcpu->intervals, vcpu->n, vcpu->room };
	int64_t *times;
	int ret;

	if (!is_possible(model, &part->vcpus[i], is_interval))
		return 0;
	times = virt_arguments_times(vcpu);
	if (!times)
		return -ENOMEM;
	ret = place(part, &part->vcpus[i], OF_VCPU, &list, &unknown_vcpu);
	vcpu->intervals = list.of;
	vcpu->n = (uint32_t)list.n;
	vcpu->room = (uint32_t)list.room;
	vcpu->blocked = 0;
	virt_arguments_place(vcpu, times);
	free(times);
	return ret;
}

static enum owner owner_of(const struct virt_part *part, int32_t pcpu)
{
	return virt_part_is_left_out(part, pcpu) ? OF_PCPU_LEFT_OUT : OF_PCPU;
}

static int place_pcpu(const struct virt_part *part, struct virt_model *model, int32_t i)
{
	struct virt_pcpu_track *pcpu = &model->pcpus[i];
	struct list list = { 0 };
	int ret = 0;

	if (!part->pcpus[i].n_pieces || !is_possible(model, &part->pcpus[i], is_occupant))
		return 0;
	for (uint32_t n = 0; n < pcpu->n && !ret; n++)
		ret = append(&list, &(struct virt_interval){
			.start_ns = pcpu->occupants[n].start_ns, .detail = pcpu->occupants[n].vcpu,
			.state = !!pcpu->occupants[n].known,
		});
	if (!ret)
		ret = place(part, &part->pcpus[i], owner_of(part, i), &list, &unknown_pcpu);
	if (!ret && list.n > pcpu->n)
		ret = ARRAY_GROW(pcpu->occupants, list.n, pcpu->room);
	for (size_t n = 0; n < list.n && !ret; n++)
		pcpu->occupants[n] = (struct virt_occupant){
			.start_ns = list.of[n].start_ns, .vcpu = list.of[n].detail,
			.known = list.of[n].state,
		};
	if (!ret)
		pcpu->n = (uint32_t)list.n;
	free(list.of);
	return ret;
}

static int place_power(const struct virt_part *part, struct virt_model *model, int32_t i,
		       enum virt_power_kind kind)
{
	const struct virt_part_track *known = &part->power[kind][i];
	struct virt_power_track *track;
	struct list list = { 0 };
	int ret = 0;

	if (!known->n_pieces ||
	    !is_possible(model, known, kind == VIRT_FREQUENCY ? is_frequency : is_idle_state))
		return 0;
	if (i >= model->power.n && ARRAY_REACH(model->power.pcpus, i, model->power.n))
		return -ENOMEM;
	track = &model->power.pcpus[i].tracks[kind];
	for (size_t n = 0; n < track->n && !ret; n++)
		ret = append(&list, &(struct virt_interval){
			.start_ns = track->steps[n].time_ns, .detail = track->steps[n].value,
		});
	if (!ret)
		ret = place(part, known, owner_of(part, i), &list, NULL);
	if (!ret && list.n > track->n)
		ret = ARRAY_GROW(track->steps, list.n, track->room);
	for (size_t n = 0; n < list.n && !ret; n++)
		track->steps[n] = (struct virt_power_step){ list.of[n].start_ns,
							    list.of[n].detail };
	if (!ret)
		track->n = list.n;
	free(list.of);
	return ret;
}

/* ---- what holds for all ---- */

static int place_losses(const struct virt_part *part, struct virt_model *model)
{
	int ret = 0;

	model->n_losses = 0;
	for (size_t i = 0; i < part->n_losses && ret != -ENOMEM; i++)
		ret = virt_model_add_loss(model, &part->losses[i]);
	for (int32_t pcpu = 0; pcpu < part->n_left_out && ret != -ENOMEM; pcpu++)
		if (part->left_out[pcpu])
			ret = virt_model_add_loss(model, &(struct virt_loss){
				.from_ns = part->from_ns, .to_ns = part->to_ns,
				.pcpu = (int16_t)pcpu,
			});
	return ret == -ENOMEM ? ret : 0;
}

int virt_part_contradict(struct virt_part *part, const char *what, int64_t time_ns, uint64_t count)
{
	int n = part->n_contradictions;
	struct virt_part_contradiction *last = n ? &part->contradictions[n - 1] : NULL;
	char *copy;

	if (last && !strcmp(last->what, what) &&
	    (last->time_ns == time_ns || n >= VIRT_PART_CONTRADICTIONS)) {
		last->count += count;
		return 0;
	}
	copy = strdup(what);
	if (!copy || ARRAY_GROW(part->contradictions, n, part->room_contradictions)) {
		free(copy);
		return -ENOMEM;
	}
	part->contradictions[part->n_contradictions++] =
		(struct virt_part_contradiction){ copy, time_ns, count };
	return 0;
}

static int place_contradictions(const struct virt_part *part, struct virt_model *model)
{
	memset(model->contradictions, 0, sizeof(model->contradictions));
	model->n_contradicted = 0;
	for (int i = 0; i < part->n_contradictions; i++) {
		const struct virt_part_contradiction *at = &part->contradictions[i];
		const char *what = virt_keep_name(model, at->what);

		if (!what || virt_model_contradict(model, what, at->time_ns, at->count))
			return -ENOMEM;
	}
	return 0;
}

/** The records of a part do not show what a limit held when it began. */
static int place_holds(const struct virt_part *part, struct virt_model *model)
{
	int ret = 0;

	for (int32_t i = 0; i < model->n_vcpus; i++)
		virt_free_holds(&model->vcpus[i]);
	/* what cannot be is left aside */
	for (size_t i = 0; i < part->n_holds && ret != -ENOMEM; i++)
		ret = virt_model_add_hold(model, part->holds[i].vcpu, &part->holds[i].hold);
	if (part->knows_holds)
		virt_model_know_holds(model);
	return ret == -ENOMEM ? ret : 0;
}

int virt_part_finish(const struct virt_part *part, struct virt_model *model)
{
	int ret = 0;

	/* makes all up to that one known */
	if (part->n_known > model->n_pcpus)
		ret = virt_model_occupy(model, (int16_t)(part->n_known - 1), INT64_MIN, VIRT_NONE,
					false);
	for (int32_t i = 0; i < part->n_vcpus && i < model->n_vcpus && !ret; i++)
		ret = place_vcpu(part, model, i);
	for (int32_t i = 0; i < part->n_pcpus && !ret; i++) {
		if (i < model->n_pcpus)
			ret = place_pcpu(part, model, i);
		for (int kind = 0; kind < VIRT_POWER_N_KINDS && !ret; kind++)
			ret = place_power(part, model, i, (enum virt_power_kind)kind);
	}
	if (!ret)
		ret = place_losses(part, model);
	if (!ret)
		ret = place_contradictions(part, model);
	if (!ret)
		ret = place_holds(part, model);
	if (ret)
		return ret;
	model->unsplit |= part->unsplit;
	model->migrates |= part->migrates;
	/* even if none of these records are in the part */
	if (part->recorded)
		virt_model_set_recorded(model, part->recorded);
	model->is_part = true;
	model->from_ns = part->from_ns;
	model->to_ns = part->to_ns;
	return virt_model_finish(model, part->begin_ns, part->end_ns);
}

/* ---- several parts of a trace ---- */

static int join_track(struct virt_part_track *track, const struct virt_part_track *other,
		      int64_t from_ns, int64_t to_ns, const struct virt_interval *unknown)
{
	/* NULL if nothing changes, to which nothing can be added, not even 0 */
	const struct virt_interval *changes = other->changes;
	struct virt_part_piece piece = { from_ns, to_ns, 1 };
	struct virt_interval change;
	int ret = 0;

	if (unknown) {
		change = *unknown;
		change.start_ns = from_ns;
		return virt_part_add(track, &piece, &change);
	}
	for (uint32_t p = 0; p < other->n_pieces && !ret; p++) {
		int64_t from = other->pieces[p].from_ns, to = other->pieces[p].to_ns;

		ret = add_some(track, changes, other->pieces[p].n, from < from_ns ? from_ns : from,
			       to > to_ns ? to_ns : to);
		if (other->pieces[p].n)
			changes += other->pieces[p].n;
	}
	return ret;
}

int virt_part_join(struct virt_part *part, const struct virt_part *other, int64_t from_ns,
		   int64_t to_ns, bool unknown)
{
	static const struct virt_interval unknown_power = { .detail = VIRT_POWER_UNKNOWN };
	int ret = 0;

	for (int32_t i = 0; i < part->n_vcpus && !ret; i++)
		ret = join_track(&part->vcpus[i], &other->vcpus[i], from_ns, to_ns,
				 unknown ? &unknown_vcpu : NULL);
	for (int32_t i = 0; i < part->n_pcpus && !ret; i++) {
		ret = join_track(&part->pcpus[i], &other->pcpus[i], from_ns, to_ns,
				 unknown ? &unknown_pcpu : NULL);
		for (int kind = 0; kind < VIRT_POWER_N_KINDS && !ret; kind++)
			ret = join_track(&part->power[kind][i], &other->power[kind][i], from_ns,
					 to_ns, unknown ? &unknown_power : NULL);
	}
	return ret;
}

bool virt_part_same(const struct virt_part *a, const struct virt_part *b)
{
	if (a->begin_ns != b->begin_ns || a->end_ns != b->end_ns || a->n_known != b->n_known ||
	    a->recorded != b->recorded ||
	    a->n_vcpus != b->n_vcpus || a->n_pcpus != b->n_pcpus ||
	    a->n_reasons != b->n_reasons || a->n_wakes != b->n_wakes)
		return false;
	for (int32_t i = 0; i < a->n_reasons; i++)
		if (strcmp(a->reasons[i], b->reasons[i]) != 0)
			return false;
	for (int32_t i = 0; i < a->n_wakes; i++)
		if (a->wakes[i].who != b->wakes[i].who ||
		    a->wakes[i].vector != b->wakes[i].vector ||
		    a->wakes[i].cause != b->wakes[i].cause)
			return false;
	return true;
}
