// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_packet.c
 * @brief	Packets of Perfetto's trace format, by protobuf-c.
 */
#include <errno.h>
#include <stdlib.h>

#include <perfetto.pb-c.h>

#include "escape.h"
#include "export_packet.h"
#include "export_sink.h"

/** Clocks of the format, and flags of a sequence. From 64 on, a clock is its sequence's. */
#define CLOCK_BOOTTIME		6
#define CLOCK_TSC		9
#define CLOCK_OWN		64
#define STATE_CLEARED		1
#define STATE_NEEDED		2

/** Most packets are smaller; those with records are not. */
#define PACKET_SIZE		((size_t)4096)

/** Each machine has a sequence of packets. */
static uint32_t sequence_of(uint32_t machine)
{
	return machine + 1;
}

static void put_of(struct output *out, uint32_t machine, Ksv__TracePacket *packet)
{
	uint8_t room[PACKET_SIZE], *bytes = room;
	Ksv__Trace trace = KSV__TRACE__INIT;
	size_t size;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = sequence_of(machine);
	packet->has_machine_id = machine != 0;
	packet->machine_id = machine;
	/* a trace is its packets, one after the other */
	trace.n_packet = 1;
	trace.packet = &packet;
	size = ksv__trace__get_packed_size(&trace);
	if (size > sizeof(room))
		bytes = malloc(size);
	if (bytes) {
		ksv__trace__pack(&trace, bytes);
		out_mem(out, (const char *)bytes, size);
	} else {
		out->error = out->error ? out->error : ENOMEM;
	}
	if (bytes != room)
		free(bytes);
}

/** Of the host, with numbers for names. */
static void put(struct output *out, Ksv__TracePacket *packet)
{
	packet->has_sequence_flags = true;
	packet->sequence_flags |= STATE_NEEDED;
	put_of(out, 0, packet);
}

/** BOOTTIME and another clock at one moment. */
struct clocks {
	Ksv__ClockSnapshot	snapshot;
	Ksv__ClockSnapshot__Clock clock[2], *all[2];
};

static void clocks_at(struct clocks *clocks, int64_t time_ns, uint32_t other, uint64_t value)
{
	ksv__clock_snapshot__init(&clocks->snapshot);
	for (int i = 0; i < 2; i++) {
		ksv__clock_snapshot__clock__init(&clocks->clock[i]);
		clocks->clock[i].has_clock_id = clocks->clock[i].has_timestamp = true;
		clocks->all[i] = &clocks->clock[i];
	}
	clocks->clock[0].clock_id = CLOCK_BOOTTIME;
	clocks->clock[0].timestamp = (uint64_t)time_ns;
	clocks->clock[1].clock_id = other;
	clocks->clock[1].timestamp = value;
	clocks->snapshot.n_clocks = 2;
	clocks->snapshot.clocks = clocks->all;
}

void packet_begin(struct output *out, uint64_t tsc)
{
	static const char *const names[NOTE_N] = {
		[NOTE_PCPU] = "pcpu", [NOTE_VCPU] = "vcpu", [NOTE_CULPRIT] = "culprit",
		[NOTE_WAKER] = "waker", [NOTE_ARGUMENT] = "argument", [NOTE_COST] = "cost_ns",
		[NOTE_LATENCY] = "latency_ns", [NOTE_RECORDS] = "records",
	};
	struct clocks clocks;
	Ksv__TracePacketDefaults defaults = KSV__TRACE_PACKET_DEFAULTS__INIT;
	Ksv__TracePacket head = KSV__TRACE_PACKET__INIT, clock = KSV__TRACE_PACKET__INIT;
	Ksv__InternedName notes[NOTE_N], *all_notes[NOTE_N];
	Ksv__InternedData data = KSV__INTERNED_DATA__INIT;

	for (int i = 0; i < NOTE_N; i++) {
		ksv__interned_name__init(&notes[i]);
		notes[i].has_iid = true;
		notes[i].iid = (uint64_t)i + 1;
		notes[i].name = (char *)names[i];
		all_notes[i] = &notes[i];
	}
	data.n_debug_annotation_names = NOTE_N;
	data.debug_annotation_names = all_notes;
	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = CLOCK_BOOTTIME;
	head.sequence_flags = STATE_CLEARED;
	head.interned_data = &data;
	head.trace_packet_defaults = &defaults;
	put(out, &head);
	clocks_at(&clocks, 0, CLOCK_TSC, tsc);
	clocks.snapshot.n_clocks = tsc ? 2 : 1;
	clocks.snapshot.has_primary_trace_clock = true;
	clocks.snapshot.primary_trace_clock = CLOCK_BOOTTIME;
	clock.clock_snapshot = &clocks.snapshot;
	put(out, &clock);
}

