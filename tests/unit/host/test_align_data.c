/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the search for an alignment gets of traces: of a model made by hand, and of a real guest. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "align_data.h"
#include "array.h"
#include "sample_kvm.h"

/** Two machines: one vCPU, and two of which the first one does all that one can do. */
static struct virt_model *make_model(void)
{
	struct virt_model *model = virt_model_new();

	assert_int_equal(virt_model_add_machine(model, 7, "other"), 0);
	assert_int_equal(virt_model_add_machine(model, 8, "guest"), 1);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 100, "a"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 1, 0, 200, "b"), 1);
	assert_int_equal(virt_model_add_vcpu(model, 1, 1, 201, "c"), 2);
	virt_model_set(model, 1, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 1, 100, VIRT_HYPERVISOR, 0, VIRT_NONE, 0);
	virt_model_set(model, 1, 150, VIRT_BLOCKED, VIRT_NONE, VIRT_NONE, 0);
	virt_model_set(model, 1, 200, VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, 0);
	virt_model_set(model, 1, 300, VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, VIRT_INTERVAL_UNSPLIT);
	virt_model_set(model, 1, 400, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 1, 500, VIRT_GUEST, 1, VIRT_NONE, 0);
	virt_model_set(model, 1, 600, VIRT_WAKING, VIRT_NONE, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	return model;
}

static void check(const struct virt_clock_vcpu *vcpu, const struct virt_clock_change *changes,
		  size_t n)
{
	assert_int_equal(vcpu->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(vcpu->changes[i].time, changes[i].time);
		assert_int_equal(vcpu->changes[i].where, changes[i].where);
	}
}

/**
 * Inside is guest code alone. Unknown is what is lost, and all behind the trace; where a vCPU is
 * only known not to have executed its guest, it is outside. What goes on is one.
 */
static void test_machine(void **state)
{
	static const struct virt_clock_change wanted[] = {
		{ 0, VIRT_CLOCK_INSIDE }, { 100, VIRT_CLOCK_OUTSIDE }, { 200, VIRT_CLOCK_UNKNOWN },
		{ 300, VIRT_CLOCK_OUTSIDE }, { 400, VIRT_CLOCK_INSIDE },
		{ 600, VIRT_CLOCK_OUTSIDE }, { 1000, VIRT_CLOCK_UNKNOWN },
	};
	struct irq_injections injections = { 0 };
	struct virt_model *model = make_model();
	struct align_machine *machine;

	(void)state;
	for (int i = 0; i < 3; i++)
		irq_injections_kvm(&injections, &(struct kvm_trace_record){
			.time_ns = 90 - 10 * i, .vcpu_pid = i == 1 ? 100 : 201,
			.number = 0x30 + i,
			.injection = KVM_TRACE_INTERRUPT,
		});
	irq_injections_sort(&injections);
	machine = align_machine_new(model, 1, &injections);
	assert_non_null(machine);
	assert_string_equal(machine->name, "guest");
	assert_int_equal(machine->n, 2);
	assert_int_equal(machine->indices[0], 1);
	assert_int_equal(machine->indices[1], 2);
	check(&machine->vcpus[0], wanted, ARRAY_SIZE(wanted));
	assert_int_equal(machine->vcpus[0].n_injections, 0);
	assert_int_equal(machine->vcpus[1].n_injections, 2);
	assert_int_equal(machine->vcpus[1].injections[0].time_ns, 70);
	assert_int_equal(machine->vcpus[1].injections[1].time_ns, 90);
	assert_int_equal(machine->vcpus[1].injections[1].vector, 0x30);
	align_machine_free(machine);
	machine = align_machine_new(model, 0, NULL);
	assert_non_null(machine);
	assert_int_equal(machine->n, 1);
	assert_int_equal(machine->vcpus[0].n_injections, 0);
	/* which has no records */
	assert_int_equal(machine->vcpus[0].changes[machine->vcpus[0].n - 1].where,
			 VIRT_CLOCK_UNKNOWN);
	align_machine_free(machine);
	/* there is no such one */
	assert_null(align_machine_new(model, 2, NULL));
	assert_null(align_machine_new(model, -1, NULL));
	align_machine_free(NULL);
	irq_injections_free(&injections);
	virt_model_free(model);
}

/* --- events ----------------------------------------------------------------------------------- */

/** The result of a walk for each CPU. */
struct seen {
	size_t		n[8], n_vectors[8], n_irqs[8];
	int64_t		first[8], last[8];
	bool		in_irq[8], any[8];
	uint64_t	bytes;
};

static int see(void *arg, const struct kvm_trace_record *record)
{
	bool in_irq = record->flags & VIRT_GUEST_IN_IRQ;
	struct seen *seen = arg;
	int c = record->cpu;

	assert_in_range(c, 0, 7);
	if (!seen->n[c]++)
		seen->first[c] = record->time_ns;
	seen->last[c] = record->time_ns;
	seen->n_vectors[c] += record->vector != VIRT_NONE;
	/* that it is in a handler shows first, and it was not before */
	seen->n_irqs[c] += record->vector == VIRT_NONE && in_irq && seen->any[c] &&
			   !seen->in_irq[c];
	seen->any[c] = true;
	seen->in_irq[c] = in_irq;
	seen->bytes += record->bytes;
	return 0;
}

static void see_lost(void *arg, int cpu, uint64_t records)
{
	struct seen *seen = arg;

	(void)records;
	if (cpu >= 0 && cpu < 8)
		seen->any[cpu] = false;
}

/** All events are there, in order, and handlers where one begins: not before the first event. */
static void test_events(void **state)
{
	static const char *const names[] = {
		"kvm-nosync-g1.dat", "kvm-guest.dat", "kvm-ptp-g1.dat", "kvm-migration-g1.dat",
		"kvm-nested-shift-g1.dat",
	};
	size_t n_handlers = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct kvm_trace *trace = open_sample(names[i]);
		/* whatever was there before */
		struct align_events events = { .bytes = 1000 };
		struct seen seen = { .bytes = 0 };

		assert_int_equal(kvm_trace_walk(trace, see, see_lost, &seen), 0);
		assert_int_equal(align_events_read(trace, &(struct align_stop){ 0 }, &events), 0);
		assert_int_equal(events.n, kvm_trace_n_cpus(trace));
		assert_int_equal(events.bytes, seen.bytes);
		for (int32_t c = 0; c < events.n; c++) {
			const struct virt_clock_cpu *cpu = &events.cpus[c];

			assert_int_equal(cpu->vcpu, VIRT_NONE);
			assert_int_equal(cpu->n, seen.n[c]);
			assert_int_equal(cpu->n_handlers, seen.n_vectors[c] + seen.n_irqs[c]);
			n_handlers += cpu->n_handlers;
			for (size_t k = 1; k < cpu->n; k++)
				assert_true(cpu->times[k] >= cpu->times[k - 1]);
			for (size_t k = 1; k < cpu->n_handlers; k++)
				assert_true(cpu->handlers[k].time >= cpu->handlers[k - 1].time);
		}
		align_events_free(&events);
		assert_int_equal(events.n, 0);
		kvm_trace_close(trace);
	}
	assert_true(n_handlers > 100);
}

static bool at_once(void *arg)
{
	return ++*(int *)arg > 0;
}

static void test_stop(void **state)
{
	struct kvm_trace *trace = open_sample("kvm-nosync-g1.dat");
	struct align_events events;
	int asked = 0;

	(void)state;
	assert_int_equal(align_events_read(trace, &(struct align_stop){ at_once, &asked }, &events),
			 -ECANCELED);
	assert_int_equal(asked, 1);
	align_events_free(&events);
	kvm_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
