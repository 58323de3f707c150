// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_why.c
 * @brief	Follow the waits of vCPUs to their causes, in the model.
 */
#include <errno.h>

#include "virt_handlers.h"
#include "virt_limits.h"
#include "virt_power.h"
#include "virt_why_private.h"

/** Intervals that are looked at for the VM exit whose answer is waited for. */
#define LOOK_BACK	64

static bool is_vcpu(const struct virt_model *model, int32_t who)
{
	return virt_model_vcpu(model, who) != NULL;
}

/* --- who has a pCPU -------------------------------------------------------------------------- */

/** The occupant's time; @waits: the segment that waits for the pCPU, or NULL. */
static struct virt_why_segment occupied(const struct virt_model *model,
					const struct virt_occupant *occupant, int64_t from_ns,
					int64_t to_ns, int16_t pcpu,
					const struct virt_why_segment *waits)
{
	struct virt_why_segment segment = why_segment_at(occupant->vcpu, VIRT_WHY_IDLE, from_ns,
							 to_ns, pcpu);

	if (!occupant->known || (waits && occupant->vcpu == waits->subject)) {
		segment.subject = VIRT_NONE;
		segment.kind = VIRT_WHY_UNEXPLAINED;
		segment.cause = (uint8_t)why_unknown(model, from_ns, to_ns);
	} else if (is_vcpu(model, occupant->vcpu)) {
		segment.kind = VIRT_WHY_VCPU;
	} else if (occupant->vcpu != VIRT_NONE) {
		segment.kind = VIRT_WHY_TASK;
	} else if (waits && waits->kind == VIRT_WHY_PREEMPTED) {
		/* a woken vCPU waits until the pCPU leaves its sleep; a running one need not */
		segment.kind = VIRT_WHY_UNEXPLAINED;
		segment.cause = VIRT_WHY_LEFT_IDLE;
	}
	return segment;
}

/** Call @take for each stretch of an occupant of a pCPU. */
static void each_occupant(struct walk *walk, int16_t pcpu, int64_t from_ns, int64_t to_ns,
			  const struct virt_why_segment *waits,
			  void (*take)(struct walk *walk, const struct virt_why_segment *segment))
{
	struct virt_occupant_range range = virt_pcpu_occupants(walk->model, pcpu, from_ns, to_ns);

	for (size_t i = 0; i < range.n && !walk->error; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;
		struct virt_why_segment segment;

		segment = occupied(walk->model, &range.first[i], start < from_ns ? from_ns : start,
				   end > to_ns ? to_ns : end, pcpu, waits);
		if (segment.from_ns >= segment.to_ns)
			continue;
		if (start >= from_ns && start > walk->begin_ns)
			segment.flags |= VIRT_WHY_BEGINS;
		if (end <= to_ns && end < walk->end_ns)
			segment.flags |= VIRT_WHY_ENDS;
		take(walk, &segment);
	}
}

/** In which idle states a pCPU sleeps in segment @at, in which it is idle. */
static void add_sleeps(struct walk *walk, size_t at)
{
	const struct virt_why_segment above = walk->why->segments[at];
	struct virt_power_piece piece;
	int64_t time_ns = above.from_ns;

	why_down(walk);
	for (; time_ns < above.to_ns && !walk->error &&
	       virt_pcpu_power(walk->model, VIRT_IDLE_STATE, above.pcpu, time_ns, &piece);
	     time_ns = piece.to_ns) {
		struct virt_why_segment segment;

		if (piece.value < 0)
			continue;
		segment = why_segment_at(VIRT_NONE, VIRT_WHY_SLEEP, time_ns, piece.to_ns,
					 above.pcpu);
		segment.cause = VIRT_WHY_SLEEPS;
		segment.idle_state = piece.value;
		segment.sleeps_ns = piece.to_ns - piece.from_ns;
		if (piece.begins && piece.from_ns == segment.from_ns)
			segment.flags |= VIRT_WHY_BEGINS;
		if (segment.to_ns > above.to_ns)
			segment.to_ns = above.to_ns;
		else if (piece.ends)
			segment.flags |= VIRT_WHY_ENDS;
		why_add(walk, &segment);
	}
	why_up(walk);
	if (!walk->error)
		why_end_below(walk, at);
}

static void add_occupant(struct walk *walk, const struct virt_why_segment *segment)
{
	ssize_t at = why_add(walk, segment);

	if (at < 0 || walk->level + 1 >= VIRT_WHY_LEVELS)
		return;
	if (segment->kind == VIRT_WHY_IDLE)
		add_sleeps(walk, (size_t)at);
	else if (segment->kind == VIRT_WHY_VCPU)
		why_add_tasks(walk, (size_t)at, segment->subject);
}

