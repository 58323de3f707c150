/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	self_test.h
 * @brief	kshark-virt self-test: declarations that its parts share.
 *
 * The kernel counts by itself what the records of a trace show. The same numbers from both sides,
 * for threads that the self-test has made, show whether a host can be trusted to be recorded.
 */
#ifndef KSHARK_VIRT_SELF_TEST_H
#define KSHARK_VIRT_SELF_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum self_test_verdict { SELF_TEST_OK, SELF_TEST_FAILED, SELF_TEST_SKIPPED };

/** What was compared, and the result. */
struct self_test_check {
	const char	*name;
	enum self_test_verdict verdict;
	bool		has_numbers;
	const char	*unit;		/* of the numbers: "ns", "records" ... */
	int64_t		trace, kernel;	/* the two sides */
	int64_t		below, above;	/* how far the trace may differ */
	char		text[400];	/* why it failed, or was skipped; or what was done */
};

#define SELF_TEST_MOST	24

struct self_test_checks {
	struct self_test_check all[SELF_TEST_MOST];
	int		n;
};

/** self_test_say - add a check without numbers. */
__attribute__((format(printf, 4, 5)))
void self_test_say(struct self_test_checks *checks, const char *name,
		   enum self_test_verdict verdict, const char *format, ...);

/** self_test_count - how many have a verdict. */
int self_test_count(const struct self_test_checks *checks, enum self_test_verdict verdict);

/**
 * What the kernel counts of a thread. The thread slept at the beginning and at the end, so that
 * nothing is counted in part.
 */
struct self_test_thread {
	const char	*name;		/* in checks: "thread", "vCPU" */
	int32_t		tid;		/* 0: there was none */
	int64_t		from_ns, to_ns;	/* of CLOCK_MONOTONIC */
	bool		has_run, has_clock, has_switches, has_exits;
	int64_t		run_ns;		/* /proc/PID/task/TID/schedstat */
	int64_t		clock_ns;	/* perf's task-clock */
	uint64_t	switches;	/* /proc/PID/task/TID/status */
	uint64_t	exits;		/* statistics of KVM, of a vCPU */
};

/** The kernel's side of a recording. */
struct self_test_truth {
	uint64_t	records, lost;
	int64_t		other_ns;	/* interrupts and steal, which schedstat leaves out */
	struct self_test_thread threads[2];
};

/** self_test_judge - read a trace.dat, and compare it with what the kernel counted. */
void self_test_judge(struct self_test_checks *checks, const char *path,
		     const struct self_test_truth *truth);

/**
 * self_test_load - let a thread work for a while, and a vCPU if KVM can be used
 * @truth: receives what the kernel counts of them
 * @checks: receives what could not be done
 */
void self_test_load(struct self_test_checks *checks, struct self_test_truth *truth);

/* --- self_test_machine.c --------------------------------------------------------------------- */

struct self_test_machine;

/** How its guest writes numbers, for "a guest MODE wrote 7 numbers to WHERE". */
extern const struct self_test_way {
	const char	*mode, *where;
} self_test_machine_way;

/** self_test_machine_new - Return: NULL if there can be none; @why receives the reason. */
struct self_test_machine *self_test_machine_new(char *why, size_t size);
void self_test_machine_free(struct self_test_machine *machine);

/**
 * self_test_machine_step - enter the guest until its next number; on x86, until it sleeps after it
 *
 * By the thread of the vCPU alone. Return: false if it does something else than its program.
 */
bool self_test_machine_step(struct self_test_machine *machine);

/** self_test_machine_exits - VM exits so far, as KVM counts them. Return: false: not known. */
bool self_test_machine_exits(struct self_test_machine *machine, uint64_t *exits);

/** self_test_machine_steps - how many numbers the guest has written. */
uint64_t self_test_machine_steps(const struct self_test_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
