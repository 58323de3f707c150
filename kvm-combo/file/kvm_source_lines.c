// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_source_lines.c
 * @brief	The records of a trace.dat as text, in order of time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <trace-cmd.h>

#include "array.h"
#include "escape.h"
#include "heap.h"
#include "kvm_formats.h"
#include "kvm_source_private.h"
#include "search.h"

/** A CPU, and its next record. */
struct lines_cpu {
	struct kvm_reading reading;
	struct tep_record *next;
	struct virt_clock_walk clock;
	int64_t		key;
};

/** A walk through all CPUs at once. */
struct lines {
	struct kvm_source *source;
	const struct kvm_lines_wanted *wanted;
	struct lines_cpu *cpus;
	int		n_begun;
	struct lines_cpu **heap;	/* of those with a next record */
	size_t		n;
	struct trace_seq text;
	struct kvm_line_fields *fields;
};

/* --- fields ---------------------------------------------------------------------------------- */

/** The bytes of a field. Return: false if the record does not have them all. */
static bool find_bytes(const struct tep_record *record, struct tep_format_field *field,
		       size_t *offset, size_t *size)
{
	unsigned long long place;

	*offset = (size_t)field->offset;
	*size = (size_t)field->size;
	if (field->offset < 0 || field->size <= 0 || *offset + *size > (size_t)record->size)
		return false;
	if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
		return true;
	if (tep_read_number_field(field, record->data, &place))
		return false;
	*offset = (place & 0xffff) + (field->flags & TEP_FIELD_IS_RELATIVE ? *offset + *size : 0);
	*size = place >> 16 & 0xffff;
	return *offset + *size <= (size_t)record->size;
}

/** libtraceevent takes arrays of any 8 bits for text; those of numbers may have any bytes. */
static bool is_text(const struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_STRING && strstr(field->type, "char") &&
	       !strstr(field->type, "unsigned");
}

/** As libtraceevent prints arrays of numbers. */
static void put_bytes(struct trace_seq *text, const uint8_t *bytes, size_t n)
{
	trace_seq_puts(text, "ARRAY[");
	for (size_t i = 0; i < n; i++)
		trace_seq_printf(text, "%s%02x", i ? ", " : "", bytes[i]);
	trace_seq_putc(text, ']');
}

/** Text up to its end, or the numbers of an array. */
static void add_text(struct lines *lines, const struct tep_record *record,
		     struct tep_format_field *field, struct kvm_line_field *to)
{
	size_t offset, size;

	if (!find_bytes(record, field, &offset, &size))
		return;
	trace_seq_reset(&lines->text);
	if (is_text(field)) {
		const char *text = (const char *)record->data + offset;

		trace_seq_printf(&lines->text, "%.*s", (int)strnlen(text, size), text);
	} else if (field->flags & TEP_FIELD_IS_STRING) {
		put_bytes(&lines->text, (const uint8_t *)record->data + offset, size);
	} else {
		tep_print_field_content(&lines->text, record->data, record->size, field);
	}
	trace_seq_terminate(&lines->text);
	to->text = lines->text.buffer;
	kvm_line_add_field(lines->fields, to);
}

static void add_fields(struct lines *lines, struct tep_record *record,
		       const struct tep_event *event)
{
	for (struct tep_format_field *field = event->format.fields; field; field = field->next) {
		struct kvm_line_field to = {
			.name = field->name, .is_signed = field->flags & TEP_FIELD_IS_SIGNED,
		};
		unsigned long long value;
		size_t offset, size;

		if (!field->name)
			continue;
		if (field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING)) {
			add_text(lines, record, field, &to);
			continue;
		}
		if (!find_bytes(record, field, &offset, &size) ||
		    tep_read_number_field(field, record->data, &value))
			continue;
		to.value = value;
		if (to.is_signed && size < sizeof(value)) {
			unsigned int bits = 64 - 8 * (unsigned int)size;

			to.value = (uint64_t)((int64_t)(value << bits) >> bits);
		}
		kvm_line_add_field(lines->fields, &to);
	}
}

/* --- a record -------------------------------------------------------------------------------- */

static bool wants_text(const struct lines *lines, const struct kvm_line *line)
{
	const struct kvm_lines_wanted *wanted = lines->wanted;
	size_t i;

	if (line->key < wanted->from_key)
		return false;
	SEARCH_FIRST(i, 0, wanted->n_without, wanted->without[i] < line->event);
	return i == wanted->n_without || wanted->without[i] != line->event;
}

/** As the event's own format prints it, without the end of the line that some formats have. */
static void put_info(struct lines *lines, struct tep_record *record, struct kvm_line *line)
{
	struct trace_seq *text = &lines->text;
	size_t size;

	trace_seq_reset(text);
	tep_print_event(lines->source->tep, text, record, "%s", TEP_PRINT_INFO);
	size = text->len;
	while (size && (text->buffer[size - 1] == '\n' || text->buffer[size - 1] == ' '))
		size--;
	if (size > KVM_LINE_INFO - 1)
		size = KVM_LINE_INFO - 1;
	size = strnlen(text->buffer, size);
	text->buffer[size] = '\0';
	line->info = text->buffer;
	line->info_size = (uint32_t)size + 1;
}

