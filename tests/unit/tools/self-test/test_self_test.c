// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_self_test.c
 * @brief	Each check of numbers passes on a trace that agrees with the kernel, and fails as
 *		soon as its number does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "sample_kvm.h"
#include "self_test.h"
#include "text_read.h"

#define SAMPLE	"recording-kvm/host.dat"

static char path[512];

/* --- the kernel's side, recounted from single records ----------------------------------------- */

/** The life of a thread on pCPUs, by its switches. */
struct recount {
	int32_t		tid;
	int64_t		from_ns, to_ns, since_ns;	/* since_ns: on a pCPU; or -1 */
	int64_t		run_ns;
	uint64_t	records, switches, exits, lost;
	const struct kvm_trace *trace;
	/* switches of all pCPUs, in order of time later */
	struct change { int64_t time_ns; bool comes; } changes[1 << 16];
	size_t		n;
};

static struct recount recount;

static int recount_record(void *arg, const struct kvm_trace_record *record)
{
	struct recount *count = arg;

	count->records++;
	if (record->pid == count->tid && record->time_ns >= count->from_ns &&
	    record->time_ns < count->to_ns &&
	    !strcmp(kvm_trace_event(count->trace, record->event) ? : "", "kvm_exit"))
		count->exits++;
	if (record->next_pid == VIRT_NONE || count->n == ARRAY_SIZE(count->changes))
		return 0;
	if (record->pid == count->tid)
		count->changes[count->n++] = (struct change){ record->time_ns, false };
	else if (record->next_pid == count->tid)
		count->changes[count->n++] = (struct change){ record->time_ns, true };
	return 0;
}

static void recount_loss(void *arg, int cpu, uint64_t records)
{
	(void)cpu;
	((struct recount *)arg)->lost += records;
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/** From the first time that the thread goes to the last one: it is off its pCPU at both ends. */
static void recount_thread(int32_t tid)
{
	struct kvm_trace *trace = open_sample(SAMPLE);

	recount = (struct recount){ .tid = tid, .to_ns = INT64_MIN, .trace = trace };
	assert_int_equal(kvm_trace_walk(trace, recount_record, recount_loss, &recount), 0);
	assert_true(recount.n > 20 && recount.n < ARRAY_SIZE(recount.changes));
	qsort(recount.changes, recount.n, sizeof(*recount.changes), by_time);
	recount.since_ns = -1;
	for (size_t i = 0; i < recount.n; i++) {
		const struct change *change = &recount.changes[i];

		if (!change->comes && !recount.from_ns)
			recount.from_ns = change->time_ns + 1;
		else if (!change->comes) {
			recount.switches++;
			recount.run_ns += change->time_ns - recount.since_ns;
			recount.to_ns = change->time_ns + 1;
		}
		recount.since_ns = change->time_ns;
	}
	/* once more, as the window is known now */
	recount.records = recount.exits = recount.lost = 0;
	recount.n = ARRAY_SIZE(recount.changes);
	assert_int_equal(kvm_trace_walk(trace, recount_record, recount_loss, &recount), 0);
	kvm_trace_close(trace);
}

/** A vCPU's thread of the sample. */
static int32_t vcpu_thread(void)
{
	struct kvm_trace *trace = open_sample(SAMPLE);
	struct virt_model *model;
	int32_t tid;

	assert_int_equal(kvm_trace_model(trace, NULL, NULL, NULL, &model), 0);
	assert_true(virt_model_n_vcpus(model) > 0);
	tid = virt_model_vcpu(model, 0)->host_pid;
	virt_model_free(model);
	kvm_trace_close(trace);
	return tid;
}

static struct self_test_truth truth(void)
{
	struct self_test_truth kernel = { .records = recount.records, .lost = recount.lost };

	/* its numbers as a thread, and as a vCPU, which has VM exits as well */
	kernel.threads[0] = kernel.threads[1] = (struct self_test_thread){
		.name = "vCPU", .tid = recount.tid, .from_ns = recount.from_ns,
		.to_ns = recount.to_ns, .has_run = true, .has_clock = true, .has_switches = true,
		.has_exits = true, .run_ns = recount.run_ns, .clock_ns = recount.run_ns,
		.switches = recount.switches, .exits = recount.exits,
	};
	return kernel;
}

/** Return: the names of the checks with a verdict, each with "; " after it. */
static const char *names_of(const struct self_test_checks *checks, enum self_test_verdict verdict)
{
	static char names[1024];

	*names = '\0';
	assert_true(checks->n > 0);
	for (int i = 0; i < checks->n; i++)
		if (checks->all[i].verdict == verdict)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s; ",
				 checks->all[i].name);
	return names;
}

