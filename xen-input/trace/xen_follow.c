// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_follow.c
 * @brief	Open a trace that xentrace is still writing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "hz_contradicts.h"
#include "xen_ahead.h"
#include "xen_follow.h"
#include "xen_trace_private.h"
#include "xentrace_file.h"

static int check_hz(const struct xen_trace *trace, const struct xen_trace_options *options,
		    char *error, size_t error_size)
{
	uint64_t meta_hz = trace->meta ? trace->meta->cpu_khz * 1000 : 0;
	char text[HZ_CONTRADICTION];

	if (!options->cpu_hz || meta_hz < XEN_CLOCK_MIN_HZ ||
	    !hz_contradicts(options->cpu_hz, meta_hz, 0, "sidecar", text, sizeof(text)))
		return 0;
	xentrace_set_error(error, error_size, "%s: %s", trace->name, text);
	return -EDOM;
}

struct xen_trace *xen_follow_open(struct xentrace_live *stream, const char *name, const char *path,
				  const struct xen_trace_options *options, char *error,
				  size_t error_size)
{
	struct xen_trace *trace = calloc(1, sizeof(*trace));
	int ret = trace ? 0 : -ENOMEM;

	if (trace) {
		trace->stream = stream;
		/* it is not written to from here */
		trace->reader = (struct xentrace *)(uintptr_t)xentrace_live_reader(stream);
		trace->name = escape_dup(name);
		ret = trace->name ? xen_trace_load_meta(trace, path, options, error, error_size) :
		      -ENOMEM;
	}
	if (!ret)
		ret = check_hz(trace, options, error, error_size);
	if (!ret)
		return trace;
	if (ret == -ENOMEM)
		xentrace_set_error(error, error_size, "%s: not enough memory", name);
	xen_trace_close(trace);
	errno = -ret;
	return NULL;
}

static int look_ahead(void *arg, const struct xentrace_record *rec)
{
	struct xen_ahead *ahead = arg;

	xen_ahead_look(&ahead[rec->run], rec);
	return 0;
}

static int find_first(struct xen_trace *trace)
{
	uint32_t n = xentrace_n_runs(trace->reader);
	struct xen_ahead *ahead = malloc(((size_t)n + 1) * sizeof(*ahead));
	int ret = ahead ? 0 : -ENOMEM;

	for (uint32_t i = 0; ahead && i < n; i++)
		ahead[i] = xen_ahead_nothing;
	if (!ret)
		ret = xentrace_live_each(trace->stream, look_ahead, ahead);
	if (!ret)
		ret = xen_first_make(&trace->first, ahead, n);
	free(ahead);
	return ret;
}

static void count_pcpus(struct xen_trace *trace)
{
	int n = xentrace_n_pcpus(trace->reader);

	trace->n_pcpus = n ? xentrace_pcpu_at(trace->reader, n - 1)->pcpu + 1 : 0;
}

int xen_follow_begin(struct xen_trace *trace, const struct xen_trace_options *options)
{
	int ret = xentrace_live_list_pcpus(trace->stream);

	if (!ret)
		ret = find_first(trace);
	if (!ret)
		ret = xen_trace_name_somebody(trace);
	if (!ret)
		ret = xen_trace_set_clock(trace, options);
	if (!ret)
		ret = xen_trace_find_core_firsts(trace);
	count_pcpus(trace);
	return ret;
}

int xen_follow_runs(struct xen_trace *trace)
{
	struct xen_first *first = &trace->first;
	uint32_t before = first->n_runs, n = xentrace_n_runs(trace->reader);

	if (n <= before)
		return 0;
	if (ARRAY_REACH(first->vcpu, n, first->n_runs))
		return -ENOMEM;
	/* nothing is looked ahead for */
	for (uint32_t i = before; i < first->n_runs; i++)
		first->vcpu[i] = XEN_VCPU_UNKNOWN;
	xen_cores_set_runs(trace->cores, trace->reader);
	count_pcpus(trace);
	return 0;
}

void xen_follow_isa(struct xen_trace *trace, const struct xentrace_record *rec)
{
	if (trace->isa == XEN_ISA_UNKNOWN && rec->event >> XEN_TRC_CLASS_SHIFT == XEN_TRC_CLASS_HVM)
		trace->isa = xen_isa_from_exit(rec->event, xentrace_word(rec, 0));
}
