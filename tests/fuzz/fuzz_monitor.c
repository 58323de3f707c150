/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_monitor.c
 * @brief	Any bytes as a monitor's trace: what is read of them lies in them, in order of time.
 */
#include <stdlib.h>
#include <string.h>

#include "monitor_events.h"
#include "monitor_requests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is)
{
	if (!is)
		abort();
}

static void check_records(const struct monitor_trace *trace, size_t size)
{
	size_t n, bytes;
	const struct monitor_record *records = monitor_trace_records(trace, &n);
	uint64_t first, others = monitor_trace_others(trace, &first);
	struct monitor_args args;
	char text[64];

	check(others <= size && (!others || first < size));
	for (size_t i = 0; i < n; i++) {
		check(monitor_trace_event(trace, records[i].event) != NULL);
		check(!i || records[i].time_ns >= records[i - 1].time_ns);
		check((uint64_t)records[i].begin + records[i].n <= size);
		check(records[i].thread >= 0 && records[i].time_ns >= 0);
		monitor_trace_bytes(trace, &records[i], &bytes);
		monitor_trace_text(trace, &records[i], text, sizeof(text));
		check(strlen(text) < sizeof(text));
		if (monitor_args_of(trace, &records[i], &args))
			check(args.n <= MONITOR_MAX_ARGS && args.n_text <= bytes);
	}
}

static void check_requests(const struct monitor_requests *requests)
{
	for (size_t i = 0; i < requests->n_requests; i++) {
		const struct monitor_request *request = &requests->requests[i];

		check(request->device >= 0 && (size_t)request->device < requests->n_devices);
		check(!request->done || request->end_ns >= request->begin_ns);
		check(!i || request->begin_ns >= requests->requests[i - 1].begin_ns);
		check(request->operation < MONITOR_N_OPS);
	}
	for (size_t i = 0; i < requests->n_accesses; i++)
		check((size_t)requests->accesses[i].device < requests->n_devices);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), error[256] = "";
	struct monitor_requests requests;
	struct monitor_trace *trace;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (monitor_trace_take("q.log", text, size, &trace, error, sizeof(error))) {
		check(*error && !trace);
		return 0;
	}
	check_records(trace, size);
	if (!monitor_requests_make(&requests, trace))
		check_requests(&requests);
	monitor_requests_free(&requests);
	monitor_trace_free(trace);
	return 0;
}
