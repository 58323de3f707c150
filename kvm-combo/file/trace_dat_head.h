/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_dat_head.h
 * @brief	Pieces of the head of a trace.dat that is written.
 *
 * All of them have the byte order of @form. The stream keeps errors until it is closed.
 */
#ifndef KSHARK_VIRT_TRACE_DAT_HEAD_H
#define KSHARK_VIRT_TRACE_DAT_HEAD_H

#include <stdio.h>

#include "trace_dat_read.h"

/** An event as the part DAT_FORMATS has it. */
struct dat_event {
	uint16_t	id;
	const char	*system;
	const void	*format;	/* @size bytes */
	size_t		size;
};

void dat_write_number(FILE *file, const struct dat_file *form, int bytes, uint64_t value);

/** dat_write_sized - data after their size, which is a number of @bytes bytes */
void dat_write_sized(FILE *file, const struct dat_file *form, int bytes, const void *data,
		     size_t size);

/** dat_write_option - as both versions have it */
void dat_write_option(FILE *file, const struct dat_file *form, unsigned int id, const void *data,
		      size_t size);

/** dat_write_begin - up to the size of a page. @version: a digit */
void dat_write_begin(FILE *file, const struct dat_file *form, const char *version);

/** dat_write_events - the part DAT_FORMATS; the events are sorted by system and number */
void dat_write_events(FILE *file, const struct dat_file *form, struct dat_event *events, size_t n);

#endif
