// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_locks.c
 * @brief	Who has a lock while another one waits for it, from waits made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "live_guest.h"

enum {
	RUN = VIRT_LIFE_E_RUN, WAKING = VIRT_LIFE_E_WAKING, END = VIRT_LIFE_E_END,
	SPINS = VIRT_LOCK_SPINS, WAKES = VIRT_LOCK_WAKES, SHARED = VIRT_LOCK_SHARED,
	OTHER = VIRT_LOCK_OTHER, UNKNOWN = -1,
};

/** @end: UNKNOWN; @failed: it ends without the lock */
struct waited {
	int	pid, cpu;
	int64_t	begin, end;
	int	lock, how, failed;
};

/** Of which wait, and which one gets the lock next, by indices in the order of virt_locks. */
struct held {
	size_t	wait, next;
	int	pid, cpu;
	int64_t	from, to;
};

static void wait_for(struct virt_guest *guest, const struct waited *waited, size_t n)
{
	struct virt_lock_wait *waits = calloc(n, sizeof(*waits));

	assert_non_null(waits);
	for (size_t i = 0; i < n; i++)
		waits[i] = (struct virt_lock_wait){
			.begin_ns = waited[i].begin, .lock = (uint64_t)waited[i].lock,
			.end_ns = waited[i].end == UNKNOWN ? VIRT_LOCK_NO_TIME : waited[i].end,
			.kind = "lock", .pid = waited[i].pid, .cpu = (int16_t)waited[i].cpu,
			.how = (uint8_t)waited[i].how, .has_failed = waited[i].failed,
		};
	assert_int_equal(virt_guest_set_locks(guest, waits, n), 0);
}

#define WAIT(guest, ...) do {							\
	static const struct waited waited_[] = { __VA_ARGS__ };			\
										\
	wait_for(guest, waited_, ARRAY_SIZE(waited_));				\
} while (0)

static void is_held(const struct virt_guest *guest, const struct held *held, size_t n)
{
	const struct virt_locks *locks = &guest->locks;

	assert_int_equal(locks->n_holds, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(locks->holds[i].wait, held[i].wait);
		assert_int_equal(locks->holds[i].next, held[i].next);
		assert_int_equal(locks->holds[i].pid, held[i].pid);
		assert_int_equal(locks->holds[i].cpu, held[i].cpu);
		assert_int_equal(locks->holds[i].from_ns, held[i].from);
		assert_int_equal(locks->holds[i].to_ns, held[i].to);
	}
}

#define HELD(guest, ...) do {							\
	static const struct held held_[] = { __VA_ARGS__ };			\
										\
	is_held(guest, held_, ARRAY_SIZE(held_));				\
} while (0)

/** Task 7 waits for a mutex, sleeps at 30, and is woken at 60 by @by; 8 and 9 execute. */
static struct virt_guest sleeper(int by)
{
	const struct made_event events[] = {
		{ 10, 0, RUN, 7, VIRT_LEFT_UNKNOWN, 0 },
		{ 30, 0, RUN, 9, VIRT_LEFT_ASLEEP, 0 },
		{ 60, 1, WAKING, 7, 0, by },
		{ 70, 0, RUN, 7, VIRT_LEFT_RUNNABLE, 0 },
		{ 90, 0, END, VIRT_NONE, 0, 0 },
		{ 10, 1, RUN, 8, VIRT_LEFT_UNKNOWN, 0 },
		{ 90, 1, END, VIRT_NONE, 0, 0 },
	};

	return live(events, ARRAY_SIZE(events));
}

/** The waker of the next one has had the lock, since that one slept or it got the lock itself. */
static void test_wakes(void **state)
{
	struct virt_guest guest = sleeper(8);

	(void)state;
	WAIT(&guest, { 7, 0, 20, 75, 1, WAKES, 0 });
	HELD(&guest, { 0, 0, 8, VIRT_NONE, 30, 60 });
	virt_guest_free(&guest);

	guest = sleeper(8);
	WAIT(&guest, { 8, 1, 35, 40, 1, WAKES, 0 }, { 7, 0, 20, 75, 1, WAKES, 0 });
	HELD(&guest, { 0, 0, 8, VIRT_NONE, 40, 60 });
	virt_guest_free(&guest);

	/* another one had it in between: it is certain only where it ends */
	guest = sleeper(8);
	WAIT(&guest, { 9, 0, 35, 40, 1, WAKES, 0 }, { 7, 0, 20, 75, 1, WAKES, 0 });
	HELD(&guest, { 0, 0, 8, VIRT_NONE, 59, 60 });
	virt_guest_free(&guest);
}

