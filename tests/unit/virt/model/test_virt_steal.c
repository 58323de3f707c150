// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_steal.c
 * @brief	The kinds of steal on a timeline made by hand: each kind, and cut at any time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "hand_model.h"
#include "virt_limits.h"
#include "virt_steal.h"

#define END	200

/** Of vCPU 0, moment by moment: 'r' runs, else the kind of its steal. */
static const char kinds_at[] =
	"rrrrrrrrrr" "mmmmmmmmmm" "hhhhh" "ooo" "oooo" "nnnnnn" "uu" "mmmmm" "uuuuuuuuu" "r";

/**
 * vCPU 0 is of one machine with vCPU 1, vCPU 2 of another one. vCPU 0 waits for pCPU 0, then for
 * one that is unknown.
 */
static struct virt_model *all_kinds(const struct virt_hold *holds, size_t n)
{
	struct virt_model *model = with_vcpus(2);
	int32_t other = virt_model_add_machine(model, 2, "d2"), io, vhost, sh;

	assert_int_equal(virt_model_add_vcpu(model, other, 0, 30000, "w"), 2);
	io = virt_model_add_task(model, 11, "IO x-11");
	vhost = virt_model_add_task(model, 12, "vhost-9-12");
	sh = virt_model_add_task(model, 13, "sh-13");
	assert_int_equal(virt_model_own_task(model, io, 0, "d1", VIRT_THREAD_IOTHREAD,
					     VIRT_THREAD_OF_ROW), 0);
	assert_int_equal(virt_model_own_task(model, vhost, other, "d2", VIRT_THREAD_VHOST,
					     VIRT_THREAD_OF_NAME), 0);
	occupy(model, 0, 0, 0, true);
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 0, 10, 2, true);
	set(model, 0, 10, VIRT_PREEMPTED, 0, 2, 0);
	occupy(model, 0, 20, sh, true);
	occupy(model, 0, 25, 1, true);
	occupy(model, 0, 28, io, true);
	occupy(model, 0, 32, VIRT_NONE, true);
	occupy(model, 0, 38, VIRT_NONE, false);
	occupy(model, 0, 40, vhost, true);
	set(model, 0, 45, VIRT_PREEMPTED, VIRT_NONE, VIRT_NONE, 0);
	occupy(model, 0, 54, 0, true);
	set(model, 0, 54, VIRT_GUEST, 0, VIRT_NONE, 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(virt_model_add_hold(model, 0, &holds[i]), 0);
	assert_int_equal(virt_model_finish(model, 0, END), 0);
	return model;
}

static void split(const struct virt_model *model, int64_t from, int64_t to,
		  int64_t ns[VIRT_STEAL_N_KINDS])
{
	struct virt_culprit culprits[16];
	size_t n = virt_vcpu_culprits(model, 0, from, to, culprits, 16);

	assert_in_range(n, 0, 16);
	virt_steal_split(model, 0, from, to, culprits, n, ns);
}

static bool is_held(const struct virt_hold *holds, size_t n, int64_t time_ns)
{
	for (size_t i = 0; i < n; i++)
		if (time_ns >= holds[i].from_ns && time_ns < holds[i].to_ns && !holds[i].possible)
			return true;
	return false;
}

static void check_windows(const struct virt_hold *holds, size_t n)
{
	static const char letters[] = "mholnu";
	struct virt_model *model = all_kinds(holds, n);

	for (int from = -3; from < 60; from++) {
		for (int to = from; to < 60; to++) {
			int64_t ns[VIRT_STEAL_N_KINDS], wanted[VIRT_STEAL_N_KINDS] = { 0 };

			for (int at = from; at < to; at++) {
				const char *letter = at < 0 || at >= (int)strlen(kinds_at) ? NULL :
						     strchr(letters, kinds_at[at]);

				if (letter)
					wanted[is_held(holds, n, at) ? VIRT_STEAL_LIMIT :
					       letter - letters]++;
			}
			split(model, from, to, ns);
			for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++)
				assert_int_equal(ns[kind], wanted[kind]);
		}
	}
	virt_model_free(model);
}

static void test_all_windows(void **state)
{
	/* also while it runs, which is no steal */
	static const struct virt_hold holds[] = {
		{ 5, 12, true, false }, { 12, 20, true, true }, { 23, 31, true, false },
		{ 36, 42, true, false }, { 50, 58, false, false },
	};

	(void)state;
	check_windows(NULL, 0);
	check_windows(holds, sizeof(holds) / sizeof(holds[0]));
}

/** A culprit that does not exist is of an unknown kind; a missing vCPU has no steal. */
static void test_nobody_there(void **state)
{
	struct virt_model *model = all_kinds(NULL, 0);
	int64_t ns[VIRT_STEAL_N_KINDS];

	(void)state;
	assert_int_equal(virt_steal_kind_of(model, 0, VIRT_NONE), VIRT_STEAL_UNKNOWN);
	assert_int_equal(virt_steal_kind_of(model, 0, VIRT_OTHERS), VIRT_STEAL_UNKNOWN);
	assert_int_equal(virt_steal_kind_of(model, 0, 77), VIRT_STEAL_UNKNOWN);
	assert_int_equal(virt_steal_kind_of(model, 77, 0), VIRT_STEAL_UNKNOWN);
	virt_steal_split(model, 77, 0, END, NULL, 0, ns);
	for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++)
		assert_int_equal(ns[kind], 0);
	virt_model_free(model);
}

/** A wait of which only the first culprits are listed: the rest is unknown, idle or not. */
static void test_others(void **state)
{
	struct virt_model *model = with_vcpus(8);
	struct virt_culprit culprits[8];
	int64_t ns[VIRT_STEAL_N_KINDS], others = 0;
	size_t n;

	(void)state;
	for (int i = 0; i < 8; i++)
		set(model, i, 0, VIRT_PREEMPTED, 0, VIRT_NONE, 0);
	for (int i = 0; i < 200000; i++) {
		occupy(model, 0, 2 * i, VIRT_NONE, true);
		occupy(model, 0, 2 * i + 1, VIRT_NONE, false);
	}
	assert_int_equal(virt_model_finish(model, 0, 400000), 0);
	n = virt_vcpu_culprits(model, 0, 0, 400000, culprits, 8);
	for (size_t i = 0; i < n; i++)
		others += culprits[i].vcpu == VIRT_OTHERS ? culprits[i].ns : 0;
	assert_in_range(others, 1, 399999);
	virt_steal_split(model, 0, 0, 400000, culprits, n, ns);
	assert_int_equal(ns[VIRT_STEAL_NOBODY], (400000 - others + 1) / 2);
	assert_int_equal(ns[VIRT_STEAL_UNKNOWN], others + (400000 - others) / 2);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_windows),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
