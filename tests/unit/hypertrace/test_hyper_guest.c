// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_hyper_guest.c
 * @brief	Timelines of guests, made by hand: who had the CPUs, what went on, what cannot be.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "hyper_guest.h"

#define BIT(field)	(UINT32_C(1) << (field))

static struct hyper_guest *guest;

static int begin(void **state)
{
	(void)state;
	guest = hyper_guest_new(2, (const int32_t[]){ 0, 1 });
	return guest ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	hyper_guest_free(guest);
	guest = NULL;
	return 0;
}

static void take(int32_t cpu, int64_t time, struct hyper_event event)
{
	event.label = "x";
	assert_int_equal(hyper_guest_take(guest, cpu, time, &event), 0);
}

static void switch_to(int32_t cpu, int64_t time, int32_t prev, int32_t next)
{
	take(cpu, time, (struct hyper_event){
		.kind = HYPER_SWITCH, .prev_pid = prev, .pid = next,
		.has = BIT(HYPER_F_PID) | BIT(HYPER_F_PREV_PID) });
}

static void slice(int32_t cpu, int64_t time, enum hyper_kind kind, enum hyper_edge edge,
		  int32_t number)
{
	take(cpu, time, (struct hyper_event){
		.kind = (uint8_t)kind, .edge = (uint8_t)edge, .number = number,
		.has = BIT(HYPER_F_NUMBER) });
}

/** A function, by an address and its depth. */
static void enter(int32_t cpu, int64_t time, uint64_t address, int32_t depth)
{
	take(cpu, time, (struct hyper_event){
		.kind = HYPER_FUNCTION, .edge = HYPER_ENTRY, .address = address, .depth = depth,
		.has = BIT(HYPER_F_ADDRESS) | BIT(HYPER_F_DEPTH) });
}

static void leave(int32_t cpu, int64_t time, uint64_t address, int32_t depth)
{
	take(cpu, time, (struct hyper_event){
		.kind = HYPER_FUNCTION, .edge = HYPER_EXIT, .address = address, .depth = depth,
		.value = 7,
		.has = BIT(HYPER_F_ADDRESS) | BIT(HYPER_F_DEPTH) | BIT(HYPER_F_VALUE) });
}

static void finish(int64_t time)
{
	assert_int_equal(hyper_guest_finish(guest, time), 0);
}

static void check_runs(int32_t cpu, const struct hyper_run *expected, size_t n)
{
	size_t there;
	const struct hyper_run *runs = hyper_guest_runs(guest, cpu, &there);

	assert_int_equal(there, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(runs[i].start_ns, expected[i].start_ns);
		assert_int_equal(runs[i].end_ns, expected[i].end_ns);
		assert_int_equal(runs[i].pid, expected[i].pid);
		assert_int_equal(runs[i].flags, expected[i].flags);
		assert_int_equal(runs[i].cpu, cpu);
	}
}

#define RUNS(cpu, ...)	do {								\
	const struct hyper_run runs_[] = { __VA_ARGS__ };				\
	check_runs(cpu, runs_, ARRAY_SIZE(runs_));					\
} while (0)
#define RUN(from, to, whose, ...)							\
	{ .start_ns = from, .end_ns = to, .pid = whose, __VA_ARGS__ }

static void check_slices(const struct hyper_slice *expected, size_t n)
{
	size_t there;
	const struct hyper_slice *slices = hyper_guest_slices(guest, &there);

	assert_int_equal(there, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(slices[i].start_ns, expected[i].start_ns);
		assert_int_equal(slices[i].end_ns, expected[i].end_ns);
		assert_int_equal(slices[i].what, expected[i].what);
		assert_int_equal(slices[i].depth, expected[i].depth);
		assert_int_equal(slices[i].pid, expected[i].pid);
		assert_int_equal(slices[i].flags, expected[i].flags);
		assert_int_equal(slices[i].parent, expected[i].parent);
	}
}

