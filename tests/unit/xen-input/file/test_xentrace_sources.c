/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where traces come from: files, packed or not, FIFOs, standard input; and what does not open. */
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "trace_invariants.h"

#define BASE		(1ULL << 40)
#define LENGTH(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- where it comes from ---- */

/** A trace of some pCPUs that is longer than any internal buffer. */
static void long_trace(struct trace *t, int n_windows)
{
	for (int i = 0; i < n_windows; i++) {
		trace_window(t, i % 5);
		trace_ticks(t, BASE + i * 3000ULL, 100, 100);
	}
}

static void check_same(const char *path, const struct trace *t, bool cut_short)
{
	char error[512] = "";
	struct xentrace *reader = xentrace_open(path, NULL, error, sizeof(error));
	const char *wrong;
	uint8_t *bytes;

	if (!reader)
		fail_msg("%s", error);
	wrong = trace_invariants(reader);
	if (wrong)
		fail_msg("%s: %s", path, wrong);
	if (!cut_short) {
		assert_int_equal(xentrace_size(reader), t->size);
		assert_int_equal(trace_problems(reader), 0);
	} else {
		assert_true(xentrace_size(reader) < t->size);
		assert_int_equal(xentrace_problem_count(reader, XENTRACE_TRUNCATED), 1);
	}
	/* a damaged member may give some wrong bytes before that is noticed */
	bytes = malloc(xentrace_size(reader));
	assert_non_null(bytes);
	assert_int_equal(xentrace_file_read(&reader->file, bytes, 0, xentrace_size(reader)),
			 xentrace_size(reader));
	assert_memory_equal(bytes, t->data, xentrace_size(reader) - (cut_short ? 1000 : 0));
	free(bytes);
	xentrace_close(reader);
}

static void check_packed(const struct trace *packed, const struct trace *t, bool cut_short)
{
	char *path = trace_file(packed->data, packed->size, ".xen");

	assert_true(xentrace_check(path));
	check_same(path, t, cut_short);
	unlink(path);
	free(path);
}

static void test_path(void **state)
{
	struct trace t = { 0 };

	(void)state;
	long_trace(&t, 300);
	check_packed(&t, &t, false);
	trace_free(&t);
}

static void check_packing(void (*add)(struct trace *out, const uint8_t *data, size_t size))
{
	static const uint8_t padding[700];
	struct trace t = { 0 }, packed = { 0 };

	long_trace(&t, 2000);
	add(&packed, t.data, t.size);
	check_packed(&packed, &t, false);
	packed.size = packed.size / 3 * 2;
	check_packed(&packed, &t, true);
	packed.size = 0;
	/* many members, so that their borders lie anywhere in the buffers */
	for (size_t done = 0; done < t.size; ) {
		size_t n = done % 997 + 1;

		n = n < t.size - done ? n : t.size - done;
		add(&packed, t.data + done, n);
		done += n;
	}
	check_packed(&packed, &t, false);
	trace_bytes(&packed, padding, sizeof(padding));
	check_packed(&packed, &t, false);
	/* damage in the middle: what is before it can be read */
	memset(packed.data + packed.size / 2, 0xa5, 64);
	check_packed(&packed, &t, true);
	trace_free(&t);
	trace_free(&packed);
}

static void test_gzip(void **state)
{
	(void)state;
	check_packing(trace_gzip);
}

static void test_zstd(void **state)
{
	(void)state;
	check_packing(trace_zstd);
}

/* A gzip member that begins with the very last byte of a full input buffer. */
static void test_gzip_border(void **state)
{
	struct trace t = { 0 }, first = { 0 }, packed = { 0 };
	uint8_t header[] = { 0x1f, 0x8b, 8, 16, 0, 0, 0, 0, 0, 3 };	/* FCOMMENT */

	(void)state;
	long_trace(&t, 40);
	trace_gzip(&first, t.data, t.size / 2);
	trace_bytes(&packed, header, sizeof(header));
	while (packed.size < 256 * 1024 - 1 - (first.size - 10) - 1)
		trace_bytes(&packed, "x", 1);
	trace_bytes(&packed, "", 1);
	trace_bytes(&packed, first.data + 10, first.size - 10);
	assert_int_equal(packed.size, 256 * 1024 - 1);
	trace_gzip(&packed, t.data + t.size / 2, t.size - t.size / 2);
	check_packed(&packed, &t, false);
	trace_free(&t);
	trace_free(&first);
	trace_free(&packed);
}

