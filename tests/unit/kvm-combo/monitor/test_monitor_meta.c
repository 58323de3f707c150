// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_monitor_meta.c
 * @brief	Where a monitor's trace lies on its host's axis: the sidecar.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "monitor_meta.h"

static char folder[] = "/tmp/ksv-monitor-meta-XXXXXX", path[64], sidecar[80];

static int make_folder(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/q.log", folder);
	snprintf(sidecar, sizeof(sidecar), "%s.meta.json", path);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	remove(sidecar);
	return rmdir(folder);
}

static void put(const char *text)
{
	FILE *out = fopen(sidecar, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void test_written_is_read(void **state)
{
	struct monitor_meta meta = {
		.host = strdup("h\".dat"), .machine = strdup("web"), .source = strdup("moment"),
		.offset_ns = INT64_C(-1795578937376842757), .at_ns = INT64_C(1795579068110052000),
		.drift_ppm = -12.5,
	}, read;
	char error[256] = "", *text = NULL;
	size_t size = 0;
	FILE *in;

	(void)state;
	put("{ \"mine\": [1, 2] }");
	assert_int_equal(monitor_meta_add(&meta, 201, "web v0"), 0);
	assert_int_equal(monitor_meta_add(&meta, 192, "IO disks"), 0);
	assert_int_equal(monitor_meta_write(path, &meta, error, sizeof(error)), 0);
	assert_int_equal(monitor_meta_read(path, &read, error, sizeof(error)), 1);
	assert_string_equal(error, "");
	assert_string_equal(read.host, meta.host);
	assert_string_equal(read.machine, meta.machine);
	assert_string_equal(read.source, meta.source);
	assert_int_equal(read.offset_ns, meta.offset_ns);
	assert_int_equal(read.at_ns, meta.at_ns);
	assert_true(read.drift_ppm == -12.5);
	assert_string_equal(monitor_meta_name(&read, 201), "web v0");
	assert_string_equal(monitor_meta_name(&read, 192), "IO disks");
	assert_null(monitor_meta_name(&read, 193));
	/* the drift begins at the time that the sidecar gives */
	assert_int_equal(monitor_meta_time(&read, read.at_ns), read.at_ns + read.offset_ns);
	assert_int_equal(monitor_meta_time(&read, read.at_ns + INT64_C(8000000000)),
			 read.at_ns + read.offset_ns + INT64_C(8000000000) - 100000);
	monitor_meta_free(&read);
	monitor_meta_free(&meta);
	/* what else was there is kept */
	in = fopen(sidecar, "r");
	assert_true(getdelim(&text, &size, '\0', in) > 0);
	fclose(in);
	assert_non_null(strstr(text, "\"mine\""));
	free(text);
}

static void test_nothing(void **state)
{
	static const char *const texts[] = {
		"{}", "{\"alignment\":7}", "{\"alignment\":{}}",
		"{\"alignment\":{\"offset\":\"7\"}}",
	};
	struct monitor_meta meta;
	char error[256] = "";

	(void)state;
	remove(sidecar);
	assert_int_equal(monitor_meta_read(path, &meta, error, sizeof(error)), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		put(texts[i]);
		assert_int_equal(monitor_meta_read(path, &meta, error, sizeof(error)), 0);
		assert_int_equal(monitor_meta_time(&meta, 17), 17);
		monitor_meta_free(&meta);
	}
	put("{");
	assert_true(monitor_meta_read(path, &meta, error, sizeof(error)) < 0);
	assert_non_null(strstr(error, sidecar));
	monitor_meta_free(&meta);
}

/** What cannot be is left out, and nothing overflows. */
static void test_odd(void **state)
{
	struct monitor_meta meta;
	char error[256] = "";

	(void)state;
	put("{\"alignment\":{\"offset\":9223372036854775807,\"at\":-9223372036854775807,"
	    "\"drift_ppm\":1e300,\"host\":7,\"threads\":[7,{},{\"thread\":-1,\"name\":\"a\"},"
	    "{\"thread\":4294967296,\"name\":\"b\"},{\"thread\":5},"
	    "{\"thread\":6,\"name\":\"c\"}]}}");
	assert_int_equal(monitor_meta_read(path, &meta, error, sizeof(error)), 1);
	assert_int_equal(meta.n_threads, 1);
	assert_string_equal(monitor_meta_name(&meta, 6), "c");
	assert_null(meta.host);
	assert_true(meta.drift_ppm == 0);
	assert_true(monitor_meta_time(&meta, INT64_MAX) == INT64_MAX);
	assert_true(monitor_meta_time(&meta, 0) == INT64_MAX);
	monitor_meta_free(&meta);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_is_read), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_odd),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
