// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_study_plan.c
 * @brief	Plans, the random order, and the journal of a study.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "study.h"
#include "whole_file.h"

static char folder[] = "/tmp/ksv-test-study-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	char path[200];

	(void)state;
	snprintf(path, sizeof(path), "%s/journal.jsonl", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/plan.json", folder);
	unlink(path);
	return rmdir(folder);
}

/* --- order ----------------------------------------------------------------------------------- */

#define BENCHMARKS	3
#define CONFIGS		4
#define N		(BENCHMARKS * CONFIGS)
#define ROUNDS		12000

/** Each run comes once in a round, beside those it is compared with, and at each place as often. */
static void order_is_fair(void **state)
{
	static int seen[N][N];
	int order[N], again[N];

	(void)state;
	for (int round = 1; round <= ROUNDS; round++) {
		bool there[N] = { false };

		study_order(7, round, BENCHMARKS, CONFIGS, order);
		study_order(7, round, BENCHMARKS, CONFIGS, again);
		assert_memory_equal(order, again, sizeof(order));
		for (int i = 0; i < N; i++) {
			assert_in_range(order[i], 0, N - 1);
			assert_false(there[order[i]]);
			assert_int_equal(order[i] / CONFIGS,
					 order[i / CONFIGS * CONFIGS] / CONFIGS);
			there[order[i]] = true;
			seen[i][order[i]]++;
		}
	}
	/* the standard deviation of each is 30 */
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			assert_in_range(seen[i][j], ROUNDS / N - 150, ROUNDS / N + 150);
}

static void seeds_differ(void **state)
{
	int order[N], other[N], same = 0;

	(void)state;
	for (int round = 1; round <= 100; round++) {
		study_order(1, round, BENCHMARKS, CONFIGS, order);
		study_order(2, round, BENCHMARKS, CONFIGS, other);
		same += !memcmp(order, other, sizeof(order));
	}
	assert_int_equal(same, 0);
}

/* --- plans ----------------------------------------------------------------------------------- */

static const char full[] =
	"{ \"benchmarks\": [ { \"name\": \"hb\", \"command\": [\"hackbench\", \"-l\", \"it's\"],"
	" \"format\": \"hackbench\", \"metric\": \"*time_s\" },"
	" { \"name\": \"guest\", \"command\": [\"true\"], \"where\": \"web\" } ],"
	" \"configurations\": [ \"none\", \"all@both\", { \"name\": \"switches\","
	" \"tracing\": \"events@guest\", \"events\": \"sched:sched_switch\" } ],"
	" \"guests\": [ \"web=ssh:root@web\" ], \"events\": \"sched\", \"rounds\": 3,"
	" \"max_rounds\": 9, \"warm_up\": 0, \"precision_percent\": 2, \"max_seconds\": 60,"
	" \"seed\": 18014398509481985, \"buffer_bytes\": 1048576 }";

static void check_full(const struct study_plan *plan)
{
	assert_int_equal(plan->n_benchmarks, 2);
	assert_string_equal(plan->benchmarks[0].command[2], "it's");
	assert_null(plan->benchmarks[0].command[3]);
	assert_string_equal(plan->benchmarks[0].format, "hackbench");
	assert_string_equal(plan->benchmarks[0].metric, "*time_s");
	assert_null(plan->benchmarks[0].where);
	assert_string_equal(plan->benchmarks[1].where, "web");
	assert_int_equal(plan->n_configs, 3);
	assert_int_equal(plan->configs[0].where, 0);
	assert_int_equal(plan->configs[1].tracing, STUDY_ALL);
	assert_int_equal(plan->configs[1].where, STUDY_BOTH);
	assert_int_equal(plan->configs[2].where, STUDY_GUESTS);
	assert_string_equal(plan->configs[2].name, "switches");
	assert_string_equal(plan->configs[2].events, "sched:sched_switch");
	assert_string_equal(study_find_guest(plan, "web")->target, "root@web");
	assert_string_equal(plan->events, "sched");
	assert_int_equal(plan->rounds, 3);
	assert_int_equal(plan->max_rounds, 9);
	assert_int_equal(plan->warm_up, 0);
	assert_int_equal(plan->precision, 2);
	assert_int_equal(plan->max_seconds, 60);
	assert_int_equal(plan->seed, 18014398509481985);
	assert_int_equal(plan->buffer, 1048576);
}

static int read_text(struct study_plan *plan, const char *text, char *error, size_t size)
{
	*error = '\0';
	study_plan_init(plan);
	return study_plan_read_text(plan, "plan", text, strlen(text), error, size);
}

