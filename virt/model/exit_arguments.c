// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	exit_arguments.c
 * @brief	The tables of VM exits' arguments: their names, and the records that show them.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "exit_arguments.h"
#include "exit_reasons.h"
#include "x86_names.h"

/* --- names ----------------------------------------------------------------------------------- */

struct name_row {
	uint64_t	value;
	const char	*name;
};

/**
 * Ports that are the same in every PC, as in the data sheet of Intel's ICH9 (fixed I/O decode
 * ranges) and the PCI Local Bus Specification (0xcf8), and those of QEMU (docs/specs: fw_cfg, its
 * debug console) and VMware. Ascending.
 */
static const struct port_row {
	uint16_t	first, last;
	const char	*name;
} ports[] = {
	{ 0x20, 0x21, "PIC 1" },		{ 0x40, 0x43, "PIT" },
	{ 0x60, 0x60, "i8042 data" },		{ 0x61, 0x61, "system control B" },
	{ 0x64, 0x64, "i8042 status" },		{ 0x70, 0x71, "RTC" },
	{ 0x80, 0x80, "POST code" },		{ 0x92, 0x92, "system control A" },
	{ 0xa0, 0xa1, "PIC 2" },		{ 0xb2, 0xb3, "APM" },
	{ 0xe9, 0xe9, "debug console" },
	{ 0x170, 0x177, "IDE 2" },		{ 0x1f0, 0x1f7, "IDE 1" },
	{ 0x2e8, 0x2ef, "COM4" },		{ 0x2f8, 0x2ff, "COM2" },
	{ 0x376, 0x376, "IDE 2 control" },	{ 0x378, 0x37a, "LPT1" },
	{ 0x3c0, 0x3df, "VGA" },		{ 0x3e8, 0x3ef, "COM3" },
	{ 0x3f0, 0x3f5, "floppy" },		{ 0x3f6, 0x3f6, "IDE 1 control" },
	{ 0x3f8, 0x3ff, "COM1" },		{ 0x402, 0x402, "QEMU debug console" },
	{ 0x4d0, 0x4d1, "ELCR" },		{ 0x510, 0x511, "fw_cfg" },
	{ 0xcf8, 0xcfb, "PCI config address" },	{ 0xcfc, 0xcff, "PCI config data" },
	{ 0x5658, 0x5659, "VMware backdoor" },
};

/**
 * Memory that is the same in every PC: the SDM, volume 3, 11.4.1 (the local APIC), and the data
 * sheet of Intel's ICH9 (fixed memory decode ranges). Ascending.
 */
static const struct memory_row {
	uint64_t	first, last;
	const char	*name;
} memory[] = {
	{ 0xfec00000, 0xfec00fff, "I/O APIC" },	{ 0xfed00000, 0xfed003ff, "HPET" },
	{ 0xfee00000, 0xfee00fff, "local APIC" },
};

/** Intel's SDM, volume 2 (CPUID); from 0x40000000 on, hypervisors have leaves of their own. */
static const struct name_row leaves[] = {
	{ 0x0, "vendor" },			{ 0x1, "features" },
	{ 0x2, "caches, TLB" },			{ 0x4, "caches" },
	{ 0x5, "MONITOR" },			{ 0x6, "power" },
	{ 0x7, "features" },			{ 0xa, "performance monitoring" },
	{ 0xb, "topology" },			{ 0xd, "XSAVE" },
	{ 0x15, "TSC frequency" },		{ 0x16, "frequency" },
	{ 0x1f, "topology" },			{ 0x40000000, "hypervisor" },
	{ 0x80000000, "highest extended leaf" }, { 0x80000001, "features" },
	{ 0x80000002, "brand" },		{ 0x80000003, "brand" },
	{ 0x80000004, "brand" },		{ 0x80000006, "caches" },
	{ 0x80000007, "power" },		{ 0x80000008, "address sizes" },
	{ 0x8000001e, "topology" },
};

