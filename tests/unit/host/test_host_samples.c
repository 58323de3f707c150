// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_host_samples.c
 * @brief	Samples of a host's counters: what is written is read, damage is counted, and sums
 *		are those of a calculation by hand.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "array.h"
#include "host_samples.h"

static struct host_samples samples;

static int take(const char *bytes, size_t n)
{
	FILE *file = n ? fmemopen((void *)(uintptr_t)bytes, n, "r") : fopen("/dev/null", "r");
	int ret;

	assert_non_null(file);
	host_samples_free(&samples);
	ret = host_samples_take(&samples, file);
	fclose(file);
	return ret;
}

static int take_text(const char *text)
{
	return take(text, strlen(text));
}

static int forget(void **state)
{
	(void)state;
	host_samples_free(&samples);
	return 0;
}

/* --- the text -------------------------------------------------------------------------------- */

static void test_columns(void **state)
{
	(void)state;
	/* in any order, with others in between */
	assert_int_equal(take_text("later,forks,time_ns,,runnable,x y\n"
				   "-1e9,7,0,\"a\",,\n"
				   ",,5,NaN,3,\n"
				   "abc,9223372036854775807,9223372036854775807,,0,z\n"), 0);
	assert_int_equal(samples.bad_lines, 0);
	assert_int_equal(samples.n, 3);
	assert_int_equal(samples.all[0].time_ns, 0);
	assert_int_equal(samples.all[0].numbers[HOST_SAMPLE_FORKS], 7);
	assert_int_equal(samples.all[0].numbers[HOST_SAMPLE_RUNNABLE], HOST_SAMPLE_UNKNOWN);
	assert_int_equal(samples.all[1].time_ns, 5);
	assert_int_equal(samples.all[1].numbers[HOST_SAMPLE_FORKS], HOST_SAMPLE_UNKNOWN);
	assert_int_equal(samples.all[1].numbers[HOST_SAMPLE_RUNNABLE], 3);
	assert_true(samples.all[2].time_ns == INT64_MAX);
	assert_true(samples.all[2].numbers[HOST_SAMPLE_FORKS] == INT64_MAX);
	for (size_t i = 0; i < samples.n; i++)
		for (int k = 0; k < HOST_N_SAMPLED; k++)
			if (k != HOST_SAMPLE_FORKS && k != HOST_SAMPLE_RUNNABLE)
				assert_int_equal(samples.all[i].numbers[k], HOST_SAMPLE_UNKNOWN);
	/* no sample is no fault */
	assert_int_equal(take_text("time_ns\n"), 0);
	assert_int_equal(samples.n + samples.bad_lines, 0);
}

static void test_other_files(void **state)
{
	static const char *const texts[] = {
		"", "\n", "\n\n", "time_ns", "forks\n1\n", "time_ns,time_ns\n1,1\n",
		"time_ns,forks,forks\n1,1,1\n", " time_ns\n1\n", "time_ns \n1\n", "TIME_NS\n1\n",
		"time_ns\r\n1\n", "#!/bin/sh\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(take_text(texts[i]), -EBADMSG);
		assert_int_equal(samples.n + samples.bad_lines, 0);
	}
	assert_int_equal(take("time_ns,\0\n1,1\n", 14), -EBADMSG);
}

/** Lines that are left out change nothing of those before and after them. */
static void test_bad_lines(void **state)
{
	static const char *const lines[] = {
		"", ",", "6", "6,", "6,1", "6,1,1,1", "6,1,,", "6,1;1", ",1,1", "NaN,1,1", "nan,,",
		"-6,1,1", "+6,1,1", " 6,1,1", "6 ,1,1", "6.0,1,1", "6e0,1,1", "0x6,1,1",
		"6,-1,1", "6,NaN,1",
		"6,inf,1", "6,1,1e3", "6,1,1 ", "6,\"1\",1", "6,1,1\r",
		"6,1,9223372036854775808",
		"6,99999999999999999999999999999999999999,1", "9223372036854775808,1,1",
		"18446744073709551622,1,1",	/* 2^64 + 6 */
		"5,1,1", "4,1,1", "0,1,1", "\xef\xbc\x96,1,1",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		snprintf(text, sizeof(text), "time_ns,forks,runnable\n5,1,2\n%s\n7,3,4\n",
			 lines[i]);
		assert_int_equal(take_text(text), 0);
		assert_int_equal(samples.bad_lines, 1);
		assert_int_equal(samples.n, 2);
		assert_int_equal(samples.all[0].time_ns, 5);
		assert_int_equal(samples.all[1].time_ns, 7);
		assert_int_equal(samples.all[1].numbers[HOST_SAMPLE_RUNNABLE], 4);
	}
	/* a NUL hides nothing of what is after it */
	assert_int_equal(take("time_ns\n1\n\0002\n3\0\n4\n", 18), 0);
	assert_int_equal(samples.n, 2);
	assert_int_equal(samples.bad_lines, 2);
	/* one without its end is still being written */
	assert_int_equal(take_text("time_ns,forks\n5,1\n6,123"), 0);
	assert_int_equal(samples.n, 1);
	assert_int_equal(samples.bad_lines, 0);
}