void why_add_culprits(struct walk *walk, size_t at, int16_t pcpu, int64_t from_ns, int64_t to_ns)
{
	const struct virt_why_segment waits = walk->why->segments[at];
	size_t before = walk->why->n;

	why_down(walk);
	each_occupant(walk, pcpu, from_ns, to_ns, &waits, add_occupant);
	why_up(walk);
	if (walk->why->n == before && !walk->error)
		why_add_unexplained(walk, at, from_ns, to_ns,
				    why_unknown(walk->model, from_ns, to_ns));
}

/* --- the states of a vCPU -------------------------------------------------------------------- */

/** Intervals [first, end) that are one stretch; @range begins with the window's first. */
struct stretch {
	struct virt_interval_range range;
	size_t			first, end;
	int64_t			from_ns, to_ns;	/* the part in the window */
};

static int64_t begin_of(const struct stretch *stretch, size_t i)
{
	return i < stretch->range.n ? stretch->range.first[i].start_ns : stretch->range.end_ns;
}

/** A wait for a pCPU or for an event is one stretch, even if its details change. */
static size_t stretch_end(const struct virt_interval_range *range, size_t i)
{
	unsigned int state = range->first[i].state;

	for (i++; !virt_state_on_pcpu(state) && i < range->n && range->first[i].state == state; i++)
		;
	return i;
}

/** Each interval waits for a pCPU of its own. */
static void explain_preempted(struct walk *walk, size_t at, const struct stretch *stretch)
{
	for (size_t i = stretch->first; i < stretch->end && !walk->error; i++) {
		int64_t from_ns = begin_of(stretch, i), to_ns = begin_of(stretch, i + 1);

		from_ns = from_ns < stretch->from_ns ? stretch->from_ns : from_ns;
		to_ns = to_ns > stretch->to_ns ? stretch->to_ns : to_ns;
		if (from_ns < to_ns)
			why_add_culprits(walk, at, stretch->range.first[i].pcpu, from_ns, to_ns);
	}
}

/** A woken vCPU waits for the pCPU that it comes to run on. */
static void explain_waking(struct walk *walk, size_t at, const struct stretch *stretch)
{
	const struct virt_interval *next = &stretch->range.first[stretch->end];
	struct virt_why_segment *segment = &walk->why->segments[at];

	if (stretch->end < stretch->range.n && virt_state_on_pcpu(next->state))
		segment->pcpu = next->pcpu;
	why_add_culprits(walk, at, segment->pcpu, stretch->from_ns, stretch->to_ns);
}

void why_follow(struct walk *walk, size_t at, int32_t who, int64_t woken_ns)
{
	struct virt_why_segment *segment = &walk->why->segments[at];
	int32_t task = virt_guests_task_at(walk->guests, who, woken_ns), vcpu = VIRT_NONE;
	const struct virt_guest_task *of = virt_guests_task(walk->guests, task, NULL);

	if (is_vcpu(walk->model, who)) {
		segment->who_task = task;
		/* the idle task does not count: it is the vCPU that was interrupted */
		vcpu = of && of->pid ? VIRT_NONE : who;
		who = of && of->pid ? task : who;
	} else if (!virt_guests_task(walk->guests, who, NULL) &&
		   !why_host_task(walk->guests, walk->model, who)) {
		return;
	}
	if (!why_can_go_down(walk, who)) {
		segment->flags |= VIRT_WHY_CUT;
		return;
	}
	why_down(walk);
	if (vcpu == VIRT_NONE)
		why_walk_task(walk, who, segment->from_ns, segment->to_ns);
	else
		why_walk_vcpu(walk, vcpu, VIRT_NONE, segment->from_ns, segment->to_ns);
	why_up(walk);
}

static void explain_blocked(struct walk *walk, size_t at, const struct stretch *stretch)
{
	const struct virt_interval *last = &stretch->range.first[stretch->end - 1];
	struct virt_why_segment *segment = &walk->why->segments[at];
	const struct virt_wake *wake = virt_model_wake(walk->model, last->detail);
	const struct virt_vcpu *vcpu = virt_model_vcpu(walk->model, segment->subject);

	why_name_lock(walk, at, -1, vcpu->host_pid);
	if (stretch->end == stretch->range.n) {
		why_leave_unexplained(walk, at, VIRT_WHY_OPEN);
		return;
	}
	if (!wake || wake->cause == VIRT_WAKE_UNKNOWN) {
		why_leave_unexplained(walk, at, VIRT_WHY_NOT_SHOWN);
		return;
	}
	segment->wake = last->detail;
	segment->who = wake->who;
	if (wake->who != segment->subject)
		why_follow(walk, at, wake->who, begin_of(stretch, stretch->end));
}

