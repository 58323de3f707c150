// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/**
 * @file	hypertrace_decode.c
 * @brief	Decode calls into events. Any bits may come; the result shows which are invalid.
 */
#include "hypertrace_kinds.h"

bool ht_is_ours(const struct ht_call *call)
{
	unsigned int sort = call->nr >> HT_NR_SORT_SHIFT & 0xf;

	if (!call->xen)
		return call->nr >> HT_NR_MAGIC_SHIFT == HT_MAGIC;
	return !(call->nr >> HT_XEN_NR_BITS) && sort >= HT_CONTROL && sort <= HT_PACKED;
}

/* ---- control ---- */

static enum ht_result decode_stop(const struct ht_call *call, struct ht_decoded *decoded)
{
	decoded->stop_calls = call->a[2];
	decoded->stop_lost = (uint32_t)call->a[3];
	return HT_OK;
}

static enum ht_result decode_control(struct ht_decoder *decoder, const struct ht_call *call,
				     struct ht_decoded *decoded)
{
	struct ht_clock *clock = &decoded->clock;
	unsigned int control = call->a[0] & 0xff;

	clock->shift = call->a[0] >> 16 & 0xff;
	clock->packed = call->a[0] >> 24 & 1;
	clock->tsc = call->a[1];
	if (!control || control >= HT_N_CONTROLS || clock->shift > HT_MAX_SHIFT)
		return HT_BAD;
	decoded->control = (uint8_t)control;
	if (decoded->control == HT_STOP)
		return decode_stop(call, decoded);
	clock->khz = (uint32_t)call->a[2];
	clock->vcpu = (uint32_t)(call->a[2] >> 32);
	clock->kinds = (uint32_t)call->a[3];
	decoder->clock = *clock;
	decoder->has_clock = decoder->ours = true;
	return HT_OK;
}

/* ---- plain ---- */

static uint64_t sign_extended(uint64_t value, unsigned int bits)
{
	if (bits < 64 && value >> (bits - 1) & 1)
		value |= ~ht_low_bits(bits);
	return value;
}

static void get_text(const uint64_t *a, char *text)
{
	unsigned int i;

	for (i = 0; i < HT_TEXT_SIZE; i++)
		text[i] = (char)(a[i / 8] >> (i % 8 * 8));
}

/* Is there nothing behind the end of a text? */
static bool text_ends(const char *text)
{
	unsigned int i, end = 0;

	while (end < HT_TEXT_SIZE && text[end])
		end++;
	for (i = end; i < HT_TEXT_SIZE; i++)
		if (text[i])
			return false;
	return true;
}

static enum ht_result decode_plain(const struct ht_call *call, struct ht_decoded *decoded)
{
	struct ht_event *event = &decoded->events[0];
	const struct ht_kind_row *row;
	unsigned int i;

	event->kind = call->a[0] & 0xff;
	if (event->kind == HT_PADDING || event->kind == HT_SWITCH_ON)
		return HT_BAD;
	decoded->n = 1;
	row = ht_row(event->kind);
	if (!row)
		return HT_OK;
	event->n = ht_kind_fields(event->kind);
	for (i = 0; i < event->n; i++) {
		const struct ht_field *field = &row->fields[i];
		uint64_t value = call->a[field->reg] >> field->shift & ht_low_bits(field->bits);

		if (field->form == HT_SIGNED || field->form == HT_PLUS_ONE)
			value = sign_extended(value, field->bits);
		event->field[i] = value;
	}
	if (row->text)
		get_text(&call->a[1], event->text);
	if (text_ends(event->text))
		return HT_OK;
	decoded->n = 0;
	return HT_BAD;
}

/* ---- packed ---- */

struct reader {
	uint8_t		bytes[HT_KVM_BYTES];
	unsigned int	at, end;
};

static bool get_byte(struct reader *reader, uint8_t *byte)
{
	if (reader->at >= reader->end)
		return false;
	*byte = reader->bytes[reader->at++];
	return true;
}

/* The shortest way alone is right, and no more than 64 bits. */
static enum ht_result get_varint(struct reader *reader, uint64_t *value)
{
	unsigned int shift;
	uint8_t byte;

	*value = 0;
	for (shift = 0; shift < 70; shift += 7) {
		if (!get_byte(reader, &byte))
			return HT_TRUNCATED;
		if (shift == 63 && byte > 1)
			return HT_BAD;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return byte || !shift ? HT_OK : HT_BAD;
	}
	return HT_BAD;
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (value & 1 ? ~0ull : 0);
}

