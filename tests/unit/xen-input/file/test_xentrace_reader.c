/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader: good files, and each kind of damage with what must survive it. Where files come from
 * is in test_xentrace_sources.c, whole damaged files in test_damaged.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "trace_invariants.h"

#define CONTINUE	0x00021002u
#define WRAP		0x0001f002u
#define GUEST_EVENT	0x0800f001u
#define BASE		(1ULL << 40)
#define LENGTH(a)	(sizeof(a) / sizeof((a)[0]))

static struct xentrace *open_good(const struct trace *trace)
{
	char error[512] = "";
	struct xentrace *reader = xentrace_open_memory(trace->data, trace->size, NULL, error,
						       sizeof(error));
	const char *wrong;

	if (!reader)
		fail_msg("%s", error);
	wrong = trace_invariants(reader);
	if (wrong)
		fail_msg("%s", wrong);
	return reader;
}

/* What a record must be. */
struct expected {
	uint64_t	tsc;
	uint16_t	pcpu;
	uint8_t		flags;
	uint32_t	word;
};

static void check_records(const struct trace *trace, const struct expected *expected, size_t n)
{
	struct xentrace *reader = open_good(trace);
	struct xentrace_iter *iter = xentrace_iter_new(reader, NULL);
	struct xentrace_record rec;

	for (size_t i = 0; i < n; i++) {
		if (!xentrace_iter_next(iter, &rec))
			fail_msg("%zu records instead of %zu", i, n);
		if (rec.tsc != expected[i].tsc || rec.pcpu != expected[i].pcpu ||
		    rec.flags != expected[i].flags || xentrace_word(&rec, 0) != expected[i].word)
			fail_msg("record %zu: tsc %llu pCPU %u flags %u word %u", i,
				 (unsigned long long)rec.tsc, rec.pcpu, rec.flags,
				 xentrace_word(&rec, 0));
	}
	assert_false(xentrace_iter_next(iter, &rec));
	assert_false(xentrace_iter_next(iter, &rec));
	xentrace_iter_free(iter);
	xentrace_close(reader);
}

/* ---- good files ---- */

static void test_merge(void **state)
{
	static const struct expected expected[] = {
		{ 10, 7, 1, 70 }, { 20, 0, 1, 1 }, { 20, 7, 1, 71 }, { 20, 32767, 1, 900 },
		{ 30, 0, 1, 2 }, { 30, 0, 1, 3 }, { 31, 7, 1, 72 }, { 40, 0, 1, 4 },
		{ 40, 7, 1, 73 }, { 40, 0, 1, 5 }, { 41, 32767, 1, 901 },
	};
	struct trace t = { 0 };
	struct xentrace *reader;

	(void)state;
	trace_window(&t, 0);
	TRACE_RECORD(&t, CONTINUE, 20, 1);
	TRACE_RECORD(&t, CONTINUE, 30, 2);
	TRACE_RECORD(&t, CONTINUE, 30, 3);
	TRACE_RECORD(&t, CONTINUE, 40, 4);
	trace_window(&t, 7);
	TRACE_RECORD(&t, CONTINUE, 10, 70);
	TRACE_RECORD(&t, CONTINUE, 20, 71);
	trace_window(&t, 32767);
	TRACE_RECORD(&t, CONTINUE, 20, 900);
	trace_window(&t, 7);
	TRACE_RECORD(&t, CONTINUE, 31, 72);
	TRACE_RECORD(&t, CONTINUE, 40, 73);
	trace_window(&t, 0);
	TRACE_RECORD(&t, CONTINUE, 40, 5);
	trace_window(&t, 32767);
	TRACE_RECORD(&t, CONTINUE, 41, 901);
	check_records(&t, expected, LENGTH(expected));

	reader = open_good(&t);
	assert_int_equal(xentrace_n_pcpus(reader), 3);
	assert_int_equal(xentrace_pcpu_at(reader, 2)->pcpu, 32767);
	assert_int_equal(xentrace_pcpu_at(reader, 1)->n_records, 4);
	assert_null(xentrace_pcpu_at(reader, 3));
	assert_null(xentrace_pcpu_at(reader, -1));
	assert_int_equal(xentrace_n_runs(reader), 3);
	assert_int_equal(xentrace_first_tsc(reader), 10);
	assert_int_equal(xentrace_last_tsc(reader), 41);
	assert_int_equal(xentrace_size(reader), t.size);
	assert_int_equal(trace_problems(reader), 0);
	assert_int_equal(xentrace_skipped_bytes(reader), 0);
	assert_null(xentrace_problem_at(reader, 0));
	xentrace_close(reader);
	trace_free(&t);
}

