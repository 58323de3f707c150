// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_worst.c
 * @brief	The worst moments of hand-made timelines, worked out by hand; of random ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hand_model.h"
#include "virt_moments.h"
#include "virt_text.h"

#define EXIT	VIRT_INTERVAL_EXIT
#define NONE	VIRT_NONE
#define BIT(kind) (1u << (kind))
#define ALL	INT64_MIN, INT64_MAX

/**
 * Two vCPUs on [0, 2000):
 *
 *  v0	   0 GUEST	on pCPU 0
 *	 100 HYPERVISOR	exit IO, 40 ns: cost 40 + 60 = 100 with the VMM until the entry at 200
 *	 140 VMM
 *	 200 GUEST
 *	 300 PREEMPTED	taken by v1; 300..400 v1 is there, 400..450 none: 150 ns in all, of
 *			which 100 are v1's; two intervals, because who is said changes at 400
 *	 450 GUEST
 *	 500 HYPERVISOR	exit HLT: cost 10 + 30 (WAKING) + 5 = 45; the 255 ns asleep are none
 *	 510 BLOCKED
 *	 765 WAKING	30 ns, until it is on pCPU 1
 *	 795 HYPERVISOR	on pCPU 1: migration, gap 510..795 = 285; of it 30 WAKING, then 5 ns to the
 *			entry: cost 35
 *	 800 GUEST
 *	 900 HYPERVISOR	exit IO that is never finished: the trace loses track at 950
 *	 950 UNKNOWN
 *	1000 PREEMPTED	until the end of the trace: at least 1000 ns
 *
 *  v1	   0 BLOCKED
 *	 290 WAKING	10 ns
 *	 300 GUEST	on pCPU 0
 *	 400 BLOCKED
 *	1500 WAKING	500 ns, until the end of the trace
 *
 *  Records of pCPU 0 are lost from 940 to 990: 7 of them.
 */
static struct virt_model *two_lives(void)
{
	const struct virt_loss loss = { 940, 990, 7, 0 };
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "d1");
	int32_t io = virt_model_add_reason(model, "IO"), hlt = virt_model_add_reason(model, "HLT");

	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 20000, "d1v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, machine, 1, 20001, "d1v1"), 1);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 100, VIRT_HYPERVISOR, 0, io, EXIT);
	set(model, 0, 140, VIRT_VMM, 0, io, 0);
	set(model, 0, 200, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 300, VIRT_PREEMPTED, 0, 1, 0);
	set(model, 0, 400, VIRT_PREEMPTED, 0, NONE, 0);
	set(model, 0, 450, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 500, VIRT_HYPERVISOR, 0, hlt, EXIT);
	set(model, 0, 510, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 765, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 795, VIRT_HYPERVISOR, 1, NONE, 0);
	set(model, 0, 800, VIRT_GUEST, 1, NONE, 0);
	set(model, 0, 900, VIRT_HYPERVISOR, 1, io, EXIT);
	set(model, 0, 950, VIRT_UNKNOWN, 1, NONE, 0);
	set(model, 0, 1000, VIRT_PREEMPTED, 1, NONE, 0);
	set(model, 1, 0, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 1, 290, VIRT_WAKING, 0, NONE, 0);
	set(model, 1, 300, VIRT_GUEST, 0, NONE, 0);
	set(model, 1, 400, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 1, 1500, VIRT_WAKING, 0, NONE, 0);
	occupy(model, 0, 0, 0, true);
	occupy(model, 0, 300, 1, true);
	occupy(model, 0, 400, NONE, true);
	occupy(model, 0, 450, 0, true);
	occupy(model, 0, 510, NONE, true);
	occupy(model, 1, 0, NONE, true);
	occupy(model, 1, 795, 0, true);
	occupy(model, 1, 1000, NONE, true);
	assert_int_equal(virt_model_add_loss(model, &loss), 0);
	assert_int_equal(virt_model_finish(model, 0, 2000), 0);
	return model;
}

/** One expected hit. */
struct expected {
	enum virt_worst_kind kind;
	int64_t	time, cost;
	int32_t	vcpu;
};

static void check_top(const struct virt_worst *worst, const struct virt_worst_query *query,
		      const struct expected *expected, size_t n)
{
	struct virt_worst_hit hits[32];

	assert_int_equal(virt_worst_top(worst, query, hits, 32), n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(hits[i].kind, expected[i].kind);
		assert_int_equal(hits[i].time_ns, expected[i].time);
		assert_int_equal(hits[i].cost_ns, expected[i].cost);
		assert_int_equal(hits[i].vcpu, expected[i].vcpu);
	}
}

#define CHECK_TOP(worst, query, ...) do { \
	const struct expected expected_[] = { __VA_ARGS__ }; \
	check_top(worst, query, expected_, sizeof(expected_) / sizeof(expected_[0])); \
} while (0)

