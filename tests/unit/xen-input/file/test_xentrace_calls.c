// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_xentrace_calls.c
 * @brief	Each system call on the way through a file is interrupted, cut short, or fails.
 *
 * A signal, or a kernel that returns less than was asked for, changes nothing. An error is
 * returned, and never makes a shorter trace that looks complete.
 */
#include <errno.h>
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

#include "array.h"
#include "trace_builder.h"
#include "xentrace_file.h"
#include "xentrace_reader.h"

enum trouble { NONE, INTERRUPTED, SHORT, BROKEN };

static long countdown;		/* the call that has trouble; 0: none */
static long n_calls;
static enum trouble trouble;

/** What happens to this call. */
static enum trouble next_trouble(void)
{
	n_calls++;
	return countdown && !--countdown ? trouble : NONE;
}

/** Return: whether a call fails, with errno set; less may be left of @size. */
static bool fails(size_t *size)
{
	switch (next_trouble()) {
	case INTERRUPTED:
		errno = EINTR;
		return true;
	case BROKEN:
		errno = EIO;
		return true;
	case SHORT:
		*size = *size > 1 ? *size / 2 : *size;
		return false;
	default:
		return false;
	}
}

ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __real_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __real_write(int fd, const void *buf, size_t size);
int __real_fstat(int fd, struct stat *st);
ssize_t __wrap_read(int fd, void *buf, size_t size);
ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __wrap_write(int fd, const void *buf, size_t size);
int __wrap_fstat(int fd, struct stat *st);

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	return fails(&size) ? -1 : __real_read(fd, buf, size);
}

ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset)
{
	return fails(&size) ? -1 : __real_pread(fd, buf, size, offset);
}

ssize_t __wrap_write(int fd, const void *buf, size_t size)
{
	return fails(&size) ? -1 : __real_write(fd, buf, size);
}

/** It is not interrupted, and whole. */
int __wrap_fstat(int fd, struct stat *st)
{
	if (trouble != BROKEN || next_trouble() != BROKEN)
		return __real_fstat(fd, st);
	errno = EIO;
	return -1;
}

/** What came of a file. */
struct outcome {
	int		error;		/* while opening or reading */
	bool		cut;		/* it says that something is missing */
	uint64_t	n_records, sum;
};

static struct outcome use(const char *path)
{
	struct outcome outcome = { 0 };
	char error[512] = "";
	struct xentrace *reader = xentrace_open(path, NULL, error, sizeof(error));
	struct xentrace_record rec;
	struct xentrace_iter *iter;
	uint8_t head[16];

	if (!reader) {
		outcome.error = errno;
		assert_true(*error);
		return outcome;
	}
	outcome.cut = xentrace_n_problems(reader) > 0 || xentrace_changed(reader);
	iter = xentrace_iter_new(reader, NULL);
	assert_non_null(iter);
	for (; xentrace_iter_next(iter, &rec); outcome.n_records++)
		outcome.sum = 31 * outcome.sum + rec.tsc + rec.event + rec.offset;
	outcome.error = -xentrace_iter_error(iter);
	xentrace_iter_free(iter);
	xentrace_close(reader);
	if (!outcome.error && xentrace_file_peek(path, head, sizeof(head)) < 0)
		outcome.error = errno;
	return outcome;
}

static char *make_file(void (*pack)(struct trace *trace, const uint8_t *data, size_t size))
{
	struct trace t = { 0 }, packed = { 0 };
	char *path;

	for (uint32_t i = 0; i < 20; i++) {
		trace_window(&t, i % 3);
		trace_ticks(&t, 1000000000 + 100000 * i, 40, 100);
	}
	if (pack)
		pack(&packed, t.data, t.size);
	path = pack ? trace_file(packed.data, packed.size, ".xen") :
	       trace_file(t.data, t.size, ".xen");
	trace_free(&t);
	trace_free(&packed);
	return path;
}

static void check(void (*pack)(struct trace *trace, const uint8_t *data, size_t size))
{
	char *path = make_file(pack);
	struct outcome wanted, now;
	long n;

	for (trouble = INTERRUPTED; trouble <= BROKEN; trouble++) {
		long failures = 0;

		countdown = 0;
		n_calls = 0;
		wanted = use(path);
		n = n_calls;
		assert_int_equal(wanted.error, 0);
		assert_false(wanted.cut);
		assert_int_equal(wanted.n_records, 800);
		assert_true(n > 2);
		for (long i = 1; i <= n; i++) {
			countdown = i;
			now = use(path);
			countdown = 0;
			if (now.error || now.cut) {
				if (trouble != BROKEN)
					fail_msg("call %ld of %ld: %s", i, n, strerror(now.error));
				failures++;
			} else if (now.n_records != wanted.n_records || now.sum != wanted.sum) {
				fail_msg("trouble %d with call %ld of %ld: %llu records", trouble,
					 i, n, (unsigned long long)now.n_records);
			}
		}
		assert_int_equal(failures > 0, trouble == BROKEN);
	}
	remove(path);
	free(path);
}

static void test_plain(void **state)
{
	(void)state;
	check(NULL);
}

static void test_packed(void **state)
{
	(void)state;
	check(trace_gzip);
	check(trace_zstd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
