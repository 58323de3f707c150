// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	qemu_input.c
 * @brief	KernelShark data-readout plugin: a monitor's (QEMU's) trace of itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "ks_stream.h"
#include "qemu_stream.h"

static const char *format_name = KS_STREAM_MONITOR;

#define ERROR_BYTES	1024

static int read_log(const char *file, struct qemu_log *log, char *error, size_t size)
{
	char ignored[ERROR_BYTES] = "";
	size_t n;
	int ret = stat(file, &log->was) ? -errno : 0;

	if (!ret)
		ret = monitor_trace_open(file, &log->trace, error, size);
	if (ret)
		return ret;
	/* it is shown all the same, where its own clock has it */
	if (monitor_meta_read(file, &log->meta, ignored, sizeof(ignored)) < 0)
		escape_print(stderr, "kshark-virt: ", "%s (ignored)", ignored);
	monitor_trace_records(log->trace, &n);
	if (!n || monitor_trace_n_events(log->trace) > INT16_MAX) {
		text_format(error, size, n ? "%s: has more kinds of events than KernelShark can "
			    "show" : "%s: has no event", file);
		return -ENODATA;
	}
	return 0;
}

struct qemu_log *qemu_log_open(const char *file)
{
	struct qemu_log *log = calloc(1, sizeof(*log));
	char error[ERROR_BYTES] = "cannot be read";
	int ret = log ? read_log(file, log, error, sizeof(error)) : -ENOMEM;

	if (!ret)
		return log;
	escape_print(stderr, "kshark-virt: ", "%s", log ? error : "not enough memory");
	qemu_log_close(log);
	errno = -ret;
	return NULL;
}

void qemu_log_close(struct qemu_log *log)
{
	if (!log)
		return;
	monitor_trace_free(log->trace);
	monitor_meta_free(&log->meta);
	free(log);
}

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *KSHARK_INPUT_FORMAT(void);
EXPORT bool KSHARK_INPUT_CHECK(const char *file);
EXPORT int KSHARK_INPUT_INITIALIZER(struct kshark_data_stream *stream);
EXPORT int KSHARK_INPUT_DEINITIALIZER(struct kshark_data_stream *stream);

const char *KSHARK_INPUT_FORMAT(void)
{
	return format_name;
}

bool KSHARK_INPUT_CHECK(const char *file)
{
	return monitor_trace_is(file);
}

int KSHARK_INPUT_INITIALIZER(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = calloc(1, sizeof(*interface));
	struct qemu_stream *data = calloc(1, sizeof(*data));

	stream->interface = NULL;
	if (data)
		data->log = qemu_log_open(stream->file);
	if (!interface || !data || !data->log) {
		int ret = interface && data && errno ? -errno : -ENOMEM;

		if (data)
			qemu_log_close(data->log);
		free(interface);
		free(data);
		return ret;
	}
	interface->type = KS_GENERIC_DATA_INTERFACE;
	interface->load_entries = qemu_load_entries;
	interface->load_matrix = qemu_load_matrix;
	interface->handle = data;
	qemu_set_text_methods(interface);
	stream->interface = interface;
	stream->n_cpus = 1;
	stream->n_events = (int)monitor_trace_n_events(data->log->trace);
	stream->idle_pid = 0;
	ks_stream_attach_plugins(stream);
	return 0;
}

int KSHARK_INPUT_DEINITIALIZER(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface;
	struct qemu_stream *data;

	/* KernelShark calls this without a stream as well when it exits */
	if (!stream || stream->stream_id < 0 || !stream->interface)
		return 0;
	interface = stream->interface;
	data = interface->handle;
	interface->handle = NULL;
	if (data)
		qemu_log_close(data->log);
	free(data);
	return 0;
}
