// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_build.c
 * @brief	Fill a vCPU model, in order of time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "exit_reasons.h"
#include "hash_bytes.h"
#include "virt_devices.h"
#include "virt_private.h"
#include "virt_recorded.h"

/* ---- making and freeing ---- */

struct virt_model *virt_model_new(void)
{
	return calloc(1, sizeof(struct virt_model));
}

void virt_groups_free(struct virt_groups *groups)
{
	if (groups)
		free(groups->max);
	free(groups);
}

static void index_free(struct virt_index *index)
{
	/* of one block, they are not its own */
	if (index->n == 1)
		return;
	free((int64_t *)index->start);
	free((uint32_t *)index->cell);
}

static void vcpu_free(struct virt_vcpu_track *vcpu)
{
	free(vcpu->intervals);
	index_free(&vcpu->index);
	if (virt_has_sums(vcpu))
		free(vcpu->sums);
	if (virt_has_counts(vcpu))
		free(vcpu->counts);
	free(vcpu->migrations);
	free(vcpu->arguments);
	virt_free_holds(vcpu);
	virt_groups_free(vcpu->exits);
	virt_groups_free(vcpu->culprits);
}

static void maps_free(struct virt_model *model)
{
	key_map_destroy(&model->machine_map);
	key_map_destroy(&model->vcpu_map);
	key_map_destroy(&model->reason_map);
	key_map_destroy(&model->wake_map);
}

static void names_free(struct virt_names *names)
{
	while (names) {
		struct virt_names *before = names->before;

		free(names);
		names = before;
	}
}

void virt_model_free(struct virt_model *model)
{
	if (!model)
		return;
	for (int32_t i = 0; i < model->n_machines; i++) {
		free(model->machines[i].intervals);
		free(model->machines[i].regions);
		free(model->machines[i].blocks);
	}
	for (int32_t i = 0; i < model->n_vcpus; i++)
		vcpu_free(&model->vcpus[i]);
	for (int32_t i = 0; i < model->n_pcpus; i++) {
		free(model->pcpus[i].occupants);
		index_free(&model->pcpus[i].index);
		free(model->pcpus[i].base);
	}
	maps_free(model);
	key_map_destroy(&model->task_map);
	names_free(model->names);
	virt_devices_free(model->devices);
	free(model->machines);
	free(model->vcpus);
	free(model->order);
	free(model->pids);
	free(model->pcpus);
	free(model->reasons);
	free(model->tasks);
	free(model->wakes);
	free(model->losses);
	free(model->lives);
	free(model->reads);
	free(model->tsc_writes);
	free(model->contradicted);
	free(model->lasting);
	virt_handlers_free(&model->handlers);
	virt_arguments_free(&model->arguments);
	virt_power_free(&model->power);
	free(model);
}

/* ---- who there is ---- */

