// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_ftrace.c
 * @brief	Records of trace.dat files as bundles of Perfetto's ftrace events.
 *
 * Facts about Perfetto are from src/trace_processor/ of https://github.com/google/perfetto at
 * commit ec5d16b1:
 * - importers/proto/proto_trace_reader.cc: a packet with a machine's number is that machine's. Its
 *   clock is the host's plus the mean offset of RemoteClockSync, of two rounds at least.
 * - importers/ftrace/ftrace_tokenizer.cc: a bundle is of one CPU below 1024, or the trace is
 *   refused; times are BOOTTIME.
 * - importers/ftrace/ftrace_parser.cc: a record without a pid ends the import. An event without a
 *   message of its own has its name and its fields in "ftrace_event" and "args"
 *   (ParseLegacyGenericFtrace).
 * - importers/ftrace/ftrace_sched_event_tracker.cc: sched_switch makes "sched" and "thread_state",
 *   and names threads. thread_state also has sched_waking.
 * - types/task_state.cc: only the bits of prev_state up to 0x20 mean the same in all kernels; those
 *   above depend on the release in SystemInfo, and without one they are those of Linux 4.4.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "export_ftrace.h"
#include "export_packet.h"
#include "export_sink.h"
#include "trace_dat.h"

/** CPUs that Perfetto takes. */
#define MOST_CPUS	1024

/** A bundle is written once it has that many bytes. */
#define BUNDLE_FULL	((size_t)16 << 10)
/** Texts grow by escapes; all fields of a line, with the heads of their messages, have room. */
#define EVENT_ROOM	(KVM_LINE_FIELDS * 8)
/** Of it, for a field: its name, its text, and the heads of both. */
#define FIELD_ROOM	(2 * EXPORT_TEXT_SIZE + 64)

/** The machine's own clock is shown again when its offset has changed by that. */
#define CLOCK_STEP_NS	100000

/** Bits of prev_state that are the same in all kernels. */
#define PREV_STATE_SAFE	0x3f

/* Wire types of protobuf. */
enum { VARINT = 0, BYTES = 2 };

/* Fields of messages. */
enum { BUNDLE_EVENT = 2 };
enum { EVENT_TIME = 1, EVENT_PID = 2, EVENT_GENERIC = 327 };
enum { GENERIC_NAME = 1, GENERIC_FIELD = 2 };
enum { FIELD_NAME = 1, FIELD_TEXT = 3, FIELD_SIGNED = 4, FIELD_UNSIGNED = 5 };

/** An event with a message of its own, and its number. A record that lacks a field is generic. */
struct typed_event {
	const char	*system, *name;
	int		number;
	struct typed_field {
		const char	*name;
		uint8_t		number;
		bool		is_text;
	} fields[7];
};

#define NUMBER(name, number) { name, number, false }
#define TEXT(name, number) { name, number, true }
#define WAKE_FIELDS	{ TEXT("comm", 1), NUMBER("pid", 2), NUMBER("prio", 3),			\
			  NUMBER("target_cpu", 5) }
#define TASK_FIELDS(at)	{ TEXT("comm", 1), NUMBER("pid", 2), NUMBER("prio", at) }
#define POWER_FIELDS	{ NUMBER("state", 1), NUMBER("cpu_id", 2) }

static const struct typed_event typed_events[] = {
	{ "sched", "sched_switch", 4, {
		TEXT("prev_comm", 1), NUMBER("prev_pid", 2), NUMBER("prev_prio", 3),
		NUMBER("prev_state", 4), TEXT("next_comm", 5), NUMBER("next_pid", 6),
		NUMBER("next_prio", 7) } },
	{ "sched", "sched_waking", 20, WAKE_FIELDS },
	{ "sched", "sched_wakeup", 17, WAKE_FIELDS },
	{ "irq", "softirq_entry", 24, { NUMBER("vec", 1) } },
	{ "irq", "softirq_exit", 25, { NUMBER("vec", 1) } },
	{ "irq", "softirq_raise", 26, { NUMBER("vec", 1) } },
	{ "irq", "irq_handler_entry", 36, { NUMBER("irq", 1), TEXT("name", 2) } },
	{ "irq", "irq_handler_exit", 37, { NUMBER("irq", 1), NUMBER("ret", 2) } },
	{ "power", "cpu_frequency", 11, POWER_FIELDS },
	{ "power", "cpu_idle", 13, POWER_FIELDS },
	{ "sched", "sched_wakeup_new", 114, WAKE_FIELDS },
	{ "sched", "sched_process_exit", 238, TASK_FIELDS(4) },
	{ "sched", "sched_process_free", 240, TASK_FIELDS(3) },
	{ "sched", "sched_process_fork", 239, {
		TEXT("parent_comm", 1), NUMBER("parent_pid", 2), TEXT("child_comm", 3),
		NUMBER("child_pid", 4) } },
	{ "task", "task_newtask", 235, {
		NUMBER("pid", 1), TEXT("comm", 2), NUMBER("clone_flags", 3) } },
	{ "task", "task_rename", 236, {
		NUMBER("pid", 1), TEXT("oldcomm", 2), TEXT("newcomm", 3) } },
};

