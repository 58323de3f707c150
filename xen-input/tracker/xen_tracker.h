/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_tracker.h
 * @brief	Make the vCPU model from the records of a xentrace file.
 *
 * Feed every record in order of time; a record that does not matter costs a comparison. The rules:
 *
 * - Runstate changes show all scheduling. Where they are not traced, the switches and requests of
 *   TRC_SCHED_VERBOSE replace them: a vCPU that is switched out has been preempted, unless it
 *   blocked or was put to sleep before, or is woken up later. It is WAKING from the wake-up on that
 *   it runs after, not from wake-ups that come to nothing: see xen_tracker_verbose.c.
 * - A vCPU of a domain with VM entries and exits is GUEST from an entry to the next exit, and
 *   HYPERVISOR for the rest of the time that it is on its pCPU. Every other running vCPU is GUEST:
 *   the hypercalls and traps of PV domains have a record at their beginning but none at their end,
 *   so that the time inside Xen cannot be distinguished from the time outside.
 * - A vCPU that goes offline within a VM exit waits for the device model's answer (DEVICE_MODEL) if
 *   the device model may handle an exit of that kind, and no request put the vCPU to sleep, which
 *   TRC_SCHED_VERBOSE would show. Where that is not traced, a wait after an exit for port I/O or a
 *   page table violation is OFFLINE with VIRT_INTERVAL_UNASKED, because it may also be for a
 *   monitor of the guest's memory. A wait that the guest asked for, a toolstack's pause, a move by
 *   the scheduler and a pause by credit2, which found no budget left of a cap, are no such wait.
 * - The cause that ended a BLOCKED interval (virt_model_woken()) follows from the vCPU that
 *   executes on the pCPU where runstates show that the blocked vCPU is woken. DEVICE: the handler
 *   of an interrupt, which is recorded when it ends (XEN_TRC_HW_IRQ_HANDLED). INTERRUPT: the pCPU
 *   is idle; or a vCPU left its guest for an interrupt; or it was last in Xen for something that
 *   wakes no vCPU, if that is recorded of its domain. Xen's own timers are among these: their
 *   interrupts have no records. VCPU: the executing vCPU is in Xen for a hypercall about event
 *   channels (in a PV domain, one that began at most 100 us before); for I/O or memory, if the
 *   woken vCPU is of another domain, where the device model may be; for its APIC or an MSR, if the
 *   woken vCPU is of the same domain. The hypercalls with which a device model wakes others are
 *   DEVICE, too, and those of the toolstack are TASK. A vCPU of a domain with VM entries that
 *   blocks again without one has been woken SPURIOUSLY. All other causes are UNKNOWN, and so are
 *   all without runstates.
 * - The events during a loss of records are known only afterwards. From the first lost record on,
 *   the vCPU that ran there, and every vCPU that does not run elsewhere, is UNKNOWN until a record
 *   shows its state; while any pCPU's records are lost, only running is certain. Bytes that are
 *   missing from the file count as lost records; so do the records of a pCPU after the end of a
 *   file that is cut (struct xentrace_pcpu).
 * - The first record that shows which vCPU is on a pCPU counts from that pCPU's first record on, or
 *   from the time on at which the records of all are there (xentrace_whole_tsc()). A vCPU that no
 *   record names has a domain of its own, "d? on p2" (xen_first_find()). The exits of a trace
 *   without the scheduler are VIRT_INTERVAL_UNSPLIT.
 * - The first change of a vCPU that is on no pCPU shows its state since the records of all pCPUs
 *   are there, or since some were missing: BLOCKED or OFFLINE. RUNNABLE is WAKING or PREEMPTED; the
 *   change does not show which. The vCPUs on a pCPU that is not traced (xentrace -c) are unknown.
 * - With core scheduling, one pCPU records the switches of all pCPUs of its core (xen_cores.h).
 *   Losses of one pCPU of a core are losses of all.
 * - A contradiction on one pCPU is unknown time: if a vCPU comes to a pCPU that another one has not
 *   left, both are UNKNOWN until a record shows their state; between two VM exits without an entry,
 *   or two entries without an exit, the state is UNKNOWN, and so is that of a vCPU that leaves its
 *   pCPU from within the guest. TSCs of different pCPUs may differ, so that records of two pCPUs in
 *   the wrong order are no such contradiction: the later one counts.
 * - A domain that is created during the trace has been OFFLINE before.
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

/** xen_tracker_brief - the model is to be as virt_model_brief() makes it. */
void xen_tracker_brief(struct xen_tracker *tracker);

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