/** HVCALL_* of the Hyper-V TLFS (appendix A), as in Linux's include/hyperv/hvgdk_mini.h. */
static const struct name_row hyperv_calls[] = {
	{ 0x1, "SWITCH_VIRTUAL_ADDRESS_SPACE" },
	{ 0x2, "FLUSH_VIRTUAL_ADDRESS_SPACE" },
	{ 0x3, "FLUSH_VIRTUAL_ADDRESS_LIST" },
	{ 0x8, "NOTIFY_LONG_SPIN_WAIT" },
	{ 0xb, "SEND_IPI" },
	{ 0x13, "FLUSH_VIRTUAL_ADDRESS_SPACE_EX" },
	{ 0x14, "FLUSH_VIRTUAL_ADDRESS_LIST_EX" },
	{ 0x15, "SEND_IPI_EX" },
	{ 0x50, "GET_VP_REGISTERS" },
	{ 0x51, "SET_VP_REGISTERS" },
	{ 0x5c, "POST_MESSAGE" },
	{ 0x5d, "SIGNAL_EVENT" },
	{ 0x69, "POST_DEBUG_DATA" },
	{ 0x6a, "RETRIEVE_DEBUG_DATA" },
	{ 0x6b, "RESET_DEBUG_SESSION" },
	{ 0x99, "START_VP" },
	{ 0xaf, "FLUSH_GUEST_PHYSICAL_ADDRESS_SPACE" },
	{ 0xb0, "FLUSH_GUEST_PHYSICAL_ADDRESS_LIST" },
};

/** APIC_* of Linux's arch/x86/include/asm/apicdef.h, the registers of the SDM's table 11-1. */
static const struct name_row apic_registers[] = {
	{ 0x20, "APIC_ID" },	{ 0x30, "APIC_LVR" },	{ 0x80, "APIC_TASKPRI" },
	{ 0x90, "APIC_ARBPRI" }, { 0xa0, "APIC_PROCPRI" }, { 0xb0, "APIC_EOI" },
	{ 0xc0, "APIC_RRR" },	{ 0xd0, "APIC_LDR" },	{ 0xe0, "APIC_DFR" },
	{ 0xf0, "APIC_SPIV" },	{ 0x280, "APIC_ESR" },	{ 0x2f0, "APIC_LVTCMCI" },
	{ 0x300, "APIC_ICR" },	{ 0x310, "APIC_ICR2" },	{ 0x320, "APIC_LVTT" },
	{ 0x330, "APIC_LVTTHMR" }, { 0x340, "APIC_LVTPC" }, { 0x350, "APIC_LVT0" },
	{ 0x360, "APIC_LVT1" },	{ 0x370, "APIC_LVTERR" }, { 0x380, "APIC_TMICT" },
	{ 0x390, "APIC_TMCCT" }, { 0x3e0, "APIC_TDCR" }, { 0x3f0, "APIC_SELF_IPI" },
	{ 0x400, "APIC_EFEAT" }, { 0x410, "APIC_ECTRL" },
};

