/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_tracing.h
 * @brief	The settings of tracefs that a recorder changes, and their restoration.
 */
#ifndef KSHARK_VIRT_RECORD_TRACING_H
#define KSHARK_VIRT_RECORD_TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

struct record_tracing_state {
	int			on;
	unsigned long long	buffer_kb;	/* per CPU; 0: not known */
	char			clock[32];
	uint64_t		events;		/* a number for those that are enabled; 0: none, or
						 * not known */
};

/**
 * record_tracing_use - from now on, buffers are those of an instance of tracefs
 * @instance: its name; NULL: those that all tracers share, as at first
 */
void record_tracing_use(const char *instance);

/** record_tracing_is_own - are they those of an instance? */
bool record_tracing_is_own(void);

/** record_tracing_stop - no more is recorded. */
void record_tracing_stop(void);

/** record_tracing_is_on - do the buffers take records? */
bool record_tracing_is_on(void);

/** record_tracing_save - remember how it is now. */
void record_tracing_save(void);

/** record_tracing_before - what was remembered. */
const struct record_tracing_state *record_tracing_before(void);

/** record_tracing_mark - remember how it is while this one records. */
void record_tracing_mark(void);

/**
 * record_tracing_expect - remember which events will be enabled, and nothing else
 * @events: SYSTEM or SYSTEM:EVENT
 *
 * A recorder that is killed before record_tracing_mark() has so left a way to recognize its events.
 */
void record_tracing_expect(const char *const *events, int n);

/** record_tracing_marked - what was remembered; nothing before it. */
const struct record_tracing_state *record_tracing_marked(void);

/** What has become of what a recorder left that was killed. */
enum record_tracing_left {
	RECORD_TRACING_OURS,		/* it goes on as it was left */
	RECORD_TRACING_ENDED,		/* tracing is not in use */
	RECORD_TRACING_OTHERS,		/* another program traces */
};

/**
 * record_tracing_look - whose is what traces now?
 * @marked: by the recorder that was killed; without a clock, it has only expected these events
 * @alive: processes of it were still there: until they end, no other program can have begun
 */
enum record_tracing_left record_tracing_look(const struct record_tracing_state *marked,
					     bool alive);

/** record_tracing_settle - as it was, where it is still as marked; if no other program traces */
void record_tracing_settle(const struct record_tracing_state *before,
			   const struct record_tracing_state *marked, bool alive);

/**
 * record_tracing_restore - as it was
 * @events: disable all events as well, which trace-cmd does if it is not killed
 */
void record_tracing_restore(const struct record_tracing_state *before, bool events);

/** record_tracing_in_use - Return: who uses it, for people, to be freed; NULL: no program. */
char *record_tracing_in_use(void);

/** record_tracing_drain - what is still in the kernel goes behind a killed recorder's files. */
void record_tracing_drain(const char *folder);

/** record_tracing_last_cpu - the highest number of a CPU; -1: there is none. */
int record_tracing_last_cpu(void);

/** record_tracing_count - records and losses of all CPUs. */
void record_tracing_count(struct record *record, struct record_count *count);

#endif
