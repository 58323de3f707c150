/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_tracker.h
 * @brief	From the records of a KVM host's ftrace to the vCPU model.
 *
 * Records are taken CPU by CPU, each CPU's in order of time; what they mean is worked out when all
 * of them are there. The rules:
 *
 * - A thread that enters or leaves a guest, or has been in KVM_RUN, is a vCPU. It is GUEST from
 *   kvm_entry to kvm_exit,
 *   HYPERVISOR from there to the next kvm_entry, but VMM from kvm_userspace_exit on.
 * - sched_switch tells when a thread has its pCPU. One that was switched out while it could run is
 *   PREEMPTED, by what came next; a sleeping one is BLOCKED, and WAKING from sched_wakeup on; a
 *   dead one is OFFLINE. What it did before goes on when it is switched in.
 * - Every record tells which thread has its CPU. Before a CPU's first record nothing is known. A
 *   thread that is found on its pCPU without a word about its mode was in the guest if the next
 *   such word is an exit, else in the hypervisor. One that gets it by a switch is in the kernel.
 * - A record of the thread that sched_switch has just taken off its CPU is no news, until the next
 *   thread has a record: the switch is recorded before it is made. An entry or exit is news.
 * - What was not recorded is not known (kvm_recorded.h). Without entries, a vCPU is UNKNOWN between
 *   an exit and the next one on its pCPU; an exit that a switch or kvm_userspace_exit follows was
 *   HYPERVISOR until then, as no entry was between. Without exits, it is UNKNOWN from an entry to
 *   the next record that shows it in the kernel, and exits have neither number nor reason. As long
 *   as it has its pCPU, that is VIRT_INTERVAL_ON_PCPU. Without kvm_userspace_exit, HYPERVISOR
 *   includes the monitor's time. Without sched_wakeup, BLOCKED and OFFLINE include WAKING; that,
 *   and a wait of which a record of a missing kind would say whether the guest asked for it, is
 *   VIRT_INTERVAL_LOOSE. A preempted vCPU that gets another pCPU than the one it waited for has
 *   waited for nobody knows which.
 * - A contradiction is unknown time: an exit without an entry before it (KVM's fast path of VMX,
 *   Linux 5.8 to 5.11), or an entry, a switch or kvm_userspace_exit without an exit before it,
 *   shows that a record is missing. The vCPU is UNKNOWN since the last record about its mode, or
 *   since it got its pCPU.
 * - A vCPU is on one pCPU at a time. If it is seen on another one, or another thread on its own,
 *   without a switch, it has left after its last record there: from that on, nobody knows what it
 *   does, nor who has the pCPU, until something tells again. In a trace with sched_switch this is a
 *   contradiction as well: records are missing. So in every window, the time of a state on pCPUs is
 *   the same of all vCPUs and of all pCPUs.
 * - BLOCKED is VIRT_INTERVAL_UNASKED if the last exit is known not to be a wish to wait. HLT,
 *   PAUSE, MWAIT, WFx are, wherever the thread sleeps, in the kernel or in the monitor
 *   (KVM_EXIT_HLT), and so are hypercalls that yield or poll; of a hypercall without a record of
 *   its number nobody knows. Before the first exit there is nothing to be charged: another vCPU
 *   starts this one. What the monitor does after a signal has called it back from KVM_RUN (a
 *   machine that is paused or migrated), or after a failure, a reset or the end of the machine, is
 *   not what the exit has led to, nor is the sleep of a stopped process.
 * - A machine all of whose vCPUs have been called back from KVM_RUN by signals, and none of them
 *   let back since, is stopped by its monitor (paused, saved, migrated): its sleeping vCPUs are
 *   OFFLINE until they are woken. Without KVM_RUN, nobody knows when one is back, and they are
 *   BLOCKED.
 * - A vCPU that is woken before anything else is told of it has been BLOCKED since all CPUs are
 *   known, as it is on none of them.
 * - A vCPU whose guest waits is POLLING from where KVM begins to poll for an event until its thread
 *   sleeps or the event is there: kvm_vcpu_wakeup, recorded at the end of the wait, tells how long
 *   that was. Without this record, HYPERVISOR includes it.
 * - A thread that begins to exist was OFFLINE before.
 * - Where records of a CPU are lost, the vCPU that ran there and every one that does not run
 *   elsewhere are UNKNOWN, until something tells again; as long as any CPU's records are lost,
 *   nothing but running is certain.
 * - A trace without sched_switch does not tell what happens between exit and entry. As long as the
 *   thread is the only one that is seen on its CPU, HYPERVISOR and VMM are VIRT_INTERVAL_UNSPLIT;
 *   when it has left, and all of the time if the guest may have asked to wait or a signal has
 *   called the thread back, so that it probably slept, it is UNKNOWN with that flag. Such an exit
 *   has no known cost. Nothing is called PREEMPTED, BLOCKED or WAKING. Of other threads it is only
 *   known that they were there at the very moment of a record: pCPUs are unknown but for their
 *   vCPUs.
 * - A trace may have hypercalls alone, each from its exit to its entry as one record (KVM_WHOLE).
 *   Then a vCPU is HYPERVISOR meanwhile, and of the rest of its time nobody knows the state:
 *   without sched_switch not even whether it has a pCPU; with it, whether that is spent in the
 *   guest. Beside entries or exits, such records tell nothing.
 * - Between a nested entry and the exit that is handed to the guest's hypervisor, GUEST is
 *   VIRT_INTERVAL_NESTED, and the reasons of exits begin with "L2:".
 *
 * What ended a BLOCKED interval (virt_model_woken()), where the guest had asked to wait and its
 * vCPU slept in the kernel, is the first of these that is known:
 *
 * - DEVICE or VCPU: the first interrupt that somebody else has delivered to it since its last exit:
 *   KVM_ACCEPT by another vCPU's thread in the kernel is an IPI, by whoever else, a device's. Of
 *   several machines, only those are known that a vCPU delivers, or whoever wakes the vCPU up next
 *   on the same CPU: vCPUs have the same numbers in all of them.
 * - VCPU or TASK: who has the CPU where it is woken, if that is no interrupt and not the idle task:
 *   another vCPU of its machine in the kernel, or anybody else.
 * - TIMER: the interrupt that it delivers to itself before it enters the guest.
 * - INTERRUPT: with the vector that it enters the guest with; else, if KVM_WAKING was in one.
 *
 * It was SPURIOUS if it sleeps again for the same wish without having entered its guest. Of another
 * wait, only who has the CPU tells. Without KVM_WAKING, a wake-up from another CPU is found in the
 * idle task or in an interrupt of the CPU that the thread is woken on, and tells nobody. Halt
 * polling ends no BLOCKED interval: as long as KVM polls, the vCPU has its pCPU.
 *
 * Where the records are missing that would show something else, less is said: without KVM_ACCEPT,
 * INTERRUPT has no vector, as another one may have come first. Of several machines, the same holds
 * without KVM_WAKING of whatever is delivered. Without kvm_userspace_exit, no wait is SPURIOUS, but
 * UNKNOWN.
 *
 * Which thread is which machine's is told by the trace (trace-cmd's map of guests) or guessed: the
 * threads of a machine are made one after the other, by ascending vCPU number.
 *
 * So are its other threads: kvm_threads.c. The first of these that is known tells whose one is:
 *
 * - its process, which is that of the machine's vCPUs (kvm_tracker_add_thread());
 * - its name with the monitor's pid: "vhost-1472", "kvm-pit/1472"; that pid is a machine's whose
 *   first vCPU's thread is the next one that follows, and not far;
 * - who has made it: a thread of a machine's, and it has a name that a monitor gives;
 * - its number: behind the monitor's, not far from those of the vCPUs, and such a name. Where
 *   nothing tells a monitor's pid, it is the first thread with the name of one in that row. Not of
 *   threads that are made at any time, as workers: another machine may be made just then.
 */
