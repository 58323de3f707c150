// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_trace_xen.c
 * @brief	Trace a host of Xen by xentrace, whose bytes a process counts and drops.
 *
 * The numbers of records and of lost records stay unknown: only a reader of the trace finds them.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record_xen.h"
#include "study.h"

/** All classes of events: TRC_ALL of Xen's public/trace.h. */
#define ALL_CLASSES	0x0ffff000

/** xentrace writes its first record in this time, and has written all. */
#define BEGIN_S		10
#define END_S		20

static pid_t xentrace, counter;

int study_xen_check(const struct study *study)
{
	const char *argv[] = { "xentrace", "--version", NULL };
	char said[4096];
	int status, missing = 0;

	for (int i = 0; i < study->plan.n_configs; i++) {
		const struct study_config *config = &study->plan.configs[i];

		if (!(config->where & STUDY_HOST))
			continue;
		if (config->tracing != STUDY_FUNCTION && !config->events)
			continue;
		ksv_error("%s: xentrace knows classes of events alone: use none, events and all",
			  config->name);
		missing++;
	}
	status = record_capture(argv, RECORD_ANSWER_S, said, sizeof(said));
	if (status == 127)
		ksv_error("xentrace is not installed: apt-get install xen-utils");
	else if (status)
		ksv_error("xentrace does not work here: %s", *said ? said : "it says nothing");
	return missing + (status != 0) + record_xen_check_in_use();
}

/** The total after a name at the begin of a line: "vmexits    T=     12345"; NAN: there is none. */
static double total_of(const char *text, const char *name)
{
	const char *line = strstr(text, name);
	char *end;
	double total;

	line = line ? line + strlen(name) + strspn(line + strlen(name), " ") : "";
	if (strncmp(line, "T=", 2) != 0)
		return NAN;
	total = strtod(line + 2, &end);
	return end > line + 2 ? total : NAN;
}

double study_xen_exits(void)
{
	static bool missing;
	const char *argv[] = { "xenperf", NULL };
	char said[65536];
	double intel, amd;	/* as older versions name them; newer ones have one name */

	/* most hypervisors are built without counters */
	if (missing || record_capture(argv, RECORD_ANSWER_S, said, sizeof(said))) {
		missing = true;
		return NAN;
	}
	intel = total_of(said, "\nvmexits");
	amd = total_of(said, "\nSVMexits");
	return isnan(intel) ? amd : intel + (isnan(amd) ? 0 : amd);
}

/** In a process of its own, as one of record_own.c: what is slow there does not stop us. */
__attribute__((noreturn))
static void count_bytes(int input, uint64_t *bytes)
{
	static char page[65536];
	ssize_t n;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	while ((n = read(input, page, sizeof(page))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			*bytes += (uint64_t)n;
	_exit(n < 0);
}

/** Until it has its first record: an earlier signal would find it without a handler. */
static bool wait_for_records(const struct record *record)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int status;

	for (int i = 0; i < BEGIN_S * 50; i++) {
		if (*record->moved)
			return true;
		if (waitpid(xentrace, &status, WNOHANG)) {
			xentrace = 0;
			return false;
		}
		nanosleep(&pause, NULL);
	}
	return false;
}

int study_xen_begin(struct study *study, const struct study_config *config)
{
	static bool chosen;
	struct record *record = &study->record;
	int output = -1, status;

	record->mask = config->tracing == STUDY_ALL ? ALL_CLASSES :
		       RECORD_XEN_GEN | RECORD_XEN_SCHED | RECORD_XEN_HVM;
	/* they are made once */
	if (!chosen)
		record_xen_choose_buffer(record);
	chosen = true;
	xentrace = record_xen_spawn(record, &output);
	if (xentrace > 0) {
		fflush(NULL);
		counter = fork();
		if (!counter)
			count_bytes(output, record->moved);
		close(output);
	}
	if (xentrace > 0 && counter > 0 && wait_for_records(record))
		return KSV_EXIT_OK;
	if (xentrace > 0)
		record_xen_end(&xentrace, SIGINT, &status);
	if (counter > 0)
		record_wait_or_kill(counter, END_S, &status);
	xentrace = counter = 0;
	return record_failed(record, RECORD_XEN_LOG, "xentrace", "does not begin");
}

int study_xen_end(struct study *study, struct study_run *run)
{
	struct record *record = &study->record;
	int status = -1, counted = -1;

	record_xen_end(&xentrace, SIGINT, &status);
	record_wait_or_kill(counter, END_S, &counted);
	xentrace = counter = 0;
	run->bytes = (double)*record->moved;
	if (WIFEXITED(status) && !WEXITSTATUS(status) && WIFEXITED(counted) &&
	    !WEXITSTATUS(counted))
		return KSV_EXIT_OK;
	return record_failed(record, RECORD_XEN_LOG, "xentrace", "has failed");
}
