// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_tracker.c
 * @brief	Collect the records of a KVM host, CPU by CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "exit_arguments.h"
#include "kvm_holds.h"
#include "kvm_part.h"
#include "kvm_private.h"
#include "virt_limits.h"

void kvm_tracker_clear_guests(struct kvm_tracker *tracker)
{
	for (size_t i = 0; i < tracker->n_guests; i++) {
		free(tracker->guests[i].name);
		free(tracker->guests[i].tids);
		for (uint32_t k = 0; k < tracker->guests[i].n_regions; k++)
			free((char *)(uintptr_t)tracker->guests[i].regions[k].name);
		free(tracker->guests[i].regions);
	}
	tracker->n_guests = 0;
}

struct kvm_tracker *kvm_tracker_new(void)
{
	struct kvm_tracker *tracker = calloc(1, sizeof(*tracker));

	if (tracker) {
		tracker->fed_ns = INT64_MIN;
		tracker->most_plain = KVM_MOST_PLAIN;
	}
	return tracker;
}

void kvm_tracker_free(struct kvm_tracker *tracker)
{
	if (!tracker)
		return;
	kvm_handlers_free(tracker);
	kvm_power_free(tracker);
	for (size_t i = 0; i < tracker->n_cpus; i++)
		kvm_events_free(&tracker->cpus[i].events);
	kvm_scan_end(&tracker->ahead);
	kvm_tracker_clear_guests(tracker);
	free(tracker->disordered);
	free(tracker->cpus);
	free(tracker->offsets);
	free(tracker->threads);
	free(tracker->guests);
	key_map_destroy(&tracker->pids);
	key_map_destroy(&tracker->shared_tasks);
	free(tracker);
}

/* --- CPUs ------------------------------------------------------------------------------------ */

/** Also all CPUs before it. Return: NULL without memory. */
static struct kvm_cpu *add_cpus(struct kvm_tracker *tracker, int cpu)
{
	while ((size_t)cpu >= tracker->n_cpus) {
		if (ARRAY_GROW(tracker->cpus, tracker->n_cpus, tracker->cpus_room))
			return NULL;
		tracker->cpus[tracker->n_cpus++] = (struct kvm_cpu){
			.last_ns = INT64_MIN, .pid = KVM_NO_PID, .own = VIRT_NONE,
		};
	}
	return &tracker->cpus[cpu];
}

static inline struct kvm_cpu *get_cpu(struct kvm_tracker *tracker, int cpu)
{
	return (size_t)cpu < tracker->n_cpus ? &tracker->cpus[cpu] : add_cpus(tracker, cpu);
}

int kvm_tracker_expect_cpu(struct kvm_tracker *tracker, int cpu)
{
	if (!get_cpu(tracker, cpu))
		return -ENOMEM;
	for (; cpu >= 0; cpu--)
		tracker->cpus[cpu].is_there = true;
	return 0;
}

static int add_offset(struct kvm_tracker *tracker, const struct kvm_event *event)
{
	if (ARRAY_GROW(tracker->offsets, tracker->n_offsets, tracker->offsets_room))
		return -ENOMEM;
	tracker->offsets[tracker->n_offsets++] = (struct kvm_tsc_offset){
		.time_ns = event->time_ns, .offset = event->value, .pid = event->pid,
		.vcpu = event->arg, .cpu = event->cpu,
	};
	return 0;
}

void kvm_tracker_tsc_before(struct kvm_tracker *tracker, int64_t before)
{
	struct kvm_tsc_offset *last = tracker->offsets + tracker->n_offsets;

	if (!tracker->n_offsets)
		return;
	last[-1].before = before;
	last[-1].has_before = true;
}

const struct kvm_tsc_offset *kvm_tracker_tsc_offsets(const struct kvm_tracker *tracker, size_t *n)
{
	*n = tracker->n_offsets;
	return tracker->offsets;
}

