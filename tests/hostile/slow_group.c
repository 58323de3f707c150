/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	slow_group.c
 * @brief	For LD_PRELOAD: a process that makes itself the leader of a group takes its time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

int setpgid(pid_t pid, pid_t group)
{
	const struct timespec while_others_run = { .tv_sec = 1 };

	if (!pid)
		nanosleep(&while_others_run, NULL);
	return ((int (*)(pid_t, pid_t))dlsym(RTLD_NEXT, "setpgid"))(pid, group);
}
