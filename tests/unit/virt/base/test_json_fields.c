// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_json_fields.c
 * @brief	Structs by tables of their members: what is read is written again, and nothing else.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "json_fields.h"

struct item {
	char	*name;
	int16_t	small;
};

struct inner {
	int64_t	least;
};

struct thing {
	char		*text;
	int32_t		count;
	uint64_t	bits;
	double		real;
	bool		flag, has_inner;
	uint8_t		word;
	int		from_one;
	struct inner	inner;
	struct item	*items;
	int		n_items, room_items;
	int32_t		*numbers;
	size_t		n_numbers, room_numbers;
};

static const char *word(int i)
{
	static const char *const words[] = { "red", "green" };

	return words[i];
}

static const struct json_field item_fields[] = {
	{ JSON_A_TEXT("name", struct item, name) },
	{ JSON_A_NUMBER("small", struct item, small, -1, 0, INT64_MAX) },
	JSON_FIELDS_END
};

static int check_item(const void *item)
{
	return !((const struct item *)item)->name;
}

static const struct json_field inner_fields[] = {
	{ JSON_A_NUMBER("least", struct inner, least, 0, 5, 9), .must = true },
	JSON_FIELDS_END
};

static const struct json_field number_fields[] = {
	{ .kind = JSON_NUMBER, .width = sizeof(int32_t), .is_signed = true, .least = 1,
	  .most = INT64_MAX },
	JSON_FIELDS_END
};

static const struct json_field fields[] = {
	{ JSON_A_TEXT("text", struct thing, text) },
	{ JSON_A_NUMBER("count", struct thing, count, -1, 0, 100), .strict = true },
	{ JSON_SOME_BITS("bits", struct thing, bits, 0) },
	{ .key = "real", .kind = JSON_REAL, JSON_PLACE(struct thing, real), .decimals = 3 },
	{ JSON_A_FLAG("flag", struct thing, flag) },
	{ JSON_A_WORD("word", struct thing, word, 99, word, 2) },
	{ JSON_A_NUMBER("from_one", struct thing, from_one, 0, 0, 9), .plus = 1 },
	{ .key = "inner", .kind = JSON_INSIDE, JSON_PLACE(struct thing, inner),
	  .fields = inner_fields, JSON_HAS(struct thing, has_inner) },
	{ JSON_A_LIST("items", struct thing, items, n_items, room_items, item_fields),
	  .most = 3, .check = check_item, .always = true },
	{ JSON_A_LIST("numbers", struct thing, numbers, n_numbers, room_numbers, number_fields) },
	JSON_FIELDS_END
};

/** @after: what is written of what was read; NULL: -EINVAL or -E2BIG, because of @wrong */
static void check(const char *before, const char *after, int expected, const char *wrong, size_t i)
{
	struct json_object *root = json_tokener_parse(before), *written;
	struct thing thing = { 0 };
	struct json_wrong at;
	int ret = json_fields_read(root, fields, &thing, &at);

	assert_int_equal(ret, expected);
	if (after) {
		written = json_object_new_object();
		assert_int_equal(json_fields_write(written, fields, &thing), 0);
		assert_string_equal(json_object_to_json_string_ext(written, 0), after);
		json_object_put(written);
	} else {
		assert_string_equal(at.key, wrong);
		assert_int_equal(at.i, i);
	}
	json_fields_free(fields, &thing);
	assert_null(thing.text);
	assert_null(thing.items);
	json_object_put(root);
}

#define NOTHING	"{\"real\":0.000,\"items\":[]}"

