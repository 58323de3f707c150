// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_loop.c
 * @brief	The loop of a running recording: a line of progress, and the reasons to stop.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

/** Between two looks. */
#define LOOK_NS		200000000L

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 };

/** A signal is an event like others, not an interruption: what is recorded has to be finished. */
static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(stop_signals); i++) {
		struct sigaction action;

		/* under nohup, for example, it stays ignored */
		if (!sigaction(stop_signals[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(set, stop_signals[i]);
	}
	sigaddset(set, SIGCHLD);
}

void record_block_signals(void)
{
	sigset_t set;

	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void record_unblock_signals(void)
{
	sigset_t set;

	signal_set(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int record_next_signal(const struct timespec *pause)
{
	sigset_t set;

	signal_set(&set);
	return sigtimedwait(&set, NULL, pause);
}

int64_t record_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t record_folder_bytes(const char *folder)
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);
	uint64_t bytes = 0;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (!record_is_kept(entry->d_name) && !fstatat(dirfd(dir), entry->d_name, &st,
		    AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	if (dir)
		closedir(dir);
	return bytes;
}

uint64_t record_disk_free(const char *folder)
{
	struct statvfs fs;

	return statvfs(folder, &fs) ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize;
}

/** "3 days", "5 hours", "12 minutes" */
static const char *time_text(uint64_t seconds, char text[32])
{
	if (seconds >= 2 * 86400)
		snprintf(text, 32, "%llu days", (unsigned long long)seconds / 86400);
	else if (seconds >= 2 * 3600)
		snprintf(text, 32, "%llu hours", (unsigned long long)seconds / 3600);
	else if (seconds >= 120)
		snprintf(text, 32, "%llu minutes", (unsigned long long)seconds / 60);
	else
		snprintf(text, 32, "%llu s", (unsigned long long)seconds);
	return text;
}

void record_expect(const struct record *record, uint64_t bytes_per_second)
{
	const struct record_options *options = record->options;
	uint64_t room = record_disk_free(record->folder);
	char rate[24], left[24], how_long[32];

	room = room > options->reserve ? room - options->reserve : 0;
	if (options->limit && options->limit < room)
		room = options->limit;
	if (!bytes_per_second) {
		ksv_note("expected: hardly anything happens now; there is room for %s",
			 record_size_text(room, left));
		return;
	}
	ksv_note("expected: about %s/s as things are now; there is room for %s, or %s",
		 record_size_text(bytes_per_second, rate), record_size_text(room, left),
		 time_text(room / bytes_per_second, how_long));
}

/** @since, @look: seconds since it began, and since @before was counted */
static void show(const struct record *record, const struct record_count *before, double since,
		 double look)
{
	const struct record_count *count = &record->count;
	uint64_t more = count->records > before->records ? count->records - before->records : 0;
	char size[24], left[24];

	if (record->options->quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%7.1f s  %.0f records/s  %s  %llu lost  %s left\033[K", since,
		look > 0 ? (double)more / look : 0.0, record_size_text(count->bytes, size),
		(unsigned long long)count->lost,
		record_size_text(record_disk_free(record->folder), left));
	fflush(stderr);
}

static void take_line_away(const struct record *record)
{
	if (!record->options->quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* --- reasons to stop ------------------------------------------------------------------------- */

static bool has_ended(pid_t *pid, int *status)
{
	if (*pid <= 0 || waitpid(*pid, status, WNOHANG) != *pid)
		return false;
	*pid = 0;
	return true;
}

/** What is written at the end needs room again: there are two copies for a moment. */
static enum record_stop judge_room(const struct record *record, int copies)
{
	const struct record_options *options = record->options;
	uint64_t needed = options->reserve + record->count.bytes * (uint64_t)(copies - 1);
	uint64_t left, kept;

	/* that of a flight recorder is one of what it keeps */
	if (options->limit && !options->flight_ns && record->count.bytes >= options->limit)
		return RECORD_LIMIT;
	if (record_memory_is_short(record, &left, &kept))
		return RECORD_MEMORY;
	return record_disk_free(record->folder) < needed ? RECORD_RESERVE : RECORD_ON;
}

static enum record_stop judge(struct record *record, int signal, int64_t since, int copies)
{
	const struct record_options *options = record->options;

	if (signal == SIGUSR1 && options->flight_ns)
		return RECORD_ASKED;
	if (signal > 0 && signal != SIGCHLD) {
		record->signal = signal;
		return RECORD_SIGNAL;
	}
	if (has_ended(&record->user, &record->user_status))
		return RECORD_COMMAND;
	if (has_ended(&record->recorder, &record->recorder_status))
		return RECORD_DIED;
	if (options->duration.kind && record_now_ns() - since >= options->duration.ns)
		return RECORD_DURATION;
	return judge_room(record, copies);
}

/** Take what comes from a descriptor during the pause. */
static int wait_and_take(struct record *record, const struct record_watch *watch,
			 const struct timespec *pause)
{
	int64_t until = record_now_ns() + pause->tv_nsec, left;
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo info = { 0 };
	sigset_t set;

	signal_set(&set);
	fds[0].fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	while ((left = until - record_now_ns()) > 0 && !info.ssi_signo) {
		fds[1].fd = watch->fd(record);
		if (poll(fds, 2, (int)(left / 1000000) + 1) <= 0)
			continue;
		if (fds[1].revents)
			watch->take(record);
		if (fds[0].revents && read(fds[0].fd, &info, sizeof(info)) != sizeof(info))
			info.ssi_signo = 0;
	}
	close(fds[0].fd);
	return info.ssi_signo ? (int)info.ssi_signo : -1;
}

/** Until the next look, a signal, or the end of the time. */
static int wait_next(struct record *record, const struct record_watch *watch, int64_t since)
{
	const struct ksv_time *duration = &record->options->duration;
	struct timespec pause = { .tv_nsec = LOOK_NS };

	if (duration->kind) {
		int64_t left = since + duration->ns - record_now_ns();

		if (left < LOOK_NS)
			pause.tv_nsec = left > 0 ? (long)left : 0;
	}
	return watch->fd ? wait_and_take(record, watch, &pause) : record_next_signal(&pause);
}

int record_loop(struct record *record, const struct record_watch *watch)
{
	int64_t looked = record_now_ns(), since = record->began_ns ? record->began_ns : looked;

	record->began_ns = since;
	if (record->options->command && !record->user_began) {
		record->user_began = true;
		record->user = record_user(record->options->command);
		if (record->user < 0)
			return KSV_EXIT_FILE;
	}
	watch->count(record, &record->count);
	while (!record->stop) {
		const struct record_count before = record->count;
		int signal = wait_next(record, watch, since);
		int64_t now = record_now_ns();

		record->count.bytes = record_folder_bytes(record->folder);
		watch->count(record, &record->count);
		show(record, &before, (double)(now - since) / 1e9, (double)(now - looked) / 1e9);
		looked = now;
		record->stop = judge(record, signal, since, watch->copies);
		if (!record->stop && watch->look)
			record->stop = watch->look(record);
	}
	take_line_away(record);
	return KSV_EXIT_OK;
}
