// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_run.c
 * @brief	Run the programs that record, and the command during which they do.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "regular_file.h"
#include "whole_file.h"

#define NO_PROGRAM	127

/** In the child: what we have changed of signals is not for others. */
static void signals_of_others(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

static void move_descriptor(int from, int to)
{
	if (from >= 0 && from != to) {
		dup2(from, to);
		close(from);
	}
}

__attribute__((noreturn))
static void run_program(const char *const argv[], int in, int out, int err)
{
	signals_of_others();
	move_descriptor(in, STDIN_FILENO);
	if (err == out && err >= 0) {
		dup2(out, STDERR_FILENO);
		err = -1;
	}
	move_descriptor(out, STDOUT_FILENO);
	move_descriptor(err, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	_exit(NO_PROGRAM);
}

bool record_wait(pid_t pid, int seconds, int *status)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	for (int i = 0; i <= seconds * 50; i++) {
		pid_t ended = waitpid(pid, status, WNOHANG);

		if (ended == pid || (ended < 0 && errno != EINTR))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

void record_wait_or_kill(pid_t pid, int seconds, int *status)
{
	if (record_wait(pid, seconds, status))
		return;
	if (kill(-pid, SIGKILL))
		kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		continue;
}

/**
 * Parent and child both do it: the child leads a group before the group may have to be ended. The
 * parent's call fails if the child runs its program already, which it does after its own call.
 */
static void lead_group(pid_t pid)
{
	if (pid > 0)
		setpgid(pid, pid);
}

/** Until the program closes its output, which it does when it ends. Return: is it in time? */
static bool read_answer(int fd, int seconds, char *text, size_t size)
{
	time_t until = time(NULL) + seconds;
	char more[4096];
	size_t n = 0;

	*text = '\0';
	for (;;) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		int left = (int)(until - time(NULL));
		ssize_t got;

		if (seconds && (left <= 0 || poll(&poll_fd, 1, left * 1000) <= 0))
			return false;
		got = read(fd, more, sizeof(more));
		if (got <= 0)
			return got == 0;
		if ((size_t)got > size - 1 - n)
			got = (ssize_t)(size - 1 - n);
		memcpy(text + n, more, (size_t)got);
		n += (size_t)got;
		text[n] = '\0';
	}
}

/* --- a program that changes settings of others ----------------------------------------------- */

/** Ends of a socket: the parent's, and the child's; it opens when the lock has the child's pid. */
struct gate {
	int	parent, child;
};

static const struct gate no_gate = { -1, -1 };

static int gate_make(struct gate *gate)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	*gate = (struct gate){ ends[0], ends[1] };
	return 0;
}

/** In the child: take the name that the lock's reader expects, and wait. */
static void gate_wait(const struct gate *gate, const char *name)
{
	char byte = 0;

	if (gate->child < 0)
		return;
	/* that of the parent closes when the parent ends */
	close(gate->parent);
	prctl(PR_SET_NAME, name);
	if (write(gate->child, &byte, 1) != 1 || read(gate->child, &byte, 1) != 1)
		_exit(NO_PROGRAM);
}

/** @pid: of the child, which may have failed */
static void gate_open(const struct gate *gate, struct record *record, pid_t pid,
		      void (*note)(struct record *record))
{
	char byte = 0;

	close(gate->child);
	if (pid > 0 && read(gate->parent, &byte, 1) == 1) {
		record->recorder = record->group = pid;
		note(record);
		send(gate->parent, &byte, 1, MSG_NOSIGNAL);
	}
	close(gate->parent);
}

/* --- programs -------------------------------------------------------------------------------- */

/** @gate, @record, @note: of a program that changes settings of others; or no_gate */
static int capture(const char *const argv[], int seconds, char *text, size_t size,
		   const struct gate *gate, struct record *record,
		   void (*note)(struct record *record))
{
	int ends[2], status = -1, null;
	bool in_time;
	pid_t pid;

	*text = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		gate_wait(gate, argv[0]);
		run_program(argv, null, ends[1], ends[1]);
	}
	lead_group(pid);
	if (note)
		gate_open(gate, record, pid, note);
	close(null);
	close(ends[1]);
	in_time = pid > 0 && read_answer(ends[0], seconds, text, size);
	for (size_t n = strlen(text); n && (text[n - 1] == '\n' || text[n - 1] == '\r'); n--)
		text[n - 1] = '\0';
	close(ends[0]);
	if (pid > 0 && !in_time)
		kill(-pid, SIGKILL);
	if (pid > 0 && !record_wait(pid, RECORD_ANSWER_S, &status))
		return -1;
	return pid > 0 && in_time && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int record_capture(const char *const argv[], int seconds, char *text, size_t size)
{
	return capture(argv, seconds, text, size, &no_gate, NULL, NULL);
}

int record_capture_noted(struct record *record, const char *const argv[], int seconds,
			 char *text, size_t size, void (*note)(struct record *record))
{
	struct gate gate;
	int status;

	*text = '\0';
	if (gate_make(&gate))
		return -1;
	status = capture(argv, seconds, text, size, &gate, record, note);
	record->recorder = record->group = 0;
	return status;
}

static int open_output(const struct record *record, const char *name, int flags)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", record->folder, name) < 0)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0644);
	free(path);
	return fd < 0 ? -errno : fd;
}

/** In the child: whatever happens to us, what is recorded becomes a file. */
__attribute__((noreturn))
static void run_recorder(const char *const argv[], pid_t parent, bool waits,
			 const struct gate *gate, int in, int out, int err)
{
	setpgid(0, 0);
	gate_wait(gate, argv[0]);
	/* the pipe of one that has it ends with us */
	if (!waits)
		prctl(PR_SET_PDEATHSIG, SIGINT);
	if (getppid() != parent)
		_exit(NO_PROGRAM);
	run_program(argv, in, out, err);
}

