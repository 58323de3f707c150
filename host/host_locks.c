// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_locks.c
 * @brief	Waits for locks of a kernel, from its events of contention; for futexes, from system
 *		calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_locks.h"
#include "host_modes.h"
#include "key_map.h"
#include "record_gaps.h"
#include "syscall_args.h"

/** Linux's include/trace/events/lock.h, since 5.19: LCB_F_SPIN ... */
enum {
	LOCK_SPIN = 1, LOCK_READ = 2, LOCK_WRITE = 4, LOCK_RT = 8, LOCK_PERCPU = 16,
	LOCK_MUTEX = 32,
	/* ours: a futex, with priority inheritance */
	LOCK_FUTEX = 1 << 30, LOCK_PI = 1 << 29,
};

/** Linux's include/uapi/linux/futex.h */
#define FUTEX_COMMAND(op)	((op) & 127)

/** Linux's arch/x86/entry/syscalls/syscall_64.tbl */
#define FUTEX_NR_X86_64		202

/** For all futexes of a task: the end of a system call does not name one. */
#define ANY_FUTEX		1

/** What a record is. */
enum event_kind { BEGIN, END, FUTEX, FUTEX_END, ANY_CALL, ANY_CALL_END, N_EVENT_KINDS };

static const struct { const char *system, *name; } names[N_EVENT_KINDS] = {
	[BEGIN] = { "lock", "contention_begin" }, [END] = { "lock", "contention_end" },
	[FUTEX] = { "syscalls", "sys_enter_futex" },
	[FUTEX_END] = { "syscalls", "sys_exit_futex" },
	[ANY_CALL] = { "raw_syscalls", "sys_enter" },
	[ANY_CALL_END] = { "raw_syscalls", "sys_exit" },
};

/** A task that waits for a lock. */
struct open_wait {
	size_t		wait;		/* number + 1; 0: none */
	size_t		segment;
};

struct reading {
	struct host_locks	*locks;
	struct kvm_trace	*trace;
	int32_t			ids[N_EVENT_KINDS];	/* VIRT_NONE: not known to the trace */
	bool			has[N_EVENT_KINDS];	/* the trace shows them */
	bool			is_x86;
	struct record_gaps	gaps;
	struct event {
		int64_t		time_ns;
		uint64_t	lock;
		int32_t		pid;
		uint32_t	flags;		/* LOCK_...; 0: of a futex, no wait */
		int16_t		cpu;
		uint8_t		kind;		/* enum event_kind */
		bool		has_failed;
	} *events;
	size_t			n_events, room_events;
	struct key_map		lock_map, open_map;
	struct open_wait	*open;
	uint32_t		room_open;
};

