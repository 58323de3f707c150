// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_needs.c
 * @brief	The table of numbers and the kinds of records that each one needs.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "virt_needs.h"
#include "virt_private.h"

#define K(kind)		VIRT_RECORD_BIT(VIRT_RECORD_##kind)

/** One kind of a set is enough. */
#define MAX_SETS	6

/**
 * Without switches, time between VM exit and entry is VIRT_INTERVAL_UNSPLIT, which is marked and
 * has its own rules: wake-ups would not help.
 */
#define UNSPLIT		(UINT64_C(1) << 63)

/** No vCPU goes to another pCPU: none has gone there while it waited, either. */
#define STILL		(UINT64_C(1) << 62)

/** VM entries or exits were recorded: no other kind is needed to see that a vCPU has a pCPU. */
#define CROSSED		(UINT64_C(1) << 61)

/** Xen's runstate changes are switches and wake-ups in one; requests show less than these. */
#define XEN_SWITCH	(K(RUNSTATE) | K(SWITCH))

static const struct number_row {
	const char	*name;
	bool		everywhere;	/* every report has it */
	uint64_t	needs[VIRT_N_HYPERVISORS][MAX_SETS]; /* 0 ends them */
} numbers[VIRT_N_NUMBERS] = {
	/* without exits, Xen's switches show guest and hypervisor together */
	[VIRT_NUMBER_GUEST] = { "guest", true, {
		{ K(ENTRY), K(EXIT) },
		{ K(EXIT), XEN_SWITCH | CROSSED } } },
	[VIRT_NUMBER_HYPERVISOR] = { "hypervisor", true, {
		{ K(ENTRY) | K(WHOLE), K(EXIT) | K(WHOLE) },
		{ K(ENTRY), K(EXIT) } } },
	[VIRT_NUMBER_POLLING] = { "polling", true, {
		{ K(ENTRY), K(EXIT), K(SWITCH), K(HALT_POLL) } } },
	[VIRT_NUMBER_VMM] = { "vmm", true, {
		{ K(ENTRY), K(EXIT), K(MONITOR) } } },
	[VIRT_NUMBER_PREEMPTED] = { "preempted", true, {
		{ K(SWITCH) },
		{ K(RUNSTATE) } } },
	[VIRT_NUMBER_WAKING] = { "waking", true, {
		{ K(SWITCH), K(WAKEUP) },
		{ K(RUNSTATE) } } },
	[VIRT_NUMBER_BLOCKED] = { "blocked", true, {
		{ K(SWITCH), K(WAKEUP) },
		{ K(RUNSTATE) } } },
	[VIRT_NUMBER_DEVICE_MODEL] = { "device model", true, {
		{ 0 },
		{ K(RUNSTATE), K(EXIT), K(REQUEST), K(BUDGET) } } },
	[VIRT_NUMBER_OFFLINE] = { "offline", true, {
		{ K(SWITCH), K(WAKEUP) },
		{ K(RUNSTATE), K(EXIT), K(REQUEST), K(BUDGET) } } },
	[VIRT_NUMBER_PAUSES] = { "pauses", true, {
		{ K(SWITCH), K(WAKEUP) },
		{ K(RUNSTATE) } } },
	[VIRT_NUMBER_RUNS] = { "runs", true, {
		{ K(SWITCH), K(EXIT) },
		{ XEN_SWITCH } } },
	[VIRT_NUMBER_RUNNABLE] = { "runnable", true, {
		{ K(SWITCH), K(WAKEUP) },
		{ K(RUNSTATE) } } },
	[VIRT_NUMBER_TOGETHER] = { "states of machines", true, {
		{ K(SWITCH), K(WAKEUP) },
		{ K(RUNSTATE) } } },
	[VIRT_NUMBER_EXITS] = { "VM exits", true, {
		{ K(EXIT) | K(WHOLE) },
		{ K(EXIT) } } },
	[VIRT_NUMBER_EXIT_COST] = { "cost of VM exits", true, {
		{ K(ENTRY) | K(WHOLE), K(EXIT) | K(WHOLE), K(WAKEUP) | UNSPLIT },
		{ K(ENTRY), K(EXIT), K(RUNSTATE) | UNSPLIT } } },
	[VIRT_NUMBER_NESTED] = { "exits of nested guests", false, {
		{ K(ENTRY), K(EXIT), K(NESTED_EXIT) },
		{ K(EXIT) } } },
	[VIRT_NUMBER_MIGRATIONS] = { "migrations", true, {
		{ K(SWITCH) },
		{ XEN_SWITCH } } },
	[VIRT_NUMBER_MIGRATION_COST] = { "cost of migrations", true, {
		{ K(SWITCH), K(WAKEUP), K(ENTRY), K(EXIT) },
		{ K(RUNSTATE) } } },
	[VIRT_NUMBER_CULPRITS] = { "steal by culprit", true, {
		{ K(SWITCH), K(MIGRATE) | STILL },
		{ K(RUNSTATE) } } },
	[VIRT_NUMBER_CAUSES] = { "what ends waits", false, {
		{ K(SWITCH), K(WAKEUP), K(EXIT), K(WAKER), K(ACCEPT), K(INJECT) },
		{ K(RUNSTATE), K(HANDLER) } } },
	[VIRT_NUMBER_TASKS] = { "what else pCPUs do", true, {
		{ K(SWITCH) },
		{ XEN_SWITCH } } },
	[VIRT_NUMBER_INJECTED] = { "interrupts by vector", false, {
		{ K(INJECT) },
		{ K(INJECT) } } },
	[VIRT_NUMBER_HYPERCALLS] = { "hypercalls", false, {
		{ K(HYPERCALL) },
		{ K(HYPERCALL), K(CALL) } } },
	[VIRT_NUMBER_SUBCALLS] = { "hypercalls in multicalls", false, {
		{ 0 },
		{ K(HYPERCALL), K(SUBCALL) } } },
	[VIRT_NUMBER_TRAPS] = { "traps", false, {
		{ K(EXCEPTION) },
		{ K(EXCEPTION), K(INJECT) } } },
	[VIRT_NUMBER_MEMORY] = { "operations on memory", false, {
		{ 0 },
		{ K(MEMORY) } } },
	[VIRT_NUMBER_HANDLERS] = { "handlers", false, {
		{ K(HANDLER), K(SWITCH) },
		{ 0 } } },
	[VIRT_NUMBER_IDLE_STATES] = { "C-states", false, {
		{ K(IDLE_STATE) },
		{ K(IDLE_STATE) } } },
	[VIRT_NUMBER_FREQUENCIES] = { "frequencies", false, {
		{ K(FREQUENCY) },
		{ K(FREQUENCY) } } },
	[VIRT_NUMBER_LOSSES] = { "lost records", true, { { 0 } } },
};