/** Which exit's answer is waited for in intervals from @i on. */
static int32_t reason_before(const struct walk *walk, int32_t vcpu, int64_t start_ns)
{
	struct virt_interval_range range = virt_vcpu_intervals(walk->model, vcpu, INT64_MIN,
							       start_ns);

	for (size_t i = range.n, steps = 0; i-- && steps < LOOK_BACK; steps++) {
		if (range.first[i].state == VIRT_GUEST || range.first[i].state == VIRT_UNKNOWN)
			break;
		if (range.first[i].flags & VIRT_INTERVAL_EXIT)
			return virt_state_on_pcpu(range.first[i].state) ?
			       range.first[i].detail : VIRT_NONE;
	}
	return VIRT_NONE;
}

/** What interrupted the vCPU in this time. */
static void add_handlers(struct walk *walk, size_t at)
{
	const struct virt_why_segment above = walk->why->segments[at];
	struct virt_handling_range range = virt_vcpu_handlings(walk->model, above.subject,
							       above.from_ns, above.to_ns);

	why_down(walk);
	for (size_t i = 0; i < range.n && !walk->error; i++) {
		const struct virt_handling *piece = &range.first[i];
		struct virt_why_segment segment;

		segment = why_segment_at(above.subject, VIRT_WHY_HANDLER, piece->start_ns,
				     piece->end_ns, above.pcpu);
		segment.cause = VIRT_WHY_HANDLES;
		segment.handler = piece->handler;
		if (segment.from_ns >= above.from_ns)
			segment.flags |= VIRT_WHY_BEGINS;
		else
			segment.from_ns = above.from_ns;
		if (segment.to_ns <= above.to_ns)
			segment.flags |= VIRT_WHY_ENDS;
		else
			segment.to_ns = above.to_ns;
		if (segment.from_ns < segment.to_ns)
			why_add(walk, &segment);
	}
	why_up(walk);
}

/** On its pCPU, out of guest code. */
static void explain_exit(struct walk *walk, size_t at, const struct stretch *stretch)
{
	const struct virt_interval *interval = &stretch->range.first[stretch->first];
	struct virt_why_segment *segment = &walk->why->segments[at];

	segment->reason = interval->detail;
	if (segment->reason == VIRT_NONE && !(interval->flags & VIRT_INTERVAL_EXIT))
		segment->reason = reason_before(walk, segment->subject, interval->start_ns);
	if (segment->reason == VIRT_NONE)
		why_leave_unexplained(walk, at, VIRT_WHY_NOT_SHOWN);
	else
		add_handlers(walk, at);
}

/** Add the segments below segment @at. */
static void explain(struct walk *walk, size_t at, const struct stretch *stretch)
{
	switch (walk->why->segments[at].kind) {
	case VIRT_WHY_GUEST:
		/* the VM exit may be recorded behind the handler */
		add_handlers(walk, at);
		if (!walk->error && walk->why->n == at + 1)
			why_add_vcpu_spins(walk, at);
		break;
	case VIRT_WHY_HYPERVISOR:
	case VIRT_WHY_VMM:
		explain_exit(walk, at, stretch);
		break;
	case VIRT_WHY_PREEMPTED:
		explain_preempted(walk, at, stretch);
		break;
	case VIRT_WHY_WAKING:
		explain_waking(walk, at, stretch);
		break;
	case VIRT_WHY_BLOCKED:
		explain_blocked(walk, at, stretch);
		break;
	default:
		return;
	}
	if (walk->error)
		return;
	if (walk->why->segments[at].cause == VIRT_WHY_PCPU)
		why_find_culprit(walk, at);
	why_end_below(walk, at);
}

