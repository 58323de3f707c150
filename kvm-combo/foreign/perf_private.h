/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	perf_private.h
 * @brief	Inside the reader of perf.data files.
 */
#ifndef KSHARK_VIRT_PERF_PRIVATE_H
#define KSHARK_VIRT_PERF_PRIVATE_H

#include <byteswap.h>
#include <string.h>

#include "key_map.h"
#include "perf_data.h"
#include "perf_order.h"
#include "trace_dat_write.h"

/** Bytes of the file, or of what was unpacked, in the file's byte order. */
struct perf_bytes {
	const uint8_t	*at;
	size_t		left;
	bool		swap;		/* its order is not this host's */
};

/** A kind of event that was recorded: struct perf_event_attr. */
struct perf_attr {
	uint32_t	type;
	uint64_t	config;
	uint64_t	sample_type, read_format;
	uint32_t	modes;		/* set of PERF_EXCLUDE_... */
	struct perf_bytes name;		/* at NULL: not known */
	uint32_t	counter;	/* its number + 1; 0: no value of it was read so far */
	bool		has_sample_id;	/* sample_id_all: other records have some of it, too */
	bool		has_clock;	/* use_clockid */
	int32_t		clock;
};

#define PERF_TRACEPOINT		2	/* PERF_TYPE_TRACEPOINT */

/** Bits of @modes in struct perf_attr: what an event does not count. */
enum {
	PERF_EXCLUDE_USER = 1 << 0, PERF_EXCLUDE_KERNEL = 1 << 1, PERF_EXCLUDE_HV = 1 << 2,
	PERF_EXCLUDE_IDLE = 1 << 3, PERF_EXCLUDE_HOST = 1 << 4, PERF_EXCLUDE_GUEST = 1 << 5,
};

/** Bytes of common_type, common_flags, common_preempt_count and common_pid, which is last. */
#define COMMON_BYTES	8
#define COMMON_PID	4

/** Bits of sample_type. */
enum {
	SAMPLE_IP = 1 << 0, SAMPLE_TID = 1 << 1, SAMPLE_TIME = 1 << 2, SAMPLE_ADDR = 1 << 3,
	SAMPLE_READ = 1 << 4, SAMPLE_CALLCHAIN = 1 << 5, SAMPLE_ID = 1 << 6, SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8, SAMPLE_STREAM_ID = 1 << 9, SAMPLE_RAW = 1 << 10,
	SAMPLE_IDENTIFIER = 1 << 16,
};

/** Bits of read_format. */
enum {
	READ_TIME_ENABLED = 1 << 0, READ_TIME_RUNNING = 1 << 1, READ_ID = 1 << 2,
	READ_GROUP = 1 << 3, READ_LOST = 1 << 4,
};

/** Types of records: of the kernel, and from 64 on of perf. */
enum {
	RECORD_LOST = 2, RECORD_COMM = 3, RECORD_FORK = 7, RECORD_SAMPLE = 9,
	RECORD_LOST_SAMPLES = 13,
	RECORD_ATTR = 64, RECORD_TRACING_DATA = 66, RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71, RECORD_THREAD_MAP = 73, RECORD_CPU_MAP = 74, RECORD_FEATURE = 80,
	RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83,
};

/** A flag of RECORD_LOST_SAMPLES: a filter of the user left them out. */
#define MISC_LOST_BY_FILTER	(1 << 15)

/** The head of a record: type (4 bytes), misc (2), size with the head (2). */
#define RECORD_HEAD		8

/** A record. */
struct perf_record {
	uint32_t	type;
	uint16_t	misc;
	struct perf_bytes body;
	uint64_t	offset;		/* in the file */
	bool		is_unpacked;	/* its bytes will be gone */
};

/** A CPU, and its losses. */
struct perf_cpu {
	bool		has_samples;
	uint32_t	piece;		/* if so: of the part that has them, as in the reader */
	uint64_t	in_ring;	/* as the ring buffer counted them */
	uint64_t	of_events;	/* as the events counted them */
};

struct perf_reader {
	const uint8_t	*data;		/* of the file, or of the part that is read now */
	size_t		size;
	bool		is_folder;
	bool		has_pieces;	/* by the head, parts have the records */
	uint32_t	piece;		/* that is read now: its number plus 1; 0: "data" */
	uint64_t	n_known, n_unknown;	/* samples of the part by their event */
	uint64_t	first_ns, last_ns;	/* times of samples by the head; 0: unknown */
	bool		big_endian, swap;
	bool		is_pipe;
	bool		is_mapped;
	size_t		released;	/* if so: bytes whose pages may be out of memory */
	size_t		records_at, records_size;
	struct perf_attr *attrs;
	size_t		n_attrs, room_attrs;
	struct key_map	ids;		/* of events */
	size_t		n_ids;		/* so far, also those that are there twice */
	uint32_t	*attr_of;	/* by number in @ids */
	size_t		attr_of_room;
	char		hostname[256], release[256], arch[64];	/* empty: unknown */
	uint32_t	cpus_there;	/* 0: unknown */
	struct perf_bytes event_names;	/* HEADER_EVENT_DESC; at NULL: there are none */
	struct perf_counters *counters;	/* NULL: none was read so far */
	bool		wants_reads;	/* values of counters in samples */
	bool		has_reads;	/* if so: samples of some event have them */
	struct perf_bytes tracing;	/* formats of tracepoints; at NULL: there are none */
	int32_t		switch_id;	/* of sched_switch, or -1 */
	struct trace_dat_writer *writer;
	struct perf_order *order;
	struct perf_cpu	*cpus;
	size_t		n_cpus;
	struct perf_names *names;	/* NULL: none waits for its turn */
	struct perf_unpack *unpack;	/* NULL: nothing was compressed so far */
	struct perf_facts *facts;
	char		*problem;
	size_t		problem_size;
};