void packet_name(struct output *out, uint64_t number, const char *name)
{
	char text[EXPORT_TEXT_SIZE];
	Ksv__InternedName interned = KSV__INTERNED_NAME__INIT, *all = &interned;
	Ksv__InternedData data = KSV__INTERNED_DATA__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	escape_text(text, sizeof(text), name);
	interned.has_iid = true;
	interned.iid = number;
	interned.name = text;
	data.n_event_names = data.n_debug_annotation_string_values = 1;
	data.event_names = data.debug_annotation_string_values = &all;
	packet.interned_data = &data;
	put(out, &packet);
}

void packet_track(struct output *out, const struct packet_track *track)
{
	char text[EXPORT_TEXT_SIZE];
	Ksv__CounterDescriptor counter = KSV__COUNTER_DESCRIPTOR__INIT;
	Ksv__StateDescriptor states = KSV__STATE_DESCRIPTOR__INIT;
	Ksv__TrackDescriptor descriptor = KSV__TRACK_DESCRIPTOR__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	escape_text(text, sizeof(text), track->name);
	descriptor.has_uuid = true;
	descriptor.uuid = track->track;
	descriptor.name = text;
	descriptor.has_parent_uuid = track->parent != 0;
	descriptor.parent_uuid = track->parent;
	descriptor.has_child_ordering = true;
	descriptor.child_ordering = KSV__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
	descriptor.has_sibling_order_rank = true;
	descriptor.sibling_order_rank = track->rank;
	descriptor.state = track->has_states ? &states : NULL;
	counter.unit_name = (char *)track->unit;
	descriptor.counter = track->unit ? &counter : NULL;
	packet.track_descriptor = &descriptor;
	put(out, &packet);
}

/** More than the argument of any exit. */
#define NOTE_TEXT	256

static void set_note(Ksv__DebugAnnotation *annotation, const struct packet_note_value *note,
		     char text[NOTE_TEXT])
{
	ksv__debug_annotation__init(annotation);
	annotation->has_name_iid = true;
	annotation->name_iid = (uint64_t)note->note + 1;
	annotation->has_string_value_iid = note->is_name && !note->text;
	annotation->string_value_iid = (uint64_t)note->value;
	annotation->has_int_value = !note->is_name && !note->text;
	annotation->int_value = note->value;
	if (note->text) {
		escape_text(text, NOTE_TEXT, note->text);
		annotation->string_value = text;
	}
}

void packet_event(struct output *out, const struct packet_event *event)
{
	Ksv__DebugAnnotation notes[PACKET_NOTES], *all[PACKET_NOTES];
	uint64_t from = event->flow_from, to = event->flow_to;
	Ksv__TrackEvent of_track = KSV__TRACK_EVENT__INIT;
	char texts[PACKET_NOTES][NOTE_TEXT];
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	for (int i = 0; i < event->n_notes; i++) {
		set_note(&notes[i], &event->notes[i], texts[i]);
		all[i] = &notes[i];
	}
	of_track.n_debug_annotations = (size_t)event->n_notes;
	of_track.debug_annotations = all;
	of_track.has_type = true;
	of_track.type = (Ksv__TrackEvent__Type)event->type;
	of_track.has_track_uuid = true;
	of_track.track_uuid = event->track;
	of_track.has_name_iid = event->name != 0;
	of_track.name_iid = event->name;
	of_track.has_counter_value = event->type == PACKET_COUNTER;
	of_track.counter_value = event->value;
	of_track.n_flow_ids = from != 0;
	of_track.flow_ids = &from;
	of_track.n_terminating_flow_ids = to != 0;
	of_track.terminating_flow_ids = &to;
	packet.has_timestamp = true;
	packet.timestamp = (uint64_t)event->time_ns;
	packet.track_event = &of_track;
	put(out, &packet);
}

/* --- machines and their threads -------------------------------------------------------------- */

/** Clocks of a machine are those of the host: two rounds at one moment show an offset of 0. */
static void put_remote_clock(struct output *out, uint32_t machine, int64_t time_ns)
{
	Ksv__RemoteClockSync__SyncedClocks synced = KSV__REMOTE_CLOCK_SYNC__SYNCED_CLOCKS__INIT;
	Ksv__RemoteClockSync__SyncedClocks *rounds[2] = { &synced, &synced };
	Ksv__RemoteClockSync sync = KSV__REMOTE_CLOCK_SYNC__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;
	struct clocks clocks;

	clocks_at(&clocks, time_ns, 0, 0);
	clocks.snapshot.n_clocks = 1;
	synced.client_clocks = synced.host_clocks = &clocks.snapshot;
	sync.n_synced_clocks = 2;
	sync.synced_clocks = rounds;
	packet.remote_clock_sync = &sync;
	put_of(out, machine, &packet);
}

