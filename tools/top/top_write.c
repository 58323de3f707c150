// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_write.c
 * @brief	Intervals as text, CSV and JSON: a fact is a word, a row, an object.
 */
#include <inttypes.h>
#include <stdio.h>

#include "json_writer.h"
#include "text_columns.h"
#include "top.h"

/** Reasons and culprits of a line of text. */
#define MAX_LISTED	4

/* --- text ------------------------------------------------------------------------------------ */

struct text {
	struct output	*out;
	struct top_fact	last;		/* the line that is being written is of this one's */
	bool		any;
	int		listed;
};

/** A line per vCPU and kind. */
static void text_line(struct text *text, const struct top_fact *fact)
{
	char pcpu[16];

	if (text->any && fact->kind == text->last.kind && top_same_subject(fact, &text->last))
		return;
	text->listed = 0;
	text->last = *fact;
	text->any = true;
	out_str(text->out, "\n");
	if (fact->kind == TOP_MACHINE_STATE) {
		out_text_left(text->out, fact->machine, TEXT_NAME);
	} else if (fact->kind == TOP_STATE) {
		out_str(text->out, "  ");
		out_text_left(text->out, fact->vcpu, TEXT_NAME - 2);
	} else if (fact->kind == TOP_LOSS) {
		snprintf(pcpu, sizeof(pcpu), "p%d", fact->pcpu);
		out_left(text->out, pcpu, strlen(pcpu), TEXT_NAME);
	} else {
		static const char *const names[TOP_N_KINDS] = {
			[TOP_UNSPLIT] = "(not split)",
			[TOP_EXIT] = "VM exits",
			[TOP_WAKE] = "wake-ups",
			[TOP_STEAL] = "preempted by",
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

static void text_fact(struct text *text, const struct top_fact *fact)
{
	struct output *out = text->out;
	bool is_state = fact->kind <= TOP_UNSPLIT;

	text_line(text, fact);
	if (is_state && !fact->ns)
		return;
	if (!is_state && text->listed++ >= MAX_LISTED) {
		if (text->listed == MAX_LISTED + 1)
			out_str(out, "  ...");
		return;
	}
	out_str(out, "  ");
	if (fact->name)
		out_text(out, fact->name);
	if (is_state && fact->ns == VIRT_NONE)
		out_str(out, " -");
	else if (is_state && fact->known_ns && !is_lost(fact))
		text_share(out, fact->ns, fact->known_ns, 0);
	else if (is_state || fact->kind == TOP_STEAL)
		text_ns(out, " ", fact->ns, "");
	else if (fact->kind == TOP_LOSS)
		text_ns(out, "lost for ", fact->ns, "");
	else if (fact->count == VIRT_NONE)
		out_str(out, " -");
	else
		out_printf(out, " %" PRId64, fact->count);
	if (fact->kind == TOP_EXIT)
		text_ns(out, " (", fact->ns, ")");
	else if (fact->kind == TOP_WAKE)
		text_ns(out, ", p99 ", fact->p99, "");
	else if (fact->kind == TOP_LOSS && fact->count != VIRT_NONE)
		out_printf(out, ", %" PRId64 " records", fact->count);
}

static void text_interval(struct output *out, const struct top_interval *interval)
{
	struct text text = { .out = out };

	out_ns(out, interval->from_ns, 0);
	out_str(out, " .. ");
	out_ns(out, interval->to_ns, 0);
	for (size_t i = 0; i < interval->n; i++)
		text_fact(&text, &interval->facts[i]);
	out_str(out, "\n\n");
}

const struct top_format top_text = { .interval = text_interval };

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_text(struct output *out, const char *text)
{
	out_char(out, ',');
	if (text)
		out_csv(out, text, strlen(text));
}

static void csv_number(struct output *out, int64_t value)
{
	out_char(out, ',');
	if (value != VIRT_NONE)
		out_i64(out, value);
}

static void csv_fact(struct output *out, const struct top_interval *interval,
		     const struct top_fact *fact)
{
	char pcpu[16];

	snprintf(pcpu, sizeof(pcpu), "p%d", fact->pcpu);
	out_i64(out, interval->from_ns);
	csv_number(out, interval->to_ns);
	csv_text(out, fact->machine);
	csv_text(out, fact->vcpu ? fact->vcpu : fact->machine ? NULL : pcpu);
	csv_text(out, top_section(fact->kind));
	csv_text(out, fact->name);
	csv_number(out, fact->count);
	csv_number(out, fact->ns);
	csv_number(out, fact->complete);
	csv_number(out, fact->p99);
	out_char(out, '\n');
}

static void csv_begin(struct output *out, const char *file, const struct trace_notes *notes)
{
	(void)notes;
	(void)file;
	out_str(out, "from_ns,to_ns,machine,vcpu,section,name,count,ns,complete,p99_ns\n");
}

static void csv_interval(struct output *out, const struct top_interval *interval)
{
	for (size_t i = 0; i < interval->n; i++)
		csv_fact(out, interval, &interval->facts[i]);
}

const struct top_format top_csv = { .begin = csv_begin, .interval = csv_interval };

/* --- JSON ------------------------------------------------------------------------------------ */

/* of the document that is being written: formats have no memory of their own */
static struct json document;

static void json_known(const char *key, int64_t value)
{
	if (value != VIRT_NONE)
		json_i64(&document, key, value);
}

static void json_fact(const struct top_fact *fact)
{
	json_open(&document, NULL, '{', true);
	if (fact->machine) {
		json_str(&document, "machine", fact->machine);
		json_i64(&document, "machine_id", fact->machine_id);
	} else {
		json_i64(&document, "pcpu", fact->pcpu);
	}
	if (fact->vcpu) {
		json_str(&document, "vcpu", fact->vcpu);
		json_i64(&document, "vcpu_id", fact->vcpu_id);
	}
	json_str(&document, "section", top_section(fact->kind));
	if (fact->name)
		json_str(&document, "name", fact->name);
	json_known("count", fact->count);
	json_known("ns", fact->ns);
	json_known("complete", fact->complete);
	json_known("p99_ns", fact->p99);
	json_close(&document, '}');
}

static void json_start(struct output *out, const char *file, const struct trace_notes *notes)
{
	json_begin(&document, out);
	json_open(&document, NULL, '{', false);
	json_str(&document, "file", file);
	json_warnings(&document, notes);
	json_open(&document, "intervals", '[', false);
}

static void json_interval(struct output *out, const struct top_interval *interval)
{
	(void)out;
	json_open(&document, NULL, '{', false);
	json_i64(&document, "from_ns", interval->from_ns);
	json_i64(&document, "to_ns", interval->to_ns);
	json_open(&document, "facts", '[', false);
	for (size_t i = 0; i < interval->n; i++)
		json_fact(&interval->facts[i]);
	json_close(&document, ']');
	json_close(&document, '}');
}

static void json_finish(struct output *out)
{
	(void)out;
	json_close(&document, ']');
	json_close(&document, '}');
	json_end(&document);
}

const struct top_format top_json = {
	.begin = json_start, .interval = json_interval, .end = json_finish,
};
