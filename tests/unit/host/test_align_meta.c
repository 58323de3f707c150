// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_align_meta.c
 * @brief	The alignment that a sidecar keeps: what is read, refused and written of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "align_meta.h"
#include "array.h"
#include "failing_memory.h"
#include "json_read.h"
#include "trace_builder.h"

/** As many CPUs as are kept. */
#define MOST_CPUS	4096

void *__real_calloc(size_t n, size_t size);
char *__real_strdup(const char *text);
void *__wrap_calloc(size_t n, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

/* What json-c and sidecar_put() say instead of an answer; 0: they answer. */
static int json_error, put_error;

struct json_object *__real_json_tokener_parse_ex(struct json_tokener *tokener, const char *text,
						 int size);
char *__real_sidecar_put(const char *text, size_t size, const char *key, const char *value);
struct json_object *__wrap_json_tokener_parse_ex(struct json_tokener *tokener, const char *text,
						 int size);
char *__wrap_sidecar_put(const char *text, size_t size, const char *key, const char *value);

struct json_object *__wrap_json_tokener_parse_ex(struct json_tokener *tokener, const char *text,
						 int size)
{
	errno = json_error;
	return json_error ? NULL : __real_json_tokener_parse_ex(tokener, text, size);
}

char *__wrap_sidecar_put(const char *text, size_t size, const char *key, const char *value)
{
	errno = put_error;
	return put_error ? NULL : __real_sidecar_put(text, size, key, value);
}

/* The guest's file, of which nothing is read as it is none, and its sidecar. */
static char *guest, sidecar[256], error[512];

static int make_files(void **state)
{
	(void)state;
	guest = trace_file("", 0, ".dat");
	snprintf(sidecar, sizeof(sidecar), "%s.meta.json", guest);
	return !guest;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(sidecar);
	unlink(guest);
	free(guest);
	return 0;
}

static int read_text(const char *text, struct align_meta **meta)
{
	FILE *out = fopen(sidecar, "w");
	int ret;

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	memset(error, 0, sizeof(error));
	ret = align_meta_read(guest, meta, error, sizeof(error));
	assert_int_equal(!ret, !*error);
	assert_true(!ret || !*meta);
	return ret;
}

static void test_read(void **state)
{
	struct align_meta *meta;

	(void)state;
	assert_int_equal(read_text("{\"alignment\":{\"host\":\"h.dat\",\"source\":\"tsc\","
				   "\"offset\":-7,\"at\":40,\"unit\":\"cycles\","
				   "\"interval\":[-9,-4],\"drift_ppm\":1.5,"
				   "\"after_trace_cmd\":true,\"vcpus\":["
				   "{\"guest_cpu\":2,\"tid\":30},{\"guest_cpu\":0,\"tid\":10}]}}",
				   &meta), 0);
	assert_string_equal(meta->host, "h.dat");
	assert_string_equal(meta->source, "tsc");
	assert_int_equal(meta->offset, -7);
	assert_int_equal(meta->at, 40);
	assert_true(meta->cycles);
	assert_int_equal(meta->lo, -9);
	assert_int_equal(meta->hi, -4);
	assert_true(meta->drift_ppm == 1.5);
	assert_true(meta->after_trace_cmd);
	assert_int_equal(meta->n_tids, 3);
	assert_int_equal(meta->tids[0], 10);
	assert_int_equal(meta->tids[1], VIRT_NONE);
	assert_int_equal(meta->tids[2], 30);
	align_meta_free(meta);
	/* what is missing; an interval has two ends */
	assert_int_equal(read_text("{\"alignment\":{\"offset\":5,\"interval\":[1,2,3]}}", &meta),
			 0);
	assert_string_equal(meta->host, "");
	assert_string_equal(meta->source, "");
	assert_int_equal(meta->at, 0);
	assert_false(meta->cycles);
	assert_false(meta->after_trace_cmd);
	assert_int_equal(meta->lo, 5);
	assert_int_equal(meta->hi, 5);
	assert_true(meta->drift_ppm == 0);
	assert_int_equal(meta->n_tids, 0);
	align_meta_free(meta);
	/* none at all */
	assert_int_equal(read_text("{\"alignment\":[]}", &meta), 0);
	assert_null(meta);
	unlink(sidecar);
	assert_int_equal(align_meta_read(guest, &meta, error, sizeof(error)), 0);
	assert_null(meta);
}

/** Of CPUs that cannot be, and without a thread, nothing is kept. */
static void test_cpus(void **state)
{
	static const struct { const char *vcpu; int n, last; } cases[] = {
		{ "{\"guest_cpu\":0,\"tid\":7}", 1, 7 },
		{ "{\"guest_cpu\":4095,\"tid\":7}", MOST_CPUS, 7 },
		{ "{\"guest_cpu\":4096,\"tid\":7}", 0, 0 },
		{ "{\"guest_cpu\":-1,\"tid\":7}", 0, 0 },
		{ "{\"guest_cpu\":3}", 0, 0 },
		{ "{\"tid\":7}", 0, 0 },
		{ "7", 0, 0 },
	};
	char *text = malloc(40 * (MOST_CPUS + 3)), one[512];
	struct align_meta *meta;
	size_t n;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(one, sizeof(one), "{\"alignment\":{\"offset\":0,\"vcpus\":[%s]}}",
			 cases[i].vcpu);
		assert_int_equal(read_text(one, &meta), 0);
		assert_int_equal(meta->n_tids, cases[i].n);
		if (cases[i].n)
			assert_int_equal(meta->tids[cases[i].n - 1], cases[i].last);
		align_meta_free(meta);
	}
	/* the first ones of too many: each has another thread, and the last one is that of CPU 0 */
	n = (size_t)sprintf(text, "{\"alignment\":{\"offset\":0,\"vcpus\":[");
	for (int i = 0; i <= MOST_CPUS; i++)
		n += (size_t)sprintf(text + n, "%s{\"guest_cpu\":%d,\"tid\":%d}", i ? "," : "",
				     i % MOST_CPUS, i + 1);
	strcpy(text + n, "]}}");
	assert_int_equal(read_text(text, &meta), 0);
	assert_int_equal(meta->n_tids, MOST_CPUS);
	assert_int_equal(meta->tids[0], 1);
	assert_int_equal(meta->tids[MOST_CPUS - 1], MOST_CPUS);
	align_meta_free(meta);
	free(text);
}

