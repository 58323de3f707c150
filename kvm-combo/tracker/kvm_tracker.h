/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_tracker.h
 * @brief	Build the vCPU model from the ftrace records of a KVM host.
 *
 * The tracker takes records CPU by CPU, those of each CPU in order of time. It interprets them when
 * all of them are there. The rules:
 *
 * - A thread that enters or leaves a guest, or has been in KVM_RUN, is a vCPU. It is GUEST from
 *   kvm_entry to kvm_exit, and HYPERVISOR from kvm_exit to the next kvm_entry, but VMM from
 *   kvm_userspace_exit on.
 * - sched_switch shows when a thread has its pCPU. A thread that is switched out while it could run
 *   is PREEMPTED by the thread that comes next. A sleeping thread is BLOCKED, and WAKING from
 *   sched_wakeup on. A dead thread is OFFLINE. When a thread is switched in, it continues what it
 *   did before.
 * - Every record shows which thread has its CPU. Before the first record of a CPU, nothing is
 *   known. A thread may be found on its pCPU without a record about its mode: it was in the guest
 *   if the next record about its mode is an exit, else in the hypervisor. A thread that gets its
 *   pCPU by a switch is in the kernel.
 * - sched_switch is recorded before the switch is made. Therefore a record of the thread that
 *   sched_switch has just taken off its CPU does not show that the thread has the CPU, until the
 *   next thread has a record. An entry or exit shows it.
 * - Events that were not recorded are unknown (kvm_recorded.h). Without entries, a vCPU is UNKNOWN
 *   between an exit and the next exit on its pCPU. If a switch or kvm_userspace_exit follows an
 *   exit, the vCPU was HYPERVISOR until then, as no entry was between. Without exits, a vCPU is
 *   UNKNOWN from an entry to the next record that shows it in the kernel, and exits have neither
 *   number nor reason. As long as the vCPU has its pCPU, such UNKNOWN time is
 *   VIRT_INTERVAL_ON_PCPU. Without kvm_userspace_exit, HYPERVISOR includes the monitor's time.
 *   Without sched_wakeup, BLOCKED and OFFLINE include WAKING and are VIRT_INTERVAL_LOOSE. A wait is
 *   VIRT_INTERVAL_LOOSE, too, if a record of a missing kind would show whether the guest asked for
 *   it. If a preempted vCPU gets another pCPU than the one it waited for, the culprit is unknown.
 * - A contradiction is unknown time. A record is missing before an exit without an entry before it
 *   (KVM's fast path of VMX, Linux 5.8 to 5.11), and before an entry, a switch or
 *   kvm_userspace_exit without an exit before it. The vCPU is UNKNOWN since the last record about
 *   its mode, or since it got its pCPU.
 * - A vCPU is on one pCPU at a time. If it is seen on another pCPU, or another thread on its own,
 *   without a switch, it has left after its last record there. From that record on, the state of
 *   the vCPU and the thread on the pCPU are unknown, until a record shows them again. In a trace
 *   with sched_switch this is a contradiction as well: records are missing. Therefore, in every
 *   window, the sum of the time of a state on pCPUs over all vCPUs equals the sum over all pCPUs.
 * - BLOCKED is VIRT_INTERVAL_UNASKED if the last exit is known not to be a wish to wait. HLT,
 *   PAUSE, MWAIT and WFx are such a wish, whether the thread sleeps in the kernel or in the monitor
 *   (KVM_EXIT_HLT), and so are hypercalls that yield or poll. For a hypercall without a record of
 *   its number, this is unknown. Before the first exit, no exit is the cause of a sleep: another
 *   vCPU starts this one. No exit is the cause of the work that the monitor does after a signal has
 *   called the thread back from KVM_RUN (to pause or migrate the machine), or after a failure, a
 *   reset or the end of the machine.
 * - A thread that a signal (SIGSTOP) or a debugger has stopped is OFFLINE until it is woken.
 * - A machine is stopped by its monitor (paused, saved, migrated) if signals have called all of its
 *   vCPUs back from KVM_RUN, and none of them has been let back since. Its sleeping vCPUs are
 *   OFFLINE until they are woken. Without KVM_RUN, the moment when a vCPU is back is unknown, and
 *   the sleeping vCPUs are BLOCKED.
 * - If the first record about a vCPU is its wake-up, the vCPU has been BLOCKED since the threads on
 *   all CPUs are known, as it is none of these.
 * - A vCPU whose guest waits is POLLING from the moment when KVM begins to poll for an event, until
 *   its thread sleeps or the event is there. kvm_vcpu_wakeup, recorded at the end of the wait,
 *   shows the length of the wait. Without this record, HYPERVISOR includes this time.
 * - A thread that begins to exist was OFFLINE before.
 * - Where records of a CPU are lost, the vCPU that ran there and every vCPU that does not run
 *   elsewhere are UNKNOWN, until a record shows their state again. As long as any CPU's records are
 *   lost, nothing but running is certain.
 * - A trace without sched_switch does not show what happens between exit and entry. As long as the
 *   thread is the only one that is seen on its CPU, HYPERVISOR and VMM are VIRT_INTERVAL_UNSPLIT.
 *   When the thread has left, the vCPU is UNKNOWN with that flag. It is UNKNOWN with that flag all
 *   of the time if the guest may have asked to wait, or if a signal has called the thread back,
 *   because the thread probably slept. Such an exit has no known cost. No time is PREEMPTED,
 *   BLOCKED or WAKING. A record of another thread shows only that this thread had the pCPU at the
 *   very moment of the record: pCPUs are unknown except for their vCPUs.
 * - A trace may have only hypercalls, each from its exit to its entry as one record (KVM_WHOLE).
 *   Then a vCPU is HYPERVISOR during a hypercall, and its state is unknown for the rest of its
 *   time. Without sched_switch, it is also unknown whether the vCPU has a pCPU; with sched_switch,
 *   whether it spends its time there in the guest. In a trace with entries or exits, such a record
 *   shows only which thread has the CPU.
 * - Between a nested entry and the exit that is handed to the guest's hypervisor, GUEST is
 *   VIRT_INTERVAL_NESTED, and the reasons of exits begin with "L2:".
 *
 * A BLOCKED interval in which the guest had asked to wait and its vCPU slept in the kernel has a
 * cause that ended it (virt_model_woken()). The cause is the first of these that is known:
 *
 * - DEVICE or VCPU: the first interrupt that another thread has delivered to it since its last
 *   exit. KVM_ACCEPT by another vCPU's thread in the kernel is an IPI; by any other thread, it is a
 *   device's interrupt, as is KVM_IRQ_LINE with KVM_LINE_OF_WOKEN before the wake-up. In a trace
 *   with several machines, the receiver is known only if a vCPU delivers the interrupt, or if the
 *   thread that delivers it wakes the vCPU up next, on the same CPU: vCPUs have the same numbers in
 *   all machines.
 * - VCPU or TASK: the thread that has the CPU where it is woken, if that is no interrupt and not
 *   the idle task. VCPU is another vCPU of its machine in the kernel, TASK is any other thread.
 * - TIMER: the interrupt that it delivers to itself before it enters the guest.
 * - INTERRUPT: with the vector that it enters the guest with; else, without a vector, if KVM_WAKING
 *   was in an interrupt.
 *
 * The wake-up was SPURIOUS if the vCPU sleeps again for the same wish without having entered its
 * guest. For all other BLOCKED intervals (the guest had not asked to wait, or its vCPU did not
 * sleep in the kernel), only the thread that has the CPU shows the cause. Without KVM_WAKING, a
 * wake-up from another CPU is found in the idle task or in an interrupt of the CPU that the thread
 * is woken on, and does not show the waker. Halt polling ends no BLOCKED interval: as long as KVM
 * polls, the vCPU has its pCPU.
 *
 * Where records are missing that would show another cause, the result is less exact. Without
 * KVM_ACCEPT, INTERRUPT has no vector, as another interrupt may have come first. In a trace with
 * several machines and without KVM_WAKING, the same holds for every delivered interrupt. Without
 * kvm_userspace_exit, a wait is UNKNOWN instead of SPURIOUS.
 *
 * The argument of an exit, which shows what the exit was for (virt_model_set_argument()), comes
 * from the first KVM_ARGUMENT or KVM_HYPERCALL of its vCPU's thread between the exit and the entry,
 * in the kernel or after the monitor, that shows arguments of exits of its reason:
 * exit_arguments.h.
 *
 * Records of the vCPU's thread show the host's work during an exit for memory (virt_model_saw()),
 * from the exit until it enters its guest or goes to the monitor; records of interrupts do not.
 * The thread that wakes it up shows that, too, if it is in an ioctl of userfaultfd.
 *
 * The trace records the machine of each vCPU's thread (trace-cmd's map of guests), or the tracker
 * guesses it: the threads of a machine are made one after the other, by ascending vCPU number.
 *
 * The machine of any other thread is recorded or guessed, too (kvm_threads.c). The first of these
 * that is known decides:
 *
 * - the thread's process, which is that of the machine's vCPUs (kvm_tracker_add_thread());
 * - its name with the monitor's pid: "vhost-1472", "kvm-pit/1472". The pid belongs to the machine
 *   whose first vCPU's thread follows next, and is not far;
 * - the thread that made it, if that is a thread of a machine, and the new thread has a name that a
 *   monitor gives;
 * - its number, if it is above the monitor's and not far from those of the vCPUs, and such a name.
 *   If nothing shows the pid of a monitor, the monitor is the first thread with the name of one in
 *   this row of numbers. This does not apply to threads that are made at any time, such as workers:
 *   another machine may be made just then.
 */
