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
#include "virt_loss_walk.h"
#include "virt_matrix.h"
#include "virt_window.h"
#include "virt_window_walk.h"
#include "virt_worst.h"

/** A vCPU of the report, valid until the next one is asked for. */
struct report_vcpu {
	const struct virt_vcpu	*info;
	int32_t			index;
	const struct virt_window_stats *stats;
	struct virt_migration_range migrations;
	struct virt_exit_levels	levels;
	const struct vcpu_count	*count;		/* or NULL */
};

/** The same of a machine. */
struct report_machine {
	const struct virt_machine *info;
	const struct virt_window_machine *window;
};

struct report {
	const char		*file;
	struct model_load	*load;
	int64_t			from_ns, to_ns;
	const struct report_count *count;
	const struct report_kvm	*kvm;		/* or NULL */
	const struct report_kvm	*guests;	/* traces of guests, also of Xen's; or NULL */
	struct guest_culprits	*culprits;	/* tasks that they executed, of @guests; or NULL */
	const struct report_delivery *delivery;	/* or NULL */
	const char		*delivery_missing; /* why @delivery has none; NULL: it has */
	const struct report_hypertrace *hypertrace; /* instead of all other sections; or NULL */
	struct virt_window_query query;
	bool			*chosen;	/* vCPUs that were asked for; NULL: all */
	struct virt_window_walk	*walk;
	struct virt_worst	*worst;		/* of all vCPUs, for pages that share it; or NULL */
	struct virt_matrix	*matrix;	/* which machines take pCPUs from which */
	struct virt_loss_walk	*lost;		/* of commands with intervals, which free it */
	int			n_pcpus;
	const struct host_tasks	*host_tasks;	/* of commands with intervals that show them */
	const struct host_samples *host_samples; /* the same */
	int			n_intervals;	/* of a page that shows the window in intervals */
	const struct host_topology *topology;	/* if it is asked for; or NULL */
	const struct model_monitors *monitors;	/* the same */
};

/**
 * report_build - prepare the window of @report for all sections
 * @vcpus: which ones; empty for all
 * @most_culprits: machines and tasks that have rows of their own in @matrix
 *
 * Return: 0 or -ENOMEM.
 */
int report_build(struct report *report, const struct ksv_vcpu_set *vcpus, size_t most_culprits);

/**
 * report_window - only the result of a walk through the window of @report
 * @parts: set of enum virt_window_part
 *
 * Return: 0 or -ENOMEM.
 */
int report_window(struct report *report, const struct ksv_vcpu_set *vcpus, unsigned int parts);
void report_free(struct report *report);

/** report_machine - one of the model's. Return: false if none of its vCPUs was asked for. */
bool report_machine(const struct report *report, int32_t index, struct report_machine *machine);

/** report_vcpu - one of the model's. Return: false if it was not asked for. */
bool report_vcpu(const struct report *report, int32_t index, struct report_vcpu *vcpu);

/** report_pcpu - what a pCPU did, also one of which the model knows nothing. */
const struct virt_window_pcpu *report_pcpu(const struct report *report, int pcpu);

/** report_is_unsplit - does the trace not show who has a pCPU, see VIRT_INTERVAL_UNSPLIT? */
static inline bool report_is_unsplit(const struct report *report)
{
	return virt_model_is_unsplit(report->load->model);
}

/** report_busy_ns - how long a vCPU was on a pCPU. */
int64_t report_busy_ns(const struct virt_pcpu_totals *totals);

/** report_reason, report_who - names of exit reasons and culprits, also of those not known. */
const char *report_reason(const struct report *report, int32_t reason);
const char *report_who(const struct report *report, int32_t who);

/** report_has_argument - do records of some kind show what exits of a reason were for? */
bool report_has_argument(const struct report *report, int32_t reason);

/** report_has_causes - can the trace show what the host did during exits of a reason? */
bool report_has_causes(const struct report *report, int32_t reason);

/**
 * report_argument - what exits with the same argument were for
 *
 * Return: "not recorded": the records have no argument of these exits; "unknown": there are no such
 * records.
 */
const char *report_argument(const struct report *report, const struct virt_window_exit *exit);

/** report_cause - what the host did during them. Return: NULL: report_has_causes() is false. */
const char *report_cause(const struct report *report, const struct virt_window_exit *exit);

/**
 * report_detail - the detail of an interval of a vCPU in words
 * @who: receives the vCPU or task in it, or VIRT_NONE
 *
 * Return: NULL: none is known.
 */
const char *report_detail(const struct report *report, const struct virt_interval *interval,
			  int32_t *who);

/**
 * report_machine_name - what a machine is called on whichever host, and whenever it is started
 *
 * A domain of Xen has another number each time: its name alone, if it has one.
 */
const char *report_machine_name(const struct report *report, int32_t machine);

/** What the time of exits went to. The costs come first; they add up to the cost. */
enum report_exit_part {
	REPORT_EXIT_HANDLING = 0,
	REPORT_EXIT_VMM,	/* the monitor, also while it waits */
	REPORT_EXIT_WAIT,	/* other waits that the guest did not ask for */
	REPORT_EXIT_PREEMPTED,
	REPORT_EXIT_WAKING,
	REPORT_EXIT_FREE,	/* no cost: asked for */
	REPORT_EXIT_N_PARTS
};

/** report_exit_split - the time of exits by part. */
void report_exit_split(const struct virt_window_exit *exit, int64_t ns[REPORT_EXIT_N_PARTS]);

/** report_wants_vcpu - is a vCPU, by its global index, among those of --vcpu? */
bool report_wants_vcpu(const struct report *report, int32_t vcpu,
		       const struct ksv_vcpu_set *vcpus);

/** report_wants_machine - was any vCPU of a machine asked for? */
bool report_wants_machine(const struct report *report, int32_t machine);

/**
 * report_works_for - the name of the machine that a task works for; VIRT_NONE: "host"
 * @is_guest: the task is a guest's; VIRT_NONE: "unknown"
 */
const char *report_works_for(const struct report *report, int32_t machine, bool is_guest);

/** report_wants_work - was a machine asked for; VIRT_NONE: was none? */
bool report_wants_work(const struct report *report, int32_t machine);

/**
 * report_worst_hidden - why the trace cannot show moments of a kind, for people; NULL: it can
 * @advice: of VIRT_ADVICE_SIZE bytes, may receive the text
 */
const char *report_worst_hidden(const struct report *report, int kind, char *advice, size_t size);

/** report_worst_visible - those of some kinds whose moments the trace can show */
unsigned int report_worst_visible(const struct report *report, unsigned int kinds);

#endif
