/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_over_time.h
 * @brief	What a host did, interval by interval: its tasks by the trace, and samples of its
 *		kernel's counters.
 */
#ifndef KSHARK_VIRT_MODEL_OVER_TIME_H
#define KSHARK_VIRT_MODEL_OVER_TIME_H

#include "host_samples.h"
#include "host_tasks.h"
#include "model_load.h"

#define MODEL_MAX_INTERVALS	100000

/** All tasks of the host in an interval. Without has_tasks, only times and samples are set. */
struct model_interval {
	int64_t		from_ns, to_ns;
	int64_t		modes_ns[HOST_N_MODES], all_ns;	/* of all pCPUs, idle included */
	int64_t		waiting_ns, waking_ns, uninterruptible_ns;
	uint64_t	switches, migrations, faults;
	struct host_sample_sums sampled;
};

/** All zero is none. */
struct model_over_time {
	bool		has_tasks;	/* the trace shows them */
	struct host_tasks tasks;
	struct host_samples samples;	/* none: there is no file of them */
	struct model_interval *all;
	size_t		n;
};

/**
 * model_samples_read - the samples beside a host's trace, on the axis of its model
 * @samples: to be given to host_samples_free() in any case
 * @file: what messages call the trace
 *
 * What cannot be read becomes a note, and there are none.
 *
 * Return: 0 or -ENOMEM.
 */
int model_samples_read(struct host_samples *samples, const struct model_load *load,
		       const char *file);

/**
 * model_over_time_make - divide [from, to) into @n intervals of the same length
 * @over_time: to be given to model_over_time_free() in any case
 * @file: as in model_samples_read()
 *
 * Intervals without a length are left out. For a host of Xen, there is no interval.
 *
 * Return: 0 or -ENOMEM, or as kvm_trace_walk().
 */
int model_over_time_make(struct model_over_time *over_time, const struct model_load *load,
			 const char *file, int64_t from_ns, int64_t to_ns, int n);
void model_over_time_free(struct model_over_time *over_time);

/** model_has_mode - do the records show the time of the host in a mode? */
bool model_has_mode(const struct model_load *load, const struct host_modes *modes,
		    enum host_mode mode);

#endif
