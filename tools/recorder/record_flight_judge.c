// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_flight_judge.c
 * @brief	Check whether the records that a flight recorder keeps at the moment meet
 *		conditions.
 *
 * A copy of this process writes these records to a folder in memory, in the same way as to the
 * folder of a recording. The copy makes the model, and sends its result through a pipe. Recording
 * goes on during this time. So the conditions are judged by the content that a report of the
 * recording would have.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"
#include "record_flight.h"
#include "sidecar.h"
#include "whole_file.h"

#define SCRATCH		"/run/kshark-virt-record.flight"
/** From the beginning of a judgement to the next, if none takes longer than half of that. */
#define JUDGE_NS	1000000000
/** This many failures in a row are no accident. */
#define MAX_FAILED	3
/** A limit that is unknown as many times in a row gets a note. */
#define MANY_UNKNOWN	3
/** Others have their work to do. */
#define NICE		10
/** How long a judge without a reader may take to remove what it has written. */
#define END_S		5

/** What the judge writes to the pipe; it fits into the pipe's buffer. */
struct answer {
	struct record_fired	fired[RECORD_MAX_TRIGGERS];
	char			error[512];	/* or "" */
};

/* --- can they be judged? --------------------------------------------------------------------- */

int record_flight_check(const struct record *record, const struct record_source *source)
{
	const struct record_options *options = record->options;

	for (int i = 0; i < options->n_triggers; i++) {
		const struct record_trigger *trigger = &options->triggers[i];
		const char *missing = source->missing(record, trigger->kind);

		if (missing && !*missing && trigger->kind == VIRT_WORST_TSC)
			return ksv_usage_error(record->command, "--trigger %s: Xen does not record "
					       "this", trigger->text);
		if (missing && !*missing)
			return ksv_usage_error(record->command, "--trigger %s: not possible during "
					       "the recording, because it needs aligned traces of "
					       "guests. Record these without --flight, then run "
					       "kshark-virt report --worst 10 --kind %s",
					       trigger->text, virt_worst_kind_name(trigger->kind));
		if (missing)
			return ksv_usage_error(record->command, "--trigger %s: needs events that "
					       "are not recorded: add %s to --events",
					       trigger->text, missing);
	}
	return KSV_EXIT_OK;
}

/* --- the folder in memory -------------------------------------------------------------------- */

