// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/**
 * @file	top_kernel.bpf.c
 * @brief	Programs in the kernel that count the states of vCPUs at the scheduler's events.
 *
 * All that is written of a vCPU is written at events of its own thread or of the pCPU that it waits
 * for. The scheduler holds the thread's lock, or that of the pCPU's queue: so they come one after
 * the other, and the reader alone has to look whether it read while a program wrote.
 */
#include "top_kernel_map.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* what of the kernel's own types is read; the loader finds where it is */
struct task_struct {
	int		pid;
	int		exit_state;
	char		comm[TOP_KERNEL_COMM];
} __attribute__((preserve_access_index));

#define STOPPED		0x0cU
#define DEAD		0x80U
/** Places where a culprit may be: the one of its key, and those after it. */
#define PROBES		16
#define NO_PLACE	0xffffffffU
/** The filter is a word for each of these. */
#define FILTER_WORDS	1024

char LICENSE[] SEC("license") = "GPL";

/* sizes are set by the loader */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top_kernel_vcpu);
} vcpus SEC(".maps");

/** The place of a thread's vCPU. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} threads SEC(".maps");

/** Preempted vCPUs that wait for a pCPU: their places, and 1. */
struct waiters {
	__u32	n;
	__u32	vcpus[TOP_KERNEL_WAITERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct waiters);
} pcpus SEC(".maps");

/** Pids that may be vCPUs': most switches are of none, and end here. */
__u64 filter[FILTER_WORDS];
/** The interval that is counted, and where it ends: by its number's lowest bit. */
volatile __u64 number;
struct top_kernel_edge edges[2];

static __always_inline struct top_kernel_vcpu *vcpu_at(__u32 place)
{
	return bpf_map_lookup_elem(&vcpus, &place);
}

static __always_inline struct top_kernel_vcpu *vcpu_of(__u32 pid, __u32 *place)
{
	__u32 *found;

	if (!(filter[pid >> 6 & (FILTER_WORDS - 1)] >> (pid & 63) & 1))
		return NULL;
	found = bpf_map_lookup_elem(&threads, &pid);
	if (!found)
		return NULL;
	*place = *found;
	return vcpu_at(*place);
}

static __always_inline void begin_write(struct top_kernel_vcpu *vcpu)
{
	/* with its result, it is a barrier */
	__u64 writes = __sync_fetch_and_add(&vcpu->writes, 1);

	barrier_var(writes);
}

static __always_inline void end_write(struct top_kernel_vcpu *vcpu)
{
	__u64 writes = __sync_fetch_and_add(&vcpu->writes, 1);

	barrier_var(writes);
}

/*
 * Functions that are not static are verified once, and not at each call: loops have a place there.
 * They take memory and numbers alone.
 */

/** Return: 0. */
__noinline int empty_bank(struct top_kernel_bank *bank)
{
	if (!bank)
		return 0;
	for (int i = 0; i < TOP_KERNEL_N_STATES; i++)
		bank->ns[i] = bank->count[i] = 0;
	bank->wakes = bank->wake_ns = bank->others_ns = 0;
	for (int i = 0; i < TOP_KERNEL_CULPRITS; i++)
		bank->culprits[i].key = 0;
	for (int i = 0; i < TOP_KERNEL_LATENCIES; i++) {
		bank->latencies[i] = 0;
		/* else the compiler makes a call of it, which programs do not have */
		barrier();
	}
	return 0;
}

/** The bank of an interval, empty at first. */
static __always_inline struct top_kernel_bank *bank_of(struct top_kernel_vcpu *vcpu, __u64 interval)
{
	struct top_kernel_bank *bank = interval & 1 ? &vcpu->banks[1] : &vcpu->banks[0];

	if (bank->number != interval) {
		empty_bank(bank);
		bank->number = interval;
	}
	return bank;
}

/** A time up to now, cut at the end of the interval. */
struct cut {
	__u64	number, before_ns, after_ns;
};

