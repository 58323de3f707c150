// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_input.c
 * @brief	KernelShark data-readout plugin: a xentrace file as a data stream.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "ks_stream.h"
#include "virt_registry.h"
#include "xen_window.h"
#include "xentrace_stream.h"

/** The data format; KernelShark keeps 14 characters. */
static const char *format_name = "xentrace";

static void free_stream_data(struct xentrace_stream *xs)
{
	if (!xs)
		return;
	xen_trace_close(xs->trace);
	free(xs->file);
	xen_activity_destroy(&xs->activity);
	key_map_destroy(&xs->unknown);
	free(xs->present);
	free(xs);
}

struct xen_trace *xentrace_open_trace(const char *file)
{
	/* it was one when KernelShark opened it first; who knows what has that name by now */
	struct xen_trace_options options = { .reader.regular_only = true };
	struct xen_trace *trace;
	char error[512] = "";
	int saved;

	if (xen_trace_options_from_env(&options, error, sizeof(error)))
		escape_print(stderr, "", "%s (ignored)", error);
	trace = xen_trace_open(file, &options, error, sizeof(error));
	saved = errno;
	if (!trace)
		escape_print(stderr, "", "%s", error);
	errno = saved;
	return trace;
}

static struct xentrace_stream *open_stream_data(const char *file)
{
	struct xentrace_stream *xs = calloc(1, sizeof(*xs));

	if (!xs)
		return NULL;
	xs->file = strdup(file);
	xs->trace = xs->file ? xentrace_open_trace(file) : NULL;
	if (!xs->trace) {
		int saved = errno;

		free(xs->file);
		free(xs);
		errno = saved;
		return NULL;
	}
	return xs;
}

/** KernelShark shows all CPUs of a stream but the idle ones: those without a record. */
void xentrace_set_cpus(struct kshark_data_stream *stream, const struct xen_trace *trace)
{
	const struct xentrace *reader = xen_trace_reader(trace);
	int cpu = 0;

	kshark_hash_id_clear(stream->idle_cpus);
	stream->n_cpus = xen_trace_n_pcpus(trace);
	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		const struct xentrace_pcpu *pcpu = xentrace_pcpu_at(reader, i);

		for (; cpu < pcpu->pcpu; cpu++)
			kshark_hash_id_add(stream->idle_cpus, cpu);
		if (!pcpu->n_records)
			kshark_hash_id_add(stream->idle_cpus, cpu);
		cpu++;
	}
}

void xentrace_look(struct kshark_data_stream *stream)
{
	struct xentrace_stream *xs = xentrace_stream_data(stream);
	const struct xentrace *reader = xen_trace_reader(xs->trace);
	enum xentrace_change change = xentrace_changed(reader);
	char text[1024];
	bool again;

	if (!change || xentrace_change_text(text, sizeof(text), reader) <= 0)
		return;
	pthread_mutex_lock(&stream->input_mutex);
	again = change <= xs->last_change;
	if (!again)
		xs->last_change = change;
	pthread_mutex_unlock(&stream->input_mutex);
	if (again)
		return;
	escape_print(stderr, "", "%s: what was read is shown; reload it", text);
	ks_stream_note(stream, VIRT_NOTE_CHANGED, text);
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
	return xentrace_check(file) || xen_window_is(file);
}

int KSHARK_INPUT_INITIALIZER(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = malloc(sizeof(*interface));
	struct xentrace_stream *xs = interface ? open_stream_data(stream->file) : NULL;

	if (!xs) {
		int ret = interface && errno ? -errno : -ENOMEM;

		free(interface);
		stream->interface = NULL;
		return ret;
	}
	*interface = (struct kshark_generic_stream_interface){
		.type = KS_GENERIC_DATA_INTERFACE,
		.load_entries = xentrace_load_entries,
		.load_matrix = xentrace_load_matrix,
		.handle = xs,
	};
	xentrace_set_text_methods(interface);
	stream->interface = interface;
	/* stream->name stays: sessions take any other for a trace.dat buffer and fail */
	stream->n_events = xen_events_count();
	stream->idle_pid = PID_IDLE;
	xentrace_set_cpus(stream, xs->trace);
	ks_stream_attach_plugins(stream);
	return 0;
}

int KSHARK_INPUT_DEINITIALIZER(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface;

	/* KernelShark calls this without a stream as well when it exits */
	if (!stream || stream->stream_id < 0 || !stream->interface)
		return 0;
	virt_registry_set(stream->stream_id, NULL);
	ks_stream_note(stream, VIRT_NOTE_CHANGED, NULL);
	ks_stream_note(stream, VIRT_NOTE_DAMAGE, NULL);
	ks_stream_note(stream, VIRT_NOTE_FACTS, NULL);
	ks_stream_note(stream, VIRT_NOTE_CLOCK, NULL);
	ks_stream_note(stream, VIRT_NOTE_SIDECAR, NULL);
	interface = stream->interface;
	free_stream_data(interface->handle);
	interface->handle = NULL;
	return 0;
}
