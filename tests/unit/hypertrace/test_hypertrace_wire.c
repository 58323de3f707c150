// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_hypertrace_wire.c
 * @brief	Events to calls and back: the examples of docs/hypertrace-format.md to the bit, any
 *		events, and what is no call of ours, cut off, changed, lost.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hypertrace_kinds.h"

#define ROUNDS		4000

static const struct ht_clock clock_of_examples = {
	.tsc = 1000000, .khz = 2300000, .vcpu = 1, .kinds = 0xa, .shift = 4, .packed = true,
};

/* ---- the examples of the document ---- */

/** Lines "    0xNR 0xA0 0xA1 0xA2 0xA3" of the document, one by one. */
struct document {
	FILE	*file;
	char	line[400];
};

static void document_open(struct document *document)
{
	char path[4096];

	if (!getenv("KSV_SOURCE_DIR"))
		fail_msg("KSV_SOURCE_DIR is not set: run this test by ctest");
	snprintf(path, sizeof(path), "%s/docs/hypertrace-format.md", getenv("KSV_SOURCE_DIR"));
	document->file = fopen(path, "r");
	assert_non_null(document->file);
}

static bool next_example(struct document *document)
{
	while (fgets(document->line, sizeof(document->line), document->file)) {
		if (!strncmp(document->line, "    0x", 6)) {
			document->line[strcspn(document->line, "\n")] = '\0';
			return true;
		}
	}
	return false;
}

/* The next example is this call. */
static void assert_example(struct document *document, const struct ht_call *call)
{
	char wanted[200];

	snprintf(wanted, sizeof(wanted), "    0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64
		 " 0x%" PRIx64, call->nr, call->a[0], call->a[1], call->a[2], call->a[3]);
	if (!next_example(document))
		fail_msg("the document has no example '%s'", wanted);
	if (strcmp(document->line, wanted) != 0)
		fail_msg("the document has '%s', not '%s'", document->line, wanted);
}

static const struct ht_event example_events[] = {
	{ .kind = HT_SWITCH, .tsc = 1016000, .field = { 0, 120, 0, 1234, 120 } },
	{ .kind = HT_WAKEUP, .tsc = 1016800, .field = { 77, 99, 0 } },
	{ .kind = HT_SWITCH, .tsc = 1017600, .field = { 1234, 120, 1, 77, 99 } },
};

static const struct ht_event example_name = {
	.kind = HT_TASK_NAME, .tsc = 1018000, .field = { 77 }, .text = "rcu_preempt",
};

static void test_examples(void **state)
{
	struct ht_encoder encoder = { 0 }, xen = { 0 };
	struct document document;
	struct ht_call call;

	(void)state;
	document_open(&document);
	ht_encode_start(&encoder, &clock_of_examples, false, &call);
	assert_example(&document, &call);
	assert_true(ht_encode_plain(&encoder, &example_events[0], &call));
	assert_example(&document, &call);
	assert_true(ht_encode_plain(&encoder, &example_name, &call));
	assert_example(&document, &call);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ht_encode_add(&encoder, &example_events[i]), 1);
	assert_true(ht_encode_flush(&encoder, 1018000, &call));
	assert_example(&document, &call);
	ht_encode_stop(&encoder, 1020000, 0, &call);
	assert_example(&document, &call);

	ht_encode_start(&xen, &clock_of_examples, true, &call);
	assert_example(&document, &call);
	assert_true(ht_encode_plain(&xen, &example_events[1], &call));
	assert_example(&document, &call);
	assert_false(next_example(&document));
	fclose(document.file);
}

/* Each kind that the table has, and each of its fields, is described in the document. */
static void test_document_has_kinds(void **state)
{
	struct document document;
	unsigned int kind = 1;
	char start[80];

	(void)state;
	document_open(&document);
	while (kind < HT_N_KINDS && fgets(document.line, sizeof(document.line), document.file)) {
		snprintf(start, sizeof(start), "| %u | `%s` |", kind, ht_kinds[kind].name);
		if (strncmp(document.line, start, strlen(start)) != 0)
			continue;
		for (int i = 0; i < HT_MAX_FIELDS && ht_kinds[kind].fields[i].name; i++) {
			const struct ht_field *field = &ht_kinds[kind].fields[i];
			char wanted[80];

			snprintf(wanted, sizeof(wanted), "%s a%d[%d:%d]", field->name, field->reg,
				 field->shift, field->bits);
			if (!strstr(document.line, wanted))
				fail_msg("'%s' has no '%s'", document.line, wanted);
		}
		kind++;
	}
	fclose(document.file);
	if (kind < HT_N_KINDS)
		fail_msg("the document has no '%s' in its order", start);
}

