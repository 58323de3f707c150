// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	export_packet.c
 * @brief	Packets of Perfetto's trace format, by protobuf-c.
 */
#include <errno.h>
#include <perfetto.pb-c.h>

#include "escape.h"
#include "export_packet.h"
#include "export_sink.h"

/** Clocks of the format, and what is said of a sequence. */
#define CLOCK_BOOTTIME		6
#define CLOCK_TSC		9
#define SEQUENCE		1
#define STATE_CLEARED		1
#define STATE_NEEDED		2

/** The largest packet has a name or two. */
#define PACKET_SIZE		(4 * EXPORT_TEXT_SIZE)
/** Of the field "packet" of a trace. */
#define PACKET_TAG		0x0a

static void put_varint(struct output *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		out_char(out, (char)(value | 0x80));
	out_char(out, (char)value);
}

static void put(struct output *out, Ksv__TracePacket *packet)
{
	uint8_t bytes[PACKET_SIZE];
	size_t size;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = true;
	packet->sequence_flags |= STATE_NEEDED;
	size = ksv__trace_packet__get_packed_size(packet);
	if (size > sizeof(bytes)) {
		out->error = out->error ? out->error : E2BIG;
		return;
	}
	ksv__trace_packet__pack(packet, bytes);
	out_char(out, PACKET_TAG);
	put_varint(out, size);
	out_mem(out, (const char *)bytes, size);
}

void packet_begin(struct output *out, uint64_t tsc)
{
	static const char *const names[NOTE_N] = {
		[NOTE_PCPU] = "pcpu", [NOTE_DETAIL] = "detail", [NOTE_COST] = "cost_ns",
		[NOTE_LATENCY] = "latency_ns", [NOTE_RANK] = "rank", [NOTE_RECORDS] = "records",
	};
	Ksv__ClockSnapshot__Clock clocks[2] = {
		KSV__CLOCK_SNAPSHOT__CLOCK__INIT, KSV__CLOCK_SNAPSHOT__CLOCK__INIT,
	};
	Ksv__ClockSnapshot__Clock *all_clocks[2] = { &clocks[0], &clocks[1] };
	Ksv__ClockSnapshot snapshot = KSV__CLOCK_SNAPSHOT__INIT;
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
	for (int i = 0; i < 2; i++)
		clocks[i].has_clock_id = clocks[i].has_timestamp = true;
	clocks[0].clock_id = CLOCK_BOOTTIME;
	clocks[1].clock_id = CLOCK_TSC;
	clocks[1].timestamp = tsc;
	snapshot.n_clocks = tsc ? 2 : 1;
	snapshot.clocks = all_clocks;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = CLOCK_BOOTTIME;
	clock.clock_snapshot = &snapshot;
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
	counter.unit_name = (char *)track->unit;
	descriptor.counter = track->unit ? &counter : NULL;
	packet.track_descriptor = &descriptor;
	put(out, &packet);
}

static void set_note(Ksv__DebugAnnotation *annotation, const struct packet_note_value *note)
{
	ksv__debug_annotation__init(annotation);
	annotation->has_name_iid = true;
	annotation->name_iid = (uint64_t)note->note + 1;
	annotation->has_string_value_iid = note->is_name;
	annotation->string_value_iid = (uint64_t)note->value;
	annotation->has_int_value = !note->is_name;
	annotation->int_value = note->value;
}

void packet_event(struct output *out, const struct packet_event *event)
{
	Ksv__DebugAnnotation notes[PACKET_NOTES], *all[PACKET_NOTES];
	uint64_t from = event->flow_from, to = event->flow_to;
	Ksv__TrackEvent told = KSV__TRACK_EVENT__INIT;
	Ksv__TracePacket packet = KSV__TRACE_PACKET__INIT;

	for (int i = 0; i < event->n_notes; i++) {
		set_note(&notes[i], &event->notes[i]);
		all[i] = &notes[i];
	}
	told.n_debug_annotations = (size_t)event->n_notes;
	told.debug_annotations = all;
	told.has_type = true;
	told.type = (Ksv__TrackEvent__Type)event->type;
	told.has_track_uuid = true;
	told.track_uuid = event->track;
	told.has_name_iid = event->name != 0;
	told.name_iid = event->name;
	told.has_counter_value = event->type == PACKET_COUNTER;
	told.counter_value = event->value;
	told.n_flow_ids = from != 0;
	told.flow_ids = &from;
	told.n_terminating_flow_ids = to != 0;
	told.terminating_flow_ids = &to;
	packet.has_timestamp = true;
	packet.timestamp = (uint64_t)event->time_ns;
	packet.track_event = &told;
	put(out, &packet);
}
