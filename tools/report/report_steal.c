// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_steal.c
 * @brief	Write which culprits take the pCPUs of which victims, machine by machine.
 */
#include <string.h>

#include "report_parts.h"
#include "report_section.h"
#include "report_unknown.h"
#include "text_columns.h"
#include "virt_span.h"

static const char *side_name(const struct report *report, const struct virt_matrix_side *side)
{
	const struct virt_machine *machine = virt_model_machine(report->load->model,
								side->machine);

	return side->vcpu == VIRT_NONE && machine ? machine->name : report_who(report, side->vcpu);
}

/** A row; columns that are empty throughout are left out, the others as wide as their names. */
static void text_row(struct output *out, const struct report *report, const char *name,
		     int64_t sum, const int64_t *ns)
{
	const struct virt_matrix *matrix = report->matrix;

	text_name(out, name);
	text_duration(out, sum);
	for (size_t i = 0; i < matrix->n_columns; i++) {
		int64_t part = ns ? ns[i] : matrix->columns[i].ns;
		size_t width = strlen(side_name(report, &matrix->columns[i]));
		char text[32] = "";

		if (part)
			format_duration(text, sizeof(text), part);
		if (matrix->columns[i].ns)
			text_right(out, text, width > TEXT_NUMBER ? width : TEXT_NUMBER);
	}
	out_char(out, '\n');
}

/** The steal of the vCPUs of a machine that were asked for, by kind, in addition to @ns. */
static void add_kinds(const struct report *report, int32_t index, int64_t ns[VIRT_STEAL_N_KINDS])
{
	const struct virt_machine *machine = virt_model_machine(report->load->model, index);

	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		const struct virt_culprit *culprits;
		int32_t vcpu = machine->vcpus[i];
		int64_t one[VIRT_STEAL_N_KINDS];
		size_t n = virt_window_walk_culprits(report->walk, vcpu, &culprits);

		virt_steal_split(report->load->model, vcpu, report->from_ns, report->to_ns,
				 culprits, n, one);
		for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++)
			virt_add_ns(&ns[kind], one[kind]);
	}
}

/** A column as wide as its title, if any row has something in it. */
static void kind_right(struct output *out, const int64_t all[VIRT_STEAL_N_KINDS], int kind,
		       const char *text)
{
	size_t width = strlen(virt_steal_kind_name((enum virt_steal_kind)kind));

	if (all[kind])
		text_right(out, text, width > TEXT_NUMBER ? width : TEXT_NUMBER);
}

static void kinds_row(struct output *out, const char *name, const int64_t ns[VIRT_STEAL_N_KINDS],
		      const int64_t all[VIRT_STEAL_N_KINDS])
{
	char text[32];

	text_name(out, name);
	for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++) {
		*text = '\0';
		if (ns[kind])
			format_duration(text, sizeof(text), ns[kind]);
		kind_right(out, all, kind, text);
	}
	out_char(out, '\n');
}

/** The steal of all machines. */
static void add_all_kinds(const struct report *report, int64_t all[VIRT_STEAL_N_KINDS])
{
	for (size_t i = 0; i < report->matrix->n_rows; i++)
		if (report->matrix->rows[i].ns)
			add_kinds(report, report->matrix->rows[i].machine, all);
}

/** Whether neighbours, the host, the machine itself, or no one delays machines. */
static void kinds_text(struct output *out, const struct report *report)
{
	const struct virt_matrix *matrix = report->matrix;
	int64_t all[VIRT_STEAL_N_KINDS] = { 0 };

	add_all_kinds(report, all);
	out_char(out, '\n');
	text_name(out, "preempted, by kind");
	for (int kind = 0; kind < VIRT_STEAL_N_KINDS; kind++)
		kind_right(out, all, kind, virt_steal_kind_name((enum virt_steal_kind)kind));
	out_char(out, '\n');
	for (size_t i = 0; i < matrix->n_rows; i++) {
		int64_t ns[VIRT_STEAL_N_KINDS] = { 0 };

		if (!matrix->rows[i].ns)
			continue;
		add_kinds(report, matrix->rows[i].machine, ns);
		kinds_row(out, side_name(report, &matrix->rows[i]), ns, all);
	}
	kinds_row(out, "all", all, all);
}

