/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_log.h
 * @brief	The log of a guest's kernel: warnings about time that a CPU did not have.
 *
 * The log is the text of a console, of dmesg or of syslog, or what journalctl writes as
 * short-monotonic or json. Only the warnings of the table in guest_log_kinds.c are kept.
 */
#ifndef KSHARK_VIRT_GUEST_LOG_H
#define KSHARK_VIRT_GUEST_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Warnings of a log that are kept. More are counted. */
#define GUEST_LOG_MOST		10000

/** Bytes of a warning that are kept, with the NUL. */
#define GUEST_LOG_TEXT		256

/** Bytes of a line that are read; the rest of a longer line is skipped. */
#define GUEST_LOG_LINE		65536

/** CPUs that one warning can name; the numbers of Linux are lower. */
#define GUEST_LOG_MAX_CPU	65535

enum guest_log_kind {
	GUEST_LOG_SOFT_LOCKUP = 0,
	GUEST_LOG_HARD_LOCKUP,
	GUEST_LOG_RCU_STALL,
	GUEST_LOG_HUNG_TASK,
	GUEST_LOG_CLOCKSOURCE,
	GUEST_LOG_HRTIMER,
	GUEST_LOG_RT_THROTTLING,
	GUEST_LOG_DEADLINE,
	GUEST_LOG_NOHZ,
	GUEST_LOG_WORKQUEUE,
	GUEST_LOG_CPU_HOG,
	GUEST_LOG_NMI,
	GUEST_LOG_CSD,
	GUEST_LOG_N_KINDS
};

/** Which clock a line has its time from. */
enum guest_log_clock {
	GUEST_LOG_NO_CLOCK = 0,		/* the line has no time */
	GUEST_LOG_PRINTK,		/* the kernel's own, local_clock() of Linux */
	GUEST_LOG_JOURNAL,		/* CLOCK_MONOTONIC when the journal got the line, which may
					 * be later */
	GUEST_LOG_REALTIME,		/* the wall clock of the guest */
	GUEST_LOG_N_CLOCKS
};

struct guest_log_warning {
	int64_t		time_ns;	/* by @clock; of the wall clock, since 1970 */
	int64_t		span_ns;	/* of how long before it the warning speaks; 0: of none */
	uint64_t	line;		/* from 1 */
	char		*text;		/* at most GUEST_LOG_TEXT bytes, not escaped */
	int32_t		cpu;		/* of the guest; -1: it names none */
	uint32_t	boot;		/* of the guest in the log, from 0: its clock began again */
	uint8_t		kind;		/* enum guest_log_kind */
	uint8_t		clock;		/* enum guest_log_clock */
	bool		is_default;	/* the message does not have @span_ns, which is the default
					 * of Linux */
};

struct guest_log {
	struct guest_log_warning *warnings;	/* in the order of the log */
	size_t		n, room;
	uint64_t	left_out;		/* warnings that were too many */
	uint64_t	lines;
	uint32_t	boot;			/* the last one */
	int64_t		last_ns;		/* the latest time of it */
	/* what the lines below a warning need: */
	size_t		about;			/* the last warning; after it, its other CPUs */
	uint64_t	last_line;		/* that belongs to it */
};

/**
 * guest_log_read - read all of a file
 * @log: receives it; to be given to guest_log_free() in any case
 * @error: on failure, receives a text that names the file
 *
 * Return: 0 or a negative errno.
 */
int guest_log_read(const char *path, struct guest_log *log, char *error, size_t size);

/**
 * guest_log_add_line - the same of the next line of a log, without its end
 * @log: all zero before the first one
 *
 * Return: 0 or -ENOMEM.
 */
int guest_log_add_line(struct guest_log *log, const char *line, size_t n);

void guest_log_free(struct guest_log *log);

/** guest_log_kind_name - "soft_lockup", "rcu_stall" ... */
const char *guest_log_kind_name(enum guest_log_kind kind);

/** guest_log_kind_words - the same for people. */
const char *guest_log_kind_words(enum guest_log_kind kind);

/** guest_log_clock_name - "none", "printk", "journal", "realtime" */
const char *guest_log_clock_name(enum guest_log_clock clock);

/* --- the table of warnings: guest_log_kinds.c ------------------------------------------------- */

/**
 * guest_log_find - which warning a message is
 * @text: of the kernel, @n bytes
 * @warning: receives @kind, @span_ns, @is_default and @cpu
 *
 * Return: false: none.
 */
bool guest_log_find(const char *text, size_t n, struct guest_log_warning *warning);

/**
 * guest_log_more - what a line below a warning adds to it
 * @kind: of the warning
 * @cpu: receives a CPU that it names, or -1
 * @span_ns: receives of how long it speaks, or 0
 *
 * Return: false if the line says nothing of both.
 */
bool guest_log_more(enum guest_log_kind kind, const char *text, size_t n, int32_t *cpu,
		    int64_t *span_ns);

/**
 * guest_log_next_cpu - the next CPU of a list "{ 1-... 3-...D }" in a warning's own line
 * @at: where to go on, 0 for the first one; moved to its end
 *
 * Return: the CPU, or -1 if there are no more.
 */
int32_t guest_log_next_cpu(enum guest_log_kind kind, const char *text, size_t n, size_t *at);

#ifdef __cplusplus
}
#endif
#endif
