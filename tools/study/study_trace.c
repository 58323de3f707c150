// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	study_trace.c
 * @brief	Begin and end tracing in the host and in guests, without a change for other tracers.
 *
 * The host traces into an instance of tracefs, and the process of record_own.c takes the pages out
 * of the buffers, as in a recording, but counts them instead of keeping them. A guest traces into
 * an instance as well; there nothing takes pages, and new records replace the oldest ones. Whatever
 * ends the study, ends the input of both, and so ends tracing.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record_tracing.h"
#include "study.h"
#include "whole_file.h"

/** A process has written or counted all in this time. */
#define END_S		60
/**
 * A guest traces, or has ended, in this time. Its kernel waits for all of its CPUs for each system
 * of events; if others have the CPUs of the host, that takes much longer than 20 s.
 */
#define GUEST_S		180

#define GUEST_MAX_TEXT	(1 << 20)

/* --- the host -------------------------------------------------------------------------------- */

static void free_events(struct record *record)
{
	for (int i = 0; i < record->n_events; i++)
		free(record->events[i]);
	free(record->events);
	record->events = NULL;
	record->n_events = record->room_events = 0;
}

static int add_event(struct record *record, const char *name)
{
	if (ARRAY_GROW(record->events, record->n_events, record->room_events))
		return -ENOMEM;
	record->events[record->n_events] = strdup(name);
	if (!record->events[record->n_events])
		return -ENOMEM;
	record->n_events++;
	return 0;
}

/** Kernels differ in what they have of the usual ones. */
static int usual_events(struct record *record)
{
	static const char *const systems[] = { "kvm", "sched", "irq" };
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(systems); i++)
		if (record_is_event(systems[i]))
			ret = add_event(record, systems[i]);
	return ret;
}

static int choose_events(struct study *study, const struct study_config *config)
{
	struct record *record = &study->record;
	const char *events = config->events ? config->events : study->plan.events;
	int ret = 0;

	free_events(record);
	if (config->tracing == STUDY_ALL)
		ret = add_event(record, RECORD_ALL_EVENTS);
	else if (config->tracing == STUDY_EVENTS && !events)
		ret = usual_events(record);
	study->record_options.events = events;
	if (!ret && config->tracing == STUDY_EVENTS && events)
		return record_events(record);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

static int set_tracer(const struct record *record, const char *tracer)
{
	int ret = record_write(tracer, "%s/instances/%s/current_tracer", record_tracing(),
			       record->instance);

	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s/instances: this kernel permits no tracer %s in an instance: %s; leave the "
		  "configuration function out", record_tracing(), tracer, strerror(-ret));
	return KSV_EXIT_FILE;
}

