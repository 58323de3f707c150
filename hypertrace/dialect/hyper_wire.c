// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_wire.c
 * @brief	Convert the calls of our own kernel module, read by its codec, to events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hyper_wire.h"
#include "hypertrace_wire.h"
#include "key_map.h"

_Static_assert(HT_MAX_EVENTS + 2 <= HYPER_MAX_EVENTS, "a loss and a control call, too");
_Static_assert(HT_TEXT_SIZE < HYPER_NAME_SIZE, "a name and its end");

#define BIT(field)	(UINT32_C(1) << (field))

/** More calls than that seem to be missing if one comes twice, or too late. */
#define MOST_MISSING	128

struct hyper_wire {
	struct key_map	map;		/* thread */
	struct ht_decoder *vcpus;
	uint32_t	room;
	struct hyper_khz khz;
};

/** What a kind becomes, and where its fields go; HYPER_F_NONE: nowhere. */
static const struct {
	uint8_t		kind, edge;	/* enum hyper_kind, enum hyper_edge */
	uint8_t		fields[HT_MAX_FIELDS];
} rows[HT_N_KINDS] = {
	[HT_SWITCH] = { HYPER_SWITCH, 0, { HYPER_F_PREV_PID, 0, HYPER_F_PREV_STATE, HYPER_F_PID,
					   HYPER_F_PRIO } },
	[HT_WAKEUP] = { HYPER_WAKEUP, 0, { HYPER_F_PID, HYPER_F_PRIO, HYPER_F_CPU } },
	[HT_IRQ_ENTRY] = { HYPER_IRQ, HYPER_ENTRY, { HYPER_F_NUMBER } },
	[HT_IRQ_EXIT] = { HYPER_IRQ, HYPER_EXIT, { HYPER_F_NUMBER, HYPER_F_VALUE } },
	[HT_SOFTIRQ_ENTRY] = { HYPER_SOFTIRQ, HYPER_ENTRY, { HYPER_F_NUMBER } },
	[HT_SOFTIRQ_EXIT] = { HYPER_SOFTIRQ, HYPER_EXIT, { HYPER_F_NUMBER } },
	[HT_SYSCALL_ENTRY] = { HYPER_SYSCALL, HYPER_ENTRY, { HYPER_F_NUMBER } },
	[HT_SYSCALL_EXIT] = { HYPER_SYSCALL, HYPER_EXIT, { HYPER_F_NUMBER, HYPER_F_VALUE } },
	[HT_INITCALL_LEVEL] = { HYPER_LEVEL, 0, { HYPER_F_NUMBER } },
	[HT_INITCALL_START] = { HYPER_INITCALL, HYPER_ENTRY, { HYPER_F_ADDRESS } },
	[HT_INITCALL_FINISH] = { HYPER_INITCALL, HYPER_EXIT, { HYPER_F_ADDRESS, HYPER_F_VALUE } },
	[HT_FUNCTION_ENTRY] = { HYPER_FUNCTION, HYPER_ENTRY, { HYPER_F_ADDRESS } },
	[HT_FUNCTION_EXIT] = { HYPER_FUNCTION, HYPER_EXIT, { HYPER_F_ADDRESS } },
	[HT_TASK_NAME] = { HYPER_COMM, 0, { HYPER_F_PID } },
	[HT_LOST] = { HYPER_LOST, 0, { HYPER_F_VALUE } },
	[HT_USER] = { HYPER_OTHER, 0, { HYPER_F_NUMBER, HYPER_F_VALUE } },
	[HT_PHASE] = { HYPER_PHASE, 0, { HYPER_F_NUMBER } },
};

/** Numbers that may be negative: of a deadline task's priority, of a system call that was none. */
static bool has_sign(uint8_t field)
{
	return field == HYPER_F_PRIO || field == HYPER_F_NUMBER;
}

struct hyper_wire *hyper_wire_new(struct hyper_khz khz)
{
	struct hyper_wire *wire = calloc(1, sizeof(*wire));

	if (wire)
		wire->khz = khz;
	return wire;
}

void hyper_wire_free(struct hyper_wire *wire)
{
	if (!wire)
		return;
	key_map_destroy(&wire->map);
	free(wire->vcpus);
	free(wire);
}

static struct ht_call call_of(const struct hyper_call *call)
{
	struct ht_call same = {
		.nr = call->nr, .bytes = call->bytes, .xen = call->source == HYPER_XEN,
	};

	memcpy(same.a, call->a, sizeof(same.a));
	return same;
}

