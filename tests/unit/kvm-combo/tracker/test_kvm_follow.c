// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_follow.c
 * @brief	A tracker of a live KVM host has the results of a tracker of a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "kvm_follow.h"
#include "kvm_private.h"
#include "kvm_records.h"
#include "same_model.h"
#include "sample_kvm.h"
#include "virt_model.h"

static const char *const samples[] = {
	"hypertrace-nested.dat", "kvm-boot.dat", "kvm-cgroups.dat", "kvm-host.dat",
	"kvm-hypercall.dat", "kvm-migration.dat", "kvm-nested-linux.dat", "kvm-nested-shift.dat",
	"kvm-nested.dat", "kvm-paused.dat", "kvm-ptp.dat", "kvm-shared.dat", "kvm-talk.dat",
	"waits-disk.dat", "waits-ipi.dat", "waits-packet.dat", "waits-timer.dat",
};

/** A trace, whose records are given to those that follow it. */
struct file {
	struct kvm_trace	*trace;
	struct kvm_tracker	*tracker;
	struct virt_model	*model;
	int64_t			begin_ns, end_ns;
	size_t			*given;		/* records of each CPU */
};

static void open_file(struct file *file, const char *sample)
{
	file->trace = open_sample(sample);
	file->tracker = kvm_tracker_new();
	assert_int_equal(kvm_trace_track(file->trace, file->tracker, NULL, NULL, NULL,
					 &file->begin_ns, &file->end_ns), 0);
	assert_int_equal(kvm_tracker_finish(file->tracker, file->begin_ns, file->end_ns,
					    &file->model), 0);
	file->given = NULL;
}

static void close_file(struct file *file)
{
	virt_model_free(file->model);
	kvm_tracker_free(file->tracker);
	kvm_trace_close(file->trace);
	free(file->given);
}

/** One that has the sidecar's contents, and names. */
static struct kvm_follow *follow_file(struct file *file)
{
	const struct kvm_tracker *of = file->tracker;
	const struct kvm_follow_options options = {
		.kinds = kvm_tracker_recorded(of), .n_cpus = (int)of->n_cpus,
	};
	struct kvm_follow *follow = kvm_follow_new(&options);

	assert_non_null(follow);
	for (size_t i = 0; i < of->n_guests; i++)
		assert_int_equal(kvm_follow_add_guest(follow, of->guests[i].name,
						      of->guests[i].tids,
						      of->guests[i].n_vcpus), 0);
	for (uint32_t i = 0; i < of->pids.n_keys; i++) {
		const struct kvm_thread *thread = &of->threads[i];

		if (*thread->comm)
			assert_int_equal(kvm_tracker_name(kvm_follow_tracker(follow), thread->pid,
							  thread->comm), 0);
		if (thread->process)
			assert_int_equal(kvm_tracker_add_thread(kvm_follow_tracker(follow),
								thread->pid, thread->process), 0);
	}
	free(file->given);
	file->given = calloc(of->n_cpus + 1, sizeof(*file->given));
	return follow;
}

/** Its records before a time. */
static void give(const struct file *file, struct kvm_follow *follow, int64_t until_ns)
{
	for (size_t c = 0; c < file->tracker->n_cpus; c++) {
		const struct kvm_cpu *cpu = &file->tracker->cpus[c];

		for (; file->given[c] < cpu->events.n_plain; file->given[c]++) {
			struct kvm_event event = cpu->events.plain[file->given[c]];

			if (event.time_ns >= until_ns)
				break;
			/* how it was raised has gone with it already */
			if (event.kind == KVM_ACCEPT && event.more & (KVM_BY_IPI | KVM_BY_LINE)) {
				struct kvm_event raised = event;

				raised.kind = event.more & KVM_BY_IPI ? KVM_IPI : KVM_IRQ_LINE;
				raised.more &= 1;
				event.more &= 1;
				assert_int_equal(kvm_tracker_add(kvm_follow_tracker(follow),
								 &raised), 0);
			}
			assert_int_equal(kvm_tracker_add(kvm_follow_tracker(follow), &event), 0);
		}
	}
}

