/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reader of a trace relies on: numbers get the names of the processors' manuals and of Xen's
 * headers, numbers without a name get none, and an instruction set is only ever taken for proven
 * where no other one could have left that exit code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "xen_events.h"

struct name {
	uint64_t	nr;
	const char	*name;	/* NULL: has none */
};

static const char *vmx(uint64_t nr)
{
	return xen_vmx_exit_name(nr);
}

static const char *svm(uint64_t nr)
{
	return xen_svm_exit_name(nr);
}

static const char *hypercall(uint64_t nr)
{
	return xen_hypercall_name(nr);
}

static const char *trap(uint64_t nr)
{
	return xen_trap_name(nr);
}

static const char *msr(uint64_t nr)
{
	return xen_msr_name(nr);
}

static void check_names(const char *(*look_up)(uint64_t), const struct name *names, size_t n)
{
	const char *name;
	size_t i;

	for (i = 0; i < n; i++) {
		name = look_up(names[i].nr);
		if (!name != !names[i].name || (name && strcmp(name, names[i].name)))
			fail_msg("0x%llx is %s, should be %s", (unsigned long long)names[i].nr,
				 name ? name : "nothing",
				 names[i].name ? names[i].name : "nothing");
	}
}

/* How many of the numbers have a name; no two may have the same. */
static size_t count_names(const char *(*look_up)(uint64_t), uint64_t first, uint64_t last)
{
	const char *seen[512];
	size_t n = 0, i;
	uint64_t nr;

	for (nr = first; nr <= last; nr++) {
		const char *name = look_up(nr);

		if (!name)
			continue;
		assert_true(*name);
		for (i = 0; i < n; i++)
			if (!strcmp(seen[i], name))
				fail_msg("two numbers are called %s", name);
		assert_true(n < ARRAY_SIZE(seen));
		seen[n++] = name;
	}
	return n;
}

static void test_vmx(void **state)
{
	static const struct name names[] = {
		{ 0, "EXCEPTION_NMI" }, { 1, "EXTERNAL_INTERRUPT" }, { 2, "TRIPLE_FAULT" },
		{ 7, "INTERRUPT_WINDOW" }, { 10, "CPUID" }, { 12, "HLT" }, { 18, "VMCALL" },
		{ 28, "CR_ACCESS" }, { 29, "DR_ACCESS" }, { 30, "IO_INSTRUCTION" },
		{ 31, "MSR_READ" }, { 32, "MSR_WRITE" }, { 33, "INVALID_STATE" },
		{ 40, "PAUSE_INSTRUCTION" }, { 43, "TPR_BELOW_THRESHOLD" },
		{ 44, "APIC_ACCESS" }, { 48, "EPT_VIOLATION" }, { 49, "EPT_MISCONFIG" },
		{ 52, "PREEMPTION_TIMER" }, { 54, "WBINVD" }, { 55, "XSETBV" },
		{ 56, "APIC_WRITE" }, { 58, "INVPCID" }, { 62, "PML_FULL" }, { 63, "XSAVES" },
		{ 64, "XRSTORS" }, { 74, "BUS_LOCK" }, { 75, "NOTIFY" }, { 77, "TDCALL" },
		{ 81, "UWRMSR" },
		/* Not assigned. */
		{ 35, NULL }, { 38, NULL }, { 42, NULL }, { 71, NULL }, { 82, NULL },
		{ 0x400, NULL }, { 0xffff, NULL }, { 0xffffffff, NULL },
		/* The basic reason counts, not the flags: entry failed, invalid guest state. */
		{ 0x80000021, "INVALID_STATE" },
	};

	(void)state;
	check_names(vmx, names, ARRAY_SIZE(names));
	/* 0 to 81 without the four that are not assigned */
	assert_int_equal(count_names(vmx, 0, 0xffff), 82 - 4 + 2);
}

