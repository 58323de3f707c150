/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_tsc.h
 * @brief	Find offsets, ratios and changes of the TSCs of a guest's vCPUs.
 *
 * The source is KVM's own records (kvm_write_tsc_offset) or the sidecar of the host's trace. The
 * sidecar has the values of each vCPU at begin and end for KVM, and those of each domain for Xen.
 */
#ifndef KSHARK_VIRT_ALIGN_TSC_H
#define KSHARK_VIRT_ALIGN_TSC_H

#include "align_data.h"
#include "clock_steps.h"

/** The TSC offset of a vCPU is set: the guest's TSC is the host's plus this. */
struct align_tsc_set {
	int64_t		time;		/* of the host */
	int64_t		offset, before;
	int32_t		tid;
	bool		has_before;
};

/** All that a host's trace shows. */
struct align_tsc_sets {
	struct align_tsc_set *all;
	size_t		n, room;
	int		error;		/* -ENOMEM: not all are there */
};

void align_tsc_sets_add(struct align_tsc_sets *sets, const struct kvm_trace_record *record);
void align_tsc_sets_sort(struct align_tsc_sets *sets);
void align_tsc_sets_free(struct align_tsc_sets *sets);

/** The way from the guest's times to the host's. */
struct align_tsc {
	int64_t		offset;
	double		ppm;
	struct virt_clock_step *steps;	/* before both, see clock_steps.h; to be freed */
	size_t		n_steps;
};

struct align_pair;

/**
 * align_tsc_find - what a source says about a machine
 * @source: enum align_source
 * @pair: whose plain events know which vCPU each CPU is
 *
 * If a source shows that an offset has changed, but not when, the events show that. If something
 * is unequal, @pair gets a note of it.
 *
 * Return: 1; 0 if it says nothing that can be used; or -ENOMEM, with nothing to be freed.
 */
int align_tsc_find(struct align_pair *pair, int source, int32_t number,
		   const struct align_machine *machine, struct align_tsc *tsc);

/** align_tsc_scale - of the drift of a TSC, that of times: the same, unless both files count ns. */
double align_tsc_scale(const struct align_pair *pair, double ppm);

#endif
