/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_handlings.h
 * @brief	Handlers of interrupts of a host, on all of its pCPUs, from its own trace.
 *
 * A model keeps those that interrupt vCPUs alone (virt_handlers.h).
 */
#ifndef KSHARK_VIRT_HOST_HANDLINGS_H
#define KSHARK_VIRT_HOST_HANDLINGS_H

#include "key_map.h"
#include "kvm_trace.h"
#include "virt_handlers.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The end of a handling that the trace does not show. */
#define HOST_HANDLING_NO_TIME	INT64_MIN

struct host_handling {
	int64_t		begin_ns, end_ns;	/* or HOST_HANDLING_NO_TIME */
	int32_t		handler;		/* index */
	int16_t		cpu;
};

/** All zero is none. */
struct host_handlings {
	struct host_handling *all;		/* by time; of the same time, by CPU */
	size_t		n, room;
	struct host_handler {
		char	*name;			/* "49 virtio0" */
		uint8_t	kind;			/* enum virt_handler_kind */
	} *handlers;
	size_t		n_handlers, room_handlers;
	struct key_map	map;			/* hash of kind and name */
	bool		known[VIRT_HANDLER_N_KINDS]; /* beginnings of a kind were recorded */
};

/**
 * host_handlings_read - read the trace of a KVM host once more
 * @handlings: to be given to host_handlings_free() in any case
 *
 * A handling has no end if records of its CPU are missing before its end, or if another task gets
 * the CPU before it.
 *
 * Return: 0 or -ENOMEM, or as kvm_trace_walk().
 */
int host_handlings_read(struct host_handlings *handlings, struct kvm_trace *trace);
void host_handlings_free(struct host_handlings *handlings);

#ifdef __cplusplus
}
#endif
#endif
