// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Hand-made perf.data files: losses, certain tasks, compressed records of both kinds, clocks,
 * counters, and files that cannot be read. libtracecmd reads the result.
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
#include <zstd.h>

#include "perf_data.h"
#include "temporary_file.h"
#include "trace_counters.h"
#include "trace_dat.h"

/** A file that goes through a pipe: only little-endian numbers, which this host has as well. */
static uint8_t file[1 << 20];
static size_t n_file;
static int fd;
static struct perf_facts facts;
static char problem[512];

static void put(const void *data, size_t n)
{
	assert_true(n_file + n <= sizeof(file));
	memcpy(file + n_file, data, n);
	n_file += n;
}

static void number(int bytes, uint64_t value)
{
	for (int i = 0; i < bytes; i++) {
		uint8_t byte = (uint8_t)(value >> 8 * i);

		put(&byte, 1);
	}
}

/** The head of a record whose size end() sets. Return: where it is. */
static size_t begin(uint32_t type, uint16_t misc)
{
	size_t at = n_file;

	number(4, type);
	number(2, misc);
	number(2, 0);
	return at;
}

static void end(size_t at)
{
	uint16_t size = (uint16_t)(n_file - at);

	memcpy(file + at + 6, &size, sizeof(size));
}

/** tid, time, cpu, raw, identifier */
#define SAMPLE_TYPE	(1 << 1 | 1 << 2 | 1 << 7 | 1 << 10 | 1 << 16)
#define USE_CLOCK	(1 << 25)
#define SWITCH_ID	7
#define OTHER_ID	9

/** Of the attributes that follow. */
static uint64_t config, read_format;

static void put_attr(uint32_t type, uint64_t sample_type, uint32_t flags, int32_t clock,
		     uint64_t id)
{
	size_t at = begin(64, 0);

	number(4, type);
	number(4, 128);
	number(8, config);
	number(8, 1);
	number(8, sample_type);
	number(8, read_format);
	number(8, flags);
	for (int i = 0; i < 44; i += 4)
		number(4, 0);
	number(4, (uint32_t)clock);	/* at 92 */
	for (int i = 96; i < 128; i += 4)
		number(4, 0);
	number(8, id);
	end(at);
}

static void put_format(const char *name, int id)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "name: %s\nID: %d\nformat:\n"
			 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			 "print fmt: \"x\"\n", name, id);

	number(8, (uint64_t)n);
	put(text, (size_t)n);
}

static void put_tracing(void)
{
	size_t at = begin(66, 0), size_at = n_file, start;

	number(4, 0);
	end(at);
	start = n_file;
	put("\x17\x08\x44tracing0.5", 14);
	number(2, 8 << 8);		/* little, long size */
	number(4, 4096);
	put("header_page", 12);
	number(8, 0);
	put("header_event", 13);
	number(8, 0);
	number(4, 0);
	number(4, 1);
	put("sched", 6);
	number(4, 2);
	put_format("sched_switch", SWITCH_ID);
	put_format("sched_waking", OTHER_ID);
	number(4, 0);
	number(4, 0);
	{
		uint32_t size = (uint32_t)(n_file - start);

		memcpy(file + size_at, &size, sizeof(size));
	}
	while ((n_file - start) % 8)
		number(1, 0);
}

static void begin_file(uint32_t flags, int32_t clock)
{
	n_file = 0;
	put("PERFILE2", 8);
	number(8, 16);
	put_attr(2, SAMPLE_TYPE, flags | 1 << 18, clock, 100);
	put_attr(2, SAMPLE_TYPE, flags | 1 << 18, clock, 101);
	put_tracing();
}

static void sample(uint32_t cpu, uint64_t ts, uint16_t event)
{
	size_t at = begin(9, 0);

	number(8, 100);
	number(8, 1);
	number(8, ts);
	number(8, cpu);
	number(4, 12);
	number(4, event);
	number(4, 4711);
	number(4, 0);
	end(at);
}

/** The fields of a sample at the end of other records. */
static void tail(uint32_t cpu, uint64_t ts, uint64_t id)
{
	number(8, 0);
	number(8, ts);
	number(8, cpu);
	number(8, id);
}

