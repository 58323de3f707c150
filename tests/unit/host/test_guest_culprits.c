// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_guest_culprits.c
 * @brief	Which tasks of guests had the pCPUs of others: by hand, and recounted ns by ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest_culprits.h"
#include "hand_model.h"

#define END	400

/** A CPU of a guest, with its runs: pairs of time and pid, ended by a negative time. */
static struct virt_guest_cpu cpu_of(int32_t vcpu, const int64_t (*runs)[2])
{
	struct virt_guest_cpu cpu = { .vcpu = vcpu };

	cpu.runs = calloc(64, sizeof(*cpu.runs));
	assert_non_null(cpu.runs);
	for (; runs[cpu.n][0] >= 0; cpu.n++)
		cpu.runs[cpu.n] = (struct virt_guest_run){ runs[cpu.n][0],
							   (int32_t)runs[cpu.n][1], true };
	return cpu;
}

/** What is found of a task of @who; -1: nothing. */
static int64_t found(const struct guest_culprits *culprits, int32_t who, int32_t guest, int32_t pid)
{
	size_t n;
	const struct guest_culprit *of = guest_culprits_of(culprits, who, &n);

	for (size_t i = 0; i < n; i++)
		if (of[i].pid == pid && of[i].guest == guest)
			return of[i].ns;
	return -1;
}

/**
 * vCPU 0 waits for pCPU 3 in [100, 200), where 1 runs until 120, a task until 130, 1 until 190; 1
 * has 7 from 110, 8 from 150, the guest's trace ends at 170.
 */
static void test_by_hand(void **state)
{
	static const int64_t runs[][2] = {
		{ 110, 7 }, { 150, 8 }, { 160, 7 }, { 170, -1 }, { -1 },
	};
	struct virt_model *model = with_vcpus(2);
	int32_t task = virt_model_add_task(model, 50, "kworker-50");
	struct virt_guest_cpu cpu = cpu_of(1, runs);
	const struct guest_tasks tasks = { .cpus = &cpu, .n_cpus = 1 };
	bool is_aligned = true;
	struct guest_culprits_guest guest = { &tasks, &is_aligned };
	struct guest_culprits culprits;
	size_t n;

	(void)state;
	occupy(model, 3, 0, 0, true);
	set(model, 0, 0, VIRT_GUEST, 3, VIRT_NONE, 0);
	occupy(model, 3, 100, 1, true);
	set(model, 0, 100, VIRT_PREEMPTED, 3, 1, 0);
	set(model, 1, 100, VIRT_GUEST, 3, VIRT_NONE, 0);
	occupy(model, 3, 120, task, true);
	set(model, 1, 120, VIRT_PREEMPTED, 3, task, 0);
	occupy(model, 3, 130, 1, true);
	set(model, 1, 130, VIRT_HYPERVISOR, 3, VIRT_NONE, 0);
	occupy(model, 3, 190, VIRT_NONE, true);
	set(model, 1, 190, VIRT_BLOCKED, 3, VIRT_NONE, 0);
	occupy(model, 3, 200, 0, true);
	set(model, 0, 200, VIRT_GUEST, 3, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, END), 0);

	assert_int_equal(guest_culprits_init(&culprits, model, &guest, 1), 0);
	assert_true(guest_culprits_know(&culprits, 1));
	assert_false(guest_culprits_know(&culprits, 0));
	assert_false(guest_culprits_know(&culprits, task));
	assert_false(guest_culprits_know(&culprits, VIRT_NONE));
	assert_int_equal(guest_culprits_find(&culprits, 0, 0, END), 0);
	assert_int_equal(found(&culprits, 1, 0, 7), 10 + 20 + 10);
	assert_int_equal(found(&culprits, 1, 0, 8), 10);
	assert_int_equal(found(&culprits, 1, VIRT_NONE, VIRT_NONE), 10 + 20);
	/* most first, and what is not known last */
	assert_int_equal(guest_culprits_of(&culprits, 1, &n)[0].pid, 7);
	assert_int_equal(n, 3);
	assert_int_equal(guest_culprits_of(&culprits, 1, &n)[2].pid, VIRT_NONE);
	assert_null(guest_culprits_of(&culprits, task, &n));
	/* a window within */
	assert_int_equal(guest_culprits_find(&culprits, 0, 115, 135), 0);
	assert_int_equal(found(&culprits, 1, 0, 7), 5 + 5);
	assert_int_equal(culprits.n, 1);
	/* of the task's own victim, nothing is known */
	assert_int_equal(guest_culprits_find(&culprits, 1, 0, END), 0);
	assert_int_equal(culprits.n, 0);
	/* a stretch in which it has a pCPU */
	assert_int_equal(guest_culprits_during(&culprits, 1, 140, 180), 0);
	assert_int_equal(found(&culprits, 1, 0, 7), 20);
	assert_int_equal(found(&culprits, 1, 0, 8), 10);
	assert_int_equal(found(&culprits, 1, VIRT_NONE, VIRT_NONE), 10);
	assert_int_equal(guest_culprits_during(&culprits, 0, 140, 180), 0);
	assert_int_equal(culprits.n, 0);
	guest_culprits_free(&culprits);

	/* records at times when the vCPU was not executed count as nothing */
	is_aligned = false;
	assert_int_equal(guest_culprits_init(&culprits, model, &guest, 1), 0);
	assert_false(guest_culprits_know(&culprits, 1));
	assert_int_equal(guest_culprits_find(&culprits, 0, 0, END), 0);
	assert_int_equal(culprits.n, 0);
	guest_culprits_free(&culprits);
	free(cpu.runs);
	virt_model_free(model);
}

