// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_table.c
 * @brief	Tables: kinds of rows, tables in groups, what is absent or unknown, in each format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "table.h"

static const struct table_column groups[] = {
	{ .key = "machine", .title = "" },
	{ .key = "vcpu", .not_json = true },
};

static const struct table_column of_vcpu[] = {
	{ .key = "machine", .not_json = true },
	{ .key = "vcpu", .title = "" },
};

static const struct table_column things[] = {
	{ .key = "name" },
	{ .key = "count", .type = TABLE_COUNT },
};

static const struct table_column columns[] = {
	{ .key = "what", .title = "what", .width = 8 },
	{ .key = "count", .type = TABLE_COUNT, .title = "count" },
	{ .key = "total_ns", .type = TABLE_NS, .title = "total" },
	{ .key = "cost", .type = TABLE_DURATIONS, .title = "cost",
	  .shown = TABLE_TOTAL | TABLE_MAX },
	{ .key = "things", .type = TABLE_LIST, .not_csv = true, .list = things,
	  .n_list = ARRAY_SIZE(things) },
};

static const struct table_column other_columns[] = {
	{ .key = "count", .type = TABLE_COUNT, .title = "others" },
	{ .key = "rate", .type = TABLE_RATE, .not_csv = true },
};

static const struct table_rows others = {
	.key = "others", TABLE_COLUMNS(other_columns), .apart = true,
};

static const struct table table = {
	.groups = "machines", .group = groups, .n_group = ARRAY_SIZE(groups),
	.rows = { .key = "rows", TABLE_COLUMNS(columns), .none = "  none\n" },
};

static const struct table inner = {
	.groups = "vcpus", .group = of_vcpu, .n_group = ARRAY_SIZE(of_vcpu),
	.rows = { .key = "rows", TABLE_COLUMNS(columns), .none = "  none\n" },
};

static const struct virt_dist cost = {
	.count = 2, .ns = 30, .min = 10, .p5 = 10, .p50 = 10, .p95 = 20, .p99 = 20, .max = 20,
};

static void put_row(struct table_writer *to, const char *what, struct table_cell total,
		    const struct virt_dist *durations)
{
	const struct table_cell list[] = {
		table_name("a"), table_number(1), table_name("b"), table_number(2),
	};

	table_row(to, (const struct table_cell[ARRAY_SIZE(columns)]){
		table_name(what), table_number(3), total, table_durations(durations),
		table_list(list, 2),
	});
}

static void put_machine(struct table_writer *to)
{
	static const struct virt_dist nothing;
	const struct table_cell cells[] = { table_name("m,1"), table_absent() };
	const struct table_cell of_inner[] = { table_name("m,1"), table_name("v0") };
	struct table_writer inside;

	table_group(to, cells);
	put_row(to, "whole", table_number(1500), &cost);
	put_row(to, "absent", table_absent(), &nothing);
	put_row(to, "unknown", table_number(VIRT_NONE), NULL);
	table_rows(to, &others);
	table_row(to, (const struct table_cell[]){ table_number(4), table_rate(true, 0.5) });
	inside = table_inside(to, &inner);
	table_group(&inside, of_inner);
	if (table_is(to, TABLE_CSV))
		put_row(&inside, "inside", table_number(1), &cost);
	table_group_end(&inside);
	table_end(&inside);
	table_group_end(to);
}

/** @unknown: the trace cannot show the rows. Return: what was written, until the next call. */
static const char *written(enum table_format_kind format, bool unknown)
{
	static struct output out;
	struct json json;
	struct table_writer to = {
		.table = &table, .format = table_formats[format], .out = &out, .json = &json,
		.file = "f", .unknown = unknown,
	};

	out_collect(&out);
	if (format == TABLE_JSON) {
		json_begin(&json, &out);
		json_open(&json, NULL, '{', false);
	}
	table_begin(&to, true);
	put_machine(&to);
	table_end(&to);
	if (format == TABLE_JSON) {
		json_close(&json, '}');
		json_end(&json);
	}
	return out_collected(&out);
}

