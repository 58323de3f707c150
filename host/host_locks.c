// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_locks.c
 * @brief	Waits for locks of a kernel, from its events of contention.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_locks.h"
#include "key_map.h"
#include "record_gaps.h"

/** Linux's include/trace/events/lock.h, since 5.19: LCB_F_SPIN ... */
enum {
	LOCK_SPIN = 1, LOCK_READ = 2, LOCK_WRITE = 4, LOCK_RT = 8, LOCK_PERCPU = 16,
	LOCK_MUTEX = 32,
};

static const char begin_name[] = "contention_begin", end_name[] = "contention_end";

/** A task that waits for a lock. */
struct open_wait {
	size_t		wait;		/* number + 1; 0: none */
	size_t		segment;
};

struct reading {
	struct host_locks	*locks;
	struct kvm_trace	*trace;
	int32_t			begin_id, end_id;	/* VIRT_NONE: not known to the trace */
	bool			has_begins, has_ends;	/* the trace shows them */
	struct record_gaps	gaps;
	struct event {
		int64_t		time_ns;
		uint64_t	lock;
		int32_t		pid;
		uint32_t	flags;
		int16_t		cpu;
		bool		is_end, has_failed;
	} *events;
	size_t			n_events, room_events;
	struct key_map		lock_map, open_map;
	struct open_wait	*open;
	uint32_t		room_open;
};

/** The last row is of all others. */
static const struct { uint32_t flags; const char *name; } kinds[] = {
	{ 0, "semaphore" }, { LOCK_SPIN, "spinlock" }, { LOCK_SPIN | LOCK_READ, "rwlock read" },
	{ LOCK_SPIN | LOCK_WRITE, "rwlock write" }, { LOCK_READ, "rwsem read" },
	{ LOCK_WRITE, "rwsem write" }, { LOCK_RT, "rt-mutex" },
	{ LOCK_RT | LOCK_READ, "rt-rwlock read" }, { LOCK_RT | LOCK_WRITE, "rt-rwlock write" },
	{ LOCK_PERCPU | LOCK_READ, "percpu-rwsem read" },
	{ LOCK_PERCPU | LOCK_WRITE, "percpu-rwsem write" }, { LOCK_MUTEX, "mutex" },
	{ UINT32_MAX, "other" },
};

uint32_t host_lock_kind_of(uint32_t flags)
{
	uint32_t kind = 0;

	/* a task spins for a mutex before it sleeps */
	if (flags & LOCK_MUTEX)
		flags &= ~(uint32_t)LOCK_SPIN;
	while (kind + 1 < ARRAY_SIZE(kinds) && kinds[kind].flags != flags)
		kind++;
	return kind;
}

const char *host_lock_kind_name(uint32_t kind)
{
	return kinds[kind].name;
}

void host_lock_name(uint64_t lock, char name[HOST_LOCK_NAME])
{
	snprintf(name, HOST_LOCK_NAME, "0x%llx", (unsigned long long)lock);
}

/* --- records --------------------------------------------------------------------------------- */

/** Return: 0 or -ENOMEM. */
static int take_line(void *arg, const struct kvm_trace_line *line, int64_t time_ns)
{
	struct reading *reading = arg;
	struct event event = {
		.time_ns = time_ns, .pid = line->pid, .cpu = line->cpu,
		.is_end = line->event == reading->end_id,
	};
	struct kvm_line_field field;
	bool has_lock = false, has_rest = false;
	size_t at = 0;

	if (!event.is_end && line->event != reading->begin_id)
		return 0;
	while (kvm_line_field(&line->line, &at, &field)) {
		if (field.text)
			continue;
		if (!strcmp(field.name, "lock_addr")) {
			event.lock = field.value;
			has_lock = true;
		} else if (!strcmp(field.name, event.is_end ? "ret" : "flags")) {
			event.flags = (uint32_t)field.value;
			event.has_failed = event.is_end && event.flags;
			has_rest = true;
		}
	}
	if (!has_lock || !has_rest)
		return 0;
	reading->has_begins |= !event.is_end;
	reading->has_ends |= event.is_end;
	if (ARRAY_GROW(reading->events, reading->n_events, reading->room_events))
		return -ENOMEM;
	reading->events[reading->n_events++] = event;
	return 0;
}