/** Arm's Architecture Reference Manual (DDI 0487), D24: those that KVM traps most. */
static const struct name_row sysregs[] = {
	{ EXIT_SYSREG(2, 0, 0, 2, 2), "MDSCR_EL1" },	{ EXIT_SYSREG(2, 0, 1, 0, 4), "OSLAR_EL1" },
	{ EXIT_SYSREG(2, 0, 1, 3, 4), "OSDLR_EL1" },
	{ EXIT_SYSREG(3, 0, 0, 0, 5), "MPIDR_EL1" },
	{ EXIT_SYSREG(3, 0, 0, 4, 0), "ID_AA64PFR0_EL1" },
	{ EXIT_SYSREG(3, 0, 0, 5, 0), "ID_AA64DFR0_EL1" },
	{ EXIT_SYSREG(3, 0, 0, 6, 0), "ID_AA64ISAR0_EL1" },
	{ EXIT_SYSREG(3, 0, 0, 7, 0), "ID_AA64MMFR0_EL1" },
	{ EXIT_SYSREG(3, 0, 1, 0, 0), "SCTLR_EL1" },	{ EXIT_SYSREG(3, 0, 1, 0, 1), "ACTLR_EL1" },
	{ EXIT_SYSREG(3, 0, 2, 0, 0), "TTBR0_EL1" },	{ EXIT_SYSREG(3, 0, 2, 0, 1), "TTBR1_EL1" },
	{ EXIT_SYSREG(3, 0, 2, 0, 2), "TCR_EL1" },
	{ EXIT_SYSREG(3, 0, 12, 11, 5), "ICC_SGI1R_EL1" },
	{ EXIT_SYSREG(3, 0, 12, 11, 6), "ICC_ASGI1R_EL1" },
	{ EXIT_SYSREG(3, 0, 12, 11, 7), "ICC_SGI0R_EL1" },
	{ EXIT_SYSREG(3, 0, 12, 12, 5), "ICC_SRE_EL1" },
	{ EXIT_SYSREG(3, 1, 0, 0, 1), "CLIDR_EL1" },
	{ EXIT_SYSREG(3, 2, 0, 0, 0), "CSSELR_EL1" },	{ EXIT_SYSREG(3, 3, 0, 0, 1), "CTR_EL0" },
	{ EXIT_SYSREG(3, 3, 9, 12, 0), "PMCR_EL0" },
	{ EXIT_SYSREG(3, 3, 9, 12, 1), "PMCNTENSET_EL0" },
	{ EXIT_SYSREG(3, 3, 9, 12, 2), "PMCNTENCLR_EL0" },
	{ EXIT_SYSREG(3, 3, 9, 12, 3), "PMOVSCLR_EL0" },
	{ EXIT_SYSREG(3, 3, 9, 12, 5), "PMSELR_EL0" },
	{ EXIT_SYSREG(3, 3, 9, 13, 0), "PMCCNTR_EL0" },
	{ EXIT_SYSREG(3, 3, 9, 14, 0), "PMUSERENR_EL0" },
	{ EXIT_SYSREG(3, 3, 14, 2, 0), "CNTP_TVAL_EL0" },
	{ EXIT_SYSREG(3, 3, 14, 2, 1), "CNTP_CTL_EL0" },
	{ EXIT_SYSREG(3, 3, 14, 2, 2), "CNTP_CVAL_EL0" },
};

/** Arm's PSCI (DEN 0022), TRNG (DEN 0098), SMCCC (DEN 0028): Linux's psci.h, arm-smccc.h. */
static const struct name_row smccc_calls[] = {
	{ 0x80000000, "SMCCC_VERSION" },	{ 0x80000001, "SMCCC_ARCH_FEATURES" },
	{ 0x84000000, "PSCI_VERSION" },		{ 0x84000001, "CPU_SUSPEND" },
	{ 0x84000002, "CPU_OFF" },		{ 0x84000003, "CPU_ON" },
	{ 0x84000004, "AFFINITY_INFO" },	{ 0x84000006, "MIGRATE_INFO_TYPE" },
	{ 0x84000008, "SYSTEM_OFF" },		{ 0x84000009, "SYSTEM_RESET" },
	{ 0x8400000a, "PSCI_FEATURES" },	{ 0x84000050, "TRNG_VERSION" },
	{ 0x84000053, "TRNG_RND" },		{ 0xc4000001, "CPU_SUSPEND" },
	{ 0xc4000003, "CPU_ON" },		{ 0xc4000004, "AFFINITY_INFO" },
	{ 0xc4000053, "TRNG_RND" },		{ 0xc5000020, "PV_TIME_FEATURES" },
	{ 0xc5000021, "PV_TIME_ST" },
};

/** Bits 8 to 10, and 18 to 19, of ICR: SDM, volume 3, 11.6.1. */
static const char *const ipi_modes[] = {
	"fixed", "lowest priority", "SMI", "reserved", "NMI", "INIT", "SIPI", "reserved",
};
static const char *const ipi_targets[] = { "", ", to itself", ", to all", ", to all others" };

