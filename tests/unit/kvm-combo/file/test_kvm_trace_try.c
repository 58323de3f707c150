// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_trace_try.c
 * @brief	A file is read as it was tried, also if its name stands for another one by then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kvm_trace.h"

static char folder[] = "/tmp/test-try-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[2][256];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", folder, name);
	return path[i];
}

static void copy(const char *from, const char *to, long most)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	int c;

	assert_non_null(in);
	assert_non_null(out);
	while (most-- && (c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

static int count(void *arg, const struct kvm_trace_record *record)
{
	(void)record;
	++*(int *)arg;
	return 0;
}

static void test_replaced(void **state)
{
	char sample[512], error[512] = "";
	struct kvm_trace *trace;
	int n = 0;

	(void)state;
	snprintf(sample, sizeof(sample), "%s/samples/kvm-paused.dat", getenv("KSV_SOURCE_DIR"));
	copy(sample, in_folder("trace.dat"), -1);
	copy(sample, in_folder("bad.dat"), 4000);
	assert_true(kvm_trace_try(in_folder("trace.dat"), error, sizeof(error)));
	assert_int_equal(rename(in_folder("bad.dat"), in_folder("trace.dat")), 0);
	trace = kvm_trace_open(in_folder("trace.dat"), error, sizeof(error));
	if (!trace)
		fail_msg("%s", error);
	assert_int_equal(kvm_trace_walk(trace, count, NULL, &n), 0);
	assert_true(n > 100);
	kvm_trace_close(trace);
}

static void test_refused(void **state)
{
	char sample[512], error[512] = "";

	(void)state;
	snprintf(sample, sizeof(sample), "%s/samples/kvm-paused.dat", getenv("KSV_SOURCE_DIR"));
	copy(sample, in_folder("short.dat"), 4000);
	assert_false(kvm_trace_try(in_folder("short.dat"), error, sizeof(error)));
	assert_non_null(strstr(error, "short.dat: "));
	error[0] = '\0';
	assert_false(kvm_trace_try(in_folder("none.dat"), error, sizeof(error)));
	assert_non_null(strstr(error, "none.dat"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_refused),
	};
	int ret;

	if (!mkdtemp(folder))
		return 1;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	remove(in_folder("trace.dat"));
	remove(in_folder("short.dat"));
	remove(in_folder("bad.dat"));
	return rmdir(folder) ? 1 : ret;
}
