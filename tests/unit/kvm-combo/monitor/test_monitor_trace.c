// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_monitor_trace.c
 * @brief	QEMU's log, and the file of its simple backend, by hand and damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "monitor_events.h"
#include "monitor_trace.h"

static struct monitor_trace *take(const void *bytes, size_t n)
{
	struct monitor_trace *trace;
	char error[256] = "", *copy = malloc(n + 1);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	copy[n] = '\0';
	if (monitor_trace_take("q.log", copy, n, &trace, error, sizeof(error)))
		fail_msg("%s", error);
	assert_string_equal(error, "");
	return trace;
}

static struct monitor_trace *take_text(const char *text)
{
	return take(text, strlen(text));
}

static void refuse(const void *bytes, size_t n, const char *why)
{
	struct monitor_trace *trace;
	char error[256] = "", *copy = malloc(n + 1);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	copy[n] = '\0';
	assert_int_equal(monitor_trace_take("q.log", copy, n, &trace, error, sizeof(error)),
			 -EINVAL);
	assert_null(trace);
	if (!strstr(error, why) || strncmp(error, "q.log: ", 7) != 0)
		fail_msg("%s", error);
}

static void check_record(const struct monitor_trace *trace, size_t i, int64_t time_ns,
			 int32_t thread, const char *event, const char *wanted)
{
	size_t n;
	const struct monitor_record *records = monitor_trace_records(trace, &n);
	char text[200];

	assert_true(i < n);
	assert_int_equal(records[i].time_ns, time_ns);
	assert_int_equal(records[i].thread, thread);
	assert_string_equal(monitor_trace_event(trace, records[i].event), event);
	monitor_trace_text(trace, &records[i], text, sizeof(text));
	assert_string_equal(text, wanted);
}

/* --- logs ------------------------------------------------------------------------------------ */

/** In order of time, whichever thread wrote first; lines of others are counted. */
static void test_log(void **state)
{
	struct monitor_trace *trace = take_text(
		"qemu: a warning\n"
		"12@1700000000.000007:virtqueue_pop vq 0x1 elem 0x2 in_num 1 out_num 2\n"
		"13@1700000000.000005:kvm_run_exit cpu_index 0, reason 6\r\n"
		"\n"
		"12@1700000000.000007:nothing_to_say\n"
		"12@1700000000.00007:five_digits\n"
		"12@1700000000.0000071:seven_digits\n"
		"@1700000000.000007:no_thread\n"
		"0@1700000000.000007:no_thread\n"
		"99999999999@1700000000.000007:no_thread\n"
		"12@99999999999.000007:too_late\n"
		"12@9300000000.000007:too_late\n"
		"12@1700000000.000007:bad-name x\n"
		"12@1700000000.000007: x\n"
		"14@0.000000:last_one 1");
	uint64_t first;
	size_t n;

	(void)state;
	assert_int_equal(monitor_trace_clock(trace), MONITOR_REALTIME);
	assert_string_equal(monitor_trace_path(trace), "q.log");
	monitor_trace_records(trace, &n);
	assert_int_equal(n, 4);
	check_record(trace, 0, 0, 14, "last_one", "1");
	check_record(trace, 1, INT64_C(1700000000000005000), 13, "kvm_run_exit",
		     "cpu_index 0, reason 6");
	check_record(trace, 2, INT64_C(1700000000000007000), 12, "virtqueue_pop",
		     "vq 0x1 elem 0x2 in_num 1 out_num 2");
	check_record(trace, 3, INT64_C(1700000000000007000), 12, "nothing_to_say", "");
	assert_int_equal(monitor_trace_others(trace, &first), 10);
	assert_int_equal(first, 0);
	assert_int_equal(monitor_trace_n_events(trace), 4);
	assert_null(monitor_trace_event(trace, 4));
	assert_int_equal(monitor_trace_dropped(trace), 0);
	monitor_trace_free(trace);
	monitor_trace_free(NULL);
}

static void test_no_log(void **state)
{
	static const char without[] = "a line\nvirtqueue_pop vq 0x1 elem 0x2 in_num 1 out_num 2\n";

	(void)state;
	refuse("", 0, "not a trace of QEMU");
	refuse("hello\n", 6, "not a trace of QEMU");
	refuse("\0\0\0", 3, "not a trace of QEMU");
	refuse(without, strlen(without), "start QEMU with -msg timestamp=on");
}

