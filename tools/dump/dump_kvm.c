// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	dump_kvm.c
 * @brief	kshark-virt dump of a KVM host and its guests: their records on one time axis.
 *
 * The model of the host is made first. Then each trace gives its records in order of time, and the
 * earliest one of all traces is next. Memory holds one record of each trace.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump.h"
#include "heap.h"
#include "json_writer.h"
#include "kvm_trace_symbols.h"
#include "model_load.h"
#include "model_vcpus.h"
#include "progress.h"
#include "table.h"

/** What the host is called among the machines. */
#define HOST_NAME	"host"

/** The event that stands for missing records, as in Xen's traces. */
#define LOST_EVENT	"lost_records"

/** Widths in text: the longest state is "hypervisor". */
#define STATE_WIDTH	10

/** A trace, and its next record. */
struct stream {
	struct kvm_trace *trace;
	const struct stream *outer;	/* of a guest of a guest: that guest; else NULL */
	int		number;		/* the order of records with the same time */
	bool		is_host;
	bool		is_wanted;	/* by --machine */
	char		name[128];
	int32_t		*vcpus;		/* of a guest, by CPU: global index, or VIRT_NONE */
	const int	*tids;		/* of a guest of a guest: threads of @outer, by CPU */
	int		n_tids;
	int32_t		*pids;		/* by CPU: the thread that has it now; VIRT_NONE: unknown */
	int		n_cpus;
	struct kvm_trace_line line;
};

struct kvm_dump {
	const struct dump_kvm *options;
	struct model_load load;
	struct stream	*streams;
	int		n_streams;
	struct stream	**heap;
	size_t		n;		/* of @heap */
	int64_t		from_ns, to_ns;
	size_t		machine_width, vcpu_width;
	uint64_t	n_written;
	bool		is_empty;	/* no record lies in the window */
	struct output	*out;
	struct table_writer rows;	/* not of text */
	struct progress	progress;
};

/** What is shown of a record, or of records that are missing. */
struct kvm_row {
	const struct stream *stream;
	const struct kvm_trace_line *line;
	int32_t		vcpu;		/* global index, or VIRT_NONE */
	const struct virt_interval *interval;	/* of @vcpu at that time, or NULL */
	int32_t		pcpu;		/* or VIRT_NONE */
	bool		is_loss;
	char		task[GUEST_TASK_NAME];
	const char	*system, *event, *info;
	char		info_room[64], event_room[32];
};

/* --- formats --------------------------------------------------------------------------------- */

static const char *vcpu_of(const struct kvm_dump *dump, const struct kvm_row *row)
{
	return row->vcpu == VIRT_NONE ? "" : virt_model_vcpu(dump->load.model, row->vcpu)->name;
}

static const char *state_of(const struct kvm_row *row)
{
	return row->interval ? virt_state_name((enum virt_state)row->interval->state) : "";
}

static void write_text(struct kvm_dump *dump, const struct kvm_row *row)
{
	const char *vcpu = vcpu_of(dump, row), *state = state_of(row);
	struct output *out = dump->out;

	out_text_left(out, row->stream->name, dump->machine_width);
	out_char(out, ' ');
	out_text_right(out, *row->task ? row->task : "-", DUMP_TASK_WIDTH);
	dump_text_place(out, row->line->cpu, row->line->time_ns);
	out_char(out, ' ');
	out_text_left(out, *vcpu ? vcpu : "-", dump->vcpu_width);
	out_char(out, ' ');
	out_text(out, *state ? state : "-");
	out_mem(out, ": ", 2);
	for (size_t i = *state ? strlen(state) : 1; i < STATE_WIDTH; i++)
		out_char(out, ' ');
	dump_text_event(out, row->event, row->info);
}

/** The fields of a record, as the format of its event names them. */
static void field_members(struct json *json, const void *of)
{
	const struct kvm_row *row = of;
	struct kvm_line_field field;
	size_t at = 0;

	json_open(json, "fields", '{', true);
	if (row->is_loss && row->line->missing)
		json_u64(json, "lost_records", row->line->missing);
	else if (row->is_loss)
		json_null(json, "lost_records");
	while (!row->is_loss && kvm_line_field(&row->line->line, &at, &field)) {
		if (field.text)
			json_str(json, field.name, field.text);
		else if (field.is_signed)
			json_i64(json, field.name, (int64_t)field.value);
		else
			json_u64(json, field.name, field.value);
	}
	json_close(json, '}');
}

