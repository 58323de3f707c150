// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_xen_trace.c
 * @brief	A trace as a whole: options, sidecars good and bad, corrected skew, what is noted.
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

#include "array.h"
#include "trace_builder.h"
#include "xen_trace.h"

#define BASE			5000000000ULL
#define HZ			1000000000ULL	/* so that a cycle is a ns */
#define RUNSTATE(old, new)	(0x00021001u | (old) << 8 | (new) << 4)
#define RUNNING			0
#define RUNNABLE		1

/* --- environment ---------------------------------------------------------------------------- */

static const char *const variables[] = {
	"XEN_CPUHZ", "XEN_ABSTS", "XEN_TSC_SKEW", "XEN_MAX_INPUT",
};

/** Of @name only; NULL: unset. Return: what is said, empty if all is understood. */
static const char *options_of(const char *name, const char *value,
			      struct xen_trace_options *options)
{
	static char error[256];
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	if (value)
		setenv(name, value, 1);
	*options = (struct xen_trace_options){ 0 };
	error[0] = '\0';
	ret = xen_trace_options_from_env(options, error, sizeof(error));
	unsetenv(name);
	assert_int_equal(ret, *error ? -EINVAL : 0);
	return error;
}

static void test_environment(void **state)
{
	static const struct {
		const char	*name, *value;
		bool		absolute, skew;
		uint64_t	hz, max_input;
	} good[] = {
		{ .name = "XEN_ABSTS" }, { "XEN_ABSTS", "", .absolute = false },
		{ "XEN_ABSTS", "1", .absolute = true }, { "XEN_ABSTS", "yes", .absolute = true },
		{ "XEN_ABSTS", "no", .absolute = false }, { "XEN_TSC_SKEW", "", .skew = false },
		{ "XEN_TSC_SKEW", "correct", .skew = true }, { "XEN_CPUHZ", "", .hz = 0 },
		{ "XEN_CPUHZ", "2.4G", .hz = 2400000000 }, { "XEN_MAX_INPUT", "", .max_input = 0 },
		{ "XEN_MAX_INPUT", "3K", .max_input = 3072 },
		{ "XEN_MAX_INPUT", "2MiB", .max_input = 2 << 20 },
		{ "XEN_MAX_INPUT", "7gb", .max_input = 7ULL << 30 },
	};
	static const char *const bad[][2] = {
		{ "XEN_ABSTS", "2" }, { "XEN_TSC_SKEW", "please" }, { "XEN_CPUHZ", "fast" },
		{ "XEN_MAX_INPUT", "G" }, { "XEN_MAX_INPUT", "0" }, { "XEN_MAX_INPUT", "1Q" },
		{ "XEN_MAX_INPUT", "1MM" }, { "XEN_MAX_INPUT", "18446744073709551616" },
		{ "XEN_MAX_INPUT", "17179869184G" },
	};
	struct xen_trace_options options;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_string_equal(options_of(good[i].name, good[i].value, &options), "");
		assert_int_equal(options.absolute_time, good[i].absolute);
		assert_int_equal(options.correct_skew, good[i].skew);
		assert_int_equal(options.cpu_hz, good[i].hz);
		assert_int_equal(options.reader.max_input, good[i].max_input);
	}
	/* what is wrong is named, and changes nothing */
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_ptr_equal(strstr(options_of(bad[i][0], bad[i][1], &options), bad[i][0]),
				 options_of(bad[i][0], bad[i][1], &options));
		assert_int_equal(options.reader.max_input, 0);
		assert_int_equal(options.cpu_hz, 0);
		assert_false(options.absolute_time || options.correct_skew);
	}
}

/* --- sidecars ------------------------------------------------------------------------------- */

static char *small_trace(void)
{
	struct trace t = { 0 };
	char *path;

	trace_window(&t, 0);
	TRACE_RECORD(&t, RUNSTATE(RUNNABLE, RUNNING), BASE, 1 << 16);
	trace_ticks(&t, BASE + 10, 10, 100);
	path = trace_file(t.data, t.size, ".xen");
	trace_free(&t);
	return path;
}

