// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	bench_follow.c
 * @brief	What it costs to follow a KVM host for an hour: time of a record, and memory.
 *
 * Usage: bench_follow [SECONDS [RATE [MACHINES]]]	default: 3600 200000 0
 *
 * 16 vCPUs of 4 machines on 8 CPUs, RATE records per second: VM entries and exits, and a switch
 * per 200 of them; 100 threads a second come, run and die, and MACHINES machines of two vCPUs. As
 * top does, it takes what came in each tenth of a second, and makes a model of each second. Prints
 * a line of name=value pairs for each sixth of the time, of the trace's; it takes as long as it
 * takes.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kvm_follow.h"

#define CPUS		8
#define VCPUS		16
#define MACHINES	4
#define FIRST_TID	100
#define FIRST_TASK	1000
#define FIRST_GUEST	5000000	/* threads of machines that come and go */
#define TENTH_NS	INT64_C(100000000)
#define THREADS		10	/* in a tenth */
#define PER_SWITCH	200
#define LINES		6

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double megabytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return (info.uordblks + info.hblkhd) / 1048576.0;
}

static void must(int ret)
{
	if (!ret)
		return;
	fprintf(stderr, "bench_follow: %d\n", ret);
	exit(1);
}

static void add(struct kvm_follow *follow, int cpu, int64_t time_ns, enum kvm_event_kind kind,
		int32_t pid, int32_t arg, int64_t value)
{
	const struct kvm_event event = {
		.time_ns = time_ns, .cpu = (int16_t)cpu, .kind = (uint8_t)kind, .pid = pid,
		.arg = arg, .value = value, .more = kind == KVM_EXIT ? KVM_ISA_VMX : 0,
	};

	must(kvm_tracker_add(kvm_follow_tracker(follow), &event));
}

/** A thread is made, runs and dies; then the vCPU goes on. */
static int64_t compile(struct kvm_follow *follow, int cpu, int64_t time_ns, int32_t tid)
{
	static int32_t task = FIRST_TASK;
	char comm[16];

	snprintf(comm, sizeof(comm), "cc%d", task % 50);
	must(kvm_tracker_name(kvm_follow_tracker(follow), task, comm));
	add(follow, cpu, time_ns + 1000, KVM_BORN, tid, task, 0);
	add(follow, cpu, time_ns + 2000, KVM_SWITCH, tid, task, 0);
	add(follow, cpu, time_ns + 50000, KVM_SWITCH, task, tid, 0x10);
	task = task == 4000000 ? FIRST_TASK : task + 1;
	return time_ns + 60000;
}

/** A machine begins, and both its vCPUs execute and die. */
static void boot(struct kvm_follow *follow, int64_t time_ns)
{
	static int32_t tid = FIRST_GUEST;
	const int32_t tids[] = { tid, tid + 1 };
	char name[16];

	snprintf(name, sizeof(name), "ci%d", (int)(tid / 2));
	must(kvm_follow_add_guest(follow, name, tids, 2));
	for (int v = 0; v < 2; v++, tid++, time_ns += 100000) {
		add(follow, 0, time_ns, KVM_BORN, FIRST_TID, tid, 0);
		add(follow, 0, time_ns + 1000, KVM_SWITCH, FIRST_TID, tid, 0);
		add(follow, 0, time_ns + 2000, KVM_ENTRY, tid, v, 0);
		add(follow, 0, time_ns + 50000, KVM_EXIT, tid, v, 12);
		add(follow, 0, time_ns + 60000, KVM_SWITCH, tid, FIRST_TID, 0x10);
	}
}

/** Records of a CPU in a tenth of a second. Return: how many */
static uint64_t fill(struct kvm_follow *follow, int cpu, int64_t begin_ns, uint64_t n)
{
	static int turn[CPUS];
	int64_t step_ns = TENTH_NS * 9 / 10 / (int64_t)(n + 1), time_ns = begin_ns;

	for (uint64_t i = 0; i < n; i++, time_ns += step_ns) {
		int vcpu = cpu + CPUS * (turn[cpu] & 1);
		int32_t tid = FIRST_TID + vcpu;

		if (i % PER_SWITCH == PER_SWITCH - 1) {
			turn[cpu]++;
			add(follow, cpu, time_ns, KVM_SWITCH, tid,
			    FIRST_TID + cpu + CPUS * (turn[cpu] & 1), 0);
		} else {
			add(follow, cpu, time_ns, i & 1 ? KVM_ENTRY : KVM_EXIT, tid,
			    vcpu % MACHINES, i % 7 ? 12 : 30);
		}
	}
	for (int i = cpu; i < THREADS; i += CPUS)
		time_ns = compile(follow, cpu, time_ns,
				  FIRST_TID + cpu + CPUS * (turn[cpu] & 1));
	return n;
}

static struct kvm_follow *begin(void)
{
	const struct kvm_follow_options options = {
		.kinds = VIRT_RECORD_BIT(VIRT_RECORD_SWITCH) |
			 VIRT_RECORD_BIT(VIRT_RECORD_ENTRY) |
			 VIRT_RECORD_BIT(VIRT_RECORD_EXIT),
		.n_cpus = CPUS,
	};
	struct kvm_follow *follow = kvm_follow_new(&options);

	must(!follow);
	for (int m = 0; m < MACHINES; m++) {
		int32_t tids[VCPUS / MACHINES];
		char name[16];

		for (int v = 0; v < VCPUS / MACHINES; v++)
			tids[v] = FIRST_TID + m * VCPUS / MACHINES + v;
		snprintf(name, sizeof(name), "web%d", m);
		must(kvm_follow_add_guest(follow, name, tids, VCPUS / MACHINES));
	}
	return follow;
}

int main(int argc, char **argv)
{
	int64_t seconds = argc > 1 ? atoll(argv[1]) : 3600;
	uint64_t rate = argc > 2 ? (uint64_t)atoll(argv[2]) : 200000, records = 0;
	int machines = argc > 3 ? atoi(argv[3]) : 0;
	struct kvm_follow *follow = begin();
	double began = now();

	for (int64_t tenth = 0; tenth < 10 * seconds; tenth++) {
		int64_t to_ns = (tenth + 1) * TENTH_NS;
		struct virt_model *model;

		for (int cpu = 0; cpu < CPUS; cpu++)
			records += fill(follow, cpu, tenth * TENTH_NS, rate / 10 / CPUS);
		for (int m = 0; m < machines && tenth % 10 == 0; m++)
			boot(follow, to_ns - TENTH_NS / 20 + m * 210000);
		must(kvm_follow_feed(follow, to_ns));
		if (tenth % 10 == 9) {
			must(kvm_follow_model(follow, to_ns - 10 * TENTH_NS, to_ns, &model));
			virt_model_free(model);
			must(kvm_follow_forget(follow, to_ns - 10 * TENTH_NS));
		}
		if ((tenth + 1) % (10 * seconds / LINES) == 0)
			printf("seconds=%lld records=%llu ns_per_record=%.0f megabytes=%.1f\n",
			       (long long)(tenth + 1) / 10, (unsigned long long)records,
			       (now() - began) * 1e9 / (double)records, megabytes());
	}
	kvm_follow_free(follow);
	return 0;
}
