// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	diff_write.c
 * @brief	Differences as sentences, as CSV, as JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "diff.h"
#include "json_writer.h"
#include "text_columns.h"
#include "virt_needs.h"

/** Culprits that are named in a sentence. */
#define MAX_CULPRITS	3

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

static size_t shown(const struct diff *diff, size_t most)
{
	return diff->n < most ? diff->n : most;
}

/* --- sentences ------------------------------------------------------------------------------- */

static void put_duration(struct output *out, int64_t ns)
{
	char text[32];

	format_duration(text, sizeof(text), ns);
	out_str(out, text);
}

/**
 * "12.34 ms of each second, 8.21 ms more than before (4.13 ms): 120.1 times a second, before 20.4"
 */
static void put_value(struct output *out, const struct diff_value value[DIFF_N_SIDES])
{
	int64_t before = value[DIFF_BEFORE].ns, after = value[DIFF_AFTER].ns;

	put_duration(out, after);
	out_str(out, " of each second, ");
	if (!before && value[DIFF_BEFORE].per_s <= 0) {
		out_printf(out, "before not at all: now %.1f times", value[DIFF_AFTER].per_s);
		return;
	}
	put_duration(out, llabs(after - before));
	out_str(out, after > before ? " more than before (" : " less than before (");
	put_duration(out, before);
	out_printf(out, "): %.1f times a second, before %.1f", value[DIFF_AFTER].per_s,
		   value[DIFF_BEFORE].per_s);
}

/** What is no more: "for 4.13 ms of each second, 20.4 times" */
static void put_past(struct output *out, const struct diff_value *before)
{
	put_duration(out, before->ns);
	out_printf(out, " of each second, %.1f times", before->per_s);
}

/** Does it not happen any more? */
static bool is_over(const struct diff_item *item)
{
	return !item->value[DIFF_AFTER].ns && item->value[DIFF_AFTER].per_s <= 0;
}

static void put_p99(struct output *out, const struct diff_value value[DIFF_N_SIDES])
{
	if (value[DIFF_BEFORE].p99 == VIRT_NONE || value[DIFF_AFTER].p99 == VIRT_NONE)
		return;
	out_str(out, "; 99 % within ");
	put_duration(out, value[DIFF_AFTER].p99);
	out_str(out, ", before ");
	put_duration(out, value[DIFF_BEFORE].p99);
}

static void put_culprits(struct output *out, const struct diff_item *item)
{
	for (size_t i = 0; i < item->n_culprits && i < MAX_CULPRITS; i++) {
		const int64_t *ns = item->culprits[i].ns;

		if (ns[DIFF_AFTER] == ns[DIFF_BEFORE])
			break;
		out_str(out, "\n    by ");
		out_text(out, item->culprits[i].name);
		out_str(out, ": ");
		put_duration(out, ns[DIFF_AFTER]);
		out_str(out, ", before ");
		put_duration(out, ns[DIFF_BEFORE]);
	}
}

/** A vCPU, with what its machine is called, if that is not a part of its name. */
static void put_who(struct output *out, const struct diff_item *item)
{
	out_text(out, item->who);
	if (!strncmp(item->who, item->machine, strlen(item->machine)))
		return;
	out_str(out, " (");
	out_text(out, item->machine);
	out_str(out, ")");
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
	put_value(out, item->value);
	put_p99(out, item->value);
	put_culprits(out, item);
}

