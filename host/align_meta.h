/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_meta.h
 * @brief	The alignment of a guest's trace in its sidecar, <trace>.meta.json.
 *
 * docs/clock-alignment.md describes it.
 */
#ifndef KSHARK_VIRT_ALIGN_META_H
#define KSHARK_VIRT_ALIGN_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kvm_trace.h"

/** What is kept. */
struct align_meta {
	char		*host;		/* name of the host's file, without its directory */
	char		*source;
	bool		cycles;		/* the unit; else ns */
	bool		after_trace_cmd; /* added to times with trace-cmd's offsets */
	int64_t		at;		/* the guest's time of: */
	int64_t		offset;
	int64_t		lo, hi;		/* offsets that explain as many events */
	double		drift_ppm;
	int		*tids;		/* by CPU: pid of its vCPU in the host's trace; VIRT_NONE */
	int		n_tids;
	struct virt_clock_step *steps;	/* where that offset does not count, sorted */
	size_t		n_steps;
};

/**
 * align_meta_write - add an alignment to the sidecar of a trace, which keeps what else it has
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int align_meta_write(const char *guest_path, const struct align_meta *meta, char *error,
		     size_t size);

/**
 * align_meta_read - the alignment in the sidecar of a trace
 * @meta: receives it, to be given to align_meta_free(); NULL if there is none
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int align_meta_read(const char *guest_path, struct align_meta **meta, char *error, size_t size);

/** align_meta_free - free an alignment, which may be NULL. */
void align_meta_free(struct align_meta *meta);

/**
 * align_meta_apply - use the alignment that is in the sidecar of a trace, if there is one
 *
 * Return: 0, or a negative errno and a text in @error if it cannot be used.
 */
int align_meta_apply(struct kvm_trace *guest, char *error, size_t size);

/**
 * align_meta_mend - read a guest that is a host by its own clock, if trace-cmd's offsets jump
 *
 * If the alignment in its sidecar does without these offsets, its own times do, too.
 */
void align_meta_mend(struct kvm_trace *host);

#endif
