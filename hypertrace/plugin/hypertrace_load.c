// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hypertrace_load.c
 * @brief	Convert the rows of a guest to rows of KernelShark.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "guest_inside.h"
#include "hypertrace_stream.h"
#include "ks_next.h"
#include "virt_registry.h"

static int32_t pid_of(const struct guest_row *row)
{
	return row->pid == HYPER_NONE ? PID_UNKNOWN : row->pid;
}

/** KernelShark shows all CPUs of a stream but the idle ones: those without a row. */
static void set_cpus(struct kshark_data_stream *stream, const struct guest_rows *rows)
{
	bool *busy = calloc((size_t)rows->n_numbers + 1, sizeof(*busy));

	kshark_hash_id_clear(stream->idle_cpus);
	stream->n_cpus = rows->n_numbers;
	for (size_t i = 0; busy && i < rows->n; i++)
		busy[rows->rows[i].cpu] = true;
	for (int cpu = 0; busy && cpu < rows->n_numbers; cpu++)
		if (!busy[cpu])
			kshark_hash_id_add(stream->idle_cpus, cpu);
	free(busy);
}

void hypertrace_set_stream(struct kshark_data_stream *stream, const struct guest_trace *trace)
{
	struct virt_inside *inside = guest_inside_make(trace);

	stream->n_events = trace->rows.n_names;
	stream->idle_pid = 0;
	set_cpus(stream, &trace->rows);
	if (!inside || virt_registry_set_inside(stream->stream_id, inside))
		escape_print(stderr, "kshark-virt: ", "%s: not enough memory for its events",
			     stream->file);
}

/** KernelShark loads anew what it has opened long ago: read it again if it is another file now. */
static void reopen(struct kshark_data_stream *stream)
{
	struct hypertrace_stream *data = hypertrace_stream_data(stream);
	struct guest_trace *trace = guest_trace_is_old(data->trace) ?
				    hypertrace_open(stream->file) : NULL;

	if (!trace)
		return;
	pthread_mutex_lock(&stream->input_mutex);
	hypertrace_close(data->trace);
	data->trace = trace;
	hypertrace_set_stream(stream, trace);
	pthread_mutex_unlock(&stream->input_mutex);
}

static struct kshark_entry *entry_of(struct kshark_data_stream *stream,
				     struct kshark_context *kshark_ctx,
				     const struct guest_rows *rows, size_t i)
{
	const struct guest_row *row = &rows->rows[i];
	/* one by one: KernelShark frees each row by itself */
	struct kshark_entry *entry = malloc(sizeof(*entry));

	if (!entry)
		return NULL;
	*entry = (struct kshark_entry){
		.visible = 0xff, .stream_id = stream->stream_id, .event_id = row->event,
		.cpu = row->cpu, .pid = pid_of(row), .offset = (int64_t)i, .ts = row->time_ns,
	};
	kshark_hash_id_add(stream->tasks, entry->pid);
	kshark_postprocess_entry(stream, (void *)(uintptr_t)row, entry);
	kshark_apply_filters(kshark_ctx, stream, entry);
	return entry;
}

ssize_t hypertrace_load_entries(struct kshark_data_stream *stream,
				struct kshark_context *kshark_ctx,
				struct kshark_entry ***data_rows)
{
	const struct guest_rows *rows;
	struct kshark_entry **all;
	struct ks_next next;
	size_t n = 0;

	reopen(stream);
	if (ks_next_init(&next, stream->n_cpus))
		return -ENOMEM;
	rows = &hypertrace_stream_data(stream)->trace->rows;
	all = malloc((rows->n + 1) * sizeof(struct kshark_entry *));
	for (; all && n < rows->n; n++) {
		all[n] = entry_of(stream, kshark_ctx, rows, n);
		if (!all[n])
			break;
		ks_next_add(&next, all[n]);
	}
	ks_next_destroy(&next);
	if (all && n == rows->n) {
		*data_rows = all;
		return (ssize_t)n;
	}
	while (n)
		free(all[--n]);
	free(all);
	return -ENOMEM;
}

ssize_t hypertrace_load_matrix(struct kshark_data_stream *stream,
			       struct kshark_context *kshark_ctx, int16_t **event_array,
			       int16_t **cpu_array, int32_t **pid_array, int64_t **offset_array,
			       int64_t **ts_array)
{
	const struct guest_rows *rows;

	(void)kshark_ctx;
	reopen(stream);
	rows = &hypertrace_stream_data(stream)->trace->rows;
	if (!kshark_data_matrix_alloc(rows->n, event_array, cpu_array, pid_array, offset_array,
				      ts_array))
		return -ENOMEM;
	for (size_t i = 0; i < rows->n; i++) {
		const struct guest_row *row = &rows->rows[i];

		if (event_array)
			(*event_array)[i] = row->event;
		if (cpu_array)
			(*cpu_array)[i] = row->cpu;
		if (pid_array)
			(*pid_array)[i] = pid_of(row);
		if (offset_array)
			(*offset_array)[i] = (int64_t)i;
		if (ts_array)
			(*ts_array)[i] = row->time_ns;
	}
	return (ssize_t)rows->n;
}
