/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_load.h
 * @brief	Open a trace and build its vCPU model: what report, check and plot begin with.
 */
#ifndef KSHARK_VIRT_MODEL_LOAD_H
#define KSHARK_VIRT_MODEL_LOAD_H

#include "options.h"
#include "virt_model.h"
#include "xen_trace.h"

/** Called for the rows in order, a block at a time, while the model is being built. */
typedef void (*model_rows_fn)(void *arg, const struct xen_trace_row *rows, size_t n);

struct model_load {
	/* to be set before */
	const char		*path;
	struct xen_trace_options options;
	bool			quiet;		/* no progress */
	/** Before the walk; may be NULL. Return: 0, or the exit status after a message. */
	int			(*opened)(void *arg);
	model_rows_fn		rows;		/* may be NULL */
	void			*arg;
	/* the result */
	struct xen_trace	*trace;
	struct virt_model	*model;
};

/** model_load - open, walk, finish. Return: KSV_EXIT_OK, or the exit status after a message. */
int model_load(struct model_load *load);

/** model_unload - free the result, also of a model_load() that failed. */
void model_unload(struct model_load *load);

/** model_notes - what a user must know about the file, and the contradictions, to stderr. */
void model_notes(const struct model_load *load);

/** model_time - a point of a command line on the trace's time axis; @none if not given. */
int64_t model_time(const struct model_load *load, const struct ksv_time *time, int64_t none);

#endif