#define STEPS(list)	"{\"alignment\":{\"offset\":1,\"steps\":" list "}}"

static void test_refused(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "{\"alignment\":{}}", "has no offset" },
		{ "{\"alignment\":{\"offset\":1.5}}", "has no offset" },
		{ "{\"alignment\":{\"offset\":1,\"drift_ppm\":1000001}}", "impossible" },
		{ "{\"alignment\":{\"offset\":1,\"drift_ppm\":-1000001}}", "impossible" },
		{ "{\"alignment\":{\"offset\":1,\"drift_ppm\":NaN}}", "impossible" },
		{ "{\"alignment\":{\"offset\":1,\"at\":\"1\"}}", "impossible" },
		{ STEPS("7"), "impossible steps" },
		{ STEPS("[7]"), "impossible steps" },
		{ STEPS("[{\"guest_cpu\":0}]"), "impossible steps" },
		{ STEPS("[{\"offset\":0}]"), "impossible steps" },
		{ STEPS("[{\"guest_cpu\":-1,\"offset\":0}]"), "impossible steps" },
		{ STEPS("[{\"guest_cpu\":4096,\"offset\":0}]"), "impossible steps" },
		{ STEPS("[{\"guest_cpu\":1,\"offset\":0},{\"guest_cpu\":0,\"offset\":0}]"),
		  "impossible steps" },
		{ "[]", "not a JSON object" },
		{ "{", "not a JSON object" },
	};
	struct align_meta *meta;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(read_text(cases[i].text, &meta), -EINVAL);
		assert_non_null(strstr(error, cases[i].says));
	}
	assert_int_equal(read_text("{\"alignment\":{\"offset\":1,\"drift_ppm\":1000000}}", &meta),
			 0);
	align_meta_free(meta);
	/* no file */
	unlink(sidecar);
	assert_int_equal(symlink("/dev/null", sidecar), 0);
	assert_int_equal(align_meta_read(guest, &meta, error, sizeof(error)), -EINVAL);
	assert_null(meta);
	assert_non_null(strstr(error, "cannot read: not a regular file"));
}

