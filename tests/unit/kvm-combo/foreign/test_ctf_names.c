// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_ctf_names.c
 * @brief	The kernel's names of what LTTng records; and which folders hold a trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf_folder.h"
#include "ctf_names.h"

/** Names of lttng-modules, and those in the kernel's include/trace/events and arch/x86. */
static void test_events(void **state)
{
	static const struct { const char *ctf, *system, *name; } rows[] = {
		{ "kvm_x86_entry", "kvm", "kvm_entry" },
		{ "kvm_x86_exit", "kvm", "kvm_exit" },
		{ "kvm_x86_apic_accept_irq", "kvm", "kvm_apic_accept_irq" },
		{ "kvm_x86_vcpu_match_mmio", "kvm", "vcpu_match_mmio" },
		{ "kvm_userspace_exit", "kvm", "kvm_userspace_exit" },
		{ "kvm_mmu_fast_page_fault", "kvmmmu", "fast_page_fault" },
		{ "sched_switch", "sched", "sched_switch" },
		{ "irq_handler_entry", "irq", "irq_handler_entry" },
		{ "irq_softirq_raise", "irq", "softirq_raise" },
		{ "timer_hrtimer_expire_entry", "timer", "hrtimer_expire_entry" },
		{ "timer_expire_exit", "timer", "timer_expire_exit" },
		{ "power_cpu_idle", "power", "cpu_idle" },
		{ "x86_irq_vectors_local_timer_entry", "irq_vectors", "local_timer_entry" },
		{ "x86_irq_vectors_ipi_exit", "irq_vectors", "x86_platform_ipi_exit" },
		{ "syscall_entry_read", "syscalls", "sys_enter_read" },
		{ "syscall_exit_read", "syscalls", "sys_exit_read" },
		{ "lttng_statedump_process_state", "lttng", "lttng_statedump_process_state" },
		{ "my_app:step", "my_app", "step" },
		{ "plain", "plain", "plain" },
		{ ":", "ctf", ":" },
		{ "", "ctf", "" },
	};
	struct ctf_event_name name;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ctf_event_name(rows[i].ctf, &name);
		assert_string_equal(name.system, rows[i].system);
		assert_string_equal(name.name, rows[i].name);
	}
}

static void test_fields(void **state)
{
	const struct ctf_event_name wakeup = { "sched", "sched_wakeup" };
	const struct ctf_event_name fork = { "sched", "sched_process_fork" };
	const struct ctf_event_name entry = { "kvm", "kvm_entry" };
	const struct ctf_event_name other = { "lttng", "lttng_statedump_process_state" };

	(void)state;
	assert_string_equal(ctf_field_name(&wakeup, "tid").name, "pid");
	assert_int_equal(ctf_field_name(&wakeup, "prio").add, 100);
	assert_string_equal(ctf_field_name(&fork, "child_tid").name, "child_pid");
	assert_string_equal(ctf_field_name(&fork, "child_pid").name, "child_tgid");
	assert_string_equal(ctf_field_name(&other, "tid").name, "tid");
	assert_int_equal(ctf_field_name(&other, "prio").add, 0);
	assert_int_equal(ctf_field_name(&wakeup, "tid").most, 0);
	assert_int_equal(ctf_field_name(&entry, "vcpu_id").most, 0xffff);
	assert_true(ctf_field_is_comm(&wakeup, "comm"));
	assert_true(ctf_field_is_comm(&wakeup, "next_comm"));
	assert_false(ctf_field_is_comm(&wakeup, "telecomm"));
	assert_false(ctf_field_is_comm(&other, "comm"));
}

/** TASK_DEAD, 64, is "x" up to Linux 4.13; since then, 64 is a parked thread, "P". */
static void test_states(void **state)
{
	(void)state;
	assert_non_null(strstr(ctf_switch_print("3.8.1"), "{ 64, \"x\" }"));
	assert_non_null(strstr(ctf_switch_print("4.13.0-1-amd64"), "{ 64, \"x\" }"));
	assert_non_null(strstr(ctf_switch_print("4.14.2"), "{ 64, \"P\" }"));
	assert_non_null(strstr(ctf_switch_print("6.1.0-13-amd64"), "{ 64, \"P\" }"));
	assert_non_null(strstr(ctf_switch_print(NULL), "{ 64, \"P\" }"));
	assert_non_null(strstr(ctf_switch_print("rolling"), "{ 64, \"P\" }"));
}

/* --- folders --------------------------------------------------------------------------------- */

static char root[] = "/tmp/test-ctf-XXXXXX";

static void make(const char *name, size_t bytes)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0 && !ftruncate(fd, (off_t)bytes));
	close(fd);
}

static int read_folder(struct ctf_folder *folder, char problem[512])
{
	ctf_folder_free(folder);
	return ctf_folder_read(root, folder, problem, 512);
}

static void test_folder(void **state)
{
	struct ctf_folder folder = { 0 };
	char problem[512], path[256];
	uint64_t stamp;

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_false(ctf_folder_is(root));
	assert_int_equal(read_folder(&folder, problem), -ENOENT);
	make("b/kernel/metadata", 10);
	make("b/kernel/c_0", 1000);
	make("b/kernel/index/c_0.idx", 100);
	make("a/ust/uid/0/64-bit/metadata", 10);
	make(".hidden/metadata", 10);
	assert_true(ctf_folder_is(root));
	assert_int_equal(read_folder(&folder, problem), 0);
	assert_int_equal(folder.n, 2);
	assert_non_null(strstr(folder.traces[0], "/a/ust/uid/0/64-bit"));
	assert_non_null(strstr(folder.traces[1], "/b/kernel"));
	assert_int_equal(folder.bytes, 1100);
	/* a folder that changes has another stamp, also if it has as many bytes */
	stamp = folder.stamp;
	assert_int_equal(read_folder(&folder, problem), 0);
	assert_true(folder.stamp == stamp);
	make("b/kernel/c_0", 900);
	make("b/kernel/c_1", 100);
	assert_int_equal(read_folder(&folder, problem), 0);
	assert_int_equal(folder.bytes, 1100);
	assert_true(folder.stamp != stamp);
	/* not a trace itself, so nothing of it is opened */
	snprintf(path, sizeof(path), "%s/plain", root);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(read_folder(&folder, problem), 0);
	snprintf(path, sizeof(path), "%s/b/kernel/link", root);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(read_folder(&folder, problem), -ELOOP);
	assert_non_null(strstr(problem, "/b/kernel/link: is a link"));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(read_folder(&folder, problem), -EINVAL);
	unlink(path);
	make("b/kernel/metadata", CTF_FOLDER_METADATA + 1);
	assert_int_equal(read_folder(&folder, problem), -EFBIG);
	ctf_folder_free(&folder);
	snprintf(path, sizeof(path), "rm -r %s", root);
	assert_int_equal(system(path), 0);
	assert_false(ctf_folder_is(root));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
