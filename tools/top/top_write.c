// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_write.c
 * @brief	Intervals as text, CSV and JSON: a fact is a word, a row, an object.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "host_samples.h"
#include "table.h"
#include "text_columns.h"
#include "top.h"
#include "virt_needs.h"

/** Reasons and culprits of a line of text. */
#define MAX_LISTED	4

/* --- text ------------------------------------------------------------------------------------ */

struct text {
	struct output	*out;
	struct top_fact	last;		/* the line that is being written is of this one's */
	bool		any;
	int		listed;
};

static bool is_task(const struct top_fact *fact)
{
	return fact->kind == TOP_TASK || fact->kind == TOP_TASK_WAIT;
}

static bool is_host(const struct top_fact *fact)
{
	return fact->kind == TOP_HOST_TIME || fact->kind == TOP_HOST;
}

/** A line per vCPU and kind, and per task of the host. */
static void text_line(struct text *text, const struct top_fact *fact)
{
	char pcpu[16];

	if (is_task(fact) ? text->any && is_task(&text->last) && fact->id == text->last.id :
	    text->any && fact->kind == text->last.kind && top_same_subject(fact, &text->last))
		return;
	text->listed = 0;
	text->last = *fact;
	text->any = true;
	out_str(text->out, "\n");
	if (fact->kind == TOP_MACHINE_STATE) {
		out_style(text->out, OUT_HEAD);
		out_text_left(text->out, fact->machine, TEXT_NAME);
		out_style(text->out, OUT_PLAIN);
	} else if (fact->kind == TOP_STATE) {
		out_str(text->out, "  ");
		out_text_left(text->out, fact->vcpu, TEXT_NAME - 2);
	} else if (is_task(fact)) {
		out_str(text->out, "  ");
		out_text_left(text->out, fact->name, TEXT_NAME + 6);
		out_text_left(text->out, fact->machine, 10);
	} else if (fact->kind == TOP_HOST_TIME) {
		out_style(text->out, OUT_HEAD);
		out_text_left(text->out, fact->machine, TEXT_NAME);
		out_style(text->out, OUT_PLAIN);
	} else if (fact->kind == TOP_LOSS) {
		snprintf(pcpu, sizeof(pcpu), "p%d", fact->pcpu);
		out_left(text->out, pcpu, strlen(pcpu), TEXT_NAME);
	} else {
		static const char *const names[TOP_N_KINDS] = {
			[TOP_UNSPLIT] = "(not split)",
			[TOP_EXIT] = "VM exits",
			[TOP_ARGUMENT] = "exits for",
			[TOP_WAKE] = "wake-ups",
			[TOP_STEAL] = "preempted by",
			[TOP_HOST] = "counted",
		};

		out_str(text->out, "    ");
		out_left(text->out, names[fact->kind], strlen(names[fact->kind]), TEXT_NAME - 4);
	}
}

static void text_ns(struct output *out, const char *before, int64_t ns, const char *after)
{
	char duration[64];

	out_str(out, before);
	if (ns == VIRT_NONE) {
		out_char(out, '?');
	} else {
		format_duration(duration, sizeof(duration), ns);
		out_str(out, duration);
	}
	out_str(out, after);
}

/** Is it what is not known, of which shares leave it out? */
static bool is_lost(const struct top_fact *fact)
{
	return fact->id == (fact->kind == TOP_MACHINE_STATE ? (int32_t)VIRT_M_LOST : VIRT_UNKNOWN);
}

static void text_state_share(struct output *out, const struct top_fact *fact)
{
	bool is_cost = fact->kind == TOP_STATE &&
		       (fact->id == VIRT_PREEMPTED || fact->id == VIRT_WAKING);
	enum out_style style = is_cost ? text_cost_style(fact->ns, fact->known_ns) : OUT_PLAIN;

	if (style)
		out_style(out, style);
	text_share(out, fact->ns, fact->known_ns, 0);
	if (style)
		out_style(out, OUT_PLAIN);
}

static void text_wake_ns(struct output *out, int64_t ns)
{
	out_printf(out, ", %s", virt_stat_look(TOP_WAKE_STAT)->name);
	text_ns(out, " ", ns, "");
}

static void text_task(struct output *out, const struct top_fact *fact)
{
	if (fact->kind == TOP_TASK) {
		text_ns(out, "  on pCPUs ", fact->ns, "");
		out_printf(out, ", %" PRId64 " runs", fact->count);
		return;
	}
	text_ns(out, "  waits ", fact->ns, "");
	if (fact->complete == VIRT_NONE)
		out_str(out, "  wake-ups -");
	else if (fact->complete)
		out_printf(out, "  wake-ups %" PRId64, fact->complete);
	if (fact->complete > 0)
		text_wake_ns(out, fact->wake_ns);
}

