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

/** The host's clock is ahead of the guest's by so much. */
#define AHEAD	INT64_C(5000000000)

/** A vCPU executes its guest from so long before an event to so long after it. */
#define BEFORE	5000
#define AFTER	3000

/** Threads of the first machine's vCPUs; those of the others follow. */
#define FIRST_PID	100

#define VECTOR	0xec

/** A guest of two CPUs, and a host with three machines, of which the last one does nothing. */
struct world {
	struct kvm_trace	*guest;
	struct align_events	events;
	struct virt_model	*model;
	int64_t			begin, end;
};

/** All that the vCPU of a CPU does, and the injections of the handlers. */
static void make_vcpu(struct world *world, int32_t vcpu, const struct virt_clock_cpu *cpu)
{
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < cpu->n; i++) {
		int64_t time = cpu->times[i] + AHEAD;

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

static void make(struct world *world)
{
	char path[512], error[512], name[16];

	memset(world, 0, sizeof(*world));
	snprintf(path, sizeof(path), "%s/samples/kvm-nosync-g1.dat", getenv("KSV_SOURCE_DIR"));
	world->guest = kvm_trace_open(path, error, sizeof(error));
	assert_non_null(world->guest);
	assert_int_equal(align_events_read(world->guest, &(struct align_stop){ 0 },
					   &world->events), 0);
	assert_int_equal(world->events.n, 2);
	world->begin = INT64_MAX;
	world->model = virt_model_new();
	for (int32_t m = 0; m < 3; m++) {
		int32_t machine;

		snprintf(name, sizeof(name), "g%d", m + 1);
		machine = virt_model_add_machine(world->model, m, name);
		for (int32_t c = 0; c < 2; c++) {
			int32_t vcpu = virt_model_add_vcpu(world->model, machine, c,
							   FIRST_PID + 2 * m + c, name);

			if (m < 2)
				make_vcpu(world, vcpu, &world->events.cpus[c]);
		}
	}
	assert_int_equal(virt_model_finish(world->model, world->begin, world->end), 0);
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
				.pid = FIRST_PID + 2 * machine + c,
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
	/* if both were given them, they tell nothing */
	pair = (struct align_pair){ .chosen_pid = 0 };
	inject(&world, 0, &pair.injections);
	inject(&world, 1, &pair.injections);
	try(&world, &pair);
	assert_non_null(align_pair_refusal(&pair));
	align_pair_free(&pair);
	drop(&world);
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
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