static void put_lost(uint32_t cpu, uint64_t ts, uint64_t n)
{
	size_t at = begin(2, 0);

	number(8, 100);
	number(8, n);
	tail(cpu, ts, 100);
	end(at);
}

static void put_sum(uint16_t misc, uint32_t cpu, uint64_t id, uint64_t n)
{
	size_t at = begin(13, misc);

	number(8, n);
	tail(cpu, 0, id);
	end(at);
}

static void put_round(void)
{
	end(begin(68, 0));
}

static void put_comm(uint32_t tid, const char *name)
{
	size_t at = begin(3, 0);
	char padded[16] = "";

	snprintf(padded, sizeof(padded), "%s", name);
	number(4, tid);
	number(4, tid);
	put(padded, sizeof(padded));
	tail(0, 0, 100);
	end(at);
}

static void put_fork(uint32_t tid, uint32_t maker)
{
	size_t at = begin(7, 0);

	number(4, tid);
	number(4, maker);
	number(4, tid);
	number(4, maker);
	number(8, 0);
	tail(0, 0, 100);
	end(at);
}

/* --- reading --------------------------------------------------------------------------------- */

/** Do not take counters. */
static bool no_counters;

static int convert(void)
{
	int spool = temporary_file(), ret;

	fd = temporary_file();
	assert_true(fd >= 0 && spool >= 0);
	ret = perf_data_convert(&(struct perf_input){
		.data = file, .size = n_file, .fd = fd, .spool = spool,
		.most_bytes = (uint64_t)256 << 20, .counters = !no_counters,
	}, &facts, problem, sizeof(problem));
	close(spool);
	assert_int_equal(!ret, !*problem);
	return ret;
}

static struct tracecmd_input *open_made(void)
{
	struct tracecmd_input *input;
	char path[32];

	assert_int_equal(0, convert());
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	assert_non_null(input);
	return input;
}

static void close_made(struct tracecmd_input *input)
{
	tracecmd_close(input);
	close(fd);
}

/** The next record of a CPU. */
static void expect(struct tracecmd_input *input, int cpu, uint64_t ts, int64_t missed)
{
	struct tep_record *record = tracecmd_read_data(input, cpu);

	assert_non_null(record);
	assert_int_equal(ts, record->ts);
	assert_int_equal(missed, record->missed_events);
	tracecmd_free_record(record);
}

static void expect_end(struct tracecmd_input *input, int cpu)
{
	assert_null(tracecmd_read_data(input, cpu));
}

/* --- tests ----------------------------------------------------------------------------------- */

/** The kernel writes a loss with a time after that of the sample that follows it. */
static void test_losses(void **state)
{
	struct tracecmd_input *input;

	(void)state;
	begin_file(0, 0);
	sample(0, 1000, OTHER_ID);
	sample(1, 1100, OTHER_ID);
	put_lost(0, 2050, 17);
	sample(0, 2000, OTHER_ID);
	put_round();
	/* 17 are known already; of CPU 1, none has been said before; a filter's are no losses */
	put_sum(0, 0, 100, 12);
	put_sum(0, 0, 101, 5);
	put_sum(0, 1, 101, 3);
	put_sum(1 << 15, 1, 101, 1000);
	input = open_made();
	expect(input, 0, 1000, 0);
	expect(input, 0, 2000, 17);
	expect_end(input, 0);
	expect(input, 1, 1100, 0);
	expect(input, 1, 2000, 3);
	expect_end(input, 1);
	assert_int_equal(20, facts.lost);
	assert_int_equal(3, facts.samples);
	close_made(input);
}

static void expect_name(struct tracecmd_input *input, int tid, const char *name)
{
	assert_string_equal(name, tep_data_comm_from_pid(tracecmd_get_tep(input), tid));
}