static void test_every_kind(void **state)
{
	const struct virt_irq_delivery irqs[] = {
		{ 820, 870, 0, 0x30, 7, 0 },	/* 50 ns */
		{ 820, 810, 0, 0x31, 7, 0 },	/* handled before it was injected: left out */
		{ 820, 870, 9, 0x32, 7, 0 },	/* no such vCPU */
		{ 5000, 5001, 0, 0x33, 7, 0 },	/* not in the trace */
		{ 820, VIRT_NO_TIME, 0, 0x34, VIRT_NONE, 1 },	/* not seen */
	};
	struct virt_model *model = two_lives();
	struct virt_worst *worst = virt_worst_new(model, false, irqs, 5);
	struct virt_worst_query query = { ALL, .kinds = VIRT_WORST_ALL_KINDS };
	const int32_t v1 = 1, p0 = 0;

	(void)state;
	assert_non_null(worst);
	CHECK_TOP(worst, &query,
		  { VIRT_WORST_STEAL, 1000, 1000, 0 },
		  { VIRT_WORST_WAKE, 1500, 500, 1 },
		  { VIRT_WORST_STEAL, 300, 150, 0 },
		  { VIRT_WORST_EXIT, 100, 100, 0 },
		  /* of equal cost: the earlier one */
		  { VIRT_WORST_IRQ, 820, 50, 0 },
		  { VIRT_WORST_LOST, 940, 50, NONE },
		  { VIRT_WORST_EXIT, 500, 45, 0 },
		  { VIRT_WORST_MIGRATION, 795, 35, 0 },
		  { VIRT_WORST_WAKE, 765, 30, 0 },
		  { VIRT_WORST_WAKE, 290, 10, 1 });
	/* the exit at 100 and the wait at 300 lie outside; that 300 is over at 450 does not help */
	query.from_ns = 301;
	query.to_ns = 1000;
	query.kinds = BIT(VIRT_WORST_EXIT) | BIT(VIRT_WORST_STEAL) | BIT(VIRT_WORST_WAKE);
	CHECK_TOP(worst, &query,
		  { VIRT_WORST_EXIT, 500, 45, 0 },
		  { VIRT_WORST_WAKE, 765, 30, 0 });
	query.min_ns[VIRT_WORST_WAKE] = 31;
	CHECK_TOP(worst, &query, { VIRT_WORST_EXIT, 500, 45, 0 });
	/* one vCPU; what belongs to none goes */
	query = (struct virt_worst_query){ ALL, VIRT_WORST_ALL_KINDS, &v1, 1, { 0 }, false };
	CHECK_TOP(worst, &query,
		  { VIRT_WORST_WAKE, 1500, 500, 1 },
		  { VIRT_WORST_WAKE, 290, 10, 1 });
	virt_worst_free(worst);

	/* on pCPU 0: not the migration to pCPU 1, nor who waits for that one or wakes up there */
	worst = virt_worst_new(model, true, irqs, 4);
	query.of = &p0;
	CHECK_TOP(worst, &query,
		  { VIRT_WORST_WAKE, 1500, 500, 1 },
		  { VIRT_WORST_STEAL, 300, 150, 0 },
		  { VIRT_WORST_EXIT, 100, 100, 0 },
		  { VIRT_WORST_LOST, 940, 50, NONE },
		  { VIRT_WORST_EXIT, 500, 45, 0 },
		  { VIRT_WORST_WAKE, 290, 10, 1 });
	virt_worst_free(worst);
	virt_model_free(model);
}

/** The only hit of a kind at a time, described. */
static struct virt_moment describe(const struct virt_worst *worst, enum virt_worst_kind kind,
				   int64_t time)
{
	const struct virt_worst_query query = { time, time + 1, BIT(kind), NULL, 0, { 0 }, false };
	struct virt_worst_hit hit;
	struct virt_moment moment;

	assert_int_equal(virt_worst_top(worst, &query, &hit, 1), 1);
	assert_true(virt_worst_describe(worst, &hit, &moment));
	assert_int_equal(moment.kind, kind);
	assert_int_equal(moment.cost_ns, hit.cost_ns);
	return moment;
}

/** As rows of a list, whose names are those of the model. */
static void test_findings(void **state)
{
	const struct virt_irq_delivery irq = { 795, 807, 0, 0xec, 7, 0 };
	static const struct {
		enum virt_worst_kind	kind;
		int64_t			time;
		const char		*vcpu, *what, *cause;
	} rows[] = {
		{ VIRT_WORST_EXIT, 500, "d1v0", "HLT", "HLT" },
		{ VIRT_WORST_STEAL, 300, "d1v0", "d1v1", "d1v1" },
		{ VIRT_WORST_STEAL, 1000, "d1v0", "nobody", "nobody" },
		{ VIRT_WORST_WAKE, 290, "d1v1", "d1v0", "d1v0" },
		{ VIRT_WORST_WAKE, 765, "d1v0", "", "" },
		{ VIRT_WORST_MIGRATION, 795, "d1v0", "", "pCPU 0 to pCPU 1" },
		{ VIRT_WORST_IRQ, 795, "d1v0", "local_timer", "0xec local_timer" },
		{ VIRT_WORST_LOST, 940, "", "", "7 records" },
	};
	struct virt_model *model = two_lives();
	struct virt_worst *worst = virt_worst_new(model, false, &irq, 1);
	struct virt_worst_hit none = { .kind = VIRT_WORST_N_KINDS };
	struct virt_finding finding;
	char cause[VIRT_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct virt_worst_query query = {
			rows[i].time, rows[i].time + 1, BIT(rows[i].kind), NULL, 0, { 0 }, false,
		};
		struct virt_worst_hit hit;

		assert_int_equal(virt_worst_top(worst, &query, &hit, 1), 1);
		assert_true(virt_finding_make(model, worst, &hit, &finding));
		assert_int_equal(finding.time_ns, rows[i].time);
		assert_string_equal(finding.vcpu, rows[i].vcpu);
		assert_string_equal(finding.what, rows[i].what);
		assert_string_equal(virt_text_cause(cause, sizeof(cause), model, NULL,
						    &finding),
				    rows[i].cause);
	}
	assert_false(virt_finding_make(model, worst, &none, &finding));
	virt_worst_free(worst);
	virt_model_free(model);
}

