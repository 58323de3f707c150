// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files that trace_dat_write.h makes, read by libtracecmd: it must find the records, times, losses
 * and names that went in.
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
#include "trace_dat.h"
#include "trace_dat_pages.h"
#include "trace_dat_write.h"

#define N_CPUS		5
#define N_RECORDS	20000
#define EVENT		1234

/** A record that went in; its bytes follow from its number. */
struct made {
	int		cpu;
	uint64_t	ts, lost;
	bool		has_lost;
	size_t		size;
};

static struct made made[N_RECORDS];
static int fd, spool;

static const char format[] =
	"name: ping\nID: 1234\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned int n;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"n=%u\", REC->n\n";

/** The same on every run. */
static uint32_t next_random(void)
{
	static uint32_t state = 12345;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static void put_number(uint8_t *to, int bytes, uint64_t value, bool big)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

/** common_type, pid 4711, the number of the record, and bytes that depend on it. */
static void make_bytes(uint8_t *to, size_t size, uint32_t n, bool big)
{
	memset(to, 0, 12);
	put_number(to, 2, EVENT, big);
	put_number(to + 4, 4, 4711, big);
	put_number(to + 8, 4, n, big);
	for (size_t i = 12; i < size; i++)
		to[i] = (uint8_t)(n + 7 * i);
}

/** Most records are near to the one before and small; some are far away, large, or after losses. */
static void plan(size_t most)
{
	uint64_t ts[N_CPUS];

	for (int i = 0; i < N_CPUS; i++)
		ts[i] = 1000000000000 + (uint64_t)i;
	memset(made, 0, sizeof(made));
	for (size_t i = 0; i < N_RECORDS; i++) {
		uint32_t kind = next_random() % 1000;

		/* CPU 3 stays empty */
		made[i].cpu = (int)(next_random() % (N_CPUS - 1));
		made[i].cpu += made[i].cpu == 3;
		ts[made[i].cpu] += kind < 20 ? (UINT64_C(1) << 27) - 10 + kind :
				   kind < 25 ? UINT64_C(1) << 36 : next_random() % 5000;
		made[i].ts = ts[made[i].cpu];
		made[i].has_lost = next_random() % 500 == 0;
		made[i].lost = made[i].has_lost ? next_random() % 3 * 1000 : 0;
		made[i].size = kind < 200 ? 104 + kind % 24 :
			       kind < 210 ? 12 + next_random() % most : 12 + kind % 80;
	}
}

static struct trace_dat_writer *begin(bool big, uint8_t long_size)
{
	const struct trace_dat_about about = {
		.big_endian = big, .long_size = long_size, .clock = "mono",
		.uname = "Linux there 6.1.0", .trace_id = 0x123456789abcdef0,
	};
	struct trace_dat_writer *writer;

	fd = temporary_file();
	spool = temporary_file();
	assert_true(fd >= 0 && spool >= 0);
	writer = trace_dat_writer_new(fd, spool, &about);
	assert_non_null(writer);
	assert_int_equal(0, trace_dat_writer_event(writer, EVENT, "test", format,
						   sizeof(format) - 1));
	/* it is known already */
	assert_int_equal(0, trace_dat_writer_event(writer, EVENT, "other", "?", 1));
	assert_int_equal(0, trace_dat_writer_comm(writer, 4711, "before"));
	assert_int_equal(0, trace_dat_writer_comm(writer, 4711, "CPU 0/KVM"));
	assert_int_equal(0, trace_dat_writer_comm(writer, 1, "a\nb"));
	return writer;
}

/** Complete the file, and let libtracecmd open it. */
static struct tracecmd_input *end(struct trace_dat_writer *writer)
{
	struct tracecmd_input *input;
	struct trace_dat_info info;
	char path[32], problem[512] = "";

	assert_int_equal(0, trace_dat_writer_finish(writer));
	trace_dat_writer_free(writer);
	close(spool);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_true(trace_dat_check(path, problem, sizeof(problem), &info));
	assert_int_equal(TRACE_DAT_NS, info.unit);
	input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	assert_non_null(input);
	return input;
}

static uint64_t number(struct tracecmd_input *input, struct tep_record *record, int at, int bytes)
{
	return tep_read_number(tracecmd_get_tep(input), (uint8_t *)record->data + at, bytes);
}

static void check_record(struct tracecmd_input *input, struct tep_record *record,
			 const struct made *want, bool big)
{
	static uint8_t bytes[TRACE_DAT_WRITE_RECORD];
	size_t padded = (want->size + 3) & ~(size_t)3;

	assert_non_null(record);
	memset(bytes, 0, padded);
	make_bytes(bytes, want->size, (uint32_t)(want - made), big);
	assert_int_equal(want->ts, record->ts);
	assert_int_equal(padded, record->size);
	assert_memory_equal(bytes, record->data, padded);
	assert_int_equal(EVENT, number(input, record, 0, 2));
	assert_int_equal(want - made, number(input, record, 8, 4));
	assert_int_equal(!want->has_lost ? 0 : want->lost ? (int64_t)want->lost : -1,
			 record->missed_events);
}

static void check_file(struct tracecmd_input *input, bool big)
{
	struct tep_handle *tep = tracecmd_get_tep(input);
	int cpu_records[N_CPUS] = { 0 };

	assert_int_equal(N_CPUS, tep_get_cpus(tep));
	assert_int_equal(0x123456789abcdef0, tracecmd_get_traceid(input));
	assert_string_equal("CPU 0/KVM", tep_data_comm_from_pid(tep, 4711));
	assert_string_equal("a?b", tep_data_comm_from_pid(tep, 1));
	assert_non_null(tep_find_event_by_name(tep, "test", "ping"));
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		struct tep_record *record = tracecmd_read_cpu_first(input, cpu);

		for (size_t i = 0; i < N_RECORDS; i++) {
			if (made[i].cpu != cpu)
				continue;
			check_record(input, record, &made[i], big);
			cpu_records[cpu]++;
			tracecmd_free_record(record);
			record = tracecmd_read_data(input, cpu);
		}
		assert_null(record);
	}
	assert_int_equal(0, cpu_records[3]);
	assert_true(cpu_records[0] > N_RECORDS / 5);
}