/** Names of Linux's tracepoints, and of xentrace's classes with what -e takes. */
static const char *const names[VIRT_N_HYPERVISORS][VIRT_RECORD_N_KINDS] = {
	[VIRT_KVM] = {
		[VIRT_RECORD_ENTRY] = "kvm:kvm_entry",
		[VIRT_RECORD_EXIT] = "kvm:kvm_exit",
		[VIRT_RECORD_MONITOR] = "kvm:kvm_userspace_exit",
		[VIRT_RECORD_RUN] = "kvm:kvm_fpu",
		[VIRT_RECORD_SWITCH] = "sched:sched_switch",
		[VIRT_RECORD_WAKEUP] = "sched:sched_wakeup",
		[VIRT_RECORD_WAKER] = "sched:sched_waking",
		[VIRT_RECORD_BORN] = "sched:sched_wakeup_new",
		[VIRT_RECORD_MIGRATE] = "sched:sched_migrate_task",
		[VIRT_RECORD_ACCEPT] = "kvm:kvm_apic_accept_irq",
		[VIRT_RECORD_INJECT] = "kvm:kvm_inj_virq",
		[VIRT_RECORD_HYPERCALL] = "kvm:kvm_hypercall",
		[VIRT_RECORD_NESTED] = "kvm:kvm_nested_vmenter",
		[VIRT_RECORD_NESTED_EXIT] = "kvm:kvm_nested_vmexit",
		[VIRT_RECORD_NESTED_INJECT] = "kvm:kvm_nested_vmexit_inject",
		[VIRT_RECORD_HALT_POLL] = "kvm:kvm_vcpu_wakeup",
		[VIRT_RECORD_HANDLER] = "irq",
		[VIRT_RECORD_IDLE_STATE] = "power:cpu_idle",
		[VIRT_RECORD_FREQUENCY] = "power:cpu_frequency",
		[VIRT_RECORD_EXCEPTION] = "kvm:kvm_inj_exception",
		[VIRT_RECORD_CALL] = "kvm:kvm_hypercall",
		[VIRT_RECORD_MSR] = "kvm:kvm_msr",
		[VIRT_RECORD_PORT] = "kvm:kvm_pio",
		[VIRT_RECORD_MMIO] = "kvm:kvm_mmio",
		[VIRT_RECORD_FAULT] = "kvm:kvm_page_fault",
		[VIRT_RECORD_CPUID] = "kvm:kvm_cpuid",
		[VIRT_RECORD_CR] = "kvm:kvm_cr",
		[VIRT_RECORD_APIC] = "kvm:kvm_apic",
		[VIRT_RECORD_VMGEXIT] = "kvm:kvm_vmgexit_enter",
		[VIRT_RECORD_ABORT] = "kvm:kvm_guest_fault",
		[VIRT_RECORD_SYSREG] = "kvm:kvm_sys_access",
		[VIRT_RECORD_SMCCC] = "kvm:kvm_hvc_arm64",
		[VIRT_RECORD_WAIT] = "kvm:kvm_wfx_arm64",
		[VIRT_RECORD_USERFAULT] = "syscalls:sys_enter_ioctl with sys_exit_ioctl",
		[VIRT_RECORD_PAGE_CACHE] = "filemap:mm_filemap_add_to_page_cache",
		[VIRT_RECORD_BLOCK] = "block:block_bio_queue",
		[VIRT_RECORD_ALLOC] = "kmem:mm_page_alloc",
		[VIRT_RECORD_FAST_FAULT] = "kvmmmu:fast_page_fault",
		[VIRT_RECORD_ASYNC] = "kvm:kvm_try_async_get_page",
	},
	[VIRT_XEN] = {
		[VIRT_RECORD_ENTRY] = "the class hvm (-e 0x8f000)",
		[VIRT_RECORD_EXIT] = "the class hvm (-e 0x8f000)",
		[VIRT_RECORD_SWITCH] = "the class sched (-e 0x2f000)",
		[VIRT_RECORD_RUNSTATE] = "the part sched.runstate (-e 0x21000)",
		[VIRT_RECORD_INJECT] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_HANDLER] = "the class hw (-e 0x80f000)",
		[VIRT_RECORD_IDLE_STATE] = "the class hw (-e 0x80f000)",
		[VIRT_RECORD_FREQUENCY] = "the class hw (-e 0x80f000)",
		[VIRT_RECORD_HYPERCALL] = "the class pv (-e 0x20f000)",
		[VIRT_RECORD_EXCEPTION] = "the class pv (-e 0x20f000)",
		[VIRT_RECORD_MEMORY] = "the class mem (-e 0x10f000)",
		[VIRT_RECORD_CALL] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_MSR] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_PORT] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_MMIO] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_FAULT] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_CPUID] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_CR] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_APIC] = "the part hvm.handler (-e 0x82000)",
		[VIRT_RECORD_SUBCALL] = "the part pv.subcall (-e 0x202000)",
		[VIRT_RECORD_REQUEST] = "the part sched.verbose (-e 0x28000)",
		[VIRT_RECORD_BUDGET] = "the part sched.scheduler (-e 0x22000)",
	},
};