#define SLICES(...)	do {								\
	const struct hyper_slice slices_[] = { __VA_ARGS__ };				\
	check_slices(slices_, ARRAY_SIZE(slices_));					\
} while (0)
#define SLICE(from, to, it, deep, whose, around, ...)					\
	{ .start_ns = from, .end_ns = to, .what = it, .depth = deep, .pid = whose,	\
	  .parent = around, __VA_ARGS__ }

/** How long the slice of a number had a CPU. */
static int64_t slice_ns(size_t number, hyper_time_fn time, void *arg)
{
	struct hyper_sums *sums = hyper_sums_new(guest, time, arg);
	int64_t ns;
	size_t n;

	assert_non_null(sums);
	ns = hyper_sums_slice_ns(sums, &hyper_guest_slices(guest, &n)[number]);
	assert_true(number < n);
	hyper_sums_free(sums);
	return ns;
}

static void trouble(enum hyper_trouble which, uint64_t count, int64_t first_ns, int32_t cpu)
{
	const struct hyper_trouble_count *found = hyper_guest_trouble(guest, which);

	assert_int_equal(found->count, count);
	assert_int_equal(found->first_ns, first_ns);
	assert_int_equal(found->first_cpu, cpu);
}

static void no_trouble_but(uint32_t but)
{
	for (enum hyper_trouble i = 0; i < HYPER_N_TROUBLES; i++)
		if (!(but >> i & 1))
			assert_int_equal(hyper_guest_trouble(guest, i)->count, 0);
}

/* --- what is as it should be ------------------------------------------------------------------ */

static void test_tasks(void **state)
{
	size_t n;
	const struct hyper_run *const *runs;

	(void)state;
	switch_to(0, 10, 0, 100);
	switch_to(1, 15, 0, 200);
	switch_to(0, 30, 100, 0);
	switch_to(1, 40, 200, 100);
	switch_to(0, 50, 0, 200);
	finish(60);
	RUNS(0, RUN(10, 30, 100), RUN(30, 50, 0), RUN(50, 60, 200));
	RUNS(1, RUN(15, 40, 200), RUN(40, 60, 100));
	runs = hyper_guest_task_runs(guest, 100, &n);
	assert_int_equal(n, 2);
	assert_int_equal(runs[0]->start_ns, 10);
	assert_int_equal(runs[1]->cpu, 1);
	hyper_guest_task_runs(guest, 300, &n);
	assert_int_equal(n, 0);
	no_trouble_but(0);
}

static void test_names(void **state)
{
	struct hyper_event event = {
		.kind = HYPER_SWITCH, .pid = 100, .tgid = 99, .name = "init",
		.has = BIT(HYPER_F_PID) | BIT(HYPER_F_TGID) | BIT(HYPER_F_NAME),
	};
	size_t n;

	(void)state;
	take(0, 1, event);
	assert_string_equal(hyper_guest_task(guest, 100)->comm, "init");
	assert_int_equal(hyper_guest_task(guest, 100)->tgid, 99);
	/* the name in a wake-up may be cut: it is used only if no other is known */
	event.kind = HYPER_WAKEUP;
	strcpy(event.name, "in");
	take(0, 2, event);
	assert_string_equal(hyper_guest_task(guest, 100)->comm, "init");
	event.pid = 101;
	take(0, 3, event);
	assert_string_equal(hyper_guest_task(guest, 101)->comm, "in");
	event.kind = HYPER_COMM;
	strcpy(event.name, "bash");
	take(0, 4, event);
	assert_string_equal(hyper_guest_task(guest, 101)->comm, "bash");
	/* of the idle tasks, each has another one */
	event.pid = 0;
	take(0, 5, event);
	assert_string_equal(hyper_guest_task(guest, 0)->comm, "");
	assert_null(hyper_guest_task(guest, 102));
	assert_null(hyper_guest_task(guest, HYPER_NONE));
	finish(6);
	hyper_guest_tasks(guest, &n);
	assert_int_equal(n, 3);
	/* where a woken task will run is no CPU that the guest claims to be on */
	no_trouble_but(0);
}