static const char *find_port(uint64_t value)
{
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		if (value >= ports[i].first && value <= ports[i].last)
			return ports[i].name;
	return NULL;
}

static const char *find_memory(uint64_t value)
{
	for (size_t i = 0; i < ARRAY_SIZE(memory); i++)
		if (value >= memory[i].first && value <= memory[i].last)
			return memory[i].name;
	return NULL;
}

/* --- kinds ----------------------------------------------------------------------------------- */

/** Names of a kind. */
#define NAMES(array)	.names = (array), .n_names = ARRAY_SIZE(array)

static const struct kind_row {
	enum virt_record_kind record;
	uint64_t	most;
	const char	*verb;		/* in front of the name; "" or with a blank after it */
	const char	*noun;		/* in front of the number, if it has no name */
	const struct name_row *names;
	size_t		n_names;
	const char	*(*name_of)(uint64_t value); /* instead of @names; or NULL */
	bool		both;		/* the number as well, if it has a name */
} kinds[EXIT_ARGUMENT_N_KINDS] = {
	[EXIT_ARGUMENT_MSR_READ] = {
		.record = VIRT_RECORD_MSR, .most = UINT32_MAX,
		.verb = "read ", .noun = "MSR ", .name_of = x86_msr_name,
	},
	[EXIT_ARGUMENT_MSR_WRITE] = {
		.record = VIRT_RECORD_MSR, .most = UINT32_MAX,
		.verb = "write ", .noun = "MSR ", .name_of = x86_msr_name,
	},
	[EXIT_ARGUMENT_ICR_WRITE] = {
		.record = VIRT_RECORD_MSR, .most = 0x1f,
		.verb = "write ", .noun = "X2APIC_ICR",
	},
	[EXIT_ARGUMENT_PORT_READ] = {
		.record = VIRT_RECORD_PORT, .most = UINT16_MAX,
		.verb = "read ", .noun = "port ", .name_of = find_port, .both = true,
	},
	[EXIT_ARGUMENT_PORT_WRITE] = {
		.record = VIRT_RECORD_PORT, .most = UINT16_MAX,
		.verb = "write ", .noun = "port ", .name_of = find_port, .both = true,
	},
	[EXIT_ARGUMENT_MMIO_READ] = {
		.record = VIRT_RECORD_MMIO, .most = UINT64_MAX,
		.verb = "read ", .noun = "", .name_of = find_memory, .both = true,
	},
	[EXIT_ARGUMENT_MMIO_WRITE] = {
		.record = VIRT_RECORD_MMIO, .most = UINT64_MAX,
		.verb = "write ", .noun = "", .name_of = find_memory, .both = true,
	},
	[EXIT_ARGUMENT_PAGE] = {
		.record = VIRT_RECORD_FAULT, .most = UINT64_MAX,
		.verb = "", .noun = "page ", .name_of = find_memory, .both = true,
	},
	[EXIT_ARGUMENT_CPUID] = {
		.record = VIRT_RECORD_CPUID, .most = UINT32_MAX,
		.verb = "", .noun = "leaf ", NAMES(leaves), .both = true,
	},
	[EXIT_ARGUMENT_CALL_KVM] = {
		.record = VIRT_RECORD_CALL, .most = UINT64_MAX,
		.verb = "", .noun = "call ", .name_of = x86_kvm_call_name,
	},
	[EXIT_ARGUMENT_CALL_HYPERV] = {
		.record = VIRT_RECORD_CALL, .most = UINT64_MAX,
		.verb = "", .noun = "Hyper-V call ", NAMES(hyperv_calls),
	},
	[EXIT_ARGUMENT_CALL_XEN] = {
		.record = VIRT_RECORD_CALL, .most = UINT64_MAX,
		.verb = "", .noun = "Xen call ", .name_of = x86_xen_call_name,
	},
	[EXIT_ARGUMENT_CR_READ] = {
		.record = VIRT_RECORD_CR, .most = 15,
		.verb = "read ", .noun = "CR",
	},
	[EXIT_ARGUMENT_CR_WRITE] = {
		.record = VIRT_RECORD_CR, .most = 15,
		.verb = "write ", .noun = "CR",
	},
	[EXIT_ARGUMENT_APIC_READ] = {
		.record = VIRT_RECORD_APIC, .most = UINT32_MAX,
		.verb = "read ", .noun = "APIC ", NAMES(apic_registers),
	},
	[EXIT_ARGUMENT_APIC_WRITE] = {
		.record = VIRT_RECORD_APIC, .most = UINT32_MAX,
		.verb = "write ", .noun = "APIC ", NAMES(apic_registers),
	},
	[EXIT_ARGUMENT_APIC_ICR] = {
		.record = VIRT_RECORD_APIC, .most = 0x1f,
		.verb = "write ", .noun = "APIC_ICR",
	},
	[EXIT_ARGUMENT_VMGEXIT] = {
		.record = VIRT_RECORD_VMGEXIT, .most = UINT64_MAX,
		.verb = "", .noun = "", .name_of = exit_svm_name,
	},
	[EXIT_ARGUMENT_ABORT] = {
		.record = VIRT_RECORD_ABORT, .most = UINT64_MAX,
		.verb = "", .noun = "page ",
	},
	[EXIT_ARGUMENT_SYSREG_READ] = {
		.record = VIRT_RECORD_SYSREG, .most = UINT16_MAX,
		.verb = "read ", .noun = "", NAMES(sysregs),
	},
	[EXIT_ARGUMENT_SYSREG_WRITE] = {
		.record = VIRT_RECORD_SYSREG, .most = UINT16_MAX,
		.verb = "write ", .noun = "", NAMES(sysregs),
	},
	[EXIT_ARGUMENT_SMCCC] = {
		.record = VIRT_RECORD_SMCCC, .most = UINT64_MAX,
		.verb = "", .noun = "call ", NAMES(smccc_calls),
	},
	[EXIT_ARGUMENT_WAIT] = {
		.record = VIRT_RECORD_WAIT, .most = 1,
		.verb = "", .noun = "",
	},
	[EXIT_ARGUMENT_OTHERS] = {
		.record = VIRT_RECORD_N_KINDS, .most = 0,
		.verb = "", .noun = "",
	},
	[EXIT_ARGUMENT_NONE] = {
		.record = VIRT_RECORD_N_KINDS, .most = 0,
		.verb = "", .noun = "",
	},
};

