/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_model.h
 * @brief	The vCPU model: the state of every virtual CPU of a trace at every moment.
 *
 * A tracker (one per hypervisor) fills a model once, in order of time. After virt_model_finish()
 * the model never changes, and any number of threads may query it at the same time. The model knows
 * neither trace formats nor KernelShark.
 *
 * Times are ns on the trace's own axis. A vCPU's life is a gapless sequence of intervals
 * [start, end): each one ends where the next begins, the last one at virt_model_end().
 * Windows are half-open: [from, to); time outside the trace does not count.
 */
#ifndef KSHARK_VIRT_VIRT_MODEL_H
#define KSHARK_VIRT_VIRT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a vCPU does. The tracker decides which records lead to which state. */
enum virt_state {
	VIRT_GUEST = 0,		/* executing guest code */
	VIRT_HYPERVISOR,	/* on its pCPU, the hypervisor works for it */
	VIRT_POLLING,		/* on its pCPU, wants nothing: the hypervisor polls for an event
				 * before it lets the vCPU sleep (KVM's halt polling) */
	VIRT_VMM,		/* on its pCPU, the user-space monitor works for it */
	VIRT_PREEMPTED,		/* wants to run, was running, has no pCPU: steal */
	VIRT_WAKING,		/* wants to run after a wake-up, not yet on a pCPU */
	VIRT_BLOCKED,		/* waits for an event */
	VIRT_DEVICE_MODEL,	/* Xen: waits for the answer of its device model, in another domain,
				 * to a VM exit; the guest did not ask for this wait */
	VIRT_OFFLINE,		/* not there: paused, not yet created, destroyed; on Xen also a
				 * wait for the device model, if the trace does not show which */
	VIRT_UNKNOWN,		/* the trace does not show the state */
	VIRT_N_STATES
};

/** Number of states in which a vCPU holds a pCPU; these states come first. */
#define VIRT_N_PCPU_STATES	(VIRT_VMM + 1)

/** virt_state_on_pcpu - does a vCPU in this state hold a pCPU? */
static inline bool virt_state_on_pcpu(unsigned int state)
{
	return state < VIRT_N_PCPU_STATES;
}

/** No pCPU, no vCPU, no reason. */
#define VIRT_NONE	(-1)

/**
 * What a model can have: more than any host will ever have. A machine takes the most memory, as it
 * comes with a vCPU.
 */
#define VIRT_MAX_MACHINES	200000
#define VIRT_MAX_VCPUS		400000
#define VIRT_MAX_REASONS	400000

/** Culprits that are not listed separately, see virt_vcpu_culprits(). */
#define VIRT_OTHERS	(-2)

/**
 * The interval begins with a VM exit; its @detail is the exit reason (if its state can have one).
 * No exit gets lost: when something else happens at the same ns, its interval has length 0. A GUEST
 * interval has none: an exit leads out of guest code.
 */
#define VIRT_INTERVAL_EXIT	(1 << 0)
/** First run on a pCPU other than the last one. The model finds them, trackers do not set it. */
#define VIRT_INTERVAL_MIGRATED	(1 << 1)
/** GUEST: a guest of this guest executes (L2). */
#define VIRT_INTERVAL_NESTED	(1 << 2)
/** OFFLINE: a signal (SIGSTOP) or a debugger has stopped the thread. */
#define VIRT_INTERVAL_SIGNAL	VIRT_INTERVAL_NESTED
/** HYPERVISOR, VMM: between a VM exit and the next entry, in a trace that does not show who has a
 * pCPU: part of it may have been another state. UNKNOWN: the same, if the vCPU has probably slept
 * or has been on another pCPU: it is not known whether it had a pCPU at all. */
#define VIRT_INTERVAL_UNSPLIT	(1 << 3)
/** BLOCKED, OFFLINE: the guest did not ask for this wait; the device model's or the monitor's
 * answer to a VM exit is waited for, say. It is a cost of that exit. DEVICE_MODEL always is. */
#define VIRT_INTERVAL_UNASKED	(1 << 4)
/** UNKNOWN: it begins with an entry into the guest; how long the guest ran is unknown. */
#define VIRT_INTERVAL_ENTERED	(1 << 5)

/** UNKNOWN: the vCPU has its pCPU; what it does there is unknown. Counts of runs, of pCPUs and of
 * the machine take it as running. */
#define VIRT_INTERVAL_ON_PCPU	(1 << 6)
/** BLOCKED, OFFLINE: the trace does not say how much of it was WAKING, or whether the guest asked
 * for this wait: records of a kind are missing. The exit before it has no known cost. */
#define VIRT_INTERVAL_LOOSE	(1 << 7)

