// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_xentrace_packed.c
 * @brief	How much is unpacked of what may be a trace, and what is said of the rest.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "xentrace_reader.h"
#include "xentrace_unpack.h"

/** Without a window in the first bytes up to here, nothing more is unpacked. */
#define PROBE	((size_t)16 << 20)

/** What is behind the packed bytes. */
static const char *behind = "";

/** Open packed bytes. Return: NULL with @error, and the errno in @code */
static struct xentrace *open_packed(const struct trace *plain, uint64_t max_input, char *error,
				    size_t size, int *code)
{
	const struct xentrace_options options = { .max_input = max_input };
	struct trace packed = { 0 };
	struct xentrace *reader;
	char *path;

	trace_gzip(&packed, plain->data, plain->size);
	trace_bytes(&packed, behind, strlen(behind));
	path = trace_file(packed.data, packed.size, ".gz");
	memset(error, 0, size);
	errno = 0;
	reader = xentrace_open(path, &options, error, size);
	*code = errno;
	unlink(path);
	free(path);
	trace_free(&packed);
	return reader;
}

static void add_window(struct trace *trace, uint64_t time, int n)
{
	trace_window(trace, 0);
	trace_ticks(trace, time, n, 100);
}

/** Zeros for as long as there might come a window, and then some. */
static void add_zeros(struct trace *trace)
{
	uint8_t *zeros = calloc(PROBE + 1000, 1);

	assert_non_null(zeros);
	trace_bytes(trace, zeros, PROBE + 1000);
	free(zeros);
}

/** What looks like a trace is unpacked as a whole, however much of it is damaged. */
static void test_probe(void **state)
{
	struct trace trace = { 0 };
	struct xentrace *reader;
	char error[512];
	int code;

	(void)state;
	add_zeros(&trace);
	add_window(&trace, 1000, 5);
	/* as much as a trace of this much memory; the ratio does not matter here */
	assert_null(open_packed(&trace, 2 * PROBE, error, sizeof(error), &code));
	assert_int_equal(code, EINVAL);
	assert_non_null(strstr(error, "no window of records in the first"));
	assert_null(strstr(error, "temporary"));
	trace.size = 0;
	add_window(&trace, 1000, 5);
	add_zeros(&trace);
	add_window(&trace, 5000, 7);
	reader = open_packed(&trace, 2 * PROBE, error, sizeof(error), &code);
	assert_non_null(reader);
	assert_int_equal(xentrace_n_records(reader), 12);
	xentrace_close(reader);
	trace_free(&trace);
}

/** As many bytes as are allowed, and one too many. */
static void test_limit(void **state)
{
	struct trace trace = { 0 };
	struct xentrace *reader;
	char error[512];
	int code;

	(void)state;
	add_window(&trace, 1000, 5);
	reader = open_packed(&trace, trace.size, error, sizeof(error), &code);
	assert_non_null(reader);
	assert_int_equal(xentrace_n_records(reader), 5);
	xentrace_close(reader);
	assert_null(open_packed(&trace, trace.size - 1, error, sizeof(error), &code));
	assert_int_equal(code, EFBIG);
	assert_non_null(strstr(error, "more than 91 bytes when unpacked"));
	assert_null(strstr(error, "temporary"));
	trace_free(&trace);
}

/** What is no gzip member is not read, as gzip does. */
static void test_behind(void **state)
{
	static const char *const others[] = { "x", "something else\n", "\x1f", "\x1f\x8c\x08" };
	struct trace trace = { 0 };
	struct xentrace *reader;
	char error[512];
	int code;

	(void)state;
	add_window(&trace, 1000, 5);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		behind = others[i];
		reader = open_packed(&trace, 0, error, sizeof(error), &code);
		assert_non_null(reader);
		assert_int_equal(xentrace_n_records(reader), 5);
		assert_int_equal(xentrace_n_problems(reader), 0);
		xentrace_close(reader);
	}
	behind = "";
	trace_free(&trace);
}

/** A file is packed by all bytes of a format's mark, and by no fewer. */
static void test_marks(void **state)
{
	static const struct { const char *head; size_t n; bool packed; } cases[] = {
		{ "\x1f\x8b", 2, true }, { "\x1f\x8b", 1, false }, { "\x1f\x8c", 2, false },
		{ "\x28\xb5\x2f\xfd", 4, true }, { "\x28\xb5\x2f\xfd", 3, false },
		{ "\x50\x2a\x4d\x18", 4, true }, { "\x5f\x2a\x4d\x18", 4, true },
		{ "\x50\x2a\x4d\x18", 3, false }, { "\x60\x2a\x4d\x18", 4, false },
		{ "\x50\x2a\x4d\x19", 4, false }, { "", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(xentrace_is_packed((const uint8_t *)cases[i].head, cases[i].n),
				 cases[i].packed);
}

/** The check whether a FIFO is a trace does not wait for a writer, nor takes its bytes. */
static void test_fifo(void **state)
{
	char *path = trace_file("", 0, ".xen");

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(xentrace_check(path));
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_fifo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