static const struct table_column columns[] = {
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "machine" },
	{ .key = "cpu", .type = TABLE_TIME },
	{ .key = "pcpu", .type = TABLE_TIME },
	{ .key = "task" },
	{ .key = "pid", .type = TABLE_TIME },
	{ .key = "vcpu" },
	{ .key = "state" },
	{ .key = "system" },
	{ .key = "event" },
	{ .key = "info" },
	{ .key = "fields", .type = TABLE_MEMBERS },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns) } };

/** An id; VIRT_NONE is not known. */
static struct table_cell id_cell(int32_t id)
{
	return id == VIRT_NONE ? table_unknown() : table_number(id);
}

static void record_row(struct kvm_dump *dump, const struct kvm_row *row)
{
	/* is there a thread that had the CPU, as far as the trace shows? */
	bool has_pid = *row->task && row->line->pid >= 0;

	table_row(&dump->rows, (const struct table_cell[ARRAY_SIZE(columns)]){
		table_number(row->line->time_ns), table_known_name(row->stream->name),
		table_number(row->line->cpu), id_cell(row->pcpu), table_known_name(row->task),
		id_cell(has_pid ? row->line->pid : VIRT_NONE),
		table_known_name(vcpu_of(dump, row)), table_known_name(state_of(row)),
		table_known_name(row->system), table_known_name(row->event),
		table_name(row->info), table_members(field_members, row),
	});
}

/* --- which vCPU ------------------------------------------------------------------------------ */

/** The CPU of a guest that executes the thread which is the CPU of its own guest. */
static int32_t inner_vcpu(const struct stream *stream, int cpu)
{
	const struct stream *outer = stream->outer;

	for (int i = 0; i < outer->n_cpus && cpu < stream->n_tids && stream->tids[cpu] > 0; i++)
		if (outer->pids[i] == stream->tids[cpu])
			return outer->vcpus[i];
	return VIRT_NONE;
}

static int32_t vcpu_at(const struct kvm_dump *dump, const struct stream *stream)
{
	const struct kvm_trace_line *line = &stream->line;

	if (stream->is_host)
		return line->pid > 0 ? virt_model_find_vcpu(dump->load.model, line->vcpu_pid) :
		       VIRT_NONE;
	return stream->outer ? inner_vcpu(stream, line->cpu) : stream->vcpus[line->cpu];
}

static void find_vcpu(const struct kvm_dump *dump, struct kvm_row *row)
{
	const struct stream *stream = row->stream;

	row->vcpu = row->is_loss && stream->is_host ? VIRT_NONE : vcpu_at(dump, stream);
	row->interval = row->vcpu == VIRT_NONE ? NULL :
			virt_vcpu_at(dump->load.model, row->vcpu, row->line->time_ns, NULL);
	row->pcpu = stream->is_host ? row->line->cpu :
		    row->interval && (virt_state_on_pcpu(row->interval->state) ||
				      row->interval->flags & VIRT_INTERVAL_ON_PCPU) ?
		    row->interval->pcpu : VIRT_NONE;
}

/** A switch says who is next; any other record, who is there. */
static void follow_task(struct stream *stream)
{
	const struct kvm_trace_line *line = &stream->line;

	if (stream->pids)
		stream->pids[line->cpu] = line->next_pid >= 0 ? line->next_pid : line->pid;
}

/* --- filters --------------------------------------------------------------------------------- */

static bool matches(const struct dump_globs *globs, const char *text)
{
	for (int i = 0; i < globs->n; i++)
		if (!fnmatch(globs->all[i], text, 0))
			return true;
	return !globs->n;
}

