/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_hypertrace_wire.c
 * @brief	Any calls of a guest: what is said to be right is what an encoder makes of it again.
 */
#include <stdlib.h>
#include <string.h>

#include "hypertrace_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORD	(1 + 8 + HT_KVM_BYTES)	/* a call of the input: bytes and xen, nr, registers */

static void take_call(const uint8_t *data, struct ht_call *call)
{
	*call = (struct ht_call) { .bytes = data[0] & 0x3f, .xen = data[0] >> 7 };
	memcpy(&call->nr, data + 1, sizeof(call->nr));
	memcpy(call->a, data + 9, sizeof(call->a));
}

/** Fields have what their width allows, and nothing is where no field is. */
static void check_event(const struct ht_event *event)
{
	const struct ht_kind_row *row = ht_row(event->kind);
	unsigned int known = ht_kind_fields(event->kind);

	if (!event->kind || event->kind == HT_SWITCH_ON || event->n != known)
		abort();
	for (unsigned int i = 0; i < HT_MAX_FIELDS; i++) {
		bool negative = i < known && row->fields[i].form && event->field[i] >> 63;
		uint64_t value = negative ? ~event->field[i] : event->field[i];

		if (i >= known ? value : value & ~ht_low_bits(row->fields[i].bits))
			abort();
	}
}

/** The same events, encoded anew, are the same. */
static void check_again(const struct ht_decoded *decoded, uint64_t age)
{
	const struct ht_clock clock = { .shift = decoded->shift, .packed = true };
	bool exact = !(age >> decoded->shift >> HT_AGE_MANTISSA_BITS);
	struct ht_encoder encoder = { 0 };
	struct ht_decoder decoder = { 0 };
	struct ht_decoded again;
	struct ht_call call;

	ht_encode_start(&encoder, &clock, false, &call);
	for (int i = 0; i < decoded->n; i++) {
		struct ht_event event = decoded->events[i];

		event.tsc = age - event.tsc;
		/* kinds that are unknown here; a call that ends later than an encoder waits */
		if (ht_encode_add(&encoder, &event) != 1)
			return;
	}
	if (!decoded->n)
		return;
	if (!ht_encode_flush(&encoder, age, &call) || ht_decode(&decoder, &call, &again) ||
	    again.n != decoded->n)
		abort();
	for (int i = 0; i < again.n; i++)
		if (memcmp(again.events[i].field, decoded->events[i].field,
			   sizeof(again.events[i].field)) != 0 ||
		    memcmp(again.events[i].text, decoded->events[i].text, HT_TEXT_SIZE) != 0 ||
		    (exact && again.events[i].tsc != decoded->events[i].tsc))
			abort();
}

static void check(enum ht_result result, const struct ht_decoded *decoded)
{
	uint64_t last = UINT64_MAX;

	if (decoded->n > HT_MAX_EVENTS || !ht_result_name(result) ||
	    ((result == HT_FOREIGN || result == HT_UNKNOWN_VERSION) && decoded->n))
		abort();
	for (int i = 0; i < decoded->n; i++) {
		check_event(&decoded->events[i]);
		if (decoded->events[i].tsc > last)
			abort();
		last = decoded->events[i].tsc;
	}
	if (decoded->sort == HT_PACKED && decoded->n)
		check_again(decoded, decoded->events[0].tsc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ht_decoder decoder = { 0 };
	struct ht_decoded decoded;
	struct ht_call call;

	for (; size >= RECORD; data += RECORD, size -= RECORD) {
		take_call(data, &call);
		check(ht_decode(&decoder, &call, &decoded), &decoded);
	}
	return 0;
}
