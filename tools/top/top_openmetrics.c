// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_openmetrics.c
 * @brief	Write a window as OpenMetrics, which require each family's samples together, and in
 *		Prometheus' older text format, which names a counter by its samples and has no end.
 */
#include <stdio.h>

#include "escape.h"
#include "top.h"

enum value { VALUE_NS, VALUE_COUNT, VALUE_WAKE };

/** @name, @help: VALUE_WAKE: of what TOP_WAKE_STAT is */
struct family {
	const char	*name, *type, *help;
	enum top_kind	kind;
	enum value	value;
	const char	*label;		/* of the fact's name; or NULL */
};

static const struct family families[] = {
	{ "kshark_virt_machine_state_seconds", "counter", "Joint states of a machine's vCPUs.",
	  TOP_MACHINE_STATE, VALUE_NS, "state" },
	{ "kshark_virt_state_seconds", "counter", "States of vCPUs.",
	  TOP_STATE, VALUE_NS, "state" },
	{ "kshark_virt_exits", "counter", "VM exits.", TOP_EXIT, VALUE_COUNT, "reason" },
	{ "kshark_virt_exit_cost_seconds", "counter", "From VM exit to entry, whole.",
	  TOP_EXIT, VALUE_NS, "reason" },
	{ "kshark_virt_exit_arguments", "counter", "VM exits by reason and argument.",
	  TOP_ARGUMENT, VALUE_COUNT, "exit" },
	{ "kshark_virt_exit_argument_cost_seconds", "counter", "The same, from VM exit to entry.",
	  TOP_ARGUMENT, VALUE_NS, "exit" },
	{ "kshark_virt_wakes", "counter", "Wake-ups.", TOP_WAKE, VALUE_COUNT, NULL },
	{ "kshark_virt_wake", "gauge", "wake-up latency.",
	  TOP_WAKE, VALUE_WAKE, NULL },
	{ "kshark_virt_steal_seconds", "counter", "Steal by vCPU and culprit.",
	  TOP_STEAL, VALUE_NS, "culprit" },
	{ "kshark_virt_lost_seconds", "counter", "Time whose records are lost.",
	  TOP_LOSS, VALUE_NS, NULL },
	{ "kshark_virt_task_seconds", "counter", "Tasks of the host on pCPUs.",
	  TOP_TASK, VALUE_NS, "task" },
	{ "kshark_virt_task_wait_seconds", "counter", "Waits of tasks of the host for a pCPU.",
	  TOP_TASK_WAIT, VALUE_NS, "task" },
	{ "kshark_virt_task_wake", "gauge", "wake-up latency of a task of the host.",
	  TOP_TASK_WAIT, VALUE_WAKE, "task" },
	{ "kshark_virt_lost_records", "counter", "Lost records, where they were counted.",
	  TOP_LOSS, VALUE_COUNT, NULL },
};

struct writer {
	struct output		*out;
	const struct family	*family;
};

/** Escaped for people, then once more as labels need it. */
static void put_label(struct output *out, const char *label, const char *text)
{
	const char *end = text + strlen(text);
	char piece[ESCAPE_PIECE];
	size_t n;

	out_str(out, label);
	out_str(out, "=\"");
	while ((n = escape_next(&text, end, piece)))
		for (size_t i = 0; i < n; i++) {
			if (piece[i] == '"' || piece[i] == '\\')
				out_char(out, '\\');
			out_char(out, piece[i]);
		}
	out_char(out, '"');
}

static void put_number_label(struct output *out, const char *label, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	put_label(out, label, text);
}

/** Ids as well: names may be the same. */
static void put_labels(const struct writer *writer, const struct top_fact *fact)
{
	struct output *out = writer->out;

	if (!fact->machine) {
		put_number_label(out, "pcpu", fact->pcpu);
		return;
	}
	put_label(out, "machine", fact->machine);
	if (fact->machine_id != VIRT_NONE)
		put_number_label(out, ",machine_id", fact->machine_id);
	if (fact->vcpu)
		put_label(out, ",vcpu", fact->vcpu);
	if (fact->vcpu)
		put_number_label(out, ",vcpu_id", fact->vcpu_id);
	if (!writer->family->label)
		return;
	out_char(out, ',');
	put_label(out, writer->family->label, fact->name);
	if (fact->kind == TOP_EXIT || fact->kind == TOP_STEAL)
		put_number_label(out, ",id", fact->id);
}

