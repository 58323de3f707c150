/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	compare_trace.h
 * @brief	Metrics of a trace, to be compared.
 */
#ifndef KSHARK_VIRT_COMPARE_TRACE_H
#define KSHARK_VIRT_COMPARE_TRACE_H

#include "compare.h"
#include "model_load.h"

/** What of a trace is compared. */
struct compare_trace_options {
	int		windows;	/* of equal length, in which rates are measured */
	bool		exits;		/* also: what VM exits were for, see compare_exits.h */
	const char *const *metrics;	/* of these, only those that fit; @n_metrics */
	int		n_metrics;
	bool		boot;		/* instead: phases and levels of guests' boots */
	const char	*dialect;	/* of their hypercalls; NULL: found by the calls */
	struct ksv_vcpu_set vcpus;	/* only these */
	struct ksv_time	from, to;	/* only this window */
};

/**
 * compare_trace - load a trace and add its metrics to a run
 * @load: to be loaded: path, options, command and quiet are set; unloaded in the end
 *
 * Return: KSV_EXIT_OK, or the exit status after a message.
 */
int compare_trace(struct compare *compare, int run, struct model_load *load,
		  const struct compare_trace_options *options);

#endif