/* What a varint stands for. Return: false if the field cannot have it. */
static bool unformed(const struct ht_field *field, uint64_t *value)
{
	uint64_t mask = ht_low_bits(field->bits);

	switch (field->form) {
	case HT_SIGNED:
		*value = unzigzag(*value);
		return sign_extended(*value & mask, field->bits) == *value;
	case HT_PLUS_ONE:
		if (*value > mask)
			return false;
		*value = sign_extended((*value - 1) & mask, field->bits);
		return true;
	case HT_ADDRESS:
		*value = unzigzag(*value) + HT_ADDRESS_BASE;
		return true;
	default:
		return *value <= mask;
	}
}

/** Where a packed call has got to. */
struct packed {
	struct reader	reader;
	uint64_t	age;	/* of what comes next, in units, but for its delta */
	unsigned int	shift;
	const struct ht_event *last_switch;
};

static enum ht_result get_header(struct packed *packed, struct ht_decoded *decoded)
{
	uint32_t header = 0;
	unsigned int i;
	uint8_t byte;

	for (i = 0; i < HT_HEADER_BYTES; i++) {
		if (!get_byte(&packed->reader, &byte))
			return HT_TRUNCATED;
		header |= (uint32_t)byte << (8 * i);
	}
	packed->shift = decoded->shift = header & 0x1f;
	packed->age = (uint64_t)(header >> HT_AGE_MANTISSA_SHIFT) <<
		      (header >> HT_AGE_EXPONENT_SHIFT & 0x1f);
	return packed->age >> (63 - packed->shift) ? HT_BAD : HT_OK;
}

/* The @present fields of a kind that come next; fields beyond the known ones are skipped. */
static enum ht_result get_fields(struct reader *reader, const struct ht_kind_row *row,
				 unsigned int present, uint64_t *fields, unsigned int *n)
{
	enum ht_result result;
	unsigned int i;
	uint64_t value;

	*n = 0;
	for (i = 0; i < present; i++) {
		result = get_varint(reader, &value);
		if (result)
			return result;
		if (!row || i >= HT_MAX_FIELDS || !row->fields[i].name)
			continue;
		if (!unformed(&row->fields[i], &value))
			return HT_BAD;
		fields[i] = value;
		++*n;
	}
	if (row && *n < HT_MAX_FIELDS && row->fields[*n].name)
		return HT_BAD;
	return HT_OK;
}

/* The body of an event with a text, or of one that is unknown. */
static enum ht_result get_text_event(struct reader *reader, const struct ht_kind_row *row,
				     struct ht_event *event)
{
	enum ht_result result;
	unsigned int end, i;
	uint64_t length;

	result = get_varint(reader, &length);
	if (result)
		return result;
	if (length > reader->end - reader->at)
		return HT_TRUNCATED;
	end = reader->at + (unsigned int)length;
	if (row) {
		struct reader body = *reader;

		body.end = end;
		if (get_varint(&body, &event->field[0]) ||
		    !unformed(&row->fields[0], &event->field[0]) || end - body.at > HT_TEXT_SIZE)
			return HT_BAD;
		for (i = 0; body.at < end; i++) {
			event->text[i] = (char)body.bytes[body.at++];
			if (!event->text[i])
				return HT_BAD;
		}
		event->n = 1;
	}
	reader->at = end;
	return HT_OK;
}

/* A switch that goes on from the one before. */
static enum ht_result get_switch_on(struct packed *packed, unsigned int present,
				    struct ht_event *event)
{
	const struct ht_event *last = packed->last_switch;
	unsigned int n;

	if (!last)
		return HT_BAD;
	event->kind = HT_SWITCH;
	event->field[HT_SWITCH_PREV_PID] = last->field[HT_SWITCH_NEXT_PID];
	event->field[HT_SWITCH_PREV_PRIO] = last->field[HT_SWITCH_NEXT_PRIO];
	event->n = HT_SWITCH_NEXT_PRIO + 1;
	return get_fields(&packed->reader, &ht_kinds[HT_SWITCH_ON], present,
			  &event->field[HT_SWITCH_PREV_STATE], &n);
}

static enum ht_result get_body(struct packed *packed, unsigned int present, struct ht_event *event)
{
	const struct ht_kind_row *row = ht_row(event->kind);
	enum ht_result result;
	unsigned int n;

	if (event->kind == HT_SWITCH_ON)
		return present == HT_TAG_TEXT ? HT_BAD : get_switch_on(packed, present, event);
	if (row && row->text != (present == HT_TAG_TEXT))
		return HT_BAD;
	if (present == HT_TAG_TEXT)
		return get_text_event(&packed->reader, row, event);
	result = get_fields(&packed->reader, row, present, event->field, &n);
	event->n = (uint8_t)n;
	return result;
}

static enum ht_result get_event(struct packed *packed, uint8_t tag, struct ht_event *event)
{
	enum ht_result result;
	uint64_t delta;

