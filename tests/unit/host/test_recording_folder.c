// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_recording_folder.c
 * @brief	recording.json: what is written is read, and damage is reported.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "array.h"
#include "recording_folder.h"

static char folder[] = "/tmp/recording.XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char *path = recording_path(folder, RECORDING_FILE);

	(void)state;
	unlink(path);
	free(path);
	return rmdir(folder);
}

/** One with everything in it. */
static struct recording full_one(void)
{
	struct recording recording = { .state = RECORDING_STOPPED };
	const struct recording_file host = { .name = (char[]){ "host.dat" },
		.clock = (char[]){ "x86-tsc" }, .records = 1234567890123, .lost = 0 };
	const struct recording_file guest = { .name = (char[]){ "web.dat" },
		.role = RECORDING_GUEST, .guest = (char[]){ "web" },
		.records = RECORDING_UNKNOWN, .lost = 3 };
	const struct recording_guest web = { .name = (char[]){ "web" }, .uuid = (char[]){ "0-1" },
		.how = (char[]){ "ssh:root@web" } };
	const struct recording_guest db = { .name = (char[]){ "d\"b\n\xff" },
		.how = (char[]){ "none" }, .why = (char[]){ "nobody \xe2\x82\xac answers" } };
	const struct recording_trigger wake = { .condition = (char[]){ "wake>2ms" },
		.vcpu = (char[]){ "web:v0" }, .moments = 3, .time_ns = -5, .cost_ns = 3400000 };
	const struct recording_trigger limit = {
		.condition = (char[]){ "steal=1%" }, .moments = 7, .of = (char[]){ "web" },
		.value = 1.5, .unit = (char[]){ "%" },
	};
	const struct recording_trigger lost = { .condition = (char[]){ "lost>0" }, .moments = 1 };

	assert_int_equal(recording_text(&recording.reason, "disk full"), 0);
	assert_int_equal(recording_text(&recording.begin, "2026-11-23T05:00:00Z"), 0);
	assert_int_equal(recording_text(&recording.end, "2026-11-23T05:00:10Z"), 0);
	assert_int_equal(recording_text(&recording.events, "default"), 0);
	recording.tsc_mult = 0xfffffffe;
	recording.tsc_shift = 31;
	assert_int_equal(recording_add_argument(&recording, "kshark-virt"), 0);
	assert_int_equal(recording_add_argument(&recording, "record"), 0);
	assert_int_equal(recording_add_argument(&recording, ""), 0);
	assert_int_equal(recording_add_program(&recording, "kernel", "6.12.30"), 0);
	assert_int_equal(recording_add_program(&recording, "trace-cmd", "3.1.6"), 0);
	assert_int_equal(recording_add_file(&recording, &host), 0);
	assert_int_equal(recording_add_file(&recording, &guest), 0);
	assert_int_equal(recording_add_guest(&recording, &web), 0);
	assert_int_equal(recording_add_guest(&recording, &db), 0);
	recording.flight = (struct recording_flight){ .asked_ns = 10000000000, .kept_ns = 9,
						      .paused_ns = 7 };
	assert_int_equal(recording_text(&recording.flight.cause, "trigger"), 0);
	assert_int_equal(recording_add_trigger(&recording, &wake), 0);
	assert_int_equal(recording_add_trigger(&recording, &lost), 0);
	assert_int_equal(recording_add_trigger(&recording, &limit), 0);
	assert_int_equal(recording_add_log(&recording, &(struct recording_log){
		.machine = (char *)(uintptr_t)"web", .log = (char *)(uintptr_t)"/var/log/web",
		.lines = 2, .text = (char *)(uintptr_t)"BUG: soft lockup \xc3\xbc",
	}), 0);
	return recording;
}

