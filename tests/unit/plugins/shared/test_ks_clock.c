// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_ks_clock.c
 * @brief	KernelShark's rows get the times that the tools give to records, and lose them.
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

#include <libkshark.h>

#include "align_meta.h"
#include "array.h"
#include "clock_align.h"
#include "ks_clock.h"
#include "ks_stream.h"
#include "kvm_trace.h"
#include "sample_file.h"

/** About what trace-cmd's offsets of this pair come to. */
#define OFFSET_NS	991330177905
#define DRIFT_PPM	12.345678

/** Times of all records, sorted. */
struct times {
	int64_t	*ns;
	size_t	n;
};

static int take(void *arg, const struct kvm_trace_record *record)
{
	struct times *times = arg;

	times->ns = realloc(times->ns, (times->n + 1) * sizeof(*times->ns));
	assert_non_null(times->ns);
	times->ns[times->n++] = record->time_ns;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/** @alignment: NULL for the times as libtracecmd gives them */
static struct times from_file(const char *path, const struct kvm_trace_alignment *alignment)
{
	char error[256] = "";
	struct kvm_trace *trace = kvm_trace_open(path, error, sizeof(error));
	struct times times = { 0 };

	assert_non_null(trace);
	if (alignment)
		assert_int_equal(kvm_trace_align(trace, alignment), 0);
	assert_int_equal(kvm_trace_walk(trace, take, NULL, &times), 0);
	qsort(times.ns, times.n, sizeof(*times.ns), compare);
	kvm_trace_close(trace);
	return times;
}

/** The rows are sorted and have the times of the records; KernelShark adds some for lost ones. */
static void check_rows(struct kshark_entry **rows, ssize_t n, const struct times *times,
		       int64_t added)
{
	size_t k = 0;

	for (ssize_t i = 0; i < n; i++) {
		assert_true(!i || rows[i]->ts >= rows[i - 1]->ts);
		if (rows[i]->event_id == KS_EVENT_OVERFLOW)
			continue;
		assert_true(k < times->n);
		assert_true(rows[i]->ts == times->ns[k++] + added);
	}
	assert_int_equal(k, times->n);
}

static struct ks_clock clock_new(int64_t offset, int64_t drift, int64_t flags)
{
	struct ks_clock clock = { calloc(KS_CLOCK_TIDS + 1, sizeof(int64_t)), KS_CLOCK_TIDS + 1 };

	assert_non_null(clock.parts);
	clock.parts[KS_CLOCK_OFFSET] = clock.parts[KS_CLOCK_FOUND] = offset;
	clock.parts[KS_CLOCK_MAGIC] = KS_CLOCK_IS_OURS;
	clock.parts[KS_CLOCK_FLAGS] = KS_CLOCK_ALIGNED | flags;
	clock.parts[KS_CLOCK_DRIFT] = drift;
	clock.parts[KS_CLOCK_N_TIDS] = 1;
	return clock;
}

static struct ks_clock offset_alone(int64_t offset)
{
	struct ks_clock clock = { calloc(1, sizeof(int64_t)), 1 };

	assert_non_null(clock.parts);
	clock.parts[0] = offset;
	return clock;
}

struct loaded {
	struct kshark_context *kshark;
	struct kshark_data_stream *stream;
	struct kshark_entry **rows;
	ssize_t n;
};

static void load(struct loaded *loaded, const char *path)
{
	int id;

	loaded->kshark = NULL;
	assert_true(kshark_instance(&loaded->kshark));
	id = kshark_open(loaded->kshark, path);
	assert_true(id >= 0);
	loaded->stream = kshark_get_data_stream(loaded->kshark, id);
}

static void load_rows(struct loaded *loaded)
{
	loaded->n = kshark_load_entries(loaded->kshark, loaded->stream->stream_id, &loaded->rows);
	assert_true(loaded->n > 0);
}

static void unload(struct loaded *loaded)
{
	for (ssize_t i = 0; i < loaded->n; i++)
		free(loaded->rows[i]);
	free(loaded->rows);
	kshark_close(loaded->kshark, loaded->stream->stream_id);
}

static int set(struct loaded *loaded, struct ks_clock clock)
{
	return ks_clock_set(loaded->stream, clock, loaded->rows, (size_t)loaded->n);
}

/** As aligning, undoing and the offset's box do it, one after the other. */
static void test_there_and_back(void **state)
{
	const char *path = sample_path("kvm-migration-g1.dat");
	struct kvm_trace_alignment hidden = { .hide_offsets = true, .offset = OFFSET_NS };
	struct kvm_trace_alignment drifting = {
		.hide_offsets = true, .offset = 5, .drift_ppm = DRIFT_PPM,
	};
	struct times own = from_file(path, NULL), plain = from_file(path, &hidden);
	struct times drifted = from_file(path, &drifting);
	struct loaded loaded;

	(void)state;
	load(&loaded, path);
	load_rows(&loaded);
	check_rows(loaded.rows, loaded.n, &own, 0);

	assert_int_equal(set(&loaded, offset_alone(-123456789)), 0);
	check_rows(loaded.rows, loaded.n, &own, -123456789);
	assert_true(ks_stream_offset(loaded.stream->stream_id) == -123456789);
	assert_null(ks_clock_of(loaded.stream));

	assert_int_equal(set(&loaded, clock_new(OFFSET_NS, 0, KS_CLOCK_HIDES)), 0);
	check_rows(loaded.rows, loaded.n, &plain, 0);
	assert_non_null(ks_clock_of(loaded.stream));
	/* there were offsets of trace-cmd's */
	assert_true(ks_clock_of(loaded.stream)[KS_CLOCK_FLAGS] & KS_CLOCK_HIDES);

	assert_int_equal(set(&loaded, clock_new(OFFSET_NS + 1000, 0, KS_CLOCK_HIDES)), 0);
	check_rows(loaded.rows, loaded.n, &plain, 1000);

	/* 12.345678 ppm */
	assert_int_equal(set(&loaded, clock_new(5, 12345678, KS_CLOCK_HIDES)), 0);
	check_rows(loaded.rows, loaded.n, &drifted, 0);
	assert_int_equal(set(&loaded, clock_new(7, 12345678, KS_CLOCK_HIDES)), 0);
	check_rows(loaded.rows, loaded.n, &drifted, 2);

	assert_int_equal(set(&loaded, offset_alone(0)), 0);
	check_rows(loaded.rows, loaded.n, &own, 0);

	/* a damaged sidecar: nothing is changed */
	assert_int_equal(set(&loaded, clock_new(INT64_MIN, 0, KS_CLOCK_HIDES)), -ERANGE);
	assert_int_equal(set(&loaded, offset_alone(INT64_MAX)), -ERANGE);
	check_rows(loaded.rows, loaded.n, &own, 0);
	assert_true(ks_stream_offset(loaded.stream->stream_id) == 0);
	unload(&loaded);
	free(own.ns);
	free(plain.ns);
	free(drifted.ns);
}

/** A session gives the array back and no more: what it means is made to count before loading. */
static void test_restored(void **state)
{
	const char *path = sample_path("kvm-migration-g1.dat");
	struct kvm_trace_alignment drifting = {
		.hide_offsets = true, .offset = 5, .drift_ppm = DRIFT_PPM,
	};
	struct times drifted = from_file(path, &drifting);
	struct ks_clock clock = clock_new(5, 12345678, KS_CLOCK_HIDES);
	struct loaded loaded;

	(void)state;
	load(&loaded, path);
	loaded.stream->calib = kshark_offset_calib;
	loaded.stream->calib_array = clock.parts;
	loaded.stream->calib_array_size = clock.n;
	ks_clock_prepare(loaded.stream);
	load_rows(&loaded);
	check_rows(loaded.rows, loaded.n, &drifted, 0);
	unload(&loaded);
	free(drifted.ns);
}

/** A file that has no offsets of trace-cmd's has none to hide. */
static void test_nothing_to_hide(void **state)
{
	const char *path = sample_path("kvm-nosync-g1.dat");
	struct times own = from_file(path, NULL);
	struct loaded loaded;

	(void)state;
	load(&loaded, path);
	load_rows(&loaded);
	assert_int_equal(set(&loaded, clock_new(397320515241, 0, KS_CLOCK_HIDES)), 0);
	check_rows(loaded.rows, loaded.n, &own, 397320515241);
	assert_int_equal(ks_clock_of(loaded.stream)[KS_CLOCK_FLAGS], KS_CLOCK_ALIGNED);
	unload(&loaded);
	free(own.ns);
}

/**
 * Cycles become the host's ns: with 2 GHz and TSC 1000000 at 0 ns, cycle 3000007 of the host is
 * 2000007 / 2 = 1000003.5 ns after that, rounded down.
 */
static void test_cycles(void **state)
{
	struct ks_clock clock = clock_new(0, 0, KS_CLOCK_CYCLES);
	struct loaded loaded;
	int64_t ts;

	(void)state;
	clock.parts[KS_CLOCK_FOUND] = 1000;
	clock.parts[KS_CLOCK_HZ] = 2000000000;
	clock.parts[KS_CLOCK_BASE] = 1000000;
	load(&loaded, sample_path("kvm-nosync-g1.dat"));
	load_rows(&loaded);
	assert_int_equal(set(&loaded, clock), 0);
	ts = 3000007 - 1000;
	loaded.stream->calib(&ts, loaded.stream->calib_array);
	assert_int_equal(ts, 1000003);
	/* which KernelShark could not load */
	ts = 999999 - 1000;
	loaded.stream->calib(&ts, loaded.stream->calib_array);
	assert_int_equal(ts, KS_CLOCK_FIRST);
	unload(&loaded);
}

/** Times before 0, which KernelShark cannot load, come out right in the end. */
static void test_negative(void **state)
{
	const char *path = sample_path("kvm-nosync-g1.dat");
	struct times own = from_file(path, NULL);
	int64_t offset = -(own.ns[0] + own.ns[own.n - 1]) / 2;
	struct ks_clock clock = clock_new(offset, 0, 0);
	struct loaded loaded;

	(void)state;
	load(&loaded, path);
	loaded.stream->calib = kshark_offset_calib;
	loaded.stream->calib_array = clock.parts;
	loaded.stream->calib_array_size = clock.n;
	ks_clock_prepare(loaded.stream);
	load_rows(&loaded);
	for (ssize_t i = 1; i < loaded.n; i++)
		assert_true(loaded.rows[i]->ts >= loaded.rows[i - 1]->ts);
	assert_int_equal(loaded.rows[0]->ts, KS_CLOCK_FIRST);
	assert_int_equal(ks_clock_settle(loaded.stream, loaded.rows, (size_t)loaded.n), 0);
	check_rows(loaded.rows, loaded.n, &own, offset);
	assert_true(loaded.rows[0]->ts < 0);
	assert_true(ks_stream_offset(loaded.stream->stream_id) == offset);
	unload(&loaded);
	free(own.ns);
}

/** The time at which the offset is exact changes only the offset that belongs to it. */
static void test_at(void **state)
{
	const int64_t at = 123456789012345, ts = at + 1000000000;
	struct ks_clock stated = clock_new(5, 12345678, 0);
	struct ks_clock same = clock_new(virt_clock_offset_at(5, DRIFT_PPM, at, 0), 12345678, 0);

	(void)state;
	assert_true(ks_clock_time(&stated, ts) != ks_clock_time(&same, ts));
	stated.parts = realloc(stated.parts, (stated.n + 1) * sizeof(*stated.parts));
	assert_non_null(stated.parts);
	stated.parts[KS_CLOCK_FLAGS] |= KS_CLOCK_AT;
	stated.parts[stated.n++] = at;
	assert_true(ks_clock_time(&stated, at) == at + 5);
	assert_true(ks_clock_time(&stated, ts) == ts + 5 + 12346);
	assert_true(ks_clock_time(&stated, ts) == ks_clock_time(&same, ts));
	free(stated.parts);
	free(same.parts);
}

static void put_step(struct ks_clock *clock, const struct virt_clock_step *step)
{
	size_t n = clock->n, at = KS_CLOCK_TIDS + 1;
	bool first = !(clock->parts[KS_CLOCK_FLAGS] & KS_CLOCK_STEPS);

	clock->n += KS_CLOCK_STEP_PARTS + first;
	clock->parts = realloc(clock->parts, clock->n * sizeof(*clock->parts));
	assert_non_null(clock->parts);
	clock->parts[KS_CLOCK_FLAGS] |= KS_CLOCK_STEPS;
	clock->parts[at] = first ? 1 : clock->parts[at] + 1;
	n += first;
	clock->parts[n + KS_CLOCK_STEP_CPU] = step->cpu;
	clock->parts[n + KS_CLOCK_STEP_BACK] = step->back;
	clock->parts[n + KS_CLOCK_STEP_FROM] = step->from;
	clock->parts[n + KS_CLOCK_STEP_ADD] = step->add;
}

/** Steps of each CPU, also in a session, whose rows KernelShark loads without them. */
static void test_steps(void **state)
{
	const char *path = sample_path("kvm-migration-g1.dat");
	struct kvm_trace_alignment hidden = { .hide_offsets = true };
	struct times plain = from_file(path, &hidden);
	const struct virt_clock_step steps[] = {
		{ .cpu = 0, .from = plain.ns[plain.n / 3], .add = 5000000000 },
		{ .cpu = 0, .from = plain.ns[plain.n / 2], .add = -70000000 },
		{ .cpu = 1, .from = INT64_MIN, .add = 12345 },
	};
	struct kvm_trace_alignment stepped = {
		.hide_offsets = true, .offset = OFFSET_NS, .steps = steps, .n_steps = 3,
	};
	struct times wanted = from_file(path, &stepped), own = from_file(path, NULL);
	struct ks_clock clock = clock_new(OFFSET_NS, 0, KS_CLOCK_HIDES);
	struct loaded loaded;

	(void)state;
	for (int i = 0; i < 3; i++)
		put_step(&clock, &steps[i]);
	load(&loaded, path);
	load_rows(&loaded);
	assert_int_equal(set(&loaded, clock), 0);
	check_rows(loaded.rows, loaded.n, &wanted, 0);
	assert_int_equal(ks_clock_n_steps(ks_clock_of(loaded.stream)), 3);
	assert_true(ks_clock_step(ks_clock_of(loaded.stream), 1).add == -70000000);
	clock = ks_clock_copy(loaded.stream);
	clock.parts[KS_CLOCK_OFFSET] += 7;
	assert_int_equal(set(&loaded, clock), 0);
	check_rows(loaded.rows, loaded.n, &wanted, 7);
	clock = ks_clock_copy(loaded.stream);
	clock.parts[KS_CLOCK_OFFSET] -= 7;
	assert_int_equal(set(&loaded, offset_alone(0)), 0);
	check_rows(loaded.rows, loaded.n, &own, 0);
	unload(&loaded);
	load(&loaded, path);
	loaded.stream->calib = kshark_offset_calib;
	loaded.stream->calib_array = clock.parts;
	loaded.stream->calib_array_size = clock.n;
	ks_clock_prepare(loaded.stream);
	load_rows(&loaded);
	assert_int_equal(ks_clock_settle(loaded.stream, loaded.rows, (size_t)loaded.n), 0);
	check_rows(loaded.rows, loaded.n, &wanted, 0);
	unload(&loaded);
	free(plain.ns);
	free(wanted.ns);
	free(own.ns);
}

/** Steps in a damaged session. */
static void test_damaged_steps(void **state)
{
	const struct virt_clock_step good = { .cpu = 1, .add = 5 }, none = { .cpu = -1 };
	const struct virt_clock_step before = { .cpu = 0 }, much = { .cpu = 1, .add = INT64_MAX };
	struct ks_clock clock = clock_new(1, 0, 0);
	struct kshark_data_stream stream = { 0 };
	static const int64_t numbers[] = { -1, 3, 3000, INT64_MAX / KS_CLOCK_STEP_PARTS + 1,
					   INT64_MAX, INT64_MIN };
	const size_t at = KS_CLOCK_TIDS + 1;

	(void)state;
	put_step(&clock, &good);
	put_step(&clock, &good);
	stream.calib_array = clock.parts;
	stream.calib_array_size = clock.n;
	assert_non_null(ks_clock_of(&stream));
	stream.calib_array_size = clock.n - 1;
	assert_null(ks_clock_of(&stream));
	stream.calib_array_size = at;
	assert_null(ks_clock_of(&stream));
	stream.calib_array_size = clock.n;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		clock.parts[at] = numbers[i];
		assert_null(ks_clock_of(&stream));
	}
	clock.parts[at] = 2;
	for (int i = 0; i < 3; i++) {
		const struct virt_clock_step *bad = i == 0 ? &none : i == 1 ? &before : &much;
		int64_t *step = clock.parts + clock.n - KS_CLOCK_STEP_PARTS;

		step[KS_CLOCK_STEP_CPU] = bad->cpu;
		step[KS_CLOCK_STEP_ADD] = bad->add;
		assert_null(ks_clock_of(&stream));
	}
	for (int i = 0; i < 2; i++) {
		int64_t *step = clock.parts + clock.n - KS_CLOCK_STEP_PARTS;

		step[KS_CLOCK_STEP_CPU] = (i ? -1 : 1) * (INT64_C(1) << 32) + 1;
		step[KS_CLOCK_STEP_ADD] = good.add;
		assert_null(ks_clock_of(&stream));
	}
	free(clock.parts);
}

