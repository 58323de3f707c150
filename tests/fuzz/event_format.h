/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	event_format.h
 * @brief	Descriptions of events as the kernel writes them, with fields anywhere.
 */
#ifndef KSHARK_VIRT_FUZZ_EVENT_FORMAT_H
#define KSHARK_VIRT_FUZZ_EVENT_FORMAT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FORMAT_FIELDS	8

/** @offset and @size are what the description claims. */
struct event_format {
	const char	*system, *name;
	int		id;
	struct event_field {
		const char	*name;
		uint32_t	offset, size;
	} fields[FORMAT_FIELDS];	/* after those that all events have; NULL: no more */
};

static inline void put_field(FILE *out, const struct event_field *field)
{
	if (field->size == 16)
		fprintf(out, "\tfield:char %s[16];", field->name);
	else
		fprintf(out, "\tfield:u%u %s;", 8 * (field->size & 15), field->name);
	fprintf(out, "\toffset:%u;\tsize:%u;\tsigned:0;\n", field->offset, field->size);
}

/** event_format_text - Return: malloc'ed. */
static inline char *event_format_text(const struct event_format *format, size_t *size)
{
	static const struct event_field common[] = {
		{ "common_type", 0, 2 }, { "common_flags", 2, 1 },
		{ "common_preempt_count", 3, 1 }, { "common_pid", 4, 4 },
	};
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		abort();
	fprintf(out, "name: %s\nID: %d\nformat:\n", format->name, format->id);
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		put_field(out, &common[i]);
	fputc('\n', out);
	for (int i = 0; i < FORMAT_FIELDS && format->fields[i].name; i++)
		put_field(out, &format->fields[i]);
	fprintf(out, "\nprint fmt: \"\"\n");
	fclose(out);
	return text;
}

#endif
