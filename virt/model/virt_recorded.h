/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_recorded.h
 * @brief	The kinds of records that a trace has: an event without records may still have
 *		happened.
 *
 * A tracker puts a set of kinds into the model. A kind is in the set if the trace has a record of
 * it, or if the trace says that it would have one, had the event happened (the event was enabled).
 * A number that needs a kind that is not in the set is unknown, never 0.
 */
#ifndef KSHARK_VIRT_VIRT_RECORDED_H
#define KSHARK_VIRT_VIRT_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The events that are named are those of Linux. */
enum virt_record_kind {
	VIRT_RECORD_ENTRY = 0,	/* a vCPU enters its guest: kvm_entry; Xen: VMENTRY */
	VIRT_RECORD_EXIT,	/* and leaves it: kvm_exit; Xen: VMEXIT */
	VIRT_RECORD_WHOLE,	/* both as one record, of hypercalls alone: hypergraph_host */
	VIRT_RECORD_MONITOR,	/* KVM hands a vCPU to its monitor: kvm_userspace_exit */
	VIRT_RECORD_RUN,	/* KVM_RUN begins and ends: kvm_fpu */
	VIRT_RECORD_SWITCH,	/* who has a pCPU: sched_switch; Xen: switches of its scheduler */
	VIRT_RECORD_WAKEUP,	/* who may run again: sched_wakeup */
	VIRT_RECORD_WAKER,	/* who woke it: sched_waking */
	VIRT_RECORD_BORN,	/* a thread begins: sched_wakeup_new */
	VIRT_RECORD_MIGRATE,	/* a waiting thread goes to another pCPU: sched_migrate_task */
	VIRT_RECORD_RUNSTATE,	/* Xen: runstate changes, with the time in the old one */
	VIRT_RECORD_ACCEPT,	/* an interrupt is sent to a vCPU: kvm_apic_accept_irq */
	VIRT_RECORD_INJECT,	/* a vCPU enters with an interrupt: kvm_inj_virq */
	VIRT_RECORD_HYPERCALL,	/* number of a hypercall: kvm_hypercall; Xen: of a PV domain */
	VIRT_RECORD_NESTED,	/* a guest's guest is entered: kvm_nested_vmenter */
	VIRT_RECORD_NESTED_EXIT, /* and left: kvm_nested_vmexit */
	VIRT_RECORD_NESTED_INJECT, /* which its hypervisor gets to see: kvm_nested_vmexit_inject */
	VIRT_RECORD_HALT_POLL,	/* how long KVM polled before it slept: kvm_vcpu_wakeup */
	VIRT_RECORD_HANDLER,	/* interrupts, softirqs, NMIs of the host: irq_handler_entry ... */
	VIRT_RECORD_IDLE_STATE,	/* C-states: cpu_idle */
	VIRT_RECORD_FREQUENCY,	/* frequencies: cpu_frequency */
	VIRT_RECORD_EXCEPTION,	/* traps of a vCPU: kvm_inj_exception; Xen: of PV domains */
	VIRT_RECORD_MEMORY,	/* Xen: what domains do to their memory */
	/* what an exit was for, see exit_arguments.h: */
	VIRT_RECORD_CALL,	/* kvm_hypercall; Xen: of an HVM domain */
	VIRT_RECORD_MSR,	/* kvm_msr */
	VIRT_RECORD_PORT,	/* kvm_pio */
	VIRT_RECORD_MMIO,	/* kvm_mmio, kvm_fast_mmio */
	VIRT_RECORD_FAULT,	/* kvm_page_fault */
	VIRT_RECORD_CPUID,	/* kvm_cpuid */
	VIRT_RECORD_CR,		/* kvm_cr */
	VIRT_RECORD_APIC,	/* kvm_apic */
	VIRT_RECORD_VMGEXIT,	/* kvm_vmgexit_enter */
	VIRT_RECORD_ABORT,	/* arm64: kvm_guest_fault */
	VIRT_RECORD_SYSREG,	/* arm64: kvm_sys_access */
	VIRT_RECORD_SMCCC,	/* arm64: kvm_hvc_arm64 */
	VIRT_RECORD_WAIT,	/* arm64: kvm_wfx_arm64 */
	VIRT_RECORD_SUBCALL,	/* Xen: the calls in a multicall of a PV domain */
	VIRT_RECORD_REQUEST,	/* Xen: who puts a vCPU to sleep: domain_sleep, domain_block */
	VIRT_RECORD_BUDGET,	/* Xen: the scheduler's own, such as what is left of a cap */
	/* what the host did for a guest's memory, see exit_causes.h: */
	VIRT_RECORD_USERFAULT,	/* both ends of ioctl(): sys_enter_ioctl, sys_exit_ioctl */
	VIRT_RECORD_PAGE_CACHE,	/* mm_filemap_add_to_page_cache */
	VIRT_RECORD_BLOCK,	/* who asks a block device: block_bio_queue */
	VIRT_RECORD_ALLOC,	/* pages that a thread takes: mm_page_alloc */
	VIRT_RECORD_FAST_FAULT,	/* faults of dirty logging: fast_page_fault */
	VIRT_RECORD_ASYNC,	/* another thread gets the page: kvm_try_async_get_page */
	VIRT_RECORD_N_KINDS
};

/** VIRT_RECORD_BIT - the set that has one kind */
#define VIRT_RECORD_BIT(kind)	(UINT64_C(1) << (kind))

/** VIRT_RECORDED_ALL - the set that has all of them */
#define VIRT_RECORDED_ALL	(VIRT_RECORD_BIT(VIRT_RECORD_N_KINDS) - 1)

/**
 * virt_model_set_recorded - the kinds that were recorded, of a model that is not finished
 * @kinds: VIRT_RECORD_BIT() of each; the last word counts
 *
 * Without a word, the model has all kinds. Return: 0, or -EINVAL if the model is finished.
 */
int virt_model_set_recorded(struct virt_model *model, uint64_t kinds);

/** virt_model_recorded - the set of kinds that were recorded */
uint64_t virt_model_recorded(const struct virt_model *model);

/** virt_model_has_recorded - whether one kind was recorded */
bool virt_model_has_recorded(const struct virt_model *model, enum virt_record_kind kind);

#ifdef __cplusplus
}
#endif
#endif
