/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns of pixels against a nanosecond by nanosecond account of the same model, near and far, at
 * the edges and beyond them; the text for a place; numbers of a window.
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
#include "virt_colors.h"
#include "virt_registry.h"
#include "virt_shading.h"
#include "virt_text.h"

#define N_VCPUS		3
#define N_PCPUS		2
#define BEGIN		1000
#define END		5000
#define MAX_COLUMNS	(END + 2000)

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

/** A model, and the same thing again, ns by ns. */
struct world {
	struct virt_model	*model;
	uint8_t			vcpu[N_VCPUS][END];	/* state */
	uint8_t			pcpu[N_PCPUS][END];	/* shade */
};

static struct virt_model *new_model(int32_t n_vcpus)
{
	struct virt_model *model = virt_model_new();
	char name[16];

	assert_non_null(model);
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	for (int32_t i = 0; i < n_vcpus; i++) {
		snprintf(name, sizeof(name), "d1v%d", (int)i);
		assert_int_equal(virt_model_add_vcpu(model, 0, i, 20000 + i, name), i);
	}
	return model;
}

/** All that is known at a moment is said to the model and written down. */
static struct world *random_world(uint32_t number, uint32_t mean_ns)
{
	struct world *world = calloc(1, sizeof(*world));
	int32_t on[N_PCPUS] = { VIRT_NONE, VIRT_NONE };	/* who is there */
	bool known[N_PCPUS] = { false, false };
	uint8_t state[N_VCPUS] = { VIRT_UNKNOWN, VIRT_UNKNOWN, VIRT_UNKNOWN };
	int16_t pcpu_of[N_VCPUS] = { VIRT_NONE, VIRT_NONE, VIRT_NONE };

	assert_non_null(world);
	seed = number;
	world->model = new_model(N_VCPUS);
	for (int64_t t = BEGIN; t < END; t++) {
		for (int16_t p = 0; p < N_PCPUS; p++) {
			int32_t who = (int32_t)random_below(N_VCPUS + 1) - 1;

			if (random_below(mean_ns))
				continue;
			if (who != VIRT_NONE && pcpu_of[who] != VIRT_NONE && pcpu_of[who] != p &&
			    on[pcpu_of[who]] == who)
				continue;
			if (on[p] != VIRT_NONE && on[p] != who) {
				state[on[p]] = VIRT_PREEMPTED + random_below(5);
				assert_int_equal(virt_model_set(world->model, on[p], t,
						 state[on[p]], p, state[on[p]] == VIRT_PREEMPTED ?
						 who : VIRT_NONE, 0), 0);
			}
			on[p] = who;
			known[p] = random_below(10) > 0 || who != VIRT_NONE;
			assert_int_equal(virt_model_occupy(world->model, p, t, who, known[p]), 0);
			if (who == VIRT_NONE)
				continue;
			pcpu_of[who] = p;
			state[who] = VIRT_GUEST + random_below(3);
			assert_int_equal(virt_model_set(world->model, who, t, state[who], p,
							VIRT_NONE, 0), 0);
		}
		for (int i = 0; i < N_VCPUS; i++)
			world->vcpu[i][t] = state[i];
		for (int i = 0; i < N_PCPUS; i++)
			world->pcpu[i][t] = !known[i] ? VIRT_UNKNOWN : on[i] == VIRT_NONE ?
					    VIRT_SHADE_NOTHING : state[on[i]];
	}
	assert_int_equal(virt_model_finish(world->model, BEGIN, END), 0);
	return world;
}

static void free_world(struct world *world)
{
	virt_model_free(world->model);
	free(world);
}

/** No share may be wrong by a whole part, all of them fill the column. */
static void check_column(const int64_t *ns, const struct virt_shade_run *run, int n_parts,
			 int64_t column)
{
	int64_t sum = 0;
	int parts = 0;

	for (int i = 0; i < VIRT_N_SHADES; i++) {
		sum += ns[i];
		parts += run->parts[i];
	}
	assert_int_equal(parts, n_parts);
	/* beyond the trace, nothing is known */
	if (!sum) {
		assert_int_equal(run->parts[VIRT_UNKNOWN], n_parts);
		return;
	}
	for (int i = 0; i < VIRT_N_SHADES; i++)
		if (llabs(run->parts[i] * sum - ns[i] * n_parts) >= sum)
			fail_msg("column %lld: %d of %d parts of state %d for %lld of %lld ns",
				 (long long)column, run->parts[i], n_parts, i, (long long)ns[i],
				 (long long)sum);
}

