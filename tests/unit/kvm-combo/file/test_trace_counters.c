// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counters at the end of a trace.dat: what went in comes out again, libtracecmd does not mind them,
 * and damage is found.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <trace-cmd.h>

#include "temporary_file.h"
#include "trace_counters.h"
#include "trace_dat_write.h"

/** More than is read at once. */
#define N_READINGS	3000
#define N_COUNTERS	3

static int fd;

static const struct trace_counter counters[N_COUNTERS] = {
	{ .name = "cycles", .read_at = "sched:sched_switch", .sides = TRACE_COUNTS_HOST },
	{ .name = "instructions:u", .read_at = "sched:sched_switch", .modes = 2 },
	{ .name = "msr/tsc/", .read_at = "kvm:kvm_entry", .group = 1 },
};

static uint64_t value_of(uint32_t cpu, uint64_t i, uint64_t counter)
{
	return cpu * 1000000 + i * 10 + counter;
}

/** The readings of CPUs 5 and 2 in turns; one is lost. @most: for both files, or 0 */
static int write_file(uint32_t n_counters, uint64_t most)
{
	const struct trace_dat_about about = { .long_size = 8, .most_bytes = most };
	struct trace_counter_value values[N_COUNTERS];
	int spool = temporary_file(), ret = 0;
	struct trace_dat_writer *writer;

	fd = temporary_file();
	assert_true(fd >= 0 && spool >= 0);
	writer = trace_dat_writer_new(fd, spool, &about);
	assert_non_null(writer);
	assert_int_equal(0, trace_dat_writer_record(writer, 2, 1000, "\1\0\0\0\0\0\0", 8));
	for (uint64_t i = 0; i < N_READINGS && !ret; i++) {
		for (uint32_t cpu = 2; cpu <= 5 && !ret; cpu += 3) {
			struct trace_reading reading = {
				.cpu = cpu, .n = i == 7 ? TRACE_READING_LOST : (uint32_t)(i % 4),
				.ts = 1000 + i, .enabled_ns = i, .pid = (int32_t)i,
				.running_ns = TRACE_COUNTER_NO_TIME,
			};

			for (uint64_t k = 0; k < N_COUNTERS; k++)
				values[k] = (struct trace_counter_value){ k, value_of(cpu, i, k) };
			ret = trace_dat_writer_reading(writer, &reading, values);
		}
	}
	trace_dat_writer_counters(writer, counters, n_counters);
	if (!ret)
		ret = trace_dat_writer_finish(writer);
	trace_dat_writer_free(writer);
	close(spool);
	return ret;
}

static void expect_reading(struct trace_counters *read, uint32_t cpu, uint64_t i)
{
	struct trace_reading reading;

	assert_int_equal(1, trace_counters_next(read, &reading));
	assert_int_equal(cpu, reading.cpu);
	assert_int_equal(1000 + i, reading.ts);
	assert_int_equal(i, reading.enabled_ns);
	assert_int_equal(i, reading.pid);
	assert_true(reading.running_ns == TRACE_COUNTER_NO_TIME);
	assert_int_equal(i == 7 ? TRACE_READING_LOST : i % 4, reading.n);
	for (uint64_t k = 0; i != 7 && k < reading.n; k++) {
		assert_int_equal(k, read->values[k].counter);
		assert_int_equal(value_of(cpu, i, k), read->values[k].value);
	}
}

static void test_readings(void **state)
{
	struct tracecmd_input *input;
	struct trace_counters read;
	struct trace_reading reading;
	struct tep_record *record;
	char path[32];

	(void)state;
	assert_int_equal(0, write_file(N_COUNTERS, 0));
	assert_int_equal(0, trace_counters_open(&read, fd));
	assert_int_equal(N_COUNTERS, read.n);
	for (uint32_t i = 0; i < N_COUNTERS; i++)
		assert_memory_equal(&counters[i], &read.counters[i], sizeof(counters[i]));
	for (uint32_t cpu = 2; cpu <= 5; cpu += 3)
		for (uint64_t i = 0; i < N_READINGS; i++)
			expect_reading(&read, cpu, i);
	assert_int_equal(0, trace_counters_next(&read, &reading));
	trace_counters_close(&read);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	assert_non_null(input);
	record = tracecmd_read_data(input, 2);
	assert_non_null(record);
	assert_int_equal(1000, record->ts);
	tracecmd_free_record(record);
	assert_null(tracecmd_read_data(input, 2));
	tracecmd_close(input);
	close(fd);
}

