/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handlers by kind, and the windows after injections in which they are possible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "array.h"
#include "clock_tracks.h"

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

#define MS	INT64_C(1000000)
#define US	INT64_C(1000)

#define TIMER	0xec
#define DEVICE	0x22
#define OTHER	0x30
#define CALLBACK 0xf3

/** The times of a track's handlers. */
static void check_times(const struct clock_tracks *tracks, int32_t track, const int64_t *times,
			size_t n)
{
	assert_int_equal(tracks->cpus[track].n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(tracks->cpus[track].times[i], times[i]);
}

static void check_windows(const struct clock_tracks *tracks, int32_t track,
			  const struct virt_clock_change *changes, size_t n)
{
	const struct virt_clock_vcpu *known = &tracks->vcpus[track].known;

	assert_int_equal(known->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(known->changes[i].time, changes[i].time);
		assert_int_equal(known->changes[i].where, changes[i].where);
	}
}

#define CHECK_TIMES(tracks, track, ...)								\
	do {											\
		static const int64_t wanted[] = { __VA_ARGS__ };				\
												\
		check_times(tracks, track, wanted, ARRAY_SIZE(wanted));				\
	} while (0)

#define CHECK_WINDOWS(tracks, track, ...)							\
	do {											\
		static const struct virt_clock_change wanted[] = { __VA_ARGS__ };		\
												\
		check_windows(tracks, track, wanted, ARRAY_SIZE(wanted));			\
	} while (0)

/** Two vCPUs, the second one idle, and two CPUs. */
static void make(struct clock_tracks *tracks, const struct virt_clock_vcpu *vcpu,
		 const struct virt_clock_cpu *a, const struct virt_clock_cpu *b)
{
	static const struct virt_clock_change idle[] = { { 0, OUT } };
	const struct virt_clock_vcpu vcpus[] = { { .changes = idle, .n = 1 }, *vcpu };
	const struct virt_clock_cpu cpus[] = { *a, *b };
	const struct virt_clock_problem problem = {
		.vcpus = vcpus, .n_vcpus = 2, .cpus = cpus, .n_cpus = 2,
	};

	assert_int_equal(clock_tracks_make(&problem, tracks), 0);
}

/** Each vector that is handled and injected is a kind; handlers of the others do not count. */
static void test_kinds(void **state)
{
	static const struct virt_clock_handler first[] = {
		{ 10, TIMER }, { 20, OTHER }, { 30, DEVICE }, { 40, TIMER }, { 50, 256 },
		{ 60, -3 },
	};
	static const struct virt_clock_handler second[] = { { 15, DEVICE }, { 25, DEVICE } };
	static const struct virt_injection injections[] = {
		{ .time_ns = 1, .vector = TIMER }, { .time_ns = 2, .vector = DEVICE },
		{ .time_ns = 3, .vector = 0x44 },
	};
	static const struct virt_clock_change changes[] = { { 0, IN }, { 5, OUT } };
	static const int64_t times[] = { 7, 8, 9 };
	const struct virt_clock_vcpu vcpu = {
		.changes = changes, .n = 2, .injections = injections, .n_injections = 3,
	};
	struct clock_tracks tracks;

	(void)state;
	make(&tracks, &vcpu, &(struct virt_clock_cpu){ .handlers = first, .n_handlers = 6 },
	     &(struct virt_clock_cpu){ .times = times, .n = 3, .handlers = second,
				       .n_handlers = 2 });
	/* events, devices, timers; OTHER is not injected, and 0x44 has no handler */
	assert_int_equal(tracks.stride, 3);
	assert_int_equal(tracks.cpus[0].n, 0);
	CHECK_TIMES(&tracks, 1, 30);
	CHECK_TIMES(&tracks, 2, 10, 40);
	CHECK_TIMES(&tracks, 3, 7, 8, 9);
	CHECK_TIMES(&tracks, 4, 15, 25);
	assert_int_equal(tracks.cpus[5].n, 0);
	/* the vCPU is as it was, and its kinds have tracks of their own */
	assert_int_equal(tracks.vcpus[0].known.n, 1);
	assert_ptr_equal(tracks.vcpus[3].known.changes, changes);
	assert_int_equal(tracks.vcpus[3].known.n, 2);
	clock_tracks_free(&tracks);
	assert_null(tracks.cpus);
	assert_null(tracks.vcpus);
	assert_int_equal(tracks.stride, 0);
}

/** A handler without a vector fits vectors that no handler has; a device's is not Linux's own. */
static void test_any(void **state)
{
	static const struct virt_clock_handler handlers[] = {
		{ 10, VIRT_CLOCK_ANY }, { 20, VIRT_CLOCK_DEVICE }, { 30, TIMER },
	};
	static const struct virt_clock_change changes[] = { { 0, IN }, { 50 * MS, UNKNOWN } };
	static const struct virt_injection injections[] = {
		{ .time_ns = 2 * MS, .vector = TIMER }, { .time_ns = 4 * MS, .vector = 0xef },
		{ .time_ns = 6 * MS, .vector = DEVICE }, { .time_ns = 8 * MS, .vector = CALLBACK },
		{ .time_ns = 10 * MS, .vector = VIRT_NONE },
	};
	const struct virt_clock_vcpu vcpu = {
		.changes = changes, .n = 2, .injections = injections, .n_injections = 5,
	};
	struct clock_tracks tracks;

	(void)state;
	make(&tracks, &vcpu, &(struct virt_clock_cpu){ .handlers = handlers, .n_handlers = 3 },
	     &(struct virt_clock_cpu){ 0 });
	assert_int_equal(tracks.stride, 4);
	/* devices: theirs, Xen's callback, and what is not known */
	CHECK_TIMES(&tracks, 1, 20);
	CHECK_WINDOWS(&tracks, 5, { 0, OUT }, { 6 * MS, IN }, { 7 * MS, OUT }, { 8 * MS, IN },
		      { 9 * MS, OUT }, { 10 * MS, IN }, { 11 * MS, OUT }, { 50 * MS, UNKNOWN });
	/* any: all but that of the timer, which has its vector */
	CHECK_TIMES(&tracks, 2, 10);
	CHECK_WINDOWS(&tracks, 6, { 0, OUT }, { 4 * MS, IN }, { 5 * MS, OUT }, { 6 * MS, IN },
		      { 7 * MS, OUT }, { 8 * MS, IN }, { 9 * MS, OUT }, { 10 * MS, IN },
		      { 11 * MS, OUT }, { 50 * MS, UNKNOWN });
	CHECK_TIMES(&tracks, 3, 30);
	CHECK_WINDOWS(&tracks, 7, { 0, OUT }, { 2 * MS, IN }, { 3 * MS, OUT },
		      { 50 * MS, UNKNOWN });
	clock_tracks_free(&tracks);
}

/**
 * A window lasts from an injection to 1 ms behind the first guest code after it, but not beyond
 * the next injection. What is not known of the vCPU is not known of its injections.
 */
static void test_windows(void **state)
{
	static const struct virt_clock_handler handlers[] = { { 10, TIMER } };
	static const struct virt_clock_change changes[] = {
		{ 1 * MS, IN }, { 10 * MS, OUT }, { 12 * MS, IN }, { 30 * MS, UNKNOWN },
		{ 40 * MS, IN }, { 50 * MS, UNKNOWN }, { 60 * MS, OUT }, { 70 * MS, IN },
		{ 80 * MS, OUT },
	};
	static const struct virt_injection injections[] = {
		{ .time_ns = 500 * US, .vector = TIMER },	/* before all */
		{ .time_ns = 5 * MS, .vector = TIMER },		/* while it runs */
		{ .time_ns = 11 * MS, .vector = TIMER },	/* while it does not */
		{ .time_ns = 20 * MS, .vector = TIMER },	/* another one follows */
		{ .time_ns = 20 * MS + 500 * US, .vector = OTHER },
		{ .time_ns = 29 * MS + 500 * US, .vector = TIMER }, /* it is lost from view */
		{ .time_ns = 35 * MS, .vector = TIMER },	/* nothing is known */
		{ .time_ns = 39 * MS + 700 * US, .vector = TIMER }, /* until it runs */
		{ .time_ns = 45 * MS, .vector = TIMER },	/* two at once */
		{ .time_ns = 45 * MS, .vector = TIMER },
		{ .time_ns = 79 * MS, .vector = TIMER },	/* up to where it stops */
		{ .time_ns = 90 * MS, .vector = TIMER },	/* it never runs again */
	};
	const struct virt_clock_vcpu vcpu = {
		.changes = changes, .n = ARRAY_SIZE(changes),
		.injections = injections, .n_injections = ARRAY_SIZE(injections),
	};
	struct clock_tracks tracks;

	(void)state;
	make(&tracks, &vcpu, &(struct virt_clock_cpu){ .handlers = handlers, .n_handlers = 1 },
	     &(struct virt_clock_cpu){ 0 });
	assert_int_equal(tracks.stride, 2);
	CHECK_WINDOWS(&tracks, 3, { 1 * MS, IN }, { 1500 * US, OUT }, { 5 * MS, IN },
		      { 6 * MS, OUT }, { 11 * MS, IN }, { 13 * MS, OUT }, { 20 * MS, IN },
		      { 20 * MS + 500 * US, OUT }, { 29 * MS + 500 * US, IN }, { 30 * MS, UNKNOWN },
		      { 40 * MS, IN }, { 40 * MS + 700 * US, OUT }, { 45 * MS, IN },
		      { 46 * MS, OUT }, { 50 * MS, UNKNOWN }, { 60 * MS, OUT }, { 79 * MS, IN },
		      { 80 * MS, OUT }, { 90 * MS, IN }, { 91 * MS, OUT });
	/* of the other vCPU, into which nothing is injected */
	CHECK_WINDOWS(&tracks, 1, { 0, OUT });
	/* both weigh the same: handlers run late now and then */
	assert_int_equal(tracks.vcpus[3].inside, tracks.vcpus[3].outside);
	clock_tracks_free(&tracks);
}

/** More kinds than there is room for: the first ones, whole. */
static void test_many(void **state)
{
	struct virt_clock_handler handlers[20];
	struct virt_injection injections[20];
	static const struct virt_clock_change changes[] = { { 0, IN }, { 100 * MS, UNKNOWN } };
	const struct virt_clock_vcpu vcpu = {
		.changes = changes, .n = 2, .injections = injections, .n_injections = 20,
	};
	struct clock_tracks tracks;

	(void)state;
	for (int i = 0; i < 20; i++) {
		handlers[i] = (struct virt_clock_handler){ i, 0x40 + i };
		injections[i] = (struct virt_injection){
			.time_ns = (2 + 2 * i) * MS, .vector = (int16_t)(0x40 + i),
		};
	}
	make(&tracks, &vcpu, &(struct virt_clock_cpu){ .handlers = handlers, .n_handlers = 20 },
	     &(struct virt_clock_cpu){ 0 });
	assert_int_equal(tracks.stride, 1 + CLOCK_IRQ_KINDS);
	for (int k = 1; k <= CLOCK_IRQ_KINDS; k++) {
		const struct virt_clock_change wanted[] = {
			{ 0, OUT }, { 2 * k * MS, IN }, { (2 * k + 1) * MS, OUT },
			{ 100 * MS, UNKNOWN },
		};

		assert_int_equal(tracks.cpus[k].n, 1);
		assert_int_equal(tracks.cpus[k].times[0], k - 1);
		check_windows(&tracks, tracks.stride + k, wanted, 4);
	}
	clock_tracks_free(&tracks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
