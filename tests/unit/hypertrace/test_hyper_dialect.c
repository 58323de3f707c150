// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_hyper_dialect.c
 * @brief	Hypercalls become events as a dialect says: a published one or a user's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "array.h"
#include "hyper_dialect.h"
#include "trace_builder.h"

#define CALL(number, ...)	((struct hyper_call){					\
	.nr = (number), .a = { __VA_ARGS__ }, .bytes = 32, .cost_ns = -1 })

static struct hyper_event decode(const char *dialect, struct hyper_call call)
{
	enum hyper_field bad = HYPER_F_EDGE;
	struct hyper_event event;

	assert_int_equal(hyper_decode(hyper_dialect_find(dialect), &call, &event, &bad),
			 HYPER_DECODED);
	assert_int_equal(bad, HYPER_F_NONE);
	return event;
}

static enum hyper_field senseless(const char *dialect, struct hyper_call call)
{
	enum hyper_field bad = HYPER_F_NONE;
	struct hyper_event event;

	assert_int_equal(hyper_decode(hyper_dialect_find(dialect), &call, &event, &bad),
			 HYPER_SENSELESS);
	return bad;
}

static void test_function(void **state)
{
	struct hyper_event entry = decode("hypergraph", CALL(1000, 0xffffffff81000000, 0, 3, 2));
	struct hyper_event leave = decode("hypergraph", CALL(1000, 0xffffffff81000000, 1, 1234, 2));

	(void)state;
	assert_int_equal(entry.kind, HYPER_FUNCTION);
	assert_int_equal(entry.edge, HYPER_ENTRY);
	assert_true(entry.address == 0xffffffff81000000);
	assert_int_equal(entry.depth, 2);
	/* the third register has the CPU, or in later patches a hash: neither is a duration */
	assert_false(hyper_has(&entry, HYPER_F_VALUE));
	assert_int_equal(entry.value, 0);
	assert_int_equal(leave.edge, HYPER_EXIT);
	assert_int_equal(leave.value, 1234);
	assert_true(hyper_has(&leave, HYPER_F_VALUE));
	assert_string_equal(leave.label, "function");
}

static void test_switch(void **state)
{
	struct hyper_event event = decode("hypergraph", CALL(1001, 12, 10, 34, 30));

	(void)state;
	assert_int_equal(event.kind, HYPER_SWITCH);
	assert_int_equal(event.prev_pid, 12);
	assert_int_equal(event.prev_tgid, 10);
	assert_int_equal(event.pid, 34);
	assert_int_equal(event.tgid, 30);
	assert_false(hyper_has(&event, HYPER_F_CPU));
}

/** The later one has states and priorities beside the tasks, letters, and the CPU in the number. */
static void test_later_switch(void **state)
{
	struct hyper_call call = CALL(1001 | 3 << 16, UINT64_C(2) << 48 | UINT64_C(120) << 32 | 12,
				      UINT64_C(0xffff) << 48 | UINT64_C(100) << 32 | 34,
				      0, 0x0000006b6e616c62);
	struct hyper_event event;

	(void)state;
	memcpy(&call.a[3], "kworker/", 8);
	memcpy(&call.a[2], "0:1\0xyz", 8);
	event = decode("hypertracing", call);
	assert_int_equal(event.cpu, 3);
	assert_true(hyper_has(&event, HYPER_F_CPU));
	assert_int_equal(event.prev_pid, 12);
	assert_int_equal(event.prev_state, 2);
	assert_int_equal(event.pid, 34);
	assert_int_equal(event.prio, 100);
	assert_string_equal(event.name, "kworker/0:1");
}