/** Maps number keys as their arrays are numbered while the model is filled. */
static uint64_t map_key(int32_t high, int32_t low)
{
	return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

/** Bytes of the first piece of names, and of the largest one of many. */
#define NAMES_FIRST	256
#define NAMES_MOST	65536

const char *virt_keep_name(struct virt_model *model, const char *name)
{
	struct virt_names *names = model->names;
	size_t size = strlen(name) + 1;

	if (!names || names->room - names->n < size) {
		size_t room = !names ? NAMES_FIRST :
			      names->room < NAMES_MOST ? 2 * names->room : NAMES_MOST;

		room = room < size ? size : room;
		names = malloc(sizeof(*names) + room);
		if (!names)
			return NULL;
		*names = (struct virt_names){ .before = model->names, .room = room };
		model->names = names;
	}
	memcpy(names->text + names->n, name, size);
	names->n += size;
	return names->text + names->n - size;
}

int32_t virt_model_add_machine(struct virt_model *model, int32_t id, const char *name)
{
	uint64_t key = map_key(0, id);
	int32_t index = (int32_t)key_map_find(&model->machine_map, key);
	const char *copy;

	if (index >= 0)
		return index;
	if (model->finished)
		return -EINVAL;
	if (model->n_machines >= VIRT_MAX_MACHINES)
		return -E2BIG;
	if (key_map_reserve(&model->machine_map) ||
	    ARRAY_GROW(model->machines, model->n_machines, model->machines_room))
		return -ENOMEM;
	copy = virt_keep_name(model, name);
	if (!copy)
		return -ENOMEM;
	index = model->n_machines++;
	model->machines[index] = (struct virt_machine_track){
		.info = { .id = id, .name = copy, .ended_ns = VIRT_NO_END },
		.order = index,
	};
	key_map_add(&model->machine_map, key);
	return index;
}

int virt_model_end_machine(struct virt_model *model, int32_t machine, int64_t time_ns)
{
	if (model->finished || machine < 0 || machine >= model->n_machines)
		return -EINVAL;
	model->machines[machine].info.ended_ns = time_ns;
	return 0;
}

/** Intervals that a vCPU has room for in the beginning: some never have more. */
#define FIRST_INTERVALS	2

/** The state of a vCPU before anything is known; its time is set by virt_model_finish(). */
static const struct virt_interval first_interval = {
	.start_ns = INT64_MIN,
	.detail = VIRT_NONE,
	.pcpu = VIRT_NONE,
	.state = VIRT_UNKNOWN,
};

int32_t virt_model_add_vcpu(struct virt_model *model, int32_t machine, int32_t id,
			    int32_t host_pid, const char *name)
{
	uint64_t key = map_key(machine, id);
	struct virt_vcpu_track vcpu = {
		.info = { .machine = machine, .id = id, .host_pid = host_pid },
		.room = FIRST_INTERVALS,
	};
	int32_t index = (int32_t)key_map_find(&model->vcpu_map, key);

	if (index >= 0)
		return index;
	if (model->finished || machine < 0 || machine >= model->n_machines)
		return -EINVAL;
	if (model->n_vcpus >= VIRT_MAX_VCPUS)
		return -E2BIG;
	if (key_map_reserve(&model->vcpu_map) ||
	    ARRAY_GROW(model->vcpus, model->n_vcpus, model->vcpus_room))
		return -ENOMEM;
	vcpu.info.name = virt_keep_name(model, name);
	vcpu.intervals = malloc(vcpu.room * sizeof(*vcpu.intervals));
	if (!vcpu.info.name || !vcpu.intervals) {
		free(vcpu.intervals);
		return -ENOMEM;
	}
	vcpu.intervals[vcpu.n++] = first_interval;
	index = model->n_vcpus++;
	model->vcpus[index] = vcpu;
	key_map_add(&model->vcpu_map, key);
	return index;
}

int virt_model_set_tsc(struct virt_model *model, int32_t vcpu, double scale, int64_t offset)
{
	if (model->finished || vcpu < 0 || vcpu >= model->n_vcpus || !(scale > 0))
		return -EINVAL;
	model->vcpus[vcpu].info.tsc_scale = scale;
	model->vcpus[vcpu].info.tsc_offset = offset;
	return 0;
}

int32_t virt_model_add_reason(struct virt_model *model, const char *name)
{
	uint64_t key = hash_text(name);	/* if another name has it, the next one is tried */
	const char *copy;
	int32_t index;

	for (; (index = (int32_t)key_map_find(&model->reason_map, key)) >= 0; key++)
		if (!strcmp(model->reasons[index].name, name))
			return index;
	if (model->finished)
		return -EINVAL;
	if (model->n_reasons >= VIRT_MAX_REASONS)
		return -E2BIG;
	if (key_map_reserve(&model->reason_map) ||
	    ARRAY_GROW(model->reasons, model->n_reasons, model->reasons_room))
		return -ENOMEM;
	copy = virt_keep_name(model, name);
	if (!copy)
		return -ENOMEM;
	index = model->n_reasons++;
	model->reasons[index] = (struct virt_reason){
		.name = copy, .exit_class = exit_class_of(name),
		.argument = (uint8_t)exit_argument_of_reason(name),
		.for_memory = exit_is_for_memory(name),
	};
	key_map_add(&model->reason_map, key);
	return index;
}

int virt_model_set_reason_class(struct virt_model *model, int32_t reason,
				enum virt_exit_class exit_class)
{
	if (model->finished || reason < 0 || reason >= model->n_reasons ||
	    (unsigned int)exit_class >= VIRT_EXIT_N_CLASSES)
		return -EINVAL;
	model->reasons[reason].exit_class = exit_class;
	return 0;
}

int32_t virt_model_find_task(const struct virt_model *model, int32_t pid)
{
	int64_t index = key_map_find(&model->task_map, map_key(0, pid));

	return index < 0 ? VIRT_NONE : VIRT_FIRST_TASK + (int32_t)index;
}

int32_t virt_model_add_task(struct virt_model *model, int32_t pid, const char *name)
{
	uint64_t key = map_key(0, pid);
	int32_t index = (int32_t)key_map_find(&model->task_map, key);
	const char *copy;

	if (model->finished)
		return -EINVAL;
	if (index >= 0 && !strcmp(model->tasks[index].name, name))
		return VIRT_FIRST_TASK + index;
	if (index < 0 && (key_map_reserve(&model->task_map) ||
			  ARRAY_GROW(model->tasks, model->n_tasks, model->tasks_room)))
		return -ENOMEM;
	copy = virt_keep_name(model, name);
	if (!copy)
		return -ENOMEM;
	if (index < 0) {
		index = model->n_tasks++;
		key_map_add(&model->task_map, key);
	}
	model->tasks[index] = (struct virt_task){
		.pid = pid, .name = copy, .thread = copy, .machine = VIRT_NONE,
	};
	return VIRT_FIRST_TASK + index;
}

int virt_model_own_task(struct virt_model *model, int32_t task, int32_t machine,
			const char *called, enum virt_thread_kind kind,
			enum virt_thread_source source)
{
	struct virt_task *owned = virt_is_task(model, task) ?
				  &model->tasks[task - VIRT_FIRST_TASK] : NULL;
	const char *copy;
	char name[256];

	if (model->finished || !owned || machine < 0 || machine >= model->n_machines ||
	    (unsigned int)kind >= VIRT_THREAD_N_KINDS ||
	    (unsigned int)source >= VIRT_THREAD_N_SOURCES)
		return -EINVAL;
	if (kind == VIRT_THREAD_OTHER)
		text_format(name, sizeof(name), "%s's %s", called, owned->thread);
	else
		text_format(name, sizeof(name), "%s's %s-%d", called, virt_thread_kind_name(kind),
			    (int)owned->pid);
	copy = virt_keep_name(model, name);
	if (!copy)
		return -ENOMEM;
	owned->name = copy;
	owned->machine = machine;
	owned->kind = (uint8_t)kind;
	owned->source = (uint8_t)source;
	return 0;
}

/** The key that distinguishes wakes. */
static uint64_t wake_key(const struct virt_wake *wake)
{
	return (uint64_t)wake->cause << 48 | (uint64_t)(uint16_t)wake->vector << 32 |
	       (uint32_t)wake->who;
}

int32_t virt_model_add_wake(struct virt_model *model, const struct virt_wake *wake)
{
	int32_t index = (int32_t)key_map_find(&model->wake_map, wake_key(wake));

	if (model->finished || wake->cause >= VIRT_WAKE_OPEN || wake->vector < VIRT_NONE ||
	    (wake->who != VIRT_NONE && !virt_is_vcpu(model, wake->who) &&
	     !virt_is_task(model, wake->who)))
		return -EINVAL;
	if (index >= 0)
		return index;
	if (key_map_reserve(&model->wake_map) ||
	    ARRAY_GROW(model->wakes, model->n_wakes, model->wakes_room))
		return -ENOMEM;
	index = model->n_wakes++;
	model->wakes[index] = *wake;
	model->wakes[index].reserved = 0;
	key_map_add(&model->wake_map, wake_key(wake));
	return index;
}

/** The track of a pCPU, which now exists. Return: NULL without memory. */
static struct virt_pcpu_track *pcpu_get(struct virt_model *model, int16_t pcpu)
{
	while (pcpu >= model->n_pcpus) {
		struct virt_pcpu_track track = { 0 };

		if (ARRAY_GROW(model->pcpus, model->n_pcpus, model->pcpus_room) ||
		    ARRAY_GROW(track.occupants, 0, track.room))
			return NULL;
		track.occupants[track.n++] = (struct virt_occupant){
			.start_ns = INT64_MIN, .vcpu = VIRT_NONE,
		};
		model->pcpus[model->n_pcpus++] = track;
	}
	return &model->pcpus[pcpu];
}

int virt_model_know_pcpus(struct virt_model *model, int32_t n)
{
	if (n > INT16_MAX + 1)
		n = INT16_MAX + 1;
	return n <= model->n_pcpus || pcpu_get(model, (int16_t)(n - 1)) ? 0 : -ENOMEM;
}

/* ---- what happens ---- */

/** The flags that trackers set, and those of them that last as long as the interval. */
#define LASTING_FLAGS	(VIRT_INTERVAL_NESTED | VIRT_INTERVAL_UNSPLIT | VIRT_INTERVAL_UNASKED | \
			 VIRT_INTERVAL_ENTERED | VIRT_INTERVAL_ON_PCPU | VIRT_INTERVAL_LOOSE)