static void write_text(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

/** A bad sidecar that was only found must not keep the trace from being read; one given must. */
static void test_sidecars(void **state)
{
	char *path = small_trace(), sidecar[4096], error[512] = "", *notes;
	struct xen_trace_options options = { .cpu_hz = HZ };
	struct xen_trace *trace;

	(void)state;
	snprintf(sidecar, sizeof(sidecar), "%s.meta.json", path);
	options.meta_path = sidecar;
	assert_null(xen_trace_open(path, &options, error, sizeof(error)));
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(error, sidecar));
	write_text(sidecar, "{ \"domains\": [ { \"id\": 1, \"name\": \"web\" } ] }");
	trace = xen_trace_open(path, &options, error, sizeof(error));
	assert_non_null(trace);
	assert_string_equal(xen_meta_domain_name(xen_trace_meta(trace), 1), "web");
	xen_trace_close(trace);
	/* found by itself */
	options.meta_path = NULL;
	trace = xen_trace_open(path, &options, error, sizeof(error));
	assert_non_null(trace);
	assert_string_equal(xen_meta_domain_name(xen_trace_meta(trace), 1), "web");
	notes = xen_trace_notes(trace, 3);
	assert_string_equal(notes, "");
	free(notes);
	xen_trace_close(trace);
	/* broken: said, and the trace is there */
	write_text(sidecar, "{ \"domains\": [");
	trace = xen_trace_open(path, &options, error, sizeof(error));
	assert_non_null(trace);
	assert_null(xen_trace_meta(trace));
	notes = xen_trace_notes(trace, 3);
	assert_non_null(strstr(notes, sidecar));
	free(notes);
	xen_trace_close(trace);
	options.meta_path = sidecar;
	assert_null(xen_trace_open(path, &options, error, sizeof(error)));
	assert_int_equal(errno, EINVAL);
	remove(sidecar);
	remove(path);
	free(path);
}

/* --- skew ----------------------------------------------------------------------------------- */

#define BEHIND	5000
#define ROUNDS	20
#define TURNS	10	/* on one pCPU, in each round: in order, with skew or without */

/** d1v0 goes from p0 to p1 and back; the TSC of p1 is behind, and goes on being so. */
static char *skewed_trace(void)
{
	struct trace t = { 0 };
	char *path;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t tsc = BASE + 100000 * i;

		trace_window(&t, 0);
		TRACE_RECORD(&t, RUNSTATE(RUNNABLE, RUNNING), tsc, 1 << 16);
		for (uint64_t k = 1; k <= TURNS; k++) {
			uint64_t at = tsc + 1000 * k;

			TRACE_RECORD(&t, RUNSTATE(RUNNING, RUNNABLE), at, 1 << 16);
			TRACE_RECORD(&t, RUNSTATE(RUNNABLE, RUNNING), at + 500, 1 << 16);
		}
		TRACE_RECORD(&t, RUNSTATE(RUNNING, RUNNABLE), tsc + 40000, 1 << 16);
		trace_window(&t, 1);
		TRACE_RECORD(&t, RUNSTATE(RUNNABLE, RUNNING), tsc + 40100 - BEHIND, 1 << 16);
		TRACE_RECORD(&t, RUNSTATE(RUNNING, RUNNABLE), tsc + 99900 - BEHIND, 1 << 16);
	}
	path = trace_file(t.data, t.size, ".xen");
	trace_free(&t);
	return path;
}

