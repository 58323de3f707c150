/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_samples.h
 * @brief	Counters of a host's kernel (proc(5)), once a second while its trace is recorded.
 *
 * The file is TRACE.samples.csv beside the trace; docs/recording-folder.md describes it.
 *
 * Counts and states are numbers of 64 bits. A number that the kernel does not have is
 * HOST_SAMPLE_UNKNOWN. No other code reads or writes such a file.
 */
#ifndef KSHARK_VIRT_HOST_SAMPLES_H
#define KSHARK_VIRT_HOST_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "virt_colors.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HOST_SAMPLES_ENDING	".samples.csv"

/** record takes a sample as often as that. */
#define HOST_SAMPLE_NS		INT64_C(1000000000)

/** Those of a week; a file with more, which would take more than 150 MB of memory, is refused. */
#define HOST_SAMPLES_MAX	(7 * 24 * 3600)

/** A line that is written, with its end and a NUL. */
#define HOST_SAMPLE_LINE	1024

/** A line that is read, with its end: later versions may have more numbers. */
#define HOST_SAMPLE_LINE_READ	4096

/** What time is spent on: a larger file is refused. */
#define HOST_SAMPLES_MAX_BYTES	((off_t)HOST_SAMPLES_MAX * HOST_SAMPLE_LINE)

#define HOST_SAMPLE_UNKNOWN	(-1)

/** What CPUs did, in ns of all CPUs together. X(NAME, kind) */
#define HOST_SAMPLE_CPU(X)								\
	X(GUEST, "guest")		/* vCPUs in their guests, nice ones too */	\
	X(USER, "user")			/* other tasks in user mode, nice ones too */	\
	X(SYSTEM, "system")								\
	X(IRQ, "irq")									\
	X(SOFTIRQ, "softirq")								\
	X(STEAL, "steal")								\
	X(IOWAIT, "iowait")		/* idle while a task waits for a disk */	\
	X(IDLE, "idle")			/* the rest of idle */

/** Other numbers that only grow. They are those of all CPUs together. X(NAME, key) */
#define HOST_SAMPLE_COUNTERS(X)								\
	X(SWITCHES, "switches")								\
	X(INTERRUPTS, "interrupts")							\
	X(FORKS, "forks")								\
	X(FAULTS, "faults")								\
	X(MAJOR_FAULTS, "major_faults")							\
	X(READ, "read_bytes")		/* by disks, swap too */			\
	X(WRITTEN, "written_bytes")							\
	X(SWAP_IN, "swap_in_bytes")							\
	X(SWAP_OUT, "swap_out_bytes")							\
	X(CPU_SOME, "cpu_some_ns")	/* pressure: some task waits for a CPU ... */	\
	X(MEMORY_SOME, "memory_some_ns")						\
	X(MEMORY_FULL, "memory_full_ns")	/* ... or none can work */		\
	X(IO_SOME, "io_some_ns")							\
	X(IO_FULL, "io_full_ns")

/** What there is at the moment of a sample. */
#define HOST_SAMPLE_STATES(X)								\
	X(RUNNABLE, "runnable")		/* tasks, the recorder that looks is one */	\
	X(BLOCKED, "blocked")		/* tasks that wait for a disk */		\
	X(MEMORY, "memory_bytes")	/* that the host has */				\
	X(AVAILABLE, "available_bytes")							\
	X(FREE, "free_bytes")								\
	X(CACHED, "cached_bytes")	/* with buffers */				\
	X(SWAP, "swap_bytes")								\
	X(SWAP_FREE, "swap_free_bytes")

enum host_sample_number {
#define HOST_SAMPLE_ENUM(name, key)	HOST_SAMPLE_##name,
	HOST_SAMPLE_CPU(HOST_SAMPLE_ENUM)
	HOST_SAMPLE_COUNTERS(HOST_SAMPLE_ENUM)
	HOST_SAMPLE_STATES(HOST_SAMPLE_ENUM)
#undef HOST_SAMPLE_ENUM
	HOST_N_SAMPLED
};

/** Counters come first. */
#define HOST_N_COUNTERS		HOST_SAMPLE_RUNNABLE