#define TRACKER_FLAGS	(VIRT_INTERVAL_EXIT | LASTING_FLAGS)

/** Whether @b says nothing new after @a. */
static bool same_interval(const struct virt_interval *a, const struct virt_interval *b)
{
	return a->state == b->state && a->pcpu == b->pcpu && a->detail == b->detail &&
	       !((a->flags ^ b->flags) & LASTING_FLAGS) && !(b->flags & VIRT_INTERVAL_EXIT);
}

/** Whether @detail is one that a vCPU in @state can have. */
static bool detail_fits(const struct virt_model *model, enum virt_state state, int32_t detail)
{
	if (detail == VIRT_NONE)
		return true;
	if (virt_state_on_pcpu(state))
		return detail >= 0 && detail < model->n_reasons;
	return state == VIRT_PREEMPTED &&
	       (virt_is_vcpu(model, detail) || virt_is_task(model, detail));
}

/** The last interval may be one that virt_model_woken() or virt_model_set_argument() is about. */
static void note_last(struct virt_vcpu_track *track)
{
	if (track->intervals[track->n - 1].state == VIRT_BLOCKED)
		track->blocked = track->n - 1;
	if (track->intervals[track->n - 1].flags & VIRT_INTERVAL_EXIT)
		track->exit = track->n - 1;
}

