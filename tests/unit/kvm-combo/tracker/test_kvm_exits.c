// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_exits.c
 * @brief	KVM's exit reasons have the names of the kernel's uapi headers, and the right class.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<asm/svm.h>) && __has_include(<asm/vmx.h>)
#include <asm/svm.h>
#include <asm/vmx.h>
#define HAVE_HEADERS
#endif
#endif

#include "exit_reasons.h"
#include "kvm_private.h"

/** arch/x86/include/uapi/asm/vmx.h and svm.h, arch/arm64/include/asm/esr.h of Linux. */
static const struct {
	enum kvm_isa	isa;
	uint64_t	reason;
	const char	*name;
	enum virt_exit_class exit_class;
} names[] = {
	{ KVM_ISA_VMX, 0, "EXCEPTION_NMI", VIRT_EXIT_INTERRUPT },
	{ KVM_ISA_VMX, 1, "EXTERNAL_INTERRUPT", VIRT_EXIT_INTERRUPT },
	{ KVM_ISA_VMX, 12, "HLT", VIRT_EXIT_HALT },
	{ KVM_ISA_VMX, 18, "VMCALL", VIRT_EXIT_HYPERCALL },
	{ KVM_ISA_VMX, 26, "VMOFF", VIRT_EXIT_NESTED },
	{ KVM_ISA_VMX, 27, "VMON", VIRT_EXIT_NESTED },
	{ KVM_ISA_VMX, 30, "IO_INSTRUCTION", VIRT_EXIT_IO },
	{ KVM_ISA_VMX, 32, "MSR_WRITE", VIRT_EXIT_REGISTER },
	{ KVM_ISA_VMX, 40, "PAUSE_INSTRUCTION", VIRT_EXIT_HALT },
	{ KVM_ISA_VMX, 48, "EPT_VIOLATION", VIRT_EXIT_MEMORY },
	{ KVM_ISA_VMX, 52, "PREEMPTION_TIMER", VIRT_EXIT_INTERRUPT },
	{ KVM_ISA_VMX, 56, "APIC_WRITE", VIRT_EXIT_APIC },
	{ KVM_ISA_VMX, 35, "0x23", VIRT_EXIT_OTHER },
	{ KVM_ISA_VMX, 0xfff0, "0xfff0", VIRT_EXIT_OTHER },
	{ KVM_ISA_SVM, 0x00, "READ_CR0", VIRT_EXIT_REGISTER },
	{ KVM_ISA_SVM, 0x18, "WRITE_CR8", VIRT_EXIT_REGISTER },
	{ KVM_ISA_SVM, 0x27, "READ_DR7", VIRT_EXIT_REGISTER },
	{ KVM_ISA_SVM, 0x60, "INTR", VIRT_EXIT_INTERRUPT },
	{ KVM_ISA_SVM, 0x78, "HLT", VIRT_EXIT_HALT },
	{ KVM_ISA_SVM, 0x7b, "IOIO", VIRT_EXIT_IO },
	{ KVM_ISA_SVM, 0x7c, "MSR", VIRT_EXIT_REGISTER },
	{ KVM_ISA_SVM, 0x8c, "MWAIT_COND", VIRT_EXIT_HALT },
	{ KVM_ISA_SVM, 0x400, "NPF", VIRT_EXIT_MEMORY },
	{ KVM_ISA_SVM, 0x402, "AVIC_UNACCELERATED_ACCESS", VIRT_EXIT_APIC },
	{ KVM_ISA_SVM, UINT32_MAX, "ERR", VIRT_EXIT_OTHER },
	{ KVM_ISA_SVM, 0xbad, "0xbad", VIRT_EXIT_OTHER },
	{ KVM_ISA_ARM, UINT64_C(0) << 32, "IRQ", VIRT_EXIT_INTERRUPT },
	{ KVM_ISA_ARM, UINT64_C(2) << 32 | 0x01, "WFx", VIRT_EXIT_HALT },
	{ KVM_ISA_ARM, UINT64_C(2) << 32 | 0x24, "DABT_LOW", VIRT_EXIT_MEMORY },
	{ KVM_ISA_NONE, 7, "0x7", VIRT_EXIT_OTHER },
};

