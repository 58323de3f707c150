// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	rollup_clickhouse.c
 * @brief	Rows for ClickHouse, "INSERT ... FORMAT TabSeparated": a line each, with arrays.
 *
 * The columns are those of examples/fleet/schema.sql, in the same order. Names are escaped as they
 * are for people, and then as ClickHouse requires: a reader of the database gets the text that
 * people see.
 */
#include "escape.h"
#include "rollup.h"

const char *rollup_length_name(enum virt_length what)
{
	static const char *const names[VIRT_N_LENGTHS] = {
		[VIRT_LENGTH_WAKE] = "wake",
		[VIRT_LENGTH_STEAL] = "steal",
		[VIRT_LENGTH_EXIT] = "exit",
	};

	return names[what];
}

#define NS_PER_S	1000000000

/** A text as ClickHouse reads it, within an array or not. */
static void put_escaped(struct output *out, const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	size_t n;

	while ((n = escape_next(&text, end, piece)) > 0)
		for (size_t i = 0; i < n; i++) {
			if (piece[i] == '\\' || piece[i] == '\'')
				out_char(out, '\\');
			out_char(out, piece[i]);
		}
}

/** Of an array: what is in front of element @i. */
static void next_element(struct output *out, size_t i)
{
	if (i)
		out_char(out, ',');
}

static void put_column(struct output *out, int64_t value)
{
	out_char(out, '\t');
	out_i64(out, value);
}

/** NULL if @is_unknown; 0 in the row of a host. */
static void put_number(struct output *out, const struct rollup_row *row, bool is_unknown,
		       int64_t value)
{
	if (row->machine && is_unknown)
		out_str(out, "\t\\N");
	else
		put_column(out, row->machine ? value : 0);
}

static void put_name(struct output *out, const char *text)
{
	out_char(out, '\'');
	put_escaped(out, text);
	out_char(out, '\'');
}

/** An array: @element puts the one at @i, of @n. */
#define PUT_ARRAY(out, i, n, element) do {							\
	out_str(out, "\t[");									\
	for (size_t i = 0; i < (n); i++) {							\
		next_element(out, i);								\
		element;									\
	}											\
	out_char(out, ']');									\
} while (0)

static void put_exits(struct output *out, const struct rollup_row *row)
{
	size_t n = row->machine ? row->n_exits : 0;

	PUT_ARRAY(out, i, n, put_name(out, row->exits[i].reason));
	PUT_ARRAY(out, i, n, out_u64(out, row->exits[i].count));
	PUT_ARRAY(out, i, n, out_u64(out, row->exits[i].complete));
	PUT_ARRAY(out, i, n, out_i64(out, row->exits[i].ns));
}

static void put_steals(struct output *out, const struct rollup_row *row)
{
	size_t n = row->machine ? row->n_steals : 0;

	PUT_ARRAY(out, i, n, put_name(out, row->steals[i].culprit));
	PUT_ARRAY(out, i, n, out_i64(out, row->steals[i].ns));
}

/** Two arrays: buckets, and how much is in each. */
static void put_lengths(struct output *out, const struct latency_histogram *lengths)
{
	for (int counts = 0; counts < 2; counts++) {
		size_t n = 0;

		out_str(out, "\t[");
		for (int i = 0; i < lengths->end; i++) {
			if (!lengths->count[i])
				continue;
			next_element(out, n++);
			out_u64(out, counts ? lengths->count[i] : (uint64_t)i);
		}
		out_char(out, ']');
	}
}

static void put_losses(struct output *out, const struct rollup_row *row)
{
	PUT_ARRAY(out, i, row->n_losses, out_i64(out, row->losses[i].pcpu));
	PUT_ARRAY(out, i, row->n_losses, out_i64(out, row->losses[i].ns));
	/* the number is unknown if one of the pCPU's losses has none */
	PUT_ARRAY(out, i, row->n_losses,
		  out_i64(out, row->losses[i].records == VIRT_NONE ? -1 : row->losses[i].records));
}

static void clickhouse_row(struct output *out, const struct rollup_row *row)
{
	bool is_vcpu = row->machine;

	put_escaped(out, row->host);
	put_column(out, row->trace_ns);
	put_column(out, row->time_ns / NS_PER_S);
	put_column(out, row->time_ns);
	put_column(out, row->length_ns);
	put_column(out, is_vcpu ? row->machine_id : -1);
	out_char(out, '\t');
	put_escaped(out, is_vcpu ? row->machine : "");
	put_column(out, is_vcpu ? row->vcpu : -1);
	for (int state = 0; state < VIRT_N_STATES; state++)
		put_number(out, row, row->state_unknown[state], row->state_ns[state]);
	put_number(out, row, row->state_unknown[VIRT_PREEMPTED],
		   (int64_t)row->state_count[VIRT_PREEMPTED]);
	put_number(out, row, row->state_unknown[VIRT_WAKING],
		   (int64_t)row->state_count[VIRT_WAKING]);
	put_number(out, row, row->migrations_unknown, (int64_t)row->migrations);
	put_exits(out, row);
	put_steals(out, row);
	for (int i = 0; i < VIRT_N_LENGTHS; i++)
		put_lengths(out, &row->lengths[i]);
	put_losses(out, row);
	out_char(out, '\n');
}

const struct rollup_format rollup_clickhouse = { .row = clickhouse_row };
