/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_buffers.h
 * @brief	The kernel's trace buffers, which this process reads itself.
 *
 * They are those that all share, or those of an instance of tracefs, which disturbs nobody else's.
 * trace-cmd could make one, but takes others' dynamic events away when it removes it.
 */
#ifndef KSHARK_VIRT_RECORD_BUFFERS_H
#define KSHARK_VIRT_RECORD_BUFFERS_H

#include <stdint.h>

/** A CPU whose buffer is read. */
struct record_cpu {
	int		cpu, fd;
};

struct record_cpus {
	struct record_cpu *all;
	int		n, room;
};

/**
 * record_buffers_open - to be closed
 * @instance: or NULL
 *
 * Return: KSV_EXIT_OK, or an exit status after a message.
 */
int record_buffers_open(struct record_cpus *cpus, const char *instance);
void record_buffers_close(struct record_cpus *cpus);

/** So many bytes are enough for the name of an instance. */
#define RECORD_INSTANCE_SIZE	64

/**
 * record_instance_make - one of this process, into which events are recorded from then on
 * @name: receives what it is called; "" if there is none
 * @clock: that tells the times of records
 * @bytes: for each CPU
 * @events: SYSTEM:EVENT each
 *
 * Return: KSV_EXIT_OK, or an exit status after a message.
 */
int record_instance_make(char name[RECORD_INSTANCE_SIZE], const char *clock, uint64_t bytes,
			 const char *const *events, int n);

/** record_instance_stop - no more is recorded. */
void record_instance_stop(const char *name);

/** record_instance_remove - one that nobody has open. */
void record_instance_remove(const char *name);

/** record_instance_sweep - those that were left by processes which were killed. */
void record_instance_sweep(void);

#endif
