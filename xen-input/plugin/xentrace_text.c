// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_text.c
 * @brief	Make texts and fields of a xentrace file's rows on demand.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "ks_methods.h"
#include "xen_trace_window.h"
#include "xentrace_stream.h"

/** Arguments that a hypercall record can carry, fields a0 .. a5. */
#define XEN_HYPERCALL_ARGS	6

static xen_vcpu vcpu_of(int pid)
{
	if (pid == PID_IDLE)
		return (xen_vcpu)XEN_DOMID_IDLE << 16;
	if (pid < PIDS_PER_DOMAIN)
		return XEN_VCPU_UNKNOWN;
	return (xen_vcpu)(pid / PIDS_PER_DOMAIN - 1) << 16 | pid % PIDS_PER_DOMAIN;
}

/** The record behind a row. Return: false for a damaged place or what cannot be read any more. */
static bool record_of(struct kshark_data_stream *stream, const struct kshark_entry *entry,
		      struct xentrace_record *rec)
{
	struct xentrace_stream *xs = xentrace_stream_data(stream);

	if (entry->offset < 0)
		return false;
	xentrace_look(stream);
	return !xentrace_read_at(xen_trace_reader(xs->trace), entry->offset, rec);
}

/** The name of a dense id, class first, as KernelShark shows trace.dat events. */
static int event_name(char *buf, size_t size, struct kshark_data_stream *stream, int id)
{
	struct xentrace_stream *xs = xentrace_stream_data(stream);
	const struct xen_event *event = xen_event_at(id);
	char name[XEN_EVENT_NAME_SIZE];
	uint32_t recorded = 0;
	bool known = event != NULL;

	if (id == xentrace_id_damaged())
		return snprintf(buf, size, "xentrace/damaged_data");
	if (id == xentrace_id_overflow())
		return snprintf(buf, size, "xentrace/unknown");
	if (event) {
		recorded = event->id;
	} else {
		int i = id - xentrace_id_first_unknown();

		pthread_mutex_lock(&stream->input_mutex);
		known = i >= 0 && i < (int)xs->unknown.n_keys;
		if (known)
			recorded = xs->unknown.keys[i];
		pthread_mutex_unlock(&stream->input_mutex);
	}
	if (!known)
		return snprintf(buf, size, "xentrace/unknown");
	xen_event_name(name, sizeof(name), recorded);
	return snprintf(buf, size, "%s/%s", xen_event_class(recorded), name);
}

static char *get_event_name(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	char name[128];

	event_name(name, sizeof(name), stream, entry->event_id);
	return strdup(name);
}

static char *get_task(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct xentrace_stream *xs = xentrace_stream_data(stream);
	char name[256];

	xen_vcpu_text(name, sizeof(name), vcpu_of(entry->pid), xen_trace_meta(xs->trace));
	return escape_dup(name);
}

static char *get_info(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct xentrace_stream *xs = xentrace_stream_data(stream);
	const struct xentrace *reader = xen_trace_reader(xs->trace);
	const struct xentrace_problem *problem = NULL;
	struct xentrace_record rec;
	char info[1024] = "";

	if (entry->offset < 0)
		problem = xentrace_problem_at(reader, -1 - entry->offset);
	if (problem)
		xentrace_problem_text(info, sizeof(info), problem);
	else if (record_of(stream, entry, &rec))
		xen_record_info(info, sizeof(info), &rec, xen_trace_isa(xs->trace));
	else if (!xentrace_change_text(info, sizeof(info), reader) && xen_trace_window(xs->trace))
		snprintf(info, sizeof(info), "no record of the trace lies in this window");
	return strdup(info);
}

/** The row's time without what KernelShark may have added to it. Return: 0 or -errno. */
static int own_time(struct xentrace_stream *xs, const struct kshark_entry *entry, int64_t *time_ns)
{
	if (entry->offset >= 0)
		return xen_trace_time_at(xs->trace, entry->offset, time_ns);
	*time_ns = entry->ts;
	return 0;
}

static char *get_aux_info(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct xentrace_stream *xs = xentrace_stream_data(stream);
	int64_t time_ns;
	char text[128] = "";

	xentrace_look(stream);
	if (own_time(xs, entry, &time_ns))
		return strdup(text);
	pthread_mutex_lock(&stream->input_mutex);
	xen_activity_text(text, sizeof(text), &xs->activity, entry->cpu, time_ns);
	pthread_mutex_unlock(&stream->input_mutex);
	return strdup(text);
}

static int *get_all_event_ids(struct kshark_data_stream *stream)
{
	struct xentrace_stream *xs = xentrace_stream_data(stream);
	int *ids, n = 0;

	pthread_mutex_lock(&stream->input_mutex);
	ids = calloc(stream->n_events + 1, sizeof(*ids));
	for (int i = 0; ids && i <= INT16_MAX && n < stream->n_events; i++)
		if (xs->present ? xs->present[i] : i < xen_events_count())
			ids[n++] = i;
	pthread_mutex_unlock(&stream->input_mutex);
	return ids;
}

