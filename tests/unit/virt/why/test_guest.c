// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_guest.c
 * @brief	The lives of a guest's tasks, from events made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "live_guest.h"
#include "trace_builder.h"

/* short for tables */
enum {
	RUN = VIRT_LIFE_E_RUN, END = VIRT_LIFE_E_END, WAKING = VIRT_LIFE_E_WAKING,
	WAKEUP = VIRT_LIFE_E_WAKEUP, BORN = VIRT_LIFE_E_BORN, MIGRATE = VIRT_LIFE_E_MIGRATE,
	RUNNABLE = VIRT_LEFT_RUNNABLE, ASLEEP = VIRT_LEFT_ASLEEP, DEAD = VIRT_LEFT_DEAD,
	LOST = VIRT_LEFT_UNKNOWN, DISK = VIRT_LEFT_UNINTERRUPTIBLE, NONE = VIRT_NONE,
};

/** @by: who ended it, of BLOCKED */
struct expected {
	int64_t	start;
	int	state, cpu, by;
};

static void is_expected(const struct virt_guest *guest, int32_t pid,
			const struct expected *expected, size_t n)
{
	int32_t at = virt_guest_find(guest, pid);
	const struct virt_guest_task *task;
	size_t k = 0;

	assert_true(at > 0);
	task = &guest->tasks[at];
	for (size_t i = 0; i < task->n; i++) {
		const struct virt_life_interval *interval = &task->intervals[i];

		/* the first one may have no time */
		if (i + 1 < task->n && interval[1].start_ns == interval->start_ns)
			continue;
		assert_true(k < n);
		assert_int_equal(interval->start_ns, expected[k].start);
		assert_int_equal(interval->state, expected[k].state);
		assert_int_equal(interval->cpu, expected[k].cpu);
		if (interval->wake == NONE)
			assert_int_equal(expected[k].by, NONE);
		else
			assert_int_equal(guest->wakes[interval->wake].waker, expected[k].by);
		k++;
	}
	assert_int_equal(k, n);
}

#define IS(guest, pid, ...) do {						\
	static const struct expected expected_[] = { __VA_ARGS__ };		\
										\
	is_expected(guest, pid, expected_, ARRAY_SIZE(expected_));		\
} while (0)

/** Has a CPU, loses it to another task, gets it again, sleeps, is woken, dies. */
static void test_states(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 8, RUNNABLE, NONE },
		{ 30, 0, RUN, 7, ASLEEP, NONE }, { 40, 0, RUN, 0, ASLEEP, NONE },
		{ 50, 0, WAKING, 7, 0, 8 }, { 55, 0, WAKEUP, 7, 0, 9 },
		{ 60, 0, RUN, 7, RUNNABLE, NONE }, { 70, 0, RUN, 0, DEAD, NONE },
		{ 80, 0, END, NONE, LOST, NONE });

	(void)state;
	assert_int_equal(guest.begin_ns, 10);
	assert_int_equal(guest.end_ns, 80);
	assert_int_equal(guest.tasks[0].pid, 0);
	assert_int_equal(guest.tasks[0].n, 0);
	IS(&guest, 7, { 10, VIRT_LIFE_RUNS, 0, NONE }, { 20, VIRT_LIFE_PREEMPTED, 0, NONE },
	   { 30, VIRT_LIFE_RUNS, 0, NONE }, { 40, VIRT_LIFE_BLOCKED, 0, 8 },
	   { 50, VIRT_LIFE_WAKING, 0, NONE }, { 60, VIRT_LIFE_RUNS, 0, NONE },
	   { 70, VIRT_LIFE_ABSENT, 0, NONE });
	/* runnable since an unknown time; asleep to the end */
	IS(&guest, 8, { 10, VIRT_LIFE_UNKNOWN, NONE, NONE }, { 20, VIRT_LIFE_RUNS, 0, NONE },
	   { 30, VIRT_LIFE_BLOCKED, 0, NONE });
	assert_int_equal(virt_guest_find(&guest, 9), NONE);
	assert_int_equal(virt_life_at(&guest.tasks[virt_guest_find(&guest, 8)], 9), -1);
	assert_int_equal(virt_life_at(&guest.tasks[virt_guest_find(&guest, 8)], 25), 1);
	virt_guest_free(&guest);
}