static __always_inline void cut_time(struct cut *cut, __u64 since_ns, __u64 now_ns)
{
	__u64 n = number;
	__u64 from_ns = edges[n & 1].from_ns, to_ns = edges[n & 1].to_ns;

	/* all before that has been read */
	if (since_ns < from_ns)
		since_ns = from_ns;
	cut->number = n;
	cut->before_ns = cut->after_ns = 0;
	if (now_ns <= since_ns)
		return;
	if (since_ns < to_ns)
		cut->before_ns = (now_ns < to_ns ? now_ns : to_ns) - since_ns;
	cut->after_ns = now_ns - since_ns - cut->before_ns;
}

/** The interval that a moment lies in. */
static __always_inline __u64 interval_of(__u64 now_ns)
{
	__u64 n = number;

	return n + (now_ns >= edges[n & 1].to_ns);
}

/** The vCPU was in its state up to now. Return: 0. */
__noinline int count_state(struct top_kernel_vcpu *vcpu, __u64 now_ns)
{
	struct cut cut;
	__u32 state;

	if (!vcpu)
		return 0;
	state = vcpu->state;
	if (state == TOP_KERNEL_UNKNOWN && vcpu->asleep_ns) {
		state = vcpu->state = TOP_KERNEL_BLOCKED;
		vcpu->counted_ns = vcpu->since_ns = vcpu->asleep_ns;
	}
	if (state >= TOP_KERNEL_N_STATES)
		return 0;
	cut_time(&cut, vcpu->counted_ns, now_ns);
	if (cut.before_ns)
		bank_of(vcpu, cut.number)->ns[state] += cut.before_ns;
	if (cut.after_ns)
		bank_of(vcpu, cut.number + 1)->ns[state] += cut.after_ns;
	vcpu->counted_ns = now_ns;
	return 0;
}

/** Return: 0. */
__noinline int set_state(struct top_kernel_vcpu *vcpu, __u32 state, __u64 now_ns)
{
	if (!vcpu || state >= TOP_KERNEL_N_STATES)
		return 0;
	vcpu->state = state;
	vcpu->since_ns = now_ns;
	bank_of(vcpu, interval_of(now_ns))->count[state]++;
	return 0;
}

struct comm {
	char	text[TOP_KERNEL_COMM];
};

/* --- who had the pCPU ------------------------------------------------------------------------ */

/** @comm: its name; NULL: @vcpu has it */
static __always_inline void count_culprit(struct top_kernel_vcpu *vcpu,
					  struct top_kernel_bank *bank, __u64 ns, __u32 key,
					  const struct comm *comm)
{
	__u32 at = key * 0x9e3779b1U >> 16;

	for (int i = 0; i < PROBES && key; i++, at++) {
		struct top_kernel_culprit *culprit =
			&bank->culprits[at & (TOP_KERNEL_CULPRITS - 1)];

		if (culprit->key == key) {
			culprit->ns += ns;
			return;
		}
		if (culprit->key)
			continue;
		culprit->key = key;
		culprit->ns = ns;
		__builtin_memcpy(culprit->comm, comm ? comm->text : vcpu->by_comm, TOP_KERNEL_COMM);
		return;
	}
	bank->others_ns += ns;
}

/** Up to now, that one had the pCPU. @key, @comm: see count_culprit(). Return: 0. */
__noinline int end_slice(struct top_kernel_vcpu *vcpu, __u64 now_ns, __u32 key,
			 const struct comm *comm)
{
	struct cut cut;

	if (!vcpu)
		return 0;
	cut_time(&cut, vcpu->slice_ns, now_ns);
	if (cut.before_ns)
		count_culprit(vcpu, bank_of(vcpu, cut.number), cut.before_ns, key, comm);
	if (cut.after_ns)
		count_culprit(vcpu, bank_of(vcpu, cut.number + 1), cut.after_ns, key, comm);
	vcpu->slice_ns = now_ns;
	return 0;
}

static __always_inline void set_by(struct top_kernel_vcpu *vcpu, const struct task_struct *task)
{
	vcpu->by = task->pid + 1;
	bpf_probe_read_kernel(vcpu->by_comm, TOP_KERNEL_COMM, task->comm);
}

