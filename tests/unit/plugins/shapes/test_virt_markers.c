// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_markers.c
 * @brief	Which moments are marked where, and what is said of them, worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "hand_model.h"
#include "virt_affinity.h"
#include "virt_colors.h"
#include "virt_limits.h"
#include "virt_markers.h"
#include "virt_needs.h"
#include "virt_registry.h"
#include "virt_text.h"

#define NONE	VIRT_NONE
#define BIT(kind) (1u << (kind))

/**
 * d1v0 on [0, 100000), on pCPU 0: at i * 1000, for i = 1 to 90, an exit IO that costs i ns; so the
 * costliest one is the last. From 95000 on preempted for 2000 ns by d1v1, which wakes up at 94500
 * and sleeps again at 97000. Then d1v0 runs on pCPU 1 and enters its guest at 97100. Records of
 * pCPU 1 are lost from 98000 to 99000: d1v0 is unknown then, d1v1 asleep.
 */
/** @affinity: of d1v1, or NULL */
static struct virt_model *new_model_of(const char *affinity)
{
	const struct virt_loss loss = { 98000, 99000, 7, 1 };
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "d1");
	int32_t io = virt_model_add_reason(model, "IO");

	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 20000, "d1v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, machine, 1, 20001, "d1v1"), 1);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 1, 0, VIRT_BLOCKED, 0, NONE, 0);
	for (int i = 1; i <= 90; i++) {
		set(model, 0, i * 1000, VIRT_HYPERVISOR, 0, io, VIRT_INTERVAL_EXIT);
		set(model, 0, i * 1000 + i, VIRT_GUEST, 0, NONE, 0);
	}
	set(model, 1, 94500, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 95000, VIRT_PREEMPTED, 0, 1, 0);
	set(model, 1, 95000, VIRT_GUEST, 0, NONE, 0);
	set(model, 1, 97000, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 97000, VIRT_HYPERVISOR, 1, NONE, 0);
	set(model, 0, 97100, VIRT_GUEST, 1, NONE, 0);
	set(model, 0, 98000, VIRT_UNKNOWN, 1, NONE, 0);
	set(model, 0, 99000, VIRT_GUEST, 1, NONE, 0);
	assert_int_equal(virt_model_occupy(model, 0, 0, 0, true), 0);
	assert_int_equal(virt_model_occupy(model, 1, 0, NONE, true), 0);
	assert_int_equal(virt_model_occupy(model, 0, 95000, 1, true), 0);
	assert_int_equal(virt_model_occupy(model, 0, 97000, NONE, true), 0);
	assert_int_equal(virt_model_occupy(model, 1, 97000, 0, true), 0);
	assert_int_equal(virt_model_add_loss(model, &loss), 0);
	if (affinity)
		assert_int_equal(virt_model_set_affinity(model, 1, affinity), 0);
	assert_int_equal(virt_model_finish(model, 0, 100000), 0);
	return model;
}

static struct virt_model *new_model(void)
{
	return new_model_of(NULL);
}

/** The worst three exits of a window, or all from a cost on. */
static void test_limits(void **state)
{
	struct virt_model *model = new_model();
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	struct virt_marker_rules rules = { .kinds = BIT(VIRT_WORST_EXIT), .n = 3 };
	struct virt_worst_query query = { .from_ns = 0, .to_ns = 50000 };
	struct virt_marked marked[VIRT_MARKED_ROOM];

	(void)state;
	/* exits 1 to 49 are in it: the worst are 49, 48, 47 */
	assert_int_equal(virt_marker_limits(worst, &rules, &query, marked), 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(marked[i].hit.cost_ns, 49 - i);
		assert_int_equal(marked[i].pcpu, 0);
	}
	assert_int_equal(query.min_ns[VIRT_WORST_EXIT], 47);
	assert_int_equal(query.kinds, BIT(VIRT_WORST_EXIT));
	/* fewer than three: all of them */
	query.to_ns = 2500;
	assert_int_equal(virt_marker_limits(worst, &rules, &query, marked), 2);
	assert_int_equal(query.min_ns[VIRT_WORST_EXIT], 1);
	rules.absolute = true;
	rules.min_ns[VIRT_WORST_EXIT] = 20;
	assert_int_equal(virt_marker_limits(worst, &rules, &query, marked), 0);
	assert_int_equal(query.min_ns[VIRT_WORST_EXIT], 20);
	rules.absolute = false;
	rules.n = 0;
	assert_int_equal(virt_marker_limits(worst, &rules, &query, marked), 0);
	assert_int_equal(query.kinds, 0);
	virt_worst_free(worst);
	virt_model_free(model);
}

