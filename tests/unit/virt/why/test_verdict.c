// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_verdict.c
 * @brief	Who is to blame if a vCPU was late: timelines made by hand, and all samples.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "array.h"
#include "hand_model.h"
#include "sample_model.h"
#include "virt_limits.h"
#include "virt_verdict.h"

static struct virt_verdict verdict_of(const struct virt_model *model, int32_t vcpu, int64_t from,
				      int64_t to)
{
	struct virt_verdict verdict;
	int64_t all = 0, sides = 0;

	assert_int_equal(virt_verdict_vcpu(model, vcpu, from, to, &verdict), 0);
	for (int i = 0; i < VIRT_VERDICT_N_PARTS; i++) {
		assert_true(verdict.ns[i] >= 0);
		all += verdict.ns[i];
	}
	for (int i = 0; i < VIRT_VERDICT_N_SIDES; i++)
		sides += verdict.side_ns[i];
	assert_int_equal(all, to - from);
	assert_int_equal(sides, to - from);
	assert_true(verdict.longest_to_ns - verdict.longest_from_ns <=
		    verdict.side_ns[VIRT_VERDICT_BY_HOST]);
	return verdict;
}

static void is(const struct virt_model *model, int64_t from, int64_t to,
	       enum virt_verdict_word word, enum virt_verdict_part part, int64_t ns)
{
	struct virt_verdict verdict = verdict_of(model, 0, from, to);

	assert_int_equal(verdict.word, word);
	assert_int_equal(verdict.ns[part], ns);
}

