/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_private.h
 * @brief	Inside the KVM tracker: the records of each CPU, its threads and its vCPUs.
 */
#ifndef KSHARK_VIRT_KVM_PRIVATE_H
#define KSHARK_VIRT_KVM_PRIVATE_H

#include <stdbool.h>

#include "kvm_events.h"
#include "kvm_recorded.h"
#include "key_map.h"
#include "virt_handlers.h"
#include "virt_power.h"

#define KVM_NO_PID	(-1)

/** A piece of a handling that came upon a thread; as struct virt_handling. */
struct kvm_handled {
	int64_t		start_ns, end_ns, whole_ns;
	int32_t		pid;
	int16_t		handler;
	bool		begins;
};

/** Handlers that interrupt each other, at most: a softirq, interrupts in it, an NMI. */
#define KVM_HANDLER_LEVELS	8

struct kvm_handler_level {
	int		handler;
	size_t		first;		/* its first piece */
	int64_t		since_ns;	/* when it was entered or came back */
	int64_t		whole_ns;	/* up to then */
};

struct kvm_cpu {
	struct kvm_events events;
	bool		is_there;	/* though it has no record yet */
	size_t		taken;		/* of them, by kvm_in_order() */
	size_t		looked;		/* of them, for threads that are vCPUs */
	int64_t		last_ns;	/* of its last record, which need not be kept */
	int32_t		pid;		/* that has it; KVM_NO_PID before the first record */
	/* what is recorded once and needed with the next interrupts, see is_to_be_kept(): */
	int32_t		own;		/* number of the vCPU that has entered or left its guest
					 * since its thread has this CPU; or VIRT_NONE */
	uint8_t		raised[2];	/* by enum kvm_context: KVM_IPI, KVM_IRQ_LINE, or 0 */
	bool		wakes[2];	/* a line of who is woken next has been raised there */
	/* handlers, see kvm_handlers.c: */
	struct kvm_handled *handled;
	size_t		n_handled, handled_room;
	struct kvm_handler_level levels[KVM_HANDLER_LEVELS];
	int		n_levels;
	int32_t		handled_pid;	/* the thread that they interrupt */
	bool		idle_known;	/* whether it sleeps, see kvm_power.c */
};

/** A thread that has a name or is a vCPU. */
struct kvm_thread {
	char		comm[KVM_COMM_SIZE];
	int32_t		pid;
	int32_t		vcpu;		/* index, or VIRT_NONE */
	int32_t		first;		/* it is this one's vCPU later, see
					 * kvm_tracker_continue(); or 0 */
	int32_t		vcpu_then;	/* that it is at another time: index, or VIRT_NONE */
	int32_t		task;		/* number in the model, or VIRT_NONE */
	int32_t		process;	/* whose it is, from the sidecar; or 0 */
	int32_t		maker;		/* the thread that has made it; or 0 */
	/* of one that works for a machine, see kvm_threads.c: */
	int32_t		owner;		/* a vCPU of that, by index; or VIRT_NONE */
	uint8_t		kind, source;	/* enum virt_thread_kind, enum virt_thread_source */
	bool		is_owned;	/* the model has its owner */
	bool		in_userfault;	/* it supplies pages of userfaultfd */
	bool		is_dead;	/* and its number may be another one's later */
	bool		is_expected;	/* by who forgets others, for that time */
	uint8_t		quota;		/* enum kvm_quota */
};

struct kvm_guest {
	char		*name;
	int32_t		*tids;
	int		n_vcpus;
	int32_t		machine;	/* its id */
	bool		is_unique;	/* no other one is called so */
	bool		is_placed;	/* the model has its regions: */
	struct device_region *regions;	/* with names of their own */
	uint32_t	n_regions, regions_room;
};

struct kvm_handler {
	char		*name;
	int		kind;
};

/** From then on; as virt_model_add_power(). */
struct kvm_power_step {
	int64_t		time_ns;
	uint32_t	number;		/* in the order of the records */
	int32_t		value;
	int16_t		cpu;		/* VIRT_NONE: each */
	uint8_t		kind;		/* enum virt_power_kind */
};

