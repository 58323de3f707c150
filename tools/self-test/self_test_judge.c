// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	self_test_judge.c
 * @brief	Compare a trace with the numbers that the kernel counted in the same time.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_trace.h"
#include "self_test.h"
#include "virt_needs.h"
#include "virt_window.h"

/**
 * At a switch, the kernel reads the clock of threads and that of a trace some microseconds apart,
 * in a virtual machine some tens. On top of that, the allowance for a whole run.
 */
#define SWITCH_NS	50000
#define ONCE_NS		2000000
#define SHARE		50

/* --- checks ---------------------------------------------------------------------------------- */

static struct self_test_check *add(struct self_test_checks *checks, const char *name)
{
	struct self_test_check *check;

	if (checks->n == SELF_TEST_MOST)
		return NULL;
	check = &checks->all[checks->n++];
	*check = (struct self_test_check){ .name = name };
	return check;
}

void self_test_say(struct self_test_checks *checks, const char *name,
		   enum self_test_verdict verdict, const char *format, ...)
{
	struct self_test_check *check = add(checks, name);
	va_list args;

	if (!check)
		return;
	check->verdict = verdict;
	va_start(args, format);
	vsnprintf(check->text, sizeof(check->text), format, args);
	va_end(args);
}

int self_test_count(const struct self_test_checks *checks, enum self_test_verdict verdict)
{
	int n = 0;

	for (int i = 0; i < checks->n; i++)
		n += checks->all[i].verdict == verdict;
	return n;
}

/** The two sides of a number. @given: has numbers, names and what is allowed */
static void compare(struct self_test_checks *checks, struct self_test_check given)
{
	struct self_test_check *check = add(checks, given.name);
	int64_t difference = given.trace - given.kernel;

	if (!check)
		return;
	given.has_numbers = true;
	given.verdict = difference >= -given.below && difference <= given.above ? SELF_TEST_OK :
			SELF_TEST_FAILED;
	*check = given;
}

/* --- the trace ------------------------------------------------------------------------------- */

/** What goes by while the trace is read. */
struct seen {
	const struct self_test_truth *truth;
	uint64_t	records, lost;
	bool		has_lost_more;	/* an unknown number */
	uint64_t	switches[2];	/* of the threads, away from a CPU */
	int32_t		*next;		/* by CPU: the thread that the last switch was to */
	uint32_t	n_next;
	uint64_t	gaps;		/* threads that leave a CPU without a switch to them */
};

/** Return: 0 or -ENOMEM. */
static int see_switch(struct seen *seen, const struct kvm_trace_record *record)
{
	uint32_t before = seen->n_next;

	if (ARRAY_REACH(seen->next, record->cpu, seen->n_next))
		return -ENOMEM;
	while (before < seen->n_next)
		seen->next[before++] = VIRT_NONE;
	if (record->next_pid == VIRT_NONE)
		return 0;
	seen->gaps += seen->next[record->cpu] != VIRT_NONE &&
		      seen->next[record->cpu] != record->pid;
	seen->next[record->cpu] = record->next_pid;
	return 0;
}

static int see_record(void *arg, const struct kvm_trace_record *record)
{
	struct seen *seen = arg;

	seen->records++;
	for (int i = 0; i < 2; i++) {
		const struct self_test_thread *thread = &seen->truth->threads[i];

		seen->switches[i] += thread->tid && record->next_pid != VIRT_NONE &&
				     record->pid == thread->tid &&
				     record->time_ns >= thread->from_ns &&
				     record->time_ns < thread->to_ns;
	}
	return see_switch(seen, record);
}

static void see_loss(void *arg, int cpu, uint64_t records)
{
	struct seen *seen = arg;

	(void)cpu;
	seen->lost += records;
	seen->has_lost_more |= !records;
}

/** The longest difference between a window and the sum of what happened in it. */
static int64_t gap_of_states(const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	int64_t worst = 0;

	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		int64_t sum = 0;
		struct virt_totals totals;

		virt_vcpu_totals(model, v, from_ns, to_ns, &totals);
		for (int state = 0; state < VIRT_N_STATES; state++)
			sum += totals.ns[state];
		if (llabs(sum - (to_ns - from_ns)) > llabs(worst))
			worst = sum - (to_ns - from_ns);
	}
	for (int32_t p = 0; p < virt_model_n_pcpus(model); p++) {
		struct virt_pcpu_totals totals;
		int64_t sum;

		virt_pcpu_totals(model, p, from_ns, to_ns, &totals);
		sum = totals.task_ns + totals.idle_ns + totals.unknown_ns;
		for (int state = 0; state < VIRT_N_STATES; state++)
			sum += totals.state_ns[state];
		if (llabs(sum - (to_ns - from_ns)) > llabs(worst))
			worst = sum - (to_ns - from_ns);
	}
	return worst;
}