/** Titles, and below them a line, that are padded to a length by a column that is not known. */
static int take_padded(size_t titles, size_t line)
{
	char *text = malloc(titles + line + 8), *at = text;
	int ret;

	assert_non_null(text);
	at += sprintf(at, "time_ns,");
	memset(at, 'x', titles - strlen("time_ns,"));
	at += titles - strlen("time_ns,");
	at += sprintf(at, "\n1,");
	memset(at, 'y', line - strlen("1,"));
	at += line - strlen("1,");
	at += sprintf(at, "\n2,\n");
	ret = take(text, (size_t)(at - text));
	free(text);
	return ret;
}

static void test_long_lines(void **state)
{
	const size_t most = HOST_SAMPLE_LINE_READ - 1;

	(void)state;
	assert_int_equal(take_padded(most, most), 0);
	assert_int_equal(samples.n, 2);
	assert_int_equal(samples.bad_lines, 0);
	assert_int_equal(take_padded(most, most + 1), 0);
	assert_int_equal(samples.n, 1);
	assert_int_equal(samples.all[0].time_ns, 2);
	assert_int_equal(samples.bad_lines, 1);
	assert_int_equal(take_padded(100, 10000000), 0);
	assert_int_equal(samples.n, 1);
	assert_int_equal(samples.bad_lines, 1);
	assert_int_equal(take_padded(most + 1, 10), -EBADMSG);
	assert_int_equal(take_padded(10000000, 10), -EBADMSG);
}

static void test_many_columns(void **state)
{
	char text[1024];

	(void)state;
	for (int n = 127; n <= 129; n++) {
		int length = sprintf(text, "time_ns");

		for (int i = 1; i < n; i++)
			length += sprintf(text + length, ",");
		length += sprintf(text + length, "\n1");
		for (int i = 1; i < n; i++)
			length += sprintf(text + length, ",2");
		sprintf(text + length, "\n");
		assert_int_equal(take_text(text), n <= 128 ? 0 : -EBADMSG);
		assert_int_equal(samples.n, n <= 128);
	}
}

/** As many as there may be; one more, and there are none. */
static void test_many_samples(void **state)
{
	char *text = malloc(16 * (HOST_SAMPLES_MAX + 2)), *at = text;

	(void)state;
	assert_non_null(text);
	at += sprintf(at, "time_ns\n");
	for (int i = 1; i <= HOST_SAMPLES_MAX; i++)
		at += sprintf(at, "%d\n", i);
	assert_int_equal(take(text, (size_t)(at - text)), 0);
	assert_int_equal(samples.n, HOST_SAMPLES_MAX);
	/* lines that are none do not count */
	at += sprintf(at, "1\n");
	assert_int_equal(take(text, (size_t)(at - text)), 0);
	assert_int_equal(samples.bad_lines, 1);
	at += sprintf(at, "%d\n", HOST_SAMPLES_MAX + 1);
	assert_int_equal(take(text, (size_t)(at - text)), -EFBIG);
	assert_int_equal(samples.n + samples.bad_lines, 0);
	assert_null(samples.all);
	free(text);
}

/** The longest numbers that there are. */
static void test_written(void **state)
{
	struct host_sample all[3];
	char text[4 * HOST_SAMPLE_LINE];
	size_t n = host_samples_titles(text);

	(void)state;
	assert_int_equal(n, strlen(text));
	for (int i = 0; i < 3; i++) {
		all[i].time_ns = i == 2 ? INT64_MAX : i;
		for (int k = 0; k < HOST_N_SAMPLED; k++)
			all[i].numbers[k] = i == 0 ? HOST_SAMPLE_UNKNOWN :
					    i == 1 ? k : INT64_MAX - k;
		n += host_samples_line(text + n, &all[i]);
		assert_int_equal(n, strlen(text));
	}
	assert_int_equal(take(text, n), 0);
	assert_int_equal(samples.n, 3);
	assert_memory_equal(samples.all, all, sizeof(all));
}