/** Taken at once, it is the same model. */
static void check_at_once(struct file *file)
{
	struct kvm_follow *follow = follow_file(file);
	struct virt_model *model;

	give(file, follow, INT64_MAX);
	assert_int_equal(kvm_follow_next(follow), file->begin_ns);
	assert_int_equal(kvm_follow_feed(follow, INT64_MAX), 0);
	assert_int_equal(kvm_follow_next(follow), INT64_MAX);
	assert_int_equal(kvm_follow_model(follow, file->begin_ns, file->end_ns, &model), 0);
	same_model(file->model, model);
	virt_model_free(model);
	kvm_follow_free(follow);
}

/** How long a vCPU was in each state between two times. */
static void add_up(const struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		   int64_t sums[VIRT_N_STATES])
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, from_ns, to_ns);

	memset(sums, 0, VIRT_N_STATES * sizeof(*sums));
	for (size_t i = 0; i < range.n; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : to_ns;

		if (start < from_ns)
			start = from_ns;
		if (start < end)
			sums[range.first[i].state] += end - start;
	}
}

static int32_t vcpu_called(const struct virt_model *model, const char *name)
{
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		if (!strcmp(virt_model_vcpu(model, i)->name, name))
			return i;
	return VIRT_NONE;
}

/**
 * A window has the results of the whole file, except those that need the rest of it: what a vCPU
 * did before the first word about it.
 */
static void same_window(const struct file *file, const struct virt_model *model, int64_t from_ns,
			int64_t to_ns)
{
	for (int32_t i = 0; i < virt_model_n_vcpus(file->model); i++) {
		int64_t of_file[VIRT_N_STATES], of_live[VIRT_N_STATES];
		int32_t vcpu = vcpu_called(model, virt_model_vcpu(file->model, i)->name);

		if (vcpu == VIRT_NONE)
			continue;
		add_up(file->model, i, from_ns, to_ns, of_file);
		add_up(model, vcpu, from_ns, to_ns, of_live);
		/* KVM records its polling at the end, when what came before may be out already */
		of_file[VIRT_HYPERVISOR] += of_file[VIRT_POLLING];
		of_live[VIRT_HYPERVISOR] += of_live[VIRT_POLLING];
		of_file[VIRT_POLLING] = of_live[VIRT_POLLING] = 0;
		if (of_live[VIRT_UNKNOWN] == of_file[VIRT_UNKNOWN])
			assert_memory_equal(of_file, of_live, sizeof(of_file));
		for (int s = 0; s < VIRT_N_STATES; s++)
			if (s != VIRT_UNKNOWN)
				assert_true(of_live[s] <= of_file[s]);
	}
}

/** Taken bit by bit, and forgotten. Return: windows that were looked at. */
static int check_bit_by_bit(struct file *file, int64_t step_ns)
{
	struct kvm_follow *follow = follow_file(file);
	int64_t unknown[2] = { 0 };
	int n = 0;

	for (int64_t from = file->begin_ns; from < file->end_ns; from += step_ns) {
		int64_t to = from + step_ns < file->end_ns ? from + step_ns : file->end_ns;
		struct virt_model *model;

		/* what comes later is there already, and not taken */
		give(file, follow, to + step_ns / 2);
		assert_int_equal(kvm_follow_feed(follow, to), 0);
		assert_int_equal(kvm_follow_fed(follow), to);
		assert_int_equal(kvm_follow_model(follow, from, to, &model), 0);
		same_window(file, model, from, to);
		for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
			int64_t sums[VIRT_N_STATES];

			add_up(model, i, from, to, sums);
			unknown[1] += sums[VIRT_UNKNOWN];
		}
		virt_model_free(model);
		assert_int_equal(kvm_follow_forget(follow, to), 0);
		n++;
	}
	for (int32_t i = 0; i < virt_model_n_vcpus(file->model); i++) {
		int64_t sums[VIRT_N_STATES];

		add_up(file->model, i, file->begin_ns, file->end_ns, sums);
		unknown[0] += sums[VIRT_UNKNOWN];
	}
	/* but for the first window, nothing more is unknown */
	assert_true(unknown[1] <= unknown[0] + step_ns * virt_model_n_vcpus(file->model));
	assert_int_equal(kvm_follow_waiting(follow), 0);
	kvm_follow_free(follow);
	return n;
}

