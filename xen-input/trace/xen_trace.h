/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_trace.h
 * @brief	Open a xentrace file as records with time, vCPU and names.
 *
 * Brings together the reader, the clock, the sidecar and the attribution, for the KernelShark
 * plugin and for the command-line tools alike.
 */
#ifndef KSHARK_VIRT_XEN_TRACE_H
#define KSHARK_VIRT_XEN_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xen_clock.h"
#include "xen_events.h"
#include "xen_meta.h"
#include "xen_running.h"
#include "xentrace_reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All zero is a good default. */
struct xen_trace_options {
	uint64_t	cpu_hz;		/* 0: sidecar, calibration, assumption */
	const char	*meta_path;	/* NULL: <file>.meta.json, if there is one */
	bool		absolute_time;	/* time 0 is TSC 0 instead of the first record */
	bool		correct_skew;	/* correct the TSCs of pCPUs, if they differ */
	struct xentrace_options	reader;
};

/**
 * xen_trace_options_from_env - set options from the environment: XEN_CPUHZ (frequency, see
 * xen_clock_parse_hz()), XEN_ABSTS (absolute time: 1, yes, true, on; 0, no, false, off),
 * XEN_TSC_SKEW=correct, XEN_MAX_INPUT (see xen_trace_parse_size())
 *
 * Return: 0, or -EINVAL with a text in @error for a value that cannot be understood; the other
 * variables have been taken over nevertheless.
 */
int xen_trace_options_from_env(struct xen_trace_options *options, char *error, size_t error_size);

/**
 * xen_trace_parse_size - a number of bytes as people write it: 500000, 64M, 16G (powers of 1024)
 *
 * Return: 0, -EINVAL if it is no such number, -ERANGE if it is 0 or does not fit.
 */
int xen_trace_parse_size(const char *text, uint64_t *size);

struct xen_trace;

/**
 * xen_trace_open - open a trace and find out its clock
 *
 * Return: the trace, to be given to xen_trace_close(), or NULL with errno and a text in @error.
 */
struct xen_trace *xen_trace_open(const char *path, const struct xen_trace_options *options,
				 char *error, size_t error_size);

/** xen_trace_open_memory - the same for data in memory that outlives the trace; no sidecar. */
struct xen_trace *xen_trace_open_memory(const void *data, size_t size,
					const struct xen_trace_options *options,
					char *error, size_t error_size);
void xen_trace_close(struct xen_trace *trace);

/** xen_trace_reader - the reader underneath, for as long as the trace is open. */
const struct xentrace *xen_trace_reader(const struct xen_trace *trace);

/** xen_trace_clock - how TSCs become ns, and where that is known from. */
const struct xen_clock *xen_trace_clock(const struct xen_trace *trace);

/** xen_trace_meta - the sidecar, or NULL. */
const struct xen_meta *xen_trace_meta(const struct xen_trace *trace);

/** xen_trace_isa - the instruction set of the VM exits in this trace, if it has any. */
enum xen_isa xen_trace_isa(const struct xen_trace *trace);

/** xen_trace_first - the vCPU on each pCPU at its first record; a sidecar may have named it. */
const struct xen_first *xen_trace_first(const struct xen_trace *trace);

/** xen_trace_n_pcpus - highest pCPU number + 1. */
int xen_trace_n_pcpus(const struct xen_trace *trace);

/** xen_trace_meta_error - why its sidecar is not used; NULL if it is, or there is none. */
const char *xen_trace_meta_error(const struct xen_trace *trace);

/**
 * xen_trace_notes - what a user must know about this file: damage, an assumed or poorly
 * calibrated clock, TSC skew (the latter only after an iteration has come to its end), growth; that
 * it has changed (xentrace_changed()) is not a note but an error, which callers look for themselves
 * @max_lines: damaged places to list at most
 *
 * Return: a malloc'ed text, a line per note, with control characters in names escaped; empty if
 * there is nothing; NULL without memory.
 */
char *xen_trace_notes(const struct xen_trace *trace, int max_lines);

/** A record in its place. */
struct xen_trace_row {
	struct xentrace_record	rec;	/* rec.tsc includes a requested skew correction */
	int64_t			time_ns;
	xen_vcpu		vcpu;	/* on the pCPU; XEN_VCPU_UNKNOWN if not known */
};

struct xen_trace_iter;

/** xen_trace_iter_new - walk through all records in order of time. NULL without memory. */
struct xen_trace_iter *xen_trace_iter_new(struct xen_trace *trace);

/** xen_trace_iter_next - the next record. Return: true, or false at the end. */
bool xen_trace_iter_next(struct xen_trace_iter *iter, struct xen_trace_row *row);

/**
 * xen_trace_iter_read, xen_trace_iter_observe - xen_trace_iter_next() for many rows, in two steps
 * @rows: up to @max rows are read; the @n that are observed are what was read, in the same order
 *
 * Observing gives rows their time, and finds the TSC skew. Different threads may read and observe:
 * neither step touches what the other one keeps.
 *
 * Return: how many were read; less than @max at the end only.
 */
size_t xen_trace_iter_read(struct xen_trace_iter *iter, struct xen_trace_row *rows, size_t max);
void xen_trace_iter_observe(struct xen_trace_iter *iter, struct xen_trace_row *rows, size_t n);

/** Records that were counted instead of read. Hypercalls are counted twice, in both ways. */
struct xen_trace_skipped {
	bool		is_call;	/* of a vCPU: @vcpu, @number; else of a pCPU: the others */
	xen_vcpu	vcpu;
	uint32_t	number;		/* of the hypercall */
	uint16_t	pcpu;
	uint32_t	event;		/* one of their class and part */
	uint64_t	records, bytes;	/* bytes: of a pCPU only */
};

/**
 * xen_trace_iter_skip - do not read records that change no state, but count them
 * @counts: false: xen_trace_iter_skipped() will not be called, and rows need no vCPU
 *
 * Call it before the first row. A trace with core scheduling is read whole.
 *
 * Return: 0 or -ENOMEM.
 */
int xen_trace_iter_skip(struct xen_trace_iter *iter, bool counts);

/** xen_trace_iter_skipped - at the end, give out the counts. Return: 0, or what ended it. */
int xen_trace_iter_skipped(struct xen_trace_iter *iter,
			   int (*take)(void *arg, const struct xen_trace_skipped *skipped),
			   void *arg);

/**
 * xen_trace_iter_free - end the walk; if it came to its end, its skew findings are kept
 *
 * Return: 0, or -ENOMEM if it ended early for that. A file that has changed during the walk is no
 * error here: xentrace_changed() detects it.
 */
int xen_trace_iter_free(struct xen_trace_iter *iter);

/**
 * xen_trace_time_at - the time of the record at a file offset, as an iteration gives it
 *
 * Return: 0, or -ENOENT if no record can begin there.
 */
int xen_trace_time_at(const struct xen_trace *trace, uint64_t offset, int64_t *time_ns);

/**
 * xen_trace_known_until - until when it is known what happened on a pCPU (struct xentrace_pcpu)
 * @i: as for xentrace_pcpu_at()
 *
 * Return: a time; INT64_MAX: to the end.
 */
int64_t xen_trace_known_until(const struct xen_trace *trace, int i);

/**
 * xen_vcpu_text - "d1v0", "idle", "d?v?", "d?v? on p2", or with a sidecar "d1v0:name"
 * @meta: may be NULL
 *
 * Return: as snprintf().
 */
int xen_vcpu_text(char *buf, size_t size, xen_vcpu vcpu, const struct xen_meta *meta);

#ifdef __cplusplus
}
#endif
#endif