/** Only some levels have a _sync one, wherever the mark is among the fields. */
static void test_sync(void **state)
{
	static const struct hyper_row row = {
		3000, "level", HYPER_LEVEL, 0,
		{ { .field = HYPER_F_SYNC, .reg = 1 }, { .field = HYPER_F_NUMBER } },
	};
	const struct hyper_dialect turned = { .name = "turned", .rows = &row, .n_rows = 1 };
	struct hyper_call call = CALL(3000, 9, 1);
	struct hyper_event event;

	(void)state;
	assert_int_equal(decode("hypergraph", CALL(3000, 2, 1)).number, 12);
	assert_int_equal(decode("hypergraph", CALL(3000, 9, 1)).number, 19);
	for (int level = 0; level < 2; level++) {
		assert_int_equal(decode("hypergraph", CALL(3000, level)).number, level);
		assert_int_equal(senseless("hypergraph", CALL(3000, level, 1)), HYPER_F_SYNC);
	}
	assert_int_equal(senseless("hypergraph", CALL(3000, 10, 1)), HYPER_F_SYNC);
	assert_int_equal(senseless("hypergraph", CALL(3000, INT32_MAX, 1)), HYPER_F_SYNC);
	assert_int_equal(hyper_decode(&turned, &call, &event, NULL), HYPER_DECODED);
	assert_int_equal(event.number, 19);
}

/** Every row of the list, with its registers. */
static void test_published_numbers(void **state)
{
	static const struct {
		struct hyper_call	call;
		enum hyper_kind		kind;
		enum hyper_edge		edge;
		int32_t			number;
	} rows[] = {
		{ CALL(1002), HYPER_START, HYPER_AT_ONCE, 0 },
		{ CALL(1003), HYPER_STOP, HYPER_AT_ONCE, 0 },
		{ CALL(2000, 0x400000, 1), HYPER_USER_FUNCTION, HYPER_EXIT, 0 },
		{ CALL(3000, 4), HYPER_LEVEL, HYPER_AT_ONCE, 4 },
		{ CALL(3000, 4, 1), HYPER_LEVEL, HYPER_AT_ONCE, 14 },
		{ CALL(3001, 9), HYPER_LEVEL, HYPER_ENTRY, 9 },
		{ CALL(3002, 19), HYPER_LEVEL, HYPER_EXIT, 19 },
		{ CALL(4000, 60), HYPER_SYSCALL, HYPER_ENTRY, 60 },
		{ CALL(4000, 60, 1, 5), HYPER_SYSCALL, HYPER_EXIT, 60 },
		{ CALL(4001, 7), HYPER_INITCALL, HYPER_ENTRY, 7 },
		{ CALL(4002, 7), HYPER_INITCALL, HYPER_EXIT, 7 },
		{ CALL(9000), HYPER_PHASE, HYPER_AT_ONCE, 0 },
		{ CALL(9001), HYPER_PHASE, HYPER_AT_ONCE, 0 },
		{ CALL(9002), HYPER_PHASE, HYPER_AT_ONCE, 0 },
		{ CALL(9003), HYPER_PHASE, HYPER_AT_ONCE, 0 },
		{ CALL(10000, 106), HYPER_SHUTDOWN, HYPER_AT_ONCE, 106 },
		{ CALL(10001, 106), HYPER_SHUTDOWN, HYPER_ENTRY, 106 },
		{ CALL(10002, 106), HYPER_SHUTDOWN, HYPER_EXIT, 106 },
		{ CALL(11001, 5), HYPER_DEVICE, HYPER_ENTRY, 5 },
		{ CALL(11002, 5), HYPER_DEVICE, HYPER_EXIT, 5 },
		{ CALL(12001, 6), HYPER_NOTIFIER, HYPER_ENTRY, 6 },
		{ CALL(12002, 6), HYPER_NOTIFIER, HYPER_EXIT, 6 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct hyper_event event = decode("hypergraph", rows[i].call);

		assert_int_equal(event.kind, rows[i].kind);
		assert_int_equal(event.edge, rows[i].edge);
		assert_int_equal(event.number, rows[i].number);
	}
}

static void test_names_of_levels(void **state)
{
	static const char *const levels[] = {
		"early", "pure", "core", "postcore", "arch", "subsys", "fs", "rootfs", "device",
		"late", "console", "security", "core_sync", "postcore_sync", "arch_sync",
		"subsys_sync", "fs_sync", "rootfs_sync", "device_sync", "late_sync",
	};
	const struct hyper_dialect *dialect = hyper_dialect_find("hypergraph");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		assert_string_equal(hyper_number_name(dialect, HYPER_LEVEL, (int32_t)i), levels[i]);
	assert_null(hyper_number_name(dialect, HYPER_LEVEL, 20));
	assert_null(hyper_number_name(dialect, HYPER_DEVICE, 0));
	assert_string_equal(hyper_number_name(dialect, HYPER_SHUTDOWN, 108), "syscore_shutdown");
}

/** The first letters are in the last register. */
static void test_initcall_name(void **state)
{
	struct hyper_call call = CALL(4001, 7);
	struct hyper_event event;

	(void)state;
	memcpy(&call.a[3], "trace_in", 8);
	memcpy(&call.a[2], "it_flags", 8);
	memcpy(&call.a[1], "_sys_ent", 8);
	event = decode("hypergraph", call);
	assert_string_equal(event.name, "trace_init_flags_sys_ent");
}

static void test_kvm_own(void **state)
{
	static const struct { uint64_t nr; const char *name; } own[] = {
		{ 1, "VAPIC_POLL_IRQ" }, { 5, "KICK_CPU" }, { 9, "CLOCK_PAIRING" },
		{ 10, "SEND_IPI" }, { 11, "SCHED_YIELD" }, { 12, "MAP_GPA_RANGE" },
	};
	struct hyper_event event;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		struct hyper_call call = CALL(own[i].nr);

		assert_string_equal(hyper_kvm_number(own[i].nr), own[i].name);
		assert_int_equal(hyper_decode(hyper_dialect_find("hypergraph"), &call, &event,
					      NULL), HYPER_FOREIGN);
		/* of Xen, all of these are the guest's to give */
		call.source = HYPER_XEN;
		assert_int_equal(hyper_decode(hyper_dialect_find("hypergraph"), &call, &event,
					      NULL), HYPER_UNKNOWN);
	}
	assert_null(hyper_kvm_number(0));
	assert_null(hyper_kvm_number(13));
	assert_null(hyper_kvm_number(UINT64_MAX));
}

