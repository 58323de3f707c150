/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_functions.h
 * @brief	The data of kshark-virt report --function, however the calls were recorded.
 */
#ifndef KSHARK_VIRT_REPORT_FUNCTIONS_H
#define KSHARK_VIRT_REPORT_FUNCTIONS_H

#include "host_functions.h"
#include "options.h"

/** As many patterns as anybody gives. */
#define REPORT_MOST_PATTERNS	256

struct report_function_options {
	const char	*patterns[REPORT_MOST_PATTERNS];
	int		n_patterns;	/* 0: functions are not asked for */
	int		order;		/* index of report_function_orders, from 1 on */
	size_t		most;		/* in text, of a kind of rows; 0: the default */
};

/** Orders of functions; ends with NULL. */
extern const char *const report_function_orders[];

/** What shows calls; see the table in report_functions.c. */
enum report_function_source {
	REPORT_BY_HYPERCALLS = 0,	/* host_function_calls have no durations; own time is a
					 * part of the true time */
	REPORT_BY_FUNCTION,		/* calls alone */
	REPORT_BY_GRAPH,
	REPORT_N_FUNCTION_SOURCES
};

/** A function. */
struct report_function {
	uint64_t	address;	/* where it begins, if its name is known; 0: unknown */
	const char	*name;		/* or NULL */
	struct host_function_calls calls;
};

/** Calls of functions that were asked for: of a machine, by a task, on a CPU. */
struct report_function_owner {
	int32_t		who;		/* index of a machine, pid, CPU */
	struct host_function_calls calls;
};

/** Such calls by who. All zero is none. */
struct report_function_owners {
	struct key_map	map;
	struct report_function_owner *all;
	uint32_t	room;
};

enum report_function_owner_kind {
	REPORT_FUNCTION_MACHINE = 0, REPORT_FUNCTION_TASK, REPORT_FUNCTION_CPU,
	REPORT_N_FUNCTION_OWNER_KINDS
};

/** Those of a machine or trace. All zero is none. */
struct report_functions {
	enum report_function_source source;
	bool		is_timed;	/* time on CPUs is known */
	/* by a tracer alone: */
	enum host_function_tracer tracer;
	const char	*trace;
	struct kvm_trace *of;
	bool		is_guest, is_host; /* else of a kernel alone */
	bool		has_vcpus;	/* of its CPUs: it is known when they executed it */
	int32_t		machine;	/* of a guest's trace; VIRT_NONE: unknown */
	const struct host_functions *read;
	/* of functions that were asked for */
	struct report_function_owners owners[REPORT_N_FUNCTION_OWNER_KINDS];
	struct report_function *all;	/* that were asked for; costliest first */
	size_t		n;
	struct host_function_calls sum;	/* of all functions, also others */
	struct host_function_calls *patterns; /* along the options' */
	struct host_function_calls asked; /* of functions that match any pattern */
};

/** report_functions_take - an option. @target: struct report_function_options */
int report_functions_take(const struct ksv_command *command, const struct ksv_option *option,
			  const char *text, void *target);

/**
 * report_functions_choose - keep those that match a pattern, and sum up
 * @functions: with all functions in @all and @n
 *
 * Return: 0 or -ENOMEM.
 */
int report_functions_choose(struct report_functions *functions,
			    const struct report_function_options *options);

#define REPORT_FUNCTION_ADDRESS	24

/** report_function_name - its name, or "0xffffffff81000000" in @text */
const char *report_function_name(const struct report_function *function,
				 char text[REPORT_FUNCTION_ADDRESS]);

/** report_functions_matches - is a function asked for? */
bool report_functions_matches(const struct report_function *function,
			      const struct report_function_options *options);

void report_functions_free(struct report_functions *functions);

#endif