/**
 * A task of the host that is no vCPU can have or take a pCPU, too: it has a number from here on,
 * which virt_model_add_task() returns.
 */
#define VIRT_FIRST_TASK		(1 << 30)

/** One interval of a vCPU: 16 bytes. */
struct virt_interval {
	int64_t		start_ns;
	int32_t		detail;	/* GUEST, HYPERVISOR, POLLING, VMM: exit reason, or
				 * VIRT_NONE; PREEMPTED: global index of the vCPU that took the
				 * pCPU, a task, or VIRT_NONE; BLOCKED: what ended it
				 * (virt_model_wake()), or VIRT_NONE; else VIRT_NONE */
	int16_t		pcpu;	/* where it is, or where it was last; VIRT_NONE if unknown */
	uint8_t		state;	/* enum virt_state */
	uint8_t		flags;	/* VIRT_INTERVAL_... */
};

/** What ended a BLOCKED interval. The tracker defines which records show it. */
enum virt_wake_cause {
	VIRT_WAKE_UNKNOWN = 0,	/* the trace does not show it */
	VIRT_WAKE_TIMER,	/* a timer of the vCPU's own */
	VIRT_WAKE_DEVICE,	/* the interrupt of a device; @who delivered it */
	VIRT_WAKE_VCPU,		/* another vCPU, @who: an IPI, an event channel */
	VIRT_WAKE_INTERRUPT,	/* an interrupt of unknown origin */
	VIRT_WAKE_TASK,		/* @who, on purpose: a task of the host, or a vCPU's monitor */
	VIRT_WAKE_SPURIOUS,	/* @who woke it, and it slept on without guest code between */
	VIRT_WAKE_OPEN,		/* nothing: the trace does not show its end; no tracker says so */
	VIRT_N_WAKES
};

/** The cause of a wake-up of a vCPU. */
struct virt_wake {
	int32_t		who;		/* a vCPU's global index, a task, or VIRT_NONE */
	int16_t		vector;		/* of the interrupt, as the guest gets it, or VIRT_NONE */
	uint8_t		cause;		/* enum virt_wake_cause */
	uint8_t		reserved;	/* 0 */
};

/**
 * virt_interval_is_lost - is it completely unknown what the vCPU did?
 *
 * An UNKNOWN interval with VIRT_INTERVAL_UNSPLIT is not lost: the vCPU did not execute guest code.
 */
static inline bool virt_interval_is_lost(const struct virt_interval *interval)
{
	return interval->state == VIRT_UNKNOWN && !(interval->flags & VIRT_INTERVAL_UNSPLIT);
}

/** The vCPU or task on a pCPU from a time on: 16 bytes. */
struct virt_occupant {
	int64_t		start_ns;
	int32_t		vcpu;	/* global index, or a task; VIRT_NONE: idle, or see @known */
	int32_t		known;	/* 0: unknown (lost records, before the first one) */
};

/** A migration. */
struct virt_migration {
	int64_t		time_ns;	/* first run on the new pCPU */
	int64_t		gap_ns;		/* since the end of the last run on the old one */
	int32_t		vcpu;		/* global index */
	int16_t		from, to;	/* pCPUs */
};

/** A stretch of lost records on one pCPU. */
struct virt_loss {
	int64_t		from_ns, to_ns;
	uint64_t	records;	/* 0: not counted (damage) */
	int16_t		pcpu;
};

/**
 * What the vCPUs of a machine do together, as xenalyze defines it (domain runstates). GUEST,
 * HYPERVISOR, POLLING and VMM run; PREEMPTED and WAKING want to; BLOCKED, DEVICE_MODEL and OFFLINE
 * do not.
 * UNKNOWN ones are left out as long as there is another one, unless VIRT_INTERVAL_ON_PCPU says that
 * they run; but with one that is VIRT_INTERVAL_UNSPLIT, the state of the machine is unknown.
 */
enum virt_machine_state {
	VIRT_M_FULL_RUN = 0,		/* all run */
	VIRT_M_PARTIAL_RUN,		/* some run, the others do not want to */
	VIRT_M_CONCURRENCY_HAZARD,	/* some run, some want to */
	VIRT_M_PARTIAL_CONTENTION,	/* none runs, some want to, some do not */
	VIRT_M_FULL_CONTENTION,		/* none runs, all want to */
	VIRT_M_BLOCKED,			/* none wants to run */
	VIRT_M_LOST,			/* all are unknown, or one is not split */
	VIRT_M_N_STATES
};

struct virt_machine_interval {
	int64_t		start_ns;
	int32_t		state;		/* enum virt_machine_state */
	int32_t		reserved;
};

