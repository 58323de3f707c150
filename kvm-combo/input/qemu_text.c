// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	qemu_text.c
 * @brief	Make texts of a monitor's rows on demand.
 *
 * KernelShark asks in several threads. The data changes only in qemu_load.c, while no thread asks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "ks_methods.h"
#include "qemu_stream.h"

/** Of a line's arguments, what is shown. */
#define MAX_TEXT	2048

static char *get_event_name(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	const char *name = monitor_trace_event(qemu_log_of(stream)->trace,
					       (uint32_t)entry->event_id);
	char *text;

	if (asprintf(&text, QEMU_CLASS "%s", name ? name : "unknown") < 0)
		return NULL;
	return text;
}

/** As the host's trace calls it. */
static char *get_task(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	const struct qemu_log *log = qemu_log_of(stream);
	const char *name = monitor_meta_name(&log->meta, entry->pid);

	return name ? escape_dup(name) : strdup("qemu");
}

static char *get_info(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	const struct monitor_trace *trace = qemu_log_of(stream)->trace;
	const struct monitor_record *records;
	char text[MAX_TEXT] = "";
	size_t n;

	records = monitor_trace_records(trace, &n);
	if (entry->offset >= 0 && (size_t)entry->offset < n)
		monitor_trace_text(trace, &records[entry->offset], text, sizeof(text));
	return escape_dup(text);
}

/** With or without the class in front. */
static int find_event_id(struct kshark_data_stream *stream, const char *event)
{
	const struct monitor_trace *trace = qemu_log_of(stream)->trace;
	size_t n = strlen(QEMU_CLASS);

	/* the stock latency plugin asks for the event NULL until the user has chosen one */
	if (!event)
		return -EINVAL;
	if (!strncmp(event, QEMU_CLASS, n))
		event += n;
	for (uint32_t i = 0; i < monitor_trace_n_events(trace); i++)
		if (!strcmp(monitor_trace_event(trace, i), event))
			return (int)i;
	return -EINVAL;
}

/** Arguments are text: KernelShark has no fields of it. */
static int get_all_event_field_names(struct kshark_data_stream *stream,
				     const struct kshark_entry *entry, char ***names)
{
	(void)stream;
	(void)entry;
	*names = NULL;
	return 0;
}

static kshark_event_field_format get_event_field_type(struct kshark_data_stream *stream,
						      const struct kshark_entry *entry,
						      const char *field)
{
	(void)stream;
	(void)entry;
	(void)field;
	return KS_INVALID_FIELD;
}

static int read_event_field(struct kshark_data_stream *stream, const struct kshark_entry *entry,
			    const char *field, int64_t *value)
{
	(void)stream;
	(void)entry;
	(void)field;
	(void)value;
	return -EINVAL;
}

static int read_record_field(struct kshark_data_stream *stream, void *record, const char *field,
			     int64_t *value)
{
	(void)stream;
	(void)record;
	(void)field;
	(void)value;
	return -EINVAL;
}

void qemu_set_text_methods(struct kshark_generic_stream_interface *interface)
{
	interface->get_pid = ks_methods_pid;
	interface->get_event_id = ks_methods_event_id;
	interface->get_event_name = get_event_name;
	interface->get_task = get_task;
	interface->get_info = get_info;
	interface->aux_info = ks_methods_no_aux_info;
	interface->find_event_id = find_event_id;
	interface->get_all_event_ids = ks_methods_all_event_ids;
	interface->dump_entry = ks_methods_dump;
	interface->get_all_event_field_names = get_all_event_field_names;
	interface->get_event_field_type = get_event_field_type;
	interface->read_event_field_int64 = read_event_field;
	interface->read_record_field_int64 = read_record_field;
}
