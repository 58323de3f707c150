// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The contents of trace.dat files without libtracecmd: hand-made ones of versions 6 and 7, in
 * both orders of bytes, sound and hostile.
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

#include "array.h"
#include "temporary_file.h"
#include "trace_dat.h"

static char path[] = "/tmp/ksv-trace-dat-XXXXXX";

/** A file that is being made. */
struct made {
	uint8_t		data[4096];
	size_t		n;
	bool		big;
};

static void put(struct made *made, const void *data, size_t n)
{
	assert_true(made->n + n <= sizeof(made->data));
	memcpy(made->data + made->n, data, n);
	made->n += n;
}

static void number(struct made *made, int bytes, uint64_t value)
{
	for (int i = 0; i < bytes; i++) {
		int shift = 8 * (made->big ? bytes - 1 - i : i);
		uint8_t byte = (uint8_t)(value >> shift);

		put(made, &byte, 1);
	}
}

static void text(struct made *made, const char *string)
{
	put(made, string, strlen(string) + 1);
}

static void option(struct made *made, unsigned int id, const void *data, size_t n)
{
	number(made, 2, id);
	number(made, 4, n);
	put(made, data, n);
}

static void head(struct made *made, const char *version)
{
	made->n = 0;
	put(made, "\x17\x08\x44tracing", 10);
	text(made, version);
	number(made, 1, made->big);
	number(made, 1, 8);
	number(made, 4, 4096);
}

/** Version 7, up to the data of the options. Return: where their size belongs. */
static size_t begin(struct made *made)
{
	head(made, "7");
	text(made, "none");
	text(made, "");
	number(made, 8, made->n + 8);
	number(made, 2, 0);
	number(made, 2, 0);
	number(made, 4, 0);
	number(made, 8, 0);
	return made->n - 8;
}

static void end(struct made *made, size_t size_at, uint64_t next)
{
	size_t n;

	number(made, 2, 0);
	number(made, 4, 8);
	number(made, 8, next);
	n = made->n;
	made->n = size_at;
	number(made, 8, n - size_at - 8);
	made->n = n;
}

static void save(const struct made *made)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(made->data, 1, made->n, file), made->n);
	fclose(file);
}

static bool check(const struct made *made, struct trace_dat_info *info, const char *says)
{
	char problem[512];
	bool ok;

	save(made);
	ok = trace_dat_check(path, problem, sizeof(problem), info);
	assert_int_equal(ok, !*problem);
	if (says && !strstr(problem, says))
		fail_msg("'%s' is not in '%s'", says, problem);
	return ok;
}

static void buffer(struct made *made, const char *clock, uint64_t offset, uint64_t size)
{
	struct made data = { .big = made->big };

	number(&data, 8, 0);
	text(&data, "");
	text(&data, clock);
	number(&data, 4, 4096);
	number(&data, 4, 1);
	number(&data, 4, 0);
	number(&data, 8, offset);
	number(&data, 8, size);
	option(made, 3, data.data, data.n);
}

static void scale(struct made *made, uint64_t mult)
{
	struct made data = { .big = made->big };

	number(&data, 4, mult);
	number(&data, 4, 31);
	number(&data, 8, 0);
	option(made, 14, data.data, data.n);
}

#define CLOCKS(chosen)	"local global " chosen "\n"