/** A task whose first record is a wake-up has slept since all CPUs are known. */
static void test_first_seen(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 40, 0, WAKING, 9, 0, 7 },
		{ 45, 0, BORN, 11, 0, 7 }, { 50, 0, RUN, 9, RUNNABLE, NONE },
		{ 60, 0, RUN, 11, ASLEEP, NONE }, { 90, 0, END, NONE, LOST, NONE },
		{ 20, 1, RUN, 0, LOST, NONE }, { 22, 1, WAKING, 12, 0, 7 },
		{ 70, 1, END, NONE, LOST, NONE });

	(void)state;
	IS(&guest, 9, { 10, VIRT_LIFE_UNKNOWN, NONE, NONE }, { 20, VIRT_LIFE_BLOCKED, NONE, 7 },
	   { 40, VIRT_LIFE_WAKING, NONE, NONE }, { 50, VIRT_LIFE_RUNS, 0, NONE },
	   { 60, VIRT_LIFE_BLOCKED, 0, NONE });
	IS(&guest, 11, { 10, VIRT_LIFE_ABSENT, NONE, NONE }, { 45, VIRT_LIFE_WAKING, NONE, NONE },
	   { 60, VIRT_LIFE_RUNS, 0, NONE }, { 90, VIRT_LIFE_UNKNOWN, 0, NONE });
	IS(&guest, 12, { 10, VIRT_LIFE_UNKNOWN, NONE, NONE }, { 20, VIRT_LIFE_BLOCKED, NONE, 7 },
	   { 22, VIRT_LIFE_WAKING, NONE, NONE });
	virt_guest_free(&guest);
}

/** While records of a CPU are lost, only tasks on other ones are known; then its records count. */
static void test_lost(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 0, ASLEEP, NONE },
		{ 30, 0, RUN, NONE, LOST, NONE }, { 60, 0, RUN, 0, LOST, NONE },
		{ 80, 0, WAKING, 7, 0, 8 }, { 90, 0, RUN, 7, RUNNABLE, NONE },
		{ 100, 0, END, NONE, LOST, NONE },
		{ 10, 1, RUN, 8, LOST, NONE }, { 50, 1, RUN, 9, RUNNABLE, NONE },
		{ 70, 1, RUN, 8, RUNNABLE, NONE }, { 100, 1, END, NONE, LOST, NONE });
	const struct virt_guest_task *task;

	(void)state;
	IS(&guest, 7, { 10, VIRT_LIFE_RUNS, 0, NONE }, { 20, VIRT_LIFE_BLOCKED, 0, NONE },
	   { 30, VIRT_LIFE_UNKNOWN, 0, NONE }, { 80, VIRT_LIFE_WAKING, 0, NONE },
	   { 90, VIRT_LIFE_RUNS, 0, NONE }, { 100, VIRT_LIFE_UNKNOWN, 0, NONE });
	IS(&guest, 8, { 10, VIRT_LIFE_RUNS, 1, NONE }, { 50, VIRT_LIFE_UNKNOWN, 1, NONE },
	   { 70, VIRT_LIFE_RUNS, 1, NONE }, { 100, VIRT_LIFE_UNKNOWN, 1, NONE });
	/* known again: it was switched out where all is known */
	IS(&guest, 9, { 10, VIRT_LIFE_UNKNOWN, NONE, NONE }, { 50, VIRT_LIFE_RUNS, 1, NONE },
	   { 70, VIRT_LIFE_PREEMPTED, 1, NONE });
	task = &guest.tasks[virt_guest_find(&guest, 7)];
	assert_int_equal(task->intervals[virt_life_at(task, 40)].flags, VIRT_LIFE_LOST);
	assert_int_equal(task->intervals[virt_life_at(task, 85)].flags, 0);
	virt_guest_free(&guest);
}

