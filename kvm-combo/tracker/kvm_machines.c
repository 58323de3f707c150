// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_machines.c
 * @brief	Find the threads that are vCPUs, and their machines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "kvm_part.h"
#include "kvm_private.h"

/** QEMU makes the threads of a machine in a row; nothing else is made between them for long. */
#define MAX_TID_DISTANCE	64

/** Longest part of a name that is used, in bytes. */
#define MAX_NAME		120

static int compare_tids(const void *a, const void *b)
{
	const struct kvm_vcpu *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/** QEMU calls its vCPU threads "CPU n/KVM". */
static int32_t id_of_name(const char *comm)
{
	int n, length = 0;

	return sscanf(comm, "CPU %d/KVM%n", &n, &length) == 1 && length && n >= 0 ? n : VIRT_NONE;
}

static struct kvm_vcpu *add(struct kvm_vcpus *vcpus, int32_t tid, struct kvm_thread *thread)
{
	if (thread->vcpu != VIRT_NONE)
		return &vcpus->all[thread->vcpu];
	if (ARRAY_GROW(vcpus->all, vcpus->n, vcpus->room))
		return NULL;
	thread->vcpu = (int32_t)vcpus->n;
	vcpus->all[vcpus->n] = (struct kvm_vcpu){
		.tid = tid, .tid_now = tid, .id = VIRT_NONE, .guest = VIRT_NONE, .pcpu = VIRT_NONE,
		.reason = VIRT_NONE, .state = VIRT_UNKNOWN, .since_ns = INT64_MIN,
		.entered_ns = INT64_MIN,
	};
	return &vcpus->all[vcpus->n++];
}

/** One that has been in KVM_RUN; it may have been another one before. */
static struct kvm_vcpu *add_thread(struct kvm_tracker *tracker, struct kvm_vcpus *vcpus,
				   int32_t tid)
{
	struct kvm_thread *thread = kvm_thread_find(tracker, tid);

	if (thread->first) {
		tid = thread->first;
		thread = kvm_thread_add(tracker, tid);
	}
	return thread ? add(vcpus, tid, thread) : NULL;
}

/** Threads that have been in KVM_RUN on a CPU. Return: 0 or -ENOMEM. */
static int collect_cpu(struct kvm_tracker *tracker, struct kvm_vcpus *vcpus,
		       struct kvm_scan *scan)
{
	const struct kvm_event *event;
	int32_t last = KVM_NO_PID;
	struct kvm_vcpu *vcpu;

	while ((event = kvm_scan_next(scan))) {
		if (!kvm_is_of_vcpu(event) || event->pid <= 0)
			continue;
		/* as most of its records: nothing new, once its number is known */
		if (event->pid == last)
			continue;
		vcpu = add_thread(tracker, vcpus, event->pid);
		if (!vcpu)
			return -ENOMEM;
		if (vcpu->id == VIRT_NONE && kvm_is_of_guest(event) && event->arg >= 0)
			vcpu->id = event->arg;
		if (vcpu->id != VIRT_NONE)
			last = event->pid;
	}
	return scan->error;
}

/** Threads of the trace's own map of guests, and all that have been in KVM_RUN. */
static int collect(struct kvm_tracker *tracker, struct kvm_vcpus *vcpus)
{
	struct kvm_scan scan = { 0 };
	size_t first = vcpus->n;
	struct kvm_vcpu *vcpu;
	int ret = 0;

	for (size_t i = 0; i < tracker->n_guests; i++) {
		const struct kvm_guest *guest = &tracker->guests[i];

		for (int v = 0; v < guest->n_vcpus; v++) {
			if (guest->tids[v] <= 0)
				continue;
			vcpu = add(vcpus, guest->tids[v],
				   kvm_thread_find(tracker, guest->tids[v]));
			if (!vcpu)
				return -ENOMEM;
			/* what the model contains already stays */
			if (vcpu < vcpus->all + first)
				continue;
			vcpu->id = v;
			vcpu->guest = (int32_t)i;
		}
	}
	for (size_t c = 0; c < tracker->n_cpus && !ret; c++) {
		struct kvm_cpu *cpu = &tracker->cpus[c];

		kvm_scan_begin(&scan, &cpu->events, cpu->looked);
		cpu->looked = kvm_events_count(&cpu->events);
		ret = collect_cpu(tracker, vcpus, &scan);
	}
	kvm_scan_end(&scan);
	return ret;
}

static bool is_named(const struct kvm_vcpu *vcpu)
{
	return vcpu->guest < KVM_UNNAMED;
}

/** The vCPU next below @tid, among the first ones, of machines that the trace does not name. */
static const struct kvm_vcpu *next_below(const struct kvm_vcpus *vcpus, size_t n, int32_t tid)
{
	const struct kvm_vcpu *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct kvm_vcpu *vcpu = &vcpus->all[i];

		if (!is_named(vcpu) && !vcpu->is_over && vcpu->tid < tid &&
		    (!best || vcpu->tid > best->tid))
			best = vcpu;
	}
	return best;
}