static void test_without_tsc(void **state)
{
	static const struct expected expected[] = {
		{ 50, 1, 0, 1 }, { 50, 1, 0, 2 }, { 50, 1, 1, 3 }, { 50, 1, 0, 4 },
		{ 60, 2, 1, 20 }, { 60, 2, 0, 21 }, { 60, 2, 0, 22 }, { 70, 1, 1, 5 },
		{ 70, 1, 0, 6 },
	};
	struct trace t = { 0 };

	(void)state;
	trace_window(&t, 1);
	TRACE_UNTIMED(&t, CONTINUE, 1);
	trace_window(&t, 1);
	TRACE_UNTIMED(&t, CONTINUE, 2);
	TRACE_RECORD(&t, CONTINUE, 50, 3);
	TRACE_UNTIMED(&t, CONTINUE, 4);
	trace_window(&t, 2);
	TRACE_RECORD(&t, CONTINUE, 60, 20);
	TRACE_UNTIMED(&t, CONTINUE, 21);
	trace_window(&t, 1);
	TRACE_RECORD(&t, CONTINUE, 70, 5);
	trace_window(&t, 2);
	TRACE_UNTIMED(&t, CONTINUE, 22);
	trace_window(&t, 1);
	TRACE_UNTIMED(&t, CONTINUE, 6);
	check_records(&t, expected, LENGTH(expected));
	trace_free(&t);
}

/* A pCPU without any time is at the trace's beginning. */
static void test_pcpu_without_tsc(void **state)
{
	static const struct expected expected[] = {
		{ 90, 3, 0, 1 }, { 90, 3, 0, 2 }, { 90, 0, 1, 3 },
	};
	struct trace t = { 0 };

	(void)state;
	trace_window(&t, 3);
	TRACE_UNTIMED(&t, CONTINUE, 1);
	TRACE_UNTIMED(&t, CONTINUE, 2);
	trace_window(&t, 0);
	TRACE_RECORD(&t, CONTINUE, 90, 3);
	check_records(&t, expected, LENGTH(expected));
	trace_free(&t);
}

static void test_wrap_records(void **state)
{
	static const struct expected expected[] = {
		{ 50, 0, 1, 1 }, { 51, 0, 1, 2 }, { 51, 0, 0, 3 }, { 60, 0, 1, 4 },
	};
	struct trace t = { 0 };
	struct xentrace *reader;

	(void)state;
	trace_window(&t, 0);
	TRACE_UNTIMED(&t, WRAP);
	TRACE_RECORD(&t, CONTINUE, 50, 1);
	TRACE_RECORD(&t, CONTINUE, 51, 2);
	TRACE_RECORD(&t, WRAP, 9999999);
	TRACE_UNTIMED(&t, CONTINUE, 3);
	trace_window(&t, 0);
	TRACE_UNTIMED(&t, WRAP, 1, 2, 3);
	TRACE_RECORD(&t, WRAP, 7, 1, 2);
	trace_window(&t, 0);
	TRACE_UNTIMED(&t, WRAP);
	TRACE_RECORD(&t, CONTINUE, 60, 4);
	check_records(&t, expected, LENGTH(expected));
	reader = open_good(&t);
	assert_int_equal(xentrace_n_records(reader), 4);
	assert_int_equal(xentrace_pcpu_at(reader, 0)->n_bytes, t.size - 3 * 12);
	xentrace_close(reader);
	trace_free(&t);
}

/* Every payload length, at every alignment. */
static void test_payload(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	uint32_t words[XENTRACE_MAX_WORDS];

	(void)state;
	for (int i = 0; i < XENTRACE_MAX_WORDS; i++)
		words[i] = 0x01020304 * (i + 1);
	trace_window(&t, 0);
	for (int n = 0; n <= XENTRACE_MAX_WORDS; n++)
		trace_record(&t, CONTINUE, 100 + n, n, words);
	reader = open_good(&t);
	iter = xentrace_iter_new(reader, NULL);
	for (unsigned int n = 0; n <= XENTRACE_MAX_WORDS; n++) {
		assert_true(xentrace_iter_next(iter, &rec));
		assert_int_equal(rec.n_words, n);
		for (unsigned int i = 0; i < 10; i++)
			assert_int_equal(xentrace_word(&rec, i),
					 i < n ? 0x01020304 * (i + 1) : 0);
	}
	xentrace_iter_free(iter);
	xentrace_close(reader);
	trace_free(&t);
}

static void test_many_pcpus(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;

	(void)state;
	for (int i = 0; i <= XENTRACE_MAX_PCPU; i++) {
		trace_window(&t, i * 12345 % (XENTRACE_MAX_PCPU + 1));
		TRACE_RECORD(&t, CONTINUE, BASE + i * 777 % 32768, i);
	}
	reader = open_good(&t);
	assert_int_equal(xentrace_n_pcpus(reader), 32768);
	assert_int_equal(xentrace_n_records(reader), 32768);
	assert_int_equal(trace_problems(reader), 0);
	xentrace_close(reader);
	trace_free(&t);
}