/** A loss while a task has no records counts at its next record, or at the end. */
static void test_lost_asleep(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 8, ASLEEP, NONE },
		{ 30, 0, RUN, NONE, LOST, NONE }, { 40, 0, RUN, 8, LOST, NONE },
		{ 45, 0, WAKING, 9, 0, 8 }, { 50, 0, RUN, NONE, LOST, NONE },
		{ 60, 0, RUN, 8, LOST, NONE }, { 70, 0, END, NONE, LOST, NONE });

	(void)state;
	IS(&guest, 7, { 10, VIRT_LIFE_RUNS, 0, NONE }, { 20, VIRT_LIFE_BLOCKED, 0, NONE },
	   { 30, VIRT_LIFE_UNKNOWN, 0, NONE });
	IS(&guest, 9, { 10, VIRT_LIFE_UNKNOWN, NONE, NONE }, { 40, VIRT_LIFE_BLOCKED, NONE, 8 },
	   { 45, VIRT_LIFE_WAKING, NONE, NONE }, { 50, VIRT_LIFE_UNKNOWN, NONE, NONE });
	virt_guest_free(&guest);
}

/** Woken as it falls asleep: the waker is the one from before. */
static void test_race(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 30, 0, RUN, 0, ASLEEP, NONE },
		{ 50, 0, RUN, 7, RUNNABLE, NONE }, { 60, 0, RUN, 0, ASLEEP, NONE },
		{ 90, 0, END, NONE, LOST, NONE },
		{ 10, 1, RUN, 8, LOST, NONE }, { 20, 1, WAKING, 7, 0, 8 },
		{ 40, 1, WAKEUP, 7, 0, 9 }, { 55, 1, WAKING, 7, 0, 8 }, { 56, 1, WAKEUP, 7, 0, 8 },
		{ 70, 1, WAKEUP, 7, 0, 9 }, { 90, 1, END, NONE, LOST, NONE });

	(void)state;
	IS(&guest, 7, { 10, VIRT_LIFE_RUNS, 0, NONE }, { 30, VIRT_LIFE_BLOCKED, 0, 8 },
	   { 40, VIRT_LIFE_WAKING, 0, NONE }, { 50, VIRT_LIFE_RUNS, 0, NONE },
	   { 60, VIRT_LIFE_BLOCKED, 0, 9 }, { 70, VIRT_LIFE_WAKING, 0, NONE });
	virt_guest_free(&guest);
}

/** A state without a recorded end is unknown; so is a sleep without records of wake-ups. */
static void test_unknown(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 8, ASLEEP, NONE },
		{ 25, 0, WAKING, 9, 0, 8 }, { 30, 0, RUN, 7, ASLEEP, NONE },
		{ 40, 0, END, NONE, LOST, NONE });
	struct virt_guest silent = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 0, ASLEEP, NONE },
		{ 40, 0, END, NONE, LOST, NONE });
	struct virt_guest nothing = live(NULL, 0);

	(void)state;
	IS(&guest, 7, { 10, VIRT_LIFE_RUNS, 0, NONE }, { 20, VIRT_LIFE_UNKNOWN, 0, NONE },
	   { 30, VIRT_LIFE_RUNS, 0, NONE }, { 40, VIRT_LIFE_UNKNOWN, 0, NONE });
	IS(&silent, 7, { 10, VIRT_LIFE_RUNS, 0, NONE }, { 20, VIRT_LIFE_UNKNOWN, 0, NONE });
	assert_int_equal(nothing.n_tasks, 1);
	virt_guest_free(&guest);
	virt_guest_free(&silent);
	virt_guest_free(&nothing);
}

/** It may be moved while it waits; a clock that goes back does not. */
static void test_moved(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 8, RUNNABLE, NONE },
		{ 30, 0, MIGRATE, 7, 0, 1 }, { 25, 0, MIGRATE, 7, 0, 2 },
		{ 90, 0, END, NONE, LOST, NONE }, { 10, 1, RUN, 0, LOST, NONE },
		{ 40, 1, RUN, 7, RUNNABLE, NONE }, { 50, 1, MIGRATE, 7, 0, 0 },
		{ 90, 1, END, NONE, LOST, NONE });

	(void)state;
	IS(&guest, 7, { 10, VIRT_LIFE_RUNS, 0, NONE }, { 20, VIRT_LIFE_PREEMPTED, 0, NONE },
	   { 30, VIRT_LIFE_PREEMPTED, 2, NONE }, { 40, VIRT_LIFE_RUNS, 1, NONE },
	   { 90, VIRT_LIFE_UNKNOWN, 1, NONE });
	virt_guest_free(&guest);
}

