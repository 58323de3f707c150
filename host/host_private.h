/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_private.h
 * @brief	The functions that differ between hypervisors.
 */
#ifndef KSHARK_VIRT_HOST_PRIVATE_H
#define KSHARK_VIRT_HOST_PRIVATE_H

#include "host_trace.h"

/** Records between two calls of struct host_walk's progress. */
#define HOST_PROGRESS	(1 << 14)

/** A kind of traces; see host_trace.h for what the functions do. */
struct host_kind {
	const char	*hypervisor;
	int		(*open)(struct host_trace *trace, const struct host_options *options,
				char *error, size_t size);
	void		(*close)(struct host_trace *trace);
	/** @model: NULL: none is wanted */
	int		(*walk)(struct host_trace *trace, const struct host_walk *walk,
				struct virt_model **model);
	void		(*notes)(const struct host_trace *trace, const struct virt_model *model,
				 int max_lines, struct trace_notes *notes);
	int64_t		(*tsc_ns)(const struct host_trace *trace, uint64_t tsc);
	/** Or NULL: unknown. */
	bool		(*moment)(const struct host_trace *trace, struct host_moment *moment);
	int		(*n_pcpus)(const struct host_trace *trace);
	bool		(*changed)(const struct host_trace *trace, char *text, size_t size);
};

extern const struct host_kind host_xen;
extern const struct host_kind host_kvm;

#endif
