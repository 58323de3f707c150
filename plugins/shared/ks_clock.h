/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ks_clock.h
 * @brief	Convert the times of one of KernelShark's streams to its time axis.
 *
 * The stream's calib_array keeps all of the data, and sessions keep that array, too. Its first
 * member is the one that KernelShark itself knows: ns that are added last. Only one thread at a
 * time may use this, and not while KernelShark loads.
 */
#ifndef KSHARK_VIRT_KS_CLOCK_H
#define KSHARK_VIRT_KS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <libkshark.h>

#include "clock_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where each of them is in the array of an aligned stream; all are needed. */
enum ks_clock_part {
	KS_CLOCK_OFFSET = 0,	/* ns */
	KS_CLOCK_MAGIC,		/* KS_CLOCK_IS_OURS */
	KS_CLOCK_FLAGS,		/* enum ks_clock_flags */
	KS_CLOCK_SOURCE,	/* enum align_source */
	KS_CLOCK_FOUND,		/* the offset that was found; and its interval */
	KS_CLOCK_LO,
	KS_CLOCK_HI,
	KS_CLOCK_DRIFT,		/* in ppm / 1000000 */
	KS_CLOCK_HZ,		/* of the host's TSC, if it is shown in ns; else 0 */
	KS_CLOCK_BASE,		/* its TSC at 0 ns */
	KS_CLOCK_HOST,		/* ks_clock_key() of its file */
	KS_CLOCK_N_TIDS,
	KS_CLOCK_TIDS,		/* pids of the CPUs in the host's trace; VIRT_NONE: not known;
				 * behind them, if there is KS_CLOCK_AT, that time; behind that,
				 * if there is KS_CLOCK_STEPS, their number, and of each these: */
};

/** Of a step: struct virt_clock_step. */
enum ks_clock_step_part {
	KS_CLOCK_STEP_CPU = 0, KS_CLOCK_STEP_BACK, KS_CLOCK_STEP_FROM, KS_CLOCK_STEP_ADD,
	KS_CLOCK_STEP_PARTS
};

#define KS_CLOCK_IS_OURS	0x6b736876636c6b31LL
#define KS_CLOCK_MAX_TIDS	4096

/** Larger offsets, of more than a century, are no clock's: sums must fit. */
#define KS_CLOCK_MAX_OFFSET	4000000000000000000LL

/** No row of a trace.dat is loaded with an earlier time, see ks_clock_settle(). */
#define KS_CLOCK_FIRST		1

enum ks_clock_flags {
	KS_CLOCK_ALIGNED = 1,	/* else the user does not want it to be */
	KS_CLOCK_HIDES = 2,	/* instead of trace-cmd's own offsets */
	KS_CLOCK_CYCLES = 4,	/* the unit of what was found */
	KS_CLOCK_AT = 8,	/* at which of the stream's own times offsets hold; else 0 */
	KS_CLOCK_STEPS = 16,	/* where others count */
};

/** The array of a stream and its length. */
struct ks_clock {
	int64_t		*parts;
	size_t		n;
};

/** ks_clock_key - a number for a file, by its name without the directory. */
int64_t ks_clock_key(const char *path);

/** ks_clock_is_key - is it this file, by its own name or by that of what it is a link to? */
bool ks_clock_is_key(const struct kshark_data_stream *stream, int64_t key);

/** ks_clock_of - what is known of a stream, or NULL if it has no more than an offset. */
const int64_t *ks_clock_of(const struct kshark_data_stream *stream);

/** ks_clock_at - the stream's own time at which offsets hold, of what ks_clock_of() gave. */
int64_t ks_clock_at(const int64_t *parts);

/** ks_clock_n_steps - how many there are, of what ks_clock_of() gave; 0: no others count. */
size_t ks_clock_n_steps(const int64_t *parts);

/** ks_clock_step - one of them */
struct virt_clock_step ks_clock_step(const int64_t *parts, size_t i);

/**
 * ks_clock_copy - the array as it is, without a text after it (ks_memo.h)
 *
 * Return: to be freed; parts is NULL if there is none.
 */
struct ks_clock ks_clock_copy(const struct kshark_data_stream *stream);

/**
 * ks_clock_time - where a record's own time is on KernelShark's axis, by a copied clock
 *
 * Without its steps: they are to be made before.
 */
int64_t ks_clock_time(const struct ks_clock *clock, int64_t ts);

/** ks_clock_hides - does a clock go without trace-cmd's own offsets? */
bool ks_clock_hides(const struct ks_clock *clock);

/** ks_clock_prepare - before a stream is loaded: make what a session has brought count. */
void ks_clock_prepare(struct kshark_data_stream *stream);

/** ks_clock_is_prepared - does what it knows count? Also true if there is nothing. */
bool ks_clock_is_prepared(const struct kshark_data_stream *stream);

/**
 * ks_clock_set - from now on, these are a stream's times
 * @clock: belongs to the stream from here on, even after an error; of one part: only an offset
 * @rows: all rows of all streams; they are sorted anew
 *
 * A text of the stream (ks_memo.h) stays.
 *
 * Return: 0; -ENOTSUP if this libtracecmd cannot do it, -ERANGE, -ENOMEM or -EIO, and nothing is
 * changed.
 */
int ks_clock_set(struct kshark_data_stream *stream, struct ks_clock clock,
		 struct kshark_entry **rows, size_t n_rows);

/**
 * ks_clock_settle - after a stream has been loaded with its clock: give rows before
 * KS_CLOCK_FIRST their times, which KernelShark cannot load, make the steps, of which it knows
 * nothing, and sort all rows anew
 *
 * Return: 0; -ENOMEM or -EIO, and nothing is changed.
 */
int ks_clock_settle(struct kshark_data_stream *stream, struct kshark_entry **rows, size_t n_rows);

#ifdef __cplusplus
}
#endif
#endif
