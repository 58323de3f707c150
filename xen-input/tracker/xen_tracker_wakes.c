// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_wakes.c
 * @brief	Find the causes that end the waits of Xen's vCPUs, from the vCPU that executes
 *		where another is woken.
 */
#include "xen_tracker_private.h"

/**
 * A PV domain's hypercall has a record at its beginning and none at its end. One that wakes
 * a vCPU does so in some us (in traces of an emulator up to 60); what comes later is not its.
 */
#define CALL_NS		100000

/** Hypercalls that wake others: __HYPERVISOR_... of xen/include/public/xen.h. */
static const struct {
	uint32_t	op;
	uint8_t		cause;		/* enum virt_wake_cause */
} calls[] = {
	{ 16, VIRT_WAKE_VCPU },		/* event_channel_op_compat */
	{ 32, VIRT_WAKE_VCPU },		/* event_channel_op */
	{ 39, VIRT_WAKE_VCPU },		/* argo_op */
	{ 34, VIRT_WAKE_DEVICE },	/* hvm_op: a device model raises an interrupt */
	{ 41, VIRT_WAKE_DEVICE },	/* dm_op: the same, since 4.9 */
	{ 36, VIRT_WAKE_TASK },		/* domctl: the toolstack */
};

/**
 * Those that wake no blocked vCPU: traps, memory and descriptors, timers, multicall (its calls have
 * records of their own), xen_version, grant_table_op, iret, vcpu_op, segments, nmi_op, sched_op.
 */
#define WAKING_NOBODY ( \
	UINT64_C(0x3f)			/* set_trap_table .. fpu_taskswitch */ | \
	UINT64_C(7) << 8		/* set_debugreg, get_debugreg, update_descriptor */ | \
	UINT64_C(0xf) << 12		/* memory_op .. set_timer_op */ | \
	UINT64_C(1) << 17		/* xen_version */ | \
	UINT64_C(0x7f) << 20		/* grant_table_op .. mmuext_op */ | \
	UINT64_C(3) << 28		/* nmi_op, sched_op */)

static void say(struct xen_tracker *tracker, struct tracked_vcpu *v, enum virt_wake_cause cause,
		int32_t who)
{
	const struct virt_wake wake = { .cause = cause, .who = who, .vector = VIRT_NONE };
	int32_t number = virt_model_add_wake(tracker->model, &wake);

	tracker_fail(tracker, number);
	/* a wait of no length is none in the model */
	if (number >= 0)
		virt_model_woken(tracker->model, v->index, number);
	v->waker = who;
}

/** What a hypercall that has just been made leads to; INTERRUPT: it wakes no vCPU itself. */
static enum virt_wake_cause cause_of_call(const struct xen_tracker_call *call)
{
	uint32_t op = call->op & XEN_TRC_HYPERCALL_MASK;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (op == calls[i].op)
			return (enum virt_wake_cause)calls[i].cause;
	return op < 64 && WAKING_NOBODY >> op & 1 ? VIRT_WAKE_INTERRUPT : VIRT_WAKE_UNKNOWN;
}

/** A vCPU of a PV domain executes: was it right after a hypercall of its own? */
static enum virt_wake_cause cause_in_pv(struct xen_tracker *tracker, uint32_t run,
					const struct tracked_vcpu *here, int64_t time_ns)
{
	const struct xen_tracker_call *call = &tracker->head.calls[run];
	struct tracked_domain *domain = &tracker->domains[here->domain];
	enum virt_wake_cause cause = VIRT_WAKE_INTERRUPT;
	/* VMMCALL is of a domain with VM exits, which have no records then */
	bool is_own = call->event && call->event != XEN_TRC_HVM_VMMCALL &&
		      call->time_ns >= here->last_ns;

	/* of a domain whose hypercalls have no records, nothing is known */
	domain->calls |= is_own;
	if (!domain->calls)
		return VIRT_WAKE_UNKNOWN;
	if (is_own && (call->event == XEN_TRC_PV_HYPERCALL_V2 ||
		       call->event == XEN_TRC_PV_HYPERCALL_SUBCALL))
		cause = cause_of_call(call);
	return cause != VIRT_WAKE_INTERRUPT && time_ns - call->time_ns > CALL_NS ?
	       VIRT_WAKE_UNKNOWN : cause;
}