/** All exits of d1v0 in columns of @column_ns each. */
static struct virt_marker_graph all_exits(const struct virt_worst *worst, int64_t column_ns)
{
	static const int32_t vcpu;
	struct virt_marker_graph graph = {
		.window = { 0, column_ns, (int)(100000 / column_ns), 1 },
		.worst = worst,
		.query = { .kinds = BIT(VIRT_WORST_EXIT), .of = &vcpu, .n_of = 1 },
		.selected = { .kind = VIRT_WORST_N_KINDS },
	};

	return graph;
}

/** Markers are at their moments, as far apart as they are wide, the costliest one among them. */
static void check_room(const struct virt_marker_graph *graph, const struct virt_marker *markers,
		       int n)
{
	int64_t most = 0;

	for (int i = 0; i < n; i++) {
		assert_int_equal(markers[i].column,
				 markers[i].hit.time_ns / graph->window.column_ns);
		if (i)
			assert_true(markers[i].column - markers[i - 1].column >= VIRT_MARKER_ROOM);
		most = markers[i].hit.cost_ns > most ? markers[i].hit.cost_ns : most;
	}
	assert_int_equal(most, 90);
}

static void test_place(void **state)
{
	struct virt_model *model = new_model();
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	struct virt_marker_graph graph = all_exits(worst, 20);
	struct virt_marker *markers = calloc(virt_marker_count(5000), sizeof(*markers));
	int n;

	(void)state;
	/* 5000 columns, 50 from exit to exit: all 90 */
	n = virt_marker_place(&graph, markers);
	assert_int_equal(n, 90);
	check_room(&graph, markers, n);
	/*
	 * 100 columns, one from exit to exit, 5 places of 20 columns. In each place it is the last
	 * exit that is worst: 19, 39, 59, 79, 90. None is nearer than 10 columns to the next one.
	 */
	graph = all_exits(worst, 1000);
	n = virt_marker_place(&graph, markers);
	assert_int_equal(n, 5);
	check_room(&graph, markers, n);
	for (int i = 0; i < 5; i++)
		assert_int_equal(markers[i].hit.cost_ns, i < 4 ? 19 + 20 * i : 90);
	/* narrower than a marker: one place */
	graph = all_exits(worst, 50000);
	assert_int_equal(virt_marker_count(graph.window.n_columns), 1);
	n = virt_marker_place(&graph, markers);
	assert_int_equal(n, 1);
	check_room(&graph, markers, n);
	free(markers);
	virt_worst_free(worst);
	virt_model_free(model);
}

/** A cheap moment that is selected takes the place of costlier ones, with its own cost. */
static void test_selected(void **state)
{
	struct virt_model *model = new_model();
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	struct virt_marker_graph graph = all_exits(worst, 1000);
	struct virt_marker markers[10];
	bool found = false;
	int n;

	(void)state;
	graph.query.to_ns = INT64_MAX;
	graph.query.from_ns = 80000;
	assert_true(virt_worst_prev(worst, &graph.query, 81500, &graph.selected));
	assert_int_equal(graph.selected.cost_ns, 81);
	n = virt_marker_place(&graph, markers);
	for (int i = 0; i < n; i++) {
		found |= virt_marker_same(&markers[i].hit, &graph.selected);
		/* 90 and 79 are too near to 81 */
		assert_true(markers[i].hit.cost_ns <= 81);
	}
	assert_true(found);
	/* outside of the window it is none */
	graph.window.n_columns = 50;
	n = virt_marker_place(&graph, markers);
	assert_true(n > 0 && markers[n - 1].hit.cost_ns < 50);
	virt_worst_free(worst);
	virt_model_free(model);
}

