/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_pairs.h
 * @brief	Find out which open streams are hosts and guests of each other.
 */
#ifndef KSHARK_VIRT_KVM_PAIRS_H
#define KSHARK_VIRT_KVM_PAIRS_H

#include <stddef.h>

#include <libkshark.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kvm_pairs_recorded - set the pairs that trace-cmd wrote into its files
 *
 * A host's file names the trace of each guest that was recorded together with it, and the thread of
 * each of its vCPUs. Without that, it counts what has been found out by aligning clocks.
 */
void kvm_pairs_recorded(void);

/**
 * kvm_pairs_guess - guess what is left (virt_pairing_guess())
 * @rows: all rows of all streams, by time
 *
 * Return: number of pairs, or -ENOMEM.
 */
int kvm_pairs_guess(struct kshark_entry **rows, size_t n_rows);

#ifdef __cplusplus
}
#endif
#endif
