/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	exit_reasons.h
 * @brief	Names and classes of VM-exit reasons, the same for all hypervisors.
 */
#ifndef KSHARK_VIRT_EXIT_REASONS_H
#define KSHARK_VIRT_EXIT_REASONS_H

#include <stdint.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** exit_vmx_name - of a basic exit reason of VMX. Return: static string, or NULL if unknown. */
const char *exit_vmx_name(uint32_t reason);

/** exit_svm_name - of an SVM exit code: "READ_CR0", "NPF". As exit_vmx_name(). */
const char *exit_svm_name(uint64_t code);

/** exit_class_of - what an exit of that name is about. */
enum virt_exit_class exit_class_of(const char *name);

#ifdef __cplusplus
}
#endif

#endif
