/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_part_words.h
 * @brief	Words of the member "part" of a sidecar, for who reads and who writes it.
 */
#ifndef KSHARK_VIRT_XEN_PART_WORDS_H
#define KSHARK_VIRT_XEN_PART_WORDS_H

#include "array.h"
#include "virt_model.h"
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

static inline const char *xen_part_isa(enum xen_isa isa)
{
	return isa == XEN_ISA_VMX ? "vmx" : isa == XEN_ISA_SVM ? "svm" : "unknown";
}

#endif
