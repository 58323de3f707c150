/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_part.h
 * @brief	The member "part" of a sidecar: its trace was cut out of another, or put together.
 *
 * It keeps the axis of times and the frequency of the other trace, and the facts of the other trace
 * about this one that its records lack (virt_part.h). Its keys are in docs/xentrace-format.md.
 */
#ifndef KSHARK_VIRT_XEN_PART_H
#define KSHARK_VIRT_XEN_PART_H

#include <json-c/json.h>

#include "virt_part.h"
#include "xen_clock.h"
#include "xen_events.h"
#include "xen_running.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pCPU of it. */
struct xen_part_pcpu {
	uint16_t	pcpu;
	bool		has_first;
	xen_vcpu	first;		/* who was there before its first record */
	uint64_t	known_tsc;	/* as in struct xentrace_pcpu */
};

/** A vCPU of the model, in the order of their numbers. */
struct xen_part_vcpu {
	xen_vcpu	vcpu;
	bool		hvm;		/* its domain has VM entries and exits */
};

struct xen_part {
	uint64_t	bytes, records;	/* of the trace that it belongs to */
	bool		has_clock;
	struct xen_clock clock;		/* base_tsc: time 0 of the other trace */
	int		n_pcpus;	/* highest number + 1 */
	enum xen_isa	isa;
	bool		scheduler;	/* context switches are traced */
	bool		has_cores;	/* parts of earlier versions have not: */
	struct xen_cores *cores;	/* that Xen schedules as one; NULL: none */
	bool		has_whole;
	uint64_t	whole_tsc;	/* xentrace_whole_tsc() */
	uint64_t	*windows;	/* where each window was in the other file; or none */
	size_t		n_windows, room_windows;
	uint64_t	*gaps;		/* offsets of the records before which some are missing */
	size_t		n_gaps, room_gaps;
	struct xen_part_pcpu *pcpus;
	int		n_of_pcpus, room_pcpus;
	struct xen_part_vcpu *vcpus;	/* model->n_vcpus */
	struct virt_part *model;	/* its times are @clock's; NULL: nothing is kept */
};

struct xen_cores;
struct xen_trace;

/**
 * xen_trace_part - what is kept of the trace that this one was cut out of, on its axis of times
 *
 * Return: NULL: it was not, or its TSCs are corrected.
 */
const struct xen_part *xen_trace_part(const struct xen_trace *trace);

/** xen_trace_cores - pCPUs that Xen schedules together, or NULL: each one by itself. */
const struct xen_cores *xen_trace_cores(const struct xen_trace *trace);

/** xen_part_free - free a part, which may be NULL. */
void xen_part_free(struct xen_part *part);

/** xen_part_pcpu - what is kept of a pCPU, made if it is not there. Return: NULL: no memory. */
struct xen_part_pcpu *xen_part_pcpu(struct xen_part *part, uint16_t pcpu);

/** xen_part_set_cores - a copy of these, which may be NULL. Return: 0 or -ENOMEM. */
int xen_part_set_cores(struct xen_part *part, const struct xen_cores *cores);

/** xen_part_add_gap - one more. Return: 0 or -ENOMEM. */
int xen_part_add_gap(struct xen_part *part, uint64_t offset);

/** xen_part_add_window - the next window was there in the other file. Return: 0 or -ENOMEM. */
int xen_part_add_window(struct xen_part *part, uint64_t offset);

/** xen_part_set_clock - its times become those of another clock. */
void xen_part_set_clock(struct xen_part *part, const struct xen_clock *clock);

/**
 * xen_part_read - the part that a sidecar describes
 * @root: of the sidecar
 * @path: for messages
 * @part: receives it; NULL: there is none
 *
 * Return: 0, -ENOMEM, or -EINVAL with a text in @error.
 */
int xen_part_read(struct json_object *root, const char *path, struct xen_part **part, char *error,
		  size_t size);

/** xen_part_write - the same as a JSON object. Return: NULL without memory. */
struct json_object *xen_part_write(const struct xen_part *part);

#ifdef __cplusplus
}
#endif
#endif