/* ---- any events ---- */

static uint64_t seed = 1;

static uint64_t any(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 24 ^ seed << 40) % below;
}

/* Numbers of all lengths, the longest and smallest among them. */
static uint64_t any_bits(unsigned int bits)
{
	uint64_t value = any(~0ull) ^ any(~0ull) << 20;

	switch (any(4)) {
	case 0: return ht_low_bits(bits);
	case 1: return value % 4;
	default: return value & ht_low_bits(1 + (unsigned int)any(bits));
	}
}

static uint64_t signed_as(uint64_t value, unsigned int bits)
{
	return bits < 64 && value >> (bits - 1) & 1 ? value | ~ht_low_bits(bits) : value;
}

static uint64_t any_field(const struct ht_field *field)
{
	uint64_t value = any_bits(field->bits);

	switch (field->form) {
	case HT_SIGNED:
	case HT_PLUS_ONE:
		return signed_as(any(2) ? value : ~value & ht_low_bits(field->bits), field->bits);
	case HT_ADDRESS:
		return any(2) ? HT_ADDRESS_BASE + any(1u << 30) : value;
	default:
		return value;
	}
}

static void any_event(struct ht_event *event, uint64_t tsc)
{
	const struct ht_kind_row *row;

	*event = (struct ht_event) { .tsc = tsc };
	do
		event->kind = any(3) ? HT_SWITCH : (uint8_t)(1 + any(HT_N_KINDS - 1));
	while (!ht_row(event->kind));
	row = ht_row(event->kind);
	for (unsigned int i = 0; i < ht_kind_fields(event->kind); i++)
		event->field[i] = any_field(&row->fields[i]);
	if (row->text)
		for (uint64_t i = 0, n = any(HT_TEXT_SIZE + 1); i < n; i++)
			event->text[i] = (char)(1 + any(255));
}

static void assert_event(const struct ht_event *got, const struct ht_event *wanted)
{
	assert_int_equal(got->kind, wanted->kind);
	assert_int_equal(got->n, ht_kind_fields(wanted->kind));
	assert_memory_equal(got->field, wanted->field, sizeof(got->field));
	assert_memory_equal(got->text, wanted->text, sizeof(got->text));
}

static void any_clock(struct ht_clock *clock)
{
	*clock = (struct ht_clock) {
		.tsc = any_bits(48), .khz = (uint32_t)any_bits(32), .vcpu = (uint32_t)any_bits(32),
		.kinds = (uint32_t)any_bits(32), .shift = (uint8_t)any(12), .packed = any(2),
	};
}

static void assert_ok(struct ht_decoder *decoder, const struct ht_call *call,
		      struct ht_decoded *decoded)
{
	enum ht_result result = ht_decode(decoder, call, decoded);

	assert_string_equal(ht_result_name(result), "ok");
	assert_int_equal(decoded->missing, 0);
}

static void test_plain(void **state)
{
	struct ht_encoder encoder = { 0 };
	struct ht_decoder decoder = { 0 };
	struct ht_decoded decoded;
	struct ht_event event;
	struct ht_call call;

	(void)state;
	ht_encode_start(&encoder, &clock_of_examples, any(2), &call);
	assert_ok(&decoder, &call, &decoded);
	for (int i = 0; i < ROUNDS; i++) {
		any_event(&event, i);
		assert_true(ht_encode_plain(&encoder, &event, &call));
		assert_ok(&decoder, &call, &decoded);
		assert_int_equal(decoded.n, 1);
		assert_int_equal(decoded.events[0].tsc, 0);
		assert_event(&decoded.events[0], &event);
	}
	event.kind = HT_SWITCH_ON;
	assert_false(ht_encode_plain(&encoder, &event, &call));
	assert_int_equal(ht_encode_add(&encoder, &event), -1);
}

/** What has been added and not yet come out. */
struct pending {
	struct ht_event events[HT_MAX_EVENTS];
	unsigned int n;
};

/* The call has what was added, at the times at which it was. */
static void assert_flushed(struct ht_encoder *encoder, struct ht_decoder *decoder,
			   struct pending *pending, uint64_t tsc)
{
	uint64_t units = tsc >> encoder->clock.shift, error;
	struct ht_decoded decoded;
	struct ht_call call;

