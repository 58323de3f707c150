// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	diff_write.c
 * @brief	Differences as sentences, and as a table in CSV and JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "diff.h"
#include "json_durations.h"
#include "table.h"
#include "text_columns.h"
#include "virt_needs.h"

/** Culprits that are named in a sentence. */
#define MAX_CULPRITS	3

/** Arguments of VM exits, too. */
#define MAX_ARGUMENTS	3

/** Unknown time that makes a difference. */
#define MUCH_UNKNOWN	0.01

static const char *const sides[DIFF_N_SIDES] = {
	[DIFF_BEFORE] = "before", [DIFF_AFTER] = "after",
};

const char *diff_kind_name(enum diff_kind kind)
{
	static const char *const names[DIFF_N_KINDS] = {
		[DIFF_STATE] = "state", [DIFF_EXIT] = "exits", [DIFF_MIGRATIONS] = "migrations",
	};

	return names[kind];
}

/* --- sentences ------------------------------------------------------------------------------- */

/**
 * "12.34 ms of each second, 8.21 ms more than before (4.13 ms): 120.1 times a second, before 20.4"
 */
static void put_value(struct output *out, const struct diff_value value[DIFF_N_SIDES],
		      bool is_cost)
{
	int64_t before = value[DIFF_BEFORE].ns, after = value[DIFF_AFTER].ns;

	out_printf(out, "%s of each second, ", duration_text(after).text);
	if (!before && value[DIFF_BEFORE].per_s <= 0) {
		out_printf(out, "before not at all: now %.1f times", value[DIFF_AFTER].per_s);
		return;
	}
	if (is_cost)
		out_style(out, after > before ? OUT_BAD : OUT_GOOD);
	out_printf(out, "%s %s", duration_text(llabs(after - before)).text,
		   after > before ? "more" : "less");
	if (is_cost)
		out_style(out, OUT_PLAIN);
	out_printf(out, " than before (%s): %.1f times a second, before %.1f",
		   duration_text(before).text, value[DIFF_AFTER].per_s, value[DIFF_BEFORE].per_s);
}

/** What is no more: "for 4.13 ms of each second, 20.4 times" */
static void put_past(struct output *out, const struct diff_value *before)
{
	out_printf(out, "%s of each second, %.1f times", duration_text(before->ns).text,
		   before->per_s);
}

/** Does it not happen any more? */
static bool is_over(const struct diff_item *item)
{
	return !item->value[DIFF_AFTER].ns && item->value[DIFF_AFTER].per_s <= 0;
}

static void put_wake(struct output *out, const struct diff_value value[DIFF_N_SIDES])
{
	if (value[DIFF_BEFORE].wake_ns != VIRT_NONE && value[DIFF_AFTER].wake_ns != VIRT_NONE)
		out_printf(out, "; %g %% within %s, before %s",
			   virt_stat_look(DIFF_WAKE)->per_mille / 10.0,
			   duration_text(value[DIFF_AFTER].wake_ns).text,
			   duration_text(value[DIFF_BEFORE].wake_ns).text);
}

static void put_culprits(struct output *out, const struct diff_item *item)
{
	for (size_t i = 0; i < item->n_culprits && i < MAX_CULPRITS; i++) {
		const int64_t *ns = item->culprits[i].ns;

		if (ns[DIFF_AFTER] == ns[DIFF_BEFORE])
			break;
		out_char(out, '\n');
		out_sentence(out, "    by %s: %s, before %s", item->culprits[i].name,
			     duration_text(ns[DIFF_AFTER]).text,
			     duration_text(ns[DIFF_BEFORE]).text);
	}
}

static void put_arguments(struct output *out, const struct diff_item *item)
{
	if (item->arguments_unknown)
		out_str(out, "\n    what for is unknown: a trace does not have the event that "
			     "shows it");
	for (size_t i = 0; i < item->n_arguments && i < MAX_ARGUMENTS; i++) {
		const struct diff_argument *argument = &item->arguments[i];
		const struct diff_value *value = argument->value;

		if (value[DIFF_AFTER].ns == value[DIFF_BEFORE].ns)
			break;
		out_char(out, '\n');
		out_sentence(out, "    %s%s%s: %s, before %s; ", argument->name,
			     argument->cause ? ", " : "", argument->cause ? argument->cause : "",
			     duration_text(value[DIFF_AFTER].ns).text,
			     duration_text(value[DIFF_BEFORE].ns).text);
		out_printf(out, "%.1f times a second, before %.1f", value[DIFF_AFTER].per_s,
			   value[DIFF_BEFORE].per_s);
	}
}

/** A vCPU, with what its machine is called, if that is not a part of its name. */
static void put_who(struct output *out, const struct diff_item *item)
{
	if (strncmp(item->who, item->machine, strlen(item->machine)) != 0)
		out_sentence(out, "%s (%s)", item->who, item->machine);
	else
		out_text(out, item->who);
}