static void test_members(void **state)
{
	static const char all[] = "{\"text\":\"a\",\"count\":100,\"bits\":\"0xffffffffffffffff\","
		"\"real\":1.500,\"flag\":true,\"word\":\"green\",\"from_one\":0,"
		"\"inner\":{\"least\":5},\"items\":[{\"name\":\"b\",\"small\":7},{\"name\":\"c\"}],"
		"\"numbers\":[1,2147483647]}";

	(void)state;
	check(all, all, 0, NULL, 0);
	check("{}", NOTHING, 0, NULL, 0);
	check("[]", NOTHING, 0, NULL, 0);
	/* another type, beyond a limit, another word, text with a NUL */
	check("{\"text\":1,\"bits\":\"0x\",\"flag\":1,\"word\":\"blue\",\"from_one\":10,"
	      "\"inner\":[],\"items\":{},\"numbers\":0}", NOTHING, 0, NULL, 0);
	check("{\"text\":\"a\\u0000b\",\"count\":\"1\"}", NOTHING, 0, NULL, 0);
	/* what a member of 16 bits cannot hold; elements that are left out */
	check("{\"items\":[{\"small\":1},{\"name\":\"b\",\"small\":65537},null],"
	      "\"numbers\":[0,\"1\",4294967297,3]}",
	      "{\"real\":0.000,\"items\":[{\"name\":\"b\"}],\"numbers\":[3]}", 0, NULL, 0);
}

static void test_wrong(void **state)
{
	(void)state;
	check("{\"text\":\"a\",\"count\":101}", NULL, -EINVAL, "count", 0);
	check("{\"inner\":{\"least\":4}}", NULL, -EINVAL, "inner", 0);
	check("{\"inner\":{}}", NULL, -EINVAL, "inner", 0);
	check("{\"items\":[1,2,3,4]}", NULL, -E2BIG, "items", 0);
}

static void test_add(void **state)
{
	struct thing thing = { 0 };
	char name[] = "first";

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct item item = { name, (int16_t)i };

		assert_int_equal(json_list_add(fields, "items", &thing, &item), 0);
	}
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(thing.n_items, 20);
	assert_true(thing.room_items >= 20);
	assert_string_equal(thing.items[19].name, "first");
	assert_int_equal(thing.items[19].small, 19);
	json_fields_free(fields, &thing);
}

/* --- lines ----------------------------------------------------------------------------------- */

struct words {
	int64_t	number;
	int16_t	limited;
	uint8_t	word, known, letters;
	int32_t	value;
};

static const struct json_field line_fields[] = {
	{ JSON_A_VALUE(NULL, struct words, number, 0) },
	{ JSON_A_WORD(NULL, struct words, word, 0, word, 2) },
	{ JSON_A_NUMBER(NULL, struct words, limited, 0, -1, INT16_MAX), .always = true },
	{ JSON_A_NUMBER(NULL, struct words, value, -1, 0, 9), JSON_HAS(struct words, known) },
	JSON_FIELDS_END
};

static const struct json_field letter_fields[] = {
	{ JSON_A_VALUE(NULL, struct words, number, 0) },
	{ .kind = JSON_LETTERS, JSON_WIDE(struct words, letters), .letters = "x ny" },
	JSON_FIELDS_END
};

static void check_line(const struct json_field *of, const char *text, bool right)
{
	struct words words = { 0 };
	const char *rest = json_line_read(text, of, &words);
	struct json_object *line;

	assert_int_equal(rest && !*rest, right);
	if (!right)
		return;
	line = json_line_write(of, &words, NULL);
	assert_string_equal(json_object_get_string(line), text);
	json_object_put(line);
}

static void test_lines(void **state)
{
	static const char *const wrong[] = {
		"", "1", "1 red", "1 blue 0 1", "x red 0 1", "1 red 32768 1", "1 red -2 1",
		"1 red 0 10", "1 red ? 1", "1 red 0 1 1", "1 red 0 ?1",
		"99999999999999999999 red 0 1",
	};

	(void)state;
	check_line(line_fields, "-9223372036854775808 red -1 0", true);
	check_line(line_fields, "7 green 32767 ?", true);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		check_line(line_fields, wrong[i], false);
	check_line(letter_fields, "1 -", true);
	check_line(letter_fields, "1 xny", true);
	check_line(letter_fields, "1 x n", false);
	check_line(letter_fields, "1 q", false);
	check_line(letter_fields, "1 x-", false);
}

static void test_rest(void **state)
{
	struct words words = { 0 };
	const char *rest = json_line_read("5 red 0 1 and more", line_fields, &words);
	struct json_object *line = json_line_write(line_fields, &words, rest);

	(void)state;
	assert_string_equal(rest, "and more");
	assert_string_equal(json_object_get_string(line), "5 red 0 1 and more");
	json_object_put(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members), cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_add), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