/** What a damaged session may hold. */
static void test_damaged(void **state)
{
	struct ks_clock clock = clock_new(1, 0, 0);
	struct kshark_data_stream stream = { .calib_array = clock.parts,
					     .calib_array_size = clock.n };

	(void)state;
	assert_non_null(ks_clock_of(&stream));
	stream.calib_array_size = KS_CLOCK_TIDS;	/* its thread is missing */
	assert_null(ks_clock_of(&stream));
	stream.calib_array_size = clock.n;
	clock.parts[KS_CLOCK_N_TIDS] = -1;
	assert_null(ks_clock_of(&stream));
	clock.parts[KS_CLOCK_N_TIDS] = INT64_MAX;
	assert_null(ks_clock_of(&stream));
	clock.parts[KS_CLOCK_N_TIDS] = 1;
	clock.parts[KS_CLOCK_FLAGS] |= KS_CLOCK_AT;	/* and that time is */
	assert_null(ks_clock_of(&stream));
	clock.parts[KS_CLOCK_FLAGS] &= ~KS_CLOCK_AT;
	clock.parts[KS_CLOCK_DRIFT] = INT64_MIN;
	assert_null(ks_clock_of(&stream));
	clock.parts[KS_CLOCK_DRIFT] = 0;
	clock.parts[KS_CLOCK_MAGIC]++;
	assert_null(ks_clock_of(&stream));
	stream.calib_array = NULL;
	assert_null(ks_clock_of(&stream));
	assert_null(ks_clock_of(NULL));
	free(clock.parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_restored),
		cmocka_unit_test(test_nothing_to_hide),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_negative),
		cmocka_unit_test(test_at),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_damaged_steps),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