static void test_svm(void **state)
{
	static const struct name names[] = {
		{ 0x00, "READ_CR0" }, { 0x08, "READ_CR8" }, { 0x0f, "READ_CR15" },
		{ 0x10, "WRITE_CR0" }, { 0x1f, "WRITE_CR15" }, { 0x20, "READ_DR0" },
		{ 0x2f, "READ_DR15" }, { 0x30, "WRITE_DR0" }, { 0x3f, "WRITE_DR15" },
		{ 0x40, "EXCEPTION_DE" }, { 0x46, "EXCEPTION_UD" }, { 0x4e, "EXCEPTION_PF" },
		{ 0x52, "EXCEPTION_MC" }, { 0x5f, "EXCEPTION_31" }, { 0x60, "INTR" },
		{ 0x61, "NMI" }, { 0x64, "VINTR" }, { 0x6e, "RDTSC" }, { 0x72, "CPUID" },
		{ 0x77, "PAUSE" }, { 0x78, "HLT" }, { 0x7b, "IOIO" }, { 0x7c, "MSR" },
		{ 0x7f, "SHUTDOWN" }, { 0x80, "VMRUN" }, { 0x81, "VMMCALL" },
		{ 0x87, "RDTSCP" }, { 0x89, "WBINVD" }, { 0x8d, "XSETBV" },
		{ 0x8f, "EFER_WRITE_TRAP" }, { 0x90, "CR0_WRITE_TRAP" },
		{ 0x9f, "CR15_WRITE_TRAP" }, { 0xa2, "INVPCID" }, { 0xa5, "BUS_LOCK" },
		{ 0x400, "NPF" }, { 0x401, "AVIC_INCOMPLETE_IPI" },
		{ 0x402, "AVIC_UNACCELERATED_ACCESS" },
		{ 0x403, "VMGEXIT" },
		/* Not assigned. */
		{ 0xa7, NULL }, { 0x3ff, NULL }, { 0x404, NULL }, { 0x10060, NULL },
		{ 0x80000021, NULL }, { 0xfffffffb, NULL }, { 0x100000000, NULL },
		{ 0x1ffffffff, NULL }, { 0xffffffff00000060, NULL },
		/* Failures, as the processor has them and as 32 bits of a record. */
		{ UINT64_MAX, "ERR" }, { 0xffffffff, "ERR" },
		{ UINT64_MAX - 1, "BUSY" }, { 0xfffffffe, "BUSY" },
		{ 0xfffffffc, "INVALID_PMC" },
	};

	(void)state;
	check_names(svm, names, ARRAY_SIZE(names));
	assert_int_equal(count_names(svm, 0, 0xffff), 0xa7 + 4);
}

static void test_hypercalls(void **state)
{
	static const struct name names[] = {
		{ 0, "set_trap_table" }, { 1, "mmu_update" }, { 12, "memory_op" },
		{ 13, "multicall" }, { 14, "update_va_mapping" }, { 15, "set_timer_op" },
		{ 17, "xen_version" }, { 20, "grant_table_op" }, { 23, "iret" },
		{ 24, "vcpu_op" }, { 25, "set_segment_base" }, { 26, "mmuext_op" },
		{ 29, "sched_op" }, { 32, "event_channel_op" }, { 33, "physdev_op" },
		{ 34, "hvm_op" }, { 35, "sysctl" }, { 36, "domctl" }, { 37, "kexec_op" },
		{ 40, "xenpmu_op" }, { 41, "dm_op" }, { 42, "hypfs_op" }, { 48, "arch_0" },
		{ 55, "arch_7" },
		{ 11, NULL }, { 43, NULL }, { 47, NULL }, { 56, NULL }, { 0xffffffff, NULL },
	};

	(void)state;
	check_names(hypercall, names, ARRAY_SIZE(names));
	/* 0 to 42 without 11, and eight of the architecture's */
	assert_int_equal(count_names(hypercall, 0, 0xffff), 42 + 8);
}

static void test_traps(void **state)
{
	static const struct name names[] = {
		{ 0, "divide_error" }, { 1, "debug" }, { 2, "nmi" }, { 3, "breakpoint" },
		{ 6, "invalid_opcode" }, { 7, "device_not_available" }, { 8, "double_fault" },
		{ 13, "general_protection" }, { 14, "page_fault" }, { 17, "alignment_check" },
		{ 18, "machine_check" }, { 21, "control_protection" }, { 30, "security" },
		{ 15, NULL }, { 22, NULL }, { 31, NULL }, { 32, NULL }, { 0x80, NULL },
		{ 0xffffffff, NULL },
	};

	(void)state;
	check_names(trap, names, ARRAY_SIZE(names));
	assert_int_equal(count_names(trap, 0, 0xffff), 24);
}

