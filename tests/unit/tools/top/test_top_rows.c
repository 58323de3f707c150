// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_top_rows.c
 * @brief	Rows of an interval: sums, order, what is open; and intervals that are added up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "top_rows.h"
#include "top_sum.h"

#define MACHINE(name_, id_)	.machine = (name_), .machine_id = (id_), .pcpu = VIRT_NONE
#define NO_LENGTHS		.complete = VIRT_NONE, .wake_ns = VIRT_NONE

/** Facts of a vCPU: guest and preempted, exits, a wake-up, a culprit. */
struct world {
	struct top_fact	facts[64];
	size_t		n;
};

static void add(struct world *world, struct top_fact fact)
{
	world->facts[world->n++] = fact;
}

static void add_machine(struct world *world, const char *name, int32_t id)
{
	add(world, (struct top_fact){ .kind = TOP_MACHINE_STATE, MACHINE(name, id),
				      .vcpu_id = VIRT_NONE, .name = "full_run", .ns = 5,
				      NO_LENGTHS });
}

static void add_vcpu(struct world *world, const char *machine, int32_t machine_id,
		     const char *name, int32_t id, int64_t guest_ns, int64_t steal_ns, int64_t p99)
{
	struct top_fact fact = { MACHINE(machine, machine_id), .vcpu = name, .vcpu_id = id,
				 .known_ns = guest_ns + steal_ns, NO_LENGTHS };

	fact.kind = TOP_STATE;
	for (int state = 0; state < VIRT_N_STATES; state++) {
		fact.id = state;
		fact.name = virt_state_name((enum virt_state)state);
		fact.ns = state == VIRT_GUEST ? guest_ns : state == VIRT_PREEMPTED ? steal_ns : 0;
		add(world, fact);
	}
	fact = (struct top_fact){ .kind = TOP_EXIT, MACHINE(machine, machine_id), .vcpu = name,
				  .vcpu_id = id, .name = "HLT", .id = 1, .count = 3 + id,
				  .complete = 3, .ns = 30, .wake_ns = VIRT_NONE };
	add(world, fact);
	fact.name = "IO";
	fact.id = 2;
	fact.count = 2;
	add(world, fact);
	fact = (struct top_fact){ .kind = TOP_WAKE, MACHINE(machine, machine_id), .vcpu = name,
				  .vcpu_id = id, .count = 3, .complete = 3, .ns = 2 * p99,
				  .wake_ns = p99 };
	add(world, fact);
	fact = (struct top_fact){ .kind = TOP_STEAL, MACHINE(machine, machine_id), .vcpu = name,
				  .vcpu_id = id, .name = "x", .id = 7, .ns = steal_ns,
				  .count = VIRT_NONE, NO_LENGTHS };
	add(world, fact);
}

static struct top_interval make(struct world *world)
{
	*world = (struct world){ 0 };
	add_machine(world, "a", 1);
	add_vcpu(world, "a", 1, "av0", 0, 60, 40, 9);
	add_vcpu(world, "a", 1, "av1", 1, 10, 90, 5);
	add_machine(world, "b", 2);
	add_vcpu(world, "b", 2, "bv0", 0, 99, 1, 50);
	add(world, (struct top_fact){ .kind = TOP_LOSS, .pcpu = 3, .machine_id = VIRT_NONE,
				      .vcpu_id = VIRT_NONE, .id = 3, .ns = 8, .count = 2,
				      NO_LENGTHS });
	return (struct top_interval){ .to_ns = 100, .facts = world->facts, .n = world->n };
}

/** Names of all rows, one behind the other. */
static const char *names(const struct top_rows *rows)
{
	static char text[512];

	*text = '\0';
	for (size_t i = 0; i < rows->n; i++) {
		strcat(text, rows->rows[i].name ? rows->rows[i].name : "-");
		strcat(text, " ");
	}
	return text;
}