void packet_machine(struct output *out, const struct packet_machine *machine, int64_t time_ns)
{
	char name[EXPORT_TEXT_SIZE], sysname[NOTE_TEXT], release[NOTE_TEXT], arch[NOTE_TEXT];
	Ksv__Utsname utsname = KSV__UTSNAME__INIT;
	Ksv__SystemInfo info = KSV__SYSTEM_INFO__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	if (machine->number)
		put_remote_clock(out, machine->number, time_ns);
	escape_text(name, sizeof(name), machine->name);
	info.machine_name = name;
	if (machine->release) {
		escape_text(sysname, sizeof(sysname), machine->sysname);
		escape_text(release, sizeof(release), machine->release);
		escape_text(arch, sizeof(arch), machine->arch);
		utsname.sysname = sysname;
		utsname.release = release;
		utsname.machine = arch;
		info.utsname = &utsname;
	}
	packet.system_info = &info;
	put_of(out, machine->number, &packet);
}

void packet_clock(struct output *out, uint32_t machine, int64_t time_ns, uint64_t own)
{
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;
	struct clocks clocks;

	clocks_at(&clocks, time_ns, CLOCK_OWN, own);
	packet.clock_snapshot = &clocks.snapshot;
	put_of(out, machine, &packet);
}

void packet_process_thread(struct output *out, int64_t time_ns, int32_t pid, int32_t tid)
{
	Ksv__ProcessTree__Thread thread = KSV__PROCESS_TREE__THREAD__INIT, *threads = &thread;
	Ksv__ProcessTree tree = KSV__PROCESS_TREE__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	thread.has_tid = thread.has_tgid = true;
	thread.tid = tid;
	thread.tgid = pid;
	tree.n_threads = 1;
	tree.threads = &threads;
	packet.has_timestamp = true;
	packet.timestamp = (uint64_t)time_ns;
	packet.process_tree = &tree;
	put_of(out, 0, &packet);
}

void packet_process(struct output *out, int64_t time_ns, int32_t pid, const char *name)
{
	char text[EXPORT_TEXT_SIZE], *cmdline = text;
	Ksv__ProcessTree__Process process = KSV__PROCESS_TREE__PROCESS__INIT, *all = &process;
	Ksv__ProcessTree tree = KSV__PROCESS_TREE__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	escape_text(text, sizeof(text), name);
	process.has_pid = true;
	process.pid = pid;
	process.n_cmdline = 1;
	process.cmdline = &cmdline;
	tree.n_processes = 1;
	tree.processes = &all;
	packet.has_timestamp = true;
	packet.timestamp = (uint64_t)time_ns;
	packet.process_tree = &tree;
	put_of(out, 0, &packet);
}

void packet_task(struct output *out, int64_t time_ns, const struct packet_thread *thread,
		 const char *process)
{
	char name[EXPORT_TEXT_SIZE], comm[EXPORT_TEXT_SIZE];
	Ksv__GenericKernelProcessTree__Process of = KSV__GENERIC_KERNEL_PROCESS_TREE__PROCESS__INIT;
	Ksv__GenericKernelProcessTree__Process *all_of = &of;
	Ksv__GenericKernelProcessTree__Thread task = KSV__GENERIC_KERNEL_PROCESS_TREE__THREAD__INIT;
	Ksv__GenericKernelProcessTree__Thread *all = &task;
	Ksv__GenericKernelProcessTree tree = KSV__GENERIC_KERNEL_PROCESS_TREE__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	escape_text(name, sizeof(name), process);
	escape_text(comm, sizeof(comm), thread->name);
	of.has_pid = task.has_pid = task.has_tid = true;
	of.pid = task.pid = thread->process;
	of.cmdline = name;
	task.tid = thread->tid;
	task.comm = comm;
	tree.n_processes = tree.n_threads = 1;
	tree.processes = &all_of;
	tree.threads = &all;
	packet.has_timestamp = true;
	packet.timestamp = (uint64_t)time_ns;
	packet.generic_kernel_process_tree = &tree;
	put_of(out, 0, &packet);
}

void packet_task_state(struct output *out, int64_t time_ns, const struct packet_thread *thread,
		       enum packet_task_state state, int32_t pcpu)
{
	char comm[EXPORT_TEXT_SIZE];
	Ksv__GenericKernelTaskStateEvent event = KSV__GENERIC_KERNEL_TASK_STATE_EVENT__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	escape_text(comm, sizeof(comm), thread->name);
	event.has_cpu = pcpu >= 0;
	event.has_tid = event.has_state = true;
	event.cpu = pcpu;
	event.comm = comm;
	event.tid = thread->tid;
	event.state = (Ksv__GenericKernelTaskStateEvent__TaskState)state;
	packet.has_timestamp = true;
	packet.timestamp = (uint64_t)time_ns;
	packet.generic_kernel_task_state_event = &event;
	put_of(out, 0, &packet);
}

/* --- ftrace ---------------------------------------------------------------------------------- */

void packet_ftrace(struct output *out, uint32_t machine, ProtobufCMessage *bundle)
{
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	packet.ftrace_events = (Ksv__FtraceEventBundle *)bundle;
	put_of(out, machine, &packet);
}
