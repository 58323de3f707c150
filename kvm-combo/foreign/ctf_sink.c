// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	ctf_sink.c
 * @brief	Events, losses and names of a CTF trace as records of a trace.dat.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "ctf_events.h"
#include "ctf_index.h"
#include "ctf_sink.h"
#include "record_flags.h"
#include "thread_names.h"

/** Records that wait for the thread of their CPU: bytes of all CPUs. */
#define MOST_HELD	((size_t)64 << 20)

#define NO_PID		(-1)

/** The head of a record that waits. */
struct held_head {
	uint64_t	ts;
	uint32_t	size;
};

struct ctf_cpu {
	bool		is_known;	/* who has it */
	int32_t		pid;
	int		hardirqs;	/* handlers that were entered */
	bool		in_softirq;
	int		n_blind;	/* streams that lost events and have had none since */
	bool		has_lost;	/* since its last record */
	uint8_t		*held;		/* records that wait */
	size_t		n_held, room_held;
};

/** A stream of CTF: of LTTng, a CPU's part of a channel. */
struct ctf_stream {
	bool		is_kernel;
	bool		is_blind;	/* its events were lost, and none has followed */
	bool		has_begun;	/* its first packet */
	bool		has_index;	/* its first losses are known, and are in @has_lost */
	bool		has_lost;	/* before its CPU is known */
	uint64_t	lost;
	int		cpu;		/* -1: unknown */
	int		cpu_member;	/* cpu_id of the packet context; -1: none */
	const bt_clock_class *clock;	/* or NULL */
	uint64_t	frequency;
	int64_t		shift_ns;	/* to the time of the first clock */
};

struct ctf_sink {
	struct trace_dat_writer *writer;	/* NULL before the first stream */
	int		fd, spool;
	uint64_t	most_bytes;
	struct ctf_events events;
	struct event_record record;
	struct ctf_counts counts;
	struct ctf_cpu	*cpus;
	size_t		n_cpus;
	size_t		n_held;		/* bytes that wait, of all CPUs */
	struct key_map	by_stream;	/* of addresses */
	struct ctf_stream *streams;
	size_t		room_streams;
	const bt_stream	*last;
	size_t		last_stream;
	uint64_t	version;	/* of messages */
	const bt_clock_class *first_clock; /* or NULL */
	int64_t		first_offset_ns;
	char		*host, *release;
	struct thread_names names;
	const char	*problem;
};

struct ctf_sink *ctf_sink_new(int fd, int spool, uint64_t most_bytes, uint64_t version)
{
	struct ctf_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return NULL;
	sink->fd = fd;
	sink->spool = spool;
	sink->most_bytes = most_bytes;
	sink->version = version;
	return sink;
}

void ctf_sink_free(struct ctf_sink *sink)
{
	if (!sink)
		return;
	trace_dat_writer_free(sink->writer);
	ctf_events_free(&sink->events);
	for (size_t i = 0; i < sink->n_cpus; i++)
		free(sink->cpus[i].held);
	free(sink->cpus);
	key_map_destroy(&sink->by_stream);
	free(sink->streams);
	thread_names_destroy(&sink->names);
	free(sink->host);
	free(sink->release);
	free(sink);
}

const char *ctf_sink_problem(const struct ctf_sink *sink)
{
	return sink->problem;
}

const struct ctf_counts *ctf_sink_counts(const struct ctf_sink *sink)
{
	return &sink->counts;
}

/* --- facts about the host -------------------------------------------------------------------- */