struct kvm_part;

/** Threads whose numbers are found at once. */
#define KVM_THREADS_LATELY	256

struct kvm_tracker {
	struct kvm_tsc_offset *offsets;
	size_t		n_offsets, offsets_room;
	struct kvm_cpu	*cpus;
	size_t		n_cpus, cpus_room;
	size_t		plain_room;	/* for events that are not packed, of all CPUs */
	size_t		most_plain;	/* with that much room, events are packed; 0: never */
	bool		is_brief;	/* see kvm_tracker_brief() */
	bool		is_once;	/* see kvm_tracker_once() */
	bool		is_over;	/* so the events are gone: there was a model */
	struct kvm_scan	ahead;		/* of kvm_levels.c */
	struct key_map	pids;
	struct kvm_thread *threads;	/* by number in @pids */
	size_t		threads_room;
	uint32_t	lately[KVM_THREADS_LATELY];	/* by pid: a number that may be its own */
	struct kvm_guest *guests;
	size_t		n_guests, guests_room;
	struct kvm_handler *handlers;
	size_t		n_handlers, handlers_room;
	struct kvm_power_step *power;
	size_t		n_power, power_room;
	char		*idle_names[VIRT_IDLE_STATES];	/* or NULL */
	int32_t		n_pcpus;	/* of the host, as far as it is known beforehand */
	int64_t		*disordered;	/* times of records before the one before them */
	size_t		n_disordered, disordered_room;
	int32_t		n_unnamed;	/* machines that the trace does not name */
	/* of a tracker that goes on, see kvm_follow.c: */
	int64_t		fed_ns;		/* up to then, all records are here; INT64_MIN: none are */
	int32_t		task_limit;	/* tasks with an entry of their own; 0: all */
	struct key_map	shared_tasks;	/* by hash of what they are called */
	uint64_t	recorded;	/* kinds of records, see kvm_recorded.h */
	uint64_t	met;		/* events that were there: 1 << enum kvm_event_kind */
	uint64_t	formats;	/* kinds whose events the trace knows */
	bool		has_nested_exits;	/* records of them */
	bool		has_lives;	/* vCPUs go on as other threads */
	bool		has_quota_timers; /* KVM_EXPIRED is there for these functions: */
	uint64_t	quota_timers[KVM_QUOTA_TIMERS];
	const struct kvm_part *part;	/* what the records are a part of; or NULL */
};

/** KVM_ACCEPT, KVM_WAKING: how the interrupt was raised, beside enum kvm_context in @more. */
#define KVM_BY_IPI	(1 << 1)
#define KVM_BY_LINE	(1 << 2)

/** kvm_has - are there records of a kind? */
static inline bool kvm_has(const struct kvm_tracker *tracker, enum virt_record_kind kind)
{
	return tracker->recorded & VIRT_RECORD_BIT(kind);
}

/** kvm_has_switches - does a record say when a thread gets or loses its pCPU? */
static inline bool kvm_has_switches(const struct kvm_tracker *tracker)
{
	return kvm_has(tracker, VIRT_RECORD_SWITCH);
}

/** kvm_has_modes - do entries or exits show what a vCPU does on its pCPU? */
static inline bool kvm_has_modes(const struct kvm_tracker *tracker)
{
	return kvm_has(tracker, VIRT_RECORD_ENTRY) || kvm_has(tracker, VIRT_RECORD_EXIT);
}
/** kvm_thread_find - what is known of a thread. Return: NULL if nothing. */
struct kvm_thread *kvm_thread_find(const struct kvm_tracker *tracker, int32_t pid);

/** kvm_is_of_guest - is it a record of a thread that enters or leaves its guest, as vCPUs do? */
static inline bool kvm_is_of_guest(const struct kvm_event *event)
{
	return event->kind == KVM_ENTRY || event->kind == KVM_EXIT || event->kind == KVM_WHOLE;
}

/**
 * kvm_is_of_vcpu - is it a record that a thread writes only while it is in KVM_RUN, or leaves it?
 *
 * A vCPU that has not been started, or waits for its first interrupt, writes such ones and never
 * enters its guest.
 */