static void check_text_in(const struct virt_worst *worst, const struct virt_model *model,
			  int64_t from_ns, int64_t to_ns, enum virt_worst_kind kind,
			  int64_t guest_ns, const char *wanted)
{
	struct virt_worst_query query = {
		.from_ns = from_ns, .to_ns = to_ns, .kinds = BIT(kind),
	};
	struct virt_worst_hit hit;
	struct virt_moment moment;
	char text[VIRT_TEXT_SIZE];

	assert_int_equal(virt_worst_top(worst, &query, &hit, 1), 1);
	assert_true(virt_worst_describe(worst, &hit, &moment));
	virt_text_moment(text, sizeof(text), model, NULL, &moment, guest_ns);
	assert_string_equal(text, wanted);
	/* what does not fit is cut off */
	assert_int_equal(strlen(virt_text_moment(text, 20, model, NULL, &moment, guest_ns)), 19);
}

static void check_text(const struct virt_worst *worst, const struct virt_model *model,
		       enum virt_worst_kind kind, int64_t guest_ns, const char *wanted)
{
	check_text_in(worst, model, INT64_MIN, INT64_MAX, kind, guest_ns, wanted);
}

static void test_text(void **state)
{
	const struct virt_irq_delivery irq = { 1500, 2750, 0, 0x30, 0, 0 };
	struct virt_model *model = new_model();
	struct virt_worst *worst = virt_worst_new(model, false, &irq, 1);

	(void)state;
	check_text(worst, model, VIRT_WORST_EXIT, VIRT_NO_TIME,
		   "d1v0 VM exit IO on pCPU 0 cost 90 ns: hypervisor 90 ns, guest code after "
		   "90 ns");
	check_text(worst, model, VIRT_WORST_STEAL, VIRT_NO_TIME,
		   "d1v0 is preempted (last on pCPU 0) for 2.000 us by d1v1 (2.000 us), guest code"
		   " after 2.100 us; pCPU 1 was idle for 2.000 us");
	check_text(worst, model, VIRT_WORST_WAKE, 95020,
		   "d1v1 waited 500 ns after its wake-up, on a pCPU after 500 ns"
		   " (pCPU 0), guest code after 500 ns, the guest's first event after 520 ns;"
		   " pCPU 0 was running d1v0 for 500 ns; pCPU 1 was idle for 500 ns, but d1v1"
		   " never runs there: its affinity is unknown");
	/* the gap of 2000 ns, all of it stolen, and 100 ns up to the entry */
	check_text(worst, model, VIRT_WORST_MIGRATION, VIRT_NO_TIME,
		   "d1v0 migrated from pCPU 0 to pCPU 1, 2.000 us after it last ran; this cost"
		   " 2.100 us: hypervisor 100 ns, preempted 2.000 us, guest code after 2.100 us");
	check_text(worst, model, VIRT_WORST_IRQ, VIRT_NO_TIME,
		   "d1v0 interrupt vector 0x30 on pCPU 0, from injection to handler 1.250 us");
	check_text(worst, model, VIRT_WORST_LOST, VIRT_NO_TIME,
		   "pCPU 1: 7 records lost over 1.000 us");
	virt_worst_free(worst);
	virt_model_free(model);
}