/** Does a CPU's last event only say that a thread is there still, as the next one will? */
static bool is_still_there(const struct kvm_cpu *cpu, int32_t pid)
{
	const struct kvm_event *last = cpu->events.plain + cpu->events.n_plain - 1;

	return kvm_events_count(&cpu->events) > cpu->taken + 1 && last->kind == KVM_SEEN &&
	       last->pid == pid && last[-1].pid == pid && last[-1].kind != KVM_LOST &&
	       last[-1].kind != KVM_SWITCH;
}

/**
 * Interrupts are many, and few of them can wake anybody: how one was raised goes with it, and what
 * a vCPU is sent by itself or enters its guest with matters only after its thread has got a CPU.
 *
 * Return: false if the record shows only that its thread has the CPU.
 */
static bool is_to_be_kept(struct kvm_cpu *cpu, const struct kvm_event *event, uint8_t *more)
{
	unsigned int context = event->more & KVM_IN_INTERRUPT;

	if (event->pid != cpu->pid || event->kind == KVM_SWITCH || event->kind == KVM_LOST) {
		cpu->own = VIRT_NONE;
		cpu->raised[KVM_IN_TASK] = cpu->raised[KVM_IN_INTERRUPT] = 0;
		cpu->wakes[KVM_IN_TASK] = cpu->wakes[KVM_IN_INTERRUPT] = false;
		kvm_handlers_forget(cpu);
	}
	switch (event->kind) {
	case KVM_ENTRY:
	case KVM_EXIT:
	case KVM_USERSPACE_EXIT:
		if (event->kind != KVM_USERSPACE_EXIT)
			cpu->own = event->arg;
		cpu->raised[KVM_IN_TASK] = cpu->raised[KVM_IN_INTERRUPT] = 0;
		cpu->wakes[KVM_IN_TASK] = cpu->wakes[KVM_IN_INTERRUPT] = false;
		return true;
	case KVM_IPI:
	case KVM_IRQ_LINE:
		cpu->raised[context] = event->kind;
		cpu->wakes[context] = event->kind == KVM_IRQ_LINE &&
				      event->value == KVM_LINE_OF_WOKEN;
		return false;
	case KVM_WAKING:
		*more |= cpu->wakes[context] ? KVM_BY_LINE : 0;
		cpu->wakes[context] = false;
		return true;
	case KVM_ACCEPT:
		*more = (uint8_t)(context |
			      (cpu->raised[context] == KVM_IPI ? KVM_BY_IPI : 0) |
			      (cpu->raised[context] == KVM_IRQ_LINE ? KVM_BY_LINE : 0));
		return context == KVM_IN_INTERRUPT || event->arg != cpu->own;
	case KVM_INJECT:
		return cpu->own == VIRT_NONE;
	case KVM_EXCEPTION:
		return false;
	default:
		return true;
	}
}

/** Who begins to exist is woken by who has made it. */
static int add_maker(struct kvm_tracker *tracker, const struct kvm_event *event)
{
	struct kvm_thread *thread = event->arg > 0 ? kvm_thread_add(tracker, event->arg) : NULL;

	if (thread && event->pid > 0)
		thread->maker = event->pid;
	return thread || event->arg <= 0 ? 0 : -ENOMEM;
}

void kvm_tracker_expect(struct kvm_tracker *tracker, uint64_t kinds)
{
	tracker->recorded |= kinds & VIRT_RECORDED_ALL;
}

uint64_t kvm_tracker_recorded(const struct kvm_tracker *tracker)
{
	return tracker->recorded;
}