static void test_written_is_read(void **state)
{
	struct recording written = full_one(), read;
	char error[256] = "";

	(void)state;
	assert_int_equal(recording_write(folder, &written, error, sizeof(error)), 0);
	assert_true(recording_is(folder));
	assert_int_equal(recording_read(folder, &read, error, sizeof(error)), 0);
	assert_string_equal(read.folder, folder);
	assert_int_equal(read.hypervisor, RECORDING_KVM);
	assert_int_equal(read.state, RECORDING_STOPPED);
	assert_string_equal(read.reason, "disk full");
	assert_string_equal(read.begin, written.begin);
	assert_string_equal(read.end, written.end);
	assert_string_equal(read.events, "default");
	assert_int_equal(read.tsc_mult, 0xfffffffe);
	assert_int_equal(read.tsc_shift, 31);
	assert_int_equal(read.n_command, 3);
	assert_string_equal(read.command[1], "record");
	assert_string_equal(read.command[2], "");
	assert_int_equal(read.n_programs, 2);
	assert_string_equal(read.programs[0].name, "kernel");
	assert_string_equal(read.programs[1].version, "3.1.6");
	assert_int_equal(read.n_files, 2);
	assert_string_equal(read.files[0].name, "host.dat");
	assert_int_equal(read.files[0].role, RECORDING_HOST);
	assert_null(read.files[0].guest);
	assert_string_equal(read.files[0].clock, "x86-tsc");
	assert_int_equal(read.files[0].records, 1234567890123);
	assert_int_equal(read.files[0].lost, 0);
	assert_int_equal(read.files[1].role, RECORDING_GUEST);
	assert_string_equal(read.files[1].guest, "web");
	assert_null(read.files[1].clock);
	assert_int_equal(read.files[1].records, RECORDING_UNKNOWN);
	assert_int_equal(read.files[1].lost, 3);
	assert_int_equal(read.n_guests, 2);
	assert_string_equal(read.guests[0].how, "ssh:root@web");
	assert_null(read.guests[0].why);
	/* JSON is UTF-8, whatever a guest is called */
	assert_string_equal(read.guests[1].name, "d\"b\n\xef\xbf\xbd");
	assert_string_equal(read.guests[1].why, "nobody \xe2\x82\xac answers");
	assert_int_equal(read.flight.asked_ns, 10000000000);
	assert_int_equal(read.flight.kept_ns, 9);
	assert_int_equal(read.flight.paused_ns, 7);
	assert_string_equal(read.flight.cause, "trigger");
	assert_int_equal(read.flight.n_triggers, 3);
	assert_string_equal(read.flight.triggers[0].condition, "wake>2ms");
	assert_string_equal(read.flight.triggers[0].vcpu, "web:v0");
	assert_int_equal(read.flight.triggers[0].moments, 3);
	assert_int_equal(read.flight.triggers[0].time_ns, -5);
	assert_int_equal(read.flight.triggers[0].cost_ns, 3400000);
	assert_null(read.flight.triggers[1].vcpu);
	assert_null(read.flight.triggers[1].unit);
	assert_string_equal(read.flight.triggers[2].of, "web");
	assert_string_equal(read.flight.triggers[2].unit, "%");
	assert_true(read.flight.triggers[2].value == 1.5);
	assert_int_equal(read.flight.n_logs, 1);
	assert_string_equal(read.flight.logs[0].machine, "web");
	assert_string_equal(read.flight.logs[0].log, "/var/log/web");
	assert_null(read.flight.logs[0].pattern);
	assert_int_equal(read.flight.logs[0].lines, 2);
	assert_string_equal(read.flight.logs[0].text, "BUG: soft lockup \xc3\xbc");
	recording_free(&written);
	recording_free(&read);
}

/** The file itself is the folder, too, also without a folder in front. */
static void test_by_its_file(void **state)
{
	struct recording written = full_one(), read;
	char error[256] = "", before[4096];
	char *path = recording_path(folder, RECORDING_FILE);

	(void)state;
	assert_int_equal(recording_write(folder, &written, error, sizeof(error)), 0);
	assert_true(recording_is(path));
	assert_int_equal(recording_read(path, &read, error, sizeof(error)), 0);
	assert_string_equal(read.folder, folder);
	recording_free(&read);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	assert_true(recording_is(RECORDING_FILE));
	assert_int_equal(recording_read(RECORDING_FILE, &read, error, sizeof(error)), 0);
	assert_string_equal(read.folder, ".");
	assert_int_equal(chdir(before), 0);
	recording_free(&read);
	recording_free(&written);
	free(path);
}

static void test_names(void **state)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "/etc/passwd", "../x",
					   RECORDING_FILE };
	char longest[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(recording_plain_name(bad[i]));
	assert_false(recording_plain_name(NULL));
	assert_true(recording_plain_name("host.dat"));
	assert_true(recording_plain_name("..."));
	memset(longest, 'a', sizeof(longest));
	longest[256] = '\0';
	assert_false(recording_plain_name(longest));
	longest[255] = '\0';
	assert_true(recording_plain_name(longest));
}

/** What could not be read is not written either, and what was there stays. */
static void test_not_written(void **state)
{
	struct recording_file file = { .name = (char[]){ "../host.dat" } };
	struct recording recording = full_one(), read;
	char error[256] = "";

	(void)state;
	assert_int_equal(recording_write(folder, &recording, error, sizeof(error)), 0);
	assert_int_equal(recording_add_file(&recording, &file), 0);
	assert_int_equal(recording_write(folder, &recording, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "'../host.dat' is not the name of a file in the folder"));
	assert_int_equal(recording_read(folder, &read, error, sizeof(error)), 0);
	assert_int_equal(read.n_files, 2);
	recording_free(&read);
	recording_free(&recording);
	assert_int_equal(recording_write("/nowhere", &recording, error, sizeof(error)), -ENOENT);
	assert_non_null(strstr(error, "/nowhere/recording.json: cannot write"));
}

#define HEAD	"{\"recording_version\":1,\"hypervisor\":\"kvm\",\"state\":\"complete\""