struct bytes {
	size_t		n;
	uint8_t		*data;
};

/** A trace while its records go by. */
struct ftrace {
	const struct export_job *job;
	struct output	*out;
	struct kvm_trace *trace;
	const struct guest_clock *clock;	/* of a guest; NULL: all CPUs are wanted */
	uint32_t	machine;
	int64_t		shift_ns;
	bool		has_release;	/* of the kernel, which says what prev_state means */
	bool		has_clock;	/* was shown, as: */
	int64_t		clock_ns, own_ns;
	uint64_t	n_left_out;
	int		cpu;		/* of the bundle; -1: none */
	bool		has_lost;
	struct bytes	part, event, bundle;
	uint8_t		room[BUNDLE_FULL + 3 * EVENT_ROOM];	/* of all three */
};

/* --- bytes ----------------------------------------------------------------------------------- */

static void add_varint(struct bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes->data[bytes->n++] = (uint8_t)(value | 0x80);
	bytes->data[bytes->n++] = (uint8_t)value;
}

static void add_number(struct bytes *bytes, int field, uint64_t value)
{
	add_varint(bytes, (uint64_t)field << 3 | VARINT);
	add_varint(bytes, value);
}

static void add_bytes(struct bytes *bytes, int field, const void *data, size_t size)
{
	add_varint(bytes, (uint64_t)field << 3 | BYTES);
	add_varint(bytes, size);
	memcpy(bytes->data + bytes->n, data, size);
	bytes->n += size;
}

static void add_text(struct bytes *bytes, int field, const char *text)
{
	char escaped[EXPORT_TEXT_SIZE];

	escape_text(escaped, sizeof(escaped), text);
	add_bytes(bytes, field, escaped, strlen(escaped));
}

/* --- a record -------------------------------------------------------------------------------- */

static const struct typed_event *find_typed(const char *system, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(typed_events); i++)
		if (!strcmp(typed_events[i].name, name) && !strcmp(typed_events[i].system, system))
			return &typed_events[i];
	return NULL;
}

static const struct kvm_line_field *find_field(const struct kvm_line *line, const char *name,
					       struct kvm_line_field *field)
{
	size_t at = 0;

	while (kvm_line_field(line, &at, field))
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}

/** Return: false if the record is not as Perfetto knows this event. */
static bool add_typed(struct ftrace *ftrace, const struct typed_event *typed,
		      const struct kvm_line *line)
{
	struct bytes *part = &ftrace->part;

	part->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(typed->fields) && typed->fields[i].name; i++) {
		const struct typed_field *known = &typed->fields[i];
		struct kvm_line_field field;

		if (!find_field(line, known->name, &field) || !field.text == known->is_text)
			return false;
		if (field.text)
			add_text(part, known->number, field.text);
		else if (!ftrace->has_release && !strcmp(known->name, "prev_state"))
			add_number(part, known->number, field.value & PREV_STATE_SAFE);
		else
			add_number(part, known->number, field.value);
	}
	add_bytes(&ftrace->event, typed->number, part->data, part->n);
	return true;
}

static void add_generic(struct ftrace *ftrace, const char *name, const struct kvm_line *line)
{
	struct bytes *part = &ftrace->part;
	struct kvm_line_field field;
	size_t at = 0;

	part->n = 0;
	add_text(part, GENERIC_NAME, name);
	while (kvm_line_field(line, &at, &field) && part->n + 2 * FIELD_ROOM < EVENT_ROOM) {
		size_t begin = part->n, size;
		uint8_t message[FIELD_ROOM];

		/* it is made at the end of @part, and then moved to after its length */
		add_text(part, FIELD_NAME, field.name);
		if (field.text)
			add_text(part, FIELD_TEXT, field.text);
		else
			add_number(part, field.is_signed ? FIELD_SIGNED : FIELD_UNSIGNED,
				   field.value);
		size = part->n - begin;
		memcpy(message, part->data + begin, size);
		part->n = begin;
		add_bytes(part, GENERIC_FIELD, message, size);
	}
	add_bytes(&ftrace->event, EVENT_GENERIC, part->data, part->n);
}

static void flush(struct ftrace *ftrace)
{
	if (ftrace->bundle.n || ftrace->has_lost)
		packet_ftrace(ftrace->out, ftrace->machine, ftrace->cpu, ftrace->has_lost,
			      ftrace->bundle.data, ftrace->bundle.n);
	ftrace->bundle.n = 0;
	ftrace->has_lost = false;
}