#ifndef KSHARK_VIRT_KVM_TRACKER_H
#define KSHARK_VIRT_KVM_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "virt_model.h"
#include "virt_regions.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a record is. @value and @arg of struct kvm_event, where they mean something: */
enum kvm_event_kind {
	KVM_ENTRY,		/* arg: vCPU number, or VIRT_NONE */
	KVM_EXIT,		/* as KVM_ENTRY; value: reason; more: enum kvm_isa. With
				 * KVM_ISA_NONE, a reason below 0 is unknown */
	KVM_USERSPACE_EXIT,	/* arg: KVM_EXIT_*, or VIRT_NONE; value: below 0 an error */
	KVM_NESTED_ENTRY,	/* the next entry is one into a guest's guest */
	KVM_NESTED_EXIT,	/* a guest's guest has left */
	KVM_NESTED_INJECT,	/* and its hypervisor will see that: it is entered next */
	KVM_SWITCH,		/* arg: next pid; value: prev_state */
	KVM_WAKEUP,		/* arg: woken pid; value: CPU that it will have, or VIRT_NONE; more:
				 * enum kvm_context */
	KVM_MIGRATE,		/* arg: pid; value: CPU that it goes to */
	KVM_SEEN,		/* some record of a thread */
	KVM_LOST,		/* from here on, records of this CPU are missing */
	KVM_FOUND,		/* the first one after them; value: how many, 0 if unknown */
	KVM_BORN,		/* arg: pid that begins to exist, and wants to run */
	KVM_TSC_OFFSET,		/* arg: as KVM_ENTRY; value: the offset */
	KVM_HYPERCALL,		/* value: number; arg: Xen's first argument; more: enum
				 * kvm_hypercall_abi */
	KVM_WAKING,		/* as KVM_WAKEUP, recorded by the waker */
	KVM_ACCEPT,		/* arg: number of the vCPU that an interrupt is delivered to; value:
				 * vector, or VIRT_NONE; more: enum kvm_context */
	KVM_IPI,		/* the next KVM_ACCEPT are an IPI; more: enum kvm_context */
	KVM_IRQ_LINE,		/* a device's interrupt; value: KVM_LINE_OF_WOKEN, or 0, if
				 * KVM_ACCEPT shows its vCPU; more: enum kvm_context */
	KVM_INJECT,		/* value: vector that the vCPU enters its guest with */
	KVM_WHOLE,		/* as KVM_ENTRY, recorded there: a hypercall; value: ns since its
				 * exit, or below 0: unknown */
	KVM_RUN,		/* value: the monitor gives its vCPU to KVM; 0: it has it back */
	KVM_HALTED,		/* a vCPU's wait ends; value: its length in ns. KVM polled for an
				 * event until the vCPU's thread slept, if @more, or else all of the
				 * time */
	KVM_EXCEPTION,		/* a vCPU enters its guest with an exception */
	KVM_ARGUMENT,		/* an argument of the vCPU's exit: value; more: its enum
				 * exit_argument_kind. Bits of a page's number below its size:
				 * KVM_PAGE_SHARED */
	KVM_SAW,		/* what a vCPU's thread did in the kernel. value: enum exit_seen, or
				 * 0; arg: enum virt_record_kind; more: enum kvm_context */
	KVM_READ_BEGINS,	/* a thread asks a block device. value: sector; arg: number of the
				 * device, as virt_block.h has it; more: enum kvm_context */
	KVM_READ_ENDS,		/* value: sector | number of sectors << 48; arg: device */
	KVM_USERFAULT,		/* value: a thread supplies pages of userfaultfd in an ioctl; 0: an
				 * ioctl ends */
	KVM_EXPIRED,		/* a timer expires; value: the address of its function */
	KVM_N_KINDS
};

