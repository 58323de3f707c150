// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_record_ring.c
 * @brief	What a flight recorder keeps: of one time all CPUs, or none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "record_ring.h"

static char folder[] = "/tmp/ring.XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void add(struct record_ring *ring, int64_t time_ns, int cpu, const char *text)
{
	assert_int_equal(record_ring_add(ring, time_ns, cpu, text, strlen(text)), 0);
}

/** What is written of a CPU, or of all. */
static void assert_holds(const struct record_ring *ring, int cpu, const char *wanted)
{
	char path[64], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/x", folder);
	assert_int_equal(record_ring_write(ring, cpu, path), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	/* and nothing is written over */
	assert_true(record_ring_write(ring, cpu, path) < 0);
	unlink(path);
	assert_string_equal(text, wanted);
}

static void test_prune(void **state)
{
	struct record_ring ring = { 0 };

	(void)state;
	assert_holds(&ring, -1, "");
	add(&ring, 10, 0, "a");
	add(&ring, 10, 3, "bb");
	add(&ring, 20, 1, "c");
	add(&ring, 30, 0, "d");
	assert_int_equal(ring.n_cpus, 4);
	assert_int_equal(ring.bytes, 5);
	assert_holds(&ring, -1, "abbcd");
	assert_holds(&ring, 0, "ad");
	assert_holds(&ring, 2, "");
	record_ring_prune(&ring, 10);
	assert_int_equal(ring.bytes, 5);
	record_ring_prune(&ring, 11);
	assert_holds(&ring, -1, "cd");
	record_ring_prune(&ring, 31);
	assert_int_equal(ring.bytes, 0);
	add(&ring, 40, 1, "e");
	assert_holds(&ring, -1, "e");
	assert_int_equal(ring.total, 6);
	record_ring_clear(&ring);
	assert_holds(&ring, -1, "");
	assert_false(ring.full);
}

static void test_limit(void **state)
{
	struct record_ring ring = { .max_bytes = 4 };

	(void)state;
	add(&ring, 10, 0, "a");
	add(&ring, 10, 1, "b");
	add(&ring, 20, 0, "cc");
	assert_false(ring.full);
	assert_holds(&ring, -1, "abcc");
	/* one byte too many, and all CPUs lose that time */
	add(&ring, 30, 1, "d");
	assert_true(ring.full);
	assert_holds(&ring, -1, "ccd");
	/* what is larger than everything cannot be kept */
	add(&ring, 40, 1, "eeeee");
	assert_int_equal(ring.bytes, 0);
	assert_holds(&ring, -1, "");
	add(&ring, 50, 1, "f");
	assert_holds(&ring, 1, "f");
	record_ring_clear(&ring);
}

/** If memory does not suffice for one time alone, none of its CPUs is left, not the last ones. */
static void test_too_much_at_once(void **state)
{
	struct record_ring ring = { .max_bytes = 4 };

	(void)state;
	add(&ring, 10, 0, "a");
	add(&ring, 20, 0, "bbb");
	add(&ring, 20, 1, "bb");
	add(&ring, 20, 2, "b");
	assert_holds(&ring, -1, "");
	/* it has come, though */
	assert_int_equal(ring.total, 7);
	add(&ring, 30, 0, "c");
	assert_holds(&ring, -1, "c");
	record_ring_clear(&ring);
	/* that time is another one by now */
	add(&ring, 20, 0, "d");
	assert_holds(&ring, -1, "d");
	record_ring_clear(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_too_much_at_once),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
