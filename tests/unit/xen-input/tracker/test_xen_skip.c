/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A walk that counts the records that change no state, instead of reading them, beside one that
 * reads all: on real traces, whole and damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "same_model.h"
#include "sample_file.h"
#include "xen_tracker.h"
#include "xentrace_private.h"

#define MAX_PCPUS	256
#define MAX_DOMAINS	64
#define MAX_VCPUS	64
#define UNKNOWN_DOMAIN	(MAX_DOMAINS - 1)

/** Parts of classes some of whose records are only counted, and all others. */
enum { OF_SCHEDULER, OF_PV, OF_OTHERS, PARTS };

static int part_of(uint32_t event)
{
	uint32_t part = event >> XEN_TRC_SUBCLASS_SHIFT;

	return part == XEN_TRC_SCHED_CLASS ? OF_SCHEDULER :
	       part == XEN_TRC_PV_ENTRY ? OF_PV : OF_OTHERS;
}

/** Counts of one walk; both walks must agree. */
struct counts {
	uint64_t	records[MAX_PCPUS][PARTS], bytes[MAX_PCPUS][PARTS];
	uint64_t	calls[MAX_DOMAINS][MAX_VCPUS][XENTRACE_NUMBERS];
	uint64_t	n_rows, n_skipped;
};

static uint64_t *calls_of(struct counts *counts, xen_vcpu vcpu, uint32_t number)
{
	uint32_t domain = xen_vcpu_domid(vcpu), id = xen_vcpu_id(vcpu);

	return &counts->calls[domain < UNKNOWN_DOMAIN ? domain : UNKNOWN_DOMAIN]
			     [id < MAX_VCPUS ? id : 0][number];
}

static void count_row(struct counts *counts, const struct xen_trace_row *row)
{
	const struct xentrace_record *rec = &row->rec;
	uint32_t number = xentrace_word(rec, 0) & XEN_TRC_HYPERCALL_MASK;

	assert_true(rec->pcpu < MAX_PCPUS);
	counts->n_rows++;
	counts->records[rec->pcpu][part_of(rec->event)]++;
	counts->bytes[rec->pcpu][part_of(rec->event)] += xentrace_bytes(rec);
	if (rec->event == XEN_TRC_PV_HYPERCALL_V2 && number < XENTRACE_NUMBERS)
		++*calls_of(counts, row->vcpu, number);
}

static int count_skipped(void *arg, const struct xen_trace_skipped *skipped)
{
	int part = part_of(skipped->event);
	struct counts *counts = arg;

	if (skipped->is_call) {
		*calls_of(counts, skipped->vcpu, skipped->number) += skipped->records;
		return 0;
	}
	counts->n_skipped += skipped->records;
	counts->records[skipped->pcpu][part] += skipped->records;
	counts->bytes[skipped->pcpu][part] += skipped->bytes;
	return 0;
}

/** All rows; those that change a state, with counts of the others, or with none and no vCPUs. */
enum way { ALL, COUNTED, STATES, WAYS };

/** Walk, give all rows to a tracker, and count. */
static struct virt_model *walk(struct xen_trace *trace, enum way way, struct counts *counts)
{
	struct xen_tracker *tracker = xen_tracker_new(trace);
	struct xen_trace_iter *iter = xen_trace_iter_new(trace);
	struct virt_model *model = NULL;
	struct xen_trace_row row;
	int64_t last_ns = INT64_MIN;

	assert_non_null(tracker);
	assert_non_null(iter);
	if (way != ALL)
		assert_int_equal(xen_trace_iter_skip(iter, way == COUNTED), 0);
	while (xen_trace_iter_next(iter, &row)) {
		assert_true(row.time_ns >= last_ns);
		last_ns = row.time_ns;
		if (way != STATES)
			count_row(counts, &row);
		assert_int_equal(xen_tracker_add(tracker, &row), 0);
	}
	if (way == COUNTED)
		assert_int_equal(xen_trace_iter_skipped(iter, count_skipped, counts), 0);
	assert_int_equal(xen_trace_iter_free(iter), 0);
	assert_int_equal(xen_tracker_finish(tracker, &model), 0);
	xen_tracker_free(tracker);
	return model;
}

