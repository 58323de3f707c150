/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_part_words.h
 * @brief	Words of the member "part" of a sidecar, for its reader and its writer.
 */
#ifndef KSHARK_VIRT_XEN_PART_WORDS_H
#define KSHARK_VIRT_XEN_PART_WORDS_H

#include "xen_events.h"

/** What another version has written otherwise is not for us. */
#define XEN_PART_VERSION	1

static inline const char *xen_part_isa(enum xen_isa isa)
{
	return isa == XEN_ISA_VMX ? "vmx" : isa == XEN_ISA_SVM ? "svm" : "unknown";
}

#endif