/** The machine of each vCPU that the trace does not name: tids and numbers ascend within one. */
static void group(struct kvm_tracker *tracker, struct kvm_vcpus *vcpus, size_t first)
{
	const struct kvm_vcpu *before = NULL;

	for (size_t i = first; i < vcpus->n; i++) {
		struct kvm_vcpu *vcpu = &vcpus->all[i];
		const struct kvm_vcpu *known;

		if (vcpu->guest != VIRT_NONE)
			continue;
		known = next_below(vcpus, first, vcpu->tid);
		if (known && (!before || known->tid > before->tid))
			before = known;
		if (before && vcpu->tid - before->tid <= MAX_TID_DISTANCE &&
		    (vcpu->id == VIRT_NONE || vcpu->id > before->id)) {
			if (vcpu->id == VIRT_NONE)
				vcpu->id = before->id + 1;
			vcpu->guest = before->guest;
		} else {
			if (vcpu->id == VIRT_NONE)
				vcpu->id = 0;
			vcpu->guest = KVM_UNNAMED + tracker->n_unnamed++;
		}
		before = vcpu;
	}
}

/** Numbers of machines, and the first one that may be left. */
struct numbers {
	struct key_map	taken;
	int32_t		next;
};

static bool is_taken(const struct numbers *numbers, int32_t machine)
{
	return key_map_find(&numbers->taken, (uint32_t)machine) >= 0;
}

static int32_t next_number(struct numbers *numbers)
{
	while (is_taken(numbers, numbers->next))
		numbers->next++;
	return numbers->next++;
}

/**
 * A guest that is called "g7" is best machine 7; the others get the numbers that are left.
 * Return: 0 or -ENOMEM.
 */