static bool wants_event(void *arg, int32_t event, const char *system, const char *name)
{
	struct reading *reading = arg;
	bool is_begin = !strcmp(name, begin_name);

	if (strcmp(system, "lock") != 0 || (!is_begin && strcmp(name, end_name) != 0))
		return false;
	*(is_begin ? &reading->begin_id : &reading->end_id) = event;
	return true;
}

/* --- which end belongs to which beginning ---------------------------------------------------- */

/** The idle task waits on several CPUs at once. Return: NULL without memory. */
static struct open_wait *open_of(struct reading *reading, const struct event *event)
{
	int64_t lock = key_map_add(&reading->lock_map, event->lock), i;
	int32_t who = event->pid ? event->pid : -1 - event->cpu;

	if (lock < 0)
		return NULL;
	i = KEY_MAP_ELEMENT(&reading->open_map, (uint64_t)(uint32_t)who << 32 | (uint64_t)lock,
			    reading->open, reading->room_open);
	return i < 0 ? NULL : &reading->open[i];
}

static int on_begin(struct reading *reading, struct open_wait *open, const struct event *event,
		    size_t segment)
{
	struct host_locks *locks = reading->locks;

	/* a task that has spun for a mutex begins once more, to sleep */
	if (open->wait && open->segment == segment && event->flags & LOCK_MUTEX)
		return 0;
	if (ARRAY_GROW(locks->waits, locks->n, locks->room))
		return -ENOMEM;
	locks->waits[locks->n++] = (struct host_lock_wait){
		.begin_ns = event->time_ns, .end_ns = HOST_LOCK_NO_TIME, .lock = event->lock,
		.pid = event->pid, .flags = event->flags,
	};
	*open = (struct open_wait){ .wait = locks->n, .segment = segment };
	return 0;
}

static int on_end(struct reading *reading, struct open_wait *open, const struct event *event,
		  size_t segment)
{
	struct host_locks *locks = reading->locks;
	struct host_lock_wait *wait = open->wait ? &locks->waits[open->wait - 1] : NULL;

	open->wait = 0;
	if (wait && open->segment == segment) {
		if (record_gaps_is_gap(segment))
			return 0;
		wait->end_ns = event->time_ns;
		wait->has_failed = event->has_failed;
		return 0;
	}
	if (wait)
		return 0;
	if (ARRAY_GROW(locks->foreign_ns, locks->n_foreign, locks->room_foreign))
		return -ENOMEM;
	locks->foreign_ns[locks->n_foreign++] = event->time_ns;
	return 0;
}

static int match(struct reading *reading)
{
	int ret = 0;

	reading->has_begins |= kvm_trace_has_enabled(reading->trace, "lock", begin_name);
	reading->has_ends |= kvm_trace_has_enabled(reading->trace, "lock", end_name);
	reading->locks->known = reading->has_begins && reading->has_ends;
	for (size_t i = 0; i < reading->n_events && reading->locks->known && !ret; i++) {
		const struct event *event = &reading->events[i];
		size_t segment = record_gaps_segment(&reading->gaps, event->time_ns);
		struct open_wait *open = open_of(reading, event);

		if (!open)
			return -ENOMEM;
		ret = event->is_end ? on_end(reading, open, event, segment) :
				      on_begin(reading, open, event, segment);
	}
	return ret;
}

int host_locks_read(struct host_locks *locks, struct kvm_trace *trace,
		    int64_t (*time)(const void *arg, int64_t time_ns), const void *arg)
{
	struct reading reading = {
		.locks = locks, .trace = trace, .begin_id = VIRT_NONE, .end_id = VIRT_NONE,
	};
	const struct record_walk walk = {
		.wants = wants_event, .take = take_line, .arg = &reading,
		.time = time, .time_arg = arg,
	};
	int ret;

	*locks = (struct host_locks){ .n = 0 };
	ret = record_gaps_walk(&reading.gaps, trace, &walk);
	if (!ret)
		ret = match(&reading);
	record_gaps_free(&reading.gaps);
	key_map_destroy(&reading.lock_map);
	key_map_destroy(&reading.open_map);
	free(reading.events);
	free(reading.open);
	return ret;
}

void host_locks_free(struct host_locks *locks)
{
	free(locks->waits);
	free(locks->foreign_ns);
	*locks = (struct host_locks){ .n = 0 };
}
