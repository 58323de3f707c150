/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_inside.h
 * @brief	Make lanes of a guest's reports, or of its boot, for code that draws them.
 */
#ifndef KSHARK_VIRT_GUEST_INSIDE_H
#define KSHARK_VIRT_GUEST_INSIDE_H

#include "guest_trace.h"
#include "kvm_trace.h"
#include "virt_inside.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * guest_inside_make - its slices, cut into the parts in which they had a CPU
 *
 * Of CPUs, the vCPU's numbers count. Return: NULL without memory.
 */
struct virt_inside *guest_inside_make(const struct guest_trace *trace);

/**
 * guest_inside_boot - the levels and initcalls of host_hypertrace_boot_alone()
 * @own: the trace of the guest; initcalls are called as its kallsyms say
 *
 * Return: NULL without memory.
 */
struct virt_inside *guest_inside_boot(struct hyper_guest *guest,
				      const struct kvm_trace *own);

#ifdef __cplusplus
}
#endif
#endif
