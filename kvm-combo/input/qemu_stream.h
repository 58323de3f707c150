/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	qemu_stream.h
 * @brief	Shared by the parts of the data-readout plugin for traces of monitors.
 *
 * A row that KernelShark keeps has these values: its offset is the number of its record, its event
 * is the number of the event's name, and its pid is the thread. A monitor does not record the CPU:
 * all rows are on CPU 0.
 */
#ifndef KSHARK_VIRT_QEMU_STREAM_H
#define KSHARK_VIRT_QEMU_STREAM_H

#include <libkshark.h>
#include <libkshark-plugin.h>
#include <sys/stat.h>

#include "monitor_meta.h"
#include "monitor_trace.h"

/** What is shown of an event's name before a slash, as KernelShark shows those of trace.dat. */
#define QEMU_CLASS	"qemu/"

/** A trace, and where it lies on its host's axis. */
struct qemu_log {
	struct monitor_trace	*trace;
	struct monitor_meta	meta;
	struct stat		was;		/* the file, when it was read */
};

/**
 * Our data of a stream. The stock KVM combo dialog takes every handle for one of its own kind and
 * follows the second pointer unless it is NULL.
 */
struct qemu_stream {
	struct qemu_log		*log;
	void			*always_null;
};

static inline struct qemu_log *qemu_log_of(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = stream->interface;

	return ((struct qemu_stream *)interface->handle)->log;
}

/** qemu_log_open - read a file. Return: NULL with errno, after a message. */
struct qemu_log *qemu_log_open(const char *file);
void qemu_log_close(struct qemu_log *log);

/** qemu_load_entries, qemu_load_matrix - all rows, as KernelShark asks for them. */
ssize_t qemu_load_entries(struct kshark_data_stream *stream, struct kshark_context *kshark_ctx,
			  struct kshark_entry ***data_rows);
ssize_t qemu_load_matrix(struct kshark_data_stream *stream, struct kshark_context *kshark_ctx,
			 int16_t **event_array, int16_t **cpu_array, int32_t **pid_array,
			 int64_t **offset_array, int64_t **ts_array);

/** qemu_set_text_methods - all that is made on demand: texts and names. */
void qemu_set_text_methods(struct kshark_generic_stream_interface *interface);

#endif