static void check_runs(const struct virt_shade_window *window, const struct virt_shade_run *runs,
		       int n, const uint8_t *shades)
{
	int64_t column = 0;

	for (int r = 0; r < n; r++) {
		assert_int_equal(runs[r].first, column);
		assert_true(runs[r].n > 0);
		assert_true(!r || memcmp(runs[r].parts, runs[r - 1].parts, sizeof(runs->parts)));
		for (; column < runs[r].first + runs[r].n; column++) {
			int64_t from = window->from_ns + column * window->column_ns;
			int64_t ns[VIRT_N_SHADES] = { 0 };

			for (int64_t t = from; t < from + window->column_ns; t++)
				if (t >= BEGIN && t < END)
					ns[shades[t]]++;
			check_column(ns, &runs[r], window->n_parts, column);
		}
	}
	assert_int_equal(column, window->n_columns);
}

static void check_window(const struct world *world, const struct virt_shade_window *window)
{
	struct virt_shade_run *runs = calloc(window->n_columns, sizeof(*runs));
	int64_t (*ns)[VIRT_N_STATES] = calloc(window->n_columns, sizeof(*ns));
	int n;

	assert_non_null(runs);
	assert_non_null(ns);
	for (int i = 0; i < N_VCPUS; i++) {
		n = virt_shade_vcpu(world->model, i, window, runs);
		check_runs(window, runs, n, world->vcpu[i]);
		virt_shade_times(world->model, i, window, ns);
		n = virt_shade_runs(window, (const int64_t (*)[VIRT_N_STATES])ns, runs);
		check_runs(window, runs, n, world->vcpu[i]);
	}
	/* a pCPU of which the model has never heard stays blank */
	for (int i = 0; i < virt_model_n_pcpus(world->model); i++) {
		n = virt_shade_pcpu(world->model, i, window, runs);
		check_runs(window, runs, n, world->pcpu[i]);
	}
	free(ns);
	free(runs);
}

/* Short intervals make the shader ask for totals, long ones make it walk. */
static void test_random(void **state)
{
	static const uint32_t means[] = { 2, 5, 30, 200, 3000 };

	(void)state;
	for (size_t m = 0; m < sizeof(means) / sizeof(means[0]); m++) {
		struct world *world = random_world(17 + m, means[m]);

		for (int i = 0; i < 60; i++) {
			struct virt_shade_window window = {
				.from_ns = random_below(END + 500),
				.column_ns = 1 + random_below(i % 2 ? 5 : 400),
				.n_columns = 1 + random_below(40),
				.n_parts = 1 + random_below(40),
			};

			check_window(world, &window);
		}
		free_world(world);
	}
}

