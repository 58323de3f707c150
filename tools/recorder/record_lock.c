// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_lock.c
 * @brief	Allow one recorder at a time, and repair the state that a killed one has left.
 *
 * A file in /run is locked as long as a recorder lives. The file describes the changes in tracefs
 * and the place of the trace; the recorder empties it at the end. A recorder that finds the file
 * not locked and not empty comes after one that was killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "record_flight.h"
#include "record_tracing.h"

/** No clock has this name. */
#define NO_CLOCK	"-"

#define LOCK_FILE	"/run/kshark-virt-record.lock"
#define LOCK_BYTES	(2 * PATH_MAX)
/** Instead of a recorder: only the folder is not finished, nothing else was changed. */
#define FOLDER_ONLY	-1
/** How long trace-cmd may go on writing after its recorder was killed. */
#define FINISH_S	60
/** How long the lock of a killed recorder may be held by a process that it had just started. */
#define LOCK_S		5

struct left {
	int	pid, recorder, xen;
	struct record_tracing_state before, marked;
	char	instance[RECORD_INSTANCE_SIZE];	/* that it recorded into, or "" */
	bool	ran;			/* the recorder did until now */
	char	folder[PATH_MAX];	/* stands last, and may be any bytes */
};

static bool parse_left(const char *text, struct left *left)
{
	int n = 0, more = 0, pid;

	*left = (struct left){ 0 };
	if (sscanf(text, "pid %d recorder %d xen %d on %d buffer %llu clock %31s "
		   "marked %" SCNx64 " %llu %31s %n",
		   &left->pid, &left->recorder, &left->xen, &left->before.on,
		   &left->before.buffer_kb, left->before.clock, &left->marked.events,
		   &left->marked.buffer_kb, left->marked.clock, &n) != 9 || !n)
		return false;
	text += n;
	if (sscanf(text, "instance " RECORD_OWN_INSTANCE "%d %n", &pid, &more) == 1 && more) {
		snprintf(left->instance, sizeof(left->instance), RECORD_OWN_INSTANCE "%d", pid);
		text += more;
	}
	if (strncmp(text, "folder /", 8) != 0)
		return false;
	if (!strcmp(left->marked.clock, NO_CLOCK))
		*left->marked.clock = '\0';
	snprintf(left->folder, sizeof(left->folder), "%s", text + strlen("folder "));
	return true;
}

static bool read_left(int lock, struct left *left)
{
	char *text = calloc(1, LOCK_BYTES + 1);
	bool there = text && pread(lock, text, LOCK_BYTES, 0) > 0 && parse_left(text, left);

	free(text);
	return there;
}

bool record_lock_is_of(const char *folder)
{
	char path[PATH_MAX], *full = realpath(folder, NULL);
	struct left left;
	bool is = false;
	int lock;

	snprintf(path, sizeof(path), "%s" LOCK_FILE, record_root());
	lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (lock >= 0 && full && flock(lock, LOCK_SH | LOCK_NB))
		is = errno == EWOULDBLOCK && read_left(lock, &left) && !strcmp(left.folder, full);
	if (lock >= 0)
		close(lock);
	free(full);
	return is;
}

/** The pid may belong to another process by now. */
static bool still_runs(int pid)
{
	char comm[32];
	int group;

	return record_process(pid, comm, &group) &&
	       (!strcmp(comm, "trace-cmd") || !strcmp(comm, "xentrace") ||
		!strcmp(comm, RECORD_OWN_COMM));
}

/** As long as it runs, no other program can have begun to trace. */
static bool wait_for_recorder(struct left *left)
{
	const struct timespec pause = { .tv_nsec = 100000000 };

	left->ran = still_runs(left->recorder);
	for (int i = 0; still_runs(left->recorder); i++) {
		if (i == FINISH_S * 10)
			return false;
		if (!i)
			ksv_note("waiting for process %d, which finishes the trace in %s",
				 left->recorder, left->folder);
		nanosleep(&pause, NULL);
	}
	return true;
}

/* --- the folder ------------------------------------------------------------------------------ */