/** What a task does stops while the task is out, and goes on on another CPU. */
static void test_functions(void **state)
{
	size_t n;
	const struct hyper_slice *slices;

	(void)state;
	switch_to(0, 10, 0, 100);
	enter(0, 20, 0xa, 0);
	enter(0, 30, 0xb, 1);
	switch_to(0, 40, 100, 101);
	enter(0, 45, 0xa, 0);
	switch_to(1, 60, 0, 100);
	leave(1, 70, 0xb, 1);
	leave(0, 75, 0xa, 0);
	leave(1, 80, 0xa, 0);
	finish(90);
	SLICES(SLICE(20, 80, 0xa, 0, 100, -1), SLICE(30, 70, 0xb, 1, 100, 0),
	       SLICE(45, 75, 0xa, 0, 101, -1));
	slices = hyper_guest_slices(guest, &n);
	assert_int_equal(slice_ns(0, NULL, NULL), 40);
	assert_int_equal(slice_ns(1, NULL, NULL), 20);
	assert_int_equal(slice_ns(2, NULL, NULL), 30);
	assert_true(slices[0].has_value);
	assert_int_equal(slices[0].value, 7);
	no_trouble_but(0);
}

/** Of a vCPU that is away every other ns. */
static int64_t half(void *arg, int32_t cpu, int64_t from_ns, int64_t to_ns)
{
	*(int32_t *)arg += 1 << 8 * cpu;
	return (to_ns - from_ns) / 2;
}

static void test_true_time(void **state)
{
	int32_t asked = 0;

	(void)state;
	switch_to(0, 10, 0, 100);
	enter(0, 20, 0xa, 0);
	switch_to(0, 40, 100, 0);
	switch_to(1, 60, 0, 100);
	leave(1, 80, 0xa, 0);
	finish(90);
	assert_int_equal(slice_ns(0, half, &asked), 20);
	/* of task 100, the first run for the sums; then the parts of both */
	assert_int_equal(asked, 0x102);
}

/** Without switches, what goes on belongs to its CPU. */
static void test_without_switches(void **state)
{
	(void)state;
	enter(0, 10, 0xa, 0);
	enter(1, 20, 0xa, 0);
	leave(0, 30, 0xa, 0);
	leave(1, 50, 0xa, 0);
	finish(60);
	SLICES(SLICE(10, 30, 0xa, 0, -1, -1), SLICE(20, 50, 0xa, 0, -1, -1));
	assert_int_equal(slice_ns(0, NULL, NULL), 20);
	no_trouble_but(0);
}

/** Each kind nests for itself: functions go on through system calls and interrupts. */
static void test_kinds(void **state)
{
	(void)state;
	switch_to(0, 1, 0, 100);
	enter(0, 10, 0xa, 0);
	slice(0, 20, HYPER_SYSCALL, HYPER_ENTRY, 60);
	leave(0, 30, 0xa, 0);
	slice(0, 40, HYPER_IRQ, HYPER_ENTRY, 19);
	slice(0, 45, HYPER_SOFTIRQ, HYPER_ENTRY, 1);
	slice(0, 48, HYPER_IRQ, HYPER_EXIT, 19);
	slice(0, 50, HYPER_SOFTIRQ, HYPER_EXIT, 1);
	slice(0, 60, HYPER_SYSCALL, HYPER_EXIT, 60);
	finish(70);
	SLICES(SLICE(10, 30, 0xa, 0, 100, -1), SLICE(20, 60, 60, 0, 100, -1),
	       SLICE(40, 48, 19, 0, -1, -1), SLICE(45, 50, 1, 0, -1, -1));
	no_trouble_but(0);
}