static void test_samples(void **state)
{
	int windows = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct file file;

		open_file(&file, samples[i]);
		check_at_once(&file);
		windows += check_bit_by_bit(&file, 10000000);
		windows += check_bit_by_bit(&file, 100000000);
		close_file(&file);
	}
	assert_true(windows > 1000);
}

/* --- by hand --------------------------------------------------------------------------------- */

static struct kvm_follow *new_follow(int n_cpus)
{
	const struct kvm_follow_options options = {
		.kinds = VIRT_RECORD_BIT(VIRT_RECORD_SWITCH) |
			 VIRT_RECORD_BIT(VIRT_RECORD_ENTRY) |
			 VIRT_RECORD_BIT(VIRT_RECORD_EXIT) |
			 VIRT_RECORD_BIT(VIRT_RECORD_WAKEUP),
		.n_cpus = n_cpus,
	};
	struct kvm_follow *follow = kvm_follow_new(&options);

	assert_non_null(follow);
	return follow;
}

static void add(struct kvm_follow *follow, const struct record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct kvm_event event = event_of(&records[i]);

		assert_int_equal(kvm_tracker_add(kvm_follow_tracker(follow), &event), 0);
	}
}

#define ADD(follow, records)	add(follow, records, ARRAY_SIZE(records))

static struct virt_model *model_of(struct kvm_follow *follow, int64_t begin_ns, int64_t end_ns)
{
	struct virt_model *model;

	assert_int_equal(kvm_follow_feed(follow, end_ns), 0);
	assert_int_equal(kvm_follow_model(follow, begin_ns, end_ns, &model), 0);
	return model;
}

static void check_name(const struct virt_model *model, int32_t tid, const char *machine,
		       const char *name)
{
	int32_t vcpu = virt_model_find_vcpu(model, tid);

	assert_true(vcpu >= 0);
	assert_string_equal(virt_model_vcpu(model, vcpu)->name, name);
	assert_string_equal(virt_model_machine(model, virt_model_vcpu(model, vcpu)->machine)->name,
			    machine);
}

/** A vCPU that runs from then on. */
#define RUNS_AT(time, cpu, tid, number)					\
	{ time, cpu, KVM_SWITCH, IDLE, tid, RUNS },			\
	{ (time) + 1, cpu, KVM_ENTRY, tid, number, 0 },			\
	{ (time) + 5, cpu, KVM_EXIT, tid, number, INTR },		\
	{ (time) + 6, cpu, KVM_ENTRY, tid, number, 0 }