/** A sidecar knows where a vCPU may run: no other pCPU could have saved it the wait. */
static void test_affinity(void **state)
{
	static const struct {
		const char *affinity, *idle;
	} cases[] = {
		{ "all", "; pCPU 1 was idle for 500 ns" },
		{ "1,7-9", "; pCPU 1 was idle for 500 ns" },
		{ "0", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct virt_model *model = new_model_of(cases[i].affinity);
		struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
		char wanted[512];

		snprintf(wanted, sizeof(wanted), "d1v1 waited 500 ns after its wake-up, on a pCPU "
			 "after 500 ns (pCPU 0), guest code after 500 ns; pCPU 0 was running d1v0 "
			 "for 500 ns%s", cases[i].idle);
		check_text(worst, model, VIRT_WORST_WAKE, VIRT_NO_TIME, wanted);
		virt_worst_free(worst);
		virt_model_free(model);
	}
}

/** Pauses, and clocks that are set. They cost nothing, and are among the worst all the same. */
static void test_pauses_and_clocks(void **state)
{
	const struct virt_tsc_write write = { 3000, 0x2000, 0x1000, 0, 1, true };
	const struct virt_marker_rules rules = { .kinds = VIRT_WORST_ALL_KINDS, .n = 2 };
	struct virt_worst_query query = { .from_ns = 0, .to_ns = 10000 };
	struct virt_marked marked[VIRT_MARKED_ROOM];
	struct virt_worst_hit hits[VIRT_MARKED_ROOM];
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "d1");
	struct virt_worst *worst;
	size_t n;

	(void)state;
	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 20000, "d1v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, machine, 1, 20001, "d1v1"), 1);
	assert_int_equal(virt_model_add_tsc_write(model, &write), 0);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 1, 0, VIRT_BLOCKED, 1, NONE, 0);
	set(model, 0, 2000, VIRT_OFFLINE, 0, NONE, 0);
	set(model, 0, 5000, VIRT_GUEST, 1, NONE, 0);
	set(model, 1, 6000, VIRT_OFFLINE, 1, NONE, 0);
	set(model, 0, 6000, VIRT_OFFLINE, 1, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 10000), 0);
	worst = virt_worst_new(model, false, NULL, 0);
	check_text(worst, model, VIRT_WORST_TSC, VIRT_NO_TIME,
		   "d1v0 has its TSC set by +4096 cycles: from here on the host's plus 0x2000");
	check_text_in(worst, model, 0, 6000, VIRT_WORST_OFFLINE, VIRT_NO_TIME,
		      "d1v0 is offline (last on pCPU 0) for 3.000 us, others of its machine are "
		      "not,"
		      " guest code after 3.000 us");
	check_text_in(worst, model, 6000, 10000, VIRT_WORST_OFFLINE, VIRT_NO_TIME,
		      "d1v0 is offline (last on pCPU 1) for 4.000 us, with its whole machine; its"
		      " end is not in the trace");
	n = (size_t)virt_marker_limits(worst, &rules, &query, marked);
	n = virt_marker_pick(model, true, 1, BIT(VIRT_WORST_TSC), marked, n, hits);
	assert_int_equal(n, 1);
	assert_int_equal(hits[0].time_ns, 3000);
	assert_int_equal(hits[0].vcpu, 0);
	virt_worst_free(worst);
	virt_model_free(model);
}

/** A limit that holds a vCPU is named, and not its machine or who has the pCPU alone. */
static void held_texts(void **state)
{
	const struct virt_hold cap = { 2000, 5000, true, false };
	const struct virt_hold budget = { 6500, 7500, true, false };
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "d1");
	struct virt_worst *worst;

	(void)state;
	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 20000, "d1v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, machine, 1, 20001, "d1v1"), 1);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 1, 0, VIRT_GUEST, 1, NONE, 0);
	set(model, 0, 2000, VIRT_OFFLINE, 0, NONE, 0);
	set(model, 0, 5000, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 6000, VIRT_PREEMPTED, 0, NONE, 0);
	set(model, 0, 8000, VIRT_GUEST, 0, NONE, 0);
	assert_int_equal(virt_model_add_hold(model, 0, &cap), 0);
	assert_int_equal(virt_model_add_hold(model, 0, &budget), 0);
	virt_model_know_holds(model);
	virt_model_set_hypervisor(model, VIRT_XEN);
	assert_int_equal(virt_model_finish(model, 0, 10000), 0);
	worst = virt_worst_new(model, false, NULL, 0);
	check_text(worst, model, VIRT_WORST_OFFLINE, VIRT_NO_TIME,
		   "d1v0 is offline (last on pCPU 0) for 3.000 us, held by its cap, guest code "
		   "after 3.000 us");
	check_text(worst, model, VIRT_WORST_STEAL, VIRT_NO_TIME,
		   "d1v0 is preempted (last on pCPU 0) for 2.000 us by nobody (2.000 us), guest "
		   "code after 2.000 us; its budget held it for 1.000 us");
	virt_worst_free(worst);
	virt_model_free(model);
}

