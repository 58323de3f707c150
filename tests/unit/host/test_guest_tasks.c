// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_guest_tasks.c
 * @brief	Who had the CPUs of a guest, and what time that really was: a timeline by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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
	/* its run has begun before */
	assert_int_equal(sums.all[0].runs, 0);
	guest_task_sums_free(&sums);
	/* adjacent windows count each switch once, and none for the task that had the CPU first */
	assert_int_equal(guest_task_sums_make(&sums, &tasks, model, BEGIN, 1600), 0);
	assert_int_equal(find(&sums, 0)->runs, 0);
	assert_int_equal(find(&sums, 7)->runs, 1);
	guest_task_sums_free(&sums);
	assert_int_equal(guest_task_sums_make(&sums, &tasks, model, 1600, END), 0);
	assert_int_equal(find(&sums, 0)->runs, 1);
	assert_null(find(&sums, 7));
	guest_task_sums_free(&sums);
	guest_tasks_free(&tasks);
	virt_model_free(model);
}

/** While records are lost, before the first and after the last one, no task has the CPU. */
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

/** A CPU of which no vCPU is known has no tasks; where its clock goes back, they have no time. */
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
	assert_int_equal(sums.n, 2);
	assert_int_equal(sums.all[0].pid, 9);
	assert_int_equal(sums.all[0].believed_ns, 50);
	assert_int_equal(sums.all[1].pid, 8);
	assert_int_equal(sums.all[1].runs, 1);
	assert_int_equal(sums.all[1].believed_ns, 0);
	guest_task_sums_free(&sums);
	guest_tasks_free(&tasks);
	virt_model_free(model);
}

/* --- cgroups --------------------------------------------------------------------------------- */

static void attach(struct guest_tasks *tasks, int64_t time_ns, int32_t root, int32_t pid,
		   const char *path)
{
	struct kvm_cgroup_event event = { .root = root, .pid = pid };
	const struct kvm_trace_record record = { .pid = 1, .cgroup = &event };

	snprintf(event.path, sizeof(event.path), "%s", path);
	assert_int_equal(guest_cgroups_take(&tasks->cgroups, &record, time_ns), 0);
}

static void make(struct guest_tasks *tasks, int64_t time_ns, int32_t maker, int32_t pid)
{
	const struct kvm_event born = { .kind = KVM_BORN, .pid = maker, .arg = pid };
	const struct kvm_trace_record record = { .pid = maker, .sched = &born };

	assert_int_equal(guest_cgroups_take(&tasks->cgroups, &record, time_ns), 0);
}

static const char *cgroup_at(const struct guest_tasks *tasks, int32_t pid, int64_t time_ns)
{
	int32_t number = guest_cgroups_at(&tasks->cgroups, pid, time_ns, NULL);

	return guest_cgroups_name(&tasks->cgroups, number);
}

/**
 * Records come CPU by CPU, not in order. A task enters /a, and makes another one before and after
 * that; a pid is used again. Records of another hierarchy never count, early or late.
 */
static void test_who_is_in_a_cgroup(void **state)
{
	struct guest_tasks tasks = make_tasks(1);
	int64_t until;

	(void)state;
	make(&tasks, 1300, 20, 22);
	attach(&tasks, 1150, 3, 20, "/of/v1");
	attach(&tasks, 1200, 0, 20, "/a");
	attach(&tasks, 1100, 3, 23, "/of/v1");
	make(&tasks, 1100, 20, 21);
	attach(&tasks, 1600, 0, 22, "/b");
	make(&tasks, 1700, 22, 20);
	make(&tasks, 1800, 30, 22);
	assert_int_equal(guest_tasks_end(&tasks), 0);
	assert_null(cgroup_at(&tasks, 20, 1199));
	assert_string_equal(cgroup_at(&tasks, 20, 1200), "/a");
	assert_null(cgroup_at(&tasks, 21, 1900));
	assert_null(cgroup_at(&tasks, 22, 1299));
	assert_string_equal(cgroup_at(&tasks, 22, 1300), "/a");
	assert_string_equal(cgroup_at(&tasks, 22, 1799), "/b");
	assert_null(cgroup_at(&tasks, 22, 1800));
	assert_null(cgroup_at(&tasks, 23, 1900));
	assert_string_equal(cgroup_at(&tasks, 20, 1700), "/b");
	assert_null(cgroup_at(&tasks, 99, 1500));
	guest_cgroups_at(&tasks.cgroups, 20, 1200, &until);
	assert_int_equal(until, 1700);
	guest_cgroups_at(&tasks.cgroups, 20, 1700, &until);
	assert_int_equal(until, INT64_MAX);
	guest_tasks_free(&tasks);
}

static const struct guest_task_sum *sum_of(const struct guest_task_sums *sums, int32_t key)
{
	for (size_t i = 0; i < sums->n; i++)
		if (sums->all[i].pid == key)
			return &sums->all[i];
	return NULL;
}

/** A run is cut where its task is moved; idle is in none. */
static void test_time_of_cgroups(void **state)
{
	struct virt_model *model = make_model();
	struct guest_tasks tasks = make_tasks(1);
	struct guest_task_sums sums;
	const struct guest_task_sum *sum;

	(void)state;
	take(&tasks, 0, 1000, 20, VIRT_NONE);
	take(&tasks, 0, 1600, 20, 21);
	take(&tasks, 0, 1700, 21, 0);
	take(&tasks, 0, 2000, 0, VIRT_NONE);
	attach(&tasks, 1100, 0, 20, "/a");
	attach(&tasks, 1400, 0, 20, "/b");
	assert_int_equal(guest_tasks_end(&tasks), 0);
	assert_int_equal(guest_cgroup_sums_make(&sums, &tasks, model, BEGIN, END), 0);
	assert_int_equal(sums.n, 3);
	sum = sum_of(&sums, 0);
	assert_int_equal(sum->believed_ns, 300);
	assert_int_equal(sum->ns[VIRT_GUEST], 200);
	assert_int_equal(sum->ns[VIRT_PREEMPTED], 100);
	sum = sum_of(&sums, 1);
	assert_int_equal(sum->believed_ns, 200);
	assert_int_equal(sum->ns[VIRT_GUEST], 100);
	assert_int_equal(sum->places[0].pcpu, 4);
	sum = sum_of(&sums, VIRT_NONE);
	assert_int_equal(sum->believed_ns, 200);
	assert_int_equal(sum->ns[VIRT_GUEST], 200);
	assert_int_equal(sum->n_places, 2);
	guest_task_sums_free(&sums);
	/* a window within one of them */
	assert_int_equal(guest_cgroup_sums_make(&sums, &tasks, model, 1350, 1390), 0);
	assert_int_equal(sums.n, 1);
	assert_int_equal(sums.all[0].ns[VIRT_PREEMPTED], 40);
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
		cmocka_unit_test(test_who_is_in_a_cgroup),
		cmocka_unit_test(test_time_of_cgroups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