void virt_model_set_hypervisor(struct virt_model *model, enum virt_hypervisor hypervisor)
{
	model->hypervisor = (uint8_t)hypervisor;
}

enum virt_hypervisor virt_model_hypervisor(const struct virt_model *model)
{
	return (enum virt_hypervisor)model->hypervisor;
}

enum virt_number virt_number_of_state(enum virt_state state)
{
	static const enum virt_number of[VIRT_N_STATES] = {
		[VIRT_GUEST] = VIRT_NUMBER_GUEST,
		[VIRT_HYPERVISOR] = VIRT_NUMBER_HYPERVISOR,
		[VIRT_POLLING] = VIRT_NUMBER_POLLING,
		[VIRT_VMM] = VIRT_NUMBER_VMM,
		[VIRT_PREEMPTED] = VIRT_NUMBER_PREEMPTED,
		[VIRT_WAKING] = VIRT_NUMBER_WAKING,
		[VIRT_BLOCKED] = VIRT_NUMBER_BLOCKED,
		[VIRT_DEVICE_MODEL] = VIRT_NUMBER_DEVICE_MODEL,
		[VIRT_OFFLINE] = VIRT_NUMBER_OFFLINE,
		[VIRT_UNKNOWN] = VIRT_N_NUMBERS,
	};

