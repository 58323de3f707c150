// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hypertrace_text.c
 * @brief	Make texts and fields of a guest's rows on demand.
 *
 * KernelShark asks in several threads. The data changes only in hypertrace_load.c, while no thread
 * asks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "hyper_text.h"
#include "hypertrace_stream.h"
#include "ks_methods.h"

/** Fields that are numbers. */
static const enum hyper_field fields[] = {
	HYPER_F_ADDRESS, HYPER_F_DEPTH, HYPER_F_CPU, HYPER_F_PID, HYPER_F_TGID, HYPER_F_PREV_PID,
	HYPER_F_PREV_TGID, HYPER_F_PREV_STATE, HYPER_F_PRIO, HYPER_F_NUMBER, HYPER_F_VALUE,
	HYPER_F_BEFORE,
};

#define N_FIELDS	((int)(sizeof(fields) / sizeof(fields[0])))

static const struct guest_trace *trace_of(struct kshark_data_stream *stream)
{
	return hypertrace_stream_data(stream)->trace;
}

static char *get_event_name(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	const char *name = guest_rows_name(&trace_of(stream)->rows, entry->event_id);
	char *text;

	if (asprintf(&text, HYPERTRACE_CLASS "%s", name ? name : "unknown") < 0)
		return NULL;
	return text;
}

static char *get_task(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	const struct hyper_task *task;

	if (entry->pid == 0)
		return strdup("<idle>");
	if (entry->pid == PID_UNKNOWN)
		return strdup("unknown");
	task = hyper_guest_task(trace_of(stream)->rows.guest, entry->pid);
	return task && *task->comm ? escape_dup(task->comm) : strdup("<...>");
}

static char *get_info(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	const struct guest_trace *trace = trace_of(stream);
	char text[GUEST_ROWS_TEXT] = "";

	if (entry->offset >= 0 && (size_t)entry->offset < trace->rows.n)
		guest_rows_text(text, sizeof(text), &trace->rows, (size_t)entry->offset,
				trace->symbols);
	return escape_dup(text);
}

/** With or without the class in front. */
static int find_event_id(struct kshark_data_stream *stream, const char *event)
{
	size_t n = strlen(HYPERTRACE_CLASS);
	int id;

	/* the stock latency plugin asks for the event NULL until the user has chosen one */
	if (!event)
		return -EINVAL;
	id = guest_rows_find(&trace_of(stream)->rows,
			     strncmp(event, HYPERTRACE_CLASS, n) != 0 ? event : event + n);
	return id < 0 ? -EINVAL : id;
}

/** Which fields a row has is known of a row alone, and KernelShark asks with an event alone. */
static int get_all_event_field_names(struct kshark_data_stream *stream,
				     const struct kshark_entry *entry, char ***names)
{
	char **list = calloc(N_FIELDS, sizeof(*list));
	int n = 0;

	(void)stream;
	(void)entry;
	*names = NULL;
	while (list && n < N_FIELDS && (list[n] = strdup(hyper_field_name(fields[n]))))
		n++;
	if (n == N_FIELDS) {
		*names = list;
		return n;
	}
	while (n)
		free(list[--n]);
	free(list);
	return -ENOMEM;
}

/** Return: HYPER_F_NONE if there is none of that name. */
static enum hyper_field find_field(const char *name)
{
	for (int i = 0; i < N_FIELDS; i++)
		if (!strcmp(hyper_field_name(fields[i]), name))
			return fields[i];
	return HYPER_F_NONE;
}

static int read_row_field(const struct guest_rows *rows, size_t row, const char *name,
			  int64_t *value)
{
	enum hyper_field field = find_field(name);
	struct hyper_event event;

	if (field == HYPER_F_NONE || row >= rows->n || !guest_rows_event(rows, row, &event) ||
	    !hyper_event_field(&event, field, value))
		return -EINVAL;
	return 0;
}

static int read_event_field(struct kshark_data_stream *stream, const struct kshark_entry *entry,
			    const char *field, int64_t *value)
{
	return entry->offset < 0 ? -EINVAL :
	       read_row_field(&trace_of(stream)->rows, (size_t)entry->offset, field, value);
}

/** @record: as kshark_postprocess_entry() was given it. */
static int read_record_field(struct kshark_data_stream *stream, void *record, const char *field,
			     int64_t *value)
{
	const struct guest_rows *rows = &trace_of(stream)->rows;
	const struct guest_row *row = record;

	return read_row_field(rows, (size_t)(row - rows->rows), field, value);
}

static kshark_event_field_format get_event_field_type(struct kshark_data_stream *stream,
						      const struct kshark_entry *entry,
						      const char *field)
{
	(void)stream;
	(void)entry;
	return find_field(field) == HYPER_F_NONE ? KS_INVALID_FIELD : KS_INTEGER_FIELD;
}

void hypertrace_set_text_methods(struct kshark_generic_stream_interface *interface)
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