/** Both ends of the trace, in the window, at its edge, and outside. */
static void test_edges(void **state)
{
	struct world *world = random_world(99, 40);
	static const struct virt_shade_window windows[] = {
		{ .from_ns = 0, .column_ns = 1, .n_columns = MAX_COLUMNS, .n_parts = 1 },
		{ .from_ns = BEGIN, .column_ns = END - BEGIN, .n_columns = 1, .n_parts = 17 },
		{ .from_ns = BEGIN - 7, .column_ns = 10, .n_columns = 2, .n_parts = 17 },
		{ .from_ns = END - 7, .column_ns = 10, .n_columns = 3, .n_parts = 17 },
		{ .from_ns = END, .column_ns = 10, .n_columns = 3, .n_parts = 17 },
		{ .from_ns = 0, .column_ns = BEGIN / 2, .n_columns = 2, .n_parts = 255 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		check_window(world, &windows[i]);
	free_world(world);
}

/* No interval begins or ends in the window: the state is that of before. */
static void test_inside_one(void **state)
{
	struct virt_model *model = new_model(1);
	struct virt_shade_window window = { 2500, 10, 20, 16 };
	struct virt_shade_run runs[20];

	(void)state;
	assert_int_equal(virt_model_occupy(model, 0, 2000, 0, true), 0);
	assert_int_equal(virt_model_set(model, 0, 2000, VIRT_GUEST, 0, VIRT_NONE, 0), 0);
	assert_int_equal(virt_model_finish(model, BEGIN, END), 0);
	assert_int_equal(virt_shade_vcpu(model, 0, &window, runs), 1);
	assert_int_equal(runs[0].parts[VIRT_GUEST], 16);
	assert_int_equal(runs[0].n, 20);
	assert_int_equal(virt_shade_pcpu(model, 0, &window, runs), 1);
	assert_int_equal(runs[0].parts[VIRT_GUEST], 16);
	/* no vCPU there, and no such one */
	assert_int_equal(virt_shade_pcpu(model, 5, &window, runs), 1);
	assert_int_equal(runs[0].parts[VIRT_UNKNOWN], 16);
	assert_int_equal(virt_shade_vcpu(model, -1, &window, runs), 1);
	assert_int_equal(runs[0].parts[VIRT_UNKNOWN], 16);
	window.n_parts = 256;
	assert_true(virt_shade_vcpu(model, 0, &window, runs) < 0);
	virt_model_free(model);
}

static void test_shares(void **state)
{
	struct virt_model *model = new_model(1);
	struct virt_shade_window window = { 1000, 100, 2, 10 };
	struct virt_shade_run runs[2];

	(void)state;
	/* 50 guest, 30 hypervisor, 20 preempted; then blocked */
	virt_model_set(model, 0, 1000, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 1020, VIRT_HYPERVISOR, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 1050, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 1080, VIRT_PREEMPTED, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 1100, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, BEGIN, END), 0);
	assert_int_equal(virt_shade_vcpu(model, 0, &window, runs), 2);
	assert_int_equal(runs[0].parts[VIRT_GUEST], 5);
	assert_int_equal(runs[0].parts[VIRT_HYPERVISOR], 3);
	assert_int_equal(runs[0].parts[VIRT_PREEMPTED], 2);
	assert_int_equal(runs[1].parts[VIRT_BLOCKED], 10);
	/* from the bottom up */
	assert_int_equal(virt_shade_at(&runs[0], 0), VIRT_GUEST);
	assert_int_equal(virt_shade_at(&runs[0], 4), VIRT_GUEST);
	assert_int_equal(virt_shade_at(&runs[0], 5), VIRT_HYPERVISOR);
	assert_int_equal(virt_shade_at(&runs[0], 9), VIRT_PREEMPTED);
	virt_model_free(model);
}

/** A vCPU that changes between two pCPUs at these times. */
static struct virt_model *moving_model(const int64_t *times, int n)
{
	struct virt_model *model = new_model(1);

	for (int i = 0; i < n; i++) {
		virt_model_set(model, 0, times[i], VIRT_GUEST, i % 2, VIRT_NONE, 0);
		virt_model_occupy(model, i % 2, times[i], 0, true);
		virt_model_set(model, 0, times[i] + 5, VIRT_BLOCKED, i % 2, VIRT_NONE, 0);
		virt_model_occupy(model, i % 2, times[i] + 5, VIRT_NONE, true);
	}
	assert_int_equal(virt_model_finish(model, BEGIN, END), 0);
	return model;
}

static void test_migrations(void **state)
{
	/* the first run is no migration */
	static const int64_t times[] = { 1000, 1100, 1110, 1190, 1200, 1500, 4000 };
	struct virt_model *model = moving_model(times, 7);
	struct virt_shade_window window = { 1050, 10, 100, 16 };
	struct virt_shade_mark marks[8];
	char text[VIRT_TEXT_SIZE];

	struct virt_shade_room room = { .few = 1, .many = 10, .margin = 5 };

	(void)state;
	assert_int_equal(virt_shade_migrations(model, 0, &window, &room, marks, 8), 5);
	room.few = 10;
	assert_int_equal(virt_shade_migrations(model, 0, &window, &room, marks, 8), 3);
	assert_int_equal(marks[0].column, 5);
	assert_int_equal(marks[0].n, 3);
	assert_int_equal(marks[0].migration->time_ns, 1100);
	assert_int_equal(marks[1].column, 15);
	assert_int_equal(marks[1].n, 1);
	assert_int_equal(marks[2].column, 45);
	assert_int_equal(virt_shade_migrations(model, 0, &window, &room, marks, 2), 2);
	virt_text_migration(text, sizeof(text), model, NULL, marks[0].migration);
	assert_string_equal(text, "d1v0 migrated from pCPU 0 to pCPU 1, 95 ns after it last ran");
	virt_model_free(model);
}

/** All in the marks: none hidden, none twice. */
static void check_marks(const struct virt_shade_mark *marks, int n,
			const struct virt_shade_room *room, int all)
{
	for (int i = 0; i < n; i++) {
		all -= marks[i].n;
		assert_true(marks[i].n > 0);
		assert_true(!i || marks[i].column >= marks[i - 1].column + room->few);
		for (size_t t = 0; t < room->n_taken; t++)
			assert_true(abs(marks[i].column - room->taken[t].column) >= room->margin);
	}
	assert_int_equal(all, 0);
}

/** Many migrations, and markers of moments where their marks would be. */
static void test_many_migrations(void **state)
{
	struct virt_shade_taken taken[] = {
		{ 10, true }, { 41, false }, { 43, false }, { 80, false },
	}, everywhere[20];
	struct virt_shade_room room = { 2, 20, 5, NULL, 0 };
	struct virt_shade_window window = { 1000, 10, 100, 16 };
	struct virt_shade_mark marks[60];
	struct virt_model *model;
	int64_t times[81] = { 1000 };
	int n;

	(void)state;
	/* every 12 ns */
	for (int i = 1; i <= 80; i++)
		times[i] = 1000 + i * 12;
	model = moving_model(times, 81);
	n = virt_shade_migrations(model, 0, &window, &room, marks, 60);
	assert_int_equal(n, 5);
	check_marks(marks, n, &room, 80);
	room.taken = taken;
	room.n_taken = ARRAY_SIZE(taken);
	n = virt_shade_migrations(model, 0, &window, &room, marks, 60);
	assert_in_range(n, 3, 5);
	check_marks(marks, n, &room, 80);
	/* with room for a number, where there is such room */
	assert_int_equal(marks[0].column, 15);
	/* no place at all: said nevertheless */
	for (int i = 0; i < 20; i++)
		everywhere[i] = (struct virt_shade_taken){ i * 5, false };
	room.taken = everywhere;
	room.n_taken = ARRAY_SIZE(everywhere);
	assert_int_equal(virt_shade_migrations(model, 0, &window, &room, marks, 60), 1);
	assert_int_equal(marks[0].n, 80);
	assert_int_equal(marks[0].migration->time_ns, 1012);
	virt_model_free(model);

	/* one that is marked has no mark; one beside a marker of something else has */
	times[1] = 1100;
	times[2] = 1410;
	model = moving_model(times, 3);
	room.taken = taken;
	room.n_taken = ARRAY_SIZE(taken);
	n = virt_shade_migrations(model, 0, &window, &room, marks, 60);
	assert_int_equal(n, 1);
	assert_int_equal(marks[0].column, 48);
	assert_int_equal(marks[0].migration->time_ns, 1410);
	virt_model_free(model);
}

static void test_pick(void **state)
{
	struct virt_model *model = new_model(2);
	struct virt_shade_hit hit;
	char text[VIRT_TEXT_SIZE];

	(void)state;
	virt_model_add_reason(model, "HLT");
	virt_model_occupy(model, 0, 1000, 0, true);
	virt_model_set(model, 0, 1000, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 1500, VIRT_HYPERVISOR, 0, 0, VIRT_INTERVAL_EXIT);
	virt_model_set(model, 0, 1600, VIRT_PREEMPTED, 0, 1, 0);
	virt_model_occupy(model, 0, 1600, 1, true);
	virt_model_set(model, 1, 1600, VIRT_GUEST, 0, VIRT_NONE, VIRT_INTERVAL_NESTED);
	assert_int_equal(virt_model_finish(model, BEGIN, 3500), 0);

	assert_true(virt_shade_pick_vcpu(model, 0, 1400, 1520, -1, &hit));
	assert_int_equal(hit.interval.state, VIRT_GUEST);
	assert_int_equal(hit.interval.start_ns, 1000);
	assert_int_equal(hit.end_ns, 1500);
	assert_true(virt_shade_pick_vcpu(model, 0, 1400, 1520, VIRT_HYPERVISOR, &hit));
	virt_text_interval(text, sizeof(text), model, NULL, hit.vcpu, &hit.interval, hit.end_ns);
	assert_string_equal(text, "d1v0 is in the hypervisor on pCPU 0 for 100 ns, VM exit: HLT");
	assert_false(virt_shade_pick_vcpu(model, 0, 1400, 1520, VIRT_BLOCKED, &hit));
	/* to its end, although the window does not reach it */
	assert_true(virt_shade_pick_vcpu(model, 0, 1700, 1710, VIRT_PREEMPTED, &hit));
	assert_int_equal(hit.end_ns, 3500);
	virt_text_interval(text, sizeof(text), model, NULL, hit.vcpu, &hit.interval, hit.end_ns);
	assert_string_equal(text, "d1v0 is preempted (last on pCPU 0) for 1.900 us by d1v1 "
			    "(1.900 us)");
	/* on the pCPU, of its two users the one that was there longer */
	assert_true(virt_shade_pick_pcpu(model, 0, 1580, 1700, -1, &hit));
	assert_int_equal(hit.vcpu, 1);
	virt_text_interval(text, sizeof(text), model, NULL, hit.vcpu, &hit.interval, hit.end_ns);
	assert_string_equal(text, "d1v1 runs code of its own guest on pCPU 0 for 1.900 us");
	assert_true(virt_shade_pick_pcpu(model, 0, 1580, 1700, VIRT_HYPERVISOR, &hit));
	assert_int_equal(hit.vcpu, 0);
	assert_false(virt_shade_pick_pcpu(model, 1, 1580, 1700, -1, &hit));
	virt_model_free(model);
}

/** Where records are missing, column by column, and the text there, by a look at all. */
static void check_losses(const struct virt_model *model, const struct virt_shade_window *window)
{
	struct virt_loss_range losses = virt_model_losses(model);
	struct virt_shade_span spans[MAX_COLUMNS];
	int n = virt_shade_losses(model, window, spans), at = 0;

	for (int column = 0; column < window->n_columns; column++) {
		int64_t from = window->from_ns + column * window->column_ns;
		int64_t to = from + window->column_ns, latest = INT64_MIN;
		const struct virt_loss *loss = virt_model_loss_in(model, from, to);

		for (size_t i = 0; i < losses.n; i++) {
			int64_t end = losses.first[i].to_ns;

			end += end == losses.first[i].from_ns;
			if (losses.first[i].from_ns < to && end > from && end > latest)
				latest = end;
		}
		while (at < n && column >= spans[at].first + spans[at].n)
			at++;
		assert_int_equal(at < n && column >= spans[at].first, latest != INT64_MIN);
		assert_int_equal(!!loss, latest != INT64_MIN);
		if (loss)
			assert_int_equal(loss->to_ns + (loss->to_ns == loss->from_ns), latest);
	}
	for (int i = 1; i < n; i++)
		assert_true(spans[i].first > spans[i - 1].first + spans[i - 1].n);
}

static void test_losses(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++) {
		struct virt_model *model = new_model(1);
		struct virt_shade_window window = { BEGIN - 100, 1, END - BEGIN + 200, 16 };

		seed = (uint32_t)round;
		for (int i = 0; i < round / 3; i++) {
			int64_t from = BEGIN + random_below(END - BEGIN);
			int64_t length = random_below(4) ? random_below(300) : 0;
			struct virt_loss loss = {
				.from_ns = from, .to_ns = from + length, .pcpu = 0,
			};

			assert_int_equal(virt_model_add_loss(model, &loss), 0);
		}
		assert_int_equal(virt_model_finish(model, BEGIN, END), 0);
		check_losses(model, &window);
		for (int i = 0; i < 10; i++) {
			window.from_ns = random_below(END);
			window.column_ns = 1 + random_below(40);
			window.n_columns = 1 + (int)random_below(200);
			check_losses(model, &window);
		}
		virt_model_free(model);
	}
}