/** --task: "sshd-812", "sshd" or "812". */
static bool wants_task(const struct kvm_dump *dump, const struct kvm_row *row)
{
	const struct dump_globs *tasks = &dump->options->filter->tasks;
	const char *comm;
	char pid[16];

	if (!tasks->n || row->is_loss || matches(tasks, row->task))
		return true;
	comm = kvm_trace_task(row->stream->trace, row->line->pid);
	snprintf(pid, sizeof(pid), "%d", row->line->pid);
	return (comm && row->line->pid > 0 && matches(tasks, comm)) || matches(tasks, pid);
}

/** The missing records of a host may belong to any vCPU. */
static bool wants_vcpu(const struct kvm_dump *dump, const struct kvm_row *row)
{
	const struct ksv_vcpu_set *vcpus = &dump->options->filter->vcpus;

	if (!ksv_vcpus_given(vcpus) || (row->is_loss && row->vcpu == VIRT_NONE))
		return true;
	return row->vcpu != VIRT_NONE && model_wants_vcpu(dump->load.model, row->vcpu, vcpus);
}

static bool is_wanted(const struct kvm_dump *dump, const struct kvm_row *row)
{
	const struct dump_filter *filter = dump->options->filter;

	return row->stream->is_wanted &&
	       dump_names_event(filter, (uint32_t)(row->is_loss ? -1 : row->line->event),
				row->system, row->event) &&
	       (!filter->pcpus.any ||
		(row->pcpu >= 0 && ksv_id_in_set(&filter->pcpus, (unsigned int)row->pcpu))) &&
	       wants_vcpu(dump, row) && wants_task(dump, row);
}

/* --- record by record ------------------------------------------------------------------------ */

static void write_row(struct kvm_dump *dump, struct kvm_row *row)
{
	find_vcpu(dump, row);
	if (!is_wanted(dump, row))
		return;
	dump->n_written++;
	if (dump->options->format == FORMAT_TEXT)
		write_text(dump, row);
	else
		record_row(dump, row);
}

static void write_loss(struct kvm_dump *dump, const struct stream *stream)
{
	struct kvm_row row = {
		.stream = stream, .line = &stream->line, .is_loss = true, .system = "",
		.event = LOST_EVENT,
	};

	if (stream->line.missing)
		snprintf(row.info_room, sizeof(row.info_room), "lost_records = %llu",
			 (unsigned long long)stream->line.missing);
	else
		snprintf(row.info_room, sizeof(row.info_room), "lost_records = unknown");
	row.info = row.info_room;
	write_row(dump, &row);
}

static void write_record(struct kvm_dump *dump, const struct stream *stream)
{
	const struct kvm_trace_line *line = &stream->line;
	struct kvm_row row = { .stream = stream, .line = line, .info = line->info };
	const char *system = kvm_trace_system(stream->trace, line->event);

	row.system = system ? system : "";
	row.event = kvm_trace_event(stream->trace, line->event);
	if (!row.event) {
		snprintf(row.event_room, sizeof(row.event_room), "unknown_%d", line->event);
		row.event = row.event_room;
	}
	guest_task_name(row.task, sizeof(row.task), stream->trace, line->pid);
	write_row(dump, &row);
}

static void take_line(struct kvm_dump *dump, struct stream *stream)
{
	const struct kvm_trace_line *line = &stream->line;

	follow_task(stream);
	if (line->time_ns < dump->from_ns || line->time_ns >= dump->to_ns)
		return;
	dump->is_empty = false;
	if (line->has_lost)
		write_loss(dump, stream);
	if (!line->is_own)
		write_record(dump, stream);
}

static bool comes_before(struct stream *const *a, struct stream *const *b)
{
	if ((*a)->line.time_ns != (*b)->line.time_ns)
		return (*a)->line.time_ns < (*b)->line.time_ns;
	return (*a)->number < (*b)->number;
}

static bool wants_event(void *arg, int32_t event, const char *system, const char *name)
{
	const struct kvm_dump *dump = arg;

	return dump_names_event(dump->options->filter, (uint32_t)event, system, name);
}

