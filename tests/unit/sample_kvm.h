/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	sample_kvm.h
 * @brief	A sample that is a trace.dat. To be included after cmocka.h.
 */
#ifndef KSHARK_VIRT_SAMPLE_KVM_H
#define KSHARK_VIRT_SAMPLE_KVM_H

#include "kvm_trace.h"
#include "sample_file.h"

/** open_sample - To be closed. */
static inline struct kvm_trace *open_sample(const char *name)
{
	char error[512] = "";
	struct kvm_trace *trace = kvm_trace_open(sample_path(name), error, sizeof(error));

	if (!trace)
		fail_msg("%s", error);
	return trace;
}

#endif