	assert_true(ht_encode_flush(encoder, tsc, &call));
	assert_ok(decoder, &call, &decoded);
	assert_int_equal(decoded.n, pending->n);
	assert_int_equal(decoded.shift, encoder->clock.shift);
	error = (units - (pending->events[0].tsc >> decoded.shift)) >> 21;
	for (unsigned int i = 0; i < pending->n; i++) {
		uint64_t age = units - (pending->events[i].tsc >> decoded.shift);

		assert_event(&decoded.events[i], &pending->events[i]);
		assert_in_range(decoded.events[i].tsc >> decoded.shift, age, age + error);
	}
	pending->n = 0;
}

/* As a switch often is: from the task that was switched to. */
static void go_on(struct ht_event *event, const struct pending *pending)
{
	const struct ht_event *last = pending->n ? &pending->events[pending->n - 1] : NULL;

	if (event->kind != HT_SWITCH || !last || last->kind != HT_SWITCH || any(3) == 0)
		return;
	event->field[HT_SWITCH_PREV_PID] = last->field[HT_SWITCH_NEXT_PID];
	if (any(3))
		event->field[HT_SWITCH_PREV_PRIO] = last->field[HT_SWITCH_NEXT_PRIO];
}

static void assert_clock(const struct ht_clock *got, const struct ht_clock *wanted)
{
	assert_int_equal(got->tsc, wanted->tsc);
	assert_int_equal(got->khz, wanted->khz);
	assert_int_equal(got->vcpu, wanted->vcpu);
	assert_int_equal(got->kinds, wanted->kinds);
	assert_int_equal(got->shift, wanted->shift);
	assert_int_equal(got->packed, wanted->packed);
}

static void packed_round(void)
{
	struct pending pending = { .n = 0 };
	struct ht_encoder encoder = { 0 };
	struct ht_decoder decoder = { 0 };
	struct ht_decoded decoded;
	struct ht_clock clock;
	struct ht_event event;
	struct ht_call call;
	uint64_t tsc;

	any_clock(&clock);
	tsc = clock.tsc;
	ht_encode_start(&encoder, &clock, any(2), &call);
	assert_ok(&decoder, &call, &decoded);
	assert_int_equal(decoded.control, HT_START);
	assert_clock(&decoded.clock, &clock);
	for (int i = 0; i < 60; i++) {
		tsc += any_bits(1 + (unsigned int)any(30));
		any_event(&event, tsc);
		go_on(&event, &pending);
		if (!ht_encode_add(&encoder, &event)) {
			assert_flushed(&encoder, &decoder, &pending, tsc);
			assert_int_equal(ht_encode_add(&encoder, &event), 1);
		}
		pending.events[pending.n++] = event;
		assert_int_equal(encoder.n_events, pending.n);
		if (!any(10))
			assert_flushed(&encoder, &decoder, &pending, tsc + any_bits(34));
	}
	while (ht_encode_flush(&encoder, tsc, &call))
		assert_ok(&decoder, &call, &decoded);
	ht_encode_clock(&encoder, tsc, &call);
	assert_ok(&decoder, &call, &decoded);
	assert_int_equal(decoded.control, HT_CLOCK);
	assert_int_equal(decoder.calls, encoder.calls);
	ht_encode_stop(&encoder, tsc, 7, &call);
	assert_ok(&decoder, &call, &decoded);
	assert_int_equal(decoded.control, HT_STOP);
	assert_int_equal(decoded.stop_calls + 1, decoder.calls);
	assert_int_equal(decoded.stop_lost, 7);
}

static void test_packed(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++)
		packed_round();
}

/* How many switches of a busy vCPU are in a call. */
static void test_room(void **state)
{
	struct ht_encoder encoder = { 0 };
	struct ht_event event = { .kind = HT_SWITCH, .field = { 1234, 120, 1, 1235, 120 } };
	struct ht_call call;
	unsigned int n = 0;

	(void)state;
	ht_encode_start(&encoder, &clock_of_examples, false, &call);
	for (event.tsc = 2000000; ht_encode_add(&encoder, &event) == 1; event.tsc += 30000) {
		event.field[0] = event.field[3];
		event.field[3] ^= 1;
		n++;
	}
	assert_int_equal(n, 3);
}

/* ---- what is not as an encoder makes it ---- */

static enum ht_result decode_one(const struct ht_call *call, struct ht_decoded *decoded)
{
	struct ht_decoder decoder = { 0 };