uint64_t kvm_kinds_of_event(uint8_t kind)
{
	static const uint64_t sets[] = {
		[KVM_ENTRY] = VIRT_RECORD_BIT(VIRT_RECORD_ENTRY),
		[KVM_EXIT] = VIRT_RECORD_BIT(VIRT_RECORD_EXIT),
		[KVM_USERSPACE_EXIT] = VIRT_RECORD_BIT(VIRT_RECORD_MONITOR),
		[KVM_NESTED_ENTRY] = VIRT_RECORD_BIT(VIRT_RECORD_NESTED),
		[KVM_NESTED_EXIT] = VIRT_RECORD_BIT(VIRT_RECORD_NESTED_EXIT),
		[KVM_NESTED_INJECT] = VIRT_RECORD_BIT(VIRT_RECORD_NESTED_INJECT),
		[KVM_SWITCH] = VIRT_RECORD_BIT(VIRT_RECORD_SWITCH),
		[KVM_WAKEUP] = VIRT_RECORD_BIT(VIRT_RECORD_WAKEUP),
		[KVM_MIGRATE] = VIRT_RECORD_BIT(VIRT_RECORD_MIGRATE),
		[KVM_BORN] = VIRT_RECORD_BIT(VIRT_RECORD_BORN),
		[KVM_HYPERCALL] = VIRT_RECORD_BIT(VIRT_RECORD_HYPERCALL) |
				  VIRT_RECORD_BIT(VIRT_RECORD_CALL),
		[KVM_WAKING] = VIRT_RECORD_BIT(VIRT_RECORD_WAKER),
		[KVM_ACCEPT] = VIRT_RECORD_BIT(VIRT_RECORD_ACCEPT),
		[KVM_INJECT] = VIRT_RECORD_BIT(VIRT_RECORD_INJECT),
		[KVM_WHOLE] = VIRT_RECORD_BIT(VIRT_RECORD_WHOLE),
		[KVM_RUN] = VIRT_RECORD_BIT(VIRT_RECORD_RUN),
		[KVM_HALTED] = VIRT_RECORD_BIT(VIRT_RECORD_HALT_POLL),
		[KVM_EXCEPTION] = VIRT_RECORD_BIT(VIRT_RECORD_EXCEPTION),
		[KVM_READ_BEGINS] = VIRT_RECORD_BIT(VIRT_RECORD_BLOCK),
		[KVM_USERFAULT] = VIRT_RECORD_BIT(VIRT_RECORD_USERFAULT),
	};

	return kind < ARRAY_SIZE(sets) ? sets[kind] : 0;
}

uint64_t kvm_kinds_of(const struct kvm_event *event)
{
	if (event->kind == KVM_SAW)
		return event->arg >= 0 && event->arg < VIRT_RECORD_N_KINDS ?
		       VIRT_RECORD_BIT(event->arg) : 0;
	return event->kind == KVM_ARGUMENT ?
	       VIRT_RECORD_BIT(exit_argument_record((enum exit_argument_kind)event->more)) &
	       VIRT_RECORDED_ALL : kvm_kinds_of_event(event->kind);
}

static bool is_of_quota(const struct kvm_tracker *tracker, const struct kvm_event *event)
{
	for (int i = 0; i < KVM_QUOTA_TIMERS; i++)
		if (tracker->quota_timers[i] && tracker->quota_timers[i] == (uint64_t)event->value)
			return true;
	return false;
}

#define BIT(kind)	(UINT64_C(1) << (kind))

_Static_assert(KVM_N_KINDS <= 64, "a bit for each kind");

/** Note an event of a kind that more than the replay uses. Return: 0 or -ENOMEM. */
__attribute__((noinline))
static int add_special(struct kvm_tracker *tracker, struct kvm_cpu *cpu,
		       const struct kvm_event *stored)
{
	tracker->has_nested_exits |= stored->kind == KVM_NESTED_EXIT;
	return stored->kind == KVM_LOST ? kvm_power_lost(tracker, cpu, stored->time_ns) :
	       stored->kind == KVM_TSC_OFFSET ? add_offset(tracker, stored) :
	       stored->kind == KVM_BORN ? add_maker(tracker, stored) : 0;
}

