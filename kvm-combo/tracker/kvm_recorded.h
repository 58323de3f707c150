/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_recorded.h
 * @brief	The kinds of records that a KVM host's trace has, see virt_recorded.h.
 */
#ifndef KSHARK_VIRT_KVM_RECORDED_H
#define KSHARK_VIRT_KVM_RECORDED_H

#include <stdint.h>

#include "kvm_tracker.h"
#include "virt_recorded.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kvm_tracker_expect - records of these kinds are there whenever their event happens
 * @kinds: VIRT_RECORD_BIT() of each; they are added to those of before
 *
 * Without it, a kind counts as recorded from its first record on, and a model that is made later
 * knows of it from the beginning.
 */
void kvm_tracker_expect(struct kvm_tracker *tracker, uint64_t kinds);

/**
 * kvm_tracker_formats - the trace has the formats of the events of these kinds
 * @kinds: VIRT_RECORD_BIT() of each
 *
 * trace-cmd writes the formats of the events that were enabled. So these kinds were recorded, even
 * without a single record, unless the other records contradict it: a thread that sleeps and runs
 * again has been woken up, one that leaves its guest twice has entered it. The file may be made of
 * another one, or the event may have been filtered.
 */
void kvm_tracker_formats(struct kvm_tracker *tracker, uint64_t kinds);

/**
 * kvm_kinds_of_event - the kinds that a record of an event is one of
 * @kind: enum kvm_event_kind; 0 for those that show no more than who has a CPU
 */
uint64_t kvm_kinds_of_event(uint8_t kind);

/** kvm_kinds_of - the kinds of records that an event is evidence for */
uint64_t kvm_kinds_of(const struct kvm_event *event);

/** kvm_tracker_recorded - the kinds that were recorded, as far as records were added */
uint64_t kvm_tracker_recorded(const struct kvm_tracker *tracker);

#ifdef __cplusplus
}
#endif
#endif
