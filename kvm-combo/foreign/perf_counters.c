// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_counters.c
 * @brief	Counters that perf has read with samples: PERF_SAMPLE_READ.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "perf_private.h"
#include "trace_counters.h"

/** Types of events: PERF_TYPE_..., and those that no processor counts. */
enum { TYPE_HARDWARE = 0, TYPE_SOFTWARE = 1, TYPE_CACHE = 3, TYPE_RAW = 4, TYPE_BREAKPOINT = 5 };

struct perf_counters {
	struct trace_counter *all;
	uint32_t	n;
	size_t		room;
};

void perf_counters_free(struct perf_counters *counters)
{
	if (!counters)
		return;
	free(counters->all);
	free(counters);
}

/* --- names ----------------------------------------------------------------------------------- */

/** Names of PERF_COUNT_HW_..., PERF_COUNT_SW_...: those of "perf list". */
static const char *const hardware[] = {
	"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
	"bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
};
static const char *const software[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
	"bpf-output", "cgroup-switches",
};

/** A file without names of events: its numbers. */
static void name_by_number(const struct perf_attr *attr, char name[TRACE_COUNTER_NAME])
{
	uint64_t number = attr->type == TYPE_HARDWARE ? (uint32_t)attr->config : attr->config;

	if (attr->type == TYPE_HARDWARE && number < ARRAY_SIZE(hardware))
		snprintf(name, TRACE_COUNTER_NAME, "%s", hardware[number]);
	else if (attr->type == TYPE_SOFTWARE && number < ARRAY_SIZE(software))
		snprintf(name, TRACE_COUNTER_NAME, "%s", software[number]);
	else
		snprintf(name, TRACE_COUNTER_NAME, "event %u:0x%llx", attr->type,
			 (unsigned long long)number);
}

static void name_of(const struct perf_attr *attr, char name[TRACE_COUNTER_NAME])
{
	if (attr->name.at && attr->name.left && *attr->name.at)
		snprintf(name, TRACE_COUNTER_NAME, "%.*s",
			 (int)strnlen((const char *)attr->name.at, attr->name.left < INT32_MAX ?
				      attr->name.left : INT32_MAX), (const char *)attr->name.at);
	else
		name_by_number(attr, name);
}

/** An event of HEADER_EVENT_DESC: its attribute, numbers of ids and of bytes, name, ids. */
static bool take_name(struct perf_reader *reader, struct perf_bytes *bytes, uint32_t attr_size,
		      size_t i)
{
	struct perf_bytes name, first;
	uint64_t n_ids, size;
	int64_t n = -1;

	if (!perf_skip(bytes, attr_size) || bytes->left < 8)
		return false;
	n_ids = perf_32(bytes, 0);
	size = perf_32(bytes, 4);
	if (!perf_part(bytes, 8, size, &name) || !perf_skip(bytes, 8 + size))
		return false;
	if (n_ids && perf_part(bytes, 0, 8, &first))
		n = key_map_find(&reader->ids, perf_64(&first, 0));
	if (n >= 0)
		i = reader->attr_of[n];
	else if (n_ids)
		i = reader->n_attrs;
	if (i < reader->n_attrs)
		reader->attrs[i].name = name;
	return n_ids <= bytes->left / 8 && perf_skip(bytes, 8 * n_ids);
}

void perf_counters_names(struct perf_reader *reader, const struct perf_bytes *part)
{
	struct perf_bytes bytes = *part;
	uint32_t n, attr_size;

	if (bytes.left < 8)
		return;
	n = perf_32(&bytes, 0);
	attr_size = perf_32(&bytes, 4);
	perf_skip(&bytes, 8);
	for (uint32_t i = 0; i < n && take_name(reader, &bytes, attr_size, i); i++)
		;
}

/* --- counters -------------------------------------------------------------------------------- */

static struct perf_counters *counters_of(struct perf_reader *reader)
{
	if (!reader->counters)
		reader->counters = calloc(1, sizeof(*reader->counters));
	return reader->counters;
}

/** Only a counter of the processor can count in host or guest alone. */
static uint32_t sides_of(const struct perf_attr *attr)
{
	if (attr->type == TYPE_SOFTWARE || attr->type == PERF_TRACEPOINT ||
	    attr->type == TYPE_BREAKPOINT)
		return 0;
	return (attr->modes & PERF_EXCLUDE_HOST ? 0 : TRACE_COUNTS_HOST) |
	       (attr->modes & PERF_EXCLUDE_GUEST ? 0 : TRACE_COUNTS_GUEST);
}

/**
 * The number of a counter, which is read at the samples of an event: one of another event is
 * another one. Return: -ENOMEM; -ENOSPC: there are too many.
 */
