/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_data.h
 * @brief	Convert traces to the input of virt/clock/clock_align.h.
 */
#ifndef KSHARK_VIRT_ALIGN_DATA_H
#define KSHARK_VIRT_ALIGN_DATA_H

#include "clock_align.h"
#include "irq_injections.h"

/** The vCPUs of a machine, by what they did. */
struct align_machine {
	const char		*name;
	int32_t			n;
	const int32_t		*indices;	/* into the model */
	struct virt_clock_vcpu	*vcpus;
};

/** The events of a guest, by CPU. */
struct align_events {
	struct virt_clock_cpu	*cpus;
	int64_t			**in_file;	/* by CPU: the times in the order of the
						 * file, if that is another; else NULL */
	int32_t			n;
	uint64_t		bytes;		/* of all records */
};

/**
 * align_machine_new - what a host knows of a machine
 * @injections: into all vCPUs of the host, sorted; or NULL
 *
 * Return: NULL without memory, or if there is no such machine.
 */
struct align_machine *align_machine_new(const struct virt_model *model, int32_t machine,
					const struct irq_injections *injections);
void align_machine_free(struct align_machine *machine);

/** Whether to give up, asked now and then. */
struct align_stop {
	bool			(*asked)(void *arg);	/* NULL: never */
	void			*arg;
};

/**
 * align_events_read - all records of a guest
 *
 * Return: 0, -ENOMEM, or -ECANCELED because of @stop; free it in any case.
 */
int align_events_read(struct kvm_trace *guest, const struct align_stop *stop,
		      struct align_events *events);
void align_events_free(struct align_events *events);

#endif