/** KVM_ARGUMENT of a page: the guest wrote to one that it had, but only for reading. */
#define KVM_PAGE_SHARED	1

/** KVM_READ_ENDS: bits of a sector's number. */
#define KVM_SECTOR_BITS	48

/** Where a record was written: on behalf of its thread, or in an interrupt that came upon it. */
enum kvm_context { KVM_IN_TASK, KVM_IN_INTERRUPT };

/** Bits of prev_state of sched_switch; include/linux/sched.h of Linux. */
#define KVM_STATE_INTERRUPTIBLE		0x01
#define KVM_STATE_UNINTERRUPTIBLE	0x02
#define KVM_STATE_SIGNALLED		0x04
#define KVM_STATE_TRACED		0x08
#define KVM_STATE_EXITED		0x10
#define KVM_STATE_ZOMBIE		0x20
/** TASK_DEAD of Linux 2.6.39 to 4.13, else a parked thread of the kernel. */
#define KVM_STATE_DEAD_OR_PARKED	0x40
#define KVM_STATE_IDLE			0x80

/** A thread is in such a state if any of these bits is set. */
#define KVM_STATE_ASLEEP	0xff
#define KVM_STATE_STOPPED	(KVM_STATE_SIGNALLED | KVM_STATE_TRACED)
#define KVM_STATE_DEAD		(KVM_STATE_EXITED | KVM_STATE_ZOMBIE)