/** Machines, and vCPUs of machines, that were not there when it began. */
static void test_more_machines(void **state)
{
	static const struct record at_first[] = { RUNS_AT(10, 0, 100, 0) };
	static const struct record then[] = {
		RUNS_AT(60, 1, 300, 0), RUNS_AT(70, 2, 400, 0), RUNS_AT(80, 3, 102, 2),
		RUNS_AT(90, 4, 401, 1),
	};
	static const struct record at_last[] = { RUNS_AT(150, 5, 402, 2), RUNS_AT(160, 6, 600, 0) };
	static const struct expected first[] = {
		{ 0, VIRT_UNKNOWN, VIRT_NONE, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 11, VIRT_GUEST, 0, NULL, 0 },
		{ 15, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 16, VIRT_GUEST, 0, NULL, 0 },
	};
	static const int32_t web[] = { 100, 101, 102 }, db[] = { 300 };
	struct kvm_follow *follow = new_follow(7);
	struct virt_model *model;

	(void)state;
	assert_int_equal(kvm_follow_add_guest(follow, "web", web, 2), 0);
	ADD(follow, at_first);
	assert_false(kvm_follow_has_strangers(follow));
	model = model_of(follow, 0, 50);
	assert_int_equal(virt_model_n_vcpus(model), 2);
	CHECK(model, 100, first);
	check_name(model, 101, "g1:web", "web v1");
	virt_model_free(model);

	ADD(follow, then);
	assert_true(kvm_follow_has_strangers(follow));
	assert_int_equal(kvm_follow_add_guest(follow, "db", db, 1), 0);
	assert_int_equal(kvm_follow_add_guest(follow, "web", web, 3), 0);
	assert_true(kvm_follow_has_strangers(follow));	/* 400, 401 */
	model = model_of(follow, 0, 100);
	assert_false(kvm_follow_has_strangers(follow));
	assert_int_equal(virt_model_n_vcpus(model), 6);
	CHECK(model, 100, first);
	check_name(model, 102, "g1:web", "web v2");
	check_name(model, 300, "g2:db", "db v0");
	check_name(model, 400, "g3", "g3v0");
	check_name(model, 401, "g3", "g3v1");
	virt_model_free(model);

	/* one more of the machine without a name, and another one */
	ADD(follow, at_last);
	model = model_of(follow, 0, 200);
	check_name(model, 402, "g3", "g3v2");
	check_name(model, 600, "g4", "g4v0");
	CHECK(model, 100, first);
	virt_model_free(model);
	kvm_follow_free(follow);
}

/** Who was a task until then has its pCPU as a vCPU. */
static void test_becomes_vcpu(void **state)
{
	static const struct record as_task[] = { { 10, 0, KVM_SWITCH, IDLE, 100, RUNS } };
	static const struct record as_vcpu[] = { { 60, 0, KVM_ENTRY, 100, 0, 0 } };
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, VIRT_NONE, NULL, 0 },
		{ 50, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 60, VIRT_GUEST, 0, NULL, 0 },
	};
	struct kvm_follow *follow = new_follow(1);
	struct virt_model *model;

	(void)state;
	ADD(follow, as_task);
	virt_model_free(model_of(follow, 0, 50));
	ADD(follow, as_vcpu);
	model = model_of(follow, 0, 100);
	CHECK(model, 100, expected);
	virt_model_free(model);
	kvm_follow_free(follow);
}

/**
 * A task becomes a vCPU, and the first record after that is another thread's: no switch shows when
 * the vCPU left its pCPU. It had the pCPU when the model up to then was made.
 */
static void test_becomes_vcpu_and_leaves(void **state)
{
	static const struct record as_task[] = { { 10, 0, KVM_SWITCH, IDLE, 100, RUNS } };
	static const struct record then[] = {
		{ 60, 0, KVM_WAKEUP, 500, 501, 0 },
		{ 70, 0, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, VIRT_NONE, NULL, 0 },
		{ 50, VIRT_UNKNOWN, 0, NULL, 0 },
		{ 70, VIRT_GUEST, 0, NULL, 0 },
	};
	struct kvm_follow *follow = new_follow(1);
	struct virt_model *model;

	(void)state;
	ADD(follow, as_task);
	virt_model_free(model_of(follow, 0, 50));
	ADD(follow, then);
	model = model_of(follow, 0, 100);
	CHECK(model, 100, expected);
	virt_model_free(model);
	kvm_follow_free(follow);
}