/** The same bytes cut anywhere are the records up to there. */
static void test_cut(void **state)
{
	static const char text[] = "12@1.000001:a x\n12@1.000002:b y\n12@1.000003:c z\n";

	(void)state;
	for (size_t n = strlen("12@1.000001:a"); n <= strlen(text); n++) {
		struct monitor_trace *trace = take(text, n);
		size_t found;

		monitor_trace_records(trace, &found);
		/* a line that is cut before its event is none */
		assert_int_equal(found, n / 16 + (n % 16 >= 13));
		monitor_trace_free(trace);
	}
}

/* --- arguments ------------------------------------------------------------------------------- */

static bool args_of(const char *text, struct monitor_args *args)
{
	char line[512];
	struct monitor_trace *trace;
	size_t n;
	bool ret;

	snprintf(line, sizeof(line), "1@1.000000:%s\n", text);
	trace = take_text(line);
	ret = monitor_args_of(trace, monitor_trace_records(trace, &n), args);
	assert_int_equal(n, 1);
	if (args->text)
		args->text = strndup(args->text, args->n_text);
	monitor_trace_free(trace);
	return ret;
}

static void test_args(void **state)
{
	struct monitor_args args;

	(void)state;
	assert_true(args_of("virtqueue_pop vq 0xffffffffffffffff elem (nil) in_num 12 out_num 0",
			    &args));
	assert_int_equal(args.kind, MONITOR_POP);
	assert_int_equal(args.n, 4);
	assert_true(args.value[0] == UINT64_MAX && args.value[1] == 0 && args.value[2] == 12);
	assert_true(args_of("kvm_run_exit cpu_index 1, reason -4", &args));
	assert_int_equal((int32_t)args.value[1], -4);
	assert_true(args_of("memory_region_ops_read cpu 0 mr 0x7f addr 0xfee00000 value 0xab "
			    "size 4 name 'it's 'odd''", &args));
	assert_int_equal(args.value[2], 0xfee00000);
	assert_string_equal(args.text, "it's 'odd'");
	free((void *)args.text);
	assert_true(args_of("resettable_phase_enter_begin obj=0x55(virtio-blk-device) count=0 "
			    "type=1", &args));
	assert_int_equal(args.kind, MONITOR_NAME);
	assert_int_equal(args.value[0], 0x55);
	assert_string_equal(args.text, "virtio-blk-device");
	free((void *)args.text);
	assert_true(args_of("qdev_reset obj=0x55()", &args));
	assert_string_equal(args.text, "");
	free((void *)args.text);
	/* not as they should be */
	assert_false(args_of("virtqueue_pop vq 0x1 elem 0x2 in_num 1", &args));
	assert_false(args_of("virtqueue_pop vq 0x1 elem 0x2 in_num 1 out_num 1 more", &args));
	assert_false(args_of("virtqueue_pop vq 0x1 elem 0x2 in_num -1 out_num 1", &args));
	assert_false(args_of("virtqueue_pop vq 0x1ffffffffffffffff elem 0x2 in_num 1 out_num 1",
			     &args));
	assert_false(args_of("virtqueue_pop vq 1 elem 0x2 in_num 1 out_num 1", &args));
	assert_false(args_of("virtqueue_pop vq 0x elem 0x2 in_num 1 out_num 1", &args));
	assert_false(args_of("kvm_run_exit cpu_index 1, reason ", &args));
	assert_false(args_of("qdev_reset obj=0x55(", &args));
	assert_false(args_of("qdev_reset obj=0x55", &args));
	assert_false(args_of("nobody_knows 1", &args));
	assert_true(monitor_event_is_known("virtqueue_pop"));
	assert_false(monitor_event_is_known("nobody_knows"));
	assert_int_equal(monitor_event_kind("nobody_knows"), MONITOR_NOTHING);
}

/* --- the simple backend ---------------------------------------------------------------------- */

/** A file that is being written. */
struct file {
	char		bytes[4096];
	size_t		n;
};

static void put(struct file *file, const void *bytes, size_t n)
{
	assert_true(file->n + n <= sizeof(file->bytes));
	memcpy(file->bytes + file->n, bytes, n);
	file->n += n;
}

static void put_word(struct file *file, uint64_t word)
{
	put(file, &word, 8);
}

static void put_half(struct file *file, uint32_t half)
{
	put(file, &half, 4);
}

static void put_header(struct file *file, uint64_t version)
{
	file->n = 0;
	put_word(file, UINT64_MAX);
	put_word(file, UINT64_C(0xf2b177cb0aa429b4));
	put_word(file, version);
}

static void put_name(struct file *file, uint64_t id, const char *name)
{
	put_word(file, 0);
	put_word(file, id);
	put_half(file, (uint32_t)strlen(name));
	put(file, name, strlen(name));
}

