// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	event_format.c
 * @brief	Formats of ftrace's events, and the bytes of their records.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "event_format.h"
#include "kvm_fields.h"
#include "trace_dat_write.h"

/** The fields that all events have: Linux's struct trace_entry. */
#define COMMON_BYTES	8
#define PID_AT		4

/** A place of a __data_loc field has 16 bits for its offset, and as many for its size. */
_Static_assert(EVENT_MOST_BYTES <= UINT16_MAX, "all places fit");

/* --- formats --------------------------------------------------------------------------------- */

static void to_identifier(char *to, size_t size, const char *name)
{
	size_t n = 0;

	if (isdigit((unsigned char)*name) || !*name)
		to[n++] = '_';
	for (; *name && n < size - 1; name++)
		to[n++] = isalnum((unsigned char)*name) ? *name : '_';
	to[n] = '\0';
}

void event_format_init(struct event_format *format, const char *system, const char *name)
{
	*format = (struct event_format){ .size = COMMON_BYTES };
	to_identifier(format->system, sizeof(format->system), system);
	to_identifier(format->name, sizeof(format->name), name);
}

void event_format_destroy(struct event_format *format)
{
	free(format->fields);
	*format = (struct event_format){ 0 };
}

int event_format_find(const struct event_format *format, const char *name)
{
	for (size_t i = 0; i < format->n; i++)
		if (!strcmp(format->fields[i].name, name))
			return (int)i;
	return -1;
}

/** A reader finds fields by their names, so each has a name of its own. */
static void name_field(const struct event_format *format, struct event_field *field,
		       const char *name)
{
	char plain[EVENT_NAME_SIZE - 12];

	to_identifier(plain, sizeof(plain), name);
	snprintf(field->name, sizeof(field->name), "%s", plain);
	for (unsigned int i = 2; event_format_find(format, field->name) >= 0; i++)
		snprintf(field->name, sizeof(field->name), "%s_%u", plain, i);
}

static size_t bytes_of(const struct event_field *field)
{
	return field->kind == EVENT_COMM ? EVENT_COMM_SIZE :
	       field->kind == EVENT_NUMBER ? field->size : 4;
}

int event_format_add(struct event_format *format, const char *name, enum event_field_kind kind,
		     size_t size, bool is_signed)
{
	struct event_field field = {
		.kind = (uint8_t)kind, .size = (uint8_t)size, .is_signed = is_signed,
	};
	size_t align = kind == EVENT_NUMBER ? size : kind == EVENT_COMM ? 1 : 4;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return -EINVAL;
	field.offset = (uint16_t)((format->size + align - 1) / align * align);
	if (format->n == EVENT_MOST_FIELDS ||
	    field.offset + bytes_of(&field) > EVENT_MOST_BYTES / 2)
		return -E2BIG;
	if (ARRAY_GROW(format->fields, format->n, format->room))
		return -ENOMEM;
	name_field(format, &field, name);
	format->fields[format->n] = field;
	format->size = field.offset + bytes_of(&field);
	return (int)format->n++;
}

static void put_field(FILE *out, const struct event_field *field)
{
	static const char *const types[] = { "char", "short", "int", "long" };
	int log = __builtin_ctz(field->size);

	fprintf(out, "\tfield:");
	if (field->kind == EVENT_COMM)
		fprintf(out, "char %s[%d];", field->name, EVENT_COMM_SIZE);
	else if (field->kind == EVENT_TEXT)
		fprintf(out, "__data_loc char[] %s;", field->name);
	else
		fprintf(out, "%s%s%s%s %s;", field->kind == EVENT_NUMBERS ? "__data_loc " : "",
			field->is_signed ? log ? "" : "signed " : "unsigned ", types[log],
			field->kind == EVENT_NUMBERS ? "[]" : "", field->name);
	fprintf(out, "\toffset:%u;\tsize:%zu;\tsigned:%d;\n", field->offset, bytes_of(field),
		field->is_signed && field->kind == EVENT_NUMBER);
}

static void put_print(FILE *out, const struct event_format *format)
{
	fprintf(out, "\nprint fmt: ");
	if (format->print) {
		fprintf(out, "%s\n", format->print);
		return;
	}
	fputc('"', out);
	for (size_t i = 0; i < format->n; i++) {
		const struct event_field *field = &format->fields[i];
		bool is_text = field->kind != EVENT_NUMBER;

		fprintf(out, "%s%s=%s%s", i ? " " : "", field->name,
			is_text ? "%s" : field->size == 8 ? "%ll" : "%",
			is_text ? "" : field->is_signed ? "d" : "u");
	}
	fputc('"', out);
	for (size_t i = 0; i < format->n; i++) {
		const struct event_field *field = &format->fields[i];
		const char *name = field->name;

		if (field->kind == EVENT_TEXT)
			fprintf(out, ", __get_str(%s)", name);
		else if (field->kind == EVENT_NUMBERS)
			fprintf(out, ", __print_hex(__get_dynamic_array(%s), "
				"__get_dynamic_array_len(%s))", name, name);
		else
			fprintf(out, ", REC->%s", name);
	}
	fputc('\n', out);
}

