/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_exits.h
 * @brief	Describe each VM exit, for code that walks through all intervals.
 */
#ifndef KSHARK_VIRT_VIRT_EXITS_H
#define KSHARK_VIRT_VIRT_EXITS_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * virt_exit_of - the VM exit that an interval begins with, also one of several at the same ns
 * @interval: of virt_vcpu_intervals() of this vCPU
 *
 * In O(intervals of the exit).
 *
 * Return: false if it begins with none.
 */
bool virt_exit_of(const struct virt_model *model, int32_t vcpu,
		  const struct virt_interval *interval, struct virt_exit *exit);

#ifdef __cplusplus
}
#endif
#endif
