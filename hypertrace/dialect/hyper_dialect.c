// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_dialect.c
 * @brief	Convert a hypercall to an event by the table of a dialect.
 */
#include <string.h>

#include "array.h"
#include "hyper_dialect.h"
#include "search.h"
#include "x86_names.h"

/** Linux's include/linux/threads.h: PID_MAX_LIMIT of 64 bits. */
#define MAX_PID		(4 * 1024 * 1024)

#define BIT(field)	(UINT32_C(1) << (field))

/** Levels from core to late have a _sync level, whose number is SYNC_DISTANCE higher. */
#define SYNC_FIRST	2
#define SYNC_LAST	9
#define SYNC_DISTANCE	10

/** What a dialect may call a field, the highest value that makes sense, and where it goes. */
static const struct {
	const char	*name;
	uint64_t	most;
	size_t		offset;		/* of an int32_t in struct hyper_event; 0: elsewhere */
} fields[HYPER_N_FIELDS] = {
	[HYPER_F_EDGE] = { "edge", 1, 0 },
	[HYPER_F_ADDRESS] = { "address", UINT64_MAX, 0 },
	/* what Linux's function graph tracer follows is at most 50 deep, others' more */
	[HYPER_F_DEPTH] = { "depth", 1023, offsetof(struct hyper_event, depth) },
	[HYPER_F_CPU] = { "cpu", 8191, offsetof(struct hyper_event, cpu) },
	[HYPER_F_PID] = { "pid", MAX_PID, offsetof(struct hyper_event, pid) },
	[HYPER_F_TGID] = { "tgid", MAX_PID, offsetof(struct hyper_event, tgid) },
	[HYPER_F_PREV_PID] = { "prev_pid", MAX_PID, offsetof(struct hyper_event, prev_pid) },
	[HYPER_F_PREV_TGID] = { "prev_tgid", MAX_PID, offsetof(struct hyper_event, prev_tgid) },
	[HYPER_F_PREV_STATE] = { "prev_state", UINT16_MAX,
				 offsetof(struct hyper_event, prev_state) },
	[HYPER_F_PRIO] = { "prio", 255, offsetof(struct hyper_event, prio) },
	[HYPER_F_NUMBER] = { "number", INT32_MAX, 0 },
	[HYPER_F_SYNC] = { "sync", 1, 0 },
	[HYPER_F_VALUE] = { "value", UINT64_MAX, 0 },
	[HYPER_F_BEFORE] = { "before", INT64_MAX, 0 },
	[HYPER_F_NAME] = { "name", UINT64_MAX, 0 },
};

/** What a dialect may call a kind, and which fields an event of it must have. */
static const struct {
	const char	*name;
	uint32_t	needs;
} kinds[HYPER_N_KINDS] = {
	[HYPER_OTHER] = { "other", 0 },
	[HYPER_FUNCTION] = { "function", BIT(HYPER_F_ADDRESS) },
	[HYPER_USER_FUNCTION] = { "user_function", BIT(HYPER_F_ADDRESS) },
	[HYPER_SYSCALL] = { "syscall", BIT(HYPER_F_NUMBER) },
	[HYPER_IRQ] = { "irq", BIT(HYPER_F_NUMBER) },
	[HYPER_SOFTIRQ] = { "softirq", BIT(HYPER_F_NUMBER) },
	[HYPER_INITCALL] = { "initcall", 0 },
	[HYPER_LEVEL] = { "level", BIT(HYPER_F_NUMBER) },
	[HYPER_SHUTDOWN] = { "shutdown", BIT(HYPER_F_NUMBER) },
	[HYPER_DEVICE] = { "device", BIT(HYPER_F_NUMBER) },
	[HYPER_NOTIFIER] = { "notifier", BIT(HYPER_F_NUMBER) },
	[HYPER_PHASE] = { "phase", 0 },
	[HYPER_SWITCH] = { "switch", BIT(HYPER_F_PID) },
	[HYPER_WAKEUP] = { "wakeup", BIT(HYPER_F_PID) },
	[HYPER_FORK] = { "fork", BIT(HYPER_F_PID) },
	[HYPER_TASK_EXIT] = { "task_exit", BIT(HYPER_F_PID) },
	[HYPER_COMM] = { "comm", BIT(HYPER_F_PID) | BIT(HYPER_F_NAME) },
	[HYPER_SOFTIRQ_RAISE] = { "softirq_raise", BIT(HYPER_F_NUMBER) },
	[HYPER_START] = { "start", 0 },
	[HYPER_STOP] = { "stop", 0 },
	[HYPER_LOST] = { "lost", 0 },
};

static const char *const edges[HYPER_N_EDGES] = {
	[HYPER_AT_ONCE] = "at_once", [HYPER_ENTRY] = "entry", [HYPER_EXIT] = "exit",
};

const char *hyper_kind_name(enum hyper_kind kind)
{
	return (unsigned int)kind < HYPER_N_KINDS ? kinds[kind].name : NULL;
}

const char *hyper_edge_name(enum hyper_edge edge)
{
	return (unsigned int)edge < HYPER_N_EDGES ? edges[edge] : NULL;
}

const char *hyper_field_name(enum hyper_field field)
{
	return (unsigned int)field < HYPER_N_FIELDS ? fields[field].name : NULL;
}

uint64_t hyper_field_most(enum hyper_field field)
{
	return fields[field].most;
}

uint32_t hyper_kind_needs(enum hyper_kind kind)
{
	return kinds[kind].needs;
}

const char *hyper_kvm_number(uint64_t nr)
{
	return x86_kvm_call_name(nr);
}

