// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_exit_pairs.c
 * @brief	VM exits of two machines of a recorded host, beside each other and themselves:
 *		what each side says, differences and order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sample_model.h"
#include "virt_exit_pairs.h"
#include "virt_text.h"

struct lengths {
	int64_t	*ns;
	size_t	n;
};

static void take(void *arg, enum virt_length what, int64_t ns)
{
	struct lengths *lengths = arg;

	if (what != VIRT_LENGTH_EXIT)
		return;
	lengths->ns = realloc(lengths->ns, (lengths->n + 1) * sizeof(ns));
	assert_non_null(lengths->ns);
	lengths->ns[lengths->n++] = ns;
}

static bool equal(double a, double b)
{
	return a - b < 1e-6 && b - a < 1e-6;
}

static void check_side(const struct virt_exit_side *side, const struct virt_exit_value *values,
		       const char *name, int64_t all_ns)
{
	const struct virt_window_stats *stats = side->stats;
	size_t i = 0;

	while (i < stats->n_reasons &&
	       strcmp(virt_text_reason(side->model, stats->reasons[i].reason), name) != 0)
		i++;
	assert_true(values[VIRT_EXIT_NUMBER].known);
	if (i == stats->n_reasons) {
		assert_true(equal(values[VIRT_EXIT_NUMBER].value, 0));
		assert_true(equal(values[VIRT_EXIT_TIME].value, 0));
		assert_false(values[VIRT_EXIT_P50].known);
		return;
	}
	assert_true(equal(values[VIRT_EXIT_NUMBER].value, (double)stats->reasons[i].count));
	assert_true(equal(values[VIRT_EXIT_TIME].value, (double)stats->reasons[i].cost.ns));
	assert_true(equal(values[VIRT_EXIT_SHARE].value,
			  (double)stats->reasons[i].cost.ns / (double)all_ns * 100));
	assert_true(equal(values[VIRT_EXIT_P99].value, (double)stats->reasons[i].cost.p99));
	assert_true(equal(values[VIRT_EXIT_MAX].value, (double)stats->reasons[i].cost.max));
}

static void check(const struct virt_exit_side sides[2])
{
	struct virt_exit_pair *pairs;
	size_t n = virt_exits_compare(sides, &pairs);
	double sums[2] = { 0, 0 }, shares[2] = { 0, 0 }, last = 1e300;

	assert_true(n > 2);
	assert_null(pairs[0].name);
	for (size_t i = 1; i < n; i++) {
		double first = pairs[i].values[0][VIRT_EXIT_TIME].value;
		double second = pairs[i].values[1][VIRT_EXIT_TIME].value;
		double most = first > second ? first : second;

		for (int side = 0; side < 2; side++) {
			check_side(&sides[side], pairs[i].values[side], pairs[i].name,
				   sides[side].all->ns);
			sums[side] += pairs[i].values[side][VIRT_EXIT_NUMBER].value;
			shares[side] += pairs[i].values[side][VIRT_EXIT_SHARE].value;
		}
		assert_true(most <= last);
		last = most;
		assert_true(equal(pairs[i].less[VIRT_EXIT_TIME].value, second - first));
		assert_int_equal(pairs[i].less[VIRT_EXIT_P50].known,
				 pairs[i].values[0][VIRT_EXIT_P50].known &&
				 pairs[i].values[1][VIRT_EXIT_P50].known);
		for (size_t k = 1; k < i; k++)
			assert_string_not_equal(pairs[i].name, pairs[k].name);
	}
	for (int side = 0; side < 2; side++) {
		assert_true(equal(sums[side], pairs[0].values[side][VIRT_EXIT_NUMBER].value));
		assert_true(equal(shares[side], 100));
		assert_true(equal(pairs[0].values[side][VIRT_EXIT_TIME].value,
				  (double)sides[side].all->ns));
	}
	free(pairs);
}

static void test_sample(void **state)
{
	struct virt_model *model = sample_model("kvm-talk.dat");
	struct lengths lengths[2] = { { NULL, 0 }, { NULL, 0 } };
	struct virt_window *windows[2];
	struct virt_dist all[2];
	struct virt_exit_side sides[2], same[2];

	(void)state;
	assert_int_equal(virt_model_n_machines(model), 2);
	for (int m = 0; m < 2; m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);
		bool *vcpus = calloc((size_t)virt_model_n_vcpus(model), sizeof(*vcpus));
		struct virt_window_query query = {
			.from_ns = virt_model_begin(model), .to_ns = virt_model_end(model),
			.parts = VIRT_WINDOW_EXITS, .vcpus = vcpus, .arg = &lengths[m],
			.length = take,
		};

		assert_non_null(vcpus);
		for (int32_t i = 0; i < machine->n_vcpus; i++)
			vcpus[machine->vcpus[i]] = true;
		windows[m] = virt_window_new(model, &query);
		assert_non_null(windows[m]);
		virt_dist_make(&all[m], lengths[m].ns, lengths[m].n);
		sides[m] = (struct virt_exit_side){
			.model = model, .stats = &windows[m]->machines[m].all, .all = &all[m],
		};
		free(vcpus);
	}
	check(sides);
	same[0] = same[1] = sides[1];
	check(same);
	for (int m = 0; m < 2; m++) {
		virt_window_free(windows[m]);
		free(lengths[m].ns);
	}
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sample) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