	return ht_decode(&decoder, call, decoded);
}

static struct ht_call packed_call(const uint8_t *bytes, size_t n)
{
	struct ht_call call = { .nr = 0x48541600, .bytes = HT_KVM_BYTES };

	for (size_t i = 0; i < n; i++)
		call.a[i / 8] |= (uint64_t)bytes[i] << (i % 8 * 8);
	return call;
}

#define TAG(kind, fields) ((kind) | (fields) << HT_TAG_FIELDS_SHIFT)

static void test_packed_faults(void **state)
{
	/* header: 1023 units before the call */
	static const struct {
		enum ht_result result;
		unsigned int n_events;
		uint8_t n, bytes[HT_KVM_BYTES];
	} cases[] = {
		{ HT_OK, 1, 32, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 1), 0, 5 } },
		{ HT_OK, 0, 32, { 0 } },
		{ HT_OK, 1, 7, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 1), 0, 5 } },
		/* kinds to come: by number of fields, by length; by a number of their own */
		{ HT_OK, 2, 32, { 0, 0xfc, 15, 0, TAG(29, 2), 1, 0x80, 1, 7,
				  TAG(HT_IRQ_ENTRY, 1), 0, 5 } },
		{ HT_OK, 2, 32, { 0, 0xfc, 15, 0, TAG(29, 7), 1, 3, 255, 255, 255,
				  TAG(HT_IRQ_ENTRY, 1), 0, 5 } },
		{ HT_OK, 2, 32, { 0, 0xfc, 15, 0, TAG(31, 1), 200, 1, 7,
				  TAG(HT_IRQ_ENTRY, 1), 0, 5 } },
		/* a field to come */
		{ HT_OK, 2, 32, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 3), 1, 5, 6, 7,
				  TAG(HT_IRQ_ENTRY, 1), 0, 5 } },
		{ HT_TRUNCATED, 0, 3, { 0 } },
		{ HT_TRUNCATED, 0, 5, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 1) } },
		{ HT_TRUNCATED, 0, 5, { 0, 0xfc, 15, 0, TAG(31, 1) } },
		{ HT_TRUNCATED, 1, 9, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 1), 0, 5,
					TAG(HT_IRQ_ENTRY, 1), 0 } },
		{ HT_TRUNCATED, 0, 8, { 0, 0xfc, 15, 0, TAG(HT_TASK_NAME, 7), 0, 5, 9 } },
		{ HT_TRUNCATED, 0, 6, { 0, 0xfc, 15, 0, TAG(HT_TASK_NAME, 7), 0 } },
		/* no kind; padding that is none */
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(0, 1), 0, 5 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, 0, 0, 5 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(31, 1), HT_IRQ_ENTRY, 0, 5 } },
		/* a field less; varints instead of a text, and the other way round */
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_IRQ_EXIT, 1), 0, 5 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_TASK_NAME, 1), 0, 5 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 7), 0, 1, 5 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_SWITCH_ON, 7), 0, 1, 5 } },
		/* later than the call; of an age that is none */
		{ HT_BAD, 1, 32, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 1), 0, 5,
				   TAG(HT_IRQ_ENTRY, 1), 0x80, 8, 5 } },
		{ HT_BAD, 0, 32, { 0xff, 0xff, 0xff, 0xff, TAG(HT_IRQ_ENTRY, 1), 0, 5 } },
		/* a switch that goes on from none */
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_SWITCH_ON, 3), 0, 1, 5, 121 } },
		/* longer than needed, longer than 64 bits, more than the field has */
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 1), 0, 0x85, 0 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_LOST, 1), 0, 255, 255, 255, 255, 255, 255,
				   255, 255, 255, 2 } },
		{ HT_OK, 1, 32, { 0, 0xfc, 15, 0, TAG(HT_LOST, 1), 0, 255, 255, 255, 255, 255, 255,
				  255, 255, 255, 1 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_IRQ_ENTRY, 1), 0, 255, 255, 255, 255,
				   31 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_SYSCALL_ENTRY, 1), 0, 255, 255, 255, 255,
				   31 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_INITCALL_FINISH, 2), 0, 0, 255, 255, 255,
				   255, 31 } },
		/* a text with an end within, one that is too long, one without a pid */
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_TASK_NAME, 7), 0, 4, 5, 'a', 0, 'b' } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_TASK_NAME, 7), 0, 18, 5, 1, 1, 1, 1, 1, 1,
				   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
		{ HT_BAD, 0, 32, { 0, 0xfc, 15, 0, TAG(HT_TASK_NAME, 7), 0, 0 } },
	};
	struct ht_decoded decoded;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ht_call call = packed_call(cases[i].bytes, sizeof(cases[i].bytes));
		enum ht_result result;

		call.bytes = cases[i].n;
		result = decode_one(&call, &decoded);
		if (result != cases[i].result || decoded.n != cases[i].n_events)
			fail_msg("case %zu: %s, %d events", i, ht_result_name(result), decoded.n);
	}
}

