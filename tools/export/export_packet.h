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

struct ProtobufCMessage;

/** Names of annotations. */
enum packet_note {
	NOTE_PCPU = 0,
	NOTE_VCPU,
	NOTE_CULPRIT,
	NOTE_WAKER,
	NOTE_ARGUMENT,
	NOTE_COST,
	NOTE_LATENCY,
	NOTE_RECORDS,
	NOTE_N
};

/** A value beside an event; at most PACKET_NOTES. */
struct packet_note_value {
	enum packet_note note;
	bool		is_name;	/* @value: the number of a name */
	int64_t		value;
	const char	*text;		/* instead of a value; is escaped */
};
#define PACKET_NOTES	4

/** What happens on a track. A state lasts until the next one; one without a name is none. */
struct packet_event {
	enum {
		PACKET_BEGIN = 1, PACKET_END, PACKET_INSTANT, PACKET_COUNTER, PACKET_STATE,
	} type;
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
	bool		has_states;	/* a track of states, not of slices */
};

/** A machine: the host is 0. */
struct packet_machine {
	uint32_t	number;
	const char	*name;		/* is escaped */
	const char	*sysname, *release, *arch;	/* "Linux", "6.1.0", "x86_64"; or NULL */
};

/** A thread of a machine. */
struct packet_thread {
	int64_t		process;
	int64_t		tid;
	const char	*name;		/* is escaped; NULL: ftrace names it */
};

/** What a hypervisor without ftrace does with a vCPU: values of the format. */
enum packet_task_state {
	PACKET_RUNNABLE = 2, PACKET_RUNNING = 3, PACKET_SLEEPS = 4, PACKET_STOPPED = 6,
	PACKET_GONE = 8,		/* from then on, nothing is known */
};

/** packet_begin - the head of a trace; @tsc: at time 0; 0: not known */
void packet_begin(struct output *out, uint64_t tsc);

/** packet_name - from now on, a name has a number above 0; it is escaped */
void packet_name(struct output *out, uint64_t number, const char *name);

void packet_track(struct output *out, const struct packet_track *track);
void packet_event(struct output *out, const struct packet_event *event);

/**
 * packet_machine - what follows of a machine comes after this
 * @time_ns: some time above 0; its clock is the host's
 */
void packet_machine(struct output *out, const struct packet_machine *machine, int64_t time_ns);

/** packet_clock - at a time of the host, the machine's own clock, in ns, was that */
void packet_clock(struct output *out, uint32_t machine, int64_t time_ns, uint64_t own);

/** packet_process - a process of the host; @name is escaped */
void packet_process(struct output *out, int64_t time_ns, int32_t pid, const char *name);
void packet_process_thread(struct output *out, int64_t time_ns, int32_t pid, int32_t tid);

/** packet_task - a vCPU is a thread of a hypervisor without ftrace; @process: its machine's name */
void packet_task(struct output *out, int64_t time_ns, const struct packet_thread *thread,
		 const char *process);
void packet_task_state(struct output *out, int64_t time_ns, const struct packet_thread *thread,
		       enum packet_task_state state, int32_t pcpu);

/** packet_ftrace - records of a CPU; @bundle is a FtraceEventBundle of perfetto.proto */
void packet_ftrace(struct output *out, uint32_t machine, struct ProtobufCMessage *bundle);

#endif
