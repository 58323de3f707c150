/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_decoder.c
 * @brief	Any bytes as a trace: attribution, skew, and the text and fields of every record.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xen_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count_field(void *arg, const char *name, enum xen_field_kind kind, unsigned int width,
		       uint64_t value)
{
	char text[128];

	if (!name || !*name || kind >= XEN_FIELD_N_KINDS || !width || width > 64)
		abort();
	if (xen_field_text(text, sizeof(text), kind, width, value, XEN_ISA_SVM) < 0)
		abort();
	(*(unsigned int *)arg)++;
	return 0;
}

static void check_row(const struct xen_trace *trace, const struct xen_trace_row *row)
{
	char whole[1024], cut[16];
	unsigned int fields = 0;
	int n = xen_record_info(whole, sizeof(whole), &row->rec, xen_trace_isa(trace));

	if (n < 0 || (size_t)n >= sizeof(whole) || strlen(whole) != (size_t)n ||
	    xen_record_info(cut, sizeof(cut), &row->rec, xen_trace_isa(trace)) != n)
		abort();
	if (strncmp(cut, whole, sizeof(cut) - 1))
		abort();
	xen_record_fields(&row->rec, count_field, &fields);
	if (row->vcpu != XEN_VCPU_UNKNOWN && xen_vcpu_id(row->vcpu) > XEN_MAX_VCPU)
		abort();
	if (xen_vcpu_text(cut, sizeof(cut), row->vcpu, NULL) <= 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xen_trace_options options = { .cpu_hz = 2400000000, .correct_skew = size % 2 };
	struct xen_trace *trace = xen_trace_open_memory(data, size, &options, NULL, 0);
	struct xen_trace_iter *iter;
	struct xen_trace_row row;

	if (!trace)
		return 0;
	iter = xen_trace_iter_new(trace);
	while (xen_trace_iter_next(iter, &row))
		check_row(trace, &row);
	xen_trace_iter_free(iter);
	free(xen_trace_notes(trace, 3));
	xen_trace_close(trace);
	return 0;
}
