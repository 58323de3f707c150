// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	exit_reasons.c
 * @brief	The tables of VM-exit reasons.
 */
#include <string.h>

#include "array.h"
#include "exit_reasons.h"

/*
 * A reason has one name, for Xen and KVM alike: that of Linux's arch/x86/include/uapi/asm/vmx.h and
 * svm.h, without EXIT_REASON_ and SVM_EXIT_; what these do not name is called as in the manuals of
 * Intel (SDM, volume 3, appendix C) and AMD (APM, volume 2, appendix C).
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
	[26] = "VMOFF",			[27] = "VMON",
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
	[84] = "MSR_READ_IMM",		[85] = "MSR_WRITE_IMM",
};

/* Linux has one name for all exceptions (EXCP_BASE + n): here they have their mnemonics. */
static const char *const svm_exits[] = {
	[0x00] = "READ_CR0",		[0x01] = "READ_CR1",
	[0x02] = "READ_CR2",		[0x03] = "READ_CR3",
	[0x04] = "READ_CR4",		[0x05] = "READ_CR5",
	[0x06] = "READ_CR6",		[0x07] = "READ_CR7",
	[0x08] = "READ_CR8",		[0x09] = "READ_CR9",
	[0x0a] = "READ_CR10",		[0x0b] = "READ_CR11",
	[0x0c] = "READ_CR12",		[0x0d] = "READ_CR13",
	[0x0e] = "READ_CR14",		[0x0f] = "READ_CR15",
	[0x10] = "WRITE_CR0",		[0x11] = "WRITE_CR1",
	[0x12] = "WRITE_CR2",		[0x13] = "WRITE_CR3",
	[0x14] = "WRITE_CR4",		[0x15] = "WRITE_CR5",
	[0x16] = "WRITE_CR6",		[0x17] = "WRITE_CR7",
	[0x18] = "WRITE_CR8",		[0x19] = "WRITE_CR9",
	[0x1a] = "WRITE_CR10",		[0x1b] = "WRITE_CR11",
	[0x1c] = "WRITE_CR12",		[0x1d] = "WRITE_CR13",
	[0x1e] = "WRITE_CR14",		[0x1f] = "WRITE_CR15",
	[0x20] = "READ_DR0",		[0x21] = "READ_DR1",
	[0x22] = "READ_DR2",		[0x23] = "READ_DR3",
	[0x24] = "READ_DR4",		[0x25] = "READ_DR5",
	[0x26] = "READ_DR6",		[0x27] = "READ_DR7",
	[0x28] = "READ_DR8",		[0x29] = "READ_DR9",
	[0x2a] = "READ_DR10",		[0x2b] = "READ_DR11",
	[0x2c] = "READ_DR12",		[0x2d] = "READ_DR13",
	[0x2e] = "READ_DR14",		[0x2f] = "READ_DR15",
	[0x30] = "WRITE_DR0",		[0x31] = "WRITE_DR1",
	[0x32] = "WRITE_DR2",		[0x33] = "WRITE_DR3",
	[0x34] = "WRITE_DR4",		[0x35] = "WRITE_DR5",
	[0x36] = "WRITE_DR6",		[0x37] = "WRITE_DR7",
	[0x38] = "WRITE_DR8",		[0x39] = "WRITE_DR9",
	[0x3a] = "WRITE_DR10",		[0x3b] = "WRITE_DR11",
	[0x3c] = "WRITE_DR12",		[0x3d] = "WRITE_DR13",
	[0x3e] = "WRITE_DR14",		[0x3f] = "WRITE_DR15",
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
	[0x8c] = "MWAIT_COND",		[0x8d] = "XSETBV",
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
	"NPF", "AVIC_INCOMPLETE_IPI", "AVIC_UNACCELERATED_ACCESS", "VMGEXIT",
};

/* The same, from -1 downwards: VMRUN failed. */
static const char *const svm_exits_failed[] = {
	"ERR", "BUSY", "IDLE_REQUIRED", "INVALID_PMC",
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
	{ "Wait state", VIRT_EXIT_HALT },
	{ "EXCEPTION_NMI", VIRT_EXIT_INTERRUPT },
	{ "EXTERNAL_INTERRUPT", VIRT_EXIT_INTERRUPT },
	{ "INTERRUPT_WINDOW", VIRT_EXIT_INTERRUPT },
	{ "NMI", VIRT_EXIT_INTERRUPT },
	{ "INTR", VIRT_EXIT_INTERRUPT },
	{ "VINTR", VIRT_EXIT_INTERRUPT },
	{ "IRQ", VIRT_EXIT_INTERRUPT },
	{ "INT", VIRT_EXIT_INTERRUPT },
	{ "Host interruption", VIRT_EXIT_INTERRUPT },
	{ "External ", VIRT_EXIT_INTERRUPT },
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
	{ "INST_GUEST_PAGE_FAULT", VIRT_EXIT_MEMORY },
	{ "LOAD_GUEST_PAGE_FAULT", VIRT_EXIT_MEMORY },
	{ "STORE_GUEST_PAGE_FAULT", VIRT_EXIT_MEMORY },
	{ "TLB", VIRT_EXIT_MEMORY },
	{ "IO_INSTRUCTION", VIRT_EXIT_IO },
	{ "IOIO", VIRT_EXIT_IO },
	{ "IO_SMI", VIRT_EXIT_INTERRUPT },
	{ "I/O ", VIRT_EXIT_IO },
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
	{ "DR_ACCESS", VIRT_EXIT_REGISTER },
	{ "READ_", VIRT_EXIT_REGISTER },
	{ "WRITE_", VIRT_EXIT_REGISTER },
	{ "EFER_", VIRT_EXIT_REGISTER },
	{ "XSETBV", VIRT_EXIT_REGISTER },
	{ "SYS64", VIRT_EXIT_REGISTER },
	{ "HYPERCALL", VIRT_EXIT_HYPERCALL },
	{ "VMCALL", VIRT_EXIT_HYPERCALL },
	{ "VMMCALL", VIRT_EXIT_HYPERCALL },
	{ "VMGEXIT", VIRT_EXIT_HYPERCALL },
	{ "TDCALL", VIRT_EXIT_HYPERCALL },
	{ "SEAMCALL", VIRT_EXIT_HYPERCALL },
	{ "HVC", VIRT_EXIT_HYPERCALL },
	{ "SMC", VIRT_EXIT_HYPERCALL },
	{ "SUPERVISOR_SYSCALL", VIRT_EXIT_HYPERCALL },
	{ "EXCEPTION", VIRT_EXIT_EXCEPTION },
	{ "TRIPLE_FAULT", VIRT_EXIT_EXCEPTION },
	{ "SHUTDOWN", VIRT_EXIT_EXCEPTION },
	{ "MCE_", VIRT_EXIT_EXCEPTION },
	{ "ICEBP", VIRT_EXIT_EXCEPTION },
	{ "Program interruption", VIRT_EXIT_EXCEPTION },
	{ "Operation exception", VIRT_EXIT_EXCEPTION },
	{ "VMCLEAR", VIRT_EXIT_NESTED },
	{ "VMLAUNCH", VIRT_EXIT_NESTED },
	{ "VMPTR", VIRT_EXIT_NESTED },
	{ "VMREAD", VIRT_EXIT_NESTED },
	{ "VMRESUME", VIRT_EXIT_NESTED },
	{ "VMWRITE", VIRT_EXIT_NESTED },
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