/** Levels last until the next one, on whichever CPU; a phase and the way down end them. */
static void test_levels(void **state)
{
	(void)state;
	slice(0, 10, HYPER_PHASE, HYPER_AT_ONCE, 0);
	slice(0, 20, HYPER_LEVEL, HYPER_AT_ONCE, 0);
	slice(1, 30, HYPER_LEVEL, HYPER_AT_ONCE, 1);
	slice(0, 40, HYPER_PHASE, HYPER_AT_ONCE, 0);
	slice(0, 60, HYPER_SHUTDOWN, HYPER_AT_ONCE, 104);
	slice(0, 80, HYPER_SHUTDOWN, HYPER_AT_ONCE, 105);
	slice(0, 85, HYPER_DEVICE, HYPER_ENTRY, 3);
	slice(0, 88, HYPER_DEVICE, HYPER_EXIT, 3);
	finish(90);
	SLICES(SLICE(10, 40, 0, 0, -1, -1), SLICE(20, 30, 0, 0, -1, -1),
	       SLICE(30, 40, 1, 0, -1, -1), SLICE(40, 60, 0, 0, -1, -1),
	       SLICE(60, 80, 104, 0, -1, -1), SLICE(80, 90, 105, 0, -1, -1, .flags = HYPER_NO_END),
	       SLICE(85, 88, 3, 0, -1, -1));
	no_trouble_but(0);
}

static void test_level_edges(void **state)
{
	struct hyper_event event = {
		.kind = HYPER_INITCALL, .edge = HYPER_ENTRY, .name = "acpi_init",
		.has = BIT(HYPER_F_NAME),
	};
	size_t n;

	(void)state;
	slice(0, 10, HYPER_LEVEL, HYPER_ENTRY, 4);
	take(0, 20, event);
	event.edge = HYPER_EXIT;
	take(0, 30, event);
	slice(0, 40, HYPER_LEVEL, HYPER_EXIT, 4);
	finish(50);
	SLICES(SLICE(10, 40, 4, 0, -1, -1), SLICE(20, 30, 0, 0, -1, -1));
	assert_string_equal(hyper_guest_name(guest, hyper_guest_slices(guest, &n)[1].name),
			    "acpi_init");
	assert_null(hyper_guest_name(guest, HYPER_NONE));
	assert_null(hyper_guest_name(guest, 1));
	no_trouble_but(0);
}

static void test_before(void **state)
{
	struct hyper_event event = {
		.kind = HYPER_SWITCH, .pid = 5, .before_ns = 30,
		.has = BIT(HYPER_F_PID) | BIT(HYPER_F_BEFORE),
	};

	(void)state;
	take(0, 100, event);
	event.before_ns = 10;
	event.pid = 6;
	take(0, 100, event);
	finish(110);
	RUNS(0, RUN(70, 90, 5), RUN(90, 110, 6));
	no_trouble_but(0);
}

/* --- what cannot be --------------------------------------------------------------------------- */

static void test_exit_alone(void **state)
{
	(void)state;
	leave(0, 10, 0xa, 0);
	leave(1, 20, 0xa, 0);
	finish(30);
	SLICES();
	trouble(HYPER_T_ALONE, 2, 10, 0);
	no_trouble_but(BIT(HYPER_T_ALONE));
}

static void test_other_exit(void **state)
{
	(void)state;
	enter(0, 10, 0xa, 0);
	enter(0, 20, 0xb, 1);
	leave(0, 30, 0xa, 0);
	leave(0, 40, 0xa, 0);
	finish(50);
	SLICES(SLICE(10, 30, 0xa, 0, -1, -1, .flags = HYPER_NO_END),
	       SLICE(20, 30, 0xb, 1, -1, 0, .flags = HYPER_NO_END));
	trouble(HYPER_T_OTHER, 1, 30, 0);
	trouble(HYPER_T_ALONE, 1, 40, 0);
}

static void test_lying_depth(void **state)
{
	(void)state;
	/* the depth of the first one is only known from its own record */
	enter(0, 10, 0xa, 3);
	enter(0, 20, 0xb, 5);
	leave(0, 30, 0xb, 4);
	finish(40);
	SLICES(SLICE(10, 20, 0xa, 3, -1, -1, .flags = HYPER_NO_END),
	       SLICE(20, 30, 0xb, 5, -1, -1, .flags = HYPER_NO_END));
	trouble(HYPER_T_DEPTH, 2, 20, 0);
	no_trouble_but(BIT(HYPER_T_DEPTH));
}

