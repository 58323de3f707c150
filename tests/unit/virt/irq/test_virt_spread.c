// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_spread.c
 * @brief	The spread of moments is that of a window's numbers, in windows of samples; each bar
 *		has the moments that one finds by its costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample_model.h"
#include "virt_spread.h"
#include "virt_window.h"

#define WINDOWS	20

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static void test_bars(void **state)
{
	(void)state;
	assert_int_equal(virt_spread_bar(0), 0);
	assert_int_equal(virt_spread_bar(9), 0);
	assert_int_equal(virt_spread_least(1), 10);
	assert_int_equal(virt_spread_least(2), 15);
	assert_int_equal(virt_spread_least(7), 100);
	assert_int_equal(virt_spread_least(8), 150);
	for (int bar = 0; bar < VIRT_SPREAD_BARS; bar++) {
		assert_true(virt_spread_least(bar) < virt_spread_least(bar + 1));
		assert_int_equal(virt_spread_bar(virt_spread_least(bar)), bar);
		assert_int_equal(virt_spread_bar(virt_spread_least(bar + 1) - 1), bar);
	}
	assert_int_equal(virt_spread_bar(INT64_MAX), VIRT_SPREAD_BARS - 1);
}

static const struct virt_spread_row *row_of(const struct virt_spread *spread,
					    enum virt_worst_kind kind, bool all, int32_t what)
{
	for (size_t i = 0; i < spread->n; i++) {
		const struct virt_spread_row *row = &spread->rows[i];

		if (row->kind == kind && row->all == all && row->what == what)
			return row;
	}
	return NULL;
}

static void same_dist(const struct virt_dist *a, const struct virt_dist *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->ns, b->ns);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->p5, b->p5);
	assert_int_equal(a->p50, b->p50);
	assert_int_equal(a->p95, b->p95);
	assert_int_equal(a->p99, b->p99);
	assert_int_equal(a->max, b->max);
}

/** What is looked for with a bar: its moments. */
struct found {
	int64_t		least, below;
	uint64_t	n;
};

static int count_hit(void *arg, const struct virt_worst_hit *hit)
{
	struct found *found = arg;

	found->n += hit->whole && hit->cost_ns >= found->least && hit->cost_ns < found->below;
	return 0;
}

static void check_bars(const struct virt_worst *worst, struct virt_worst_query query,
		       const struct virt_spread_row *row)
{
	uint64_t sum = 0;

	query.kinds = 1u << row->kind;
	for (int bar = 0; bar < VIRT_SPREAD_BARS; bar++) {
		struct found found = {
			.least = virt_spread_least(bar), .below = virt_spread_least(bar + 1),
		};

		sum += row->bars[bar];
		if (!row->all || rnd(4))
			continue;
		virt_worst_each(worst, &query, count_hit, &found);
		assert_int_equal(row->bars[bar], found.n);
	}
	assert_int_equal(sum, row->dist.count);
	assert_true(row->count >= sum);
}

/** Exits by reason, the costliest first. */
static void check_exits(const struct virt_spread *spread, const struct virt_window_stats *stats)
{
	int64_t last = INT64_MAX;
	size_t n_reported = 0;

	for (size_t i = 0; i < spread->n; i++) {
		if (spread->rows[i].kind != VIRT_WORST_EXIT || spread->rows[i].all)
			continue;
		assert_true(spread->rows[i].dist.ns <= last);
		last = spread->rows[i].dist.ns;
		n_reported++;
	}
	for (size_t i = 0; i < stats->n_reasons; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];
		const struct virt_spread_row *row = row_of(spread, VIRT_WORST_EXIT, false,
							   exit->reason);

		assert_int_equal(row != NULL, exit->cost.count > 0);
		if (row)
			same_dist(&row->dist, &exit->cost);
		n_reported -= row != NULL;
	}
	assert_int_equal(n_reported, 0);
}

/** A vCPU, or all of a machine. */
static void check(const struct virt_worst *worst, const int32_t *of, size_t n,
		  const struct virt_window *window, const struct virt_window_stats *stats)
{
	const struct virt_worst_query query = {
		.from_ns = window->from_ns, .to_ns = window->to_ns, .kinds = VIRT_WORST_ALL_KINDS,
		.of = of, .n_of = n,
	};
	struct virt_spread *spread = virt_spread_new(worst, &query, NULL, NULL);

	assert_non_null(spread);
	same_dist(&row_of(spread, VIRT_WORST_WAKE, true, VIRT_NONE)->dist,
		  &stats->states[VIRT_WAKING].whole);
	same_dist(&row_of(spread, VIRT_WORST_MIGRATION, true, VIRT_NONE)->dist,
		  &stats->migration_cost);
	assert_int_equal(row_of(spread, VIRT_WORST_MIGRATION, true, VIRT_NONE)->count,
			 stats->migrations);
	if (n == 1)
		same_dist(&row_of(spread, VIRT_WORST_STEAL, true, VIRT_NONE)->dist,
			  &stats->states[VIRT_PREEMPTED].whole);
	assert_null(row_of(spread, VIRT_WORST_LOST, true, VIRT_NONE));
	check_exits(spread, stats);
	for (size_t i = 0; i < spread->n; i++)
		check_bars(worst, query, &spread->rows[i]);
	virt_spread_free(spread);
}

