// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_excerpt.c
 * @brief	Random timelines: a copy of a model's end has the same numbers there as the model.
 *
 * One model is filled for long, asked now and then, and forgets. Its result for a window is
 * compared with a model of its own of everything up to then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_excerpt.h"
#include "virt_window.h"

#define SEEDS		40
#define STEPS		6000
#define VCPUS		5
#define MACHINES	2
#define PCPUS		3
#define REASONS		4
#define TASKS		2

enum what { SET, OCCUPY, LOSS };

/** What a tracker would have said. */
struct step {
	enum what	what;
	int64_t		time_ns, to_ns;
	int32_t		who, detail;
	int16_t		pcpu;
	uint8_t		state, flags;
};

static uint64_t seed;
static int n_checks;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed % n);
}

static struct virt_model *new_model(void)
{
	struct virt_model *model = virt_model_new();

	for (int i = 0; i < MACHINES; i++)
		assert_int_equal(virt_model_add_machine(model, 9 - i, "m"), i);
	for (int i = 0; i < VCPUS; i++)
		assert_int_equal(virt_model_add_vcpu(model, i % MACHINES, i, i, "v"), i);
	for (int i = 0; i < REASONS; i++)
		assert_int_equal(virt_model_add_reason(model, (const char *[]){ "HLT", "IO", "MSR",
									    "CR" }[i]), i);
	for (int i = 0; i < TASKS; i++)
		virt_model_add_task(model, 100 + i, "t");
	return model;
}

/** Some time later than @now, often not at all. */
static struct step random_step(int64_t *now)
{
	struct step step = { .what = SET, .pcpu = (int16_t)rnd(PCPUS) };

	*now += rnd(3) ? rnd(20) : 0;
	step.time_ns = *now;
	if (!rnd(60))
		step.what = LOSS;
	else if (!rnd(3))
		step.what = OCCUPY;
	step.to_ns = *now + rnd(300);
	step.who = rnd(6) ? (int32_t)rnd(VCPUS) : VIRT_FIRST_TASK + (int32_t)rnd(TASKS);
	step.state = (uint8_t)rnd(VIRT_N_STATES);
	step.detail = VIRT_NONE;
	if (step.what == SET)
		step.who = (int32_t)rnd(VCPUS);
	if (step.state == VIRT_HYPERVISOR && rnd(2)) {
		step.flags = VIRT_INTERVAL_EXIT;
		step.detail = (int32_t)rnd(REASONS);
	}
	return step;
}

static void take(struct virt_model *model, const struct step *step)
{
	const struct virt_loss loss = {
		.from_ns = step->time_ns, .to_ns = step->to_ns, .records = 3, .pcpu = step->pcpu,
	};

	if (step->what == LOSS)
		assert_int_equal(virt_model_add_loss(model, &loss), 0);
	else if (step->what == OCCUPY)
		assert_int_equal(virt_model_occupy(model, step->pcpu, step->time_ns, step->who,
						   step->state), 0);
	else
		assert_int_equal(virt_model_set(model, step->who, step->time_ns, step->state,
						step->pcpu, step->detail, step->flags), 0);
}

static void same_stretches(const struct virt_stretches *a, const struct virt_stretches *b)
{
	assert_int_equal(a->ns, b->ns);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->before, b->before);
	assert_memory_equal(&a->whole, &b->whole, sizeof(a->whole));
}

static void same_stats(const struct virt_window_stats *a, const struct virt_window_stats *b)
{
	for (int state = 0; state < VIRT_N_STATES; state++)
		same_stretches(&a->states[state], &b->states[state]);
	assert_int_equal(a->known_ns, b->known_ns);
	assert_int_equal(a->exits, b->exits);
	assert_int_equal(a->n_reasons, b->n_reasons);
	for (size_t i = 0; i < a->n_reasons; i++)
		assert_memory_equal(&a->reasons[i], &b->reasons[i], sizeof(a->reasons[i]));
	assert_int_equal(a->n_culprits, b->n_culprits);
	for (size_t i = 0; i < a->n_culprits; i++) {
		assert_int_equal(a->culprits[i].vcpu, b->culprits[i].vcpu);
		assert_int_equal(a->culprits[i].ns, b->culprits[i].ns);
	}
}