/** All of a plan is kept in the folder, as a resumed study needs it. */
static void plan_is_kept(void **state)
{
	char path[200], error[512];
	struct study_plan plan;

	(void)state;
	assert_int_equal(read_text(&plan, full, error, sizeof(error)), 0);
	check_full(&plan);
	snprintf(path, sizeof(path), "%s/plan.json", folder);
	assert_int_equal(study_plan_write(&plan, path, error, sizeof(error)), 0);
	study_plan_free(&plan);
	assert_int_equal(study_plan_read(&plan, path, error, sizeof(error)), 0);
	check_full(&plan);
	study_plan_free(&plan);
}

#define BENCHMARK	"\"benchmarks\": [ { \"name\": \"a\", \"command\": [\"true\"] } ]"
#define BOTH	"\"configurations\": [ \"none\", \"events\" ]"

static const struct {
	const char	*text, *says;
} bad_plans[] = {
	{ "{}", "there is no benchmark" },
	{ "{ " BENCHMARK " }", "nothing to compare" },
	{ "{ " BENCHMARK ", \"configurations\": [ \"none\", \"evts\" ] }", "'evts' is no" },
	{ "{ " BENCHMARK ", \"configurations\": [ \"none\", \"none\" ] }", "twice" },
	{ "{ " BENCHMARK ", \"configurations\": [ \"none\", \"events@guest\" ] }",
	  "there are none: add --guest" },
	{ "{ " BENCHMARK ", " BOTH ", \"round\": 3 }", "did you mean 'rounds'" },
	{ "{ " BENCHMARK ", " BOTH ", \"rounds\": 0 }", "\"rounds\" is not a whole number" },
	{ "{ " BENCHMARK ", " BOTH ", \"rounds\": 2.5 }", "\"rounds\" is not a whole number" },
	{ "{ " BENCHMARK ", " BOTH ", \"seed\": -1 }", "\"seed\" is not" },
	{ "{ " BENCHMARK ", " BOTH ", \"rounds\": 9, \"max_rounds\": 3 }", "at most 3 rounds" },
	{ "{ " BENCHMARK ", " BOTH ", \"events\": \"sched;rm -rf\" }", "are no list" },
	{ "{ " BENCHMARK ", \"configurations\": [ \"none\", { \"name\": \"../x\", \"tracing\": "
	  "\"all\" } ] }", "'../x'" },
	{ "{ \"benchmarks\": [ { \"name\": \"..\", \"command\": [\"true\"] } ], " BOTH " }",
	  "'..'" },
	{ "{ \"benchmarks\": [ { \"name\": \"a\", \"command\": \"true\" } ], " BOTH " }",
	  "\"command\" is no array" },
	{ "{ \"benchmarks\": [ { \"name\": \"a\", \"command\": [] } ], " BOTH " }",
	  "\"command\" is no array" },
	{ "{ \"benchmarks\": [ { \"name\": \"a\", \"command\": [\"x\\u0000y\"] } ], " BOTH " }",
	  "word 1" },
	{ "{ \"benchmarks\": [ { \"name\": \"a\", \"command\": [\"x\"], \"format\": \"hackbensh\" }"
	  " ], " BOTH " }", "no format of results 'hackbensh'" },
	{ "{ \"benchmarks\": [ { \"name\": \"a\", \"command\": [\"x\"], \"where\": \"web\" } ], "
	  BOTH " }", "there is no guest 'web'" },
	{ "{ " BENCHMARK ", " BOTH ", \"guests\": [ \"web=agent\" ] }", "by ssh" },
	{ "{ " BENCHMARK ", " BOTH ", \"guests\": [ \"web=ssh:-oProxyCommand=x\" ] }",
	  "by ssh" },
	{ "[]", "" },
};

static void mistakes_are_named(void **state)
{
	struct study_plan plan;
	char error[2048];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_plans); i++) {
		assert_int_equal(read_text(&plan, bad_plans[i].text, error, sizeof(error)),
				 -EINVAL);
		if (!strstr(error, bad_plans[i].says) || !*error)
			fail_msg("%s: %s", bad_plans[i].text, error);
		study_plan_free(&plan);
	}
}

/* --- the journal ----------------------------------------------------------------------------- */

static struct study *new_study(void)
{
	struct study *study = calloc(1, sizeof(*study));
	char error[512];

