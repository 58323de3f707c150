// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_live.c
 * @brief	A host's machines in /sys and /proc, in a tree of files of our own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "file_tree.h"
#include "kvm_live.h"

/** A file, and its folder. */
static void remove_file(const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(remove(full), 0);
	*strrchr(full, '/') = '\0';
	assert_int_equal(rmdir(full), 0);
}

#define KVM	"/sys/kernel/debug/kvm/"

#define CMDLINE	"/usr/bin/qemu-system-x86_64\0-name\0guest=web,debug-threads=on\0-uuid\0" \
		"11-22\0-device\0{\"driver\":\"vhost-vsock-pci\",\"guest-cid\":7}"

/** Words, each of which ends with a NUL, as one literal. */
#define CONTROL_OF(words, path)	\
	{ "qemu-system-x86_64\0" words, sizeof("qemu-system-x86_64\0" words), path }

/** The socket for QMP: of -qmp, or of a chardev that a monitor in control mode uses. */
static void test_control(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *path;
	} lines[] = {
		CONTROL_OF("-qmp\0unix:/run/q.sock,server=on,wait=off", "/run/q.sock"),
		CONTROL_OF("--qmp-pretty\0unix:a,,b", "a,b"),
		CONTROL_OF("-qmp\0tcp:localhost:4444,server=on", NULL),
		CONTROL_OF("-qmp=unix:/x", "/x"),
		CONTROL_OF("-qmp\0chardev:m\0-chardev\0socket,id=m,path=/m,server=on", "/m"),
		CONTROL_OF("-chardev\0socket,path=/c,id=c\0-mon\0c,mode=control", "/c"),
		CONTROL_OF("-chardev\0socket,id=c,path=/c\0-mon\0chardev=c,mode=readline", NULL),
		/* as libvirt, which keeps the connection */
		CONTROL_OF("-chardev\0socket,id=charmonitor,fd=24,server=on,wait=off\0"
			   "-mon\0chardev=charmonitor,id=monitor,mode=control", NULL),
		CONTROL_OF("-chardev\0socket,id=charmonitor,fd=24\0"
			   "-mon\0chardev=charmonitor,mode=control\0-qmp\0unix:/own", "/own"),
		CONTROL_OF("-mon\0chardev=none,mode=control", NULL),
		CONTROL_OF("-qmp", NULL),
		CONTROL_OF("-qmp\0unix:", NULL),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct kvm_live_guest guest = { 0 };

		assert_int_equal(kvm_live_cmdline(lines[i].text, lines[i].size, &guest), 0);
		if (lines[i].path)
			assert_string_equal(guest.control, lines[i].path);
		else
			assert_null(guest.control);
		free(guest.control);
	}
}

/** Linux 6.0 and later show the threads. */
static void test_qemu(void **state)
{
	struct kvm_live live;
	const struct kvm_live_guest *guest;
	int n;

	(void)state;
	put(KVM "1234-12/vcpu1/pid", "1241\n");
	put(KVM "1234-12/vcpu1/tsc-offset", "-1234567890123\n");
	put(KVM "1234-12/vcpu0/pid", "1240\n");
	put(KVM "1234-12/vcpu0/tsc-offset", "-1234567890124\n");
	put(KVM "1234-12/vcpu0/tsc-scaling-ratio", "4294967296\n");
	put(KVM "1234-12/vcpu0/tsc-scaling-ratio-frac-bits", "32\n");
	put(KVM "1234-12/exits", "17\n");
	put(KVM "exits", "17\n");
	put_bytes("/proc/1234/cmdline", CMDLINE, sizeof(CMDLINE));
	assert_int_equal(kvm_live_read(root, &live), 0);
	assert_int_equal(live.n_guests, 1);
	assert_int_equal(live.n_notes, 0);
	guest = &live.guests[0];
	assert_int_equal(guest->pid, 1234);
	assert_string_equal(guest->name, "web");
	assert_string_equal(guest->uuid, "11-22");
	assert_int_equal(guest->cid, 7);
	assert_int_equal(guest->n_vcpus, 2);
	assert_int_equal(guest->vcpus[0].id, 0);
	assert_int_equal(guest->vcpus[0].tid, 1240);
	assert_true(guest->vcpus[0].has_offset);
	assert_int_equal(guest->vcpus[0].tsc_offset, -1234567890124);
	assert_int_equal(guest->vcpus[0].tsc_ratio, 4294967296);
	assert_int_equal(guest->vcpus[0].tsc_ratio_frac_bits, 32);
	assert_int_equal(guest->vcpus[1].tid, 1241);
	assert_int_equal(guest->vcpus[1].tsc_ratio, 0);
	assert_ptr_equal(kvm_live_find(&live, "web", &n), guest);
	assert_int_equal(n, 1);
	assert_ptr_equal(kvm_live_find(&live, "1234", &n), guest);
	assert_ptr_equal(kvm_live_find(&live, "11-22", &n), guest);
	assert_null(kvm_live_find(&live, "db", &n));
	assert_int_equal(n, 0);
	kvm_live_free(&live);
}

