/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_log.h
 * @brief	Conditions on the log of a guest: a flight recorder writes when a line matches.
 *
 * The log is a file that others append to, such as the console of a guest. Its bytes are the
 * guest's. It may be truncated, or replaced by another file of its name, as by logrotate.
 */
#ifndef KSHARK_VIRT_RECORD_LOG_H
#define KSHARK_VIRT_RECORD_LOG_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Logs that are followed at most. */
#define RECORD_MAX_LOGS		16

/** Bytes of a line that are compared; the rest of a longer line is skipped. */
#define RECORD_LOG_LINE		4096

/** Bytes of a matching line that are kept, with the NUL. */
#define RECORD_LOG_TEXT		256

struct record_log {
	const char	*words;		/* as they were typed */
	char		*machine, *path;
	char		*pattern;	/* NULL: the warnings of guest_log.h */
	regex_t		regex;		/* of @pattern */
	int		fd;		/* -1: the file is not there */
	dev_t		device;
	ino_t		inode;
	off_t		at;		/* what has been read */
	bool		is_long;	/* the line that is being read exceeds the room */
	size_t		n;
	char		line[RECORD_LOG_LINE];
	/* since the last record_log_begin(): */
	uint64_t	matches;
	char		text[RECORD_LOG_TEXT];	/* the first line that matches, not escaped */
};

/**
 * record_log_parse - NAME:FILE or NAME:FILE=REGEX
 * @log: receives it; to be given to record_log_free() in any case
 * @words: is kept. REGEX is an extended regular expression, without regard to case
 * @error: on failure, receives a text
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int record_log_parse(struct record_log *log, const char *words, char *error, size_t size);

/**
 * record_log_open - follow the file from its end on
 * @error: on failure, receives a text that names the file
 *
 * A file that does not exist is followed from its beginning when it appears.
 *
 * Return: 0 or a negative errno: it is no regular file, or cannot be read.
 */
int record_log_open(struct record_log *log, char *error, size_t size);

/** record_log_begin - forget the lines that have matched */
void record_log_begin(struct record_log *log);

/** record_log_look - read appended bytes. Return: has a line matched since record_log_begin()? */
bool record_log_look(struct record_log *log);

void record_log_free(struct record_log *log);

#endif
