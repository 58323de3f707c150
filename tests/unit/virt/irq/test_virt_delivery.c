// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_delivery.c
 * @brief	Handlers of injected interrupts, and chains of wake-ups, worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "virt_delivery.h"

#define EXIT	VIRT_INTERVAL_EXIT
#define NONE	VIRT_NONE
#define NOT	VIRT_NO_TIME
#define IRQ	VIRT_GUEST_IN_IRQ
#define ON	VIRT_GUEST_IRQS_ON
#define LOST	VIRT_GUEST_LOST
#define TIMER	0xec

static void set(struct virt_model *model, int64_t time, enum virt_state state, int16_t pcpu,
		uint8_t flags)
{
	assert_int_equal(virt_model_set(model, 0, time, state, pcpu, NONE, flags), 0);
}

/**
 * A vCPU on [0, 3000) that goes in and out of the guest:
 *
 *	guest code	100..200, 300..400, 500..600, 900..1000, 1100..1200, 1500..1700, 2000..2100
 *	otherwise	hypervisor; but 1000..1060 blocked, 1060..1080 waking, 650..850 preempted,
 *			1250..1300 records are lost
 */
static struct virt_model *ins_and_outs(void)
{
	static const int64_t entries[] = { 100, 300, 500, 900, 1100, 1500, 2000 };
	static const int64_t exits[] = { 200, 400, 600, 1000, 1200, 1700, 2100 };
	struct virt_model *model = virt_model_new();

	virt_model_add_machine(model, 1, "g1");
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 1000, "g1v0"), 0);
	set(model, 0, VIRT_HYPERVISOR, 0, 0);
	for (size_t i = 0; i < 7; i++) {
		set(model, entries[i], VIRT_GUEST, 0, 0);
		set(model, exits[i], VIRT_HYPERVISOR, 0, EXIT);
		if (exits[i] == 600) {
			set(model, 650, VIRT_PREEMPTED, 0, 0);
			set(model, 850, VIRT_HYPERVISOR, 0, 0);
		} else if (exits[i] == 1000) {
			set(model, 1000, VIRT_BLOCKED, 0, 0);
			set(model, 1060, VIRT_WAKING, 0, 0);
			set(model, 1080, VIRT_HYPERVISOR, 0, 0);
		} else if (exits[i] == 1200) {
			set(model, 1250, VIRT_UNKNOWN, 0, 0);
			set(model, 1300, VIRT_HYPERVISOR, 0, 0);
		}
	}
	assert_int_equal(virt_model_finish(model, 0, 3000), 0);
	return model;
}

#define SEEN	VIRT_DELIVERY_SEEN
#define UNSEEN	VIRT_DELIVERY_NOT_SEEN
#define NOBODY	VIRT_DELIVERY_UNJUDGED

static void check(const struct virt_injection *injections, size_t n,
		  const struct virt_guest_event *events, size_t n_events,
		  const struct virt_delivery *expected, size_t n_expected)
{
	struct virt_model *model = ins_and_outs();
	struct virt_delivery found[16];

	assert_true(n <= 16);
	assert_int_equal(virt_deliveries(model, 0, injections, n, events, n_events, found),
			 n_expected);
	for (size_t i = 0; i < n_expected; i++) {
		assert_int_equal(found[i].inject_ns, expected[i].inject_ns);
		assert_int_equal(found[i].entry_ns, expected[i].entry_ns);
		assert_int_equal(found[i].handler_ns, expected[i].handler_ns);
		assert_int_equal(found[i].event, expected[i].event);
		assert_int_equal(found[i].vector, expected[i].vector);
		assert_int_equal(found[i].result, expected[i].result);
	}
	virt_model_free(model);
}

#define CHECK(injections, events, expected) \
	check(injections, sizeof(injections) / sizeof(*(injections)), events, \
	      sizeof(events) / sizeof(*(events)), expected, \
	      sizeof(expected) / sizeof(*(expected)))

/**
 * Injected at 280, entered at 300, first seen in an interrupt at 320: 40 ns. The event at 310, with
 * interrupts disabled but in none yet, neither is the handler nor ends it. What the guest recorded
 * at 150, in another interrupt, came before.
 */
