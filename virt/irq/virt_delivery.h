/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_delivery.h
 * @brief	Combine the traces of a host and its guest: interrupts on their way into the guest,
 *		and the events that follow a wake-up.
 *
 * The events may come from any source; all times are on the host's axis. The functions are pure:
 * any number of threads may call them at the same time.
 */
#ifndef KSHARK_VIRT_VIRT_DELIVERY_H
#define KSHARK_VIRT_VIRT_DELIVERY_H

#include <sys/types.h>

#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An interrupt that the host is about to hand to a vCPU. */
struct virt_injection {
	int64_t		time_ns;
	int16_t		vector;
	bool		again;		/* one that was injected before and has not got through */
};

/** What is known of an event of the guest. */
enum virt_guest_flags {
	VIRT_GUEST_IN_IRQ = 1,		/* it is in the handler of an interrupt, of no NMI */
	VIRT_GUEST_IRQS_ON = 2,		/* interrupts are enabled: no handler is at work */
	VIRT_GUEST_LOST = 4,		/* events before it are missing */
};

/** An event that the guest has recorded. */
struct virt_guest_event {
	int64_t		time_ns;
	int32_t		event;		/* which one, a number of the caller's own */
	int16_t		vector;		/* of its interrupt, if the event has it; or VIRT_NONE */
	uint16_t	flags;		/* enum virt_guest_flags */
};

enum virt_delivery_result {
	VIRT_DELIVERY_SEEN = 0,		/* the guest has recorded an event of the handler */
	VIRT_DELIVERY_NOT_SEEN,		/* it has recorded none */
	VIRT_DELIVERY_UNJUDGED,		/* unknown: outside the guest's trace, or records of
					 * one of the two are lost */
	VIRT_DELIVERY_N_RESULTS
};

/** What became of an injection. */
struct virt_delivery {
	int64_t		inject_ns;	/* the first time */
	int64_t		entry_ns;	/* guest code runs; VIRT_NO_TIME: not any more; @inject_ns:
					 * the trace does not show the way to it */
	int64_t		handler_ns;	/* its first event, if seen; or VIRT_NO_TIME */
	int32_t		event;		/* this one; or VIRT_NONE */
	int16_t		vector;
	uint8_t		result;		/* enum virt_delivery_result */
};

/**
 * virt_deliveries - find the handlers of the injections into a vCPU
 * @injections: all injections of the trace into this vCPU, ascending by time
 * @events: all events that the guest has recorded on this vCPU, ascending by time
 * @deliveries: receives at most @n: one for each injection that is not again
 *
 * The handler runs at the entry after the injection. While it runs, no other interrupt can be
 * injected. So the handler is the first event from this entry on that is in an interrupt, if this
 * event comes before the next injection and before any event with interrupts enabled, and does not
 * have another vector. It may lie in a later stretch of guest time, if an exit came in between.
 *
 * Return: how many, in order of time.
 */
size_t virt_deliveries(const struct virt_model *model, int32_t vcpu,
		       const struct virt_injection *injections, size_t n,
		       const struct virt_guest_event *events, size_t n_events,
		       struct virt_delivery *deliveries);

/** virt_linux_vector - Linux's fixed use of a vector of x86, "local_timer" ...; NULL: none */
const char *virt_linux_vector(int vector);

/**
 * virt_vector_name - Linux's fixed use of a vector, or the device that guests' traces show for it
 * @vcpu: whose vector; VIRT_NONE: of all, as in virt_devices_name()
 *
 * Return: NULL if neither is known.
 */
const char *virt_vector_name(const struct virt_model *model, int32_t vcpu, int vector);

/** From a wake-up to the guest. VIRT_NO_TIME: the traces do not show it. */
struct virt_wake_chain {
	int64_t		wake_ns;	/* the host wakes the vCPU up */
	int64_t		in_ns;		/* it is on a pCPU */
	int64_t		entry_ns;	/* guest code runs */
	int64_t		event_ns;	/* first thing that the guest records */
	int32_t		event;		/* this one; or VIRT_NONE */
};

/**
 * virt_wake_chain - the steps of a wake-up
 * @wake: of kind VIRT_WORST_WAKE
 * @events: as for virt_deliveries(); NULL: the guest's trace is not there
 *
 * Nothing counts after the vCPU has lost its pCPU again.
 */
void virt_wake_chain(const struct virt_model *model, const struct virt_moment *wake,
		     const struct virt_guest_event *events, size_t n_events,
		     struct virt_wake_chain *chain);

#ifdef __cplusplus
}
#endif
#endif