static void test_registry(void **state)
{
	struct virt_shared *first, *second;

	(void)state;
	assert_null(virt_registry_get(3));
	assert_int_equal(virt_registry_set(3, new_model(1)), 0);
	first = virt_registry_get(3);
	assert_non_null(first);
	assert_int_equal(virt_model_n_vcpus(virt_shared_model(first)), 1);
	/* a reload during a look */
	assert_int_equal(virt_registry_set(3, new_model(2)), 0);
	second = virt_registry_get(3);
	assert_ptr_not_equal(first, second);
	assert_int_not_equal(virt_shared_serial(first), virt_shared_serial(second));
	assert_int_equal(virt_model_n_vcpus(virt_shared_model(first)), 1);
	assert_int_equal(virt_model_n_vcpus(virt_shared_model(second)), 2);
	virt_shared_put(first);
	/* the stream is closed */
	assert_int_equal(virt_registry_set(3, NULL), 0);
	assert_null(virt_registry_get(3));
	assert_int_equal(virt_model_n_vcpus(virt_shared_model(second)), 2);
	virt_shared_put(second);
	assert_true(virt_registry_set(-1, new_model(1)) < 0);
	assert_null(virt_registry_get(-1));
	assert_int_equal(virt_registry_set(1000, NULL), 0);
	virt_shared_put(NULL);
}