/** A thread without a name of its own has that of the thread which made it. */
static void test_names(void **state)
{
	struct tracecmd_input *input;

	(void)state;
	begin_file(0, 0);
	put_comm(10, "maker");
	put_fork(11, 10);
	put_fork(12, 10);
	put_comm(12, "renamed");
	/* the record of another CPU comes first */
	put_comm(13, "early");
	put_fork(13, 10);
	put_fork(14, 12);
	put_fork(15, 99);
	sample(0, 1000, OTHER_ID);
	input = open_made();
	expect_name(input, 10, "maker");
	expect_name(input, 11, "maker");
	expect_name(input, 12, "renamed");
	expect_name(input, 13, "early");
	expect_name(input, 14, "renamed");
	expect_name(input, 15, "<...>");
	close_made(input);
}

/** Of an unknown CPU, all are incomplete. */
static void test_unplaced(void **state)
{
	struct tracecmd_input *input;
	size_t at;

	(void)state;
	n_file = 0;
	put("PERFILE2", 8);
	number(8, 16);
	put_attr(2, SAMPLE_TYPE, 0, 0, 100);
	put_tracing();
	sample(0, 1000, OTHER_ID);
	sample(1, 1100, OTHER_ID);
	at = begin(2, 0);
	number(8, 100);
	number(8, 9);
	end(at);
	sample(0, 2000, OTHER_ID);
	sample(1, 2100, OTHER_ID);
	input = open_made();
	expect(input, 0, 1000, 0);
	expect(input, 0, 2000, -1);
	expect(input, 1, 1100, 0);
	expect(input, 1, 2100, -1);
	assert_int_equal(1, facts.unplaced);
	close_made(input);
}

/** Of certain tasks, nothing is known from the switch to another task on. */
static void test_tasks(void **state)
{
	struct tracecmd_input *input;
	size_t at;

	(void)state;
	begin_file(0, 0);
	at = begin(73, 0);
	number(8, 1);
	number(8, 4711);
	number(8, 0);
	number(8, 0);
	end(at);
	sample(0, 1000, OTHER_ID);
	sample(0, 2000, SWITCH_ID);
	sample(0, 3000, OTHER_ID);
	sample(0, 4000, OTHER_ID);
	input = open_made();
	assert_true(facts.is_per_task);
	expect(input, 0, 1000, 0);
	expect(input, 0, 2000, 0);
	expect(input, 0, 3000, -1);
	expect(input, 0, 4000, 0);
	close_made(input);
}

/** Samples of other events, of unknown ids, and too short ones. */
static void test_left_out(void **state)
{
	size_t at;

	(void)state;
	begin_file(0, 0);
	put_attr(0, SAMPLE_TYPE & ~(1 << 10), 1 << 18, 0, 200);
	for (int id = 199; id < 201; id++) {
		at = begin(9, 0);
		number(8, (uint64_t)id);
		number(8, 1);
		number(8, 500);
		number(8, 0);
		end(at);
	}
	at = begin(9, 0);
	number(8, 100);
	number(8, 1);
	end(at);
	sample(70000, 1000, OTHER_ID);
	sample(0, 1000, OTHER_ID);
	tracecmd_close(open_made());
	close(fd);
	assert_int_equal(1, facts.samples);
	assert_int_equal(1, facts.others);
	assert_int_equal(3, facts.unusable);
}

/** Compressed records of the older and the newer kind; samples go from one to the next. */
static void test_compressed(void **state)
{
	static uint8_t plain[8192], packed[16384];
	ZSTD_CStream *stream = ZSTD_createCStream();
	struct tracecmd_input *input;
	size_t before, n, done = 0;

	(void)state;
	begin_file(0, 0);
	before = n_file;
	for (uint64_t i = 0; i < 100; i++)
		sample(0, 1000 + i, OTHER_ID);
	n = n_file - before;
	memcpy(plain, file + before, n);
	n_file = before;
	while (done < n) {
		size_t piece = n - done < 1003 ? n - done : 1003;
		ZSTD_inBuffer in = { plain + done, piece, 0 };
		ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
		bool newer = done / 1003 % 2;
		size_t at;

		assert_false(ZSTD_isError(ZSTD_compressStream(stream, &out, &in)));
		assert_int_equal(0, ZSTD_flushStream(stream, &out));
		at = begin(newer ? 83 : 81, 0);
		if (newer)
			number(8, out.pos);
		put(packed, out.pos);
		while (newer && n_file % 8)
			number(1, 0xee);
		end(at);
		done += piece;
	}
	ZSTD_freeCStream(stream);
	input = open_made();
	for (uint64_t i = 0; i < 100; i++)
		expect(input, 0, 1000 + i, 0);
	expect_end(input, 0);
	assert_false(facts.is_damaged);
	close_made(input);
}