static void test_at_once(void **state)
{
	static const struct virt_injection injections[] = { { 280, TIMER, false } };
	static const struct virt_guest_event events[] = {
		{ 150, 1, NONE, IRQ }, { 310, 2, NONE, 0 }, { 320, 3, NONE, IRQ },
		{ 330, 4, NONE, IRQ },
	};
	static const struct virt_delivery expected[] = { { 280, 300, 320, 3, TIMER, SEEN } };

	(void)state;
	CHECK(injections, events, expected);
}

/**
 * Of 280, nothing in an interrupt is recorded before interrupts are enabled at 510: not seen,
 * although one follows at 520. The same if nothing in an interrupt comes before the next injection,
 * at 880. Of that one, the handler is there at 910: 30 ns.
 */
static void test_over(void **state)
{
	static const struct virt_injection injections[] = {
		{ 280, TIMER, false }, { 880, TIMER, false },
	};
	static const struct virt_guest_event enabled[] = {
		{ 0, 1, NONE, ON }, { 510, 2, NONE, ON }, { 520, 3, NONE, IRQ },
		{ 910, 4, NONE, IRQ },
	};
	static const struct virt_guest_event nothing[] = {
		{ 0, 1, NONE, ON }, { 350, 2, NONE, 0 }, { 910, 4, NONE, IRQ },
	};
	static const struct virt_delivery expected[] = {
		{ 280, 300, NOT, NONE, TIMER, UNSEEN }, { 880, 900, 910, 4, TIMER, SEEN },
	};

	(void)state;
	CHECK(injections, enabled, expected);
	CHECK(injections, nothing, expected);
}

/**
 * The handler acknowledges its interrupt and exits for that at 400; the guest goes on at 500 and
 * records at 530: 530 - 280 = 250 ns, of the same delivery. At 560 the handler of the one injected
 * at 280 is still at work, which changes nothing.
 */
static void test_later_stretch(void **state)
{
	static const struct virt_injection injections[] = { { 280, 0xfb, false } };
	static const struct virt_guest_event events[] = {
		{ 0, 1, NONE, ON }, { 530, 2, NONE, IRQ }, { 560, 3, NONE, IRQ },
	};
	static const struct virt_delivery expected[] = { { 280, 300, 530, 2, 0xfb, SEEN } };

	(void)state;
	CHECK(injections, events, expected);
}

/**
 * Injected at 620, but the vCPU is preempted before it gets into the guest; again at 870, entered
 * at 900: one delivery, 920 - 620 = 300 ns. The one at 10 is one again whose first time is not in
 * the trace: none.
 */
static void test_again(void **state)
{
	static const struct virt_injection injections[] = {
		{ 10, 0x22, true }, { 620, TIMER, false }, { 870, TIMER, true },
	};
	static const struct virt_guest_event events[] = {
		{ 0, 1, NONE, ON }, { 920, 2, NONE, IRQ }, { 930, 3, NONE, ON },
	};
	static const struct virt_delivery expected[] = { { 620, 900, 920, 2, TIMER, SEEN } };

	(void)state;
	CHECK(injections, events, expected);
}

/**
 * Events with their vector: at 320 it is another one, so that nothing shows the handler of the
 * one injected at 280. At 520 it is the right one: 520 - 480 = 40 ns.
 */
static void test_vectors(void **state)
{
	static const struct virt_injection injections[] = {
		{ 280, 0xfd, false }, { 480, 0xfd, false },
	};
	static const struct virt_guest_event events[] = {
		{ 0, 1, NONE, ON }, { 320, 2, TIMER, IRQ }, { 330, 3, 0xfd, IRQ },
		{ 520, 4, 0xfd, IRQ }, { 530, 5, NONE, ON },
	};
	static const struct virt_delivery expected[] = {
		{ 280, 300, NOT, NONE, 0xfd, UNSEEN }, { 480, 500, 520, 4, 0xfd, SEEN },
	};

	(void)state;
	CHECK(injections, events, expected);
}

/**
 * Unknown: 80, as the guest's trace begins at 290; 480, as events of the guest are missing
 * before 540; 1090, as the host's records are lost at 1250, before the guest records anything;
 * 1310, as the guest's last event, at 1520 after the entry, is in no interrupt and shows nothing;
 * 2150, as the trace shows no entry any more.
 */