static void round_trip(bool big, uint8_t long_size, size_t most)
{
	static uint8_t bytes[TRACE_DAT_WRITE_RECORD];
	struct trace_dat_writer *writer = begin(big, long_size);
	struct tracecmd_input *input;

	plan(most);
	for (size_t i = 0; i < N_RECORDS; i++) {
		/* two losses in a row are one */
		if (made[i].has_lost && made[i].lost)
			assert_int_equal(0, trace_dat_writer_lost(writer, made[i].cpu, 1));
		if (made[i].has_lost)
			assert_int_equal(0, trace_dat_writer_lost(writer, made[i].cpu,
						made[i].lost ? made[i].lost - 1 : 0));
		make_bytes(bytes, made[i].size, (uint32_t)i, big);
		assert_int_equal(0, trace_dat_writer_record(writer, made[i].cpu, made[i].ts, bytes,
							    made[i].size));
	}
	input = end(writer);
	check_file(input, big);
	tracecmd_close(input);
	close(fd);
}

static void test_small(void **state)
{
	(void)state;
	round_trip(false, 8, 200);
}

static void test_large(void **state)
{
	(void)state;
	round_trip(false, 8, 10000);
	round_trip(false, 8, 120000);
}

static void test_other_hosts(void **state)
{
	(void)state;
	round_trip(true, 8, 10000);
	round_trip(true, 4, 200);
	round_trip(false, 4, 10000);
}