/** Rows are preempted, columns have the pCPU. */
static void culprits_text(struct output *out, const struct report *report)
{
	const struct virt_matrix *matrix = report->matrix;

	if (!report_knows(report, VIRT_NUMBER_CULPRITS)) {
		out_char(out, '\n');
		text_name(out, "preempted, by");
		text_unknown(out);
		out_char(out, '\n');
		return;
	}
	if (!matrix->total_ns)
		return;
	out_char(out, '\n');
	text_name(out, "preempted, by");
	text_right(out, "time", TEXT_NUMBER);
	for (size_t i = 0; i < matrix->n_columns; i++)
		if (matrix->columns[i].ns)
			text_right(out, side_name(report, &matrix->columns[i]), TEXT_NUMBER);
	out_char(out, '\n');
	for (size_t i = 0; i < matrix->n_rows; i++)
		if (matrix->rows[i].ns)
			text_row(out, report, side_name(report, &matrix->rows[i]),
				 matrix->rows[i].ns, &matrix->ns[i * matrix->n_columns]);
	text_row(out, report, "all", matrix->total_ns, NULL);
	report_stolen_text(out, report);
	kinds_text(out, report);
}

static void text(struct output *out, const struct report *report)
{
	culprits_text(out, report);
	/* the kernel counts these, whatever was recorded */
	report_limits_text(out, report);
}

/** Each culprit and its time. @ns: the times of a row; NULL: the sums of all rows */
static void steal_by_facts(struct facts *to, const struct report *report, const int64_t *ns)
{
	const struct virt_matrix *steal = report->matrix;

	facts_open(to, "by", '[', false);
	for (size_t i = 0; i < steal->n_columns; i++) {
		const char *who = side_name(report, &steal->columns[i]);
		int64_t part = ns ? ns[i] : steal->columns[i].ns;

		if (!part)
			continue;
		facts_open(to, NULL, '{', true);
		facts_name(to, "who", who);
		facts_ns(to, FACT("total_ns", "steal", who), part);
		facts_close(to, '}');
	}
	facts_close(to, ']');
}

static void steal_machine_facts(struct facts *to, const struct report *report)
{
	const struct virt_matrix *steal = report->matrix;

	facts_open(to, "machines", '[', false);
	for (size_t i = 0; i < steal->n_rows; i++) {
		int64_t kinds[VIRT_STEAL_N_KINDS] = { 0 };

		if (!steal->rows[i].ns)
			continue;
		add_kinds(report, steal->rows[i].machine, kinds);
		to->machine = side_name(report, &steal->rows[i]);
		facts_open(to, NULL, '{', false);
		facts_name(to, "machine", to->machine);
		facts_ns(to, FACT("total_ns", "steal", NULL), steal->rows[i].ns);
		report_steal_kinds_facts(to, report, "kinds", kinds);
		steal_by_facts(to, report, &steal->ns[i * steal->n_columns]);
		facts_close(to, '}');
	}
	to->machine = NULL;
	facts_close(to, ']');
}

/** CSV: without a machine, of all of them; without a name, by all of them. */
static void steal_facts(struct facts *to, const struct report *report)
{
	const struct virt_matrix *steal = report->matrix;
	bool knows = report_knows(report, VIRT_NUMBER_CULPRITS);
	int64_t kinds[VIRT_STEAL_N_KINDS] = { 0 };

	add_all_kinds(report, kinds);
	facts_open(to, "steal", '{', false);
	to->unknown = !report_knows(report, VIRT_NUMBER_PREEMPTED);
	facts_ns(to, FACT("total_ns", "steal", NULL), steal->total_ns);
	to->unknown = false;
	report_steal_kinds_facts(to, report, "kinds", kinds);
	report_limits_facts(to, report);
	if (knows) {
		steal_by_facts(to, report, NULL);
		steal_machine_facts(to, report);
		report_stolen_facts(to, report);
	} else {
		facts_null(to, "by");
		facts_null(to, "machines");
	}
	facts_close(to, '}');
}

const struct report_section report_steal = { .text = text, .facts = steal_facts };
