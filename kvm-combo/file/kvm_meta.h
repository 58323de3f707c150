/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_meta.h
 * @brief	The sidecar <trace>.meta.json of a KVM host's trace: facts that the trace lacks.
 *
 *     { "cpu_khz": 2300000,
 *       "guests": [ { "name": "web", "uuid": "4c4c4544-...", "pid": 1472, "continues": 1290,
 *                     "threads": [ 1472, 1473, 1480 ],
 *                     "vcpus": [ { "id": 0, "tid": 1480, "tsc_offset": "0xfffffff9e57d569a",
 *                                  "tsc_scale": 1.0, "tsc_ratio": 281474976710656,
 *                                  "tsc_ratio_frac_bits": 48, "cgroup": 1 } ],
 *                     "regions": [ { "first": "0xfeb02a00", "last": "0xfeb02bff",
 *                                    "name": "virtio-mmio" },
 *                                  { "first": "0x3f8", "last": "0x3ff", "port": true,
 *                                    "name": "serial" } ] } ],
 *       "cgroups": [ { "path": "/" },
 *                    { "path": "/web", "above": 0,
 *                      "begin": { "quota_us": 20000, "period_us": 100000, "periods": 31,
 *                                 "throttled": 30, "throttled_us": 2413020 },
 *                      "end": { ... } } ],
 *       "quota_timer": "0xffffffff813b8ab0", "slack_timer": "0xffffffff813b89f0",
 *       "idle_states": [ "POLL", "C1", "C6" ], "governors": [ "schedutil" ],
 *       "moment": { "realtime_ns": 1795514400123456789, "trace_ns": 5812345678901,
 *                   "within_ns": 1250000 } }
 *
 * All members may be missing, and unknown ones are ignored. A guest's TSC is
 * (host's TSC * tsc_ratio >> tsc_ratio_frac_bits) + tsc_offset. tsc_scale is the same ratio for
 * people; it counts where tsc_ratio is missing. "tsc_offset_at_end" is the offset at the end of the
 * recording, if it was another one then. "threads" are those of the process "pid". A process that
 * "continues" another process is the same machine, which was restored or migrated; the other
 * process stands before it. "regions" are addresses of the guest's memory, and ports, that belong
 * to a device; regions do not overlap. A vCPU's "cgroup" is the number in "cgroups", from
 * 0 on; "above" is the one above, which has a lower number; the root has none. "begin" and "end"
 * are the quota of each (without "quota_us": none) when the recording began and ended; unknown ones
 * are missing, and one that lacks another number is unknown. "quota_timer" and "slack_timer" are
 * the addresses of the kernel's sched_cfs_period_timer() and sched_cfs_slack_timer(), if
 * hrtimer_expire_entry was recorded for each of them. "idle_states" are the kernel's names
 * of the idle states of its CPUs, by number; "" stands for an unknown one. "governors", each listed
 * once, decide on the frequencies of the CPUs. "moment" is one moment of the recording, since 1970
 * and on the axis of the trace; "within_ns" is the largest error of the wall clock at that moment,
 * as the kernel knows it from whatever sets the clock. For "part", see kvm_part_json.h.
 */
#ifndef KSHARK_VIRT_KVM_META_H
#define KSHARK_VIRT_KVM_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu_quota.h"
#include "device_region.h"
#include "key_map.h"
#include "kvm_part.h"
#include "virt_power.h"

#ifdef __cplusplus
extern "C" {
#endif

/** More of them is no host, and no guest. */
#define KVM_META_MAX_GUESTS	1024
#define KVM_META_MAX_VCPUS	4096
#define KVM_META_MAX_THREADS	65536
#define KVM_META_MAX_CGROUPS	65536
#define KVM_META_MAX_DEPTH	64

/** Linux has 6, and modules may bring more. */
#define KVM_META_MAX_GOVERNORS	16

/** A ratio of 1, as processors of Intel have it. */
#define KVM_META_FRAC_BITS	48
#define KVM_META_RATIO_ONE	(UINT64_C(1) << KVM_META_FRAC_BITS)

struct kvm_meta_vcpu {
	int32_t		id;
	int32_t		tid;		/* thread of the host that is this vCPU; 0: not known */
	bool		has_tsc;	/* what follows is known */
	int		tsc_frac_bits;
	int64_t		tsc_offset, tsc_offset_at_end;
	uint64_t	tsc_ratio;
	int		cgroup;		/* of @cgroups, from 1 on; 0: not known */
};

/** A cgroup that a vCPU is in, or that is above such a one. */
struct kvm_meta_cgroup {
	char		*path;
	int		above;		/* as @cgroup of a vCPU, a lower number; 0: root, unknown */
	int		depth;		/* how many are above it */
	bool		has_begin, has_end; /* known: */
	struct cpu_quota begin, end;
};

struct kvm_meta_guest {
	char		*name, *uuid;	/* or NULL */
	int32_t		pid;		/* of its process, or 0 */
	int32_t		continues;	/* the process in whose place it goes on; or 0 */
	struct kvm_meta_vcpu *vcpus;
	int		n_vcpus, room;
	int32_t		*threads;	/* of its process, as far as they are known */
	int		n_threads, threads_room;
	struct device_region *regions;	/* of its devices; with names of their own */
	int		n_regions, regions_room;
};

/**
 * kvm_meta_held - how often and how long a quota held threads in the recording
 *
 * Return: false if that is not known: one end is not, or the cgroup was removed and made again.
 */
static inline bool kvm_meta_held(const struct kvm_meta_cgroup *cgroup, struct cpu_quota *held)
{
	*held = (struct cpu_quota){
		.periods = cgroup->end.periods - cgroup->begin.periods,
		.throttled = cgroup->end.throttled - cgroup->begin.throttled,
		.throttled_us = cgroup->end.throttled_us - cgroup->begin.throttled_us,
	};
	return cgroup->has_begin && cgroup->has_end && held->periods >= 0 && held->throttled >= 0 &&
	       held->throttled_us >= 0 && held->throttled_us <= INT64_MAX / 1000;
}

/** Which vCPU a thread is: indices. */
struct kvm_meta_place {
	int	guest, vcpu;
};

struct kvm_meta {
	uint64_t	cpu_khz;	/* of the host's TSC; 0: not known */
	struct kvm_meta_guest *guests;
	int		n_guests, room;
	struct kvm_meta_cgroup *cgroups;
	int		n_cgroups, cgroups_room;
	uint64_t	quota_timer, slack_timer; /* 0: not recorded */
	char		*idle_states[VIRT_IDLE_STATES]; /* or NULL */
	char		*governors[KVM_META_MAX_GOVERNORS];
	int		n_governors;
	bool		has_moment;
	int64_t		realtime_ns;	/* since 1970 */
	int64_t		trace_ns;	/* the same, on the axis of the trace */
	int64_t		within_ns;	/* the wall clock's error was no more; -1: not known */
	/* of one that was read: */
	struct kvm_part	*part;		/* the trace is a part of another one; or NULL */
	bool		has_lives;	/* machines go on in other processes */
	struct key_map	threads;
	struct kvm_meta_place *places;	/* by number in @threads */
	size_t		n_places;
};

/** kvm_meta_has_quota - does a quota limit a cgroup itself, at any time that is known? */
bool kvm_meta_has_quota(const struct kvm_meta_cgroup *cgroup);

/** kvm_meta_knows_quotas - are those of a vCPU's cgroup and of all above it known? */
bool kvm_meta_knows_quotas(const struct kvm_meta *meta, const struct kvm_meta_vcpu *vcpu);

/** kvm_meta_new - nothing is known. Return: to be given to kvm_meta_free(), NULL without memory. */
struct kvm_meta *kvm_meta_new(void);

void kvm_meta_free(struct kvm_meta *meta);

/**
 * kvm_meta_add_guest - one more guest, which gets its vCPUs before the next one is added
 * @name, @uuid: are copied; may be NULL
 *
 * Return: NULL without memory, or if there are too many.
 */
struct kvm_meta_guest *kvm_meta_add_guest(struct kvm_meta *meta, const char *name,
					  const char *uuid, int32_t pid);

/** kvm_meta_add_vcpu - one more vCPU. Return: 0, -ENOMEM, or -EINVAL for one that cannot be. */
int kvm_meta_add_vcpu(struct kvm_meta_guest *guest, const struct kvm_meta_vcpu *vcpu);

/** kvm_meta_add_thread - one more of its process. Return: 0, -ENOMEM, or -EINVAL, as above. */
int kvm_meta_add_thread(struct kvm_meta_guest *guest, int32_t tid);

/**
 * kvm_meta_add_region - one more of its devices
 * @region: its name is copied
 *
 * Return: 0, -ENOMEM, or -EINVAL for one that cannot be, or one more than DEVICE_MAX_REGIONS.
 */
int kvm_meta_add_region(struct kvm_meta_guest *guest, const struct device_region *region);

/**
 * kvm_meta_add_cgroup - one more cgroup, without a quota that is known
 * @above: as in struct kvm_meta_cgroup; of one that is too deep, it is not kept
 *
 * Return: NULL without memory, or if there are too many.
 */
struct kvm_meta_cgroup *kvm_meta_add_cgroup(struct kvm_meta *meta, const char *path, int above);

/** kvm_meta_name_idle_state - it is copied. Return: 0, -ENOMEM, or -EINVAL for what cannot be. */
int kvm_meta_name_idle_state(struct kvm_meta *meta, int32_t state, const char *name);

/** kvm_meta_add_governor - as above; one that is there already is there once. */
int kvm_meta_add_governor(struct kvm_meta *meta, const char *name);

/**
 * kvm_meta_write - put it into the sidecar of a trace, which keeps its other contents
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int kvm_meta_write(const char *trace_path, const struct kvm_meta *meta, char *error, size_t size);

/**
 * kvm_meta_read - the KVM part of a trace's sidecar
 * @meta: receives it, or NULL if there is none, or nothing of it in it
 *
 * Of what cannot be, nothing is taken: vCPUs without a number, a thread as a second vCPU.
 *
 * Return: 0, or a negative errno and a text in @error.
 */
int kvm_meta_read(const char *trace_path, struct kvm_meta **meta, char *error, size_t size);

/**
 * kvm_meta_find - which vCPU is a thread?
 * @meta: one that was read, or NULL
 * @guest: receives whose; may be NULL
 *
 * Return: NULL if it is none.
 */
const struct kvm_meta_vcpu *kvm_meta_find(const struct kvm_meta *meta, int32_t tid,
					  const struct kvm_meta_guest **guest);

/**
 * kvm_meta_first - the thread that a thread's vCPU had first, before its machine went on elsewhere
 * @meta: as above
 *
 * Return: the same thread, if nothing is known of that.
 */
int32_t kvm_meta_first(const struct kvm_meta *meta, int32_t tid);

/**
 * kvm_meta_fill_tracker - add to a tracker which threads are which machine's vCPUs
 * @meta: from the sidecar, which counts more; or NULL
 * @trace_path: and as trace-cmd has recorded it there
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_meta_fill_tracker(const struct kvm_meta *meta, const char *trace_path,
			  struct kvm_tracker *tracker);

#ifdef __cplusplus
}
#endif
#endif