/** Handlers and tasks by number; several guests one after the other. */
static void test_numbers(void **state)
{
	struct virt_guest all[] = {
		LIVE({ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 8, ASLEEP, NONE }),
		LIVE({ 10, 0, RUN, 5, LOST, NONE }, { 20, 0, RUN, 0, ASLEEP, NONE }),
	};
	struct virt_guests guests = { .all = all, .n = 2 };
	struct virt_guest_run runs[] = { { 10, 5, true }, { 20, 0, true }, { 30, NONE, true } };
	struct virt_guest_cpu cpu = { .vcpu = 3, .runs = runs, .n = 3 };
	int guest = -1;

	(void)state;
	assert_int_equal(virt_guests_number(&guests, 0, 2), VIRT_FIRST_GUEST_TASK + 2);
	assert_int_equal(virt_guests_number(&guests, 1, 1), VIRT_FIRST_GUEST_TASK + 4);
	assert_int_equal(virt_guests_number(&guests, 1, 2), NONE);
	assert_int_equal(virt_guests_number(&guests, 2, 0), NONE);
	assert_int_equal(virt_guests_task(&guests, VIRT_FIRST_GUEST_TASK + 4, &guest)->pid, 5);
	assert_int_equal(guest, 1);
	assert_null(virt_guests_task(&guests, VIRT_FIRST_GUEST_TASK + 5, NULL));
	assert_null(virt_guests_task(&guests, VIRT_FIRST_TASK, NULL));
	assert_null(virt_guests_task(NULL, VIRT_FIRST_GUEST_TASK, NULL));
	assert_null(virt_guests_cpu(&guests, 3, NULL));
	all[1].cpus = &cpu;
	all[1].n_cpus = 1;
	assert_ptr_equal(virt_guests_cpu(&guests, 3, &guest), &cpu);
	assert_int_equal(virt_guests_task_at(&guests, 3, 9), NONE);
	assert_int_equal(virt_guests_task_at(&guests, 3, 10), VIRT_FIRST_GUEST_TASK + 4);
	assert_int_equal(virt_guests_task_at(&guests, 3, 25), VIRT_FIRST_GUEST_TASK + 3);
	assert_int_equal(virt_guests_task_at(&guests, 3, 30), NONE);
	assert_int_equal(virt_guests_task_at(&guests, 4, 25), NONE);
	all[1].cpus = NULL;
	all[1].n_cpus = 0;
	assert_int_equal(virt_guest_handler(&all[0], "irq 1"), 0);
	assert_int_equal(virt_guest_handler(&all[0], "irq 2"), 1);
	assert_int_equal(virt_guest_handler(&all[0], "irq 1"), 0);
	virt_guest_free(&all[0]);
	virt_guest_free(&all[1]);
}

/** Of a window, the busiest first; idle is no task. */
static void test_busiest(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 8, ASLEEP, NONE },
		{ 50, 0, RUN, 9, ASLEEP, NONE }, { 70, 0, RUN, 0, ASLEEP, NONE },
		{ 99, 0, END, NONE, LOST, NONE });
	struct virt_guest_run runs[] = {
		{ 10, 7, true }, { 20, 8, true }, { 50, 9, true }, { 70, 0, true },
		{ 99, NONE, true },
	};
	struct virt_guest_cpu cpu = { .vcpu = 0, .runs = runs, .n = 5 };
	int32_t tasks[3];

	(void)state;
	guest.cpus = &cpu;
	guest.n_cpus = 1;
	assert_int_equal(virt_guest_busiest(&guest, 0, 100, tasks, 3), 3);
	assert_int_equal(guest.tasks[tasks[0]].pid, 8);
	assert_int_equal(guest.tasks[tasks[1]].pid, 9);
	assert_int_equal(guest.tasks[tasks[2]].pid, 7);
	assert_int_equal(virt_guest_busiest(&guest, 0, 100, tasks, 2), 2);
	assert_int_equal(guest.tasks[tasks[1]].pid, 9);
	assert_int_equal(virt_guest_busiest(&guest, 45, 60, tasks, 3), 2);
	assert_int_equal(guest.tasks[tasks[0]].pid, 9);
	assert_int_equal(virt_guest_busiest(&guest, 75, 90, tasks, 3), 0);
	assert_int_equal(virt_guest_busiest(&guest, 0, 100, tasks, 0), 0);
	guest.cpus = NULL;
	guest.n_cpus = 0;
	virt_guest_free(&guest);
}