/** The largest record, and losses that no record follows. */
static void test_ends(void **state)
{
	static uint8_t bytes[TRACE_DAT_WRITE_RECORD + 1];
	struct trace_dat_writer *writer = begin(false, 8);
	struct tracecmd_input *input;
	struct tep_record *record;
	struct tep_event *event;

	(void)state;
	make_bytes(bytes, sizeof(bytes), 5, false);
	assert_int_equal(-EMSGSIZE, trace_dat_writer_record(writer, 0, 1, bytes, sizeof(bytes)));
	assert_int_equal(-ERANGE, trace_dat_writer_record(writer, TRACE_DAT_WRITE_CPUS, 1, "", 0));
	assert_int_equal(-ERANGE, trace_dat_writer_lost(writer, -1, 1));
	assert_int_equal(0, trace_dat_writer_record(writer, 0, 77, bytes, sizeof(bytes) - 1));
	assert_int_equal(0, trace_dat_writer_lost(writer, 0, 42));
	assert_int_equal(0, trace_dat_writer_lost(writer, 1, 0));
	input = end(writer);
	event = tep_find_event_by_name(tracecmd_get_tep(input), "kshark_virt", "records_lost");
	assert_non_null(event);
	record = tracecmd_read_cpu_first(input, 0);
	assert_non_null(record);
	assert_int_equal(sizeof(bytes) - 1, record->size);
	assert_memory_equal(bytes, record->data, sizeof(bytes) - 1);
	assert_int_equal(0, record->missed_events);
	tracecmd_free_record(record);
	record = tracecmd_read_data(input, 0);
	assert_non_null(record);
	assert_int_equal(77, record->ts);
	assert_int_equal(42, record->missed_events);
	assert_int_equal(event->id, tep_data_type(tracecmd_get_tep(input), record));
	assert_int_equal(-1, tep_data_pid(tracecmd_get_tep(input), record));
	tracecmd_free_record(record);
	record = tracecmd_read_cpu_first(input, 1);
	assert_non_null(record);
	assert_int_equal(77, record->ts);
	assert_int_equal(-1, record->missed_events);
	tracecmd_free_record(record);
	tracecmd_close(input);
	close(fd);
}

/** Times that go back, and those beyond 59 bits, stay as they are. */
static void test_times(void **state)
{
	static const uint64_t times[] = {
		5000000000, 4999999999, 5000000001, 10, UINT64_C(1) << 58, UINT64_C(1) << 60,
		(UINT64_C(1) << 60) - 1, 3, INT64_MAX,
	};
	struct trace_dat_writer *writer = begin(false, 8);
	struct tracecmd_input *input;
	struct tep_record *record;
	uint8_t bytes[12];
	size_t n = sizeof(times) / sizeof(times[0]);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		make_bytes(bytes, sizeof(bytes), (uint32_t)i, false);
		assert_int_equal(0, trace_dat_writer_record(writer, 2, times[i], bytes,
							    sizeof(bytes)));
	}
	input = end(writer);
	record = tracecmd_read_cpu_first(input, 2);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(record);
		assert_int_equal(times[i], record->ts);
		assert_int_equal(i, number(input, record, 8, 4));
		tracecmd_free_record(record);
		record = tracecmd_read_data(input, 2);
	}
	assert_null(record);
	tracecmd_close(input);
	close(fd);
}

/** More CPUs than have room in memory at the same time, one record each in turn. */
static void test_many_cpus(void **state)
{
	struct trace_dat_writer *writer = begin(false, 8);
	struct tracecmd_input *input;
	uint8_t bytes[12];
	uint32_t n = 0;
	int most = 700;

	(void)state;
	for (int round = 0; round < 20; round++)
		for (int cpu = 0; cpu < most; cpu++, n++) {
			make_bytes(bytes, sizeof(bytes), n, false);
			assert_int_equal(0, trace_dat_writer_record(writer, cpu, 1000 + n, bytes,
								    sizeof(bytes)));
		}
	input = end(writer);
	assert_int_equal(most, tep_get_cpus(tracecmd_get_tep(input)));
	for (int cpu = 0; cpu < most; cpu++) {
		struct tep_record *record = tracecmd_read_cpu_first(input, cpu);

		for (int round = 0; round < 20; round++) {
			assert_non_null(record);
			assert_int_equal(round * most + cpu, number(input, record, 8, 4));
			assert_int_equal(1000 + round * most + cpu, record->ts);
			tracecmd_free_record(record);
			record = tracecmd_read_data(input, cpu);
		}
		assert_null(record);
	}
	tracecmd_close(input);
	close(fd);
}

