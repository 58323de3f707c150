// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	self_test_load.c
 * @brief	Threads that work and sleep, and what the kernel counts of them.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "self_test.h"

/** How long the threads work, and how long they work or sleep in one go. */
#define LOAD_NS		INT64_C(2000000000)
#define WORK_NS		5000000
#define WORK_STEPS	100
#define SLEEP_NS	5000000
/** A thread sleeps at the latest after this time, unless the host is stuck. */
#define SETTLE_MS	5000

/** A thread that does something for a while. */
struct load {
	struct self_test_thread *truth;
	struct self_test_machine *machine;	/* NULL: it works for itself */
	pthread_t	thread;
	int		go[2], ready[2];	/* pipes */
	int		perf;
	bool		wrong;			/* the machine did not follow its program */
	int64_t		run_ns, clock_ns;	/* at the beginning */
	uint64_t	switches, exits;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- in the thread --------------------------------------------------------------------------- */

static void wait_for_go(const struct load *load)
{
	char byte;

	while (read(load->go[0], &byte, 1) < 0 && errno == EINTR)
		continue;
}

static void say_ready(const struct load *load)
{
	while (write(load->ready[1], "", 1) < 0 && errno == EINTR)
		continue;
}

static void *work(void *arg)
{
	const struct timespec pause = { .tv_nsec = SLEEP_NS };
	struct load *load = arg;
	int64_t until;

	load->truth->tid = (int32_t)syscall(SYS_gettid);
	say_ready(load);
	wait_for_go(load);
	until = now_ns() + LOAD_NS;
	while (now_ns() < until && !load->wrong) {
		int64_t end_ns = now_ns() + WORK_NS;

		for (int i = 0; load->machine && i < WORK_STEPS && !load->wrong; i++)
			load->wrong = !self_test_machine_step(load->machine);
		while (!load->machine && now_ns() < end_ns)
			continue;
		nanosleep(&pause, NULL);
	}
	say_ready(load);
	wait_for_go(load);
	return NULL;
}

/* --- what the kernel counts ------------------------------------------------------------------ */

static bool read_file(const struct load *load, const char *name, char *text, size_t size)
{
	char path[96];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)load->truth->tid, name);
	file = fopen(path, "re");
	n = file ? fread(text, 1, size - 1, file) : 0;
	text[n] = '\0';
	if (file)
		fclose(file);
	return n;
}

/** A thread that is off its CPU is counted to the last ns. */
static bool is_asleep(const struct load *load)
{
	char text[512];
	const char *after;

	if (!read_file(load, "stat", text, sizeof(text)))
		return false;
	after = strrchr(text, ')');
	return after && !strncmp(after, ") S", 3);
}

static bool settle(const struct load *load)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	char byte;

	while (read(load->ready[0], &byte, 1) < 0 && errno == EINTR)
		continue;
	for (int i = 0; i < SETTLE_MS; i++) {
		if (is_asleep(load)) {
			/* whatever its CPU has still to do for it is done */
			nanosleep(&pause, NULL);
			return is_asleep(load);
		}
		nanosleep(&pause, NULL);
	}
	return false;
}

static bool count_switches(const struct load *load, uint64_t *switches)
{
	unsigned long long own, others;
	const char *line;
	char text[8192];

	if (!read_file(load, "status", text, sizeof(text)))
		return false;
	line = strstr(text, "\nvoluntary_ctxt_switches:");
	if (!line || sscanf(line, "\nvoluntary_ctxt_switches: %llu\n"
			    "nonvoluntary_ctxt_switches: %llu", &own, &others) != 2)
		return false;
	*switches = own + others;
	return true;
}

static bool count_run(const struct load *load, int64_t *ns)
{
	char text[128];
	long long value;

	if (!read_file(load, "schedstat", text, sizeof(text)) || sscanf(text, "%lld", &value) != 1)
		return false;
	*ns = value;
	return true;
}

