// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_files.c
 * @brief	Bytes that tasks read and write by file descriptor, from system calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <seccomp.h>

#include "array.h"
#include "host_files.h"
#include "host_modes.h"
#include "key_map.h"
#include "record_gaps.h"
#include "syscall_args.h"

/** No descriptor. */
#define NO_FILE		(-1)

/**
 * System calls that return the number of bytes that they have moved, with the numbers of their
 * arguments that are descriptors, and what events of syscalls call these; Linux's
 * include/linux/syscalls.h.
 */
static const struct {
	const char	*name;
	int8_t		reads, writes;		/* or NO_FILE */
	const char	*read_field, *write_field;
} calls[] = {
	{ "read", 0, NO_FILE, "fd", NULL },
	{ "pread64", 0, NO_FILE, "fd", NULL },
	{ "readv", 0, NO_FILE, "fd", NULL },
	{ "preadv", 0, NO_FILE, "fd", NULL },
	{ "preadv2", 0, NO_FILE, "fd", NULL },
	{ "recvfrom", 0, NO_FILE, "fd", NULL },
	{ "recvmsg", 0, NO_FILE, "fd", NULL },
	{ "write", NO_FILE, 0, NULL, "fd" },
	{ "pwrite64", NO_FILE, 0, NULL, "fd" },
	{ "writev", NO_FILE, 0, NULL, "fd" },
	{ "pwritev", NO_FILE, 0, NULL, "fd" },
	{ "pwritev2", NO_FILE, 0, NULL, "fd" },
	{ "sendto", NO_FILE, 0, NULL, "fd" },
	{ "sendmsg", NO_FILE, 0, NULL, "fd" },
	{ "sendfile64", 1, 0, "in_fd", "out_fd" },
	{ "splice", 0, 2, "fd_in", "fd_out" },
	{ "copy_file_range", 0, 2, "fd_in", "fd_out" },
};

#define N_CALLS		ARRAY_SIZE(calls)
/** What the events of raw_syscalls are, in the place of a call. */
#define RAW		N_CALLS

enum edge { BEGIN, END, N_EDGES };

/** A call that goes on. */
struct open_call {
	size_t		read, write;	/* number + 1; 0: none */
	size_t		segment;
	bool		is;
};

struct reading {
	struct host_files	*files;
	struct kvm_trace	*trace;
	struct record_gaps	gaps;
	struct key_map		ids;		/* events: to... */
	struct kind {
		uint8_t	call, edge;		/* RAW: of raw_syscalls */
	} *kinds;
	uint32_t		room_kinds;
	bool			has[N_CALLS + 1][N_EDGES];	/* the trace shows them */
	int			numbers[N_CALLS];	/* of x86-64 */
	bool			is_x86;
	struct event {
		int64_t		time_ns;
		int64_t		ret;		/* of END */
		int32_t		pid, reads, writes;	/* descriptors of BEGIN */
		uint8_t		call, edge;
		bool		is_raw;
	} *events;
	size_t			n_events, room_events;
	struct key_map		open_map;
	struct open_call	*open;
	uint32_t		room_open;
};

/* --- records --------------------------------------------------------------------------------- */

/** The call and edge of an event; N_CALLS + 1: of none. */
static uint8_t kind_of_name(const char *system, const char *name, uint8_t *edge)
{
	static const char *const begins[N_EDGES] = { "sys_enter", "sys_exit" };

	for (*edge = 0; *edge < N_EDGES; (*edge)++) {
		size_t n = strlen(begins[*edge]);

		if (strncmp(name, begins[*edge], n) != 0)
			continue;
		if (!strcmp(system, "raw_syscalls") && !name[n])
			return RAW;
		for (uint8_t i = 0; i < N_CALLS && !strcmp(system, "syscalls"); i++)
			if (name[n] == '_' && !strcmp(name + n + 1, calls[i].name))
				return i;
	}
	return N_CALLS + 1;
}

static bool wants_event(void *arg, int32_t event, const char *system, const char *name)
{
	struct reading *reading = arg;
	struct kind kind = { .edge = 0 };
	int64_t i;

	kind.call = kind_of_name(system, name, &kind.edge);
	if (kind.call > RAW || (kind.call == RAW && !reading->is_x86))
		return false;
	i = KEY_MAP_ELEMENT(&reading->ids, (uint32_t)event, reading->kinds, reading->room_kinds);
	if (i >= 0)
		reading->kinds[i] = kind;
	return i >= 0;
}