static void put_exit(struct output *out, const struct diff_item *item)
{
	if (is_over(item)) {
		put_who(out, item);
		out_str(out, " had no VM exits ");
		out_text(out, item->reason);
		out_str(out, "; before, they cost ");
		put_past(out, &item->value[DIFF_BEFORE]);
		return;
	}
	out_str(out, "VM exits ");
	out_text(out, item->reason);
	out_str(out, " of ");
	put_who(out, item);
	out_str(out, " cost ");
	put_value(out, item->value);
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

void diff_write_text(struct output *out, const struct diff *diff, const struct report *reports,
		     size_t most)
{
	size_t n = shown(diff, most);

	put_head(out, diff, reports);
	for (size_t i = 0; i < n; i++) {
		bool cost = diff_is_cost(&diff->items[i]);

		if (!i || cost != diff_is_cost(&diff->items[i - 1]))
			out_str(out, cost ? "What it costs:\n" : i ? "\nWhat they did:\n" :
				"What they did:\n");
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

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_text(struct output *out, const char *text)
{
	if (text)
		out_csv(out, text, strlen(text));
	out_char(out, ',');
}

/** @name: of a state or reason; @by: who took the pCPU, or NULL */
static void csv_line(struct output *out, const struct diff_item *item, const char *name,
		     const char *by)
{
	csv_text(out, item->machine);
	out_i64(out, item->vcpu);
	out_char(out, ',');
	csv_text(out, item->who);
	csv_text(out, diff_kind_name(item->kind));
	csv_text(out, name);
	csv_text(out, by);
}

void diff_write_csv(struct output *out, const struct diff *diff, const struct report *reports,
		    size_t most)
{
	char names[VIRT_STATE_NAMES];

	(void)reports;
	out_str(out, "machine,vcpu,name,kind,what,by,before_ns_per_s,after_ns_per_s,before_per_s,"
		     "after_per_s,before_p99_ns,"
		     "after_p99_ns,includes\n");
	for (size_t i = 0; i < shown(diff, most); i++) {
		const struct diff_item *item = &diff->items[i];
		const struct diff_value *value = item->value;
		const char *name = item->kind == DIFF_STATE ? virt_state_name(item->state) :
				   item->reason;

		csv_line(out, item, name, NULL);
		if (item->kind == DIFF_MIGRATIONS)
			out_str(out, ",");
		else
			out_printf(out, "%" PRId64 ",%" PRId64, value[DIFF_BEFORE].ns,
				   value[DIFF_AFTER].ns);
		out_printf(out, ",%.3f,%.3f", value[DIFF_BEFORE].per_s, value[DIFF_AFTER].per_s);
		for (int side = 0; side < DIFF_N_SIDES; side++) {
			out_char(out, ',');
			if (value[side].p99 != VIRT_NONE)
				out_i64(out, value[side].p99);
		}
		out_char(out, ',');
		if (item->kind == DIFF_STATE)
			out_str(out, virt_state_names(item->includes, "+", names, sizeof(names)));
		out_char(out, '\n');
		for (size_t j = 0; j < item->n_culprits; j++) {
			csv_line(out, item, name, item->culprits[j].name);
			out_printf(out, "%" PRId64 ",%" PRId64 ",,,,,\n",
				   item->culprits[j].ns[DIFF_BEFORE],
				   item->culprits[j].ns[DIFF_AFTER]);
		}
	}
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_value(struct json *json, const struct diff_item *item, enum diff_side side)
{
	const struct diff_value *value = &item->value[side];

	json_open(json, sides[side], '{', true);
	if (item->kind != DIFF_MIGRATIONS)
		json_i64(json, "ns_per_s", value->ns);
	json_fixed(json, "per_s", value->per_s);
	if (value->p99 != VIRT_NONE)
		json_i64(json, "p99_ns", value->p99);
	json_close(json, '}');
}

static void json_item(struct json *json, const struct diff_item *item)
{
	char names[VIRT_STATE_NAMES];

	json_open(json, NULL, '{', false);
	json_str(json, "machine", item->machine);
	json_i64(json, "vcpu", item->vcpu);
	json_str(json, "name", item->who);
	json_str(json, "kind", diff_kind_name(item->kind));
	if (item->kind == DIFF_STATE)
		json_str(json, "state", virt_state_name(item->state));
	if (item->kind == DIFF_STATE && item->includes)
		json_str(json, "includes",
			 virt_state_names(item->includes, "+", names, sizeof(names)));
	if (item->kind == DIFF_EXIT)
		json_str(json, "reason", item->reason);
	for (int side = 0; side < DIFF_N_SIDES; side++)
		json_value(json, item, (enum diff_side)side);
	if (item->n_culprits) {
		json_open(json, "by", '[', false);
		for (size_t i = 0; i < item->n_culprits; i++) {
			json_open(json, NULL, '{', true);
			json_str(json, "who", item->culprits[i].name);
			json_i64(json, "before_ns_per_s", item->culprits[i].ns[DIFF_BEFORE]);
			json_i64(json, "after_ns_per_s", item->culprits[i].ns[DIFF_AFTER]);
			json_close(json, '}');
		}
		json_close(json, ']');
	}
	json_close(json, '}');
}

void diff_write_json(struct output *out, const struct diff *diff, const struct report *reports,
		     size_t most)
{
	size_t n = shown(diff, most);
	struct json json;

	json_begin(&json, out);
	json_open(&json, NULL, '{', false);
	for (int side = 0; side < DIFF_N_SIDES; side++) {
		json_open(&json, sides[side], '{', false);
		json_str(&json, "file", reports[side].file);
		json_open(&json, "window_ns", '[', true);
		json_i64(&json, NULL, reports[side].from_ns);
		json_i64(&json, NULL, reports[side].to_ns);
		json_close(&json, ']');
		json_fixed(&json, "most_unknown", diff->unknown[side]);
		json_warnings(&json, &reports[side].load->notes);
		json_close(&json, '}');
	}
	json_open(&json, "differences", '[', false);
	for (size_t i = 0; i < n; i++)
		json_item(&json, &diff->items[i]);
	json_close(&json, ']');
	for (int side = 0; side < DIFF_N_SIDES; side++) {
		json_open(&json, side == DIFF_BEFORE ? "only_before" : "only_after", '[', true);
		for (size_t i = 0; i < diff->n_missing; i++)
			if (diff->missing[i].only == (enum diff_side)side)
				json_str(&json, NULL, diff->missing[i].who);
		json_close(&json, ']');
	}
	json_u64(&json, "more", diff->n - n);
	json_u64(&json, "below_above", diff->n_same);
	json_close(&json, '}');
	json_end(&json);
}
