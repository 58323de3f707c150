/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_buffers.h
 * @brief	The kernel's trace buffers, which this process reads itself.
 *
 * The buffers are those that all tracers share, or those of an instance of tracefs, which disturbs
 * no other tracer. trace-cmd could make an instance, but removes the dynamic events of others when
 * it removes the instance.
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

/** Bytes that are enough for the name of an instance. */
#define RECORD_INSTANCE_SIZE	64

/** Names of instances begin so; the number of the process follows. */
#define RECORD_TOP_INSTANCE	"kshark-virt-top-"
#define RECORD_OWN_INSTANCE	"kshark-virt-record-"

/** In the place of an event: all that the kernel has. */
#define RECORD_ALL_EVENTS	"all"

/**
 * record_instance_make - one of this process, into which events are recorded from then on
 * @name: receives what it is called; "" if there is none
 * @begin: of the name
 * @clock: of the times of records
 * @bytes: for each CPU
 * @events: SYSTEM, SYSTEM:EVENT or RECORD_ALL_EVENTS each
 * @why: receives the reason if there is none
 *
 * Return: 0 or a negative errno.
 */
int record_instance_make(char name[RECORD_INSTANCE_SIZE], const char *begin, const char *clock,
			 uint64_t bytes, const char *const *events, int n, char *why, size_t size);

/** record_instance_stop - no more is recorded. */
void record_instance_stop(const char *name);

/** record_instance_remove - one that no process has open. */
void record_instance_remove(const char *name);

/**
 * record_instance_sweep - remove those that were left by processes which were killed
 * @begin: of their names
 */
void record_instance_sweep(const char *begin);

#endif