static void test_damaged(void **state)
{
	static const struct {
		const char	*text, *said;	/* NULL: it can be read */
	} cases[] = {
		{ HEAD "}", NULL },
		{ HEAD ",\"future\":[{}],\"files\":[{\"name\":\"a\",\"role\":\"host\",\"x\":1}]}",
		  NULL },
		{ HEAD ",\"files\":7,\"guests\":\"web\",\"versions\":[],\"command\":[1,\"a\"]}",
		  NULL },
		{ HEAD ",\"flight\":7}", NULL },
		{ HEAD ",\"flight\":{\"asked_ns\":-1,\"triggers\":[7,{},{\"condition\":\"x\"}]}}",
		  NULL },
		{ HEAD ",\"guests\":[{},7,null,{\"name\":7},{\"name\":\"web\"}]}", NULL },
		{ "", "offset 0: not a JSON object" },
		{ "[]", "not a JSON object: another type of value" },
		{ HEAD, "not a JSON object" },
		{ "{}", "has no recording_version" },
		{ "{\"recording_version\":\"1\"}", "has no recording_version" },
		{ "{\"recording_version\":2}", "has version 2" },
		{ "{\"recording_version\":1}", "its \"hypervisor\" is not a valid value" },
		{ "{\"recording_version\":1,\"hypervisor\":\"xen\",\"state\":\"x\"}",
		  "its \"state\" is not a valid value" },
		{ HEAD ",\"files\":[{\"name\":\"a\"}]}", "number 1 has no role" },
		{ HEAD ",\"files\":[7]}", "number 1 has no role" },
		{ HEAD ",\"files\":[{\"role\":\"host\"}]}", "'' is not the name" },
		{ HEAD ",\"files\":[{\"role\":\"host\",\"name\":\"a\\u0000b\"}]}",
		  "'' is not the name" },
		{ HEAD ",\"files\":[{\"role\":\"guest\",\"name\":\"../a\"}]}",
		  "'../a' is not the name" },
		{ HEAD ",\"files\":[{\"role\":\"guest\",\"name\":\"a\"},"
		  "{\"role\":\"host\",\"name\":\"b\"},{\"role\":\"guest\",\"name\":\"a\"}]}",
		  "'a' is listed twice" },
		{ HEAD ",\"files\":[{\"role\":\"host\",\"name\":\"a\"},"
		  "{\"role\":\"host\",\"name\":\"b\"}]}", "2 have the role host" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct recording recording;
		char error[256] = "";
		int ret = recording_parse("R", cases[i].text, strlen(cases[i].text), &recording,
					  error, sizeof(error));

		assert_int_equal(ret, cases[i].said ? -EINVAL : 0);
		if (cases[i].said && !strstr(error, cases[i].said))
			fail_msg("%s\nis said to be: %s", cases[i].text, error);
		assert_true(!cases[i].said || !strncmp(error, "R: ", 3));
		recording_free(&recording);
	}
}

static void test_too_many(void **state)
{
	size_t room = 1 << 20, n;
	char *text = malloc(room), error[256] = "";
	struct recording recording;

	(void)state;
	for (int most = RECORDING_MAX_ITEMS; most <= RECORDING_MAX_ITEMS + 1; most++) {
		n = (size_t)sprintf(text, HEAD ",\"guests\":[");
		for (int i = 0; i < most; i++)
			n += (size_t)sprintf(text + n, "%s{\"name\":\"g%d\"}", i ? "," : "", i);
		n += (size_t)sprintf(text + n, "]}");
		assert_int_equal(recording_parse("R", text, n, &recording, error, sizeof(error)),
				 most > RECORDING_MAX_ITEMS ? -E2BIG : 0);
		assert_int_equal(recording.n_guests, most > RECORDING_MAX_ITEMS ? 0 : most);
		recording_free(&recording);
	}
	assert_non_null(strstr(error, "guests: 4097 items, and at most 4096 are allowed"));
	free(text);
}

/** Any other file of this name is an error, and not waited for. */
static void test_no_file(void **state)
{
	char *path = recording_path(folder, RECORDING_FILE);
	struct recording recording;
	char error[256] = "";

	(void)state;
	unlink(path);
	assert_false(recording_is(folder));
	assert_false(recording_is(path));
	assert_int_equal(recording_read(folder, &recording, error, sizeof(error)), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(recording_is(folder));
	assert_int_equal(recording_read(folder, &recording, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "recording.json: cannot read: not a regular file"));
	unlink(path);
	assert_int_equal(symlink("nothing", path), 0);
	assert_true(recording_is(folder));
	assert_int_equal(recording_read(folder, &recording, error, sizeof(error)), -ENOENT);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(recording_read(folder, &recording, error, sizeof(error)), -EISDIR);
	rmdir(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_is_read), cmocka_unit_test(test_by_its_file),
		cmocka_unit_test(test_names), cmocka_unit_test(test_not_written),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