static void test_names(void **state)
{
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *name = kvm_exit_name(names[i].isa, names[i].reason, buf, sizeof(buf));

		assert_string_equal(name, names[i].name);
		if (exit_class_of(name) != names[i].exit_class)
			print_message("%s: %s\n", name, virt_exit_class_name(exit_class_of(name)));
		assert_int_equal(exit_class_of(name), names[i].exit_class);
	}
}

/** What no list has is told by its number, and is not known. */
static void test_unknown(void **state)
{
	static const struct {
		enum kvm_isa	isa;
		uint64_t	reason;
	} unknown[] = {
		{ KVM_ISA_NONE, 0 }, { KVM_ISA_ARM, UINT64_C(2) << 32 | 99 },
		{ KVM_ISA_ARM, UINT64_C(99) << 32 }, { KVM_ISA_ARM, UINT64_MAX },
		{ KVM_ISA_VMX, 0xffff }, { KVM_ISA_SVM, 0x1000000 },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		assert_false(kvm_exit_is_known(unknown[i].isa, unknown[i].reason));
		buf[0] = '\0';
		assert_ptr_equal(kvm_exit_name(unknown[i].isa, unknown[i].reason, buf, sizeof(buf)),
				 buf);
		assert_true(*buf);
	}
	assert_true(kvm_exit_is_known(KVM_ISA_VMX, 12));
}

#ifdef HAVE_HEADERS
#define SVM(name)	{ KVM_ISA_SVM, SVM_EXIT_##name, #name, 0 }

/** What the headers of this machine call them; the list of VMX is theirs. */
static void test_headers(void **state)
{
	static const struct {
		uint64_t	reason;
		const char	*name;
	} vmx[] = { VMX_EXIT_REASONS };
	static const typeof(names[0]) svm[] = {
		SVM(READ_CR0), SVM(READ_CR2), SVM(READ_CR3), SVM(READ_CR4), SVM(READ_CR8),
		SVM(WRITE_CR0), SVM(WRITE_CR2), SVM(WRITE_CR3), SVM(WRITE_CR4), SVM(WRITE_CR8),
		SVM(READ_DR0), SVM(READ_DR7), SVM(WRITE_DR0), SVM(WRITE_DR7),
		SVM(INTR), SVM(NMI), SVM(SMI), SVM(INIT), SVM(VINTR), SVM(CR0_SEL_WRITE),
		SVM(IDTR_READ), SVM(GDTR_READ), SVM(LDTR_READ), SVM(TR_READ), SVM(IDTR_WRITE),
		SVM(GDTR_WRITE), SVM(LDTR_WRITE), SVM(TR_WRITE), SVM(RDTSC), SVM(RDPMC), SVM(PUSHF),
		SVM(POPF), SVM(CPUID), SVM(RSM), SVM(IRET), SVM(SWINT), SVM(INVD), SVM(PAUSE),
		SVM(HLT), SVM(INVLPG), SVM(INVLPGA), SVM(IOIO), SVM(MSR), SVM(TASK_SWITCH),
		SVM(FERR_FREEZE), SVM(SHUTDOWN), SVM(VMRUN), SVM(VMMCALL), SVM(VMLOAD), SVM(VMSAVE),
		SVM(STGI), SVM(CLGI), SVM(SKINIT), SVM(RDTSCP), SVM(ICEBP), SVM(WBINVD),
		SVM(MONITOR), SVM(MWAIT), SVM(MWAIT_COND), SVM(XSETBV), SVM(RDPRU),
		SVM(EFER_WRITE_TRAP), SVM(CR0_WRITE_TRAP), SVM(CR8_WRITE_TRAP), SVM(INVPCID),
		SVM(NPF), SVM(AVIC_INCOMPLETE_IPI), SVM(AVIC_UNACCELERATED_ACCESS), SVM(VMGEXIT),
		SVM(ERR),
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(vmx) / sizeof(vmx[0]); i++)
		assert_string_equal(kvm_exit_name(KVM_ISA_VMX, vmx[i].reason, buf, sizeof(buf)),
				    vmx[i].name);
	for (size_t i = 0; i < sizeof(svm) / sizeof(svm[0]); i++)
		assert_string_equal(kvm_exit_name(KVM_ISA_SVM, svm[i].reason, buf, sizeof(buf)),
				    svm[i].name);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_unknown),
#ifdef HAVE_HEADERS
		cmocka_unit_test(test_headers),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
