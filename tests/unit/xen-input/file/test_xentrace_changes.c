// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files that are cut, written anew, replaced or continued while they are being read: no crash, no
 * record that was not there when the file was opened, and word of what has happened.
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

#include "trace_builder.h"
#include "trace_invariants.h"
#include "xen_trace.h"
#include "xen_tracker.h"

#define BASE	1000000000ULL

/* A trace of several blocks, and its file. */
static struct trace t;
static char *path;

static int set_up(void **state)
{
	(void)state;
	t = (struct trace){ 0 };
	for (int round = 0; round < 20; round++) {
		for (uint32_t pcpu = 0; pcpu < 3; pcpu++) {
			trace_window(&t, pcpu);
			trace_ticks(&t, BASE + round * 1000000, 500, 100 + pcpu);
		}
	}
	assert_true(t.size > 4 * XENTRACE_BLOCK);
	path = trace_file(t.data, t.size, ".xen");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	free(path);
	trace_free(&t);
	return 0;
}

static struct xentrace *open_it(void)
{
	struct xentrace *reader = xentrace_open(path, NULL, NULL, 0);

	assert_non_null(reader);
	assert_int_equal(xentrace_changed(reader), XENTRACE_UNCHANGED);
	return reader;
}

static void write_at(const void *data, size_t size, off_t offset, int flags)
{
	int fd = open(path, O_WRONLY | flags);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, size, offset), size);
	close(fd);
}

/* Walk on, comparing with what was in the file. Return: how many records there were. */
static uint64_t walk_on(struct xentrace_iter *iter, uint64_t max)
{
	struct xentrace_record rec;
	uint64_t n = 0;

	while (n < max && xentrace_iter_next(iter, &rec)) {
		n++;
		assert_true(rec.offset + 16 <= t.size);
		assert_memory_equal(t.data + rec.offset + 4, &rec.tsc, 8);
		assert_int_equal(rec.n_words, 1);
		assert_memory_equal(t.data + rec.offset + 12, rec.words, 4);
	}
	return n;
}

static void check_text(const struct xentrace *reader, const char *wanted)
{
	char text[512];

	assert_true(xentrace_change_text(text, sizeof(text), reader) > 0);
	if (!strstr(text, wanted) || strncmp(text, path, strlen(path)))
		fail_msg("\"%s\" does not say \"%s\"", text, wanted);
}

/* Cut to a size after some records. */
static void cut(size_t size, uint64_t after)
{
	struct xentrace *reader;
	struct xentrace_iter *iter;
	struct xentrace_record rec;
	char wanted[64];
	uint64_t n;

	write_at(t.data, t.size, 0, O_TRUNC);
	reader = open_it();
	iter = xentrace_iter_new(reader, NULL);
	assert_int_equal(walk_on(iter, after), after);
	assert_int_equal(truncate(path, size), 0);
	n = after + walk_on(iter, UINT64_MAX);
	/* whole blocks were read ahead, no more than one for each of the cursors */
	assert_in_range(n, after, after + 3 * (XENTRACE_BLOCK / 16) + 3);
	assert_true(n < xentrace_n_records(reader));
	assert_int_equal(xentrace_iter_error(iter), -ESTALE);
	assert_int_equal(xentrace_changed(reader), XENTRACE_CHANGED);
	snprintf(wanted, sizeof(wanted), "(was %zu bytes, now %zu)", t.size, size);
	check_text(reader, wanted);
	for (size_t offset = 12; offset < t.size; offset += 16)
		assert_true(xentrace_read_at(reader, offset, &rec) < 0);
	assert_int_equal(xentrace_read_at(reader, 12, &rec), -ESTALE);
	xentrace_iter_free(iter);
	/* once more, with nothing to begin with */
	iter = xentrace_iter_new(reader, NULL);
	assert_int_equal(walk_on(iter, UINT64_MAX), 0);
	xentrace_iter_free(iter);
	xentrace_close(reader);
}