static void test_text(void **state)
{
	(void)state;
	assert_string_equal(written(TABLE_TEXT, false),
		"\n  m,1\n"
		"  what           count       total        cost         max\n"
		"  whole              3    1.500 us       30 ns       20 ns\n"
		/* nothing follows what is absent */
		"  absent             3\n"
		"  unknown            3           -           -\n"
		"\n        others\n"
		"             4\n"
		"\n  v0\n"
		"  none\n");
	assert_string_equal(written(TABLE_TEXT, true), "\n  m,1\n  -\n  -\n\n  v0\n  -\n");
}

#define THINGS	"\"things\": [{\"name\": \"a\", \"count\": 1}, {\"name\": \"b\", \"count\": 2}]}"

static void test_json(void **state)
{
	(void)state;
	const char *text = written(TABLE_JSON, false);

	assert_non_null(strstr(text, "\"machine\": \"m,1\",\n"));
	assert_non_null(strstr(text, "{\"what\": \"whole\", \"count\": 3, \"total_ns\": 1500, "
		"\"cost\": {\"count\": 2, \"total_ns\": 30, \"mean_ns\": 15, \"min_ns\": 10, "
		"\"p5_ns\": 10, \"p50_ns\": 10, \"p95_ns\": 20, \"p99_ns\": 20, \"max_ns\": 20}, "
		THINGS));
	assert_non_null(strstr(text, "{\"what\": \"absent\", \"count\": 3, "
		"\"cost\": {\"count\": 0, \"total_ns\": 0}, " THINGS));
	assert_non_null(strstr(text, "{\"what\": \"unknown\", \"count\": 3, \"total_ns\": null, "
		"\"cost\": null, " THINGS));
	assert_non_null(strstr(text, "{\"count\": 4, \"rate\": 0.5}"));
	assert_non_null(strstr(text, "\"vcpus\": ["));
	assert_null(strstr(text, "\"vcpu\": null"));
	text = written(TABLE_JSON, true);
	assert_non_null(strstr(text, "\"rows\": null,"));
	assert_non_null(strstr(text, "\"others\": null,"));
}

static void test_csv(void **state)
{
	(void)state;
	assert_string_equal(written(TABLE_CSV, false),
		"file,machine,vcpu,what,count,total_ns,cost_count,cost_total_ns,cost_mean_ns,"
		"cost_min_ns,cost_p5_ns,cost_p50_ns,cost_p95_ns,cost_p99_ns,cost_max_ns\n"
		"f,\"m,1\",,whole,3,1500,2,30,15,10,10,10,20,20,20\n"
		"f,\"m,1\",,absent,3,,0,0,,,,,,,\n"
		"f,\"m,1\",,unknown,3,,,,,,,,,,\n"
		/* another kind has what it has under the same titles */
		"f,\"m,1\",,,4,,,,,,,,,,\n"
		"f,\"m,1\",v0,inside,3,1,2,30,15,10,10,10,20,20,20\n");
}

/* --- rows without groups, of types that text has not ------------------------------------------ */

static const struct table_column flat_columns[] = {
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "known", .type = TABLE_FLAG },
	{ .key = "per_s", .type = TABLE_FIXED },
	{ .key = "name" },
	{ .key = "count", .type = TABLE_COUNT },
};

static const struct table flat = { .rows = { .key = "rows", TABLE_COLUMNS(flat_columns) } };

static const char *flat_written(enum table_format_kind format)
{
	static struct output out;
	struct json json;
	struct table_writer to = {
		.table = &flat, .format = table_formats[format], .out = &out, .json = &json,
	};

	out_collect(&out);
	if (format == TABLE_JSON) {
		json_begin(&json, &out);
		json_open(&json, NULL, '{', true);
	}
	table_flat(&to, true);
	/* -1 is a time, but no count */
	table_row(&to, (const struct table_cell[]){
		table_number(-1), table_number(true), table_rate(true, 0.25),
		table_optional_name("a,b"), table_number(VIRT_NONE),
	});
	table_row(&to, (const struct table_cell[]){
		table_unknown(), table_absent(), table_unknown(), table_unknown(),
		table_absent(),
	});
	table_flat_end(&to);
	if (format == TABLE_JSON) {
		json_close(&json, '}');
		json_end(&json);
	}
	return out_collected(&out);
}

