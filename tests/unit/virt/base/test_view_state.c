// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_view_state.c
 * @brief	The text of the view that the window begins with, and damaged ones.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view_state.h"

static void test_round_trip(void **state)
{
	static const struct view_state_graph graphs[] = {
		{ .file = 0, .cpu = 3, .task = -1 }, { .file = 1, .cpu = -1, .task = 412 },
		{ .file = 2, .cpu = -1, .task = -1 },
	};
	struct view_state before, after;
	char *text, error[256];

	(void)state;
	view_state_init(&before);
	before.page = strdup("Worst");
	before.select = strdup("w\"eb\n v0");
	before.select_file = 1;
	before.why_task = 412;
	before.from_ns = -5;
	before.to_ns = 1700000000123456789;
	before.b_ns = 7;
	before.a_to_b = true;
	before.scroll = 0;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(view_state_add_graph(&before, &graphs[i]), 0);
	assert_int_equal(view_state_add_file(&before, "/tmp/x.dat", "/home/a b.dat"), 0);
	assert_int_equal(view_state_add_file(&before, "/tmp/guest", NULL), 0);
	assert_int_equal(view_state_add_word(&before, "--kallsyms"), 0);
	assert_int_equal(view_state_add_extra(&before, "-style"), 0);
	text = view_state_write(&before);
	assert_non_null(text);
	assert_int_equal(view_state_read(text, &after, error, sizeof(error)), 0);
	free(text);
	assert_string_equal(after.page, before.page);
	assert_string_equal(after.select, before.select);
	assert_int_equal(after.select_file, 1);
	assert_int_equal(after.why_pcpu, -1);
	assert_int_equal(after.why_task, 412);
	assert_int_equal(after.why_file, -1);
	assert_true(after.from_ns == -5 && after.to_ns == 1700000000123456789);
	assert_true(after.a_ns == VIEW_STATE_NO_TIME && after.b_ns == 7);
	assert_true(after.a_to_b);
	assert_int_equal(after.scroll, 0);
	assert_int_equal(after.n_graphs, 3);
	assert_memory_equal(after.graphs, graphs, sizeof(graphs));
	assert_int_equal(after.n_files, 2);
	assert_string_equal(after.files[0].opened, "/tmp/x.dat");
	assert_string_equal(after.files[0].given, "/home/a b.dat");
	assert_null(after.files[1].given);
	assert_int_equal(after.n_words, 1);
	assert_string_equal(after.words[0].text, "--kallsyms");
	assert_int_equal(after.n_extra, 1);
	view_state_free(&before);
	view_state_free(&after);
}

static void test_damaged(void **state)
{
	static const char *const texts[] = {
		"", "[]", "null", "{", "{\"scroll\":-7}", "{\"why_pcpu\":99999999999}",
		"{\"from_ns\":1}", "{\"to_ns\":1}", "{\"from_ns\":2,\"to_ns\":1}",
		"{\"a_ns\":9223372036854775807}", "{\"graphs\":[{\"file\":-1,\"cpu\":0}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct view_state one;
		char error[256] = "";

		assert_int_equal(view_state_read(texts[i], &one, error, sizeof(error)), -EINVAL);
		assert_true(*error);
		view_state_free(&one);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
