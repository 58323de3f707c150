/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_monitor.h
 * @brief	The trace that a machine's monitor (QEMU) made of itself, next to its host's trace.
 *
 * The threads in the trace show whose monitor it is. If the clock is not that of the host's trace,
 * it is aligned by the moment that is recorded next to the host's trace, or by causality: a vCPU's
 * thread executes the monitor only while it is in VIRT_VMM.
 */
#ifndef KSHARK_VIRT_HOST_MONITOR_H
#define KSHARK_VIRT_HOST_MONITOR_H

#include "clock_align.h"
#include "host_trace.h"
#include "monitor_requests.h"

#ifdef __cplusplus
extern "C" {
#endif

enum host_monitor_source {
	HOST_MONITOR_NONE = 0,		/* not aligned: nothing that was found explains its
					 * events */
	HOST_MONITOR_SAME_CLOCK,	/* that of the host's trace */
	HOST_MONITOR_MOMENT,		/* of the host's sidecar */
	HOST_MONITOR_CAUSALITY,
	HOST_MONITOR_N_SOURCES
};

/** A vCPU, and what its thread did in the monitor. */
struct host_monitor_vcpu {
	int32_t		vcpu;		/* global index */
	int64_t		*times;		/* of all of its events, since @base_ns; ascending */
	size_t		n_times, room_times;
	uint32_t	*accesses;	/* indices in @requests; ascending */
	size_t		n_accesses, room_accesses;
	uint32_t	*exits;		/* the same of exits */
	size_t		n_exits, room_exits;
};

/** All zero is none. */
struct host_monitor {
	struct monitor_trace	*trace;
	struct monitor_requests	requests;
	const struct virt_model	*model;
	int32_t			machine;	/* index */
	struct host_monitor_vcpu *vcpus;	/* of the machine, in the model's order */
	int32_t			n_vcpus;
	bool			knows_threads;	/* false: its records name the process only */
	enum host_monitor_source source;
	int64_t			base_ns;	/* of its clock: its first record */
	struct virt_clock_alignment alignment;	/* of times since @base_ns; how good it is */
};

/**
 * host_monitor_open - read a monitor's trace, find whose it is, and align its clock with the host's
 * @host, @model: of the host, of KVM; they stay
 * @monitor: receives it; to be given to host_monitor_close() in any case
 * @error: on failure, receives a text that names the file
 *
 * Return: 0, also if the clock cannot be aligned; or a negative errno.
 */
int host_monitor_open(struct host_monitor *monitor, const struct host_trace *host,
		      const struct virt_model *model, const char *path, char *error, size_t size);
void host_monitor_close(struct host_monitor *monitor);

/** host_monitor_source_name - "clock", "moment", "causality", or "none" */
const char *host_monitor_source_name(enum host_monitor_source source);

/** host_monitor_time - from its clock to the axis of the model; of one that is aligned. */
int64_t host_monitor_time(const struct host_monitor *monitor, int64_t time_ns);

/**
 * host_monitor_notes - what a user must know of it
 *
 * Return: a malloc'ed text, a line per note, names escaped; empty if there is nothing; NULL without
 * memory.
 */
char *host_monitor_notes(const struct host_monitor *monitor);

/* --- time in the monitor --------------------------------------------------------------------- */

/**
 * A vCPU's stay in the monitor: from where it goes there to where it executes its guest again, or
 * nothing is known of it. What is in between and not VIRT_VMM does not count.
 */
struct host_monitor_stretch {
	int64_t		from_ns, to_ns;	/* cut to the window */
	int64_t		vmm_ns;		/* of that, in VIRT_VMM */
	const struct host_monitor_vcpu *vcpu;
	size_t		first_access, n_accesses;	/* in @vcpu; all of the stretch */
	size_t		first_exit, n_exits;
};

typedef void (*host_monitor_stretch_fn)(void *arg, const struct host_monitor_stretch *stretch);

/**
 * host_monitor_stretches - call @take for each in [from, to), vCPU by vCPU
 *
 * Their times in VIRT_VMM are all that the vCPUs have of it in the window. Of a monitor whose clock
 * is not aligned, none has an access.
 */
void host_monitor_stretches(const struct host_monitor *monitor, int64_t from_ns, int64_t to_ns,
			    host_monitor_stretch_fn take, void *arg);

/** host_monitor_vcpu_stretches - the same of one vCPU. @vcpu: global index */
void host_monitor_vcpu_stretches(const struct host_monitor *monitor, int32_t vcpu, int64_t from_ns,
				 int64_t to_ns, host_monitor_stretch_fn take, void *arg);

#ifdef __cplusplus
}
#endif
#endif
