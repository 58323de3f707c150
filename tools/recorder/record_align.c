// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_align.c
 * @brief	Align the clocks of guests that trace-cmd has not aligned, as "kshark-virt align
 *		--write" does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"
#include "record.h"

/** What is said if it fails. */
#define LOG	"align.log"
#define LOOK_NS	200000000L

/** Longest that it may take; a trace of ten seconds takes one. */
#define ALIGN_S	600

/** trace-cmd aligns those that it records by their agents. */
static bool any_by_ssh(const struct record *record)
{
	for (int i = 0; i < record->n_guests; i++) {
		const struct record_guest *guest = &record->guests[i];

		if (guest->how != RECORD_BY_SSH || !guest->file)
			continue;
		for (int k = 0; k < record->recording.n_files; k++)
			if (!strcmp(record->recording.files[k].name, guest->file))
				return true;
	}
	return false;
}

/** Where tests have a program in their tree, it takes the place of this one. */
static const char *program(char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/align", record_root());
	return *record_root() && !access(path, X_OK) ? path : "/proc/self/exe";
}

/** All is written: a signal ends the wait. Return: whether it has succeeded. */
static bool await(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	int status = 0;

	for (int64_t i = 0; waitpid(pid, &status, WNOHANG) != pid; i++) {
		int number = record_next_signal(&pause);

		if (number != SIGCHLD && (number > 0 || i * LOOK_NS >= ALIGN_S * 1000000000LL)) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return false;
		}
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

void record_align_left(struct record *record)
{
	char path[PATH_MAX], said[4096], *word;
	const char *argv[] = { program(path), "align", "--quiet", "--write", record->left_folder,
			       NULL };

	if (!record->left_folder)
		return;
	ksv_note("%s: aligning the clocks of guests ...", record->left_folder);
	/* all is written: a signal may end us */
	record_unblock_signals();
	word = record_capture(argv, ALIGN_S, said, sizeof(said)) ?
	       escape_shell_dup(record->left_folder) : NULL;
	if (word)
		ksv_note("%s: some guests are not aligned; for the reasons, run kshark-virt align "
			 "--write %s", record->left_folder, word);
	free(word);
}

void record_align(struct record *record)
{
	char path[PATH_MAX], log[PATH_MAX + NAME_MAX];
	const char *argv[] = { program(path), "align", "--quiet", "--write", record->folder,
			       NULL };
	pid_t pid;

	if (!any_by_ssh(record))
		return;
	ksv_note("aligning the clocks of guests ...");
	pid = record_spawn(record, argv, NULL, NULL, LOG);
	if (pid < 0 || !await(pid)) {
		ksv_note("%s: some guests are not aligned; for the reasons, run 'kshark-virt "
			 "align'",
			 record->options->folder);
		return;
	}
	snprintf(log, sizeof(log), "%s/" LOG, record->folder);
	unlink(log);
}