/** A machine: a VM or a Xen domain. Strings belong to the model. */
struct virt_machine {
	int32_t		id;		/* Xen: domid; KVM: numbered */
	const char	*name;		/* "d1", "d1:burny", "g1" */
	int32_t		n_vcpus;
	const int32_t	*vcpus;		/* global indices, ascending by vCPU number */
	int64_t		ended_ns;	/* from then on, it is no more; VIRT_NO_END */
};

/** The end of a machine that has not ended, as far as the trace shows. */
#define VIRT_NO_END	INT64_MAX

/** A vCPU. */
struct virt_vcpu {
	int32_t		machine;	/* index */
	int32_t		id;		/* number within the machine */
	int32_t		host_pid;	/* its pid in the stream: KVM tid; Xen (domid+1)*10000+id */
	const char	*name;		/* "d1v0" */
	double		tsc_scale;	/* guest's TSC = host's TSC * tsc_scale + tsc_offset, */
	int64_t		tsc_offset;	/* modulo 2^64; tsc_scale 0: not known */
};

/** A vCPU's TSC is set: KVM's kvm_write_tsc_offset. */
struct virt_tsc_write {
	int64_t		time_ns;
	int64_t		offset;		/* from then on, as tsc_offset of struct virt_vcpu */
	int64_t		before;		/* before that, if @has_before */
	int32_t		vcpu;		/* global index */
	int16_t		pcpu;		/* where it was recorded */
	bool		has_before;
};

/** virt_tsc_jump - by how many cycles a write has put the guest's TSC forward */
static inline int64_t virt_tsc_jump(const struct virt_tsc_write *write)
{
	return (int64_t)((uint64_t)write->offset - (uint64_t)write->before);
}

/** What a thread of a machine's does for it. */
enum virt_thread_kind {
	VIRT_THREAD_OTHER = 0,
	VIRT_THREAD_MAIN,		/* the monitor's main loop */
	VIRT_THREAD_IOTHREAD,		/* devices' requests */
	VIRT_THREAD_CONTROL,		/* commands to the monitor */
	VIRT_THREAD_VHOST,		/* devices, in the host's kernel */
	VIRT_THREAD_PIT,		/* the timer that KVM emulates */
	VIRT_THREAD_PAGES,		/* KVM makes huge pages whole again */
	VIRT_THREAD_WORKER,		/* of the monitor's pool */
	VIRT_THREAD_MIGRATION,
	VIRT_THREAD_RCU,		/* the monitor's own housekeeping */
	VIRT_THREAD_N_KINDS
};

/** Evidence that a thread belongs to a machine; the best evidence comes first. */
enum virt_thread_source {
	VIRT_THREAD_OF_SIDECAR = 0,	/* the monitor's process has it, says the sidecar */
	VIRT_THREAD_OF_NAME,		/* its name has the monitor's pid */
	VIRT_THREAD_OF_MAKER,		/* one of the machine's has made it, and the name fits */
	VIRT_THREAD_OF_ROW,		/* guessed: made in a row with the vCPUs, and name fits */
	VIRT_THREAD_N_SOURCES
};

/** A task of the host that is no vCPU. */
struct virt_task {
	int32_t		pid;
	const char	*name;		/* "kworker/2:1-1234"; one of a machine's is named by it:
					 * "web's iothread-1234" */
	const char	*thread;	/* as the host calls it: "IO iothread0-1234" */
	int32_t		machine;	/* index of the one that it works for; or VIRT_NONE */
	uint8_t		kind;		/* if so: enum virt_thread_kind, */
	uint8_t		source;		/* enum virt_thread_source */
};

/** What a VM exit is about: reasons of one class have one colour. */
enum virt_exit_class {
	VIRT_EXIT_OTHER = 0,
	VIRT_EXIT_HALT,			/* the guest waits: HLT, PAUSE, MWAIT, WFx */
	VIRT_EXIT_INTERRUPT,		/* interrupts, NMIs, windows for them, preemption timer */
	VIRT_EXIT_MEMORY,		/* page tables: EPT, NPF, MMIO, INVLPG, CR3 */
	VIRT_EXIT_IO,			/* port I/O */
	VIRT_EXIT_REGISTER,		/* MSR, control and debug registers */
	VIRT_EXIT_APIC,			/* APIC accesses and IPIs */
	VIRT_EXIT_HYPERCALL,		/* the guest asks */
	VIRT_EXIT_EXCEPTION,		/* exceptions of the guest */
	VIRT_EXIT_NESTED,		/* instructions of a hypervisor in the guest */
	VIRT_EXIT_N_CLASSES
};

struct virt_model;

/* ---- filling: trackers only, in order of time per vCPU and per pCPU ---- */

/** virt_model_new - an empty model. Return: NULL without memory. */
struct virt_model *virt_model_new(void);