static void test_senseless(void **state)
{
	struct hyper_call call = CALL(77);
	struct hyper_event event;

	(void)state;
	assert_int_equal(senseless("hypergraph", CALL(1000, 1, 2)), HYPER_F_EDGE);
	assert_int_equal(senseless("hypergraph", CALL(1000, 1, 0, 0, 5000)), HYPER_F_DEPTH);
	assert_int_equal(senseless("hypergraph", CALL(1001, 1, 1, UINT64_MAX, 1)), HYPER_F_PID);
	assert_int_equal(senseless("hypergraph", CALL(1001, UINT64_C(1) << 32)), HYPER_F_PREV_PID);
	assert_int_equal(senseless("hypergraph", CALL(3000, 1, 7)), HYPER_F_SYNC);
	assert_int_equal(senseless("hypertracing", CALL(UINT64_C(9999) << 16 | 1103)), HYPER_F_CPU);
	assert_int_equal(hyper_decode(hyper_dialect_find("hypergraph"), &call, &event, NULL),
			 HYPER_UNKNOWN);
	call.nr = UINT64_C(1) << 32 | 1000;
	assert_int_equal(hyper_decode(hyper_dialect_find("hypergraph"), &call, &event, NULL),
			 HYPER_UNKNOWN);
	/* the highest that makes sense does */
	assert_int_equal(decode("hypergraph", CALL(1000, 1, 0, 0, 1023)).depth, 1023);
}

/** Xen's records may be short, and have at most half of the last register. */
static void test_xen_payload(void **state)
{
	struct hyper_call call = CALL(1000, 0x1234, 1, 99, 7);
	struct hyper_event event;
	enum hyper_field bad;

	(void)state;
	call.source = HYPER_XEN;
	call.bytes = 28;
	assert_int_equal(hyper_decode(hyper_dialect_find("hypergraph"), &call, &event, NULL),
			 HYPER_DECODED);
	assert_int_equal(event.depth, 7);
	call.bytes = 24;
	assert_int_equal(hyper_decode(hyper_dialect_find("hypergraph"), &call, &event, &bad),
			 HYPER_SENSELESS);
	assert_int_equal(bad, HYPER_F_DEPTH);
	call.bytes = 0;
	assert_int_equal(hyper_decode(hyper_dialect_find("hypergraph"), &call, &event, &bad),
			 HYPER_SENSELESS);
	assert_int_equal(bad, HYPER_F_EDGE);
	/* a number of Xen's has no room for a CPU */
	call.nr = 1110;
	assert_int_equal(hyper_decode(hyper_dialect_find("hypertracing"), &call, &event, NULL),
			 HYPER_DECODED);
	assert_false(hyper_has(&event, HYPER_F_CPU));
}