static void test_cut(void **state)
{
	(void)state;
	cut(0, 0);
	cut(0, 1000);
	cut(t.size / 2, 0);
	cut(t.size / 2, 10000);
	cut(t.size - 1, 5);
	cut(4096, 100);
}

/* Written anew in place: the same size, or more; other times. */
static void written_anew(size_t size, uint64_t after, const struct trace *other)
{
	struct xentrace *reader;
	struct xentrace_iter *iter;

	write_at(t.data, t.size, 0, O_TRUNC);
	reader = open_it();
	iter = xentrace_iter_new(reader, NULL);
	assert_int_equal(walk_on(iter, after), after);
	write_at(other->data, size, 0, O_TRUNC);
	walk_on(iter, UINT64_MAX);
	xentrace_iter_free(iter);
	assert_int_equal(xentrace_changed(reader), XENTRACE_CHANGED);
	iter = xentrace_iter_new(reader, NULL);
	assert_int_equal(walk_on(iter, UINT64_MAX), 0);
	xentrace_iter_free(iter);
	xentrace_close(reader);
}

static void test_written_anew(void **state)
{
	struct trace other = { 0 }, zeros = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		trace_window(&other, i % 3);
		trace_ticks(&other, 7 * BASE + i * 1000000, 500, 100);
	}
	trace_bytes(&zeros, other.data, other.size);
	memset(zeros.data, 0, zeros.size);
	assert_true(other.size > t.size);
	written_anew(t.size, 0, &other);
	written_anew(t.size, 3000, &other);
	written_anew(other.size, 3000, &other);
	written_anew(t.size, 100, &zeros);
	written_anew(zeros.size, 100, &zeros);
	trace_free(&other);
	trace_free(&zeros);
}

/* What xentrace appends is not part of what was opened, and does no harm. */
static void test_grown(void **state)
{
	struct xentrace *reader = open_it();
	struct xentrace_iter *iter = xentrace_iter_new(reader, NULL);
	struct xentrace_record rec;

	(void)state;
	assert_int_equal(walk_on(iter, 1000), 1000);
	for (int i = 1; i <= 3; i++) {
		write_at(t.data, t.size, i * t.size, 0);
		assert_int_equal(walk_on(iter, 5000), 5000);
		assert_int_equal(xentrace_changed(reader), XENTRACE_GREW);
	}
	assert_int_equal(walk_on(iter, UINT64_MAX), xentrace_n_records(reader) - 16000);
	assert_int_equal(xentrace_iter_error(iter), 0);
	check_text(reader, "has grown");
	assert_int_equal(xentrace_read_at(reader, 12, &rec), 0);
	xentrace_iter_free(iter);
	/* and then it is cut after all */
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(xentrace_read_at(reader, 12, &rec), -ESTALE);
	assert_int_equal(xentrace_changed(reader), XENTRACE_CHANGED);
	xentrace_close(reader);
}

/* One that is shorter than what is looked at of its beginning and its end. */
static void test_small_grown(void **state)
{
	struct trace small = { 0 };
	struct xentrace *reader;
	struct xentrace_record rec;

	(void)state;
	trace_window(&small, 0);
	trace_ticks(&small, BASE, 10, 100);
	write_at(small.data, small.size, 0, O_TRUNC);
	reader = open_it();
	for (int i = 1; i <= 3; i++) {
		write_at(small.data, small.size, i * small.size, 0);
		assert_int_equal(xentrace_read_at(reader, 12, &rec), 0);
		assert_int_equal(xentrace_changed(reader), XENTRACE_GREW);
	}
	/* its first byte is another one, and it has grown once more */
	write_at("\0", 1, 0, 0);
	write_at(small.data, small.size, 4 * small.size, 0);
	assert_int_equal(xentrace_read_at(reader, 12, &rec), -ESTALE);
	assert_int_equal(xentrace_changed(reader), XENTRACE_CHANGED);
	xentrace_close(reader);
	trace_free(&small);
}

