/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_tracker.c
 * @brief	Any bytes as a trace: whatever they say, every vCPU's intervals fill the trace.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "xen_tracker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	abort();
}

static void check_vcpu(const struct virt_model *model, int32_t vcpu)
{
	int64_t begin = virt_model_begin(model), end = virt_model_end(model), sum = 0;
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, begin, end);
	struct virt_totals totals;

	virt_vcpu_totals(model, vcpu, begin, end, &totals);
	for (int state = 0; state < VIRT_N_STATES; state++)
		sum += totals.ns[state];
	check(sum == end - begin, "the states of a vCPU do not add up");
	for (size_t i = 1; i < range.n; i++)
		check(range.first[i - 1].start_ns <= range.first[i].start_ns, "order");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xen_trace_options options = { .cpu_hz = 1000000000 };
	struct virt_model *model = NULL;
	struct xen_trace *trace;
	char error[256] = "";

	trace = xen_trace_open_memory(data, size, &options, error, sizeof(error));
	if (!trace)
		return 0;
	check(!xen_tracker_build(trace, &model), "no model");
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		check_vcpu(model, i);
	virt_model_free(model);
	xen_trace_close(trace);
	return 0;
}