/** One vCPU that does one thing after the other, 1000 ns each. */
static void test_words(void **state)
{
	struct virt_model *model = with_vcpus(2);
	int32_t fault = virt_model_add_reason(model, "EPT_VIOLATION");
	int32_t halt = virt_model_add_reason(model, "HLT");
	struct virt_verdict verdict;

	(void)state;
	set(model, 1, 0, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 1000, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 0, 1000, 0, true);
	set(model, 0, 2000, VIRT_PREEMPTED, 0, 1, 0);
	occupy(model, 0, 2000, 1, true);
	set(model, 0, 3000, VIRT_HYPERVISOR, 0, fault, VIRT_INTERVAL_EXIT);
	set(model, 0, 3200, VIRT_BLOCKED, 0, VIRT_NONE, VIRT_INTERVAL_UNASKED);
	set(model, 0, 4000, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 4100, VIRT_HYPERVISOR, 0, halt, VIRT_INTERVAL_EXIT);
	set(model, 0, 4200, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 0, 5000, VIRT_WAKING, 0, VIRT_NONE, 0);
	set(model, 0, 6000, VIRT_OFFLINE, 0, VIRT_NONE, VIRT_INTERVAL_SIGNAL);
	set(model, 0, 7000, VIRT_BLOCKED, 0, VIRT_NONE, VIRT_INTERVAL_LOOSE);
	set(model, 0, 8000, VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, 0);
	set(model, 0, 9000, VIRT_HYPERVISOR, 0, halt, VIRT_INTERVAL_EXIT | VIRT_INTERVAL_UNSPLIT);
	set(model, 0, 10000, VIRT_HYPERVISOR, 0, fault,
	    VIRT_INTERVAL_EXIT | VIRT_INTERVAL_UNSPLIT);
	assert_int_equal(virt_model_finish(model, 0, 11000), 0);

	is(model, 1000, 2000, VIRT_VERDICT_RAN, VIRT_VERDICT_RUNS, 1000);
	is(model, 2000, 3000, VIRT_VERDICT_HOST, VIRT_VERDICT_PREEMPTED, 1000);
	is(model, 3000, 4000, VIRT_VERDICT_HOST, VIRT_VERDICT_ANSWER, 800);
	is(model, 4000, 5000, VIRT_VERDICT_SLEPT, VIRT_VERDICT_ASLEEP, 800);
	is(model, 5000, 6000, VIRT_VERDICT_HOST, VIRT_VERDICT_WAKING, 1000);
	is(model, 6000, 7000, VIRT_VERDICT_HOST, VIRT_VERDICT_STOPPED, 1000);
	is(model, 7000, 8000, VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_UNSURE, 1000);
	is(model, 8000, 9000, VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_UNKNOWN, 1000);
	is(model, 9000, 10000, VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_UNSURE, 1000);
	is(model, 10000, 11000, VIRT_VERDICT_HOST, VIRT_VERDICT_HYPERVISOR, 1000);
	/* what is beyond the trace is not known, but half of the time is enough */
	is(model, -500, 500, VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_BEFORE, 500);
	is(model, 10000, 12000, VIRT_VERDICT_HOST, VIRT_VERDICT_AFTER, 1000);
	is(model, 10000, 12001, VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_AFTER, 1001);
	is(model, 20000, 20100, VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_AFTER, 100);
	is(model, -20000, -19000, VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_BEFORE, 1000);
	/* 60 % guest, 40 % host */
	is(model, 1400, 2400, VIRT_VERDICT_BOTH, VIRT_VERDICT_RUNS, 600);

	verdict = verdict_of(model, 0, 5500, 6600);
	assert_int_equal(verdict.signal_ns, 600);
	verdict = verdict_of(model, 0, 1500, 4500);
	assert_int_equal(verdict.signal_ns, 0);
	assert_int_equal(verdict.longest_from_ns, 2000);
	assert_int_equal(verdict.longest_to_ns, 4000);
	assert_int_equal(verdict.part, VIRT_VERDICT_PREEMPTED);
	assert_int_equal(verdict.n_culprits, 1);
	assert_int_equal(verdict.culprits[0].vcpu, 1);
	assert_int_equal(verdict.culprits[0].ns, 1000);
	assert_int_equal(verdict.n_reasons, 1);
	assert_int_equal(verdict.reasons[0].vcpu, fault);
	assert_int_equal(verdict.reasons[0].ns, 1000);
	/* the exit began before the window */
	verdict = verdict_of(model, 0, 3500, 3900);
	assert_int_equal(verdict.n_reasons, 1);
	assert_int_equal(verdict.reasons[0].vcpu, fault);
	assert_int_equal(verdict.reasons[0].ns, 400);

	assert_int_equal(virt_verdict_vcpu(model, 7, 0, 1, &verdict), -EINVAL);
	assert_int_equal(virt_verdict_vcpu(model, 0, 1, 1, &verdict), -EINVAL);
	assert_int_equal(virt_verdict_machine(model, 7, 0, 1, &verdict), -EINVAL);
	/* while vCPU 1 ran, the host kept vCPU 0 */
	verdict = verdict_of(model, 1, 2000, 3000);
	assert_int_equal(verdict.word, VIRT_VERDICT_RAN);
	assert_int_equal(verdict.other, VIRT_NONE);
	assert_int_equal(virt_verdict_others(model, &verdict), 0);
	assert_int_equal(verdict.other, 0);
	assert_int_equal(verdict.other_ns, 1000);
	/* vCPU 1 runs all the time: the worst one is vCPU 0 */
	assert_int_equal(virt_verdict_machine(model, 0, 2000, 3000, &verdict), 0);
	assert_int_equal(verdict.vcpu, 0);
	assert_int_equal(verdict.word, VIRT_VERDICT_HOST);
	assert_int_equal(virt_verdict_machine(model, 0, 1000, 2000, &verdict), 0);
	assert_int_equal(verdict.word, VIRT_VERDICT_NOT_HOST);
	assert_int_equal(virt_verdict_machine(model, 0, 1400, 2400, &verdict), 0);
	assert_int_equal(verdict.word, VIRT_VERDICT_BOTH);
	assert_int_equal(virt_verdict_machine(model, 0, 7000, 8000, &verdict), 0);
	assert_int_equal(verdict.word, VIRT_VERDICT_NOT_COVERED);
	virt_model_free(model);
}

/** Of a window of 100 ns: times in the guest, preempted, asleep; the rest is unknown. */
static struct virt_model *shares(int guest, int host, int asleep)
{
	struct virt_model *model = with_vcpus(1);
	int32_t halt = virt_model_add_reason(model, "HLT");

	set(model, 0, 0, VIRT_HYPERVISOR, 0, halt, VIRT_INTERVAL_EXIT);
	set(model, 0, 10, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 0, 10 + asleep, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 10 + asleep + guest, VIRT_PREEMPTED, 0, VIRT_NONE, 0);
	set(model, 0, 10 + asleep + guest + host, VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 110), 0);
	return model;
}

static void words_of(int guest, int host, int asleep, int words[2])
{
	struct virt_model *model = shares(guest, host, asleep);
	struct virt_verdict verdict = verdict_of(model, 0, 10, 110);

	words[0] = verdict.word;
	assert_int_equal(virt_verdict_machine(model, 0, 10, 110, &verdict), 0);
	words[1] = verdict.word;
	virt_model_free(model);
}