/** Expect the kinds of records that an event stands for; most of them were there before. */
static void expect(struct kvm_tracker *tracker, const struct kvm_event *event)
{
	const uint64_t several = BIT(KVM_SAW) | BIT(KVM_ARGUMENT);

	if ((tracker->met & ~several) >> event->kind & 1)
		return;
	tracker->met |= BIT(event->kind);
	kvm_tracker_expect(tracker, kvm_kinds_of(event));
}

/** Room for an event of a CPU: more of it, or events are packed. Return: 0 or -ENOMEM. */
static int make_room(struct kvm_tracker *tracker, struct kvm_events *events)
{
	size_t room = events->room;
	int ret;

	if (tracker->most_plain && tracker->plain_room >= tracker->most_plain &&
	    events->n_plain >= KVM_PACK_EVENTS + 2)
		return kvm_events_pack(events);
	ret = ARRAY_GROW(events->plain, events->n_plain, events->room);
	tracker->plain_room += events->room - room;
	return ret;
}

int kvm_tracker_add(struct kvm_tracker *tracker, const struct kvm_event *event)
{
	const uint64_t special = BIT(KVM_LOST) | BIT(KVM_TSC_OFFSET) | BIT(KVM_BORN) |
				 BIT(KVM_NESTED_EXIT);
	uint8_t more = event->more;
	struct kvm_event *stored;
	struct kvm_events *events;
	struct kvm_cpu *cpu;

	if (event->cpu < 0)
		return -EINVAL;
	/* an impossible kind: the record shows only that its thread has the CPU */
	if (event->kind >= KVM_N_KINDS)
		return kvm_tracker_seen(tracker, event->cpu, event->pid, event->time_ns);
	cpu = get_cpu(tracker, event->cpu);
	if (!cpu)
		return -ENOMEM;
	events = &cpu->events;
	expect(tracker, event);
	if (!is_to_be_kept(cpu, event, &more) ||
	    (event->kind == KVM_EXPIRED && !is_of_quota(tracker, event)))
		return kvm_tracker_seen(tracker, event->cpu, event->pid, event->time_ns);
	if (events->n_plain == events->room && make_room(tracker, events))
		return -ENOMEM;
	/* the same thread's, but a loss, before which it was seen */
	if (is_still_there(cpu, event->pid) && event->kind != KVM_LOST)
		events->n_plain--;
	stored = &events->plain[events->n_plain++];
	*stored = *event;
	stored->more = more;
	if (stored->time_ns < cpu->last_ns) {
		stored->time_ns = cpu->last_ns;
		if (ARRAY_GROW(tracker->disordered, tracker->n_disordered,
			       tracker->disordered_room))
			return -ENOMEM;
		tracker->disordered[tracker->n_disordered++] = cpu->last_ns;
	}
	cpu->last_ns = stored->time_ns;
	cpu->pid = event->kind == KVM_SWITCH ? event->arg :
		   event->kind == KVM_LOST ? KVM_NO_PID : event->pid;
	if (!cpu->idle_known && event->pid > 0 && event->kind != KVM_LOST &&
	    kvm_power_awake(tracker, cpu, stored->time_ns))
		return -ENOMEM;
	return special >> event->kind & 1 ? add_special(tracker, cpu, stored) : 0;
}

int kvm_tracker_seen(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns)
{
	const struct kvm_event event = {
		.time_ns = time_ns, .pid = pid, .cpu = (int16_t)cpu, .kind = KVM_SEEN,
	};
	struct kvm_cpu *known;

	if (cpu < 0 || cpu > INT16_MAX)
		return -EINVAL;
	known = (size_t)cpu < tracker->n_cpus ? &tracker->cpus[cpu] : NULL;
	/* without switches, only its last record shows how long a thread was there */
	if (!known || known->pid != pid || !kvm_has_switches(tracker))
		return kvm_tracker_add(tracker, &event);
	if (time_ns > known->last_ns)
		known->last_ns = time_ns;
	return 0;
}

