// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_guest_tasks.c
 * @brief	Who had the CPUs of a guest, and what time that really was: a timeline by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guest_tasks.h"

#define BEGIN	1000
#define END	2000

/** One vCPU: guest on p3, preempted, guest on p4, blocked. */
static struct virt_model *make_model(void)
{
	static const struct virt_interval states[] = {
		{ .start_ns = 1000, .detail = VIRT_NONE, .pcpu = 3, .state = VIRT_GUEST },
		{ .start_ns = 1300, .detail = VIRT_NONE, .pcpu = 3, .state = VIRT_PREEMPTED },
		{ .start_ns = 1500, .detail = VIRT_NONE, .pcpu = 4, .state = VIRT_GUEST },
		{ .start_ns = 1800, .detail = VIRT_NONE, .pcpu = 4, .state = VIRT_BLOCKED },
	};
	struct virt_model *model = virt_model_new();
	int32_t machine, vcpu;

	assert_non_null(model);
	machine = virt_model_add_machine(model, 1, "m");
	vcpu = virt_model_add_vcpu(model, machine, 0, 10, "m0");
	assert_int_equal(vcpu, 0);
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		assert_int_equal(virt_model_set(model, vcpu, states[i].start_ns,
						(enum virt_state)states[i].state, states[i].pcpu,
						states[i].detail, 0), 0);
	assert_int_equal(virt_model_finish(model, BEGIN, END), 0);
	return model;
}

static void take(struct guest_tasks *tasks, int cpu, int64_t time_ns, int32_t pid, int32_t next)
{
	const struct kvm_trace_record record = {
		.cpu = (int16_t)cpu, .pid = pid, .next_pid = next,
	};

	assert_int_equal(guest_tasks_take(tasks, &record, time_ns), 0);
}

static struct guest_tasks make_tasks(int n_cpus)
{
	struct guest_tasks tasks = { .n_cpus = n_cpus, .cpu = -1 };

	tasks.cpus = calloc((size_t)n_cpus, sizeof(*tasks.cpus));
	assert_non_null(tasks.cpus);
	for (int i = 1; i < n_cpus; i++)
		tasks.cpus[i].vcpu = VIRT_NONE;
	return tasks;
}

static const struct guest_task_sum *find(const struct guest_task_sums *sums, int32_t pid)
{
	for (size_t i = 0; i < sums->n; i++)
		if (sums->all[i].pid == pid)
			return &sums->all[i];
	return NULL;
}

/** Its task has 1100 to 1600: 200 ns are stolen, the rest is on two pCPUs. */
static void test_parts(void **state)
{
	struct virt_model *model = make_model();
	struct guest_tasks tasks = make_tasks(1);
	struct guest_task_sums sums;
	const struct guest_task_sum *sum;

	(void)state;
	take(&tasks, 0, 1050, 0, VIRT_NONE);
	take(&tasks, 0, 1100, 0, 7);
	take(&tasks, 0, 1600, 7, 0);
	take(&tasks, 0, 1900, 0, VIRT_NONE);
	assert_int_equal(guest_tasks_end(&tasks), 0);
	assert_int_equal(guest_task_sums_make(&sums, &tasks, model, BEGIN, END), 0);
	assert_int_equal(sums.n, 2);
	sum = find(&sums, 7);
	assert_non_null(sum);
	assert_ptr_equal(sum, &sums.all[0]);
	assert_int_equal(sum->believed_ns, 500);
	assert_int_equal(sum->runs, 1);
	assert_int_equal(sum->ns[VIRT_GUEST], 300);
	assert_int_equal(sum->ns[VIRT_PREEMPTED], 200);
	assert_int_equal(sum->n_places, 2);
	assert_int_equal(sum->places[0].pcpu, 3);
	assert_int_equal(sum->places[0].ns, 200);
	assert_int_equal(sum->places[1].pcpu, 4);
	assert_int_equal(sum->places[1].ns, 100);
	sum = find(&sums, 0);
	assert_non_null(sum);
	assert_int_equal(sum->believed_ns, 50 + 300);
	assert_int_equal(sum->ns[VIRT_GUEST], 50 + 200);
	assert_int_equal(sum->ns[VIRT_BLOCKED], 100);
	guest_task_sums_free(&sums);
	/* a window within */
	assert_int_equal(guest_task_sums_make(&sums, &tasks, model, 1290, 1310), 0);
	assert_int_equal(sums.n, 1);
	assert_int_equal(sums.all[0].pid, 7);
	assert_int_equal(sums.all[0].ns[VIRT_GUEST], 10);
	assert_int_equal(sums.all[0].ns[VIRT_PREEMPTED], 10);
	guest_task_sums_free(&sums);
	guest_tasks_free(&tasks);
	virt_model_free(model);
}

/** While records are lost, and before the first and after the last one, nobody has the CPU. */
static void test_lost(void **state)
{
	struct virt_model *model = make_model();
	struct guest_tasks tasks = make_tasks(1);
	struct guest_task_sums sums;

	(void)state;
	take(&tasks, 0, 1100, 7, VIRT_NONE);
	take(&tasks, 0, 1150, 7, VIRT_NONE);
	assert_int_equal(guest_tasks_lost(&tasks, 0), 0);
	assert_int_equal(guest_tasks_lost(&tasks, 0), 0);
	take(&tasks, 0, 1600, 8, VIRT_NONE);
	take(&tasks, 0, 1650, 8, VIRT_NONE);
	assert_int_equal(guest_tasks_end(&tasks), 0);
	assert_int_equal(virt_guest_run_at(&tasks.cpus[0], 1099), -1);
	assert_int_equal(tasks.cpus[0].runs[virt_guest_run_at(&tasks.cpus[0], 1149)].pid, 7);
	assert_int_equal(tasks.cpus[0].runs[virt_guest_run_at(&tasks.cpus[0], 1150)].pid,
			 VIRT_NONE);
	assert_int_equal(tasks.cpus[0].runs[virt_guest_run_at(&tasks.cpus[0], 1650)].pid,
			 VIRT_NONE);
	assert_int_equal(guest_task_sums_make(&sums, &tasks, model, BEGIN, END), 0);
	assert_int_equal(sums.n, 2);
	assert_int_equal(sums.all[0].believed_ns, 50);
	assert_int_equal(sums.all[1].believed_ns, 50);
	guest_task_sums_free(&sums);
	guest_tasks_free(&tasks);
	virt_model_free(model);
}

/** A CPU of which no vCPU is known has no tasks; one whose clock goes back does not either. */
static void test_odd(void **state)
{
	struct virt_model *model = make_model();
	struct guest_tasks tasks = make_tasks(2);
	struct guest_task_sums sums;

	(void)state;
	take(&tasks, 0, 1200, 7, 8);
	take(&tasks, 0, 1100, 8, 9);
	take(&tasks, 0, 1250, 9, VIRT_NONE);
	take(&tasks, 1, 1100, 5, 6);
	take(&tasks, 1, 1900, 6, VIRT_NONE);
	take(&tasks, 2, 1900, 6, VIRT_NONE);
	assert_int_equal(guest_tasks_end(&tasks), 0);
	assert_int_equal(tasks.cpus[1].n, 0);
	assert_int_equal(guest_task_sums_make(&sums, &tasks, model, BEGIN, END), 0);
	assert_int_equal(sums.n, 1);
	assert_int_equal(sums.all[0].pid, 9);
	assert_int_equal(sums.all[0].believed_ns, 50);
	guest_task_sums_free(&sums);
	guest_tasks_free(&tasks);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
