// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_own.c
 * @brief	Record a KVM host into an instance of tracefs that belongs to this recorder alone.
 *
 * Settings that all tracers share stay as they are. So other tracers go on, and a kernel that
 * does not allow changes of ftrace's settings can be recorded. A process copies the kernel's pages
 * into a file per CPU, as trace-cmd does. trace-cmd restore makes a trace of these files. The
 * process ends when its input does: a recorder that is killed leaves whole files.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "close_others.h"
#include "record.h"
#include "record_buffers.h"
#include "record_tracing.h"

/** A CPU that writes little is looked at this often; one that writes much wakes the process. */
#define LOOK_MS		100
/** Pages of one CPU before the others have their turn. */
#define MAX_PAGES	4096
#define PIPE_PAGES	16

/** What the copying process works with. */
struct copy {
	const char	*instance;
	struct record_cpus cpus;
	int		*files;		/* for each of the CPUs */
	uint64_t	*moved;		/* bytes; or NULL, as record->moved */
	int		ends[2];	/* of a pipe, through which the kernel moves pages */
	size_t		page_size;
	unsigned char	*page;
};

/* --- in the process that copies -------------------------------------------------------------- */

__attribute__((noreturn))
static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

/** What came into the pipe goes on. */
static void empty_pipe(const struct copy *copy, int file, size_t n)
{
	while (n) {
		ssize_t moved = splice(copy->ends[0], NULL, file, NULL, n, SPLICE_F_MOVE);

		if (moved < 0 && errno == EINTR)
			continue;
		if (moved <= 0)
			fail("a file of a CPU cannot be written");
		n -= (size_t)moved;
		if (copy->moved)
			*copy->moved += (uint64_t)moved;
	}
}

