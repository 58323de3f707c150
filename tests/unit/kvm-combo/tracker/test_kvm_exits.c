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
#include <string.h>

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
	{ KVM_ISA_ARM, UINT64_C(2) << 32 | 0x18, "SYS64", VIRT_EXIT_REGISTER },
	{ KVM_ISA_ARM, UINT64_C(2) << 32 | 0x27, "MOPS", VIRT_EXIT_OTHER },
	/* Linux's arch/riscv/include/asm/csr.h, arch/loongarch/include/asm/loongarch.h and
	 * arch/s390/include/uapi/asm/sie.h */
	{ KVM_ISA_RISCV, 23, "STORE_GUEST_PAGE_FAULT", VIRT_EXIT_MEMORY },
	{ KVM_ISA_RISCV, 22, "VIRTUAL_INST_FAULT", VIRT_EXIT_OTHER },
	{ KVM_ISA_RISCV, 10, "SUPERVISOR_SYSCALL", VIRT_EXIT_HYPERCALL },
	{ KVM_ISA_RISCV, UINT64_C(1) << 32 | 5, "IRQ_S_TIMER", VIRT_EXIT_INTERRUPT },
	{ KVM_ISA_RISCV, 5, "LOAD_ACCESS", VIRT_EXIT_OTHER },
	{ KVM_ISA_LOONGARCH, 0, "INT", VIRT_EXIT_INTERRUPT },
	{ KVM_ISA_LOONGARCH, 2, "TLBS", VIRT_EXIT_MEMORY },
	{ KVM_ISA_LOONGARCH, 22, "GSPR", VIRT_EXIT_OTHER },
	{ KVM_ISA_LOONGARCH, 23, "HVC", VIRT_EXIT_HYPERCALL },
	{ KVM_ISA_S390, 0, "Host interruption", VIRT_EXIT_INTERRUPT },
	{ KVM_ISA_S390, 0x1c, "Wait state", VIRT_EXIT_HALT },
	{ KVM_ISA_S390, 0x40, "I/O instruction", VIRT_EXIT_IO },
	{ KVM_ISA_S390, 0x48, "Timing subset", VIRT_EXIT_OTHER },
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

/** A reason that no list has is named by its number, and unknown. */
static void test_unknown(void **state)
{
	static const struct {
		enum kvm_isa	isa;
		uint64_t	reason;
	} unknown[] = {
		{ KVM_ISA_NONE, 0 }, { KVM_ISA_ARM, UINT64_C(2) << 32 | 99 },
		{ KVM_ISA_ARM, UINT64_C(99) << 32 }, { KVM_ISA_ARM, UINT64_MAX },
		{ KVM_ISA_VMX, 0xffff }, { KVM_ISA_SVM, 0x1000000 },
		{ KVM_ISA_RISCV, 11 }, { KVM_ISA_RISCV, 24 }, { KVM_ISA_RISCV, UINT64_C(1) << 32 },
		{ KVM_ISA_RISCV, UINT64_MAX }, { KVM_ISA_LOONGARCH, 26 }, { KVM_ISA_S390, 2 },
		{ KVM_ISA_S390, 0x24 }, { KVM_ISA_S390, 0x4c },
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

/** Of records: flags of VMX are no part of the reason, all else is; which sleeps are wanted. */
static void test_reasons(void **state)
{
	static const struct {
		enum kvm_isa	isa;
		uint64_t	value;
		const char	*name;
		enum kvm_wait	wait;
	} reasons[] = {
		{ KVM_ISA_VMX, 0, "EXCEPTION_NMI", KVM_WAIT_UNASKED },
		/* an entry that failed; a lock of the bus, in an enclave */
		{ KVM_ISA_VMX, 0x80000021, "INVALID_STATE", KVM_WAIT_UNASKED },
		{ KVM_ISA_VMX, 0x0400000c, "HLT", KVM_WAIT_ASKED },
		{ KVM_ISA_VMX, 0x08000030, "EPT_VIOLATION", KVM_WAIT_UNASKED },
		{ KVM_ISA_VMX, 0x32000001, "EXTERNAL_INTERRUPT", KVM_WAIT_UNASKED },
		/* PVM */
		{ KVM_ISA_VMX, 0x10000, "0x10000", KVM_WAIT_UNKNOWN },
		{ KVM_ISA_VMX, 0x20000, "0x20000", KVM_WAIT_UNKNOWN },
		{ KVM_ISA_VMX, 0x1000000, "0x1000000", KVM_WAIT_UNKNOWN },
		{ KVM_ISA_VMX, 0x40000000, "0x40000000", KVM_WAIT_UNKNOWN },
		{ KVM_ISA_RISCV, 5, "LOAD_ACCESS", KVM_WAIT_UNASKED },
		{ KVM_ISA_RISCV, UINT64_C(1) << 32 | 5, "IRQ_S_TIMER", KVM_WAIT_UNASKED },
		{ KVM_ISA_RISCV, 22, "VIRTUAL_INST_FAULT", KVM_WAIT_UNKNOWN },
		{ KVM_ISA_RISCV, 10, "SUPERVISOR_SYSCALL", KVM_WAIT_UNKNOWN },
		{ KVM_ISA_LOONGARCH, 22, "GSPR", KVM_WAIT_UNKNOWN },
		{ KVM_ISA_LOONGARCH, 5, "TLBNR", KVM_WAIT_UNASKED },
		{ KVM_ISA_S390, 0x1c, "Wait state", KVM_WAIT_ASKED },
		{ KVM_ISA_S390, 0x04, "Instruction", KVM_WAIT_UNKNOWN },
		{ KVM_ISA_S390, 0x0c, "Instruction and program interruption", KVM_WAIT_UNASKED },
	};
	struct virt_model *model = virt_model_new();
	struct kvm_reasons known = { 0 };

	(void)state;
	/* nested, and again: what is known already */
	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
			const struct kvm_event event = {
				.kind = KVM_EXIT, .more = reasons[i].isa,
				.value = (int64_t)reasons[i].value,
			};
			struct kvm_reason reason;
			const char *name;

			assert_int_equal(kvm_reason_of(&known, model, &event, round % 2, &reason),
					 0);
			name = virt_model_reason(model, reason.index);
			assert_int_equal(strncmp(name, "L2:", 3) == 0, round % 2);
			assert_string_equal(name + (round % 2 ? 3 : 0), reasons[i].name);
			assert_int_equal(reason.wait, reasons[i].wait);
		}
	}
	kvm_reasons_destroy(&known);
	virt_model_free(model);
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
		cmocka_unit_test(test_reasons),
#ifdef HAVE_HEADERS
		cmocka_unit_test(test_headers),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