uint64_t exit_argument_most(enum exit_argument_kind kind)
{
	return (unsigned int)kind < EXIT_ARGUMENT_N_KINDS ? kinds[kind].most : 0;
}

enum virt_record_kind exit_argument_record(enum exit_argument_kind kind)
{
	return (unsigned int)kind < EXIT_ARGUMENT_N_KINDS ? kinds[kind].record :
							    VIRT_RECORD_N_KINDS;
}

/**
 * Which event KVM records while it handles an exit: arch/x86/kvm/vmx/vmx.c, svm/svm.c, svm/avic.c,
 * lapic.c and x86.c, arch/arm64/kvm/handle_exit.c and mmu.c of Linux. An EPT violation or nested
 * page fault at a device's address is one of the page's: kvm_mmio is recorded as well then.
 */
static const struct {
	const char	*reason;
	enum virt_record_kind record;
} reasons[] = {
	{ "MSR", VIRT_RECORD_MSR },
	{ "MSR_READ", VIRT_RECORD_MSR },
	{ "MSR_WRITE", VIRT_RECORD_MSR },
	{ "MSR_READ_IMM", VIRT_RECORD_MSR },
	{ "MSR_WRITE_IMM", VIRT_RECORD_MSR },
	{ "IO_INSTRUCTION", VIRT_RECORD_PORT },
	{ "IOIO", VIRT_RECORD_PORT },
	{ "EPT_MISCONFIG", VIRT_RECORD_MMIO },
	{ "EPT_VIOLATION", VIRT_RECORD_FAULT },
	{ "NPF", VIRT_RECORD_FAULT },
	{ "DABT_LOW", VIRT_RECORD_ABORT },
	{ "IABT_LOW", VIRT_RECORD_ABORT },
	{ "CPUID", VIRT_RECORD_CPUID },
	{ "VMCALL", VIRT_RECORD_CALL },
	{ "VMMCALL", VIRT_RECORD_CALL },
	{ "CR_ACCESS", VIRT_RECORD_CR },
	{ "APIC_ACCESS", VIRT_RECORD_APIC },
	{ "APIC_WRITE", VIRT_RECORD_APIC },
	{ "VMGEXIT", VIRT_RECORD_VMGEXIT },
	{ "SYS64", VIRT_RECORD_SYSREG },
	{ "HVC64", VIRT_RECORD_SMCCC },
	{ "WFx", VIRT_RECORD_WAIT },
};

