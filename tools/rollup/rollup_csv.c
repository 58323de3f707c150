// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	rollup_csv.c
 * @brief	Rows as CSV, a number each: for whatever reads CSV.
 */
#include <inttypes.h>
#include <stdio.h>

#include "rollup.h"

/** A line of CSV; VIRT_NONE: nothing there. */
struct line {
	const char	*kind;
	const char	*name;
	int64_t		up_to_ns, count, complete, ns;
};

const char *rollup_length_name(enum virt_length what)
{
	static const char *const names[VIRT_N_LENGTHS] = {
		[VIRT_LENGTH_WAKE] = "wake",
		[VIRT_LENGTH_STEAL] = "steal",
		[VIRT_LENGTH_EXIT] = "exit",
	};

	return names[what];
}

static void put_number(struct output *out, int64_t value)
{
	out_char(out, ',');
	if (value != VIRT_NONE)
		out_i64(out, value);
}

static void put_text(struct output *out, const char *text)
{
	out_char(out, ',');
	if (text)
		out_csv(out, text, strlen(text));
}

static void put_line(struct output *out, const struct rollup_row *row, const struct line *line)
{
	out_csv(out, row->host, strlen(row->host));
	put_number(out, row->trace_ns);
	put_number(out, row->time_ns);
	put_number(out, row->length_ns);
	put_number(out, row->machine ? row->machine_id : VIRT_NONE);
	put_text(out, row->machine);
	put_number(out, row->machine ? row->vcpu : VIRT_NONE);
	put_text(out, line->kind);
	put_text(out, line->name);
	put_number(out, line->up_to_ns);
	put_number(out, line->count);
	put_number(out, line->complete);
	put_number(out, line->ns);
	out_char(out, '\n');
}

static void put_vcpu(struct output *out, const struct rollup_row *row)
{
	struct line line = { .kind = "state", .up_to_ns = VIRT_NONE, .complete = VIRT_NONE };

	for (int state = 0; state < VIRT_N_STATES; state++) {
		line.name = virt_state_name((enum virt_state)state);
		line.count = (int64_t)row->state_count[state];
		line.ns = row->state_ns[state];
		if (row->state_unknown[state])
			line.count = line.ns = VIRT_NONE;
		if (line.count || line.ns)
			put_line(out, row, &line);
	}
	line.name = NULL;
	line.kind = "migrations";
	line.count = row->migrations_unknown ? VIRT_NONE : (int64_t)row->migrations;
	line.ns = VIRT_NONE;
	if (line.count)
		put_line(out, row, &line);
	line.kind = "exit";
	if (row->exits_unknown) {
		line.name = ROLLUP_UNKNOWN;
		line.count = VIRT_NONE;
		put_line(out, row, &line);
	}
	for (size_t i = 0; i < row->n_exits; i++) {
		line.name = row->exits[i].reason;
		line.count = (int64_t)row->exits[i].count;
		line.complete = (int64_t)row->exits[i].complete;
		line.ns = row->exits[i].complete ? row->exits[i].ns : VIRT_NONE;
		put_line(out, row, &line);
	}
	line.kind = "steal";
	line.count = line.complete = VIRT_NONE;
	for (size_t i = 0; i < row->n_steals; i++) {
		line.name = row->steals[i].culprit;
		line.ns = row->steals[i].ns;
		put_line(out, row, &line);
	}
}

static void put_lengths(struct output *out, const struct rollup_row *row, enum virt_length what)
{
	const struct latency_histogram *lengths = &row->lengths[what];
	char kind[32];
	struct line line = { .kind = kind, .complete = VIRT_NONE, .ns = VIRT_NONE };

	snprintf(kind, sizeof(kind), "%s_length", rollup_length_name(what));
	for (int i = 0; i < lengths->end; i++) {
		line.up_to_ns = latency_bucket_last(i);
		line.count = (int64_t)lengths->count[i];
		if (line.count)
			put_line(out, row, &line);
	}
}

static void put_losses(struct output *out, const struct rollup_row *row)
{
	char name[16];
	struct line line = {
		.kind = "lost", .name = name, .up_to_ns = VIRT_NONE, .complete = VIRT_NONE,
	};

	for (size_t i = 0; i < row->n_losses; i++) {
		snprintf(name, sizeof(name), "p%d", row->losses[i].pcpu);
		line.count = row->losses[i].records;
		line.ns = row->losses[i].ns;
		put_line(out, row, &line);
	}
}

static void csv_begin(struct output *out)
{
	out_str(out, "host,trace_ns,time_ns,length_ns,machine_id,machine,vcpu,kind,name,up_to_ns,"
		     "count,complete,ns\n");
}

static void csv_row(struct output *out, const struct rollup_row *row)
{
	if (row->machine)
		put_vcpu(out, row);
	for (int i = 0; row->machine && i < VIRT_N_LENGTHS; i++)
		put_lengths(out, row, (enum virt_length)i);
	put_losses(out, row);
}

const struct rollup_format rollup_csv = { .begin = csv_begin, .row = csv_row };
