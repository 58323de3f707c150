// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_cgroups.c
 * @brief	The cgroups of vCPUs and their CPU quota, of both versions, in a tree of our own;
 *		and those of this process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "file_tree.h"
#include "kvm_cgroups.h"

/** Two machines, of one and of two vCPUs. */
static struct kvm_live_vcpu vcpus[] = { { .id = 0, .tid = 11 }, { .id = 0, .tid = 21 },
					{ .id = 1, .tid = 22 } };
static struct kvm_live_guest guests[] = {
	{ .pid = 10, .vcpus = &vcpus[0], .n_vcpus = 1 },
	{ .pid = 20, .vcpus = &vcpus[1], .n_vcpus = 2 },
};
static const struct kvm_live live = { .guests = guests, .n_guests = 2 };

static const struct kvm_cgroup *of(const struct kvm_cgroups *cgroups, int tid)
{
	int index = kvm_cgroups_of(cgroups, tid);

	return index < 0 ? NULL : &cgroups->all[index];
}

static const struct kvm_cgroup *at(const struct kvm_cgroups *cgroups, const char *path)
{
	int index = kvm_cgroups_find(cgroups, path);

	assert_in_range(index, 0, cgroups->n - 1);
	return &cgroups->all[index];
}

static void read_all(struct kvm_cgroups *cgroups)
{
	assert_int_equal(kvm_cgroups_read(root, &live, cgroups), 0);
	for (size_t i = 0; i < cgroups->n; i++)
		assert_true(cgroups->all[i].above < (int)i);
}

#define SECOND	"/sys/fs/cgroup"
#define STAT	"usage_usec 5\nnr_periods 31\nnr_throttled 30\nthrottled_usec 2413020\n"

static void test_second(void **state)
{
	struct kvm_cgroups cgroups;
	const struct kvm_cgroup *cgroup;

	(void)state;
	put("/proc/10/task/11/cgroup", "0::/machine.slice/web/vcpu0\n");
	put("/proc/20/task/21/cgroup", "0::/machine.slice/db\n");
	put("/proc/20/task/22/cgroup", "0::/../elsewhere\n");
	put(SECOND "/cgroup.procs", "");
	put(SECOND "/machine.slice/cpu.max", "max 100000\n");
	put(SECOND "/machine.slice/cpu.stat", STAT);
	put(SECOND "/machine.slice/web/cpu.max", "20000 100000\n");
	put(SECOND "/machine.slice/web/cpu.stat", STAT);
	/* without the controller: the quota above holds for it */
	put(SECOND "/machine.slice/web/vcpu0/cgroup.procs", "");
	read_all(&cgroups);

	cgroup = of(&cgroups, 11);
	assert_string_equal(cgroup->path, "/machine.slice/web/vcpu0");
	assert_true(cgroup->is_known);
	assert_int_equal(cgroup->quota.quota_us, CPU_NO_QUOTA);
	cgroup = &cgroups.all[cgroup->above];
	assert_string_equal(cgroup->path, "/machine.slice/web");
	assert_true(cgroup->is_known);
	assert_int_equal(cgroup->quota.quota_us, 20000);
	assert_int_equal(cgroup->quota.period_us, 100000);
	assert_int_equal(cgroup->quota.periods, 31);
	assert_int_equal(cgroup->quota.throttled, 30);
	assert_int_equal(cgroup->quota.throttled_us, 2413020);
	cgroup = &cgroups.all[cgroup->above];
	assert_string_equal(cgroup->path, "/machine.slice");
	assert_int_equal(cgroup->quota.quota_us, CPU_NO_QUOTA);
	cgroup = &cgroups.all[cgroup->above];
	assert_string_equal(cgroup->path, "/");
	assert_int_equal(cgroup->above, -1);
	assert_true(cgroup->is_known);

	/* its files are not there: not known */
	assert_string_equal(of(&cgroups, 21)->path, "/machine.slice/db");
	assert_false(of(&cgroups, 21)->is_known);
	assert_null(of(&cgroups, 22));
	assert_null(of(&cgroups, 12));
	assert_int_equal(cgroups.n, 5);
	kvm_cgroups_free(&cgroups);
}

