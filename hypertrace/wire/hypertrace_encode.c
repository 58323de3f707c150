// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/**
 * @file	hypertrace_encode.c
 * @brief	Encode events as calls. No function waits, loops for long, or can fail on the way.
 */
#include "hypertrace_kinds.h"

/* Begin a call: its number, with the sequence number. */
static void begin_call(struct ht_encoder *encoder, enum ht_sort sort, struct ht_call *call)
{
	uint64_t nr = (uint64_t)sort << HT_NR_SORT_SHIFT | encoder->sequence++;
	unsigned int i;

	if (!encoder->xen)
		nr |= (uint64_t)HT_MAGIC << HT_NR_MAGIC_SHIFT |
		      (uint64_t)HT_VERSION << HT_NR_VERSION_SHIFT;
	call->nr = nr;
	call->xen = encoder->xen;
	call->bytes = encoder->xen ? HT_XEN_BYTES : HT_KVM_BYTES;
	for (i = 0; i < HT_N_REGISTERS; i++)
		call->a[i] = 0;
	encoder->calls++;
}

static void control(struct ht_encoder *encoder, enum ht_control what, uint64_t tsc,
		    struct ht_call *call)
{
	const struct ht_clock *clock = &encoder->clock;

	begin_call(encoder, HT_CONTROL, call);
	call->a[0] = (uint64_t)what | HT_VERSION << 8 | (uint64_t)clock->shift << 16 |
		     (uint64_t)clock->packed << 24 | (uint64_t)HT_CONTROL_MAGIC << 32;
	call->a[1] = tsc;
	call->a[2] = clock->khz | (uint64_t)clock->vcpu << 32;
	call->a[3] = clock->kinds;
}

void ht_encode_start(struct ht_encoder *encoder, const struct ht_clock *clock, bool xen,
		     struct ht_call *call)
{
	*encoder = (struct ht_encoder) { .clock = *clock, .xen = xen };
	encoder->size = xen ? HT_XEN_BYTES : HT_KVM_BYTES;
	if (encoder->clock.shift > HT_MAX_SHIFT)
		encoder->clock.shift = HT_MAX_SHIFT;
	control(encoder, HT_START, clock->tsc, call);
}

void ht_encode_clock(struct ht_encoder *encoder, uint64_t tsc, struct ht_call *call)
{
	control(encoder, HT_CLOCK, tsc, call);
}

void ht_encode_stop(struct ht_encoder *encoder, uint64_t tsc, uint32_t lost, struct ht_call *call)
{
	uint64_t before = encoder->calls;

	control(encoder, HT_STOP, tsc, call);
	call->a[2] = before;
	call->a[3] = lost;
}

static void put_text(const struct ht_event *event, uint64_t *a)
{
	unsigned int i;

	for (i = 0; i < HT_TEXT_SIZE && event->text[i]; i++)
		a[i / 8] |= (uint64_t)(uint8_t)event->text[i] << (i % 8 * 8);
}

bool ht_encode_plain(struct ht_encoder *encoder, const struct ht_event *event,
		     struct ht_call *call)
{
	const struct ht_kind_row *row = ht_row(event->kind);
	unsigned int i;

	if (!row)
		return false;
	begin_call(encoder, HT_PLAIN, call);
	call->a[0] = event->kind;
	for (i = 0; i < HT_MAX_FIELDS && row->fields[i].name; i++) {
		const struct ht_field *field = &row->fields[i];

		call->a[field->reg] |= (event->field[i] & ht_low_bits(field->bits)) <<
				       field->shift;
	}
	if (row->text)
		put_text(event, &call->a[1]);
	return true;
}

/** Bytes that are being written: an event, before it is known to fit. */
struct bytes {
	uint8_t		data[3 + (HT_MAX_FIELDS + 1) * HT_VARINT_BYTES + HT_TEXT_SIZE];
	unsigned int	n;
};