static void test_flat(void **state)
{
	(void)state;
	assert_string_equal(flat_written(TABLE_CSV),
		"time_ns,known,per_s,name,count\n"
		"-1,1,0.250,\"a,b\",\n"
		",,,,\n");
	assert_string_equal(flat_written(TABLE_JSON),
		"{\"rows\": [{\"time_ns\": -1, \"known\": true, \"per_s\": 0.250000, "
		"\"name\": \"a,b\", \"count\": null}, "
		"{\"time_ns\": null, \"per_s\": null, \"name\": null}]}\n");
}

/* --- names beside numbers, and documents of a line -------------------------------------------- */

static void more_members(struct json *json, const void *of)
{
	json_open(json, "more", '[', true);
	json_i64(json, NULL, *(const int *)of);
	json_i64(json, NULL, 2);
	json_close(json, ']');
}

static const struct table_column line_columns[] = {
	{ .key = "name", .title = "name", .width = 6 },
	{ .key = "count", .type = TABLE_COUNT, .title = "count", .width = 5 },
	{ .key = "more", .type = TABLE_MEMBERS },
	{ .key = "other", .title = "other", .width = 6 },
	{ .key = "last", .title = "last" },
};

static const struct table lines = {
	.rows = { .key = "rows", TABLE_COLUMNS(line_columns), .titled = true },
};

/** @n: rows */
static const char *lines_written(const struct table_format *format, int n)
{
	static const int one = 1;
	static struct output out;
	struct table_writer to = { .table = &lines, .format = format, .out = &out };
	struct table_cell unsure = table_unknown();

	unsure.instead = "?";
	out_collect(&out);
	table_flat(&to, true);
	for (int i = 0; i < n; i++)
		table_row(&to, (const struct table_cell[ARRAY_SIZE(line_columns)]){
			table_name(i ? "a" : "length"), i ? unsure : table_number(7),
			table_members(more_members, &one), table_known_name(i ? "" : "length"),
			table_name("b"),
		});
	table_flat_end(&to);
	return out_collected(&out);
}

static void test_lines(void **state)
{
	(void)state;
	/* what is after a name that fills its column stays apart, and numbers in their column */
	assert_string_equal(lines_written(&table_text, 2),
		"  name   count" "other last\n"
		"  length     7" "length b\n"
		"  a          ?" "      b\n");
	assert_string_equal(lines_written(&table_text, 0), "  name   count" "other last\n");
	assert_string_equal(lines_written(&table_json_lines, 2),
		"{\"version\":1,\"name\":\"length\",\"count\":7,\"more\":[1,2],"
		"\"other\":\"length\",\"last\":\"b\"}\n"
		"{\"version\":1,\"name\":\"a\",\"count\":null,\"more\":[1,2],"
		"\"other\":null,\"last\":\"b\"}\n");
	assert_string_equal(lines_written(&table_csv, 1),
		"name,count,other,last\nlength,7,length,b\n");
}

