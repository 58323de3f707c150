// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_apart.c
 * @brief	The first steps of a process that reads a hostile file for another one.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "array.h"
#include "close_others.h"
#include "kvm_apart.h"

void kvm_apart_settle(const int *keep, size_t n)
{
	/* the other process handles these, and this one ends with it */
	static const int not_ours[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE };
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGALRM };
	const struct rlimit none = { 0, 0 };
	sigset_t empty;
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_others(keep, n);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(not_ours); i++)
		signal(not_ours[i], SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		signal(fatal[i], SIG_DFL);
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setrlimit(RLIMIT_CORE, &none);
}

/** Bytes that this process has for data. */
static uint64_t data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (file && fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)getpagesize();
}

#ifdef KSV_SANITIZE_ADDRESS
#define HAS_LIMIT	false
#else
#define HAS_LIMIT	true
#endif

void kvm_apart_limit_memory(uint64_t bytes)
{
	uint64_t most = data_bytes() + KVM_APART_MEMORY + bytes;
	struct rlimit limit;

	if (!HAS_LIMIT || getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	setrlimit(RLIMIT_DATA, &limit);
}

void kvm_apart_limit(uint64_t bytes)
{
	rlim_t seconds = KVM_APART_SECONDS + (rlim_t)(bytes / KVM_APART_SECONDS_PER);
	struct rusage used = { 0 };
	struct rlimit limit;

	getrusage(RUSAGE_SELF, &used);
	if (getrlimit(RLIMIT_CPU, &limit))
		return;
	limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CPU, &limit);
}
