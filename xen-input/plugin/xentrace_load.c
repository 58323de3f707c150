// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_load.c
 * @brief	Load a xentrace file into the rows of KernelShark, and into the vCPU model.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "block_pipe.h"
#include "ks_next.h"
#include "ks_stream.h"
#include "virt_registry.h"
#include "xen_trace_window.h"
#include "xen_tracker_feed.h"
#include "xentrace_stream.h"

/** Damaged places that are reported line by line on stderr. */
#define REPORT_LINES	10

/** The dense id of a recorded one. Only the decoding thread may call this. */
static int dense_id(struct kshark_data_stream *stream, struct xentrace_stream *xs, uint32_t event)
{
	int id = xen_event_index(event);
	int64_t unknown;

	if (id >= 0)
		return id;
	unknown = key_map_find(&xs->unknown, event);
	if (unknown < 0 && (int)xs->unknown.n_keys < INT16_MAX - xentrace_id_first_unknown()) {
		pthread_mutex_lock(&stream->input_mutex);
		unknown = key_map_add(&xs->unknown, event);
		pthread_mutex_unlock(&stream->input_mutex);
	}
	return unknown < 0 ? xentrace_id_overflow() : xentrace_id_first_unknown() + (int)unknown;
}

static int pid_of(xen_vcpu vcpu)
{
	if (vcpu == XEN_VCPU_UNKNOWN)
		return PID_UNKNOWN;
	if (xen_vcpu_is_idle(vcpu))
		return PID_IDLE;
	return xen_vcpu_tid(vcpu);
}

/** One more than there can be: what nothing can be read of has a row that says so. */
static size_t n_rows(const struct xentrace_stream *xs)
{
	const struct xentrace *reader = xen_trace_reader(xs->trace);

	return xentrace_n_records(reader) + xentrace_n_problems(reader) + 1;
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

/** What KernelShark keeps of a record. */
struct row {
	int64_t	time_ns;
	int64_t	offset;
	int32_t	pid;
	int16_t	event;
	int16_t	cpu;
};

/** Enough that neither side waits for the other's hiccups. */
static const struct block_pipe_size pipe_size = {
	.item = sizeof(struct row), .block = 8192, .n_blocks = 16,
};

/** One pass through the trace; what it finds out replaces what the stream knew before. */
struct load {
	struct kshark_data_stream	*stream;
	struct xentrace_stream		*xs;
	struct xen_activity		activity;
	struct xen_tracker		*tracker;
	struct virt_model		*model;		/* when the tracker has come to its end */
	const struct xen_trace_span	*window;	/* what is shown; NULL: all */
	bool				*present;	/* by dense id */
	int				*problems;	/* in order of time */
	int				next_problem;
	int64_t				last_ns;
	bool				damaged, begun;
	size_t				n_shown;	/* rows */
	xen_vcpu			last_vcpu;
	int32_t				last_pid;	/* of last_vcpu */
	struct block_pipe		*pipe;
	struct row			*block;		/* that is being filled */
	size_t				n_block;
};

/** Give a row away. Return: 0, or -ECANCELED if the receiver wants no more. */
static inline int put_row(struct load *load, const struct row *row)
{
	int ret;

	load->block[load->n_block++] = *row;
	if (load->n_block < pipe_size.block)
		return 0;
	ret = block_pipe_give(load->pipe, load->n_block);
	load->block = block_pipe_room(load->pipe);
	load->n_block = 0;
	return ret;
}

/** Give away the damaged places up to a time. */
static int decode_problems(struct load *load, int64_t until_ns)
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
			.offset = -1 - number, .event = xentrace_id_damaged(),
			.cpu = problem->pcpu, .pid = PID_UNKNOWN,
		};

		if (ns > until_ns)
			break;
		load->last_ns = row.time_ns;
		if (!xen_trace_shows(load->window, row.time_ns))
			continue;
		load->present[row.event] = true;
		load->n_shown++;
		ret = put_row(load, &row);
	}
	return ret;
}

/** Records that are looked at several times in a row: they stay in the nearest cache. */
#define NEAR_ROWS	256

/** Nothing can be read any more, or is in the window, and KernelShark cannot do with nothing. */
static int decode_nothing(struct load *load)
{
	const struct row row = {
		.time_ns = load->window ? load->window->from_ns : 0,
		.offset = -1 - INT16_MAX, .event = xentrace_id_damaged(), .pid = PID_UNKNOWN,
	};

	load->present[row.event] = true;
	return put_row(load, &row);
}

/** Give away the damaged places up to a record. */
static int decode_problems_before(struct load *load, const struct xen_trace_row *from)
{
	int ret;

	if (!load->begun)
		load->last_ns = from->time_ns;
	load->begun = true;
	ret = decode_problems(load, from->time_ns);
	load->last_ns = from->time_ns;
	return ret;
}