/** With or without the class in front. */
static int find_event_id(struct kshark_data_stream *stream, const char *event)
{
	const char *slash = event ? strchr(event, '/') : NULL;
	char text[128];
	int id, n_unknown;

	/* the stock latency plugin asks for the event NULL until the user has chosen one */
	if (!event)
		return -EINVAL;
	id = xen_event_find(slash ? slash + 1 : event);
	if (id >= 0) {
		event_name(text, sizeof(text), stream, id);
		return !slash || !strcmp(text, event) ? id : -EINVAL;
	}
	pthread_mutex_lock(&stream->input_mutex);
	n_unknown = xentrace_stream_data(stream)->unknown.n_keys;
	pthread_mutex_unlock(&stream->input_mutex);
	for (id = xentrace_id_damaged(); id < xentrace_id_first_unknown() + n_unknown; id++) {
		event_name(text, sizeof(text), stream, id);
		if (!strcmp(slash ? text : strchr(text, '/') + 1, event))
			return id;
	}
	return -EINVAL;
}

/** Names of an event's fields while they are collected. */
struct name_list {
	char	**names;
	int	n, room;
	bool	failed;
};

static bool collect_name(void *arg, const char *name)
{
	struct name_list *list = arg;

	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->names[i], name))
			return true;
	list->failed = ARRAY_GROW(list->names, list->n, list->room) ||
		       !(list->names[list->n] = strdup(name));
	list->n += !list->failed;
	return !list->failed;
}

static bool is_not_name(void *arg, const char *name)
{
	return strcmp(arg, name) != 0;
}

typedef bool (*name_fn)(void *arg, const char *name);

/** Visit names that are numbered: w0 w1 ... */
static bool visit_numbered(char letter, int n, name_fn fn, void *arg)
{
	for (int i = 0; i < n; i++) {
		const char name[] = { letter, '0' + i, '\0' };

		if (!fn(arg, name))
			return false;
	}
	return true;
}

/**
 * Visit the names of all fields that records of an event may have, some more than once. KernelShark
 * asks for an event's fields with an entry that has nothing but an event id.
 *
 * Return: false if @fn did, to stop.
 */
static bool visit_field_names(int id, name_fn fn, void *arg)
{
	const struct xen_event *event = xen_event_at(id);

	if (!event)
		return id < xentrace_id_overflow() ||
		       visit_numbered('w', XENTRACE_MAX_WORDS, fn, arg);
	for (const struct xen_layout *layout = event->layouts; layout->n_words >= 0; layout++)
		for (const struct xen_field *field = layout->fields; field->name; field++)
			if (field->kind == XEN_FIELD_HYPERCALL_ARGS
				    ? !visit_numbered('a', XEN_HYPERCALL_ARGS, fn, arg)
				    : !fn(arg, field->name))
				return false;
	return true;
}

static int get_all_event_field_names(struct kshark_data_stream *stream,
				     const struct kshark_entry *entry, char ***names)
{
	struct name_list list = { 0 };

	(void)stream;
	*names = NULL;
	visit_field_names(entry->event_id, collect_name, &list);
	if (list.failed) {
		while (list.n)
			free(list.names[--list.n]);
		free(list.names);
		return -ENOMEM;
	}
	*names = list.names;
	return list.n;
}

static int read_event_field(struct kshark_data_stream *stream,
				  const struct kshark_entry *entry, const char *field,
				  int64_t *value)
{
	struct xentrace_record rec;

	if (!record_of(stream, entry, &rec))
		return -EINVAL;
	return xen_record_field(&rec, field, value);
}

static int read_record_field(struct kshark_data_stream *stream, void *record,
				   const char *field, int64_t *value)
{
	(void)stream;
	return xen_record_field(record, field, value);
}

static kshark_event_field_format get_event_field_type(struct kshark_data_stream *stream,
						      const struct kshark_entry *entry,
						      const char *field)
{
	(void)stream;
	return visit_field_names(entry->event_id, is_not_name, (void *)field) ? KS_INVALID_FIELD
									       : KS_INTEGER_FIELD;
}

void xentrace_set_text_methods(struct kshark_generic_stream_interface *interface)
{
	interface->get_pid = ks_methods_pid;
	interface->get_event_id = ks_methods_event_id;
	interface->get_event_name = get_event_name;
	interface->get_task = get_task;
	interface->get_info = get_info;
	interface->aux_info = get_aux_info;
	interface->find_event_id = find_event_id;
	interface->get_all_event_ids = get_all_event_ids;
	interface->dump_entry = ks_methods_dump;
	interface->get_all_event_field_names = get_all_event_field_names;
	interface->get_event_field_type = get_event_field_type;
	interface->read_event_field_int64 = read_event_field;
	interface->read_record_field_int64 = read_record_field;
}
