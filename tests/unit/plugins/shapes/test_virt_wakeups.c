// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_wakeups.c
 * @brief	Wake-ups: a timeline made by hand; samples, against a walk over all intervals.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "array.h"
#include "hand_model.h"
#include "sample_model.h"
#include "virt_wakeups.h"

#define MOST	64

/** A vCPU sleeps from @from to @to; @who wakes it, and it is on pCPU 0 after @wait ns, if ever. */
struct sleep {
	int64_t	from_ns, to_ns, wait_ns;
	int32_t	who;
};

static void sleeps(struct virt_model *model, const struct sleep *sleep)
{
	const struct virt_wake wake = {
		.who = sleep->who, .vector = VIRT_NONE, .cause = VIRT_WAKE_VCPU,
	};

	set(model, 0, sleep->from_ns, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	occupy(model, 0, sleep->from_ns, VIRT_NONE, true);
	if (sleep->who != VIRT_NONE)
		assert_int_equal(virt_model_woken(model, 0, virt_model_add_wake(model, &wake)), 0);
	if (sleep->wait_ns)
		set(model, 0, sleep->to_ns, VIRT_WAKING, 0, VIRT_NONE, 0);
	set(model, 0, sleep->to_ns + sleep->wait_ns, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 0, sleep->to_ns + sleep->wait_ns, 0, true);
}

/** vCPU 1 has pCPU 1 up to 60, a task from then on. */
static struct virt_model *timeline(void)
{
	struct virt_model *model = with_vcpus(2);
	int32_t task = virt_model_add_task(model, 7, "qemu-7");

	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 0, 0, 0, true);
	set(model, 1, 0, VIRT_GUEST, 1, VIRT_NONE, 0);
	occupy(model, 1, 0, 1, true);
	sleeps(model, &(struct sleep){ 10, 20, 5, 1 });
	sleeps(model, &(struct sleep){ 30, 40, 0, 1 });
	sleeps(model, &(struct sleep){ 50, 55, 0, VIRT_NONE });
	set(model, 1, 60, VIRT_PREEMPTED, 1, task, 0);
	occupy(model, 1, 60, task, true);
	sleeps(model, &(struct sleep){ 60, 70, 9, task });
	sleeps(model, &(struct sleep){ 80, 85, 1, 1 });
	/* woken, and it sleeps on before it has had a pCPU; then the trace ends */
	set(model, 0, 90, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_woken(model, 0, 0), 0);
	set(model, 0, 95, VIRT_WAKING, 0, VIRT_NONE, 0);
	set(model, 0, 97, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	return model;
}

static void by_hand(void **state)
{
	static const struct {
		int64_t	time_ns, run_ns;
		int32_t	who;
		int16_t	from, to;
	} expected[] = {
		{ 20, 25, 1, 1, 0 }, { 40, 40, 1, 1, 0 }, { 70, 79, VIRT_FIRST_TASK, 1, 0 },
		{ 85, 86, 1, VIRT_NONE, 0 }, { 95, 0, 1, VIRT_NONE, VIRT_NONE },
	};
	struct virt_model *model = timeline();
	struct virt_wakeup found[MOST];

	(void)state;
	assert_int_equal(virt_wakeups(model, NULL, 0, 0, 100, found, MOST), ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(found[i].vcpu, 0);
		assert_int_equal(found[i].time_ns, expected[i].time_ns);
		assert_int_equal(found[i].who, expected[i].who);
		assert_int_equal(found[i].from, expected[i].from);
		assert_int_equal(found[i].to, expected[i].to);
		if (expected[i].to != VIRT_NONE)
			assert_int_equal(found[i].run_ns, expected[i].run_ns);
		assert_int_equal(found[i].wait.state, VIRT_BLOCKED);
	}
	/* a wait counts where it ends: at the first moment of a window, not at its end */
	assert_int_equal(virt_wakeups(model, NULL, 0, 20, 40, found, MOST), 1);
	assert_int_equal(found[0].time_ns, 20);
	assert_int_equal(virt_wakeups(model, NULL, 0, 21, 40, found, MOST), 0);
	assert_int_equal(virt_wakeups(model, NULL, 0, 35, 41, found, MOST), 1);
	assert_int_equal(virt_wakeups(model, NULL, 0, 300, 400, found, MOST), 0);
	/* six waits end before 100, by any waker */
	assert_int_equal(virt_wakeups(model, NULL, 0, 0, 100, found, 6), 5);
	assert_int_equal(virt_wakeups(model, NULL, 0, 0, 100, found, 5), -E2BIG);
	assert_int_equal(virt_wakeups(model, NULL, 0, 0, 85, found, 4), 3);
	assert_int_equal(virt_wakeups(model, NULL, 0, 0, 85, found, 0), -E2BIG);
	virt_model_free(model);
}

/** The same, interval by interval. Return: how many waits end in the window. */
static int walk(const struct virt_model *model, int64_t from_ns, int64_t to_ns,
		struct virt_wakeup *found, int *n)
{
	int waits = 0;

	*n = 0;
	for (int32_t vcpu = 0; vcpu < virt_model_n_vcpus(model); vcpu++) {
		struct virt_interval_range all =
			virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
		int64_t asleep_ns = 0;

		for (size_t i = 0; i + 1 < all.n; i++) {
			const struct virt_interval *now = &all.first[i], *next = now + 1;
			const struct virt_wake *wake = virt_model_wake(model, now->detail);

			if (now->state != VIRT_BLOCKED)
				continue;
			asleep_ns += next->start_ns - now->start_ns;
			if (next->state == VIRT_BLOCKED)
				continue;
			if (asleep_ns && next->start_ns >= from_ns && next->start_ns < to_ns) {
				waits++;
				if (wake && wake->who != VIRT_NONE && *n < MOST)
					found[(*n)++] = (struct virt_wakeup){
						.time_ns = next->start_ns, .vcpu = vcpu,
						.who = wake->who,
					};
			}
			asleep_ns = 0;
		}
	}
	return waits;
}

static void of_samples(void **state)
{
	static const char *const samples[] = {
		"credit2-basic.xen", "hvm-io.xen", "lost-records.xen", "kvm-host.dat",
		"kvm-shared.dat",
	};
	int with_some = 0, too_many = 0;

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(samples); s++) {
		struct virt_model *model = sample_model(samples[s]);
		int64_t begin = virt_model_begin(model), length = virt_model_end(model) - begin;

		for (int parts = 1; parts <= 4096; parts *= 4) {
			for (int i = 0; i < (parts < 40 ? parts : 40); i++) {
				struct virt_wakeup found[MOST], wanted[MOST];
				int64_t from = begin + length / parts * i;
				int64_t to = from + length / parts;
				int n, waits = walk(model, from, to, wanted, &n);
				int got = virt_wakeups(model, NULL, 0, from, to, found, MOST);

				assert_int_equal(got, waits > MOST ? -E2BIG : n);
				too_many += got < 0;
				with_some += got > 0;
				for (int k = 0; k < got; k++) {
					assert_int_equal(found[k].time_ns, wanted[k].time_ns);
					assert_int_equal(found[k].vcpu, wanted[k].vcpu);
					assert_int_equal(found[k].who, wanted[k].who);
				}
			}
		}
		virt_model_free(model);
	}
	assert_true(with_some > 100);
	assert_true(too_many > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