static int64_t count(void *arg, int32_t cpu, int64_t from_ns, int64_t to_ns)
{
	(void)cpu;
	++*(size_t *)arg;
	return to_ns - from_ns;
}

/**
 * Functions in functions while their task comes and goes: how often its runs are asked about is in
 * proportion to them and to the functions. Deeper than anything nests, it is a lie.
 */
static void test_deep(void **state)
{
	const int64_t n_runs = 5000, n_deep = 3 * HYPER_MAX_DEPTH + 1;
	struct hyper_sums *sums;
	size_t asked = 0, n;
	const struct hyper_slice *slices;

	(void)state;
	switch_to(0, 1, 0, 100);
	for (int64_t i = 0; i < n_deep; i++)
		slice(0, 10 + i, HYPER_INITCALL, HYPER_ENTRY, 1);
	for (int64_t i = 0; i < n_runs; i++) {
		switch_to(0, 10000 + 20 * i, 100, 0);
		switch_to(0, 10010 + 20 * i, 0, 100);
	}
	for (int64_t i = 0; i < 1000; i++)
		enter(0, 200000 + i, 0xa, (int32_t)i);
	finish(300000);
	trouble(HYPER_T_DEPTH, 3, 10 + HYPER_MAX_DEPTH, 0);
	no_trouble_but(BIT(HYPER_T_DEPTH));
	slices = hyper_guest_slices(guest, &n);
	assert_int_equal(n, n_deep + 1000);
	assert_int_equal(slices[HYPER_MAX_DEPTH - 1].depth, HYPER_MAX_DEPTH - 1);
	assert_int_equal(slices[HYPER_MAX_DEPTH].depth, 0);
	sums = hyper_sums_new(guest, count, &asked);
	assert_non_null(sums);
	for (size_t i = 0; i < n; i++)
		hyper_sums_slice_ns(sums, &slices[i]);
	assert_true(asked <= 2 * n + (size_t)n_runs + 1);
	/* the last one is open all the time but for the other's 10 ns each */
	assert_int_equal(hyper_sums_slice_ns(sums, &slices[n_deep - 1]),
			 300000 - (10 + n_deep - 1) - 10 * n_runs);
	hyper_sums_free(sums);
	hyper_sums_free(NULL);
}

/** System calls do not nest: one that is entered has left the last, whatever became of its exit. */
static void test_syscalls(void **state)
{
	(void)state;
	switch_to(0, 1, 0, 100);
	/* rt_sigreturn does not know its number any more when it returns */
	slice(0, 10, HYPER_SYSCALL, HYPER_ENTRY, 15);
	slice(0, 20, HYPER_SYSCALL, HYPER_EXIT, -1);
	slice(0, 30, HYPER_SYSCALL, HYPER_ENTRY, 60);
	slice(0, 40, HYPER_SYSCALL, HYPER_ENTRY, 1);
	slice(0, 50, HYPER_SYSCALL, HYPER_EXIT, 1);
	/* who dies does not come back */
	slice(0, 60, HYPER_SYSCALL, HYPER_ENTRY, 231);
	take(0, 70, (struct hyper_event){
		.kind = HYPER_SWITCH, .prev_pid = 100, .pid = 101, .prev_state = 0x20,
		.has = BIT(HYPER_F_PID) | BIT(HYPER_F_PREV_PID) | BIT(HYPER_F_PREV_STATE) });
	/* another of the same number */
	switch_to(0, 80, 101, 100);
	slice(0, 90, HYPER_SYSCALL, HYPER_ENTRY, 1);
	slice(0, 95, HYPER_SYSCALL, HYPER_EXIT, 1);
	finish(100);
	SLICES(SLICE(10, 20, 15, 0, 100, -1),
	       SLICE(30, 40, 60, 0, 100, -1, .flags = HYPER_NO_END),
	       SLICE(40, 50, 1, 0, 100, -1),
	       SLICE(60, 70, 231, 0, 100, -1, .flags = HYPER_NO_END),
	       SLICE(90, 95, 1, 0, 100, -1));
	no_trouble_but(0);
}