	assert_non_null(study);
	assert_int_equal(read_text(&study->plan, full, error, sizeof(error)), 0);
	snprintf(study->folder, sizeof(study->folder), "%s", folder);
	return study;
}

static void free_study(struct study *study)
{
	study_plan_free(&study->plan);
	free(study->runs);
	free(study);
}

static const struct study_run one = {
	.round = 2, .benchmark = 1, .config = 2, .wall_s = 1.25, .load = 0.5, .cpu_percent = 99,
	.others_percent = NAN, .steal_percent = 0, .memory_mib = 512.125, .runnable = 3,
	.throttled = NAN, .records = 12345678, .lost = 0, .bytes = 4096e6, .guest_records = NAN,
	.kernel = "6.1 \"x\"", .governor = "",
};

static void journal_path(char path[200])
{
	snprintf(path, 200, "%s/journal.jsonl", folder);
}

static void check_one(const struct study_run *run)
{
	assert_int_equal(run->round, 2);
	assert_int_equal(run->benchmark, 1);
	assert_int_equal(run->config, 2);
	assert_true(run->wall_s == one.wall_s && run->memory_mib == one.memory_mib &&
		    run->records == one.records && run->bytes == one.bytes && run->lost == 0);
	assert_true(isnan(run->others_percent) && isnan(run->guest_records));
	assert_string_equal(run->kernel, one.kernel);
}

static void runs_are_kept(void **state)
{
	struct study *study = new_study();
	struct study_run next = one;
	char path[200], error[512] = "", *text;
	size_t length;

	(void)state;
	journal_path(path);
	unlink(path);
	assert_int_equal(study_journal_add(study, &one), 0);
	assert_true(study_has_run(study, 2, 1, 2));
	assert_false(study_has_run(study, 2, 1, 1));
	assert_false(study_has_run(study, 3, 1, 2));
	next.round = 3;
	assert_int_equal(study_journal_add(study, &next), 0);
	free_study(study);

	study = new_study();
	assert_int_equal(study_journal_read(study, error, sizeof(error)), 0);
	assert_int_equal(study->n_runs, 2);
	check_one(&study->runs[0]);
	assert_true(study_has_run(study, 3, 1, 2));
	free_study(study);

	/* a writer was killed in the middle of the second line: that run counts for nothing */
	assert_int_equal(whole_file_read(path, 1 << 20, &text, &length), 0);
	free(text);
	assert_int_equal(truncate(path, (off_t)length - 20), 0);
	study = new_study();
	assert_int_equal(study_journal_read(study, error, sizeof(error)), 0);
	assert_int_equal(study->n_runs, 1);
	/* and does not spoil the next one */
	assert_int_equal(study_journal_add(study, &next), 0);
	free_study(study);
	study = new_study();
	assert_int_equal(study_journal_read(study, error, sizeof(error)), 0);
	assert_int_equal(study->n_runs, 2);
	free_study(study);
}

#define RUN	"{\"round\":1,\"benchmark\":\"hb\",\"configuration\":\"none\""

static const struct {
	const char	*text, *says;
} bad_journals[] = {
	{ "x\n", "line 1" },
	{ RUN "}\n[]\n", "line 2" },
	{ RUN "}\n" RUN "}\n", "line 2: a run that an earlier line has" },
	{ "{\"round\":-1,\"benchmark\":\"hb\",\"configuration\":\"none\"}\n", "round" },
	{ "{\"round\":1001,\"benchmark\":\"hb\",\"configuration\":\"none\"}\n", "round" },
	{ "{\"round\":1,\"benchmark\":\"xx\",\"configuration\":\"none\"}\n", "the plan has not" },
	{ "{\"round\":1,\"benchmark\":\"hb\",\"configuration\":\"xx\"}\n", "the plan has not" },
	{ RUN ",\"wall_s\":-1}\n", "number" },
	{ RUN ",\"wall_s\":\"1\"}\n", "number" },
	{ RUN ",\"wall_s\":1e999}\n", "number" },
};

static void damage_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_journals); i++) {
		struct study *study = new_study();
		char *text = strdup(bad_journals[i].text), error[512] = "";

		assert_int_equal(study_journal_read_text(study, "journal", text, strlen(text),
							 error, sizeof(error)), -EINVAL);
		if (!strstr(error, bad_journals[i].says))
			fail_msg("%s: %s", bad_journals[i].text, error);
		free(text);
		free_study(study);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_fair),
		cmocka_unit_test(seeds_differ),
		cmocka_unit_test(plan_is_kept),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(runs_are_kept),
		cmocka_unit_test(damage_is_named),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
