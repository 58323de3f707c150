// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_xen_live.c
 * @brief	A tracker that goes on: its models, and that making them changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "same_model.h"
#include "sample_file.h"
#include "trace_builder.h"
#include "virt_model.h"
#include "xen_live.h"
#include "xen_tracker.h"
#include "xentrace_file.h"
#include "xentrace_private.h"

#define HZ		1000000000
#define BASE		(1ULL << 40)

static const char *const samples[] = {
	"credit2-4.20.xen", "credit2-basic.xen", "dom0.xen", "hvm-exits.xen", "hvm-io.xen",
	"lost-records.xen", "migration.xen", "pinned.xen", "saved.xen", "sched-credit.xen",
	"sched-null.xen",
};

static struct xen_live *lives[4];
static int n_lives;

static struct xen_live *new_live(int64_t begin_ns)
{
	const struct xen_live_options options = {
		.trace = { .cpu_hz = HZ }, .begin_ns = begin_ns, .max_bytes = 1 << 30,
	};
	char error[256] = "";
	struct xen_live *live = xen_live_new("test", &options, error, sizeof(error));

	assert_non_null(live);
	return live;
}

static struct virt_model *model_of(struct xen_live *live)
{
	struct virt_model *model = NULL;
	int64_t begin_ns;

	assert_true(xen_live_has_begun(live, &begin_ns));
	assert_int_equal(xen_live_feed(live, INT64_MAX), 0);
	assert_int_equal(xen_live_model(live, begin_ns, xen_live_last(live), &model), 0);
	return model;
}

/** Look at it again and again while it comes. Return: how often */
static int look(struct xen_live *live, const uint8_t *data, size_t size)
{
	int64_t begin_ns, until_ns = 0;
	int n = 0;

	for (size_t at = 0; at < size; at += 5000) {
		assert_int_equal(xen_live_push(live, data + at,
					       size - at < 5000 ? size - at : 5000), 0);
		if (!xen_live_has_begun(live, &begin_ns))
			continue;
		until_ns = until_ns > begin_ns ? until_ns : begin_ns;
		while (xen_live_feed(live, until_ns) == 1) {
			struct virt_model *model = NULL;

			assert_int_equal(xen_live_model(live, until_ns - 20000000, until_ns,
							&model), 0);
			virt_model_free(model);
			until_ns += 10000000;
			n++;
		}
	}
	assert_int_equal(xen_live_end(live), 0);
	return n;
}

/** All of it, taken at once. */
static struct virt_model *unseen(int64_t begin_ns, const uint8_t *data, size_t size)
{
	struct xen_live *live = new_live(begin_ns);
	struct virt_model *model;

	for (size_t at = 0; at < size; at += 5000)
		assert_int_equal(xen_live_push(live, data + at,
					       size - at < 5000 ? size - at : 5000), 0);
	assert_int_equal(xen_live_end(live), 0);
	model = model_of(live);
	/* it has the names of the tracker */
	lives[n_lives++] = live;
	return model;
}

/** Return: how often it was looked at. */
static int check_sample(struct xen_trace *trace, const uint8_t *data, size_t size)
{
	struct virt_model *of_file, *once = unseen(INT64_MAX, data, size);
	struct virt_model *at_once = unseen(0, data, size), *of_live;
	struct xen_live *live = new_live(0);
	int looks = look(live, data, size);

	assert_int_equal(xen_tracker_build(trace, &of_file), 0);
	/* a sidecar names who is not named here */
	if (!xen_trace_meta(trace))
		same_model(of_file, once);
	/* looking at it has changed nothing */
	of_live = model_of(live);
	same_model(at_once, of_live);
	virt_model_free(of_live);
	virt_model_free(at_once);
	virt_model_free(once);
	virt_model_free(of_file);
	xen_live_free(live);
	while (n_lives)
		xen_live_free(lives[--n_lives]);
	return looks;
}

