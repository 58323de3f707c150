// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_events.c
 * @brief	What a vCPU did one by one: hypercalls, traps, memory, interrupts.
 */
#include <stdio.h>

#include "json_durations.h"
#include "report_csv.h"
#include "report_parts.h"
#include "text_columns.h"

/** How many there are of a kind, by number; what is called the same is one list. */
struct list {
	const char	*heading;
	unsigned int	n;
	enum count_what	what;		/* the first one */
	bool		(*label)(const struct vcpu_count *count, unsigned int i, char *text,
				 size_t size);
};

static void label_number(unsigned int i, const char *name, char *text, size_t size)
{
	snprintf(text, size, "%u %s", i, name ? name : "");
}

static bool label_hypercall(const struct vcpu_count *count, unsigned int i, char *text,
			    size_t size)
{
	if (i == COUNT_OTHER_HYPERCALL)
		snprintf(text, size, "other");
	else
		label_number(i, report_count_hypercall(count, i), text, size);
	return true;
}

static bool label_trap(const struct vcpu_count *count, unsigned int i, char *text, size_t size)
{
	(void)count;
	label_number(i, xen_trap_name(i), text, size);
	return true;
}

/** Return: false behind the last one. */
static bool label_name(const char *name, char *text, size_t size)
{
	if (name)
		snprintf(text, size, "%s", name);
	return name;
}

static bool label_trap_event(const struct vcpu_count *count, unsigned int i, char *text,
			     size_t size)
{
	(void)count;
	return label_name(report_count_trap((int)i), text, size);
}

static bool label_memory(const struct vcpu_count *count, unsigned int i, char *text, size_t size)
{
	(void)count;
	return label_name(report_count_memory((int)i), text, size);
}

static bool label_vector(const struct vcpu_count *count, unsigned int i, char *text, size_t size)
{
	(void)count;
	snprintf(text, size, "vector 0x%02x", i);
	return true;
}

static const struct list lists[] = {
	{ "hypercalls", COUNT_HYPERCALLS, COUNT_HYPERCALL,
	  label_hypercall },
	{ "in multicalls", COUNT_HYPERCALLS, COUNT_SUBCALL,
	  label_hypercall },
	{ "traps", COUNT_TRAPS, COUNT_TRAP, label_trap },
	{ "traps", COUNT_TRAP_EVENTS, COUNT_TRAP_EVENT,
	  label_trap_event },
	{ "memory", COUNT_MEMORY_EVENTS, COUNT_MEMORY, label_memory },
	{ "interrupts", COUNT_VECTORS, COUNT_VECTOR, label_vector },
};

static void text_item(struct output *out, bool *first, const char *heading, const char *name,
		      uint64_t count)
{
	char text[24];

	if (!count)
		return;
	if (*first) {
		out_char(out, '\n');
		text_name(out, heading);
		text_right(out, "count", TEXT_NUMBER);
		out_char(out, '\n');
	}
	*first = false;
	out_str(out, "    ");
	out_text_left(out, name, TEXT_NAME - 2);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
	text_right(out, text, TEXT_NUMBER);
	out_char(out, '\n');
}

void report_events_text(struct output *out, const struct vcpu_count *count)
{
	bool first = true;
	char text[64];

	for (size_t k = 0; count && k < ARRAY_SIZE(lists); k++) {
		const struct list *list = &lists[k];

		first |= k && strcmp(list->heading, list[-1].heading);
		for (unsigned int i = 0; i < list->n; i++) {
			if (!list->label(count, i, text, sizeof(text)))
				break;
			text_item(out, &first, list->heading, text,
				  report_counted(count, list->what, i));
		}
	}
}

static void write_hypercalls(struct json *json, const struct vcpu_count *count)
{
	json_open(json, "hypercalls", '[', false);
	for (unsigned int i = 0; count && i < COUNT_HYPERCALLS; i++) {
		const char *name = report_count_hypercall(count, i);

		if (!report_counted(count, COUNT_HYPERCALL, i) &&
		    !report_counted(count, COUNT_SUBCALL, i))
			continue;
		json_open(json, NULL, '{', true);
		if (i != COUNT_OTHER_HYPERCALL)
			json_u64(json, "nr", i);
		json_str(json, "name", i == COUNT_OTHER_HYPERCALL ? "other" : name ? name : "");
		json_u64(json, "count", report_counted(count, COUNT_HYPERCALL, i));
		json_u64(json, "subcalls", report_counted(count, COUNT_SUBCALL, i));
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_named(struct json *json, const char *name, uint64_t count)
{
	if (!count)
		return;
	json_open(json, NULL, '{', true);
	json_str(json, "name", name);
	json_u64(json, "count", count);
	json_close(json, '}');
}

void report_events_json(struct json *json, const struct vcpu_count *count)
{
	char number[16];

	write_hypercalls(json, count);
	json_open(json, "traps", '[', false);
	for (unsigned int i = 0; count && i < COUNT_TRAPS; i++) {
		snprintf(number, sizeof(number), "trap_%u", i);
		write_named(json, xen_trap_name(i) ? xen_trap_name(i) : number,
			  report_counted(count, COUNT_TRAP, i));
	}
	for (int i = 0; count && report_count_trap(i); i++)
		write_named(json, report_count_trap(i), report_counted(count, COUNT_TRAP_EVENT, i));
	json_close(json, ']');
	json_open(json, "memory", '[', false);
	for (int i = 0; count && report_count_memory(i); i++)
		write_named(json, report_count_memory(i), report_counted(count, COUNT_MEMORY, i));
	json_close(json, ']');
	json_open(json, "interrupts", '[', false);
	for (unsigned int i = 0; count && i < COUNT_VECTORS; i++) {
		if (!report_counted(count, COUNT_VECTOR, i))
			continue;
		json_open(json, NULL, '{', true);
		json_u64(json, "vector", i);
		json_u64(json, "count", report_counted(count, COUNT_VECTOR, i));
		json_close(json, '}');
	}
	json_close(json, ']');
}

void report_events_csv(struct output *out, const struct report *report, const struct csv_row *row,
		       const struct vcpu_count *count)
{
	char text[32];

	for (unsigned int i = 0; count && i < COUNT_HYPERCALLS; i++) {
		const char *name = report_count_hypercall(count, i);

		snprintf(text, sizeof(text), i == COUNT_OTHER_HYPERCALL ? "other" : "%u", i);
		csv_count(out, report, row, "hypercall", name ? name : text,
			  report_counted(count, COUNT_HYPERCALL, i));
		csv_count(out, report, row, "subcall", name ? name : text,
			  report_counted(count, COUNT_SUBCALL, i));
	}
	for (unsigned int i = 0; count && i < COUNT_TRAPS; i++) {
		snprintf(text, sizeof(text), "trap_%u", i);
		csv_count(out, report, row, "trap", xen_trap_name(i) ? xen_trap_name(i) : text,
			  report_counted(count, COUNT_TRAP, i));
	}
	for (int i = 0; count && report_count_trap(i); i++)
		csv_count(out, report, row, "trap", report_count_trap(i),
			  report_counted(count, COUNT_TRAP_EVENT, i));
	for (int i = 0; count && report_count_memory(i); i++)
		csv_count(out, report, row, "memory", report_count_memory(i),
			  report_counted(count, COUNT_MEMORY, i));
	for (unsigned int i = 0; count && i < COUNT_VECTORS; i++) {
		snprintf(text, sizeof(text), "%u", i);
		csv_count(out, report, row, "interrupt", text,
			  report_counted(count, COUNT_VECTOR, i));
	}
}
