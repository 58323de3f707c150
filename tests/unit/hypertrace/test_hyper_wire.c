// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_hyper_wire.c
 * @brief	What our kernel module says becomes events, at the host's time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hyper_decoder.h"
#include "hyper_text.h"
#include "hyper_wire.h"
#include "hypertrace_wire.h"

static struct hyper_decoder *decoder;
static struct ht_encoder encoder;
static struct hyper_decoded decoded;

static int begin(void **state)
{
	(void)state;
	memset(&encoder, 0, sizeof(encoder));
	decoder = hyper_decoder_new(hyper_dialect_find("hypertrace"), (struct hyper_khz){ 0 });
	return decoder ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	hyper_decoder_free(decoder);
	return 0;
}

static void take(const struct ht_call *said, int32_t tid)
{
	struct hyper_call call = {
		.nr = said->nr, .bytes = said->bytes, .tid = tid,
		.source = said->xen ? HYPER_XEN : HYPER_KVM,
	};

	memcpy(call.a, said->a, sizeof(call.a));
	assert_int_equal(hyper_decoder_take(decoder, &call, &decoded), 0);
}

/** 1 GHz, so that cycles are ns. */
static void start(uint32_t khz, bool xen)
{
	const struct ht_clock clock = { .tsc = 1000, .khz = khz, .vcpu = 1, .packed = true };
	struct ht_call call;

	ht_encode_start(&encoder, &clock, xen, &call);
	take(&call, 7);
	assert_int_equal(decoded.result, HYPER_DECODED);
	assert_int_equal(decoded.n, 1);
	assert_int_equal(decoded.events[0].kind, HYPER_START);
	assert_int_equal(decoded.events[0].cpu, 1);
}

static void add(uint64_t tsc, enum ht_kind kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		uint64_t e)
{
	const struct ht_event event = {
		.tsc = tsc, .kind = (uint8_t)kind, .field = { a, b, c, d, e },
	};

	assert_int_equal(ht_encode_add(&encoder, &event), 1);
}

static void flush(uint64_t tsc)
{
	struct ht_call call;

	assert_true(ht_encode_flush(&encoder, tsc, &call));
	take(&call, 7);
}

static void test_packed(void **state)
{
	(void)state;
	start(1000000, false);
	add(2000, HT_SWITCH, 0, 120, 0, 100, (uint64_t)-1);
	add(2400, HT_SYSCALL_EXIT, 60, (uint64_t)-5, 0, 0, 0);
	flush(3000);
	assert_int_equal(decoded.result, HYPER_DECODED);
	assert_int_equal(decoded.n, 2);
	assert_int_equal(decoded.events[0].kind, HYPER_SWITCH);
	assert_int_equal(decoded.events[0].pid, 100);
	assert_int_equal(decoded.events[0].prev_pid, 0);
	assert_int_equal(decoded.events[0].prio, -1);
	assert_int_equal(decoded.events[0].before_ns, 1000);
	assert_string_equal(decoded.events[0].label, "sched_switch");
	assert_int_equal(decoded.events[1].kind, HYPER_SYSCALL);
	assert_int_equal(decoded.events[1].edge, HYPER_EXIT);
	assert_int_equal(decoded.events[1].number, 60);
	assert_int_equal(decoded.events[1].value, -5);
	assert_int_equal(decoded.events[1].before_ns, 600);
}

/** Without a frequency, the time before a call is only known to be before it. */
static void test_no_frequency(void **state)
{
	(void)state;
	start(0, false);
	add(2000, HT_IRQ_ENTRY, 19, 0, 0, 0, 0);
	flush(3000);
	assert_int_equal(decoded.events[0].before_ns, HYPER_BEFORE_UNKNOWN);
	assert_false(hyper_has(&decoded.events[0], HYPER_F_BEFORE));
	/* what is at its call is there without */
	add(4000, HT_IRQ_EXIT, 19, 1, 0, 0, 0);
	flush(4000);
	assert_int_equal(decoded.events[0].before_ns, 0);
}

