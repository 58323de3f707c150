// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_part.c
 * @brief	A part of a trace: whatever is asked of it, the answer is that of the whole.
 *
 * Random lives of vCPUs; the model of the part gets what happens within it alone, and the
 * rest from what is kept. All numbers of a window are compared, and all of its worst moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_part.h"
#include "virt_power.h"
#include "virt_window.h"
#include "virt_worst.h"

#define SEEDS		900
#define LENGTH		900
#define N_VCPUS		5
#define N_MACHINES	2
#define N_PCPUS		3
#define N_REASONS	3
#define MAX_OPS		600

/** One call that fills a model. */
struct op {
	enum { SET, WOKEN, OCCUPY, POWER } what;
	int64_t		time_ns;
	int32_t		who;		/* vCPU or pCPU */
	int		state;		/* or enum virt_power_kind */
	int16_t		pcpu;
	int32_t		detail;		/* or who is there, or a value */
	uint8_t		flags;
	bool		known;
};

struct trace {
	struct op	ops[MAX_OPS];
	int		n;
	struct virt_loss losses[3];
	int		n_losses;
};

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static void add_vcpu_op(struct trace *trace, int64_t time_ns)
{
	struct op op = { .what = SET, .time_ns = time_ns, .who = (int32_t)rnd(N_VCPUS),
			 .state = (int)rnd(VIRT_N_STATES), .pcpu = (int16_t)rnd(N_PCPUS),
			 .detail = VIRT_NONE };

	if (op.state == VIRT_HYPERVISOR || op.state == VIRT_VMM) {
		op.detail = (int32_t)rnd(N_REASONS + 1) - 1;
		op.flags = rnd(2) ? VIRT_INTERVAL_EXIT : 0;
	} else if (op.state == VIRT_PREEMPTED) {
		op.detail = (int32_t)rnd(N_VCPUS + 1) - 1;
	} else if (op.state == VIRT_GUEST && !rnd(4)) {
		op.flags = VIRT_INTERVAL_NESTED;
	} else if (op.state == VIRT_BLOCKED && !rnd(3)) {
		op.flags = VIRT_INTERVAL_UNASKED;
	}
	trace->ops[trace->n++] = op;
	if (op.state == VIRT_WAKING && rnd(2))
		trace->ops[trace->n++] = (struct op){ .what = WOKEN, .time_ns = time_ns,
						      .who = op.who, .detail = (int32_t)rnd(2) };
}

static void add_pcpu_op(struct trace *trace, int64_t time_ns)
{
	struct op op = { .what = rnd(3) ? OCCUPY : POWER, .time_ns = time_ns,
			 .who = (int32_t)rnd(N_PCPUS) };

	if (op.what == OCCUPY) {
		op.known = rnd(5);
		op.detail = op.known ? (int32_t)rnd(N_VCPUS + 1) - 1 : VIRT_NONE;
	} else {
		op.state = (int)rnd(VIRT_POWER_N_KINDS);
		op.detail = !rnd(5) ? VIRT_POWER_UNKNOWN :
			    op.state == VIRT_FREQUENCY ? 1000 + (int32_t)rnd(3) :
			    (int32_t)rnd(4) - 1;
	}
	trace->ops[trace->n++] = op;
}

/** Long silences, and crowds at one moment. */
static void make_trace(struct trace *trace)
{
	int64_t time_ns = 0;
	int n = 40 + (int)rnd(MAX_OPS / 2 - 60);

	memset(trace, 0, sizeof(*trace));
	while (trace->n < n && time_ns < LENGTH - 2) {
		if (rnd(3))
			add_vcpu_op(trace, time_ns);
		else
			add_pcpu_op(trace, time_ns);
		time_ns += rnd(3) ? rnd(6) : rnd(40) ? 0 : rnd(500);
	}
	for (int i = 0; i < (int)ARRAY_SIZE(trace->losses); i++) {
		int64_t from_ns = rnd(LENGTH - 200);

		trace->losses[trace->n_losses++] = (struct virt_loss){
			.from_ns = from_ns, .to_ns = from_ns + rnd(200), .records = rnd(9),
			.pcpu = (int16_t)rnd(N_PCPUS),
		};
	}
}

static struct virt_model *begin_model(void)
{
	struct virt_model *model = virt_model_new();

