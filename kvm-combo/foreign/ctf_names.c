// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ctf_names.c
 * @brief	The tables of LTTng's names and the kernel's names for the same events and fields.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "ctf_names.h"

/**
 * Names of events. "*" at the end of @ctf stands for any end, which replaces that of @name. The
 * first row that fits counts. Sources: lttng-modules 2.13 and 2.14, in
 * include/instrumentation/events: the second name of each ..._MAP() is LTTng's, the first one the
 * kernel's. TRACE_SYSTEM is that of the kernel's header of the same name. System calls:
 * src/lttng-syscalls.c there; up to LTTng 2.5 an entry is sys_X, and the exit exit_syscall.
 */
static const struct event_row {
	const char *ctf, *system, *name;
} event_rows[] = {
	/* arch/x86/kvm/trace.h */
	{ "kvm_x86_vcpu_match_mmio", "kvm", "vcpu_match_mmio" },
	{ "kvm_x86_*", "kvm", "kvm_*" },
	/* arch/x86/kvm/mmutrace.h */
	{ "kvm_mmu_mark_mmio_spte", "kvmmmu", "mark_mmio_spte" },
	{ "kvm_mmu_handle_mmio_page_fault", "kvmmmu", "handle_mmio_page_fault" },
	{ "kvm_mmu_fast_page_fault", "kvmmmu", "fast_page_fault" },
	{ "kvm_mmu_*", "kvmmmu", "kvm_mmu_*" },
	/* kvm.h */
	{ "kvm_*", "kvm", "kvm_*" },
	/* irq.h */
	{ "irq_softirq_*", "irq", "softirq_*" },
	{ "irq_*", "irq", "irq_*" },
	{ "softirq_*", "irq", "softirq_*" },
	/* timer.h */
	{ "timer_hrtimer_*", "timer", "hrtimer_*" },
	{ "timer_itimer_*", "timer", "itimer_*" },
	{ "timer_*", "timer", "timer_*" },
	{ "hrtimer_*", "timer", "hrtimer_*" },
	{ "itimer_*", "timer", "itimer_*" },
	/* power.h */
	{ "power_cpu_*", "power", "cpu_*" },
	{ "power_machine_suspend", "power", "machine_suspend" },
	{ "power_wakeup_source_*", "power", "wakeup_source_*" },
	{ "power_clock_*", "power", "clock_*" },
	/* arch/x86/irq_vectors.h */
	{ "x86_irq_vectors_ipi_entry", "irq_vectors", "x86_platform_ipi_entry" },
	{ "x86_irq_vectors_ipi_exit", "irq_vectors", "x86_platform_ipi_exit" },
	{ "x86_irq_vectors_*", "irq_vectors", "*" },
	/* arch/x86/exceptions.h */
	{ "x86_exceptions_*", "exceptions", "*" },
	/* system calls */
	{ "syscall_entry_*", "syscalls", "sys_enter_*" },
	{ "syscall_exit_*", "syscalls", "sys_exit_*" },
	{ "compat_syscall_entry_*", "syscalls", "compat_sys_enter_*" },
	{ "compat_syscall_exit_*", "syscalls", "compat_sys_exit_*" },
	{ "sys_*", "syscalls", "sys_enter_*" },
	{ "exit_syscall", "syscalls", "sys_exit" },
};

/** Linux's KVM_MAX_VCPU_IDS is less: 4 * 4096. */
#define MOST_VCPU	0xffff

/** Physical addresses have 52 bits. */
#define MOST_ADDRESS	((UINT64_C(1) << 52) - 1)

/**
 * Names of fields, in events of @system (and of @event alone, unless it is NULL). sched.h of
 * lttng-modules calls a thread tid and a process pid, as their users do; the kernel calls a thread
 * pid and a process tgid. It records priorities from -100 to 39, MAX_RT_PRIO less than the
 * kernel's.
 *
 * LTTng 2.13 takes the first argument of the tracepoints kvm_entry and kvm_page_fault for a number
 * and an address. In newer kernels it is the address of the vCPU's structure in the kernel (seen
 * with lttng-modules 2.13.9 on Linux 6.1).
 */
