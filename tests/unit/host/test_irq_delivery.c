// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_irq_delivery.c
 * @brief	Injections out of xentrace files, and where they get to in the guest's trace.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include <libkshark.h>

#include "irq_delivery.h"
#include "ks_clock.h"
#include "sample_file.h"
#include "trace_builder.h"
#include "xen_tracker.h"

#define D1V0	0x00010000
#define D1V1	0x00010001
#define IDLE(n)	(0x7fff0000 | (n))

/* public/trace.h of Xen, written down a second time on purpose */
#define INJ_VIRQ		0x00082004
#define REINJ_VIRQ		0x00082005
#define RUNNING_TO_RUNNABLE	0x00021011
#define RUNNABLE_TO_RUNNING	0x00021101

/** What samples/domU.xen.meta.json says that Xen added to the TSC of the domain. */
#define TSC_OFFSET		((int64_t)0xfffffff9e57d569aULL)

static void collect(struct xen_trace *trace, struct irq_injections *injections)
{
	struct xen_trace_iter *iter = xen_trace_iter_new(trace);
	struct xen_trace_row row;

	assert_non_null(iter);
	while (xen_trace_iter_next(iter, &row))
		irq_injections_xen(injections, &row);
	xen_trace_iter_free(iter);
	assert_int_equal(injections->error, 0);
	irq_injections_sort(injections);
}

/** An injection belongs to the vCPU on its pCPU; to none if that is unknown or idle. */
static void test_collect_xen(void **state)
{
	struct xen_trace_options options = { .cpu_hz = 1000000000, .absolute_time = true };
	struct irq_injections injections = { 0 };
	struct virt_injection *of;
	struct trace trace = { 0 };
	struct xen_trace *xen;
	char error[512] = "";
	size_t n;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, INJ_VIRQ, 900, 0xf1, 0);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 1000, IDLE(0));
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1010, D1V1);
	TRACE_RECORD(&trace, INJ_VIRQ, 1020, 0xf3, 0);
	TRACE_RECORD(&trace, REINJ_VIRQ, 1030, 0xf3);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 2000, D1V1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2010, IDLE(0));
	TRACE_RECORD(&trace, INJ_VIRQ, 2020, 0xf3, 0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1010, D1V0);
	TRACE_RECORD(&trace, INJ_VIRQ, 1015, 0xec, 1);
	TRACE_RECORD(&trace, INJ_VIRQ, 1025, 0x1f3, 0);
	xen = xen_trace_open_memory(trace.data, trace.size, &options, error, sizeof(error));
	if (!xen)
		fail_msg("%s", error);
	collect(xen, &injections);
	assert_int_equal(injections.n, 3);

	of = irq_injections_of(&injections, 20000, &n);
	assert_int_equal(n, 2);
	assert_int_equal(of[0].time_ns, 1015);
	assert_int_equal(of[0].vector, 0xec);
	assert_int_equal(of[1].time_ns, 1025);
	assert_int_equal(of[1].vector, 0xf3);
	free(of);
	of = irq_injections_of(&injections, 20001, &n);
	assert_int_equal(n, 1);
	assert_int_equal(of[0].time_ns, 1020);
	assert_int_equal(of[0].vector, 0xf3);
	assert_false(of[0].again);
	free(of);
	of = irq_injections_of(&injections, 10000, &n);
	assert_int_equal(n, 0);
	free(of);

	irq_injections_free(&injections);
	xen_trace_close(xen);
	trace_free(&trace);
}

/** Records of an event in a file, by nothing but how long each of them is. */
static size_t count_raw(const char *path, uint32_t event)
{
	gzFile file = gzopen(path, "rb");
	uint32_t header, rest[9];
	size_t n = 0;

	assert_non_null(file);
	while (gzread(file, &header, 4) == 4) {
		unsigned int size = 4 * (header >> 28 & 7) + 8 * (header >> 31);

		n += (header & 0x0fffffff) == event;
		assert_int_equal(gzread(file, rest, size), (int)size);
	}
	gzclose(file);
	return n;
}

/** Also the one that is injected before any record has shown who is on its pCPU. */
static void test_sample_xen(void **state)
{
	const char *path = sample_path("domU.xen.gz");
	struct irq_injections injections = { 0 };
	struct xen_trace *xen;
	char error[512] = "";
	size_t n[2];

	(void)state;
	xen = xen_trace_open(path, NULL, error, sizeof(error));
	if (!xen)
		fail_msg("%s", error);
	collect(xen, &injections);
	assert_int_equal(injections.n, count_raw(path, INJ_VIRQ));
	for (int i = 0; i < 2; i++)
		free(irq_injections_of(&injections, 20000 + i, &n[i]));
	assert_int_equal(n[0] + n[1], injections.n);
	irq_injections_free(&injections);
	xen_trace_close(xen);
}