int kvm_tracker_lost(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t to_ns,
		     uint64_t count)
{
	struct kvm_event event = { .cpu = (int16_t)cpu, .pid = pid, .kind = KVM_LOST };
	struct kvm_cpu *known;
	int ret;

	if (cpu < 0 || cpu > INT16_MAX)
		return -EINVAL;
	known = get_cpu(tracker, cpu);
	if (!known)
		return -ENOMEM;
	/* nothing is known before the first record anyhow; the last record still holds */
	event.time_ns = known->last_ns == INT64_MIN || known->last_ns >= to_ns ? to_ns :
			known->last_ns + 1;
	/* up to there, it had no more to say */
	if (event.time_ns < tracker->fed_ns)
		event.time_ns = tracker->fed_ns < to_ns ? tracker->fed_ns : to_ns;
	ret = kvm_tracker_add(tracker, &event);
	if (ret)
		return ret;
	event.time_ns = to_ns;
	event.kind = KVM_FOUND;
	event.value = (int64_t)(count > INT64_MAX ? INT64_MAX : count);
	return kvm_tracker_add(tracker, &event);
}

/* --- threads --------------------------------------------------------------------------------- */

/** The thread that was added last of those with the same place; NULL: it may be there or not. */
static struct kvm_thread *added_lately(const struct kvm_tracker *tracker, int32_t pid)
{
	uint32_t n = tracker->lately[(uint32_t)pid % KVM_THREADS_LATELY];

	return n < tracker->pids.n_keys && tracker->threads[n].pid == pid ? &tracker->threads[n] :
									     NULL;
}

struct kvm_thread *kvm_thread_find(const struct kvm_tracker *tracker, int32_t pid)
{
	struct kvm_thread *thread = added_lately(tracker, pid);
	int64_t n;

	if (thread)
		return thread;
	n = key_map_find(&tracker->pids, (uint32_t)pid);
	return n < 0 ? NULL : &tracker->threads[n];
}

struct kvm_thread *kvm_thread_add(struct kvm_tracker *tracker, int32_t pid)
{
	struct kvm_thread *thread = added_lately(tracker, pid);
	size_t known = tracker->pids.n_keys;
	int64_t n;

	if (thread)
		return thread;
	n = KEY_MAP_ELEMENT(&tracker->pids, (uint32_t)pid, tracker->threads,
			    tracker->threads_room);
	if (n < 0)
		return NULL;
	tracker->lately[(uint32_t)pid % KVM_THREADS_LATELY] = (uint32_t)n;
	if ((size_t)n == known)
		tracker->threads[n] = (struct kvm_thread){
			.pid = pid, .vcpu = VIRT_NONE, .vcpu_then = VIRT_NONE, .task = VIRT_NONE,
			.owner = VIRT_NONE,
		};
	return &tracker->threads[n];
}

int kvm_tracker_name(struct kvm_tracker *tracker, int32_t pid, const char *comm)
{
	struct kvm_thread *thread = kvm_thread_add(tracker, pid);

	if (!thread)
		return -ENOMEM;
	memset(thread->comm, 0, sizeof(thread->comm));
	memcpy(thread->comm, comm, strnlen(comm, sizeof(thread->comm) - 1));
	return 0;
}

int kvm_tracker_add_thread(struct kvm_tracker *tracker, int32_t tid, int32_t process)
{
	struct kvm_thread *thread;

	if (tid <= 0 || process <= 0)
		return -EINVAL;
	thread = kvm_thread_add(tracker, tid);
	if (!thread)
		return -ENOMEM;
	thread->process = process;
	return 0;
}

int kvm_tracker_limit(struct kvm_tracker *tracker, int32_t tid, enum kvm_quota quota)
{
	struct kvm_thread *thread;

	if (tid <= 0)
		return -EINVAL;
	thread = kvm_thread_add(tracker, tid);
	if (!thread)
		return -ENOMEM;
	thread->quota = (uint8_t)quota;
	return 0;
}

