// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_xentrace_live.c
 * @brief	Bytes that come in pieces are the records of the file, whatever the pieces are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "sample_file.h"
#include "trace_builder.h"
#include "xentrace_private.h"
#include "xentrace_live.h"

#define BASE		(1ULL << 40)
#define PLENTY		(1ULL << 30)

static const char *const samples[] = {
	"credit2-4.20.xen", "credit2-basic.xen", "dom0.xen", "domU.xen.gz", "hvm-exits.xen",
	"hvm-io.xen", "lost-records.xen", "migration.xen", "pinned.xen", "saved.xen",
	"sched-credit.xen", "sched-null.xen",
};

static uint64_t seed = 1;

static size_t rnd(size_t n)
{
	return trace_random(&seed) % n;
}

/** What comes out of a stream, beside what an iteration over the file gives. */
struct both {
	struct xentrace_live	*stream;
	struct xentrace_iter	*iter;
	uint64_t		n;
};

/** Let out what may go. */
static void compare(struct both *both)
{
	const struct xentrace_record *got;
	struct xentrace_record rec;

	while ((got = xentrace_live_next(both->stream))) {
		assert_true(xentrace_iter_next(both->iter, &rec));
		assert_int_equal(got->offset, rec.offset);
		assert_int_equal(got->tsc, rec.tsc);
		assert_int_equal(got->event, rec.event);
		assert_int_equal(got->pcpu, rec.pcpu);
		assert_int_equal(got->n_words, rec.n_words);
		assert_int_equal(got->flags, rec.flags);
		assert_memory_equal(got->words, rec.words, 4 * (size_t)rec.n_words);
		both->n++;
		xentrace_live_take(both->stream);
	}
}

/** @piece: the most bytes at a time. Return: how many records came before the end */
static uint64_t check_pieces(const void *data, size_t size, size_t piece)
{
	struct xentrace *reader = xentrace_open_memory(data, size, NULL, NULL, 0);
	struct xentrace_live_counts counts;
	struct both both = { .stream = xentrace_live_new("test", PLENTY) };
	uint64_t early;
	size_t n;

	assert_non_null(reader);
	assert_non_null(both.stream);
	both.iter = xentrace_iter_new(reader, NULL);
	for (size_t at = 0; at < size; at += n) {
		n = 1 + rnd(piece);
		n = n < size - at ? n : size - at;
		assert_int_equal(xentrace_live_push(both.stream, (const char *)data + at, n), 0);
		compare(&both);
	}
	early = both.n;
	assert_int_equal(xentrace_live_end(both.stream), 0);
	compare(&both);
	xentrace_live_count(both.stream, &counts);
	assert_int_equal(both.n, xentrace_n_records(reader));
	assert_int_equal(counts.records, both.n);
	assert_int_equal(counts.bytes, size);
	assert_int_equal(counts.waiting, 0);
	assert_int_equal(counts.late, 0);
	assert_int_equal(counts.hurried, 0);
	for (int kind = 0; kind < XENTRACE_N_PROBLEM_KINDS; kind++)
		assert_int_equal(xentrace_problem_count(xentrace_live_reader(both.stream), kind),
				 xentrace_problem_count(reader, kind));
	for (int i = 0; i < xentrace_n_pcpus(reader); i++)
		assert_memory_equal(xentrace_pcpu_at(xentrace_live_reader(both.stream), i),
				    xentrace_pcpu_at(reader, i), sizeof(struct xentrace_pcpu));
	assert_int_equal(xentrace_whole_tsc(xentrace_live_reader(both.stream)),
			 xentrace_whole_tsc(reader));
	xentrace_iter_free(both.iter);
	xentrace_live_free(both.stream);
	xentrace_close(reader);
	return early;
}

/** All of a sample, unpacked. */
static uint8_t *unpack_sample(const char *name, size_t *size)
{
	struct xentrace *reader = xentrace_open(sample_path(name), NULL, NULL, 0);
	uint8_t *data;

	assert_non_null(reader);
	*size = xentrace_size(reader);
	data = malloc(*size);
	assert_non_null(data);
	assert_int_equal(xentrace_file_read(&reader->file, data, 0, *size), *size);
	xentrace_close(reader);
	return data;
}

