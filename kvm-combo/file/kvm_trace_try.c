// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_trace_try.c
 * @brief	See whether libtracecmd survives a file, in another process.
 *
 * libtracecmd and libtraceevent trust formats of events, sizes and offsets, those of pages, too: a
 * damaged file can make them crash, or never come to an end. So all of it is read.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "kvm_trace.h"

/** What it may take at most: some hundred times what it does take. */
#define SECONDS		20
#define SECONDS_PER	(256 << 10)	/* bytes, which may be compressed, for one more */

enum { TRY_OK, TRY_REFUSED = 77, TRY_CALLS };

static void limit(int resource, rlim_t most)
{
	const struct rlimit to = { most, most };

	setrlimit(resource, &to);
}

static rlim_t seconds_for(const char *path)
{
	struct stat st;

	return SECONDS + (stat(path, &st) ? 0 : (rlim_t)(st.st_size / SECONDS_PER));
}

static int see_call(void *arg, const struct kvm_trace_record *record)
{
	*(bool *)arg |= record->call != NULL;
	return 0;
}

__attribute__((noreturn))
static void try_here(const char *path, int answer)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGXCPU };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct kvm_trace *trace;
	char problem[512] = "";
	bool calls = false;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		signal(ends[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* what libtracecmd prints, it prints when the file is opened for good */
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, seconds_for(path));
	trace = kvm_trace_open(path, problem, sizeof(problem));
	if (trace) {
		kvm_trace_walk(trace, see_call, NULL, &calls);
		_exit(calls ? TRY_CALLS : TRY_OK);
	}
	_exit(write(answer, problem, strlen(problem)) < 0 ? TRY_OK : TRY_REFUSED);
}

static size_t read_all(int fd, char *text, size_t size)
{
	size_t n = 0;

	while (n < size - 1) {
		ssize_t got = read(fd, text + n, size - 1 - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	text[n] = '\0';
	return n;
}

static bool explain(const char *path, int status, char *error, size_t size)
{
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == TRY_OK || WEXITSTATUS(status) == TRY_CALLS))
		return true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRY_REFUSED)
		return false;
	snprintf(error, size, "%s: damaged: libtracecmd %s on it. Copy it again, if there is "
		 "another one", path, WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ?
		 "comes to no end" : "crashes");
	return false;
}

bool kvm_trace_try_calls(const char *path, bool *calls, char *error, size_t size)
{
	int pipe_fds[2], status;
	pid_t pid;

	*calls = false;
	/* kvm_trace_open() reports a file that cannot be opened */
	trace_dat_hold(path);
	/* if there is no room for another process, what follows will tell */
	if (pipe2(pipe_fds, O_CLOEXEC))
		return true;
	fflush(NULL);
	pid = fork();
	if (!pid)
		try_here(path, pipe_fds[1]);
	close(pipe_fds[1]);
	if (pid > 0)
		read_all(pipe_fds[0], error, size);
	close(pipe_fds[0]);
	if (pid < 0)
		return true;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return true;
	*calls = WIFEXITED(status) && WEXITSTATUS(status) == TRY_CALLS;
	return explain(path, status, error, size);
}

bool kvm_trace_try(const char *path, char *error, size_t size)
{
	bool calls;

	return kvm_trace_try_calls(path, &calls, error, size);
}