/** A bundle of this CPU. It shows lost records only before its first one. */
static void begin_bundle(struct ftrace *ftrace, int cpu, bool has_lost)
{
	if (cpu != ftrace->cpu || has_lost || ftrace->bundle.n >= BUNDLE_FULL)
		flush(ftrace);
	ftrace->cpu = cpu;
	ftrace->has_lost |= has_lost;
}

static void put_record(struct ftrace *ftrace, const struct kvm_trace_line *line, int64_t time_ns)
{
	const char *system = kvm_trace_system(ftrace->trace, line->event);
	const char *name = kvm_trace_event(ftrace->trace, line->event);
	struct bytes *event = &ftrace->event;
	const struct typed_event *typed;
	char unknown[32];

	if (!name)
		snprintf(unknown, sizeof(unknown), "unknown_%d", line->event);
	typed = name && system ? find_typed(system, name) : NULL;
	event->n = 0;
	/* in this order, Perfetto finds them fastest */
	add_number(event, EVENT_TIME, (uint64_t)(time_ns + ftrace->shift_ns));
	add_number(event, EVENT_PID, (uint32_t)line->pid);
	if (!typed || !add_typed(ftrace, typed, &line->line))
		add_generic(ftrace, name ? name : unknown, &line->line);
	add_bytes(&ftrace->bundle, BUNDLE_EVENT, event->data, event->n);
}

/* --- a trace --------------------------------------------------------------------------------- */

/** When the machine's own clock was what: at first, and when its offset has changed. */
static void show_clock(struct ftrace *ftrace, int64_t time_ns, int64_t own_ns)
{
	int64_t moved_ns = (time_ns - own_ns) - (ftrace->clock_ns - ftrace->own_ns);

	if (!ftrace->machine || own_ns < 0 ||
	    kvm_trace_unit(ftrace->trace) != TRACE_DAT_NS ||
	    (ftrace->has_clock && ((moved_ns < CLOCK_STEP_NS && moved_ns > -CLOCK_STEP_NS) ||
				   own_ns <= ftrace->own_ns || time_ns <= ftrace->clock_ns)))
		return;
	ftrace->has_clock = true;
	ftrace->clock_ns = time_ns;
	ftrace->own_ns = own_ns;
	packet_clock(ftrace->out, ftrace->machine, time_ns + ftrace->shift_ns, (uint64_t)own_ns);
}

static bool wants_cpu(const struct ftrace *ftrace, int cpu)
{
	int32_t vcpu;

	if (!ftrace->clock)
		return true;
	vcpu = cpu < ftrace->clock->n_cpus ? ftrace->clock->cpus[cpu].vcpu : VIRT_NONE;
	return vcpu != VIRT_NONE && export_wants_vcpu(ftrace->job, vcpu) &&
	       !guest_clock_is_wrong(ftrace->clock, cpu);
}

static void take_line(struct ftrace *ftrace, const struct kvm_trace_line *line, int64_t time_ns)
{
	if (!wants_cpu(ftrace, line->cpu) || (line->is_own && !line->has_lost))
		return;
	if (line->cpu >= MOST_CPUS || line->pid < 0) {
		ftrace->n_left_out += !line->is_own;
		return;
	}
	show_clock(ftrace, time_ns, line->line.key);
	begin_bundle(ftrace, line->cpu, line->has_lost);
	if (!line->is_own)
		put_record(ftrace, line, time_ns);
}

static int put_lines(struct ftrace *ftrace)
{
	const struct report *report = ftrace->job->report;
	const struct host_trace *host = &report->load->host;
	const struct kvm_trace_lines lines = {
		/* of a host of Xen, the axis is another one */
		.from_ns = host->xen ? INT64_MIN : report->from_ns, .fields = true,
	};
	struct kvm_trace_line line;
	int ret = kvm_trace_begin_lines(ftrace->trace, &lines);

	while (!ret && !ftrace->out->error) {
		int64_t time_ns;

		ret = kvm_trace_next_line(ftrace->trace, &line);
		if (ret <= 0)
			break;
		ret = 0;
		time_ns = guest_tasks_time(host, line.time_ns);
		if (time_ns >= report->to_ns)
			break;
		if (time_ns >= report->from_ns)
			take_line(ftrace, &line, time_ns);
	}
	flush(ftrace);
	kvm_trace_end_lines(ftrace->trace);
	if (ftrace->n_left_out && !report->load->quiet)
		ksv_note("%s: %llu records are not in the export: Perfetto knows no CPU from %d "
			 "on, and no record without a task", kvm_trace_path(ftrace->trace),
			 (unsigned long long)ftrace->n_left_out, MOST_CPUS);
	return ret;
}