static void same_window(const struct virt_model *a, const struct virt_model *b, int64_t from_ns,
			int64_t to_ns)
{
	const struct virt_window_query query = {
		.from_ns = from_ns, .to_ns = to_ns,
		.parts = VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS,
	};
	struct virt_window *x = virt_window_new(a, &query), *y = virt_window_new(b, &query);

	assert_int_equal(x->from_ns, y->from_ns);
	assert_int_equal(x->to_ns, y->to_ns);
	assert_int_equal(x->n_pcpus, y->n_pcpus);
	for (int i = 0; i < VCPUS; i++)
		same_stats(&x->vcpus[i], &y->vcpus[i]);
	for (int i = 0; i < MACHINES; i++) {
		assert_int_equal(virt_model_machine(a, i)->id, virt_model_machine(b, i)->id);
		for (int state = 0; state < VIRT_M_N_STATES; state++)
			same_stretches(&x->machines[i].states[state],
				       &y->machines[i].states[state]);
	}
	for (int i = 0; i < x->n_pcpus; i++)
		assert_memory_equal(&x->pcpus[i], &y->pcpus[i], sizeof(x->pcpus[i]));
	virt_window_free(x);
	virt_window_free(y);
}

/** All up to now, in a model of its own, beside a copy of the end of one that forgets. */
static void check_end(const struct virt_model *model, const struct step *steps, size_t n,
		      int64_t from_ns, int64_t now)
{
	struct virt_model *all = new_model(), *end = virt_model_excerpt(model, from_ns - 1);
	int64_t to_ns = from_ns + 1 + rnd((uint32_t)(now - from_ns) + 1);

	assert_non_null(end);
	for (size_t i = 0; i < n; i++)
		take(all, &steps[i]);
	assert_int_equal(virt_model_finish(all, 0, now + 1), 0);
	assert_int_equal(virt_model_finish(end, from_ns - 1, now + 1), 0);
	same_window(all, end, from_ns, now + 1);
	same_window(all, end, from_ns, to_ns);
	virt_model_free(all);
	virt_model_free(end);
	n_checks++;
}

static void test_end(void **state)
{
	(void)state;
	for (seed = 1; seed <= SEEDS; ) {
		uint64_t number = seed;
		struct virt_model *model = new_model();
		struct step *steps = calloc(STEPS, sizeof(*steps));
		int64_t now = 0, from_ns = 1;

		for (size_t i = 0; i < STEPS; i++) {
			steps[i] = random_step(&now);
			take(model, &steps[i]);
			if (rnd(400) || now <= from_ns)
				continue;
			check_end(model, steps, i + 1, from_ns, now);
			/* no later question is about times before that */
			from_ns += 1 + rnd((uint32_t)(now - from_ns));
			virt_model_forget(model, from_ns - 1);
		}
		virt_model_free(model);
		free(steps);
		seed = number + 1;
	}
	assert_true(n_checks > 10 * SEEDS);
}

/** What ended a wait is said of the last one, wherever that is by now. */
static void test_woken(void **state)
{
	struct virt_model *model = new_model(), *end;
	const struct virt_wake wake = { .cause = VIRT_WAKE_TIMER, .who = VIRT_NONE,
					.vector = VIRT_NONE };
	int32_t number = virt_model_add_wake(model, &wake);
	const struct virt_interval *interval;

	(void)state;
	for (int i = 0; i < 10000; i++)
		virt_model_set(model, 0, i, i % 2 ? VIRT_BLOCKED : VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_forget(model, 9990);
	assert_int_equal(virt_model_woken(model, 0, number), 0);
	end = virt_model_excerpt(model, 9999);
	assert_int_equal(virt_model_woken(end, 0, number), 0);
	assert_int_equal(virt_model_finish(end, 9999, 10001), 0);
	interval = virt_vcpu_at(end, 0, 10000, NULL);
	assert_int_equal(interval->state, VIRT_BLOCKED);
	assert_int_equal(interval->detail, number);
	virt_model_free(end);
	virt_model_set(model, 0, 10000, VIRT_GUEST, 0, VIRT_NONE, 0);
	for (int i = 10001; i < 20000; i++)
		virt_model_set(model, 0, i, i % 2 ? VIRT_HYPERVISOR : VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_forget(model, 19990);
	assert_int_equal(virt_model_woken(model, 0, number), -EINVAL);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_woken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