/** What a stretch is, before anything else is asked about it. */
static struct virt_why_segment segment_of(const struct walk *walk, int32_t vcpu,
					  const struct stretch *stretch)
{
	static const uint8_t causes[VIRT_N_STATES] = {
		[VIRT_GUEST] = VIRT_WHY_RUNS,
		[VIRT_HYPERVISOR] = VIRT_WHY_EXIT,
		[VIRT_POLLING] = VIRT_WHY_POLLS,
		[VIRT_VMM] = VIRT_WHY_EXIT,
		[VIRT_PREEMPTED] = VIRT_WHY_PCPU,
		[VIRT_WAKING] = VIRT_WHY_PCPU,
		[VIRT_BLOCKED] = VIRT_WHY_WAKE,
		[VIRT_DEVICE_MODEL] = VIRT_WHY_ANSWER,
		[VIRT_OFFLINE] = VIRT_WHY_ABSENT,
	};
	const struct virt_interval *first = &stretch->range.first[stretch->first];
	int64_t start_ns = begin_of(stretch, stretch->first);
	struct virt_why_segment segment;

	segment = why_segment_at(vcpu, (enum virt_why_kind)first->state, stretch->from_ns,
			     stretch->to_ns, first->pcpu);
	segment.cause = causes[first->state];
	if (first->state == VIRT_GUEST && first->flags & VIRT_INTERVAL_NESTED)
		segment.cause = VIRT_WHY_NESTED;
	if (first->state == VIRT_UNKNOWN)
		segment.cause = first->flags & VIRT_INTERVAL_UNSPLIT ? VIRT_WHY_UNSPLIT :
				(uint8_t)why_unknown(walk->model, segment.from_ns, segment.to_ns);
	else if (first->flags & VIRT_INTERVAL_UNSPLIT)
		segment.flags |= VIRT_WHY_WITH_WAITS;
	if (first->flags & VIRT_INTERVAL_UNASKED || first->state == VIRT_DEVICE_MODEL) {
		segment.flags |= VIRT_WHY_UNASKED;
		segment.reason = reason_before(walk, vcpu, start_ns);
		if (first->state == VIRT_OFFLINE)
			segment.cause = VIRT_WHY_ANSWER;
	}
	if (first->state == VIRT_OFFLINE && first->flags & VIRT_INTERVAL_SIGNAL)
		segment.cause = VIRT_WHY_SIGNAL;
	if (first->state == VIRT_OFFLINE &&
	    virt_vcpu_held(walk->model, vcpu, segment.from_ns, segment.to_ns).ns ==
	    segment.to_ns - segment.from_ns)
		segment.cause = VIRT_WHY_LIMIT;
	if (start_ns == segment.from_ns && start_ns > walk->begin_ns)
		segment.flags |= VIRT_WHY_BEGINS;
	if (stretch->end < stretch->range.n && begin_of(stretch, stretch->end) == segment.to_ns)
		segment.flags |= VIRT_WHY_ENDS;
	return segment;
}

static void put_segment(struct walk *walk, const struct virt_why_segment *segment,
			const struct stretch *stretch)
{
	struct virt_why_segment named = *segment;
	ssize_t at;

	why_name_vcpu_hold(walk, &named);
	at = why_add(walk, &named);
	if (at >= 0 && !walk->shallow)
		explain(walk, (size_t)at, stretch);
}

/** Guest code, task by task of the guest, as far as that is known. */
static void put_guest_code(struct walk *walk, const struct virt_why_segment *segment,
			   const struct virt_guest_cpu *cpu, const struct stretch *stretch)
{
	struct virt_why_segment piece = *segment;
	ptrdiff_t run = virt_guest_run_at(cpu, segment->from_ns);
	size_t i = run < 0 ? 0 : (size_t)run + 1;

	piece.task = virt_guests_task_at(walk->guests, segment->subject, segment->from_ns);
	for (; i < cpu->n && cpu->runs[i].start_ns < segment->to_ns && !walk->error; i++) {
		int32_t task = virt_guests_task_at(walk->guests, segment->subject,
						   cpu->runs[i].start_ns);

		if (task == piece.task)
			continue;
		piece.to_ns = cpu->runs[i].start_ns;
		piece.flags &= (uint8_t)~VIRT_WHY_ENDS;
		piece.flags |= VIRT_WHY_GUEST_ENDS;
		if (piece.from_ns < piece.to_ns)
			put_segment(walk, &piece, stretch);
		piece = *segment;
		piece.flags &= (uint8_t)~VIRT_WHY_BEGINS;
		piece.flags |= VIRT_WHY_GUEST_BEGINS;
		piece.from_ns = cpu->runs[i].start_ns;
		piece.task = task;
	}
	put_segment(walk, &piece, stretch);
}

static void put_stretch(struct walk *walk, int32_t vcpu, int32_t task,
			const struct stretch *stretch)
{
	struct virt_why_segment segment = segment_of(walk, vcpu, stretch);
	const struct virt_guest_cpu *cpu = task == VIRT_NONE ?
					   virt_guests_cpu(walk->guests, vcpu, NULL) : NULL;

	segment.task = task;
	if (cpu && segment.kind == VIRT_WHY_GUEST) {
		put_guest_code(walk, &segment, cpu, stretch);
		return;
	}
	/* where it does not execute, its guest cannot choose another task */
	if (cpu)
		segment.task = virt_guests_task_at(walk->guests, vcpu, segment.from_ns);
	put_segment(walk, &segment, stretch);
}