static inline bool kvm_is_of_vcpu(const struct kvm_event *event)
{
	return kvm_is_of_guest(event) || event->kind == KVM_USERSPACE_EXIT ||
	       event->kind == KVM_RUN || event->kind == KVM_HALTED;
}

/** kvm_vcpu_of_thread - that it is, was or will be. Return: index, or VIRT_NONE. */
static inline int32_t kvm_vcpu_of_thread(const struct kvm_thread *thread)
{
	return thread->vcpu != VIRT_NONE ? thread->vcpu : thread->vcpu_then;
}

/** A vCPU thread, before and while the model is filled. */
struct kvm_vcpu {
	int32_t		tid;		/* the first one, if it has several */
	int32_t		tid_now;	/* and the one that it is */
	int32_t		id;		/* VIRT_NONE if no record shows it */
	int32_t		guest;		/* index of struct kvm_guest, or VIRT_NONE */
	int32_t		index;		/* in the model */
	int16_t		pcpu;		/* where it is, or where it was last */
	int16_t		awaited;	/* the pCPU that it waits for, PREEMPTED */
	uint8_t		place;		/* enum kvm_place */
	uint8_t		mode;		/* enum kvm_mode */
	bool		is_guess;	/* no record has shown its mode yet */
	bool		nested;		/* in the guest, it is its guest that runs */
	bool		level_known;	/* whether that holds */
	int64_t		since_ns;	/* when it came to a pCPU, or its place became unknown */
	int64_t		mode_ns;	/* the same, or when a record showed its mode last */
	bool		by_switch;	/* it came there by a switch: it was in the kernel then */
	int64_t		entered_ns;	/* KVM_WHOLE: when the last one ended */
	int32_t		reason;		/* of its last exit */
	uint8_t		wait;		/* enum kvm_wait, of that exit; none in the guest */
	const struct kvm_tsc_offset *offset;	/* what its TSC was set to last, or NULL */
	uint8_t		state;		/* enum virt_state that was said last */
	bool		is_shown;	/* see add_shown() */
	bool		is_over;	/* its thread has ended, and it is no other one later */
	int32_t		n_later;	/* threads that it will be, see kvm_tracker_continue() */
	/* whether its monitor has stopped it, see kvm_stops.c: */
	bool		stopped, is_listed;
	int32_t		next_asleep;	/* index, or VIRT_NONE */
	/* whether a quota holds it, see kvm_holds.c: */
	bool		quota_wait;	/* it wants to run, since: */
	int64_t		quota_ns;
	int16_t		quota_cpu;	/* on which pCPU; or VIRT_NONE */
	bool		quota_listed;	/* with that, by index; or VIRT_NONE: */
	int32_t		quota_before, quota_next;
	bool		quota_held;	/* since: */
	int64_t		quota_held_ns;
	/* its waits, see kvm_wakes.c: */
	int32_t		machine;	/* in the model while it is filled */
	bool		halts;		/* it sleeps, or did last, in the kernel, as its guest
					 * wants to */
	bool		woken;		/* it is awake, and has not entered its guest since */
	bool		waker_known;	/* KVM_WAKING came */
	struct virt_wake raised;	/* interrupt that it was sent since its last exit, if any */
	struct virt_wake waker;		/* who has woken it: VCPU, TASK, INTERRUPT or UNKNOWN */
	struct virt_wake wake;		/* what is said to have ended its last wait */
};

enum kvm_place { KVM_PLACE_UNKNOWN, KVM_ON, KVM_OFF };
enum kvm_mode { KVM_MODE_UNKNOWN, KVM_IN_GUEST, KVM_IN_HYPERVISOR, KVM_IN_VMM };

/** If a vCPU's thread sleeps now: who wanted that? */
enum kvm_wait {
	KVM_WAIT_UNKNOWN,	/* unknown what the exit is about, or there was none */
	KVM_WAIT_ASKED,		/* the guest */
	KVM_WAIT_CALL,		/* perhaps the guest: a hypercall, whose number is not known */
	KVM_WAIT_STOPPED,	/* the monitor, for reasons of its own */
	KVM_WAIT_UNASKED,	/* the one that works for the exit */
};