/** A link that a process's folder fd has. */
static void put_link(const char *path, const char *to)
{
	char full[PATH_MAX];

	put(path, "");
	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(symlink(to, full), 0);
}

/** debugfs has folders of vCPUs on x86 alone; the monitor has a file of each everywhere. */
static void test_no_folders(void **state)
{
	struct kvm_live live;

	(void)state;
	put(KVM "80-9/exits", "5\n");
	put("/proc/80/comm", "");
	put_link("/proc/80/fd/0", "/dev/null");
	put_link("/proc/80/fd/9", "anon_inode:kvm-vm");
	put_link("/proc/80/fd/11", "anon_inode:kvm-vcpu:1");
	put_link("/proc/80/fd/10", "anon_inode:kvm-vcpu:0");
	put_link("/proc/80/fd/12", "anon_inode:kvm-vcpu:4096");
	put_link("/proc/80/fd/13", "anon_inode:kvm-vcpu-stats:1");
	put("/proc/80/task/80/comm", "qemu-system-aar\n");
	put("/proc/80/task/81/comm", "CPU 0/KVM\n");
	put("/proc/80/task/82/comm", "CPU 1/KVM\n");
	put_bytes("/proc/80/cmdline", CMDLINE, sizeof(CMDLINE));
	/* whose is it? */
	put(KVM "81-9/exits", "5\n");
	put(KVM "81-10/exits", "5\n");
	put_link("/proc/81/fd/9", "anon_inode:kvm-vm");
	put_link("/proc/81/fd/10", "anon_inode:kvm-vm");
	put_link("/proc/81/fd/11", "anon_inode:kvm-vcpu:0");
	/* a probe */
	put(KVM "82-9/exits", "5\n");
	put_link("/proc/82/fd/9", "anon_inode:kvm-vm");
	assert_int_equal(kvm_live_read(root, &live), 0);
	assert_int_equal(live.n_guests, 1);
	assert_string_equal(live.guests[0].name, "web");
	assert_int_equal(live.guests[0].n_vcpus, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(live.guests[0].vcpus[i].id, i);
		assert_int_equal(live.guests[0].vcpus[i].tid, 81 + i);
		assert_false(live.guests[0].vcpus[i].has_offset);
	}
	assert_int_equal(live.guests[0].n_threads, 3);
	assert_int_equal(live.n_notes, 1);
	assert_non_null(strstr(live.notes[0], "/proc/80/fd/12: no such number of a vCPU"));
	kvm_live_free(&live);
}