int virt_model_set(struct virt_model *model, int32_t vcpu, int64_t time_ns,
		   enum virt_state state, int16_t pcpu, int32_t detail, uint8_t flags)
{
	struct virt_interval *last, interval = {
		.start_ns = time_ns, .detail = detail, .pcpu = pcpu, .state = state,
		.flags = flags & TRACKER_FLAGS,
	};
	struct virt_vcpu_track *track;

	if (model->finished || vcpu < 0 || vcpu >= model->n_vcpus ||
	    (unsigned int)state >= VIRT_N_STATES || pcpu < VIRT_NONE ||
	    !detail_fits(model, state, detail) ||
	    (state == VIRT_GUEST && flags & VIRT_INTERVAL_EXIT))
		return -EINVAL;
	track = &model->vcpus[vcpu];
	last = &track->intervals[track->n - 1];
	if (time_ns < last->start_ns)
		return -EINVAL;
	if (pcpu >= model->n_pcpus && !pcpu_get(model, pcpu))
		return -ENOMEM;
	model->unsplit |= !!(flags & VIRT_INTERVAL_UNSPLIT);
	model->calls_only |= !!(flags & VIRT_INTERVAL_ENTERED);
	if (same_interval(last, &interval))
		return 0;
	if (time_ns == last->start_ns && !(last->flags & VIRT_INTERVAL_EXIT)) {
		/* the later word counts, and may take back the whole change */
		if (track->n > 1 && same_interval(last - 1, &interval))
			track->n--;
		else
			*last = interval;
		note_last(track);
		return 0;
	}
	if (ARRAY_GROW(track->intervals, track->n, track->room))
		return -ENOMEM;
	track->intervals[track->n++] = interval;
	note_last(track);
	return 0;
}

int virt_model_since(struct virt_model *model, int32_t vcpu, int64_t from_ns,
		     enum virt_state state, int16_t pcpu, int32_t detail, uint8_t flags)
{
	struct virt_vcpu_track *track;
	struct virt_interval *last;

	if (model->finished || vcpu < 0 || vcpu >= model->n_vcpus)
		return -EINVAL;
	track = &model->vcpus[vcpu];
	last = &track->intervals[track->n - 1];
	/* at the same time, the later word counts; and an exit stays one */
	return virt_model_set(model, vcpu, from_ns > last->start_ns ? from_ns : last->start_ns,
			      state, pcpu, detail, flags & (uint8_t)~VIRT_INTERVAL_EXIT);
}

