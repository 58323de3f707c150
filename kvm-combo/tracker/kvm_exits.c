// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_exits.c
 * @brief	Names of KVM's exit reasons, by the numbers of the host's architecture.
 */
#include <stdio.h>

#include "array.h"
#include "exit_reasons.h"
#include "kvm_private.h"

/** ARM_EXCEPTION_* of Linux's arch/arm64/include/asm/kvm_asm.h. */
static const char *const arm_returns[] = { "IRQ", "EL1_SERROR", "TRAP", "IL" };
#define ARM_RETURN_TRAP	2

/** ESR_ELx_EC_* of Linux's arch/arm64/include/asm/esr.h, as its kvm_exit prints them. */
static const char *const arm_classes[0x40] = {
	[0x00] = "UNKNOWN",	[0x01] = "WFx",		[0x03] = "CP15_32",	[0x04] = "CP15_64",
	[0x05] = "CP14_MR",	[0x06] = "CP14_LS",	[0x07] = "FP_ASIMD",	[0x08] = "CP10_ID",
	[0x09] = "PAC",		[0x0c] = "CP14_64",	[0x0d] = "BTI",		[0x0e] = "ILL",
	[0x11] = "SVC32",	[0x12] = "HVC32",	[0x13] = "SMC32",	[0x15] = "SVC64",
	[0x16] = "HVC64",	[0x17] = "SMC64",	[0x18] = "SYS64",	[0x19] = "SVE",
	[0x1a] = "ERET",	[0x1c] = "FPAC",	[0x1d] = "SME",		[0x1f] = "IMP_DEF",
	[0x20] = "IABT_LOW",	[0x21] = "IABT_CUR",	[0x22] = "PC_ALIGN",	[0x24] = "DABT_LOW",
	[0x25] = "DABT_CUR",	[0x26] = "SP_ALIGN",	[0x28] = "FP_EXC32",	[0x2c] = "FP_EXC64",
	[0x2f] = "SERROR",	[0x30] = "BREAKPT_LOW",	[0x31] = "BREAKPT_CUR",
	[0x32] = "SOFTSTP_LOW",
	[0x33] = "SOFTSTP_CUR",	[0x34] = "WATCHPT_LOW",	[0x35] = "WATCHPT_CUR",	[0x38] = "BKPT32",
	[0x3a] = "VECTOR32",	[0x3c] = "BRK64",
};

static const char *arm_name(uint64_t reason)
{
	uint64_t ret = reason >> 32, class = reason & 0xffffffff;

	if (ret == ARM_RETURN_TRAP)
		return class < ARRAY_SIZE(arm_classes) ? arm_classes[class] : NULL;
	return ret < ARRAY_SIZE(arm_returns) ? arm_returns[ret] : NULL;
}

/** Return: NULL if there is none. */
static const char *name_of(enum kvm_isa isa, uint64_t reason)
{
	switch (isa) {
	case KVM_ISA_VMX:
		return exit_vmx_name((uint32_t)reason);
	case KVM_ISA_SVM:
		return exit_svm_name(reason);
	case KVM_ISA_ARM:
		return arm_name(reason);
	default:
		return NULL;
	}
}

bool kvm_exit_is_known(enum kvm_isa isa, uint64_t reason)
{
	return name_of(isa, reason);
}

const char *kvm_exit_name(enum kvm_isa isa, uint64_t reason, char *buf, size_t size)
{
	const char *name = name_of(isa, reason);

	if (name)
		return name;
	snprintf(buf, size, "0x%llx", (unsigned long long)reason);
	return buf;
}