static int take_record(struct lines *lines, const struct lines_cpu *cpu, kvm_line_fn take,
		       void *arg)
{
	struct kvm_source *source = lines->source;
	struct tep_record *record = cpu->next;
	int id = kvm_fields_id(source->fields, record), ret;
	struct tep_event *event;
	struct kvm_line line = {
		.key = cpu->key, .cpu = (int16_t)cpu->reading.cpu, .event = id,
		.missing = record->missed_events > 0 ? (uint64_t)record->missed_events : 0,
		.has_lost = record->missed_events != 0,
		.pid = kvm_fields_pid(source->fields, record),
	};

	line.next_pid = id == source->switch_id ? kvm_source_next_pid(source, record) : VIRT_NONE;
	ret = kvm_source_name_once(source, line.pid, &line.name);
	if (ret < 0)
		return ret;
	line.has_name = ret > 0;
	event = wants_text(lines, &line) ?
		kvm_formats_find_id(source->formats, source->tep, id) : NULL;
	if (event && lines->wanted->fields) {
		lines->fields->n = 0;
		add_fields(lines, record, event);
		line.fields = lines->fields->bytes;
		line.fields_size = (uint32_t)lines->fields->n;
	}
	/* the buffer of text is also that of fields */
	if (event && !lines->wanted->no_info)
		put_info(lines, record, &line);
	return take(arg, &line);
}

/* --- all CPUs -------------------------------------------------------------------------------- */

static int next_of_cpu(const struct lines *lines, struct lines_cpu *cpu)
{
	bool blind;
	int ret = kvm_reading_next(lines->source, &cpu->reading, &cpu->next, &blind);

	if (ret || !cpu->next)
		return ret;
	cpu->key = cpu->next->ts > INT64_MAX ? INT64_MAX : (int64_t)cpu->next->ts;
	if (lines->wanted->n_steps)
		cpu->key = virt_clock_walk_next(&cpu->clock, cpu->key);
	return 0;
}

static bool comes_before(struct lines_cpu *const *a, struct lines_cpu *const *b)
{
	if ((*a)->key != (*b)->key)
		return (*a)->key < (*b)->key;
	return (*a)->reading.cpu < (*b)->reading.cpu;
}

static int begin(struct lines *lines)
{
	const struct kvm_lines_wanted *wanted = lines->wanted;
	int n = lines->source->facts.n_cpus;

	lines->cpus = calloc((size_t)n + 1, sizeof(*lines->cpus));
	lines->heap = calloc((size_t)n + 1, sizeof(struct lines_cpu *));
	lines->fields = malloc(sizeof(*lines->fields));
	if (!lines->cpus || !lines->heap || !lines->fields)
		return -ENOMEM;
	while (lines->n_begun < n) {
		struct lines_cpu *cpu = &lines->cpus[lines->n_begun];
		int ret = kvm_reading_begin(lines->source, &cpu->reading, lines->n_begun++);

		virt_clock_walk_begin(&cpu->clock, wanted->steps, wanted->n_steps,
				      cpu->reading.cpu);
		if (!ret)
			ret = next_of_cpu(lines, cpu);
		if (ret)
			return ret;
		if (!cpu->next)
			continue;
		lines->heap[lines->n++] = cpu;
		HEAP_UP(lines->heap, lines->n - 1, comes_before);
	}
	return 0;
}

static void end(struct lines *lines)
{
	for (int i = 0; i < lines->n_begun; i++)
		kvm_reading_end(lines->source, &lines->cpus[i].reading);
	free(lines->cpus);
	free(lines->heap);
	free(lines->fields);
	trace_seq_destroy(&lines->text);
}

int kvm_source_lines(struct kvm_source *source, const struct kvm_lines_wanted *wanted,
		     kvm_line_fn take, void *arg)
{
	struct lines lines = { .source = source, .wanted = wanted };
	int ret;

	/* programs that print have all formats parsed at once */
	if (!wanted->no_info && !kvm_formats_can_print(source->formats))
		return -ENOTSUP;

	trace_seq_init(&lines.text);
	kvm_source_forget_walk(source);
	ret = begin(&lines);
	while (!ret && lines.n) {
		struct lines_cpu *first = lines.heap[0];

		ret = take_record(&lines, first, take, arg);
		if (!ret)
			ret = next_of_cpu(&lines, first);
		if (!first->next)
			lines.heap[0] = lines.heap[--lines.n];
		if (lines.n)
			HEAP_DOWN(lines.heap, lines.n, 0, comes_before);
	}
	end(&lines);
	return ret;
}
