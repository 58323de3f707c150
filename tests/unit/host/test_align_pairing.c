// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_align_pairing.c
 * @brief	Which machine and which vCPUs explain the events of a guest, the clocks as they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "align_pairing.h"
#include "failing_memory.h"

#define MACHINES	3
#define VCPUS		2
#define TURNS		600
#define OFFSET		1000000

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

/** A number without a pattern; the same each time. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9;
	return x ^ x >> 32;
}

/** Each vCPU executes its guest in about half of the turns of 1 us. */
static bool executes(int32_t vcpu, int turn)
{
	return mix((uint64_t)vcpu << 32 | (uint64_t)turn) & 1;
}

/** @like: machine 2 does exactly what this one does; negative: its own */
static struct virt_model *make(int32_t like)
{
	struct virt_model *model = virt_model_new();
	int32_t n = 0;

	for (int32_t m = 0; m < MACHINES; m++) {
		assert_int_equal(virt_model_add_machine(model, m, "m"), m);
		for (int32_t v = 0; v < VCPUS; v++, n++)
			assert_int_equal(virt_model_add_vcpu(model, m, v, 100 + n, "v"), n);
	}
	for (int32_t vcpu = 0; vcpu < n; vcpu++) {
		int32_t as = vcpu >= 2 * VCPUS && like >= 0 ? like * VCPUS + vcpu % VCPUS : vcpu;

		for (int turn = 0; turn < TURNS; turn++)
			assert_int_equal(virt_model_set(model, vcpu, turn * 1000,
							executes(as, turn) ? VIRT_GUEST :
							VIRT_HYPERVISOR, (int16_t)(vcpu % 4),
							VIRT_NONE, 0), 0);
	}
	assert_int_equal(virt_model_finish(model, 0, TURNS * 1000), 0);
	return model;
}

/** Events of a guest's CPU that is this vCPU, but for one in @stray turns (0: none). */
static struct virt_clock_cpu record(int32_t vcpu, int stray)
{
	int64_t *times = calloc(TURNS, sizeof(*times));
	struct virt_clock_cpu cpu = { .times = times, .vcpu = VIRT_NONE };

	for (int turn = 0; turn < TURNS; turn++)
		if (executes(vcpu, turn) != (stray && turn % stray == 0))
			times[cpu.n++] = turn * 1000 + 500 - OFFSET;
	return cpu;
}

/** What is found for two CPUs. Return: of align_pairing_find() */
static int find(struct virt_model *model, const struct virt_clock_cpu *cpus, int32_t n,
		struct align_pairing *pairing, int32_t *vcpus)
{
	int ret;

	pairing->vcpus = vcpus;
	ret = align_pairing_find(model, cpus, n, OFFSET, NULL, pairing);
	for (int32_t c = 0; c < n; c++)
		free((int64_t *)cpus[c].times);
	virt_model_free(model);
	return ret;
}

static void test_machine(void **state)
{
	const struct virt_clock_cpu cpus[] = { record(2, 0), record(3, 0) };
	struct align_pairing pairing;
	int32_t vcpus[2];

	(void)state;
	assert_int_equal(find(make(-1), cpus, 2, &pairing, vcpus), 1);
	assert_int_equal(pairing.machine, 1);
	assert_int_equal(vcpus[0], 2);
	assert_int_equal(vcpus[1], 3);
	assert_true(pairing.alignment.explained_percent == 100);
	assert_int_equal(pairing.alignment.inside, cpus[0].n + cpus[1].n);
}

static void test_exchanged(void **state)
{
	/* one in 1000 is wrong: 99.9 % are enough */
	const struct virt_clock_cpu cpus[] = { record(5, 1000), record(4, 0) };
	struct align_pairing pairing;
	int32_t vcpus[2];

	(void)state;
	assert_int_equal(find(make(-1), cpus, 2, &pairing, vcpus), 1);
	assert_int_equal(pairing.machine, 2);
	assert_int_equal(vcpus[0], 5);
	assert_int_equal(vcpus[1], 4);
	assert_true(pairing.alignment.explained_percent < 100);
}