static void test_samples(void **state)
{
	int looks = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct xen_trace_options options = { .cpu_hz = HZ };
		char error[256] = "";
		struct xen_trace *trace;
		uint8_t *data;
		size_t size;

		trace = xen_trace_open(sample_path(samples[i]), &options, error, sizeof(error));
		assert_non_null(trace);
		size = xentrace_size(xen_trace_reader(trace));
		data = malloc(size);
		assert_int_equal(xentrace_file_read(&xen_trace_reader(trace)->file, data, 0, size),
				 size);
		looks += check_sample(trace, data, size);
		xen_trace_close(trace);
		free(data);
	}
	assert_true(looks > 1000);
}

/** Turns of two pCPUs, the second of which is there from the sixth turn on. */
static void test_more_pcpus(void **state)
{
	struct xen_live *live = new_live(0);
	struct trace t = { 0 };
	struct virt_model *model;

	(void)state;
	for (int turn = 0; turn < 12; turn++) {
		for (uint32_t pcpu = 0; pcpu <= (turn > 5); pcpu++) {
			trace_window(&t, pcpu);
			TRACE_RECORD(&t, 0x21002, BASE + turn * 1000 + pcpu, (pcpu + 1) << 16);
		}
	}
	for (size_t at = 0; at < t.size; at++) {
		assert_int_equal(xen_live_push(live, t.data + at, 1), 0);
		xen_live_feed(live, INT64_MAX);
	}
	assert_int_equal(xen_live_end(live), 0);
	model = model_of(live);
	assert_int_equal(virt_model_n_vcpus(model), 2);
	assert_int_equal(virt_model_n_pcpus(model), 2);
	assert_int_equal(virt_vcpu_at(model, 1, 10000, NULL)->state, VIRT_GUEST);
	assert_int_equal(virt_vcpu_at(model, 1, 10000, NULL)->pcpu, 1);
	assert_int_equal(virt_vcpu_at(model, 1, 3000, NULL)->state, VIRT_UNKNOWN);
	virt_model_free(model);
	xen_live_free(live);
	trace_free(&t);
}

/** Nothing of what is no trace, whatever it is. */
static void test_no_trace(void **state)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b, 8, 0 };
	struct xen_live *live = new_live(0);
	int64_t begin_ns;

	(void)state;
	assert_int_equal(xen_live_push(live, gzip, 1), 0);
	assert_int_equal(xen_live_push(live, gzip + 1, 3), -ENOTSUP);
	xen_live_free(live);
	live = new_live(0);
	assert_int_equal(xen_live_push(live, "hello", 5), 0);
	assert_int_equal(xen_live_end(live), 0);
	assert_false(xen_live_has_begun(live, &begin_ns));
	assert_int_equal(xen_live_feed(live, INT64_MAX), 0);
	xen_live_free(live);
}

/** TSCs that jump back at each window are no trace for ever. */
static void test_jumps(void **state)
{
	struct xen_live *live = new_live(0);
	struct trace t = { 0 };
	int ret = 0;

	(void)state;
	for (int i = 0; i < 70000; i++) {
		trace_window(&t, 0);
		trace_ticks(&t, BASE * 8 - i * 100000ULL, 6, 10);
	}
	for (size_t at = 0; at < t.size && !ret; at += 4096)
		ret = xen_live_push(live, t.data + at, t.size - at < 4096 ? t.size - at : 4096);
	assert_int_equal(ret, -E2BIG);
	xen_live_free(live);
	trace_free(&t);
}

static void test_no_sidecar(void **state)
{
	const struct xen_live_options options = {
		.trace = { .meta_path = "/nowhere/at/all" }, .max_bytes = 1 << 20,
	};
	char error[256] = "";

	(void)state;
	assert_null(xen_live_new("test", &options, error, sizeof(error)));
	assert_non_null(strstr(error, "/nowhere/at/all"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_more_pcpus),
		cmocka_unit_test(test_no_trace),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_no_sidecar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
