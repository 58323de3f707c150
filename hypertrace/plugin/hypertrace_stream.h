/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hypertrace_stream.h
 * @brief	Shared by the parts of the data-readout plugin: the stream, its ids and pids.
 *
 * A row that KernelShark keeps has these values: its offset is the number of the row in
 * guest_rows.h, its event is the number of the event's name, its CPU is the number of the vCPU, and
 * its pid is the task that has this CPU.
 */
#ifndef KSHARK_VIRT_HYPERTRACE_STREAM_H
#define KSHARK_VIRT_HYPERTRACE_STREAM_H

#include <libkshark.h>
#include <libkshark-plugin.h>

#include "guest_trace.h"

/** Unknown who has the CPU: one more than Linux's pids can be. */
#define PID_UNKNOWN	4194305

/** What is shown of an event's name before a slash, as KernelShark shows those of trace.dat. */
#define HYPERTRACE_CLASS	"hypertrace/"

/**
 * Our data of a stream. The stock KVM combo dialog takes every handle for one of its own kind and
 * follows the second pointer unless it is NULL.
 */
struct hypertrace_stream {
	struct guest_trace	*trace;
	void			*always_null;
};

static inline struct hypertrace_stream *hypertrace_stream_data(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = stream->interface;

	return interface ? interface->handle : NULL;
}

/** hypertrace_open - the guest that a file stands for. Return: NULL with errno, after a message. */
struct guest_trace *hypertrace_open(const char *file);
void hypertrace_close(struct guest_trace *trace);

/** hypertrace_set_stream - pass to KernelShark and to drawing code what the stream has. */
void hypertrace_set_stream(struct kshark_data_stream *stream, const struct guest_trace *trace);

/** hypertrace_load_entries, hypertrace_load_matrix - all rows, as KernelShark asks for them. */
ssize_t hypertrace_load_entries(struct kshark_data_stream *stream,
				struct kshark_context *kshark_ctx,
				struct kshark_entry ***data_rows);
ssize_t hypertrace_load_matrix(struct kshark_data_stream *stream,
			       struct kshark_context *kshark_ctx, int16_t **event_array,
			       int16_t **cpu_array, int32_t **pid_array, int64_t **offset_array,
			       int64_t **ts_array);

/** hypertrace_set_text_methods - all that is made on demand: texts, fields, names. */
void hypertrace_set_text_methods(struct kshark_generic_stream_interface *interface);

#endif
