// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	view_start.c
 * @brief	KernelShark's command line and environment; starting it and waiting for its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctf_folder.h"
#include "escape.h"
#include "options.h"
#include "own_directory.h"
#include "trace_dat.h"
#include "view.h"

/* --- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught_signal;
static volatile sig_atomic_t child_pid;

/** KernelShark gets what we get; without it, the signal ends our preparations. */
static void on_signal(int number)
{
	if (number != SIGALRM)
		caught_signal = number;
	if (child_pid > 0 && number != SIGALRM)
		kill((pid_t)child_pid, number);
	/* a wait for a pipe that was about to begin missed it: again, until it is handled */
	else if (child_pid <= 0)
		alarm(1);
}

static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };

void view_catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal }, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		/* under nohup, for example, it stays ignored */
		if (!sigaction(caught[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(caught[i], &action, NULL);
	sigaction(SIGALRM, &action, NULL);
}

/** What KernelShark begins with. */
static void default_signals(void)
{
	static const int ignored[] = { SIGPIPE, SIGXFSZ };
	struct sigaction now;

	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		if (!sigaction(caught[i], NULL, &now) && now.sa_handler == on_signal)
			signal(caught[i], SIG_DFL);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_DFL);
}

int view_signal(void)
{
	return caught_signal;
}

/* --- command line and environment ------------------------------------------------------------ */

static char **build_argv(const struct view_start *start)
{
	char **argv = calloc(6 + 2 * start->n_names + start->n_extra, sizeof(*argv));
	int n = 0;

	if (!argv)
		return NULL;
	/* Nothing here is written to; execv() only lacks the const. */
	argv[n++] = (char *)(uintptr_t)start->program;
	argv[n++] = (char *)(uintptr_t)"-p";
	argv[n++] = (char *)(uintptr_t)start->plugins;
	if (start->session) {
		argv[n++] = (char *)(uintptr_t)"-s";
		argv[n++] = (char *)(uintptr_t)start->session;
	}
	for (int i = 0; i < start->n_names; i++) {
		if (i > 0)
			argv[n++] = (char *)(uintptr_t)"-a";
		argv[n++] = start->names[i];
	}
	for (int i = 0; i < start->n_extra; i++)
		argv[n++] = start->extra[i];
	return argv;
}

/** What our options become in the environment of KernelShark, for our plugins. */
struct variable {
	const char	*name, *value;
};

enum { MAX_VARIABLES = 6 };

static int find_variables(const struct view_start *start, struct variable *variables)
{
	int n = 0;

	if (start->hz[0])
		variables[n++] = (struct variable){ "XEN_CPUHZ", start->hz };
	if (start->max_input[0])
		variables[n++] = (struct variable){ "XEN_MAX_INPUT", start->max_input };
	if (start->absolute)
		variables[n++] = (struct variable){ "XEN_ABSTS", "1" };
	if (start->correct_skew)
		variables[n++] = (struct variable){ "XEN_TSC_SKEW", "correct" };
	/* a session has the combos that it was saved with */
	if (start->no_combos || start->session)
		variables[n++] = (struct variable){ "KSHARK_VIRT_COMBOS", "0" };
	if (start->view)
		variables[n++] = (struct variable){ VIEW_STATE, start->view };
	return n;
}

/** One word as the shell reads it. */
static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./,:=+@%";

	const char *end = word + strlen(word), *at = word;
	char piece[ESCAPE_PIECE];
	bool plain_text = true;
	size_t n;

	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, stdout);
		return;
	}
	while (plain_text && (n = escape_next(&at, end, piece)))
		plain_text = *piece != '\\' || piece[1] == '\\';
	fputs(plain_text ? "'" : "$'", stdout);
	for (const char *from = at = word; escape_next(&at, end, piece); from = at) {
		if (*from == '\'')
			fputs(plain_text ? "'\\''" : "\\'", stdout);
		else if (*piece != '\\' || plain_text)
			fwrite(from, 1, (size_t)(at - from), stdout);
		else if (*from == '\\')
			fputs("\\\\", stdout);
		/* bytes mean the same to the shell whatever the locale is */
		while (*piece == '\\' && *from != '\\' && from < at)
			printf("\\x%02x", (unsigned char)*from++);
	}
	putchar('\'');
}

static void print_command(const struct view_start *start, char **argv)
{
	struct variable variables[MAX_VARIABLES];
	int n = find_variables(start, variables);

	for (int i = 0; i < n; i++) {
		printf("%s=", variables[i].name);
		print_word(variables[i].value);
		putchar(' ');
	}
	for (int i = 0; argv[i]; i++) {
		if (i)
			putchar(' ');
		print_word(argv[i]);
	}
	putchar('\n');
}