/** A child that writes @trace in odd pieces to @fd or @path. */
static pid_t feed(const struct trace *t, int fd, const char *path)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (path)
		fd = open(path, O_WRONLY);
	for (size_t done = 0; done < t->size; ) {
		size_t piece = t->size - done < 7777 ? t->size - done : 7777;
		ssize_t n = write(fd, t->data + done, piece);

		if (n < 0)
			_exit(1);
		done += n;
	}
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_fifo(void **state)
{
	struct trace t = { 0 }, packed = { 0 };
	char dir[] = "/tmp/ksv-unit-XXXXXX", path[64];
	pid_t pid;

	(void)state;
	long_trace(&t, 500);
	trace_gzip(&packed, t.data, t.size);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(xentrace_check(path));
	pid = feed(&t, -1, path);
	check_same(path, &t, false);
	wait_for(pid);
	pid = feed(&packed, -1, path);
	check_same(path, &t, false);
	wait_for(pid);
	unlink(path);
	rmdir(dir);
	trace_free(&t);
	trace_free(&packed);
}

static void test_stdin(void **state)
{
	struct trace t = { 0 };
	int saved = dup(STDIN_FILENO), ends[2], fd;
	char *path;
	pid_t pid;

	(void)state;
	long_trace(&t, 500);
	assert_int_equal(pipe(ends), 0);
	pid = feed(&t, ends[1], NULL);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	check_same("-", &t, false);
	wait_for(pid);
	/* a file as stdin, and from its middle */
	path = trace_file(t.data, t.size, "");
	fd = open(path, O_RDONLY);
	dup2(fd, STDIN_FILENO);
	check_same("-", &t, false);
	assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	trace_cut(&t, 0, 1612);
	lseek(STDIN_FILENO, 1612, SEEK_SET);
	check_same("-", &t, false);
	close(fd);
	dup2(saved, STDIN_FILENO);
	close(saved);
	unlink(path);
	free(path);
	trace_free(&t);
}

/** With standard input closed, the file gets descriptor 0. */
static void test_descriptor_0(void **state)
{
	struct trace t = { 0 };
	int saved = dup(STDIN_FILENO);
	char *path;

	(void)state;
	long_trace(&t, 50);
	path = trace_file(t.data, t.size, "");
	close(STDIN_FILENO);
	/* of another call, long ago */
	errno = EIO;
	check_same(path, &t, false);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	dup2(saved, STDIN_FILENO);
	close(saved);
	unlink(path);
	free(path);
	trace_free(&t);
}

/* ---- what does not open ---- */

static void refuse(const char *path, int error_number, const char *text)
{
	char error[512] = "";

	errno = 0;
	assert_null(xentrace_open(path, NULL, error, sizeof(error)));
	assert_int_equal(errno, error_number);
	if (strncmp(error, path, strlen(path)) || !strstr(error, text))
		fail_msg("'%s' does not say '%s'", error, text);
	assert_null(xentrace_open(path, NULL, NULL, 0));
	assert_null(xentrace_open(path, NULL, error, 5));
	assert_int_equal(strlen(error), 4);
	assert_false(xentrace_check(path));
}

static void refuse_data(const void *data, size_t size, const char *text)
{
	char *path = trace_file(data, size, ".xen");

	refuse(path, EINVAL, text);
	unlink(path);
	free(path);
}