static void test_extreme_tscs(void **state)
{
	static const struct expected expected[] = {
		{ 0, 0, 1, 1 }, { 0, 1, 1, 2 }, { UINT64_MAX - 1, 2, 1, 3 },
		{ UINT64_MAX, 2, 1, 4 }, { UINT64_MAX, 2, 1, 5 }, { UINT64_MAX, 3, 1, 6 },
	};
	struct trace t = { 0 };

	(void)state;
	trace_window(&t, 0);
	TRACE_RECORD(&t, CONTINUE, 0, 1);
	trace_window(&t, 1);
	TRACE_RECORD(&t, CONTINUE, 0, 2);
	trace_window(&t, 2);
	TRACE_RECORD(&t, CONTINUE, UINT64_MAX - 1, 3);
	TRACE_RECORD(&t, CONTINUE, UINT64_MAX, 4);
	TRACE_RECORD(&t, CONTINUE, UINT64_MAX, 5);
	trace_window(&t, 3);
	TRACE_RECORD(&t, CONTINUE, UINT64_MAX, 6);
	check_records(&t, expected, LENGTH(expected));
	trace_free(&t);
}

/* The first of all times is a late one. */
static void test_late_tscs(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;

	(void)state;
	trace_window(&t, 5);
	TRACE_RECORD(&t, CONTINUE, UINT64_MAX - 7, 1);
	TRACE_RECORD(&t, CONTINUE, UINT64_MAX - 5, 2);
	reader = open_good(&t);
	assert_true(xentrace_first_tsc(reader) == UINT64_MAX - 7);
	assert_true(xentrace_last_tsc(reader) == UINT64_MAX - 5);
	xentrace_close(reader);
	trace_free(&t);
}

/* The last of all times lies 2^46 cycles after the one before it: more is damage. */
static void test_last_jump(void **state)
{
	(void)state;
	for (unsigned int more = 0; more < 2; more++) {
		struct trace t = { 0 };
		struct xentrace *reader;

		trace_window(&t, 0);
		TRACE_RECORD(&t, CONTINUE, 1000, 1);
		TRACE_RECORD(&t, CONTINUE, 2000, 2);
		TRACE_RECORD(&t, CONTINUE, 2000 + (UINT64_C(1) << 46) + more, 3);
		reader = open_good(&t);
		assert_int_equal(xentrace_last_tsc(reader),
				 more ? 2000 : 2000 + (UINT64_C(1) << 46));
		xentrace_close(reader);
		trace_free(&t);
	}
}

/* A time that goes back before a record that reaches beyond its window is part of the damage. */
static void test_back_before_crossing(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;
	size_t last;

	(void)state;
	trace_window(&t, 0);
	TRACE_RECORD(&t, CONTINUE, 1000, 1);
	TRACE_RECORD(&t, CONTINUE, 2000, 2);
	TRACE_RECORD(&t, CONTINUE, 3000, 3);
	TRACE_RECORD(&t, CONTINUE, 500, 4);
	last = t.size;
	TRACE_RECORD(&t, CONTINUE, 4000, 5);
	trace_patch_u32(&t, last, 0xf0000000 | CONTINUE);
	trace_window(&t, 1);
	TRACE_RECORD(&t, CONTINUE, 1500, 6);
	reader = open_good(&t);
	assert_int_equal(xentrace_n_records(reader), 5);
	assert_int_equal(xentrace_first_tsc(reader), 1000);
	assert_int_equal(xentrace_last_tsc(reader), 3000);
	assert_int_equal(xentrace_problem_count(reader, XENTRACE_TSC_BACKWARDS), 0);
	assert_int_equal(xentrace_problem_count(reader, XENTRACE_CROSSES_WINDOW), 1);
	xentrace_close(reader);
	trace_free(&t);
}

static void test_pcpu_offsets(void **state)
{
	static const int64_t offset[] = { 0, -15, 1000 };
	static const struct { uint16_t pcpu; uint64_t tsc; } expected[] = {
		{ 1, 96 }, { 0, 100 }, { 1, 106 }, { 1, 106 }, { 0, 110 }, { 3, 130 }, { 2, 1105 },
	};
	struct xentrace_iter_options options = { .pcpu_offset = offset, .n_pcpu_offset = 3 };
	struct trace t = { 0 };
	struct xentrace_record rec;
	struct xentrace_iter *iter;
	struct xentrace *reader;

	(void)state;
	trace_window(&t, 0);
	TRACE_RECORD(&t, CONTINUE, 100, 1);
	TRACE_RECORD(&t, CONTINUE, 110, 1);
	trace_window(&t, 1);
	TRACE_RECORD(&t, CONTINUE, 111, 1);
	TRACE_RECORD(&t, CONTINUE, 121, 1);
	TRACE_UNTIMED(&t, CONTINUE, 1);
	trace_window(&t, 2);
	TRACE_RECORD(&t, CONTINUE, 105, 1);
	trace_window(&t, 3);
	TRACE_RECORD(&t, CONTINUE, 130, 1);
	reader = open_good(&t);
	iter = xentrace_iter_new(reader, &options);
	for (size_t i = 0; i < LENGTH(expected); i++) {
		assert_true(xentrace_iter_next(iter, &rec));
		assert_int_equal(rec.pcpu, expected[i].pcpu);
		assert_int_equal(rec.tsc, expected[i].tsc);
	}
	assert_false(xentrace_iter_next(iter, &rec));
	xentrace_iter_free(iter);
	xentrace_close(reader);
	trace_free(&t);
}

