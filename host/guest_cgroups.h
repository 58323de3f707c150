/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_cgroups.h
 * @brief	Find the cgroups of a guest's tasks in the guest's own trace.
 *
 * cgroup_attach_task shows when a task enters a cgroup; for a process, it names only the leader. A
 * new task (sched_wakeup_new) begins in the cgroup of the task that made it. The cgroups of all
 * other tasks are unknown.
 */
#ifndef KSHARK_VIRT_GUEST_CGROUPS_H
#define KSHARK_VIRT_GUEST_CGROUPS_H

#include "key_map.h"
#include "kvm_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** From a time on, a task is in a cgroup. */
struct guest_cgroup_step {
	int64_t		time_ns;
	int32_t		pid;
	int32_t		maker;		/* begins in the cgroup of this one; or VIRT_NONE */
	int32_t		cgroup;		/* number; or VIRT_NONE */
};

/** All zero is none. */
struct guest_cgroups {
	struct key_map	name_map;	/* of paths */
	struct guest_cgroup_name {
		char	*text;
	} *names;			/* by number in @name_map */
	uint32_t	room_names;
	struct guest_cgroup_step *steps; /* at last by pid, ascending by time */
	size_t		n, room;
	int32_t		root;		/* of the hierarchy that counts: the one with the least
					 * number, as cgroup v2's is 0 */
};

/**
 * guest_cgroups_take - the next record of the guest, in any order
 * @time_ns: when it was, on any axis
 *
 * Return: 0 or -ENOMEM.
 */
int guest_cgroups_take(struct guest_cgroups *cgroups, const struct kvm_trace_record *record,
		       int64_t time_ns);

/** guest_cgroups_end - all has gone by: who was in which one? Return: 0 or -ENOMEM. */
int guest_cgroups_end(struct guest_cgroups *cgroups);

/**
 * guest_cgroups_at - the cgroup of a task at a time
 * @until_ns: receives when another step follows; INT64_MAX: none does. May be NULL
 *
 * Return: its number, or VIRT_NONE.
 */
int32_t guest_cgroups_at(const struct guest_cgroups *cgroups, int32_t pid, int64_t time_ns,
			 int64_t *until_ns);

/** guest_cgroups_name - "/web"; NULL for VIRT_NONE. */
const char *guest_cgroups_name(const struct guest_cgroups *cgroups, int32_t number);

void guest_cgroups_free(struct guest_cgroups *cgroups);

#ifdef __cplusplus
}
#endif

#endif