struct host_sample {
	int64_t		time_ns;	/* on the axis of the trace */
	int64_t		numbers[HOST_N_SAMPLED];
};

/** All zero is none. */
struct host_samples {
	struct host_sample *all;	/* by time */
	size_t		n, room;
	size_t		bad_lines;	/* that are no samples, or not later than the one before */
};

/** Colours of what pCPUs do, in figures and the window. */
enum host_cpu_color {
	HOST_COLOR_UNKNOWN = -1, HOST_COLOR_IDLE = -2, HOST_COLOR_IOWAIT = -3,
	/* those that vCPUs have, by number */
	HOST_COLOR_USER = 1, HOST_COLOR_GUEST, HOST_COLOR_INTERRUPT, HOST_COLOR_SOFTIRQ,
	HOST_COLOR_SYSTEM, HOST_COLOR_STEAL,
	HOST_COLOR_IRQ = HOST_COLOR_INTERRUPT, HOST_COLOR_SYSCALL = HOST_COLOR_SYSTEM,
};

/** host_cpu_color - @color: enum host_cpu_color, or the number of a vCPU whose colour it is */
struct virt_color host_cpu_color(int color);

/** host_sample_key - what a number is called: "guest_ns", "runnable" */
const char *host_sample_key(enum host_sample_number number);

/** host_samples_path - where the samples of a trace belong. Return: to be freed, or NULL. */
char *host_samples_path(const char *trace_path);

/** host_samples_titles - the first line. Return: its length. */
size_t host_samples_titles(char line[HOST_SAMPLE_LINE]);

/** host_samples_line - a sample as a line. Return: its length. */
size_t host_samples_line(char line[HOST_SAMPLE_LINE], const struct host_sample *sample);

/**
 * host_samples_read - the samples of a trace
 * @samples: to be given to host_samples_free() in any case
 *
 * A last line without its end is left out: the recording goes on, or its recorder was killed.
 *
 * Return: 0; -ENOENT: there are none; -ENOMEM; -EBADMSG: the file is something else; -EFBIG: it has
 * too many samples or bytes; or another negative errno, as of regular_file_open(). There are no
 * samples then.
 */
int host_samples_read(struct host_samples *samples, const char *trace_path);

/** host_samples_take - the same of a file that is open, of any number of bytes */
int host_samples_take(struct host_samples *samples, FILE *file);

/** host_samples_add - a sample after all others. Return: 0 or -ENOMEM. */
int host_samples_add(struct host_samples *samples, const struct host_sample *sample);

/** host_samples_forget - those that no interval needs which begins at a time or later */
void host_samples_forget(struct host_samples *samples, int64_t before_ns);
void host_samples_free(struct host_samples *samples);

/** An interval; by enum host_sample_number. */
struct host_sample_sums {
	int64_t		counts[HOST_N_COUNTERS];	/* or HOST_SAMPLE_UNKNOWN */
	double		means[HOST_N_SAMPLED];		/* of states; NAN: unknown */
};

/**
 * host_samples_sum - what was counted in [from, to), and the mean of each state
 *
 * Between two samples, counters grow evenly; so the sums of neighbouring intervals add up. Counts
 * of an interval that begins before the first sample or ends after the last one are unknown, also
 * if the counter falls in it. A state is unknown if no sample of the interval has it.
 */
void host_samples_sum(const struct host_samples *samples, int64_t from_ns, int64_t to_ns,
		      struct host_sample_sums *sums);

/** Across a gap of more than one sample that is missing, a state is not known. */
#define HOST_SAMPLE_GAP_NS	(5 * HOST_SAMPLE_NS / 2)

/**
 * host_samples_held - the sample whose states hold at a time: the last one before it
 *
 * Return: NULL before the first and after the last one, and in a gap.
 */
const struct host_sample *host_samples_held(const struct host_samples *samples, int64_t time_ns);

/** host_samples_cpu_ns - the time of all CPUs; HOST_SAMPLE_UNKNOWN if that of a kind is. */
int64_t host_samples_cpu_ns(const struct host_sample_sums *sums);

#ifdef __cplusplus
}
#endif
#endif
