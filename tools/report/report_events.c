// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_events.c
 * @brief	Write the counts of each hypercall, trap, memory event and interrupt of a vCPU.
 */
#include <stdio.h>

#include "report_parts.h"
#include "report_unknown.h"
#include "table.h"
#include "text_columns.h"

/** How many there are of a kind, by number; what is called the same is one list. */
struct list {
	const char	*heading;
	unsigned int	n;
	enum count_what	what;		/* the first one */
	enum virt_number number;
	const char	*section;	/* of CSV, for the first list of a number */
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

/** Return: false after the last one. */
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
	{ "hypercalls", COUNT_HYPERCALLS, COUNT_HYPERCALL, VIRT_NUMBER_HYPERCALLS, "hypercall",
	  label_hypercall },
	{ "in multicalls", COUNT_HYPERCALLS, COUNT_SUBCALL, VIRT_NUMBER_SUBCALLS, NULL,
	  label_hypercall },
	{ "traps", COUNT_TRAPS, COUNT_TRAP, VIRT_NUMBER_TRAPS, "trap", label_trap },
	{ "traps", COUNT_TRAP_EVENTS, COUNT_TRAP_EVENT, VIRT_NUMBER_TRAPS, NULL,
	  label_trap_event },
	{ "memory", COUNT_MEMORY_EVENTS, COUNT_MEMORY, VIRT_NUMBER_MEMORY, "memory",
	  label_memory },
	{ "interrupts", COUNT_VECTORS, COUNT_VECTOR, VIRT_NUMBER_INJECTED, "interrupt",
	  label_vector },
};

/** Calls in multicalls are a part of hypercalls. */
static bool knows_list(const struct report *report, const struct list *list)
{
	return report_knows(report, list->number) &&
	       (list->what != COUNT_SUBCALL || report_knows(report, VIRT_NUMBER_HYPERCALLS));
}

/** Does a list have a sign that it is unknown? */
static bool is_missed(const struct report *report, const struct list *list)
{
	return !knows_list(report, list) &&
	       (list->section || (list->what == COUNT_SUBCALL &&
				  report_knows(report, VIRT_NUMBER_HYPERCALLS)));
}

/** The lists that the trace does not show, a line each. */
static void text_unknown_lists(struct output *out, const struct report *report)
{
	bool first = true;

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		if (!is_missed(report, &lists[k]))
			continue;
		if (first)
			out_char(out, '\n');
		first = false;
		text_name(out, lists[k].heading);
		text_unknown(out);
		out_char(out, '\n');
	}
}

/** Those of @list that were counted. */
static void list_rows(struct table_writer *to, const struct list *list,
		      const struct vcpu_count *count)
{
	char text[64], name[80];

	for (unsigned int i = 0; i < list->n; i++) {
		uint64_t n = report_counted(count, list->what, i);

		if (!n || !list->label(count, i, text, sizeof(text)))
			continue;
		snprintf(name, sizeof(name), "  %s", text);
		table_row(to, (const struct table_cell[]){
			table_name(name), table_number((int64_t)n),
		});
	}
}

/** Lists with the same heading have it once. */
void report_events_text(struct output *out, const struct report *report,
			const struct vcpu_count *count)
{
	struct table_column columns[] = {
		{ .width = TEXT_NAME }, { .title = "count", .type = TABLE_COUNT },
	};
	const struct table table = { .rows = { TABLE_COLUMNS(columns), .apart = true } };
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };

	table_flat(&to, true);
	for (size_t k = 0; count && k < ARRAY_SIZE(lists); k++) {
		if (!k || strcmp(lists[k].heading, lists[k - 1].heading) != 0)
			table_rows(&to, &table.rows);
		columns[0].title = lists[k].heading;
		if (knows_list(report, &lists[k]))
			list_rows(&to, &lists[k], count);
	}
	table_flat_end(&to);
	text_unknown_lists(out, report);
}