static void test_msrs(void **state)
{
	static const struct name names[] = {
		{ 0x00000000, "P5_MC_ADDR" },	/* the first one */
		{ 0x00000010, "TSC" }, { 0x0000001b, "APIC_BASE" }, { 0x0000003b, "TSC_ADJUST" },
		{ 0x00000048, "SPEC_CTRL" }, { 0x00000174, "SYSENTER_CS" },
		{ 0x000001a0, "MISC_ENABLE" }, { 0x00000200, "MTRR_PHYSBASE0" },
		{ 0x0000020f, "MTRR_PHYSMASK7" }, { 0x00000277, "PAT" },
		{ 0x00000480, "VMX_BASIC" }, { 0x000006e0, "TSC_DEADLINE" },
		{ 0x00000808, "X2APIC_TPR" }, { 0x0000080b, "X2APIC_EOI" },
		{ 0x00000817, "X2APIC_ISR7" }, { 0x00000830, "X2APIC_ICR" },
		{ 0x00000832, "X2APIC_LVT_TIMER" }, { 0x00000838, "X2APIC_TMICT" },
		{ 0x0000083f, "X2APIC_SELF" }, { 0x40000001, "HV_HYPERCALL" },
		{ 0x40000070, "HV_EOI" }, { 0x400000b7, "HV_STIMER3_COUNT" },
		{ 0x40000200, "XEN_HYPERCALL_PAGE" }, { 0xc0000080, "EFER" },
		{ 0xc0000081, "STAR" }, { 0xc0000082, "LSTAR" }, { 0xc0000100, "FS_BASE" },
		{ 0xc0000101, "GS_BASE" }, { 0xc0000102, "SHADOW_GS_BASE" },
		{ 0xc0000103, "TSC_AUX" }, { 0xc0010114, "K8_VM_CR" },
		{ 0xc001011f, "VIRT_SPEC_CTRL" },
		{ 0xc0011029, "AMD64_DE_CFG" },	/* the last one */
		{ 0x00000002, NULL }, { 0x00000011, NULL }, { 0x000007ff, NULL },
		{ 0x00000801, NULL }, { 0x00000840, NULL }, { 0x3fffffff, NULL },
		{ 0xc000007f, NULL }, { 0xc001102a, NULL }, { 0xffffffff, NULL },
	};

	(void)state;
	check_names(msr, names, ARRAY_SIZE(names));

	/* A look-up misses entries of a table that is not sorted: nothing may be missed. */
	assert_int_equal(count_names(msr, 0x00000200, 0x0000020f), 16);
	assert_int_equal(count_names(msr, 0x00000480, 0x00000492), 19);
	assert_int_equal(count_names(msr, 0x00000800, 0x000008ff), 7 + 3 * 8 + 13);
	assert_int_equal(count_names(msr, 0x40000090, 0x4000009f), 16);
	assert_int_equal(count_names(msr, 0xc0000080, 0xc0000084), 5);
	assert_int_equal(count_names(msr, 0x00000000, 0x0000ffff), 199);
	assert_int_equal(count_names(msr, 0x40000000, 0x4000ffff), 50);
	assert_int_equal(count_names(msr, 0xc0000000, 0xc001ffff), 66);
}

/* ---- which instruction set an exit proves ---- */

static const uint32_t shared_ids[] = { 0x00081002, 0x00081102 };

static void check_shared(const uint32_t *codes, size_t n, enum xen_isa isa)
{
	size_t i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < ARRAY_SIZE(shared_ids); j++)
			if (xen_isa_from_exit(shared_ids[j], codes[i]) != isa)
				fail_msg("exit code 0x%x should say %d", codes[i], isa);
}