const struct hyper_dialect *hyper_dialect_find(const char *name)
{
	for (size_t i = 0; hyper_dialects[i]; i++)
		if (!strcmp(hyper_dialects[i]->name, name))
			return hyper_dialects[i];
	return NULL;
}

const char *hyper_number_name(const struct hyper_dialect *dialect, enum hyper_kind kind,
			      int64_t number)
{
	for (size_t i = 0; i < dialect->n_names; i++)
		if (dialect->names[i].kind == kind && dialect->names[i].number == number)
			return dialect->names[i].name;
	return NULL;
}

/* --- decoding -------------------------------------------------------------------------------- */

/** A part of a register. Return: false if it was not recorded. */
static bool take_part(const struct hyper_part *part, const struct hyper_call *call,
		      uint64_t *value)
{
	unsigned int bits = part->bits ? part->bits : 64 - part->shift;
	unsigned int end = 64 * part->reg + part->shift + bits;

	/* of what ends within a register, the rest is not there: Xen's last one has 32 bits */
	if (end > 8u * call->bytes && (part->bits || 64u * part->reg + 32 > 8u * call->bytes))
		return false;
	*value = call->a[part->reg] >> part->shift;
	if (bits < 64)
		*value &= (UINT64_C(1) << bits) - 1;
	return true;
}

/** Up to 8 letters more; behind a NUL there are none. */
static void add_name(struct hyper_event *event, uint64_t letters)
{
	size_t n = strlen(event->name);

	for (int i = 0; i < 8 && n < HYPER_NAME_SIZE - 1 && (letters & 0xff); i++, letters >>= 8)
		event->name[n++] = (char)(letters & 0xff);
}

static void set_field(struct hyper_event *event, enum hyper_field field, uint64_t value)
{
	int32_t number = (int32_t)value;

	event->has |= BIT(field);
	if (fields[field].offset)
		memcpy((char *)event + fields[field].offset, &number, sizeof(number));
	else if (field == HYPER_F_EDGE)
		event->edge = value ? HYPER_EXIT : HYPER_ENTRY;
	else if (field == HYPER_F_ADDRESS)
		event->address = value;
	else if (field == HYPER_F_NUMBER)
		event->number = (int64_t)value;
	else if (field == HYPER_F_VALUE)
		event->value = (int64_t)value;
	else if (field == HYPER_F_BEFORE)
		event->before_ns = (int64_t)value;
	else if (field == HYPER_F_NAME)
		add_name(event, value);
}

/** Levels that have a _sync one are counted 10 on; the number may come behind the mark. */
static bool add_sync(struct hyper_event *event)
{
	if (event->number < SYNC_FIRST || event->number > SYNC_LAST)
		return false;
	event->number += SYNC_DISTANCE;
	return true;
}

static const struct hyper_row *find_row(const struct hyper_dialect *dialect, uint64_t number)
{
	size_t i;

	SEARCH_FIRST(i, 0, dialect->n_rows, dialect->rows[i].number < number);
	return i < dialect->n_rows && dialect->rows[i].number == number ? &dialect->rows[i] : NULL;
}

/** The edge comes first, as other parts may be of one of them only. */
static enum hyper_field take_parts(const struct hyper_row *row, const struct hyper_call *call,
				   struct hyper_event *event, bool edge)
{
	bool sync = false;

	for (int i = 0; i < HYPER_MAX_FIELDS && row->parts[i].field; i++) {
		const struct hyper_part *part = &row->parts[i];
		uint64_t value;

		if ((part->field == HYPER_F_EDGE) != edge ||
		    (part->only && part->only != event->edge))
			continue;
		if (!take_part(part, call, &value) || value > fields[part->field].most)
			return part->field;
		set_field(event, part->field, value);
		sync |= part->field == HYPER_F_SYNC && value;
	}
	return sync && !add_sync(event) ? HYPER_F_SYNC : HYPER_F_NONE;
}

enum hyper_result hyper_result_of(const struct hyper_call *call)
{
	return call->is_users ? HYPER_USERS :
	       call->source != HYPER_XEN && hyper_kvm_number(call->nr) ? HYPER_FOREIGN :
	       HYPER_UNKNOWN;
}

enum hyper_result hyper_decode(const struct hyper_dialect *dialect, const struct hyper_call *call,
			       struct hyper_event *event, enum hyper_field *bad)
{
	/* Xen's numbers have no room for more */
	bool has_cpu = dialect->number_bits && call->source != HYPER_XEN;
	uint64_t number = call->nr, cpu = 0;
	const struct hyper_row *row;
	enum hyper_result result = hyper_result_of(call);
	enum hyper_field wrong;

	memset(event, 0, sizeof(*event));
	if (result != HYPER_UNKNOWN)
		return result;
	if (has_cpu) {
		number &= (UINT64_C(1) << dialect->number_bits) - 1;
		cpu = call->nr >> dialect->number_bits;
	}
	row = find_row(dialect, number);
	if (!row)
		return HYPER_UNKNOWN;
	event->kind = row->kind;
	event->edge = row->edge;
	event->label = row->name;
	wrong = cpu > fields[HYPER_F_CPU].most ? HYPER_F_CPU : take_parts(row, call, event, true);
	if (!wrong)
		wrong = take_parts(row, call, event, false);
	if (!wrong && has_cpu && !hyper_has(event, HYPER_F_CPU))
		set_field(event, HYPER_F_CPU, cpu);
	if (bad)
		*bad = wrong;
	return wrong ? HYPER_SENSELESS : HYPER_DECODED;
}
