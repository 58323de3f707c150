// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	exit_reasons.c
 * @brief	The tables of VM-exit reasons.
 */
#include <string.h>

#include "exit_reasons.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * VM-exit reasons, Intel SDM, volume 3, appendix C. Where the SDM describes instead of naming, the
 * names are those of Linux's arch/x86/include/uapi/asm/vmx.h, without EXIT_REASON_.
 */
static const char *const vmx_exits[] = {
	[0] = "EXCEPTION_NMI",		[1] = "EXTERNAL_INTERRUPT",
	[2] = "TRIPLE_FAULT",		[3] = "INIT_SIGNAL",
	[4] = "SIPI_SIGNAL",		[5] = "IO_SMI",
	[6] = "OTHER_SMI",		[7] = "INTERRUPT_WINDOW",
	[8] = "NMI_WINDOW",		[9] = "TASK_SWITCH",
	[10] = "CPUID",			[11] = "GETSEC",
	[12] = "HLT",			[13] = "INVD",
	[14] = "INVLPG",		[15] = "RDPMC",
	[16] = "RDTSC",			[17] = "RSM",
	[18] = "VMCALL",		[19] = "VMCLEAR",
	[20] = "VMLAUNCH",		[21] = "VMPTRLD",
	[22] = "VMPTRST",		[23] = "VMREAD",
	[24] = "VMRESUME",		[25] = "VMWRITE",
	[26] = "VMXOFF",		[27] = "VMXON",
	[28] = "CR_ACCESS",		[29] = "DR_ACCESS",
	[30] = "IO_INSTRUCTION",	[31] = "MSR_READ",
	[32] = "MSR_WRITE",		[33] = "INVALID_STATE",
	[34] = "MSR_LOAD_FAIL",		[36] = "MWAIT_INSTRUCTION",
	[37] = "MONITOR_TRAP_FLAG",	[39] = "MONITOR_INSTRUCTION",
	[40] = "PAUSE_INSTRUCTION",	[41] = "MCE_DURING_VMENTRY",
	[43] = "TPR_BELOW_THRESHOLD",	[44] = "APIC_ACCESS",
	[45] = "EOI_INDUCED",		[46] = "GDTR_IDTR",
	[47] = "LDTR_TR",		[48] = "EPT_VIOLATION",
	[49] = "EPT_MISCONFIG",		[50] = "INVEPT",
	[51] = "RDTSCP",		[52] = "PREEMPTION_TIMER",
	[53] = "INVVPID",		[54] = "WBINVD",
	[55] = "XSETBV",		[56] = "APIC_WRITE",
	[57] = "RDRAND",		[58] = "INVPCID",
	[59] = "VMFUNC",		[60] = "ENCLS",
	[61] = "RDSEED",		[62] = "PML_FULL",
	[63] = "XSAVES",		[64] = "XRSTORS",
	[65] = "PCONFIG",		[66] = "SPP_EVENT",
	[67] = "UMWAIT",		[68] = "TPAUSE",
	[69] = "LOADIWKEY",		[70] = "ENCLV",
	[72] = "ENQCMD_PASID_FAIL",	[73] = "ENQCMDS_PASID_FAIL",
	[74] = "BUS_LOCK",		[75] = "NOTIFY",
	[76] = "SEAMCALL",		[77] = "TDCALL",
	[78] = "RDMSRLIST",		[79] = "WRMSRLIST",
	[80] = "URDMSR",		[81] = "UWRMSR",
	[84] = "RDMSR_IMM",		[85] = "WRMSRNS_IMM",
};