/** A descriptor is an int; a file that is none of the task's is negative. */
static int32_t file_of(uint64_t value)
{
	return (int32_t)(uint32_t)value;
}

static void take_raw(const struct reading *reading, struct event *event, const char *args,
		     const struct kvm_line_field *id)
{
	uint64_t value;

	for (uint8_t i = 0; id && i < N_CALLS; i++)
		if (reading->numbers[i] >= 0 && (int64_t)id->value == reading->numbers[i])
			event->call = i;
	if (event->call >= N_CALLS || event->edge == END || !args)
		return;
	if (calls[event->call].reads >= 0 &&
	    syscall_arg(args, (size_t)calls[event->call].reads, &value))
		event->reads = file_of(value);
	if (calls[event->call].writes >= 0 &&
	    syscall_arg(args, (size_t)calls[event->call].writes, &value))
		event->writes = file_of(value);
}

/** The fields of a record. Return: false if it says nothing of one of these calls. */
static bool take_fields(const struct reading *reading, struct event *event,
			const struct kvm_line *line)
{
	struct kvm_line_field field, id = { .name = NULL };
	bool has_ret = false;
	char *args = NULL;
	size_t at = 0;

	while (kvm_line_field(line, &at, &field)) {
		if (!strcmp(field.name, "ret") && !field.text) {
			event->ret = (int64_t)field.value;
			has_ret = true;
		} else if (event->is_raw && !strcmp(field.name, "id") && !field.text) {
			id = field;
		} else if (event->is_raw && !strcmp(field.name, "args") && field.text) {
			args = (char *)(uintptr_t)field.text;
		} else if (!event->is_raw && event->edge == BEGIN && !field.text) {
			const char *reads = calls[event->call].read_field;
			const char *writes = calls[event->call].write_field;

			if (reads && !strcmp(field.name, reads))
				event->reads = file_of(field.value);
			if (writes && !strcmp(field.name, writes))
				event->writes = file_of(field.value);
		}
	}
	if (event->is_raw)
		take_raw(reading, event, args, id.name ? &id : NULL);
	if (event->call >= N_CALLS)
		return false;
	return event->edge == END ? has_ret : event->reads >= 0 || event->writes >= 0;
}

/** Return: 0 or -ENOMEM. */
static int take_line(void *arg, const struct kvm_trace_line *line, int64_t time_ns)
{
	struct reading *reading = arg;
	int64_t i = key_map_find(&reading->ids, (uint32_t)line->event);
	struct event event;

	if (i < 0)
		return 0;
	event = (struct event){
		.time_ns = time_ns, .pid = line->pid, .reads = NO_FILE, .writes = NO_FILE,
		.call = reading->kinds[i].call, .edge = reading->kinds[i].edge,
		.is_raw = reading->kinds[i].call == RAW,
	};
	reading->has[event.call][event.edge] = true;
	if (line->pid <= 0 || !take_fields(reading, &event, &line->line))
		return 0;
	if (ARRAY_GROW(reading->events, reading->n_events, reading->room_events))
		return -ENOMEM;
	reading->events[reading->n_events++] = event;
	return 0;
}

/* --- which end belongs to which beginning ---------------------------------------------------- */

/** @number: receives that of the new call, and 1. Return: 0 or -ENOMEM. */
static int add_call(struct host_files *files, const struct event *event, int32_t file, bool writes,
		    size_t *number)
{
	*number = 0;
	if (file < 0)
		return 0;
	if (ARRAY_GROW(files->calls, files->n, files->room))
		return -ENOMEM;
	files->calls[files->n++] = (struct host_file_call){
		.begin_ns = event->time_ns, .end_ns = HOST_FILE_NO_TIME, .pid = event->pid,
		.file = file, .writes = writes,
	};
	*number = files->n;
	return 0;
}

