// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_log.c
 * @brief	Follow the log of a guest, and compare its lines with a condition.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest_log.h"
#include "record_log.h"
#include "escape.h"

/** Bytes that are read at one look; the rest waits for the next one. */
#define MOST_BYTES	(1 << 20)

int record_log_parse(struct record_log *log, const char *words, char *error, size_t size)
{
	const char *colon = strchr(words, ':'), *equals;
	int ret;

	*log = (struct record_log){ .words = words, .fd = -1 };
	equals = colon ? strchr(colon, '=') : NULL;
	if (!colon || colon == words || !colon[1] || equals == colon + 1 ||
	    (equals && !equals[1])) {
		snprintf(error, size, "write NAME:FILE or NAME:FILE='soft lockup|rcu.*stall'");
		return -EINVAL;
	}
	log->machine = strndup(words, (size_t)(colon - words));
	log->path = equals ? strndup(colon + 1, (size_t)(equals - colon) - 1) : strdup(colon + 1);
	if (!log->machine || !log->path) {
		snprintf(error, size, "not enough memory");
		return -ENOMEM;
	}
	if (!equals)
		return 0;
	ret = regcomp(&log->regex, equals + 1, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (ret) {
		regerror(ret, &log->regex, error, size);
		return -EINVAL;
	}
	log->pattern = strdup(equals + 1);
	if (log->pattern)
		return 0;
	regfree(&log->regex);
	snprintf(error, size, "not enough memory");
	return -ENOMEM;
}

static void close_file(struct record_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
	log->at = 0;
	log->n = 0;
	log->is_long = false;
}

/** Return: 0, -ENOENT without a text, or another negative errno. */
static int open_file(struct record_log *log, char *error, size_t size)
{
	struct stat st;

	/* a pipe must not make the recorder wait */
	log->fd = open(log->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (log->fd < 0) {
		int ret = -errno;

		snprintf(error, size, "%s: %s", log->path, strerror(-ret));
		return ret;
	}
	if (fstat(log->fd, &st) || !S_ISREG(st.st_mode)) {
		snprintf(error, size, "%s: not a regular file", log->path);
		close_file(log);
		return -EINVAL;
	}
	log->device = st.st_dev;
	log->inode = st.st_ino;
	return 0;
}

int record_log_open(struct record_log *log, char *error, size_t size)
{
	int ret = open_file(log, error, size);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	log->at = lseek(log->fd, 0, SEEK_END);
	return 0;
}

void record_log_begin(struct record_log *log)
{
	log->matches = 0;
	*log->text = '\0';
}

static void judge_line(struct record_log *log)
{
	struct guest_log warnings = { 0 };
	bool matches;

	/* a NUL would end the line for the regular expression */
	for (size_t i = 0; i < log->n; i++)
		if (!log->line[i])
			log->line[i] = ' ';
	log->line[log->n] = '\0';
	if (log->pattern)
		matches = !regexec(&log->regex, log->line, 0, NULL, 0);
	else
		matches = !guest_log_add_line(&warnings, log->line, log->n) && warnings.n;
	guest_log_free(&warnings);
	if (matches && !log->matches++)
		text_format(log->text, sizeof(log->text), "%s", log->line);
	log->n = 0;
}

static void take_bytes(struct record_log *log, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\r') {
			if (log->n)
				judge_line(log);
			log->is_long = false;
		} else if (!log->is_long) {
			log->line[log->n++] = bytes[i];
			/* what fits is compared; the rest is skipped */
			if (log->n == sizeof(log->line) - 1) {
				judge_line(log);
				log->is_long = true;
			}
		}
	}
}

static void read_on(struct record_log *log)
{
	char bytes[16384];
	struct stat st;

	if (!fstat(log->fd, &st) && st.st_size < log->at) {
		/* it was truncated */
		log->at = 0;
		log->n = 0;
		log->is_long = false;
	}
	for (size_t all = 0; all < MOST_BYTES;) {
		ssize_t n = pread(log->fd, bytes, sizeof(bytes), log->at);

		if (n <= 0)
			return;
		take_bytes(log, bytes, (size_t)n);
		log->at += n;
		all += (size_t)n;
	}
}

/** Does another file have its name? */
static bool is_replaced(const struct record_log *log)
{
	struct stat st;

	return !stat(log->path, &st) && (st.st_dev != log->device || st.st_ino != log->inode);
}

bool record_log_look(struct record_log *log)
{
	char ignored[16];

	if (log->fd >= 0)
		read_on(log);
	if (log->fd < 0 || is_replaced(log)) {
		close_file(log);
		if (!open_file(log, ignored, sizeof(ignored)))
			read_on(log);
	}
	return log->matches;
}

void record_log_free(struct record_log *log)
{
	close_file(log);
	if (log->pattern)
		regfree(&log->regex);
	free(log->pattern);
	free(log->machine);
	free(log->path);
	log->pattern = log->machine = log->path = NULL;
}
