// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_irqs.c
 * @brief	Deliveries of interrupts out of the files of a host and its guest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "irq_delivery.h"
#include "virt_irqs.h"

bool virt_irqs_is_aligned(const struct virt_clock_alignment *judged)
{
	return judged->inside && judged->explained_percent >= 100 * IRQ_ALIGNED_SHARE;
}

/** What is beyond all reason is cut, so that differences fit. */
static int64_t model_time(void *arg, int64_t time)
{
	const struct virt_irqs_source *source = arg;
	__int128 ns = (__int128)ks_clock_time(&source->clock, time) - source->host_offset;

	return ns > INT64_MAX / 2 ? INT64_MAX / 2 : ns < -INT64_MAX / 2 ? -INT64_MAX / 2 :
	       (int64_t)ns;
}

/** struct host_options, host_walk. */
static int is_stopped(void *arg, uint64_t done, uint64_t total)
{
	const struct virt_irqs_source *source = arg;

	(void)done;
	(void)total;
	return source->stop && source->stop(source->arg) ? -ECANCELED : 0;
}

/** The guest's own times, as its clock would have counted on. */
static int set_steps(struct kvm_trace *guest, const struct ks_clock *clock)
{
	const struct kshark_data_stream stream = {
		.calib_array = clock->parts, .calib_array_size = clock->n,
	};
	const int64_t *parts = ks_clock_of(&stream);
	size_t n = ks_clock_n_steps(parts);
	struct virt_clock_step *steps = malloc((n + 1) * sizeof(*steps));
	int ret = steps ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && steps; i++)
		steps[i] = ks_clock_step(parts, i);
	if (!ret)
		ret = kvm_trace_set_steps(guest, steps, n);
	free(steps);
	return ret;
}

int virt_irqs_read(const struct virt_irqs_source *source, struct virt_irq_delivery **irqs,
		   size_t *n, char *error, size_t size)
{
	struct host_options options = {
		.was_open = true, .progress = is_stopped, .arg = (void *)source,
	};
	struct host_trace host = { 0 };
	struct irq_pair pair = {
		.model = source->model, .host = &host,
		.tids = source->tids, .n_tids = source->n_tids,
		.model_time = model_time, .progress = is_stopped, .arg = (void *)source,
	};
	struct irq_list found = { 0 };
	int ret = -EIO;

	/* as KernelShark has opened it; what cannot be understood there has been said */
	host_options_from_env(&options, error, size);
	if (!host_trace_open(&host, source->host, &options, error, size))
		pair.guest = kvm_trace_open(source->guest, error, size);
	if (pair.guest) {
		ret = ks_clock_hides(&source->clock) && !kvm_trace_hide_offsets(pair.guest) ?
		      -ENOTSUP : set_steps(pair.guest, &source->clock);
		if (!ret)
			ret = irq_pair_read(&pair, &found);
		if (ret)
			snprintf(error, size, "%s: %s", source->guest, strerror(-ret));
	}
	*irqs = found.all;
	*n = found.n;
	kvm_trace_close(pair.guest);
	host_trace_close(&host);
	return ret;
}