/** virt_model_free - free a model, which may be NULL. */
void virt_model_free(struct virt_model *model);

/**
 * virt_model_add_machine, virt_model_add_vcpu, virt_model_add_reason - make one known
 *
 * A machine's id, a vCPU's (machine, id) and a reason's name may be given again: the index is the
 * one from the first time, and nothing is changed. A vCPU begins as UNKNOWN at the model's
 * beginning. Names are copied.
 *
 * A machine's index is good until virt_model_finish(), which orders them by id.
 *
 * Return: its index, -ENOMEM, -E2BIG: there are VIRT_MAX_MACHINES, VIRT_MAX_VCPUS or
 * VIRT_MAX_REASONS others, or -EINVAL if there is no such machine.
 */
int32_t virt_model_add_machine(struct virt_model *model, int32_t id, const char *name);
int32_t virt_model_add_vcpu(struct virt_model *model, int32_t machine, int32_t id,
			    int32_t host_pid, const char *name);
int32_t virt_model_add_reason(struct virt_model *model, const char *name);

/**
 * virt_model_set_tsc - relate a vCPU's TSC to the host's, see struct virt_vcpu
 *
 * Return: 0, or -EINVAL (no such vCPU, finished, or a scale that is not above 0).
 */
int virt_model_set_tsc(struct virt_model *model, int32_t vcpu, double scale, int64_t offset);

/**
 * virt_model_set_reason_class - set the class of an exit reason whose name does not determine it
 *
 * The names of VMX and SVM do: those reasons have their class from the beginning.
 *
 * Return: 0, or -EINVAL.
 */
int virt_model_set_reason_class(struct virt_model *model, int32_t reason,
				enum virt_exit_class exit_class);

/**
 * virt_model_end_machine - a machine is no more: its vCPUs are OFFLINE from then on
 * @time_ns: VIRT_NO_END: it goes on, after all
 *
 * States are not changed by it. Return: 0, or -EINVAL (no such machine, or finished).
 */
int virt_model_end_machine(struct virt_model *model, int32_t machine, int64_t time_ns);

/**
 * virt_model_add_task - make a task of the host known, by its pid
 *
 * A pid that was added before keeps its number; the last name given is its name.
 *
 * Return: its number, VIRT_FIRST_TASK or more, which is used like a vCPU's global index for the
 * occupant of a pCPU; or -ENOMEM.
 */
int32_t virt_model_add_task(struct virt_model *model, int32_t pid, const char *name);

/**
 * virt_model_own_task - a task belongs to a machine, and is named after it from now on
 * @task: from virt_model_add_task(), which is not called for it again
 * @machine: index; @called: its name, with which the task's name begins
 *
 * Return: 0, -ENOMEM, or -EINVAL: there is no such task, machine, kind or source.
 */
int virt_model_own_task(struct virt_model *model, int32_t task, int32_t machine,
			const char *called, enum virt_thread_kind kind,
			enum virt_thread_source source);

/**
 * virt_model_set - from a time on, a vCPU is in a state
 *
 * Equal to the state, pCPU and detail it has, without VIRT_INTERVAL_EXIT: nothing is added.
 * Twice at the same time: the later word counts, but see VIRT_INTERVAL_EXIT. Migrations are found
 * by the model: a vCPU that is on its pCPU (virt_state_on_pcpu()) elsewhere than the last time it
 * was on one.
 *
 * Return: 0, -ENOMEM, or -EINVAL (and nothing changed) if the time lies before the last change, or
 * a number is one that does not exist: @vcpu, @state, @pcpu below VIRT_NONE, a @detail that is none
 * of this state (see struct virt_interval) or was not made known, an exit into guest code.
 */
int virt_model_set(struct virt_model *model, int32_t vcpu, int64_t time_ns,
		   enum virt_state state, int16_t pcpu, int32_t detail, uint8_t flags);

/**
 * virt_model_polled - the work of the hypervisor for a vCPU since a time was halt polling
 * @from_ns: ns; not before the last exit, or what is not known, and up to the last change
 * @to_ns: now; not before the last change
 * @slept: it has slept since: only what lies before that was polling
 *
 * A hypervisor says so when it is over. HYPERVISOR becomes POLLING unless VIRT_INTERVAL_UNSPLIT,
 * and other states stay. The vCPU is HYPERVISOR again from @to_ns on. If it has slept, and that is
 * not in the model, nothing is changed.
 *
 * Return: 0, -ENOMEM, or -EINVAL (and nothing changed): there is no such vCPU, or @to_ns lies
 * before the last change.
 */
int virt_model_polled(struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		      bool slept);

