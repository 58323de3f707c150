/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report.h
 * @brief	The numbers of kshark-virt report, ready to be written in any format.
 */
#ifndef KSHARK_VIRT_REPORT_H
#define KSHARK_VIRT_REPORT_H

#include "model_load.h"
#include "output.h"
#include "report_count.h"
#include "virt_worst.h"

/**
 * A number of durations. Percentiles are exact: the smallest one that so many per cent of all do
 * not exceed (nearest rank).
 */
struct report_dist {
	uint64_t	count;
	int64_t		ns;		/* sum */
	int64_t		min, p5, p50, p95, p99, max;
};

/** Exits of one reason that begin in the window. */
struct report_exit {
	const char	*reason;
	uint64_t	count;
	struct report_dist cost;	/* of those whose next entry is in the trace */
	int64_t		state_ns[VIRT_N_STATES];
};

struct report_culprit {
	const char	*who;
	int64_t		ns;
};

struct report_vcpu {
	const struct virt_vcpu	*info;
	struct report_dist	states[VIRT_N_STATES];
	struct report_dist	runs;		/* on a pCPU without interruption */
	struct report_dist	runnable;	/* preempted or waking */
	int64_t			known_ns;	/* the window without UNKNOWN */
	int64_t			*pcpu_ns;	/* on each pCPU */
	struct virt_migration_range migrations;
	struct report_exit	*exits;		/* costliest first */
	size_t			n_exits;
	struct virt_exit_levels	levels;
	struct report_culprit	*culprits;	/* most time first */
	size_t			n_culprits;
	const struct vcpu_count	*count;		/* or NULL */
};

struct report_machine {
	const struct virt_machine *info;
	struct report_dist	states[VIRT_M_N_STATES];
	int64_t			known_ns;
	struct report_vcpu	*vcpus;		/* those that were asked for */
	int32_t			n_vcpus;
	struct report_exit	*exits;		/* of all of them, costliest first */
	size_t			n_exits;
};

struct report {
	const char		*file;
	struct model_load	*load;
	int64_t			from_ns, to_ns;
	const struct report_count *count;
	const struct report_kvm	*kvm;		/* or NULL */
	const struct report_kvm	*guests;	/* traces of guests, also of Xen's; or NULL */
	const struct report_delivery *delivery;	/* or NULL */
	struct report_machine	*machines;	/* those with a vCPU that was asked for */
	int32_t			n_machines;
	int			n_pcpus;
};

/**
 * report_build - compute it all for the window of @report
 * @vcpus: which ones; empty for all
 *
 * Return: 0 or -ENOMEM.
 */
int report_build(struct report *report, const struct ksv_vcpu_set *vcpus);
void report_free(struct report *report);

/** report_lost_ns - time of a pCPU within the window whose records are lost. */
int64_t report_lost_ns(const struct report *report, int pcpu);

/** report_wants_vcpu - is a vCPU, by its global index, among those of --vcpu? */
bool report_wants_vcpu(const struct report *report, int32_t vcpu,
		       const struct ksv_vcpu_set *vcpus);

/** report_duration - for people: four digits or so, in the unit that fits. */
void report_duration(char *text, size_t size, int64_t ns);

/** report_dist_make - a distribution; @ns is reordered. */
void report_dist_make(struct report_dist *dist, int64_t *ns, size_t n);

/** Writers. @first: this is the first file of the output. */
void report_text(struct output *out, const struct report *report, bool first);
void report_json(struct output *out, const struct report *report, bool first);
void report_csv(struct output *out, const struct report *report, bool first);

#endif