/** A fact of the trace's environment (CTF 1.8, "env"); NULL: it has none. */
static const char *environment(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

static const char *or_unknown(const char *text)
{
	return text ? text : "unknown";
}

/** Begin the file. Return: 0 or a negative errno. */
static int begin(struct ctf_sink *sink, const bt_trace *trace, const struct ctf_stream *stream)
{
	const char *clock = stream->clock ? bt_clock_class_get_name(stream->clock) : NULL;
	const char *host = environment(trace, "hostname");
	struct trace_dat_about about = {
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .long_size = 8,
		.clock = clock && !strcmp(clock, "monotonic") ? "mono" : NULL,
		.most_bytes = sink->most_bytes,
	};
	char *uname = NULL;

	if (host && asprintf(&uname, "%s %s %s %s", or_unknown(environment(trace, "sysname")), host,
			     or_unknown(sink->release),
			     or_unknown(environment(trace, "kernel_version"))) < 0)
		return -ENOMEM;
	about.uname = uname;
	sink->writer = trace_dat_writer_new(sink->fd, sink->spool, &about);
	free(uname);
	return sink->writer ? 0 : -errno;
}

/** Return: 0, -ENOMEM, or -EXDEV: it is another host than before. */
static int see_host(struct ctf_sink *sink, const bt_trace *trace, bool is_kernel)
{
	const char *host = environment(trace, "hostname");
	const char *release = environment(trace, "kernel_release");

	if (is_kernel && release && !sink->release) {
		sink->release = strdup(release);
		if (!sink->release)
			return -ENOMEM;
	}
	if (!host)
		return 0;
	if (!sink->host)
		sink->host = strdup(host);
	if (!sink->host)
		return -ENOMEM;
	if (!strcmp(sink->host, host))
		return 0;
	sink->problem = "it holds traces of several hosts. Give the folder of each host by itself";
	return -EXDEV;
}

/* --- clocks ---------------------------------------------------------------------------------- */

/** Since libbabeltrace2 2.1, the first version that has messages of version 1. */
extern bt_bool bt_clock_class_has_same_identity(const bt_clock_class *a, const bt_clock_class *b)
	__attribute__((weak));

static bool is_same_clock(const struct ctf_sink *sink, const bt_clock_class *a,
			  const bt_clock_class *b)
{
	bt_uuid uuid, other;

	if (sink->version)
		return bt_clock_class_has_same_identity && bt_clock_class_has_same_identity(a, b);
	uuid = bt_clock_class_get_uuid(a);
	other = bt_clock_class_get_uuid(b);
	return uuid && other && !memcmp(uuid, other, 16);
}

/** Do both clocks count from the same moment, or from moments that are known? */
static bool are_comparable(const struct ctf_sink *sink, const bt_clock_class *clock)
{
	const bt_clock_class *first = sink->first_clock;

	return clock == first || (bt_clock_class_origin_is_unix_epoch(clock) &&
				  bt_clock_class_origin_is_unix_epoch(first)) ||
	       is_same_clock(sink, clock, first);
}

/** Return: 0, or -EXDEV: it has nothing to do with the first one. */
static int see_clock(struct ctf_sink *sink, struct ctf_stream *stream)
{
	int64_t seconds, offset_ns;
	uint64_t cycles;
	__int128 whole;

	if (!stream->clock)
		return 0;
	stream->frequency = bt_clock_class_get_frequency(stream->clock);
	bt_clock_class_get_offset(stream->clock, &seconds, &cycles);
	whole = (__int128)seconds * 1000000000 +
		(__int128)cycles * 1000000000 / (stream->frequency ? stream->frequency : 1);
	offset_ns = whole > INT64_MAX ? INT64_MAX : whole < INT64_MIN ? INT64_MIN : (int64_t)whole;
	if (!sink->first_clock) {
		sink->first_clock = stream->clock;
		sink->first_offset_ns = offset_ns;
	} else if (!are_comparable(sink, stream->clock)) {
		sink->problem = "it holds traces whose clocks have no common beginning. Give the "
				"folder of each trace by itself";
		return -EXDEV;
	}
	whole = (__int128)offset_ns - sink->first_offset_ns;
	stream->shift_ns = whole > INT64_MAX ? INT64_MAX : whole < INT64_MIN ? INT64_MIN :
			   (int64_t)whole;
	return 0;
}

/** Return: 0 or -EOVERFLOW. */
static int time_of(struct ctf_sink *sink, const struct ctf_stream *stream,
		   const bt_message *message, uint64_t *ts)
{
	const bt_clock_snapshot *snapshot;
	__int128 ns;

	if (!stream->clock || !stream->frequency) {
		sink->problem = "its events have no times. Record it with a clock";
		return -EOVERFLOW;
	}
	snapshot = bt_message_event_borrow_default_clock_snapshot_const(message);
	ns = bt_clock_snapshot_get_value(snapshot);
	if (stream->frequency != 1000000000)
		ns = ns * 1000000000 / stream->frequency;
	ns += stream->shift_ns;
	if (ns < 0 || ns > INT64_MAX) {
		sink->problem = "a time in it is beyond 292 years. The trace is damaged";
		return -EOVERFLOW;
	}
	*ts = (uint64_t)ns;
	return 0;
}

/* --- streams --------------------------------------------------------------------------------- */

/** The format of an event says that it was recorded, also if there is none in the trace. */
static int declare_all(struct ctf_sink *sink, const bt_stream_class *class)
{
	uint64_t n = bt_stream_class_get_event_class_count(class);
	int ret = 0;

	for (uint64_t i = 0; i < n && !ret; i++) {
		const bt_event_class *event =
			bt_stream_class_borrow_event_class_by_index_const(class, i);
		const struct ctf_plan *plan = ctf_events_plan(&sink->events, event, sink->release);

		ret = plan ? event_format_declare(sink->writer, plan->format, plan->id) : -errno;
		if (ret == -E2BIG)
			sink->problem = "it has more than 65,000 kinds of events. Record fewer";
	}
	return ret;
}

static int find_member(const bt_field_class *class, const char *name)
{
	uint64_t n = class ? bt_field_class_structure_get_member_count(class) : 0;

	for (uint64_t i = 0; i < n && i < INT16_MAX; i++)
		if (!strcmp(name, bt_field_class_structure_member_get_name(
			    bt_field_class_structure_borrow_member_by_index_const(class, i))))
			return (int)i;
	return -1;
}

/** libbabeltrace2 names a stream after its first file. */
static void see_index(struct ctf_stream *stream, const bt_stream *of)
{
	const char *name = bt_stream_get_name(of);
	struct ctf_first first;

	if (!name || !ctf_index_first(name, &first))
		return;
	stream->has_index = true;
	stream->has_lost = first.has_lost;
	stream->lost = first.lost;
}

/** Return: its number, or a negative errno. */
static int64_t stream_of(struct ctf_sink *sink, const bt_stream *of)
{
	size_t known = sink->by_stream.n_keys;
	const bt_stream_class *class;
	struct ctf_stream *stream;
	const bt_trace *trace;
	const char *domain;
	int64_t at;
	int ret;

	if (of == sink->last)
		return (int64_t)sink->last_stream;
	at = KEY_MAP_ELEMENT(&sink->by_stream, (uint64_t)(uintptr_t)of, sink->streams,
			     sink->room_streams);
	if (at < 0)
		return at;
	sink->last = of;
	sink->last_stream = (size_t)at;
	if ((size_t)at < known)
		return at;
	class = bt_stream_borrow_class_const(of);
	trace = bt_stream_borrow_trace_const(of);
	domain = environment(trace, "domain");
	stream = &sink->streams[at];
	*stream = (struct ctf_stream){
		.is_kernel = !domain || !strcmp(domain, "kernel"), .cpu = -1,
		.clock = bt_stream_class_borrow_default_clock_class_const(class),
		.cpu_member = find_member(
			bt_stream_class_borrow_packet_context_field_class_const(class), "cpu_id"),
	};
	see_index(stream, of);
	ret = see_host(sink, trace, stream->is_kernel);
	if (!ret)
		ret = see_clock(sink, stream);
	if (!ret && !sink->writer)
		ret = begin(sink, trace, stream);
	if (!ret)
		ret = declare_all(sink, class);
	return ret ? ret : at;
}

static struct ctf_cpu *cpu_at(struct ctf_sink *sink, int cpu)
{
	if ((size_t)cpu >= sink->n_cpus && ARRAY_REACH(sink->cpus, cpu, sink->n_cpus))
		return NULL;
	return &sink->cpus[cpu];
}

static int64_t integer(const bt_field *field)
{
	bt_field_class_type type = field ? bt_field_get_class_type(field) : 0;
	uint64_t value;

	if (field && bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return bt_field_integer_signed_get_value(field);
	if (!field || !bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return -1;
	value = bt_field_integer_unsigned_get_value(field);
	return value > INT64_MAX ? -1 : (int64_t)value;
}

static int valid_cpu(int64_t cpu)
{
	return cpu >= 0 && cpu < TRACE_DAT_WRITE_CPUS ? (int)cpu : -1;
}

/* --- losses ---------------------------------------------------------------------------------- */

static int release_held(struct ctf_sink *sink, int cpu, int32_t pid);

/** Events of a CPU are missing before its next record. */
static int lose(struct ctf_sink *sink, int number, uint64_t count)
{
	struct ctf_cpu *cpu = cpu_at(sink, number);
	int ret = cpu ? release_held(sink, number, NO_PID) : -ENOMEM;

	if (ret)
		return ret;
	cpu->has_lost = true;
	cpu->is_known = false;
	cpu->hardirqs = 0;
	cpu->in_softirq = false;
	return trace_dat_writer_lost(sink->writer, number, count);
}

static int take_loss(struct ctf_sink *sink, const bt_stream *of, uint64_t count)
{
	int64_t at = stream_of(sink, of);
	struct ctf_stream *stream;
	struct ctf_cpu *cpu;

	if (at < 0)
		return (int)at;
	stream = &sink->streams[at];
	if (stream->cpu < 0) {
		/* of two losses, one with an unknown number is unknown */
		stream->lost = stream->has_lost && (!stream->lost || !count) ? 0 :
			       stream->lost + count;
		stream->has_lost = true;
		return 0;
	}
	cpu = cpu_at(sink, stream->cpu);
	if (!cpu)
		return -ENOMEM;
	cpu->n_blind += !stream->is_blind;
	stream->is_blind = true;
	return lose(sink, stream->cpu, count);
}

static int take_discarded_events(struct ctf_sink *sink, const bt_message *message)
{
	int64_t at = stream_of(sink, bt_message_discarded_events_borrow_stream_const(message));
	uint64_t count = 0;

	if (at < 0)
		return (int)at;
	/* version 2.1 has no message about a first packet */
	if (sink->streams[at].has_index && !sink->streams[at].has_begun)
		return 0;
	if (bt_message_discarded_events_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 0;
	return take_loss(sink, bt_message_discarded_events_borrow_stream_const(message), count);
}

static int take_packet(struct ctf_sink *sink, const bt_message *message)
{
	const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(message);
	int64_t at = stream_of(sink, bt_packet_borrow_stream_const(packet));
	const bt_field *context = bt_packet_borrow_context_field_const(packet);
	struct ctf_stream *stream;

	if (at < 0)
		return (int)at;
	stream = &sink->streams[at];
	stream->has_begun = true;
	if (stream->cpu_member < 0 || !context)
		return 0;
	stream->cpu = valid_cpu(integer(bt_field_structure_borrow_member_field_by_index_const(
					context, (uint64_t)stream->cpu_member)));
	if (stream->cpu < 0 || !stream->has_lost)
		return 0;
	stream->has_lost = false;
	return take_loss(sink, bt_packet_borrow_stream_const(packet), stream->lost);
}

/* --- threads --------------------------------------------------------------------------------- */

static int write_record(struct ctf_sink *sink, int cpu, uint64_t ts, const void *data, size_t size)
{
	sink->counts.events++;
	return trace_dat_writer_record(sink->writer, cpu, ts, data, size);
}

/** Write the records that have waited to know their thread. */
static int release_held(struct ctf_sink *sink, int number, int32_t pid)
{
	struct ctf_cpu *cpu = &sink->cpus[number];
	struct event_record record;
	struct held_head head;
	size_t at = 0;
	int ret = 0;

	while (at < cpu->n_held && !ret) {
		memcpy(&head, cpu->held + at, sizeof(head));
		memcpy(record.data, cpu->held + at + sizeof(head), head.size);
		event_record_pid(&record, pid);
		ret = write_record(sink, number, head.ts, record.data, head.size);
		at += sizeof(head) + head.size;
	}
	sink->n_held -= cpu->n_held;
	free(cpu->held);
	cpu->held = NULL;
	cpu->n_held = cpu->room_held = 0;
	return ret;
}

static int hold(struct ctf_sink *sink, int number, uint64_t ts)
{
	struct ctf_cpu *cpu = &sink->cpus[number];
	struct held_head head = { .ts = ts, .size = (uint32_t)sink->record.size };
	size_t bytes = sizeof(head) + sink->record.size;

	while (cpu->n_held + bytes > cpu->room_held)
		if (ARRAY_GROW(cpu->held, cpu->room_held, cpu->room_held))
			return -ENOMEM;
	memcpy(cpu->held + cpu->n_held, &head, sizeof(head));
	memcpy(cpu->held + cpu->n_held + sizeof(head), sink->record.data, sink->record.size);
	cpu->n_held += bytes;
	sink->n_held += bytes;
	return 0;
}

/** All records that wait have waited for too long. */
static int give_up(struct ctf_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; i < sink->n_cpus && !ret; i++)
		ret = release_held(sink, (int)i, NO_PID);
	return ret;
}

static int32_t number_of(const struct event_record *record, const struct ctf_plan *plan, int at)
{
	int32_t number;

	memcpy(&number, record->data + plan->format->fields[at].offset, sizeof(number));
	return number;
}

/** A name in a record, which is that of the thread whose number is another field. */
static int name_by_field(struct ctf_sink *sink, const struct ctf_plan *plan, int comm, int pid)
{
	const struct event_record *record = &sink->record;
	const struct event_field *field = comm < 0 ? NULL : &plan->format->fields[comm];
	uint32_t place;

	if (!field || pid < 0)
		return 0;
	if (field->kind == EVENT_COMM)
		return thread_names_put(&sink->names, sink->writer, number_of(record, plan, pid),
					(const char *)record->data + field->offset,
					EVENT_COMM_SIZE);
	if (field->kind != EVENT_TEXT)
		return 0;
	memcpy(&place, record->data + field->offset, sizeof(place));
	return thread_names_put(&sink->names, sink->writer, number_of(record, plan, pid),
				(const char *)record->data + (place & 0xffff), place >> 16);
}

/** The names in a record of sched_switch, or of the dump of all threads. */
static int name_by_record(struct ctf_sink *sink, const struct ctf_plan *plan)
{
	int ret = name_by_field(sink, plan, plan->comm, plan->next_pid);

	return ret ? ret : name_by_field(sink, plan, plan->prev_comm, plan->pid);
}

/* --- events ---------------------------------------------------------------------------------- */

/** An event, while its record is made. */
struct taking {
	const bt_event	*event;
	const bt_field	*context;	/* common to all events of its stream, or NULL */
	const struct ctf_plan *plan;
	struct ctf_stream *stream;
	int		cpu;
	uint64_t	ts;
};

static const bt_field *member(const struct taking *taking, int at)
{
	return at < 0 || !taking->context ? NULL :
	       bt_field_structure_borrow_member_field_by_index_const(taking->context,
								     (uint64_t)at);
}

/** common_flags, as far as they are known. */
static unsigned int flags_of(const struct taking *taking, const struct ctf_cpu *cpu)
{
	const bt_field *interruptible = member(taking, taking->plan->context.interruptible);
	unsigned int flags = (cpu->hardirqs ? RECORD_IN_HARDIRQ : 0) |
			     (cpu->in_softirq ? RECORD_IN_SOFTIRQ : 0);

	/* lttng-modules, lttng-context-interruptible.c: -1 is unknown */
	switch (interruptible ? integer(interruptible) : -1) {
	case 0:
		return flags | RECORD_IRQS_OFF;
	case 1:
		return flags;
	default:
		return flags | RECORD_IRQS_UNKNOWN;
	}
}

/** A handler is entered after the record of it, and left before. */
static void leave_handler(struct ctf_cpu *cpu, uint8_t role)
{
	if (role == CTF_LEAVE_HARDIRQ && cpu->hardirqs)
		cpu->hardirqs--;
	else if (role == CTF_LEAVE_SOFTIRQ)
		cpu->in_softirq = false;
	else if (role == CTF_SWITCH) {
		/* none of them can be switched away */
		cpu->hardirqs = 0;
		cpu->in_softirq = false;
	}
}

static void enter_handler(struct ctf_cpu *cpu, uint8_t role)
{
	if (role == CTF_ENTER_HARDIRQ)
		cpu->hardirqs++;
	else if (role == CTF_ENTER_SOFTIRQ)
		cpu->in_softirq = true;
}

/** The thread of a record, if the record shows it. */
static bool shows_thread(struct ctf_sink *sink, const struct taking *taking, int32_t *pid)
{
	const bt_field *tid = taking->stream->is_kernel ?
			      member(taking, taking->plan->context.tid) : NULL;

	if (tid) {
		*pid = (int32_t)bt_field_integer_signed_get_value(tid);
		return true;
	}
	if (taking->plan->role != CTF_SWITCH || taking->plan->pid < 0)
		return false;
	*pid = number_of(&sink->record, taking->plan, taking->plan->pid);
	return true;
}

static int name_by_context(struct ctf_sink *sink, const struct taking *taking, int32_t pid)
{
	const bt_field *name = taking->stream->is_kernel ?
			       member(taking, taking->plan->context.procname) : NULL;

	return name ? thread_names_put(&sink->names, sink->writer, pid,
				       bt_field_string_get_value(name),
				       bt_field_string_get_length(name)) : 0;
}

/** Write or hold the record. */
static int put_record(struct ctf_sink *sink, struct taking *taking, struct ctf_cpu *cpu)
{
	int32_t pid = NO_PID;
	int ret = 0;

	/* nothing shows where another thread follows; all streams have begun by now */
	if (!sink->events.has_switch) {
		if (shows_thread(sink, taking, &pid))
			ret = name_by_context(sink, taking, pid);
		event_record_pid(&sink->record, pid);
		return ret ? ret : write_record(sink, taking->cpu, taking->ts, sink->record.data,
						sink->record.size);
	}
	if (shows_thread(sink, taking, &pid)) {
		ret = release_held(sink, taking->cpu, pid);
		if (!ret)
			ret = name_by_context(sink, taking, pid);
		cpu->is_known = true;
		cpu->pid = pid;
	} else if (!cpu->is_known) {
		ret = hold(sink, taking->cpu, taking->ts);
		return !ret && sink->n_held > MOST_HELD ? give_up(sink) : ret;
	}
	event_record_pid(&sink->record, cpu->pid);
	if (!ret)
		ret = write_record(sink, taking->cpu, taking->ts, sink->record.data,
				   sink->record.size);
	if (taking->plan->role == CTF_SWITCH && taking->plan->next_pid >= 0)
		cpu->pid = number_of(&sink->record, taking->plan, taking->plan->next_pid);
	return ret;
}

/** Records of another channel may be missing before this one. */
static int see_blind(struct ctf_sink *sink, struct taking *taking, struct ctf_cpu *cpu)
{
	if (!cpu->n_blind)
		return 0;
	if (taking->stream->is_blind) {
		taking->stream->is_blind = false;
		cpu->n_blind--;
	}
	/* a loss with its number is not made one with an unknown number */
	return cpu->has_lost ? 0 : lose(sink, taking->cpu, 0);
}

static int take_known(struct ctf_sink *sink, struct taking *taking)
{
	struct ctf_cpu *cpu = cpu_at(sink, taking->cpu);
	int ret = cpu ? see_blind(sink, taking, cpu) : -ENOMEM;

	if (ret)
		return ret;
	leave_handler(cpu, taking->plan->role);
	ctf_events_record(taking->plan, taking->event, flags_of(taking, cpu), &sink->record);
	if (taking->plan->role == CTF_SWITCH || taking->plan->role == CTF_PROCESS)
		ret = name_by_record(sink, taking->plan);
	if (!ret)
		ret = put_record(sink, taking, cpu);
	cpu->has_lost = false;
	enter_handler(cpu, taking->plan->role);
	return ret;
}

static int take_event(struct ctf_sink *sink, const bt_message *message)
{
	struct taking taking = { .event = bt_message_event_borrow_event_const(message) };
	int64_t at = stream_of(sink, bt_event_borrow_stream_const(taking.event));
	int ret;

	if (at < 0)
		return (int)at;
	taking.stream = &sink->streams[at];
	taking.plan = ctf_events_plan(&sink->events, bt_event_borrow_class_const(taking.event),
				      sink->release);
	if (!taking.plan)
		return -errno;
	if (taking.plan->needs_context)
		taking.context = bt_event_borrow_common_context_field_const(taking.event);
	taking.cpu = taking.stream->cpu;
	if (taking.cpu < 0)
		taking.cpu = valid_cpu(integer(member(&taking, taking.plan->context.cpu_id)));
	if (taking.cpu < 0) {
		sink->counts.without_cpu++;
		return 0;
	}
	ret = time_of(sink, taking.stream, message, &taking.ts);
	return ret ? ret : take_known(sink, &taking);
}

int ctf_sink_take(struct ctf_sink *sink, const bt_message *message)
{
	int64_t at;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		at = stream_of(sink, bt_message_stream_beginning_borrow_stream_const(message));
		return at < 0 ? (int)at : 0;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return take_packet(sink, message);
	case BT_MESSAGE_TYPE_EVENT:
		return take_event(sink, message);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return take_discarded_events(sink, message);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return take_loss(sink,
				 bt_message_discarded_packets_borrow_stream_const(message), 0);
	default:
		return 0;
	}
}

/**
 * A record was written by an interrupt if it lies between records of its entry and its exit. All
 * kinds of interrupts have to be recorded for that.
 */
static int declare_context(struct ctf_sink *sink)
{
	const struct ctf_events *events = &sink->events;

	sink->counts.no_context = !events->has_hardirq || !events->has_vector ||
				  !events->has_softirq;
	return sink->counts.no_context ? event_format_no_context(sink->writer, CTF_FIRST_ID - 1) :
					 0;
}

int ctf_sink_finish(struct ctf_sink *sink)
{
	int ret = give_up(sink);

	sink->counts.fields = sink->events.n_left_out;
	if (!ret && !sink->writer)
		return -ENODATA;
	if (!ret)
		ret = declare_context(sink);
	return ret ? ret : trace_dat_writer_finish(sink->writer);
}
