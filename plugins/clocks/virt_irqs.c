// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_irqs.c
 * @brief	Deliveries of interrupts out of the files of a host and its guest.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "irq_delivery.h"
#include "trace_dat.h"
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

static bool is_stopped(void *arg)
{
	const struct virt_irqs_source *source = arg;

	return source->stop && source->stop(source->arg);
}

/** struct xentrace_options, progress. */
static int opening(void *arg, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	return is_stopped(arg);
}

/** As KernelShark has opened it. */
static struct xen_trace *open_xen(const struct virt_irqs_source *source, char *error, size_t size)
{
	struct xen_trace_options options = {
		.reader = { .progress = opening, .progress_arg = (void *)source },
	};

	/* what cannot be understood there has been said */
	xen_trace_options_from_env(&options, error, size);
	return xen_trace_open(source->host, &options, error, size);
}

int virt_irqs_read(const struct virt_irqs_source *source, struct virt_irq_delivery **irqs,
		   size_t *n, char *error, size_t size)
{
	bool of_kvm = trace_dat_is(source->host);
	struct irq_pair pair = {
		.model = source->model, .tids = source->tids, .n_tids = source->n_tids,
		.model_time = model_time, .stop = is_stopped, .arg = (void *)source,
		.kvm = of_kvm ? kvm_trace_open(source->host, error, size) : NULL,
		.xen = of_kvm ? NULL : open_xen(source, error, size),
	};
	struct irq_list found = { 0 };
	int ret = -EIO;

	if (pair.kvm || pair.xen)
		pair.guest = kvm_trace_open(source->guest, error, size);
	if (pair.guest) {
		ret = ks_clock_hides(&source->clock) && !kvm_trace_hide_offsets(pair.guest) ?
		      -ENOTSUP : irq_pair_read(&pair, &found);
		if (ret)
			snprintf(error, size, "%s: %s", source->guest, strerror(-ret));
	}
	*irqs = found.all;
	*n = found.n;
	kvm_trace_close(pair.guest);
	kvm_trace_close(pair.kvm);
	xen_trace_close(pair.xen);
	return ret;
}
