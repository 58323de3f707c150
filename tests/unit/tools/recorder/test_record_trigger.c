// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_record_trigger.c
 * @brief	What a condition of "record --trigger" means; what meets it is what "report --worst"
 *		lists.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "array.h"
#include "record_trigger.h"

static void test_conditions(void **state)
{
	static const struct {
		const char		*text;
		enum virt_worst_kind	kind;
		int64_t			above_ns;
	} good[] = {
		{ "wake>2ms", VIRT_WORST_WAKE, 2000000 },
		{ "waking>2ms", VIRT_WORST_WAKE, 2000000 },
		{ "steal>0.5", VIRT_WORST_STEAL, 500000000 },
		{ "preempted>5ms", VIRT_WORST_STEAL, 5000000 },
		{ "exit>1us", VIRT_WORST_EXIT, 1000 },
		{ "migration>17ns", VIRT_WORST_MIGRATION, 17 },
		{ "irq>1s", VIRT_WORST_IRQ, 1000000000 },
		{ "lost>0", VIRT_WORST_LOST, 0 },
		{ "offline>100ms", VIRT_WORST_OFFLINE, 100000000 },
		{ "tsc>0", VIRT_WORST_TSC, 0 },
	};
	static const struct {
		const char	*text;
		int		ret;
	} bad[] = {
		{ "", -EINVAL }, { "wake", -EINVAL }, { ">2ms", -EINVAL }, { "2ms", -EINVAL },
		{ "wak>2ms", -ENOENT }, { "wakes>2ms", -ENOENT }, { "running>2ms", -ENOENT },
		{ "wake >2ms", -ENOENT }, { "Wake>2ms", -ENOENT }, { "wake<2ms>", -ENOENT },
		{ "wake>", -ERANGE }, { "wake>+1ms", -ERANGE }, { "wake>5%", -ERANGE },
		{ "wake>-1ms", -ERANGE }, { "wake>=2ms", -ERANGE },
		{ "wake> 2ms", -ERANGE }, { "wake>2 ms", -ERANGE }, { "wake>2d", -ERANGE },
		{ "wake>tsc:17", -ERANGE }, { "wake>0.1ns", -ERANGE },
		{ "wake>9223372036854775807ns", -ERANGE }, { "wake>99999999999s", -ERANGE },
	};
	struct record_trigger trigger;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(record_trigger_parse(good[i].text, &trigger), 0);
		assert_int_equal(trigger.kind, good[i].kind);
		assert_int_equal(trigger.above_ns, good[i].above_ns);
		assert_ptr_equal(trigger.text, good[i].text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (record_trigger_parse(bad[i].text, &trigger) != bad[i].ret)
			fail_msg("'%s' gives another error", bad[i].text);
}

/* --- as report --worst prints it ------------------------------------------------------------- */

/** The moments of a kind, as they are listed: costliest first. */
struct listed {
	struct record_fired	first;
	int64_t			*costs;
	size_t			n, room;
};

static void add_listed(struct listed *listed, const char *line)
{
	struct record_fired row = { 0 };
	char name[16];
	int kind = 0;

	if (sscanf(line, ",%15[a-z],%" SCNd64 ",%" SCNd64 ",%63[^,]", name, &row.time_ns,
		   &row.cost_ns, row.vcpu) < 3)
		return;
	while (kind < VIRT_WORST_N_KINDS &&
	       strcmp(virt_worst_kind_name((enum virt_worst_kind)kind), name) != 0)
		kind++;
	assert_true(kind < VIRT_WORST_N_KINDS);
	listed += kind;
	assert_int_equal(ARRAY_GROW(listed->costs, listed->n, listed->room), 0);
	listed->costs[listed->n] = row.cost_ns;
	if (!listed->n++)
		listed->first = row;
}

/** What "report" says of a sample. */
static void ask_report(const char *path, struct listed *listed)
{
	char command[8400], line[4096];
	FILE *pipe;

	assert_non_null(getenv("KSV_BIN"));
	snprintf(command, sizeof(command), "'%s' report --worst 1000000 --format csv '%s' "
		 "2>/dev/null", getenv("KSV_BIN"), path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe))
		if (strchr(line, ','))
			add_listed(listed, strchr(line, ','));
	assert_int_equal(pclose(pipe), 0);
}

