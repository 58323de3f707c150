/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_packet.h
 * @brief	Packets of Perfetto's trace format, one after the other, into an output.
 */
#ifndef KSHARK_VIRT_EXPORT_PACKET_H
#define KSHARK_VIRT_EXPORT_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"

/** Names of annotations. */
enum packet_note {
	NOTE_PCPU = 0,
	NOTE_DETAIL,
	NOTE_COST,
	NOTE_LATENCY,
	NOTE_RANK,
	NOTE_RECORDS,
	NOTE_N
};

/** A value beside an event; at most PACKET_NOTES. */
struct packet_note_value {
	enum packet_note note;
	bool		is_name;	/* @value: the number of a name */
	int64_t		value;
};
#define PACKET_NOTES	4

/** What happens on a track. */
struct packet_event {
	enum { PACKET_BEGIN = 1, PACKET_END, PACKET_INSTANT, PACKET_COUNTER } type;
	uint64_t	track;
	int64_t		time_ns;	/* not below 0 */
	uint64_t	name;		/* of packet_name(); 0: none */
	int64_t		value;		/* of a counter */
	uint64_t	flow_from, flow_to; /* a flow that begins or ends here; 0: none */
	struct packet_note_value notes[PACKET_NOTES];
	int		n_notes;
};

/** A track; all of one parent are in the order of @rank. */
struct packet_track {
	uint64_t	track, parent;	/* parent 0: none */
	const char	*name;		/* is escaped */
	int32_t		rank;
	const char	*unit;		/* of a counter; or NULL */
};

/** packet_begin - the head of a trace; @tsc: at time 0; 0: not known */
void packet_begin(struct output *out, uint64_t tsc);

/** packet_name - from now on, a name has a number above 0; it is escaped */
void packet_name(struct output *out, uint64_t number, const char *name);

void packet_track(struct output *out, const struct packet_track *track);
void packet_event(struct output *out, const struct packet_event *event);

#endif