/* --- recounted ------------------------------------------------------------------------------- */

#define N_VCPUS	4	/* the last one's guest is not known */
#define N_PIDS	3

/** What is put into the model, ns by ns. */
struct world {
	int32_t		occupant[2][END];	/* of two pCPUs */
	int16_t		waits[N_VCPUS][END];	/* for which one; -1: for none */
	int32_t		pid[N_VCPUS - 1][END];
};

static int pick(unsigned int *seed, int n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (int)((*seed >> 16) % (unsigned int)n);
}

static void make_world(struct world *world, unsigned int seed)
{
	int32_t who[2] = { 0 }, pid[N_VCPUS] = { 0 };

	memset(world->waits, -1, sizeof(world->waits));
	for (int t = 0; t < END; t++) {
		for (int p = 0; p < 2; p++) {
			if (!pick(&seed, 6))
				who[p] = pick(&seed, N_VCPUS + 1);
			/* no task is on two */
			if (p && who[p] == who[0])
				who[p] = N_VCPUS;
			world->occupant[p][t] = who[p] == N_VCPUS ? VIRT_NONE : who[p];
		}
		for (int v = 0; v < N_VCPUS; v++) {
			if (who[0] != v && who[1] != v)
				world->waits[v][t] = v & 1;
			if (!pick(&seed, 5))
				pid[v] = pick(&seed, N_PIDS + 1) - 1;
			if (v < N_VCPUS - 1)
				world->pid[v][t] = pid[v];
		}
	}
}

static struct virt_model *model_of(const struct world *world)
{
	struct virt_model *model = with_vcpus(N_VCPUS);

	for (int t = 0; t < END; t++) {
		for (int16_t p = 0; p < 2; p++)
			occupy(model, p, t, world->occupant[p][t], true);
		for (int v = 0; v < N_VCPUS; v++) {
			int16_t waits = world->waits[v][t];

			set(model, v, t, waits < 0 ? VIRT_GUEST : VIRT_PREEMPTED,
			    waits >= 0 ? waits : world->occupant[0][t] == v ? 0 : 1, VIRT_NONE, 0);
		}
	}
	assert_int_equal(virt_model_finish(model, 0, END), 0);
	return model;
}

