// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_stream.c
 * @brief	What KernelShark loads gives the same model as the file itself, again and again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <libkshark.h>

#include "kvm_meta.h"
#include "kvm_stream.h"
#include "kvm_trace.h"
#include "sample_file.h"
#include "virt_registry.h"

static struct virt_model *from_file(const char *file)
{
	char error[256] = "";
	struct kvm_trace *trace = kvm_trace_open(file, error, sizeof(error));
	struct virt_model *model = NULL;
	const struct kvm_meta *meta;

	assert_non_null(trace);
	assert_true(kvm_trace_is_host(trace));
	meta = kvm_trace_meta(trace);
	kvm_trace_set_hz(trace, meta ? meta->cpu_khz * 1000 : 0);
	assert_int_equal(kvm_trace_model(trace, NULL, NULL, NULL, &model), 0);
	kvm_trace_close(trace);
	return model;
}

static void load(struct kshark_context *kshark, int sd)
{
	struct kshark_entry **rows = NULL;
	ssize_t n = kshark_load_entries(kshark, sd, &rows);

	assert_true(n > 0);
	for (ssize_t i = 0; i < n; i++)
		free(rows[i]);
	free(rows);
}

/**
 * The stream gets the events that matter alone, so that it knows a little later who has each
 * CPU: from there on, all must be equal.
 */
static void compare(const struct virt_model *stream, const struct virt_model *file,
		    int64_t rounding_ns)
{
	int64_t end = virt_model_end(stream);

	assert_true(virt_model_n_vcpus(file) > 0);
	assert_int_equal(virt_model_n_vcpus(stream), virt_model_n_vcpus(file));
	for (int32_t i = 0; i < virt_model_n_vcpus(stream); i++) {
		int32_t pid = virt_model_vcpu(stream, i)->host_pid;
		int32_t same = virt_model_find_vcpu(file, pid);
		struct virt_interval_range a, b;
		int64_t from;

		assert_true(same >= 0);
		/* the first moment of which the stream knows something */
		a = virt_vcpu_intervals(stream, i, INT64_MIN, INT64_MAX);
		assert_true(a.n > 100);
		from = a.first[a.first->state == VIRT_UNKNOWN].start_ns;
		a = virt_vcpu_intervals(stream, i, from, end);
		b = virt_vcpu_intervals(file, same, from, end);
		assert_int_equal(a.n, b.n);
		for (size_t j = 0; j < a.n; j++) {
			if (j)
				assert_true(llabs(a.first[j].start_ns - b.first[j].start_ns) <=
					    rounding_ns);
			assert_int_equal(a.first[j].state, b.first[j].state);
			assert_int_equal(a.first[j].pcpu, b.first[j].pcpu);
			assert_int_equal(a.first[j].flags, b.first[j].flags);
		}
	}
}

static void check_sample(const char *name, int64_t rounding_ns)
{
	struct kshark_context *kshark = NULL;
	struct virt_model *file = from_file(sample_path(name));
	struct kshark_data_stream *stream;
	struct virt_shared *shared;
	int sd, guest;

	assert_true(kshark_instance(&kshark));
	sd = kshark_open(kshark, sample_path(name));
	assert_true(sd >= 0);
	guest = kshark_open(kshark, sample_path("kvm-guest.dat"));
	assert_true(guest >= 0);
	stream = kshark_get_data_stream(kshark, sd);
	/* loaded; loaded again with a notice to plugins, and, as after filtering, without it */
	for (int i = 0; i < 4; i++) {
		if (i < 2)
			assert_int_equal(kvm_stream_attach(stream), 1);
		load(kshark, sd);
		/* a guest has come: models are made anew */
		assert_int_equal(kvm_stream_attach(kshark_get_data_stream(kshark, guest)), 0);
		shared = virt_registry_get(sd);
		assert_non_null(shared);
		compare(virt_shared_model(shared), file, rounding_ns);
		virt_shared_put(shared);
	}
	kvm_stream_detach(stream);
	assert_null(virt_registry_get(sd));
	kshark_close(kshark, guest);
	kshark_close(kshark, sd);
	kshark_free(kshark);
	virt_model_free(file);
}

static void test_host(void **state)
{
	(void)state;
	check_sample("kvm-host.dat", 0);
}

static void test_shared(void **state)
{
	(void)state;
	check_sample("kvm-shared.dat", 0);
}

/** Its times are cycles, whose length the sidecar has; libtracecmd uses floating point. */
static void test_cycles(void **state)
{
	(void)state;
	check_sample("kvm-restored.dat", 1);
}

static void test_guest(void **state)
{
	struct kshark_context *kshark = NULL;
	int sd;

	(void)state;
	assert_true(kshark_instance(&kshark));
	sd = kshark_open(kshark, sample_path("kvm-guest.dat"));
	assert_true(sd >= 0);
	assert_int_equal(kvm_stream_attach(kshark_get_data_stream(kshark, sd)), 0);
	assert_null(virt_registry_get(sd));
	kshark_close(kshark, sd);
	kshark_free(kshark);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