/** Are all bits of a call of one event those that its sender sets? */
static bool is_exact(const struct ht_call *call, const struct ht_event *event)
{
	struct ht_encoder encoder = { .xen = true };
	struct ht_call again;

	return ht_encode_plain(&encoder, event, &again) &&
	       !memcmp(call->a, again.a, sizeof(again.a));
}

/**
 * Under Xen, other software may use these numbers: a call that is no control call must have events,
 * and their kinds must be known.
 */
bool hyper_wire_fits(const struct hyper_call *call)
{
	const struct ht_call same = call_of(call);
	struct ht_decoder decoder = { .ours = true };
	struct ht_decoded decoded;

	if (!ht_is_ours(&same) || ht_decode(&decoder, &same, &decoded) != HT_OK)
		return false;
	if (!same.xen || decoded.control)
		return true;
	for (int i = 0; i < decoded.n; i++)
		if (!ht_kind_name(decoded.events[i].kind))
			return false;
	return decoded.n && (decoded.sort != HT_PLAIN || is_exact(&same, &decoded.events[0]));
}

uint64_t hyper_wire_number(const struct hyper_call *call)
{
	const struct ht_call same = call_of(call);

	return ht_is_ours(&same) ? call->nr & ~(uint64_t)HT_NR_SEQUENCE : call->nr;
}

bool hyper_wire_clock(const struct hyper_call *call, struct hyper_clock *clock)
{
	const struct ht_call same = call_of(call);
	struct ht_decoder decoder = { .calls = 0 };
	struct ht_decoded decoded;

	if (!ht_is_ours(&same) || ht_decode(&decoder, &same, &decoded) != HT_OK ||
	    !decoded.control)
		return false;
	clock->tsc = decoded.clock.tsc;
	clock->khz = decoded.clock.khz;
	clock->start = decoded.control == HT_START;
	return true;
}

/* --- events ---------------------------------------------------------------------------------- */

/** How long before its call an event was. Without a frequency, it is unknown. */
static void set_before(struct hyper_event *event, uint32_t khz, uint64_t cycles)
{
	unsigned __int128 ns = (unsigned __int128)cycles * 1000000;

	if (!cycles)
		return;
	event->before_ns = HYPER_BEFORE_UNKNOWN;
	if (!khz)
		return;
	event->before_ns = ns / khz > INT64_MAX ? INT64_MAX : (int64_t)(ns / khz);
	event->has |= BIT(HYPER_F_BEFORE);
}

/** Our numbers have 32 bits: whatever a user calls them. */
static uint64_t most_of(uint8_t field)
{
	return field == HYPER_F_NUMBER ? UINT32_MAX : hyper_field_most((enum hyper_field)field);
}

/** Return: false if it makes no sense. */
static bool set_field(struct hyper_event *event, uint8_t field, uint64_t value)
{
	bool minus = has_sign(field) && (int64_t)value == -1;
	int32_t number = (int32_t)value;

	if (value > most_of(field) && !minus)
		return false;
	event->has |= BIT(field);
	switch (field) {
	case HYPER_F_ADDRESS:
		event->address = value;
		break;
	case HYPER_F_VALUE:
		event->value = (int64_t)value;
		break;
	case HYPER_F_PID:
		event->pid = number;
		break;
	case HYPER_F_PREV_PID:
		event->prev_pid = number;
		break;
	case HYPER_F_PREV_STATE:
		event->prev_state = number;
		break;
	case HYPER_F_PRIO:
		event->prio = number;
		break;
	case HYPER_F_CPU:
		event->cpu = number;
		break;
	case HYPER_F_NUMBER:
		event->number = (int64_t)value;
		break;
	}
	return true;
}

/** Return: HYPER_F_NONE, or what makes no sense. */
static enum hyper_field make_event(uint32_t khz, const struct ht_event *reported,
				   struct hyper_event *event)
{
	*event = (struct hyper_event){ .label = ht_kind_name(reported->kind) };
	set_before(event, khz, reported->tsc);
	/* of a later version: it is there, and what it says is not known */
	if (!event->label) {
		event->label = "kind_to_come";
		event->number = reported->kind;
		event->has |= BIT(HYPER_F_NUMBER);
		return HYPER_F_NONE;
	}
	event->kind = rows[reported->kind].kind;
	event->edge = rows[reported->kind].edge;
	event->no_sign = reported->kind == HT_USER || reported->kind == HT_LOST;
	for (int i = 0; i < HT_MAX_FIELDS && i < reported->n; i++) {
		uint8_t field = rows[reported->kind].fields[i];

		if (field && !set_field(event, field, reported->field[i]))
			return (enum hyper_field)field;
	}
	if (event->kind == HYPER_PHASE && ht_phase_name((uint64_t)event->number))
		event->label = ht_phase_name((uint64_t)event->number);
	if (event->kind == HYPER_COMM) {
		memcpy(event->name, reported->text, HT_TEXT_SIZE);
		event->has |= BIT(HYPER_F_NAME);
	}
	return HYPER_F_NONE;
}