static int n_made, n_dropped;

static struct virt_model *make_promised(void *arg)
{
	n_made++;
	return arg ? new_model(*(int *)arg) : NULL;
}

static void drop_promise(void *arg)
{
	(void)arg;
	n_dropped++;
}

/** A model that is made at its first use. */
static void test_registry_promise(void **state)
{
	struct virt_shared *shared;
	int n_vcpus = 2;

	(void)state;
	assert_int_equal(virt_registry_promise(4, make_promised, drop_promise, &n_vcpus), 0);
	assert_int_equal(n_made, 0);
	shared = virt_registry_get(4);
	assert_non_null(shared);
	assert_int_equal(virt_model_n_vcpus(virt_shared_model(shared)), 2);
	virt_shared_put(shared);
	shared = virt_registry_get(4);
	assert_non_null(shared);
	assert_int_equal(n_made, 1);
	assert_int_equal(n_dropped, 1);
	/* a reload: the promise takes the model's place, and there is no use before the next one */
	assert_int_equal(virt_registry_promise(4, make_promised, drop_promise, NULL), 0);
	assert_int_equal(virt_model_n_vcpus(virt_shared_model(shared)), 2);
	virt_shared_put(shared);
	assert_int_equal(virt_registry_promise(4, make_promised, drop_promise, NULL), 0);
	assert_int_equal(n_dropped, 2);
	/* it cannot be kept, and is not tried again */
	assert_null(virt_registry_get(4));
	assert_null(virt_registry_get(4));
	assert_int_equal(n_made, 2);
	assert_int_equal(n_dropped, 3);
	/* closed before anybody looked */
	assert_int_equal(virt_registry_promise(4, make_promised, drop_promise, &n_vcpus), 0);
	assert_int_equal(virt_registry_set(4, NULL), 0);
	assert_null(virt_registry_get(4));
	assert_int_equal(n_made, 2);
	assert_int_equal(n_dropped, 4);
	assert_true(virt_registry_promise(-1, make_promised, drop_promise, NULL) < 0);
	assert_int_equal(n_dropped, 5);
}