/** Not declared, they are left out; a file must not be longer than is allowed. */
static void test_none(void **state)
{
	struct trace_counters read;

	(void)state;
	assert_int_equal(0, write_file(0, 0));
	assert_int_equal(-ENOENT, trace_counters_open(&read, fd));
	trace_counters_close(&read);
	assert_int_equal(0, ftruncate(fd, 0));
	assert_int_equal(-ENOENT, trace_counters_open(&read, fd));
	trace_counters_close(&read);
	close(fd);
	assert_int_equal(-EFBIG, write_file(N_COUNTERS, 500000));
	close(fd);
	assert_int_equal(0, write_file(0, 500000));
	close(fd);
}

static void test_limits(void **state)
{
	const struct trace_dat_about about = { .long_size = 8 };
	struct trace_counter_value values[TRACE_COUNTERS_MOST] = { { 0 } };
	struct trace_reading reading = { .cpu = TRACE_DAT_WRITE_CPUS };
	struct trace_dat_writer *writer;

	(void)state;
	fd = temporary_file();
	writer = trace_dat_writer_new(fd, fd, &about);
	assert_non_null(writer);
	assert_int_equal(-ERANGE, trace_dat_writer_reading(writer, &reading, values));
	reading = (struct trace_reading){ .n = TRACE_COUNTERS_MOST + 1 };
	assert_int_equal(-EMSGSIZE, trace_dat_writer_reading(writer, &reading, values));
	reading.n = TRACE_COUNTERS_MOST;
	assert_int_equal(0, trace_dat_writer_reading(writer, &reading, values));
	trace_dat_writer_free(writer);
	close(fd);
}

/** All of the readings. Return: what the last one was. */
static int read_all(void)
{
	struct trace_counters read;
	struct trace_reading reading;
	int ret = trace_counters_open(&read, fd);

	if (!ret)
		do
			ret = trace_counters_next(&read, &reading);
		while (ret == 1);
	trace_counters_close(&read);
	return ret;
}

/** Change a number at an offset from the head of the counters on. */
static int read_changed(off_t begin, off_t at, const void *number, size_t size)
{
	uint8_t before[8];
	int ret;

	assert_int_equal(size, pread(fd, before, size, begin + at));
	assert_int_equal(size, pwrite(fd, number, size, begin + at));
	ret = read_all();
	assert_int_equal(size, pwrite(fd, before, size, begin + at));
	return ret;
}

static void test_damage(void **state)
{
	const uint64_t none = 0, many = TRACE_COUNTERS_MOST + 1, far = UINT64_MAX;
	const off_t first = 16 + N_COUNTERS * (off_t)sizeof(struct trace_counter);
	const uint32_t cpu = 9, most = TRACE_COUNTERS_MOST;
	uint64_t begin;
	off_t end;

	(void)state;
	assert_int_equal(0, write_file(N_COUNTERS, 0));
	end = lseek(fd, 0, SEEK_END);
	assert_int_equal(8, pread(fd, &begin, 8, end - 16));
	assert_int_equal(0, read_all());
	/* the foot, the head, the number of counters */
	assert_int_equal(-EBADMSG, read_changed(end - 16, 0, &far, 8));
	assert_int_equal(-ENOENT, read_changed(end - 16, 8, &none, 8));
	assert_int_equal(-EBADMSG, read_changed((off_t)begin, 0, &none, 8));
	assert_int_equal(-EBADMSG, read_changed((off_t)begin, 8, &none, 8));
	assert_int_equal(-EBADMSG, read_changed((off_t)begin, 8, &many, 8));
	/* the first reading has no value, the second one has one */
	assert_int_equal(-EBADMSG, read_changed((off_t)begin, first, &cpu, 4));
	assert_int_equal(-EBADMSG, read_changed((off_t)begin, first + 4, &many, 4));
	assert_int_equal(-EBADMSG, read_changed((off_t)begin, first + 4, &most, 4));
	assert_int_equal(-EBADMSG, read_changed((off_t)begin,
						first + 2 * (off_t)sizeof(struct trace_reading),
						&far, 8));
	/* cut short */
	for (off_t at = (off_t)begin; at < (off_t)begin + 2000; at += 13) {
		uint8_t foot[16];

		assert_int_equal(16, pread(fd, foot, 16, end - 16));
		assert_int_equal(0, ftruncate(fd, at));
		assert_int_equal(16, pwrite(fd, foot, 16, at));
		if (at < (off_t)begin + first)
			assert_int_equal(-EBADMSG, read_all());
		else
			assert_true(read_all() <= 0);
		close(fd);
		assert_int_equal(0, write_file(N_COUNTERS, 0));
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readings),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