/* ---- random access ---- */

static void test_read_at(void **state)
{
	struct xentrace_record rec;
	struct trace t = { 0 };
	struct xentrace *reader;
	size_t first, second;

	(void)state;
	trace_window(&t, 4);
	first = trace_ticks(&t, BASE, 3, 10);
	trace_window(&t, 5);
	second = trace_ticks(&t, BASE, 3, 10);
	reader = open_good(&t);
	assert_int_equal(xentrace_read_at(reader, second + 16, &rec), 0);
	assert_int_equal(rec.tsc, BASE + 10);
	assert_int_equal(rec.pcpu, 5);
	assert_int_equal(rec.run, 1);
	assert_int_equal(xentrace_read_at(reader, 0, &rec), -ENOENT);
	assert_int_equal(xentrace_read_at(reader, first + 48, &rec), -ENOENT);
	assert_int_equal(xentrace_read_at(reader, first + 46, &rec), -ENOENT);
	assert_int_equal(xentrace_read_at(reader, t.size, &rec), -ENOENT);
	assert_int_equal(xentrace_read_at(reader, t.size - 2, &rec), -ENOENT);
	assert_int_equal(xentrace_read_at(reader, UINT64_MAX, &rec), -ENOENT);
	xentrace_close(reader);
	trace_free(&t);
}

/* ---- damage ---- */

/** Three good windows: pCPU 0, 1, 0 with 20 records each; the tests damage the middle one. */
#define TICKS		20
#define TICK		16
#define BODY		(TICKS * TICK)
#define SECOND		(12 + BODY)
#define THIRD		(2 * SECOND)

static void three_windows(struct trace *t)
{
	trace_window(t, 0);
	trace_ticks(t, BASE, TICKS, 1000);
	trace_window(t, 1);
	trace_ticks(t, BASE + 5, TICKS, 1000);
	trace_window(t, 0);
	trace_ticks(t, BASE + 100000, TICKS, 1000);
}

/** What is to be found: @n records, of which @lost of the second window's are missing. */
static void check_damage(const struct trace *t, enum xentrace_problem_kind kind,
			 uint64_t n_problems, uint64_t n_records, uint64_t skipped)
{
	struct xentrace *reader = open_good(t);
	char *report = xentrace_report(reader, "FILE", 10), text[256];

	if (xentrace_problem_count(reader, kind) != n_problems ||
	    trace_problems(reader) != n_problems ||
	    xentrace_n_records(reader) != n_records || xentrace_skipped_bytes(reader) != skipped)
		fail_msg("%llu records\n%s", (unsigned long long)xentrace_n_records(reader),
			 report);
	assert_int_equal(strncmp(report, "FILE: damaged: ", 15), 0);
	xentrace_problem_text(text, sizeof(text), xentrace_problem_at(reader, 0));
	assert_non_null(strstr(report, text));
	free(report);
	/* as many lines as there are problems: these are all */
	report = xentrace_report(reader, "FILE", xentrace_n_problems(reader));
	assert_null(strstr(report, "... and more"));
	assert_non_null(strstr(report, text));
	free(report);
	xentrace_close(reader);
}

static void test_truncated(void **state)
{
	struct trace t = { 0 };

	(void)state;
	three_windows(&t);
	/* at each place of the last window */
	for (size_t size = THIRD + 12; size < t.size; size++) {
		struct trace cut = { .data = t.data, .size = size };
		size_t body = size - THIRD - 12;

		if (body % TICK)
			check_damage(&cut, XENTRACE_TRUNCATED, 1, 2 * TICKS + body / TICK,
				     body % TICK);
		else
			check_damage(&cut, XENTRACE_TRUNCATED, 1, 2 * TICKS + body / TICK, 0);
	}
	for (size_t size = THIRD + 1; size < THIRD + 12; size++) {
		struct trace cut = { .data = t.data, .size = size };

		check_damage(&cut, XENTRACE_TRUNCATED, 1, 2 * TICKS, size - THIRD);
	}
	/* of a guest's own event, the class is in the last byte of the header */
	t.size = THIRD + 12;
	TRACE_RECORD(&t, GUEST_EVENT, BASE + 10000000, 1);
	for (size_t size = THIRD + 13; size < t.size; size++) {
		struct trace cut = { .data = t.data, .size = size };

		check_damage(&cut, XENTRACE_TRUNCATED, 1, 2 * TICKS, size - THIRD - 12);
	}
	trace_free(&t);
}