/** Begin a list of JSON. Return: false if it is unknown, and has been written so. */
static bool begin_list(struct facts *to, const struct report *report, const char *key,
		       enum virt_number number)
{
	if (report_knows(report, number))
		facts_open(to, key, '[', false);
	else
		facts_null(to, key);
	return report_knows(report, number);
}

/** CSV begins with an empty row for each list that is unknown. */
static void unknown_facts(struct facts *to, const struct report *report)
{
	to->unknown = true;
	for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
		if (lists[k].section && !report_knows(report, lists[k].number))
			facts_count(to, FACT_CSV(lists[k].section, NULL), 0);
	to->unknown = false;
}

static void hypercall_facts(struct facts *to, const struct report *report,
			    const struct vcpu_count *count, unsigned int i)
{
	bool is_other = i == COUNT_OTHER_HYPERCALL;
	const char *name = report_count_hypercall(count, i);
	uint64_t calls = report_counted(count, COUNT_HYPERCALL, i);
	uint64_t subcalls = report_counted(count, COUNT_SUBCALL, i);
	char text[32];

	if (!calls && !subcalls)
		return;
	snprintf(text, sizeof(text), is_other ? "other" : "%u", i);
	facts_open(to, NULL, '{', true);
	if (!is_other)
		facts_number(to, "nr", i);
	facts_name(to, "name", is_other ? "other" : name ? name : "");
	facts_count(to, FACT("count", "hypercall", name ? name : text), calls);
	to->unknown = !report_knows(report, VIRT_NUMBER_SUBCALLS);
	facts_count(to, FACT("subcalls", "subcall", name ? name : text), subcalls);
	to->unknown = false;
	facts_close(to, '}');
}

static void named_facts(struct facts *to, const char *section, const char *name, uint64_t count)
{
	if (!count)
		return;
	facts_open(to, NULL, '{', true);
	facts_name(to, "name", name);
	facts_count(to, FACT("count", section, name), count);
	facts_close(to, '}');
}

static void trap_facts(struct facts *to, const struct vcpu_count *count)
{
	char number[16];

	for (unsigned int i = 0; i < COUNT_TRAPS; i++) {
		snprintf(number, sizeof(number), "trap_%u", i);
		named_facts(to, "trap", xen_trap_name(i) ? xen_trap_name(i) : number,
			    report_counted(count, COUNT_TRAP, i));
	}
	for (int i = 0; report_count_trap(i); i++)
		named_facts(to, "trap", report_count_trap(i),
			    report_counted(count, COUNT_TRAP_EVENT, i));
}

static void vector_facts(struct facts *to, const struct vcpu_count *count, unsigned int i)
{
	uint64_t injected = report_counted(count, COUNT_VECTOR, i);
	char text[16];

	if (!injected)
		return;
	snprintf(text, sizeof(text), "%u", i);
	facts_open(to, NULL, '{', true);
	facts_number(to, "vector", i);
	facts_count(to, FACT("count", "interrupt", text), injected);
	facts_close(to, '}');
}

void report_events_facts(struct facts *to, const struct report *report,
			 const struct vcpu_count *count)
{
	unknown_facts(to, report);
	if (begin_list(to, report, "hypercalls", VIRT_NUMBER_HYPERCALLS)) {
		for (unsigned int i = 0; count && i < COUNT_HYPERCALLS; i++)
			hypercall_facts(to, report, count, i);
		facts_close(to, ']');
	}
	if (begin_list(to, report, "traps", VIRT_NUMBER_TRAPS)) {
		if (count)
			trap_facts(to, count);
		facts_close(to, ']');
	}
	if (begin_list(to, report, "memory", VIRT_NUMBER_MEMORY)) {
		for (int i = 0; count && report_count_memory(i); i++)
			named_facts(to, "memory", report_count_memory(i),
				    report_counted(count, COUNT_MEMORY, i));
		facts_close(to, ']');
	}
	if (begin_list(to, report, "interrupts", VIRT_NUMBER_INJECTED)) {
		for (unsigned int i = 0; count && i < COUNT_VECTORS; i++)
			vector_facts(to, count, i);
		facts_close(to, ']');
	}
}