/**
 * virt_model_since - the last change of a vCPU was another one, or another one has followed
 * @from_ns: from this time on, or from the last change on if that is later
 *
 * For a change that a later record explains: the last interval gets another state, pCPU, detail
 * and flags, or its later part does. An exit with which it begins stays, of length 0.
 *
 * Return: 0, -ENOMEM, or -EINVAL (and nothing changed), as virt_model_set().
 */
int virt_model_since(struct virt_model *model, int32_t vcpu, int64_t from_ns,
		     enum virt_state state, int16_t pcpu, int32_t detail, uint8_t flags);

/**
 * virt_model_add_wake - make known that something can wake vCPUs
 *
 * What was given before has its old number.
 *
 * Return: its number, -ENOMEM, or -EINVAL: a cause, vCPU, task or vector that does not exist.
 */
int32_t virt_model_add_wake(struct virt_model *model, const struct virt_wake *wake);

/**
 * virt_model_woken - set what ended the last BLOCKED interval of a vCPU
 * @wake: from virt_model_add_wake(); or VIRT_NONE
 *
 * Call it after the wait has ended, and before the next wait begins; the last call counts. @wake
 * becomes the interval's @detail.
 *
 * Return: 0, or -EINVAL if there is no such interval, vCPU or @wake.
 */
int virt_model_woken(struct virt_model *model, int32_t vcpu, int32_t wake);

/** virt_model_occupy - from a time on, @vcpu (or VIRT_NONE) is on a pCPU. As virt_model_set(). */
int virt_model_occupy(struct virt_model *model, int16_t pcpu, int64_t time_ns, int32_t vcpu,
		      bool known);

/**
 * virt_model_know_pcpus - the machine has at least @n pCPUs, whether they have records or not
 *
 * What nothing was recorded of is unknown all the time. The highest number is INT16_MAX.
 *
 * Return: 0 or -ENOMEM.
 */
int virt_model_know_pcpus(struct virt_model *model, int32_t n);

/** virt_model_add_loss - records of a pCPU are missing. Return: 0, -ENOMEM, -EINVAL (from > to). */
int virt_model_add_loss(struct virt_model *model, const struct virt_loss *loss);

/** virt_model_add_tsc_write - a TSC was set. Return: 0, -ENOMEM, or -EINVAL: no such vCPU. */
int virt_model_add_tsc_write(struct virt_model *model, const struct virt_tsc_write *write);

/**
 * virt_model_contradiction - count a contradiction (a vCPU runs on two pCPUs ...)
 * @what: static string; the same pointer counts as the same kind; kinds beyond 31 are one
 */
void virt_model_contradiction(struct virt_model *model, const char *what);

/** virt_model_contradiction_at - the same, with the time of the record that contradicts */
void virt_model_contradiction_at(struct virt_model *model, const char *what, int64_t time_ns);

/**
 * virt_model_brief - to be called before virt_model_finish(): few windows will be asked for
 *
 * Sums that make windows of pCPUs cheap take 48 bytes for each vCPU and task that has had one.
 * They are left out; all queries have the same answers.
 */
void virt_model_brief(struct virt_model *model);

/**
 * virt_model_finish - the trace is [begin_ns, end_ns): build the summaries
 *
 * Entries outside of this time are cut off: the states in force at @begin_ns stay, and entries that
 * begin at @end_ns or later go. So @end_ns is the time of the last record + 1.
 *
 * Return: 0, -ENOMEM, or -EINVAL if @end_ns lies before @begin_ns. After success only the functions
 * below may be called, after -ENOMEM only virt_model_free().
 */
int virt_model_finish(struct virt_model *model, int64_t begin_ns, int64_t end_ns);

/*
 * ---- asking ----
 *
 * Numbers that do not exist and windows without a moment in the trace give empty answers.
 */

/** virt_model_begin, virt_model_end - the span of the trace. */
int64_t virt_model_begin(const struct virt_model *model);
int64_t virt_model_end(const struct virt_model *model);

/** virt_model_n_machines, virt_model_machine - machines in ascending order of id; or NULL. */
int32_t virt_model_n_machines(const struct virt_model *model);
const struct virt_machine *virt_model_machine(const struct virt_model *model, int32_t machine);

/** virt_model_n_vcpus, virt_model_vcpu - all vCPUs by global index; or NULL. */
int32_t virt_model_n_vcpus(const struct virt_model *model);
const struct virt_vcpu *virt_model_vcpu(const struct virt_model *model, int32_t vcpu);

/** virt_model_find_vcpu - by pid in the stream. Return: global index or VIRT_NONE. */
int32_t virt_model_find_vcpu(const struct virt_model *model, int32_t host_pid);

/** virt_model_n_reasons, virt_model_reason - names of the exit reasons; or NULL. */
int32_t virt_model_n_reasons(const struct virt_model *model);
const char *virt_model_reason(const struct virt_model *model, int32_t reason);