/**
 * Of a file that is cut: who was silent in two turns has said nothing up to the end of the turn
 * before the last one; others are known up to their last record. A record in the very cycle of that
 * end is not too late.
 */
static void test_known(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;
	size_t first;

	(void)state;
	for (unsigned int turn = 1; turn <= 4; turn++) {
		trace_window(&t, 0);
		trace_ticks(&t, turn * 1000, 3, 10);
		if (turn > 1)
			continue;
		trace_window(&t, 1);
		TRACE_RECORD(&t, CONTINUE, 1001, 1);
		trace_window(&t, 2);
		TRACE_RECORD(&t, CONTINUE, 1005, 1);
	}
	trace_window(&t, 1);
	TRACE_RECORD(&t, CONTINUE, 2020, 1);
	first = t.size;
	TRACE_RECORD(&t, CONTINUE, 4030, 1);
	for (size_t size = first; size < t.size; size++) {
		struct trace cut = { .data = t.data, .size = size };

		reader = open_good(&cut);
		assert_int_equal(xentrace_pcpu_at(reader, 0)->known_tsc, 4020);
		assert_int_equal(xentrace_pcpu_at(reader, 1)->known_tsc, 2020);
		assert_int_equal(xentrace_pcpu_at(reader, 2)->known_tsc, 2020);
		xentrace_close(reader);
	}
	reader = open_good(&t);
	for (int i = 0; i < 3; i++)
		assert_true(xentrace_pcpu_at(reader, i)->known_tsc == UINT64_MAX);
	xentrace_close(reader);
	trace_free(&t);
}

static void test_bad_window(void **state)
{
	static const uint32_t pcpus[] = { 32768, 65535, 65536, 1u << 31, UINT32_MAX };
	static const uint32_t sizes[] = {
		0, 1, 16, BODY - 1, BODY + 1, BODY - TICK, BODY + 4, BODY + 12, 100000,
		1u << 31, UINT32_MAX,
	};
	struct trace t = { 0 };

	(void)state;
	three_windows(&t);
	for (size_t i = 0; i < LENGTH(pcpus); i++) {
		trace_patch_u32(&t, SECOND + 4, pcpus[i]);
		check_damage(&t, XENTRACE_BAD_WINDOW, 1, 2 * TICKS, SECOND);
	}
	trace_patch_u32(&t, SECOND + 4, 1);
	for (size_t i = 0; i < LENGTH(sizes); i++) {
		trace_patch_u32(&t, SECOND + 8, sizes[i]);
		check_damage(&t, XENTRACE_BAD_WINDOW, 1, 3 * TICKS, 0);
	}
	trace_patch_u32(&t, SECOND + 8, BODY);
	/* the header word alone */
	trace_patch_u32(&t, SECOND, 0xdeadbeef);
	check_damage(&t, XENTRACE_BAD_WINDOW, 1, 3 * TICKS, 0);
	trace_free(&t);
}

/** What is within a window of an impossible pCPU is none, up to the last byte of the file. */
static void test_window_in_window(void **state)
{
	struct trace t = { 0 }, inner = { 0 };
	size_t bad;

	(void)state;
	trace_window(&inner, 3);
	trace_ticks(&inner, BASE + 200000, 5, 1000);
	trace_window(&t, 0);
	trace_ticks(&t, BASE, 5, 1000);
	bad = trace_window(&t, 0);
	trace_bytes(&t, inner.data, inner.size);
	trace_patch_u32(&t, bad + 4, 65536);
	trace_patch_u32(&t, bad + 8, (uint32_t)inner.size);
	check_damage(&t, XENTRACE_BAD_WINDOW, 1, 5, t.size - bad);
	trace_free(&inner);
	trace_free(&t);
}

static void test_garbage(void **state)
{
	uint8_t noise[64];
	struct trace t = { 0 };

	(void)state;
	memset(noise, 0xee, sizeof(noise));
	three_windows(&t);
	/* in the middle of a window: two records lost, and the reader resumes in the window */
	memset(t.data + SECOND + 12 + 8 * TICK, 0, 2 * TICK);
	check_damage(&t, XENTRACE_GARBAGE, 1, 3 * TICKS - 2, 2 * TICK);
	/* up to the window's end */
	memset(t.data + SECOND + 12 + 8 * TICK, 0xff, 12 * TICK);
	check_damage(&t, XENTRACE_GARBAGE, 1, 2 * TICKS + 8, 12 * TICK);
	t.size = THIRD;
	trace_bytes(&t, noise, sizeof(noise));
	trace_window(&t, 0);
	trace_ticks(&t, BASE + 100000, TICKS, 1000);
	check_damage(&t, XENTRACE_GARBAGE, 1, 2 * TICKS + 8, 12 * TICK + sizeof(noise));
	trace_free(&t);
	/* all of it between windows */
	three_windows(&t);
	t.size = THIRD;
	trace_bytes(&t, noise, sizeof(noise));
	trace_window(&t, 0);
	trace_ticks(&t, BASE + 100000, TICKS, 1000);
	check_damage(&t, XENTRACE_GARBAGE, 1, 3 * TICKS, sizeof(noise));
	trace_free(&t);
	/* in front and at the end */
	trace_bytes(&t, noise, sizeof(noise));
	three_windows(&t);
	check_damage(&t, XENTRACE_GARBAGE, 1, 3 * TICKS, sizeof(noise));
	trace_bytes(&t, noise, sizeof(noise));
	check_damage(&t, XENTRACE_GARBAGE, 2, 3 * TICKS, 2 * sizeof(noise));
	trace_free(&t);
}