/** Rows in order, fields that a kind needs, no number of KVM's. */
static void test_tables(void **state)
{
	(void)state;
	for (size_t d = 0; hyper_dialects[d]; d++) {
		const struct hyper_dialect *dialect = hyper_dialects[d];

		assert_ptr_equal(hyper_dialect_find(dialect->name), dialect);
		for (size_t i = 0; i < dialect->n_rows; i++) {
			const struct hyper_row *row = &dialect->rows[i];
			uint32_t given = 0;

			assert_true(!i || row[-1].number < row->number);
			assert_null(hyper_kvm_number(row->number));
			for (int p = 0; p < HYPER_MAX_FIELDS && row->parts[p].field; p++)
				given |= UINT32_C(1) << row->parts[p].field;
			assert_int_equal(hyper_kind_needs((enum hyper_kind)row->kind) & ~given, 0);
		}
	}
	assert_null(hyper_dialect_find("klingon"));
}

/* --- a user's own ---------------------------------------------------------------------------- */

static struct hyper_dialect *read_text(const char *text, char *error, size_t size, int *ret)
{
	char *path = trace_file(text, strlen(text), ".json");
	struct hyper_dialect *dialect;

	error[0] = '\0';
	*ret = hyper_dialect_read(path, &dialect, error, size);
	if (*ret)
		assert_memory_equal(error, path, strlen(path));
	unlink(path);
	free(path);
	return dialect;
}

static void test_own(void **state)
{
	char path[512], error[512];
	struct hyper_dialect *dialect;
	struct hyper_call call = CALL(7001, UINT64_C(34) << 32 | 12);
	struct hyper_event event;

	(void)state;
	snprintf(path, sizeof(path), "%s/examples/hypertrace-dialect.json",
		 getenv("KSV_SOURCE_DIR"));
	assert_int_equal(hyper_dialect_read(path, &dialect, error, sizeof(error)), 0);
	assert_string_equal(dialect->name, "mykernel");
	memcpy(&call.a[1], "abcdefgh", 8);
	memcpy(&call.a[2], "ij", 2);
	assert_int_equal(hyper_decode(dialect, &call, &event, NULL), HYPER_DECODED);
	assert_int_equal(event.prev_pid, 12);
	assert_int_equal(event.pid, 34);
	assert_string_equal(event.name, "abcdefghij");
	assert_string_equal(event.label, "switch");
	call = CALL(7002, 0x77, 5 << 8 | 1, 42);
	assert_int_equal(hyper_decode(dialect, &call, &event, NULL), HYPER_DECODED);
	assert_int_equal(event.edge, HYPER_EXIT);
	assert_int_equal(event.depth, 5);
	assert_int_equal(event.value, 42);
	assert_string_equal(hyper_number_name(dialect, HYPER_LEVEL, 1), "drivers");
	hyper_dialect_free(dialect);
	hyper_dialect_free(NULL);
}

#define ROW(row)	"{\"hypertrace_dialect\":\"x\",\"events\":[" row "]}"
#define SWITCH(parts)									\
	ROW("{\"number\":99,\"name\":\"s\",\"kind\":\"switch\",\"fields\":[" parts "]}")
#define PID		"{\"is\":\"pid\",\"register\":0}"