/** A guest's number, of a vCPU of a machine that the trace does not name, is not below this. */
#define KVM_UNNAMED	(1 << 24)

/** vCPU threads: an array, to be freed. */
struct kvm_vcpus {
	struct kvm_vcpu	*all;
	size_t		n, room;
};

/**
 * kvm_add_threads - add an entry for each thread of new records, so that
 * replaying need not make any
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_add_threads(struct kvm_tracker *tracker);

/**
 * kvm_find_vcpus - the vCPU threads among all threads, and which machine's they are
 * @vcpus: those that are known, behind which the others are put, ordered by tid; threads know their
 *	index in it
 *
 * Adds the machines and vCPUs to the model. Return: 0, -ENOMEM, or as virt_model_add_machine().
 */
int kvm_find_vcpus(struct kvm_tracker *tracker, struct virt_model *model,
		   struct kvm_vcpus *vcpus);

/**
 * kvm_part_vcpus - the same for a part of a trace: all that the whole trace has, in its order
 *
 * Return: as kvm_find_vcpus().
 */
int kvm_part_vcpus(struct kvm_tracker *tracker, const struct kvm_part *part,
		   struct virt_model *model, struct kvm_vcpus *vcpus);

/** kvm_part_begin - virt_part_begin(), and tasks have their numbers. Return: 0 or -ENOMEM. */
int kvm_part_begin(struct kvm_tracker *tracker, const struct kvm_part *part,
		   struct virt_model *model);

/** kvm_tracker_expect_cpu - CPUs up to this one are there. Return: 0 or -ENOMEM. */
int kvm_tracker_expect_cpu(struct kvm_tracker *tracker, int cpu);

/** kvm_thread_add - the same as kvm_thread_find(), but it is made. Return: NULL without memory. */
struct kvm_thread *kvm_thread_add(struct kvm_tracker *tracker, int32_t pid);

/** kvm_machine_called - what the machine of a vCPU is called in front of what is its own: "web" */
void kvm_machine_called(const struct kvm_tracker *tracker, const struct virt_model *model,
			const struct kvm_vcpu *vcpu, char *text, size_t size);

/**
 * kvm_find_threads - which threads work for which machine, beside its vCPUs
 * @vcpus: from kvm_find_vcpus()
 *
 * Threads know whose they are from then on. Return: 0 or -ENOMEM.
 */
int kvm_find_threads(struct kvm_tracker *tracker, const struct virt_model *model,
		     const struct kvm_vcpu *vcpus, int32_t n_vcpus);

/** kvm_handlers_forget - forget the handlers that were entered on a CPU: their ends are unknown. */
void kvm_handlers_forget(struct kvm_cpu *cpu);

/** kvm_add_handled - what interrupted vCPUs, into the model. Return: 0 or -ENOMEM. */
int kvm_add_handled(const struct kvm_tracker *tracker, struct virt_model *model,
		    const struct kvm_vcpu *vcpus);

/** kvm_handlers_free - all of a tracker. */
void kvm_handlers_free(struct kvm_tracker *tracker);

/** kvm_power_awake - a thread has the CPU. Return: 0 or -ENOMEM. */
int kvm_power_awake(struct kvm_tracker *tracker, struct kvm_cpu *cpu, int64_t time_ns);

/** kvm_power_lost - from here on, it is unknown what a CPU does. Return: 0 or -ENOMEM. */
int kvm_power_lost(struct kvm_tracker *tracker, struct kvm_cpu *cpu, int64_t time_ns);

/** kvm_add_power - all of it, into the model. Return: 0 or -ENOMEM. */
int kvm_add_power(struct kvm_tracker *tracker, struct virt_model *model);

/** kvm_power_free - all of a tracker. */
void kvm_power_free(struct kvm_tracker *tracker);

