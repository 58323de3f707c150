// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_apart.c
 * @brief	The memory of a process that reads a hostile file has a limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kvm_apart.h"
#include "trace_dat.h"

/** What CTest takes for a skipped test. */
#define SKIPPED	77

/** Does a limit hold here? The sanitizer needs its own memory, and emulators of a CPU ignore it. */
static bool limits_hold(void)
{
#ifdef KSV_SANITIZE_ADDRESS
	return false;
#else
	struct rlimit limit, now;

	if (getrlimit(RLIMIT_DATA, &limit))
		return false;
	now = limit;
	now.rlim_cur = (rlim_t)1 << 40;
	if (setrlimit(RLIMIT_DATA, &now) || getrlimit(RLIMIT_DATA, &now))
		return false;
	return now.rlim_cur == (rlim_t)1 << 40 && !setrlimit(RLIMIT_DATA, &limit);
#endif
}

/** Is there memory for @bytes, in a process with a limit for a file of @file_bytes? */
static bool has_memory(uint64_t file_bytes, uint64_t bytes)
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (!pid) {
		void *volatile memory;

		kvm_apart_limit_memory(file_bytes);
		memory = malloc(bytes);
		_exit(memory ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return !WEXITSTATUS(status);
}

static void memory(void **state)
{
	const uint64_t file = (uint64_t)1 << 28;
	void *before;

	(void)state;
	assert_true(has_memory(0, KVM_APART_MEMORY / 2));
	assert_false(has_memory(0, KVM_APART_MEMORY + (1 << 20)));
	assert_true(has_memory(file, KVM_APART_MEMORY + file / 2));
	assert_false(has_memory(file, KVM_APART_MEMORY + file + (1 << 20)));
	/* what a command had before does not count */
	before = calloc(1, KVM_APART_MEMORY);
	assert_non_null(before);
	assert_true(has_memory(0, KVM_APART_MEMORY / 2));
	free(before);
}

/** A lower limit of the user stays. */
static void own_limit(void **state)
{
	struct rlimit limit;
	int status = 0;
	pid_t pid;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		getrlimit(RLIMIT_DATA, &limit);
		limit.rlim_cur = (rlim_t)512 << 20;
		setrlimit(RLIMIT_DATA, &limit);
		kvm_apart_limit_memory(UINT64_MAX / 4);
		getrlimit(RLIMIT_DATA, &limit);
		_exit(limit.rlim_cur == (rlim_t)512 << 20 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory),
		cmocka_unit_test(own_limit),
	};

	if (!limits_hold())
		return SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
