// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_finish.c
 * @brief	The end of a recording: wait for the host's trace and those of guests, all together.
 *
 * trace-cmd writes the host's trace when all agents have sent theirs, so a guest that hangs
 * prevents that. Then trace-cmd is ended, and the trace is made of the files of CPUs; only the data
 * that guests have not sent is abandoned.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

/** All guests together have sent their traces in this time. */
#define GUESTS_S	600
/** Without a line of progress, seconds from one note to the next. */
#define PROGRESS_S	30
#define LOOK_NS		200000000L

struct finish {
	struct record	*record;
	time_t		begin;
	int		limit;		/* seconds */
	int		signals;	/* to stop, that have come */
	int		noted;		/* seconds at the last note */
};

static int seconds_since(time_t begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int)(now.tv_sec - begin);
}

/** trace-cmd has written all that agents have sent before it begins with the host's trace. */
static bool is_awaited(const struct record *record, const struct record_guest *guest)
{
	return guest->pid > 0 || (guest->how == RECORD_BY_AGENT && record->recorder > 0 &&
				  !record_has_trace(record->folder));
}

/** "web, db" */
static int awaited_guests(const struct record *record, char *text, size_t size)
{
	size_t used = 0;
	int n = 0;

	*text = '\0';
	for (int i = 0; i < record->n_guests; i++)
		if (is_awaited(record, &record->guests[i]) && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", n++ ? ", " : "",
						 record->guests[i].name);
	return n;
}

/** What has ended is not waited for. Return: something still runs. */
static bool reap(struct record *record)
{
	bool any = false;

	if (record->recorder > 0 &&
	    waitpid(record->recorder, &record->recorder_status, WNOHANG) == record->recorder)
		record->recorder = 0;
	for (int i = 0; i < record->n_guests; i++) {
		struct record_guest *guest = &record->guests[i];

		if (guest->pid > 0 &&
		    waitpid(guest->pid, &guest->status, WNOHANG) == guest->pid)
			guest->pid = 0;
		any = any || guest->pid > 0;
	}
	return any || record->recorder > 0;
}

/** Some may have been given up before. @by_ssh: none but these */
static void give_up(const struct finish *finish, const char *why, bool by_ssh)
{
	struct record *record = finish->record;
	bool agents = false;

	for (int i = 0; i < record->n_guests; i++) {
		struct record_guest *guest = &record->guests[i];
		bool agent = guest->how == RECORD_BY_AGENT;

		if (guest->given_up || !is_awaited(record, guest) || (agent && by_ssh))
			continue;
		guest->given_up = true;
		agents = agents || agent;
		ksv_note("%s: the rest of its trace is abandoned: %s", guest->name, why);
		if (guest->pid > 0)
			kill(-guest->pid, SIGKILL);
	}
	if (agents)
		kill(record->recorder, SIGKILL);
}

/* --- the disk -------------------------------------------------------------------------------- */

static uint64_t file_bytes(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : (uint64_t)st.st_size;
}

/** What the host's trace may still take: it becomes as large as the files of CPUs, at most. */
static uint64_t host_needs(const struct record *record)
{
	char path[PATH_MAX + NAME_MAX];
	uint64_t bytes = 0, written;

	if (record->recorder <= 0 && record_has_trace(record->folder))
		return 0;
	for (int cpu = 0; record_kept_file(path, record->folder, cpu), !access(path, F_OK); cpu++)
		bytes += file_bytes(path);
	snprintf(path, sizeof(path), "%s/" RECORD_KVM_FILE, record->folder);
	written = file_bytes(path);
	return bytes > written ? bytes - written : 0;
}

/**
 * Guests by ssh send when the recording has been stopped, perhaps as the reserve was reached, and
 * may take half of it.
 */
static bool disk_is_short(const struct record *record)
{
	return record_disk_free(record->folder) <
	       record->options->reserve / 2 + host_needs(record);
}

/* --- notes ----------------------------------------------------------------------------------- */

/** Return: guests are waited for. */
static bool waiting_text(const struct finish *finish, char *text, size_t size)
{
	const struct record *record = finish->record;
	char guests[512], written[24];
	int n = awaited_guests(record, guests, sizeof(guests));

	record_size_text(record_folder_bytes(record->folder), written);
	if (n)
		snprintf(text, size, "waiting for %s, for %d s at most; %s are written", guests,
			 finish->limit - seconds_since(finish->begin), written);
	else
		snprintf(text, size, "waiting for the host's trace; %s are written", written);
	return n;
}

static void print_progress(struct finish *finish)
{
	int seconds = seconds_since(finish->begin);
	bool line = isatty(STDERR_FILENO);
	char text[700];

	if (finish->record->options->quiet || seconds < finish->noted + (line ? 1 : PROGRESS_S))
		return;
	finish->noted = seconds;
	waiting_text(finish, text, sizeof(text));
	if (line)
		fprintf(stderr, "\r%.100s\033[K", text);
	else
		ksv_note("%s", text);
}

/** A message takes the place of the line. */
static void end_line(const struct finish *finish)
{
	if (finish->noted && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/** The first one prints what is waited for, the second one gives guests up. */
static void take_signal(struct finish *finish)
{
	char text[700];
	bool guests;

	end_line(finish);
	guests = waiting_text(finish, text, sizeof(text));
	if (guests && finish->signals++) {
		give_up(finish, "Ctrl-C", false);
		return;
	}
	ksv_note("%s; %s", text, guests ? "another Ctrl-C abandons what guests have not sent, and "
		 "nothing else" : "it is not given up");
}

void record_finish(struct record *record)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	struct finish finish = { .record = record };

	finish.limit = record_limit("KSHARK_VIRT_GUESTS_S", GUESTS_S);
	finish.begin = seconds_since(0);
	while (reap(record)) {
		int number = record_next_signal(&pause);

		if (disk_is_short(record))
			give_up(&finish, "the disk is nearly full (--reserve)", true);
		if (seconds_since(finish.begin) >= finish.limit)
			give_up(&finish, "all have had their time", false);
		if (number > 0 && number != SIGCHLD)
			take_signal(&finish);
		else
			print_progress(&finish);
	}
	end_line(&finish);
}
