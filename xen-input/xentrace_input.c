// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_input.c
 * @brief	KernelShark data-readout plugin: a xentrace file as a data stream.
 *
 * The rows that KernelShark keeps hold times and ids only; all text is made on demand from the
 * file, through a row's offset. A row with a negative offset stands for a damaged place.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkshark.h>
#include <libkshark-plugin.h>

#include "ks_stream.h"
#include "row_pipe.h"
#include "u32_map.h"
#include "virt_registry.h"
#include "xen_activity.h"
#include "xen_trace.h"
#include "xen_tracker.h"

/** The data format; KernelShark keeps 14 characters. */
static const char *format_name = "xentrace";

/* Tasks: idle is 0, as KernelShark expects it; domain 0 begins at 10000, so 1 .. 9999 are free. */
#define PID_IDLE	0
#define PID_UNKNOWN	1
#define PIDS_PER_DOMAIN	(XEN_MAX_VCPU + 1)

/** Arguments that a hypercall record can carry, fields a0 .. a5. */
#define XEN_HYPERCALL_ARGS	6

/** Damaged places that are reported line by line on stderr. */
#define REPORT_LINES	10

/**
 * Our data of a stream. The stock KVM combo dialog takes every handle for one of its own kind and
 * follows the second pointer unless it is NULL.
 */
struct xentrace_stream {
	struct xen_trace	*trace;
	void			*always_null;
	struct u32_map		unknown;	/* event ids that the table does not have */
	bool			*present;	/* by dense id; NULL before loading */
	struct xen_activity	activity;
	bool			reported;
};

/*
 * Dense event ids, as entry->event_id has only 15 bits: first the table, then one for damaged
 * places, then one for all unknown ids that are too many, then the unknown ids as they turn up.
 */
static int id_damaged(void) { return xen_events_count(); }
static int id_overflow(void) { return xen_events_count() + 1; }
static int id_first_unknown(void) { return xen_events_count() + 2; }

static struct xentrace_stream *stream_data(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = stream->interface;

	return interface ? interface->handle : NULL;
}

/** The dense id of a recorded one. Only the decoding thread may call this. */
static int dense_id(struct kshark_data_stream *stream, struct xentrace_stream *xs, uint32_t event)
{
	int id = xen_event_index(event);
	int64_t unknown;

	if (id >= 0)
		return id;
	unknown = u32_map_find(&xs->unknown, event);
	if (unknown < 0 && (int)xs->unknown.n_keys < INT16_MAX - id_first_unknown()) {
		pthread_mutex_lock(&stream->input_mutex);
		unknown = u32_map_add(&xs->unknown, event);
		pthread_mutex_unlock(&stream->input_mutex);
	}
	return unknown < 0 ? id_overflow() : id_first_unknown() + (int)unknown;
}

static int pid_of(xen_vcpu vcpu)
{
	if (vcpu == XEN_VCPU_UNKNOWN)
		return PID_UNKNOWN;
	if (xen_vcpu_is_idle(vcpu))
		return PID_IDLE;
	return (xen_vcpu_domid(vcpu) + 1) * PIDS_PER_DOMAIN + xen_vcpu_id(vcpu);
}

static xen_vcpu vcpu_of(int pid)
{
	if (pid == PID_IDLE)
		return (xen_vcpu)XEN_DOMID_IDLE << 16;
	if (pid < PIDS_PER_DOMAIN)
		return XEN_VCPU_UNKNOWN;
	return (xen_vcpu)(pid / PIDS_PER_DOMAIN - 1) << 16 | pid % PIDS_PER_DOMAIN;
}

/* ---- loading ---- */

static size_t n_rows(const struct xentrace_stream *xs)
{
	const struct xentrace *reader = xen_trace_reader(xs->trace);

	return xentrace_n_records(reader) + xentrace_n_problems(reader);
}