/** The last row is of all others. */
static const struct { uint32_t flags; const char *name; enum virt_lock_how how; } kinds[] = {
	{ 0, "semaphore", VIRT_LOCK_OTHER },
	{ LOCK_SPIN, "spinlock", VIRT_LOCK_SPINS },
	{ LOCK_SPIN | LOCK_READ, "rwlock read", VIRT_LOCK_OTHER },
	{ LOCK_SPIN | LOCK_WRITE, "rwlock write", VIRT_LOCK_OTHER },
	{ LOCK_READ, "rwsem read", VIRT_LOCK_SHARED },
	{ LOCK_WRITE, "rwsem write", VIRT_LOCK_SHARED },
	{ LOCK_RT, "rt-mutex", VIRT_LOCK_WAKES },
	{ LOCK_RT | LOCK_READ, "rt-rwlock read", VIRT_LOCK_OTHER },
	{ LOCK_RT | LOCK_WRITE, "rt-rwlock write", VIRT_LOCK_OTHER },
	{ LOCK_PERCPU | LOCK_READ, "percpu-rwsem read", VIRT_LOCK_OTHER },
	{ LOCK_PERCPU | LOCK_WRITE, "percpu-rwsem write", VIRT_LOCK_OTHER },
	{ LOCK_MUTEX, "mutex", VIRT_LOCK_WAKES },
	{ LOCK_FUTEX, "futex", VIRT_LOCK_OTHER },
	{ LOCK_FUTEX | LOCK_PI, "pi futex", VIRT_LOCK_OTHER },
	{ UINT32_MAX, "other", VIRT_LOCK_OTHER },
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

enum virt_lock_how host_lock_how(uint32_t kind)
{
	return kinds[kind].how;
}

bool host_lock_is_futex(uint32_t kind)
{
	return kinds[kind].flags != UINT32_MAX && kinds[kind].flags & LOCK_FUTEX;
}

/* --- records --------------------------------------------------------------------------------- */

/** What a record of the trace is; N_EVENT_KINDS: none of these. */
static enum event_kind kind_of(const struct reading *reading, int32_t event)
{
	int kind = 0;

	while (kind < N_EVENT_KINDS && reading->ids[kind] != event)
		kind++;
	return (enum event_kind)kind;
}

/** How a command of futex() waits: flags of a kind of lock; 0: not at all. */
static uint32_t futex_flags(uint64_t op)
{
	enum { WAIT = 0, LOCK_PI_OP = 6, WAIT_BITSET = 9, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13 };

	switch (FUTEX_COMMAND(op)) {
	case WAIT:
	case WAIT_BITSET:
		return LOCK_FUTEX;
	case LOCK_PI_OP:
	case WAIT_REQUEUE_PI:
	case LOCK_PI2:
		return LOCK_FUTEX | LOCK_PI;
	default:
		return 0;
	}
}

/** The fields of a record that matter. */
struct fields {
	uint64_t	address, number, op;
	int64_t		call;
	bool		has_address, has_number, has_op, has_call;
};

static void take_field(struct fields *fields, const struct kvm_line_field *field)
{
	const char *name = field->name;

	if (field->text && !strcmp(name, "args")) {
		fields->has_address = syscall_arg(field->text, 0, &fields->address);
		fields->has_op = syscall_arg(field->text, 1, &fields->op);
	} else if (field->text) {
		return;
	} else if (!strcmp(name, "lock_addr") || !strcmp(name, "uaddr")) {
		fields->address = field->value;
		fields->has_address = true;
	} else if (!strcmp(name, "flags") || !strcmp(name, "ret")) {
		fields->number = field->value;
		fields->has_number = true;
	} else if (!strcmp(name, "op")) {
		fields->op = field->value;
		fields->has_op = true;
	} else if (!strcmp(name, "id")) {
		fields->call = (int64_t)field->value;
		fields->has_call = true;
	}
}

/** Return: false if it is none of those that matter, or does not say enough. */
static bool make_event(struct event *event, enum event_kind kind, const struct fields *fields)
{
	bool is_futex = kind == FUTEX || kind == ANY_CALL;

	if ((kind == ANY_CALL || kind == ANY_CALL_END) &&
	    (!fields->has_call || fields->call != FUTEX_NR_X86_64))
		return false;
	event->lock = fields->address;
	if (is_futex) {
		event->flags = futex_flags(fields->op);
		return fields->has_address && fields->has_op;
	}
	event->flags = (uint32_t)fields->number;
	event->has_failed = kind == END ? event->flags : (int64_t)fields->number < 0;
	return fields->has_number && (fields->has_address || kind > END);
}

/** Return: 0 or -ENOMEM. */
static int take_line(void *arg, const struct kvm_trace_line *line, int64_t time_ns)
{
	struct reading *reading = arg;
	enum event_kind kind = kind_of(reading, line->event);
	struct event event = {
		.time_ns = time_ns, .pid = line->pid, .cpu = line->cpu, .kind = (uint8_t)kind,
	};
	struct fields fields = { .has_call = false };
	struct kvm_line_field field;
	size_t at = 0;

	if (kind == N_EVENT_KINDS || (kind >= ANY_CALL && !reading->is_x86))
		return 0;
	while (kvm_line_field(&line->line, &at, &field))
		take_field(&fields, &field);
	/* the calls of others show that those of futexes have records */
	reading->has[kind] |= kind < ANY_CALL || kind == ANY_CALL_END || fields.has_op;
	if (!make_event(&event, kind, &fields))
		return 0;
	if (ARRAY_GROW(reading->events, reading->n_events, reading->room_events))
		return -ENOMEM;
	reading->events[reading->n_events++] = event;
	return 0;
}

static bool wants_event(void *arg, int32_t event, const char *system, const char *name)
{
	struct reading *reading = arg;
	int kind = 0;

	while (kind < N_EVENT_KINDS &&
	       (strcmp(system, names[kind].system) != 0 || strcmp(name, names[kind].name) != 0))
		kind++;
	if (kind == N_EVENT_KINDS)
		return false;
	reading->ids[kind] = event;
	return true;
}

/* --- which end belongs to which beginning ---------------------------------------------------- */

/** The idle task waits on several CPUs at once. Return: NULL without memory. */
static struct open_wait *open_of(struct reading *reading, const struct event *event)
{
	int64_t lock = key_map_add(&reading->lock_map,
				   event->kind < FUTEX ? event->lock : ANY_FUTEX), i;
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
	open->wait = 0;
	if (event->kind >= FUTEX && !event->flags)
		return 0;
	if (ARRAY_GROW(locks->waits, locks->n, locks->room))
		return -ENOMEM;
	locks->waits[locks->n++] = (struct host_lock_wait){
		.begin_ns = event->time_ns, .end_ns = VIRT_LOCK_NO_TIME, .lock = event->lock,
		.pid = event->pid, .cpu = event->cpu, .flags = event->flags,
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
	/* without its beginning, a call of futex() may have been no wait */
	if (wait || event->kind >= FUTEX)
		return 0;
	if (ARRAY_GROW(locks->foreign_ns, locks->n_foreign, locks->room_foreign))
		return -ENOMEM;
	locks->foreign_ns[locks->n_foreign++] = event->time_ns;
	return 0;
}

/** Which kinds of records show waits; of those for futexes, one or the other. */
static void choose(struct reading *reading, bool *wanted)
{
	struct host_locks *locks = reading->locks;

	bool named = reading->has[FUTEX] || reading->has[FUTEX_END];
	bool raw = reading->has[ANY_CALL] && reading->has[ANY_CALL_END];

	for (int kind = 0; kind < ANY_CALL; kind++)
		reading->has[kind] |= kvm_trace_has_enabled(reading->trace, names[kind].system,
							    names[kind].name);
	locks->known = reading->has[BEGIN] && reading->has[END];
	wanted[BEGIN] = wanted[END] = locks->known;
	wanted[FUTEX] = wanted[FUTEX_END] = reading->has[FUTEX] && reading->has[FUTEX_END] &&
					    (named || !raw);
	wanted[ANY_CALL] = wanted[ANY_CALL_END] = raw && !wanted[FUTEX];
	locks->futexes_known = wanted[FUTEX] || wanted[ANY_CALL];
}

static int match(struct reading *reading)
{
	bool wanted[N_EVENT_KINDS];
	int ret = 0;

	choose(reading, wanted);
	for (size_t i = 0; i < reading->n_events && !ret; i++) {
		const struct event *event = &reading->events[i];
		size_t segment = record_gaps_segment(&reading->gaps, event->time_ns);
		bool is_begin = event->kind == BEGIN || event->kind == FUTEX ||
				event->kind == ANY_CALL;
		struct open_wait *open;

		if (!wanted[event->kind])
			continue;
		open = open_of(reading, event);
		if (!open)
			return -ENOMEM;
		ret = (is_begin ? on_begin : on_end)(reading, open, event, segment);
	}
	return ret;
}

int host_locks_read(struct host_locks *locks, struct kvm_trace *trace,
		    int64_t (*time)(const void *arg, int64_t time_ns), const void *arg)
{
	struct reading reading = {
		.locks = locks, .trace = trace, .is_x86 = host_modes_is_x86(trace),
	};
	const struct record_walk walk = {
		.wants = wants_event, .take = take_line, .arg = &reading,
		.time = time, .time_arg = arg,
	};
	int ret;

	*locks = (struct host_locks){ .n = 0 };
	for (int kind = 0; kind < N_EVENT_KINDS; kind++)
		reading.ids[kind] = VIRT_NONE;
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
