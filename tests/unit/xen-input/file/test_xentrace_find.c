// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Windows of files that are too large to be read: all records of a window lie where it is found,
 * which is little of the file, and reading only that gives the same records.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "array.h"
#include "trace_builder.h"
#include "xentrace_facts.h"

#define BASE	1000000000ULL
#define PCPUS	5
#define TURNS	150
#define TURN	10000000ULL	/* cycles, of which each pCPU has some; 200 KB */
#define MB	(UINT64_C(1) << 20)

/** A record as it was written. */
struct written {
	uint64_t	offset, tsc;
};

static struct trace t;
static struct written *written;
static size_t n_written, written_room;
static char *path;

static void add_record(uint64_t tsc)
{
	assert_false(ARRAY_GROW(written, n_written, written_room));
	written[n_written].tsc = tsc;
	written[n_written++].offset = TRACE_RECORD(&t, 0x2800e, tsc, 1, 2, 3, 4);
}

/** A pCPU's turn; pCPU 3 sleeps nearly always. */
static void add_turn(uint32_t pcpu, uint64_t turn, uint64_t *random)
{
	uint64_t begin = BASE + turn * TURN, end = begin + TURN;
	uint64_t tsc = begin + trace_random(random) % (TURN / 2);
	int n = 1 + trace_random(random) % 4000;

	if (pcpu == 3 && trace_random(random) % 10)
		return;
	trace_window(&t, pcpu);
	for (int i = 0; i < n && tsc < end; i++) {
		add_record(tsc);
		tsc += 1 + trace_random(random) % ((end - tsc) * 2 / n + 1);
	}
}

static int set_up(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (uint64_t turn = 0; turn < TURNS; turn++)
		for (uint32_t pcpu = 0; pcpu < PCPUS; pcpu++)
			add_turn(pcpu, turn, &random);
	assert_true(t.size > 16 * MB);
	path = trace_file(t.data, t.size, ".xen");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	free(path);
	free(written);
	trace_free(&t);
	return 0;
}

static struct xentrace *open_head(void)
{
	char error[256];
	struct xentrace *reader = xentrace_open_head(path, NULL, MB, error, sizeof(error));

	if (!reader)
		print_error("%s\n", error);
	assert_non_null(reader);
	return reader;
}

/** Of all that was written in a window, what is read in a range: a sum that any loss changes. */
static void check_window(struct xentrace *reader, uint64_t from, uint64_t to, uint64_t margin)
{
	uint64_t n = 0, sum = 0, n_read = 0, sum_read = 0;
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	struct xentrace_range range;

	assert_int_equal(xentrace_find(reader, from, to, margin, &range), 0);
	assert_true(range.begin <= range.end && range.end <= t.size);
	for (size_t i = 0; i < n_written; i++) {
		if (written[i].tsc < from || written[i].tsc >= to)
			continue;
		assert_in_range(written[i].offset, range.begin, range.end - 1);
		sum += written[i].offset ^ written[i].tsc;
		n++;
	}
	/* what is looked at before it, and the margin behind it */
	if (to - from < 10 * TURN)
		assert_true(range.end - range.begin < 9 * MB);
	assert_int_equal(xentrace_index(reader, &range), 0);
	iter = xentrace_iter_new(reader, NULL);
	assert_non_null(iter);
	while (xentrace_iter_next(iter, &rec)) {
		if (rec.tsc < from || rec.tsc >= to)
			continue;
		sum_read += rec.offset ^ rec.tsc;
		n_read++;
	}
	xentrace_iter_free(iter);
	assert_int_equal(n_read, n);
	assert_int_equal(sum_read, sum);
}

static void windows_are_found(void **state)
{
	struct xentrace *reader = open_head();
	uint64_t random = 11;

	(void)state;
	for (int i = 0; i < 60; i++) {
		uint64_t from = BASE + trace_random(&random) % (TURNS * TURN);
		uint64_t length = trace_random(&random) % ((i % 3 ? 5 : 50) * TURN) + 1;

		check_window(reader, from, from + length, (i % 2 ? 0 : 2) * TURN);
	}
	xentrace_close(reader);
}

static void ends_are_found(void **state)
{
	struct xentrace *reader = open_head();

	(void)state;
	check_window(reader, 0, UINT64_MAX, TURN);
	check_window(reader, BASE, BASE + 1, 2 * TURN);
	check_window(reader, 0, BASE + TURN, 2 * TURN);
	check_window(reader, BASE + (TURNS - 1) * TURN, UINT64_MAX, 2 * TURN);
	xentrace_close(reader);
}

/** The first and last TSC are those of the file, whatever part of it has been read. */
static void file_is_known_by_its_ends(void **state)
{
	struct xentrace *reader = open_head(), *whole = xentrace_open(path, NULL, NULL, 0);
	uint64_t last;

	(void)state;
	assert_non_null(whole);
	assert_true(xentrace_n_records(reader) < xentrace_n_records(whole) / 2);
	assert_int_equal(xentrace_first_tsc(reader), xentrace_first_tsc(whole));
	assert_int_equal(xentrace_last_of_file(reader, &last), 0);
	assert_int_equal(last, xentrace_last_tsc(whole));
	xentrace_close(reader);
	xentrace_close(whole);
}

/** A range without a record is no trace. */
static void nothing_is_nothing(void **state)
{
	struct xentrace *reader = open_head();

	(void)state;
	assert_int_equal(xentrace_index(reader, &(struct xentrace_range){ t.size, t.size }),
			 -ENODATA);
	xentrace_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_are_found),
		cmocka_unit_test(ends_are_found),
		cmocka_unit_test(file_is_known_by_its_ends),
		cmocka_unit_test(nothing_is_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
