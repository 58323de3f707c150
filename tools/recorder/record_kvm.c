// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_kvm.c
 * @brief	Record a KVM host and its guests by trace-cmd.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "record.h"
#include "record_flight.h"
#include "record_tracing.h"

/** A buffer of the kernel, per CPU, and the share of the memory that all may have. */
#define BUFFER		(16 * RECORD_MIB)
#define BUFFER_SHARE	16
/** trace-cmd has enabled everything, and asked all agents, in this time. */
#define START_S		60
/** What an exit with its entry, and a switch with its wake-up, take. */
#define EXIT_BYTES	160
#define SWITCH_BYTES	130
#define MEASURE_MS	200
#define LOG		RECORD_KVM_FILE ".log"

/* --- clock, buffer, size --------------------------------------------------------------------- */

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (; (text = strstr(text, word)); text += n)
		if (!text[n] || strchr(" ]\n", text[n]))
			return true;
	return false;
}

/**
 * Guests have the TSC, too, with an offset that KVM shows. But it is chosen only if the kernel
 * itself trusts it, at the same rate on all CPUs at all times, and shows what its cycles are in ns.
 */
static const char *choose_clock(struct record *record)
{
	char sources[256], clocks[512];

	record_read(sources, sizeof(sources),
		    "/sys/devices/system/clocksource/clocksource0/available_clocksource");
	record_read(clocks, sizeof(clocks), "%s/trace_clock", record_tracing());
	if (!has_word(sources, "tsc") || !has_word(clocks, "x86-tsc"))
		return "mono";
	if (record_read_scale(&record->scale) && record->scale.mult <= INT32_MAX)
		return "x86-tsc";
	if (record->scale.mult) {
		ksv_note("the TSC runs at 1 GHz or slower, and trace-cmd and KernelShark would "
			 "show its times wrongly: the clock is mono, and guests are aligned only "
			 "by their events");
		record->scale = (struct trace_dat_scale){ 0 };
		return "mono";
	}
	ksv_note("the kernel does not report the length of a TSC cycle (perf_event_open): the "
		 "clock is mono, and guests are aligned only by their events");
	return "mono";
}

static int choose_buffer(struct record *record)
{
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), total;
	uint64_t memory = record_memory(&total);
	uint64_t *buffer = &record->options->buffer;
	char asked[24], there[24];

	if (!*buffer) {
		*buffer = BUFFER;
		if (memory && *buffer * cpus > memory / BUFFER_SHARE)
			*buffer = memory / BUFFER_SHARE / cpus;
		if (*buffer < RECORD_MIB)
			*buffer = RECORD_MIB;
	}
	if (!memory || *buffer <= memory / cpus / 2)
		return KSV_EXIT_OK;
	ksv_error("--buffer: %s for each of %llu CPUs is more than half of the free memory, %s",
		  record_size_text(*buffer, asked), (unsigned long long)cpus,
		  record_size_text(memory, there));
	return KSV_EXIT_FILE;
}

static uint64_t counter(const char *path, const char *key)
{
	char text[16384], *at = text;

	record_read(text, sizeof(text), "%s", path);
	if (key) {
		at = strstr(text, key);
		at = at ? at + strlen(key) : text + strlen(text);
	}
	return strtoull(at, NULL, 10);
}

/** What would have been written just now. */
static void expect(const struct record *record)
{
	const struct timespec pause = { .tv_nsec = MEASURE_MS * 1000000L };
	uint64_t exits = counter("/sys/kernel/debug/kvm/exits", NULL);
	uint64_t switches = counter("/proc/stat", "\nctxt ");

	nanosleep(&pause, NULL);
	exits = counter("/sys/kernel/debug/kvm/exits", NULL) - exits;
	switches = counter("/proc/stat", "\nctxt ") - switches;
	record_expect(record, (exits * EXIT_BYTES + switches * SWITCH_BYTES) * 1000 / MEASURE_MS);
}

/* --- trace-cmd ------------------------------------------------------------------------------- */

/** A command line that grows. */
struct line {
	char	**words;
	int	n, room;
	bool	failed;
};

static void add_word(struct line *line, const char *word)
{
	if (line->failed || ARRAY_GROW(line->words, line->n + 1, line->room)) {
		line->failed = true;
		return;
	}
	line->words[line->n] = strdup(word);
	if (line->words[line->n])
		line->words[++line->n] = NULL;
	else
		line->failed = true;
}