/** "in its guest"; if the trace does not distinguish both, "in its guest or in the hypervisor" */
static void put_words(struct output *out, const struct diff_item *item)
{
	static const char *const words[VIRT_N_STATES] = {
		[VIRT_GUEST] = "in its guest",
		[VIRT_HYPERVISOR] = "in the hypervisor",
		[VIRT_POLLING] = "polling",
		[VIRT_VMM] = "in its VMM",
		[VIRT_PREEMPTED] = "preempted",
		[VIRT_WAKING] = "awake and waiting for a pCPU",
		[VIRT_BLOCKED] = "asleep",
		[VIRT_DEVICE_MODEL] = "waiting for its device model",
		[VIRT_OFFLINE] = "offline",
		[VIRT_UNKNOWN] = "not known",
	};

	out_str(out, words[item->state]);
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (item->includes >> state & 1)
			out_printf(out, " or %s", words[state]);
}

static void put_state(struct output *out, const struct diff_item *item)
{
	put_who(out, item);
	out_str(out, is_over(item) ? " was never " : " was ");
	put_words(out, item);
	if (is_over(item)) {
		out_str(out, "; before, for ");
		put_past(out, &item->value[DIFF_BEFORE]);
		return;
	}
	out_str(out, " for ");
	put_value(out, item->value, diff_is_cost(item));
	put_wake(out, item->value);
	put_culprits(out, item);
}

static void put_exit(struct output *out, const struct diff_item *item)
{
	if (is_over(item)) {
		put_who(out, item);
		out_sentence(out, " had no VM exits %s; before, they cost ", item->reason);
		put_past(out, &item->value[DIFF_BEFORE]);
	} else {
		out_sentence(out, "VM exits %s of ", item->reason);
		put_who(out, item);
		out_str(out, " cost ");
		put_value(out, item->value, diff_is_cost(item));
	}
	put_arguments(out, item);
}

static void put_item(struct output *out, const struct diff_item *item)
{
	switch (item->kind) {
	case DIFF_EXIT:
		put_exit(out, item);
		break;
	case DIFF_MIGRATIONS:
		put_who(out, item);
		out_printf(out, " moved to another pCPU %.1f times a second, before %.1f",
			   item->value[DIFF_AFTER].per_s, item->value[DIFF_BEFORE].per_s);
		break;
	default:
		put_state(out, item);
	}
	out_char(out, '\n');
}

static void put_head(struct output *out, const struct diff *diff, const struct report *reports)
{
	for (int side = 0; side < DIFF_N_SIDES; side++) {
		out_str(out, side == DIFF_BEFORE ? "before: " : "after:  ");
		out_text(out, reports[side].file);
		out_str(out, ", ");
		out_ns(out, reports[side].from_ns, 0);
		out_str(out, " .. ");
		out_ns(out, reports[side].to_ns, 0);
		if (diff->unknown[side] > MUCH_UNKNOWN)
			out_printf(out, "; up to %.1f %% of a vCPU's time is unknown",
				   100 * diff->unknown[side]);
		out_char(out, '\n');
	}
	out_char(out, '\n');
}

static void diff_text(struct output *out, const struct diff *diff, const struct report *reports,
		      size_t n)
{
	put_head(out, diff, reports);
	for (size_t i = 0; i < n; i++) {
		bool cost = diff_is_cost(&diff->items[i]);

		if (!i || cost != diff_is_cost(&diff->items[i - 1])) {
			out_str(out, !cost && i ? "\n" : "");
			out_styled(out, OUT_HEAD, cost ? "Costs:" : "Activity:");
			out_char(out, '\n');
		}
		put_item(out, &diff->items[i]);
	}
	for (size_t i = 0; i < diff->n_missing; i++) {
		out_text(out, diff->missing[i].who);
		out_printf(out, " is there only %s.\n", sides[diff->missing[i].only]);
	}
	if (!diff->n && !diff->n_missing)
		out_str(out, diff->n_vcpus ? "Nothing differs by more than --above.\n" :
			"There are no vCPUs.\n");
	if (diff->n > n || diff->n_same)
		out_printf(out, "\nLeft out: %zu more, and %zu that differ by less than --above.\n",
			   diff->n - n, diff->n_same);
	if (diff->n)
		out_str(out, "\nThere is one recording of each: use 'kshark-virt compare' with "
			     "several to rule out chance.\n");
}

/* --- CSV and JSON ---------------------------------------------------------------------------- */

/** Who took the pCPU of a preempted vCPU: CSV has a row for each, with these columns. */
static const struct table_column by_columns[] = {
	{ .key = "who" },
	{ .key = "before_ns_per_s", .type = TABLE_NS },
	{ .key = "after_ns_per_s", .type = TABLE_NS },
};

