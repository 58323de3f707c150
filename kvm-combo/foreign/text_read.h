/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	text_read.h
 * @brief	The text of ftrace, or of 'trace-cmd report', into a trace.dat.
 *
 * Sources: Linux's Documentation/trace/ftrace.rst ("Output format"), kernel/trace/trace_output.c
 * (trace_print_context(), trace_print_lat_fmt()), trace.c (print_trace_line(): "LOST"); trace-cmd's
 * tracecmd/trace-read.c ("EVENTS DROPPED"). A line is
 *
 *	COMM-PID  [CPU] FLAGS SECONDS.FRACTION: EVENT: TEXT
 *
 * also with "( TGID)" before the CPU, and without FLAGS. Events that the tracker needs have the
 * fields that text_patterns.h reads; others keep their text.
 */
#ifndef KSHARK_VIRT_TEXT_READ_H
#define KSHARK_VIRT_TEXT_READ_H

#include "foreign_outcome.h"
#include "trace_dat_write.h"

/** Longer lines are cut. */
#define TEXT_LINE	8192

/** text_is - are these the first bytes of such a text? */
bool text_is(const char *head, size_t n);

struct text_reader;

/** text_reader_new - @writer stays the caller's. Return: NULL without memory. */
struct text_reader *text_reader_new(struct trace_dat_writer *writer);
void text_reader_free(struct text_reader *reader);

/** text_reader_line - a line, without its end. Return: 0 or what the writer returned. */
int text_reader_line(struct text_reader *reader, const char *line);

/** text_reader_end - all lines are read. Return: as text_reader_line(). */
int text_reader_end(struct text_reader *reader, struct foreign_outcome *outcome);

/**
 * text_convert - read a text
 * @in: a descriptor, which is closed
 * @fd, @spool, @most_bytes: as trace_dat_writer_new() takes them
 *
 * Return: 0, or a negative errno with a text in outcome->problem.
 */
int text_convert(int in, int fd, int spool, uint64_t most_bytes, struct foreign_outcome *outcome);

#endif