char *event_format_text(const struct event_format *format, unsigned int id)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "name: %s\nID: %u\nformat:\n", format->name, id);
	fprintf(out, "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:%d;\tsize:4;\tsigned:1;\n\n", PID_AT);
	for (size_t i = 0; i < format->n; i++)
		put_field(out, &format->fields[i]);
	put_print(out, format);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

int event_format_declare(struct trace_dat_writer *writer, const struct event_format *format,
			 unsigned int id)
{
	char *text = event_format_text(format, id);
	int ret = text ? trace_dat_writer_event(writer, (uint16_t)id, format->system, text,
						strlen(text)) : -ENOMEM;

	free(text);
	return ret;
}

int event_format_no_context(struct trace_dat_writer *writer, unsigned int id)
{
	struct event_format format;
	int ret;

	event_format_init(&format, KVM_OWN_SYSTEM, KVM_NO_CONTEXT);
	ret = event_format_declare(writer, &format, id);
	event_format_destroy(&format);
	return ret;
}

/* --- records --------------------------------------------------------------------------------- */

void event_record_begin(struct event_record *record, const struct event_format *format,
			unsigned int id, unsigned int flags, int32_t pid)
{
	uint16_t type = (uint16_t)id;

	memset(record->data, 0, format->size);
	memcpy(record->data, &type, sizeof(type));
	record->data[2] = (uint8_t)flags;
	event_record_pid(record, pid);
	record->size = format->size;
}

void event_record_pid(struct event_record *record, int32_t pid)
{
	memcpy(record->data + PID_AT, &pid, sizeof(pid));
}

static void put_number(uint8_t *at, size_t size, uint64_t value)
{
	uint32_t four = (uint32_t)value;
	uint16_t two = (uint16_t)value;

	switch (size) {
	case 1:
		*at = (uint8_t)value;
		return;
	case 2:
		memcpy(at, &two, sizeof(two));
		return;
	case 4:
		memcpy(at, &four, sizeof(four));
		return;
	default:
		memcpy(at, &value, sizeof(value));
	}
}

void event_record_number(struct event_record *record, const struct event_field *field,
			 uint64_t value)
{
	put_number(record->data + field->offset, field->size, value);
}

/** Append room for data. @align: a power of 2. @size: receives the room. Return: where it is. */
static uint8_t *append(struct event_record *record, const struct event_field *field,
		       size_t *size, size_t align)
{
	size_t at = (record->size + align - 1) & ~(align - 1);
	size_t left = at < EVENT_MOST_BYTES ? EVENT_MOST_BYTES - at : 0;

	if (*size > left)
		*size = left & ~(align - 1);
	if (at > EVENT_MOST_BYTES)
		at = record->size;
	if (at > record->size)
		memset(record->data + record->size, 0, at - record->size);
	put_number(record->data + field->offset, 4, (uint64_t)*size << 16 | at);
	record->size = at + *size;
	return record->data + at;
}

void event_record_text(struct event_record *record, const struct event_field *field,
		       const char *text, size_t n)
{
	size_t size = n + 1;
	uint8_t *to;

	if (field->kind == EVENT_COMM) {
		memcpy(record->data + field->offset, text,
		       n < EVENT_COMM_SIZE - 1 ? n : EVENT_COMM_SIZE - 1);
		return;
	}
	to = append(record, field, &size, 1);
	if (!size)
		return;
	memcpy(to, text, size - 1);
	to[size - 1] = '\0';
}

size_t event_record_numbers(struct event_record *record, const struct event_field *field,
			    size_t n)
{
	size_t most = EVENT_MOST_BYTES / field->size;
	size_t size = (n < most ? n : most) * field->size;

	append(record, field, &size, field->size);
	return size / field->size;
}

void event_record_element(struct event_record *record, const struct event_field *field, size_t i,
			  uint64_t value)
{
	uint32_t place;

	memcpy(&place, record->data + field->offset, sizeof(place));
	put_number(record->data + (place & 0xffff) + i * field->size, field->size, value);
}