/** What the offset is from a time on; as it is added to times. */
static void test_steps(void **state)
{
	static char host[] = "h.dat", source[] = "sidecar";
	struct virt_clock_step steps[] = {
		{ .cpu = 0, .from = 500, .add = -20 },
		{ .cpu = 1, .from = INT64_MIN, .add = 3 },
		{ .cpu = 1, .from = 40, .back = true, .add = INT64_C(5000000000) },
	};
	struct align_meta written = {
		.host = host, .source = source, .cycles = true, .offset = 100,
		.steps = steps, .n_steps = ARRAY_SIZE(steps),
	};
	struct align_meta *meta;

	(void)state;
	assert_int_equal(read_text(STEPS("[{\"guest_cpu\":2,\"offset\":-6,\"from\":9}]"),
				   &meta), 0);
	assert_int_equal(meta->n_steps, 1);
	assert_int_equal(meta->steps[0].cpu, 2);
	assert_int_equal(meta->steps[0].from, 9);
	assert_int_equal(meta->steps[0].add, -7);
	assert_false(meta->steps[0].back);
	align_meta_free(meta);
	for (int drift = 0; drift < 2; drift++) {
		written.drift_ppm = drift ? -250000 : 0;
		assert_int_equal(align_meta_write(guest, &written, error, sizeof(error)), 0);
		assert_int_equal(align_meta_read(guest, &meta, error, sizeof(error)), 0);
		assert_int_equal(meta->n_steps, written.n_steps);
		for (size_t i = 0; i < meta->n_steps; i++) {
			assert_int_equal(meta->steps[i].cpu, steps[i].cpu);
			assert_int_equal(meta->steps[i].back, steps[i].back);
			assert_true(meta->steps[i].from == steps[i].from);
			/* an offset is a whole number */
			assert_in_range(meta->steps[i].add - steps[i].add + drift, 0, 2 * drift);
		}
		align_meta_free(meta);
	}
}

/** Of a sidecar that was written before its trace, the older one counts, and is kept. */
static void check_older(const struct align_meta *written, const char *key, const char *older)
{
	struct align_meta *meta;
	char buf[256];
	struct stat st;
	int n_older = 0;
	FILE *in;

	assert_int_equal(stat(guest, &st), 0);
	snprintf(buf, sizeof(buf), "{\"mine\":1,\"part\":{\"trace_bytes\":1},\"%s\":{"
		 "\"trace_bytes\":%lld,\"sidecar\":%s}}", key, (long long)st.st_size, older);
	assert_int_equal(read_text(buf, &meta), 0);
	assert_int_equal(align_meta_write(guest, written, error, sizeof(error)), 0);
	assert_int_equal(align_meta_read(guest, &meta, error, sizeof(error)), 0);
	assert_non_null(meta);
	assert_string_equal(meta->host, written->host);
	align_meta_free(meta);
	in = fopen(sidecar, "r");
	while (fgets(buf, sizeof(buf), in)) {
		assert_null(strstr(buf, "mine"));
		assert_null(strstr(buf, "laces"));
		n_older += strstr(buf, "older") != NULL;
	}
	fclose(in);
	assert_int_equal(n_older, 1);
}

/** What is written is what is read, and what else there is stays. */
static void test_write(void **state)
{
	static char host[] = "h.dat", source[] = "causality";
	int tids[] = { 10, VIRT_NONE, 30 };
	const struct align_meta written = {
		.host = host, .source = source, .cycles = true, .after_trace_cmd = true,
		.at = -3, .offset = INT64_MIN, .lo = INT64_MIN, .hi = INT64_MAX,
		.drift_ppm = -0.25, .tids = tids, .n_tids = 3,
	};
	struct align_meta *meta;
	struct stat st;
	char buf[256];
	FILE *in;

	(void)state;
	assert_int_equal(stat(guest, &st), 0);
	assert_int_equal(read_text("{\"mine\":1}", &meta), 0);
	assert_null(meta);
	assert_int_equal(align_meta_write(guest, &written, error, sizeof(error)), 0);
	assert_int_equal(align_meta_read(guest, &meta, error, sizeof(error)), 0);
	assert_string_equal(meta->host, host);
	assert_string_equal(meta->source, source);
	assert_true(meta->cycles && meta->after_trace_cmd);
	assert_int_equal(meta->at, -3);
	assert_true(meta->offset == INT64_MIN && meta->lo == INT64_MIN && meta->hi == INT64_MAX);
	assert_true(meta->drift_ppm == -0.25);
	assert_int_equal(meta->n_tids, 3);
	assert_memory_equal(meta->tids, tids, sizeof(tids));
	align_meta_free(meta);
	in = fopen(sidecar, "r");
	assert_non_null(fgets(buf, sizeof(buf), in));
	assert_string_equal(buf, "{\"mine\":1,\n");
	fclose(in);
	/* of another trace, nothing is kept */
	assert_int_equal(read_text("{\"mine\":1,\"part\":{\"trace_bytes\":1}}", &meta), -ESTALE);
	assert_int_equal(align_meta_write(guest, &written, error, sizeof(error)), 0);
	assert_int_equal(align_meta_read(guest, &meta, error, sizeof(error)), 0);
	assert_string_equal(meta->host, host);
	align_meta_free(meta);
	in = fopen(sidecar, "r");
	while (fgets(buf, sizeof(buf), in))
		assert_null(strstr(buf, "mine"));
	fclose(in);
	check_older(&written, "replaces", "{\"older\":2}");
	check_older(&written, "re\\u0070laces", "{\"older\":2}");
	check_older(&written, "replaces", "{\"older\":2,\"replaces\":{\"sidecar\":{}}}");
	/* it may be another file's as well */
	snprintf(buf, sizeof(buf), "{\"replaces\":{\"trace_bytes\":%lld,\"trace_mtime_ns\":%lld,"
		 "\"sidecar\":{\"part\":{\"trace_bytes\":1}}}}", (long long)st.st_size,
		 (long long)json_mtime_ns(&st));
	assert_int_equal(read_text(buf, &meta), -ESTALE);
	/* into what is no object, nothing is written */
	assert_int_equal(read_text("[]", &meta), -EINVAL);
	assert_int_equal(align_meta_write(guest, &written, error, sizeof(error)), -EINVAL);
	in = fopen(sidecar, "r");
	assert_non_null(fgets(buf, sizeof(buf), in));
	assert_string_equal(buf, "[]");
	fclose(in);
}