/** What there is none of is left out. */
static void text_host(struct output *out, const struct top_fact *fact)
{
	const char *unit = strrchr(fact->name, '_');
	bool is_bytes = unit && !strcmp(unit, "_bytes");
	int64_t value = fact->kind == TOP_HOST_TIME ? fact->ns : fact->count;

	if (!value)
		return;
	out_printf(out, "  %.*s", is_bytes ? (int)(unit - fact->name) : INT_MAX, fact->name);
	if (value == VIRT_NONE)
		out_str(out, " -");
	else if (fact->kind == TOP_HOST_TIME && fact->id < HOST_SAMPLE_SWITCHES)
		text_share(out, fact->ns, fact->known_ns, 0);
	else if (fact->kind == TOP_HOST_TIME)
		text_ns(out, " pressure ", fact->ns, "");
	else if (is_bytes)
		out_printf(out, " %.1f MB", (double)value / 1e6);
	else
		out_printf(out, " %" PRId64, value);
}

static void text_fact(struct text *text, const struct top_fact *fact)
{
	struct output *out = text->out;
	bool is_state = fact->kind <= TOP_UNSPLIT;
	char names[VIRT_STATE_NAMES];

	text_line(text, fact);
	if (is_task(fact) || is_host(fact)) {
		(is_task(fact) ? text_task : text_host)(out, fact);
		return;
	}
	if (is_state && !fact->ns)
		return;
	if (!is_state && text->listed++ >= MAX_LISTED) {
		if (text->listed == MAX_LISTED + 1)
			out_str(out, "  ...");
		return;
	}
	out_str(out, "  ");
	if (fact->includes)
		out_str(out, virt_state_names(1U << fact->id | fact->includes, "+", names,
					      sizeof(names)));
	else if (fact->name)
		out_text(out, fact->name);
	if ((is_state || fact->kind == TOP_STEAL) && fact->ns == VIRT_NONE)
		out_str(out, " -");
	else if (is_state && fact->known_ns && !is_lost(fact))
		text_state_share(out, fact);
	else if (is_state || fact->kind == TOP_STEAL)
		text_ns(out, " ", fact->ns, "");
	else if (fact->kind == TOP_LOSS)
		text_ns(out, "lost for ", fact->ns, "");
	else if (fact->count == VIRT_NONE)
		out_str(out, " -");
	else
		out_printf(out, " %" PRId64, fact->count);
	if ((fact->kind == TOP_EXIT || fact->kind == TOP_ARGUMENT) && fact->count != VIRT_NONE)
		text_ns(out, " (", fact->ns, ")");
	else if (fact->kind == TOP_WAKE && fact->count != VIRT_NONE)
		text_wake_ns(out, fact->wake_ns);
	else if (fact->kind == TOP_LOSS && fact->count != VIRT_NONE)
		out_printf(out, ", %" PRId64 " records", fact->count);
}

static void text_interval(struct output *out, const struct top_interval *interval)
{
	struct text text = { .out = out };

	out_style(out, OUT_HEAD);
	out_ns(out, interval->from_ns, 0);
	out_str(out, " .. ");
	out_ns(out, interval->to_ns, 0);
	out_style(out, OUT_PLAIN);
	for (size_t i = 0; i < interval->n; i++)
		text_fact(&text, &interval->facts[i]);
	out_str(out, "\n\n");
}

const struct top_format top_text = { .interval = text_interval };

/* --- facts as rows --------------------------------------------------------------------------- */

/** CSV has intervals as columns, and pCPUs as names in the column of vCPUs. */
static const struct table_column columns[] = {
	{ .key = "from_ns", .type = TABLE_TIME, .not_json = true },
	{ .key = "to_ns", .type = TABLE_TIME, .not_json = true },
	{ .key = "machine" },
	{ .key = "machine_id", .type = TABLE_TIME, .not_csv = true },
	{ .key = "pcpu", .type = TABLE_COUNT, .not_csv = true },
	{ .key = "vcpu" },
	{ .key = "vcpu_id", .type = TABLE_TIME, .not_csv = true },
	{ .key = "section" },
	{ .key = "name" },
	{ .key = "count", .type = TABLE_COUNT },
	{ .key = "ns", .type = TABLE_NS },
	{ .key = "complete", .type = TABLE_COUNT },
	{ .key = "", .type = TABLE_ONE_STAT, .stat = TOP_WAKE_STAT },
};

static const struct table table = { .rows = { .key = "facts", TABLE_COLUMNS(columns) } };

/** A number that a kind has; it may be unknown. */
static struct table_cell number_cell(const struct top_fact *fact, enum top_number number,
				     int64_t value)
{
	return table_optional(top_has(fact->kind, number), value);
}

/** Exits and culprits have names, also if these are unknown. */
static struct table_cell name_cell(const struct top_fact *fact)
{
	bool has_name = fact->kind == TOP_EXIT || fact->kind == TOP_STEAL;

	return !fact->name && has_name ? table_unknown() : table_optional_name(fact->name);
}

