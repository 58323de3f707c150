/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_part_words.h
 * @brief	Words of the facts about a part.
 */
#ifndef KSHARK_VIRT_VIRT_PART_WORDS_H
#define KSHARK_VIRT_VIRT_PART_WORDS_H

#include "array.h"
#include "virt_model.h"
#include "virt_recorded.h"

/** Letters of VIRT_INTERVAL_..., from bit 0 on; a blank: the model finds it itself. */
#define VIRT_PART_LETTERS	"x nsaepl"

_Static_assert(VIRT_INTERVAL_EXIT == 1 << 0 && VIRT_INTERVAL_MIGRATED == 1 << 1 &&
	       VIRT_INTERVAL_NESTED == 1 << 2 && VIRT_INTERVAL_UNSPLIT == 1 << 3 &&
	       VIRT_INTERVAL_UNASKED == 1 << 4 && VIRT_INTERVAL_ENTERED == 1 << 5 &&
	       VIRT_INTERVAL_ON_PCPU == 1 << 6 && VIRT_INTERVAL_LOOSE == 1 << 7,
	       "letters are in the order of the bits");

/** Kinds of records that a trace may have. */
static const struct {
	const char	*name;
	enum virt_record_kind kind;
} virt_part_kinds[] = {
	{ "entry", VIRT_RECORD_ENTRY }, { "exit", VIRT_RECORD_EXIT },
	{ "switch", VIRT_RECORD_SWITCH }, { "wakeup", VIRT_RECORD_WAKEUP },
	{ "migrate", VIRT_RECORD_MIGRATE }, { "runstate", VIRT_RECORD_RUNSTATE },
	{ "inject", VIRT_RECORD_INJECT }, { "hypercall", VIRT_RECORD_HYPERCALL },
	{ "handler", VIRT_RECORD_HANDLER }, { "idle_state", VIRT_RECORD_IDLE_STATE },
	{ "frequency", VIRT_RECORD_FREQUENCY }, { "exception", VIRT_RECORD_EXCEPTION },
	{ "memory", VIRT_RECORD_MEMORY }, { "call", VIRT_RECORD_CALL },
	{ "msr", VIRT_RECORD_MSR }, { "port", VIRT_RECORD_PORT }, { "mmio", VIRT_RECORD_MMIO },
	{ "fault", VIRT_RECORD_FAULT }, { "cpuid", VIRT_RECORD_CPUID },
	{ "cr", VIRT_RECORD_CR }, { "apic", VIRT_RECORD_APIC },
	{ "whole", VIRT_RECORD_WHOLE }, { "monitor", VIRT_RECORD_MONITOR },
	{ "run", VIRT_RECORD_RUN }, { "waker", VIRT_RECORD_WAKER },
	{ "born", VIRT_RECORD_BORN }, { "accept", VIRT_RECORD_ACCEPT },
	{ "nested", VIRT_RECORD_NESTED }, { "nested_exit", VIRT_RECORD_NESTED_EXIT },
	{ "nested_inject", VIRT_RECORD_NESTED_INJECT },
	{ "halt_poll", VIRT_RECORD_HALT_POLL }, { "vmgexit", VIRT_RECORD_VMGEXIT },
	{ "abort", VIRT_RECORD_ABORT }, { "sysreg", VIRT_RECORD_SYSREG },
	{ "smccc", VIRT_RECORD_SMCCC }, { "wait", VIRT_RECORD_WAIT },
	{ "subcall", VIRT_RECORD_SUBCALL }, { "request", VIRT_RECORD_REQUEST },
	{ "userfault", VIRT_RECORD_USERFAULT }, { "page_cache", VIRT_RECORD_PAGE_CACHE },
	{ "block", VIRT_RECORD_BLOCK }, { "alloc", VIRT_RECORD_ALLOC },
	{ "fast_fault", VIRT_RECORD_FAST_FAULT }, { "async", VIRT_RECORD_ASYNC },
	{ "budget", VIRT_RECORD_BUDGET },
};

_Static_assert(sizeof(virt_part_kinds) / sizeof(*virt_part_kinds) == VIRT_RECORD_N_KINDS,
	       "each kind has a name");

#endif
