/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Searching for a state or an exit that is long enough: forwards, backwards, counted; the same
 * as when every interval is looked at; of real traces as in the index of the worst moments;
 * what is unknown is never found.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "sample_model.h"
#include "virt_search.h"
#include "virt_worst.h"

#define N_VCPUS		4
#define N_REASONS	3
#define END		100000

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

static struct virt_model *random_model(uint32_t number, uint32_t mean_ns)
{
	static const char *const reasons[N_REASONS] = { "HLT", "CPUID", "IO" };
	struct virt_model *model = virt_model_new();

	seed = number;
	assert_non_null(model);
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	for (int i = 0; i < N_REASONS; i++)
		assert_int_equal(virt_model_add_reason(model, reasons[i]), i);
	for (int32_t v = 0; v < N_VCPUS; v++)
		assert_int_equal(virt_model_add_vcpu(model, 0, v, 100 + v, reasons[0]), v);
	for (int32_t v = 0; v < N_VCPUS; v++) {
		/* of one vCPU hardly anything is known */
		uint32_t mean = v == 1 ? END / 4 : mean_ns;

		for (int64_t t = random_below(100); t < END; t += random_below(2 * mean)) {
			unsigned int state = random_below(VIRT_N_STATES);
			bool exit = state && random_below(2);
			int32_t detail = virt_state_on_pcpu(state) && state != VIRT_GUEST && exit ?
					 (int32_t)random_below(N_REASONS + 1) - 1 : VIRT_NONE;

			assert_int_equal(virt_model_set(model, v, t, state,
							(int16_t)random_below(2), detail,
							exit ? VIRT_INTERVAL_EXIT : 0), 0);
		}
	}
	assert_int_equal(virt_model_finish(model, 0, END), 0);
	return model;
}

/** All that is to be found. */
struct found {
	struct virt_search_hit	*hits;
	size_t			n;
};

static void add(struct found *all, const struct virt_search_hit *hit)
{
	all->hits = realloc(all->hits, (all->n + 1) * sizeof(*all->hits));
	assert_non_null(all->hits);
	all->hits[all->n++] = *hit;
}

static bool is_wanted(const struct virt_search *search, int32_t vcpu)
{
	for (size_t i = 0; i < search->n_of; i++)
		if (search->of[i] == vcpu)
			return true;
	return !search->of;
}

/** Interval by interval. */
static void look_at_states(const struct virt_model *model, const struct virt_search *search,
			   int32_t vcpu, struct found *all)
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);

	for (size_t i = 0, next; i < range.n; i = next) {
		const struct virt_interval *first = &range.first[i];
		struct virt_search_hit hit = { .interval = *first };

		for (next = i + 1; next < range.n && !virt_state_on_pcpu(first->state) &&
		     range.first[next].state == first->state; next++)
			;
		hit.place = (struct virt_search_place){ first->start_ns, vcpu, (uint32_t)i };
		hit.end_ns = next < range.n ? range.first[next].start_ns : range.end_ns;
		hit.ns = hit.end_ns - first->start_ns;
		if (first->state == search->what && hit.ns >= search->min_ns)
			add(all, &hit);
	}
}

/** As the index of the worst moments has them. */
struct lister {
	const struct virt_model		*model;
	const struct virt_search	*search;
	const struct virt_worst		*worst;
	struct found			*all;
};

static int list_hit(void *arg, const struct virt_worst_hit *worst)
{
	struct lister *lister = arg;
	struct virt_moment moment;
	struct virt_search_hit hit = {
		.place = { worst->time_ns, worst->vcpu, worst->index },
		.ns = worst->cost_ns,
		.whole = worst->whole,
	};

	assert_true(virt_worst_describe(lister->worst, worst, &moment));
	hit.end_ns = moment.end_ns;
	if (lister->search->reason == VIRT_NONE || lister->search->reason == moment.reason)
		add(lister->all, &hit);
	return 0;
}