static void put_varint(struct bytes *bytes, uint64_t value)
{
	while (value >= 0x80) {
		bytes->data[bytes->n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes->data[bytes->n++] = (uint8_t)value;
}

static uint64_t zigzag(uint64_t value)
{
	return value << 1 ^ (value >> 63 ? ~0ull : 0);
}

/* A value as what a varint holds. */
static uint64_t formed(const struct ht_field *field, uint64_t value)
{
	uint64_t mask = ht_low_bits(field->bits);

	switch (field->form) {
	case HT_SIGNED:
		if (field->bits < 64 && value >> (field->bits - 1) & 1)
			return zigzag(value | ~mask);
		return zigzag(value & mask);
	case HT_PLUS_ONE:
		return (value + 1) & mask;
	case HT_ADDRESS:
		return zigzag(value - HT_ADDRESS_BASE);
	default:
		return value & mask;
	}
}

static void put_text_event(struct bytes *bytes, const struct ht_event *event,
			   const struct ht_field *pid)
{
	struct bytes body = { .n = 0 };
	unsigned int i;

	put_varint(&body, formed(pid, event->field[0]));
	for (i = 0; i < HT_TEXT_SIZE && event->text[i]; i++)
		body.data[body.n++] = (uint8_t)event->text[i];
	put_varint(bytes, body.n);
	for (i = 0; i < body.n; i++)
		bytes->data[bytes->n++] = body.data[i];
}

/* Does it go on from the last switch of this call? Then two of its fields are known already. */
static bool goes_on(const struct ht_encoder *encoder, const struct ht_event *event)
{
	return event->kind == HT_SWITCH && encoder->chained &&
	       encoder->next_pid == event->field[HT_SWITCH_PREV_PID] &&
	       encoder->next_prio == event->field[HT_SWITCH_PREV_PRIO];
}

static void put_event(struct bytes *bytes, const struct ht_encoder *encoder,
		      const struct ht_event *event, uint64_t delta)
{
	unsigned int kind = event->kind, skip = 0, n = ht_kind_fields(event->kind), i;
	const struct ht_kind_row *row = &ht_kinds[kind];
	unsigned int present;

	if (goes_on(encoder, event)) {
		kind = HT_SWITCH_ON;
		skip = HT_SWITCH_PREV_STATE;
	}
	present = row->text ? HT_TAG_TEXT : n - skip;
	bytes->data[bytes->n++] = (uint8_t)(kind | present << HT_TAG_FIELDS_SHIFT);
	put_varint(bytes, delta);
	if (row->text) {
		put_text_event(bytes, event, &row->fields[0]);
		return;
	}
	for (i = skip; i < n; i++)
		put_varint(bytes, formed(&row->fields[i], event->field[i]));
}

/* Is the event so late after the first that ages could not be exact any more? */
static bool too_late(const struct ht_encoder *encoder, uint64_t units)
{
	return units > encoder->first && (units - encoder->first) >> HT_AGE_MANTISSA_BITS;
}

int ht_encode_add(struct ht_encoder *encoder, const struct ht_event *event)
{
	uint64_t units = event->tsc >> encoder->clock.shift, delta = 0;
	struct bytes bytes = { .n = 0 };
	unsigned int i;

	if (!ht_row(event->kind))
		return -1;
	if (encoder->used && too_late(encoder, units))
		return 0;
	if (encoder->used && units > encoder->last)
		delta = units - encoder->last;
	put_event(&bytes, encoder, event, delta);
	if (!encoder->used) {
		encoder->used = HT_HEADER_BYTES;
		encoder->first = encoder->last = units;
	}
	if (encoder->used + bytes.n > encoder->size)
		return 0;
	for (i = 0; i < bytes.n; i++)
		encoder->bytes[encoder->used++] = bytes.data[i];
	encoder->last += delta;
	encoder->n_events++;
	if (event->kind == HT_SWITCH) {
		encoder->chained = true;
		encoder->next_pid = event->field[HT_SWITCH_NEXT_PID];
		encoder->next_prio = event->field[HT_SWITCH_NEXT_PRIO];
	}
	return 1;
}

/* The first event's age as mantissa and exponent, rounded up. */
static uint32_t header(const struct ht_encoder *encoder, uint64_t tsc)
{
	uint64_t units = tsc >> encoder->clock.shift, age;
	uint32_t exponent = 0;

	if (units < encoder->last)
		units = encoder->last;
	age = units - encoder->first;
	while (age >> HT_AGE_MANTISSA_BITS && exponent < 31) {
		age = (age >> 1) + (age & 1);
		exponent++;
	}
	if (age >> HT_AGE_MANTISSA_BITS)
		age = ht_low_bits(HT_AGE_MANTISSA_BITS);
	return (uint32_t)age << HT_AGE_MANTISSA_SHIFT | exponent << HT_AGE_EXPONENT_SHIFT |
	       encoder->clock.shift;
}

bool ht_encode_flush(struct ht_encoder *encoder, uint64_t tsc, struct ht_call *call)
{
	uint32_t first;
	unsigned int i;

	if (!encoder->used)
		return false;
	begin_call(encoder, HT_PACKED, call);
	first = header(encoder, tsc);
	for (i = 0; i < HT_HEADER_BYTES; i++)
		encoder->bytes[i] = (uint8_t)(first >> (8 * i));
	for (i = 0; i < encoder->used; i++)
		call->a[i / 8] |= (uint64_t)encoder->bytes[i] << (i % 8 * 8);
	encoder->used = 0;
	encoder->n_events = 0;
	encoder->chained = false;
	return true;
}
