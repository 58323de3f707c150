// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files that trace_dat_join.h makes of two, read by libtracecmd: losses stay where they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <trace-cmd.h>

#include "temporary_file.h"
#include "trace_dat_join.h"
#include "trace_dat_write.h"

#define EVENT	1234
#define N_CPUS	2
#define LOST	0	/* instead of a time */

static const char format[] =
	"name: ping\nID: 1234\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"\"\n";

/** A file with records of one CPU. @path: receives its name. Return: its descriptor */
static int make(int cpu, const uint64_t *times, size_t n, char path[32])
{
	const struct trace_dat_about about = {
		.long_size = 8, .n_cpus = N_CPUS, .clock = "mono", .uname = "Linux there 6.1.0",
	};
	const uint8_t record[12] = { EVENT & 255, EVENT >> 8 };
	int fd = temporary_file(), spool = temporary_file();
	struct trace_dat_writer *writer = trace_dat_writer_new(fd, spool, &about);

	assert_non_null(writer);
	assert_int_equal(0, trace_dat_writer_event(writer, EVENT, "test", format,
						   sizeof(format) - 1));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(0, times[i] == LOST ? trace_dat_writer_lost(writer, cpu, 7) :
				 trace_dat_writer_record(writer, cpu, times[i], record,
							 sizeof(record)));
	assert_int_equal(0, trace_dat_writer_finish(writer));
	trace_dat_writer_free(writer);
	close(spool);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/** Check the records of a CPU: their times; after losses, the number of those comes before. */
static void check_cpu(struct tracecmd_input *input, int cpu, const int64_t *want, size_t n)
{
	struct tep_record *record = tracecmd_read_cpu_first(input, cpu);

	for (size_t i = 0; i < n; i++) {
		int64_t lost = want[i] < 1000 ? want[i++] : 0;

		assert_non_null(record);
		assert_int_equal(lost, record->missed_events);
		assert_int_equal(want[i], record->ts);
		tracecmd_free_record(record);
		record = tracecmd_read_data(input, cpu);
	}
	assert_null(record);
}

/** Of one time: 2000 to 8000 is what both cover; losses lie before it, in it, across its ends. */
static void test_losses_of_one_time(void **state)
{
	static const uint64_t one[] = { 1000, LOST, 1500, 3000, LOST, 4000, 7000, LOST, 9000, LOST,
					9500 };
	static const uint64_t other[] = { 2000, 5000, 8000 };
	static const int64_t want_one[] = { 3000, 7, 4000, 7000, -1, 8000 };
	static const int64_t want_other[] = { 2000, 5000, 8000 };
	struct trace_dat_joined joined;
	struct tracecmd_input *input;
	char paths[2][32], path[32], error[512];
	const char *names[] = { paths[1], paths[0] };
	int fds[2], fd = temporary_file();

	(void)state;
	fds[0] = make(0, one, sizeof(one) / sizeof(one[0]), paths[0]);
	fds[1] = make(1, other, sizeof(other) / sizeof(other[0]), paths[1]);
	assert_int_equal(0, trace_dat_join(names, 2, fd, &joined, error, sizeof(error)));
	assert_ptr_equal(paths[0], names[0]);
	assert_ptr_equal(paths[1], names[1]);
	assert_true(joined.is_parallel);
	assert_int_equal(6, joined.n_records);
	assert_int_equal(4, joined.n_left_out);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	assert_non_null(input);
	check_cpu(input, 0, want_one, sizeof(want_one) / sizeof(want_one[0]));
	check_cpu(input, 1, want_other, sizeof(want_other) / sizeof(want_other[0]));
	tracecmd_close(input);
	close(fds[0]);
	close(fds[1]);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses_of_one_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