/** Cut interval @i in two, of which the second one begins at @time_ns. Return: 0 or -ENOMEM. */
static int cut_interval(struct virt_vcpu_track *track, uint32_t i, int64_t time_ns)
{
	struct virt_interval *at;

	if (ARRAY_GROW(track->intervals, track->n, track->room))
		return -ENOMEM;
	at = &track->intervals[i];
	memmove(at + 1, at, (track->n - i) * sizeof(*at));
	at[1].start_ns = time_ns;
	at[1].flags &= (uint8_t)~VIRT_INTERVAL_EXIT;
	track->n++;
	track->blocked += track->blocked != UINT32_MAX && track->blocked > i;
	return 0;
}

/** Interval @i is no more, and the one before it goes on. */
static void drop_interval(struct virt_vcpu_track *track, uint32_t i)
{
	struct virt_interval *at = &track->intervals[i];

	track->n--;
	memmove(at, at + 1, (track->n - i) * sizeof(*at));
	track->blocked -= track->blocked != UINT32_MAX && track->blocked > i;
}

/** The first interval that may be polling since a time: behind it, nothing else is known. */
static uint32_t polled_first(const struct virt_vcpu_track *track, int64_t from_ns)
{
	uint32_t first = track->n;

	while (first) {
		const struct virt_interval *before = &track->intervals[first - 1];

		/* what it did on its pCPU since then may be unknown, and no guest code */
		if (before->state == VIRT_GUEST || before->state == VIRT_VMM ||
		    before->state == VIRT_OFFLINE || before->state == VIRT_DEVICE_MODEL ||
		    (before->state == VIRT_UNKNOWN &&
		     (!virt_is_hidden(before) || before->start_ns <= from_ns)))
			break;
		first--;
		if (before->start_ns <= from_ns || before->flags & VIRT_INTERVAL_EXIT)
			break;
	}
	return first;
}

/** If it is not split, some of it may have been another state. */
static bool can_poll(const struct virt_interval *interval)
{
	return interval->state == VIRT_HYPERVISOR && !(interval->flags & VIRT_INTERVAL_UNSPLIT);
}

/**
 * What of interval @i was the hypervisor's since a time was polling. An exit goes on,
 * of no length.
 *
 * Return: intervals that there are more in front of what polls, 0 or 1, or -ENOMEM.
 */
static int poll_interval(struct virt_vcpu_track *track, uint32_t i, int64_t from_ns, int64_t to_ns)
{
	const struct virt_interval *interval = &track->intervals[i];
	int64_t end_ns = i + 1 < track->n ? interval[1].start_ns : to_ns;
	int64_t start_ns = interval->start_ns < from_ns ? from_ns : interval->start_ns;
	int is_cut = interval->start_ns < from_ns || interval->flags & VIRT_INTERVAL_EXIT;

	if (!can_poll(interval) || start_ns >= end_ns)
		return 0;
	if (is_cut && cut_interval(track, i, start_ns))
		return -ENOMEM;
	track->intervals[i + (uint32_t)is_cut].state = VIRT_POLLING;
	return is_cut;
}

int virt_model_polled(struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		      bool slept)
{
	struct virt_vcpu_track *track;
	uint32_t i, end;

	if (model->finished || !virt_is_vcpu(model, vcpu) ||
	    to_ns < model->vcpus[vcpu].intervals[model->vcpus[vcpu].n - 1].start_ns)
		return -EINVAL;
	track = &model->vcpus[vcpu];
	i = polled_first(track, from_ns);
	for (end = i; end < track->n && track->intervals[end].state != VIRT_BLOCKED; end++)
		;
	if (from_ns >= to_ns || (slept && end == track->n))
		return 0;
	/* it goes on in the hypervisor */
	if (end == track->n && end > i && can_poll(&track->intervals[end - 1]) &&
	    track->intervals[end - 1].start_ns < to_ns && cut_interval(track, end - 1, to_ns))
		return -ENOMEM;
	for (; i < end; i++) {
		int ret = poll_interval(track, i, from_ns, to_ns);

		if (ret < 0)
			return ret;
		i += (uint32_t)ret;
		end += (uint32_t)ret;
		if (!i || track->intervals[i].state != VIRT_POLLING ||
		    !same_interval(&track->intervals[i - 1], &track->intervals[i]))
			continue;
		drop_interval(track, i--);
		end--;
	}
	return 0;
}