/** So is a quota of KVM, also one that may have held it. */
static void quota_texts(void **state)
{
	static const struct virt_hold holds[] = {
		{ 6500, 7500, true, false }, { 7500, 7800, true, true },
	};
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "web");
	struct virt_worst *worst;

	(void)state;
	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 20000, "d1v0"), 0);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 6000, VIRT_PREEMPTED, 0, NONE, 0);
	set(model, 0, 8000, VIRT_GUEST, 0, NONE, 0);
	for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++)
		assert_int_equal(virt_model_add_hold(model, 0, &holds[i]), 0);
	virt_model_know_holds(model);
	virt_model_set_hypervisor(model, VIRT_KVM);
	assert_int_equal(virt_model_finish(model, 0, 10000), 0);
	worst = virt_worst_new(model, false, NULL, 0);
	check_text(worst, model, VIRT_WORST_STEAL, VIRT_NO_TIME,
		   "d1v0 is preempted (last on pCPU 0) for 2.000 us by nobody (2.000 us), guest "
		   "code after 2.000 us; its CPU quota held it for 1.000 us, or up to 1.300 us");
	virt_worst_free(worst);
	virt_model_free(model);
}

/** What the guest did not ask to wait for is a cost, and is shown as one. */
static void test_kept_waiting(void **state)
{
	struct virt_model *model = virt_model_new();
	const struct virt_interval *interval;
	struct virt_worst *worst;
	char text[VIRT_TEXT_SIZE];
	int64_t end;

	(void)state;
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 20000, "d1v0"), 0);
	assert_int_equal(virt_model_add_reason(model, "IOIO"), 0);
	virt_model_set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 100, VIRT_HYPERVISOR, 0, 0, VIRT_INTERVAL_EXIT);
	virt_model_set(model, 0, 110, VIRT_BLOCKED, 0, VIRT_NONE, VIRT_INTERVAL_UNASKED);
	virt_model_set(model, 0, 150, VIRT_VMM, 0, 0, 0);
	virt_model_set(model, 0, 155, VIRT_BLOCKED, 0, VIRT_NONE, VIRT_INTERVAL_UNASKED);
	virt_model_set(model, 0, 162, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 171, VIRT_HYPERVISOR, 0, 0, 0);
	virt_model_set(model, 0, 172, VIRT_GUEST, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	worst = virt_worst_new(model, false, NULL, 0);
	check_text(worst, model, VIRT_WORST_EXIT, VIRT_NO_TIME,
		   "d1v0 VM exit IOIO on pCPU 0 cost 63 ns: hypervisor 11 ns, vmm 5 ns, kept "
		   "waiting"
		   " by its monitor 7 ns, kept waiting 40 ns; not counted: asleep 9 ns, guest code"
		   " after 72 ns");
	interval = virt_vcpu_at(model, 0, 120, &end);
	virt_text_interval(text, sizeof(text), model, NULL, 0, interval, end);
	assert_string_equal(text, "d1v0 is kept waiting (last on pCPU 0) for 40 ns");
	virt_worst_free(worst);
	virt_model_free(model);
}