#ifndef KSHARK_VIRT_KVM_TRACKER_H
#define KSHARK_VIRT_KVM_TRACKER_H

#include <stdint.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a record is. @value and @arg of struct kvm_event, where they mean something: */
enum kvm_event_kind {
	KVM_ENTRY,		/* arg: vCPU number, or VIRT_NONE */
	KVM_EXIT,		/* as KVM_ENTRY; value: reason; more: enum kvm_isa. With
				 * KVM_ISA_NONE, a reason below 0 is not told */
	KVM_USERSPACE_EXIT,	/* arg: KVM_EXIT_*, or VIRT_NONE; value: below 0 an error */
	KVM_NESTED_ENTRY,	/* the next entry is one into a guest's guest */
	KVM_NESTED_EXIT,	/* a guest's guest has left */
	KVM_NESTED_INJECT,	/* and its hypervisor will see that: it is entered next */
	KVM_SWITCH,		/* arg: next pid; value: prev_state */
	KVM_WAKEUP,		/* arg: woken pid; more: enum kvm_context */
	KVM_MIGRATE,		/* arg: pid; value: CPU that it goes to */
	KVM_SEEN,		/* some record of a thread */
	KVM_LOST,		/* from here on, records of this CPU are missing */
	KVM_FOUND,		/* the first one after them; value: how many, 0 if nobody knows */
	KVM_BORN,		/* arg: pid that begins to exist, and wants to run */
	KVM_TSC_OFFSET,		/* arg: as KVM_ENTRY; value: the offset */
	KVM_HYPERCALL,		/* value: number; arg: Xen's first argument; more: enum
				 * kvm_hypercall_abi */
	KVM_WAKING,		/* as KVM_WAKEUP, recorded by who wakes it */
	KVM_ACCEPT,		/* arg: number of the vCPU that an interrupt is delivered to; value:
				 * vector, or VIRT_NONE; more: enum kvm_context */
	KVM_IPI,		/* the next KVM_ACCEPT are an IPI; more: enum kvm_context */
	KVM_IRQ_LINE,		/* a device's interrupt; more: enum kvm_context */
	KVM_INJECT,		/* value: vector that the vCPU enters its guest with */
	KVM_WHOLE,		/* as KVM_ENTRY, recorded there: a hypercall; value: ns since its
				 * exit, or below 0: not told */
	KVM_RUN,		/* value: the monitor gives its vCPU to KVM; 0: it has it back */
	KVM_HALTED,		/* a vCPU's wait ends; value: ns that it has taken, in which KVM has
				 * polled for an event until its thread slept, if @more, or else all
				 * of the time */
};

