// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_text.c
 * @brief	Describe events of guests as text.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "hyper_text.h"

/** A text that grows as far as there is room, and counts on behind that. */
struct words {
	char		*text;
	size_t		size;
	int		n;
};

static void add(struct words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct words *words, const char *format, ...)
{
	size_t used = (size_t)words->n < words->size ? (size_t)words->n : words->size;
	va_list args;

	/* blanks stand between words */
	format += !words->n && *format == ' ';
	va_start(args, format);
	words->n += vsnprintf(used < words->size ? words->text + used : NULL, words->size - used,
			      format, args);
	va_end(args);
}

bool hyper_event_field(const struct hyper_event *event, enum hyper_field field, int64_t *value)
{
	const int64_t values[HYPER_N_FIELDS] = {
		[HYPER_F_ADDRESS] = (int64_t)event->address, [HYPER_F_DEPTH] = event->depth,
		[HYPER_F_CPU] = event->cpu, [HYPER_F_PID] = event->pid,
		[HYPER_F_TGID] = event->tgid, [HYPER_F_PREV_PID] = event->prev_pid,
		[HYPER_F_PREV_TGID] = event->prev_tgid, [HYPER_F_PREV_STATE] = event->prev_state,
		[HYPER_F_PRIO] = event->prio, [HYPER_F_NUMBER] = event->number,
		[HYPER_F_VALUE] = event->value, [HYPER_F_BEFORE] = event->before_ns,
	};

	if (!hyper_has(event, field) || field == HYPER_F_EDGE || field == HYPER_F_SYNC ||
	    field == HYPER_F_NAME)
		return false;
	*value = values[field];
	return true;
}

static void add_address(struct words *words, uint64_t address, const struct hyper_symbols *symbols)
{
	uint64_t offset;
	const char *name = hyper_symbols_name(symbols, address, &offset);

	add(words, " address=0x%" PRIx64, address);
	if (name && offset)
		add(words, " (%s+0x%" PRIx64 ")", name, offset);
	else if (name)
		add(words, " (%s)", name);
}

int hyper_event_text(char *text, size_t size, const struct hyper_event *event,
		     const struct hyper_dialect *dialect, const struct hyper_symbols *symbols)
{
	struct words words = { text, size, 0 };
	const char *number = hyper_number_name(dialect, (enum hyper_kind)event->kind,
					       event->number);
	int64_t value;

	if (size)
		*text = '\0';
	if (event->edge)
		add(&words, " %s", hyper_edge_name((enum hyper_edge)event->edge));
	for (int field = 1; field < HYPER_N_FIELDS; field++) {
		if (!hyper_event_field(event, (enum hyper_field)field, &value))
			continue;
		if (field == HYPER_F_ADDRESS) {
			add_address(&words, event->address, symbols);
			continue;
		}
		if (field == HYPER_F_VALUE && event->no_sign) {
			add(&words, " %s=%" PRIu64, hyper_field_name(HYPER_F_VALUE),
			    (uint64_t)value);
			continue;
		}
		add(&words, " %s=%" PRId64, hyper_field_name((enum hyper_field)field), value);
		if (field == HYPER_F_NUMBER && number)
			add(&words, " (%s)", number);
	}
	if (!hyper_has(event, HYPER_F_BEFORE) && event->before_ns == HYPER_BEFORE_UNKNOWN)
		add(&words, " before=?");
	if (hyper_has(event, HYPER_F_NAME))
		add(&words, " name=%s", event->name);
	return words.n;
}

int hyper_call_text(char *text, size_t size, const struct hyper_call *call)
{
	struct words words = { text, size, 0 };

	if (size)
		*text = '\0';
	for (int i = 0; i < HYPER_N_REGISTERS && 8 * i < call->bytes; i++)
		add(&words, " a%d=0x%" PRIx64, i, call->a[i]);
	return words.n;
}

int hyper_undecoded_name(char *text, size_t size, const struct hyper_call *call,
			 const struct hyper_decoded *decoded)
{
	if (decoded->result == HYPER_FOREIGN)
		return snprintf(text, size, "KVM_HC_%s", hyper_kvm_number(call->nr));
	if (decoded->result == HYPER_SENSELESS)
		return snprintf(text, size, "%s", decoded->label);
	return snprintf(text, size, "hypercall_%" PRIu64, call->nr);
}

int hyper_undecoded_text(char *text, size_t size, const struct hyper_call *call,
			 const struct hyper_decoded *decoded)
{
	size_t n = 0;

	if (decoded->result == HYPER_SENSELESS)
		n = (size_t)snprintf(text, size, "makes no sense, see '%s': ", decoded->fault);
	if (n >= size)
		return (int)n;
	return (int)n + hyper_call_text(text + n, size - n, call);
}