int virt_model_woken(struct virt_model *model, int32_t vcpu, int32_t wake)
{
	struct virt_vcpu_track *track;

	if (model->finished || !virt_is_vcpu(model, vcpu) || wake < VIRT_NONE ||
	    wake >= model->n_wakes)
		return -EINVAL;
	track = &model->vcpus[vcpu];
	if (track->blocked >= track->n || track->intervals[track->blocked].state != VIRT_BLOCKED)
		return -EINVAL;
	track->intervals[track->blocked].detail = wake;
	return 0;
}

int virt_model_occupy(struct virt_model *model, int16_t pcpu, int64_t time_ns, int32_t vcpu,
		      bool known)
{
	struct virt_occupant *last, occupant = {
		.start_ns = time_ns, .vcpu = known ? vcpu : VIRT_NONE, .known = known,
	};
	struct virt_pcpu_track *track;

	if (model->finished || pcpu < 0 ||
	    !(vcpu == VIRT_NONE || virt_is_vcpu(model, vcpu) || virt_is_task(model, vcpu)))
		return -EINVAL;
	track = pcpu_get(model, pcpu);
	if (!track)
		return -ENOMEM;
	last = &track->occupants[track->n - 1];
	if (time_ns < last->start_ns)
		return -EINVAL;
	if (last->vcpu == occupant.vcpu && last->known == occupant.known)
		return 0;
	if (time_ns == last->start_ns) {
		if (track->n > 1 && last[-1].vcpu == occupant.vcpu &&
		    last[-1].known == occupant.known)
			track->n--;
		else
			*last = occupant;
		return 0;
	}
	if (ARRAY_GROW(track->occupants, track->n, track->room))
		return -ENOMEM;
	track->occupants[track->n++] = occupant;
	return 0;
}

int virt_model_add_loss(struct virt_model *model, const struct virt_loss *loss)
{
	if (model->finished || loss->pcpu < VIRT_NONE || loss->to_ns < loss->from_ns)
		return -EINVAL;
	if (loss->pcpu >= 0 && !pcpu_get(model, loss->pcpu))
		return -ENOMEM;
	if (ARRAY_GROW(model->losses, model->n_losses, model->losses_room))
		return -ENOMEM;
	model->losses[model->n_losses++] = *loss;
	return 0;
}

int virt_model_add_tsc_write(struct virt_model *model, const struct virt_tsc_write *write)
{
	if (model->finished || write->vcpu < 0 || write->vcpu >= model->n_vcpus ||
	    write->pcpu < VIRT_NONE)
		return -EINVAL;
	if (write->pcpu >= 0 && !pcpu_get(model, write->pcpu))
		return -ENOMEM;
	if (ARRAY_GROW(model->tsc_writes, model->n_tsc_writes, model->tsc_writes_room))
		return -ENOMEM;
	model->tsc_writes[model->n_tsc_writes++] = *write;
	return 0;
}

static struct virt_contradiction *count_contradiction(struct virt_model *model, const char *what,
						      uint64_t count)
{
	struct virt_contradiction *kind = model->contradictions;
	struct virt_contradiction *last = kind + VIRT_MAX_CONTRADICTIONS - 1;

	while (kind < last && kind->what && strcmp(kind->what, what) != 0)
		kind++;
	kind->what = kind == last ? "other contradictions" : what;
	kind->count += count;
	return kind;
}

void virt_model_contradiction(struct virt_model *model, const char *what)
{
	count_contradiction(model, what, 1)->untimed++;
}

int virt_model_contradict(struct virt_model *model, const char *what, int64_t time_ns,
			  uint64_t count)
{
	struct virt_contradiction *kind = count_contradiction(model, what, count);

	if (ARRAY_GROW(model->contradicted, model->n_contradicted, model->contradicted_room)) {
		kind->untimed += count;
		return -ENOMEM;
	}
	model->contradicted[model->n_contradicted++] = (struct virt_contradicted){
		time_ns, count, (int32_t)(kind - model->contradictions),
	};
	return 0;
}