/** How long a thread had pCPUs. */
static int64_t run_of(const struct virt_model *model, const struct self_test_thread *thread)
{
	int32_t vcpu = virt_model_find_vcpu(model, thread->tid);
	int32_t who = vcpu >= 0 ? vcpu : virt_model_find_task(model, thread->tid);
	int64_t ns = 0;

	for (int32_t p = 0; who >= 0 && p < virt_model_n_pcpus(model); p++) {
		struct virt_occupant_range range = virt_pcpu_occupants(model, p, thread->from_ns,
								       thread->to_ns);

		for (size_t i = 0; i < range.n; i++) {
			int64_t from_ns = range.first[i].start_ns;
			int64_t to_ns = i + 1 < range.n ? range.first[i + 1].start_ns :
					range.end_ns;

			if (from_ns < thread->from_ns)
				from_ns = thread->from_ns;
			if (to_ns > thread->to_ns)
				to_ns = thread->to_ns;
			if (range.first[i].vcpu == who && to_ns > from_ns)
				ns += to_ns - from_ns;
		}
	}
	return ns;
}

/** The time of pCPUs whose thread is unknown. */
static int64_t unknown_in(const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	int64_t ns = 0;

	for (int32_t p = 0; p < virt_model_n_pcpus(model); p++) {
		struct virt_pcpu_totals totals;

		virt_pcpu_totals(model, p, from_ns, to_ns, &totals);
		ns += totals.unknown_ns;
	}
	return ns;
}

/** Return: -1 if the trace has no such vCPU. */
static int64_t exits_of(const struct virt_model *model, const struct self_test_thread *thread)
{
	const struct virt_window_query query = { .from_ns = thread->from_ns,
						 .to_ns = thread->to_ns };
	int32_t vcpu = virt_model_find_vcpu(model, thread->tid);
	struct virt_window *window = vcpu < 0 ? NULL : virt_window_new(model, &query);
	int64_t exits = window ? (int64_t)window->vcpus[vcpu].exits : -1;

	virt_window_free(window);
	return exits;
}

static void judge_thread(struct self_test_checks *checks, const struct virt_model *model,
			 const struct self_test_truth *truth, const struct seen *seen, int i,
			 bool has_gaps)
{
	static const char *const names[2][3] = {
		{ "thread: run time", "thread: task-clock", "thread: switches" },
		{ "vCPU: run time", "vCPU: task-clock", "vCPU: switches" },
	};
	const struct self_test_thread *thread = &truth->threads[i];
	int64_t run_ns, allowed_ns, unknown_ns;

	if (!thread->tid)
		return;
	run_ns = run_of(model, thread);
	allowed_ns = ONCE_NS + (int64_t)thread->switches * SWITCH_NS;
	unknown_ns = has_gaps ? unknown_in(model, thread->from_ns, thread->to_ns) : 0;
	if (thread->has_run)
		compare(checks, (struct self_test_check){
			.name = names[i][0], .unit = "ns", .trace = run_ns,
			.kernel = thread->run_ns,
			.below = allowed_ns + thread->run_ns / SHARE + unknown_ns,
			.above = allowed_ns + thread->run_ns / SHARE + truth->other_ns,
			.text = "by the trace, and by /proc/PID/task/TID/schedstat",
		});
	else
		self_test_say(checks, names[i][0], SELF_TEST_SKIPPED, "the kernel has no "
			      "/proc/PID/task/TID/schedstat (CONFIG_SCHED_INFO)");
	if (thread->has_clock)
		compare(checks, (struct self_test_check){
			.name = names[i][1], .unit = "ns", .trace = run_ns,
			.kernel = thread->clock_ns,
			.below = allowed_ns + thread->clock_ns / SHARE + unknown_ns,
			.above = allowed_ns + thread->clock_ns / SHARE + truth->other_ns,
			.text = "by the trace, and by the counter of perf stat -e task-clock",
		});
	else
		self_test_say(checks, names[i][1], SELF_TEST_SKIPPED, "perf_event_open does not "
			      "permit it (sysctl kernel.perf_event_paranoid)");
	if (thread->has_switches)
		compare(checks, (struct self_test_check){
			.name = names[i][2], .unit = "switches",
			.trace = (int64_t)seen->switches[i], .kernel = (int64_t)thread->switches,
			.text = "by the trace, and by /proc/PID/task/TID/status",
		});
	else
		self_test_say(checks, names[i][2], SELF_TEST_SKIPPED, "/proc/PID/task/TID/status "
			      "does not list context switches");
}

