/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_cgroups.h
 * @brief	The cgroups of machines' vCPUs now: their CPU quota, and how long it held them.
 *
 *	/proc/PID/task/TID/cgroup
 *	/sys/fs/cgroup/PATH/{cpu.max,cpu.stat}
 *	/sys/fs/cgroup/cpu/PATH/{cpu.cfs_quota_us,cpu.cfs_period_us,cpu.stat}	version 1
 *
 * A quota of a cgroup holds for all below it, so each cgroup up to the root is listed.
 */
#ifndef KSHARK_VIRT_KVM_CGROUPS_H
#define KSHARK_VIRT_KVM_CGROUPS_H

#include "cpu_quota.h"
#include "kvm_live.h"

/** A cgroup, whose path names it. */
struct kvm_cgroup {
	char		*path;
	int		above;		/* index of the one above, which comes before; root: -1 */
	bool		is_known;	/* what follows could be read */
	struct cpu_quota quota;
};

/** The cgroup of a thread. */
struct kvm_cgroup_thread {
	int		tid;
	int		cgroup;		/* index */
};

struct kvm_cgroups {
	struct kvm_cgroup *all;
	size_t		n, room;
	struct kvm_cgroup_thread *threads;
	size_t		n_threads, threads_room;
};

/**
 * kvm_cgroups_read - look at the cgroups of all vCPUs
 * @root: as for kvm_live_read()
 * @cgroups: receives them; to be given to kvm_cgroups_free() in any case
 *
 * A thread that has ended, or whose cgroup is not visible from here, has none.
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_cgroups_read(const char *root, const struct kvm_live *live, struct kvm_cgroups *cgroups);
void kvm_cgroups_free(struct kvm_cgroups *cgroups);

/** kvm_cgroups_of - index of the cgroup of a thread; or -1. */
int kvm_cgroups_of(const struct kvm_cgroups *cgroups, int tid);

/** kvm_cgroups_find - index of a cgroup by its path; or -1. */
int kvm_cgroups_find(const struct kvm_cgroups *cgroups, const char *path);

#endif