/** Return: the clock's name, as an option of the file has it. */
static void expect_clock(const char *name)
{
	char found[64] = "", text[4096];
	ssize_t n;

	sample(0, 1000, OTHER_ID);
	assert_int_equal(0, convert());
	n = pread(fd, text, sizeof(text), 0);
	assert_true(n > 0);
	for (ssize_t i = 0; i < n - 64; i++)
		if (!memcmp(text + i, "options  ", 9))
			snprintf(found, sizeof(found), "%.*s", 60, text + i + 16);
	assert_string_equal(name, found);
	close(fd);
}

static void test_clocks(void **state)
{
	(void)state;
	begin_file(0, 0);
	expect_clock("[perf]\n");
	begin_file(USE_CLOCK, 1);
	expect_clock("[mono]\n");
	begin_file(USE_CLOCK, 4);
	expect_clock("[mono_raw]\n");
}

static void expect_problem(const char *text)
{
	assert_true(convert() < 0);
	if (!strstr(problem, text))
		fail_msg("'%s' instead of '%s'", problem, text);
	close(fd);
}

/* --- counters -------------------------------------------------------------------------------- */

#define SAMPLE_READ	(1 << 4)

/** Bits of read_format. */
enum { ENABLED = 1, RUNNING = 2, ID = 4, GROUP = 8, LOST = 16 };

/** sched_switch (100), instructions in user mode (102) and cycles of the host (103) in a group. */
static void begin_counters(uint64_t format)
{
	n_file = 0;
	put("PERFILE2", 8);
	number(8, 16);
	read_format = format;
	put_attr(2, SAMPLE_TYPE | SAMPLE_READ, 1 << 18, 0, 100);
	config = 1;
	put_attr(0, SAMPLE_TYPE | SAMPLE_READ, 1 << 18 | 1 << 5, 0, 102);
	config = 0;
	put_attr(0, SAMPLE_TYPE | SAMPLE_READ, 1 << 18 | 1 << 20, 0, 103);
	read_format = 0;
	put_tracing();
}

/** A sample of sched_switch. @read: @n values and times as the format has them */
static void read_sample(uint32_t cpu, uint64_t ts, const uint64_t *read, size_t n)
{
	size_t at = begin(9, 0);

	number(8, 100);
	number(8, 1);
	number(8, ts);
	number(8, cpu);
	for (size_t i = 0; i < n; i++)
		number(8, read[i]);
	number(4, 12);
	number(4, SWITCH_ID);
	number(4, 4711);
	number(4, 0);
	end(at);
}

/** The readings of a file. Return: what trace_counters_open() does. */
static int open_counters(struct trace_counters *counters)
{
	tracecmd_close(open_made());
	return trace_counters_open(counters, fd);
}

static void close_counters(struct trace_counters *counters)
{
	trace_counters_close(counters);
	close(fd);
}

static void expect_reading(struct trace_counters *counters, uint32_t cpu, uint64_t ts, uint32_t n)
{
	struct trace_reading reading;

	assert_int_equal(1, trace_counters_next(counters, &reading));
	assert_int_equal(n, reading.n);
	assert_int_equal(cpu, reading.cpu);
	if (n == TRACE_READING_LOST)
		return;
	assert_int_equal(ts, reading.ts);
	assert_int_equal(4711, reading.pid);
}