static void test_crosses_window(void **state)
{
	struct trace t = { 0 };

	(void)state;
	three_windows(&t);
	/* the last record of the second window claims 7 words */
	trace_patch_u32(&t, SECOND + 12 + 19 * TICK, CONTINUE | 0xf0000000);
	check_damage(&t, XENTRACE_CROSSES_WINDOW, 1, 3 * TICKS - 1, TICK);
	trace_free(&t);
}

/** Flags: the first record after a loss says so, on the pCPU that it hit. */
static void test_gap_flag(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	int gaps = 0;

	(void)state;
	three_windows(&t);
	memset(t.data + 12 + 10 * TICK, 0, BODY - 10 * TICK);	/* the end of the first window */
	reader = open_good(&t);
	iter = xentrace_iter_new(reader, NULL);
	while (xentrace_iter_next(iter, &rec)) {
		if (!(rec.flags & XENTRACE_AFTER_GAP))
			continue;
		gaps++;
		assert_int_equal(rec.offset, THIRD + 12);
	}
	assert_int_equal(gaps, 1);
	xentrace_iter_free(iter);
	xentrace_close(reader);

	/* a loss between the windows may have hit any pCPU; empty windows do not make it good */
	t.size = SECOND;
	trace_bytes(&t, "garbage garbage ", 16);
	for (int pcpu = 0; pcpu < 2; pcpu++)
		trace_window(&t, pcpu);
	for (int pcpu = 0; pcpu < 2; pcpu++) {
		trace_window(&t, pcpu);
		trace_ticks(&t, BASE + 200000, 5, 1000);
	}
	reader = open_good(&t);
	iter = xentrace_iter_new(reader, NULL);
	gaps = 0;
	while (xentrace_iter_next(iter, &rec))
		if (rec.flags & XENTRACE_AFTER_GAP)
			gaps += 1 + rec.pcpu;
	assert_int_equal(gaps, 1);	/* pCPU 1 begins here */
	xentrace_iter_free(iter);
	xentrace_close(reader);
	trace_free(&t);
}

/** A clock that stands still at 0 is a clock. */
static void test_no_time(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;

	(void)state;
	trace_window(&t, 0);
	trace_ticks(&t, 0, 3, 0);
	reader = open_good(&t);
	assert_int_equal(xentrace_n_records(reader), 3);
	assert_int_equal(xentrace_first_tsc(reader), 0);
	assert_int_equal(xentrace_last_tsc(reader), 0);
	xentrace_close(reader);
	trace_free(&t);
}

/** Two losses of different kinds are two, wherever a pCPU comes back only after both. */
static void test_two_gaps(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	uint64_t expected[2];
	int n = 0;

	(void)state;
	three_windows(&t);
	/* the end of pCPU 1's window, and what is behind it ... */
	memset(t.data + SECOND + 12 + 8 * TICK, 0xff, 12 * TICK);
	t.size = THIRD;
	trace_bytes(&t, "garbage garbage ", 16);
	for (int pcpu = 1; pcpu >= 0; pcpu--) {
		trace_window(&t, pcpu);
		expected[1 - pcpu] = t.size;
		trace_ticks(&t, BASE + 300000 - 100000 * pcpu, 5, 1000);
		/* ... and something between two windows */
		if (pcpu)
			trace_bytes(&t, "garbage garbage ", 16);
	}
	reader = open_good(&t);
	iter = xentrace_iter_new(reader, NULL);
	while (xentrace_iter_next(iter, &rec)) {
		if (!(rec.flags & XENTRACE_AFTER_GAP))
			continue;
		assert_true(n < 2);
		assert_int_equal(rec.offset, expected[n++]);
	}
	assert_int_equal(n, 2);
	xentrace_iter_free(iter);
	xentrace_close(reader);
	trace_free(&t);
}

/* ---- TSCs ---- */