static void test_wrong_switch(void **state)
{
	(void)state;
	switch_to(0, 10, 0, 100);
	enter(0, 20, 0xa, 0);
	switch_to(0, 30, 77, 101);
	switch_to(0, 40, 101, 100);
	leave(0, 50, 0xa, 0);
	finish(60);
	RUNS(0, RUN(10, 30, 100, .flags = HYPER_NO_END), RUN(30, 40, 101), RUN(40, 60, 100));
	SLICES(SLICE(20, 30, 0xa, 0, 100, -1, .flags = HYPER_NO_END));
	trouble(HYPER_T_SWITCH, 1, 30, 0);
	trouble(HYPER_T_ALONE, 1, 50, 0);
}

static void test_twice(void **state)
{
	(void)state;
	switch_to(0, 10, 0, 100);
	switch_to(1, 20, 0, 100);
	finish(30);
	RUNS(0, RUN(10, 20, 100, .flags = HYPER_NO_END), RUN(20, 30, HYPER_NONE));
	RUNS(1, RUN(20, 30, 100));
	trouble(HYPER_T_TWICE, 1, 20, 1);
	no_trouble_but(BIT(HYPER_T_TWICE));
}

/** An entry or an exit of a function, @ns before the call that reports it. */
static void before(int64_t call, int64_t ns, enum hyper_edge edge)
{
	take(0, call, (struct hyper_event){
		.kind = HYPER_FUNCTION, .edge = (uint8_t)edge, .address = 0xb, .before_ns = ns,
		.has = BIT(HYPER_F_ADDRESS) | BIT(HYPER_F_BEFORE) });
}

static void test_backwards(void **state)
{
	(void)state;
	take(0, 100000, (struct hyper_event){ .kind = HYPER_START });
	enter(0, 100000, 0xa, 0);
	before(120000, 30000, HYPER_ENTRY);
	before(130000, -1, HYPER_ENTRY);
	before(140000, INT64_MAX, HYPER_ENTRY);
	finish(150000);
	SLICES(SLICE(100000, 100000, 0xa, 0, -1, -1, .flags = HYPER_NO_END),
	       SLICE(100000, 100000, 0xb, 0, -1, -1, .flags = HYPER_NO_END),
	       SLICE(100000, 100000, 0xb, 0, -1, -1, .flags = HYPER_NO_END),
	       SLICE(100000, 150000, 0xb, 0, -1, -1, .flags = HYPER_NO_END));
	trouble(HYPER_T_BACK, 3, 120000, 0);
}

/**
 * A vCPU that was away between the guest's look at its clock and the call: what the call reports
 * seems to be later than what the next one does. That is no lie, and takes no end from anything.
 */
static void test_late_call(void **state)
{
	(void)state;
	take(0, 100000, (struct hyper_event){ .kind = HYPER_START });
	before(2000000, 100000, HYPER_ENTRY);
	before(5000000, 10000, HYPER_EXIT);
	before(5100000, 1000000, HYPER_ENTRY);
	before(5100000, 50000, HYPER_EXIT);
	no_trouble_but(0);
	/* but it cannot be before the last but one was recorded, nor what is exact go back */
	before(5200000, 3100000, HYPER_ENTRY);
	trouble(HYPER_T_BACK, 1, 5200000, 0);
	enter(0, 5000000, 0xc, 1);
	finish(6000000);
	trouble(HYPER_T_BACK, 2, 5200000, 0);
	SLICES(SLICE(1900000, 4990000, 0xb, 0, -1, -1), SLICE(4990000, 5050000, 0xb, 0, -1, -1),
	       SLICE(5050000, 5050000, 0xb, 0, -1, -1, .flags = HYPER_NO_END),
	       SLICE(5050000, 6000000, 0xc, 1, -1, -1, .flags = HYPER_NO_END));
}