/** A vCPU that was seen asleep has no records. Not if it may have been woken just then. */
static void test_asleep(void **state)
{
	static const struct record records[] = {
		{ 10, 0, KVM_SWITCH, IDLE, 50, RUNS },
		{ 42, 0, KVM_WAKEUP, 50, 101, 0 },
	};
	static const struct record then[] = {
		{ 70, 0, KVM_WAKEUP, 50, 100, 0 },
		{ 80, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 90, 1, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected first[] = {
		{ 0, VIRT_UNKNOWN, VIRT_NONE, NULL, 0 },
		{ 30, VIRT_BLOCKED, VIRT_NONE, NULL, 0 },
		{ 70, VIRT_WAKING, VIRT_NONE, NULL, 0 },
		{ 80, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 90, VIRT_GUEST, 1, NULL, 0 },
	};
	static const struct expected unknown[] = { { 0, VIRT_UNKNOWN, VIRT_NONE, NULL, 0 } };
	static const int32_t web[] = { 100, 101, 102, 103 };
	struct kvm_follow *follow = new_follow(3);
	struct virt_model *model;

	(void)state;
	assert_int_equal(kvm_follow_add_guest(follow, "web", web, 4), 0);
	assert_int_equal(kvm_follow_asleep(follow, 100, 30, 35), 0);
	assert_int_equal(kvm_follow_asleep(follow, 101, 40, 45), 0);
	assert_int_equal(kvm_follow_asleep(follow, 103, 150, 155), 0);
	ADD(follow, records);
	virt_model_free(model_of(follow, 0, 60));
	ADD(follow, then);
	model = model_of(follow, 0, 100);
	CHECK(model, 100, first);
	CHECK(model, 101, unknown);
	CHECK(model, 102, unknown);
	CHECK(model, 103, unknown);
	virt_model_free(model);
	kvm_follow_free(follow);
}

/** A CPU without records has lost none before the time that has been reported. */
static void test_loss(void **state)
{
	static const struct record records[] = {
		RUNS_AT(10, 0, 100, 0), { 12, 1, KVM_SWITCH, IDLE, 50, RUNS },
	};
	static const struct record after[] = { { 150, 1, KVM_SWITCH, 50, IDLE, ASLEEP } };
	struct kvm_follow *follow = new_follow(2);
	struct virt_model *model;

	(void)state;
	ADD(follow, records);
	virt_model_free(model_of(follow, 0, 100));
	assert_int_equal(kvm_tracker_lost(kvm_follow_tracker(follow), 1, 50, 150, 7), 0);
	ADD(follow, after);
	/* also while it lasts */
	for (int64_t until_ns = 120; until_ns <= 200; until_ns += 80) {
		model = model_of(follow, 0, until_ns);
		assert_int_equal(virt_model_losses(model).n, 1);
		assert_int_equal(virt_model_losses(model).first->from_ns, 100);
		assert_int_equal(virt_model_losses(model).first->to_ns, 150);
		assert_int_equal(virt_model_losses(model).first->records, 7);
		virt_model_free(model);
	}
	kvm_follow_free(follow);
}

/** Threads that come and go, as compilers do, preempt a vCPU; none of it makes memory grow. */
static void test_many_threads(void **state)
{
	struct kvm_follow *follow = new_follow(1);
	struct virt_model *model;
	int64_t time = 0;
	const struct virt_interval *last;
	struct virt_interval_range range;

	(void)state;
	for (int i = 0; i < 40000; i++, time += 1000) {
		const int32_t tid = 1000 + i;
		const struct record records[] = {
			{ time + 1, 0, KVM_SWITCH, i ? tid - 1 : IDLE, 100, i ? DEAD : RUNS },
			{ time + 2, 0, KVM_ENTRY, 100, 0, 0 },
			{ time + 3, 0, KVM_EXIT, 100, 0, INTR },
			{ time + 4, 0, KVM_BORN, 100, tid, 0 },
			{ time + 5, 0, KVM_SWITCH, 100, tid, RUNS },
		};

		assert_int_equal(kvm_tracker_name(kvm_follow_tracker(follow), tid, "cc"), 0);
		ADD(follow, records);
		if (i % 100)
			continue;
		assert_int_equal(kvm_follow_feed(follow, time + 500), 0);
		assert_int_equal(kvm_follow_forget(follow, time - 5000), 0);
		assert_true(kvm_follow_tracker(follow)->pids.n_keys < 10000);
		assert_true(kvm_follow_tracker(follow)->cpus[0].events.room < 10000);
	}
	model = model_of(follow, time - 10000, time);
	assert_true(virt_model_n_tasks(model) < KVM_FOLLOW_TASKS + 10);
	range = virt_vcpu_intervals(model, virt_model_find_vcpu(model, 100), INT64_MIN, INT64_MAX);
	last = &range.first[range.n - 1];
	assert_int_equal(last->state, VIRT_PREEMPTED);
	assert_string_equal(virt_model_who(model, last->detail), "cc");
	virt_model_free(model);
	kvm_follow_free(follow);
}

/** A thread that a monitor makes later works for its machine, also for who has met it before. */
static void test_later_thread(void **state)
{
	static const struct record records[] = {
		RUNS_AT(10, 0, 100, 0),
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 30, 0, KVM_SWITCH, 100, 150, RUNS },
		{ 40, 0, KVM_SWITCH, 150, 100, ASLEEP },
	};
	static const struct record then[] = {
		{ 60, 0, KVM_SWITCH, 100, 150, RUNS },
	};
	static const int32_t web[] = { 100 };
	struct kvm_follow *follow = new_follow(1);
	struct virt_model *model;
	struct virt_interval_range range;

	(void)state;
	assert_int_equal(kvm_follow_add_guest(follow, "web", web, 1), 0);
	assert_int_equal(kvm_tracker_add_thread(kvm_follow_tracker(follow), 100, 90), 0);
	assert_int_equal(kvm_tracker_name(kvm_follow_tracker(follow), 150, "worker"), 0);
	ADD(follow, records);
	virt_model_free(model_of(follow, 0, 50));
	assert_int_equal(kvm_tracker_add_thread(kvm_follow_tracker(follow), 150, 90), 0);
	assert_int_equal(kvm_tracker_add_thread(kvm_follow_tracker(follow), 151, 90), 0);
	ADD(follow, then);
	assert_int_equal(kvm_follow_forget(follow, 0), 0);
	model = model_of(follow, 0, 100);
	range = virt_vcpu_intervals(model, virt_model_find_vcpu(model, 100), 65, 66);
	assert_int_equal(range.first->state, VIRT_PREEMPTED);
	assert_string_equal(virt_model_who(model, range.first->detail), "web's worker-150");
	virt_model_free(model);
	kvm_follow_free(follow);
}

static int state_at(const struct virt_model *model, const char *vcpu, int64_t time_ns)
{
	return virt_vcpu_intervals(model, vcpu_called(model, vcpu), time_ns,
				   time_ns + 1).first->state;
}

/** The number of a thread that has died is another one's. */
static void test_number_again(void **state)
{
	static const struct record records[] = {
		RUNS_AT(10, 0, 100, 0),
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 30, 0, KVM_SWITCH, 100, IDLE, DEAD },
	};
	static const struct record again[] = {
		{ 60, 1, KVM_BORN, 50, 100, 0 },
		{ 70, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 80, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, VIRT_NONE, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 11, VIRT_GUEST, 0, NULL, 0 },
		{ 15, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 16, VIRT_GUEST, 0, NULL, 0 },
		{ 20, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 30, VIRT_OFFLINE, 0, NULL, 0 },
	};
	static const int32_t web[] = { 100 };
	struct virt_model *model;

	(void)state;
	/* whether the monitor was asked or not */
	for (int named = 0; named < 2; named++) {
		struct kvm_follow *follow = new_follow(2);

		if (named)
			assert_int_equal(kvm_follow_add_guest(follow, "web", web, 1), 0);
		ADD(follow, records);
		virt_model_free(model_of(follow, 0, 50));
		ADD(follow, again);
		assert_false(kvm_follow_has_strangers(follow));
		virt_model_free(model_of(follow, 0, 75));
		model = model_of(follow, 0, 100);
		assert_int_equal(virt_model_n_vcpus(model), 1);
		CHECK(model, 100, expected);
		virt_model_free(model);
		kvm_follow_free(follow);
	}
}