static int number_guests(struct kvm_tracker *tracker, const struct virt_model *model,
			 struct numbers *numbers)
{
	for (int32_t i = 0; i < virt_model_n_machines(model); i++)
		if (key_map_add(&numbers->taken, (uint32_t)virt_model_machine(model, i)->id) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < tracker->n_guests; i++) {
		char plain[16];
		int id;

		if (tracker->guests[i].machine)
			continue;
		if (sscanf(tracker->guests[i].name, "g%4d", &id) != 1 || id <= 0)
			continue;
		snprintf(plain, sizeof(plain), "g%d", id);
		if (strcmp(plain, tracker->guests[i].name) != 0 || is_taken(numbers, id))
			continue;
		tracker->guests[i].machine = id;
		if (key_map_add(&numbers->taken, (uint32_t)id) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < tracker->n_guests; i++)
		if (!tracker->guests[i].machine)
			tracker->guests[i].machine = next_number(numbers);
	return 0;
}

/** The part of a long name that is used. Return: bytes. */
static int used_length(const struct kvm_guest *guest)
{
	return (int)text_cut(guest->name, strnlen(guest->name, MAX_NAME));
}

/** By the part of the names that is used. */
static int compare_names(const void *a, const void *b)
{
	const struct kvm_guest *const *x = a, *const *y = b;
	int n = used_length(*x), other = used_length(*y);
	int ret = memcmp((*x)->name, (*y)->name, (size_t)(n < other ? n : other));

	return ret ? ret : n - other;
}

static bool are_namesakes(const struct kvm_guest *a, const struct kvm_guest *b)
{
	return a && b && !compare_names(&a, &b);
}

/** Find the guests whose names are unique. Return: 0 or -ENOMEM. */
static int find_unique(struct kvm_tracker *tracker)
{
	size_t n = tracker->n_guests;
	struct kvm_guest **guests = calloc(n + 1, sizeof(struct kvm_guest *));

	if (!guests)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		guests[i] = &tracker->guests[i];
	qsort(guests, n, sizeof(struct kvm_guest *), compare_names);
	for (size_t i = 0; i < n; i++)
		guests[i]->is_unique = !are_namesakes(guests[i], i ? guests[i - 1] : NULL) &&
				       !are_namesakes(guests[i], guests[i + 1]);
	free(guests);
	return 0;
}

static int32_t id_of_machine(const struct virt_model *model, const struct kvm_vcpu *vcpu)
{
	return virt_model_machine(model, virt_model_vcpu(model, vcpu->index)->machine)->id;
}

/** The machine that a vCPU of before has, too; 0: none has. */
static int32_t machine_of(const struct virt_model *model, const struct kvm_vcpus *vcpus, size_t n,
			  int32_t guest)
{
	for (size_t i = 0; i < n; i++)
		if (vcpus->all[i].guest == guest)
			return id_of_machine(model, &vcpus->all[i]);
	return 0;
}

/**
 * The machines that the trace does not name get the numbers that are left, in their order.
 * @before: the last vCPU of one of them
 */
static int32_t number_of(const struct kvm_tracker *tracker, struct numbers *numbers,
			 const struct virt_model *model, const struct kvm_vcpu *vcpu,
			 const struct kvm_vcpu *before)
{
	if (is_named(vcpu))
		return tracker->guests[vcpu->guest].machine;
	if (before && before->guest == vcpu->guest)
		return id_of_machine(model, before);
	return next_number(numbers);
}

/** Those that will be a vCPU later. */
static void find_later(struct kvm_tracker *tracker, struct kvm_vcpus *vcpus)
{
	for (uint32_t i = 0; tracker->has_lives && i < tracker->pids.n_keys; i++) {
		struct kvm_thread *thread = &tracker->threads[i];
		const struct kvm_thread *first = thread->first ?
						 kvm_thread_find(tracker, thread->first) : NULL;

		if (!first || thread->vcpu_then == first->vcpu)
			continue;
		thread->vcpu_then = first->vcpu;
		vcpus->all[first->vcpu].n_later++;
	}
}

/** What the TSC of each thread was set to last, of the vCPUs behind the first ones. */
static void set_offsets(const struct kvm_tracker *tracker, const struct kvm_vcpus *vcpus,
			size_t first)
{
	for (size_t i = 0; i < tracker->n_offsets; i++) {
		const struct kvm_tsc_offset *offset = &tracker->offsets[i];
		const struct kvm_thread *thread = kvm_thread_find(tracker, offset->pid);
		int32_t number = thread ? kvm_vcpu_of_thread(thread) : VIRT_NONE;
		struct kvm_vcpu *vcpu = number >= 0 && (size_t)number >= first ?
					&vcpus->all[number] : NULL;

		if (vcpu && (!vcpu->offset || offset->time_ns >= vcpu->offset->time_ns))
			vcpu->offset = offset;
	}
}

/** All that were set of threads that are vCPUs. */
static int add_tsc_writes(const struct kvm_tracker *tracker, const struct kvm_vcpu *vcpus,
			  struct virt_model *model)
{
	int ret = 0;

