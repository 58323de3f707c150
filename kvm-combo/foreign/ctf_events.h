/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_events.h
 * @brief	Event classes of a CTF trace as events of ftrace.
 *
 * Each field of an event becomes one of ftrace's: integers, enumerations and booleans become
 * numbers, strings become text, arrays of integers become arrays. Members of structures become
 * fields of their own. Other values, for which ftrace has no type, become text. libbabeltrace2 2.0
 * documents the types ("Field classes" in its C API).
 */
#ifndef KSHARK_VIRT_CTF_EVENTS_H
#define KSHARK_VIRT_CTF_EVENTS_H

#include <babeltrace2/babeltrace.h>

#include "event_format.h"
#include "key_map.h"

/** Events that the reader itself understands. */
enum ctf_role {
	CTF_PLAIN,
	CTF_SWITCH,		/* sched_switch */
	CTF_PROCESS,		/* lttng_statedump_process_state: the name of a thread */
	CTF_ENTER_HARDIRQ,
	CTF_LEAVE_HARDIRQ,
	CTF_ENTER_SOFTIRQ,
	CTF_LEAVE_SOFTIRQ,
};

/** Members of an event's common context that the reader needs; -1: it has none. */
struct ctf_context {
	int	tid, procname, interruptible, cpu_id;
};

/** Where a field comes from: indexes of members, from an event's payload or context inwards. */
#define CTF_DEPTH	4

enum ctf_scope { CTF_PAYLOAD, CTF_SPECIFIC, CTF_COMMON, CTF_N_SCOPES };

struct ctf_op {
	uint8_t		scope;			/* enum ctf_scope */
	uint8_t		depth;
	uint8_t		type;			/* enum ctf_type of ctf_events.c */
	uint16_t	field;			/* of the format */
	uint16_t	path[CTF_DEPTH];
	int64_t		add;
	uint64_t	most;			/* a larger number is unknown: -1; 0: any is one */
};

/** How records of an event class are made. */
struct ctf_plan {
	struct event_format *format;	/* shared by all classes of one name */
	uint16_t	id;
	uint8_t		role;		/* enum ctf_role */
	bool		has_payload[CTF_N_SCOPES];
	struct ctf_op	*ops;
	size_t		n_ops, room;
	int		pid, next_pid;	/* fields of CTF_SWITCH and CTF_PROCESS, or -1 */
	int		prev_comm, comm;	/* their names */
	bool		needs_context;	/* @context has a member */
	struct ctf_context context;
};

/** All classes of a trace. All zero is none. */
struct ctf_events {
	struct key_map	by_class;	/* of addresses of event classes */
	struct ctf_plan	**plans;
	size_t		room_plans;
	struct key_map	by_name;	/* of hashes of names */
	struct event_format **formats;
	size_t		room_formats;
	const bt_event_class *last;	/* the class that was asked for last, and its plan */
	struct ctf_plan	*last_plan;
	bool		has_hardirq, has_vector, has_softirq;	/* events of entries into them */
	bool		has_switch;	/* an event of the scheduler shows the threads of CPUs */
	size_t		n_left_out;	/* fields for which an event had no room */
};

/** Numbers of events begin here: ftrace's own records have lower ones. */
#define CTF_FIRST_ID	256

/**
 * ctf_events_plan - the plan of an event class, which is made if it is new
 * @release: of the kernel, or NULL
 *
 * Return: the plan, which stays with @events; NULL with errno: ENOMEM, E2BIG (too many events).
 */
struct ctf_plan *ctf_events_plan(struct ctf_events *events, const bt_event_class *class,
				 const char *release);

/** ctf_events_record - an event as a record; common_pid is 0, and common_flags are @flags */
void ctf_events_record(const struct ctf_plan *plan, const bt_event *event, unsigned int flags,
		       struct event_record *record);

/** ctf_events_free - free all plans and formats */
void ctf_events_free(struct ctf_events *events);

#endif