static void test_refused(void **state)
{
	static const char text[] = "Once upon a time there was a file that was no trace at all.\n";
	struct trace t = { 0 };
	char error[512];

	(void)state;
	refuse_data("", 0, "the file is empty");
	refuse_data("x", 1, "not a xentrace file");
	refuse_data(text, strlen(text), "not a xentrace file");
	refuse("/nonexistent/trace", ENOENT, "No such file");
	refuse("/tmp", EISDIR, "a folder without recording.json");
	trace_window(&t, 0);
	assert_null(xentrace_open_memory(t.data, t.size, NULL, error, sizeof(error)));
	assert_int_equal(errno, EINVAL);
	assert_non_null(strstr(error, "without a single record"));
	assert_null(xentrace_open_memory(NULL, 0, NULL, error, sizeof(error)));
	assert_non_null(strstr(error, "empty"));
	trace_free(&t);
}

static void test_check(void **state)
{
	static const char *const others[] = {
		"/bin/ls", "/proc/self/exe", "/etc/passwd", "/dev/null", "/dev/zero", "/tmp",
		"/nonexistent",
	};
	static const uint8_t trace_dat[4096] = "\027\010Dtracing6\0\0\004\0\020\0\0";
	uint8_t bytes[5000];
	uint64_t seed = 5;
	char *path;

	(void)state;
	for (size_t i = 0; i < LENGTH(others); i++)
		if (xentrace_check(others[i]))
			fail_msg("%s passes for a trace", others[i]);
	path = trace_file(trace_dat, sizeof(trace_dat), ".dat");
	assert_false(xentrace_check(path));
	unlink(path);
	free(path);
	for (int i = 0; i < 100; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = trace_random(&seed);
		path = trace_file(bytes, i ? sizeof(bytes) : 1, "");
		assert_false(xentrace_check(path));
		unlink(path);
		free(path);
	}
}

/** Whatever its name and however short, what opens passes the check. */
static void test_check_accepts(void **state)
{
	struct trace t = { 0 };

	(void)state;
	trace_window(&t, 0);
	trace_ticks(&t, BASE, 400, 1);
	for (size_t size = 12 + 16; size < t.size; size++) {
		char *path;

		if (size > 200 && size % 101)
			continue;
		path = trace_file(t.data, size, ".dat");
		if (!xentrace_check(path))
			fail_msg("%zu bytes of a good trace do not pass", size);
		unlink(path);
		free(path);
	}
	trace_free(&t);
}

struct watch {
	uint64_t	calls, last, total;
	uint64_t	stop_at;
};

static int watch_progress(void *arg, uint64_t done, uint64_t total)
{
	struct watch *watch = arg;

	assert_true(done >= watch->last || !watch->calls);
	watch->last = done;
	watch->total = total;
	return ++watch->calls == watch->stop_at;
}

static void test_progress(void **state)
{
	struct watch watch = { 0 };
	struct xentrace_options options = {
		.progress = watch_progress, .progress_arg = &watch,
	};
	struct trace t = { 0 }, packed = { 0 };
	struct xentrace *reader;
	char error[256], *path;

	(void)state;
	long_trace(&t, 40000);
	reader = xentrace_open_memory(t.data, t.size, &options, NULL, 0);
	assert_non_null(reader);
	xentrace_close(reader);
	assert_true(watch.calls >= 3);
	assert_int_equal(watch.total, t.size);
	assert_true(watch.last <= t.size);
	watch = (struct watch){ .stop_at = 2 };
	assert_null(xentrace_open_memory(t.data, t.size, &options, error, sizeof(error)));
	assert_int_equal(errno, ECANCELED);
	assert_int_equal(watch.calls, 2);
	assert_non_null(strstr(error, "cancel"));
	/* while it is unpacked */
	trace_gzip(&packed, t.data, t.size);
	path = trace_file(packed.data, packed.size, ".gz");
	watch = (struct watch){ .stop_at = 3 };
	assert_null(xentrace_open(path, &options, error, sizeof(error)));
	assert_int_equal(errno, ECANCELED);
	assert_int_equal(watch.calls, 3);
	assert_int_equal(watch.total, packed.size);
	assert_non_null(strstr(error, "cancel"));
	unlink(path);
	free(path);
	trace_free(&packed);
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_gzip_border),
		cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_fifo),
		cmocka_unit_test(test_stdin),
		cmocka_unit_test(test_descriptor_0),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_accepts),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests_name("xentrace_sources", tests, NULL, NULL);
}