static void test_samples(void **state)
{
	static const size_t pieces[] = { 1, 13, 4096, 65536, 1 << 30 };
	uint64_t early = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		size_t size;
		uint8_t *data = unpack_sample(samples[i], &size);

		for (size_t j = 0; j < ARRAY_SIZE(pieces); j++)
			if (pieces[j] > 1 || size < 200000)
				early += check_pieces(data, size, pieces[j]);
		free(data);
	}
	/* most of it did not have to wait for the end */
	assert_true(early > 500000);
}

/* ---- what comes too late, too much ---- */

/** A window of @n records, 100 cycles apart. */
static void window(struct trace *t, int pcpu, uint64_t tsc, int n)
{
	trace_window(t, pcpu);
	trace_ticks(t, tsc, n, 100);
}

/** Seven turns of three pCPUs. */
static void turns(struct trace *t, uint64_t tsc)
{
	for (int turn = 0; turn < 7; turn++)
		for (int pcpu = 0; pcpu < 3; pcpu++)
			window(t, pcpu, tsc + turn * 10000ULL + pcpu, 50);
}

static uint64_t take_all(struct xentrace_live *stream, struct xentrace_record *last)
{
	const struct xentrace_record *rec;
	uint64_t n = 0;

	while ((rec = xentrace_live_next(stream))) {
		assert_true(!n || rec->tsc >= last->tsc);
		*last = *rec;
		xentrace_live_take(stream);
		n++;
	}
	return n;
}

static void test_late(void **state)
{
	struct xentrace_live *stream = xentrace_live_new("test", PLENTY);
	struct xentrace_live_counts counts;
	struct xentrace_record last = { 0 };
	struct trace t = { 0 };

	(void)state;
	turns(&t, BASE);
	/* of what is before the end of turn 2, when turn 6 has begun */
	window(&t, 1, BASE + 20000, 10);
	assert_int_equal(xentrace_live_push(stream, t.data, t.size), 0);
	assert_true(take_all(stream, &last) > 300);
	assert_int_equal(xentrace_live_end(stream), 0);
	take_all(stream, &last);
	xentrace_live_count(stream, &counts);
	assert_int_equal(counts.late, 10);
	assert_true(counts.late_cycles >= 3000 && counts.late_cycles < 30000);
	xentrace_live_free(stream);
	trace_free(&t);
}

/** The next one that is in time shows that others are missing before it. */
static void test_after_late(void **state)
{
	struct xentrace_live *stream = xentrace_live_new("test", PLENTY);
	const struct xentrace_record *rec;
	struct trace t = { 0 };
	int gaps = 0;

	(void)state;
	turns(&t, BASE);
	trace_window(&t, 1);
	TRACE_RECORD(&t, 0x2f003, BASE + 70000, 1);
	window(&t, 2, BASE + 100, 1);
	window(&t, 2, BASE + 90000, 5);
	assert_int_equal(xentrace_live_push(stream, t.data, t.size), 0);
	assert_int_equal(xentrace_live_end(stream), 0);
	while ((rec = xentrace_live_next(stream))) {
		if (rec->flags & XENTRACE_AFTER_GAP) {
			assert_int_equal(rec->pcpu, 2);
			assert_int_equal(rec->tsc, BASE + 90000);
			gaps++;
		}
		xentrace_live_take(stream);
	}
	assert_int_equal(gaps, 1);
	xentrace_live_free(stream);
	trace_free(&t);
}

/** One pCPU alone has no turns that end: nothing is certain but that there is no room for more. */
static void test_full(void **state)
{
	const uint64_t most = 200 * sizeof(struct xentrace_record);
	struct xentrace_live *stream = xentrace_live_new("test", most);
	struct xentrace_live_counts counts;
	struct xentrace_record last = { 0 };
	struct trace t = { 0 };
	uint64_t n;

	(void)state;
	for (int i = 1; i < 30; i++)
		window(&t, i, BASE + i * 1000ULL, 20);
	assert_int_equal(xentrace_live_push(stream, t.data, t.size), 0);
	assert_true(xentrace_live_is_full(stream));
	n = take_all(stream, &last);
	assert_false(xentrace_live_is_full(stream));
	xentrace_live_count(stream, &counts);
	assert_true(counts.waiting <= most);
	assert_int_equal(counts.hurried, n);
	assert_int_equal(xentrace_live_end(stream), 0);
	n += take_all(stream, &last);
	assert_int_equal(n, 29 * 20);
	xentrace_live_free(stream);
	trace_free(&t);
}