void kvm_tracker_quota_timers(struct kvm_tracker *tracker,
			      const uint64_t functions[KVM_QUOTA_TIMERS])
{
	for (int i = 0; i < KVM_QUOTA_TIMERS; i++) {
		tracker->quota_timers[i] = functions[i];
		tracker->has_quota_timers |= functions[i] != 0;
	}
}

int kvm_tracker_continue(struct kvm_tracker *tracker, int32_t tid, int32_t later)
{
	const struct kvm_thread *before;
	struct kvm_thread *thread;

	if (tid <= 0 || later <= 0 || tid == later)
		return -EINVAL;
	before = kvm_thread_add(tracker, tid);
	/* that, too, may go on as another one */
	if (before && before->first)
		tid = before->first;
	thread = before && tid != later ? kvm_thread_add(tracker, later) : NULL;
	if (!thread)
		return before ? -EINVAL : -ENOMEM;
	thread->first = tid;
	tracker->has_lives = true;
	return 0;
}

int kvm_tracker_add_guest(struct kvm_tracker *tracker, const char *name, const int32_t *tids,
			  int n_vcpus)
{
	struct kvm_guest guest = { .n_vcpus = n_vcpus > 0 ? n_vcpus : 0 };

	if (ARRAY_GROW(tracker->guests, tracker->n_guests, tracker->guests_room))
		return -ENOMEM;
	guest.name = strdup(name && *name ? name : "guest");
	guest.tids = calloc((size_t)guest.n_vcpus + 1, sizeof(*guest.tids));
	if (!guest.name || !guest.tids) {
		free(guest.name);
		free(guest.tids);
		return -ENOMEM;
	}
	if (guest.n_vcpus)
		memcpy(guest.tids, tids, guest.n_vcpus * sizeof(*tids));
	tracker->guests[tracker->n_guests++] = guest;
	return 0;
}

int kvm_tracker_add_region(struct kvm_tracker *tracker, const struct device_region *region)
{
	struct kvm_guest *guest = tracker->n_guests ? &tracker->guests[tracker->n_guests - 1] :
						      NULL;
	struct device_region copy = *region;

	if (!guest || guest->n_regions == DEVICE_MAX_REGIONS)
		return -EINVAL;
	copy.name = strdup(region->name ? region->name : "");
	if (!copy.name || ARRAY_GROW(guest->regions, guest->n_regions, guest->regions_room)) {
		free((char *)(uintptr_t)copy.name);
		return -ENOMEM;
	}
	guest->regions[guest->n_regions++] = copy;
	return 0;
}

/* --- the end --------------------------------------------------------------------------------- */

/** What belongs to an earlier model. */
static void begin_anew(struct kvm_tracker *tracker)
{
	for (uint32_t i = 0; i < tracker->pids.n_keys; i++) {
		tracker->threads[i].vcpu = VIRT_NONE;
		tracker->threads[i].task = VIRT_NONE;
		tracker->threads[i].owner = VIRT_NONE;
		tracker->threads[i].is_owned = false;
		tracker->threads[i].in_userfault = false;
		tracker->threads[i].vcpu_then = VIRT_NONE;
	}
	for (size_t i = 0; i < tracker->n_guests; i++) {
		tracker->guests[i].machine = 0;
		tracker->guests[i].is_placed = false;
	}
	tracker->n_unnamed = 0;
	for (size_t c = 0; c < tracker->n_cpus; c++)
		tracker->cpus[c].taken = tracker->cpus[c].looked = 0;
}

