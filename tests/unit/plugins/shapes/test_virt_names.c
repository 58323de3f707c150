/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of machines and vCPUs among several traces: as in their model if that is enough, by their
 * way through the machines around them, by their file; wrong pairs, long names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "virt_names.h"
#include "virt_text.h"

/** A model with two machines of one vCPU each, and a task. */
static struct virt_model *new_model(const char *first, const char *second)
{
	struct virt_model *model = virt_model_new();
	char vcpu[VIRT_NAME_SIZE];

	assert_non_null(model);
	snprintf(vcpu, sizeof(vcpu), "%.100sv0", first);
	assert_int_equal(virt_model_add_machine(model, 1, first), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 100, vcpu), 0);
	snprintf(vcpu, sizeof(vcpu), "%sv0", second);
	assert_int_equal(virt_model_add_machine(model, 2, second), 1);
	assert_int_equal(virt_model_add_vcpu(model, 1, 0, 200, vcpu), 1);
	assert_int_equal(virt_model_add_task(model, 7, "sh-7"), VIRT_FIRST_TASK);
	virt_model_set(model, 0, 10, VIRT_GUEST, 0, VIRT_NONE, 0);
	virt_model_set(model, 0, 20, VIRT_PREEMPTED, 0, 1, 0);
	virt_model_occupy(model, 0, 20, 1, true);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	return model;
}

static void check(const struct virt_name_stream *streams, size_t n, int stream, int32_t vcpu,
		  const char *wanted)
{
	char name[2 * VIRT_NAME_SIZE];

	assert_string_equal(virt_name_vcpu(name, sizeof(name), streams, n, stream, vcpu), wanted);
}

static void test_names(void **state)
{
	struct virt_model *outer = new_model("g1", "web"), *inner = new_model("g1", "db"),
			  *other = new_model("g1", "mail");
	struct virt_name_stream streams[] = {
		{ 0, outer, "host.dat", VIRT_NONE, VIRT_NONE },
		{ 1, NULL, "guest.dat", 0, 0 },
		{ 2, inner, "inner.dat", 0, 1 },
		{ 5, other, "other.dat", VIRT_NONE, VIRT_NONE },
	};
	char name[2 * VIRT_NAME_SIZE];

	(void)state;
	/* alone, and beside traces of guests */
	check(streams, 1, 0, 0, "g1v0");
	check(streams, 3, 0, 0, "g1v0");
	check(streams, 3, 0, 1, "webv0");
	check(streams, 3, 0, VIRT_FIRST_TASK, "sh-7");
	/* a machine in a machine, whatever it is called */
	check(streams, 3, 2, 0, "web/g1v0");
	check(streams, 3, 2, 1, "web/dbv0");
	check(streams, 3, 2, VIRT_FIRST_TASK, "sh-7");
	assert_string_equal(virt_name_machine(name, sizeof(name), streams, 3, 2, 1), "web/db");
	/* two hosts: only names that both have need more */
	check(streams, 4, 0, 0, "g1v0 (host.dat)");
	check(streams, 4, 0, 1, "webv0");
	check(streams, 4, 5, 0, "g1v0 (other.dat)");
	check(streams, 4, 5, 1, "mailv0");
	check(streams, 4, 2, 0, "web/g1v0");
	streams[2].host_machine = 0;
	check(streams, 4, 2, 0, "g1/g1v0 (host.dat)");
	/* the host has been closed, or there is no such machine */
	streams[2].host = 9;
	check(streams, 3, 2, 1, "dbv0");
	streams[2].host = 0;
	streams[2].host_machine = 4;
	check(streams, 3, 2, 1, "dbv0");
	/* nothing known at all */
	check(streams, 4, 1, 0, "?");
	check(streams, 4, 77, 0, "?");
	check(streams, 4, 0, VIRT_NONE, "nobody");
	assert_string_equal(virt_name_machine(name, sizeof(name), streams, 4, 0, 9), "?");
	virt_model_free(outer);
	virt_model_free(inner);
	virt_model_free(other);
}

/** Two that are each other's hosts, and names that do not fit. */
static void test_wrong(void **state)
{
	char longest[3 * VIRT_NAME_SIZE], name[2 * VIRT_NAME_SIZE];
	struct virt_model *one, *two = new_model("b", "c");
	struct virt_name_stream streams[] = {
		{ 0, NULL, "a.dat", 1, 0 },
		{ 1, two, "b.dat", 0, 0 },
	};

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	one = new_model(longest, "d");
	streams[0].model = one;
	virt_name_vcpu(name, sizeof(name), streams, 2, 1, 0);
	assert_true(strlen(name) < sizeof(name));
	virt_name_machine(name, sizeof(name), streams, 2, 0, 0);
	assert_true(strlen(name) < sizeof(name));
	virt_model_free(one);
	one = new_model("a", "d");
	streams[0].model = one;
	/* each host once, and an end */
	check(streams, 2, 1, 1, "b/a/cv0");
	virt_model_free(one);
	virt_model_free(two);
}

/** Sentences have the same names. */
static void test_text(void **state)
{
	struct virt_name_parts parts = { "web/", " (a.dat)" };
	struct virt_model *model = new_model("g1", "g2");
	const struct virt_interval *interval;
	struct virt_finding finding = {
		.moment = { .kind = VIRT_WORST_STEAL, .who = 1, .from_pcpu = 1 },
	};
	char text[VIRT_TEXT_SIZE];
	int64_t end;

	(void)state;
	interval = virt_vcpu_at(model, 0, 50, &end);
	virt_text_interval(text, sizeof(text), model, &parts, 0, interval, end);
	assert_string_equal(text, "web/g1v0 (a.dat) is preempted (last on CPU 0 of web) for 80 ns"
			    " by web/g2v0 (a.dat) (80 ns)");
	assert_string_equal(virt_text_pcpu(text, sizeof(text), &parts, 12), "CPU 12 of web");
	assert_string_equal(virt_text_occupant(text, sizeof(text), model, &parts, 0,
					       virt_pcpu_at(model, 0, 50, &end), 100),
			    "CPU 0 of web runs web/g2v0 (a.dat) for 80 ns");
	finding.what = virt_model_who(model, finding.moment.who);
	assert_string_equal(virt_text_cause(text, sizeof(text), model, &parts, &finding),
			    "web/g2v0 (a.dat)");
	finding.moment.kind = VIRT_WORST_MIGRATION;
	assert_string_equal(virt_text_cause(text, sizeof(text), model, &parts, &finding),
			    "CPU 1 of web to CPU 0 of web");
	*parts.before = '\0';
	assert_string_equal(virt_text_pcpu(text, sizeof(text), &parts, 12), "pCPU 12");
	assert_string_equal(virt_text_pcpu(text, sizeof(text), NULL, 12), "pCPU 12");
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