static void fact_row(struct table_writer *to, const struct top_interval *interval,
		     const struct top_fact *fact)
{
	bool is_pcpu = !fact->machine, is_vcpu = fact->vcpu;
	bool has_pcpu = is_pcpu && table_is(to, TABLE_CSV);
	char pcpu[16];

	if (has_pcpu)
		snprintf(pcpu, sizeof(pcpu), "p%d", fact->pcpu);
	table_row(to, (const struct table_cell[]){
		table_number(interval->from_ns), table_number(interval->to_ns),
		table_optional_name(fact->machine),
		table_optional(!is_pcpu && fact->machine_id != VIRT_NONE, fact->machine_id),
		table_optional(is_pcpu, fact->pcpu),
		table_optional_name(has_pcpu ? pcpu : fact->vcpu),
		table_optional(is_vcpu, fact->vcpu_id), table_name(top_section(fact->kind)),
		name_cell(fact), number_cell(fact, TOP_COUNT, fact->count),
		number_cell(fact, TOP_NS, fact->ns),
		number_cell(fact, TOP_COMPLETE, fact->complete),
		number_cell(fact, TOP_WAKE_NS, fact->wake_ns),
	});
}

/** A state that is known not to be in the interval has no row. */
static bool is_nothing(const struct top_fact *fact)
{
	return fact->kind <= TOP_STATE && !fact->ns && !fact->count;
}

static void fact_rows(struct table_writer *to, const struct top_interval *interval, bool first)
{
	table_flat(to, first);
	for (size_t i = 0; i < interval->n; i++)
		if (!is_nothing(&interval->facts[i]))
			fact_row(to, interval, &interval->facts[i]);
	table_flat_end(to);
}

/* --- CSV ------------------------------------------------------------------------------------- */

static struct table_writer csv_of(struct output *out)
{
	return (struct table_writer){ .table = &table, .format = &table_csv, .out = out };
}

/** Rows for notes. @interval: NULL: they are about all of them; @all: also those printed before */
static void note_rows(struct output *out, const struct top_interval *interval,
		      const struct trace_notes *notes, bool all)
{
	struct table_writer to = csv_of(out);

	table_flat(&to, false);
	for (size_t i = 0; notes && i < notes->n; i++) {
		if (!all && notes->all[i].printed)
			continue;
		table_row(&to, (const struct table_cell[ARRAY_SIZE(columns)]){
			table_optional(interval, interval ? interval->from_ns : 0),
			table_optional(interval, interval ? interval->to_ns : 0),
			table_absent(), table_absent(), table_absent(), table_absent(),
			table_absent(), table_name("warning"), table_name(notes->all[i].text),
			table_absent(), table_absent(), table_absent(), table_absent(),
		});
	}
	table_flat_end(&to);
}

static void begin_csv(struct output *out, const char *file, const struct trace_notes *notes)
{
	struct table_writer to = csv_of(out);

	(void)file;
	table_flat(&to, true);
	table_flat_end(&to);
	note_rows(out, NULL, notes, true);
}

static void interval_csv(struct output *out, const struct top_interval *interval)
{
	struct table_writer to = csv_of(out);

	note_rows(out, interval, &interval->notes, true);
	fact_rows(&to, interval, false);
}

static void end_csv(struct output *out, const struct trace_notes *notes)
{
	note_rows(out, NULL, notes, false);
}

const struct top_format top_csv = {
	.begin = begin_csv, .interval = interval_csv, .end = end_csv,
};

/* --- JSON ------------------------------------------------------------------------------------ */

/* of the document that is being written: formats have no memory of their own */
static struct json document;

static void json_start(struct output *out, const char *file, const struct trace_notes *notes)
{
	json_document(&document, out);
	json_str(&document, "file", file);
	if (notes)
		json_warnings(&document, notes);
	json_open(&document, "intervals", '[', false);
}

static void json_members(const struct top_interval *interval)
{
	struct table_writer to = { .table = &table, .format = &table_json, .json = &document };

	json_i64(&document, "from_ns", interval->from_ns);
	json_i64(&document, "to_ns", interval->to_ns);
	json_warnings(&document, &interval->notes);
	fact_rows(&to, interval, false);
}

static void json_interval(struct output *out, const struct top_interval *interval)
{
	(void)out;
	json_open(&document, NULL, '{', false);
	json_members(interval);
	json_close(&document, '}');
}

static void json_finish(struct output *out, const struct trace_notes *notes)
{
	(void)out;
	json_close(&document, ']');
	if (notes)
		json_warnings(&document, notes);
	json_document_end(&document);
}

/** JSON Lines: each interval is a document, of a line. */
static void json_line(struct output *out, const struct top_interval *interval)
{
	json_line_begin(&document, out);
	json_members(interval);
	json_document_end(&document);
}

/** A last line, if there are notes that no interval has. */
static void json_last(struct output *out, const struct trace_notes *notes)
{
	bool more = false;

	for (size_t i = 0; notes && i < notes->n; i++)
		more |= !notes->all[i].printed;
	if (!more)
		return;
	json_line_begin(&document, out);
	json_warnings(&document, notes);
	json_document_end(&document);
}

const struct top_format top_json_lines = { .interval = json_line, .end = json_last };

const struct top_format top_json = {
	.begin = json_start, .interval = json_interval, .end = json_finish,
	.live = &top_json_lines,
};