static bool file_there(const char *folder, const char *name)
{
	char path[PATH_MAX + NAME_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !access(path, F_OK);
}

/**
 * A recording that was still running is marked as stopped.
 *
 * Return: how much of the end it was to keep, in memory; 0: all that it has is in the folder.
 */
static int64_t settle_folder(struct record *record, const char *folder)
{
	bool xen = file_there(folder, RECORD_XEN_FILE);
	const struct recording_file host = {
		.name = (char *)(xen ? RECORD_XEN_FILE : RECORD_KVM_FILE), .role = RECORDING_HOST,
		.records = RECORDING_UNKNOWN, .lost = RECORDING_UNKNOWN,
	};
	struct recording recording;
	char error[256];
	int64_t kept;

	if (recording_read(folder, &recording, error, sizeof(error))) {
		ksv_note("%s", error);
		return 0;
	}
	if (recording.state == RECORDING_RUNNING) {
		recording.state = RECORDING_STOPPED;
		if (record_sync(folder, host.name) ||
		    recording_text(&recording.reason, "kshark-virt record was killed") ||
		    (!recording.n_files && (xen || record_has_trace(folder)) &&
		     (recording_add_file(&recording, &host) ||
		      record_add_left_guests(record, folder, &recording))) ||
		    recording_write(folder, &recording, error, sizeof(error)))
			ksv_note("%s: cannot be changed", folder);
	}
	kept = recording.n_files ? 0 : recording.flight.asked_ns;
	recording_free(&recording);
	return kept;
}

/** Others' settings were never changed. Return: what has become of tracing. */
static const char *restore_own(const struct left *left)
{
	struct record gone = { 0 };
	bool there = record_there("%s/instances/%s", record_tracing() ? : "", left->instance);

	record_end_group(left->recorder);
	record_tracing_use(left->instance);
	if (there)
		record_tracing_drain(left->folder);
	record_settle_files(left->folder);
	record_tracing_use(NULL);
	snprintf(gone.instance, sizeof(gone.instance), "%s", left->instance);
	if (there)
		record_own_remove(&gone);
	return there ? "its buffers are removed" : "its buffers are gone";
}

/** Return: what has become of tracing. */
static const char *restore_tracing(const struct left *left)
{
	bool alive = left->ran || record_group_lives(left->recorder);
	/* what runs still has our events, and ends with it */
	enum record_tracing_left look = record_tracing_look(&left->marked, alive);

	record_end_group(left->recorder);
	if (look == RECORD_TRACING_OURS)
		record_tracing_drain(left->folder);
	record_settle_files(left->folder);
	record_tracing_settle(&left->before, &left->marked, alive);
	if (look == RECORD_TRACING_OTHERS && !*left->marked.clock)
		return "another program may be tracing now, so no settings are restored (run "
		       "'trace-cmd reset' to do that)";
	return look == RECORD_TRACING_OTHERS ?
	       "another program is tracing now, so no settings are restored" :
	       "tracing settings are restored";
}

static int restore_all(struct record *record, const struct left *left)
{
	/* xentrace puts right itself what it changed, or the next one does */
	const char *tracing = left->xen ? "tracing settings are restored" :
			      *left->instance ? restore_own(left) : restore_tracing(left);

	record_flight_sweep();
	if (settle_folder(record, left->folder))
		ksv_note("an earlier kshark-virt record (process %d) was killed: %s; its records "
			 "in memory are lost (--flight), and %s has no trace", left->pid,
			 left->xen ? "Xen may have traced until now" : tracing, left->folder);
	else
		ksv_note("an earlier kshark-virt record (process %d) was killed: %s; its data is "
			 "in %s", left->pid, tracing, left->folder);
	return ftruncate(record->lock, 0) ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

/** Before the recording began, or after all but its state was there. */
static void finish_folder(struct record *record, const struct left *left)
{
	if (!file_there(left->folder, RECORDING_FILE)) {
		ksv_note("an earlier kshark-virt record (process %d) has left no recording in %s",
			 left->pid, left->folder);
		return;
	}
	settle_folder(record, left->folder);
	ksv_note("an earlier kshark-virt record (process %d) was killed: no tracing settings are "
		 "left to be restored; its data is in %s", left->pid, left->folder);
}

static int restore(struct record *record, const struct left *left)
{
	if (left->recorder == FOLDER_ONLY) {
		finish_folder(record, left);
		return ftruncate(record->lock, 0) ? KSV_EXIT_FILE : KSV_EXIT_OK;
	}
	return restore_all(record, left);
}

/* --- the lock -------------------------------------------------------------------------------- */

/** What another one has noted is not ours to remove. */
static int refuse(struct record *record)
{
	close(record->lock);
	record->lock = -1;
	return KSV_EXIT_FILE;
}

/**
 * A process that a killed one had just started keeps the lock until it runs its program or closes
 * the lock: wait for it. Return: the lock is ours.
 */
static bool wait_for_lock(int lock, struct left *left, bool *known)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	for (int i = 0; flock(lock, LOCK_EX | LOCK_NB); i++) {
		*known = read_left(lock, left);
		if (!*known || !kill(left->pid, 0) || errno != ESRCH || i == LOCK_S * 50)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

int record_lock_take(struct record *record)
{
	char path[PATH_MAX];
	struct left left;
	bool known;

	snprintf(path, sizeof(path), "%s" LOCK_FILE, record_root());
	record->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (record->lock < 0) {
		ksv_error("%s: %s%s", path, strerror(errno),
			  errno == EACCES || errno == EPERM ? "; recording needs root, try sudo" :
			  errno == ENOENT ? "; mount -t tmpfs tmpfs /run" : "");
		return KSV_EXIT_FILE;
	}
	if (!wait_for_lock(record->lock, &left, &known)) {
		if (known)
			ksv_error("another kshark-virt record (process %d) is in progress, into "
				  "%s; wait for it, or end it: kill %d", left.pid, left.folder,
				  left.pid);
		else
			ksv_error("another kshark-virt record is about to start, or kshark-virt "
				  "study is in progress; wait for it");
		return refuse(record);
	}
	if (!read_left(record->lock, &left))
		return KSV_EXIT_OK;
	if (!wait_for_recorder(&left)) {
		ksv_error("process %d still writes to %s; wait for it, or end it: "
			  "kill -INT %d", left.recorder, left.folder, left.recorder);
		return refuse(record);
	}
	return restore(record, &left);
}

/** @n: length of @text; negative: there is no memory for it */
static int write_note(const struct record *record, char *text, int n)
{
	int ret = 0;

	if (n < 0)
		return -ENOMEM;
	if (pwrite(record->lock, text, (size_t)n, 0) != n || ftruncate(record->lock, n) ||
	    fsync(record->lock))
		ret = -errno;
	free(text);
	return ret;
}

int record_lock_note_folder(struct record *record)
{
	char *text;
	int n;

	/* the recorder of self-test has no lock, and its folder is temporary */
	if (record->lock < 0)
		return 0;
	n = asprintf(&text, "pid %d recorder %d xen %d on 0 buffer 0 clock local marked 0 0 "
		     NO_CLOCK " folder %s", (int)getpid(), FOLDER_ONLY,
		     record->options->hypervisor == RECORDING_XEN, record->folder);
	return write_note(record, text, n);
}

int record_lock_note(struct record *record)
{
	const struct record_tracing_state *before = record_tracing_before();
	const struct record_tracing_state *marked = record_tracing_marked();
	char *text;
	int n = asprintf(&text, "pid %d recorder %d xen %d on %d buffer %llu clock %s "
			 "marked %" PRIx64 " %llu %s %s%s%sfolder %s",
			 (int)getpid(), (int)record->recorder,
			 record->options->hypervisor == RECORDING_XEN, before->on,
			 before->buffer_kb, *before->clock ? before->clock : "local",
			 marked->events, marked->buffer_kb,
			 *marked->clock ? marked->clock : NO_CLOCK,
			 *record->instance ? "instance " : "", record->instance,
			 *record->instance ? " " : "", record->folder);

	return write_note(record, text, n);
}

void record_lock_note_tracing(struct record *record)
{
	if (record_lock_note(record))
		ksv_note("/run: cannot save the changed settings; if this program is killed, run "
			 "trace-cmd reset");
}

void record_lock_drop(struct record *record)
{
	/* the next recorder completes what could not be written */
	if (record->lock >= 0 && (record->unfinished || !ftruncate(record->lock, 0)))
		close(record->lock);
	record->lock = -1;
}
