// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_flight.c
 * @brief	The flight recorder: keep the last seconds in memory, and write them on demand.
 *
 * Nothing is recorded while a recording is written. So each recording is as complete as any other
 * one, and the next one begins anew.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>

#include "record_flight.h"
#include "record_tracing.h"

/** The share of the memory that is free, and of that for files in memory, which may be taken. */
#define MEMORY_SHARE	4
#define SCRATCH_SHARE	3
/** If the kernel does not say how much there is. */
#define MEMORY		(256 * RECORD_MIB)

/* --- memory ---------------------------------------------------------------------------------- */

/** The most memory for records. While they are judged, they are there twice more. */
static int choose_memory(struct record *record)
{
	struct record_flight *flight = record->flight;
	uint64_t total, most = record_memory(&total) / MEMORY_SHARE;
	struct statvfs fs;
	char size[24];

	if (!most)
		most = MEMORY;
	if (record->options->limit && record->options->limit < most)
		most = record->options->limit;
	if (*flight->scratch && !statvfs(flight->scratch, &fs) &&
	    (uint64_t)fs.f_bavail * fs.f_frsize / SCRATCH_SHARE < most)
		most = (uint64_t)fs.f_bavail * fs.f_frsize / SCRATCH_SHARE;
	if (most < RECORD_MIB) {
		ksv_error("only %s of memory are available for records: end programs that use it, "
			  "or allow more (--limit)", record_size_text(most, size));
		return KSV_EXIT_FILE;
	}
	flight->ring.max_bytes = most;
	ksv_note("the last %.1f s are kept, in at most %s of memory",
		 (double)record->options->flight_ns / 1e9, record_size_text(most, size));
	return KSV_EXIT_OK;
}

/* --- while it records ------------------------------------------------------------------------ */

static void forget_old(struct record *record)
{
	struct record_flight *flight = record->flight;
	int64_t now = flight->judge ? flight->judge_began_ns : record_now_ns();

	/* what is being judged must not be gone when it turns out to be wanted */
	record_ring_prune(&flight->ring, now - record->options->flight_ns);
}

/** Return: whether what is kept cannot be relied upon, after a message. */
static bool is_broken(const struct record_flight *flight)
{
	if (flight->is_no_trace)
		ksv_error("the output of xentrace is not a trace");
	else if (flight->no_memory)
		ksv_error("not enough memory for the records: end programs that use it, or keep "
			  "less (--limit)");
	return flight->is_no_trace || flight->no_memory;
}

/** Return: an exit status, after a message. */
static int open_logs(struct record *record)
{
	char error[PATH_MAX + 128];

	for (int i = 0; i < record->options->n_logs; i++) {
		if (!record_log_open(&record->options->logs[i], error, sizeof(error)))
			continue;
		ksv_error("--trigger-log: %s", error);
		return KSV_EXIT_FILE;
	}
	return KSV_EXIT_OK;
}

static bool has_log_matched(struct record *record)
{
	bool matched = false;

	for (int i = 0; i < record->options->n_logs; i++)
		matched |= record_log_look(&record->options->logs[i]);
	return matched;
}

static enum record_stop look(struct record *record)
{
	struct record_flight *flight = record->flight;

	flight->source->take(record);
	forget_old(record);
	record_look_at_threads(record);
	if (is_broken(flight))
		return RECORD_DIED;
	return has_log_matched(record) ? RECORD_TRIGGER : record_flight_judge(record);
}

static void take(struct record *record)
{
	record->flight->source->take(record);
}

static int data_fd(const struct record *record)
{
	return record->flight->fd;
}

/** Bytes are those in memory, and all of Xen's records are as large as most. */
static void count(struct record *record, struct record_count *counted)
{
	const struct record_flight *flight = record->flight;

	if (record->options->hypervisor == RECORDING_XEN) {
		counted->records = flight->ring.total / RECORD_XEN_BYTES;
	} else {
		counted->bytes = flight->ring.total;
		record_tracing_count(record, counted);
	}
	counted->bytes = flight->ring.bytes;
}