/** "Linux web7 6.1.0-18-amd64 x86_64", or with more before the last word. */
static void split_uname(char *uname, struct packet_machine *about)
{
	char *rest = NULL, *last = strrchr(uname, ' ');

	about->sysname = strtok_r(uname, " ", &rest);
	strtok_r(NULL, " ", &rest);
	about->release = strtok_r(NULL, " ", &rest);
	about->arch = about->release && last ? last + 1 : "";
}

/** Threads of machines, as far as the sidecar of the host names their processes. */
static void put_processes(const struct ftrace *ftrace)
{
	const struct kvm_meta *meta = kvm_trace_meta(ftrace->trace);
	int64_t time_ns = ftrace->job->report->from_ns + ftrace->shift_ns;

	for (int i = 0; meta && i < meta->n_guests; i++) {
		const struct kvm_meta_guest *guest = &meta->guests[i];

		if (guest->pid <= 0 || !guest->name)
			continue;
		packet_process(ftrace->out, time_ns, guest->pid, guest->name);
		for (int j = 0; j < guest->n_threads; j++)
			packet_process_thread(ftrace->out, time_ns, guest->pid, guest->threads[j]);
		for (int j = 0; j < guest->n_vcpus; j++)
			if (guest->vcpus[j].tid > 0)
				packet_process_thread(ftrace->out, time_ns, guest->pid,
						      guest->vcpus[j].tid);
	}
}

static int put_trace(struct ftrace *ftrace, const char *name)
{
	struct packet_machine about = { .number = ftrace->machine, .name = name };
	int64_t begin_ns = ftrace->job->report->from_ns + ftrace->shift_ns;
	char uname[TRACE_DAT_UNAME];

	trace_dat_uname(kvm_trace_path(ftrace->trace), uname);
	split_uname(uname, &about);
	ftrace->has_release = about.release != NULL;
	ftrace->has_clock = false;
	ftrace->n_left_out = 0;
	ftrace->cpu = -1;
	packet_machine(ftrace->out, &about, begin_ns > 0 ? begin_ns : 1);
	if (!ftrace->machine)
		put_processes(ftrace);
	return put_lines(ftrace);
}

/* --- all traces ------------------------------------------------------------------------------ */

static const char *machine_of(const struct export_job *job, const struct guest_clock *clock)
{
	const struct virt_model *model = job->report->load->model;

	for (int cpu = 0; cpu < clock->n_cpus; cpu++)
		if (clock->cpus[cpu].vcpu != VIRT_NONE)
			return virt_model_machine(model, virt_model_vcpu(
				model, clock->cpus[cpu].vcpu)->machine)->name;
	return NULL;
}

/** A guest's guest may be on any CPU of it, and has its clock. */
static bool wants_all(const struct ftrace *ftrace)
{
	for (int cpu = 0; cpu < ftrace->clock->n_cpus; cpu++)
		if (!wants_cpu(ftrace, cpu))
			return false;
	return true;
}

static int put_inner(struct ftrace *ftrace, struct kvm_trace *trace)
{
	char name[GUEST_TASK_NAME];

	guest_tasks_called(name, sizeof(name), trace, ftrace->clock->trace);
	ftrace->clock = NULL;
	ftrace->trace = trace;
	return put_trace(ftrace, name);
}

int export_ftrace(const struct export_job *job, struct output *out, int64_t shift_ns)
{
	const struct model_load *load = job->report->load;
	struct ftrace *ftrace = calloc(1, sizeof(*ftrace));
	int ret = 0;

	if (!ftrace)
		return -ENOMEM;
	ftrace->job = job;
	ftrace->out = out;
	ftrace->shift_ns = shift_ns;
	ftrace->part.data = ftrace->room;
	ftrace->event.data = ftrace->room + EVENT_ROOM;
	ftrace->bundle.data = ftrace->room + 2 * EVENT_ROOM;
	ftrace->trace = load->host.kvm;
	if (ftrace->trace)
		ret = put_trace(ftrace, "host");
	for (int i = 0; i < load->n_guests && !ret; i++) {
		const char *name = machine_of(job, &load->clocks[i]);

		ftrace->machine = (uint32_t)i + 1;
		ftrace->clock = &load->clocks[i];
		ftrace->trace = ftrace->clock->trace;
		if (name)
			ret = put_trace(ftrace, name);
	}
	for (int i = 0; i < load->n_inner && !ret; i++) {
		ftrace->machine = (uint32_t)(load->n_guests + i) + 1;
		ftrace->clock = &load->clocks[load->inner[i].guest];
		if (wants_all(ftrace))
			ret = put_inner(ftrace, load->inner[i].trace);
	}
	free(ftrace);
	return ret;
}