/** What belongs to which graph. The loss hides what d1v0 did, not d1v1, which slept. */
static void test_pick(void **state)
{
	static const unsigned int all = VIRT_WORST_ALL_KINDS;
	const struct virt_marker_rules rules = { .kinds = all, .n = 100 };
	struct virt_model *model = new_model();
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	struct virt_worst_query query = { .from_ns = 0, .to_ns = 100000 };
	struct virt_marked marked[VIRT_MARKED_ROOM];
	struct virt_worst_hit hits[VIRT_MARKED_ROOM];
	ssize_t n = virt_marker_limits(worst, &rules, &query, marked);

	(void)state;
	/* 90 exits, steal, wake-up, migration, loss */
	assert_int_equal(n, 94);
	/* all but the wake-up, which is d1v1's */
	assert_int_equal(virt_marker_pick(model, false, 0, all, marked, (size_t)n, hits), 93);
	assert_int_equal(virt_marker_pick(model, false, 1, all, marked, (size_t)n, hits), 1);
	assert_int_equal(hits[0].kind, VIRT_WORST_WAKE);
	/* d1v0 comes to run on pCPU 1, where then records are lost; the rest is on pCPU 0 */
	assert_int_equal(virt_marker_pick(model, true, 1, all, marked, (size_t)n, hits), 2);
	assert_int_equal(hits[0].kind, VIRT_WORST_MIGRATION);
	assert_int_equal(hits[1].kind, VIRT_WORST_LOST);
	assert_int_equal(virt_marker_pick(model, true, 0, all, marked, (size_t)n, hits), 92);
	assert_int_equal(virt_marker_pick(model, false, 0, BIT(VIRT_WORST_LOST), marked, (size_t)n,
					  hits), 1);
	assert_int_equal(hits[0].cost_ns, 1000);
	virt_worst_free(worst);
	virt_model_free(model);
}

/** No two kinds look alike, in shape or colour; a glyph is as wide as it is high. */
static void test_looks(void **state)
{
	(void)state;
	for (int a = 0; a < VIRT_WORST_N_KINDS; a++) {
		const struct virt_kind_look *look = virt_worst_look((enum virt_worst_kind)a);
		const char *const *glyph = virt_marker_glyph((enum virt_worst_kind)a);

		assert_non_null(look);
		assert_non_null(look->title);
		assert_non_null(look->meaning);
		for (int y = 0; y < VIRT_MARKER_SIZE; y++) {
			assert_int_equal(strlen(glyph[y]), VIRT_MARKER_SIZE);
			assert_int_equal(strspn(glyph[y], ".#o"), VIRT_MARKER_SIZE);
		}
		for (int b = 0; b < a; b++) {
			const char *const *other = virt_marker_glyph((enum virt_worst_kind)b);
			int differ = 0;

			assert_memory_not_equal(&look->color,
						&virt_worst_look((enum virt_worst_kind)b)->color,
						sizeof(look->color));
			for (int y = 0; y < VIRT_MARKER_SIZE; y++)
				for (int x = 0; x < VIRT_MARKER_SIZE; x++)
					differ += glyph[y][x] != other[y][x];
			assert_true(differ > VIRT_MARKER_SIZE);
		}
	}
	assert_null(virt_worst_look(VIRT_WORST_N_KINDS));
}

/** Made once, shared by all who have a reference, freed with the model. */
static void test_shared(void **state)
{
	struct virt_shared *shared, *other;
	const struct virt_worst *worst;

	(void)state;
	assert_int_equal(virt_registry_set(5, new_model()), 0);
	shared = virt_registry_get(5);
	other = virt_registry_get(5);
	worst = virt_shared_worst(shared, false);
	assert_non_null(worst);
	assert_ptr_equal(virt_shared_worst(other, false), worst);
	assert_ptr_not_equal(virt_shared_worst(other, true), worst);
	virt_shared_put(other);
	assert_int_equal(virt_registry_set(5, NULL), 0);
	assert_ptr_equal(virt_shared_worst(shared, false), worst);
	virt_shared_put(shared);
}