static void test_sums(void **state)
{
	struct world world;
	struct top_interval interval = make(&world);
	struct top_view view = { 0 };
	struct top_rows rows = { 0 };
	uint8_t bar[20];

	(void)state;
	assert_int_equal(top_rows_make(&rows, &interval, &view), 0);
	assert_string_equal(names(&rows), "a av0 av1 b bv0 ");
	assert_int_equal(rows.rows[0].state_ns[VIRT_GUEST], 70);
	assert_int_equal(rows.rows[0].state_ns[VIRT_PREEMPTED], 130);
	assert_int_equal(rows.rows[0].all_ns, 200);
	assert_int_equal(rows.rows[0].exits, 3 + 2 + 4 + 2);
	assert_int_equal(rows.rows[0].wakes, 3 + 3);
	assert_int_equal(rows.rows[0].wake_ns, 9);
	assert_int_equal(rows.rows[2].exits, 6);
	assert_string_equal(rows.rows[2].reason, "HLT");
	assert_int_equal(rows.rows[2].reason_count, 4);
	assert_int_equal(rows.rows[0].culprit_ns, 90);
	assert_true(top_row_share(&rows.rows[1], VIRT_GUEST) == 0.6);
	assert_true(top_row_bar(&rows.rows[1], bar, 20));
	for (int i = 0; i < 20; i++)
		assert_int_equal(bar[i], i < 12 ? VIRT_GUEST : VIRT_PREEMPTED);
	rows.rows[1].all_ns = 0;
	assert_false(top_row_bar(&rows.rows[1], bar, 20));
	top_rows_free(&rows);
}

/** Shares refer to the known time, of unknown time to all; what is not recorded adds nothing. */
/** Exits that are counted for a machine alone are its own, and no vCPU's. */
static void test_exits_of_machine(void **state)
{
	struct top_fact exits = { .kind = TOP_EXIT, MACHINE("a", 1), .vcpu_id = VIRT_NONE,
				  .ns = VIRT_NONE, NO_LENGTHS };
	struct world world = { 0 };
	struct top_interval interval = { .to_ns = 100, .facts = world.facts };
	struct top_view view = { 0 };
	struct top_rows rows = { 0 };

	(void)state;
	add_machine(&world, "a", 1);
	exits.name = "io_exits";
	exits.count = 70;
	add(&world, exits);
	exits.name = "other exits";
	exits.count = 7;
	add(&world, exits);
	add_vcpu(&world, "a", 1, "av0", 0, 60, 40, 9);
	for (size_t i = 0; i < world.n; i++)
		if (world.facts[i].kind == TOP_EXIT && world.facts[i].vcpu)
			world.facts[i].count = VIRT_NONE;
	interval.n = world.n;
	assert_int_equal(top_rows_make(&rows, &interval, &view), 0);
	assert_string_equal(names(&rows), "a av0 ");
	assert_int_equal(rows.rows[0].exits, 77);
	assert_string_equal(rows.rows[0].reason, "io_exits");
	assert_int_equal(rows.rows[1].exits, VIRT_NONE);
	top_rows_free(&rows);
}

static void test_shares(void **state)
{
	struct world world = { 0 };
	struct top_interval interval;
	struct top_view view = { 0 };
	struct top_rows rows = { 0 };

	(void)state;
	add_machine(&world, "a", 1);
	add_vcpu(&world, "a", 1, "av0", 0, 60, 40, 9);
	for (size_t i = 0; i < world.n; i++) {
		struct top_fact *fact = &world.facts[i];

		if (fact->kind != TOP_STATE)
			continue;
		fact->known_ns = 120;	/* 20 of the unknown time: it had its pCPU */
		if (fact->id == VIRT_UNKNOWN)
			fact->ns = 100;
		else if (fact->id == VIRT_POLLING)
			fact->ns = VIRT_NONE;
	}
	interval = (struct top_interval){ .to_ns = 200, .facts = world.facts, .n = world.n };
	assert_int_equal(top_rows_make(&rows, &interval, &view), 0);
	assert_int_equal(rows.rows[1].all_ns, 200);
	assert_int_equal(rows.rows[1].known_ns, 120);
	assert_int_equal(rows.rows[1].state_ns[VIRT_POLLING], 0);
	assert_true(top_row_share(&rows.rows[1], VIRT_GUEST) == 0.5);
	assert_true(top_row_share(&rows.rows[1], VIRT_UNKNOWN) == 0.5);
	assert_true(top_row_share(&rows.rows[0], VIRT_GUEST) == 0.5);
	top_rows_free(&rows);
}

