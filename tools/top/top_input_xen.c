// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_input_xen.c
 * @brief	The records that xentrace writes, into a pipe or into a file that grows.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "top_input_xen.h"
#include "xen_trace_note.h"

/** As much as from a pipe: losses that are known by then count in an interval. */
#define READ_BYTES	(16 << 10)

/** Damaged places that are listed one by one. */
#define NOTES_MAX_LINES	20

static int open_path(const char *path)
{
	struct stat st;
	/* a FIFO without a writer is waited for like one without data */
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) :
		 fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && !S_ISDIR(st.st_mode))
		return fd;
	close(fd);
	return -EISDIR;
}

int top_input_xen_open(struct top_input_xen *input, const char *path,
		       const struct xen_live_options *options)
{
	char error[512] = "";

	*input = (struct top_input_xen){
		.name = strcmp(path, "-") ? path : "standard input",
		.fd = open_path(path), .data = malloc(READ_BYTES),
	};
	if (input->fd < 0)
		snprintf(error, sizeof(error), "%s: %s", path, strerror(-input->fd));
	else if (!input->data)
		snprintf(error, sizeof(error), "%s: not enough memory", path);
	else
		input->live = xen_live_new(input->name, options, error, sizeof(error));
	if (input->live)
		return 0;
	ksv_error("%s", error);
	top_input_xen_close(input);
	return -1;
}

void top_input_xen_close(struct top_input_xen *input)
{
	xen_live_free(input->live);
	if (input->fd >= 0)
		close(input->fd);
	free(input->data);
}

/** Return: as that of struct top_input. */
static int at_end(struct top_input_xen *input, int timeout_ms)
{
	const struct timespec pause = {
		.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L,
	};

	if (!input->grows || input->is_over)
		return -ENODATA;
	/* what came after this end, but before that was known, is still to be read */
	input->is_over = !input->grows(input->arg);
	if (input->is_over)
		return 0;
	nanosleep(&pause, NULL);
	return 0;
}

static int xen_read(void *self, int timeout_ms)
{
	struct top_input_xen *input = self;
	struct pollfd wait = { .fd = input->fd, .events = POLLIN };
	ssize_t n;
	int ret;

	if (poll(&wait, 1, timeout_ms) <= 0)
		return 0;
	n = read(input->fd, input->data, READ_BYTES);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n)
		return at_end(input, timeout_ms);
	ret = xen_live_push(input->live, input->data, (size_t)n);
	return ret ? ret : 1;
}

static int xen_settle(void *self)
{
	return xen_live_settle(((struct top_input_xen *)self)->live);
}

static int xen_end(void *self)
{
	return xen_live_end(((struct top_input_xen *)self)->live);
}

static bool xen_has_begun(const void *self, int64_t *begin_ns)
{
	return xen_live_has_begun(((const struct top_input_xen *)self)->live, begin_ns);
}

static int xen_feed(void *self, int64_t until_ns)
{
	return xen_live_feed(((struct top_input_xen *)self)->live, until_ns);
}

static int64_t xen_next(const void *self)
{
	return xen_live_next(((const struct top_input_xen *)self)->live);
}

static int64_t xen_last(const void *self)
{
	return xen_live_last(((const struct top_input_xen *)self)->live);
}

static int xen_model(void *self, int64_t begin_ns, int64_t end_ns, struct virt_model **model)
{
	return xen_live_model(((struct top_input_xen *)self)->live, begin_ns, end_ns, model);
}

static void xen_forget(void *self, int64_t before_ns)
{
	xen_live_forget(((struct top_input_xen *)self)->live, before_ns);
}

static void xen_notes(const void *self, struct trace_notes *notes)
{
	xen_trace_note_all(xen_live_trace(((const struct top_input_xen *)self)->live),
			   NOTES_MAX_LINES, notes);
}

static void xen_count(const void *self, struct top_count *count)
{
	const struct top_input_xen *input = self;
	const struct xen_clock *clock = xen_trace_clock(xen_live_trace(input->live));
	struct xentrace_live_counts counts;

	xen_live_count(input->live, &counts);
	*count = (struct top_count){
		.bytes = counts.bytes, .records = counts.records, .waiting = counts.waiting,
		.late = counts.late, .hurried = counts.hurried,
		.late_ns = counts.late ? (int64_t)xen_clock_cycles_to_ns(clock, counts.late_cycles)
				       : 0,
	};
}

const struct top_input top_input_xen = {
	.read = xen_read,
	.settle = xen_settle,
	.end = xen_end,
	.has_begun = xen_has_begun,
	.feed = xen_feed,
	.next = xen_next,
	.last = xen_last,
	.model = xen_model,
	.forget = xen_forget,
	.notes = xen_notes,
	.count = xen_count,
};
