/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which machine of a host a guest is: a real guest, and a host that is made for its events. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "align_try.h"
#include "sample_kvm.h"

/** The host's clock is ahead of the guest's by this. */
#define AHEAD	INT64_C(5000000000)

/** A vCPU executes its guest from so long before an event to so long after it. */
#define BEFORE	5000
#define AFTER	3000

/** Threads of the first machine's vCPUs; those of the others follow. */
#define FIRST_PID	100

#define VECTOR	0xec

/** Whose offsets of trace-cmd are right until LATE, and then those of a guest of the guest. */
#define SHIFTED		"kvm-nested-shift-g1.dat"
#define SHIFT		INT64_C(389509524134)
#define LATE		INT64_C(36400000000)

/** A guest of two CPUs, and a host with three machines, of which the last one does nothing. */
struct world {
	int64_t			ahead;
	bool			exchanged;	/* its CPU 0 is vCPU 1 */
	bool			leaves;		/* late events that no vCPU executes */
	bool			tsc;		/* is known; vCPU 1 has another one ... */
	double			faster;		/* ... by this share */
	bool			others;		/* but not in the first machine */
	struct kvm_trace	*guest;
	struct align_events	events;
	struct virt_model	*model;
	int64_t			begin, end;
};

/** One of eight, if no other one is near. */
static bool is_left(const struct world *world, const struct virt_clock_cpu *cpu, size_t i)
{
	return world->leaves && cpu->times[i] > LATE && i % 8 == 0 && i + 1 < cpu->n &&
	       cpu->times[i] - cpu->times[i - 1] > 2 * (BEFORE + AFTER) &&
	       cpu->times[i + 1] - cpu->times[i] > 2 * (BEFORE + AFTER);
}

/** All that the vCPU of a CPU does, and the injections of the handlers. */
static void make_vcpu(struct world *world, int32_t vcpu, const struct virt_clock_cpu *cpu)
{
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < cpu->n; i++) {
		int64_t time = cpu->times[i] + world->ahead;

		if (is_left(world, cpu, i))
			continue;
		if (end != INT64_MIN && time - BEFORE > end)
			assert_int_equal(virt_model_set(world->model, vcpu, end,
							VIRT_HYPERVISOR, 0, VIRT_NONE, 0), 0);
		if (end == INT64_MIN || time - BEFORE > end)
			assert_int_equal(virt_model_set(world->model, vcpu, time - BEFORE,
							VIRT_GUEST, 0, VIRT_NONE, 0), 0);
		end = time + AFTER;
		if (time - BEFORE < world->begin)
			world->begin = time - BEFORE;
		if (end >= world->end)
			world->end = end + 1;
	}
}

static void make_of(struct world *world, const char *sample)
{
	struct kvm_trace *plain = open_sample(sample);
	char name[16];

	kvm_trace_hide_offsets(plain);
	assert_int_equal(align_events_read(plain, &(struct align_stop){ 0 }, &world->events), 0);
	kvm_trace_close(plain);
	world->guest = open_sample(sample);
	assert_int_equal(world->events.n, 2);
	world->begin = INT64_MAX;
	world->model = virt_model_new();
	for (int32_t m = 0; m < 3; m++) {
		int32_t machine;

		snprintf(name, sizeof(name), "g%d", m + 1);
		machine = virt_model_add_machine(world->model, m, name);
		for (int32_t c = 0; c < 2; c++) {
			int32_t vcpu = virt_model_add_vcpu(world->model, machine,
							   world->exchanged ? 1 - c : c,
							   FIRST_PID + 2 * m + c, name);

			bool differs = c && (m || !world->others);

			if (world->tsc)
				assert_int_equal(virt_model_set_tsc(world->model, vcpu,
								    1 + differs * world->faster,
								    -AHEAD - 1000 * differs), 0);
			if (m < 2)
				make_vcpu(world, vcpu, &world->events.cpus[c]);
		}
	}
	assert_int_equal(virt_model_finish(world->model, world->begin, world->end), 0);
}

static void make(struct world *world)
{
	*world = (struct world){ .ahead = AHEAD };
	make_of(world, "kvm-nosync-g1.dat");
}

static void drop(struct world *world)
{
	align_events_free(&world->events);
	virt_model_free(world->model);
	kvm_trace_close(world->guest);
}

