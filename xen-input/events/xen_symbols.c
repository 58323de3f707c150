/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_symbols.c
 * @brief	Names of the numbers in Xen's events: exit reasons and exceptions.
 */
#include <stddef.h>

#include "array.h"
#include "exit_reasons.h"
#include "x86_names.h"
#include "xen_events.h"

/* Exceptions: Intel SDM, volume 3, table 6-1, and AMD APM, volume 2, table 8-1 */
static const char *const traps[] = {
	[0] = "divide_error",		[1] = "debug",
	[2] = "nmi",			[3] = "breakpoint",
	[4] = "overflow",		[5] = "bound_range",
	[6] = "invalid_opcode",		[7] = "device_not_available",
	[8] = "double_fault",		[9] = "coprocessor_overrun",
	[10] = "invalid_tss",		[11] = "segment_not_present",
	[12] = "stack_fault",		[13] = "general_protection",
	[14] = "page_fault",		[16] = "x87_error",
	[17] = "alignment_check",	[18] = "machine_check",
	[19] = "simd_error",		[20] = "virtualization",
	[21] = "control_protection",	[28] = "hypervisor_injection",
	[29] = "vmm_communication",	[30] = "security",
};

static const char *nth(const char *const *names, size_t n_names, uint64_t n)
{
	return n < n_names ? names[n] : NULL;
}

const char *xen_vmx_exit_name(uint32_t reason)
{
	return exit_vmx_name(reason & 0xffff);
}

const char *xen_svm_exit_name(uint64_t code)
{
	return exit_svm_name(code);
}

const char *xen_hypercall_name(uint32_t nr)
{
	return x86_xen_call_name(nr);
}

const char *xen_trap_name(uint32_t vector)
{
	return nth(traps, ARRAY_SIZE(traps), vector);
}

const char *xen_msr_name(uint32_t nr)
{
	return x86_msr_name(nr);
}

/* Ids whose word 0 is an exit code; the instruction set that the id alone proves. */
static const struct {
	uint32_t	id;
	enum xen_isa	isa;
} exit_ids[] = {
#define XEN_EXIT(symbol_, isa_, nested_) { XEN_TRC_##symbol_, XEN_ISA_##isa_ },
#include "xen_events.def"
};

/*
 * What a code under the shared id proves. Almost every number has a meaning in both instruction
 * sets, but Xen (svm/vmcb.c, construct_vmcb(), 4.0 to 4.18, the versions that share the id) does
 * not intercept everything, and some intercepts cannot come true:
 *
 * - 0x00 to 0x1f are SVM's accesses to CR0 to CR15. There is no CR1, no CR5 to CR7 and no CR9 to
 *   CR15: to use them is an invalid opcode, which comes before the intercept. CR2 and CR8 are not
 *   intercepted. What is left are CR0, CR3 and CR4.
 * - 0x20 to 0x3f are SVM's accesses to DR0 to DR15. All are intercepted, but there is no DR8 to
 *   DR15 either.
 * - 0x40 to 0x5f are SVM's exceptions, of which Xen intercepts #DB, #BP, #UD, #NM, #GP, #PF, #AC
 *   and #MC in one version or another. VMX's reasons from 0x41 on need features that Xen does not
 *   turn on, except bus lock and notify (0x4a and 0x4b, which would be #TS and #NP), and except
 *   SEAMCALL and TDCALL (0x4c and 0x4d), which need none.
 * - From 0x60 on there are SVM's codes alone.
 *
 * Ranges in ascending order; what lies between them proves nothing.
 */
static const struct {
	uint16_t	first, last;
	enum xen_isa	isa;
} code_ranges[] = {
	{ 0x01,  0x02,  XEN_ISA_VMX },
	{ 0x05,  0x0f,  XEN_ISA_VMX },
	{ 0x11,  0x12,  XEN_ISA_VMX },
	{ 0x15,  0x1f,  XEN_ISA_VMX },
	{ 0x28,  0x2f,  XEN_ISA_VMX },
	{ 0x38,  0x3f,  XEN_ISA_VMX },
	{ 0x41,  0x49,  XEN_ISA_SVM },
	{ 0x4a,  0x4b,  XEN_ISA_VMX },
	{ 0x4e,  0xa6,  XEN_ISA_SVM },
	{ 0x400, 0x403, XEN_ISA_SVM },
};

static enum xen_isa isa_from_code(uint32_t code)
{
	size_t i;

	/* Flags above VMX's basic reason, such as bit 31, entry failed; SVM has -1 and the like. */
	if (code > 0xffff) {
		if (xen_svm_exit_name(code))
			return XEN_ISA_SVM;
		return xen_vmx_exit_name(code) ? XEN_ISA_VMX : XEN_ISA_UNKNOWN;
	}
	for (i = 0; i < ARRAY_SIZE(code_ranges); i++)
		if (code >= code_ranges[i].first && code <= code_ranges[i].last)
			return code_ranges[i].isa;
	return XEN_ISA_UNKNOWN;
}

enum xen_isa xen_isa_from_exit(uint32_t event_id, uint32_t exit_code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(exit_ids); i++)
		if (exit_ids[i].id == event_id)
			return exit_ids[i].isa ? exit_ids[i].isa : isa_from_code(exit_code);
	return XEN_ISA_UNKNOWN;
}
