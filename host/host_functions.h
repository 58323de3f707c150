/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_functions.h
 * @brief	Calls of a kernel's functions, as ftrace's tracers "function" and "function_graph"
 *		record them.
 *
 * The tracer "function" records that a function begins. "function_graph" also records that it ends,
 * with its duration, which its kernel has measured: all time from begin to end, also that in which
 * its task slept, unless the option sleep-time was off, and interrupts in it. A function's own time
 * is that without the recorded functions that it called.
 *
 * An end that has no beginning in the trace has a known duration, so that its beginning is known:
 * the call counts if that lies within the trace. A beginning without an end is a call of unknown
 * duration. Where records of any CPU are missing, own time is unknown, and so is the time that a
 * task had a CPU.
 */
#ifndef KSHARK_VIRT_HOST_FUNCTIONS_H
#define KSHARK_VIRT_HOST_FUNCTIONS_H

#include "key_map.h"
#include "kvm_trace.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum host_function_tracer { HOST_FUNCTION = 0, HOST_FUNCTION_GRAPH, HOST_N_FUNCTION_TRACERS };

/** Time on CPUs. */
enum host_function_time {
	HOST_FUNCTION_ON_CPU = 0,	/* the task had a CPU, as its kernel sees it; of that: */
	HOST_FUNCTION_TRUE,		/* its vCPU executed it */
	HOST_FUNCTION_UNKNOWN,		/* it is unknown what its vCPU did */
	HOST_N_FUNCTION_TIMES
};

/** Calls that begin in the window. */
struct host_function_calls {
	uint64_t	calls;
	uint64_t	complete;	/* of known duration; of them alone: */
	int64_t		total_ns, max_ns;
	uint64_t	owned;		/* whose own time is known; of them alone: */
	int64_t		own_ns;
	uint64_t	timed;		/* whose time on CPUs is known; of them alone: */
	int64_t		ns[HOST_N_FUNCTION_TIMES];
};

/** A function. */
struct host_function {
	uint64_t	address;	/* 0: only its name is known */
	char		*name;		/* as the trace has it; NULL: see kvm_trace_function() */
};

/** Calls of a function by one task, or on one CPU. */
struct host_function_sum {
	uint32_t	function;	/* index in @functions */
	int32_t		who;		/* pid; or CPU */
	struct host_function_calls calls;
};

/** Sums by function and who. All zero is none. */
struct host_function_sums {
	struct key_map	map;
	struct host_function_sum *all;
	uint32_t	room;
};

/** Those of a trace. All zero is none. */
struct host_functions {
	struct key_map	map;
	struct host_function *functions;	/* map.n_keys of them */
	uint32_t	room;
	struct {
		struct host_function_sums by_task, by_cpu;
		uint64_t	records;	/* of the tracer, in all of the trace */
		uint64_t	before;		/* ends in the window of calls from before the
						 * trace */
	} tracers[HOST_N_FUNCTION_TRACERS];
	uint64_t	lost;			/* records that are missing in the window */
	bool		uncounted;		/* there are more */
	bool		has_switches;		/* else time on CPUs is unknown */
};

/** What is wanted of a trace. */
struct host_functions_from {
	struct kvm_trace *trace;
	int64_t		from_ns, to_ns;		/* on the axis of the model */
	/* brings the times of records to that axis; NULL: they are on it */
	int64_t		(*time)(const void *arg, int64_t time_ns);
	const void	*time_arg;
	/* of a guest: the vCPU that each CPU is, or VIRT_NONE; NULL: of no guest */
	const struct virt_model *model;
	const int32_t	*vcpus;
	int		n_vcpus;
};

/**
 * host_functions_read - read a trace once more; twice, if records are missing
 * @functions: to be given to host_functions_free() in any case
 *
 * Only for a trace of kvm_trace_open_apart(). Return: 0 or -ENOMEM, or as kvm_trace_next_line().
 */
int host_functions_read(struct host_functions *functions, const struct host_functions_from *from);
void host_functions_free(struct host_functions *functions);

/** host_function_calls_add - add up calls */
void host_function_calls_add(struct host_function_calls *sum,
			     const struct host_function_calls *calls);

#ifdef __cplusplus
}
#endif
#endif