/** Return: how often the vCPU does the same twice in a row, by time; an order that cannot be. */
static int count_disorder(struct xen_trace *trace, int64_t *first_ns, int64_t *last_ns)
{
	struct xen_trace_iter *iter = xen_trace_iter_new(trace);
	struct xen_trace_row row;
	uint32_t before = 0;
	int64_t time_ns;
	int n = 0, bad = 0;

	assert_non_null(iter);
	for (; xen_trace_iter_next(iter, &row); n++) {
		bad += n && row.rec.event == before;
		before = row.rec.event;
		if (!n)
			*first_ns = row.time_ns;
		*last_ns = row.time_ns;
		assert_int_equal(xen_trace_time_at(trace, row.rec.offset, &time_ns), 0);
		assert_int_equal(time_ns, row.time_ns);
	}
	assert_int_equal(n, (4 + 2 * TURNS) * ROUNDS);
	assert_int_equal(xen_trace_iter_free(iter), 0);
	return bad;
}

static void test_skew(void **state)
{
	struct xen_trace_options options = { .cpu_hz = HZ };
	char *path = skewed_trace(), error[512], *notes;
	int64_t first_ns, last_ns;
	struct xen_trace *trace;

	(void)state;
	trace = xen_trace_open(path, &options, error, sizeof(error));
	assert_non_null(trace);
	assert_true(count_disorder(trace, &first_ns, &last_ns) > ROUNDS / 2);
	assert_int_equal(first_ns, 0);
	assert_int_equal(last_ns, 100000 * (ROUNDS - 1) + 99900 - BEHIND);
	notes = xen_trace_notes(trace, 3);
	assert_non_null(strstr(notes, "XEN_TSC_SKEW"));
	free(notes);
	xen_trace_close(trace);

	options.correct_skew = true;
	trace = xen_trace_open(path, &options, error, sizeof(error));
	assert_non_null(trace);
	assert_int_equal(count_disorder(trace, &first_ns, &last_ns), 0);
	assert_int_equal(first_ns, 0);
	/* by as little as puts it in order, which is no more than it is */
	assert_true(last_ns <= 100000 * (ROUNDS - 1) + 99900);
	assert_true(last_ns >= 100000 * (ROUNDS - 1) + 99900 - 200);
	assert_int_equal(xen_trace_known_until(trace, 7), INT64_MAX);
	notes = xen_trace_notes(trace, 3);
	assert_string_equal(notes, "");
	free(notes);
	xen_trace_close(trace);

	options.absolute_time = true;
	trace = xen_trace_open(path, &options, error, sizeof(error));
	assert_non_null(trace);
	assert_int_equal(count_disorder(trace, &first_ns, &last_ns), 0);
	assert_in_range(first_ns, BASE, BASE + BEHIND);
	xen_trace_close(trace);
	remove(path);
	free(path);
}

/* --- notes ---------------------------------------------------------------------------------- */

/** pCPUs of which no record says who was there are listed, but not without end. */
static void test_somebody(void **state)
{
	struct xen_trace_options options = { .cpu_hz = HZ };
	char error[512], *notes;
	struct trace t = { 0 };
	struct xen_trace *trace;
	size_t lines = 0;

	(void)state;
	for (uint32_t pcpu = 0; pcpu < 5; pcpu++) {
		trace_window(&t, pcpu);
		for (uint32_t i = 0; i < 5; i++)
			TRACE_RECORD(&t, 0x81002, BASE + 1000 * i + pcpu, 30, 0);
	}
	trace = xen_trace_open_memory(t.data, t.size, &options, error, sizeof(error));
	assert_non_null(trace);
	notes = xen_trace_notes(trace, 2);
	assert_non_null(notes);
	for (const char *p = notes; (p = strstr(p, "d?v? on p")); p++)
		lines++;
	assert_int_equal(lines, 2);
	assert_non_null(strstr(notes, "... and more vCPUs"));
	free(notes);
	notes = xen_trace_notes(trace, 5);
	assert_non_null(strstr(notes, "d?v? on p4"));
	assert_null(strstr(notes, "... and more vCPUs"));
	free(notes);
	xen_trace_close(trace);
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_sidecars),
		cmocka_unit_test(test_skew),
		cmocka_unit_test(test_somebody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
