/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_join.h
 * @brief	Several recordings of one host, or of one guest, as a single trace.dat.
 *
 * Recordings follow each other, or are of one time and have different buffers or CPUs. Parts
 * by "trace-cmd split" are such recordings as well.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_JOIN_H
#define KSHARK_VIRT_TRACE_DAT_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Facts about the result. */
struct trace_dat_joined {
	bool		is_parallel;	/* all recordings are of one time */
	uint64_t	n_records;
	uint64_t	n_left_out;	/* records of a time that not all parallel files cover */
	bool		is_boot_unknown; /* the kernel's address does not show one boot */
	bool		has_other_guests; /* guests that only other recordings name are left out */
};

/**
 * trace_dat_join - write a trace.dat of version 7 with the records of all files
 * @paths: @n files that are not compressed or have unpacked copies; sorted by their times, unless
 *	one of them cannot be read
 * @fd: of an empty file
 * @error: receives a sentence about files that do not belong together, or cannot be read
 *
 * Facts that are no records are those of the earliest file; formats of events, names of tasks and
 * buffers are those of all. Records are missing between files that follow each other. If a CPU has
 * no record after such a gap, the event kshark_virt:records_lost at the end shows it.
 *
 * Return: 0; -EILSEQ with a text in @error; or a negative errno of writing.
 */
int trace_dat_join(const char **paths, int n, int fd, struct trace_dat_joined *joined, char *error,
		   size_t size);

#endif