static void units(void **state)
{
	static const struct {
		const char	*clocks, *buffer;
		int		mult;		/* -1: there is no scale */
		enum trace_dat_unit unit;
		const char	*clock;
	} cases[] = {
		{ CLOCKS("[mono] x86-tsc"), "mono", -1, TRACE_DAT_NS, "mono" },
		{ CLOCKS("mono [x86-tsc]"), "x86-tsc", -1, TRACE_DAT_CYCLES, "x86-tsc" },
		/* as trace-cmd records a host and a guest, and what convert makes of it */
		{ CLOCKS("mono [x86-tsc]"), "tsc2nsec", 933697879, TRACE_DAT_NS, "x86-tsc" },
		{ CLOCKS("mono [x86-tsc]"), "x86-tsc", 933697879, TRACE_DAT_NS, "x86-tsc" },
		/* a scale that libtracecmd does not apply */
		{ CLOCKS("mono [x86-tsc]"), "x86-tsc", 0, TRACE_DAT_CYCLES, "x86-tsc" },
		/* lists that no kernel writes */
		{ "mono [perf", "mono", -1, TRACE_DAT_NS, "" },
		{ "[a-clock-whose-name-is-too-long-to-be-one]", "mono", -1, TRACE_DAT_NS, "" },
		/* as split leaves it */
		{ NULL, "x86-tsc", -1, TRACE_DAT_EITHER, "x86-tsc" },
		{ NULL, "mono", -1, TRACE_DAT_NS, "mono" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made = { .big = i % 2 };
		struct trace_dat_info info;
		size_t at = begin(&made);

		if (cases[i / 2].clocks)
			option(&made, 4, cases[i / 2].clocks, strlen(cases[i / 2].clocks) + 1);
		if (cases[i / 2].mult >= 0)
			scale(&made, (uint64_t)cases[i / 2].mult);
		buffer(&made, cases[i / 2].buffer, 0, 10);
		end(&made, at, 0);
		assert_true(check(&made, &info, NULL));
		assert_int_equal(info.unit, cases[i / 2].unit);
		assert_string_equal(info.clock, cases[i / 2].clock);
		assert_false(info.packed);
	}
}

/** Headers, then options. @size: bytes of each of two CPUs; @first: offset of those of CPU 1 */
static void old(struct made *made, const char *clocks, bool has_scale, uint64_t first,
		uint64_t size)
{
	head(made, "6");
	put(made, "header_page", 12);
	number(made, 8, 3);
	put(made, "abc", 3);
	put(made, "header_event", 13);
	number(made, 8, 0);
	number(made, 4, 1);
	number(made, 8, 2);
	put(made, "ev", 2);
	number(made, 4, 1);
	text(made, "sched");
	number(made, 4, 1);
	number(made, 8, 1);
	put(made, "x", 1);
	number(made, 4, 0);
	number(made, 4, 0);
	number(made, 8, 0);
	number(made, 4, 2);
	put(made, "options  ", 10);
	option(made, 4, clocks, strlen(clocks) + 1);
	if (has_scale)
		scale(made, 933697879);
	number(made, 2, 0);
	put(made, "flyrecord", 10);
	number(made, 8, 20);
	number(made, 8, size);
	number(made, 8, first);
	number(made, 8, size);
}

static void version_6(void **state)
{
	struct made made = { .big = false };
	struct trace_dat_info info;

	(void)state;
	old(&made, CLOCKS("[x86-tsc]"), false, 50, 30);
	assert_true(check(&made, &info, NULL));
	assert_int_equal(info.unit, TRACE_DAT_CYCLES);
	old(&made, CLOCKS("[x86-tsc]"), true, 50, 30);
	assert_true(check(&made, &info, NULL));
	assert_int_equal(info.unit, TRACE_DAT_NS);
	old(&made, CLOCKS("[x86-tsc]"), true, 50, 5000);
	assert_false(check(&made, &info, "the data of CPU 0 begins at offset 20"));
	old(&made, CLOCKS("[x86-tsc]"), true, 50, UINT64_MAX);
	assert_false(check(&made, &info, "the data of CPU 0 begins at offset 20"));
	/* what is read for two CPUs takes twice the time, and so on */
	old(&made, CLOCKS("[x86-tsc]"), true, 49, 30);
	assert_false(check(&made, &info, "damaged: the data of CPU 0, at offset 20, and the data "
			   "of CPU 1, at offset 49, overlap"));
	old(&made, CLOCKS("[x86-tsc]"), true, 20, 0);
	assert_true(check(&made, &info, NULL));
	/* wherever it is cut off */
	old(&made, CLOCKS("[x86-tsc]"), true, 50, 30);
	for (made.n--; made.n > 11; made.n--)
		assert_false(check(&made, &info, "cut off"));
}

static void hostile(void **state)
{
	struct made made = { .big = false };
	struct trace_dat_info info;
	size_t at = begin(&made), options = at - 8;

	(void)state;
	end(&made, at, options);
	assert_false(check(&made, &info, "go round in circles"));
	at = begin(&made);
	end(&made, at, 1 << 20);
	assert_false(check(&made, &info, "its options are at offset 1048576"));
	at = begin(&made);
	end(&made, at, UINT64_MAX - 3);
	assert_false(check(&made, &info, "its options are at offset"));
	at = begin(&made);
	number(&made, 2, 9);
	number(&made, 4, 0xffffffff);
	end(&made, at, 0);
	assert_false(check(&made, &info, "larger than the section"));
	at = begin(&made);
	buffer(&made, "mono", 100, 1 << 20);
	end(&made, at, 0);
	assert_false(check(&made, &info, "the data of CPU 0 begins at offset 100"));
	at = begin(&made);
	buffer(&made, "mono", 0, 0);
	memcpy(made.data + made.n - 20, "\0\0\0\1", 4);
	end(&made, at, 0);
	assert_false(check(&made, &info, "damaged: it names CPU 16777216"));
	/* two buffers with the same data, and a section that two options point to */
	at = begin(&made);
	buffer(&made, "mono", 40, 10);
	buffer(&made, "mono", 45, 10);
	end(&made, at, 0);
	assert_false(check(&made, &info, "damaged: the data of CPU 0, at offset 40, and the data "
			   "of CPU 0, at offset 45, overlap"));
	at = begin(&made);
	for (int i = 0; i < 2; i++) {
		number(&made, 2, 17);
		number(&made, 4, 8);
		number(&made, 8, at - 8);
	}
	end(&made, at, 0);
	assert_false(check(&made, &info, "damaged: a section, at offset "));
	/* a number of CPUs that the option has no room for is libtracecmd's to refuse */
	at = begin(&made);
	buffer(&made, "mono", 0, 0);
	memset(made.data + made.n - 24, 0xff, 4);
	end(&made, at, 0);
	assert_true(check(&made, &info, NULL));
	/* wherever it is cut off */
	at = begin(&made);
	buffer(&made, "mono", 0, 10);
	end(&made, at, 0);
	for (made.n--; made.n > 11; made.n--)
		assert_false(check(&made, &info, "cut off"));
}

/* --- guests ---------------------------------------------------------------------------------- */

struct found {
	char		text[256];
	int		ret;
};

static int take(void *arg, const char *name, const int32_t *tids, int n)
{
	struct found *found = arg;
	size_t at = strlen(found->text);

	at += (size_t)snprintf(found->text + at, sizeof(found->text) - at, "%s:", name);
	for (int i = 0; i < n; i++)
		at += (size_t)snprintf(found->text + at, sizeof(found->text) - at, " %d", tids[i]);
	snprintf(found->text + at, sizeof(found->text) - at, ";");
	return found->ret;
}

/** @claims: how many CPUs it says it has; there are two */
static void guest(struct made *made, const char *name, uint64_t claims, uint64_t first_cpu)
{
	struct made data = { .big = made->big };

	text(&data, name);
	number(&data, 8, 0x1234567890abcdef);
	number(&data, 4, claims);
	number(&data, 4, first_cpu);
	number(&data, 4, 3414);
	number(&data, 4, 1);
	number(&data, 4, 3415);
	option(made, 13, data.data, data.n);
}

static void guests(void **state)
{
	struct found found = { .ret = 0 };

	(void)state;
	for (int big = 0; big < 2; big++) {
		struct made made = { .big = big };
		size_t at = begin(&made);

		guest(&made, "db", 2, 0);
		guest(&made, "far", 2, 70000);	/* there is no such CPU: that thread has no vCPU */
		guest(&made, "lies", 3, 0);
		guest(&made, "lies", 0xffffffff, 0);
		option(&made, 13, "no end", 6);
		option(&made, 13, "short", 6);
		guest(&made, "", 2, 0);
		end(&made, at, 0);
		save(&made);
		memset(&found, 0, sizeof(found));
		assert_int_equal(trace_dat_guests(path, take, &found), 0);
		assert_string_equal(found.text, "db: 3414 3415;far: 0 3415;: 3414 3415;");
		memset(&found, 0, sizeof(found));
		found.ret = -ECANCELED;
		assert_int_equal(trace_dat_guests(path, take, &found), -ECANCELED);
		assert_string_equal(found.text, "db: 3414 3415;");
	}
	assert_int_equal(trace_dat_guests("/nonexistent", take, &found), 0);
}

static void scales(void **state)
{
	static const char clock[] = "local mono [x86-tsc]\n";
	const struct trace_dat_scale none = { 0 }, far = { 1, 64 };
	struct trace_dat_scale scale = { 827194131, 31 }, found;
	static const char nowhere[] = "/nonexistent/file";
	struct trace_dat_info info;
	struct found named;
	char problem[256];

	(void)state;
	for (int big = 0; big < 2; big++) {
		struct made made = { .big = big };
		size_t at = begin(&made);

		option(&made, 4, clock, sizeof(clock));
		guest(&made, "db", 2, 0);
		end(&made, at, 0);
		save(&made);
		assert_false(trace_dat_find_scale(path, &found));
		assert_int_equal(trace_dat_add_scale(path, &none), -EINVAL);
		assert_int_equal(trace_dat_add_scale(path, &far), -EINVAL);
		assert_true(trace_dat_check(path, problem, sizeof(problem), &info));
		assert_int_equal(info.unit, TRACE_DAT_CYCLES);
		assert_int_equal(trace_dat_add_scale(path, &scale), 0);
		assert_true(trace_dat_find_scale(path, &found));
		assert_int_equal(found.mult, scale.mult);
		assert_int_equal(found.shift, scale.shift);
		/* with all that it had */
		assert_true(trace_dat_check(path, problem, sizeof(problem), &info));
		assert_int_equal(info.unit, TRACE_DAT_NS);
		memset(&named, 0, sizeof(named));
		assert_int_equal(trace_dat_guests(path, take, &named), 0);
		assert_string_equal(named.text, "db: 3414 3415;");
		assert_int_equal(trace_dat_add_scale(path, &scale), -EEXIST);
		head(&made, "6");
		save(&made);
		assert_int_equal(trace_dat_add_scale(path, &scale), -EINVAL);
	}
	assert_int_equal(trace_dat_add_scale(nowhere, &scale), -EINVAL);
	assert_false(trace_dat_find_scale(nowhere, &found));
}

/** The clock is named again, shorter or longer, and all else stays. */
static void clocks_named(void **state)
{
	static const char *const names[] = { "mono", "x86-tsc", "local", "local" };
	struct trace_dat_info info;
	char problem[256];

	(void)state;
	for (int big = 0; big < 2; big++) {
		struct made made = { .big = big };
		size_t at = begin(&made);

		guest(&made, "db", 2, 0);
		buffer(&made, "global", 0, 10);
		scale(&made, 1 << 30);
		end(&made, at, 0);
		save(&made);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			struct found named = { 0 };

			assert_int_equal(trace_dat_set_clock(path, names[i]), 0);
			assert_true(trace_dat_check(path, problem, sizeof(problem), &info));
			assert_string_equal(info.clock, names[i]);
			assert_int_equal(info.unit, TRACE_DAT_NS);
			assert_int_equal(trace_dat_guests(path, take, &named), 0);
			assert_string_equal(named.text, "db: 3414 3415;");
		}
	}
	assert_int_equal(trace_dat_set_clock(path, ""), -EINVAL);
	assert_int_equal(trace_dat_set_clock(path, "a name that is longer than any clock's"),
			 -EINVAL);
}

