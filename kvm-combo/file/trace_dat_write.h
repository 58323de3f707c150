/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_write.h
 * @brief	Write a trace.dat of version 6, as readers of other traces need it.
 *
 * trace-cmd.dat.v6(5) describes the file; Linux's include/linux/ring_buffer.h and
 * kernel/trace/ring_buffer.c describe the pages with records in it. Records go to a second file,
 * the spool, as they come. At the end they become pages. So a writer needs memory for the texts,
 * 32 MiB for records, and 16 bytes per extent of the spool, which has up to 64 KiB of a CPU.
 *
 * Errors stay: after the first one, all functions return it.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_WRITE_H
#define KSHARK_VIRT_TRACE_DAT_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct trace_counter;
struct trace_counter_value;
struct trace_dat_writer;
struct trace_reading;

/** Limits: CPUs are below this; bytes of a record; bytes of all formats and symbols. */
#define TRACE_DAT_WRITE_CPUS	32768
#define TRACE_DAT_WRITE_RECORD	((size_t)256 << 10)
#define TRACE_DAT_WRITE_TEXT	((size_t)128 << 20)

/** Facts about the host that recorded. Texts are copied. */
struct trace_dat_about {
	bool		big_endian;	/* byte order of the records, and of the file */
	uint8_t		long_size;	/* bytes of a long: 4 or 8 */
	int		n_cpus;		/* at least; records add further CPUs */
	const char	*clock;		/* as in trace_clock: "local", "mono" ...; NULL: unknown */
	const char	*uname;		/* as uname -a prints, or NULL */
	uint64_t	trace_id;	/* or 0 */
	uint64_t	most_bytes;	/* limit for both files together; 0: none */
};

/**
 * trace_dat_writer_new - begin a file
 * @fd: an empty regular file, which receives the trace.dat
 * @spool: another one, for the time of writing
 *
 * Both stay the caller's, who closes them after trace_dat_writer_free(). The writer opens no file.
 *
 * Return: NULL with errno, EINVAL if @about is impossible.
 */
struct trace_dat_writer *trace_dat_writer_new(int fd, int spool,
					      const struct trace_dat_about *about);

/** trace_dat_writer_free - @writer may be NULL. */
void trace_dat_writer_free(struct trace_dat_writer *writer);

/**
 * trace_dat_writer_event - declare an event
 * @id: its number, which its records have as common_type
 * @format: @size bytes of text, as tracefs has in the file events/SYSTEM/NAME/format
 *
 * At any time before trace_dat_writer_finish(), in any order. A number that was declared before is
 * ignored.
 *
 * Return: 0; -EINVAL if @system is empty or has a '\n'; -EFBIG, -ENOMEM.
 */
int trace_dat_writer_event(struct trace_dat_writer *writer, uint16_t id, const char *system,
			   const char *format, size_t size);

/**
 * trace_dat_writer_comm - the name of a thread; the last one counts
 *
 * Return: 0; -ENOMEM; -ENOSPC if all names need more than half of TRACE_DAT_WRITE_TEXT, which does
 * not stay.
 */
int trace_dat_writer_comm(struct trace_dat_writer *writer, int32_t pid, const char *comm);

/** trace_dat_writer_name - the name of a thread, until it gets another one; or NULL. */
const char *trace_dat_writer_name(const struct trace_dat_writer *writer, int32_t pid);

/** trace_dat_writer_symbols - the text of /proc/kallsyms, once. Return: 0, -EFBIG, -ENOMEM. */
int trace_dat_writer_symbols(struct trace_dat_writer *writer, const char *text, size_t size);

/** trace_dat_writer_printk - the text of tracefs' printk_formats, once. Return: the same. */
int trace_dat_writer_printk(struct trace_dat_writer *writer, const char *text, size_t size);

/**
 * trace_dat_writer_record - a record of a CPU, in order of time
 * @ts_ns: in ns; a time before the last one of this CPU stays as it is
 * @data: the record from common_type on
 *
 * Readers see @size rounded up to a multiple of 4, at least 4; the rest is 0.
 *
 * Return: 0; -ERANGE if @cpu is not below TRACE_DAT_WRITE_CPUS; -EMSGSIZE if the record is larger
 * than TRACE_DAT_WRITE_RECORD (these two do not stay); -EFBIG above most_bytes; or what write()
 * failed with.
 */
int trace_dat_writer_record(struct trace_dat_writer *writer, int cpu, uint64_t ts_ns,
			    const void *data, size_t size);

/**
 * trace_dat_writer_lost - records are missing before the next record of a CPU
 * @count: how many; 0: unknown
 *
 * If none follows, trace_dat_writer_finish() adds a record of the event kshark_virt:records_lost,
 * with the latest time of all CPUs and no thread (pid -1), because only records can have losses.
 *
 * Return: as trace_dat_writer_record().
 */
int trace_dat_writer_lost(struct trace_dat_writer *writer, int cpu, uint64_t count);

/**
 * trace_dat_writer_reading - counters that were read on a CPU, in order of time
 * @reading: with its CPU; its values are @values, or none of a loss
 *
 * Return: as trace_dat_writer_record().
 */
int trace_dat_writer_reading(struct trace_dat_writer *writer, const struct trace_reading *reading,
			     const struct trace_counter_value *values);

/**
 * trace_dat_writer_counters - which counters the readings have; without them, these are left out
 * @counters: @n of them, at most TRACE_COUNTERS_MOST; they stay until trace_dat_writer_finish()
 */
void trace_dat_writer_counters(struct trace_dat_writer *writer,
			       const struct trace_counter *counters, uint32_t n);

/** trace_dat_writer_finish - write the file. Return: 0 or the first error. */
int trace_dat_writer_finish(struct trace_dat_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
