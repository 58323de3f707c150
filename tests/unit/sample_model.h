/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	sample_model.h
 * @brief	The model of a sample. To be included after cmocka.h.
 */
#ifndef KSHARK_VIRT_SAMPLE_MODEL_H
#define KSHARK_VIRT_SAMPLE_MODEL_H

#include <string.h>

#include "kvm_trace.h"
#include "sample_file.h"
#include "xen_tracker.h"

/** sample_model - of a host, Xen's or KVM's. To be freed. */
static inline struct virt_model *sample_model(const char *name)
{
	struct virt_model *model = NULL;
	struct kvm_trace *kvm = NULL;
	struct xen_trace *xen = NULL;
	const char *path = sample_path(name);
	char error[512] = "";
	int ret;

	if (strstr(name, ".dat"))
		kvm = kvm_trace_open(path, error, sizeof(error));
	else
		xen = xen_trace_open(path, NULL, error, sizeof(error));
	if (!kvm && !xen)
		fail_msg("%s", error);
	ret = kvm ? kvm_trace_model(kvm, NULL, NULL, NULL, &model) :
		    xen_tracker_build(xen, &model);
	assert_int_equal(ret, 0);
	kvm_trace_close(kvm);
	xen_trace_close(xen);
	return model;
}

#endif