static void set_environment(const struct view_start *start)
{
	struct variable variables[MAX_VARIABLES];
	char *folder = own_directory();
	int n = find_variables(start, variables);

	for (int i = 0; i < n; i++)
		setenv(variables[i].name, variables[i].value, 1);
	if (folder)
		setenv(VIEW_FOLDER, folder, 1);
	free(folder);
}

/* --- the run --------------------------------------------------------------------------------- */

/* --- the display ----------------------------------------------------------------------------- */

/** Does an X server listen at this address? @abstract: it is no file */
static bool listens(const char *path, bool abstract)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool answers;

	snprintf(address.sun_path + abstract, sizeof(address.sun_path) - abstract, "%s", path);
	answers = fd >= 0 && !connect(fd, (const struct sockaddr *)&address,
				      (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
						  abstract + strlen(path)));
	if (fd >= 0)
		close(fd);
	return answers;
}

/** Is a display of this host without a server? Others, as those of ssh -X, are not asked. */
static bool is_dead(const char *display)
{
	char path[64];
	int number;

	if (!strncmp(display, "unix:", 5))
		display += 4;
	if (sscanf(display, ":%d", &number) != 1)
		return false;
	snprintf(path, sizeof(path), "/tmp/.X11-unix/X%d", number);
	return !listens(path, false) && !listens(path, true);
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/** Return: KSV_EXIT_OK if Qt can show a window; else an exit status, after a message. */
static int check_display(void)
{
	const char *display = variable("DISPLAY");

	/* QT_QPA_PLATFORM may name a platform without a display */
	if (variable("QT_QPA_PLATFORM") || (display && !is_dead(display)))
		return KSV_EXIT_OK;
	if (display)
		ksv_error("DISPLAY is %s, but no X server answers there", display);
	else if (variable("WAYLAND_DISPLAY"))
		ksv_error("only WAYLAND_DISPLAY is set, but KernelShark needs X: start Xwayland "
			  "and set DISPLAY, or try QT_QPA_PLATFORM=wayland");
	else
		ksv_error("no display: DISPLAY is not set");
	fputs("From another computer, log in with 'ssh -X'. Without a display, 'kshark-virt plot "
	      "-o FILE.svg TRACE'\nmakes a picture.\n", stderr);
	return KSV_EXIT_USAGE;
}

/**
 * Folders that have been converted: KernelShark's process, which has the number of this one, gets
 * the copies, so that plugin-lttng does not convert them again. Without memory, it does.
 */
static void hand_copies(const struct view_start *start)
{
	char *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);
	struct stat st;

	if (!out)
		return;
	fprintf(out, "%d", (int)getpid());
	for (int i = 0; i < start->n_names; i++) {
		int fd = held_file_fd(start->names[i]);

		if (fd >= 0 && !strchr(start->names[i], '\n') &&
		    !stat(start->names[i], &st) && S_ISDIR(st.st_mode) &&
		    !fcntl(fd, F_SETFD, 0))
			fprintf(out, "\n%d %s", fd, start->names[i]);
	}
	if (!fclose(out))
		setenv(CTF_COPIES, lines, 1);
	free(lines);
}

/** Start KernelShark and wait for its end. Return: its exit status. */
static int run_kernelshark(const struct view_start *start, char **argv)
{
	sigset_t block, before;
	int status = 0;
	pid_t pid;

	set_environment(start);
	sigemptyset(&block);
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		sigaddset(&block, caught[i]);
	sigprocmask(SIG_BLOCK, &block, &before);
	if (caught_signal) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return 128 + caught_signal;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		default_signals();
		sigprocmask(SIG_SETMASK, &before, NULL);
		hand_copies(start);
		execvp(argv[0], argv);
		ksv_error("cannot start %s: %s; install KernelShark (Debian: apt-get install "
			  "kernelshark) or set KERNELSHARK", argv[0], strerror(errno));
		_exit(KSV_EXIT_USAGE);
	}
	child_pid = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0) {
		ksv_error("cannot start %s: %s", argv[0], strerror(errno));
		return KSV_EXIT_FILE;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child_pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int view_start(const struct view_start *start, bool dry_run)
{
	char **argv = build_argv(start);
	int status = KSV_EXIT_OK;

	if (!argv)
		return KSV_EXIT_FILE;
	if (dry_run) {
		print_command(start, argv);
	} else {
		status = check_display();
	}
	if (!dry_run && !status)
		status = run_kernelshark(start, argv);
	free(argv);
	return status;
}