/** After the places of the pages, libtracecmd reads the clock: its size, and it. */
static void test_clock(void **state)
{
	static const char tag[] = "flyrecord", clock[] = "[mono]\n";
	const struct trace_dat_about about = { .long_size = 8, .n_cpus = 3, .clock = "mono" };
	uint8_t head[4096];
	uint64_t size;
	char *at;

	(void)state;
	fd = temporary_file();
	spool = temporary_file();
	for (int has_clock = 0; has_clock < 2; has_clock++) {
		struct trace_dat_about one = about;
		struct trace_dat_writer *writer;

		one.clock = has_clock ? about.clock : NULL;
		writer = trace_dat_writer_new(fd, spool, &one);
		assert_non_null(writer);
		assert_int_equal(0, trace_dat_writer_finish(writer));
		trace_dat_writer_free(writer);
		assert_int_equal(sizeof(head), pread(fd, head, sizeof(head), 0));
		at = memmem(head, sizeof(head), tag, sizeof(tag));
		assert_non_null(at);
		at += sizeof(tag) + 3 * 16UL;
		memcpy(&size, at, sizeof(size));
		assert_int_equal(has_clock ? sizeof(clock) - 1 : 0, size);
		if (has_clock)
			assert_memory_equal(at + sizeof(size), clock, sizeof(clock) - 1);
	}
	close(fd);
	close(spool);
}

/** An error stays, and the limit counts both files. */
static void test_limits(void **state)
{
	const struct trace_dat_about bad = { .long_size = 5 };
	const struct trace_dat_about small = { .long_size = 8, .most_bytes = 100000 };
	struct trace_dat_writer *writer;
	uint8_t bytes[100];
	int ret = 0, n = 0;

	(void)state;
	fd = temporary_file();
	spool = temporary_file();
	assert_null(trace_dat_writer_new(fd, spool, &bad));
	assert_int_equal(EINVAL, errno);
	writer = trace_dat_writer_new(fd, spool, &small);
	assert_non_null(writer);
	assert_int_equal(-EINVAL, trace_dat_writer_event(writer, 1, "", format, 5));
	make_bytes(bytes, sizeof(bytes), 1, false);
	for (; !ret && n < 10000; n++)
		ret = trace_dat_writer_record(writer, 0, (uint64_t)n, bytes, sizeof(bytes));
	assert_int_equal(-EFBIG, ret);
	assert_in_range(n, 100000 / 120, 100000 / 100);
	assert_int_equal(-EFBIG, trace_dat_writer_lost(writer, 0, 1));
	assert_int_equal(-EFBIG, trace_dat_writer_comm(writer, 1, "x"));
	assert_int_equal(-EFBIG, trace_dat_writer_finish(writer));
	trace_dat_writer_free(writer);
	trace_dat_writer_free(NULL);
	close(fd);
	close(spool);
}

/** A record that fills its page, after a known number of lost ones: the page has no room for it. */
static void test_full_page_after_loss(void **state)
{
	enum { PAGE = 4096, RECORD = PAGE - 16 - 8, BEYOND = 16 };
	uint8_t data[PAGE + BEYOND], record[RECORD] = { 0 };
	struct dat_page page = { .data = data, .size = PAGE, .long_size = 8 };
	uint32_t commit;

	(void)state;
	memset(data, 0xee, sizeof(data));
	dat_page_lost(&page, 5);
	assert_true(dat_page_add(&page, 1000, record, sizeof(record)));
	assert_false(dat_page_add(&page, 1001, record, 4));
	assert_int_equal(dat_page_end(&page), PAGE);
	for (size_t i = PAGE; i < sizeof(data); i++)
		assert_int_equal(data[i], 0xee);
	/* records are lost; how many is not known */
	memcpy(&commit, data + 8, sizeof(commit));
	assert_int_equal(commit >> 30, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_other_hosts),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_many_cpus),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_full_page_after_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