/** Also if that one has died as well, and was forgotten, as among compilers: the machine stays. */
static void test_number_forgotten(void **state)
{
	static const struct record records[] = {
		RUNS_AT(10, 0, 100, 0),
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 30, 0, KVM_SWITCH, 100, IDLE, DEAD },
	};
	static const int32_t web[] = { 100 };
	struct kvm_follow *follow = new_follow(1);
	struct virt_model *model;
	int64_t time = 40;

	(void)state;
	assert_int_equal(kvm_follow_add_guest(follow, "web", web, 1), 0);
	assert_int_equal(kvm_tracker_add_thread(kvm_follow_tracker(follow), 100, 90), 0);
	ADD(follow, records);
	assert_int_equal(kvm_follow_feed(follow, time), 0);
	for (int i = 0; i < 20000; i++, time += 10) {
		const int32_t tid = i == 10 ? 100 : 1000 + i;
		const struct record life[] = {
			{ time + 1, 0, KVM_BORN, 50, tid, 0 },
			{ time + 2, 0, KVM_SWITCH, IDLE, tid, RUNS },
			{ time + 3, 0, KVM_SWITCH, tid, IDLE, DEAD },
		};

		ADD(follow, life);
		if (i % 100)
			continue;
		assert_int_equal(kvm_follow_feed(follow, time + 5), 0);
		assert_int_equal(kvm_follow_forget(follow, time - 50), 0);
	}
	assert_true(kvm_follow_tracker(follow)->pids.n_keys < 10000);
	model = model_of(follow, time - 50, time);
	assert_int_equal(virt_model_n_vcpus(model), 1);
	assert_int_equal(state_at(model, "web v0", time - 10), VIRT_OFFLINE);
	virt_model_free(model);
	kvm_follow_free(follow);
}