static const char *failing(const struct self_test_truth *kernel)
{
	struct self_test_checks checks = { .n = 0 };

	self_test_judge(&checks, path, kernel);
	return names_of(&checks, SELF_TEST_FAILED);
}

static int find(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/samples/" SAMPLE, getenv("KSV_SOURCE_DIR"));
	recount_thread(vcpu_thread());
	return 0;
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_passes(void **state)
{
	const struct self_test_truth kernel = truth();

	(void)state;
	assert_true(kernel.threads[1].exits > 10 && kernel.threads[1].switches > 10);
	assert_string_equal(failing(&kernel), "");
}

static void test_fails(void **state)
{
	struct self_test_truth kernel = truth();

	(void)state;
	kernel.records++;
	assert_string_equal(failing(&kernel), "records; ");
	kernel = truth();
	kernel.threads[0].switches++;
	assert_string_equal(failing(&kernel), "thread: switches; ");
	kernel = truth();
	kernel.threads[1].switches--;
	assert_string_equal(failing(&kernel), "vCPU: switches; ");
	kernel = truth();
	kernel.threads[1].exits++;
	assert_string_equal(failing(&kernel), "vCPU: exits; ");
}

/** Times may differ a little, in both directions, and no more than that. */
static void test_times(void **state)
{
	const int64_t run_ns = truth().threads[1].run_ns;
	const int64_t allowed_ns = 2000000 + (int64_t)truth().threads[1].switches * 50000;
	struct self_test_truth kernel = truth();

	(void)state;
	kernel.threads[1].run_ns = run_ns + allowed_ns / 2;
	kernel.threads[1].clock_ns = run_ns - allowed_ns / 2;
	assert_string_equal(failing(&kernel), "");
	kernel.threads[1].run_ns = run_ns + run_ns / 10 + 2 * allowed_ns;
	kernel.threads[1].clock_ns = run_ns - run_ns / 10 - 2 * allowed_ns;
	assert_string_equal(failing(&kernel), "vCPU: run time; vCPU: task-clock; ");
	kernel.threads[0] = kernel.threads[1];
	kernel.threads[1] = truth().threads[1];
	assert_string_equal(failing(&kernel), "thread: run time; thread: task-clock; ");
	kernel = truth();
	kernel.threads[1].run_ns = run_ns + run_ns / 10 + 2 * allowed_ns;
	kernel.threads[1].clock_ns = run_ns - run_ns / 10 - 2 * allowed_ns;
	/* interrupts and steal are no part of the kernel's run time, but of the trace's */
	kernel.other_ns = run_ns / 10 + 2 * allowed_ns;
	assert_string_equal(failing(&kernel), "vCPU: run time; ");
}

/** A vCPU that is not in the trace at all; a file that is no trace. */
static void test_nothing(void **state)
{
	struct self_test_truth kernel = truth();

	(void)state;
	kernel.threads[1].tid = 1;
	assert_non_null(strstr(failing(&kernel), "vCPU: exits; "));
	snprintf(path, sizeof(path), "%s/README.md", getenv("KSV_SOURCE_DIR"));
	assert_string_equal(failing(&kernel), "read; ");
}

/** Sums of what is lost prove nothing: they are left out, and the rest is compared. */
static void test_lost(void **state)
{
	struct self_test_truth kernel = truth();
	struct self_test_checks checks = { .n = 0 };

	(void)state;
	kernel.lost = 5;
	kernel.records -= 5;
	kernel.threads[1].exits = 0;
	snprintf(path, sizeof(path), "%s/samples/" SAMPLE, getenv("KSV_SOURCE_DIR"));
	self_test_judge(&checks, path, &kernel);
	assert_int_equal(self_test_count(&checks, SELF_TEST_FAILED), 0);
	assert_int_equal(self_test_count(&checks, SELF_TEST_SKIPPED), 1);
}

/** Judge the trace that a text becomes. */
static struct self_test_checks judge_text(const char *text, const struct self_test_truth *kernel)
{
	struct foreign_outcome outcome = { .events = 0 };
	struct self_test_checks checks = { .n = 0 };
	char name[] = "/tmp/kshark-virt-XXXXXX";
	FILE *in = tmpfile(), *spool = tmpfile();
	int fd = mkstemp(name);

	assert_true(in && spool && fd >= 0);
	assert_int_equal(strlen(text), write(fileno(in), text, strlen(text)));
	assert_int_equal(text_convert(dup(fileno(in)), fd, fileno(spool), 1 << 20, &outcome), 0);
	self_test_judge(&checks, name, kernel);
	fclose(in);
	fclose(spool);
	close(fd);
	unlink(name);
	return checks;
}

/** A loss that the kernel did not count: the number of all records is unknown. */
static void test_lost_uncounted(void **state)
{
	static const char text[] =
		"       CPU 0/KVM-2000  [000] d..1   100.000010: kvm_entry: vcpu 0\n"
		"CPU:0 [LOST EVENTS]\n"
		"       CPU 0/KVM-2000  [000] d..1   100.000030: kvm_entry: vcpu 0\n"
		"       CPU 0/KVM-2000  [000] ....   100.000040: kvm_exit: vcpu 0 reason HLT "
		"rip 0x1 info1 0 info2 0\n";
	const struct self_test_truth kernel = { .records = 7 };
	struct self_test_checks checks = judge_text(text, &kernel);

	(void)state;
	assert_int_equal(self_test_count(&checks, SELF_TEST_FAILED), 0);
	assert_int_equal(self_test_count(&checks, SELF_TEST_SKIPPED), 2);
	assert_string_equal(checks.all[0].name, "records");
	assert_int_equal(checks.all[0].verdict, SELF_TEST_SKIPPED);
}

/** Switches that the kernel left out: the thread may have had the pCPU for that time at most. */
static void test_gaps(void **state)
{
#define SWITCH(time, from, pid, to, next) \
	"       " from "-" pid "  [000] d..2   " time ": sched_switch: prev_comm=" from \
	" prev_pid=" pid " prev_prio=120 prev_state=S ==> next_comm=" to " next_pid=" next \
	" next_prio=120\n"
	static const char text[] =
		"       CPU 0/KVM-2000  [000] d..1   100.000010: kvm_entry: vcpu 0\n"
		"       CPU 0/KVM-2000  [000] ....   100.000020: kvm_exit: vcpu 0 reason HLT "
		"rip 0x1 info1 0 info2 0\n"
		SWITCH("100.000100", "CPU 0/KVM", "2000", "loop", "7")
		SWITCH("100.100100", "loop", "7", "swapper/0", "0")
		SWITCH("100.500100", "loop", "7", "swapper/0", "0")
		SWITCH("101.000100", "swapper/0", "0", "loop", "7");
	static const struct { int64_t run_ns; const char *failing; } cases[] = {
		{ INT64_C(100000000), "" }, { INT64_C(450000000), "" },
		{ INT64_C(600000000), "thread: run time; " },
		{ INT64_C(50000000), "thread: run time; " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct self_test_truth kernel = { .records = 6 };
		struct self_test_checks checks;

		kernel.threads[0] = (struct self_test_thread){
			.name = "thread", .tid = 7, .from_ns = INT64_C(100000050000),
			.to_ns = INT64_C(101000000000), .has_run = true,
			.run_ns = cases[i].run_ns, .has_switches = true, .switches = 2,
		};
		checks = judge_text(text, &kernel);
		assert_string_equal(names_of(&checks, SELF_TEST_FAILED), cases[i].failing);
		assert_string_equal(names_of(&checks, SELF_TEST_SKIPPED),
				    "gaps; thread: task-clock; ");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_uncounted),
		cmocka_unit_test(test_gaps),
	};

	return cmocka_run_group_tests(tests, find, NULL);
}
