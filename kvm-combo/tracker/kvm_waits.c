// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_waits.c
 * @brief	Find why a vCPU left its guest, and whether the guest wants a sleep that follows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_private.h"

/**
 * Flags in the upper half of a VMX exit reason: bits 25 to 29, and 31 of an entry that failed (SDM,
 * volume 3, 25.9.1). The others belong to the reason: hypervisors that stand in for VMX, such as
 * PVM, have reasons of their own from 0x10000 on.
 */
#define VMX_FLAGS	UINT64_C(0xbe000000)

/** What an exit shows about the sleep that may follow. @name: NULL if unknown. */
static enum kvm_wait wait_of(const struct virt_model *model, int32_t reason, const char *name)
{
	/*
	 * An instruction, which may be WFI, IDLE or one that loads the state to wait in, a request
	 * to stop, or a call of POWER's hypervisor, which may be H_CEDE
	 */
	static const char *const open[] = {
		"VIRTUAL_INST_FAULT", "GSPR", "Instruction", "Stop request", "SYSCALL",
	};

	if (!name)
		return KVM_WAIT_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(open); i++)
		if (!strcmp(name, open[i]))
			return KVM_WAIT_UNKNOWN;
	switch (virt_model_reason_class(model, reason)) {
	case VIRT_EXIT_HALT:
		return KVM_WAIT_ASKED;
	case VIRT_EXIT_HYPERCALL:
		/* the others may be anything: PSCI's suspend, a HLT of an encrypted guest */
		return strcmp(name, "VMCALL") && strcmp(name, "VMMCALL") ? KVM_WAIT_UNKNOWN :
									   KVM_WAIT_CALL;
	default:
		return KVM_WAIT_UNASKED;
	}
}

/** Exits out of a guest's guest have reasons of their own, called L2:... as those of Xen. */
int kvm_reason_of(struct kvm_reasons *known, struct virt_model *model,
		  const struct kvm_event *event, bool nested, struct kvm_reason *reason)
{
	uint64_t value = (uint64_t)event->value;
	uint32_t n_known = known->map.n_keys;
	char buf[32] = "", name[48];
	const char *plain;
	int64_t n;

	*reason = (struct kvm_reason){ VIRT_NONE, KVM_WAIT_UNKNOWN };
	if (event->more == KVM_ISA_NONE && event->value < 0)
		return 0;
	if (event->more == KVM_ISA_VMX)
		value &= ~VMX_FLAGS;
	/* no isa has reasons beyond 2^60, but for those below 0 */
	n = KEY_MAP_ELEMENT(&known->map, value << 4 | (event->more & 7U) << 1 | nested,
			    known->reasons, known->room);
	if (n < 0)
		return -ENOMEM;
	if (n >= n_known) {
		plain = kvm_exit_name(event->more, value, buf, sizeof(buf));
		snprintf(name, sizeof(name), "%s%s", nested ? "L2:" : "", plain);
		reason->index = virt_model_add_reason(model, name);
		reason->wait = wait_of(model, reason->index,
				       kvm_exit_is_known(event->more, value) ? plain : NULL);
		known->reasons[n] = *reason;
	}
	*reason = known->reasons[n];
	return reason->index < 0 ? reason->index : 0;
}

void kvm_reasons_destroy(struct kvm_reasons *known)
{
	free(known->reasons);
	key_map_destroy(&known->map);
}

enum kvm_wait kvm_wait_of_monitor(enum kvm_wait wait, const struct kvm_event *event)
{
	/* include/uapi/linux/kvm.h: KVM_EXIT_... with which the virtual machine itself stops */
	enum {
		EXIT_DEBUG = 4, EXIT_HLT = 5, EXIT_SHUTDOWN = 8, EXIT_FAIL_ENTRY = 9,
		EXIT_INTR = 10, EXIT_INTERNAL_ERROR = 17, EXIT_SYSTEM_EVENT = 24,
	};

	/* a signal, or a failure */
	if (event->value < 0)
		return KVM_WAIT_STOPPED;
	switch (event->arg) {
	case EXIT_HLT:
		return KVM_WAIT_ASKED;
	case EXIT_DEBUG:
	case EXIT_SHUTDOWN:
	case EXIT_FAIL_ENTRY:
	case EXIT_INTR:
	case EXIT_INTERNAL_ERROR:
	case EXIT_SYSTEM_EVENT:
		return KVM_WAIT_STOPPED;
	default:
		return wait;
	}
}

bool kvm_is_waiting_call(const struct kvm_event *event)
{
	static const struct {
		enum kvm_hypercall_abi abi;
		int64_t	nr;
		int32_t	arg;		/* VIRT_NONE: any */
	} calls[] = {
		/* include/uapi/linux/kvm_para.h: VAPIC_POLL_IRQ, KICK_CPU, SCHED_YIELD */
		{ KVM_HYPERCALL_KVM, 1, VIRT_NONE },
		{ KVM_HYPERCALL_KVM, 5, VIRT_NONE },
		{ KVM_HYPERCALL_KVM, 11, VIRT_NONE },
		/* Hyper-V's HVCALL_NOTIFY_LONG_SPIN_WAIT */
		{ KVM_HYPERCALL_HYPERV, 8, VIRT_NONE },
		/* Xen's sched_op: yield, block, poll */
		{ KVM_HYPERCALL_XEN, 29, 0 }, { KVM_HYPERCALL_XEN, 29, 1 },
		{ KVM_HYPERCALL_XEN, 29, 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (event->more == calls[i].abi && event->value == calls[i].nr &&
		    (calls[i].arg == VIRT_NONE || calls[i].arg == event->arg))
			return true;
	return false;
}