static pid_t spawn(struct record *record, const char *const argv[], int *input,
		   const char *output, const char *log, const struct gate *gate)
{
	int ends[2] = { -1, -1 }, err = open_output(record, log, O_APPEND), out = err, ret = 0;
	pid_t pid = -1, parent = getpid();

	if (err < 0)
		return err;
	if (output)
		out = open_output(record, output, O_EXCL);
	if (out < 0)
		ret = out;
	else if (input ? pipe2(ends, O_CLOEXEC) :
		 (ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
		ret = -errno;
	if (!ret) {
		pid = fork();
		if (!pid)
			run_recorder(argv, parent, input, gate, ends[0], out, err);
		lead_group(pid);
		ret = pid < 0 ? -errno : 0;
	}
	if (out >= 0 && out != err)
		close(out);
	close(err);
	if (ends[0] >= 0)
		close(ends[0]);
	if (input)
		*input = ends[1];
	return ret ? ret : pid;
}

pid_t record_spawn(struct record *record, const char *const argv[], int *input, const char *output,
		   const char *log)
{
	return spawn(record, argv, input, output, log, &no_gate);
}

pid_t record_spawn_noted(struct record *record, const char *const argv[], int *input,
			 const char *log, void (*note)(struct record *record))
{
	struct gate gate;
	pid_t pid;
	int ret = gate_make(&gate);

	if (ret)
		return ret;
	pid = spawn(record, argv, input, NULL, log, &gate);
	gate_open(&gate, record, pid, note);
	return pid;
}

pid_t record_spawn_output(struct record *record, const char *const argv[], int *output,
			  const char *log)
{
	int err = open_output(record, log, O_APPEND), in = -1, ends[2], ret = 0;
	pid_t pid = -1, parent = getpid();

	if (err < 0)
		return err;
	if (pipe2(ends, O_CLOEXEC)) {
		ret = -errno;
		close(err);
		return ret;
	}
	in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid = fork();
	if (!pid)
		run_recorder(argv, parent, false, &no_gate, in, ends[1], err);
	lead_group(pid);
	ret = pid < 0 ? -errno : pid;
	close(err);
	close(ends[1]);
	if (in >= 0)
		close(in);
	if (pid < 0)
		close(ends[0]);
	*output = pid < 0 ? -1 : ends[0];
	return ret;
}

bool record_log_says(const struct record *record, const char *log, const char *text)
{
	char path[PATH_MAX + NAME_MAX], *said;
	bool says = false;
	size_t size;

	snprintf(path, sizeof(path), "%s/%s", record->folder, log);
	if (!whole_file_read(path, RECORD_MIB, &said, &size)) {
		says = strstr(said, text);
		free(said);
	}
	return says;
}

int record_failed(const struct record *record, const char *log, const char *program,
		  const char *what)
{
	char path[PATH_MAX + NAME_MAX], *said = NULL, *end = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/%s", record->folder, log);
	if (whole_file_read(path, RECORD_MIB, &said, &size))
		said = NULL;
	for (size_t i = 0; said && i < size; i++)
		if (said[i] == '\n')
			said[i] = i + 1 < size ? ' ' : '\0';
	if (said)
		end = size > 400 ? said + size - 400 : said;
	ksv_error("%s %s; it says: %s", program, what, end && *end ? end : "nothing");
	free(said);
	return KSV_EXIT_FILE;
}

/** That of the user; (mode_t)-1: it is not changed. */
static mode_t user_umask = (mode_t)-1;

void record_keep_private(void)
{
	user_umask = umask(0077);
}

pid_t record_user(char *const argv[])
{
	pid_t pid = fork();

	if (!pid) {
		if (user_umask != (mode_t)-1)
			umask(user_umask);
		signals_of_others();
		execvp(argv[0], argv);
		ksv_error("%s: %s", argv[0], strerror(errno));
		_exit(NO_PROGRAM);
	}
	return pid < 0 ? -errno : pid;
}

/* --- what is left of a recorder -------------------------------------------------------------- */

/** How long its processes may take to write what they have. */
#define GROUP_S		5

bool record_process(int pid, char comm[32], int *group)
{
	char path[32], text[512], state;
	int parent;

	/* signals reach processes of this machine, whatever folder stands for its root */
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return pid > 0 && regular_file_start(path, text, sizeof(text)) > 0 &&
	       sscanf(text, "%*d (%31[^)]) %c %d %d", comm, &state, &parent, group) == 4 &&
	       state != 'Z';
}

/**
 * A signal for each process of a group that copies the kernel's pages
 * @number: of the signal; 0: none
 *
 * Return: how many there are.
 */
static int signal_group(int group, int number)
{
	const struct dirent *entry;
	int pid, found, n = 0;
	char comm[32];
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "%d", &pid) == 1 && record_process(pid, comm, &found) &&
		    found == group &&
		    (!strcmp(comm, "trace-cmd") || !strcmp(comm, RECORD_OWN_COMM)))
			n += !kill(pid, number);
	if (dir)
		closedir(dir);
	return n;
}

bool record_group_lives(int group)
{
	return group > 1 && signal_group(group, 0);
}

void record_end_group(int group)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	int number = SIGUSR1;

	/* SIGUSR1 is what trace-cmd itself ends them with */
	for (int i = 0; group > 1 && i < GROUP_S * 20; i++, number = 0) {
		if (!signal_group(group, number))
			return;
		nanosleep(&pause, NULL);
	}
	if (group > 1)
		signal_group(group, SIGKILL);
}
