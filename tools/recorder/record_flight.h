/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_flight.h
 * @brief	The flight recorder: the part that all hosts share, and the part of each kind of
 *		host.
 */
#ifndef KSHARK_VIRT_RECORD_FLIGHT_H
#define KSHARK_VIRT_RECORD_FLIGHT_H

#include "record.h"
#include "record_buffers.h"
#include "record_ring.h"
#include "record_trigger.h"

/** What records a host into a ring, in the memory of this process. */
struct record_source {
	const char	*file;		/* name of the trace */

	/* what no moment of this kind is seen without: the events to add; or NULL. "": never */
	const char	*(*missing)(const struct record *record, enum virt_worst_kind kind);

	/* begin to record. Return: an exit status, after a message */
	int	(*start)(struct record *record);

	/* take what has come */
	void	(*take)(struct record *record);

	/* record no more, and take the rest */
	void	(*stop)(struct record *record);

	/* make the trace of what is kept, in a folder. Return: 0 or a negative errno */
	int	(*write)(const struct record *record, const char *folder);

	/* what is known when the trace is in record->folder: sidecar, counts, files */
	int	(*finish)(struct record *record);
};

struct record_flight {
	const struct record_source *source;
	struct record_ring	ring;
	char			base[PATH_MAX];	/* the first folder, as it was called */
	char			folder[PATH_MAX]; /* a later one */
	char			scratch[PATH_MAX]; /* where it is judged; "": nothing is to be */
	int			number;		/* of the recording; above 1, it was begun before */
	int			n_triggered;
	int64_t			stopped_ns;	/* the one before; 0: there is none */
	/* who judges */
	pid_t			judge;		/* 0: none */
	int			answer;		/* descriptor */
	int64_t			judge_began_ns, judge_next_ns;
	int			n_failed;	/* in a row */
	bool			is_slow;	/* a note has said so */
	uint64_t		n_unknown[RECORD_MAX_TRIGGERS]; /* limits: times in a row */
	bool			no_memory;	/* for what has come; it is lost */
	/* of KVM */
	struct record_cpus	cpus;
	/* of Xen */
	int			fd;		/* xentrace writes to it; -1: no more */
	unsigned char		*data;		/* the beginning of a window */
	size_t			n_data, room_data;
	int			last_cpu;
	int64_t			round_ns;	/* when xentrace began to go through its CPUs */
	pid_t			meta;
	bool			is_no_trace;	/* what came is no trace of xentrace */
};

/** record_flight - record, keep the end, and write it whenever there is a reason to. */
int record_flight(struct record *record, const struct record_source *source);

/* --- record_flight_judge.c: are conditions met? ---------------------------------------------- */

/**
 * record_flight_check - can the conditions be judged of what is recorded?
 *
 * Return: KSV_EXIT_OK, or an exit status after a message.
 */
int record_flight_check(const struct record *record, const struct record_source *source);

/** record_flight_judge_open - make room to judge. Return: an exit status, after a message. */
int record_flight_judge_open(struct record *record);
void record_flight_judge_close(struct record *record);

/** record_flight_sweep - take away what one that was killed has left in memory. */
void record_flight_sweep(void);

/**
 * record_flight_judge - judge what is kept, in a process of its own, now and then
 *
 * Return: RECORD_ON, RECORD_TRIGGER if a condition is met, or RECORD_DIED, after a message, if it
 * cannot be judged.
 */
enum record_stop record_flight_judge(struct record *record);

/** record_flight_judge_end - wait for who judges, and do not listen. */
void record_flight_judge_end(struct record *record);

/**
 * record_flight_limits - judge limits by running check on a host's trace
 * @fired: receives the result of each limit of @triggers; others stay
 *
 * Return: 0, also if there are none, or -1 with a text in @error.
 */
int record_flight_limits(const char *path, const struct record_trigger *triggers, int n,
			 struct record_fired *fired, char *error, size_t size);

/**
 * record_flight_describe - note and record which conditions the trace in record->folder meets
 *
 * Return: 0 or -ENOMEM.
 */
int record_flight_describe(struct record *record);

/** record_keep - remove the oldest recordings that --keep does not keep; problems are notes. */
void record_keep(const struct record *record);

extern const struct record_source record_source_kvm, record_source_xen;

#endif