	assert_non_null(model);
	for (int32_t i = 0; i < N_MACHINES; i++)
		assert_int_equal(virt_model_add_machine(model, i, "m"), i);
	for (int32_t i = 0; i < N_VCPUS; i++)
		assert_int_equal(virt_model_add_vcpu(model, i % N_MACHINES, i, 100 + i, "v"), i);
	return model;
}

static void name_all(struct virt_model *model)
{
	static const char *const names[N_REASONS] = { "HLT", "MSR_WRITE", "EXTERNAL_INTERRUPT" };

	for (int i = 0; i < N_REASONS; i++)
		assert_int_equal(virt_model_add_reason(model, names[i]), i);
	assert_int_equal(virt_model_add_wake(model, &(struct virt_wake){
		.who = 1, .vector = 3, .cause = VIRT_WAKE_VCPU }), 0);
	assert_int_equal(virt_model_add_wake(model, &(struct virt_wake){
		.who = VIRT_NONE, .vector = VIRT_NONE, .cause = VIRT_WAKE_TIMER }), 1);
	virt_model_name_idle_state(model, 2, "C2");
}

static void apply(struct virt_model *model, const struct op *op)
{
	int ret = 0;

	switch (op->what) {
	case SET:
		ret = virt_model_set(model, op->who, op->time_ns, (enum virt_state)op->state,
				     op->pcpu, op->detail, op->flags);
		break;
	case WOKEN:
		/* it may not have been blocked */
		virt_model_woken(model, op->who, op->detail);
		break;
	case OCCUPY:
		ret = virt_model_occupy(model, (int16_t)op->who, op->time_ns, op->detail,
					op->known);
		break;
	case POWER:
		ret = virt_model_add_power(model, (enum virt_power_kind)op->state, op->who,
					   op->time_ns, op->detail);
		break;
	}
	assert_int_equal(ret, 0);
}

/** What happens in [from, to) */
static void apply_all(struct virt_model *model, const struct trace *trace, int64_t from_ns,
		      int64_t to_ns)
{
	for (int i = 0; i < trace->n; i++)
		if (trace->ops[i].time_ns >= from_ns && trace->ops[i].time_ns < to_ns)
			apply(model, &trace->ops[i]);
}

static struct virt_model *whole_of(const struct trace *trace)
{
	struct virt_model *model = begin_model();

	name_all(model);
	apply_all(model, trace, 0, LENGTH);
	for (int i = 0; i < trace->n_losses; i++)
		assert_int_equal(virt_model_add_loss(model, &trace->losses[i]), 0);
	virt_model_contradiction(model, "twice");
	assert_int_equal(virt_model_finish(model, 0, LENGTH), 0);
	return model;
}

static struct virt_model *part_of(const struct trace *trace, const struct virt_part *part)
{
	struct virt_model *model = begin_model();

	assert_int_equal(virt_part_begin(part, model), 0);
	apply_all(model, trace, part->from_ns, part->to_ns);
	assert_int_equal(virt_part_finish(part, model), 0);
	assert_int_equal(virt_model_begin(model), part->from_ns);
	assert_int_equal(virt_model_end(model), part->to_ns);
	return model;
}

static struct virt_part *keep(const struct trace *trace, const struct virt_model *whole,
			      int64_t from_ns, int64_t to_ns)
{
	struct virt_part *part = virt_part_of(whole, from_ns, to_ns);
	struct virt_model *rest;

	assert_non_null(part);
	rest = part_of(trace, part);
	assert_int_equal(virt_part_compare(part, whole, rest), 0);
	virt_model_free(rest);
	return part;
}

/* ---- comparing ---- */

#define SAME(a, b)	assert_memory_equal(&(a), &(b), sizeof(a))

