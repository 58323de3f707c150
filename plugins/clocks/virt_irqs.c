// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_irqs.c
 * @brief	Read the deliveries of interrupts from the files of a host and its guest.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host_trace.h"
#include "irq_delivery.h"
#include "virt_irqs.h"

bool virt_irqs_is_aligned(const struct virt_clock_alignment *judged)
{
	return judged->inside && judged->explained_percent >= 100 * IRQ_ALIGNED_SHARE;
}

static int64_t model_time(void *arg, int64_t time)
{
	const struct virt_irqs_source *source = arg;

	return virt_guest_file_time(&source->guest, time);
}

/** struct host_options, host_walk. */
static int is_stopped(void *arg, uint64_t done, uint64_t total)
{
	const struct virt_irqs_source *source = arg;

	(void)done;
	(void)total;
	return source->stop && source->stop(source->arg) ? -ECANCELED : 0;
}

int virt_irqs_read(const struct virt_irqs_source *source, struct virt_irq_delivery **irqs,
		   size_t *n, struct virt_devices *devices, char *error, size_t size)
{
	struct host_options options = {
		.has_threads = true, .progress = is_stopped, .arg = (void *)source,
	};
	struct host_trace host = { 0 };
	struct irq_pair pair = {
		.model = source->model, .host = &host,
		.tids = source->tids, .n_tids = source->n_tids,
		.devices = devices, .model_time = model_time, .progress = is_stopped,
		.arg = (void *)source,
	};
	struct irq_list found = { 0 };
	int ret = -EIO;

	/* as KernelShark has opened it; what cannot be understood there has been said */
	host_options_from_env(&options, error, size);
	if (!host_trace_open(&host, source->host, &options, error, size))
		pair.guest = virt_guest_file_open(&source->guest, error, size);
	if (pair.guest) {
		ret = irq_pair_read(&pair, &found);
		if (ret)
			snprintf(error, size, "%s: %s", source->guest.path,
				 host_trace_problem(ret));
	}
	*irqs = found.all;
	*n = found.n;
	kvm_trace_close(pair.guest);
	host_trace_close(&host);
	return ret;
}