__attribute__((format(printf, 2, 3)))
static void add_format(struct line *line, const char *format, ...)
{
	char text[PATH_MAX + NAME_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add_word(line, text);
}

static void free_line(struct line *line)
{
	for (int i = 0; i < line->n; i++)
		free(line->words[i]);
	free(line->words);
}

static void add_agent(struct line *line, const struct record *record,
		      const struct record_guest *guest)
{
	const char *list = record_guest_events(record);
	size_t n = strlen(guest->file) - strlen("host-") - strlen(".dat");

	add_word(line, "-A");
	add_format(line, "%.*s@%u:823", (int)n, guest->file + strlen("host-"), guest->cid);
	add_word(line, "-C");
	add_word(line, record->clock);
	while (*list) {
		n = strcspn(list, ",");
		add_word(line, "-e");
		add_format(line, "%.*s", (int)n, list);
		list += n + (list[n] == ',');
	}
}

/** Before 3.1.3, guests that take longer than 5 s for anything cannot be recorded by agents. */
static bool has_notimeout(const struct record *record)
{
	int major = 0, minor = 0, patch = 0;

	sscanf(record->version, "%d.%d.%d", &major, &minor, &patch);
	return major > 3 || (major == 3 && (minor > 1 || (minor == 1 && patch >= 3)));
}

static void make_line(struct line *line, const struct record *record)
{
	add_word(line, "trace-cmd");
	add_word(line, "record");
	add_word(line, "-o");
	add_format(line, "%s/" RECORD_KVM_FILE, record->folder);
	add_word(line, "-C");
	add_word(line, record->clock);
	/* the trace contains how long a cycle is */
	if (!strcmp(record->clock, "x86-tsc"))
		add_word(line, "--tsc2nsec");
	if (record_has_agents(record) && has_notimeout(record))
		add_word(line, "--notimeout");
	add_word(line, "-b");
	add_format(line, "%llu", (unsigned long long)record->options->buffer / 1024);
	for (int i = 0; i < record->n_events; i++) {
		add_word(line, "-e");
		add_word(line, record->events[i]);
	}
	for (int i = 0; i < record->n_guests; i++)
		if (record->guests[i].how == RECORD_BY_AGENT)
			add_agent(line, record, &record->guests[i]);
	/* it is run as soon as everything is enabled, here and in guests, and ends when we want */
	add_word(line, "sh");
	add_word(line, "-c");
	add_word(line, "echo '" RECORD_SAYS "' >&2; read x");
}

static int spawn_trace_cmd(struct record *record)
{
	struct line line = { 0 };

	make_line(&line, record);
	record->recorder = -ENOMEM;
	if (!line.failed)
		record->recorder = record_spawn_noted(record, (const char *const *)line.words,
						      &record->input, LOG,
						      record_lock_note_tracing);
	free_line(&line);
	if (record->recorder < 0) {
		ksv_error("trace-cmd: %s", strerror(-record->recorder));
		record->recorder = 0;
		return KSV_EXIT_FILE;
	}
	return KSV_EXIT_OK;
}

/** Return: NULL when it has begun, or what it does. */
static const char *await_trace_cmd(struct record *record)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int limit = record_limit("KSHARK_VIRT_START_S", START_S);

	for (int i = 0; i < limit * 50; i++) {
		if (waitpid(record->recorder, &record->recorder_status, WNOHANG)) {
			record->recorder = 0;
			return "ended at once";
		}
		if (record_log_says(record, LOG, RECORD_SAYS))
			return NULL;
		nanosleep(&pause, NULL);
	}
	return "does not begin";
}

/** What has not begun has nothing to finish. */
static void end_trace_cmd(struct record *record)
{
	if (record->recorder > 0) {
		kill(record->recorder, SIGKILL);
		waitpid(record->recorder, &record->recorder_status, 0);
		record->recorder = 0;
	}
	record_end_group(record->group);
	if (record->input >= 0)
		close(record->input);
	record->input = -1;
}

/** Return: whether it has begun; if not, it is ended. */
static bool begin_trace_cmd(struct record *record)
{
	const char *failed;

	if (spawn_trace_cmd(record))
		return false;
	failed = await_trace_cmd(record);
	if (!failed)
		return true;
	end_trace_cmd(record);
	record_failed(record, LOG, "trace-cmd", failed);
	return false;
}

/** If it fails with agents that no option asks for, it is tried without them. */
static int start_trace_cmd(struct record *record)
{
	bool begun;

	if (record_check_in_use())
		return KSV_EXIT_FILE;
	record_tracing_save();
	/* before there is a process that changes settings */
	record_lock_note_tracing(record);
	begun = begin_trace_cmd(record);
	if (!begun && record_drop_agents(record, "trace-cmd could not start with its agent")) {
		ksv_note("trying again without agents: only the host, and guests by ssh");
		begun = begin_trace_cmd(record);
	}
	if (!begun)
		return KSV_EXIT_FILE;
	record_tracing_mark();
	return KSV_EXIT_OK;
}

