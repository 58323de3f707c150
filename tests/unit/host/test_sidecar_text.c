// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_sidecar_text.c
 * @brief	An alignment in a sidecar: nothing else in it changes, and no other is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "align_meta.h"
#include "array.h"
#include "sidecar_text.h"

/* --- the text -------------------------------------------------------------------------------- */

static void test_put(void **state)
{
	static const struct {
		const char	*before, *after;	/* NULL: it is no object */
	} cases[] = {
		{ "{}", "{\n  \"k\": 1\n}" },
		{ " { } ", " {\n  \"k\": 1\n } " },
		{ "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"k\": 1\n}\n" },
		{ "{\"a\":1}", "{\"a\":1,\n  \"k\": 1}" },
		{ "{\"k\":[1,{\"k\":2}], \"b\":0}", "{\"k\":1, \"b\":0}" },
		{ "{\"a\":{\"k\":7}}", "{\"a\":{\"k\":7},\n  \"k\": 1}" },
		/* what a parser would not keep */
		{ "{\"n\":123456789012345678901234567890,\"d\":0.10,\"e\":1E400}",
		  "{\"n\":123456789012345678901234567890,\"d\":0.10,\"e\":1E400,\n  \"k\": 1}" },
		{ "{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2,\n  \"k\": 1}" },
		{ "{ // \"k\": }\n 'a': /* } */ '\\'}',\n}",
		  "{ // \"k\": }\n 'a': /* } */ '\\'}',\n  \"k\": 1\n}" },
		{ "{/*** **/ */}", "{\n  \"k\": 1\n/*** **/ */}" },
		{ "{\"\\u006b\" : \"x\"}", "{\"\\u006b\" : 1}" },
		{ "{\"k\":1,\"k\":\"}\\\"\"}", "{\"k\":1,\"k\":1}" },
		{ "{\"a\":\"\xff\\u0000\"}", "{\"a\":\"\xff\\u0000\",\n  \"k\": 1}" },
		{ "{\"a\":-Infinity} rest", "{\"a\":-Infinity,\n  \"k\": 1} rest" },
		{ "[]", NULL }, { "", NULL }, { "{", NULL }, { "{\"a\"}", NULL },
		{ "{\"a\":}", NULL }, { "{\"a\":1 \"b\":2}", NULL }, { "{\"a\":[1}", NULL },
		{ "{\"a\":\"", NULL }, { "{\"a\":1", NULL }, { "{/*", NULL }, { "{//", NULL },
		{ "{\"a\\", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = sidecar_put(cases[i].before, strlen(cases[i].before), "k", "1");

		if (!cases[i].after) {
			assert_null(text);
			assert_int_equal(errno, EINVAL);
			continue;
		}
		assert_non_null(text);
		assert_string_equal(text, cases[i].after);
		free(text);
	}
}

/* --- the file -------------------------------------------------------------------------------- */

static char folder[32];
static char trace[64], sidecar[64], other[64];

static int make_folder(void **state)
{
	(void)state;
	/* where nothing waits for a disk */
	snprintf(folder, sizeof(folder), "%s/ksv-sidecar-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(folder))
		return -1;
	snprintf(trace, sizeof(trace), "%s/g.dat", folder);
	snprintf(sidecar, sizeof(sidecar), "%s/g.dat.meta.json", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(sidecar);
	unlink(other);
	/* fails if something else is left */
	return rmdir(folder);
}

static void put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void assert_file(const char *path, const char *text)
{
	char buf[4096];
	FILE *file = fopen(path, "r");
	size_t n;

	assert_non_null(file);
	n = fread(buf, 1, sizeof(buf) - 1, file);
	fclose(file);
	buf[n] = '\0';
	assert_string_equal(buf, text);
}

static char host[] = "host.dat", source[] = "causality";

static int write_offset(const char *path, int64_t offset)
{
	/* releases of json-c differ in how they print a list of none */
	int tid = 7;
	struct align_meta meta = { .host = host, .source = source, .offset = offset,
				   .tids = &tid, .n_tids = 1 };
	char error[256] = "";
	int ret = align_meta_write(path, &meta, error, sizeof(error));

	assert_int_equal(!ret, !*error);
	return ret;
}

/** A link, the mode, a file of the name that is an obvious one for what is not complete. */
static void test_links(void **state)
{
	char new[80];
	struct stat st;

	(void)state;
	put_file(other, "{ \"mine\": 18446744073709551616 }");
	assert_int_equal(chmod(other, 0604), 0);
	assert_int_equal(symlink("other", sidecar), 0);
	snprintf(new, sizeof(new), "%s.new", sidecar);
	put_file(new, "precious");
	assert_int_equal(write_offset(trace, 5), 0);
	assert_int_equal(lstat(sidecar, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(other, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0604);
	assert_file(other, "{ \"mine\": 18446744073709551616,\n"
		    "  \"alignment\": {\n"
		    "    \"host\": \"host.dat\",\n"
		    "    \"source\": \"causality\",\n"
		    "    \"offset\": 5,\n"
		    "    \"at\": 0,\n"
		    "    \"unit\": \"ns\",\n"
		    "    \"interval\": [\n"
		    "      0,\n"
		    "      0\n"
		    "    ],\n"
		    "    \"drift_ppm\": 0.000000,\n"
		    "    \"after_trace_cmd\": false,\n"
		    "    \"vcpus\": [\n"
		    "      {\n"
		    "        \"guest_cpu\": 0,\n"
		    "        \"tid\": 7\n"
		    "      }\n"
		    "    ]\n"
		    "  } }");
	assert_file(new, "precious");
	unlink(new);
	unlink(sidecar);
}

/** What is no sidecar stays as it is. */
static void test_refused(void **state)
{
	(void)state;
	put_file(sidecar, "[]");
	assert_int_equal(write_offset(trace, 5), -EINVAL);
	assert_file(sidecar, "[]");
	unlink(sidecar);
	assert_int_equal(mkfifo(sidecar, 0600), 0);
	assert_int_not_equal(write_offset(trace, 5), 0);
	unlink(sidecar);
	assert_int_equal(mkdir(sidecar, 0700), 0);
	assert_int_equal(write_offset(trace, 5), -EISDIR);
	rmdir(sidecar);
}

/** Many at the same time: there is always a whole one, and no key is lost. */
static void test_writers(void **state)
{
	enum { WRITERS = 4, ROUNDS = 20 };
	int status;

	(void)state;
	put_file(sidecar, "{\n  \"a\": 1\n}\n");
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		for (int round = 0; !pid && round < ROUNDS; round++)
			if (write_offset(trace, i * ROUNDS + round))
				_exit(1);
		if (!pid)
			_exit(0);
	}
	for (int i = 0; i < 1000; i++) {
		struct align_meta *meta;
		char error[256] = "";

		assert_int_equal(align_meta_read(trace, &meta, error, sizeof(error)), 0);
		align_meta_free(meta);
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

/** One who holds the lock changes the file: what is written then has both changes. */
static void test_lock(void **state)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY), status;
	struct align_meta *meta;
	char error[256], line[64];
	bool kept = false;
	FILE *file;
	pid_t pid;

	(void)state;
	put_file(sidecar, "{}");
	assert_int_equal(flock(dir, LOCK_EX), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* the lock belongs to what was opened, which a child shares */
		close(dir);
		_exit(write_offset(trace, 42) ? 1 : 0);
	}
	/* whenever it begins to wait, it has not read the file yet */
	put_file(sidecar, "{\"theirs\": true}");
	assert_int_equal(flock(dir, LOCK_UN), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(align_meta_read(trace, &meta, error, sizeof(error)), 0);
	assert_int_equal(meta->offset, 42);
	align_meta_free(meta);
	file = fopen(sidecar, "r");
	while (fgets(line, sizeof(line), file))
		kept |= strstr(line, "\"theirs\": true") != NULL;
	fclose(file);
	close(dir);
	assert_true(kept);
}

/** All that is kept is read again as it was. */
static void test_round(void **state)
{
	int tids[] = { 100, -1, 4711 };
	const struct align_meta meta = {
		.host = host, .source = source, .cycles = true, .after_trace_cmd = true,
		.at = 123456789012345, .offset = -987654321098765, .lo = -987654321098770,
		.hi = -987654321098760, .drift_ppm = -12.345678, .tids = tids, .n_tids = 3,
	};
	char error[256] = "";
	struct align_meta *read;

	(void)state;
	unlink(sidecar);
	assert_int_equal(align_meta_write(trace, &meta, error, sizeof(error)), 0);
	assert_int_equal(align_meta_read(trace, &read, error, sizeof(error)), 0);
	assert_string_equal(read->host, host);
	assert_string_equal(read->source, source);
	assert_true(read->cycles);
	assert_true(read->after_trace_cmd);
	assert_int_equal(read->at, meta.at);
	assert_int_equal(read->offset, meta.offset);
	assert_int_equal(read->lo, meta.lo);
	assert_int_equal(read->hi, meta.hi);
	assert_true(read->drift_ppm == meta.drift_ppm);
	assert_int_equal(read->n_tids, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(read->tids[i], tids[i]);
	align_meta_free(read);
}

/** A sidecar in which a user may have changed anything. */
static struct align_meta *read_text(const char *alignment, int wanted)
{
	struct align_meta *meta;
	char error[256] = "", text[512];

	snprintf(text, sizeof(text), "{ \"alignment\": %s }", alignment);
	put_file(sidecar, text);
	assert_int_equal(align_meta_read(trace, &meta, error, sizeof(error)), wanted);
	assert_int_equal(!wanted, !*error);
	assert_true(!wanted || !meta);
	return meta;
}

static void test_by_hand(void **state)
{
	static const char *const refused[] = {
		"{}", "{ \"offset\": 1.5 }", "{ \"offset\": \"1\" }",
		"{ \"offset\": 1, \"drift_ppm\": 1000000.1 }",
		"{ \"offset\": 1, \"drift_ppm\": -1000000.1 }",
		"{ \"offset\": 1, \"drift_ppm\": Infinity }",
		"{ \"offset\": 1, \"drift_ppm\": NaN }", "{ \"offset\": 1, \"at\": 1.5 }",
	};
	static const char *const none[] = { "7", "[]", "null" };
	struct align_meta *meta;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		read_text(refused[i], -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_null(read_text(none[i], 0));
	/* an offset is enough, and a drift may be a million */
	meta = read_text("{ \"offset\": 5, \"drift_ppm\": -1000000 }", 0);
	assert_int_equal(meta->offset, 5);
	assert_int_equal(meta->lo, 5);
	assert_int_equal(meta->hi, 5);
	assert_int_equal(meta->at, 0);
	assert_int_equal(meta->n_tids, 0);
	assert_false(meta->cycles);
	assert_false(meta->after_trace_cmd);
	assert_true(meta->drift_ppm == -1e6);
	assert_string_equal(meta->host, "");
	align_meta_free(meta);
	/* two ends are an interval, anything else is none */
	meta = read_text("{ \"offset\": 5, \"interval\": [ 1, 9, 7 ], \"at\": 3 }", 0);
	assert_int_equal(meta->lo, 5);
	assert_int_equal(meta->hi, 5);
	assert_int_equal(meta->at, 3);
	align_meta_free(meta);
	/* CPUs in any order, and some that cannot be; the others have no vCPU */
	meta = read_text("{ \"offset\": 5, \"vcpus\": [ { \"guest_cpu\": 2, \"tid\": 12 }, "
			 "{ \"guest_cpu\": 0, \"tid\": 10 }, { \"guest_cpu\": -1, \"tid\": 9 }, "
			 "{ \"guest_cpu\": 4096, \"tid\": 9 }, { \"tid\": 9 }, "
			 "{ \"guest_cpu\": 7 } ] }", 0);
	assert_int_equal(meta->n_tids, 3);
	assert_int_equal(meta->tids[0], 10);
	assert_int_equal(meta->tids[1], -1);
	assert_int_equal(meta->tids[2], 12);
	align_meta_free(meta);
	meta = read_text("{ \"offset\": 5, \"vcpus\": [ { \"guest_cpu\": 4095, \"tid\": 1 } ] }",
			 0);
	assert_int_equal(meta->n_tids, 4096);
	assert_int_equal(meta->tids[4095], 1);
	align_meta_free(meta);
	/* there is no sidecar at all */
	unlink(sidecar);
	char error[256] = "";

	assert_int_equal(align_meta_read(trace, &meta, error, sizeof(error)), 0);
	assert_null(meta);
	assert_string_equal(error, "");
}

/** The message for an unreadable file says what it is. */
static void test_words(void **state)
{
	struct align_meta *meta;
	char error[256] = "";

	(void)state;
	assert_int_equal(mkfifo(sidecar, 0600), 0);
	assert_int_equal(align_meta_read(trace, &meta, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "g.dat.meta.json: cannot read: not a regular file"));
	unlink(sidecar);
	put_file(sidecar, "nothing");
	assert_int_equal(align_meta_read(trace, &meta, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "not a JSON object: "));
	assert_non_null(strstr(error, "; remove or correct it"));
	unlink(sidecar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_writers),
		cmocka_unit_test(test_lock),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
