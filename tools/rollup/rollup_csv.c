// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	rollup_csv.c
 * @brief	Rows as CSV, a line for each number: for any program that reads CSV.
 */
#include <stdio.h>

#include "rollup.h"
#include "table.h"

/** A line of CSV; VIRT_NONE: nothing there. */
struct line {
	const char	*kind;
	const char	*name;
	int64_t		up_to_ns, count, complete, ns;
};

static const struct table_column columns[] = {
	{ .key = "host" },
	{ .key = "trace_ns", .type = TABLE_TIME },
	{ .key = "time_ns", .type = TABLE_TIME },
	{ .key = "length_ns", .type = TABLE_NS },
	{ .key = "machine_id", .type = TABLE_COUNT },
	{ .key = "machine" },
	{ .key = "vcpu", .type = TABLE_COUNT },
	{ .key = "kind" },
	{ .key = "name" },
	{ .key = "up_to_ns", .type = TABLE_NS },
	{ .key = "count", .type = TABLE_COUNT },
	{ .key = "complete", .type = TABLE_COUNT },
	{ .key = "ns", .type = TABLE_NS },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns) } };

static void line_row(struct table_writer *to, const struct rollup_row *row,
		     const struct line *line)
{
	table_row(to, (const struct table_cell[]){
		table_name(row->host), table_number(row->trace_ns), table_number(row->time_ns),
		table_number(row->length_ns), table_optional(row->machine, row->machine_id),
		table_name(row->machine), table_optional(row->machine, row->vcpu),
		table_name(line->kind), table_name(line->name), table_number(line->up_to_ns),
		table_number(line->count), table_number(line->complete), table_number(line->ns),
	});
}

static void vcpu_rows(struct table_writer *to, const struct rollup_row *row)
{
	struct line line = { .kind = "state", .up_to_ns = VIRT_NONE, .complete = VIRT_NONE };

	for (int state = 0; state < VIRT_N_STATES; state++) {
		line.name = virt_state_name((enum virt_state)state);
		line.count = (int64_t)row->state_count[state];
		line.ns = row->state_ns[state];
		if (row->state_unknown[state])
			line.count = line.ns = VIRT_NONE;
		if (line.count || line.ns)
			line_row(to, row, &line);
	}
	line.name = NULL;
	line.kind = "migrations";
	line.count = row->migrations_unknown ? VIRT_NONE : (int64_t)row->migrations;
	line.ns = VIRT_NONE;
	if (line.count)
		line_row(to, row, &line);
	line.kind = "exit";
	if (row->exits_unknown) {
		line.name = ROLLUP_UNKNOWN;
		line.count = VIRT_NONE;
		line_row(to, row, &line);
	}
	for (size_t i = 0; i < row->n_exits; i++) {
		line.name = row->exits[i].reason;
		line.count = (int64_t)row->exits[i].count;
		line.complete = row->lengths_unknown[VIRT_LENGTH_EXIT] ? VIRT_NONE :
				(int64_t)row->exits[i].complete;
		line.ns = row->exits[i].complete ? row->exits[i].ns : VIRT_NONE;
		line_row(to, row, &line);
	}
	line.kind = "steal";
	line.count = line.complete = VIRT_NONE;
	for (size_t i = 0; i < row->n_steals; i++) {
		line.name = row->steals[i].culprit;
		line.ns = row->steals[i].ns;
		line_row(to, row, &line);
	}
}

static void lengths_rows(struct table_writer *to, const struct rollup_row *row,
			 enum virt_length what)
{
	const struct latency_histogram *lengths = &row->lengths[what];
	char kind[32];
	struct line line = {
		.kind = kind, .up_to_ns = VIRT_NONE, .count = VIRT_NONE, .complete = VIRT_NONE,
		.ns = VIRT_NONE,
	};

	snprintf(kind, sizeof(kind), "%s_length", rollup_length_name(what));
	if (row->lengths_unknown[what])
		line_row(to, row, &line);
	for (int i = 0; i < lengths->end; i++) {
		line.up_to_ns = latency_bucket_last(i);
		line.count = (int64_t)lengths->count[i];
		if (line.count)
			line_row(to, row, &line);
	}
}

static void losses_rows(struct table_writer *to, const struct rollup_row *row)
{
	char name[16];
	struct line line = {
		.kind = "lost", .name = name, .up_to_ns = VIRT_NONE, .complete = VIRT_NONE,
	};

	for (size_t i = 0; i < row->n_losses; i++) {
		snprintf(name, sizeof(name), "p%d", row->losses[i].pcpu);
		line.count = row->losses[i].records;
		line.ns = row->losses[i].ns;
		line_row(to, row, &line);
	}
}

static struct table_writer writer_of(struct output *out)
{
	return (struct table_writer){ .table = &table, .format = &table_csv, .out = out };
}

static void begin(struct output *out)
{
	struct table_writer to = writer_of(out);

	table_flat(&to, true);
	table_flat_end(&to);
}

static void take_row(struct output *out, const struct rollup_row *row)
{
	struct table_writer to = writer_of(out);

	table_flat(&to, false);
	if (row->machine)
		vcpu_rows(&to, row);
	for (int i = 0; row->machine && i < VIRT_N_LENGTHS; i++)
		lengths_rows(&to, row, (enum virt_length)i);
	losses_rows(&to, row);
	table_flat_end(&to);
}

const struct rollup_format rollup_csv = { .begin = begin, .row = take_row };