	event->kind = tag & HT_TAG_KIND;
	if (event->kind == HT_TAG_EXTENDED) {
		if (!get_byte(&packed->reader, &event->kind))
			return HT_TRUNCATED;
		if (event->kind < HT_TAG_EXTENDED)
			return HT_BAD;
	}
	if (event->kind == HT_PADDING)
		return HT_BAD;
	result = get_varint(&packed->reader, &delta);
	if (result)
		return result;
	if (delta > packed->age)
		return HT_BAD;
	packed->age -= delta;
	event->tsc = packed->age << packed->shift;
	result = get_body(packed, tag >> HT_TAG_FIELDS_SHIFT, event);
	if (!result && event->kind == HT_SWITCH)
		packed->last_switch = event;
	return result;
}

static bool only_padding(const struct reader *reader)
{
	unsigned int i;

	for (i = reader->at; i < reader->end; i++)
		if (reader->bytes[i])
			return false;
	return true;
}

static enum ht_result decode_packed(const struct ht_call *call, struct ht_decoded *decoded)
{
	struct packed packed = { .last_switch = 0 };
	struct reader *reader = &packed.reader;
	enum ht_result result;
	unsigned int i;

	reader->end = call->bytes;
	for (i = 0; i < reader->end; i++)
		reader->bytes[i] = (uint8_t)(call->a[i / 8] >> (i % 8 * 8));
	result = get_header(&packed, decoded);
	while (!result && reader->at < reader->end) {
		uint8_t tag = reader->bytes[reader->at++];

		if (!tag)
			return only_padding(reader) ? HT_OK : HT_BAD;
		if (decoded->n == HT_MAX_EVENTS)
			return HT_BAD;
		result = get_event(&packed, tag, &decoded->events[decoded->n]);
		if (!result)
			decoded->n++;
	}
	return result;
}

/* ---- calls ---- */

/* Fewer bytes than the sort of call needs? */
static bool is_short(const struct ht_call *call, unsigned int sort)
{
	static const uint8_t least[] = {
		[HT_CONTROL] = HT_XEN_BYTES, [HT_PLAIN] = 24, [HT_PACKED] = HT_HEADER_BYTES,
	};

	return call->bytes < least[sort];
}

/* Version and sort of a call that looks like ours. */
static enum ht_result check_version(struct ht_decoder *decoder, const struct ht_call *call,
				    unsigned int sort)
{
	if (!call->xen && (call->nr >> HT_NR_VERSION_SHIFT & 0xf) != HT_VERSION)
		return HT_UNKNOWN_VERSION;
	if (sort < HT_CONTROL || sort > HT_PACKED)
		return HT_UNKNOWN_VERSION;
	if (call->xen && sort != HT_CONTROL && !decoder->ours && !decoder->unknown)
		return HT_FOREIGN;
	if (sort != HT_CONTROL || is_short(call, sort))
		return call->xen && decoder->unknown ? HT_UNKNOWN_VERSION : HT_OK;
	if (call->a[0] >> 32 != HT_CONTROL_MAGIC)
		return call->xen ? HT_FOREIGN : HT_BAD;
	decoder->unknown = (call->a[0] >> 8 & 0xff) != HT_VERSION;
	return decoder->unknown ? HT_UNKNOWN_VERSION : HT_OK;
}

static void take_sequence(struct ht_decoder *decoder, struct ht_decoded *decoded)
{
	if (decoder->has_sequence && decoded->control != HT_START)
		decoded->missing = (uint8_t)(decoded->sequence - decoder->sequence);
	if (decoded->control == HT_START) {
		decoder->whole = true;
		decoder->calls = 0;
	}
	decoder->calls++;
	decoder->sequence = (uint8_t)(decoded->sequence + 1);
	decoder->has_sequence = decoded->control != HT_STOP;
}

enum ht_result ht_decode(struct ht_decoder *decoder, const struct ht_call *call,
			 struct ht_decoded *decoded)
{
	unsigned int sort = call->nr >> HT_NR_SORT_SHIFT & 0xf;
	enum ht_result result;

	*decoded = (struct ht_decoded) { .sort = (uint8_t)sort };
	if (!ht_is_ours(call) || call->bytes > HT_KVM_BYTES)
		return HT_FOREIGN;
	decoded->sequence = call->nr & HT_NR_SEQUENCE;
	result = check_version(decoder, call, sort);
	if (result)
		return result;
	if (is_short(call, sort))
		result = HT_TRUNCATED;
	else if (sort == HT_CONTROL)
		result = decode_control(decoder, call, decoded);
	else if (sort == HT_PLAIN)
		result = decode_plain(call, decoded);
	else
		result = decode_packed(call, decoded);
	take_sequence(decoder, decoded);
	return result;
}
