// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_confine.c
 * @brief	Take all rights from a process that reads a hostile file, except the few it needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <seccomp.h>

#include "array.h"
#include "kvm_confine.h"

/** User and group without sudo's variables: the kernel's overflow ids, nobody and nogroup. */
#define NOBODY	65534

static unsigned int id_of(const char *name)
{
	const char *text = getenv(name);
	char *end = NULL;
	unsigned long id = text ? strtoul(text, &end, 10) : 0;

	return text && *text && !*end && id && id < NOBODY ? (unsigned int)id : NOBODY;
}

/** Of all rights of root, keep the one to read any file: capset(2), of this thread. */
static void keep_reading(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = 1U << CAP_DAC_READ_SEARCH, .permitted = 1U << CAP_DAC_READ_SEARCH },
	};

	syscall(SYS_capset, &head, data);
}

static bool leave_root(bool keeps_reading)
{
	uid_t user = id_of("SUDO_UID");
	gid_t group = id_of("SUDO_GID");

	if (geteuid() && getuid())
		return true;
	/* root of a user namespace may lack the right to change its ids, and most others */
	if (setgroups(0, NULL) && errno != EPERM)
		return false;
	if (keeps_reading)
		prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (setresgid(group, group, group) || setresuid(user, user, user))
		return errno == EPERM || errno == EINVAL;
	if (keeps_reading)
		keep_reading();
	return getuid() && geteuid();
}

/** The set of all rights to files that this version of Landlock knows. */
static uint64_t file_rights(long version)
{
	static const uint8_t n_rights[] = { 0, 13, 14, 15, 15, 16 };
	size_t n = n_rights[version < (long)ARRAY_SIZE(n_rights) ? version : 5];

	return (UINT64_C(1) << n) - 1;
}

/** The files below a folder may be read. */
static void allow_folder(int rules, const char *folder)
{
	struct landlock_path_beneath_attr beneath = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
		.parent_fd = open(folder, O_PATH | O_CLOEXEC),
	};

	if (beneath.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
	close(beneath.parent_fd);
}

/** @folder: whose files may be read; or NULL */
static void forbid_files(const char *folder)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr rules = { 0 };
	int fd;

	if (version < 1)
		return;
	rules.handled_access_fs = file_rights(version);
	fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules.handled_access_fs), 0);
	if (fd < 0)
		return;
	if (folder)
		allow_folder(fd, folder);
	syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
}

/** Allow what reads folders and files by their names: libbabeltrace2, GLib. */
static int allow_reading(scmp_filter_ctx filter)
{
	static const int calls[] = {
		SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(fstatfs),
		SCMP_SYS(getcwd), SCMP_SYS(getdents64), SCMP_SYS(lstat), SCMP_SYS(readlink),
		SCMP_SYS(readlinkat), SCMP_SYS(stat), SCMP_SYS(statx),
	};
	const struct scmp_arg_cmp reading_at = {
		.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = O_ACCMODE | O_CREAT | O_TRUNC,
		.datum_b = O_RDONLY,
	};
	const struct scmp_arg_cmp reading = {
		.arg = 1, .op = SCMP_CMP_MASKED_EQ, .datum_a = O_ACCMODE | O_CREAT | O_TRUNC,
		.datum_b = O_RDONLY,
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(calls) && !ret; i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	if (!ret)
		ret = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
					     &reading_at);
	if (!ret)
		ret = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1, &reading);
	return ret;
}

/** Allow to write at any place of files that are open, which trace_dat_write.c does. */
static int allow_writing(scmp_filter_ctx filter)
{
	int ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pwrite64), 0);

	return ret ? ret : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ftruncate), 0);
}

/**
 * Allow the calls of libtracecmd, libtraceevent, malloc() and messages; others get EPERM.
 * @writes: also those of a writer
 * @reads_files: also those that find files by their names
 */
static void forbid_calls(bool writes, bool reads_files)
{
	static const int calls[] = {
		SCMP_SYS(brk), SCMP_SYS(clock_gettime), SCMP_SYS(close), SCMP_SYS(dup),
		SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(fcntl), SCMP_SYS(fstat),
		SCMP_SYS(futex), SCMP_SYS(getpid), SCMP_SYS(getrandom), SCMP_SYS(getrusage),
		SCMP_SYS(gettid), SCMP_SYS(lseek), SCMP_SYS(madvise), SCMP_SYS(mmap),
		SCMP_SYS(mprotect), SCMP_SYS(mremap), SCMP_SYS(munmap), SCMP_SYS(newfstatat),
		SCMP_SYS(pread64), SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(recvfrom),
		SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
		SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_yield), SCMP_SYS(sendto),
		SCMP_SYS(sigaltstack), SCMP_SYS(sysinfo), SCMP_SYS(tgkill),
		SCMP_SYS(write), SCMP_SYS(writev),
	};
	/* prlimit64() for this process only */
	const struct scmp_arg_cmp itself = { .arg = 0, .op = SCMP_CMP_EQ, .datum_a = 0 };
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int ret = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(calls) && !ret; i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	if (!ret)
		ret = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1,
					     &itself);
	if (!ret && writes)
		ret = allow_writing(filter);
	if (!ret && reads_files)
		ret = allow_reading(filter);
	if (!ret)
		seccomp_load(filter);
	seccomp_release(filter);
}

static bool confine(bool writes, const char *folder)
{
	if (getenv(KVM_UNCONFINED))
		return true;
	if (!leave_root(folder))
		return false;
	/* a change of the user has cleared it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Landlock and seccomp require it of all but root */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return true;
	forbid_files(folder);
	forbid_calls(writes, folder);
	return true;
}

bool kvm_confine(void)
{
	return confine(false, NULL);
}

bool kvm_confine_to(const char *folder)
{
	return confine(true, folder);
}

bool kvm_confine_writer(void)
{
	return confine(true, NULL);
}