static void check_fired(const struct record_trigger *trigger, const struct record_fired *fired,
			const struct listed *listed)
{
	size_t above = 0;

	while (above < listed->n && listed->costs[above] > trigger->above_ns)
		above++;
	assert_int_equal(fired->moments, above);
	if (!above)
		return;
	assert_int_equal(fired->time_ns, listed->first.time_ns);
	assert_int_equal(fired->cost_ns, listed->first.cost_ns);
	assert_string_equal(fired->vcpu, listed->first.vcpu);
}

#define PER_KIND	3

/** Of each kind: what nothing is above, the costliest alone, and all that are half as costly. */
static void set_triggers(struct record_trigger *triggers, const struct listed *listed)
{
	for (int i = 0; i < VIRT_WORST_N_KINDS * PER_KIND; i++) {
		int64_t most = listed[i / PER_KIND].first.cost_ns;
		const int64_t above[PER_KIND] = { most, most ? most - 1 : 0, most / 2 };

		triggers[i] = (struct record_trigger){
			.kind = (enum virt_worst_kind)(i / PER_KIND),
			.above_ns = above[i % PER_KIND],
		};
	}
}

/** Return: how many moments there are. */
static size_t check_sample(const char *name)
{
	struct listed listed[VIRT_WORST_N_KINDS] = { 0 };
	struct record_trigger triggers[VIRT_WORST_N_KINDS * PER_KIND];
	struct record_fired fired[ARRAY_SIZE(triggers)];
	char path[4000], error[512] = "";
	size_t n = 0;

	assert_non_null(getenv("KSV_SOURCE_DIR"));
	snprintf(path, sizeof(path), "%s/samples/%s", getenv("KSV_SOURCE_DIR"), name);
	ask_report(path, listed);
	set_triggers(triggers, listed);
	if (record_trigger_judge(path, triggers, ARRAY_SIZE(triggers), fired, error, sizeof(error)))
		fail_msg("%s", error);
	for (size_t i = 0; i < ARRAY_SIZE(triggers); i++)
		check_fired(&triggers[i], &fired[i], &listed[i / PER_KIND]);
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++) {
		n += listed[kind].n;
		free(listed[kind].costs);
	}
	return n;
}

static void test_samples(void **state)
{
	(void)state;
	assert_true(check_sample("credit2-basic.xen") > 100);
	assert_true(check_sample("lost-records.xen") > 100);
	assert_true(check_sample("hvm-exits.xen") > 100);
	assert_true(check_sample("kvm-migration.dat") > 100);
	assert_true(check_sample("kvm-nested.dat") > 100);
}

/** Several at once are as each alone; what cannot be read is an error that names the file. */
static void test_together(void **state)
{
	struct record_trigger triggers[2];
	struct record_fired both[2], one;
	char path[4000], error[512] = "";

	(void)state;
	snprintf(path, sizeof(path), "%s/samples/credit2-basic.xen", getenv("KSV_SOURCE_DIR"));
	assert_int_equal(record_trigger_parse("wake>1us", &triggers[0]), 0);
	assert_int_equal(record_trigger_parse("steal>1d", &triggers[1]), -ERANGE);
	assert_int_equal(record_trigger_parse("steal>1h", &triggers[1]), 0);
	assert_int_equal(record_trigger_judge(path, triggers, 2, both, error, sizeof(error)), 0);
	assert_int_equal(record_trigger_judge(path, triggers, 1, &one, error, sizeof(error)), 0);
	assert_true(one.moments > 0);
	assert_int_equal(both[0].moments, one.moments);
	assert_int_equal(both[0].time_ns, one.time_ns);
	assert_int_equal(both[1].moments, 0);
	assert_int_equal(record_trigger_judge("/nowhere/x.xen", triggers, 2, both, error,
					      sizeof(error)), -1);
	assert_non_null(strstr(error, "/nowhere/x.xen"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