/** Memory that the process which counts shares with us. */
static int share_count(struct record *record)
{
	if (!record->moved) {
		void *shared = mmap(NULL, sizeof(*record->moved), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (shared == MAP_FAILED) {
			ksv_error("not enough memory");
			return KSV_EXIT_FILE;
		}
		record->moved = shared;
	}
	*record->moved = 0;
	return KSV_EXIT_OK;
}

static int begin_host(struct study *study, const struct study_config *config)
{
	struct record *record = &study->record;
	char why[512];
	int status = share_count(record);

	if (!status && record_is_xen())
		return study_xen_begin(study, config);
	if (!status)
		status = choose_events(study, config);
	if (status)
		return status;
	if (record_instance_make(record->instance, STUDY_INSTANCE, record->clock,
				 study->plan.buffer, (const char *const *)record->events,
				 record->n_events, why, sizeof(why))) {
		ksv_error("%s", why);
		return KSV_EXIT_FILE;
	}
	if (config->tracing == STUDY_FUNCTION)
		status = set_tracer(record, "function");
	record_tracing_use(record->instance);
	if (!status)
		status = record_own_start(record);
	if (status)
		record_own_remove(record);
	return status;
}

static int end_host(struct study *study, struct study_run *run)
{
	struct record *record = &study->record;
	int status = -1;
	bool ended;

	if (record_is_xen())
		return study_xen_end(study, run);
	record_tracing_stop();
	close(record->input);
	record->input = -1;
	ended = record_wait(record->recorder, END_S, &status);
	if (!ended)
		record_wait_or_kill(record->recorder, 0, &status);
	record_tracing_count(record, &record->count);
	record->recorder = record->group = 0;
	run->records = (double)record->count.records;
	run->lost = (double)record->count.lost;
	run->bytes = (double)*record->moved;
	record_own_remove(record);
	if (ended && WIFEXITED(status) && !WEXITSTATUS(status))
		return KSV_EXIT_OK;
	ksv_error("the process that takes records out of the buffers has failed");
	return KSV_EXIT_FILE;
}

/* --- guests ---------------------------------------------------------------------------------- */

int study_ssh(const struct study_guest *guest, const char *script, char *text, size_t size)
{
	const char *argv[] = { STUDY_SSH, "-o", "ConnectTimeout=8", guest->target, script, NULL };

	return record_capture(argv, RECORD_ANSWER_S, text, size);
}

/** What turns on what a configuration traces, in a shell; $i is the instance. */
static char *turn_on(const struct study *study, const struct study_config *config)
{
	const char *events = config->events ? config->events : study->plan.events;
	const char *list = events ? events : "kvm,sched,irq";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (config->tracing == STUDY_ALL)
		fprintf(out, "echo 1 > $i/events/enable");
	else if (config->tracing == STUDY_FUNCTION)
		fprintf(out, "echo function > $i/current_tracer");
	while (config->tracing == STUDY_EVENTS && *list) {
		size_t n = strcspn(list, ","), colon = strcspn(list, ":");

		/* guests need not have each of the usual ones */
		if (colon < n)
			fprintf(out, "echo 1 > $i/events/%.*s/%.*s/enable || exit 1; ", (int)colon,
				list, (int)(n - colon - 1), list + colon + 1);
		else
			fprintf(out, "%s%.*s/enable%s", events ? "echo 1 > $i/events/" :
				"e=$i/events/", (int)n, list, events ? " || exit 1; " :
				"; [ ! -e $e ] || echo 1 > $e || exit 1; ");
		list += n + (list[n] == ',');
	}
	if (config->tracing == STUDY_EVENTS)
		fprintf(out, ":");
	return fclose(out) ? NULL : text;
}

/**
 * It traces until its input ends, whatever ends it; then it prints the numbers of its buffers.
 * What a killed one has left goes first.
 */
static char *guest_script(const struct study *study, const struct study_config *config)
{
	char *on = turn_on(study, config), *script;

	if (!on || asprintf(&script,
			    "t=/sys/kernel/tracing; [ -e $t/tracing_on ] || "
			    "t=/sys/kernel/debug/tracing; i=$t/instances/" STUDY_INSTANCE "guest; "
			    "[ ! -d $i ] || rmdir $i; mkdir $i || exit 1; "
			    "trap 'rmdir $i' EXIT; trap 'exit 1' HUP INT TERM PIPE; "
			    "echo 0 > $i/tracing_on && { %s; } && echo %llu > $i/buffer_size_kb && "
			    "echo 1 > $i/tracing_on || exit 1; echo '" RECORD_SAYS "' 1>&2; "
			    "read x; echo 0 > $i/tracing_on; cat $i/per_cpu/cpu*/stats",
			    on, (unsigned long long)study->plan.buffer / 1024) < 0)
		script = NULL;
	free(on);
	return script;
}

static void guest_file(char name[NAME_MAX], const struct study_guest *guest, const char *end)
{
	snprintf(name, NAME_MAX, "guest-%s.%s", guest->name, end);
}

static void remove_file(const struct study *study, const char *name)
{
	char path[PATH_MAX + NAME_MAX];

	snprintf(path, sizeof(path), "%s/%s", study->folder, name);
	unlink(path);
}

void study_trace_clean(const struct study *study)
{
	char name[NAME_MAX];

	remove_file(study, RECORD_KVM_FILE ".log");
	remove_file(study, RECORD_XEN_FILE ".log");
	for (int i = 0; i < study->plan.n_guests; i++) {
		guest_file(name, &study->plan.guests[i], "out");
		remove_file(study, name);
		guest_file(name, &study->plan.guests[i], "log");
		remove_file(study, name);
	}
}

/** A tracer of a guest that runs: its ssh, and what ends it when it is closed. */
struct tracer {
	pid_t	pid;
	int	input;
};

static struct tracer tracers[STUDY_MAX_GUESTS];

static int begin_guest(struct study *study, const struct study_config *config, int i)
{
	const struct study_guest *guest = &study->plan.guests[i];
	const struct timespec pause = { .tv_nsec = 20000000 };
	char out[NAME_MAX], log[NAME_MAX], *script = guest_script(study, config);
	const char *argv[] = { STUDY_SSH, guest->target, script, NULL };
	int status;

	guest_file(out, guest, "out");
	guest_file(log, guest, "log");
	remove_file(study, out);
	remove_file(study, log);
	if (!script) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	tracers[i].pid = record_spawn(&study->record, argv, &tracers[i].input, out, log);
	free(script);
	for (int j = 0; tracers[i].pid > 0 && j < GUEST_S * 50; j++) {
		if (record_log_says(&study->record, log, RECORD_SAYS))
			return KSV_EXIT_OK;
		if (waitpid(tracers[i].pid, &status, WNOHANG)) {
			tracers[i].pid = 0;
			break;
		}
		nanosleep(&pause, NULL);
	}
	if (tracers[i].pid > 0)
		record_wait_or_kill(tracers[i].pid, 0, &status);
	if (tracers[i].input >= 0)
		close(tracers[i].input);
	tracers[i] = (struct tracer){ 0, -1 };
	return record_failed(&study->record, log, guest->name, "does not begin to trace");
}

/** The sum of a number in all lines "NAME: N". */
static double sum_of(const char *text, const char *name)
{
	size_t n = strlen(name);
	double sum = 0;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n) && line[n] == ':')
			sum += strtod(line + n + 1, NULL);
	}
	return sum;
}