/** virt_model_reason_class - the class of a reason; VIRT_EXIT_OTHER if there is none. */
enum virt_exit_class virt_model_reason_class(const struct virt_model *model, int32_t reason);

/** virt_exit_class_name - "halt", "interrupt" ... */
const char *virt_exit_class_name(enum virt_exit_class exit_class);

/** virt_model_task - a task by its number; or NULL. */
const struct virt_task *virt_model_task(const struct virt_model *model, int32_t task);

/** virt_model_find_task - by its pid. Return: its number or VIRT_NONE. */
int32_t virt_model_find_task(const struct virt_model *model, int32_t pid);

/** virt_model_n_tasks - their numbers are VIRT_FIRST_TASK and those that follow. */
int32_t virt_model_n_tasks(const struct virt_model *model);

/** virt_model_machine_of - the machine of a vCPU or task; VIRT_NONE: it belongs to none. */
int32_t virt_model_machine_of(const struct virt_model *model, int32_t who);

/** virt_model_is_own - is @who a thread of the vCPU's own machine, but no vCPU? */
bool virt_model_is_own(const struct virt_model *model, int32_t vcpu, int32_t who);

/** virt_thread_kind_name - "main loop", "iothread" ...; for one that is no other, "thread" */
const char *virt_thread_kind_name(enum virt_thread_kind kind);

/** virt_thread_source_name - "sidecar", "name", "maker", "row" */
const char *virt_thread_source_name(enum virt_thread_source source);

/** virt_model_wake - the cause of a wake-up; or NULL. */
const struct virt_wake *virt_model_wake(const struct virt_model *model, int32_t wake);

/** virt_wake_cause_name - "timer", "device" ... as used in reports and in JSON. */
const char *virt_wake_cause_name(enum virt_wake_cause cause);

/** virt_model_who - the name of a vCPU or task, for who has or took a pCPU; "others"; or NULL. */
const char *virt_model_who(const struct virt_model *model, int32_t who);

/** virt_model_culprit - the same for people: "nobody" if the pCPU is idle or unknown. */
const char *virt_model_culprit(const struct virt_model *model, int32_t who);

/** virt_model_n_pcpus - highest pCPU number + 1. */
int32_t virt_model_n_pcpus(const struct virt_model *model);

/** A piece of an array that belongs to the model. */
struct virt_interval_range { const struct virt_interval *first; size_t n; int64_t end_ns; };
struct virt_occupant_range { const struct virt_occupant *first; size_t n; int64_t end_ns; };
struct virt_migration_range { const struct virt_migration *first; size_t n; };
struct virt_machine_range { const struct virt_machine_interval *first; size_t n; int64_t end_ns; };
struct virt_loss_range { const struct virt_loss *first; size_t n; };
struct virt_tsc_write_range { const struct virt_tsc_write *first; size_t n; };

/**
 * virt_vcpu_intervals - the intervals that overlap a window, in O(log n)
 *
 * All that begin within the window, and before them the one in force at its beginning; so the first
 * one may begin before it. @end_ns is where the last one ends. first[n] must not be looked at.
 */
struct virt_interval_range virt_vcpu_intervals(const struct virt_model *model, int32_t vcpu,
					       int64_t from_ns, int64_t to_ns);

/**
 * virt_vcpu_at - the interval in force at a time; NULL outside the trace
 * @end_ns: receives its end; may be NULL
 */
const struct virt_interval *virt_vcpu_at(const struct virt_model *model, int32_t vcpu,
					 int64_t time_ns, int64_t *end_ns);

/** virt_pcpu_occupants - vCPUs and tasks on a pCPU, as virt_vcpu_intervals(). */
struct virt_occupant_range virt_pcpu_occupants(const struct virt_model *model, int32_t pcpu,
					       int64_t from_ns, int64_t to_ns);

/** virt_pcpu_at - the vCPU or task on a pCPU at a time; NULL outside the trace. */
const struct virt_occupant *virt_pcpu_at(const struct virt_model *model, int32_t pcpu,
					 int64_t time_ns, int64_t *end_ns);

/** Time in each state, and how many intervals begin within the window. */
struct virt_totals {
	int64_t		ns[VIRT_N_STATES];
	uint64_t	count[VIRT_N_STATES];
};

/** virt_vcpu_totals - totals of a window, in O(log n) from cumulative sums. */
void virt_vcpu_totals(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		      int64_t to_ns, struct virt_totals *totals);

/** virt_model_is_unsplit - does the trace not show who has a pCPU, see VIRT_INTERVAL_UNSPLIT? */
bool virt_model_is_unsplit(const struct virt_model *model);