/** A verdict holds whatever happened in the unknown time, and is missing only if that matters. */
static void test_unknown(void **state)
{
	(void)state;
	for (int guest = 0; guest <= 100; guest += 5)
		for (int host = 0; guest + host <= 100; host += 5)
			for (int asleep = 0; guest + host + asleep <= 100; asleep += 5) {
				int rest = 100 - guest - host - asleep;
				int got[2], ran[2], kept[2], slept[2];

				words_of(guest, host, asleep, got);
				words_of(guest + rest, host, asleep, ran);
				words_of(guest, host + rest, asleep, kept);
				words_of(guest, host, asleep + rest, slept);
				for (int i = 0; i < 2; i++)
					assert_int_equal(got[i], ran[i] == kept[i] &&
							 kept[i] == slept[i] ? ran[i] :
							 VIRT_VERDICT_NOT_COVERED);
			}
}

/** A verdict about a machine names the vCPU whose unknown time could change it. */
static void test_unknown_vcpu(void **state)
{
	struct virt_model *model = with_vcpus(2);
	struct virt_verdict verdict;

	(void)state;
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 950, VIRT_PREEMPTED, 0, VIRT_NONE, 0);
	set(model, 1, 0, VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	assert_int_equal(virt_verdict_machine(model, 0, 0, 1000, &verdict), 0);
	assert_int_equal(verdict.word, VIRT_VERDICT_NOT_COVERED);
	assert_int_equal(verdict.vcpu, 1);
	assert_int_equal(verdict.side_ns[VIRT_VERDICT_BY_UNKNOWN], 1000);
	virt_model_free(model);
}

/** All vCPUs of a machine are offline together, or one of them alone. */
static void test_paused(void **state)
{
	struct virt_model *model = with_vcpus(2);

	(void)state;
	set(model, 0, 0, VIRT_OFFLINE, 0, VIRT_NONE, 0);
	set(model, 1, 0, VIRT_OFFLINE, 0, VIRT_NONE, 0);
	set(model, 1, 1000, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 0, 1000, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 1001, VIRT_OFFLINE, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 2000), 0);
	is(model, 0, 1000, VIRT_VERDICT_HOST, VIRT_VERDICT_PAUSED, 1000);
	is(model, 1100, 2000, VIRT_VERDICT_HOST, VIRT_VERDICT_STOPPED, 900);
	virt_model_free(model);
}

/** A sleep is the guest's wish after some VM exits only, which may have begun before the window. */
static void test_sleep(void **state)
{
	static const struct {
		const char		*reason;	/* "": of no known exit; NULL: none */
		enum virt_verdict_word	word;
		enum virt_verdict_part	part;
	} sleeps[] = {
		{ "HLT", VIRT_VERDICT_SLEPT, VIRT_VERDICT_ASLEEP },
		{ "EXTERNAL_INTERRUPT", VIRT_VERDICT_HOST, VIRT_VERDICT_HELD },
		{ "EPT_VIOLATION", VIRT_VERDICT_HOST, VIRT_VERDICT_HELD },
		{ "VMCALL", VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_UNSURE },
		{ "something", VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_UNSURE },
		{ "", VIRT_VERDICT_NOT_COVERED, VIRT_VERDICT_UNSURE },
		{ NULL, VIRT_VERDICT_SLEPT, VIRT_VERDICT_ASLEEP },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sleeps); i++) {
		struct virt_model *model = with_vcpus(1);
		const char *name = sleeps[i].reason;
		int32_t reason = name && *name ? virt_model_add_reason(model, name) : VIRT_NONE;

		set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
		if (name)
			set(model, 0, 10, VIRT_HYPERVISOR, 0, reason, VIRT_INTERVAL_EXIT);
		set(model, 0, 20, VIRT_BLOCKED, 0, VIRT_NONE, 0);
		assert_int_equal(virt_model_finish(model, 0, 1000), 0);
		is(model, 0, 1000, sleeps[i].word, sleeps[i].part, 980);
		is(model, 100, 1000, sleeps[i].word, sleeps[i].part, 900);
		virt_model_free(model);
	}
}

/** An idle vCPU is not kept from running while the hypervisor polls for it, unseen. */
static void test_halt(void **state)
{
	struct virt_model *model = with_vcpus(1);
	int32_t halt = virt_model_add_reason(model, "HLT");

	(void)state;
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 10, VIRT_HYPERVISOR, 0, halt, VIRT_INTERVAL_EXIT);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	is(model, 0, 1000, VIRT_VERDICT_SLEPT, VIRT_VERDICT_HALTS, 990);
	virt_model_free(model);
}