/** A waker that waits for the lock itself, a timer, a failure, an unknown end or kind: no one. */
static void test_wakes_unknown(void **state)
{
	struct virt_guest guest = sleeper(8);

	(void)state;
	WAIT(&guest, { 8, 1, 50, 80, 1, WAKES, 0 }, { 7, 0, 20, 75, 1, WAKES, 0 });
	assert_int_equal(guest.locks.n_holds, 0);
	virt_guest_free(&guest);

	guest = sleeper(0);
	WAIT(&guest, { 7, 0, 20, 75, 1, WAKES, 0 });
	assert_int_equal(guest.locks.n_holds, 0);
	virt_guest_free(&guest);

	guest = sleeper(8);
	WAIT(&guest, { 7, 0, 20, 75, 1, WAKES, 1 }, { 7, 0, 21, UNKNOWN, 2, WAKES, 0 },
	     { 7, 0, 22, 74, 3, OTHER, 0 }, { 6, 0, 20, 75, 1, WAKES, 0 });
	assert_int_equal(guest.locks.n_holds, 0);
	virt_guest_free(&guest);

	/* it does not sleep in this wait */
	guest = sleeper(8);
	WAIT(&guest, { 7, 0, 12, 20, 1, WAKES, 0 });
	assert_int_equal(guest.locks.n_holds, 0);
	virt_guest_free(&guest);
}

/** Others may have a semaphore together with the waker, or wake as they begin to wait. */
static void test_shared(void **state)
{
	struct virt_guest guest = sleeper(8);

	(void)state;
	WAIT(&guest, { 7, 0, 20, 75, 1, SHARED, 0 });
	HELD(&guest, { 0, 0, 8, VIRT_NONE, 59, 60 });
	virt_guest_free(&guest);

	guest = sleeper(8);
	WAIT(&guest, { 7, 0, 20, 75, 1, SHARED, 0 }, { 8, 1, 61, 80, 1, SHARED, 0 });
	assert_int_equal(guest.locks.n_holds, 0);
	virt_guest_free(&guest);

	guest = sleeper(8);
	WAIT(&guest, { 8, 1, 35, 40, 1, SHARED, 0 }, { 7, 0, 20, 75, 1, SHARED, 0 });
	HELD(&guest, { 0, 0, 8, VIRT_NONE, 40, 60 });
	virt_guest_free(&guest);
}

/** Of two CPUs, on which 7 and 8 execute; with @n_cpus, the trace shows as many. */
static struct virt_guest two_cpus(int n_cpus)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, VIRT_LEFT_UNKNOWN, 0 }, { 10, 1, RUN, 8, VIRT_LEFT_UNKNOWN, 0 });

	guest.n_cpus = n_cpus;
	guest.cpus = calloc((size_t)n_cpus, sizeof(*guest.cpus));
	assert_non_null(guest.cpus);
	for (int i = 0; i < n_cpus; i++) {
		guest.cpus[i].vcpu = i;
		guest.cpus[i].runs = calloc(2, sizeof(*guest.cpus[i].runs));
		assert_non_null(guest.cpus[i].runs);
		guest.cpus[i].runs[0] = (struct virt_guest_run){ .start_ns = 10, .pid = 7 + i };
		guest.cpus[i].runs[1] = (struct virt_guest_run){ .start_ns = 80, .pid = 0 };
		guest.cpus[i].n = 2;
	}
	return guest;
}