/** perf_fail - set the problem. Return: @error. */
__attribute__((format(printf, 3, 4)))
int perf_fail(struct perf_reader *reader, int error, const char *format, ...);

/* --- bytes ----------------------------------------------------------------------------------- */

static inline uint16_t perf_16(const struct perf_bytes *bytes, size_t at)
{
	uint16_t value;

	memcpy(&value, bytes->at + at, sizeof(value));
	return bytes->swap ? bswap_16(value) : value;
}

static inline uint32_t perf_32(const struct perf_bytes *bytes, size_t at)
{
	uint32_t value;

	memcpy(&value, bytes->at + at, sizeof(value));
	return bytes->swap ? bswap_32(value) : value;
}

static inline uint64_t perf_64(const struct perf_bytes *bytes, size_t at)
{
	uint64_t value;

	memcpy(&value, bytes->at + at, sizeof(value));
	return bytes->swap ? bswap_64(value) : value;
}

/** perf_part - @size bytes from @at on. Return: false if they are not all there. */
static inline bool perf_part(const struct perf_bytes *bytes, uint64_t at, uint64_t size,
			     struct perf_bytes *part)
{
	if (at > bytes->left || size > bytes->left - at)
		return false;
	*part = (struct perf_bytes){ bytes->at + at, (size_t)size, bytes->swap };
	return true;
}

/** perf_skip - go on after @n bytes. Return: false if there are less. */
static inline bool perf_skip(struct perf_bytes *bytes, uint64_t n)
{
	return perf_part(bytes, n, n > bytes->left ? 0 : bytes->left - n, bytes);
}

/** perf_take_64 - the next number, if there is one. Return: false if the bytes end before. */
static inline bool perf_take_64(struct perf_bytes *bytes, bool has, uint64_t *value)
{
	if (!has)
		return true;
	if (bytes->left < 8)
		return false;
	*value = perf_64(bytes, 0);
	return perf_skip(bytes, 8);
}

/* --- the parts of a file --------------------------------------------------------------------- */

/** perf_read_head - attributes and features. Return: 0, or a negative errno after perf_fail(). */
int perf_read_head(struct perf_reader *reader);

/** perf_add_attr - @attr: struct perf_event_attr; @ids: 8 bytes each. Return: 0 or -ENOMEM. */
int perf_add_attr(struct perf_reader *reader, const struct perf_bytes *attr,
		  const struct perf_bytes *ids);

/** perf_tracing_head - the size of a long; 0: it is not understood */
uint8_t perf_tracing_head(const struct perf_reader *reader);

/** perf_tracing_take - give the formats to the writer. Return: 0, or errno after perf_fail(). */
int perf_tracing_take(struct perf_reader *reader);

/** perf_next_record - Return: 1; 0 at the end; -EILSEQ for one that is damaged. */
int perf_next_record(struct perf_bytes *bytes, struct perf_record *record);

/** perf_walk - all records to the writer. Return: 0, or errno after perf_fail(). */
int perf_walk(struct perf_reader *reader, const struct perf_input *input);

/** perf_take_record - one of them; a round has no end within what was compressed. Return: so. */
int perf_take_record(struct perf_reader *reader, const struct perf_record *record);

/** perf_time_of - of a record that is no sample; 0: unknown, or perf itself made it at the start */
uint64_t perf_time_of(const struct perf_reader *reader, const struct perf_bytes *body);

/** perf_names_fork, perf_names_comm - a thread begins, is named. Return: 0 or a negative errno. */
int perf_names_fork(struct perf_reader *reader, const struct perf_record *record);
int perf_names_comm(struct perf_reader *reader, const struct perf_record *record);

/** perf_names_end - all have been there. Return: 0 or a negative errno. */
int perf_names_end(struct perf_reader *reader);
void perf_names_free(struct perf_names *names);

/** perf_read_part - the counters of a sample, all of @body. Return: false: it has none. */
bool perf_read_part(const struct perf_reader *reader, const struct perf_bytes *body,
		    struct perf_attr **attr, struct perf_bytes *part);

/** perf_counters_names - @part: HEADER_EVENT_DESC, which names the events */
void perf_counters_names(struct perf_reader *reader, const struct perf_bytes *part);

/** perf_counters_take - the values that were read with a sample. Return: 0 or a negative errno. */
int perf_counters_take(struct perf_reader *reader, struct perf_attr *read_at, uint32_t cpu,
		       uint64_t ts, int32_t pid, struct perf_bytes bytes);

/** perf_counters_lost - samples of a CPU are missing. Return: 0 or a negative errno. */
int perf_counters_lost(struct perf_reader *reader, uint32_t cpu);

/** perf_counters_end - all have been there: the writer gets the counters, if they are known */
void perf_counters_end(struct perf_reader *reader);
void perf_counters_free(struct perf_counters *counters);

/** perf_unpack_take - the records in a compressed one. Return: so, -EILSEQ if it is damaged. */
int perf_unpack_take(struct perf_reader *reader, const struct perf_record *record);
void perf_unpack_free(struct perf_unpack *unpack);

#endif