/** It waits for a pCPU from now on. The queue of that may belong to another CPU: the last step. */
static __always_inline void wait_for(struct top_kernel_vcpu *vcpu, __u32 place, __u32 pcpu)
{
	struct waiters *waiters = bpf_map_lookup_elem(&pcpus, &pcpu);

	vcpu->pcpu = pcpu;
	vcpu->waiter = 0;
	for (int i = 0; i < TOP_KERNEL_WAITERS && waiters; i++) {
		if (waiters->vcpus[i])
			continue;
		vcpu->waiter = i + 1;
		if (!__sync_val_compare_and_swap(&waiters->vcpus[i], 0, place + 1)) {
			__sync_fetch_and_add(&waiters->n, 1);
			return;
		}
		vcpu->waiter = 0;
	}
}

static __always_inline void wait_no_more(struct top_kernel_vcpu *vcpu)
{
	__u32 pcpu = vcpu->pcpu, at = vcpu->waiter - 1;
	struct waiters *waiters;

	vcpu->waiter = 0;
	if (at >= TOP_KERNEL_WAITERS)
		return;
	waiters = bpf_map_lookup_elem(&pcpus, &pcpu);
	if (!waiters)
		return;
	waiters->vcpus[at] = 0;
	__sync_fetch_and_add(&waiters->n, -1);
}

/** A pCPU goes from one task to the next: so do the waits of those that are preempted there. */
static __always_inline void next_culprit(struct waiters *waiters, __u64 now_ns,
					 const struct task_struct *prev,
					 const struct comm *comm,
					 const struct task_struct *next)
{
	for (int i = 0; i < TOP_KERNEL_WAITERS; i++) {
		__u32 place = waiters->vcpus[i];
		struct top_kernel_vcpu *vcpu = place ? vcpu_at(place - 1) : NULL;

		if (!vcpu)
			continue;
		begin_write(vcpu);
		end_slice(vcpu, now_ns, prev->pid + 1, comm);
		set_by(vcpu, next);
		end_write(vcpu);
	}
}

/* --- events ---------------------------------------------------------------------------------- */

/** A latency is that of the interval in which it began, if that has not been read. */
static __always_inline void count_wake(struct top_kernel_vcpu *vcpu, __u64 now_ns)
{
	__u64 n = number, since_ns = vcpu->since_ns, ns = now_ns - since_ns;
	struct top_kernel_bank *bank;
	__u32 at;

	if (since_ns < edges[n & 1].from_ns || now_ns < since_ns)
		return;
	bank = bank_of(vcpu, interval_of(since_ns));
	bank->wakes++;
	bank->wake_ns += ns;
	at = top_kernel_latency(ns);
	if (at < TOP_KERNEL_LATENCIES)
		bank->latencies[at]++;
}

static __always_inline void arrive(struct top_kernel_vcpu *vcpu, __u64 now_ns,
				   const struct task_struct *prev, const struct comm *comm)
{
	begin_write(vcpu);
	vcpu->events++;
	vcpu->missed += vcpu->state == TOP_KERNEL_ON;
	if (vcpu->state == TOP_KERNEL_BLOCKED || vcpu->state == TOP_KERNEL_OFFLINE) {
		/* when it was woken is not known */
		vcpu->missed++;
		vcpu->state = TOP_KERNEL_MISSED;
	}
	if (vcpu->state == TOP_KERNEL_PREEMPTED) {
		if (vcpu->waiter)
			end_slice(vcpu, now_ns, prev->pid + 1, comm);
		else
			end_slice(vcpu, now_ns, 0, NULL);
		wait_no_more(vcpu);
	}
	count_state(vcpu, now_ns);
	if (vcpu->state == TOP_KERNEL_WAKING)
		count_wake(vcpu, now_ns);
	set_state(vcpu, TOP_KERNEL_ON, now_ns);
	end_write(vcpu);
}

