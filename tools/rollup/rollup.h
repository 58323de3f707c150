/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	rollup.h
 * @brief	The activity of a vCPU in a second of real time, as one row that can be added to
 *		others.
 *
 * The numbers are those of virt_window.h: time is cut to the interval; an event that begins in the
 * interval is counted there, with its whole length. So rows add up, over intervals, vCPUs, machines
 * and hosts. docs/rollup.md describes the columns, and how to combine hosts.
 */
#ifndef KSHARK_VIRT_ROLLUP_H
#define KSHARK_VIRT_ROLLUP_H

#include "latency_histogram.h"
#include "report.h"

/** VM exits of one reason. */
struct rollup_exit {
	const char	*reason;
	uint64_t	count;
	uint64_t	complete;	/* of these, with a known cost */
	int64_t		ns;		/* that cost */
};

/** Who had the pCPU: a machine, a task of the host, or ROLLUP_UNKNOWN. */
struct rollup_steal {
	const char	*culprit;
	int64_t		ns;
};

/** Records of a pCPU that are missing. */
struct rollup_loss {
	int		pcpu;
	int64_t		ns;
	int64_t		records;	/* VIRT_NONE: not known */
};

/** The culprit of all steal in a trace that does not show culprits. */
#define ROLLUP_UNKNOWN	"unknown"

struct rollup_row {
	const char	*host;
	int64_t		trace_ns;	/* when the trace begins: since 1970, as all times */
	int64_t		time_ns;	/* when the interval begins */
	int64_t		length_ns;	/* how much of it is in the trace */
	const char	*machine;	/* NULL: of the host itself, with its losses alone */
	int64_t		machine_id;
	int		vcpu;
	bool		state_unknown[VIRT_N_STATES];	/* its records are not in the trace */
	int64_t		state_ns[VIRT_N_STATES];
	uint64_t	state_count[VIRT_N_STATES];
	bool		migrations_unknown;
	uint64_t	migrations;
	bool		exits_unknown;
	const struct rollup_exit *exits;
	size_t		n_exits;
	const struct rollup_steal *steals;
	size_t		n_steals;
	const struct latency_histogram *lengths;	/* index: enum virt_length; none if ... */
	bool		lengths_unknown[VIRT_N_LENGTHS]; /* ... its records are not in the trace */
	const struct rollup_loss *losses;
	size_t		n_losses;
};

/** How rows are written. */
struct rollup_format {
	void	(*begin)(struct output *out);	/* or NULL */
	void	(*row)(struct output *out, const struct rollup_row *row);
};

extern const struct rollup_format rollup_csv, rollup_clickhouse;

/** rollup_length_name - "wake", "steal", "exit" */
const char *rollup_length_name(enum virt_length what);

/** What is wanted of a trace. */
struct rollup_job {
	const char		*host;
	struct report		*report;	/* its window is that of all rows */
	const struct ksv_vcpu_set *vcpus;
	int64_t			realtime_ns;	/* of time 0 of the trace */
	int64_t			interval_ns;
	const struct rollup_format *format;
};

/**
 * rollup_rows - write all rows of a trace
 *
 * Its times are ns since 1970 with that of @job, and fit.
 *
 * Return: 0 or -ENOMEM.
 */
int rollup_rows(const struct rollup_job *job, struct output *out);

#endif