/* --- a recording ----------------------------------------------------------------------------- */

static const char *cause_of(const struct record *record)
{
	return record->stop == RECORD_TRIGGER ? "trigger" :
	       record->stop == RECORD_ASKED ? "signal" : "end";
}

/** It begins where what is kept begins, as long before now as this. */
static int set_begin(struct record *record, int64_t ns)
{
	time_t begin = time(NULL) - (time_t)((ns + 999999999) / 1000000000);
	struct tm tm;
	char iso[32];

	gmtime_r(&begin, &tm);
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return recording_text(&record->recording.begin, iso);
}

static int describe(struct record *record)
{
	struct record_flight *flight = record->flight;
	struct recording_flight *facts = &record->recording.flight;

	facts->kept_ns = flight->ring.first ?
			 flight->stopped_ns - flight->ring.first->time_ns : 0;
	if (flight->ring.full && flight->ring.first && facts->kept_ns < record->options->flight_ns)
		ksv_note("memory sufficed only for the last %.1f s (--limit)",
			 (double)facts->kept_ns / 1e9);
	return recording_text(&facts->cause, cause_of(record)) ||
	       set_begin(record, record_now_ns() - flight->stopped_ns + facts->kept_ns);
}

/** Had memory been larger, there would be something. */
static bool was_too_much(const struct record *record)
{
	const struct record_ring *ring = &record->flight->ring;

	return ring->full &&
	       ring->dropped_ns >= record->flight->stopped_ns - record->options->flight_ns;
}

/** That there is nothing is no failure of one that goes on, nor behind one that was written. */
static int finish_nothing(struct record *record)
{
	double seconds = (double)record->options->flight_ns / 1e9;
	bool too_much = was_too_much(record);

	record->flight->source->finish(record);
	record_ring_clear(&record->flight->ring);
	if (too_much)
		ksv_error("memory does not suffice for the rate of records: allow more (--limit), "
			  "or record fewer events (--events)");
	else if (record->flight->number > 1 || record->stop == RECORD_ASKED)
		ksv_note("nothing was recorded in the last %.1f s", seconds);
	else
		ksv_error("nothing was recorded in the last %.1f s", seconds);
	return record->stop == RECORD_ASKED || (record->flight->number > 1 && !too_much) ?
	       KSV_EXIT_OK : KSV_EXIT_FILE;
}

