// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_path.c
 * @brief	Which columns of which graphs show the segments of a "why".
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
#include "hand_model.h"
#include "virt_path.h"

#define LIMIT		20000
#define COLUMNS		20

/** vCPU 0 is preempted from 20 to 60: 1 has its pCPU up to 50, then no one. 2 wakes it at 80. */
static struct virt_model *with_waits(void)
{
	const struct virt_wake wake = { .who = 2, .vector = VIRT_NONE, .cause = VIRT_WAKE_VCPU };
	struct virt_model *model = with_vcpus(3);

	occupy(model, 0, 0, 0, true);
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 1, 0, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 2, 0, VIRT_GUEST, 1, VIRT_NONE, 0);
	occupy(model, 1, 0, 2, true);
	set(model, 0, 20, VIRT_PREEMPTED, 0, VIRT_NONE, 0);
	set(model, 1, 20, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 0, 20, 1, true);
	set(model, 1, 50, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	occupy(model, 0, 50, VIRT_NONE, true);
	set(model, 0, 60, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 0, 60, 0, true);
	set(model, 0, 70, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	occupy(model, 0, 70, VIRT_NONE, true);
	assert_int_equal(virt_model_add_wake(model, &wake), 0);
	assert_int_equal(virt_model_woken(model, 0, 0), 0);
	set(model, 0, 80, VIRT_WAKING, 0, VIRT_NONE, 0);
	set(model, 0, 90, VIRT_GUEST, 0, VIRT_NONE, 0);
	occupy(model, 0, 90, 0, true);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	return model;
}

struct fixture {
	struct virt_model	*model;
	struct virt_why		why;
	struct virt_path	*path;
};

static struct fixture explained(void)
{
	struct fixture fixture = { .model = with_waits() };

	assert_int_equal(virt_why_vcpu(fixture.model, NULL, 0, 0, 100, LIMIT, &fixture.why), 0);
	fixture.path = virt_path_new(&fixture.why);
	assert_non_null(fixture.path);
	return fixture;
}

static void drop(struct fixture *fixture)
{
	virt_path_free(fixture->path);
	virt_why_free(&fixture->why);
	virt_model_free(fixture->model);
}

/** The kinds that the columns of a graph show, a letter for each. */
static void shows(const struct fixture *fixture, struct virt_path_row row, int64_t from_ns,
		  int64_t column_ns, const char *expected)
{
	static const char letters[VIRT_WHY_N_KINDS + 1] = "ghlmpwbdou" "VTIHSL";
	const struct virt_shade_window window = {
		.from_ns = from_ns, .column_ns = column_ns, .n_columns = (int)strlen(expected),
		.n_parts = 1,
	};
	char seen[COLUMNS + 1];
	struct virt_path_run runs[COLUMNS];
	int n = virt_path_runs(fixture->path, row, &window, runs);

	assert_true(n >= 0);
	memset(seen, '.', sizeof(seen));
	seen[window.n_columns] = '\0';
	for (int i = 0; i < n; i++) {
		assert_true(!i || runs[i].first >= runs[i - 1].first + runs[i - 1].n);
		for (int c = runs[i].first; c < runs[i].first + runs[i].n; c++)
			seen[c] = letters[fixture->why.segments[runs[i].segment].kind];
	}
	assert_string_equal(seen, expected);
}

/** Its own graph, those of who is to blame, and the pCPU that was waited for. */
static void columns(void **state)
{
	struct fixture fixture = explained();

	(void)state;
	shows(&fixture, (struct virt_path_row){ false, 0 }, 0, 10, "ggppppgbwg");
	shows(&fixture, (struct virt_path_row){ false, 1 }, 0, 10, "..VVV.....");
	shows(&fixture, (struct virt_path_row){ false, 2 }, 0, 10, ".......g..");
	shows(&fixture, (struct virt_path_row){ true, 0 }, 0, 10, "..VVVu..I.");
	shows(&fixture, (struct virt_path_row){ true, 1 }, 0, 10, "..........");
	/* a window that begins earlier, ends later, and cuts segments */
	shows(&fixture, (struct virt_path_row){ false, 0 }, -20, 10, "..ggppppgbwg..");
	shows(&fixture, (struct virt_path_row){ false, 0 }, 35, 5, "pppppggbbww");
	shows(&fixture, (struct virt_path_row){ true, 0 }, 45, 5, "Vuu...");
	/* what has most of a column */
	shows(&fixture, (struct virt_path_row){ false, 0 }, 0, 40, "gpw");
	shows(&fixture, (struct virt_path_row){ true, 0 }, 0, 100, "V");
	drop(&fixture);
}

/** What is not known of a wait stands in its place. */
static void unexplained(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct fixture fixture = { .model = model };

	(void)state;
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 50, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 0, 80, VIRT_GUEST, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	assert_int_equal(virt_why_vcpu(model, NULL, 0, 0, 100, LIMIT, &fixture.why), 0);
	fixture.path = virt_path_new(&fixture.why);
	shows(&fixture, (struct virt_path_row){ false, 0 }, 0, 10, "ggggguuugg");
	drop(&fixture);
}

static void is_link(const struct virt_path_link *link, int32_t column, int32_t other, int16_t pcpu,
		    bool is_back)
{
	assert_int_equal(link->column, column);
	assert_int_equal(link->waits, 0);
	assert_int_equal(link->other, other);
	assert_int_equal(link->pcpu, pcpu);
	assert_int_equal(link->is_back, is_back);
}

static void links(void **state)
{
	struct virt_shade_window window = {
		.from_ns = 0, .column_ns = 1, .n_columns = 100, .n_parts = 1,
	};
	struct fixture fixture = explained();
	struct virt_path_link found[8];

	(void)state;
	assert_int_equal(virt_path_links(fixture.path, &window, 1, found, 8), 6);
	is_link(&found[0], 20, 1, 0, false);
	is_link(&found[1], 60, VIRT_NONE, 0, true);
	is_link(&found[2], 70, 2, VIRT_NONE, false);
	is_link(&found[3], 80, 2, VIRT_NONE, true);
	is_link(&found[4], 80, VIRT_NONE, 0, false);
	is_link(&found[5], 90, VIRT_NONE, 0, true);
	/* no room for all of them, nor for short ones */
	assert_int_equal(virt_path_links(fixture.path, &window, 1, found, 3), 2);
	assert_int_equal(virt_path_links(fixture.path, &window, 11, found, 8), 2);
	/* only what is seen */
	window.from_ns = 60;
	window.n_columns = 20;
	assert_int_equal(virt_path_links(fixture.path, &window, 1, found, 8), 2);
	is_link(&found[0], 0, VIRT_NONE, 0, true);
	is_link(&found[1], 10, 2, VIRT_NONE, false);
	window.column_ns = 0;
	assert_int_equal(virt_path_links(fixture.path, &window, 1, found, 8), 0);
	drop(&fixture);
}

static void looks(void **state)
{
	struct fixture fixture = explained();
	struct virt_why_segment segment = { .kind = VIRT_WHY_VCPU, .subject = 1 };
	struct virt_color colors[2];

	(void)state;
	colors[0] = virt_path_look(fixture.model, &segment).color;
	colors[1] = virt_vcpu_color(1);
	assert_memory_equal(&colors[0], &colors[1], sizeof(colors[0]));
	for (int kind = 0; kind < VIRT_N_STATES; kind++) {
		segment.kind = (uint8_t)kind;
		colors[0] = virt_path_look(fixture.model, &segment).color;
		assert_memory_equal(&colors[0], &virt_state_look((enum virt_state)kind)->color,
				    sizeof(colors[0]));
	}
	assert_true(virt_path_look(fixture.model, &segment).hatched);
	drop(&fixture);
}

static void nothing_there(void **state)
{
	struct virt_shade_window window = { .column_ns = 0, .n_columns = 1, .n_parts = 1 };
	struct virt_path_run run;
	struct virt_why none = { 0 };
	struct virt_path *path = virt_path_new(&none);

	(void)state;
	assert_non_null(path);
	assert_int_equal(virt_path_runs(path, (struct virt_path_row){ false, 0 }, &window, &run),
			 -EINVAL);
	window.column_ns = 1;
	assert_int_equal(virt_path_runs(path, (struct virt_path_row){ false, 0 }, &window, &run),
			 0);
	virt_path_free(path);
	virt_path_free(NULL);
}

/** A guest's task has its own graph: what its vCPU does while it has it, and what it waits for. */
static void tasks(void **state)
{
	enum { ASKS = VIRT_FIRST_GUEST_TASK + 1, ANSWERS };
	static struct virt_why_segment segments[] = {
		{ .from_ns = 0, .to_ns = 50, .subject = ASKS, .who = ANSWERS, .vcpu = 1,
		  .task = VIRT_NONE, .kind = VIRT_WHY_BLOCKED, .cause = VIRT_WHY_WAKE,
		  .pcpu = VIRT_NONE, .n_below = 1 },
		{ .from_ns = 0, .to_ns = 50, .subject = 1, .vcpu = VIRT_NONE, .task = ANSWERS,
		  .kind = VIRT_WHY_GUEST, .level = 1, .pcpu = 0 },
		{ .from_ns = 50, .to_ns = 80, .subject = 0, .vcpu = VIRT_NONE, .task = ASKS,
		  .kind = VIRT_WHY_GUEST, .pcpu = 1 },
		{ .from_ns = 80, .to_ns = 100, .subject = 0, .vcpu = VIRT_NONE, .task = ASKS,
		  .kind = VIRT_WHY_PREEMPTED, .cause = VIRT_WHY_PCPU, .pcpu = 1, .n_below = 1 },
		{ .from_ns = 80, .to_ns = 100, .subject = ANSWERS, .vcpu = 2, .task = ANSWERS,
		  .kind = VIRT_WHY_TASK, .level = 1, .pcpu = VIRT_NONE },
	};
	const struct virt_shade_window window = {
		.from_ns = 0, .column_ns = 10, .n_columns = 10, .n_parts = 1,
	};
	struct fixture fixture = { .why = { .segments = segments, .n = ARRAY_SIZE(segments) } };
	struct virt_color color = virt_vcpu_color(2);
	struct virt_path_link links[8];
	struct virt_look look;
	int n;

	(void)state;
	fixture.path = virt_path_new(&fixture.why);
	assert_non_null(fixture.path);
	shows(&fixture, (struct virt_path_row){ false, ASKS }, 0, 10, "bbbbbgggpp");
	shows(&fixture, (struct virt_path_row){ false, ANSWERS }, 0, 10, "ggggg...TT");
	shows(&fixture, (struct virt_path_row){ false, 0 }, 0, 10, ".....gggpp");
	shows(&fixture, (struct virt_path_row){ false, 1 }, 0, 10, "ggggg.....");
	n = virt_path_links(fixture.path, &window, 2, links, 8);
	assert_true(n >= 2);
	assert_int_equal(links[0].waits, ASKS);
	assert_int_equal(links[0].other, ANSWERS);
	assert_int_equal(links[0].vcpu, 1);
	assert_false(links[0].is_back);
	assert_true(links[1].is_back);
	look = virt_path_look(NULL, &segments[4]);
	assert_memory_equal(&look.color, &color, sizeof(color));
	virt_path_free(fixture.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns),
		cmocka_unit_test(unexplained),
		cmocka_unit_test(links),
		cmocka_unit_test(looks),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