static int decode_rows(struct load *load, const struct xen_trace_row *rows, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		const struct xen_trace_row *from = &rows[i];
		struct row row = {
			.time_ns = from->time_ns, .offset = from->rec.offset,
			.event = dense_id(load->stream, load->xs, from->rec.event),
			.cpu = from->rec.pcpu,
		};

		if (from->vcpu != load->last_vcpu) {
			load->last_vcpu = from->vcpu;
			load->last_pid = pid_of(from->vcpu);
		}
		row.pid = load->last_pid;
		if (load->damaged)
			ret = decode_problems_before(load, from);
		if (!ret)
			ret = xen_activity_add(&load->activity, row.cpu, row.time_ns, from->vcpu);
		if (!ret)
			ret = xen_tracker_feed(load->tracker, from);
		/* what is before and behind a window, the tracker alone needs */
		if (ret || !xen_trace_shows(load->window, row.time_ns))
			continue;
		load->present[row.event] = true;
		load->n_shown++;
		ret = put_row(load, &row);
	}
	return ret;
}

/** Where records are missing up to the end, it is unknown who was on a pCPU. */
static int decode_ends(struct load *load)
{
	const struct xentrace *reader = xen_trace_reader(load->xs->trace);
	int ret = 0;

	for (int i = 0; i < xentrace_n_pcpus(reader) && !ret; i++) {
		int64_t until_ns = xen_trace_known_until(load->xs->trace, i);

		if (until_ns != INT64_MAX)
			ret = xen_activity_add(&load->activity, xentrace_pcpu_at(reader, i)->pcpu,
					       until_ns + 1, XEN_VCPU_UNKNOWN);
	}
	return ret;
}

/** The decoding thread: all records in order of time, damaged places where they lie. */
static int decode(void *arg, struct block_pipe *pipe)
{
	struct load *load = arg;
	struct xen_trace_iter *iter = xen_trace_iter_new(load->xs->trace);
	struct xen_trace_row rows[NEAR_ROWS];
	size_t n = NEAR_ROWS;
	int ret = iter ? 0 : -ENOMEM, ret_read;

	load->pipe = pipe;
	load->block = block_pipe_room(pipe);
	load->damaged = xentrace_n_problems(xen_trace_reader(load->xs->trace)) > 0;
	while (!ret && n == NEAR_ROWS) {
		n = xen_trace_iter_read(iter, rows, NEAR_ROWS);
		xen_trace_iter_observe(iter, rows, n);
		ret = decode_rows(load, rows, n);
	}
	ret_read = xen_trace_iter_free(iter);
	if (!ret)
		ret = ret_read;
	if (!ret)
		ret = decode_problems(load, INT64_MAX);
	if (!ret)
		ret = decode_ends(load);
	if (!ret && !load->n_shown)
		ret = decode_nothing(load);
	if (!ret)
		ret = block_pipe_give(pipe, load->n_block);
	if (!ret)
		ret = xen_tracker_finish(load->tracker, &load->model);
	return ret;
}

/** Where the rows go: KernelShark asks for entries or for columns. */
struct sink {
	struct kshark_data_stream	*stream;
	struct kshark_context		*kshark;
	struct kshark_entry		**rows;
	struct ks_next			next;
	int16_t				*events, *cpus;
	int32_t				*pids;
	int64_t				*offsets, *times;
	size_t				n, room;
	bool				filtered;	/* some filter is set */
	bool				processed;	/* calibration or event handlers */
};

typedef int (*put_rows_fn)(struct sink *sink, const struct row *rows, size_t n);

