/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_trace_counters.c
 * @brief	Any bytes as the counters at the end of a trace.dat: refused, or in order of CPUs,
 *		with known counters and texts that end.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "memory_file.h"
#include "trace_counters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is)
{
	if (!is)
		abort();
}

/** Return: how many bytes the reading takes in the file, at least. */
static size_t check_reading(const struct trace_counters *counters,
			    const struct trace_reading *reading, uint32_t *cpu)
{
	check(reading->cpu >= *cpu);
	*cpu = reading->cpu;
	if (reading->n == TRACE_READING_LOST)
		return sizeof(*reading);
	check(reading->n <= TRACE_COUNTERS_MOST);
	for (uint32_t i = 0; i < reading->n; i++)
		check(counters->values[i].counter < counters->n);
	return sizeof(*reading) + reading->n * sizeof(*counters->values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = memory_file(data, size);
	struct trace_counters counters;
	struct trace_reading reading;
	size_t bytes = 0;
	uint32_t cpu = 0;
	int ret = trace_counters_open(&counters, file.fd);

	check(!ret || ret == -ENOENT || ret == -EBADMSG);
	for (uint32_t i = 0; !ret && i < counters.n; i++) {
		check(memchr(counters.counters[i].name, 0, TRACE_COUNTER_NAME));
		check(memchr(counters.counters[i].read_at, 0, TRACE_COUNTER_NAME));
	}
	if (!ret)
		while ((ret = trace_counters_next(&counters, &reading)) == 1)
			bytes += check_reading(&counters, &reading, &cpu);
	check(ret <= 0 && bytes <= size);
	trace_counters_close(&counters);
	close(file.fd);
	return 0;
}