static void check_outliers(const int *places, int n, uint64_t tsc)
{
	struct trace t = { 0 };
	struct xentrace *reader;
	struct xentrace_record rec;

	trace_window(&t, 2);
	trace_ticks(&t, BASE, TICKS, 1000);
	trace_window(&t, 2);
	trace_ticks(&t, BASE + TICKS * 1000, TICKS, 1000);
	for (int i = 0; i < n; i++) {
		size_t offset = 12 + TICK * places[i] + (places[i] >= TICKS ? 12 : 0);

		trace_patch_u32(&t, offset + 4, tsc);
		trace_patch_u32(&t, offset + 8, tsc >> 32);
	}
	reader = open_good(&t);
	if (xentrace_problem_count(reader, XENTRACE_TSC_OUTLIER) != (uint64_t)n ||
	    trace_problems(reader) != (uint64_t)n || xentrace_n_runs(reader) != 1 ||
	    xentrace_n_records(reader) != 2 * TICKS)
		fail_msg("TSC %llx at %d: %llu outliers, %llu problems, %u runs",
			 (unsigned long long)tsc, places[0],
			 (unsigned long long)xentrace_problem_count(reader, XENTRACE_TSC_OUTLIER),
			 (unsigned long long)trace_problems(reader), xentrace_n_runs(reader));
	/* all others keep theirs; those that were repaired lie between their neighbours */
	for (int i = 0; i < 2 * TICKS; i++) {
		bool repaired = false;

		for (int k = 0; k < n; k++)
			repaired |= places[k] == i;
		assert_int_equal(xentrace_read_at(reader, 12 + TICK * i + (i >= TICKS ? 12 : 0),
						  &rec), 0);
		assert_int_equal(!!(rec.flags & XENTRACE_TSC_REPAIRED), repaired);
		if (!repaired)
			assert_int_equal(rec.tsc, BASE + 1000 * i);
		assert_in_range(rec.tsc, BASE + 1000 * (i < n ? 0 : i - n), BASE + 1000 * (i + n));
	}
	xentrace_close(reader);
	trace_free(&t);
}

static void test_outliers(void **state)
{
	static const uint64_t wrong[] = { 0, 1000, BASE / 2, BASE - 1000000 };
	static const uint64_t high[] = { BASE + (1ULL << 50), 1ULL << 63, UINT64_MAX };

	(void)state;
	for (int place = 1; place < 2 * TICKS - 1; place++) {
		int two[] = { place, place + 1 };

		for (size_t i = 0; i < LENGTH(wrong); i++) {
			/* at the very end of a window's pCPU nothing contradicts it */
			check_outliers(&place, 1, wrong[i]);
			if (place + 1 < TICKS - 1)
				check_outliers(two, 2, wrong[i]);
		}
		for (size_t i = 0; i < LENGTH(high); i++) {
			check_outliers(&place, 1, high[i]);
			if (place + 2 < 2 * TICKS && place > 1)
				check_outliers(two, 2, high[i]);
		}
	}
	/* the first one */
	check_outliers((int[]){ 0 }, 1, BASE + (1ULL << 50));
	check_outliers((int[]){ 0 }, 1, UINT64_MAX);
	/* the last one */
	check_outliers((int[]){ 2 * TICKS - 1 }, 1, BASE + (1ULL << 50));
	check_outliers((int[]){ 2 * TICKS - 1 }, 1, UINT64_MAX);
}

