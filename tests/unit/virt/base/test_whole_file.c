// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_whole_file.c
 * @brief	Files that are there whole or as they were; what is read is no more than it may be.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "whole_file.h"

static char before[4096], folder[] = "/tmp/ksv-whole-XXXXXX";

static int enter(void **state)
{
	(void)state;
	return !getcwd(before, sizeof(before)) || !mkdtemp(folder) || chdir(folder) ? -1 : 0;
}

static int leave(void **state)
{
	(void)state;
	return chdir(before) || rmdir(folder) ? -1 : 0;
}

static int n_files(void)
{
	const struct dirent *entry;
	DIR *dir = opendir(".");
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return n;
}

static void assert_text(const char *path, const char *wanted)
{
	size_t size;
	char *text;

	assert_int_equal(whole_file_read(path, 100, &text, &size), 0);
	assert_string_equal(text, wanted);
	assert_int_equal(size, strlen(wanted));
	free(text);
}

static void write_new(const char *path, const char *text)
{
	struct whole_file file;

	assert_int_equal(whole_file_open(&file, path, false), 0);
	assert_int_equal(write(file.fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(whole_file_commit(&file), 0);
}

static void test_life(void **state)
{
	struct whole_file file, another;

	(void)state;
	write_new("a", "one");
	assert_text("a", "one");
	assert_int_equal(whole_file_open(&file, "a", false), 0);
	assert_int_equal(write(file.fd, "two", 3), 3);
	assert_int_equal(n_files(), 2);
	assert_text("a", "one");
	whole_file_discard(&file);
	assert_int_equal(n_files(), 1);
	assert_text("a", "one");
	/* two at a time do not meet; the last one stays */
	assert_int_equal(whole_file_open(&file, "a", false), 0);
	assert_int_equal(whole_file_open(&another, "a", false), 0);
	assert_int_equal(write(file.fd, "two", 3), 3);
	assert_int_equal(write(another.fd, "three", 5), 5);
	assert_int_equal(whole_file_commit(&another), 0);
	assert_text("a", "three");
	assert_int_equal(whole_file_commit(&file), 0);
	assert_text("a", "two");
	assert_int_equal(n_files(), 1);
	unlink("a");
}

/** More at a time than a signal's handler knows of. */
static void test_signal(void **state)
{
	struct whole_file files[26];

	(void)state;
	for (int i = 0; i < 26; i++)
		assert_int_equal(whole_file_open(&files[i], "a", false), 0);
	assert_int_equal(n_files(), 26);
	whole_file_discard_all();
	assert_int_equal(n_files(), 2);
	for (int i = 0; i < 26; i++)
		whole_file_discard(&files[i]);
	assert_int_equal(n_files(), 0);
	write_new("a", "");
	whole_file_discard_all();
	assert_int_equal(n_files(), 1);
	unlink("a");
}

/** The file goes away with its folder, or the name becomes another kind of file. */
static void test_trouble(void **state)
{
	struct whole_file file;

	(void)state;
	assert_int_equal(whole_file_open(&file, "", false), -ENOENT);
	assert_int_equal(whole_file_open(&file, "no/a", false), -ENOENT);
	assert_int_equal(whole_file_open(&file, ".", false), -EISDIR);
	assert_int_equal(whole_file_open(&file, "a/", false), -ENOENT);
	assert_int_equal(symlink("a", "a"), 0);
	assert_int_equal(whole_file_open(&file, "a", false), -ELOOP);
	unlink("a");
	assert_int_equal(whole_file_open(&file, "a", false), 0);
	assert_int_equal(mkdir("a", 0700), 0);
	assert_int_equal(whole_file_commit(&file), -EISDIR);
	assert_int_equal(n_files(), 1);
	rmdir("a");
}

static void test_read(void **state)
{
	size_t size;
	char *text;

	(void)state;
	assert_int_equal(whole_file_read("a", 100, &text, &size), -ENOENT);
	write_new("a", "12345");
	assert_int_equal(whole_file_read("a", 4, &text, &size), -EFBIG);
	assert_int_equal(whole_file_read("a", 5, &text, &size), 0);
	assert_int_equal(size, 5);
	free(text);
	assert_int_equal(whole_file_read(".", 100, &text, &size), -EISDIR);
	assert_int_equal(whole_file_read("/dev/zero", 100, &text, &size), -EINVAL);
	unlink("a");
}

/** The writer of a FIFO waits for its reader, and gets SIGPIPE when the reader has gone. */
static void test_fifo(void **state)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;
	size_t size;
	char *text;

	(void)state;
	assert_true(watch >= 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_true(inotify_add_watch(watch, "fifo", IN_OPEN) >= 0);
	assert_int_equal(whole_file_read("fifo", 100, &text, &size), -EINVAL);
	assert_int_equal(read(watch, &event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);

	/* and it would have been seen */
	close(open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	assert_int_equal(read(watch, &event, sizeof(event)), sizeof(event));
	assert_int_equal(event.mask, IN_OPEN);
	close(watch);
	unlink("fifo");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_fifo),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
