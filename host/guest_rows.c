// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	guest_rows.c
 * @brief	Make rows of the reports that a machine sends through hypercalls.
 *
 * A row is stored in few bytes: IS_EVENT, kind, edge, the set of its fields, their values, and the
 * name as plain text, if the event has one; or IS_TEXT and a text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "guest_rows.h"
#include "hyper_text.h"
#include "key_map.h"
#include "search.h"

enum { IS_EVENT, IS_TEXT };

/** Bits of a varint's byte that are of the number. */
#define VARINT_BITS	7
#define VARINT_MORE	(1 << VARINT_BITS)

/** In the byte of the edge: hyper_event.no_sign. */
#define NO_SIGN_BIT	7

/** What a row of its own says. */
static const char lost_name[] = "lost_records", trouble_name[] = "cannot_be", rest[] = "hypercall";

/** Names are looked up so often at most. */
#define MOST_KEYS	(4 * GUEST_ROWS_NAMES)

/** While rows are made. */
struct making {
	struct guest_rows	*rows;
	const struct host_hypertrace_machine *machine;
	struct key_map		keys;		/* labels' addresses, or numbers of calls */
	int			*events;	/* along @keys: numbers of names */
	uint32_t		room;
	uint64_t		troubles[HYPER_N_TROUBLES]; /* counted so far */
};

/* --- packed bytes ---------------------------------------------------------------------------- */

static int put_bytes(struct guest_rows *rows, const void *bytes, size_t n)
{
	while (rows->content_room - rows->n_content < n) {
		size_t room = rows->content_room;

		/* doubles it, whatever @n is */
		if (ARRAY_GROW(rows->content, room, rows->content_room))
			return -ENOMEM;
	}
	memcpy(rows->content + rows->n_content, bytes, n);
	rows->n_content += n;
	return 0;
}

static int put_byte(struct guest_rows *rows, uint8_t byte)
{
	return put_bytes(rows, &byte, 1);
}

static int put_number(struct guest_rows *rows, uint64_t number)
{
	int ret = 0;

	for (; number >= VARINT_MORE && !ret; number >>= VARINT_BITS)
		ret = put_byte(rows, (uint8_t)(number | VARINT_MORE));
	return ret ? ret : put_byte(rows, (uint8_t)number);
}

static uint64_t get_number(const uint8_t **at)
{
	uint64_t number = 0;
	int shift = 0;

	for (; **at & VARINT_MORE; shift += VARINT_BITS)
		number |= (uint64_t)(*(*at)++ & (VARINT_MORE - 1)) << shift;
	return number | (uint64_t)*(*at)++ << shift;
}