/** A machine whose vCPUs have the numbers, or nearly, of one that is no more is another one. */
static void test_machine_again(void **state)
{
	static const struct record records[] = {
		RUNS_AT(10, 0, 100, 0), RUNS_AT(10, 1, 200, 0),
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 21, 1, KVM_EXIT, 200, 0, INTR },
		{ 30, 0, KVM_SWITCH, 100, IDLE, DEAD },
		{ 31, 1, KVM_SWITCH, 200, IDLE, DEAD },
	};
	static const struct record again[] = {
		/* no record shows its beginning */
		RUNS_AT(60, 0, 100, 0),
		{ 66, 1, KVM_BORN, 50, 201, 0 },
		RUNS_AT(70, 1, 201, 1),
	};
	static const int32_t web[] = { 100 };
	struct kvm_follow *follow = new_follow(2);
	struct virt_model *model;

	(void)state;
	assert_int_equal(kvm_follow_add_guest(follow, "web", web, 1), 0);
	ADD(follow, records);
	virt_model_free(model_of(follow, 0, 50));
	ADD(follow, again);
	assert_true(kvm_follow_has_strangers(follow));
	assert_int_equal(kvm_follow_add_guest(follow, "db", web, 1), 0);
	model = model_of(follow, 0, 100);
	assert_int_equal(virt_model_n_vcpus(model), 4);
	assert_int_equal(state_at(model, "web v0", 80), VIRT_OFFLINE);
	assert_int_equal(state_at(model, "g2v0", 80), VIRT_OFFLINE);
	assert_int_equal(state_at(model, "db v0", 80), VIRT_GUEST);
	assert_int_equal(state_at(model, "g4v1", 80), VIRT_GUEST);
	assert_int_equal(virt_model_n_machines(model), 4);
	assert_int_equal(virt_model_machine(model, 0)->ended_ns, 30);
	assert_int_equal(virt_model_machine(model, 1)->ended_ns, 31);
	assert_int_equal(virt_model_machine(model, 2)->ended_ns, VIRT_NO_END);
	assert_int_equal(virt_model_machine(model, 3)->ended_ns, VIRT_NO_END);
	virt_model_free(model);
	kvm_follow_free(follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_more_machines),
		cmocka_unit_test(test_becomes_vcpu),
		cmocka_unit_test(test_becomes_vcpu_and_leaves),
		cmocka_unit_test(test_asleep),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_later_thread),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_number_again),
		cmocka_unit_test(test_number_forgotten),
		cmocka_unit_test(test_machine_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
