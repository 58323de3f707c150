/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The overview: which lanes are shown, by machine and by badness, folded and filtered; all vCPUs
 * of a machine in one lane; graphs that are put beside each other.
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
#include "virt_lanes.h"

#define MOST	300

static struct virt_lane few[] = {
	{ 0, 0, VIRT_NONE, "web", 0, false },
	{ 0, 0, 0, "webv0", 30, false },
	{ 0, 0, 1, "webv1", 10, false },
	{ 0, 1, VIRT_NONE, "DB", 0, false },
	{ 0, 1, 2, "DBv0", 30, false },
	{ 0, 1, 3, "DBv1", 90, false },
	{ 2, 0, VIRT_NONE, "web/inner", 0, false },
	{ 2, 0, 0, "web/innerv0", 0, false },
};

/** @wanted: digits, the numbers of the lanes. */
static void check(enum virt_lane_order order, const char *filter, const char *wanted)
{
	size_t shown[MOST], n = virt_lanes_show(few, ARRAY_SIZE(few), order, filter, shown);
	char got[MOST] = "";

	for (size_t i = 0; i < n; i++)
		got[i] = (char)('0' + shown[i]);
	assert_string_equal(got, wanted);
}

static void test_show(void **state)
{
	(void)state;
	check(VIRT_LANES_BY_MACHINE, "", "01234567");
	/* of equal ones the first; machines are no vCPUs */
	check(VIRT_LANES_BY_BADNESS, "", "51427");
	few[0].folded = true;
	check(VIRT_LANES_BY_MACHINE, "", "034567");
	check(VIRT_LANES_BY_BADNESS, "", "51427");
	/* all words, in any order and case, also of the machine's name */
	check(VIRT_LANES_BY_MACHINE, "v1", "0235");
	check(VIRT_LANES_BY_MACHINE, " V1  web ", "02");
	check(VIRT_LANES_BY_MACHINE, "db", "345");
	check(VIRT_LANES_BY_BADNESS, "db", "54");
	check(VIRT_LANES_BY_MACHINE, "web/", "67");
	check(VIRT_LANES_BY_MACHINE, "nothing", "");
	check(VIRT_LANES_BY_MACHINE, "   ", "034567");
	few[0].folded = false;
	assert_int_equal(virt_lanes_show(few, 0, VIRT_LANES_BY_MACHINE, "", NULL), 0);
}

static void test_filter(void **state)
{
	(void)state;
	assert_true(virt_lane_matches("webv12", ""));
	assert_true(virt_lane_matches("webv12", "V12"));
	assert_true(virt_lane_matches("webv12", "12 web"));
	assert_false(virt_lane_matches("webv12", "web v13"));
	assert_false(virt_lane_matches("", "x"));
}

/** 240 vCPUs of 20 machines: in both orders each one once. */
static void test_many(void **state)
{
	static struct virt_lane lanes[MOST];
	static char names[MOST][32];
	size_t shown[MOST], n = 0, n_shown;

	(void)state;
	for (int m = 0; m < 20; m++) {
		lanes[n] = (struct virt_lane){ 0, m, VIRT_NONE, names[n], 0, false };
		snprintf(names[n++], sizeof(names[0]), "d%d", m);
		for (int v = 0; v < 12; v++, n++) {
			lanes[n] = (struct virt_lane){ 0, m, m * 12 + v, names[n],
						       (m * 7 + v * 31) % 50, false };
			snprintf(names[n], sizeof(names[0]), "d%dv%d", m, v);
		}
	}
	n_shown = virt_lanes_show(lanes, n, VIRT_LANES_BY_BADNESS, "", shown);
	assert_int_equal(n_shown, 240);
	for (size_t i = 1; i < n_shown; i++) {
		assert_true(lanes[shown[i - 1]].bad_ns >= lanes[shown[i]].bad_ns);
		assert_true(lanes[shown[i - 1]].bad_ns > lanes[shown[i]].bad_ns ||
			    shown[i - 1] < shown[i]);
	}
	assert_int_equal(virt_lanes_show(lanes, n, VIRT_LANES_BY_MACHINE, "", shown), 260);
	/* d7, d17 with their vCPUs */
	assert_int_equal(virt_lanes_show(lanes, n, VIRT_LANES_BY_MACHINE, "d17v", shown), 13);
	assert_int_equal(virt_lanes_show(lanes, n, VIRT_LANES_BY_BADNESS, "v11", shown), 20);
}

