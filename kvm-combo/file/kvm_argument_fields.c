// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_argument_fields.c
 * @brief	Events that show what a VM exit was for, and their fields.
 */
#include <string.h>

#include <event-parse.h>

#include "array.h"
#include "exit_arguments.h"
#include "kvm_argument_fields.h"
#include "kvm_formats.h"
#include "kvm_tracker.h"

#define BOTH(name)	EXIT_ARGUMENT_##name, EXIT_ARGUMENT_##name
#define WAYS(name)	EXIT_ARGUMENT_##name##_READ, EXIT_ARGUMENT_##name##_WRITE

/**
 * Linux's arch/x86/kvm/trace.h, include/trace/events/kvm.h (kvm_mmio, whose type is 2 of a write),
 * arch/arm64/kvm/trace_arm.h and trace_handle_exit.h. KVM's fast MMIO is a write to an eventfd.
 * Hypercalls are in the table of kvm_fields.c.
 */
static const struct argument_row {
	const char	*name;
	uint8_t		kind, kind_of_write;
	const char	*value, *is_write;
	uint8_t		write_is;
	const char	*data;
} argument_rows[] = {
	{ "kvm_msr", WAYS(MSR), "ecx", "write", 1, "data" },
	{ "kvm_pio", WAYS(PORT), "port", "rw", 1, NULL },
	{ "kvm_mmio", WAYS(MMIO), "gpa", "type", 2, NULL },
	{ "kvm_fast_mmio", BOTH(MMIO_WRITE), "gpa", NULL, 0, NULL },
	{ "kvm_page_fault", BOTH(PAGE), "fault_address", NULL, 0, "error_code" },
	{ "kvm_cpuid", BOTH(CPUID), "function", NULL, 0, NULL },
	{ "kvm_cr", WAYS(CR), "cr", "rw", 1, NULL },
	{ "kvm_apic", WAYS(APIC), "reg", "rw", 1, "val" },
	{ "kvm_vmgexit_enter", BOTH(VMGEXIT), "exit_reason", NULL, 0, NULL },
	{ "kvm_guest_fault", BOTH(ABORT), "ipa", NULL, 0, "hsr" },
	{ "kvm_sys_access", WAYS(SYSREG), "Op0", "is_write", 1, NULL },
	{ "kvm_hvc_arm64", BOTH(SMCCC), "r0", NULL, 0, NULL },
	{ "kvm_wfx_arm64", BOTH(WAIT), "is_wfe", NULL, 0, NULL },
};

_Static_assert(ARRAY_SIZE(argument_rows) <= KVM_MAX_ARGUMENT_EVENTS, "room for all");

/** The other operands of a system register. */
static const char *const operands[KVM_ARGUMENT_PARTS] = { "Op0", "Op1", "CRn", "CRm", "Op2" };

static bool is_sysreg(uint8_t kind)
{
	return kind == EXIT_ARGUMENT_SYSREG_READ;
}

/** Return: false if the event lacks a field without which it shows nothing. */
static bool find_fields(struct tep_event *event, const struct argument_row *row,
			struct kvm_argument_field *field)
{
	field->value[0] = tep_find_field(event, row->value);
	for (int i = 1; i < KVM_ARGUMENT_PARTS && is_sysreg(row->kind); i++) {
		field->value[i] = tep_find_field(event, operands[i]);
		if (!field->value[i])
			return false;
	}
	field->is_write = row->is_write ? tep_find_field(event, row->is_write) : NULL;
	field->data = row->data ? tep_find_field(event, row->data) : NULL;
	return field->value[0] && (field->is_write || !row->is_write);
}

size_t kvm_argument_fields_find(struct tep_handle *tep, int max_id,
				struct kvm_argument_field *found)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(argument_rows); i++) {
		const struct argument_row *row = &argument_rows[i];
		struct tep_event *event = kvm_formats_find(tep, "kvm", row->name);

		if (!event || event->id < 0 || event->id > max_id)
			continue;
		found[n] = (struct kvm_argument_field){
			.id = event->id, .kind = row->kind, .kind_of_write = row->kind_of_write,
			.write_is = row->write_is,
		};
		if (find_fields(event, row, &found[n]))
			n++;
	}
	return n;
}

/**
 * SVM's error code of a nested page fault always has one of the bits 32 and 33 (GUEST_FINAL,
 * GUEST_PAGE); VMX's exit qualification has none of these, and bit 7 if it knows the linear
 * address. Linux's arch/x86/include/asm/kvm_host.h (PFERR_*), asm/vmx.h (EPT_VIOLATION_*).
 */
static bool is_shared_page(uint64_t error)
{
	if (error >> 32)
		return error & 1 && error & 2;
	return error & 0x80 && error & 2 && error & 0x38;
}

/** A permission fault (DFSC 0x0c to 0x0f) of a write (WnR): Arm's ISS encoding of data aborts. */
static bool is_shared_abort(uint64_t esr)
{
	return esr >> 26 == 0x24 && (esr & 0x3c) == 0x0c && esr & 0x40;
}

/** A write to ICR has the kind of the IPI in its value, and the fault of a page who has it. */
static void refine(uint8_t *kind, uint64_t data, uint64_t *value)
{
	if (*kind == EXIT_ARGUMENT_PAGE)
		*value |= is_shared_page(data) ? KVM_PAGE_SHARED : 0;
	if (*kind == EXIT_ARGUMENT_ABORT)
		*value |= is_shared_abort(data) ? KVM_PAGE_SHARED : 0;
	if (*kind == EXIT_ARGUMENT_MSR_WRITE && *value == EXIT_MSR_X2APIC_ICR)
		*kind = EXIT_ARGUMENT_ICR_WRITE;
	else if (*kind == EXIT_ARGUMENT_APIC_WRITE && *value == EXIT_APIC_ICR)
		*kind = EXIT_ARGUMENT_APIC_ICR;
	else
		return;
	*value = exit_argument_icr(data);
}

uint8_t kvm_argument_of(const struct kvm_argument_field *field,
			const uint64_t parts[KVM_ARGUMENT_PARTS], uint64_t is_write,
			const uint64_t *data, uint64_t *value)
{
	uint8_t kind = field->is_write && is_write >= field->write_is ? field->kind_of_write :
									  field->kind;

	*value = parts[0];
	if (is_sysreg(field->kind))
		*value = EXIT_SYSREG(parts[0] & 3, parts[1] & 7, parts[2] & 15, parts[3] & 15,
				     parts[4] & 7);
	if (kind == EXIT_ARGUMENT_PAGE || kind == EXIT_ARGUMENT_ABORT)
		*value &= ~UINT64_C(0xfff);
	if (data)
		refine(&kind, *data, value);
	return kind;
}