static void test_order(void **state)
{
	static const struct {
		enum top_sort	sort;
		bool		reversed;
		const char	*names;
	} orders[] = {
		{ TOP_SORT_NAME, true, "b bv0 a av1 av0 " },
		{ TOP_SORT_STEAL, false, "a av1 av0 b bv0 " },
		{ TOP_SORT_STEAL, true, "b bv0 a av0 av1 " },
		{ TOP_SORT_GUEST, false, "b bv0 a av0 av1 " },
		{ TOP_SORT_EXITS, false, "a av1 av0 b bv0 " },
		{ TOP_SORT_WAKE_NS, false, "b bv0 a av0 av1 " },
		/* all alike: as they are */
		{ TOP_SORT_BLOCKED, false, "a av0 av1 b bv0 " },
	};
	struct world world;
	struct top_interval interval = make(&world);
	struct top_rows rows = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct top_view view = { .sort = orders[i].sort, .reversed = orders[i].reversed };

		assert_int_equal(top_rows_make(&rows, &interval, &view), 0);
		assert_string_equal(names(&rows), orders[i].names);
	}
	top_rows_free(&rows);
}

static void test_open(void **state)
{
	struct world world;
	struct top_interval interval = make(&world);
	struct top_view view = { 0 };
	struct top_rows rows = { 0 };

	(void)state;
	top_rows_make(&rows, &interval, &view);
	assert_int_equal(top_view_toggle(&view, &rows.rows[3]), 0);
	assert_int_equal(top_view_toggle(&view, &rows.rows[1]), 0);
	top_rows_make(&rows, &interval, &view);
	/* states without time are not listed */
	assert_string_equal(names(&rows), "a av0 guest preempted HLT IO - x av1 b ");
	assert_true(rows.rows[1].is_open);
	assert_int_equal(rows.rows[2].kind, TOP_ROW_FACT);
	assert_ptr_equal(rows.rows[7].fact->name, rows.rows[7].name);
	top_view_toggle(&view, &rows.rows[1]);
	top_view_toggle(&view, &rows.rows[9]);
	top_rows_make(&rows, &interval, &view);
	assert_string_equal(names(&rows), "a av0 av1 b bv0 ");
	top_view_toggle_all(&view);
	top_rows_make(&rows, &interval, &view);
	assert_string_equal(names(&rows), "a b ");
	top_view_toggle(&view, &rows.rows[1]);
	top_rows_make(&rows, &interval, &view);
	assert_string_equal(names(&rows), "a b bv0 ");
	top_view_free(&view);
	top_rows_free(&rows);
}