static int compare_hits(const void *a, const void *b)
{
	const struct virt_search_place *x = &((const struct virt_search_hit *)a)->place;
	const struct virt_search_place *y = &((const struct virt_search_hit *)b)->place;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int kind_of(const struct virt_search *search)
{
	return search->what == VIRT_SEARCH_EXITS ? VIRT_WORST_EXIT :
	       search->what == VIRT_PREEMPTED ? VIRT_WORST_STEAL :
	       search->what == VIRT_WAKING ? VIRT_WORST_WAKE : -1;
}

static struct found look_at_all(const struct virt_model *model, const struct virt_worst *worst,
				const struct virt_search *search)
{
	int kind = kind_of(search);
	struct found all = { 0 };
	struct lister lister = { model, search, worst, &all };
	struct virt_worst_query query = {
		.from_ns = INT64_MIN, .to_ns = INT64_MAX, .of = search->of, .n_of = search->n_of,
	};

	if (kind >= 0) {
		query.kinds = 1u << kind;
		query.min_ns[kind] = search->min_ns;
		virt_worst_each(worst, &query, list_hit, &lister);
	}
	for (int32_t vcpu = 0; kind < 0 && vcpu < virt_model_n_vcpus(model); vcpu++)
		if (is_wanted(search, vcpu))
			look_at_states(model, search, vcpu, &all);
	if (all.n)
		qsort(all.hits, all.n, sizeof(*all.hits), compare_hits);
	return all;
}

static void check_hit(const struct virt_search_hit *hit, const struct virt_search_hit *wanted,
		      bool knows_whole)
{
	assert_int_equal(compare_hits(hit, wanted), 0);
	assert_int_equal(hit->ns, wanted->ns);
	assert_int_equal(hit->end_ns, wanted->end_ns);
	assert_int_equal(hit->interval.start_ns, hit->place.time_ns);
	if (knows_whole)
		assert_int_equal(hit->whole, wanted->whole);
}

/** Return: how many there are. */
static size_t check(const struct virt_model *model, const struct virt_worst *worst,
		    const struct virt_search *search)
{
	struct found all = look_at_all(model, worst, search);
	struct virt_search_hit hit = { .place = VIRT_SEARCH_BEGIN };
	int64_t before;

	for (size_t i = 0; i < all.n; i++) {
		assert_int_equal(virt_search_next(model, search, &hit.place, &hit), 1);
		check_hit(&hit, &all.hits[i], kind_of(search) >= 0);
		if (i % (all.n / 8 + 1))
			continue;
		assert_int_equal(virt_search_count(model, search, &hit.place, INT64_MAX, &before),
				 all.n);
		assert_int_equal(before, i);
	}
	assert_int_equal(virt_search_next(model, search, &hit.place, &hit), 0);
	hit.place = VIRT_SEARCH_END;
	for (size_t i = all.n; i-- > 0; ) {
		assert_int_equal(virt_search_prev(model, search, &hit.place, &hit), 1);
		check_hit(&hit, &all.hits[i], kind_of(search) >= 0);
	}
	assert_int_equal(virt_search_prev(model, search, &hit.place, &hit), 0);
	assert_int_equal(virt_search_count(model, search, &hit.place, (int64_t)all.n / 2, &before),
			 all.n / 2);
	free(all.hits);
	return all.n;
}

static void check_model(const struct virt_model *model, const int64_t *mins, size_t n_mins)
{
	static const int32_t some[] = { 2, 0, -1, 1000 };
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	size_t n = 0;

	assert_non_null(worst);
	for (int what = 0; what <= VIRT_SEARCH_EXITS; what++) {
		struct virt_search search = { .what = what, .reason = VIRT_NONE };

		for (size_t i = 0; i < n_mins && what != VIRT_UNKNOWN; i++) {
			search.min_ns = mins[i];
			n += check(model, worst, &search);
		}
		if (what == VIRT_UNKNOWN)
			continue;
		search.min_ns = mins[1];
		search.of = some;
		search.n_of = ARRAY_SIZE(some);
		check(model, worst, &search);
		search.n_of = 0;
		assert_int_equal(check(model, worst, &search), 0);
	}
	assert_true(n > 100);
	for (int32_t reason = 0; reason < N_REASONS; reason++) {
		struct virt_search search = { .what = VIRT_SEARCH_EXITS, .reason = reason };

		check(model, worst, &search);
	}
	virt_worst_free(worst);
}

static void test_random(void **state)
{
	static const int64_t mins[] = { 0, 30, 100, 250, 1000, 5000, END };

	(void)state;
	for (uint32_t number = 0; number < 12; number++) {
		struct virt_model *model = random_model(number, number % 3 ? 150 : 900);

		check_model(model, mins, ARRAY_SIZE(mins));
		virt_model_free(model);
	}
}

static void test_samples(void **state)
{
	static const char *const names[] = {
		"credit2-basic.xen", "lost-records.xen", "kvm-migration.dat",
	};
	static const int64_t mins[] = { 1000000, 5000000, 100000000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct virt_model *model = sample_model(names[i]);

		check_model(model, mins, ARRAY_SIZE(mins));
		virt_model_free(model);
	}
}

static void test_places(void **state)
{
	struct virt_model *model = random_model(3, 200);
	struct virt_search search = { .what = VIRT_BLOCKED, .reason = VIRT_NONE, .min_ns = 150 };
	struct virt_search_hit next, prev;

	(void)state;
	/* from wherever one is, also beyond the trace */
	for (int64_t t = -500; t < END + 500; t += 7) {
		struct virt_search_place place = { t, VIRT_NONE, 0 };
		int found = virt_search_next(model, &search, &place, &next);

		if (found)
			assert_true(next.place.time_ns >= t);
		place.vcpu = INT32_MAX;
		if (virt_search_prev(model, &search, &place, &prev))
			assert_true(prev.place.time_ns <= t);
		if (found && virt_search_prev(model, &search, &next.place, &prev))
			assert_true(prev.place.time_ns <= next.place.time_ns);
	}
	virt_model_free(model);
}

/* Windows reach beyond the end of one trace when another one goes on. */
static void test_behind_the_end(void **state)
{
	static const int64_t times[] = { END - 1, END, END + 1, 2 * END, 1000 * END, INT64_MAX };
	static const uint32_t means[] = { 200, 20000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(times) * ARRAY_SIZE(means); i++) {
		struct virt_model *model = random_model(7, means[i % 2]);
		struct virt_search search = { .what = VIRT_BLOCKED, .reason = VIRT_NONE };
		struct virt_search_place place = { times[i / 2], INT32_MAX, UINT32_MAX };
		struct virt_search_hit hit, last;

		assert_int_equal(virt_search_prev(model, &search, &VIRT_SEARCH_END, &last), 1);
		assert_int_equal(virt_search_next(model, &search, &place, &hit), 0);
		assert_int_equal(virt_search_prev(model, &search, &place, &hit), 1);
		assert_int_equal(hit.place.time_ns, last.place.time_ns);
		assert_int_equal(hit.place.vcpu, last.place.vcpu);
		virt_model_free(model);
	}
}

static bool count_looks(void *arg)
{
	++*(size_t *)arg;
	return false;
}

/* Each is found from the one before, not from the first at its ns. */
static void test_many_at_once(void **state)
{
	enum { MANY = 20000 };
	size_t looks = 0, n = 0;
	struct virt_model *model = virt_model_new();
	struct virt_search search = {
		.what = VIRT_BLOCKED, .reason = VIRT_NONE, .stop = count_looks, .arg = &looks,
	};
	struct virt_search_hit hit = { .place = VIRT_SEARCH_END };
	int64_t before;

	(void)state;
	assert_non_null(model);
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 100, "d1v0"), 0);
	for (int i = 0; i < 2 * MANY; i++)
		assert_int_equal(virt_model_set(model, 0, 10, i % 2 ? VIRT_BLOCKED : VIRT_PREEMPTED,
						VIRT_NONE, VIRT_NONE, VIRT_INTERVAL_EXIT), 0);
	assert_int_equal(virt_model_finish(model, 0, END), 0);
	assert_int_equal(virt_search_count(model, &search, &VIRT_SEARCH_END, INT64_MAX, &before),
			 MANY);
	assert_int_equal(before, MANY);
	assert_in_range(looks, 1, 4 * MANY);
	looks = 0;
	while (virt_search_prev(model, &search, &hit.place, &hit) > 0)
		n++;
	assert_int_equal(n, MANY);
	assert_in_range(looks, 1, 4 * MANY);
	virt_model_free(model);
}

static bool stop(void *arg)
{
	return !--*(int *)arg;
}

static void test_refused(void **state)
{
	static const int wrong[] = { VIRT_UNKNOWN, -1, VIRT_SEARCH_EXITS + 1 };
	struct virt_model *model = random_model(5, 100);
	struct virt_search search = { .reason = VIRT_NONE };
	struct virt_search_hit hit;
	int64_t before;
	int left = 2;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		search.what = wrong[i];
		assert_int_equal(virt_search_next(model, &search, &VIRT_SEARCH_BEGIN, &hit),
				 -EINVAL);
		assert_int_equal(virt_search_prev(model, &search, &VIRT_SEARCH_END, &hit),
				 -EINVAL);
		assert_int_equal(virt_search_count(model, &search, &VIRT_SEARCH_END, 10, &before),
				 -EINVAL);
	}
	search.what = VIRT_GUEST;
	search.min_ns = 1;
	search.stop = stop;
	search.arg = &left;
	assert_int_equal(virt_search_count(model, &search, &VIRT_SEARCH_END, INT64_MAX, &before),
			 -ECANCELED);
	left = 1;
	assert_int_equal(virt_search_prev(model, &search, &VIRT_SEARCH_END, &hit), -ECANCELED);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_behind_the_end),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