static const struct field_row {
	const char	*system, *event, *ctf, *name;
	int64_t		add;
	uint64_t	most;
} field_rows[] = {
	{ "kvm", "kvm_entry", "vcpu_id", "vcpu_id", 0, MOST_VCPU },
	{ "kvm", "kvm_exit", "vcpu_id", "vcpu_id", 0, MOST_VCPU },
	{ "kvm", "kvm_page_fault", "fault_address", "fault_address", 0, MOST_ADDRESS },
	{ "sched", "sched_process_fork", "parent_pid", "parent_tgid", 0, 0 },
	{ "sched", "sched_process_fork", "child_pid", "child_tgid", 0, 0 },
	{ "sched", "sched_process_fork", "parent_tid", "parent_pid", 0, 0 },
	{ "sched", "sched_process_fork", "child_tid", "child_pid", 0, 0 },
	{ "sched", NULL, "tid", "pid", 0, 0 },
	{ "sched", NULL, "prev_tid", "prev_pid", 0, 0 },
	{ "sched", NULL, "next_tid", "next_pid", 0, 0 },
	{ "sched", NULL, "prio", "prio", 100, 0 },
	{ "sched", NULL, "prev_prio", "prev_prio", 100, 0 },
	{ "sched", NULL, "next_prio", "next_prio", 100, 0 },
};

#define SWITCH_HEAD "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s " \
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
#define SWITCH_TAIL ", REC->next_comm, REC->next_pid, REC->next_prio"

/** States of Linux's include/trace/events/sched.h: up to 4.13, and since 4.14. */
static const char old_switch[] = SWITCH_HEAD
	"REC->prev_state & 1023 ? __print_flags(REC->prev_state & 1023, \"|\", { 1, \"S\" }, "
	"{ 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, "
	"{ 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }) : \"R\"" SWITCH_TAIL;
static const char new_switch[] = SWITCH_HEAD
	"REC->prev_state & 255 ? __print_flags(REC->prev_state & 255, \"|\", { 1, \"S\" }, "
	"{ 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"X\" }, { 32, \"Z\" }, { 64, \"P\" }, "
	"{ 128, \"I\" }) : \"R\"" SWITCH_TAIL;

/** Does a name fit a row? Return: the end that "*" stands for, or NULL. */
static const char *fits(const char *ctf, const char *pattern)
{
	size_t n = strcspn(pattern, "*");

	if (strncmp(ctf, pattern, n) != 0)
		return NULL;
	return pattern[n] || !ctf[n] ? ctf + n : NULL;
}

void ctf_event_name(const char *ctf, struct ctf_event_name *to)
{
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(event_rows); i++) {
		const struct event_row *row = &event_rows[i];
		const char *end = fits(ctf, row->ctf);

		if (!end)
			continue;
		snprintf(to->system, sizeof(to->system), "%s", row->system);
		snprintf(to->name, sizeof(to->name), "%.*s%s", (int)strcspn(row->name, "*"),
			 row->name, end);
		return;
	}
	/* a provider of user space is before a colon */
	n = strcspn(ctf, ":");
	if (!ctf[n])
		n = strcspn(ctf, "_");
	snprintf(to->system, sizeof(to->system), "%.*s", n ? (int)(n < 64 ? n : 64) : 3,
		 n ? ctf : "ctf");
	snprintf(to->name, sizeof(to->name), "%s", ctf[n] == ':' && ctf[n + 1] ? ctf + n + 1 : ctf);
}

struct ctf_field_name ctf_field_name(const struct ctf_event_name *event, const char *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_rows); i++) {
		const struct field_row *row = &field_rows[i];

		if (!strcmp(event->system, row->system) && !strcmp(field, row->ctf) &&
		    (!row->event || !strcmp(event->name, row->event)))
			return (struct ctf_field_name){ row->name, row->add, row->most };
	}
	return (struct ctf_field_name){ field, 0, 0 };
}

bool ctf_field_is_comm(const struct ctf_event_name *event, const char *field)
{
	size_t n = strlen(field);

	return !strcmp(event->system, "sched") && n >= 4 && !strcmp(field + n - 4, "comm") &&
	       (n == 4 || field[n - 5] == '_');
}

const char *ctf_switch_print(const char *release)
{
	char *end = NULL;
	unsigned long major = release ? strtoul(release, &end, 10) : 0, minor = 0;

	if (major && *end == '.')
		minor = strtoul(end + 1, NULL, 10);
	return major && (major < 4 || (major == 4 && minor < 14)) ? old_switch : new_switch;
}
