/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_guest_file.h
 * @brief	The file of a guest, with the times that KernelShark shows.
 *
 * Works on files and copies: nothing here touches KernelShark, so it may run in any thread.
 */
#ifndef KSHARK_VIRT_VIRT_GUEST_FILE_H
#define KSHARK_VIRT_VIRT_GUEST_FILE_H

#include <stddef.h>

#include "ks_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kvm_trace;

struct virt_guest_file {
	const char	*path;
	struct ks_clock	clock;		/* of the guest's stream (ks_clock_copy()) */
	int64_t		host_offset;	/* that of the host's stream */
};

/**
 * virt_guest_file_open - kvm_trace_open_by_program(), with the clock's steps
 *
 * Return: NULL with a text in @error.
 */
struct kvm_trace *virt_guest_file_open(const struct virt_guest_file *file, char *error,
				       size_t size);

/** virt_guest_file_time - from a time of that trace to the axis of the host's model. */
int64_t virt_guest_file_time(const struct virt_guest_file *file, int64_t time);

#ifdef __cplusplus
}
#endif
#endif