static void put_event(struct file *file, uint64_t id, uint64_t ns, uint32_t n)
{
	put_word(file, 1);
	put_word(file, id);
	put_word(file, ns);
	put_half(file, 24 + n);
	put_half(file, 777);
}

/** Two events, one with a text, one of an unknown kind, and three that were dropped. */
static void put_all(struct file *file)
{
	put_header(file, 4);
	put_name(file, 5, "kvm_run_exit");
	put_name(file, UINT64_C(1) << 40, "memory_region_ops_write");
	put_event(file, 5, 1000, 16);
	put_word(file, 1);
	put_word(file, (uint32_t)-4);
	put_event(file, UINT64_C(1) << 40, 900, 5 * 8 + 4 + 6);
	for (uint64_t i = 0; i < 5; i++)
		put_word(file, 16 + i);
	put_half(file, 6);
	put(file, "serial", 6);
	put_event(file, UINT64_MAX - 1, 950, 8);
	put_word(file, 3);
	put_name(file, 6, "my_own");
	put_event(file, 6, 2000, 12);
	put_word(file, 255);
	put_half(file, 1);
}

static void test_simple(void **state)
{
	struct file file;
	struct monitor_trace *trace;
	struct monitor_args args;
	const struct monitor_record *records;
	uint64_t first;
	size_t n;

	(void)state;
	put_all(&file);
	trace = take(file.bytes, file.n);
	records = monitor_trace_records(trace, &n);
	assert_int_equal(monitor_trace_clock(trace), MONITOR_MONOTONIC);
	assert_int_equal(n, 3);
	check_record(trace, 0, 900, 777, "memory_region_ops_write",
		     "cpu 16 mr 0x11 addr 0x12 value 0x13 size 20 name 'serial'");
	check_record(trace, 1, 1000, 777, "kvm_run_exit", "cpu_index 1, reason -4");
	check_record(trace, 2, 2000, 777, "my_own", "0xff");
	assert_int_equal(monitor_trace_dropped(trace), 3);
	assert_int_equal(monitor_trace_others(trace, &first), 0);
	assert_true(monitor_args_of(trace, &records[0], &args));
	assert_int_equal(args.kind, MONITOR_WRITE);
	assert_int_equal(args.n_text, 6);
	assert_int_equal(args.value[4], 20);
	monitor_trace_free(trace);
	put_header(&file, 3);
	refuse(file.bytes, file.n, "of another version than 4");
}

/** A cut is reported, and what is whole is read. */
static void test_simple_cut(void **state)
{
	struct file file;

	(void)state;
	put_all(&file);
	for (size_t n = 24; n < file.n; n++) {
		struct monitor_trace *trace = take(file.bytes, n);
		uint64_t first, others = monitor_trace_others(trace, &first);
		size_t found;

		monitor_trace_records(trace, &found);
		assert_true(found <= 2);
		assert_true(others < 100);
		assert_true(!others || first + others == n);
		monitor_trace_free(trace);
	}
}

/** Nothing of what cannot be is believed. */
static void test_simple_odd(void **state)
{
	static const struct {
		uint32_t	length, process;
		uint64_t	id, ns;
	} odd[] = {
		{ 23, 1, 5, 0 }, { UINT32_MAX, 1, 5, 0 }, { 24, UINT32_MAX, 5, 0 }, { 24, 1, 6, 0 },
		{ 24, 1, 5, UINT64_MAX }, { 25, 1, 5, 0 },
	};
	struct file file;
	uint64_t first;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		struct monitor_trace *trace;

		put_header(&file, 4);
		put_name(&file, 5, "kvm_run_exit");
		put_word(&file, 1);
		put_word(&file, odd[i].id);
		put_word(&file, odd[i].ns);
		put_half(&file, odd[i].length);
		put_half(&file, odd[i].process);
		trace = take(file.bytes, file.n);
		monitor_trace_records(trace, &n);
		assert_int_equal(n, 0);
		assert_int_equal(monitor_trace_others(trace, &first), 32);
		monitor_trace_free(trace);
	}
	/* names that are none, and records of another kind */
	for (int i = 0; i < 3; i++) {
		struct monitor_trace *trace;

		put_header(&file, 4);
		if (i < 2)
			put_name(&file, 5, i ? "" : "a b");
		else
			put_word(&file, 2);
		trace = take(file.bytes, file.n);
		assert_int_equal(monitor_trace_n_events(trace), 0);
		assert_true(monitor_trace_others(trace, &first) > 0);
		monitor_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log), cmocka_unit_test(test_no_log),
		cmocka_unit_test(test_cut), cmocka_unit_test(test_args),
		cmocka_unit_test(test_simple), cmocka_unit_test(test_simple_cut),
		cmocka_unit_test(test_simple_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