static void test_broken(void **state)
{
	static const struct { const char *text, *says; } broken[] = {
		{ "", "not a JSON object" },
		{ "[]", "not a JSON object" },
		{ "{}", "no short text: 'hypertrace_dialect'" },
		{ "{\"hypertrace_dialect\":\"\"}", "no short text" },
		{ "{\"hypertrace_dialect\":\"x\"}", "there is no list 'events'" },
		{ "{\"hypertrace_dialect\":\"x\",\"events\":[]}", "there is no list 'events'" },
		{ "{\"hypertrace_dialect\":\"x\",\"evnets\":[]}", "nothing is called 'evnets'" },
		{ "{\"hypertrace_dialect\":\"x\",\"number_bits\":33}", "'number_bits'" },
		{ ROW("7"), "event 1 of 1: it is no object" },
		{ ROW("{}"), "event 1 of 1: there is no 'number'" },
		{ ROW("{\"number\":-1}"), "no number that can be: 'number'" },
		{ ROW("{\"number\":\"9\"}"), "no number that can be: 'number'" },
		{ ROW("{\"number\":4294967296}"), "no number that can be: 'number'" },
		{ "{\"hypertrace_dialect\":\"x\",\"number_bits\":8,\"events\":["
		  "{\"number\":255,\"name\":\"s\",\"kind\":\"start\"},"
		  "{\"number\":256,\"name\":\"t\",\"kind\":\"stop\"}]}",
		  "event 2 of 2: its number has more than 'number_bits'" },
		{ ROW("{\"number\":99,\"name\":7}"), "no short text: 'name'" },
		{ ROW("{\"number\":99,\"name\":\"s\"}"), "there is no 'kind'" },
		{ ROW("{\"number\":99,\"name\":\"s\",\"kind\":\"swich\"}"),
		  "unknown word 'swich'" },
		{ ROW("{\"number\":99,\"name\":\"s\",\"kind\":\"switch\"}"),
		  "needs a field that is 'pid'" },
		{ ROW("{\"number\":99,\"name\":\"s\",\"kind\":\"switch\",\"fields\":{}}"),
		  "'fields' is no list" },
		{ ROW("{\"number\":5,\"name\":\"s\",\"kind\":\"start\"}"),
		  "its number is KVM's own 'KICK_CPU'" },
		{ ROW("{\"number\":99,\"name\":\"s\",\"kind\":\"start\",\"edge\":\"entry\"}"),
		  "has no entry and exit" },
		{ ROW("{\"number\":99,\"name\":\"s\",\"kind\":\"irq\",\"fields\":["
		      "{\"is\":\"number\",\"register\":0}]}"), "needs 'edge'" },
		{ ROW("{\"number\":99,\"name\":\"s\",\"kind\":\"start\"},"
		      "{\"number\":99,\"name\":\"t\",\"kind\":\"stop\"}"),
		  "number 99: it is there twice" },
		{ SWITCH("7"), "a field is no object" },
		{ SWITCH("{\"register\":0}"), "there is no 'is'" },
		{ SWITCH("{\"is\":\"pdi\",\"register\":0}"), "unknown word 'pdi'" },
		{ SWITCH("{\"is\":\"pid\"}"), "there is no 'register'" },
		{ SWITCH("{\"is\":\"pid\",\"register\":4}"), "'register'" },
		{ SWITCH("{\"is\":\"pid\",\"register\":0,\"shift\":60,\"bits\":5}"),
		  "a register has 64 bits" },
		{ SWITCH("{\"is\":\"pid\",\"register\":0,\"only\":\"never\"}"), "'never'" },
		{ SWITCH(PID "," PID "," PID "," PID "," PID "," PID "," PID "," PID "," PID),
		  "'fields' is no list of up to 8" },
		{ "{\"hypertrace_dialect\":\"x\",\"events\":[{\"number\":99,\"name\":\"s\","
		  "\"kind\":\"start\"}],\"names\":7}", "no list: 'names'" },
		{ "{\"hypertrace_dialect\":\"x\",\"events\":[{\"number\":99,\"name\":\"s\","
		  "\"kind\":\"start\"}],\"names\":[{}]}", "name 1 of 1: there is no 'kind'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		char error[512];
		int ret;

		assert_null(read_text(broken[i].text, error, sizeof(error), &ret));
		assert_int_equal(ret, -EINVAL);
		if (!strstr(error, broken[i].says))
			fail_msg("%s: %s, not: %s", broken[i].text, error, broken[i].says);
	}
}

static void test_absent(void **state)
{
	struct hyper_dialect *dialect;
	char error[256];

	(void)state;
	assert_int_equal(hyper_dialect_read("/nowhere.json", &dialect, error, sizeof(error)),
			 -ENOENT);
	assert_null(dialect);
	assert_non_null(strstr(error, "/nowhere.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_later_switch),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_published_numbers),
		cmocka_unit_test(test_names_of_levels),
		cmocka_unit_test(test_initcall_name),
		cmocka_unit_test(test_kvm_own),
		cmocka_unit_test(test_senseless),
		cmocka_unit_test(test_xen_payload),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