static int compare_problem_times(const void *a, const void *b, void *reader)
{
	const struct xentrace_problem *x = xentrace_problem_at(reader, *(const int *)a);
	const struct xentrace_problem *y = xentrace_problem_at(reader, *(const int *)b);

	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

/** Numbers of the damaged places in order of time. Return: NULL without memory. */
static int *sort_problems(const struct xentrace *reader)
{
	int n = xentrace_n_problems(reader);
	int *order = malloc((n + 1) * sizeof(*order));

	if (!order)
		return NULL;
	for (int i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_problem_times, (void *)reader);
	return order;
}

/** One pass through the trace; what it finds out replaces what the stream knew before. */
struct load {
	struct kshark_data_stream	*stream;
	struct xentrace_stream		*xs;
	struct xen_activity		activity;
	struct xen_tracker		*tracker;
	struct virt_model		*model;		/* when the tracker has come to its end */
	bool				*present;	/* by dense id */
	int				*problems;	/* in order of time */
	int				next_problem;
	int64_t				last_ns;
};

/** Give away the damaged places up to a time. */
static int decode_problems(struct load *load, struct row_pipe *pipe, int64_t until_ns)
{
	const struct xentrace *reader = xen_trace_reader(load->xs->trace);
	const struct xen_clock *clock = xen_trace_clock(load->xs->trace);
	int n = xentrace_n_problems(reader), ret = 0;

	for (; load->next_problem < n && !ret; load->next_problem++) {
		int number = load->problems[load->next_problem];
		const struct xentrace_problem *problem = xentrace_problem_at(reader, number);
		/* without a TSC it was found before the first record of its pCPU */
		int64_t ns = problem->tsc ? xen_clock_ns(clock, problem->tsc) : load->last_ns;
		struct row row = {
			.time_ns = ns < load->last_ns ? load->last_ns : ns,
			.offset = -1 - number, .event = id_damaged(),
			.cpu = problem->pcpu, .pid = PID_UNKNOWN,
		};

		if (ns > until_ns)
			break;
		load->present[row.event] = true;
		load->last_ns = row.time_ns;
		ret = row_pipe_put(pipe, &row);
	}
	return ret;
}

/** The decoding thread: all records in order of time, damaged places where they lie. */
static int decode(void *arg, struct row_pipe *pipe)
{
	struct load *load = arg;
	struct xen_trace_iter *iter = xen_trace_iter_new(load->xs->trace);
	bool damaged = xentrace_n_problems(xen_trace_reader(load->xs->trace)) > 0;
	xen_vcpu last_vcpu = XEN_VCPU_UNKNOWN;
	int last_pid = PID_UNKNOWN;
	struct xen_trace_row from;
	bool first = true;
	int ret = iter ? 0 : -ENOMEM;

	while (!ret && xen_trace_iter_next(iter, &from)) {
		struct row row = {
			.time_ns = from.time_ns, .offset = from.rec.offset,
			.event = dense_id(load->stream, load->xs, from.rec.event),
			.cpu = from.rec.pcpu,
		};

		if (damaged) {
			if (first)
				load->last_ns = from.time_ns;
			first = false;
			ret = decode_problems(load, pipe, from.time_ns);
			load->last_ns = from.time_ns;
		}
		if (from.vcpu != last_vcpu) {
			last_vcpu = from.vcpu;
			last_pid = pid_of(last_vcpu);
		}
		row.pid = last_pid;
		load->present[row.event] = true;
		if (!ret)
			ret = xen_activity_add(&load->activity, row.cpu, row.time_ns, from.vcpu);
		if (!ret)
			ret = xen_tracker_add(load->tracker, &from);
		if (!ret)
			ret = row_pipe_put(pipe, &row);
	}
	if (!ret)
		ret = decode_problems(load, pipe, INT64_MAX);
	if (!ret)
		ret = xen_tracker_finish(load->tracker, &load->model);
	xen_trace_iter_free(iter);
	return ret;
}

/** Where the rows go: KernelShark asks for entries or for columns. */
struct sink {
	struct kshark_data_stream	*stream;
	struct kshark_context		*kshark;
	struct kshark_entry		**rows;
	int16_t				*events, *cpus;
	int32_t				*pids;
	int64_t				*offsets, *times;
	size_t				n;
	bool				filtered;	/* some filter is set */
	bool				processed;	/* calibration or event handlers */
};

typedef int (*put_rows_fn)(struct sink *sink, const struct row *rows, size_t n);

/** Calibration, other plugins' event handlers and filters, as for any entry of KernelShark's. */
static void process_entry(struct sink *sink, struct kshark_entry *entry)
{
	struct xentrace_record rec = { .pcpu = entry->cpu };

	if (entry->offset >= 0)
		xentrace_read_at(xen_trace_reader(stream_data(sink->stream)->trace),
				 entry->offset, &rec);
	if (sink->processed)
		kshark_postprocess_entry(sink->stream, &rec, entry);
	if (sink->filtered)
		kshark_apply_filters(sink->kshark, sink->stream, entry);
}

static int put_entries(struct sink *sink, const struct row *rows, size_t n)
{
	for (; n; n--, rows++) {
		/* one by one: KernelShark frees each row by itself */
		struct kshark_entry *entry = malloc(sizeof(*entry));

		if (!entry)
			return -ENOMEM;
		*entry = (struct kshark_entry){
			.visible = 0xff,
			.stream_id = sink->stream->stream_id,
			.event_id = rows->event,
			.cpu = rows->cpu,
			.pid = rows->pid,
			.offset = rows->offset,
			.ts = rows->time_ns,
		};
		if (sink->processed || sink->filtered)
			process_entry(sink, entry);
		sink->rows[sink->n++] = entry;
	}
	return 0;
}

static int put_columns(struct sink *sink, const struct row *rows, size_t n)
{
	for (; n; n--, rows++) {
		size_t i = sink->n++;

		if (sink->events)
			sink->events[i] = rows->event;
		if (sink->cpus)
			sink->cpus[i] = rows->cpu;
		if (sink->pids)
			sink->pids[i] = rows->pid;
		if (sink->offsets)
			sink->offsets[i] = rows->offset;
		if (sink->times)
			sink->times[i] = rows->time_ns;
	}
	return 0;
}

/** Tell the user once what is wrong with the file. */
static void report(struct xentrace_stream *xs)
{
	char *notes;

	if (xs->reported)
		return;
	xs->reported = true;
	notes = xen_trace_notes(xs->trace, REPORT_LINES);
	if (notes)
		fputs(notes, stderr);
	free(notes);
}

/** The tasks of the stream: everything that was ever on a pCPU. */
static void set_tasks(struct load *load)
{
	kshark_hash_id_add(load->stream->tasks, PID_UNKNOWN);
	for (int cpu = 0; cpu < load->activity.n_pcpus; cpu++) {
		const struct xen_activity_pcpu *pcpu = &load->activity.pcpu[cpu];

		for (uint32_t i = 0; i < pcpu->n; i++)
			kshark_hash_id_add(load->stream->tasks, pid_of(pcpu->switches[i].vcpu));
	}
}

/** The pass has come to its end: keep what it found out. */
static void adopt(struct load *load)
{
	struct xentrace_stream *xs = load->xs;

	pthread_mutex_lock(&load->stream->input_mutex);
	xen_activity_destroy(&xs->activity);
	free(xs->present);
	xs->activity = load->activity;
	xs->present = load->present;
	virt_registry_set(load->stream->stream_id, load->model);
	load->stream->n_events = 0;
	for (int i = 0; i <= INT16_MAX; i++)
		load->stream->n_events += xs->present[i];
	pthread_mutex_unlock(&load->stream->input_mutex);
}

/** Walk through the whole trace and give every row to @put. Return: 0 or a negative errno. */
static int load_rows(struct sink *sink, put_rows_fn put)
{
	struct xentrace_stream *xs = stream_data(sink->stream);
	struct load load = {
		.stream = sink->stream, .xs = xs,
		.present = calloc(INT16_MAX + 1, sizeof(*load.present)),
		.problems = sort_problems(xen_trace_reader(xs->trace)),
		.tracker = xen_tracker_new(xs->trace),
	};
	struct row_pipe *pipe = NULL;
	const struct row *rows;
	int ret = -ENOMEM, ret_decode;
	size_t n;

	if (load.present && load.problems && load.tracker &&
	    !xen_activity_init(&load.activity, xen_trace_n_pcpus(xs->trace)))
		pipe = row_pipe_start(decode, &load);
	if (pipe) {
		for (ret = 0; !ret && (n = row_pipe_get(pipe, &rows)) > 0; )
			ret = put(sink, rows, n);
		ret_decode = row_pipe_finish(pipe);
		ret = ret ? ret : ret_decode;
	}
	free(load.problems);
	xen_tracker_free(load.tracker);
	if (ret) {
		virt_model_free(load.model);
		xen_activity_destroy(&load.activity);
		free(load.present);
		return ret;
	}
	set_tasks(&load);
	adopt(&load);
	report(xs);
	return 0;
}

static ssize_t load_entries(struct kshark_data_stream *stream, struct kshark_context *kshark_ctx,
			    struct kshark_entry ***data_rows)
{
	struct sink sink = {
		.stream = stream, .kshark = kshark_ctx,
		.rows = malloc(n_rows(stream_data(stream)) * sizeof(*sink.rows)),
		.filtered = kshark_filter_is_set(kshark_ctx, stream->stream_id),
		.processed = stream->calib || stream->event_handlers,
	};
	int ret = sink.rows ? load_rows(&sink, put_entries) : -ENOMEM;

	if (ret) {
		while (sink.n)
			free(sink.rows[--sink.n]);
		free(sink.rows);
		fprintf(stderr, "%s: cannot load: %s\n", stream->file, strerror(-ret));
		return ret;
	}
	*data_rows = sink.rows;
	return sink.n;
}

static ssize_t load_matrix(struct kshark_data_stream *stream, struct kshark_context *kshark_ctx,
			   int16_t **event_array, int16_t **cpu_array, int32_t **pid_array,
			   int64_t **offset_array, int64_t **ts_array)
{
	struct sink sink = { .stream = stream, .kshark = kshark_ctx };
	int ret;

	if (!kshark_data_matrix_alloc(n_rows(stream_data(stream)), event_array, cpu_array,
				      pid_array, offset_array, ts_array))
		return -ENOMEM;
	sink.events = event_array ? *event_array : NULL;
	sink.cpus = cpu_array ? *cpu_array : NULL;
	sink.pids = pid_array ? *pid_array : NULL;
	sink.offsets = offset_array ? *offset_array : NULL;
	sink.times = ts_array ? *ts_array : NULL;
	ret = load_rows(&sink, put_columns);
	if (!ret)
		return sink.n;
	free(sink.events);
	free(sink.cpus);
	free(sink.pids);
	free(sink.offsets);
	free(sink.times);
	return ret;
}

/* ---- text and fields, on demand ---- */

/** The record behind a row. Return: false for a damaged place or a stale row. */
static bool record_of(struct xentrace_stream *xs, const struct kshark_entry *entry,
		      struct xentrace_record *rec)
{
	return entry->offset >= 0 &&
	       !xentrace_read_at(xen_trace_reader(xs->trace), entry->offset, rec);
}

static int get_pid(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	(void)stream;
	return entry->pid;
}

static int get_event_id(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	(void)stream;
	return entry->event_id;
}

/** The name of a dense id, class first, as KernelShark shows trace.dat events. */
static int event_name(char *buf, size_t size, struct kshark_data_stream *stream, int id)
{
	struct xentrace_stream *xs = stream_data(stream);
	const struct xen_event *event = xen_event_at(id);
	char name[XEN_EVENT_NAME_SIZE];
	uint32_t recorded = 0;
	bool known = event != NULL;

	if (id == id_damaged())
		return snprintf(buf, size, "xentrace/damaged_data");
	if (id == id_overflow())
		return snprintf(buf, size, "xentrace/unknown");
	if (event) {
		recorded = event->id;
	} else {
		int i = id - id_first_unknown();

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
	struct xentrace_stream *xs = stream_data(stream);
	char name[256];

	xen_vcpu_text(name, sizeof(name), vcpu_of(entry->pid), xen_trace_meta(xs->trace));
	return strdup(name);
}

static char *get_info(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct xentrace_stream *xs = stream_data(stream);
	const struct xentrace_problem *problem;
	struct xentrace_record rec;
	char info[1024] = "";

	if (record_of(xs, entry, &rec)) {
		xen_record_info(info, sizeof(info), &rec, xen_trace_isa(xs->trace));
	} else if (entry->offset < 0) {
		problem = xentrace_problem_at(xen_trace_reader(xs->trace), -1 - entry->offset);
		if (problem)
			xentrace_problem_text(info, sizeof(info), problem);
	}
	return strdup(info);
}

/** The row's time without the calibration that KernelShark may have applied. */
static int64_t own_time(struct xentrace_stream *xs, const struct kshark_entry *entry)
{
	int64_t time_ns;

	if (entry->offset < 0 || xen_trace_time_at(xs->trace, entry->offset, &time_ns))
		return entry->ts;
	return time_ns;
}

static char *get_aux_info(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct xentrace_stream *xs = stream_data(stream);
	int64_t time_ns = own_time(xs, entry);
	char text[128];

	pthread_mutex_lock(&stream->input_mutex);
	xen_activity_text(text, sizeof(text), &xs->activity, entry->cpu, time_ns);
	pthread_mutex_unlock(&stream->input_mutex);
	return strdup(text);
}

static char *dump_entry(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	char *task = get_task(stream, entry), *name = get_event_name(stream, entry);
	char *aux = get_aux_info(stream, entry), *info = get_info(stream, entry);
	char *text = NULL;

	if (task && name && aux && info &&
	    asprintf(&text, "%lli.%09lli; %s-%i; CPU %i; %s; %s; %s; 0x%x",
		     (long long)(entry->ts / 1000000000), (long long)llabs(entry->ts % 1000000000),
		     task, entry->pid, entry->cpu, aux, name, info, entry->visible) < 0)
		text = NULL;
	free(task);
	free(name);
	free(aux);
	free(info);
	return text;
}

static int *get_all_event_ids(struct kshark_data_stream *stream)
{
	struct xentrace_stream *xs = stream_data(stream);
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
	n_unknown = stream_data(stream)->unknown.n_keys;
	pthread_mutex_unlock(&stream->input_mutex);
	for (id = id_damaged(); id < id_first_unknown() + n_unknown; id++) {
		event_name(text, sizeof(text), stream, id);
		if (!strcmp(slash ? text : strchr(text, '/') + 1, event))
			return id;
	}
	return -EINVAL;
}

/** Names of an event's fields while they are collected. */
struct name_list {
	char	**names;
	int	n;
	bool	failed;
};

static bool collect_name(void *arg, const char *name)
{
	struct name_list *list = arg;
	char **moved;

	for (int i = 0; i < list->n; i++)
		if (!strcmp(list->names[i], name))
			return true;
	moved = realloc(list->names, (list->n + 1) * sizeof(*moved));
	if (moved)
		list->names = moved;
	list->failed = !moved || !(list->names[list->n] = strdup(name));
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
		return id < id_overflow() ||
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

	if (!record_of(stream_data(stream), entry, &rec))
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

/* ---- the plugin ---- */

static void free_stream_data(struct xentrace_stream *xs)
{
	if (!xs)
		return;
	xen_trace_close(xs->trace);
	xen_activity_destroy(&xs->activity);
	u32_map_destroy(&xs->unknown);
	free(xs->present);
	free(xs);
}

static struct xentrace_stream *open_stream_data(const char *file)
{
	struct xen_trace_options options = { .drop_behind = true };
	struct xentrace_stream *xs = calloc(1, sizeof(*xs));
	char error[512] = "";

	if (!xs)
		return NULL;
	if (xen_trace_options_from_env(&options, error, sizeof(error)))
		fprintf(stderr, "%s (ignored)\n", error);
	xs->trace = xen_trace_open(file, &options, error, sizeof(error));
	if (!xs->trace) {
		int saved = errno;

		fprintf(stderr, "%s\n", error);
		free(xs);
		errno = saved;
		return NULL;
	}
	return xs;
}

/** KernelShark shows all CPUs of a stream but the idle ones: those without a record. */
static void set_cpus(struct kshark_data_stream *stream, const struct xentrace_stream *xs)
{
	const struct xentrace *reader = xen_trace_reader(xs->trace);
	int cpu = 0;

	stream->n_cpus = xen_trace_n_pcpus(xs->trace);
	for (int i = 0; i < xentrace_n_pcpus(reader); i++) {
		const struct xentrace_pcpu *pcpu = xentrace_pcpu_at(reader, i);

		for (; cpu < pcpu->pcpu; cpu++)
			kshark_hash_id_add(stream->idle_cpus, cpu);
		if (!pcpu->n_records)
			kshark_hash_id_add(stream->idle_cpus, cpu);
		cpu++;
	}
}

static const struct kshark_generic_stream_interface methods = {
	.type = KS_GENERIC_DATA_INTERFACE,
	.get_pid = get_pid,
	.get_event_id = get_event_id,
	.get_event_name = get_event_name,
	.get_task = get_task,
	.get_info = get_info,
	.aux_info = get_aux_info,
	.find_event_id = find_event_id,
	.get_all_event_ids = get_all_event_ids,
	.dump_entry = dump_entry,
	.get_all_event_field_names = get_all_event_field_names,
	.get_event_field_type = get_event_field_type,
	.read_event_field_int64 = read_event_field,
	.read_record_field_int64 = read_record_field,
	.load_entries = load_entries,
	.load_matrix = load_matrix,
};

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
	return xentrace_check(file);
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
	*interface = methods;
	interface->handle = xs;
	stream->interface = interface;
	/* stream->name stays: sessions take any other for a trace.dat buffer and fail */
	stream->n_events = xen_events_count();
	stream->idle_pid = PID_IDLE;
	set_cpus(stream, xs);
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
	interface = stream->interface;
	free_stream_data(interface->handle);
	interface->handle = NULL;
	return 0;
}
