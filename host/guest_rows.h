/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_rows.h
 * @brief	A machine's reports through hypercalls as rows: a guest's trace without a file.
 *
 * The rows are all that `kshark-virt dump --hypertrace` shows of the machine, in order of time.
 * Where this is not credible or records are missing, a row says so. The rows are filled once; then
 * any number of threads may read them.
 */
#ifndef KSHARK_VIRT_GUEST_ROWS_H
#define KSHARK_VIRT_GUEST_ROWS_H

#include "host_hypertrace.h"
#include "hyper_symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most names of events; a guest can make up as many numbers as it likes. */
#define GUEST_ROWS_NAMES	8192

/** Room for what guest_rows_text() gives. */
#define GUEST_ROWS_TEXT		2048

/** A row. */
struct guest_row {
	int64_t		time_ns;	/* on the host's axis: hyper_guest_now() */
	size_t		content;	/* offset in @content of struct guest_rows */
	int32_t		pid;		/* that has the CPU from then on; HYPER_NONE: not known */
	int16_t		cpu;		/* number of the vCPU */
	int16_t		event;		/* of guest_rows_name() */
};

/** All zero is none. */
struct guest_rows {
	struct hyper_guest *guest;		/* CPUs are the machine's vCPUs in its order */
	const struct hyper_dialect *dialect;
	struct hyper_dialect *own;		/* the same, if it is from a file; or NULL */
	char		*machine;		/* its name */
	int32_t		*numbers, *tids;	/* by CPU: of the vCPU, and of its thread */
	int32_t		n_cpus;
	int32_t		n_numbers;		/* one more than the highest of @numbers */
	struct guest_row *rows;			/* in order of time */
	size_t		n, room;
	char		**names;		/* of events, in order of appearance */
	int		n_names, names_room;
	uint8_t		*content;		/* packed: see guest_rows.c */
	size_t		n_content, content_room;
};

/**
 * guest_rows_make - all of a machine's
 * @machine: index in the model, with a dialect; what @trace has of its guest is taken away from it
 * @rows: all zero; to be given to guest_rows_free() in any case
 *
 * A vCPU whose number does not fit into 15 bits is left out.
 *
 * Return: 0 or -ENOMEM.
 */
int guest_rows_make(struct host_hypertrace *trace, int32_t machine, struct guest_rows *rows);
void guest_rows_free(struct guest_rows *rows);

/** guest_rows_name - what events of a number are called; or NULL. */
const char *guest_rows_name(const struct guest_rows *rows, int event);

/** guest_rows_find - the number of events that are called so, or -1. */
int guest_rows_find(const struct guest_rows *rows, const char *name);

/**
 * guest_rows_text - what a row says, as hyper_event_text()
 * @symbols: may be NULL
 *
 * Return: as snprintf().
 */
int guest_rows_text(char *text, size_t size, const struct guest_rows *rows, size_t row,
		    const struct hyper_symbols *symbols);

/** guest_rows_event - the event of a row. Return: false if it is none, but says something else. */
bool guest_rows_event(const struct guest_rows *rows, size_t row, struct hyper_event *event);

#ifdef __cplusplus
}
#endif
#endif
