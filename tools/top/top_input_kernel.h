/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_input_kernel.h
 * @brief	The current activity of this KVM host, as programs in its kernel count it.
 *
 * Nothing is recorded. The kernel counts the states of vCPUs, once an interval they are read, and
 * KVM's own counters with them: what that costs does not depend on how many VM exits there are.
 */
#ifndef KSHARK_VIRT_TOP_INPUT_KERNEL_H
#define KSHARK_VIRT_TOP_INPUT_KERNEL_H

#include "top_live.h"

struct top_input_kernel;

struct top_input_kernel_options {
	int64_t		interval_ns, hold_ns;
	const struct ksv_vcpu_set *vcpus;
	/** Will there be more? NULL: yes. */
	bool		(*grows)(void *arg);
	void		*arg;
};

/**
 * top_input_kernel_open - begin to count
 * @name: for messages
 * @why: receives why the kernel cannot, as a part of a sentence
 * @status: if it fails: KSV_EXIT_OK: see @why; or an exit status after a message
 *
 * Return: to be closed; or NULL.
 */
struct top_input_kernel *top_input_kernel_open(const char *name,
					       const struct top_input_kernel_options *options,
					       char *why, size_t size, int *status);

/** top_input_kernel_is_idle - does no machine run? */
bool top_input_kernel_is_idle(const struct top_input_kernel *input);
void top_input_kernel_close(struct top_input_kernel *input);

extern const struct top_input top_input_kernel;

#endif
