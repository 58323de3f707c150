/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_running.h
 * @brief	Follow which vCPU is on each pCPU, record by record.
 *
 * The one place that knows the rules of attribution. Feed every record in order of time; the
 * answer is the vCPU that the record belongs to.
 */
#ifndef KSHARK_VIRT_XEN_RUNNING_H
#define KSHARK_VIRT_XEN_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "xen_events.h"
#include "xentrace_reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A vCPU as Xen's records carry it: domid << 16 | vcpu. */
typedef uint32_t xen_vcpu;

/** Not known, d?v?. */
#define XEN_VCPU_UNKNOWN	UINT32_MAX

/** The idle domain (DOMID_IDLE, xen/include/public/xen.h); its vCPU n idles pCPU n. */
#define XEN_DOMID_IDLE		0x7fff

/**
 * From this number on: of a vCPU that no record names, but that is on a pCPU all the time; the
 * rest of the number is that of the pCPU. Beyond all real domains.
 */
#define XEN_DOMID_SOMEBODY	0x8000

/** Highest vCPU number that is taken for real (MAX_VIRT_CPUS is 8192 for PV domains). */
#define XEN_MAX_VCPU		9999

/** xen_vcpu_domid - the domain's number. */
static inline uint32_t xen_vcpu_domid(xen_vcpu vcpu)
{
	return vcpu >> 16;
}

/** xen_vcpu_id - the vCPU's number within its domain. */
static inline uint32_t xen_vcpu_id(xen_vcpu vcpu)
{
	return vcpu & 0xffff;
}

/** xen_vcpu_tid - the number of the task that stands for it: 10000 is d0v0, 20001 d1v1 */
static inline int32_t xen_vcpu_tid(xen_vcpu vcpu)
{
	return (int32_t)((xen_vcpu_domid(vcpu) + 1) * (XEN_MAX_VCPU + 1) + xen_vcpu_id(vcpu));
}

/** xen_vcpu_is_idle - is it a vCPU of the idle domain? */
static inline bool xen_vcpu_is_idle(xen_vcpu vcpu)
{
	return xen_vcpu_domid(vcpu) == XEN_DOMID_IDLE;
}

/** xen_vcpu_somebody - an unnamed vCPU that is on a pCPU all the time */
static inline xen_vcpu xen_vcpu_somebody(uint16_t pcpu)
{
	return (xen_vcpu)(XEN_DOMID_SOMEBODY | pcpu) << 16;
}

/** xen_vcpu_is_somebody - is it one of these? */
static inline bool xen_vcpu_is_somebody(xen_vcpu vcpu)
{
	return vcpu != XEN_VCPU_UNKNOWN && xen_vcpu_domid(vcpu) >= XEN_DOMID_SOMEBODY;
}

/** One pCPU; more exactly, one run of it (struct xentrace_record, run). */
struct xen_running_pcpu {
	xen_vcpu	current;
	/** From TRC_SCHED_SWITCH; taken over unless a runstate change follows at once. */
	xen_vcpu	next;
};

struct xen_cores;

/** All pCPUs of a trace. */
struct xen_running {
	struct xen_running_pcpu	*pcpu;	/* index = run */
	uint32_t		n_runs;
	const struct xen_cores	*cores;	/* NULL: each pCPU records its own switches */
};

/** xen_running_init - nothing known yet. Return: 0 or -ENOMEM. */
int xen_running_init(struct xen_running *running, uint32_t n_runs);

/** The vCPU on each pCPU at its first record. */
struct xen_first {
	xen_vcpu	*vcpu;		/* index = run; the vCPU, or XEN_VCPU_UNKNOWN */
	uint32_t	n_runs;
	bool		scheduler;	/* context switches are traced */
};

/**
 * xen_first_find - look ahead for the vCPU that was on each pCPU at its first record
 *
 * The first record of the scheduler shows which vCPU has been there up to now, unless records are
 * missing before it: a switch would have been traced. If there is no such record at all, but VM
 * entries or exits, hypercalls or traps of a guest, one vCPU has been there all the time, and it is
 * not known which. Without the scheduler's records, VM entries and exits belong to the vCPU that is
 * there.
 *
 * Return: 0, and @first is to be given to xen_first_destroy(), or -ENOMEM.
 */
int xen_first_find(struct xen_first *first, const struct xentrace *reader);

/** xen_first_destroy - free what xen_first_find() has allocated. */
void xen_first_destroy(struct xen_first *first);

/** xen_running_start - before the first record: who is there. Set @cores after this. */
void xen_running_start(struct xen_running *running, const struct xen_first *first);

/** xen_running_destroy - free what xen_running_init() has allocated. */
void xen_running_destroy(struct xen_running *running);

/**
 * xen_running_update - take note of a record
 * @rec: its run must be below n_runs
 *
 * Return: the vCPU that the record belongs to: who was running when it was written. The record
 * that puts a vCPU on the pCPU belongs to that vCPU already, the one that takes it off still does.
 * With core scheduling, a change of another pCPU belongs to who was running where it was written.
 */
static inline xen_vcpu xen_running_update(struct xen_running *running,
					  const struct xentrace_record *rec);

/** xen_running_change - the part of xen_running_update() for the few records that matter. */
xen_vcpu xen_running_change(struct xen_running *running, const struct xentrace_record *rec);

static inline xen_vcpu xen_running_update(struct xen_running *running,
					  const struct xentrace_record *rec)
{
	struct xen_running_pcpu *pcpu = &running->pcpu[rec->run];

	if (rec->event >> XEN_TRC_CLASS_SHIFT != XEN_TRC_CLASS_SCHED &&
	    rec->event != XEN_TRC_LOST_RECORDS && !(rec->flags & XENTRACE_AFTER_GAP) &&
	    pcpu->next == XEN_VCPU_UNKNOWN)
		return pcpu->current;
	return xen_running_change(running, rec);
}

#ifdef __cplusplus
}
#endif
#endif