/** The ABI that the number of a hypercall belongs to. */
enum kvm_hypercall_abi { KVM_HYPERCALL_KVM, KVM_HYPERCALL_HYPERV, KVM_HYPERCALL_XEN };

/**
 * KVM_IRQ_LINE: if the same thread wakes a vCPU next, in the same context, the interrupt is for
 * this one.
 */
#define KVM_LINE_OF_WOKEN	1

/**
 * The ISA that the number of an exit reason belongs to: KVM_ISA_* of Linux's
 * arch/x86/kvm/trace.h, and ours. There is room for 7.
 */
enum kvm_isa {
	KVM_ISA_NONE = 0,	/* the event does not show it */
	KVM_ISA_VMX = 1,
	KVM_ISA_SVM = 2,
	KVM_ISA_ARM = 3,	/* value: ret << 32 | esr_ec */
	KVM_ISA_RISCV = 4,	/* value: 1 << 32 of an interrupt | scause without that bit */
	KVM_ISA_LOONGARCH = 5,	/* value: exception code */
	KVM_ISA_S390 = 6,	/* value: interception code */
	KVM_ISA_POWER = 7,	/* value: trap */
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

/** kvm_event_is_sched - is it a kind of record of Linux's scheduler, system "sched"? */
static inline bool kvm_event_is_sched(uint8_t kind)
{
	return kind == KVM_SWITCH || kind == KVM_WAKING || kind == KVM_WAKEUP ||
	       kind == KVM_BORN || kind == KVM_MIGRATE;
}

/** A TSC offset that KVM has set for a vCPU, in cycles: guest's TSC = host's TSC + this. */
struct kvm_tsc_offset {
	int64_t		time_ns;
	int64_t		offset;
	int64_t		before;		/* the offset until then, if @has_before */
	int32_t		pid;		/* the thread that had KVM set it */
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
 * A record that lies before the last one of its CPU is taken as if at the same time, and counted as
 * a contradiction.
 *
 * Return: 0, -ENOMEM, or -EINVAL for a CPU number below 0.
 */
int kvm_tracker_add(struct kvm_tracker *tracker, const struct kvm_event *event);

/**
 * kvm_tracker_seen - a record of a CPU, of any event
 *
 * The call is cheap if the record shows nothing new. Records given to kvm_tracker_add() do not need
 * it.
 */
int kvm_tracker_seen(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns);

/**
 * kvm_tracker_lost - records of a CPU are missing before the one at @to_ns, which comes next
 * @count: how many; 0 if unknown
 */
int kvm_tracker_lost(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t to_ns,
		     uint64_t count);

/**
 * kvm_tracker_add_handler - a handler that may interrupt a thread on its CPU, without a switch
 * @kind: enum virt_handler_kind
 *
 * Return: its number, the same each time; -ENOMEM; or -E2BIG: no further handler gets a number.
 */
int kvm_tracker_add_handler(struct kvm_tracker *tracker, int kind, const char *name);

/**
 * kvm_tracker_enter, kvm_tracker_leave - a handler begins, or ends, on a CPU
 * @handler: from kvm_tracker_add_handler(); below 0: a handler without a number
 * @kind: the innermost handler ends, if it is of this kind; else records of it are missing
 *
 * Both functions also do the work of kvm_tracker_seen(). The model gets a handling in pieces:
 * virt_handlers.h. The model does not get a handling whose begin or end is missing, or one that
 * interrupts a thread other than a vCPU's.
 */
int kvm_tracker_enter(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
		      int handler);
int kvm_tracker_leave(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
		      int kind);

/** kvm_tracker_handled - the same, for a handler that is recorded at its end, after @ns */
int kvm_tracker_handled(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			int handler, int64_t ns);

/**
 * kvm_tracker_idle_state - a CPU enters an idle state, or leaves it: VIRT_AWAKE of virt_power.h
 *
 * This function and the following one also do the work of kvm_tracker_seen().
 */
int kvm_tracker_idle_state(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			   int32_t state);

/** kvm_tracker_frequency - from @time_ns on, @of_cpu runs at @khz; @cpu has the record */
int kvm_tracker_frequency(struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns,
			  int64_t of_cpu, int64_t khz);

/** kvm_tracker_name_idle_state - as virt_model_name_idle_state(), before the model exists. */
int kvm_tracker_name_idle_state(struct kvm_tracker *tracker, int32_t state, const char *name);

/** The size of a thread's name in the kernel, with the NUL at its end. */
#define KVM_COMM_SIZE	16

/** kvm_tracker_name - the name of a thread; cheap if it is not new. Return: 0 or -ENOMEM. */
int kvm_tracker_name(struct kvm_tracker *tracker, int32_t pid, const char *comm);

/**
 * kvm_tracker_add_region - a device of the machine that kvm_tracker_add_guest() added last
 * @region: as for virt_model_add_region(); its name is copied
 *
 * Return: 0, -ENOMEM, or -EINVAL: there is no machine, or one more than DEVICE_MAX_REGIONS.
 */
int kvm_tracker_add_region(struct kvm_tracker *tracker, const struct device_region *region);

/**
 * kvm_tracker_add_guest - a machine that the trace names
 * @tids: the thread of each vCPU; one that is not positive has none
 */
int kvm_tracker_add_guest(struct kvm_tracker *tracker, const char *name, const int32_t *tids,
			  int n_vcpus);

/** kvm_tracker_tsc_before - the offset that the last added KVM_TSC_OFFSET has replaced */
void kvm_tracker_tsc_before(struct kvm_tracker *tracker, int64_t before);

/**
 * kvm_tracker_tsc_offsets - all TSC offsets that were set, each CPU's in order of time
 * @n: receives how many
 *
 * Return: an array that belongs to the tracker, until something is added.
 */
const struct kvm_tsc_offset *kvm_tracker_tsc_offsets(const struct kvm_tracker *tracker, size_t *n);

/**
 * kvm_tracker_add_thread - the process that a thread belongs to
 *
 * The process of a vCPU's thread is that of its machine.
 *
 * Return: 0, -ENOMEM, or -EINVAL for a number that no thread or process can have.
 */
int kvm_tracker_add_thread(struct kvm_tracker *tracker, int32_t tid, int32_t process);

/**
 * kvm_tracker_continue - a machine goes on in another process: a vCPU's thread as another one
 * @tid: of a vCPU; @later: the vCPU's thread from its first entry or exit on
 *
 * Such a machine was restored from a file, or migrated within a host. Before, @later only works for
 * the machine; afterwards, @tid does.
 *
 * Return: 0, -ENOMEM, or -EINVAL for impossible numbers.
 */
int kvm_tracker_continue(struct kvm_tracker *tracker, int32_t tid, int32_t later);

/** Whether a CPU quota of cgroups limits a thread, by its cgroup or one above. */
enum kvm_quota { KVM_QUOTA_UNKNOWN, KVM_QUOTA_NONE, KVM_QUOTA_LIMITED };

/** kvm_tracker_limit - whether a quota limits a thread. Return: 0, -ENOMEM, or -EINVAL. */
int kvm_tracker_limit(struct kvm_tracker *tracker, int32_t tid, enum kvm_quota quota);

/** Functions of the timers that let threads run again which a quota holds. */
#define KVM_QUOTA_TIMERS	2

/**
 * kvm_tracker_quota_timers - KVM_EXPIRED is there whenever such a timer expires
 * @functions: their addresses; 0 stands for none
 */
void kvm_tracker_quota_timers(struct kvm_tracker *tracker,
			      const uint64_t functions[KVM_QUOTA_TIMERS]);

/** kvm_tracker_clear_guests - forget all machines of kvm_tracker_add_guest(). */
void kvm_tracker_clear_guests(struct kvm_tracker *tracker);

/** kvm_tracker_know_pcpus - the host has at least @n pCPUs, whether they have records or not. */
void kvm_tracker_know_pcpus(struct kvm_tracker *tracker, int n);

/** kvm_tracker_brief - models are to be as virt_model_brief() makes them. */
void kvm_tracker_brief(struct kvm_tracker *tracker);

/**
 * kvm_tracker_once - kvm_tracker_finish() will be called once
 *
 * It gives back the memory of records then, as soon as they are in the model.
 */
void kvm_tracker_once(struct kvm_tracker *tracker);

/**
 * kvm_tracker_finish - make the model from all records
 * @begin_ns, @end_ns: the span of the trace, as virt_model_finish() takes it
 * @model: receives the model, to be given to virt_model_free()
 *
 * A caller may call it again, for another model of the same records, unless it has called
 * kvm_tracker_once().
 *
 * Return: 0, -ENOMEM, -EINVAL, or -E2BIG, see virt_model_add_machine().
 */
int kvm_tracker_finish(struct kvm_tracker *tracker, int64_t begin_ns, int64_t end_ns,
		       struct virt_model **model);

#ifdef __cplusplus
}
#endif
#endif
