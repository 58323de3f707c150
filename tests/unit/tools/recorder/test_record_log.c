// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_record_log.c
 * @brief	Lines of a log for "record --trigger-log": appended ones, of any length, also after
 *		the log was truncated or replaced.
 */
#include <errno.h>
#include <fcntl.h>
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

#include "record_log.h"

static char folder[] = "/tmp/record-log-XXXXXX", path[64], words[128];

static void put(const char *name, int flags, const char *text, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | flags, 0600);

	assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
	close(fd);
}

static void append(const char *text)
{
	put(path, O_APPEND, text, strlen(text));
}

/** @pattern: "" or "=REGEX" */
static struct record_log follow(const char *pattern)
{
	struct record_log log;
	char error[256];

	snprintf(words, sizeof(words), "web:%s%s", path, pattern);
	assert_int_equal(record_log_parse(&log, words, error, sizeof(error)), 0);
	assert_string_equal(log.machine, "web");
	assert_string_equal(log.path, path);
	assert_int_equal(record_log_open(&log, error, sizeof(error)), 0);
	return log;
}

static int begin(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void test_words(void **state)
{
	static const char *const bad[] = {
		"web", ":log", "web:", "web:=lockup", "web:log=", "web:log=(", "",
	};
	struct record_log log;
	char error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*error = '\0';
		assert_int_equal(record_log_parse(&log, bad[i], error, sizeof(error)), -EINVAL);
		assert_true(*error);
		record_log_free(&log);
	}
}

/** Only what is appended counts; a line counts when it is complete. */
static void test_appended(void **state)
{
	struct record_log log;

	(void)state;
	append("watchdog: BUG: soft lockup - CPU#0 stuck for 22s!\n");
	log = follow("=soft lockup|rcu.*stall");
	assert_false(record_log_look(&log));
	append("[ 5.0] all is well\n[ 6.0] RCU detected a ");
	assert_false(record_log_look(&log));
	append("Stall\r\n");
	assert_true(record_log_look(&log));
	assert_int_equal(log.matches, 1);
	assert_string_equal(log.text, "[ 6.0] RCU detected a Stall");
	append("soft lockup again\n");
	assert_true(record_log_look(&log));
	assert_int_equal(log.matches, 2);
	assert_string_equal(log.text, "[ 6.0] RCU detected a Stall");
	record_log_begin(&log);
	assert_false(record_log_look(&log));
	record_log_free(&log);
}

/** Without a pattern: what why --guest-log takes for a warning. */
static void test_warnings(void **state)
{
	struct record_log log;

	(void)state;
	append("");
	log = follow("");
	append("[   12.000000] soft lockup is a word of this line\n");
	assert_false(record_log_look(&log));
	append("[   13.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [cat:412]\n");
	assert_true(record_log_look(&log));
	record_log_free(&log);
}

/** It is read from its beginning after it was truncated, replaced, or when it appears. */
static void test_replaced(void **state)
{
	struct record_log log = follow("=stall");
	char other[80];

	(void)state;
	assert_false(record_log_look(&log));
	append("a stall at the beginning\n");
	assert_true(record_log_look(&log));
	record_log_begin(&log);
	put(path, O_TRUNC, "stall\n", 6);
	assert_true(record_log_look(&log));
	record_log_begin(&log);
	/* the rest of the old file, then the new one */
	append("stall\n");
	snprintf(other, sizeof(other), "%s.1", path);
	assert_int_equal(rename(path, other), 0);
	append("a second stall\n");
	assert_true(record_log_look(&log));
	assert_int_equal(log.matches, 2);
	unlink(other);
	record_log_free(&log);
}

/** Bytes of a guest: long lines, NULs, no text at all. */
static void test_hostile(void **state)
{
	static char bytes[3 * RECORD_LOG_LINE];
	struct record_log log;

	(void)state;
	append("");
	log = follow("=^x.*stall$");
	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes + sizeof(bytes) - 6, "stall\n", 6);
	put(path, O_APPEND, bytes, sizeof(bytes));
	/* the end of the line is beyond what is compared */
	assert_false(record_log_look(&log));
	bytes[100] = '\0';
	memcpy(bytes + 200, "stall\n", 6);
	put(path, O_APPEND, bytes, 206);
	assert_true(record_log_look(&log));
	assert_int_equal(strlen(log.text), 205);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 251);
	put(path, O_APPEND, bytes, sizeof(bytes));
	record_log_look(&log);
	record_log_free(&log);
}

static void test_no_file(void **state)
{
	struct record_log log;
	char error[256] = "";

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(words, sizeof(words), "web:%s", path);
	assert_int_equal(record_log_parse(&log, words, error, sizeof(error)), 0);
	assert_int_equal(record_log_open(&log, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "not a regular file"));
	record_log_free(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_words, begin),
		cmocka_unit_test_setup(test_appended, begin),
		cmocka_unit_test_setup(test_warnings, begin),
		cmocka_unit_test_setup(test_replaced, begin),
		cmocka_unit_test_setup(test_hostile, begin),
		cmocka_unit_test_setup(test_no_file, begin),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/log", folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return failed;
}
