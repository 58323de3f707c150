// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	x86_names.c
 * @brief	Names of MSRs and hypercalls.
 */
#include <stdlib.h>

#include "array.h"
#include "x86_names.h"

/** xen/include/public/xen.h: __HYPERVISOR_... */
static const char *const xen_calls[] = {
	[0] = "set_trap_table",		[1] = "mmu_update",
	[2] = "set_gdt",		[3] = "stack_switch",
	[4] = "set_callbacks",		[5] = "fpu_taskswitch",
	[6] = "sched_op_compat",	[7] = "platform_op",
	[8] = "set_debugreg",		[9] = "get_debugreg",
	[10] = "update_descriptor",	[12] = "memory_op",
	[13] = "multicall",		[14] = "update_va_mapping",
	[15] = "set_timer_op",		[16] = "event_channel_op_compat",
	[17] = "xen_version",		[18] = "console_io",
	[19] = "physdev_op_compat",	[20] = "grant_table_op",
	[21] = "vm_assist",		[22] = "update_va_mapping_otherdomain",
	[23] = "iret",			[24] = "vcpu_op",
	[25] = "set_segment_base",	[26] = "mmuext_op",
	[27] = "xsm_op",		[28] = "nmi_op",
	[29] = "sched_op",		[30] = "callback_op",
	[31] = "xenoprof_op",		[32] = "event_channel_op",
	[33] = "physdev_op",		[34] = "hvm_op",
	[35] = "sysctl",		[36] = "domctl",
	[37] = "kexec_op",		[38] = "tmem_op",
	[39] = "argo_op",		[40] = "xenpmu_op",
	[41] = "dm_op",			[42] = "hypfs_op",
	[48] = "arch_0",		[49] = "arch_1",
	[50] = "arch_2",		[51] = "arch_3",
	[52] = "arch_4",		[53] = "arch_5",
	[54] = "arch_6",		[55] = "arch_7",
};

/** Linux's include/uapi/linux/kvm_para.h: KVM_HC_... */
static const char *const kvm_calls[] = {
	[1] = "VAPIC_POLL_IRQ",
	[2] = "MMU_OP",
	[3] = "FEATURES",
	[4] = "PPC_MAP_MAGIC_PAGE",
	[5] = "KICK_CPU",
	[6] = "MIPS_GET_CLOCK_FREQ",
	[7] = "MIPS_EXIT_VM",
	[8] = "MIPS_CONSOLE_OUTPUT",
	[9] = "CLOCK_PAIRING",
	[10] = "SEND_IPI",
	[11] = "SCHED_YIELD",
	[12] = "MAP_GPA_RANGE",
};

struct msr {
	uint32_t	nr;
	const char	*name;
};

/**
 * Sorted by number. Names without IA32_ and MSR_; where Intel and AMD differ, as Xen calls them
 * (xen/arch/x86/include/asm/msr-index.h), HV_* as in Microsoft's Hypervisor Top-Level
 * Functional Specification, KVM_* as in Linux's arch/x86/include/uapi/asm/kvm_para.h. Xen's own
 * MSR, by which a guest says where it wants the hypercall page, is 0x40000000, or 0x40000200 in a
 * guest that is offered Microsoft's interface.
 */