enum virt_record_kind exit_argument_of_reason(const char *reason)
{
	if (!strncmp(reason, "L2:", 3))
		reason += 3;
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strcmp(reasons[i].reason, reason))
			return reasons[i].record;
	return VIRT_RECORD_N_KINDS;
}

/* --- naming ---------------------------------------------------------------------------------- */

static const char *find_name(const struct kind_row *kind, uint64_t value)
{
	if (kind->name_of)
		return kind->name_of(value);
	for (size_t i = 0; i < kind->n_names; i++)
		if (kind->names[i].value == value)
			return kind->names[i].name;
	return NULL;
}

bool exit_argument_is_named(enum exit_argument_kind kind, uint64_t value)
{
	return (unsigned int)kind < EXIT_ARGUMENT_N_KINDS && find_name(&kinds[kind], value);
}

static void name_number(const struct kind_row *kind, uint64_t value, char *text, size_t size)
{
	const char *name = find_name(kind, value);

	if (name && !kind->both)
		snprintf(text, size, "%s%s", kind->verb, name);
	else if (name)
		snprintf(text, size, "%s%s0x%llx (%s)", kind->verb, kind->noun,
			 (unsigned long long)value, name);
	else
		snprintf(text, size, "%s%s0x%llx", kind->verb, kind->noun,
			 (unsigned long long)value);
}

const char *exit_argument_name(enum exit_argument_kind kind, uint64_t value, char *text,
			       size_t size)
{
	const struct kind_row *row = &kinds[kind];

	switch (kind) {
	case EXIT_ARGUMENT_ICR_WRITE:
	case EXIT_ARGUMENT_APIC_ICR:
		snprintf(text, size, "%s%s (%s%s)", row->verb, row->noun, ipi_modes[value & 7],
			 ipi_targets[value >> 3 & 3]);
		break;
	case EXIT_ARGUMENT_CR_READ:
	case EXIT_ARGUMENT_CR_WRITE:
		snprintf(text, size, "%s%s%u", row->verb, row->noun, (unsigned int)value);
		break;
	case EXIT_ARGUMENT_SYSREG_READ:
	case EXIT_ARGUMENT_SYSREG_WRITE:
		if (find_name(row, value))
			name_number(row, value, text, size);
		else
			snprintf(text, size, "%sS%u_%u_C%u_C%u_%u", row->verb,
				 (unsigned int)(value >> 14 & 3), (unsigned int)(value >> 11 & 7),
				 (unsigned int)(value >> 7 & 15), (unsigned int)(value >> 3 & 15),
				 (unsigned int)(value & 7));
		break;
	case EXIT_ARGUMENT_WAIT:
		snprintf(text, size, "%s", value ? "WFE" : "WFI");
		break;
	case EXIT_ARGUMENT_OTHERS:
		snprintf(text, size, "others");
		break;
	case EXIT_ARGUMENT_NONE:
		snprintf(text, size, "not recorded");
		break;
	default:
		name_number(row, value, text, size);
	}
	return text;
}
