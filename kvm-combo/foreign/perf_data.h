/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	perf_data.h
 * @brief	A perf.data file, as a trace.dat of its tracepoints.
 *
 * Linux's tools/perf/Documentation/perf.data-file-format.txt describes the file,
 * include/uapi/linux/perf_event.h the records of the kernel in it, tools/lib/perf's
 * include/perf/event.h those of perf itself. The reader supports both byte orders, files, the
 * stream that "perf record -o -" sends through a pipe, and compressed records. "perf record
 * --threads" writes a folder: perf_folder.h finds its parts.
 *
 * The samples of tracepoints become records as they are: perf keeps what ftrace would write, from
 * common_type on. Samples of other events (cycles ...) are counted, and left out. Where the kernel
 * lost records, the trace.dat has a loss at this place.
 */
#ifndef KSHARK_VIRT_PERF_DATA_H
#define KSHARK_VIRT_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** perf_data_is - does a file begin as perf's do, with these @n bytes? */
bool perf_data_is(const void *head, size_t n);

/** Facts about the file, apart from its records. */
struct perf_facts {
	uint64_t	samples;	/* that became records */
	uint64_t	others;		/* samples of events that are no tracepoints */
	uint64_t	unusable;	/* without CPU, time or content, or of unknown events */
	uint64_t	lost;		/* records that the kernel lost */
	uint64_t	unplaced;	/* losses of an unknown CPU: all CPUs have them */
	uint64_t	late;		/* samples earlier than one that had been written already */
	uint64_t	uncounted;	/* values of counters that are left out: of unknown events,
					 * or of too many counters */
	uint64_t	unnamed;	/* names of threads that are left out: there are too many */
	bool		is_damaged;	/* a record is: the first one is at offset @damaged_at */
	uint64_t	damaged_at;
	char		damaged_in[24];	/* of a folder: the file in it */
	bool		is_unfinished;	/* perf record did not end in order */
	bool		is_cut;		/* the file ends before its records do */
	bool		is_per_task;	/* only certain tasks were recorded */
	uint32_t	n_cpus, n_recorded;	/* CPUs online, and recorded; 0: unknown */
	uint32_t	n_sampled;	/* CPUs that have samples */
	uint32_t	n_parts;	/* of a folder; 0: it is a file */
	int64_t		missing_part;	/* of a folder: the first number that is missing, or -1 */
	uint64_t	outside;	/* samples of parts that the time of the recording lacks */
};

/** A part of a folder: records without a head. */
struct perf_piece {
	const uint8_t	*data;		/* NULL if @size is 0 */
	size_t		size;
	uint32_t	number;		/* of "data.NUMBER" */
};

/** A file to convert, and the files that receive the result. */
struct perf_input {
	const uint8_t	*data;		/* the whole file, @size bytes; of a folder, its "data" */
	size_t		size;
	bool		is_folder;
	const struct perf_piece *pieces;	/* in the order of their numbers */
	size_t		n_pieces;
	bool		is_mapped;	/* all are private mappings: pages may leave memory */
	int		fd, spool;	/* two empty files, see trace_dat_writer_new() */
	uint64_t	most_bytes;	/* limit for both files together */
	bool		counters;	/* those that were read with samples, too */
};

/**
 * perf_data_convert - make the trace.dat; no file is opened
 * @problem: receives what is wrong and what helps, without the file's name
 *
 * Needs at most 128 MiB of memory, besides what trace_dat_write.h needs.
 *
 * Return: 0 or a negative errno with a problem.
 */
int perf_data_convert(const struct perf_input *input, struct perf_facts *facts, char *problem,
		      size_t problem_size);

#ifdef __cplusplus
}
#endif
#endif
