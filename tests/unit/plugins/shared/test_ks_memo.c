// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_ks_memo.c
 * @brief	A text stays in a stream beside its clock; arrays of a damaged session have none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ks_clock.h"
#include "ks_memo.h"

static void check_text(const struct kshark_data_stream *stream, const char *wanted)
{
	char *text = ks_memo_get(stream);

	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
	free(text);
}

/** Texts of each length around a member's, one after the other, with no clock before them. */
static void test_lengths(void **state)
{
	struct kshark_data_stream stream = { 0 };
	char text[40];

	(void)state;
	check_text(&stream, NULL);
	for (size_t length = 0; length < sizeof(text); length++) {
		memset(text, 'x', length);
		text[length] = '\0';
		assert_int_equal(ks_memo_set(&stream, text), 0);
		check_text(&stream, text);
		assert_int_equal(stream.calib_array[0], 0);
		assert_ptr_equal(stream.calib, kshark_offset_calib);
		assert_int_equal(ks_memo_at(stream.calib_array, stream.calib_array_size), 1);
	}
	assert_int_equal(ks_memo_set(&stream, NULL), 0);
	check_text(&stream, NULL);
	assert_int_equal(stream.calib_array_size, 1);
	free(stream.calib_array);
}

/** A clock stays what it is, whatever text comes after it. */
static void test_clock(void **state)
{
	struct kshark_data_stream stream = { .calib_array_size = KS_CLOCK_TIDS + 1 };
	struct ks_clock copy;

	(void)state;
	stream.calib_array = calloc(stream.calib_array_size, sizeof(int64_t));
	assert_non_null(stream.calib_array);
	stream.calib_array[KS_CLOCK_OFFSET] = stream.calib_array[KS_CLOCK_FOUND] = 4711;
	stream.calib_array[KS_CLOCK_MAGIC] = KS_CLOCK_IS_OURS;
	stream.calib_array[KS_CLOCK_FLAGS] = KS_CLOCK_ALIGNED;
	stream.calib_array[KS_CLOCK_N_TIDS] = 1;
	stream.calib_array[KS_CLOCK_TIDS] = 42;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ks_memo_set(&stream, i ? "" : "{ \"a\": \"text\" }"), 0);
		check_text(&stream, i ? "" : "{ \"a\": \"text\" }");
		assert_non_null(ks_clock_of(&stream));
		assert_int_equal(ks_clock_of(&stream)[KS_CLOCK_TIDS], 42);
		copy = ks_clock_copy(&stream);
		assert_int_equal(copy.n, KS_CLOCK_TIDS + 1);
		assert_int_equal(copy.parts[KS_CLOCK_OFFSET], 4711);
		free(copy.parts);
	}
	assert_int_equal(ks_memo_set(&stream, NULL), 0);
	assert_int_equal(stream.calib_array_size, KS_CLOCK_TIDS + 1);
	free(stream.calib_array);
}

/** Another clock comes before it. */
static void test_other_clock(void **state)
{
	struct kshark_data_stream stream = { 0 };
	struct ks_clock clock = { calloc(1, sizeof(int64_t)), 1 };
	struct kshark_entry *rows[1];

	(void)state;
	assert_non_null(clock.parts);
	clock.parts[0] = 17;
	assert_int_equal(ks_memo_set(&stream, "text"), 0);
	assert_int_equal(ks_clock_set(&stream, clock, rows, 0), 0);
	check_text(&stream, "text");
	assert_int_equal(stream.calib_array[0], 17);
	free(stream.calib_array);
}

static void test_too_long(void **state)
{
	struct kshark_data_stream stream = { 0 };
	char *text = malloc(KS_MEMO_MOST + 2);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', KS_MEMO_MOST + 1);
	text[KS_MEMO_MOST + 1] = '\0';
	assert_int_equal(ks_memo_set(&stream, "before"), 0);
	assert_int_equal(ks_memo_set(&stream, text), -EFBIG);
	check_text(&stream, "before");
	text[KS_MEMO_MOST] = '\0';
	assert_int_equal(ks_memo_set(&stream, text), 0);
	check_text(&stream, text);
	free(text);
	free(stream.calib_array);
}

/** Whatever a session says of the length, nothing outside of the array is read. */
static void test_damaged(void **state)
{
	static const int64_t lengths[] = {
		-1, INT64_MIN, INT64_MAX, 9, 17, (int64_t)KS_MEMO_MOST, (int64_t)KS_MEMO_MOST + 1,
	};

	(void)state;
	for (size_t n = 0; n < 5; n++) {
		struct kshark_data_stream stream = { .calib_array_size = n };

		stream.calib_array = calloc(n, sizeof(int64_t));
		if (n)
			stream.calib_array[n - 1] = KS_MEMO_MAGIC;
		for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
			if (n > 1)
				stream.calib_array[n - 2] = lengths[i];
			if (n != 4 || lengths[i] > 8 || lengths[i] < 0)
				check_text(&stream, NULL);
		}
		free(stream.calib_array);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_other_clock),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
