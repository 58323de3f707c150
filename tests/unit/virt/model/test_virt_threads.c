// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_threads.c
 * @brief	The time of machines' threads on a timeline made by hand, and its bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_model.h"
#include "virt_threads.h"

/** vCPU 0 is of one machine, vCPU 1 of another; the first one's iothread takes pCPUs of both. */
static struct virt_model *two_machines(int32_t *io, int32_t *vhost)
{
	struct virt_model *model = with_vcpus(1);
	int32_t other = virt_model_add_machine(model, 2, "d2"), sh;

	assert_int_equal(virt_model_add_vcpu(model, other, 0, 30000, "w"), 1);
	*io = virt_model_add_task(model, 11, "IO x-11");
	*vhost = virt_model_add_task(model, 12, "vhost-9-12");
	sh = virt_model_add_task(model, 13, "sh-13");
	assert_int_equal(virt_model_own_task(model, *io, 0, "d1", VIRT_THREAD_IOTHREAD,
					     VIRT_THREAD_OF_ROW), 0);
	assert_int_equal(virt_model_own_task(model, *vhost, other, "d2", VIRT_THREAD_VHOST,
					     VIRT_THREAD_OF_NAME), 0);
	occupy(model, 0, 0, 0, true);
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 0, 100, *io, true);
	set(model, 0, 100, VIRT_PREEMPTED, 0, *io, 0);
	occupy(model, 0, 140, sh, true);
	occupy(model, 0, 150, *vhost, true);
	occupy(model, 0, 160, 0, true);
	set(model, 0, 160, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 1, 0, 1, true);
	set(model, 1, 0, VIRT_GUEST, 1, VIRT_NONE, 0);
	occupy(model, 1, 200, *io, true);
	set(model, 1, 200, VIRT_PREEMPTED, 1, *io, 0);
	occupy(model, 1, 207, 1, true);
	set(model, 1, 207, VIRT_GUEST, 1, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 300), 0);
	return model;
}

static void test_sums(void **state)
{
	int32_t io, vhost;
	struct virt_model *model = two_machines(&io, &vhost);
	struct virt_threads *threads = virt_threads_new(model, INT64_MIN, INT64_MAX);

	(void)state;
	assert_non_null(threads);
	/* sh belongs to no machine */
	assert_int_equal(threads->n, 2);
	assert_int_equal(threads->threads[0].task, io);
	assert_int_equal(threads->threads[0].ns, 47);
	assert_int_equal(threads->threads[0].runs, 2);
	assert_int_equal(threads->threads[0].max_ns, 40);
	assert_int_equal(threads->threads[0].own_ns, 40);
	assert_int_equal(threads->threads[0].others_ns, 7);
	assert_int_equal(threads->threads[0].n_places, 2);
	assert_int_equal(threads->threads[0].places[0].pcpu, 0);
	assert_int_equal(threads->threads[0].places[0].ns, 40);
	assert_int_equal(threads->threads[0].places[1].pcpu, 1);
	assert_int_equal(threads->threads[0].places[1].ns, 7);
	assert_int_equal(threads->threads[1].task, vhost);
	assert_int_equal(threads->threads[1].ns, 10);
	assert_int_equal(threads->threads[1].own_ns, 0);
	assert_int_equal(threads->threads[1].others_ns, 10);
	virt_threads_free(threads);
	virt_model_free(model);
}

/** Time is cut to the window; what began before it is not counted. */
static void test_window(void **state)
{
	int32_t io, vhost;
	struct virt_model *model = two_machines(&io, &vhost);
	struct virt_threads *threads = virt_threads_new(model, 130, 203);

	(void)state;
	assert_non_null(threads);
	assert_int_equal(threads->n, 2);
	assert_int_equal(threads->threads[0].ns, 10 + 3);
	assert_int_equal(threads->threads[0].runs, 1);
	assert_int_equal(threads->threads[0].max_ns, 10);
	assert_int_equal(threads->threads[0].own_ns, 10);
	assert_int_equal(threads->threads[0].others_ns, 3);
	virt_threads_free(threads);
	threads = virt_threads_new(model, 210, 250);
	assert_int_equal(threads->n, 0);
	virt_threads_free(threads);
	virt_model_free(model);
}

/** On each pCPU, in each window: no more than all tasks had. */
static void test_conservation(void **state)
{
	int32_t io, vhost;
	struct virt_model *model = two_machines(&io, &vhost);

	(void)state;
	for (int64_t from = 0; from < 300; from += 7) {
		for (int64_t to = from + 1; to <= 300; to += 11) {
			struct virt_threads *threads = virt_threads_new(model, from, to);
			int64_t ns[2] = { 0 }, all = 0;

			for (size_t i = 0; i < threads->n_places; i++)
				ns[threads->places[i].pcpu] += threads->places[i].ns;
			for (size_t i = 0; i < threads->n; i++)
				all += threads->threads[i].ns;
			assert_int_equal(all, ns[0] + ns[1]);
			for (int pcpu = 0; pcpu < 2; pcpu++) {
				struct virt_pcpu_totals totals;

				virt_pcpu_totals(model, pcpu, from, to, &totals);
				assert_true(ns[pcpu] <= totals.task_ns);
			}
			virt_threads_free(threads);
		}
	}
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_conservation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