/** A single statistic: its name is in the title and the key, after what the column has. */
static void test_one_stat(void **state)
{
	static const struct table_column stats[] = {
		{ .key = "wake", .title = "wake", .width = 9, .type = TABLE_ONE_STAT,
		  .stat = VIRT_STAT_P95 },
		{ .key = "", .title = "", .type = TABLE_ONE_STAT, .stat = VIRT_STAT_MAX },
	};
	static const struct table one = { .rows = { .key = "rows", TABLE_COLUMNS(stats) } };
	static const char *const wanted[] = {
		[TABLE_TEXT] = "    wake p95         max\n        5 ns           -\n",
		[TABLE_CSV] = "wake_p95_ns,max_ns\n5,\n",
		[TABLE_LATEX] = "\\begin{tabular}{rr}\n\\toprule\nwake p95 & max \\\\\n\\midrule\n"
				"5 ns &  \\\\\n\\bottomrule\n\\end{tabular}\n",
		[TABLE_JSON] = "{\"rows\": [{\"wake_p95_ns\": 5, \"max_ns\": null}]}\n",
	};
	static struct output out;
	struct json json;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct table_writer to = {
			.table = &one, .format = table_formats[i], .out = &out, .json = &json,
		};

		if (!wanted[i])
			continue;
		out_collect(&out);
		if (i == TABLE_JSON) {
			json_begin(&json, &out);
			json_open(&json, NULL, '{', true);
		}
		table_flat(&to, true);
		table_row(&to, (const struct table_cell[]){ table_number(5), table_unknown() });
		table_flat_end(&to);
		if (i == TABLE_JSON) {
			json_close(&json, '}');
			json_end(&json);
		}
		assert_string_equal(out_collected(&out), wanted[i]);
	}
}

/** Cells with a type each; lines without blanks in front, titles as far left as they need. */
static void test_values(void **state)
{
	static const struct table_column values[] = {
		{ .key = "a,b", .title = "a,b", .type = TABLE_VALUE, .width = 5 },
		{ .key = "n", .title = "n", .type = TABLE_VALUE, .width = 4, .right = true },
		{ .title = "", .type = TABLE_RATE, .width = 5 },
		{ .title = "percent", .type = TABLE_RATE, .width = 4 },
	};
	static const struct table table_of = {
		.rows = { .key = "rows", TABLE_COLUMNS(values), .flush = true },
	};
	const struct table_cell number = { .instead = "+1 %" };
	const struct table_cell rows[][ARRAY_SIZE(values)] = {
		{ table_name(""), table_value(table_rate(true, 1.5), TABLE_RATE, "1.5"),
		  number, number },
		{ table_name("x"), table_unknown(), number, table_absent() },
		{ table_value(table_number(7), TABLE_TIME, "7"), table_name("y"),
		  table_absent(), table_absent() },
	};
	static const char *const wanted[] = {
		[TABLE_TEXT] = "a,b       n      percent\n"
			       "        1.5    +1 % +1 %\n"
			       "x         -    +1 %\n"
			       "    7  y\n",
		[TABLE_CSV] = "\"a,b\",n\n\"\",1.5\nx,\n7,y\n",
		[TABLE_JSON] = "{\"rows\": [{\"a,b\": \"\", \"n\": 1.5}, "
			       "{\"a,b\": \"x\", \"n\": null}, "
			       "{\"a,b\": 7, \"n\": \"y\"}]}\n",
	};
	static struct output out;
	struct json json;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct table_writer to = {
			.table = &table_of, .format = table_formats[i], .out = &out, .json = &json,
		};

		out_collect(&out);
		if (i == TABLE_JSON) {
			json_begin(&json, &out);
			json_open(&json, NULL, '{', true);
		}
		table_flat(&to, true);
		for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
			table_row(&to, rows[k]);
		table_flat_end(&to);
		if (i == TABLE_JSON) {
			json_close(&json, '}');
			json_end(&json);
		}
		assert_string_equal(out_collected(&out), wanted[i]);
	}
}

/** A name of any length stays whole in a sentence, and is escaped. */
static void test_sentence(void **state)
{
	static struct output out;
	char name[2000], wanted[2020];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[0] = '\033';
	name[sizeof(name) - 1] = '\0';
	out_collect(&out);
	out_sentence(&out, "<%s> %d", name, 5);
	snprintf(wanted, sizeof(wanted), "<\\x1b%s> 5", name + 1);
	assert_string_equal(out_collected(&out), wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_one_stat),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