/** Where a record was written: on behalf of its thread, or in an interrupt that came upon it. */
enum kvm_context { KVM_IN_TASK, KVM_IN_INTERRUPT };

/** prev_state of sched_switch, asleep if any of these is set; include/linux/sched.h of Linux. */
#define KVM_STATE_ASLEEP	0xff
#define KVM_STATE_STOPPED	(0x04 | 0x08)
#define KVM_STATE_DEAD		(0x10 | 0x20)
/** TASK_DEAD of Linux 2.6.39 to 4.13, else a parked thread of the kernel. */
#define KVM_STATE_DEAD_OR_PARKED	0x40

/** Whose numbers hypercalls are. */
enum kvm_hypercall_abi { KVM_HYPERCALL_KVM, KVM_HYPERCALL_HYPERV, KVM_HYPERCALL_XEN };

/**
 * Whose numbers exit reasons are: KVM_ISA_* of Linux's arch/x86/kvm/trace.h, and ours. There is
 * room for 7.
 */
enum kvm_isa {
	KVM_ISA_NONE = 0,	/* the event does not tell */
	KVM_ISA_VMX = 1,
	KVM_ISA_SVM = 2,
	KVM_ISA_ARM = 3,	/* value: ret << 32 | esr_ec */
	KVM_ISA_RISCV = 4,	/* value: 1 << 32 of an interrupt | scause without that bit */
	KVM_ISA_LOONGARCH = 5,	/* value: exception code */
	KVM_ISA_S390 = 6,	/* value: interception code */
};

/** A record that matters: 32 bytes. */
struct kvm_event {
	int64_t		time_ns;
	int64_t		value;
	int32_t		pid;		/* the thread that has the CPU; KVM_SWITCH: had it */
	int32_t		arg;
	int16_t		cpu;
	uint8_t		kind;		/* enum kvm_event_kind */
	uint8_t		more;
};

/** What KVM has set a vCPU's TSC to, in cycles: the guest's is the host's plus this. */
struct kvm_tsc_offset {
	int64_t		time_ns;
	int64_t		offset;
	int64_t		before;		/* what it was, if @has_before */
	int32_t		pid;		/* thread that had it set */
	int32_t		vcpu;		/* number, or VIRT_NONE */
	int16_t		cpu;		/* where it was recorded */
	bool		has_before;
};

struct kvm_tracker;

/** kvm_tracker_new - begin. Return: NULL without memory. */
struct kvm_tracker *kvm_tracker_new(void);

/** kvm_tracker_free - free a tracker, finished or not; it may be NULL. */
void kvm_tracker_free(struct kvm_tracker *tracker);

/**
 * kvm_tracker_add - take note of a record, the next one of its CPU
 *
 * One that lies before its CPU's last one is taken as if at the same time, and counted as a
 * contradiction.
 *
 * Return: 0, -ENOMEM, or -EINVAL for a CPU number below 0.
 */
int kvm_tracker_add(struct kvm_tracker *tracker, const struct kvm_event *event);

/**
 * kvm_tracker_seen - some record of a CPU, of whatever event
 *
 * Cheap if it tells nothing new. Not needed for records given to kvm_tracker_add().
 */
int kvm_tracker_seen(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns);

/**
 * kvm_tracker_lost - records of a CPU are missing before the one at @to_ns, which comes next
 * @count: how many; 0 if nobody knows
 */