/** The frequency of another vCPU, at any time, holds until a vCPU reports its own. */
static void test_frequency_of_another(void **state)
{
	const struct ht_clock clock = { .tsc = 1000, .khz = 2000000 };
	struct ht_encoder other = { .calls = 0 };
	struct ht_call call;

	(void)state;
	hyper_decoder_free(decoder);
	decoder = hyper_decoder_new(hyper_dialect_find("hypertrace"),
				    (struct hyper_khz){ .reported = 500000 });
	assert_non_null(decoder);
	ht_encode_start(&encoder, &(struct ht_clock){ .packed = true }, false, &call);
	add(2000, HT_IRQ_ENTRY, 19, 0, 0, 0, 0);
	flush(3000);
	assert_int_equal(decoded.events[decoded.n - 1].before_ns, 2000);
	ht_encode_start(&other, &clock, false, &call);
	take(&call, 8);
	add(4000, HT_IRQ_EXIT, 19, 1, 0, 0, 0);
	flush(5000);
	assert_int_equal(decoded.events[0].before_ns, 2000);
}

/** What calls show on the host's axis holds, whatever the guest believes. */
static void test_measured_frequency(void **state)
{
	(void)state;
	hyper_decoder_free(decoder);
	decoder = hyper_decoder_new(hyper_dialect_find("hypertrace"),
				    (struct hyper_khz){ .reported = 500000, .measured = 2000000 });
	assert_non_null(decoder);
	start(1000000, false);
	add(2000, HT_IRQ_ENTRY, 19, 0, 0, 0, 0);
	flush(3000);
	assert_int_equal(decoded.events[0].before_ns, 500);
}

static void test_missing(void **state)
{
	(void)state;
	start(1000000, false);
	add(2000, HT_IRQ_ENTRY, 19, 0, 0, 0, 0);
	encoder.sequence += 3;
	flush(3000);
	assert_int_equal(decoded.n, 2);
	assert_int_equal(decoded.events[0].kind, HYPER_LOST);
	assert_int_equal(decoded.events[0].value, 3);
	/* before what comes first */
	assert_int_equal(decoded.events[0].before_ns, 1000);
	assert_int_equal(decoded.events[1].kind, HYPER_IRQ);
	/* that many may be one that comes twice */
	add(4000, HT_IRQ_EXIT, 19, 1, 0, 0, 0);
	encoder.sequence -= 1;
	flush(5000);
	assert_int_equal(decoded.events[0].kind, HYPER_LOST);
	assert_int_equal(decoded.events[0].value, -1);
}

/** Each vCPU counts for itself. */
static void test_two_vcpus(void **state)
{
	const struct ht_clock clock = { .tsc = 1000, .khz = 1000000 };
	struct ht_encoder other = { .calls = 0 };
	struct ht_call call;

	(void)state;
	start(1000000, false);
	ht_encode_start(&other, &clock, false, &call);
	take(&call, 8);
	assert_int_equal(decoded.n, 1);
	ht_encode_clock(&other, 2000, &call);
	take(&call, 8);
	assert_int_equal(decoded.n, 1);
	assert_int_equal(decoded.events[0].kind, HYPER_OTHER);
	ht_encode_stop(&encoder, 2000, 5, &call);
	take(&call, 7);
	assert_int_equal(decoded.n, 1);
	assert_int_equal(decoded.events[0].kind, HYPER_STOP);
	assert_int_equal(decoded.events[0].value, 5);
}

static void test_names(void **state)
{
	struct ht_event name = {
		.kind = HT_TASK_NAME, .field = { 77 }, .text = "0123456789abcdef",
	};
	struct ht_call call;

	(void)state;
	start(1000000, false);
	assert_true(ht_encode_plain(&encoder, &name, &call));
	take(&call, 7);
	assert_int_equal(decoded.events[0].kind, HYPER_COMM);
	assert_int_equal(decoded.events[0].pid, 77);
	assert_string_equal(decoded.events[0].name, "0123456789abcdef");
	name = (struct ht_event){ .kind = HT_PHASE, .field = { HT_PHASE_USER } };
	assert_true(ht_encode_plain(&encoder, &name, &call));
	take(&call, 7);
	assert_int_equal(decoded.events[0].kind, HYPER_PHASE);
	assert_string_equal(decoded.events[0].label, "user space");
}