static void same_stats(const struct virt_window_stats *a, const struct virt_window_stats *b)
{
	SAME(a->states, b->states);
	SAME(a->runs, b->runs);
	SAME(a->waits, b->waits);
	SAME(a->known_ns, b->known_ns);
	SAME(a->unasked_ns, b->unasked_ns);
	SAME(a->migrations, b->migrations);
	SAME(a->migration_cost, b->migration_cost);
	SAME(a->exits, b->exits);
	SAME(a->exits_before, b->exits_before);
	SAME(a->exits_before_ns, b->exits_before_ns);
	SAME(a->before_reason, b->before_reason);
	SAME(a->longest_vcpu, b->longest_vcpu);
	SAME(a->longest_from_ns, b->longest_from_ns);
	SAME(a->longest_to_ns, b->longest_to_ns);
	assert_int_equal(a->n_reasons, b->n_reasons);
	for (size_t i = 0; i < a->n_reasons; i++) {
		SAME(a->reasons[i].count, b->reasons[i].count);
		SAME(a->reasons[i].cost, b->reasons[i].cost);
		SAME(a->reasons[i].state_ns, b->reasons[i].state_ns);
	}
	assert_int_equal(a->n_culprits, b->n_culprits);
	for (size_t i = 0; i < a->n_culprits; i++) {
		SAME(a->culprits[i].vcpu, b->culprits[i].vcpu);
		SAME(a->culprits[i].ns, b->culprits[i].ns);
	}
	assert_int_equal(a->n_places, b->n_places);
	for (size_t i = 0; i < a->n_places; i++)
		SAME(a->places[i].ns, b->places[i].ns);
}

