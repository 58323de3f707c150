/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_stream.h
 * @brief	Inside the data-readout plugin: the stream, its ids and pids.
 *
 * The rows that KernelShark keeps hold times and ids only; all text is made on demand from the
 * file, through a row's offset. A row with a negative offset stands for a damaged place.
 */
#ifndef KSHARK_VIRT_XENTRACE_STREAM_H
#define KSHARK_VIRT_XENTRACE_STREAM_H

#include <libkshark.h>
#include <libkshark-plugin.h>

#include "key_map.h"
#include "virt_registry.h"
#include "xen_activity.h"
#include "xen_events.h"
#include "xen_trace.h"

/* Tasks: idle is 0, as KernelShark expects it; domain 0 begins at 10000, so 1 .. 9999 are free. */
#define PID_IDLE	0
#define PID_UNKNOWN	1
#define PIDS_PER_DOMAIN	(XEN_MAX_VCPU + 1)

/**
 * Our data of a stream. The stock KVM combo dialog takes every handle for one of its own kind and
 * follows the second pointer unless it is NULL.
 */
struct xentrace_stream {
	struct xen_trace	*trace;
	void			*always_null;
	struct key_map		unknown;	/* event ids that the table does not have */
	bool			*present;	/* by dense id; NULL before loading */
	struct xen_activity	activity;
	char			*file;		/* that @trace was opened as */
	bool			reported;
	enum xentrace_change	last_change;	/* the last change of the file that was reported */
};

/*
 * Dense event ids, as entry->event_id has only 15 bits: first the table, then one for damaged
 * places, then one for all unknown ids that are too many, then the unknown ids as they turn up.
 */
static inline int xentrace_id_damaged(void) { return xen_events_count(); }
static inline int xentrace_id_overflow(void) { return xen_events_count() + 1; }
static inline int xentrace_id_first_unknown(void) { return xen_events_count() + 2; }

static inline struct xentrace_stream *xentrace_stream_data(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = stream->interface;

	return interface ? interface->handle : NULL;
}

/** xentrace_load_entries, xentrace_load_matrix - the whole trace, as KernelShark asks for it. */
ssize_t xentrace_load_entries(struct kshark_data_stream *stream,
			      struct kshark_context *kshark_ctx,
			      struct kshark_entry ***data_rows);
ssize_t xentrace_load_matrix(struct kshark_data_stream *stream, struct kshark_context *kshark_ctx,
			     int16_t **event_array, int16_t **cpu_array, int32_t **pid_array,
			     int64_t **offset_array, int64_t **ts_array);

/** xentrace_open_trace - as the environment says. Return: NULL with errno, after a message. */
struct xen_trace *xentrace_open_trace(const char *file);

/** xentrace_set_cpus - pass to KernelShark which CPUs the stream has. */
void xentrace_set_cpus(struct kshark_data_stream *stream, const struct xen_trace *trace);

/** xentrace_look - say once, on stderr and to the dock, if the file is not what was opened. */
void xentrace_look(struct kshark_data_stream *stream);

/** xentrace_set_text_methods - all that is made on demand: texts, fields, names. */
void xentrace_set_text_methods(struct kshark_generic_stream_interface *interface);

#endif