/** Noted first: what is left of a recorder that is killed has to be found. */
static int start_own(struct record *record)
{
	int status;

	record_lock_note_tracing(record);
	status = record_own_start(record);
	if (status)
		record_own_remove(record);
	return status;
}

/** trace-cmd alone speaks with agents, and then records the host into buffers that all share. */
static int start_recorder(struct record *record)
{
	bool own = !record_has_agents(record) && !record_own_make(record);
	int status = own ? start_own(record) : start_trace_cmd(record);

	if (status)
		return status;
	record_lock_note_tracing(record);
	if (!own && !record_keep_files(record->folder))
		ksv_note("the disk of %s has no hard links: if trace-cmd fails at its end, for "
			 "example because the disk is full, it deletes its data. Another disk "
			 "(--output) is safer", record->folder);
	return record_write_state(record);
}

/** Guests that no option asks for are no reason not to record. */
static int check_agents(struct record *record)
{
	char *use;

	if (!record_has_agents(record))
		return KSV_EXIT_OK;
	use = record_tracing_in_use();
	if (use && record_drop_agents(record, "tracing is in use, and guests' agents need the "
				      "buffers that all tracers share")) {
		free(use);
		return KSV_EXIT_OK;
	}
	free(use);
	if (record_check_in_use())
		return KSV_EXIT_FILE;
	ksv_note("guests with agents are recorded: trace-cmd uses the buffers that all tracers "
		 "share");
	return KSV_EXIT_OK;
}

/** Counted once more when nothing is added any more, and before trace-cmd clears it all. */
static void release_recorder(struct record *record)
{
	/* else the buffers belong to another user */
	if (record->group > 0) {
		record->was_off = !record_tracing_is_on();
		record_tracing_stop();
		record_tracing_count(record, &record->count);
	}
	if (record->input >= 0)
		close(record->input);
	record->input = -1;
}

/** Has trace-cmd been ended, as agents had their time? */
static bool was_given_up(const struct record *record)
{
	for (int i = 0; i < record->n_guests; i++)
		if (record->guests[i].given_up && record->guests[i].how == RECORD_BY_AGENT)
			return true;
	return false;
}