/** What a user means by ids and values has no sign; levels and phases to come have no name. */
static void test_any_number(void **state)
{
	const struct hyper_dialect *dialect = hyper_dialect_find("hypertrace");
	char text[128];

	(void)state;
	start(1000000, false);
	add(2000, HT_USER, 0x80000000, UINT64_C(1) << 63, 0, 0, 0);
	add(2000, HT_PHASE, 99, 0, 0, 0, 0);
	add(2000, HT_INITCALL_LEVEL, 12, 0, 0, 0, 0);
	flush(2000);
	assert_int_equal(decoded.result, HYPER_DECODED);
	hyper_event_text(text, sizeof(text), &decoded.events[0], dialect, NULL);
	assert_string_equal(text, "number=2147483648 value=9223372036854775808");
	assert_string_equal(decoded.events[1].label, "phase");
	hyper_event_text(text, sizeof(text), &decoded.events[1], dialect, NULL);
	assert_string_equal(text, "number=99");
	hyper_event_text(text, sizeof(text), &decoded.events[2], dialect, NULL);
	assert_string_equal(text, "number=12");
	for (uint64_t level = 0; level < 20; level++) {
		const char *name = hyper_number_name(dialect, HYPER_LEVEL, (int64_t)level);

		assert_true(!name == !ht_level_name(level));
		assert_true(!name || !strcmp(name, ht_level_name(level)));
	}
}

/** A task that cannot be: the others in the call are there nevertheless. */
static void test_senseless(void **state)
{
	struct ht_call call = { .nr = 0x48541500, .bytes = HT_KVM_BYTES };

	(void)state;
	start(1000000, false);
	add(2000, HT_IRQ_ENTRY, 19, 0, 0, 0, 0);
	add(2100, HT_WAKEUP, 5000000, 120, 0, 0, 0);
	add(2200, HT_IRQ_EXIT, 19, 1, 0, 0, 0);
	flush(3000);
	assert_int_equal(decoded.result, HYPER_SENSELESS);
	assert_string_equal(decoded.label, "sched_wakeup");
	assert_string_equal(decoded.fault, "pid");
	assert_int_equal(decoded.n, 2);
	assert_int_equal(decoded.events[1].edge, HYPER_EXIT);
	take(&call, 7);
	assert_int_equal(decoded.result, HYPER_SENSELESS);
	assert_string_equal(decoded.fault, "bad");
	call.nr = 0x48542501;
	take(&call, 7);
	assert_string_equal(decoded.fault, "unknown version");
	assert_int_equal(decoded.n, 0);
	call.nr = 1000;
	take(&call, 7);
	assert_int_equal(decoded.result, HYPER_UNKNOWN);
	call.nr = 5;
	take(&call, 7);
	assert_int_equal(decoded.result, HYPER_FOREIGN);
}

static void test_xen(void **state)
{
	(void)state;
	start(1000000, true);
	add(2000, HT_SWITCH, 0, 120, 0, 100, 100);
	flush(3000);
	assert_int_equal(decoded.result, HYPER_DECODED);
	assert_int_equal(decoded.events[0].pid, 100);
	assert_int_equal(decoded.events[0].before_ns, 1000);
}

/** What others record with Xen's numbers is theirs; ours is known before its first clock. */
static void test_others_of_xen(void **state)
{
	static const struct ht_event event = { .kind = HT_IRQ_ENTRY, .field = { 5 } };
	struct ht_call call = { .xen = true, .bytes = 28 };

	(void)state;
	for (call.nr = 0x500; call.nr < 0x700; call.nr += 0x80) {
		call.a[0] = 0x100;
		take(&call, 7);
		assert_int_equal(decoded.result, HYPER_UNKNOWN);
		assert_int_equal(decoded.n, 0);
		call.a[0] = 0;
		take(&call, 7);
		assert_int_equal(decoded.result, HYPER_UNKNOWN);
	}
	/* a kind that is known, with bits that none has */
	call = (struct ht_call){
		.nr = 0x500, .xen = true, .bytes = 28, .a = { HT_IRQ_ENTRY, 5, 1 },
	};
	take(&call, 7);
	assert_int_equal(decoded.result, HYPER_UNKNOWN);
	encoder.xen = true;
	assert_true(ht_encode_plain(&encoder, &event, &call));
	take(&call, 7);
	assert_int_equal(decoded.result, HYPER_DECODED);
	assert_int_equal(decoded.events[0].kind, HYPER_IRQ);
	start(1000000, true);
	/* now a kind to come is one */
	call = (struct ht_call){ .nr = 0x501, .xen = true, .bytes = 28, .a = { 200 } };
	take(&call, 7);
	assert_int_equal(decoded.result, HYPER_DECODED);
	assert_string_equal(decoded.events[0].label, "kind_to_come");
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_packed), TEST(test_no_frequency), TEST(test_frequency_of_another),
		TEST(test_packed), TEST(test_no_frequency), TEST(test_measured_frequency),
		 TEST(test_missing),
		TEST(test_two_vcpus), TEST(test_names), TEST(test_any_number),
		TEST(test_senseless), TEST(test_xen), TEST(test_others_of_xen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
