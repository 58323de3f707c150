// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_events.c
 * @brief	Events that the tracker packs are the same as before, and so is their model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_private.h"
#include "same_model.h"
#include "sample_kvm.h"
#include "virt_model.h"

#define CPU	259

static uint64_t seed = 1;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/** Numbers of all lengths and of both signs, some of them again and again. */
static int64_t any_number(void)
{
	static const int64_t special[] = {
		0, -1, 1, 127, 128, -128, -129, 255, 256, INT32_MAX, INT32_MIN, INT64_MAX,
		INT64_MIN,
	};
	uint64_t random = next_random();

	if (random % 4 == 0)
		return special[random / 4 % ARRAY_SIZE(special)];
	return (int64_t)random >> (random & 63);
}

static struct kvm_event any_event(const struct kvm_event *before)
{
	static const int64_t steps[] = { 0, 1, 127, 128, 5000, INT64_C(1) << 40 };
	struct kvm_event event = *before;

	event.cpu = CPU;
	event.time_ns += steps[next_random() % ARRAY_SIZE(steps)];
	event.kind = (uint8_t)(next_random() % KVM_N_KINDS);
	if (next_random() % 3 == 0)
		event.pid = (int32_t)any_number();
	if (next_random() % 2) {
		event.value = any_number();
		event.arg = (int32_t)any_number();
		event.more = (uint8_t)next_random();
	}
	return event;
}

static bool is_same(const struct kvm_event *a, const struct kvm_event *b)
{
	return a->time_ns == b->time_ns && a->value == b->value && a->pid == b->pid &&
	       a->arg == b->arg && a->cpu == b->cpu && a->kind == b->kind && a->more == b->more;
}

/** Scans from each number on, by one or by different ones, have all events. */
static void test_packed(void **state)
{
	enum { N = 5 * KVM_PACK_EVENTS + 100 };
	struct kvm_event *all = calloc(N, sizeof(*all)), before = { .time_ns = INT64_MIN / 2 };
	struct kvm_events events = { 0 };
	struct kvm_scan scan = { 0 };
	const struct kvm_event *event;

	(void)state;
	assert_non_null(all);
	for (size_t i = 0; i < N; i++) {
		all[i] = before = any_event(&before);
		assert_int_equal(ARRAY_GROW(events.plain, events.n_plain, events.room), 0);
		events.plain[events.n_plain++] = all[i];
		/* the last two stay as they are: the tracker may still replace one */
		if (i == KVM_PACK_EVENTS || i == KVM_PACK_EVENTS + 1 || i == N - 50) {
			assert_int_equal(kvm_events_pack(&events), 0);
			assert_int_equal(events.n_packs, i / KVM_PACK_EVENTS -
					 (i == KVM_PACK_EVENTS));
			assert_int_equal(kvm_events_count(&events), i + 1);
		}
	}
	for (size_t from = 0; from <= N; from += from < N - 3 ? 1 + next_random() % 300 : 1) {
		size_t i = from;

		kvm_scan_begin(&scan, &events, from);
		/* as the scan before has it, from a pack that may be the same */
		for (; i < from + 100 && (event = kvm_scan_next(&scan)); i++)
			assert_true(is_same(event, &all[i]));
		assert_int_equal(i, from + 100 < N ? from + 100 : N);
	}
	kvm_scan_begin(&scan, &events, 0);
	for (size_t i = 0; i < N; i++)
		assert_true(is_same(kvm_scan_next(&scan), &all[i]));
	assert_null(kvm_scan_next(&scan));
	assert_int_equal(scan.error, 0);
	kvm_scan_end(&scan);
	kvm_events_free(&events);
	free(all);
}

struct file {
	int64_t		begin_ns, end_ns;
	size_t		n_packs;
	struct kvm_tracker *tracker;
};

/** @most_plain: of the tracker */
static struct file track(struct kvm_trace *trace, size_t most_plain)
{
	struct file file = { .tracker = kvm_tracker_new() };

	assert_non_null(file.tracker);
	file.tracker->most_plain = most_plain;
	assert_int_equal(kvm_trace_track(trace, file.tracker, NULL, NULL, NULL, &file.begin_ns,
					 &file.end_ns), 0);
	for (size_t c = 0; c < file.tracker->n_cpus; c++)
		file.n_packs += file.tracker->cpus[c].events.n_packs;
	return file;
}

static struct virt_model *finish(const struct file *file)
{
	struct virt_model *model = NULL;

	assert_int_equal(kvm_tracker_finish(file->tracker, file->begin_ns, file->end_ns, &model),
			 0);
	return model;
}

static size_t count_events(const struct kvm_tracker *tracker)
{
	size_t n = 0;

	for (size_t c = 0; c < tracker->n_cpus; c++)
		n += kvm_events_count(&tracker->cpus[c].events);
	return n;
}

/** A sample, nested guests among them, whose records are looked at ahead. */
static void test_sample(void **state)
{
	struct kvm_trace *trace = open_sample(*state);
	struct file plain = track(trace, 0), packed = track(trace, 1);
	struct virt_model *model = finish(&plain), *other = finish(&packed), *none = NULL;

	assert_int_equal(plain.n_packs, 0);
	assert_true(packed.n_packs > 0);
	assert_int_equal(count_events(packed.tracker), count_events(plain.tracker));
	same_model(model, other);
	virt_model_free(other);
	/* again, and for the last time */
	other = finish(&packed);
	same_model(model, other);
	virt_model_free(other);
	kvm_tracker_once(packed.tracker);
	other = finish(&packed);
	same_model(model, other);
	virt_model_free(other);
	assert_int_equal(count_events(packed.tracker), 0);
	assert_int_equal(kvm_tracker_finish(packed.tracker, packed.begin_ns, packed.end_ns, &none),
			 -EINVAL);
	assert_null(none);
	virt_model_free(model);
	kvm_tracker_free(plain.tracker);
	kvm_tracker_free(packed.tracker);
	kvm_trace_close(trace);
}

#define SAMPLE(file) \
	{ .name = (file), .test_func = test_sample, .initial_state = (void *)(uintptr_t)(file) }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed),
		SAMPLE("kvm-host.dat"),
		SAMPLE("kvm-nested.dat"),
		SAMPLE("kvm-nested-shift.dat"),
		SAMPLE("kvm-migration.dat"),
		SAMPLE("kvm-talk.dat"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
