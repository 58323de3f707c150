// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_hyper_detect.c
 * @brief	The dialect that a machine speaks is found by its calls, and the choice is reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "hyper_detect.h"

static struct hyper_tally tally;
static char text[512];

static int forget(void **state)
{
	(void)state;
	hyper_tally_free(&tally);
	return 0;
}

static void add(int n, uint64_t nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct hyper_call call = { .nr = nr, .a = { a0, a1, a2, a3 }, .bytes = 32 };

	for (int i = 0; i < n; i++)
		assert_int_equal(hyper_tally_add(&tally, &call), 0);
}

static const char *found(void)
{
	const struct hyper_dialect *dialect = hyper_detect(&tally, text, sizeof(text));

	return dialect ? dialect->name : "none";
}

static void test_nothing(void **state)
{
	(void)state;
	assert_string_equal(found(), "none");
	assert_string_equal(text, "there are no hypercalls in the trace");
	add(3, 1, 0, 0, 0, 0);
	assert_string_equal(found(), "none");
	assert_string_equal(text, "all of its hypercalls are KVM's own");
}

static void test_first(void **state)
{
	(void)state;
	add(4, 1001, 5, 5, 6, 6);
	add(2, 1000, 0x1000, 0, 0, 0);
	add(1, 11, 0, 0, 0, 0);
	assert_string_equal(found(), "hypergraph");
	assert_string_equal(text, "hypercalls 1001, 1000 are those of hypergraph (published in "
			    "2017), because 6 of 6 have its numbers and registers that make sense "
			    "in it");
	assert_int_equal(tally.calls, 7);
	assert_int_equal(tally.foreign, 1);
}

/** The same numbers, but registers that would be no tasks in the first one. */
static void test_by_registers(void **state)
{
	(void)state;
	add(2, 1001, UINT64_C(120) << 32 | 5, UINT64_C(120) << 32 | 6, 0, 0);
	add(1, 3 << 16 | 1001, UINT64_C(120) << 32 | 5, UINT64_C(120) << 32 | 6, 0, 0);
	assert_string_equal(found(), "hypertracing");
	assert_string_equal(text, "hypercalls 1001 are those of hypertracing (published in 2018), "
			    "because 3 of 3 have its numbers and registers that make sense in it");
}

static void test_either(void **state)
{
	(void)state;
	add(1, 3000, 4, 0, 0, 0);
	assert_string_equal(found(), "hypergraph");
	assert_string_equal(text, "hypercalls 3000 are those of hypergraph (published in 2017), "
			    "because 1 of 1 have its numbers and registers that make sense in it; "
			    "they would make as much sense in hypertracing, which "
			    "--hypertrace=hypertracing takes them for");
}

static void test_by_numbers(void **state)
{
	(void)state;
	add(2, 4000, 1, 0, 0, 0);
	add(1, 9002, 0, 0, 0, 0);
	add(1, 88, 0, 0, 0, 0);
	assert_string_equal(found(), "hypergraph");
	assert_memory_equal(text, "hypercalls 4000, 9002 are", 25);
	assert_non_null(strstr(text, "because 3 of 4 have"));
	assert_null(strstr(text, "as much sense"));
}

/** Calls of another program are not taken for those of a dialect that shares a number. */
static void test_others(void **state)
{
	(void)state;
	add(9, 88, 0, 0, 0, 0);
	assert_string_equal(found(), "none");
	assert_string_equal(text, "no dialect is known for hypercalls 88; describe one with "
			    "--hypertrace=FILE.json");
	add(2, 9000, 0, 0, 0, 0);
	assert_string_equal(found(), "none");
	assert_string_equal(text, "no dialect is known for hypercalls 88, 9000: only 2 of 11 make "
			    "sense in hypergraph, which --hypertrace=hypergraph takes them for");
}

static void test_half(void **state)
{
	(void)state;
	add(5, 9000, 0, 0, 0, 0);
	add(5, 88, 0, 0, 0, 0);
	assert_string_equal(found(), "hypergraph");
	add(1, 88, 0, 0, 0, 0);
	assert_string_equal(found(), "none");
}

/** A guest can make up more numbers than anybody counts. */
static void test_many_numbers(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		add(1, 20000 + i, 0, 0, 0, 0);
	assert_int_equal(tally.map.n_keys, HYPER_MAX_NUMBERS);
	assert_int_equal(tally.rest, 1000 - HYPER_MAX_NUMBERS);
	assert_string_equal(found(), "none");
	assert_non_null(strstr(text, "20000, 20001, 20002, 20003, 20004, 20005 and 250 more"));
	/* what comes later is counted all the same */
	add(3000, 1001, 1, 1, 2, 2);
	assert_string_equal(found(), "hypergraph");
}

/** What would be a CPU above a number of the dialect of 2018 is ours, and looked for first. */
static void test_ours(void **state)
{
	(void)state;
	/* 0x4854 above, a switch of that dialect below; and a plain call of ours */
	add(3, 0x48541501, 0x78000000780001, 0x4d200000000, 0, 0);
	assert_string_equal(found(), "hypertrace");
	assert_ptr_equal(hyper_dialects[0], hyper_dialect_find("hypertrace"));
}

