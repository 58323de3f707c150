// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_trace_args.c
 * @brief	A file of a folder that was checked is the file that is read.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "array.h"
#include "held_file.h"
#include "recording_folder.h"
#include "trace_args.h"
#include "xentrace_copy.h"
#include "xentrace_file.h"

static char folder[] = "/tmp/args.XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const names[] = {
		"host.dat", "web.dat", "host.xen", "elsewhere", RECORDING_FILE,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	return rmdir(folder);
}

static void write_letter(const char *name, char letter)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &letter, 1), 1);
	close(fd);
}

static void list_files(const char *host, const char *guest)
{
	struct recording recording = { .state = RECORDING_COMPLETE };
	struct recording_file file = { .name = (char *)host };
	char error[512];

	assert_int_equal(recording_add_file(&recording, &file), 0);
	file = (struct recording_file){ .name = (char *)guest, .role = RECORDING_GUEST };
	if (guest)
		assert_int_equal(recording_add_file(&recording, &file), 0);
	assert_int_equal(recording_write(folder, &recording, error, sizeof(error)), 0);
	recording_free(&recording);
}

/** In a folder of another user, a link can take the place of any file at any time. */
static void exchange(const char *name)
{
	assert_int_equal(unlink(name), 0);
	assert_int_equal(symlink("elsewhere", name), 0);
}

static char letter_of(const char *path)
{
	int fd = held_file_open(path);
	char letter = '?';

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &letter, 1), 1);
	close(fd);
	return letter;
}

/** Of a trace.dat and of its guest's. */
static void exchanged_dat(void **state)
{
	struct trace_args args = { 0 };

	(void)state;
	write_letter("elsewhere", 'x');
	write_letter("host.dat", 'h');
	write_letter("web.dat", 'w');
	list_files("host.dat", "web.dat");
	assert_int_equal(trace_args_add(&args, folder), KSV_EXIT_OK);
	assert_int_equal(args.n, 2);
	exchange("host.dat");
	exchange("web.dat");
	assert_int_equal(letter_of(args.items[0].path), 'h');
	assert_int_equal(letter_of(args.items[1].path), 'w');
	trace_args_free(&args);
}

/** Of a xentrace file, which is looked at before it is read. */
static void exchanged_xen(void **state)
{
	struct trace_args args = { 0 };
	struct xentrace_file file;
	char error[512];
	uint8_t head[8];
	bool is_copied;

	(void)state;
	write_letter("elsewhere", 'x');
	write_letter("host.xen", 'h');
	list_files("host.xen", NULL);
	assert_int_equal(trace_args_add(&args, folder), KSV_EXIT_OK);
	assert_int_equal(args.n, 1);
	exchange("host.xen");
	assert_int_equal(xentrace_file_peek(args.items[0].path, head, sizeof(head)), 1);
	assert_int_equal(head[0], 'h');
	assert_int_equal(xentrace_head(args.items[0].path, head, sizeof(head), &is_copied), 1);
	assert_int_equal(head[0], 'h');
	assert_int_equal(xentrace_file_open(&file, args.items[0].path, NULL, error, sizeof(error)),
			 0);
	assert_int_equal(pread(file.fd, head, sizeof(head), 0), 1);
	assert_int_equal(head[0], 'h');
	xentrace_file_close(&file);
	trace_args_free(&args);
}

/** What is a link from the beginning is not followed, by any command. */
static void links(void **state)
{
	struct trace_args args = { .quiet = true };
	char *argv[] = { folder };

	(void)state;
	write_letter("elsewhere", 'x');
	unlink("host.dat");
	assert_int_equal(symlink("elsewhere", "host.dat"), 0);
	list_files("host.dat", NULL);
	/* another name of the folder, which nothing of the tests above is held by */
	assert_int_equal(asprintf(&argv[0], "%s/.", folder) < 0, 0);
	assert_int_equal(trace_args_take(&args, argv, 1, &cmd_report, NULL), KSV_EXIT_FILE);
	assert_int_equal(args.n, 0);
	free(argv[0]);
	trace_args_free(&args);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchanged_dat),
		cmocka_unit_test(exchanged_xen),
		cmocka_unit_test(links),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