/** The injections of all handlers, into the vCPUs of a machine. */
static void inject(const struct world *world, int32_t machine, struct irq_injections *injections)
{
	for (int32_t c = 0; c < 2; c++) {
		const struct virt_clock_cpu *cpu = &world->events.cpus[c];

		for (size_t i = 0; i < cpu->n_handlers; i++)
			irq_injections_kvm(injections, &(struct kvm_trace_record){
				.time_ns = cpu->handlers[i].time + AHEAD - BEFORE,
				.vcpu_pid = FIRST_PID + 2 * machine + c,
				.injection = KVM_TRACE_INTERRUPT,
				.number = cpu->handlers[i].vector == VIRT_CLOCK_DEVICE ? 0x22 :
					  VECTOR,
			});
	}
}

static void try(const struct world *world, struct align_pair *pair)
{
	pair->source = ALIGN_CAUSALITY;
	pair->model = world->model;
	assert_int_equal(align_pair_try(pair, world->guest), 0);
	assert_int_equal(pair->best.alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(pair->best.alignment.lo <= AHEAD && AHEAD <= pair->best.alignment.hi);
}

static void test_machines(void **state)
{
	struct world world;

	(void)state;
	make(&world);
	assert_true(world.events.cpus[0].n_handlers > 100);

	/* two do the same */
	struct align_pair pair = { .chosen_pid = 0 };

	try(&world, &pair);
	assert_true(pair.other_machine >= 0 && pair.other_machine != pair.best.machine);
	assert_non_null(align_pair_refusal(&pair));
	align_pair_free(&pair);

	/* it is the one that is named, or of which a vCPU is chosen; a name counts more */
	for (int32_t m = 0; m < 2; m++) {
		pair = (struct align_pair){ .machine = m ? "g2" : "g1",
					    .chosen_pid = FIRST_PID + 2 * (1 - m) };
		try(&world, &pair);
		assert_null(align_pair_refusal(&pair));
		assert_int_equal(pair.best.machine, m);
		align_pair_free(&pair);
		pair = (struct align_pair){ .chosen_pid = FIRST_PID + 2 * m + 1 };
		try(&world, &pair);
		assert_null(align_pair_refusal(&pair));
		assert_int_equal(pair.best.machine, m);
		align_pair_free(&pair);
		/* or the one that was given the interrupts */
		pair = (struct align_pair){ .chosen_pid = 0 };
		inject(&world, m, &pair.injections);
		try(&world, &pair);
		assert_null(align_pair_refusal(&pair));
		assert_int_equal(pair.best.machine, m);
		assert_true(pair.best.alignment.by_interrupts);
		align_pair_free(&pair);
	}

	/* who has chosen one that does not fit has not chosen */
	pair = (struct align_pair){ .chosen_pid = FIRST_PID + 4 };
	try(&world, &pair);
	assert_non_null(align_pair_refusal(&pair));
	align_pair_free(&pair);
	/* if both were given them, they decide nothing */
	pair = (struct align_pair){ .chosen_pid = 0 };
	inject(&world, 0, &pair.injections);
	inject(&world, 1, &pair.injections);
	try(&world, &pair);
	assert_non_null(align_pair_refusal(&pair));
	align_pair_free(&pair);
	drop(&world);
}

/** The vCPU of each CPU is returned; no vCPU for CPUs that do not exist. */
static void check_vcpus(const struct align_pair *pair, int32_t machine)
{
	for (int32_t c = 0; c < 2; c++) {
		const struct virt_vcpu *vcpu = align_pair_vcpu(pair, c);

		assert_non_null(vcpu);
		assert_int_equal(vcpu->host_pid, FIRST_PID + 2 * machine + c);
	}
}

/** vCPUs need not have the numbers of the guest's CPUs. */
static void test_exchanged(void **state)
{
	struct align_pair pair = { .machine = "g2" };
	struct world world = { .ahead = AHEAD, .exchanged = true };

	(void)state;
	make_of(&world, "kvm-nosync-g1.dat");
	try(&world, &pair);
	assert_int_equal(pair.best.machine, 1);
	check_vcpus(&pair, 1);
	align_pair_free(&pair);
	drop(&world);
}

/** A source without records of any machine finds none, and that is no error. */
static void test_unknown_tsc(void **state)
{
	struct align_pair pair = { .source = ALIGN_SIDECAR, .cycles = true };
	struct world world;

	(void)state;
	make(&world);
	pair.model = world.model;
	assert_int_equal(align_pair_try(&pair, world.guest), 0);
	assert_int_equal(pair.best.machine, -1);
	assert_null(align_pair_vcpu(&pair, 0));
	assert_non_null(align_pair_refusal(&pair));
	align_pair_free(&pair);
	drop(&world);
}

/** vCPUs of one machine whose TSCs differ: each is judged by its own. */
static void test_unequal_tsc(void **state)
{
	struct align_pair pair = { .source = ALIGN_SIDECAR, .cycles = true, .machine = "g1" };
	struct world world = { .ahead = AHEAD, .tsc = true };
	char text[300];

	(void)state;
	make_of(&world, "kvm-nosync-g1.dat");
	pair.model = world.model;
	assert_int_equal(align_pair_try(&pair, world.guest), 0);
	assert_int_equal(pair.best.machine, 0);
	assert_int_equal(pair.best.alignment.offset, AHEAD);
	assert_int_equal(pair.best.n_steps, 1);
	assert_int_equal(pair.best.steps[0].cpu, 1);
	assert_true(pair.best.steps[0].from == INT64_MIN);
	assert_int_equal(pair.best.steps[0].add, 1000);
	assert_false(align_pair_doubt(&pair, text, sizeof(text)));
	align_pair_free(&pair);
	drop(&world);
}

/** Two speeds are no alignment. */
static void test_unequal_speed(void **state)
{
	struct align_pair pair = { .source = ALIGN_SIDECAR, .cycles = true, .machine = "g1" };
	struct world world = { .ahead = AHEAD, .tsc = true, .faster = 0.5 };
	char text[300];

	(void)state;
	make_of(&world, "kvm-nosync-g1.dat");
	pair.model = world.model;
	assert_int_equal(align_pair_try(&pair, world.guest), 0);
	assert_int_equal(pair.best.machine, -1);
	assert_true(align_pair_doubt(&pair, text, sizeof(text)));
	assert_string_equal(text, "g1: the TSC of vCPU 1 runs at another speed than that of "
			    "vCPU 0, according to the sidecar of the host's trace: this is not "
			    "used");
	align_pair_free(&pair);
	drop(&world);
}

/** What is unequal in other machines is no doubt about this one, whichever is looked at first. */
static void test_unequal_elsewhere(void **state)
{
	struct align_pair pair = { .source = ALIGN_SIDECAR, .cycles = true };
	struct world world = { .ahead = AHEAD, .tsc = true, .others = true };
	char text[300];

	(void)state;
	make_of(&world, "kvm-nosync-g1.dat");
	pair.model = world.model;
	assert_int_equal(align_pair_try(&pair, world.guest), 0);
	assert_int_equal(pair.best.machine, 0);
	assert_false(align_pair_doubt(&pair, text, sizeof(text)));
	assert_non_null(align_unequal_of(&pair, 1));
	align_pair_free(&pair);
	drop(&world);
}

/**
 * What trace-cmd has recorded puts half of the events where the host has no records. It is replaced
 * by what explains these, too; but not by what is doubtful itself.
 */
static void test_strays(void **state)
{
	(void)state;
	for (int leaves = 0; leaves < 2; leaves++) {
		struct align_pair pair = { .machine = "g1" };
		struct world world = { .ahead = SHIFT, .leaves = leaves };

		make_of(&world, SHIFTED);
		pair.model = world.model;
		assert_int_equal(align_pair_try(&pair, world.guest), 0);
		assert_int_equal(pair.best.machine, 0);
		assert_int_equal(pair.best.alignment.verdict, VIRT_CLOCK_GOOD);
		assert_int_equal(pair.best.source, leaves ? ALIGN_TRACE_CMD : ALIGN_CAUSALITY);
		assert_int_equal(pair.recorded.machine, leaves ? -1 : 0);
		assert_true(pair.best.alignment.explained_percent == 100);
		check_vcpus(&pair, 0);
		align_pair_free(&pair);
		drop(&world);
	}
}

static bool at_once(void *arg)
{
	int *asked = arg;

	++*asked;
	return true;
}

static void test_stop(void **state)
{
	int asked = 0;
	struct align_pair pair = { .stop = { at_once, &asked } };
	struct world world;

	(void)state;
	make(&world);
	pair.model = world.model;
	assert_int_equal(align_pair_try(&pair, world.guest), -ECANCELED);
	assert_int_equal(asked, 1);
	align_pair_free(&pair);
	drop(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_exchanged),
		cmocka_unit_test(test_unknown_tsc),
		cmocka_unit_test(test_unequal_tsc),
		cmocka_unit_test(test_unequal_speed),
		cmocka_unit_test(test_unequal_elsewhere),
		cmocka_unit_test(test_strays),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