/**
 * virt_model_knows_calls_only - are hypercalls all that the trace shows of vCPUs on pCPUs?
 *
 * See VIRT_INTERVAL_ENTERED.
 */
bool virt_model_knows_calls_only(const struct virt_model *model);

/**
 * virt_vcpu_unsplit - which part of virt_vcpu_totals() is VIRT_INTERVAL_UNSPLIT
 *
 * At once for a trace without it, else in O(intervals in the window).
 */
void virt_vcpu_unsplit(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		       int64_t to_ns, int64_t ns[VIRT_N_STATES]);

/** virt_vcpu_hidden - how much of the UNKNOWN time is VIRT_INTERVAL_ON_PCPU. O(intervals). */
int64_t virt_vcpu_hidden(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			 int64_t to_ns);

/**
 * virt_vcpu_columns - times of @n equal windows side by side, as a graph needs them
 * @ns: receives @n, each by state; number i begins at from + (to - from) * i / n, rounded down, and
 *	ends where the next one begins
 *
 * The same as @n times virt_vcpu_totals(), several times faster.
 */
void virt_vcpu_columns(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		       int64_t to_ns, int64_t (*ns)[VIRT_N_STATES], size_t n);

/**
 * virt_vcpu_exit_columns - time in VIRT_HYPERVISOR by class of VM exits, of such windows
 * @ns: receives @n, each by enum virt_exit_class; their sum is that of virt_vcpu_columns()
 *
 * In O(@n log intervals), as that is.
 */
void virt_vcpu_exit_columns(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			    int64_t to_ns, int64_t (*ns)[VIRT_EXIT_N_CLASSES], size_t n);

/** What a pCPU did: vCPUs' time by state, tasks, idle, not known. Adds up to the window. */
struct virt_pcpu_totals {
	int64_t		state_ns[VIRT_N_STATES];	/* of those on a pCPU only */
	int64_t		task_ns;	/* tasks of the host that are no vCPU */
	int64_t		idle_ns;
	int64_t		unknown_ns;	/* also: of an occupant whose state has no pCPU */
};

/**
 * virt_pcpu_totals - totals of a window on one pCPU
 *
 * In O(log n); after virt_model_brief() in O(vCPUs and tasks that had the pCPU in the window).
 */
void virt_pcpu_totals(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
		      int64_t to_ns, struct virt_pcpu_totals *totals);

/** virt_pcpu_columns - totals of @n equal windows side by side, as virt_vcpu_columns(). */
void virt_pcpu_columns(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
		       int64_t to_ns, struct virt_pcpu_totals *totals, size_t n);

/** virt_vcpu_migrations - those whose time lies within the window; ascending by time. */
struct virt_migration_range virt_vcpu_migrations(const struct virt_model *model, int32_t vcpu,
						 int64_t from_ns, int64_t to_ns);

/** virt_model_losses - all stretches of lost records, ascending by beginning. */
struct virt_loss_range virt_model_losses(const struct virt_model *model);

/**
 * virt_model_losses_from - the losses that belong to the window [from, to): those that begin in it
 *
 * In O(log n). A loss of no length counts as well. Every loss belongs to one of the windows side by
 * side that cover the trace, so the numbers of these windows add up.
 */
struct virt_loss_range virt_model_losses_from(const struct virt_model *model, int64_t from_ns,
					      int64_t to_ns);

/** What is lost, added up. */
struct virt_loss_sum {
	uint64_t	losses;
	uint64_t	records;	/* of the losses that counted them */
	uint64_t	uncounted;	/* losses that did not */
};

/** virt_model_count_losses - add up the losses of a window. @pcpu: VIRT_NONE: of all pCPUs */
struct virt_loss_sum virt_model_count_losses(const struct virt_model *model, int32_t pcpu,
					     int64_t from_ns, int64_t to_ns);

/**
 * virt_model_loss_in - is anything lost in the window [from, to)?
 *
 * In O(log n); a loss without length ends right after its moment.
 *
 * Return: of those that begin before its end, the last to end; NULL if it ends before it.
 */
const struct virt_loss *virt_model_loss_in(const struct virt_model *model, int64_t from_ns,
					   int64_t to_ns);

/** virt_model_tsc_writes - when TSCs were set; ascending by time. */
struct virt_tsc_write_range virt_model_tsc_writes(const struct virt_model *model);

/** virt_machine_intervals - joint states of a machine's vCPUs, as virt_vcpu_intervals(). */
struct virt_machine_range virt_machine_intervals(const struct virt_model *model, int32_t machine,
						 int64_t from_ns, int64_t to_ns);

/** virt_machine_is_offline - whether all vCPUs of a machine are OFFLINE at a time */
bool virt_machine_is_offline(const struct virt_model *model, int32_t machine, int64_t time_ns);