static bool is_counter(const struct family *family)
{
	return *family->type == 'c';
}

static void put_name(struct output *out, const struct family *family)
{
	out_str(out, family->name);
	if (family->value == VALUE_WAKE)
		out_printf(out, "_%s_seconds", virt_stat_look(TOP_WAKE_STAT)->name);
}

static void put_help(struct output *out, const struct family *family)
{
	if (family->value == VALUE_WAKE)
		out_printf(out, "%gth percentile of ",
			   virt_stat_look(TOP_WAKE_STAT)->per_mille / 10.0);
	out_str(out, family->help);
}

static void put_fact(const struct writer *writer, const struct top_fact *fact)
{
	const struct family *family = writer->family;
	int64_t value = family->value == VALUE_NS ? fact->ns :
			family->value == VALUE_WAKE ? fact->wake_ns : fact->count;

	if (fact->kind != family->kind || value == VIRT_NONE)
		return;
	put_name(writer->out, family);
	out_str(writer->out, is_counter(family) ? "_total{" : "{");
	put_labels(writer, fact);
	out_str(writer->out, "} ");
	if (family->value == VALUE_COUNT)
		out_i64(writer->out, value);
	else
		out_ns(writer->out, value, 0);
	out_char(writer->out, '\n');
}

/** Write the notes as a metric. @type: its HELP and TYPE lines */
static void put_notes(struct output *out, const struct trace_notes *notes, const char *type)
{
	out_str(out, type);
	for (size_t i = 0; i < notes->n; i++) {
		const struct trace_note *note = &notes->all[i];

		out_str(out, "kshark_virt_warning_info{");
		put_label(out, "kind", trace_note_kind_name(note->kind));
		put_label(out, ",text", note->text);
		out_str(out, "} 1\n");
	}
}

/** What has to be asked for is left out unless it is there. */
static bool is_left_out(const struct family *family, const struct top_interval *interval)
{
	size_t i = 0;

	while (i < interval->n && interval->facts[i].kind != family->kind)
		i++;
	return (family->kind == TOP_ARGUMENT || family->kind == TOP_TASK ||
		family->kind == TOP_TASK_WAIT) && i == interval->n;
}

/** @suffix: of counters in HELP and TYPE lines; @type: as put_notes() */
static void put_families(struct output *out, const struct top_interval *interval,
			 const char *suffix, const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		const struct writer writer = { .out = out, .family = &families[i] };
		const char *after = is_counter(&families[i]) ? suffix : "";

		if (is_left_out(&families[i], interval))
			continue;
		out_str(out, "# HELP ");
		put_name(out, &families[i]);
		out_printf(out, "%s ", after);
		put_help(out, &families[i]);
		out_str(out, "\n# TYPE ");
		put_name(out, &families[i]);
		out_printf(out, "%s %s\n", after, families[i].type);
		for (size_t j = 0; j < interval->n; j++)
			put_fact(&writer, &interval->facts[j]);
	}
	put_notes(out, &interval->notes, type);
}

static void put_openmetrics(struct output *out, const struct top_interval *interval)
{
	put_families(out, interval, "",
		     "# HELP kshark_virt_warning What limits these numbers.\n"
		     "# TYPE kshark_virt_warning info\n");
}

static void put_prometheus(struct output *out, const struct top_interval *interval)
{
	put_families(out, interval, "_total",
		     "# HELP kshark_virt_warning_info What limits these numbers.\n"
		     "# TYPE kshark_virt_warning_info gauge\n");
}

static void put_end(struct output *out, const struct trace_notes *notes)
{
	(void)notes;
	out_str(out, "# EOF\n");
}

const struct top_format top_openmetrics = {
	.interval = put_openmetrics, .end = put_end, .at_once = true,
};

const struct top_format top_prometheus = { .interval = put_prometheus, .at_once = true };