/** Older kernels do not; other monitors call their threads otherwise, and are not called. */
static void test_threads(void **state)
{
	struct kvm_live live;

	(void)state;
	put(KVM "50-9/vcpu0/tsc-offset", "5\n");
	put(KVM "50-9/vcpu1/tsc-offset", "5\n");
	put("/proc/50/task/50/comm", "firecracker\n");
	put("/proc/50/task/51/comm", "fc_vcpu 0\n");
	put("/proc/50/task/52/comm", "fc_vcpu 1\n");
	put("/proc/50/cmdline", "");
	/* two threads of one name identify nothing */
	put(KVM "60-9/vcpu0/tsc-offset", "5\n");
	put("/proc/60/task/60/comm", "CPU 0/KVM\n");
	put("/proc/60/task/61/comm", "CPU 0/KVM\n");
	put("/proc/60/task/x61/comm", "CPU 0/KVM\n");
	put("/proc/60/task/0/comm", "CPU 0/KVM\n");
	/* no vCPU: a probe */
	put(KVM "70-9/exits", "5\n");
	assert_int_equal(kvm_live_read(root, &live), 0);
	assert_int_equal(live.n_guests, 2);
	assert_string_equal(live.guests[0].name, "firecracker-50");
	assert_int_equal(live.guests[0].vcpus[0].tid, 51);
	assert_int_equal(live.guests[0].vcpus[1].tid, 52);
	assert_int_equal(live.guests[1].vcpus[0].tid, 0);
	/* all of the process, in order */
	assert_int_equal(live.guests[0].n_threads, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(live.guests[0].threads[i], 50 + i);
	assert_int_equal(live.guests[1].n_threads, 2);
	/* one more, and one that has ended since is kept */
	put("/proc/50/task/49/comm", "worker\n");
	remove_file("/proc/50/task/51/comm");
	assert_int_equal(kvm_live_more_threads(root, &live), 0);
	assert_int_equal(live.guests[0].n_threads, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(live.guests[0].threads[i], 49 + i);
	assert_int_equal(kvm_live_more_threads(root, &live), 0);
	assert_int_equal(live.guests[0].n_threads, 4);
	kvm_live_free(&live);
	assert_int_equal(kvm_live_thread("CPU 12/KVM"), 12);
	assert_int_equal(kvm_live_thread("crosvm_vcpu3"), 3);
	assert_int_equal(kvm_live_thread("vcpu4"), 4);
	assert_int_equal(kvm_live_thread("kvm-vcpu-5"), 5);
	assert_int_equal(kvm_live_thread("CPU 1/KVM2"), -1);
	assert_int_equal(kvm_live_thread("CPU -1/KVM"), -1);
	assert_int_equal(kvm_live_thread("vcpu99999999999999999999"), -1);
	assert_int_equal(kvm_live_thread("qemu-kvm"), -1);
}

/** What is no number becomes a note; the rest is used. */
/** A machine of one vCPU: its folder in debugfs, and what its monitor was called with. */
static void put_machine(const char *folder, int pid, const char *name, const char *uuid)
{
	char path[100], text[200];
	int n;

	snprintf(path, sizeof(path), KVM "%s/vcpu0/tsc-offset", folder);
	put(path, "0\n");
	n = snprintf(text, sizeof(text), "qemu%c-name%cguest=%s%c-uuid%c%s%c", 0, 0, name, 0, 0,
		     uuid, 0);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	put_bytes(path, text, (size_t)n);
}

/* Each has a name of its own, by which it is found; by that which they have in common, all are. */
static void test_alike(void **state)
{
	static const struct {
		const char *folder;
		int pid;
		const char *name, *uuid, *expected;
	} all[] = {
		{ "10-8", 10, "web", "11111111-aaaa", "web-11111111" },
		{ "11-8", 11, "web", "22222222-aaaa", "web-22222222" },
		{ "12-8", 12, "web", "22222222-bbbb", "web-12" },	/* begins like another */
		{ "13-8", 13, "web", "", "web-13-8" },			/* one is called web-13 */
		{ "14-8", 14, "web-13", "", "web-13" },
		{ "15-8", 15, "two", "", "two-15" },			/* of one process */
		{ "15-9", 15, "two", "", "two-15-9" },
	};
	struct kvm_live live;
	int n;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		put_machine(all[i].folder, all[i].pid, all[i].name, all[i].uuid);
	assert_int_equal(kvm_live_read(root, &live), 0);
	assert_int_equal(live.n_guests, sizeof(all) / sizeof(*all));
	for (int i = 0; i < live.n_guests; i++) {
		assert_string_equal(live.guests[i].name, all[i].expected);
		assert_ptr_equal(kvm_live_find(&live, all[i].expected, &n), &live.guests[i]);
		assert_int_equal(n, 1);
	}
	assert_ptr_equal(kvm_live_find(&live, "web", &n), &live.guests[0]);
	assert_int_equal(n, 4);
	kvm_live_free(&live);
}

static void test_hostile(void **state)
{
	char *huge = malloc(1 << 20);
	struct kvm_live live;

	(void)state;
	memset(huge, '1', 1 << 20);
	put_bytes(KVM "8-1/vcpu0/tsc-offset", huge, 1 << 20);
	put(KVM "8-1/vcpu0/pid", "0\n");
	put(KVM "8-1/vcpu1/tsc-offset", "12x\n");
	put(KVM "8-1/vcpu1/pid", "99999999999\n");
	put(KVM "8-1/vcpu2/tsc-offset", "99999999999999999999999\n");
	put(KVM "8-1/vcpu2/tsc-scaling-ratio", "-1\n");
	put_bytes(KVM "8-1/vcpu3/tsc-offset", "1\0002\n", 4);
	put(KVM "8-1/vcpu4/tsc-scaling-ratio", "1\n");
	put(KVM "8-1/vcpu4/tsc-scaling-ratio-frac-bits", "64\n");
	put(KVM "8-1/vcpu4/tsc-offset", "7\n");
	put(KVM "8-1/vcpu4/pid/folder", "7\n");
	put(KVM "8-1/vcpu4096/tsc-offset", "1\n");
	put(KVM "8-1/vcpu-1/tsc-offset", "1\n");
	put(KVM "0-1/vcpu0/tsc-offset", "1\n");
	put(KVM "99999999999-1/vcpu0/tsc-offset", "1\n");
	put_bytes("/proc/8/cmdline", huge, 1 << 20);
	free(huge);
	assert_int_equal(kvm_live_read(root, &live), 0);
	assert_int_equal(live.n_guests, 1);
	assert_string_equal(live.guests[0].name, "vm-8");
	assert_int_equal(live.guests[0].n_vcpus, 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(live.guests[0].vcpus[i].tid, 0);
		assert_int_equal(live.guests[0].vcpus[i].has_offset, i == 4);
		assert_int_equal(live.guests[0].vcpus[i].tsc_ratio, 0);
	}
	assert_int_equal(live.n_notes, 10);
	kvm_live_free(&live);
}

static void test_missing(void **state)
{
	struct kvm_live live;

	(void)state;
	assert_int_equal(kvm_live_read(root, &live), -ENOENT);
	kvm_live_free(&live);
}

static void check_cmdline(const char *text, size_t size, const char *name, uint32_t cid)
{
	struct kvm_live_guest guest = { 0 };

	assert_int_equal(kvm_live_cmdline(text, size, &guest), 0);
	if (name)
		assert_string_equal(guest.name, name);
	else
		assert_null(guest.name);
	assert_int_equal(guest.cid, cid);
	free(guest.name);
	free(guest.uuid);
}

#define CHECK(text, name, cid)	check_cmdline(text, sizeof(text), name, cid)

static void test_cmdline(void **state)
{
	(void)state;
	CHECK("qemu-system-x86_64\0-name\0db", "db", 0);
	CHECK("/usr/libexec/qemu-kvm\0--name=db,process=x", "db", 0);
	CHECK("qemu-kvm\0-name\0debug-threads=on,guest=a,,b", "a,b", 0);
	CHECK("qemu-kvm\0-name\0debug-threads=on", NULL, 0);
	CHECK("qemu-kvm\0-name", NULL, 0);
	CHECK("qemu-kvm\0-name\0", NULL, 0);
	CHECK("qemu-kvm\0-device\0vhost-vsock-pci,guest-cid=3", NULL, 3);
	CHECK("qemu-kvm\0-device\0vhost-vsock-pci,guest-cid=99999999999", NULL, 0);
	CHECK("qemu-kvm\0-device\0vhost-vsock-pci,guest-cid=2", NULL, 0);
	CHECK("firecracker\0--id\0tiny", "tiny", 0);
	CHECK("crosvm\0run\0--name\0c\0--cid=5", "c", 5);
	CHECK("cloud-hypervisor\0--vsock\0cid=4,socket=/x", NULL, 4);
	CHECK("", NULL, 0);
	check_cmdline("qemu-kvm\0-name\0cut", 18, NULL, 0);
	check_cmdline("x", 0, NULL, 0);
}

#define TEST(function)	cmocka_unit_test_setup_teardown(function, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_qemu),
		TEST(test_no_folders),
		TEST(test_threads),
		TEST(test_alike),
		TEST(test_hostile),
		TEST(test_missing),
		cmocka_unit_test(test_cmdline),
		cmocka_unit_test(test_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