#define FIRST	"/sys/fs/cgroup/cpu,cpuacct"

static void test_first(void **state)
{
	struct kvm_cgroups cgroups;

	(void)state;
	put("/proc/10/task/11/cgroup", "9:cpuset:/a\n4:cpu,cpuacct:/web\n0::/init.scope\n");
	put("/proc/20/task/21/cgroup", "4:cpuacct,cpu:/db\n");
	put(FIRST "/cgroup.procs", "");
	put(FIRST "/web/cpu.cfs_quota_us", "20000\n");
	put(FIRST "/web/cpu.cfs_period_us", "100000\n");
	put(FIRST "/web/cpu.stat", "nr_periods 43\nnr_throttled 39\nthrottled_time 2218309771\n");
	put(FIRST "/db/cpu.cfs_quota_us", "-1\n");
	put(FIRST "/db/cpu.cfs_period_us", "100000\n");
	put(FIRST "/db/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
	read_all(&cgroups);
	assert_string_equal(of(&cgroups, 11)->path, "/web");
	assert_true(at(&cgroups, "/web")->is_known);
	assert_int_equal(at(&cgroups, "/web")->quota.quota_us, 20000);
	assert_int_equal(at(&cgroups, "/web")->quota.throttled_us, 2218309);
	assert_int_equal(at(&cgroups, "/web")->quota.throttled, 39);
	assert_true(at(&cgroups, "/db")->is_known);
	assert_int_equal(at(&cgroups, "/db")->quota.quota_us, CPU_NO_QUOTA);
	kvm_cgroups_free(&cgroups);
}

/** What cannot be is not known; nothing of it is a number. */
static void test_odd(void **state)
{
	static const char *const odd[] = { "", "20000\n", "x 100000\n", "-5 100000\n", "0 100000",
					   "20000 0\n", "max\n", "max x\n" };
	static const char *const odd_stats[] = {
		"", "nr_periods\nnr_throttled 1\n", "throttled_usec",
		"nr_periods 1\nnr_throttled 1\nthrottled_usec x\n",
		"nr_periods 1\nnr_throttled -1\nthrottled_usec 1\n",
		"nr_periods 1\nthrottled_usec 1\n",
	};
	struct kvm_cgroups cgroups;

	(void)state;
	put(SECOND "/cgroup.procs", "");
	put("/proc/10/task/11/cgroup", "0::/odd\n");
	put("/proc/20/task/21/cgroup", "0\n::\n:::\n0::not/a/path\n");
	put("/proc/20/task/22/cgroup", "");
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		put(SECOND "/odd/cpu.max", odd[i]);
		put(SECOND "/odd/cpu.stat", STAT);
		read_all(&cgroups);
		assert_false(of(&cgroups, 11)->is_known);
		assert_null(of(&cgroups, 22));
		kvm_cgroups_free(&cgroups);
	}
	put(SECOND "/odd/cpu.max", "20000 100000\n");
	for (size_t i = 0; i < sizeof(odd_stats) / sizeof(*odd_stats); i++) {
		put(SECOND "/odd/cpu.stat", odd_stats[i]);
		read_all(&cgroups);
		assert_false(of(&cgroups, 11)->is_known);
		kvm_cgroups_free(&cgroups);
	}
}

/** The kernel's own files: a path as deep as the kernel says, and each above it. */
static void test_here(void **state)
{
	struct kvm_live_vcpu vcpu = { .tid = getpid() };
	struct kvm_live_guest guest = { .pid = getpid(), .vcpus = &vcpu, .n_vcpus = 1 };
	const struct kvm_live here = { .guests = &guest, .n_guests = 1 };
	struct kvm_cgroups cgroups;

	(void)state;
	assert_int_equal(kvm_cgroups_read("", &here, &cgroups), 0);
	if (!cgroups.n)
		skip();	/* the kernel has no cgroups */
	assert_string_equal(cgroups.all[0].path, "/");
	assert_non_null(of(&cgroups, getpid()));
	kvm_cgroups_free(&cgroups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_second, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_first, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_odd, make_root, remove_root),
		cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