/** Return: 0, or a negative errno after a message. */
static int next_line(const struct stream *stream, struct kvm_trace_line *line, bool *is_there)
{
	int ret = kvm_trace_next_line(stream->trace, line);

	*is_there = ret > 0;
	if (ret < 0)
		ksv_error("%s: %s", kvm_trace_path(stream->trace), host_trace_problem(ret));
	return ret < 0 ? ret : 0;
}

static int begin_streams(struct kvm_dump *dump)
{
	const struct kvm_trace_lines lines = {
		.from_ns = dump->from_ns, .fields = dump->options->format == FORMAT_JSON,
		.wants = wants_event, .arg = dump,
	};

	for (int i = 0; i < dump->n_streams; i++) {
		struct stream *stream = &dump->streams[i];
		int ret = kvm_trace_begin_lines(stream->trace, &lines);
		bool is_there;

		if (ret) {
			ksv_error("%s: %s", kvm_trace_path(stream->trace), host_trace_problem(ret));
			return ret;
		}
		ret = next_line(stream, &stream->line, &is_there);
		if (ret)
			return ret;
		if (!is_there)
			continue;
		dump->heap[dump->n++] = stream;
		HEAP_UP(dump->heap, dump->n - 1, comes_before);
	}
	return 0;
}

static int write_all(struct kvm_dump *dump)
{
	int64_t begin_ns = virt_model_begin(dump->load.model);
	int64_t end_ns = virt_model_end(dump->load.model);
	uint64_t n = 0;
	int ret = begin_streams(dump);

	dump->progress.what = "writing";
	while (!ret && dump->n && !dump->out->error) {
		struct stream *first = dump->heap[0];
		int64_t time_ns = first->line.time_ns;
		bool is_there;

		if (time_ns >= dump->to_ns)
			break;
		if (!(++n % PROGRESS_RECORDS) && time_ns >= begin_ns && time_ns < end_ns)
			progress_update(&dump->progress, (uint64_t)(time_ns - begin_ns),
					(uint64_t)(end_ns - begin_ns));
		take_line(dump, first);
		ret = next_line(first, &first->line, &is_there);
		if (!is_there)
			dump->heap[0] = dump->heap[--dump->n];
		if (dump->n)
			HEAP_DOWN(dump->heap, dump->n, 0, comes_before);
	}
	for (int i = 0; i < dump->n_streams; i++)
		kvm_trace_end_lines(dump->streams[i].trace);
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/* --- the traces ------------------------------------------------------------------------------ */

static struct stream *add_stream(struct kvm_dump *dump, struct kvm_trace *trace)
{
	struct stream *stream = &dump->streams[dump->n_streams];

	*stream = (struct stream){
		.trace = trace, .number = dump->n_streams, .n_cpus = kvm_trace_n_cpus(trace),
	};
	dump->n_streams++;
	return stream;
}

/** A guest: its vCPUs, where its clock and its vCPUs are right. Return: 0 or -ENOMEM. */
static int add_guest(struct kvm_dump *dump, int i)
{
	const struct guest_clock *clock = &dump->load.clocks[i];
	const struct virt_model *model = dump->load.model;
	struct stream *stream = add_stream(dump, clock->trace);
	const struct virt_machine *machine = NULL;

	stream->vcpus = malloc(((size_t)stream->n_cpus + 1) * sizeof(*stream->vcpus));
	stream->pids = malloc(((size_t)stream->n_cpus + 1) * sizeof(*stream->pids));
	if (!stream->vcpus || !stream->pids)
		return -ENOMEM;
	for (int cpu = 0; cpu < stream->n_cpus; cpu++) {
		int32_t vcpu = cpu < clock->n_cpus ? clock->cpus[cpu].vcpu : VIRT_NONE;

		stream->pids[cpu] = VIRT_NONE;
		if (!machine && vcpu != VIRT_NONE)
			machine = virt_model_machine(model, virt_model_vcpu(model, vcpu)->machine);
		stream->vcpus[cpu] = guest_clock_is_wrong(clock, cpu) ? VIRT_NONE : vcpu;
	}
	if (machine)
		snprintf(stream->name, sizeof(stream->name), "%s", machine->name);
	else
		guest_tasks_called(stream->name, sizeof(stream->name), stream->trace,
				   dump->load.host.kvm);
	return 0;
}

static int add_streams(struct kvm_dump *dump)
{
	const struct model_load *load = &dump->load;
	size_t most = (size_t)load->n_guests + (size_t)load->n_inner + 1;
	struct stream *stream;

	dump->streams = calloc(most, sizeof(*dump->streams));
	dump->heap = calloc(most, sizeof(struct stream *));
	if (!dump->streams || !dump->heap)
		return -ENOMEM;
	stream = add_stream(dump, load->host.kvm);
	stream->is_host = true;
	snprintf(stream->name, sizeof(stream->name), HOST_NAME);
	for (int i = 0; i < load->n_guests; i++)
		if (add_guest(dump, i))
			return -ENOMEM;
	for (int i = 0; i < load->n_inner; i++) {
		const struct model_inner *inner = &load->inner[i];

		stream = add_stream(dump, inner->trace);
		stream->outer = &dump->streams[1 + inner->guest];
		stream->tids = kvm_trace_guest_tids(stream->outer->trace, inner->trace,
						    &stream->n_tids);
		if (!stream->tids)
			stream->n_tids = 0;
		guest_tasks_called(stream->name, sizeof(stream->name), inner->trace,
				   stream->outer->trace);
	}
	return 0;
}

static void find_widths(struct kvm_dump *dump)
{
	const struct virt_model *model = dump->load.model;

	for (int i = 0; i < dump->n_streams; i++) {
		size_t width = out_columns(dump->streams[i].name);

		dump->machine_width = width > dump->machine_width ? width : dump->machine_width;
	}
	dump->vcpu_width = 1;
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		size_t width = out_columns(virt_model_vcpu(model, i)->name);

		dump->vcpu_width = width > dump->vcpu_width ? width : dump->vcpu_width;
	}
}