	for (size_t i = 0; i < tracker->n_offsets && !ret; i++) {
		const struct kvm_tsc_offset *offset = &tracker->offsets[i];
		const struct kvm_thread *thread = kvm_thread_find(tracker, offset->pid);

		if (thread && kvm_vcpu_of_thread(thread) != VIRT_NONE)
			ret = virt_model_add_tsc_write(model, &(struct virt_tsc_write){
				.time_ns = offset->time_ns, .offset = offset->offset,
				.before = offset->before, .has_before = offset->has_before,
				.vcpu = vcpus[kvm_vcpu_of_thread(thread)].index,
				.pcpu = offset->cpu,
			});
	}
	return ret;
}

/** The devices of named machines, as soon as these have a vCPU. Return: 0 or -ENOMEM. */
static int add_regions(struct kvm_tracker *tracker, struct virt_model *model,
		       const struct kvm_vcpus *vcpus, size_t first)
{
	int ret = 0;

	for (size_t i = first; i < vcpus->n; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, vcpus->all[i].index);
		struct kvm_guest *guest = is_named(&vcpus->all[i]) ?
					  &tracker->guests[vcpus->all[i].guest] : NULL;

		if (!guest || guest->is_placed)
			continue;
		guest->is_placed = true;
		for (uint32_t k = 0; k < guest->n_regions && ret != -ENOMEM; k++)
			ret = virt_model_add_region(model, vcpu->machine, &guest->regions[k]);
	}
	return ret == -ENOMEM ? ret : 0;
}

/**
 * Machines are "g1" or "g1:web", as Xen's are "d1" or "d1:web": to ask for a vCPU by number, the
 * name of its machine is not needed. Their vCPUs are "g1v0", or "web v0": these numbers are ours,
 * and users do not know a machine by them. But if two have the same name, all need them.
 */
static int add_to_model(const struct kvm_tracker *tracker, struct virt_model *model, int32_t id,
			struct kvm_vcpu *vcpu)
{
	const struct kvm_guest *guest = is_named(vcpu) ?
					&tracker->guests[vcpu->guest] : NULL;
	int32_t machine;
	char plain[32], name[160];
	int cut = 0;		/* the used bytes of the guest's name; 0: it has no other name */

	snprintf(plain, sizeof(plain), "g%d", (int)id);
	if (guest && strcmp(guest->name, plain) != 0)
		cut = used_length(guest);
	if (cut)
		text_format(name, sizeof(name), "%s:%.*s", plain, cut, guest->name);
	machine = virt_model_add_machine(model, id, cut ? name : plain);
	if (machine < 0)
		return machine;
	if (cut && guest->is_unique)
		text_format(name, sizeof(name), "%.*s v%d", cut, guest->name, (int)vcpu->id);
	else
		snprintf(name, sizeof(name), "%sv%d", plain, (int)vcpu->id);
	vcpu->index = virt_model_add_vcpu(model, machine, vcpu->id, vcpu->tid, name);
	if (vcpu->index < 0)
		return vcpu->index;
	return vcpu->offset ? virt_model_set_tsc(model, vcpu->index, 1, vcpu->offset->offset) : 0;
}

void kvm_machine_called(const struct kvm_tracker *tracker, const struct virt_model *model,
			const struct kvm_vcpu *vcpu, char *text, size_t size)
{
	const struct kvm_guest *guest = is_named(vcpu) ?
					&tracker->guests[vcpu->guest] : NULL;
	const struct virt_vcpu *info = virt_model_vcpu(model, vcpu->index);

	if (guest && guest->is_unique)
		text_format(text, size, "%.*s", used_length(guest), guest->name);
	else
		snprintf(text, size, "g%d", (int)virt_model_machine(model, info->machine)->id);
}

/** All behind the first ones, into the model. Return: 0 or a negative errno. */
static int add_all(struct kvm_tracker *tracker, struct virt_model *model, struct kvm_vcpus *vcpus,
		   size_t first)
{
	struct numbers numbers = { .next = 1 };
	const struct kvm_vcpu *before = NULL;
	int ret = number_guests(tracker, model, &numbers);

	if (!ret)
		ret = find_unique(tracker);
	for (size_t i = first; i < vcpus->n && !ret; i++) {
		struct kvm_vcpu *vcpu = &vcpus->all[i];
		int32_t id = is_named(vcpu) ? 0 : machine_of(model, vcpus, first, vcpu->guest);

		if (!id)
			id = number_of(tracker, &numbers, model, vcpu, before);
		ret = add_to_model(tracker, model, id, vcpu);
		/* vCPUs of a machine are in a row, but those of named machines may lie between */
		if (!is_named(vcpu))
			before = vcpu;
	}
	key_map_destroy(&numbers.taken);
	return ret < 0 ? ret : 0;
}