/** Return: the share of records that were only counted, in percent. */
static uint64_t compare(const void *data, size_t size)
{
	struct counts *counts = calloc(WAYS, sizeof(*counts));
	struct virt_model *models[WAYS];
	struct xen_trace *trace;
	uint64_t share;
	char error[256];

	assert_non_null(counts);
	trace = xen_trace_open_memory(data, size, NULL, error, sizeof(error));
	if (!trace) {
		free(counts);
		return 0;
	}
	for (enum way way = ALL; way < WAYS; way++) {
		models[way] = walk(trace, way, &counts[way]);
		same_model(models[ALL], models[way]);
	}
	assert_int_equal(counts[0].n_rows, counts[1].n_rows + counts[1].n_skipped);
	share = counts[1].n_skipped * 100 / counts[0].n_rows;
	counts[0].n_rows = counts[1].n_rows = counts[1].n_skipped = 0;
	assert_memory_equal(&counts[0], &counts[1], sizeof(counts[0]));
	for (enum way way = ALL; way < WAYS; way++)
		virt_model_free(models[way]);
	xen_trace_close(trace);
	free(counts);
	return share;
}

static void test_samples(void **state)
{
	/* PV domains make hypercalls; others have the scheduler's records alone */
	static const struct {
		const char	*name;
		uint64_t	least;
	} samples[] = {
		{ "credit2-basic.xen", 60 }, { "pinned.xen", 60 }, { "dom0.xen", 60 },
		{ "migration.xen", 50 }, { "hvm-exits.xen", 15 }, { "hvm-io.xen", 0 },
		{ "lost-records.xen", 30 }, { "sched-credit.xen", 0 },
		{ "cases/core-sched.xen", 0 }, { "cases/lost-at-0.xen", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		size_t size;
		uint8_t *data = read_sample(samples[i].name, &size);
		uint64_t share = compare(data, size);

		if (share < samples[i].least)
			fail_msg("%s: %d %%", samples[i].name, (int)share);
		free(data);
	}
}

/** Records are missing, or are others, at any place. */
static void test_damaged(void **state)
{
	size_t size;
	uint8_t *data = read_sample("lost-records.xen", &size);

	(void)state;
	srand(1);
	for (int round = 0; round < 20; round++) {
		uint8_t *damaged = malloc(size);

		assert_non_null(damaged);
		memcpy(damaged, data, size);
		for (int n = rand() % 30; n >= 0; n--) {
			size_t at = (size_t)rand() % (size - 4000);

			if (n % 2)
				damaged[at] ^= (uint8_t)(1 << rand() % 8);
			else
				memset(damaged + at, rand(), (size_t)rand() % 4000);
		}
		compare(damaged, size - (size_t)rand() % 1000);
		free(damaged);
	}
	free(data);
}

/**
 * The caller may set other counters after any record: earlier counts are not taken back from them.
 * Each record gets its own, which such a count would bring below 0.
 */
static void test_other_counters(void **state)
{
	static const struct xentrace_quiet calls = {
		.part = XEN_TRC_SCHED_CLASS, .call = XEN_TRC_PV_HYPERCALL_V2,
		.number = XEN_TRC_HYPERCALL_MASK, .counts = true,
	};
	uint64_t counters[XENTRACE_NUMBERS], n_counted = 0, n_calls = 0;
	struct xentrace *reader = xentrace_open(sample_path("credit2-basic.xen"), NULL, NULL, 0);
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	bool is_there;

	(void)state;
	assert_non_null(reader);
	iter = xentrace_iter_new(reader, NULL);
	assert_non_null(iter);
	assert_int_equal(xentrace_iter_skip(iter, &calls), 0);
	do {
		memset(counters, 0, sizeof(counters));
		for (uint32_t run = 0; run < xentrace_n_runs(reader); run++)
			xentrace_iter_tally(iter, run)->numbers = counters;
		is_there = xentrace_iter_next(iter, &rec);
		for (size_t i = 0; i < XENTRACE_NUMBERS; i++) {
			assert_true(counters[i] <= xentrace_n_records(reader));
			n_counted += counters[i];
		}
	} while (is_there);
	for (uint32_t run = 0; run < xentrace_n_runs(reader); run++)
		n_calls += xentrace_iter_tally(iter, run)->n_calls;
	assert_true(n_calls > 10000);
	assert_true(n_counted == n_calls);
	xentrace_iter_free(iter);
	xentrace_close(reader);
}

/** The records of a run that are given out, in their order, by offset. */
static size_t given(const struct xentrace *reader, uint32_t run, uint32_t awaiting, bool skip,
		    struct xentrace_record *records)
{
	const struct xentrace_iter_options options = { .one_run = true, .run = run };
	const struct xentrace_quiet quiet = {
		.part = XEN_TRC_SCHED_CLASS, .call = XEN_TRC_PV_HYPERCALL_V2,
		.number = XEN_TRC_HYPERCALL_MASK, .awaiting = awaiting,
	};
	struct xentrace_iter *iter = xentrace_iter_new(reader, &options);
	size_t n = 0;

	assert_non_null(iter);
	if (skip)
		assert_int_equal(xentrace_iter_skip(iter, &quiet), 0);
	while (xentrace_iter_next(iter, &records[n]))
		n++;
	xentrace_iter_free(iter);
	return n;
}

/** Must a record be given out that comes after that other one? */
static bool is_needed(const struct xentrace_record *before, const struct xentrace_record *rec,
		      uint32_t awaiting)
{
	if (part_of(rec->event) == OF_OTHERS ||
	    (part_of(rec->event) == OF_PV && rec->event != XEN_TRC_PV_HYPERCALL_V2))
		return true;
	return before && is_needed(NULL, before, awaiting) &&
	       (!awaiting || before->event >> XEN_TRC_SUBCLASS_SHIFT == awaiting);
}

/** Sum up those of the first records that change a state. Return: how many they are. */
static size_t sum_first(const struct xentrace *reader, uint64_t most, bool skip, uint64_t *sum)
{
	const struct xentrace_quiet quiet = {
		.part = XEN_TRC_SCHED_CLASS, .call = XEN_TRC_PV_HYPERCALL_V2,
		.number = XEN_TRC_HYPERCALL_MASK, .most = most,
	};
	struct xentrace_iter *iter = xentrace_iter_new(reader, NULL);
	uint64_t n_given = 0;
	struct xentrace_record rec;
	size_t n = 0;

	assert_non_null(iter);
	if (skip)
		assert_int_equal(xentrace_iter_skip(iter, &quiet), 0);
	*sum = 0;
	for (; xentrace_iter_passed(iter) < most && xentrace_iter_next(iter, &rec); n_given++) {
		if (part_of(rec.event) != OF_OTHERS)
			continue;
		*sum = 31 * *sum + rec.offset;
		n++;
	}
	assert_int_equal(xentrace_iter_passed(iter), most);
	/* fewer records were given out than passed */
	assert_true(skip ? n_given < most * 3 / 4 : n_given == most);
	xentrace_iter_free(iter);
	return n;
}

/** The beginning of a trace ends at the same record, whether records are skipped in it or not. */
static void test_beginning(void **state)
{
	struct xentrace *reader = xentrace_open(sample_path("credit2-basic.xen"), NULL, NULL, 0);

	(void)state;
	assert_non_null(reader);
	for (uint64_t most = xentrace_n_records(reader) - 20; most > 60000; most -= 4999) {
		uint64_t all, some;
		size_t n = sum_first(reader, most, false, &all);

		assert_true(n > 1000);
		assert_int_equal(sum_first(reader, most, true, &some), n);
		assert_true(all == some);
	}
	xentrace_close(reader);
}

/** Those that change a state are there, and what comes next to those that wait for it. */
static void test_awaiting(void **state)
{
	struct xentrace *reader = xentrace_open(sample_path("credit2-basic.xen"), NULL, NULL, 0);
	struct xentrace_record *all, *some;
	size_t n_given[2] = { 0 };

	(void)state;
	assert_non_null(reader);
	all = calloc(2 * xentrace_n_records(reader) + 2, sizeof(*all));
	assert_non_null(all);
	some = all + xentrace_n_records(reader) + 1;
	for (uint32_t i = 0; i < 2 * xentrace_n_runs(reader); i++) {
		uint32_t awaiting = i % 2 ? XEN_TRC_SCHED_VERBOSE : 0, run = i / 2;
		size_t n_all = given(reader, run, awaiting, false, all);
		size_t n = given(reader, run, awaiting, true, some), k = 0;
		const struct xentrace_record *call = NULL;

		n_given[i % 2] += n;
		for (size_t j = 0; j < n_all; j++) {
			bool is_there = k < n && some[k].offset == all[j].offset;
			bool is_call = all[j].event == XEN_TRC_PV_HYPERCALL_V2;

			if (is_there)
				assert_int_equal(some[k++].tsc, all[j].tsc);
			if (is_needed(j ? &all[j - 1] : NULL, &all[j], awaiting))
				assert_true(is_there);
			/* the last one before any of those */
			if (is_needed(NULL, &all[j], awaiting)) {
				assert_true(!call || (k > 1 && call->tsc == some[k - 2].tsc) ||
					    part_of(some[k - 2].event) == OF_SCHEDULER);
				call = NULL;
			} else if (is_call) {
				call = &all[j];
			}
		}
		assert_int_equal(k, n);
	}
	assert_true(n_given[1] < n_given[0] * 9 / 10);
	free(all);
	xentrace_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_other_counters),
		cmocka_unit_test(test_awaiting),
		cmocka_unit_test(test_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