/** While one waits, the next ones are known; before, the other one of two CPUs has the lock. */
static void test_spins(void **state)
{
	struct virt_guest guest = two_cpus(2);

	(void)state;
	WAIT(&guest, { 7, 0, 20, 60, 1, SPINS, 0 });
	HELD(&guest, { 0, 0, 8, 1, 20, 60 });
	virt_guest_free(&guest);

	/* 8 gives it back, and wants it again */
	guest = two_cpus(2);
	WAIT(&guest, { 7, 0, 20, 60, 1, SPINS, 0 }, { 8, 1, 30, 70, 1, SPINS, 0 });
	HELD(&guest, { 0, 0, 8, 1, 20, 30 }, { 1, 1, 7, 0, 60, 70 });
	virt_guest_free(&guest);

	/* 8 is the next one, not the one that has it */
	guest = two_cpus(2);
	WAIT(&guest, { 7, 0, 20, 60, 1, SPINS, 0 }, { 8, 1, 15, 40, 1, SPINS, 0 });
	HELD(&guest, { 1, 1, 7, 0, 15, 20 }, { 0, 0, 8, 1, 40, 60 });
	virt_guest_free(&guest);

	/* another lock is another lock */
	guest = two_cpus(2);
	WAIT(&guest, { 7, 0, 20, 60, 1, SPINS, 0 }, { 8, 1, 30, 35, 2, SPINS, 0 });
	HELD(&guest, { 0, 0, 8, 1, 20, 60 }, { 1, 1, 7, 0, 30, 35 });
	virt_guest_free(&guest);
}

/** With more CPUs, or a switch of tasks, only what got the lock after a wait is known. */
static void test_spins_unknown(void **state)
{
	struct virt_guest guest = two_cpus(3);

	(void)state;
	WAIT(&guest, { 7, 0, 20, 60, 1, SPINS, 0 });
	assert_int_equal(guest.locks.n_holds, 0);
	virt_guest_free(&guest);

	guest = two_cpus(3);
	WAIT(&guest, { 7, 0, 20, 60, 1, SPINS, 0 }, { 8, 1, 30, 40, 1, SPINS, 0 },
	     { 9, 2, 30, 50, 1, SPINS, 0 });
	HELD(&guest, { 0, 2, 8, 1, 40, 50 }, { 2, 2, 8, 1, 40, 50 },
	     { 0, 0, 9, 2, 50, 60 });
	virt_guest_free(&guest);

	guest = two_cpus(2);
	WAIT(&guest, { 7, 0, 20, 85, 1, SPINS, 0 });
	assert_int_equal(guest.locks.n_holds, 0);
	virt_guest_free(&guest);
}

/** The shortest wait around a time, all in a window, and what is not there. */
static void test_queries(void **state)
{
	struct virt_guest guest = two_cpus(2);
	const struct virt_lock_wait *wait;
	const struct virt_lock_hold *hold;
	size_t at = 0, n = 0;

	(void)state;
	assert_null(virt_lock_wait_around(&guest.locks, 7, 25, 26));
	WAIT(&guest, { 7, 0, 20, 60, 1, WAKES, 0 }, { 7, 0, 24, 30, 2, SPINS, 0 },
	     { 7, 0, 62, UNKNOWN, 3, SPINS, 0 }, { 8, 1, 20, 30, 4, OTHER, 0 });
	wait = virt_lock_wait_around(&guest.locks, 7, 25, 26);
	assert_non_null(wait);
	assert_int_equal(wait->lock, 2);
	wait = virt_lock_wait_around(&guest.locks, 7, 40, 60);
	assert_non_null(wait);
	assert_int_equal(wait->lock, 1);
	assert_null(virt_lock_wait_around(&guest.locks, 7, 59, 61));
	assert_null(virt_lock_wait_around(&guest.locks, 9, 25, 26));
	while ((wait = virt_lock_next_wait(&guest.locks, 7, 0, 100, &at)))
		n++;
	assert_int_equal(n, 2);
	at = 0;
	hold = virt_lock_next_hold(&guest.locks, 29, 100, &at);
	assert_non_null(hold);
	assert_int_equal(hold->pid, 8);
	assert_int_equal(hold->wait, 1);
	assert_null(virt_lock_next_hold(&guest.locks, 29, 100, &at));
	at = 0;
	assert_null(virt_lock_next_hold(&guest.locks, 30, 100, &at));
	virt_guest_free(&guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_wakes_unknown),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_spins),
		cmocka_unit_test(test_spins_unknown),
		cmocka_unit_test(test_queries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
