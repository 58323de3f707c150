/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_sink.h
 * @brief	Messages of libbabeltrace2, in order of time, into a trace.dat.
 *
 * Thread of a record: the context "tid" if the trace has it; else the thread to which sched_switch
 * has given the CPU. Records before a CPU's first sched_switch wait for it, as it shows which
 * thread had the CPU; otherwise their thread is -1, unknown.
 *
 * Time of a record: the value of the trace's clock, without the clock's offset, in ns. For LTTng,
 * this is CLOCK_MONOTONIC, as trace-cmd has it with -C mono. Clocks with other offsets than the
 * first one's are moved to it.
 *
 * Losses: LTTng counts the events that it discards in each packet, for each CPU and channel. They
 * are missing before the next record of the CPU. Until that channel has a record again, the CPU's
 * records of other channels are after a loss as well.
 */
#ifndef KSHARK_VIRT_CTF_SINK_H
#define KSHARK_VIRT_CTF_SINK_H

#include <babeltrace2/babeltrace.h>

#include "trace_dat_write.h"

struct ctf_sink;

/** Facts about a conversion. */
struct ctf_counts {
	uint64_t	events;		/* records that were written */
	uint64_t	without_cpu;	/* events whose CPU is not recorded: left out */
	uint64_t	fields;		/* fields of event classes that are left out */
	bool		no_context;	/* interrupts are not recorded, or not all kinds */
};

/**
 * ctf_sink_new - begin
 * @fd, @spool: as trace_dat_writer_new() takes them
 * @most_bytes: limit for both files
 * @version: of the messages: 0, or 1, in which clocks have no UUIDs
 *
 * Return: NULL with errno.
 */
struct ctf_sink *ctf_sink_new(int fd, int spool, uint64_t most_bytes,
			      uint64_t version);

void ctf_sink_free(struct ctf_sink *sink);

/**
 * ctf_sink_take - one more message
 *
 * Return: 0; -EXDEV: the traces are of several hosts, or of clocks that cannot be compared;
 * -EOVERFLOW: a time is too large; or what the writer returned.
 */
int ctf_sink_take(struct ctf_sink *sink, const bt_message *message);

/** ctf_sink_problem - what helps after -EXDEV and -EOVERFLOW, or NULL */
const char *ctf_sink_problem(const struct ctf_sink *sink);

/** ctf_sink_counts - so far */
const struct ctf_counts *ctf_sink_counts(const struct ctf_sink *sink);

/** ctf_sink_finish - write the file. Return: 0 or a negative errno. */
int ctf_sink_finish(struct ctf_sink *sink);

#endif