	return (unsigned int)state < VIRT_N_STATES ? of[state] : VIRT_N_NUMBERS;
}

enum virt_number virt_number_of_worst(enum virt_worst_kind kind)
{
	switch (kind) {
	case VIRT_WORST_EXIT:
		return VIRT_NUMBER_EXIT_COST;
	case VIRT_WORST_STEAL:
		return VIRT_NUMBER_PREEMPTED;
	case VIRT_WORST_WAKE:
		return VIRT_NUMBER_WAKING;
	case VIRT_WORST_MIGRATION:
		return VIRT_NUMBER_MIGRATION_COST;
	case VIRT_WORST_OFFLINE:
		return VIRT_NUMBER_PAUSES;
	default:
		return VIRT_N_NUMBERS;
	}
}

const char *virt_number_name(enum virt_number number)
{
	return (unsigned int)number < VIRT_N_NUMBERS ? numbers[number].name : NULL;
}

bool virt_needs(enum virt_hypervisor hypervisor, enum virt_number number, size_t n, uint64_t *set)
{
	*set = (unsigned int)number < VIRT_N_NUMBERS && n < MAX_SETS ?
	       numbers[number].needs[hypervisor][n] : 0;
	return *set;
}

uint64_t virt_model_missing(const struct virt_model *model, enum virt_number number)
{
	uint64_t recorded = virt_model_recorded(model), missing = 0, set;

	if (!(recorded & K(SWITCH)) &&
	    (virt_model_hypervisor(model) == VIRT_KVM || !(recorded & K(RUNSTATE))))
		recorded |= UNSPLIT;
	if (!model->migrates)
		recorded |= STILL;
	if (recorded & (K(ENTRY) | K(EXIT)))
		recorded |= CROSSED;
	for (size_t i = 0; virt_needs(virt_model_hypervisor(model), number, i, &set); i++)
		if (!(set & recorded))
			missing |= set & -set;
	return missing;
}

bool virt_model_knows(const struct virt_model *model, enum virt_number number)
{
	return !virt_model_missing(model, number);
}

/**
 * What is in one state if one of some kinds is missing: the other one is unknown, and the first one
 * is the sum of both.
 */
static const struct included_row {
	enum virt_hypervisor hypervisor;
	enum virt_state	state, includes;
	uint64_t	without;
} included_rows[] = {
	{ VIRT_KVM, VIRT_HYPERVISOR, VIRT_POLLING, K(HALT_POLL) },
	{ VIRT_KVM, VIRT_HYPERVISOR, VIRT_VMM, K(MONITOR) },
	{ VIRT_KVM, VIRT_BLOCKED, VIRT_WAKING, K(WAKEUP) },
	{ VIRT_XEN, VIRT_GUEST, VIRT_HYPERVISOR, K(ENTRY) | K(EXIT) },
	{ VIRT_XEN, VIRT_OFFLINE, VIRT_DEVICE_MODEL, K(EXIT) | K(REQUEST) | K(BUDGET) },
};

unsigned int virt_model_includes(const struct virt_model *model, enum virt_state state)
{
	uint64_t recorded = virt_model_recorded(model);
	unsigned int states = 0;

	for (size_t i = 0; i < ARRAY_SIZE(included_rows); i++) {
		const struct included_row *row = &included_rows[i];

		if (row->hypervisor == virt_model_hypervisor(model) && row->state == state &&
		    row->without & ~recorded &&
		    !(virt_model_missing(model, virt_number_of_state(state)) & ~row->without))
			states |= 1U << row->includes;
	}
	return states;
}

const char *virt_state_names(unsigned int states, const char *between, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (int state = 0; state < VIRT_N_STATES && n < size; state++)
		if (states >> state & 1)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? between : "",
					      virt_state_name((enum virt_state)state));
	return text;
}

const char *virt_record_name(enum virt_hypervisor hypervisor, enum virt_record_kind kind)
{
	return (unsigned int)kind < VIRT_RECORD_N_KINDS ? names[hypervisor][kind] : NULL;
}

static void append(char *text, size_t size, const char *more)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s", more);
}