void why_walk_vcpu(struct walk *walk, int32_t vcpu, int32_t task, int64_t from_ns, int64_t to_ns)
{
	struct stretch stretch = {
		/* what ends a wait may lie behind the window */
		.range = virt_vcpu_intervals(walk->model, vcpu, from_ns, INT64_MAX),
	};

	/* of a task of its guest, that is there already */
	if (walk->path[walk->level] == VIRT_NONE)
		walk->path[walk->level] = vcpu;
	for (; stretch.first < stretch.range.n && begin_of(&stretch, stretch.first) < to_ns &&
	       !walk->error; stretch.first = stretch.end) {
		stretch.end = stretch_end(&stretch.range, stretch.first);
		stretch.from_ns = begin_of(&stretch, stretch.first);
		stretch.to_ns = begin_of(&stretch, stretch.end);
		stretch.from_ns = stretch.from_ns < from_ns ? from_ns : stretch.from_ns;
		stretch.to_ns = stretch.to_ns > to_ns ? to_ns : stretch.to_ns;
		if (stretch.from_ns < stretch.to_ns)
			put_stretch(walk, vcpu, task, &stretch);
	}
}

/* --- what is asked --------------------------------------------------------------------------- */

int virt_why_vcpu(const struct virt_model *model, const struct virt_guests *guests, int32_t vcpu,
		  int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why)
{
	struct walk walk;
	int ret = why_begin(&walk, model, guests, from_ns, to_ns, limit, why);

	if (ret || !is_vcpu(model, vcpu))
		return -EINVAL;
	why->subject = vcpu;
	why_walk_vcpu(&walk, vcpu, VIRT_NONE, why->from_ns, why->to_ns);
	return why_end(&walk);
}

/** A stretch of an occupant; below it, what a vCPU does there. */
static void add_with_states(struct walk *walk, const struct virt_why_segment *segment)
{
	ssize_t at = why_add(walk, segment);

	if (at >= 0 && segment->kind == VIRT_WHY_IDLE)
		add_sleeps(walk, (size_t)at);
	if (at < 0 || segment->kind != VIRT_WHY_VCPU)
		return;
	why_down(walk);
	why_walk_vcpu(walk, segment->subject, VIRT_NONE, segment->from_ns, segment->to_ns);
	why_up(walk);
	if (!walk->error)
		why_end_below(walk, (size_t)at);
}

int virt_why_pcpu(const struct virt_model *model, const struct virt_guests *guests, int32_t pcpu,
		  int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why)
{
	struct virt_why_segment nobody;
	struct virt_occupant_range range;
	struct walk walk;
	int ret = why_begin(&walk, model, guests, from_ns, to_ns, limit, why);
	int64_t known_ns;

	if (ret || pcpu < 0 || pcpu >= virt_model_n_pcpus(model))
		return -EINVAL;
	/* before the first one, and on a pCPU that has none */
	range = virt_pcpu_occupants(model, pcpu, why->from_ns, why->to_ns);
	known_ns = range.n ? range.first[0].start_ns : why->to_ns;
	if (known_ns > why->from_ns) {
		nobody = why_segment_at(VIRT_NONE, VIRT_WHY_UNEXPLAINED, why->from_ns, known_ns,
				    (int16_t)pcpu);
		nobody.cause = (uint8_t)why_unknown(model, why->from_ns, known_ns);
		why_add(&walk, &nobody);
	}
	each_occupant(&walk, (int16_t)pcpu, why->from_ns, why->to_ns, NULL, add_with_states);
	return why_end(&walk);
}

bool virt_why_at(const struct virt_model *model, int32_t vcpu, int64_t time_ns, int64_t *from_ns,
		 int64_t *to_ns)
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
	const struct virt_interval *at = virt_vcpu_at(model, vcpu, time_ns, to_ns);
	size_t i, end;

	if (!at)
		return false;
	i = (size_t)(at - range.first);
	end = stretch_end(&range, i);
	while (!virt_state_on_pcpu(at->state) && i && range.first[i - 1].state == at->state)
		i--;
	*from_ns = range.first[i].start_ns;
	*to_ns = end < range.n ? range.first[end].start_ns : range.end_ns;
	return true;
}

bool virt_why_pcpu_at(const struct virt_model *model, int32_t pcpu, int64_t time_ns,
		      int64_t *from_ns, int64_t *to_ns)
{
	const struct virt_occupant *occupant = virt_pcpu_at(model, pcpu, time_ns, to_ns);

	if (occupant)
		*from_ns = occupant->start_ns;
	return occupant;
}