/**
 * Two vCPUs are paused together, one of them again alone; what an exit waits for is none, nor is
 * what the trace does not show to begin. One TSC is set twice, first from an unknown value.
 */
static void test_pauses_and_clocks(void **state)
{
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "d1");
	struct virt_tsc_write set_back = { 610, 70, 100, 0, 1, true };
	const struct virt_tsc_write first = { 600, 100, 0, 0, 1, false };
	const struct virt_tsc_write late = { 2000, 1, 2, 0, 1, true };
	struct virt_worst_query query = {
		ALL, .kinds = BIT(VIRT_WORST_OFFLINE) | BIT(VIRT_WORST_TSC),
	};
	struct virt_finding finding;
	struct virt_worst_hit hit;
	char cause[VIRT_TEXT_SIZE];
	struct virt_moment moment;
	struct virt_worst *worst;

	(void)state;
	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 20000, "d1v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, machine, 1, 20001, "d1v1"), 1);
	assert_int_equal(virt_model_add_tsc_write(model, &late), 0);
	assert_int_equal(virt_model_add_tsc_write(model, &set_back), 0);
	assert_int_equal(virt_model_add_tsc_write(model, &first), 0);
	set_back.vcpu = 2;
	assert_int_equal(virt_model_add_tsc_write(model, &set_back), -EINVAL);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 100, VIRT_OFFLINE, 0, NONE, 0);
	set(model, 0, 200, VIRT_OFFLINE, 1, NONE, 0);
	set(model, 0, 400, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 410, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 700, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 710, VIRT_OFFLINE, 0, NONE, VIRT_INTERVAL_UNASKED);
	set(model, 0, 800, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 900, VIRT_UNKNOWN, 0, NONE, 0);
	set(model, 0, 950, VIRT_OFFLINE, 0, NONE, 0);
	set(model, 1, 0, VIRT_OFFLINE, 1, NONE, 0);
	set(model, 1, 50, VIRT_GUEST, 1, NONE, 0);
	set(model, 1, 110, VIRT_OFFLINE, 1, NONE, 0);
	set(model, 1, 405, VIRT_GUEST, 1, NONE, 0);
	set(model, 1, 850, VIRT_OFFLINE, 1, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 2000), 0);
	worst = virt_worst_new(model, false, NULL, 0);
	CHECK_TOP(worst, &query,
		  { VIRT_WORST_OFFLINE, 850, 1150, 1 },
		  { VIRT_WORST_OFFLINE, 100, 300, 0 },
		  { VIRT_WORST_OFFLINE, 110, 295, 1 },
		  { VIRT_WORST_TSC, 600, 0, 0 },
		  { VIRT_WORST_TSC, 610, 0, 0 });
	moment = describe(worst, VIRT_WORST_OFFLINE, 100);
	assert_true(moment.begun && moment.complete && moment.whole_machine);
	assert_int_equal(moment.end_ns, 400);
	/* it is woken first, which is another moment */
	assert_int_equal(moment.entry_ns, VIRT_NO_TIME);
	assert_int_equal(moment.pcpu, 0);
	assert_int_equal(moment.state_ns[VIRT_OFFLINE], 300);
	/* the other one was gone before, but at half of its time it is offline, too */
	moment = describe(worst, VIRT_WORST_OFFLINE, 850);
	assert_true(!moment.complete && moment.whole_machine);
	moment = describe(worst, VIRT_WORST_TSC, 600);
	assert_int_equal(moment.tsc->offset, 100);
	assert_false(moment.tsc->has_before);
	query.from_ns = 610;
	query.to_ns = 611;
	assert_int_equal(virt_worst_top(worst, &query, &hit, 1), 1);
	assert_true(virt_finding_make(model, worst, &hit, &finding));
	assert_string_equal(virt_text_cause(cause, sizeof(cause), model, NULL, &finding),
			    "-30 cycles");
	assert_int_equal(finding.moment.pcpu, 1);
	virt_worst_free(worst);
	virt_model_free(model);
}

