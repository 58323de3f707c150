// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_irqs.c
 * @brief	Deliveries of interrupts out of the files of a KVM host and its guest.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "irq_delivery.h"
#include "virt_irqs.h"

bool virt_irqs_is_aligned(const struct virt_clock_alignment *judged)
{
	return judged->inside && judged->explained_percent >= 100 * IRQ_ALIGNED_SHARE;
}

/** Let the guest's times be those of the host's file, by what KernelShark adds to both. */
static int align_guest(const struct virt_irqs_source *source, struct kvm_trace *guest)
{
	const struct kshark_data_stream stream = {
		.calib_array = source->clock.parts, .calib_array_size = source->clock.n,
	};
	const int64_t *parts = ks_clock_of(&stream);
	bool aligned = parts && (parts[KS_CLOCK_FLAGS] & KS_CLOCK_ALIGNED);
	struct kvm_trace_alignment alignment = { 0 };
	int64_t offset = source->clock.parts && source->clock.n ?
			 source->clock.parts[KS_CLOCK_OFFSET] : 0;

	/* an offset from cycles to ns is that of a host with Xen */
	if (aligned && parts[KS_CLOCK_HZ])
		return -EINVAL;
	if (__builtin_sub_overflow(offset, source->host_offset, &alignment.offset))
		return -ERANGE;
	if (aligned) {
		alignment.hide_offsets = parts[KS_CLOCK_FLAGS] & KS_CLOCK_HIDES;
		alignment.drift_ppm = (double)parts[KS_CLOCK_DRIFT] / 1e6;
	}
	return kvm_trace_align(guest, &alignment);
}

int virt_irqs_read(const struct virt_irqs_source *source, struct virt_irq_delivery **irqs,
		   size_t *n, char *error, size_t size)
{
	struct kvm_trace *host = kvm_trace_open(source->host, error, size);
	struct kvm_trace *guest = host ? kvm_trace_open(source->guest, error, size) : NULL;
	struct irq_pair pair = {
		.model = source->model, .host = host, .guest = guest,
		.tids = source->tids, .n_tids = source->n_tids,
		.stop = source->stop, .arg = source->arg,
	};
	struct irq_list found = { 0 };
	int ret = -EIO;

	if (guest) {
		ret = align_guest(source, guest);
		if (!ret)
			ret = irq_pair_read(&pair, &found);
		if (ret)
			snprintf(error, size, "%s: %s", source->guest, strerror(-ret));
	}
	*irqs = found.all;
	*n = found.n;
	kvm_trace_close(guest);
	kvm_trace_close(host);
	return ret;
}
