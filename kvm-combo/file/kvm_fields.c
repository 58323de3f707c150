// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_fields.c
 * @brief	The table of events that the KVM tracker takes, and their fields.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "array.h"
#include "exit_arguments.h"
#include "hyper_dialect.h"
#include "kvm_argument_fields.h"
#include "kvm_fields.h"
#include "kvm_formats.h"
#include "kvm_handler_fields.h"
#include "kvm_memory_fields.h"
#include "kvm_quick.h"
#include "kvm_recorded.h"
#include "record_flags.h"
#include "virt_handlers.h"
#include "virt_power.h"

/** Interrupts of arm64: what a record of one is about. */
enum gic {
	GIC_NONE,		/* of another architecture */
	GIC_TIMER,		/* the level of a vCPU's own timer */
	GIC_LINE,		/* the monitor sets a line; its number has three spaces */
	GIC_PENDING,		/* KVM's GIC gets an interrupt */
};

/** KVM_ARM_IRQ_TYPE_SPI of include/uapi/asm/kvm.h: a line that is no vCPU's own. */
#define GIC_LINE_SHARED		1
/** VGIC_NR_PRIVATE_IRQS of include/kvm/arm_vgic.h: lower numbers are a vCPU's own. */
#define GIC_FIRST_SHARED	32

/**
 * The events, and the fields that become @arg, @value and @more of struct kvm_event. Of several
 * rows for one event, the first one whose fields are all there counts. Sources: Linux's
 * include/trace/events/sched.h, include/trace/events/kvm.h, arch/x86/kvm/trace.h and
 * arch/arm64/kvm/trace_arm.h; vcpu_id is part of kvm_exit since 5.17, kvm_nested_vmrun is called
 * kvm_nested_vmenter since 6.1, the vector of kvm_inj_virq was called irq before 6.0. The apicid of
 * kvm_apic_accept_irq is the number of the vCPU (__apic_accept_irq(), arch/x86/kvm/lapic.c).
 * The fields of kvm_exit show the architecture: "esr_ec" is arm64 ("exit_reason" with "idx" up to
 * Linux 5.0), "scause" RISC-V (arch/riscv/kvm/trace.h), "reason" LoongArch, where kvm_enter and
 * kvm_reenter are the entries (arch/loongarch/kvm/trace.h). s390 has names of its own
 * (arch/s390/kvm/trace.h), and so has POWER (arch/powerpc/kvm/trace_hv.h).
 * kvm_vcpu_wakeup (include/trace/events/kvm.h) records how long kvm_vcpu_halt() has taken, the
 * polling and the sleep, and whether the thread slept (virt/kvm/kvm_main.c).
 * kvm_fpu is recorded where KVM_RUN begins and ends (kvm_arch_vcpu_ioctl_run(), in x86.c there).
 * Interrupts of arm64 are those of arch/arm64/kvm/trace_arm.h and vgic/trace.h, see gic_event().
 */
static const struct event_row {
	const char	*system, *name;
	uint8_t		kind;
	uint8_t		isa;		/* where no field shows it; KVM_HYPERCALL: whose;
					 * KVM_ACCEPT, KVM_IRQ_LINE: enum gic */
	const char	*arg, *value, *more;
} event_rows[] = {
	{ "kvm", "kvm_entry", KVM_ENTRY, 0, "vcpu_id", NULL, NULL },
	{ "kvm", "kvm_entry", KVM_ENTRY, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_enter", KVM_ENTRY, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_reenter", KVM_ENTRY, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_s390_sie_enter", KVM_ENTRY, 0, "id", NULL, NULL },
	{ "kvm", "kvm_s390_sie_exit", KVM_EXIT, KVM_ISA_S390, "id", "icptcode", NULL },
	{ "kvm_hv", "kvm_guest_enter", KVM_ENTRY, 0, "vcpu_id", NULL, NULL },
	{ "kvm_hv", "kvm_guest_exit", KVM_EXIT, KVM_ISA_POWER, "vcpu_id", "trap", NULL },
	{ "kvm", "kvm_exit", KVM_EXIT, 0, "vcpu_id", "exit_reason", "isa" },
	{ "kvm", "kvm_exit", KVM_EXIT, 0, NULL, "exit_reason", "isa" },
	{ "kvm", "kvm_exit", KVM_EXIT, KVM_ISA_ARM, NULL, "esr_ec", "ret" },
	{ "kvm", "kvm_exit", KVM_EXIT, KVM_ISA_ARM, NULL, "exit_reason", "idx" },
	{ "kvm", "kvm_exit", KVM_EXIT, KVM_ISA_RISCV, NULL, "scause", NULL },
	{ "kvm", "kvm_exit", KVM_EXIT, KVM_ISA_LOONGARCH, NULL, "reason", NULL },
	{ "kvm", "kvm_exit", KVM_EXIT, 0, NULL, "exit_reason", NULL },
	{ "kvm", "kvm_exit", KVM_EXIT, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_userspace_exit", KVM_USERSPACE_EXIT, 0, "reason", "errno", NULL },
	{ "kvm", "kvm_userspace_exit", KVM_USERSPACE_EXIT, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_nested_vmrun", KVM_NESTED_ENTRY, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_nested_vmenter", KVM_NESTED_ENTRY, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_nested_vmexit", KVM_NESTED_EXIT, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_nested_vmexit_inject", KVM_NESTED_INJECT, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_write_tsc_offset", KVM_TSC_OFFSET, 0, "vcpu_id", "next_tsc_offset",
	  "previous_tsc_offset" },
	{ "kvm", "kvm_write_tsc_offset", KVM_TSC_OFFSET, 0, "vcpu_id", "next_tsc_offset", NULL },
	{ "kvm", "kvm_hypercall", KVM_HYPERCALL, KVM_HYPERCALL_KVM, NULL, "nr", NULL },
	{ "kvm", "kvm_hv_hypercall", KVM_HYPERCALL, KVM_HYPERCALL_HYPERV, NULL, "code", NULL },
	{ "kvm", "kvm_xen_hypercall", KVM_HYPERCALL, KVM_HYPERCALL_XEN, "a0", "nr", NULL },
	{ "sched", "sched_switch", KVM_SWITCH, 0, "next_pid", "prev_state", NULL },
	{ "kvm", "kvm_apic_accept_irq", KVM_ACCEPT, 0, "apicid", "vec", "dm" },
	{ "kvm", "kvm_timer_update_irq", KVM_ACCEPT, GIC_TIMER, "vcpu_id", "irq", "level" },
	{ "kvm", "kvm_irq_line", KVM_ACCEPT, GIC_LINE, "vcpu_idx", "type", "level" },
	{ "kvm", "vgic_update_irq_pending", KVM_IRQ_LINE, GIC_PENDING, NULL, "irq", "level" },
	{ "kvm", "kvm_apic_ipi", KVM_IPI, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_set_irq", KVM_IRQ_LINE, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_msi_set_irq", KVM_IRQ_LINE, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_ioapic_set_irq", KVM_IRQ_LINE, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_pic_set_irq", KVM_IRQ_LINE, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_inj_virq", KVM_INJECT, 0, NULL, "vector", "soft" },
	{ "kvm", "kvm_inj_virq", KVM_INJECT, 0, NULL, "irq", NULL },
	{ "kvm", "kvm_inj_exception", KVM_EXCEPTION, 0, NULL, NULL, NULL },
	{ NULL, "hypergraph_host", KVM_WHOLE, 0, "vcpu_id", "overhead", NULL },
	{ NULL, "hypergraph_host", KVM_WHOLE, 0, "vcpu_id", NULL, NULL },
	{ NULL, "hypergraph_host", KVM_WHOLE, 0, NULL, NULL, NULL },
	{ "kvm", "kvm_fpu", KVM_RUN, 0, NULL, "load", NULL },
	{ "kvm", "kvm_vcpu_wakeup", KVM_HALTED, 0, NULL, "ns", "waited" },
	{ "sched", "sched_waking", KVM_WAKING, 0, "pid", NULL, NULL },
	{ "sched", "sched_wakeup", KVM_WAKEUP, 0, "pid", "target_cpu", NULL },
	{ "sched", "sched_wakeup", KVM_WAKEUP, 0, "pid", NULL, NULL },
	{ "sched", "sched_wakeup_new", KVM_BORN, 0, "pid", NULL, NULL },
	{ "sched", "sched_migrate_task", KVM_MIGRATE, 0, "pid", "dest_cpu", NULL },
	{ "timer", "hrtimer_expire_entry", KVM_EXPIRED, 0, NULL, "function", NULL },
};

#define N_ROWS	ARRAY_SIZE(event_rows)

/** What CPUs sleep in and how fast they are: Linux's include/trace/events/power.h. */
static const struct power_row {
	const char	*name, *value;
	bool		is_frequency;
} power_rows[] = {
	{ "cpu_idle", "state", false },
	{ "cpu_frequency", "state", true },
};

#define N_POWER	ARRAY_SIZE(power_rows)

/** PWR_EVENT_EXIT: it does not sleep any more. */
#define LEAVES_IDLE	UINT32_MAX

/**
 * Hypercalls with their registers: Linux's arch/x86/kvm/trace.h, and what the research module
 * hypergraph-host records instead of exit, call and entry.
 */
static const struct call_row {
	const char	*system, *name;
	uint8_t		source;
} call_rows[] = {
	{ "kvm", "kvm_hypercall", HYPER_KVM },
	{ NULL, "hypergraph_host", HYPER_KVM_WHOLE },
};

#define N_CALLS	ARRAY_SIZE(call_rows)

/** Linux's include/trace/events/initcall.h, since 4.17. */
static const struct boot_row {
	const char	*name, *field;
	uint8_t		kind, edge;
} boot_rows[] = {
	{ "initcall_level", "level", HYPER_LEVEL, HYPER_AT_ONCE },
	{ "initcall_start", "func", HYPER_INITCALL, HYPER_ENTRY },
	{ "initcall_finish", "func", HYPER_INITCALL, HYPER_EXIT },
};

#define N_BOOT	ARRAY_SIZE(boot_rows)

/** Linux's include/trace/events/cgroup.h, since 4.12: cgroup_migrate. */
static const char *const cgroup_rows[] = { "cgroup_attach_task", "cgroup_transfer_tasks" };

#define N_CGROUPS	ARRAY_SIZE(cgroup_rows)

/** Longer than the name of any level, or device. */
#define LEVEL_SIZE	KVM_DEVICE_SIZE

/** Event ids are small; beyond that nothing of ours is expected. */
#define MAX_ID	0xffff

/** Where a field is; all zero: the event has none. */
struct place {
	int32_t		offset, end;	/* end: INT32_MAX: no record is long enough */
	int32_t		size;
	bool		is_known;
};

struct found_event {
	const struct event_row *row;
	struct place	arg, value, more;
	struct tep_format_field *comm;	/* KVM_SWITCH: name of the next thread */
	bool		is_sched;
	bool		is_quick;
	struct kvm_quick quick;		/* if so */
};

struct found_call {
	int		id;		/* -1: the trace does not know it */
	struct tep_format_field *nr, *a[HYPER_N_REGISTERS];
	struct tep_format_field *rip, *cost;	/* or NULL */
};

/** Of a struct kvm_argument_field. */
struct argument_places {
	struct place	value[KVM_ARGUMENT_PARTS], is_write, data;
};

struct found_power {
	struct tep_format_field *value, *cpu;
};

struct found_boot {
	int		id;		/* -1: the trace does not know it */
	struct tep_format_field *field;
};

/** Also of a guest's trace, whose handlers the tracker does not need. */
struct found_device {
	int		id;		/* -1: the trace does not know it */
	struct tep_format_field *irq, *name;	/* or NULL */
};

struct found_cgroup {
	int		id;		/* -1: the trace does not know it */
	struct tep_format_field *root, *pid, *path;
};

struct kvm_fields {
	struct tep_handle *tep;
	struct tep_format_field *type, *pid;	/* of all events */
	struct place	flags;		/* the same */
	bool		swap;		/* recorded on a machine of other byte order */
	bool		old_states;	/* sched_switch: KVM_STATE_DEAD_OR_PARKED is dead */
	bool		no_context;	/* KVM_NO_CONTEXT is there */
	struct found_event events[N_ROWS];
	struct kvm_handler_field handlers[KVM_MAX_HANDLER_EVENTS];
	size_t		n_handlers;
	struct found_power power[N_POWER];
	struct kvm_argument_field arguments[KVM_MAX_ARGUMENT_EVENTS];
	struct argument_places places[KVM_MAX_ARGUMENT_EVENTS];	/* of these */
	size_t		n_arguments;
	struct kvm_memory_field memory[KVM_MAX_MEMORY_EVENTS];
	size_t		n_memory;
	int		ids[N_ROWS + KVM_MAX_HANDLER_EVENTS + N_POWER + KVM_MAX_ARGUMENT_EVENTS +
			    KVM_MAX_MEMORY_EVENTS];
	size_t		n_ids;
	size_t		n;
	struct found_call calls[N_CALLS];
	int		exit_id;	/* kvm_exit; -1: none, or one without guest_rip */
	struct tep_format_field *exit_rip;
	struct found_boot boot[N_BOOT];
	struct found_device device;
	struct found_cgroup cgroups[N_CGROUPS];
	uint8_t		*by_id;		/* 0: none; number in @events + 1; behind these, those in
					 * @handlers, from FIRST_POWER on those in @power, from
					 * FIRST_ARGUMENT on those in @arguments, from FIRST_MEMORY
					 * on those in @memory */
	uint8_t		*handler_of;	/* 0: none; number in @handlers + 1 */
	int		max_id;
};

#define FIRST_POWER	(N_ROWS + KVM_MAX_HANDLER_EVENTS + 1)
#define FIRST_ARGUMENT	(FIRST_POWER + N_POWER)

#define FIRST_MEMORY	(FIRST_ARGUMENT + KVM_MAX_ARGUMENT_EVENTS)

_Static_assert(FIRST_MEMORY + KVM_MAX_MEMORY_EVENTS <= UINT8_MAX, "a byte for each event");

/** Return: false if the event lacks the field. */
static inline struct place place_of(const struct tep_format_field *field)
{
	bool is_valid = field && field->offset >= 0 && field->size > 0 &&
			field->offset <= INT32_MAX - field->size;

	return (struct place){
		.offset = field ? field->offset : 0, .size = field ? field->size : 0,
		.end = is_valid ? field->offset + field->size : INT32_MAX, .is_known = field,
	};
}

static bool find_field(struct tep_event *event, const char *name, struct tep_format_field **field)
{
	*field = name ? tep_find_field(event, name) : NULL;
	return !name || *field;
}

static bool find_place(struct tep_event *event, const char *name, struct place *place)
{
	struct tep_format_field *field;
	bool ok = find_field(event, name, &field);

	*place = place_of(field);
	return ok;
}

/** Does a print format call the state KVM_STATE_DEAD_OR_PARKED "x", as Linux before 4.14? */
static bool has_old_states(const struct tep_print_arg *arg)
{
	for (; arg; arg = arg->next) {
		if (arg->type == TEP_PRINT_OP &&
		    (has_old_states(arg->op.left) || has_old_states(arg->op.right)))
			return true;
		if (arg->type != TEP_PRINT_FLAGS)
			continue;
		for (const struct tep_print_flag_sym *flag = arg->flags.flags; flag;
		     flag = flag->next)
			if (flag->value && flag->str && !strcmp(flag->str, "x") &&
			    strtoul(flag->value, NULL, 0) == KVM_STATE_DEAD_OR_PARKED)
				return true;
	}
	return false;
}

/** Return: NULL if the trace does not know it, or it lacks a field. */
static struct tep_event *find_event(struct tep_handle *tep, const struct event_row *row,
				    struct found_event *found)
{
	struct tep_event *event = kvm_formats_find(tep, row->system, row->name);

	if (!event || event->id < 0 || event->id > MAX_ID)
		return NULL;
	found->row = row;
	found->is_sched = row->system && !strcmp(row->system, "sched");
	found->comm = row->kind == KVM_SWITCH ? tep_find_field(event, "next_comm") : NULL;
	return find_place(event, row->arg, &found->arg) &&
	       find_place(event, row->value, &found->value) &&
	       find_place(event, row->more, &found->more) ? event : NULL;
}

static void find_calls(struct kvm_fields *fields)
{
	static const char *const registers[HYPER_N_REGISTERS] = { "a0", "a1", "a2", "a3" };

	for (size_t i = 0; i < N_CALLS; i++) {
		struct tep_event *event = kvm_formats_find(fields->tep, call_rows[i].system,
								 call_rows[i].name);
		struct found_call *call = &fields->calls[i];
		bool whole = event && find_field(event, "nr", &call->nr);

		for (int reg = 0; whole && reg < HYPER_N_REGISTERS; reg++)
			whole = find_field(event, registers[reg], &call->a[reg]);
		if (whole) {
			find_field(event, "guest_rip", &call->rip);
			find_field(event, "overhead", &call->cost);
		}
		call->id = whole ? event->id : -1;
	}
}

static void find_exit(struct kvm_fields *fields)
{
	struct tep_event *event = kvm_formats_find(fields->tep, "kvm", "kvm_exit");

	fields->exit_id = event && find_field(event, "guest_rip", &fields->exit_rip) &&
			  fields->exit_rip ? event->id : -1;
}

static void find_boot(struct kvm_fields *fields)
{
	for (size_t i = 0; i < N_BOOT; i++) {
		struct tep_event *event = kvm_formats_find(fields->tep, "initcall",
								 boot_rows[i].name);
		struct found_boot *boot = &fields->boot[i];

		boot->id = event && find_field(event, boot_rows[i].field, &boot->field) ?
			   event->id : -1;
	}
}

static void find_device(struct kvm_fields *fields)
{
	struct tep_event *event = kvm_formats_find(fields->tep, "irq", "irq_handler_entry");

	fields->device.id = event && find_field(event, "irq", &fields->device.irq) ? event->id : -1;
	if (event)
		find_field(event, "name", &fields->device.name);
}

static void find_cgroups(struct kvm_fields *fields)
{
	for (size_t i = 0; i < N_CGROUPS; i++) {
		struct tep_event *event = kvm_formats_find(fields->tep, "cgroup",
								 cgroup_rows[i]);
		struct found_cgroup *cgroup = &fields->cgroups[i];

		cgroup->id = event && find_field(event, "dst_root", &cgroup->root) &&
			     find_field(event, "pid", &cgroup->pid) &&
			     find_field(event, "dst_path", &cgroup->path) ? event->id : -1;
	}
}

/** The tracker gets a host's handlers; only callers of kvm_fields_handler() get a guest's. */
static void find_handlers(struct kvm_fields *fields)
{
	fields->n_handlers = kvm_handler_fields_find(fields->tep, MAX_ID, fields->handlers);
	for (size_t i = 0; i < fields->n_handlers; i++) {
		int id = fields->handlers[i].id;

		fields->handler_of[id] = (uint8_t)(i + 1);
		if (!kvm_fields_is_host(fields) || fields->by_id[id] ||
		    fields->handlers[i].is_timer)
			continue;
		fields->by_id[id] = (uint8_t)(N_ROWS + i + 1);
		fields->ids[fields->n_ids++] = id;
	}
}

static void find_power(struct kvm_fields *fields)
{
	/* as a guest's trace has them, too */
	if (!kvm_fields_is_host(fields))
		return;
	for (size_t i = 0; i < N_POWER; i++) {
		struct tep_event *event = kvm_formats_find(fields->tep, "power",
								 power_rows[i].name);

		if (!event || event->id < 0 || event->id > MAX_ID || fields->by_id[event->id] ||
		    !find_field(event, power_rows[i].value, &fields->power[i].value) ||
		    !find_field(event, "cpu_id", &fields->power[i].cpu))
			continue;
		fields->by_id[event->id] = (uint8_t)(FIRST_POWER + i);
		fields->ids[fields->n_ids++] = event->id;
	}
}

static void find_arguments(struct kvm_fields *fields)
{
	if (!kvm_fields_is_host(fields))
		return;
	fields->n_arguments = kvm_argument_fields_find(fields->tep, MAX_ID, fields->arguments);
	for (size_t i = 0; i < fields->n_arguments; i++) {
		const struct kvm_argument_field *found = &fields->arguments[i];
		int id = found->id;

		for (int k = 0; k < KVM_ARGUMENT_PARTS; k++)
			fields->places[i].value[k] = place_of(found->value[k]);
		fields->places[i].is_write = place_of(found->is_write);
		fields->places[i].data = place_of(found->data);

		if (fields->by_id[id])
			continue;
		fields->by_id[id] = (uint8_t)(FIRST_ARGUMENT + i);
		fields->ids[fields->n_ids++] = id;
	}
}

/** Which thread they are of is known only with their context. */
static void find_memory(struct kvm_fields *fields)
{
	if (!kvm_fields_is_host(fields) || fields->no_context)
		return;
	fields->n_memory = kvm_memory_fields_find(fields->tep, MAX_ID, fields->memory);
	for (size_t i = 0; i < fields->n_memory; i++) {
		int id = fields->memory[i].id;

		if (fields->by_id[id])
			continue;
		fields->by_id[id] = (uint8_t)(FIRST_MEMORY + i);
		fields->ids[fields->n_ids++] = id;
	}
}

bool kvm_fields_is_usual(const struct kvm_fields *fields)
{
	/* where Linux has had them since 2.6.30 */
	const struct tep_format_field *type = fields->type, *pid = fields->pid;

	return !fields->swap && type && type->offset == 0 && type->size == 2 &&
	       fields->flags.offset == 2 && fields->flags.size == 1 &&
	       pid && pid->offset == 4 && pid->size == 4;
}

/** Of an event that has it, a number of 4 bytes, or @wide. Return: false: it is another one. */
static bool is_quick_place(const struct place *place, int32_t wide, struct kvm_quick *quick,
			   uint16_t *offset)
{
	*offset = 0;
	if (!place->is_known)
		return true;
	if (place->offset < (int32_t)sizeof(struct kvm_common) || place->offset > INT16_MAX ||
	    (place->size != 4 && place->size != wide))
		return false;
	*offset = (uint16_t)place->offset;
	if (quick->least < place->end)
		quick->least = place->end;
	return true;
}

/** What complete() does with an event must be what kvm_quick_step() does. */
static bool is_quick_kind(const struct kvm_fields *fields, const struct found_event *found)
{
	switch (found->row->kind) {
	case KVM_ENTRY:
		return true;
	case KVM_EXIT:
		return found->value.is_known && found->row->isa != KVM_ISA_ARM &&
		       found->row->isa != KVM_ISA_RISCV;
	case KVM_SWITCH:
		return !fields->old_states;
	case KVM_WAKEUP:
		return !fields->no_context;
	}
	return false;
}

static void find_quick(const struct kvm_fields *fields, struct found_event *found)
{
	struct kvm_quick *quick = &found->quick;

	*quick = (struct kvm_quick){
		.least = sizeof(struct kvm_common), .is_wide = found->value.size == 8,
		.has_context = found->row->kind == KVM_WAKEUP, .kind = found->row->kind,
		.isa = found->row->isa, .flags = found->is_sched ? KVM_STEP_SCHED : 0,
		.no_value = found->row->kind == KVM_WAKEUP ? VIRT_NONE : 0,
	};
	found->is_quick = kvm_fields_is_usual(fields) && is_quick_kind(fields, found) &&
			  is_quick_place(&found->arg, 4, quick, &quick->arg) &&
			  is_quick_place(&found->value, 8, quick, &quick->value) &&
			  is_quick_place(&found->more, 4, quick, &quick->more);
}

const struct kvm_quick *kvm_fields_quick(const struct kvm_fields *fields, int id)
{
	unsigned int number = id < 0 || id > MAX_ID ? 0 : fields->by_id[id];
	const struct found_event *found = number && number <= N_ROWS ?
					  &fields->events[number - 1] : NULL;

	return found && found->is_quick ? &found->quick : NULL;
}

struct kvm_fields *kvm_fields_new(struct tep_handle *tep)
{
	struct kvm_fields *fields = calloc(1, sizeof(*fields));

	if (!fields)
		return NULL;
	fields->tep = tep;
	fields->swap = tep_is_file_bigendian(tep) != tep_is_local_bigendian(tep);
	fields->by_id = calloc(MAX_ID + 1, sizeof(*fields->by_id));
	fields->handler_of = calloc(MAX_ID + 1, sizeof(*fields->handler_of));
	if (!fields->by_id || !fields->handler_of) {
		kvm_fields_free(fields);
		return NULL;
	}
	fields->no_context = kvm_formats_find(tep, KVM_OWN_SYSTEM, KVM_NO_CONTEXT);
	find_calls(fields);
	find_exit(fields);
	find_boot(fields);
	find_device(fields);
	find_cgroups(fields);
	for (size_t i = 0; i < N_ROWS; i++) {
		struct tep_event *event = find_event(tep, &event_rows[i],
						     &fields->events[fields->n]);

		if (!event || fields->by_id[event->id])
			continue;
		if (!fields->pid) {
			fields->pid = tep_find_common_field(event, "common_pid");
			fields->type = tep_find_common_field(event, "common_type");
			fields->flags = place_of(tep_find_common_field(event, "common_flags"));
		}
		if (event_rows[i].kind == KVM_SWITCH)
			fields->old_states = has_old_states(event->print_fmt.args);
		fields->by_id[event->id] = (uint8_t)++fields->n;
		fields->ids[fields->n_ids++] = event->id;
	}
	for (size_t i = 0; i < fields->n; i++)
		find_quick(fields, &fields->events[i]);
	find_handlers(fields);
	find_power(fields);
	find_arguments(fields);
	find_memory(fields);
	return fields;
}

void kvm_fields_free(struct kvm_fields *fields)
{
	if (!fields)
		return;
	free(fields->by_id);
	free(fields->handler_of);
	free(fields);
}

size_t kvm_fields_events(const struct kvm_fields *fields, const int **ids)
{
	*ids = fields->ids;
	return fields->n_ids;
}

/** Events that show who does something only if their context is known. */
static bool needs_context(uint8_t kind)
{
	return kind == KVM_WAKING || kind == KVM_ACCEPT || kind == KVM_IPI || kind == KVM_IRQ_LINE;
}

uint64_t kvm_fields_kinds(const struct kvm_fields *fields)
{
	uint64_t kinds = 0;

	if (kvm_formats_count(fields->tep) > KVM_MAX_ENABLED)
		return 0;
	for (size_t i = 0; i < fields->n; i++)
		if (!fields->no_context || !needs_context(fields->events[i].row->kind))
			kinds |= kvm_kinds_of_event(fields->events[i].row->kind);
	for (size_t i = 0; i < N_POWER; i++)
		if (fields->power[i].value)
			kinds |= VIRT_RECORD_BIT(power_rows[i].is_frequency ?
						 VIRT_RECORD_FREQUENCY : VIRT_RECORD_IDLE_STATE);
	for (size_t i = 0; i < fields->n_arguments; i++)
		kinds |= VIRT_RECORD_BIT(exit_argument_record(
			(enum exit_argument_kind)fields->arguments[i].kind));
	for (size_t i = 0; i < fields->n_memory; i++)
		kinds |= VIRT_RECORD_BIT(fields->memory[i].record) & VIRT_RECORDED_ALL;
	return fields->n_handlers ? kinds | VIRT_RECORD_BIT(VIRT_RECORD_HANDLER) : kinds;
}

bool kvm_fields_is_host(const struct kvm_fields *fields)
{
	for (size_t i = 0; i < fields->n; i++)
		if (fields->events[i].row->kind == KVM_ENTRY ||
		    fields->events[i].row->kind == KVM_EXIT ||
		    fields->events[i].row->kind == KVM_WHOLE)
			return true;
	return false;
}

/** KVM of POWER without the hypervisor's mode: arch/powerpc/kvm/trace_pr.h. */
const char *kvm_fields_stranger(const struct kvm_fields *fields)
{
	return kvm_formats_find(fields->tep, "kvm_pr", "kvm_book3s_reenter") ?
	       "ppc64 (kvm_pr)" : NULL;
}

static inline bool is_at(const struct place *place, const struct tep_record *record)
{
	return place->end <= record->size;
}

static inline bool is_there(const struct tep_format_field *field, const struct tep_record *record)
{
	const struct place place = place_of(field);

	return is_at(&place, record);
}

/**
 * A field's number; 0 if the event has none, or the record is too short for it. As
 * tep_read_number_field(), which is called for millions of records and much slower.
 */
static inline int64_t number_at(const struct kvm_fields *fields, const struct place *place,
				const struct tep_record *record)
{
	const char *data = (const char *)record->data + place->offset;
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	if (!is_at(place, record))
		return 0;
	/* most numbers have four bytes */
	if (place->size == 4) {
		memcpy(&four, data, sizeof(four));
		return fields->swap ? __builtin_bswap32(four) : four;
	}
	switch (place->size) {
	case 1:
		return (uint8_t)*data;
	case 2:
		memcpy(&two, data, sizeof(two));
		return fields->swap ? __builtin_bswap16(two) : two;
	case 8:
		memcpy(&eight, data, sizeof(eight));
		return (int64_t)(fields->swap ? __builtin_bswap64(eight) : eight);
	}
	return 0;
}

static int64_t number(const struct kvm_fields *fields, const struct tep_format_field *field,
		      const struct tep_record *record)
{
	const struct place place = place_of(field);

	return number_at(fields, &place, record);
}

bool kvm_fields_number(const struct kvm_fields *fields, const struct tep_format_field *field,
		       const struct tep_record *record, uint64_t *value)
{
	if (!is_there(field, record) || (field->size != 1 && field->size != 2 &&
					 field->size != 4 && field->size != 8))
		return false;
	*value = (uint64_t)number(fields, field, record);
	return true;
}

int32_t kvm_fields_pid(const struct kvm_fields *fields, struct tep_record *record)
{
	return fields->pid ? (int32_t)number(fields, fields->pid, record) :
	       tep_data_pid(fields->tep, record);
}

int kvm_fields_id(const struct kvm_fields *fields, struct tep_record *record)
{
	return fields->type ? (int)number(fields, fields->type, record) :
	       tep_data_type(fields->tep, record);
}

uint64_t kvm_fields_exit_rip(const struct kvm_fields *fields, const struct tep_record *record,
			     int id)
{
	return id >= 0 && id == fields->exit_id && is_there(fields->exit_rip, record) ?
	       (uint64_t)number(fields, fields->exit_rip, record) : 0;
}

bool kvm_fields_call(const struct kvm_fields *fields, const struct tep_record *record, int id,
		     struct hyper_call *call)
{
	const struct found_call *found = NULL;
	size_t i = 0;

	while (i < N_CALLS && fields->calls[i].id != id)
		i++;
	if (id < 0 || i == N_CALLS)
		return false;
	found = &fields->calls[i];
	*call = (struct hyper_call){
		.nr = (uint64_t)number(fields, found->nr, record), .bytes = 8 * HYPER_N_REGISTERS,
		.source = call_rows[i].source, .cost_ns = -1,
		.rip = (uint64_t)number(fields, found->rip, record),
	};
	if (is_there(found->cost, record))
		call->cost_ns = number(fields, found->cost, record);
	if (call->cost_ns < 0 || call->cost_ns > HYPER_MOST_COST_NS)
		call->cost_ns = -1;
	for (int reg = 0; reg < HYPER_N_REGISTERS; reg++) {
		if (!is_there(found->a[reg], record))
			return false;
		call->a[reg] = (uint64_t)number(fields, found->a[reg], record);
	}
	return is_there(found->nr, record);
}

/** A text somewhere in the record: its place in the lower half of the field, its length above. */
static bool text_at(const struct kvm_fields *fields, const struct tep_format_field *field,
		    const struct tep_record *record, char *text, size_t size)
{
	uint64_t place = (uint64_t)number(fields, field, record);
	uint64_t at = place & 0xffff, length = place >> 16 & 0xffff;

	if (!is_there(field, record) || field->size != 4 || at + length > (uint64_t)record->size ||
	    length >= size)
		return false;
	memcpy(text, (const char *)record->data + at, length);
	text[length] = '\0';
	return length > 0;
}

const char *kvm_fields_boot_label(const struct hyper_event *event)
{
	for (size_t i = 0; i < N_BOOT; i++)
		if (boot_rows[i].kind == event->kind && boot_rows[i].edge == event->edge)
			return boot_rows[i].name;
	return NULL;
}

bool kvm_fields_boot(const struct kvm_fields *fields, const struct tep_record *record, int id,
		     struct hyper_event *event)
{
	char level[LEVEL_SIZE];
	size_t i = 0;

	while (i < N_BOOT && fields->boot[i].id != id)
		i++;
	if (id < 0 || i == N_BOOT)
		return false;
	*event = (struct hyper_event){
		.kind = boot_rows[i].kind, .edge = boot_rows[i].edge, .label = boot_rows[i].name,
	};
	if (event->kind == HYPER_LEVEL) {
		if (!text_at(fields, fields->boot[i].field, record, level, sizeof(level)))
			return false;
		event->has = UINT32_C(1) << HYPER_F_NUMBER;
		event->number = hyper_level_number(level);
		if (event->number == HYPER_OTHER_LEVEL) {
			event->has |= UINT32_C(1) << HYPER_F_NAME;
			snprintf(event->name, sizeof(event->name), "%.*s", HYPER_NAME_SIZE - 1,
				 level);
		}
		return true;
	}
	event->has = UINT32_C(1) << HYPER_F_ADDRESS;
	event->address = (uint64_t)number(fields, fields->boot[i].field, record);
	return is_there(fields->boot[i].field, record);
}

static bool name_thread(const struct tep_format_field *field, const struct tep_record *record,
			const struct kvm_step *step, struct kvm_step_more *more)
{
	int size = field->size < KVM_COMM_SIZE ? field->size : KVM_COMM_SIZE - 1;

	if (step->event.arg <= 0 || !is_there(field, record))
		return false;
	*more = (struct kvm_step_more){ 0 };
	memcpy(more->comm, (const char *)record->data + field->offset, size);
	return true;
}

/**
 * enum kvm_context. Where it is unknown, the thread that has the CPU is not the cause, as in an
 * interrupt.
 */
static uint8_t context(const struct kvm_fields *fields, const struct tep_record *record)
{
	return fields->no_context ||
	       number_at(fields, &fields->flags, record) & RECORD_IN_INTERRUPT ?
	       KVM_IN_INTERRUPT : KVM_IN_TASK;
}

/** scause of RISC-V, whose highest bit says that it is an interrupt, as KVM_ISA_RISCV has it. */
static int64_t riscv_cause(int32_t size, int64_t value)
{
	uint64_t interrupt = UINT64_C(1) << (size >= 8 ? 63 : 31);
	uint64_t cause = (uint64_t)value;

	return (int64_t)(cause & interrupt ? UINT64_C(1) << 32 | (cause & ~interrupt & UINT32_MAX) :
					     cause & UINT32_MAX);
}

/**
 * An interrupt of arm64. The records of a timer are its vCPU's own, written before it enters its
 * guest; one that expires in an interrupt of the host shows nothing more than this interrupt does.
 * No record shows the vCPU that gets a shared interrupt. Numbers are no vectors of x86.
 */
static void gic_event(const struct kvm_fields *fields, const struct tep_record *record,
		      int64_t level, struct kvm_event *event)
{
	enum gic gic = (enum gic)event->more;
	bool is_shared = gic == GIC_LINE ? event->value == GIC_LINE_SHARED :
					   event->value >= GIC_FIRST_SHARED;

	event->more = context(fields, record);
	if (!level || (gic == GIC_PENDING && !is_shared) ||
	    (gic == GIC_TIMER && event->more & KVM_IN_INTERRUPT))
		event->kind = KVM_SEEN;
	else if (is_shared)
		event->kind = KVM_IRQ_LINE;
	event->value = event->kind == KVM_IRQ_LINE ? KVM_LINE_OF_WOKEN : VIRT_NONE;
}

/** What some kinds of events need besides. */
static void complete(const struct kvm_fields *fields, const struct found_event *found,
		     const struct tep_record *record, struct kvm_event *event)
{
	int64_t more = number_at(fields, &found->more, record);

	switch (event->kind) {
	case KVM_USERSPACE_EXIT:
		event->value = (int32_t)event->value;
		return;
	case KVM_TSC_OFFSET:
		return;
	case KVM_SWITCH:
		if (fields->old_states && event->value & KVM_STATE_DEAD_OR_PARKED)
			event->value |= KVM_STATE_DEAD;
		return;
	case KVM_EXIT:
		if (!found->value.is_known)
			event->value = VIRT_NONE;
		if (event->more == KVM_ISA_RISCV)
			event->value = riscv_cause(found->value.size, event->value);
		if (event->more == KVM_ISA_ARM)
			event->value = (int64_t)((uint64_t)more << 32 |
						 ((uint64_t)event->value & UINT32_MAX));
		else if (found->more.is_known)
			event->more = (uint8_t)more;
		return;
	case KVM_WHOLE:
		if (!found->value.is_known || event->value > HYPER_MOST_COST_NS)
			event->value = VIRT_NONE;
		return;
	case KVM_ACCEPT:
		if (event->more != GIC_NONE) {
			gic_event(fields, record, more, event);
			return;
		}
		/* APIC_DM_FIXED, APIC_DM_LOWEST (asm/apicdef.h): others have no vector */
		if (more & 0x600)
			event->value = VIRT_NONE;
		break;
	case KVM_INJECT:
		/* INTn is no interrupt */
		if (more)
			event->value = VIRT_NONE;
		break;
	case KVM_IRQ_LINE:
		if (event->more != GIC_NONE) {
			gic_event(fields, record, more, event);
			return;
		}
		event->value = 0;
		break;
	case KVM_WAKEUP:
		if (!found->value.is_known)
			event->value = VIRT_NONE;
		break;
	case KVM_WAKING:
	case KVM_IPI:
		break;
	default:
		if (found->more.is_known)
			event->more = (uint8_t)more;
		return;
	}
	/* a vCPU's own thread injects */
	event->more = event->kind == KVM_INJECT && fields->no_context ? KVM_IN_TASK :
		      context(fields, record);
}

int64_t kvm_fields_irq(const struct kvm_fields *fields, const struct tep_record *record, int id)
{
	return id >= 0 && id == fields->device.id && is_there(fields->device.irq, record) ?
	       number(fields, fields->device.irq, record) : -1;
}

void kvm_fields_device(const struct kvm_fields *fields, const struct tep_record *record, int id,
		       char name[KVM_DEVICE_SIZE])
{
	if (id < 0 || id != fields->device.id || !fields->device.name ||
	    !text_at(fields, fields->device.name, record, name, KVM_DEVICE_SIZE))
		*name = '\0';
}

bool kvm_fields_cgroup(const struct kvm_fields *fields, const struct tep_record *record, int id,
		       struct kvm_cgroup_event *event)
{
	const struct found_cgroup *found;
	size_t i = 0;

	while (i < N_CGROUPS && fields->cgroups[i].id != id)
		i++;
	if (id < 0 || i == N_CGROUPS)
		return false;
	found = &fields->cgroups[i];
	event->root = (int32_t)number(fields, found->root, record);
	event->pid = (int32_t)number(fields, found->pid, record);
	return is_there(found->root, record) && is_there(found->pid, record) && event->pid > 0 &&
	       text_at(fields, found->path, record, event->path, sizeof(event->path));
}

bool kvm_fields_tracks(const struct kvm_fields *fields, int id)
{
	return id >= 0 && id <= MAX_ID && fields->by_id[id];
}

bool kvm_fields_handles(const struct kvm_fields *fields, int id)
{
	return id >= 0 && id <= MAX_ID && fields->handler_of[id];
}

bool kvm_fields_has_exit_rip(const struct kvm_fields *fields, int id)
{
	return id >= 0 && id == fields->exit_id;
}

bool kvm_fields_has_more(const struct kvm_fields *fields, int id)
{
	bool found = id == fields->device.id;

	for (size_t i = 0; i < N_CALLS; i++)
		found |= id == fields->calls[i].id;
	for (size_t i = 0; i < N_BOOT; i++)
		found |= id == fields->boot[i].id;
	for (size_t i = 0; i < N_CGROUPS; i++)
		found |= id == fields->cgroups[i].id;
	return found;
}

/** What a handler is called that is entered. */
static void name_handler(const struct kvm_fields *fields, const struct kvm_handler_field *found,
			 const struct tep_record *record, char *name, size_t size)
{
	char text[LEVEL_SIZE] = "";

	if (!found->text || !text_at(fields, found->text, record, text, sizeof(text)))
		*text = '\0';
	kvm_handler_field_name(found, number(fields, found->number, record), text, name, size);
}

bool kvm_fields_handler(const struct kvm_fields *fields, const struct tep_record *record, int id,
			struct kvm_handler_event *event)
{
	const struct kvm_handler_field *found;

	if (id < 0 || id > MAX_ID || !fields->handler_of[id])
		return false;
	found = &fields->handlers[fields->handler_of[id] - 1];
	*event = (struct kvm_handler_event){
		.kind = found->kind, .edge = found->edge, .is_timer = found->is_timer,
	};
	if (found->edge != KVM_HANDLER_EXIT)
		name_handler(fields, found, record, event->name, sizeof(event->name));
	if (found->edge == KVM_HANDLER_WHOLE)
		event->ns = (int32_t)number(fields, found->number, record);
	return true;
}

bool kvm_fields_handler_is_beyond(const struct kvm_fields *fields, int id, int begin)
{
	const struct kvm_handler_field *found = &fields->handlers[fields->handler_of[id] - 1];

	return !found->text && (!found->number || found->number->offset >= begin);
}

static void power_step(const struct kvm_fields *fields, const struct tep_record *record, size_t i,
		       struct kvm_step *step, struct kvm_step_more *more)
{
	int64_t value = number(fields, fields->power[i].value, record);

	if (!is_there(fields->power[i].value, record) || !is_there(fields->power[i].cpu, record))
		return;
	step->kind = power_rows[i].is_frequency ? KVM_STEP_FREQUENCY : KVM_STEP_IDLE_STATE;
	*more = (struct kvm_step_more){
		.number = number(fields, fields->power[i].cpu, record),
	};
	if (!power_rows[i].is_frequency && value > INT32_MAX)
		value = value == LEAVES_IDLE ? VIRT_AWAKE : INT32_MAX;
	step->event.value = value;
}

static void argument_step(const struct kvm_fields *fields, const struct tep_record *record,
			  unsigned int n, struct kvm_step *step)
{
	const struct argument_places *places = &fields->places[n];
	uint64_t parts[KVM_ARGUMENT_PARTS] = { 0 }, data, value;

	for (int i = 0; i < KVM_ARGUMENT_PARTS && places->value[i].is_known; i++) {
		if (!is_at(&places->value[i], record))
			return;
		parts[i] = (uint64_t)number_at(fields, &places->value[i], record);
	}
	if (places->is_write.is_known && !is_at(&places->is_write, record))
		return;
	data = (uint64_t)number_at(fields, &places->data, record);
	step->event.more = kvm_argument_of(&fields->arguments[n], parts,
					   (uint64_t)number_at(fields, &places->is_write, record),
					   is_at(&places->data, record) ? &data : NULL, &value);
	/* a value that no processor has shows nothing */
	if (value > exit_argument_most((enum exit_argument_kind)step->event.more))
		return;
	step->kind = KVM_STEP_EVENT;
	step->event.kind = KVM_ARGUMENT;
	step->event.arg = VIRT_NONE;
	step->event.value = (int64_t)value;
}

/** The first letter of a text, or a number. */
static uint64_t part_of(const struct kvm_fields *fields, const struct tep_format_field *field,
			const struct tep_record *record)
{
	return field->flags & TEP_FIELD_IS_ARRAY ? ((const uint8_t *)record->data)[field->offset] :
						   (uint64_t)number(fields, field, record);
}

static void memory_step(const struct kvm_fields *fields, const struct tep_record *record,
			const struct kvm_memory_field *found, struct kvm_step *step)
{
	uint64_t parts[KVM_MEMORY_PARTS] = { 0 };
	struct kvm_event event = { .more = context(fields, record) };

	for (int i = 0; i < KVM_MEMORY_PARTS && found->part[i]; i++) {
		if (!is_there(found->part[i], record))
			return;
		parts[i] = part_of(fields, found->part[i], record);
	}
	if (!kvm_memory_event(found, parts, &event))
		return;
	step->kind = KVM_STEP_EVENT;
	step->event = event;
}

/** @found: the event's entry in the table. */
static void event_step(const struct kvm_fields *fields, const struct found_event *found,
		       const struct tep_record *record, struct kvm_step *step,
		       struct kvm_step_more *more)
{
	struct kvm_event *event = &step->event;

	if (fields->no_context && needs_context(found->row->kind))
		return;
	step->kind = KVM_STEP_EVENT;
	event->kind = found->row->kind;
	event->more = found->row->isa;
	event->arg = found->arg.is_known ? (int32_t)number_at(fields, &found->arg, record) :
					   VIRT_NONE;
	event->value = number_at(fields, &found->value, record);
	complete(fields, found, record, event);
	if (event->kind == KVM_SEEN) {
		*step = (struct kvm_step){ .kind = KVM_STEP_SEEN };
		return;
	}
	if (found->is_sched && is_at(&found->arg, record) &&
	    (!found->value.is_known || is_at(&found->value, record)))
		step->flags |= KVM_STEP_SCHED;
	if (found->comm && name_thread(found->comm, record, step, more))
		step->flags |= KVM_STEP_NAMED;
	if (event->kind == KVM_TSC_OFFSET && is_at(&found->more, record)) {
		*more = (struct kvm_step_more){ .number = number_at(fields, &found->more, record) };
		step->flags |= KVM_STEP_BEFORE;
	}
}

/** Of events that are in no row of the table of events, but of another one. */
__attribute__((noinline))
static void other_step(const struct kvm_fields *fields, const struct tep_record *record,
		       unsigned int number, struct kvm_step *step, struct kvm_step_more *more)
{
	if (number >= FIRST_MEMORY)
		memory_step(fields, record, &fields->memory[number - FIRST_MEMORY], step);
	else if (number >= FIRST_ARGUMENT)
		argument_step(fields, record, number - FIRST_ARGUMENT, step);
	else if (number >= FIRST_POWER)
		power_step(fields, record, number - FIRST_POWER, step, more);
	else
		step->kind = KVM_STEP_HANDLER;
}

void kvm_fields_step(const struct kvm_fields *fields, const struct tep_record *record, int id,
		     struct kvm_step *step, struct kvm_step_more *more)
{
	unsigned int number = id < 0 || id > MAX_ID ? 0 : fields->by_id[id];

	*step = (struct kvm_step){ .kind = KVM_STEP_SEEN };
	if (number > N_ROWS)
		other_step(fields, record, number, step, more);
	else if (number)
		event_step(fields, &fields->events[number - 1], record, step, more);
}

int kvm_fields_take(const struct kvm_fields *fields, struct kvm_tracker *tracker,
		    const struct tep_record *record, int id, int cpu, int32_t pid, int64_t time_ns)
{
	struct kvm_handler_event handler;
	struct kvm_step_more more;
	struct kvm_step step;

	if (cpu < 0 || cpu > INT16_MAX)
		return -EINVAL;
	kvm_fields_step(fields, record, id, &step, &more);
	if (step.kind == KVM_STEP_HANDLER)
		kvm_fields_handler(fields, record, id, &handler);
	step.event.time_ns = time_ns;
	step.event.pid = pid;
	step.event.cpu = (int16_t)cpu;
	return kvm_step_take(&step, &more, &handler, tracker);
}
