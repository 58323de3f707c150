// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_dump_share.c
 * @brief	What dump writes does not depend on how many threads make the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "options.h"
#include "trace_builder.h"
#include "xen_events.h"

/* more than twice what all batches have room for */
#define RECORDS		20000

static long cores;

long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return name == _SC_NPROCESSORS_ONLN ? cores : __real_sysconf(name);
}

/** vCPUs that change, records of known and unknown kinds and of all lengths. Return: its path. */
static char *make_trace(void)
{
	static const uint32_t events[] = {
		XEN_TRC_SCHED_SWITCH, XEN_TRC_HVM_VMX_EXIT, XEN_TRC_GUEST | 0x123, 0x0802f001,
	};
	struct trace t = { 0 };
	uint64_t seed = 1;
	char *path;

	for (uint32_t i = 0; i < RECORDS; i++) {
		uint64_t tsc = 2400000000 + (uint64_t)i * 999;

		if (i % 1000 == 0)
			trace_window(&t, i / 1000 % 4);
		if (i % 5 == 0)
			TRACE_RECORD(&t, XEN_TRC_SCHED_SWITCH, tsc, 0, 0,
				     (uint32_t)(trace_random(&seed) % 40), 0);
		else
			TRACE_RECORD(&t, events[trace_random(&seed) % ARRAY_SIZE(events)], tsc,
				     (uint32_t)trace_random(&seed), (uint32_t)trace_random(&seed));
	}
	path = trace_file(t.data, t.size, ".xen");
	trace_free(&t);
	return path;
}

static char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	size_t room = 64 << 20;
	char *text = malloc(room);

	assert_non_null(file);
	assert_non_null(text);
	*size = fread(text, 1, room, file);
	assert_true(*size < room);
	fclose(file);
	return text;
}

/** Run dump on a machine with some cores. Return: what it writes; @status: as the command's. */
static char *dump(const char *const *args, int argc, long n_cores, size_t *size,
		  int *status)
{
	char output[] = "/tmp/dump.XXXXXX", *argv[16] = { NULL }, *text;
	int fd = mkstemp(output);

	assert_true(fd >= 0);
	close(fd);
	cores = n_cores;
	/* the command sorts them */
	memcpy(argv, args, (size_t)argc * sizeof(*argv));
	argv[argc - 1] = output;
	optind = 0;
	*status = cmd_dump.run(&cmd_dump, argc, argv);
	text = read_all(output, size);
	unlink(output);
	return text;
}

static void compare(const char *const *argv, int argc, bool is_empty)
{
	size_t alone_size, both_size;
	int alone_status, both_status;
	char *alone = dump(argv, argc, 1, &alone_size, &alone_status);

	assert_true(is_empty == !alone_size);
	for (int i = 0; i < 3; i++) {
		char *both = dump(argv, argc, 2, &both_size, &both_status);

		assert_int_equal(alone_status, both_status);
		assert_int_equal(alone_size, both_size);
		assert_memory_equal(alone, both, alone_size);
		free(both);
	}
	free(alone);
}

static void test_formats(void **state)
{
	static const char *const formats[] = { "text", "csv", "json" };
	char *path = make_trace();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		const char *all[] = { "dump", "-q", "-f", formats[i], path, "-o", NULL };
		const char *some[] = { "dump", "-q", "-f", formats[i], path, "--vcpu", "d3,d17v0",
				 "-e", "*exit*", "--pcpu", "1-2", "-o", NULL };
		const char *last[] = { "dump", "-q", "-f", formats[i], path, "--from", "99%", "-o",
				 NULL };

		compare(all, ARRAY_SIZE(all), false);
		compare(some, ARRAY_SIZE(some), false);
		compare(last, ARRAY_SIZE(last), false);
	}
	unlink(path);
	free(path);
}

/** A vCPU that is missing is one that neither thread has seen. */
static void test_missing(void **state)
{
	char *path = make_trace();
	const char *argv[] = { "dump", "-q", path, "--vcpu", "d3,d41v0", "-o", NULL };

	(void)state;
	compare(argv, ARRAY_SIZE(argv), true);
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