static int open_perf(const struct load *load)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
	};

	return (int)syscall(SYS_perf_event_open, &attr, load->truth->tid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static bool count_clock(const struct load *load, int64_t *ns)
{
	return load->perf >= 0 && read(load->perf, ns, sizeof(*ns)) == sizeof(*ns);
}

/** @begins: else what was counted since it began is left */
static void count(struct load *load, bool begins)
{
	struct self_test_thread *truth = load->truth;
	int64_t run_ns = 0, clock_ns = 0;
	uint64_t switches = 0, exits = 0;
	bool has_run = count_run(load, &run_ns), has_clock = count_clock(load, &clock_ns);
	bool has_switches = count_switches(load, &switches);
	bool has_exits = load->machine && self_test_machine_exits(load->machine, &exits);

	if (begins) {
		load->run_ns = run_ns;
		load->clock_ns = clock_ns;
		load->switches = switches;
		load->exits = exits;
		truth->from_ns = now_ns();
	} else {
		truth->to_ns = now_ns();
	}
	truth->has_run = has_run && (begins || truth->has_run);
	truth->has_clock = has_clock && (begins || truth->has_clock);
	truth->has_switches = has_switches && (begins || truth->has_switches);
	truth->has_exits = has_exits && (begins || truth->has_exits);
	truth->run_ns = run_ns - load->run_ns;
	truth->clock_ns = clock_ns - load->clock_ns;
	truth->switches = switches - load->switches;
	truth->exits = exits - load->exits;
}

/* --- time that schedstat leaves out ---------------------------------------------------------- */

/** Interrupts and steal, of all CPUs, in ticks. Return: ns. */
static int64_t other_time(void)
{
	unsigned long long irq = 0, softirq = 0, steal = 0;
	FILE *file = fopen("/proc/stat", "re");
	long hz = sysconf(_SC_CLK_TCK);

	if (!file)
		return 0;
	if (fscanf(file, "cpu %*u %*u %*u %*u %*u %llu %llu %llu", &irq, &softirq, &steal) != 3)
		irq = softirq = steal = 0;
	fclose(file);
	return (int64_t)(irq + softirq + steal) * (1000000000 / (hz > 0 ? hz : 100));
}

/* --- all of it ------------------------------------------------------------------------------- */

static void go(const struct load *load)
{
	while (write(load->go[1], "", 1) < 0 && errno == EINTR)
		continue;
}

static bool begin(struct load *load)
{
	if (pipe(load->go))
		return false;
	if (pipe(load->ready)) {
		close(load->go[0]);
		close(load->go[1]);
		return false;
	}
	if (!pthread_create(&load->thread, NULL, work, load))
		return true;
	for (int i = 0; i < 2; i++) {
		close(load->go[i]);
		close(load->ready[i]);
	}
	return false;
}

static void end(struct load *load)
{
	go(load);
	pthread_join(load->thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(load->go[i]);
		close(load->ready[i]);
	}
	if (load->perf >= 0)
		close(load->perf);
}

static void judge_machine(struct self_test_checks *checks, const struct load *load)
{
	unsigned long long steps = self_test_machine_steps(load->machine);

	if (load->wrong)
		self_test_say(checks, "machine", SELF_TEST_FAILED, "the guest did not follow its "
			      "program after %llu steps", steps);
	else
		self_test_say(checks, "machine", SELF_TEST_OK, "a guest %s wrote %llu numbers to "
			      "%s", self_test_machine_way.mode, steps, self_test_machine_way.where);
}

void self_test_load(struct self_test_checks *checks, struct self_test_truth *truth)
{
	struct load loads[2] = { { .perf = -1 }, { .perf = -1 } };
	int64_t other_ns = other_time();
	bool there[2], settled = true;
	char why[200];

	truth->threads[0].name = "thread";
	truth->threads[1].name = "vCPU";
	loads[1].machine = self_test_machine_new(why, sizeof(why));
	if (!loads[1].machine)
		self_test_say(checks, "machine", SELF_TEST_SKIPPED, "%s", why);
	for (int i = 0; i < 2; i++) {
		loads[i].truth = &truth->threads[i];
		there[i] = (!i || loads[i].machine) && begin(&loads[i]);
	}
	for (int i = 0; i < 2; i++) {
		if (!there[i])
			continue;
		settled &= settle(&loads[i]);
		loads[i].perf = open_perf(&loads[i]);
		count(&loads[i], true);
	}
	for (int i = 0; i < 2; i++)
		if (there[i])
			go(&loads[i]);
	for (int i = 0; i < 2; i++) {
		if (!there[i])
			continue;
		settled &= settle(&loads[i]);
		count(&loads[i], false);
	}
	truth->other_ns = other_time() - other_ns;
	if (!there[0] || !settled)
		self_test_say(checks, "load", SELF_TEST_FAILED, there[0] ? "a thread that has "
			      "nothing to do does not sleep" : "no thread can be made");
	for (int i = 0; i < 2; i++)
		if (there[i])
			end(&loads[i]);
	if (there[1])
		judge_machine(checks, &loads[1]);
	self_test_machine_free(loads[1].machine);
}
