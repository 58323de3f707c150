// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_search.c
 * @brief	Binary search and heaps, against looking at everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "array.h"
#include "heap.h"
#include "search.h"

#define MOST	40

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/** All searches in arrays of all lengths, also in parts of them, with equal elements. */
static void test_search(void **state)
{
	int array[MOST];

	(void)state;
	srandom(1);
	for (int n = 0; n <= MOST; n++) {
		for (int i = 0; i < n; i++)
			array[i] = (int)(random() % 20);
		if (n)
			qsort(array, (size_t)n, sizeof(*array), compare_ints);
		for (int wanted = -1; wanted <= 20; wanted++) {
			for (int lo = 0; lo <= n; lo++) {
				int first = lo, found;

				while (first < n && array[first] < wanted)
					first++;
				SEARCH_FIRST(found, lo, n, array[found] < wanted);
				assert_int_equal(found, first);
			}
		}
	}
}

struct thing {
	int	key, number;
};

static bool is_before(const struct thing *a, const struct thing *b)
{
	return a->key < b->key;
}

static void check_heap(const struct thing *heap, size_t n)
{
	for (size_t i = 1; i < n; i++)
		assert_false(is_before(&heap[i], &heap[(i - 1) / 2]));
}

/** What goes in comes out, all of it, in order. */
static void test_heap(void **state)
{
	struct thing heap[MOST];

	(void)state;
	srandom(2);
	for (size_t n = 1; n <= MOST; n++) {
		bool seen[MOST] = { false };
		int last = -1;

		for (size_t i = 0; i < n; i++) {
			heap[i] = (struct thing){ (int)(random() % 20), (int)i };
			HEAP_UP(heap, i, is_before);
			check_heap(heap, i + 1);
		}
		for (size_t left = n; left; ) {
			assert_true(heap->key >= last);
			assert_false(seen[heap->number]);
			last = heap->key;
			seen[heap->number] = true;
			heap[0] = heap[--left];
			HEAP_DOWN(heap, left, 0, is_before);
			check_heap(heap, left);
		}
	}
}

/** An array of any order becomes a heap from its end. */
static void test_make_heap(void **state)
{
	struct thing heap[MOST];

	(void)state;
	srandom(3);
	for (size_t n = 0; n <= MOST; n++) {
		for (size_t i = 0; i < n; i++)
			heap[i] = (struct thing){ (int)(random() % 20), (int)i };
		for (size_t i = n / 2; i-- > 0; )
			HEAP_DOWN(heap, n, i, is_before);
		check_heap(heap, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_make_heap),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