static int64_t counter_of(struct perf_reader *reader, struct perf_attr *attr,
			  const struct perf_attr *read_at)
{
	struct perf_counters *counters = counters_of(reader);
	struct trace_counter *counter;

	if (!counters)
		return -ENOMEM;
	if (attr->counter)
		return attr->counter - 1;
	if (counters->n == TRACE_COUNTERS_MOST)
		return -ENOSPC;
	if (ARRAY_GROW(counters->all, counters->n, counters->room))
		return -ENOMEM;
	counter = &counters->all[counters->n];
	*counter = (struct trace_counter){
		.group = (uint32_t)(read_at - reader->attrs), .sides = sides_of(attr),
		.modes = attr->modes,
	};
	name_of(attr, counter->name);
	name_of(read_at, counter->read_at);
	attr->counter = ++counters->n;
	return attr->counter - 1;
}

/** A value of a reading, with the fields that follow it. */
struct value {
	uint64_t	value, id;
	bool		has_id;
};

static bool take_value(struct perf_bytes *bytes, uint64_t format, struct value *value)
{
	uint64_t lost;

	value->has_id = format & READ_ID;
	return perf_take_64(bytes, true, &value->value) &&
	       perf_take_64(bytes, value->has_id, &value->id) &&
	       perf_take_64(bytes, format & READ_LOST, &lost);
}

/**
 * Add a value to a reading. Of a group without ids, it is not known which event each value is of;
 * the samples of a tracepoint are its own count. Return: 0 or -ENOMEM.
 */
static int add_value(struct perf_reader *reader, struct perf_attr *read_at,
		     const struct value *value, bool is_alone, struct trace_reading *reading,
		     struct trace_counter_value values[TRACE_COUNTERS_MOST])
{
	int64_t n = value->has_id ? key_map_find(&reader->ids, value->id) : -1, counter;
	struct perf_attr *attr = n >= 0 ? &reader->attrs[reader->attr_of[n]] :
				 is_alone && !value->has_id ? read_at : NULL;

	if (attr == read_at && attr->type == PERF_TRACEPOINT)
		return 0;
	counter = attr ? counter_of(reader, attr, read_at) : -ENOSPC;
	if (counter == -ENOMEM)
		return -ENOMEM;
	if (counter < 0 || reading->n == TRACE_COUNTERS_MOST) {
		reader->facts->uncounted++;
		return 0;
	}
	values[reading->n++] = (struct trace_counter_value){ (uint64_t)counter, value->value };
	return 0;
}

/** perf_event_open(2) has the layout. */
static int take_group(struct perf_reader *reader, struct perf_attr *read_at,
		      struct perf_bytes *bytes, struct trace_reading *reading,
		      struct trace_counter_value values[TRACE_COUNTERS_MOST])
{
	uint64_t format = read_at->read_format, n;
	struct value value = { .has_id = false };
	int ret = 0;

	if (!perf_take_64(bytes, true, &n) ||
	    !perf_take_64(bytes, format & READ_TIME_ENABLED, &reading->enabled_ns) ||
	    !perf_take_64(bytes, format & READ_TIME_RUNNING, &reading->running_ns))
		return 0;
	for (uint64_t i = 0; i < n && take_value(bytes, format, &value) && !ret; i++)
		ret = add_value(reader, read_at, &value, false, reading, values);
	return ret;
}

static int take_one(struct perf_reader *reader, struct perf_attr *read_at,
		    struct perf_bytes *bytes, struct trace_reading *reading,
		    struct trace_counter_value values[TRACE_COUNTERS_MOST])
{
	uint64_t format = read_at->read_format, lost;
	struct value value = { .has_id = format & READ_ID };

	if (!perf_take_64(bytes, true, &value.value) ||
	    !perf_take_64(bytes, format & READ_TIME_ENABLED, &reading->enabled_ns) ||
	    !perf_take_64(bytes, format & READ_TIME_RUNNING, &reading->running_ns) ||
	    !perf_take_64(bytes, value.has_id, &value.id) ||
	    !perf_take_64(bytes, format & READ_LOST, &lost))
		return 0;
	return add_value(reader, read_at, &value, true, reading, values);
}

int perf_counters_take(struct perf_reader *reader, struct perf_attr *read_at, uint32_t cpu,
		       uint64_t ts, int32_t pid, struct perf_bytes bytes)
{
	struct trace_counter_value values[TRACE_COUNTERS_MOST];
	struct trace_reading reading = {
		.cpu = cpu, .ts = ts, .pid = pid, .enabled_ns = TRACE_COUNTER_NO_TIME,
		.running_ns = TRACE_COUNTER_NO_TIME,
	};
	int ret = read_at->read_format & READ_GROUP ?
		  take_group(reader, read_at, &bytes, &reading, values) :
		  take_one(reader, read_at, &bytes, &reading, values);

	if (ret || !reading.n)
		return ret;
	return trace_dat_writer_reading(reader->writer, &reading, values);
}

int perf_counters_lost(struct perf_reader *reader, uint32_t cpu)
{
	const struct trace_reading reading = { .cpu = cpu, .n = TRACE_READING_LOST };

	return trace_dat_writer_reading(reader->writer, &reading, NULL);
}

void perf_counters_end(struct perf_reader *reader)
{
	if (reader->counters && reader->counters->n && !reader->facts->is_per_task)
		trace_dat_writer_counters(reader->writer, reader->counters->all,
					  reader->counters->n);
}