/** A file that names no clock, or leads nowhere, is left as it is. */
static void clocks_not_named(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct made made = { 0 };
		size_t at = begin(&made);
		struct stat st;

		if (i == 1)
			buffer(&made, "local", 0, 10);
		/* to itself, to far away */
		end(&made, at, i == 2 ? at - 8 : i == 3 ? UINT64_MAX : 0);
		if (i == 1)
			head(&made, "6");
		save(&made);
		assert_int_equal(trace_dat_set_clock(path, "mono"), -EINVAL);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, made.n);
	}
}

static int set_up(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

/* As when a host's file is replaced by one before KernelShark loads it anew. */
static void nobody_writes(void **state)
{
	char fifo[64], problem[256];

	(void)state;
	snprintf(fifo, sizeof(fifo), "/tmp/ksv-test-%d.fifo", (int)getpid());
	assert_int_equal(mkfifo(fifo, 0600), 0);
	/* instead of waiting for ever */
	alarm(60);
	assert_int_equal(trace_dat_guests(fifo, NULL, NULL), 0);
	assert_false(trace_dat_check(fifo, problem, sizeof(problem), NULL));
	alarm(0);
	assert_non_null(strstr(problem, "not a regular file"));
	unlink(fifo);
}

/** A file without a name that has one letter. Return: its descriptor. */
static int letter_file(char letter)
{
	int fd = temporary_file();

	assert_true(fd >= 0 && write(fd, &letter, 1) == 1);
	return fd;
}

static char letter_of(const char *name)
{
	int fd = held_file_open(name);
	char letter = 0;

	assert_true(fd >= 0 && read(fd, &letter, 1) == 1);
	close(fd);
	return letter;
}

/** The last copy of a name is read, from its beginning; older ones stay open for other threads. */
static void copies(void **state)
{
	int old, fd;
	char letter = 0;

	(void)state;
	assert_false(held_file_is_copy("some.dat"));
	assert_int_equal(held_file_open("some.dat"), -ENOENT);
	assert_int_equal(held_file_fd("some.dat"), -1);
	old = letter_file('a');
	assert_int_equal(held_file_set_copy("some.dat", old), 0);
	assert_int_equal(letter_of("some.dat"), 'a');
	assert_int_equal(letter_of("some.dat"), 'a');
	fd = letter_file('b');
	assert_int_equal(held_file_set_copy("some.dat", fd), 0);
	assert_true(held_file_is_copy("some.dat"));
	assert_int_equal(letter_of("some.dat"), 'b');
	assert_int_equal(held_file_fd("some.dat"), fd);
	assert_true(pread(old, &letter, 1, 0) == 1 && letter == 'a');
	assert_false(held_file_is_copy("some"));
	/* a name with a copy keeps it, and a file that is held is no copy */
	assert_int_equal(held_file_hold("some.dat"), 0);
	assert_int_equal(letter_of("some.dat"), 'b');
	assert_int_equal(held_file_hold("/proc/self/cmdline"), 0);
	assert_false(held_file_is_copy("/proc/self/cmdline"));
	fd = held_file_fd("/proc/self/cmdline");
	assert_true(fd >= 0);
	/* what is released is closed; a copy, and what is not there, are not touched */
	held_file_release("/proc/self/cmdline");
	assert_int_equal(held_file_fd("/proc/self/cmdline"), -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	held_file_release("/proc/self/cmdline");
	held_file_release("some.dat");
	assert_int_equal(letter_of("some.dat"), 'b');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_writes),
		cmocka_unit_test(copies),
		cmocka_unit_test(clocks_named),
		cmocka_unit_test(clocks_not_named),
		cmocka_unit_test(units),
		cmocka_unit_test(version_6),
		cmocka_unit_test(hostile),
		cmocka_unit_test(guests),
		cmocka_unit_test(scales),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