int kvm_add_threads(struct kvm_tracker *tracker)
{
	struct kvm_scan scan = { 0 };
	int ret;

	for (size_t c = 0; c < tracker->n_cpus; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];
		const struct kvm_event *event;
		int32_t last = KVM_NO_PID;

		kvm_scan_begin(&scan, &cpu->events, cpu->looked);
		while (!scan.error && (event = kvm_scan_next(&scan))) {
			/* most records of a CPU are of the same thread as the one before */
			if ((event->pid != last && !kvm_thread_add(tracker, event->pid)) ||
			    (event->kind == KVM_SWITCH && !kvm_thread_add(tracker, event->arg)))
				scan.error = -ENOMEM;
			last = event->kind == KVM_SWITCH ? event->arg : event->pid;
		}
	}
	ret = scan.error;
	kvm_scan_end(&scan);
	if (ret)
		return ret;
	for (size_t i = 0; i < tracker->n_guests; i++)
		for (int v = 0; v < tracker->guests[i].n_vcpus; v++)
			if (tracker->guests[i].tids[v] > 0 &&
			    !kvm_thread_add(tracker, tracker->guests[i].tids[v]))
				return -ENOMEM;
	return 0;
}

void kvm_tracker_brief(struct kvm_tracker *tracker)
{
	tracker->is_brief = true;
}

void kvm_tracker_once(struct kvm_tracker *tracker)
{
	tracker->is_once = true;
}

/** The records are in the model. */
static void forget_events(struct kvm_tracker *tracker)
{
	for (size_t c = 0; c < tracker->n_cpus; c++)
		kvm_events_free(&tracker->cpus[c].events);
}

void kvm_tracker_know_pcpus(struct kvm_tracker *tracker, int n)
{
	tracker->n_pcpus = n;
}

int kvm_tracker_finish(struct kvm_tracker *tracker, int64_t begin_ns, int64_t end_ns,
		       struct virt_model **model)
{
	const struct kvm_part *part = tracker->part && kvm_part_fits(tracker->part, begin_ns,
								     end_ns) ?
				      tracker->part : NULL;
	struct virt_model *made = virt_model_new();
	struct kvm_vcpus vcpus = { 0 };
	uint64_t kinds = 0;
	int ret = !made ? -ENOMEM : tracker->is_over ? -EINVAL : 0;

	if (ret)
		goto end;
	if (tracker->is_brief)
		virt_model_brief(made);
	begin_anew(tracker);
	ret = kvm_evidence(tracker, &kinds);
	tracker->recorded |= kinds;
	if (!ret)
		ret = kvm_add_threads(tracker);
	if (ret)
		goto end;
	if (part) {
		tracker->recorded = part->model->recorded;
		tracker->met = 0;
	}
	ret = part ? kvm_part_vcpus(tracker, part, made, &vcpus) :
		     kvm_find_vcpus(tracker, made, &vcpus);
	if (!ret)
		ret = kvm_find_threads(tracker, made, vcpus.all, (int32_t)vcpus.n);
	if (!ret)
		ret = part ? kvm_part_begin(tracker, part, made) : 0;
	tracker->is_over = tracker->is_once;
	if (!ret)
		ret = kvm_replay(tracker, made, vcpus.all, (int32_t)vcpus.n, end_ns);
	if (tracker->is_once)
		forget_events(tracker);
	if (!ret && !part && kvm_holds_known(tracker, made))
		virt_model_know_holds(made);
	if (!ret)
		ret = kvm_add_handled(tracker, made, vcpus.all);
	if (!ret)
		ret = kvm_add_power(tracker, made);
	for (size_t i = 0; !ret && i < tracker->n_disordered; i++)
		virt_model_contradiction_at(made, "a record is earlier than the one before it",
					    tracker->disordered[i]);
	free(vcpus.all);
	if (!ret)
		ret = virt_model_know_pcpus(made, tracker->n_pcpus);
	if (!ret)
		ret = virt_model_set_recorded(made, tracker->recorded);
	if (!ret)
		ret = part ? virt_part_finish(part->model, made) :
			     virt_model_finish(made, begin_ns, end_ns);
end:
	if (ret)
		virt_model_free(made);
	else
		*model = made;
	return ret;
}