/** Whole pages alone: the one that is being written stays in the kernel. */
static void move_pages(const struct copy *copy, int i)
{
	const size_t most = PIPE_PAGES * copy->page_size;

	for (size_t pages = 0; pages < MAX_PAGES; ) {
		ssize_t n = splice(copy->cpus.all[i].fd, NULL, copy->ends[1], NULL, most,
				   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

		if (n <= 0)
			return;
		empty_pipe(copy, copy->files[i], (size_t)n);
		pages += (size_t)n / copy->page_size + 1;
	}
}

/** The end of a CPU's records: pages that are not full. */
static void take_rest(const struct copy *copy, int i)
{
	ssize_t n;

	move_pages(copy, i);
	while ((n = read(copy->cpus.all[i].fd, copy->page, copy->page_size)) > 0) {
		/* pages lie side by side in a file */
		memset(copy->page + n, 0, copy->page_size - (size_t)n);
		if (write(copy->files[i], copy->page, copy->page_size) !=
		    (ssize_t)copy->page_size)
			fail("a file of a CPU cannot be written");
		if (copy->moved)
			*copy->moved += copy->page_size;
	}
}

__attribute__((noreturn))
static void copy_pages(struct copy *copy, int input)
{
	struct pollfd *fds = calloc((size_t)copy->cpus.n + 1, sizeof(*fds));

	copy->page = malloc(copy->page_size);
	if (!fds || !copy->page || pipe2(copy->ends, O_CLOEXEC))
		fail("the process that copies pages cannot begin");
	fds[copy->cpus.n] = (struct pollfd){ .fd = input, .events = POLLIN };
	for (int i = 0; i < copy->cpus.n; i++)
		fds[i] = (struct pollfd){ .fd = copy->cpus.all[i].fd, .events = POLLIN };
	while (!fds[copy->cpus.n].revents) {
		poll(fds, (nfds_t)copy->cpus.n + 1, LOOK_MS);
		for (int i = 0; i < copy->cpus.n; i++)
			move_pages(copy, i);
	}
	record_instance_stop(copy->instance);
	for (int i = 0; i < copy->cpus.n; i++)
		take_rest(copy, i);
	_exit(0);
}

/** Those of ours that it does not need would keep locks and pipes of ours open. */
static void keep_descriptors(const struct copy *copy, int input)
{
	int *keep = calloc(2 * (size_t)copy->cpus.n + 1, sizeof(*keep));
	size_t n = 0;

	if (!keep)
		fail("the process that copies pages cannot begin");
	keep[n++] = input;
	for (int i = 0; i < copy->cpus.n; i++) {
		keep[n++] = copy->cpus.all[i].fd;
		keep[n++] = copy->files[i];
	}
	close_others(keep, n);
	free(keep);
}

__attribute__((noreturn))
static void run_copy(struct copy *copy, int input, int log)
{
	setpgid(0, 0);
	prctl(PR_SET_NAME, RECORD_OWN_COMM);
	/* signals that end a recording are for the recorder, which then ends this process */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	dup2(log, STDERR_FILENO);
	dup2(log, STDOUT_FILENO);
	keep_descriptors(copy, input);
	copy_pages(copy, input);
}

/* --- in the recorder ------------------------------------------------------------------------- */

static int open_file(const struct record *record, const char *name)
{
	char path[PATH_MAX + NAME_MAX];

	snprintf(path, sizeof(path), "%s/%s", record->folder, name);
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
}

/** A file for each CPU, numbered as trace-cmd restore takes them. */
static bool open_files(const struct record *record, struct copy *copy)
{
	char name[64];

	copy->files = malloc(((size_t)copy->cpus.n + 1) * sizeof(*copy->files));
	for (int i = 0; copy->files && i < copy->cpus.n; i++)
		copy->files[i] = -1;
	/* also where the kernel has no buffer: the numbers of files have no holes */
	for (int cpu = 0; !copy->moved && cpu < record_tracing_last_cpu(); cpu++) {
		snprintf(name, sizeof(name), RECORD_KVM_FILE ".cpu%d", cpu);
		close(open_file(record, name));
	}
	for (int i = 0; copy->files && i < copy->cpus.n; i++) {
		snprintf(name, sizeof(name), RECORD_KVM_FILE ".cpu%d", copy->cpus.all[i].cpu);
		copy->files[i] = copy->moved ? open("/dev/null", O_WRONLY | O_CLOEXEC) :
				 open_file(record, name);
		if (copy->files[i] < 0) {
			ksv_error("%s/%s: %s", record->folder, name, strerror(errno));
			return false;
		}
	}
	return copy->files;
}

static void close_all(struct copy *copy)
{
	for (int i = 0; copy->files && i < copy->cpus.n; i++)
		if (copy->files[i] >= 0)
			close(copy->files[i]);
	record_buffers_close(&copy->cpus);
	free(copy->files);
	free(copy->cpus.all);
}

static int spawn(struct record *record, struct copy *copy)
{
	int ends[2], log = open_file(record, RECORD_KVM_FILE ".log");
	pid_t pid = -1;

	if (log >= 0 && !pipe2(ends, O_CLOEXEC)) {
		fflush(NULL);
		pid = fork();
		if (!pid)
			run_copy(copy, ends[0], log);
		close(ends[0]);
		if (pid < 0)
			close(ends[1]);
	}
	if (log >= 0)
		close(log);
	if (pid < 0) {
		ksv_error("%s: %s", record->folder, strerror(errno));
		return KSV_EXIT_FILE;
	}
	setpgid(pid, pid);
	record->input = ends[1];
	record->recorder = record->group = pid;
	return KSV_EXIT_OK;
}

int record_own_make(struct record *record)
{
	char why[512];

	/* one that was killed before it came to note what it had made; no other recorder runs */
	record_instance_sweep(RECORD_OWN_INSTANCE);
	if (record_instance_make(record->instance, RECORD_OWN_INSTANCE, record->clock,
				 record->options->buffer,
				 (const char *const *)record->events, record->n_events, why,
				 sizeof(why))) {
		ksv_note("no buffers of its own: %s; the buffers that all tracers share are used",
			 why);
		return KSV_EXIT_FILE;
	}
	record_tracing_use(record->instance);
	record_quota_timers(record);
	return KSV_EXIT_OK;
}

int record_own_start(struct record *record)
{
	struct copy copy = { .instance = record->instance, .moved = record->moved,
			     .page_size = (size_t)getpagesize() };
	int status = record_buffers_open(&copy.cpus, record->instance);

	if (!status && !open_files(record, &copy))
		status = KSV_EXIT_FILE;
	if (!status)
		status = spawn(record, &copy);
	close_all(&copy);
	return status;
}

void record_own_remove(struct record *record)
{
	if (!*record->instance)
		return;
	record_tracing_use(NULL);
	record_instance_remove(record->instance);
	*record->instance = '\0';
}
