/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a file in memory; and what looks like a xentrace file before anything is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "trace_builder.h"
#include "xentrace_private.h"

/* More than the table has room for at first. */
#define N_BLOCKS	150
#define N_KEPT		16
#define SIZE		(N_BLOCKS * XENTRACE_BLOCK - 1000)

static uint8_t *data;
static struct xentrace_file file;

/** A file in which each place contains its offset. */
static int make_file(void **state)
{
	(void)state;
	data = malloc(SIZE);
	assert_non_null(data);
	for (uint64_t i = 0; i < SIZE; i++)
		data[i] = (uint8_t)(1 + (i ^ i >> 8 ^ i >> 16) % 255);
	file = (struct xentrace_file){ .memory = data, .fd = -1, .size = SIZE };
	return 0;
}

static int drop_file(void **state)
{
	(void)state;
	free(data);
	return 0;
}

/** A block is what is in the file there, with the beginning of the next one; zeros behind it. */
static void check(const struct xentrace_block *block, uint64_t number)
{
	uint64_t begin = number * XENTRACE_BLOCK, n = sizeof(block->data);

	assert_non_null(block);
	assert_int_equal(block->number, number);
	if (begin >= SIZE)
		n = 0;
	else if (n > SIZE - begin)
		n = SIZE - begin;
	assert_memory_equal(block->data, data + begin, n);
	for (; n < sizeof(block->data); n++)
		assert_int_equal(block->data[n], 0);
}

/** As many as are in use are there, each once. */
static void test_used(void **state)
{
	static struct xentrace_block *used[N_BLOCKS];
	struct xentrace_blocks blocks;

	(void)state;
	xentrace_blocks_init(&blocks, &file);
	for (uint64_t i = 0; i < N_BLOCKS; i++) {
		/* any place in it will do: the first, the last */
		used[i] = xentrace_blocks_get(&blocks, i * XENTRACE_BLOCK);
		check(used[i], i);
		assert_ptr_equal(xentrace_blocks_get(&blocks, (i + 1) * XENTRACE_BLOCK - 1),
				 used[i]);
		assert_int_equal(blocks.n_blocks, i + 1);
		assert_int_equal(blocks.n_idle, 0);
		xentrace_blocks_put(&blocks, used[i]);
	}
	for (uint64_t i = 0; i < N_BLOCKS; i++) {
		assert_ptr_equal(xentrace_blocks_get(&blocks, i * XENTRACE_BLOCK + 7), used[i]);
		check(used[i], i);
		xentrace_blocks_put(&blocks, used[i]);
	}
	/* not needed any more: some are kept */
	for (uint64_t i = 0; i < N_BLOCKS; i++)
		xentrace_blocks_put(&blocks, used[i]);
	assert_int_equal(blocks.n_blocks, N_KEPT);
	assert_int_equal(blocks.n_idle, N_KEPT);
	xentrace_blocks_put(&blocks, NULL);
	xentrace_blocks_destroy(&blocks);
	assert_int_equal(blocks.error, 0);
}

/** The last ones that were used are kept, and a place among them is as good as a new one. */
static void test_kept(void **state)
{
	struct xentrace_block *kept[N_KEPT], *block;
	struct xentrace_blocks blocks;

	(void)state;
	xentrace_blocks_init(&blocks, &file);
	for (uint64_t i = 0; i < N_KEPT; i++) {
		kept[i] = xentrace_blocks_get(&blocks, i * XENTRACE_BLOCK);
		xentrace_blocks_put(&blocks, kept[i]);
	}
	/* what is used again is not the oldest: from the end of the row, its middle, its begin */
	for (int i = 0; i < N_KEPT; i += 5) {
		assert_ptr_equal(xentrace_blocks_get(&blocks, (uint64_t)i * XENTRACE_BLOCK),
				 kept[i]);
		assert_int_equal(blocks.n_idle, N_KEPT - 1);
		xentrace_blocks_put(&blocks, kept[i]);
		assert_int_equal(blocks.n_idle, N_KEPT);
	}
	/* others take the places of the oldest ones: 1, 2, 3, 4, 6 */
	for (uint64_t i = 0; i < 5; i++) {
		block = xentrace_blocks_get(&blocks, (100 + i) * XENTRACE_BLOCK);
		check(block, 100 + i);
		assert_ptr_equal(block, kept[i < 4 ? i + 1 : 6]);
		assert_int_equal(blocks.n_blocks, N_KEPT);
		xentrace_blocks_put(&blocks, block);
	}
	assert_ptr_equal(xentrace_blocks_get(&blocks, 7 * XENTRACE_BLOCK), kept[7]);
	assert_ptr_equal(xentrace_blocks_get(&blocks, 0), kept[0]);
	check(kept[0], 0);
	xentrace_blocks_destroy(&blocks);
}