/** How many there are, and the worst one. */
static size_t find_irqs(struct virt_shared *shared, bool by_pcpu, struct virt_worst_hit *worst)
{
	const struct virt_worst_query query = {
		.from_ns = 0, .to_ns = 100000, .kinds = BIT(VIRT_WORST_IRQ),
	};
	struct virt_worst_hit hits[8];
	ssize_t n = virt_worst_top(virt_shared_worst(shared, by_pcpu), &query, hits, 8);

	assert_true(n >= 0);
	if (n)
		*worst = hits[0];
	return (size_t)n;
}

static size_t count_irqs(struct virt_shared *shared, bool by_pcpu)
{
	struct virt_worst_hit worst;

	return find_irqs(shared, by_pcpu, &worst);
}

/** Deliveries come and go, while others hold what was there before. */
static void test_shared_irqs(void **state)
{
	struct virt_irq_delivery irqs[] = {
		{ 1500, 1600, 0, 0xec, 1, 0 }, { 2500, 2700, 0, 0xfb, 2, 0 },
	};
	struct virt_shared *shared, *other;
	const struct virt_worst *none, *two;
	struct virt_worst_hit hit;
	struct virt_moment moment;
	uint64_t serial, model_serial;

	(void)state;
	assert_int_equal(virt_registry_set(5, new_model()), 0);
	shared = virt_registry_get(5);
	other = virt_registry_get(5);
	model_serial = virt_shared_serial(shared);
	serial = virt_shared_worst_serial(shared);
	none = virt_shared_worst(shared, false);
	assert_int_equal(count_irqs(shared, false), 0);
	/* nothing new */
	assert_int_equal(virt_shared_set_irqs(shared, NULL, 0), 0);
	assert_true(virt_shared_worst_serial(shared) == serial);
	assert_int_equal(virt_shared_set_irqs(shared, irqs, 2), 0);
	/* they have been copied */
	irqs[0].vcpu = 77;
	irqs[1].vector = 0x20;
	assert_true(virt_shared_worst_serial(other) != serial);
	assert_true(virt_shared_serial(other) == model_serial);
	two = virt_shared_worst(other, false);
	assert_ptr_not_equal(two, none);
	assert_int_equal(count_irqs(other, true), 2);
	assert_int_equal(find_irqs(other, false, &hit), 2);
	assert_true(virt_worst_describe(two, &hit, &moment));
	assert_int_equal(moment.cost_ns, 200);
	assert_int_equal(moment.vector, 0xfb);
	/* a viewer that still shows it asks the index that has none */
	assert_false(virt_worst_describe(none, &hit, &moment));
	/* another vector is another edition; one of them is of no vCPU that exists */
	assert_int_equal(virt_shared_set_irqs(other, irqs, 2), 0);
	assert_int_equal(count_irqs(shared, false), 1);
	assert_int_equal(count_irqs(shared, true), 1);
	/* back again: as it was */
	assert_int_equal(virt_shared_set_irqs(shared, NULL, 0), 0);
	assert_true(virt_shared_worst_serial(shared) == serial);
	assert_ptr_equal(virt_shared_worst(shared, false), none);
	irqs[0].vcpu = 0;
	irqs[1].vector = 0xfb;
	assert_int_equal(virt_shared_set_irqs(shared, irqs, 2), 0);
	assert_ptr_equal(virt_shared_worst(shared, false), two);
	virt_shared_put(other);
	/* a model of its own has none of them */
	assert_int_equal(virt_registry_set(5, new_model()), 0);
	other = virt_registry_get(5);
	assert_int_equal(count_irqs(other, false), 0);
	assert_int_equal(count_irqs(shared, false), 2);
	virt_shared_put(other);
	virt_shared_put(shared);
	assert_int_equal(virt_registry_set(5, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_texts),
		cmocka_unit_test(quota_texts),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_pauses_and_clocks),
		cmocka_unit_test(test_kept_waiting),
		cmocka_unit_test(test_pick),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_shared_irqs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
