/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_part_words.h
 * @brief	Words of the member "part" of a sidecar, for who reads and who writes it.
 */
#ifndef KSHARK_VIRT_XEN_PART_WORDS_H
#define KSHARK_VIRT_XEN_PART_WORDS_H

#include "array.h"
#include "virt_model.h"
#include "virt_recorded.h"
#include "xen_events.h"

/** What another version has written otherwise is not for us. */
#define XEN_PART_VERSION	1

static const struct {
	char		letter;
	uint8_t		flag;
} xen_part_flags[] = {
	{ 'x', VIRT_INTERVAL_EXIT }, { 'n', VIRT_INTERVAL_NESTED },
	{ 's', VIRT_INTERVAL_UNSPLIT }, { 'a', VIRT_INTERVAL_UNASKED },
};

/** xen_part_flag - of an interval, by its letter; or 0 */
static inline uint8_t xen_part_flag(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(xen_part_flags); i++)
		if (xen_part_flags[i].letter == letter)
			return xen_part_flags[i].flag;
	return 0;
}

/** Kinds of records that a Xen trace may have. */
static const struct {
	const char	*name;
	enum virt_record_kind kind;
} xen_part_kinds[] = {
	{ "entry", VIRT_RECORD_ENTRY }, { "exit", VIRT_RECORD_EXIT },
	{ "switch", VIRT_RECORD_SWITCH }, { "wakeup", VIRT_RECORD_WAKEUP },
	{ "migrate", VIRT_RECORD_MIGRATE }, { "runstate", VIRT_RECORD_RUNSTATE },
	{ "inject", VIRT_RECORD_INJECT }, { "hypercall", VIRT_RECORD_HYPERCALL },
	{ "handler", VIRT_RECORD_HANDLER }, { "idle_state", VIRT_RECORD_IDLE_STATE },
	{ "frequency", VIRT_RECORD_FREQUENCY },
};

static inline const char *xen_part_isa(enum xen_isa isa)
{
	return isa == XEN_ISA_VMX ? "vmx" : isa == XEN_ISA_SVM ? "svm" : "unknown";
}

#endif