static void test_call_faults(void **state)
{
	static const struct {
		enum ht_result result;
		struct ht_call call;
	} cases[] = {
		/* KVM's own, the published dialect's, ours with something above */
		{ HT_FOREIGN, { .nr = 5, .bytes = 32 } },
		{ HT_FOREIGN, { .nr = 1001, .bytes = 32 } },
		{ HT_FOREIGN, { .nr = 0x148541500, .bytes = 32 } },
		{ HT_FOREIGN, { .nr = 0x48541500, .bytes = 33 } },
		{ HT_UNKNOWN_VERSION, { .nr = 0x48542500, .bytes = 32 } },
		{ HT_UNKNOWN_VERSION, { .nr = 0x48541700, .bytes = 32 } },
		{ HT_UNKNOWN_VERSION, { .nr = 0x48541400, .bytes = 32,
					.a = { 0x4352544800000201 } } },
		{ HT_OK, { .nr = 0x48541500, .bytes = 32, .a = { HT_IRQ_ENTRY, 5 } } },
		{ HT_OK, { .nr = 0x48541500, .bytes = 24, .a = { HT_IRQ_ENTRY, 5 } } },
		{ HT_TRUNCATED, { .nr = 0x48541500, .bytes = 23, .a = { HT_IRQ_ENTRY, 5 } } },
		/* a kind to come */
		{ HT_OK, { .nr = 0x48541500, .bytes = 32, .a = { 200, 5 } } },
		{ HT_BAD, { .nr = 0x48541500, .bytes = 32 } },
		{ HT_BAD, { .nr = 0x48541500, .bytes = 32, .a = { HT_SWITCH_ON } } },
		{ HT_BAD, { .nr = 0x48541500, .bytes = 32, .a = { HT_TASK_NAME, 0x610061 } } },
		{ HT_OK, { .nr = 0x48541400, .bytes = 28, .a = { 0x4352544800000101 } } },
		{ HT_TRUNCATED, { .nr = 0x48541400, .bytes = 27, .a = { 0x4352544800000101 } } },
		{ HT_BAD, { .nr = 0x48541400, .bytes = 32, .a = { 0x0000000000000101 } } },
		{ HT_BAD, { .nr = 0x48541400, .bytes = 32, .a = { 0x4352544800000104 } } },
		{ HT_BAD, { .nr = 0x48541400, .bytes = 32, .a = { 0x4352544800000100 } } },
		{ HT_BAD, { .nr = 0x48541400, .bytes = 32, .a = { 0x4352544800200101 } } },
		/* Xen's numbers */
		{ HT_FOREIGN, { .nr = 0x3e8, .bytes = 28, .xen = true } },
		{ HT_FOREIGN, { .nr = 0x1500, .bytes = 28, .xen = true } },
		{ HT_FOREIGN, { .nr = 0x500, .bytes = 28 } },
		{ HT_FOREIGN, { .nr = 0x400, .bytes = 28, .xen = true, .a = { 1 } } },
	};
	struct ht_decoded decoded;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum ht_result result = decode_one(&cases[i].call, &decoded);

		if (result != cases[i].result || ht_is_ours(&cases[i].call) !=
		    (result != HT_FOREIGN || cases[i].call.bytes > 32 || cases[i].call.a[0] == 1))
			fail_msg("case %zu: %s", i, ht_result_name(result));
		/* what makes no sense begins and ends nothing */
		assert_true(result == HT_OK || !decoded.control);
	}
}