static void test_describe(void **state)
{
	/* injected at 795, entry at 800, handler at 807 */
	const struct virt_irq_delivery irq = { 795, 807, 0, 0x30, 7, 0 };
	struct virt_model *model = two_lives();
	struct virt_worst *worst = virt_worst_new(model, false, &irq, 1);
	struct virt_worst_hit none = { .kind = VIRT_WORST_N_KINDS };
	struct virt_moment moment;

	(void)state;
	moment = describe(worst, VIRT_WORST_EXIT, 500);
	assert_int_equal(moment.end_ns, 800);
	assert_int_equal(moment.entry_ns, 800);
	assert_string_equal(virt_model_reason(model, moment.reason), "HLT");
	/* HYPERVISOR 500..510 and 795..800 */
	assert_int_equal(moment.state_ns[VIRT_HYPERVISOR], 15);
	assert_int_equal(moment.state_ns[VIRT_BLOCKED], 255);
	assert_int_equal(moment.state_ns[VIRT_WAKING], 30);
	assert_int_equal(moment.pcpu, 0);
	assert_true(moment.complete);
	assert_false(moment.nested);

	moment = describe(worst, VIRT_WORST_STEAL, 300);
	assert_int_equal(moment.end_ns, 450);
	assert_int_equal(moment.cost_from_ns, 300);
	assert_int_equal(moment.cost_to_ns, 450);
	assert_int_equal(moment.who, 1);
	assert_int_equal(moment.who_ns, 100);
	assert_int_equal(moment.entry_ns, 450);
	assert_true(moment.complete);
	moment = describe(worst, VIRT_WORST_STEAL, 1000);
	assert_int_equal(moment.end_ns, 2000);
	assert_int_equal(moment.who, NONE);
	assert_true(moment.entry_ns == VIRT_NO_TIME);
	assert_false(moment.complete);

	moment = describe(worst, VIRT_WORST_WAKE, 765);
	assert_int_equal(moment.end_ns, 795);
	assert_int_equal(moment.entry_ns, 800);
	assert_int_equal(moment.pcpu, 1);
	/* it was idle */
	assert_int_equal(moment.who, NONE);
	assert_int_equal(moment.who_ns, 0);
	moment = describe(worst, VIRT_WORST_WAKE, 290);
	assert_int_equal(moment.pcpu, 0);
	assert_int_equal(moment.who, 0);
	assert_int_equal(moment.who_ns, 10);

	moment = describe(worst, VIRT_WORST_MIGRATION, 795);
	assert_int_equal(moment.start_ns, 510);
	assert_int_equal(moment.end_ns, 795);
	assert_int_equal(moment.cost_from_ns, 765);
	assert_int_equal(moment.cost_to_ns, 800);
	assert_int_equal(moment.entry_ns, 800);
	assert_int_equal(moment.from_pcpu, 0);
	assert_int_equal(moment.pcpu, 1);
	assert_int_equal(moment.state_ns[VIRT_BLOCKED], 255);
	assert_int_equal(moment.state_ns[VIRT_WAKING], 30);

	moment = describe(worst, VIRT_WORST_IRQ, 795);
	assert_int_equal(moment.cost_ns, 12);
	assert_int_equal(moment.entry_ns, 800);
	assert_int_equal(moment.end_ns, 807);
	assert_int_equal(moment.vector, 0x30);
	assert_int_equal(moment.event, 7);
	assert_int_equal(moment.pcpu, 1);
	assert_int_equal(moment.state_ns[VIRT_HYPERVISOR], 5);
	assert_int_equal(moment.state_ns[VIRT_GUEST], 7);

	moment = describe(worst, VIRT_WORST_LOST, 940);
	assert_int_equal(moment.end_ns, 990);
	assert_int_equal(moment.records, 7);
	assert_int_equal(moment.pcpu, 0);
	assert_int_equal(moment.vcpu, NONE);
	assert_false(virt_worst_describe(worst, &none, &moment));
	virt_worst_free(worst);
	virt_model_free(model);
}

/**
 * A vCPU that comes to another pCPU and loses it before its guest runs there:
 *
 *	 100 HYPERVISOR	exit, on pCPU 0
 *	 110 PREEMPTED	30 ns
 *	 140 HYPERVISOR	on pCPU 1: migration; 5 ns
 *	 145 PREEMPTED	50 ns, in which it is moved and another one takes the pCPU
 *	 195 HYPERVISOR	3 ns
 *	 198 BLOCKED	20 ns, asked for
 *	 218 WAKING	7 ns
 *	 225 HYPERVISOR	1 ns
 *	 226 BLOCKED	4 ns, not asked for
 *	 230 HYPERVISOR	2 ns
 *	 232 GUEST
 *	 300 WAKING	to pCPU 0, 10 ns, and the trace ends before guest code runs there
 *	 310 HYPERVISOR	90 ns
 */