/** A fact of another vCPU, machine or kind is another sum. */
static void test_added_up(void **state)
{
	struct world world;
	struct top_interval interval = make(&world);
	struct top_sum sum = { 0 };
	size_t n = interval.n;

	(void)state;
	for (int i = 0; i < 3; i++) {
		interval.from_ns = 100 * i;
		interval.to_ns = 100 * (i + 1);
		assert_int_equal(top_sum_add(&sum, &interval), 0);
	}
	assert_int_equal(sum.all.n, n);
	assert_int_equal(sum.all.from_ns, 0);
	assert_int_equal(sum.all.to_ns, 300);
	for (size_t i = 0; i < n; i++) {
		const struct top_fact *fact = &sum.all.facts[i], *one = &interval.facts[i];

		assert_int_equal(fact->kind, one->kind);
		assert_true(top_same_subject(fact, one));
		assert_int_equal(fact->ns, 3 * one->ns);
		assert_int_equal(fact->count, one->count == VIRT_NONE ? VIRT_NONE : 3 * one->count);
		assert_int_equal(fact->wake_ns, one->wake_ns);
		assert_true(!one->name || (fact->name != one->name &&
					   !strcmp(fact->name, one->name)));
	}
	/* of what does not happen any more there is no percentile, and the sum stays */
	world = (struct world){ 0 };
	add_machine(&world, "a", 1);
	add_machine(&world, "b", 2);
	interval.n = world.n;
	assert_int_equal(top_sum_add(&sum, &interval), 0);
	assert_int_equal(sum.all.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(sum.all.facts[i].wake_ns, VIRT_NONE);
	top_sum_free(&sum);
}

/** Sums of a machine that is no more are none; those of the others, and of pCPUs, go on. */
static void test_ended(void **state)
{
	struct world world, after = { 0 };
	struct top_interval interval = make(&world), next = { .from_ns = 100, .to_ns = 200 };
	struct top_sum sum = { 0 };

	(void)state;
	add_machine(&after, "b", 2);
	add_vcpu(&after, "b", 2, "bv0", 0, 99, 1, 50);
	next.facts = after.facts;
	next.n = after.n;
	assert_int_equal(top_sum_add(&sum, &interval), 0);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(top_sum_add(&sum, &next), 0);
		assert_int_equal(sum.all.n, after.n + 1);
		for (size_t f = 0; f < after.n; f++) {
			const struct top_fact *fact = &sum.all.facts[f], *one = &after.facts[f];

			assert_int_equal(fact->kind, one->kind);
			assert_true(top_same_subject(fact, one));
			assert_string_equal(fact->machine, "b");
			assert_int_equal(fact->ns, (1 + i) * one->ns);
		}
		assert_int_equal(sum.all.facts[after.n].kind, TOP_LOSS);
		assert_int_equal(sum.all.facts[after.n].ns, 8);
	}
	/* one that has its number later begins anew */
	assert_int_equal(top_sum_add(&sum, &interval), 0);
	assert_int_equal(sum.all.n, interval.n);
	assert_int_equal(sum.all.facts[0].ns, 5 * 5);
	for (size_t f = 0; f < sum.all.n; f++)
		if (sum.all.facts[f].machine_id == 1 && sum.all.facts[f].kind == TOP_MACHINE_STATE)
			assert_int_equal(sum.all.facts[f].ns, 5);
	top_sum_free(&sum);
}

/** The same names, but not the same machine: both are shown. */
static void test_namesakes(void **state)
{
	struct world world = { 0 };
	struct top_interval interval;
	struct top_sum sum = { 0 };
	struct top_view view = { 0 };
	struct top_rows rows = { 0 };

	(void)state;
	add_machine(&world, "web", 1);
	add_vcpu(&world, "web", 1, "v0", 0, 50, 50, 1);
	add_machine(&world, "web", 2);
	add_vcpu(&world, "web", 2, "v0", 0, 50, 50, 1);
	interval = (struct top_interval){ .to_ns = 100, .facts = world.facts, .n = world.n };
	assert_int_equal(top_sum_add(&sum, &interval), 0);
	assert_int_equal(sum.all.n, world.n);
	top_rows_make(&rows, &interval, &view);
	assert_string_equal(names(&rows), "web v0 web v0 ");
	assert_int_equal(rows.rows[2].all_ns, 100);
	top_rows_free(&rows);
	top_sum_free(&sum);
}

/** What was not recorded is no 0, in the vCPU's row and in the machine's. */
static void unknown_is_not_none(void **state)
{
	struct world world;
	struct top_interval interval = make(&world);
	struct top_view view = { 0 };
	struct top_rows rows = { 0 };

	(void)state;
	for (size_t i = 0; i < interval.n; i++) {
		struct top_fact *fact = &interval.facts[i];

		if (!fact->vcpu || strcmp(fact->vcpu, "av0") != 0)
			continue;
		if (fact->kind == TOP_STATE && fact->id == VIRT_HYPERVISOR)
			fact->ns = VIRT_NONE;
		if (fact->kind == TOP_EXIT || fact->kind == TOP_WAKE)
			fact->count = fact->ns = VIRT_NONE;
	}
	assert_int_equal(top_rows_make(&rows, &interval, &view), 0);
	assert_string_equal(rows.rows[0].name, "a");
	assert_string_equal(rows.rows[1].name, "av0");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rows.rows[i].unknown, 1U << VIRT_HYPERVISOR);
		assert_int_equal(rows.rows[i].exits, VIRT_NONE);
		assert_int_equal(rows.rows[i].wakes, VIRT_NONE);
	}
	assert_int_equal(rows.rows[2].unknown, 0);
	assert_int_equal(rows.rows[2].wakes, 3);
	top_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_is_not_none),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_exits_of_machine),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_added_up),
		cmocka_unit_test(test_namesakes),
		cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