static void same_power(const struct virt_model *a, const struct virt_model *b, int64_t from_ns,
		       int64_t to_ns)
{
	for (int32_t i = 0; i < N_PCPUS; i++) {
		struct virt_pcpu_power_sum x, y;

		memset(&x, 0, sizeof(x));
		memset(&y, 0, sizeof(y));
		virt_power_of_pcpu(a, i, from_ns, to_ns, &x);
		virt_power_of_pcpu(b, i, from_ns, to_ns, &y);
		SAME(x.idle, y.idle);
		SAME(x.awake_ns, y.awake_ns);
		SAME(x.unknown_ns, y.unknown_ns);
		SAME(x.speed.mean_khz, y.speed.mean_khz);
		SAME(x.changes, y.changes);
	}
	for (int32_t i = 0; i < N_VCPUS; i++) {
		struct virt_vcpu_power_sum x, y;

		virt_power_of_vcpu(a, i, from_ns, to_ns, &x);
		virt_power_of_vcpu(b, i, from_ns, to_ns, &y);
		SAME(x.asleep, y.asleep);
		SAME(x.awake_ns, y.awake_ns);
		SAME(x.speed.mean_khz, y.speed.mean_khz);
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

	assert_non_null(x);
	assert_non_null(y);
	assert_int_equal(x->from_ns, y->from_ns);
	assert_int_equal(x->to_ns, y->to_ns);
	for (int32_t i = 0; i < N_VCPUS; i++)
		same_stats(&x->vcpus[i], &y->vcpus[i]);
	for (int32_t i = 0; i < N_MACHINES; i++) {
		SAME(x->machines[i].states, y->machines[i].states);
		SAME(x->machines[i].known_ns, y->machines[i].known_ns);
		same_stats(&x->machines[i].all, &y->machines[i].all);
	}
	assert_int_equal(x->n_pcpus, y->n_pcpus);
	for (int32_t i = 0; i < x->n_pcpus; i++)
		SAME(x->pcpus[i], y->pcpus[i]);
	virt_window_free(x);
	virt_window_free(y);
	same_power(a, b, from_ns, to_ns);
}

static void same_worst(const struct virt_model *a, const struct virt_model *b, int64_t from_ns,
		       int64_t to_ns)
{
	struct virt_worst *x = virt_worst_new(a, false, NULL, 0);
	struct virt_worst *y = virt_worst_new(b, false, NULL, 0);
	const struct virt_worst_query query = {
		.from_ns = from_ns, .to_ns = to_ns, .kinds = VIRT_WORST_ALL_KINDS,
	};
	struct virt_worst_hit of_a[200], of_b[200];
	ssize_t n;

	assert_non_null(x);
	assert_non_null(y);
	n = virt_worst_top(x, &query, of_a, ARRAY_SIZE(of_a));
	assert_true(n >= 0);
	assert_int_equal(n, virt_worst_top(y, &query, of_b, ARRAY_SIZE(of_b)));
	for (ssize_t i = 0; i < n; i++) {
		struct virt_moment p, q;

		assert_true(virt_worst_describe(x, &of_a[i], &p));
		assert_true(virt_worst_describe(y, &of_b[i], &q));
		SAME(p.kind, q.kind);
		SAME(p.start_ns, q.start_ns);
		SAME(p.end_ns, q.end_ns);
		SAME(p.cost_ns, q.cost_ns);
		SAME(p.cost_from_ns, q.cost_from_ns);
		SAME(p.cost_to_ns, q.cost_to_ns);
		SAME(p.entry_ns, q.entry_ns);
		SAME(p.state_ns, q.state_ns);
		SAME(p.who, q.who);
		SAME(p.who_ns, q.who_ns);
		SAME(p.reason, q.reason);
		SAME(p.pcpu, q.pcpu);
		SAME(p.nested, q.nested);
		SAME(p.complete, q.complete);
	}
	virt_worst_free(x);
	virt_worst_free(y);
}

static void two_times(int64_t *from_ns, int64_t *to_ns, int64_t begin_ns, int64_t end_ns)
{
	int64_t a = begin_ns + rnd((uint32_t)(end_ns - begin_ns));
	int64_t b = begin_ns + rnd((uint32_t)(end_ns - begin_ns));

	*from_ns = a < b ? a : b;
	*to_ns = (a < b ? b : a) + 1;
}

static void a_part_shows_what_the_whole_shows(void **state)
{
	static struct trace trace;

	(void)state;
	for (uint64_t s = 1; s <= SEEDS; s++) {
		struct virt_model *whole, *model;
		struct virt_part *part;
		int64_t from_ns, to_ns;

		seed = s * 0x9e3779b97f4a7c15u;
		make_trace(&trace);
		whole = whole_of(&trace);
		two_times(&from_ns, &to_ns, 0, LENGTH);
		if (!rnd(10))
			from_ns = 0;
		if (!rnd(10))
			to_ns = LENGTH;
		part = keep(&trace, whole, from_ns, to_ns);
		model = part_of(&trace, part);
		same_window(whole, model, from_ns, to_ns);
		same_worst(whole, model, from_ns, to_ns);
		for (int i = 0; i < 5; i++) {
			int64_t a, b;

			two_times(&a, &b, from_ns, to_ns);
			same_window(whole, model, a, b);
			same_worst(whole, model, a, b);
		}
		virt_model_free(model);
		virt_model_free(whole);
		virt_part_free(part);
	}
}

/** Two parts that meet are one, and what is left out between two is not known. */
static void parts_are_joined(void **state)
{
	static struct trace trace;

	(void)state;
	for (uint64_t s = 1; s <= SEEDS / 3; s++) {
		struct virt_part *first, *second, *both;
		struct virt_model *whole, *model;
		int64_t a, b, c;

		seed = s * 0x2545f4914f6cdd1du;
		make_trace(&trace);
		whole = whole_of(&trace);
		two_times(&a, &c, 0, LENGTH - 2);
		c += 2;
		b = a + 1 + rnd((uint32_t)(c - a - 1));
		first = keep(&trace, whole, a, b);
		second = keep(&trace, whole, b, c);
		both = virt_part_of(whole, a, c);
		assert_true(virt_part_same(first, second));
		assert_int_equal(virt_part_join(both, first, INT64_MIN, b, false), 0);
		assert_int_equal(virt_part_join(both, second, b, INT64_MAX, false), 0);
		model = part_of(&trace, both);
		same_window(whole, model, a, c);
		same_worst(whole, model, a, c);
		virt_model_free(model);
		virt_part_free(first);
		virt_part_free(second);
		virt_part_free(both);
		virt_model_free(whole);
	}
}

/** Where nothing changes, there is no memory for changes. */
static void joined_without_changes(void **state)
{
	struct virt_part *from = virt_part_alloc(1, 0), *to = virt_part_alloc(1, 0);
	const struct virt_part_piece piece = { 10, 20, 0 };

	(void)state;
	assert_non_null(from);
	assert_non_null(to);
	assert_int_equal(virt_part_add(&from->vcpus[0], &piece, NULL), 0);
	assert_int_equal(virt_part_join(to, from, 12, INT64_MAX, false), 0);
	assert_int_equal(to->vcpus[0].n_pieces, 1);
	assert_int_equal(to->vcpus[0].n_changes, 0);
	assert_int_equal(to->vcpus[0].pieces[0].from_ns, 12);
	assert_int_equal(to->vcpus[0].pieces[0].to_ns, 20);
	virt_part_free(from);
	virt_part_free(to);
}

static void what_is_left_out_is_not_shown(void **state)
{
	static struct trace trace;

	(void)state;
	for (uint64_t s = 1; s <= SEEDS / 3; s++) {
		struct virt_model *whole, *model;
		struct virt_part *part;
		int64_t from_ns, to_ns, end_ns;

		seed = s * 0x9e3779b97f4a7c15u;
		make_trace(&trace);
		whole = whole_of(&trace);
		two_times(&from_ns, &to_ns, 0, LENGTH);
		part = keep(&trace, whole, from_ns, to_ns);
		assert_false(virt_part_leaves_out(part));
		assert_int_equal(virt_part_leave_out(part, 1), 0);
		assert_true(virt_part_leaves_out(part));
		/* the pieces alone, as if nothing had been recorded */
		model = begin_model();
		assert_int_equal(virt_part_begin(part, model), 0);
		assert_int_equal(virt_part_finish(part, model), 0);
		for (int64_t at = from_ns; at < to_ns; at++) {
			assert_false(virt_pcpu_at(model, 1, at, &end_ns)->known);
			for (int32_t v = 0; v < N_VCPUS; v++) {
				const struct virt_interval *is = virt_vcpu_at(model, v, at, NULL);
				const struct virt_interval *was = virt_vcpu_at(whole, v, at, NULL);

				if (is->state == VIRT_UNKNOWN)
					continue;
				assert_true(virt_state_on_pcpu(is->state) && is->pcpu != 1);
				assert_int_equal(is->state, was->state);
				assert_int_equal(is->pcpu, was->pcpu);
			}
		}
		virt_model_free(model);
		virt_model_free(whole);
		virt_part_free(part);
	}
}

/** Whatever a sidecar contains, the model is valid. */
static void impossible_changes_are_left_aside(void **state)
{
	static const struct virt_interval bad[] = {
		{ .start_ns = 50, .state = VIRT_N_STATES, .detail = VIRT_NONE },
		{ .start_ns = 50, .state = VIRT_GUEST, .detail = 99, .pcpu = 0 },
		{ .start_ns = 50, .state = VIRT_GUEST, .detail = VIRT_NONE, .pcpu = 31000 },
		{ .start_ns = 50, .state = VIRT_PREEMPTED, .detail = 77, .pcpu = 0 },
		{ .start_ns = 50, .state = VIRT_BLOCKED, .detail = 5, .pcpu = 0 },
		{ .start_ns = 500, .state = VIRT_BLOCKED, .detail = VIRT_NONE, .pcpu = 0 },
		{ .start_ns = -5, .state = VIRT_BLOCKED, .detail = VIRT_NONE, .pcpu = 0 },
		{ .start_ns = 50, .state = VIRT_GUEST, .detail = VIRT_NONE, .pcpu = 0,
		  .flags = VIRT_INTERVAL_EXIT },
	};
	const struct virt_part_piece piece = { 0, 100, 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct virt_part *part = virt_part_alloc(N_VCPUS, N_PCPUS);
		struct virt_model *model = begin_model();

		assert_non_null(part);
		part->n_known = N_PCPUS;
		part->end_ns = part->to_ns = 1000;
		part->from_ns = 10;
		assert_int_equal(virt_part_add(&part->vcpus[0], &piece, &bad[i]), 0);
		assert_int_equal(virt_model_set(model, 0, 20, VIRT_OFFLINE, 1, VIRT_NONE, 0), 0);
		assert_int_equal(virt_part_finish(part, model), 0);
		assert_int_equal(virt_vcpu_at(model, 0, 60, NULL)->state, VIRT_OFFLINE);
		assert_int_equal(virt_vcpu_at(model, 0, 15, NULL)->state, VIRT_UNKNOWN);
		virt_model_free(model);
		virt_part_free(part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_shows_what_the_whole_shows),
		cmocka_unit_test(parts_are_joined),
		cmocka_unit_test(joined_without_changes),
		cmocka_unit_test(what_is_left_out_is_not_shown),
		cmocka_unit_test(impossible_changes_are_left_aside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