/** Calibration, other plugins' event handlers and filters, as for any entry of KernelShark's. */
static void process_entry(struct sink *sink, struct kshark_entry *entry)
{
	struct xentrace_record rec = { .pcpu = entry->cpu };

	/* reading takes time: only for those who want to know */
	if (entry->offset >= 0 &&
	    kshark_find_event_handler(sink->stream->event_handlers, entry->event_id))
		xentrace_read_at(xen_trace_reader(xentrace_stream_data(sink->stream)->trace),
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
		ks_next_add(&sink->next, entry);
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

static const char *source_of(const struct xen_clock *clock)
{
	static const char *const sources[] = {
		[XEN_CLOCK_OPTION] = "from --cpu-hz or XEN_CPUHZ",
		[XEN_CLOCK_SIDECAR] = "from its sidecar",
		[XEN_CLOCK_CALIBRATED] = "from run times in the trace",
		[XEN_CLOCK_ASSUMED] = "assumed",
	};

	return sources[clock->source];
}

/** Report once what is wrong with the file, and what its clock is. */
static void report(struct kshark_data_stream *stream, struct xentrace_stream *xs)
{
	const struct xen_clock *clock = xen_trace_clock(xs->trace);
	char *notes, *damage;

	if (xs->reported)
		return;
	xs->reported = true;
	notes = xen_trace_notes(xs->trace, REPORT_LINES);
	if (notes)
		fputs(notes, stderr);
	if (virt_registry_set_note(stream->stream_id, VIRT_NOTE_FACTS,
				   notes && *notes ? notes : NULL))
		fprintf(stderr, "%s: not enough memory for its notes\n", stream->file);
	free(notes);
	damage = xentrace_report(xen_trace_reader(xs->trace), stream->file, 0);
	if (damage)
		damage[strcspn(damage, "\n")] = '\0';
	ks_stream_note(stream, VIRT_NOTE_DAMAGE, damage);
	ks_stream_note(stream, VIRT_NOTE_SIDECAR, xen_trace_meta_error(xs->trace));
	ks_stream_note_clock(stream, clock->hz, source_of(clock));
	free(damage);
}

/**
 * KernelShark loads anew what it has opened long ago: if that is not what the file is now, or
 * another window of it is wanted, open it anew, too. What cannot be opened any more goes on being
 * shown, as far as it can be read.
 */
static void reopen(struct kshark_data_stream *stream)
{
	struct xentrace_stream *xs = xentrace_stream_data(stream);
	bool is_other = strcmp(xs->file, stream->file);
	struct xen_trace *trace;
	char *file;

	if (!is_other && !xentrace_changed(xen_trace_reader(xs->trace)))
		return;
	file = strdup(stream->file);
	trace = file ? xentrace_open_trace(file) : NULL;
	if (!trace) {
		free(file);
		return;
	}
	pthread_mutex_lock(&stream->input_mutex);
	xen_trace_close(xs->trace);
	free(xs->file);
	xs->file = file;
	xs->trace = trace;
	xs->reported = false;
	xs->last_change = XENTRACE_UNCHANGED;
	xentrace_set_cpus(stream, trace);
	pthread_mutex_unlock(&stream->input_mutex);
	ks_stream_note(stream, VIRT_NOTE_CHANGED, NULL);
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
	struct xentrace_stream *xs = xentrace_stream_data(sink->stream);
	struct load load = {
		.stream = sink->stream, .xs = xs,
		.present = calloc(INT16_MAX + 1, sizeof(*load.present)),
		.problems = sort_problems(xen_trace_reader(xs->trace)),
		.tracker = xen_tracker_new(xs->trace),
		.window = xen_trace_window(xs->trace),
		.last_vcpu = XEN_VCPU_UNKNOWN, .last_pid = PID_UNKNOWN,
	};
	struct block_pipe *pipe = NULL;
	void *rows;
	int ret = -ENOMEM, ret_decode;
	size_t n;

	if (load.present && load.problems && load.tracker &&
	    !xen_activity_init(&load.activity, xen_trace_n_pcpus(xs->trace)))
		pipe = block_pipe_start(&pipe_size, decode, &load);
	if (pipe) {
		for (ret = 0; !ret && (n = block_pipe_get(pipe, &rows)) > 0; )
			/* a file written anew may seem to have more than there was room made for */
			ret = put(sink, rows, n < sink->room - sink->n ? n : sink->room - sink->n);
		ret_decode = block_pipe_finish(pipe);
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
	report(sink->stream, xs);
	xentrace_look(sink->stream);
	return 0;
}

ssize_t xentrace_load_entries(struct kshark_data_stream *stream,
			      struct kshark_context *kshark_ctx,
			      struct kshark_entry ***data_rows)
{
	struct sink sink = {
		.stream = stream, .kshark = kshark_ctx,
		.filtered = kshark_filter_is_set(kshark_ctx, stream->stream_id),
		.processed = stream->calib || stream->event_handlers,
	};
	int ret;

	reopen(stream);
	sink.room = n_rows(xentrace_stream_data(stream));
	sink.rows = malloc(sink.room * sizeof(*sink.rows));
	ret = ks_next_init(&sink.next, stream->n_cpus);
	if (!ret)
		ret = sink.rows ? load_rows(&sink, put_entries) : -ENOMEM;
	ks_next_destroy(&sink.next);
	if (ret) {
		while (sink.n)
			free(sink.rows[--sink.n]);
		free(sink.rows);
		escape_print(stderr, "", "%s: cannot load: %s", stream->file,
			     virt_model_problem(ret));
		return ret;
	}
	*data_rows = sink.rows;
	return sink.n;
}

ssize_t xentrace_load_matrix(struct kshark_data_stream *stream, struct kshark_context *kshark_ctx,
			     int16_t **event_array, int16_t **cpu_array, int32_t **pid_array,
			     int64_t **offset_array, int64_t **ts_array)
{
	struct sink sink = { .stream = stream, .kshark = kshark_ctx };
	int ret;

	reopen(stream);
	sink.room = n_rows(xentrace_stream_data(stream));
	if (!kshark_data_matrix_alloc(sink.room, event_array, cpu_array, pid_array, offset_array,
				      ts_array))
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
