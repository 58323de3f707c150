// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_waits.c
 * @brief	What vCPUs wait for: timelines made by hand, and windows of samples and of random
 *		timelines counted anew in the plainest way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enough.h"
#include "hand_model.h"
#include "sample_model.h"
#include "virt_waits.h"

#define NONE	VIRT_NONE

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static int32_t add_wake(struct virt_model *model, enum virt_wake_cause cause, int32_t who,
			int16_t vector)
{
	const struct virt_wake wake = { .cause = cause, .who = who, .vector = vector };
	int32_t number = virt_model_add_wake(model, &wake);

	assert_true(number >= 0);
	return number;
}

static void woken(struct virt_model *model, int32_t vcpu, int32_t wake)
{
	assert_int_equal(virt_model_woken(model, vcpu, wake), 0);
}

static struct virt_waits *ask(const struct virt_model *model, int64_t from, int64_t to,
			      int32_t vcpu)
{
	const struct virt_window_query query = { .from_ns = from, .to_ns = to };
	struct virt_waits *waits = virt_waits_new(model, &query, 0, vcpu);

	assert_non_null(waits);
	return waits;
}

/* ---- what a model takes ---- */

static void test_wakes(void **state)
{
	struct virt_model *model = with_vcpus(2);
	int32_t task = virt_model_add_task(model, 50, "qemu-50");
	int32_t timer = add_wake(model, VIRT_WAKE_TIMER, NONE, 0xec);
	static const struct virt_wake wrong[] = {
		{ .cause = VIRT_WAKE_OPEN, .who = NONE, .vector = NONE },
		{ .cause = VIRT_WAKE_VCPU, .who = 2, .vector = NONE },
		{ .cause = VIRT_WAKE_TASK, .who = VIRT_FIRST_TASK + 1, .vector = NONE },
		{ .cause = VIRT_WAKE_TASK, .who = -2, .vector = NONE },
		{ .cause = VIRT_WAKE_DEVICE, .who = NONE, .vector = -2 },
	};

	(void)state;
	assert_int_equal(add_wake(model, VIRT_WAKE_TIMER, NONE, 0xec), timer);
	assert_int_not_equal(add_wake(model, VIRT_WAKE_TIMER, NONE, 0xed), timer);
	assert_int_not_equal(add_wake(model, VIRT_WAKE_DEVICE, NONE, 0xec), timer);
	assert_int_not_equal(add_wake(model, VIRT_WAKE_TIMER, task, 0xec), timer);
	assert_int_equal(virt_model_wake(model, 3)->who, task);
	assert_null(virt_model_wake(model, 4));
	assert_null(virt_model_wake(model, NONE));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(virt_model_add_wake(model, &wrong[i]), -EINVAL);
	/* it has not waited yet */
	assert_int_equal(virt_model_woken(model, 0, timer), -EINVAL);
	set(model, 0, 10, VIRT_BLOCKED, 0, NONE, 0);
	assert_int_equal(virt_model_woken(model, 0, 4), -EINVAL);
	assert_int_equal(virt_model_woken(model, 0, -2), -EINVAL);
	assert_int_equal(virt_model_woken(model, 2, timer), -EINVAL);
	woken(model, 0, timer);
	set(model, 0, 20, VIRT_WAKING, 0, NONE, 0);
	/* the later word counts, also while it runs already */
	woken(model, 0, 3);
	set(model, 0, 30, VIRT_GUEST, 0, NONE, 0);
	woken(model, 0, timer);
	/* a wait that was none, as the same ns has another word */
	set(model, 0, 40, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 40, VIRT_GUEST, 0, NONE, 0);
	assert_int_equal(virt_model_woken(model, 0, timer), -EINVAL);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	assert_int_equal(virt_vcpu_at(model, 0, 10, NULL)->detail, timer);
	assert_int_equal(virt_vcpu_at(model, 0, 20, NULL)->detail, NONE);
	assert_int_equal(virt_model_woken(model, 0, timer), -EINVAL);
	assert_int_equal(virt_model_add_wake(model, virt_model_wake(model, timer)), -EINVAL);
	virt_model_free(model);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < VIRT_N_WAKES; i++)
		assert_non_null(virt_wake_cause_name((enum virt_wake_cause)i));
	assert_string_equal(virt_wake_cause_name(VIRT_WAKE_TIMER), "timer");
	assert_null(virt_wake_cause_name(VIRT_N_WAKES));
}

