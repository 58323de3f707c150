/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	sample_kvm.h
 * @brief	A sample that is a trace.dat. To be included after cmocka.h.
 */
#ifndef KSHARK_VIRT_SAMPLE_KVM_H
#define KSHARK_VIRT_SAMPLE_KVM_H

#include <stdio.h>
#include <stdlib.h>

#include "kvm_trace.h"

/** open_sample - To be closed. */
static inline struct kvm_trace *open_sample(const char *name)
{
	char path[512], error[512] = "";
	struct kvm_trace *trace;

	snprintf(path, sizeof(path), "%s/samples/%s", getenv("KSV_SOURCE_DIR"), name);
	trace = kvm_trace_open(path, error, sizeof(error));
	if (!trace)
		fail_msg("%s", error);
	return trace;
}

#endif