/**
 * kvm_evidence - kinds without a record that were recorded all the same
 * @kinds: receives those among kvm_tracker_formats() that no record contradicts
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_evidence(const struct kvm_tracker *tracker, uint64_t *kinds);

struct kvm_replay;

/** kvm_replay_new - nothing is known yet. Return: NULL without memory. */
struct kvm_replay *kvm_replay_new(struct kvm_tracker *tracker, struct virt_model *model,
				  struct kvm_vcpu *vcpus, int32_t n_vcpus);
void kvm_replay_free(struct kvm_replay *replay);

/** kvm_replay_take - the next record of all. Return: 0, -ENOMEM, or as the model. */
int kvm_replay_take(struct kvm_replay *replay, const struct kvm_event *event);

/**
 * kvm_replay_more - there may be more CPUs, and vCPUs behind those of before
 * @vcpus: where all of them are now
 * @time_ns: from when on they are
 *
 * Return: as kvm_replay_take().
 */
int kvm_replay_more(struct kvm_replay *replay, struct kvm_vcpu *vcpus, int32_t n_vcpus,
		    int64_t time_ns);

/**
 * kvm_replay_open_losses - losses that have begun, and whose end has come, but was not taken
 * @model: gets them, instead of that which is filled
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_replay_open_losses(const struct kvm_replay *replay, struct virt_model *model);

/** kvm_replay_asleep - at this time, up to which all was taken, a vCPU's thread sleeps. */
void kvm_replay_asleep(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns);

/**
 * kvm_replay - all records in order of time, into the model
 * @end_ns: where the trace ends
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_replay(struct kvm_tracker *tracker, struct virt_model *model, struct kvm_vcpu *vcpus,
	       int32_t n_vcpus, int64_t end_ns);

/**
 * kvm_find_level - does a guest's guest run at @event, an entry or exit?
 *
 * Called before the first entry or exit, after lost records, and each time where no record shows
 * an entry into a guest's guest: Linux on VMX before 6.1 has none. KVM records it right after the
 * exit, before another thread can have the CPU.
 *
 * Here and in kvm_is_handed_on(), @event is the one that kvm_in_order() has given last. Without
 * memory, @ahead of the tracker has an error.
 */
void kvm_find_level(struct kvm_tracker *tracker, struct kvm_vcpu *vcpu,
		    const struct kvm_event *event);

/** kvm_is_handed_on - is an exit out of a guest's guest handed to the guest's hypervisor? */
bool kvm_is_handed_on(struct kvm_tracker *tracker, const struct kvm_vcpu *vcpu,
		      const struct kvm_event *event);

/* --- why a vCPU has left its guest: kvm_waits.c ---------------------------------------------- */

struct kvm_reason {
	int32_t		index;		/* in the model */
	enum kvm_wait	wait;
};

/** Those that have been met. */
struct kvm_reasons {
	struct key_map	map;
	struct kvm_reason *reasons;	/* by number in @map */
	size_t		room;
};

/**
 * kvm_reason_of - the reason of an exit, which becomes known to the model
 * @nested: it leaves a guest's guest
 *
 * Return: 0, or what virt_model_add_reason() does on failure.
 */
int kvm_reason_of(struct kvm_reasons *known, struct virt_model *model,
		  const struct kvm_event *event, bool nested, struct kvm_reason *reason);

void kvm_reasons_destroy(struct kvm_reasons *known);

/**
 * kvm_wait_of_monitor - is a sleep of the monitor's thread one that the guest has asked for?
 * @wait: what the exit into the monitor showed
 * @event: with which KVM handed the vCPU to it
 *
 * Return: what is known now.
 */
enum kvm_wait kvm_wait_of_monitor(enum kvm_wait wait, const struct kvm_event *event);

/** kvm_is_waiting_call - does the guest ask to wait, or to let others go first, by a hypercall? */
bool kvm_is_waiting_call(const struct kvm_event *event);

/** kvm_exit_is_known - is it known what an exit is about? */
bool kvm_exit_is_known(enum kvm_isa isa, uint64_t reason);

/** kvm_exit_name - of a reason; @buf is used if there is no name. */
const char *kvm_exit_name(enum kvm_isa isa, uint64_t reason, char *buf, size_t size);

#endif