/** Small numbers are short, whatever their sign. */
static int put_signed(struct guest_rows *rows, int64_t value)
{
	return put_number(rows, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static int64_t get_signed(const uint8_t **at)
{
	uint64_t number = get_number(at);

	return (int64_t)(number >> 1 ^ -(number & 1));
}

static int put_event(struct guest_rows *rows, const struct hyper_event *event)
{
	int ret = put_byte(rows, IS_EVENT);
	int64_t value;

	if (!ret)
		ret = put_byte(rows, event->kind);
	if (!ret)
		ret = put_byte(rows, (uint8_t)(event->edge | event->no_sign << NO_SIGN_BIT));
	if (!ret)
		ret = put_number(rows, event->has);
	for (int field = 1; field < HYPER_N_FIELDS && !ret; field++)
		if (hyper_event_field(event, (enum hyper_field)field, &value))
			ret = put_signed(rows, value);
	if (!ret && hyper_has(event, HYPER_F_NAME))
		ret = put_bytes(rows, event->name, strlen(event->name) + 1);
	return ret;
}

/** @at: behind IS_EVENT. */
static void get_event(const uint8_t *at, struct hyper_event *event)
{
	int64_t values[HYPER_N_FIELDS] = { 0 }, unused;

	*event = (struct hyper_event){
		.kind = at[0], .edge = at[1] & ((1 << NO_SIGN_BIT) - 1),
		.no_sign = at[1] >> NO_SIGN_BIT,
	};
	at += 2;
	event->has = (uint32_t)get_number(&at);
	for (int field = 1; field < HYPER_N_FIELDS; field++)
		if (hyper_event_field(event, (enum hyper_field)field, &unused))
			values[field] = get_signed(&at);
	event->before_ns = values[HYPER_F_BEFORE];
	event->address = (uint64_t)values[HYPER_F_ADDRESS];
	event->value = values[HYPER_F_VALUE];
	event->depth = (int32_t)values[HYPER_F_DEPTH];
	event->cpu = (int32_t)values[HYPER_F_CPU];
	event->pid = (int32_t)values[HYPER_F_PID];
	event->tgid = (int32_t)values[HYPER_F_TGID];
	event->prev_pid = (int32_t)values[HYPER_F_PREV_PID];
	event->prev_tgid = (int32_t)values[HYPER_F_PREV_TGID];
	event->prev_state = (int32_t)values[HYPER_F_PREV_STATE];
	event->prio = (int32_t)values[HYPER_F_PRIO];
	event->number = values[HYPER_F_NUMBER];
	if (hyper_has(event, HYPER_F_NAME))
		snprintf(event->name, sizeof(event->name), "%s", (const char *)at);
}

/* --- making ---------------------------------------------------------------------------------- */

/** Return: the number of a name; that of all others, if there are too many; -ENOMEM. */
static int name_of(struct guest_rows *rows, const char *name)
{
	int i = guest_rows_find(rows, name);

	if (i < 0 && rows->n_names >= GUEST_ROWS_NAMES - 1) {
		name = rest;
		i = guest_rows_find(rows, name);
	}
	if (i >= 0)
		return i;
	if (ARRAY_GROW(rows->names, rows->n_names, rows->names_room))
		return -ENOMEM;
	rows->names[rows->n_names] = strdup(name);
	return rows->names[rows->n_names] ? rows->n_names++ : -ENOMEM;
}

/** The same, once for each @key that has this name. */
static int event_of(struct making *making, uint64_t key, const char *name)
{
	int64_t i = key_map_find(&making->keys, key);
	int event;

	if (i >= 0)
		return making->events[i];
	event = name_of(making->rows, making->keys.n_keys < MOST_KEYS ? name : rest);
	if (event < 0 || making->keys.n_keys >= MOST_KEYS)
		return event;
	i = KEY_MAP_ELEMENT(&making->keys, key, making->events, making->room);
	if (i < 0)
		return -ENOMEM;
	making->events[i] = event;
	return event;
}

/** A row about what is put next. @event: or -ENOMEM */
static int add_row(struct guest_rows *rows, int32_t cpu, int64_t time_ns, int32_t pid, int event)
{
	if (event < 0 || ARRAY_GROW(rows->rows, rows->n, rows->room))
		return -ENOMEM;
	rows->rows[rows->n++] = (struct guest_row){
		.time_ns = time_ns, .content = rows->n_content, .pid = pid,
		.cpu = (int16_t)rows->numbers[cpu], .event = (int16_t)event,
	};
	return 0;
}

static int put_text(struct guest_rows *rows, const char *text)
{
	int ret = put_byte(rows, IS_TEXT);

	return ret ? ret : put_bytes(rows, text, strlen(text) + 1);
}

static bool is_shown(const struct guest_rows *rows, int32_t cpu)
{
	return rows->numbers[cpu] >= 0 && rows->numbers[cpu] < INT16_MAX;
}

static int32_t pid_on(const struct making *making, int32_t cpu)
{
	size_t n;
	const struct hyper_run *runs = hyper_guest_runs(making->machine->guest, cpu, &n);

	return n ? runs[n - 1].pid : HYPER_NONE;
}

/** What has been found not to be possible since the last time. */
static int add_troubles(struct making *making, int32_t cpu)
{
	int ret = 0;

	for (int i = 0; i < HYPER_N_TROUBLES && !ret; i++) {
		enum hyper_trouble trouble = (enum hyper_trouble)i;
		uint64_t count = hyper_guest_trouble(making->machine->guest, trouble)->count;

		if (count == making->troubles[i])
			continue;
		making->troubles[i] = count;
		/* both have rows of their own */
		if (trouble == HYPER_T_HOST || trouble == HYPER_T_LOST)
			continue;
		ret = add_row(making->rows, cpu, hyper_guest_now(making->machine->guest),
			      pid_on(making, cpu), name_of(making->rows, trouble_name));
		if (!ret)
			ret = put_text(making->rows, hyper_trouble_text(trouble));
	}
	return ret;
}

static int take_event(void *arg, int32_t cpu, const struct hyper_event *event)
{
	struct making *making = arg;
	int ret;

	if (!is_shown(making->rows, cpu))
		return 0;
	ret = add_row(making->rows, cpu, hyper_guest_now(making->machine->guest),
		      pid_on(making, cpu),
		      event_of(making, (uintptr_t)event->label, event->label));
	if (!ret)
		ret = put_event(making->rows, event);
	return ret ? ret : add_troubles(making, cpu);
}

static int take_call(void *arg, int32_t cpu, const struct hyper_call *call,
		     const struct hyper_decoded *decoded)
{
	struct making *making = arg;
	char name[64], text[512];
	int ret;

	if (!is_shown(making->rows, cpu))
		return 0;
	hyper_undecoded_name(name, sizeof(name), call, decoded);
	hyper_undecoded_text(text, sizeof(text), call, decoded);
	/* what makes no sense is called as what does */
	ret = add_row(making->rows, cpu, call->time_ns, HYPER_NONE,
		      event_of(making, decoded->result == HYPER_SENSELESS ?
			       (uintptr_t)decoded->label : call->nr, name));
	return ret ? ret : put_text(making->rows, text);
}

static int take_lost(void *arg, int32_t cpu, bool begins)
{
	struct making *making = arg;
	int ret;

	if (!is_shown(making->rows, cpu))
		return 0;
	ret = add_row(making->rows, cpu, hyper_guest_now(making->machine->guest), HYPER_NONE,
		      name_of(making->rows, lost_name));
	if (!ret)
		ret = put_text(making->rows, begins ?
			       "the host's trace has no records of this vCPU from here on" :
			       "the host's trace had no records of this vCPU up to here");
	return ret ? ret : add_troubles(making, cpu);
}

/* --- all of it ------------------------------------------------------------------------------- */

/** By time; rows of one moment in the order in which they were added. */
static int compare_rows(const void *a, const void *b)
{
	const struct guest_row *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->content < y->content ? -1 : x->content > y->content;
}

/** Calls that have become nothing lie behind what is known of their CPU when they are taken. */
static void find_pids(struct guest_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct guest_row *row = &rows->rows[i];
		const struct hyper_run *runs;
		int32_t cpu = 0;
		size_t n, at;

		if (row->pid != HYPER_NONE || rows->content[row->content] != IS_TEXT)
			continue;
		while (rows->numbers[cpu] != row->cpu)
			cpu++;
		runs = hyper_guest_runs(rows->guest, cpu, &n);
		SEARCH_FIRST(at, 0, n, runs[at].start_ns <= row->time_ns);
		if (at)
			row->pid = runs[at - 1].pid;
	}
}

static int find_vcpus(const struct host_hypertrace *trace, int32_t machine,
		      struct guest_rows *rows)
{
	const struct virt_machine *info = virt_model_machine(trace->model, machine);

	rows->n_cpus = info->n_vcpus;
	rows->machine = strdup(info->name);
	rows->numbers = calloc((size_t)info->n_vcpus + 1, sizeof(*rows->numbers));
	rows->tids = calloc((size_t)info->n_vcpus + 1, sizeof(*rows->tids));
	if (!rows->machine || !rows->numbers || !rows->tids)
		return -ENOMEM;
	for (int32_t cpu = 0; cpu < info->n_vcpus; cpu++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(trace->model, info->vcpus[cpu]);

		rows->numbers[cpu] = vcpu->id;
		rows->tids[cpu] = vcpu->host_pid;
		if (is_shown(rows, cpu) && vcpu->id >= rows->n_numbers)
			rows->n_numbers = vcpu->id + 1;
	}
	return 0;
}

int guest_rows_make(struct host_hypertrace *trace, int32_t machine, struct guest_rows *rows)
{
	struct host_hypertrace_machine *from = &trace->machines[machine];
	struct making making = { .rows = rows, .machine = from };
	const struct host_hypertrace_watch watch = {
		.event = take_event, .call = take_call, .lost = take_lost,
		.arg = &making,
	};
	int ret = find_vcpus(trace, machine, rows);

	if (!ret)
		ret = host_hypertrace_guest(trace, machine, &watch);
	key_map_destroy(&making.keys);
	free(making.events);
	if (ret)
		return ret;
	rows->dialect = from->dialect;
	rows->guest = from->guest;
	from->guest = NULL;
	if (trace->own == from->dialect) {
		rows->own = trace->own;
		trace->own = NULL;
	}
	find_pids(rows);
	qsort(rows->rows, rows->n, sizeof(*rows->rows), compare_rows);
	return 0;
}

void guest_rows_free(struct guest_rows *rows)
{
	for (int i = 0; i < rows->n_names; i++)
		free(rows->names[i]);
	hyper_guest_free(rows->guest);
	hyper_dialect_free(rows->own);
	free(rows->machine);
	free(rows->numbers);
	free(rows->tids);
	free(rows->names);
	free(rows->rows);
	free(rows->content);
	memset(rows, 0, sizeof(*rows));
}

/* --- asking ---------------------------------------------------------------------------------- */

const char *guest_rows_name(const struct guest_rows *rows, int event)
{
	return event < 0 || event >= rows->n_names ? NULL : rows->names[event];
}

int guest_rows_find(const struct guest_rows *rows, const char *name)
{
	for (int i = 0; i < rows->n_names; i++)
		if (!strcmp(rows->names[i], name))
			return i;
	return -1;
}

bool guest_rows_event(const struct guest_rows *rows, size_t row, struct hyper_event *event)
{
	const uint8_t *content = rows->content + rows->rows[row].content;

	if (*content != IS_EVENT)
		return false;
	get_event(content + 1, event);
	event->label = rows->names[rows->rows[row].event];
	return true;
}

int guest_rows_text(char *text, size_t size, const struct guest_rows *rows, size_t row,
		    const struct hyper_symbols *symbols)
{
	struct hyper_event event;

	if (guest_rows_event(rows, row, &event))
		return hyper_event_text(text, size, &event, rows->dialect, symbols);
	return snprintf(text, size, "%s",
			(const char *)rows->content + rows->rows[row].content + 1);
}