/** Behind the end there are zeros. */
static void test_end(void **state)
{
	struct xentrace_blocks blocks;

	(void)state;
	xentrace_blocks_init(&blocks, &file);
	check(xentrace_blocks_get(&blocks, SIZE - 1), N_BLOCKS - 1);
	check(xentrace_blocks_get(&blocks, N_BLOCKS * XENTRACE_BLOCK), N_BLOCKS);
	/* these have the same hash */
	check(xentrace_blocks_get(&blocks, 64 * XENTRACE_BLOCK), 64);
	check(xentrace_blocks_get(&blocks, 0), 0);
	check(xentrace_blocks_get(&blocks, 128 * XENTRACE_BLOCK), 128);
	xentrace_blocks_destroy(&blocks);
	/* nothing at all has been read */
	xentrace_blocks_init(&blocks, &file);
	xentrace_blocks_destroy(&blocks);
}

/** What is in memory stays as it is, whatever is found in it; nothing is read behind its end. */
static void test_memory(void **state)
{
	uint64_t now = 0;
	uint8_t buf[8];

	(void)state;
	xentrace_file_condemn(&file);
	assert_int_equal(xentrace_file_change(&file, &now), XENTRACE_UNCHANGED);
	assert_int_equal(now, SIZE);
	assert_int_equal(xentrace_file_errno(&file), 0);
	assert_int_equal(xentrace_file_read(&file, buf, SIZE - 3, sizeof(buf)), 3);
	assert_memory_equal(buf, data + SIZE - 3, 3);
	assert_int_equal(xentrace_file_read(&file, buf, SIZE, sizeof(buf)), 0);
}

/* --- what looks right ------------------------------------------------------------------------- */

/** A window, with or without its header, with @n_records records, then anything. */
static bool looks_right(uint64_t before, int n_records, size_t size)
{
	struct trace t = { 0 };
	bool right;

	for (uint64_t i = 0; i < before; i++)
		trace_bytes(&t, "\xff", 1);
	trace_window(&t, 3);
	trace_ticks(&t, 1 << 30, n_records, 1000);
	right = xentrace_looks_right(t.data, size && size < t.size ? size : t.size);
	trace_free(&t);
	return right;
}

static void test_looks(void **state)
{
	struct trace t = { 0 };

	(void)state;
	/* the first word alone may be enough, if that is all there is */
	assert_false(looks_right(0, 50, 3));
	assert_true(looks_right(0, 50, 4));
	assert_true(looks_right(0, 50, 11));
	assert_true(looks_right(0, 50, 0));
	assert_true(xentrace_looks_right((const uint8_t *)"\x03\xf0\x01\x20", 4));
	assert_false(xentrace_looks_right((const uint8_t *)"\x03\xf0\x01\x21", 4));
	/* a file may have lost its beginning: then records have to follow */
	assert_true(looks_right(1, 50, 0));
	assert_true(looks_right(777, 50, 0));
	assert_false(looks_right(777, 1, 0));
	/* a word is not a window: of no CPU that there is, or with something else behind it */
	trace_bytes(&t, "x", 1);
	trace_u32(&t, 0x2001f003);
	trace_u32(&t, XENTRACE_MAX_PCPU + 1);
	trace_u32(&t, 1600);
	trace_ticks(&t, 1 << 30, 100, 1000);
	assert_false(xentrace_looks_right(t.data, t.size));
	trace_patch_u32(&t, 5, XENTRACE_MAX_PCPU);
	assert_true(xentrace_looks_right(t.data, t.size));
	memset(t.data + 13, 0xff, t.size - 13);
	assert_false(xentrace_looks_right(t.data, t.size));
	trace_free(&t);
	assert_false(xentrace_looks_right((const uint8_t *)"", 0));
	assert_false(xentrace_looks_right(data, 5000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_used),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_looks),
	};

	return cmocka_run_group_tests(tests, make_file, drop_file);
}