/* #VMEXIT codes, AMD APM, volume 2, appendix C; exceptions by their mnemonics as in Xen. */
static const char *const svm_exits[] = {
	[0x00] = "CR0_READ",		[0x01] = "CR1_READ",
	[0x02] = "CR2_READ",		[0x03] = "CR3_READ",
	[0x04] = "CR4_READ",		[0x05] = "CR5_READ",
	[0x06] = "CR6_READ",		[0x07] = "CR7_READ",
	[0x08] = "CR8_READ",		[0x09] = "CR9_READ",
	[0x0a] = "CR10_READ",		[0x0b] = "CR11_READ",
	[0x0c] = "CR12_READ",		[0x0d] = "CR13_READ",
	[0x0e] = "CR14_READ",		[0x0f] = "CR15_READ",
	[0x10] = "CR0_WRITE",		[0x11] = "CR1_WRITE",
	[0x12] = "CR2_WRITE",		[0x13] = "CR3_WRITE",
	[0x14] = "CR4_WRITE",		[0x15] = "CR5_WRITE",
	[0x16] = "CR6_WRITE",		[0x17] = "CR7_WRITE",
	[0x18] = "CR8_WRITE",		[0x19] = "CR9_WRITE",
	[0x1a] = "CR10_WRITE",		[0x1b] = "CR11_WRITE",
	[0x1c] = "CR12_WRITE",		[0x1d] = "CR13_WRITE",
	[0x1e] = "CR14_WRITE",		[0x1f] = "CR15_WRITE",
	[0x20] = "DR0_READ",		[0x21] = "DR1_READ",
	[0x22] = "DR2_READ",		[0x23] = "DR3_READ",
	[0x24] = "DR4_READ",		[0x25] = "DR5_READ",
	[0x26] = "DR6_READ",		[0x27] = "DR7_READ",
	[0x28] = "DR8_READ",		[0x29] = "DR9_READ",
	[0x2a] = "DR10_READ",		[0x2b] = "DR11_READ",
	[0x2c] = "DR12_READ",		[0x2d] = "DR13_READ",
	[0x2e] = "DR14_READ",		[0x2f] = "DR15_READ",
	[0x30] = "DR0_WRITE",		[0x31] = "DR1_WRITE",
	[0x32] = "DR2_WRITE",		[0x33] = "DR3_WRITE",
	[0x34] = "DR4_WRITE",		[0x35] = "DR5_WRITE",
	[0x36] = "DR6_WRITE",		[0x37] = "DR7_WRITE",
	[0x38] = "DR8_WRITE",		[0x39] = "DR9_WRITE",
	[0x3a] = "DR10_WRITE",		[0x3b] = "DR11_WRITE",
	[0x3c] = "DR12_WRITE",		[0x3d] = "DR13_WRITE",
	[0x3e] = "DR14_WRITE",		[0x3f] = "DR15_WRITE",
	[0x40] = "EXCEPTION_DE",	[0x41] = "EXCEPTION_DB",
	[0x42] = "EXCEPTION_NMI",	[0x43] = "EXCEPTION_BP",
	[0x44] = "EXCEPTION_OF",	[0x45] = "EXCEPTION_BR",
	[0x46] = "EXCEPTION_UD",	[0x47] = "EXCEPTION_NM",
	[0x48] = "EXCEPTION_DF",	[0x49] = "EXCEPTION_09",
	[0x4a] = "EXCEPTION_TS",	[0x4b] = "EXCEPTION_NP",
	[0x4c] = "EXCEPTION_SS",	[0x4d] = "EXCEPTION_GP",
	[0x4e] = "EXCEPTION_PF",	[0x4f] = "EXCEPTION_15",
	[0x50] = "EXCEPTION_MF",	[0x51] = "EXCEPTION_AC",
	[0x52] = "EXCEPTION_MC",	[0x53] = "EXCEPTION_XF",
	[0x54] = "EXCEPTION_20",	[0x55] = "EXCEPTION_CP",
	[0x56] = "EXCEPTION_22",	[0x57] = "EXCEPTION_23",
	[0x58] = "EXCEPTION_24",	[0x59] = "EXCEPTION_25",
	[0x5a] = "EXCEPTION_26",	[0x5b] = "EXCEPTION_27",
	[0x5c] = "EXCEPTION_HV",	[0x5d] = "EXCEPTION_VC",
	[0x5e] = "EXCEPTION_SX",	[0x5f] = "EXCEPTION_31",
	[0x60] = "INTR",		[0x61] = "NMI",
	[0x62] = "SMI",			[0x63] = "INIT",
	[0x64] = "VINTR",		[0x65] = "CR0_SEL_WRITE",
	[0x66] = "IDTR_READ",		[0x67] = "GDTR_READ",
	[0x68] = "LDTR_READ",		[0x69] = "TR_READ",
	[0x6a] = "IDTR_WRITE",		[0x6b] = "GDTR_WRITE",
	[0x6c] = "LDTR_WRITE",		[0x6d] = "TR_WRITE",
	[0x6e] = "RDTSC",		[0x6f] = "RDPMC",
	[0x70] = "PUSHF",		[0x71] = "POPF",
	[0x72] = "CPUID",		[0x73] = "RSM",
	[0x74] = "IRET",		[0x75] = "SWINT",
	[0x76] = "INVD",		[0x77] = "PAUSE",
	[0x78] = "HLT",			[0x79] = "INVLPG",
	[0x7a] = "INVLPGA",		[0x7b] = "IOIO",
	[0x7c] = "MSR",			[0x7d] = "TASK_SWITCH",
	[0x7e] = "FERR_FREEZE",		[0x7f] = "SHUTDOWN",
	[0x80] = "VMRUN",		[0x81] = "VMMCALL",
	[0x82] = "VMLOAD",		[0x83] = "VMSAVE",
	[0x84] = "STGI",		[0x85] = "CLGI",
	[0x86] = "SKINIT",		[0x87] = "RDTSCP",
	[0x88] = "ICEBP",		[0x89] = "WBINVD",
	[0x8a] = "MONITOR",		[0x8b] = "MWAIT",
	[0x8c] = "MWAIT_CONDITIONAL",	[0x8d] = "XSETBV",
	[0x8e] = "RDPRU",		[0x8f] = "EFER_WRITE_TRAP",
	[0x90] = "CR0_WRITE_TRAP",	[0x91] = "CR1_WRITE_TRAP",
	[0x92] = "CR2_WRITE_TRAP",	[0x93] = "CR3_WRITE_TRAP",
	[0x94] = "CR4_WRITE_TRAP",	[0x95] = "CR5_WRITE_TRAP",
	[0x96] = "CR6_WRITE_TRAP",	[0x97] = "CR7_WRITE_TRAP",
	[0x98] = "CR8_WRITE_TRAP",	[0x99] = "CR9_WRITE_TRAP",
	[0x9a] = "CR10_WRITE_TRAP",	[0x9b] = "CR11_WRITE_TRAP",
	[0x9c] = "CR12_WRITE_TRAP",	[0x9d] = "CR13_WRITE_TRAP",
	[0x9e] = "CR14_WRITE_TRAP",	[0x9f] = "CR15_WRITE_TRAP",
	[0xa0] = "INVLPGB",		[0xa1] = "INVLPGB_ILLEGAL",
	[0xa2] = "INVPCID",		[0xa3] = "MCOMMIT",
	[0xa4] = "TLBSYNC",		[0xa5] = "BUS_LOCK",
	[0xa6] = "IDLE_HLT",
};

