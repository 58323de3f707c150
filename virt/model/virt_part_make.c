// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_part_make.c
 * @brief	Select the facts of a whole trace that the model of a part needs beyond its records.
 *
 * The part needs all intervals of each vCPU within it, and beyond its ends the intervals of
 * everything that reaches into it: stretches, VM exits, waits, runs, the pause before a migration,
 * the way to the guest. It needs only the beginning or the end of a long run, or of a long state of
 * a machine's vCPUs together: the first of the intervals between stands for all of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_part.h"
#include "virt_private.h"
#include "virt_recorded.h"

/** A way through a vCPU's intervals: those that are kept. */
struct keep {
	const struct virt_model *model;
	const struct virt_vcpu_track *vcpu;
	int64_t		from_ns, to_ns;		/* of the part */
	int64_t		apart_ns, again_ns;	/* of its machine: what goes on at these ends ... */
	size_t		first, last;		/* intervals [first, last) begin in it */
	size_t		run;			/* begins the run or pause that goes on before */
	uint32_t	*index;			/* those that are kept, in no order */
	size_t		n, room;
};

static int keep(struct keep *k, size_t i)
{
	if (i >= k->vcpu->n)
		return 0;
	if (ARRAY_GROW(k->index, k->n, k->room))
		return -ENOMEM;
	k->index[k->n++] = (uint32_t)i;
	return 0;
}

static int keep_all(struct keep *k, size_t from, size_t to)
{
	int ret = 0;

	for (; from < to && !ret; from++)
		ret = keep(k, from);
	return ret;
}

/** Is it on a pCPU, so that a migration can begin there? As find_migrations() has it. */
static bool is_run(const struct keep *k, size_t i)
{
	const struct virt_interval *interval = &k->vcpu->intervals[i];

	return virt_state_on_pcpu(interval->state) && interval->pcpu != VIRT_NONE &&
	       virt_interval_end(k->model, k->vcpu, i) > interval->start_ns;
}

/** The VM exit that interval @i is within; or @i. */
static size_t exit_of(const struct keep *k, size_t i)
{
	const struct virt_interval *interval = k->vcpu->intervals;

	for (size_t j = i + 1; j-- > 0; ) {
		if (interval[j].flags & VIRT_INTERVAL_EXIT)
			return j;
		if (interval[j].state == VIRT_GUEST || interval[j].state == VIRT_UNKNOWN)
			break;
	}
	return i;
}