static void test_no_frequency(void **state)
{
	struct hyper_event event = {
		.kind = HYPER_FUNCTION, .edge = HYPER_ENTRY, .address = 0xb,
		.before_ns = HYPER_BEFORE_UNKNOWN, .has = BIT(HYPER_F_ADDRESS),
	};

	(void)state;
	take(0, 100, event);
	event.edge = HYPER_EXIT;
	take(0, 120, event);
	finish(130);
	SLICES(SLICE(100, 120, 0xb, 0, -1, -1));
	trouble(HYPER_T_CLOCK, 2, 100, 0);
	no_trouble_but(BIT(HYPER_T_CLOCK));
}

/** A host that begins later cannot know what was before its first calls. */
static void test_late_host(void **state)
{
	(void)state;
	before(5000000, 10000, HYPER_ENTRY);
	before(5100000, 1000000, HYPER_EXIT);
	finish(6000000);
	SLICES(SLICE(4990000, 4990000, 0xb, 0, -1, -1));
	no_trouble_but(0);
}

static void test_other_cpu(void **state)
{
	struct hyper_event event = {
		.kind = HYPER_SWITCH, .pid = 100, .cpu = 1,
		.has = BIT(HYPER_F_PID) | BIT(HYPER_F_CPU),
	};

	(void)state;
	take(1, 10, event);
	no_trouble_but(0);
	take(0, 20, event);
	trouble(HYPER_T_CPU, 1, 20, 0);
	assert_int_equal(hyper_guest_take(guest, 2, 30, &event), -EINVAL);
	assert_int_equal(hyper_guest_take(guest, -1, 30, &event), -EINVAL);
	assert_int_equal(hyper_guest_lost(guest, 2, 30, true), -EINVAL);
}

/* --- what is missing -------------------------------------------------------------------------- */

/** What a CPU did then is unknown; what goes on elsewhere is not touched. */
static void test_lost(void **state)
{
	(void)state;
	switch_to(0, 10, 0, 100);
	switch_to(1, 10, 0, 200);
	enter(0, 15, 0xa, 0);
	enter(1, 15, 0xb, 0);
	assert_int_equal(hyper_guest_lost(guest, 0, 30, true), 0);
	assert_int_equal(hyper_guest_lost(guest, 0, 50, false), 0);
	leave(0, 60, 0xa, 0);
	leave(1, 60, 0xb, 0);
	switch_to(0, 70, 100, 0);
	finish(80);
	RUNS(0, RUN(10, 30, 100), RUN(30, 70, HYPER_NONE), RUN(70, 80, 0));
	RUNS(1, RUN(10, 80, 200));
	SLICES(SLICE(15, 30, 0xa, 0, 100, -1, .flags = HYPER_NO_END),
	       SLICE(15, 60, 0xb, 0, 200, -1));
	trouble(HYPER_T_HOST, 1, 30, 0);
	trouble(HYPER_T_ALONE, 1, 60, 0);
}

/** A task that had no CPU may have come and gone unseen; one that leaves another then, too. */
static void test_lost_tasks(void **state)
{
	(void)state;
	switch_to(0, 1, 0, 100);
	enter(0, 5, 0xa, 0);
	switch_to(0, 10, 100, 0);
	switch_to(1, 10, 0, 200);
	enter(1, 15, 0xb, 0);
	enter(1, 16, 0xb, 1);
	assert_int_equal(hyper_guest_lost(guest, 0, 30, true), 0);
	switch_to(1, 40, 200, 201);
	enter(1, 42, 0xc, 0);
	assert_int_equal(hyper_guest_lost(guest, 0, 50, false), 0);
	switch_to(1, 60, 201, 100);
	leave(1, 65, 0xa, 0);
	switch_to(1, 70, 100, 201);
	leave(1, 75, 0xc, 0);
	finish(80);
	SLICES(SLICE(5, 30, 0xa, 0, 100, -1, .flags = HYPER_NO_END),
	       SLICE(15, 40, 0xb, 0, 200, -1, .flags = HYPER_NO_END),
	       SLICE(16, 40, 0xb, 1, 200, 1, .flags = HYPER_NO_END),
	       SLICE(42, 75, 0xc, 0, 201, -1));
	trouble(HYPER_T_ALONE, 1, 65, 1);
}