/** One of a domain with VM entries and exits: is it in Xen for what wakes @v? */
static enum virt_wake_cause cause_in_hvm(const struct xen_tracker *tracker, uint32_t run,
					 const struct tracked_vcpu *here,
					 const struct tracked_vcpu *v)
{
	enum virt_exit_class about = virt_model_reason_class(tracker->model, here->reason);
	const struct xen_tracker_call *call = &tracker->head.calls[run];

	if (here->state != HYPERVISOR || here->reason < 0)
		return VIRT_WAKE_UNKNOWN;
	switch (about) {
	case VIRT_EXIT_INTERRUPT:
		return VIRT_WAKE_INTERRUPT;
	case VIRT_EXIT_HYPERCALL:
		return call->event == XEN_TRC_HVM_VMMCALL && call->time_ns >= here->last_ns ?
		       cause_of_call(call) : VIRT_WAKE_UNKNOWN;
	case VIRT_EXIT_APIC:
	case VIRT_EXIT_REGISTER:
		/* an IPI */
		return here->domain == v->domain ? VIRT_WAKE_VCPU : VIRT_WAKE_UNKNOWN;
	case VIRT_EXIT_IO:
	case VIRT_EXIT_MEMORY:
		/* the device model's affair */
		return here->domain != v->domain ? VIRT_WAKE_VCPU : VIRT_WAKE_UNKNOWN;
	default:
		return VIRT_WAKE_UNKNOWN;
	}
}

void tracker_woken(struct xen_tracker *tracker, const struct xen_trace_row *row, int32_t who)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];
	struct tracked_vcpu *v = &tracker->vcpus[who];
	enum virt_wake_cause cause = VIRT_WAKE_UNKNOWN;
	int32_t waker = VIRT_NONE;

	if (v->state != BLOCKED || tracker->n_lost)
		return;
	if (run->current == IDLE) {
		/* whatever made an idle pCPU work */
		cause = VIRT_WAKE_INTERRUPT;
	} else if (run->current >= 0) {
		const struct tracked_vcpu *here = &tracker->vcpus[run->current];

		cause = tracker->domains[here->domain].hvm ?
			cause_in_hvm(tracker, row->rec.run, here, v) :
			cause_in_pv(tracker, row->rec.run, here, row->time_ns);
		if (cause != VIRT_WAKE_UNKNOWN && cause != VIRT_WAKE_INTERRUPT)
			waker = here->index;
	}
	say(tracker, v, cause, waker);
	v->woken = true;
	run->woken = who;
	run->woken_tsc = row->rec.tsc;
}

void tracker_slept_on(struct xen_tracker *tracker, struct tracked_vcpu *v)
{
	if (v->woken && tracker->domains[v->domain].hvm)
		say(tracker, v, VIRT_WAKE_SPURIOUS, v->waker);
	v->woken = false;
}

void tracker_irq_handled(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];
	/* the low halves of the TSC at begin and end of the handler */
	uint32_t in = xentrace_word(&row->rec, 1), out = xentrace_word(&row->rec, 2);
	struct tracked_vcpu *v = run->woken == NOBODY ? NULL : &tracker->vcpus[run->woken];

	run->woken = NOBODY;
	if (row->rec.n_words < 3 || !v || !v->woken || v->state == BLOCKED ||
	    row->rec.tsc - run->woken_tsc > UINT32_MAX / 2)
		return;
	if ((uint32_t)run->woken_tsc - in <= out - in)
		say(tracker, v, VIRT_WAKE_DEVICE, VIRT_NONE);
}