/* --- what was asked for ---------------------------------------------------------------------- */

/** --machine: "g1:web" is also called web. */
static bool is_machine(const struct stream *stream, const char *glob)
{
	const char *name = strchr(stream->name, ':');

	return !fnmatch(glob, stream->name, 0) || (name && !fnmatch(glob, name + 1, 0));
}

static int check_machines(struct kvm_dump *dump)
{
	const struct dump_globs *machines = &dump->options->filter->machines;

	for (int i = 0; i < dump->n_streams; i++)
		dump->streams[i].is_wanted = !machines->n;
	for (int k = 0; k < machines->n; k++) {
		bool found = false;

		for (int i = 0; i < dump->n_streams; i++) {
			bool is_it = is_machine(&dump->streams[i], machines->all[k]);

			dump->streams[i].is_wanted |= is_it;
			found |= is_it;
		}
		if (!found)
			return ksv_usage_error(dump->options->command, "--machine %s: no trace of "
					       "such a machine; there are " HOST_NAME "%s%s%s",
					       machines->all[k], dump->n_streams > 1 ? ", " : "",
					       dump->n_streams > 1 ? dump->streams[1].name : "",
					       dump->n_streams > 2 ? " and others" : "");
	}
	return KSV_EXIT_OK;
}

/** A name that no trace has is a typing error. */
static int check_events(const struct kvm_dump *dump)
{
	const struct dump_filter *filter = dump->options->filter;

	for (int i = 0; i < filter->n_patterns; i++) {
		struct dump_filter one = { .patterns = &filter->patterns[i], .n_patterns = 1 };
		bool found = filter->patterns[i].is_id ||
			     dump_names_event(&one, 0, "", LOST_EVENT) ||
			     !strncmp(filter->patterns[i].glob, "unknown_", 8);

		for (int k = 0; k < dump->n_streams && !found; k++)
			found = kvm_trace_has_event(dump->streams[k].trace, wants_event,
						    &(struct kvm_dump){
				.options = &(struct dump_kvm){ .filter = &one },
			});
		if (!found)
			return ksv_usage_error(dump->options->command, "--event %s: no such event "
					       "in the trace", filter->patterns[i].glob);
	}
	return KSV_EXIT_OK;
}

