/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat.h
 * @brief	Facts about a trace.dat file without libtracecmd, which only prints "no data".
 */
#ifndef KSHARK_VIRT_TRACE_DAT_H
#define KSHARK_VIRT_TRACE_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "held_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a trace.dat file begins (trace-cmd.dat(5)). */
extern const char trace_dat_magic[10];

/** trace_dat_is - does a file begin like that? Takes nothing from a pipe. */
bool trace_dat_is(const char *path);

/** What libtracecmd's times of a file are. */
enum trace_dat_unit {
	TRACE_DAT_NS,
	TRACE_DAT_CYCLES,	/* of the TSC; the file does not say how long they are */
	TRACE_DAT_EITHER,	/* 'trace-cmd split' has kept the clock's name, but not whether it
				 * wrote ns or cycles; libtracecmd takes them for ns */
};

/** Bytes of the name of a clock, with its end. */
#define TRACE_DAT_CLOCK	32

/** Where a packed /proc/kallsyms ends in a file, and its size without the packing; 0: none. */
struct trace_dat_symbols {
	uint64_t	end;
	uint32_t	size;
};

/** What has been seen in a file. */
struct trace_dat_info {
	enum trace_dat_unit unit;
	bool		packed;		/* by zlib: only trace_dat_unpack() reads it */
	bool		is_compressed;	/* by anything */
	bool		counts_events;	/* its clock; such a file is refused */
	int		n_instances;	/* buffers besides the top one, trace-cmd record -B */
	char		clock[TRACE_DAT_CLOCK];	/* its name in trace_clock: "local"; or empty */
	bool		shifted;	/* libtracecmd brings times to another file's, of the top
					 * buffer alone */
	int64_t		jump;		/* by which the offsets for that jump at most, as no clock
					 * does, in the unit of the times; else 0 */
	struct trace_dat_symbols symbols;	/* if zstd has packed them */
};

/**
 * trace_dat_jump_text - what a jump of a file's offsets does to its times, and what helps
 * @path: of the file, which the text begins with
 * @jump: as in struct trace_dat_info
 * @unit: of the times
 */
void trace_dat_jump_text(const char *path, int64_t jump, enum trace_dat_unit unit, char *text,
			 size_t size);

/**
 * trace_dat_check - can this file be read?
 * @problem: receives what is wrong and what helps, without the file's name
 * @info: receives what has been seen; may be NULL
 *
 * Looks at what has to be there: the compression, and whether the file's parts lie within it. What
 * else may be wrong is libtracecmd's to find.
 *
 * Return: false if the file cannot be read.
 */
bool trace_dat_check(const char *path, char *problem, size_t size, struct trace_dat_info *info);

/** Takes a guest that a file names: the thread of each of its CPUs, 0 where it names none. */
typedef int (*trace_dat_guest_fn)(void *arg, const char *name, const int32_t *tids, int n);

/**
 * trace_dat_guests - all guests that trace-cmd has recorded in a host's file, in the file's order
 *
 * libtracecmd returns only those whose own files are open.
 *
 * Return: 0, -ENOMEM, or what @take returned other than 0.
 */
int trace_dat_guests(const char *path, trace_dat_guest_fn take, void *arg);

/** Bytes of a system's description, with its end. */
#define TRACE_DAT_UNAME	600

/**
 * trace_dat_uname - the system that a file is from: "Linux web7 6.1.0-18-amd64 x86_64"
 * @text: receives it, cut; empty if the file does not have it
 */
void trace_dat_uname(const char *path, char text[TRACE_DAT_UNAME]);

/**
 * trace_dat_unpack - an uncompressed copy of a file that zlib or zstd has compressed
 *
 * The copy has no name, so that it is gone when it is closed, whatever happens. It is in TMPDIR.
 * What the file claims to become is compared with its size, and with the room that is left, first.
 *
 * Return: a file descriptor, or a negative errno and a text, with the file's name, in @error.
 */
int trace_dat_unpack(const char *path, char *error, size_t size);

/** How long a cycle is: ns = cycles * mult >> shift, as the kernel and trace-cmd have it. */
struct trace_dat_scale {
	uint32_t	mult, shift;
};

/** trace_dat_find_scale - Return: false if the file has none. */
bool trace_dat_find_scale(const char *path, struct trace_dat_scale *scale);

/**
 * trace_dat_add_scale - add to a file that counts cycles how long they are
 *
 * As trace-cmd record --tsc2nsec does at its end; all who read the file get ns from then on. A few
 * bytes are added behind the end, and 8 bytes of the head changed.
 *
 * Return: 0, -EEXIST if the file has it already, -EINVAL if it is not of version 7, or a negative
 * errno.
 */
int trace_dat_add_scale(const char *path, const struct trace_dat_scale *scale);

/**
 * trace_dat_set_clock - name the clock of the records in the buffer without a name
 * @clock: as in trace_clock: "mono"
 *
 * For a file that was made from the data of CPUs, which do not name their clock. Times do not
 * change. Return: 0, -EINVAL if the file is not of version 7, or a negative errno.
 */
int trace_dat_set_clock(const char *path, const char *clock);

#ifdef __cplusplus
}
#endif
#endif