/** A wait that no signal ends has a flag, another one does not; both end by a wake-up. */
static void test_uninterruptible(void **state)
{
	struct virt_guest guest = LIVE(
		{ 10, 0, RUN, 7, LOST, NONE }, { 20, 0, RUN, 0, DISK, NONE },
		{ 30, 0, WAKING, 7, 0, 8 }, { 35, 0, RUN, 7, RUNNABLE, NONE },
		{ 40, 0, RUN, 0, ASLEEP, NONE }, { 50, 0, WAKING, 7, 0, 8 },
		{ 55, 0, RUN, 7, RUNNABLE, NONE }, { 56, 0, WAKING, 7, 0, 9 },
		{ 60, 0, RUN, 0, DISK, NONE }, { 65, 0, WAKEUP, 7, 0, 8 },
		{ 80, 0, END, NONE, LOST, NONE });
	const struct virt_guest_task *task = &guest.tasks[virt_guest_find(&guest, 7)];

	(void)state;
	IS(&guest, 7, { 10, VIRT_LIFE_RUNS, 0, NONE }, { 20, VIRT_LIFE_BLOCKED, 0, 8 },
	   { 30, VIRT_LIFE_WAKING, 0, NONE }, { 35, VIRT_LIFE_RUNS, 0, NONE },
	   { 40, VIRT_LIFE_BLOCKED, 0, 8 }, { 50, VIRT_LIFE_WAKING, 0, NONE },
	   { 55, VIRT_LIFE_RUNS, 0, NONE }, { 60, VIRT_LIFE_BLOCKED, 0, 9 },
	   { 65, VIRT_LIFE_WAKING, 0, NONE });
	assert_int_equal(task->intervals[virt_life_at(task, 25)].flags, VIRT_LIFE_UNINTERRUPTIBLE);
	assert_int_equal(task->intervals[virt_life_at(task, 45)].flags, 0);
	assert_int_equal(task->intervals[virt_life_at(task, 62)].flags, VIRT_LIFE_UNINTERRUPTIBLE);
	virt_guest_free(&guest);
}

/* --- lives that go on: the same, though their past is forgotten ------------------------------ */

#define N_CPUS		3
#define N_EVENTS	24000
#define EACH		600	/* events between two looks */

static uint32_t random_below(uint32_t n)
{
	static uint64_t state = 1;

	return (uint32_t)(trace_random(&state) >> 33) % n;
}

/**
 * Tasks are born and die all the time; now and then, records are lost.
 * @on: who has each CPU; @dead: by pid
 */
static struct virt_life_event random_event(int64_t time_ns, int32_t on[N_CPUS], bool *dead)
{
	static const uint8_t kinds[] = {
		RUN, RUN, RUN, RUN, WAKING, WAKEUP, WAKEUP, MIGRATE, BORN,
	};
	static const uint8_t left[] = { RUNNABLE, ASLEEP, ASLEEP, DISK, DEAD, LOST };
	bool is_lost = !random_below(400);
	uint32_t first = 9 + (uint32_t)time_ns / 100;
	int32_t pid = (int32_t)(1 + (random_below(3) ? random_below(8) : first + random_below(3)));
	struct virt_life_event event = {
		.time_ns = time_ns, .cpu = (int16_t)random_below(N_CPUS),
		.kind = kinds[random_below(ARRAY_SIZE(kinds))],
		.left = left[random_below(ARRAY_SIZE(left))],
		.wake = { .waker = 1, .handler = VIRT_NONE, .cpu = (int16_t)random_below(N_CPUS),
			  .cause = VIRT_WAKE_TASK },
	};

