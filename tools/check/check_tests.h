/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	check_tests.h
 * @brief	Limits as tests, in the formats of continuous integration: JUnit XML and TAP.
 *
 * Each limit of a machine, a vCPU or the trace is a test. If the trace does not contain enough data
 * for a test, the test does not pass: in JUnit it has an error, in TAP it is "not ok".
 *
 * Sources: the schema junit-10.xsd of Jenkins' xUnit plugin, and https://testanything.org (TAP 13).
 */
#ifndef KSHARK_VIRT_CHECK_TESTS_H
#define KSHARK_VIRT_CHECK_TESTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "output.h"

/** Whether a limit is kept. */
enum check_outcome { CHECK_WITHIN, CHECK_EXCEEDED, CHECK_UNKNOWN, CHECK_N_OUTCOMES };

/** The names of outcomes: "within", "exceeded", "unknown" */
extern const char *const check_outcome_names[CHECK_N_OUTCOMES];

/** A limit, and the value that is compared with it. */
struct check_test {
	const char	*limit;		/* as the user wrote it */
	enum check_outcome outcome;
	const char	*sentence;	/* value, limit and place, for people, escaped; NULL: the
					 * limit is kept */
};

/** Writes tests. JUnit's counts come first, so it keeps the tests of one machine or vCPU. */
struct check_tests {
	struct output	*out;
	bool		is_junit;	/* else TAP */
	uint64_t	n;		/* tests so far */
	/* the machine or vCPU whose tests are being written */
	char		*of;		/* its name, escaped */
	char		*window;	/* "0.500000000 .. 1.000000000 NAME", escaped; NULL: all */
	char		*body;		/* JUnit: what @cases wrote */
	size_t		size;
	FILE		*cases;
	uint64_t	counts[CHECK_N_OUTCOMES];
};

/** check_tests_begin, check_tests_end - begin and end the output. */
void check_tests_begin(struct check_tests *tests, struct output *out, bool is_junit);
void check_tests_end(struct check_tests *tests);

/**
 * check_tests_of - the tests of a machine, a vCPU or the trace follow
 * @of: its name, as the trace has it
 * @window: the part of the trace that is judged, for people, already escaped; NULL: none of a list
 *
 * Return: 0, or -ENOMEM: nothing follows. After 0, check_tests_of_end() must follow.
 */
int check_tests_of(struct check_tests *tests, const char *of, const char *window);

/** check_tests_of_end - no more of them follow. Return: 0 or -ENOMEM. */
int check_tests_of_end(struct check_tests *tests);

/** check_test_put - a test of the machine, vCPU or trace. Return: 0 or -ENOMEM. */
int check_test_put(struct check_tests *tests, const struct check_test *test);

#endif