/* --- the file -------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void test_files(void **state)
{
	char folder[] = "/tmp/host-samples.XXXXXX", trace[64];
	char *path;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(trace, sizeof(trace), "%s/t.dat", folder);
	path = host_samples_path(trace);
	assert_string_equal(path + strlen(trace), ".samples.csv");
	assert_int_equal(host_samples_read(&samples, trace), -ENOENT);
	write_file(path, "time_ns\n1\nx\n2\n");
	assert_int_equal(host_samples_read(&samples, trace), 0);
	assert_int_equal(samples.n, 2);
	assert_int_equal(samples.bad_lines, 1);
	host_samples_free(&samples);
	/* what would take too long: nothing of it is read */
	assert_int_equal(truncate(path, HOST_SAMPLES_MAX_BYTES + 1), 0);
	assert_int_equal(host_samples_read(&samples, trace), -EFBIG);
	assert_int_equal(samples.n + samples.bad_lines, 0);
	unlink(path);
	/* none of these is waited for, or read */
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(host_samples_read(&samples, trace), -EINVAL);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(host_samples_read(&samples, trace), -EINVAL);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(host_samples_read(&samples, trace), -EISDIR);
	rmdir(path);
	free(path);
	rmdir(folder);
}

/* --- sums ------------------------------------------------------------------------------------ */

static struct host_sample_sums sum(int64_t from_ns, int64_t to_ns)
{
	struct host_sample_sums sums;

	host_samples_sum(&samples, from_ns, to_ns, &sums);
	return sums;
}

static void test_sums(void **state)
{
	struct host_sample_sums sums;

	(void)state;
	assert_int_equal(take_text("time_ns,forks,switches,faults,runnable\n"
				   "100,10,5,0,1\n"
				   "200,20,4,9223372036854775807,\n"
				   "400,21,6,9223372036854775807,4\n"), 0);
	/* all of it: switches fall, so that they are unknown */
	sums = sum(100, 400);
	assert_int_equal(sums.counts[HOST_SAMPLE_FORKS], 11);
	assert_int_equal(sums.counts[HOST_SAMPLE_SWITCHES], HOST_SAMPLE_UNKNOWN);
	assert_true(sums.counts[HOST_SAMPLE_FAULTS] == INT64_MAX);
	assert_int_equal(sums.counts[HOST_SAMPLE_USER], HOST_SAMPLE_UNKNOWN);
	/* the last sample is not in the window */
	assert_true(sums.means[HOST_SAMPLE_RUNNABLE] == 1.0);
	assert_true(isnan(sums.means[HOST_SAMPLE_BLOCKED]));
	assert_true(sum(100, 401).means[HOST_SAMPLE_RUNNABLE] == 2.5);
	/* evenly between two samples */
	assert_int_equal(sum(150, 200).counts[HOST_SAMPLE_FORKS], 5);
	assert_int_equal(sum(110, 120).counts[HOST_SAMPLE_FORKS], 1);
	assert_int_equal(sum(200, 300).counts[HOST_SAMPLE_SWITCHES], 1);
	assert_int_equal(sum(200, 300).counts[HOST_SAMPLE_FAULTS], 0);
	assert_true(sum(100, 150).counts[HOST_SAMPLE_FAULTS] == INT64_MAX / 2);
	/* before the first and after the last sample */
	assert_int_equal(sum(99, 200).counts[HOST_SAMPLE_FORKS], HOST_SAMPLE_UNKNOWN);
	assert_int_equal(sum(200, 401).counts[HOST_SAMPLE_FORKS], HOST_SAMPLE_UNKNOWN);
	assert_int_equal(sum(INT64_MIN, INT64_MAX).counts[HOST_SAMPLE_FORKS], HOST_SAMPLE_UNKNOWN);
	assert_true(isnan(sum(101, 200).means[HOST_SAMPLE_RUNNABLE]));
	/* none at all */
	assert_int_equal(take_text("time_ns\n"), 0);
	assert_int_equal(sum(0, 1).counts[HOST_SAMPLE_FORKS], HOST_SAMPLE_UNKNOWN);
	assert_true(isnan(sum(0, 1).means[HOST_SAMPLE_RUNNABLE]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_columns, forget),
		cmocka_unit_test_teardown(test_other_files, forget),
		cmocka_unit_test_teardown(test_bad_lines, forget),
		cmocka_unit_test_teardown(test_long_lines, forget),
		cmocka_unit_test_teardown(test_many_columns, forget),
		cmocka_unit_test_teardown(test_many_samples, forget),
		cmocka_unit_test_teardown(test_written, forget),
		cmocka_unit_test_teardown(test_files, forget),
		cmocka_unit_test_teardown(test_sums, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