	if (dead[pid]) {
		event.kind = BORN;
		dead[pid] = false;
	}
	event.pid = is_lost ? VIRT_NONE : event.kind == RUN && !random_below(4) ? 0 : pid;
	if (is_lost) {
		event.kind = RUN;
		event.left = LOST;
	}
	if (event.kind != RUN)
		return event;
	if (on[event.cpu] > 8 && !is_lost)
		event.left = DEAD;
	for (int i = 0; i < N_CPUS; i++)
		if (on[i] == event.pid)
			on[i] = 0;
	if (event.left == DEAD && on[event.cpu] > 0)
		dead[on[event.cpu]] = true;
	on[event.cpu] = event.pid;
	return event;
}

/** What a task does in [from, to) is the same in both; who is gone is dead, or unknown. */
static void same_life(const struct virt_guest_task *whole, const struct virt_guest *now,
		      int64_t from_ns, int64_t to_ns)
{
	int32_t at = virt_guest_find(now, whole->pid);

	for (ptrdiff_t i = virt_life_at(whole, from_ns); i < (ptrdiff_t)whole->n; i++) {
		const struct virt_life_interval *a = &whole->intervals[i < 0 ? 0 : i], *b;

		if (i < 0 || a->start_ns >= to_ns)
			continue;
		if (at < 0) {
			assert_true(a->state == VIRT_LIFE_ABSENT || a->state == VIRT_LIFE_UNKNOWN);
			continue;
		}
		b = &now->tasks[at].intervals[virt_life_at(&now->tasks[at], a->start_ns > from_ns ?
							   a->start_ns : from_ns)];
		/* of who was forgotten, less is known: not that it slept, or was not born */
		if (b->state == VIRT_LIFE_UNKNOWN && a->state >= VIRT_LIFE_BLOCKED)
			continue;
		assert_int_equal(a->state, b->state);
		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->cpu, b->cpu);
		assert_int_equal(a->flags, b->flags);
	}
}

static void test_now(void **state)
{
	struct virt_lives_now *lives = virt_lives_now_new(N_CPUS);
	struct virt_life_events events = { .n = 0 };
	int32_t most = 0, all = 0;
	int32_t on[N_CPUS] = { 0 };
	int64_t before_ns = 0;
	bool dead[N_EVENTS] = { false };

	(void)state;
	assert_non_null(lives);
	for (int64_t i = 1; i <= N_EVENTS; i++) {
		struct virt_life_event event = random_event(10 * i, on, dead);
		struct virt_guest whole = { .n_cpus = 0 }, now;

		assert_int_equal(virt_life_events_add(&events, &event), 0);
		assert_int_equal(virt_lives_now_take(lives, &event), 0);
		if (i % EACH)
			continue;
		assert_int_equal(virt_guest_live(&whole, &events), 0);
		assert_int_equal(virt_lives_now_show(lives, 10 * i + 5, &now), 0);
		for (int32_t t = 1; t < whole.n_tasks; t++)
			same_life(&whole.tasks[t], &now, before_ns, 10 * i + 5);
		most = now.n_tasks > most ? now.n_tasks : most;
		all = whole.n_tasks;
		free(now.tasks);
		virt_guest_free(&whole);
		before_ns = 10 * (i - random_below(EACH));
		assert_int_equal(virt_lives_now_forget(lives, before_ns), 0);
	}
	/* who is dead does not stay */
	assert_true(most < all / 2);
	free(events.all);
	virt_lives_now_free(lives);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_uninterruptible), cmocka_unit_test(test_first_seen),
		cmocka_unit_test(test_lost), cmocka_unit_test(test_lost_asleep),
		cmocka_unit_test(test_race), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_moved), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_busiest), cmocka_unit_test(test_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
