/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_counters.h
 * @brief	Counters that were read with records, at the end of a trace.dat made of perf.data.
 *
 * Readers of trace.dat files ignore all bytes after the pages. There, a trace.dat that was made of
 * perf.data has the values of perf's counters (PERF_SAMPLE_READ), CPU by CPU and in order of time:
 * the heads of the counters, the readings, and a foot that leads to them. Numbers have the byte
 * order of the host that made the file; on another one, there are no counters.
 */
#ifndef KSHARK_VIRT_TRACE_COUNTERS_H
#define KSHARK_VIRT_TRACE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Limits: counters of a file, values of a reading, bytes of a name with its end. */
#define TRACE_COUNTERS_MOST	256
#define TRACE_COUNTER_NAME	96

/** Times that the file does not have. */
#define TRACE_COUNTER_NO_TIME	UINT64_MAX

/** Where a counter of the processor counts; none of these: it is not the processor's. */
enum trace_counter_side {
	TRACE_COUNTS_HOST = 1 << 0,
	TRACE_COUNTS_GUEST = 1 << 1,
};

/** A counter, as it is in the file. */
struct trace_counter {
	char		name[TRACE_COUNTER_NAME];	/* as perf has it: "cycles:u" */
	char		read_at[TRACE_COUNTER_NAME];	/* the event at whose records it is read */
	uint32_t	group;		/* counters of one are counted at the same times */
	uint32_t	sides;		/* set of enum trace_counter_side */
	uint32_t	modes;		/* of a counter's attribute: which modes are excluded */
	uint32_t	unused;
};

/** A value, as it is in the file. */
struct trace_counter_value {
	uint64_t	counter;	/* its index */
	uint64_t	value;
};

/** The head of a reading in the file; its values follow. */
struct trace_reading {
	uint32_t	cpu;
	uint32_t	n;		/* values; TRACE_READING_LOST: readings are missing here */
	uint64_t	ts;		/* as the record has it, with which it was read */
	uint64_t	enabled_ns, running_ns;	/* so far; or TRACE_COUNTER_NO_TIME */
	int32_t		pid;		/* the thread that has the CPU, by that record */
	uint32_t	unused;
};

#define TRACE_READING_LOST	UINT32_MAX

/** Readings of a file, one after the other. All zero is none. */
struct trace_counters {
	int		fd;
	struct trace_counter *counters;
	uint32_t	n;
	struct trace_counter_value values[TRACE_COUNTERS_MOST];	/* of the last reading */
	/* private */
	uint64_t	at, end;	/* what is not in @buffer yet */
	uint8_t		*buffer;
	size_t		used, filled;
	uint32_t	cpu;
	bool		has_cpu;
};

/**
 * trace_counters_open - find the counters of a file
 * @fd: of the file; stays the caller's, and open until trace_counters_close()
 * @counters: to be given to trace_counters_close() in any case
 *
 * Return: 0; -ENOENT: it has none; -EBADMSG: they are damaged; -ENOMEM.
 */
int trace_counters_open(struct trace_counters *counters, int fd);
void trace_counters_close(struct trace_counters *counters);

/**
 * trace_counters_next - the next reading, CPU by CPU
 *
 * Return: 1; 0: there are no more; -EBADMSG: it is damaged.
 */
int trace_counters_next(struct trace_counters *counters, struct trace_reading *reading);

struct spool;

/**
 * trace_counters_append - write the counters at the end of a file
 * @at: where the file ends
 * @spool, @first, @n_streams: readings, CPU by CPU
 *
 * Return: 0 or a negative errno.
 */
int trace_counters_append(int fd, uint64_t at, const struct trace_counter *counters, uint32_t n,
			  struct spool *spool, uint32_t first, uint32_t n_streams);

#ifdef __cplusplus
}
#endif
#endif
