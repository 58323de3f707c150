// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_block_pipe.c
 * @brief	Everything that one thread gives away arrives in the other one, once and in order.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "block_pipe.h"

static const struct block_pipe_size size = {
	.item = sizeof(uint32_t), .block = 100, .n_blocks = 4,
};

/** Gives away 0, 1, ... up to @total, blocks of different lengths, empty ones among them. */
struct maker {
	uint32_t	total, given;
	int		result;		/* in the end */
	int		refused;	/* what block_pipe_give() has said last */
};

static int make(void *arg, struct block_pipe *pipe)
{
	struct maker *maker = arg;
	uint32_t length = 0;

	while (maker->given < maker->total) {
		uint32_t *room = block_pipe_room(pipe);
		uint32_t n = 0;

		length = (length + 37) % (size.block + 1);
		while (n < length && maker->given < maker->total)
			room[n++] = maker->given++;
		maker->refused = block_pipe_give(pipe, n);
		if (maker->refused)
			return maker->refused;
	}
	return maker->result;
}

/** Take all, or all up to @most items. Return: how many. */
static uint32_t take(struct block_pipe *pipe, uint32_t most)
{
	uint32_t taken = 0;
	void *items;
	size_t n;

	while (taken < most && (n = block_pipe_get(pipe, &items)) > 0) {
		for (size_t i = 0; i < n; i++)
			assert_int_equal(((uint32_t *)items)[i], taken++);
	}
	return taken;
}

static void test_everything_arrives(void **state)
{
	struct maker maker = { .total = 1000000 };
	struct block_pipe *pipe = block_pipe_start(&size, make, &maker);

	(void)state;
	assert_non_null(pipe);
	assert_int_equal(take(pipe, UINT32_MAX), maker.total);
	assert_int_equal(block_pipe_finish(pipe), 0);
}

static void test_nothing_is_an_end(void **state)
{
	struct maker maker = { .total = 0 };
	struct block_pipe *pipe = block_pipe_start(&size, make, &maker);

	(void)state;
	assert_int_equal(take(pipe, UINT32_MAX), 0);
	assert_int_equal(block_pipe_finish(pipe), 0);
}

/* An error comes after what was good. */
static void test_error_is_the_result(void **state)
{
	struct maker maker = { .total = 1234, .result = -EIO };
	struct block_pipe *pipe = block_pipe_start(&size, make, &maker);

	(void)state;
	assert_int_equal(take(pipe, UINT32_MAX), 1234);
	assert_int_equal(block_pipe_finish(pipe), -EIO);
}

/* A reader need not read to the end: the maker gets an error, and does not wait for ever. */
static void test_unwanted(void **state)
{
	struct maker maker = { .total = 1000000 };
	struct block_pipe *pipe = block_pipe_start(&size, make, &maker);

	(void)state;
	assert_true(take(pipe, 500) < 700);
	assert_int_equal(block_pipe_finish(pipe), -ECANCELED);
	assert_int_equal(maker.refused, -ECANCELED);
	/* all blocks at most went on being filled */
	assert_true(maker.given <= 700 + size.n_blocks * size.block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_arrives),
		cmocka_unit_test(test_nothing_is_an_end),
		cmocka_unit_test(test_error_is_the_result),
		cmocka_unit_test(test_unwanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