/** After the last writer, what is there is all, if it is whole. */
static void test_settle(void **state)
{
	struct xentrace_live *stream = xentrace_live_new("test", PLENTY);
	struct xentrace_record last = { 0 };
	struct trace t = { 0 };

	(void)state;
	window(&t, 0, BASE, 10);
	window(&t, 1, BASE, 10);
	assert_int_equal(xentrace_live_push(stream, t.data, t.size - 1), 0);
	assert_int_equal(xentrace_live_settle(stream), 0);
	assert_int_equal(take_all(stream, &last), 0);
	assert_int_equal(xentrace_live_push(stream, t.data + t.size - 1, 1), 0);
	assert_int_equal(take_all(stream, &last), 0);
	assert_int_equal(xentrace_live_settle(stream), 0);
	assert_int_equal(take_all(stream, &last), 20);
	/* and it goes on */
	trace_free(&t);
	window(&t, 0, BASE + 5000, 10);
	assert_int_equal(xentrace_live_push(stream, t.data, t.size), 0);
	assert_int_equal(xentrace_live_settle(stream), 0);
	assert_int_equal(take_all(stream, &last), 10);
	xentrace_live_free(stream);
	trace_free(&t);
}

static void test_no_trace(void **state)
{
	struct xentrace_live *stream = xentrace_live_new("test", PLENTY);
	uint8_t *zeros = calloc(1, 2 << 20);

	(void)state;
	assert_int_equal(xentrace_live_push(stream, zeros, 900 << 10), 0);
	assert_int_equal(xentrace_live_push(stream, zeros, 200 << 10), -EINVAL);
	xentrace_live_free(stream);
	free(zeros);
}

/* ---- damage ---- */

/** What has come out of a stream, in one number. */
struct outcome {
	uint64_t	hash, n, problems, late;
};

static void note(struct outcome *outcome, uint64_t value)
{
	outcome->hash = (outcome->hash ^ value) * 0x100000001b3ULL;
}

static struct outcome pass(const uint8_t *data, size_t size, size_t piece)
{
	struct xentrace_live *stream = xentrace_live_new("test", PLENTY);
	struct xentrace_live_counts counts;
	const struct xentrace_record *rec;
	struct outcome outcome = { 0 };
	uint64_t last = 0;

	for (size_t at = 0; at <= size; at += piece) {
		if (at + piece > size)
			piece = size - at;
		assert_int_equal(piece ? xentrace_live_push(stream, data + at, piece) :
				 xentrace_live_end(stream), 0);
		while ((rec = xentrace_live_next(stream))) {
			assert_true(rec->tsc >= last);
			last = rec->tsc;
			note(&outcome, rec->tsc);
			note(&outcome, rec->offset);
			note(&outcome, (uint64_t)rec->event << 8 | rec->flags);
			outcome.n++;
			xentrace_live_take(stream);
		}
		if (!piece)
			break;
	}
	for (int kind = 0; kind < XENTRACE_N_PROBLEM_KINDS; kind++)
		outcome.problems += xentrace_problem_count(xentrace_live_reader(stream), kind);
	xentrace_live_count(stream, &counts);
	outcome.late = counts.late;
	xentrace_live_free(stream);
	return outcome;
}

/** Bytes are changed, missing, or too many. Return: the new size. */
static size_t damage(uint8_t *data, size_t size)
{
	size_t at = rnd(size), n = 1 + rnd(40);

	n = n < size - at ? n : size - at;
	switch (rnd(4)) {
	case 0:
		for (size_t i = 0; i < n; i++)
			data[at + i] = (uint8_t)rnd(256);
		break;
	case 1:
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	case 2:
		memset(data + at, 0, n);
		break;
	default:
		data[at] ^= (uint8_t)(1 << rnd(8));
	}
	return size;
}

/** How bytes come makes no difference, whatever they are. */
static void test_damage(void **state)
{
	uint64_t problems = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		size_t size;
		uint8_t *data = unpack_sample(samples[rnd(ARRAY_SIZE(samples))], &size);
		struct outcome whole, pieces;

		size = size < 300000 ? size : 300000;
		for (size_t n = 1 + rnd(5); n; n--)
			size = damage(data, size);
		whole = pass(data, size, size);
		pieces = pass(data, size, 1 + rnd(5000));
		assert_memory_equal(&whole, &pieces, sizeof(whole));
		assert_true(whole.n);
		problems += whole.problems;
		free(data);
	}
	assert_true(problems > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_after_late),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_no_trace),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