/** Each format: with times or without, ids, and numbers of lost samples. */
static void test_groups(void **state)
{
	(void)state;
	for (uint64_t format = GROUP | ID; format < 32; format++) {
		bool has_enabled = format & ENABLED, has_running = format & RUNNING;
		uint64_t read[16] = { 3 };
		struct trace_counters counters;
		struct trace_reading reading;
		size_t n = 1;

		if (!(format & GROUP) || !(format & ID))
			continue;
		if (has_enabled)
			read[n++] = 900;
		if (has_running)
			read[n++] = 800;
		for (uint64_t i = 0; i < 3; i++) {
			read[n++] = 50 + i;
			read[n++] = i ? 101 + i : 100;
			if (format & LOST)
				read[n++] = 7;
		}
		begin_counters(format);
		read_sample(3, 1000, read, n);
		assert_int_equal(0, open_counters(&counters));
		assert_int_equal(2, counters.n);
		assert_string_equal("instructions", counters.counters[0].name);
		assert_string_equal("cycles", counters.counters[1].name);
		assert_int_equal(TRACE_COUNTS_HOST | TRACE_COUNTS_GUEST,
				 counters.counters[0].sides);
		assert_int_equal(TRACE_COUNTS_HOST, counters.counters[1].sides);
		assert_int_equal(counters.counters[0].group, counters.counters[1].group);
		assert_int_equal(1, trace_counters_next(&counters, &reading));
		assert_int_equal(2, reading.n);
		assert_int_equal(51, counters.values[0].value);
		assert_int_equal(52, counters.values[1].value);
		assert_true(reading.enabled_ns == (has_enabled ? 900 : TRACE_COUNTER_NO_TIME));
		assert_true(reading.running_ns == (has_running ? 800 : TRACE_COUNTER_NO_TIME));
		assert_int_equal(0, trace_counters_next(&counters, &reading));
		assert_int_equal(0, facts.uncounted);
		close_counters(&counters);
	}
}

/** Only the records are asked for. */
static void test_no_counters(void **state)
{
	static const uint64_t read[] = { 2, 51, 102, 53, 999 };
	struct trace_counters counters;

	(void)state;
	begin_counters(GROUP | ID);
	read_sample(0, 1000, read, 5);
	no_counters = true;
	assert_int_equal(-ENOENT, open_counters(&counters));
	no_counters = false;
	assert_int_equal(1, facts.samples);
	assert_int_equal(0, facts.uncounted);
	close_counters(&counters);
}

/** Without ids, which event a value is of is known only if there is one: of the sample itself. */
static void test_no_ids(void **state)
{
	static const uint64_t group[] = { 2, 51, 52 }, alone[] = { 51, 900, 800 };
	struct trace_counters counters;

	(void)state;
	begin_counters(GROUP);
	read_sample(0, 1000, group, 3);
	assert_int_equal(-ENOENT, open_counters(&counters));
	assert_int_equal(2, facts.uncounted);
	close_counters(&counters);
	/* how often a tracepoint came is no counter */
	begin_counters(ENABLED | RUNNING);
	read_sample(0, 1000, alone, 3);
	assert_int_equal(-ENOENT, open_counters(&counters));
	assert_int_equal(0, facts.uncounted);
	close_counters(&counters);
}

/** Losses, a late sample, an unknown id; a reading of another CPU stands apart. */
static void test_reading_losses(void **state)
{
	static const uint64_t read[] = { 2, 51, 102, 53, 999 };
	struct trace_counters counters;
	struct trace_reading reading;

	(void)state;
	begin_counters(GROUP | ID);
	read_sample(1, 1000, read, 5);
	read_sample(0, 1100, read, 5);
	put_lost(1, 1500, 3);
	read_sample(1, 2000, read, 5);
	assert_int_equal(0, open_counters(&counters));
	assert_int_equal(1, counters.n);
	assert_int_equal(3, facts.uncounted);
	expect_reading(&counters, 0, 1100, 1);
	expect_reading(&counters, 1, 1000, 1);
	expect_reading(&counters, 1, 0, TRACE_READING_LOST);
	expect_reading(&counters, 1, 2000, 1);
	assert_int_equal(0, trace_counters_next(&counters, &reading));
	close_counters(&counters);
}

/** Of certain tasks, the time between two readings of a CPU is not theirs. */
static void test_reading_tasks(void **state)
{
	static const uint64_t read[] = { 1, 51, 102 };
	struct trace_counters counters;
	size_t at;

	(void)state;
	begin_counters(GROUP | ID);
	at = begin(73, 0);
	number(8, 1);
	number(8, 4711);
	number(8, 0);
	number(8, 0);
	end(at);
	read_sample(0, 1000, read, 3);
	assert_int_equal(-ENOENT, open_counters(&counters));
	close_counters(&counters);
}