/* The same, from 0x400 on. */
#define SVM_EXIT_NPF	0x400

static const char *const svm_exits_npf[] = {
	"NPF", "AVIC_INCOMPLETE_IPI", "AVIC_NOACCEL", "VMGEXIT",
};

/* The same, from -1 downwards: VMRUN failed. */
static const char *const svm_exits_failed[] = {
	"INVALID", "BUSY", "IDLE_REQUIRED", "INVALID_PMC",
};

static const char *nth(const char *const *names, size_t n_names, uint64_t n)
{
	return n < n_names ? names[n] : NULL;
}

const char *exit_vmx_name(uint32_t reason)
{
	return nth(vmx_exits, ARRAY_SIZE(vmx_exits), reason);
}

/* Traces hold 32 or 64 bits of the code: -1 may come as 0xffffffff. */
const char *exit_svm_name(uint64_t code)
{
	const uint32_t below_zero = ~(uint32_t)code;

	if (code >> 32 == UINT32_MAX || (!(code >> 32) && code > INT32_MAX))
		return nth(svm_exits_failed, ARRAY_SIZE(svm_exits_failed), below_zero);
	if (code >= SVM_EXIT_NPF)
		return nth(svm_exits_npf, ARRAY_SIZE(svm_exits_npf), code - SVM_EXIT_NPF);
	return nth(svm_exits, ARRAY_SIZE(svm_exits), code);
}

