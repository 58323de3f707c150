// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hypertrace_input.c
 * @brief	KernelShark data-readout plugin: a guest that reports through hypercalls, as a data
 *		stream from its host's trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "hypertrace_stream.h"
#include "ks_stream.h"

/** The data format; KernelShark keeps 14 characters. */
static const char *format_name = "hypertrace";

#define ERROR_BYTES	1024

static int open_pointer(const char *file, struct guest_trace *trace, char *error, size_t size)
{
	struct host_options options = { .has_threads = true };
	struct guest_pointer pointer = { 0 };
	char ignored[ERROR_BYTES] = "";
	int ret;

	if (host_options_from_env(&options, ignored, sizeof(ignored)))
		escape_print(stderr, "", "%s (ignored)", ignored);
	ret = guest_pointer_read(file, &pointer, error, size);
	if (!ret)
		ret = guest_trace_open(trace, &pointer, &options, error, size);
	guest_pointer_free(&pointer);
	return ret;
}

struct guest_trace *hypertrace_open(const char *file)
{
	struct guest_trace *trace = calloc(1, sizeof(*trace));
	char error[ERROR_BYTES] = "";
	int ret = trace ? open_pointer(file, trace, error, sizeof(error)) : -ENOMEM;

	/* KernelShark cannot do with nothing */
	if (!ret && !trace->rows.n) {
		text_format(error, sizeof(error), "%s: there is no hypercall in it", trace->host);
		ret = -ENODATA;
	}
	if (!ret)
		return trace;
	escape_print(stderr, "kshark-virt: ", "%s", trace ? error : "not enough memory");
	hypertrace_close(trace);
	errno = -ret;
	return NULL;
}

void hypertrace_close(struct guest_trace *trace)
{
	if (trace)
		guest_trace_close(trace);
	free(trace);
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
	return guest_pointer_is(file);
}

int KSHARK_INPUT_INITIALIZER(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = calloc(1, sizeof(*interface));
	struct hypertrace_stream *data = calloc(1, sizeof(*data));

	stream->interface = NULL;
	if (data)
		data->trace = hypertrace_open(stream->file);
	if (!interface || !data || !data->trace) {
		int ret = interface && data && errno ? -errno : -ENOMEM;

		if (data)
			hypertrace_close(data->trace);
		free(interface);
		free(data);
		return ret;
	}
	interface->type = KS_GENERIC_DATA_INTERFACE;
	interface->load_entries = hypertrace_load_entries;
	interface->load_matrix = hypertrace_load_matrix;
	interface->handle = data;
	hypertrace_set_text_methods(interface);
	/* stream->name stays: sessions take any other for a trace.dat buffer and fail */
	stream->interface = interface;
	hypertrace_set_stream(stream, data->trace);
	ks_stream_attach_plugins(stream);
	return 0;
}

int KSHARK_INPUT_DEINITIALIZER(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface;
	struct hypertrace_stream *data;

	/* KernelShark calls this without a stream as well when it exits */
	if (!stream || stream->stream_id < 0 || !stream->interface)
		return 0;
	interface = stream->interface;
	data = interface->handle;
	interface->handle = NULL;
	virt_registry_set_inside(stream->stream_id, NULL);
	if (data)
		hypertrace_close(data->trace);
	free(data);
	return 0;
}