/** A guest uses fewer vCPUs than it has: nothing keeps the others from running. */
static void test_away(void **state)
{
	struct virt_model *model = with_vcpus(2);
	struct virt_verdict verdict;

	(void)state;
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 1, 0, VIRT_OFFLINE, VIRT_NONE, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	assert_int_equal(virt_verdict_machine(model, 0, 0, 1000, &verdict), 0);
	assert_int_equal(verdict.vcpu, 0);
	assert_int_equal(verdict.word, VIRT_VERDICT_NOT_HOST);
	assert_int_equal(virt_verdict_machine(model, 0, -50, 1000, &verdict), 0);
	assert_int_equal(verdict.vcpu, 0);
	assert_int_equal(virt_verdict_others(model, &verdict), 0);
	assert_int_equal(verdict.other, VIRT_NONE);
	/* a warning that names it is judged all the same */
	verdict = verdict_of(model, 1, 0, 1000);
	assert_int_equal(verdict.word, VIRT_VERDICT_HOST);
	assert_int_equal(virt_verdict_others(model, &verdict), 0);
	assert_int_equal(verdict.other, 0);
	assert_int_equal(verdict.other_ns, 0);
	virt_model_free(model);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < VIRT_VERDICT_N_PARTS; i++) {
		assert_non_null(virt_verdict_part_name((enum virt_verdict_part)i));
		assert_non_null(virt_verdict_part_words((enum virt_verdict_part)i));
		assert_true(virt_verdict_side_of((enum virt_verdict_part)i) < VIRT_VERDICT_N_SIDES);
	}
	for (int i = 0; i < VIRT_VERDICT_N_WORDS; i++)
		assert_non_null(virt_verdict_name((enum virt_verdict_word)i));
}

/** Of a sample: parts of windows side by side add up to those of all of them. */
static void test_adds_up(void **state)
{
	struct virt_model *model = sample_model("credit2-basic.xen");
	int64_t begin = virt_model_begin(model), ns = virt_model_end(model) - begin;

	(void)state;
	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		struct virt_verdict all = verdict_of(model, v, begin - 100, begin + ns + 100);
		int64_t sum[VIRT_VERDICT_N_PARTS] = { 0 };
		int64_t from = begin - 100;

		for (int i = 1; i <= 7; i++) {
			int64_t to = i == 7 ? begin + ns + 100 : begin + ns / 7 * i;
			struct virt_verdict part = verdict_of(model, v, from, to);

			for (int p = 0; p < VIRT_VERDICT_N_PARTS; p++)
				sum[p] += part.ns[p];
			from = to;
		}
		/* whether a machine is offline as a whole is asked for once for each interval */
		sum[VIRT_VERDICT_PAUSED] += sum[VIRT_VERDICT_STOPPED];
		all.ns[VIRT_VERDICT_PAUSED] += all.ns[VIRT_VERDICT_STOPPED];
		for (int p = 0; p < VIRT_VERDICT_N_PARTS; p++)
			if (p != VIRT_VERDICT_STOPPED)
				assert_int_equal(sum[p], all.ns[p]);
	}
	virt_model_free(model);
}

/** A cap holds all of a time offline, a budget a part of a wait for a pCPU: 1000 ns each. */
static void test_limit(void **state)
{
	const struct virt_hold cap = { 1000, 2000, true, false };
	const struct virt_hold budget = { 2200, 2900, true, false };
	struct virt_model *model = with_vcpus(2);

	(void)state;
	set(model, 1, 0, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 1000, VIRT_OFFLINE, 0, VIRT_NONE, 0);
	set(model, 0, 2000, VIRT_PREEMPTED, 0, 1, 0);
	set(model, 0, 3000, VIRT_OFFLINE, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_add_hold(model, 0, &cap), 0);
	assert_int_equal(virt_model_add_hold(model, 0, &budget), 0);
	virt_model_know_holds(model);
	assert_int_equal(virt_model_finish(model, 0, 4000), 0);
	is(model, 1000, 2000, VIRT_VERDICT_HOST, VIRT_VERDICT_LIMIT, 1000);
	is(model, 2000, 3000, VIRT_VERDICT_HOST, VIRT_VERDICT_LIMIT, 700);
	is(model, 2000, 3000, VIRT_VERDICT_HOST, VIRT_VERDICT_PREEMPTED, 300);
	is(model, 2500, 3500, VIRT_VERDICT_HOST, VIRT_VERDICT_LIMIT, 400);
	is(model, 3000, 4000, VIRT_VERDICT_HOST, VIRT_VERDICT_STOPPED, 1000);
	assert_int_equal(verdict_of(model, 0, 1000, 3000).part, VIRT_VERDICT_LIMIT);
	/* the parts are one stretch */
	assert_int_equal(verdict_of(model, 0, 0, 4000).longest_to_ns, 4000);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_unknown_vcpu),
		cmocka_unit_test(test_paused),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_halt),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_away),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