/* How the names of a class begin; the first row that fits counts. */
static const struct {
	const char		*prefix;
	enum virt_exit_class	exit_class;
} classes[] = {
	{ "HLT", VIRT_EXIT_HALT },
	{ "IDLE_HLT", VIRT_EXIT_HALT },
	{ "PAUSE", VIRT_EXIT_HALT },
	{ "MWAIT", VIRT_EXIT_HALT },
	{ "MONITOR", VIRT_EXIT_HALT },
	{ "UMWAIT", VIRT_EXIT_HALT },
	{ "TPAUSE", VIRT_EXIT_HALT },
	{ "WFx", VIRT_EXIT_HALT },
	{ "EXCEPTION_NMI", VIRT_EXIT_INTERRUPT },
	{ "EXTERNAL_INTERRUPT", VIRT_EXIT_INTERRUPT },
	{ "INTERRUPT_WINDOW", VIRT_EXIT_INTERRUPT },
	{ "NMI", VIRT_EXIT_INTERRUPT },
	{ "INTR", VIRT_EXIT_INTERRUPT },
	{ "VINTR", VIRT_EXIT_INTERRUPT },
	{ "IRQ", VIRT_EXIT_INTERRUPT },
	{ "SMI", VIRT_EXIT_INTERRUPT },
	{ "INIT", VIRT_EXIT_INTERRUPT },
	{ "SIPI", VIRT_EXIT_INTERRUPT },
	{ "PREEMPTION_TIMER", VIRT_EXIT_INTERRUPT },
	{ "EPT_", VIRT_EXIT_MEMORY },
	{ "NPF", VIRT_EXIT_MEMORY },
	{ "EXCEPTION_PF", VIRT_EXIT_MEMORY },
	{ "INVLPG", VIRT_EXIT_MEMORY },
	{ "INVPCID", VIRT_EXIT_MEMORY },
	{ "INVD", VIRT_EXIT_MEMORY },
	{ "WBINVD", VIRT_EXIT_MEMORY },
	{ "TLBSYNC", VIRT_EXIT_MEMORY },
	{ "PML_FULL", VIRT_EXIT_MEMORY },
	{ "SPP_EVENT", VIRT_EXIT_MEMORY },
	{ "BUS_LOCK", VIRT_EXIT_MEMORY },
	{ "DABT", VIRT_EXIT_MEMORY },
	{ "IABT", VIRT_EXIT_MEMORY },
	{ "IO_INSTRUCTION", VIRT_EXIT_IO },
	{ "IOIO", VIRT_EXIT_IO },
	{ "IO_SMI", VIRT_EXIT_INTERRUPT },
	{ "OTHER_SMI", VIRT_EXIT_INTERRUPT },
	{ "TPR_BELOW", VIRT_EXIT_APIC },
	{ "APIC_", VIRT_EXIT_APIC },
	{ "EOI_INDUCED", VIRT_EXIT_APIC },
	{ "AVIC_", VIRT_EXIT_APIC },
	{ "MSR", VIRT_EXIT_REGISTER },
	{ "RDMSR", VIRT_EXIT_REGISTER },
	{ "WRMSR", VIRT_EXIT_REGISTER },
	{ "URDMSR", VIRT_EXIT_REGISTER },
	{ "UWRMSR", VIRT_EXIT_REGISTER },
	{ "CR", VIRT_EXIT_REGISTER },
	{ "DR", VIRT_EXIT_REGISTER },
	{ "READ_", VIRT_EXIT_REGISTER },
	{ "WRITE_", VIRT_EXIT_REGISTER },
	{ "EFER_", VIRT_EXIT_REGISTER },
	{ "XSETBV", VIRT_EXIT_REGISTER },
	{ "SYS64", VIRT_EXIT_REGISTER },
	{ "VMCALL", VIRT_EXIT_HYPERCALL },
	{ "VMMCALL", VIRT_EXIT_HYPERCALL },
	{ "VMGEXIT", VIRT_EXIT_HYPERCALL },
	{ "TDCALL", VIRT_EXIT_HYPERCALL },
	{ "SEAMCALL", VIRT_EXIT_HYPERCALL },
	{ "HVC", VIRT_EXIT_HYPERCALL },
	{ "SMC", VIRT_EXIT_HYPERCALL },
	{ "EXCEPTION", VIRT_EXIT_EXCEPTION },
	{ "TRIPLE_FAULT", VIRT_EXIT_EXCEPTION },
	{ "SHUTDOWN", VIRT_EXIT_EXCEPTION },
	{ "MCE_", VIRT_EXIT_EXCEPTION },
	{ "ICEBP", VIRT_EXIT_EXCEPTION },
	{ "VMCLEAR", VIRT_EXIT_NESTED },
	{ "VMLAUNCH", VIRT_EXIT_NESTED },
	{ "VMPTR", VIRT_EXIT_NESTED },
	{ "VMREAD", VIRT_EXIT_NESTED },
	{ "VMRESUME", VIRT_EXIT_NESTED },
	{ "VMWRITE", VIRT_EXIT_NESTED },
	{ "VMXO", VIRT_EXIT_NESTED },
	{ "VMO", VIRT_EXIT_NESTED },
	{ "INVEPT", VIRT_EXIT_NESTED },
	{ "INVVPID", VIRT_EXIT_NESTED },
	{ "VMRUN", VIRT_EXIT_NESTED },
	{ "VMLOAD", VIRT_EXIT_NESTED },
	{ "VMSAVE", VIRT_EXIT_NESTED },
	{ "STGI", VIRT_EXIT_NESTED },
	{ "CLGI", VIRT_EXIT_NESTED },
};

enum virt_exit_class exit_class_of(const char *name)
{
	/* of a guest's guest */
	if (!strncmp(name, "L2:", 3))
		name += 3;
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (!strncmp(name, classes[i].prefix, strlen(classes[i].prefix)))
			return classes[i].exit_class;
	return VIRT_EXIT_OTHER;
}
