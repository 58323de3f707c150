// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_end.c
 * @brief	Write recording.json at the beginning and at the end, and print the last messages.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "escape.h"
#include "record.h"

static int set_time(char **text)
{
	time_t now = time(NULL);
	struct tm tm;
	char iso[32];

	gmtime_r(&now, &tm);
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return recording_text(text, iso);
}

int record_write_state(struct record *record)
{
	char error[512];

	if (!recording_write(record->folder, &record->recording, error, sizeof(error)))
		return KSV_EXIT_OK;
	ksv_error("%s", error);
	return KSV_EXIT_FILE;
}

/** From now on, the folder itself says what it is, however this ends. */
int record_begin(struct record *record)
{
	struct recording *recording = &record->recording;
	bool xen = record->options->hypervisor == RECORDING_XEN;
	struct utsname system;

	uname(&system);
	if (record_lock_note_folder(record))
		ksv_note("cannot write to /run: if this program is killed, the state in %s stays "
			 "\"recording\"", record->options->folder);
	recording->hypervisor = (enum recording_hypervisor)record->options->hypervisor;
	recording->tsc_mult = record->scale.mult;
	recording->tsc_shift = record->scale.shift;
	if (set_time(&recording->begin) ||
	    recording_text(&recording->events,
			   record->options->events ? record->options->events : "default") ||
	    recording_add_program(recording, "kshark-virt", KSHARK_VIRT_VERSION) ||
	    recording_add_program(recording, "kernel", system.release) ||
	    recording_add_program(recording, xen ? "xen" : "trace-cmd", record->version)) {
		ksv_error("not enough memory");
		return KSV_EXIT_FILE;
	}
	return KSV_EXIT_OK;
}

/* --- the end --------------------------------------------------------------------------------- */

/** Why it is shorter than was asked for, or NULL. */
static const char *early(const struct record *record, char text[128])
{
	const struct record_options *options = record->options;
	bool asked = options->duration.kind || options->command;

	switch (record->stop) {
	case RECORD_SIGNAL:
		if (record->signal == SIGINT && !asked)
			return NULL;
		snprintf(text, 128, "%s", record->signal == SIGINT ? "Ctrl-C" :
			 strsignal(record->signal));
		return text;
	case RECORD_LIMIT:
		return "the folder reached its limit (--limit)";
	case RECORD_RESERVE:
		return "the disk is nearly full (--reserve)";
	case RECORD_MEMORY:
		return "memory is nearly used up (--reserve)";
	case RECORD_DURATION:
		/* the command goes on */
		return NULL;
	default:
		return NULL;
	}
}

static void report_command(const struct record *record)
{
	int status = record->user_status;

	if (record->stop != RECORD_COMMAND)
		return;
	if (WIFSIGNALED(status))
		ksv_note("%s was ended by signal %d", record->options->command[0],
			 WTERMSIG(status));
	else if (WEXITSTATUS(status))
		ksv_note("%s has ended with status %d", record->options->command[0],
			 WEXITSTATUS(status));
}

/** The number of records of the host's trace is left out if it is unknown. */
static void report_size(const struct record *record)
{
	const struct recording *recording = &record->recording;
	char records[48] = "", size[24];

	for (int i = 0; i < recording->n_files; i++)
		if (recording->files[i].role == RECORDING_HOST && recording->files[i].records >= 0)
			snprintf(records, sizeof(records), "%lld records, ",
				 (long long)recording->files[i].records);
	ksv_note("%s%s, in %s", records,
		 record_size_text(record_folder_bytes(record->folder), size),
		 record->options->folder);
}

/** Without records of the host, no command has an answer. */
static bool has_records(const struct record *record)
{
	const struct recording *recording = &record->recording;

	for (int i = 0; i < recording->n_files; i++)
		if (recording->files[i].role == RECORDING_HOST && recording->files[i].records)
			return true;
	return false;
}

/** What one does next. */
static void print_next(const struct record *record)
{
	char *folder = has_records(record) ? escape_shell_dup(record->options->folder) : NULL;

	if (!folder)
		return;
	printf("kshark-virt view %s\n"
	       "kshark-virt report %s\n"
	       "kshark-virt report --worst 10 %s\n", folder, folder, folder);
	free(folder);
}

