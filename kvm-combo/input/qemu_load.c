// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	qemu_load.c
 * @brief	Convert the records of a monitor to rows of KernelShark.
 */
#include <errno.h>
#include <stdlib.h>

#include "ks_next.h"
#include "qemu_stream.h"

static bool is_old(const char *file, const struct qemu_log *log)
{
	struct stat now;

	return !stat(file, &now) && (now.st_size != log->was.st_size ||
				     now.st_mtim.tv_sec != log->was.st_mtim.tv_sec ||
				     now.st_mtim.tv_nsec != log->was.st_mtim.tv_nsec);
}

/** KernelShark loads anew what it has opened long ago: read it again if it is another file now. */
static void reopen(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = stream->interface;
	struct qemu_stream *data = interface->handle;
	struct qemu_log *log = is_old(stream->file, data->log) ? qemu_log_open(stream->file) : NULL;

	if (!log)
		return;
	pthread_mutex_lock(&stream->input_mutex);
	qemu_log_close(data->log);
	data->log = log;
	stream->n_events = (int)monitor_trace_n_events(log->trace);
	pthread_mutex_unlock(&stream->input_mutex);
}

static struct kshark_entry *entry_of(struct kshark_data_stream *stream,
				     struct kshark_context *kshark_ctx, const struct qemu_log *log,
				     const struct monitor_record *record, size_t i)
{
	/* one by one: KernelShark frees each row by itself */
	struct kshark_entry *entry = malloc(sizeof(*entry));

	if (!entry)
		return NULL;
	*entry = (struct kshark_entry){
		.visible = 0xff, .stream_id = stream->stream_id, .cpu = 0,
		.event_id = (int16_t)record->event, .pid = record->thread, .offset = (int64_t)i,
		.ts = monitor_meta_time(&log->meta, record->time_ns),
	};
	kshark_hash_id_add(stream->tasks, entry->pid);
	kshark_postprocess_entry(stream, (void *)(uintptr_t)record, entry);
	kshark_apply_filters(kshark_ctx, stream, entry);
	return entry;
}

ssize_t qemu_load_entries(struct kshark_data_stream *stream, struct kshark_context *kshark_ctx,
			  struct kshark_entry ***data_rows)
{
	const struct monitor_record *records;
	const struct qemu_log *log;
	struct kshark_entry **all;
	struct ks_next next;
	size_t n, done = 0;

	reopen(stream);
	if (ks_next_init(&next, stream->n_cpus))
		return -ENOMEM;
	log = qemu_log_of(stream);
	records = monitor_trace_records(log->trace, &n);
	all = malloc((n + 1) * sizeof(struct kshark_entry *));
	for (; all && done < n; done++) {
		all[done] = entry_of(stream, kshark_ctx, log, &records[done], done);
		if (!all[done])
			break;
		ks_next_add(&next, all[done]);
	}
	ks_next_destroy(&next);
	if (all && done == n) {
		*data_rows = all;
		return (ssize_t)n;
	}
	while (done)
		free(all[--done]);
	free(all);
	return -ENOMEM;
}

ssize_t qemu_load_matrix(struct kshark_data_stream *stream, struct kshark_context *kshark_ctx,
			 int16_t **event_array, int16_t **cpu_array, int32_t **pid_array,
			 int64_t **offset_array, int64_t **ts_array)
{
	const struct monitor_record *records;
	const struct qemu_log *log;
	size_t n;

	(void)kshark_ctx;
	reopen(stream);
	log = qemu_log_of(stream);
	records = monitor_trace_records(log->trace, &n);
	if (!kshark_data_matrix_alloc(n, event_array, cpu_array, pid_array, offset_array, ts_array))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (event_array)
			(*event_array)[i] = (int16_t)records[i].event;
		if (cpu_array)
			(*cpu_array)[i] = 0;
		if (pid_array)
			(*pid_array)[i] = records[i].thread;
		if (offset_array)
			(*offset_array)[i] = (int64_t)i;
		if (ts_array)
			(*ts_array)[i] = monitor_meta_time(&log->meta, records[i].time_ns);
	}
	return (ssize_t)n;
}