static void test_migration(void **state)
{
	const struct virt_worst_query query = { ALL, .kinds = BIT(VIRT_WORST_MIGRATION) };
	static const int32_t first_pcpu = 0;
	static const int64_t ends[] = { 160, 180, 195 };
	const struct virt_worst_query of_pcpu = {
		ALL, .kinds = BIT(VIRT_WORST_STEAL), .of = &first_pcpu, .n_of = 1,
	};
	struct virt_wait_part part = { .to_ns = VIRT_NO_TIME };
	struct virt_model *model = virt_model_new();
	struct virt_worst *worst, *by_pcpu;
	struct virt_worst_hit hits[3];
	struct virt_moment moment;

	(void)state;
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 20000, "d1v0"), 0);
	/* two others have the pCPUs that it waits for */
	assert_int_equal(virt_model_add_vcpu(model, 0, 1, 20001, "d1v1"), 1);
	assert_int_equal(virt_model_add_vcpu(model, 0, 2, 20002, "d1v2"), 2);
	assert_int_equal(virt_model_occupy(model, 0, 110, 1, true), 0);
	assert_int_equal(virt_model_occupy(model, 1, 145, 2, true), 0);
	assert_int_equal(virt_model_occupy(model, 1, 195, 0, true), 0);
	set(model, 1, 110, VIRT_GUEST, 0, NONE, 0);
	set(model, 2, 145, VIRT_GUEST, 1, NONE, 0);
	set(model, 2, 195, VIRT_BLOCKED, 1, NONE, 0);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 100, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 110, VIRT_PREEMPTED, 0, NONE, 0);
	set(model, 0, 140, VIRT_HYPERVISOR, 1, NONE, 0);
	set(model, 0, 145, VIRT_PREEMPTED, 1, NONE, 0);
	set(model, 0, 160, VIRT_PREEMPTED, 0, NONE, 0);
	set(model, 0, 180, VIRT_PREEMPTED, 1, NONE, 0);
	set(model, 0, 195, VIRT_HYPERVISOR, 1, NONE, 0);
	set(model, 0, 198, VIRT_BLOCKED, 1, NONE, 0);
	set(model, 0, 218, VIRT_WAKING, 1, NONE, 0);
	set(model, 0, 225, VIRT_HYPERVISOR, 1, NONE, 0);
	set(model, 0, 226, VIRT_BLOCKED, 1, NONE, VIRT_INTERVAL_UNASKED);
	set(model, 0, 230, VIRT_HYPERVISOR, 1, NONE, 0);
	set(model, 0, 232, VIRT_GUEST, 1, NONE, 0);
	set(model, 0, 300, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 310, VIRT_HYPERVISOR, 0, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 400), 0);
	worst = virt_worst_new(model, false, NULL, 0);
	assert_int_equal(virt_worst_top(worst, &query, hits, 3), 2);
	assert_int_equal(hits[0].cost_ns, 30 + 5 + 50 + 3 + 7 + 1 + 4 + 2);
	assert_true(hits[0].whole);
	moment = describe(worst, VIRT_WORST_MIGRATION, 140);
	assert_int_equal(moment.end_ns, 140);
	assert_int_equal(moment.cost_from_ns, 110);
	assert_int_equal(moment.cost_to_ns, 232);
	assert_int_equal(moment.entry_ns, 232);
	assert_int_equal(moment.state_ns[VIRT_PREEMPTED], 80);
	assert_int_equal(moment.state_ns[VIRT_WAKING], 7);
	assert_int_equal(moment.state_ns[VIRT_HYPERVISOR], 11);
	assert_int_equal(moment.state_ns[VIRT_BLOCKED], 24);
	assert_int_equal(moment.unasked_ns, 4);
	assert_true(moment.complete);
	assert_int_equal(hits[1].time_ns, 310);
	assert_int_equal(hits[1].cost_ns, 10 + 90);
	assert_false(hits[1].whole);
	moment = describe(worst, VIRT_WORST_MIGRATION, 310);
	assert_true(moment.entry_ns == VIRT_NO_TIME);
	assert_false(moment.complete);
	/* one wait is one wait */
	moment = describe(worst, VIRT_WORST_STEAL, 145);
	assert_int_equal(moment.cost_ns, 50);
	/* its pCPU and who had that belong together */
	assert_int_equal(moment.pcpu, 0);
	assert_int_equal(moment.who, 1);
	assert_int_equal(moment.who_ns, 20);
	for (size_t i = 0; i < 3; i++) {
		assert_true(virt_wait_next_part(model, &moment, &part));
		assert_int_equal(part.pcpu, i == 1 ? 0 : 1);
		assert_int_equal(part.from_ns, i ? ends[i - 1] : 145);
		assert_int_equal(part.to_ns, ends[i]);
		assert_int_equal(part.who, i == 1 ? 1 : 2);
		assert_int_equal(part.who_ns, part.to_ns - part.from_ns);
	}
	assert_false(virt_wait_next_part(model, &moment, &part));
	assert_true(virt_wait_longest_part(model, &moment, &part));
	assert_int_equal(part.from_ns, 160);
	/* another wait has one part */
	moment = describe(worst, VIRT_WORST_STEAL, 110);
	assert_false(virt_wait_longest_part(model, &moment, &part));
	assert_int_equal(part.from_ns, 110);
	assert_int_equal(part.to_ns, 140);
	by_pcpu = virt_worst_new(model, true, NULL, 0);
	assert_int_equal(virt_worst_top(by_pcpu, &of_pcpu, hits, 3), 2);
	assert_int_equal(hits[0].time_ns, 145);
	assert_int_equal(hits[1].time_ns, 110);
	virt_worst_free(by_pcpu);
	/* what the guest did not ask for is a cost of the exit */
	moment = describe(worst, VIRT_WORST_EXIT, 100);
	assert_int_equal(moment.cost_ns, 132 - 20);
	assert_int_equal(moment.unasked_ns, 4);
	virt_worst_free(worst);
	virt_model_free(model);
}

/** A wait that goes on when the trace begins, and one that does when records are lost. */
static void test_not_whole(void **state)
{
	const struct virt_worst_query query = {
		ALL, .kinds = BIT(VIRT_WORST_STEAL) | BIT(VIRT_WORST_WAKE),
	};
	static const bool whole[] = { false, false, true }, begun[] = { false, true, true };
	struct virt_model *model = virt_model_new();
	struct virt_worst_hit hits[3];
	struct virt_moment moment;
	struct virt_worst *worst;

	(void)state;
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 20000, "d1v0"), 0);
	set(model, 0, 0, VIRT_PREEMPTED, 0, NONE, 0);
	set(model, 0, 300, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 400, VIRT_PREEMPTED, 0, NONE, 0);
	set(model, 0, 600, VIRT_UNKNOWN, 0, NONE, 0);
	set(model, 0, 700, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 800, VIRT_GUEST, 0, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	worst = virt_worst_new(model, false, NULL, 0);
	assert_int_equal(virt_worst_top(worst, &query, hits, 3), 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(hits[i].cost_ns, 300 - 100 * i);
		assert_int_equal(hits[i].whole, whole[i]);
		assert_true(virt_worst_describe(worst, &hits[i], &moment));
		assert_int_equal(moment.begun, begun[i]);
		assert_int_equal(moment.begun && moment.complete, whole[i]);
	}
	virt_worst_free(worst);
	virt_model_free(model);
}

static void test_next_and_prev(void **state)
{
	struct virt_model *model = two_lives();
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	struct virt_worst_query query = { ALL, .kinds = VIRT_WORST_ALL_KINDS };
	struct virt_worst_hit hit;

	(void)state;
	/* those that cost 45 or more lie at 100, 300, 500, 940, 1000, 1500 */
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		query.min_ns[kind] = 45;
	assert_true(virt_worst_prev(worst, &query, 300, &hit));
	assert_int_equal(hit.time_ns, 100);
	assert_false(virt_worst_prev(worst, &query, 100, &hit));
	assert_int_equal(hit.kind, VIRT_WORST_N_KINDS);
	assert_true(virt_worst_prev(worst, &query, INT64_MAX, &hit));
	assert_int_equal(hit.time_ns, 1500);
	/* the window holds for it, too */
	query.to_ns = 940;
	assert_true(virt_worst_prev(worst, &query, INT64_MAX, &hit));
	assert_int_equal(hit.time_ns, 500);
	query.from_ns = 300;
	assert_false(virt_worst_prev(worst, &query, 300, &hit));
	virt_worst_free(worst);
	virt_model_free(model);
}

