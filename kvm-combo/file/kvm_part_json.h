/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_part_json.h
 * @brief	The member "part" of a sidecar: the trace of a KVM host was cut out of another.
 *
 * Its keys are in docs/xentrace-format.md.
 */
#ifndef KSHARK_VIRT_KVM_PART_JSON_H
#define KSHARK_VIRT_KVM_PART_JSON_H

#include <json-c/json.h>

#include "kvm_part.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kvm_part_read - the part that a sidecar describes
 * @root: of the sidecar
 * @path: for messages
 * @part: receives it; NULL: there is none
 *
 * Return: 0, -ENOMEM, or -EINVAL with a text in @error.
 */
int kvm_part_read(struct json_object *root, const char *path, struct kvm_part **part, char *error,
		  size_t size);

/**
 * kvm_part_window - the window that a trace was cut to, be it a host's or a guest's
 * @trace_path: whose sidecar is read
 * @from_ns, @to_ns: receive it, on the axis of the host's trace
 *
 * Return: 1; 0: there is none, or its sidecar is of no use; or -ENOMEM.
 */
int kvm_part_window(const char *trace_path, int64_t *from_ns, int64_t *to_ns);

/** kvm_part_write - the same as a JSON object. Return: NULL without memory. */
struct json_object *kvm_part_write(const struct kvm_part *part);

#ifdef __cplusplus
}
#endif
#endif
