// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_delivery.c
 * @brief	Combine the traces of a host and its guest: interrupt delivery and wake-up chains.
 */
#include "virt_devices.h"
#include "virt_delivery.h"
#include "virt_private.h"

/** Where an injection leads, as far as the host's trace shows. */
struct way {
	int64_t	entry_ns;	/* or VIRT_NO_TIME */
	int64_t	until_ns;	/* from there on, the host's trace shows nothing more of it */
	bool	broken;		/* because records are lost, or it ends; not by another injection */
};

/** Follow a vCPU from an injection to the next one at @next_ns. */
static struct way follow(const struct virt_model *model, const struct virt_vcpu_track *track,
			 int64_t inject_ns, int64_t next_ns)
{
	struct way way = { VIRT_NO_TIME, next_ns, false };
	size_t i = VIRT_FIRST_AT(track->intervals, 0, track->n, inject_ns);

	/* a trace without VM entries and exits does not distinguish the guest from the way to it */
	if (i && i <= track->n && track->intervals[i - 1].state == VIRT_GUEST &&
	    (i == track->n || track->intervals[i].start_ns > inject_ns))
		way.entry_ns = inject_ns;

	for (; i < track->n && track->intervals[i].start_ns < next_ns; i++) {
		if (virt_interval_is_lost(&track->intervals[i])) {
			way.until_ns = track->intervals[i].start_ns;
			way.broken = true;
			return way;
		}
		if (track->intervals[i].state == VIRT_GUEST && way.entry_ns == VIRT_NO_TIME)
			way.entry_ns = track->intervals[i].start_ns;
	}
	if (next_ns > model->end_ns) {
		way.until_ns = model->end_ns;
		way.broken = true;
	}
	return way;
}

/** Judge a delivery, of which injection and entry are known. */
static void find_handler(struct virt_delivery *delivery, const struct way *way,
			 const struct virt_guest_event *events, size_t n)
{
	size_t i = VIRT_FIRST_AT(events, 0, n, way->entry_ns);

	for (; i < n && !(events[i].flags & VIRT_GUEST_LOST); i++) {
		bool other = events[i].vector != VIRT_NONE &&
			     events[i].vector != delivery->vector;

		if (events[i].time_ns >= way->until_ns && way->broken)
			return;
		if (events[i].time_ns >= way->until_ns || other ||
		    events[i].flags & VIRT_GUEST_IRQS_ON) {
			delivery->result = VIRT_DELIVERY_NOT_SEEN;
			return;
		}
		if (!(events[i].flags & VIRT_GUEST_IN_IRQ))
			continue;
		delivery->result = VIRT_DELIVERY_SEEN;
		delivery->handler_ns = events[i].time_ns;
		delivery->event = events[i].event;
		return;
	}
}

size_t virt_deliveries(const struct virt_model *model, int32_t vcpu,
		       const struct virt_injection *injections, size_t n,
		       const struct virt_guest_event *events, size_t n_events,
		       struct virt_delivery *deliveries)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	size_t found = 0;

	for (size_t i = 0, next; track && i < n; i = next) {
		struct virt_delivery delivery = {
			injections[i].time_ns, VIRT_NO_TIME, VIRT_NO_TIME, VIRT_NONE,
			injections[i].vector, VIRT_DELIVERY_UNJUDGED,
		};
		struct way way;

		for (next = i + 1; next < n && injections[next].again; next++)
			;
		/* the first time is not in the trace */
		if (injections[i].again)
			continue;
		way = follow(model, track, delivery.inject_ns,
			     next < n ? injections[next].time_ns : INT64_MAX);
		delivery.entry_ns = way.entry_ns;
		if (way.entry_ns != VIRT_NO_TIME && n_events &&
		    events[0].time_ns <= delivery.inject_ns)
			find_handler(&delivery, &way, events, n_events);
		deliveries[found++] = delivery;
	}
	return found;
}

/** As in arch/x86/include/asm/irq_vectors.h of Linux 6.1. */
static const char *const linux_vectors[256] = {
	[0xec] = "local_timer",
	[0xed] = "hyperv_stimer0",
	[0xee] = "hyperv_reenlightenment",
	[0xef] = "managed_irq_shutdown",
	[0xf0] = "posted_intr_nested",
	[0xf1] = "posted_intr_wakeup",
	[0xf2] = "posted_intr",
	[0xf3] = "hypervisor_callback",
	[0xf4] = "deferred_error",
	[0xf6] = "irq_work",
	[0xf7] = "x86_platform_ipi",
	[0xf8] = "reboot",
	[0xf9] = "threshold",
	[0xfa] = "thermal",
	[0xfb] = "call_function_single",
	[0xfc] = "call_function",
	[0xfd] = "reschedule",
	[0xfe] = "error",
	[0xff] = "spurious",
};

const char *virt_linux_vector(int vector)
{
	return vector >= 0 && vector < 256 ? linux_vectors[vector] : NULL;
}

const char *virt_vector_name(const struct virt_model *model, int32_t vcpu, int vector)
{
	const char *name = virt_linux_vector(vector);

	return name ? name : virt_model_device(model, vcpu, vector);
}

/* --- wake-ups -------------------------------------------------------------------------------- */

/** When a vCPU that has a pCPU at @time_ns loses it. */
static int64_t leaves_at(const struct virt_model *model, const struct virt_vcpu_track *track,
			 int64_t time_ns)
{
	size_t i = VIRT_FIRST_AT(track->intervals, 0, track->n, time_ns);

	while (i < track->n && virt_is_on(&track->intervals[i]))
		i++;
	return i < track->n ? track->intervals[i].start_ns : model->end_ns;
}

void virt_wake_chain(const struct virt_model *model, const struct virt_moment *wake,
		     const struct virt_guest_event *events, size_t n_events,
		     struct virt_wake_chain *chain)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, wake->vcpu);
	size_t i;

	*chain = (struct virt_wake_chain){
		.wake_ns = wake->start_ns, .in_ns = wake->complete ? wake->end_ns : VIRT_NO_TIME,
		.entry_ns = wake->entry_ns, .event_ns = VIRT_NO_TIME, .event = VIRT_NONE,
	};
	if (!track || !events || chain->entry_ns == VIRT_NO_TIME)
		return;
	i = VIRT_FIRST_AT(events, 0, n_events, chain->entry_ns);
	if (i == n_events || events[i].flags & VIRT_GUEST_LOST ||
	    events[i].time_ns >= leaves_at(model, track, chain->entry_ns))
		return;
	chain->event_ns = events[i].time_ns;
	chain->event = events[i].event;
}