/** Two vCPUs: one preempted and waking for a while. */
static struct virt_model *new_model(void)
{
	struct virt_model *model = virt_model_new();

	assert_non_null(model);
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 100, "d1v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 1, 101, "d1v1"), 1);
	virt_model_set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 100, VIRT_PREEMPTED, 0, 1, 0);
	virt_model_set(model, 0, 150, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 200, VIRT_WAKING, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 230, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 1, 0, VIRT_BLOCKED, 1, VIRT_NONE, 0);
	virt_model_set(model, 1, 100, VIRT_GUEST, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 400), 0);
	return model;
}

static void test_model(void **state)
{
	struct virt_model *model = new_model();
	struct virt_shade_window window = { 0, 100, 4, 10 };
	struct virt_shade_run runs[4];

	(void)state;
	assert_int_equal(virt_lane_badness(model, 0, 0, 400), 80);
	assert_int_equal(virt_lane_badness(model, 0, 120, 210), 40);
	assert_int_equal(virt_lane_badness(model, 1, 0, 400), 0);
	assert_int_equal(virt_lane_badness(model, 7, 0, 400), 0);

	/* guest and blocked; preempted, blocked, guest; waking, guest; guest */
	assert_int_equal(virt_shade_machine(model, 0, &window, runs), 4);
	assert_int_equal(runs[0].parts[VIRT_GUEST], 5);
	assert_int_equal(runs[0].parts[VIRT_BLOCKED], 5);
	assert_int_equal(runs[1].parts[VIRT_GUEST], 5);
	assert_in_range(runs[1].parts[VIRT_PREEMPTED], 2, 3);
	assert_in_range(runs[1].parts[VIRT_BLOCKED], 2, 3);
	assert_in_range(runs[2].parts[VIRT_WAKING], 1, 2);
	assert_int_equal(runs[3].parts[VIRT_GUEST], 10);
	/* beyond the trace, and no such machine */
	window.from_ns = 1000;
	assert_int_equal(virt_shade_machine(model, 0, &window, runs), 1);
	assert_int_equal(runs[0].parts[VIRT_UNKNOWN], 10);
	window.from_ns = 0;
	assert_int_equal(virt_shade_machine(model, 5, &window, runs), 1);
	assert_int_equal(runs[0].parts[VIRT_UNKNOWN], 10);
	virt_model_free(model);
}

static void check_plots(const struct virt_plots *plots, const int *wanted, size_t n)
{
	int ids[32];

	assert_int_equal(virt_plots_arrange(plots, ids), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ids[i], wanted[i]);
}

static void test_plots(void **state)
{
	static const int first[] = { 20, 30, 20 }, shown[] = { 10, 30, 40, 50 };
	static const int gone[] = { 40, 30 }, last[] = { 10 };
	struct virt_plots plots = { first, 2, shown, 4, NULL, 0, NULL, 0 };

	(void)state;
	/* victim and culprit at the top, each once */
	check_plots(&plots, (const int[]){ 20, 30, 10, 40, 50 }, 5);
	plots.n_first = 3;
	check_plots(&plots, (const int[]){ 20, 30, 10, 40, 50 }, 5);
	/* those brought before go, unless they are wanted again */
	plots.brought = gone;
	plots.n_brought = 2;
	check_plots(&plots, (const int[]){ 20, 30, 10, 50 }, 4);
	/* the pCPU next to them */
	plots = (struct virt_plots){ NULL, 0, shown, 4, NULL, 0, last, 1 };
	check_plots(&plots, (const int[]){ 30, 40, 50, 10 }, 4);
	plots = (struct virt_plots){ 0 };
	check_plots(&plots, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_plots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
