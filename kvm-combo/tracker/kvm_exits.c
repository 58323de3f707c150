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
	[0x09] = "PAC",		[0x0a] = "OTHER",	[0x0c] = "CP14_64",
	[0x0d] = "BTI",		[0x0e] = "ILL",
	[0x11] = "SVC32",	[0x12] = "HVC32",	[0x13] = "SMC32",	[0x15] = "SVC64",
	[0x16] = "HVC64",	[0x17] = "SMC64",	[0x18] = "SYS64",	[0x19] = "SVE",
	[0x1a] = "ERET",	[0x1c] = "FPAC",	[0x1d] = "SME",		[0x1f] = "IMP_DEF",
	[0x20] = "IABT_LOW",	[0x21] = "IABT_CUR",	[0x22] = "PC_ALIGN",	[0x24] = "DABT_LOW",
	[0x25] = "DABT_CUR",	[0x26] = "SP_ALIGN",	[0x27] = "MOPS",	[0x28] = "FP_EXC32",
	[0x2c] = "FP_EXC64",	[0x2d] = "GCS",
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

/**
 * EXC_* and IRQ_* of Linux's arch/riscv/include/asm/csr.h, with the names that perf gives them
 * (tools/perf/arch/riscv/util/riscv_trap_types.h).
 */
static const char *const riscv_exceptions[] = {
	[0] = "INST_MISALIGNED",	[1] = "INST_ACCESS",
	[2] = "INST_ILLEGAL",		[3] = "BREAKPOINT",
	[4] = "LOAD_MISALIGNED",	[5] = "LOAD_ACCESS",
	[6] = "STORE_MISALIGNED",	[7] = "STORE_ACCESS",
	[8] = "SYSCALL",		[9] = "HYPERVISOR_SYSCALL",
	[10] = "SUPERVISOR_SYSCALL",	[12] = "INST_PAGE_FAULT",
	[13] = "LOAD_PAGE_FAULT",	[15] = "STORE_PAGE_FAULT",
	[20] = "INST_GUEST_PAGE_FAULT",	[21] = "LOAD_GUEST_PAGE_FAULT",
	[22] = "VIRTUAL_INST_FAULT",	[23] = "STORE_GUEST_PAGE_FAULT",
};
static const char *const riscv_interrupts[] = {
	[1] = "IRQ_S_SOFT",	[2] = "IRQ_VS_SOFT",	[3] = "IRQ_M_SOFT",	[5] = "IRQ_S_TIMER",
	[6] = "IRQ_VS_TIMER",	[7] = "IRQ_M_TIMER",	[9] = "IRQ_S_EXT",	[10] = "IRQ_VS_EXT",
	[11] = "IRQ_M_EXT",	[12] = "IRQ_S_GEXT",	[13] = "IRQ_PMU_OVF",
};

/** EXCCODE_* of Linux's arch/loongarch/include/asm/loongarch.h; 0: an interrupt, whichever. */
static const char *const loongarch_exceptions[] = {
	[0] = "INT",		[1] = "TLBL",		[2] = "TLBS",		[3] = "TLBI",
	[4] = "TLBM",		[5] = "TLBNR",		[6] = "TLBNX",		[7] = "TLBPE",
	[8] = "ADE",		[9] = "ALE",		[10] = "BCE",		[11] = "SYS",
	[12] = "BP",		[13] = "INE",		[14] = "IPE",		[15] = "FPDIS",
	[16] = "LSXDIS",	[17] = "LASXDIS",	[18] = "FPE",		[19] = "WATCH",
	[20] = "BTDIS",		[21] = "BTE",		[22] = "GSPR",		[23] = "HVC",
	[24] = "GCM",		[25] = "SE",
};

/** sie_intercept_code of Linux's arch/s390/include/uapi/asm/sie.h, 4 by 4. */
static const char *const s390_intercepts[] = {
	[0x00 / 4] = "Host interruption",	[0x04 / 4] = "Instruction",
	[0x08 / 4] = "Program interruption",
	[0x0c / 4] = "Instruction and program interruption",
	[0x10 / 4] = "External request",	[0x14 / 4] = "External interruption",
	[0x18 / 4] = "I/O request",		[0x1c / 4] = "Wait state",
	[0x20 / 4] = "Validity",		[0x28 / 4] = "Stop request",
	[0x2c / 4] = "Operation exception",	[0x38 / 4] = "Partial-execution",
	[0x3c / 4] = "I/O interruption",	[0x40 / 4] = "I/O instruction",
	[0x48 / 4] = "Timing subset",
};

/** kvm_trace_symbol_exit of Linux's arch/powerpc/kvm/trace_book3s.h. */
static const struct {
	uint64_t	trap;
	const char	*name;
} power_traps[] = {
	{ 0x100, "SYSTEM_RESET" }, { 0x200, "MACHINE_CHECK" }, { 0x300, "DATA_STORAGE" },
	{ 0x380, "DATA_SEGMENT" }, { 0x400, "INST_STORAGE" }, { 0x480, "INST_SEGMENT" },
	{ 0x500, "EXTERNAL" }, { 0x501, "EXTERNAL_LEVEL" }, { 0x502, "EXTERNAL_HV" },
	{ 0x600, "ALIGNMENT" }, { 0x700, "PROGRAM" }, { 0x800, "FP_UNAVAIL" },
	{ 0x900, "DECREMENTER" }, { 0x980, "HV_DECREMENTER" }, { 0xc00, "SYSCALL" },
	{ 0xd00, "TRACE" }, { 0xe00, "H_DATA_STORAGE" }, { 0xe20, "H_INST_STORAGE" },
	{ 0xe40, "H_EMUL_ASSIST" }, { 0xf00, "PERFMON" }, { 0xf20, "ALTIVEC" },
	{ 0xf40, "VSX" },
};

static const char *power_name(uint64_t trap)
{
	for (size_t i = 0; i < ARRAY_SIZE(power_traps); i++)
		if (power_traps[i].trap == trap)
			return power_traps[i].name;
	return NULL;
}

static const char *riscv_name(uint64_t reason)
{
	uint32_t cause = (uint32_t)reason;

	if (reason >> 32)
		return cause < ARRAY_SIZE(riscv_interrupts) ? riscv_interrupts[cause] : NULL;
	return cause < ARRAY_SIZE(riscv_exceptions) ? riscv_exceptions[cause] : NULL;
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
	case KVM_ISA_RISCV:
		return riscv_name(reason);
	case KVM_ISA_LOONGARCH:
		return reason < ARRAY_SIZE(loongarch_exceptions) ? loongarch_exceptions[reason] :
								   NULL;
	case KVM_ISA_S390:
		return reason % 4 || reason / 4 >= ARRAY_SIZE(s390_intercepts) ? NULL :
		       s390_intercepts[reason / 4];
	case KVM_ISA_POWER:
		return power_name(reason);
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