static void test_columns(void **state)
{
	struct virt_model *model = two_lives();
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	struct virt_worst_query query = { 0, 2000, .kinds = VIRT_WORST_ALL_KINDS };
	struct virt_worst_hit hits[10];

	(void)state;
	/*
	 * Columns of 200 ns: 0 exit 100 (100), 1 steal 300 (150) before wake 290 (10), 2 exit 500
	 * (45), 3 migration 795 (35) before wake 765 (30), 4 lost 940 (50), 5 steal 1000 (1000),
	 * 7 wake 1500 (500)
	 */
	static const int64_t cost[10] = { 100, 150, 45, 35, 50, 1000, -1, 500, -1, -1 };

	virt_worst_columns(worst, &query, hits, 10);
	for (int i = 0; i < 10; i++)
		assert_int_equal(hits[i].cost_ns, cost[i]);
	virt_worst_free(worst);
	virt_model_free(model);
}

/**
 * L1 runs from 0, leaves at 10 (level 1), goes on as L2 from 20, leaves at 30 (2): L1 handles it
 * from 35 to 40 and 45 to 50, leaving at 40 and 50 (1, 1); L2 again from 60, leaves at 70 (2), and
 * at 75 there is another exit before any entry (2). After UNKNOWN 80..90, an exit of unknown
 * level. A hypercall at 95 is a point in guest code, not an exit. L1: 3, L2: 3, of which
 * the one at 75 has the level of what ran last; multiplication 1.
 */
static void test_levels(void **state)
{
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "g1");
	struct virt_exit_levels levels;
	struct virt_worst *worst;

	(void)state;
	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 1, "g1v0"), 0);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 10, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 20, VIRT_GUEST, 0, NONE, VIRT_INTERVAL_NESTED);
	set(model, 0, 30, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 35, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 40, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 45, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 50, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 60, VIRT_GUEST, 0, NONE, VIRT_INTERVAL_NESTED);
	set(model, 0, 70, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 75, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 80, VIRT_UNKNOWN, 0, NONE, 0);
	set(model, 0, 90, VIRT_HYPERVISOR, 0, NONE, EXIT);
	set(model, 0, 93, VIRT_GUEST, 0, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	virt_vcpu_exit_levels(model, 0, INT64_MIN, INT64_MAX, &levels);
	assert_int_equal(levels.l1, 3);
	assert_int_equal(levels.l2, 3);
	assert_int_equal(levels.unknown, 1);
	/* what ran before the window still counts */
	virt_vcpu_exit_levels(model, 0, 25, 45, &levels);
	assert_int_equal(levels.l1, 1);
	assert_int_equal(levels.l2, 1);
	virt_vcpu_exit_levels(model, 1, INT64_MIN, INT64_MAX, &levels);
	assert_int_equal(levels.l1 + levels.l2 + levels.unknown, 0);
	worst = virt_worst_new(model, false, NULL, 0);
	assert_true(describe(worst, VIRT_WORST_EXIT, 30).nested);
	assert_false(describe(worst, VIRT_WORST_EXIT, 40).nested);
	virt_worst_free(worst);
	virt_model_free(model);
}

/* --- random timelines ------------------------------------------------------------------------ */

#define VCPUS	3
#define PCPUS	3
#define MAX	20000

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static struct virt_model *random_model(int64_t length)
{
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "m");

	for (int i = 0; i < 3; i++)
		virt_model_add_reason(model, (const char *[]){ "A", "B", "C" }[i]);
	for (int i = 0; i < VCPUS; i++)
		assert_int_equal(virt_model_add_vcpu(model, machine, i, i + 1, "v"), i);
	for (int64_t t = 0; t < length; t += rnd(4)) {
		static const uint8_t common[] = { VIRT_GUEST, VIRT_HYPERVISOR, VIRT_PREEMPTED,
						  VIRT_WAKING, VIRT_BLOCKED };
		unsigned int state = rnd(8) ? common[rnd(5)] : rnd(VIRT_N_STATES);
		int32_t detail = virt_state_on_pcpu(state) ? (int32_t)rnd(4) - 1 :
				 state == VIRT_PREEMPTED ? (int32_t)rnd(VCPUS + 1) - 1 : NONE;

		set(model, (int32_t)rnd(VCPUS), t, (enum virt_state)state,
		    (int16_t)((int)rnd(PCPUS + 1) - 1), detail,
		    (rnd(3) || state == VIRT_GUEST ? 0 : EXIT) |
		    (rnd(3) ? 0 : VIRT_INTERVAL_UNASKED));
		if (!rnd(3))
			occupy(model, (int16_t)rnd(PCPUS), t, (int32_t)rnd(VCPUS + 1) - 1, true);
		if (!rnd(50)) {
			const struct virt_loss loss = { t, t + rnd(30), 1, (int16_t)rnd(PCPUS) };

			assert_int_equal(virt_model_add_loss(model, &loss), 0);
		}
		if (!rnd(40)) {
			/* some of them beyond the end */
			const struct virt_tsc_write write = {
				.time_ns = t + rnd(30), .offset = rnd(100),
				.vcpu = (int32_t)rnd(VCPUS), .pcpu = (int16_t)rnd(PCPUS),
			};

			assert_int_equal(virt_model_add_tsc_write(model, &write), 0);
		}
	}
	assert_int_equal(virt_model_finish(model, 0, length), 0);
	return model;
}

