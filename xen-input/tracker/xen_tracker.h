/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_tracker.h
 * @brief	From the records of a xentrace file to the vCPU model.
 *
 * Feed every record in order of time; what does not matter costs a comparison. The rules:
 *
 * - Runstate changes tell everything about scheduling. Where they are not traced, the switches of
 *   TRC_SCHED_VERBOSE do, and its requests: a vCPU that is switched out has been preempted, unless
 *   it blocked or was put to sleep before, or is woken up later. It is WAKING from the wake-up on
 *   that it runs after, not from those that come to nothing: see xen_tracker_verbose.c.
 * - A vCPU of a domain with VM entries and exits is GUEST from an entry to the next exit, and
 *   HYPERVISOR for the rest of the time that it is on its pCPU. Every other running vCPU is GUEST:
 *   the hypercalls and traps of PV domains have a record at their beginning but none at their end,
 *   so that the time inside Xen cannot be told from the time outside.
 * - A vCPU that goes offline within a VM exit waits for the device model's answer
 *   (VIRT_INTERVAL_UNASKED) if an exit of that kind can be the device model's affair, and nobody
 *   put the vCPU to sleep, which TRC_SCHED_VERBOSE would tell. Where that is not traced, those
 *   after port I/O and page table violations count. What the guest asked for itself, a toolstack's
 *   pause and a move by the scheduler are no such wait.
 * - What ended a BLOCKED interval (virt_model_woken()) follows from who executes on the pCPU where
 *   runstates tell that the vCPU is woken. DEVICE: the handler of an interrupt, which is recorded
 *   when it ends (XEN_TRC_HW_IRQ_HANDLED). INTERRUPT: the pCPU is idle; or a vCPU left its guest
 *   for one; or it has last been in Xen for what wakes nobody, if that is recorded of its domain.
 *   Xen's own timers are among these: their interrupts have no records. VCPU: it is in Xen for a
 *   hypercall about event channels, which of a PV domain began at most 100 us before; for I/O or
 *   memory, if the woken one is of another domain, as the device model may be; for its APIC or an
 *   MSR, if it is of its own. DEVICE and TASK, too, are the hypercalls with which a device model or
 *   the toolstack wakes others. A vCPU of a domain with VM entries that blocks again without one
 *   has been woken SPURIOUSly. All else is UNKNOWN, as without runstates.
 * - What happened while records were lost is known only afterwards. From the first lost record
 *   on, the vCPU that ran there, and every vCPU that does not run elsewhere, is UNKNOWN, until a
 *   record tells; while any pCPU's records are lost, nothing but running is certain. Bytes that are
 *   missing from the file count as lost records; so does what a pCPU had to say after the end of a
 *   file that is cut (struct xentrace_pcpu).
 * - The first record that tells who is on a pCPU holds back to that pCPU's first record, or to when
 *   the records of all are there (xentrace_whole_tsc()), and a vCPU that no record names has a
 *   domain of its own, "d? on p2" (xen_first_find()). The exits of a trace without the scheduler
 *   are VIRT_INTERVAL_UNSPLIT.
 * - Of a vCPU that is on no pCPU, its first change tells what it has been since the records of all
 *   pCPUs are there, or since some were missing: BLOCKED or OFFLINE. RUNNABLE is WAKING or
 *   PREEMPTED, which it does not tell. What runs on a pCPU that is not traced (xentrace -c) cannot
 *   be known.
 * - With core scheduling, one pCPU records the switches of all pCPUs of its core (xen_cores.h).
 *   Losses of one pCPU of a core are losses of all.
 * - A contradiction on one pCPU is unknown time: if a vCPU comes to a pCPU that another one has not
 *   left, both are UNKNOWN until a record tells; between two VM exits without an entry, or two
 *   entries without an exit, the state is UNKNOWN, as it is of a vCPU that leaves its pCPU from
 *   within the guest. TSCs of different pCPUs may differ, so that records of two pCPUs in the wrong
 *   order are no such contradiction: the later one counts.
 * - A domain that is created while being traced has been OFFLINE before.
 */
#ifndef KSHARK_VIRT_XEN_TRACKER_H
#define KSHARK_VIRT_XEN_TRACKER_H

#include "virt_model.h"
#include "xen_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct xen_tracker;

/**
 * xen_tracker_new - begin to fill a model
 * @trace: outlives the tracker
 *
 * Return: the tracker, or NULL without memory.
 */
struct xen_tracker *xen_tracker_new(struct xen_trace *trace);

/**
 * xen_tracker_add - take note of a record
 * @row: the next one of the trace, as xen_trace_iter_next() gives it
 *
 * Return: 0, -ENOMEM, or -E2BIG, see virt_model_add_machine().
 */
int xen_tracker_add(struct xen_tracker *tracker, const struct xen_trace_row *row);

/**
 * xen_tracker_finish - the trace is over: hand out the model
 * @model: receives the model, ready to be asked, to be given to virt_model_free()
 *
 * If records were lost, this walks through the trace once more, now knowing when.
 *
 * Return: 0, -ENOMEM or -E2BIG.
 */
int xen_tracker_finish(struct xen_tracker *tracker, struct virt_model **model);

/** xen_tracker_free - free a tracker, finished or not; it may be NULL. */
void xen_tracker_free(struct xen_tracker *tracker);

/** xen_tracker_build - all of the above for a whole trace. Return: 0, -ENOMEM or -E2BIG. */
int xen_tracker_build(struct xen_trace *trace, struct virt_model **model);

#ifdef __cplusplus
}
#endif
#endif