/** What VM exits of a reason were for: a row of CSV each, too. */
static const struct table_column argument_columns[] = {
	{ .key = "argument" },
	{ .key = "cause" },
	{ .key = "before_ns_per_s", .type = TABLE_NS },
	{ .key = "after_ns_per_s", .type = TABLE_NS },
	{ .key = "before_per_s", .type = TABLE_FIXED },
	{ .key = "after_per_s", .type = TABLE_FIXED },
	{ .key = "before_count", .type = TABLE_COUNT },
	{ .key = "after_count", .type = TABLE_COUNT },
};

enum { N_BY = ARRAY_SIZE(by_columns), N_ARGUMENT = ARRAY_SIZE(argument_columns) };

static const struct table_column columns[] = {
	{ .key = "machine" },
	{ .key = "vcpu", .type = TABLE_COUNT },
	{ .key = "name" },
	{ .key = "kind" },
	{ .key = "what" },
	{ .key = "by", .not_json = true },
	{ .key = "argument", .not_json = true },
	{ .key = "cause", .not_json = true },
	{ .key = "before_ns_per_s", .type = TABLE_NS },
	{ .key = "after_ns_per_s", .type = TABLE_NS },
	{ .key = "before_per_s", .type = TABLE_FIXED },
	{ .key = "after_per_s", .type = TABLE_FIXED },
	{ .key = "before_count", .type = TABLE_COUNT },
	{ .key = "after_count", .type = TABLE_COUNT },
	{ .key = "before", .type = TABLE_ONE_STAT, .stat = DIFF_WAKE },
	{ .key = "after", .type = TABLE_ONE_STAT, .stat = DIFF_WAKE },
	{ .key = "includes" },
	{ .key = "by", .type = TABLE_LIST, .not_csv = true, .list = by_columns, .n_list = N_BY },
	{ .key = "arguments", .type = TABLE_LIST, .not_csv = true, .list = argument_columns,
	  .n_list = N_ARGUMENT },
};

static const struct table table = { .rows = { .key = "differences", TABLE_COLUMNS(columns) } };

static struct table_cell wake_cell(const struct diff_value *value)
{
	return table_optional(value->wake_ns != VIRT_NONE, value->wake_ns);
}

static const char *what_of(const struct diff_item *item)
{
	return item->kind == DIFF_STATE ? virt_state_name(item->state) : item->reason;
}

/** The cells of the parts of an item. */
struct parts {
	struct table_cell *by, *arguments;
};

/** The columns that a part of an item has, too; those of names of parts come next. */
enum { N_HEAD = 5, NAME_BY = 0, NAME_ARGUMENT, N_NAMES = 3 };

static void item_head(struct table_cell cells[N_HEAD], const struct diff_item *item)
{
	cells[0] = table_name(item->machine);
	cells[1] = table_number(item->vcpu);
	cells[2] = table_name(item->who);
	cells[3] = table_name(diff_kind_name(item->kind));
	cells[4] = table_optional_name(what_of(item));
}

static void item_row(struct table_writer *to, const struct diff_item *item,
		     const struct parts *parts)
{
	const struct diff_value *before = &item->value[DIFF_BEFORE];
	const struct diff_value *after = &item->value[DIFF_AFTER];
	bool has_ns = item->kind != DIFF_MIGRATIONS;
	char names[VIRT_STATE_NAMES];
	struct table_cell head[N_HEAD];

	item_head(head, item);
	table_row(to, (const struct table_cell[ARRAY_SIZE(columns)]){
		head[0], head[1], head[2], head[3], head[4],
		table_absent(), table_absent(), table_absent(),
		table_optional(has_ns, before->ns), table_optional(has_ns, after->ns),
		table_rate(true, before->per_s), table_rate(true, after->per_s),
		table_number((int64_t)before->count), table_number((int64_t)after->count),
		wake_cell(before), wake_cell(after),
		table_optional_name(item->kind != DIFF_STATE || !item->includes ? NULL :
				    virt_state_names(item->includes, "+", names, sizeof(names))),
		item->n_culprits ? table_list(parts->by, item->n_culprits) : table_absent(),
		item->arguments_unknown ? table_unknown() :
		item->n_arguments ? table_list(parts->arguments, item->n_arguments) :
				    table_absent(),
	});
}

/**
 * A row of CSV: a part of the item.
 * @name: where its name is, of the columns by, argument, cause
 */
static void part_row(struct table_writer *to, const struct diff_item *item, size_t name,
		     const struct table_cell *part, size_t n)
{
	struct table_cell cells[ARRAY_SIZE(columns)];
	size_t at = name == NAME_BY ? 1 : 2;	/* names of the part */

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		cells[i] = table_absent();
	item_head(cells, item);
	for (size_t i = 0; i < at; i++)
		cells[N_HEAD + name + i] = part[i];
	for (size_t i = at; i < n; i++)
		cells[N_HEAD + N_NAMES + i - at] = part[i];
	table_row(to, cells);
}