static void check_window(const struct virt_model *model, const struct virt_worst *worst,
			 int64_t from, int64_t to)
{
	const struct virt_window_query query = {
		.from_ns = from, .to_ns = to, .parts = VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS,
	};
	struct virt_window *window = virt_window_new(model, &query);

	assert_non_null(window);
	for (int32_t i = 0; i < window->n_vcpus; i++)
		check(worst, &i, 1, window, &window->vcpus[i]);
	for (int32_t i = 0; i < window->n_machines; i++) {
		const struct virt_machine *machine = virt_model_machine(model, i);

		check(worst, machine->vcpus, (size_t)machine->n_vcpus, window,
		      &window->machines[i].all);
	}
	virt_window_free(window);
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

static void test_samples(void **state)
{
	static const char *const samples[] = {
		"credit2-basic.xen", "hvm-exits.xen", "lost-records.xen", "migration.xen",
		"kvm-host.dat", "kvm-migration.dat", "kvm-nested.dat", "kvm-shared.dat",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct virt_model *model = sample_model(samples[i]);
		struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
		int64_t begin = virt_model_begin(model), end = virt_model_end(model);
		const struct virt_worst_query all = {
			.from_ns = begin, .to_ns = end, .kinds = VIRT_WORST_ALL_KINDS,
		};

		assert_non_null(worst);
		check_window(model, worst, begin, end);
		for (int j = 0; j < WINDOWS; j++) {
			int64_t from = begin + (int64_t)rnd((uint64_t)(end - begin));

			check_window(model, worst, from, from + 1 + ((end - from) >> rnd(12)));
		}
		assert_null(virt_spread_new(worst, &all, at_once, NULL));
		virt_worst_free(worst);
		virt_model_free(model);
	}
}

/** Also of those that never got through, and of vectors that were never seen. */
static void test_irqs(void **state)
{
	const struct virt_irq_delivery irqs[] = {
		{ .inject_ns = 110, .handler_ns = 130, .vector = 0x30 },
		{ .inject_ns = 140, .handler_ns = 180, .vector = 0x30 },
		{ .inject_ns = 190, .handler_ns = 390, .vector = 0xec },
		{ .inject_ns = 200, .handler_ns = VIRT_NO_TIME, .vector = 0x30,
		  .result = VIRT_DELIVERY_NOT_SEEN },
		{ .inject_ns = 210, .handler_ns = VIRT_NO_TIME, .vector = 0x20,
		  .result = VIRT_DELIVERY_UNJUDGED },
		{ .inject_ns = 900, .handler_ns = 910, .vector = 0x30 },
		{ .inject_ns = 120, .handler_ns = 125, .vector = 0x31, .vcpu = 1 },
	};
	const int32_t first = 0;
	const struct virt_worst_query query = {
		.from_ns = 100, .to_ns = 500, .kinds = 1u << VIRT_WORST_IRQ,
		.of = &first, .n_of = 1,
	};
	struct virt_model *model = virt_model_new();
	const struct virt_spread_row *row;
	struct virt_spread *spread;
	struct virt_worst *worst;

	(void)state;
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	for (int32_t i = 0; i < 2; i++) {
		assert_int_equal(virt_model_add_vcpu(model, 0, i, 20000 + i, "v"), i);
		assert_int_equal(virt_model_set(model, i, 0, VIRT_GUEST, (int16_t)i, VIRT_NONE, 0),
				 0);
	}
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	worst = virt_worst_new(model, false, irqs, sizeof(irqs) / sizeof(irqs[0]));
	assert_non_null(worst);
	spread = virt_spread_new(worst, &query, NULL, NULL);
	assert_non_null(spread);
	assert_int_equal(spread->n, 4);
	row = &spread->rows[0];
	assert_true(row->all);
	assert_int_equal(row->dist.count, 3);
	assert_int_equal(row->dist.max, 200);
	assert_int_equal(row->results[VIRT_DELIVERY_SEEN], 3);
	assert_int_equal(row->results[VIRT_DELIVERY_NOT_SEEN], 1);
	assert_int_equal(row->results[VIRT_DELIVERY_UNJUDGED], 1);
	assert_int_equal(row[1].what, 0x20);
	assert_int_equal(row[1].count, 0);
	assert_int_equal(row[1].results[VIRT_DELIVERY_UNJUDGED], 1);
	assert_int_equal(row[2].what, 0x30);
	assert_int_equal(row[2].dist.ns, 60);
	assert_int_equal(row[2].results[VIRT_DELIVERY_SEEN], 2);
	assert_int_equal(row[2].results[VIRT_DELIVERY_NOT_SEEN], 1);
	assert_int_equal(row[3].what, 0xec);
	assert_int_equal(row[3].bars[virt_spread_bar(200)], 1);
	virt_spread_free(spread);
	virt_worst_free(worst);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_irqs),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