static void test_isa_from_shared_id(void **state)
{
	/* Among them the frequent ones: interrupt, CPUID, HLT, CR access, port, MSR read, APIC. */
	static const uint32_t vmx_codes[] = {
		1, 2, 7, 10, 12, 14, 18, 28, 29, 30, 31, 40, 43, 44, 45, 56, 58, 62, 74, 75,
		0x80000021, 0x80000022, 0x80000029, 0x04000001,
	};
	static const uint32_t svm_codes[] = {
		0x41, 0x43, 0x46, 0x47, 0x4e, 0x51, 0x52, 0x60, 0x61, 0x64, 0x6e, 0x72, 0x76,
		0x77, 0x78, 0x79, 0x7b, 0x7c, 0x7f, 0x81, 0x8d, 0xa5, 0x400, 0x403,
		0xffffffff, 0xfffffffe,
	};
	static const uint32_t either[] = {
		/* EXCEPTION_NMI or READ_CR0; INIT_SIGNAL or READ_CR3; SIPI_SIGNAL or READ_CR4 */
		0, 3, 4,
		/* RDTSC or WRITE_CR0; VMCLEAR or WRITE_CR3; VMLAUNCH or WRITE_CR4 */
		16, 19, 20,
		/* MSR_WRITE or READ_DR0; MONITOR_INSTRUCTION or READ_DR7 */
		32, 39,
		/* EPT_VIOLATION or WRITE_DR0; XSETBV or WRITE_DR7 */
		48, 55,
		/* SEAMCALL or #SS; TDCALL or #GP */
		0x4c, 0x4d,
		/* Without a name. */
		0xa7, 0x3ff, 0x404, 0xffff, 0x12345678, 0xfffffff0,
	};

	(void)state;
	check_shared(vmx_codes, ARRAY_SIZE(vmx_codes), XEN_ISA_VMX);
	check_shared(svm_codes, ARRAY_SIZE(svm_codes), XEN_ISA_SVM);
	check_shared(either, ARRAY_SIZE(either), XEN_ISA_UNKNOWN);
}

/* Whatever is taken for proven must be a code of that instruction set in the first place. */
static void test_isa_is_possible(void **state)
{
	uint32_t code;

	(void)state;
	for (code = 0; code <= 0xffff; code++) {
		enum xen_isa isa = xen_isa_from_exit(0x00081102, code);

		if (isa == XEN_ISA_SVM && !xen_svm_exit_name(code))
			fail_msg("0x%x is no exit code of SVM", code);
		if (isa == XEN_ISA_VMX && code > 81)
			fail_msg("0x%x is no exit reason of VMX", code);
		if (isa == XEN_ISA_UNKNOWN && xen_svm_exit_name(code) && code >= 0x60)
			fail_msg("0x%x can only be SVM", code);
	}
}

static void test_isa_from_own_ids(void **state)
{
	static const uint32_t svm_ids[] = {
		0x00081003, 0x00081103, 0x00081402, 0x00081502, 0x00081403, 0x00081503,
	};
	static const uint32_t no_exits[] = {
		0, 0x00081001, 0x00081401, 0x00081004, 0x00082001, 0x0008200c, 0x00082012,
		0x00084011, 0x00021011, 0x0020100d, 0xffffffff,
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(svm_ids); i++) {
		assert_int_equal(xen_isa_from_exit(svm_ids[i], 0), XEN_ISA_SVM);
		assert_int_equal(xen_isa_from_exit(svm_ids[i], 12), XEN_ISA_SVM);
		assert_int_equal(xen_isa_from_exit(svm_ids[i], 0x78), XEN_ISA_SVM);
	}
	/* Other events' first words are no exit codes, whatever they look like. */
	for (i = 0; i < ARRAY_SIZE(no_exits); i++) {
		assert_int_equal(xen_isa_from_exit(no_exits[i], 12), XEN_ISA_UNKNOWN);
		assert_int_equal(xen_isa_from_exit(no_exits[i], 0x78), XEN_ISA_UNKNOWN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vmx),
		cmocka_unit_test(test_svm),
		cmocka_unit_test(test_hypercalls),
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_msrs),
		cmocka_unit_test(test_isa_from_shared_id),
		cmocka_unit_test(test_isa_is_possible),
		cmocka_unit_test(test_isa_from_own_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
