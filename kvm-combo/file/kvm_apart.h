/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_apart.h
 * @brief	The first steps of a process that reads a hostile file for another one.
 */
#ifndef KSHARK_VIRT_KVM_APART_H
#define KSHARK_VIRT_KVM_APART_H

#include <stddef.h>
#include <stdint.h>

/**
 * CPU seconds for a step of the work: this, and one more for each KVM_APART_SECONDS_PER bytes of
 * the file. A sound file needs less than a hundredth of it.
 */
#define KVM_APART_SECONDS	20
#define KVM_APART_SECONDS_PER	(256 << 10)

/** Bytes of memory: this, and as many as the file has. */
#define KVM_APART_MEMORY	((uint64_t)1 << 30)

/**
 * kvm_apart_settle - after fork(): close what the other process has open, and leave its signals
 * @keep: descriptors that stay open; negative ones are ignored
 *
 * Standard input, output and error become /dev/null: messages of libraries are not for users. The
 * process ends with the other one. It dumps no core.
 */
void kvm_apart_settle(const int *keep, size_t n);

/**
 * kvm_apart_limit - limit the CPU time of the next step
 * @bytes: size of the file
 *
 * SIGXCPU ends a process that needs more.
 */
void kvm_apart_limit(uint64_t bytes);

/**
 * kvm_apart_limit_memory - limit the memory that the process takes from now on
 * @bytes: size of the file
 *
 * What needs more gets no memory. A lower limit that the user has set stays. With the address
 * sanitizer there is no limit: it needs more than any.
 */
void kvm_apart_limit_memory(uint64_t bytes);

#endif