/** Values that say there are more than the sample has. */
static void test_reading_damage(void **state)
{
	static const uint64_t read[] = { 1000, 51, 102 }, huge[] = { UINT64_MAX, 51, 102 };
	struct trace_counters counters;

	(void)state;
	begin_counters(GROUP | ID);
	read_sample(0, 1000, read, 3);
	read_sample(0, 1100, huge, 3);
	assert_int_equal(-ENOENT, open_counters(&counters));
	assert_int_equal(2, facts.unusable);
	close_counters(&counters);
}

/** A feature of a file that goes through a pipe. */
static void put_feature(uint64_t feature, const void *data, size_t n)
{
	size_t at = begin(80, 0);

	number(8, feature);
	put(data, n);
	end(at);
}

static void put_names(uint8_t *part, size_t *n, const char *name, uint64_t id)
{
	const uint32_t sizes[] = { 1, (uint32_t)strlen(name) + 1 };

	memset(part + *n, 0, 64);
	*n += 64;
	memcpy(part + *n, sizes, sizeof(sizes));
	memcpy(part + *n + 8, name, sizes[1]);
	memcpy(part + *n + 8 + sizes[1], &id, sizeof(id));
	*n += 8 + sizes[1] + sizeof(id);
}

/** The names that perf gives events, in any order; one that is cut short leaves the numbers. */
static void test_names_of_counters(void **state)
{
	static const uint64_t read[] = { 2, 51, 102, 52, 103 };
	uint8_t part[512] = { 3, 0, 0, 0, 64, 0, 0, 0 };
	size_t n = 8, whole;

	(void)state;
	put_names(part, &n, "cpu/cycles/H", 103);
	put_names(part, &n, "sched:sched_switch", 100);
	put_names(part, &n, "instructions:u", 102);
	for (whole = n; n; n--) {
		struct trace_counters counters;
		const char *name;

		begin_counters(GROUP | ID);
		put_feature(12, part, n);
		read_sample(0, 1000, read, 5);
		assert_int_equal(0, open_counters(&counters));
		name = counters.counters[0].name;
		if (n == whole)
			assert_string_equal("instructions:u", name);
		else if (n < whole - 8)
			assert_string_equal("instructions", name);
		name = counters.counters[1].name;
		assert_true(!strcmp(name, "cpu/cycles/H") ||
			    (n < whole && !strcmp(name, "cycles")));
		assert_true(n < whole ||
			    !strcmp(counters.counters[0].read_at, "sched:sched_switch"));
		close_counters(&counters);
	}
}

static void test_problems(void **state)
{
	(void)state;
	n_file = 0;
	put("PERFILE2", 8);
	expect_problem("cut short");
	number(8, 16);
	expect_problem("without tracepoints");
	put_attr(0, SAMPLE_TYPE, 0, 0, 1);
	expect_problem("without tracepoints");
	put_attr(2, SAMPLE_TYPE, 0, 0, 1);
	expect_problem("the formats of its tracepoints are not there");
	put_tracing();
	assert_int_equal(0, convert());
	close(fd);
	/* a record that says it is larger than the file */
	number(4, 9);
	number(4, UINT64_C(0xff00) << 16);
	assert_int_equal(0, convert());
	assert_int_equal(n_file - 8, facts.damaged_at);
	close(fd);
	/* what was compressed is not */
	n_file -= 8;
	end(begin(81, 0));
	put("\x51\0\0\0\0\0\x10\0not zstd", 16);
	assert_int_equal(0, convert());
	assert_int_equal(n_file - 16, facts.damaged_at);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_unplaced),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_no_counters),
		cmocka_unit_test(test_no_ids),
		cmocka_unit_test(test_reading_losses),
		cmocka_unit_test(test_reading_tasks),
		cmocka_unit_test(test_reading_damage),
		cmocka_unit_test(test_names_of_counters),
		cmocka_unit_test(test_problems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