/** recording.json says of no trace that it is there before it survives a loss of power. */
static int sync_traces(const struct record *record)
{
	const struct recording *recording = &record->recording;
	int ret = 0;

	for (int i = 0; i < recording->n_files && !ret; i++)
		ret = record_sync(record->folder, recording->files[i].name);
	if (!ret)
		ret = record_sync(record->folder, ".");
	if (ret)
		ksv_error("%s: cannot write: %s", record->options->folder, strerror(-ret));
	return ret ? KSV_EXIT_FILE : KSV_EXIT_OK;
}

static int set_state(struct record *record, int *status)
{
	struct recording *recording = &record->recording;
	int unsafe = sync_traces(record);
	char text[128];
	const char *why = early(record, text);

	recording->state = RECORDING_COMPLETE;
	if (*status || unsafe || record->stop == RECORD_DIED) {
		recording->state = RECORDING_FAILED;
		why = record->nothing ? "nothing was recorded" :
		      unsafe ? "its traces could not be written to the disk" :
		      "the recording program failed or ended by itself";
		if (!record->nothing && !unsafe)
			ksv_error("%s", why);
		*status = *status ? *status : unsafe;
	} else if (why) {
		recording->state = RECORDING_STOPPED;
		ksv_note("stopped early: %s", why);
	}
	if ((why && recording_text(&recording->reason, why)) || set_time(&recording->end))
		return KSV_EXIT_FILE;
	return record_write_state(record);
}

static void wait_for_user(struct record *record)
{
	int status;

	if (record->user <= 0 || record->goes_on)
		return;
	ksv_note("%s goes on", record->options->command[0]);
	/* nothing is left to be finished: a signal may end us */
	record_unblock_signals();
	waitpid(record->user, &status, 0);
}

/* --- what has not begun ---------------------------------------------------------------------- */

/** The files about a trace that a recorder has written; the trace itself is none of them. */
static bool is_about(const char *name)
{
	static const char *const names[] = {
		RECORDING_FILE, RECORD_KVM_FILE ".log", RECORD_KVM_FILE ".meta.json",
		RECORD_KVM_FILE HOST_SAMPLES_ENDING,
		RECORD_XEN_FILE ".log", RECORD_XEN_FILE ".meta.json",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/** Each file without content, or about a trace. Return: there are others */
static bool remove_files(DIR *dir, bool really)
{
	const struct dirent *entry;
	bool others = false;
	struct stat st;

	rewinddir(dir);
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
		    (st.st_size && !is_about(name)))
			others = true;
		else if (really)
			unlinkat(dirfd(dir), name, 0);
	}
	return others;
}

/**
 * Remove the folder of a recording that has failed before it began, or its content if the folder
 * was there, empty. Return: whether nothing is left; if there is any data, all of it stays.
 */
static bool discard(const struct record *record)
{
	DIR *dir = opendir(record->folder);
	bool others = !dir || remove_files(dir, false);

	if (!others)
		remove_files(dir, true);
	if (dir)
		closedir(dir);
	return !others && (!record->made || !rmdir(record->folder));
}

int record_end(struct record *record, int status)
{
	if (!record->recording.begin)
		return status;
	if (status && !record->began_ns && !record->recording.n_files && !record->names_files &&
	    discard(record)) {
		ksv_note("nothing was recorded, so that %s is %s", record->folder,
			 record->made ? "removed" : "empty again");
		return status;
	}
	record->unfinished = set_state(record, &status);
	if (record->unfinished)
		status = KSV_EXIT_FILE;
	/* if this process is killed from now on, the next recorder has nothing to restore */
	if (!record->goes_on)
		record_lock_drop(record);
	if (record->stop == RECORD_DIED && !status)
		status = KSV_EXIT_FILE;
	record_report_losses(record);
	report_command(record);
	if (record->recording.n_files) {
		report_size(record);
		record_align(record);
		print_next(record);
	}
	wait_for_user(record);
	return status;
}