/** A pair as the plugin has it. */
struct world {
	struct irq_pair	pair;
	struct host_trace host;
	struct ks_clock	clock;
	int64_t		parts[KS_CLOCK_TIDS];
	int32_t		tids[2];
	int		stop_at;	/* asked so often */
};

static int64_t model_time(void *arg, int64_t time)
{
	struct world *world = arg;

	return ks_clock_time(&world->clock, time);
}

static int is_stopped(void *arg, uint64_t done, uint64_t total)
{
	struct world *world = arg;

	(void)done;
	(void)total;
	return --world->stop_at ? 0 : -ECANCELED;
}

static void open_world(struct world *world)
{
	const struct host_options options = { 0 };
	struct virt_model *model = NULL;
	char error[512] = "";

	*world = (struct world){
		.tids = { 20000, 20001 },
		.parts = {
			[KS_CLOCK_MAGIC] = KS_CLOCK_IS_OURS,
			[KS_CLOCK_FLAGS] = KS_CLOCK_ALIGNED | KS_CLOCK_CYCLES,
			[KS_CLOCK_FOUND] = -TSC_OFFSET,
		},
		.pair = {
			.host = &world->host,
			.n_tids = 2, .model_time = model_time, .progress = is_stopped,
		},
	};
	if (host_trace_open(&world->host, sample_path("domU.xen.gz"), &options, error,
			    sizeof(error)))
		fail_msg("%s", error);
	world->pair.guest = kvm_trace_open(sample_path("domU-ftrace.dat"), error, sizeof(error));
	if (!world->pair.guest)
		fail_msg("%s", error);
	assert_int_equal(host_trace_model(&world->host, NULL, &model), 0);
	world->pair.model = model;
	world->pair.tids = world->tids;
	world->pair.arg = world;
	world->parts[KS_CLOCK_HZ] = (int64_t)xen_trace_clock(world->host.xen)->hz;
	world->parts[KS_CLOCK_BASE] = (int64_t)xen_trace_clock(world->host.xen)->base_tsc;
	world->clock = (struct ks_clock){ world->parts, KS_CLOCK_TIDS };
}

static void close_world(struct world *world)
{
	virt_model_free((struct virt_model *)world->pair.model);
	host_trace_close(&world->host);
	kvm_trace_close(world->pair.guest);
}

/**
 * The figures are those of tests/golden/delivery_xen.py, which finds all deliveries in the text of
 * both traces: 709 to d1v0 and 877 to d1v1, the longest from 2492470787 to 2525697083 ns.
 */
static void test_deliver_xen(void **state)
{
	const struct virt_irq_delivery *longest = NULL;
	struct irq_list irqs;
	size_t n[2] = { 0, 0 }, others = 0;
	struct world world;

	(void)state;
	open_world(&world);
	assert_int_equal(irq_pair_read(&world.pair, &irqs), 0);
	for (size_t i = 0; i < irqs.n; i++) {
		const struct virt_irq_delivery *irq = &irqs.all[i];

		others += irq->result != VIRT_DELIVERY_SEEN;
		if (irq->result != VIRT_DELIVERY_SEEN)
			continue;
		n[irq->vcpu == virt_model_find_vcpu(world.pair.model, 20001)]++;
		assert_int_equal(irq->vector, 0xf3);
		if (!longest || irq->handler_ns - irq->inject_ns >
				longest->handler_ns - longest->inject_ns)
			longest = irq;
	}
	assert_int_equal(n[0], 709);
	assert_int_equal(n[1], 877);
	assert_true(others > 0);
	assert_non_null(longest);
	assert_int_equal(longest->inject_ns, 2492470787);
	assert_int_equal(longest->handler_ns, 2525697083);
	irq_list_free(&irqs);

	/* another clock, with which the guest's events are anywhere: no result */
	world.parts[KS_CLOCK_OFFSET] = 100000000;
	assert_int_equal(irq_pair_read(&world.pair, &irqs), 0);
	assert_int_equal(irqs.n, 0);
	irq_list_free(&irqs);
	close_world(&world);
}

/** In the host's trace, and in the guest's. */
static void test_stop(void **state)
{
	struct irq_list irqs;
	struct world world;
	int asked;

	(void)state;
	open_world(&world);
	assert_int_equal(irq_pair_read(&world.pair, &irqs), 0);
	irq_list_free(&irqs);
	asked = -world.stop_at;
	assert_true(asked > 2);
	for (int at = 1; at <= asked; at += asked - 1) {
		world.stop_at = at;
		assert_int_equal(irq_pair_read(&world.pair, &irqs), -ECANCELED);
		assert_int_equal(irqs.n, 0);
		irq_list_free(&irqs);
	}
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collect_xen),
		cmocka_unit_test(test_sample_xen),
		cmocka_unit_test(test_deliver_xen),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