static const struct msr msrs[] = {
	{ 0x00000000, "P5_MC_ADDR" },		{ 0x00000001, "P5_MC_TYPE" },
	{ 0x00000010, "TSC" },			{ 0x00000017, "PLATFORM_ID" },
	{ 0x0000001b, "APIC_BASE" },		{ 0x0000002a, "EBL_CR_POWERON" },
	{ 0x00000033, "TEST_CTRL" },		{ 0x00000034, "SMI_COUNT" },
	{ 0x00000035, "CORE_THREAD_COUNT" },	{ 0x0000003a, "FEATURE_CONTROL" },
	{ 0x0000003b, "TSC_ADJUST" },		{ 0x00000048, "SPEC_CTRL" },
	{ 0x00000049, "PRED_CMD" },		{ 0x0000004e, "PPIN_CTL" },
	{ 0x0000004f, "PPIN" },			{ 0x00000079, "BIOS_UPDT_TRIG" },
	{ 0x0000008b, "BIOS_SIGN_ID" },		{ 0x000000c1, "PERFCTR0" },
	{ 0x000000c2, "PERFCTR1" },		{ 0x000000c3, "PERFCTR2" },
	{ 0x000000c4, "PERFCTR3" },		{ 0x000000cd, "FSB_FREQ" },
	{ 0x000000ce, "PLATFORM_INFO" },	{ 0x000000cf, "CORE_CAPABILITIES" },
	{ 0x000000e1, "UMWAIT_CONTROL" },	{ 0x000000e2, "PKG_CST_CONFIG_CONTROL" },
	{ 0x000000e7, "MPERF" },		{ 0x000000e8, "APERF" },
	{ 0x000000fe, "MTRRCAP" },		{ 0x0000010a, "ARCH_CAPABILITIES" },
	{ 0x0000010b, "FLUSH_CMD" },		{ 0x0000010f, "TSX_FORCE_ABORT" },
	{ 0x00000119, "BBL_CR_CTL" },		{ 0x00000122, "TSX_CTRL" },
	{ 0x00000123, "MCU_OPT_CTRL" },		{ 0x00000140, "MISC_FEATURES_ENABLES" },
	{ 0x00000174, "SYSENTER_CS" },		{ 0x00000175, "SYSENTER_ESP" },
	{ 0x00000176, "SYSENTER_EIP" },		{ 0x00000179, "MCG_CAP" },
	{ 0x0000017a, "MCG_STATUS" },		{ 0x0000017b, "MCG_CTL" },
	{ 0x00000186, "EVNTSEL0" },		{ 0x00000187, "EVNTSEL1" },
	{ 0x00000188, "EVNTSEL2" },		{ 0x00000189, "EVNTSEL3" },
	{ 0x00000198, "PERF_STATUS" },		{ 0x00000199, "PERF_CTL" },
	{ 0x0000019a, "CLOCK_MODULATION" },	{ 0x0000019b, "THERM_INTERRUPT" },
	{ 0x0000019c, "THERM_STATUS" },		{ 0x000001a0, "MISC_ENABLE" },
	{ 0x000001a2, "TEMPERATURE_TARGET" },	{ 0x000001a6, "OFFCORE_RSP0" },
	{ 0x000001a7, "OFFCORE_RSP1" },		{ 0x000001ad, "TURBO_RATIO_LIMIT" },
	{ 0x000001b0, "ENERGY_PERF_BIAS" },	{ 0x000001b1, "PACKAGE_THERM_STATUS" },
	{ 0x000001b2, "PACKAGE_THERM_INTERRUPT" }, { 0x000001c4, "XFD" },
	{ 0x000001c5, "XFD_ERR" },		{ 0x000001c8, "LBR_SELECT" },
	{ 0x000001c9, "LASTBRANCH_TOS" },	{ 0x000001d9, "DEBUGCTL" },
	{ 0x000001db, "LASTBRANCHFROMIP" },	{ 0x000001dc, "LASTBRANCHTOIP" },
	{ 0x000001dd, "LASTINTFROMIP" },	{ 0x000001de, "LASTINTTOIP" },
	{ 0x000001fc, "POWER_CTL" },
	{ 0x00000200, "MTRR_PHYSBASE0" },	{ 0x00000201, "MTRR_PHYSMASK0" },
	{ 0x00000202, "MTRR_PHYSBASE1" },	{ 0x00000203, "MTRR_PHYSMASK1" },
	{ 0x00000204, "MTRR_PHYSBASE2" },	{ 0x00000205, "MTRR_PHYSMASK2" },
	{ 0x00000206, "MTRR_PHYSBASE3" },	{ 0x00000207, "MTRR_PHYSMASK3" },
	{ 0x00000208, "MTRR_PHYSBASE4" },	{ 0x00000209, "MTRR_PHYSMASK4" },
	{ 0x0000020a, "MTRR_PHYSBASE5" },	{ 0x0000020b, "MTRR_PHYSMASK5" },
	{ 0x0000020c, "MTRR_PHYSBASE6" },	{ 0x0000020d, "MTRR_PHYSMASK6" },
	{ 0x0000020e, "MTRR_PHYSBASE7" },	{ 0x0000020f, "MTRR_PHYSMASK7" },
	{ 0x00000250, "MTRR_FIX64K_00000" },	{ 0x00000258, "MTRR_FIX16K_80000" },
	{ 0x00000259, "MTRR_FIX16K_A0000" },	{ 0x00000268, "MTRR_FIX4K_C0000" },
	{ 0x00000269, "MTRR_FIX4K_C8000" },	{ 0x0000026a, "MTRR_FIX4K_D0000" },
	{ 0x0000026b, "MTRR_FIX4K_D8000" },	{ 0x0000026c, "MTRR_FIX4K_E0000" },
	{ 0x0000026d, "MTRR_FIX4K_E8000" },	{ 0x0000026e, "MTRR_FIX4K_F0000" },
	{ 0x0000026f, "MTRR_FIX4K_F8000" },	{ 0x00000277, "PAT" },
	{ 0x000002ff, "MTRR_DEF_TYPE" },	{ 0x00000309, "FIXED_CTR0" },
	{ 0x0000030a, "FIXED_CTR1" },		{ 0x0000030b, "FIXED_CTR2" },
	{ 0x00000345, "PERF_CAPABILITIES" },	{ 0x0000038d, "FIXED_CTR_CTRL" },
	{ 0x0000038e, "PERF_GLOBAL_STATUS" },	{ 0x0000038f, "PERF_GLOBAL_CTRL" },
	{ 0x00000390, "PERF_GLOBAL_OVF_CTRL" },	{ 0x000003f1, "PEBS_ENABLE" },
	{ 0x00000480, "VMX_BASIC" },		{ 0x00000481, "VMX_PINBASED_CTLS" },
	{ 0x00000482, "VMX_PROCBASED_CTLS" },	{ 0x00000483, "VMX_EXIT_CTLS" },
	{ 0x00000484, "VMX_ENTRY_CTLS" },	{ 0x00000485, "VMX_MISC" },
	{ 0x00000486, "VMX_CR0_FIXED0" },	{ 0x00000487, "VMX_CR0_FIXED1" },
	{ 0x00000488, "VMX_CR4_FIXED0" },	{ 0x00000489, "VMX_CR4_FIXED1" },
	{ 0x0000048a, "VMX_VMCS_ENUM" },	{ 0x0000048b, "VMX_PROCBASED_CTLS2" },
	{ 0x0000048c, "VMX_EPT_VPID_CAP" },	{ 0x0000048d, "VMX_TRUE_PINBASED_CTLS" },
	{ 0x0000048e, "VMX_TRUE_PROCBASED_CTLS" }, { 0x0000048f, "VMX_TRUE_EXIT_CTLS" },
	{ 0x00000490, "VMX_TRUE_ENTRY_CTLS" },	{ 0x00000491, "VMX_VMFUNC" },
	{ 0x00000492, "VMX_PROCBASED_CTLS3" },	{ 0x000004c1, "A_PERFCTR0" },
	{ 0x00000560, "RTIT_OUTPUT_BASE" },	{ 0x00000561, "RTIT_OUTPUT_MASK" },
	{ 0x00000570, "RTIT_CTL" },		{ 0x00000571, "RTIT_STATUS" },
	{ 0x00000572, "RTIT_CR3_MATCH" },	{ 0x00000600, "DS_AREA" },
	{ 0x00000606, "RAPL_POWER_UNIT" },	{ 0x00000611, "PKG_ENERGY_STATUS" },
	{ 0x000006a0, "U_CET" },		{ 0x000006a2, "S_CET" },
	{ 0x000006a4, "PL0_SSP" },		{ 0x000006a5, "PL1_SSP" },
	{ 0x000006a6, "PL2_SSP" },		{ 0x000006a7, "PL3_SSP" },
	{ 0x000006a8, "ISST" },			{ 0x000006e0, "TSC_DEADLINE" },
	{ 0x000006e1, "PKRS" },			{ 0x00000770, "PM_ENABLE" },
	{ 0x00000771, "HWP_CAPABILITIES" },	{ 0x00000773, "HWP_INTERRUPT" },
	{ 0x00000774, "HWP_REQUEST" },		{ 0x00000777, "HWP_STATUS" },
	{ 0x00000802, "X2APIC_ID" },		{ 0x00000803, "X2APIC_VERSION" },
	{ 0x00000808, "X2APIC_TPR" },		{ 0x0000080a, "X2APIC_PPR" },
	{ 0x0000080b, "X2APIC_EOI" },		{ 0x0000080d, "X2APIC_LDR" },
	{ 0x0000080f, "X2APIC_SVR" },
	{ 0x00000810, "X2APIC_ISR0" },		{ 0x00000811, "X2APIC_ISR1" },
	{ 0x00000812, "X2APIC_ISR2" },		{ 0x00000813, "X2APIC_ISR3" },
	{ 0x00000814, "X2APIC_ISR4" },		{ 0x00000815, "X2APIC_ISR5" },
	{ 0x00000816, "X2APIC_ISR6" },		{ 0x00000817, "X2APIC_ISR7" },
	{ 0x00000818, "X2APIC_TMR0" },		{ 0x00000819, "X2APIC_TMR1" },
	{ 0x0000081a, "X2APIC_TMR2" },		{ 0x0000081b, "X2APIC_TMR3" },
	{ 0x0000081c, "X2APIC_TMR4" },		{ 0x0000081d, "X2APIC_TMR5" },
	{ 0x0000081e, "X2APIC_TMR6" },		{ 0x0000081f, "X2APIC_TMR7" },
	{ 0x00000820, "X2APIC_IRR0" },		{ 0x00000821, "X2APIC_IRR1" },
	{ 0x00000822, "X2APIC_IRR2" },		{ 0x00000823, "X2APIC_IRR3" },
	{ 0x00000824, "X2APIC_IRR4" },		{ 0x00000825, "X2APIC_IRR5" },
	{ 0x00000826, "X2APIC_IRR6" },		{ 0x00000827, "X2APIC_IRR7" },
	{ 0x00000828, "X2APIC_ESR" },		{ 0x0000082f, "X2APIC_LVT_CMCI" },
	{ 0x00000830, "X2APIC_ICR" },		{ 0x00000832, "X2APIC_LVT_TIMER" },
	{ 0x00000833, "X2APIC_LVT_THERMAL" },	{ 0x00000834, "X2APIC_LVT_PERF" },
	{ 0x00000835, "X2APIC_LVT_LINT0" },	{ 0x00000836, "X2APIC_LVT_LINT1" },
	{ 0x00000837, "X2APIC_LVT_ERROR" },	{ 0x00000838, "X2APIC_TMICT" },
	{ 0x00000839, "X2APIC_TMCCT" },		{ 0x0000083e, "X2APIC_TDCR" },
	{ 0x0000083f, "X2APIC_SELF" },		{ 0x00000c80, "DEBUG_INTERFACE" },
	{ 0x00000d90, "BNDCFGS" },		{ 0x00000d93, "PASID" },
	{ 0x00000da0, "XSS" },			{ 0x00000db0, "PKG_HDC_CTL" },
	{ 0x00000db1, "PM_CTL1" },
	{ 0x40000000, "XEN_HYPERCALL_PAGE or HV_GUEST_OS_ID" },
	{ 0x40000001, "HV_HYPERCALL" },
	{ 0x40000002, "HV_VP_INDEX" },		{ 0x40000003, "HV_RESET" },
	{ 0x40000010, "HV_VP_RUNTIME" },	{ 0x40000020, "HV_TIME_REF_COUNT" },
	{ 0x40000021, "HV_REFERENCE_TSC" },	{ 0x40000022, "HV_TSC_FREQUENCY" },
	{ 0x40000023, "HV_APIC_FREQUENCY" },	{ 0x40000070, "HV_EOI" },
	{ 0x40000071, "HV_ICR" },		{ 0x40000072, "HV_TPR" },
	{ 0x40000073, "HV_VP_ASSIST_PAGE" },	{ 0x40000080, "HV_SCONTROL" },
	{ 0x40000081, "HV_SVERSION" },		{ 0x40000082, "HV_SIEFP" },
	{ 0x40000083, "HV_SIMP" },		{ 0x40000084, "HV_EOM" },
	{ 0x40000090, "HV_SINT0" },		{ 0x40000091, "HV_SINT1" },
	{ 0x40000092, "HV_SINT2" },		{ 0x40000093, "HV_SINT3" },
	{ 0x40000094, "HV_SINT4" },		{ 0x40000095, "HV_SINT5" },
	{ 0x40000096, "HV_SINT6" },		{ 0x40000097, "HV_SINT7" },
	{ 0x40000098, "HV_SINT8" },		{ 0x40000099, "HV_SINT9" },
	{ 0x4000009a, "HV_SINT10" },		{ 0x4000009b, "HV_SINT11" },
	{ 0x4000009c, "HV_SINT12" },		{ 0x4000009d, "HV_SINT13" },
	{ 0x4000009e, "HV_SINT14" },		{ 0x4000009f, "HV_SINT15" },
	{ 0x400000b0, "HV_STIMER0_CONFIG" },	{ 0x400000b1, "HV_STIMER0_COUNT" },
	{ 0x400000b2, "HV_STIMER1_CONFIG" },	{ 0x400000b3, "HV_STIMER1_COUNT" },
	{ 0x400000b4, "HV_STIMER2_CONFIG" },	{ 0x400000b5, "HV_STIMER2_COUNT" },
	{ 0x400000b6, "HV_STIMER3_CONFIG" },	{ 0x400000b7, "HV_STIMER3_COUNT" },
	{ 0x400000f0, "HV_GUEST_IDLE" },	{ 0x40000100, "HV_CRASH_P0" },
	{ 0x40000101, "HV_CRASH_P1" },		{ 0x40000102, "HV_CRASH_P2" },
	{ 0x40000103, "HV_CRASH_P3" },		{ 0x40000104, "HV_CRASH_P4" },
	{ 0x40000105, "HV_CRASH_CTL" },		{ 0x40000200, "XEN_HYPERCALL_PAGE" },
	{ 0x4b564d00, "KVM_WALL_CLOCK" },	{ 0x4b564d01, "KVM_SYSTEM_TIME" },
	{ 0x4b564d02, "KVM_ASYNC_PF_EN" },	{ 0x4b564d03, "KVM_STEAL_TIME" },
	{ 0x4b564d04, "KVM_PV_EOI_EN" },	{ 0x4b564d05, "KVM_POLL_CONTROL" },
	{ 0x4b564d06, "KVM_ASYNC_PF_INT" },	{ 0x4b564d07, "KVM_ASYNC_PF_ACK" },
	{ 0x4b564d08, "KVM_MIGRATION_CONTROL" },
	{ 0xc0000080, "EFER" },			{ 0xc0000081, "STAR" },
	{ 0xc0000082, "LSTAR" },		{ 0xc0000083, "CSTAR" },
	{ 0xc0000084, "SYSCALL_MASK" },		{ 0xc00000e7, "MPERF_RO" },
	{ 0xc00000e8, "APERF_RO" },		{ 0xc0000100, "FS_BASE" },
	{ 0xc0000101, "GS_BASE" },		{ 0xc0000102, "SHADOW_GS_BASE" },
	{ 0xc0000103, "TSC_AUX" },		{ 0xc0000104, "TSC_RATIO" },
	{ 0xc0010000, "K7_EVNTSEL0" },		{ 0xc0010001, "K7_EVNTSEL1" },
	{ 0xc0010002, "K7_EVNTSEL2" },		{ 0xc0010003, "K7_EVNTSEL3" },
	{ 0xc0010004, "K7_PERFCTR0" },		{ 0xc0010005, "K7_PERFCTR1" },
	{ 0xc0010006, "K7_PERFCTR2" },		{ 0xc0010007, "K7_PERFCTR3" },
	{ 0xc0010010, "K8_SYSCFG" },		{ 0xc0010015, "K8_HWCR" },
	{ 0xc0010016, "K8_IORR_BASE0" },	{ 0xc0010017, "K8_IORR_MASK0" },
	{ 0xc0010018, "K8_IORR_BASE1" },	{ 0xc0010019, "K8_IORR_MASK1" },
	{ 0xc001001a, "K8_TOP_MEM1" },		{ 0xc001001d, "K8_TOP_MEM2" },
	{ 0xc001001f, "AMD64_NB_CFG" },		{ 0xc0010055, "K8_INT_PENDING_MSG" },
	{ 0xc0010061, "K8_PSTATE_LIMIT" },	{ 0xc0010062, "K8_PSTATE_CTRL" },
	{ 0xc0010063, "K8_PSTATE_STATUS" },	{ 0xc0010064, "K8_PSTATE0" },
	{ 0xc0010065, "K8_PSTATE1" },		{ 0xc0010066, "K8_PSTATE2" },
	{ 0xc0010067, "K8_PSTATE3" },		{ 0xc0010068, "K8_PSTATE4" },
	{ 0xc0010069, "K8_PSTATE5" },		{ 0xc001006a, "K8_PSTATE6" },
	{ 0xc001006b, "K8_PSTATE7" },		{ 0xc0010112, "K8_TSEG_BASE" },
	{ 0xc0010113, "K8_TSEG_MASK" },		{ 0xc0010114, "K8_VM_CR" },
	{ 0xc0010117, "K8_VM_HSAVE_PA" },	{ 0xc001011f, "VIRT_SPEC_CTRL" },
	{ 0xc0010130, "SEV_ES_GHCB" },		{ 0xc0010131, "SEV_STATUS" },
	{ 0xc0010140, "AMD_OSVW_ID_LENGTH" },	{ 0xc0010141, "AMD_OSVW_STATUS" },
	{ 0xc0010200, "AMD_EVNTSEL0" },		{ 0xc0010201, "AMD_PERFCTR0" },
	{ 0xc0010202, "AMD_EVNTSEL1" },		{ 0xc0010203, "AMD_PERFCTR1" },
	{ 0xc0010204, "AMD_EVNTSEL2" },		{ 0xc0010205, "AMD_PERFCTR2" },
	{ 0xc0010206, "AMD_EVNTSEL3" },		{ 0xc0010207, "AMD_PERFCTR3" },
	{ 0xc0010208, "AMD_EVNTSEL4" },		{ 0xc0010209, "AMD_PERFCTR4" },
	{ 0xc001020a, "AMD_EVNTSEL5" },		{ 0xc001020b, "AMD_PERFCTR5" },
	{ 0xc0011020, "AMD64_LS_CFG" },		{ 0xc0011021, "AMD64_IC_CFG" },
	{ 0xc0011022, "AMD64_DC_CFG" },		{ 0xc0011029, "AMD64_DE_CFG" },
};

const char *x86_xen_call_name(uint64_t nr)
{
	return nr < ARRAY_SIZE(xen_calls) ? xen_calls[nr] : NULL;
}

const char *x86_kvm_call_name(uint64_t nr)
{
	return nr < ARRAY_SIZE(kvm_calls) ? kvm_calls[nr] : NULL;
}

static int compare_msr(const void *key, const void *element)
{
	const uint64_t nr = *(const uint64_t *)key;
	const struct msr *msr = element;

	return nr < msr->nr ? -1 : nr > msr->nr;
}

const char *x86_msr_name(uint64_t nr)
{
	const struct msr *msr = bsearch(&nr, msrs, ARRAY_SIZE(msrs), sizeof(msrs[0]), compare_msr);

	return msr ? msr->name : NULL;
}