/** Add what the buffers of a guest have counted. */
static void add_counts(struct study_run *run, const char *stats)
{
	double replaced = sum_of(stats, "overrun");

	run->guest_records += sum_of(stats, "entries") + replaced + sum_of(stats, "read events") +
			      sum_of(stats, "dropped events");
	/* these are the bytes of the records that are still there */
	run->guest_bytes += replaced > 0 ? NAN : sum_of(stats, "bytes");
}

static int end_guest(struct study *study, int i, struct study_run *run)
{
	const struct study_guest *guest = &study->plan.guests[i];
	char name[NAME_MAX], path[PATH_MAX + NAME_MAX], *text = NULL;
	int status = -1;
	size_t size;
	bool ended;

	if (!tracers[i].pid)
		return KSV_EXIT_OK;
	close(tracers[i].input);
	ended = record_wait(tracers[i].pid, GUEST_S, &status);
	if (!ended)
		record_wait_or_kill(tracers[i].pid, 0, &status);
	tracers[i] = (struct tracer){ 0, -1 };
	guest_file(name, guest, "out");
	snprintf(path, sizeof(path), "%s/%s", study->folder, name);
	ended = ended && WIFEXITED(status) && !WEXITSTATUS(status) &&
		!whole_file_read(path, GUEST_MAX_TEXT, &text, &size) && strstr(text, "entries:");
	if (ended)
		add_counts(run, text);
	free(text);
	remove_file(study, name);
	guest_file(name, guest, "log");
	if (!ended)
		return record_failed(&study->record, name, guest->name,
				     "does not end its tracing as it should");
	remove_file(study, name);
	return KSV_EXIT_OK;
}

static int end_guests(struct study *study, struct study_run *run)
{
	int status = KSV_EXIT_OK;

	for (int i = 0; i < study->plan.n_guests; i++)
		if (end_guest(study, i, run))
			status = KSV_EXIT_FILE;
	return status;
}

/* --- both ------------------------------------------------------------------------------------ */

int study_trace_begin(struct study *study, const struct study_config *config)
{
	struct study_run ignored = { .guest_records = 0 };
	int status = KSV_EXIT_OK;

	for (int i = 0; i < STUDY_MAX_GUESTS; i++)
		tracers[i] = (struct tracer){ 0, -1 };
	for (int i = 0; !status && i < study->plan.n_guests && (config->where & STUDY_GUESTS); i++)
		status = begin_guest(study, config, i);
	if (!status && (config->where & STUDY_HOST))
		status = begin_host(study, config);
	if (status)
		end_guests(study, &ignored);
	return status;
}

int study_trace_end(struct study *study, const struct study_config *config, struct study_run *run)
{
	int status = KSV_EXIT_OK;

	run->records = run->lost = run->bytes = run->guest_records = run->guest_bytes = NAN;
	if (config->where & STUDY_HOST)
		status = end_host(study, run);
	if (!(config->where & STUDY_GUESTS))
		return status;
	run->guest_records = run->guest_bytes = 0;
	return end_guests(study, run) ? KSV_EXIT_FILE : status;
}