static void test_backwards(void **state)
{
	struct trace t = { 0 };
	struct xentrace *reader;
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	uint64_t n[4] = { 0 };

	(void)state;
	for (int part = 1; part >= 0; part--)
		for (int pcpu = 0; pcpu < 2; pcpu++)
			for (int k = 0; k < 3; k++) {
				trace_window(&t, pcpu);
				trace_ticks(&t, (BASE << part) + 100000 * k, TICKS, 1000);
			}
	reader = open_good(&t);
	assert_int_equal(xentrace_n_runs(reader), 4);
	assert_int_equal(xentrace_problem_count(reader, XENTRACE_TSC_BACKWARDS), 2);
	assert_int_equal(trace_problems(reader), 2);
	iter = xentrace_iter_new(reader, NULL);
	while (xentrace_iter_next(iter, &rec)) {
		/* the earlier recording comes first, as it is read */
		assert_int_equal(rec.tsc >= BASE * 2, n[0] + n[1] + n[2] + n[3] >= 120);
		assert_int_equal(rec.flags & XENTRACE_TSC_REPAIRED, 0);
		n[rec.run]++;
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(n[i], 60);
	xentrace_iter_free(iter);
	xentrace_close(reader);
	/* in the right order there is nothing to complain about */
	t.size = 0;
	t.window = 0;
	for (int part = 0; part < 2; part++) {
		trace_window(&t, 0);
		trace_ticks(&t, BASE << part, TICKS, 1000);
	}
	reader = open_good(&t);
	assert_int_equal(xentrace_n_runs(reader), 1);
	assert_int_equal(trace_problems(reader), 0);
	xentrace_close(reader);
	trace_free(&t);
}

/* ---- random damage ---- */

/** Good windows around damaged ones must survive whole. */
static void test_random_damage(void **state)
{
	uint64_t seed = 424242;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct trace t = { 0 };
		struct xentrace *reader;
		const char *wrong;
		size_t good_end = 0, bad_end = 0;
		uint64_t survivors = 0;
		int how_many = 1 + trace_random(&seed) % 20;

		for (int i = 0; i < 9; i++) {
			if (i == 3)
				good_end = t.size;
			if (i == 6)
				bad_end = t.size;
			trace_window(&t, i % 2);
			trace_ticks(&t, BASE + 100000 * i, 30, 1000);
		}
		for (int k = 0; k < how_many; k++) {
			size_t at = good_end + 1 + trace_random(&seed) % (bad_end - good_end - 50);
			uint64_t kind = trace_random(&seed) % 4;

			if (kind == 0)
				t.data[at] = trace_random(&seed);
			else if (kind == 1)
				t.data[at] ^= 1 << trace_random(&seed) % 8;
			else if (kind == 2)
				memset(t.data + at, trace_random(&seed), trace_random(&seed) % 50);
			else if (k == 0) {
				size_t n = trace_random(&seed) % 40;

				trace_cut(&t, at, n);
				bad_end -= n;
			}
		}
		reader = xentrace_open_memory(t.data, t.size, NULL, NULL, 0);
		assert_non_null(reader);
		wrong = trace_invariants(reader);
		if (wrong)
			fail_msg("round %d: %s", round, wrong);
		for (int i = 0; i < 9; i++) {
			size_t begin = i < 3 ? 0 : bad_end - 6 * 492;
			struct xentrace_record rec;

			if (i >= 3 && i < 6)
				continue;
			for (int k = 0; k < 30; k++) {
				if (xentrace_read_at(reader, begin + i * 492 + 12 + TICK * k,
						     &rec))
					fail_msg("round %d: window %d record %d is lost", round, i,
						 k);
				if (rec.tsc == BASE + 100000 * (uint64_t)i + 1000 * k &&
				    rec.pcpu == i % 2 && !(rec.flags & XENTRACE_TSC_REPAIRED))
					survivors++;
			}
		}
		if (survivors != 180)
			fail_msg("round %d: %llu of 180 good records are right", round,
				 (unsigned long long)survivors);
		xentrace_close(reader);
		trace_free(&t);
	}
}

static void test_problem_bounds(void **state)
{
	struct trace t = { 0 };
	struct xentrace_problem problem;
	char text[256];
	struct xentrace *reader;
	char *report;
	int lines = 0;

	(void)state;
	trace_window(&t, 0);
	trace_ticks(&t, BASE, 5, 1);
	for (int i = 0; i < 3000; i++) {
		trace_bytes(&t, "garbage ", 8);
		trace_window(&t, 1);
		trace_ticks(&t, BASE + i, 1, 1);
	}
	reader = open_good(&t);
	assert_int_equal(xentrace_problem_count(reader, XENTRACE_GARBAGE), 3000);
	assert_int_equal(xentrace_problem_count(reader, XENTRACE_N_PROBLEM_KINDS), 0);
	assert_int_equal(xentrace_n_problems(reader), XENTRACE_MAX_PROBLEMS);
	assert_null(xentrace_problem_at(reader, XENTRACE_MAX_PROBLEMS));
	assert_null(xentrace_problem_at(reader, -1));
	assert_int_equal(xentrace_skipped_bytes(reader), 24000);
	/* a kind that is none has words, too */
	problem = *xentrace_problem_at(reader, 0);
	problem.kind = XENTRACE_N_PROBLEM_KINDS;
	assert_true(xentrace_problem_text(text, sizeof(text), &problem) > 0);
	assert_non_null(strstr(text, "bytes that are no records"));
	report = xentrace_report(reader, "x", 5);
	for (const char *c = report; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 7);
	free(report);
	/* the summary alone, of which nothing says that there is more */
	report = xentrace_report(reader, "x", 0);
	assert_null(strstr(report, "more"));
	assert_int_equal(strlen(report) - 1, strchr(report, '\n') - report);
	free(report);
	xentrace_close(reader);
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_without_tsc),
		cmocka_unit_test(test_pcpu_without_tsc),
		cmocka_unit_test(test_wrap_records),
		cmocka_unit_test(test_payload),
		cmocka_unit_test(test_many_pcpus),
		cmocka_unit_test(test_extreme_tscs),
		cmocka_unit_test(test_late_tscs),
		cmocka_unit_test(test_last_jump),
		cmocka_unit_test(test_back_before_crossing),
		cmocka_unit_test(test_pcpu_offsets),
		cmocka_unit_test(test_read_at),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_bad_window),
		cmocka_unit_test(test_window_in_window),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_crosses_window),
		cmocka_unit_test(test_gap_flag),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_two_gaps),
		cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test(test_problem_bounds),
	};

	return cmocka_run_group_tests_name("xentrace_reader", tests, NULL, NULL);
}
