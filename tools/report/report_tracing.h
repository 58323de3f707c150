/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_tracing.h
 * @brief	kshark-virt report --tracing: what the tracing itself costs.
 */
#ifndef KSHARK_VIRT_REPORT_TRACING_H
#define KSHARK_VIRT_REPORT_TRACING_H

#include "report.h"
#include "table.h"

/** The default time between two looks of xentrace at the buffers. */
#define REPORT_POLL_NS	100000000

/** Bytes of a pCPU in the interval of REPORT_POLL_NS that goes on, and in the one before. */
struct report_polled {
	int64_t		interval;
	uint64_t	now, before, peak;
};

struct report_tracing {
	int64_t		from_ns, to_ns;
	struct report_polled *pcpus;
	int		n_pcpus;
	double		record_cost_ns;		/* 0: not known */
};

/** report_tracing_init - Return: 0 or -ENOMEM. */
int report_tracing_init(struct report_tracing *tracing, int n_pcpus);
void report_tracing_destroy(struct report_tracing *tracing);

/** report_tracing_record, report_tracing_rows - follow how much is in the buffers. */
void report_tracing_record(struct report_tracing *tracing, int cpu, int64_t time_ns,
			   uint64_t bytes);
void report_tracing_rows(struct report_tracing *tracing, const struct xen_trace_row *rows,
			 size_t n);

/**
 * report_tracing_write - write it, but not as HTML
 * @report: with file, load, window and count set
 * @first: this is the first file of the output
 */
void report_tracing_write(enum table_format_kind format, struct output *out,
			  const struct report *report, const struct report_tracing *tracing,
			  bool first);

#endif