/** What brute force finds. */
struct all {
	struct virt_worst_hit	hits[MAX];
	int16_t			pcpu[MAX];
	size_t			n;
};

static void found(struct all *all, enum virt_worst_kind kind, int32_t vcpu, int16_t pcpu,
		  int64_t time, int64_t cost, bool whole)
{
	assert_true(all->n < MAX);
	all->pcpu[all->n] = pcpu;
	all->hits[all->n++] = (struct virt_worst_hit){ time, cost, vcpu, 0, kind, whole };
}

/** Does the guest wait because it wants to? */
static bool asked_for(const struct virt_interval *interval)
{
	return interval->state == VIRT_POLLING ||
	       ((interval->state == VIRT_BLOCKED || interval->state == VIRT_OFFLINE) &&
		!(interval->flags & VIRT_INTERVAL_UNASKED));
}

/** All moments of a vCPU, from the definitions and the model's public answers alone. */
static void search_vcpu(const struct virt_model *model, int32_t vcpu, struct all *all)
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, ALL);
	struct virt_migration_range moves = virt_vcpu_migrations(model, vcpu, ALL);

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *a = &range.first[i];
		int64_t cost = 0;
		size_t j = i;

#define END(j) ((j) + 1 < range.n ? range.first[(j) + 1].start_ns : range.end_ns)
		if ((a->state == VIRT_PREEMPTED || a->state == VIRT_WAKING) &&
		    (!i || a[-1].state != a->state)) {
			int16_t pcpu = a->pcpu;
			int64_t longest = -1, from;
			size_t from_k = i;

			/* of a wait that is moved, the pCPU of its longest part */
			for (size_t k = i; k < range.n && range.first[k].state == a->state; k++) {
				j = k;
				if (range.first[k].pcpu != range.first[from_k].pcpu)
					from_k = k;
				from = range.first[from_k].start_ns;
				if (END(k) - from > longest) {
					longest = END(k) - from;
					pcpu = range.first[k].pcpu;
				}
			}
			if (a->state == VIRT_WAKING)
				pcpu = a->pcpu;
			if (a->state == VIRT_WAKING && j + 1 < range.n &&
			    virt_state_on_pcpu(range.first[j + 1].state))
				pcpu = range.first[j + 1].pcpu;
			found(all, a->state == VIRT_WAKING ? VIRT_WORST_WAKE : VIRT_WORST_STEAL,
			      vcpu, pcpu, a->start_ns, END(j) - a->start_ns,
			      a->start_ns > range.first->start_ns && j + 1 < range.n &&
			      range.first[j + 1].state != VIRT_UNKNOWN);
		}
		/* not what is found after UNKNOWN, unless an exit is seen to begin with it */
		if (a->state == VIRT_OFFLINE && i && a[-1].state != VIRT_OFFLINE &&
		    (a[-1].state != VIRT_UNKNOWN || a->flags & EXIT) && asked_for(a)) {
			while (j + 1 < range.n && range.first[j + 1].state == a->state)
				j++;
			found(all, VIRT_WORST_OFFLINE, vcpu, a->pcpu, a->start_ns,
			      END(j) - a->start_ns,
			      j + 1 < range.n && range.first[j + 1].state != VIRT_UNKNOWN);
		}
		if (!(a->flags & EXIT))
			continue;
		for (j = i; j < range.n; j++) {
			const struct virt_interval *b = &range.first[j];

			if (b->state == VIRT_UNKNOWN || (j > i && b->flags & EXIT))
				break;
			if (b->state == VIRT_GUEST) {
				found(all, VIRT_WORST_EXIT, vcpu, a->pcpu, a->start_ns, cost,
				      true);
				break;
			}
			if (!asked_for(b))
				cost += END(j) - b->start_ns;
		}
	}
	for (size_t i = 0; i < moves.n; i++) {
		const struct virt_migration *move = &moves.first[i];
		bool arrived = false, whole = false, hidden = false;
		int64_t cost = 0;

		for (size_t j = 0; j < range.n; j++) {
			const struct virt_interval *a = &range.first[j];
			int64_t from = move->time_ns - move->gap_ns;
			int64_t lo = a->start_ns > from ? a->start_ns : from;
			int64_t hi = END(j) < move->time_ns ? END(j) : move->time_ns;

			if (lo < hi && (a->state == VIRT_PREEMPTED || a->state == VIRT_WAKING))
				cost += hi - lo;
			hidden |= lo < hi && a->state == VIRT_UNKNOWN;
		}
		/* from the first run on: whatever it does not ask for, until guest code runs */
		for (size_t j = 0; j < range.n; j++) {
			const struct virt_interval *a = &range.first[j];

			arrived |= a->start_ns == move->time_ns &&
				   a->flags & VIRT_INTERVAL_MIGRATED;
			if (!arrived)
				continue;
			if (a->state == VIRT_GUEST || a->state == VIRT_UNKNOWN) {
				whole = a->state == VIRT_GUEST && !hidden;
				break;
			}
			if (!asked_for(a))
				cost += END(j) - a->start_ns;
		}
		found(all, VIRT_WORST_MIGRATION, vcpu, move->to, move->time_ns, cost, whole);
	}
#undef END
}

