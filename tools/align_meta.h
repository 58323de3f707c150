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

#include "clock_align.h"
#include "kvm_trace.h"

/** What is written. */
struct align_meta {
	const char	*host;		/* name of the host's file, without its directory */
	const char	*source;
	bool		cycles;		/* the unit; else ns */
	bool		after_trace_cmd; /* added to times with trace-cmd's offsets */
	const struct virt_clock_alignment *alignment;
	const int	*tids;		/* by CPU: pid of its vCPU in the host's trace */
	int		n_tids;
};

/**
 * align_meta_write - add an alignment to the sidecar of a trace, which keeps what else it has
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message.
 */
int align_meta_write(const char *guest_path, const struct align_meta *meta);

/**
 * align_meta_apply - use the alignment that is in the sidecar of a trace, if there is one
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message if it cannot be used.
 */
int align_meta_apply(struct kvm_trace *guest);

#endif
