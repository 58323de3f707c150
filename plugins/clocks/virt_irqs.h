/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_irqs.h
 * @brief	Read the deliveries of interrupts from the files of a host and its guest.
 *
 * Works on files and copies: nothing here touches KernelShark, so it may run in any thread.
 */
#ifndef KSHARK_VIRT_VIRT_IRQS_H
#define KSHARK_VIRT_VIRT_IRQS_H

#include "clock_align.h"
#include "virt_guest_file.h"
#include "virt_model.h"
#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pair of streams. */
struct virt_irqs_source {
	const char		*host;		/* file; it may be one of Xen */
	struct virt_guest_file	guest;
	const struct virt_model	*model;		/* of the host */
	const int32_t		*tids;		/* threads that are the guest's CPUs; VIRT_NONE */
	int			n_tids;
	bool			(*stop)(void *arg);	/* asked now and then */
	void			*arg;
};

/** virt_irqs_is_aligned - is a pair aligned well enough to measure how long interrupts take? */
bool virt_irqs_is_aligned(const struct virt_clock_alignment *judged);

/**
 * virt_irqs_read - as irq_pair_read() (irq_delivery.h), with the times that KernelShark shows
 * @irqs: receives them, on the model's axis; to be freed in any case
 * @n: receives how many
 * @devices: more of them become known
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int virt_irqs_read(const struct virt_irqs_source *source, struct virt_irq_delivery **irqs,
		   size_t *n, struct virt_devices *devices, char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif
