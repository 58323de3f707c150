// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_dat_head.c
 * @brief	Pieces of the head of a trace.dat that is written.
 */
#include <stdlib.h>
#include <string.h>

#include "trace_dat.h"
#include "trace_dat_head.h"

void dat_write_number(FILE *file, const struct dat_file *form, int bytes, uint64_t value)
{
	uint8_t raw[8];

	dat_put(form, raw, bytes, value);
	fwrite(raw, 1, (size_t)bytes, file);
}

void dat_write_sized(FILE *file, const struct dat_file *form, int bytes, const void *data,
		     size_t size)
{
	dat_write_number(file, form, bytes, size);
	if (size)
		fwrite(data, 1, size, file);
}

void dat_write_option(FILE *file, const struct dat_file *form, unsigned int id, const void *data,
		      size_t size)
{
	dat_write_number(file, form, 2, id);
	dat_write_sized(file, form, 4, data, size);
}

void dat_write_begin(FILE *file, const struct dat_file *form, const char *version)
{
	fwrite(trace_dat_magic, 1, sizeof(trace_dat_magic), file);
	fwrite(version, 1, strlen(version) + 1, file);
	dat_write_number(file, form, 1, form->big_endian);
	dat_write_number(file, form, 1, form->long_size);
	dat_write_number(file, form, 4, form->page_size);
}

static int compare_events(const void *a, const void *b)
{
	const struct dat_event *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : (x->id > y->id) - (x->id < y->id);
}

/** Where the events of the same system end. */
static size_t system_end(const struct dat_event *events, size_t n, size_t from)
{
	size_t end = from + 1;

	while (end < n && !strcmp(events[from].system, events[end].system))
		end++;
	return end;
}

void dat_write_events(FILE *file, const struct dat_file *form, struct dat_event *events, size_t n)
{
	uint32_t n_systems = 0;

	if (n)
		qsort(events, n, sizeof(*events), compare_events);
	for (size_t i = 0; i < n; i = system_end(events, n, i))
		n_systems++;
	dat_write_number(file, form, 4, n_systems);
	for (size_t i = 0, end; i < n; i = end) {
		end = system_end(events, n, i);
		fwrite(events[i].system, 1, strlen(events[i].system) + 1, file);
		dat_write_number(file, form, 4, end - i);
		for (size_t k = i; k < end; k++)
			dat_write_sized(file, form, 8, events[k].format, events[k].size);
	}
}