/* A file whose time is set back is another one by its size, one of the same size by its time. */
static void test_time_set_back(void **state)
{
	const struct timespec times[] = { { 1000, 5 }, { 1000, 5 } }, later[] = { { 1001, 5 },
										  { 1001, 5 } };
	struct xentrace_record rec;
	struct xentrace *reader;

	(void)state;
	for (int same_size = 0; same_size < 2; same_size++) {
		write_at(t.data, t.size, 0, O_TRUNC);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		reader = open_it();
		if (same_size)
			write_at("\0", 1, 0, 0);
		else
			assert_int_equal(truncate(path, 100), 0);
		assert_int_equal(utimensat(AT_FDCWD, path, same_size ? later : times, 0), 0);
		assert_int_equal(xentrace_read_at(reader, 12, &rec), -ESTALE);
		assert_int_equal(xentrace_changed(reader), XENTRACE_CHANGED);
		xentrace_close(reader);
	}
}

/* Another file of that name: what was opened is still there. */
static void test_replaced(void **state)
{
	struct xentrace *reader = open_it();
	struct xentrace_iter *iter = xentrace_iter_new(reader, NULL);
	char *other = trace_file(t.data, t.size / 2, ".xen");

	(void)state;
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(xentrace_changed(reader), XENTRACE_REPLACED);
	check_text(reader, "was replaced");
	assert_int_equal(walk_on(iter, UINT64_MAX), xentrace_n_records(reader));
	assert_int_equal(xentrace_iter_error(iter), 0);
	xentrace_iter_free(iter);
	/* removed: nothing to say */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(xentrace_changed(reader), XENTRACE_UNCHANGED);
	xentrace_close(reader);
	free(other);
}

struct cutting {
	uint64_t	at;
	bool		done;
};

static int cut_on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct cutting *cutting = arg;

	(void)total;
	if (done >= cutting->at && !cutting->done) {
		assert_int_equal(truncate(path, 1000), 0);
		cutting->done = true;
	}
	return 0;
}

/* While the index is made there is nothing to keep. */
static void test_cut_while_opened(void **state)
{
	struct cutting cutting = { .at = 1 };
	struct xentrace_options options = {
		.progress = cut_on_progress, .progress_arg = &cutting,
	};
	char error[512] = "";

	(void)state;
	/* progress comes every 16 MiB */
	for (int i = 1; i <= 16 * 4; i++)
		write_at(t.data, t.size, i * t.size, 0);
	assert_null(xentrace_open(path, &options, error, sizeof(error)));
	assert_true(cutting.done);
	assert_int_equal(errno, ESTALE);
	if (!strstr(error, "has changed since it was opened") || !strstr(error, "now 1000"))
		fail_msg("%s", error);
}

/* The model of what could be read. */
static void test_model(void **state)
{
	struct xen_trace *trace = xen_trace_open(path, NULL, NULL, 0);
	struct xen_tracker *tracker = xen_tracker_new(trace);
	struct xen_trace_iter *iter = xen_trace_iter_new(trace);
	struct virt_model *model = NULL;
	struct xen_trace_row row;
	uint64_t n = 0;

	(void)state;
	assert_non_null(iter);
	while (xen_trace_iter_next(iter, &row)) {
		assert_int_equal(xen_tracker_add(tracker, &row), 0);
		if (++n == 100)
			assert_int_equal(truncate(path, 0), 0);
	}
	assert_true(n < xentrace_n_records(xen_trace_reader(trace)));
	assert_int_equal(xen_trace_iter_free(iter), 0);
	assert_int_equal(xen_tracker_finish(tracker, &model), 0);
	assert_non_null(model);
	virt_model_free(model);
	xen_tracker_free(tracker);
	xen_trace_close(trace);
}

int main(void)
{
#define TEST(function)	cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_cut), TEST(test_written_anew), TEST(test_grown),
		TEST(test_small_grown), TEST(test_time_set_back), TEST(test_replaced),
		TEST(test_cut_while_opened), TEST(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
