// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_confine.c
 * @brief	A confined process can use what it has open, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "kvm_confine.h"

/** Run in a process that @confine confines. @fd: is closed here. Return: its exit status. */
static int confined_by(bool (*confine)(void), int (*run)(int fd), int fd)
{
	int status = -1;
	pid_t pid = fork();

	assert_true(fd >= 0 && pid >= 0);
	if (!pid)
		_exit(confine() ? run(fd) : 99);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int confined(int (*run)(int fd))
{
	return confined_by(kvm_confine, run, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
}

/** A folder that only its owner may read, with a file and a link that leads out of it. */
static char folder[] = "/tmp/test-confine-XXXXXX";

static int confined_to(int (*run)(void))
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(kvm_confine_to(folder) ? run() : 99);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int open_at(const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, flags, 0600);
}

static int read_folder(void)
{
	char byte;
	int fd = open_at("file", O_RDONLY);

	return fd < 0 || read(fd, &byte, 1) != 1 || open_at(".", O_RDONLY | O_DIRECTORY) < 0;
}

static int write_folder(void)
{
	return open_at("file", O_WRONLY) >= 0 || open_at("new", O_RDWR | O_CREAT) >= 0 ||
	       open_at("file", O_RDONLY | O_TRUNC) >= 0 || open_at(".", O_TMPFILE | O_RDWR) >= 0;
}

static int leave_folder(void)
{
	return open_at("link", O_RDONLY) >= 0 || open_at("../", O_RDONLY) >= 0 ||
	       open("/etc/passwd", O_RDONLY) >= 0;
}

/** Linux 5.13 and later, if it is built and started with it. */
static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

/** What reading needs. */
static int read_on(int fd)
{
	char *memory = malloc(10 << 20), byte;

	if (!memory || read(fd, memory, 1000) != 1000)
		return 1;
	memory[9 << 20] = 1;
	free(memory);
	return lseek(fd, 0, SEEK_SET) || read(fd, &byte, 1) != 1 || byte != 0x7f;
}

static int open_file(int fd)
{
	(void)fd;
	return open("/etc/passwd", O_RDONLY) >= 0 || open("/proc/self/exe", O_RDONLY) >= 0 ||
	       open("/tmp", O_TMPFILE | O_RDWR, 0600) >= 0 || creat("/tmp/test-confine", 0600) >= 0;
}

/** Return: 0: it can write at any place, and change the size; 1: neither; 2: one of them. */
static int write_on(int fd)
{
	bool writes = pwrite(fd, "x", 1, 4096) == 1, cuts = !ftruncate(fd, 10);

	return writes && cuts ? 0 : !writes && !cuts ? 1 : 2;
}

static int reach_others(int fd)
{
	(void)fd;
	return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ||
	       !kill(getpid(), 0) || !kill(1, 0);
}

static int start_others(int fd)
{
	char word[] = "true", *const words[] = { word, NULL };
	pid_t pid = fork();

	(void)fd;
	if (!pid)
		_exit(0);
	if (pid > 0)
		return 1;
	execv("/bin/true", words);
	return 0;
}

static int is_root(int fd)
{
	(void)fd;
	return !getuid() || !geteuid() || !getegid() || !setuid(0);
}

static void test_confined(void **state)
{
	(void)state;
	unsetenv(KVM_UNCONFINED);
	assert_int_equal(confined(read_on), 0);
	assert_int_equal(confined(open_file), 0);
	assert_int_equal(confined(reach_others), 0);
	assert_int_equal(confined(start_others), 0);
}

static void test_root(void **state)
{
	(void)state;
	assert_int_equal(confined(is_root), 0);
}

/** It may write what is open, at any place, and has no other right. */
static void test_writer(void **state)
{
	static int (*const forbidden[])(int fd) = {
		open_file, reach_others, start_others, is_root,
	};

	(void)state;
	unsetenv(KVM_UNCONFINED);
	assert_int_equal(confined_by(kvm_confine_writer, write_on, memfd_create("file", 0)), 0);
	assert_int_equal(confined_by(kvm_confine, write_on, memfd_create("file", 0)), 1);
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++)
		assert_int_equal(confined_by(kvm_confine_writer, forbidden[i],
					     memfd_create("file", 0)), 0);
}

static int is_root_there(void)
{
	return is_root(0) || reach_others(0) || start_others(0);
}

static void test_folder(void **state)
{
	char path[64];
	int fd;

	(void)state;
	unsetenv(KVM_UNCONFINED);
	assert_non_null(mkdtemp(folder));
	fd = open_at("file", O_WRONLY | O_CREAT);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	snprintf(path, sizeof(path), "%s/link", folder);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(confined_to(read_folder), 0);
	assert_int_equal(confined_to(write_folder), 0);
	assert_int_equal(confined_to(is_root_there), 0);
	/* without Landlock, files can be opened for reading */
	if (has_landlock())
		assert_int_equal(confined_to(leave_folder), 0);
	unlink(path);
	snprintf(path, sizeof(path), "%s/file", folder);
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confined),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
