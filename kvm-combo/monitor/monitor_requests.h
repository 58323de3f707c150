/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	monitor_requests.h
 * @brief	Requests to a monitor's devices, by its trace, and the time that each took.
 *
 * A request begins where it comes out of a queue of the guest, or where a device reports that it
 * has one. It ends where it goes back to the queue, or where the device reports that it is done.
 * Times are those of the trace.
 */
#ifndef KSHARK_VIRT_MONITOR_REQUESTS_H
#define KSHARK_VIRT_MONITOR_REQUESTS_H

#include "monitor_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MONITOR_NONE	(-1)

enum monitor_operation {
	MONITOR_OP_OTHER = 0,	/* a request of a queue; no event says for what */
	MONITOR_OP_READ,
	MONITOR_OP_WRITE,
	MONITOR_OP_WORK,	/* of a pool of threads */
	MONITOR_N_OPS
};

/** What requests are made to, or what vCPUs read and write. */
struct monitor_device {
	uint64_t	pointer;	/* in the monitor; distinguishes devices of one name */
	const char	*name;		/* as the monitor calls it, or what it is known to be */
	size_t		n_name;
	bool		is_region;	/* of memory or ports, that vCPUs access */
};

struct monitor_request {
	int64_t		begin_ns;
	int64_t		end_ns;		/* if it is @done */
	uint64_t	bytes;		/* read or written; of a queue, for the guest */
	int32_t		begin_thread, end_thread;
	int32_t		device;		/* index */
	uint8_t		operation;	/* enum monitor_operation */
	bool		done;		/* its end is in the trace */
};

/** A vCPU reads or writes a device itself: one value. */
struct monitor_access {
	int64_t		time_ns;
	uint64_t	address;
	int32_t		thread;
	int32_t		cpu;		/* the vCPU's number, by the monitor; or MONITOR_NONE */
	int32_t		device;		/* index */
	uint8_t		operation;	/* READ or WRITE */
	uint8_t		bytes;
};

/** KVM came back to the monitor. */
struct monitor_exit {
	int64_t		time_ns;
	int32_t		thread;
	int32_t		cpu;		/* the vCPU's number */
	int32_t		reason;		/* KVM_EXIT_..., negative: an error */
};

/** All in order of time, requests by their begin. To be made by monitor_requests_make(). */
struct monitor_requests {
	struct monitor_device	*devices;
	struct monitor_request	*requests;
	struct monitor_access	*accesses;
	struct monitor_exit	*exits;
	size_t		n_devices, n_requests, n_accesses, n_exits;
	uint64_t	odd;		/* events whose arguments are not as they should be */
	uint64_t	ends_alone;	/* ends of requests whose begin is not in the trace */
	/* private */
	size_t		room_devices, room_requests, room_accesses, room_exits;
};

/**
 * monitor_requests_make - go through a trace
 * @trace: stays, as names are in it
 * @requests: receives them; to be given to monitor_requests_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int monitor_requests_make(struct monitor_requests *requests, const struct monitor_trace *trace);
void monitor_requests_free(struct monitor_requests *requests);

/** monitor_operation_name - "read", "write", "work", "request" */
const char *monitor_operation_name(enum monitor_operation operation);

/** monitor_exit_name - what a reason is in KVM's interface, "MMIO", "IO" ...; or NULL. */
const char *monitor_exit_name(int32_t reason);

#ifdef __cplusplus
}
#endif
#endif