static void empty_folder(const char *path)
{
	const struct dirent *entry;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

int record_flight_judge_open(struct record *record)
{
	struct record_flight *flight = record->flight;
	struct stat st;

	if (!record->options->n_triggers)
		return KSV_EXIT_OK;
	snprintf(flight->scratch, sizeof(flight->scratch), "%s" SCRATCH, record_root());
	if (mkdir(flight->scratch, 0700) && errno != EEXIST) {
		ksv_error("%s: %s", flight->scratch, strerror(errno));
		return KSV_EXIT_FILE;
	}
	if (lstat(flight->scratch, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid()) {
		ksv_error("%s: not a folder of kshark-virt; remove it", flight->scratch);
		return KSV_EXIT_FILE;
	}
	empty_folder(flight->scratch);
	return KSV_EXIT_OK;
}

void record_flight_sweep(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" SCRATCH, record_root());
	empty_folder(path);
	rmdir(path);
}

void record_flight_judge_close(struct record *record)
{
	if (*record->flight->scratch)
		record_flight_sweep();
	/* the next one there belongs to another recorder */
	*record->flight->scratch = '\0';
}

/** The names of machines, and which thread is which vCPU. Without them, it is judged as well. */
static void copy_sidecar(const struct record *record)
{
	const struct record_flight *flight = record->flight;
	char path[PATH_MAX + NAME_MAX], *text;
	struct whole_file file;
	size_t size;

	snprintf(path, sizeof(path), "%s/%s.meta.json", record->folder, flight->source->file);
	if (whole_file_read(path, SIDECAR_MAX_BYTES, &text, &size))
		return;
	snprintf(path, sizeof(path), "%s/%s.meta.json", flight->scratch, flight->source->file);
	if (!whole_file_open(&file, path, false)) {
		if (whole_file_write(&file, text, size))
			whole_file_discard(&file);
		else
			whole_file_commit(&file);
	}
	free(text);
}

/* --- the copy that judges -------------------------------------------------------------------- */

/** Return: 0, or -1 with a text in @error. */
static int judge_trace(const struct record_options *options, const char *path,
		       struct record_fired *fired, char *error, size_t size)
{
	int ret = record_trigger_judge(path, options->triggers, options->n_triggers, fired, error,
				       size);

	if (!ret)
		ret = record_flight_limits(path, options->triggers, options->n_triggers, fired,
					   error, size);
	return ret < 0 ? ret : 0;
}

static void judge_now(const struct record *record, struct answer *answer)
{
	const struct record_flight *flight = record->flight;
	const struct record_options *options = record->options;
	char path[PATH_MAX + NAME_MAX];
	int ret;

	empty_folder(flight->scratch);
	copy_sidecar(record);
	ret = flight->source->write(record, flight->scratch);
	if (ret) {
		snprintf(answer->error, sizeof(answer->error), "%.400s: %s", flight->scratch,
			 strerror(-ret));
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", flight->scratch, flight->source->file);
	judge_trace(options, path, answer->fired, answer->error, sizeof(answer->error));
	empty_folder(flight->scratch);
}

__attribute__((noreturn))
static void run_judge(const struct record *record, pid_t parent, int to)
{
	struct answer answer = { 0 };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* the answer says what is wrong, once */
	dup2(null, STDERR_FILENO);
	/* should we be killed, the next recorder need not wait for this */
	if (record->lock >= 0)
		close(record->lock);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, NICE);
	if (getppid() == parent)
		judge_now(record, &answer);
	_exit(write(to, &answer, sizeof(answer)) != sizeof(answer));
}

static void start_judge(struct record *record)
{
	struct record_flight *flight = record->flight;
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return;
	/* what is not printed yet is for us to print */
	fflush(NULL);
	flight->judge_began_ns = record_now_ns();
	flight->judge = fork();
	if (!flight->judge)
		run_judge(record, parent, ends[1]);
	close(ends[1]);
	flight->answer = ends[0];
	if (flight->judge < 0) {
		close(ends[0]);
		flight->judge = 0;
	}
}

/** As often as it is worth it: half of a CPU's time at most. */
static void plan_next(struct record *record)
{
	struct record_flight *flight = record->flight;
	int64_t now = record_now_ns(), took = now - flight->judge_began_ns;
	int64_t every = record->options->flight_ns / 4;

	every = every < JUDGE_NS ? every : JUDGE_NS;
	flight->judge_next_ns = now + took;
	if (flight->judge_next_ns < flight->judge_began_ns + every)
		flight->judge_next_ns = flight->judge_began_ns + every;
	if (flight->is_slow || took < record->options->flight_ns / 4)
		return;
	flight->is_slow = true;
	ksv_note("judging the records takes %.1f s, so moments may be missed: keep fewer seconds "
		 "(--flight) or fewer events (--events)", (double)took / 1e9);
}

/** At first there is little to judge. A limit that stays unknown never ends a recording. */
static void note_unknown(struct record *record, const struct record_fired *fired)
{
	struct record_flight *flight = record->flight;

	for (int i = 0; i < record->options->n_triggers; i++) {
		if (!*fired[i].unknown || fired[i].is_known)
			flight->n_unknown[i] = 0;
		else if (++flight->n_unknown[i] == MANY_UNKNOWN)
			ksv_note("--trigger %s: unknown until now, as %s",
				 record->options->triggers[i].text, fired[i].unknown);
	}
}

static enum record_stop take_answer(struct record *record, const struct answer *answer)
{
	struct record_flight *flight = record->flight;

	if (*answer->error && ++flight->n_failed == MAX_FAILED) {
		ksv_error("--trigger: the records cannot be judged: %s", answer->error);
		return RECORD_DIED;
	}
	if (*answer->error)
		return RECORD_ON;
	flight->n_failed = 0;
	note_unknown(record, answer->fired);
	for (int i = 0; i < record->options->n_triggers; i++)
		if (answer->fired[i].moments)
			return RECORD_TRIGGER;
	return RECORD_ON;
}

enum record_stop record_flight_judge(struct record *record)
{
	struct record_flight *flight = record->flight;
	struct answer answer = { .error = "the process that judges was killed" };
	int status;

	if (!*flight->scratch)
		return RECORD_ON;
	if (flight->judge && waitpid(flight->judge, &status, WNOHANG) == flight->judge) {
		struct answer whole;

		if (read(flight->answer, &whole, sizeof(whole)) == sizeof(whole))
			answer = whole;
		close(flight->answer);
		flight->judge = 0;
		plan_next(record);
		return take_answer(record, &answer);
	}
	if (!flight->judge && flight->ring.bytes && record_now_ns() >= flight->judge_next_ns)
		start_judge(record);
	return RECORD_ON;
}

void record_flight_judge_end(struct record *record)
{
	struct record_flight *flight = record->flight;
	int status;

	if (!flight->judge)
		return;
	record_wait_or_kill(flight->judge, END_S, &status);
	close(flight->answer);
	flight->judge = 0;
}

/* --- what was met ---------------------------------------------------------------------------- */

static void say_exceeded(const struct record_trigger *trigger, const struct record_fired *fired)
{
	char value[32];

	snprintf(value, sizeof(value), "%.6g%s%s", fired->value, *fired->unit ? " " : "",
		 fired->unit);
	if (!strcmp(fired->unit, "ns"))
		snprintf(value, sizeof(value), "%.3f ms", fired->value / 1e6);
	ksv_note("%s: %s of %s%s%s", trigger->text, value, fired->of,
		 *fired->vcpu ? "; the worst moment was of " : "", fired->vcpu);
}

static void say_met(const struct record_trigger *trigger, const struct record_fired *fired)
{
	double ms = (double)fired->cost_ns / 1e6;

	if (trigger->is_limit) {
		say_exceeded(trigger, fired);
		return;
	}
	ksv_note("%s: %llu moment%s; the worst took %.3f ms%s%s, at %.9f s", trigger->text,
		 (unsigned long long)fired->moments, fired->moments == 1 ? "" : "s", ms,
		 *fired->vcpu ? ", of " : "", fired->vcpu, (double)fired->time_ns / 1e9);
}

/** The lines of logs that have matched. Return: 0 or -ENOMEM. */
static int describe_logs(struct record *record)
{
	int ret = 0;

	for (int i = 0; i < record->options->n_logs && !ret; i++) {
		struct record_log *log = &record->options->logs[i];
		struct recording_log met = {
			.machine = log->machine, .log = log->path, .pattern = log->pattern,
			.lines = (int64_t)log->matches,
		};

		if (!log->matches)
			continue;
		met.text = escape_dup(log->text);
		ksv_note("%s: %s: %llu line%s; the first: %s", log->machine, log->path,
			 (unsigned long long)log->matches, log->matches == 1 ? "" : "s", log->text);
		ret = met.text ? recording_add_log(&record->recording, &met) : -ENOMEM;
		free(met.text);
	}
	return ret;
}

int record_flight_describe(struct record *record)
{
	const struct record_flight *flight = record->flight;
	const struct record_options *options = record->options;
	struct record_fired fired[RECORD_MAX_TRIGGERS];
	char path[PATH_MAX + NAME_MAX], error[512];
	int ret = describe_logs(record);

	if (!options->n_triggers || ret)
		return ret;
	snprintf(path, sizeof(path), "%s/%s", record->folder, flight->source->file);
	if (judge_trace(options, path, fired, error, sizeof(error))) {
		ksv_note("%s", error);
		return 0;
	}
	for (int i = 0; i < options->n_triggers && !ret; i++) {
		struct recording_trigger met = {
			.condition = (char *)(uintptr_t)options->triggers[i].text,
			.vcpu = *fired[i].vcpu ? fired[i].vcpu : NULL,
			.moments = (int64_t)fired[i].moments, .time_ns = fired[i].time_ns,
			.cost_ns = fired[i].cost_ns,
			.of = *fired[i].of ? fired[i].of : NULL, .value = fired[i].value,
			.unit = *fired[i].of ? fired[i].unit : NULL,
		};

		if (!fired[i].moments)
			continue;
		say_met(&options->triggers[i], &fired[i]);
		ret = recording_add_trigger(&record->recording, &met);
	}
	return ret;
}