/** A CPU without any event is not paired, and needs no vCPU. */
static void test_silent(void **state)
{
	const struct virt_clock_cpu cpus[] = {
		{ .vcpu = VIRT_NONE }, record(1, 0), { .vcpu = VIRT_NONE }, { .vcpu = VIRT_NONE },
	};
	struct align_pairing pairing;
	int32_t vcpus[4];

	(void)state;
	assert_int_equal(find(make(-1), cpus, 4, &pairing, vcpus), 1);
	assert_int_equal(pairing.machine, 0);
	assert_int_equal(vcpus[0], VIRT_NONE);
	assert_int_equal(vcpus[1], 1);
	assert_int_equal(vcpus[2], VIRT_NONE);
}

/** Nothing fits: no machine's events, too many that are wrong, too many CPUs, two that fit. */
static void test_none(void **state)
{
	const struct virt_clock_cpu foreign[] = { record(77, 0), record(78, 0) };
	const struct virt_clock_cpu poor[] = { record(0, 50), record(1, 50) };
	const struct virt_clock_cpu many[] = { record(0, 0), record(1, 0), record(2, 0) };
	const struct virt_clock_cpu both[] = { record(0, 0), record(1, 0) };
	const struct virt_clock_cpu silent[] = { { .vcpu = VIRT_NONE } };
	struct align_pairing pairing;
	int32_t vcpus[3];

	(void)state;
	assert_int_equal(find(make(-1), foreign, 2, &pairing, vcpus), 0);
	assert_int_equal(find(make(-1), poor, 2, &pairing, vcpus), 0);
	assert_int_equal(find(make(-1), many, 3, &pairing, vcpus), 0);
	assert_int_equal(find(make(0), both, 2, &pairing, vcpus), 0);
	assert_int_equal(find(make(-1), silent, 1, &pairing, vcpus), 0);
}

/** What is said of a wrong pair: by machines, or by vCPUs, those that there are. */
static void test_text(void **state)
{
	int32_t vcpus[] = { 3, VIRT_NONE, 2 };
	const struct align_pairing pairing = { .machine = 1, .vcpus = vcpus };
	struct virt_model *model = make(-1);
	char text[256];

	(void)state;
	align_pairing_text(model, 0, &pairing, 3, text, sizeof(text));
	assert_string_equal(text, "the wrong machine: its events fit m (PID 103) instead");
	align_pairing_text(model, 1, &pairing, 3, text, sizeof(text));
	assert_string_equal(text, "the wrong vCPUs: its events fit CPU 0 = v, CPU 2 = v instead");
	align_pairing_text(model, 1, &pairing, 0, text, sizeof(text));
	assert_string_equal(text, "the wrong vCPUs: its events fit  instead");
	virt_model_free(model);
}

/** Whatever cannot be had: no answer, rather than that nothing fits. */
static void test_memory(void **state)
{
	const struct virt_clock_cpu cpus[] = { record(2, 0), record(3, 0) };
	struct virt_model *model = make(-1);
	struct align_pairing pairing;
	int32_t vcpus[2];
	long n;

	(void)state;
	pairing.vcpus = vcpus;
	n_allocations = 0;
	assert_int_equal(align_pairing_find(model, cpus, 2, OFFSET, NULL, &pairing), 1);
	n = n_allocations;
	for (long i = 1; i <= n; i++) {
		int ret;

		countdown = i;
		ret = align_pairing_find(model, cpus, 2, OFFSET, NULL, &pairing);
		countdown = 0;
		assert_int_equal(ret, -ENOMEM);
	}
	countdown = n + 1;
	assert_int_equal(find(model, cpus, 2, &pairing, vcpus), 1);
	countdown = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_exchanged),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
