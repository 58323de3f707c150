// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	pager.c
 * @brief	The program that shows long text on a terminal page by page.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pager.h"

/** The running pager. A signal handler reads it. */
static struct {
	volatile sig_atomic_t	pid;		/* 0: none */
	int			input;
	int			stderr_before;	/* -1: messages go where they always go */
} pager = { .stderr_before = -1 };

static bool disabled;

void pager_disable(void)
{
	disabled = true;
}

/** The user's choice, a command for the shell. Return: NULL for none. */
static const char *pager_command(void)
{
	const char *command = getenv("KSHARK_VIRT_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return disabled || !command[strspn(command, " ")] || !strcmp(command, "cat") ? NULL :
										       command;
}

/** In the child: signals that the command ignores. Handlers end with exec anyway. */
static void reset_signals(void)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

/** Does the shell know the first word of a command? It would complain about another one. */
static bool is_known(const char *command)
{
	size_t size = strcspn(command += strspn(command, " "), " ");
	char *word = strndup(command, size);
	int status = -1;
	pid_t pid;

	/* the shell has to expand it: it may be anything */
	if (word && strpbrk(word, "=$`'\"\\|&;<>()*?[{~")) {
		free(word);
		return true;
	}
	pid = word ? fork() : -1;
	if (!pid) {
		reset_signals();
		execl("/bin/sh", "sh", "-c", "command -v \"$1\" >/dev/null 2>&1", "sh", word,
		      (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(word);
	return !status;
}

static void run_pager(const char *command, int input)
{
	reset_signals();
	/* quit if all fits on one screen, show colours, leave the text on the screen */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	if (dup2(input, STDIN_FILENO) < 0)
		_exit(127);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/** Collect messages of a terminal in memory. */
static void keep_messages(void)
{
	int memory = isatty(STDERR_FILENO) ? memfd_create("messages", MFD_CLOEXEC) : -1;

	if (memory < 0)
		return;
	fflush(stderr);
	pager.stderr_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (pager.stderr_before >= 0)
		dup2(memory, STDERR_FILENO);
	close(memory);
}

int pager_start(void)
{
	const char *command = pager_command();
	int ends[2];
	pid_t pid;

	if (!command || pager.pid || !is_known(command) || pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		run_pager(command, ends[0]);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return -1;
	}
	keep_messages();
	pager.input = ends[1];
	pager.pid = pid;
	return pager.input;
}

/** Print the messages that came while the pager was running. */
static void print_messages(void)
{
	char text[4096];
	ssize_t n;

	if (pager.stderr_before < 0)
		return;
	lseek(STDERR_FILENO, 0, SEEK_SET);
	while ((n = read(STDERR_FILENO, text, sizeof(text))) > 0)
		if (write(pager.stderr_before, text, (size_t)n) != n)
			break;
	dup2(pager.stderr_before, STDERR_FILENO);
	close(pager.stderr_before);
	pager.stderr_before = -1;
}

void pager_end(void)
{
	pid_t pid = pager.pid;
	int status;

	if (!pid)
		return;
	if (pager.input >= 0)
		close(pager.input);
	pager.input = -1;
	/* a signal that comes while it waits has to wait, too */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	pager.pid = 0;
	print_messages();
}
