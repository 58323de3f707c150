/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_hypertrace.h
 * @brief	What the guests of a host tell through hypercalls: the dialect of each machine.
 *
 * What the tools and the plugins have in common. Calls come from host_hypercalls.h.
 */
#ifndef KSHARK_VIRT_HOST_HYPERTRACE_H
#define KSHARK_VIRT_HOST_HYPERTRACE_H

#include "host_hypercalls.h"
#include "hyper_detect.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HOST_HYPERTRACE_WHY	512

/** A machine that makes hypercalls. */
struct host_hypertrace_machine {
	int32_t		machine;	/* index in the model */
	const struct hyper_dialect *dialect; /* NULL: none is known */
	char		why[HOST_HYPERTRACE_WHY]; /* a sentence about the choice */
	struct hyper_tally tally;
};

struct host_hypertrace {
	const struct virt_model	*model;
	const struct host_hypercalls *calls;
	struct hyper_dialect	*own;		/* from a file, or NULL */
	struct host_hypertrace_machine *machines; /* by the model's index; with calls or without */
	int32_t			n_machines;
	size_t			strays;		/* calls of threads that are no vCPUs */
};

/**
 * host_hypertrace_new - find out which dialects the machines of a trace speak
 * @calls: sorted; stays, as the model does
 * @dialect: the name of a published one, or a file (what has a '.' or '/' in it), for all of
 *	them; NULL: by their calls
 * @error: on failure, receives a text
 *
 * Return: to be given to host_hypertrace_free(); NULL on failure.
 */
struct host_hypertrace *host_hypertrace_new(const struct virt_model *model,
					    const struct host_hypercalls *calls,
					    const char *dialect, char *error, size_t size);
void host_hypertrace_free(struct host_hypertrace *trace);

/** host_hypertrace_is_file - is that the name of a file, not that of a dialect? */
bool host_hypertrace_is_file(const char *dialect);

/**
 * host_hypertrace_check - would @dialect be understood? Without a trace, before it is read
 *
 * Return: false after a text in @error.
 */
bool host_hypertrace_check(const char *dialect, char *error, size_t size);

#ifdef __cplusplus
}
#endif
#endif
