/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	export_stacks.h
 * @brief	The time of a vCPU as stacks of frames, for flame graphs.
 *
 * A stack has the state, then what the trace knows about it: the reason, the cause (of an exit for
 * memory) and the argument of the VM exit during which the time passes, and who had the physical
 * CPU while the vCPU was preempted. A frame that does not apply is left out. A frame whose content
 * the trace does not show is "unknown"; a cause or argument that no record shows is left out.
 *
 * The intervals of virt_model.h give the time, so the sums by state are those of report.
 */
#ifndef KSHARK_VIRT_EXPORT_STACKS_H
#define KSHARK_VIRT_EXPORT_STACKS_H

#include "export_rows.h"
#include "output.h"

enum export_frame_kind {
	EXPORT_FRAME_STATE = 0,	/* id: enum virt_state */
	EXPORT_FRAME_UNSPLIT,	/* the same; the time may partly have been another state */
	EXPORT_FRAME_REASON,	/* id: of virt_model_reason(), or VIRT_NONE */
	EXPORT_FRAME_CAUSE,	/* id: enum exit_cause */
	EXPORT_FRAME_ARGUMENT,	/* id: of virt_argument_name() */
	EXPORT_FRAME_CULPRIT,	/* id: of virt_model_who(), or VIRT_NONE */
};

struct export_frame {
	enum export_frame_kind kind;
	int32_t		id;
};

/** Frames of a stack, the state first. */
#define EXPORT_MAX_FRAMES	5

struct export_stack {
	struct export_frame frames[EXPORT_MAX_FRAMES];
	int		n;
	int64_t		ns;	/* above 0 */
};

/** export_stack_fn - takes a stack. Return: 0, or a negative errno that ends the walk. */
typedef int (*export_stack_fn)(void *arg, const struct export_stack *stack);

/**
 * export_stacks - the time of a vCPU in the window, in order of time, cut to the window
 * @all_states: also the time in which it executes guest code
 *
 * Return: 0, or what @take returned.
 */
int export_stacks(const struct export_job *job, int32_t vcpu, bool all_states,
		  export_stack_fn take, void *arg);

/** export_frame_key - a number for a frame, different for each of a model, below 2^35 */
static inline uint64_t export_frame_key(const struct export_frame *frame)
{
	return (uint64_t)frame->kind << 32 | (uint32_t)frame->id;
}

/** export_frame_name - its name. @text: memory for it; the name may be elsewhere, in the model */
const char *export_frame_name(const struct export_job *job, const struct export_frame *frame,
			      char *text, size_t size);

/**
 * export_folded - a line per stack: machine;vCPU;state;reason;argument;culprit ns
 *
 * Flame graph tools read it (flamegraph.pl, inferno, speedscope). Names are escaped, a semicolon in
 * a name is \x3b. Errors of @out stick to it.
 *
 * Return: 0 or -ENOMEM.
 */
int export_folded(const struct export_job *job, bool all_states, struct output *out);

/**
 * export_speedscope - JSON of https://www.speedscope.app/file-format-schema.json
 *
 * A profile per vCPU; samples are in order of time, weights are ns. Errors of @out stick to it.
 *
 * Return: 0 or -ENOMEM.
 */
int export_speedscope(const struct export_job *job, bool all_states, struct output *out);

#endif