static int take_time(void *arg, const struct kvm_trace_record *record)
{
	*(int64_t *)arg = record->time_ns;
	return 1;
}

/** The time of a trace's first record, with its sidecar, if that is wanted. */
static int64_t first_time(const char *path, bool align)
{
	struct kvm_trace *trace = kvm_trace_open(path, error, sizeof(error));
	int64_t time = 0;

	assert_non_null(trace);
	if (align)
		assert_int_equal(align_meta_apply(trace, error, sizeof(error)), 0);
	assert_int_equal(kvm_trace_walk(trace, take_time, NULL, &time), 1);
	kvm_trace_close(trace);
	return time;
}

/** The offset is that at a time, from which the drift takes it to all others: to 0, say. */
static void test_apply(void **state)
{
	static const char text[] = "{\"alignment\":{\"offset\":5,\"at\":1000,\"unit\":\"ns\","
				   "\"drift_ppm\":1000000,\"after_trace_cmd\":true}}";
	struct align_meta *meta;
	char path[512];
	int64_t plain;

	(void)state;
	snprintf(path, sizeof(path), "%s/samples/kvm-nosync-g1.dat", getenv("KSV_SOURCE_DIR"));
	plain = first_time(path, false);
	unlink(guest);
	assert_int_equal(symlink(path, guest), 0);
	assert_int_equal(read_text(text, &meta), 0);
	align_meta_free(meta);
	assert_int_equal(first_time(guest, true), 2 * plain - 1000 + 5);
}

/** Without memory there is no alignment, or all of it. */
static void test_memory(void **state)
{
	static const char text[] = "{\"alignment\":{\"host\":\"h\",\"source\":\"s\",\"offset\":1}}";
	struct align_meta *meta;
	int failures = 0;
	long n;

	(void)state;
	n_allocations = 0;
	assert_int_equal(read_text(text, &meta), 0);
	align_meta_free(meta);
	n = n_allocations;
	for (long i = 1; i <= n; i++) {
		int ret;

		countdown = i;
		ret = read_text(text, &meta);
		countdown = 0;
		assert_true(!ret || ret == -ENOMEM);
		failures += !!ret;
		if (ret)
			continue;
		assert_string_equal(meta->host, "h");
		assert_string_equal(meta->source, "s");
		align_meta_free(meta);
	}
	/* the structure, its two texts and its list */
	assert_true(failures >= 4);
}

/** Neither a sidecar nor what is written into it is blamed for want of memory; or the other way. */
static void test_blame(void **state)
{
	static char host[] = "h.dat", source[] = "tsc";
	const struct align_meta written = { .host = host, .source = source, .offset = 1 };
	struct align_meta *meta;

	(void)state;
	json_error = ENOMEM;
	assert_int_equal(read_text("{}", &meta), -ENOMEM);
	assert_non_null(strstr(error, "not enough memory"));
	assert_int_equal(align_meta_write(guest, &written, error, sizeof(error)), -ENOMEM);
	assert_non_null(strstr(error, "not enough memory"));
	json_error = 0;
	put_error = ENOMEM;
	assert_int_equal(align_meta_write(guest, &written, error, sizeof(error)), -ENOMEM);
	assert_null(strstr(error, "JSON"));
	/* what one of them takes and the other one does not */
	put_error = EINVAL;
	assert_int_equal(align_meta_write(guest, &written, error, sizeof(error)), -EBADMSG);
	assert_non_null(strstr(error, "not a plain JSON"));
	put_error = 0;
	assert_int_equal(align_meta_write(guest, &written, error, sizeof(error)), 0);
}

int main(void)
{
#define TEST(function)	cmocka_unit_test_setup_teardown(function, make_files, remove_files)
	const struct CMUnitTest tests[] = {
		TEST(test_read), TEST(test_cpus), TEST(test_refused), TEST(test_steps),
		TEST(test_write), TEST(test_apply), TEST(test_blame),
		TEST(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
