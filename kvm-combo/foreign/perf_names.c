// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	perf_names.c
 * @brief	The names of threads in a perf.data file.
 *
 * A thread has the name of the thread that made it, until it gets its own. In a file, this is known
 * in its order, apart from some of the last moments. In a folder, each CPU has its own file: there,
 * names wait, and are taken in order of time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "perf_private.h"

/** The most events that are kept to be sorted by time; later ones have the order of their files. */
#define MOST_WAITING	((size_t)1 << 19)

/** A thread begins, or is named. */
struct event {
	uint64_t	time;
	uint32_t	number;		/* in the order of their coming */
	int32_t		tid, parent;	/* of one that is named: -1 */
	char		name[16];	/* as the kernel has them, with a 0 */
};

struct perf_names {
	struct event	*events;
	size_t		n, room;
};

void perf_names_free(struct perf_names *names)
{
	if (!names)
		return;
	free(names->events);
	free(names);
}

/* --- the writer ------------------------------------------------------------------------------ */

static int name_thread(struct perf_reader *reader, int32_t tid, const char *name)
{
	int ret = trace_dat_writer_comm(reader->writer, tid, name);

	if (ret != -ENOSPC)
		return ret;
	reader->facts->unnamed++;
	return 0;
}

/** @is_sure: the events have their order; else a name that the thread has is its own, or later. */
static int inherit_name(struct perf_reader *reader, int32_t tid, int32_t parent, bool is_sure)
{
	const char *name = trace_dat_writer_name(reader->writer, parent);
	char copy[256];

	if (!name || (!is_sure && trace_dat_writer_name(reader->writer, tid)))
		return 0;
	/* the writer moves its names */
	snprintf(copy, sizeof(copy), "%s", name);
	return name_thread(reader, tid, copy);
}

/* --- waiting --------------------------------------------------------------------------------- */

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

int perf_names_end(struct perf_reader *reader)
{
	struct perf_names *names = reader->names;
	int ret = 0;

	if (!names || !names->n)
		return 0;
	qsort(names->events, names->n, sizeof(*names->events), compare_events);
	for (size_t i = 0; i < names->n && !ret; i++) {
		const struct event *event = &names->events[i];

		ret = event->parent < 0 ? name_thread(reader, event->tid, event->name) :
		      inherit_name(reader, event->tid, event->parent, true);
	}
	names->n = 0;
	return ret;
}

static int wait_for_turn(struct perf_reader *reader, const struct perf_record *record,
			 struct event event)
{
	struct perf_names *names = reader->names;
	int ret = 0;

	if (!names) {
		names = reader->names = calloc(1, sizeof(*names));
		if (!names)
			return -ENOMEM;
	}
	if (names->n == MOST_WAITING)
		ret = perf_names_end(reader);
	if (ret || ARRAY_GROW(names->events, names->n, names->room))
		return ret ? ret : -ENOMEM;
	event.time = perf_time_of(reader, &record->body);
	event.number = (uint32_t)names->n;
	names->events[names->n++] = event;
	return 0;
}

/* --- records --------------------------------------------------------------------------------- */

/** Process and its parent, then both threads. */
int perf_names_fork(struct perf_reader *reader, const struct perf_record *record)
{
	const struct perf_bytes *body = &record->body;
	int32_t tid, parent;

	if (body->left < 16)
		return 0;
	tid = (int32_t)perf_32(body, 8);
	parent = (int32_t)perf_32(body, 12);
	if (reader->is_folder && parent >= 0)
		return wait_for_turn(reader, record,
				     (struct event){ .tid = tid, .parent = parent });
	return inherit_name(reader, tid, parent, false);
}

/** Process, thread, name. */
int perf_names_comm(struct perf_reader *reader, const struct perf_record *record)
{
	const struct perf_bytes *body = &record->body;
	struct event event = { .parent = -1 };
	char name[256];

	if (body->left < 8)
		return 0;
	event.tid = (int32_t)perf_32(body, 4);
	snprintf(name, sizeof(name), "%.*s", (int)strnlen((const char *)body->at + 8,
		 body->left - 8 < 255 ? body->left - 8 : 255), (const char *)body->at + 8);
	if (!reader->is_folder)
		return name_thread(reader, event.tid, name);
	snprintf(event.name, sizeof(event.name), "%.15s", name);
	return wait_for_turn(reader, record, event);
}