static void argument_cells(struct table_cell *cells, const struct diff_argument *argument)
{
	const struct diff_value *before = &argument->value[DIFF_BEFORE];
	const struct diff_value *after = &argument->value[DIFF_AFTER];

	*cells++ = table_name(argument->name);
	*cells++ = table_optional_name(argument->cause);
	*cells++ = table_number(before->ns);
	*cells++ = table_number(after->ns);
	*cells++ = table_rate(true, before->per_s);
	*cells++ = table_rate(true, after->per_s);
	*cells++ = table_number((int64_t)before->count);
	*cells = table_number((int64_t)after->count);
}

/** @parts: room for the cells of its parts */
static void item_rows(struct table_writer *to, const struct diff_item *item,
		      const struct parts *parts)
{
	for (size_t i = 0; i < item->n_culprits; i++) {
		const struct diff_culprit *culprit = &item->culprits[i];
		struct table_cell *by = &parts->by[N_BY * i];

		by[0] = table_name(culprit->name);
		by[1] = table_number(culprit->ns[DIFF_BEFORE]);
		by[2] = table_number(culprit->ns[DIFF_AFTER]);
	}
	for (size_t i = 0; i < item->n_arguments; i++)
		argument_cells(&parts->arguments[N_ARGUMENT * i], &item->arguments[i]);
	item_row(to, item, parts);
	for (size_t i = 0; i < item->n_culprits && table_is(to, TABLE_CSV); i++)
		part_row(to, item, NAME_BY, &parts->by[N_BY * i], N_BY);
	for (size_t i = 0; i < item->n_arguments && table_is(to, TABLE_CSV); i++)
		part_row(to, item, NAME_ARGUMENT, &parts->arguments[N_ARGUMENT * i],
			 N_ARGUMENT);
}

/** Return: 0 or -ENOMEM. */
static int all_rows(struct table_writer *to, const struct diff *diff, size_t n)
{
	size_t most_culprits = 1, most_arguments = 1;
	struct parts parts;

	for (size_t i = 0; i < n; i++) {
		if (diff->items[i].n_culprits > most_culprits)
			most_culprits = diff->items[i].n_culprits;
		if (diff->items[i].n_arguments > most_arguments)
			most_arguments = diff->items[i].n_arguments;
	}
	parts.by = calloc(most_culprits, N_BY * sizeof(*parts.by));
	parts.arguments = calloc(most_arguments, N_ARGUMENT * sizeof(*parts.arguments));
	if (parts.by && parts.arguments) {
		table_flat(to, true);
		for (size_t i = 0; i < n; i++)
			item_rows(to, &diff->items[i], &parts);
		table_flat_end(to);
	}
	free(parts.by);
	free(parts.arguments);
	return parts.by && parts.arguments ? 0 : -ENOMEM;
}

static void missing_vcpus(struct json *json, const struct diff *diff, enum diff_side side)
{
	json_open(json, side == DIFF_BEFORE ? "only_before" : "only_after", '[', true);
	for (size_t i = 0; i < diff->n_missing; i++)
		if (diff->missing[i].only == side)
			json_str(json, NULL, diff->missing[i].who);
	json_close(json, ']');
}

static int diff_json(struct output *out, const struct diff *diff, const struct report *reports,
		     size_t n)
{
	struct json json;
	struct table_writer to = { .table = &table, .format = &table_json, .json = &json };
	int ret;

	json_document(&json, out);
	for (int side = 0; side < DIFF_N_SIDES; side++) {
		json_open(&json, sides[side], '{', false);
		json_str(&json, "file", reports[side].file);
		json_window(&json, reports[side].from_ns, reports[side].to_ns);
		json_fixed(&json, "most_unknown", diff->unknown[side]);
		json_warnings(&json, &reports[side].load->notes);
		json_close(&json, '}');
	}
	ret = all_rows(&to, diff, n);
	missing_vcpus(&json, diff, DIFF_BEFORE);
	missing_vcpus(&json, diff, DIFF_AFTER);
	json_u64(&json, "more", diff->n - n);
	json_u64(&json, "below_above", diff->n_same);
	json_document_end(&json);
	return ret;
}

int diff_write(enum table_format_kind format, struct output *out, const struct diff *diff,
	       const struct report *reports, size_t most)
{
	struct table_writer csv = { .table = &table, .format = &table_csv, .out = out };
	size_t n = diff->n < most ? diff->n : most;

	if (format == TABLE_JSON)
		return diff_json(out, diff, reports, n);
	if (format == TABLE_CSV)
		return all_rows(&csv, diff, n);
	diff_text(out, diff, reports, n);
	return 0;
}