static int write_recording(struct record *record)
{
	struct record_flight *flight = record->flight;
	int ret, described = describe(record);

	ksv_note("writing ...");
	ret = flight->source->write(record, record->folder);
	if (ret == -ENODATA)
		return finish_nothing(record);
	if (ret)
		ksv_error("%s/%s: %s", record->folder, flight->source->file, strerror(-ret));
	if (flight->source->finish(record) || record_flight_describe(record) || described)
		ret = -EIO;
	record_ring_clear(&flight->ring);
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

static int record_one(struct record *record)
{
	static const struct record_watch watch = { count, 3, data_fd, take, look };
	struct record_flight *flight = record->flight;
	int status = record_begin(record), written;

	for (int i = 0; i < record->options->n_logs; i++)
		record_log_begin(&record->options->logs[i]);
	record->recording.flight.asked_ns = record->options->flight_ns;
	record->recording.flight.kept_ns = RECORDING_UNKNOWN;
	if (!status)
		status = record_write_state(record);
	if (!status)
		status = flight->source->start(record);
	if (status)
		return status;
	if (flight->stopped_ns)
		record->recording.flight.paused_ns = record_now_ns() - flight->stopped_ns;
	ksv_note("recording into %s%s", record->options->folder,
		 record->options->duration.kind || record->options->command ? "" :
		 "; Ctrl-C ends it");
	status = record_loop(record, &watch);
	flight->source->stop(record);
	flight->stopped_ns = record_now_ns();
	if (record->stop != RECORD_DIED && is_broken(flight))
		record->stop = RECORD_DIED;
	record_flight_judge_end(record);
	written = write_recording(record);
	return status ? status : written;
}

/* --- one after the other --------------------------------------------------------------------- */

/** While it was written, Ctrl-C may have come, or the end of the time or of the command. */
static bool is_over(struct record *record)
{
	const struct ksv_time *duration = &record->options->duration;
	const struct timespec now = { 0 };
	int signal;

	/* what SIGUSR1 asks for has just been written */
	while ((signal = record_next_signal(&now)) > 0)
		if (signal != SIGCHLD && signal != SIGUSR1)
			return true;
	if (record->user > 0 &&
	    waitpid(record->user, &record->user_status, WNOHANG) == record->user)
		record->user = 0;
	return (record->user_began && !record->user) ||
	       (duration->kind && record_now_ns() - record->began_ns >= duration->ns);
}

static bool goes_on(struct record *record)
{
	struct record_flight *flight = record->flight;
	const struct record_keep *keep = &record->options->keep;
	int limit = record->options->trigger_limit;

	if (!limit && !keep->number && !keep->bytes)
		limit = 1;
	if (record->stop == RECORD_TRIGGER)
		flight->n_triggered++;
	else if (record->stop != RECORD_ASKED)
		return false;
	return (record->stop == RECORD_ASKED || !limit || flight->n_triggered < limit) &&
	       !is_over(record);
}

/** The command line is the same, all else is new. */
static void renew_recording(struct record *record)
{
	struct recording old = record->recording;

	record->recording = (struct recording){ .command = old.command,
						.n_command = old.n_command,
						.room_command = old.room_command };
	old.command = NULL;
	old.n_command = 0;
	recording_free(&old);
	record->stop = RECORD_ON;
	record->count = (struct record_count){ 0 };
	record->recorder_status = 0;
}

static int next_folder(struct record *record)
{
	struct record_flight *flight = record->flight;
	int n = snprintf(flight->folder, sizeof(flight->folder), "%s-%d", flight->base,
			 ++flight->number);

	renew_recording(record);
	record->options->folder = flight->folder;
	record->made = false;
	return n >= (int)sizeof(flight->folder) || record_check_folder(record) ? KSV_EXIT_FILE :
	       KSV_EXIT_OK;
}

/** Nothing but the folder is left to be finished. */
static void hand_back(struct record *record)
{
	record_flight_judge_close(record);
	record_lock_note_folder(record);
	/* what SIGUSR1 asks for has been written, or there is nothing */
	signal(SIGUSR1, SIG_IGN);
}

static int record_all(struct record *record)
{
	int status;

	for (;;) {
		status = record_one(record);
		record->goes_on = !status && goes_on(record);
		if (!record->goes_on)
			hand_back(record);
		status = record_end(record, status);
		record_keep(record);
		if (!record->goes_on)
			return status;
		/* what has been written stays, whatever comes of the next one */
		if (next_folder(record))
			return KSV_EXIT_FILE;
	}
}

int record_flight(struct record *record, const struct record_source *source)
{
	struct record_flight *flight = calloc(1, sizeof(*flight));
	int status;
	size_t n;

	if (!flight) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	*flight = (struct record_flight){ .source = source, .number = 1, .fd = -1, .answer = -1 };
	record->flight = flight;
	snprintf(flight->base, sizeof(flight->base), "%s", record->options->folder);
	for (n = strlen(flight->base); n > 1 && flight->base[n - 1] == '/'; n--)
		flight->base[n - 1] = '\0';
	status = record_flight_judge_open(record);
	if (!status)
		status = open_logs(record);
	if (!status)
		status = choose_memory(record);
	if (!status) {
		record_block_signals();
		status = record_all(record);
	}
	hand_back(record);
	record_ring_clear(&flight->ring);
	free(flight->data);
	free(flight->cpus.all);
	free(flight);
	record->flight = NULL;
	return status;
}