/* ---- by hand ---- */

/**
 * v0: blocked 100..200, 300..400 and 500..600, woken by a timer, v1 and the timer; then until the
 * trace ends. v1: blocked 0..150, with an unknown beginning and waker.
 */
static struct virt_model *one_life(void)
{
	struct virt_model *model = with_vcpus(2);
	int32_t timer = add_wake(model, VIRT_WAKE_TIMER, NONE, 0xec);
	int32_t vcpu = add_wake(model, VIRT_WAKE_VCPU, 1, 0xfd);

	set(model, 0, 10, VIRT_GUEST, 0, NONE, 0);
	for (int i = 0; i < 3; i++) {
		set(model, 0, 100 + 200 * i, VIRT_BLOCKED, 0, NONE, 0);
		set(model, 0, 200 + 200 * i, VIRT_WAKING, 0, NONE, 0);
		set(model, 0, 210 + 200 * i + 10 * i, VIRT_GUEST, 0, NONE, 0);
		woken(model, 0, i == 1 ? vcpu : timer);
	}
	set(model, 0, 700, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 1, 0, VIRT_BLOCKED, 1, NONE, 0);
	set(model, 1, 150, VIRT_WAKING, 1, NONE, 0);
	set(model, 1, 155, VIRT_GUEST, 1, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	return model;
}

static void test_rule(void **state)
{
	struct virt_model *model = one_life();
	struct virt_waits *waits = ask(model, 0, 1000, 0);

	(void)state;
	/* v0: two by the timer, one by v1, one that goes on */
	assert_int_equal(waits->all.blocked.ns, 600);
	assert_int_equal(waits->all.blocked.count, 4);
	assert_int_equal(waits->all.blocked.whole.count, 3);
	assert_int_equal(waits->all.wakes, 3);
	assert_int_equal(waits->causes[VIRT_WAKE_TIMER].blocked.ns, 200);
	assert_int_equal(waits->causes[VIRT_WAKE_TIMER].wakes, 2);
	assert_int_equal(waits->causes[VIRT_WAKE_TIMER].latency.min, 10);
	assert_int_equal(waits->causes[VIRT_WAKE_TIMER].latency.max, 30);
	assert_int_equal(waits->causes[VIRT_WAKE_VCPU].blocked.whole.p50, 100);
	assert_int_equal(waits->causes[VIRT_WAKE_OPEN].blocked.ns, 300);
	assert_int_equal(waits->causes[VIRT_WAKE_OPEN].blocked.whole.count, 0);
	assert_int_equal(waits->n_wakers, 3);
	assert_int_equal(waits->wakers[1].wake.who, 1);
	assert_int_equal(waits->wakers[1].wake.vector, 0xfd);
	assert_int_equal(waits->wakers[1].waited.latency.max, 20);
	virt_waits_free(waits);

	/* all of the machine: v1 was asleep already, which is no wait of this window */
	waits = ask(model, 0, 1000, NONE);
	assert_int_equal(waits->all.blocked.ns, 750);
	assert_int_equal(waits->causes[VIRT_WAKE_UNKNOWN].blocked.ns, 150);
	assert_int_equal(waits->causes[VIRT_WAKE_UNKNOWN].blocked.count, 0);
	assert_int_equal(waits->causes[VIRT_WAKE_UNKNOWN].blocked.before, 1);
	assert_int_equal(waits->causes[VIRT_WAKE_UNKNOWN].blocked.before_ns, NONE);
	assert_int_equal(waits->causes[VIRT_WAKE_UNKNOWN].latency.ns, 5);
	virt_waits_free(waits);

	/* the wait lies before the window, its wake-up is the first thing in it */
	waits = ask(model, 400, 420, 0);
	assert_int_equal(waits->all.blocked.ns, 0);
	assert_int_equal(waits->all.blocked.count, 0);
	assert_int_equal(waits->all.blocked.before, 0);
	assert_int_equal(waits->causes[VIRT_WAKE_VCPU].latency.ns, 20);
	virt_waits_free(waits);

	/* time is clipped, open waits are separate, a wake-up after the window is not of it */
	waits = ask(model, 350, 400, 0);
	assert_int_equal(waits->causes[VIRT_WAKE_VCPU].blocked.ns, 50);
	assert_int_equal(waits->causes[VIRT_WAKE_VCPU].blocked.before_ns, 50);
	assert_int_equal(waits->all.wakes, 0);
	virt_waits_free(waits);

	/* no window, and no vCPU */
	waits = ask(model, 2000, 3000, NONE);
	assert_int_equal(waits->n_wakers, 0);
	virt_waits_free(waits);
	waits = virt_waits_new(model, &(struct virt_window_query){ .to_ns = 1000 }, 1, NONE);
	assert_int_equal(waits->n_wakers, 0);
	virt_waits_free(waits);
	virt_model_free(model);
}

/** Where records are lost, the end of the wait has no known cause. */
static void test_lost(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct virt_waits *waits;

	(void)state;
	set(model, 0, 10, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 20, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 50, VIRT_UNKNOWN, 0, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	waits = ask(model, 0, 100, NONE);
	assert_int_equal(waits->causes[VIRT_WAKE_OPEN].blocked.ns, 30);
	assert_int_equal(waits->causes[VIRT_WAKE_UNKNOWN].blocked.ns, 0);
	virt_waits_free(waits);
	virt_model_free(model);
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

static void test_choice(void **state)
{
	struct virt_model *model = one_life();
	const bool chosen[] = { false, true };
	struct virt_window_query query = { .to_ns = 1000, .vcpus = chosen };
	struct virt_waits *waits = virt_waits_new(model, &query, 0, NONE);

	(void)state;
	assert_int_equal(waits->all.blocked.ns, 150);
	virt_waits_free(waits);
	waits = virt_waits_new(model, &query, 0, 0);
	assert_int_equal(waits->all.blocked.ns, 0);
	virt_waits_free(waits);
	query.stop = at_once;
	assert_null(virt_waits_new(model, &query, 0, NONE));
	virt_model_free(model);
}

/* ---- the plainest way ---- */

struct plain {
	int64_t		ns[VIRT_N_WAKES], longest[VIRT_N_WAKES], slowest[VIRT_N_WAKES];
	uint64_t	count[VIRT_N_WAKES], wakes[VIRT_N_WAKES];
};

/** A wait [start, end) from interval @i on, and the wake-up after it. */
static void count_plainly(const struct virt_model *model, struct virt_interval_range all,
			  size_t i, size_t last, int64_t from, int64_t to, struct plain *plain)
{
	int64_t start = all.first[i].start_ns;
	int64_t end = last + 1 < all.n ? all.first[last + 1].start_ns : all.end_ns;
	bool ended = last + 1 < all.n && all.first[last + 1].state != VIRT_UNKNOWN;
	bool begun = start > virt_model_begin(model) && all.first[i - 1].state != VIRT_UNKNOWN;
	int32_t detail = all.first[last].detail;
	int cause = !ended ? VIRT_WAKE_OPEN : detail == NONE ? VIRT_WAKE_UNKNOWN :
		    virt_model_wake(model, detail)->cause;
	size_t w = last + 1, w_end;

	for (int64_t t0 = start > from ? start : from, t1 = end < to ? end : to; t0 < t1; t0 = t1)
		plain->ns[cause] += t1 - t0;
	if (start >= from && start < to && start > virt_model_begin(model)) {
		plain->count[cause]++;
		if (begun && ended && end - start > plain->longest[cause])
			plain->longest[cause] = end - start;
	}
	if (!ended || all.first[w].state != VIRT_WAKING || end < from || end >= to)
		return;
	plain->wakes[cause]++;
	for (w_end = w; w_end < all.n && all.first[w_end].state == VIRT_WAKING; w_end++)
		;
	if (w_end < all.n && all.first[w_end].state != VIRT_UNKNOWN &&
	    all.first[w_end].start_ns - end > plain->slowest[cause])
		plain->slowest[cause] = all.first[w_end].start_ns - end;
}

static void check_window(const struct virt_model *model, int32_t machine, int32_t vcpu,
			 int64_t from, int64_t to)
{
	const struct virt_window_query query = { .from_ns = from, .to_ns = to };
	struct virt_waits *waits = virt_waits_new(model, &query, machine, vcpu);
	const struct virt_machine *info = virt_model_machine(model, machine);
	struct plain plain;
	int64_t blocked = 0, by_waker = 0;

	assert_non_null(waits);
	memset(&plain, 0, sizeof(plain));
	for (int32_t v = 0; v < info->n_vcpus; v++) {
		struct virt_interval_range all = virt_vcpu_intervals(model, info->vcpus[v],
								     INT64_MIN, INT64_MAX);
		struct virt_totals totals;
		size_t first = 0;

		if (vcpu != NONE && vcpu != info->vcpus[v])
			continue;
		virt_vcpu_totals(model, info->vcpus[v], from, to, &totals);
		blocked += totals.ns[VIRT_BLOCKED];
		for (size_t i = 0; i < all.n; i++) {
			if (i && all.first[i - 1].state != all.first[i].state)
				first = i;
			if (all.first[i].state == VIRT_BLOCKED &&
			    (i + 1 == all.n || all.first[i + 1].state != VIRT_BLOCKED))
				count_plainly(model, all, first, i, from, to, &plain);
		}
	}
	/* the law: causes add up to the time blocked, and so do those who woke */
	assert_int_equal(waits->all.blocked.ns, blocked);
	for (size_t i = 0; i < waits->n_wakers; i++)
		by_waker += waits->wakers[i].waited.blocked.ns;
	assert_int_equal(by_waker, blocked);
	for (int cause = 0; cause < VIRT_N_WAKES; cause++) {
		const struct virt_waited *waited = &waits->causes[cause];

		assert_int_equal(waited->blocked.ns, plain.ns[cause]);
		assert_int_equal(waited->blocked.count, plain.count[cause]);
		assert_int_equal(waited->blocked.whole.max, plain.longest[cause]);
		assert_int_equal(waited->wakes, plain.wakes[cause]);
		assert_int_equal(waited->latency.max, plain.slowest[cause]);
		blocked -= waited->blocked.ns;
	}
	assert_int_equal(blocked, 0);
	virt_waits_free(waits);
}

static void check_windows(const struct virt_model *model, int windows)
{
	int64_t begin = virt_model_begin(model), end = virt_model_end(model);

	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *info = virt_model_machine(model, m);

		check_window(model, m, NONE, begin, end);
		for (int i = 0; i < windows; i++) {
			int32_t vcpu = info->vcpus[rnd((uint64_t)info->n_vcpus)];
			struct virt_interval_range all = virt_vcpu_intervals(model, vcpu, begin,
									     end);
			int64_t from = begin + (int64_t)rnd((uint64_t)(end - begin));
			int64_t to = from + 1 + (int64_t)rnd((uint64_t)(end - begin) >> rnd(12));

			if (i % 3 == 0)
				from = all.first[rnd(all.n)].start_ns;
			if (i % 5 == 0)
				to = all.first[rnd(all.n)].start_ns;
			to = to > end ? end : to;
			if (from < to)
				check_window(model, m, rnd(2) ? vcpu : NONE, from, to);
		}
	}
}

static void test_samples(void **state)
{
	static const char *const samples[] = {
		"credit2-basic.xen", "hvm-io.xen", "lost-records.xen", "saved.xen",
		"kvm-host.dat", "kvm-nested.dat", "kvm-nosync.dat",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct virt_model *model = sample_model(samples[i]);

		check_windows(model, 60 / ENOUGH(4));
		virt_model_free(model);
	}
}

static struct virt_model *random_model(void)
{
	struct virt_model *model = with_vcpus(3);
	int32_t wakes[6];

	for (int i = 0; i < 6; i++)
		wakes[i] = add_wake(model, (enum virt_wake_cause)rnd(VIRT_WAKE_OPEN),
				    (int32_t)rnd(4) - 1, (int16_t)((int)rnd(3) - 1));
	for (int vcpu = 0; vcpu < 3; vcpu++) {
		for (int64_t t = (int64_t)rnd(40); t < 9000; t += (int64_t)rnd(9)) {
			enum virt_state state = (enum virt_state)(rnd(2) ? rnd(VIRT_N_STATES) :
						rnd(2) ? VIRT_BLOCKED : VIRT_WAKING);

			set(model, vcpu, t, state, (int16_t)rnd(3), NONE,
			    state == VIRT_BLOCKED && rnd(2) ? VIRT_INTERVAL_UNASKED : 0);
			if (rnd(3))
				virt_model_woken(model, vcpu, wakes[rnd(6)]);
		}
	}
	assert_int_equal(virt_model_finish(model, 10, 9000), 0);
	return model;
}

static void test_random(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct virt_model *model = random_model();

		check_windows(model, 60);
		virt_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