/** Names of kinds; a class of Xen stands for several of them, and is named once. */
static int append_names(const struct virt_model *model, uint64_t kinds, char *text, size_t size)
{
	const char *last = NULL;
	int n = 0;

	for (int kind = 0; kind < VIRT_RECORD_N_KINDS; kind++) {
		const char *name = virt_record_name(virt_model_hypervisor(model),
						    (enum virt_record_kind)kind);

		if (!(kinds & VIRT_RECORD_BIT(kind)) || !name || (last && !strcmp(name, last)))
			continue;
		append(text, size, n++ ? ", " : "");
		append(text, size, name);
		last = name;
	}
	return n;
}

const char *virt_model_advice(const struct virt_model *model, enum virt_number number, char *text,
			      size_t size)
{
	uint64_t missing = virt_model_missing(model, number);
	int n;

	*text = '\0';
	n = missing ? append_names(model, missing, text, size) : 0;
	if (n)
		append(text, size, n > 1 ? " were not recorded: record them as well" :
		       " was not recorded: record it as well");
	return text;
}

/** Is an earlier kind called the same, so that its sentence is about this one, too? */
static bool is_named_before(const struct virt_model *model, enum virt_record_kind kind)
{
	const char *name = virt_record_name(virt_model_hypervisor(model), kind);

	for (int i = 0; i < (int)kind; i++) {
		const char *other = virt_record_name(virt_model_hypervisor(model),
						     (enum virt_record_kind)i);

		if (other && name && !strcmp(other, name) && !virt_model_has_recorded(model, i))
			return true;
	}
	return false;
}

/** All kinds that are recorded together with this one. */
static uint64_t called_like(const struct virt_model *model, enum virt_record_kind kind)
{
	const char *name = virt_record_name(virt_model_hypervisor(model), kind);
	uint64_t kinds = 0;

	for (int i = 0; i < VIRT_RECORD_N_KINDS; i++) {
		const char *other = virt_record_name(virt_model_hypervisor(model),
						     (enum virt_record_kind)i);

		if (other && name && !strcmp(other, name))
			kinds |= VIRT_RECORD_BIT(i);
	}
	return kinds;
}

/** Is it the time in a state that includes another one? Then that alone is unknown. */
static bool is_sum(const struct virt_model *model, enum virt_number number)
{
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (virt_number_of_state((enum virt_state)state) == number)
			return virt_model_includes(model, (enum virt_state)state);
	return false;
}

bool virt_model_unknown_without(const struct virt_model *model, enum virt_record_kind kind,
				enum virt_number number)
{
	return virt_model_missing(model, number) & called_like(model, kind) &&
	       !is_sum(model, number);
}

const char *virt_model_lacks(const struct virt_model *model, enum virt_record_kind kind,
			     char *text, size_t size)
{
	uint64_t kinds = called_like(model, kind);
	char names_text[VIRT_STATE_NAMES];
	int n = 0;

	*text = '\0';
	if (virt_model_has_recorded(model, kind) || !kinds || is_named_before(model, kind))
		return NULL;
	append_names(model, VIRT_RECORD_BIT(kind), text, size);
	append(text, size, " was not recorded: ");
	for (int number = 0; number < VIRT_N_NUMBERS; number++) {
		if (!numbers[number].everywhere ||
		    !virt_model_unknown_without(model, kind, (enum virt_number)number))
			continue;
		append(text, size, n++ ? ", " : "");
		append(text, size, numbers[number].name);
	}
	if (!n)
		return NULL;
	append(text, size, n > 1 ? " are unknown" : " is unknown");
	for (int state = 0; state < VIRT_N_STATES; state++) {
		unsigned int in = virt_model_includes(model, (enum virt_state)state);

		for (int other = 0; other < VIRT_N_STATES; other++)
			if (!(virt_model_missing(model, virt_number_of_state(other)) & kinds))
				in &= ~(1U << other);
		if (!in)
			continue;
		append(text, size, "; ");
		append(text, size, virt_state_name((enum virt_state)state));
		append(text, size, " includes ");
		append(text, size, virt_state_names(in, " and ", names_text, sizeof(names_text)));
		/* the monitor's time is part of a cost anyway */
		if (kinds & K(HALT_POLL) && virt_model_knows(model, VIRT_NUMBER_EXIT_COST))
			append(text, size, ", and so does the cost of VM exits");
	}
	append(text, size, "; record it as well");
	return text;
}