int kvm_tracker_lost(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t to_ns,
		     uint64_t count);

/**
 * kvm_tracker_add_handler - what may interrupt a thread on its CPU, without a switch
 * @kind: enum virt_handler_kind
 *
 * Return: its number, the same each time; -ENOMEM, or -E2BIG: no more are told apart.
 */
int kvm_tracker_add_handler(struct kvm_tracker *tracker, int kind, const char *name);

/**
 * kvm_tracker_enter, kvm_tracker_leave - a handler begins, or ends, on a CPU
 * @handler: from kvm_tracker_add_handler(); below 0: one that is not told apart
 * @kind: the innermost handler ends, if it is of this kind; else records of it are missing
 *
 * As kvm_tracker_seen() besides. A handling of which the begin or the end is not there is not
 * told; nor is one that comes upon no vCPU's thread. It is told in pieces: virt_handlers.h.
 */
int kvm_tracker_enter(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
		      int handler);
int kvm_tracker_leave(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
		      int kind);

/** kvm_tracker_handled - the same, of one that is told when it is over, after @ns */
int kvm_tracker_handled(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			int handler, int64_t ns);

/**
 * kvm_tracker_idle_state - a CPU enters an idle state, or leaves it: VIRT_AWAKE of virt_power.h
 *
 * As kvm_tracker_seen() besides, as are the following.
 */
int kvm_tracker_idle_state(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			   int32_t state);

/** kvm_tracker_frequency - a CPU, which need not be the one that tells, is so fast from then on */
int kvm_tracker_frequency(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			  int64_t of_cpu, int64_t khz);

/** kvm_tracker_name_idle_state - as virt_model_name_idle_state(), before the model is there. */
int kvm_tracker_name_idle_state(struct kvm_tracker *tracker, int32_t state, const char *name);

/** Of a thread's name in the kernel, with its end. */
#define KVM_COMM_SIZE	16

/** kvm_tracker_name - what a thread is called; cheap if that is no news. Return: 0 or -ENOMEM. */
int kvm_tracker_name(struct kvm_tracker *tracker, int32_t pid, const char *comm);

/**
 * kvm_tracker_add_guest - a machine that the trace names
 * @tids: the thread of each vCPU; one that is not positive has none
 */
int kvm_tracker_add_guest(struct kvm_tracker *tracker, const char *name, const int32_t *tids,
			  int n_vcpus);

/** kvm_tracker_tsc_before - what the KVM_TSC_OFFSET that was added last has replaced */
void kvm_tracker_tsc_before(struct kvm_tracker *tracker, int64_t before);

/**
 * kvm_tracker_tsc_offsets - all that were set, each CPU's in order of time
 * @n: receives how many
 *
 * Return: an array that belongs to the tracker, until something is added.
 */
const struct kvm_tsc_offset *kvm_tracker_tsc_offsets(const struct kvm_tracker *tracker, size_t *n);

/**
 * kvm_tracker_add_thread - which process a thread belongs to
 *
 * Told of a vCPU's thread, it is that of its machine.
 *
 * Return: 0, -ENOMEM, or -EINVAL for a number that is none.
 */
int kvm_tracker_add_thread(struct kvm_tracker *tracker, int32_t tid, int32_t process);

/**
 * kvm_tracker_continue - a machine goes on in another process: a vCPU's thread as another one
 * @tid: of a vCPU; @later: from when it first enters or leaves its guest on
 *
 * As one that is restored from a file, or migrated within a host. Before, @later only works for the
 * machine; afterwards, @tid does.
 *
 * Return: 0, -ENOMEM, or -EINVAL for numbers that cannot be.
 */
int kvm_tracker_continue(struct kvm_tracker *tracker, int32_t tid, int32_t later);

/** kvm_tracker_clear_guests - forget all machines that were told. */
void kvm_tracker_clear_guests(struct kvm_tracker *tracker);

/** kvm_tracker_know_pcpus - the host has at least @n pCPUs, whether they have records or not. */
void kvm_tracker_know_pcpus(struct kvm_tracker *tracker, int n);

/**
 * kvm_tracker_finish - all records are there: make the model
 * @begin_ns, @end_ns: the span of the trace, as virt_model_finish() takes it
 * @model: receives the model, to be given to virt_model_free()
 *
 * May be called again, for another model of the same records.
 *
 * Return: 0, -ENOMEM, -EINVAL, or -E2BIG, see virt_model_add_machine().
 */
int kvm_tracker_finish(struct kvm_tracker *tracker, int64_t begin_ns, int64_t end_ns,
		       struct virt_model **model);

#ifdef __cplusplus
}
#endif
#endif