/** Who does not come back is looked at in the end. */
static void test_lost_for_good(void **state)
{
	(void)state;
	switch_to(0, 1, 0, 100);
	enter(0, 5, 0xa, 0);
	switch_to(0, 10, 100, 101);
	enter(0, 15, 0xb, 0);
	switch_to(0, 18, 101, 0);
	assert_int_equal(hyper_guest_lost(guest, 1, 20, true), 0);
	assert_int_equal(hyper_guest_lost(guest, 1, 25, false), 0);
	switch_to(0, 28, 0, 102);
	enter(0, 29, 0xc, 0);
	switch_to(0, 30, 102, 0);
	finish(80);
	SLICES(SLICE(5, 20, 0xa, 0, 100, -1, .flags = HYPER_NO_END),
	       SLICE(15, 20, 0xb, 0, 101, -1, .flags = HYPER_NO_END),
	       SLICE(29, 80, 0xc, 0, 102, -1, .flags = HYPER_NO_END));
}

static void test_guest_lost(void **state)
{
	(void)state;
	switch_to(0, 10, 0, 100);
	slice(1, 12, HYPER_LEVEL, HYPER_AT_ONCE, 3);
	enter(0, 20, 0xa, 0);
	take(0, 30, (struct hyper_event){ .kind = HYPER_LOST, .value = 5,
					  .has = BIT(HYPER_F_VALUE) });
	switch_to(0, 40, 7, 8);
	finish(50);
	RUNS(0, RUN(10, 30, 100, .flags = HYPER_NO_END), RUN(30, 40, HYPER_NONE), RUN(40, 50, 8));
	SLICES(SLICE(12, 30, 3, 0, -1, -1, .flags = HYPER_NO_END),
	       SLICE(20, 30, 0xa, 0, 100, -1, .flags = HYPER_NO_END));
	trouble(HYPER_T_LOST, 1, 30, 0);
	no_trouble_but(BIT(HYPER_T_LOST));
}

static void test_stop(void **state)
{
	(void)state;
	switch_to(0, 10, 0, 100);
	take(0, 20, (struct hyper_event){ .kind = HYPER_STOP });
	take(0, 40, (struct hyper_event){ .kind = HYPER_START });
	switch_to(0, 50, 7, 8);
	finish(60);
	/* up to where it stopped, it reported all */
	RUNS(0, RUN(10, 20, 100), RUN(20, 50, HYPER_NONE), RUN(50, 60, 8));
	no_trouble_but(0);
}

static void test_texts(void **state)
{
	(void)state;
	for (int i = 0; i < HYPER_N_TROUBLES; i++)
		assert_non_null(hyper_trouble_text((enum hyper_trouble)i));
	assert_true(hyper_is_of_task(HYPER_FUNCTION));
	assert_true(hyper_is_of_task(HYPER_INITCALL));
	assert_false(hyper_is_of_task(HYPER_IRQ));
	assert_false(hyper_is_of_task(HYPER_LEVEL));
	assert_false(hyper_is_of_task(HYPER_OTHER));
	assert_false(hyper_is_of_task(HYPER_PHASE));
	hyper_guest_free(NULL);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tasks), TEST(test_names), TEST(test_functions), TEST(test_true_time),
		TEST(test_without_switches), TEST(test_kinds), TEST(test_levels),
		TEST(test_level_edges), TEST(test_before), TEST(test_exit_alone),
		TEST(test_other_exit), TEST(test_lying_depth), TEST(test_deep),
		TEST(test_wrong_switch), TEST(test_syscalls),
		TEST(test_twice), TEST(test_backwards), TEST(test_late_call), TEST(test_late_host),
		TEST(test_no_frequency),
		 TEST(test_other_cpu), TEST(test_lost),
		TEST(test_lost_tasks), TEST(test_lost_for_good), TEST(test_guest_lost),
		TEST(test_stop), TEST(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
