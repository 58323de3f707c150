/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_join_private.h
 * @brief	Inside of trace_dat_join.h.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_JOIN_PRIVATE_H
#define KSHARK_VIRT_TRACE_DAT_JOIN_PRIVATE_H

#include "trace_dat_join.h"
#include "trace_dat_read.h"

struct join_bytes {
	const uint8_t	*at;
	size_t		left;
};

struct join_event {
	uint16_t	id;
	const char	*system, *name;		/* "SYSTEM:NAME" is @name */
	struct join_bytes format;
};

/** The records of a CPU in a buffer. */
struct join_area {
	const char	*buffer;		/* "" of the one without a name */
	uint32_t	cpu;
	uint64_t	offset, size, page;
	uint64_t	n_records, first, last;	/* times */
};

struct join_option {
	unsigned int	id;
	uint32_t	size;
	uint8_t		*data;
};

struct join_file {
	struct join	*join;
	const char	*path;
	struct dat_file	dat;
	char		problem[400];
	uint8_t		*parts[DAT_PARTS];
	size_t		sizes[DAT_PARTS];
	struct join_event *events;		/* ascending by id */
	size_t		n_events, room_events;
	struct join_option *options;		/* without those of buffers and parts */
	size_t		n_options, room_options;
	struct join_area *areas;
	size_t		n_areas, room_areas;
	char		**buffers;		/* names */
	size_t		n_buffers, room_buffers;
	char		clock[64];
	uint64_t	n_cpus;
	uint64_t	first, last;		/* times of records */
};

struct join {
	struct join_file *files;		/* in order of time, once that is known */
	int		n, fd;
	uint64_t	begin, end;		/* of the records that are wanted */
	uint64_t	last;			/* time of a wanted record, or @end */
	uint16_t	lost_id;		/* of the event records_lost */
	struct trace_dat_joined *joined;
	char		*error;
	size_t		error_size;
};

struct join_record {
	uint64_t	ts;
	const uint8_t	*data;
	size_t		size;
	bool		has_lost;		/* records are missing before it */
	uint64_t	lost;			/* how many; 0: unknown */
};

typedef int (*join_record_fn)(void *arg, const struct join_record *record);

/** join_fail - say what is wrong. Return: -EILSEQ. */
__attribute__((format(printf, 2, 3)))
int join_fail(const struct join *join, const char *format, ...);

/** join_open - read all but the records. Return: 0, or a negative errno. */
int join_open(struct join *join, struct join_file *file, const char *path);
void join_close(struct join_file *file);

/** join_check - are two files of one host and boot? Return: 0, or -EILSEQ with a text. */
int join_check(struct join *join, const struct join_file *a, const struct join_file *b);

/** join_event_missing - an event of @a that @b does not have; NULL: there is none */
const struct join_event *join_event_missing(const struct join_file *a, const struct join_file *b);

/** join_walk - all records of an area. Return: 0, what @take returned, or a negative errno. */
int join_walk(const struct join_file *file, const struct join_area *area, join_record_fn take,
	      void *arg);

/** join_write - the file. Return: as trace_dat_join(). */
int join_write(struct join *join);

/** join_write_cpu - pages of a CPU in a buffer, at an offset. @end: receives where they end */
int join_write_cpu(struct join *join, const char *buffer, uint32_t cpu, uint64_t page, uint64_t at,
		   uint64_t *end);

#endif
