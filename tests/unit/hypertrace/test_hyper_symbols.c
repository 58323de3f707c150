// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_hyper_symbols.c
 * @brief	Addresses have the names that a kallsyms gives them, events their words.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hyper_decoder.h"
#include "hyper_text.h"
#include "trace_builder.h"

static char error[256];

static struct hyper_symbols *read_text(const char *text, int expected)
{
	char *path = trace_file(text, strlen(text), ".map");
	struct hyper_symbols *symbols;

	error[0] = '\0';
	assert_int_equal(hyper_symbols_read(path, &symbols, error, sizeof(error)), expected);
	if (expected)
		assert_memory_equal(error, path, strlen(path));
	unlink(path);
	free(path);
	return symbols;
}

static void test_names(void **state)
{
	struct hyper_symbols *symbols = read_text("ffffffff81000400 t pick\n"
						  "ffffffff81000000 T schedule\n"
						  "ffffffff81000000 T __schedule_alias\n"
						  "0000000000000000 A nothing\n"
						  "ffffffff81000200 D data\n"
						  "ffffffffc0000000 t probe\t[module]", 0);
	uint64_t offset = 7;

	(void)state;
	assert_string_equal(hyper_symbols_name(symbols, 0xffffffff81000000, &offset), "schedule");
	assert_int_equal(offset, 0);
	/* data is no function */
	assert_string_equal(hyper_symbols_name(symbols, 0xffffffff810003ff, &offset), "schedule");
	assert_int_equal(offset, 0x3ff);
	assert_string_equal(hyper_symbols_name(symbols, 0xffffffff81000400, NULL), "pick");
	assert_string_equal(hyper_symbols_name(symbols, UINT64_MAX, NULL), "probe");
	assert_null(hyper_symbols_name(symbols, 0xffffffff80ffffff, NULL));
	assert_null(hyper_symbols_name(NULL, 0xffffffff81000000, NULL));
	hyper_symbols_free(symbols);
	hyper_symbols_free(NULL);
}

static void test_refused(void **state)
{
	(void)state;
	assert_null(read_text("", -ENODATA));
	assert_null(read_text("0000000000000000 T schedule\n", -ENODATA));
	assert_non_null(strstr(error, "as root"));
	assert_null(read_text("ffffffff81000000 T a\nno address\n", -EINVAL));
	assert_non_null(strstr(error, "line 2"));
	assert_null(read_text("ffffffff81000000 T \n", -EINVAL));
	assert_null(read_text("ffffffff81000000T a\n", -EINVAL));
	assert_null(read_text("ffffffff81000000 TT a\n", -EINVAL));
	assert_null(read_text("1ffffffffffffffff T a\n", -EINVAL));
}

static const char *in_words(const char *dialect, struct hyper_call call,
			    const struct hyper_symbols *symbols)
{
	const struct hyper_khz khz = { .reported = 0 };
	struct hyper_decoder *decoder = hyper_decoder_new(hyper_dialect_find(dialect), khz);
	struct hyper_decoded decoded;
	static char text[256];

	call.bytes = 32;
	hyper_decoder_take(decoder, &call, &decoded);
	hyper_decoder_free(decoder);
	if (decoded.result != HYPER_DECODED)
		hyper_call_text(text, sizeof(text), &call);
	else
		hyper_event_text(text, sizeof(text), &decoded.events[0],
				 hyper_dialect_find(dialect), symbols);
	return text;
}

static void test_words(void **state)
{
	struct hyper_symbols *symbols = read_text("1000 T schedule\n", 0);

	(void)state;
	assert_string_equal(in_words("hypergraph", (struct hyper_call){
		.nr = 1000, .a = { 0x1010, 1, 55, 3 } }, symbols),
		"exit address=0x1010 (schedule+0x10) depth=3 value=55");
	assert_string_equal(in_words("hypergraph", (struct hyper_call){
		.nr = 1000, .a = { 0x1000 } }, symbols), "entry address=0x1000 (schedule) depth=0");
	assert_string_equal(in_words("hypergraph", (struct hyper_call){
		.nr = 4000, .a = { 60, 1, UINT64_MAX } }, NULL), "exit number=60 value=-1");
	assert_string_equal(in_words("hypergraph", (struct hyper_call){
		.nr = 3000, .a = { 4, 1 } }, NULL), "number=14 (arch_sync)");
	assert_string_equal(in_words("hypertracing", (struct hyper_call){
		.nr = 2 << 16 | 1007, .a = { 9, 0, 0, 0x6162 } }, NULL), "cpu=2 pid=9 name=ba");
	assert_string_equal(in_words("hypergraph", (struct hyper_call){ .nr = 9001 }, NULL), "");
	assert_string_equal(in_words("hypergraph", (struct hyper_call){
		.nr = 77, .a = { 1, 2 } }, NULL), "a0=0x1 a1=0x2 a2=0x0 a3=0x0");
	hyper_symbols_free(symbols);
}

/** What does not fit is cut, and its length is returned. */
static void test_cut(void **state)
{
	const struct hyper_call call = { .a = { 1, 2, 3, 4 }, .bytes = 32 };
	char text[10] = "xxxxxxxxx";

	(void)state;
	assert_int_equal(hyper_call_text(text, sizeof(text), &call), 27);
	assert_string_equal(text, "a0=0x1 a1");
	assert_int_equal(hyper_call_text(NULL, 0, &call), 27);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