static int set_window(struct kvm_dump *dump)
{
	const struct dump_filter *filter = dump->options->filter;

	dump->from_ns = model_time(&dump->load, &filter->from, INT64_MIN);
	dump->to_ns = model_time(&dump->load, &filter->to, INT64_MAX);
	if (dump->from_ns < dump->to_ns)
		return KSV_EXIT_OK;
	return ksv_usage_error(dump->options->command, "--from is not before --to");
}

/** Nothing was written: a mistake? */
static int check_written(const struct kvm_dump *dump)
{
	const struct dump_filter *filter = dump->options->filter;
	int64_t begin_ns = virt_model_begin(dump->load.model);
	int64_t end_ns = virt_model_end(dump->load.model);
	bool has_window = filter->from.kind != KSV_TIME_NONE || filter->to.kind != KSV_TIME_NONE;

	if (dump->n_written || dump->out->error)
		return KSV_EXIT_OK;
	if (dump->is_empty && (dump->from_ns >= end_ns || dump->to_ns <= begin_ns))
		return ksv_no_window(dump->options->command, dump->load.path, begin_ns, end_ns);
	if (filter->pcpus.any)
		return dump_check_pcpus(filter, dump->options->command,
					virt_model_n_pcpus(dump->load.model));
	if (!filter->tasks.n || has_window || filter->n_patterns ||
	    filter->machines.n || ksv_vcpus_given(&filter->vcpus))
		return KSV_EXIT_OK;
	return ksv_usage_error(dump->options->command, "--task %s: no record of such a task",
			       filter->tasks.all[0]);
}

/* --- all of it ------------------------------------------------------------------------------- */

static int write_streams(struct kvm_dump *dump)
{
	int status;

	find_widths(dump);
	if (dump->options->format != FORMAT_TEXT)
		table_flat(&dump->rows, true);
	status = write_all(dump);
	if (dump->options->format != FORMAT_TEXT)
		table_flat_end(&dump->rows);
	progress_end(&dump->progress);
	return out_close(dump->out, status ? status : check_written(dump));
}

static int dump_loaded(struct kvm_dump *dump)
{
	const struct dump_kvm *options = dump->options;
	int status;

	if (add_streams(dump)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	status = check_machines(dump);
	if (!status)
		status = check_events(dump);
	if (!status)
		status = set_window(dump);
	if (!status)
		status = out_open_text(dump->out, options->output, dump_reader(options->format));
	if (!status)
		status = write_streams(dump);
	if (!status && !options->quiet && dump->out->error != EPIPE)
		model_notes(&dump->load);
	return model_changed(&dump->load, status);
}

static void release(struct kvm_dump *dump)
{
	for (int i = 0; i < dump->n_streams; i++) {
		free(dump->streams[i].vcpus);
		free(dump->streams[i].pids);
	}
	free(dump->streams);
	free(dump->heap);
	model_unload(&dump->load);
}

static int dump_host(const struct dump_kvm *options, struct model_files *files, struct output *out)
{
	struct kvm_dump dump = {
		.options = options, .out = out, .is_empty = true,
		.rows = {
			.table = &table, .format = dump_rows(options->format), .out = out,
		},
		.load = {
			.command = options->command, .vcpus = &options->filter->vcpus,
			.options = options->trace, .quiet = options->quiet,
		},
	};
	int host, status = model_files_only_host(files, options->command, &host);

	if (status)
		return status;
	model_files_load(files, host, &dump.load);
	/* on a terminal, the lines themselves show that something happens */
	progress_init(&dump.progress, !options->quiet &&
		      (options->output || !isatty(STDOUT_FILENO)));
	status = model_load(&dump.load);
	if (!status)
		status = dump_loaded(&dump);
	release(&dump);
	return status;
}

int dump_kvm(const struct dump_kvm *options, const struct trace_args *args, struct output *out)
{
	struct model_files files = {
		.args = args, .cpu_hz = options->trace.cpu_hz, .quiet = options->quiet,
	};
	int status, unread;

	kvm_trace_use_symbols();
	unread = model_files_open(&files);
	status = files.traces ? dump_host(options, &files, out) : unread;
	model_files_close(&files);
	return status ? status : unread;
}