/** It leaves a pCPU that it was not seen to get: what it did in between is not known. */
static __always_inline void miss_arrival(struct top_kernel_vcpu *vcpu)
{
	begin_write(vcpu);
	vcpu->missed++;
	if (vcpu->state == TOP_KERNEL_PREEMPTED) {
		/* up to here, others had the pCPU */
		count_state(vcpu, vcpu->slice_ns);
		wait_no_more(vcpu);
	}
	vcpu->state = TOP_KERNEL_MISSED;
	end_write(vcpu);
}

static __always_inline void leave(struct top_kernel_vcpu *vcpu, __u32 place, __u64 now_ns,
				  __u32 pcpu, __u32 prev_state, int is_dead,
				  const struct task_struct *next)
{
	begin_write(vcpu);
	vcpu->events++;
	count_state(vcpu, now_ns);
	if (is_dead || prev_state & STOPPED) {
		set_state(vcpu, TOP_KERNEL_OFFLINE, now_ns);
	} else if (prev_state) {
		set_state(vcpu, TOP_KERNEL_BLOCKED, now_ns);
	} else {
		set_state(vcpu, TOP_KERNEL_PREEMPTED, now_ns);
		vcpu->slice_ns = now_ns;
		set_by(vcpu, next);
	}
	end_write(vcpu);
	if (vcpu->state == TOP_KERNEL_PREEMPTED)
		wait_for(vcpu, place, pcpu);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(top_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u32 pcpu = bpf_get_smp_processor_id(), pid = prev->pid;
	__u32 came_at = NO_PLACE, left_at = NO_PLACE;
	struct waiters *waiters = bpf_map_lookup_elem(&pcpus, &pcpu);
	struct top_kernel_vcpu *left = vcpu_of(prev->pid, &left_at);
	struct top_kernel_vcpu *came = vcpu_of(next->pid, &came_at);
	int is_dead = 0;
	struct comm comm = { { 0 } };
	__u64 now_ns;

	if (!waiters || ((left_at & came_at) == NO_PLACE && !waiters->n))
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (waiters->n)
		bpf_probe_read_kernel(comm.text, TOP_KERNEL_COMM, prev->comm);
	if (left && left->state != TOP_KERNEL_ON && left->state != TOP_KERNEL_UNKNOWN)
		miss_arrival(left);
	if (came)
		arrive(came, now_ns, prev, &comm);
	if (waiters->n)
		next_culprit(waiters, now_ns, prev, &comm, next);
	if (left) {
		is_dead = prev->exit_state || (!preempt && prev_state & DEAD);
		leave(left, left_at, now_ns, pcpu, preempt ? 0 : prev_state, is_dead, next);
	}
	if (is_dead)
		bpf_map_delete_elem(&threads, &pid);
	return 0;
}

static __always_inline int woken(const struct task_struct *task)
{
	__u32 place;
	struct top_kernel_vcpu *vcpu = vcpu_of(task->pid, &place);
	__u64 now_ns;

	if (!vcpu)
		return 0;
	now_ns = bpf_ktime_get_ns();
	begin_write(vcpu);
	vcpu->events++;
	count_state(vcpu, now_ns);
	if (vcpu->state == TOP_KERNEL_BLOCKED || vcpu->state == TOP_KERNEL_OFFLINE)
		set_state(vcpu, TOP_KERNEL_WAKING, now_ns);
	end_write(vcpu);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(top_wakeup, struct task_struct *task)
{
	return woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(top_wakeup_new, struct task_struct *task)
{
	return woken(task);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(top_migrate, struct task_struct *task, int pcpu)
{
	__u32 place;
	struct top_kernel_vcpu *vcpu = vcpu_of(task->pid, &place);
	__u64 now_ns;

	if (!vcpu || vcpu->state != TOP_KERNEL_PREEMPTED)
		return 0;
	now_ns = bpf_ktime_get_ns();
	begin_write(vcpu);
	vcpu->events++;
	end_slice(vcpu, now_ns, vcpu->waiter ? vcpu->by : 0, NULL);
	wait_no_more(vcpu);
	vcpu->by = 0;
	end_write(vcpu);
	wait_for(vcpu, place, (__u32)pcpu);
	return 0;
}
