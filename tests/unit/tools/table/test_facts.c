// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_facts.c
 * @brief	Facts: one statement is a member of JSON and a row of CSV; what is 0 or unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* this header has test programs linked with tables */
#include "table.h"
#include "facts.h"

#define COST { \
	.count = 2, .ns = 30, .min = 10, .p5 = 10, .p50 = 10, .p95 = 20, .p99 = 20, .max = 20, \
}

static const struct virt_dist cost = COST;

static const struct virt_stretches blocked = {
	.ns = 50, .count = 3, .before = 1, .before_ns = 7, .whole = COST,
};

static void state_all(struct facts *to)
{
	facts_open(to, "thing", '{', true);
	facts_name(to, "name", "a");
	facts_number(to, "id", 4);
	facts_flag(to, "own", true);
	facts_null(to, "nothing");
	facts_count(to, FACT("count", "counts", "a,b"), 5);
	facts_count(to, FACT("none", "counts", "none"), 0);
	facts_counted(to, FACT("zero", "counts", "zero"), 0);
	facts_ns(to, FACT("time_ns", "times", NULL), -1);
	facts_part(to, FACT("part_ns", "times", "part"), 0);
	facts_ns(to, FACT_JSON("json_ns"), 6);
	facts_ns(to, FACT_CSV("csv", NULL), 7);
	facts_sum(to, "sum", "x", 2, 9);
	facts_sum(to, "sum", "y", 2, VIRT_NONE);
	facts_row(to, "row", "z");
	facts_close(to, '}');
}

static void state_durations(struct facts *to)
{
	facts_durations(to, FACT("cost", "cost", NULL), &cost);
	facts_stretches(to, FACT("blocked", "state", "blocked"), &blocked);
	facts_open(to, "more", '{', true);
	facts_members(to, &cost);
	facts_close(to, '}');
}

/** Return: what was written, until the next call. */
static const char *written(bool is_json, bool unknown, void (*state)(struct facts *to))
{
	static struct output out;
	struct json json;
	struct facts to = { .file = "f", .machine = "m", .vcpu = "v0", .unknown = unknown };

	out_collect(&out);
	if (is_json) {
		to.json = &json;
		json_begin(&json, &out);
		json_open(&json, NULL, '{', true);
	} else {
		to.csv = &out;
	}
	state(&to);
	if (is_json) {
		json_close(&json, '}');
		json_end(&json);
	}
	return out_collected(&out);
}

static void test_json(void **state)
{
	(void)state;
	assert_string_equal(written(true, false, state_all),
		"{\"thing\": {\"name\": \"a\", \"id\": 4, \"own\": true, \"nothing\": null, "
		"\"count\": 5, \"none\": 0, \"zero\": 0, \"time_ns\": -1, \"part_ns\": 0, "
		"\"json_ns\": 6}}\n");
	assert_string_equal(written(true, true, state_all),
		"{\"thing\": {\"name\": \"a\", \"id\": null, \"own\": true, \"nothing\": null, "
		"\"count\": null, \"none\": null, \"zero\": null, \"time_ns\": null, "
		"\"part_ns\": null, \"json_ns\": null}}\n");
	assert_string_equal(written(true, false, state_durations),
		"{\"cost\": {\"count\": 2, \"total_ns\": 30, \"mean_ns\": 15, \"min_ns\": 10, "
		"\"p5_ns\": 10, \"p50_ns\": 10, \"p95_ns\": 20, \"p99_ns\": 20, \"max_ns\": 20}, "
		"\"blocked\": {\"count\": 3, \"total_ns\": 50, \"mean_ns\": 15, \"min_ns\": 10, "
		"\"p5_ns\": 10, \"p50_ns\": 10, \"p95_ns\": 20, \"p99_ns\": 20, \"max_ns\": 20, "
		"\"complete\": 2, \"before\": 1, \"before_ns\": 7}, "
		"\"more\": {\"total_ns\": 30, \"mean_ns\": 15, \"min_ns\": 10, \"p5_ns\": 10, "
		"\"p50_ns\": 10, \"p95_ns\": 20, \"p99_ns\": 20, \"max_ns\": 20}}\n");
}

/** The columns after the numbers, of a row without a distribution. */
#define REST	",,,,,,,,,,\n"

static void test_csv(void **state)
{
	(void)state;
	assert_string_equal(written(false, false, state_all),
		"f,counts,m,v0,\"a,b\",5," REST
		"f,counts,m,v0,zero,0," REST
		"f,times,m,v0,,,-1" REST
		"f,csv,m,v0,,,7" REST
		"f,sum,m,v0,x,2,9" REST
		"f,sum,m,v0,y,2," REST
		"f,row,m,v0,z,," REST);
	/* what is unknown has a row, also what may be 0 */
	assert_string_equal(written(false, true, state_all),
		"f,counts,m,v0,\"a,b\",," REST
		"f,counts,m,v0,none,," REST
		"f,counts,m,v0,zero,," REST
		"f,times,m,v0,,," REST
		"f,times,m,v0,part,," REST
		"f,csv,m,v0,,," REST
		"f,sum,m,v0,x,," REST
		"f,sum,m,v0,y,," REST
		"f,row,m,v0,z,," REST);
	assert_string_equal(written(false, false, state_durations),
		"f,cost,m,v0,,2,30,15,10,10,10,20,20,20,,,\n"
		"f,state,m,v0,blocked,3,50,15,10,10,10,20,20,20,2,1,7\n");
}

static void test_titles(void **state)
{
	static struct output out;
	const char *text;
	size_t commas[2] = { 0 };

	(void)state;
	out_collect(&out);
	facts_titles(&out);
	text = out_collected(&out);
	assert_int_equal(strncmp(text, "file,section,machine,vcpu,name,count,total_ns,", 46), 0);
	for (const char *c = text; *c; c++)
		commas[0] += *c == ',';
	for (const char *c = "f,row,m,v0,z,," REST; *c; c++)
		commas[1] += *c == ',';
	assert_int_equal(commas[0], commas[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
