// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * events switch|syscall N: make about N events of this kind on CPU 0, as fast as it goes. Prints how many
 * there were and how many ns it took, by CLOCK_MONOTONIC.
 *
 * switch: two threads wake each other in turns, and none of them is ever idle: sched_switch.
 * syscall: getppid(), which is entered and left: sys_enter, sys_exit.
 *
 * events read FILE...: take all that is in ftrace's per_cpu/cpuN/trace_pipe_raw. Prints how many bytes that are;
 * the empty rest of a page is none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static long n;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void *answer(void *unused)
{
	char byte;

	(void)unused;
	for (long i = 0; i < n / 2; i++)
		if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			fail("pipe");
	return NULL;
}

static long make_switches(void)
{
	long before = switches();
	pthread_t thread;
	char byte = 0;

	if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
		fail("pipe");
	for (long i = 0; i < n / 2; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			fail("pipe");
	pthread_join(thread, NULL);
	return switches() - before;
}

static long make_syscalls(void)
{
	for (long i = 0; i < n / 2; i++)
		syscall(SYS_getppid);
	return n / 2 * 2;
}

/* A page begins with its time and how many bytes follow these 16: the header of Linux's events/header_page. */
static long read_pages(const char *path)
{
	static uint64_t page[65536 / sizeof(uint64_t)];
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	long bytes = 0;

	if (fd < 0)
		fail(path);
	while (read(fd, page, getpagesize()) > 0)
		bytes += 16 + (long)(page[1] & 0xfffff);
	close(fd);
	return bytes;
}

int main(int argc, char **argv)
{
	long begin, made = 0;
	cpu_set_t cpus;

	if (argc > 2 && !strcmp(argv[1], "read")) {
		for (int i = 2; i < argc; i++)
			made += read_pages(argv[i]);
		printf("%ld\n", made);
		return 0;
	}

	n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	if (n < 2 || (strcmp(argv[1], "switch") && strcmp(argv[1], "syscall"))) {
		fprintf(stderr, "usage: events switch|syscall N, events read FILE...\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		fail("sched_setaffinity");
	begin = now_ns();
	made = strcmp(argv[1], "switch") ? make_syscalls() : make_switches();
	printf("%ld %ld\n", made, now_ns() - begin);
	return 0;
}