static void recount(const struct world *world, const struct guest_culprits *culprits, int v,
		    int64_t from, int64_t to)
{
	int64_t ns[N_VCPUS][N_PIDS + 1] = { 0 };

	for (int64_t t = from; t < to; t++) {
		int32_t who = world->waits[v][t] < 0 ? VIRT_NONE :
			      world->occupant[world->waits[v][t]][t];

		if (who >= 0 && who < N_VCPUS - 1)
			ns[who][1 + world->pid[who][t]]++;
	}
	for (int who = 0; who < N_VCPUS; who++)
		for (int pid = VIRT_NONE; pid < N_PIDS; pid++) {
			int64_t wanted = ns[who][1 + pid];

			assert_int_equal(found(culprits, who, pid < 0 ? VIRT_NONE : who % 2, pid),
					 wanted ? wanted : -1);
		}
}

/** The tasks of a known culprit have all of its time. */
static void check_sums(const struct guest_culprits *culprits, int v, int64_t from, int64_t to)
{
	struct virt_culprit each[N_VCPUS + 2];
	size_t n = virt_vcpu_culprits(culprits->model, v, from, to, each, N_VCPUS + 2);
	size_t tasks, all = 0;

	for (size_t i = 0; i < n; i++) {
		const struct guest_culprit *of = guest_culprits_of(culprits, each[i].vcpu, &tasks);
		int64_t ns = 0;

		for (size_t k = 0; k < tasks; k++)
			ns += of[k].ns;
		assert_int_equal(ns, guest_culprits_know(culprits, each[i].vcpu) ? each[i].ns : 0);
		all += tasks;
	}
	assert_int_equal(all, culprits->n);
}

/** vCPUs 0 and 2 are the first guest's, 1 the second's, of which a second trace is no use. */
static void test_recounted(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 60; seed++) {
		struct world *world = malloc(sizeof(*world));
		struct virt_guest_cpu first[2], second[2];
		const struct guest_tasks tasks[2] = {
			{ .cpus = first, .n_cpus = 2 }, { .cpus = second, .n_cpus = 2 },
		};
		const bool aligned[2] = { true, true };
		const struct guest_culprits_guest guests[2] = {
			{ &tasks[0], aligned }, { &tasks[1], aligned },
		};
		struct guest_culprits culprits;
		struct virt_model *model;

		assert_non_null(world);
		make_world(world, seed);
		model = model_of(world);
		for (int v = 0; v < N_VCPUS - 1; v++) {
			struct virt_guest_cpu *cpu = v == 1 ? &second[0] : &first[v / 2];

			*cpu = (struct virt_guest_cpu){ .vcpu = v };
			cpu->runs = calloc(END + 1, sizeof(*cpu->runs));
			assert_non_null(cpu->runs);
			for (int t = 0; t <= END; t++)
				if (!t || t == END || world->pid[v][t] != world->pid[v][t - 1])
					cpu->runs[cpu->n++] = (struct virt_guest_run){
						t, t == END ? VIRT_NONE : world->pid[v][t], true,
					};
		}
		second[1] = (struct virt_guest_cpu){ .vcpu = 0, .runs = second[0].runs,
						     .n = second[0].n };
		assert_int_equal(guest_culprits_init(&culprits, model, guests, 2), 0);
		for (int v = 0; v < N_VCPUS; v++)
			for (int64_t from = 0; from < END; from += 133) {
				assert_int_equal(guest_culprits_find(&culprits, v, from,
								     END - from / 3), 0);
				recount(world, &culprits, v, from, END - from / 3);
				check_sums(&culprits, v, from, END - from / 3);
			}
		guest_culprits_free(&culprits);
		for (int v = 0; v < N_VCPUS - 1; v++)
			free(v == 1 ? second[0].runs : first[v / 2].runs);
		virt_model_free(model);
		free(world);
	}
}

/** Before the first request, nothing is known. */
static void test_nothing(void **state)
{
	struct guest_culprits culprits = { 0 };
	size_t n;

	(void)state;
	assert_false(guest_culprits_know(&culprits, 0));
	assert_int_equal(guest_culprits_find(&culprits, 0, 0, END), 0);
	assert_int_equal(guest_culprits_during(&culprits, 0, 0, END), 0);
	assert_null(guest_culprits_of(&culprits, 0, &n));
	guest_culprits_free(&culprits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_recounted),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