/** Threads know their vCPUs, and vCPUs their other threads and TSCs. */
static void index_vcpus(struct kvm_tracker *tracker, struct kvm_vcpus *vcpus, size_t first)
{
	for (size_t i = first; i < vcpus->n; i++)
		kvm_thread_find(tracker, vcpus->all[i].tid)->vcpu = (int32_t)i;
	find_later(tracker, vcpus);
	set_offsets(tracker, vcpus, first);
}

/** The machine that the trace or its sidecar names, of a thread; else one without a name. */
static int32_t guest_of(const struct kvm_tracker *tracker, const struct kvm_part_vcpu *vcpu)
{
	for (size_t i = 0; i < tracker->n_guests; i++)
		for (int v = 0; v < tracker->guests[i].n_vcpus; v++)
			if (tracker->guests[i].tids[v] == vcpu->tid)
				return (int32_t)i;
	return KVM_UNNAMED + vcpu->machine;
}

static int place_vcpu(struct kvm_tracker *tracker, const struct kvm_part_vcpu *from,
		      struct virt_model *model, struct kvm_vcpus *vcpus)
{
	struct kvm_thread *thread = kvm_thread_add(tracker, from->tid);
	struct kvm_vcpu *vcpu = thread ? add(vcpus, from->tid, thread) : NULL;
	int32_t machine;

	if (!vcpu)
		return -ENOMEM;
	machine = virt_model_add_machine(model, from->machine, from->machine_name);
	if (machine < 0)
		return machine;
	vcpu->id = from->id;
	vcpu->guest = guest_of(tracker, from);
	vcpu->index = virt_model_add_vcpu(model, machine, from->id, from->tid, from->name);
	if (vcpu->index < 0)
		return vcpu->index;
	return from->has_tsc ? virt_model_set_tsc(model, vcpu->index, 1, from->tsc_offset) : 0;
}

int kvm_part_vcpus(struct kvm_tracker *tracker, const struct kvm_part *part,
		   struct virt_model *model, struct kvm_vcpus *vcpus)
{
	int ret = find_unique(tracker);

	for (int32_t i = 0; i < part->model->n_vcpus && !ret; i++)
		ret = place_vcpu(tracker, &part->vcpus[i], model, vcpus);
	if (ret || !vcpus->n)
		return ret;
	qsort(vcpus->all, vcpus->n, sizeof(*vcpus->all), compare_tids);
	index_vcpus(tracker, vcpus, 0);
	ret = add_regions(tracker, model, vcpus, 0);
	return ret ? ret : add_tsc_writes(tracker, vcpus->all, model);
}

int kvm_find_vcpus(struct kvm_tracker *tracker, struct virt_model *model,
		   struct kvm_vcpus *vcpus)
{
	size_t first = vcpus->n;
	int ret = collect(tracker, vcpus);

	if (ret || vcpus->n == first)
		return ret;
	for (size_t i = first; i < vcpus->n; i++) {
		struct kvm_vcpu *vcpu = &vcpus->all[i];

		if (vcpu->id == VIRT_NONE)
			vcpu->id = id_of_name(kvm_thread_find(tracker, vcpu->tid)->comm);
	}
	qsort(vcpus->all + first, vcpus->n - first, sizeof(*vcpus->all), compare_tids);
	group(tracker, vcpus, first);
	index_vcpus(tracker, vcpus, first);
	ret = add_all(tracker, model, vcpus, first);
	if (!ret)
		ret = add_regions(tracker, model, vcpus, first);
	return ret ? ret : add_tsc_writes(tracker, vcpus->all, model);
}
