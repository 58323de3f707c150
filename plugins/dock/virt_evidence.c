// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_evidence.c
 * @brief	The records that show what the page "Why" tells, out of the file.
 */
#include <errno.h>
#include <stdio.h>

#include "host_trace.h"
#include "virt_evidence.h"

/** What asks whether to go on. */
struct asked {
	bool	(*stop)(void *arg);
	void	*arg;
};

/** struct host_options */
static int is_stopped(void *arg, uint64_t done, uint64_t total)
{
	const struct asked *asked = arg;

	(void)done;
	(void)total;
	return asked->stop(asked->arg) ? -ECANCELED : 0;
}

struct why_evidence *virt_evidence_read(const char *file, const struct why_answer *answer,
					bool (*stop)(void *arg), void *arg, char *error,
					size_t size)
{
	struct asked asked = { stop, arg };
	struct host_options options = {
		.was_open = true, .progress = is_stopped, .arg = &asked,
	};
	struct host_trace trace = { 0 };
	struct why_evidence *evidence = NULL;

	/* as KernelShark has opened it; what cannot be understood there has been said */
	host_options_from_env(&options, error, size);
	if (host_trace_open(&trace, file, &options, error, size))
		return NULL;
	evidence = why_evidence_find(&trace, answer, 1, stop, arg);
	if (!evidence)
		snprintf(error, size, "%s", host_trace_problem(-errno));
	host_trace_close(&trace);
	return evidence;
}
