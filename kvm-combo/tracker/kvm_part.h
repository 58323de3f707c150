/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_part.h
 * @brief	The facts about a whole trace that a part of it lacks: who is who, and virt_part.h.
 */
#ifndef KSHARK_VIRT_KVM_PART_H
#define KSHARK_VIRT_KVM_PART_H

#include "kvm_tracker.h"
#include "virt_part.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A vCPU of the model, in the order of their numbers. */
struct kvm_part_vcpu {
	int32_t		machine;	/* id of its machine, */
	char		*machine_name;	/* and the name: "g1:web" */
	int32_t		id, tid;
	char		*name;
	bool		has_tsc;	/* its TSC was set: */
	int64_t		tsc_offset;
};

struct kvm_part {
	int64_t		first_ns, last_ns;	/* of the records of the part */
	uint64_t	hz;			/* of times that are cycles; 0: they are ns */
	struct kvm_part_vcpu *vcpus;		/* model->n_vcpus */
	struct virt_part *model;
};

/** kvm_part_free - free a part, which may be NULL. */
void kvm_part_free(struct kvm_part *part);

/**
 * kvm_part_of - what a part needs to have beside its records, but for the tracks
 * @whole, @from_ns, @to_ns: as virt_part_of() takes them
 *
 * Return: NULL without memory.
 */
struct kvm_part *kvm_part_of(const struct virt_model *whole, int64_t from_ns, int64_t to_ns);

/**
 * kvm_tracker_set_part - the records are those of a part of a trace
 * @part: lives as long as the tracker
 *
 * It counts only if its first and last record are those that kvm_tracker_finish() gets.
 */
void kvm_tracker_set_part(struct kvm_tracker *tracker, const struct kvm_part *part);

/** kvm_part_fits - is a part the one with these records? @end_ns: after the last one */
bool kvm_part_fits(const struct kvm_part *part, int64_t begin_ns, int64_t end_ns);

#ifdef __cplusplus
}
#endif
#endif
