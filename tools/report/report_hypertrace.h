/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_hypertrace.h
 * @brief	The data of kshark-virt report about guests that report their activity through
 *		hypercalls.
 */
#ifndef KSHARK_VIRT_REPORT_HYPERTRACE_H
#define KSHARK_VIRT_REPORT_HYPERTRACE_H

#include "host_stages.h"
#include "model_guests.h"
#include "report.h"
#include "report_functions.h"

/** What is wanted instead of the report of the host. */
struct report_hypertrace_options {
	bool		calls;		/* calls and tasks */
	bool		boot;
	struct report_function_options functions;
	const char	*dialect;	/* NULL: found by the calls */
	const char	*kallsyms;	/* a file, or NULL */
	struct hyper_symbols *symbols;	/* of it; or NULL */
};

/** A task of a guest. */
struct report_hyper_task {
	int32_t		pid;		/* 0: idle, of all CPUs */
	uint64_t	runs;		/* that begin in the window */
	int64_t		cpu_ns;		/* that it had a CPU of the guest */
	int64_t		doubt_ns;	/* the same, if what came next is to be believed */
	int64_t		ns[VIRT_N_STATES]; /* what its vCPU did in the former */
};

/** What a machine reports. */
struct report_hyper_machine {
	const struct host_hypertrace_machine *info;
	struct report_hyper_task *tasks; /* most time first */
	size_t		n_tasks;
	int64_t		unknown_ns;	/* of all CPUs: it is unknown who had them */
	struct report_functions functions; /* if they are asked for */
	int64_t		guest_ns;	/* that its vCPUs executed it, in the window */
	struct host_stages *stages;	/* that were asked for; or NULL */
};

struct report_hypertrace {
	const struct report_hypertrace_options *options; /* NULL: nothing is wanted */
	struct host_hypercalls	calls;
	struct host_hypertrace	*trace;
	struct model_boots	boots;
	struct report_hyper_machine *machines;
	int32_t			n_machines;
	struct report_functions	*traced;	/* by tracers of ftrace */
	size_t			n_traced, room_traced;
	struct host_functions	**reads;	/* what these are about */
	size_t			n_reads, room_reads;
};

/** report_hyper_functions - build what --function asks for. Return: 0 or -ENOMEM. */
int report_hyper_functions(const struct report_hypertrace *hypertrace, const struct report *report,
			   struct report_hyper_machine *machine);

/** report_hyper_vcpu - name of the vCPU that a CPU of a guest is. */
const char *report_hyper_vcpu(const struct report *report,
			      const struct report_hyper_machine *machine, int32_t cpu);

/** report_hyper_name - name of a machine. */
const char *report_hyper_name(const struct report *report,
			      const struct report_hyper_machine *machine);

#endif
