// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_host_brief.c
 * @brief	A model that is made for few windows has the same answers as any other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "array.h"
#include "host_trace.h"
#include "same_model.h"
#include "sample_file.h"
#include "virt_model.h"
#include "virt_steal.h"

#define COLUMNS	50

static struct virt_model *load(const char *sample, bool is_brief)
{
	const struct host_options options = { .cpu_hz = 0 };
	const struct host_walk walk = { .is_brief = is_brief };
	struct host_trace host = { 0 };
	struct virt_model *model = NULL;
	char error[1024] = "";

	if (host_trace_open(&host, sample_path(sample), &options, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(host_trace_model(&host, &walk, &model), 0);
	host_trace_close(&host);
	return model;
}

static int64_t sum_of(const struct virt_pcpu_totals *totals)
{
	int64_t ns = totals->task_ns + totals->idle_ns + totals->unknown_ns;

	for (int s = 0; s < VIRT_N_STATES; s++)
		ns += totals->state_ns[s];
	return ns;
}

static void same_pcpus(const struct virt_model *model, const struct virt_model *brief,
		       int64_t from_ns, int64_t to_ns, size_t n)
{
	struct virt_pcpu_totals all[COLUMNS], few[COLUMNS];

	for (int32_t p = 0; p < virt_model_n_pcpus(model); p++) {
		int64_t ns = 0;

		virt_pcpu_columns(model, p, from_ns, to_ns, all, n);
		virt_pcpu_columns(brief, p, from_ns, to_ns, few, n);
		assert_memory_equal(all, few, n * sizeof(*all));
		for (size_t i = 0; i < n; i++)
			ns += sum_of(&few[i]);
		if (from_ns >= virt_model_begin(model) && to_ns <= virt_model_end(model))
			assert_int_equal(ns, to_ns - from_ns);
	}
}

static void same_steal(const struct virt_model *model, const struct virt_model *brief,
		       int64_t from_ns, int64_t to_ns)
{
	struct virt_culprit culprits[COLUMNS];

	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		int64_t all[VIRT_STEAL_N_KINDS], few[VIRT_STEAL_N_KINDS];
		size_t n = virt_vcpu_culprits(model, v, from_ns, to_ns, culprits, COLUMNS);

		virt_steal_split(model, v, from_ns, to_ns, culprits, n, all);
		virt_steal_split(brief, v, from_ns, to_ns, culprits, n, few);
		assert_memory_equal(all, few, sizeof(all));
	}
}

static void test_sample(void **state)
{
	struct virt_model *model = load(*state, false), *brief = load(*state, true);
	int64_t begin = virt_model_begin(model), length = virt_model_end(model) - begin;

	same_model(model, brief);
	for (int64_t i = 0; i < 20; i++) {
		int64_t from_ns = begin + length * i / 20, to_ns = from_ns + length * (20 - i) / 37;

		same_pcpus(model, brief, from_ns, to_ns, 1);
		same_pcpus(model, brief, from_ns, to_ns, COLUMNS);
		same_steal(model, brief, from_ns, to_ns);
	}
	same_pcpus(model, brief, begin, begin + length, 1);
	same_steal(model, brief, begin, begin + length);
	/* beyond the trace, and of nothing */
	same_pcpus(model, brief, begin - length, begin + 2 * length, COLUMNS);
	same_pcpus(model, brief, begin - length, begin, 1);
	same_pcpus(model, brief, begin + 5, begin + 5, 1);
	virt_model_free(model);
	virt_model_free(brief);
}

#define SAMPLE(file) \
	{ .name = (file), .test_func = test_sample, .initial_state = (void *)(uintptr_t)(file) }

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE("credit2-basic.xen"),
		SAMPLE("hvm-exits.xen"),
		SAMPLE("lost-records.xen"),
		SAMPLE("kvm-host.dat"),
		SAMPLE("kvm-nested.dat"),
		SAMPLE("kvm-paused.dat"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