static void end_call(struct host_files *files, const struct event *event, size_t number)
{
	struct host_file_call *call = number ? &files->calls[number - 1] : NULL;

	if (!call)
		return;
	call->end_ns = event->time_ns;
	call->has_failed = event->ret < 0;
	call->bytes = event->ret < 0 ? 0 : (uint64_t)event->ret;
}

static int add_foreign(struct host_files *files, const struct event *event)
{
	if (ARRAY_GROW(files->foreign_ns, files->n_foreign, files->room_foreign))
		return -ENOMEM;
	files->foreign_ns[files->n_foreign++] = event->time_ns;
	return 0;
}

static int on_event(struct reading *reading, const struct event *event, size_t segment)
{
	struct host_files *files = reading->files;
	int64_t i = KEY_MAP_ELEMENT(&reading->open_map, (uint64_t)(uint32_t)event->pid << 8 |
				    event->call, reading->open, reading->room_open);
	struct open_call *open = i < 0 ? NULL : &reading->open[i];
	int ret;

	if (!open)
		return -ENOMEM;
	if (event->edge == BEGIN) {
		*open = (struct open_call){ .segment = segment, .is = true };
		ret = add_call(files, event, event->reads, false, &open->read);
		return ret ? ret : add_call(files, event, event->writes, true, &open->write);
	}
	ret = open->is ? 0 : add_foreign(files, event);
	if (open->is && open->segment == segment && !record_gaps_is_gap(segment)) {
		end_call(files, event, open->read);
		end_call(files, event, open->write);
	}
	open->is = false;
	return ret;
}

/** Of each call, its own events are enough, and else those of all calls. */
static void choose(struct reading *reading, bool *named)
{
	struct host_files *files = reading->files;
	const bool *raw = reading->has[RAW];

	files->known = files->knows_all = raw[BEGIN] && raw[END];
	for (size_t i = 0; i < N_CALLS; i++) {
		static const char *const begins[N_EDGES] = { "sys_enter_", "sys_exit_" };
		char name[64];

		for (int edge = 0; edge < N_EDGES; edge++) {
			strcpy(name, begins[edge]);
			strcat(name, calls[i].name);
			reading->has[i][edge] |= kvm_trace_has_enabled(reading->trace, "syscalls",
								       name);
		}
		named[i] = reading->has[i][BEGIN] && reading->has[i][END];
		files->known |= named[i];
	}
	if (files->knows_all)
		return;
	files->knows_all = true;
	for (size_t i = 0; i < N_CALLS; i++)
		files->knows_all &= named[i];
}

static int match(struct reading *reading)
{
	const bool *raw = reading->has[RAW];
	bool named[N_CALLS];
	int ret = 0;

	choose(reading, named);
	for (size_t i = 0; i < reading->n_events && !ret; i++) {
		const struct event *event = &reading->events[i];
		size_t segment = record_gaps_segment(&reading->gaps, event->time_ns);

		if (event->is_raw ? raw[BEGIN] && raw[END] && !named[event->call] :
				    named[event->call])
			ret = on_event(reading, event, segment);
	}
	return ret;
}

int host_files_read(struct host_files *files, struct kvm_trace *trace,
		    int64_t (*time)(const void *arg, int64_t time_ns), const void *arg)
{
	struct reading reading = {
		.files = files, .trace = trace, .is_x86 = host_modes_is_x86(trace),
	};
	const struct record_walk walk = {
		.wants = wants_event, .take = take_line, .arg = &reading,
		.time = time, .time_arg = arg,
	};
	int ret;

	*files = (struct host_files){ .n = 0 };
	for (size_t i = 0; i < N_CALLS; i++)
		/* that of a library is a name of the kernel's function */
		reading.numbers[i] = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64,
			strcmp(calls[i].name, "sendfile64") ? calls[i].name : "sendfile");
	ret = record_gaps_walk(&reading.gaps, trace, &walk);
	if (!ret)
		ret = match(&reading);
	record_gaps_free(&reading.gaps);
	key_map_destroy(&reading.ids);
	key_map_destroy(&reading.open_map);
	free(reading.kinds);
	free(reading.events);
	free(reading.open);
	return ret;
}

void host_files_free(struct host_files *files)
{
	free(files->calls);
	free(files->foreign_ns);
	*files = (struct host_files){ .n = 0 };
}
