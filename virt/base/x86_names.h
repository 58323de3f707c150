/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	x86_names.h
 * @brief	Names of MSRs and hypercalls, the same for all hypervisors and trace formats.
 *
 * Each function returns a static string, or NULL if it knows no name.
 */
#ifndef KSHARK_VIRT_X86_NAMES_H
#define KSHARK_VIRT_X86_NAMES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** x86_msr_name - a well-known MSR: "TSC_DEADLINE", without IA32_ or MSR_ */
const char *x86_msr_name(uint64_t nr);

/** x86_kvm_call_name - a hypercall of KVM: "KICK_CPU", without KVM_HC_ */
const char *x86_kvm_call_name(uint64_t nr);

/** x86_xen_call_name - a hypercall of Xen: "sched_op", without __HYPERVISOR_ */
const char *x86_xen_call_name(uint64_t nr);

#ifdef __cplusplus
}
#endif
#endif