/* Where nr has no version, the last control call decides. */
static void test_xen_version(void **state)
{
	struct ht_call start = { .nr = 0x400, .bytes = 28, .xen = true,
				 .a = { 0x4352544800000201 } };
	struct ht_call plain = { .nr = 0x501, .bytes = 28, .xen = true, .a = { HT_IRQ_ENTRY, 5 } };
	struct ht_decoder decoder = { 0 };
	struct ht_decoded decoded;

	(void)state;
	/* before it, the version is unknown */
	assert_int_equal(ht_decode(&decoder, &plain, &decoded), HT_FOREIGN);
	assert_false(decoder.has_sequence);
	assert_true(ht_is_ours(&plain));
	assert_int_equal(ht_decode(&decoder, &start, &decoded), HT_UNKNOWN_VERSION);
	assert_int_equal(ht_decode(&decoder, &plain, &decoded), HT_UNKNOWN_VERSION);
	start.a[0] -= 0x100;
	assert_int_equal(ht_decode(&decoder, &start, &decoded), HT_OK);
	assert_int_equal(ht_decode(&decoder, &plain, &decoded), HT_OK);
}

/* Calls that are left out are counted, whatever they were. */
static void test_missing(void **state)
{
	struct ht_encoder encoder = { 0 };
	struct ht_decoder decoder = { 0 };
	struct ht_decoded decoded;
	struct ht_call call;
	unsigned int left_out;
	uint64_t missing = 0;

	(void)state;
	ht_encode_start(&encoder, &clock_of_examples, false, &call);
	assert_ok(&decoder, &call, &decoded);
	for (int i = 0; i < 1000; i++) {
		left_out = any(3) ? 0 : (unsigned int)any(256);
		for (unsigned int j = 0; j <= left_out; j++)
			ht_encode_plain(&encoder, &example_events[0], &call);
		assert_int_equal(ht_decode(&decoder, &call, &decoded), HT_OK);
		assert_int_equal(decoded.missing, left_out);
		missing += left_out;
	}
	ht_encode_stop(&encoder, 0, 0, &call);
	assert_ok(&decoder, &call, &decoded);
	assert_int_equal(decoded.stop_calls - (decoder.calls - 1), missing);
	/* after the end, another beginning misses nothing */
	ht_encode_start(&encoder, &clock_of_examples, false, &call);
	assert_ok(&decoder, &call, &decoded);
	assert_int_equal(decoder.calls, 1);
	/* a reader that comes late does not see what is missing */
	ht_encode_plain(&encoder, &example_events[0], &call);
	assert_ok(&(struct ht_decoder) { 0 }, &call, &decoded);
}

/* Any bits: what is said to be right is what an encoder makes of it. */
static void test_flipped(void **state)
{
	uint64_t results[HT_N_RESULTS] = { 0 };
	struct ht_encoder encoder = { 0 };
	struct ht_decoded decoded;
	struct ht_event event;
	struct ht_call call;
	uint64_t tsc = 0;

	(void)state;
	ht_encode_start(&encoder, &clock_of_examples, false, &call);
	for (int i = 0; i < 10 * ROUNDS; i++) {
		any_event(&event, tsc += any(100000));
		if (ht_encode_add(&encoder, &event))
			continue;
		assert_true(ht_encode_flush(&encoder, tsc, &call));
		for (uint64_t n = 1 + any(4); n; n--) {
			uint64_t bit = any(64 * 4 + 16);

			*(bit < 256 ? &call.a[bit / 64] : &call.nr) ^= 1ull << bit % 64;
		}
		call.bytes = any(4) ? 32 : (uint8_t)any(32);
		results[decode_one(&call, &decoded)]++;
		assert_in_range(decoded.n, 0, HT_MAX_EVENTS);
	}
	for (int i = 0; i < HT_N_RESULTS; i++)
		assert_int_not_equal(results[i] + (i == HT_FOREIGN), 0);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(ht_kind_name(HT_SWITCH), "sched_switch");
	assert_null(ht_kind_name(HT_PADDING));
	assert_null(ht_kind_name(HT_SWITCH_ON));
	assert_null(ht_kind_name(HT_N_KINDS));
	assert_string_equal(ht_field_name(HT_SWITCH, HT_SWITCH_NEXT_PID), "next_pid");
	assert_null(ht_field_name(HT_SWITCH, 5));
	assert_null(ht_field_name(200, 0));
	assert_int_equal(ht_level_of("rootfs"), 7);
	assert_string_equal(ht_level_name(7), "rootfs");
	assert_null(ht_level_name(12));
	assert_int_equal(ht_level_of("root"), -1);
	assert_string_equal(ht_phase_name(HT_PHASE_PANIC), "panic");
	assert_null(ht_phase_name(0));
	assert_null(ht_phase_name(HT_N_PHASES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_document_has_kinds),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_packed_faults),
		cmocka_unit_test(test_call_faults),
		cmocka_unit_test(test_xen_version),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