static void search(const struct virt_model *model, struct all *all)
{
	struct virt_loss_range losses = virt_model_losses(model);
	struct virt_tsc_write_range writes = virt_model_tsc_writes(model);

	all->n = 0;
	for (int32_t vcpu = 0; vcpu < VCPUS; vcpu++)
		search_vcpu(model, vcpu, all);
	for (size_t i = 0; i < losses.n; i++)
		found(all, VIRT_WORST_LOST, NONE, losses.first[i].pcpu, losses.first[i].from_ns,
		      losses.first[i].to_ns - losses.first[i].from_ns, true);
	for (size_t i = 0; i < writes.n; i++)
		found(all, VIRT_WORST_TSC, writes.first[i].vcpu, writes.first[i].pcpu,
		      writes.first[i].time_ns, 0, true);
}

static bool wanted(const struct all *all, size_t i, const struct virt_worst_query *query,
		   bool by_pcpu)
{
	const struct virt_worst_hit *hit = &all->hits[i];
	int32_t number = by_pcpu ? all->pcpu[i] : hit->vcpu;

	return hit->time_ns >= query->from_ns && hit->time_ns < query->to_ns &&
	       query->kinds & BIT(hit->kind) && hit->cost_ns >= query->min_ns[hit->kind] &&
	       (!query->of || number == query->of[0]);
}

static int compare_cost(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

/** What is counted of a query's hits. */
struct each {
	size_t		n, whole;
	int64_t		whole_ns;
};

static int count_hit(void *arg, const struct virt_worst_hit *hit)
{
	struct each *each = arg;

	each->whole += hit->whole;
	each->whole_ns += hit->whole ? hit->cost_ns : 0;
	return ++each->n == 1000;
}

static void check_query(const struct virt_worst *worst, const struct all *all,
			const struct virt_worst_query *query, bool by_pcpu)
{
	static struct virt_worst_hit hits[MAX];
	static int64_t costs[MAX];
	size_t n = 0, limit = 1 + rnd(200), columns = 1 + rnd(60);
	struct each each = { 0 }, sum = { 0 };
	struct virt_worst_hit hit;
	int64_t time = rnd(3000), prev = INT64_MIN;

	for (size_t i = 0; i < all->n; i++) {
		int64_t at = all->hits[i].time_ns;

		if (!wanted(all, i, query, by_pcpu))
			continue;
		costs[n++] = all->hits[i].cost_ns;
		sum.whole += all->hits[i].whole;
		sum.whole_ns += all->hits[i].whole ? all->hits[i].cost_ns : 0;
		if (at < time && at > prev)
			prev = at;
	}
	qsort(costs, n, sizeof(*costs), compare_cost);
	if (limit > n)
		assert_int_equal(virt_worst_top(worst, query, hits, limit), n);
	else
		assert_int_equal(virt_worst_top(worst, query, hits, limit), limit);
	for (size_t i = 0; i < n && i < limit; i++) {
		assert_int_equal(hits[i].cost_ns, costs[i]);
		assert_true(!i || hits[i].cost_ns < hits[i - 1].cost_ns ||
			    hits[i].time_ns >= hits[i - 1].time_ns);
	}
	assert_int_equal(virt_worst_each(worst, query, count_hit, &each), n >= 1000);
	assert_int_equal(each.n, n < 1000 ? n : 1000);
	if (n < 1000) {
		assert_int_equal(each.whole, sum.whole);
		assert_int_equal(each.whole_ns, sum.whole_ns);
	}
	assert_int_equal(virt_worst_prev(worst, query, time, &hit), prev != INT64_MIN);
	if (prev != INT64_MIN)
		assert_int_equal(hit.time_ns, prev);

	virt_worst_columns(worst, query, hits, columns);
	for (size_t column = 0; column < columns; column++) {
		int64_t width = query->to_ns - query->from_ns, max = -1;
		struct virt_worst_query part = *query;

		part.from_ns = query->from_ns + width * (int64_t)column / (int64_t)columns;
		part.to_ns = query->from_ns + width * (int64_t)(column + 1) / (int64_t)columns;
		for (size_t i = 0; i < all->n; i++)
			if (wanted(all, i, &part, by_pcpu) && all->hits[i].cost_ns > max)
				max = all->hits[i].cost_ns;
		assert_int_equal(hits[column].cost_ns, max);
	}
}

static void test_random(void **state)
{
	static struct all all;
	size_t most = 0;

	(void)state;
	for (uint64_t round = 1; round <= 60; round++) {
		struct virt_model *model;

		seed = round * 0x9e3779b97f4a7c15u;
		/* crowded ones, so that the trees have several levels */
		model = random_model(round % 10 ? 2500 : 12000);
		search(model, &all);
		most = all.n > most ? all.n : most;
		for (int by_pcpu = 0; by_pcpu < 2; by_pcpu++) {
			struct virt_worst *worst = virt_worst_new(model, by_pcpu, NULL, 0);

			assert_non_null(worst);
			for (int i = 0; i < 20; i++) {
				int64_t from = (int64_t)rnd(2600) - 50;
				int32_t of = (int32_t)rnd(VCPUS);
				struct virt_worst_query query = {
					from, from + rnd(10000), rnd(BIT(VIRT_WORST_N_KINDS)),
					rnd(2) ? &of : NULL, 1, { 0 }, false,
				};

				for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
					query.min_ns[kind] = rnd(2) ? rnd(20) : 0;
				check_query(worst, &all, &query, by_pcpu);
			}
			virt_worst_free(worst);
		}
		virt_model_free(model);
	}
	assert_true(most > 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_pauses_and_clocks),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_migration),
		cmocka_unit_test(test_not_whole),
		cmocka_unit_test(test_next_and_prev),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
