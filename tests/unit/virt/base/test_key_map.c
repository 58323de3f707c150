// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_key_map.c
 * @brief	Keys that are numbered as they turn up, and arrays that run along them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "key_map.h"

#define N_KEYS	5000

/** Keys that differ in high bits only, in low bits only, and in both. */
static uint64_t key_of(uint32_t i)
{
	return i % 3 == 0 ? (uint64_t)i << 40 : i % 3 == 1 ? i : (uint64_t)i << 32 | ~i;
}

static void test_numbers(void **state)
{
	struct key_map map = { 0 };

	(void)state;
	assert_int_equal(key_map_find(&map, 0), -1);
	for (uint32_t i = 0; i < N_KEYS; i++) {
		assert_int_equal(key_map_find(&map, key_of(i)), -1);
		assert_int_equal(key_map_add(&map, key_of(i)), i);
		assert_int_equal(key_map_add(&map, key_of(i / 2)), i / 2);
	}
	assert_int_equal(map.n_keys, N_KEYS);
	for (uint32_t i = 0; i < N_KEYS; i++) {
		assert_int_equal(key_map_find(&map, key_of(i)), i);
		assert_true(map.keys[i] == key_of(i));
	}
	assert_int_equal(key_map_find(&map, UINT64_MAX), -1);
	key_map_destroy(&map);
	assert_int_equal(key_map_find(&map, key_of(1)), -1);
}

/** What there is room for can be added without memory. */
static void test_reserve(void **state)
{
	struct key_map map = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N_KEYS; i++) {
		const uint64_t *keys;
		const uint32_t *slots;

		assert_int_equal(key_map_reserve(&map), 0);
		assert_int_equal(map.n_keys, i);
		keys = map.keys;
		slots = map.slots;
		assert_int_equal(key_map_add(&map, key_of(i)), i);
		assert_ptr_equal(map.keys, keys);
		assert_ptr_equal(map.slots, slots);
	}
	key_map_destroy(&map);
}

struct element {
	uint64_t	key, seen;
};

static void test_elements(void **state)
{
	struct key_map map = { 0 };
	struct element *elements = NULL;
	uint32_t room = 0;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < N_KEYS; i++) {
			int64_t n = KEY_MAP_ELEMENT(&map, key_of(i), elements, room);

			assert_int_equal(n, i);
			assert_int_equal(elements[n].seen, round);
			elements[n].seen++;
			assert_true(elements[n].key == (round ? key_of(i) : 0));
			elements[n].key = key_of(i);
		}
	}
	assert_true(room >= N_KEYS);
	free(elements);
	key_map_destroy(&map);
}

static void test_reach(void **state)
{
	int *numbers = NULL;
	int n = 0, before = 0;

	(void)state;
	for (int i = 0; i < 3000; i = 2 * i + 1) {
		assert_int_equal(ARRAY_REACH(numbers, i, n), 0);
		assert_true(n > i);
		for (int k = 0; k < n; k++)
			assert_int_equal(numbers[k], k < before);
		for (int k = before; k < n; k++)
			numbers[k] = 1;
		before = n;
	}
	ARRAY_SHRINK(numbers, 1);
	assert_non_null(numbers);
	free(numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