static void judge_exits(struct self_test_checks *checks, const struct virt_model *model,
			const struct self_test_truth *truth)
{
	const struct self_test_thread *thread = &truth->threads[1];
	int64_t exits;

	if (!thread->tid)
		return;
	exits = exits_of(model, thread);
	if (exits < 0)
		self_test_say(checks, "vCPU: exits", SELF_TEST_FAILED, "the trace has no vCPU of "
			      "thread %d, although it entered a guest", (int)thread->tid);
	else if (!virt_model_knows(model, VIRT_NUMBER_EXITS))
		self_test_say(checks, "vCPU: exits", SELF_TEST_SKIPPED, "KVM on this host reports "
			      "no VM exits or entries to its tracepoints: traces of it cannot show "
			      "them, nor guest code");
	else if (!thread->has_exits)
		self_test_say(checks, "vCPU: exits", SELF_TEST_SKIPPED, "KVM has no statistics "
			      "(KVM_GET_STATS_FD, or debugfs); the trace has %lld exits",
			      (long long)exits);
	else
		compare(checks, (struct self_test_check){
			.name = "vCPU: exits", .unit = "exits", .trace = exits,
			.kernel = (int64_t)thread->exits,
			.text = "by the trace, and by KVM's own statistics",
		});
}

/** The kernel may leave out records without counting them as lost. Return: has it? */
static bool judge_gaps(struct self_test_checks *checks, const struct seen *seen)
{
	if (seen->gaps)
		self_test_say(checks, "gaps", SELF_TEST_SKIPPED, "%llu times, a thread leaves a "
			      "CPU that no record switches to it: the kernel left out records and "
			      "did not count them as lost; reports show that time as unknown",
			      (unsigned long long)seen->gaps);
	return seen->gaps;
}

/** Records that are lost hide what the laws are about. */
static void judge_model(struct self_test_checks *checks, const struct virt_model *model,
			const struct self_test_truth *truth, const struct seen *seen)
{
	int64_t begin_ns = virt_model_begin(model), end_ns = virt_model_end(model);
	bool has_gaps;

	compare(checks, (struct self_test_check){
		.name = "states", .unit = "ns", .kernel = end_ns - begin_ns,
		.trace = end_ns - begin_ns + gap_of_states(model, begin_ns, end_ns),
		.text = "the states of each vCPU and pCPU fill the whole window",
	});
	if (truth->lost || seen->lost || seen->has_lost_more) {
		self_test_say(checks, "thread, vCPU", SELF_TEST_SKIPPED, "records are lost, so "
			      "that their sums prove nothing; run it again on an idle host");
		return;
	}
	has_gaps = judge_gaps(checks, seen);
	for (int i = 0; i < 2; i++)
		judge_thread(checks, model, truth, seen, i, has_gaps);
	judge_exits(checks, model, truth);
}

static void compare_records(struct self_test_checks *checks, const struct self_test_truth *truth,
			    const struct seen *seen)
{
	if (seen->has_lost_more) {
		self_test_say(checks, "records", SELF_TEST_SKIPPED,
			      "the trace lacks an unknown number of records");
		return;
	}
	compare(checks, (struct self_test_check){
		.name = "records", .unit = "records",
		.trace = (int64_t)(seen->records + seen->lost),
		.kernel = (int64_t)(truth->records + truth->lost),
		.text = "in the trace, and as the kernel's buffers counted them",
	});
}

void self_test_judge(struct self_test_checks *checks, const char *path,
		     const struct self_test_truth *truth)
{
	struct seen seen = { .truth = truth };
	struct host_walk walk = { .record = see_record, .lost = see_loss, .arg = &seen };
	const struct host_options options = { 0 };
	struct virt_model *model = NULL;
	struct host_trace trace;
	char error[350];
	int ret;

	if (host_trace_open(&trace, path, &options, error, sizeof(error))) {
		self_test_say(checks, "read", SELF_TEST_FAILED, "%s", error);
		return;
	}
	ret = host_trace_model(&trace, &walk, &model);
	if (ret) {
		self_test_say(checks, "read", SELF_TEST_FAILED, "%s", host_trace_problem(ret));
	} else {
		compare_records(checks, truth, &seen);
		judge_model(checks, model, truth, &seen);
		virt_model_free(model);
	}
	free(seen.next);
	host_trace_close(&trace);
}