void virt_model_contradiction_at(struct virt_model *model, const char *what, int64_t time_ns)
{
	/* without memory for its time, it counts all the same */
	virt_model_contradict(model, what, time_ns, 1);
}

int virt_model_set_recorded(struct virt_model *model, uint64_t kinds)
{
	if (model->finished)
		return -EINVAL;
	model->unrecorded = ~kinds & VIRT_RECORDED_ALL;
	return 0;
}

/* ---- the end ---- */

/** Keep of [0, @n) what lies within the trace. Return: how much; the first one is @first. */
static uint32_t clip(const struct virt_model *model, const void *array, size_t stride, uint32_t n,
		     uint32_t *first)
{
	uint32_t from = virt_first_at(array, stride, 0, n, model->begin_ns);
	uint32_t to = virt_first_at(array, stride, from, n, model->end_ns);

	*first = from;
	if (model->begin_ns == model->end_ns)
		return 0;
	/* the one that is in force at the beginning; there always is one, see first_interval */
	if (from == n || *(const int64_t *)((const char *)array + from * stride) > model->begin_ns)
		*first = from - 1;
	return to - *first;
}

static void clip_vcpu(const struct virt_model *model, struct virt_vcpu_track *vcpu)
{
	uint32_t first;

	vcpu->n = clip(model, vcpu->intervals, sizeof(*vcpu->intervals), vcpu->n, &first);
	if (vcpu->n) {
		memmove(vcpu->intervals, vcpu->intervals + first,
			vcpu->n * sizeof(*vcpu->intervals));
		if (vcpu->intervals[0].start_ns < model->begin_ns) {
			/* its exit lies before the trace */
			vcpu->intervals[0].flags &= ~VIRT_INTERVAL_EXIT;
			vcpu->intervals[0].start_ns = model->begin_ns;
		}
	}
	if (vcpu->n_arguments)
		virt_arguments_clip(vcpu, first);
	ARRAY_SHRINK(vcpu->intervals, vcpu->n);
}

static void clip_pcpu(const struct virt_model *model, struct virt_pcpu_track *pcpu)
{
	uint32_t first;

	pcpu->n = clip(model, pcpu->occupants, sizeof(*pcpu->occupants), pcpu->n, &first);
	if (pcpu->n) {
		memmove(pcpu->occupants, pcpu->occupants + first,
			pcpu->n * sizeof(*pcpu->occupants));
		pcpu->occupants[0].start_ns = model->begin_ns;
	}
	ARRAY_SHRINK(pcpu->occupants, pcpu->n);
}

static int compare_machines(const void *a, const void *b)
{
	const struct virt_machine_track *x = a, *y = b;

	return (x->info.id > y->info.id) - (x->info.id < y->info.id);
}

static int compare_pids(const void *a, const void *b)
{
	const struct virt_pid *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

static int compare_losses(const void *a, const void *b)
{
	const struct virt_loss *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->pcpu > y->pcpu) - (x->pcpu < y->pcpu);
}