/** On Xen, the numbers alone do not decide. */
static void test_others_of_xen(void **state)
{
	struct hyper_call call = { .nr = 0x500, .a = { 0x100 }, .bytes = 28, .source = HYPER_XEN };

	(void)state;
	for (int i = 0; i < 4; i++, call.nr += 0x40)
		assert_int_equal(hyper_tally_add(&tally, &call), 0);
	assert_string_equal(found(), "none");
	call = (struct hyper_call){
		.nr = 0x500, .a = { 4, 19 }, .bytes = 28, .source = HYPER_XEN,
	};
	for (int i = 0; i < 4; i++, call.nr++)
		assert_int_equal(hyper_tally_add(&tally, &call), 0);
	assert_string_equal(found(), "hypertrace");
}

/** The first frequency that a machine reports, from any vCPU. */
static void test_frequency(void **state)
{
	static const struct {
		int64_t time_ns;
		uint64_t sort, what, khz;
		uint32_t after;
	} calls[] = {
		{ 50, 0x500, 1, 1000, 0 },		/* no control call */
		{ 50, 0x400, 3, 1000, 0 },		/* a stop has the number of calls */
		{ 40, 0x400, 2, 0, 0 },			/* it does not know */
		{ 30, 0x400, 2, 2000, 2000 }, { 35, 0x400, 1, 3000, 2000 },
		{ 20, 0x400, 1, 4000, 4000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct hyper_call call = {
			.time_ns = calls[i].time_ns, .nr = 0x48541000 | calls[i].sort, .bytes = 32,
			.a = { UINT64_C(0x43525448) << 32 | 0x100 | calls[i].what, 5,
			       calls[i].khz, 0 },
		};

		assert_int_equal(hyper_tally_add(&tally, &call), 0);
		assert_int_equal(tally.khz.reported, calls[i].after);
	}
}

/** The measure from two clocks of a vCPU, far from each other, against the reported frequency. */
static void test_measured(void **state)
{
	static const struct {
		int64_t ms;		/* 0: of the next case */
		int32_t tid;
		uint64_t what, tsc, khz;
		bool vague;
		uint32_t measured;	/* after it */
	} calls[] = {
		/* it believes 1 GHz; it has 1.1 */
		{ 10, 1, 1, 5000000000, 1000000, false, 0 },
		{ 900, 1, 2, 5979000000, 1000000, false, 0 },	/* too soon */
		{ 2010, 1, 2, 7100000000, 1000000, true, 0 },	/* whenever that was */
		{ 2010, 1, 2, 7200000000, 1000000, false, 1100000 },
		/* another vCPU's agree; but not for so long */
		{ 10, 2, 1, 9000000000, 1000000, false, 1100000 },
		{ 1510, 2, 3, 10500000000, 0, false, 1100000 },
		{ 3010, 2, 3, 12000000000, 0, false, 0 },
		{ 0 },
		/* that may be due to a wait before the call; not any more */
		{ 10, 1, 1, 1000000000, 1000000, false, 0 },
		{ 1010, 1, 2, 2011000000, 1000000, false, 0 },
		{ 4010, 1, 2, 5040000000, 1000000, false, 1010000 },
		{ 0 },
		/* it was put back: seen by its clock, by its start, by how far it is off */
		{ 10, 1, 1, 5000000000, 1000000, false, 0 },
		{ 2010, 1, 2, 4000000000, 1000000, false, 0 },
		{ 4010, 1, 2, 6000000000, 1000000, false, 0 },
		{ 5010, 1, 1, 8900000000, 1000000, false, 0 },
		{ 7010, 1, 2, 10900000000, 1000000, false, 0 },
		{ 9010, 1, 2, 12300000000, 1000000, false, 0 },
		{ 0 },
		/* it does not know */
		{ 10, 1, 1, 0, 0, false, 0 },
		{ 1510, 1, 2, 3000000000, 0, false, 2000000 },
		{ 2510, 1, 2, 1ULL << 62, 0, false, 2000000 },	/* no such clock */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct hyper_call call = {
			.time_ns = calls[i].ms * 1000000, .tid = calls[i].tid,
			.nr = 0x48541400, .bytes = 32, .vague = calls[i].vague,
			.a = { UINT64_C(0x43525448) << 32 | 0x100 | calls[i].what, calls[i].tsc,
			       calls[i].khz, 0 },
		};

		if (!calls[i].ms) {
			hyper_tally_free(&tally);
			continue;
		}
		assert_int_equal(hyper_tally_add(&tally, &call), 0);
		assert_int_equal(tally.khz.measured, calls[i].measured);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nothing, forget),
		cmocka_unit_test_teardown(test_first, forget),
		cmocka_unit_test_teardown(test_by_registers, forget),
		cmocka_unit_test_teardown(test_either, forget),
		cmocka_unit_test_teardown(test_by_numbers, forget),
		cmocka_unit_test_teardown(test_others, forget),
		cmocka_unit_test_teardown(test_half, forget),
		cmocka_unit_test_teardown(test_many_numbers, forget),
		cmocka_unit_test_teardown(test_ours, forget),
		cmocka_unit_test_teardown(test_others_of_xen, forget),
		cmocka_unit_test_teardown(test_frequency, forget),
		cmocka_unit_test_teardown(test_measured, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
