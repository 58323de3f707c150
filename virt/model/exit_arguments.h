/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	exit_arguments.h
 * @brief	The arguments of VM exits (the register, port, address ... that the guest used):
 *		their names, and the records that show them. The same for all hypervisors.
 */
#ifndef KSHARK_VIRT_EXIT_ARGUMENTS_H
#define KSHARK_VIRT_EXIT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_needs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the value of an argument is. */
enum exit_argument_kind {
	EXIT_ARGUMENT_MSR_READ = 0,	/* number of an MSR */
	EXIT_ARGUMENT_MSR_WRITE,
	EXIT_ARGUMENT_ICR_WRITE,	/* exit_argument_icr() of a write to X2APIC_ICR */
	EXIT_ARGUMENT_PORT_READ,	/* I/O port */
	EXIT_ARGUMENT_PORT_WRITE,
	EXIT_ARGUMENT_MMIO_READ,	/* guest's physical address of a device */
	EXIT_ARGUMENT_MMIO_WRITE,
	EXIT_ARGUMENT_PAGE,		/* guest's physical address of a page */
	EXIT_ARGUMENT_CPUID,		/* leaf */
	EXIT_ARGUMENT_CALL_KVM,		/* number of a hypercall */
	EXIT_ARGUMENT_CALL_HYPERV,
	EXIT_ARGUMENT_CALL_XEN,
	EXIT_ARGUMENT_CR_READ,		/* number of a control register */
	EXIT_ARGUMENT_CR_WRITE,
	EXIT_ARGUMENT_APIC_READ,	/* offset of a register of the local APIC */
	EXIT_ARGUMENT_APIC_WRITE,
	EXIT_ARGUMENT_APIC_ICR,		/* the same of the APIC's page */
	EXIT_ARGUMENT_VMGEXIT,		/* SVM's exit code that an encrypted guest hands over */
	EXIT_ARGUMENT_ABORT,		/* arm64: intermediate physical address of a page */
	EXIT_ARGUMENT_SYSREG_READ,	/* arm64: EXIT_SYSREG() */
	EXIT_ARGUMENT_SYSREG_WRITE,
	EXIT_ARGUMENT_SMCCC,		/* arm64: function of a call */
	EXIT_ARGUMENT_WAIT,		/* arm64: 0: WFI, 1: WFE */
	EXIT_ARGUMENT_OTHERS,		/* all that are not kept apart, see virt_arguments.h */
	EXIT_ARGUMENT_NONE,		/* no record shows it; only what the host did is known */
	EXIT_ARGUMENT_N_KINDS
};

/** EXIT_SYSREG - a system register of arm64, by the operands of MSR and MRS */
#define EXIT_SYSREG(op0, op1, crn, crm, op2) \
	((uint64_t)(op0) << 14 | (uint64_t)(op1) << 11 | (uint64_t)(crn) << 7 | \
	 (uint64_t)(crm) << 3 | (uint64_t)(op2))

/** Linux's MSR of the x2APIC's ICR, and the offset of this register in the APIC's page. */
#define EXIT_MSR_X2APIC_ICR	0x830
#define EXIT_APIC_ICR		0x300

/** exit_argument_icr - the bits of an ICR value for the kind of the IPI and for its targets */
static inline uint64_t exit_argument_icr(uint64_t icr)
{
	return (icr >> 8 & 7) | (icr >> 18 & 3) << 3;
}

/** exit_argument_most - the highest value that an argument of a kind has */
uint64_t exit_argument_most(enum exit_argument_kind kind);

/** exit_argument_record - the records that show arguments of a kind; VIRT_RECORD_N_KINDS: none */
enum virt_record_kind exit_argument_record(enum exit_argument_kind kind);

/**
 * exit_argument_of_reason - the records that show the argument of exits of a reason
 * @reason: its name, also with "L2:" in front
 *
 * A reason has records of one kind, whatever else happens during its exits. So another event that
 * is recorded as well does not change what an exit was for.
 *
 * Return: VIRT_RECORD_N_KINDS: no record shows it, or there is none.
 */
enum virt_record_kind exit_argument_of_reason(const char *reason);

/**
 * exit_argument_is_named - does a value mean the same in every machine: has it a name of its own?
 *
 * If not, a port or an address is a device's that differs from machine to machine.
 */
bool exit_argument_is_named(enum exit_argument_kind kind, uint64_t value);

/** Longer than any name of an argument. */
#define EXIT_ARGUMENT_NAME	64

/**
 * exit_argument_name - "write TSC_DEADLINE", "read port 0x60 (i8042 data)", "leaf 0x4000000a"
 *
 * A value without a name is a number.
 *
 * Return: @text.
 */
const char *exit_argument_name(enum exit_argument_kind kind, uint64_t value, char *text,
			       size_t size);

#ifdef __cplusplus
}
#endif
#endif