static int compare_tsc_writes(const void *a, const void *b)
{
	const struct virt_tsc_write *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

/** Order the machines by id, and each one's vCPUs by number. */
static int order_machines(struct virt_model *model)
{
	struct virt_pid *by_id;
	int32_t *new_index, first = 0;

	model->order = malloc((model->n_vcpus + 1) * sizeof(*model->order));
	new_index = malloc((model->n_machines + 1) * sizeof(*new_index));
	by_id = malloc((model->n_vcpus + 1) * sizeof(*by_id));
	if (!model->order || !new_index || !by_id)
		goto err_nomem;
	if (model->n_machines)
		qsort(model->machines, model->n_machines, sizeof(*model->machines),
		      compare_machines);
	for (int32_t i = 0; i < model->n_machines; i++)
		new_index[model->machines[i].order] = i;
	for (int32_t i = 0; i < model->n_vcpus; i++) {
		struct virt_vcpu *vcpu = &model->vcpus[i].info;

		vcpu->machine = new_index[vcpu->machine];
		model->machines[vcpu->machine].info.n_vcpus++;
		by_id[i] = (struct virt_pid){ .pid = vcpu->id, .vcpu = i };
	}
	for (int32_t i = 0; i < model->n_tasks; i++)
		if (model->tasks[i].machine != VIRT_NONE)
			model->tasks[i].machine = new_index[model->tasks[i].machine];
	for (int32_t i = 0; i < model->n_machines; i++) {
		struct virt_machine *machine = &model->machines[i].info;

		machine->vcpus = &model->order[first];
		/* where its next one belongs */
		new_index[i] = first;
		first += machine->n_vcpus;
	}
	qsort(by_id, model->n_vcpus, sizeof(*by_id), compare_pids);
	for (int32_t i = 0; i < model->n_vcpus; i++) {
		int32_t vcpu = by_id[i].vcpu;

		model->order[new_index[model->vcpus[vcpu].info.machine]++] = vcpu;
	}
	free(new_index);
	free(by_id);
	return 0;

err_nomem:
	free(new_index);
	free(by_id);
	return -ENOMEM;
}

static int order_pids(struct virt_model *model)
{
	model->n_pids = (size_t)model->n_vcpus + model->n_lives;
	model->pids = malloc((model->n_pids + 1) * sizeof(*model->pids));
	if (!model->pids)
		return -ENOMEM;
	for (int32_t i = 0; i < model->n_vcpus; i++)
		model->pids[i] = (struct virt_pid){
			.pid = model->vcpus[i].info.host_pid, .vcpu = i,
		};
	for (size_t i = 0; i < model->n_lives; i++)
		model->pids[(size_t)model->n_vcpus + i] = (struct virt_pid){
			.pid = model->lives[i].pid, .vcpu = model->lives[i].vcpu,
		};
	qsort(model->pids, model->n_pids, sizeof(*model->pids), compare_pids);
	return 0;
}

/** In order of beginning, and which of them last longest. */
static int order_losses(struct virt_model *model)
{
	uint32_t longest = 0;

	if (!model->n_losses)
		return 0;
	qsort(model->losses, model->n_losses, sizeof(*model->losses), compare_losses);
	model->lasting = malloc(model->n_losses * sizeof(*model->lasting));
	if (!model->lasting)
		return -ENOMEM;
	for (size_t i = 0; i < model->n_losses; i++) {
		if (virt_loss_end(&model->losses[i]) > virt_loss_end(&model->losses[longest]))
			longest = (uint32_t)i;
		model->lasting[i] = longest;
	}
	return 0;
}

/** In order of time, and none beyond the trace. */
static void order_tsc_writes(struct virt_model *model)
{
	size_t n = 0;

	for (size_t i = 0; i < model->n_tsc_writes; i++) {
		int64_t time_ns = model->tsc_writes[i].time_ns;

		if (time_ns >= model->begin_ns && time_ns < model->end_ns)
			model->tsc_writes[n++] = model->tsc_writes[i];
	}
	model->n_tsc_writes = n;
	if (n)
		qsort(model->tsc_writes, n, sizeof(*model->tsc_writes), compare_tsc_writes);
}

void virt_model_brief(struct virt_model *model)
{
	model->is_brief = true;
}

int virt_model_finish(struct virt_model *model, int64_t begin_ns, int64_t end_ns)
{
	int64_t length;

	if (model->finished || end_ns < begin_ns ||
	    __builtin_sub_overflow(end_ns, begin_ns, &length))
		return -EINVAL;
	model->finished = true;
	model->begin_ns = begin_ns;
	model->end_ns = end_ns;
	/* no vCPU or task is added any more */
	maps_free(model);
	for (int32_t i = 0; i < model->n_vcpus; i++)
		clip_vcpu(model, &model->vcpus[i]);
	for (int32_t i = 0; i < model->n_pcpus; i++)
		clip_pcpu(model, &model->pcpus[i]);
	for (int32_t i = 0; i < model->n_machines; i++)
		if (model->machines[i].info.ended_ns >= end_ns)
			model->machines[i].info.ended_ns = VIRT_NO_END;
	virt_handlers_order(model);
	virt_regions_order(model);
	if (virt_arguments_finish(model))
		return -ENOMEM;
	order_tsc_writes(model);
	if (order_losses(model) || order_machines(model) || order_pids(model))
		return -ENOMEM;
	return virt_summarize(model);
}
