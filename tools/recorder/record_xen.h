/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_xen.h
 * @brief	Declarations that the parts for recording a host of Xen share.
 */
#ifndef KSHARK_VIRT_RECORD_XEN_H
#define KSHARK_VIRT_RECORD_XEN_H

#include "record.h"
#include "xen_trace.h"

#define RECORD_XEN_PAGE		4096

#define RECORD_XEN_LOG		RECORD_XEN_FILE ".log"
#define RECORD_XEN_META_LOG	RECORD_XEN_FILE ".meta.log"

/** Classes of events, as xentrace takes them: with all their subclasses. */
#define RECORD_XEN_GEN		0x0001f000
#define RECORD_XEN_SCHED	0x0002f000
#define RECORD_XEN_HVM		0x0008f000
#define RECORD_XEN_PV		0x0020f000
#define RECORD_XEN_SUBCLASSES	0x0000f000

/* --- record_xen.c ---------------------------------------------------------------------------- */

/** record_xen_start_meta - what Xen knows becomes a sidecar. Return: a pid, or 0 after a note. */
pid_t record_xen_start_meta(struct record *record);

/** record_xen_spawn - xentrace, whose records come by a pipe. Return: a pid or negative errno. */
pid_t record_xen_spawn(struct record *record, int *output);

/**
 * record_xen_begin_pipe - start xentrace as @record->recorder, and wait for its first records
 * @output: receives the end of the pipe that they come through
 *
 * Return: KSV_EXIT_OK, also if no record has come; KSV_EXIT_FILE, after a message, if there is no
 * process.
 */
int record_xen_begin_pipe(struct record *record, int *output);

/** record_xen_stop - end a process, if there is one, and wait for it. */
void record_xen_stop(pid_t *pid, int signal, int *status);

/** Longest that one may take which has nothing to write to a disk. */
#define RECORD_XEN_END_S	5

/** record_xen_end - the same, for RECORD_XEN_END_S; then it is killed. */
void record_xen_end(pid_t *pid, int signal, int *status);

/**
 * record_xen_finish - count what is in the trace
 * @status: if it is not KSV_EXIT_OK, something has been said already
 *
 * Return: an exit status, after a message.
 */
int record_xen_finish(struct record *record, int status);

/** record_xen_check_host - can xentrace run here? Return: how much is missing, after messages. */
int record_xen_check_host(struct record *record);

/**
 * record_xen_check_in_use - does anybody else trace?
 *
 * Xen has one set of buffers: a reader takes the records from others.
 *
 * Return: 0, or 1 after a message.
 */
int record_xen_check_in_use(void);

/** record_xen_meta - the program that talks to Xen. */
void record_xen_meta(char path[PATH_MAX]);

/* --- record_xen_buffer.c: Xen's buffers ------------------------------------------------------ */

/**
 * record_xen_choose_buffer - how large the buffers are going to be
 *
 * The first tracer after Xen has started makes them, once. Then, or if they would be
 * larger than Xen can make them, --buffer becomes what it can be, with a note.
 */
void record_xen_choose_buffer(struct record *record);

/** record_xen_check_buffer - has xentrace got what it asked for? If not, it is said. */
void record_xen_check_buffer(struct record *record);

/** Of one pCPU, second by second. */
struct record_xen_cpu {
	int64_t		second;		/* the one that is being counted */
	uint64_t	records, lost;	/* in it */
};

/** What the records of a trace show of its losses. All zero to begin with. */
struct record_xen_losses {
	struct record_xen_cpu	*cpus;
	size_t			n_cpus, room;
	uint64_t		bytes;	/* of all records */
	bool			unknown; /* some were lost, and Xen does not say how many */
};

/** record_xen_add_row - the next record. Return: 0 or -ENOMEM. */
int record_xen_add_row(struct record_xen_losses *losses, const struct xen_trace_row *row,
		       struct record_count *count);

/** record_xen_losses_end - what buffer would have sufficed; frees what there is. */
void record_xen_losses_end(struct record *record, struct record_xen_losses *losses);

#endif