static void test_unjudged(void **state)
{
	static const struct virt_injection injections[] = {
		{ 80, TIMER, false }, { 480, TIMER, false }, { 1090, TIMER, false },
		{ 1310, TIMER, false }, { 2150, TIMER, false },
	};
	static const struct virt_guest_event events[] = {
		{ 290, 1, NONE, IRQ }, { 540, 2, NONE, IRQ | LOST }, { 1400, 3, NONE, IRQ },
		{ 1520, 4, NONE, 0 },
	};
	static const struct virt_delivery expected[] = {
		{ 80, 100, NOT, NONE, TIMER, NOBODY }, { 480, 500, NOT, NONE, TIMER, NOBODY },
		{ 1090, 1100, NOT, NONE, TIMER, NOBODY }, { 1310, 1500, NOT, NONE, TIMER, NOBODY },
		{ 2150, NOT, NOT, NONE, TIMER, NOBODY },
	};

	(void)state;
	CHECK(injections, events, expected);
}

/**
 * A trace without entries and exits has nothing but guest code there: injected at 520 in 500..600,
 * the handler at 540 is 20 ns later. The event at 510 came before.
 */
static void test_without_entries(void **state)
{
	static const struct virt_injection injections[] = { { 520, 0xf3, false } };
	static const struct virt_guest_event events[] = {
		{ 510, 1, NONE, IRQ }, { 540, 2, NONE, IRQ },
	};
	static const struct virt_delivery expected[] = { { 520, 520, 540, 2, 0xf3, SEEN } };

	(void)state;
	CHECK(injections, events, expected);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(virt_linux_vector(0xec), "local_timer");
	assert_string_equal(virt_linux_vector(0xfd), "reschedule");
	assert_string_equal(virt_linux_vector(0xff), "spurious");
	assert_null(virt_linux_vector(0x22));
	assert_null(virt_linux_vector(-1));
	assert_null(virt_linux_vector(256));
}

/**
 * Woken at 1060, on its pCPU at 1080, entry at 1100, first event of the guest at 1130: the vCPU
 * waits 20 ns, the entry takes 20 ns, and the guest records something after 30 ns. The trace loses
 * track at 1250, so that an event at 1260 shows nothing of this wake-up; nor does one before which
 * others are missing.
 */
static void test_chain(void **state)
{
	static const struct virt_guest_event events[] = {
		{ 950, 1, NONE, ON }, { 1130, 2, NONE, ON }, { 1140, 3, NONE, ON },
	};
	static const struct virt_guest_event late[] = {
		{ 950, 1, NONE, ON }, { 1260, 2, NONE, ON },
	};
	static const struct virt_guest_event lost[] = { { 1130, 2, NONE, LOST } };
	const struct virt_worst_query query = {
		.from_ns = 1060, .to_ns = 1061, .kinds = 1u << VIRT_WORST_WAKE,
	};
	struct virt_model *model = ins_and_outs();
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	struct virt_wake_chain chain;
	struct virt_worst_hit hit;
	struct virt_moment wake;

	(void)state;
	assert_int_equal(virt_worst_top(worst, &query, &hit, 1), 1);
	assert_true(virt_worst_describe(worst, &hit, &wake));
	virt_wake_chain(model, &wake, events, 3, &chain);
	assert_int_equal(chain.wake_ns, 1060);
	assert_int_equal(chain.in_ns, 1080);
	assert_int_equal(chain.entry_ns, 1100);
	assert_int_equal(chain.event_ns, 1130);
	assert_int_equal(chain.event, 2);
	virt_wake_chain(model, &wake, NULL, 0, &chain);
	assert_int_equal(chain.entry_ns, 1100);
	assert_true(chain.event_ns == NOT);
	virt_wake_chain(model, &wake, late, 2, &chain);
	assert_true(chain.event_ns == NOT);
	virt_wake_chain(model, &wake, lost, 1, &chain);
	assert_true(chain.event_ns == NOT);
	virt_worst_free(worst);
	virt_model_free(model);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_over),
		cmocka_unit_test(test_later_stretch),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_unjudged),
		cmocka_unit_test(test_without_entries),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