static struct hyper_event *new_event(struct hyper_decoded *decoded, enum hyper_kind kind,
				     const char *label)
{
	struct hyper_event *event = &decoded->events[decoded->n++];

	*event = (struct hyper_event){ .kind = (uint8_t)kind, .label = label };
	return event;
}

/** Before the first event of a call, calls are missing. */
static void add_missing(uint32_t khz, const struct ht_decoded *reported,
			struct hyper_decoded *decoded)
{
	struct hyper_event *event = new_event(decoded, HYPER_LOST, "missing_calls");

	event->value = reported->missing > MOST_MISSING ? -1 : reported->missing;
	event->has = BIT(HYPER_F_VALUE);
	set_before(event, khz, reported->n ? reported->events[0].tsc : 0);
}

static void add_control(const struct ht_decoded *reported, struct hyper_decoded *decoded)
{
	struct hyper_event *event;

	if (reported->control == HT_STOP) {
		event = new_event(decoded, HYPER_STOP, "stop");
		event->value = reported->stop_lost;
		event->has = BIT(HYPER_F_VALUE);
		return;
	}
	event = reported->control == HT_START ? new_event(decoded, HYPER_START, "start") :
		new_event(decoded, HYPER_OTHER, "clock");
	if (reported->clock.vcpu <= hyper_field_most(HYPER_F_CPU)) {
		event->cpu = (int32_t)reported->clock.vcpu;
		event->has = BIT(HYPER_F_CPU);
	}
}

static void add_events(uint32_t khz, const struct ht_decoded *reported,
		       struct hyper_decoded *decoded)
{
	for (int i = 0; i < reported->n; i++) {
		enum hyper_field bad = make_event(khz, &reported->events[i],
						  &decoded->events[decoded->n]);

		if (!bad) {
			decoded->n++;
			continue;
		}
		decoded->result = HYPER_SENSELESS;
		decoded->label = decoded->events[decoded->n].label;
		decoded->fault = hyper_field_name(bad);
	}
}

/* --- calls ----------------------------------------------------------------------------------- */

static struct ht_decoder *vcpu_of(struct hyper_wire *wire, int32_t tid)
{
	int64_t i = KEY_MAP_ELEMENT(&wire->map, (uint32_t)tid, wire->vcpus, wire->room);

	return i < 0 ? NULL : &wire->vcpus[i];
}

/** What a guest believes is less than what its calls show on the host's axis. */
static uint32_t khz_of(const struct hyper_wire *wire, const struct ht_decoder *vcpu)
{
	if (wire->khz.measured)
		return wire->khz.measured;
	return vcpu->has_clock && vcpu->clock.khz ? vcpu->clock.khz : wire->khz.reported;
}

int hyper_wire_take(struct hyper_wire *wire, const struct hyper_call *call,
		    struct hyper_decoded *decoded)
{
	static const enum hyper_result results[HT_N_RESULTS] = {
		[HT_OK] = HYPER_DECODED, [HT_FOREIGN] = HYPER_UNKNOWN,
		[HT_UNKNOWN_VERSION] = HYPER_SENSELESS, [HT_TRUNCATED] = HYPER_SENSELESS,
		[HT_BAD] = HYPER_SENSELESS,
	};
	const struct ht_call same = call_of(call);
	struct ht_decoder *vcpu = vcpu_of(wire, call->tid);
	struct ht_decoded reported = { .n = 0 };
	enum ht_result result;

	uint32_t khz;
	bool assumed;

	if (!vcpu)
		return -ENOMEM;
	/* before its first control call, it is ours if it looks like that */
	assumed = same.xen && !vcpu->ours && hyper_wire_fits(call);
	vcpu->ours |= assumed;
	result = ht_decode(vcpu, &same, &reported);
	if (assumed && !reported.control)
		vcpu->ours = false;
	khz = khz_of(wire, vcpu);
	decoded->result = results[result];
	if (result == HT_FOREIGN || result == HT_UNKNOWN_VERSION)
		reported.n = reported.missing = reported.control = 0;
	if (decoded->result == HYPER_SENSELESS) {
		decoded->label = "hypertrace";
		decoded->fault = ht_result_name(result);
	}
	if (reported.missing)
		add_missing(khz, &reported, decoded);
	if (reported.control)
		add_control(&reported, decoded);
	add_events(khz, &reported, decoded);
	return 0;
}