/** Time in each state of a machine, and how many of its intervals begin within the window. */
struct virt_machine_totals {
	int64_t		ns[VIRT_M_N_STATES];
	uint64_t	count[VIRT_M_N_STATES];
};

/** virt_machine_totals - totals of a window, in O(log n). */
void virt_machine_totals(const struct virt_model *model, int32_t machine, int64_t from_ns,
			 int64_t to_ns, struct virt_machine_totals *totals);

/**
 * Exits of one reason within a window. An exit belongs, as a whole, to the window in which it
 * begins. Its cost is its time in HYPERVISOR, VMM, PREEMPTED and WAKING, and in waits that the
 * guest did not ask for (DEVICE_MODEL, VIRT_INTERVAL_UNASKED).
 */
struct virt_exit_total {
	int32_t		reason;		/* virt_model_reason(), or VIRT_NONE: not known */
	uint64_t	count;		/* exits */
	uint64_t	complete;	/* those with an entry in the trace; of these alone: */
	int64_t		ns;		/* cost; the mean is ns / complete */
	int64_t		max_ns;		/* highest cost */
};

/**
 * virt_vcpu_exits - exits by reason, costliest first
 * @total: receives at most @n of them
 *
 * In O(reasons * log n).
 *
 * Return: number of reasons that occur, which may be more than @n.
 */
size_t virt_vcpu_exits(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		       int64_t to_ns, struct virt_exit_total *total, size_t n);

/** One VM exit, taken apart. */
struct virt_exit {
	int64_t		time_ns;		/* of the exit */
	int64_t		entry_ns;		/* of the next entry; or, if not @complete, until
						 * when it can be followed: another exit, UNKNOWN,
						 * the end of the trace */
	int64_t		state_ns[VIRT_N_STATES]; /* from exit to entry; never GUEST or UNKNOWN */
	int64_t		unasked_ns;		/* DEVICE_MODEL; and of BLOCKED and OFFLINE:
						 * VIRT_INTERVAL_UNASKED */
	int64_t		unasked_vmm_ns;		/* of it: after the exit had gone to the monitor */
	int64_t		cost_ns;		/* see struct virt_exit_total */
	int32_t		reason;			/* or VIRT_NONE */
	bool		complete;		/* the next entry is in the trace */
};

/**
 * virt_vcpu_next_exit - the first exit at or after a time
 *
 * In O(log n) and the intervals of the exit. Of several at the same ns it returns the first one;
 * VIRT_INTERVAL_EXIT in virt_vcpu_intervals() marks all of them.
 *
 * Return: false if there is none.
 */
bool virt_vcpu_next_exit(const struct virt_model *model, int32_t vcpu, int64_t time_ns,
			 struct virt_exit *exit);

/** Time that a vCPU waited while another vCPU or a task had its pCPU. */
struct virt_culprit {
	int32_t		vcpu;		/* global index, or a task; VIRT_NONE: idle or unknown;
					 * VIRT_OTHERS */
	int64_t		ns;
};

/**
 * virt_vcpu_culprits - vCPUs and tasks on the pCPU for which a vCPU waited (PREEMPTED)
 *
 * The pCPU is that of the interval; its occupants are those of virt_pcpu_occupants(). Adds up to
 * the window's PREEMPTED time. In O(culprits * log n), and the occupants during those waits that
 * the window cuts.
 *
 * If very many vCPUs wait for a pCPU while it has very many occupants, only the first occupants of
 * each wait are culprits; VIRT_OTHERS stands for all later ones.
 *
 * Return: number of culprits, most time first; at most @n are stored.
 */
size_t virt_vcpu_culprits(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns, struct virt_culprit *culprit, size_t n);

/**
 * virt_model_contradictions - kinds that were counted, in the order of their first time
 * @count: receives how often; may be NULL
 *
 * Return: name of kind @i, or NULL if there are no more.
 */
const char *virt_model_contradictions(const struct virt_model *model, int i, uint64_t *count);

/**
 * virt_model_count_contradictions - how often kind @i was counted in a window
 *
 * Those without a time belong to the beginning of the model, so that windows add up.
 */
uint64_t virt_model_count_contradictions(const struct virt_model *model, int i, int64_t from_ns,
					 int64_t to_ns);

/** virt_model_problem - why a function that fills or finishes a model returned @error, in words. */
const char *virt_model_problem(int error);

/** virt_state_name - "guest", "hypervisor" ... as used in reports and in JSON. */
const char *virt_state_name(enum virt_state state);

/** virt_machine_state_name - "full_run", "partial_run", "concurrency_hazard" ... */
const char *virt_machine_state_name(enum virt_machine_state state);

#ifdef __cplusplus
}
#endif
#endif