static size_t lower(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t higher(size_t a, size_t b)
{
	return a > b ? a : b;
}

/** Changes of what a machine's vCPUs do together, in the intervals [@from, @to). */
static int keep_kinds(struct keep *k, size_t from, size_t to)
{
	int ret = from < to ? keep(k, from) : 0;

	for (size_t i = from + 1; i < to && !ret; i++)
		if (virt_kind_in(&k->vcpu->intervals[i]) !=
		    virt_kind_in(&k->vcpu->intervals[i - 1]))
			ret = keep(k, i);
	return ret;
}

/** Index of the interval in force at a time, of several the last; the trace has begun. */
static size_t in_force(const struct keep *k, int64_t time_ns)
{
	size_t i = time_ns < k->model->end_ns ? virt_first_interval_at(k->vcpu, time_ns + 1) :
		   k->vcpu->n;

	return i ? i - 1 : 0;
}

/** What goes on when the part begins. */
static int keep_before(struct keep *k)
{
	size_t at = k->first, run, guest, last;
	int ret = 0;

	k->run = 0;
	if (!at--)
		return 0;
	run = k->run = virt_run_begin(k->vcpu, at);
	last = at;
	while (last && !is_run(k, last))
		last--;
	/* of a pause, all: a migration may come of it */
	k->first = lower(lower(virt_stretch_begin(k->vcpu, at), exit_of(k, at)),
			 virt_state_on_pcpu(k->vcpu->intervals[at].state) ? at :
			 lower(run, last + 1));
	ret = keep(k, last);
	if (!ret && run)
		ret = keep(k, run - 1);
	if (!ret)
		ret = keep(k, run);
	if (!ret && k->first)
		ret = keep(k, k->first - 1);
	/* whose level counts for the exits that follow */
	guest = k->first;
	while (guest && k->vcpu->intervals[guest].state != VIRT_GUEST &&
	       !virt_interval_is_lost(&k->vcpu->intervals[guest]))
		guest--;
	if (!ret)
		ret = keep(k, guest);
	/* what its machine does goes on since then, and another state comes before */
	last = k->apart_ns > k->model->begin_ns ? in_force(k, k->apart_ns - 1) : 0;
	return ret ? ret : keep_kinds(k, last, k->first);
}

/** Interval @i is the last one in which its machine does what it does when the part ends. */
static int keep_until(struct keep *k, size_t i)
{
	int ret = keep_kinds(k, k->last, i + 1);

	/* it goes on as long */
	return ret || i < k->last ? ret : keep(k, i);
}

/** What goes on when the part ends. */
static int keep_after(struct keep *k)
{
	const struct virt_interval *interval = k->vcpu->intervals;
	size_t at, end, exit;
	int ret = 0;

	if (!k->last)
		return 0;
	at = k->last - 1;
	exit = exit_of(k, at);
	end = virt_stretch_end(k->vcpu, at);
	if (interval[exit].flags & VIRT_INTERVAL_EXIT)
		end = higher(end, virt_exit_end(k->vcpu, exit));
	if (interval[at].state != VIRT_GUEST && interval[at].state != VIRT_UNKNOWN)
		while (end < k->vcpu->n && interval[end].state != VIRT_GUEST &&
		       interval[end].state != VIRT_UNKNOWN)
			end++;
	end = higher(end, k->last);
	if (virt_state_on_pcpu(interval[at].state))
		ret = keep(k, virt_run_end(k->vcpu, at));
	if (!ret)
		ret = keep_until(k, in_force(k, k->again_ns));
	k->last = lower(end + 1, k->vcpu->n);
	return ret;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/** The intervals that are kept, and UNKNOWN around them. */
static int write_vcpu(struct keep *k, struct virt_part_track *track)
{
	struct virt_part_piece all = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	struct virt_interval *of = malloc((k->n + 2) * sizeof(*of));
	int ret;

	if (!of)
		return -ENOMEM;
	qsort(k->index, k->n, sizeof(*k->index), compare_numbers);
	if (k->n && k->index[0])
		of[all.n++] = (struct virt_interval){
			.start_ns = k->model->begin_ns, .detail = VIRT_NONE, .pcpu = VIRT_NONE,
			.state = VIRT_UNKNOWN,
		};
	for (size_t i = 0; i < k->n; i++) {
		struct virt_interval *to = &of[all.n];
		uint32_t next = k->index[i] + 1;

		if (i + 1 < k->n && k->index[i + 1] < next)
			continue;
		*to = k->vcpu->intervals[k->index[i]];
		to->flags &= (uint8_t)~VIRT_INTERVAL_MIGRATED;
		if (i + 1 < k->n && k->index[i + 1] > next) {
			/* stands for those that follow as well; an exit can show a beginning */
			to->flags &= VIRT_INTERVAL_NESTED | VIRT_INTERVAL_UNSPLIT |
				     (k->index[i] == k->run ? VIRT_INTERVAL_EXIT : 0);
			to->detail = VIRT_NONE;
		}
		all.n++;
		if (i + 1 == k->n && next < k->vcpu->n)
			of[all.n++] = (struct virt_interval){
				.start_ns = k->vcpu->intervals[next].start_ns,
				.detail = VIRT_NONE, .pcpu = to->pcpu, .state = VIRT_UNKNOWN,
			};
	}
	ret = virt_part_add(track, &all, of);
	free(of);
	return ret;
}

/** All that a part needs of a vCPU. */
static int reduce_vcpu(struct keep *k, int32_t index, struct virt_part_track *track)
{
	int ret;

	k->vcpu = &k->model->vcpus[index];
	k->n = 0;
	k->first = virt_first_interval_at(k->vcpu, k->from_ns);
	k->last = virt_first_interval_at(k->vcpu, k->to_ns);
	ret = keep_before(k);
	if (!ret)
		ret = keep_after(k);
	if (!ret)
		ret = keep_all(k, k->first, k->last);
	return ret ? ret : write_vcpu(k, track);
}

/** Since when, and until when, the vCPUs of a machine do what they do at the ends of the part. */
static void find_machine(struct keep *k, int32_t machine)
{
	struct virt_machine_range range = virt_machine_intervals(k->model, machine, k->from_ns,
								 k->to_ns);

	k->apart_ns = range.n ? range.first[0].start_ns : k->from_ns;
	k->again_ns = range.n ? range.end_ns : k->to_ns;
}

/* ---- pCPUs ---- */

/** Of those who wait for a pCPU at the ends of the part: since when, and until when. */
static void find_waits(const struct virt_model *whole, const struct virt_part *part,
		       int64_t *since_ns, int64_t *until_ns)
{
	*since_ns = part->from_ns;
	*until_ns = part->to_ns;
	for (int32_t i = 0; i < whole->n_vcpus; i++) {
		const struct virt_vcpu_track *vcpu = &whole->vcpus[i];
		size_t at = virt_first_interval_at(vcpu, part->from_ns), end;
		int64_t ns;

		if (at && virt_wants_pcpu(vcpu->intervals[at - 1].state)) {
			ns = vcpu->intervals[virt_stretch_begin(vcpu, at - 1)].start_ns;
			*since_ns = ns < *since_ns ? ns : *since_ns;
		}
		end = at = virt_first_interval_at(vcpu, part->to_ns);
		if (!at || !virt_wants_pcpu(vcpu->intervals[at - 1].state))
			continue;
		while (end < vcpu->n && virt_wants_pcpu(vcpu->intervals[end].state))
			end++;
		ns = virt_time_of(whole, vcpu, end);
		*until_ns = ns > *until_ns ? ns : *until_ns;
	}
}

/**
 * Changes from the one in force at @since_ns on up to the first one from @until_ns on, behind which
 * comes @unknown.
 */
static int reduce_changes(const struct virt_interval *changes, size_t n, int64_t since_ns,
			  int64_t until_ns, const struct virt_interval *unknown,
			  struct virt_part_track *track)
{
	size_t first = VIRT_FIRST_AT(changes, 0, n, since_ns + 1);
	size_t last = VIRT_FIRST_AT(changes, first, n, until_ns);
	struct virt_part_piece all = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	struct virt_interval *of = malloc((n + 2) * sizeof(*of));
	int ret;

	if (!of)
		return -ENOMEM;
	first -= first ? 1 : 0;
	if (first) {
		of[all.n] = *unknown;
		of[all.n++].start_ns = changes[0].start_ns;
	}
	for (; first < n && first <= last; first++)
		of[all.n++] = changes[first];
	if (first < n) {
		of[all.n] = *unknown;
		of[all.n++].start_ns = changes[first].start_ns;
	}
	ret = all.n ? virt_part_add(track, &all, of) : 0;
	free(of);
	return ret;
}

static const struct virt_interval unknown_occupant = { .detail = VIRT_NONE };
static const struct virt_interval unknown_power = { .detail = VIRT_POWER_UNKNOWN };

/** Who is on a pCPU, as changes. Return: NULL without memory. */
static struct virt_interval *occupants_of(const struct virt_model *model, int32_t pcpu, size_t *n)
{
	static const struct virt_pcpu_track none;
	const struct virt_pcpu_track *track = pcpu < model->n_pcpus ? &model->pcpus[pcpu] : &none;
	struct virt_interval *changes = malloc((track->n + 1) * sizeof(*changes));

	*n = track->n;
	for (size_t i = 0; changes && i < track->n; i++)
		changes[i] = (struct virt_interval){
			.start_ns = track->occupants[i].start_ns,
			.detail = track->occupants[i].vcpu, .state = !!track->occupants[i].known,
		};
	return changes;
}

static struct virt_interval *power_of(const struct virt_model *model, int32_t pcpu,
				      enum virt_power_kind kind, size_t *n)
{
	static const struct virt_power_track none;
	const struct virt_power_track *track = pcpu < model->power.n ?
					       &model->power.pcpus[pcpu].tracks[kind] : &none;
	struct virt_interval *changes = malloc((track->n + 1) * sizeof(*changes));

	*n = track->n;
	for (size_t i = 0; changes && i < track->n; i++)
		changes[i] = (struct virt_interval){
			.start_ns = track->steps[i].time_ns, .detail = track->steps[i].value,
		};
	return changes;
}

/* ---- what the part's records say differently ---- */

static bool same(const struct virt_interval *a, const struct virt_interval *b)
{
	return a->start_ns == b->start_ns && a->detail == b->detail && a->pcpu == b->pcpu &&
	       a->state == b->state &&
	       !((a->flags ^ b->flags) & (uint8_t)~VIRT_INTERVAL_MIGRATED);
}

/** Changes of one time, from @i on. Return: how many. */
static size_t group(const struct virt_interval *of, size_t n, size_t i, int64_t time_ns)
{
	size_t end = i;

	while (end < n && of[end].start_ns == time_ns)
		end++;
	return end - i;
}

/** A way through what should be and what is. */
struct comparison {
	const struct virt_interval *should, *is;
	size_t		n_should, n_is;
	struct virt_part_track *track;
	bool		open;		/* a piece, which differs, from @from_ns on */
	int64_t		from_ns;
	size_t		first;		/* its changes begin there, in @should */
	bool		gone;		/* what is there of it has to go */
};

static int close_piece(struct comparison *c, int64_t to_ns, size_t end)
{
	const struct virt_part_piece piece = { c->from_ns, to_ns, (uint32_t)(end - c->first) };

	c->open = false;
	return piece.n || c->gone ? virt_part_add(c->track, &piece, c->should + c->first) : 0;
}

/** Pieces of what should be, where that is not what is. Both begin with the trace. */
static int compare(struct comparison *c)
{
	size_t i = 0, j = 0;
	int ret = 0;

	c->open = true;
	c->from_ns = INT64_MIN;
	while ((i < c->n_should || j < c->n_is) && !ret) {
		int64_t now = i < c->n_should ? c->should[i].start_ns : INT64_MAX;
		size_t n, m, k = 0;

		if (j < c->n_is && c->is[j].start_ns < now)
			now = c->is[j].start_ns;
		n = group(c->should, c->n_should, i, now);
		m = group(c->is, c->n_is, j, now);
		while (n == m && k < n && same(&c->should[i + k], &c->is[j + k]))
			k++;
		if (n == m && k == n) {
			if (c->open)
				ret = close_piece(c, now, i);
		} else {
			if (!c->open) {
				c->open = true;
				c->from_ns = now;
				c->first = i;
				c->gone = false;
			}
			c->gone |= m > 0;
		}
		i += n;
		j += m;
	}
	return ret || !c->open ? ret : close_piece(c, INT64_MAX, c->n_should);
}

/** Reduce a track that contains all that should be to what @is does not contain. */
static int compare_track(struct virt_part_track *track, const struct virt_interval *is, size_t n)
{
	struct virt_part_track all = *track;
	struct comparison c = {
		.should = all.changes, .n_should = all.n_changes, .is = is, .n_is = n,
		.track = track,
	};
	int ret;

	*track = (struct virt_part_track){ 0 };
	ret = compare(&c);
	free(all.pieces);
	free(all.changes);
	return ret;
}

static int compare_pcpu(struct virt_part *part, const struct virt_model *whole,
			const struct virt_model *rest, int32_t pcpu, int64_t since_ns,
			int64_t until_ns)
{
	size_t n, n_rest;
	struct virt_interval *should = occupants_of(whole, pcpu, &n);
	struct virt_interval *is = occupants_of(rest, pcpu, &n_rest);
	int ret = should && is ? reduce_changes(should, n, since_ns, until_ns, &unknown_occupant,
						&part->pcpus[pcpu]) : -ENOMEM;

	if (!ret)
		ret = compare_track(&part->pcpus[pcpu], is, n_rest);
	free(should);
	free(is);
	for (int kind = 0; kind < VIRT_POWER_N_KINDS && !ret; kind++) {
		should = power_of(whole, pcpu, (enum virt_power_kind)kind, &n);
		is = power_of(rest, pcpu, (enum virt_power_kind)kind, &n_rest);
		ret = should && is ? reduce_changes(should, n, since_ns, until_ns, &unknown_power,
						    &part->power[kind][pcpu]) : -ENOMEM;
		if (!ret)
			ret = compare_track(&part->power[kind][pcpu], is, n_rest);
		free(should);
		free(is);
	}
	return ret;
}

int virt_part_compare(struct virt_part *part, const struct virt_model *whole,
		      const struct virt_model *rest)
{
	struct keep k = { .model = whole, .from_ns = part->from_ns, .to_ns = part->to_ns };
	int64_t since_ns, until_ns;
	int ret = 0;

	for (int32_t i = 0; i < part->n_vcpus && !ret; i++) {
		static const struct virt_vcpu_track none;
		const struct virt_vcpu_track *is = i < rest->n_vcpus ? &rest->vcpus[i] : &none;

		find_machine(&k, whole->vcpus[i].info.machine);
		ret = reduce_vcpu(&k, i, &part->vcpus[i]);
		if (!ret)
			ret = compare_track(&part->vcpus[i], is->intervals, is->n);
	}
	free(k.index);
	find_waits(whole, part, &since_ns, &until_ns);
	for (int32_t i = 0; i < part->n_pcpus && !ret; i++)
		ret = compare_pcpu(part, whole, rest, i, since_ns, until_ns);
	return ret;
}

/* ---- all but the tracks ---- */

static int copy_tasks(struct virt_part *part, const struct virt_model *whole)
{
	for (int32_t i = 0; i < whole->n_tasks; i++) {
		const struct virt_task *from = &whole->tasks[i];
		struct virt_part_task *to;

		if (ARRAY_GROW(part->tasks, part->n_tasks, part->room_tasks))
			return -ENOMEM;
		to = &part->tasks[part->n_tasks++];
		*to = (struct virt_part_task){
			.pid = from->pid, .name = strdup(from->name),
			.machine = from->machine, .kind = from->kind, .source = from->source,
		};
		if (from->machine != VIRT_NONE)
			to->thread = strdup(from->thread);
		if (!to->name || (from->machine != VIRT_NONE && !to->thread))
			return -ENOMEM;
	}
	return 0;
}

static int copy_tables(struct virt_part *part, const struct virt_model *whole)
{
	for (int32_t i = 0; i < whole->n_reasons; i++) {
		if (ARRAY_GROW(part->reasons, part->n_reasons, part->room_reasons))
			return -ENOMEM;
		part->reasons[i] = strdup(whole->reasons[i].name);
		if (!part->reasons[i])
			return -ENOMEM;
		part->n_reasons++;
	}
	for (int32_t i = 0; i < whole->n_wakes; i++) {
		if (ARRAY_GROW(part->wakes, part->n_wakes, part->room_wakes))
			return -ENOMEM;
		part->wakes[part->n_wakes++] = whole->wakes[i];
	}
	for (int i = 0; i < VIRT_IDLE_STATES; i++)
		part->idle_states[i] = whole->power.names[i];
	return copy_tasks(part, whole);
}

static int copy_range(struct virt_part *part, int32_t vcpu, struct virt_hold_range range)
{
	for (size_t k = 0; k < range.n; k++) {
		if (ARRAY_GROW(part->holds, part->n_holds, part->room_holds))
			return -ENOMEM;
		part->holds[part->n_holds++] = (struct virt_part_hold){ vcpu, range.first[k] };
	}
	return 0;
}

static int copy_holds(struct virt_part *part, const struct virt_model *whole)
{
	int ret = 0;

	part->knows_holds = virt_model_knows_holds(whole);
	for (int32_t i = 0; i < whole->n_vcpus && part->knows_holds && !ret; i++) {
		ret = copy_range(part, i, virt_vcpu_holds(whole, i, part->from_ns, part->to_ns));
		if (!ret)
			ret = copy_range(part, i, virt_vcpu_possible_holds(
				whole, i, part->from_ns, part->to_ns));
	}
	return ret;
}

static int copy_losses(struct virt_part *part, const struct virt_model *whole)
{
	for (size_t i = 0; i < whole->n_losses; i++) {
		const struct virt_loss *loss = &whole->losses[i];

		if (loss->to_ns < part->from_ns || loss->from_ns >= part->to_ns)
			continue;
		if (ARRAY_GROW(part->losses, part->n_losses, part->room_losses))
			return -ENOMEM;
		part->losses[part->n_losses++] = *loss;
	}
	return 0;
}

static int copy_contradictions(struct virt_part *part, const struct virt_model *whole)
{
	const char *what;
	int ret = 0;

	for (int i = 0; !ret && (what = virt_model_contradictions(whole, i, NULL)); i++) {
		if (part->from_ns <= whole->begin_ns && whole->contradictions[i].untimed)
			ret = virt_part_contradict(part, what, part->from_ns,
						   whole->contradictions[i].untimed);
		for (size_t k = 0; k < whole->n_contradicted && !ret; k++) {
			const struct virt_contradicted *at = &whole->contradicted[k];

			if (at->kind == i && at->time_ns >= part->from_ns &&
			    at->time_ns < part->to_ns)
				ret = virt_part_contradict(part, what, at->time_ns, at->count);
		}
	}
	return ret;
}

/** All pCPUs of which anything is known. */
static int32_t n_pcpus_of(const struct virt_model *whole)
{
	int32_t n = whole->n_pcpus;

	for (int32_t i = n; i < whole->power.n; i++)
		for (int kind = 0; kind < VIRT_POWER_N_KINDS; kind++)
			if (whole->power.pcpus[i].tracks[kind].n)
				n = i + 1;
	return n;
}

struct virt_part *virt_part_of(const struct virt_model *whole, int64_t from_ns, int64_t to_ns)
{
	struct virt_part *part = virt_part_alloc(whole->n_vcpus, n_pcpus_of(whole));

	if (!part)
		return NULL;
	part->begin_ns = whole->begin_ns;
	part->end_ns = whole->end_ns;
	part->from_ns = from_ns;
	part->to_ns = to_ns;
	part->unsplit = whole->unsplit;
	part->migrates = whole->migrates;
	part->recorded = virt_model_recorded(whole);
	part->n_known = whole->n_pcpus;
	if (!copy_tables(part, whole) && !copy_losses(part, whole) && !copy_holds(part, whole) &&
	    !copy_contradictions(part, whole))
		return part;
	virt_part_free(part);
	return NULL;
}
