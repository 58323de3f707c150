// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_session.c
 * @brief	A session keeps what is seen of the dock, and damaged texts are refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "virt_session.h"

static void test_round_trip(void **state)
{
	struct virt_session before = {
		.page = (char *)"W\"orst\n", .stream = 1, .machine = 0, .vcpu = 7, .scroll = 321,
		.a_to_b = true, .why_stream = 0, .why_pcpu = -1, .why_guest = 1, .why_pid = 412,
	}, after;
	static const struct {
		int64_t		from_ns, to_ns;
		const char	*note;
	} marks[] = {
		{ 5, 5, "moment" }, { -7, VIRT_SESSION_MOST_NS, NULL },
		{ 1700000000123456789, 1700000000123456790, "\xc3\xa4 <b>&amp;" }, { 5, 4711, "" },
	};
	static const size_t order[] = { 1, 0, 3, 2 };
	char *text, error[256];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(virt_session_add(&before, marks[i].from_ns, marks[i].to_ns,
						  marks[i].note), 0);
	text = virt_session_write(&before);
	assert_non_null(text);
	assert_int_equal(virt_session_read(text, &after, error, sizeof(error)), 0);
	free(text);
	assert_string_equal(after.page, before.page);
	assert_int_equal(after.stream, 1);
	assert_int_equal(after.machine, 0);
	assert_int_equal(after.vcpu, 7);
	assert_int_equal(after.scroll, 321);
	assert_true(after.a_to_b);
	assert_int_equal(after.why_stream, 0);
	assert_int_equal(after.why_pcpu, -1);
	assert_int_equal(after.why_guest, 1);
	assert_int_equal(after.why_pid, 412);
	assert_int_equal(after.n_marks, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(after.marks[i].from_ns, marks[order[i]].from_ns);
		assert_int_equal(after.marks[i].to_ns, marks[order[i]].to_ns);
		if (marks[order[i]].note)
			assert_string_equal(after.marks[i].note, marks[order[i]].note);
		else
			assert_null(after.marks[i].note);
	}
	virt_session_free(&after);
	before.page = NULL;
	virt_session_free(&before);
}

/** Nothing is known, and nothing is selected. */
static void test_nothing(void **state)
{
	struct virt_session none = {
		.stream = -1, .machine = -1, .vcpu = -1, .scroll = -1,
		.why_stream = -1, .why_pcpu = -1, .why_guest = -1, .why_pid = -1,
	};
	struct virt_session after;
	char *text = virt_session_write(&none), error[256];

	(void)state;
	assert_string_equal(text, "{\"version\":1}");
	assert_int_equal(virt_session_read(text, &after, error, sizeof(error)), 0);
	assert_null(after.page);
	assert_int_equal(after.stream, -1);
	assert_int_equal(after.vcpu, -1);
	assert_int_equal(after.scroll, -1);
	assert_false(after.a_to_b);
	assert_int_equal(after.n_marks, 0);
	free(text);
	virt_session_free(&after);
}

static void check_refused(const char *text, const char *why)
{
	struct virt_session session;
	char error[256] = "";

	assert_int_equal(virt_session_read(text, &session, error, sizeof(error)), -EINVAL);
	if (!strstr(error, why))
		fail_msg("%s: '%s' is not in '%s'", text, why, error);
	virt_session_free(&session);
}

static void test_refused(void **state)
{
	static char long_note[VIRT_SESSION_NOTE + 200];
	char *many = malloc(40 * (VIRT_SESSION_MARKS + 2)), *end;

	(void)state;
	assert_non_null(many);
	check_refused("", "not a JSON object");
	check_refused("[1]", "not a JSON object");
	check_refused("{\"version\":1", "not a JSON object");
	check_refused("{}", "another version");
	check_refused("{\"version\":2}", "another version");
	check_refused("{\"version\":1,\"vcpu\":-5}", "vcpu");
	check_refused("{\"version\":1,\"scroll\":99999999999}", "scroll");
	check_refused("{\"version\":1,\"bookmarks\":[{\"from_ns\":2,\"to_ns\":1}]}", "bookmarks");
	check_refused("{\"version\":1,\"bookmarks\":[{\"from_ns\":2}]}", "bookmarks");
	check_refused("{\"version\":1,\"bookmarks\":[7]}", "bookmarks");
	check_refused("{\"version\":1,\"bookmarks\":[{\"from_ns\":0,"
		      "\"to_ns\":9000000000000000000}]}", "bookmarks");
	snprintf(long_note, sizeof(long_note), "{\"version\":1,\"bookmarks\":[{\"from_ns\":0,"
		 "\"to_ns\":1,\"note\":\"%0*d\"}]}", VIRT_SESSION_NOTE + 1, 0);
	check_refused(long_note, "bookmarks");
	end = many + sprintf(many, "{\"version\":1,\"bookmarks\":[");
	for (int i = 0; i <= VIRT_SESSION_MARKS; i++)
		end += sprintf(end, "%s{\"from_ns\":%d,\"to_ns\":%d}", i ? "," : "", i, i);
	strcpy(end, "]}");
	check_refused(many, "more than 1000");
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
