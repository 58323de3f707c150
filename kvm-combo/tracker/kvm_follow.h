/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_follow.h
 * @brief	A tracker of a KVM host that runs for days: it keeps the recent past.
 *
 * It is the same state machine as for a file. A caller adds records to its tracker as for a file.
 * The state machine takes records up to a time as soon as no earlier record can follow, and drops
 * them then. It finds machines and their vCPUs in the records so far, and a caller may announce
 * machines at any time (kvm_follow_add_guest()). It does not keep handlers, power, and TSC
 * settings.
 *
 * Memory does not grow with time: dead threads are forgotten, and after KVM_FOLLOW_TASKS tasks, the
 * other tasks are distinguished only by their names.
 */
#ifndef KSHARK_VIRT_KVM_FOLLOW_H
#define KSHARK_VIRT_KVM_FOLLOW_H

#include <stdint.h>

#include "kvm_recorded.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tasks that keep their own numbers. */
#define KVM_FOLLOW_TASKS	4096

/** What will be recorded whenever it happens, and where; a file shows this by what it contains. */
struct kvm_follow_options {
	uint64_t	kinds;		/* VIRT_RECORD_BIT() of each, see kvm_tracker_expect() */
	int		n_cpus;		/* that a thread may be on */
};

struct kvm_follow;

/** kvm_follow_new - nothing has come yet. Return: NULL without memory. */
struct kvm_follow *kvm_follow_new(const struct kvm_follow_options *options);

/** kvm_follow_free - models that were made are to be freed before; it may be NULL. */
void kvm_follow_free(struct kvm_follow *follow);

/**
 * kvm_follow_observe - call for each record that is taken, in order of time
 * @see: returns 0, or -ENOMEM, which kvm_follow_feed() returns then
 */
void kvm_follow_observe(struct kvm_follow *follow,
			int (*see)(void *arg, const struct kvm_event *event), void *arg);

/** kvm_follow_comm - the name of a thread, as its last record has it; NULL: none is known */
const char *kvm_follow_comm(const struct kvm_follow *follow, int32_t pid);

/** kvm_follow_tracker - to add records to; which must not be finished. */
struct kvm_tracker *kvm_follow_tracker(struct kvm_follow *follow);

/**
 * kvm_follow_add_guest - a machine, under its name, as kvm_tracker_add_guest()
 *
 * One that has one of these threads is the same, and may have more of them now. What counts is what
 * was known when a thread entered its guest for the first time.
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_follow_add_guest(struct kvm_follow *follow, const char *name, const int32_t *tids,
			 int n_vcpus);

/**
 * kvm_follow_asleep - a thread was seen asleep at some time between two
 *
 * No record shows that a vCPU goes on sleeping. It counts if it has no record in that time.
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_follow_asleep(struct kvm_follow *follow, int32_t tid, int64_t from_ns, int64_t to_ns);

/**
 * kvm_follow_has_strangers - has a thread entered its guest that is of no known machine?
 *
 * Each is a stranger once: kvm_follow_feed() takes it for a vCPU of a machine without a name.
 */
bool kvm_follow_has_strangers(const struct kvm_follow *follow);

/**
 * kvm_follow_feed - take all records up to a time, which is not included
 * @until_ns: not before that of an earlier call; later records may not be before it
 *
 * Return: 0, -ENOMEM, or -E2BIG, see virt_model_add_machine().
 */
int kvm_follow_feed(struct kvm_follow *follow, int64_t until_ns);

/** kvm_follow_fed - up to when records were taken; INT64_MIN: none was. */
int64_t kvm_follow_fed(const struct kvm_follow *follow);

/** kvm_follow_next - the time of the first record that was not taken; INT64_MAX: there is none. */
int64_t kvm_follow_next(const struct kvm_follow *follow);

/** kvm_follow_waiting - how many records wait to be taken. */
size_t kvm_follow_waiting(const struct kvm_follow *follow);

/**
 * kvm_follow_model - what is known of a time by now, as a model
 * @begin_ns: of the model; not before what has been forgotten
 * @end_ns: not before what was taken last
 * @model: receives it; it is to be freed before @follow
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_follow_model(const struct kvm_follow *follow, int64_t begin_ns, int64_t end_ns,
		     struct virt_model **model);

/**
 * kvm_follow_forget - no model begins before this time any more
 *
 * New threads are given to the machines that they work for; models contain it from then on.
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_follow_forget(struct kvm_follow *follow, int64_t before_ns);

#ifdef __cplusplus
}
#endif
#endif