/** When it has ended, the trace is there, or is made of what it has left. */
static int settle_recorder(struct record *record)
{
	int status = record->recorder_status;
	bool failed = !WIFEXITED(status) || WEXITSTATUS(status) || record->stop == RECORD_DIED;
	bool settled;

	if (failed && record->group > 0) {
		record_end_group(record->group);
		record_tracing_drain(record->folder);
	}
	settled = record_settle_files(record->folder) &&
		  (record_has_trace(record->folder) || !record->count.records);
	if (*record->instance)
		record_own_remove(record);
	else if (record->group > 0)
		record_tracing_restore(record_tracing_before(), failed || !settled);
	if (failed && was_given_up(record))
		failed = false;
	return failed || !settled ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/* --- all of it ------------------------------------------------------------------------------- */

/** A guest that has sent nothing leaves an empty file. Return: there is none. */
static bool drop_empty(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return true;
	if (!st.st_size)
		unlink(path);
	return !st.st_size;
}

static int add_files(struct record *record)
{
	struct recording_file file = {
		.name = (char *)RECORD_KVM_FILE, .role = RECORDING_HOST,
		.clock = (char *)record->clock,
		.records = (int64_t)record->count.records, .lost = (int64_t)record->count.lost,
	};
	char path[PATH_MAX + NAME_MAX];
	int ret = 0;

	for (int i = -1; !ret && i < record->n_guests; i++) {
		if (i >= 0) {
			file.name = record->guests[i].file;
			file.role = RECORDING_GUEST;
			file.guest = record->guests[i].name;
			file.records = file.lost = RECORDING_UNKNOWN;
		}
		if (!file.name)
			continue;
		snprintf(path, sizeof(path), "%s/%s", record->folder, file.name);
		if (!drop_empty(path))
			ret = recording_add_file(&record->recording, &file);
	}
	return ret;
}

static int add_guests(struct record *record)
{
	int ret = 0;

	for (int i = 0; !ret && i < record->n_guests; i++) {
		const struct record_guest *guest = &record->guests[i];
		const struct kvm_live_guest *live = NULL;
		struct recording_guest facts = { .name = guest->name, .why = guest->why };
		char how[300] = "none";

		for (int j = 0; j < record->live.n_guests; j++)
			if (!strcmp(record->live.guests[j].name, guest->name))
				live = &record->live.guests[j];
		if (guest->how == RECORD_BY_AGENT)
			strcpy(how, "agent");
		else if (guest->how == RECORD_BY_SSH)
			snprintf(how, sizeof(how), "ssh:%s", guest->target);
		facts.how = how;
		facts.uuid = live ? live->uuid : NULL;
		ret = recording_add_guest(&record->recording, &facts);
	}
	return ret;
}

static void print_guests(const struct record *record)
{
	static const char *const how[] = { "", "by its agent", "by ssh", "by the host alone" };

	for (int i = 0; i < record->n_guests; i++) {
		const struct record_guest *guest = &record->guests[i];

		ksv_note("guest %s: %s%s%s", guest->name, how[guest->how], guest->why ? ": " : "",
			 guest->why ? guest->why : "");
	}
}

/** A trace without records answers nothing. */
static int fail_empty(struct record *record)
{
	record->nothing = true;
	if (record->was_off)
		ksv_error("nothing was recorded: another program has stopped the buffers "
			  "(tracing_on); end that program, and record again");
	else if (record->options->events)
		ksv_error("nothing was recorded: none of the events of --events %s occurred; "
			  "record longer (-d), while a machine runs, or without --events",
			  record->options->events);
	else
		ksv_error("nothing was recorded: the kernel wrote no record, although it was asked "
			  "to; record longer (-d), and report this if it stays so");
	return KSV_EXIT_FILE;
}

static int finish(struct record *record, int status)
{
	struct kvm_live end;
	char log[PATH_MAX + NAME_MAX];
	bool known, own;
	int stopped;

	ksv_note("writing ...");
	record_look_at_cgroups(&record->live, &record->cgroups_end);
	record_release_guests(record);
	release_recorder(record);
	record_samples_end(record);
	record_finish(record);
	own = *record->instance;
	stopped = settle_recorder(record);
	known = !kvm_live_read(record_root(), &end);
	if (record_judge_guests(record, known ? &end : NULL))
		status = KSV_EXIT_FILE;
	if (known && record_sidecar(record, &end))
		status = KSV_EXIT_FILE;
	kvm_live_free(&end);
	if (!status && stopped)
		status = record_failed(record, LOG, own ? "the copy of the kernel's buffers" :
				       "trace-cmd", "has failed");
	if (!status && !record->count.records)
		status = fail_empty(record);
	else if (record->was_off && record->stop != RECORD_DIED)
		ksv_note("another program has stopped the buffers before the end (tracing_on): "
			 "later records are missing");
	snprintf(log, sizeof(log), "%s/" LOG, record->folder);
	drop_empty(log);
	if (add_files(record))
		status = KSV_EXIT_FILE;
	record_lock_note_folder(record);
	return status;
}

static enum record_stop look(struct record *record)
{
	record_samples_look(record);
	return record_look_at_threads(record);
}

static int run(struct record *record)
{
	static const struct record_watch watch = {
		.count = record_tracing_count, .copies = 2, .look = look,
	};
	int status;

	expect(record);
	print_guests(record);
	/* from the first time that recording.json is there, it is written again at the end */
	record_block_signals();
	status = record_begin(record);
	if (!status && add_guests(record))
		status = KSV_EXIT_FILE;
	if (!status)
		status = record_write_state(record);
	if (!status)
		status = record_sidecar(record, NULL);
	if (status)
		return status;
	status = record_start_guests(record);
	record_look_at_cgroups(&record->live, &record->cgroups);
	/* before the first record, so that counts of all of the trace are known */
	record_samples_begin(record);
	if (!status)
		status = start_recorder(record);
	if (!status) {
		ksv_note("recording into %s%s", record->folder,
			 record->options->duration.kind || record->options->command ? "" :
			 "; Ctrl-C ends it");
		status = record_loop(record, &watch);
	}
	return finish(record, status);
}

int record_kvm(struct record *record)
{
	int missing, status;

	if (!record_check_root("record"))
		return KSV_EXIT_FILE;
	/* what another recorder has left would look like tracing in use */
	status = record_lock_take(record);
	if (status)
		return status;
	missing = record_check_kvm(record);
	if (!missing)
		missing = record_check_folder(record);
	if (missing)
		return KSV_EXIT_FILE;
	status = record_check_regions(record);
	if (status)
		return status;
	/* a trace of what is kept has no guests beside it that count cycles */
	record->clock = record->options->flight_ns ? "mono" : choose_clock(record);
	status = record_events(record);
	if (!status)
		status = record_flight_check(record, &record_source_kvm);
	if (!status)
		status = choose_buffer(record);
	if (!status && record->options->flight_ns)
		return record_flight(record, &record_source_kvm);
	if (!status)
		status = record_find_guests(record);
	if (!status)
		status = check_agents(record);
	if (!status)
		status = run(record);
	return record_end(record, status);
}