/** A trace without sched_switch says so, in words and colours. */
static void test_unsplit(void **state)
{
	struct virt_model *model = new_model(2), *split = new_model(2);
	struct virt_shade_hit hit;
	int64_t unsplit[VIRT_N_STATES];
	char text[VIRT_TEXT_SIZE];

	(void)state;
	virt_model_add_reason(model, "IOIO");
	virt_model_set(model, 0, 1000, VIRT_VMM, 0, 0, VIRT_INTERVAL_UNSPLIT);
	virt_model_set(model, 0, 1100, VIRT_UNKNOWN, 0, VIRT_NONE, VIRT_INTERVAL_UNSPLIT);
	virt_model_set(model, 0, 1500, VIRT_GUEST, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, BEGIN, 3500), 0);
	assert_int_equal(virt_model_finish(split, BEGIN, 3500), 0);

	assert_true(virt_shade_pick_vcpu(model, 0, 1000, 1100, -1, &hit));
	virt_text_interval(text, sizeof(text), model, NULL, hit.vcpu, &hit.interval, hit.end_ns);
	assert_string_equal(text, "d1v0 is in its monitor on pCPU 0 for 100 ns, VM exit: IOIO, not "
			    "split: waits are not distinguished, there is no sched_switch");
	assert_true(virt_shade_pick_vcpu(model, 0, 1200, 1300, -1, &hit));
	virt_text_interval(text, sizeof(text), model, NULL, hit.vcpu, &hit.interval, hit.end_ns);
	assert_string_equal(text, "d1v0 is in a state that the trace does not show for 400 ns "
			    "between a VM exit and the next entry: there is no sched_switch in it");
	assert_false(virt_interval_is_lost(&hit.interval));

	assert_true(virt_model_is_unsplit(model));
	assert_false(virt_model_is_unsplit(split));
	assert_true(virt_state_look_in(model, VIRT_HYPERVISOR)->hatched);
	assert_true(virt_state_look_in(model, VIRT_VMM)->hatched);
	assert_ptr_equal(virt_state_look_in(model, VIRT_GUEST), virt_state_look(VIRT_GUEST));
	assert_ptr_equal(virt_state_look_in(split, VIRT_VMM), virt_state_look(VIRT_VMM));
	virt_vcpu_unsplit(model, 0, 1050, 1200, unsplit);
	assert_int_equal(unsplit[VIRT_VMM], 50);
	assert_int_equal(unsplit[VIRT_UNKNOWN], 100);
	assert_int_equal(unsplit[VIRT_GUEST], 0);
	virt_vcpu_unsplit(split, 0, 1050, 1200, unsplit);
	assert_int_equal(unsplit[VIRT_UNKNOWN], 0);
	virt_model_free(model);
	virt_model_free(split);
}

/** All colours of states differ from each other, and from the vCPUs' on the same figure. */
static void test_colors(void **state)
{
	(void)state;
	for (int i = 0; i < VIRT_N_STATES; i++) {
		const struct virt_look *a = virt_state_look(i);

		assert_non_null(a);
		assert_non_null(a->title);
		assert_non_null(a->meaning);
		for (int k = 0; k < i; k++)
			assert_memory_not_equal(&a->color, &virt_state_look(k)->color,
						sizeof(a->color));
		for (int k = -1; k < 12; k++) {
			struct virt_color color = virt_vcpu_color(k);

			assert_memory_not_equal(&a->color, &color, sizeof(color));
		}
	}
	assert_null(virt_state_look(VIRT_N_STATES));
	assert_true(virt_color_text_is_dark(virt_state_look(VIRT_WAKING)->color));
	assert_true(virt_color_text_is_dark(virt_state_look(VIRT_GUEST)->color));
	assert_false(virt_color_text_is_dark(virt_exit_class_color(VIRT_EXIT_MEMORY)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_inside_one),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_migrations),
		cmocka_unit_test(test_many_migrations),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_pick),
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_registry_promise),
		cmocka_unit_test(test_unsplit),
		cmocka_unit_test(test_colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
